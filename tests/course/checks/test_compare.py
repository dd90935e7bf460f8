import math
import re

import numpy as np
import pytest
import torch

from course.checks import (
    Mismatch,
    StudentError,
    assert_close,
    assert_depends,
    assert_equal,
    assert_raises,
    assert_true,
    same,
)
from course.checks.trace import Object, Outcome


def test_numbers_of_every_kind_compare_by_value():
    assert_close(3, 3.0)
    assert_close(torch.tensor(3.0), 3.0)
    assert_close(np.float64(3.0), torch.tensor(3.0, dtype=torch.float64))


def test_a_truth_value_is_not_a_number():
    with pytest.raises(Mismatch, match="a truth value where a number is expected"):
        assert_close(True, 1.0)


def test_two_answers_of_a_function_that_returns_nothing_are_not_close():
    with pytest.raises(Mismatch, match="the result is None"):
        assert_close(None, None)


def test_another_order_of_summation_is_no_mistake():
    terms = torch.rand(1000, dtype=torch.float32, generator=torch.Generator().manual_seed(0))
    assert_close(terms.sum(), terms.double().sum())
    assert_close(float(terms.flip(0).sum()), float(terms.double().sum()))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_difference_of_one_in_a_thousand_is_a_mistake(dtype):
    right = torch.linspace(0.1, 2, 7, dtype=dtype)
    with pytest.raises(Mismatch):
        assert_close(right * 1.001, right)


def test_a_stated_tolerance_replaces_that_of_the_dtype():
    assert_close(0.51, 0.5, tolerance=0.02)
    with pytest.raises(Mismatch):
        assert_close(0.5 + 1e-9, 0.5, tolerance=1e-12)


def test_nan_equals_nan_and_nothing_else():
    assert_close(torch.tensor([math.nan, 1.0]), torch.tensor([math.nan, 1.0]))
    with pytest.raises(Mismatch):
        assert_close(math.nan, 0.0)
    with pytest.raises(Mismatch):
        assert_close(0.0, math.nan)


def test_an_infinity_equals_only_itself():
    assert_close(-math.inf, -math.inf)
    with pytest.raises(Mismatch):
        assert_close(math.inf, -math.inf)


def test_containers_are_compared_to_the_last_entry():
    right = {"a": [1.0, (2.0, torch.ones(2))], ("b", "c"): 0.25}
    assert_close({"a": [1.0, (2.0, torch.ones(2))], ("b", "c"): 0.25}, right)
    with pytest.raises(Mismatch, match="'a'"):
        assert_close({"a": [1.0, (2.0, torch.zeros(2))], ("b", "c"): 0.25}, right)


def test_a_tuple_is_not_taken_for_a_list_but_its_entries_are_said_to_be_right():
    with pytest.raises(Mismatch, match="a tuple where a list is expected; its entries are right"):
        assert_equal((1, 2), [1, 2])


def test_equal_means_to_the_last_digit():
    assert_equal([1, 2, 3], [1, 2, 3])
    with pytest.raises(Mismatch):
        assert_equal(0.1 + 0.2, 0.3)


def test_shapes_that_would_broadcast_are_not_equal():
    with pytest.raises(Mismatch, match="shape"):
        assert_close(torch.ones(3, 1), torch.ones(3))


def test_whole_numbers_are_not_taken_for_real_ones():
    with pytest.raises(Mismatch, match="whole numbers where real numbers are expected"):
        assert_close(torch.ones(3, dtype=torch.int64), torch.ones(3))


def test_the_mismatch_carries_what_was_compared():
    with pytest.raises(Mismatch) as caught:
        assert_close(1.0, 2.0, what="perplexity")
    assert (caught.value.received, caught.value.expected) == (1.0, 2.0)
    assert str(caught.value).startswith("perplexity: ")


def test_a_statement_that_does_not_hold_says_its_message():
    assert_true(torch.tensor(True), "unused")
    with pytest.raises(Mismatch, match="no word is lost"):
        assert_true(torch.tensor([1]).sum() > 5, "no word is lost")


