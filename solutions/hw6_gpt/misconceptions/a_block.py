"""What goes wrong in homework 6, exercise 2: the causal block."""

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
        return self.mlp["c_proj"](self.gelu(self.mlp["c_fc"](x)))

    def gelu(self, x):
        return functional.gelu(x, approximate="tanh")

    def attention(self, x):
        query, key, value = (self.split(part) for part in self.parts(x))
        weights = self.weights(query @ key.mT * self.scale(x.shape[-1]))
        return self.attn["c_proj"](self.merge(weights @ value))

    def parts(self, x):
        return self.attn["c_attn"](x).chunk(3, dim=-1)

    def split(self, x):
        B, T, D = x.shape
        return x.view(B, T, self.n_heads, D // self.n_heads).transpose(1, 2)

    def merge(self, x):
        return x.transpose(1, 2).flatten(2)

    def scale(self, d_model):
        return (d_model // self.n_heads) ** -0.5

    def hidden(self, T):
        return torch.ones(T, T, dtype=torch.bool).triu(1)

    def weights(self, scores):
        return scores.masked_fill(self.hidden(scores.shape[-1]), -math.inf).softmax(-1)


@misconception(of="CausalBlock")
class MaskOfTheFirstText(_Block):
    """The mask is made for the first text, and kept for texts of other lengths.

    For which T was your mask made? What becomes of a row that is shorter, or longer?
    """

    first = None

    def hidden(self, T):
        self.first = self.first or T
        return torch.ones(self.first, self.first, dtype=torch.bool).triu(1)


@misconception(of="CausalBlock")
class FutureAtMinusAHundred(_Block):
    """The scores of later positions become −100, which is more than the scores that a trained block may have.

    If all scores that a position may see are −300, where does the weight go? Which number is below all?
    """

    def weights(self, scores):
        return scores.masked_fill(self.hidden(scores.shape[-1]), -100.0).softmax(-1)


@misconception(of="CausalBlock")
class MaskMissing(_Block):
    """There is no mask, so every position attends to the whole row.

    Change the last vector of x and look at the output at position 0. How could it know?
    """

    def hidden(self, T):
        return torch.zeros(T, T, dtype=torch.bool)


@misconception(of="CausalBlock", seen="https://github.com/tinygrad/tinygrad/pull/2425")
class MaskOneTooFar(_Block):
    """The mask leaves the next position visible as well: its diagonal is off by one.

    Print your mask for T = 4. Which entries of its first row are open, and which should be?
    """

    def hidden(self, T):
        return torch.ones(T, T, dtype=torch.bool).triu(2)


@misconception(
    of="CausalBlock", seen="https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/19"
)
class MaskTurnedAround(_Block):
    """The triangle is turned around: a position attends to itself and to its future.

    Print your mask for T = 4. How many positions may the first one attend to, and how many the last one?
    """

    def hidden(self, T):
        return torch.ones(T, T, dtype=torch.bool).tril(-1)


@misconception(of="CausalBlock")
class MaskAfterTheSoftmax(_Block):
    """The weights of the future are set to 0 after the softmax, so the others no longer sum to one.

    Add up the weights of the first position. What fraction went to positions that it must not see, and did
    their vectors play no role in it?
    """

    def weights(self, scores):
        return scores.softmax(-1).masked_fill(self.hidden(scores.shape[-1]), 0.0)


@misconception(of="CausalBlock", seen="https://github.com/harvardnlp/annotated-transformer/issues/118")
class HeadsCutByViewAlone(_Block):
    """The heads are made by a view to (B, H, T, d_k) without a transpose, which mixes positions and heads.

    For T = 2, D = 4 and H = 2, write down which of the eight numbers land in head 0. Do they come from both
    positions?
    """

    def split(self, x):
        B, T, D = x.shape
        return x.reshape(B, self.n_heads, T, D // self.n_heads)

    def merge(self, x):
        B, H, T, d_k = x.shape
        return x.reshape(B, T, H * d_k)


@misconception(of="CausalBlock")
class HeadsCutByViewMergedByTranspose(_Block):
    """The heads are made by a view to (B, H, T, d_k) without a transpose, though merged with one.

    For T = 2, D = 4 and H = 2, write down which of the eight numbers land in head 0. Do they come from both
    positions?
    """

    def split(self, x):
        B, T, D = x.shape
        return x.reshape(B, self.n_heads, T, D // self.n_heads)


@misconception(of="CausalBlock")
class QueriesOfEachHeadBesideItsKeys(_Block):
    """The outputs of c_attn are cut into heads first, and each head's into queries, keys and values.

    With D = 6 and H = 3, which outputs of c_attn are queries by the statement? And in your code?
    """

    def parts(self, x):
        heads = self.attn["c_attn"](x).unflatten(-1, (self.n_heads, 3, -1))
        return heads.transpose(-3, -2).flatten(-2).unbind(-2)


@misconception(of="CausalBlock")
class HeadsMergedWithoutTranspose(_Block):
    """The heads are put together by a reshape alone, so a position gets numbers of other positions.

    Your heads have the shape (B, H, T, d_k). Which axis has to stand beside d_k before the two can become D?
    """

    def merge(self, x):
        B, H, T, d_k = x.shape
        return x.reshape(B, T, H * d_k)


@misconception(of="CausalBlock", seen="https://github.com/karpathy/ng-video-lecture/pull/6")
class ScaledByTheModelsWidth(_Block):
    """The scores are divided by the root of D, the width of the model, instead of that of d_k, a head's.

    Over how many numbers does the dot product of a query and a key of one head run?
    """

    def scale(self, d_model):
        return d_model**-0.5


@misconception(of="CausalBlock")
class KeysBeforeQueries(_Block):
    """The outputs of c_attn are taken as keys, queries, values; GPT-2 has queries, keys, values.

    With random weights nobody notices, with those of GPT-2 everybody does. Which D outputs of c_attn are the
    queries?
    """

    def parts(self, x):
        key, query, value = super().parts(x)
        return query, key, value


@misconception(of="CausalBlock")
class NumbersOfAHeadSpread(_Block):
    """Head h owns every H-th number of a query instead of d_k numbers in a row.

    With D = 6 and H = 3, which numbers of a query belong to head 0 by the statement? And by your view?
    """

    def split(self, x):
        B, T, D = x.shape
        return x.view(B, T, D // self.n_heads, self.n_heads).permute(0, 3, 1, 2)

    def merge(self, x):
        return x.permute(0, 2, 3, 1).flatten(2)


@misconception(of="CausalBlock", seen="https://github.com/harvardnlp/annotated-transformer/issues/13")
class NormAfterTheSum(_Block):
    """The norms come after the sums, as in the Transformer of 2017; GPT-2 normalises what each part reads.

    In your block, is there a way from x to the output that no norm touches? And in the formula?
    """

    def forward(self, x):
        x = self.ln_1(x + self.attention(x))
        return self.ln_2(x + self.feed_forward(x))


@misconception(of="CausalBlock")
class ResidualOfTheNormalised(_Block):
    """The output of each part is added to the normalised x instead of to x itself.

    Set both c_proj to zero. What comes out, x or a norm of x?
    """

    def forward(self, x):
        x = self.ln_1(x)
        x = x + self.attention(x)
        x = self.ln_2(x)
        return x + self.feed_forward(x)


@misconception(of="CausalBlock")
class OtherGelu(_Block):
    """The gelu is the exact one; GPT-2 was trained with the approximation by tanh.

    The two differ by less than a thousandth. Which argument of `gelu` chooses between them, and what happens
    to a small difference in each of twelve layers?
    """

    def gelu(self, x):
        return functional.gelu(x)


@misconception(of="CausalBlock")
class ReluInTheMlp(_Block):
    """The mlp uses relu, as the Transformer of 2017 does, and not gelu.

    What does your mlp answer where c_fc gives −0.5? What does GPT-2's?
    """

    def gelu(self, x):
        return functional.relu(x)


@misconception(of="CausalBlock")
class BiasesLeftOut(_Block):
    """The linear layers have no biases, so that those of GPT-2 find no place.

    Count the parameters of your block and the rows of the table. Which are missing?
    """

    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        for layer in (*self.attn.values(), *self.mlp.values()):
            layer.register_parameter("bias", None)


@misconception(of="CausalBlock")
class BatchTakenForTime(_Block):
    """Attention runs over the rows of the batch: the first axis is taken for the positions.

    Hand over one row alone, and then the same row together with another. Is the answer for it the same?
    """

    def attention(self, x):
        return super().attention(x.transpose(0, 1)).transpose(0, 1)
