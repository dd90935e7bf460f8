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


# %% check="the_first_word_is_scored" points=1
def the_first_word_is_scored(sequence_log_prob, draw):
    """When the model finds the first word likelier, the sentence becomes likelier."""
    log_probs, tokens = draw.probabilities(6, 9).log(), torch.tensor([0, 4, 7, 2, 5, 1])
    log_probs[0, 4] = log_probs[0].min() - 1  # the least likely word remains it
    likelier = log_probs.clone()
    likelier[0, 4] += 0.7
    before, after = sequence_log_prob(log_probs, tokens), sequence_log_prob(likelier, tokens)
    assert_true(after > before, f"With a likelier first word the answer went from {before} to {after}.")


# %% check="the_end_of_the_sentence_is_scored" points=1
def the_end_of_the_sentence_is_scored(sequence_log_prob, draw):
    """When the model finds `</s>` likelier after the last word, the sentence becomes likelier."""
    log_probs, tokens = draw.probabilities(6, 9).log(), torch.tensor([0, 8, 1, 6, 2, 3])  # `</s>` is 3 here
    log_probs[4, 3] = log_probs[4].min() - 1  # the least likely token remains it
    likelier = log_probs.clone()
    likelier[4, 3] += 0.7
    before, after = sequence_log_prob(log_probs, tokens), sequence_log_prob(likelier, tokens)
    assert_true(after > before, f"With a likelier ending the answer went from {before} to {after}.")


# %% check="the_opening_token_is_not_scored" points=1
def the_opening_token_is_not_scored(sequence_log_prob, draw):
    """`<s>` is given, not predicted: how likely the model finds it changes nothing."""
    log_probs, tokens = draw.probabilities(5, 7).log(), torch.tensor([0, 3, 6, 2, 1])
    likelier = log_probs.clone()
    likelier[:, 0] = 0.0  # certain
    answer = sequence_log_prob(log_probs, tokens)
    assert_close(sequence_log_prob(likelier, tokens), answer)
    assert_depends(answer, sequence_log_prob(0.1 * log_probs, tokens))


# %% check="nothing_is_scored_after_the_end" points=1
def nothing_is_scored_after_the_end(sequence_log_prob, draw):
    """What the model says after `</s>` changes nothing."""
    log_probs, tokens = draw.probabilities(5, 8).log(), torch.tensor([0, 5, 2, 7, 1])
    other = log_probs.clone()
    other[-1] = draw.probabilities(8).log() - 1
    answer = sequence_log_prob(log_probs, tokens)
    assert_close(sequence_log_prob(other, tokens), answer)
    assert_depends(answer, sequence_log_prob(0.1 * log_probs, tokens))


# %% check="a_long_sentence_stays_finite" points=1
def a_long_sentence_stays_finite(sequence_log_prob):
    """A sentence of 900 tokens, each of probability 1/5, has a finite log-probability."""
    log_probs, tokens = torch.full((901, 5), math.log(1 / 5), dtype=torch.float64), torch.arange(901) % 5
    answer, other = sequence_log_prob(log_probs, tokens), sequence_log_prob(2 * log_probs, tokens)
    assert_true(math.isfinite(answer), f"The answer is {answer}.")
    assert_depends(answer, other)


# %% check="other_sentences_add_their_log_probs" points=2 hidden
def other_sentences_add_their_log_probs(sequence_log_prob, draw):
    """Sentences of other lengths get the sum of their tokens' log-probabilities."""
    for length, vocab_size in ((1, 4), (12, 31), (57, 17)):
        log_probs = draw.probabilities(length + 1, vocab_size).log()
        beginning, end, *words = draw.permutation(vocab_size)
        middle = [words[place] for place in draw.integers(0, len(words), length - 1).tolist()]
        tokens = torch.tensor([beginning, *middle, end])
        expected = sum(log_probs[t - 1, tokens[t]].item() for t in range(1, length + 1))
        assert_close(sequence_log_prob(log_probs, tokens), expected)


# %% provided="batches" helper
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
    """The corpus of the example has perplexity 4; were all its tokens as likely as 1/8, it would have 8."""
    half, eighth = math.log(1 / 2), math.log(1 / 8)
    batches = [as_batch([[half, half, half], [eighth]]), as_batch([[eighth, eighth]])]
    assert_close(corpus_perplexity(batches), 4.0)
    batches = [as_batch([[eighth] * 3, [eighth]]), as_batch([[eighth, eighth]])]
    assert_close(corpus_perplexity(batches), 8.0, what="where all have 1/8")


