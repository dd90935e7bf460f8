"""Requests that are held until an attempt has been judged: who waits then knows at once, without scripts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from dataclasses import dataclass, field

from starlette.concurrency import run_in_threadpool

from autograder.serving.attempts import Attempts

SECONDS_HELD = 5.0  # after which the page comes with the place in the queue
SECONDS_BETWEEN_LOOKS = 0.25  # in the database, once for all who wait


@dataclass
class Waiting:
    """The attempts that nobody has judged, as they were at the latest look."""

    attempts: Attempts
    numbers: Collection[int] = ()
    looked: float = float("-inf")
    looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def until_judged(self, number: int) -> None:
        """Return when this attempt has been judged, at the latest after SECONDS_HELD."""
        end = time.monotonic() + SECONDS_HELD
        while time.monotonic() < end:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)  # so that the look is later than the attempt
            if number not in await self.now():
                return

    async def now(self) -> Collection[int]:
        """Look again, unless somebody has just looked."""
        async with self.looking:
            if time.monotonic() - self.looked >= SECONDS_BETWEEN_LOOKS:
                begin = time.monotonic()
                self.numbers = await run_in_threadpool(self.attempts.unjudged)
                self.looked = begin
            return self.numbers
