"""Times as people read them: in the due date's zone if there is one, and relative to now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

STEPS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def in_zone_of(due: datetime | None, time: datetime) -> str:
    """A time from the database, which stores UTC without a zone, in the zone of the due date."""
    there = time.replace(tzinfo=UTC).astimezone(due.tzinfo if due else UTC)
    return f"{there:%Y-%m-%d %H:%M:%S} {_zone(there)}"


def until(due: datetime, now: datetime) -> tuple[str, str]:
    """A due date as it was said, with its day of the week, and how far away it is."""
    return f"{due:%a %Y-%m-%d %H:%M} {_zone(due)}", how_far(due, now)


def how_far(time: datetime, now: datetime) -> str:
    """`in 3 days` or `5 minutes ago`: in the largest unit that fits at least twice."""
    seconds = abs((time - now) / timedelta(seconds=1))
    size, unit = next((step for step in STEPS if seconds >= 2 * step[0]), STEPS[-1])
    count = int(seconds // size)
    words = f"{count} {unit}{'' if count == 1 else 's'}"
    return f"in {words}" if time > now else f"{words} ago"


def _zone(time: datetime) -> str:
    offset = time.strftime("%z")
    return "UTC" + (f"{offset[:3]}:{offset[3:5]}".replace("-", "−") if time.utcoffset() else "")
