"""Make the fingerprints that students install: sealed wrong answers to visible checks, with their questions.

They contain no readable answer, no hidden check and no line of a solution. A digest beside an exercise's
fingerprints covers everything they were made from; while it stays the same, they are not made again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from autograder.checking.examine import Examined, run_checks
from autograder.checking.versions import made_from
from autograder.source.homework import FAILED, WITH_ITS_MISTAKES, Check, Exercise, HomeworkSource, references
from course.checks import LocalLink, Trace, replay
from course.checks.closeness import same
from course.checks.fingerprints import Fingerprint, differing, sealed, written

Tell = Callable[[str], object]  # shows a sentence to the person who waits


class Answers(NamedTuple):
    """The answers to one check: the reference's, and those of each mistake that answers differently."""

    right: tuple[str, ...]  # seals
    wrong: Mapping[str, Fingerprint]

    def as_json(self) -> dict:
        """The answers in the format that the student's package reads."""
        wrong = {name: written(fingerprint, self.right) for name, fingerprint in self.wrong.items()}
        return {"right": [*self.right] if wrong else [], "answers": wrong}


def fingerprints_path(root: Path, name: str) -> Path:
    """The path at which the student's package looks for the fingerprints."""
    return root / "course" / "checks" / "fingerprints" / f"{name}.json"


def shipped(root: Path, name: str) -> dict:
    """The current fingerprints of the student's package; {} if there are none."""
    try:
        return json.loads(fingerprints_path(root, name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def fingerprints(homework: HomeworkSource, before: Mapping, tell: Tell = str) -> dict:
    """The fingerprints of a homework, as plain JSON; those in `before` that are still valid are kept."""
    digests = made_from(homework)
    stale = [exercise for exercise in homework.exercises if not _is_current(exercise, before, digests)]
    if stale:
        tell(f"{homework.name}: the known mistakes of {', '.join(one.name for one in stale)} are run again.")
    again = {name: found.as_json() for name, found in _asked(homework, stale).items()}
    visible = [check for check in homework.checks if not check.hidden]
    checks = {check.name: again.get(check.name) or _kept(before["checks"][check.name]) for check in visible}
    return {
        "homework": homework.name,
        "exercises": {
            exercise.name: _about(homework, exercise, checks)
            | {"made_from": digests[exercise.name], "place": place, "points": exercise.points}
            for place, exercise in enumerate(homework.exercises)
        },
        "in_words": {
            each.name: {"points": each.points} | ({"bonus": True} if each.bonus else {})
            for each in homework.written
        },
        "checks": {check.name: _about_check(check) | checks[check.name] for check in visible},
    }


def spelled(value: object, levels: int = 4) -> str:
    """JSON with sorted keys and one line for each mistake, because nobody reads its seals."""
    if not isinstance(value, dict) or levels == 0:
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    entries = (f"{json.dumps(key)}: {spelled(value[key], levels - 1)}" for key in sorted(value))
    return "{\n" + ",\n".join(entries) + "\n}" if value else "{}"


def answers(
    exercise: Exercise, wrong: Mapping[str, Examined], own: Trace, right: Mapping[str, Any]
) -> Answers:
    """The answers to a check, from the runs of the exercise's mistakes and of its reference.

    If a mistake and the reference got the same calls, their answers are compared; otherwise the mistake's
    calls are replayed on the reference. A reference that trains is never run: its mistakes are built by hand,
    and all answers of a mistake to a check that it fails count as wrong.
    """
    if exercise.trained == WITH_ITS_MISTAKES:
        return Answers((), {})
    if exercise.trained:
        failed = {name: done.trace for name, done in wrong.items() if done.result == FAILED}
        return Answers((), {name: _all_wrong(trace) for name, trace in failed.items()})
    found = {
        name: differing(done.trace, own if _asked_alike(done.trace, own) else replay(done.trace, right))
        for name, done in wrong.items()
    }
    seals = tuple(sealed(event, is_right=True).seal for event in own.events)
    return Answers(seals, {name: fingerprint for name, fingerprint in found.items() if fingerprint})


def _all_wrong(trace: Trace) -> Fingerprint:
    return [sealed(event, is_right=False) for event in trace.events]


def _asked_alike(wrong: Trace, own: Trace) -> bool:
    """Whether all calls of the first trace, up to its failure, are also those of the second."""
    if len(wrong.events) > len(own.events):
        return False
    calls = ([(e.target, e.method, e.args, e.kwargs) for e in trace.events] for trace in (wrong, own))
    return all(map(same, *calls))


def _asked(homework: HomeworkSource, exercises: Sequence[Exercise]) -> dict[str, Answers]:
    """Check → its answers, for the visible checks of these exercises."""
    right = references(homework) if exercises else {}
    scope = homework.namespace() if exercises else {}
    return {
        check.name: _asked_one(homework, exercise, check, right, scope)
        for exercise in exercises
        for check in exercise.checks
        if not check.hidden
    }


def _asked_one(
    homework: HomeworkSource, exercise: Exercise, check: Check, right: dict[str, Any], scope: dict[str, Any]
) -> Answers:
    def run(thing: object) -> Examined:
        link = LocalLink(right | {exercise.name: thing})
        return run_checks(homework, link, only={check.name}, scope=scope)[0]

    mistakes = [entry for entry in homework.misconceptions if entry.of == exercise.name]
    if exercise.trained == WITH_ITS_MISTAKES:
        mistakes = []
    wrong = {entry.name: run(entry.thing) for entry in mistakes}
    own = Trace(check.name) if exercise.trained else run(right[exercise.name]).trace
    return answers(exercise, wrong, own, right)


def _is_current(exercise: Exercise, before: Mapping, digests: Mapping[str, str]) -> bool:
    visible = {check.name for check in exercise.checks if not check.hidden}
    about = before.get("exercises", {}).get(exercise.name, {})
    return about.get("made_from") == digests[exercise.name] and visible <= before["checks"].keys()


def _kept(about: Mapping) -> dict:
    return {"right": about["right"], "answers": about["answers"]}


def _about(homework: HomeworkSource, exercise: Exercise, checks: Mapping[str, Mapping]) -> dict:
    """The mistakes that visible checks reveal; the description of any other would disclose hidden checks."""
    nameable = {
        name for check in exercise.checks if not check.hidden for name in checks[check.name]["answers"]
    }
    entries = [entry for entry in homework.misconceptions if entry.of == exercise.name]
    return {
        "hints": list(exercise.hints),
        "forbids": list(exercise.forbids),
        **({"exempt": list(exercise.exempt)} if exercise.exempt else {}),
        **({"dtype": exercise.dtype} if exercise.dtype else {}),
        **({"allows": list(exercise.allows)} if exercise.allows else {}),
        **({"bonus": True} if exercise.bonus else {}),
        "misconceptions": {
            entry.name: {"diagnosis": entry.diagnosis, "question": entry.question}
            for entry in entries
            if entry.name in nameable
        },
    }


def _about_check(check: Check) -> dict:
    return {"exercise": check.exercise, "points": check.points, "claim": check.claim}
