"""What goes wrong in homework 1: every function is a mistake, with the question that lets a student find it.

The first line of a docstring is the diagnosis, the rest is the question put to the student. `fails` names
exactly the checks that the mistake fails.
"""

import math
import re
from collections import Counter, defaultdict
from itertools import chain, pairwise
from statistics import mean, pstdev, stdev

import torch

from autograder.catalogue import misconception, not_code

BOS, EOS = "<s>", "</s>"


# 1. sequence_log_prob

SENTENCE_VALUES = {"the_example_sentence_has_probability_one_in_64", "other_sentences_add_their_log_probs"}


@misconception(
    of="sequence_log_prob", fails={"a_long_sentence_stays_finite", "other_sentences_add_their_log_probs"}
)
def probabilities_multiplied(log_probs, tokens):
    """The logarithm is taken of the product of the probabilities, which is 0 for a long sentence.

    Print your product after 100, 200 and 300 tokens of probability 1/50. What is the smallest positive float,
    and which operation on logarithms corresponds to multiplying what they are logarithms of?
    """
    return log_probs[:-1].exp().gather(1, tokens[1:, None]).prod().log().item()


@misconception(
    of="sequence_log_prob", fails={"a_long_sentence_stays_finite", "other_sentences_add_their_log_probs"}
)
def probabilities_multiplied_one_by_one(log_probs, tokens):
    """The probabilities are multiplied, and `math.log` refuses the product of a long sentence, 0.0.

    Print your product after 100, 200 and 300 tokens of probability 1/50. When does it become 0.0, and do you
    need the product at all to know its logarithm?
    """
    prob = 1.0
    for t in range(1, len(tokens)):
        prob *= math.exp(log_probs[t - 1, tokens[t]])
    return math.log(prob)


@misconception(
    of="sequence_log_prob",
    fails=SENTENCE_VALUES | {"the_first_word_is_scored"},
    seen="https://github.com/huggingface/datasets/pull/4258",
)
def first_word_not_scored(log_probs, tokens):
    """The sum starts with the second word: the prediction of the first word, made after `<s>`, is missing.

    How many predictions does the sentence of the example consist of, and how many terms does your sum have?
    Which row of `log_probs` do you never read?
    """
    return log_probs[1:-1].gather(1, tokens[2:, None]).sum().item()


@misconception(
    of="sequence_log_prob",
    fails=SENTENCE_VALUES | {"the_opening_token_is_not_scored", "nothing_is_scored_after_the_end"},
    seen="https://github.com/huggingface/datasets/pull/4258",
)
def opening_token_scored_too(log_probs, tokens):
    """`<s>` is scored as well, and at t = 0 the index t - 1 = -1 reads the last row of `log_probs`.

    Write down the row your loop reads for each token of the example. Which row does Python take for the index
    -1, and what was there to predict `<s>` from?
    """
    return sum(log_probs[t - 1, token].item() for t, token in enumerate(tokens.tolist()))


@misconception(
    of="sequence_log_prob",
    fails=SENTENCE_VALUES
    | {
        "the_first_word_is_scored",
        "the_end_of_the_sentence_is_scored",
        "the_opening_token_is_not_scored",
        "nothing_is_scored_after_the_end",
    },
    seen="https://github.com/huggingface/transformers/pull/44642",
)
def row_of_the_token_itself(log_probs, tokens):
    """Every token is looked up in the row of its own position, which predicts the token after it.

    In the table of the example, which row was written before *where* had been read, and which after it? Which
    of the two can be a prediction of *where*?
    """
    return log_probs.gather(1, tokens[:, None]).sum().item()


@misconception(
    of="sequence_log_prob",
    fails=SENTENCE_VALUES
    | {"the_first_word_is_scored", "the_end_of_the_sentence_is_scored", "nothing_is_scored_after_the_end"},
    seen="https://github.com/huggingface/transformers/pull/44642",
)
def own_row_from_the_first_word_on(log_probs, tokens):
    """From the first word on, every token is looked up in its own row, which predicts the token after it.

    You rightly leave `<s>` out. For *where*, which row do you read: the one written before the model had seen
    *where*, or the one written after?
    """
    return log_probs[1:].gather(1, tokens[1:, None]).sum().item()


@misconception(
    of="sequence_log_prob",
    fails=SENTENCE_VALUES | {"the_end_of_the_sentence_is_scored"},
    seen="https://github.com/vchahun/vpyp/issues/2",
)
def end_not_scored(log_probs, tokens):
    """The prediction of `</s>` is missing, so the sentence is only the beginning of a sentence.

    Sum the probabilities of all sentences of one word, as you compute them, and then of all of two words.
    Which prediction tells a sentence from the beginning of a longer one?
    """
    return log_probs[:-2].gather(1, tokens[1:-1, None]).sum().item()


@misconception(of="sequence_log_prob", fails=SENTENCE_VALUES)
def sentence_scored_in_bits(log_probs, tokens):
    """The answer is in bits: it is the natural log-probability divided by ln 2.

    For the example you answer -6. Which base turns 1/64 into -6, and which one does the statement ask for?
    """
    return log_probs[:-1].gather(1, tokens[1:, None]).sum().item() / math.log(2)


@misconception(of="sequence_log_prob", fails=SENTENCE_VALUES)
def sentence_scored_in_powers_of_ten(log_probs, tokens):
    """The answer is a logarithm to base 10: it is the natural log-probability divided by ln 10.

    For the example you answer -1.806. Which base turns 1/64 into that, and which one does the statement ask
    for?
    """
    return log_probs[:-1].gather(1, tokens[1:, None]).sum().item() / math.log(10)


@misconception(of="sequence_log_prob", fails=SENTENCE_VALUES)
def sentence_score_per_token(log_probs, tokens):
    """The log-probabilities are averaged over the tokens instead of being added up.

    The probability of the example is 1/64. What would you have to multiply your answer by to get its
    logarithm, and why does the chain rule have no such factor?
    """
    return log_probs[:-1].gather(1, tokens[1:, None]).mean().item()


@misconception(
    of="sequence_log_prob",
    fails=SENTENCE_VALUES | {"the_first_word_is_scored", "the_end_of_the_sentence_is_scored"},
)
def sentence_score_negated(log_probs, tokens):
    """The answer has the opposite sign: it is the negative log-probability.

    The logarithm of a number below one lies on which side of zero? Which of the two, probability or cost,
    does the statement ask for?
    """
    return -log_probs[:-1].gather(1, tokens[1:, None]).sum().item()


# 2. corpus_perplexity

CORPUS_VALUES = {"the_example_corpus_has_perplexity_4", "other_corpora_have_their_perplexity"}


def _sentences(batches):
    """The log-probabilities of the tokens of every sentence, without the padding."""
    for batch in batches:
        for row, keep in zip(batch["token_log_probs"], batch["is_token"], strict=True):
            yield row[keep]


def _mean_nll(batches):
    log_probs = torch.cat(list(_sentences(batches)))
    return -log_probs.mean().item()


@misconception(
    of="corpus_perplexity",
    fails=CORPUS_VALUES | {"every_token_weighs_the_same"},
    seen="https://github.com/facebookresearch/ParlAI/pull/623",
)
def mean_of_sentence_perplexities(batches):
    """The perplexities of the sentences are averaged, so one hard short sentence dominates the corpus.

    Compute by hand the perplexity of a corpus of a sentence of nine easy tokens and a sentence of two hard
    ones. How much does one token of each sentence count in your average?
    """
    return mean(math.exp(-sentence.mean()) for sentence in _sentences(batches))


@misconception(
    of="corpus_perplexity",
    fails=CORPUS_VALUES | {"the_cut_into_batches_does_not_matter"},
    seen="https://github.com/keras-team/keras-hub/pull/2958",
)
def mean_of_batch_perplexities(batches):
    """The perplexities of the batches are averaged, so the result depends on how the corpus was cut.

    Give your function the same sentences in one batch and in two. What would have to be true of the batches
    for the two answers to agree?
    """
    return mean(math.exp(_mean_nll([batch])) for batch in batches)


@misconception(
    of="corpus_perplexity",
    fails=CORPUS_VALUES | {"the_cut_into_batches_does_not_matter"},
    seen="https://github.com/macournoyer/neuralconvo/issues/67",
)
def mean_of_batch_losses(batches):
    """The mean losses of the batches are averaged, so the tokens of small batches weigh too much.

    A batch of two tokens and a batch of two hundred: with which weights do their tokens enter your average?
    What would you have to remember of each batch besides its mean?
    """
    return math.exp(mean(_mean_nll([batch]) for batch in batches))


@misconception(of="corpus_perplexity", fails=CORPUS_VALUES | {"every_token_weighs_the_same"})
def mean_of_sentence_losses(batches):
    """The mean losses of the sentences are averaged, so the tokens of short sentences weigh too much.

    How much does a token of a sentence of two count in your average, and how much a token of a sentence of
    nine? What does N count in the formula?
    """
    return math.exp(mean(-sentence.mean().item() for sentence in _sentences(batches)))


@misconception(
    of="corpus_perplexity",
    fails={"the_example_corpus_has_perplexity_4", "other_corpora_have_their_perplexity"},
    seen="https://github.com/magenta/magenta/pull/239",
)
def mean_of_token_perplexities(batches):
    """The exponential is taken token by token and then averaged: the mean of 1/P, ruled by the rarest token.

    Let a model give half of the tokens the probability 1 and the other half 1/1000. What does your average
    say, and what does the formula? Which comes first in it, the mean or the exponential?
    """
    return torch.cat(list(_sentences(batches))).neg().exp().mean().item()


@misconception(
    of="corpus_perplexity",
    fails=CORPUS_VALUES | {"a_uniform_model_has_perplexity_vocab_size"},
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
    fails=CORPUS_VALUES | {"a_uniform_model_has_perplexity_vocab_size"},
    seen="https://stats.stackexchange.com/questions/345507/perplexity-calculation-with-neural-nets",
)
def e_to_the_bits(batches):
    """The average is converted to bits, but e and not 2 is raised to it.

    A model that gives 13 tokens the probability 1/13 each: what is its average in bits, and what do you make
    of it? Which base undoes a logarithm to base 2?
    """
    return math.exp(_mean_nll(batches) / math.log(2))


