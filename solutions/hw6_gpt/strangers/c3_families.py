"""Samplers that are nearly those of exercises 18 to 22."""

import math

import torch
from torch.nn import functional

from autograder.proving.strangers import stranger

from ..notebook import bent, cut_by_curve, limited, pipeline, unrepeated


def _only_for(rule, own, right):
    """A sampler that goes its own way for one rule, and is right for the others."""

    def sampler(logits, given, *settings):
        return own(logits, *settings) if given == rule else right(logits, given, *settings)

    return sampler


def _best_stays(logits, kept):
    return logits.masked_fill(~kept.scatter(-1, logits.argmax(-1, keepdim=True), True), -math.inf)


def _surprise(logits):
    return torch.special.entr(logits.softmax(-1)).sum(-1, keepdim=True)


@stranger(of="limited")
def probability_above_the_limit_cut(logits, rule, x):
    kept = logits.softmax(-1) <= x
    return _only_for("epsilon", lambda z, x: _best_stays(z, kept), limited)(logits, rule, x)


@stranger(of="limited")
def entropy_raises_the_limit(logits, rule, x):
    def eta(z, x):
        return _best_stays(z, z.softmax(-1) >= (math.sqrt(x) * _surprise(z).exp()).clamp(max=x))

    return _only_for("eta", eta, limited)(logits, rule, x)


@stranger(of="limited")
def own_probability_squared(logits, rule, x):
    def top_a(z, x):
        probs = z.softmax(-1)
        return _best_stays(z, probs**2 >= x * probs.amax(-1, keepdim=True))

    return _only_for("top-a", top_a, limited)(logits, rule, x)


@stranger(of="limited")
def distance_on_both_sides(logits, rule, x):
    def sigma(z, x):
        finite = z.where(z.isfinite(), math.nan)
        mean = finite.nanmean(-1, keepdim=True)
        n = finite.isfinite().sum(-1, keepdim=True)
        spread = ((finite - mean).square().nansum(-1, keepdim=True) / (n - 1)).sqrt()
        return _best_stays(z, (z - mean).abs() <= x * spread)

    return _only_for("top-n-sigma", sigma, limited)(logits, rule, x)


@stranger(of="limited")
def rules_exchanged(logits, rule, x):
    return limited(logits, {"eta": "epsilon", "epsilon": "eta"}.get(rule, rule), x)


@stranger(of="limited")
def logits_below_become_zero(logits, rule, x):
    left = limited(logits, rule, x)
    return left.where(left > -math.inf, 0.0)


@stranger(of="cut_by_curve")
def farthest_first(logits, rule, x):
    def typical(z, x):
        probs = z.softmax(-1)
        distances = (-z.log_softmax(-1) - _surprise(z)).abs().where(z > -math.inf, -1.0)
        walk = distances.argsort(dim=-1, descending=True, stable=True)
        masses = probs.gather(-1, walk)
        kept = masses.cumsum(-1) - masses < x
        return _best_stays(z, torch.zeros_like(kept).scatter(-1, walk, kept))

    return _only_for("typical", typical, cut_by_curve)(logits, rule, x)


@stranger(of="cut_by_curve")
def logits_bend_for_probabilities(logits, rule, x):
    def tail_free(z, x):
        ranked, order = z.sort(dim=-1, descending=True, stable=True)
        bends = ranked.diff().diff().abs().nan_to_num(0.0, posinf=0.0)
        kept = functional.pad(bends.cumsum(-1) <= x * bends.sum(-1, keepdim=True), (1, 1))
        return _best_stays(z, torch.zeros_like(kept).scatter(-1, order, kept))

    return _only_for("tail-free", tail_free, cut_by_curve)(logits, rule, x)


