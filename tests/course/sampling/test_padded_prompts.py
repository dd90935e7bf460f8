"""Prompts of unequal lengths in one batch: each gets what it would get alone."""

import pytest
import torch

from course.models import Llama, LlamaConfig
from course.sampling import IgnorePadding, generate, pad_prompts

PROMPTS = [[3, 1, 4, 1, 5], [2], [7, 8, 9]]


@pytest.fixture
def llama():
    torch.manual_seed(0)
    sizes = LlamaConfig(11, 32, d_model=12, n_heads=6, n_groups=2, n_layers=2, d_ff=20, initial_deviation=0.5)
    return Llama(sizes)


def test_padding_stands_before_the_shorter_ones():
    assert pad_prompts([[5, 3, 8], [7]]).tolist() == [[5, 3, 8], [-1, -1, 7]]


@pytest.mark.parametrize("prompts", [[], [[1], []]])
def test_an_empty_prompt_is_refused(prompts):
    with pytest.raises(ValueError, match="prompts: expected at least one, each of at least one token"):
        pad_prompts(prompts)


@pytest.mark.parametrize("use_cache", [True, False])
def test_each_prompt_continues_as_it_does_alone(llama, use_cache):
    together = generate(IgnorePadding(llama), pad_prompts(PROMPTS), 8, use_cache=use_cache)
    for row, prompt in zip(together, PROMPTS, strict=True):
        alone = generate(llama, torch.tensor([prompt]), 8)
        assert row[-8:].equal(alone[0, -8:])


def test_the_distributions_after_padding_are_those_without(llama):
    padded = IgnorePadding(llama)(pad_prompts(PROMPTS))
    for row, prompt in zip(padded, PROMPTS, strict=True):
        expected = llama(torch.tensor([prompt]))[0]
        assert (row[-len(prompt) :] - expected).abs().max() < 1e-5


def test_rows_that_beams_choose_keep_their_padding(llama):
    model = IgnorePadding(llama)
    cache = model.new_cache()
    model(pad_prompts(PROMPTS), cache)
    chosen = cache.select(torch.tensor([1, 1, 2]))
    answer = model(torch.tensor([[6], [4], [0]]), chosen)[:, -1]
    for row, longer in zip(answer, ([2, 6], [2, 4], [7, 8, 9, 0]), strict=True):
        assert (row - llama(torch.tensor([longer]))[0, -1]).abs().max() < 1e-5
    assert chosen.length == cache.length + 1


def test_a_model_that_does_not_know_padding_refuses_it(llama):
    with pytest.raises(ValueError, match="tokens: expected values in 0 … 10, got -1"):
        generate(llama, pad_prompts(PROMPTS), 2)
