"""The job description of judges: which homework, and how submissions are treated."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.isolation import Limits

if TYPE_CHECKING:
    from autograder.grading.plan import Plan


@dataclass(frozen=True)
class Order:
    """A homework by its name, the isolation asked for, the limits, and what a forbidden call costs."""

    homework: str
    isolation: str = "best"
    limits: Limits = field(default_factory=Limits)
    forbidden_costs_points: bool = True

    def plan(self, root: Path) -> Plan:
        """The plan for the homework of this name under root; raises SourceError or NotReleased."""
        from autograder.grading.plan import plan_for  # imports torch, which an order does not need

        plan = plan_for(self.homework, root, self.limits)
        return replace(plan, forbidden_costs_points=self.forbidden_costs_points)
