"""Grading a folder of submissions: judges on every core or every machine, and one writer of the marks.

What is imported here is small: torch and nbgrader come in while the warm process starts.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.grading.order import Order
from autograder.grading.pool import Judges, local_judges
from autograder.isolation import Limits
from autograder.marks.records import HomeworkRecord, RecordFolder, remove_left_over
from autograder.source.loading import require_name
from autograder.submissions.collect import collect

if TYPE_CHECKING:
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
) -> HomeworkRecord:
    """Grade what was handed in or changed since the last time, or all of it `again`; the record of all.

    Each student's record is in grades/NAME/ and in the gradebook as soon as it is there; all together are
    in grades/NAME.json, and in `json_file`. Stopping keeps what is finished. Calls that an exercise forbids
    are flagged, and cost it its points unless told otherwise.
    dask: the address of a Dask cluster whose workers judge; None has them judged here, `jobs` at once.
    gradebook: the URL of a database; None takes the one of nbgrader_config.py.
    Raises what a person must mend: IsolationUnavailable, NothingHandedIn, NotReleased, GradebookUnavailable,
    ClusterUnavailable or SourceError.
    """
    root = Path(root)
    require_name(name, root)
    found = collect(Path(submissions), name)
    order = Order(name, isolation, limits or Limits(), forbidden_costs_points)
    with judges_for(order, root, jobs, dask) as judges, mark_book(root, name, gradebook) as marks:
        from autograder.grading.clerk import Clerk, Task

        plan = order.plan(root)
        marks.require(plan.points)
        marks.require(plan.points_in_source)
        notes = tuple(filter(None, [marks.edited(plan.cells_now(root))]))
        clerk = Clerk(plan, marks, RecordFolder(root / "grades", name), judges, found, json_file, notes)
        remove_left_over(clerk.folders())
        gc.enable()  # which the command line leaves off while it imports
        clerk.work([Task(submission) for submission in found] if again else list(clerk.due()))
        marks.enter_penalties()
        return clerk.summary()


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

    Where nbgrader is the first to import jsonschema, jsonschema is left without its grammar of international
    web addresses: compiling that is two thirds of nbgrader's start, and no notebook has such a format.
    """
    with not_importable("rfc3987_syntax"):
        from autograder.marks.gradebook import MarkBook

    return MarkBook(root, name, gradebook)


@contextmanager
def not_importable(module: str) -> Iterator[None]:
    """Inside, importing a module fails as if it were not installed, unless it was imported before."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]  # as Python itself keeps one from being imported
    try:
        yield
    finally:
        del sys.modules[module]
