"""What homework 0 asks SmolLM2 is recorded as the model says it, and asked where it is not recorded."""

import math

import pytest
import torch

from course.pretrained import explored
from course.pretrained.predictions import predict
from course.pretrained.smollm2 import INSTALL, NotInstalled


@pytest.fixture
def without_weights(monkeypatch):
    def missing():
        raise NotInstalled(INSTALL)

    monkeypatch.setattr(explored, "loaded", missing)


def bits_of(found):
    log_probs = found.logits.log_softmax(-1)[torch.arange(len(found.tokens)), found.tokens]
    return (-log_probs / math.log(2)).tolist()


def test_all_that_is_asked_is_recorded(without_weights):
    for context, text in (*explored.TEXTS, *explored.GAME):
        found = explored.expected(text, context)
        assert "".join(found.pieces[token] for token in found.tokens) == text
        assert found.logits.shape == (len(found.tokens), len(found.pieces))
        assert found.pieces[-1] == explored.OTHER
    for contexts in explored.WORDINGS:
        assert len(explored.next_after(contexts).logits) == len(contexts)
    assert all(explored.said_after(prompt) for prompt in explored.PROMPTS)


@pytest.mark.parametrize(
    "ask", [explored.expected, lambda text: explored.next_after([text]), explored.said_after]
)
def test_what_is_not_recorded_needs_the_weights(without_weights, ask):
    with pytest.raises(NotInstalled):
        ask("not recorded")


def test_recorded_texts_cost_what_the_stored_predictions_say():
    for context, text in (("", "I saw a van"), ("", "eyes awe of an"), (explored.PIZZA, " mushrooms")):
        followed = predict(context, text).followed
        for bits, candidate in zip(bits_of(explored.expected(text, context)), followed, strict=True):
            assert math.isclose(bits, candidate.bits, abs_tol=1e-2)


@pytest.mark.parametrize(("context", "text"), [explored.TEXTS[1], explored.TEXTS[7], explored.GAME[4]])
def test_the_model_expects_what_is_recorded(smollm2, context, text):
    live, kept = explored.expected_by(smollm2, text, context), explored.expected(text, context)
    assert torch.allclose(live.logits.softmax(-1)[..., -1], kept.logits.softmax(-1)[..., -1], atol=2e-3)
    for now, then in zip(bits_of(live), bits_of(kept), strict=True):
        assert math.isclose(now, then, abs_tol=1e-2)


def test_the_model_says_what_is_recorded(smollm2):
    live, kept = explored.next_by(smollm2, explored.WORDINGS[0]), explored.next_after(explored.WORDINGS[0])
    places = [pieces.index(" Paris") for pieces in (live.pieces, kept.pieces)]
    for now, then in zip(live.logits.softmax(-1), kept.logits.softmax(-1), strict=True):
        assert math.isclose(now[places[0]], then[places[1]], abs_tol=2e-3)
    prompt = explored.ASKED[0]
    assert explored.said_by(smollm2, prompt) == explored.said_after(prompt)


def test_a_change_in_place_reaches_nobody_else(without_weights):
    (context, text), *_ = explored.TEXTS
    (contexts, *_) = explored.WORDINGS
    for ask in (lambda: explored.expected(text, context), lambda: explored.next_after(contexts)):
        before = ask().logits.clone()
        ask().logits.zero_()
        assert torch.equal(ask().logits, before)
