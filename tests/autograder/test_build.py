"""Notebooks are made from their sources alone and carry what nbgrader and Colab need."""

import ast
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import nbformat
import pytest
from nbgrader.nbgraderformat.v3 import MetadataValidatorV3

import course
from autograder.checking.examine import run_checks
from autograder.checking.versions import made_from
from autograder.making import lectures
from autograder.making.build import build
from autograder.making.products import SESSION, build_homework, build_lecture
from autograder.making.release import release
from autograder.proving.deviations import accept
from autograder.proving.verify import prove
from autograder.source.address import Address
from autograder.source.loading import load
from autograder.source.notebook import SourceError, to_json
from course.checks import Outcome
from course.checks.seal import seal

ADDRESS = Address("https://github.com/somewhere/else", "v9")
NOTEBOOK = "solutions/mini_homework/mini_homework.ipynb"
PROVIDED = "assert_close, assert_equal\n"
PRINTS = "course/checks/fingerprints/mini_homework.json"
LECTURE = "lectures/01_numbers.ipynb"


@pytest.fixture
def built(mini):
    return build_homework(load(mini), ADDRESS)


def cell(notebook, name):
    return next(cell for cell in notebook["cells"] if cell["id"] == name)


def everything(folder):
    return {name: (folder / name).read_bytes() for name in (NOTEBOOK, PRINTS, LECTURE)}


def test_the_same_source_gives_the_same_bytes_in_every_process(course_folder):
    results = []
    for hash_seed in ("1", "2"):
        command = [sys.executable, "-m", "autograder", "build", "--root", str(course_folder)]
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        subprocess.run(command, check=True, capture_output=True, env=environment, cwd="/")
        results.append(everything(course_folder))
        for name in results[0]:
            (course_folder / name).unlink()
    assert results[0] == results[1]


def test_each_source_is_read_once(course_folder, mini, edit, monkeypatch):
    """However much is made from it: notebooks, fingerprints and a release."""
    build(course_folder)
    release(course_folder, mini.name)
    edit(mini / "mini_homework.py", "heron_starts = range(len(values)", "heron_starts = range(0, len(values)")
    edit(mini / "mini_homework.py", "Average each window", "Average every window")
    opened, really_open = Counter(), io.open
    counting = lambda file, *rest, **more: opened.update([file]) or really_open(file, *rest, **more)  # noqa: E731
    monkeypatch.setattr("io.open", counting)
    monkeypatch.setattr("builtins.open", counting)
    assert len(build(course_folder)) == 3
    sources = [mini / "mini_homework.py", course_folder / "lectures" / "01_numbers.py"]
    assert [opened[path] for path in sources] == [1, 1]


def test_check_writes_nothing_and_says_what_is_out_of_date(course_folder, mini, edit):
    stale = build(course_folder, check=True)
    assert {str(path.relative_to(course_folder)) for path in stale} == {NOTEBOOK, PRINTS, LECTURE}
    assert not any(path.exists() for path in stale)
    build(course_folder)
    assert build(course_folder, check=True) == []
    edit(mini / "mini_homework.py", "# # Averages", "# # Means")
    assert build(course_folder, check=True) == [course_folder / NOTEBOOK]


def test_nbformat_and_nbgrader_accept_the_notebook(built):
    notebook = nbformat.reads(to_json(built), as_version=4)
    nbformat.validate(notebook)
    MetadataValidatorV3().validate_nb(notebook)


@pytest.mark.parametrize(
    ("name", "grade", "solution", "points"),
    [
        ("setup", False, False, None),
        ("imports", False, False, None),
        ("moving_average-statement", False, False, None),
        ("moving_average", False, True, None),
        ("moving_average-check", True, False, 2),
        ("moving_average-hidden", True, False, 2),
        ("why_smooth", True, True, 3),
    ],
)
def test_a_label_becomes_nbgraders_metadata(built, name, grade, solution, points):
    metadata = cell(built, name)["metadata"]["nbgrader"]
    expected = {"grade_id": name, "grade": grade, "solution": solution, "locked": not solution, "task": False}
    assert metadata == expected | {"schema_version": 3} | ({"points": points} if points else {})


def test_a_hidden_check_leaves_one_line_outside_its_region(built):
    lines = cell(built, "moving_average-hidden")["source"].splitlines()
    title = "# @title After you hand in: Averages are right for windows of any width. (2 points)"
    assert lines[0] == title
    assert (lines[1], lines[-1]) == ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")


