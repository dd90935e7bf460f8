"""Late penalties: one small policy, set in nbgrader_config.py and entered where nbgrader keeps penalties.

    c.AssignLatePenalties.plugin_class = "autograder.marks.late.PerDay"
    c.PerDay.percent_per_day = 10

`nbgrader autograde` and `autograder grade` both read it; extensions that nbgrader grants count.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import Float
from traitlets.config import Config

from autograder.marks.database import in_a_sentence, one_transaction, opened
from autograder.marks.decisions import Decisions
from autograder.marks.settings import course_config

SECONDS_PER_DAY = 86_400


class NotATime(ValueError):
    """An invalid due date; the message shows how to write one."""


class PerDay(LateSubmissionPlugin):
    """Take off a percentage of the points earned for each day begun, up to a cap; by default 0."""

    percent_per_day = Float(0.0, min=0.0, help="percent of the points earned, per day or part of a day").tag(
        config=True
    )
    most_percent = Float(100.0, min=0.0, max=100.0, help="the largest penalty in percent").tag(config=True)
    grace_minutes = Float(
        0.0, min=0.0, help="no penalty up to this delay, in every homework; `due --grace` sets it for one"
    ).tag(config=True)
    unknown_counts_as_days = Float(
        0.0, min=0.0, help="how late is what a platform calls late without saying by how much"
    ).tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float:
        """The points to take off."""
        late = max(0.0, total_seconds_late)
        if late <= 60 * self.grace_minutes:
            return 0.0
        return score * min(self.percent_per_day * math.ceil(late / SECONDS_PER_DAY), self.most_percent) / 100


def policy_of(config: Config) -> LateSubmissionPlugin:
    """The course's policy: the one in nbgrader_config.py, or nbgrader's own, which takes nothing off."""
    assign = AssignLatePenalties(config=config)
    assign.init_plugin()
    return assign.plugin_inst


def counted_as(policy: LateSubmissionPlugin) -> timedelta:
    """The lateness that a policy assumes if a platform does not say how late a submission was."""
    return timedelta(days=policy.unknown_counts_as_days if isinstance(policy, PerDay) else 0.0)


def penalties_now(
    gradebook: Gradebook,
    root: Path,
    homework: str,
    policy: LateSubmissionPlugin,
    students: Collection[str] | None = None,
) -> None:
    """Enter what the policy takes off now: marks by hand, extensions and the due date may be newer.

    A due date that nbgrader's pages have set is logged. students: None takes all.
    """
    decisions = Decisions(root)
    with one_transaction(gradebook):
        due = gradebook.find_assignment(homework).duedate
        decisions.set_due(homework, due.replace(tzinfo=UTC) if due else None, is_noticed=True)
        enter_penalties(
            gradebook,
            homework,
            policy,
            extensions=decisions.extensions(homework),
            grace=decisions.grace(homework),
            late_without_time=decisions.late_without_time(homework),
            students=students,
        )


def enter_penalties(
    gradebook: Gradebook,
    homework: str,
    policy: LateSubmissionPlugin,
    *,
    extensions: Mapping[str, timedelta] | None = None,
    grace: timedelta = timedelta(),
    late_without_time: Collection[str] = (),
    students: Collection[str] | None = None,
) -> None:
    """Enter the policy's penalty for every submission of a homework, from its present points.

    extensions: student → length of the extension, instead of those that nbgrader has entered.
    grace: a known delay up to this costs nothing; a longer one counts from the due date.
    late_without_time: the students whose platform says only that they were late.
    students: those whose penalties to enter; None takes all.
    Committing is left to the caller.
    """
    is_due = gradebook.find_assignment(homework).duedate is not None
    assumed = counted_as(policy)
    if students is None:
        submissions = gradebook.assignment_submissions(homework)
    else:
        submissions = [gradebook.find_submission(homework, student) for student in students]
    for submission in submissions:
        student, longer = submission.student_id, (extensions or {}).get(submission.student_id)
        if is_due and longer is not None:
            submission.extension = longer
        if is_due and submission.timestamp is not None:
            late = submission.total_seconds_late
            late = 0.0 if late <= grace.total_seconds() else late
        elif student in late_without_time:
            late = (assumed - (longer or timedelta())).total_seconds()
        elif is_due:
            late = 0.0
        else:
            continue
        for notebook in submission.notebooks:
            penalty = None
            if late > 0:
                penalty = policy.late_submission_penalty(submission.student_id, notebook.score, late)
            notebook.late_submission_penalty = (
                None if penalty is None else min(max(penalty, 0.0), notebook.score)
            )


def set_due_date(root: Path, homework: str, due: datetime, gradebook: str | None = None) -> None:
    """Tell the log of decisions, and the gradebook, when a homework is due."""
    course = CourseDirectory(config=course_config(root.resolve(), gradebook))
    with in_a_sentence(), opened(course) as book:
        Decisions(root).set_due(homework, due)
        naive = due.astimezone(UTC).replace(tzinfo=None)  # as nbgrader stores times
        book.update_or_create_assignment(homework, duedate=naive)


def read_time(text: str) -> datetime:
    """An ISO time, in this machine's time zone unless it names one; raises NotATime."""
    try:
        found = datetime.fromisoformat(text)
        return found if found.tzinfo else found.astimezone()
    except ValueError:
        raise NotATime(
            f"{text!r} is not a time; write it as, for example, 2026-11-20T23:59 or 2026-11-20T23:59+01:00."
        ) from None


def in_its_zone(time: datetime) -> str:
    """A time with its zone, and in UTC, because the server's zone may not be the students'."""
    zone = time.strftime("UTC%z")
    utc = f", which is {time.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if time.utcoffset() else ""
    return f"{time:%Y-%m-%d %H:%M} {zone}{utc}"
