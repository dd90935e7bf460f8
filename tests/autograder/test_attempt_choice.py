"""Of several attempts the one that is asked for counts, and the choice is on record."""

import shutil
import time
from datetime import timedelta

import pytest
from grading import NAME, RIGHT, catalogue, new_course, solved, submit
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.grade import grade
from autograder.grading.attempts import NoDueDate
from autograder.marks.decisions import Decision, Decisions
from autograder.marks.records import RecordFolder
from autograder.watching.arrivals import Arrivals
from autograder.watching.watch import watch

pytestmark = pytest.mark.usefixtures("one_warm_process")
WRONG = catalogue("misconceptions")
ATTEMPTS = {  # of 4 points: 2, 4, 1
    "2026-11-20 09:00:00 UTC": WRONG["width_is_always_three"],
    "2026-11-20 11:00:00 UTC": RIGHT,
    "2026-11-20 13:00:00 UTC": WRONG["divides_by_all"],
}


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """ada has three attempts, the latest in its place; bob has one."""
    course = new_course(tmp_path_factory.mktemp("attempts") / "course")
    for number, (stamp, answer) in enumerate(ATTEMPTS.items()):
        path = submit(course, "ada", solved(course, answer))
        path.with_name("timestamp.txt").write_text(stamp)
        if number < 2:
            kept = course / "submitted" / ".kept" / "ada" / NAME / f"attempt-{number}"
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(path.parent, kept)
    submit(course, "bob", solved(course, RIGHT))
    return course


@pytest.fixture
def course(handed_in, tmp_path):
    return shutil.copytree(handed_in, tmp_path / "course")


def due(course, time):
    Decisions(course).add(Decision(NAME, "", "due", f"2026-11-20T{time}:00+00:00"))


def points(course, which, **options):
    grade(NAME, course / "submitted", root=course, jobs=1, attempt=which, **options)
    found = {record.student: record.points for record in RecordFolder(course / "grades", NAME).all()}
    assert found.pop("bob") == 4
    return found["ada"]


def test_the_latest_counts_unless_another_is_asked_for(course):
    assert points(course, "latest") == 1
    assert Decisions(course).all() == []


@pytest.mark.parametrize(("time", "earns"), [("10:00", 2), ("12:00", 4), ("14:00", 1), ("08:00", 1)])
def test_the_latest_in_time_counts(course, time, earns):
    due(course, time)
    assert points(course, "in-time") == earns


def test_an_extension_makes_a_later_attempt_one_in_time(course):
    due(course, "10:00")
    Decisions(course).add(Decision(NAME, "ada", "extension in hours", 2.0))
    assert points(course, "in-time") == 4


def test_a_moment_of_grace_makes_a_later_attempt_one_in_time(course):
    for minutes, earns in ((1, 2), (2, 4), (0, 2)):
        due(course, "10:58")
        Decisions(course).set_grace(NAME, timedelta(minutes=minutes))
        assert points(course, "in-time") == earns


def test_without_a_due_date_nothing_is_in_time(course):
    with pytest.raises(NoDueDate, match="autograder due"):
        points(course, "in-time")


def test_the_best_counts_with_its_own_time_and_is_on_record(course):
    assert points(course, "best") == 4
    [entry] = Decisions(course).all(NAME)
    assert (entry.student, entry.what, entry.why) == ("ada", "attempt", "best of 3")
    assert str(entry.value).startswith("2026-11-20 11:00:00 UTC")
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        assert str(gradebook.find_submission(NAME, "ada").timestamp) == "2026-11-20 11:00:00"


def test_the_best_is_looked_for_once_and_again_when_there_is_another_attempt(course, monkeypatch):
    from autograder.grading.attempts import AttemptChoice

    judged, original = [], AttemptChoice.points

    def counting(self, attempts):
        judged.append(len(attempts))
        return original(self, attempts)

    monkeypatch.setattr(AttemptChoice, "points", counting)
    for _ in range(2):
        assert points(course, "best") == 4
    path = submit(course, "ada", solved(course, RIGHT + "  # again"))
    path.with_name("timestamp.txt").write_text("2026-11-20 15:00:00 UTC")
    assert points(course, "best") == 4
    assert judged == [3, 0, 3]
    assert len(Decisions(course).all(NAME)) == 2


def test_a_choice_in_time_is_not_taken_for_the_best(course):
    due(course, "10:00")
    assert points(course, "in-time") == 2
    assert points(course, "best") == 4


def test_the_latest_counts_again_and_that_is_on_record_too(course):
    for which, earns in (("best", 4), ("latest", 1), ("latest", 1), ("best", 4)):
        assert points(course, which) == earns
    assert [entry.why for entry in Decisions(course).all(NAME)] == ["best of 3", "latest of 3", "best of 3"]


def watched(course):
    """What ada has after a watcher has looked at everything there is."""
    inbox, seen = Arrivals(course / "submitted"), []
    deadline = time.monotonic() + 60

    def has_ended():
        return len(inbox.told) == 2 or time.monotonic() > deadline

    watch(inbox, [NAME], course, jobs=1, say=seen.append, has_ended=has_ended)
    pages = [course / "submitted" / student / f"{NAME}.html" for student in ("ada", "bob")]
    assert ["Total" in page.read_text() for page in pages] == [True, True]
    assert {path.name for path in (course / "submitted" / ".kept" / "ada" / NAME).glob("*.html")} == set()
    return RecordFolder(course / "grades", NAME).find("ada").points


def test_a_watcher_leaves_the_choice_alone_until_there_is_another_attempt(course):
    assert points(course, "best") == 4
    assert watched(course) == 4
    path = submit(course, "ada", solved(course, WRONG["divides_by_all"] + "  # again"))
    path.with_name("timestamp.txt").write_text("2026-11-20 15:00:00 UTC")
    assert watched(course) == 1


def test_a_preview_puts_nothing_on_record(course):
    words = ["grade", NAME, "--submissions", f"{course}/submitted", "--root", f"{course}", "--jobs", "1"]
    assert main([*words, "--attempt", "best", "--preview"]) == 0
    assert Decisions(course).all() == []
