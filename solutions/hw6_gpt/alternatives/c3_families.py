"""Right solutions of homework 6, exercises 18 to 22, that look nothing like the reference."""

import math

import numpy as np
import torch
from torch.nn import functional

from autograder.catalogue import alternative

from .c2_samplers import by_ratios, in_numpy, token_after_token


def _in_rows(logits, kept_of):
    """The same mask for every row of a batch, found row by row from a list of probabilities."""
    flat = logits.reshape(-1, logits.shape[-1])
    rows = [kept_of(row, row.softmax(-1).tolist()) for row in flat]
    kept = torch.tensor([[v in left for v in range(flat.shape[1])] for left in rows])
    return flat.masked_fill(~kept, -math.inf).reshape(logits.shape)


def _surprise_expected(probs):
    return -sum(q * math.log(q) for q in probs if q > 0)


@alternative(of="limited")
def limits_row_by_row(logits, rule, x):
    def left(row, probs):
        z = row.tolist()
        if rule == "top-n-sigma":
            least = max(z) - x * float(np.std([value for value in z if value > -math.inf], ddof=1))
            return [v for v, value in enumerate(z) if value >= least]
        least = {
            "epsilon": x,
            "eta": min(x, x**0.5 * math.exp(-_surprise_expected(probs))),
            "top-a": x * max(probs) ** 2,
        }[rule]
        return [v for v, q in enumerate(probs) if q >= least] or [z.index(max(z))]

    return _in_rows(logits, left)


@alternative(of="limited")
def limits_of_log_probs(logits, rule, x):
    log_probs = logits.log_softmax(-1)
    best = log_probs.amax(-1, keepdim=True)
    if rule == "top-n-sigma":
        spread = logits.where(logits.isfinite(), math.nan)
        squares = (spread - spread.nanmean(-1, keepdim=True)) ** 2
        n = squares.isfinite().sum(-1, keepdim=True)
        least = best - x * (squares.nansum(-1, keepdim=True) / (n - 1)).sqrt()
    elif rule == "top-a":
        least = math.log(x) + 2 * best
    else:
        entropy = -(log_probs.exp() * log_probs.clamp(min=-1e9)).sum(-1, keepdim=True)
        by_entropy = (math.log(x) / 2 - entropy).clamp(max=math.log(x))
        least = by_entropy if rule == "eta" else torch.full_like(best, math.log(x))
    stays = log_probs >= least
    first = torch.arange(logits.shape[-1]) == log_probs.argmax(-1, keepdim=True)
    return torch.where(stays | first, log_probs, -math.inf)


@alternative(of="cut_by_curve")
def walks_row_by_row(logits, rule, x):
    def typical(probs, ranked):
        H, mass, left = _surprise_expected(probs), 0.0, [ranked[0]]
        surprises = [-math.log(q) if q > 0 else math.inf for q in probs]
        for v in sorted(range(len(probs)), key=lambda v: abs(surprises[v] - H)):
            left += [v] if mass < x else []
            mass += probs[v]
        return left

    def left(_row, probs):
        ranked = sorted(range(len(probs)), key=lambda v: -probs[v])
        if rule == "typical":
            return typical(probs, ranked)
        if rule == "xtc":
            good = [v for v in ranked if probs[v] >= x]
            return set(range(len(probs))) - set(good[:-1])
        bends = np.abs(np.convolve(np.array(probs)[ranked], [1, -2, 1], mode="valid"))
        n = int((bends.cumsum() <= x * bends.sum()).sum())
        return ranked[: 1 + n]

    return _in_rows(logits, left)


@alternative(of="cut_by_curve")
def walks_by_thresholds(logits, rule, x):
    probs = logits.softmax(-1)
    order = probs.argsort(dim=-1, descending=True, stable=True)
    rank = order.argsort(-1)
    if rule == "xtc":
        return torch.where((probs >= x) & (rank < (probs >= x).sum(-1, keepdim=True) - 1), -math.inf, logits)
    if rule == "tail-free":
        ranked = probs.gather(-1, order)
        bends = (ranked[..., 2:] + ranked[..., :-2] - 2 * ranked[..., 1:-1]).abs()
        n = (bends.cumsum(-1) / bends.sum(-1, keepdim=True) <= x).sum(-1, keepdim=True)
        return torch.where(rank <= n, logits, -math.inf)
    surprise = -probs.log()
    H = (probs * surprise).nan_to_num(0.0).sum(-1, keepdim=True)
    places = (surprise - H).abs().argsort(dim=-1, stable=True).argsort(-1)
    nearer = places[..., None, :] < places[..., None]  # (…, V, V)
    before = (nearer * probs[..., None, :]).sum(-1)
    return torch.where((before < x) | (rank == 0), logits, -math.inf)


