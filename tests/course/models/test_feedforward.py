"""Bengio's model against its equation, computed one window at a time."""

import pytest
import torch
from model_equality import assert_equal

from course.models import FeedForwardConfig, FeedForwardLanguageModel
from course.models.feedforward import windows

V, BOS = 11, 10


@pytest.mark.parametrize("has_direct_connections", [False, True])
def test_logits_equal_the_paper_s_equation_at_every_position(precision, has_direct_connections):
    config = FeedForwardConfig(V, 3, 4, 5, has_direct_connections, fill=BOS)
    model = FeedForwardLanguageModel(config)
    tokens = torch.randint(V, (2, 6))
    logits = model.logits(tokens)
    for row in range(2):
        for t in range(6):
            window = ([BOS] * 3 + tokens[row].tolist())[t + 1 : t + 4]
            e = torch.cat([model.embedding.weight[token] for token in window])
            h = torch.tanh(model.hidden.weight.mv(e) + model.hidden.bias)
            z = model.output.weight.mv(h) + model.output.bias
            if has_direct_connections:
                z = z + model.direct.weight.mv(e)
            assert_equal(logits[row, t], z)


def test_windows_end_at_each_position_oldest_first():
    assert windows(torch.tensor([[5, 6, 7]]), 2, fill=0).tolist() == [[[0, 5], [5, 6], [6, 7]]]


def test_what_lies_before_the_window_does_not_matter():
    model = FeedForwardLanguageModel(FeedForwardConfig(V, n_window=3))
    tokens = torch.randint(V, (1, 8))
    changed = tokens.clone()
    changed[:, :3] = (tokens[:, :3] + 1) % V
    assert model(changed)[:, 5:].equal(model(tokens)[:, 5:])
    assert not model(changed)[:, 4].equal(model(tokens)[:, 4])


def test_word_order_matters():
    model = FeedForwardLanguageModel(FeedForwardConfig(V, n_window=3))
    assert not model(torch.tensor([[1, 2, 3]]))[:, -1].equal(model(torch.tensor([[2, 1, 3]]))[:, -1])


def test_a_window_of_nothing_and_a_fill_outside_the_vocabulary_are_refused():
    with pytest.raises(ValueError, match="n_window: expected at least 1, got 0"):
        FeedForwardConfig(V, n_window=0)
    with pytest.raises(ValueError, match="fill: expected a token in 0 … 10, got 11"):
        FeedForwardConfig(V, fill=11)
