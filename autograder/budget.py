"""The time that a submission has in all, over every process that runs its code."""

from __future__ import annotations

import time

from autograder.isolation import Died, Limits
from autograder.isolation.results import TooLate
from autograder.isolation.student import Student


class Budget:
    """Hands out seconds that count, until they are used up or a far limit on time of any kind has passed."""

    def __init__(self, limits: Limits) -> None:
        self.total = limits.submission_seconds
        self.far = time.monotonic() + limits.patience * self.total
        self.entered = 0.0  # by processes that are gone
        self.cuts_short = False  # what is at work has less time than its own limit

    def seconds(self, most: float, student: Student | None) -> float | None:
        """The seconds for one step of a living process, if there is one; None where there are none left."""
        left = self.total - self.entered - (student.busy if student else 0.0)
        if left < most and student is not None:  # some of that time may have been waiting
            left = self.total - self.entered - student.counted()
        left = min(left, self.far - time.monotonic())
        self.cuts_short = left < most
        return min(most, left) if left > 0 else None

    def enter(self, student: Student) -> None:
        """Count the time of a process that has ended."""
        self.entered += student.counted()

    def ended(self, death: Died) -> bool:
        """Whether a process ended because the submission's time was used up, not by a limit of its own."""
        return self.cuts_short and isinstance(death, TooLate)

    def in_words(self, death: Died) -> str:
        """How a process ended, with the limit that it really met."""
        if self.ended(death):
            return f"did not finish before the submission had used up its {self.total:g} s"
        return death.sentence
