"""Filters that the checks once took for known mistakes or let pass."""

import math

import torch

from autograder.proving.strangers import stranger


@stranger(of="top_k")
def k_smallest(logits, k):
    threshold = logits.topk(k, dim=-1, largest=False).values[..., -1:]
    return logits.masked_fill(logits < threshold, -torch.inf)


@stranger(of="min_p")
def logarithm_forgotten(logits, p):
    relative = logits - logits.max(dim=-1, keepdim=True).values
    return logits.masked_fill(relative < p, -torch.inf)


@stranger(of="min_p")
def rejected_at_minus_a_hundred(logits, p):
    relative = logits - logits.max(dim=-1, keepdim=True).values
    return logits.masked_fill(relative < math.log(p), -100.0)


@stranger(of="repetition_penalty")
def divided_above_one(logits, history, penalty):
    has_occurred = torch.zeros_like(logits, dtype=torch.bool).scatter(1, history, True)
    return torch.where(has_occurred, torch.where(logits > 1, logits / penalty, logits * penalty), logits)
