"""The deadline of a request: in time that counts, with a far limit on time of any kind."""

import time
from collections.abc import Callable

from autograder.isolation.spent import Spent

SECONDS_TO_ASK_AGAIN = 0.02


class Deadline:
    """So many seconds that count, from now on; it asks what was spent only when as many have passed."""

    def __init__(self, seconds: float, patience: float, spent_since: Callable[[float], Spent]):
        self.seconds = seconds
        self.begun = time.monotonic()
        self.due = self.begun + seconds
        self.far = self.begun + patience * seconds
        self.spent_since = spent_since
        self.waited = 0.0  # for a processor, as far as that was asked

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
        """Seconds of any kind since the beginning."""
        return time.monotonic() - self.begun