# %% check="a_uniform_model_has_perplexity_vocab_size" points=1
def a_uniform_model_has_perplexity_vocab_size(corpus_perplexity):
    """A model that gives each of 13 tokens the probability 1/13 has perplexity 13."""
    one = math.log(1 / 13)
    assert_close(corpus_perplexity([as_batch([[one] * 6, [one] * 6], penalty=0.0)]), 13.0)


# %% check="an_unlikely_token_is_paid_in_full" points=1
def an_unlikely_token_is_paid_in_full(corpus_perplexity):
    """Two tokens of log-probabilities −60 and −10 have the perplexity e to the power of 35."""
    assert_close(corpus_perplexity([as_batch([[-60.0, -10.0]])]), math.exp(35))


# %% check="every_token_weighs_the_same" points=1
def every_token_weighs_the_same(corpus_perplexity, draw):
    """When a token of a short sentence changes places with one of a long sentence, nothing changes."""
    easy, hard = draw.number(-0.4, -0.2), draw.number(-7, -5)
    before = as_batch([[easy] * 9, [hard, hard]])
    after = as_batch([[hard] + [easy] * 8, [easy, hard]])
    answer = corpus_perplexity([before])
    assert_close(corpus_perplexity([after]), answer)
    assert_depends(answer, corpus_perplexity([as_batch([[easy] * 9])]))


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


# %% check="padding_does_not_matter" points=1
def padding_does_not_matter(corpus_perplexity, draw):
    """More padding, and other numbers in it, change nothing."""
    sentences = [draw.uniform(length, low=-6, high=-1).tolist() for length in (2, 7, 3)]
    padded = as_batch(sentences, width=19, filler=-11.0)
    answer = corpus_perplexity([as_batch(sentences)])
    assert_close(corpus_perplexity([padded]), answer)
    assert_depends(answer, corpus_perplexity([as_batch([[-0.5] * 4])]))


# %% check="the_penalty_does_not_matter" points=1
def the_penalty_does_not_matter(corpus_perplexity, draw):
    """A larger penalty on the weights, with the same predictions, changes nothing."""
    sentences = [draw.uniform(length, low=-6, high=-1).tolist() for length in (5, 4)]
    penalised = as_batch(sentences, penalty=1.7)
    answer = corpus_perplexity([as_batch(sentences)])
    assert_close(corpus_perplexity([penalised]), answer)
    assert_depends(answer, corpus_perplexity([as_batch([[-0.5] * 4])]))


# %% check="a_long_corpus_stays_finite" points=1
def a_long_corpus_stays_finite(corpus_perplexity):
    """Three thousand tokens of probability 1/32 have a finite perplexity."""
    answer = corpus_perplexity([as_batch([[math.log(1 / 32)] * 100] * 30)])
    other = corpus_perplexity([as_batch([[math.log(1 / 2)] * 100])])
    assert_true(math.isfinite(answer), f"The answer is {answer}.")
    assert_depends(answer, other)


# %% check="other_corpora_have_their_perplexity" points=2 hidden
def other_corpora_have_their_perplexity(corpus_perplexity, draw):
    """For other corpora, batched in other ways, the perplexity is taken over all tokens together."""
    sentences = [draw.uniform(length, low=-9, high=-0.1).tolist() for length in (1, 14, 3, 6, 2, 250)]
    log_probs = [value for sentence in sentences for value in sentence]
    expected = math.exp(-math.fsum(log_probs) / len(log_probs))
    batches = [as_batch(sentences[:2], width=20), as_batch(sentences[2:5]), as_batch(sentences[5:])]
    assert_close(corpus_perplexity(batches), expected)
    assert_close(corpus_perplexity([as_batch([sentence]) for sentence in sentences]), expected)


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
    """One half and two quarters branch 2.828-fold, three thirds threefold."""
    assert_close(branching_factor(distribution(1 / 2, 1 / 4, 1 / 4)), 2**1.5)
    assert_close(branching_factor(distribution(1 / 3, 1 / 3, 1 / 3)), 3.0)


# %% check="random_digits_branch_tenfold" points=1
def random_digits_branch_tenfold(branching_factor):
    """Ten equally likely digits have perplexity 10."""
    assert_close(branching_factor(distribution(*[1 / 10] * 10)), 10.0)


