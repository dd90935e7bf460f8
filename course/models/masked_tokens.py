"""The training objective of BERT: mask some tokens and predict them (Devlin et al. 2019, section 3.1)."""

from __future__ import annotations

import torch

from course.models.cross_entropy import IGNORED
from course.shapes import Bool, Int, Tensor


def hide_tokens(
    tokens: Int[Tensor, "batch time"],
    is_ordinary: Bool[Tensor, " vocab"],
    mask_token: int,
    generator: torch.Generator,
    share: float = 0.15,
) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
    """Inputs and targets: a fraction `share` of ordinary tokens is selected for prediction, the rest IGNORED.

    Of the selected tokens, 80 % become `mask_token`, 10 % a random ordinary token, and 10 % stay, so that the
    model cannot rely on seeing the mask. `is_ordinary` (V,) is False for padding, <cls>, <mask> and the like,
    which are neither selected nor drawn. Call this again for each epoch. Raises ValueError for a `share`
    outside (0, 1] or if there is no ordinary token.
    """
    if not 0 < share <= 1:
        raise ValueError(f"share: expected a number in (0, 1], got {share}")
    if not is_ordinary.any():
        raise ValueError("is_ordinary: expected at least one ordinary token, got none")
    B, T = tokens.shape
    draw, kind = torch.rand(2, B, T, generator=generator).to(tokens.device)  # twice (B, T)
    is_selected = is_ordinary[tokens] & (draw < share)
    ordinary = is_ordinary.nonzero()[:, 0]
    chosen = torch.randint(len(ordinary), (B, T), generator=generator).to(tokens.device)
    inputs = torch.where(is_selected & (kind < 0.8), mask_token, tokens)
    inputs = torch.where(is_selected & (kind >= 0.9), ordinary[chosen], inputs)
    return inputs, torch.where(is_selected, tokens, IGNORED)