@misconception(
    of="corpus_perplexity",
    fails=CORPUS_VALUES | {"padding_does_not_matter"},
    seen="https://github.com/voidism/DiffCSE/issues/25",
)
def padding_in_the_sum(batches):
    """What the model said at padded places is added to the sum, though N counts only the tokens.

    Double the width of a batch by padding. Which part of your fraction grows, and which key of the batch says
    what may enter it?
    """
    nll = -sum(batch["token_log_probs"].sum().item() for batch in batches)
    return math.exp(nll / sum(batch["is_token"].sum().item() for batch in batches))


@misconception(
    of="corpus_perplexity",
    fails=CORPUS_VALUES | {"padding_does_not_matter"},
    seen="https://github.com/meta-pytorch/torcheval/issues/154",
)
def padding_in_the_number_of_tokens(batches):
    """The sum is right, but it is divided by the number of places, padded ones included.

    Double the width of a batch by padding. Does the text become easier to predict? Which N does your code
    have for the example?
    """
    nll = -sum(sentence.sum().item() for sentence in _sentences(batches))
    return math.exp(nll / sum(batch["is_token"].numel() for batch in batches))


@misconception(
    of="corpus_perplexity",
    fails=CORPUS_VALUES | {"padding_does_not_matter"},
    seen="https://github.com/meta-pytorch/torcheval/issues/154",
)
def padding_everywhere(batches):
    """Padded places count like tokens, in the sum and in the number of tokens.

    Which of the three keys of a batch does your code never read? What does it tell you?
    """
    return math.exp(-torch.cat([batch["token_log_probs"].flatten() for batch in batches]).mean().item())


@misconception(
    of="corpus_perplexity",
    fails=CORPUS_VALUES | {"the_penalty_does_not_matter"},
    seen="https://github.com/ysmiao/nvdm/issues/8",
)
def penalty_included(batches):
    """The training loss is averaged over the tokens, and with it the penalty on the weights.

    Two models predict every token alike, and one has larger weights. Which of the numbers in a batch differ
    between them? May their perplexities?
    """
    n_tokens = [batch["is_token"].sum().item() for batch in batches]
    losses = [batch["training_loss"] for batch in batches]
    return math.exp(sum(n * loss for n, loss in zip(n_tokens, losses, strict=True)) / sum(n_tokens))


@misconception(
    of="corpus_perplexity",
    fails=CORPUS_VALUES | {"the_cut_into_batches_does_not_matter", "the_penalty_does_not_matter"},
)
def mean_of_training_losses(batches):
    """The exponential is taken of the plain mean of the batches' training losses.

    Two questions about what training reports: what does the statement say it contains, and does a batch of
    two tokens deserve the same weight as one of two hundred?
    """
    return math.exp(mean(batch["training_loss"] for batch in batches))


@misconception(
    of="corpus_perplexity", fails={"a_long_corpus_stays_finite", "other_corpora_have_their_perplexity"}
)
def root_of_a_vanishing_product(batches):
    """The root is taken of the product of all probabilities, which is 0 for a long corpus.

    What is 1/32 to the power 3000 as a float? In which order can product, root and logarithm be taken so that
    no number gets that small?
    """
    log_probs = torch.cat(list(_sentences(batches)))
    return (log_probs.exp().prod() ** (-1 / len(log_probs))).item()


@misconception(
    of="corpus_perplexity", fails={"a_long_corpus_stays_finite", "other_corpora_have_their_perplexity"}
)
def root_of_a_vanishing_product_in_python(batches):
    """The product of all probabilities is 0.0 for a long corpus, and Python cannot take its root.

    What is 1/32 to the power 3000 as a float? The statement's formula and the root of the product are the
    same number: which of them stays in range at every step?
    """
    log_probs = torch.cat(list(_sentences(batches))).tolist()
    return math.prod(math.exp(value) for value in log_probs) ** (-1 / len(log_probs))


@misconception(of="corpus_perplexity", fails=CORPUS_VALUES | {"a_uniform_model_has_perplexity_vocab_size"})
def exponential_forgotten(batches):
    """The average negative log-probability itself is returned, without the exponential.

    For 13 equally likely tokens you answer 2.565. Which number of equally likely tokens is that the logarithm
    of?
    """
    return _mean_nll(batches)


@misconception(of="corpus_perplexity", fails=CORPUS_VALUES | {"a_uniform_model_has_perplexity_vocab_size"})
def sign_of_the_exponent_lost(batches):
    """The exponential is taken of the mean log-probability without its minus sign, which gives 1/perplexity.

    Perplexity is a number of choices. Can it be less than one? Which sign does a log-probability have, and
    which one does the exponent have in the formula?
    """
    return math.exp(-_mean_nll(batches))


# 3. branching_factor

BRANCHING_VALUES = {
    "the_example_branches_2_8_fold",
    "the_operator_hears_52_6_equally_likely_things",
    "other_distributions_have_their_perplexity",
}


@misconception(of="branching_factor", fails=BRANCHING_VALUES)
def outcomes_counted(probs):
    """The possible outcomes are counted, and how likely each of them is plays no role.

    One operator hears 30,003 things equally often, another hears three of them nearly always. Which has the
    easier job, and what do you answer for each?
    """
    return float((probs > 0).sum())


@misconception(of="branching_factor", fails=BRANCHING_VALUES)
def surprises_averaged_without_weights(probs):
    """The surprises of the outcomes are averaged as if each outcome happened equally often.

    A name is 30,000 times rarer than "sales" and far more surprising. In a thousand calls, how often do you
    meet the surprise of one particular name?
    """
    return math.exp(-probs[probs > 0].log().mean().item())


@misconception(of="branching_factor", fails=BRANCHING_VALUES | {"random_digits_branch_tenfold"})
def two_to_the_entropy_in_nats(probs):
    """The entropy is computed with natural logarithms, but 2 is raised to it.

    For ten equally likely digits you answer 4.93. What is their entropy in nats, what in bits, and which of
    the two belongs above a 2?
    """
    return 2 ** -torch.xlogy(probs, probs).sum().item()


@misconception(of="branching_factor", fails=BRANCHING_VALUES | {"random_digits_branch_tenfold"})
def e_to_the_entropy_in_bits(probs):
    """The entropy is computed in bits, but e is raised to it.

    For ten equally likely digits you answer 27.7. What is their entropy in bits, and which number must be
    raised to it to get back to ten?
    """
    return math.exp(-torch.xlogy(probs, probs).sum().item() / math.log(2))


@misconception(
    of="branching_factor",
    fails={"what_never_happens_does_not_count", "other_distributions_have_their_perplexity"},
)
def zero_times_minus_infinity(probs):
    """An outcome of probability zero makes the whole result NaN, as 0 times minus infinity does in torch.

    Print `p * p.log()` for `p = torch.tensor([0.5, 0.0])`. What should an outcome that never happens
    contribute?
    """
    return 2 ** -(probs * probs.log2()).sum().item()


@misconception(
    of="branching_factor",
    fails={"what_never_happens_does_not_count", "other_distributions_have_their_perplexity"},
)
def logarithm_of_zero_attempted(probs):
    """The logarithm is taken of every probability, also of zero, where Python's `math.log2` raises an error.

    Which outcomes can be left out of a sum over what happens, and do you meet them before or after the
    logarithm?
    """
    return 2 ** -sum(p * math.log2(p) for p in probs.tolist())


@misconception(of="branching_factor", fails=BRANCHING_VALUES)
def likeliest_outcome_alone(probs):
    """The answer is one over the largest probability: only the likeliest outcome counts.

    An operator who hears "sales" half of the time: does the rest of the calls matter for how hard the job is?
    Compare your answers for one other request and for a thousand.
    """
    return 1 / probs.max().item()


@misconception(of="branching_factor", fails=BRANCHING_VALUES)
def inverse_of_the_sum_of_squares(probs):
    """The answer is one over the sum of the squared probabilities, which is another measure of diversity.

    It agrees with perplexity when all outcomes are equally likely. For the example, work out both by hand:
    where does the logarithm of the formula appear in yours?
    """
    return 1 / probs.square().sum().item()


@misconception(
    of="branching_factor",
    fails=BRANCHING_VALUES | {"random_digits_branch_tenfold", "independent_choices_multiply"},
)
def entropy_instead_of_perplexity(probs):
    """The entropy in bits is returned, not two to the power of it.

    For ten equally likely digits you answer 3.32. How many choices is that number of bits worth?
    """
    return -torch.xlogy(probs, probs).sum().item() / math.log(2)


# 4. entropy_rate

RATE_VALUES = {
    "the_example_source_has_14_13_bits",
    "a_token_counts_as_often_as_it_occurs",
    "other_sources_have_their_entropy_rate",
}


def _shares(transition):
    return torch.linalg.matrix_power((transition + torch.eye(len(transition))) / 2, 4096)[0]


def _row_entropies(transition):
    return -torch.xlogy(transition, transition).sum(1) / math.log(2)


@misconception(of="entropy_rate", fails=RATE_VALUES | {"a_source_without_choice_has_rate_zero"})
def entropy_of_the_shares(transition):
    """The answer is the entropy of the shares: the price of a token when the one before it is unknown.

    A source that always emits 0, 1, 2, 0, 1, 2, … has three equal shares. How many bits does the next token
    cost somebody who sees the present one?
    """
    return _row_entropies(_shares(transition)[None]).item()


@misconception(of="entropy_rate", fails=RATE_VALUES)
def rows_averaged_alike(transition):
    """The entropies of the rows are averaged with equal weights, however rarely the source is there.

    Let token 2 occur once in a million tokens. How much should the entropy of its row matter, and how much
    does it in your average? (If you looked for shares that reproduce themselves and found equal ones: on
    which side of `transition` were they multiplied?)
    """
    return _row_entropies(transition).mean().item()


@misconception(
    of="entropy_rate", fails=RATE_VALUES | {"a_source_without_memory_has_the_entropy_of_its_tokens"}
)
def entropy_rate_in_nats(transition):
    """The answer is in nats: it is ln 2 times the entropy rate in bits.

    A fair coin costs one bit per toss. What does your function say for a source whose rows are all 1/2, 1/2?
    """
    return (_shares(transition) @ _row_entropies(transition)).item() * math.log(2)


