"""A homework's known mistakes: each question once, with the mistakes that it uncovers folded below it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from autograder.catalogue import Misconception
from autograder.reporting.prose import prose, typeset
from autograder.source.homework import STARS, Exercise, HomeworkSource, title_of
from autograder.website.building import address_of


def mistakes(homework: HomeworkSource) -> str:
    """The known mistakes of each exercise: first what to ask yourself, then, folded, what it uncovers."""
    notebook = address_of(homework)
    number, _, subject = title_of(homework).partition(": ")
    lines = [
        f"# Known mistakes in {number.lower()}",
        "",
        "Each question belongs to one or more mistakes that people make here. Ask it of your own answer",
        "before you unfold what they are. Where one was *seen*, the link leads to public code or a page in",
        "which it was made or explained. An exercise's name leads to its statement and its example in",
        f"[{subject or number}]({notebook}), the notebook; {STARS[0]} is easy, {STARS[-1]} difficult,",
        "and points on top are a bonus.",
    ]
    for exercise in homework.exercises:
        asked: dict[str, list[Misconception]] = {}
        for entry in homework.misconceptions:
            if entry.of == exercise.name:
                asked.setdefault(entry.question, []).append(entry)
        told = about(exercise, address_of(homework, exercise.statement), asked)
        lines += ["", f"## {typeset(exercise.title)}", "", told, ""]
        lines += [line for question, known in asked.items() for line in _folded(question, known)]
    return "\n".join([*lines, ""])


def about(exercise: Exercise, place: str, asked: Mapping[str, list[Misconception]]) -> str:
    """Its name as a link, difficulty, minutes and points in one line, and how many mistakes are known."""
    points = f"{exercise.points:g} points{' on top' if exercise.bonus else ''}"
    told = sum(len(_places(known)) for known in asked.values())
    facts = [
        STARS[exercise.difficulty - 1],
        f"{exercise.minutes} minutes",
        points,
        f"{told} known mistake{'s' * (told != 1)}",
    ]
    unparted = [fact.replace(" ", "\u00a0") for fact in facts]
    return " · ".join([f"[`{exercise.name}`]({place})", *unparted])


def _folded(question: str, known: Iterable[Misconception]) -> list[str]:
    """A question, and below it every mistake that it uncovers, once: one as a sentence, several as a list."""
    told = [f"{typeset(diagnosis)}{seen}" for diagnosis, seen in _places(known).items()]
    if len(told) > 1:
        told = [f"- {each}" for each in told]
    return [f"<details><summary>{prose(question)}</summary>", "", *told, "", "</details>", ""]


def _places(known: Iterable[Misconception]) -> dict[str, str]:
    """Each diagnosis, and the link to where its mistake was seen."""
    places: dict[str, str] = {}
    for entry in known:
        places[entry.diagnosis] = _seen(entry) or places.get(entry.diagnosis, "")
    return places


def _seen(entry: Misconception) -> str:
    return f" ([seen]({entry.seen}))" if entry.seen else ""
