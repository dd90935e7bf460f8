"""Filters that the checks once took for known mistakes."""

import torch

from autograder.proving.strangers import stranger

from ..notebook import TableModel, beam_search


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


def _text(table, prompt, n_tokens, generator, width):
    model, tokens = TableModel(table), prompt
    for _ in range(n_tokens):
        probs = model(tokens[:, -width:])[:, -1].softmax(-1)
        tokens = torch.cat([tokens, torch.multinomial(probs, 1, generator=generator)], dim=1)
    return tokens


@stranger(of="generate", may_be=["context_not_cropped"])
def cropped_to_one_token_more(table, prompt, n_tokens, generator):
    return _text(table, prompt, n_tokens, generator, len(table) + 1)


@stranger(of="generate", may_be=["context_not_cropped"])
def cropped_to_the_size_of_the_vocabulary(table, prompt, n_tokens, generator):
    return _text(table, prompt, n_tokens, generator, table.shape[-1])
