"""The time counted for a submission: its processes run or sleep; waiting for a processor is free."""

from typing import NamedTuple


class Spent(NamedTuple):
    """The time that passed while a submission ran, in seconds."""

    wall: float = 0.0
    used: float = 0.0  # by the processors, for all its processes together
    waited: float = 0.0  # while some thread of it was ready to run and could not

    @property
    def counted(self) -> float:
        """The counted seconds: never fewer than the processor time."""
        return max(self.used, self.wall - self.waited)
