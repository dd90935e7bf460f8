"""The real server and its grader: hand in over HTTP, kill -9 in the middle, and nothing is lost."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import httpx2 as httpx
import pytest
from grading import NAME, new_course, solved
from interrupted import FIRST, POINTS, is_there_process, marks, records
from nbgrader.api import Gradebook

from autograder.isolation.tree import children_of
from autograder.serving.attempts import Attempts
from autograder.serving.people import Invitations, Person
from autograder.serving.run import database_url
from autograder.serving.settings import read_settings, secret_key

MOST_SECONDS = 120.0


@pytest.fixture
def course(tmp_path):
    course = new_course(tmp_path / "course")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = f'address = "http://127.0.0.1:{port}"\nhidden = "at once"\nseconds_between = 0.0\n'
    (course / "serve.toml").write_text(settings)
    return course


@contextmanager
def server(course):
    """`autograder serve` in a process of its own, killed at the end with its grader."""
    port = read_settings(course).address.rpartition(":")[2]
    words = [sys.executable, "-m", "autograder", "serve", f"--root={course}", f"--port={port}", "--jobs=2"]
    with (
        open(course / "serve.log", "ab") as log,
        subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True) as process,
    ):
        try:
            wait_until(lambda: answers(course), course, process)
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def answers(course):
    with suppress(httpx.HTTPError):
        return httpx.get(read_settings(course).address).status_code == 200
    return False


def wait_until(is_so, course, process=None):
    deadline = time.monotonic() + MOST_SECONDS
    while not is_so():
        log = (course / "serve.log").read_text()
        assert process is None or process.poll() is None, log
        assert time.monotonic() < deadline, log
        time.sleep(0.05)


def fields_of(page):
    """What the hidden fields of a page's forms hold."""
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))


class Student(httpx.Client):
    """A browser, signed in."""

    def __init__(self, course, name, is_staff=False):
        self.address = read_settings(course).address
        super().__init__(base_url=self.address, follow_redirects=True, timeout=30)
        link = Invitations(secret_key(course)).link(self.address, Person(name, is_staff))
        assert self.send_form(link).status_code == 200

    def send_form(self, page, **files):
        fields = fields_of(self.get(page))
        target = "/join" if "/join/" in page else page
        return self.post(target, data=fields, files=files or None)

    def hand_in(self, content):
        done = self.send_form(f"/homework/{NAME}", notebook=("x.ipynb", json.dumps(content).encode()))
        assert done.status_code == 200, done.text

    def verdict(self):
        page = self.get(f"/homework/{NAME}").text
        found = re.search(r"<b>([\d.]+) of 4</b>", page)
        return float(found[1]) if found and 'class="waits"' not in page else None


def mark_all(course):
    """A rubric of one item, which everybody gets."""
    staff = Student(course, "prof", is_staff=True)
    page = f"/marking/{NAME}/why_smooth"
    staff.post(f"{page}/item", data=fields_of(staff.get(page)) | {"points": "2", "comment": "the noise"})
    for _ in FIRST:
        staff.post(f"{page}/mark", data=fields_of(staff.get(page)) | {"item": "1"})


def by_hand(course):
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        return {
            one.student_id: gradebook.find_grade("why_smooth", NAME, NAME, one.student_id).manual_score
            for one in gradebook.assignment_submissions(NAME)
        }


def grader_of(process):
    return next(iter(children_of(process.pid)), None)


@pytest.mark.nightly
def test_nothing_is_lost_and_nothing_counted_twice_when_everything_is_killed(course):
    names = list(FIRST)
    with server(course) as process:
        for name in names[:4]:
            Student(course, name).hand_in(solved(course, FIRST[name]))
        wait_until(lambda: records(course), course, process)
        grader = grader_of(process)
        process.kill()
        process.wait()
        deadline = time.monotonic() + 10
        while is_there_process(grader) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not is_there_process(grader)
    with server(course) as process:
        students = {name: Student(course, name) for name in names}
        for name in names[4:]:
            students[name].hand_in(solved(course, FIRST[name]))
        wait_until(lambda: all(one.verdict() is not None for one in students.values()), course, process)
        os.kill(grader_of(process), signal.SIGKILL)
        students["ada"].hand_in(solved(course, FIRST["bob"]))
        wait_until(lambda: students["ada"].verdict() == POINTS[FIRST["bob"]], course, process)
        expected = {name: float(POINTS[answer]) for name, answer in FIRST.items()} | {"ada": 1.0}
        assert {name: one.verdict() for name, one in students.items()} == expected
        mark_all(course)
        wait_until(lambda: by_hand(course) == dict.fromkeys(names, 2.0), course, process)
    assert marks(course) == expected
    assert {student: record.points for student, record in records(course).items()} == expected
    attempts = Attempts(database_url(course, read_settings(course)))
    assert {name: len(attempts.of(name, NAME)) for name in names} == dict.fromkeys(names, 1) | {"ada": 2}
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        assert sorted(one.student_id for one in gradebook.assignment_submissions(NAME)) == sorted(names)
        assert all(one.timestamp is not None for one in gradebook.assignment_submissions(NAME))
