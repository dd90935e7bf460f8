"""The automaton of a small grammar, computed by hand."""

import math

import pytest
import torch

from course.data.story_grammar import Choice, Slot, compile_grammar, either, maybe
from course.data.story_sources import Words


def word(token, *others):
    return Slot(Words((token, *others), (1.0,) * (1 + len(others))))


# a (b | c c)? d, with a coin for every choice; b is one of two words
GRAMMAR = (word(0), maybe(0.5, either(word(1, 2), (word(3), word(3)))), word(4))


def test_nodes_follow_each_other_with_the_probabilities_of_the_choices():
    automaton = compile_grammar(GRAMMAR)
    assert [automaton.sources[i].tokens for i in automaton.source_of] == [(0,), (3,), (3,), (1, 2), (4,)]
    expected = torch.zeros(5, 5, dtype=torch.float64)
    expected[0, [1, 3, 4]] = torch.tensor([0.25, 0.25, 0.5], dtype=torch.float64)
    expected[1, 2] = expected[2, 4] = expected[3, 4] = expected[4, 4] = 1
    assert torch.equal(automaton.follow, expected)


def test_equal_sources_are_kept_once():
    assert len(compile_grammar(GRAMMAR).sources) == 4


def test_visits_length_and_entropy_are_those_computed_by_hand():
    automaton = compile_grammar(GRAMMAR)
    assert automaton.expected_visits().tolist() == [1, 0.25, 0.25, 0.25, 1]
    assert automaton.longest_text() == 4
    texts = [0.5, 0.125, 0.125, 0.25]  # a d, a b d with two words for b, a c c d
    assert automaton.entropy() == pytest.approx(-sum(p * math.log(p) for p in texts))


def test_parts_with_no_chance_leave_no_node():
    assert compile_grammar((word(0), maybe(0.0, word(1)), word(2))).n_nodes == 2


def test_probabilities_that_do_not_sum_to_one_are_refused():
    with pytest.raises(ValueError, match=r"sum to 1, got a sum of 0\.9"):
        Choice(((0.5, word(0)), (0.4, ())))


@pytest.mark.parametrize(
    "grammar", [(either(word(0), word(1)), word(2)), (word(0), either(word(1), word(2)))]
)
def test_texts_that_begin_or_end_differently_are_refused(grammar):
    with pytest.raises(ValueError, match="all begin with one slot and all end with one slot"):
        compile_grammar(grammar)
