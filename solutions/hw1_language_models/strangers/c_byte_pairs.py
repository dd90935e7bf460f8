"""Byte pairs and costs that the checks once let pass."""

import math
from itertools import pairwise

from autograder.proving.strangers import stranger


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
