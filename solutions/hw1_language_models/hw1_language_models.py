# %% [markdown]
# # Homework 1: language models
#
# You build the ideas of lectures 01 to 04 yourself: the probability of a sentence, the perplexity of a corpus
# and the floor below which no model can go; then n-gram models with their smoothing; then a byte-pair
# tokenizer, and the one unit in which models with different tokenizers can be compared.
#
# | part | about | minutes |
# |---|---|---|
# | A | chain rule, perplexity, entropy rate | 75 |
# | B | n-gram models | 90 |
# | C | byte-pair encoding, bits per byte | 80 |
#
# Each exercise is a statement, a function for you to write, and its checks. A check is a claim such as "`<s>`
# is given, not predicted". It says whether the claim holds for your function and, where it can, which mistake
# your numbers look like. Some checks are kept back for grading: they make the same claims about other sizes
# and other numbers. The exercises do not build on each other's code, so take them in any order.
#
# Words used throughout: a **token** is one unit of text, a **context** is what comes before a token, and
# `vocab_size` is the number of different tokens that can be predicted. Logarithms are natural, in **nats**,
# unless a statement says **bits**, which are logarithms to base 2.

# %% [markdown] rules

# %% setup

# %% provided="imports"
import math
from collections import Counter

import torch
from torch import Tensor

from course.checks import assert_close, assert_depends, assert_equal, assert_true, homework

BOS, EOS = "<s>", "</s>"  # every sentence begins with the first and ends with the second

check = homework("hw1_language_models")


# %% [markdown]
# ## Part A. Chain rule, perplexity, and the floor

# %% [markdown] exercise="sequence_log_prob" difficulty=1 minutes=10
# ### 1. The log-probability of a sentence
#
# A language model reads tokens from left to right and predicts each next one. The chain rule multiplies these
# predictions into the probability of the whole sentence:
#
# $$P(x_1, \dots, x_T) = \prod_{t=1}^{T} P(x_t \mid x_0, \dots, x_{t-1})$$
#
# Here $x_0$ is `<s>`, which is given and not predicted, and $x_T$ is `</s>`, which is predicted like any
# word. A product of a few hundred probabilities is smaller than the smallest float, so logarithms are added
# instead.
#
# Write `sequence_log_prob(log_probs, tokens)`, which returns $\ln P(x_1, \dots, x_T)$ as one number.
#
# | argument | shape | meaning |
# |---|---|---|
# | `log_probs` | (T + 1, vocab_size), float64 | row $t$ holds $\ln P(x_{t+1} \mid x_0, \dots, x_t)$ |
# | `tokens` | (T + 1,), int64 | the sentence $x_0, \dots, x_T$ |
#
# Row $t$ is what the model says after reading `tokens[t]`; the last row is what it says after `</s>`.
#
# **Example.** The vocabulary is 0 = `<s>`, 1 = `</s>`, 2 = where, 3 = are. The sentence `<s> where are </s>`
# is `tokens = [0, 2, 3, 1]`, and the model's probabilities, before the logarithm, are
#
# | after | `<s>` | `</s>` | where | are |
# |---|---|---|---|---|
# | `<s>` | 1/8 | 1/8 | 1/2 | 1/4 |
# | where | 1/8 | 1/2 | 1/8 | 1/4 |
# | are | 1/4 | 1/8 | 1/2 | 1/8 |
# | `</s>` | 1/2 | 1/4 | 1/8 | 1/8 |
#
# After `<s>` the model gives *where* 1/2, after *where* it gives *are* 1/4, after *are* it gives `</s>` 1/8.
# Together 1/64, so the answer is $\ln(1/64) \approx -4.1589$.
#
# <details><summary>Hint 1</summary>
#
# For the example, write down which row and which column of the table each of the three factors comes from.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `tokens` has one entry more than there are predictions, and so has `log_probs`. Which end of each has no
# partner?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# If long sentences give minus infinity, look for a place where you leave the logarithms and come back to
# them.
#
# </details>


# %% solution="sequence_log_prob"
def sequence_log_prob(log_probs: Tensor, tokens: Tensor) -> float:
    """The natural logarithm of a sentence's probability: log_probs (T + 1, vocab_size), tokens (T + 1,)."""
    ### BEGIN SOLUTION
    predictions, predicted = log_probs[:-1], tokens[1:]  # (T, vocab_size), (T,)
    return predictions.gather(1, predicted[:, None]).sum().item()
    ### END SOLUTION


# %% check="the_example_sentence_has_probability_one_in_64" points=1
def the_example_sentence_has_probability_one_in_64(sequence_log_prob):
    """The sentence of the example has the log-probability ln(1/64)."""
    eighths = torch.tensor([[1, 1, 4, 2], [1, 4, 1, 2], [2, 1, 4, 1], [4, 2, 1, 1]], dtype=torch.float64)
    tokens = torch.tensor([0, 2, 3, 1])
    assert_close(sequence_log_prob((eighths / 8).log(), tokens), math.log(1 / 64))


check(the_example_sentence_has_probability_one_in_64, sequence_log_prob)


# %% check="the_first_word_is_scored" points=1
def the_first_word_is_scored(sequence_log_prob, draw):
    """When the model finds the first word likelier, the sentence becomes likelier."""
    log_probs, tokens = draw.probabilities(6, 9).log(), torch.tensor([0, 4, 7, 2, 5, 1])
    likelier = log_probs.clone()
    likelier[0, 4] += 0.7
    before, after = sequence_log_prob(log_probs, tokens), sequence_log_prob(likelier, tokens)
    assert_true(after > before, f"With a likelier first word the answer went from {before} to {after}.")


check(the_first_word_is_scored, sequence_log_prob)


# %% check="the_end_of_the_sentence_is_scored" points=1
def the_end_of_the_sentence_is_scored(sequence_log_prob, draw):
    """When the model finds `</s>` likelier after the last word, the sentence becomes likelier."""
    log_probs, tokens = draw.probabilities(6, 9).log(), torch.tensor([0, 8, 3, 6, 2, 1])
    likelier = log_probs.clone()
    likelier[4, 1] += 0.7
    before, after = sequence_log_prob(log_probs, tokens), sequence_log_prob(likelier, tokens)
    assert_true(after > before, f"With a likelier ending the answer went from {before} to {after}.")


check(the_end_of_the_sentence_is_scored, sequence_log_prob)


# %% check="the_opening_token_is_not_scored" points=1
def the_opening_token_is_not_scored(sequence_log_prob, draw):
    """`<s>` is given, not predicted: how likely the model finds it changes nothing."""
    log_probs, tokens = draw.probabilities(5, 7).log(), torch.tensor([0, 3, 6, 2, 1])
    likelier = log_probs.clone()
    likelier[:, 0] += 0.9
    answer = sequence_log_prob(log_probs, tokens)
    assert_close(sequence_log_prob(likelier, tokens), answer)
    assert_depends(answer, sequence_log_prob(2 * log_probs, tokens))


check(the_opening_token_is_not_scored, sequence_log_prob)


# %% check="nothing_is_scored_after_the_end" points=1
def nothing_is_scored_after_the_end(sequence_log_prob, draw):
    """What the model says after `</s>` changes nothing."""
    log_probs, tokens = draw.probabilities(5, 8).log(), torch.tensor([0, 5, 2, 7, 1])
    other = log_probs.clone()
    other[-1] = draw.probabilities(8).log() - 1
    answer = sequence_log_prob(log_probs, tokens)
    assert_close(sequence_log_prob(other, tokens), answer)
    assert_depends(answer, sequence_log_prob(2 * log_probs, tokens))


check(nothing_is_scored_after_the_end, sequence_log_prob)


# %% check="a_long_sentence_stays_finite" points=1
def a_long_sentence_stays_finite(sequence_log_prob):
    """A sentence of 900 tokens, each of probability 1/50, has a finite log-probability."""
    log_probs, tokens = torch.full((901, 50), math.log(1 / 50), dtype=torch.float64), torch.arange(901) % 50
    answer = sequence_log_prob(log_probs, tokens)
    assert_true(math.isfinite(answer), f"The answer is {answer}.")
    assert_depends(answer, sequence_log_prob(2 * log_probs, tokens))


check(a_long_sentence_stays_finite, sequence_log_prob)


# %% check="other_sentences_add_their_log_probs" points=2 hidden
def other_sentences_add_their_log_probs(sequence_log_prob, draw):
    """Sentences of other lengths get the sum of their tokens' log-probabilities."""
    for length, vocab_size in ((1, 4), (12, 31), (350, 17)):
        log_probs = draw.probabilities(length + 1, vocab_size).log()
        middle = draw.integers(2, vocab_size, length - 1)
        tokens = torch.cat([torch.tensor([0]), middle, torch.tensor([1])])
        expected = sum(log_probs[t - 1, tokens[t]].item() for t in range(1, length + 1))
        assert_close(sequence_log_prob(log_probs, tokens), expected)


check(other_sentences_add_their_log_probs, sequence_log_prob)


# %% provided="batches"
def as_batch(sentences, *, width=None, filler=-0.5, penalty=0.1):
    """Sentences, each a list of its tokens' log-probabilities, padded on the right to one rectangle.

    `filler` is what the model said at padded places, `penalty` what training added to the loss.
    """
    width = width or max(len(sentence) for sentence in sentences)
    padded = [list(sentence) + [filler] * (width - len(sentence)) for sentence in sentences]
    lengths = torch.tensor([len(sentence) for sentence in sentences])
    nll = -sum(sum(sentence) for sentence in sentences)
    return {
        "token_log_probs": torch.tensor(padded, dtype=torch.float64),
        "is_token": torch.arange(width) < lengths[:, None],
        "training_loss": nll / int(lengths.sum()) + penalty,
    }


# %% [markdown] exercise="corpus_perplexity" difficulty=2 minutes=15
# ### 2. The perplexity of a corpus
#
# Perplexity is the exponential of the average negative log-probability, and the average runs over **all $N$
# tokens of the corpus**:
#
# $$\text{perplexity} = \exp\Big(-\frac{1}{N} \sum_{i=1}^{N} \ln P(x_i \mid \text{its context})\Big)$$
#
# It sounds harmless. Published libraries have got it wrong, because the tokens arrive in batches of
# sentences, the sentences are of unequal length, and the shorter ones are padded.
#
# Write `corpus_perplexity(batches)`, which returns the perplexity of the whole corpus as one number.
# `batches` is a list; each batch is a dict:
#
# | key | shape | meaning |
# |---|---|---|
# | `"token_log_probs"` | (batch, time), float64 | $\ln P$ of each token; some number at padded places |
# | `"is_token"` | (batch, time), bool | True where there is a token, False where there is padding |
# | `"training_loss"` | a float | the mean negative log-probability, **plus a penalty on large weights** |
#
# `</s>` is a token like the others and already included; `<s>` is not there, as nothing predicts it.
#
# **Example.** Batch one holds a sentence of three tokens of probability 1/2 each, and a sentence of one token
# of probability 1/8 with two padded places. Batch two holds a sentence of two tokens of probability 1/8 each.
# In bits the six tokens cost 1 + 1 + 1 + 3 + 3 + 3 = 12, which is 2 bits per token, so the perplexity is
# $2^2 = 4$. (In nats: $\exp(12 \ln 2 / 6)$, the same number.)
#
# <details><summary>Hint 1</summary>
#
# Two numbers describe the corpus completely. Which two, and what must happen to them from batch to batch?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A tensor indexed with a tensor of bools of the same shape, `values[keep]`, gives the values where `keep` is
# True.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Divide once, take the exponential once, and do both after the last batch.
#
# </details>


# %% solution="corpus_perplexity"
def corpus_perplexity(batches: list[dict]) -> float:
    """The perplexity over all tokens of all batches; "token_log_probs" and "is_token" are (batch, time)."""
    ### BEGIN SOLUTION
    nll, n_tokens = 0.0, 0
    for batch in batches:
        nll -= batch["token_log_probs"][batch["is_token"]].sum().item()
        n_tokens += batch["is_token"].sum().item()
    return math.exp(nll / n_tokens)
    ### END SOLUTION


# %% check="the_example_corpus_has_perplexity_4" points=1
def the_example_corpus_has_perplexity_4(corpus_perplexity):
    """The corpus of the example has perplexity 4."""
    half, eighth = math.log(1 / 2), math.log(1 / 8)
    batches = [as_batch([[half, half, half], [eighth]]), as_batch([[eighth, eighth]])]
    assert_close(corpus_perplexity(batches), 4.0)


check(the_example_corpus_has_perplexity_4, corpus_perplexity)


# %% check="a_uniform_model_has_perplexity_vocab_size" points=1
def a_uniform_model_has_perplexity_vocab_size(corpus_perplexity):
    """A model that gives each of 13 tokens the probability 1/13 has perplexity 13."""
    one = math.log(1 / 13)
    assert_close(corpus_perplexity([as_batch([[one] * 6, [one] * 6], penalty=0.0)]), 13.0)


check(a_uniform_model_has_perplexity_vocab_size, corpus_perplexity)


# %% check="every_token_weighs_the_same" points=1
def every_token_weighs_the_same(corpus_perplexity, draw):
    """When a token of a short sentence changes places with one of a long sentence, nothing changes."""
    easy, hard = draw.number(-0.4, -0.2), draw.number(-7, -5)
    before = as_batch([[easy] * 9, [hard, hard]])
    after = as_batch([[hard] + [easy] * 8, [easy, hard]])
    answer = corpus_perplexity([before])
    assert_close(corpus_perplexity([after]), answer)
    assert_depends(answer, corpus_perplexity([as_batch([[easy] * 9])]))


check(every_token_weighs_the_same, corpus_perplexity)


# %% check="the_cut_into_batches_does_not_matter" points=1
def the_cut_into_batches_does_not_matter(corpus_perplexity, draw):
    """The same sentences in one batch or in several have the same perplexity."""
    easy, hard = draw.number(-0.4, -0.2), draw.number(-7, -5)
    long, short, middle = [easy] * 7, [hard] * 2, [hard, easy, easy]
    apart = [as_batch([long, middle], width=8), as_batch([short], width=8)]
    together = [as_batch([long, short, middle], width=8)]
    answer = corpus_perplexity(together)
    assert_close(corpus_perplexity(apart), answer)
    assert_depends(answer, corpus_perplexity([as_batch([long])]))


