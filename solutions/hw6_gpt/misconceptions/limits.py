"""What goes wrong in homework 6, exercise 18: filters by a limit."""

import math

import torch

from autograder.catalogue import misconception

from ..notebook import limited as right_limit


def _keep(logits, kept, best_stays=True):
    if best_stays:
        kept = kept.scatter(-1, logits.argmax(-1, keepdim=True), True)
    return logits.masked_fill(~kept, -math.inf)


def _entropy(logits):
    return torch.special.entr(logits.softmax(-1)).sum(-1, keepdim=True)


@misconception(of="limited")
def epsilon_of_the_best(logits, rule, x):
    """Epsilon is multiplied by the largest probability; that is min-p, another filter.

    What is the limit in the example's row, 0.15 or 0.15 · 0.4? Does epsilon ask what the best token has?
    """
    probs = logits.softmax(-1)
    mine = _keep(logits, probs >= x * probs.amax(-1, keepdim=True))
    return mine if rule == "epsilon" else right_limit(logits, rule, x)


@misconception(of="limited")
def best_token_lost(logits, rule, x):
    """Where no token reaches epsilon, all are cut, and nothing is left to draw.

    What is the softmax of a row that is −∞ everywhere? Which token does the statement leave in any case?
    """
    return (
        _keep(logits, logits.softmax(-1) >= x, False) if rule == "epsilon" else right_limit(logits, rule, x)
    )


@misconception(of="limited")
def all_of_the_best_left(logits, rule, x):
    """Below epsilon all tokens that share the largest probability are left, not only the first.

    Two tokens share the largest logit, and neither reaches epsilon. How many of them should be left?
    """
    kept = (logits.softmax(-1) >= x) | (logits == logits.amax(-1, keepdim=True))
    return _keep(logits, kept) if rule == "epsilon" else right_limit(logits, rule, x)


@misconception(of="limited")
def limit_itself_excluded(logits, rule, x):
    """A token whose probability is exactly epsilon is cut.

    Does 0.25 reach a limit of 0.25? With how many of four quarters does your answer go on?
    """
    return _keep(logits, logits.softmax(-1) > x) if rule == "epsilon" else right_limit(logits, rule, x)


@misconception(of="limited")
def eta_without_its_minimum(logits, rule, x):
    """The limit of eta is always the one with the entropy, also where x itself is smaller.

    The model is sure, H is almost 0, and x = 0.04. What is √x · e^(−H), and which limit is smaller?
    """
    kept = logits.softmax(-1) >= math.sqrt(x) * torch.exp(-_entropy(logits))
    return _keep(logits, kept) if rule == "eta" else right_limit(logits, rule, x)


@misconception(of="limited")
def larger_of_the_two_limits(logits, rule, x):
    """Eta takes the larger of its two limits, so it is never more lenient than epsilon.

    In the example x = 0.15, and the limit of the entropy is 0.094. Which of them cuts token 0?
    """
    kept = logits.softmax(-1) >= (math.sqrt(x) * torch.exp(-_entropy(logits))).clamp(min=x)
    return _keep(logits, kept) if rule == "eta" else right_limit(logits, rule, x)


@misconception(of="limited")
def root_of_x_forgotten(logits, rule, x):
    """The exponential of eta is multiplied by x instead of by its square root.

    What is the limit of the example in your code? How does it compare with 0.094?
    """
    kept = logits.softmax(-1) >= x * torch.exp(-_entropy(logits))
    return _keep(logits, kept) if rule == "eta" else right_limit(logits, rule, x)


@misconception(of="limited")
def entropy_in_bits(logits, rule, x):
    """The entropy of eta is computed in bits, and e is raised to it.

    Your entropy of the example's row: is it 1.415, or 2.042? Which logarithm belongs to a power of e?
    """
    kept = logits.softmax(-1) >= (math.sqrt(x) * torch.exp(-_entropy(logits) / math.log(2))).clamp(max=x)
    return _keep(logits, kept) if rule == "eta" else right_limit(logits, rule, x)


