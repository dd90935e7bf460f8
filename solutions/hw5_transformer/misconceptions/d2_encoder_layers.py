"""What goes wrong inside the layers of an encoder: heads, scale, mask, residuals, norms, the relu."""

import math

import torch
from torch import nn
from torch.nn import functional

from autograder.catalogue import misconception

from ..notebook import FeedForward, MultiHeadAttention, PostNormBlock
from ..notebook import TransformerEncoder as RightEncoder

# 30. TransformerEncoder


class _Attention(MultiHeadAttention):
    """The right attention over x itself, in pieces to break."""

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def merge(self, heads):
        return heads.transpose(1, 2).flatten(2)

    def scale(self, x):
        return math.sqrt(x.shape[-1] // self.n_heads)

    def weights(self, scores, mask):
        return (scores if mask is None else scores.masked_fill(~mask, -math.inf)).softmax(-1)

    def forward(self, x, mask=None):
        q, k, v = self.split(self.W_query(x)), self.split(self.W_key(x)), self.split(self.W_value(x))
        weights = self.weights(q @ k.transpose(-2, -1) / self.scale(x), mask)
        return self.W_output(self.merge(weights @ v))


class _Encoder(RightEncoder):
    """The right encoder, with other blocks, attentions or feed-forward layers."""

    layer, attend, feed = PostNormBlock, _Attention, FeedForward

    def __init__(self, n_layers, d_model, n_heads, d_ff):
        super().__init__(0, d_model, n_heads, d_ff)
        self.layers = nn.ModuleList([self.layer(d_model, n_heads, d_ff) for _ in range(n_layers)])
        for block in self.layers:
            block.attention, block.feed_forward = self.attend(d_model, n_heads), self.feed(d_model, d_ff)


class _PreNormLayer(PostNormBlock):
    def forward(self, x, mask=None):
        x = x + self.attention(self.norm_attention(x), mask)
        return x + self.feed_forward(self.norm_feed_forward(x))


@misconception(of="TransformerEncoder", seen="https://github.com/harvardnlp/annotated-transformer/issues/13")
class PreNormLayers(_Encoder):
    """The layers normalise what goes in, not the sums: these are pre-norm blocks.

    With silent layers, is a token normalised when it leaves your encoder?
    """

    layer = _PreNormLayer


class _MaskedAfterwards(_Attention):
    def weights(self, scores, mask):
        return scores.softmax(-1) if mask is None else scores.softmax(-1) * mask


@misconception(of="TransformerEncoder")
class MaskedAfterTheSoftmax(_Encoder):
    """The mask comes after the softmax, so hidden tokens take part of the weights away.

    Sum the weights of a query under a mask. Does a padding change this sum?
    """

    attend = _MaskedAfterwards


class _QueriesMasked(_Attention):
    def weights(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        return scores.masked_fill(~mask.transpose(-2, -1), -math.inf).softmax(-1)


@misconception(of="TransformerEncoder", seen="https://github.com/harvardnlp/annotated-transformer/issues/137")
class MaskTurnedOver(_Encoder):
    """The mask is applied with queries and keys exchanged: paddings may not ask, and may be looked at.

    Which axis of your scores do the keys lie on, and which axis of the mask?
    """

    attend = _QueriesMasked


class _Viewed(_Attention):
    def split(self, x):
        return x.reshape(len(x), self.n_heads, x.shape[1], -1)

    def merge(self, heads):
        return heads.reshape(len(heads), heads.shape[2], -1)


@misconception(of="TransformerEncoder", seen="https://github.com/harvardnlp/annotated-transformer/issues/118")
class HeadsMixPositions(_Encoder):
    """Heads are made by viewing (B, T, D) as (B, H, T, d_k), which mixes positions.

    Put two tokens in another order. Do their outputs only change places?
    """

    attend = _Viewed


class _WideScale(_Attention):
    def scale(self, x):
        return math.sqrt(x.shape[-1])


@misconception(of="TransformerEncoder", seen="https://github.com/karpathy/ng-video-lecture/pull/6")
class ScoresScaledByTheModelsWidth(_Encoder):
    """The scores are divided by the root of the model's width instead of a head's.

    How many products does one score of one head sum up?
    """

    attend = _WideScale


class _NoAttentionResidual(PostNormBlock):
    def forward(self, x, mask=None):
        x = self.norm_attention(self.attention(x, mask))
        return self.norm_feed_forward(x + self.feed_forward(x))


@misconception(of="TransformerEncoder")
class NothingPassesByTheAttention(_Encoder):
    """The attention's output replaces x instead of being added to it.

    With silent layers, what is left of a token after your first layer?
    """

    layer = _NoAttentionResidual


class _NoFeedForward(FeedForward):
    def forward(self, x):
        return torch.zeros_like(x)


@misconception(of="TransformerEncoder")
class FeedForwardForgotten(_Encoder):
    """The feed-forward layers are made and never used.

    Look at the gradient of `layers.0.feed_forward.expand.weight`. Why is there none?
    """

    feed = _NoFeedForward


class _Gelu(FeedForward):
    def forward(self, x):
        return self.contract(functional.gelu(self.expand(x)))


@misconception(of="TransformerEncoder")
class GeluInTheEncoder(_Encoder):
    """The nonlinearity is gelu, as in later models; the paper and this exercise have relu.

    What should the hidden layer make of -1, exactly?
    """

    feed = _Gelu


class _Unscaled(_Attention):
    def scale(self, x):
        return 1.0


@misconception(of="TransformerEncoder")
class SumsNotScaled(_Encoder):
    """The scores of a head are not divided by the root of its width.

    What is the variance of a sum of d_k products? Which line makes up for it?
    """

    attend = _Unscaled


class _OverTheQueries(_Attention):
    def weights(self, scores, mask):
        return (scores if mask is None else scores.masked_fill(~mask, -math.inf)).softmax(-2)


@misconception(of="TransformerEncoder")
class QueriesCompeteForKeys(_Encoder):
    """The softmax of each head runs over the queries instead of the keys.

    Sum the weights of a head along its two last axes. Which sums should be one?
    """

    attend = _OverTheQueries


class _SplitByAView(_Attention):
    def split(self, x):
        return x.reshape(len(x), self.n_heads, x.shape[1], -1)


@misconception(of="TransformerEncoder")
class SplitWithoutTransposing(_Encoder):
    """The split views (B, T, D) as (B, H, T, d_k) at once, and the merge does not undo it.

    What does your head 0 see of a sequence? Try exercise 10's example with your line.
    """

    attend = _SplitByAView


class _MergedByAView(_Attention):
    def merge(self, heads):
        return heads.reshape(len(heads), heads.shape[2], -1)


@misconception(of="TransformerEncoder")
class MergedAcrossPositions(_Encoder):
    """The heads are merged by a view, without making those of one position adjacent first.

    From how many positions does the first vector of your attention come? Try exercise 11's example.
    """

    attend = _MergedByAView


class _Unmixed(_Attention):
    def forward(self, x, mask=None):
        q, k, v = self.split(self.W_query(x)), self.split(self.W_key(x)), self.split(self.W_value(x))
        return self.merge(self.weights(q @ k.transpose(-2, -1) / self.scale(x), mask) @ v)


@misconception(of="TransformerEncoder")
class OutputMatrixNotUsed(_Encoder):
    """W_output is there and not used: what the heads found is never mixed.

    Look at the gradient of `layers.0.attention.W_output.weight`. Why is there none?
    """

    attend = _Unmixed


class _NoFeedForwardResidual(PostNormBlock):
    def forward(self, x, mask=None):
        x = self.norm_attention(x + self.attention(x, mask))
        return self.norm_feed_forward(self.feed_forward(x))


@misconception(of="TransformerEncoder")
class NothingPassesByTheFeedForward(_Encoder):
    """The feed-forward layer's output replaces what was there instead of being added to it.

    With silent layers, what is left of a token after your first layer?
    """

    layer = _NoFeedForwardResidual


class _Linear(FeedForward):
    def forward(self, x):
        return self.contract(self.expand(x))


@misconception(of="TransformerEncoder")
class NoReluInTheLayers(_Encoder):
    """There is no relu, so the two linear layers are one linear map.

    What should the hidden layer make of -1?
    """

    feed = _Linear