check(the_cut_into_batches_does_not_matter, corpus_perplexity)


# %% check="padding_does_not_matter" points=1
def padding_does_not_matter(corpus_perplexity, draw):
    """More padding, and other numbers in it, change nothing."""
    sentences = [draw.uniform(length, low=-6, high=-1).tolist() for length in (2, 7, 3)]
    padded = as_batch(sentences, width=19, filler=-11.0)
    answer = corpus_perplexity([as_batch(sentences)])
    assert_close(corpus_perplexity([padded]), answer)
    assert_depends(answer, corpus_perplexity([as_batch([[-0.5] * 4])]))


check(padding_does_not_matter, corpus_perplexity)


# %% check="the_penalty_does_not_matter" points=1
def the_penalty_does_not_matter(corpus_perplexity, draw):
    """A larger penalty on the weights, with the same predictions, changes nothing."""
    sentences = [draw.uniform(length, low=-6, high=-1).tolist() for length in (5, 4)]
    penalised = as_batch(sentences, penalty=1.7)
    answer = corpus_perplexity([as_batch(sentences)])
    assert_close(corpus_perplexity([penalised]), answer)
    assert_depends(answer, corpus_perplexity([as_batch([[-0.5] * 4])]))


check(the_penalty_does_not_matter, corpus_perplexity)


# %% check="a_long_corpus_stays_finite" points=1
def a_long_corpus_stays_finite(corpus_perplexity):
    """Three thousand tokens of probability 1/32 have a finite perplexity."""
    answer = corpus_perplexity([as_batch([[math.log(1 / 32)] * 100] * 30)])
    assert_true(math.isfinite(answer), f"The answer is {answer}.")
    assert_depends(answer, corpus_perplexity([as_batch([[math.log(1 / 2)] * 100])]))


check(a_long_corpus_stays_finite, corpus_perplexity)


# %% check="other_corpora_have_their_perplexity" points=2 hidden
def other_corpora_have_their_perplexity(corpus_perplexity, draw):
    """Corpora of other sizes and cuts have the perplexity of all tokens together."""
    sentences = [draw.uniform(length, low=-9, high=-0.1).tolist() for length in (1, 14, 3, 6, 2, 250)]
    log_probs = [value for sentence in sentences for value in sentence]
    expected = math.exp(-math.fsum(log_probs) / len(log_probs))
    batches = [as_batch(sentences[:2], width=20), as_batch(sentences[2:5]), as_batch(sentences[5:])]
    assert_close(corpus_perplexity(batches), expected)
    assert_close(corpus_perplexity([as_batch([sentence]) for sentence in sentences]), expected)


check(other_corpora_have_their_perplexity, corpus_perplexity)

# %% [markdown] exercise="branching_factor" difficulty=1 minutes=10 forbids="torch.distributions,torch.distributions.Categorical"
# ### 3. Perplexity as a branching factor
#
# A single distribution has a perplexity too: two to the power of its entropy,
#
# $$H = -\sum_i p_i \log_2 p_i \text{ bits}, \qquad \text{perplexity} = 2^H.$$
#
# It answers the question "as hard as choosing among how many equally likely outcomes?". Two classics: a
# random digit, and a telephone operator who hears "operator", "sales" or "technical support" a quarter of the
# time each, and in the remaining quarter one of 30,000 equally likely names. There are 30,003 things to say,
# but the line does not branch 30,003 ways: its perplexity is 52.6. (Jurafsky and Martin, *Speech and Language
# Processing*.)
#
# Write `branching_factor(probs)`, which returns the perplexity of a distribution as one number. `probs` has
# shape (n_outcomes,), float64, and sums to one. An outcome of probability zero never happens and contributes
# nothing to $H$. Do not use `torch.distributions`.
#
# **Example.** `torch.tensor([1/2, 1/4, 1/4])` has
# $H = \frac12 \cdot 1 + \frac14 \cdot 2 + \frac14 \cdot 2 = 1.5$ bits and perplexity $2^{1.5} \approx 2.828$.
#
# <details><summary>Hint 1</summary>
#
# The surprise of an outcome is $-\log_2 p_i$. The entropy is its average: how often is each surprise met?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The base of the logarithm and the base of the power must be the same. What is $p \log p$ for $p = 0$, in the
# limit and in torch? (`torch.xlogy` may be of use.)
#
# </details>


# %% solution="branching_factor"
def branching_factor(probs: Tensor) -> float:
    """The number of equally likely outcomes as hard to predict as one drawn from probs (n_outcomes,)."""
    ### BEGIN SOLUTION
    bits = -torch.xlogy(probs, probs).sum().item() / math.log(2)
    return 2**bits
    ### END SOLUTION


# %% provided="distributions"
def distribution(*probs):
    """Probabilities as a float64 tensor."""
    return torch.tensor(probs, dtype=torch.float64)


# %% check="the_example_branches_2_8_fold" points=1
def the_example_branches_2_8_fold(branching_factor):
    """One half and two quarters branch 2.828-fold."""
    assert_close(branching_factor(distribution(1 / 2, 1 / 4, 1 / 4)), 2**1.5)


check(the_example_branches_2_8_fold, branching_factor)


# %% check="random_digits_branch_tenfold" points=1
def random_digits_branch_tenfold(branching_factor):
    """Ten equally likely digits have perplexity 10."""
    assert_close(branching_factor(distribution(*[1 / 10] * 10)), 10.0)


check(random_digits_branch_tenfold, branching_factor)


# %% check="the_operator_hears_52_6_equally_likely_things" points=1
def the_operator_hears_52_6_equally_likely_things(branching_factor):
    """Three requests of 1/4 and 30,000 names of 1/120,000 have perplexity 52.6."""
    names = torch.full((30_000,), 1 / 120_000, dtype=torch.float64)
    said = torch.cat([distribution(1 / 4, 1 / 4, 1 / 4), names])
    assert_close(branching_factor(said), 4 ** (3 / 4) * 120_000 ** (1 / 4))


check(the_operator_hears_52_6_equally_likely_things, branching_factor)


# %% check="what_never_happens_does_not_count" points=1
def what_never_happens_does_not_count(branching_factor):
    """Outcomes of probability zero leave the perplexity as it is."""
    possible = branching_factor(distribution(0.7, 0.3))
    assert_close(branching_factor(distribution(0.0, 0.7, 0.0, 0.3, 0.0)), possible)
    assert_depends(possible, branching_factor(distribution(0.4, 0.2, 0.3, 0.1)))


check(what_never_happens_does_not_count, branching_factor)


# %% check="independent_choices_multiply" points=1 hidden
def independent_choices_multiply(branching_factor, draw):
    """Two independent choices together branch as often as the product of both."""
    first, second = draw.probabilities(3), draw.probabilities(5)
    both = branching_factor((first[:, None] * second).flatten())
    one = branching_factor(first)
    assert_close(both, one * branching_factor(second))
    assert_depends(both, one)


check(independent_choices_multiply, branching_factor)


# %% check="other_distributions_have_their_perplexity" points=1 hidden
def other_distributions_have_their_perplexity(branching_factor, draw):
    """Other distributions have the product of all (1/p) to the power p."""
    for size in (2, 7, 23):
        probs = draw.probabilities(size)
        expected = math.prod((1 / p) ** p for p in probs.tolist())
        assert_close(branching_factor(torch.cat([probs, distribution(0.0)])), expected)


check(other_distributions_have_their_perplexity, branching_factor)

# %% [markdown]
# ### Shannon's game
#
# In 1951 Claude Shannon measured the entropy of English with people as language models: guess the next letter
# until you have it, and write down how many guesses it took. Play a sentence: set `PLAY = True` in the second
# cell and run it. (No points. Nothing is sent anywhere.)
#
# If a share $q_i$ of the letters needed $i$ guesses, then $-\sum_i q_i \log_2 q_i$ bounds the bits per letter
# from above: whoever knows how you guess can recover the text from the numbers alone. One sentence is a small
# sample, so take your result as a rough one. With 26 letters and the space, guessing blindly costs
# $\log_2 27 = 4.75$ bits.

# %% provided="shannons_game"
SENTENCES_TO_GUESS = (
    "the rabbit took a watch out of its pocket and hurried on",
    "no one who had ever seen her would have supposed her born to be a heroine",
    "there is a grandeur in this view of life with its several powers",
    "it was a bright cold morning and the harbour was still asleep",
)


def shannons_game(sentence, n_given=10, ask=input):
    """Ask for each letter after the first `n_given` until it is guessed; the numbers of guesses needed."""
    guesses = []
    for position in range(n_given, len(sentence)):
        tried = []
        while sentence[position] not in tried:
            answer = ask(f"{sentence[:position]}▁   not: {' '.join(tried) or '–'}   next letter? ")
            tried.append(answer[:1].lower() or " ")
        guesses.append(len(tried))
    return guesses


def bits_per_letter(guesses):
    """The entropy of the number of guesses: Shannon's upper bound on the bits per letter."""
    shares = [count / len(guesses) for count in Counter(guesses).values()]
    return -sum(share * math.log2(share) for share in shares)


# %%
PLAY = False  # True, then run this cell; the space bar or Enter guesses a space
if PLAY:
    guesses = shannons_game(SENTENCES_TO_GUESS[0])
    print(f"{guesses}\nat most about {bits_per_letter(guesses):.2f} bits per letter; blind guessing: 4.75")

# %% [markdown] exercise="entropy_rate" difficulty=3 minutes=20
# ### 4. The floor: the entropy rate of a source
#
# A Markov source emits tokens 0, 1, …, and the next one depends on the present one alone: `transition[i, j]`
# is $P(x_{t+1} = j \mid x_t = i)$. From every token it can reach every other. In the long run it emits token
# $i$ a fixed share $\pi_i$ of the time. These shares, the stationary distribution, reproduce themselves:
#
# $$\pi_j = \sum_i \pi_i \, \text{transition}[i, j], \qquad \sum_i \pi_i = 1.$$
#
# After token $i$, the next token has the entropy of row $i$. Averaged over where the source is, that is the
# **entropy rate**,
#
# $$H = \sum_i \pi_i \Big(-\sum_j \text{transition}[i, j] \log_2 \text{transition}[i, j]\Big)$$
#
# bits per token.
#
# It is a floor: the model that knows `transition` costs $H$ bits per token on fresh text of this source, and
# every other model costs more. In this course all models will be measured against such a floor.
#
# Write `entropy_rate(transition)`, which returns $H$ in bits as one number, exact to six digits. `transition`
# has shape (vocab_size, vocab_size), float64; its rows sum to one and may contain zeros, which contribute
# nothing.
#
# **Example.** `[[1/2, 1/4, 1/4], [1, 0, 0], [1/2, 1/2, 0]]`. The rows have entropies 1.5, 0 and 1 bits. The
# shares are 8/13, 3/13, 2/13: for instance the first,
# $\frac{8}{13} \cdot \frac12 + \frac{3}{13} \cdot 1 + \frac{2}{13} \cdot \frac12 = \frac{8}{13}$. So
# $H = (8 \cdot 1.5 + 3 \cdot 0 + 2 \cdot 1) / 13 = 14/13 \approx 1.077$ bits.
#
# <details><summary>Hint 1</summary>
#
# There are two separate jobs: the shares, and the entropy of each row. Print both for the example before you
# combine them.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# For the shares: start from any distribution and let the source take many steps, or solve the linear
# equations. Check which side of `transition` the distribution is multiplied on.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `torch.xlogy(p, p)` is $p \ln p$, and 0 where $p = 0$.
#
# </details>


# %% solution="entropy_rate"
def entropy_rate(transition: Tensor) -> float:
    """Bits per token of a Markov source with the given (vocab_size, vocab_size) transition probabilities."""
    ### BEGIN SOLUTION
    vocab_size = len(transition)
    # The stationary shares solve share @ transition = share and sum to one: one more equation than unknowns.
    balance = transition.T - torch.eye(vocab_size, dtype=transition.dtype)
    equations = torch.cat([balance, torch.ones(1, vocab_size, dtype=transition.dtype)])
    right_side = torch.zeros(vocab_size + 1, 1, dtype=transition.dtype)
    right_side[-1] = 1
    shares = torch.linalg.lstsq(equations, right_side).solution[:, 0]
    row_entropies = -torch.xlogy(transition, transition).sum(1) / math.log(2)
    return (shares @ row_entropies).item()
    ### END SOLUTION


# %% check="the_example_source_has_14_13_bits" points=1
def the_example_source_has_14_13_bits(entropy_rate):
    """The source of the example has an entropy rate of 14/13 bits."""
    transition = torch.tensor([[2, 1, 1], [4, 0, 0], [2, 2, 0]], dtype=torch.float64) / 4
    assert_close(entropy_rate(transition), 14 / 13)


check(the_example_source_has_14_13_bits, entropy_rate)


# %% check="a_source_without_memory_has_the_entropy_of_its_tokens" points=1
def a_source_without_memory_has_the_entropy_of_its_tokens(entropy_rate):
    """When every row is 1/2, 1/4, 1/8, 1/8, the rate is 1.75 bits."""
    row = torch.tensor([1 / 2, 1 / 4, 1 / 8, 1 / 8], dtype=torch.float64)
    assert_close(entropy_rate(row.repeat(4, 1)), 1.75)


check(a_source_without_memory_has_the_entropy_of_its_tokens, entropy_rate)


