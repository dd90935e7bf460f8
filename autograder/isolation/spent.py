"""The time that counts for a submission: its processes run or sleep; waiting for a processor is free."""

from typing import NamedTuple


class Spent(NamedTuple):
    """What passed while a submission ran, in seconds."""

    wall: float = 0.0
    used: float = 0.0  # by the processors, for all its processes together
    waited: float = 0.0  # while some thread of it was ready to run and could not

    @property
    def counted(self) -> float:
        """The seconds that count: never fewer than the processors worked."""
        return max(self.used, self.wall - self.waited)
