"""A neural probabilistic language model: a fixed window of words through one hidden layer.

Bengio, Ducharme, Vincent and Jauvin (2003), "A neural probabilistic language model", JMLR 3, equation 1:

    e = [E x_{t−n+1}; …; E x_t]        the window's embeddings, concatenated
    h = tanh(W e + b)
    z = U h + c  (+ A e)               A: the paper's optional direct connections
    P(x_{t+1} | window) = softmax(z)

`figures.machine("feedforward")` draws it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from course.language_model import check_tokens
from course.models.linear import Linear, linear
from course.shapes import Float, Int, Tensor


def windows(tokens: Int[Tensor, "batch time"], n_window: int, fill: int) -> Int[Tensor, "batch time window"]:
    """The `n_window` tokens that end at each position; the text is preceded by `fill`.

    [5, 6, 7], 2, fill 0 → [[0, 5], [5, 6], [6, 7]]
    """
    padded = F.pad(tokens, (n_window - 1, 0), value=fill)  # (B, T + N − 1)
    return padded.unfold(dimension=1, size=n_window, step=1)  # (B, T, N)


def hidden_layer(
    embedded: Float[Tensor, "batch time window d_embedding"],
    W: Float[Tensor, "d_hidden window_times_d_embedding"],
    b: Float[Tensor, " d_hidden"],
) -> Float[Tensor, "batch time d_hidden"]:
    """h = tanh(W e + b), where e is the concatenation (not the sum) of the window's embeddings."""
    concatenated = embedded.flatten(start_dim=2)  # (B, T, N, d) → (B, T, N·d)
    return torch.tanh(linear(concatenated, W, b))  # (B, T, D)


@dataclass(frozen=True)
class FeedForwardConfig:
    """Sizes of a feed-forward language model."""

    vocab_size: int
    n_window: int = 4  # an n-gram model of order n sees n_window = n − 1
    d_embedding: int = 32
    d_hidden: int = 128
    has_direct_connections: bool = False  # the paper found that they help little
    fill: int = 0  # the token before the first one; use BOS

    def __post_init__(self) -> None:
        if not 0 <= self.fill < self.vocab_size:
            raise ValueError(f"fill: expected a token in 0 … {self.vocab_size - 1}, got {self.fill}")
        if self.n_window < 1:
            raise ValueError(f"n_window: expected at least 1, got {self.n_window}")


class FeedForwardLanguageModel(nn.Module):
    """Bengio's model: the last n_window words, embedded and concatenated, go through one hidden layer."""

    context_length = None  # any number of positions; each one depends on n_window tokens

    def __init__(self, config: FeedForwardConfig) -> None:
        super().__init__()
        self.config = config
        self.vocab_size = config.vocab_size
        d_concatenated = config.n_window * config.d_embedding
        self.embedding = nn.Embedding(config.vocab_size, config.d_embedding)
        self.hidden = Linear(d_concatenated, config.d_hidden)
        self.output = Linear(config.d_hidden, config.vocab_size)
        self.direct = None
        if config.has_direct_connections:
            self.direct = Linear(d_concatenated, config.vocab_size, bias=False)

    def logits(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time vocab"]:
        """Logits of the next token at every position."""
        check_tokens(tokens, self.vocab_size)
        embedded = self.embedding(windows(tokens, self.config.n_window, self.config.fill))  # (B, T, N, d)
        hidden = hidden_layer(embedded, self.hidden.weight, self.hidden.bias)  # (B, T, D)
        logits = self.output(hidden)  # (B, T, V)
        if self.direct is not None:
            logits = logits + self.direct(embedded.flatten(start_dim=2))  # from (B, T, N·d)
        return logits

    def forward(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time vocab"]:
        """Log-probabilities of the next token at every position."""
        return self.logits(tokens).log_softmax(dim=-1)
