"""An exercise can be checked after a restart: with the set-up, what is provided, and the answers it needs."""

import pytest

from autograder.checking.examine import substituted
from autograder.checking.versions import called_on
from autograder.making.products import build_homework
from autograder.source.address import Address
from autograder.source.homework import check_cell
from autograder.source.loading import find, names
from autograder.source.notebook import ALIVE
from autograder.source.sample_submissions import reference_answers, released


@pytest.mark.parametrize("name", names())
def test_each_check_cell_runs_alone_after_a_restart(name, capsys):
    homework = find(name)
    cells = {
        cell["id"]: cell["source"] for cell in released(build_homework(homework, Address("", "")))["cells"]
    }
    answers, needed = reference_answers(homework), called_on(homework, visible_checks(homework))
    scope = {}
    for cell in ("setup", *provided(homework, cells)):
        exec(cells[cell], scope)
    for exercise in homework.exercises:
        if exercise.trained:  # takes minutes, and asks no more of what is provided than the others
            continue
        with substituted(scope, {}):
            for answer in needed[exercise.name]:
                exec(answers[answer], scope)
            exec(cells[check_cell(exercise.name, hidden=False)], scope)
        done = scope["check"].scores[exercise.name]
        assert done.is_done, f"{exercise.name}: {capsys.readouterr().out}"


@pytest.mark.parametrize("name", names())
def test_a_release_in_which_nothing_is_written_runs_to_its_end(name, capsys):
    """Whoever begins in the middle runs all cells; living ends, which train, have tests of their own."""
    scope, cells = {}, released(build_homework(find(name), Address("", "")))["cells"]
    for cell in (cell for cell in cells if cell["cell_type"] == "code" and ALIVE not in cell["metadata"]):
        exec(cell["source"], scope)
    assert "is not written yet" in capsys.readouterr().out


def provided(homework, cells):
    """The cells that are there for everybody, in the notebook's order, without the one at its end."""
    known = {str(cell.labels["provided"]) for cell in homework.cells if "provided" in cell.labels}
    return [cell for cell in cells if cell in known or cell == "helpers_of_the_checks"]


def visible_checks(homework):
    """Exercise → the code of the checks in its cell."""
    return {
        exercise.name: [check.source for check in exercise.checks if not check.hidden]
        for exercise in homework.exercises
    }
