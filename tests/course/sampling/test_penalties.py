"""Penalties on what has been said."""

from collections import Counter
from functools import partial

import pytest
import torch
from transformers.generation.logits_process import (
    NoRepeatNGramLogitsProcessor,
    RepetitionPenaltyLogitsProcessor,
)

from course.sampling import dry, frequency_penalty, no_repeat_ngram, presence_penalty, repetition_penalty
from course.sampling.penalties import repeated_lengths, token_counts


@pytest.fixture
def history() -> torch.Tensor:
    """Shape (7, 11), tokens below 23, with repetitions."""
    return torch.randint(0, 9, (7, 11), generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("penalty", [0.5, 1.0, 1.3])
def test_repetition_penalty_equals_the_processor_of_transformers(penalty, logits, history):
    expected = RepetitionPenaltyLogitsProcessor(penalty)(history, logits)
    assert torch.equal(repetition_penalty(logits, history, penalty=penalty), expected)


def test_frequency_counts_every_occurrence_and_presence_only_one(logits, history):
    for row, said, by_frequency, by_presence in zip(
        logits,
        history.tolist(),
        frequency_penalty(logits, history, penalty=0.4),
        presence_penalty(logits, history, penalty=0.4),
        strict=True,
    ):
        counts = Counter(said)
        for token in range(23):
            assert by_frequency[token] == pytest.approx(row[token].item() - 0.4 * counts[token])
            assert by_presence[token] == pytest.approx(row[token].item() - 0.4 * (counts[token] > 0))


def test_padding_in_the_history_counts_for_nothing():
    assert token_counts(torch.tensor([[-1, -1, 2, 0, 2]]), torch.zeros(1, 3)).tolist() == [[1, 0, 2]]


def longest_repeats(history: list[int], breakers: set[int]) -> dict[int, int]:
    """For each token the longest end of the history that stood before right in front of it: by trying all."""
    lengths: dict[int, int] = {}
    for position in range(1, len(history)):
        for n in range(1, position + 1):
            end = history[len(history) - n :]
            if history[position - n : position] == end and not breakers.intersection(end):
                lengths[history[position]] = max(n, lengths.get(history[position], 0))
    return lengths


@pytest.mark.parametrize("breakers", [(), (1,), (0, 2)])
def test_dry_equals_comparing_all_ends_with_all_beginnings(breakers):
    generator = torch.Generator().manual_seed(4)
    history = torch.randint(0, 3, (40, 14), generator=generator)
    logits = torch.randn(40, 5, generator=generator, dtype=torch.float64)
    result = dry(logits, history, multiplier=0.8, base=1.5, allowed_length=2, breakers=breakers)
    for row, said, penalised in zip(logits.tolist(), history.tolist(), result.tolist(), strict=True):
        lengths = longest_repeats(said, set(breakers))
        expected = [
            logit - 0.8 * 1.5 ** (lengths[token] - 2) if lengths.get(token, 0) >= 2 else logit
            for token, logit in enumerate(row)
        ]
        assert penalised == pytest.approx(expected)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_no_repeat_ngram_equals_the_processor_of_transformers(n):
    generator = torch.Generator().manual_seed(4)
    history = torch.randint(0, 3, (40, 14), generator=generator)
    logits = torch.randn(40, 5, generator=generator, dtype=torch.float64)
    left = no_repeat_ngram(logits, history, n=n)
    assert left.isinf().any(dim=-1).sum() > 10
    assert torch.equal(left, NoRepeatNGramLogitsProcessor(n)(history, logits))


def test_no_repeat_ngram_is_dry_without_mercy():
    generator = torch.Generator().manual_seed(4)
    history = torch.randint(0, 3, (40, 14), generator=generator)
    logits = torch.randn(40, 5, generator=generator, dtype=torch.float64)
    for n in (2, 3, 4):
        merciless = dry(logits, history, multiplier=torch.inf, allowed_length=n - 1)
        assert torch.equal(no_repeat_ngram(logits, history, n=n), merciless)


def test_the_lengths_of_repeats_are_those_of_the_docstring():
    assert repeated_lengths(torch.tensor([1, 2, 3, 1, 2])).tolist() == [0, 2, 0, 0]


def test_a_repeat_may_overlap_itself():
    assert repeated_lengths(torch.tensor([7, 7, 7, 7])).tolist() == [1, 2, 3]


def test_dry_does_not_reach_across_a_breaker_or_padding():
    logits = torch.zeros(1, 5)
    penalised = partial(dry, logits, multiplier=1.0, base=2.0, allowed_length=1)
    assert penalised(torch.tensor([[4, 1, 2, 3, 4, 1, 2]]))[0, 3] == -4.0
    assert penalised(torch.tensor([[4, 1, 2, 3, 4, 1, 2]]), breakers=[1])[0, 3] == -1.0
    assert penalised(torch.tensor([[-1, 1, 2, 3, -1, 1, 2]]))[0, 3] == -2.0


@pytest.mark.parametrize(
    "step",
    [partial(dry, multiplier=1.0), partial(repetition_penalty, penalty=1.5), partial(no_repeat_ngram, n=1)],
)
def test_a_short_or_empty_history_costs_nothing(step):
    logits = torch.tensor([[1.0, -2.0, 3.0]])
    assert torch.equal(step(logits, torch.zeros(1, 0, dtype=torch.long)), logits)


def test_axes_before_the_last_are_free(logits, history):
    for step in (partial(dry, multiplier=1.0, allowed_length=1), partial(frequency_penalty, penalty=0.1)):
        together = step(logits[:6].reshape(2, 3, 23), history[:6].reshape(2, 3, 11))
        assert torch.equal(together.reshape(6, 23), step(logits[:6], history[:6]))
        assert torch.equal(step(logits[0], history[0]), step(logits, history)[0])


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (partial(repetition_penalty, penalty=0.0), "penalty: expected a number above 0"),
        (partial(dry, multiplier=-1.0), "multiplier: expected a number of at least 0"),
        (partial(dry, multiplier=1.0, base=0.5), "base: expected at least 1, .* got 0.5"),
        (partial(dry, multiplier=1.0, allowed_length=0), "allowed_length: expected 1 to"),
        (partial(no_repeat_ngram, n=0), "n: expected 1 to"),
    ],
)
def test_a_setting_out_of_range_is_explained(step, message, logits, history):
    with pytest.raises(ValueError, match=message):
        step(logits, history)


@pytest.mark.parametrize("step", [partial(dry, multiplier=1.0), partial(frequency_penalty, penalty=1.0)])
def test_a_history_of_other_rows_is_an_error(step, logits, history, as_students_run_it):
    with pytest.raises(ValueError, match=r"expected shape \(7, T\) beside logits \(7, 23\), got \(11,\)"):
        step(logits, history[0])


@pytest.mark.parametrize("step", [partial(dry, multiplier=1.0), partial(presence_penalty, penalty=1.0)])
def test_a_token_outside_the_vocabulary_is_an_error(step, logits, history):
    with pytest.raises(ValueError, match="history: expected tokens below 23, got 23"):
        step(logits, history + 23 - history.max())
