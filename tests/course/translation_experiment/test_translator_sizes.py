"""The two translators differ in attention alone, and can be given the same number of parameters."""

from dataclasses import replace

import pytest

from course.models.seq2seq import Seq2Seq, Seq2SeqConfig
from course.translation_experiment.translator_sizes import config_of, n_parameters, widened_to

COMMON = Seq2SeqConfig(50, 60, d_embedding=12, d_hidden=16, attention="additive")


def test_only_one_of_them_looks_back_at_the_source():
    assert config_of("RNNenc", COMMON).attention == "none"
    assert config_of("RNNsearch", COMMON).attention == "additive"


def test_apart_from_how_the_source_is_seen_they_are_the_same():
    enc, search = (config_of(kind, COMMON) for kind in ("RNNenc", "RNNsearch"))
    assert replace(enc, attention=search.attention, summary=search.summary) == search


def test_one_more_step_in_width_would_be_too_many_parameters():
    budget = n_parameters(Seq2Seq(config_of("RNNsearch", COMMON)))
    widened = widened_to(budget, config_of("RNNenc", COMMON))
    wider = replace(widened, d_hidden=widened.d_hidden + 8)
    assert n_parameters(Seq2Seq(widened)) <= budget < n_parameters(Seq2Seq(wider))


def test_a_budget_that_no_model_can_keep_is_refused():
    with pytest.raises(ValueError, match="100 parameters are too few"):
        widened_to(100, COMMON)
