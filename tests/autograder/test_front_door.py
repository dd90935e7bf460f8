"""Whichever way a submission comes in, it gets the same record: verdicts, seed, level, digest, conditions."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from grading import MINI, NAME, ROOT, catalogue, named, solved, submit
from nbgrader.apps.api import NbGraderAPI
from warm_levels import warm_with

from autograder import software
from autograder.grade import grade
from autograder.grading import paper
from autograder.grading.plan import plan_for
from autograder.isolation import Limits
from autograder.marks.exports.gradescope import gradescope_autograder
from autograder.marks.records import RecordFolder
from autograder.marks.settings import course_config
from autograder.nbgrader import judge as nbgrader_judge
from autograder.sample.demo import make_course
from autograder.submissions.collect import collect

SEED = 20
STUDENT = "student"  # as Gradescope's script calls everybody
RIGHT_AVERAGES = "assert_close(moving_average([2.0, 4.0, 9.0, 1.0], 3), [5.0, 14 / 3])"
BY_CHANCE = (
    f"import torch\n\n    {RIGHT_AVERAGES[:-2]} + torch.rand(1).item()])"  # of the global random numbers
)


def submission_of(course):
    """A known mistake, a check that the student changed, and a question that was answered."""
    content = solved(course, catalogue("misconceptions")["divides_by_all"])
    named(content, "moving_average-check")["source"] = "pass"
    return content


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """A course in which what a check expects, and says, rests on torch's global random numbers."""
    folder = shutil.copytree(MINI, tmp_path_factory.mktemp("source") / NAME)
    path = folder / f"{NAME}.py"
    path.write_text(path.read_text().replace(RIGHT_AVERAGES, BY_CHANCE))
    assert BY_CHANCE in path.read_text()
    course = tmp_path_factory.mktemp("doors") / "course"
    make_course(course, folder, ROOT)
    submit(course, STUDENT, submission_of(course))
    return course


@pytest.fixture
def course(handed_in, tmp_path, monkeypatch):
    """The course with its one submission; whoever judges it draws the same seed."""
    monkeypatch.setattr(paper.secrets, "randbits", lambda bits: SEED)
    return shutil.copytree(handed_in, tmp_path / "course")


def by_the_command(course):
    grade(NAME, course / "submitted", root=course, jobs=1)


def by_nbgrader(course):
    """As formgrader's button does it, in the process of the Jupyter server."""
    os.chdir(course)
    torch.rand(17), np.random.rand(3)  # whatever has happened in that process before
    done = NbGraderAPI(config=course_config(course)).autograde(NAME, STUDENT)
    assert done["success"], done


def by_dask(course):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        grade(NAME, course / "submitted", root=course, dask=cluster.scheduler_address)


def by_gradescope(course):
    """Its script, run beside what its zip holds, with the grader that the zip holds."""
    there = course.parent / "autograder"
    for name in ("autograder", "course", "pyproject.toml", "constraints.txt", "README.md", "LICENSE"):
        (course / name).exists() or (course / name).symlink_to(ROOT / name)
    made = course.parent / "autograder.zip"
    made.write_bytes(gradescope_autograder(course, NAME))
    with zipfile.ZipFile(made) as archive:
        archive.extractall(there / "source")
    (there / "venv").symlink_to(sys.prefix)
    (there / "submission").mkdir()
    (there / "results").mkdir()
    shutil.copy(course / "submitted" / STUDENT / NAME / f"{NAME}.ipynb", there / "submission")
    source = there / "source"
    (source / "sitecustomize.py").write_text(f"import secrets\nsecrets.randbits = lambda bits: {SEED}\n")
    environment = os.environ | {"PYTHONPATH": f"{source}"}
    release = [there / "venv" / "bin" / "autograder", "release", NAME]
    subprocess.run(release, check=True, cwd=source, env=environment, capture_output=True)
    script = (source / "run_autograder").read_text().replace("/autograder/", f"{there}/")
    subprocess.run(["bash", "-c", script], check=True, env=environment)
    assert json.loads((there / "results" / "results.json").read_text())["tests"]
    shutil.copytree(source / "grades", course / "grades")


