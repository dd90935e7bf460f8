"""A late student's mark, part of which a person gave after grading, is the same wherever it is shown."""

import csv
import json
import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
from doors import ADDRESS, KEY, Browser
from grading import NAME, RIGHT, SHORT, new_course, solved, submit
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from test_late import POLICY

from autograder.cli import main
from autograder.grading.order import Order
from autograder.marks.database import GradebookUnavailable
from autograder.marks.decisions import Decision, Decisions
from autograder.marks.exports.canvas import canvas
from autograder.marks.exports.marks import ExportError, marks_of
from autograder.marks.exports.moodle import moodle
from autograder.marks.hand_marks import hand_marks
from autograder.marks.late import set_due_date
from autograder.marks.records import RecordFolder
from autograder.marks.settings import course_config
from autograder.marks.term import term
from autograder.reporting.report import report
from autograder.serving.app import Door
from autograder.serving.attempts import Attempts, Pace
from autograder.serving.inbox import AttemptInbox
from autograder.serving.line_items import LineItem, score_of
from autograder.serving.settings import ServeSettings
from autograder.source.loading import find
from autograder.submissions.collect import collect
from autograder.watching import watch
from autograder.watching.arrivals import Arrivals
from autograder.watching.watch import OpenHomework

pytestmark = pytest.mark.usefixtures("one_warm_process")
CHECKS, BY_HAND, MOST = 4.0, 2.0, 7.0
TOTAL = (CHECKS + BY_HAND) * 0.8  # two days begun, at 10 % each
SAID = f"{TOTAL:g} of {MOST:g}, 1.2 taken off for being late"
DUE = datetime(2026, 11, 20, 12, tzinfo=UTC)
LMS = f"ID,Section,SIS Login ID,{NAME} (5)\n1,A,ada,\n"
WORKSHEET = "Identifier,Email address,Grade,Maximum Grade,Last modified (grade)\n"
WORKSHEET += "Participant 1,ada@example.org,,7,-\n"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """ada was late; the answer in words was marked after the grading. bob is only in the gradebook."""
    course = new_course(tmp_path_factory.mktemp("total") / "course")
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(POLICY)
    submitted = submit(course, "ada", solved(course, RIGHT))
    submitted.with_name("timestamp.txt").write_text("2026-11-21 13:00:00 UTC")
    set_due_date(course, NAME, DUE)
    words = ["grade", NAME, "--submissions", f"{course}/submitted", "--root", f"{course}", "--jobs", "1"]
    assert main(words) == 0
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        gradebook.add_student("bob")
        grade = gradebook.find_grade("why_smooth", NAME, NAME, "ada")
        grade.manual_score, grade.needs_manual_grade = BY_HAND, False
        gradebook.db.commit()
    return course


@pytest.fixture
def fresh(course, tmp_path):
    """A copy in which nothing has asked for a total yet."""
    return shutil.copytree(course, tmp_path / "course")


def mark_of(course, student="ada"):
    return next(mark for mark in marks_of(course, NAME) if mark.student == student)


def test_a_mark_by_hand_changes_the_penalty_at_once(fresh):
    with Gradebook(f"sqlite:///{fresh}/gradebook.db") as gradebook:
        assert gradebook.find_submission(NAME, "ada").late_submission_penalty == pytest.approx(0.2 * CHECKS)
    mark = mark_of(fresh)
    assert (mark.score, mark.total) == (pytest.approx(TOTAL), SAID)
    with Gradebook(f"sqlite:///{fresh}/gradebook.db") as gradebook:
        submission = gradebook.find_submission(NAME, "ada")
        assert submission.score - submission.late_submission_penalty == pytest.approx(TOTAL)


def test_an_extension_that_was_granted_changes_the_penalty_at_once(fresh):
    for hours, penalty in ((2.0, 0.1 * (CHECKS + BY_HAND)), (48.0, 0.0)):
        Decisions(fresh).add(Decision(NAME, "ada", "extension in hours", hours))
        assert mark_of(fresh).penalty == pytest.approx(penalty)


def test_who_is_late_by_an_unknown_time_has_the_penalty_that_the_policy_sets(fresh):
    with (fresh / "nbgrader_config.py").open("a") as file:
        file.write("c.PerDay.unknown_counts_as_days = 1\n")
    with Gradebook(f"sqlite:///{fresh}/gradebook.db") as gradebook:
        gradebook.find_submission(NAME, "ada").timestamp = None
        gradebook.db.commit()
    for is_late in (False, True):
        Decisions(fresh).record_late(NAME, {"ada": is_late})
        assert mark_of(fresh).penalty == pytest.approx(0.1 * (CHECKS + BY_HAND) * is_late)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"penalty": 0.0, "waits_for_a_person": True}, "6 of 7, not all marked yet"),
        ({"excused": True}, "excused"),
        ({"points": None, "penalty": 0.0}, ""),
    ],
)
def test_a_total_is_said_with_what_else_there_is_to_know(fresh, changed, said):
    assert replace(mark_of(fresh), **changed).total == said


