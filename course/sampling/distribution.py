"""What all samplers share: the shapes they take and return, and the operations on a row of logits."""

from __future__ import annotations

import torch

from course.shapes import Bool, Float, Int, Tensor

Logits = Float[Tensor, "*batch vocab"]  # (…, V)
History = Int[Tensor, "*batch time"]  # (…, T), all tokens so far


def entropy(logits: Logits) -> Float[Tensor, "*batch"]:
    """H = −Σ P log P in nats, where a token that cannot occur adds 0."""
    return torch.special.entr(logits.softmax(dim=-1)).sum(dim=-1)


def keep_only(logits: Logits, keep: Bool[Tensor, "*batch vocab"]) -> Logits:
    """Every token but the kept ones gets −∞; the most probable one is kept in any case."""
    best = logits.argmax(dim=-1, keepdim=True)
    return logits.masked_fill(~keep.scatter(-1, best, True), -torch.inf)


def unsorted(values: Tensor, order: Int[Tensor, "*batch vocab"]) -> Tensor:
    """Values in sorted order go back to the tokens they belong to; `order` is what `sort` returned."""
    return torch.zeros_like(values).scatter(-1, order, values)