@misconception(of="limited")
def nothing_times_infinity(logits, rule, x):
    """The entropy is NaN as soon as one token has been cut, because 0 · (−∞) is taken for a number.

    What does Python say to `0.0 * -math.inf`? What should a token add that cannot occur?
    """
    if rule != "eta":
        return right_limit(logits, rule, x)
    entropy = -(logits.softmax(-1) * logits.log_softmax(-1)).sum(-1, keepdim=True)
    return _keep(logits, logits.softmax(-1) >= (math.sqrt(x) * torch.exp(-entropy)).clamp(max=x))


@misconception(of="limited")
def best_not_squared(logits, rule, x):
    """The limit of top-a is x times the largest probability, not x times its square.

    What is 0.8 · 0.4²? And if the best token has 0.9 in one row and 0.1 in another: how many times as large
    should one limit be as the other?
    """
    return epsilon_of_the_best(logits, "epsilon", x) if rule == "top-a" else right_limit(logits, rule, x)


@misconception(of="limited")
def best_of_all_rows(logits, rule, x):
    """The limit of top-a is made of the largest probability of the whole batch, not of each row's.

    How many numbers does `probs.max()` give for two rows, and how many limits are needed?
    """
    if rule != "top-a":
        return right_limit(logits, rule, x)
    probs = logits.softmax(-1)
    return _keep(logits, probs >= x * probs.max() ** 2)


def _sigma_filter(logits, x, sigma, centre=None):
    best = logits.amax(-1, keepdim=True) if centre is None else centre
    return _keep(logits, logits >= best - x * sigma)


def _spread(values, correction=1):
    """σ of the finite entries of each row, and their mean."""
    finite = values.isfinite()
    n = finite.sum(-1, keepdim=True)
    mean = values.where(finite, 0.0).sum(-1, keepdim=True) / n
    squares = (values - mean).where(finite, 0.0).square().sum(-1, keepdim=True)
    return (squares / (n - correction)).sqrt(), mean


@misconception(of="limited")
def sigma_of_all_divided_by_n(logits, rule, x):
    """The sum of squares is divided by the number of logits, not by one less.

    Which σ do the logits 0, 1, 2 have in your code, 1 or 0.82? Which argument of `std` and `var` decides?
    """
    if rule != "top-n-sigma":
        return right_limit(logits, rule, x)
    return _sigma_filter(logits, x, _spread(logits, 0)[0])


@misconception(of="limited")
def sigma_of_what_was_cut(logits, rule, x):
    """Tokens that were cut before count in σ, which then is infinite or NaN.

    What is the mean of 1, 2 and −∞? Of which logits does the statement take σ?
    """
    if rule != "top-n-sigma":
        return right_limit(logits, rule, x)
    return _sigma_filter(logits, x, logits.std(-1, keepdim=True))


@misconception(of="limited")
def sigma_below_the_mean(logits, rule, x):
    """The limit of top-n-sigma is counted from the mean of the logits, not from the largest one.

    Which logits are left of 0, 1, 2 with x = 1 in your code? From where does the table count?
    """
    if rule != "top-n-sigma":
        return right_limit(logits, rule, x)
    sigma, mean = _spread(logits)
    return _sigma_filter(logits, x, sigma, mean)


@misconception(of="limited")
def variance_for_deviation(logits, rule, x):
    """The limit counts variances, not standard deviations.

    Multiply all logits by 10. By how much does your limit go down, and by how much do the distances grow?
    """
    if rule != "top-n-sigma":
        return right_limit(logits, rule, x)
    return _sigma_filter(logits, x, _spread(logits)[0] ** 2)


@misconception(of="limited")
def sigma_of_probabilities(logits, rule, x):
    """Top-n-sigma is computed on probabilities; its limit is among the logits.

    What are the probabilities of the logits 0, 1, 2, and what is their σ? Which σ does the example name?
    """
    if rule != "top-n-sigma":
        return right_limit(logits, rule, x)
    probs = logits.softmax(-1)
    kept = probs >= probs.amax(-1, keepdim=True) - x * probs.std(-1, keepdim=True)
    return _keep(logits, kept)


@misconception(of="limited")
def probabilities_of_the_limited(logits, rule, x):
    """What comes back are probabilities: the softmax has been taken already, and logits are asked for.

    Which function is applied to your answer afterwards? Which probability does it make of your 0?
    """
    return right_limit(logits, rule, x).softmax(-1)