@misconception(of="entropy_rate", fails=RATE_VALUES)
def shares_after_a_single_step(transition):
    """The rows are weighted by the shares after one step, not by the shares in the long run.

    Print your shares after 1, 2, 5 and 50 steps. Do the ones you use satisfy the equation of the statement?
    """
    return (transition.mean(0) @ _row_entropies(transition)).item()


@misconception(of="entropy_rate", fails=RATE_VALUES | {"a_source_without_choice_has_rate_zero"})
def zero_probability_makes_nan(transition):
    """A zero in `transition` makes the whole result NaN, as 0 times minus infinity does in torch.

    Print `p * p.log()` for `p = torch.tensor([0.5, 0.0])`. What should a token that never follows contribute?
    """
    return -(_shares(transition) @ (transition * transition.log2()).sum(1)).item()


@misconception(
    of="entropy_rate",
    fails=RATE_VALUES
    | {"a_source_without_memory_has_the_entropy_of_its_tokens", "a_source_without_choice_has_rate_zero"},
)
def entropy_of_pairs(transition):
    """The answer is the entropy of a pair of neighbouring tokens, and so charges for the first of them too.

    For a fair coin you answer two bits. What is the entropy of a pair made of, and which part of it is the
    price of the next token?
    """
    pairs = _shares(transition)[:, None] * transition
    return -torch.xlogy(pairs, pairs).sum().item() / math.log(2)


@misconception(
    of="entropy_rate", fails=RATE_VALUES | {"a_source_without_memory_has_the_entropy_of_its_tokens"}
)
def columns_taken_for_rows(transition):
    """The entropy is taken along the columns of `transition`, which do not sum to one.

    `transition[i, j]` is the probability of j after i. Which index must vary while the present token stays
    the same?
    """
    return (_shares(transition) @ _row_entropies(transition.T)).item()


@misconception(
    of="entropy_rate",
    fails=RATE_VALUES
    | {"a_source_without_memory_has_the_entropy_of_its_tokens", "a_source_without_choice_has_rate_zero"},
)
def perplexity_of_the_source(transition):
    """Two to the power of the entropy rate is returned: the perplexity of the source, not its bits per token.

    A source without choice costs nothing per token. What do you answer for it, and which unit has your
    answer?
    """
    return 2 ** (_shares(transition) @ _row_entropies(transition)).item()


not_code(
    "4d",
    "belief that a better model can go below the floor",
    why="a conclusion drawn from a number, not a way of computing one; asked in below_the_floor",
)
not_code(
    "4e",
    "floor compared with the training loss",
    why="a choice of which two numbers to set side by side; asked in below_the_floor",
)


# 6. name_the_fault

WHOLE_TABLE = {"the_fault_leaves_row_a_right", "the_fault_prints_the_whole_table"}


@misconception(of="name_the_fault", fails={"the_fault_prints_the_whole_table"})
def blames_the_sentences():
    """The averaging of sentence perplexities is blamed, but rows B and C hold the same sentences.

    From B to C no sentence changes. What does change, and would a function that works sentence by sentence
    notice?
    """
    return "sentence_perplexities_averaged"


@misconception(of="name_the_fault", fails=WHOLE_TABLE)
def blames_the_padding():
    """The padding is blamed, but row D is padded to 30 and printed like row B.

    In which two rows do only the padded places differ, and what was printed for them?
    """
    return "padding_counted_as_tokens"


@misconception(of="name_the_fault", fails=WHOLE_TABLE)
def blames_the_base():
    """The base of the power is blamed, but rows A, B and D are right.

    A wrong base shows wherever the perplexity is not 1. Which rows would it leave right?
    """
    return "two_to_the_power_of_nats"


@misconception(of="name_the_fault", fails=WHOLE_TABLE)
def blames_the_penalty():
    """The penalty is blamed, but rows C and E differ in the penalty and were printed alike.

    In which two rows does only the penalty differ, and what was printed for them?
    """
    return "penalty_included"


@misconception(of="name_the_fault", fails={"the_fault_prints_the_whole_table"})
def blames_the_last_token():
    """The last token of every sentence is blamed, but row B, with the same sentences as row C, is right.

    Would a function that drops the last tokens notice how the sentences are spread over batches? What would
    it print in row B, where the last tokens are not like the others?
    """
    return "last_token_left_out"


@misconception(of="name_the_fault", fails=WHOLE_TABLE)
def answers_in_words():
    """The fault is described in words of its own and not by one of the six names.

    Which of the six names in the table says what you mean?
    """
    return "The perplexities of the batches are averaged."


# 7. ngram_counts

COUNT_VALUES = {
    "the_example_bigrams_are_counted",
    "a_unigram_has_the_empty_context",
    "n_grams_of_other_orders_are_counted",
}


def _counted(rows, n, start=None):
    """Counts of the windows of n tokens in rows of tokens, the first one ending at `start`."""
    counts = defaultdict(Counter)
    for row in rows:
        for position in range(n - 1 if start is None else start, len(row)):
            counts[tuple(row[position - n + 1 : position])][row[position]] += 1
    return counts


@misconception(
    of="ngram_counts",
    fails={
        "the_example_bigrams_are_counted",
        "the_opening_token_is_never_predicted",
        "sentences_are_counted_one_by_one",
        "n_grams_of_other_orders_are_counted",
    },
)
def windows_reach_into_the_next_sentence(sentences, n):
    """The padded sentences are joined into one text, and windows reach from one into the next.

    Look for `</s>` in the contexts you counted. What follows it in your table, and does anything follow the
    end of a sentence in the statement?
    """
    padded = ([BOS] * (n - 1) + sentence + [EOS] for sentence in sentences)
    return _counted([list(chain.from_iterable(padded))], n)


@misconception(
    of="ngram_counts",
    fails=COUNT_VALUES
    | {
        "every_sentence_ends_once",
        "the_first_word_follows_only_opening_tokens",
        "sentences_are_counted_one_by_one",
    },
)
def sentences_joined_into_one(sentences, n):
    """All sentences are joined into one long sentence, with a single beginning and a single end.

    How many sentences does the example have, and how many `</s>` are there in your counts? Which word does
    yours count after the last word of the first sentence?
    """
    return _counted([[BOS] * (n - 1) + list(chain.from_iterable(sentences)) + [EOS]], n)


@misconception(
    of="ngram_counts",
    fails={
        "a_unigram_has_the_empty_context",
        "the_first_word_follows_only_opening_tokens",
        "n_grams_of_other_orders_are_counted",
    },
    seen="https://github.com/nltk/nltk/pull/772",
)
def one_opening_token_for_every_n(sentences, n):
    """Every sentence gets one `<s>` whatever n is, so with n = 3 the first word is never predicted.

    With n = 3, what is the context of the first word? How many `<s>` does it take, and how many for n = 1?
    """
    return _counted([[BOS, *sentence, EOS] for sentence in sentences], n)


@misconception(
    of="ngram_counts",
    fails={
        "contexts_have_n_minus_1_tokens",
        "the_first_word_follows_only_opening_tokens",
        "n_grams_of_other_orders_are_counted",
    },
    seen="https://github.com/nltk/nltk/pull/772",
)
def shorter_contexts_at_the_beginning(sentences, n):
    """With one `<s>` per sentence, the first words are counted after contexts shorter than n - 1.

    Print the lengths of your contexts for n = 4. Which model would ever ask for a context of one token?
    """
    counts = defaultdict(Counter)
    for sentence in sentences:
        row = [BOS] * min(1, n - 1) + sentence + [EOS]
        for position in range(min(1, n - 1), len(row)):
            counts[tuple(row[max(0, position - n + 1) : position])][row[position]] += 1
    return counts


@misconception(of="ngram_counts", fails=COUNT_VALUES | {"every_sentence_ends_once"})
def end_not_counted(sentences, n):
    """The last prediction of every sentence, its `</s>`, is not counted.

    What is the last thing your loop counts in `["b"]`? Is `</s>` not there, or does the loop stop one step
    before it?
    """
    return _counted([[BOS] * (n - 1) + sentence for sentence in sentences], n)


not_code(
    "5e",
    "off by one in the last window",
    why="it loses the </s> of every sentence, just as end_not_counted does, and that one asks about both",
)


@misconception(
    of="ngram_counts",
    fails={
        "a_unigram_has_the_empty_context",
        "every_sentence_ends_once",
        "n_grams_of_other_orders_are_counted",
    },
    seen="https://github.com/nltk/nltk/pull/772",
)
def end_padded_like_the_beginning(sentences, n):
    """Every sentence gets n - 1 `</s>`, so its end is predicted several times, or never.

    How often can a sentence end? With n = 3 and n = 1, how many `</s>` do you count for one sentence?
    """
    return _counted([[BOS] * (n - 1) + sentence + [EOS] * (n - 1) for sentence in sentences], n)


@misconception(
    of="ngram_counts",
    fails=COUNT_VALUES
    | {"the_opening_token_is_never_predicted", "the_first_word_follows_only_opening_tokens"},
    seen="https://github.com/nltk/nltk/issues/3065",
)
def opening_token_counted_as_predicted(sentences, n):
    """Every sentence gets n `<s>`, so the last of them is counted as if it had been predicted.

    Is there a moment at which a model has to guess that a sentence begins? Look for `<s>` among the tokens
    you counted, and for the probability it takes away from the first words.
    """
    return _counted([[BOS] * n + sentence + [EOS] for sentence in sentences], n)


@misconception(of="ngram_counts", fails=COUNT_VALUES | {"the_first_word_follows_only_opening_tokens"})
def first_word_not_counted(sentences, n):
    """The first window ends one token late, so the first word of every sentence is not counted.

    At which index of the padded list does the first word stand, for n = 1, 2 and 3? Where does your loop
    start?
    """
    return _counted([[BOS] * (n - 1) + sentence + [EOS] for sentence in sentences], n, start=n)


@misconception(
    of="ngram_counts", fails=COUNT_VALUES | {"every_sentence_ends_once", "contexts_have_n_minus_1_tokens"}
)
def one_window_too_many(sentences, n):
    """A last window of only n - 1 tokens is counted too, with a context that is one token short.

    How many windows of length n fit into a list of length m? Print the last window of your loop.
    """
    counts = defaultdict(Counter)
    for sentence in sentences:
        row = [BOS] * (n - 1) + sentence + [EOS]
        for start in range(len(row) - n + 2):
            window = row[start : start + n]
            counts[tuple(window[:-1])][window[-1]] += 1
    return counts


