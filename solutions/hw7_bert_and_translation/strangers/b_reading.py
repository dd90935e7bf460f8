"""Readers of texts that the checks once took for known mistakes or let pass."""

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


@stranger(of="first_token")
def added_up_to_the_second(hidden, mask):
    return (hidden * (mask.cumsum(1) == 1)[..., None]).sum(1)


@stranger(of="mean_of_tokens")
def divided_by_the_vectors_that_are_not_0(hidden, mask):
    real = hidden.masked_fill(~mask[..., None], 0.0)
    return real.sum(1) / (real != 0).any(-1).sum(1, keepdim=True)


@stranger(of="tags_of_words")
def piece_before_the_first_is_the_last(logits, word_of_piece):
    return logits[(word_of_piece >= 0) & (word_of_piece != word_of_piece.roll(1))].argmax(-1)


@stranger(of="tags_of_words")
def number_one_larger_than_before(logits, word_of_piece):
    return logits[torch.diff(word_of_piece, prepend=word_of_piece[:1]) == 1].argmax(-1)
