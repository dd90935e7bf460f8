"""A right solution of part D of homework 0 that looks nothing like the reference."""

import math

from autograder.catalogue import alternative


@alternative(of="surprise")
def in_two_cases(bets, word, n_words):
    if word in bets:
        return -math.log(bets[word]) / math.log(2)
    left = 1 - math.fsum(bets.values())
    if left < 1e-12:
        return math.inf
    return math.log2(n_words - len(bets)) - math.log2(left)
