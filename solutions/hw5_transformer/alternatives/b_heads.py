"""Right solutions about heads and order that look nothing like the reference."""

import math

import torch
from torch import nn
from torch.nn import functional

from autograder.catalogue import alternative

from ..notebook import LAYERS


@alternative(of="split_heads")
def by_chunks(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


@alternative(of="merge_heads")
def by_joining(x):
    return torch.cat([x[:, head] for head in range(x.shape[1])], dim=-1)


@alternative(of="MultiHeadAttention")
class HeadByHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.d_head = d_model // n_heads
        for name in ("W_query", "W_key", "W_value", "W_output"):
            self.add_module(name, nn.Linear(d_model, d_model))

    def forward(self, query, key, value, mask=None):
        output = self.W_output.bias.expand(query.shape)
        allowed = torch.ones((), dtype=torch.bool) if mask is None else mask
        n_heads = query.shape[-1] // self.d_head
        allowed = allowed.expand(len(query), n_heads, query.shape[1], key.shape[1])
        for head in range(n_heads):
            rows = slice(head * self.d_head, (head + 1) * self.d_head)
            q, k, v = (
                functional.linear(x, layer.weight[rows], layer.bias[rows])
                for layer, x in ((self.W_query, query), (self.W_key, key), (self.W_value, value))
            )
            scores = torch.where(allowed[:, head], torch.einsum("btk,bsk->bts", q, k), -math.inf)
            weights = (scores / self.d_head**0.5).softmax(-1)
            output = output + weights @ v @ self.W_output.weight[:, rows].T
        return output


@alternative(of="permutation_gap")
def token_by_token(layer, x, order):
    def self_attention(x):
        scores = x @ x.transpose(1, 2) / math.sqrt(x.shape[-1])
        return scores.softmax(-1) @ x

    layers = {
        "self_attention": self_attention,
        "neighbours": lambda x: x + torch.cat([x[:, -1:], x[:, :-1]], dim=1),
        "with_positions": lambda x: self_attention(x + torch.arange(x.shape[1])[None, :, None]),
    }
    before = layers[layer](torch.stack([x[:, i] for i in order], dim=1))
    after = layers[layer](x)
    return max((before[:, i] - after[:, place]).abs().max().item() for i, place in enumerate(order))


@alternative(of="query_for")
def by_solving(keys, wanted, fraction):
    log_weights = torch.full((len(keys),), math.log((1 - fraction) / (len(keys) - len(wanted)))).double()
    log_weights[wanted] = math.log(fraction / len(wanted))
    return torch.linalg.pinv(keys) @ log_weights * math.sqrt(keys.shape[-1])


@alternative(of="fault_of_the_map")
def by_the_sums():
    first_row, last_row, largest_column = 0.096, 1.0, 0.876
    if largest_column == 1:
        return "softmax_over_queries"
    return "mask_after_softmax" if first_row < last_row else "scores_not_scaled"


@alternative(of="permutation_gap")
def outputs_put_back_in_order(layer, x, order):
    places = [order.index(position) for position in range(len(order))]
    return (LAYERS[layer](x[:, order])[:, places] - LAYERS[layer](x)).abs().max().item()
