"""The class report: one HTML file that needs no network, legible in light and dark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from markupsafe import Markup

from autograder.extras import NotInstalled
from autograder.marks.database import GradebookUnavailable
from autograder.marks.exports.marks import ExportError, marks_of
from autograder.marks.records import HomeworkRecord, read_homework, write_text
from autograder.reporting.class_statistics import ClassStatistics, class_statistics, histogram
from autograder.reporting.page import number, render
from autograder.reporting.report_students import shown
from autograder.source.homework import HomeworkSource, title
from autograder.source.loading import find
from course.language import ENGLISH, Language

SLOW = 10  # seconds from which on the report mentions a submission
SHARED_BY = 2  # students from which on a mistake is worth discussing in class


def report(name: str, root: Path | str = ".", gradebook: str | None = None) -> Path:
    """Write grades/NAME.html from grades/NAME.json; raises FileNotFoundError if nothing was graded yet.

    gradebook: the URL of its database; None takes the one of nbgrader_config.py.
    """
    records = Path(root) / "grades" / f"{name}.json"
    if not records.is_file():
        raise FileNotFoundError(f"{records} does not exist: grade first with `autograder grade {name} …`.")
    path, homework = records.with_suffix(".html"), find(name, root)
    totals = totals_of(name, Path(root), gradebook)
    write_text(path, report_page(read_homework(records), homework, alike(homework, Path(root)), totals))
    return path


def totals_of(name: str, root: Path, gradebook: str | None) -> dict[str, str]:
    """Student → the mark in the gradebook, in words; empty where there is no gradebook to ask."""
    with suppress(ExportError, GradebookUnavailable):
        return {mark.student: mark.total for mark in marks_of(root, name, gradebook)}
    return {}


def alike(homework: HomeworkSource, root: Path) -> Markup:
    """The section about similar submissions; empty if the library for it is not installed."""
    try:
        from autograder.reporting.similar import NothingGraded, section, similar
    except NotInstalled:
        return Markup("")
    try:
        return section(similar(homework, root))
    except NothingGraded:
        return Markup("")


def report_page(
    record: HomeworkRecord,
    homework: HomeworkSource,
    similar: Markup | None = None,
    totals: Mapping[str, str] | None = None,
) -> Markup:
    """The page for the records of one homework. totals: student → the mark in the gradebook, in words."""
    counted = class_statistics(record, homework)
    return render(
        "report.html.j2",
        heading=heading_of(homework),
        homework=homework,
        counted=counted,
        tenths=histogram(counted.points, counted.max_points),
        common=[pair for pair in counted.commonest(5) if len(pair[1].students) >= SHARED_BY],
        to_look_at={heading: notes for heading, notes in _to_look_at(counted) if notes},
        similar=similar,
        students=[shown(entry, homework) for entry in record.submissions],
        totals=totals or {},
        footer=list(_footer(record)),
    )


def heading_of(homework: HomeworkSource, language: Language = ENGLISH) -> str:
    """The name of a homework on pages."""
    return title(language.text(homework.cells[0].source)) if homework.cells else homework.name


def _to_look_at(counted: ClassStatistics) -> Iterator[tuple[str, Mapping[str, Sequence[str]]]]:
    """What a person should review, as heading → student → notes."""
    could_not_run, graded = counted.could_not_run, counted.graded
    yield "Could not be run", {record.student: [record.problem] for record in could_not_run}
    yield "Flagged", {record.student: record.flags for record in counted.flagged}
    noted = (*could_not_run, *graded)
    yield "Made from another release", {record.student: record.notes for record in noted if record.notes}
    slow = (record for record in counted.slowest if record.seconds > SLOW)
    yield "Slowest", {record.student: [f"took {record.seconds:.1f} s"] for record in slow}


def _footer(record: HomeworkRecord) -> Iterator[str]:
    yield f"Student code ran under isolation “{record.isolation.get('level', 'unknown')}”."
    yield f"Graded with {', '.join(f'{name} {version}' for name, version in record.versions.items())}."
    if "checks" in record.isolation:
        yield f"Note: {record.isolation['checks']}."
    yield from record.notes
    if by_hand := ", ".join(f"{name} ({number(points)})" for name, points in record.graded_by_hand.items()):
        yield f"Graded by hand, not in these marks: {by_hand}."
