"""A gradebook in PostgreSQL, by its URL: the same marks as in a file, and its password is told to nobody."""

import csv
import itertools
import os
import shutil
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from grading import NAME, new_course, solved, submit
from interrupted import (
    FIRST,
    POINTS,
    SECOND,
    TAKEN,
    at,
    hand_in_all,
    kill_oneself,
    records,
    right_for,
    start,
    sum_of,
    words,
)
from nbgrader.api import Base, Gradebook
from postgresql_server import BINARIES, SECONDS_TO_START, Server, a_server, free_port
from sqlalchemy import event, select
from sqlalchemy.engine import Engine

from autograder.cli import main
from autograder.making.release import release
from autograder.marks.database import with_driver

pytestmark = pytest.mark.usefixtures("one_warm_process")

pytest.importorskip("psycopg")
CHECKS = ("moving_average-check", "moving_average-hidden")
GRADED = sorted([*CHECKS, "why_smooth"])
PRYING = """
import os
from pathlib import Path

print(dict(os.environ))
for process in Path("/proc").glob("[0-9]*"):
    for name in ("cmdline", "environ"):
        try:
            print((process / name).read_bytes())
        except OSError:
            pass
"""


@pytest.fixture(scope="module")
def server():
    if not BINARIES:
        pytest.skip("PostgreSQL is not installed in /usr/lib/postgresql")
    with a_server(fsync="off") as server:
        yield server


@pytest.fixture(scope="module")
def handed_in(server, tmp_path_factory):
    """A class that has handed in; its homework is released to the server."""
    course = new_course(tmp_path_factory.mktemp("handed_in") / "course")
    hand_in_all(course, FIRST)
    release(course, NAME, server.url)
    return course


@pytest.fixture
def course(handed_in, server, tmp_path):
    """The class, of which the server knows nothing."""
    with Gradebook(with_driver(server.url)) as gradebook:
        for student in list(gradebook.students):
            gradebook.remove_student(student.id)
    return shutil.copytree(handed_in, tmp_path / "course")


def with_url(course, server):
    return [*words(course, 2), "--gradebook", server.url]


def marks(url):
    """Each student's points, as nbgrader reads them."""
    with Gradebook(with_driver(url)) as gradebook:
        submissions = gradebook.assignment_submissions(NAME)
        return {submission.student.id: sum_of(submission.notebooks[0]) for submission in submissions}


EXPECTED = {student: POINTS[answer] for student, answer in FIRST.items()}


def test_marks_are_there_and_exported_and_by_hand_they_stay(course, server, capsys):
    assert main(with_url(course, server)) == 0
    assert marks(server.url) == EXPECTED
    assert marks(f"sqlite:///{course}/gradebook.db") == {}
    with Gradebook(with_driver(server.url)) as gradebook:
        mark = gradebook.find_grade("moving_average-check", NAME, NAME, "bob")
        mark.manual_score, mark.needs_manual_grade = 2.0, False
        gradebook.db.commit()
    before = records(course)
    assert main(with_url(course, server)) == 0
    assert records(course) == before
    assert server.password not in "".join(capsys.readouterr())
    assert main(["export", NAME, "csv", "--root", f"{course}", "--gradebook", server.url]) == 0
    rows = csv.DictReader(capsys.readouterr().out.splitlines())
    assert {row["student_id"]: float(row["score"]) for row in rows} == EXPECTED | {"bob": 2}


def test_a_server_that_is_lost_in_the_middle_costs_nothing(course, server, monkeypatch):
    """Its URL stands in the environment here, where nbgrader's own commands find it too."""
    monkeypatch.setenv("GRADEBOOK_URL", server.url)
    status, said = start(course, at("marks are entered", 3, server.stop)).wait()
    server.process.wait(SECONDS_TO_START)
    server.start()
    assert (status, "Traceback" in said, server.password in said) == (2, False, False), said
    assert "The gradebook cannot be used" in said
    assert len(records(course)) >= 3
    assert set(marks(server.url).items()) < set(EXPECTED.items())
    assert main(words(course, 2)) == 0
    assert marks(server.url) == EXPECTED


def assert_nothing_is_wrong(course, url, *allowed):
    """Whatever is there is right for what was handed in, now or before, and is there once."""
    for student, record in records(course).items():
        assert record.points in right_for(student, allowed), (student, record)
    for student, points in marks(url).items():
        assert points in right_for(student, allowed), (student, points)
    with Gradebook(with_driver(url)) as gradebook:
        submissions = gradebook.assignment_submissions(NAME)
        assert len({submission.student.id for submission in submissions}) == len(submissions)
        for submission in submissions:
            [notebook] = submission.notebooks
            assert sorted(grade.name for grade in notebook.grades) == GRADED
            assert len({comment.name for comment in notebook.comments}) == len(notebook.comments)