def test_the_claims_of_an_exercise_stand_in_one_cell_with_one_call(built):
    source = cell(built, "moving_average-check")["source"]
    assert source.startswith(
        "# @title Checks of moving_average (2 claims, 2 points)\ndef there_is_one_average"
    )
    call = source.partition("\ncheck(\n")[2]
    assert call.splitlines() == [
        "    there_is_one_average_per_window,",
        "    averages_are_right,",
        "    moving_average=moving_average,",
        "    later=1,",
        ")",
    ]
    hidden = cell(built, "moving_average-hidden")["source"]
    assert "\n    points=[2],\n" in hidden
    assert "later" not in hidden


@pytest.mark.parametrize("name", ["moving_average-check", "moving_average-hidden"])
def test_a_cell_of_checks_is_folded_wherever_it_is_opened(built, name):
    metadata = cell(built, name)["metadata"]
    assert metadata["jupyter"] == {"source_hidden": True}
    assert metadata["cellView"] == "form"


def test_a_session_begins_and_ends_with_what_is_done(built):
    assert cell(built, "setup")["source"].endswith('check = homework("mini_homework")\ncheck.progress()')
    assert built["cells"][-1]["source"].startswith("check.progress()")


def test_what_only_checks_need_stands_behind_the_imports(mini, edit):
    edit(
        mini / "mini_homework.py",
        '# %% check="averages_are_right" points=1',
        '# %% provided="a_width" helper\nWIDTH = 3\n\n\n# %% check="averages_are_right" points=1',
    )
    cells = build_homework(load(mini), ADDRESS)["cells"]
    [place] = [place for place, one in enumerate(cells) if "WIDTH = 3" in one["source"]]
    assert (cells[place - 1]["id"], cells[place]["id"]) == ("imports", "helpers_of_the_checks")
    assert cells[place]["metadata"]["jupyter"] == {"source_hidden": True}


TWICE = "def twice():\n    pass\n\n\n"


@pytest.mark.parametrize(
    ("pieces", "why"),
    [
        ({"    assert_equal(len(": "    check\n    assert_equal(len("}, "calls `check` itself"),
        (
            {claim: TWICE + claim for claim in ("def there_is_one_average", "def averages_are_right(")},
            "twice is defined in 2 checks of one exercise",
        ),
        ({'(moving_average, draw):\n    """Seven': '(later, draw):\n    """Seven'}, "can be called later"),
    ],
)
def test_checks_that_cannot_be_joined_are_refused(mini, edit, pieces, why):
    for old, new in pieces.items():
        edit(mini / "mini_homework.py", old, new)
    with pytest.raises(SourceError, match=why):
        build_homework(load(mini), ADDRESS)


def test_a_statement_says_how_hard_it_is_and_what_it_is_worth(built):
    lines = cell(built, "moving_average-statement")["source"].splitlines()
    assert lines[:3] == ["## 1. Moving average", "", "*●○○ · 4 points · about 5 minutes*"]


def test_the_badge_comes_first_and_opens_the_students_notebook(built):
    assert built["cells"][0]["id"] == "badge"
    assert built["cells"][0]["source"].endswith(
        "github/somewhere/else/blob/v9/homeworks/mini_homework/mini_homework.ipynb) Version 9"
    )


def test_a_homework_is_set_up_as_a_lecture_is_and_then_begins_its_session(built, course_folder):
    lecture = build_lecture(course_folder / "lectures" / "01_numbers.py", ADDRESS)
    more = cell(built, "setup")["source"].removeprefix(cell(lecture, "setup")["source"])
    assert more.split() == SESSION.format(name="mini_homework").split()


@pytest.fixture
def installed(monkeypatch):
    """The commands that the set-up cell runs, without running them."""
    commands = []
    monkeypatch.setattr(subprocess, "check_call", commands.append)
    return commands


def test_the_setup_cell_does_nothing_where_the_course_is_installed(built, installed, capsys):
    exec(cell(built, "setup")["source"], {})
    assert installed == []
    assert capsys.readouterr() == ("", "")


@pytest.fixture
def without(monkeypatch, tmp_path):
    """Hide modules from the set-up cell, which runs in a folder without a course above it."""
    find_spec = importlib.util.find_spec
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def hide(*names):
        def find(name):
            return None if name in names else find_spec(name)

        monkeypatch.setattr("importlib.util.find_spec", find)

    return hide


def test_the_setup_cell_installs_this_package_alone_where_it_is_missing(built, installed, without):
    without("course")
    exec(cell(built, "setup")["source"], {})
    [command] = installed
    assert command[1:4] == ["-m", "pip", "install"]
    assert "--no-deps" in command
    assert [word for word in command[4:] if not word.startswith("-")] == [
        "git+https://github.com/somewhere/else@v9"
    ]


