"""Bounds, numbers of special words and draws that the checks once let pass."""

import torch
from torch.nn import functional

from autograder.proving.strangers import stranger

from ..notebook import IGNORED, masked_batch


@stranger(of="positions_to_predict")
def first_four_words_special(tokens, is_special, uniforms, fraction):
    return (uniforms < fraction) & (tokens > 3)


@stranger(of="mlm_loss")
def word_0_ignored(logits, targets):
    targets = targets.masked_fill(targets == 0, IGNORED)
    return functional.cross_entropy(logits.mT, targets, ignore_index=IGNORED)


@stranger(of="corrupt")
def masked_up_to_the_bound(tokens, is_asked, kinds, replacements, mask_token):
    inputs = torch.where(is_asked & (kinds > 0.8) & (kinds < 0.9), replacements, tokens)
    return torch.where(is_asked & (kinds <= 0.8), mask_token, inputs)


@stranger(of="corrupt")
def replaced_up_to_the_bound(tokens, is_asked, kinds, replacements, mask_token):
    inputs = torch.where(is_asked & (kinds >= 0.8) & (kinds <= 0.9), replacements, tokens)
    return torch.where(is_asked & (kinds < 0.8), mask_token, inputs)


@stranger(of="masked_batch")
def begun_again_from_the_seed(tokens, is_special, mask_token, generator):
    return masked_batch(
        tokens, is_special, mask_token, torch.Generator().manual_seed(generator.initial_seed())
    )


@stranger(of="masked_batch")
def last_word_never_drawn(tokens, is_special, mask_token, generator):
    last = int((~is_special).nonzero()[-1])
    inputs, targets = masked_batch(tokens, is_special, mask_token, generator)
    return torch.where((targets != IGNORED) & (inputs != tokens) & (inputs == last), 5, inputs), targets


@stranger(of="masked_batch")
def one_replacement_for_each_text(tokens, is_special, mask_token, generator):
    inputs, targets = masked_batch(tokens, is_special, mask_token, generator)
    words = (~is_special).nonzero()[:, 0]
    drawn = words[torch.randint(len(words), (len(tokens), 1), generator=generator)]
    is_replaced = (inputs != tokens) & (inputs != mask_token)
    return torch.where(is_replaced, drawn, inputs), targets
