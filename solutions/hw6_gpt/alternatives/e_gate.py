"""Right gates of homework 6 that look nothing like the reference."""

import torch
from torch.nn import functional

from autograder.catalogue import alternative


@alternative(of="gated")
def hidden_number_after_hidden_number(x, W_gate, W_expand, W_contract):
    answer = torch.zeros_like(x)
    for gate, expand, contract in zip(W_gate, W_expand, W_contract.T, strict=True):
        opened = x @ gate
        answer = answer + (opened * torch.sigmoid(opened) * (x @ expand))[..., None] * contract
    return answer


@alternative(of="gated")
def both_layers_by_one_matrix(x, W_gate, W_expand, W_contract):
    gate, wide = functional.linear(x, torch.cat([W_gate, W_expand])).chunk(2, dim=-1)
    return functional.linear(wide * functional.silu(gate), W_contract)
