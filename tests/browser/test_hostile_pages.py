"""A submission of nothing but markup and scripts, on every page that shows it: no script of it runs."""

import json
import subprocess
import sys
from urllib.parse import quote

import pytest
from conftest import ROOT, cut_off
from grading import NAME, RIGHT, new_course, solved, submit
from hostile import AWAY, NAMES, ODD, hand_in_under, hostile_notebook
from lab_page import TOKEN, serve_lab
from nbgrader.api import Gradebook

from autograder.cli import main

GOOD = "good"
BAITS = ("/x", "/pixel.png")  # what a picture of theirs would be fetched from, here or elsewhere
# What could run or lead away as soon as somebody points at it or presses it.
ARMED = """() => {
  const leads = ['href', 'xlink:href', 'src', 'srcset', 'action', 'formaction', 'data', 'poster', 'style'];
  const found = [];
  for (const part of document.querySelectorAll('*'))
    for (const { name, value } of part.attributes) {
      const runs = name.startsWith('on') && /alert|owned/.test(value);
      const address = leads.includes(name) ? value.replace(/[\\s\\u0000-\\u0020]/g, '').toLowerCase() : '';
      const runsWhenFollowed = /^(javascript|vbscript|data:text)/.test(address) && /alert/.test(address);
      const fetches = /evil\\.example/.test(address) && part.tagName.toLowerCase() !== 'a';
      if (runs || runsWhenFollowed || fetches) found.push(`${part.tagName} ${name}=${value}`);
    }
  return found;
}"""
POINT_AND_PRESS = """() => {
  for (const part of document.querySelectorAll('*'))
    for (const kind of ['mouseover', 'focus', 'toggle', 'error', 'load'])
      if (part !== document.documentElement) part.dispatchEvent(new Event(kind));
}"""


@pytest.fixture(scope="module")
def course(chromium, tmp_path_factory):
    """Every hostile name hands in every hostile word, and beside them somebody an honest answer."""
    course = new_course(tmp_path_factory.mktemp("hostile") / "course")
    data = json.dumps(hostile_notebook(course)).encode()
    for name in NAMES:
        hand_in_under(course, name, data)
    submit(course, GOOD, solved(course, RIGHT))
    (course / "exchange").mkdir(mode=0o777)
    words = ["--root", str(course)]
    assert main(["grade", NAME, "--submissions", str(course / "submitted"), *words]) == 0
    assert main(["report", NAME, *words]) == 0
    feedback = [sys.executable, "-m", "nbgrader", "generate_feedback", NAME]
    done = subprocess.run(feedback, cwd=course, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return course


@pytest.fixture(scope="module")
def jupyter(course, tmp_path_factory):
    with serve_lab(ROOT / "Makefile", course, tmp_path_factory.mktemp("home")) as address:
        yield address


@pytest.fixture
def watched(chromium):
    """An empty page that takes down dialogs and every request."""
    page = cut_off(chromium)
    page.set_default_timeout(60_000)
    page.dialogs, page.requests = [], []

    def refuse(dialog):
        page.dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    page.on("request", lambda request: page.requests.append(request.url))
    yield page
    page.context.close()


def assert_nothing_ran(page):
    """Neither by itself nor when everything on the page is pointed at."""
    page.evaluate(POINT_AND_PRESS)
    page.wait_for_timeout(300)
    assert page.dialogs == []
    assert page.asked == []
    assert page.evaluate("window.owned") is None
    assert page.evaluate(ARMED) == []
    assert [address for address in page.requests if address.endswith(BAITS)] == []
    assert "evil.example" not in page.url


def test_the_watch_sees_a_script_that_runs(watched, tmp_path, serve):
    """What follows can fail."""
    (tmp_path / "page.html").write_text(
        f"<img src=x onerror=\"window.owned = 1; alert('owned')\"><img src='{AWAY}'>"
    )
    watched.goto(f"{serve(tmp_path)}/page.html")
    watched.wait_for_function("window.owned")
    assert watched.dialogs == ["owned"]
    assert watched.asked == [AWAY]
    assert len(watched.evaluate(ARMED)) == 2
    with pytest.raises(AssertionError):
        assert_nothing_ran(watched)


def test_the_report_of_the_class(watched, course, serve):
    watched.goto(f"{serve(course / 'grades')}/{NAME}.html")
    watched.evaluate("document.querySelectorAll('details').forEach(folded => { folded.open = true; })")
    assert "onerror" in watched.inner_text("body")  # it is shown, as text
    assert_nothing_ran(watched)


@pytest.mark.parametrize("student", ODD)
def test_the_feedback_page(watched, course, serve, student):
    watched.goto(f"{serve(course / 'feedback' / student / NAME)}/{NAME}.html", wait_until="load")
    assert "onerror" in watched.inner_text("body")
    assert_nothing_ran(watched)


PAGES = [
    *("manage_assignments", f"manage_submissions/{NAME}", "gradebook", f"gradebook/{NAME}"),
    *(f"gradebook/{NAME}/{NAME}", "manage_students"),
    *(f"manage_students/{quote(student, safe='')}" for student in ODD),
    *(f"manage_students/{quote(student, safe='')}/{NAME}" for student in ODD),
]


IS_THERE = "!document.body.innerText.includes('Loading, please wait')"


@pytest.fixture
def formgrader(watched, jupyter):
    """Open a page of formgrader, as somebody who is logged in: formgrader(place, condition)."""
    watched.goto(f"{jupyter}/login?token={TOKEN}")

    def show(place, condition):
        watched.goto(f"{jupyter}/formgrader/{place}")
        watched.wait_for_function(condition)
        return watched

    return show


@pytest.mark.parametrize("place", PAGES)
def test_a_page_of_formgrader(formgrader, place):
    page = formgrader(place, IS_THERE)
    assert any(word in page.inner_text("tbody") for word in (NAME, GOOD, "Submission #1"))
    assert_nothing_ran(page)


@pytest.mark.parametrize("student", ODD)
def test_the_page_on_which_a_submission_is_marked(course, formgrader, student):
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        identity = gradebook.find_submission_notebook(NAME, NAME, student).id
    is_there = "formgrader.loaded && formgrader.comments.loaded && formgrader.grades.loaded"
    page = formgrader(f"submissions/{identity}/", is_there)
    assert "onerror" in page.inner_text("body")
    assert_nothing_ran(page)