# %% check="the_operator_hears_52_6_equally_likely_things" points=1
def the_operator_hears_52_6_equally_likely_things(branching_factor):
    """Three requests of 1/4 and 30,000 names of 1/120,000 have perplexity 52.6."""
    names = torch.full((30_000,), 1 / 120_000, dtype=torch.float64)
    said = torch.cat([distribution(1 / 4, 1 / 4, 1 / 4), names])
    assert_close(branching_factor(said), 4 ** (3 / 4) * 120_000 ** (1 / 4))


# %% check="what_never_happens_does_not_count" points=1
def what_never_happens_does_not_count(branching_factor):
    """Outcomes of probability zero leave the perplexity as it is."""
    possible = branching_factor(distribution(0.7, 0.3))
    assert_close(branching_factor(distribution(0.0, 0.7, 0.0, 0.3, 0.0)), possible)
    assert_depends(possible, branching_factor(distribution(0.4, 0.2, 0.3, 0.1)))


# %% check="independent_choices_multiply" points=1 hidden
def independent_choices_multiply(branching_factor, draw):
    """Two independent choices together branch as often as the product of both."""
    first, second = draw.probabilities(3), draw.probabilities(5)
    both = branching_factor((first[:, None] * second).flatten())
    one = branching_factor(first)
    assert_close(both, one * branching_factor(second))
    assert_depends(both, one)


# %% check="other_distributions_have_their_perplexity" points=1 hidden
def other_distributions_have_their_perplexity(branching_factor, draw):
    """Other distributions have the product of all (1/p) to the power p."""
    for size in (2, 7, 23):
        probs = draw.probabilities(size)
        expected = math.prod((1 / p) ** p for p in probs.tolist())
        assert_close(branching_factor(torch.cat([probs, distribution(0.0)])), expected)


# %% [markdown]
# ### Shannon's game
#
# In 1951 Claude Shannon measured the entropy of English with people as language models: guess the next letter
# until you have it, and write down how many guesses it took. Play a sentence: set `PLAY = True` in the second
# cell and run it. (No points. Nothing is sent anywhere.)
#
# If a fraction $q_i$ of the letters needed $i$ guesses, then $-\sum_i q_i \log_2 q_i$ bounds the bits per letter
# from above: anyone who knows how you guess can recover the text from the numbers alone. One sentence is a small
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
    fractions = [count / len(guesses) for count in Counter(guesses).values()]
    return -sum(fraction * math.log2(fraction) for fraction in fractions)


# %%
PLAY = False  # True, then run this cell; the space bar or Enter guesses a space
if PLAY:
    guesses = shannons_game(SENTENCES_TO_GUESS[0])
    print(f"{guesses}\nat most about {bits_per_letter(guesses):.2f} bits per letter; blind guessing: 4.75")

# %% [markdown] exercise="entropy_rate" difficulty=3 minutes=25
# ### 4. The floor: the entropy rate of a source
#
# A Markov source emits tokens 0, 1, …, and the next one depends on the present one alone: `transition[i, j]`
# is $P(x_{t+1} = j \mid x_t = i)$. From every token it can reach every other. In the long run it emits token
# $i$ a fixed fraction $\pi_i$ of the time. These fractions, the stationary distribution, reproduce themselves:
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
# fractions are 8/13, 3/13, 2/13: for instance the first,
# $\frac{8}{13} \cdot \frac12 + \frac{3}{13} \cdot 1 + \frac{2}{13} \cdot \frac12 = \frac{8}{13}$. So
# $H = (8 \cdot 1.5 + 3 \cdot 0 + 2 \cdot 1) / 13 = 14/13 \approx 1.077$ bits.
#
# <details><summary>Hint 1</summary>
#
# There are two separate jobs: the fractions, and the entropy of each row. Print both for the example before you
# combine them.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# For the fractions: solve the linear equations, or let the source take steps until the fractions stay as they are.
# Do they, for a source that is at token 0 at every second step? What if it throws a coin before each step and
# stays where it is on heads: are its fractions others in the long run? Check which side of `transition` the
# distribution is multiplied on.
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
    # The fractions solve fractions @ transition = fractions and sum to one: one more equation than unknowns.
    balance = transition.T - torch.eye(vocab_size, dtype=transition.dtype)
    equations = torch.cat([balance, torch.ones(1, vocab_size, dtype=transition.dtype)])
    right_side = torch.zeros(vocab_size + 1, 1, dtype=transition.dtype)
    right_side[-1] = 1
    fractions = torch.linalg.lstsq(equations, right_side).solution[:, 0]
    row_entropies = -torch.xlogy(transition, transition).sum(1) / math.log(2)
    return (fractions @ row_entropies).item()
    ### END SOLUTION


