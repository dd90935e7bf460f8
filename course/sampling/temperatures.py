"""Samplers that remove no token but make the distribution sharper or flatter.

The same form as in `filters`: `logits (…, V), history (…, T) → logits (…, V)`.
"""

from __future__ import annotations

import torch

from course.sampling.bounds import expect_not_negative, expect_positive
from course.sampling.distribution import History, Logits, entropy, keep_only


def temperature(logits: Logits, history: History | None = None, *, t: float) -> Logits:
    """z / t: sharper for t < 1, flatter for t > 1; the limit t = 0 keeps only the most probable token.

    Ackley, Hinton, Sejnowski 1985, "A learning algorithm for Boltzmann machines".
    """
    expect_not_negative("temperature", t)
    if t == 0:
        return keep_only(logits, torch.zeros_like(logits, dtype=torch.bool))
    return logits / t


def dynamic_temperature(
    logits: Logits,
    history: History | None = None,
    *,
    low: float,
    high: float,
    exponent: float = 1.0,
) -> torch.Tensor:
    """z / t with t = low + (high − low) · (H / H_max)^exponent: the more uncertain, the higher t.

    H_max = log(number of tokens that can still occur). With one such token t = low. Kalomaze 2023
    (koboldcpp, "entropy sampling").
    """
    expect_positive("low", low)
    expect_positive("exponent", exponent)
    if high < low:
        raise ValueError(f"high: expected at least low = {low}, got {high}")
    n_possible = (logits > -torch.inf).sum(dim=-1)
    highest = n_possible.to(logits.dtype).log().clamp(min=torch.finfo(logits.dtype).tiny)
    t = low + (high - low) * (entropy(logits) / highest) ** exponent
    return logits / t[..., None]


def quadratic(
    logits: Logits,
    history: History | None = None,
    *,
    factor: float,
    curve: float = 1.0,
) -> torch.Tensor:
    """Smooth sampling: with d = z − max z, replace z by max z − factor · ((3 − c)/2 · d² − (c − 1)/2 · d³).

    Near the top, differences shrink, so good tokens become more equal; far from it they grow, so the tail
    loses probability. A curve of c = 1 is purely quadratic; between 1 and 3 the cubic term takes over.
    Kalomaze 2024 (text-generation-webui, "smoothing factor" and "smoothing curve").
    """
    expect_positive("factor", factor)
    if not 1 <= curve <= 3:
        raise ValueError(f"curve: expected 1 to 3, so that no token overtakes another; got {curve}")
    best = logits.amax(dim=-1, keepdim=True)
    d = logits - best
    bent = best - factor * ((3 - curve) / 2 * d**2 - (curve - 1) / 2 * d**3)
    return bent.where(logits > -torch.inf, -torch.inf)
