"""Beam search, against trying every continuation."""

import itertools

import pytest
import torch
from table_model import RememberingModel, TableModel

from course.sampling import beam_search, greedy
from course.sampling.beam_search import Hypothesis

PROMPT = torch.tensor([1, 2])


def every_continuation(vocab_size: int, n_tokens: int, eos: int | None) -> list[tuple[int, ...]]:
    """All texts of n_tokens tokens, and all shorter ones that end in eos; eos stands only at the end."""
    texts = []
    for length in range(1, n_tokens + 1):
        for text in itertools.product(range(vocab_size), repeat=length):
            if eos not in text[:-1] and (length == n_tokens or text[-1] == eos):
                texts.append(text)
    return texts


def ranked(model: TableModel, n_tokens: int, eos: int | None, length_penalty: float) -> list[Hypothesis]:
    found = [
        Hypothesis(text, model.log_prob(PROMPT.tolist(), text), text[-1] == eos)
        for text in every_continuation(model.vocab_size, n_tokens, eos)
    ]
    return sorted(found, key=lambda one: -one.score(length_penalty))


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0, 2.0])
@pytest.mark.parametrize("eos", [None, 0])
@pytest.mark.parametrize("seed", range(4))
def test_a_wide_beam_finds_what_trying_everything_finds(seed, eos, length_penalty):
    model = TableModel(4, seed=seed)
    expected = ranked(model, 4, eos, length_penalty)
    found = beam_search(model, PROMPT, 4, beam_width=256, eos=eos, length_penalty=length_penalty)
    scores = [one.score(length_penalty) for one in found]
    assert scores == pytest.approx([one.score(length_penalty) for one in expected])
    assert {one.tokens: one.has_ended for one in found} == {one.tokens: one.has_ended for one in expected}
    assert found[0].tokens == expected[0].tokens


@pytest.mark.parametrize("seed", range(6))
def test_a_beam_of_one_is_greedy_decoding(seed):
    model = TableModel(5, seed=seed)
    (found,) = beam_search(model, PROMPT, 7, beam_width=1, eos=0)
    assert list(found.tokens) == greedy(model, PROMPT[None], 7, eos=0)[0, 2:].tolist()


def test_a_wider_beam_finds_a_text_that_greedy_decoding_misses():
    """0 is a little likelier than 1 at first, but leads to a uniform choice; 1 leads to certainty."""
    model = TableModel(3, seed=0)
    model.table = torch.full((3, 3, 3), 1 / 3, dtype=torch.float64).log()
    model.table[1, 2] = torch.tensor([0.5, 0.45, 0.05]).log()
    model.table[2, 1] = torch.tensor([0.02, 0.02, 0.96]).log()
    assert beam_search(model, PROMPT, 2, beam_width=1)[0].tokens == (0, 0)
    assert beam_search(model, PROMPT, 2, beam_width=2)[0].tokens == (1, 2)


def test_the_mean_per_token_prefers_longer_texts_than_the_sum():
    models = [TableModel(4, seed=seed, sharpness=1.0) for seed in range(8)]
    lengths = {
        penalty: [
            len(beam_search(model, PROMPT, 6, beam_width=8, eos=0, length_penalty=penalty)[0].tokens)
            for model in models
        ]
        for penalty in (0.0, 1.0)
    }
    assert all(long >= short for long, short in zip(lengths[1.0], lengths[0.0], strict=True))
    assert sum(lengths[1.0]) > sum(lengths[0.0])


def test_the_score_counts_the_ending_but_not_the_prompt():
    assert Hypothesis((3, 1, 0), -6.0, True).score(1.0) == -2.0
    assert Hypothesis((3, 1, 0), -6.0, True).score(0.0) == -6.0


def test_a_short_ending_found_first_does_not_stop_a_longer_better_text():
    model = TableModel(3, seed=0)
    model.table = torch.full((3, 3, 3), -20.0, dtype=torch.float64)
    model.table[1, 2] = torch.tensor([0.6, 0.4, 1e-9]).log()  # the ending 0 comes first …
    model.table[2, 1] = torch.tensor([1e-9, 1e-9, 1.0]).log()  # … but "1 2 0" costs less per token
    found = beam_search(model, PROMPT, 3, beam_width=2, eos=0, length_penalty=2.0)
    assert found[0].tokens == (1, 2, 0)


def test_a_cache_that_follows_its_beams_changes_nothing():
    for seed in range(4):
        model = RememberingModel(5, seed=seed)
        with_cache = beam_search(model, PROMPT, 6, beam_width=4, eos=0)
        assert with_cache == beam_search(model, PROMPT, 6, beam_width=4, eos=0, use_cache=False)


def test_impossible_tokens_are_never_part_of_a_text():
    model = TableModel(3, seed=0)
    model.table[..., 2] = -torch.inf
    found = beam_search(model, PROMPT, 2, beam_width=9)
    assert {one.tokens for one in found} == {(0, 0), (0, 1), (1, 0), (1, 1)}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beam_width": 0}, "beam_width: expected 1 to"),
        ({"beam_width": 2, "length_penalty": -1.0}, "length_penalty: expected a number of at least 0"),
    ],
)
def test_bad_settings_are_explained(settings, message):
    with pytest.raises(ValueError, match=message):
        beam_search(TableModel(3, seed=0), PROMPT, 2, **settings)
