"""For an appeal, every call of an exercise's checks is listed with the student's answer and the right one."""

from dataclasses import replace

import pytest
from grading import NAME, RIGHT, catalogue, new_course, solved, submit

from autograder.cli import main
from autograder.grading import preview
from autograder.grading import told as telling
from autograder.grading.compared import MOST_CALLS
from autograder.grading.preview import NothingToCompare, graded_alone

pytestmark = pytest.mark.usefixtures("one_warm_process")
WRONG = catalogue("misconceptions")["width_is_always_three"]
HIDDEN = "Averages are right for windows of any width."
KEEPS_COUNT = """
seen = []
def moving_average(values, width):
    seen.append(width)
    values.sort()
    return [sum(values[i : i + width]) / width for i in range(len(values) - width + 1)]
"""
STOPS_ON_ONE = RIGHT.replace("    heron", "    if width == 1: raise ValueError('a\\nwindow')\n    heron")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return new_course(tmp_path_factory.mktemp("compared") / "course")


def claims(course, answer, seed=7):
    """Claim → what was compared."""
    path = submit(course, "ada", solved(course, answer))
    alone = graded_alone(path, NAME, course, seed=seed, exercise="moving_average")
    assert alone.graded.record.points == sum(
        points for claim, points in zip(alone.compared, (1, 1, 2), strict=True) if claim.holds
    )
    return {claim.claim: claim for claim in alone.compared}


def test_each_call_has_the_students_answer_beside_the_right_one(course):
    found = claims(course, WRONG)
    by_hand = found["[2, 4, 9, 1] averages to [5, 14/3] in windows of three."]
    [call] = by_hand.calls
    assert call.typed == "moving_average([2, 4, 9, 1], 3)"
    assert (call.theirs, call.right) == ("[5, 4.66667]", "[5, 4.66667]")
    hidden = found[HIDDEN]
    assert hidden.is_hidden
    assert not hidden.holds
    assert [call.is_same for call in hidden.calls] == [False]  # the claim stops at the first difference
    assert hidden.calls[0].typed.endswith(", 1)")
    assert hidden.calls[0].theirs != hidden.calls[0].right


def test_the_inputs_are_those_of_the_grading(course):
    one, same, other = (claims(course, WRONG, seed)[HIDDEN].calls[0].typed for seed in (1, 1, 2))
    assert one == same != other


def test_a_right_answer_is_the_same_everywhere(course):
    found = claims(course, RIGHT)
    assert all(claim.holds and claim.holds_in_notebook for claim in found.values())
    assert all(call.is_same for claim in found.values() for call in claim.calls)
    assert len(found[HIDDEN].calls) == 3


def test_an_error_and_changed_arguments_are_said(course):
    [call] = claims(course, STOPS_ON_ONE)[HIDDEN].calls
    assert call.theirs == "ValueError: a, window"
    assert any(
        "its arguments were changed" in one.theirs for one in claims(course, KEEPS_COUNT)[HIDDEN].calls
    )


def test_what_holds_at_home_and_not_here_is_said(course):
    """An answer that knows the notebook's inputs holds there alone."""
    at_home = (
        "def moving_average(values, width):\n    return [0.0] * (5 if abs(values[0] - FIRST) < 1e-9 else 4)"
    )
    drawn = claims(course, at_home.replace("FIRST", "1e9"))
    claim = "Seven values hold five windows of width three."
    assert (drawn[claim].holds, drawn[claim].holds_in_notebook) == (False, False)
    first = as_drawn_in_the_notebook(course)
    found = claims(course, at_home.replace("FIRST", repr(first)))[claim]
    assert (found.holds, found.holds_in_notebook) == (False, True)


def as_drawn_in_the_notebook(course):
    """The first number that the notebook's visible check draws."""
    from autograder.checking.examine import run_checks
    from autograder.source.homework import references
    from autograder.source.loading import load
    from course.checks import LocalLink

    homework = load(course / "solutions" / NAME)
    [done] = run_checks(homework, LocalLink(references(homework)), only={"there_is_one_average_per_window"})
    return done.trace.events[0].args[0][0]