def test_the_setup_cell_finds_a_downloaded_course(built, installed, without, tmp_path, monkeypatch):
    download = tmp_path / "download"
    for folder in ("course/checks", "homeworks/hw1"):
        (download / folder).mkdir(parents=True)
    without("course")
    monkeypatch.chdir(download / "homeworks" / "hw1")
    exec(cell(built, "setup")["source"], {})
    assert (installed, sys.path[0]) == ([], str(download))


def test_without_a_network_the_setup_cell_says_what_to_do(built, without, monkeypatch):
    def refused(command):
        raise subprocess.CalledProcessError(1, command)

    without("course")
    monkeypatch.setattr(subprocess, "check_call", refused)
    with pytest.raises(ImportError, match=r"not be fetched from .*somewhere/else.*Colab") as said:
        exec(cell(built, "setup")["source"], {})
    assert said.value.__suppress_context__


def test_without_torch_the_setup_cell_says_how_to_get_it(built, installed, without):
    without("torch", "safetensors")
    with pytest.raises(ImportError, match=r"needs torch, safetensors,.*pip install torch safetensors\."):
        exec(cell(built, "setup")["source"], {})


def test_the_setup_cell_asks_for_whatever_the_package_imports(built, without):
    imported = set()
    for path in Path(course.__file__).parent.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            imported |= {name.partition(".")[0] for name in names}
    needed = imported - sys.stdlib_module_names - {"course"}
    without(*needed)
    with pytest.raises(ImportError) as said:
        exec(cell(built, "setup")["source"], {})
    listed = str(said.value).partition("pip install ")[2].partition(". ")[0]
    assert set(listed.split()) == needed


def test_a_new_address_restamps_every_notebook_and_keeps_a_lectures_outputs(course_folder, edit):
    build(course_folder)
    show_something(course_folder / LECTURE)
    old = Address.read(course_folder)
    edit(course_folder / "pyproject.toml", old.repository, ADDRESS.repository)
    edit(course_folder / "pyproject.toml", f'ref = "{old.ref}"', f'ref = "{ADDRESS.ref}"')
    build(course_folder)
    for name in (NOTEBOOK, LECTURE):
        text = (course_folder / name).read_text()
        assert text.count("somewhere/else") == 2
        assert old.repository.removeprefix("https://github.com/") not in text
    assert "42" in (course_folder / LECTURE).read_text()


def test_a_new_address_reaches_what_is_released_already(course_folder, edit):
    release(course_folder, "mini_homework")
    assert build(course_folder, ["mini_homework"], check=True) == []
    edit(course_folder / "pyproject.toml", Address.read(course_folder).repository, ADDRESS.repository)
    students = course_folder / "homeworks" / "mini_homework" / "mini_homework.ipynb"
    assert build(course_folder, check=True)[-1] == students
    assert "somewhere/else" not in students.read_text()
    build(course_folder)
    assert students.read_text().count("somewhere/else") == 2
    assert build(course_folder, check=True) == []


def test_building_releases_nothing_that_was_not_released(course_folder):
    build(course_folder)
    assert not (course_folder / "homeworks").exists()


def show_something(path):
    """Give the lecture's last cell an output, as if it had been run."""
    notebook = json.loads(path.read_text())
    notebook["cells"][-1]["outputs"] = [{"name": "stdout", "output_type": "stream", "text": ["42\n"]}]
    path.write_text(to_json(notebook))


def test_a_lecture_keeps_its_outputs_until_its_code_changes(course_folder, edit):
    source = course_folder / "lectures" / "01_numbers.py"
    build(course_folder)
    show_something(course_folder / LECTURE)
    assert build(course_folder, check=True) == []
    edit(source, "Say, do, look.", "Look, do, say.")
    build(course_folder)
    assert '"42\\n"' in (course_folder / LECTURE).read_text()
    edit(source, "print(6 * 7)", "print(6 * 8)")
    build(course_folder)
    assert '"42\\n"' not in (course_folder / LECTURE).read_text()


def test_execute_runs_a_lecture_and_keeps_what_it_shows(course_folder):
    build(course_folder, ["01_numbers"], execute=True)
    code = json.loads((course_folder / LECTURE).read_text())["cells"]
    assert code[-1]["outputs"] == [{"name": "stdout", "output_type": "stream", "text": ["42\n"]}]
    assert [c["execution_count"] for c in code if c["cell_type"] == "code"] == [1, 2]
    assert build(course_folder, ["01_numbers"], check=True) == []


