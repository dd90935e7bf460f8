"""What goes wrong with relative frequencies, and with the cost of new text under them."""

import math
from collections import Counter
from statistics import mean, median

from autograder.catalogue import misconception

EOS = "</s>"

# 8. mle_probs


@misconception(of="mle_probs")
def divided_by_the_corpus(counts, context, words):
    """The counts are divided by the number of all tokens of the corpus, not by those after this context.

    Add up your probabilities after one context. Of which event is your fraction the frequency: that w follows
    h, or that h and w occur at all?
    """
    tokens, corpus = [*words, EOS], sum(sum(followers.values()) for followers in counts.values())
    if context not in counts:
        return dict.fromkeys(tokens, 1 / len(tokens))
    return {token: counts[context].get(token, 0) / corpus for token in tokens}


@misconception(of="mle_probs", seen="https://github.com/nltk/nltk/issues/367")
def divided_by_the_count_of_the_word(counts, context, words):
    """The count of the pair is divided by how often the word occurs: that is P(context | word).

    Your numbers sum to one over something. Over what: over the words after one context, or over the contexts
    before one word?
    """
    tokens = [*words, EOS]
    if context not in counts:
        return dict.fromkeys(tokens, 1 / len(tokens))
    occurrences = Counter()
    for followers in counts.values():
        occurrences.update(followers)
    return {
        token: counts[context].get(token, 0) / occurrences[token] if occurrences[token] else 0.0
        for token in tokens
    }


@misconception(of="mle_probs", seen="https://github.com/nltk/nltk/issues/367")
def divided_by_the_number_of_followers(counts, context, words):
    """The counts are divided by how many different tokens followed, not by how often any token followed.

    After `("a",)` the example has the counts 3 and 1. What do you divide by, and what do your probabilities
    sum to?
    """
    tokens = [*words, EOS]
    if context not in counts:
        return dict.fromkeys(tokens, 1 / len(tokens))
    return {token: counts[context].get(token, 0) / len(counts[context]) for token in tokens}


@misconception(of="mle_probs", seen="https://github.com/nltk/nltk/issues/158")
def unseen_context_looked_up(counts, context, words):
    """A context that never occurred is looked up all the same, and Python raises KeyError.

    New text is full of contexts that training never met. What does the statement say the model should answer,
    and what does `counts[context]` do before you can?
    """
    followers = counts[context]
    return {token: followers.get(token, 0) / sum(followers.values()) for token in [*words, EOS]}


@misconception(of="mle_probs", seen="https://github.com/nltk/nltk/issues/167")
def unseen_context_divided_by_zero(counts, context, words):
    """After a context that never occurred, the counts are divided by their total of zero.

    What is the total of no counts? Which case does the statement treat separately, and where in your code is
    it?
    """
    followers = counts.get(context, {})
    return {token: followers.get(token, 0) / sum(followers.values()) for token in [*words, EOS]}


@misconception(of="mle_probs", seen="https://github.com/nltk/nltk/issues/167")
def unseen_context_predicts_nothing(counts, context, words):
    """After a context that never occurred, every token gets the probability zero.

    What do the probabilities after a context have to sum to? What would such a model pay for any text that
    contains this context?
    """
    followers = counts.get(context, {})
    total = sum(followers.values()) or 1
    return {token: followers.get(token, 0) / total for token in [*words, EOS]}


@misconception(of="mle_probs")
def end_never_predicted(counts, context, words):
    """The distribution is over `words` alone: `</s>` is never predicted.

    After the last word of a sentence, what comes next? Add up your probabilities after a context that often
    ends a sentence.
    """
    followers = counts.get(context, {})
    total = sum(followers.values())
    return {word: followers.get(word, 0) / total if total else 1 / len(words) for word in words}


@misconception(of="mle_probs")
def only_seen_tokens_predicted(counts, context, words):
    """The dict holds only tokens that followed this context; the other words are missing from it.

    What does somebody get who asks your dict for the probability of a word that did not follow? Which keys
    does the statement ask for?
    """
    followers = counts.get(context, {})
    total = sum(followers.values())
    if not total:
        return dict.fromkeys([*words, EOS], 1 / (len(words) + 1))
    return {token: count / total for token, count in followers.items()}


@misconception(of="mle_probs")
def uniform_over_the_words_alone(counts, context, words):
    """After a context that never occurred, each token gets one over the number of words; `</s>` is forgotten.

    Add up your probabilities after such a context. How many keys has your dict?
    """
    followers, tokens = counts.get(context, {}), [*words, EOS]
    total = sum(followers.values())
    return {token: followers.get(token, 0) / total if total else 1 / len(words) for token in tokens}


