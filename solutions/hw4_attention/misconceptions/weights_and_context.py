"""What goes wrong between the scores and the context."""

import math

import torch

from autograder.catalogue import misconception

# 12. attention_weights

WEIGHT_VALUES = {"the_example_weights_are_quarters", "other_scores_have_their_weights"}
SUM_TO_ONE = {"each_query_shares_out_one"}
NO_WEIGHT = {"padding_gets_no_weight"}
LOUD_PADDING = {"what_padding_scores_does_not_matter"}
LOW_SCORES = {"real_words_may_score_very_low"}
OWN_ROW = {"each_query_is_on_its_own"}


def _masked(scores, mask):
    return scores.masked_fill(~mask[:, None, :], -math.inf)


@misconception(of="attention_weights", fails=WEIGHT_VALUES | SUM_TO_ONE | NO_WEIGHT | LOW_SCORES | OWN_ROW)
def softmax_over_the_decoder_axis(scores, mask):
    """The softmax runs over the queries, so that each source word shares out one among the steps.

    Sum your weights along each axis. Which axis lists the words that one query chooses between?
    """
    return _masked(scores, mask).softmax(dim=1)


@misconception(of="attention_weights", fails=WEIGHT_VALUES | SUM_TO_ONE | NO_WEIGHT | LOW_SCORES | OWN_ROW)
def softmax_over_the_batch(scores, mask):
    """The softmax runs over the sentences of the batch, so that they compete for each place.

    Change the scores of the second sentence. Do the weights of the first change? What does `dim=0` list?
    """
    return _masked(scores, mask).softmax(dim=0)


@misconception(
    of="attention_weights",
    fails=WEIGHT_VALUES | NO_WEIGHT | LOUD_PADDING | LOW_SCORES,
    equals={"masked_scores_dropped"},
    seen="https://github.com/pytorch/tutorials/issues/593",
)
def mask_not_used(scores, mask):
    """The mask is not used: padding gets weight like any word.

    Print the weights at the padding. Which line should have made them 0?
    """
    return scores.softmax(dim=-1)


@misconception(
    of="attention_weights",
    fails=WEIGHT_VALUES | NO_WEIGHT | LOUD_PADDING | LOW_SCORES,
    seen="https://github.com/mead-ml/mead-baseline/pull/679",
)
def masked_scores_dropped(scores, mask):
    """`masked_fill` returns masked scores, but nobody takes them: the softmax is of the old ones.

    After the line with `masked_fill`, print `scores`. What is the difference between `masked_fill` and
    `masked_fill_`?
    """
    scores.masked_fill(~mask[:, None, :], -math.inf)
    return scores.softmax(dim=-1)


@misconception(of="attention_weights", fails=WEIGHT_VALUES | NO_WEIGHT | LOW_SCORES)
def padding_scored_zero(scores, mask):
    """The scores at the padding are set to 0, and a score of 0 has the exponential 1.

    What is the exponential of the number that you write at the padding? What should it be?
    """
    return scores.masked_fill(~mask[:, None, :], 0.0).softmax(dim=-1)


@misconception(
    of="attention_weights",
    fails=WEIGHT_VALUES | SUM_TO_ONE | LOUD_PADDING | LOW_SCORES,
)
def masked_after_the_softmax(scores, mask):
    """The weights are masked after the softmax, so what padding had taken is lost to the words.

    Sum the weights of a query of a padded sentence. Where has the rest gone?
    """
    return scores.softmax(dim=-1) * mask[:, None, :]


@misconception(of="attention_weights", fails={"other_scores_have_their_weights"} | LOW_SCORES)
def finite_number_at_the_padding(scores, mask):
    """The scores at the padding are set to -10,000, which some scores of real words lie below.

    Which number is smaller than every score that there can be?
    """
    return scores.masked_fill(~mask[:, None, :], -10_000.0).softmax(dim=-1)


@misconception(
    of="attention_weights",
    fails=WEIGHT_VALUES | SUM_TO_ONE | NO_WEIGHT | LOUD_PADDING | LOW_SCORES | OWN_ROW,
)
def words_masked_instead_of_padding(scores, mask):
    """The mask is taken the wrong way round: words are hidden and padding is looked at.

    What does True mean in `mask`, and what does True mean to `masked_fill`?
    """
    return scores.masked_fill(mask[:, None, :], -math.inf).softmax(dim=-1)


@misconception(
    of="attention_weights",
    fails=WEIGHT_VALUES | NO_WEIGHT | LOW_SCORES | LOUD_PADDING | OWN_ROW,
)
def scores_divided_by_their_sum(scores, mask):
    """The scores are divided by their sum, without an exponential: there is no softmax.

    In the example, the score 0 has the weight 1/4. Can your function give it any? What becomes of a negative
    score?
    """
    real = scores * mask[:, None, :]
    return real / real.sum(dim=-1, keepdim=True)


@misconception(of="attention_weights", fails={"other_scores_have_their_weights"} | LOW_SCORES)
def renormalised_after_the_softmax(scores, mask):
    """The softmax is taken over padding too and repaired afterwards; what padding has swallowed is lost.

    Real words score -20000 and the padding 0. What does the softmax over all three leave of the real words,
    and what can a division still make of that?
    """
    weights = scores.softmax(dim=-1) * mask[:, None, :]
    return weights / weights.sum(dim=-1, keepdim=True)


