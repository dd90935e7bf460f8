"""Every model refuses tokens that it cannot read, and says why."""

import pytest
import torch
from torch import nn

from course.language_model import LanguageModel, check_tokens


@pytest.mark.parametrize(
    ("tokens", "error", "message"),
    [
        ([[1, 2]], TypeError, "expected an int64 tensor of shape \\(B, T\\), got a list"),
        (torch.ones(2, 3), TypeError, "expected dtype torch.int64, got torch.float32"),
        (torch.ones(3, dtype=torch.int64), ValueError, "got \\(3,\\) .*tokens\\[None\\]"),
        (torch.ones(2, 3, 4, dtype=torch.int64), ValueError, "got \\(2, 3, 4\\)"),
        (torch.ones(2, 0, dtype=torch.int64), ValueError, "at least one token, got \\(2, 0\\)"),
        (torch.tensor([[0, 7]]), ValueError, "expected values in 0 … 6, got 7"),
        (torch.tensor([[0, -1, 7]]), ValueError, "expected values in 0 … 6, got -1"),
        (torch.zeros(1, 6, dtype=torch.int64), ValueError, "at most 5 positions, got T = 6"),
    ],
)
def test_bad_tokens_are_refused_with_what_was_expected_and_what_came(tokens, error, message):
    with pytest.raises(error, match=message):
        check_tokens(tokens, vocab_size=7, context_length=5)


def test_the_largest_allowed_batch_passes():
    check_tokens(torch.tensor([[0, 6, 3, 2, 1]]), vocab_size=7, context_length=5)
    check_tokens(torch.zeros(2, 1000, dtype=torch.int64), vocab_size=1)


def test_a_module_without_sizes_is_no_language_model():
    assert not isinstance(nn.Linear(2, 3), LanguageModel)
