"""Hiding tokens: shares of 80, 10 and 10 per cent, and what must never be hidden or drawn."""

import pytest
import torch

from course.models import hide_tokens
from course.models.cross_entropy import IGNORED

V, MASK, SPECIAL = 50, 4, [0, 1, 2, 3, 4]
ORDINARY = torch.tensor([token not in SPECIAL for token in range(V)])


@pytest.fixture(scope="module")
def hidden():
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(V, (1000, 101), generator=generator)
    return tokens, *hide_tokens(tokens, ORDINARY, MASK, generator)


def test_fifteen_per_cent_of_the_ordinary_tokens_are_asked_for(hidden):
    tokens, _, targets = hidden
    share = (targets != IGNORED)[ORDINARY[tokens]].float().mean()
    assert abs(share - 0.15) < 0.005


def test_targets_are_the_tokens_that_stood_there_and_nothing_special(hidden):
    tokens, _, targets = hidden
    asked = targets != IGNORED
    assert targets[asked].equal(tokens[asked])
    assert ORDINARY[targets[asked]].all()


def test_of_those_eighty_per_cent_are_masked_ten_random_ten_kept(hidden):
    tokens, inputs, targets = hidden
    asked = targets != IGNORED
    masked = (inputs == MASK)[asked].float().mean()
    kept = (inputs == tokens)[asked].float().mean()
    assert abs(masked - 0.8) < 0.01
    assert abs(kept - (0.1 + 0.1 / ORDINARY.sum())) < 0.01


def test_what_is_not_asked_for_stays_as_it_was(hidden):
    tokens, inputs, targets = hidden
    assert inputs[targets == IGNORED].equal(tokens[targets == IGNORED])


def test_random_tokens_are_ordinary_and_spread_evenly(hidden):
    tokens, inputs, targets = hidden
    drawn = inputs[(targets != IGNORED) & (inputs != tokens) & (inputs != MASK)]
    assert ORDINARY[drawn].all()
    frequencies = torch.bincount(drawn, minlength=V)[ORDINARY].float()
    assert frequencies.min() > 0.5 * frequencies.mean()


def test_each_call_hides_other_tokens_and_the_same_seed_the_same():
    tokens = torch.randint(V, (20, 30))
    generator = torch.Generator().manual_seed(5)
    first, second = (hide_tokens(tokens, ORDINARY, MASK, generator)[0] for _ in range(2))
    assert not first.equal(second)
    assert hide_tokens(tokens, ORDINARY, MASK, torch.Generator().manual_seed(5))[0].equal(first)


@pytest.mark.parametrize("share", [0.0, 1.2])
def test_a_share_outside_zero_to_one_is_refused(share):
    with pytest.raises(ValueError, match=r"share: expected a number in \(0, 1\], got"):
        hide_tokens(torch.ones(1, 2, dtype=torch.int64), ORDINARY, MASK, torch.Generator(), share)


def test_a_vocabulary_of_special_tokens_alone_is_refused():
    with pytest.raises(ValueError, match="at least one ordinary token"):
        hide_tokens(
            torch.ones(1, 2, dtype=torch.int64), torch.zeros(V, dtype=torch.bool), MASK, torch.Generator()
        )