def test_nbgraders_feedback(fresh, monkeypatch):
    monkeypatch.chdir(fresh)
    done = NbGraderAPI(config=course_config(fresh)).generate_feedback(NAME)
    assert done["success"], done
    page = (fresh / "feedback" / "ada" / NAME / f"{NAME}.html").read_text()
    assert f"<h4>{NAME}: {TOTAL:g} of {MOST:g}</h4>" in page
    assert "Late penalty: -1.2" in page


def test_a_gradebook_that_is_away_or_knows_nothing_of_a_homework_ends_no_watching(fresh, monkeypatch):
    watched = OpenHomework(Order(NAME, "best", SHORT), fresh, None, Arrivals(fresh), None, print)
    for problem in (ExportError, GradebookUnavailable):
        monkeypatch.setattr(watch, "marks_of", Mock(side_effect=problem("It is away.")))
        watched.hand_on_marks()
        assert watch.marks_of.called


def exported(course, form, capsys, *more):
    assert main(["export", NAME, form, "--root", f"{course}", *more]) == 0
    return list(csv.DictReader(capsys.readouterr().out.splitlines()))


def test_every_export_and_what_is_sent(fresh, capsys):
    [ada, bob] = exported(fresh, "csv", capsys)
    assert (float(ada["score"]), float(bob["score"])) == (pytest.approx(TOTAL), 0)
    marks = marks_of(fresh, NAME)
    [row] = csv.DictReader(canvas(NAME, marks, LMS).text.splitlines())
    assert float(row[f"{NAME} (5)"]) == pytest.approx(TOTAL)
    [row] = csv.DictReader(moodle(marks, WORKSHEET).text.splitlines())
    assert float(row["Grade"]) == pytest.approx(TOTAL)
    score = score_of(mark_of(fresh), LineItem("", "", "", ""))
    assert (score["scoreGiven"], score["scoreMaximum"]) == (pytest.approx(TOTAL), MOST)


def test_the_term(fresh):
    found = {student.name: student.total for student in term(fresh).students}
    assert found == {"ada": pytest.approx(100 * TOTAL / MOST), "bob": 0}


def test_the_report_of_the_class(fresh):
    assert f"Total <b>{SAID}</b>" in report(NAME, fresh).read_text()
    (fresh / "gradebook.db").rename(fresh / "other.db")
    assert f"Total <b>{SAID}</b>" in report(NAME, fresh, f"sqlite:///{fresh}/other.db").read_text()
    for away in (None, f"sqlite:///{fresh}/nowhere/gradebook.db"):
        assert "Total <b>" not in report(NAME, fresh, away).read_text()


def test_grading_says_what_is_taken_off(fresh, capsys):
    words = ["grade", NAME, "--submissions", f"{fresh}/submitted", "--root", f"{fresh}", "--jobs", "1"]
    assert main(words) == 0
    assert "Taken off for being late, after the points above: ada 1.2." in capsys.readouterr().out


def test_the_page_that_watch_writes(fresh):
    inbox, [found] = Arrivals(fresh / "submitted"), collect(fresh / "submitted", NAME)
    record = RecordFolder(fresh / "grades", NAME).find("ada")
    inbox.give_back(found, record, find(NAME, fresh))
    page = fresh / "submitted" / "ada" / f"{NAME}.html"
    assert "Total" not in page.read_text()
    watched = OpenHomework(Order(NAME, "best", SHORT), fresh, None, inbox, None, print)
    watched.hand_on_marks()
    assert f"Total <b>{SAID}</b>" in page.read_text()
    inbox.give_back(found, replace(record, points=3.0), find(NAME, fresh))
    watched.hand_on_marks(after=60.0)
    assert "Total" not in page.read_text()  # of a new verdict, until the marks are looked at again
    inbox.tells_hidden = lambda homework, student: False
    watched.hand_on_marks()
    assert "Total" not in page.read_text()  # it would tell of hidden checks
    shutil.rmtree(page.parent)
    inbox.marked(NAME, [replace(mark_of(fresh), penalty=0.0)], {})
    assert not page.parent.exists()  # who was taken off the course does not come back


@pytest.fixture
def served(fresh):
    """The pages and the grader's inbox of a website in this course."""
    attempts = Attempts(f"sqlite:///{fresh}/serve.db")
    door = Door(fresh, ServeSettings(address=ADDRESS), attempts, KEY, [NAME])
    return door, AttemptInbox(attempts, fresh / "submitted", fresh / "grades")


def hand_in(door, inbox, content):
    """An attempt of ada's, as if it had been graded."""
    attempt = door.attempts.hand_in("ada", NAME, content, Pace(0.0, 100))
    inbox.arrived(NAME)
    record = RecordFolder(inbox.records, NAME).find("ada")
    inbox.judging[NAME, "ada"] = attempt.number
    [found] = inbox.all(NAME)
    inbox.give_back(found, record, find(NAME, door.root))
    return attempt


def signed_in(door, name, is_staff=False):
    browser = Browser(door)
    browser.join(name, is_staff)
    return browser