# %% check="a_source_without_choice_has_rate_zero" points=1
def a_source_without_choice_has_rate_zero(entropy_rate):
    """A source that always emits 0, 1, 2, 0, 1, 2, … has an entropy rate of 0."""
    transition = torch.tensor([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=torch.float64)
    answer = entropy_rate(transition)
    assert_close(answer, 0.0)
    assert_depends(answer, entropy_rate(torch.full((2, 2), 1 / 2, dtype=torch.float64)))


check(a_source_without_choice_has_rate_zero, entropy_rate)


# %% check="a_token_counts_as_often_as_it_occurs" points=2
def a_token_counts_as_often_as_it_occurs(entropy_rate, draw):
    """A row of high entropy weighs little when the source is rarely there."""
    rare = draw.number(0.01, 0.04)
    # Tokens 0 and 1 hardly choose; token 2, which is followed by anything, is rare.
    transition = torch.tensor(
        [[1 - rare, 0.0, rare], [1 - rare, 0.0, rare], [1 / 3, 1 / 3, 1 / 3]], dtype=torch.float64
    )
    hardly_a_choice = -(rare * math.log2(rare) + (1 - rare) * math.log2(1 - rare))
    share = rare / (2 / 3 + rare)
    assert_close(entropy_rate(transition), (1 - share) * hardly_a_choice + share * math.log2(3))


check(a_token_counts_as_often_as_it_occurs, entropy_rate)


# %% check="other_sources_have_their_entropy_rate" points=2 hidden
def other_sources_have_their_entropy_rate(entropy_rate, draw):
    """Sources of other sizes have the entropy that one more token adds to a long text."""
    for vocab_size in (2, 5, 9):
        habit, rows = draw.probabilities(vocab_size), draw.probabilities(vocab_size, vocab_size)
        transition = 0.4 * habit + 0.6 * rows
        transition[0, 1:] *= 0.2  # token 0 likes to stay
        transition[1, -1] *= 0  # the last token never follows token 1
        transition[:2, 0] = 1 - transition[:2, 1:].sum(1)
        shares = torch.linalg.matrix_power(transition, 4096)[0]
        pairs = shares[:, None] * transition
        added = torch.xlogy(shares, shares).sum() - torch.xlogy(pairs, pairs).sum()
        assert_close(entropy_rate(transition), added.item() / math.log(2))


check(other_sources_have_their_entropy_rate, entropy_rate)

# %% [markdown] written="below_the_floor" points=4 minutes=10
# ### 5. Below the floor?
#
# A source has an entropy rate of 1.25 bits per token. A classmate trains a large model on text from it and
# reports: "1.19 bits per token. My model is better than the source itself."
#
# a) Why can no model's expected bits per token on fresh text lie below the entropy rate? Start from
# cross-entropy = entropy + KL divergence.
#
# b) The classmate's code has no bug. Name two things that may have produced 1.19 all the same, and for each
# what you would ask the classmate to measure in order to find out.
#
# ### BEGIN SOLUTION
# a) (1 point) The expected bits per token of a model $Q$ on text from the source $P$ are $H(P) + D(P \| Q)$
# per token, and the divergence is never negative; it is zero only for $Q = P$. So 1.25 is the least any model
# can expect, and a better model comes closer to it from above.
#
# b) (3 points: one for each cause that is possible, one for both measurements being able to decide.)
#
# - *The text was not fresh.* On its training text a model can cost less than the entropy rate, because it has
#   memorised what happened to occur. Ask for the bits on text it has not seen.
# - *The sample was small.* 1.25 is an expectation; a short text can happen to be predictable. Ask for the
#   bits of the true model on the very same text (the floor of the sample), or for the standard error of the
#   mean.
# - Also right: only the predictable part of the text was scored; the text was sampled in another way than the
#   source emits it, with the rare tokens left out, say; the report is in another unit. Each needs its own
#   measurement.
#
# No point for "the entropy rate must have been computed wrongly" without a way to tell.
# ### END SOLUTION

# %% provided="printed_table"
# For the next exercise: what a broken perplexity printed for five corpora, and what is right.
PRINTED_AND_RIGHT = {
    "A": (16.00, 16.00),
    "B": (3.61, 3.61),
    "C": (13.08, 3.61),
    "D": (3.61, 3.61),
    "E": (13.08, 3.61),
}

# %%
print("row  printed  right")
for row, (printed, right) in PRINTED_AND_RIGHT.items():
    print(f"{row:>3} {printed:8.2f} {right:6.2f}")

# %% [markdown] exercise="name_the_fault" difficulty=2 minutes=10
# ### 6. Find the fault
#
# Somebody else's `corpus_perplexity` was run on five corpora. The table above shows what it printed beside
# what is right. All corpora but A hold the same four sentences, of 2, 3, 6 and 9 tokens; the two short ones
# are hard to predict, the two long ones easy.
#
# | row | corpus |
# |---|---|
# | A | a sentence of 3 and one of 9 tokens in one batch, padded to 9; every token has probability 1/16 |
# | B | the four sentences in one batch, padded to 9 |
# | C | the two short ones in one batch, the two long ones in another |
# | D | as B, but padded to 30 |
# | E | as C, but the penalty in the training loss is 0.5 and not 0.1 |
#
# Exactly one thing is wrong with that function. Write `name_the_fault()`, which takes nothing and returns the
# name of the fault:
#
# | name | what the function would do |
# |---|---|
# | `"sentence_perplexities_averaged"` | take the perplexity of each sentence and average these |
# | `"batch_perplexities_averaged"` | take the perplexity of each batch and average these |
# | `"padding_counted_as_tokens"` | divide by the number of places, padded or not |
# | `"two_to_the_power_of_nats"` | raise 2, not $e$, to the average in nats |
# | `"penalty_included"` | average the training loss, penalty and all, over the tokens |
# | `"last_token_left_out"` | drop the last token of every sentence |
#
# **Example of the reasoning.** If row A had printed 6.83, the fault would show where all tokens are alike,
# and then neither sentences nor batches could be to blame.
#
# <details><summary>Hint 1</summary>
#
# First find the rows that are right. Which faults could not leave them right?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Compare rows in pairs: what is the only thing that changes from B to C, from B to D, from C to E?
#
# </details>


# %% solution="name_the_fault"
def name_the_fault() -> str:
    """The name of the one fault that prints the table."""
    ### BEGIN SOLUTION
    return "batch_perplexities_averaged"
    ### END SOLUTION


# %% check="the_fault_leaves_row_a_right" points=1
def the_fault_leaves_row_a_right(name_the_fault):
    """The answer is one of the six names, and with that fault row A prints 16.00."""
    printed_in_row_a = {
        "sentence_perplexities_averaged": 16.0,
        "batch_perplexities_averaged": 16.0,
        "padding_counted_as_tokens": 2 ** (12 * 4 / 18),
        "two_to_the_power_of_nats": 2 ** math.log(16),
        "penalty_included": 16 * math.exp(0.1),
        "last_token_left_out": 16.0,
    }
    answer = name_the_fault()
    assert_true(answer in printed_in_row_a, f"{answer!r} is not one of the six names.")
    assert_close(printed_in_row_a[answer], 16.0, what="row A with that fault")


check(the_fault_leaves_row_a_right, name_the_fault)


# %% check="the_fault_prints_the_whole_table" points=3 hidden
def the_fault_prints_the_whole_table(name_the_fault):
    """The fault you name prints every row of the table."""
    hard, easy = [[7.0, 4.0], [4.0, 5.0, 3.0]], [[1.0, 0.5, 2.0, 1.0, 0.5, 1.0], [0.5, 1.0] * 4 + [2.0]]
    rows = {  # sentences of each batch in bits per token, width of the padding, penalty in nats
        "A": ([[[4.0] * 3, [4.0] * 9]], 9, 0.1),
        "B": ([hard + easy], 9, 0.1),
        "C": ([hard, easy], 9, 0.1),
        "D": ([hard + easy], 30, 0.1),
        "E": ([hard, easy], 9, 0.5),
    }

    def perplexity(sentences):
        tokens = [bits for sentence in sentences for bits in sentence]
        return 2 ** (sum(tokens) / len(tokens))

    def what_would_be_printed(batches, width, penalty):
        sentences = [sentence for batch in batches for sentence in batch]
        mean = math.log2(perplexity(sentences))
        n_tokens = sum(map(len, sentences))
        return {
            "nothing wrong": 2**mean,
            "sentence_perplexities_averaged": sum(perplexity([s]) for s in sentences) / len(sentences),
            "batch_perplexities_averaged": sum(map(perplexity, batches)) / len(batches),
            "padding_counted_as_tokens": 2 ** (mean * n_tokens / (len(sentences) * width)),
            "two_to_the_power_of_nats": 2 ** (mean * math.log(2)),
            "penalty_included": 2**mean * math.exp(penalty),
            "last_token_left_out": perplexity([s[:-1] for s in sentences]),
        }

    answer = name_the_fault()
    for row, (printed, right) in PRINTED_AND_RIGHT.items():
        with_fault = what_would_be_printed(*rows[row])
        assert_close(right, round(with_fault.pop("nothing wrong"), 2), what=f"what is right in row {row}")
        assert_true(answer in with_fault, f"{answer!r} is not one of the six names.")
        assert_close(round(with_fault[answer], 2), printed, what=f"row {row} with that fault")


check(the_fault_prints_the_whole_table, name_the_fault)

# %% [markdown]
# ## Part B. n-gram models
#
# An n-gram model predicts each token from the $n - 1$ tokens before it. In this part a **sentence** is a list
# of words, without `<s>` and `</s>`; a **context** is a tuple of $n - 1$ tokens; and **counts** is a dict of
# dicts: `counts[context][token]` says how often `token` followed `context`. What did not occur is not in the
# dict.

# %% [markdown] exercise="ngram_counts" difficulty=2 minutes=15
# ### 7. Counting n-grams
#
# To predict the first word of a sentence, an n-gram model needs a context of full length too. So each
# sentence is put between $n - 1$ times `<s>` and one `</s>`. Then every word and the `</s>` is counted once,
# after the $n - 1$ tokens before it. `<s>` itself is never predicted, and nothing reaches from one sentence
# into the next.
#
# Write `ngram_counts(sentences, n)`, which returns `counts`. `sentences` is a list of lists of words, `n` is
# at least 1. For $n = 1$ the only context is the empty tuple `()`. (Your dicts may be `Counter` or
# `defaultdict`. `BOS` and `EOS` are defined as `"<s>"` and `"</s>"`.)
#
# **Example.** `ngram_counts([["a", "b"], ["b"]], 2)` returns
# `{("<s>",): {"a": 1, "b": 1}, ("a",): {"b": 1}, ("b",): {"</s>": 2}}`, and with $n = 3$ the first two
# entries for `["a", "b"]` are `{("<s>", "<s>"): {"a": 1}, ("<s>", "a"): {"b": 1}}`.
#
# <details><summary>Hint 1</summary>
#
# Write the padded sentence `["a", "b"]` down for n = 1, 2, 3, and underline each thing that is predicted. How
# many are there each time?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Walk over the positions of the things that are predicted. Where does the first one stand in the padded list?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `counts.setdefault(context, {})` gives the inner dict whether or not the context was there. A slice of a
# list is a list; a key must be a tuple.
#
# </details>


# %% solution="ngram_counts"
def ngram_counts(sentences: list[list[str]], n: int) -> dict[tuple[str, ...], dict[str, int]]:
    """How often each token follows each context of n - 1 tokens: [["b"]], 2 → {("<s>",): {"b": 1}, …}."""
    ### BEGIN SOLUTION
    counts = {}
    for sentence in sentences:
        padded = [BOS] * (n - 1) + sentence + [EOS]
        for position in range(n - 1, len(padded)):
            context, token = tuple(padded[position - n + 1 : position]), padded[position]
            counts.setdefault(context, Counter())[token] += 1
    return counts
    ### END SOLUTION


# %% check="the_example_bigrams_are_counted" points=1
def the_example_bigrams_are_counted(ngram_counts):
    """The bigrams of `a b` and `b` are those of the example."""
    expected = {(BOS,): {"a": 1, "b": 1}, ("a",): {"b": 1}, ("b",): {EOS: 2}}
    assert_equal(ngram_counts([["a", "b"], ["b"]], 2), expected)


check(the_example_bigrams_are_counted, ngram_counts)


# %% check="a_unigram_has_the_empty_context" points=1
def a_unigram_has_the_empty_context(ngram_counts):
    """With n = 1 every word and every ending follows the empty context."""
    assert_equal(ngram_counts([["a", "b"], ["b"]], 1), {(): {"a": 1, "b": 2, EOS: 2}})


check(a_unigram_has_the_empty_context, ngram_counts)


# %% check="every_sentence_ends_once" points=1
def every_sentence_ends_once(ngram_counts, draw):
    """Three sentences have three endings."""
    sentences = [draw.sentence(["a", "b", "c"], length) for length in (4, 1, 6)]
    endings = sum(followers.get(EOS, 0) for followers in ngram_counts(sentences, 3).values())
    assert_equal(endings, 3, what="the number of endings")


check(every_sentence_ends_once, ngram_counts)


# %% check="the_opening_token_is_never_predicted" points=1
def the_opening_token_is_never_predicted(ngram_counts, draw):
    """`<s>` follows nothing."""
    sentences = [draw.sentence(["a", "b", "c"], length) for length in (3, 5)]
    predicted = {token for followers in ngram_counts(sentences, 3).values() for token in followers}
    assert_true(predicted, "Nothing was counted.")
    assert_true(BOS not in predicted, f"{BOS} was counted as a token that follows something.")


check(the_opening_token_is_never_predicted, ngram_counts)


# %% check="contexts_have_n_minus_1_tokens" points=1
def contexts_have_n_minus_1_tokens(ngram_counts, draw):
    """Every context of a 4-gram has three tokens, at the start of a sentence too."""
    sentences = [draw.sentence(["a", "b", "c"], length) for length in (5, 2)]
    counts = ngram_counts(sentences, 4)
    assert_true(isinstance(counts, dict), f"The answer is no dictionary but a {type(counts).__name__}.")
    lengths = {len(context) for context in counts}
    assert_equal(lengths, {3}, what="the lengths of the contexts")


check(contexts_have_n_minus_1_tokens, ngram_counts)


# %% check="the_first_word_follows_only_opening_tokens" points=1
def the_first_word_follows_only_opening_tokens(ngram_counts):
    """In a trigram model the first words follow `<s> <s>`."""
    counts = ngram_counts([["a", "b", "c"], ["c", "a"], ["a"]], 3)
    assert_equal(counts.get((BOS, BOS), {}), {"a": 2, "c": 1})


check(the_first_word_follows_only_opening_tokens, ngram_counts)


# %% check="sentences_are_counted_one_by_one" points=1
def sentences_are_counted_one_by_one(ngram_counts, draw):
    """Two sentences counted together are the sum of each counted alone."""
    first, second = (draw.sentence(["a", "b"], length) for length in (5, 3))
    expected = {}
    for counts in (ngram_counts([first], 2), ngram_counts([second], 2)):
        for context, followers in counts.items():
            expected[context] = dict(Counter(expected.get(context, {})) + Counter(followers))
    assert_equal(ngram_counts([first, second], 2), expected)
    assert_true(expected, "Nothing was counted.")


check(sentences_are_counted_one_by_one, ngram_counts)


# %% check="n_grams_of_other_orders_are_counted" points=2 hidden
def n_grams_of_other_orders_are_counted(ngram_counts, draw):
    """Other sentences have the right counts for n = 1 to 5, also if shorter than n."""
    sentences = [draw.sentence(["a", "b", "c", "d"], length) for length in (1, 7, 2, 11)]
    for n in (1, 2, 3, 5):
        expected = {}
        for sentence in sentences:
            for position, token in enumerate([*sentence, EOS]):
                context = tuple([*[BOS] * (n - 1), *sentence[:position]][position:])
                followers = expected.setdefault(context, {})
                followers[token] = followers.get(token, 0) + 1
        assert_equal(ngram_counts(sentences, n), expected)


check(n_grams_of_other_orders_are_counted, ngram_counts)

# %% [markdown] exercise="mle_probs" difficulty=1 minutes=10
# ### 8. Relative frequencies
#
# The probabilities that make the training text most likely (the maximum likelihood estimate, MLE) are
# relative frequencies. With $c(h, w)$ for `counts[h][w]`, how often token $w$ followed context $h$:
#
# $$P(w \mid h) = \frac{c(h, w)}{\sum_{w'} c(h, w')}$$
#
# Write `mle_probs(counts, context, words)`, which returns the whole distribution after `context` as a dict
# from token to probability. Its keys are all of `words` (a list of every word the model knows) and `</s>`,
# also those that never followed `context`. If the context itself never occurred, there is nothing to estimate
# from: return the uniform distribution over the same keys.
#
# **Example.** `counts = {("a",): {"b": 3, "</s>": 1}, ("b",): {"</s>": 2}}` and `words = ["a", "b"]`. After
# `("a",)`: `{"a": 0.0, "b": 0.75, "</s>": 0.25}`. After `("<s>",)`, which never occurred: 1/3 each.
#
# <details><summary>Hint 1</summary>
#
# The probabilities after one context sum to one. Which counts must the denominator add up for that to be so?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `some_dict.get(key, default)` answers also when there is no such key. You need it twice, for two different
# reasons.
#
# </details>


# %% solution="mle_probs"
def mle_probs(
    counts: dict[tuple[str, ...], dict[str, int]], context: tuple[str, ...], words: list[str]
) -> dict[str, float]:
    """The relative frequency of each word and of </s> after a context; uniform after an unseen context."""
    ### BEGIN SOLUTION
    tokens = [*words, EOS]
    followers = counts.get(context, {})
    total = sum(followers.values())
    if total == 0:
        return {token: 1 / len(tokens) for token in tokens}
    return {token: followers.get(token, 0) / total for token in tokens}
    ### END SOLUTION


# %% check="the_example_has_its_relative_frequencies" points=1
def the_example_has_its_relative_frequencies(mle_probs):
    """After `a`, the example has 0, 3/4 and 1/4."""
    counts = {("a",): {"b": 3, EOS: 1}, ("b",): {EOS: 2}}
    assert_close(mle_probs(counts, ("a",), ["a", "b"]), {"a": 0.0, "b": 0.75, EOS: 0.25})


check(the_example_has_its_relative_frequencies, mle_probs)


# %% provided="drawn_counts"
def drawn_counts(draw, contexts, tokens):
    """Counts from 1 to 9 for each of the tokens after each of the contexts."""
    return {context: {token: int(draw.integers(1, 10)) for token in tokens} for context in contexts}


# %% check="every_word_and_the_end_has_a_probability" points=1
def every_word_and_the_end_has_a_probability(mle_probs, draw):
    """The keys are all the words and `</s>`, seen or not."""
    words = ["a", "b", "c", "d", "e"]
    counts = drawn_counts(draw, [("a", "b")], ["b", "d"]) | drawn_counts(draw, [("b", "c")], ["a", EOS])
    for context in (("a", "b"), ("b", "c")):
        assert_equal(set(mle_probs(counts, context, words)), {*words, EOS}, what="the keys")


check(every_word_and_the_end_has_a_probability, mle_probs)


# %% check="the_probabilities_after_a_context_sum_to_one" points=1
def the_probabilities_after_a_context_sum_to_one(mle_probs, draw):
    """After every context that occurred, the probabilities sum to one."""
    counts = drawn_counts(draw, [("a",), ("b",), (BOS,)], ["a", "b", EOS])
    for context in counts:
        probabilities = mle_probs(counts, context, ["a", "b"])
        assert_close(sum(probabilities.values()), 1.0, what=f"the sum after {context}")
        assert_true(len(probabilities) > 1, f"After {context} there is one word alone.")


check(the_probabilities_after_a_context_sum_to_one, mle_probs)


# %% check="other_contexts_do_not_matter" points=1
def other_contexts_do_not_matter(mle_probs, draw):
    """What happened after other contexts changes nothing."""
    counts = drawn_counts(draw, [("a", "a"), ("b", "a")], ["a", "b", EOS])
    busier = counts | {("b", "a"): {"a": 70, "b": 4, EOS: 20}}
    expected = mle_probs(counts, ("a", "a"), ["a", "b", "c"])
    assert_close(mle_probs(busier, ("a", "a"), ["a", "b", "c"]), expected)
    otherwise = mle_probs(counts | {("a", "a"): {"a": 90, "b": 1}}, ("a", "a"), ["a", "b", "c"])
    assert_depends(expected["a"], otherwise["a"])


check(other_contexts_do_not_matter, mle_probs)


# %% check="after_an_unseen_context_all_tokens_are_equally_likely" points=1
def after_an_unseen_context_all_tokens_are_equally_likely(mle_probs, draw):
    """After a context that never occurred, each of three words and `</s>` has the probability 1/4."""
    counts = drawn_counts(draw, [("a",)], ["b", EOS])
    words = ["a", "b", "c"]
    assert_close(mle_probs(counts, ("c",), words), dict.fromkeys([*words, EOS], 1 / 4))


check(after_an_unseen_context_all_tokens_are_equally_likely, mle_probs)


# %% check="other_tables_have_their_relative_frequencies" points=1 hidden
def other_tables_have_their_relative_frequencies(mle_probs, draw):
    """Other tables, with longer contexts, give their relative frequencies."""
    words = ["u", "v", "w", "x"]
    counts = drawn_counts(draw, [("u", "v", "w"), ("w", "w", "u")], ["w", "u", EOS])
    followers = counts["u", "v", "w"]
    share = 1 / (followers["w"] + followers["u"] + followers[EOS])
    expected = {word: share * followers.get(word, 0) for word in [*words, EOS]}
    assert_close(mle_probs(counts, ("u", "v", "w"), words), expected)
    assert_close(mle_probs(counts, ("v", "v", "v"), words), dict.fromkeys(expected, 1 / 5))


check(other_tables_have_their_relative_frequencies, mle_probs)

# %% [markdown] exercise="heldout_bits" difficulty=1 minutes=10
# ### 9. What new text costs
#
# A model is judged on **held-out** text, which took no part in its training. Its cost is the cross-entropy:
# the average of $-\log_2 P(x_i)$ over the $N$ tokens of the text,
#
# $$\frac{1}{N} \sum_{i=1}^{N} -\log_2 P(x_i) \text{ bits per token}.$$
#
# Relative frequencies give most things that ever happen the probability zero, because they did not happen in
# the training text. When such a token does come, the model had ruled out what then happened: its cost is
# infinite, and an honest evaluation says so.
#
# Write `heldout_bits(distributions, tokens)`, which returns the cost in bits per token as one number,
# `math.inf` when a token came that had probability zero. `distributions` is a list of $N$ dicts from token to
# probability: `distributions[i]` is what the model predicted at position `i`, and `tokens[i]` is what came. A
# token that is not in the dict has probability zero.
#
# **Example.** `[{"a": 1/2, "b": 1/2}, {"a": 1/4, "b": 3/4}, {"a": 1/8, "b": 7/8}]` with `["a", "a", "a"]`
# costs (1 + 2 + 3) / 3 = 2 bits per token. With `["a", "a", "c"]` it costs `math.inf`.
#
# <details><summary>Hint 1</summary>
#
# What does Python say to `math.log2(0)`, and what does your function say to `["a", "a", "c"]`?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Handle the impossible token first, before any logarithm is taken.
#
# </details>


# %% solution="heldout_bits"
def heldout_bits(distributions: list[dict[str, float]], tokens: list[str]) -> float:
    """The average of -log2 of what each token was given; infinite if one was given nothing."""
    ### BEGIN SOLUTION
    probs = [distribution.get(token, 0.0) for distribution, token in zip(distributions, tokens, strict=True)]
    if min(probs) == 0:
        return math.inf
    return -sum(math.log2(prob) for prob in probs) / len(probs)
    ### END SOLUTION


# %% check="the_example_text_costs_2_bits" points=1
def the_example_text_costs_2_bits(heldout_bits):
    """Probabilities 1/2, 1/4, 1/8 cost 2 bits per token."""
    distributions = [{"a": 1 / 2, "b": 1 / 2}, {"a": 1 / 4, "b": 3 / 4}, {"a": 1 / 8, "b": 7 / 8}]
    assert_close(heldout_bits(distributions, ["a", "a", "a"]), 2.0)


check(the_example_text_costs_2_bits, heldout_bits)


# %% check="a_token_of_probability_zero_costs_infinitely_much" points=1
def a_token_of_probability_zero_costs_infinitely_much(heldout_bits):
    """When a token comes that was given the probability 0.0, the cost is infinite."""
    distributions = [{"a": 1 / 2, "b": 1 / 2}, {"a": 1 / 4, "b": 0.0, "c": 3 / 4}, {"a": 1 / 8, "b": 7 / 8}]
    possible = heldout_bits(distributions, ["a", "c", "b"])
    assert_close(heldout_bits(distributions, ["a", "b", "b"]), math.inf)
    assert_true(math.isfinite(possible), f"A text without such a token costs {possible}.")


check(a_token_of_probability_zero_costs_infinitely_much, heldout_bits)


# %% check="a_token_the_model_never_heard_of_costs_infinitely_much" points=1
def a_token_the_model_never_heard_of_costs_infinitely_much(heldout_bits):
    """When a token comes that is in no dict, the cost is infinite."""
    distributions = [{"a": 1 / 2, "b": 1 / 2}, {"a": 1 / 4, "b": 3 / 4}]
    possible = heldout_bits(distributions, ["a", "b"])
    assert_close(heldout_bits(distributions, ["a", "c"]), math.inf)
    assert_true(math.isfinite(possible), f"A text without such a token costs {possible}.")


check(a_token_the_model_never_heard_of_costs_infinitely_much, heldout_bits)


# %% check="other_texts_cost_their_average_surprise" points=1 hidden
def other_texts_cost_their_average_surprise(heldout_bits, draw):
    """Other texts cost the average of their tokens' surprises, or infinity."""
    for length in (1, 5, 16):
        rows = draw.probabilities(length, 3)
        distributions = [dict(zip("xyz", row, strict=True)) for row in rows.tolist()]
        tokens = draw.sentence(["x", "y", "z"], length)
        surprises = [math.log2(1 / row[token]) for row, token in zip(distributions, tokens, strict=True)]
        assert_close(heldout_bits(distributions, tokens), math.fsum(surprises) / length)
        assert_close(heldout_bits([*distributions, {"x": 1.0, "y": 0.0}], [*tokens, "y"]), math.inf)


check(other_texts_cost_their_average_surprise, heldout_bits)

# %% [markdown] exercise="add_k_prob" difficulty=2 minutes=10
# ### 10. Smoothing: a little for everyone
#
# Add-$k$ smoothing pretends that every token followed every context $k$ more times than it did. With
# $c(h, w)$ for `counts[h][w]` and $V$ for the number of tokens that can be predicted:
#
# $$P(w \mid h) = \frac{c(h, w) + k}{\sum_{w'} c(h, w') + k V}$$
#
# Write `add_k_prob(counts, context, token, words, k)`, which returns this one probability. `words` lists
# every word the model knows; it can also predict `</s>`, which is not in the list. `k` is greater than zero
# and need not be whole. After a context that never occurred, all counts are zero and the formula answers by
# itself.
#
# **Example.** `counts = {("a",): {"b": 3, "</s>": 1}, ("b",): {"a": 2}}`, `words = ["a", "b", "c"]`,
# `k = 0.25`. After `("a",)`, the token `"b"` has the probability (3 + 0.25) / (4 + 0.25 · 4) = 3.25/5 = 0.65,
# and the token `"a"` has 0.25/5 = 0.05.
#
# <details><summary>Hint 1</summary>
#
# After one context, all probabilities together make one. Add up the numerators over every token that can be
# predicted: what must the denominator be?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# $V$ is a property of the model, the same after every context, whatever was seen there.
#
# </details>


# %% solution="add_k_prob"
def add_k_prob(
    counts: dict[tuple[str, ...], dict[str, int]],
    context: tuple[str, ...],
    token: str,
    words: list[str],
    k: float,
) -> float:
    """The probability of a token after a context when every count is k larger than it was."""
    ### BEGIN SOLUTION
    followers = counts.get(context, {})
    vocab_size = len(words) + 1  # the words and </s>
    return (followers.get(token, 0) + k) / (sum(followers.values()) + k * vocab_size)
    ### END SOLUTION


# %% check="the_example_is_smoothed" points=1
def the_example_is_smoothed(add_k_prob):
    """In the example, `b` has 3.25/5 and `a` has 0.25/5 after `a`."""
    counts = {("a",): {"b": 3, EOS: 1}, ("b",): {"a": 2}}
    assert_close(add_k_prob(counts, ("a",), "b", ["a", "b", "c"], 0.25), 3.25 / 5)
    assert_close(add_k_prob(counts, ("a",), "a", ["a", "b", "c"], 0.25), 0.25 / 5)


check(the_example_is_smoothed, add_k_prob)


# %% check="smoothed_probabilities_sum_to_one" points=1
def smoothed_probabilities_sum_to_one(add_k_prob, draw):
    """Over all words and `</s>`, the probabilities after a context sum to one."""
    words = ["a", "b", "c", "d", "e"]
    counts = drawn_counts(draw, [("a",), ("b",)], ["a", "c", EOS])
    total = sum(add_k_prob(counts, ("a",), token, words, 0.3) for token in [*words, EOS])
    assert_close(total, 1.0, what="the sum over words and </s>")


check(smoothed_probabilities_sum_to_one, add_k_prob)


# %% check="after_an_unseen_context_smoothing_is_uniform" points=1
def after_an_unseen_context_smoothing_is_uniform(add_k_prob, draw):
    """After a context that never occurred, each of four words and `</s>` has the probability 1/5."""
    counts = drawn_counts(draw, [("a", "b")], ["a", EOS])
    for token in ("a", "d", EOS):
        assert_close(add_k_prob(counts, ("b", "b"), token, ["a", "b", "c", "d"], 0.7), 1 / 5)


check(after_an_unseen_context_smoothing_is_uniform, add_k_prob)


# %% check="seen_and_unseen_tokens_gain_the_same_k" points=1
def seen_and_unseen_tokens_gain_the_same_k(add_k_prob, draw):
    """Tokens seen 6, 2 and 0 times after a context have probabilities as 6 + k to 2 + k to k."""
    k = draw.number(0.2, 0.9)
    counts, words = {("a",): {"a": 6, "b": 2}}, ["a", "b", "c"]
    six, two, none = (add_k_prob(counts, ("a",), token, words, k) for token in words)
    assert_close([six * k, two * k], [none * (6 + k), none * (2 + k)])
    assert_depends(none, six)


check(seen_and_unseen_tokens_gain_the_same_k, add_k_prob)


# %% check="a_tiny_k_gives_relative_frequencies" points=1
def a_tiny_k_gives_relative_frequencies(add_k_prob):
    """With k near zero, a token seen 3 times of 4 has the probability 3/4."""
    counts = {("a",): {"b": 3, EOS: 1}, ("b",): {"a": 5}}
    assert_close(add_k_prob(counts, ("a",), "b", ["a", "b"], 1e-12), 3 / 4)


check(a_tiny_k_gives_relative_frequencies, add_k_prob)


# %% check="other_tables_are_smoothed" points=1 hidden
def other_tables_are_smoothed(add_k_prob, draw):
    """Other tables, words and k give the smoothed frequencies."""
    words = ["u", "v", "w", "x", "y", "z"]
    counts = drawn_counts(draw, [("u", "v"), ("v", "v")], ["x", "u", EOS])
    k = draw.number(0.01, 2.5)
    seen = counts["u", "v"]
    total = seen["x"] + seen["u"] + seen[EOS] + 7 * k
    for token in [*words, EOS]:
        expected = (seen.get(token, 0) + k) / total
        assert_close(add_k_prob(counts, ("u", "v"), token, words, k), expected)
        assert_close(add_k_prob(counts, ("v", "u"), token, words, k), 1 / 7)


check(other_tables_are_smoothed, add_k_prob)

# %% [markdown] exercise="interpolated_prob" difficulty=3 minutes=20
# ### 11. Smoothing: asking shorter contexts
#
# A long context says much but was seldom seen; a short one says less and was seen often. Interpolation mixes
# them. Write $P_0$ for the uniform distribution and $P_m$ for the mixture up to order $m$, which looks at the
# **last** $m - 1$ tokens of the context, $h_m$:
#
# $$P_0(w) = \frac{1}{V}$$
#
# $$P_m(w) = \lambda_m \frac{c(h_m, w)}{\sum_{w'} c(h_m, w')} + (1 - \lambda_m) \, P_{m-1}(w)$$
#
# for $m = 1, \dots, n$. If $h_m$ never occurred, it has nothing to say, and $P_m = P_{m-1}$. Each step mixes
# two distributions that sum to one, so the result does too. $V$ counts the words and `</s>`.
#
# Write `interpolated_prob(counts_by_order, weights, context, token, words)`, which returns $P_n(w)$ for
# `token`. `counts_by_order` is a list of $n$ tables: `counts_by_order[m - 1]` holds the counts of order $m$,
# whose contexts are tuples of $m - 1$ tokens. `weights[m - 1]` is $\lambda_m$. `context` is a tuple of
# $n - 1$ tokens and `words` the list of words.
#
# **Example.** `counts_by_order = [{(): {"a": 2, "b": 1, "</s>": 1}}, {("a",): {"b": 1, "</s>": 1}}]`,
# `weights = [1/2, 3/4]`, `words = ["a", "b"]`, token `"b"` after `("a",)`: $P_0 = \frac13$,
# $P_1 = \frac12 \cdot \frac14 + \frac12 \cdot \frac13 = \frac{7}{24}$,
# $P_2 = \frac34 \cdot \frac12 + \frac14 \cdot \frac{7}{24} = \frac{43}{96} \approx 0.448$. After `("b",)`,
# which was never seen, the answer is $P_1 = \frac{7}{24}$.
#
# <details><summary>Hint 1</summary>
#
# Start with $P_0$ and improve it order by order; no recursion is needed.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# For order $m$ you need the last $m - 1$ tokens. Try your slice for $m = 1$: what is `context[-0:]`?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# If the probabilities sum to less than one somewhere, look at what becomes of $\lambda_m$ when $h_m$ was
# never seen. If they sum to more, look for a place where two estimates are used without being weighted.
#
# </details>


# %% solution="interpolated_prob"
def interpolated_prob(
    counts_by_order: list[dict[tuple[str, ...], dict[str, int]]],
    weights: list[float],
    context: tuple[str, ...],
    token: str,
    words: list[str],
) -> float:
    """The probability of a token when every order's estimate is mixed with that of the order below."""
    ### BEGIN SOLUTION
    prob = 1 / (len(words) + 1)
    for length, (counts, weight) in enumerate(zip(counts_by_order, weights, strict=True)):
        followers = counts.get(context[len(context) - length :], {})
        total = sum(followers.values())
        if total > 0:
            prob = weight * followers.get(token, 0) / total + (1 - weight) * prob
    return prob
    ### END SOLUTION


# %% check="the_example_is_43_96" points=1
def the_example_is_43_96(interpolated_prob):
    """In the example `b` has 43/96 after `a`."""
    counts_by_order = [{(): {"a": 2, "b": 1, EOS: 1}}, {("a",): {"b": 1, EOS: 1}}]
    assert_close(interpolated_prob(counts_by_order, [1 / 2, 3 / 4], ("a",), "b", ["a", "b"]), 43 / 96)


check(the_example_is_43_96, interpolated_prob)


# %% provided="drawn_orders"
def drawn_orders(draw, words):
    """Tables of order 1, 2 and 3 over the first words, with the contexts `()`, `w` and `w w'` for some w."""
    first, second = words[:2]
    tokens = [first, second, EOS]
    contexts = [[()], [(first,), (second,)], [(first, second), (second, second)]]
    return [drawn_counts(draw, of_order, tokens) for of_order in contexts]


# %% check="mixed_probabilities_sum_to_one" points=1
def mixed_probabilities_sum_to_one(interpolated_prob, draw):
    """When all contexts have been seen, the probabilities of all words and `</s>` sum to one."""
    words, weights = ["a", "b", "c", "d"], [0.9, 0.7, 0.4]
    orders = drawn_orders(draw, words)
    total = sum(interpolated_prob(orders, weights, ("a", "b"), token, words) for token in [*words, EOS])
    assert_close(total, 1.0, what="the sum over words and </s>")


check(mixed_probabilities_sum_to_one, interpolated_prob)


# %% check="an_unseen_context_leaves_the_shorter_one_to_speak" points=1
def an_unseen_context_leaves_the_shorter_one_to_speak(interpolated_prob, draw):
    """Where the long context was never seen, the answer is that of the next shorter one."""
    words, weights = ["a", "b", "c"], [0.8, 0.6, 0.3]
    orders = drawn_orders(draw, words)
    shorter = interpolated_prob(orders[:2], weights[:2], ("a",), "b", words)
    assert_close(interpolated_prob(orders, weights, ("c", "a"), "b", words), shorter)
    assert_depends(shorter, interpolated_prob(orders, weights, ("c", "a"), "c", words))


check(an_unseen_context_leaves_the_shorter_one_to_speak, interpolated_prob)


# %% check="the_nearest_tokens_are_kept" points=1
def the_nearest_tokens_are_kept(interpolated_prob, draw):
    """A shorter context keeps the tokens next to the predicted one, not those farther away."""
    words, weights = ["a", "b", "c"], [0.5, 0.8, 0.6]
    bigrams = {("a",): {"a": 7, "c": 1}, ("b",): {"c": 7, "b": 1}}
    unigrams, trigrams = drawn_counts(draw, [()], ["a", "b"]), drawn_counts(draw, [("c", "c")], ["a", EOS])
    orders = [unigrams, bigrams, trigrams]
    after_a = interpolated_prob(orders, weights, ("b", "a"), "a", words)
    after_b = interpolated_prob(orders, weights, ("a", "b"), "a", words)
    assert_true(after_a > after_b, f"`a` got {after_a} after `b a` and {after_b} after `a b`.")


check(the_nearest_tokens_are_kept, interpolated_prob)


# %% check="a_word_seen_nowhere_keeps_its_uniform_share" points=1
def a_word_seen_nowhere_keeps_its_uniform_share(interpolated_prob, draw):
    """A word in no table has what all the weights leave over of 1/V."""
    words, weights = ["a", "b", "c", "d", "e"], [0.9, 0.5, 0.2]
    orders = drawn_orders(draw, words)
    assert_close(interpolated_prob(orders, weights, ("b", "b"), "e", words), 0.1 * 0.5 * 0.8 / 6)


check(a_word_seen_nowhere_keeps_its_uniform_share, interpolated_prob)


# %% check="the_weight_belongs_to_the_longer_context" points=1
def the_weight_belongs_to_the_longer_context(interpolated_prob, draw):
    """With every weight 1 only the longest context speaks; with every weight 0 all tokens are alike."""
    words = ["a", "b"]
    orders = drawn_orders(draw, words)
    followers = orders[2]["a", "b"]
    expected = followers["a"] / sum(followers.values())
    assert_close(interpolated_prob(orders, [1.0, 1.0, 1.0], ("a", "b"), "a", words), expected)
    assert_close(interpolated_prob(orders, [0.0, 0.0, 0.0], ("a", "b"), "a", words), 1 / 3)


check(the_weight_belongs_to_the_longer_context, interpolated_prob)


# %% check="other_mixtures_have_their_probability" points=2 hidden
def other_mixtures_have_their_probability(interpolated_prob, draw):
    """Other tables and weights give the weighted sum of all orders."""
    words = ["u", "v", "w"]
    orders = drawn_orders(draw, words)
    one, two, three = weights = [draw.number(0.2, 0.8) for _ in range(3)]
    for token in [*words, EOS]:
        for context in (("u", "v"), ("v", "v")):
            shares = [
                table[seen].get(token, 0) / sum(table[seen].values())
                for table, seen in zip(orders, [(), context[1:], context], strict=True)
            ]
            mixture = three * shares[2] + (1 - three) * two * shares[1]
            mixture += (1 - three) * (1 - two) * (one * shares[0] + (1 - one) / 4)
            assert_close(interpolated_prob(orders, weights, context, token, words), mixture)
    half = orders[0][()].get("u", 0) / sum(orders[0][()].values()) * one + (1 - one) / 4
    assert_close(interpolated_prob(orders, weights, ("w", "w"), "u", words), half)


check(other_mixtures_have_their_probability, interpolated_prob)

# %% [markdown] exercise="choose_n_and_k" difficulty=2 minutes=15
# ### 12. Choosing n and k
#
# The longer the context, the better an n-gram model fits its own training text; on new text it gets worse
# again. So $n$ and $k$ are chosen by the cost on held-out text. That cost is a measurement and varies with
# the text it was taken on, and where the difference is within the noise the smaller model is the wiser
# choice. The **one-standard-error rule** says this exactly:
#
# 1. The *cost* of a setting is the mean of its held-out bits over the folds (different cuts of the text into
#    a training part and a held-out part).
# 2. Take the setting of lowest cost. Its *standard error* is $s / \sqrt{F}$, where $F$ is the number of folds
#    and $s$ the sample standard deviation of its held-out bits over the folds (with $F - 1$;
#    `statistics.stdev`).
# 3. Every setting whose cost is at most the lowest cost plus that standard error is *good enough*. Of these,
#    choose the smallest $n$; among those with the smallest $n$, the one of lowest cost.
#
# Write `choose_n_and_k(results)`, which returns the pair `(n, k)`. `results` is a dict: `results[n, k]` is
# again a dict with the keys `"training"`, `"heldout"` and `"test"`, and each of these a list of the bits per
# token of every fold. The test text is for the final report, after everything has been chosen.
#
# **Example.** Two folds, and these held-out bits:
#
# | n | k | held-out bits | cost |
# |---|---|---|---|
# | 1 | 0.1 | 5.4, 5.5 | 5.45 |
# | 2 | 0.1 | 5.3, 5.4 | 5.35 |
# | 2 | 1.0 | 4.9, 6.3 | 5.6 |
# | 3 | 0.1 | 5.3, 5.3 | 5.3 |
# | 4 | 0.1 | 5.0, 5.4 | 5.2 |
# | 5 | 0.1 | 5.4, 5.3 | 5.35 |
# | 6 | 0.1 | 5.8, 6.0 | 5.9 |
#
# The lowest cost is 5.2, with $s = 0.2828$ and a standard error of $0.2828 / \sqrt 2 = 0.2$. Good enough is
# up to 5.4, which leaves n = 2, 3, 4 and 5 with k = 0.1. The choice is `(2, 0.1)`.
#
# <details><summary>Hint 1</summary>
#
# Compute one number per setting first, and print it. Everything but the standard error works on these
# numbers.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Python compares tuples entry by entry: `min` over tuples can settle "smallest n, then lowest cost" in one
# go.
#
# </details>


# %% solution="choose_n_and_k"
def choose_n_and_k(results: dict[tuple[int, float], dict[str, list[float]]]) -> tuple[int, float]:
    """The smallest n within one standard error of the lowest held-out cost, and the best k for it."""
    ### BEGIN SOLUTION
    from statistics import mean, stdev

    cost = {setting: mean(bits["heldout"]) for setting, bits in results.items()}
    best = min(cost, key=cost.get)
    of_best = results[best]["heldout"]
    limit = cost[best] + stdev(of_best) / math.sqrt(len(of_best))
    good_enough = [setting for setting in cost if cost[setting] <= limit]
    return min(good_enough, key=lambda setting: (setting[0], cost[setting]))
    ### END SOLUTION


# %% provided="folds"
def folds(mean, spread=0.0):
    """The bits of four folds with this mean, and with `spread` as the standard error of the mean."""
    return [mean + spread * step * math.sqrt(6 / 5) for step in (-2, 1, 2, -1)]


def results_table(heldout, *, training=None, test=None):
    """Results in which longer contexts always fit the training text better, unless it is given."""
    return {
        setting: {
            "training": (training or {}).get(setting, folds(6.0 - setting[0] + setting[1] / 10)),
            "heldout": bits,
            "test": (test or {}).get(setting, bits),
        }
        for setting, bits in heldout.items()
    }


# %% check="the_example_chooses_the_bigram" points=1
def the_example_chooses_the_bigram(choose_n_and_k):
    """In the example the choice is (2, 0.1)."""
    heldout = {(1, 0.1): [5.4, 5.5], (2, 0.1): [5.3, 5.4], (2, 1.0): [4.9, 6.3], (3, 0.1): [5.3, 5.3]}
    heldout |= {(4, 0.1): [5.0, 5.4], (5, 0.1): [5.4, 5.3], (6, 0.1): [5.8, 6.0]}
    results = results_table(heldout)
    assert_equal(tuple(choose_n_and_k(results)), (2, 0.1))


check(the_example_chooses_the_bigram, choose_n_and_k)


# %% check="the_training_text_has_no_say" points=1
def the_training_text_has_no_say(choose_n_and_k, draw):
    """A model that is better on the training text and worse on held-out text is not chosen."""
    base = draw.number(4, 6)
    heldout = {(1, 0.5): folds(base + 2), (2, 0.5): folds(base, 0.01), (3, 0.5): folds(base + 0.5)}
    training = {(1, 0.5): folds(base + 1), (2, 0.5): folds(base - 1), (3, 0.5): folds(base - 3)}
    assert_equal(tuple(choose_n_and_k(results_table(heldout, training=training))), (2, 0.5))


check(the_training_text_has_no_say, choose_n_and_k)


# %% check="the_test_text_has_no_say" points=1
def the_test_text_has_no_say(choose_n_and_k, draw):
    """A model that is better on the test text and worse on held-out text is not chosen."""
    base = draw.number(4, 6)
    heldout = {(3, 1.0): folds(base + 0.6), (2, 1.0): folds(base + 0.3), (4, 1.0): folds(base, 0.01)}
    test = {(3, 1.0): folds(base - 1), (2, 1.0): folds(base + 1), (4, 1.0): folds(base + 0.2)}
    assert_equal(tuple(choose_n_and_k(results_table(heldout, test=test))), (4, 1.0))


check(the_test_text_has_no_say, choose_n_and_k)


# %% check="differences_within_the_noise_do_not_count" points=2
def differences_within_the_noise_do_not_count(choose_n_and_k, draw):
    """A smaller n wins when it costs up to one standard error more, and not when it costs more than that."""
    base, noise = draw.number(4, 6), draw.number(0.1, 0.2)
    heldout = {(4, 0.1): folds(base, noise), (3, 0.1): folds(base + 0.7 * noise, 0.8 * noise)}
    assert_equal(tuple(choose_n_and_k(results_table(heldout))), (3, 0.1))
    heldout[2, 0.1] = folds(base + 1.1 * noise, 1.2 * noise)
    assert_equal(tuple(choose_n_and_k(results_table(heldout))), (3, 0.1))
    heldout[3, 0.1] = folds(base + 0.93 * noise)
    assert_equal(tuple(choose_n_and_k(results_table(heldout))), (3, 0.1))


check(differences_within_the_noise_do_not_count, choose_n_and_k)


# %% check="of_the_smallest_n_the_best_k_is_chosen" points=1
def of_the_smallest_n_the_best_k_is_chosen(choose_n_and_k, draw):
    """Among good-enough settings with the same smallest n, the k of lowest cost is chosen."""
    base, noise = draw.number(4, 6), draw.number(0.1, 0.2)
    shares = {(3, 0.01): 0.6, (2, 0.01): 0.8, (2, 0.1): 0.4, (2, 1.0): 0.7, (2, 2.0): 5.0}
    heldout = {(3, 0.1): folds(base, noise), (1, 0.1): folds(base + 9 * noise, 10 * noise)}
    heldout |= {setting: folds(base + share * noise) for setting, share in shares.items()}
    assert_equal(tuple(choose_n_and_k(results_table(heldout))), (2, 0.1))


check(of_the_smallest_n_the_best_k_is_chosen, choose_n_and_k)


# %% check="other_results_are_chosen_from_by_the_rule" points=2 hidden
def other_results_are_chosen_from_by_the_rule(choose_n_and_k, draw):
    """Other tables, in any order, lead to the choice of the one-standard-error rule."""
    base, noise = draw.number(3, 9), draw.number(0.05, 0.4)
    shares = {
        (5, 0.1): 0.5, (5, 1.0): 2.0, (4, 0.1): 0.3, (3, 0.5): 0.95, (3, 0.1): 0.92, (3, 0.01): 1.4,
        (2, 0.1): 1.2, (2, 0.5): 1.6, (1, 0.1): 14.0,
    }  # fmt: skip
    heldout = {(4, 0.5): folds(base, noise), (1, 1.0): folds(base + 9 * noise, 10 * noise)}
    heldout |= {setting: folds(base + share * noise, 0.3 * noise) for setting, share in shares.items()}
    training = {setting: folds(base - noise * setting[0]) for setting in heldout}
    test = {setting: folds(base + abs(setting[0] - 2)) for setting in heldout}
    assert_equal(tuple(choose_n_and_k(results_table(heldout, training=training, test=test))), (3, 0.1))


check(other_results_are_chosen_from_by_the_rule, choose_n_and_k)

# %% [markdown]
# ### Your model on English
#
# The next cell puts your functions together: it counts n-grams of the documentation that comes with Python,
# smooths them with add-k, and prints what training and held-out text cost for n = 1 to 4. Set `RUN = True`
# when exercises 7, 10 and 12 are done. (No points. It takes a few seconds.) Where does the training cost part
# from the held-out cost, and what does a larger k do to the gap?

# %%
RUN = False  # True, then run this cell
if RUN:
    from pydoc_data.topics import topics

    lines = [line.lower().split() for text in topics.values() for line in text.splitlines()]
    lines = [line for line in lines if len(line) > 3 and all(word.isalpha() for word in line)]
    words = sorted({word for line in lines for word in line})  # of all parts: no word is unknown
    results = {}
    for n in (1, 2, 3, 4):
        for k in (0.001, 0.1):
            results[n, k] = {"training": [], "heldout": [], "test": []}
            for fold in range(3):
                parts = {
                    "training": [line for i, line in enumerate(lines) if i % 5 not in (fold, 4)],
                    "heldout": lines[fold::5],
                    "test": lines[4::5],
                }
                counts = ngram_counts(parts["training"], n)
                for part, sentences in parts.items():
                    bits = [
                        -count * math.log2(add_k_prob(counts, context, token, words, k))
                        for context, followers in ngram_counts(sentences, n).items()
                        for token, count in followers.items()
                    ]
                    n_tokens = sum(len(sentence) + 1 for sentence in sentences)
                    results[n, k][part].append(sum(bits) / n_tokens)
            training, heldout = (sum(results[n, k][part]) / 3 for part in ("training", "heldout"))
            print(f"n = {n}   k = {k:<6} training {training:6.2f}   held-out {heldout:6.2f} bits per word")
    print("your choice:", choose_n_and_k(results))

# %% [markdown] written="reading_the_fall" points=3 minutes=10
# ### 13. Reading the fall
#
# On the Wall Street Journal, with one vocabulary for all three, models trained on 38 million words reach
# these perplexities on new text: unigram 962, bigram 170, trigram 109 (Jurafsky and Martin). Drawn on a
# linear axis of perplexity, the first step looks like everything and the second like nothing.
#
# a) How many bits per word does each of the two steps save?
#
# b) Which axis would you draw the three numbers on, and why?
#
# c) A fourth model reads every word outside its 5,000 commonest as `<unk>` and reports a perplexity of 60.
# Why does that not make it the best of the four?
#
# ### BEGIN SOLUTION
# a) (1 point) $\log_2(962/170) = 2.50$ bits and $\log_2(170/109) = 0.64$ bits.
#
# b) (1 point) A logarithmic axis of perplexity, or bits on a linear one: what is saved per word adds up in
# bits, and equal factors of perplexity are equal savings. On the linear axis the steps look like 792 to 61,
# about 13 to 1; in bits they are 3.9 to 1.
#
# c) (1 point) It predicts a different, easier text: `<unk>` is one frequent token that stands for all rare
# words, and the model is never charged for saying which one it was. Perplexities can be compared only over
# the same tokens. Full marks also for: charge it for spelling out the unknown words, or compare bits per byte
# of the whole text.
# ### END SOLUTION

# %% [markdown]
# ## Part C. Tokens: byte-pair encoding and bits per byte
#
# In this part a **symbol** is a `bytes` object such as `b"th"`, and a **pair** is a tuple of two symbols. At
# first every symbol is a single byte of the text in UTF-8: `"é"` is two symbols, `b"\xc3"` and `b"\xa9"`.

# %% [markdown] exercise="bpe_train" difficulty=3 minutes=25 forbids="course.tokenizers,course.tokenizers.bpe.BytePairTokenizer"
# ### 14. Byte-pair encoding: learning the merges
#
# Byte-pair encoding (BPE) builds a vocabulary from the bottom up. Every word starts as a row of single bytes.
# Then, `n_merges` times:
#
# 1. Count the pairs of neighbouring symbols inside the words, **as the words are now**. `words` is running
#    text: a word that occurs five times counts five times. Overlapping occurrences cannot all be merged, so
#    they are counted from the left without overlap: `b"a", b"a", b"a"` holds the pair of `b"a"` and `b"a"`
#    once, four in a row hold it twice.
# 2. Take the most frequent pair. Among equally frequent ones take the smallest in Python's order of tuples of
#    bytes.
# 3. Append it to the list of merges, and in every word replace it by one symbol, from the left: three `b"a"`
#    in a row become `b"aa", b"a"`.
#
# If no word has two symbols left, stop early. (Programs differ in how they count overlaps and settle ties,
# and so learn different merges from the same text. These are the rules of this exercise.)
#
# Write `bpe_train(words, n_merges)`, which returns the list of pairs in the order they were merged. Do not
# use `course.tokenizers`.
#
# **Example.** `words = ["ab", "ab", "abc", "bc"]`. The pair `(b"a", b"b")` occurs 3 times, `(b"b", b"c")`
# twice: merge the first. Now the words are `ab`, `ab`, `ab c`, `b c`, and both `(b"ab", b"c")` and
# `(b"b", b"c")` occur once: merge the smaller, `(b"ab", b"c")`. So `bpe_train(words, 2)` is
# `[(b"a", b"b"), (b"ab", b"c")]`, and with `n_merges=3` the third pair is `(b"b", b"c")`. After that nothing
# is left to merge.
#
# <details><summary>Hint 1</summary>
#
# Three small functions make it readable: split a word into symbols, count the pairs of one row of symbols,
# replace a pair in one row of symbols.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `min(counts, key=...)` can settle "most frequent, then smallest" if the key is a tuple. How do you make a
# larger count come first in a `min`?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Two occurrences of a pair overlap only if they start at neighbouring places. So remember for each pair where
# you last counted it.
#
# </details>


# %% solution="bpe_train"
def bpe_train(words: list[str], n_merges: int) -> list[tuple[bytes, bytes]]:
    """The pairs that byte-pair encoding merges, in order: ["ab", "ab", "bc"], 1 → [(b"a", b"b")]."""
    ### BEGIN SOLUTION
    rows = [[bytes([byte]) for byte in word.encode()] for word in words]
    merges = []
    for _ in range(n_merges):
        counts = sum((count_pairs(row) for row in rows), Counter())
        if not counts:
            break
        merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))
        rows = [replace_pair(row, merges[-1]) for row in rows]
    return merges


