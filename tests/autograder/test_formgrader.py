"""nbgrader's formgrader, started for real, shows and grades by hand what this grader graded."""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from grading import NAME, RIGHT, SHORT, catalogue, named, new_course, released, solved, submit

from autograder.cli import main
from autograder.grade import grade
from autograder.source.sample_submissions import answered

pytestmark = pytest.mark.usefixtures("one_warm_process")

MARKUP = "<script>alert('gotcha')</script>"
FORMULA = " It costs $\\frac{w}{2}$ values of delay."


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = new_course(tmp_path_factory.mktemp("formgrader") / "course")
    submit(course, "right", solved(course, RIGHT))
    words = named(released(course), "why_smooth")["source"] + MARKUP + FORMULA
    answers = {"moving_average": catalogue("misconceptions")["divides_by_all"], "why_smooth": words}
    submit(course, "wrong", answered(released(course), answers))
    grade(NAME, course / "submitted", root=course, limits=SHORT)
    return course


@pytest.fixture(scope="module")
def formgrader(course, tmp_path_factory):
    """Ask the running server for a page: formgrader("api/assignments")."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = tmp_path_factory.mktemp("home")
    command = [sys.executable, "-m", "jupyter_server", "--allow-root", "--no-browser", "--ip=127.0.0.1"]
    settings = [
        f"--port={port}",
        "--IdentityProvider.token=secret",
        f"--ServerApp.root_dir={course}",
        "--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}",
    ]
    server = subprocess.Popen(
        [*command, *settings],
        cwd=course,
        env=os.environ | {"PYTHONSAFEPATH": "1", "HOME": str(home), "JUPYTER_RUNTIME_DIR": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def ask(page):
        request = urllib.request.Request(f"http://127.0.0.1:{port}/formgrader/{page}")
        request.add_header("Authorization", "token secret")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()

    try:
        wait_for(lambda: ask("api/assignments"), server)
        yield ask
    finally:
        server.terminate()
        server.wait(30)


def wait_for(ask, server, seconds=120):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and server.poll() is None:
        try:
            return ask()
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
    raise AssertionError("the server does not answer")


def submissions(formgrader):
    found = json.loads(formgrader(f"api/submitted_notebooks/{NAME}/{NAME}"))
    return {submission["student"]: submission for submission in found}


def test_the_gradebook_page_has_every_submission_with_its_points(formgrader):
    found = submissions(formgrader)
    assert {student: entry["code_score"] for student, entry in found.items()} == {"right": 4.0, "wrong": 1.0}
    assert all(entry["needs_manual_grade"] for entry in found.values())


def test_submissions_count_as_autograded(formgrader):
    found = json.loads(formgrader(f"api/submissions/{NAME}"))
    assert {entry["student"]: entry["autograded"] for entry in found} == {"right": True, "wrong": True}


def test_the_page_of_a_submission_shows_its_checks_and_runs_nothing_of_the_students(formgrader):
    page = formgrader(f"submissions/{submissions(formgrader)['wrong']['id']}/")
    assert "pelican_values" in page
    assert "This does not hold, or no answer came" in page
    assert "gotcha" in page
    assert MARKUP not in page


def test_a_students_formula_is_set_without_a_script(formgrader):
    page = formgrader(f"submissions/{submissions(formgrader)['wrong']['id']}/")
    assert "<mfrac>" in page
    assert "\\frac" not in page


def test_the_page_of_a_submission_fetches_nothing_from_elsewhere(formgrader):
    page = formgrader(f"submissions/{submissions(formgrader)['wrong']['id']}/")
    assert not re.search(r"src=[\"']?(https?:)?//", page)


def test_the_mistake_is_in_the_comment_that_a_person_can_edit(formgrader):
    identity = submissions(formgrader)["wrong"]["id"]
    comments = json.loads(formgrader(f"api/comments?submission_id={identity}"))
    by_name = {comment["name"]: comment["auto_comment"] for comment in comments}
    assert by_name["moving_average"].startswith("The sum of each window is divided by the number")


def test_what_lies_in_another_folder_is_not_counted_as_submitted_and_grading_says_so(
    course, formgrader, capsys
):
    """Last in this file, because it adds a student to the gradebook."""
    note = "Note: Formgrader counts as submissions only what is in submitted/."
    for folder, is_noted in (("submitted", False), ("elsewhere", True)):
        submit(course, "right" if folder == "submitted" else "third", solved(course, RIGHT), folder)
        words = ["grade", NAME, "--submissions", str(course / folder), "--root", str(course), "--jobs", "1"]
        assert main(words) == 0
        assert (note in capsys.readouterr().out.splitlines()) is is_noted
    [assignment] = json.loads(formgrader("api/assignments"))
    assert assignment["num_submissions"] == 2
    assert "third" in submissions(formgrader)
