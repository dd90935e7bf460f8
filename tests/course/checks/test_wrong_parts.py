"""Where an exercise calls an earlier part that is wrong, it says so, and says to fix that first."""

import pytest
import torch

from course.checks import assert_equal, homework
from course.checks.parts import called

FIRST = "It calls your `doubled`, which fails the checks of its own exercise; fix that first."


def it_doubles(doubled):
    """Every number is doubled."""
    assert_equal(doubled([1, 2]), [2, 4])


def it_quadruples(quadrupled):
    """Every number is multiplied by four."""
    assert_equal(quadrupled([1, 2]), [4, 8])


SESSION = """
def doubled(numbers):
    return [n + 1 for n in numbers]

def helper(numbers):
    return doubled(numbers)

def quadrupled(numbers):
    return helper(helper(numbers))

class Quadrupled:
    def run(self, numbers):
        return [doubled([n])[0] for n in numbers]

def alone(numbers):
    return [3 * n for n in numbers]

class Namesake:
    def run(self, numbers):
        return self.doubled(torch.doubled(numbers))
"""


@pytest.fixture
def session():
    names = {"__name__": "__main__", "torch": torch}
    exec(SESSION, names)
    return names


@pytest.fixture
def check():
    exercises = {name: {"hints": ["Twice two is four."]} for name in ("doubled", "quadrupled")}
    checks = {"it_doubles": {"exercise": "doubled"}, "it_quadruples": {"exercise": "quadrupled"}}
    return homework("toy", fingerprints={"homework": "toy", "exercises": exercises, "checks": checks})


def test_a_part_is_found_in_a_function_a_helper_and_a_method(session):
    for name in ("quadrupled", "Quadrupled"):
        assert called(session[name], {"doubled", "alone"}) == {"doubled": session["doubled"]}
    assert called(session["doubled"], {"doubled"}) == {}


def test_what_has_the_name_of_a_part_behind_a_dot_is_not_that_part(session):
    assert called(session["Namesake"], {"doubled"}) == {}


def test_a_wrong_part_is_to_be_mended_first_and_no_hint_leads_elsewhere(check, session, capsys):
    check(it_doubles, doubled=session["doubled"])
    capsys.readouterr()
    check(it_quadruples, quadrupled=session["quadrupled"])
    told = capsys.readouterr().out
    assert FIRST in told
    assert "Hint" not in told


@pytest.mark.parametrize("mended", ["called again", "not called"])
def test_nothing_is_said_of_a_part_that_was_mended_or_is_not_called(check, session, capsys, mended):
    check(it_doubles, doubled=session["doubled"])
    if mended == "called again":
        exec("def doubled(numbers): return [2 * n + (n > 1) for n in numbers]", session)
    else:
        session["quadrupled"] = session["alone"]
    capsys.readouterr()
    check(it_quadruples, quadrupled=session["quadrupled"])
    told = capsys.readouterr().out
    assert "fix that first" not in told
    assert "Hint 1 of 1" in told


def test_nothing_is_said_before_the_part_was_checked_or_where_all_holds(check, session, capsys):
    check(it_quadruples, quadrupled=session["quadrupled"])
    assert "fix that first" not in capsys.readouterr().out
    check(it_doubles, doubled=session["doubled"])
    capsys.readouterr()
    session["quadrupled"].__code__ = (lambda numbers: [4 * n for n in numbers if doubled]).__code__  # noqa: F821
    assert check(it_quadruples, quadrupled=session["quadrupled"]) is None
    assert "fix that first" not in capsys.readouterr().out