@misconception(of="mle_probs")
def one_added_to_every_count(counts, context, words):
    """Every count is one larger than it was: that is smoothing, which comes later.

    After `("a",)`, how often did `a` follow in the example? Which relative frequency is that?
    """
    followers, tokens = counts.get(context, {}), [*words, EOS]
    total = sum(followers.values()) + len(tokens)
    return {token: (followers.get(token, 0) + 1) / total for token in tokens}


@misconception(of="mle_probs")
def endings_left_out_of_the_total(counts, context, words):
    """The counts are divided by how often a word followed; the endings are not in the total.

    After `("a",)` the example has the counts 3 and 1. By how many do you divide, and what is your sum?
    """
    followers, tokens = counts.get(context, {}), [*words, EOS]
    total = sum(followers.get(word, 0) for word in words)
    return {token: followers.get(token, 0) / total if total else 1 / len(tokens) for token in tokens}


@misconception(of="mle_probs")
def unseen_follower_looked_up(counts, context, words):
    """A token that never followed the context is looked up all the same, and Python raises KeyError.

    Which of the keys that the statement asks for are not in `counts[context]`?
    """
    followers, tokens = counts.get(context, {}), [*words, EOS]
    total = sum(followers.values())
    return {token: followers[token] / total if total else 1 / len(tokens) for token in tokens}


@misconception(of="mle_probs")
def opening_token_among_the_keys(counts, context, words):
    """`<s>` is among the keys, although it is never predicted.

    Which keys does the statement list? After a context that never occurred, who shares the one with you?
    """
    followers, tokens = counts.get(context, {}), ["<s>", *words, EOS]
    total = sum(followers.values())
    return {token: followers.get(token, 0) / total if total else 1 / len(tokens) for token in tokens}


@misconception(of="mle_probs")
def context_and_follower_looked_up(counts, context, words):
    """Contexts and tokens that never occurred are looked up all the same, and Python raises KeyError.

    What is not in `counts` has been seen how often? `dict.get` takes a second argument: what could it be?
    """
    total = sum(counts[context].values())
    return {token: counts[context][token] / total for token in [*words, EOS]}


# 9. heldout_bits


def _probs(distributions, tokens):
    return [row.get(token, 0.0) for row, token in zip(distributions, tokens, strict=True)]


@misconception(of="heldout_bits")
def impossible_tokens_skipped(distributions, tokens):
    """Tokens of probability zero are left out, so the model is not charged for its worst mistakes.

    A model gives everything the probability zero except one token, which it predicts with certainty. What
    does it pay with your function, on any text?
    """
    probs = [prob for prob in _probs(distributions, tokens) if prob > 0]
    return -sum(math.log2(prob) for prob in probs) / len(probs)


@misconception(of="heldout_bits")
def impossible_tokens_cost_nothing(distributions, tokens):
    """Tokens of probability zero add nothing to the sum, yet they count among the N: they cost zero bits.

    Which probability costs zero bits? Compare it with the one these tokens were given.
    """
    probs = _probs(distributions, tokens)
    return -sum(math.log2(prob) for prob in probs if prob > 0) / len(probs)


@misconception(of="heldout_bits")
def impossible_tokens_given_a_little(distributions, tokens):
    """Probability zero is replaced by 1e-10, so an impossible token costs some 33 bits.

    Where does that probability come from, and what do all probabilities of that position sum to now? What
    would the cost be with 1e-20?
    """
    return -mean(math.log2(max(prob, 1e-10)) for prob in _probs(distributions, tokens))


@misconception(of="heldout_bits")
def logarithm_of_an_impossible_token(distributions, tokens):
    """The logarithm is taken of a probability of zero, and Python raises ValueError.

    Toward what does $-\\log_2 p$ go as p goes to zero? Does `math.log2` say so?
    """
    return -mean(math.log2(prob) for prob in _probs(distributions, tokens))


@misconception(of="heldout_bits")
def unheard_of_token_looked_up(distributions, tokens):
    """A token that is in no dict is looked up all the same, and Python raises KeyError.

    Which probability does the statement give to a token that is not in the dict? What does `row[token]` do
    there?
    """
    probs = [row[token] for row, token in zip(distributions, tokens, strict=True)]
    return math.inf if min(probs) == 0 else -mean(math.log2(prob) for prob in probs)


@misconception(of="heldout_bits")
def heldout_cost_in_nats(distributions, tokens):
    """The answer is in nats: it is ln 2 times the cost in bits.

    A token of probability 1/2 costs one bit. What does your function say to it?
    """
    probs = _probs(distributions, tokens)
    return math.inf if min(probs) == 0 else -mean(math.log(prob) for prob in probs)


@misconception(of="heldout_bits")
def heldout_cost_of_the_whole_text(distributions, tokens):
    """The surprises are added up and not divided by the number of tokens.

    Give your function a text twice over. Should the bits per token change?
    """
    probs = _probs(distributions, tokens)
    return math.inf if min(probs) == 0 else -sum(math.log2(prob) for prob in probs)


