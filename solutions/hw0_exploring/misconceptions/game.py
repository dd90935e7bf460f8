"""What goes wrong in part D of homework 0: the price of a word."""

import math

from autograder.catalogue import misconception

# 12. surprise


@misconception(of="surprise")
def price_in_nats(bets, word, n_words):
    """The logarithm is natural, so the price is in nats.

    Of which number is 1/2 the power of minus 1: of e or of 2? What does "mat" cost in the example?
    """
    prob = bets.get(word, (1 - sum(bets.values())) / (n_words - len(bets)))
    return -math.log(prob) if prob > 0 else math.inf


@misconception(of="surprise")
def probability_instead_of_its_price(bets, word, n_words):
    """The probability of the word is returned, not its price in bits.

    Does a word that everybody expected cost much or little? What does "mat" cost in the example?
    """
    return bets.get(word, (1 - sum(bets.values())) / (n_words - len(bets)))


@misconception(of="surprise")
def negative_price(bets, word, n_words):
    """The price is negative: the minus before the logarithm is missing.

    What is log₂ of 1/2?
    """
    prob = bets.get(word, (1 - sum(bets.values())) / (n_words - len(bets)))
    return math.log2(prob) if prob > 0 else -math.inf


@misconception(of="surprise")
def rest_given_to_one_word(bets, word, n_words):
    """All that was left is given to the word that came, as if it had been the only one not bet on.

    In the example 1/4 is left. Among how many words is it shared?
    """
    prob = bets.get(word, 1 - sum(bets.values()))
    return -math.log2(prob) if prob > 0 else math.inf


@misconception(of="surprise")
def rest_shared_by_all_words(bets, word, n_words):
    """What was left is shared by all words, those bet on included.

    In the example, is it shared by 66 words or by 64? Do the probabilities of all words sum to 1?
    """
    prob = bets.get(word, (1 - sum(bets.values())) / n_words)
    return -math.log2(prob) if prob > 0 else math.inf


@misconception(of="surprise")
def rest_added_to_the_bets(bets, word, n_words):
    """What was left is spread over all words, so those bet on have more than was bet on them.

    In the example, how much was bet on "mat", and how much do you give it?
    """
    prob = bets.get(word, 0) + (1 - sum(bets.values())) / n_words
    return -math.log2(prob) if prob > 0 else math.inf


@misconception(of="surprise")
def bets_made_to_sum_to_one(bets, word, n_words):
    """The bets are divided by their sum, so nothing is left for the other words.

    In the example 1/4 is left on purpose. What does "mat" cost?
    """
    prob = bets.get(word, 0) / sum(bets.values()) if bets else 1 / n_words
    return -math.log2(prob) if prob > 0 else math.inf


@misconception(of="surprise")
def every_other_word_alike(bets, word, n_words):
    """A word without a bet gets 1/`n_words`, however much was left for it.

    In the example 1/4 is left for 64 words. Which probability does "rug" have, and which do you give it?
    """
    return -math.log2(bets.get(word, 1 / n_words))


@misconception(of="surprise")
def every_other_word_impossible(bets, word, n_words):
    """A word without a bet costs infinity, although something was left for it.

    In the example, how much of the probability was bet, and where is the rest?
    """
    prob = bets.get(word, 0 if bets else 1 / n_words)
    return -math.log2(prob) if prob > 0 else math.inf


@misconception(of="surprise")
def logarithm_of_zero(bets, word, n_words):
    """Where nothing was left, the logarithm of 0 is taken, and Python stops.

    When all is bet on other words, which probability does the word have? What should it cost?
    """
    prob = bets.get(word, (1 - sum(bets.values())) / (n_words - len(bets)))
    return -math.log2(prob)
