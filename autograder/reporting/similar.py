"""Similar submissions of a homework, found in their autograded notebooks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from markupsafe import Markup

from autograder.catalogue import Alternative, Misconception
from autograder.markup import harmless_markdown, one_line
from autograder.reporting.page import render
from autograder.reporting.similarity import Answers, Pair, similar_pairs
from autograder.source.as_answer import as_answer
from autograder.source.homework import HomeworkSource, without_markers

ABOUT = (
    "These pairs have more in common than the release, the reference, the catalogue and the class explain. "
    "That is a reason to read both submissions and to ask, not proof of copying."
)
NONE = "No two submissions have more in common than the homework explains."


class NothingGraded(FileNotFoundError):
    """There is no autograded notebook to compare."""


def similar(homework: HomeworkSource, root: Path) -> list[Pair]:
    """The pairs of graded submissions worth reviewing; raises NothingGraded."""
    answers = answers_of(homework, root)
    if not answers:
        raise NothingGraded(
            f"No submission of {homework.name} has been graded yet: run `autograder grade` first."
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
    """Exercise or question → the texts that students were given, and the answers that can be expected."""
    entries: tuple[Alternative | Misconception, ...] = (*homework.alternatives, *homework.misconceptions)
    questions = {
        entry.name: [entry.question, harmless_markdown(entry.question)] for entry in homework.written
    }
    return questions | {
        exercise.name: [
            exercise.stub,
            without_markers(exercise.solution),
            *(as_answer(entry, homework) for entry in entries if entry.of == exercise.name),
        ]
        for exercise in homework.exercises
    }


def in_words(pairs: list[Pair]) -> Iterator[str]:
    """The lines that `autograder similar` prints."""
    yield ABOUT if pairs else NONE
    for pair in pairs:
        who = f"{one_line(pair.first)} and {one_line(pair.second)}"
        yield f"\n{who}: {pair.shared} characters in common (a name counts as one)"
        yield from (f"  {answer.in_short}" for answer in pair.answers)
        yield from (f"    in these two alone: {one_line(line)}" for line in pair.lines)


def section(pairs: list[Pair]) -> Markup:
    """The section of the class report about these pairs; empty if there are none."""
    return render("similar.html.j2", about=ABOUT, pairs=pairs)
