"""The deadline of a request: a limit on counted seconds, and a far limit on wall time."""

import time
from collections.abc import Callable

from autograder.isolation.spent import Spent

SECONDS_TO_ASK_AGAIN = 0.02


class Deadline:
    """A limit on the counted seconds from now on; it asks for their number only when it may be reached."""

    def __init__(self, seconds: float, patience: float, spent_since: Callable[[float], Spent]):
        self.seconds = seconds
        self.begun = time.monotonic()
        self.due = self.begun + seconds
        self.far = self.begun + patience * seconds
        self.spent_since = spent_since
        self.waited = 0.0  # seconds for a processor, when last asked

    def remaining(self) -> float:
        """Seconds to wait before asking again; raises TimeoutError when the time is over."""
        if (left := self.due - time.monotonic()) > 0:
            return left
        spent = self.spent_since(self.begun)
        self.waited = spent.waited
        left = min(self.seconds - spent.counted, self.far - time.monotonic())
        if left <= 0:
            raise TimeoutError
        self.due = time.monotonic() + max(left, SECONDS_TO_ASK_AGAIN)
        return self.due - time.monotonic()

    def passed(self) -> float:
        """Seconds of wall time since the beginning."""
        return time.monotonic() - self.begun