# %% check="the_example_source_has_14_13_bits" points=1
def the_example_source_has_14_13_bits(entropy_rate):
    """The source of the example has an entropy rate of 14/13 bits."""
    transition = torch.tensor([[2, 1, 1], [4, 0, 0], [2, 2, 0]], dtype=torch.float64) / 4
    assert_close(entropy_rate(transition), 14 / 13)


# %% check="a_source_without_memory_has_the_entropy_of_its_tokens" points=1
def a_source_without_memory_has_the_entropy_of_its_tokens(entropy_rate):
    """When every row is 1/2, 1/4, 1/8, 1/8, the rate is 1.75 bits."""
    row = torch.tensor([1 / 2, 1 / 4, 1 / 8, 1 / 8], dtype=torch.float64)
    assert_close(entropy_rate(row.repeat(4, 1)), 1.75)


# %% check="a_source_without_choice_has_rate_zero" points=1
def a_source_without_choice_has_rate_zero(entropy_rate):
    """A source that always emits 0, 1, 2, 0, 1, 2, … has an entropy rate of 0."""
    transition = torch.tensor([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=torch.float64)
    answer = entropy_rate(transition)
    assert_close(answer, 0.0)
    assert_depends(answer, entropy_rate(torch.full((2, 2), 1 / 2, dtype=torch.float64)))


# %% check="a_token_counts_as_often_as_it_occurs" points=2
def a_token_counts_as_often_as_it_occurs(entropy_rate, draw):
    """A row of high entropy weighs little when the source is rarely there."""
    rare = draw.number(0.01, 0.04)
    # Tokens 0 and 1 hardly choose; token 2, which is followed by anything, is rare.
    transition = torch.tensor(
        [[1 - rare, 0.0, rare], [1 - rare, 0.0, rare], [1 / 3, 1 / 3, 1 / 3]], dtype=torch.float64
    )
    hardly_a_choice = -(rare * math.log2(rare) + (1 - rare) * math.log2(1 - rare))
    fraction = rare / (2 / 3 + rare)
    assert_close(entropy_rate(transition), (1 - fraction) * hardly_a_choice + fraction * math.log2(3))


# %% check="shares_are_not_those_of_one_moment" points=1
def shares_are_not_those_of_one_moment(entropy_rate):
    """A source at token 0 at every second step has 1/2 bit, at every third 1/3; one that hardly moves 0.014541."""
    every_second = torch.tensor([[0, 1, 1], [2, 0, 0], [2, 0, 0]], dtype=torch.float64) / 2
    assert_close(entropy_rate(every_second), 0.5, what="the source with a period of two")
    every_third = (
        torch.tensor([[0, 1, 1, 0], [0, 0, 0, 2], [0, 0, 0, 2], [2, 0, 0, 0]], dtype=torch.float64) / 2
    )
    assert_close(entropy_rate(every_third), 1 / 3, what="the source with a period of three")
    sticky = torch.tensor([[0.999, 0.001], [0.002, 0.998]], dtype=torch.float64)
    bits = [-torch.xlogy(row, row).sum().item() / math.log(2) for row in sticky]
    assert_close(entropy_rate(sticky), (2 * bits[0] + bits[1]) / 3, what="the source that hardly moves")


# %% check="other_sources_have_their_entropy_rate" points=2 hidden
def other_sources_have_their_entropy_rate(entropy_rate, draw):
    """Sources of other sizes have the entropy that one more token adds to a long text."""
    for vocab_size in (2, 5, 9):
        habit, rows = draw.probabilities(vocab_size), draw.probabilities(vocab_size, vocab_size)
        transition = 0.4 * habit + 0.6 * rows
        transition[0, 1:] *= 0.2  # token 0 likes to stay
        transition[1, -1] *= 0  # the last token never follows token 1
        transition[:2, 0] = 1 - transition[:2, 1:].sum(1)
        fractions = torch.linalg.matrix_power(transition, 4096)[0]
        pairs = fractions[:, None] * transition
        added = torch.xlogy(fractions, fractions).sum() - torch.xlogy(pairs, pairs).sum()
        assert_close(entropy_rate(transition), added.item() / math.log(2))
    rarely_moves = torch.tensor([[0.998, 0.002], [0.001, 0.999]], dtype=torch.float64)
    bits = -torch.xlogy(rarely_moves, rarely_moves).sum(1) / math.log(2)
    assert_close(entropy_rate(rarely_moves), ((bits[0] + 2 * bits[1]) / 3).item())


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
