"""Ready-made parts of homework 7: a batch with hidden words, its loss and mask, and a translator's parts."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course.models.layer_norm import LayerNorm
from course.models.masks import causal_mask
from course.models.masks import padding_mask as encoder_mask
from course.models.multi_head_attention import MultiHeadAttention, merge_heads, split_heads

__all__ = [
    "CrossAttention",
    "DecoderBlock",
    "encoder_mask",
    "masked_batch",
    "mlm_loss",
    "translation_loss",
    "translation_masks",
]

IGNORED = -100


def masked_batch(
    tokens: Tensor, is_special: Tensor, mask_token: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """As in exercise 3."""
    ordinary = torch.arange(len(is_special))[~is_special]
    others = ordinary[torch.randint(len(ordinary), tokens.shape, generator=generator)]
    draw = torch.rand(tokens.shape, generator=generator).masked_fill(is_special[tokens], 1.0)
    targets = tokens.masked_fill(draw >= 0.15, IGNORED)
    inputs = torch.where(draw < 0.12, mask_token, torch.where(draw < 0.135, others, tokens))
    return inputs, targets


def mlm_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """As in exercise 4."""
    return F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=IGNORED)


class CrossAttention(nn.Module):
    """As in exercise 14: PyTorch's kernel between four matrices."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        matrices = (torch.empty(d_model, d_model, dtype=torch.float64) for _ in range(4))
        filled = (nn.Parameter(nn.init.xavier_uniform_(matrix)) for matrix in matrices)
        self.W_query, self.W_key, self.W_value, self.W_output = filled

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        read = F.linear(x, self.W_query), F.linear(memory, self.W_key), F.linear(memory, self.W_value)
        query, key, value = (split_heads(part, self.n_heads) for part in read)
        found = F.scaled_dot_product_attention(query, key, value, mask)
        return F.linear(merge_heads(found), self.W_output)


class DecoderBlock(nn.Module):
    """As in exercise 16."""

    def __init__(self, d_model: int, n_heads: int, d_ff: int) -> None:
        super().__init__()
        self.self_attention, self.cross_attention = (MultiHeadAttention(d_model, n_heads) for _ in range(2))
        self.expand, self.contract = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm_self, self.norm_cross = LayerNorm(d_model), LayerNorm(d_model)
        self.norm_feed_forward = LayerNorm(d_model)
        self.double()

    def forward(self, x: Tensor, memory: Tensor, self_mask: Tensor, cross_mask: Tensor) -> Tensor:
        x = self.norm_self(x + self.self_attention(x, x, x, self_mask))
        x = self.norm_cross(x + self.cross_attention(x, memory, memory, cross_mask))
        return self.norm_feed_forward(x + self.contract(F.relu(self.expand(x))))


def translation_masks(
    source: Tensor, target: Tensor, source_pad: int, target_pad: int
) -> tuple[Tensor, Tensor, Tensor]:
    """As in exercise 15."""
    read = encoder_mask(source, source_pad)
    return read, encoder_mask(target, target_pad) & causal_mask(target.shape[1]), read


def translation_loss(logits: Tensor, target: Tensor, pad: int) -> Tensor:
    """As in exercise 18."""
    return F.cross_entropy(logits.transpose(1, 2), target[:, 1:], ignore_index=pad)