def assert_all_is_done(course, url, answers):
    """A further run ends well, and everybody has the mark of what they handed in."""
    status, said = start(course).wait()
    assert status == 0, said
    assert_nothing_is_wrong(course, url, answers)
    expected = {student: POINTS[answer] for student, answer in answers.items()}
    assert marks(url) == expected
    assert {student: record.points for student, record in records(course).items()} == expected


@pytest.fixture
def class_of(course, server, monkeypatch):
    """The class before its first marks, or after them with other answers: class_of(is_again)."""
    monkeypatch.setenv("GRADEBOOK_URL", server.url)

    def prepare(is_again):
        if not is_again:
            return FIRST, (FIRST,)
        assert start(course).wait()[0] == 0
        hand_in_all(course, SECOND)
        return SECOND, (FIRST, SECOND)

    return prepare


@pytest.mark.parametrize(("is_again", "step"), TAKEN)
def test_a_grader_killed_just_before_a_step_loses_nothing_and_enters_nothing_twice(
    course, server, class_of, step, is_again
):
    answers, allowed = class_of(is_again)
    before = marks(server.url)
    number = 1 if step.startswith("penalties") else 5
    status, said = start(course, at(step, number, kill_oneself)).wait()
    assert status == -signal.SIGKILL, said
    assert_nothing_is_wrong(course, server.url, *allowed)
    assert before.keys() <= marks(server.url).keys()
    if step == "marks are entered" and not is_again:
        assert len(marks(server.url)) == number - 1
    assert_all_is_done(course, server.url, answers)


def kill_at_commit(number):
    """A grader that dies when the server has been sent everything of a transaction but its end."""

    def spoil():
        grader, calls = os.getpid(), itertools.count(1)

        def die(connection):
            if os.getpid() == grader and next(calls) == number:
                kill_oneself()

        event.listen(Engine, "commit", die)

    return spoil


@pytest.mark.parametrize("is_again", [False, True], ids=["first marks", "marks changed"])
def test_a_transaction_without_an_end_leaves_nothing(course, server, class_of, is_again):
    answers, allowed = class_of(is_again)
    killed = 0
    for number in range(1, 7):
        before = marks(server.url)
        status, said = start(course, kill_at_commit(number)).wait()
        if status == 0:
            break
        assert status == -signal.SIGKILL, said
        killed += 1
        assert_nothing_is_wrong(course, server.url, *allowed)
        assert before.keys() <= marks(server.url).keys()
    assert killed >= 2  # otherwise nothing was tried
    assert_all_is_done(course, server.url, answers)


@pytest.mark.parametrize("word", ["grade", "release", "export"])
def test_a_wrong_password_is_refused_in_a_sentence_without_it(course, server, capsys, word):
    wrong = server.url.replace(server.password, "not-the-password")
    rest = {"grade": words(course, 2)[1:], "release": [NAME], "export": [NAME, "csv"]}[word]
    assert main([word, *rest, "--root", f"{course}", "--gradebook", wrong]) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith(f"autograder {word}: The gradebook cannot be used (")
    assert "password authentication failed" in said
    assert "not-the-password" not in said


def test_what_is_no_url_is_refused_without_repeating_it(course, capsys):
    assert main([*words(course, 2), "--gradebook", "s3cret without a scheme"]) == 2
    said = capsys.readouterr().err
    assert "The gradebook cannot be used" in said
    assert "s3cret" not in said


def variants(server):
    """Addresses that are wrong in one way each, and what must not be told of them."""
    good, secret = server.url, server.password
    place = f"127.0.0.1:{server.port}"
    return {
        "a word for the port": good.replace(f":{server.port}/", ":portword/"),
        "an @ in the password": good.replace(secret, f"{secret}@tailofit"),
        "an @ and a : in the password": good.replace(secret, f"{secret}@tailofit:99x"),
        "a / in the password": good.replace(secret, f"{secret}/tailofit"),
        "a server that is not there": good.replace("127.0.0.1", "nowhere.invalid"),
        "a port at which nobody listens": good.replace(str(server.port), str(free_port())),
        "a port beyond all ports": good.replace(str(server.port), "99999"),
        "another password": good.replace(secret, "tailofit"),
        "no password": good.replace(f":{secret}", ""),
        "another user": good.replace("marker:", "somebodyelse:"),
        "another database": good.replace("/postgres", "/otherbase"),
        "an option with a secret": f"{good}?sslpassword=tailofit&sslmode=require",
        "an option that is none": f"{good}?tailofit=1",
        "an option that is no number": f"{good}?connect_timeout=tailofit",
        "a file of a certificate": f"{good}?sslmode=verify-full&sslrootcert=/tailofit.pem",
        "another driver": good.replace("postgresql://", "postgresql+tailofit://"),
        "another kind of database": good.replace("postgresql://", "tailofit://"),
        "MySQL, which is not installed": good.replace("postgresql://", "mysql://"),
        "no scheme": f"marker:{secret}@{place}/postgres",
        "an IPv6 address that breaks off": good.replace("127.0.0.1", "[::1"),
    }


