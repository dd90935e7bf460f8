"""Captions become words and lines again; the model without attention gets as many parameters."""

from dataclasses import replace

import pytest

from course.models.seq2seq import Seq2Seq
from course.translation_experiment import captions as captions_module
from course.translation_experiment.captions import (
    CAPTION_KINDS,
    CaptionsConfig,
    caption_bleu,
    caption_model,
    caption_translator,
    captions,
    join_caption,
    split_caption,
    train_on_captions,
)
from course.translation_experiment.translator_sizes import n_parameters

LINES = [
    ("A man on a bike.", "Un homme à vélo."),
    ("The man's dog, asleep.", "Le chien de l'homme, endormi."),
    ("A well-known man runs.", "L'homme bien connu court aujourd'hui."),
    ("Two dogs run.", "Deux chiens courent."),
]
CONFIG = CaptionsConfig(vocab_size=20, longest=7, d_embedding=4, d_hidden=8, batch_size=2, n_steps=4)


@pytest.mark.parametrize("line", [french for _, french in LINES])
def test_words_joined_again_are_the_line_in_lower_case(line):
    assert join_caption(split_caption(line)) == line.lower()


def test_what_is_elided_stands_alone():
    assert split_caption("L'homme à vélo.") == ["l'", "homme", "à", "vélo", "."]


def test_a_vocabulary_is_cut_to_the_most_frequent_words():
    data = captions(CONFIG, LINES, LINES)
    assert len(data.target_vocabulary) == CONFIG.vocab_size
    assert "homme" in data.target_vocabulary


def test_long_captions_are_not_trained_on_but_tested():
    data = captions(CONFIG, LINES, LINES)
    assert (len(data.training), len(data.test)) == (2, 4)  # two captions have 8 words in French


def test_words_of_the_test_captions_do_not_enter_the_vocabulary():
    data = captions(CONFIG, LINES[:1], [("zebras", "zèbres")])
    assert "zèbres" not in data.target_vocabulary


def test_both_models_have_nearly_as_many_parameters():
    config = replace(CONFIG, d_embedding=32, d_hidden=96)
    data = captions(config, LINES, LINES)
    enc, search = (
        n_parameters(Seq2Seq(caption_model(kind, config, data))) for kind in ("RNNenc", "RNNsearch")
    )
    assert 0.85 < enc / search <= 1  # widths go up in steps of 8


def test_the_transformer_has_about_as_many_parameters_as_rnnsearch():
    config = replace(CONFIG, d_embedding=32, d_hidden=96)
    data = captions(config, LINES, LINES)
    transformer, search = (
        n_parameters(caption_translator(kind, config, data)) for kind in ("Transformer", "RNNsearch")
    )
    assert 0.85 < transformer / search < 1.15


def test_bleu_is_taken_against_the_lines_themselves(monkeypatch):
    data = captions(CONFIG, LINES, LINES)
    right = [split_caption(french) for _, french in LINES]
    monkeypatch.setattr(captions_module, "translations", lambda *_: right)
    score, written = caption_bleu(None, data)
    assert score == pytest.approx(100)
    assert written == [french.lower() for _, french in LINES]


@pytest.mark.parametrize("kind", CAPTION_KINDS)
def test_a_record_says_what_was_trained_and_what_it_wrote(kind, tmp_path):
    data = captions(CONFIG, LINES, LINES)
    record = train_on_captions(kind, CONFIG, data, seed=1, device="cpu", checkpoints=tmp_path)
    assert (record["model"], record["seed"], record["n_steps"]) == (kind, 1, 4)
    assert [one["reference"] for one in record["examples"]] == [french.lower() for _, french in LINES]
