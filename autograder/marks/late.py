"""Late penalties: one small policy, set in nbgrader_config.py and entered where nbgrader keeps penalties.

    c.AssignLatePenalties.plugin_class = "autograder.marks.late.PerDay"
    c.PerDay.percent_per_day = 10

`nbgrader autograde` and `autograder grade` both read it; extensions that nbgrader grants count.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import Float
from traitlets.config import Config

from autograder.marks.database import in_a_sentence, opened
from autograder.marks.settings import course_config

SECONDS_PER_DAY = 86_400


class NotATime(ValueError):
    """A due date that is none; the message shows what one looks like."""


class PerDay(LateSubmissionPlugin):
    """A share of the points earned is taken off for each day begun, up to a cap; by default nothing is."""

    percent_per_day = Float(0.0, min=0.0, help="percent of the points earned, for each day begun").tag(
        config=True
    )
    most_percent = Float(100.0, min=0.0, max=100.0, help="at most this many percent").tag(config=True)
    grace_minutes = Float(0.0, min=0.0, help="this late is not late").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float:
        """The points to take off."""
        late = max(0.0, total_seconds_late)
        if late <= 60 * self.grace_minutes:
            return 0.0
        return score * min(self.percent_per_day * math.ceil(late / SECONDS_PER_DAY), self.most_percent) / 100


def policy_of(config: Config) -> LateSubmissionPlugin:
    """The course's policy: what nbgrader_config.py sets, or nbgrader's own, which takes nothing off."""
    assign = AssignLatePenalties(config=config)
    assign.init_plugin()
    return assign.plugin_inst


def enter_penalties(gradebook: Gradebook, homework: str, policy: LateSubmissionPlugin) -> None:
    """Take off from every submission of a homework what the policy says about the points it has now.

    Committing is left to the caller.
    """
    if gradebook.find_assignment(homework).duedate is None:
        return
    for submission in gradebook.assignment_submissions(homework):
        for notebook in submission.notebooks:
            penalty = None
            if (late := submission.total_seconds_late) > 0:
                penalty = policy.late_submission_penalty(submission.student_id, notebook.score, late)
            notebook.late_submission_penalty = (
                None if penalty is None else min(max(penalty, 0.0), notebook.score)
            )


def set_due_date(root: Path, homework: str, due: datetime, gradebook: str | None = None) -> None:
    """Tell the gradebook when a homework is due."""
    course = CourseDirectory(config=course_config(root.resolve(), gradebook))
    with in_a_sentence(), opened(course) as book:
        naive = due.astimezone(UTC).replace(tzinfo=None)  # as nbgrader keeps times
        book.update_or_create_assignment(homework, duedate=naive)


def read_time(text: str) -> datetime:
    """An ISO time, in this machine's time zone unless it names one; raises NotATime."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        raise NotATime(
            f"{text!r} is not a time; write it like 2026-11-20T23:59 or 2026-11-20T23:59+01:00."
        ) from None
