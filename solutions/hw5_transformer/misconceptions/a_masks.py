"""What goes wrong with a mask: its triangle, and its place before the softmax."""

import math

import torch

from autograder.catalogue import misconception

# 6. causal_mask


def _triangle(n_queries, n_keys, diagonal=0):
    return torch.ones(n_queries, n_keys, dtype=torch.bool).tril(n_keys - n_queries + diagonal)


@misconception(of="causal_mask", seen="https://github.com/tinygrad/tinygrad/pull/2425")
def one_word_of_the_future(n_queries, n_keys):
    """The diagonal lies one too far to the right: every position sees the word that it is to predict.

    How many keys may the very first position see? How many True are in your first row?
    """
    return _triangle(n_queries, n_keys, 1)


@misconception(of="causal_mask", seen="https://github.com/tinygrad/tinygrad/pull/2425")
def position_hidden_from_itself(n_queries, n_keys):
    """The diagonal lies one too far to the left: no position sees itself, and the first sees nothing.

    What should the first position attend to, if not to itself? What does a softmax over nothing give?
    """
    return _triangle(n_queries, n_keys, -1)


@misconception(
    of="causal_mask", seen="https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/19"
)
def triangle_transposed(n_queries, n_keys):
    """The triangle lies on the wrong side: each position sees itself and what comes after it.

    Rows are queries. How many True should the last row have, and how many has yours?
    """
    return torch.ones(n_queries, n_keys, dtype=torch.bool).triu(n_keys - n_queries)


@misconception(of="causal_mask", seen="https://github.com/pytorch/pytorch/pull/120668")
def true_means_blocked(n_queries, n_keys):
    """True and False have changed places: True marks what is forbidden.

    What does True mean in this homework? (Libraries differ in this point, which is why it is stated.)
    """
    return ~_triangle(n_queries, n_keys)


@misconception(of="causal_mask", seen="https://github.com/nntrainer/nntrainer/issues/4333")
def queries_taken_for_the_first_positions(n_queries, n_keys):
    """With fewer queries than keys, the queries are treated as the first positions, but they are the last.

    With a single query and seven keys, which position is the query, and how many keys come before it?
    """
    return torch.ones(n_queries, n_keys, dtype=torch.bool).tril()


@misconception(of="causal_mask")
def key_length_forgotten(n_queries, n_keys):
    """The mask is square, T by T, whatever the number of keys.

    Which shape must a mask have for 2 queries and 7 keys?
    """
    return torch.ones(n_queries, n_queries, dtype=torch.bool).tril()


@misconception(of="causal_mask")
def blocked_as_in_a_square(n_queries, n_keys):
    """True marks what is forbidden, and the triangle lies as if there were as many queries as keys.

    What does True mean in this homework? And where does the first query stand, if 2 of 4 positions ask?
    """
    return torch.ones(n_queries, n_keys, dtype=torch.bool).triu(1)


# 7. masked_weights


@misconception(of="masked_weights")
def mask_after_the_softmax(scores, mask):
    """The mask comes after the softmax, so the forbidden keys have taken their part before.

    Sum the weights of a query. Where has the rest gone?
    """
    return scores.softmax(-1) * mask


@misconception(of="masked_weights")
def masked_afterwards_and_divided_again(scores, mask):
    """The mask comes after the softmax and the rest is divided by its sum, which may be 0 by then.

    Let a forbidden score be 30,000. What are the allowed weights after the softmax, and what is 0 / 0?
    """
    weights = scores.softmax(-1) * mask
    return weights / weights.sum(-1, keepdim=True)


@misconception(of="masked_weights")
def forbidden_scores_set_to_zero(scores, mask):
    """Forbidden scores become 0, which is a score like any other and gets a weight.

    What is the exponential of 0? Which number has the exponential 0?
    """
    return (scores * mask).softmax(-1)


