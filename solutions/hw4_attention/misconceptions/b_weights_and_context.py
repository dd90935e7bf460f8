"""What goes wrong between the scores and the context."""

import math

import torch

from autograder.catalogue import misconception

# 12. attention_weights


def _masked(scores, mask):
    return scores.masked_fill(~mask[:, None, :], -math.inf)


@misconception(of="attention_weights")
def softmax_over_the_decoder_axis(scores, mask):
    """The softmax runs over the queries, so that each source word shares out one among the steps.

    Sum your weights along each axis. Which axis lists the words that one query chooses between?
    """
    return _masked(scores, mask).softmax(dim=1)


@misconception(of="attention_weights")
def softmax_over_the_batch(scores, mask):
    """The softmax runs over the sentences of the batch, so that they compete for each place.

    Change the scores of the second sentence. Do the weights of the first change? What does `dim=0` list?
    """
    return _masked(scores, mask).softmax(dim=0)


@misconception(
    of="attention_weights",
    equals={"masked_scores_dropped"},
    seen="https://github.com/pytorch/tutorials/issues/593",
)
def mask_not_used(scores, mask):
    """The mask is not used: padding gets weight like any word.

    Print the weights at the padding. Which line should have made them 0?
    """
    return scores.softmax(dim=-1)


@misconception(of="attention_weights", seen="https://github.com/mead-ml/mead-baseline/pull/679")
def masked_scores_dropped(scores, mask):
    """`masked_fill` returns masked scores, but nobody takes them: the softmax is of the old ones.

    After the line with `masked_fill`, print `scores`. What is the difference between `masked_fill` and
    `masked_fill_`?
    """
    scores.masked_fill(~mask[:, None, :], -math.inf)
    return scores.softmax(dim=-1)


@misconception(of="attention_weights")
def padding_scored_zero(scores, mask):
    """The scores at the padding are set to 0, and a score of 0 has the exponential 1.

    What is the exponential of the number that you write at the padding? What should it be?
    """
    return scores.masked_fill(~mask[:, None, :], 0.0).softmax(dim=-1)


@misconception(of="attention_weights")
def masked_after_the_softmax(scores, mask):
    """The weights are masked after the softmax, so what padding had taken is lost to the words.

    Sum the weights of a query of a padded sentence. Where has the rest gone?
    """
    return scores.softmax(dim=-1) * mask[:, None, :]


@misconception(of="attention_weights")
def finite_number_at_the_padding(scores, mask):
    """The scores at the padding become a number such as -10,000, which some scores of real words lie below.

    Which number is smaller than every score that there can be?
    """
    return scores.masked_fill(~mask[:, None, :], -10_000.0).softmax(dim=-1)


@misconception(of="attention_weights")
def words_masked_instead_of_padding(scores, mask):
    """The mask is taken the wrong way round: words are hidden and padding is looked at.

    What does True mean in `mask`, and what does True mean to `masked_fill`?
    """
    return scores.masked_fill(mask[:, None, :], -math.inf).softmax(dim=-1)


@misconception(of="attention_weights")
def scores_divided_by_their_sum(scores, mask):
    """The scores are divided by their sum, without an exponential: there is no softmax.

    In the example, the score 0 has the weight 1/4. Can your function give it any? What becomes of a negative
    score?
    """
    real = scores * mask[:, None, :]
    return real / real.sum(dim=-1, keepdim=True)


@misconception(of="attention_weights")
def renormalised_after_the_softmax(scores, mask):
    """The softmax is taken over padding too and repaired afterwards; what padding has swallowed is lost.

    Real words score -20000 and the padding 0. What does the softmax over all three leave of the real words,
    and what can a division still make of that?
    """
    weights = scores.softmax(dim=-1) * mask[:, None, :]
    return weights / weights.sum(dim=-1, keepdim=True)


@misconception(of="attention_weights")
def bare_exponentials(scores, mask):
    """The exponentials are taken of the scores as they are, and large scores make all of them 0 or infinite.

    What is `torch.tensor(-20000.0).exp()`? What could be taken off all scores of a query without changing
    its weights?
    """
    exponentials = scores.exp() * mask[:, None, :]
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


# 13. attend


def _weights(query, key, mask):
    return _masked(query @ key.transpose(1, 2), mask).softmax(dim=-1)


@misconception(of="attend", seen="https://github.com/yandexdataschool/Practical_RL/pull/429")
def weights_times_scores(query, key, value, mask):
    """The weights are multiplied by the scores they were made from, and the values are never used.

    Make all values three times as large. Does your context change? What does the formula average?
    """
    weights = _weights(query, key, mask)
    return weights * (query @ key.transpose(1, 2)), weights


