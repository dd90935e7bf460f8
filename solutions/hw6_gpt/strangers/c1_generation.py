"""Contexts that were cropped to another width, which the checks once let pass."""

import torch

from autograder.proving.strangers import stranger

from ..notebook import TableModel


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