@pytest.mark.parametrize(
    ("answer", "elsewhere"),
    [
        (0.5, 0.5 + 1e-7),
        (3, torch.tensor(3.0)),
        (torch.tensor([True, False]), torch.tensor([True, False])),
        (torch.ones(2, 3), torch.ones(2, 3, dtype=torch.float64)),
        ([1, "a", (0.5, None)], [1, "a", (0.5, None)]),
        ({"a": torch.zeros(2), "b": 1.0}, {"a": torch.zeros(2), "b": 1.0}),
        (torch.tensor([math.nan, 1.0]), torch.tensor([math.nan, 1.0])),
        (torch.tensor([0.5, 1.0]), torch.tensor([math.nan, 1.0])),
    ],
)
def test_an_answer_that_stays_the_same_for_another_input_is_no_answer(answer, elsewhere):
    with pytest.raises(Mismatch, match="the answer is the same for a very different input") as caught:
        assert_depends(answer, elsewhere)
    assert caught.value.received is answer


@pytest.mark.parametrize(
    ("answer", "elsewhere"),
    [
        (0.5, 0.51),
        (1e6, 1e6 + 1e-3),
        (3, 4),
        (True, False),
        (torch.tensor([True, False]), torch.tensor([True, True])),
        (torch.tensor([1j, 1.0]), torch.tensor([1j, 2.0])),
        (torch.tensor([0.0, -math.inf]), torch.tensor([0.0, 3.0])),
        (torch.ones(2, 3), torch.ones(3, 2)),
        (torch.zeros(2, 3), torch.tensor([[0.0, 0, 0], [0, 0, 1e-5]])),
        ([1, "a"], [1, "b"]),
        ([1, 2], [1, 2, 3]),
        ({"a": torch.zeros(2)}, {"a": torch.ones(2)}),
        ({"a": 1.0}, {"b": 1.0}),
    ],
)
def test_an_answer_that_moves_in_one_place_depends_on_the_input(answer, elsewhere):
    assert_depends(answer, elsewhere)


def test_a_function_that_returns_nothing_is_told_so_where_its_answer_should_depend_on_the_input():
    with pytest.raises(Mismatch, match="the result is None"):
        assert_depends(None, None)


def test_what_should_have_moved_has_its_name():
    with pytest.raises(Mismatch, match="the loss is the same"):
        assert_depends(0.5, 0.5, what="the loss")


def raising(error):
    def function(*_):
        raise error

    return function


def test_the_expected_error_is_recognised_by_its_class_and_its_parents():
    assert_raises(ValueError, raising(ValueError()))
    assert_raises(ValueError, raising(StudentError("ValueError")))
    assert_raises(LookupError, raising(StudentError("KeyError")))
    assert_raises(
        ValueError, raising(StudentError("OwnError", bases=("OwnError", "ValueError", "Exception")))
    )


def test_no_error_and_another_error_are_both_mismatches():
    with pytest.raises(Mismatch, match="no error where ValueError is expected"):
        assert_raises(ValueError, lambda: 3)
    with pytest.raises(Mismatch, match="KeyError"):
        assert_raises(ValueError, raising(StudentError("KeyError")))


def test_outcomes_are_the_same_only_in_kind_and_value():
    value, error = Outcome("value", torch.ones(2)), Outcome("error", error="ValueError", message="a")
    assert same(value, Outcome("value", np.ones(2)))
    assert same(error, Outcome("error", error="ValueError", message="b"))
    assert not same(value, error)
    assert not same(value, Outcome("value", torch.ones(2), changed=((torch.ones(1),), {})))


def test_outcomes_that_differ_a_little_are_not_the_same():
    assert not same([1, 2], [1, 3])
    assert not same({"a": 1}, {"b": 1})
    assert not same("a", b"a")
    assert not same(None, 0)
    assert not same(1, True)
    assert not same(Object(0), Object(1))
    assert same({1, 2}, frozenset({2, 1}))
    assert same([1, 2.0], (1, 2))


def test_what_is_not_exactly_equal_is_shown_with_the_digits_that_it_takes():
    received, expected = torch.ones(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    expected[1] += 1e-8
    with pytest.raises(Mismatch, match=re.escape("the first, at [1], is 1 where 1.00000001 is expected")):
        assert_equal(received, expected)
    with pytest.raises(Mismatch, match=re.escape("0.99999999 where 1 is expected")):
        assert_equal({"share": 0.99999999}, {"share": 1.0})
