"""The recall experiment asks what it says it asks."""

import pytest
import torch

from course.recall import THINGS, WORDS, recall_accuracy, recall_loss, recall_network, recall_texts


def test_only_the_first_word_of_a_text_is_a_thing():
    tokens = recall_texts(6, 50, torch.Generator().manual_seed(0))
    assert tokens.shape == (50, 7)
    assert (tokens[:, 0] < len(THINGS)).all()
    assert (tokens[:, 1:] >= len(THINGS)).all()
    assert tokens.max() < len(WORDS)


def test_a_distance_of_zero_is_refused():
    with pytest.raises(ValueError, match="distance: expected at least 1, got 0"):
        recall_texts(0, 5, torch.Generator().manual_seed(0))


def test_the_loss_is_the_cross_entropy_at_the_last_step():
    model, tokens = recall_network("gru"), recall_texts(3, 5, torch.Generator().manual_seed(0))
    expected = torch.nn.functional.cross_entropy(model.logits(tokens)[:, -1], tokens[:, 0])
    assert torch.isclose(recall_loss(model, (tokens,)), expected)


def test_a_plain_network_learns_a_near_thing_and_not_a_far_one():
    assert recall_accuracy("rnn", 1) > 0.9
    assert recall_accuracy("rnn", 20) < 0.3
