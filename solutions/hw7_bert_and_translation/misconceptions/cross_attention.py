"""What goes wrong between decoder and memory: cross-attention and its masks (homework 7, part C)."""

import math

import torch
from torch import nn

from autograder.catalogue import misconception

# 14. CrossAttention

FOUND = {"other_sizes_find_what_torch_finds"}
SCALE = {"scores_are_divided_by_the_root_of_k"}
EXAMPLE = {"the_example_finds_0_824_and_4"}
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


@misconception(
    of="CrossAttention",
    fails=FOUND
    | EXAMPLE
    | SCALE
    | {
        "what_is_found_comes_from_the_memory",
        "each_position_asks_for_itself",
        "every_position_reads_the_whole_source",
        "padding_of_the_source_is_not_read",
    },
    seen="https://github.com/keitakurita/Practical_NLP_in_PyTorch/issues/1",
)
class KeysAndValuesOfTheDecoder(_CrossAttention):
    """Keys and values are made of x, so the decoder talks to itself and never hears the source.

    Change the memory: does anything you return change? Whose vectors does W_key multiply?
    """

    def forward(self, x, memory, mask):
        return self.attend(x, x, x, torch.ones(1, 1, 1, x.shape[1], dtype=torch.bool))


@misconception(
    of="CrossAttention",
    fails=FOUND
    | EXAMPLE
    | SCALE
    | {
        "what_is_found_comes_from_the_memory",
        "each_position_asks_for_itself",
        "every_position_reads_the_whole_source",
        "padding_of_the_source_is_not_read",
    },
    seen="https://github.com/humza909/LLM_Survey/issues/2",
)
class QueriesOfTheMemory(_CrossAttention):
    """The memory asks and the target answers, so there is one result for each source position.

    How many positions has your result, T or S? Who wants to know something here?
    """

    def forward(self, x, memory, mask):
        return self.attend(memory, x, x, torch.ones(1, 1, 1, x.shape[1], dtype=torch.bool))


@misconception(of="CrossAttention", fails=FOUND | {"every_position_reads_the_whole_source"} | EXAMPLE | SCALE)
class TriangleOnTheMemory(_CrossAttention):
    """A causal triangle hides the later places of the source, which has been read to its end already.

    Which word of the source may the first word of the target depend on? What would be given away if it saw
    the last one?
    """

    def masked(self, scores, mask):
        triangle = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        weights = scores.masked_fill(~(triangle & mask), -math.inf)
        return weights.masked_fill((~(triangle & mask)).all(-1, keepdim=True), 0.0)


@misconception(of="CrossAttention", fails=FOUND | {"padding_of_the_source_is_not_read"})
class SourcePaddingRead(_CrossAttention):
    """The mask is not applied, so the padding of the source is read like words.

    Change what stands at a padded place of the memory. Does your result change? Where does `mask` enter?
    """

    def masked(self, scores, mask):
        return scores


@misconception(of="CrossAttention", fails=FOUND | SCALE)
class ScoresNotScaled(_CrossAttention):
    """The scores are not divided by the root of K.

    How large is a dot product of K independent numbers of variance 1, typically?
    """

    def scaled(self, scores, d_model):
        return scores


@misconception(of="CrossAttention", fails=FOUND | EXAMPLE)
class ScaledByTheModel(_CrossAttention):
    """The scores are divided by the root of D, the width of the model, instead of K, that of a head.

    In the example D = 2 and K = 1. How many products does one score of one head add up?
    """

    def scaled(self, scores, d_model):
        return scores / math.sqrt(d_model)


@misconception(of="CrossAttention", fails=FOUND | EXAMPLE)
class OneHeadOnly(_CrossAttention):
    """There is one head over the whole width, whatever `n_heads` says.

    In the example, how many different sets of weights are there? Where does your forward pass use `n_heads`?
    """

    def split(self, part):
        return part.unsqueeze(1)

    def scaled(self, scores, d_model):
        return scores / math.sqrt(d_model)


