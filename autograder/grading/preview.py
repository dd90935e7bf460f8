"""Preview what a grading run would change; and grade one notebook alone, to answer a student's question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autograder.grading.clerk import Clerk, Task
from autograder.grading.forked import Lost
from autograder.grading.order import Order
from autograder.grading.pool import local_judges
from autograder.grading.submission import Graded, not_run
from autograder.isolation import Limits
from autograder.marks.records import HomeworkRecord, SubmissionRecord
from autograder.source.homework import HomeworkSource
from autograder.submissions.collect import Found


@dataclass
class Preview(Clerk):
    """A clerk that has the due submissions judged, and writes nothing."""

    def settled(
        self, record: SubmissionRecord, submission: Found, entered: Mapping[str, float | None] | None
    ) -> bool:
        """A valid record needs no judging; it already contains the changed points."""
        self.records[record.student] = record
        return True

    def save(self, submission: Found, graded: Graded) -> None:
        self.records[graded.record.student] = graded.record

    def hand_on_receipt(self, submission: Found) -> None:
        """Copy nothing."""

    def note_arrival(self, submission: Found, known: datetime | None) -> None:
        """Enter nothing."""

    def summary(self) -> HomeworkRecord:
        return self.together()


def graded_alone(
    notebook: Path, name: str, root: Path, isolation: str = "best", seed: int | None = None
) -> tuple[Graded, HomeworkSource]:
    """Judge one file like a submission, without writing a record or a mark.

    seed: that of a record, to draw the same hidden inputs again.
    """
    limits = Limits()
    with local_judges(isolation, limits, 1) as judges:
        plan = Order(name, isolation, limits).plan(root)
        task = Task(Found(notebook.stem, notebook), seed=seed)
        [(_, result)] = judges.judged([task], plan)
        if isinstance(result, Lost):
            return not_run(notebook.stem, result.sentence, plan), plan.homework
        return Graded.from_json(result), plan.homework


def made_by(record: SubmissionRecord) -> str:
    """One line that traces a mark to the checks, versions, seed and isolation level that made it."""
    parts = {"isolation": record.isolation, "seed": record.seed, **record.conditions}
    return ", ".join(f"{name} {str(value)[:20]}" for name, value in parts.items() if value not in ("", None))
