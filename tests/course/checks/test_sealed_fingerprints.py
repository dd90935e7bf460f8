import json
import math

import pytest
import torch

from course.checks import Outcome, Trace
from course.checks.diagnosis import answers_as
from course.checks.fingerprints import Sealed, differing, fits, known, load, sealed, written
from course.checks.seal import bears, seal
from course.checks.trace import Event, Object

MANY = torch.linspace(-3, 5, 1000, dtype=torch.float64)

VALUES = [
    None,
    True,
    3,
    10**400,
    [0.5, -(10**400)],
    0.1,
    2 + 3j,
    "a word",
    "a long text " * 20,
    b"bytes",
    [1, [2.5, "x"]],
    {("a", "b"): 1, "c": [2.0]},
    {1, 2, 3},
    torch.arange(6).reshape(2, 3),
    torch.tensor([1.0, math.nan, -math.inf]),
    torch.tensor(2.5, dtype=torch.float64),
    torch.tensor([True, False]),
    torch.tensor([1 + 2j]),
    MANY.reshape(10, 100),
    list(range(500)),
    {i: i / 7 for i in range(200)},
    Object(2, "RNNCell"),
]


def value(of, changed=None):
    return Outcome("value", of, changed=changed)


@pytest.mark.parametrize("of", VALUES, ids=range(len(VALUES)))
def test_an_outcome_bears_its_own_seal_and_no_other_one_does(of):
    assert bears(value(of), seal(value(of)))
    for other in VALUES:
        if other is not of:
            assert not bears(value(other), seal(value(of)))


def test_a_small_change_anywhere_in_a_large_tensor_is_noticed():
    sealed = seal(value(MANY))
    for place in range(0, 1000, 37):
        other = MANY.clone()
        other[place] += 40
        assert not bears(value(other), sealed)


def test_rounding_and_precision_do_not_matter():
    near = MANY * (1 + 1e-9)
    for other in (near, MANY.float(), near.numpy()):
        assert bears(value(other), seal(value(MANY)))


def test_a_difference_of_one_in_a_thousand_breaks_the_seal():
    assert not bears(value(MANY * 1.001), seal(value(MANY)))
    assert not bears(value(0.5), seal(value(0.5005)))


def test_what_rounding_leaves_of_a_whole_number_or_of_nothing_does_not_matter():
    assert bears(value([1e-17, 2.0000001]), seal(value([0.0, 2])))
    assert bears(value(torch.tensor([1e-12, 0.5])), seal(value(torch.tensor([0.0, 0.5]))))


def test_numbers_too_large_to_be_exact_are_sealed_as_rounded():
    assert bears(value(32.0**30), seal(value(32.0**30 * (1 + 1e-13))))
    assert not bears(value(32.0**30), seal(value(32.0**30 * 1.001)))


def test_whole_numbers_are_sealed_to_the_last_digit():
    assert not bears(value([1000, 2000]), seal(value([1000, 2001])))
    assert bears(value(3.0), seal(value(3)))


def raised(message, error="RuntimeError"):
    return Outcome("error", error=error, message=message)


def test_errors_are_known_by_what_they_say():
    shapes = "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"
    assert bears(raised(shapes), seal(raised(shapes)))
    assert not bears(raised(shapes, "ValueError"), seal(raised(shapes)))
    assert not bears(raised(shapes.replace("2x3", "3x2")), seal(raised(shapes)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("'LayersInAList' object has no attribute 'W'", "'RNN' object has no attribute 'W'"),
        ("forward() takes 2 positional arguments", "Mine.forward() takes 2 positional arguments"),
        (
            "Error(s) in loading state_dict for Wrong:\n\tMissing key(s)",
            "Error(s) in loading state_dict for RNN:\n\tMissing key(s)",
        ),
        ("name 'x' is not defined. Did you mean: 'y'?", "name 'hidden' is not defined"),
        ("expected 0.30000000000000004 or less", "expected 0.3 or less"),
    ],
)
def test_names_that_an_author_chooses_are_no_part_of_an_error(one, other):
    assert bears(raised(one), seal(raised(other)))


def test_an_error_that_is_right_is_known_by_its_class_alone():
    sealed = seal(raised("one", "ValueError"), is_right=True)
    assert bears(raised("two", "ValueError"), sealed, is_right=True)
    assert not bears(raised("one", "KeyError"), sealed, is_right=True)


