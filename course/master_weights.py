"""Parameters in bfloat16 that are updated in float32: half the memory traffic of a large model's products.

bfloat16 keeps eight bits of a number, so 1 + 0.001 is 1 and small updates would be lost. They are added up in
float32 copies, the master weights (Micikevicius et al. 2018, section 3.1), and rounded once a step.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.optim import Optimizer


class MasterWeights:
    """An optimiser of float32 copies of a model's parameters, which it turns into bfloat16."""

    def __init__(self, model: nn.Module, make_optimizer: Callable[[list[Tensor]], Optimizer]) -> None:
        masters = [parameter.detach().float().clone() for parameter in model.parameters()]
        model.to(torch.bfloat16)
        self.parameters: list[Tensor] = list(model.parameters())
        self.masters = [master.requires_grad_() for master in masters]
        self.optimizer = make_optimizer(self.masters)

    def zero_grad(self) -> None:
        """Forget the gradients of the last step."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Update the copies by the gradients of the parameters, and the parameters by the copies."""
        for master, parameter in zip(self.masters, self.parameters, strict=True):
            master.grad = None if parameter.grad is None else parameter.grad.float()
        self.optimizer.step()
        torch._foreach_copy_(self.parameters, self.masters)
