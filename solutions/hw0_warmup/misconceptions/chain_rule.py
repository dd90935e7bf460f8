"""What goes wrong in part C of homework 0: the probability of a story, and the words that come next."""

import math

from autograder.catalogue import misconception

# 7. story_log_prob


@misconception(of="story_log_prob")
def logarithm_of_the_product(predictions, words):
    """The probabilities are multiplied first; the product of many is 0 as a float and has no logarithm.

    Evaluate `0.1 ** 400` and then its logarithm. At which moment would you have to take the logarithms?
    """
    product = math.prod(probs[word] for probs, word in zip(predictions, words, strict=True))
    return math.log(product)


@misconception(of="story_log_prob")
def infinite_logarithm_of_the_product(predictions, words):
    """The probabilities are multiplied first; the product of many is 0 as a float, and ln 0 is -inf.

    Evaluate `0.1 ** 400` and then its logarithm. At which moment would you have to take the logarithms?
    """
    product = math.prod(probs[word] for probs, word in zip(predictions, words, strict=True))
    return math.log(product) if product > 0 else -math.inf


@misconception(of="story_log_prob")
def probability_without_logarithm(predictions, words):
    """The probability itself is returned, not its logarithm.

    Is your answer to the example 1/8 or -ln 8? Can a logarithm of a probability be above 0?
    """
    return math.prod(probs[word] for probs, word in zip(predictions, words, strict=True))


@misconception(of="story_log_prob", seen="https://github.com/huggingface/datasets/pull/4258")
def first_word_for_free(predictions, words):
    """The first word's factor is missing, as if every story had to begin with that word.

    How many factors does the chain rule have for n words? Which is the first?
    """
    return sum(math.log(probs[word]) for probs, word in zip(predictions[1:], words[1:], strict=True))


@misconception(of="story_log_prob", seen="https://github.com/vchahun/vpyp/issues/2")
def end_for_free(predictions, words):
    """The end of the story is not scored, so going on and stopping there count the same.

    Sum the probabilities of all stories you can think of. What happens to the sum without the factor of
    `</s>`?
    """
    return sum(math.log(probs[word]) for probs, word in zip(predictions[:-1], words[:-1], strict=True))


@misconception(of="story_log_prob", seen="https://github.com/huggingface/transformers/pull/44642")
def prediction_one_place_late(predictions, words):
    """Each word is looked up in the prediction for the place behind it.

    `predictions[1]` was made when the model had read one word. Which word was it to predict?
    """
    late = [*predictions[1:], predictions[-1]]
    return sum(math.log(probs[word]) for probs, word in zip(late, words, strict=True))


@misconception(of="story_log_prob")
def logarithm_to_base_two(predictions, words):
    """The logarithms are to base 2, so the answer is in bits.

    Is e or 2 to the power of your answer the probability 1/8 of the example? Which is asked for?
    """
    return sum(math.log2(probs[word]) for probs, word in zip(predictions, words, strict=True))


@misconception(of="story_log_prob")
def averaged_over_the_words(predictions, words):
    """The logarithms are averaged: this is the log-probability per word, not that of the story.

    In the example, is e to the power of your answer the probability of the story?
    """
    logs = [math.log(probs[word]) for probs, word in zip(predictions, words, strict=True)]
    return sum(logs) / len(logs)


# 8. top_words


@misconception(of="top_words")
def least_probable_first(probs, k):
    """The least probable words come out: sorted without turning the order round.

    Does `sorted` put small or large keys first? Print the probabilities of your words.
    """
    return sorted(probs, key=lambda word: (probs[word], word))[:k]


@misconception(of="top_words")
def least_probable_as_they_came(probs, k):
    """The least probable words come out, equal ones in the order of the dict.

    Does `sorted` put small or large keys first? Print the probabilities of your words.
    """
    return sorted(probs, key=probs.get)[:k]


@misconception(of="top_words")
def last_words_in_ascending_order(probs, k):
    """Words are taken from the end of an ascending order, so the most probable one comes last.

    Which word of your list is the most probable? Which place should it have? And which of several equal words
    do you lose when you cut at the front?
    """
    return sorted(probs, key=probs.get)[-k:]


@misconception(of="top_words")
def last_words_in_ascending_order_and_alphabet(probs, k):
    """Words are taken from the end of an ascending order: the most probable one comes last, z before a.

    Which word of your list is the most probable? Which place should it have? And which of several equal words
    do you lose when you cut at the front?
    """
    return sorted(probs, key=lambda word: (probs[word], word))[-k:]


@misconception(of="top_words")
def right_words_in_ascending_order(probs, k):
    """The words are the right ones, in ascending order: the most probable one comes last.

    Which word of your list is the most probable? Which place should it have?
    """
    return sorted(probs, key=lambda word: (-probs[word], word))[:k][::-1]


@misconception(of="top_words")
def pairs_instead_of_words(probs, k):
    """Pairs of a word and its probability are returned, not the words alone.

    What is one entry of `probs.items()`? Which part of it is asked for?
    """
    return sorted(probs.items(), key=lambda pair: (-pair[1], pair[0]))[:k]


@misconception(of="top_words")
def ties_as_they_came(probs, k):
    """Equally probable words stay in the order of the dict instead of the alphabet.

    In the example a, b and d are equally probable. Which two should come out, and which did?
    """
    return sorted(probs, key=lambda word: -probs[word])[:k]


@misconception(of="top_words")
def ties_backwards(probs, k):
    """Equally probable words come in reverse alphabetical order: `reverse=True` turned both round.

    You wanted large probabilities first but small letters first. Which of the two does `reverse=True` turn
    round?
    """
    return sorted(probs, key=lambda word: (probs[word], word), reverse=True)[:k]


@misconception(of="top_words")
def alphabetical(probs, k):
    """The words are sorted by the alphabet alone; the probabilities play no part.

    What does `sorted(probs)` sort: the keys of the dict or its values?
    """
    return sorted(probs)[:k]