@misconception(
    of="masked_weights",
    equals={"forbidden_scores_set_to_zero"},
    seen="https://github.com/hyunwoongko/transformer/pull/40",
)
def filled_with_a_tiny_number(scores, mask):
    """Forbidden scores become a number such as 1e-9, which is almost 0, and not a large negative one.

    Is 1e-9 low, as scores go? Compare it with -1e9.
    """
    return scores.masked_fill(~mask, 1e-9).softmax(-1)


@misconception(of="masked_weights", seen="https://github.com/karpathy/minGPT/issues/75")
def filled_with_minus_ten_thousand(scores, mask):
    """Forbidden scores become a number such as -10,000, and an allowed score may be lower than that.

    Let all scores of a query be lowered by 20,000. Which of them is now the highest?
    """
    return scores.masked_fill(~mask, -1e4).softmax(-1)


@misconception(of="masked_weights", seen="https://github.com/huggingface/transformers/issues/17121")
def ten_thousand_subtracted(scores, mask):
    """A number such as 10,000 is subtracted from the forbidden scores, which a high score survives.

    A forbidden score of 30,000: what is left of it, and is it still the highest?
    """
    return (scores - 1e4 * (~mask)).softmax(-1)


@misconception(of="masked_weights", seen="https://github.com/karpathy/minGPT/issues/75")
def filled_with_minus_a_billion(scores, mask):
    """Forbidden scores become a number such as -1,000,000,000, and scores may be any finite numbers.

    Which score is lower than every finite one?
    """
    return scores.masked_fill(~mask, -1e9).softmax(-1)


@misconception(of="masked_weights")
def a_billion_subtracted(scores, mask):
    """A number such as 1,000,000,000 is subtracted from forbidden scores, which a very high score survives.

    A forbidden score of 4,000,000,000: what is left of it, and is it still the highest?
    """
    return (scores - 1e9 * (~mask)).softmax(-1)


@misconception(of="masked_weights")
def highest_score_of_all_subtracted(scores, mask):
    """The highest score of all queries is subtracted before the exponential; a query may lie far below it.

    Two queries, one with scores near 0 and one near -3,000,000,000: what are the exponentials of the second,
    and what is 0 / 0?
    """
    exponentials = (masked := scores.masked_fill(~mask, -math.inf)).sub(masked.max()).exp()
    return exponentials / exponentials.sum(-1, keepdim=True)


@misconception(of="masked_weights", seen="https://github.com/HorizonRobotics/alf/pull/1194")
def allowed_keys_filled(scores, mask):
    """The mask is read the other way round: what is allowed gets minus infinity.

    Which entries does `masked_fill` fill, those where its mask is True or False? Which should be filled?
    """
    return scores.masked_fill(mask, -math.inf).softmax(-1)


@misconception(of="masked_weights")
def infinity_times_zero(scores, mask):
    """Allowed scores become NaN, as when a mask is multiplied by minus infinity: 0 times infinity is NaN.

    Print what you add to an allowed score. Is there a way to put in a number without multiplying?
    """
    return (scores + (~mask) * -math.inf).softmax(-1)


@misconception(of="masked_weights", seen="https://github.com/mead-ml/mead-baseline/pull/679")
def masked_copy_thrown_away(scores, mask):
    """The softmax sees the scores without the mask, as when the new tensor of `masked_fill` is not used.

    Print the scores just before the softmax. Are the forbidden ones minus infinity?
    """
    scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1)


@misconception(of="masked_weights")
def masked_softmax_over_the_queries(scores, mask):
    """The softmax runs over the queries: each key shares out one among those that may look at it.

    Sum your weights along both of their last axes. Which sums should be one?
    """
    return scores.masked_fill(~mask, -math.inf).softmax(-2)


@misconception(of="masked_weights")
def scores_overwritten(scores, mask):
    """The weights are right, and the scores that were handed in are changed.

    Print `scores` after a call. Which method leaves them as they are: the one with the underscore at its
    end, or the one without?
    """
    scores[~mask.expand_as(scores)] = -math.inf
    return scores.softmax(-1)