@misconception(of="heldout_bits")
def logarithm_of_the_mean(distributions, tokens):
    """The probabilities are averaged first and the logarithm is taken of their mean.

    For the example you answer 1.78. What becomes of a single probability of zero in your mean, and what
    should it do to the cost?
    """
    return -math.log2(mean(_probs(distributions, tokens)))


@misconception(of="heldout_bits")
def perplexity_of_the_text(distributions, tokens):
    """Two is raised to the cost: that is the perplexity, not the bits per token.

    For the example you answer 4. What is its logarithm to base 2, and which of the two is asked for?
    """
    probs = _probs(distributions, tokens)
    return 2 ** (sum(-math.log2(prob) for prob in probs) / len(probs)) if all(probs) else math.inf


@misconception(of="heldout_bits")
def bits_below_zero(distributions, tokens):
    """The minus sign is missing, so the cost is negative.

    Is the logarithm of 1/2 above or below zero? Can a text cost less than nothing?
    """
    probs = _probs(distributions, tokens)
    return sum(math.log2(prob) for prob in probs) / len(probs) if all(probs) else math.inf


@misconception(of="heldout_bits")
def surprises_weighted_by_their_probabilities(distributions, tokens):
    """Each surprise is multiplied by its probability, as in an entropy.

    How often did each token come in this text? Does a rare token that came cost less than a common one?
    """
    probs = _probs(distributions, tokens)
    return sum(-prob * math.log2(prob) for prob in probs) / len(probs) if all(probs) else math.inf


@misconception(of="heldout_bits")
def logarithm_of_the_mean_of_possible_tokens(distributions, tokens):
    """The probabilities are averaged first and the logarithm is taken of their mean.

    For the example you answer 1.78. Which costs more by the formula: two tokens of probability 1/4, or one of
    1/2 and one of 1/8? And by yours?
    """
    probs = _probs(distributions, tokens)
    return math.inf if min(probs) == 0 else -math.log2(mean(probs))


@misconception(of="heldout_bits")
def entropy_of_the_predictions(distributions, tokens):
    """The entropies of the distributions are averaged: what the model expects to pay, not what it paid.

    Let another token come at one position. Does your answer change, and should it?
    """
    if min(_probs(distributions, tokens)) == 0:
        return math.inf
    return mean(-sum(p * math.log2(p) for p in row.values() if p) for row in distributions)


@misconception(of="heldout_bits")
def probability_of_the_text_first(distributions, tokens):
    """The probabilities are multiplied first, and their product is 0.0 for a long text.

    What is 1/1024 to the power 120 as a float? Was any of the tokens impossible?
    """
    prob = math.prod(_probs(distributions, tokens))
    return -math.log2(prob) / len(tokens) if prob else math.inf


@misconception(of="heldout_bits")
def unlikely_tokens_taken_for_impossible(distributions, tokens):
    """A very small probability is taken for zero.

    How many bits does a token of probability 1e-9 cost by the formula? From which number on do you say that a
    token is impossible, and who chose it?
    """
    probs = _probs(distributions, tokens)
    return math.inf if min(probs) < 1e-6 else -mean(math.log2(prob) for prob in probs)


@misconception(of="heldout_bits")
def divided_by_the_different_tokens(distributions, tokens):
    """The surprises are divided by the number of different tokens, not by N.

    How many tokens has the text of the example, and how many of them are different?
    """
    probs = _probs(distributions, tokens)
    return math.inf if min(probs) == 0 else -sum(math.log2(prob) for prob in probs) / len(set(tokens))


@misconception(of="heldout_bits")
def every_token_looked_up(distributions, tokens):
    """Every token is looked up and its logarithm taken, and Python raises ValueError or KeyError.

    The statement has one answer for both. Before which operation can you give it?
    """
    return -sum(math.log2(row[token]) for row, token in zip(distributions, tokens, strict=True)) / len(tokens)


@misconception(of="heldout_bits")
def only_absent_tokens_impossible(distributions, tokens):
    """Tokens that are not in the dict cost infinitely much, but for one with 0.0 Python raises ValueError.

    Two kinds of tokens have the probability zero. Which of them does your condition notice?
    """
    pairs = [*zip(distributions, tokens, strict=True)]
    if any(token not in row for row, token in pairs):
        return math.inf
    return -sum(math.log2(row[token]) for row, token in pairs) / len(tokens)


@misconception(of="heldout_bits")
def median_of_the_surprises(distributions, tokens):
    """The median of the surprises is taken, not their mean.

    A text of three tokens costs 1, 2 and 30 bits. What does it cost in all, and what is a third of that?
    """
    probs = _probs(distributions, tokens)
    return math.inf if min(probs) == 0 else median(-math.log2(prob) for prob in probs)
