"""What goes wrong in attention itself: the scale, the axis of the softmax, the place of dropout."""

import math

import torch

from autograder.catalogue import misconception

# 1. attention


def _attention(query, key, value, scale=1.0, axis=-1):
    scores = query @ key.transpose(-2, -1) / (math.sqrt(query.shape[-1]) * scale)
    weights = scores.softmax(axis)
    return weights @ value, weights


@misconception(of="attention", seen="https://github.com/duoan/TorchCode/issues/17")
def scores_not_scaled(query, key, value):
    """The scores are not divided by the root of the width.

    What are your scores in the example, 2 ln 3 or ln 3? Which part of the formula makes the difference?
    """
    return _attention(query, key, value, 1 / math.sqrt(query.shape[-1]))


@misconception(of="attention", seen="https://github.com/duoan/TorchCode/issues/17")
def scaled_by_the_width_itself(query, key, value):
    """The scores are divided by the width, not by its root.

    With width 4, by which number are your dot products divided, and by which should they be?
    """
    return _attention(query, key, value, math.sqrt(query.shape[-1]))


@misconception(of="attention", seen="https://github.com/karpathy/ng-video-lecture/pull/6")
def scaled_by_the_width_of_the_model(query, key, value):
    """The scores are divided by the root of the model's width, the widths of all heads together.

    Does the scale of one head change when another head is added beside it? How many terms does one of the dot
    products have?
    """
    heads = query.shape[-3] if query.dim() == 4 else 1
    return _attention(query, key, value, math.sqrt(heads))


@misconception(of="attention")
def softmax_over_the_queries(query, key, value):
    """The softmax runs over the queries, so each key's column of weights sums to one.

    Sum your weights along each of their two last axes. Who chooses between whom: a query between keys, or a
    key between queries?
    """
    return _attention(query, key, value, axis=-2)


@misconception(of="attention")
def softmax_over_axis_one(query, key, value):
    """The softmax runs over axis 1: with four axes those are the heads, and with three the queries.

    Name the axes of your scores one by one. Which of them does `dim=1` mean where there are four? And
    which number always means the last one?
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = scores.softmax(1)
    return weights @ value, weights


@misconception(of="attention")
def queries_and_keys_exchanged(query, key, value):
    """Queries and keys have changed places: there is one row of weights for each key.

    Which shape should the weights have for 5 queries and 4 keys, and which have yours?
    """
    return _attention(key, query, value)


@misconception(of="attention", seen="https://github.com/duoan/TorchCode/issues/17")
def all_keys_count_the_same(query, key, value):
    """All keys get the same weight, whatever the query asks: the scores have no influence.

    Change one query. Does anything change in your output?
    """
    scores = query @ key.transpose(-2, -1)
    weights = torch.full_like(scores, 1 / scores.shape[-1])
    return weights @ value, weights


@misconception(of="attention", seen="https://github.com/yandexdataschool/Practical_RL/pull/429")
def scores_multiply_the_values(query, key, value):
    """The output is made with the scores, from before the softmax.

    With unit vectors for values, what should come out: something that may be negative, or the weights?
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return scores @ value, scores.softmax(-1)


@misconception(of="attention")
def scores_divided_by_their_sum(query, key, value):
    """The scores are divided by their sum, without an exponential, so weights can be negative.

    Print your weights where some scores are negative. What does the softmax do before it divides?
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = scores / scores.sum(-1, keepdim=True)
    return weights @ value, weights


@misconception(of="attention")
def softmax_left_out(query, key, value):
    """The scaled scores serve as weights; there is no softmax.

    In the example your weights are ln 3 and 0. Can an average give a key more than all it has? What turns
    any numbers into positive ones that sum to one?
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return scores @ value, scores