@misconception(
    of="ngram_counts", fails={"the_example_bigrams_are_counted", "n_grams_of_other_orders_are_counted"}
)
def words_as_contexts(sentences, n):
    """A context of one token is stored as the token itself, not as a tuple of one token.

    What does `type(context)` say for n = 1, 2 and 3? How does Python write a tuple that holds only `"a"`?
    """
    return {
        context[0] if len(context) == 1 else context: followers
        for context, followers in _counted([[BOS] * (n - 1) + s + [EOS] for s in sentences], n).items()
    }


# 8. mle_probs

MLE_VALUES = {
    "the_example_has_its_relative_frequencies",
    "the_probabilities_after_a_context_sum_to_one",
    "other_tables_have_their_relative_frequencies",
}


@misconception(of="mle_probs", fails=MLE_VALUES | {"other_contexts_do_not_matter"})
def divided_by_the_corpus(counts, context, words):
    """The counts are divided by the number of all tokens of the corpus, not by those after this context.

    Add up your probabilities after one context. Of which event is your fraction the frequency: that w follows
    h, or that h and w occur at all?
    """
    tokens, corpus = [*words, EOS], sum(sum(followers.values()) for followers in counts.values())
    if context not in counts:
        return dict.fromkeys(tokens, 1 / len(tokens))
    return {token: counts[context].get(token, 0) / corpus for token in tokens}


@misconception(
    of="mle_probs",
    fails=MLE_VALUES | {"other_contexts_do_not_matter"},
    seen="https://github.com/nltk/nltk/issues/367",
)
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


@misconception(of="mle_probs", fails=MLE_VALUES, seen="https://github.com/nltk/nltk/issues/367")
def divided_by_the_number_of_followers(counts, context, words):
    """The counts are divided by how many different tokens followed, not by how often any token followed.

    After `("a",)` the example has the counts 3 and 1. What do you divide by, and what do your probabilities
    sum to?
    """
    tokens = [*words, EOS]
    if context not in counts:
        return dict.fromkeys(tokens, 1 / len(tokens))
    return {token: counts[context].get(token, 0) / len(counts[context]) for token in tokens}


@misconception(
    of="mle_probs",
    fails={
        "after_an_unseen_context_all_tokens_are_equally_likely",
        "other_tables_have_their_relative_frequencies",
    },
    seen="https://github.com/nltk/nltk/issues/158",
)
def unseen_context_looked_up(counts, context, words):
    """A context that never occurred is looked up all the same, and Python raises KeyError.

    New text is full of contexts that training never met. What does the statement say the model should answer,
    and what does `counts[context]` do before you can?
    """
    followers = counts[context]
    return {token: followers.get(token, 0) / sum(followers.values()) for token in [*words, EOS]}


@misconception(
    of="mle_probs",
    fails={
        "after_an_unseen_context_all_tokens_are_equally_likely",
        "other_tables_have_their_relative_frequencies",
    },
    seen="https://github.com/nltk/nltk/issues/167",
)
def unseen_context_divided_by_zero(counts, context, words):
    """After a context that never occurred, the counts are divided by their total of zero.

    What is the total of no counts? Which case does the statement treat separately, and where in your code is
    it?
    """
    followers = counts.get(context, {})
    return {token: followers.get(token, 0) / sum(followers.values()) for token in [*words, EOS]}


@misconception(
    of="mle_probs",
    fails={
        "after_an_unseen_context_all_tokens_are_equally_likely",
        "other_tables_have_their_relative_frequencies",
    },
    seen="https://github.com/nltk/nltk/issues/167",
)
def unseen_context_predicts_nothing(counts, context, words):
    """After a context that never occurred, every token gets the probability zero.

    What do the probabilities after a context have to sum to? What would such a model pay for any text that
    contains this context?
    """
    followers = counts.get(context, {})
    total = sum(followers.values()) or 1
    return {token: followers.get(token, 0) / total for token in [*words, EOS]}


@misconception(
    of="mle_probs",
    fails=MLE_VALUES
    | {"every_word_and_the_end_has_a_probability", "after_an_unseen_context_all_tokens_are_equally_likely"},
)
def end_never_predicted(counts, context, words):
    """The distribution is over `words` alone: `</s>` is never predicted.

    After the last word of a sentence, what comes next? Add up your probabilities after a context that often
    ends a sentence.
    """
    followers = counts.get(context, {})
    total = sum(followers.values())
    return {word: followers.get(word, 0) / total if total else 1 / len(words) for word in words}


@misconception(
    of="mle_probs",
    fails={
        "the_example_has_its_relative_frequencies",
        "every_word_and_the_end_has_a_probability",
        "other_tables_have_their_relative_frequencies",
    },
)
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


# 9. heldout_bits

COST_VALUES = {
    "a_token_of_probability_zero_costs_infinitely_much",
    "a_token_the_model_never_heard_of_costs_infinitely_much",
    "other_texts_cost_their_average_surprise",
}


def _probs(distributions, tokens):
    return [row.get(token, 0.0) for row, token in zip(distributions, tokens, strict=True)]


@misconception(of="heldout_bits", fails=COST_VALUES)
def impossible_tokens_skipped(distributions, tokens):
    """Tokens of probability zero are left out, so the model is not charged for its worst mistakes.

    A model gives everything the probability zero except one token, which it predicts with certainty. What
    does it pay with your function, on any text?
    """
    probs = [prob for prob in _probs(distributions, tokens) if prob > 0]
    return -sum(math.log2(prob) for prob in probs) / len(probs)


@misconception(of="heldout_bits", fails=COST_VALUES)
def impossible_tokens_cost_nothing(distributions, tokens):
    """Tokens of probability zero add nothing to the sum, yet they count among the N: they cost zero bits.

    Which probability costs zero bits? Compare it with the one these tokens were given.
    """
    probs = _probs(distributions, tokens)
    return -sum(math.log2(prob) for prob in probs if prob > 0) / len(probs)


@misconception(of="heldout_bits", fails=COST_VALUES)
def impossible_tokens_given_a_little(distributions, tokens):
    """Probability zero is replaced by 1e-10, so an impossible token costs some 33 bits.

    Where does that probability come from, and what do all probabilities of that position sum to now? What
    would the cost be with 1e-20?
    """
    return -mean(math.log2(max(prob, 1e-10)) for prob in _probs(distributions, tokens))


@misconception(of="heldout_bits", fails=COST_VALUES)
def logarithm_of_an_impossible_token(distributions, tokens):
    """The logarithm is taken of a probability of zero, and Python raises ValueError.

    Toward what does $-\\log_2 p$ go as p goes to zero? Does `math.log2` say so?
    """
    return -mean(math.log2(prob) for prob in _probs(distributions, tokens))


@misconception(of="heldout_bits", fails={"a_token_the_model_never_heard_of_costs_infinitely_much"})
def unheard_of_token_looked_up(distributions, tokens):
    """A token that is in no dict is looked up all the same, and Python raises KeyError.

    Which probability does the statement give to a token that is not in the dict? What does `row[token]` do
    there?
    """
    probs = [row[token] for row, token in zip(distributions, tokens, strict=True)]
    return math.inf if min(probs) == 0 else -mean(math.log2(prob) for prob in probs)


@misconception(
    of="heldout_bits", fails={"the_example_text_costs_2_bits", "other_texts_cost_their_average_surprise"}
)
def heldout_cost_in_nats(distributions, tokens):
    """The answer is in nats: it is ln 2 times the cost in bits.

    A token of probability 1/2 costs one bit. What does your function say to it?
    """
    probs = _probs(distributions, tokens)
    return math.inf if min(probs) == 0 else -mean(math.log(prob) for prob in probs)


@misconception(
    of="heldout_bits", fails={"the_example_text_costs_2_bits", "other_texts_cost_their_average_surprise"}
)
def heldout_cost_of_the_whole_text(distributions, tokens):
    """The surprises are added up and not divided by the number of tokens.

    Give your function a text twice over. Should the bits per token change?
    """
    probs = _probs(distributions, tokens)
    return math.inf if min(probs) == 0 else -sum(math.log2(prob) for prob in probs)


@misconception(of="heldout_bits", fails=COST_VALUES | {"the_example_text_costs_2_bits"})
def logarithm_of_the_mean(distributions, tokens):
    """The probabilities are averaged first and the logarithm is taken of their mean.

    For the example you answer 1.78. What becomes of a single probability of zero in your mean, and what
    should it do to the cost?
    """
    return -math.log2(mean(_probs(distributions, tokens)))


# 10. add_k_prob

SMOOTHED_VALUES = {
    "the_example_is_smoothed",
    "smoothed_probabilities_sum_to_one",
    "after_an_unseen_context_smoothing_is_uniform",
    "other_tables_are_smoothed",
}


def _smoothed(followers, token, k, vocab_size):
    return (followers.get(token, 0) + k) / (sum(followers.values()) + k * vocab_size)


@misconception(of="add_k_prob", fails=SMOOTHED_VALUES)
def denominator_left_as_it_was(counts, context, token, words, k):
    """k is added to the count of the token but nothing to the denominator.

    Add up your probabilities over all tokens. How much more than one is it, and where did that come from?
    """
    followers = counts.get(context, {})
    return (followers.get(token, 0) + k) / (sum(followers.values()) or 1)


@misconception(of="add_k_prob", fails=SMOOTHED_VALUES)
def denominator_gains_one_k(counts, context, token, words, k):
    """The denominator gains a single k, although every token that can be predicted gained one.

    How many numerators are there after one context, and how much did they gain together?
    """
    return _smoothed(counts.get(context, {}), token, k, 1)


@misconception(of="add_k_prob", fails=SMOOTHED_VALUES)
def vocabulary_without_the_end(counts, context, token, words, k):
    """V counts the words but not `</s>`, which can be predicted too.

    Add up your probabilities, `</s>` included. How many tokens share what smoothing gives away?
    """
    return _smoothed(counts.get(context, {}), token, k, len(words))


