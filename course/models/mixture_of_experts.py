"""A mixture of experts in the place of a block's feed-forward (Shazeer et al. 2017; Jiang et al. 2024)."""

from __future__ import annotations

import torch
from torch import nn

from course.models.linear import Linear
from course.models.llama import SwiGLU
from course.shapes import Float, Tensor


class MixtureOfExperts(nn.Module):
    """Each token runs through the experts that a router prefers for it (Jiang et al. 2024, section 2.1).

    Their outputs are mixed with the softmax of the router's scores of these experts alone. With n_chosen = 1
    and one expert it is that expert. Raises ValueError unless 1 ≤ n_chosen ≤ n_experts.
    """

    def __init__(self, d_model: int, d_ff: int, n_experts: int = 8, n_chosen: int = 2) -> None:
        super().__init__()
        if not 1 <= n_chosen <= n_experts:
            raise ValueError(f"n_chosen: expected a number from 1 to n_experts = {n_experts}, got {n_chosen}")
        self.n_chosen = n_chosen
        self.router = Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(SwiGLU(d_model, d_ff) for _ in range(n_experts))

    def forward(self, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time d_model"]:
        scores = self.router(x)  # (B, T, experts)
        best = scores.topk(self.n_chosen)  # values and indices, (B, T, chosen) each
        gates = best.values.softmax(-1)  # (B, T, chosen)
        mixed = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            is_chosen = best.indices == number  # (B, T, chosen), at most once in a row
            runs = is_chosen.any(-1)  # (B, T)
            answers = expert(x[runs][None])[0]  # (tokens, D), for those that chose it
            mixed[runs] += gates[is_chosen][:, None] * answers
        return mixed  # (B, T, D)
