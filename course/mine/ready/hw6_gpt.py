"""Ready-made parts of homework 6: a GPT with GPT-2's names, its weights, and samplers."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course.models.multi_head_attention import merge_heads, split_heads
from course.sampling import filters, penalties, temperatures

__all__ = ["GPT", "combined_filters", "gated", "gpt2_weights", "repetition_penalty", "temperature"]


class Block(nn.Module):
    """As in exercise 2."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.ln_1, self.ln_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.add_module("attn", nn.Module())
        self.add_module("mlp", nn.Module())
        for name, n_in, n_out in (
            ("attn.c_attn", d_model, 3 * d_model),
            ("attn.c_proj", d_model, d_model),
            ("mlp.c_fc", d_model, 4 * d_model),
            ("mlp.c_proj", 4 * d_model, d_model),
        ):
            part, _, layer = name.partition(".")
            self.get_submodule(part).add_module(layer, nn.Linear(n_in, n_out))

    def forward(self, x: Tensor) -> Tensor:
        layer = self.get_submodule
        query, key, value = (split_heads(part, self.n_heads) for part in self.projected(x))
        found = merge_heads(F.scaled_dot_product_attention(query, key, value, is_causal=True))
        x = x + layer("attn.c_proj")(found)
        return x + layer("mlp.c_proj")(F.gelu(layer("mlp.c_fc")(self.ln_2(x)), approximate="tanh"))

    def projected(self, x: Tensor) -> tuple[Tensor, ...]:
        """Queries, keys and values, (B, T, D) each."""
        return self.get_submodule("attn.c_attn")(self.ln_1(x)).chunk(3, dim=-1)


class GPT(nn.Module):
    """As in exercise 3."""

    def __init__(
        self, vocab_size: int, context_length: int, d_model: int, n_heads: int, n_layers: int
    ) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab_size, d_model), nn.Embedding(context_length, d_model)
        self.h = nn.Sequential(*(Block(d_model, n_heads) for _ in range(n_layers)))
        self.ln_f = nn.LayerNorm(d_model)
        nn.init.normal_(self.wte.weight, std=0.05)
        nn.init.normal_(self.wpe.weight, std=0.05)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
        return F.linear(self.ln_f(self.h(x)), self.wte.weight)


def gpt2_weights(checkpoint: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """As in exercise 4."""
    found = {}
    for name, tensor in checkpoint.items():
        module, _, kind = name.removeprefix("transformer.").rpartition(".")
        if module.rpartition(".")[2] not in ("attn", "lm_head"):
            is_conv1d = kind == "weight" and ".c_" in module
            found[f"{module}.{kind}"] = tensor.T if is_conv1d else tensor
    return found


def temperature(logits: Tensor, t: float) -> Tensor:
    """As in exercise 11."""
    return temperatures.temperature(logits, t=t)


def combined_filters(logits: Tensor, t: float, k: int, p: float, least: float) -> Tensor:
    """As in exercise 15."""
    kept = filters.top_k(logits, k=k), filters.top_p(logits, p=p), filters.min_p(logits, p=least)
    return torch.stack(kept).amin(dim=0) / t


def repetition_penalty(logits: Tensor, history: Tensor, penalty: float) -> Tensor:
    """As in exercise 16."""
    return penalties.repetition_penalty(logits, history, penalty=penalty)


def gated(x: Tensor, W_gate: Tensor, W_expand: Tensor, W_contract: Tensor) -> Tensor:
    """As in exercise 27."""
    return F.linear(F.linear(x, W_expand) * F.silu(F.linear(x, W_gate)), W_contract)