@misconception(of="add_k_prob", fails=SMOOTHED_VALUES)
def vocabulary_with_the_beginning(counts, context, token, words, k):
    """V counts `<s>` beside the words and `</s>`, although `<s>` is never predicted.

    Add up your probabilities over the words and `</s>`. To which token did you give the rest, and when would
    it come?
    """
    return _smoothed(counts.get(context, {}), token, k, len(words) + 2)


@misconception(of="add_k_prob", fails=SMOOTHED_VALUES)
def vocabulary_of_the_text(counts, context, token, words, k):
    """V counts the different tokens that occur in `counts`, not all that the model can predict.

    A word that is in `words` but not in the text gets a probability from you. Is it among the V that you
    divide by?
    """
    occurred = {token for followers in counts.values() for token in followers}
    return _smoothed(counts.get(context, {}), token, k, len(occurred))


@misconception(of="add_k_prob", fails=SMOOTHED_VALUES)
def vocabulary_of_the_context(counts, context, token, words, k):
    """V counts the different tokens that followed this context, not all that the model can predict.

    Smoothing is for tokens that did not follow. Are they among the V that you divide by? What is your V after
    a context that never occurred?
    """
    followers = counts.get(context, {})
    return _smoothed(followers, token, k, len(followers) or 1)


@misconception(
    of="add_k_prob",
    fails={
        "the_example_is_smoothed",
        "seen_and_unseen_tokens_gain_the_same_k",
        "a_tiny_k_gives_relative_frequencies",
        "other_tables_are_smoothed",
    },
)
def always_add_one(counts, context, token, words, k):
    """One is added to every count, whatever k is.

    Call your function with k = 0.001 and k = 10. What should change?
    """
    return _smoothed(counts.get(context, {}), token, 1, len(words) + 1)


@misconception(
    of="add_k_prob",
    fails={
        "the_example_is_smoothed",
        "smoothed_probabilities_sum_to_one",
        "seen_and_unseen_tokens_gain_the_same_k",
        "other_tables_are_smoothed",
    },
)
def only_unseen_tokens_gain(counts, context, token, words, k):
    """Only tokens that did not follow the context gain k; the counts of the others stay as they are.

    Add up your numerators over all tokens and compare the sum with your denominator. Who pretends to have
    been seen k times more, according to the statement?
    """
    followers = counts.get(context, {})
    return (followers.get(token, 0) or k) / (sum(followers.values()) + k * (len(words) + 1))


@misconception(of="add_k_prob", fails=SMOOTHED_VALUES | {"a_tiny_k_gives_relative_frequencies"})
def smoothed_over_the_corpus(counts, context, token, words, k):
    """The denominator counts the tokens of the whole corpus, not those after this context.

    Change the counts after another context and call your function again. Should the probability after this
    one change?
    """
    corpus = sum(sum(followers.values()) for followers in counts.values())
    return (counts.get(context, {}).get(token, 0) + k) / (corpus + k * (len(words) + 1))


@misconception(
    of="add_k_prob", fails={"after_an_unseen_context_smoothing_is_uniform", "other_tables_are_smoothed"}
)
def unseen_context_not_smoothed(counts, context, token, words, k):
    """A context that never occurred is looked up all the same, and Python raises KeyError.

    Smoothing is there for what was never seen. What are the counts after such a context, and what does the
    formula make of them?
    """
    return _smoothed(counts[context], token, k, len(words) + 1)


# 11. interpolated_prob

MIXTURE_VALUES = {
    "the_example_is_43_96",
    "a_word_seen_nowhere_keeps_its_uniform_share",
    "the_weight_belongs_to_the_longer_context",
    "other_mixtures_have_their_probability",
}


def _estimate(counts, context, token):
    """The relative frequency of a token after a context, None if the context never occurred."""
    followers = counts.get(context, {})
    total = sum(followers.values())
    return followers.get(token, 0) / total if total else None


def _estimates(counts_by_order, context, token):
    lengths = range(len(counts_by_order))
    return [
        _estimate(counts, context[len(context) - length :], token)
        for counts, length in zip(counts_by_order, lengths, strict=True)
    ]


def _mixed(prob, estimates, weights):
    for estimate, weight in zip(estimates, weights, strict=True):
        if estimate is not None:
            prob = weight * estimate + (1 - weight) * prob
    return prob


@misconception(
    of="interpolated_prob",
    fails=MIXTURE_VALUES | {"mixed_probabilities_sum_to_one"},
    seen="https://github.com/nltk/nltk/issues/367",
)
def backed_off_without_discount(counts_by_order, weights, context, token, words):
    """The longest context that knows the token answers alone, so the probabilities exceed one in sum.

    After one context, add up your probabilities over all tokens. The seen tokens take everything there; from
    whom do the unseen ones get theirs?
    """
    for estimate in reversed(_estimates(counts_by_order, context, token)):
        if estimate:
            return estimate
    return 1 / (len(words) + 1)


@misconception(
    of="interpolated_prob",
    fails={"an_unseen_context_leaves_the_shorter_one_to_speak", "other_mixtures_have_their_probability"},
)
def unseen_context_keeps_its_weight(counts_by_order, weights, context, token, words):
    """A context that was never seen counts as a prediction of zero, and its weight is lost.

    Add up your probabilities after a context that never occurred. What is missing, and to whom does the
    statement give it?
    """
    estimates = [estimate or 0.0 for estimate in _estimates(counts_by_order, context, token)]
    return _mixed(1 / (len(words) + 1), estimates, weights)


@misconception(of="interpolated_prob", fails=MIXTURE_VALUES)
def weights_the_other_way_round(counts_by_order, weights, context, token, words):
    """The weight is given to the shorter context and the rest to the longer one.

    With every weight 1, whom should your function listen to? Try it on the example.
    """
    opposite = [1 - weight for weight in weights]
    return _mixed(1 / (len(words) + 1), _estimates(counts_by_order, context, token), opposite)


@misconception(
    of="interpolated_prob",
    fails={
        "an_unseen_context_leaves_the_shorter_one_to_speak",
        "the_nearest_tokens_are_kept",
        "other_mixtures_have_their_probability",
    },
)
def context_cut_at_the_wrong_end(counts_by_order, weights, context, token, words):
    """Shorter contexts keep the first tokens of the context, which are farthest from the predicted one.

    The context is `("the", "cat")` and a verb is to be predicted. Which one word would you keep, and which
    one does your slice keep?
    """
    estimates = [_estimate(counts, context[:m], token) for m, counts in enumerate(counts_by_order)]
    return _mixed(1 / (len(words) + 1), estimates, weights)


@misconception(
    of="interpolated_prob",
    fails={
        "the_example_is_43_96",
        "a_word_seen_nowhere_keeps_its_uniform_share",
        "other_mixtures_have_their_probability",
    },
)
def empty_context_never_reached(counts_by_order, weights, context, token, words):
    """`context[-m:]` is the whole context for m = 0, so the order without context is never asked.

    Print `("x", "y")[-2:]`, `[-1:]` and `[-0:]`. Which of the three surprises you?
    """
    estimates = [_estimate(counts, context[-m:], token) for m, counts in enumerate(counts_by_order)]
    return _mixed(1 / (len(words) + 1), estimates, weights)


@misconception(of="interpolated_prob", fails=MIXTURE_VALUES | {"mixed_probabilities_sum_to_one"})
def nothing_below_the_unigram(counts_by_order, weights, context, token, words):
    """The mixture starts from zero and not from the uniform distribution, so an unseen word gets nothing.

    What does your function give a word that is in `words` but in no table? What do all your probabilities sum
    to?
    """
    return _mixed(0.0, _estimates(counts_by_order, context, token), weights)


@misconception(of="interpolated_prob", fails=MIXTURE_VALUES | {"mixed_probabilities_sum_to_one"})
def uniform_without_the_end(counts_by_order, weights, context, token, words):
    """The uniform distribution is taken over the words alone; `</s>` is missing from V.

    Set every weight to zero and add up your probabilities over the words and `</s>`. How many tokens share
    the one?
    """
    return _mixed(1 / len(words), _estimates(counts_by_order, context, token), weights)


@misconception(
    of="interpolated_prob",
    fails={
        "the_example_is_43_96",
        "mixed_probabilities_sum_to_one",
        "an_unseen_context_leaves_the_shorter_one_to_speak",
        "the_weight_belongs_to_the_longer_context",
        "other_mixtures_have_their_probability",
    },
)
def estimates_added_with_their_weights(counts_by_order, weights, context, token, words):
    """The weighted estimates are added up; the (1 - weight) that the longer ones leave over is missing.

    With weights 0.9, 0.7 and 0.4, what do your probabilities sum to? In the formula, how much is left for
    order 1 after orders 3 and 2 have taken their shares?
    """
    estimates = _estimates(counts_by_order, context, token)
    mixed = [weight * (estimate or 0.0) for weight, estimate in zip(weights, estimates, strict=True)]
    return sum(mixed) + math.prod(1 - weight for weight in weights) / (len(words) + 1)


@misconception(of="interpolated_prob", fails=MIXTURE_VALUES)
def orders_averaged_without_weights(counts_by_order, weights, context, token, words):
    """The orders are averaged with equal weights; `weights` plays no role.

    Set every weight to zero, then to one. Which two answers does the formula give, and which do you?
    """
    estimates = [e for e in _estimates(counts_by_order, context, token) if e is not None]
    return mean([1 / (len(words) + 1), *estimates])


@misconception(
    of="interpolated_prob",
    fails={
        "the_example_is_43_96",
        "an_unseen_context_leaves_the_shorter_one_to_speak",
        "other_mixtures_have_their_probability",
    },
)
def weights_in_reverse_order(counts_by_order, weights, context, token, words):
    """The weights are read from the wrong end: the longest context gets the first weight.

    Which order does `weights[0]` belong to? Follow the example with its weights 1/2 and 3/4 through your
    code.
    """
    return _mixed(1 / (len(words) + 1), _estimates(counts_by_order, context, token), weights[::-1])


# 12. choose_n_and_k

CHOICES = {
    "the_example_chooses_the_bigram",
    "differences_within_the_noise_do_not_count",
    "other_results_are_chosen_from_by_the_rule",
}


