"""What goes wrong in homework 6, exercises 20 and 22: logits that are bent, and steps in an order."""

import math

import torch

from autograder.catalogue import misconception

from ..notebook import bent as right_bent
from ..notebook import min_p, temperature, top_k, top_p
from ..notebook import pipeline as right_pipeline
from .c3_limits import _entropy

# 20. bent


def _quadratic(logits, x, y, *, cubic=-1, middle=None):
    best = logits.amax(-1, keepdim=True)
    possible = logits > -math.inf
    d = (logits - (best if middle is None else middle)).where(possible, 0.0)
    bent = best - x * ((3 - y) / 2 * d**2 + cubic * (y - 1) / 2 * d**3)
    return bent.where(possible, -math.inf)


@misconception(of="bent")
def cubes_with_the_wrong_sign(logits, rule, x, y):
    """The cubes are added where they are subtracted, so that distant tokens gain by them.

    d is −2: what are d² and d³? Should the example's first token lose more with y = 2 than with y = 1,
    or less?
    """
    return _quadratic(logits, x, y, cubic=1) if rule == "quadratic" else right_bent(logits, rule, x, y)


@misconception(of="bent")
def logits_squared(logits, rule, x, y):
    """The logits themselves are squared, not their distances from the best one.

    Add 4 to all logits of a row. Which probabilities change in the formula, and which in your code?
    """
    if rule != "quadratic":
        return right_bent(logits, rule, x, y)
    return _quadratic(logits, x, y, middle=torch.zeros_like(logits[..., :1]))


@misconception(of="bent")
def curve_ignored(logits, rule, x, y):
    """The second setting of quadratic is not used; the answer is always the one for y = 1.

    What does the example become with y = 2? Where does y stand in your line?
    """
    return _quadratic(logits, x, 1.0) if rule == "quadratic" else right_bent(logits, rule, x, y)


@misconception(of="bent")
def bend_taken_off_the_logit(logits, rule, x, y):
    """What the formula takes from the largest logit, your code takes from each token's own.

    With x = 0.5 and y = 1, what becomes of the logit 1 of the example: 1.5 or 0.5? From which logit is
    subtracted?
    """
    if rule != "quadratic":
        return right_bent(logits, rule, x, y)
    return logits + _quadratic(logits, x, y) - logits.amax(-1, keepdim=True)


@misconception(of="bent")
def cut_tokens_come_back(logits, rule, x, y):
    """Tokens that were cut before become NaN or ∞, because their infinite distance is multiplied.

    What is d for a logit of −∞? What is 0 · d³ for y = 1, and what should become of that token?
    """
    if rule != "quadratic":
        return right_bent(logits, rule, x, y)
    best = logits.amax(-1, keepdim=True)
    d = logits - best
    return best - x * ((3 - y) / 2 * d**2 - (y - 1) / 2 * d**3)


@misconception(of="bent")
def one_maximum_for_all_rows(logits, rule, x, y):
    """The distances are those from the largest logit of the whole batch, not of each row.

    How many numbers does `logits.max()` give for two rows? What is d of the best token of each row?
    """
    if rule != "quadratic":
        return right_bent(logits, rule, x, y)
    of_all = logits.max()
    return _quadratic(logits, x, y, middle=of_all) - logits.amax(-1, keepdim=True) + of_all


def _dynamic(logits, x, y, fraction):
    return logits / (x + (y - x) * fraction)


def _share(logits):
    n = (logits > -math.inf).sum(-1, keepdim=True)
    return _entropy(logits) / n.clamp(min=2).log()


@misconception(of="bent")
def hot_where_it_is_sure(logits, rule, x, y):
    """The two temperatures are exchanged: the model is heated where it is sure.

    A token is certain. What is H, and by which of the two numbers should be divided?
    """
    if rule != "dynamic":
        return right_bent(logits, rule, x, y)
    return _dynamic(logits, y, x, _share(logits))


@misconception(of="bent")
def cut_tokens_counted(logits, rule, x, y):
    """The largest entropy is taken as the logarithm of V, also where tokens were cut before.

    Two of five tokens are left and equally probable. How large is H? Which n makes H / ln n one?
    """
    if rule != "dynamic":
        return right_bent(logits, rule, x, y)
    return _dynamic(logits, x, y, _entropy(logits) / math.log(logits.shape[-1]))


@misconception(of="bent")
def entropy_not_divided(logits, rule, x, y):
    """The entropy is not divided by its largest value, so the temperature can rise above y.

    How large is H for fifty equally probable tokens? Which temperature should they have?
    """
    return _dynamic(logits, x, y, _entropy(logits)) if rule == "dynamic" else right_bent(logits, rule, x, y)


@misconception(of="bent")
def entropy_of_the_cut_is_nan(logits, rule, x, y):
    """The entropy is NaN as soon as one token has been cut, because 0 · (−∞) is.

    Which token adds a NaN to your sum? What does −p ln p come close to when p does to 0?
    """
    if rule != "dynamic":
        return right_bent(logits, rule, x, y)
    entropy = -(logits.softmax(-1) * logits.log_softmax(-1)).sum(-1, keepdim=True)
    n = (logits > -math.inf).sum(-1, keepdim=True)
    return _dynamic(logits, x, y, entropy / n.clamp(min=2).log())


