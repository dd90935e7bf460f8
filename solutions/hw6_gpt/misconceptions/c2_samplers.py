"""What goes wrong in homework 6, exercises 11 and 12: temperature and top-k."""

import math

import torch

from autograder.catalogue import misconception


def _keep(logits, kept):
    return logits.masked_fill(~kept, -math.inf)


# 11. temperature


def _best_only(logits):
    return torch.full_like(logits, -math.inf).scatter(-1, logits.argmax(-1, True), 0.0)


@misconception(of="temperature")
def multiplied_by_the_temperature(logits, t):
    """The logits are multiplied by t, so that heat sharpens and cold flattens.

    At t = 1/2, should the better token become more or less probable? And in your code?
    """
    return logits * t if t > 0 else _best_only(logits)


@misconception(of="temperature")
def multiplied_at_zero_too(logits, t):
    """The logits are multiplied by t, also at t = 0, where all of them become 0.

    At t = 1/2, should the better token become more or less probable? And at t = 0, which distribution do
    logits stand for that are all 0?
    """
    return logits * t


@misconception(of="temperature")
def probabilities_cooled(logits, t):
    """The temperature divides the probabilities, which are then handed on as if they were logits.

    Between which numbers can your "logits" lie? What becomes of the example at t = 1?
    """
    return logits.softmax(-1) / t if t > 0 else _best_only(logits)


@misconception(of="temperature")
def probabilities_cooled_at_zero_too(logits, t):
    """The temperature divides the probabilities, also at t = 0, and they are handed on like logits.

    Between which numbers can your "logits" lie? And what is 0.4 / 0 as a tensor?
    """
    return logits.softmax(-1) / t


@misconception(of="temperature")
def probabilities_cooled_or_one_hot(logits, t):
    """The temperature divides the probabilities, and at t = 0 a 1 and zeros come back; logits are asked for.

    Between which numbers can your "logits" lie? What does the softmax of (0, 0, 1) give?
    """
    if t > 0:
        return logits.softmax(-1) / t
    return torch.zeros_like(logits).scatter(-1, logits.argmax(-1, True), 1.0)


@misconception(of="temperature")
def logarithms_of_cooled_probabilities(logits, t):
    """The probabilities are divided by t before the logarithm, which leaves their proportions as they were.

    One token is three times as probable as another. How many times is it after both are divided by 1/2?
    """
    return (logits.softmax(-1) / t).log() if t > 0 else _best_only(logits)


@misconception(of="temperature")
def divided_by_zero(logits, t):
    """At t = 0 the logits are divided by zero, which gives infinities and NaN.

    What is 2 / 0 as a tensor, and what 0 / 0? What does the statement want at t = 0?
    """
    return logits / t


@misconception(of="temperature")
def zero_taken_for_one(logits, t):
    """At t = 0 the distribution is returned as it is, as if 0 meant "no temperature".

    Which distribution do t = 0.1, 0.01 and 0.001 come closer and closer to?
    """
    return logits / t if t > 0 else logits.clone()


@misconception(of="temperature")
def logits_raised_to_a_power(logits, t):
    """The logits are raised to the power 1 / t; it is the probabilities that are.

    Which of the two is $e^{z/t}$: a power of z, or a power of $e^z$? What does your code do with a negative
    logit?
    """
    return logits.sign() * logits.abs() ** (1 / t) if t > 0 else _best_only(logits)


@misconception(of="temperature")
def probabilities_of_the_temperature(logits, t):
    """What comes back are probabilities: the softmax has been taken already, and logits are asked for.

    Which function is applied to your answer afterwards? What does the softmax of (0.1, 0.9) give?
    """
    return (logits / t if t > 0 else _best_only(logits)).softmax(-1)


@misconception(of="temperature")
def all_of_the_best_kept(logits, t):
    """At t = 0 all tokens that share the largest logit are left, and the statement keeps the first of them.

    Two tokens have the largest logit. How many have the probability 1 by the statement? Which function gives
    one index only, however many tokens are equal?
    """
    return logits / t if t > 0 else _keep(logits, logits == logits.max(-1, keepdim=True).values)


# 12. top_k


@misconception(of="top_k", seen="https://github.com/kingoflolz/mesh-transformer-jax/issues/164")
def one_token_too_few(logits, k):
    """The token of rank k is lost, because only larger logits than its own stay.

    With k = 1, how many tokens are larger than the largest? Does the token at the threshold belong to the k
    best?
    """
    threshold = logits.topk(k, dim=-1).values[..., -1:]
    return _keep(logits, logits > threshold)


@misconception(of="top_k", seen="https://github.com/kingoflolz/mesh-transformer-jax/issues/164")
def one_token_too_many(logits, k):
    """One token more than k is left: the threshold is the logit of rank k + 1.

    With k = 1, how many tokens have a probability in your answer? At which index of the sorted logits is rank
    k?
    """
    ranked = logits.sort(-1, descending=True).values
    return _keep(logits, logits >= ranked[..., min(k, logits.shape[-1] - 1), None])


@misconception(of="top_k")
def equals_torn_apart(logits, k):
    """Of tokens with equal logits some stay and others go, as `topk` happens to list them.

    In the second example three tokens should be left. Which of the two tokens with the logit 2 did you drop,
    and why that one?
    """
    best = logits.topk(k, dim=-1).indices
    return _keep(logits, torch.zeros_like(logits, dtype=torch.bool).scatter(-1, best, True))


@misconception(of="top_k")
def others_get_the_logit_zero(logits, k):
    """Tokens outside get the logit 0 instead of minus infinity, and keep a probability.

    What is $e^0$? If all logits are negative, which tokens are the most probable ones in your answer?
    """
    threshold = logits.topk(k, dim=-1).values[..., -1:]
    return logits.masked_fill(logits < threshold, 0.0)


@misconception(of="top_k")
def one_threshold_for_all_rows(logits, k):
    """One threshold is taken for the whole batch, so rows with small logits lose all their tokens.

    Does each row of your answer have k tokens left? Over which axis did you look for the k best?
    """
    return _keep(logits, logits >= logits.flatten().topk(k).values[-1])


@misconception(of="top_k")
def probabilities_of_the_k_best(logits, k):
    """What comes back are probabilities: the softmax has been taken already, and logits are asked for.

    Which function is applied to your answer afterwards? Which probability does it make of your 0?
    """
    return _keep(logits, logits >= logits.topk(k, dim=-1).values[..., -1:]).softmax(-1)
