"""Students get the notebook and nothing that is not theirs; plain nbgrader grades what comes back."""

import fnmatch
import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from grading import unplug
from nbclient import NotebookClient
from nbgrader.api import Gradebook

from autograder.making.leaks import leaks, secret_lines
from autograder.making.release import (
    Leak,
    ReleaseError,
    is_out_of_date,
    release,
)
from autograder.marks.settings import course_config
from autograder.nbgrader.ignored import ignore_all_but, ignored_files
from autograder.source.loading import find, load

REPOSITORY = Path(__file__).parents[2]

NAME = "mini_homework"

# A word in each thing that students must not have: solution, hidden check, misconception, rubric.
PLANTED = ["heron", "pelican", "albatross", "cormorant"]

BARE = {"PATH": "/usr/bin:/bin", "HOME": "/tmp"}  # what a shell has in which no environment is activated


@pytest.fixture(scope="module")
def released(tmp_path_factory, lay_out):
    """A course whose homework was released by command from an environment that is not activated."""
    course = lay_out(tmp_path_factory.mktemp("course"))
    (course / "solutions" / NAME / "marks of last year.txt").write_text("heron")
    command = [sys.executable, "-m", "autograder", "release", NAME, "--root", str(course)]
    subprocess.run(command, check=True, capture_output=True, env=BARE, cwd="/")
    return course


def student_notebook(course):
    return nbformat.read(course / "homeworks" / NAME / f"{NAME}.ipynb", as_version=4)


def cell(notebook, name):
    return next(cell for cell in notebook.cells if cell.id == name)


def test_a_release_is_one_notebook(released):
    files = [path for path in (released / "homeworks").rglob("*") if path.is_file()]
    assert files == [released / "homeworks" / NAME / f"{NAME}.ipynb"]


def test_nothing_secret_is_released_and_every_secret_was_there_to_be_found(released):
    source = "".join(path.read_text() for path in (released / "solutions" / NAME).glob("*.py"))
    text = (released / "homeworks" / NAME / f"{NAME}.ipynb").read_text()
    assert [word for word in PLANTED if word in source] == PLANTED
    assert [word for word in PLANTED if word in text] == []


def test_the_stub_the_question_and_a_line_about_the_hidden_check_are_released(released):
    notebook = student_notebook(released)
    assert cell(notebook, "moving_average").source.endswith("# YOUR CODE HERE\n    raise NotImplementedError")
    assert cell(notebook, "why_smooth").source.endswith("what does it cost?\n\n*Write your answer here.*")
    hidden = cell(notebook, "moving_average-hidden").source
    assert hidden == "# @title After you hand in: Averages are right for windows of any width. (2 points)"


def test_releasing_again_gives_the_same_bytes(released):
    path = released / "homeworks" / NAME / f"{NAME}.ipynb"
    before = path.read_bytes()
    assert release(released, NAME) == path.parent
    assert path.read_bytes() == before


def test_a_release_runs_to_its_end_and_says_what_is_not_written(released):
    notebook = NotebookClient(student_notebook(released), kernel_name="python3").execute()
    cells = {cell.id: cell for cell in notebook.cells if cell.cell_type == "code"}
    assert all(cell.execution_count for cell in cells.values())
    [shown] = cells["moving_average-check"].outputs
    assert "moving_average</code> is not written yet" in shown.data["text/html"]
    assert float(shown.data["text/plain"]) == 0  # which nbgrader reads


@pytest.fixture
def folder(tmp_path):
    """A release that holds what a test puts there."""
    path = tmp_path / "release"
    path.mkdir()
    return path


