"""Grade a folder of submissions: judges on every core or every machine, and a single writer of the marks.

This module imports little: torch and nbgrader are imported while the warm process starts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.grading.order import Order
from autograder.grading.pool import Judges, local_judges
from autograder.isolation import Limits
from autograder.marks.decisions import Decisions
from autograder.marks.records import HomeworkRecord, RecordFolder, remove_left_over
from autograder.source.loading import require_name
from autograder.submissions.collect import Found, collect

if TYPE_CHECKING:
    from autograder.grading.attempts import Which
    from autograder.grading.clerk import Clerk
    from autograder.marks.gradebook import MarkBook


def grade(
    name: str,
    submissions: Path,
    *,
    root: Path = Path("."),
    jobs: int | None = None,
    dask: str | None = None,
    isolation: str = "best",
    again: bool = False,
    json_file: Path | None = None,
    limits: Limits | None = None,
    forbidden_costs_points: bool = True,
    gradebook: str | None = None,
    preview: bool = False,
    attempt: Which = "latest",
) -> HomeworkRecord:
    """Grade the submissions that are new or changed, or all of them `again`; returns the record of all.

    Each student's result is written to grades/NAME/ and to the gradebook as soon as it is finished; all
    together are written to grades/NAME.json and `json_file`. If grading is stopped, finished work is kept.
    Calls that an exercise forbids are flagged, and by default cost the points of the exercise.
    dask: the address of a Dask cluster whose workers judge; None has them judged here, `jobs` at once.
    gradebook: the URL of a database; None takes the one of nbgrader_config.py.
    preview: judge what is due and return the records, but write nothing.
    attempt: which of the attempts that `collect` or `serve` keeps counts; a choice among several is recorded.
    Raises errors that a person must fix: IsolationUnavailable, NothingHandedIn, NotReleased,
    GradebookUnavailable, ClusterUnavailable or SourceError.
    """
    root = Path(root)
    require_name(name, root)
    found = collect(Path(submissions), name)
    order = Order(name, isolation, limits or Limits(), forbidden_costs_points)
    with judges_for(order, root, jobs, dask) as judges, mark_book(root, name, gradebook) as marks:
        from autograder.grading.clerk import Task

        clerk = clerk_for(order, root, marks, judges, found, json_file, preview=preview)
        from autograder.grading.attempts import AttemptChoice

        if attempt != "latest" or Decisions(root).attempts_chosen(name):
            choice = AttemptChoice(attempt, Path(submissions), Decisions(root), clerk)
            chosen = choice.chosen(found, again=again)
            if not preview:
                choice.record(found, chosen)
            clerk.found = found = chosen
        clerk.work([Task(submission) for submission in found] if again else list(clerk.due()))
        if not preview:
            clerk.notes = (*clerk.notes, *marks.enter_penalties())
        return clerk.summary()


def clerk_for(
    order: Order,
    root: Path,
    marks: MarkBook,
    judges: Judges,
    found: Sequence[Found],
    json_file: Path | None = None,
    *,
    preview: bool = False,
) -> Clerk:
    """The clerk for a homework as it is released now; raises SourceError or NotReleased."""
    from autograder.grading.clerk import Clerk
    from autograder.grading.preview import Preview

    plan = order.plan(root)
    marks.require(plan.points)
    marks.require(plan.points_in_source)
    notes = tuple(filter(None, [marks.edited(plan.cells_now(root))]))
    records = RecordFolder(root / "grades", order.homework)
    clerk = (Preview if preview else Clerk)(plan, marks, records, judges, found, json_file, notes)
    if not preview:
        remove_left_over(clerk.folders())
    return clerk


def judges_for(
    order: Order, root: Path, jobs: int | None, dask: str | None
) -> AbstractContextManager[Judges]:
    """The judges on this machine, or those on a cluster."""
    if dask is None:
        return local_judges(order.isolation, order.limits, jobs)
    from autograder.cluster.driver import cluster_judges

    return cluster_judges(dask, order, root)


def mark_book(root: Path, name: str, gradebook: str | None) -> MarkBook:
    """The gradebook of a homework.

    If nbgrader is the first to import jsonschema, jsonschema is loaded without its grammar of international
    web addresses: compiling it takes two thirds of nbgrader's start, and no notebook uses that format.
    """
    with not_importable("rfc3987_syntax"):
        from autograder.marks.gradebook import MarkBook

    return MarkBook(root, name, gradebook)


@contextmanager
def not_importable(module: str) -> Iterator[None]:
    """In this block, importing a module fails as if it were not installed, unless it was imported before."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]  # Python's own way to prevent an import
    try:
        yield
    finally:
        del sys.modules[module]
