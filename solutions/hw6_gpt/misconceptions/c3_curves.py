"""What goes wrong in homework 6, exercise 19: filters that walk along the curve."""

import math

import torch
from torch.nn import functional

from autograder.catalogue import misconception

from ..notebook import cut_by_curve as right_cut
from .c3_limits import _entropy, _keep


def _sorted(logits):
    return logits.softmax(-1).sort(dim=-1, descending=True, stable=True)


def _by_token(values, order):
    return torch.zeros_like(values).scatter(-1, order, values)


def _typical(logits, distances, x, *, best_stays=True, reaching=True):
    walk = distances.argsort(dim=-1, stable=True)
    masses = logits.softmax(-1).gather(-1, walk)
    before = masses.cumsum(-1) - (masses if reaching else 0)
    kept = before < x if reaching else before <= x
    return _keep(logits, _by_token(kept, walk), best_stays)


def _distances(logits):
    return (-logits.log_softmax(-1) - _entropy(logits)).abs()


@misconception(of="cut_by_curve")
def most_probable_first(logits, rule, x):
    """The entropy does not decide: typical walks from the most probable token down, as top-p does.

    The example's surprises are 2.30, 0.92, 3.00, 1.39, 1.61, and the entropy is 1.415. At which token
    does the walk begin?
    """
    if rule != "typical":
        return right_cut(logits, rule, x)
    return _typical(logits, -logits.softmax(-1), x)


@misconception(of="cut_by_curve")
def best_left_out(logits, rule, x):
    """The most probable token goes if it is not typical; the statement leaves it in any case.

    In the example with x = 0.2, which two tokens are left? Which of them did the walk not reach?
    """
    if rule != "typical":
        return right_cut(logits, rule, x)
    return _typical(logits, _distances(logits), x, best_stays=False)


@misconception(of="cut_by_curve")
def last_typical_token_lost(logits, rule, x):
    """The token with which typical reaches x is lost, because its own probability counts.

    The first token of the walk has 0.25 and x is 0.2. How much do the tokens before it have? Does it stay?
    """
    if rule != "typical":
        return right_cut(logits, rule, x)
    return _typical(logits, _distances(logits), x, reaching=False)


@misconception(of="cut_by_curve")
def typical_only_below_x(logits, rule, x):
    """A token counts itself: it stays only if it and those before it together have less than x.

    The first token of the walk has 0.25 and x is 0.2. How much do the tokens before it have? Does it stay?
    """
    if rule != "typical":
        return right_cut(logits, rule, x)
    walk = _distances(logits).argsort(dim=-1, stable=True)
    kept = logits.softmax(-1).gather(-1, walk).cumsum(-1) < x
    return _keep(logits, _by_token(kept, walk))


@misconception(of="cut_by_curve")
def distances_not_a_number(logits, rule, x):
    """The entropy is NaN as soon as one token has been cut, and so are all distances.

    What is 0 · (−∞)? Which token adds it to your sum, and what should it add?
    """
    if rule != "typical":
        return right_cut(logits, rule, x)
    log_probs = logits.log_softmax(-1)
    entropy = -(log_probs.exp() * log_probs).sum(-1, keepdim=True)
    return _typical(logits, (-log_probs - entropy).abs(), x)


def _tail_free(logits, x, *, bends=None, front=1, normalised=True, inclusive=True, in_place=True):
    probs, order = _sorted(logits)
    bends = probs.diff().diff().abs() if bends is None else bends
    sums = bends.cumsum(-1) - (0 if inclusive else bends)
    kept = sums <= x * (bends.sum(-1, keepdim=True) if normalised else 1)
    kept = functional.pad(kept, (front, probs.shape[-1] - kept.shape[-1] - front), value=False)
    kept[..., 0] = True
    return logits.masked_fill(~(_by_token(kept, order) if in_place else kept), -math.inf)


@misconception(of="cut_by_curve")
def bends_with_their_signs(logits, rule, x):
    """Bends of the two directions cancel, because their absolute values are not taken.

    The second differences of the example are 0.1, −0.05, 0.05. What do they sum to with the signs, and what
    without?
    """
    if rule != "tail-free":
        return right_cut(logits, rule, x)
    return _tail_free(logits, x, bends=_sorted(logits)[0].diff().diff())


@misconception(of="cut_by_curve")
def slopes_for_bends(logits, rule, x):
    """Tail-free adds up first differences, which say how steep the curve is, not how it bends.

    Where a curve falls along a straight line, how large is its slope, and how large its bend?
    """
    if rule != "tail-free":
        return right_cut(logits, rule, x)
    return _tail_free(logits, x, bends=_sorted(logits)[0].diff().abs())


@misconception(of="cut_by_curve")
def bends_not_compared_with_their_sum(logits, rule, x):
    """The bends added up are compared with x itself, not with x times the sum of all.

    The bends of the example have a sum of 0.2. Which x would leave fewer tokens than all in your code?
    """
    return _tail_free(logits, x, normalised=False) if rule == "tail-free" else right_cut(logits, rule, x)


@misconception(of="cut_by_curve")
def bends_one_rank_too_early(logits, rule, x):
    """Each bend is given to the rank before its own, so one token too few is left.

    The first bend is made of the ranks 1, 2 and 3. Which of them is in the middle?
    """
    return _tail_free(logits, x, front=0) if rule == "tail-free" else right_cut(logits, rule, x)


