import math

import pytest
import torch

from course.checks import describe_difference


def numbers(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


X = numbers(3, 5)
P = numbers(4, 3, 5).softmax(-1)
LOG2 = math.log(2)

RELATIONS = [
    (X.T, X, "transposed, it has the expected values"),
    (P.permute(1, 0, 2), P, "with axes 0 and 1 exchanged, it has the expected values"),
    (P.permute(2, 0, 1), P, "in the order (1, 2, 0), it has the expected values"),
    (numbers(3, 3).T, numbers(3, 3), "transposed, the values are right"),
    (X[:, None], X, "1 axis of size 1 too many; the values are right"),
    (P.sum(1), P, "it is the sum of the expected values over axis 1"),
    (P, P.mean(0), "its mean over axis 0 would be right"),
    (X[:, :-1], X, "one too few along axis 1: the last is missing"),
    (X[1:], X, "one too few along axis 0: the first is missing"),
    (X.reshape(5, 3), X, "it has the expected shape, but not the values"),
    (X.reshape(15), X, "the same number of values, in the expected order"),
    (-X, X, "every value is the negative of the expected one"),
    (X * LOG2, X, "ln 2 times the expected one: nats where bits are expected"),
    (X / LOG2, X, "1/ln 2 times the expected one: bits where nats are expected"),
    (-X * LOG2, X, "minus ln 2 times the expected one"),
    (X.float() * LOG2, X, "nats where bits are expected"),
    (2 * X, X, "twice the expected one"),
    (X / 2, X, "half of the expected one"),
    (X * 0.3, X, "every value is 0.3 times the expected one"),
    (X + 0.5, X, "every value is 0.5 too large"),
    (X.roll(1, 1), X, "shifted by one along axis 1: each value is expected one place earlier"),
    (X.roll(-1, 0), X, "shifted by one along axis 0: each value is expected one place later"),
    (X.flip(1), X, "in reverse order along axis 1"),
    (X.flatten()[torch.tensor([3, 0, 1, 2, 5, 4, *range(6, 15)])], X.flatten(), "in a different order"),
    (X.exp(), X, "the exponential of the expected one"),
    (P.log(), P, "the logarithm of the expected one"),
    (P.log2(), P, "the logarithm to base 2 of the expected one"),
    (1 - P, P, "one minus the expected one"),
    (P.log().softmax(1), P, "sum to one along axis 1, where they should along axis 2"),
    (P.log().log_softmax(1), P.log(), "exponentials of the values sum to one along axis 1"),
    (X - X.logsumexp(1, keepdim=True), X, "all values are off by a constant, a different one for each line"),
    (X * numbers(3, 1, seed=2), X, "are off by a constant factor, a different one for each line"),
    (~(X > 0), X > 0, "every truth value is inverted"),
    (2**3.1, math.exp(3.1), "raised to the power ln 2, as when 2 is raised to nats"),
    (math.exp(3.1), 2**3.1, "raised to the power 1/ln 2, as when e is raised to bits"),
    (1 / 7.3127, 7.3127, "the reciprocal of the expected one"),
    (7.3 * LOG2, 7.3, "nats where bits are expected"),
    (-7.3, 7.3, "the negative of the expected one"),
    (8, 7, "one too large"),
    (6, 7, "one too small"),
    (7.5, 7.3, "7.5 where 7.3 is expected"),
    (None, 7.3, "the result is None; is a `return` missing?"),
    ([1.0], 7.3, "a list where a number is expected"),
    (3.0, X, "a number where a tensor of shape (3, 5) is expected"),
    ([1, 2, 3], [1, 2, 3, 4], "3 entries where 4 are expected: the last entry, 4, is missing"),
    (["<s>", "a", "b"], ["a", "b"], "the first entry, '<s>', is superfluous"),
    ([*"bcdef"], [*"abcde"], "each entry is expected one place later"),
    (["c", "b", "a"], ["a", "b", "c"], "in reverse order"),
    ((0.1, 2), (2, 0.1), "it is in reverse order"),
    ([b"a", b"n"], [b"n", b"n"], "1 of 2 entries differ; the first, at 0: b'a' where b'n' is expected"),
    (["b", "a", "c"], ["a", "b", "c"], "the same entries in a different order"),
    (["a", "x", "c"], ["a", "b", "c"], "1 of 3 entries differ; the first, at 1:"),
    ([0.5, 1.0, 1.5], [1.0, 2.0, 3.0], "half of the expected one"),
    ({"a": 2.0, "b": 4.0}, {"a": 1.0, "b": 2.0}, "twice the expected one"),
    ({"a": 1}, {"a": 1, "b": 2}, "of 2 expected keys, missing: 'b'"),
    ({"a": 1, "b": 2}, {"a": 1}, "besides the expected keys, not expected: 'b'"),
    ({"a": 1}, {("a",): 1}, "the keys are strings, where tuples are expected: 'a' against ('a',)"),
    ({("a",): 1}, {("a", "b"): 1}, "the keys are tuples of 1, where tuples of 2 are expected"),
    ({"W": X.T, "b": X}, {"W": X, "b": X}, "'W': the shape is (5, 3)"),
    ({1, 2}, {1, 3}, "entries missing: 3; not expected: 2"),
    ("The cat", "the cat", "only upper and lower case differ"),
    ("the  cat", "the cat", "only white space differs"),
    ("the ca", "the cat", "the last character, 't', is missing"),
    ("a" * 30 + "xb", "a" * 30 + "yb", "the texts differ from character 30 onwards: 'aaaaaaaaaaaaxb' where"),
    ("the dog sat", "the cat sat", "'the dog sat' where 'the cat sat' is expected"),
]


@pytest.mark.parametrize(("received", "expected", "relation"), RELATIONS, ids=range(len(RELATIONS)))
def test_a_relation_is_recognised(received, expected, relation):
    assert relation in describe_difference(received, expected)


@pytest.mark.parametrize("value", [X, P, 3, 3.5, "text", [1, [2]], {"a": X}, {1}, None, X > 0])
def test_nothing_is_said_of_equal_values(value):
    assert describe_difference(value, value) == ""


def test_without_a_relation_the_first_difference_is_shown_and_nothing_is_guessed():
    other = X.clone()
    other[1, 2:] += numbers(3, seed=4)
    other[2, 3] += 7
    description = describe_difference(other, X)
    assert description.startswith("4 of 15 values differ; the first, at [1, 2], is ")
    unrelated = describe_difference(numbers(3, 5, seed=9), X)
    assert unrelated.startswith("all 15 values differ; the first, at [0, 0], is ")


def test_a_single_number_says_nothing_about_a_constant_factor_without_a_name():
    assert describe_difference(3.9, 3.0) == "3.9 where 3 is expected"


@pytest.mark.parametrize(
    ("received", "expected"), [(1.0, 0.0), (4.0, 2.0), (16.0, 4.0), (0.0, 1.0), (3.0, 9.0)]
)
def test_what_small_whole_numbers_have_in_common_is_not_taken_for_a_relation(received, expected):
    described = describe_difference(received, expected)
    assert not any(word in described for word in ("exponential", "logarithm", "power", "square", "minus"))


def test_what_should_be_a_distribution_and_is_none_is_said_to_be_none():
    expected = {"a": 0.5, "b": 0.25, "c": 0.25}
    described = describe_difference({"a": 0.5, "b": 0.25, "c": 0.5}, expected)
    assert described.startswith("the values sum to 1.25, the expected ones to 1; 1 of 3 entries differ")
    received = P.clone()
    received[1, 2, 3] += 0.5
    assert "the values sum to 1.5 along axis 2, the expected ones to 1" in describe_difference(received, P)


def test_whole_numbers_beyond_all_floats_are_described_all_the_same():
    assert "a whole number of 5001 digits where 3 is expected" in describe_difference(10**5000, 3)
    assert describe_difference([10**5000, 1], [1, 1]).startswith("1 of 2 entries differ; the first, at 0")


def test_equal_expected_values_say_nothing_about_a_factor():
    assert "times" not in describe_difference(torch.full((4,), 3.0), torch.ones(4))


def test_the_place_of_the_differences_is_named_when_it_is_one_line():
    other = X.clone()
    other[:, -1] = numbers(3, seed=3)
    assert describe_difference(other, X).startswith("only the last entry along axis 1 is wrong; 3 of 15")
    other = X.clone()
    other[1] = numbers(5, seed=3)
    assert describe_difference(other, X).startswith("only entry 1 along axis 0 is wrong")


def test_the_side_of_the_diagonal_is_named():
    square = numbers(4, 4)
    noise = numbers(4, 4, seed=1)
    sides = {
        "the values above the diagonal are wrong": noise.triu(1),
        "the values on and below the diagonal are wrong": noise.tril(),
        "the values on the diagonal are wrong": noise.diag().diag(),
    }
    for description, error in sides.items():
        assert description in describe_difference(square + error, square)


def test_a_sum_for_a_mean_is_known_by_the_size_it_lacks():
    losses = numbers(12).exp()
    described = describe_difference(losses.sum().item(), losses.mean().item(), arguments=[losses])
    assert "12 is the size of axis 0 of the argument: a sum instead of a mean?" in described
    described = describe_difference(0.2731 / 12, 0.2731, arguments=[["a"] * 12, 5])
    assert "1/12 of the expected one, and 12 is the length of argument 1" in described


def test_the_missing_root_of_the_width_is_known_by_the_width():
    query = numbers(2, 7, 11)
    scores = query @ query.mT
    described = describe_difference(scores, scores / math.sqrt(11), arguments=[query, query])
    assert "√11 times the expected one, and 11 is the size of axis 2 of argument 1" in described


def test_a_masked_row_is_the_cause_of_a_row_of_nan():
    scores = numbers(4, 3)
    scores[2] = -math.inf
    right = scores.softmax(-1).nan_to_num(0.0)
    described = describe_difference(scores.softmax(-1), right, arguments=[scores])
    assert "3 of 12 values are NaN, in whole rows: 2" in described
    assert "these are the rows in which the argument is -inf throughout" in described


def test_a_masked_row_elsewhere_is_not_taken_for_the_cause():
    keep = torch.tensor([[True, False, True], [False, False, False]])
    received = torch.tensor([[math.nan, math.nan, math.nan], [0.2, 0.3, 0.5]])
    described = describe_difference(received, torch.full((2, 3), 0.3), arguments=[keep])
    assert "in whole rows: 0; NaN results from 0/0" in described


def test_a_mask_times_infinity_is_the_cause_of_nan_where_the_mask_is_one():
    keep = torch.tensor([[1.0, 1, 0], [1, 0, 0]])
    scores = numbers(2, 3)
    received = scores + (1 - keep) * -math.inf
    described = describe_difference(received, scores, arguments=[scores, keep])
    assert "NaN is exactly where argument 2 is 1, and 0 · inf is NaN" in described


def test_what_rounding_leaves_of_zero_is_no_factor():
    expected = torch.tensor([0.3, 0.7]).double()
    assert "times" not in describe_difference(-7e-18 * expected, expected)


def test_nan_in_whole_columns_may_come_from_a_softmax_along_them():
    keep = torch.tensor([[True, True, False]])
    scores = numbers(1, 3)
    received = scores.masked_fill(~keep, -math.inf).softmax(0)
    described = describe_difference(received, scores, arguments=[scores, keep])
    assert "argument 2" not in described


def test_ones_throughout_do_not_explain_nan_everywhere():
    x, gain = numbers(1, 4), torch.ones(4).double()
    received = gain * x / torch.sqrt(x.square().mean(-1, keepdim=True) - 100)
    described = describe_difference(received, x, arguments=[x, gain])
    assert "argument 2" not in described
    assert "a root or logarithm of a negative number" in described


def test_an_overflow_is_the_cause_of_nan_where_an_argument_is_large():
    scores = torch.tensor([1000.0, 1.0, 2.0], dtype=torch.float64)
    received = scores.exp() / scores.exp().sum()
    described = describe_difference(received, scores.softmax(-1), arguments=[scores])
    assert "contains 1000, and exp overflows above 710 in float64" in described


def test_a_large_negative_argument_does_not_make_exp_overflow():
    scores = torch.tensor([-2e4, 1.0], dtype=torch.float64)
    described = describe_difference(scores.exp().log(), scores, arguments=[scores])
    assert "overflows" not in described
    assert "-inf is the logarithm of 0" in described


def test_without_arguments_the_causes_of_nan_are_listed_and_none_is_chosen():
    described = describe_difference(math.nan, 1.0)
    assert described.startswith("the result is NaN; NaN results from 0/0, 0 · inf")


def test_minus_infinity_is_the_logarithm_of_zero():
    received = torch.tensor([0.5, 0.0]).log()
    assert "1 of 2 values is -inf, first at [1]; -inf is the logarithm of 0" in describe_difference(
        received, torch.tensor([0.5, 0.1]).log()
    )


def test_a_finite_mask_is_told_from_an_infinite_one():
    expected = torch.tensor([1.0, -math.inf])
    assert "-10000 where -inf is expected at [1]" in describe_difference(torch.tensor([1.0, -1e4]), expected)


def test_two_numbers_are_shown_with_as_many_digits_as_tell_them_apart():
    assert describe_difference(1.23456, 1.23451, tolerance=1e-9) == "1.2346 where 1.2345 is expected"


@pytest.mark.parametrize(
    ("received", "expected"),
    [
        ([[1, 2]], [(1, 2)]),
        ([[1, 2], [3, 4], [5, 6]], [(1, 2), (3, 4), (5, 6)]),
        ([["a", 0.5], ["a", 0.5]], [("a", 0.5), ("a", 0.5)]),
        ([[3, 4], [1, 2]], [(1, 2), (3, 4)]),
    ],
)
def test_lists_where_tuples_are_expected_are_a_matter_of_type_and_not_of_order(received, expected):
    message = describe_difference(received, expected)
    assert "a list where a tuple is expected" in message
    assert "order" not in message


@pytest.mark.parametrize("factor", [1.000002, 1 + 1e-9, 1.00003, 1.0002, -1.00003])
@pytest.mark.parametrize("numbers_of", [list, lambda values: torch.tensor(values, dtype=torch.float64)])
def test_no_value_is_said_to_be_one_times_the_expected_one(factor, numbers_of):
    expected = [1.5, 2.5, 0.3]
    received = numbers_of([factor * value for value in expected])
    message = describe_difference(received, numbers_of(expected), tolerance=0.0)
    assert message
    assert "1 times" not in message


def test_a_difference_in_the_last_digits_is_not_taken_for_another_order():
    expected = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    message = describe_difference(expected + torch.tensor([0.0, 0.0, 1e-8]), expected, tolerance=0.0)
    assert message == "only the last entry along axis 0 is wrong; " + (
        "1 of 3 values differ; the first, at [2], is 3.00000001 where 3 is expected"
    )


def test_the_way_into_nested_lists_is_given_without_counting_on_each_level():
    message = describe_difference([("a", "b"), ("c", "d")], [(b"a", b"b"), (b"c", b"d")])
    assert message == (
        "2 of 2 entries differ; the first, at [0][0]: a string where a bytes object is expected"
    )
    message = describe_difference({("a",): {"b": 1, "c": 2}}, {("a",): {"b": 1, "c": 3}})
    assert message == "at [('a',)]['c']: one too small"


def test_what_relates_two_inner_lists_is_said_of_them():
    message = describe_difference([[1, 2, 3], [4, 6, 5]], [[1, 2, 3], [4, 5, 6]])
    assert message == "1 of 2 entries differ; the first, at 1: the same entries in a different order"


def test_a_tensor_of_one_value_is_not_said_to_differ_in_all_its_values():
    message = describe_difference(torch.tensor([[0.0]]), torch.tensor([[10.0]]))
    assert message == "0 where 10 is expected"


def test_the_root_of_a_length_is_no_explanation():
    assert describe_difference(3.2, 1.6, arguments=("éöüß",)) == "the result is twice the expected one"


def test_a_factor_near_one_is_written_with_the_digits_that_it_takes():
    assert "every value is 1.0002 times the expected one" in describe_difference(1.0002 * X, X)


def test_two_simple_fractions_do_not_show_where_their_ratio_comes_from():
    for received, expected, size in ((1.0, 0.5, 4), (1.0, 1 / 3, 3), (1.0, 0.2, 5), (0.01, 0.1, 7)):
        message = describe_difference(received, expected, arguments=[torch.ones(2, size)])
        assert "size" not in message
        assert "square" not in message


def test_a_number_that_was_given_is_not_taken_for_a_size():
    assert "argument" not in describe_difference(9 * 0.2731, 0.2731, arguments=[[0.5], 9])


@pytest.mark.parametrize(("factor", "width"), [(2.0, 4), (0.5, 4), (3.0, 3), (1 / 3, 3), (3.0, 9), (4.0, 4)])
def test_a_small_factor_and_the_root_of_a_square_are_given_no_cause(factor, width):
    x = numbers(7, width)
    assert "size" not in describe_difference(factor * x, x, arguments=[x])


def test_two_different_values_do_not_show_the_cause_of_a_factor():
    x = torch.tensor([0.3, 0.7, 0.7], dtype=torch.float64)
    message = describe_difference(11 * x, x, arguments=[numbers(2, 11)])
    assert message == "every value is 11 times the expected one"


def test_three_values_show_neither_a_shift_nor_a_reversed_axis():
    x = torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float64)
    assert "shifted" not in describe_difference(x.roll(1, 1), x)
    assert "reverse" not in describe_difference(x.flip(1), x)
    parameters = ["embedding.weight", "hidden.bias", "hidden.weight"]
    assert "shifted" not in describe_difference([*parameters[1:], "output.weight"], parameters)


