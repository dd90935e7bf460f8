"""What goes wrong in homework 6, exercises 13 and 14: top-p and min-p."""

import math

import torch

from autograder.catalogue import misconception


def _keep(logits, kept):
    return logits.masked_fill(~kept, -math.inf)


# 13. top_p


def _sorted(logits):
    return logits.softmax(-1).sort(dim=-1, descending=True, stable=True)


def _scattered(logits, order, kept):
    return _keep(logits, torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, kept))


@misconception(of="top_p", seen="https://github.com/rasbt/reasoning-from-scratch/issues/164")
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
    of="top_p", seen="https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/203"
)
def nothing_left_when_p_is_tiny(logits, p):
    """Only tokens whose sum stays within p are left, which are none if the best token alone has more than p.

    With p = 0.01, what is the sum after the first token? What can be drawn if every token gets minus
    infinity?
    """
    probs, order = _sorted(logits)
    return _scattered(logits, order, probs.cumsum(-1) <= p + 1e-12)


@misconception(of="top_p")
def sums_below_p_and_the_best(logits, p):
    """Only tokens whose sum stays below p are left, and the best one, so that what is left holds less than p.

    In the example with p = 0.6, the first token has 0.4 and the second brings the sum to 0.65. Is 0.4 at
    least 0.6? And which tokens of four equal ones are left with p = 1?
    """
    probs, order = _sorted(logits)
    kept = probs.cumsum(-1) < p
    kept[..., 0] = True
    return _scattered(logits, order, kept)


@misconception(of="top_p")
def sums_below_p_only(logits, p):
    """Only tokens whose sum stays below p are left, which are none if the best token alone reaches p.

    In the example with p = 0.6, the first token has 0.4 and the second brings the sum to 0.65. Is 0.4 at
    least 0.6? And what can be drawn with p = 0.01?
    """
    probs, order = _sorted(logits)
    return _scattered(logits, order, probs.cumsum(-1) < p)


@misconception(of="top_p")
def mask_left_in_sorted_order(logits, p):
    """The mask is made for the sorted tokens and then laid over the unsorted ones.

    Your mask says "the first two". Are the two most probable tokens of the example the tokens 0 and 1?
    """
    probs, _ = _sorted(logits)
    return _keep(logits, probs.cumsum(-1) - probs < p)


@misconception(of="top_p")
def sorted_from_the_least(logits, p):
    """The tokens are sorted in ascending order, so the least probable ones are kept.

    With p = 0.01, which token of the example is left in your answer? In which order does `sort` sort unless
    told?
    """
    probs, order = logits.softmax(-1).sort(dim=-1, stable=True)
    return _scattered(logits, order, probs.cumsum(-1) - probs < p)


@misconception(of="top_p")
def one_more_at_an_exact_sum(logits, p):
    """Where the sum is exactly p, one token more is kept than needed.

    Of four equally probable tokens, how many have together at least 0.5? Is it "less than p" or "at most p"?
    """
    probs, order = _sorted(logits)
    return _scattered(logits, order, probs.cumsum(-1) - probs <= p)


@misconception(of="top_p")
def probability_of_each_compared_with_p(logits, p):
    """Each token's own probability is compared with 1 − p; nothing is added up.

    What is the smallest set of tokens that holds 0.7 in the example? Can you find it by looking at one token
    at a time?
    """
    probs = logits.softmax(-1)
    return _keep(logits, (probs >= 1 - p) | (probs == probs.max(-1, keepdim=True).values))


@misconception(of="top_p")
def outside_the_nucleus_the_logit_is_zero(logits, p):
    """Tokens outside the nucleus get the logit 0 instead of minus infinity, and keep a probability.

    What is $e^0$? Which logit has the probability 0?
    """
    probs, order = _sorted(logits)
    before = (probs.cumsum(-1) - probs).clamp(min=0.0)
    kept = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, before < p)
    return logits.masked_fill(~kept, 0.0)


@misconception(of="top_p")
def probabilities_of_the_nucleus(logits, p):
    """What comes back are probabilities: the softmax has been taken already, and logits are asked for.

    Which function is applied to your answer afterwards? Which probability does it make of your 0?
    """
    probs, order = _sorted(logits)
    return _scattered(logits, order, (probs.cumsum(-1) - probs).clamp(min=0.0) < p).softmax(-1)


@misconception(of="top_p")
def mask_gathered_for_scattered(logits, p):
    """The mask is brought back by `gather` with the order of the sort, which moves it the wrong way.

    Entry 0 of `order` says which token has rank 0. Is your first entry the mask of token 0, or that of the
    rank whose number is `order[0]`?
    """
    probs, order = _sorted(logits)
    kept = (probs.cumsum(-1) - probs).clamp(min=0.0) < p
    return _keep(logits, kept.gather(-1, order))


# 14. min_p


@misconception(of="min_p", seen="https://github.com/sgl-project/sglang-jax/pull/1563")
def threshold_on_the_logits(logits, p):
    """The logits are compared with p times the largest logit, although only probabilities have a zero.

    Add 10 to all logits. Which tokens are left now, and has any probability changed?
    """
    return _keep(logits, logits >= p * logits.max(-1, keepdim=True).values)


@misconception(of="min_p")
def exponentials_compared(logits, p):
    """The exponentials of the logits are compared, which become 0 or infinite where logits are large.

    What is $e^{800}$ as a float, and what $e^{-800}$? Is infinity less than 0.2 times infinity? What does the
    softmax subtract first?
    """
    powers = logits.exp()
    return _keep(logits, ~(powers < p * powers.max(-1, keepdim=True).values))


@misconception(of="min_p", seen="https://github.com/sgl-project/sglang-jax/pull/1563")
def rejected_tokens_get_the_logit_zero(logits, p):
    """Rejected tokens get the logit 0 instead of minus infinity, and keep a probability.

    Which probability has a logit of 0 beside logits that are all negative?
    """
    probs = logits.softmax(-1)
    return logits.masked_fill(probs < p * probs.max(-1, keepdim=True).values, 0.0)


@misconception(of="min_p")
def compared_with_p_itself(logits, p):
    """The probabilities are compared with p itself instead of with p times the largest one.

    Forty tokens are equally probable. How many of them have a probability of at least 0.5? How many should be
    left?
    """
    return _keep(logits, logits.softmax(-1) >= p)


@misconception(of="min_p")
def the_best_rejected_by_itself(logits, p):
    """Only tokens above the threshold stay, so with p = 1 the best one is rejected, too.

    Is the best token at least once as probable as the best token? Which comparison says "at least"?
    """
    probs = logits.softmax(-1)
    return _keep(logits, probs > p * probs.max(-1, keepdim=True).values)


@misconception(of="min_p")
def probabilities_near_the_best(logits, p):
    """What comes back are probabilities: the softmax has been taken already, and logits are asked for.

    Which function is applied to your answer afterwards? Which probability does it make of your 0?
    """
    probs = logits.softmax(-1)
    return _keep(logits, probs >= p * probs.max(-1, keepdim=True).values).softmax(-1)


@misconception(of="min_p")
def best_of_the_whole_batch(logits, p):
    """Every token is compared with the most probable one of the whole batch, not of its own row.

    In a row whose best token has 0.4, which threshold does your code use if another row's best has 0.9? Over
    which axis is your maximum?
    """
    probs = logits.softmax(-1)
    return _keep(logits, probs >= p * probs.max())
