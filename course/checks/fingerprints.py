"""Fingerprints of wrong solutions: their answers to the visible checks, as JSON that students install.

Every answer, wrong or right, is sealed (replaced by a hash), so none can be read from the file.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from course.checks.closeness import same
from course.checks.seal import bears, seal
from course.checks.trace import Event, Trace

BY_CHANCE = "~"  # instead of a seal: the answer of random first weights may be any
RIGHT = "="  # marks the seal of a right answer; alone, it means the answer that the check lists at this place


class Sealed(NamedTuple):
    """The sealed answer of a mistake, and whether the reference gives the same answer."""

    seal: str
    is_right: bool


Fingerprint = Sequence[Sealed]  # a mistake's answers to the calls of one check, in order


def load(name: str) -> dict:
    """The fingerprints of a homework: NAME.json beside the notebook, else the installed file, else none."""
    for folder in (Path.cwd(), Path(__file__).parent / "fingerprints"):
        path = folder / f"{name}.json"
        if path.is_file():
            return json.loads(path.read_text(encoding="utf-8"))
    return {"homework": name, "exercises": {}, "checks": {}}


def differing(wrong: Trace, right: Trace) -> list[Sealed]:
    """The fingerprint of a mistake on one check; [] if all its answers are right.

    `wrong` is the check's run on the mistake, up to where it failed; `right` is the replay of that run on the
    reference. So the arguments are those that the code of a student with the same mistake gets.
    """
    pairs = zip(wrong.events, right.events, strict=False)
    answers = [sealed(w, is_right=same(w.outcome, r.outcome)) for w, r in pairs]
    return [] if all(answer.is_right for answer in answers) else answers


def sealed(event: Event, *, is_right: bool) -> Sealed:
    """Seal one answer of a mistake."""
    if event.by_chance:
        return Sealed(BY_CHANCE, is_right)
    return Sealed(seal(event.outcome, is_right=is_right, is_coarse=event.is_coarse), is_right)


def has_answer(event: Event, answer: Sealed) -> bool:
    """Whether a call gave this sealed answer."""
    if answer.seal == BY_CHANCE:
        return True
    return bears(event.outcome, answer.seal, is_right=answer.is_right, is_coarse=event.is_coarse)


def written(answers: Fingerprint, right: Sequence[str]) -> list[str]:
    """A fingerprint as JSON; `right` holds the seals of the reference's answers, which are stored once."""
    return [
        answer.seal
        if not answer.is_right
        else RIGHT + ("" if [answer.seal] == [*right[i : i + 1]] else answer.seal)
        for i, answer in enumerate(answers)
    ]


def known(check: Mapping) -> dict[str, list[Sealed]]:
    """Mistake → its fingerprint, from the JSON of one check."""
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
    """Whether all calls of a check gave the mistake's results; if it failed, at least one must be wrong."""
    if len(trace.events) != len(fingerprint) or (
        has_failed and all(answer.is_right for answer in fingerprint)
    ):
        return False
    return all(has_answer(event, answer) for event, answer in zip(trace.events, fingerprint, strict=True))