@misconception(of="bent")
def one_token_divides_by_zero(logits, rule, x, y):
    """Where a single token is left, H / ln n is 0 / 0.

    What is ln 1? Which temperature does the statement give to a row with one token?
    """
    if rule != "dynamic":
        return right_bent(logits, rule, x, y)
    n = (logits > -math.inf).sum(-1, keepdim=True)
    return _dynamic(logits, x, y, _entropy(logits) / n.log())


@misconception(of="bent")
def multiplied_by_the_dynamic_temperature(logits, rule, x, y):
    """The logits are multiplied by the temperature, so that unsure rows become sharper.

    Exercise 11: at which temperatures is a distribution flatter? Does your line do that?
    """
    if rule != "dynamic":
        return right_bent(logits, rule, x, y)
    t = x + (y - x) * _share(logits)
    return (logits * t).where(logits > -math.inf, -math.inf)


@misconception(of="bent")
def one_temperature_for_all_rows(logits, rule, x, y):
    """All rows get the temperature of their average entropy.

    One row is certain and one is open. What should each of them be divided by, and what does your code take?
    """
    if rule != "dynamic":
        return right_bent(logits, rule, x, y)
    return _dynamic(logits, x, y, _share(logits).mean())


@misconception(of="bent")
def probabilities_of_the_bent(logits, rule, x, y):
    """What comes back are probabilities: the softmax has been taken already, and logits are asked for.

    Which function is applied to your answer afterwards? What does the softmax of (0.1, 0.9) give?
    """
    return right_bent(logits, rule, x, y).softmax(-1)


# 22. pipeline


def _left(logits, name, x):
    """Which tokens a filter leaves."""
    return {"top-k": top_k, "top-p": top_p, "min-p": min_p}[name](logits, x) > -math.inf


@misconception(of="pipeline")
def every_filter_asks_the_model(logits, steps):
    """Every filter judges the logits of the model, not those that the step before has left.

    That was exercise 15. After top-k 3, how much has token 1 of the example? Which tokens then reach 0.7?
    """
    after = logits
    for name, x in steps:
        after = after / x if name == "temperature" else after.masked_fill(~_left(logits, name, x), -math.inf)
    return after


@misconception(of="pipeline")
def steps_from_the_last(logits, steps):
    """The steps are taken from the last to the first.

    Which step of the list `[("top-k", 3), ("top-p", 0.7)]` does your loop take first?
    """
    return right_pipeline(logits, steps[::-1])


@misconception(of="pipeline")
def temperature_put_last(logits, steps):
    """Whatever the list says, the temperature comes after the filters.

    Which programs heat first? How many tokens of the example does min-p 0.3 leave after a temperature of 2?
    """
    return right_pipeline(logits, sorted(steps, key=lambda step: step[0] == "temperature"))


@misconception(of="pipeline")
def temperature_put_first(logits, steps):
    """Whatever the list says, the temperature comes before the filters.

    Which program divides last? How many tokens of the example does min-p 0.3 leave if it comes first?
    """
    return right_pipeline(logits, sorted(steps, key=lambda step: step[0] != "temperature"))


@misconception(of="pipeline")
def one_fixed_order(logits, steps):
    """The steps are always taken in the order of llama.cpp, not in the one of the list.

    Exchange two steps of the list. Does your answer change? Should it?
    """
    order = ["top-k", "top-p", "min-p", "temperature"]
    return right_pipeline(logits, sorted(steps, key=lambda step: order.index(step[0])))


@misconception(of="pipeline")
def each_name_once(logits, steps):
    """A step that comes twice is taken once, as when the list becomes a dictionary.

    What is `dict([("temperature", 2.0), ("temperature", 3.0)])`? How many steps should there be?
    """
    return right_pipeline(logits, list(dict(steps).items()))


@misconception(of="pipeline")
def first_step_only(logits, steps):
    """Your function returns after the first step.

    At which depth of the loop does your `return` stand? How many steps has the example?
    """
    return right_pipeline(logits, steps[:1])


@misconception(of="pipeline")
def last_step_only(logits, steps):
    """Each step starts from the logits of the model again, so only the last one is seen.

    What does your second step receive: what the first returned, or what your function was given?
    """
    return right_pipeline(logits, steps[-1:])


@misconception(of="pipeline")
def filters_count_the_lost(logits, steps):
    """What an earlier filter has cut still counts in the sums of top-p: nothing is shared out again.

    After top-k 3 the example's token 1 has 0.47, not 0.4. To which sum does your top-p add up the
    probabilities?
    """
    whole, after = logits, logits
    for name, x in steps:
        if name == "temperature":
            whole, after = temperature(whole, x), temperature(after, x)
        else:
            after = after.masked_fill(~_left(whole, name, x), -math.inf)
    return after


@misconception(of="pipeline")
def probabilities_handed_on(logits, steps):
    """Each step hands on probabilities, which the next one takes for logits.

    What do your samplers expect, and what do they get in the second step? What does the softmax of a softmax
    look like?
    """
    for step in steps:
        logits = right_pipeline(logits, [step]).softmax(-1)
    return logits
