"""The student's parts: used where their checks hold, also those of another homework's notebook."""

import json

import pytest
import torch

from course.checks import homework
from course.checks.progress import Score
from course.mine import answers_in, look, parts
from course.plots import shades

RIGHT = "def split_heads(x, n_heads):\n    return unflattened(x, n_heads).transpose(1, 2)"
HELPER = "def unflattened(x, n_heads):\n    return x.unflatten(-1, (n_heads, -1))"
CHECK = """
def three_heads(split_heads):
    "A claim."
    assert_equal(list(split_heads(torch.zeros(1, 2, 6), 3).shape), [1, 3, 2, 2])

check(three_heads, split_heads=split_heads)
"""


def cell(name, source, **settings):
    settings = {"grade": False, "locked": False, "solution": False, "grade_id": name, **settings}
    return {"cell_type": "code", "id": name, "metadata": {"nbgrader": settings}, "source": source}


@pytest.fixture
def notebook(tmp_path):
    def write(answer, helper=HELPER):
        cells = [
            cell("setup", "raise SystemError", locked=True),
            cell("imports", "import torch\nfrom course.checks import assert_equal", locked=True),
            cell("merge_heads", helper, solution=True),
            cell("split_heads", answer, solution=True),
            cell("split_heads-check", CHECK, grade=True, locked=True),
            cell("alive", "raise SystemError"),
        ]
        path = tmp_path / "some_homework.ipynb"
        path.write_text(json.dumps({"cells": cells}))
        return path

    return write


def test_right_answers_of_another_homework_are_found_and_checked_without_a_word(notebook, capsys):
    check, answers = answers_in(notebook(RIGHT), ["split_heads"])
    assert answers["split_heads"](torch.zeros(1, 2, 6), 3).shape == (1, 3, 2, 2)
    assert check.scores["split_heads"].is_done
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "answer",
    [RIGHT.replace("(1, 2)", "(0, 1)"), "def split_heads(", "def split_heads(x, n):\n    raise KeyError"],
)
def test_wrong_ones_are_not_done(notebook, answer):
    check, _ = answers_in(notebook(answer), ["split_heads"])
    assert not check.scores.get("split_heads", Score()).is_done


def test_without_the_notebook_there_are_no_answers_and_it_says_where_it_looked(tmp_path, capsys):
    path = tmp_path / "hw5_transformer.ipynb"
    check, answers = answers_in(path, ["split_heads"])
    assert (check.name, answers) == ("hw5_transformer", {})
    assert f"No homework was found at {path}" in capsys.readouterr().out


def test_an_answer_is_used_once_its_checks_hold(capsys):
    check, own = homework("hw5_transformer"), object()
    assert parts(check, split_heads=own).split_heads is not own
    check.scores["split_heads"] = Score(2, 3)
    assert parts(check, split_heads=own).split_heads is not own
    check.scores["split_heads"] = Score(3, 3)
    capsys.readouterr()
    assert parts(check, split_heads=own).split_heads is own
    assert capsys.readouterr().out == "Every part is yours: split_heads.\n"


def test_a_name_without_a_ready_made_part_is_said():
    with pytest.raises(KeyError, match="no ready-made part: no_such_part"):
        parts(homework("hw5_transformer"), no_such_part=None)


@pytest.mark.parametrize(
    ("error", "said"), [(NotImplementedError, "once it is written"), (KeyError, "KeyError")]
)
def test_a_picture_of_a_missing_answer_stops_nothing(error, said, capsys):
    def draw(plots):
        raise error

    assert look(draw) is None
    assert said in capsys.readouterr().out


def test_a_picture_of_an_answer_is_shown():
    picture = look(lambda plots: plots.shades(torch.eye(3).bool(), "position", "number"))
    assert picture.alt_text == shades(torch.eye(3), "position", "number").alt_text
    assert "position by number" in picture.alt_text
