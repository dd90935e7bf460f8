"""What goes wrong with the perplexity of a corpus, and the wrong answers to the riddle of the table."""

import math
from statistics import mean

import torch

from autograder.catalogue import misconception

# 2. corpus_perplexity


def _sentences(batches):
    """The log-probabilities of the tokens of every sentence, without the padding."""
    for batch in batches:
        for row, keep in zip(batch["token_log_probs"], batch["is_token"], strict=True):
            yield row[keep]


def _mean_nll(batches):
    log_probs = torch.cat(list(_sentences(batches)))
    return -log_probs.mean().item()


@misconception(of="corpus_perplexity")
def smallest_probability_raised(batches):
    """Probabilities are kept above a tiny number, such as 1e-9, so that a hopeless token costs too little.

    What is the logarithm of 1e-9, and which log-probability does your corpus hold? Who says −60 is wrong?
    """
    log_probs = torch.cat(list(_sentences(batches)))
    return math.exp(-(log_probs.exp() + 1e-9).log().mean().item())


@misconception(of="corpus_perplexity", seen="https://github.com/facebookresearch/ParlAI/pull/623")
def mean_of_sentence_perplexities(batches):
    """The perplexities of the sentences are averaged, so one hard short sentence dominates the corpus.

    Compute by hand the perplexity of a corpus of a sentence of nine easy tokens and a sentence of two hard
    ones. How much does one token of each sentence count in your average?
    """
    return mean(math.exp(-sentence.mean()) for sentence in _sentences(batches))


@misconception(of="corpus_perplexity", seen="https://github.com/keras-team/keras-hub/pull/2958")
def mean_of_batch_perplexities(batches):
    """The perplexities of the batches are averaged, so the result depends on how the corpus was cut.

    Give your function the same sentences in one batch and in two. What would have to be true of the batches
    for the two answers to agree?
    """
    return mean(math.exp(_mean_nll([batch])) for batch in batches)


@misconception(of="corpus_perplexity", seen="https://github.com/macournoyer/neuralconvo/issues/67")
def mean_of_batch_losses(batches):
    """The mean losses of the batches are averaged, so the tokens of small batches weigh too much.

    A batch of two tokens and a batch of two hundred: with which weights do their tokens enter your average?
    What would you have to remember of each batch besides its mean?
    """
    return math.exp(mean(_mean_nll([batch]) for batch in batches))


@misconception(of="corpus_perplexity")
def mean_of_sentence_losses(batches):
    """The mean losses of the sentences are averaged, so the tokens of short sentences weigh too much.

    How much does a token of a sentence of two count in your average, and how much a token of a sentence of
    nine? What does N count in the formula?
    """
    return math.exp(mean(-sentence.mean().item() for sentence in _sentences(batches)))


@misconception(of="corpus_perplexity", seen="https://github.com/magenta/magenta/pull/239")
def mean_of_token_perplexities(batches):
    """The exponential is taken token by token and then averaged: the mean of 1/P, ruled by the rarest token.

    Let a model give half of the tokens the probability 1 and the other half 1/1000. What does your average
    say, and what does the formula? Which comes first in it, the mean or the exponential?
    """
    return torch.cat(list(_sentences(batches))).neg().exp().mean().item()


@misconception(
    of="corpus_perplexity",
    seen="https://stats.stackexchange.com/questions/345507/perplexity-calculation-with-neural-nets",
)
def two_to_the_nats(batches):
    """The average is in nats, but 2 and not e is raised to it.

    A model that gives 13 tokens the probability 1/13 each: what is its average in nats, and what do you make
    of it? Which base undoes a natural logarithm?
    """
    return 2 ** _mean_nll(batches)


@misconception(
    of="corpus_perplexity",
    seen="https://stats.stackexchange.com/questions/345507/perplexity-calculation-with-neural-nets",
)
def e_to_the_bits(batches):
    """The average is converted to bits, but e and not 2 is raised to it.

    A model that gives 13 tokens the probability 1/13 each: what is its average in bits, and what do you make
    of it? Which base undoes a logarithm to base 2?
    """
    return math.exp(_mean_nll(batches) / math.log(2))