def test_the_name_of_a_class_is_no_part_of_an_outcome():
    """A mistake of the catalogue is a class of its own name; a student's has the name of the exercise."""
    wrong, student = value(Object(0, "GatesExchanged")), value(Object(0, "LSTMCell"))
    assert bears(student, seal(wrong))
    assert not bears(value(Object(1, "LSTMCell")), seal(wrong))


def test_a_change_of_the_arguments_belongs_to_the_outcome():
    changed = value(1, changed=((torch.ones(2),), {}))
    assert bears(changed, seal(changed))
    assert not bears(value(1), seal(changed))


def event(outcome):
    return Event("f", "", (), {}, outcome)


def test_of_each_answer_there_is_a_seal_and_whether_it_is_right():
    right, wrong = value(MANY.softmax(0)), value(MANY)
    found = differing(Trace("c", [event(wrong), event(right)]), Trace("c", [event(right), event(right)]))
    assert found == [Sealed(seal(wrong), is_right=False), Sealed(seal(right), is_right=True)]


def test_an_answer_by_chance_is_like_any_other_and_does_not_hide_those_that_differ():
    chance, again = (Event("new", "", (), {}, value(x), by_chance=True) for x in (1.0, 2.0))
    mistake = [sealed(chance, is_right=False), sealed(event(value(3.0)), is_right=False)]
    assert fits(Trace("c", [again, event(value(3.0))]), mistake, has_failed=True)
    assert not fits(Trace("c", [again, event(value(4.0))]), mistake, has_failed=True)
    one, other = Trace("c", [chance]), Trace("c", [event(value(2.0))])
    assert answers_as([one], [other], [other])


@pytest.mark.parametrize("right", [[], ["a"], ["a", "b", "c"], ["x", "y", "z"]])
def test_a_fingerprint_is_the_same_after_a_journey_through_json(right):
    fingerprint = [Sealed("a", True), Sealed("b", False), Sealed("c", True)]
    check = {"right": right, "answers": {"mistake": written(fingerprint, right)}}
    assert known(json.loads(json.dumps(check))) == {"mistake": fingerprint}


def test_the_seal_of_a_right_answer_is_written_once_for_all_mistakes():
    fingerprint = [Sealed("a", True), Sealed("b", False), Sealed("c", True)]
    assert written(fingerprint, ["a", "y", "z"]) == ["=", "b", "=c"]


def test_a_mistake_that_a_check_does_not_show_has_no_fingerprint_there(toy):
    checks = toy.fingerprints["checks"]
    assert (
        "changes_the_scores" not in checks["the_scores_are_left_alone"]["answers"]
        or (checks["the_scores_are_left_alone"]["answers"]["changes_the_scores"])
    )
    trace = Trace("c", [Event("f", "", (), {}, value(1.0))])
    assert differing(trace, trace) == []


def test_fingerprints_beside_the_notebook_come_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load("hw_nobody_wrote") == {"homework": "hw_nobody_wrote", "exercises": {}, "checks": {}}
    mine = {"homework": "hw_nobody_wrote", "exercises": {"f": {}}, "checks": {}}
    (tmp_path / "hw_nobody_wrote.json").write_text(json.dumps(mine), encoding="utf-8")
    assert load("hw_nobody_wrote") == mine


@pytest.mark.parametrize("made_in", [torch.float16, torch.float32, torch.float64])
def test_a_mistake_on_half_precision_is_known_in_whatever_precision_it_was_made(made_in):
    """The answers differ in the third digit; another wrong answer stays another one."""
    x = torch.linspace(0.1, 0.9, 12)

    def turned(numbers, by):
        return (numbers.to(made_in) * torch.tensor(by).cos().to(made_in)).sqrt()

    def asked(answer):
        return Trace("c", [Event("f", "", (x.half(),), {}, value(answer))])

    wrong = [sealed(asked((x.double() * math.cos(0.7)).sqrt()).events[0], is_right=False)]
    assert fits(asked(turned(x.half(), 0.7)), wrong, has_failed=True)
    assert not fits(asked(turned(x.half(), 0.9)), wrong, has_failed=True)
