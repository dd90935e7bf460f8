"""What goes wrong in homework 6, exercise 2, continued: the sums around the parts, and the weights."""

import math

import torch
from torch.nn import functional

from autograder.catalogue import misconception

from ..notebook import CausalBlock as RightBlock


class _Block(RightBlock):
    """A right block in parts; each mistake changes one of them."""

    def forward(self, x):
        x = x + self.attention(self.ln_1(x))
        return x + self.feed_forward(self.ln_2(x))

    def feed_forward(self, x):
        return self.mlp["c_proj"](functional.gelu(self.mlp["c_fc"](x), approximate="tanh"))

    def attention(self, x):
        heads = self.attn["c_attn"](x).unflatten(-1, (3, self.n_heads, -1))
        mixed = self.mixed(*heads.permute(2, 0, 3, 1, 4))  # (B, H, T, d_k)
        return self.attn["c_proj"](mixed.transpose(1, 2).flatten(2))

    def mixed(self, query, key, value):
        return self.weights(query @ key.mT / math.sqrt(query.shape[-1])) @ value

    def weights(self, scores):
        is_future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        return scores.masked_fill(is_future, -math.inf).softmax(-1)


@misconception(of="CausalBlock")
class AttentionNotAdded(_Block):
    """The answer of attention replaces x instead of being added to it.

    The first formula has an x after the arrow, before the plus. Where is it in your `forward`? Is there still
    a way from x to the output if attention finds nothing?
    """

    def forward(self, x):
        x = self.attention(self.ln_1(x))
        return x + self.feed_forward(self.ln_2(x))


@misconception(of="CausalBlock")
class MlpNotAdded(_Block):
    """The answer of the mlp replaces x instead of being added to it.

    The second formula has an x after the arrow, before the plus. What becomes of everything that attention
    found if the mlp answers 0?
    """

    def forward(self, x):
        x = x + self.attention(self.ln_1(x))
        return self.feed_forward(self.ln_2(x))


@misconception(of="CausalBlock")
class NothingAdded(_Block):
    """Neither attention nor the mlp is added to x; each hands on its own answer only.

    Set both c_proj to zero and follow x through your `forward`. What is left of it, and what is left by the
    formulas?
    """

    def forward(self, x):
        return self.feed_forward(self.ln_2(self.attention(self.ln_1(x))))


@misconception(of="CausalBlock")
class ScoresNotScaled(_Block):
    """The scores are not divided by the root of d_k.

    How large are dot products of d_k numbers that have a variance of 1 each? What stands between the dot
    product and the softmax in the statement?
    """

    def mixed(self, query, key, value):
        return self.weights(query @ key.mT) @ value


@misconception(of="CausalBlock")
class TrueTakenForMasked(_Block):
    """The future alone is attended to, as when `attn_mask` is True there: for torch True means "may attend".

    Which positions may the first query attend to by your mask, and which may the last one? Where does the
    documentation say what True means?
    """

    def mixed(self, query, key, value):
        T = query.shape[-2]
        mask = torch.ones(T, T, dtype=torch.bool).triu(1)
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)


@misconception(of="CausalBlock")
class ScoresMultipliedByTheTriangle(_Block):
    """The scores of the future are set to 0, and a score of 0 is no prohibition.

    What is $e^0$? Which weight does a softmax give to a score of 0 beside scores of −1 and −2?
    """

    def weights(self, scores):
        return (scores * torch.ones_like(scores).tril()).softmax(-1)


@misconception(of="CausalBlock")
class SoftmaxOverTheQueries(_Block):
    """The softmax runs over the queries, so the weights of one key sum to one instead of those of one query.

    Add up the weights with which position 2 attends. Which axis of your scores lists the keys?
    """

    def weights(self, scores):
        is_future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        return scores.masked_fill(is_future, -math.inf).softmax(-2)


@misconception(of="CausalBlock")
class PartsSideBySide(_Block):
    """Attention and mlp read the same x; the mlp of GPT-2 reads the sum that attention leaves.

    The second formula has an x on its right side. Is it the x before the first formula, or after it?
    """

    def forward(self, x):
        return x + self.attention(self.ln_1(x)) + self.feed_forward(self.ln_2(x))


@misconception(of="CausalBlock")
class MlpReadsUnnormalised(_Block):
    """The mlp reads x as it is, so that ln_2 has no effect.

    Double the weight of ln_2. Does the output of your block change?
    """

    def forward(self, x):
        x = x + self.attention(self.ln_1(x))
        return x + self.feed_forward(x)


@misconception(of="CausalBlock")
class WhatIsAddedNormalised(_Block):
    """The norms come after attention and mlp, just before the sums; GPT-2 normalises what each part reads.

    In the first formula, is ln_1 inside the brackets of attention or around it? What does your attention
    read?
    """

    def forward(self, x):
        x = x + self.ln_1(self.attention(x))
        return x + self.ln_2(self.feed_forward(x))


@misconception(of="CausalBlock")
class ItselfHidden(_Block):
    """A position does not see itself, and the first one sees nothing: its softmax is NaN.

    Print your mask for T = 4. How many positions may the first one attend to, and how many should it? What is
    the softmax of a row that is all minus infinity?
    """

    def weights(self, scores):
        is_hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(0)
        return scores.masked_fill(is_hidden, -math.inf).softmax(-1)


@misconception(of="CausalBlock")
class ItselfHiddenAtAHugeNegative(_Block):
    """A position does not see itself, and the first one, to which all is forbidden alike, sees the whole row.

    Print your mask for T = 4. How many positions may the first one attend to, and how many should it? What is
    the softmax of a row of equal scores, however low?
    """

    def weights(self, scores):
        is_hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(0)
        return scores.masked_fill(is_hidden, -1e9).softmax(-1)
