"""What goes wrong when models with different tokenizers are compared."""

import math
from statistics import mean

from autograder.catalogue import misconception

# 18. bits_per_byte


@misconception(of="bits_per_byte")
def bits_per_character(token_log_probs, text):
    """The bits are divided by the number of characters, not of bytes.

    What is `len("née")`, and how many bytes does it have in UTF-8? Which of the two does a model over bytes
    have to predict?
    """
    return -sum(token_log_probs) / math.log(2) / len(text)


@misconception(of="bits_per_byte")
def nats_per_byte(token_log_probs, text):
    """The answer is in nats per byte: the log-probabilities are not converted to bits.

    Guessing bytes blindly costs 8 bits each. What do you answer, and which number connects the two?
    """
    return -sum(token_log_probs) / len(text.encode())


@misconception(of="bits_per_byte")
def nats_taken_for_bits_the_other_way(token_log_probs, text):
    """The nats are multiplied by ln 2 where they should be divided by it.

    A probability of 1/2 is ln 2 nats. How many bits is it, and which operation leads from one to the other?
    """
    return -sum(token_log_probs) * math.log(2) / len(text.encode())


@misconception(of="bits_per_byte", seen="https://feedman.me/posts/z0ljG")
def bits_per_token(token_log_probs, text):
    """The bits are divided by the number of tokens, which is what makes tokenizers incomparable.

    Cut the same text into twice as many tokens that cost the same in total. What happens to your answer, and
    what should?
    """
    return -sum(token_log_probs) / math.log(2) / len(token_log_probs)


@misconception(of="bits_per_byte")
def average_token_shared_among_bytes(token_log_probs, text):
    """The mean over the tokens is divided by the bytes, so the text is divided twice.

    The model pays for every token. Of which quantity is bits per byte a fraction: of the price of one token,
    or of the whole text?
    """
    return -mean(token_log_probs) / math.log(2) / len(text.encode())


@misconception(of="bits_per_byte")
def negative_bits(token_log_probs, text):
    """The answer has the opposite sign: a cost below zero.

    Which sign has the logarithm of a probability? Is a model that pays 8 bits per byte better or worse than
    one that pays 1?
    """
    return sum(token_log_probs) / math.log(2) / len(text.encode())


@misconception(of="bits_per_byte")
def logarithm_of_a_logarithm(token_log_probs, text):
    """The logarithm is taken of log-probabilities, which are below zero, and Python raises ValueError.

    Are the numbers you are given probabilities, or have their logarithms been taken already?
    """
    return -sum(math.log2(log_prob) for log_prob in token_log_probs) / len(text.encode())


@misconception(of="bits_per_byte")
def bits_per_bit(token_log_probs, text):
    """The price is divided by the number of bits of the text, eight to a byte.

    Guessing bytes blindly costs 8 bits each. What do you answer?
    """
    return -sum(token_log_probs) / math.log(2) / (8 * len(text.encode()))


@misconception(of="bits_per_byte")
def perplexity_per_byte(token_log_probs, text):
    """Two is raised to the bits per byte.

    Guessing bytes blindly costs 8 bits each. What do you answer, and which number of choices is that?
    """
    return 2 ** (-sum(token_log_probs) / math.log(2) / len(text.encode()))


@misconception(of="bits_per_byte")
def probability_of_the_text_taken(token_log_probs, text):
    """The probabilities are multiplied, and the logarithm is taken of their product, 0.0 for a long text.

    What is 1/256 to the power 400 as a float? Do you need that number to know its logarithm?
    """
    return -math.log2(math.prod(math.exp(log_prob) for log_prob in token_log_probs)) / len(text.encode())


@misconception(of="bits_per_byte")
def bits_per_word(token_log_probs, text):
    """The bits are divided by the number of words of the text, not of bytes.

    What is a word in a language that writes no spaces? Which length does the statement divide by?
    """
    return -sum(token_log_probs) / math.log(2) / len(text.split())


# 19. cheapest_model


def _complete(reports):
    return {name: report for name, report in reports.items() if report["n_unknown"] == 0}


def _bits(report):
    return report["n_tokens"] * math.log2(report["perplexity"])


@misconception(of="cheapest_model", seen="https://feedman.me/posts/z0ljG")
def perplexities_compared_directly(reports):
    """The lowest perplexity per token wins, although the models have different tokens.

    A model over letters has a low perplexity at each of very many steps. What does it pay for the whole text?
    """
    return min(_complete(reports), key=lambda name: reports[name]["perplexity"])


@misconception(of="cheapest_model", seen="https://github.com/mitlm/mitlm/issues/28")
def unknown_tokens_let_through(reports):
    """Models with unknown tokens take part in the comparison.

    What did such a model say about a word it does not know, and what would it have cost to spell it?
    """
    return min(reports, key=lambda name: _bits(reports[name]))


@misconception(of="cheapest_model")
def lowest_perplexity_of_all(reports):
    """The lowest perplexity per token wins, and models with unknown tokens take part.

    There are two reasons why two perplexities may not be comparable, and the table of the statement has a
    column for each. Which columns does your code not read?
    """
    return min(reports, key=lambda name: reports[name]["perplexity"])


@misconception(of="cheapest_model")
def perplexity_times_tokens(reports):
    """Perplexity is multiplied by the number of tokens, as if it were a price per token.

    Perplexity is a number of choices. What does one choice among 64 cost in bits, and what does a choice
    among 4?
    """
    return min(_complete(reports), key=lambda name: reports[name]["perplexity"] * reports[name]["n_tokens"])


@misconception(of="cheapest_model")
def fewest_tokens(reports):
    """The model with the fewest tokens wins, although it pays more for all of them together.

    A tokenizer with the whole text as one token would win with you. What would its model have to pay for that
    token?
    """
    return min(_complete(reports), key=lambda name: reports[name]["n_tokens"])


@misconception(of="cheapest_model")
def dearest_model(reports):
    """The model that pays the most bits for the text wins.

    Is a model that needs more bits for the same text better or worse? Which of `min` and `max` do you use?
    """
    return max(_complete(reports), key=lambda name: _bits(reports[name]))


@misconception(of="cheapest_model")
def bits_divided_by_the_tokens(reports):
    """Bits per token and number of tokens are divided by each other, though each token costs that much again.

    A perplexity of 4 is 2 bits for each token. Do 500 such tokens cost more than one, or less?
    """
    spellers = _complete(reports)
    return min(spellers, key=lambda name: math.log2(reports[name]["perplexity"]) / reports[name]["n_tokens"])


@misconception(of="cheapest_model")
def perplexity_to_the_power_of_the_tokens(reports):
    """The perplexity is raised to the number of tokens, which is too large for a float when the text is long.

    The order of your numbers would be right. What is the logarithm of $p^n$, and can it overflow?
    """
    return min(_complete(reports), key=lambda name: reports[name]["perplexity"] ** reports[name]["n_tokens"])
