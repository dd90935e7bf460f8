"""The loss against torch's."""

import pytest
import torch
from model_equality import assert_equal, assert_equal_gradients
from torch.nn import functional as F

from course.models.cross_entropy import IGNORED, cross_entropy, log_softmax


def test_loss_and_gradient_equal_torch_with_ignored_targets(precision):
    logits = torch.randn(3, 5, 7, requires_grad=True)
    targets = torch.randint(7, (3, 5))
    targets[0, 2:] = IGNORED
    loss, expected = cross_entropy(logits, targets), F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    assert_equal(loss, expected)
    assert_equal_gradients(loss, [logits], expected, [logits])


def test_logits_of_a_thousand_neither_overflow_nor_vanish(precision):
    logits = torch.tensor([[1000.0, 0.0, -1000.0], [-1000.0, -1000.0, -1001.0]])
    assert_equal(log_softmax(logits), F.log_softmax(logits, dim=-1))


def test_a_target_outside_the_vocabulary_is_refused():
    with pytest.raises(ValueError, match=r"expected values in 0 … 6 or -100 \(not scored\), got 7"):
        cross_entropy(torch.randn(2, 7), torch.tensor([3, 7]))


def test_nothing_to_score_is_refused():
    with pytest.raises(ValueError, match="at least one that is scored"):
        cross_entropy(torch.randn(2, 7), torch.tensor([IGNORED, IGNORED]))
