"""Pages of the site that are derived: the glossary, and the known mistakes of a homework for its students."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

from autograder.catalogue import Misconception
from autograder.source.homework import STARS, Exercise, HomeworkSource, title_of
from course.shapes import AXES, SIZES, VALUES, Name


def glossary() -> str:
    """Every name of the course with its letter, its meaning and what others call it."""
    return "\n".join(
        [
            "# Glossary",
            "",
            "One word and one letter for every axis, size and value, and the names you meet elsewhere:",
            "in GPT-2's code, in the configurations of Hugging Face's `transformers`, in `torch.nn`.",
            *_table("Axes", AXES),
            *_table("Sizes", SIZES),
            *_table("Values", VALUES),
            "",
        ]
    )


def _table(title: str, entries: Iterable[Name]) -> Iterator[str]:
    yield from ("", f"## {title}", "")
    yield "| in the course | letter | meaning | GPT-2 | Hugging Face | torch.nn |"
    yield "|---|---|---|---|---|---|"
    for name in entries:
        elsewhere = (f"`{word}`" if word else "" for word in (name.gpt2, name.hugging_face, name.torch))
        yield f"| `{name.code}` | {name.letter} | {name.meaning} | {' | '.join(elsewhere)} |"


def mistakes(homework: HomeworkSource) -> str:
    """What goes wrong in each exercise: first the question to ask oneself, then, folded, what it was."""
    notebook = f"../homeworks/{homework.name}/{homework.name}.ipynb"
    number, _, subject = title_of(homework).partition(": ")
    lines = [
        f"# Known mistakes in {number.lower()}",
        "",
        "Each question belongs to a mistake that people make here. Ask it about your own answer before you",
        f"unfold what the mistake is. The exercises are in the notebook, [{subject or number}]({notebook}).",
    ]
    for exercise in homework.exercises:
        known = [entry for entry in homework.misconceptions if entry.of == exercise.name]
        lines += ["", f"## {exercise.title}", "", about(exercise), ""]
        lines += [line for entry in known for line in _folded(entry)]
    return "\n".join([*lines, ""])


def about(exercise: Exercise) -> str:
    """Difficulty, minutes and points in a line."""
    points = f"{exercise.points:g} points"
    return f"`{exercise.name}` · {STARS[exercise.difficulty - 1]} · {exercise.minutes} minutes · {points}"


def _folded(entry: Misconception) -> list[str]:
    seen = f" ([seen]({entry.seen}))" if entry.seen else ""
    return [
        f"<details><summary>{summary(entry.question)}</summary>",
        "",
        f"{entry.diagnosis}{seen}",
        "",
        "</details>",
        "",
    ]


def summary(question: str) -> str:
    """A question as HTML, for within a summary no Markdown is read: code, emphasis and formulas."""
    return "".join(_piece(piece) for piece in re.split(r"(`[^`]+`|\*\w[^*]*\*|\$[^$]+\$)", question))


def _piece(text: str) -> str:
    from autograder.reporting.formulas import mathml

    match text[:1] + text[-1:], text[1:-1]:
        case "``", code:
            return (
                f'<code class="docutils literal notranslate"><span class="pre">{escape(code)}</span></code>'
            )
        case "**", words:
            return f"<em>{escape(words)}</em>"
        case "$$", latex:
            return mathml(latex, "inline")
    return escape(text)
