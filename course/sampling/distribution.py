"""Types and operations that all samplers share: logits, history, entropy, and keeping some tokens."""

from __future__ import annotations

import torch

from course.shapes import Bool, Float, Int, Tensor

Logits = Float[Tensor, "*batch vocab"]  # (…, V)
History = Int[Tensor, "*batch time"]  # (…, T), all tokens so far


def entropy(logits: Logits) -> Float[Tensor, "*batch"]:
    """H = −Σ P log P in nats, where a token that cannot occur adds 0."""
    return torch.special.entr(logits.softmax(dim=-1)).sum(dim=-1)


def keep_only(logits: Logits, keep: Bool[Tensor, "*batch vocab"]) -> Logits:
    """Set every token but the kept ones to −∞; the most probable token is always kept."""
    best = logits.argmax(dim=-1, keepdim=True)
    return logits.masked_fill(~keep.scatter(-1, best, True), -torch.inf)


def unsorted(values: Tensor, order: Int[Tensor, "*batch vocab"]) -> Tensor:
    """Undo a sort: put sorted values back in token order; `order` is the index that `sort` returned."""
    return torch.zeros_like(values).scatter(-1, order, values)
