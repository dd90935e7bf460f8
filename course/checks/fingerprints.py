"""Fingerprints of wrong solutions: how they answer the visible checks, as plain JSON small enough to ship.

Every answer is sealed, the wrong ones as well as the right ones, so that none can be read here.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from course.checks.closeness import same
from course.checks.seal import bears, seal
from course.checks.trace import Trace

RIGHT = "="  # stands before the seal of a right answer, and for the whole of one that the check lists


class Sealed(NamedTuple):
    """One answer of a mistake, and whether the reference gives the same."""

    seal: str
    is_right: bool


Fingerprint = Sequence[Sealed]  # a mistake's answers to the calls of one check, in order


def load(name: str) -> dict:
    """The fingerprints of a homework: NAME.json beside the notebook, else the installed one, else empty."""
    for folder in (Path.cwd(), Path(__file__).parent / "fingerprints"):
        path = folder / f"{name}.json"
        if path.is_file():
            return json.loads(path.read_text(encoding="utf-8"))
    return {"homework": name, "exercises": {}, "checks": {}}


def differing(wrong: Trace, right: Trace) -> list[Sealed]:
    """The fingerprint of a mistake on one check; [] if all its answers are right.

    `wrong` is the mistake's own run of the check, up to where that failed; `right` the replay of that run on
    the reference. So the arguments are those that a student with the same mistake is asked.
    """
    pairs = [(w.outcome, r.outcome) for w, r in zip(wrong.events, right.events, strict=False)]
    answers = [Sealed(seal(w), same(w, r)) for w, r in pairs]
    return [] if all(answer.is_right for answer in answers) else answers


def written(answers: Fingerprint, right: Sequence[str]) -> list[str]:
    """A fingerprint as JSON; `right` are the seals of the reference's own answers, written down once."""
    return [
        answer.seal
        if not answer.is_right
        else RIGHT + ("" if [answer.seal] == [*right[i : i + 1]] else answer.seal)
        for i, answer in enumerate(answers)
    ]


def known(check: Mapping) -> dict[str, list[Sealed]]:
    """Mistake → its fingerprint, from what the JSON says of one check."""
    right = check.get("right", ())
    return {
        name: [_read(text, right[i : i + 1]) for i, text in enumerate(texts)]
        for name, texts in check.get("answers", {}).items()
    }


def _read(text: str, right: Sequence[str]) -> Sealed:
    if text == RIGHT:
        return Sealed(right[0], True)
    return Sealed(text.removeprefix(RIGHT), text.startswith(RIGHT))


def fits(trace: Trace, fingerprint: Fingerprint, has_failed: bool) -> bool:
    """Whether the calls of one check came out as the mistake's do, and one that failed not all rightly."""
    if len(trace.events) != len(fingerprint) or (
        has_failed and all(answer.is_right for answer in fingerprint)
    ):
        return False
    return all(
        bears(event.outcome, answer.seal) for event, answer in zip(trace.events, fingerprint, strict=True)
    )