@misconception(of="attention")
def scores_returned_for_weights(query, key, value):
    """The output is right, and the scores come back in the place of the weights.

    Which of your two tensors is from before the softmax? Sum the second thing you return over the keys.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return scores.softmax(-1) @ value, scores


@misconception(of="attention")
def weights_returned_before_the_output(query, key, value):
    """Weights and output have changed places in the tuple.

    Which of the two does the statement name first? Compare the shapes of what you return with its table.
    """
    output, weights = _attention(query, key, value)
    return weights, output


@misconception(of="attention")
def multiplied_by_the_root(query, key, value):
    """The scores are multiplied by the root of the width instead of divided by it.

    Is the root there to make large dot products smaller or larger? What are your two scores in the example?
    """
    return _attention(query, key, value, 1 / query.shape[-1])


@misconception(of="attention")
def scaled_by_the_number_of_keys(query, key, value):
    """The scores are divided by the root of the number of keys, S.

    Add a key at right angles to the query. Should the other scores change? How many terms has a dot product?
    """
    return _attention(query, key, value, math.sqrt(key.shape[-2] / key.shape[-1]))


@misconception(of="attention")
def scaled_by_the_width_of_a_value(query, key, value):
    """The scores are divided by the root of the width of the values, d_v.

    Which two tensors are multiplied in a score, and how wide are they?
    """
    return _attention(query, key, value, math.sqrt(value.shape[-1] / key.shape[-1]))


# 2. dropped_attention

CS231N = "https://github.com/cs231n/cs231n.github.io/issues/278"


@misconception(of="dropped_attention", seen=CS231N)
def scores_dropped(scores, value, kept, rate):
    """The dropout works on the scores: a dropped score is 0, which still gets a weight.

    What is the exponential of a score of 0? Which row of numbers of the example do you change first?
    """
    return (scores * kept / (1 - rate)).softmax(-1) @ value


@misconception(of="dropped_attention", seen=CS231N)
def dropped_like_masked(scores, value, kept, rate):
    """The other weights grow until they sum to one, as when dropped keys are masked before the softmax.

    What is the first weight of the example once the second is dropped: 1, or 2/3? And what remains where all
    the weights of a query are dropped?
    """
    return scores.masked_fill(~kept, -math.inf).softmax(-1) @ value


@misconception(of="dropped_attention")
def kept_weights_not_scaled_up(scores, value, kept, rate):
    """What is kept stays as it is, so on average the output is smaller than without dropout.

    With p = 1/2, how much of the output is left on average? Which factor makes up for it?
    """
    return (scores.softmax(-1) * kept) @ value


@misconception(of="dropped_attention")
def divided_by_the_rate(scores, value, kept, rate):
    """What is kept is divided by the rate of dropping, instead of the rate of keeping.

    If hardly anything is dropped, p = 0.01, how should a weight change, and how does yours?
    """
    return (scores.softmax(-1) * kept / rate) @ value


@misconception(of="dropped_attention")
def multiplied_by_the_share_kept(scores, value, kept, rate):
    """What is kept is multiplied by 1 - p, so it becomes smaller twice over.

    Some weights are lost. Must the others become larger or smaller, so that the average stays?
    """
    return (scores.softmax(-1) * kept * (1 - rate)) @ value


@misconception(of="dropped_attention")
def scores_zeroed_and_weights_scaled_up(scores, value, kept, rate):
    """A dropped score becomes 0, which still gets a weight; then all weights are scaled up.

    Which weight has a key whose score is 0? Which of the three rows of the example holds a 0, and is it the
    first?
    """
    return (scores * kept).softmax(-1) / (1 - rate) @ value


@misconception(of="dropped_attention")
def kept_read_as_dropped(scores, value, kept, rate):
    """What `kept` marks is dropped, and the rest is kept.

    In the example, which of the two weights does `kept` call True, and which does your code set to 0?
    """
    return (scores.softmax(-1) * ~kept / (1 - rate)) @ value


@misconception(of="dropped_attention")
def dropped_after_a_softmax_over_the_queries(scores, value, kept, rate):
    """The softmax runs over the queries, so each key's column of weights sums to one.

    In the example there is one query. What are its two weights before one is dropped? What should they be?
    """
    return (scores.softmax(-2) * kept / (1 - rate)) @ value
