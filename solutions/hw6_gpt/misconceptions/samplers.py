"""What goes wrong in homework 6, exercises 10 to 13: temperature, top-k, top-p and min-p."""

import math

import torch

from autograder.catalogue import misconception


def _keep(logits, kept):
    return logits.masked_fill(~kept, -math.inf)


# 10. temperature


def _best_only(logits):
    return _keep(
        logits, torch.zeros_like(logits, dtype=torch.bool).scatter(-1, logits.argmax(-1, True), True)
    )


@misconception(
    of="temperature",
    fails={
        "the_example_is_sharpened",
        "heat_makes_everything_possible",
        "other_logits_are_cooled_and_heated",
    },
)
def multiplied_by_the_temperature(logits, t):
    """The logits are multiplied by t, so that heat sharpens and cold flattens.

    At t = 1/2, should the better token become more or less probable? And in your code?
    """
    return logits * t if t > 0 else _best_only(logits)


@misconception(
    of="temperature",
    fails={
        "the_example_is_sharpened",
        "heat_makes_everything_possible",
        "other_logits_are_cooled_and_heated",
    },
)
def probabilities_cooled(logits, t):
    """The temperature divides the probabilities, which are then handed on as if they were logits.

    Between which numbers can your "logits" lie? What becomes of the example at t = 1?
    """
    return logits.softmax(-1) / t if t > 0 else _best_only(logits)


@misconception(
    of="temperature", fails={"at_zero_only_the_best_is_left", "other_logits_are_cooled_and_heated"}
)
def divided_by_zero(logits, t):
    """At t = 0 the logits are divided by zero, which gives infinities and NaN.

    What is 2 / 0 as a tensor, and what 0 / 0? What does the statement want at t = 0?
    """
    return logits / t


@misconception(
    of="temperature", fails={"at_zero_only_the_best_is_left", "other_logits_are_cooled_and_heated"}
)
def zero_taken_for_one(logits, t):
    """At t = 0 the distribution is returned as it is, as if 0 meant "no temperature".

    Which distribution do t = 0.1, 0.01 and 0.001 come closer and closer to?
    """
    return logits / t if t > 0 else logits.clone()


@misconception(
    of="temperature",
    fails={
        "the_example_is_sharpened",
        "heat_makes_everything_possible",
        "other_logits_are_cooled_and_heated",
    },
)
def logits_raised_to_a_power(logits, t):
    """The logits are raised to the power 1 / t; it is the probabilities that are.

    Which of the two is $e^{z/t}$: a power of z, or a power of $e^z$? What does your code do with a negative
    logit?
    """
    return logits.sign() * logits.abs() ** (1 / t) if t > 0 else _best_only(logits)


# 11. top_k


@misconception(
    of="top_k",
    fails={
        "the_two_best_of_the_example_are_left",
        "k_tokens_are_left_in_every_row",
        "equals_stay_together",
        "other_logits_keep_their_k_best",
    },
    seen="https://github.com/kingoflolz/mesh-transformer-jax/issues/164",
)
def one_token_too_few(logits, k):
    """The token of rank k is lost, because only larger logits than its own stay.

    With k = 1, how many tokens are larger than the largest? Does the token at the threshold belong to the k
    best?
    """
    threshold = logits.topk(k, dim=-1).values[..., -1:]
    return _keep(logits, logits > threshold)


@misconception(
    of="top_k",
    fails={
        "the_two_best_of_the_example_are_left",
        "k_tokens_are_left_in_every_row",
        "equals_stay_together",
        "other_logits_keep_their_k_best",
    },
    seen="https://github.com/kingoflolz/mesh-transformer-jax/issues/164",
)
def one_token_too_many(logits, k):
    """One token more than k is left: the threshold is the logit of rank k + 1.

    With k = 1, how many tokens have a probability in your answer? At which index of the sorted logits is rank
    k?
    """
    ranked = logits.sort(-1, descending=True).values
    return _keep(logits, logits >= ranked[..., min(k, logits.shape[-1] - 1), None])