DOORS = {
    "nbgrader": by_nbgrader,
    "Dask": by_dask,
    "Gradescope": by_gradescope,
}


def record_of(course):
    return RecordFolder(course / "grades", NAME).find(STUDENT)


@pytest.fixture(scope="module")
def by_mark(handed_in):
    """What `mark` itself says, asked directly."""
    [found] = collect(handed_in / "submitted", NAME)
    warm, plan = warm_with(Limits()), plan_for(NAME, handed_in, Limits())
    return paper.mark(paper.paper_of(found, seed=SEED), plan, warm.level.name, warm.student).record


@pytest.mark.parametrize("door", [by_the_command, *DOORS.values()], ids=["command", *DOORS])
def test_the_same_submission_gets_the_same_record_through_every_door(course, by_mark, door, monkeypatch):
    monkeypatch.chdir(course)
    door(course)
    record = record_of(course)
    assert record.isolation in ("bwrap", "landlock")
    assert record.seed == SEED
    assert len(record.source) == 64
    assert record.conditions["grader"] == software.code_on_disk()
    assert {"torch", "numpy", "limits"} <= record.conditions.keys()
    assert "Changed by the student and restored: 1 cell (moving_average-check)." in record.flags
    differs = {name for name, said in record.conditions.items() if said != by_mark.conditions[name]}
    assert differs == ({"limits"} if door is by_gradescope else set())  # its container has little memory
    assert replace(record, seconds=by_mark.seconds, conditions=by_mark.conditions) == by_mark


@pytest.fixture
def button(course, monkeypatch):
    """What nbgrader's door has prepared for this homework: button() prepares, or finds what is prepared."""
    monkeypatch.chdir(course)
    return lambda: nbgrader_judge.plan_of({"nbgrader": {"assignment": NAME}})


@pytest.mark.parametrize("name", ["misconceptions.py", "misconceptions/more.py", "data/prices.csv"])
def test_nbgraders_door_notices_every_edit_in_the_homeworks_folder(course, button, name):
    before = button()
    assert button() is before
    path = course / "solutions" / NAME / name
    path.parent.mkdir(exist_ok=True)
    with open(path, "a") as file:
        file.write("\n")
    assert button() is not before


def test_nbgraders_door_closes_when_the_code_that_judges_is_edited(button, monkeypatch):
    monkeypatch.setattr(nbgrader_judge, "code_on_disk", lambda: "edited")
    with pytest.raises(nbgrader_judge.CouldNotJudge, match=r"since this process started\. Restart it"):
        button()


def test_the_code_that_judges_is_the_graders_and_the_courses_wherever_it_lies(tmp_path, monkeypatch):
    for package in software.PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    places = {
        package: SimpleNamespace(submodule_search_locations=[tmp_path / package])
        for package in software.PACKAGES
    }
    here = software.code_on_disk()
    monkeypatch.setattr(software, "find_spec", places.get)
    assert software.code_on_disk() == here
    for edited in ("course/checks/closeness.py", "autograder/isolation/limits.py"):
        with open(tmp_path / edited, "a") as file:
            file.write("\n")
        assert software.code_on_disk() != here
        here = software.code_on_disk()


def test_nothing_but_mark_judges_a_submission():
    sources = {path: path.read_text() for path in (ROOT / "autograder").rglob("*.py")}
    users = {path.stem for path, text in sources.items() if re.search(r"\bgrade_submission\(", text)}
    assert users == {"paper", "submission"}


@pytest.mark.parametrize(
    "name", ["no_such_package", "json.decoder"]
)  # nothing, and a module that is no package
def test_a_package_that_is_not_there_is_named(name):
    with pytest.raises(ModuleNotFoundError, match=f"no package {name}"):
        software.folder_of(name)