def count_pairs(row: list[bytes]) -> Counter:
    """How often each pair of neighbours can be merged in a row of symbols: a a a → {(a, a): 1}."""
    from itertools import pairwise

    counts, counted_at = Counter(), {}
    for place, pair in enumerate(pairwise(row)):
        if counted_at.get(pair) != place - 1:  # else it overlaps the one just counted
            counts[pair] += 1
            counted_at[pair] = place
    return counts


def replace_pair(row: list[bytes], pair: tuple[bytes, bytes]) -> list[bytes]:
    """The row with every occurrence of the pair, from the left, made one symbol."""
    replaced = []
    for symbol in row:
        if replaced and (replaced[-1], symbol) == pair:
            replaced[-1] += symbol
        else:
            replaced.append(symbol)
    return replaced
    ### END SOLUTION


# %% check="the_example_merges_come_in_order" points=1
def the_example_merges_come_in_order(bpe_train):
    """The example has the three merges of the statement."""
    words = ["ab", "ab", "abc", "bc"]
    assert_equal(bpe_train(words, 3), [(b"a", b"b"), (b"ab", b"c"), (b"b", b"c")])
    assert_equal(bpe_train(words, 2), [(b"a", b"b"), (b"ab", b"c")])


check(the_example_merges_come_in_order, bpe_train)


