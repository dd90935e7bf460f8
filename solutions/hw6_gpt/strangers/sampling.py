"""Filters that the checks once took for known mistakes."""

import torch

from autograder.proving.strangers import stranger

from ..notebook import beam_search


@stranger(of="top_k")
def k_smallest(logits, k):
    threshold = logits.topk(k, dim=-1, largest=False).values[..., -1:]
    return logits.masked_fill(logits < threshold, -torch.inf)


@stranger(of="min_p")
def logarithm_forgotten(logits, p):
    relative = logits - logits.max(dim=-1, keepdim=True).values
    return logits.masked_fill(relative < p, -torch.inf)


@stranger(of="beam_search")
def one_step_too_many(table, prompt, eos, n_tokens, beam_width, length_penalty):
    return beam_search(table, prompt, eos, n_tokens + 1, beam_width, length_penalty)


@stranger(of="beam_search")
def multiplied_by_the_length(table, prompt, eos, n_tokens, beam_width, length_penalty):
    return beam_search(table, prompt, eos, n_tokens, beam_width, -length_penalty)
