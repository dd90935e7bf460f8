"""What the graded submissions of a homework share, read from their autograded notebooks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.catalogue import Alternative, Misconception
from autograder.markup import harmless_markdown, one_line
from autograder.reporting.page import anchor, text
from autograder.reporting.similarity import Answers, Pair, SharedAnswer, similar_pairs
from autograder.source.homework import HomeworkSource
from autograder.source.sample_submissions import as_answer, without_markers

ABOUT = (
    "These pairs share more than the release, the reference, the catalogue and the class explain. "
    "That is a reason to read both and to ask, not a finding."
)
NONE = "No two submissions share more than the homework explains."


class NothingGraded(FileNotFoundError):
    """There is no autograded notebook to compare."""


def similar(homework: HomeworkSource, root: Path) -> list[Pair]:
    """The pairs of graded submissions worth a look; raises NothingGraded."""
    answers = answers_of(homework, root)
    if not answers:
        raise NothingGraded(
            f"No submission of {homework.name} is graded yet: `autograder grade` comes first."
        )
    return similar_pairs(answers, explained(homework), [question.name for question in homework.written])


def answers_of(homework: HomeworkSource, root: Path) -> Answers:
    """Student → exercise → the answer cell, as repaired and kept by the grader."""
    from nbgrader.coursedir import CourseDirectory

    from autograder.marks.settings import course_config

    course = CourseDirectory(config=course_config(root.resolve()))
    folder = Path(course.root, course.autograded_directory)
    paths = sorted(folder.glob(f"*/{homework.name}/{homework.name}.ipynb"))
    return {path.parents[1].name: answers_in(path, homework) for path in paths}


def answers_in(path: Path, homework: HomeworkSource) -> Mapping[str, str]:
    """Exercise or written question → text of its answer cell, in one autograded notebook."""
    wanted = {exercise.name for exercise in homework.exercises} | {entry.name for entry in homework.written}
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    named = ((cell["metadata"].get("nbgrader", {}).get("grade_id"), cell["source"]) for cell in cells)
    return {name: "".join(source) for name, source in named if name in wanted}


def explained(homework: HomeworkSource) -> dict[str, list[str]]:
    """Exercise or question → what students were given, and what is known that they may well write."""
    entries: tuple[Alternative | Misconception, ...] = (*homework.alternatives, *homework.misconceptions)
    questions = {
        entry.name: [entry.question, harmless_markdown(entry.question)] for entry in homework.written
    }
    return questions | {
        exercise.name: [
            exercise.stub,
            without_markers(exercise.solution),
            *(as_answer(entry) for entry in entries if entry.of == exercise.name),
        ]
        for exercise in homework.exercises
    }


def in_words(pairs: list[Pair]) -> Iterator[str]:
    """What `autograder similar` prints."""
    yield ABOUT if pairs else NONE
    for pair in pairs:
        who = f"{one_line(pair.first)} and {one_line(pair.second)}"
        yield f"\n{who}: {pair.shared} characters, names counted as one"
        yield from (f"  {_in_short(answer)}" for answer in pair.answers)
        yield from (f"    both, and nobody else: {one_line(line)}" for line in pair.lines)


def _in_short(answer: SharedAnswer) -> str:
    return f"{answer.exercise}: {answer.share:.0%} of what is the shorter answer's own"


def section(pairs: list[Pair]) -> str:
    """The part of the class report about them; empty where there are none."""
    if not pairs:
        return ""
    rows = "".join(_row(pair) for pair in pairs)
    table = f"<div class=table><table class=notes>{rows}</table></div>"
    return f"<h2>Alike</h2><p class=quiet>{text(ABOUT)}</p>{table}"


def _row(pair: Pair) -> str:
    who = " and ".join(f"<a href='#{anchor(name)}'>{text(name)}</a>" for name in (pair.first, pair.second))
    shares = "".join(f"<p>{text(_in_short(answer))}</p>" for answer in pair.answers)
    lines = "\n".join(pair.lines)
    alike = f"<p class=quiet>In both, and in no other:</p><pre>{text(lines)}</pre>" if lines else ""
    return f"<tr><th scope=row>{who}<td>{shares}{alike}</tr>"
