"""Watching where a model looks does not change what it says."""

import pytest
import torch
from model_equality import assert_equal

from course.models import GPT, GPTConfig, Translator, TranslatorConfig, attention_maps


def gpt():
    return GPT(GPTConfig(11, 8, d_model=12, n_heads=3, n_layers=2))


def test_every_layer_s_weights_are_collected_and_the_answer_stays():
    model, tokens = gpt(), torch.randint(11, (2, 6))
    expected = model(tokens)
    with attention_maps(model) as maps:
        assert model(tokens).equal(expected)
    assert list(maps) == ["blocks.0.attention", "blocks.1.attention"]
    for weights in maps.values():
        assert weights.shape == (2, 3, 6, 6)
        assert_equal(weights.sum(dim=-1), torch.ones(2, 3, 6))
        assert weights.triu(diagonal=1).max() == 0


def test_cross_attention_is_collected_too():
    model = Translator(TranslatorConfig(9, 11, d_model=12, n_heads=3, n_layers=1, d_ff=8))
    with attention_maps(model) as maps:
        model(torch.randint(1, 9, (2, 7)), torch.randint(1, 11, (2, 5)))
    assert {name: tuple(weights.shape) for name, weights in maps.items()} == {
        "encoder.layers.0.attention": (2, 3, 7, 7),
        "decoder.layers.0.attention": (2, 3, 5, 5),
        "decoder.layers.0.cross_attention": (2, 3, 5, 7),
    }


def test_nothing_is_collected_afterwards():
    model, tokens = gpt(), torch.randint(11, (2, 6))
    with attention_maps(model) as maps:
        pass
    model(tokens)
    assert maps == {}


def test_a_call_that_continues_from_a_cache_is_refused():
    model = gpt()
    with (
        attention_maps(model),
        pytest.raises(ValueError, match="expected a call without a cache, got one with a cache"),
    ):
        model(torch.randint(11, (2, 6)), model.new_cache())
