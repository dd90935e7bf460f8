# %% [markdown]
# # 02 · n-grams
#
# **You will be able to**
#
# - state the Markov assumption and say what it costs;
# - turn a text into counts and counts into a language model, for any $n$;
# - explain why a model must never give the probability zero, and avoid it by three methods of smoothing;
# - sample sentences, and see in them what the model has learned.
#
# *30 minutes to read, under 30 seconds to run. Before this: [01 · The chain rule](01_chain_rule.ipynb).*
#
# **The question of the day:** if whole histories almost never recur, how much of each should a model keep?

# %% setup

# %%
import math
import textwrap
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
# The sign is $\approx$, not $=$: this is an approximation. In return, short contexts recur often enough to be counted.
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
# Which probabilities make the corpus most likely? Lecture 01 found the answer by gradient descent: the relative
# frequency of each word among all that followed the same context. This is the **maximum-likelihood estimate** (MLE),
#
# $$P(w \mid c) = \frac{\text{count}(c, w)}{\text{count}(c)}, \qquad \text{count}(c) = \sum_{w'} \text{count}(c, w').$$
#
# | symbol | meaning | in the code |
# |---|---|---|
# | $c$ | a context: the $n - 1$ words before | `context` |
# | $w$ | the word that is predicted; $w'$ runs through all of them | `word` |
# | $\text{count}(c, w)$ | how often $w$ stood after $c$ | `bigram_counts[(*context, word)]` |
# | $\text{count}(c)$ | how often anything stood after $c$ | `context_counts[context]` |
# | $V$ | how many words can be predicted, `</s>` among them | `len(words)` |
#
# **Predict, then run.** What are $P(\text{cat} \mid \text{the})$ and $P(\text{sat} \mid \text{cat})$ in the four sentences?


# %%
def mle(word: str, context: tuple[str, ...]) -> float:
    return bigram_counts[(*context, word)] / context_counts[context]


mle("cat", ("the",)), mle("sat", ("cat",))

# %% [markdown]
# After each context the probabilities of all words add up to one, as they must:

# %%
words = sorted({word for sentence in corpus for word in sentence.split()} | {"</s>"})
for context in context_counts:
    assert math.isclose(sum(mle(word, context) for word in words), 1)
print(f"{len(context_counts)} contexts, each with a distribution over V = {len(words)} words")

# %% [markdown]
# With tensors the counts are one table, a row for each context and a column for each word, and the model is that table divided by its row
# sums. There are as many rows as columns, but they are not the same words: `<s>` has only a row, `</s>` only a column.

# %%
rows = [context[0] for context in context_counts]
counts = torch.zeros(len(rows), len(words))
for (context, word), count in bigram_counts.items():
    counts[rows.index(context), words.index(word)] = count
probs = counts / counts.sum(dim=1, keepdim=True)  # (contexts, V) / (contexts, 1)
by_loop = [[mle(word, (row,)) for word in words] for row in rows]
assert torch.allclose(probs, torch.tensor(by_loop))

# %%
print(" " * 5 + "".join(f"{word:>6}" for word in words))
for row, values in zip(rows, probs.tolist(), strict=True):
    print(f"{row:5}" + "".join(f"{value:6.2f}" for value in values))

# %% [markdown]
# ## A table large enough to look at
#
# The smallest interesting vocabulary is the alphabet: 26 letters, and `·` for a word boundary. Here are the words of
# Python's documentation. We count in half of them. The other half is **held out**, to measure models on words they have
# not seen, and split in two: a model's settings are chosen on the **validation** words, and it is judged, once, on the **test** words.

# %%
letters = "·abcdefghijklmnopqrstuvwxyz"
text = python_documentation().lower().split()
vocabulary = sorted({word for word in text if word.isalpha() and word.isascii()})
order = torch.randperm(len(vocabulary), generator=torch.Generator().manual_seed(0)).tolist()
shuffled = [vocabulary[i] for i in order]
half, three_quarters = len(shuffled) // 2, len(shuffled) * 3 // 4
len(shuffled), shuffled[:6]


