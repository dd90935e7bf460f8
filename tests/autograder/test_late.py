"""What is taken off for being late follows one policy and stands where nbgrader keeps it."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from grading import NAME, RIGHT, SHORT, new_course, solved, submit
from nbgrader.api import Gradebook
from traitlets.config import Config

from autograder.grade import grade
from autograder.marks.database import GradebookUnavailable
from autograder.marks.decisions import Decisions
from autograder.marks.gradebook import MarkBook
from autograder.marks.late import NotATime, PerDay, penalties_now, policy_of, read_time, set_due_date
from autograder.marks.settings import course_config

pytestmark = pytest.mark.usefixtures("one_warm_process")

DAY = 86_400
POLICY = """
c.AssignLatePenalties.plugin_class = "autograder.marks.late.PerDay"
c.PerDay.percent_per_day = 10
c.PerDay.most_percent = 25
"""


@pytest.mark.parametrize(
    ("seconds", "penalty"),
    [(0, 0.0), (1, 0.8), (DAY, 0.8), (DAY + 1, 1.6), (3 * DAY, 2.0), (400 * DAY, 2.0)],
)
def test_every_day_begun_costs_its_share_up_to_the_cap(seconds, penalty):
    policy = PerDay(percent_per_day=10, most_percent=25)
    assert policy.late_submission_penalty("ada", 8.0, seconds) == pytest.approx(penalty)


def test_nothing_is_taken_off_unless_a_policy_is_set():
    assert PerDay().late_submission_penalty("ada", 8.0, 9 * DAY) == 0
    assert policy_of(Config()).late_submission_penalty("ada", 8.0, 9 * DAY) is None


def test_a_moment_of_grace_is_not_late():
    policy = PerDay(percent_per_day=10, grace_minutes=5)
    assert policy.late_submission_penalty("ada", 8.0, 300) == 0
    assert policy.late_submission_penalty("ada", 8.0, 301) == pytest.approx(0.8)


def test_a_time_names_its_zone_or_means_this_machines():
    assert read_time("2026-11-20T23:59+01:00") == datetime(2026, 11, 20, 22, 59, tzinfo=UTC)
    assert read_time("2026-11-20T23:59").replace(tzinfo=None) == datetime(2026, 11, 20, 23, 59)
    with pytest.raises(NotATime, match="write it as"):
        read_time("next friday")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = new_course(tmp_path_factory.mktemp("late") / "course")
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(POLICY)
    for student, stamp in (("intime", "2026-11-20 11:00:00 UTC"), ("late", "2026-11-21 13:00:00 UTC")):
        submit(course, student, solved(course, RIGHT)).with_name("timestamp.txt").write_text(stamp)
    set_due_date(course, NAME, datetime(2026, 11, 20, 12, tzinfo=UTC))
    grade(NAME, course / "submitted", root=course, limits=SHORT, jobs=2)
    return course


def entered(course):
    """Student → (points, penalty), as nbgrader has them."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {
            entry.student_id: (entry.score, entry.late_submission_penalty)
            for entry in gradebook.assignment_submissions(NAME)
        }


def test_grading_enters_the_penalty_in_the_gradebook(course):
    found = entered(course)
    points, penalty = found["late"]
    assert points > 0
    assert penalty == pytest.approx(points * 0.2)
    assert found["intime"] == (points, 0)


def test_a_penalty_follows_the_marks_and_the_extension(course):
    points, _ = entered(course)["late"]
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        entry = gradebook.find_grade("why_smooth", NAME, NAME, "late")
        entry.manual_score = 2.0
        gradebook.db.commit()
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        penalties_now(gradebook, course, NAME, policy_of(course_config(course)), {"intime"})
    assert entered(course)["late"] == (points + 2, pytest.approx(points * 0.2))
    with MarkBook(course, NAME) as marks:
        marks.enter_penalties()
    assert entered(course)["late"] == (points + 2, pytest.approx((points + 2) * 0.2))
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        gradebook.grant_extension(NAME, "late", days=2)
    with MarkBook(course, NAME) as marks:
        marks.enter_penalties()
    assert entered(course)["late"] == (points + 2, 0)


@pytest.mark.parametrize(("minutes", "days"), [(25 * 60, 0), (25 * 60 - 1, 2)])
def test_a_grace_that_was_told_once_is_the_penaltys_too(course, tmp_path, minutes, days):
    course = Path(shutil.copytree(course, tmp_path / "course"))
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        gradebook.find_submission(NAME, "late").extension = None
        gradebook.db.commit()
    Decisions(course).set_grace(NAME, timedelta(minutes=minutes))
    with MarkBook(course, NAME) as marks:
        marks.enter_penalties()
    points, penalty = entered(course)["late"]
    assert penalty == pytest.approx(points * days / 10)


@pytest.mark.parametrize("again", [False, True], ids=["graded already", "graded again"])
@pytest.mark.parametrize(
    ("stamp", "counts"),
    [("2026-11-22 09:00:00 UTC", "2026-11-21 13:00:00"), ("2026-11-20 09:00:00 UTC", "2026-11-20 09:00:00")],
    ids=["later", "earlier"],
)
def test_of_the_same_bytes_the_earliest_arrival_counts(course, tmp_path, stamp, counts, again):
    course = shutil.copytree(course, tmp_path / "course")
    (course / "submitted" / "late" / NAME / "timestamp.txt").write_text(stamp)
    grade(NAME, course / "submitted", root=course, limits=SHORT, jobs=1, again=again)
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        assert str(gradebook.find_submission(NAME, "late").timestamp) == counts


def test_other_bytes_count_from_when_they_arrived(course, tmp_path):
    course = shutil.copytree(course, tmp_path / "course")
    path = submit(course, "late", solved(course, RIGHT + "  # once more"))
    path.with_name("timestamp.txt").write_text("2026-11-22 09:00:00 UTC")
    grade(NAME, course / "submitted", root=course, limits=SHORT, jobs=1)
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        assert str(gradebook.find_submission(NAME, "late").timestamp) == "2026-11-22 09:00:00"


def test_a_due_date_that_was_set_in_nbgraders_pages_is_put_on_record(tmp_path):
    course = new_course(tmp_path / "course")
    set_due_date(course, NAME, datetime(2026, 11, 20, 12, tzinfo=UTC))
    for due in (datetime(2026, 11, 27, 12), None):
        with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
            gradebook.update_or_create_assignment(NAME, duedate=due)
        for _ in range(2):
            with MarkBook(course, NAME) as marks:
                marks.enter_penalties()
        assert Decisions(course).due(NAME, "ada") == (due.replace(tzinfo=UTC) if due else None)
    assert [entry.what for entry in Decisions(course).all(NAME)] == ["due"] * 3


def test_a_due_date_is_logged_with_the_one_before_and_only_if_the_gradebook_can_be_used(course, tmp_path):
    course = Path(shutil.copytree(course, tmp_path / "course"))
    log = Decisions(course)
    set_due_date(course, NAME, datetime(2026, 11, 20, 12, tzinfo=UTC))
    set_due_date(course, NAME, datetime(2026, 11, 21, 12, tzinfo=UTC))
    before, now = "2026-11-20T12:00:00+00:00", "2026-11-21T12:00:00+00:00"
    assert [(entry.before, entry.value) for entry in log.all(NAME)] == [(None, before), (before, now)]
    with pytest.raises(GradebookUnavailable):
        set_due_date(course, NAME, datetime(2026, 11, 22, tzinfo=UTC), f"sqlite:///{course}")
    assert log.all(NAME)[-1].value == now
