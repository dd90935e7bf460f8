"""Ready-made parts of homework 2: windows, the feed-forward network, its gradients, and drawing a word."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = ["FeedForwardLM", "draw_tokens", "forward_and_backward", "windows_and_targets"]


def windows_and_targets(documents: Sequence[Tensor], n_window: int) -> tuple[Tensor, Tensor]:
    """As in exercise 1."""
    pieces = torch.cat([words.unfold(0, n_window + 1, 1) for words in documents if len(words) > n_window])
    return pieces[:, :-1], pieces[:, -1]


class FeedForwardLM(nn.Module):
    """As in exercise 6."""

    def __init__(self, vocab_size: int, n_window: int, d_embedding: int, d_hidden: int, pad: int) -> None:
        super().__init__()
        self.pad = pad
        sizes = {
            "E": (d_embedding, vocab_size),
            "W": (d_hidden, n_window * d_embedding),
            "b": (d_hidden,),
            "U": (vocab_size, d_hidden),
            "c": (vocab_size,),
        }
        for name, size in sizes.items():
            self.register_parameter(name, nn.Parameter(0.1 * torch.randn(size, dtype=torch.float64)))

    def forward(self, windows: Tensor) -> Tensor:
        E, W, b, U, c = self.parameters()
        is_word = (windows != self.pad).unsqueeze(-1)
        return F.linear(F.linear(F.embedding(windows, E.T).mul(is_word).flatten(1), W, b).tanh(), U, c)


def draw_tokens(logits: Tensor, uniforms: Tensor) -> Tensor:
    """As in exercise 5."""
    borders = logits.softmax(dim=-1).cumsum(dim=-1)
    return torch.searchsorted(borders, uniforms.unsqueeze(1)).squeeze(1).clamp(max=logits.shape[1] - 1)


def forward_and_backward(
    E: Tensor, W: Tensor, b: Tensor, U: Tensor, c: Tensor, windows: Tensor, targets: Tensor
) -> dict[str, Tensor]:
    """As in exercise 20, by autograd."""
    with torch.enable_grad():
        leaves = {name: w.detach().requires_grad_() for name, w in zip("EWbUc", (E, W, b, U, c), strict=True)}
        e = leaves["E"].T[windows].flatten(start_dim=1)
        a = F.linear(e, leaves["W"], leaves["b"])
        h = a.tanh()
        z = F.linear(h, leaves["U"], leaves["c"])
        made = {"e": e, "a": a, "h": h, "z": z, "L": F.cross_entropy(z, targets)}
        wanted = leaves | {name: made[name] for name in "zhae"}
        gradients = torch.autograd.grad(made["L"], list(wanted.values()))
    made |= {f"d{name}": gradient for name, gradient in zip(wanted, gradients, strict=True)}
    return {name: tensor.detach() for name, tensor in made.items()} | {"y_hat": z.detach().softmax(dim=-1)}