@misconception(of="top_k", fails={"equals_stay_together", "other_logits_keep_their_k_best"})
def equals_torn_apart(logits, k):
    """Of tokens with equal logits some stay and others go, as `topk` happens to list them.

    In the second example three tokens should be left. Which of the two tokens with the logit 2 did you drop,
    and why that one?
    """
    best = logits.topk(k, dim=-1).indices
    return _keep(logits, torch.zeros_like(logits, dtype=torch.bool).scatter(-1, best, True))


@misconception(
    of="top_k",
    fails={
        "the_two_best_of_the_example_are_left",
        "k_tokens_are_left_in_every_row",
        "equals_stay_together",
        "other_logits_keep_their_k_best",
    },
)
def others_get_the_logit_zero(logits, k):
    """Tokens outside get the logit 0 instead of minus infinity, and keep a probability.

    What is $e^0$? If all logits are negative, which tokens are the most probable ones in your answer?
    """
    threshold = logits.topk(k, dim=-1).values[..., -1:]
    return logits.masked_fill(logits < threshold, 0.0)


@misconception(
    of="top_k",
    fails={"k_tokens_are_left_in_every_row", "equals_stay_together", "other_logits_keep_their_k_best"},
)
def one_threshold_for_all_rows(logits, k):
    """One threshold is taken for the whole batch, so rows with small logits lose all their tokens.

    Does each row of your answer have k tokens left? Over which axis did you look for the k best?
    """
    return _keep(logits, logits >= logits.flatten().topk(k).values[-1])


# 12. top_p


def _sorted(logits):
    return logits.softmax(-1).sort(dim=-1, descending=True, stable=True)


def _scattered(logits, order, kept):
    return _keep(logits, torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, kept))


@misconception(
    of="top_p",
    fails={"the_nucleus_of_the_example", "the_nucleus_holds_at_least_p", "other_logits_keep_their_nucleus"},
    seen="https://github.com/rasbt/reasoning-from-scratch/issues/164",
)
def crossing_token_dropped(logits, p):
    """The token with which the sum reaches p is dropped, so that what is left holds less than p.

    In the example with p = 0.6, the first token has 0.4 and the second brings the sum to 0.65. Is 0.4 at
    least 0.6?
    """
    probs, order = _sorted(logits)
    kept = probs.cumsum(-1) <= p + 1e-12
    kept[..., 0] = True
    return _scattered(logits, order, kept)


@misconception(
    of="top_p",
    fails={
        "the_nucleus_of_the_example",
        "the_nucleus_holds_at_least_p",
        "a_tiny_p_leaves_the_best_token",
        "other_logits_keep_their_nucleus",
    },
    seen="https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/203",
)
def nothing_left_when_p_is_tiny(logits, p):
    """Only tokens whose sum stays within p are left, which are none if the best token alone has more than p.

    With p = 0.01, what is the sum after the first token? What can be drawn if every token gets minus
    infinity?
    """
    probs, order = _sorted(logits)
    return _scattered(logits, order, probs.cumsum(-1) <= p + 1e-12)


@misconception(
    of="top_p",
    fails={
        "the_nucleus_of_the_example",
        "the_nucleus_holds_at_least_p",
        "a_tiny_p_leaves_the_best_token",
        "other_logits_keep_their_nucleus",
    },
)
def mask_left_in_sorted_order(logits, p):
    """The mask is made for the sorted tokens and then laid over the unsorted ones.

    Your mask says "the first two". Are the two most probable tokens of the example the tokens 0 and 1?
    """
    probs, _ = _sorted(logits)
    return _keep(logits, probs.cumsum(-1) - probs < p)