def _cost(results, part="heldout"):
    return {setting: mean(bits[part]) for setting, bits in results.items()}


def _standard_error(bits):
    return stdev(bits) / math.sqrt(len(bits))


def _smallest_n(cost, limit):
    return min((s for s in cost if cost[s] <= limit), key=lambda setting: (setting[0], cost[setting]))


def _one_standard_error(results, part):
    cost = _cost(results, part)
    best = min(cost, key=cost.get)
    return _smallest_n(cost, cost[best] + _standard_error(results[best][part]))


@misconception(
    of="choose_n_and_k",
    fails=CHOICES | {"the_training_text_has_no_say", "of_the_smallest_n_the_best_k_is_chosen"},
)
def chosen_on_the_training_text(results):
    """The choice is made by the cost on the training text, where a longer context always looks better.

    Which n would you choose if n could go up to 100? What has such a model learned from its text?
    """
    return _one_standard_error(results, "training")


@misconception(
    of="choose_n_and_k",
    fails={
        "the_example_chooses_the_bigram",
        "the_training_text_has_no_say",
        "of_the_smallest_n_the_best_k_is_chosen",
        "other_results_are_chosen_from_by_the_rule",
    },
)
def chosen_on_all_text_together(results):
    """The held-out bits are averaged with those of the training text, which the models have already seen.

    Half of your average is measured on tokens that the model was trained on. What does that half reward?
    """
    pooled = {s: {"heldout": bits["heldout"] + bits["training"]} for s, bits in results.items()}
    return _one_standard_error(pooled, "heldout")


@misconception(
    of="choose_n_and_k", fails={"the_test_text_has_no_say", "other_results_are_chosen_from_by_the_rule"}
)
def chosen_on_the_test_text(results):
    """The choice is made by the cost on the test text, which was to be kept for the report.

    After you have chosen what suits the test text best, is your test score still what to expect on new text?
    """
    return _one_standard_error(results, "test")


@misconception(of="choose_n_and_k", fails=CHOICES | {"of_the_smallest_n_the_best_k_is_chosen"})
def noise_ignored(results):
    """The setting of lowest held-out cost is chosen, however small its lead over a smaller n.

    Look at the folds of the two best settings of the example. If the text had been cut differently, would the
    same one have won?
    """
    cost = _cost(results)
    return min(cost, key=cost.get)


@misconception(of="choose_n_and_k", fails=CHOICES)
def deviation_of_a_single_fold(results):
    """The limit is one standard deviation of the folds above the lowest cost, not one standard error.

    The mean of four folds is more certain than one of them. By which factor, and where is it in your code?
    """
    cost = _cost(results)
    best = min(cost, key=cost.get)
    return _smallest_n(cost, cost[best] + stdev(results[best]["heldout"]))


@misconception(of="choose_n_and_k", fails=CHOICES)
def deviation_of_the_population(results):
    """The standard deviation is taken with F, not F - 1, in the denominator, so the limit is too low.

    `statistics` has `stdev` and `pstdev`, and torch has `correction`. Which of the two does the statement
    name, and what do you get for two folds?
    """
    cost = _cost(results)
    best = min(cost, key=cost.get)
    folds = results[best]["heldout"]
    return _smallest_n(cost, cost[best] + pstdev(folds) / math.sqrt(len(folds)))


@misconception(of="choose_n_and_k", fails=CHOICES | {"of_the_smallest_n_the_best_k_is_chosen"})
def largest_n_within_the_noise(results):
    """Among the settings that are good enough, the largest n is chosen.

    When several models are equally good as far as anybody can tell, which one does the rule prefer, and why?
    """
    cost = _cost(results)
    best = min(cost, key=cost.get)
    limit = cost[best] + _standard_error(results[best]["heldout"])
    return min((s for s in cost if cost[s] <= limit), key=lambda setting: (-setting[0], cost[setting]))


@misconception(of="choose_n_and_k", fails=CHOICES | {"of_the_smallest_n_the_best_k_is_chosen"})
def luckiest_fold(results):
    """The setting with the lowest bits on any single fold is chosen.

    Give one setting many folds with a wide spread. What happens to its lowest fold, and what to its mean?
    """
    return min(results, key=lambda setting: min(results[setting]["heldout"]))


@misconception(
    of="choose_n_and_k",
    fails={"of_the_smallest_n_the_best_k_is_chosen", "other_results_are_chosen_from_by_the_rule"},
)
def first_good_enough(results):
    """Among the good-enough k of the smallest n, the first in the dict is chosen, not the cheapest.

    The smallest n may be there with several k. What decides among them in the statement, and what in your
    code?
    """
    cost = _cost(results)
    best = min(cost, key=cost.get)
    limit = cost[best] + _standard_error(results[best]["heldout"])
    return min((setting for setting in cost if cost[setting] <= limit), key=lambda setting: setting[0])


not_code(
    "8c",
    "perplexity plotted on a linear axis and misread",
    why="a way of reading a picture, not of writing a function; asked in reading_the_fall",
)


# 14. bpe_train

MERGE_VALUES = {
    "the_example_merges_come_in_order",
    "among_equally_frequent_pairs_the_smallest_goes_first",
    "other_texts_have_their_merges",
}


def _symbols(word):
    return [bytes([byte]) for byte in word.encode()]


def _replaced(row, pair):
    merged = []
    for symbol in row:
        if merged and (merged[-1], symbol) == pair:
            merged[-1] += symbol
        else:
            merged.append(symbol)
    return merged


def _pair_counts(rows):
    """How often each pair can be merged, without overlap."""
    counts = Counter()
    for row in rows:
        counted_at = {}
        for place, pair in enumerate(pairwise(row)):
            if counted_at.get(pair) != place - 1:
                counts[pair] += 1
                counted_at[pair] = place
    return counts


def _most_frequent(counts):
    return min(counts, key=lambda pair: (-counts[pair], pair))


def _trained(rows, n_merges, count=_pair_counts, choose=_most_frequent, replace=_replaced):
    merges = []
    while len(merges) < n_merges and (counts := count(rows)):
        merges.append(choose(counts))
        rows = [replace(row, merges[-1]) for row in rows]
    return merges


@misconception(
    of="bpe_train",
    fails={"a_run_of_one_letter_is_counted_without_overlap", "other_texts_have_their_merges"},
    seen="https://github.com/karpathy/minbpe/pull/72",
)
def overlapping_pairs_counted(words, n_merges):
    """Overlapping occurrences of a pair are all counted, so `aaa` counts the pair of two `a` twice.

    After merging, how many symbols fewer does `aaa` have? How many occurrences can a merge use up at most?
    """
    return _trained(
        [_symbols(word) for word in words],
        n_merges,
        count=lambda rows: Counter(pair for row in rows for pair in pairwise(row)),
    )


@misconception(
    of="bpe_train",
    fails={"among_equally_frequent_pairs_the_smallest_goes_first", "other_texts_have_their_merges"},
    seen="https://github.com/karpathy/minbpe/pull/90",
)
def first_of_equals_merged(words, n_merges):
    """Among equally frequent pairs, the one that was met first in the text is merged.

    Give your function the same words in another order. Do the merges stay the same, and which rule would make
    them?
    """
    rows = [_symbols(word) for word in words]
    return _trained(rows, n_merges, choose=lambda counts: max(counts, key=counts.get))


@misconception(
    of="bpe_train", fails=MERGE_VALUES, seen="https://github.com/huggingface/tokenizers/issues/1065"
)
def last_of_equals_merged(words, n_merges):
    """Among equally frequent pairs, the one that was met last in the text is merged.

    Give your function the same words in another order. Do the merges stay the same, and which rule would make
    them?
    """
    rows = [_symbols(word) for word in words]
    return _trained(rows, n_merges, choose=lambda counts: max(reversed(counts), key=counts.get))


@misconception(
    of="bpe_train", fails=MERGE_VALUES, seen="https://github.com/huggingface/tokenizers/issues/1065"
)
def largest_of_equals_merged(words, n_merges):
    """Among equally frequent pairs, the largest is merged, not the smallest.

    Other programs use that rule, so both can be right, but not both for this statement. Which way does a
    `max` over (count, pair) settle a tie?
    """
    rows = [_symbols(word) for word in words]
    return _trained(rows, n_merges, choose=lambda counts: max(counts, key=lambda pair: (counts[pair], pair)))


@misconception(
    of="bpe_train", fails={"a_frequent_word_counts_as_often_as_it_occurs", "other_texts_have_their_merges"}
)
def word_frequencies_ignored(words, n_merges):
    """Every different word counts once, however often it occurs in the text.

    In which step do repeated words get lost in your code? What should a word that makes up half of the text
    get in its vocabulary first?
    """
    return _trained([_symbols(word) for word in dict.fromkeys(words)], n_merges)


@misconception(
    of="bpe_train",
    fails=MERGE_VALUES
    | {
        "no_pair_crosses_the_border_of_a_word",
        "a_run_of_one_letter_is_merged_from_the_left",
        "training_stops_when_nothing_is_left_to_merge",
    },
)
def words_joined(words, n_merges):
    """The words are joined into one row of bytes, so pairs are found across the borders of words.

    Which two bytes stand next to each other in your row where one word ends and the next begins? Would such a
    symbol ever occur inside a word?
    """
    return _trained([_symbols("".join(words))], n_merges)


@misconception(
    of="bpe_train",
    fails=MERGE_VALUES
    | {
        "a_frequent_word_counts_as_often_as_it_occurs",
        "no_pair_crosses_the_border_of_a_word",
        "a_run_of_one_letter_is_counted_without_overlap",
        "pairs_are_counted_again_after_every_merge",
        "training_stops_when_nothing_is_left_to_merge",
    },
)
def words_joined_with_spaces(words, n_merges):
    """The words are joined with spaces, and the spaces become part of pairs.

    Look for `b" "` in your merges. Does any of `words` contain a space?
    """
    return _trained([_symbols(" ".join(words))], n_merges)


