"""Bounds and numbers of special words that the checks once let pass."""

import math

import torch
from torch.nn import functional

from autograder.proving.strangers import stranger

from ..notebook import IGNORED, CrossAttention, EncoderDecoder, masked_batch


@stranger(of="positions_to_predict")
def first_four_words_special(tokens, is_special, uniforms, share):
    return (uniforms < share) & (tokens > 3)


@stranger(of="mlm_loss")
def word_0_ignored(logits, targets):
    targets = targets.masked_fill(targets == 0, IGNORED)
    return functional.cross_entropy(logits.mT, targets, ignore_index=IGNORED)


@stranger(of="CrossAttention")
class PaddingAtMinusAHundred(CrossAttention):
    def forward(self, x, memory, mask):
        parts = x @ self.W_query.T, memory @ self.W_key.T, memory @ self.W_value.T
        q, k, v = (part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part in parts)
        weights = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~mask, -100.0).softmax(dim=-1)
        return (weights @ v).transpose(1, 2).flatten(2) @ self.W_output.T


@stranger(of="EncoderDecoder")
class MaskOfTheLastSource(EncoderDecoder):
    def encode(self, source):
        memory, self.last = super().encode(source)
        return memory, self.last

    def decode(self, target, memory, mask):
        return super().decode(target, memory, self.last)


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


@stranger(of="first_token")
def added_up_to_the_second(hidden, mask):
    return (hidden * (mask.cumsum(1) == 1)[..., None]).sum(1)


@stranger(of="mean_of_tokens")
def divided_by_the_vectors_that_are_not_0(hidden, mask):
    real = hidden.masked_fill(~mask[..., None], 0.0)
    return real.sum(1) / (real != 0).any(-1).sum(1, keepdim=True)


@stranger(of="tags_of_words")
def piece_before_the_first_is_the_last(logits, word_of_piece):
    return logits[(word_of_piece >= 0) & (word_of_piece != word_of_piece.roll(1))].argmax(-1)


@stranger(of="tags_of_words")
def number_one_larger_than_before(logits, word_of_piece):
    return logits[torch.diff(word_of_piece, prepend=word_of_piece[:1]) == 1].argmax(-1)
