import json
import math

import pytest
import torch

from course.checks import Outcome, Trace, replay
from course.checks.fingerprints import DIGITS, agree, differing, encode, known_answer, load, spread
from course.checks.seal import bears, seal
from course.checks.trace import Event, Object

MANY = torch.linspace(-3, 5, 1000, dtype=torch.float64)

VALUES = [
    None,
    True,
    3,
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
def test_an_outcome_is_recognised_after_a_journey_through_json(of):
    written = json.loads(json.dumps(encode(value(of)), allow_nan=False))
    assert known_answer(value(of), written)
    assert known_answer(value(of), {"sealed": seal(value(of))})


@pytest.mark.parametrize("of", VALUES, ids=range(len(VALUES)))
def test_no_other_outcome_is_taken_for_it(of):
    written = encode(value(of))
    for other in VALUES:
        if other is not of:
            assert not known_answer(value(other), written)
            assert not bears(value(other), seal(value(of)))


def test_a_small_change_anywhere_in_a_large_tensor_is_noticed():
    written, sealed = encode(value(MANY)), seal(value(MANY))
    for place in range(0, 1000, 37):
        other = MANY.clone()
        other[place] += 40
        assert not known_answer(value(other), written)
        assert not bears(value(other), sealed)


def test_rounding_and_precision_do_not_matter():
    near = MANY * (1 + 1e-9)
    for other in (near, MANY.float(), near.numpy()):
        assert known_answer(value(other), encode(value(MANY)))
        assert bears(value(other), seal(value(MANY)))


def test_a_difference_of_one_percent_breaks_the_seal():
    assert not bears(value(MANY * 1.01), seal(value(MANY)))
    assert not bears(value(0.5), seal(value(0.505)))


def test_what_rounding_leaves_of_a_whole_number_or_of_nothing_does_not_matter():
    assert bears(value([1e-17, 2.0000001]), seal(value([0.0, 2])))
    assert bears(value(torch.tensor([1e-12, 0.5])), seal(value(torch.tensor([0.0, 0.5]))))


def test_whole_numbers_are_sealed_to_the_last_digit():
    assert not bears(value([1000, 2000]), seal(value([1000, 2001])))
    assert bears(value(3.0), seal(value(3)))


def test_errors_are_known_by_their_class():
    error = Outcome("error", error="ValueError", message="one")
    assert encode(error) == {"error": "ValueError"}
    assert known_answer(Outcome("error", error="ValueError", message="two"), encode(error))
    assert not known_answer(Outcome("error", error="KeyError"), encode(error))
    assert not known_answer(Outcome("error", error="KeyError"), {"sealed": seal(error)})


def test_the_name_of_a_class_is_no_part_of_an_outcome():
    """A mistake of the catalogue is a class of its own name; a student's has the name of the exercise."""
    wrong, student = value(Object(0, "GatesExchanged")), value(Object(0, "LSTMCell"))
    assert bears(student, seal(wrong))
    assert known_answer(student, encode(wrong))
    assert not bears(value(Object(1, "LSTMCell")), seal(wrong))


def test_a_change_of_the_arguments_belongs_to_the_outcome():
    changed = value(1, changed=((torch.ones(2),), {}))
    assert not known_answer(value(1), encode(changed))
    assert known_answer(changed, encode(changed))
    assert not bears(value(1), seal(changed))


def test_at_most_64_entries_are_written_down_and_16_real_numbers_of_a_tensor():
    assert len(encode(value(MANY))["value"]["sample"]) == 16
    assert len(encode(value(torch.arange(500)))["value"]["sample"]) == 64
    assert len(encode(value(torch.full((500,), math.nan)))["value"]["sample"]) == 64
    assert len(encode(value(list(range(500))))["value"]["sample"]) == 64
    assert spread(1000)[0] == 0
    assert spread(1000)[-1] == 999


@pytest.mark.parametrize("n", [17, 64, 1000])
def test_a_real_number_that_is_not_written_down_counts_all_the_same(n):
    numbers = torch.linspace(-3, 5, n, dtype=torch.float64)
    known = encode(value(numbers))
    assert known_answer(value(numbers * (1 + 1e-9)), known)
    for place in set(range(n)) - set(spread(n, 16)):
        others = numbers.clone()
        others[place] += 0.01
        assert not known_answer(value(others), known)
        others[place] = math.nan
        assert not known_answer(value(others), known)


def numbers_in(written) -> set:
    if isinstance(written, dict | list):
        return set().union(
            *map(numbers_in, written.values() if isinstance(written, dict) else written), set()
        )
    return {written} if isinstance(written, float) else set()


def test_no_right_answer_can_be_read_in_a_fingerprint(toy):
    """The second call is answered rightly: of it there is a seal and nothing else."""
    scores = MANY.reshape(10, 10, 10)[:2, :5, :3]
    right = Event("f", "", (scores,), {}, value(scores.softmax(-1)))
    wrong = Event("f", "", (scores,), {}, value(scores.softmax(-2)))
    [first, second] = differing(Trace("c", [wrong, right]), Trace("c", [right, right]))
    assert (first[0], second[0]) == (0, 1)
    assert list(second[1]) == ["sealed"]
    secret = {float(f"{number:.{DIGITS}g}") for number in scores.softmax(-1).flatten().tolist()}
    assert not numbers_in([first, second]) & secret
    assert not numbers_in(toy.fingerprints) & numbers_in(encode(right.outcome))


def test_a_mistake_that_a_check_does_not_show_has_no_fingerprint_there(toy):
    checks = toy.fingerprints["checks"]
    assert (
        "changes_the_scores" not in checks["the_scores_are_left_alone"]["answers"]
        or (checks["the_scores_are_left_alone"]["answers"]["changes_the_scores"])
    )
    trace = Trace("c", [Event("f", "", (), {}, value(1.0))])
    assert differing(trace, trace) == []


def test_the_same_fingerprints_are_built_twice(toy):
    again = replay(Trace("c"), {})
    assert again.events == []
    assert agree(json.loads(json.dumps(toy.fingerprints)), toy.fingerprints)


def test_fingerprints_beside_the_notebook_come_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load("hw_nobody_wrote") == {"homework": "hw_nobody_wrote", "exercises": {}, "checks": {}}
    mine = {"homework": "hw_nobody_wrote", "exercises": {"f": {}}, "checks": {}}
    (tmp_path / "hw_nobody_wrote.json").write_text(json.dumps(mine), encoding="utf-8")
    assert load("hw_nobody_wrote") == mine
