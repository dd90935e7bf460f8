"""Merged groups and lengths that the visible checks once let pass."""

import torch

from autograder.proving.strangers import stranger


@stranger(of="merge_groups")
def groups_from_the_last(x):
    return torch.cat(x.unbind(dim=1)[::-1], dim=-1)


@stranger(of="real_lengths")
def different_tokens_counted(tokens, pad):
    return torch.tensor([len(set(row) - {pad}) for row in tokens.tolist()])