@misconception(of="attend")
def keys_averaged_instead_of_values(query, key, value, mask):
    """The context is the mean of the keys, not of the values.

    How many numbers has your context, and how many has a value? What are keys for?
    """
    weights = _weights(query, key, mask)
    return weights @ key, weights


@misconception(of="attend")
def scores_averaged_without_softmax(query, key, value, mask):
    """The values are added up with the scores themselves, before any softmax.

    The second query of the example has the scores 0 and ln 3. What do the numbers with which you weight the
    values add up to?
    """
    scores = (query @ key.transpose(1, 2)).masked_fill(~mask[:, None, :], 0.0)
    return scores @ value, _weights(query, key, mask)


@misconception(of="attend", seen="https://github.com/MaximumEntropy/Seq2Seq-PyTorch/issues/6")
def padding_attended_to(query, key, value, mask):
    """No mask is applied, so the padding's values enter every context.

    Change a value at the padding. Does a context change? Which argument did you not use?
    """
    weights = (query @ key.transpose(1, 2)).softmax(dim=-1)
    return weights @ value, weights


@misconception(of="attend")
def padding_scored_zero_in_attend(query, key, value, mask):
    """At the padding the scores are 0, as with keys of 0, and a score of 0 has the exponential 1.

    What weight has the padding in your answer? Which score has an exponential of 0?
    """
    scores = (query @ key.transpose(1, 2)).masked_fill(~mask[:, None, :], 0.0)
    return scores.softmax(dim=-1) @ value, scores.softmax(dim=-1)


@misconception(of="attend")
def weights_renormalised_afterwards(query, key, value, mask):
    """The softmax is taken over padding too and repaired afterwards; what padding has swallowed is lost.

    Real words score -1000 and the padding 0. What does the softmax over all three leave of the real words,
    and what can a division still make of that?
    """
    weights = (query @ key.transpose(1, 2)).softmax(dim=-1) * mask[:, None, :]
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ value, weights


@misconception(of="attend")
def values_of_the_best_word_only(query, key, value, mask):
    """Each query takes the value of its best word alone, and no gradient can tell it to look elsewhere.

    The second query of the example matches one key three times as well as the other. Where is the other in
    your context?
    """
    weights = _weights(query, key, mask)
    best = torch.nn.functional.one_hot(weights.argmax(-1), weights.shape[-1]).to(value.dtype)
    return best @ value, weights


@misconception(of="attend")
def contexts_cumulated(query, key, value, mask):
    """Each value is weighted with the weights of all words up to it, so the order of the source matters.

    Exchange two words of the source, keys and values together. Why should the context stay the same?
    """
    weights = _weights(query, key, mask)
    return weights.cumsum(-1) @ value, weights


@misconception(of="attend")
def scores_scaled_in_attend(query, key, value, mask):
    """The scores are divided by the root of the width, which is another attention, of a later lecture.

    The second query of the example has the scores 0 and ln 3. What are yours, and what did you divide by?
    """
    weights = _weights(query / query.shape[-1] ** 0.5, key, mask)
    return weights @ value, weights


@misconception(of="attend")
def queries_compete(query, key, value, mask):
    """The softmax runs over the queries, so that each source word shares out one among them.

    Sum your weights along each axis. Which axis lists the words that one query chooses between?
    """
    weights = _masked(query @ key.transpose(1, 2), mask).softmax(dim=1)
    return weights @ value, weights


@misconception(of="attend")
def weights_masked_afterwards(query, key, value, mask):
    """The weights are masked after the softmax, so what padding had taken is lost to the words.

    Sum the weights of a query of a padded sentence. Where has the rest gone?
    """
    weights = (query @ key.transpose(1, 2)).softmax(dim=-1) * mask[:, None, :]
    return weights @ value, weights


@misconception(of="attend")
def scores_for_weights(query, key, value, mask):
    """The context is right, but beside it the scores come back instead of the weights.

    What does each row of the second thing you return sum to? Which of your two tables was averaged with?
    """
    return _weights(query, key, mask) @ value, _masked(query @ key.transpose(1, 2), mask)


@misconception(of="attend")
def weights_before_contexts(query, key, value, mask):
    """The two results are in the wrong order, the weights first.

    In which order does the statement name them? What shape is the first value you return?
    """
    weights = _weights(query, key, mask)
    return weights, weights @ value