# %%
def letter_counts(words: list[str]) -> torch.Tensor:
    """(27, 27): how often each letter follows each letter, the border included."""
    table = torch.zeros(27, 27)
    for word in words:
        for before, after in zip(f"·{word}", f"{word}·", strict=True):
            table[letters.index(before), letters.index(after)] += 1
    return table


parts = shuffled[:half], shuffled[half:three_quarters], shuffled[three_quarters:]
seen, validation, test = (letter_counts(part) for part in parts)
figures.count_matrix(seen, list(letters), validation)

# %% [markdown]
# Choose the row of `q` with the slider *After*: it has been followed by almost nothing but `u`. Throw a few darts and take the
# letters: a word that does not exist, but could. The slider *add k* adds a number to every count. You will see below
# what that is good for; for now, find the $k$ at which the held-out words, here those for validation, cost the fewest
# bits.
#
# ## Writing with n-grams
#
# Sampling throws the dart again and again. Here it is for any $n$, with a dictionary instead of a table.


# %%
def letter_model(words: list[str], n: int) -> dict[str, Counter]:
    """For each context of n − 1 letters, how often each letter followed."""
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
        counts = torch.tensor(list(followers.values())).float()
        word += list(followers)[torch.multinomial(counts, 1, generator=generator)]
    return word.strip("·")


# %% [markdown]
# **Predict, then run.** Of the words of four letters and more that the model writes, what fraction is copied from the list, for
# $n = 1$ and for $n = 5$?

# %%
known = set(shuffled)
for n in range(1, 6):
    model, generator = letter_model(shuffled, n), torch.Generator().manual_seed(n)
    written = [word for word in (write(model, n, generator) for _ in range(500)) if len(word) > 3]
    copied = sum(word in known for word in written) / len(written)
    print(f"n = {n}: {copied:4.0%} copied   {' '.join(written[:6])[:64]}")

# %% [markdown]
# The longer the context, the more the words look like English, and the more of them are copied: the two go together.
#
# ## Where it breaks: zero
#
# **Predict, then run.** The bigram model of the four sentences meets *the dog ran*. Every word of it is known. What is
# its probability?

# %%
new = [mle(word, (context,)) for context, word in ngrams("the dog ran", 2)]
print([round(factor, 2) for factor in new], "product:", math.prod(new))

# %% [markdown]
# <details><summary>Answer</summary>
#
# Zero, for a perfectly good sentence, because *dog ran* did not happen to occur. Its logarithm is $-\infty$, and one such
# word makes the average over a million others infinite too.
#
# </details>
#
# **Predict, then run.** Is that bad luck, or the rule? In lecture 01 most histories of three words were new. And pairs?
# What fraction of the bigrams in the second half of the documentation never occur in the first half?

