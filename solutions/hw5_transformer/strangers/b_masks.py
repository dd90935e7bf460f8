"""Masks that are not low enough for every score, which the checks once let pass."""

import math

from autograder.proving.strangers import stranger

from ..notebook import MultiHeadAttention


def _found(scores, value, mask):
    scores = scores if mask is None else scores.masked_fill(~mask, -100.0)
    return scores.softmax(-1) @ value


@stranger(of="MultiHeadAttention")
class HiddenAtMinusAHundred(MultiHeadAttention):
    def forward(self, query, key, value, mask=None):
        layers = zip((self.W_query, self.W_key, self.W_value), (query, key, value), strict=True)
        q, k, v = (layer(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for layer, x in layers)
        found = _found(q @ k.mT / math.sqrt(q.shape[-1]), v, mask)
        return self.W_output(found.transpose(1, 2).flatten(2))
