# %% [markdown]
# # 02 · n-grams
#
# **You will be able to**
#
# - state the Markov assumption and say what it costs;
# - turn a text into counts and counts into a language model, for any $n$;
# - explain why a model must never give the probability zero, and repair it in three ways;
# - sample sentences, and read from them what the model knows.
#
# *30 minutes to read, under 30 seconds to run. Before this: [01 · The chain rule](01_chain_rule.ipynb).*
#
# **The question of the day:** if whole histories never come back, how much of one is worth keeping?

# %% setup

# %%
import math
from collections import Counter

import matplotlib.pyplot as plt
import torch

from course import figures
from course.data.corpora import python_documentation
from course.data.story_language import StoryLanguage

# %% [markdown]
# ## The Markov assumption
#
# The chain rule conditions each word on everything before it. An **n-gram model** keeps the last $n - 1$ words and forgets
# the rest:
#
# $$P(x_t \mid x_1, \dots, x_{t-1}) \approx P(x_t \mid x_{t-n+1}, \dots, x_{t-1}).$$
#
# | $n$ | name | condition | *where are we going* |
# |---|---|---|---|
# | 1 | unigram | nothing | $P(\text{going})$ |
# | 2 | bigram | one word | $P(\text{going} \mid \text{we})$ |
# | 3 | trigram | two words | $P(\text{going} \mid \text{are we})$ |
# | 4 | 4-gram | three words | $P(\text{going} \mid \text{where are we})$ |
#
# The sign is $\approx$, not $=$: something was given up. What was gained is that short contexts come back, so they can be
# counted.
#
# ## Counting
#
# Start with a corpus you can hold in your head. `<s>` stands before each sentence, so that its first word has a context
# too; `</s>` ends it. Both keep one sentence from running into the next.

# %%
corpus = ["the cat sat", "the cat ran", "the dog sat", "a cat sat"]


def ngrams(sentence: str, n: int) -> list[tuple[str, ...]]:
    """All n-grams of one sentence: n − 1 times <s> in front, one </s> at the end."""
    words = ["<s>"] * (n - 1) + sentence.split() + ["</s>"]
    return [tuple(words[t : t + n]) for t in range(len(words) - n + 1)]


ngrams("the cat sat", 2)

# %% [markdown]
# The last word of an n-gram is the prediction, the words before it are the context. `<s>` is never predicted: it is
# always there. `</s>` is: a model that cannot stop does not know what a sentence is.

# %%
bigram_counts = Counter(gram for sentence in corpus for gram in ngrams(sentence, 2))
context_counts = Counter(gram[:-1] for gram in bigram_counts.elements())
bigram_counts.most_common(4), context_counts[("the",)]

# %% [markdown]
# ## From counts to probabilities
#
# Which probabilities make the corpus most likely? Lecture 01 found the answer by gradient descent: the share of each word
# among all that followed the same context, the **maximum-likelihood estimate** (MLE),
#
# $$P(w \mid c) = \frac{\text{count}(c, w)}{\text{count}(c)}, \qquad \text{count}(c) = \sum_{w'} \text{count}(c, w').$$
#
# **Predict, then run.** What are $P(\text{cat} \mid \text{the})$ and $P(\text{sat} \mid \text{cat})$ in the four sentences?


# %%
def mle(word: str, context: tuple[str, ...]) -> float:
    return bigram_counts[(*context, word)] / context_counts[context]


mle("cat", ("the",)), mle("sat", ("cat",))

# %%
words = sorted({word for sentence in corpus for word in sentence.split()} | {"</s>"})
for context in context_counts:
    assert math.isclose(sum(mle(word, context) for word in words), 1)

# %% [markdown]
# With tensors the counts are one table, one row per context, and the model is that table divided by its row sums.

# %%
rows = [context[0] for context in context_counts]
counts = torch.zeros(len(rows), len(words))
for (context, word), count in bigram_counts.items():
    counts[rows.index(context), words.index(word)] = count
probs = counts / counts.sum(dim=1, keepdim=True)  # (contexts, V) / (contexts, 1)
assert math.isclose(probs[rows.index("the"), words.index("cat")], mle("cat", ("the",)), rel_tol=1e-6)
probs

