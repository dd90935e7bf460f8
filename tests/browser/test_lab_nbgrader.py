"""nbgrader's panels in JupyterLab, opened in the course's folder with the network cut."""

import subprocess
import sys

import pytest
from course_in_lab import HOMEWORK, MISTAKE
from lab_page import TOKEN
from nbgrader.api import Gradebook

from autograder.source.loading import load

WRITTEN = "below_the_floor"


@pytest.fixture(scope="module")
def homework(lab_course):
    return load(lab_course / "solutions" / HOMEWORK)


@pytest.fixture
def graded(lab, lab_course):
    """The formgrader's page of bob's submission."""
    with Gradebook(f"sqlite:///{lab_course}/gradebook.db") as gradebook:
        identity = gradebook.find_submission_notebook(HOMEWORK, HOMEWORK, "bob").id
    lab.page.goto(f"{lab.address}/lab/tree/lectures?reset&token={TOKEN}")
    lab.page.asked.clear()
    lab.page.goto(f"{lab.address}/formgrader/submissions/{identity}/")
    lab.page.wait_for_function("formgrader.loaded && formgrader.comments.loaded && formgrader.grades.loaded")
    return lab.page


def test_what_make_lab_starts_opens_at_the_lectures(lab):
    lab.start()
    assert lab.page.url.endswith("/lab/tree/lectures")
    assert lab.page.locator(".jp-DirListing-itemText").all_inner_texts() == ["03_perplexity.ipynb"]


def test_nobody_is_asked_about_news(lab):
    lab.start()
    lab.page.wait_for_timeout(8_000)  # as long as JupyterLab takes to ask
    assert lab.page.get_by_text("Would you like to get notified").count() == 0
    # JupyterLab opens again what was open last, which may be a notebook with its badge
    assert [address for address in lab.page.asked if "badge" not in address] == []


def test_create_assignment_shows_every_cells_name_and_points(lab, homework):
    lab.open(f"solutions/{HOMEWORK}/{HOMEWORK}.ipynb")
    lab.page.get_by_role("tab", name="Create Assignment").click()
    lab.page.locator(".nbgrader-CellWidget").nth(10).wait_for()
    panel = lab.page.locator(".nbgrader-NotebookPanelWidget")
    total = sum(each.points for each in (*homework.exercises, *homework.written))
    assert float(panel.locator(".nbgrader-TotalPointsInput").input_value()) == total
    shown = panel.locator(".nbgrader-CellId input").evaluate_all("fields => fields.map(field => field.value)")
    assert {check.cell for check in homework.checks} <= set(shown)
    assert {exercise.name for exercise in homework.exercises} <= set(shown)
    assert lab.page.faults == []


def test_a_released_homework_is_fetched_and_submitted(lab, lab_course):
    command = [sys.executable, "-m", "nbgrader", "release_assignment", HOMEWORK]
    subprocess.run(command, cwd=lab_course, check=True, capture_output=True)
    lab.start()
    lab.choose("Nbgrader", "Assignment List")
    panel = lab.page.locator("#assignments")
    panel.get_by_text("Fetch", exact=True).click()
    panel.get_by_text("Submit", exact=True).click()
    panel.get_by_text("Fetch Feedback", exact=True).wait_for()
    assert (lab_course / HOMEWORK / f"{HOMEWORK}.ipynb").is_file()
    assert list((lab_course / "exchange").glob(f"*/inbound/*+{HOMEWORK}+*/{HOMEWORK}.ipynb"))
    assert lab.page.faults == []


def test_formgrader_lists_what_was_graded(lab):
    lab.start()
    lab.choose("Nbgrader", "Formgrader")
    panel = lab.page.frame_locator("iframe[src*='formgrader']")
    row = panel.locator("tr", has=panel.get_by_role("link", name=HOMEWORK, exact=True))
    row.locator(".num-submissions", has_text="2").wait_for()
    assert "released" in row.inner_text()


def test_a_submission_shows_formulas_and_the_mistake(graded, homework):
    [known] = [entry for entry in homework.misconceptions if entry.name == MISTAKE]
    comments = graded.locator("textarea.comment")
    written = comments.evaluate_all("areas => areas.map(area => area.value || area.placeholder)")
    assert any(text.startswith(known.diagnosis) for text in written)
    assert graded.locator("math mfrac").count() > 0
    assert graded.locator("#notebook", has_text="\\frac").count() == 0
    assert graded.asked == []
    assert graded.faults == []


def test_a_written_answer_is_marked_by_hand_with_the_keyboard(graded, lab_course):
    mark = graded.locator(f"#{WRITTEN}")
    mark.fill("2.5")
    with graded.expect_response(
        lambda answer: "/api/grade/" in answer.url and answer.request.method == "PUT"
    ):
        mark.press("Tab")
    assert graded.evaluate("document.activeElement.id") == f"{WRITTEN}_extra_credit"
    with Gradebook(f"sqlite:///{lab_course}/gradebook.db") as gradebook:
        assert gradebook.find_grade(WRITTEN, HOMEWORK, HOMEWORK, "bob").manual_score == 2.5
    graded.keyboard.press("Escape")
    graded.keyboard.press("Control+.")
    graded.wait_for_url("**/formgrader/**")
    assert graded.faults == []