def test_the_word_prints_them_and_writes_nothing(course, capsys):
    path = submit(course, "bo", solved(course, WRONG))
    before = sorted(course.rglob("*"))
    assert main(["try", str(path), "--root", str(course), "--calls", "moving_average"]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index(
        f"{HIDDEN} (hidden; as graded: does not hold; with the notebook's own inputs: does not hold)"
    )
    assert lines[at + 1].startswith("  ≠ moving_average([")
    assert lines[at + 2].startswith("      theirs: [")
    assert lines[at + 3].startswith("      right:  [")
    assert sorted(course.rglob("*")) == before
    read = lines.index("What the student would read of moving_average:")
    assert read > at, "the calls come first, because a terminal shows its end"
    assert any(line.startswith("  ✗ ") for line in lines[read:])
    assert lines[-1].startswith("Made by: ")


def test_calls_are_listed_of_claims_that_do_not_hold_and_of_all_if_all_hold():
    from autograder.grading.compared import Call, Compared, in_words

    def shown(**holds):
        claims = [
            Compared(name, False, here, (Call(f"f_{name}()", "1", "1", True),), home)
            for name, (here, home) in holds.items()
        ]
        lines = [*in_words(claims)]
        assert [name for name in holds if any(line.startswith(f"{name} (") for line in lines)] == [*holds]
        return [name for name in holds if any(f"f_{name}()" in line for line in lines)]

    assert shown(a=(True, True), b=(False, True), c=(True, False), d=(False, False)) == ["b", "c", "d"]
    assert shown(a=(True, True), b=(True, True)) == ["a", "b"]


def test_only_the_exercise_that_is_asked_about_is_shown(course, capsys, monkeypatch):
    """A verdict on every exercise would scroll the calls away."""
    judged = preview.graded_alone

    def with_another(*args):
        alone = judged(*args)
        record = alone.graded.record
        [one] = [found for found in record.exercises if found.name == "moving_average"]
        others = (one, replace(one, name="another", points=99.0))
        graded = replace(alone.graded, record=replace(record, exercises=others))
        return replace(alone, graded=graded)

    monkeypatch.setattr(preview, "graded_alone", with_another)
    told = []
    as_told = telling.as_told

    def remembered(record, homework):
        told.append([one.name for one in record.exercises])
        return as_told(record, homework)

    monkeypatch.setattr(telling, "as_told", remembered)
    path = submit(course, "di", solved(course, WRONG))
    assert main(["try", str(path), "--root", str(course), "--calls", "moving_average"]) == 0
    assert main(["try", str(path), "--root", str(course)]) == 0
    assert told == [["moving_average"], ["moving_average", "another"]]
    assert "of 4 points" in capsys.readouterr().out


def test_only_some_of_many_calls_are_shown_those_that_differ_first():
    from autograder.grading.compared import Call, Compared, in_words

    calls = tuple(Call(f"f({n})", str(n), "9", n == 9) for n in (9, 9, 9, 9, 1, 2))
    lines = [*in_words([Compared("It counts.", False, False, calls, True)])]
    assert [line for line in lines if "f(" in line][:2] == ["  ≠ f(1)", "  ≠ f(2)"]
    assert sum("f(" in line for line in lines) == MOST_CALLS
    assert lines[-1] == "    and 2 more of 6 calls"


def test_an_exercise_that_is_not_there_is_refused_with_those_that_are(course):
    path = submit(course, "cy", solved(course))
    with pytest.raises(NothingToCompare, match="has no exercise mean; it has: moving_average"):
        graded_alone(path, NAME, course, exercise="mean")


def test_objects_and_what_is_asked_of_them_have_readable_names():
    from autograder.grading.compared import _calls
    from course.checks import Trace
    from course.checks.request import GRADIENTS
    from course.checks.trace import Event, Object, Outcome

    made = Outcome("value", Object(0, "Cell"))
    events = [
        Event("Cell", "", (3,), {}, made),
        Event(Object(0, "Cell"), GRADIENTS, (), {}, Outcome("value", {})),
    ]
    said = [*_calls(Trace("claim", events), {"Cell": lambda n: object()})]
    assert [call.typed for call in said] == ["Cell(3)", "Cell#1.gradients()"]
    assert said[0].theirs == "Cell#1"
    [call] = _calls(Trace("claim", [Event("f", "", ("x",), {"at": "y"}, made)]), {"f": lambda x, at: x})
    assert call.typed == "f('x', at='y')"  # as it can be typed
