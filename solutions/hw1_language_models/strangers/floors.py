"""Answers that the checks once let pass: sources with a period, clamped costs, symbols that end alike."""

import math
from itertools import pairwise

import torch

from autograder.proving.strangers import stranger

from ..notebook import EOS, ngram_counts


def _rate(transition, shares):
    return -(shares @ torch.xlogy(transition, transition).sum(1)).item() / math.log(2)


@stranger(of="entropy_rate", may_be=["shares_after_many_steps_from_equal_ones"])
def a_thousand_steps_from_equal_shares(transition):
    shares = torch.full_like(transition[0], 1 / len(transition))
    for _ in range(1000):
        shares = shares @ transition
    return _rate(transition, shares)


@stranger(of="entropy_rate", may_be=["shares_after_many_steps_from_equal_ones"])
def twenty_steps_from_equal_shares(transition):
    shares = torch.full_like(transition[0], 1 / len(transition))
    for _ in range(20):
        shares = shares @ transition
    return _rate(transition, shares)


@stranger(of="mle_probs")
def rounded_to_two_decimals(counts, context, words):
    followers, tokens = counts.get(context, {}), [*words, EOS]
    total = sum(followers.values())
    if not total:
        return {token: 1 / len(tokens) for token in tokens}
    return {token: round(followers.get(token, 0) / total, 2) for token in tokens}


@stranger(of="interpolated_prob")
def a_single_count_ignored(counts_by_order, weights, context, token, words):
    prob = 1 / (len(words) + 1)
    for length, (counts, weight) in enumerate(zip(counts_by_order, weights, strict=True)):
        followers = counts.get(context[len(context) - length :], {})
        total = sum(followers.values())
        if total > 1:
            prob = weight * followers.get(token, 0) / total + (1 - weight) * prob
    return prob


@stranger(of="cheapest_model")
def only_the_cheapest_looked_through(reports):
    bits = {name: one["n_tokens"] * math.log2(one["perplexity"]) for name, one in reports.items()}
    by_price = sorted(bits, key=bits.get)
    return by_price[1] if reports[by_price[0]]["n_unknown"] else by_price[0]


@stranger(of="bits_per_byte")
def spaces_not_counted(token_log_probs, text):
    return -sum(token_log_probs) / math.log(2) / len(text.replace(" ", "").encode())


@stranger(of="bpe_train")
def symbols_replaced_in_a_joined_text(words, n_merges):
    rows, merges = [" ".join(word) for word in words], []
    for _ in range(n_merges):
        counts = {}
        for row in rows:
            symbols = row.split(" ")
            for pair in pairwise(symbols):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(tuple(symbol.encode() for symbol in best))
        rows = [row.replace(" ".join(best), "".join(best)) for row in rows]
    return merges


@stranger(of="bpe_decode", may_be=["decoded_as_ascii"])
def joined_and_read_as_ascii(symbols):
    return b"".join(symbols).decode("ascii", "replace")


@stranger(of="bpe_decode")
def joined_and_cut_at_the_first_fault(symbols):
    try:
        return b"".join(symbols).decode()
    except UnicodeDecodeError as error:
        return b"".join(symbols)[: error.start].decode() + "\ufffd"


@stranger(of="bpe_encode")
def most_frequent_known_pair(word, merges):
    symbols = [bytes([byte]) for byte in word.encode()]
    while known := [pair for pair in pairwise(symbols) if pair in merges]:
        best = max(known, key=known.count)
        place = [*pairwise(symbols)].index(best)
        symbols[place : place + 2] = [best[0] + best[1]]
    return symbols


@stranger(of="split_special")
def looked_for_from_the_second_letter_on(text, special_tokens):
    pieces, start, place = [], 0, 1
    while place < len(text):
        fitting = [token for token in special_tokens if text.startswith(token, place)]
        if fitting:
            longest = max(fitting, key=len)
            pieces += [text[start:place], longest]
            start = place = place + len(longest)
        else:
            place += 1
    return [piece for piece in [*pieces, text[start:]] if piece]


@stranger(of="ngram_counts")
def equal_sentences_counted_once(sentences, n):
    return ngram_counts([list(sentence) for sentence in dict.fromkeys(map(tuple, sentences))], n)