def write_notebook(folder, **cell):
    cells = [{"cell_type": "code", "source": "", "metadata": {}, "outputs": []} | cell]
    (folder / f"{NAME}.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}}))


@pytest.mark.parametrize(
    "origin",
    [
        "solution of moving_average",
        "solution of why_smooth",
        "hidden check",
        "misconceptions.py",
        "alternatives.py",
    ],
)
@pytest.mark.parametrize("place", ["source", "outputs", "metadata"])
def test_a_secret_line_is_found_wherever_it_hides(mini, folder, origin, place):
    homework = load(mini)
    line = max((line for line, where in secret_lines(homework) if origin in where), key=len)
    hidden = {
        "source": {"source": [f"x = 1  # {line}"]},
        "outputs": {"outputs": [{"text": f"before\n  {line}\nafter"}]},
        "metadata": {"metadata": {"note": line}},
    }
    write_notebook(folder, **hidden[place])
    assert any(line in sentence and origin in sentence for sentence in leaks(homework, folder))


def test_a_clean_notebook_has_no_leak(mini, folder):
    write_notebook(folder, source=load(mini).exercises[0].stub)
    assert list(leaks(load(mini), folder)) == []


def test_a_line_that_students_see_anyway_is_no_secret(mini, folder, edit):
    """A hidden check shares its comparison with a visible one, so finding that line means nothing."""
    shared = "assert_equal(len(moving_average(values, 3)), 5)"
    edit(mini / "mini_homework.py", "assert_close(moving_average(pelican_values, width), expected)", shared)
    write_notebook(folder, source=shared)
    assert list(leaks(load(mini), folder)) == []


def test_a_solution_in_plain_sight_refuses_the_release(course_folder, mini, edit):
    line = "heron_starts = range(len(values) - width + 1)"
    edit(mini / "mini_homework.py", "# ## 2. In words", f"# ## 2. In words\n#\n# Recall that `{line}`.")
    with pytest.raises(Leak, match="a line of the solution of moving_average"):
        release(course_folder, NAME)
    assert not (course_folder / "homeworks").exists()


def test_lines_of_a_catalogue_in_a_folder_are_secret_too(mini):
    (mini / "misconceptions").mkdir()
    (mini / "misconceptions.py").rename(mini / "misconceptions" / "averages.py")
    origins = {origin for _, origin in secret_lines(load(mini))}
    assert "misconceptions/averages.py" in origins


@pytest.mark.parametrize("name", ["misconceptions.py", "notes.txt", "Makefile"])
def test_a_file_that_is_no_notebook_and_no_data_does_not_belong_in_a_release(mini, folder, name):
    (folder / name).write_text("")
    assert list(leaks(load(mini), folder)) == [f"{name} does not belong in a release."]


def test_a_leak_refuses_the_release_and_leaves_the_former_one(course_folder, edit):
    release(course_folder, NAME)
    path = course_folder / "homeworks" / NAME / f"{NAME}.ipynb"
    before = path.read_bytes()
    config = course_folder / "nbgrader_config.py"
    config.write_text(
        config.read_text() + '\nc.ClearHiddenTests.begin_test_delimeter = "BEGIN SOMETHING ELSE"\n'
    )
    with pytest.raises(Leak, match="holds a line of the hidden check averages_are_right_for_any_width"):
        release(course_folder, NAME)
    assert path.read_bytes() == before


def test_everything_but_the_named_endings_is_ignored():
    globs = ignore_all_but([".ipynb", ".csv", "timestamp.txt", "hw1-x"])
    names = ["a.ipynb", "b.csv", "timestamp.txt", "hw1-x", "a.py", "b", "nb", "x", "ipynb", "a.ipynb.bak"]
    names += ["a.txt", ".hidden", "__pycache__", "Makefile", "hw1", "hw1_x", "1-x", "wrong.pyc", "a.CSV"]
    kept = [name for name in names if not any(fnmatch.fnmatchcase(name, glob) for glob in globs)]
    assert kept == ["a.ipynb", "b.csv", "timestamp.txt", "hw1-x"]


@pytest.mark.parametrize("path", sorted((REPOSITORY / "homeworks").glob("*")), ids=lambda path: path.name)
def test_what_students_have_now_leaks_nothing_and_is_up_to_date(path):
    assert list(leaks(find(path.name, REPOSITORY), path)) == []
    assert not is_out_of_date(REPOSITORY, find(path.name, REPOSITORY))


def submit(course, student, answer):
    notebook = student_notebook(course)
    cell(notebook, "moving_average").source = answer
    path = course / "submitted" / student / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)


def test_plain_nbgrader_restores_the_hidden_check_and_scores_it(released):
    reference = load(released / "solutions" / NAME).exercises[0].solution
    submit(released, "ada", reference)
    submit(released, "bob", reference.replace("/ width", "/ 3"))
    unplug(released)
    nbgrader = Path(sys.executable).parent / "nbgrader"
    subprocess.run([nbgrader, "autograde", NAME], check=True, capture_output=True, env=BARE, cwd=released)
    alike = {"moving_average-check": 2, "why_smooth": 0}
    assert scores(released, "ada") == alike | {"moving_average-hidden": 2}
    assert scores(released, "bob") == alike | {"moving_average-hidden": 0}
    graded = nbformat.read(released / "autograded" / "bob" / NAME / f"{NAME}.ipynb", as_version=4)
    assert "pelican" in cell(graded, "moving_average-hidden").source


def test_a_class_whose_marks_stand_on_other_cells_is_told_how_to_go_on(course_folder, mini, edit):
    release(course_folder, NAME)
    with Gradebook(f"sqlite:///{course_folder}/gradebook.db", "language-models") as gradebook:
        gradebook.add_student("eve")
        gradebook.add_submission(NAME, "eve")
    edit(
        mini / f"{NAME}.py",
        "# %% [markdown]\n# ## 2. In words",
        '# %% provided="one_more"\nMORE = 1\n\n# %% [markdown]\n# ## 2. In words',
    )
    with pytest.raises(
        ReleaseError, match="Finish mini_homework with the version of the course that released"
    ):
        release(course_folder, NAME)


def scores(course, student):
    config = course_config(course)
    with Gradebook(f"sqlite:///{course}/gradebook.db", config.CourseDirectory.course_id) as gradebook:
        submission = gradebook.find_submission_notebook(NAME, NAME, student)
        return {grade.name: grade.auto_score for grade in submission.grades if grade.auto_score is not None}


@pytest.mark.parametrize("name", ["timestamp.txt", "submission_secret.txt"])
def test_nbgrader_collects_what_it_needs_to_give_feedback_back(course_folder, name):
    globs = ignored_files(course_folder)
    assert not any(fnmatch.fnmatch(name, glob) for glob in globs)
    assert any(fnmatch.fnmatch("other_secret.txt", glob) for glob in globs)
