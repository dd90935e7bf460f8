"""Feedback goes back to Canvas by the names of its own zip, and Canvas finds everybody's submission."""

import io
import json
import zipfile

import nbformat
import pytest
from grading import MINI, NAME, RIGHT, catalogue, new_course, solved
from importers import canvas_attaches

from autograder.cli import main
from autograder.collecting import gather
from autograder.reporting.canvas_feedback import with_feedback
from autograder.source.loading import load
from autograder.submissions.collect import Found, name_in_canvas

pytestmark = pytest.mark.usefixtures("one_warm_process")
WRONG, NAMED = (catalogue("misconceptions")[name] for name in ("width_is_always_three", "divides_by_all"))
UPLOADED = {  # user → (the name in Canvas's zip, the attachment, the answer); by lib/content_zipper.rb
    "4001": (f"lovelaceada_4001_901_{NAME}.ipynb", "901", RIGHT),
    "4002": (f"bxcy_LATE_4002_902_{NAME}-1.ipynb", "902", NAMED),
    "4003": ("vandenbergjan_4003_903_7_8_9.ipynb", "903", RIGHT),
    "aB3xY": (f"LATE_anon_aB3xY_904_{NAME}.ipynb", "904", WRONG),
    "4005": (f"odd_4005_905_{NAME}.ipynb", "905", None),  # no notebook at all
}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = new_course(tmp_path_factory.mktemp("canvas") / "course")
    with zipfile.ZipFile(course / "submissions.zip", "w") as archive:
        for name, _, answer in UPLOADED.values():
            content = "not a notebook" if answer is None else json.dumps(solved(course, answer))
            archive.writestr(name, content)
        archive.writestr("lovelaceada_4001_906_notes.txt", "beside it")
    assert main(["collect", f"{course}/submissions.zip", "--homework", NAME, *at(course)]) == 0
    assert main(["grade", NAME, "--submissions", f"{course}/submitted", "--jobs", "1", *at(course)]) == 0
    return course


def at(course):
    return ["--root", str(course)]


def exported(course, capsys):
    """What Canvas attaches: user → (attachment, the notebook); and what was noted."""
    capsys.readouterr()
    assert main(["export", NAME, "canvas-feedback", "--to", f"{course}/feedback.zip", *at(course)]) == 0
    attachments = {user: {number} for user, (_, number, _) in UPLOADED.items()}
    attached, ignored = canvas_attaches((course / "feedback.zip").read_bytes(), attachments)
    assert ignored == []
    return attached, capsys.readouterr().err


def test_canvas_attaches_everybodys_feedback_to_their_own_submission(course, capsys):
    attached, _ = exported(course, capsys)
    assert {user: number for user, (number, _) in attached.items()} == {
        user: number for user, (_, number, _) in UPLOADED.items()
    }
    for user, (_, data) in attached.items():
        notebook = nbformat.reads(data.decode(), 4)
        nbformat.validate(notebook)
        first, *theirs = notebook.cells
        assert first.cell_type == "markdown"
        answer = UPLOADED[user][2]
        points = {RIGHT: "4", WRONG: "2", NAMED: "1", None: "0"}[answer]
        assert first.source.splitlines()[2].startswith(f"**{points} of "), first.source
        assert any(answer == cell.source for cell in theirs) if answer else theirs == []


def test_a_mistake_is_said_and_no_hidden_input(course, capsys):
    attached, _ = exported(course, capsys)
    said = {user: json.loads(data)["cells"][0]["source"] for user, (_, data) in attached.items()}
    [mistake] = [entry for entry in load(MINI).misconceptions if entry.name == "divides_by_all"]
    assert f"{mistake.diagnosis} {mistake.question}" in said["4002"]
    assert said["aB3xY"].endswith("✗ Averages are right for windows of any width.")
    assert said["4001"].splitlines()[1:] == ["", "**4 of 7, not all marked yet**"]  # nothing but the mark


@pytest.mark.parametrize("minor", [4, 5])
def test_feedback_that_is_handed_in_again_is_replaced(tmp_path, minor):
    theirs = {"cell_type": "markdown", "metadata": {}, "source": "mine"} | ({"id": "a"} if minor == 5 else {})
    path = tmp_path / f"{NAME}.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": minor, "metadata": {}, "cells": [theirs]}))
    for said in ("first", "second"):
        path.write_text(with_feedback(said, Found("ada", path)))
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    assert [cell.source for cell in notebook.cells] == ["second", "mine"]


def test_cells_that_are_no_cells_stay_as_they_are(tmp_path):
    odd = [None, "x", ["feedback"], {"id": ["feedback"]}, {"metadata": "feedback"}, {"metadata": None}]
    path = tmp_path / f"{NAME}.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": odd}))
    assert json.loads(with_feedback("said", Found("ada", path)))["cells"][1:] == odd


def test_a_later_download_replaces_the_names(course, tmp_path):
    again = f"lovelaceada_4001_950_{NAME}-1.ipynb"
    with zipfile.ZipFile(tmp_path / "later.zip", "w") as archive:
        archive.writestr(again, json.dumps(solved(course, RIGHT)))
    to = tmp_path / "submitted"
    for source in (course / "submissions.zip", tmp_path / "later.zip"):
        gather(source, NAME, to)
    assert name_in_canvas(to, "4001", NAME) == again
    assert name_in_canvas(to, "4003", NAME) == UPLOADED["4003"][0]
    assert name_in_canvas(to, "nobody", NAME) == ""


def test_the_same_feedback_gives_the_same_zip(course, capsys):
    zips = []
    for _ in range(2):
        exported(course, capsys)
        zips.append((course / "feedback.zip").read_bytes())
    assert zips[0] == zips[1]


def test_who_came_from_elsewhere_is_noted(course, capsys):
    kept = course / "submitted" / ".kept" / "4003" / NAME / "name_in_canvas.txt"
    name = kept.read_text()
    kept.unlink()
    try:
        attached, noted = exported(course, capsys)
    finally:
        kept.write_text(name)
    assert "4003" not in attached
    assert "no feedback for whose work was not collected from Canvas's zip: 4003." in noted


def test_canvas_ignores_what_is_named_otherwise():
    """The importer of these tests is as strict as Canvas: a renamed file reaches nobody."""
    out = io.BytesIO()
    names = ["4001.ipynb", "a_4001_999_x.ipynb", "._a_4001_901_x.ipynb", "a_4001_901_link.html"]
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    assert canvas_attaches(out.getvalue(), {"4001": {"901"}}) == ({}, names)