# %% [markdown]
# ## A table large enough to look at
#
# Letters make the smallest interesting alphabet: 26 and the border of a word, written `·`. Here are the words of Python's
# documentation, half of them to count and half of them held out to judge with.

# %%
letters = "·abcdefghijklmnopqrstuvwxyz"
vocabulary = sorted({w for w in python_documentation().lower().split() if w.isalpha() and w.isascii()})
order = torch.randperm(len(vocabulary), generator=torch.Generator().manual_seed(0)).tolist()
shuffled = [vocabulary[i] for i in order]
half = len(shuffled) // 2
len(shuffled), shuffled[:6]


# %%
def letter_counts(words: list[str]) -> torch.Tensor:
    """(27, 27): how often each letter follows each letter, the border included."""
    table = torch.zeros(27, 27)
    for word in words:
        for before, after in zip(f"·{word}", f"{word}·", strict=True):
            table[letters.index(before), letters.index(after)] += 1
    return table


seen, held_out = letter_counts(shuffled[:half]), letter_counts(shuffled[half:])
figures.count_matrix(seen, list(letters), held_out)

# %% [markdown]
# Choose the row of `q`, then move *add k*. Throw a few darts and take the letters: a word that does not exist, but
# could. Find the $k$ at which the held-out text is cheapest; you will meet it again below.
#
# ## Writing with n-grams
#
# Sampling is the dart, again and again. The longer the context, the more the words look like English, and the more
# of them are copied.


# %%
def letter_model(words: list[str], n: int) -> dict[str, Counter]:
    model = {}
    for word in words:
        padded = "·" * (n - 1) + word + "·"
        for t in range(n - 1, len(padded)):
            model.setdefault(padded[t - n + 1 : t], Counter())[padded[t]] += 1
    return model


def write(model: dict[str, Counter], n: int, generator: torch.Generator) -> str:
    word = "·" * (n - 1)
    while len(word) < n or word[-1] != "·":
        followers = model[word[len(word) - n + 1 :]]
        draw = torch.multinomial(torch.tensor(list(followers.values())).float(), 1, generator=generator)
        word += list(followers)[draw]
    return word.strip("·")


# %%
known = set(shuffled)
for n in range(1, 6):
    model, generator = letter_model(shuffled, n), torch.Generator().manual_seed(n)
    written = [write(model, n, generator) for _ in range(300)]
    print(
        f"n = {n}: {sum(word in known for word in written) / 300:4.0%} are known words.  {' '.join(written[:6])}"
    )

# %% [markdown]
# ## Where it breaks: zero
#
# **Predict, then run.** The bigram model of the four sentences meets *the dog ran*. Every word of it is known. What is
# its probability?

# %%
new = [mle(word, (context,)) for context, word in ngrams("the dog ran", 2)]
print(new, "product:", math.prod(new))

# %% [markdown]
# Zero, for a perfectly good sentence, because *dog ran* did not happen to occur. Its logarithm is $-\infty$, and one such
# word makes the average over a million others infinite too. This is not bad luck but the rule: most n-grams that a new text
# contains have never been seen. Count how many, for words this time, in the second half of the documentation:

# %%
text = python_documentation().lower().split()
first, second = text[: len(text) // 2], text[len(text) // 2 :]


def unseen_share(n: int) -> float:
    seen = set(zip(*(first[i:] for i in range(n)), strict=False))
    grams = list(zip(*(second[i:] for i in range(n)), strict=False))
    return sum(gram not in seen for gram in grams) / len(grams)


shares = [unseen_share(n) for n in range(1, 6)]
drawing, axes = plt.subplots(figsize=(5, 2.4))
axes.plot(range(1, 6), shares, "o-", color="#0072B2")
axes.set(xlabel="n", ylabel="share of unseen n-grams", xticks=range(1, 6), ylim=(0, 1))
figures.still(
    drawing,
    alt="Share of n-grams of new text never seen before: "
    + ", ".join(f"{s:.0%} for n = {n}" for n, s in enumerate(shares, 1)),
    caption="A longer context knows more and has seen less.",
)

# %% [markdown]
# ## Three repairs
#
# **Add-k** pretends that everything was seen $k$ times more:
#
# $$P_{\text{add-}k}(w \mid c) = \frac{\text{count}(c, w) + k}{\text{count}(c) + k V}.$$
#
# The denominator grows by $k$ for each of the $V$ words, or the row would no longer sum to one.

# %%
k, V = 0.5, len(words)
smoothed = (counts + k) / (counts.sum(dim=1, keepdim=True) + k * V)
assert torch.allclose(smoothed.sum(dim=1), torch.ones(len(rows)))
smoothed[rows.index("dog"), words.index("ran")]

# %% [markdown]
# **Interpolation** asks several models and mixes their answers. A trigram that has seen nothing is helped by the bigram, and
# that by the unigram (Jelinek and Mercer, 1980):
#
# $$P(w \mid u, v) = \lambda_3 P(w \mid u, v) + \lambda_2 P(w \mid v) + \lambda_1 P(w) + \lambda_0 / V, \qquad \textstyle\sum_i \lambda_i = 1.$$
#
# **Kneser–Ney** (1995) adds two ideas. *Discounting*: subtract the same $d$ from every count and give what was collected to the
# shorter context. *Continuation*: judge a word in the shorter context not by how often it occurs, but by how many different
# words it follows. *Francisco* is frequent, and follows almost only *San*; after an unknown word it is a bad guess.
#
# $$P_{\text{KN}}(w \mid v) = \frac{\max(\text{count}(v, w) - d, 0)}{\text{count}(v)} + \frac{d \, N_{1+}(v\,\cdot)}{\text{count}(v)} \; \frac{N_{1+}(\cdot\,w)}{N_{1+}(\cdot\,\cdot)}$$
#
# | symbol | meaning |
# |---|---|
# | $d$ | the discount, between 0 and 1 |
# | $N_{1+}(v\,\cdot)$ | how many different words follow $v$ |
# | $N_{1+}(\cdot\,w)$ | how many different words precede $w$ |
# | $N_{1+}(\cdot\,\cdot)$ | how many different bigrams there are |


# %%
def kneser_ney(counts: torch.Tensor, d: float) -> torch.Tensor:
    """Interpolated Kneser–Ney probabilities (contexts, V) from bigram counts (contexts, V)."""
    total = counts.sum(dim=1, keepdim=True)
    followers = (counts > 0).sum(dim=1, keepdim=True)  # N(v ·)
    continuation = (counts > 0).sum(dim=0) / (counts > 0).sum()  # N(· w) / N(· ·)
    return (counts - d).clamp(min=0) / total + d * followers / total * continuation


kn = kneser_ney(counts, d=0.75)
assert torch.allclose(kn.sum(dim=1), torch.ones(len(rows)))
kn[rows.index("dog"), words.index("ran")]

# %% [markdown]
# Which is best? Never ask the text that was counted: there, no smoothing always wins. Ask the held-out half of the letters.


# %%
def bits_per_letter(probs: torch.Tensor, held_out: torch.Tensor) -> float:
    return -(torch.where(held_out > 0, held_out * probs.log2(), 0).sum() / held_out.sum()).item()


ks = [10**e for e in (-3, -2, -1, 0, 1, 2)]
add_k = [(seen + k) / (seen + k).sum(dim=1, keepdim=True) for k in ks]
on_seen = [bits_per_letter(p, seen) for p in add_k]
on_held_out = [bits_per_letter(p, held_out) for p in add_k]
best_d = min((bits_per_letter(kneser_ney(seen, d), held_out), d) for d in (0.1, 0.25, 0.5, 0.75, 0.9))
print(f"best add-k: {min(on_held_out):.4f} bits   best Kneser–Ney: {best_d[0]:.4f} bits at d = {best_d[1]}")

# %%
drawing, axes = plt.subplots(figsize=(5, 2.6))
axes.semilogx(ks, on_seen, "s--", color="#E69F00", label="text that was counted")
axes.semilogx(ks, on_held_out, "o-", color="#0072B2", label="held-out text")
axes.set(xlabel="k", ylabel="bits per letter")
axes.legend(frameon=False)
figures.still(
    drawing,
    alt=f"Bits per letter against k: on the counted text it only rises; on held-out text it is lowest, {min(on_held_out):.3f}, at k = {ks[on_held_out.index(min(on_held_out))]:g}.",
    caption="On the counted text less smoothing is always better; only held-out text has an opinion.",
)
assert on_seen == sorted(on_seen)

# %% [markdown]
# ## The ladder
#
# Back to the stories of lecture 01 and their floor. One more word of context at a time, each model smoothed by Kneser–Ney from the
# library, judged on stories it has not seen.

# %%
from course.models import KneserNey, NGramCounts

language = StoryLanguage()
train = language.sample(4000, torch.Generator().manual_seed(1))
test = language.sample(300, torch.Generator().manual_seed(2))
stories = [tokens[mask] for tokens, mask in zip(train.tokens, train.mask, strict=True)]


def bits_per_token(model) -> float:
    log_probs = model(test.tokens[:, :-1]).gather(-1, test.tokens[:, 1:, None]).squeeze(-1)
    return -(log_probs[test.mask[:, 1:]].sum() / test.mask[:, 1:].sum() / math.log(2)).item()


# %%
bos, vocab_size = language.vocabulary.bos, language.vocab_size
ladder = {"uniform": math.log2(vocab_size)}
for n in range(1, 6):
    ladder[f"{n}-gram"] = bits_per_token(KneserNey(NGramCounts(stories, n, vocab_size, bos)))
floor = bits_per_token(language)
print({name: round(bits, 2) for name, bits in ladder.items()}, f"floor {floor:.2f}")

# %%
drawing, axes = plt.subplots(figsize=(6, 2.6))
bars = axes.barh(list(ladder)[::-1], list(ladder.values())[::-1], color="#0072B2")
axes.bar_label(bars, [f"{bits:.2f}" for bits in list(ladder.values())[::-1]], padding=3)
axes.axvline(floor, color="#D55E00", linestyle="--", label=f"floor {floor:.2f}")
axes.set(xlabel="bits per token", xlim=(0, ladder["uniform"] + 0.8))
axes.legend(frameon=False)
figures.still(
    drawing,
    alt="The ladder in bits per token: "
    + ", ".join(f"{name} {bits:.2f}" for name, bits in ladder.items())
    + f"; floor {floor:.2f}.",
    caption="One rung for each word of context, and how far they all stay above the floor.",
)

# %% [markdown]
# Each word of context helps less than the one before, and from some $n$ on it does not help at all: the counts have become too
# thin. The rest of the way down, agreement across a clause, quotations that close, a thing that comes back twenty words
# later, is out of reach of any table of neighbours.
#
# ## The same in the library
#
# `course.models` counts with sorted integers instead of dictionaries, so that millions of n-grams take seconds. It must give
# the numbers of the table you built by hand:

# %%
from course.data.vocabulary import Vocabulary
from course.models import NGram

tiny = Vocabulary.from_sentences((line.split() for line in corpus), special_tokens=("<s>", "</s>"))
tiny_counts = NGramCounts(
    [torch.tensor(tiny.encode(line.split(), eos=True)) for line in corpus], 2, len(tiny), tiny.bos
)
contexts = torch.tensor([[tiny.token(row)] for row in rows])  # (contexts, T=1)
columns = torch.tensor([tiny.token(word) for word in words])
assert torch.allclose(NGram(tiny_counts)(contexts)[:, 0, columns].exp(), probs)
print("the library's bigram table is the table above")

# %% [markdown]
# ## Recap
#
# - An n-gram model keeps $n - 1$ words of context: an approximation, but one that can be counted.
# - The maximum-likelihood estimate divides counts; it gives zero to what it has not seen, and most of a new text is unseen.
# - Add-k, interpolation and Kneser–Ney move probability to the unseen; each row still sums to one.
# - Choose $n$, $k$ and $d$ on held-out text.
# - Longer contexts help until the counts run out, long before the floor.
#
# **In the homework:** [hw1](../homeworks/hw1_language_models/hw1_language_models.ipynb), exercises on counts, estimation, smoothing and
# choosing by held-out text.
#
# ## Further reading
#
# - Daniel Jurafsky and James H. Martin, *Speech and Language Processing*, 3rd edition draft, chapter 3.
# - Stanley F. Chen and Joshua Goodman, "An Empirical Study of Smoothing Techniques for Language Modeling", *Computer Speech & Language* 13 (1999), 359–394.
# - Reinhard Kneser and Hermann Ney, "Improved Backing-off for M-gram Language Modeling", ICASSP 1995.
# - Frederick Jelinek and Robert L. Mercer, "Interpolated Estimation of Markov Source Parameters from Sparse Data", *Pattern Recognition in Practice*, 1980.