@misconception(
    of="bpe_train",
    fails={
        "the_example_merges_come_in_order",
        "a_run_of_one_letter_is_merged_from_the_left",
        "pairs_are_counted_again_after_every_merge",
        "other_texts_have_their_merges",
    },
    seen="https://github.com/karpathy/minbpe/issues/95",
)
def counted_only_once(words, n_merges):
    """The pairs are counted once at the start, and the most frequent of them are all merged.

    After the first merge of the example, how often does `(b"b", b"c")` still occur? And `(b"ab", b"c")`,
    which did not exist when you counted?
    """
    counts = _pair_counts([_symbols(word) for word in words])
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:n_merges]


@misconception(
    of="bpe_train", fails={"a_run_of_one_letter_is_merged_from_the_left", "other_texts_have_their_merges"}
)
def merged_from_the_right(words, n_merges):
    """A run of one letter is merged from the right: three `a` become `a aa`.

    Write down `aaa` before and after your first merge. At which end does your replacement begin?
    """

    def replaced(row, pair):
        mirrored = _replaced([symbol[::-1] for symbol in row[::-1]], (pair[1][::-1], pair[0][::-1]))
        return [symbol[::-1] for symbol in mirrored[::-1]]

    return _trained([_symbols(word) for word in words], n_merges, replace=replaced)


@misconception(
    of="bpe_train", fails={"a_letter_beyond_ascii_is_several_bytes", "other_texts_have_their_merges"}
)
def letters_instead_of_bytes(words, n_merges):
    """The words are split into letters, so a letter beyond ASCII starts as one symbol of several bytes.

    How long is `"é"`, and how long is `"é".encode()`? What would a vocabulary of letters have to contain to
    spell every text there is?
    """
    return _trained([[letter.encode() for letter in word] for word in words], n_merges)


@misconception(
    of="bpe_train", fails={"training_stops_when_nothing_is_left_to_merge", "other_texts_have_their_merges"}
)
def no_end_of_training(words, n_merges):
    """When no pair is left, the most frequent of no pairs is asked for, and Python raises ValueError.

    Call your function with one word of two letters and five merges. What is there to merge the second time?
    """
    rows, merges = [_symbols(word) for word in words], []
    for _ in range(n_merges):
        merges.append(_most_frequent(_pair_counts(rows)))
        rows = [_replaced(row, merges[-1]) for row in rows]
    return merges


not_code(
    "9f",
    "the example worked by hand in the documentation is wrong",
    why="a mistake of whoever writes the exercise; here the worked example is itself a check",
)


# 15. bpe_encode

ENCODED_VALUES = {"banana_is_b_a_na_na", "the_lowest_rank_is_merged_first", "other_words_are_encoded_by_rank"}


def _encoded(symbols, merges, key):
    """Merge the pair that comes first by key(rank), all its occurrences, until no pair is known."""
    rank = {pair: key(place) for place, pair in enumerate(merges)}
    while known := [pair for pair in pairwise(symbols) if pair in rank]:
        symbols = _replaced(symbols, min(known, key=rank.get))
    return symbols


@misconception(of="bpe_encode", fails=ENCODED_VALUES, seen="https://github.com/huggingface/course/issues/608")
def leftmost_pair_first(word, merges):
    """The leftmost pair that is in `merges` is merged first, whatever its rank.

    Which pair of `abcd` did training merge first, given the merges of the check? Where does your loop find
    out about rank?
    """
    symbols = _symbols(word)
    while True:
        place = next((i for i, pair in enumerate(pairwise(symbols)) if pair in merges), None)
        if place is None:
            return symbols
        symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]


@misconception(of="bpe_encode", fails=ENCODED_VALUES)
def longest_symbol_first(word, merges):
    """The word is cut from the left into the longest symbols that the vocabulary holds.

    That is how WordPiece encodes. For `banana` it finds a longer symbol than the statement does: would
    training, which merged in order of rank, ever have built it here?
    """
    data, symbols = word.encode(), []
    vocabulary = {left + right for left, right in merges}
    while data:
        length = next(n for n in range(len(data), 0, -1) if n == 1 or data[:n] in vocabulary)
        symbols.append(data[:length])
        data = data[length:]
    return symbols


@misconception(
    of="bpe_encode",
    fails={"banana_is_b_a_na_na", "the_lowest_rank_is_merged_first", "other_words_are_encoded_by_rank"},
    seen="https://github.com/rasbt/LLMs-from-scratch/issues/558",
)
def passes_from_left_to_right(word, merges):
    """The word is read from left to right until nothing changes, and rank plays no role.

    In the first reading of `abcd`, which two pairs do you merge, and which of the four was learned first?
    What is left of that one?
    """
    symbols = _symbols(word)
    while True:
        merged, place = [], 0
        while place < len(symbols):
            width = 2 if tuple(symbols[place : place + 2]) in merges else 1
            merged.append(b"".join(symbols[place : place + width]))
            place += width
        if merged == symbols:
            return symbols
        symbols = merged


@misconception(of="bpe_encode", fails=ENCODED_VALUES)
def last_learned_first(word, merges):
    """The pair of highest rank, learned last, is merged first.

    The merges are replayed in the order in which they were learned. Which end of the list is that?
    """
    return _encoded(_symbols(word), merges, key=lambda place: -place)


@misconception(of="bpe_encode", fails=ENCODED_VALUES | {"merged_symbols_are_merged_again"})
def one_pass_over_the_word(word, merges):
    """The word is read once, merging neighbours in twos; what was merged is not looked at again.

    After `abab` has become `ab ab`, is there a pair in `merges` among the new neighbours? How often may a
    loop have to look?
    """
    symbols, merged, place = _symbols(word), [], 0
    while place < len(symbols):
        width = 2 if tuple(symbols[place : place + 2]) in merges else 1
        merged.append(b"".join(symbols[place : place + width]))
        place += width
    return merged


@misconception(of="bpe_encode", fails=ENCODED_VALUES | {"merged_symbols_are_merged_again"})
def symbol_grown_while_it_can(word, merges):
    """The word is read once, and a symbol takes in the next byte as long as their pair is in `merges`.

    Which rank does the pair have that you merge first in `abcd`? What could the second byte have been merged
    with instead?
    """
    merged = []
    for symbol in _symbols(word):
        if merged and (merged[-1], symbol) in merges:
            merged[-1] += symbol
        else:
            merged.append(symbol)
    return merged


@misconception(
    of="bpe_encode",
    fails={
        "banana_is_b_a_na_na",
        "merged_symbols_are_merged_again",
        "every_occurrence_is_merged",
        "other_words_are_encoded_by_rank",
    },
)
def each_merge_used_once(word, merges):
    """The merges are taken in order, but each replaces only the first occurrence of its pair.

    Encode `xyxyxy` by hand with the one merge `(b"x", b"y")`. What tells your loop that a merge is finished?
    """
    symbols = _symbols(word)
    for pair in merges:
        place = next((i for i, found in enumerate(pairwise(symbols)) if found == pair), None)
        if place is not None:
            symbols[place : place + 2] = [pair[0] + pair[1]]
    return symbols


@misconception(
    of="bpe_encode", fails={"words_beyond_ascii_are_encoded_byte_by_byte", "other_words_are_encoded_by_rank"}
)
def word_split_into_letters(word, merges):
    """The word is split into letters before it is encoded, so `é` is one symbol from the start.

    The merges say how `b"\\xc3"` and `b"\\xa9"` become `é`. Do you ever have these two symbols side by side?
    """
    return _encoded([letter.encode() for letter in word], merges, key=lambda place: place)


@misconception(
    of="bpe_encode",
    fails={
        "the_symbols_spell_the_word",
        "words_beyond_ascii_are_encoded_byte_by_byte",
        "other_words_are_encoded_by_rank",
    },
)
def letters_as_single_bytes(word, merges):
    """Every letter is turned into one byte (Latin-1), which is not UTF-8 and ends after 256 letters.

    Join your symbols for `né` and compare them with `"né".encode()`. How many bytes does UTF-8 take for `é`?
    """
    return _encoded([letter.encode("latin-1") for letter in word], merges, key=lambda place: place)


# 16. bpe_decode

DECODED_VALUES = {"bytes_that_are_no_text_are_shown_as_such", "other_texts_come_back_from_their_bytes"}


@misconception(of="bpe_decode", fails=DECODED_VALUES | {"a_letter_may_be_spread_over_symbols"})
def decoded_symbol_by_symbol(symbols):
    """Each symbol is decoded on its own, and half a letter raises UnicodeDecodeError.

    Which of the symbols of the example is a text by itself? When are all bytes of the `é` together?
    """
    return "".join(symbol.decode() for symbol in symbols)


@misconception(
    of="bpe_decode", fails={"a_letter_may_be_spread_over_symbols", "other_texts_come_back_from_their_bytes"}
)
def replaced_symbol_by_symbol(symbols):
    """Each symbol is decoded on its own, so a letter spread over two symbols becomes replacement characters.

    In which of your steps were the two bytes of `é` last next to each other? What would have to happen before
    the decoding?
    """
    return "".join(symbol.decode(errors="replace") for symbol in symbols)


@misconception(of="bpe_decode", fails=DECODED_VALUES)
def whole_text_or_error(symbols):
    """The bytes are joined and decoded strictly, so invalid UTF-8 raises UnicodeDecodeError.

    A model may emit any symbols. What should a reader see in the place of half a letter, and which argument
    of `decode` says so?
    """
    return b"".join(symbols).decode()


@misconception(of="bpe_decode", fails=DECODED_VALUES)
def invalid_bytes_dropped(symbols):
    """Bytes that are no valid UTF-8 are dropped without a trace.

    How would a reader of your text know that something was missing? Which values can `errors` have?
    """
    return b"".join(symbols).decode(errors="ignore")


@misconception(of="bpe_decode", fails=DECODED_VALUES | {"a_letter_may_be_spread_over_symbols"})
def bytes_read_as_letters(symbols):
    """Every byte is read as one letter (Latin-1), so `é` comes out as two letters.

    What do you get for `[b"\\xc3\\xa9"]`? In which encoding were the bytes made?
    """
    return b"".join(symbols).decode("latin-1")


@misconception(
    of="bpe_decode",
    fails=DECODED_VALUES | {"plain_symbols_become_their_text", "a_letter_may_be_spread_over_symbols"},
)
def symbols_joined_with_spaces(symbols):
    """A space is put between the symbols.

    Symbols are pieces of words. Where do the spaces of a text live after encoding?
    """
    return b" ".join(symbols).decode(errors="replace")