@misconception(
    of="top_p",
    fails={
        "the_nucleus_of_the_example",
        "the_nucleus_holds_at_least_p",
        "a_tiny_p_leaves_the_best_token",
        "other_logits_keep_their_nucleus",
    },
)
def sorted_from_the_least(logits, p):
    """The tokens are sorted in ascending order, so the least probable ones are kept.

    With p = 0.01, which token of the example is left in your answer? In which order does `sort` sort unless
    told?
    """
    probs, order = logits.softmax(-1).sort(dim=-1, stable=True)
    return _scattered(logits, order, probs.cumsum(-1) - probs < p)


@misconception(of="top_p", fails={"a_sum_of_exactly_p_is_enough", "other_logits_keep_their_nucleus"})
def one_more_at_an_exact_sum(logits, p):
    """Where the sum is exactly p, one token more is kept than needed.

    Of four equally probable tokens, how many have together at least 0.5? Is it "less than p" or "at most p"?
    """
    probs, order = _sorted(logits)
    return _scattered(logits, order, probs.cumsum(-1) - probs <= p)


@misconception(
    of="top_p",
    fails={
        "the_nucleus_of_the_example",
        "the_nucleus_holds_at_least_p",
        "a_sum_of_exactly_p_is_enough",
        "other_logits_keep_their_nucleus",
    },
)
def probability_of_each_compared_with_p(logits, p):
    """Each token's own probability is compared with 1 − p; nothing is added up.

    What is the smallest set of tokens that holds 0.7 in the example? Can you find it by looking at one token
    at a time?
    """
    probs = logits.softmax(-1)
    return _keep(logits, (probs >= 1 - p) | (probs == probs.max(-1, keepdim=True).values))


# 13. min_p


@misconception(
    of="min_p",
    fails={
        "three_tokens_of_the_example_are_left",
        "the_zero_of_the_logits_does_not_matter",
        "other_logits_keep_what_is_near_the_best",
    },
    seen="https://github.com/sgl-project/sglang-jax/pull/1563",
)
def threshold_on_the_logits(logits, p):
    """The logits are compared with p times the largest logit, although only probabilities have a zero.

    Add 10 to all logits. Which tokens are left now, and has any probability changed?
    """
    return _keep(logits, logits >= p * logits.max(-1, keepdim=True).values)


@misconception(
    of="min_p",
    fails={
        "three_tokens_of_the_example_are_left",
        "the_zero_of_the_logits_does_not_matter",
        "the_best_token_is_always_left",
        "other_logits_keep_what_is_near_the_best",
    },
    seen="https://github.com/sgl-project/sglang-jax/pull/1563",
)
def rejected_tokens_get_the_logit_zero(logits, p):
    """Rejected tokens get the logit 0 instead of minus infinity, and keep a probability.

    Which probability has a logit of 0 beside logits that are all negative?
    """
    probs = logits.softmax(-1)
    return logits.masked_fill(probs < p * probs.max(-1, keepdim=True).values, 0.0)


@misconception(
    of="min_p",
    fails={
        "three_tokens_of_the_example_are_left",
        "the_zero_of_the_logits_does_not_matter",
        "among_many_equals_all_are_left",
        "other_logits_keep_what_is_near_the_best",
    },
)
def compared_with_p_itself(logits, p):
    """The probabilities are compared with p itself instead of with p times the largest one.

    Forty tokens are equally probable. How many of them have a probability of at least 0.5? How many should be
    left?
    """
    probs = logits.softmax(-1)
    return _keep(logits, (probs >= p).scatter(-1, probs.argmax(-1, True), True))


@misconception(of="min_p", fails={"the_best_token_is_always_left", "other_logits_keep_what_is_near_the_best"})
def the_best_rejected_by_itself(logits, p):
    """Only tokens above the threshold stay, so with p = 1 the best one is rejected, too.

    Is the best token at least once as probable as the best token? Which comparison says "at least"?
    """
    probs = logits.softmax(-1)
    return _keep(logits, probs > p * probs.max(-1, keepdim=True).values)