@misconception(of="cut_by_curve")
def own_bend_not_counted(logits, rule, x):
    """A token's own bend does not count for it, only those before, so one token too many is left.

    In the example with x = 0.6: b₂ is 0.1 of 0.2, b₂ + b₃ is 0.15. Does rank 3 stay?
    """
    return _tail_free(logits, x, inclusive=False) if rule == "tail-free" else right_cut(logits, rule, x)


@misconception(of="cut_by_curve")
def ranks_taken_for_tokens(logits, rule, x):
    """The mask stays in the order of ranks, and the first tokens are kept for the best ones.

    In the example the most probable token is number 1. Which entry of your mask belongs to it?
    """
    return _tail_free(logits, x, in_place=False) if rule == "tail-free" else right_cut(logits, rule, x)


def _walked(logits, rule, x):
    """The walk of a rule, and what stays, in the order of the walk."""
    walk = _distances(logits).argsort(dim=-1, stable=True) if rule == "typical" else _sorted(logits)[1]
    if rule == "typical":
        masses = logits.softmax(-1).gather(-1, walk)
        return walk, masses.cumsum(-1) - masses < x
    return walk, (right_cut(logits, rule, x) > -math.inf).gather(-1, walk)


@misconception(of="cut_by_curve")
def masks_in_the_order_of_the_walk(logits, rule, x):
    """With each of the three rules, the mask is still in the order of the walk when it is laid on the tokens.

    Which token does the first entry of your mask belong to: number 0, or the first of the walk?
    """
    return _keep(logits, _walked(logits, rule, x)[1], rule == "typical")


@misconception(of="cut_by_curve")
def walked_once_more(logits, rule, x):
    """With each of the three rules, the mask is gathered with the order of the walk: a second walk, not back.

    `gather` takes the entries of the order from the tokens. Which function puts them back?
    """
    walk, kept = _walked(logits, rule, x)
    return _keep(logits, kept.gather(-1, walk), rule == "typical")


@misconception(of="cut_by_curve")
def exactly_good_not_good(logits, rule, x):
    """In XTC, a token whose probability is exactly x does not count as good.

    Four tokens have a probability of 0.25 and x is 0.25. How many of them reach x?
    """
    return right_cut(logits, rule, math.nextafter(x, 1.0) if rule == "xtc" else x)


@misconception(of="cut_by_curve")
def all_good_tokens_out(logits, rule, x):
    """XTC removes all good tokens, also the least probable one of them.

    In the example the tokens 1, 3, 4 are good. Which of them should be left, and why would a text suffer
    without it?
    """
    if rule != "xtc":
        return right_cut(logits, rule, x)
    good = logits.softmax(-1) >= x
    return logits.masked_fill(good & (good.sum(-1, keepdim=True) > 1), -math.inf)


@misconception(of="cut_by_curve")
def only_the_favourite_out(logits, rule, x):
    """XTC removes the most probable token alone, and leaves the other good ones.

    How many of the good tokens 1, 3, 4 of the example stay by the statement, and how many in your code?
    """
    if rule != "xtc":
        return right_cut(logits, rule, x)
    several = (logits.softmax(-1) >= x).sum(-1, keepdim=True) > 1
    best = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, logits.argmax(-1, keepdim=True), True)
    return logits.masked_fill(best & several, -math.inf)


@misconception(of="cut_by_curve")
def best_of_the_good_left(logits, rule, x):
    """Of the good tokens XTC leaves the most probable one, and removes those it should prefer.

    What does the X in XTC stand for? Which end of the good tokens does your code keep?
    """
    if rule != "xtc":
        return right_cut(logits, rule, x)
    probs, order = _sorted(logits)
    gone = probs >= x
    gone[..., 0] = False
    return logits.masked_fill(_by_token(gone, order), -math.inf)


@misconception(of="cut_by_curve")
def a_single_good_token_out(logits, rule, x):
    """The only good token is removed, and just the bad ones are left.

    With x = 0.35 one token of the example is good. What does the statement do if there are not two?
    """
    if rule != "xtc":
        return right_cut(logits, rule, x)
    good = (logits.softmax(-1) >= x).sum(-1, keepdim=True) == 1
    favourite = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, logits.argmax(-1, keepdim=True), True)
    return right_cut(logits, rule, x).masked_fill(favourite & good, -math.inf)


@misconception(of="cut_by_curve")
def first_of_equals_left(logits, rule, x):
    """Of equally good tokens XTC leaves the first; in the order of the walk the last one counts as the least.

    Three tokens have 0.3 and are good. In which order do they stand in the walk, and which is its last?
    """
    if rule != "xtc":
        return right_cut(logits, rule, x)
    return right_cut(logits.flip(-1), rule, x).flip(-1)


@misconception(of="cut_by_curve")
def probabilities_of_the_curve(logits, rule, x):
    """What comes back are probabilities: the softmax has been taken already, and logits are asked for.

    Which function is applied to your answer afterwards? Which probability does it make of your 0?
    """
    return right_cut(logits, rule, x).softmax(-1)