def test_every_page_of_the_website(served, fresh):
    door, inbox = served
    hand_in(door, inbox, (fresh / "submitted" / "ada" / NAME / f"{NAME}.ipynb").read_bytes())
    ada, staff = signed_in(door, "ada"), signed_in(door, "prof", is_staff=True)
    paths = [(ada, "/"), (ada, f"/homework/{NAME}"), (staff, f"/class/{NAME}"), (staff, f"/class/{NAME}/ada")]
    assert [SAID in browser.get(path).text for browser, path in paths] == [False] * 4
    inbox.marked(NAME, marks_of(fresh, NAME), hand_marks(fresh, NAME))
    assert [SAID in browser.get(path).text for browser, path in paths] == [True] * 4
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    Decisions(fresh).add(Decision(NAME, "", "due", later))
    seen = [SAID in browser.get(path).text for browser, path in paths]
    assert seen == [False, False, True, True]  # a total would tell of hidden checks


def test_the_class_list_has_students_who_are_only_in_the_gradebook(served, fresh):
    door, inbox = served
    inbox.marked(NAME, marks_of(fresh, NAME), hand_marks(fresh, NAME))
    staff = signed_in(door, "prof", is_staff=True)
    page = staff.get(f"/class/{NAME}").text
    assert "0 of 2" in page
    assert "ada, bob" in page
    with Gradebook(f"sqlite:///{fresh}/gradebook.db") as gradebook:
        gradebook.remove_student("bob")
    inbox.marked(NAME, marks_of(fresh, NAME), hand_marks(fresh, NAME))
    assert "bob" not in staff.get(f"/class/{NAME}").text


def test_a_new_verdict_is_not_shown_beside_the_total_of_the_last(served, fresh):
    door, inbox = served
    hand_in(door, inbox, (fresh / "submitted" / "ada" / NAME / f"{NAME}.ipynb").read_bytes())
    inbox.marked(NAME, marks_of(fresh, NAME), hand_marks(fresh, NAME))
    path = RecordFolder(inbox.records, NAME).file("ada")
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"points": 3.0}))
    inbox.looked.clear()
    inbox.arrived(NAME)
    page = signed_in(door, "ada").get(f"/homework/{NAME}").text
    assert "3 of 4" in page
    assert SAID not in page


def states(page):
    """The state of each attempt on a page, the latest first."""
    return re.findall(r"</td><td>([^<]*)</td><td class=\"quiet\"><code>", page)


def test_the_attempt_that_was_chosen_is_the_one_that_counts_on_every_page(served, fresh):
    door, inbox = served
    path = Path(fresh, "submitted", "ada", NAME, f"{NAME}.ipynb")
    first, second = path.read_bytes(), path.read_bytes() + b"\n"
    for content in (first, second):
        hand_in(door, inbox, content)  # the record is of the first all the time
    ada, staff = signed_in(door, "ada"), signed_in(door, "prof", is_staff=True)
    for page in (ada.get(f"/homework/{NAME}"), staff.get(f"/class/{NAME}/ada")):
        assert states(page.text) == ["does not count", "graded: this one counts"]
    door.attempts.hand_in("ada", NAME, first + b"\n\n", Pace(0.0, 100))
    waiting = states(ada.get(f"/homework/{NAME}").text)
    assert waiting == ["waits", "does not count", "graded: this one counts"]


def test_which_attempt_counts_is_not_told_while_it_may_follow_from_hidden_checks(served, fresh):
    door, inbox = served
    content = Path(fresh, "submitted", "ada", NAME, f"{NAME}.ipynb").read_bytes()
    for more in (b"", b"\n"):
        hand_in(door, inbox, content + more)  # the first counts
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    Decisions(fresh).add(Decision(NAME, "", "due", later))
    ada, staff = signed_in(door, "ada"), signed_in(door, "prof", is_staff=True)
    assert states(ada.get(f"/homework/{NAME}").text) == ["graded", "kept"]
    assert states(staff.get(f"/class/{NAME}/ada").text) == ["does not count", "graded: this one counts"]
    door.attempts.hand_in("ada", NAME, content + b"\n\n", Pace(0.0, 100))
    assert states(ada.get(f"/homework/{NAME}").text) == ["waits", "kept", "kept"]


def test_an_answer_marked_in_formgrader_waits_for_nobody_on_the_website(served, fresh):
    door, inbox = served
    hand_in(door, inbox, (fresh / "submitted" / "ada" / NAME / f"{NAME}.ipynb").read_bytes())
    staff = signed_in(door, "prof", is_staff=True)
    assert "1 to mark" in staff.get(f"/class/{NAME}").text
    inbox.marked(NAME, marks_of(fresh, NAME), hand_marks(fresh, NAME))
    assert "to mark<" not in staff.get(f"/class/{NAME}").text
    [question] = inbox.rubrics.questions(NAME)
    assert "Marked in nbgrader" in staff.get(f"/marking/{NAME}/{question.name}").text
    [(_, mark)] = inbox.rubrics.of(NAME, "ada")
    assert mark.points == BY_HAND
    assert inbox.rubrics.to_enter(NAME) == []  # the gradebook has it
    inbox.rubrics.answered(NAME, "ada", {question.name: "Another answer."})
    [(_, mark)] = inbox.rubrics.of(NAME, "ada")
    assert mark is None