# %% check="a_frequent_word_counts_as_often_as_it_occurs" points=1
def a_frequent_word_counts_as_often_as_it_occurs(bpe_train):
    """A pair in one word that occurs six times goes before a pair in three words that occur once."""
    assert_equal(bpe_train(["cd", "cde", "cdf", *["ab"] * 6], 1), [(b"a", b"b")])


check(a_frequent_word_counts_as_often_as_it_occurs, bpe_train)


# %% check="no_pair_crosses_the_border_of_a_word" points=1
def no_pair_crosses_the_border_of_a_word(bpe_train):
    """The end of one word and the beginning of the next are no pair."""
    words = ["ca", "bd"] * 4 + ["bd", "pq", "pq"]
    assert_equal(bpe_train(words, 3), [(b"b", b"d"), (b"c", b"a"), (b"p", b"q")])


check(no_pair_crosses_the_border_of_a_word, bpe_train)


# %% check="a_run_of_one_letter_is_counted_without_overlap" points=1
def a_run_of_one_letter_is_counted_without_overlap(bpe_train):
    """`aaaaa` holds the pair of two `a` twice, so `bc`, which occurs three times, is merged first."""
    assert_equal(bpe_train(["aaaaa", "bc", "bcd", "bce"], 1), [(b"b", b"c")])


