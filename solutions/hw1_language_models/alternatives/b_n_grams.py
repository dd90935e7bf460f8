"""Right solutions of part B of homework 1 that look nothing like the reference."""

import math
from collections import Counter, OrderedDict, defaultdict
from fractions import Fraction
from statistics import fmean, stdev

import torch

from autograder.catalogue import alternative

BOS, EOS = "<s>", "</s>"


@alternative(of="ngram_counts")
def from_shifted_copies(sentences, n):
    counts = defaultdict(lambda: defaultdict(int))
    for sentence in sentences:
        padded = (*[BOS] * (n - 1), *sentence, EOS)
        for *context, token in zip(*(padded[shift:] for shift in range(n)), strict=False):
            counts[tuple(context)][token] += 1
    return counts


@alternative(of="ngram_counts")
def with_a_moving_context(sentences, n):
    counts = OrderedDict()
    for sentence in sentences:
        context = (BOS,) * (n - 1)
        for token in [*sentence, EOS]:
            followers = counts.setdefault(context, {})
            followers[token] = followers.get(token, 0) + 1
            context = (*context, token)[1:]
    return counts


@alternative(of="mle_probs")
def by_fractions(counts, context, words):
    followers = {token: Fraction(counts.get(context, {}).get(token, 0)) for token in [EOS, *words]}
    total = sum(followers.values())
    return {token: float(c / total) if total else 1 / len(followers) for token, c in followers.items()}


@alternative(of="mle_probs")
def uniform_until_seen(counts, context, words):
    tokens = [*words, EOS]
    row = torch.ones(len(tokens), dtype=torch.float64)
    if counts.get(context):
        row = torch.tensor([float(counts[context].get(token, 0)) for token in tokens], dtype=torch.float64)
    return Counter(dict(zip(tokens, (row / row.sum()).tolist(), strict=True)))


@alternative(of="heldout_bits")
def in_a_loop(distributions, tokens):
    bits = 0.0
    for distribution, token in zip(distributions, tokens, strict=True):
        prob = distribution.get(token, 0)
        bits += math.log2(1 / prob) if prob else float("inf")
    return bits / len(tokens)


@alternative(of="heldout_bits")
def with_infinities_of_torch(distributions, tokens):
    probs = [distribution.get(token, 0.0) for distribution, token in zip(distributions, tokens, strict=True)]
    return -torch.tensor(probs, dtype=torch.float64).log2().mean()


@alternative(of="add_k_prob")
def by_smoothing_the_whole_row(counts, context, token, words, k):
    row = defaultdict(float, dict.fromkeys([*words, EOS], k))
    for follower, count in counts.get(context, {}).items():
        row[follower] += count
    return row[token] / sum(row.values())


@alternative(of="add_k_prob")
def as_a_mixture_with_the_uniform(counts, context, token, words, k):
    followers, vocab_size = counts.get(context, {}), len({*words, EOS})
    total = sum(followers.values())
    fraction = total / (total + k * vocab_size)
    frequency = followers.get(token, 0) / total if total else 0.0
    return fraction * frequency + (1 - fraction) / vocab_size


@alternative(of="interpolated_prob")
def by_recursion(counts_by_order, weights, context, token, words):
    if not counts_by_order:
        return 1 / len({*words, EOS})
    shorter = by_recursion(counts_by_order[:-1], weights[:-1], context[1:], token, words)
    followers = counts_by_order[-1].get(context)
    if not followers:
        return shorter
    frequency = followers.get(token, 0) / sum(followers.values())
    return shorter + weights[-1] * (frequency - shorter)


@alternative(of="interpolated_prob")
def from_the_longest_context_down(counts_by_order, weights, context, token, words):
    prob, left = 0.0, 1.0
    for order in range(len(counts_by_order), 0, -1):
        followers = counts_by_order[order - 1].get(tuple(context[len(context) - order + 1 :]), {})
        if total := sum(followers.values()):
            prob += left * weights[order - 1] * followers.get(token, 0) / total
            left *= 1 - weights[order - 1]
    return prob + left / (len(words) + 1)


@alternative(of="choose_n_and_k")
def by_sorting(results):
    by_cost = sorted((fmean(bits["heldout"]), *setting) for setting, bits in results.items())
    lowest, *best = by_cost[0]
    folds = results[tuple(best)]["heldout"]
    within = [(n, cost, k) for cost, n, k in by_cost if cost - lowest <= stdev(folds) / len(folds) ** 0.5]
    n, _, k = min(within)
    return [n, k]


@alternative(of="choose_n_and_k")
def with_tensors(results):
    settings = list(results)
    bits = torch.tensor([results[setting]["heldout"] for setting in settings], dtype=torch.float64)
    cost = bits.mean(1)
    error = bits.std(1) / bits.shape[1] ** 0.5
    good = [i for i in range(len(settings)) if cost[i] <= cost.min() + error[cost.argmin()]]
    smallest = min(settings[i][0] for i in good)
    return settings[min((i for i in good if settings[i][0] == smallest), key=lambda i: cost[i].item())]
