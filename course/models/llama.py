"""The architecture of today's open language models: the block of LLaMA, and Mixtral's layer of experts.

Unlike GPT-2, LLaMA (Touvron et al. 2023) has RMSNorm instead of layer norm, rotated queries and keys instead
of learned positions, SwiGLU instead of GELU, key-value heads shared by groups of query heads (Ainslie et al.
2023), and no biases.

Drawn by `figures.machine("llama_block")` and `figures.machine("mixtral_layer")`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from course.models.cached_decoder import CachedDecoder, KeyValueCache, attendable
from course.models.grouped_query_attention import GroupedQueryAttention
from course.models.layer_norm import RMSNorm
from course.models.linear import Linear, linear
from course.models.masks import causal_mask
from course.models.multi_head_attention import LayerCache
from course.models.positions import rotation
from course.shapes import Bool, Float, Int, Tensor


@dataclass(frozen=True)
class LlamaConfig:
    """Sizes of a Llama; the defaults are those of SmolLM2-135M (Ben Allal et al. 2025)."""

    vocab_size: int = 49_152
    context_length: int = 8192
    d_model: int = 576
    n_heads: int = 9
    n_groups: int = 3  # key-value heads, each shared by n_heads / n_groups query heads
    n_layers: int = 30
    d_ff: int = 1536
    epsilon: float = 1e-5
    rotation_base: float = 100_000.0  # larger than RoFormer's 10,000, for longer texts
    initial_deviation: float = 0.02
    is_fused: bool = True  # PyTorch's kernel for attention; False: the course's own lines


class SwiGLU(nn.Module):
    """W_contract (swish(W_gate x) ⊙ W_expand x): a gate decides what passes (Shazeer 2020, equation 6)."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.gate = Linear(d_model, d_ff, bias=False)
        self.expand = Linear(d_model, d_ff, bias=False)
        self.contract = Linear(d_ff, d_model, bias=False)

    def forward(self, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time d_model"]:
        hidden = F.silu(self.gate(x)) * self.expand(x)  # (B, T, F); swish with β = 1 is PyTorch's silu
        return self.contract(hidden)  # (B, T, D)


class LlamaBlock(nn.Module):
    """Pre-norm attention and feed-forward, each added to the residual stream."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.attention = GroupedQueryAttention(
            config.d_model, config.n_heads, config.n_groups, config.is_fused
        )
        self.feed_forward = SwiGLU(config.d_model, config.d_ff)
        self.norm_attention = RMSNorm(config.d_model, config.epsilon)
        self.norm_feed_forward = RMSNorm(config.d_model, config.epsilon)

    def forward(
        self,
        x: Float[Tensor, "batch time d_model"],
        turn: Float[Tensor, "2 time pairs"],
        mask: Bool[Tensor, "#batch 1 time keys"] | None = None,
        cache: LayerCache | None = None,
    ) -> Float[Tensor, "batch time d_model"]:
        x = x + self.attention(self.norm_attention(x), turn, mask, cache)
        return x + self.feed_forward(self.norm_feed_forward(x))


class Llama(CachedDecoder):
    """Embeddings, blocks, a last norm, and the embedding matrix again to score every token."""

    config: LlamaConfig

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__(config)
        self.blocks = nn.ModuleList(LlamaBlock(config) for _ in range(config.n_layers))
        self.norm = RMSNorm(config.d_model, config.epsilon)
        self.reset_parameters()

    def hidden(
        self,
        tokens: Int[Tensor, "batch time"],
        cache: KeyValueCache | None = None,
        mask: Bool[Tensor, "batch keys"] | None = None,
    ) -> Float[Tensor, "batch time d_model"]:
        """The residual stream after the last norm, see `CachedDecoder.hidden`.

        Padding at the start changes nothing but rounding, because rotations depend on distances only.
        """
        first = self.first_position(tokens, cache)
        _, T = tokens.shape
        x = self.embedding(tokens)  # (B, T, D)
        d_head = self.config.d_model // self.config.n_heads
        turn = rotation(T, d_head, first, self.config.rotation_base, x.dtype, x.device)
        allowed = self._allowed(mask, first, T, x.device)
        for block, layer_cache in self.blocks_and_caches(cache):
            x = block(x, turn, allowed, layer_cache)  # (B, T, D)
        return self.norm(x)

    @staticmethod
    def _allowed(
        mask: Tensor | None, first: int, n_queries: int, device: torch.device
    ) -> Bool[Tensor, "#batch 1 queries keys"] | None:
        """Which keys each query may attend to; None: all of them."""
        if n_queries == 1 and mask is None:
            return None
        triangle = causal_mask(n_queries, first + n_queries, device)[None, None]  # (1, 1, T, keys)
        return triangle if mask is None else triangle & attendable(mask, first, n_queries)

    def next_log_probs(
        self,
        tokens: Int[Tensor, "batch time"],
        cache: KeyValueCache | None = None,
        mask: Bool[Tensor, "batch keys"] | None = None,
    ) -> Float[Tensor, "batch vocab"]:
        """Log-probabilities after the last position only: generation needs no others."""
        last = self.hidden(tokens, cache, mask)[:, -1]  # (B, D)
        return linear(last, self.embedding.weight).log_softmax(dim=-1)  # (B, V)
