"""What goes wrong with padding: axes, signs, and how conditions are combined."""

import torch

from autograder.catalogue import misconception

# 8. padding_mask


@misconception(of="padding_mask", seen="https://github.com/hyunwoongko/transformer/pull/40")
def padding_on_the_query_axis(tokens, pad):
    """The padding is marked on the axis of the queries, so padding may be looked at and may not look.

    Broadcast your mask to (B, H, T, S). Is a whole row False or a whole column? What does the softmax make of
    a row without any True?
    """
    return (tokens != pad)[:, None, :, None]


@misconception(of="padding_mask", seen="https://github.com/nyu-mll/jiant/pull/465")
def padding_may_be_seen(tokens, pad):
    """True and False have changed places: the mask allows the padding and forbids the words.

    What does True mean in this homework?
    """
    return (tokens == pad)[:, None, None, :]


@misconception(of="padding_mask", seen="https://github.com/hyunwoongko/transformer/issues/11")
def zero_taken_for_the_padding(tokens, pad):
    """The token 0 is taken for padding, whatever `pad` says.

    Which line of your code reads `pad`?
    """
    return (tokens != 0)[:, None, None, :]


@misconception(of="padding_mask", seen="https://github.com/harvardnlp/annotated-transformer/issues/137")
def axes_for_heads_and_queries_missing(tokens, pad):
    """The mask is (B, S), and broadcasting takes its B for the queries.

    Broadcasting lines shapes up from the right. What stands above your B, if the scores are (B, H, T, S)?
    """
    return tokens != pad


@misconception(of="padding_mask")
def neither_query_nor_key_may_be_padding(tokens, pad):
    """Queries at padding are forbidden everything, so their rows have no True, and the mask is (B, 1, S, S).

    What does the softmax make of a row of minus infinities? Does anybody use the output of a query at
    padding?
    """
    real = tokens != pad
    return real[:, None, :, None] & real[:, None, None, :]


# 9. translation_masks


def _masks(source, target, source_pad, target_pad):
    triangle = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()
    return (source != source_pad)[:, None, None, :], (target != target_pad)[:, None, None, :], triangle


@misconception(of="translation_masks")
def either_condition_is_enough(source, target, source_pad, target_pad):
    """One of the two conditions is enough for a key: real tokens of the future are allowed, and past padding.

    A key is in the future, but a word. May it be attended to? Which of `&` and `|` have you written?
    """
    source_mask, real, triangle = _masks(source, target, source_pad, target_pad)
    return source_mask, real | triangle


@misconception(of="translation_masks", seen="https://github.com/harvardnlp/annotated-transformer/issues/137")
def target_queries_masked(source, target, source_pad, target_pad):
    """In the target the padding is forbidden to ask, where it should be forbidden to be looked at.

    In your target mask, is it a row or a column that is False for a padding? Which of the two are the keys?
    """
    source_mask, real, triangle = _masks(source, target, source_pad, target_pad)
    return source_mask, real.transpose(2, 3) & triangle


@misconception(of="translation_masks", seen="https://github.com/hyunwoongko/transformer/issues/11")
def source_padding_looked_for_in_the_target(source, target, source_pad, target_pad):
    """The target's padding is looked for with the source's token.

    Which token fills up the target? Follow the two pads through your code.
    """
    source_mask, real, triangle = _masks(source, target, source_pad, source_pad)
    return source_mask, real & triangle


@misconception(of="translation_masks")
def target_padding_forgotten(source, target, source_pad, target_pad):
    """The target mask hides the future only; padding before a position is attended to.

    In the example, may the third target position attend to the second? What is the token there?
    """
    source_mask, _, triangle = _masks(source, target, source_pad, target_pad)
    return source_mask, triangle.expand(len(target), 1, -1, -1)


@misconception(of="translation_masks")
def future_forgotten(source, target, source_pad, target_pad):
    """The target mask hides the padding only; a position sees the words that it is to predict.

    How many keys may the first target position see? Where does your code compare two positions?
    """
    source_mask, real, triangle = _masks(source, target, source_pad, target_pad)
    return source_mask, real.expand(-1, -1, len(triangle), -1)


@misconception(of="translation_masks")
def source_hidden_by_a_triangle(source, target, source_pad, target_pad):
    """The source mask has a triangle too, though the source is read as a whole.

    The source sentence is complete before the translation begins. What of it is in the future?
    """
    source_mask, real, triangle = _masks(source, target, source_pad, target_pad)
    n_sources = source.shape[1]
    return source_mask & torch.ones(n_sources, n_sources, dtype=torch.bool).tril(), real & triangle


@misconception(of="translation_masks")
def neither_asking_nor_seen(source, target, source_pad, target_pad):
    """In the target a padding may neither be looked at nor ask, so its row has no True.

    What does the softmax make of a row of minus infinities? What does the statement say of queries at
    padding?
    """
    source_mask, real, triangle = _masks(source, target, source_pad, target_pad)
    return source_mask, real & real.transpose(2, 3) & triangle


@misconception(of="translation_masks")
def both_masks_mark_what_is_hidden(source, target, source_pad, target_pad):
    """Both masks are True where nothing may be attended to.

    What does True mean in this homework? (Libraries differ in this point, which is why it is stated.)
    """
    source_mask, real, triangle = _masks(source, target, source_pad, target_pad)
    return ~source_mask, ~(real & triangle)


@misconception(of="translation_masks")
def target_masked_like_the_source(source, target, source_pad, target_pad):
    """The target has a padding mask (B, 1, 1, T) like the source; nothing hides the future.

    Which shape does the statement give the target's mask? Why can one row not do for all queries there?
    """
    source_mask, real, _ = _masks(source, target, source_pad, target_pad)
    return source_mask, real


@misconception(of="translation_masks")
def past_hidden_in_the_target(source, target, source_pad, target_pad):
    """The triangle lies on the wrong side: a target position sees itself and what comes after it.

    Rows are queries. How many keys may the first row of your target mask see?
    """
    source_mask, real, triangle = _masks(source, target, source_pad, target_pad)
    return source_mask, real & triangle.T


@misconception(of="translation_masks")
def paddings_exchanged(source, target, source_pad, target_pad):
    """The source's padding is looked for with the target's token, and the target's with the source's.

    Which token fills up the source? Follow the two pads through your code.
    """
    source_mask, real, triangle = _masks(source, target, target_pad, source_pad)
    return source_mask, real & triangle


@misconception(of="translation_masks")
def target_mask_comes_first(source, target, source_pad, target_pad):
    """The two masks have changed places in the tuple.

    Which of the two does the statement name first? Compare the shapes of what you return with the example's.
    """
    source_mask, real, triangle = _masks(source, target, source_pad, target_pad)
    return real & triangle, source_mask


@misconception(of="translation_masks")
def target_hidden_from_itself(source, target, source_pad, target_pad):
    """In the target the diagonal is hidden too, so no position sees itself, and the first sees nothing.

    What does the statement let a position see of itself? What does a softmax over nothing give?
    """
    source_mask, real, triangle = _masks(source, target, source_pad, target_pad)
    return source_mask, real & triangle.tril(-1)
