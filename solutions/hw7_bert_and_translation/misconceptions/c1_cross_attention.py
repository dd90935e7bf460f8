"""What goes wrong between decoder and memory: cross-attention and its masks (homework 7, part C)."""

import math

import torch
from torch import nn

from autograder.catalogue import misconception

# 14. CrossAttention

NAMES = ("W_query", "W_key", "W_value", "W_output")


class _CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in NAMES:
            setattr(self, name, nn.Parameter(torch.randn(d_model, d_model, dtype=torch.float64)))

    def split(self, part):
        return part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def scaled(self, scores, d_model):
        return scores / math.sqrt(d_model // self.n_heads)

    def masked(self, scores, mask):
        return scores.masked_fill(~mask, -math.inf)

    def attend(self, asking, asked, answering, mask):
        q, k = self.split(asking @ self.W_query.T), self.split(asked @ self.W_key.T)
        scores = self.scaled(q @ k.transpose(-2, -1), asking.shape[-1])
        weights = self.masked(scores, mask).softmax(dim=-1)
        found = weights @ self.split(answering @ self.W_value.T)
        return found.transpose(1, 2).flatten(start_dim=2) @ self.W_output.T

    def forward(self, x, memory, mask):
        return self.attend(x, memory, memory, mask)


@misconception(of="CrossAttention", seen="https://github.com/keitakurita/Practical_NLP_in_PyTorch/issues/1")
class KeysAndValuesOfTheDecoder(_CrossAttention):
    """Keys and values are computed from x, so the decoder attends to itself and never to the source.

    Change the memory: does anything you return change? Whose vectors does W_key multiply?
    """

    def forward(self, x, memory, mask):
        return self.attend(x, x, x, torch.ones(1, 1, 1, x.shape[1], dtype=torch.bool))


@misconception(of="CrossAttention", seen="https://github.com/humza909/LLM_Survey/issues/2")
class QueriesOfTheMemory(_CrossAttention):
    """The memory asks and the target answers, so there is one result for each source position.

    How many positions does your result have, T or S? Which of the two are the queries?
    """

    def forward(self, x, memory, mask):
        return self.attend(memory, x, x, torch.ones(1, 1, 1, x.shape[1], dtype=torch.bool))


@misconception(of="CrossAttention")
class TriangleOnTheMemory(_CrossAttention):
    """A causal triangle hides the later places of the source, which has been read to its end already.

    Which word of the source may the first word of the target depend on? What would be given away if it saw
    the last one?
    """

    def masked(self, scores, mask):
        triangle = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        weights = scores.masked_fill(~(triangle & mask), -math.inf)
        return weights.masked_fill((~(triangle & mask)).all(-1, keepdim=True), 0.0)


@misconception(of="CrossAttention")
class SourcePaddingRead(_CrossAttention):
    """The mask is not applied, so the padding of the source is read like words.

    Change what stands at a padded place of the memory. Does your result change? Where does `mask` enter?
    """

    def masked(self, scores, mask):
        return scores


@misconception(of="CrossAttention")
class ScoresNotScaled(_CrossAttention):
    """The scores are not divided by the root of d_k.

    How large is a dot product of d_k independent numbers of variance 1, typically?
    """

    def scaled(self, scores, d_model):
        return scores


@misconception(of="CrossAttention")
class ScaledByTheModel(_CrossAttention):
    """The scores are divided by the root of D, the width of the model, instead of d_k, that of a head.

    In the example D = 2 and d_k = 1. How many products does one score of one head add up?
    """

    def scaled(self, scores, d_model):
        return scores / math.sqrt(d_model)


@misconception(of="CrossAttention")
class ScaledWithoutARoot(_CrossAttention):
    """The scores are divided by d_k instead of its root.

    For d_k = 4, by which number do you divide? Which one makes the variance of a sum of d_k products 1?
    """

    def scaled(self, scores, d_model):
        return scores * self.n_heads / d_model


@misconception(of="CrossAttention")
class OneHeadOnly(_CrossAttention):
    """There is one head over the whole width, whatever `n_heads` says.

    In the example, how many different sets of weights are there? Where does your forward pass use `n_heads`?
    """

    def split(self, part):
        return part.unsqueeze(1)

    def scaled(self, scores, d_model):
        return scores / math.sqrt(d_model)


@misconception(of="CrossAttention")
class KeysAndValuesOfTheTarget(_CrossAttention):
    """Keys and values are made of x, and the mask is still that of the memory.

    How many keys have you, T or S? Whose vectors does W_key multiply in the statement?
    """

    def forward(self, x, memory, mask):
        return self.attend(x, x, x, mask)


@misconception(of="CrossAttention")
class ValuesOfTheTarget(_CrossAttention):
    """The values are made of x: what is weighed is the memory, and what is fetched the target.

    How many weights does a query have, and how many values do you have? What should come from the memory?
    """

    def forward(self, x, memory, mask):
        return self.attend(x, memory, x, mask)


@misconception(of="CrossAttention")
class KeysOfTheTarget(_CrossAttention):
    """The keys are made of x, and the values of the memory.

    Which vectors do the queries compare themselves with? What should W_key multiply?
    """

    def forward(self, x, memory, mask):
        return self.attend(x, x, memory, mask)


@misconception(of="CrossAttention")
class MemoryAsksItself(_CrossAttention):
    """Queries are made of the memory, so there is one result for each source position.

    How many positions has your result, T or S? Whose vectors does W_query multiply in the statement?
    """

    def forward(self, x, memory, mask):
        return self.attend(memory, memory, memory, mask)


@misconception(of="CrossAttention")
class MatricesNotTransposed(_CrossAttention):
    """Rows are multiplied by W, `x @ W`, where `nn.Linear` multiplies by its transpose.

    Row i of W gives entry i of the result. Which row or column meets x in your product?
    """

    def attend(self, asking, asked, answering, mask):
        q, k = self.split(asking @ self.W_query), self.split(asked @ self.W_key)
        weights = self.masked(self.scaled(q @ k.transpose(-2, -1), asking.shape[-1]), mask).softmax(-1)
        found = weights @ self.split(answering @ self.W_value)
        return found.transpose(1, 2).flatten(start_dim=2) @ self.W_output


@misconception(of="CrossAttention")
class InputMatricesNotTransposed(_CrossAttention):
    """For queries, keys and values rows are multiplied by W, `x @ W`, where `nn.Linear` takes the transpose.

    Row i of W gives entry i of the result. Which row or column meets x in your product?
    """

    def attend(self, asking, asked, answering, mask):
        q, k = self.split(asking @ self.W_query), self.split(asked @ self.W_key)
        weights = self.masked(self.scaled(q @ k.transpose(-2, -1), asking.shape[-1]), mask).softmax(-1)
        found = weights @ self.split(answering @ self.W_value)
        return found.transpose(1, 2).flatten(start_dim=2) @ self.W_output.T


@misconception(of="CrossAttention")
class OutputMatrixNotTransposed(_CrossAttention):
    """The heads side by side are multiplied by W_output, where `nn.Linear` takes the transpose.

    Row i of W_output gives entry i of the result. Which row or column meets the heads in your product?
    """

    def attend(self, asking, asked, answering, mask):
        q, k = self.split(asking @ self.W_query.T), self.split(asked @ self.W_key.T)
        weights = self.masked(self.scaled(q @ k.transpose(-2, -1), asking.shape[-1]), mask).softmax(-1)
        found = weights @ self.split(answering @ self.W_value.T)
        return found.transpose(1, 2).flatten(start_dim=2) @ self.W_output


@misconception(of="CrossAttention")
class PaddingWithAScoreOf0(_CrossAttention):
    """Padding gets the score 0, which is no small score: it takes part in the softmax.

    What is $e^0$? Which score has the weight 0 after a softmax?
    """

    def masked(self, scores, mask):
        return scores.masked_fill(~mask, 0.0)


@misconception(of="CrossAttention")
class RealWordsHidden(_CrossAttention):
    """The mask is read the other way round: what may be attended to gets minus infinity.

    Which entries does `masked_fill` fill, those where its mask is True or False?
    """

    def masked(self, scores, mask):
        return scores.masked_fill(mask, -math.inf)


@misconception(of="CrossAttention")
class MaskedAfterTheSoftmax(_CrossAttention):
    """The mask comes after the softmax, so the padding takes part of the weights away.

    Sum the weights of a query. Where has the rest gone?
    """

    def attend(self, asking, asked, answering, mask):
        q, k = self.split(asking @ self.W_query.T), self.split(asked @ self.W_key.T)
        weights = self.scaled(q @ k.transpose(-2, -1), asking.shape[-1]).softmax(-1) * mask
        return (weights @ self.split(answering @ self.W_value.T)).transpose(1, 2).flatten(2) @ self.W_output.T


@misconception(of="CrossAttention")
class SoftmaxOverTheTarget(_CrossAttention):
    """The softmax runs over the target positions, so each word of the source shares itself out among them.

    Sum your weights along their two last axes. Who chooses between whom?
    """

    def attend(self, asking, asked, answering, mask):
        q, k = self.split(asking @ self.W_query.T), self.split(asked @ self.W_key.T)
        scores = self.masked(self.scaled(q @ k.transpose(-2, -1), asking.shape[-1]), mask)
        found = scores.softmax(-2) @ self.split(answering @ self.W_value.T)
        return found.transpose(1, 2).flatten(2) @ self.W_output.T


@misconception(of="CrossAttention")
class HeadsNotMixed(_CrossAttention):
    """The heads' results come back as they are: W_output is there and not used.

    Which line of `forward` uses W_output? What gradient does it get?
    """

    def attend(self, asking, asked, answering, mask):
        q, k = self.split(asking @ self.W_query.T), self.split(asked @ self.W_key.T)
        weights = self.masked(self.scaled(q @ k.transpose(-2, -1), asking.shape[-1]), mask).softmax(-1)
        return (weights @ self.split(answering @ self.W_value.T)).transpose(1, 2).flatten(2)


@misconception(of="CrossAttention")
class TargetAddedToWhatIsFound(_CrossAttention):
    """x is added to what is found; the residual belongs to the block, which would add it twice.

    If the memory holds nothing but zeros, what should come out, and what does?
    """

    def forward(self, x, memory, mask):
        return x + super().forward(x, memory, mask)


@misconception(of="CrossAttention")
class HeadsCutByAView(_CrossAttention):
    """Heads are made by viewing (B, T, D) as (B, H, T, d_k) at once, which mixes positions.

    What does your head 0 see of a sequence? Cut the last axis first: which two axes change places then?
    """

    def split(self, part):
        return part.reshape(len(part), self.n_heads, part.shape[1], -1)


@misconception(of="CrossAttention")
class HeadsMergedByAView(_CrossAttention):
    """The heads are merged by a view, without making those of one position adjacent first.

    From how many positions does the first vector of your result come?
    """

    def attend(self, asking, asked, answering, mask):
        q, k = self.split(asking @ self.W_query.T), self.split(asked @ self.W_key.T)
        weights = self.masked(self.scaled(q @ k.transpose(-2, -1), asking.shape[-1]), mask).softmax(-1)
        found = weights @ self.split(answering @ self.W_value.T)
        return found.reshape(len(asking), asking.shape[1], -1) @ self.W_output.T


@misconception(of="CrossAttention")
class HeadsCutAndMergedByViews(HeadsMergedByAView):
    """Heads are made by viewing (B, T, D) as (B, H, T, d_k), which mixes positions, and are merged likewise.

    What does your head 0 see of a sequence? Cut the last axis first: which two axes change places then?
    """

    split = HeadsCutByAView.split


@misconception(of="CrossAttention")
class EveryHthFeatureForAHead(_CrossAttention):
    """Each head takes every H-th feature, where d_k neighbouring ones are its own.

    Into which two axes do you cut D, and in which order?
    """

    def attend(self, asking, asked, answering, mask):
        def split(part):
            return part.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)

        q, k = split(asking @ self.W_query.T), split(asked @ self.W_key.T)
        weights = self.masked(self.scaled(q @ k.transpose(-2, -1), asking.shape[-1]), mask).softmax(-1)
        found = weights @ split(answering @ self.W_value.T)
        return found.permute(0, 2, 3, 1).flatten(2) @ self.W_output.T
