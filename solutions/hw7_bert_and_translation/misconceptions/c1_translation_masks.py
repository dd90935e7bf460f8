"""What goes wrong in the three masks of a translator (homework 7, part C)."""

import torch

from autograder.catalogue import misconception

# 15. translation_masks


def _masks(source, target, source_pad, target_pad):
    triangle = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()
    return (source != source_pad)[:, None, None], (target != target_pad)[:, None, None], triangle


@misconception(of="translation_masks", seen="https://github.com/Kamichanw/SeekDeeper/issues/3")
def cross_mask_of_the_target(source, target, source_pad, target_pad):
    """The cross-attention gets the padding of the target, though its keys are the source.

    How many columns must a mask have whose keys are the S places of the source? How many has yours?
    """
    real_source, real_target, triangle = _masks(source, target, source_pad, target_pad)
    return real_source, real_target & triangle, real_target


@misconception(of="translation_masks")
def causal_cross_mask(source, target, source_pad, target_pad):
    """The cross-attention is causal: target word t sees the first t + 1 words of the source only.

    Must the first word of a translation be found without the end of the source? Who has read the source
    before the decoder begins?
    """
    real_source, real_target, triangle = _masks(source, target, source_pad, target_pad)
    staircase = torch.ones(target.shape[1], source.shape[1], dtype=torch.bool).tril()
    return real_source, real_target & triangle, real_source & staircase


@misconception(of="translation_masks")
def decoder_sees_everything(source, target, source_pad, target_pad):
    """The decoder's mask hides padding only, so each word sees the one it has to predict.

    What is a training loss worth when the answer may be read? Which entries of the (T, T) mask must be False
    even without padding?
    """
    real_source, real_target, triangle = _masks(source, target, source_pad, target_pad)
    return real_source, real_target & torch.ones_like(triangle), real_source


@misconception(of="translation_masks")
def target_padding_seen(source, target, source_pad, target_pad):
    """The decoder's mask is the triangle alone, the same for every sentence; padding may be attended to.

    Does your decoder mask differ between a long and a short target? In the example, may position 2 look at
    position 1?
    """
    real_source, _, triangle = _masks(source, target, source_pad, target_pad)
    return real_source, triangle.expand(len(target), 1, -1, -1), real_source


@misconception(of="translation_masks")
def either_condition_is_enough(source, target, source_pad, target_pad):
    """Padding and triangle are joined by "or", so a key is allowed where only one of them allows it.

    A real word that comes later: does the padding forbid it, does the triangle? Which of the two must be able
    to say no?
    """
    real_source, real_target, triangle = _masks(source, target, source_pad, target_pad)
    return real_source, real_target | triangle, real_source


@misconception(of="translation_masks")
def source_padding_in_the_target(source, target, source_pad, target_pad):
    """The target's padding is looked for under the source's token.

    In the example the target is padded with 9 and not with 0. Does your decoder mask hide it?
    """
    real_source, real_target, triangle = _masks(source, target, source_pad, source_pad)
    return real_source, real_target & triangle, real_source


@misconception(of="translation_masks")
def triangle_turned_over(source, target, source_pad, target_pad):
    """The triangle is the upper one: each word sees itself and what comes later.

    Rows are queries. In row 0, which keys may be True?
    """
    real_source, real_target, triangle = _masks(source, target, source_pad, target_pad)
    return real_source, real_target & triangle.T, real_source


@misconception(of="translation_masks")
def paddings_exchanged(source, target, source_pad, target_pad):
    """The source's padding is looked for with the target's token, and the other way round.

    In the example, which token fills up the source, and which the target?
    """
    real_source, real_target, triangle = _masks(source, target, target_pad, source_pad)
    return real_source, real_target & triangle, real_source


@misconception(of="translation_masks")
def padding_may_not_ask(source, target, source_pad, target_pad):
    """In the target the padding is forbidden to ask, where it should be forbidden to be looked at.

    In your decoder mask, is it a row or a column that is False for a padding? Which of the two are the keys?
    """
    real_source, real_target, triangle = _masks(source, target, source_pad, target_pad)
    return real_source, real_target.transpose(2, 3) & triangle, real_source


@misconception(of="translation_masks")
def padding_neither_asks_nor_is_seen(source, target, source_pad, target_pad):
    """In the target a padding may neither be looked at nor ask, so its row has no True.

    What does the softmax make of a row of minus infinities? Whose padding does the table forbid?
    """
    real_source, real_target, triangle = _masks(source, target, source_pad, target_pad)
    return real_source, real_target & real_target.transpose(2, 3) & triangle, real_source


@misconception(of="translation_masks")
def all_masks_mark_what_is_hidden(source, target, source_pad, target_pad):
    """All three masks are True where nothing may be attended to.

    What does True mean in this homework?
    """
    real_source, real_target, triangle = _masks(source, target, source_pad, target_pad)
    return ~real_source, ~(real_target & triangle), ~real_source


@misconception(of="translation_masks")
def word_hidden_from_itself(source, target, source_pad, target_pad):
    """The triangle lacks its diagonal: no position sees itself, and the first sees nothing.

    What should the first position of a target attend to, if not to itself?
    """
    real_source, real_target, triangle = _masks(source, target, source_pad, target_pad)
    return real_source, real_target & triangle.tril(-1), real_source


@misconception(of="translation_masks")
def one_row_for_the_whole_target(source, target, source_pad, target_pad):
    """The decoder's mask has one row for all queries, (B, 1, 1, T): nothing hides what comes later.

    Which shape does the statement give the decoder's mask? Why can one row not do there?
    """
    real_source, real_target, _ = _masks(source, target, source_pad, target_pad)
    return real_source, real_target, real_source


@misconception(of="translation_masks")
def encoder_mask_with_a_triangle(source, target, source_pad, target_pad):
    """The encoder's mask has a triangle too, though the source is read as a whole.

    The source is complete before the translation begins. What of it is in the future?
    """
    real_source, real_target, triangle = _masks(source, target, source_pad, target_pad)
    staircase = torch.ones(source.shape[1], source.shape[1], dtype=torch.bool).tril()
    return real_source & staircase, real_target & triangle, real_source