# %%
first, second = text[: len(text) // 2], text[len(text) // 2 :]


def unseen_share(n: int) -> float:
    seen = set(zip(*(first[i:] for i in range(n)), strict=False))
    grams = list(zip(*(second[i:] for i in range(n)), strict=False))
    return sum(gram not in seen for gram in grams) / len(grams)


shares = [unseen_share(n) for n in range(1, 6)]

# %%
figures.prediction("What fraction of the bigrams of a new text are unseen?", shares[1], unit="%")

# %%
drawing, axes = plt.subplots(figsize=(5, 2.4))
axes.plot(range(1, 6), shares, "o-", color="#0072B2")
axes.set(xlabel="n", ylabel="fraction of unseen n-grams", xticks=range(1, 6), ylim=(0, 1))
figures.still(
    drawing,
    alt="Fraction of n-grams of new text never seen before: "
    + ", ".join(f"{s:.0%} for n = {n}" for n, s in enumerate(shares, 1)),
    caption="Of the n-grams in the second half of the text, the fraction that the first half does not contain.",
)

# %% [markdown]
# From $n = 3$ on, most n-grams of a new text are unseen. A model must never give probability zero to what can happen.
# (Today's language models look back over thousands of tokens, some over a million. No table of counts can do that;
# lecture 05 begins with what replaces it.)
#
# ## Three ways to smooth
#
# **Add-k** pretends that everything was seen $k$ extra times:
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
# **Interpolation** asks several models and mixes their answers. Where the trigram has no counts, the bigram helps, and
# where the bigram has none, the unigram (Jelinek and Mercer, 1980):
#
# $$P_\text{mix}(w \mid u, v) = \lambda_3 P(w \mid u, v) + \lambda_2 P(w \mid v) + \lambda_1 P(w) + \lambda_0 / V, \qquad \textstyle\sum_i \lambda_i = 1.$$
#
# Here $u$ and $v$ are the two words before $w$, each $P$ on the right is a maximum-likelihood estimate, and the weights
# $\lambda_i$ are not negative. If $u\,v$ never occurred, $P(w \mid u, v)$ has no estimate, and its weight goes to the
# other terms, in proportion to their own weights.

# %%
by_order = [Counter(gram for line in corpus for gram in ngrams(line, n)) for n in (1, 2, 3)]
lambdas = (0.1, 0.2, 0.3, 0.4)  # λ₀ … λ₃


def mixed(word: str, context: tuple[str, ...], V: int) -> float:
    total, given = lambdas[0] / V, lambdas[0]
    for n, counted in enumerate(by_order, start=1):
        after = {gram[-1]: c for gram, c in counted.items() if gram[:-1] == context[3 - n :]}
        if after:  # this context has been seen
            total += lambdas[n] * after.get(word, 0) / sum(after.values())
            given += lambdas[n]
    return total / given


for context in (("the", "dog"), ("ran", "dog")):  # the second was never seen
    assert math.isclose(sum(mixed(word, context, V) for word in words), 1)
round(mixed("ran", ("the", "dog"), V), 4)

# %% [markdown]
# **Kneser–Ney** (1995) joins two ideas. *Discounting* (Ney, Essen and Kneser, 1994): subtract the same $d$ from every count, and give the freed probability to the shorter context. *Continuation*: judge a word in the shorter
# context not by how often it occurs, but by how many different words it follows. *Francisco* is frequent, but it
# follows almost only *San*; after any other word it is a bad guess. The formula below is the *interpolated* form (Chen
# and Goodman, 1999), for bigrams. The library has their *modified* form: one discount for a count of 1, one for 2, and
# one for 3 or more.
#
# $$P_{\text{KN}}(w \mid v) = \frac{\max(\text{count}(v, w) - d, 0)}{\text{count}(v)} + \frac{d \, N_{1+}(v\,\cdot)}{\text{count}(v)} \; \frac{N_{1+}(\cdot\,w)}{N_{1+}(\cdot\,\cdot)}$$
#
# | symbol | meaning |
# |---|---|
# | $v$ | the context, here one word |
# | $d$ | the discount, between 0 and 1 |
# | $N_{1+}(v\,\cdot)$ | how many different words follow $v$ |
# | $N_{1+}(\cdot\,w)$ | how many different words precede $w$ |
# | $N_{1+}(\cdot\,\cdot)$ | how many different bigrams there are |


# %%
def kneser_ney(counts: torch.Tensor, d: float) -> torch.Tensor:
    """Interpolated Kneser–Ney probabilities, (contexts, V), from bigram counts, (contexts, V)."""
    total = counts.sum(dim=1, keepdim=True)  # count(v)
    followers = (counts > 0).sum(dim=1, keepdim=True)  # N1+(v ·)
    continuation = (counts > 0).sum(dim=0) / (counts > 0).sum()  # N1+(· w) / N1+(· ·)
    return (counts - d).clamp(min=0) / total + d * followers / total * continuation


kn = kneser_ney(counts, d=0.75)
assert torch.allclose(kn.sum(dim=1), torch.ones(len(rows)))
kn[rows.index("dog"), words.index("ran")]

# %% [markdown]
# Three more names that you will meet. **Good–Turing** (1953) estimates the probability of everything unseen by the
# fraction of observations whose n-gram was seen only once. **Katz backoff** (1987) uses the longer context's discounted
# estimate where the n-gram was seen. Only where it was not does it use the shorter context's estimate, scaled so that
# the row sums to one. **Stupid backoff** (Brants and others, 2007) leaves out the discounts: it takes the relative
# frequency, or else 0.4 times the answer of the shorter context. Its numbers do not sum to one, but they can be
# computed from two trillion words. With that much text, its authors write, it comes close to Kneser–Ney.
#
# Which is best? The measure is the cross-entropy of lecture 01 in bits: the average of $-\log_2 P$ over the letters of
# a text. But of which text? The training text cannot tell, because there less smoothing is always better. Use the
# validation words.


# %%
def bits_per_letter(probs: torch.Tensor, pairs: torch.Tensor) -> float:
    """The average of −log2 P over a text with these counts of pairs, (27, 27)."""
    return -(torch.where(pairs > 0, pairs * probs.log2(), 0).sum() / pairs.sum()).item()


ks = [10**e for e in (-3, -2, -1, 0, 1, 2)]
add_k = [(seen + k) / (seen + k).sum(dim=1, keepdim=True) for k in ks]
on_seen = [bits_per_letter(table, seen) for table in add_k]
on_held_out = [bits_per_letter(table, validation) for table in add_k]
assert on_seen == sorted(on_seen)  # on the counted text more smoothing always costs more
best_k = ks[on_held_out.index(min(on_held_out))]

# %%
drawing, axes = plt.subplots(figsize=(5, 2.6))
axes.semilogx(ks, on_seen, "s--", color="#E69F00", label="text that was counted")
axes.semilogx(ks, on_held_out, "o-", color="#0072B2", label="validation text")
axes.set(xlabel="k", ylabel="bits per letter")
axes.legend(frameon=False)
figures.still(
    drawing,
    alt=f"Bits per letter against k: on the counted text it only rises; "
    f"on the validation text it is lowest, {min(on_held_out):.3f}, at k = {best_k:g}.",
    caption="On the counted text less smoothing is always better; text that was not counted has an optimum.",
)

# %% [markdown]
# Here are all three methods. Each has the setting that is best on the validation words, and is judged on the test
# words, which no setting has seen. On the words on which a setting was chosen, its result is too good.

# %%
alone = seen.sum(dim=0) / seen.sum()  # P(w)
after = seen / seen.sum(dim=1, keepdim=True)  # P(w | v)
mixtures = {s: s * after + (0.99 - s) * alone + 0.01 / 27 for s in (0.9, 0.95, 0.98, 0.99)}
methods = {
    ("add-k", "k"): dict(zip(ks, add_k, strict=True)),
    ("interpolation", "λ₂"): mixtures,
    ("Kneser–Ney", "d"): {d: kneser_ney(seen, d) for d in (0.1, 0.25, 0.5, 0.75, 0.9)},
}
for (name, letter), tables in methods.items():
    setting = min(tables, key=lambda s: bits_per_letter(tables[s], validation))
    bits = bits_per_letter(tables[setting], test)
    print(f"{name:13} {bits:.4f} bits per letter on the test words, with {letter} = {setting:g}")
print(f"pairs of the test words that were seen in the counted half: {test[seen > 0].sum() / test.sum():.2%}")

# %% [markdown]
# With 27 symbols almost every pair has been seen, so the three methods hardly differ. With words most n-grams are
# unseen, and the methods do differ, as the ladder shows.
#
# ## The ladder
#
# Back to the stories of lecture 01 and their floor. We add one word of context at a time. Each model is smoothed by the
# library's Kneser–Ney, which goes from each context to the next shorter one and estimates its discounts from the
# counts. It is measured on stories that it has not seen.
#
# **Predict, then run.** Which word of context helps most, the first, the second, the third or the fourth? Do all of them help?

# %%
from course.models import InterpolatedNGram, KneserNey, NGram, NGramCounts

language = StoryLanguage()
train = language.sample(4000, torch.Generator().manual_seed(1))
test_stories = language.sample(300, torch.Generator().manual_seed(2))
validation_stories = language.sample(300, torch.Generator().manual_seed(3))
stories = [tokens[mask] for tokens, mask in zip(train.tokens, train.mask, strict=True)]


def bits_per_token(model, batch=test_stories) -> float:
    log_probs = model(batch.tokens[:, :-1]).gather(-1, batch.tokens[:, 1:, None]).squeeze(-1)
    return -(log_probs[batch.mask[:, 1:]].sum() / batch.mask[:, 1:].sum() / math.log(2)).item()


# %%
bos, vocab_size = language.vocabulary.bos, language.vocab_size
counted = {n: NGramCounts(stories, n, vocab_size, bos) for n in range(1, 6)}
models = {n: KneserNey(counted[n]) for n in counted}
ladder = {"uniform": math.log2(vocab_size)}
ladder |= {f"{n}-gram": bits_per_token(model) for n, model in models.items()}
floor = bits_per_token(language)

# %%
saved = [ladder[f"{n}-gram"] - ladder[f"{n + 1}-gram"] for n in range(1, 5)]
options = dict(zip(("the first", "the second", "the third", "the fourth"), saved, strict=True))
figures.prediction("Which word of context saves most?", options, unit="bits")

# %%
for name, bits in (ladder | {"floor": floor}).items():
    print(f"{name:8} {bits:.2f} bits per token")

# %%
new = ("unigram", "bigram", "trigram", "4-gram")
live = {name: ladder[f"{n}-gram"] for n, name in enumerate(new, start=1)}
figures.rungs("4-gram", new=new, live=live)

# %% [markdown]
# Each word of context helps less than the one before, and the last, in the 5-gram, does not help at all: the counts
# have become too sparse. The lower half of the picture shows which words gain. A third word of context brings verbs
# much nearer to the floor. Things, whose owner was named long before, stay nearly as far away as they were.
#
# The smoothing method matters too, and so does its setting. Here are the trigram counts, smoothed in three ways. $k$
# and the $\lambda_i$ are chosen on 300 separate stories, and then all three are judged on the test stories.

# %%
add_k_of = {k: NGram(counted[3], k=k) for k in (0.001, 0.01, 0.1, 1)}
mixture_of = {
    s: InterpolatedNGram(counted[3], ((1 - s) / 100, 0.09 * (1 - s), 0.9 * (1 - s), s))
    for s in (0.8, 0.9, 0.95, 0.98)
}
chosen_k = min(add_k_of, key=lambda k: bits_per_token(add_k_of[k], validation_stories))
chosen_s = min(mixture_of, key=lambda s: bits_per_token(mixture_of[s], validation_stories))

# %%
smoothed_in = {
    f"add-k, k = {chosen_k:g}": add_k_of[chosen_k],
    f"mixed, λ₃ = {chosen_s:g}": mixture_of[chosen_s],
    "Kneser–Ney": models[3],
}
for name, model in smoothed_in.items():
    print(f"{name:18} {bits_per_token(model):.2f} bits per token")
print(f"carelessly, k = 1: {bits_per_token(add_k_of[1]):.2f}")

# %% [markdown]
# What do these models write? Each draws one word after the other, as in lecture 01. Read each line to its end: what is
# still missing?

# %%
from course.sampling import Sampler, generate

start = torch.tensor([[bos]])
for n in (1, 2, 3, 4):
    draw = Sampler(generator=torch.Generator().manual_seed(n))  # as the probabilities say
    tokens = generate(models[n], start, 22, draw, eos=language.vocabulary.eos)[0]
    print(textwrap.fill(f"n = {n}: {language.read(tokens)}", 88, subsequent_indent=" " * 7))

# %% [markdown]
# The neighbours fit better with every $n$. The remaining gap (agreement across a clause, closing quotation marks, an object mentioned again twenty words later) is out of reach of any n-gram model.
#
# More text helps little. In 2006 Google published the n-grams, up to $n = 5$, of a trillion words of the web. In 2014 a
# 5-gram model of nearly as many words, smoothed as above, took 5.6 terabytes (Buck and others; quoted). It still
# conditioned on only four words, and what it had counted for *cat* taught it nothing about *dog*. Models that share
# what they learn between words need a fraction of that space, and lecture 05 builds the first.
#
# ## The same in the library
#
# `course.models` counts with sorted integers instead of dictionaries, in tensor operations only. It must give
# the numbers of the tables you built by hand. It has a column for `<s>` too, so its $V$ is larger by one.

# %%
from course.data.vocabulary import Vocabulary

split = [line.split() for line in corpus]
tiny = Vocabulary.from_sentences(split, special_tokens=("<s>", "</s>"))
encoded = [torch.tensor(tiny.encode(line, eos=True)) for line in split]
pairs = NGramCounts(encoded, 2, len(tiny), tiny.bos)
contexts = torch.tensor([[tiny.token(row)] for row in rows])  # (contexts, T=1)
columns = torch.tensor([tiny.token(word) for word in words])

# %%
one_discount = KneserNey(pairs, discounts=[(0.0, 0.0, 0.0), (0.75, 0.75, 0.75)])
assert torch.allclose(NGram(pairs)(contexts)[:, 0, columns].exp(), probs)
assert torch.allclose(one_discount(contexts)[:, 0, columns].exp(), kn)
triples = InterpolatedNGram(NGramCounts(encoded, 3, len(tiny), tiny.bos), lambdas)
the_dog = torch.tensor([[tiny.token("the"), tiny.token("dog")]])
theirs = triples(the_dog)[0, -1, tiny.token("ran")].exp().item()
assert math.isclose(theirs, mixed("ran", ("the", "dog"), V=len(tiny)), rel_tol=1e-5)
print("the library's tables are the tables above")

# %% [markdown]
# ## Recap
#
# - An n-gram model keeps $n - 1$ words of context: an approximation, but one that can be counted.
# - The maximum-likelihood estimate divides counts; it gives zero to what it has not seen, and from $n = 3$ on most of a new text is unseen.
# - Add-k, interpolation and Kneser–Ney move probability to the unseen; each row still sums to one.
# - Choose $n$, $k$, $\lambda_i$ and $d$ on a validation text, and report on a third text, the test text, that was used for nothing else. Exercise 4 says what that is worth.
# - Longer contexts help until the counts run out, long before the floor.
#
# **In the homework:** [hw1](../homeworks/hw1_language_models/hw1_language_models.ipynb), exercises on counts, estimation, smoothing and
# choosing by held-out text.
#
# ## Exercises
#
# **1.** How many n-grams does a sentence of three words have, for $n = 1$, 2 and 5, with this lecture's `<s>` and `</s>`?
#
# <details><summary>Answer</summary>
#
# Four each time: one for every word, and one for `</s>`. Larger $n$ means more `<s>` in front, not more predictions.
#
# </details>
#
# **2.** A context has been seen three times, twice with the word $w$; $V = 7$. What does add-1 give to $w$, and what to a word that was never seen there?
#
# <details><summary>Answer</summary>
#
# $(2 + 1) / (3 + 7) = 0.3$, and $1 / 10$. The five words that were never seen there share half of the probability:
# add-1 takes a lot from small counts.
#
# </details>
#
# **3.** A word has been seen four times, and two different words followed it. How much probability does Kneser–Ney with
# $d = 0.75$ give to the shorter context?
#
# <details><summary>Answer</summary>
#
# $0.75 \cdot 2 / 4 = 0.375$: a discount for each *different* word that followed.
#
# </details>
#
# **4.** *(long)* How much does the third text matter? Split the words into three parts: count on the first, choose $k$ on the second, report on the third. Then cheat, and choose $k$ on the third as well. Which of the two results is too good, and can it ever be the worse one?
#
# <details><summary>Answer</summary>
#
# The one that was chosen on the words that are reported: it is a minimum over the settings, so it is never larger than the honest one. With one $k$ and thousands of words the difference is small or zero; with many settings and little text it is large.
#
# ```python
# import torch
# from course.data.corpora import python_documentation
#
# letters = "·abcdefghijklmnopqrstuvwxyz"
# words = sorted({word for word in python_documentation().lower().split() if word.isalpha() and word.isascii()})
# order = torch.randperm(len(words), generator=torch.Generator().manual_seed(0)).tolist()
# third = len(words) // 3
# parts = [[words[i] for i in order[start : start + third]] for start in (0, third, 2 * third)]
#
#
# def table(words: list[str]) -> torch.Tensor:
#     counts = torch.zeros(27, 27)
#     for word in words:
#         for before, after in zip(f"·{word}", f"{word}·", strict=True):
#             counts[letters.index(before), letters.index(after)] += 1
#     return counts
#
#
# training, validation, test = map(table, parts)
# ks = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30]
#
#
# def bits(k: float, pairs: torch.Tensor) -> float:
#     probs = (training + k) / (training + k).sum(dim=1, keepdim=True)
#     return -(pairs * probs.log2()).sum().item() / pairs.sum().item()
#
#
# honest = bits(min(ks, key=lambda k: bits(k, validation)), test)
# too_good = min(bits(k, test) for k in ks)
# assert too_good <= honest < 1.01 * too_good
# ```
#
# </details>
#
# ## Further reading
#
# - Thorsten Brants, Ashok C. Popat, Peng Xu, Franz J. Och and Jeffrey Dean, ["Large Language Models in Machine Translation"](https://aclanthology.org/D07-1090/), EMNLP-CoNLL 2007: stupid backoff.
# - Thorsten Brants and Alex Franz, [*Web 1T 5-gram Version 1*](https://doi.org/10.35111/cqpa-a498), Linguistic Data Consortium, 2006.
# - Christian Buck, Kenneth Heafield and Bas van Ooyen, ["N-gram Counts and Language Models from the Common Crawl"](http://www.lrec-conf.org/proceedings/lrec2014/pdf/1097_Paper.pdf), LREC 2014.
# - Daniel Jurafsky and James H. Martin, [*Speech and Language Processing*](https://web.stanford.edu/~jurafsky/slp3/), 3rd edition draft, chapter 3.
# - Stanley F. Chen and Joshua Goodman, ["An Empirical Study of Smoothing Techniques for Language Modeling"](https://doi.org/10.1006/csla.1999.0128), *Computer Speech & Language* 13 (1999), 359–394. It also describes the interpolation of Frederick Jelinek and Robert L. Mercer, "Interpolated Estimation of Markov Source Parameters from Sparse Data", *Pattern Recognition in Practice*, 1980, which is in print only.
# - I. J. Good, ["The Population Frequencies of Species and the Estimation of Population Parameters"](https://doi.org/10.1093/biomet/40.3-4.237), *Biometrika* 40 (1953), 237–264.
# - Slava M. Katz, ["Estimation of Probabilities from Sparse Data for the Language Model Component of a Speech Recognizer"](https://doi.org/10.1109/TASSP.1987.1165125), *IEEE Transactions on Acoustics, Speech, and Signal Processing* 35 (1987), 400–401.
# - Reinhard Kneser and Hermann Ney, ["Improved Backing-off for M-gram Language Modeling"](https://doi.org/10.1109/ICASSP.1995.479394), ICASSP 1995.
# - Hermann Ney, Ute Essen and Reinhard Kneser, ["On Structuring Probabilistic Dependences in Stochastic Language Modelling"](https://doi.org/10.1006/csla.1994.1001), *Computer Speech & Language* 8 (1994), 1–38: absolute discounting.
