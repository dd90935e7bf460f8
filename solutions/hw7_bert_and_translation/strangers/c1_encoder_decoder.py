"""Masks of cross-attention and of a translator that the checks once let pass."""

import math

from autograder.proving.strangers import stranger

from ..notebook import CrossAttention, EncoderDecoder


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