@stranger(of="cut_by_curve")
def middle_of_the_good_left(logits, rule, x):
    def xtc(z, x):
        probs, order = z.softmax(-1).sort(dim=-1, descending=True, stable=True)
        n = (probs >= x).sum(-1, keepdim=True)
        rank = torch.arange(z.shape[-1])
        gone = (rank < n) & (rank != n // 2) & (n > 1)
        return z.masked_fill(torch.zeros_like(gone).scatter(-1, order, gone), -math.inf)

    return _only_for("xtc", xtc, cut_by_curve)(logits, rule, x)


@stranger(of="cut_by_curve")
def good_only_above_the_limit_twice(logits, rule, x):
    return cut_by_curve(logits, rule, 2 * x if rule == "xtc" else x)


@stranger(of="cut_by_curve")
def share_that_goes_for_share_that_stays(logits, rule, x):
    return cut_by_curve(logits, rule, 1 - x)


@stranger(of="cut_by_curve")
def typical_and_tail_free_exchanged(logits, rule, x):
    return cut_by_curve(logits, {"typical": "tail-free", "tail-free": "typical"}.get(rule, rule), x)


@stranger(of="bent")
def half_of_the_square(logits, rule, x, y):
    return bent(logits, rule, x / 2 if rule == "quadratic" else x, y)


@stranger(of="bent")
def distances_not_squared(logits, rule, x, y):
    return _only_for("quadratic", lambda z, x, y: x * z, bent)(logits, rule, x, y)


@stranger(of="bent")
def mean_of_the_temperatures(logits, rule, x, y):
    return _only_for("dynamic", lambda z, x, y: z * 2 / (x + y), bent)(logits, rule, x, y)


@stranger(of="bent")
def entropy_squared(logits, rule, x, y):
    def dynamic(z, x, y):
        n = (z > -math.inf).sum(-1, keepdim=True).clamp(min=2)
        return z / (x + (y - x) * (_surprise(z) / n.log()) ** 2)

    return _only_for("dynamic", dynamic, bent)(logits, rule, x, y)


@stranger(of="bent")
def perplexity_for_entropy(logits, rule, x, y):
    def dynamic(z, x, y):
        n = (z > -math.inf).sum(-1, keepdim=True)
        return z / (x + (y - x) * _surprise(z).exp() / n)

    return _only_for("dynamic", dynamic, bent)(logits, rule, x, y)


@stranger(of="bent")
def settings_exchanged(logits, rule, x, y):
    return bent(logits, rule, y, x) if rule == "quadratic" else bent(logits, rule, x, y)


@stranger(of="unrepeated")
def dry_also_forbids(logits, history, presence, frequency, dry, ngram):
    return unrepeated(logits, history, presence, frequency, dry, ngram or (3 if dry else 0))


@stranger(of="unrepeated")
def last_token_not_counted(logits, history, presence, frequency, dry, ngram):
    shorter = history[:, :-1] if history.shape[1] > 1 else history
    return unrepeated(logits, shorter, presence, frequency, dry, ngram)


@stranger(of="unrepeated")
def history_read_backwards(logits, history, presence, frequency, dry, ngram):
    return unrepeated(logits, history.flip(1), presence, frequency, dry, ngram)


@stranger(of="unrepeated")
def share_of_the_text_for_a_count(logits, history, presence, frequency, dry, ngram):
    return unrepeated(logits, history, presence, frequency / history.shape[1], dry, ngram)


@stranger(of="unrepeated")
def presence_and_frequency_exchanged(logits, history, presence, frequency, dry, ngram):
    return unrepeated(logits, history, frequency, presence, dry, ngram)


@stranger(of="unrepeated")
def trigrams_whatever_is_asked(logits, history, presence, frequency, dry, ngram):
    return unrepeated(logits, history, presence, frequency, dry, 3 if ngram else 0)


@stranger(of="pipeline")
def cut_to_two_steps(logits, steps):
    return pipeline(logits, steps[:2])


@stranger(of="pipeline")
def temperatures_inverted(logits, steps):
    return pipeline(logits, [(name, 1 / x if name == "temperature" else x) for name, x in steps])


@stranger(of="pipeline")
def neighbours_of_a_name_joined(logits, steps):
    return pipeline(logits, [step for n, step in enumerate(steps) if step not in steps[:n]])


@stranger(of="pipeline")
def min_p_taken_for_top_p(logits, steps):
    return pipeline(logits, [("top-p" if name == "min-p" else name, x) for name, x in steps])


@stranger(of="pipeline")
def sorted_by_name(logits, steps):
    return pipeline(logits, sorted(steps))


@stranger(of="pipeline")
def temperatures_left_out(logits, steps):
    return pipeline(logits, [step for step in steps if step[0] != "temperature"])
