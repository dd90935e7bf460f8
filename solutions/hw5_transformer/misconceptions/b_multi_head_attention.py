"""What goes wrong in multi-head attention: heads, matrices, scale and mask."""

import math

from autograder.catalogue import misconception

from ..notebook import MultiHeadAttention as RightAttention

VIEWED = "https://github.com/harvardnlp/annotated-transformer/issues/118"
MERGED = "https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/177"

# 12. MultiHeadAttention


class _Attention(RightAttention):
    """The right attention in pieces to break."""

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def merge(self, heads):
        return heads.transpose(1, 2).flatten(2)

    def scaled(self, scores, q):
        return scores / math.sqrt(q.shape[-1])

    def attend(self, q, k, v, mask):
        scores = self.scaled(q @ k.transpose(-2, -1), q)
        scores = scores if mask is None else scores.masked_fill(~mask, -math.inf)
        return scores.softmax(-1) @ v

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            self.split(self.W_query(query)),
            self.split(self.W_key(key)),
            self.split(self.W_value(value)),
        )
        return self.W_output(self.merge(self.attend(q, k, v, mask)))


@misconception(of="MultiHeadAttention", seen=VIEWED)
class HeadsViewedWithoutTransposing(_Attention):
    """Heads are made by viewing (B, T, D) as (B, H, T, d_k), which mixes positions and heads.

    What does your head 0 see of a sequence? Try exercise 10's example with your line.
    """

    def split(self, x):
        return x.reshape(len(x), self.n_heads, x.shape[1], -1)

    def merge(self, heads):
        return heads.reshape(len(heads), heads.shape[2], -1)


@misconception(of="MultiHeadAttention", seen=MERGED)
class MergedWithoutTransposing(_Attention):
    """The heads are merged by a view, without making those of one position adjacent first.

    From how many positions does the first vector of your output come? Try exercise 11's example.
    """

    def merge(self, heads):
        return heads.reshape(len(heads), heads.shape[2], -1)


@misconception(
    of="MultiHeadAttention", seen="https://github.com/MarcoMeter/episodic-transformer-memory-ppo/pull/22"
)
class OneProjectionForAllHeads(_Attention):
    """All heads use the same rows of the matrices, so all of them find the same.

    Which rows of `W_query.weight` does the last head read? What would be the use of several heads that
    ask the same question?
    """

    def split(self, x):
        first = x[..., : x.shape[-1] // self.n_heads]
        return first[:, None].expand(-1, self.n_heads, -1, -1)


@misconception(of="MultiHeadAttention")
class HeadCountIgnored(_Attention):
    """There is one head as wide as the model, whatever `n_heads` says.

    Where does `n_heads` enter your forward pass? What changes in your output if it is 1?
    """

    def __init__(self, d_model, n_heads):
        super().__init__(d_model, 1)


@misconception(of="MultiHeadAttention")
class OutputProjectionMissing(_Attention):
    """The heads' outputs come back as they are: W_output is there and not used.

    What should the output be if W_output's matrix is 0? Which line of `forward` uses it?
    """

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            self.split(self.W_query(query)),
            self.split(self.W_key(key)),
            self.split(self.W_value(value)),
        )
        return self.merge(self.attend(q, k, v, mask))


@misconception(of="MultiHeadAttention")
class KeyLengthForQueryLength(_Attention):
    """All tensors are cut with the number of queries, so other numbers of keys do not fit.

    How many positions has what `W_key` makes: as many as `query` or as `key`?
    """

    def forward(self, query, key, value, mask=None):
        B, T, D = query.shape
        q, k, v = (
            layer(x).view(B, T, self.n_heads, D // self.n_heads).transpose(1, 2)
            for layer, x in ((self.W_query, query), (self.W_key, key), (self.W_value, value))
        )
        return self.W_output(self.merge(self.attend(q, k, v, mask)))


@misconception(of="MultiHeadAttention", seen="https://github.com/karpathy/ng-video-lecture/pull/6")
class HeadsScaledByTheModelsWidth(_Attention):
    """The scores are divided by the root of the model's width instead of a head's.

    How many products does one score of one head sum up, D or d_k?
    """

    def scaled(self, scores, q):
        return scores / math.sqrt(self.n_heads * q.shape[-1])


@misconception(of="MultiHeadAttention")
class HeadsNotScaled(_Attention):
    """The scores of a head are not divided by the root of its width.

    What is the variance of a sum of d_k products? Which line makes up for it?
    """

    def scaled(self, scores, q):
        return scores


@misconception(of="MultiHeadAttention")
class KeysMadeByTheQueryMatrix(_Attention):
    """The keys are made with W_query, and W_key is never used.

    Look at the gradient of `W_key.weight`. Why does it have none?
    """

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            self.split(self.W_query(query)),
            self.split(self.W_query(key)),
            self.split(self.W_value(value)),
        )
        return self.W_output(self.merge(self.attend(q, k, v, mask)))


@misconception(of="MultiHeadAttention")
class ValuesNotProjected(_Attention):
    """The values are taken as they come, and W_value is never used.

    Look at the gradient of `W_value.weight`. Why does it have none?
    """

    def forward(self, query, key, value, mask=None):
        q, k, v = self.split(self.W_query(query)), self.split(self.W_key(key)), self.split(value)
        return self.W_output(self.merge(self.attend(q, k, v, mask)))


@misconception(of="MultiHeadAttention")
class MaskIgnored(_Attention):
    """The mask is taken and not used.

    Which line of your code reads `mask`?
    """

    def attend(self, q, k, v, mask):
        return super().attend(q, k, v, None)


@misconception(of="MultiHeadAttention", seen="https://github.com/pytorch/pytorch/pull/120668")
class MaskReadTheOtherWayRound(_Attention):
    """The mask's True is read as "hidden", as in some libraries; here it means "may be attended to".

    Which keys does your attention look at where the mask is True?
    """

    def attend(self, q, k, v, mask):
        return super().attend(q, k, v, None if mask is None else ~mask)


@misconception(of="MultiHeadAttention")
class AttendsOverTheBatch(_Attention):
    """Sequences attend to each other: the first axis is treated as that of the positions.

    Does your output for a sequence change when another one stands beside it? Which axis of (B, T, D)
    holds the positions?
    """

    def forward(self, query, key, value, mask=None):
        query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        return super().forward(query, key, value, mask).transpose(0, 1)


@misconception(of="MultiHeadAttention")
class LayersInAPythonList(_Attention):
    """The module does not know the parameters of the four layers, as when these are kept in a Python list.

    What does `named_parameters()` list? Which assignments does an `nn.Module` take note of?
    """

    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        self.layers = [self.W_query, self.W_key, self.W_value, self.W_output]
        del self.W_query, self.W_key, self.W_value, self.W_output


@misconception(of="MultiHeadAttention")
class ProjectionsWithoutBias(_Attention):
    """The layers have no bias, where the statement gives each of them one.

    How many parameters does your module have? Which argument of `nn.Linear` decides about the bias?
    """

    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        for layer in (self.W_query, self.W_key, self.W_value, self.W_output):
            layer.register_parameter("bias", None)
