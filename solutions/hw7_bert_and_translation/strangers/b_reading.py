"""Readers of texts that the checks once took for known mistakes."""

import torch

from autograder.proving.strangers import stranger


@stranger(of="best_span")
def ends_beyond_the_text(first_logits, last_logits, longest):
    n = len(last_logits)
    pairs = [
        (float(first_logits[i] + last_logits[j % n]), i, j % n)
        for i in range(len(first_logits))
        for j in range(i, i + longest)
    ]
    return max(pairs)[1:]


@stranger(of="best_span")
def two_words_too_many(first_logits, last_logits, longest):
    sums = first_logits[:, None] + last_logits
    is_span = torch.ones_like(sums, dtype=torch.bool).triu().tril(longest + 1)
    return divmod(sums.masked_fill(~is_span, -torch.inf).argmax().item(), len(last_logits))
