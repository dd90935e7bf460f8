"""The class report: one HTML file that needs no network, legible in light and dark, all escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from autograder.extras import NotInstalled
from autograder.marks.records import HomeworkRecord, read_homework, write_text
from autograder.reporting.class_statistics import (
    ClassStatistics,
    ExerciseStatistics,
    MistakeCount,
    class_statistics,
    histogram,
)
from autograder.reporting.page import anchor, number, page, rich, text
from autograder.reporting.report_students import students
from autograder.source.homework import HomeworkSource, title
from autograder.source.loading import find


def report(name: str, root: Path | str = ".") -> Path:
    """Write grades/NAME.html from grades/NAME.json; raises FileNotFoundError where nothing was graded yet."""
    records = Path(root) / "grades" / f"{name}.json"
    if not records.is_file():
        raise FileNotFoundError(f"{records} is not there: grade first with `autograder grade {name} …`.")
    path, homework = records.with_suffix(".html"), find(name, root)
    write_text(path, render(read_homework(records), homework, alike(homework, Path(root))))
    return path


def alike(homework: HomeworkSource, root: Path) -> str:
    """The section about submissions that are alike; empty where the library for it is not installed."""
    try:
        from autograder.reporting.similar import NothingGraded, section, similar
    except NotInstalled:
        return ""
    try:
        return section(similar(homework, root))
    except NothingGraded:
        return ""


def render(record: HomeworkRecord, homework: HomeworkSource, alike: str = "") -> str:
    """The page for the records of one homework."""
    counted = class_statistics(record, homework)
    heading = title(homework.cells[0].source) if homework.cells else homework.name
    parts = [
        f"<h1>{text(heading)}</h1><p class=quiet>{text(homework.name)}</p>",
        _facts(counted),
        _distribution(counted),
        _commonest(counted),
        _heat_map(counted),
        _exercises(counted),
        _attention(counted),
        alike,
        students(record, homework),
        _footer(record),
    ]
    return page(heading, "".join(parts))


def _facts(counted: ClassStatistics) -> str:
    average = "" if counted.mean is None else f"{number(counted.mean)} of {number(counted.max_points)}"
    middle = "" if counted.median is None else f"{number(counted.median)} of {number(counted.max_points)}"
    facts = [
        ("submissions", len(counted.graded) + len(counted.could_not_run)),
        ("could not be run", len(counted.could_not_run)),
        ("to look at", len(counted.flagged)),
        ("median", middle),
        ("mean", average),
    ]
    return (
        "<ul class=facts>"
        + "".join(f"<li><b>{value}</b>{name}</li>" for name, value in facts if value != "")
        + "</ul>"
    )


def _distribution(counted: ClassStatistics) -> str:
    counts = histogram(counted.points, counted.max_points)
    tallest = max([*counts, 1])
    columns = "".join(
        f"<div><small>{count or ''}</small><span style='height:{70 * count / tallest:.0f}%'></span>"
        f"<small>{10 * place}–{10 * place + 10} %</small></div>"
        for place, count in enumerate(counts)
    )
    return f"<h2>Marks</h2><div class=columns role=img aria-label='Marks by tenths: {counts}'>{columns}</div>"


def _commonest(counted: ClassStatistics) -> str:
    made = [pair for pair in counted.commonest(5) if len(pair[1].students) > 1]
    if not made:
        return ""
    entries = "".join(_common_mistake(exercise, mistake) for exercise, mistake in made)
    return f"<h2>Worth a word in class</h2>{entries}"


def _common_mistake(exercise: ExerciseStatistics, mistake: MistakeCount) -> str:
    who = ", ".join(f"<a href='#{anchor(name)}'>{text(name)}</a>" for name in mistake.students)
    return (
        f"<div class=mistake><p><b>{text(exercise.title)}</b> · {_students_in_words(mistake)} · {who}</p>"
        f"<p>{rich(mistake.diagnosis)}</p><p class=quiet>To ask: {rich(mistake.question)}</p></div>"
    )


def _students_in_words(mistake: MistakeCount) -> str:
    return "1 student" if len(mistake.students) == 1 else f"{len(mistake.students)} students"


def _heat_map(counted: ClassStatistics) -> str:
    """Every exercise against every mistake that is known of it, the warmer the more often made."""
    everyone = max(len(counted.graded), 1)
    rows = "".join(
        f"<tr><th scope=row>{text(exercise.title)}</th><td><div class=cells>"
        + "".join(_heat_cell(mistake, everyone) for mistake in exercise.mistakes)
        + "</div></td></tr>"
        for exercise in counted.exercises
    )
    return (
        "<h2>Which mistakes the class makes</h2>"
        "<p class=quiet>Each box is a known mistake; the number says how many students' answers equal it.</p>"
        f"<div class=table><table class=heat>{rows}</table></div>"
    )


def _heat_cell(mistake: MistakeCount, everyone: int) -> str:
    count = len(mistake.students)
    name = mistake.name.replace("_", " ")
    kind = "cell" if count else "cell none"
    shown = f"<b>{count}</b>" if count else ""
    share = math.sqrt(count / everyone)
    return (
        f"<span class='{kind}' style='--share:{share:.2f}' title='{text(mistake.diagnosis)}'>"
        f"{text(name)}{shown}</span>"
    )


def _exercises(counted: ClassStatistics) -> str:
    rows = "".join(_exercise_row(exercise, len(counted.graded)) for exercise in counted.exercises)
    return (
        "<h2>Exercises</h2><div class=table><table><tr><th>exercise<th class=number>points"
        "<th>mean share of the points<th class=number>full marks<th class=number>not written"
        f"<th class=number>wrong in no known way</tr>{rows}</table></div>"
    )


def _exercise_row(exercise: ExerciseStatistics, students: int) -> str:
    return (
        f"<tr><td>{text(exercise.title)}<td class=number>{number(exercise.max_points)}"
        f"<td>{_bar(exercise.mean_share)}"
        f"<td class=number>{exercise.full_marks} of {students}<td class=number>{exercise.unwritten or ''}"
        f"<td class=number>{exercise.unexplained or ''}</tr>"
    )


def _bar(share: float) -> str:
    return f"<span class=bar title='{share:.0%}'><span style='width:{share:.0%}'></span></span>"


def _attention(counted: ClassStatistics) -> str:
    """What a person should look at: submissions that could not be run, and those with flags or notes."""
    could_not = [(record.student, record.problem) for record in counted.could_not_run]
    flagged = [(record.student, flag) for record in counted.flagged for flag in record.flags]
    slow = [
        (record.student, f"took {record.seconds:.1f} s") for record in counted.slowest if record.seconds > 10
    ]
    noted = [
        (record.student, note)
        for record in (*counted.could_not_run, *counted.graded)
        for note in record.notes
    ]
    parts = [
        ("Could not be run", could_not),
        ("Flagged", flagged),
        ("Made from another release", noted),
        ("Slowest", slow),
    ]
    return "".join(_notes(heading, notes) for heading, notes in parts if notes)


def _notes(heading: str, notes: Iterable[tuple[str, str]]) -> str:
    rows = "".join(
        f"<tr><th scope=row><a href='#{anchor(student)}'>{text(student)}</a><td>{text(note)}</tr>"
        for student, note in notes
    )
    return f"<h2>{heading}</h2><div class=table><table class=notes>{rows}</table></div>"


def _footer(record: HomeworkRecord) -> str:
    level = record.isolation.get("level", "unknown")
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    by_hand = ", ".join(f"{name} ({number(points)})" for name, points in record.graded_by_hand.items())
    lines = [f"Student code ran under isolation “{level}”.", f"Graded with {versions}."]
    lines += [f"Note: {record.isolation['checks']}."] if "checks" in record.isolation else []
    lines += record.notes
    lines += [f"Graded by hand, not in these marks: {by_hand}."] if by_hand else []
    return "<footer class=quiet>" + "".join(f"<p>{text(line)}</p>" for line in lines) + "</footer>"