@alternative(of="bent")
def bends_row_by_row(logits, rule, x, y):
    flat = logits.reshape(-1, logits.shape[-1]).clone()
    for row in flat:
        z, probs = row.tolist(), row.softmax(-1).tolist()
        left = [v for v, value in enumerate(z) if value > -math.inf]
        fraction = _surprise_expected(probs) / math.log(len(left)) if len(left) > 1 else 0.0
        for v in left:
            d = max(z) - z[v]
            cost = d / (x * (1 - fraction) + y * fraction)
            row[v] = -(x * d * d * (3 - y + (y - 1) * d) / 2 if rule == "quadratic" else cost)
    return flat.reshape(logits.shape)


@alternative(of="bent")
def bends_of_log_probs(logits, rule, x, y):
    log_probs = logits.log_softmax(-1)
    if rule == "quadratic":
        d = log_probs - log_probs.amax(-1, keepdim=True)
        bent = -x * (3 - y) / 2 * d.square() + (x * (y - 1) / 2 * d.pow(3) if y > 1 else 0)
        return bent.nan_to_num(nan=-math.inf, neginf=-math.inf)
    entropy = torch.distributions.Categorical(logits=logits.clamp(min=-1e4)).entropy()[..., None]
    n = logits.isfinite().sum(-1, keepdim=True)
    t = torch.where(n > 1, x + (y - x) * entropy / n.log().clamp(min=0.1), x)
    return log_probs / t


@alternative(of="unrepeated")
def by_slices_of_the_text(logits, history, presence, frequency, dry, ngram):
    after = logits.clone()
    for row, text in zip(after, history.tolist(), strict=True):
        for v in set(text):
            row[v] -= presence + frequency * text.count(v)
            ends = [
                n
                for i, token in enumerate(text)
                for n in range(1, i + 1)
                if token == v and text[i - n : i] == text[len(text) - n :]
            ]
            n = max(ends, default=0)
            if n >= 2:
                row[v] -= dry * 1.75 ** (n - 2)
            if ngram and n + 1 >= ngram:
                row[v] = -math.inf
    return after


@alternative(of="unrepeated")
def by_a_table_of_agreements(logits, history, presence, frequency, dry, ngram):
    B, T = history.shape
    lengths = torch.zeros(B, T, dtype=torch.int64)  # of the repeat that ends before each place
    alive = torch.ones(B, T, dtype=torch.bool)
    for n in range(1, T):
        alive[:, :n] = False
        alive[:, n:] &= history[:, : T - n] == history[:, -n, None]
        lengths += alive
    counts = functional.one_hot(history, logits.shape[1]).sum(1)
    longest = torch.zeros_like(counts).scatter_reduce(1, history, lengths, "amax")
    after = logits - presence * (counts > 0).double() - frequency * counts.double()
    after = after - torch.where(longest < 2, 0.0, dry * 1.75 ** (longest.double() - 2))
    return after.where(longest < (ngram - 1 if ngram else T + 1), -math.inf)


@alternative(of="pipeline")
def step_by_step_with_probabilities(logits, steps):
    for name, x in steps:
        probs = logits.softmax(-1)
        if name == "temperature":
            logits = probs.pow(1 / x).log()
        elif name == "top-k":
            logits = probs.where(probs >= probs.sort(-1).values[..., -x, None], 0.0).log()
        elif name == "min-p":
            logits = by_ratios(logits, x)
        else:
            logits = token_after_token(logits, x)
    return logits


@alternative(of="pipeline")
def first_step_and_the_others(logits, steps):
    if not steps:
        return logits
    (name, x), *others = steps
    if name == "temperature":
        return first_step_and_the_others(logits / x, others)
    filters = {"top-k": in_numpy, "top-p": token_after_token, "min-p": by_ratios}
    return first_step_and_the_others(filters[name](logits, x), others)


@alternative(of="limited")
def cut_by_a_large_number(logits, rule, x):
    return limits_of_log_probs(logits, rule, x).clamp(min=-1e9)


@alternative(of="unrepeated")
def in_single_precision(logits, history, presence, frequency, dry, ngram):
    after = logits.to(torch.float32, copy=True)
    for row, text in enumerate(history.tolist()):
        for v in set(text):
            before = [text[:i] for i, token in enumerate(text) if token == v]
            n = max(n for some in before for n in range(len(text)) if n == 0 or some[-n:] == text[-n:])
            lost = presence + frequency * len(before) + (dry * 1.75 ** (n - 2) if n > 1 else 0)
            after[row, v] -= math.inf if 0 < ngram <= n + 1 else lost
    return after