@misconception(of="corpus_perplexity", seen="https://github.com/voidism/DiffCSE/issues/25")
def padding_in_the_sum(batches):
    """What the model said at padded places is added to the sum, though N counts only the tokens.

    Double the width of a batch by padding. Which part of your fraction grows, and which key of the batch says
    what may enter it?
    """
    nll = -sum(batch["token_log_probs"].sum().item() for batch in batches)
    return math.exp(nll / sum(batch["is_token"].sum().item() for batch in batches))


@misconception(of="corpus_perplexity", seen="https://github.com/meta-pytorch/torcheval/issues/154")
def padding_in_the_number_of_tokens(batches):
    """The sum is right, but it is divided by the number of places, padded ones included.

    Double the width of a batch by padding. Does the text become easier to predict? Which N does your code
    have for the example?
    """
    nll = -sum(sentence.sum().item() for sentence in _sentences(batches))
    return math.exp(nll / sum(batch["is_token"].numel() for batch in batches))


@misconception(of="corpus_perplexity", seen="https://github.com/meta-pytorch/torcheval/issues/154")
def padding_everywhere(batches):
    """Padded places count like tokens, in the sum and in the number of tokens.

    Which of the three keys of a batch does your code never read? What does it tell you?
    """
    return math.exp(-torch.cat([batch["token_log_probs"].flatten() for batch in batches]).mean().item())


@misconception(of="corpus_perplexity", seen="https://github.com/ysmiao/nvdm/issues/8")
def penalty_included(batches):
    """The training loss is averaged over the tokens, and with it the penalty on the weights.

    Two models predict every token alike, and one has larger weights. Which of the numbers in a batch differ
    between them? May their perplexities?
    """
    n_tokens = [batch["is_token"].sum().item() for batch in batches]
    losses = [batch["training_loss"] for batch in batches]
    return math.exp(sum(n * loss for n, loss in zip(n_tokens, losses, strict=True)) / sum(n_tokens))


@misconception(of="corpus_perplexity")
def mean_of_training_losses(batches):
    """The exponential is taken of the plain mean of the batches' training losses.

    Two questions about what training reports: what does the statement say it contains, and does a batch of
    two tokens deserve the same weight as one of two hundred?
    """
    return math.exp(mean(batch["training_loss"] for batch in batches))


@misconception(of="corpus_perplexity")
def root_of_a_vanishing_product(batches):
    """The root is taken of the product of all probabilities, which is 0 for a long corpus.

    What is 1/32 to the power 3000 as a float? In which order can product, root and logarithm be taken so that
    no number gets that small?
    """
    log_probs = torch.cat(list(_sentences(batches)))
    return (log_probs.exp().prod() ** (-1 / len(log_probs))).item()


@misconception(of="corpus_perplexity")
def root_of_a_vanishing_product_in_python(batches):
    """The product of all probabilities is 0.0 for a long corpus, and Python cannot take its root.

    What is 1/32 to the power 3000 as a float? The statement's formula and the root of the product are the
    same number: which of them stays in range at every step?
    """
    log_probs = torch.cat(list(_sentences(batches))).tolist()
    return math.prod(math.exp(value) for value in log_probs) ** (-1 / len(log_probs))


@misconception(of="corpus_perplexity")
def exponential_forgotten(batches):
    """The average negative log-probability itself is returned, without the exponential.

    For 13 equally likely tokens you answer 2.565. Which number of equally likely tokens is that the logarithm
    of?
    """
    return _mean_nll(batches)


@misconception(of="corpus_perplexity")
def sign_of_the_exponent_lost(batches):
    """The exponential is taken of the mean log-probability without its minus sign, which gives 1/perplexity.

    Perplexity is a number of choices. Can it be less than one? Which sign does a log-probability have, and
    which one does the exponent have in the formula?
    """
    return math.exp(-_mean_nll(batches))


@misconception(of="corpus_perplexity")
def divided_by_the_sentences(batches):
    """The sum is divided by the number of sentences, not of tokens.

    What does N count in the formula? Which perplexity do you find for two sentences of six tokens of 1/13?
    """
    rows = list(_sentences(batches))
    return math.exp(-sum(row.sum().item() for row in rows) / len(rows))


