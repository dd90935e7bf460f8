"""Right solutions of homework 1 that look nothing like the reference: no check may take a point from them."""

import heapq
import math
import re
from collections import Counter, OrderedDict, defaultdict
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from statistics import fmean, stdev

import numpy as np
import torch
from torch.nn import functional

from autograder.catalogue import alternative

BOS, EOS = "<s>", "</s>"


@alternative(of="sequence_log_prob")
def sequence_log_prob_in_float32(log_probs, tokens):
    return float(log_probs.float()[torch.arange(len(tokens) - 1), tokens[1:]].sum())


@alternative(of="sequence_log_prob")
def token_by_token(log_probs, tokens):
    return sum(log_probs[t - 1, tokens[t]].item() for t in range(1, len(tokens)))


@alternative(of="sequence_log_prob")
def as_a_loss_of_torch(log_probs, tokens):
    return -functional.nll_loss(log_probs[:-1], tokens[1:], reduction="sum")


@alternative(of="sequence_log_prob")
def by_one_hot_rows(log_probs, tokens):
    chosen = functional.one_hot(tokens[1:], log_probs.shape[1]).to(log_probs.dtype)
    return (chosen * log_probs[:-1]).sum()


@alternative(of="corpus_perplexity")
def all_tokens_in_one_row(batches):
    row = torch.cat([batch["token_log_probs"][batch["is_token"]] for batch in batches])
    return (-row.mean()).exp()


@alternative(of="corpus_perplexity")
def geometric_mean_batch_by_batch(batches):
    log_perplexity, n_tokens = 0.0, 0
    for batch in batches:
        kept = torch.where(batch["is_token"], batch["token_log_probs"], 0.0)
        n_new = int(batch["is_token"].sum())
        log_perplexity += (-float(kept.sum()) - n_new * log_perplexity) / (n_tokens + n_new)
        n_tokens += n_new
    return 2 ** (log_perplexity / math.log(2))


@alternative(of="branching_factor")
def product_of_powers(probs):
    possible = probs[probs > 0]
    return torch.exp((possible * (1 / possible).log()).sum())


@alternative(of="branching_factor")
def outcome_by_outcome(probs):
    bits = 0.0
    for prob, how_many in Counter(probs.tolist()).items():
        bits += how_many * prob * math.log2(1 / prob) if prob > 0 else 0
    return 2.0**bits


@alternative(of="entropy_rate")
def by_many_steps(transition):
    lazy = (transition + torch.eye(len(transition), dtype=transition.dtype)) / 2
    shares = torch.linalg.matrix_power(lazy, 2**20)[0]
    rate = 0.0
    for share, row in zip(shares.tolist(), transition.tolist(), strict=True):
        rate -= share * sum(p * math.log2(p) for p in row if p > 0)
    return rate


@alternative(of="entropy_rate")
def by_the_eigenvector(transition):
    values, vectors = np.linalg.eig(transition.numpy().T)
    shares = np.real(vectors[:, np.argmin(np.abs(values - 1))])
    safe = transition.clamp_min(1e-300).numpy()
    return float(-(shares / shares.sum() * (safe * np.log2(safe)).sum(1)).sum())


@alternative(of="name_the_fault")
def by_elimination():
    changes = {  # what each fault would make of a change between two rows
        "sentence_perplexities_averaged": set(),
        "batch_perplexities_averaged": {"cut"},
        "padding_counted_as_tokens": {"padding"},
        "two_to_the_power_of_nats": set(),
        "penalty_included": {"penalty"},
        "last_token_left_out": set(),
    }
    seen = {"cut"}  # rows B and C differ, rows B and D do not, rows C and E do not
    return next(fault for fault, shows in changes.items() if shows == seen)


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
    share = total / (total + k * vocab_size)
    frequency = followers.get(token, 0) / total if total else 0.0
    return share * frequency + (1 - share) / vocab_size


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


@alternative(of="bpe_train")
def with_word_counts_and_a_heap(words, n_merges):
    rows = {tuple(bytes([b]) for b in word.encode()): 0 for word in words}
    for word in words:
        rows[tuple(bytes([b]) for b in word.encode())] += 1
    merges = []
    for _ in range(n_merges):
        pairs = {pair for row in rows for pair in pairwise(row)}
        if not pairs:
            return merges
        heap = [(-sum(n * occurrences(row, pair) for row, n in rows.items()), pair) for pair in pairs]
        heapq.heapify(heap)
        merges.append(heap[0][1])
        merged = Counter()
        for row, n in rows.items():
            merged[joined(row, merges[-1])] += n
        rows = merged
    return merges


def joined(row, pair):
    """The row with the pair made one symbol, by recursion on what follows."""
    if len(row) < 2:
        return tuple(row)
    if tuple(row[:2]) == pair:
        return (pair[0] + pair[1], *joined(row[2:], pair))
    return (row[0], *joined(row[1:], pair))


def occurrences(row, pair):
    return len(row) - len(joined(row, pair))


@alternative(of="bpe_encode")
def merge_after_merge_in_order(word, merges):
    symbols = [bytes([byte]) for byte in word.encode("utf-8")]
    return list(reduce(joined, merges, tuple(symbols)))


@alternative(of="bpe_encode")
def one_occurrence_at_a_time(word, merges):
    symbols = [bytes([byte]) for byte in word.encode()]
    while True:
        known = [
            (merges.index(pair), place) for place, pair in enumerate(pairwise(symbols)) if pair in merges
        ]
        if not known:
            return symbols
        place = min(known)[1]
        symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]


@alternative(of="bpe_decode")
def byte_by_byte(symbols):
    row = bytearray()
    for symbol in symbols:
        row.extend(symbol)
    return str(row, "utf-8", "replace")


@alternative(of="split_special")
def by_looking_at_every_place(text, special_tokens):
    pieces, start, place = [], 0, 0
    while place < len(text):
        fitting = [token for token in special_tokens if text.startswith(token, place)]
        if fitting:
            longest = max(fitting, key=len)
            pieces += [text[start:place], longest]
            start = place = place + len(longest)
        else:
            place += 1
    return [piece for piece in [*pieces, text[start:]] if piece]


@alternative(of="split_special")
def by_walking_over_the_matches(text, special_tokens):
    if not special_tokens:
        return [text][: len(text)]
    pieces, start = [], 0
    for found in re.finditer("|".join(re.escape(token) for token in sorted(special_tokens)[::-1]), text):
        pieces.append(text[start : found.start()])
        pieces.append(found[0])
        start = found.end()
    pieces.append(text[start:])
    return list(filter(None, pieces))


@alternative(of="bits_per_byte")
def by_base_two_logarithms(token_log_probs, text):
    bits = [-log_prob * math.log2(math.e) for log_prob in token_log_probs]
    return fmean(bits) * len(bits) / len(bytes(text, "utf-8"))


@alternative(of="bits_per_byte")
def as_a_tensor(token_log_probs, text):
    n_bytes = sum(len(letter.encode()) for letter in text)
    return -torch.tensor(token_log_probs, dtype=torch.float64).sum() / math.log(2) / n_bytes


@alternative(of="cheapest_model")
def by_a_loop_over_the_reports(reports):
    best, lowest = None, float("inf")
    for name, report in reports.items():
        nats = math.log(report["perplexity"]) * report["n_tokens"]
        if not report["n_unknown"] and nats < lowest:
            best, lowest = name, nats
    return best