@misconception(of="attention_weights", fails={"other_scores_have_their_weights"} | LOW_SCORES)
def bare_exponentials(scores, mask):
    """The exponentials are taken of the scores as they are, and large scores make all of them 0 or infinite.

    What is `torch.tensor(-20000.0).exp()`? What could be taken off all scores of a query without changing
    its weights?
    """
    exponentials = scores.exp() * mask[:, None, :]
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


# 13. attend

CONTEXTS = {"the_example_contexts_are_one_value_and_a_mean", "other_queries_have_their_contexts"}
OF_VALUES = {"contexts_are_made_of_values"}
PADDED = {"padding_does_not_reach_the_context"}
REORDERED = {"the_order_of_the_source_does_not_matter"}


def _weights(query, key, mask):
    return _masked(query @ key.transpose(1, 2), mask).softmax(dim=-1)


@misconception(
    of="attend",
    fails=CONTEXTS | OF_VALUES | PADDED | REORDERED,
    seen="https://github.com/yandexdataschool/Practical_RL/pull/429",
)
def weights_times_scores(query, key, value, mask):
    """The weights are multiplied with the scores they were made of, and the values are never used.

    Make all values three times as large. Does your context change? What does the formula average?
    """
    weights = _weights(query, key, mask)
    return weights * (query @ key.transpose(1, 2)), weights


@misconception(of="attend", fails=CONTEXTS | OF_VALUES | PADDED)
def keys_averaged_instead_of_values(query, key, value, mask):
    """The context is the mean of the keys, not of the values.

    How many numbers has your context, and how many has a value? What are keys for?
    """
    weights = _weights(query, key, mask)
    return weights @ key, weights


@misconception(of="attend", fails=CONTEXTS)
def scores_averaged_without_softmax(query, key, value, mask):
    """The values are added up with the scores themselves, before any softmax.

    The second query of the example has the scores 0 and ln 3. What do the numbers with which you weight the
    values add up to?
    """
    scores = (query @ key.transpose(1, 2)).masked_fill(~mask[:, None, :], 0.0)
    return scores @ value, _weights(query, key, mask)


@misconception(
    of="attend",
    fails={"other_queries_have_their_contexts"} | PADDED,
    seen="https://github.com/MaximumEntropy/Seq2Seq-PyTorch/issues/6",
)
def padding_attended_to(query, key, value, mask):
    """No mask is applied, so the padding's values enter every context.

    Change a value at the padding. Does a context change? Which argument did you not use?
    """
    weights = (query @ key.transpose(1, 2)).softmax(dim=-1)
    return weights @ value, weights


@misconception(of="attend", fails=CONTEXTS)
def values_of_the_best_word_only(query, key, value, mask):
    """Each query takes the value of its best word alone, and no gradient can tell it to look elsewhere.

    The second query of the example matches one key three times as well as the other. Where is the other in
    your context?
    """
    weights = _weights(query, key, mask)
    best = torch.nn.functional.one_hot(weights.argmax(-1), weights.shape[-1]).to(value.dtype)
    return best @ value, weights


@misconception(of="attend", fails=CONTEXTS | REORDERED | PADDED)
def contexts_cumulated(query, key, value, mask):
    """Each value is weighted with the weights of all words up to it, so the order of the source matters.

    Exchange two words of the source, keys and values together. Why should the context stay the same?
    """
    weights = _weights(query, key, mask)
    return weights.cumsum(-1) @ value, weights


@misconception(of="attend", fails=CONTEXTS)
def scores_scaled_in_attend(query, key, value, mask):
    """The scores are divided by the root of the width, which is another attention, of a later lecture.

    The second query of the example has the scores 0 and ln 3. What are yours, and what did you divide by?
    """
    weights = _weights(query / query.shape[-1] ** 0.5, key, mask)
    return weights @ value, weights


@misconception(of="attend", fails=CONTEXTS)
def queries_compete(query, key, value, mask):
    """The softmax runs over the queries, so that each source word shares out one among them.

    Sum your weights along each axis. Which axis lists the words that one query chooses between?
    """
    weights = _masked(query @ key.transpose(1, 2), mask).softmax(dim=1)
    return weights @ value, weights


@misconception(of="attend", fails={"other_queries_have_their_contexts"} | PADDED)
def weights_masked_afterwards(query, key, value, mask):
    """The weights are masked after the softmax, so what padding had taken is lost to the words.

    Sum the weights of a query of a padded sentence. Where has the rest gone?
    """
    weights = (query @ key.transpose(1, 2)).softmax(dim=-1) * mask[:, None, :]
    return weights @ value, weights


@misconception(of="attend", fails=CONTEXTS | {"contexts_are_made_of_values"})
def scores_for_weights(query, key, value, mask):
    """The context is right, but beside it the scores come back instead of the weights.

    What does each row of the second thing you return sum to? Which of your two tables was averaged with?
    """
    return _weights(query, key, mask) @ value, _masked(query @ key.transpose(1, 2), mask)


@misconception(of="attend", fails=CONTEXTS | OF_VALUES | PADDED | REORDERED)
def weights_before_contexts(query, key, value, mask):
    """The two answers stand the other way round, the weights first.

    In which order does the statement name them? Which shape has the first thing you return?
    """
    weights = _weights(query, key, mask)
    return weights, weights @ value