# 17. split_special

PIECE_VALUES = {
    "every_special_token_is_cut_out",
    "the_longer_special_token_counts",
    "other_texts_are_cut_at_their_special_tokens",
}


@misconception(of="split_special", fails=PIECE_VALUES | {"the_example_text_has_five_pieces"})
def special_tokens_not_cut(text, special_tokens):
    """The text is returned whole, so special tokens will be split into bytes like ordinary text.

    What would BPE make of `<|end|>` if nobody had told it? Which piece of your answer is the special token?
    """
    return [text] if text else []


@misconception(
    of="split_special", fails=PIECE_VALUES | {"the_example_text_has_five_pieces", "the_pieces_spell_the_text"}
)
def special_tokens_lost(text, special_tokens):
    """The text is cut at the special tokens, but the tokens themselves are gone.

    Join your pieces and compare with the text. What does `re.split` do differently when the pattern is in
    parentheses?
    """
    if not special_tokens:
        return [text] if text else []
    longest_first = sorted(special_tokens, key=len, reverse=True)
    return [piece for piece in re.split("|".join(map(re.escape, longest_first)), text) if piece]


@misconception(
    of="split_special",
    fails={"the_example_text_has_five_pieces", "other_texts_are_cut_at_their_special_tokens"},
)
def pattern_not_escaped(text, special_tokens):
    """The special tokens are put into the pattern as they are, and `|` in `<|end|>` means "or" there.

    Which pieces do you get for `<|end|>`? Which characters have a meaning of their own in a regular
    expression?
    """
    if not special_tokens:
        return [text] if text else []
    longest_first = sorted(special_tokens, key=len, reverse=True)
    return [piece for piece in re.split(f"({'|'.join(longest_first)})", text) if piece]


@misconception(
    of="split_special",
    fails=PIECE_VALUES
    | {
        "the_example_text_has_five_pieces",
        "the_pieces_spell_the_text",
        "without_special_tokens_the_text_is_one_piece",
    },
)
def empty_pieces_kept(text, special_tokens):
    """Where two special tokens touch, or one stands at an end, an empty piece is left.

    What lies between two special tokens that follow each other? Does the statement want it?
    """
    if not special_tokens:
        return [text]
    longest_first = sorted(special_tokens, key=len, reverse=True)
    return re.split(f"({'|'.join(map(re.escape, longest_first))})", text)


@misconception(
    of="split_special",
    fails={"the_longer_special_token_counts", "other_texts_are_cut_at_their_special_tokens"},
)
def listed_order_decides(text, special_tokens):
    """Where two special tokens fit, the one that is listed first is taken, not the longer one.

    Swap the two special tokens in the list. Do your pieces change? What does a pattern `a|ab` find in `ab`?
    """
    if not special_tokens:
        return [text] if text else []
    return [piece for piece in re.split(f"({'|'.join(map(re.escape, special_tokens))})", text) if piece]


@misconception(
    of="split_special",
    fails={"the_longer_special_token_counts", "other_texts_are_cut_at_their_special_tokens"},
)
def shortest_first(text, special_tokens):
    """Where two special tokens fit, the shorter one is taken, and the longer one is never found.

    Is there any text in which your function finds `<s><s>`? Which of the two has to be looked for first?
    """
    if not special_tokens:
        return [text] if text else []
    pattern = "|".join(map(re.escape, sorted(special_tokens, key=len)))
    return [piece for piece in re.split(f"({pattern})", text) if piece]


@misconception(
    of="split_special",
    fails={"without_special_tokens_the_text_is_one_piece", "other_texts_are_cut_at_their_special_tokens"},
)
def cut_everywhere_without_tokens(text, special_tokens):
    """With no special tokens the pattern is empty, and an empty pattern fits between any two letters.

    Print your pattern for an empty list. Where does it match, and what should happen to a text without marks?
    """
    pattern = "|".join(map(re.escape, sorted(special_tokens, key=len, reverse=True)))
    return [piece for piece in re.split(f"({pattern})", text) if piece]


@misconception(of="split_special", fails=PIECE_VALUES)
def only_the_first_special_token(text, special_tokens):
    """The text is cut at the first special token of the list only.

    Give your function two special tokens and a text that contains both. Which of them is still inside a
    piece?
    """
    if not special_tokens:
        return [text] if text else []
    return [piece for piece in re.split(f"({re.escape(special_tokens[0])})", text) if piece]


# 18. bits_per_byte

BYTE_VALUES = {
    "the_example_costs_one_and_a_half_bits_per_byte",
    "guessing_bytes_blindly_costs_eight_bits",
    "other_texts_have_their_bits_per_byte",
}


@misconception(
    of="bits_per_byte",
    fails={
        "the_example_costs_one_and_a_half_bits_per_byte",
        "a_letter_beyond_ascii_weighs_as_much_as_its_bytes",
        "other_texts_have_their_bits_per_byte",
    },
)
def bits_per_character(token_log_probs, text):
    """The bits are divided by the number of characters, not of bytes.

    What is `len("née")`, and how many bytes does it have in UTF-8? Which of the two does a model over bytes
    have to predict?
    """
    return -sum(token_log_probs) / math.log(2) / len(text)


@misconception(of="bits_per_byte", fails=BYTE_VALUES)
def nats_per_byte(token_log_probs, text):
    """The answer is in nats per byte: the log-probabilities are not converted to bits.

    Guessing bytes blindly costs 8 bits each. What do you answer, and which number connects the two?
    """
    return -sum(token_log_probs) / len(text.encode())


@misconception(of="bits_per_byte", fails=BYTE_VALUES)
def nats_taken_for_bits_the_other_way(token_log_probs, text):
    """The nats are multiplied by ln 2 where they should be divided by it.

    A probability of 1/2 is ln 2 nats. How many bits is it, and which operation leads from one to the other?
    """
    return -sum(token_log_probs) * math.log(2) / len(text.encode())


@misconception(
    of="bits_per_byte",
    fails={
        "the_example_costs_one_and_a_half_bits_per_byte",
        "the_same_price_in_more_tokens_is_the_same",
        "other_texts_have_their_bits_per_byte",
    },
    seen="https://feedman.me/posts/z0ljG",
)
def bits_per_token(token_log_probs, text):
    """The bits are divided by the number of tokens, which is what makes tokenizers incomparable.

    Cut the same text into twice as many tokens that cost the same in total. What happens to your answer, and
    what should?
    """
    return -sum(token_log_probs) / math.log(2) / len(token_log_probs)


@misconception(of="bits_per_byte", fails=BYTE_VALUES | {"the_same_price_in_more_tokens_is_the_same"})
def average_token_shared_among_bytes(token_log_probs, text):
    """The mean over the tokens is divided by the bytes, so the text is divided twice.

    The model pays for every token. Of which quantity is bits per byte a share: of the price of one token, or
    of the whole text?
    """
    return -mean(token_log_probs) / math.log(2) / len(text.encode())


@misconception(of="bits_per_byte", fails=BYTE_VALUES)
def negative_bits(token_log_probs, text):
    """The answer has the opposite sign: a cost below zero.

    Which sign has the logarithm of a probability? Is a model that pays 8 bits per byte better or worse than
    one that pays 1?
    """
    return sum(token_log_probs) / math.log(2) / len(text.encode())


# 19. cheapest_model

PRICE_VALUES = {
    "the_words_are_cheapest_in_the_example",
    "the_lowest_perplexity_need_not_win",
    "other_models_are_compared_by_their_whole_price",
}


def _complete(reports):
    return {name: report for name, report in reports.items() if report["n_unknown"] == 0}


def _bits(report):
    return report["n_tokens"] * math.log2(report["perplexity"])


@misconception(
    of="cheapest_model",
    fails=PRICE_VALUES | {"a_model_that_skipped_words_is_left_out"},
    seen="https://feedman.me/posts/z0ljG",
)
def perplexities_compared_directly(reports):
    """The lowest perplexity per token wins, although the models have different tokens.

    A model over letters has a low perplexity at each of very many steps. What does it pay for the whole text?
    """
    return min(_complete(reports), key=lambda name: reports[name]["perplexity"])


@misconception(
    of="cheapest_model",
    fails={"a_model_that_skipped_words_is_left_out", "other_models_are_compared_by_their_whole_price"},
    seen="https://github.com/mitlm/mitlm/issues/28",
)
def unknown_tokens_let_through(reports):
    """The whole text is priced rightly, but models with unknown tokens take part.

    What did such a model say about a word it does not know, and what would it have cost to spell it?
    """
    return min(reports, key=lambda name: _bits(reports[name]))


@misconception(of="cheapest_model", fails=PRICE_VALUES | {"a_model_that_skipped_words_is_left_out"})
def lowest_perplexity_of_all(reports):
    """The lowest perplexity per token wins, and models with unknown tokens take part.

    There are two reasons why two perplexities may not be comparable, and the table of the statement has a
    column for each. Which columns does your code not read?
    """
    return min(reports, key=lambda name: reports[name]["perplexity"])


@misconception(of="cheapest_model", fails=PRICE_VALUES)
def perplexity_times_tokens(reports):
    """Perplexity is multiplied by the number of tokens, as if it were a price per token.

    Perplexity is a number of choices. What does one choice among 64 cost in bits, and what does a choice
    among 4?
    """
    return min(_complete(reports), key=lambda name: reports[name]["perplexity"] * reports[name]["n_tokens"])


@misconception(
    of="cheapest_model",
    fails={"the_lowest_perplexity_need_not_win", "other_models_are_compared_by_their_whole_price"},
)
def fewest_tokens(reports):
    """The model whose tokenizer makes the fewest tokens wins, whatever it pays for each.

    A tokenizer with the whole text as one token would win with you. What would its model have to pay for that
    token?
    """
    return min(_complete(reports), key=lambda name: reports[name]["n_tokens"])


@misconception(of="cheapest_model", fails=PRICE_VALUES | {"a_model_that_skipped_words_is_left_out"})
def dearest_model(reports):
    """The model that pays the most bits for the text wins.

    Is a model that needs more bits for the same text better or worse? Which of `min` and `max` do you use?
    """
    return max(_complete(reports), key=lambda name: _bits(reports[name]))
