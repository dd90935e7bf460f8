"""From logits to a loss: the stable log-softmax, and the mean surprise (−log P) at the targets."""

from __future__ import annotations

import torch

from course.shapes import Float, Int, Tensor

IGNORED = -100  # a target that is not scored: padding, or a token that was not masked


def log_softmax(logits: Float[Tensor, "*positions vocab"]) -> Float[Tensor, "*positions vocab"]:
    """z − log Σ exp z over the last axis; subtracting the maximum first keeps exp from overflowing."""
    shifted = logits - logits.amax(dim=-1, keepdim=True)
    return shifted - shifted.exp().sum(dim=-1, keepdim=True).log()


def cross_entropy(
    logits: Float[Tensor, "*positions vocab"], targets: Int[Tensor, "*positions"]
) -> Float[Tensor, ""]:
    """The mean of −log P(target) in nats, over all targets that are not IGNORED.

    Raises ValueError for targets outside 0 … V − 1, or if none is left to score.
    """
    is_scored = targets != IGNORED
    if not is_scored.any():
        raise ValueError("targets: expected at least one that is scored, got only IGNORED ones")
    V, scored = logits.shape[-1], targets[is_scored]
    if scored.min() < 0 or scored.max() >= V:
        outside = scored[(scored < 0) | (scored >= V)][0].item()
        raise ValueError(f"targets: expected values in 0 … {V - 1} or {IGNORED} (not scored), got {outside}")
    log_probs = log_softmax(logits[is_scored])  # (N, V)
    return -log_probs[torch.arange(len(scored), device=scored.device), scored].mean()