@misconception(of="corpus_perplexity")
def mean_of_all_places_by_batch(batches):
    """The mean of all places of each batch is taken, padding and all, and these means are averaged.

    Two keys of a batch are tensors. Which of them does your function not read?
    """
    return math.exp(-sum(batch["token_log_probs"].mean().item() for batch in batches) / len(batches))


@misconception(of="corpus_perplexity")
def inverse_of_the_mean_probability(batches):
    """The probabilities are averaged, and one is divided by their mean.

    One token of probability 1/2 and one of 1/8: what is their perplexity by the formula, and what by yours?
    """
    return 1 / torch.cat(list(_sentences(batches))).exp().mean().item()


@misconception(of="corpus_perplexity")
def last_batch_alone(batches):
    """Sum and number of tokens are those of the last batch; what came before is overwritten.

    What is the difference between = and += in a loop over the batches?
    """
    return math.exp(_mean_nll(batches[-1:]))


@misconception(of="corpus_perplexity")
def first_batch_alone(batches):
    """The answer is that of the first batch; the others are never read.

    Where does your `return` stand, and how often does the loop come to its end?
    """
    return math.exp(_mean_nll(batches[:1]))


@misconception(of="corpus_perplexity")
def last_token_of_each_sentence_left_out(batches):
    """The last token of every sentence is left out of the sum and out of N.

    Which token is the last of a sentence, by the statement? Is it predicted like the others?
    """
    return math.exp(-torch.cat([sentence[:-1] for sentence in _sentences(batches)]).mean().item())


@misconception(of="corpus_perplexity")
def first_token_of_each_sentence_left_out(batches):
    """The first token of every sentence is left out of the sum and out of N, as if it were `<s>`.

    Is `<s>` among the tokens of a batch? Which token does the model predict first?
    """
    return math.exp(-torch.cat([sentence[1:] for sentence in _sentences(batches)]).mean().item())


@misconception(of="corpus_perplexity")
def batches_weighted_by_their_sentences(batches):
    """The mean losses of the batches are weighted by the numbers of their sentences, not of their tokens.

    Two batches of one sentence each, one of two tokens and one of two hundred: how much does a token of each
    count in your average?
    """
    n_sentences = [len(batch["is_token"]) for batch in batches]
    losses = [n * _mean_nll([batch]) for n, batch in zip(n_sentences, batches, strict=True)]
    return math.exp(sum(losses) / sum(n_sentences))


# 6. name_the_fault


@misconception(of="name_the_fault")
def blames_the_sentences():
    """The averaging of sentence perplexities is blamed, but rows B and C hold the same sentences.

    From B to C no sentence changes. What does change, and would a function that works sentence by sentence
    notice?
    """
    return "sentence_perplexities_averaged"


@misconception(of="name_the_fault")
def blames_the_padding():
    """The padding is blamed, but row D is padded to 30 and printed like row B.

    In which two rows do only the padded places differ, and what was printed for them?
    """
    return "padding_counted_as_tokens"


@misconception(of="name_the_fault")
def blames_the_base():
    """The base of the power is blamed, but rows A, B and D are right.

    A wrong base shows wherever the perplexity is not 1. Which rows would it leave right?
    """
    return "two_to_the_power_of_nats"


@misconception(of="name_the_fault")
def blames_the_penalty():
    """The penalty is blamed, but rows C and E differ in the penalty and were printed alike.

    In which two rows does only the penalty differ, and what was printed for them?
    """
    return "penalty_included"


@misconception(of="name_the_fault")
def blames_the_last_token():
    """The last token of every sentence is blamed, but row B, with the same sentences as row C, is right.

    Would a function that drops the last tokens notice how the sentences are spread over batches? What would
    it print in row B, where the last tokens are not like the others?
    """
    return "last_token_left_out"


@misconception(of="name_the_fault")
def answers_in_words():
    """The fault is described in words of its own and not by one of the six names.

    Which of the six names in the table says what you mean?
    """
    return "The perplexities of the batches are averaged."