check(a_run_of_one_letter_is_counted_without_overlap, bpe_train)


# %% check="a_run_of_one_letter_is_merged_from_the_left" points=1
def a_run_of_one_letter_is_merged_from_the_left(bpe_train):
    """After the first merge `aaa` is `aa a`, not `a aa`."""
    assert_equal(bpe_train(["aaa", "aaa"], 2), [(b"a", b"a"), (b"aa", b"a")])


check(a_run_of_one_letter_is_merged_from_the_left, bpe_train)


# %% check="among_equally_frequent_pairs_the_smallest_goes_first" points=1
def among_equally_frequent_pairs_the_smallest_goes_first(bpe_train):
    """`my`, `zx` and `ab` occur once each: their pairs are merged in alphabetical order."""
    assert_equal(bpe_train(["my", "zx", "ab"], 3), [(b"a", b"b"), (b"m", b"y"), (b"z", b"x")])


check(among_equally_frequent_pairs_the_smallest_goes_first, bpe_train)


# %% check="pairs_are_counted_again_after_every_merge" points=1
def pairs_are_counted_again_after_every_merge(bpe_train):
    """Once `ab` is a symbol, `abc` holds the pair of `ab` and `c`, and no longer that of `b` and `c`."""
    merges = bpe_train(["abc"] * 4 + ["ab"] + ["bd"] * 3, 3)
    assert_equal(merges, [(b"a", b"b"), (b"ab", b"c"), (b"b", b"d")])


