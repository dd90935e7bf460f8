"""A homework's known mistakes: a question about each, with the mistake itself folded below it."""

from __future__ import annotations

from autograder.catalogue import Misconception
from autograder.reporting.prose import prose
from autograder.source.homework import STARS, Exercise, HomeworkSource, title_of


def mistakes(homework: HomeworkSource) -> str:
    """The known mistakes of each exercise: first the question to ask yourself, then, folded, the mistake."""
    notebook = f"../homeworks/{homework.name}/{homework.name}.ipynb"
    number, _, subject = title_of(homework).partition(": ")
    lines = [
        f"# Known mistakes in {number.lower()}",
        "",
        "Each question belongs to a mistake that people make here. Ask it of your own answer before you",
        f"unfold what the mistake is. The exercises are in the notebook, [{subject or number}]({notebook}).",
    ]
    for exercise in homework.exercises:
        known = [entry for entry in homework.misconceptions if entry.of == exercise.name]
        lines += ["", f"## {exercise.title}", "", about(exercise), ""]
        lines += [line for entry in known for line in _folded(entry)]
    return "\n".join([*lines, ""])


def about(exercise: Exercise) -> str:
    """Difficulty, minutes and points in one line."""
    points = f"{exercise.points:g} points{' on top' if exercise.bonus else ''}"
    return f"`{exercise.name}` · {STARS[exercise.difficulty - 1]} · {exercise.minutes} minutes · {points}"


def _folded(entry: Misconception) -> list[str]:
    seen = f" ([seen]({entry.seen}))" if entry.seen else ""
    return [
        f"<details><summary>{prose(entry.question)}</summary>",
        "",
        f"{entry.diagnosis}{seen}",
        "",
        "</details>",
        "",
    ]