# 15. translation_masks

SENTENCE_MASKS = {"the_example_has_its_masks", "other_sentences_have_their_masks"}
PADDINGS = SENTENCE_MASKS | {"each_language_has_its_own_padding"}


def _masks(source, target, source_pad, target_pad):
    triangle = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()
    return (source != source_pad)[:, None, None], (target != target_pad)[:, None, None], triangle


@misconception(
    of="translation_masks",
    fails=PADDINGS | {"the_source_is_read_whole"},
    seen="https://github.com/Kamichanw/SeekDeeper/issues/3",
)
def cross_mask_of_the_target(source, target, source_pad, target_pad):
    """The cross-attention gets the padding of the target, though its keys are the source.

    How many columns must a mask have whose keys are the S places of the source? How many has yours?
    """
    real_source, real_target, triangle = _masks(source, target, source_pad, target_pad)
    return real_source, real_target & triangle, real_target


@misconception(of="translation_masks", fails=PADDINGS | {"the_source_is_read_whole"})
def causal_cross_mask(source, target, source_pad, target_pad):
    """The cross-attention is causal: target word t sees the first t + 1 words of the source only.

    Must the first word of a translation be found without the end of the source? Who has read the source
    before the decoder begins?
    """
    real_source, real_target, triangle = _masks(source, target, source_pad, target_pad)
    staircase = torch.ones(target.shape[1], source.shape[1], dtype=torch.bool).tril()
    return real_source, real_target & triangle, real_source & staircase


@misconception(of="translation_masks", fails=SENTENCE_MASKS | {"the_decoder_sees_itself_and_its_past"})
def decoder_sees_everything(source, target, source_pad, target_pad):
    """The decoder's mask hides padding only, so each word sees the one it has to predict.

    What is a training loss worth when the answer may be read? Which entries of the (T, T) mask must be False
    even without padding?
    """
    real_source, real_target, triangle = _masks(source, target, source_pad, target_pad)
    return real_source, real_target & torch.ones_like(triangle), real_source


@misconception(of="translation_masks", fails=PADDINGS)
def target_padding_seen(source, target, source_pad, target_pad):
    """The decoder's mask is the triangle alone, the same for every sentence; padding may be attended to.

    Does your decoder mask differ between a long and a short target? In the example, may position 2 look at
    itself?
    """
    real_source, _, triangle = _masks(source, target, source_pad, target_pad)
    return real_source, triangle.expand(len(target), 1, -1, -1), real_source


@misconception(of="translation_masks", fails=PADDINGS | {"the_decoder_sees_itself_and_its_past"})
def either_condition_is_enough(source, target, source_pad, target_pad):
    """Padding and triangle are joined by "or", so a key is allowed where only one of them allows it.

    A real word that comes later: does the padding forbid it, does the triangle? Which of the two must be able
    to say no?
    """
    real_source, real_target, triangle = _masks(source, target, source_pad, target_pad)
    return real_source, real_target | triangle, real_source


@misconception(of="translation_masks", fails=PADDINGS | {"the_decoder_sees_itself_and_its_past"})
def source_padding_in_the_target(source, target, source_pad, target_pad):
    """The target's padding is looked for under the source's token.

    In the example the target is padded with 9 and not with 0. Does your decoder mask hide it?
    """
    real_source, real_target, triangle = _masks(source, target, source_pad, source_pad)
    return real_source, real_target & triangle, real_source


@misconception(of="translation_masks", fails=PADDINGS | {"the_decoder_sees_itself_and_its_past"})
def triangle_turned_over(source, target, source_pad, target_pad):
    """The triangle is the upper one: each word sees itself and what comes later.

    Rows are queries. In row 0, which keys may be True?
    """
    real_source, real_target, triangle = _masks(source, target, source_pad, target_pad)
    return real_source, real_target & triangle.T, real_source
