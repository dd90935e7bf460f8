"""Answers to homework 0 that the visible checks once let pass."""

import torch

from autograder.proving.strangers import stranger


@stranger(of="different_words")
def first_word_taken_for_granted(text):
    words = text.lower().split()
    seen = [words[0]]
    for word in words[1:]:
        if word not in seen:
            seen.append(word)
    return len(seen)


@stranger(of="merge_groups")
def groups_from_the_last(x):
    return torch.cat(x.unbind(dim=1)[::-1], dim=-1)


@stranger(of="real_lengths")
def different_tokens_counted(tokens, pad):
    return torch.tensor([len(set(row) - {pad}) for row in tokens.tolist()])


@stranger(of="pieces_per_word")
def any_space_begins_a_word(pieces):
    counts = []
    for piece in pieces:
        if not counts or " " in piece:
            counts.append(0)
        counts[-1] += 1
    return counts


@stranger(of="pieces_per_word")
def any_white_space_begins_a_word(pieces):
    counts = []
    for piece in pieces:
        if not counts or piece[:1].isspace():
            counts.append(0)
        counts[-1] += 1
    return counts


@stranger(of="different_words")
def only_neighbours_compared(text):
    words = text.lower().split()
    return sum(word != before for before, word in zip([None, *words], words, strict=False))
