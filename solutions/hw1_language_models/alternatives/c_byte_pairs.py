"""Right solutions of part C of homework 1 that look nothing like the reference."""

import heapq
import math
import re
from collections import Counter
from functools import reduce
from itertools import pairwise
from statistics import fmean

import torch

from autograder.catalogue import alternative


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
