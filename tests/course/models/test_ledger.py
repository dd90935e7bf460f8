"""Parameters counted from sizes against models that are built, and against the published numbers."""

import pytest
import torch

from course.models import BERT, GPT, BERTConfig, GPTConfig, bert_ledger, gpt_ledger
from course.models.bert import Pooler
from course.models.gpt import POSITIONS
from course.models.ledger import (
    BERT_LARGE,
    GPT2_SMALL,
    GPT2_XL,
    GPT3,
    cache_bytes,
    training_bytes,
    training_flops_per_token,
)


def n_parameters(*modules):
    return sum(parameter.numel() for module in modules for parameter in module.parameters())


def test_gpt2_small_has_124_439_808_parameters_on_paper_and_when_built():
    assert gpt_ledger(GPT2_SMALL).n_parameters == 124_439_808
    with torch.device("meta"):
        assert n_parameters(GPT(GPT2_SMALL)) == 124_439_808


def test_gpt2_xl_has_the_published_1_5_billion():
    assert gpt_ledger(GPT2_XL).n_parameters == 1_557_611_200


def test_bert_large_has_335_million_which_its_paper_rounds_to_340():
    assert gpt_and_bert_agree(BERT_LARGE)
    assert 335e6 <= bert_ledger(BERT_LARGE).n_parameters <= 340e6


def gpt_and_bert_agree(config):
    with torch.device("meta"):
        return n_parameters(BERT(config), Pooler(config)) == bert_ledger(config).n_parameters


def test_gpt3_has_about_175_billion():
    assert gpt_ledger(GPT3).n_parameters == pytest.approx(175e9, rel=0.005)


@pytest.mark.parametrize("positions", POSITIONS)
def test_every_line_of_a_gpt_s_ledger_is_there_when_it_is_built(positions):
    config = GPTConfig(13, 17, d_model=12, n_heads=3, n_layers=5, d_ff=7, positions=positions)
    assert gpt_ledger(config).n_parameters == n_parameters(GPT(config))


def test_every_line_of_a_bert_s_ledger_is_there_when_it_is_built():
    assert gpt_and_bert_agree(BERTConfig(13, 17, d_model=12, n_heads=3, n_layers=5, d_ff=7, n_segments=3))


def test_the_ledger_shows_each_line_and_the_sum():
    text = str(gpt_ledger(GPT2_SMALL))
    assert "124,439,808" in text.splitlines()[-1]
    assert "38,597,376" in text.splitlines()[0]


def test_training_gpt3_costs_about_the_published_number_of_operations():
    """Brown et al. 2020, table D.1: 3.14e23 operations for 300 billion tokens, scores left out."""
    assert training_flops_per_token(GPT3) * 300e9 == pytest.approx(3.14e23, rel=0.12)


def test_adam_keeps_four_numbers_per_parameter():
    assert training_bytes(GPT2_SMALL) == 16 * 124_439_808


def test_the_cache_is_as_large_as_what_a_gpt_remembers():
    config = GPTConfig(13, 17, d_model=12, n_heads=3, n_layers=5)
    model = GPT(config)
    cache = model.new_cache()
    model(torch.zeros(2, 7, dtype=torch.int64), cache)
    tensors = [tensor for layer in cache.layers for tensor in (layer.key, layer.value)]
    assert cache_bytes(config, batch_size=2, n_positions=7) == sum(tensor.nbytes for tensor in tensors)
