"""A homework's known mistakes: each question once, with the mistakes that it uncovers folded below it."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.catalogue import Misconception
from autograder.reporting.prose import prose
from autograder.source.homework import STARS, Exercise, HomeworkSource, title_of


def mistakes(homework: HomeworkSource) -> str:
    """The known mistakes of each exercise: first what to ask yourself, then, folded, what it uncovers."""
    notebook = f"../homeworks/{homework.name}/{homework.name}.ipynb"
    number, _, subject = title_of(homework).partition(": ")
    lines = [
        f"# Known mistakes in {number.lower()}",
        "",
        "Each question belongs to one or more mistakes that people make here. Ask it of your own answer",
        "before you unfold what they are. The exercises are in the notebook,",
        f"[{subject or number}]({notebook}).",
    ]
    for exercise in homework.exercises:
        asked: dict[str, list[Misconception]] = {}
        for entry in homework.misconceptions:
            if entry.of == exercise.name:
                asked.setdefault(entry.question, []).append(entry)
        lines += ["", f"## {exercise.title}", "", about(exercise), ""]
        lines += [line for question, known in asked.items() for line in _folded(question, known)]
    return "\n".join([*lines, ""])


def about(exercise: Exercise) -> str:
    """Difficulty, minutes and points in one line."""
    points = f"{exercise.points:g} points{' on top' if exercise.bonus else ''}"
    return f"`{exercise.name}` · {STARS[exercise.difficulty - 1]} · {exercise.minutes} minutes · {points}"


def _folded(question: str, known: Iterable[Misconception]) -> list[str]:
    """A question, and below it every mistake that it uncovers, each in a paragraph and once."""
    places: dict[str, str] = {}
    for entry in known:
        places[entry.diagnosis] = _seen(entry) or places.get(entry.diagnosis, "")
    told = [line for diagnosis, seen in places.items() for line in (f"{diagnosis}{seen}", "")]
    return [f"<details><summary>{prose(question)}</summary>", "", *told, "</details>", ""]


def _seen(entry: Misconception) -> str:
    return f" ([seen]({entry.seen}))" if entry.seen else ""
