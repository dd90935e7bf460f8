"""What goes wrong about the size of scores: variances, deviations, entropies."""

import math

import torch

from autograder.catalogue import misconception

# 3. score_scale


@misconception(of="score_scale")
def variance_of_a_mean(variance_query, variance_key, d_head):
    """The dot product is treated as a mean, whose variance falls with the width; it is a sum.

    Does a sum of 64 independent terms vary more or less than one of them?
    """
    return math.sqrt(variance_query * variance_key / d_head)


@misconception(of="score_scale")
def divided_by_the_variance(variance_query, variance_key, d_head):
    """The variance of the dot product is returned, where its standard deviation is asked for.

    If x has variance 36, what is the variance of x / 36, and of x / 6?
    """
    return d_head * variance_query * variance_key


@misconception(of="score_scale")
def variances_taken_for_one(variance_query, variance_key, d_head):
    """The scale is the root of the width, which is right only where queries and keys have variance 1.

    In the second example the queries have variance 9. What does that do to each product of the sum?
    """
    return math.sqrt(d_head)


@misconception(of="score_scale")
def variances_added(variance_query, variance_key, d_head):
    """The variances of query and key are added, as if their numbers were added and not multiplied.

    What is the variance of a product of two independent numbers with mean 0? Try signs of ±2 and ±3.
    """
    return math.sqrt(d_head * (variance_query + variance_key))


@misconception(of="score_scale")
def variances_taken_for_deviations(variance_query, variance_key, d_head):
    """The root is taken of the width only: the variances are treated as standard deviations.

    A query of variance 4 has the standard deviation 2. Which of the two belongs outside the root?
    """
    return math.sqrt(d_head) * variance_query * variance_key


@misconception(of="score_scale")
def reciprocal_of_the_scale(variance_query, variance_key, d_head):
    """You return the number by which to multiply the products, but they will be divided by it.

    Divide a score of 64 by your number for the first example. Has it become smaller?
    """
    return 1 / math.sqrt(d_head * variance_query * variance_key)


@misconception(of="score_scale")
def width_left_outside_the_root(variance_query, variance_key, d_head):
    """The root is taken of the variances, and not of the width.

    If one of d terms has the variance v, what is the variance of their sum, and what its root?
    """
    return d_head * math.sqrt(variance_query * variance_key)


@misconception(of="score_scale")
def variance_of_the_keys_forgotten(variance_query, variance_key, d_head):
    """The variance of the keys has no influence.

    Let all keys be ten times as long. What happens to the dot products, and what to your scale?
    """
    return math.sqrt(d_head * variance_query)


# 4. effective_keys


@misconception(of="effective_keys")
def one_over_the_largest_weight(scores):
    """Only the largest weight is looked at: one divided by it.

    The weights (1/2, 1/2, 0, 0) and (1/2, 1/6, 1/6, 1/6) have the same largest one. Does a query look at
    equally many keys in both?
    """
    return 1 / scores.softmax(-1).max(-1).values


@misconception(of="effective_keys")
def one_over_the_sum_of_squares(scores):
    """The weights are squared and summed; that counts keys as well, but in another way than the entropy.

    What do you get for the weights 1/2, 1/4, 1/4? Where is the logarithm?
    """
    return 1 / scores.softmax(-1).square().sum(-1)


@misconception(of="effective_keys")
def entropy_not_exponentiated(scores):
    """The entropy itself comes back, not its exponential.

    Four equal weights should count 4. What is your number, and what is its exponential?
    """
    weights = scores.softmax(-1)
    return -torch.xlogy(weights, weights).sum(-1)


@misconception(of="effective_keys")
def zero_times_minus_infinity(scores):
    """The logarithm of a weight of 0 is minus infinity, and 0 times that is NaN.

    Print the terms of your sum for the scores (0, -2000). Which of them is no number, and what should it be?
    """
    weights = scores.softmax(-1)
    return torch.exp(-(weights * weights.log()).sum(-1))


@misconception(of="effective_keys")
def entropy_in_bits_exponentiated(scores):
    """The entropy is in bits and the exponential is that of nats.

    Four equal weights have 2 bits, or ln 4 nats. Which power gives 4 in each case?
    """
    weights = scores.softmax(-1)
    return torch.exp(-torch.xlogy(weights, weights).sum(-1) / math.log(2))


@misconception(of="effective_keys")
def averaged_over_the_queries(scores):
    """The entropies of all queries are averaged, so that one number comes back.

    The result has the shape (…, T). For how many queries are you asked?
    """
    weights = scores.softmax(-1)
    return torch.exp(-torch.xlogy(weights, weights).sum(-1).mean())


@misconception(of="effective_keys")
def minus_sign_forgotten(scores):
    """The minus sign of the entropy is missing, so the reciprocal of the count comes back.

    Is the logarithm of a weight positive or negative? Can a query look at less than one key?
    """
    weights = scores.softmax(-1)
    return torch.exp(torch.xlogy(weights, weights).sum(-1))


@misconception(of="effective_keys")
def weight_times_infinite_log_weight(scores):
    """A score of minus infinity has the weight 0 and the logarithm minus infinity, and 0 times that is NaN.

    Print the terms of your sum for the scores (0, 0, -inf). Which of them is no number, and what should it
    be?
    """
    return torch.exp(-(scores.softmax(-1) * scores.log_softmax(-1)).sum(-1))


@misconception(of="effective_keys")
def softmax_along_the_queries(scores):
    """The softmax runs over the queries, so no query's weights sum to one.

    Who chooses between whom? Along which axis of (…, T, S) do the keys lie?
    """
    weights = scores.softmax(-2)
    return torch.exp(-torch.xlogy(weights, weights).sum(-1))


@misconception(of="effective_keys")
def mean_over_the_keys(scores):
    """The terms of the entropy are averaged over the keys; the entropy is their sum.

    Add a key of weight 0. Should the count change, and does yours?
    """
    weights = scores.softmax(-1)
    return torch.exp(-torch.xlogy(weights, weights).mean(-1))


@misconception(of="effective_keys")
def summed_over_the_queries_too(scores):
    """The sum runs over all queries as well as over the keys, so that one number comes back.

    The result has the shape (…, T). Which axis should your sum remove, and which does it?
    """
    weights = scores.softmax(-1)
    return torch.exp(-torch.xlogy(weights, weights).sum())
