"""Right solutions of part B of homework 0 that look nothing like the reference: axes and lengths."""

import numpy as np
import torch

from autograder.catalogue import alternative


@alternative(of="split_groups")
def by_chunks(x, n_groups):
    return torch.stack(x.chunk(n_groups, dim=-1), dim=1)


@alternative(of="split_groups")
def in_numpy(x, n_groups):
    return np.stack(np.split(x.numpy(), n_groups, axis=-1), axis=1)


@alternative(of="split_groups")
def written_into_zeros(x, n_groups):
    B, T, D = x.shape
    d_k = D // n_groups
    groups = torch.zeros(B, n_groups, T, d_k)
    for h in range(n_groups):
        groups[:, h] = x[:, :, h * d_k : (h + 1) * d_k]
    return groups


@alternative(of="merge_groups")
def by_writing_slices(x):
    B, H, T, d_k = x.shape
    merged = torch.zeros(B, T, H * d_k, dtype=x.dtype)
    for h in range(H):
        merged[:, :, h * d_k : (h + 1) * d_k] = x[:, h]
    return merged


@alternative(of="add_per_position")
def by_turning_round(x, offsets):
    return (x.transpose(1, 2) + offsets).transpose(1, 2)


@alternative(of="real_lengths")
def row_by_row(tokens, pad):
    return torch.tensor([len([token for token in row if token != pad]) for row in tokens.tolist()])


@alternative(of="name_the_wrong_move")
def by_trying_them_out():
    x = torch.arange(24).reshape(2, 3, 4)
    is_shown = x.reshape(2, 2, 3, 2).transpose(0, 1)[0, 1, 0, 0] == 12
    return "read_with_the_groups_first" if is_shown else "reshaped_to_the_final_shape"
