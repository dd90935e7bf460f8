"""A homework on one page for its instructor: exercises, points, and the mistakes that each check finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from autograder.catalogue import Misconception
from autograder.source.homework import STARS, Check, Exercise, HomeworkSource, title_of


def overview(homework: HomeworkSource) -> str:
    """The page in Markdown; it names hidden checks and known mistakes, so the public site lacks it."""
    lines = [
        f"# {title_of(homework)}",
        "",
        f"Made by `autograder site` from {_source(homework)} and its catalogue.",
        "It names hidden checks and known mistakes: it is not for students.",
        "",
        *_summary(homework),
    ]
    for exercise in homework.exercises:
        lines += ["", f"## {exercise.title}", "", *_exercise(exercise, homework)]
    if homework.not_code:
        lines += ["", "## Mistakes that no code can express", ""]
        lines += [f"- {entry.mistake}: {entry.what} ({entry.why})" for entry in homework.not_code]
    return "\n".join([*lines, ""])


def _source(homework: HomeworkSource) -> str:
    """`hw8_mine.py`, or `parts/`."""
    path = homework.path
    return f"`{path.name}/`" if path.is_dir() else f"`{path.name}`"


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """A Markdown table."""
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for row in rows:
        yield "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |"


def _summary(homework: HomeworkSource) -> Iterator[str]:
    rows: list[tuple[object, ...]] = [
        (
            exercise.title,
            STARS[exercise.difficulty - 1],
            exercise.minutes,
            f"{exercise.points:g}",
            f"{len(exercise.checks)} ({sum(check.hidden for check in exercise.checks)})",
            len(_of(exercise, homework.misconceptions)),
        )
        for exercise in homework.exercises
    ]
    rows += [
        (f"`{each.name}`, in words", "", each.minutes, f"{each.points:g}", "", "")
        for each in homework.written
    ]
    numbers: tuple[object, ...] = (len(homework.checks), len(homework.misconceptions))
    for words, of in (("**together**", homework.regular), ("**and as a bonus**", homework.on_top)):
        if of:
            minutes, points = sum(each.minutes for each in of), sum(each.points for each in of)
            rows.append((words, "", minutes, f"{points:g}", *numbers))
            numbers = "", ""
    yield from table(("exercise", "", "minutes", "points", "checks (hidden)", "known mistakes"), rows)


def _exercise(exercise: Exercise, homework: HomeworkSource) -> Iterator[str]:
    mistakes = _of(exercise, homework.misconceptions)
    rows = (
        (
            _name(check),
            f"{check.points:g}",
            check.claim,
            ", ".join(m.name for m in mistakes if check.name in homework.failed_by(m)),
        )
        for check in exercise.checks
    )
    yield from table(("check", "points", "claim", "fails"), rows)
    if exercise.forbids:
        yield from ("", f"Forbidden: {', '.join(f'`{name}`' for name in exercise.forbids)}.")
    yield ""
    for mistake in mistakes:
        seen = f" ([seen]({mistake.seen}))" if mistake.seen else ""
        yield f"- `{mistake.name}`: {mistake.diagnosis}{seen}"


def _name(check: Check) -> str:
    return f"{check.name} (hidden)" if check.hidden else check.name


def _of(exercise: Exercise, entries: Iterable[Misconception]) -> list[Misconception]:
    return [entry for entry in entries if entry.of == exercise.name]