KINDS = list(variants(Server(Path(), 1, "secret")))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word", ["grade", "export"])
def test_a_wrong_address_is_refused_in_a_sentence_that_tells_nothing_of_it(
    course, server, capsys, kind, word
):
    url = variants(server)[kind]
    rest = {"grade": words(course, 2)[1:], "export": [NAME, "csv"]}[word]
    assert main([word, *rest, "--root", f"{course}", "--gradebook", url]) == 2
    said = "".join(capsys.readouterr())
    assert f"autograder {word}: The gradebook cannot be used (" in said
    told = (server.password, "tailofit", "marker", "somebodyelse", "127.0.0.1", "nowhere", str(server.port))
    assert [word for word in (*told, "portword", "otherbase", "Traceback") if word in said] == []


def test_whoever_asks_for_the_traceback_sees_no_address_either(course, server):
    url = variants(server)["an @ in the password"]
    command = [sys.executable, "-m", "autograder", "export", NAME, "csv", "--root", f"{course}"]
    done = subprocess.run([*command, "--gradebook", url, "--traceback"], capture_output=True, text=True)
    assert "Traceback" in done.stderr
    assert "tailofit" not in done.stderr
    assert server.password not in done.stderr


def test_a_missing_driver_is_named_with_what_brings_it(course, server, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert main(with_url(course, server)) == 2
    assert "pip install -e '.[postgresql]'" in capsys.readouterr().err


def test_no_submission_learns_the_password(course, server):
    """The grader is a process whose command line and environment hold it."""
    shutil.rmtree(course / "submitted")
    submit(course, "spy", solved(course, f"{PRYING}\ndef moving_average(values, width): return []"))
    command = [sys.executable, "-m", "autograder", *with_url(course, server)]
    environment = os.environ | {"GRADEBOOK_URL": server.url, "PYTHONSAFEPATH": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert server.password not in done.stdout + done.stderr
    seen = (course / "autograded" / "spy" / NAME / f"{NAME}.ipynb").read_text()
    assert "HOME" in seen  # it did look
    for path in course.rglob("*"):
        assert path.is_dir() or server.password.encode() not in path.read_bytes(), path


def rows(url):
    """Every row of every table, as text."""
    with Gradebook(url) as gradebook:
        return {
            table.name: sorted(map(repr, gradebook.db.execute(select(table)).all()))
            for table in Base.metadata.sorted_tables
        }


def test_a_backup_moves_every_mark_to_the_server_and_back(course, server, tmp_path):
    assert main(words(course, 2)) == 0
    here, there = f"sqlite:///{course}/gradebook.db", with_driver(server.url)
    with Gradebook(here) as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2026-11-20 12:00 UTC")
        gradebook.find_submission(NAME, "ada").extension = timedelta(days=2)
        gradebook.find_grade("why_smooth", NAME, NAME, "ada").manual_score = 1.5
        gradebook.find_comment("why_smooth", NAME, NAME, "ada").manual_comment = "Zoë's idea: 2 → 3"
        gradebook.db.commit()
    marks_here = ["backup", f"{tmp_path}/here.zip", "--root", f"{course}"]
    assert main(marks_here) == 0
    assert main(["restore", f"{tmp_path}/here.zip", "--root", f"{course}", "--gradebook", server.url]) == 0
    assert rows(there) == rows(here)
    before = records(course)
    assert main(with_url(course, server)) == 0  # everything is there, so nothing is examined again
    assert records(course) == before
    marks_there = ["backup", f"{tmp_path}/there.zip", "--root", f"{course}", "--gradebook", server.url]
    assert main(marks_there) == 0
    other = f"sqlite:///{tmp_path}/other.db"
    assert main(["restore", f"{tmp_path}/there.zip", "--root", f"{course}", "--gradebook", other]) == 0
    assert rows(other) == rows(there)
