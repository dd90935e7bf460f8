"""What the student's package may know of wrong solutions: their answers to visible checks, and what to ask.

No reference value, no hidden check and no line of a solution is in it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from autograder.examine import run_checks
from autograder.homework import Check, Exercise, HomeworkSource, references
from course.checks import LocalLink, replay
from course.checks.fingerprints import agree, differing


def fingerprints_path(root: Path, name: str) -> Path:
    """Where the student's package looks for them."""
    return root / "course" / "checks" / "fingerprints" / f"{name}.json"


def fingerprints(homework: HomeworkSource) -> dict:
    """The fingerprints of a homework, as plain JSON."""
    right, scope = references(homework), homework.namespace()
    visible = [check for check in homework.checks if not check.hidden]
    trained = {exercise.name for exercise in homework.exercises if exercise.trained}
    known = {
        check.name: {} if check.exercise in trained else answers(homework, check, right, scope)
        for check in visible
    }
    nameable = {name for found in known.values() for name in found}
    return {
        "homework": homework.name,
        "exercises": {entry.name: _about(homework, entry, nameable) for entry in homework.exercises},
        "checks": {check.name: _about_check(check, known[check.name]) for check in visible},
    }


def up_to_date(path: Path, built: dict) -> bool:
    """Whether the file says the same; the last digits of numbers depend on the machine and do not count."""
    try:
        return agree(json.loads(path.read_text(encoding="utf-8")), built)
    except (OSError, ValueError):
        return False


def spelled(value: object, levels: int = 4) -> str:
    """JSON with sorted keys and one line for each mistake, whose answers are many numbers nobody reads."""
    if not isinstance(value, dict) or levels == 0:
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    entries = (f"{json.dumps(key)}: {spelled(value[key], levels - 1)}" for key in sorted(value))
    return "{\n" + ",\n".join(entries) + "\n}" if value else "{}"


def answers(
    homework: HomeworkSource, check: Check, right: dict[str, Any], scope: dict[str, Any]
) -> dict[str, list]:
    """Misconception → [[event, outcome], …] wherever it answers this check other than the reference does."""
    found = {}
    for entry in homework.misconceptions:
        if entry.of == check.exercise:
            link = LocalLink(right | {entry.of: entry.thing})
            [done] = run_checks(homework, link, only={check.name}, scope=scope)
            found[entry.name] = differing(done.trace, replay(done.trace, right))
    return {name: events for name, events in found.items() if events}


def _about(homework: HomeworkSource, exercise: Exercise, nameable: set[str]) -> dict:
    """A mistake that only hidden checks can show is left out: its description would describe them."""
    entries = [entry for entry in homework.misconceptions if entry.of == exercise.name]
    return {
        "hints": list(exercise.hints),
        "forbids": list(exercise.forbids),
        "misconceptions": {
            entry.name: {"diagnosis": entry.diagnosis, "question": entry.question}
            for entry in entries
            if entry.name in nameable
        },
    }


def _about_check(check: Check, found: dict[str, list]) -> dict:
    return {"exercise": check.exercise, "points": check.points, "claim": check.claim, "answers": found}