def test_an_error_of_rounding_is_not_said_to_follow_an_axis():
    noise = 1 + 1e-6 * torch.arange(1.0, 4.0, dtype=torch.float64)[:, None]
    assert "along axis" not in describe_difference(X * noise, X, tolerance=1e-9)


def test_one_wrong_line_is_no_amount_of_its_own_for_each_line():
    other = X.clone()
    other[1] += 0.5
    assert "a different one for each line" not in describe_difference(other, X)


def test_rows_that_vanish_beside_a_larger_one_are_not_said_to_overflow():
    """As in a softmax that subtracts the largest score of all rows."""
    scores = torch.tensor([[1001.0, 1000.0, 999.0], [1.0, 2.0, 3.0], [0.0, 1.0, 0.0]], dtype=torch.float64)
    found = (scores - scores.max()).exp()
    found = found / found.sum(-1, keepdim=True)
    message = describe_difference(found.log(), scores.log_softmax(-1), arguments=[scores])
    assert "in whole rows: 1, 2" in message
    assert "overflow" not in message
    assert "the rows far below the argument's largest value, 1001" in message


def test_the_logarithm_of_what_vanished_is_not_said_to_overflow():
    scores = torch.tensor([[1001.0, 0.0], [1.0, 2.0]], dtype=torch.float64)
    found = -(scores - scores.max()).exp().log()
    assert "overflows" not in describe_difference(found, -scores.log_softmax(-1), arguments=[scores])


def test_an_answer_of_the_students_own_that_is_nan_is_not_said_to_be_expected():
    message = describe_difference(2.432, math.nan)
    assert message == "2.432, but a second result of your code is NaN there"


def test_what_is_exact_to_seven_digits_is_said_to_be_computed_in_float32():
    right = X.softmax(-1)
    message = describe_difference(X.float().softmax(-1).double(), right, tolerance=1e-12)
    assert message.startswith("the values are right to seven digits and no further")
    assert "float32" not in describe_difference(right * (1 + 3e-7), right, tolerance=1e-12)


def test_a_list_with_the_right_values_is_said_to_be_one():
    assert describe_difference(X.tolist(), X) == "a list where a tensor is expected; its values are right"
    assert describe_difference([[1.0]], X) == "a list where a tensor is expected"


def test_a_few_drawn_words_that_are_the_same_in_another_order_are_a_coincidence():
    drawn, expected = torch.tensor([2, 0, 1, 1]), torch.tensor([0, 1, 1, 2])
    assert "order" not in describe_difference(drawn, expected)
    assert "in a different order" in describe_difference(torch.tensor([3, 0, 1, 4, 2]), torch.arange(5))
