"""Bounds and numbers of special words that the checks once let pass."""

import math

import torch
from torch.nn import functional

from autograder.proving.strangers import stranger

from ..notebook import IGNORED, CrossAttention, EncoderDecoder, ToyTranslator


@stranger(of="positions_to_predict")
def up_to_the_share(tokens, is_special, uniforms, share):
    return (uniforms <= share) & ~is_special[tokens]


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


@stranger(of="free_accuracy")
def begun_with_word_1(tables, source, target):
    model = ToyTranslator(tables)
    memory, tokens = model.encode(source), torch.ones_like(target[:, :1])
    while tokens.shape[1] < target.shape[1]:
        words = model.decode(tokens, memory)[:, -1].argmax(dim=-1)
        tokens = torch.cat([tokens, words[:, None]], dim=1)
    is_right = tokens[:, 1:] == target[:, 1:]
    return is_right.double().mean().item(), is_right.all(dim=1).double().mean().item()