def test_outputs_nobody_would_fetch_are_refused(course_folder):
    built = build_lecture(course_folder / "lectures" / "01_numbers.py", ADDRESS)
    shown = {"name": "stdout", "output_type": "stream", "text": "x" * lectures.CELL_BYTES}
    cells = [c | {"outputs": [shown]} if c["id"] == "setup-2" else c for c in built["cells"]]
    with pytest.raises(lectures.OutputTooLarge, match="the cell setup-2 shows"):
        lectures.with_outputs(built, built | {"cells": cells})


def test_ids_of_other_cells_survive_a_cell_put_between(mini, edit, built):
    edit(
        mini / "mini_homework.py",
        "# %% [markdown]\n# ## 2.",
        "# %% [markdown]\n# New.\n\n# %% [markdown]\n# ## 2.",
    )
    before = [c["id"] for c in built["cells"]]
    after = [c["id"] for c in build_homework(load(mini), ADDRESS)["cells"]]
    assert [name for name in after if name in before] == before
    assert len(after) == len(before) + 1


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("# %% setup\n", "", "needs exactly one line"),
        ("# %% setup\n", "# %% setup\nimport torch\n", "filled in by the builder"),
        (
            'provided="imports"',
            'provided="moving_average"',
            "moving_average is longer than 64 characters or taken",
        ),
    ],
)
def test_a_source_that_makes_no_notebook_is_refused(mini, edit, old, new, complaint):
    edit(mini / "mini_homework.py", old, new)
    with pytest.raises(SourceError, match=complaint):
        build_homework(load(mini), ADDRESS)


def test_a_course_without_the_students_package_gets_no_fingerprints(course_folder):
    (course_folder / "course" / "checks").rmdir()
    build(course_folder)
    assert not (course_folder / PRINTS).exists()


def test_fingerprints_know_neither_hidden_checks_nor_solutions(course_folder):
    build(course_folder)
    text = (course_folder / PRINTS).read_text()
    assert set(json.loads(text)["checks"]) == {"there_is_one_average_per_window", "averages_are_right"}
    for secret in ("any_width", "heron", "pelican", "albatross", "cormorant", "width_is_always_three"):
        assert secret not in text


def test_fingerprints_hold_a_seal_of_each_answer_and_no_answer(course_folder):
    build(course_folder)
    check = json.loads((course_folder / PRINTS).read_text())["checks"]["averages_are_right"]
    wrong = {"divides_by_all": [3.75, 3.5], "forgets_the_last_window": [5.0]}
    assert check["right"] == [seal(Outcome("value", [5.0, 14 / 3]))]
    assert check["answers"] == {name: [seal(Outcome("value", found))] for name, found in wrong.items()}


def test_outputs_are_compared_up_to_the_first_cell_that_trains(tmp_path):
    source = tmp_path / "01_training.py"
    source.write_text(
        "# %% setup\n\n# %%\nx = 1\n\n# %% trained\nfit(x)\n\n# %% [markdown]\n# And\n\n# %%\nx\n"
    )
    cells = build_lecture(source, ADDRESS)["cells"]
    tags = [cell["metadata"].get("tags", []) for cell in cells]
    assert tags == [[], [], [], ["nbval-ignore-output"], [], ["nbval-ignore-output"]]


def test_of_a_trained_exercise_no_answer_is_written_down(course_folder, mini, edit):
    edit(mini / "mini_homework.py", "minutes=5 forbids", "minutes=5 trained forbids")
    build(course_folder)
    known = json.loads((course_folder / PRINTS).read_text())
    assert known["exercises"]["moving_average"]["hints"]
    assert known["exercises"]["moving_average"]["misconceptions"] == {}
    assert {name: check["answers"] for name, check in known["checks"].items()} == {
        "there_is_one_average_per_window": {},
        "averages_are_right": {},
    }


def test_a_reference_that_trains_is_not_asked_what_its_mistakes_answer_wrongly(course_folder, mini, edit):
    edit(mini / "mini_homework.py", "minutes=5 forbids", 'minutes=5 trained="reference" forbids')
    edit(mini / "mini_homework.py", "    heron_starts =", "    raise TimeoutError\n    heron_starts =")
    build(course_folder)
    known = json.loads((course_folder / PRINTS).read_text())["checks"]
    assert {name: set(check["answers"]) for name, check in known.items()} == {
        "there_is_one_average_per_window": {"forgets_the_last_window"},
        "averages_are_right": {"divides_by_all", "forgets_the_last_window"},
    }


def test_an_exercise_is_trained_with_its_mistakes_or_without(mini, edit):
    edit(mini / "mini_homework.py", "minutes=5 forbids", 'minutes=5 trained="sometimes" forbids')
    with pytest.raises(SourceError, match='labelled trained="sometimes"'):
        load(mini)


