"""What goes wrong between the parts of multi-head attention: which matrix, which axis, what is added."""

import math

from torch import nn

from autograder.catalogue import misconception

# 12. MultiHeadAttention


class _Parts(nn.Module):
    """The right attention, step by step, for a subclass to take a wrong step."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("W_query", "W_key", "W_value", "W_output"):
            self.add_module(name, nn.Linear(d_model, d_model))

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def merge(self, heads):
        return heads.transpose(1, 2).flatten(2)

    def made(self, query, key, value):
        return self.W_query(query), self.W_key(key), self.W_value(value)

    def weights(self, scores, mask):
        return (scores if mask is None else scores.masked_fill(~mask, -math.inf)).softmax(-1)

    def forward(self, query, key, value, mask=None):
        q, k, v = map(self.split, self.made(query, key, value))
        weights = self.weights(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), mask)
        return self.W_output(self.merge(weights @ v))


@misconception(of="MultiHeadAttention")
class MaskComesAfterTheSoftmax(_Parts):
    """The mask comes after the softmax, so hidden keys take part of the weights away.

    Sum the weights of a query under a mask. Where has the rest gone?
    """

    def weights(self, scores, mask):
        return scores.softmax(-1) if mask is None else scores.softmax(-1) * mask


@misconception(of="MultiHeadAttention")
class HeadsLetQueriesCompete(_Parts):
    """The softmax of each head runs over the queries instead of the keys.

    Sum the weights of a head along its two last axes. Which sums should be one?
    """

    def weights(self, scores, mask):
        return (scores if mask is None else scores.masked_fill(~mask, -math.inf)).softmax(-2)


@misconception(of="MultiHeadAttention")
class ValuesMadeFromTheKeys(_Parts):
    """W_value is applied to `key`, so `value` is never read.

    Change `value` and leave `key` as it is. Does your output change? (In self-attention nobody notices.)
    """

    def made(self, query, key, value):
        return self.W_query(query), self.W_key(key), self.W_value(key)


@misconception(of="MultiHeadAttention")
class MatricesOfQueryAndKeyExchanged(_Parts):
    """Queries are made with W_key and keys with W_query.

    Which matrix turns a query that comes in into the numbers that a head compares?
    """

    def made(self, query, key, value):
        return self.W_key(query), self.W_query(key), self.W_value(value)


@misconception(of="MultiHeadAttention")
class QueryAddedToTheOutput(_Parts):
    """The query is added to the output; the residual belongs to the block, which would add it twice.

    With W_output's matrix 0, what should come out, and what does?
    """

    def forward(self, query, key, value, mask=None):
        return query + super().forward(query, key, value, mask)


@misconception(of="MultiHeadAttention")
class SplitByAView(_Parts):
    """The split views (B, T, D) as (B, H, T, d_k) at once, which mixes positions; the merge does not undo it.

    What does your head 0 see of a sequence? Try exercise 10's example with your line.
    """

    def split(self, x):
        return x.reshape(len(x), self.n_heads, x.shape[1], -1)


@misconception(of="MultiHeadAttention")
class EveryHthNumberForAHead(_Parts):
    """Each head takes every H-th number of a vector, where it owns d_k numbers in a row.

    Into which two axes do you cut D, and in which order? Try exercise 10's example with your line.
    """

    def split(self, x):
        return x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)

    def merge(self, heads):
        return heads.permute(0, 2, 3, 1).flatten(2)


@misconception(of="MultiHeadAttention")
class MergedNumberByNumber(_Parts):
    """The heads are merged number by number: the first of every head, then the second of every head.

    Which d_k numbers of a vector should head 0 give back? Try exercise 11's example with your line.
    """

    def merge(self, heads):
        return heads.permute(0, 2, 3, 1).flatten(2)