check(pairs_are_counted_again_after_every_merge, bpe_train)


# %% check="training_stops_when_nothing_is_left_to_merge" points=1
def training_stops_when_nothing_is_left_to_merge(bpe_train):
    """Words of one byte have no pair, and `xy` has one."""
    assert_equal(bpe_train(["x", "y"], 3), [])
    assert_equal(bpe_train(["xy", "x"], 3), [(b"x", b"y")])


check(training_stops_when_nothing_is_left_to_merge, bpe_train)


# %% check="a_letter_beyond_ascii_is_several_bytes" points=1
def a_letter_beyond_ascii_is_several_bytes(bpe_train):
    """`é` begins as two bytes, which are merged like any others."""
    assert_equal(bpe_train(["é", "é", "né"], 1), [(b"\xc3", b"\xa9")])


check(a_letter_beyond_ascii_is_several_bytes, bpe_train)


# %% check="other_texts_have_their_merges" points=2 hidden
def other_texts_have_their_merges(bpe_train, draw):
    """Other texts have the merges that the three steps lead to."""

    def replaced(row, pair):
        merged = list(row)
        for place in range(len(row)):
            if tuple(merged[place : place + 2]) == pair:
                merged[place : place + 2] = [pair[0] + pair[1]]
        return merged

    def merges_of(words, n_merges):
        rows, merges = [[bytes([byte]) for byte in word.encode()] for word in words], []
        while len(merges) < n_merges and any(len(row) > 1 for row in rows):
            pairs = sorted({(row[i], row[i + 1]) for row in rows for i in range(len(row) - 1)})
            shrinks = [sum(len(row) - len(replaced(row, pair)) for row in rows) for pair in pairs]
            merges.append(pairs[shrinks.index(max(shrinks))])
            rows = [replaced(row, merges[-1]) for row in rows]
        return merges

    a, b, c, d, e = (chr(ord("a") + place) for place in sorted(draw.permutation(26)[:5]))
    more = draw.integers(3, 6)
    texts = (
        [a + b] * (more + 4) + [c + d, c + d + e, c + d + a],  # a frequent word
        [c + a, b + d] * more,  # pairs across borders
        [a * 3] * more + [b + c] * (more + 1),  # runs
        [b + e, d + c, a + e],  # ties
        [a + b + c] * (more + 2) + [b + d] * more,  # counts that change
        ["é" + a, "é", "ü"] * more,
        ["".join(draw.sentence([a, b, "ß"], length)) for length in (2, 5, 3, 7, 4, 6)],
    )
    for words in texts:
        assert_equal(bpe_train(words, 6), merges_of(words, 6))


check(other_texts_have_their_merges, bpe_train)

# %% [markdown] exercise="bpe_encode" difficulty=2 minutes=20 forbids="course.tokenizers,course.tokenizers.bpe.encode_word"
# ### 15. Byte-pair encoding: a new word
#
# A word that is to be encoded goes through the same merges, in the order in which they were learned. The
# place of a pair in `merges` is its **rank**. Start from single bytes and repeat: among the pairs of
# neighbouring symbols that are in `merges`, take the one of lowest rank and replace all its occurrences, from
# the left, by one symbol. Stop when no pair of neighbours is in `merges`.
#
# Write `bpe_encode(word, merges)`, which returns the list of symbols. `word` is a string, `merges` a list of
# pairs of `bytes`. Do not use `course.tokenizers`.
#
# **Example.** `merges = [(b"n", b"a"), (b"a", b"n"), (b"an", b"an"), (b"an", b"a")]` and the word `"banana"`.
# The lowest rank among its pairs is that of `(b"n", b"a")`; after replacing both occurrences the symbols are
# `[b"b", b"a", b"na", b"na"]`. None of the pairs left is in `merges`, so this is the answer, although longer
# symbols would fit.
#
# <details><summary>Hint 1</summary>
#
# Make a dict from pair to rank first. Then `min` over the neighbouring pairs finds the one to merge.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A merge creates new neighbours, which may be in `merges` themselves. When can you be sure that you are done?
#
# </details>


# %% solution="bpe_encode"
def bpe_encode(word: str, merges: list[tuple[bytes, bytes]]) -> list[bytes]:
    """The symbols of a word after all merges that apply, lowest rank first."""
    ### BEGIN SOLUTION
    from itertools import pairwise

    rank = {pair: place for place, pair in enumerate(merges)}
    symbols = [bytes([byte]) for byte in word.encode()]
    while known := [pair for pair in pairwise(symbols) if pair in rank]:
        left, right = min(known, key=rank.get)
        merged = []
        for symbol in symbols:
            if symbol == right and merged and merged[-1] == left:
                merged[-1] = left + right
            else:
                merged.append(symbol)
        symbols = merged
    return symbols
    ### END SOLUTION


# %% check="banana_is_b_a_na_na" points=1
def banana_is_b_a_na_na(bpe_encode):
    """In the example, `banana` becomes `b`, `a`, `na`, `na`."""
    merges = [(b"n", b"a"), (b"a", b"n"), (b"an", b"an"), (b"an", b"a")]
    assert_equal(bpe_encode("banana", merges), [b"b", b"a", b"na", b"na"])


check(banana_is_b_a_na_na, bpe_encode)


# %% check="the_symbols_spell_the_word" points=1
def the_symbols_spell_the_word(bpe_encode):
    """Joined together, the symbols are the bytes of the word."""
    for word in ("lowerlow", "x", "Zoë naïve"):
        symbols = bpe_encode(word, [(b"l", b"o"), (b"lo", b"w"), (b"e", b"r")])
        assert_equal(b"".join(symbols), word.encode(), what=f"the symbols of {word} joined")


check(the_symbols_spell_the_word, bpe_encode)