@pytest.fixture
def asked(monkeypatch):
    """The names of the checks that are run for fingerprints, as they are run."""
    names = []

    def run(homework, link, *args, only, **options):
        names.extend(only)
        return run_checks(homework, link, *args, only=only, **options)

    monkeypatch.setattr("autograder.checking.fingerprints.run_checks", run)
    return names


def test_no_mistake_is_asked_again_while_its_fingerprints_rest_on_the_same(course_folder, mini, asked, edit):
    build(course_folder)
    before = (course_folder / PRINTS).read_text()
    assert asked
    asked.clear()
    assert build(course_folder, check=True) == []
    edit(mini / "mini_homework.py", "pelican_values", "gannet_values")
    build(course_folder)
    assert asked == []
    assert (course_folder / PRINTS).read_text() == before


ANOTHER = '''

# %% [markdown] exercise="largest" difficulty=1 minutes=5
# ## 3. The largest

# %% solution="largest"
def largest(values: list[float]) -> float:
    """The largest of some values."""
    ### BEGIN SOLUTION
    return max(values)
    ### END SOLUTION


# %% check="nine_is_the_largest" points=1
def nine_is_the_largest(largest):
    """Of 2, 9 and 1, 9 is the largest."""
    assert_equal(largest([2.0, 9.0, 1.0]), 9.0)
'''


def test_a_line_of_a_hidden_check_changes_the_source_and_its_notebook_alone(course_folder, mini, edit):
    """Even one by which the check asks for another exercise, which no visible check does."""
    source = mini / "mini_homework.py"
    append(source, ANOTHER)
    build(course_folder)
    release(course_folder, mini.name)
    before = contents(course_folder)
    edit(source, "any_width(moving_average, draw)", "any_width(moving_average, largest, draw)")
    build(course_folder)
    after = contents(course_folder)
    assert {name for name in before | after if before.get(name) != after.get(name)} == {
        "solutions/mini_homework/mini_homework.py",
        NOTEBOOK,
    }


def contents(folder):
    """Name → content of every file that would be committed."""
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if path.suffix != ".db"}


def test_a_line_of_a_hidden_check_changes_one_row_of_the_table(mini, edit):
    edit(mini / "mini_homework.py", "for width in (1, 4, 11):", "for width in (3,):")
    before = (mini / "fails.tsv").read_text().splitlines()
    homework = load(mini)
    accept(homework, [prove(homework, exercise, compared=False) for exercise in homework.exercises])
    after = (mini / "fails.tsv").read_text().splitlines()
    assert [line for line in before if line not in after] == [
        "moving_average\twidth_is_always_three\taverages_are_right_for_any_width"
    ]
    assert [line for line in after if line not in before] == ["moving_average\twidth_is_always_three\t"]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        pytest.param("mini_homework.py", PROVIDED, PROVIDED + "  # twice", id="a provided cell"),
        pytest.param("mini_homework.py", "heron_starts", "egret_starts", id="the reference"),
        pytest.param("mini_homework.py", "values, 3)), 5)", "values, 3)), 2 + 3)", id="a visible check"),
        pytest.param("misconceptions.py", "/ len(values)", "/ (len(values))", id="a mistake"),
    ],
)
def test_mistakes_are_asked_again_when_what_their_fingerprints_rest_on_changes(
    course_folder, mini, asked, edit, file, old, new
):
    build(course_folder)
    asked.clear()
    edit(mini / file, old, new)
    told = []
    assert course_folder / PRINTS in build(course_folder, check=True, tell=told.append)
    assert told == ["mini_homework: the known mistakes of moving_average are run again."]
    assert set(asked) == {"there_is_one_average_per_window", "averages_are_right"}


def test_fingerprints_rest_on_the_checks_machinery_and_on_the_modules_that_are_imported(
    mini, edit, tmp_path, monkeypatch
):
    package = shutil.copytree(Path(course.__file__).parent, tmp_path / "package" / "course")
    monkeypatch.setattr("autograder.checking.versions.PACKAGE", package)

    before = digest(mini)
    append(package / "models" / "gpt.py", "# nobody here imports it")
    assert digest(mini) == before
    append(package / "checks" / "seal.py", "# a word")
    after = digest(mini)
    assert after != before
    edit(mini / "mini_homework.py", PROVIDED, PROVIDED + "\nfrom course.models.gpt import GPT")
    importing = digest(mini)
    append(package / "models" / "gpt.py", "# now somebody does")
    assert digest(mini) != importing


def digest(folder):
    return made_from(load(folder))["moving_average"]


def append(path, text):
    path.write_text(path.read_text() + text)
