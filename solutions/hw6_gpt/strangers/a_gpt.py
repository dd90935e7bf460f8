"""Losses and blocks that the checks once let pass: padding, other orders of sizes."""

import math

import torch
from torch.nn import functional

from autograder.proving.strangers import stranger

from ..notebook import CausalBlock


@stranger(of="next_token_loss")
def padding_times_zero(logits, tokens, mask=None):
    losses = functional.cross_entropy(logits[:, :-1].mT, tokens[:, 1:], reduction="none")
    if mask is None:
        return losses.mean()
    return (losses * mask[:, 1:]).sum() / mask[:, 1:].sum()


@stranger(of="next_token_loss")
def both_tokens_real(logits, tokens, mask=None):
    losses = functional.cross_entropy(logits[:, :-1].mT, tokens[:, 1:], reduction="none")
    return losses.mean() if mask is None else losses[mask[:, 1:] & mask[:, :-1]].mean()


@stranger(of="next_token_loss")
def every_prediction_with_every_token(logits, tokens, mask=None):
    log_norms = logits[:, :-1].logsumexp(-1)
    chosen = logits[:, :-1].gather(-1, tokens[:, 1:, None])
    losses = log_norms[..., None] - chosen[:, None, :, 0]  # (B, T - 1, T - 1)
    return losses.mean() if mask is None else losses[mask[:, 1:]].mean()


@stranger(of="CausalBlock")
class EightPositions(CausalBlock):
    def attention(self, x):
        B, T, D = x.shape
        query, key, value = self.attn["c_attn"](x).view(B, T, 3, self.n_heads, -1).permute(2, 0, 3, 1, 4)
        future = torch.ones(8, 8, dtype=torch.bool).triu(1)[:T, :T]
        scores = query @ key.mT / math.sqrt(D // self.n_heads)
        weights = scores.masked_fill(future, -torch.inf).softmax(-1)
        return self.attn["c_proj"]((weights @ value).transpose(1, 2).flatten(2))