# %% check="the_lowest_rank_is_merged_first" points=1
def the_lowest_rank_is_merged_first(bpe_encode):
    """The pair learned first goes before the pair farther left and before the longer symbol."""
    merges = [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c"), (b"c", b"d")]
    assert_equal(bpe_encode("abcd", merges), [b"a", b"bc", b"d"])


check(the_lowest_rank_is_merged_first, bpe_encode)


# %% check="merged_symbols_are_merged_again" points=1
def merged_symbols_are_merged_again(bpe_encode):
    """Merges apply to the symbols that merges made: `abab` becomes one symbol."""
    assert_equal(bpe_encode("ababx", [(b"a", b"b"), (b"ab", b"ab")]), [b"abab", b"x"])


check(merged_symbols_are_merged_again, bpe_encode)


# %% check="every_occurrence_is_merged" points=1
def every_occurrence_is_merged(bpe_encode):
    """A pair that occurs three times is replaced three times, in a run from the left."""
    assert_equal(bpe_encode("xyzxyxy", [(b"x", b"y")]), [b"xy", b"z", b"xy", b"xy"])
    assert_equal(bpe_encode("aaa", [(b"a", b"a")]), [b"aa", b"a"])


check(every_occurrence_is_merged, bpe_encode)


# %% check="words_beyond_ascii_are_encoded_byte_by_byte" points=1
def words_beyond_ascii_are_encoded_byte_by_byte(bpe_encode):
    """`né` has three bytes, of which the last two merge; `ö` stays two bytes if no merge joins them."""
    merges = [(b"\xc3", b"\xa9")]
    assert_equal(bpe_encode("né", merges), [b"n", b"\xc3\xa9"])
    assert_equal(bpe_encode("ö", merges), [b"\xc3", b"\xb6"])


check(words_beyond_ascii_are_encoded_byte_by_byte, bpe_encode)


# %% check="other_words_are_encoded_by_rank" points=2 hidden
def other_words_are_encoded_by_rank(bpe_encode, draw):
    """Other words, with other merges, are encoded lowest rank first."""
    a, b, c, d, e = (chr(ord("a") + place).encode() for place in draw.permutation(26)[:5])
    merges = [(a, b), (e, a + b), (c, d), (a + b, c), (e, a + b + c), (b"\xc3", b"\xb8")]
    word, symbols = (a + b + c + d + e + a + b + c).decode(), [a + b, c + d, e + a + b, c]
    assert_equal(bpe_encode(word, merges), symbols)
    assert_equal(bpe_encode(word * 3, merges), symbols * 3)
    assert_equal(bpe_encode("øæ", merges), [b"\xc3\xb8", b"\xc3", b"\xa6"])
    assert_equal(bpe_encode((a * 5).decode(), [(a, a), (a + a, a)]), [a + a, a + a + a])
    assert_equal(bpe_encode((a + b + c + d).decode(), [(b, c), (c, d), (a, b)]), [a, b + c, d])


check(other_words_are_encoded_by_rank, bpe_encode)

# %% [markdown] exercise="bpe_decode" difficulty=1 minutes=5
# ### 16. Back to text
#
# A symbol need not be valid UTF-8: `"é"` may be spread over two symbols, and a model may emit any symbols in
# any order. Write `bpe_decode(symbols)`, which returns the text of a list of `bytes`. Where the bytes of the
# whole text are no valid UTF-8, put the replacement character `"\ufffd"` (`errors="replace"` in
# `bytes.decode`).
#
# **Example.** `bpe_decode([b"n", b"\xc3", b"\xa9", b"e"])` is `"née"`. `bpe_decode([b"n", b"\xc3", b"e"])` is
# `"n\ufffde"`, as `b"\xc3"` alone is half a letter.
#
# <details><summary>Hint 1</summary>
#
# Where does the `"é"` of the example exist as a whole: in one symbol, or only in the row of all bytes?
#
# </details>


# %% solution="bpe_decode"
def bpe_decode(symbols: list[bytes]) -> str:
    """The text of a row of symbols: [b"caf", b"\xc3", b"\xa9"] → "café"."""
    ### BEGIN SOLUTION
    return b"".join(symbols).decode("utf-8", errors="replace")
    ### END SOLUTION


# %% check="plain_symbols_become_their_text" points=1
def plain_symbols_become_their_text(bpe_decode):
    """Symbols of ASCII letters are put together without anything between them."""
    assert_equal(bpe_decode([b"low", b"er", b" ", b"down"]), "lower down")


check(plain_symbols_become_their_text, bpe_decode)


# %% check="a_letter_may_be_spread_over_symbols" points=1
def a_letter_may_be_spread_over_symbols(bpe_decode):
    """The two bytes of `é` may come in two symbols, the three of `€` in two or three."""
    assert_equal(bpe_decode([b"n", b"\xc3", b"\xa9", b"e"]), "née")
    assert_equal(bpe_decode([b"5 \xe2", b"\x82\xac", b"\xe2", b"\x82", b"\xac"]), "5 €€")


check(a_letter_may_be_spread_over_symbols, bpe_decode)


# %% check="bytes_that_are_no_text_are_shown_as_such" points=1
def bytes_that_are_no_text_are_shown_as_such(bpe_decode):
    """Half a letter becomes the replacement character, and the rest is still there."""
    assert_equal(bpe_decode([b"n", b"\xc3", b"e"]), "n\ufffde")


check(bytes_that_are_no_text_are_shown_as_such, bpe_decode)


# %% check="other_texts_come_back_from_their_bytes" points=1 hidden
def other_texts_come_back_from_their_bytes(bpe_decode, draw):
    """Any text, cut into symbols anywhere, comes back."""
    text = "".join(draw.sentence(["a", " ", "ß", "日", "𝛑"], 20)) + "日𝛑"
    row = text.encode()
    cuts = [0, *sorted(draw.permutation(len(row))[:9]), len(row) - 1, len(row)]
    assert_equal(bpe_decode([row[cuts[i] : cuts[i + 1]] for i in range(len(cuts) - 1)]), text)
    assert_equal(bpe_decode([*(row[i : i + 1] for i in range(len(row))), b"\xff"]), text + "\ufffd")


check(other_texts_come_back_from_their_bytes, bpe_decode)

# %% [markdown] exercise="split_special" difficulty=2 minutes=10 forbids="course.tokenizers,course.tokenizers.bpe.split_special"
# ### 17. Special tokens stay whole
#
# Some tokens are no text but marks, such as `<|end|>` between two documents. BPE must never see them: before
# encoding, the text is cut so that each mark is a piece of its own.
#
# Write `split_special(text, special_tokens)`, which returns the list of pieces in order. Joined together the
# pieces are `text` again; every special token that occurs is a piece of its own; no piece is empty; and what
# lies between two special tokens is one piece. Where two special tokens could begin at the same place, the
# longer one counts. `special_tokens` is a list of strings in any order and may be empty; an empty text has no
# pieces. Do not use `course.tokenizers`.
#
# **Example.** `split_special("one<|end|>two<|end|><|end|>", ["<|end|>"])` is
# `["one", "<|end|>", "two", "<|end|>", "<|end|>"]`.
#
# <details><summary>Hint 1</summary>
#
# `re.split` keeps what it cuts at if the pattern is in parentheses. Which characters of `<|end|>` mean
# something else in a pattern, and what does `re.escape` do?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# In a pattern `a|ab`, the first alternative that fits is taken. In which order should the special tokens
# stand?
#
# </details>


# %% solution="split_special"
def split_special(text: str, special_tokens: list[str]) -> list[str]:
    """The text cut so that each special token is a piece of its own: "a<|end|>" → ["a", "<|end|>"]."""
    ### BEGIN SOLUTION
    import re

    longest_first = sorted(special_tokens, key=len, reverse=True)
    if not longest_first:
        return [text] if text else []
    pattern = "|".join(re.escape(token) for token in longest_first)
    return [piece for piece in re.split(f"({pattern})", text) if piece]
    ### END SOLUTION


# %% check="the_example_text_has_five_pieces" points=1
def the_example_text_has_five_pieces(split_special):
    """The text of the example is cut into five pieces."""
    pieces = ["one", "<|end|>", "two", "<|end|>", "<|end|>"]
    assert_equal(split_special("one<|end|>two<|end|><|end|>", ["<|end|>"]), pieces)


check(the_example_text_has_five_pieces, split_special)


# %% check="the_pieces_spell_the_text" points=1
def the_pieces_spell_the_text(split_special):
    """Joined together, the pieces are the text, and none of them is empty."""
    text = "<pad>a b<eos> c<pad><pad>"
    pieces = split_special(text, ["<eos>", "<pad>"])
    assert_equal("".join(pieces), text, what="the pieces joined")
    assert_true("" not in pieces, f"There is an empty piece in {pieces}.")


check(the_pieces_spell_the_text, split_special)


# %% check="every_special_token_is_cut_out" points=1
def every_special_token_is_cut_out(split_special):
    """With two special tokens, each occurrence of either is a piece."""
    assert_equal(split_special("a<x>b<y>c<x>", ["<y>", "<x>"]), ["a", "<x>", "b", "<y>", "c", "<x>"])


check(every_special_token_is_cut_out, split_special)


# %% check="the_longer_special_token_counts" points=1
def the_longer_special_token_counts(split_special):
    """Of `<s>` and `<s><s>` the longer one is cut out where both fit, in whichever order they are listed."""
    expected = ["<s><s>", "a", "<s>", "b"]
    assert_equal(split_special("<s><s>a<s>b", ["<s><s>", "<s>"]), expected)
    assert_equal(split_special("<s><s>a<s>b", ["<s>", "<s><s>"]), expected)


check(the_longer_special_token_counts, split_special)


# %% check="without_special_tokens_the_text_is_one_piece" points=1
def without_special_tokens_the_text_is_one_piece(split_special):
    """A text without special tokens is one piece, and an empty text none."""
    assert_equal(split_special("a.b|c", ["<|end|>"]), ["a.b|c"])
    assert_equal(split_special("abc", []), ["abc"])
    assert_equal(split_special("", []), [])


check(without_special_tokens_the_text_is_one_piece, split_special)


# %% check="other_texts_are_cut_at_their_special_tokens" points=1 hidden
def other_texts_are_cut_at_their_special_tokens(split_special, draw):
    """Other texts are cut at special tokens made of any characters."""
    for mark in ("[{}]", "<|{}|>", "({})*", "$${}.^"):
        name = "".join(draw.sentence(list("abcde"), 4))
        short, long = mark.format(name), mark.format(name) * 2
        pieces = ["x y", long, "z|", short, "abc", short]
        assert_equal(split_special("".join(pieces), [short, long]), pieces)
        assert_equal(split_special(long + long + "w", [short, "never", long]), [long, long, "w"])
    assert_equal(split_special("no mark", []), ["no mark"])


check(other_texts_are_cut_at_their_special_tokens, split_special)

# %% [markdown] exercise="bits_per_byte" difficulty=1 minutes=10
# ### 18. One unit for all tokenizers
#
# Perplexity is a cost per token, and what a token is depends on the tokenizer. The bytes of a text do not. So
# models with different tokenizers are compared in **bits per byte**: everything the model pays for a text, in
# bits, divided by the number of bytes of the text in UTF-8.
#
# Write `bits_per_byte(token_log_probs, text)`, which returns this as one number. `token_log_probs` is a list
# with $\ln P$ of each of the text's tokens, in nats.
#
# **Example.** The text `"née"` has four bytes. A model has two tokens for it and gives each the probability
# 1/8: it pays 3 + 3 = 6 bits, which is 1.5 bits per byte.
#
# <details><summary>Hint 1</summary>
#
# Do it in two steps: the total in bits, then the number of bytes. What is one nat in bits?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `len("née")` is 3, because a string consists of characters.
#
# </details>


# %% solution="bits_per_byte"
def bits_per_byte(token_log_probs: list[float], text: str) -> float:
    """What a model pays for a text, in bits, per byte of the text in UTF-8."""
    ### BEGIN SOLUTION
    bits = -sum(token_log_probs) / math.log(2)
    return bits / len(text.encode())
    ### END SOLUTION


# %% check="the_example_costs_one_and_a_half_bits_per_byte" points=1
def the_example_costs_one_and_a_half_bits_per_byte(bits_per_byte):
    """`née` in two tokens of probability 1/8 costs 1.5 bits per byte."""
    assert_close(bits_per_byte([math.log(1 / 8)] * 2, "née"), 1.5)


check(the_example_costs_one_and_a_half_bits_per_byte, bits_per_byte)


# %% check="the_same_price_in_more_tokens_is_the_same" points=1
def the_same_price_in_more_tokens_is_the_same(bits_per_byte, draw):
    """A text that costs as much in two tokens as in five has the same bits per byte."""
    price, text = draw.number(-9, -7), "over there"
    answer = bits_per_byte([price / 4, 3 * price / 4], text)
    assert_close(bits_per_byte([price / 5] * 5, text), answer)
    assert_depends(answer, bits_per_byte([price, price], text))


check(the_same_price_in_more_tokens_is_the_same, bits_per_byte)


# %% check="a_letter_beyond_ascii_weighs_as_much_as_its_bytes" points=1
def a_letter_beyond_ascii_weighs_as_much_as_its_bytes(bits_per_byte, draw):
    """For the same price, four letters of two bytes cost as much per byte as eight letters of one."""
    log_probs = draw.uniform(3, low=-5, high=-1).tolist()
    answer = bits_per_byte(log_probs, "eaosEAOS")
    assert_close(bits_per_byte(log_probs, "éàöß"), answer)
    assert_depends(answer, bits_per_byte([2 * log_prob for log_prob in log_probs], "eaosEAOS"))


check(a_letter_beyond_ascii_weighs_as_much_as_its_bytes, bits_per_byte)


# %% check="guessing_bytes_blindly_costs_eight_bits" points=1
def guessing_bytes_blindly_costs_eight_bits(bits_per_byte):
    """A model whose tokens are bytes, each of probability 1/256, pays 8 bits per byte."""
    assert_close(bits_per_byte([math.log(1 / 256)] * 5, "bytes"), 8.0)


check(guessing_bytes_blindly_costs_eight_bits, bits_per_byte)


# %% check="other_texts_have_their_bits_per_byte" points=1 hidden
def other_texts_have_their_bits_per_byte(bits_per_byte, draw):
    """Other texts cost their tokens' bits, shared among their bytes."""
    for text, n_bytes, n_tokens in (("日本語", 9, 4), ("a", 1, 1), ("naïve Zoë " * 5, 60, 31)):
        log_probs = draw.uniform(n_tokens, low=-8, high=-0.5)
        expected = -log_probs.sum().item() * math.log2(math.e) / n_bytes
        assert_close(bits_per_byte(log_probs.tolist(), text), expected)


check(other_texts_have_their_bits_per_byte, bits_per_byte)

# %% [markdown] exercise="cheapest_model" difficulty=2 minutes=10
# ### 19. Which model is best?
#
# Several models were run on the same held-out text, each with its own tokenizer. A report says
#
# | key | meaning |
# |---|---|
# | `"perplexity"` | perplexity per token, with the model's own tokens |
# | `"n_tokens"` | how many tokens its tokenizer made of the text |
# | `"n_unknown"` | how many of these were `<unk>`, which stands for whatever the vocabulary lacks |
#
# A model with an `<unk>` among its tokens has not predicted this text: it was never charged for saying what
# stood there. Leave it out of the comparison. The best of the others is the one to which the **whole text**
# costs the fewest bits.
#
# Write `cheapest_model(reports)`, which returns the name of the best model. `reports` is a dict from name to
# report, and at least one model has no `<unk>`.
#
# **Example.** Four reports:
#
# | name | `"perplexity"` | `"n_tokens"` | `"n_unknown"` |
# |---|---|---|---|
# | `"words"` | 64.0 | 100 | 0 |
# | `"pieces"` | 8.0 | 240 | 0 |
# | `"letters"` | 4.0 | 500 | 0 |
# | `"short"` | 2.0 | 700 | 30 |
#
# The text costs `words` $100 \cdot \log_2 64 = 600$ bits, `pieces` $240 \cdot \log_2 8 = 720$ bits, `letters`
# $500 \cdot \log_2 4 = 1000$ bits; `short` is left out. The answer is `"words"`, although its perplexity is
# the highest.
#
# <details><summary>Hint 1</summary>
#
# A perplexity of $2^b$ means $b$ bits per token. What does the whole text cost, then?
#
# </details>


# %% solution="cheapest_model"
def cheapest_model(reports: dict[str, dict[str, float]]) -> str:
    """The name of the model that pays the fewest bits for the text, among those that predicted all of it."""
    ### BEGIN SOLUTION
    bits = {
        name: report["n_tokens"] * math.log2(report["perplexity"])
        for name, report in reports.items()
        if report["n_unknown"] == 0
    }
    return min(bits, key=bits.get)
    ### END SOLUTION


# %% provided="reports"
def reports_of(*rows):
    """Reports from rows of name, bits per token, number of tokens, number of unknown ones."""
    return {
        name: {"perplexity": 2**bits, "n_tokens": n_tokens, "n_unknown": n_unknown}
        for name, bits, n_tokens, n_unknown in rows
    }


# %% check="the_words_are_cheapest_in_the_example" points=1
def the_words_are_cheapest_in_the_example(cheapest_model):
    """In the example the model over words is the best."""
    spellers = [("words", 6, 100, 0), ("pieces", 3, 240, 0), ("letters", 2, 500, 0)]
    reports = reports_of(*spellers, ("short", 1, 700, 30))
    assert_equal(cheapest_model(reports), "words")


check(the_words_are_cheapest_in_the_example, cheapest_model)


# %% check="the_lowest_perplexity_need_not_win" points=1
def the_lowest_perplexity_need_not_win(cheapest_model, draw):
    """A low perplexity over many tokens may cost more than a high one over few."""
    n = draw.integers(40, 80)
    reports = reports_of(("pieces", 5.0, 2 * n, 0), ("letters", 1.8, 6 * n, 0), ("words", 11.5, n, 0))
    assert_equal(cheapest_model(reports), "pieces")


check(the_lowest_perplexity_need_not_win, cheapest_model)


# %% check="a_model_that_skipped_words_is_left_out" points=1
def a_model_that_skipped_words_is_left_out(cheapest_model, draw):
    """A model with unknown tokens does not win, however little it pays."""
    n = draw.integers(40, 80)
    reports = reports_of(("words", 5.0, n, 3), ("pieces", 4.0, 2 * n, 0), ("letters", 3.0, 6 * n, 0))
    assert_equal(cheapest_model(reports), "pieces")


check(a_model_that_skipped_words_is_left_out, cheapest_model)


# %% check="other_models_are_compared_by_their_whole_price" points=1 hidden
def other_models_are_compared_by_their_whole_price(cheapest_model, draw):
    """Of other models, the one that pays least for the whole text wins."""
    n = draw.integers(500, 900)
    rows = [
        ("a", 11.0, n, 0), ("b", 6.4, int(1.5 * n), 0), ("c", 4.0, 3 * n, 0),
        ("d", 1.5, 7 * n, 0), ("e", 6.0, n, 1), ("f", 9.5, int(1.2 * n), 0),
    ]  # fmt: skip
    shuffled = [rows[place] for place in draw.permutation(len(rows))]
    assert_equal(cheapest_model(reports_of(*shuffled)), "b")


check(other_models_are_compared_by_their_whole_price, cheapest_model)
