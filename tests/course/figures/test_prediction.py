"""The figure that asks first: what is right, what is refused, and that nothing gives the answer away."""

import pytest
from in_node import call, needs_node

from course import figures


def test_the_largest_is_right_or_the_smallest():
    gains = {"first": 2.5, "second": 0.1, "third": 0.7}
    assert figures.prediction("Which helps most?", gains).data["right"] == [0]
    assert figures.prediction("Which helps least?", gains, is_least=True).data["right"] == [1]


def test_every_true_option_is_right():
    assert figures.prediction("Which?", {"a": True, "b": False, "c": True}).data["right"] == [0, 2]


def test_what_is_seen_without_scripts_does_not_give_the_answer_away():
    choice = figures.prediction("Which helps most?", {"first": 2.513, "second": 0.1})
    number = figures.prediction("How many are new?", 0.2468, unit="%")
    for figure, answer in ((choice, "2.513"), (number, "0.2468")):
        assert answer not in figure.alt + figure.caption
        assert answer in figure.json()
    bare = figures.prediction("Which helps most?", {"first": 0.1, "second": 2.513})
    assert choice.alt == bare.alt
    assert choice.picture == bare.picture


@pytest.mark.parametrize(
    ("found", "settings"),
    [
        ({"only": 1.0}, {}),
        ({"a": False, "b": False}, {}),
        (3.0, {"between": (0, 1)}),
        (0.5, {"between": (0, 1), "is_logarithmic": True}),
    ],
)
def test_a_question_without_an_answer_is_refused(found, settings):
    with pytest.raises(ValueError, match=r"expected|none of"):
        figures.prediction("Which?", found, **settings)


@needs_node
@pytest.mark.parametrize("is_logarithmic", [True, False])
def test_a_number_stands_where_the_slider_would_give_it(is_logarithmic):
    scale = {"low": 0.5, "high": 5000, "isLogarithmic": is_logarithmic}
    middle = call("prediction", "at", scale, 0.25)
    assert call("prediction", "shareOf", scale, middle) == pytest.approx(0.25)
    assert middle == pytest.approx(0.5 * 10000**0.25 if is_logarithmic else 1250.375)


@needs_node
def test_what_is_counted_is_guessed_in_whole_numbers():
    assert call("prediction", "at", {"low": 1, "high": 100, "isCounted": True}, 0.5) == 51


@needs_node
@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (0.2543, "%", "25.4 %"),
        (0.0123, "%", "1.2 %"),
        (1234.5, "words", "1,230 words"),
        (1, "times", "1 time"),
        (1.0001, "bits", "1 bit"),
        (1, "GB", "1 GB"),
        (1, "", "1"),
        (0.00001, "", "1.0e-5"),
        (0, "bits", "0 bits"),
    ],
)
def test_numbers_are_told_briefly_with_their_unit(value, unit, words):
    assert call("prediction", "told", value, unit) == words
