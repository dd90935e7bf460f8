"""What goes wrong with the probability of a sentence."""

import math

from autograder.catalogue import misconception

# 1. sequence_log_prob


@misconception(of="sequence_log_prob")
def probabilities_multiplied(log_probs, tokens):
    """The logarithm is taken of the product of the probabilities, which is 0 for a long sentence.

    Print your product after 300, 400 and 500 tokens of probability 1/5. What is the smallest positive float,
    and which operation on logarithms corresponds to multiplying what they are logarithms of?
    """
    return log_probs[:-1].exp().gather(1, tokens[1:, None]).prod().log().item()


@misconception(of="sequence_log_prob")
def probabilities_multiplied_one_by_one(log_probs, tokens):
    """The probabilities are multiplied, and `math.log` refuses the product of a long sentence, 0.0.

    Print your product after 300, 400 and 500 tokens of probability 1/5. When does it become 0.0, and do you
    need the product at all to know its logarithm?
    """
    prob = 1.0
    for t in range(1, len(tokens)):
        prob *= math.exp(log_probs[t - 1, tokens[t]])
    return math.log(prob)


@misconception(of="sequence_log_prob", seen="https://github.com/huggingface/datasets/pull/4258")
def first_word_not_scored(log_probs, tokens):
    """The sum starts with the second word: the prediction of the first word, made after `<s>`, is missing.

    How many predictions does the sentence of the example consist of, and how many terms does your sum have?
    Which row of `log_probs` do you never read?
    """
    return log_probs[1:-1].gather(1, tokens[2:, None]).sum().item()


@misconception(of="sequence_log_prob", seen="https://github.com/huggingface/datasets/pull/4258")
def opening_token_scored_too(log_probs, tokens):
    """`<s>` is scored as well, and at t = 0 the index t - 1 = -1 reads the last row of `log_probs`.

    Write down the row your loop reads for each token of the example. Which row does Python take for the index
    -1, and what was there to predict `<s>` from?
    """
    return sum(log_probs[t - 1, token].item() for t, token in enumerate(tokens.tolist()))


@misconception(of="sequence_log_prob", seen="https://github.com/huggingface/transformers/pull/44642")
def row_of_the_token_itself(log_probs, tokens):
    """Every token is looked up in the row of its own position, which predicts the token after it.

    In the table of the example, which row was written before *where* had been read, and which after it? Which
    of the two can be a prediction of *where*?
    """
    return log_probs.gather(1, tokens[:, None]).sum().item()


@misconception(of="sequence_log_prob", seen="https://github.com/huggingface/transformers/pull/44642")
def own_row_from_the_first_word_on(log_probs, tokens):
    """From the first word on, every token is looked up in its own row, which predicts the token after it.

    You rightly leave `<s>` out. For *where*, which row do you read: the one written before the model had seen
    *where*, or the one written after?
    """
    return log_probs[1:].gather(1, tokens[1:, None]).sum().item()


@misconception(of="sequence_log_prob", seen="https://github.com/vchahun/vpyp/issues/2")
def end_not_scored(log_probs, tokens):
    """The prediction of `</s>` is missing, so the sentence is only the beginning of a sentence.

    Sum the probabilities of all sentences of one word, as you compute them, and then of all of two words.
    Which prediction tells a sentence from the beginning of a longer one?
    """
    return log_probs[:-2].gather(1, tokens[1:-1, None]).sum().item()


@misconception(of="sequence_log_prob")
def sentence_scored_in_bits(log_probs, tokens):
    """The answer is in bits: it is the natural log-probability divided by ln 2.

    For the example you answer -6. Which base turns 1/64 into -6, and which one does the statement ask for?
    """
    return log_probs[:-1].gather(1, tokens[1:, None]).sum().item() / math.log(2)


@misconception(of="sequence_log_prob")
def sentence_scored_in_powers_of_ten(log_probs, tokens):
    """The answer is a logarithm to base 10: it is the natural log-probability divided by ln 10.

    For the example you answer -1.806. Which base turns 1/64 into that, and which one does the statement ask
    for?
    """
    return log_probs[:-1].gather(1, tokens[1:, None]).sum().item() / math.log(10)


@misconception(of="sequence_log_prob")
def sentence_score_per_token(log_probs, tokens):
    """The log-probabilities are averaged over the tokens instead of being added up.

    The probability of the example is 1/64. What would you have to multiply your answer by to get its
    logarithm, and why does the chain rule have no such factor?
    """
    return log_probs[:-1].gather(1, tokens[1:, None]).mean().item()


@misconception(of="sequence_log_prob")
def sentence_score_negated(log_probs, tokens):
    """The answer has the opposite sign: it is the negative log-probability.

    The logarithm of a number below one lies on which side of zero? Which of the two, probability or cost,
    does the statement ask for?
    """
    return -log_probs[:-1].gather(1, tokens[1:, None]).sum().item()


@misconception(of="sequence_log_prob")
def log_probs_multiplied(log_probs, tokens):
    """The log-probabilities are multiplied, as the probabilities would be.

    What is the logarithm of a product, in terms of the logarithms of its factors?
    """
    return log_probs[:-1].gather(1, tokens[1:, None]).prod().item()


@misconception(of="sequence_log_prob")
def probability_returned(log_probs, tokens):
    """The probability itself is returned, and no longer its logarithm.

    For the example you answer 0.0156. Which number did you have before you took the exponential?
    """
    return log_probs[:-1].gather(1, tokens[1:, None]).sum().exp().item()


@misconception(of="sequence_log_prob")
def token_before_looked_up(log_probs, tokens):
    """Every row is asked for the token that has just been read, not for the one that comes next.

    After `<s>`, the table of the example gives *where* 1/2 and `<s>` 1/8. Which of the two do you read?
    """
    return log_probs[:-1].gather(1, tokens[:-1, None]).sum().item()


@misconception(of="sequence_log_prob")
def every_row_asked_for_every_token(log_probs, tokens):
    """Every row is asked for all tokens of the sentence, so the sum has T · T terms instead of T.

    What is the shape of `log_probs[:-1, tokens[1:]]`? Which of its entries are predictions of what came?
    """
    return log_probs[:-1, tokens[1:]].sum().item()


@misconception(of="sequence_log_prob")
def likeliest_word_of_every_row(log_probs, tokens):
    """The likeliest token of each row is taken, whatever the sentence says.

    Where does `tokens` occur in your function? Which probability has `</s>` in the last row that counts?
    """
    return log_probs[: len(tokens) - 1].amax(dim=1).sum().item()
