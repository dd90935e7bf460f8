# %% [markdown]
# # 16 · Generation
#
# **You will be able to**
#
# - write the loop that makes a model write, and choose a word greedily, at random, or by search;
# - write twenty-one samplers in a line or two each, with their formulas and sources, and say what they leave of a real model's distribution;
# - say which samplers commute, and what changes with the order of the others;
# - measure what a sampler does to the quality and to the diversity of a text, against a language that is known exactly.
#
# *45 minutes to read, about a minute to run; a good place for a break is before* The pipeline, and what order changes. *Before this: [15 · The decoder](15_gpt.ipynb) and [03 · Perplexity](03_perplexity.ipynb).*
#
# **The question of the day:** a model gives every word a probability. Which word do we write?

# %% setup

# %%
import math
import os
import textwrap
from functools import partial

import matplotlib.pyplot as plt
import torch

from course import figures, rank_plots, sampling
from course.data.shuffling import ShuffledStories
from course.data.story_language import StoryLanguage
from course.evaluation import score
from course.models import GPT, GPTConfig
from course.training import TrainingConfig, best_device, train

torch.set_num_threads(1)  # with matrices this small, one core is faster than several
is_full = os.environ.get("COURSE_SCALE") == "full"  # wider, on a GPU if there is one, and more stories

# %% [markdown]
# ## A writer that makes mistakes
#
# This is lecture 15's GPT, trained for about half the steps on a third of the stories, so that it makes mistakes.

# %% trained
language = StoryLanguage()
vocabulary, V = language.vocabulary, language.vocab_size
stories = language.sample(6000, torch.Generator().manual_seed(1))
test_stories = language.sample(120, torch.Generator().manual_seed(2))
sizes = {"n_heads": 4, "n_layers": 2, "positions": "rotary", "initial_deviation": 0.1}
torch.manual_seed(0)
model = GPT(GPTConfig(V, language.longest_story, d_model=128 if is_full else 64, **sizes))
config = TrainingConfig(n_steps=900, learning_rate=5e-3, weight_decay=0.1)
train(model, ShuffledStories(stories, 16), config, device=best_device() if is_full else torch.device("cpu"))
model.cpu()
floor = score(language, test_stories).bits_per_token
print(f"{score(model, test_stories).bits_per_token:.2f} bits per token; the floor is {floor:.2f}")

# %% [markdown]
# Because the language is known, we can say what a mistake is: **a word that cannot come next**. How much probability does the model give to such words, on average over the positions of true stories? A story has about sixty words. **Predict, then run:** if each word goes wrong with that probability, how many stories are without a mistake?

# %%
read, following = test_stories.tokens[:, :-1], test_stories.tokens[:, 1:]
is_real = test_stories.mask[:, 1:]
with torch.no_grad():
    z = model(read)[is_real]  # (N, V): log-probabilities are logits too
truth = language(read)[is_real].exp()  # (N, V): the true probabilities
is_mistake = truth == 0
wrong = (z.exp() * is_mistake).sum(-1).mean().item()
flawless = (1 - wrong) ** language.mean_length

# %%
figures.prediction("How many stories will be without a mistake?", flawless, unit="%")

# %%
print(f"{wrong:.1%} per word; (1 - {wrong:.3f})^{language.mean_length:.0f} = {flawless:.0%} of the stories")
assert flawless < 0.5

# %% [markdown]
# That is why generation is a subject of its own. Lecture 15 was about *probability*; this one is about *choice*.
#
# ## The loop
#
# | symbol | meaning | shape |
# |---|---|---|
# | $x_{\le t}$ | the text so far, the *history* | $(B, t)$ |
# | $z$ | logits of the next word | $(B, V)$ |
# | $P = \text{softmax}(z)$ | probabilities of the next word | $(B, V)$ |
# | $P_{(i)}$ | the $i$-th largest of them: $P_{(1)} = \max P$ | |
# | $H = -\sum_v P(v) \ln P(v)$ | entropy, here in nats | $(B)$ |
# | $T$ | temperature, a number that logits are divided by; in shapes such as $(B, T)$ the number of tokens | |
#
# The loop is: read, choose, append, repeat. **Greedy** decoding takes the most probable word, every time; **sampling** draws word $v$ with probability $P(v)$. **Predict, then run:** which of the two repeats itself, and which makes mistakes?


# %%
def write(choose, text: torch.Tensor, n_tokens: int) -> torch.Tensor:
    """Append n tokens to texts (B, T), chosen from logits (B, V)."""
    for _ in range(n_tokens):
        with torch.no_grad():
            logits = model(text)[:, -1]
        text = torch.cat([text, choose(logits)[:, None]], dim=1)
    return text


def say(row: torch.Tensor) -> str:
    """A row of tokens as text, up to the first </s>."""
    tokens = row.tolist()
    end = tokens.index(vocabulary.eos) if vocabulary.eos in tokens else len(tokens)
    return textwrap.fill(" ".join(vocabulary.decode(tokens[:end])), 95)


# %%
generator = torch.Generator().manual_seed(5)


def draw(logits: torch.Tensor) -> torch.Tensor:
    """One token per row (B) from softmax of logits (B, V)."""
    return torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]


start, greedy = torch.full((1, 1), vocabulary.bos), partial(torch.argmax, dim=-1)
for name, choose in (("greedy", greedy), ("draw", draw)):
    print(f"{name}: {say(write(choose, start, 70)[0])}\n")

# %% [markdown]
# <details><summary>Answer</summary>
#
# Greedy decoding repeats itself, and always writes the same story. Sampling is livelier, but as measured above, about one word in forty is a mistake.
#
# </details>
#
# Most of what follows lies between these two.
#
# ## Searching: the best text is not made of best words
#
# Greedy decoding does not even find the most probable *text*. Suppose that one first word has probability 0.6 and two equally likely successors, and that another has probability 0.4 and a successor with 0.9. Greedy decoding takes the first and ends at 0.6 · 0.5 = 0.30, but the second leads to 0.4 · 0.9 = 0.36.
#
# **Beam search** (Lowerre, 1976, for speech; Graves, 2012, and Sutskever, Vinyals and Le, 2014, for neural networks) keeps the $k$ most probable beginnings instead of one, and adds up log-probabilities:
#
# $$\text{score}(x_{1 \dots t}) = \sum_{i=1}^{t} \log P(x_i \mid x_{<i}).$$
#
# With $k = 1$ it is greedy; with $k = V^{t}$ it compares all texts. Longer texts have smaller products, so finished texts are usually compared by $\text{score} / t^{\lambda}$, with a length penalty $\lambda$ between 0 and 1. Here it is on the example above.


# %%
def beam_search(next_log_probs, prompt: list[int], n_tokens: int, width: int, eos: int | None = None):
    """The `width` most probable continuations found, as (log P, tokens)."""
    beams = [(0.0, prompt)]
    for _ in range(n_tokens):
        grown = [beam for beam in beams if beam[1][-1] == eos]
        for log_p, text in beams:
            if text[-1] != eos:  # no text can have more than `width` children among the best `width`
                best = next_log_probs(text).topk(width)
                steps = zip(best.values.tolist(), best.indices.tolist(), strict=True)
                grown += [(log_p + step, [*text, token]) for step, token in steps]
        beams = sorted(grown, reverse=True)[:width]
    return beams


# %%
first, second = torch.tensor([0.6, 0.4]), torch.tensor([[0.5, 0.5], [0.1, 0.9]])
for width, best in ((1, 0.30), (2, 0.36)):
    found = beam_search(lambda text: (second[text[-1]] if len(text) > 1 else first).log(), [0], 2, width)
    print(f"width {width}: the words {found[0][1][1:]}, P = {math.exp(found[0][0]):.2f}")
    assert math.isclose(math.exp(found[0][0]), best, rel_tol=1e-5)

# %% [markdown]
# Now search with the model. The introductions of twenty test stories have thirteen tokens each, `<s>` included. After the first of them, search writes a few phrases again and again, and one that is impossible: nobody in this language does the same thing twice in one sentence.
#
# Is it the model's fault that search finds such a poor text? To find out, leave the model out. In the *true* language every choice costs bits, so write a story by hand that makes as few choices as it can.
#
# **Predict, then run:** a story drawn from the language costs about forty bits after its introduction. How many does this one cost?

# %%
prompts = test_stories.tokens[:20, :13]


def next_log_probs(text: list[int]) -> torch.Tensor:
    with torch.no_grad():
        return model(torch.tensor([text]))[0, -1]


(log_p, text), *_ = beam_search(next_log_probs, prompts[0].tolist(), 80, width=4, eos=vocabulary.eos)
print(f"found by search, at {-log_p / math.log(2):.1f} bits of the model:\n{say(torch.tensor(text[13:]))}")

# %%
verb_of = {thing: verb for verb, *some in language.config.lexicon.actions for thing in some}
hero, _, one, _, other, *_ = say(prompts[0]).split()
sentence = f'" i {verb_of[one]} {one} and {verb_of[other]} {other} . " said {hero} .'
by_hand = torch.tensor([[*prompts[0], *vocabulary.encode(3 * sentence.split(" ")), vocabulary.eos]])
told = language.sample(500, torch.Generator().manual_seed(3))


def true_bits(texts: torch.Tensor) -> torch.Tensor:
    """−log₂ P of each token after the 13 of the introduction, for stories (B, T): (B, T − 13)."""
    return -language(texts[:, :-1]).gather(-1, texts[:, 1:, None])[:, 12:, 0] / math.log(2)


told_bits = true_bits(told.tokens).where(told.mask[:, 13:], 0.0).sum(1)
hand_bits = true_bits(by_hand).sum().item()

# %%
figures.prediction("How many bits does the story by hand cost?", hand_bits, between=(0, 60), unit="bits")

# %%
print(f"by hand, {hand_bits:.1f} bits of the language:\n{say(by_hand[0, 13:])}")
assert hand_bits < told_bits.median() - 10  # a thousand times more probable

# %%
drawing, axes = plt.subplots(figsize=(6, 2.8))
axes.hist(told_bits.tolist(), bins=30, color="#0072B2", label="500 stories of the language")
axes.axvline(hand_bits, color="#D55E00", linestyle="--", linewidth=2, label="by hand")
axes.set(xlabel="bits of the story after its introduction, −log₂ P", ylabel="stories")
axes.margins(y=0.3)  # room for the legend
axes.legend(frameon=False)
low, high = told_bits.quantile(torch.tensor([0.1, 0.9])).tolist()
alt = f"Most stories cost between {low:.0f} and {high:.0f} bits after their introduction; the one by hand costs {hand_bits:.0f}."
figures.still(drawing, alt, caption="What is most probable is not what is typical.")

# %% [markdown]
# Nearly every story in the histogram is far less probable than the one by hand. But there are so many such stories that together they hold practically all the probability. Information theory calls them the **typical set**. (Holtzman and others, 2020, compared English written by people with GPT-2's search and saw the same.) Use search where there is one right answer, as in translation (lecture 18). For stories, use sampling.
#
# ## Two distributions of a real model
#
# From here on, samplers are functions $z \to z'$: they change logits, or remove words by setting them to $-\infty$; then we draw from $\text{softmax}(z')$, in which what is left is renormalised.
#
# Look at what they do to real language: to SmolLM2 of lectures 03 and 15, after a beginning that leaves little choice and after one that leaves much. The probabilities are recorded; where its package is installed, you can put in any beginning.

# %%
from course.pretrained import next_log_probs as smollm2_after
from course.pretrained.recorded import FLAT, PEAKED

real = {context: smollm2_after(context) for context in (PEAKED, FLAT)}  # (49152,) each
flat = real[FLAT]


def entropy(z: torch.Tensor) -> torch.Tensor:
    """H of softmax(z) in nats, (…, V) → (…); what cannot happen adds nothing."""
    return torch.special.entr(z.softmax(-1)).sum(-1)


for context, z_next in real.items():
    bits, best = entropy(z_next) / math.log(2), z_next.exp().topk(10).values
    print(f"{context} …: {bits:.1f} bits; the best token has {best[0]:.0%}, the best ten {best.sum():.0%}")

# %% [markdown]
# Here are twenty-one ways to choose the next word, by family. $H$ and $P_{(i)}$ are as above, $\sigma(z)$ is the standard deviation of the logits, and $c_v$ is how often $v$ has occurred. $[c_v > 0]$ is 1 if $v$ has occurred, else 0. $n_v$ is the length of the longest ending of the text that occurred earlier and was followed by $v$ there. The small letters in the fourth column are numbers that the user sets.
#
# | | sampler | $z'_v$, or which $v$ stay | parameter | its danger | proposed by |
# |---|---|---|---|---|---|
# | reshape | **temperature** | $z_v / T$ | $T$ | lifts the whole tail, or falls into a loop | Ackley and others, 1985 |
# | | **dynamic temperature** | $z_v / T$, with $T$ growing with $H$ | $T_\text{low}, T_\text{high}$ | hottest where the model knows least | Kalomaze, 2023 |
# | | **quadratic** | $\max z - f (\max z - z_v)^2$ | $f$ | takes from the favourite where it was right | Kalomaze, 2024 |
# | fixed number | **top-k** | the $k$ most probable | $k$ | wrong nearly everywhere | Fan and others, 2018 |
# | | **epsilon cutoff** | $P(v) \ge \varepsilon$ | $\varepsilon$ | leaves next to nothing of a flat distribution | Hewitt and others, 2022 |
# | fraction | **top-p** (nucleus) | words more probable than $v$ hold less than $p$ | $p$ | lets a flat tail in | Holtzman and others, 2020 |
# | the best | **min-p** | $P(v) \ge p \cdot P_{(1)}$ | $p$ | a favourite shuts out good alternatives | Nguyen and others, 2024 |
# | | **top-a** | $P(v) \ge a \cdot P_{(1)}^2$ | $a$ | hardly filters a flat distribution | BlinkDL, 2022 |
# | | **top-nσ** | $z_v \ge \max z - n\,\sigma(z)$ | $n$ | $\sigma$ is made by the tail | Tang and others, 2024 |
# | entropy | **eta cutoff** | $P(v) \ge \min(\varepsilon, \sqrt{\varepsilon}\, e^{-H})$ | $\varepsilon$ | two limits in one number | Hewitt and others, 2022 |
# | | **locally typical** | $-\ln P(v)$ nearest to $H$, up to a mass $\tau$ | $\tau$ | removes what is plainly right | Meister and others, 2023 |
# | | **tail-free** | where the sorted curve still bends | $s$ | bends of a tail are noise | Phénix and Egan, 2019 |
# | | **XTC** | the least probable good word, $P(v) \ge \theta$, and all below it | $\theta$ | removes words that have to come | Weidmann, 2024 |
# | repetition | **presence** | $z_v - \alpha\,[c_v > 0]$ | $\alpha$ | the full stop is penalised as well | OpenAI API |
# | | **frequency** | $z_v - \alpha\, c_v$ | $\alpha$ | grows with the text | OpenAI API |
# | | **repetition** | $z_v / \rho$ if $z_v > 0$, else $\rho z_v$, where $c_v > 0$ | $\rho$ | changes if a constant is added to $z$ | Keskar and others, 2019 |
# | | **DRY** | $z_v - m \cdot b^{\,n_v - n_0}$, where $n_v \ge n_0$ | $m$ | names are repeats too | Weidmann, 2024 |
# | | **no repeat** | $-\infty$ where $n_v \ge n - 1$ | $n$ | a name of $n$ tokens is used up after once | Paulus and others, 2018 |
# | control | **Mirostat** | $-\log_2 P(v) \le \mu$, and $\mu$ is steered to a mean of $\tau$ bits | $\tau$ | evens out what is uneven by nature | Basu and others, 2021 |
# | search | **beam** | the $k$ most probable beginnings | $k$ | what is probable is not typical | Lowerre, 1976 |
# | | **contrastive** | the best of $k$, less $\alpha$ times its likeness to the past | $\alpha$ | one reading for each of $k$ candidates | Su and others, 2022 |
#
# Before you read on, experiment with the ten likeliest tokens of the second distribution, as if there were no others. What does top-p keep when you make one bar tall, and what when all are equal? Raise the temperature to 2.5 with min-p at 0.5, then change the order: how many tokens are left?

# %%
from course.pretrained import predict

likely = predict(FLAT).likely[:10]
figures.sampling_bench([token.text.strip() for token in likely], flat.topk(10).values - flat.max() + 3)

# %% [markdown]
# ## Temperatures
#
# Dividing by $T$ makes $P'(v) \propto P(v)^{1/T}$: below 1 probable words gain, above 1 improbable ones; $T \to 0$ is greedy, $T \to \infty$ the uniform distribution.
#
# **Dynamic temperature** is cool where the model is sure and hot where it is not: $T = T_\text{low} + (T_\text{high} - T_\text{low}) \, (H / H_\text{max})^{c}$. Here $H_\text{max}$ is the logarithm of the number of words still possible.
#
# **Quadratic** (or **smooth**) sampling takes the square of the distance to the best logit: near the top differences shrink, far from it they grow. With $c > 1$ (a second parameter, see the code) a cubic term is added.
#
# **Predict, then run:** does any of them change which of two words is the more probable? And how much of the second distribution lies beyond its best thousand tokens, at $T = 1$ and at $T = 1.5$?


# %%
def temperature(z, T):
    return z / T


def dynamic_temperature(z, low, high, c=1.0):
    highest = (z > -torch.inf).sum(-1).log()
    return z / (low + (high - low) * (entropy(z) / highest) ** c)[..., None]


def quadratic(z, f, c=1.0):
    best = z.amax(-1, keepdim=True)
    d = z - best
    return best - f * ((3 - c) / 2 * d**2 - (c - 1) / 2 * d**3)


# %%
def compare(family: dict, before: dict = real) -> figures.Still:
    """What each sampler of a family leaves of distributions."""
    after = {name: {context: change(z) for context, z in before.items()} for name, change in family.items()}
    picture = rank_plots.by_rank(before, after)
    caption = "Blue tokens gain probability, red ones lose it (the darkest eight times or more), grey ones are removed. At the right: tokens left, their probability before, entropy after."
    return figures.still(picture, picture.alt_text, caption)


heats = {
    "temperature 0.7": partial(temperature, T=0.7),
    "temperature 1.5": partial(temperature, T=1.5),
    "dynamic 0.3–1.3": partial(dynamic_temperature, low=0.3, high=1.3),
    "quadratic 0.3": partial(quadratic, f=0.3),
}
for name, change in ({"as it is": partial(temperature, T=1.0)} | heats).items():
    in_order = change(flat)[flat.argsort(descending=True)]
    assert (in_order.diff() <= 0).all()  # the ranking stays
    print(f"{name:16} {in_order.softmax(-1)[1000:].sum():.1%} beyond the best thousand")

# %% [markdown]
# <details><summary>Answer</summary>
#
# The ranking stays, only the distances change, so temperature never removes a wrong word. At $T = 1.5$ nearly a third of the probability has gone to tokens beyond the best thousand, each of them next to impossible.
#
# </details>
#
# Here are both distributions, token by token, the most probable one at the left of each row:

# %%
compare(heats)

# %% [markdown]
# Dynamic temperature cools both distributions: even the second has 7.6 bits, less than half of the 15.6 that 49,152 tokens could have. Quadratic sampling evens out the best words and lowers the tail, but removes nothing either. Filters do.
#
# ## Filters by rank, probability, or logit
#
# All keep the most probable word; they differ in which others may stay. The first two use a fixed number, the third a fraction of the probability, and the last three the distance to the best word.
#
# **Predict, then run:** which of them keep the same number of words after both beginnings? Which keep just one word after *The capital of France is*?


# %%
def keep(z, allowed):
    """Everything else gets −∞; the most probable word stays in any case."""
    return z.masked_fill(~(allowed | (z == z.amax(-1, keepdim=True))), -torch.inf)


def top_k(z, k):
    return keep(z, z >= z.topk(k).values[..., -1:])


def epsilon_cutoff(z, epsilon):
    return keep(z, z.softmax(-1) >= epsilon)


def top_p(z, p):
    P, order = z.softmax(-1).sort(descending=True)
    before = P.cumsum(-1) - P  # what the more probable words hold
    return keep(z, (before < p).gather(-1, order.argsort(-1)))  # back to the words' own places


# %%
def min_p(z, p):
    P = z.softmax(-1)
    return keep(z, p * P.amax(-1, keepdim=True) <= P)


def top_a(z, a):
    P = z.softmax(-1)
    return keep(z, a * P.amax(-1, keepdim=True) ** 2 <= P)


def top_n_sigma(z, n):
    return keep(z, z >= z.amax(-1, keepdim=True) - n * z.std(-1, keepdim=True))


# %%
def n_left(z: torch.Tensor) -> int:
    return int((z > -torch.inf).sum())


filters = {
    "top-k 20": partial(top_k, k=20),
    "epsilon 0.02": partial(epsilon_cutoff, epsilon=0.02),
    "top-p 0.9": partial(top_p, p=0.9),
    "min-p 0.1": partial(min_p, p=0.1),
    "top-a 0.2": partial(top_a, a=0.2),
    "top-nσ 1.5": partial(top_n_sigma, n=1.5),
}
same = [name for name, change in filters.items() if n_left(change(real[PEAKED])) == n_left(change(flat))]
alone = [name for name, change in filters.items() if n_left(change(real[PEAKED])) == 1]
assert same == ["top-k 20"]
options = {name: name in alone for name in filters}
figures.prediction(
    "Which keep just one word after “The capital of France is”? (There may be several.)", options
)

# %%
print("as many in both places:", *same, "; one word after the first:", *alone)
capitals = predict(PEAKED).likely  # the best first
rank, london = next((rank, each) for rank, each in enumerate(capitals, 1) if each.text == " London")
print(f"London is number {rank} after the first, with {london.probability:.1%}")
assert rank <= 20  # top-k 20 keeps it,
assert london.probability < 0.1 * capitals[0].probability  # and min-p 0.1 does not
assert n_left(filters["top-p 0.9"](flat)) > 10 * 20

# %% [markdown]
# Why are there so many filters? Because one setting must serve a model that is sure and a model that is not. Top-k keeps *London* beside *Paris*, and only twenty of the hundreds of words that could begin a story. Epsilon does not consider how many words the probability is spread over either. Top-p follows the shape, but lets in a long tail where no word stands out. The rules that compare a word with the best one keep few words where there is a favourite, and many where there is none.
#
# What each of them leaves:

# %%
compare(filters)

# %% [markdown]
# ## Filters that look at the whole curve
#
# **Eta** lowers epsilon where the entropy is high. **Locally typical** sampling follows the idea of the typical set: it keeps the words whose surprise is closest to the average, $H$.
#
# **Tail-free** sampling looks for the place where the sorted curve flattens: with second differences $b_i = |P_{(i)} - 2 P_{(i+1)} + P_{(i+2)}|$, it keeps words while the sum of $b_i / \sum b$ before them is at most $s$.
#
# **XTC** (*exclude top choices*) does the opposite: it removes the best words. It does so only with a given probability, so that a text takes an unusual turn now and then.
#
# **Predict, then run:** the most probable word may be *too* predictable to be typical (here, as in most programs, it stays nevertheless). Which of the four remove the *second* word of *Once upon a time there was a*? And does one remove *Paris*?


# %%
def eta_cutoff(z, epsilon):
    eta = (math.sqrt(epsilon) * (-entropy(z)).exp()).clamp(max=epsilon)
    return keep(z, z.softmax(-1) >= eta[..., None])


def locally_typical(z, mass):
    P, log_P = z.softmax(-1), z.log_softmax(-1)
    _distance, order = (-log_P - entropy(z)[..., None]).abs().sort()
    before = P.gather(-1, order).cumsum(-1) - P.gather(-1, order)
    return keep(z, (before < mass).gather(-1, order.argsort(-1)))


# %%
def tail_free(z, s):
    P, order = z.softmax(-1).sort(descending=True)
    bend = P.diff().diff().abs()  # (…, V − 2)
    share = (bend / bend.sum(-1, keepdim=True)).cumsum(-1) <= s
    return keep(z, torch.nn.functional.pad(share, (1, 1)).gather(-1, order.argsort(-1)))


def xtc(z, threshold):
    P, order = z.softmax(-1).sort(descending=True)
    is_good = threshold <= P
    next_is_good = torch.nn.functional.pad(is_good[..., 1:], (0, 1))  # so this is not the last good one
    return z.masked_fill(next_is_good.gather(-1, order.argsort(-1)), -torch.inf)


# %%
curves = {
    "eta 0.02": partial(eta_cutoff, epsilon=0.02),
    "typical 0.5": partial(locally_typical, mass=0.5),
    "tail-free 0.95": partial(tail_free, s=0.95),
    "XTC 0.03": partial(xtc, threshold=0.03),
}
for context, z_next in real.items():
    for rank, v in enumerate(z_next.topk(2).indices, start=1):
        gone = [name for name, change in curves.items() if change(z_next)[v] == -torch.inf]
        print(f"{context} …: number {rank} is removed by {', '.join(gone) or 'none'}")
assert xtc(real[PEAKED], 0.03).argmax() != real[PEAKED].argmax()

# %% [markdown]
# <details><summary>Answer</summary>
#
# Typical sampling and XTC remove the second word of the story, and XTC removes *Paris*. That is good for a story but bad for a fact.
#
# </details>
#
# In the picture, XTC leaves out the left end, and typical sampling words just below the best one:

# %%
compare(curves)

# %% [markdown]
# ## Penalties: what has been said already
#
# No filter prevents the oldest fault of generated text, repetition. Here SmolLM2 writes sixty tokens, each time the most probable one:

# %%
from course.pretrained import encoded, penalised
from course.pretrained.recorded import AGAIN, LOOP, PENALTIES

went_on = penalised(LOOP)  # sampler → text
in_the_loop = LOOP + went_on["greedy"] + AGAIN
print(textwrap.fill(in_the_loop, 95), "…")
said, z_loop = torch.tensor(encoded(in_the_loop)), smollm2_after(in_the_loop)
(first,) = predict("In the forest there was a small village. The villagers", " loved").followed
print(f"P(loved): {first.probability:.0%} at first, now {z_loop.exp().max():.0%}")
assert z_loop.exp().max() > 10 * first.probability

# %% [markdown]
# A phrase that has been written once becomes more probable, and with each repetition more so. Penalties depend on the history. **Presence** asks whether a word has occurred, **frequency** how often. **Repetition** divides positive logits and multiplies negative ones, so that both fall. **DRY** (*don't repeat yourself*) penalises only words that would prolong a repeat, and **no repeat** forbids them: no sequence of $n$ words comes twice.
#
# **Predict, then run:** which of the five stop *loved* at the end of this text?


# %%
def counts(z, history):
    return torch.bincount(history, minlength=len(z))


def presence_penalty(z, history, alpha):
    return z - alpha * (counts(z, history) > 0)


def frequency_penalty(z, history, alpha):
    return z - alpha * counts(z, history)


def repetition_penalty(z, history, rho):
    return torch.where(counts(z, history) > 0, torch.where(z > 0, z / rho, z * rho), z)


# %%
def dry(z, history, m, b=1.75, n0=2):
    z, text, longest = z.clone(), history.tolist(), {}
    for i in range(1, len(text)):  # text[i] followed its first i tokens; how many of these end as all do?
        n = next((n for n in range(i) if text[i - 1 - n] != text[-1 - n]), i)
        longest[text[i]] = max(n, longest.get(text[i], 0))
    for v, n in longest.items():
        z[v] -= m * b ** (n - n0) if n >= n0 else 0
    return z


def no_repeat_ngram(z, history, n):
    return dry(z, history, m=math.inf, n0=n - 1)


# %%
def penalties(history: torch.Tensor) -> dict:
    return {
        "presence 1": partial(presence_penalty, history=history, alpha=1.0),
        "frequency 1": partial(frequency_penalty, history=history, alpha=1.0),
        "repetition 1.3": partial(repetition_penalty, history=history, rho=1.3),
        "DRY 2": partial(dry, history=history, m=2.0),
        "no repeat 3": partial(no_repeat_ngram, history=history, n=3),
    }


favourite = z_loop.argmax()
for name, change in penalties(said).items():
    P = [each.softmax(-1)[favourite] for each in (z_loop, change(z_loop), change(z_loop + 5))]
    print(f"{name}: P(loved) {P[0]:.2f} → {P[1]:.2f}; with 5 more on every logit, {P[2]:.2f}")
    print(textwrap.fill(f"{LOOP}{went_on[name]}", 95))

# %% [markdown]
# <details><summary>Answer</summary>
#
# Frequency, DRY and no repeat break the phrase at once. Presence comes too late here; applied from the beginning of the text, it prevented the loop.
#
# </details>

# %%
compare(penalties(said), {"at the end of the text": z_loop})

# %% [markdown]
# The repetition penalty has a flaw that is easy to miss: adding 5 to every logit changes no probability, but it changes what the penalty does. The model here gives log-probabilities, in which a word that is certain has $z = 0$, and $0 \cdot \rho$ is no penalty. So its text falls into another loop.
#
# ## Samplers that keep a state or compare states
#
# **Mirostat** works like a thermostat. It keeps one number $\mu$ as its state: only words with at most $\mu$ bits may be drawn. After each word it updates $\mu \leftarrow \mu - \eta\,(-\log_2 P(v) - \tau)$, a step of size $\eta$ against the error; the target is $\tau$ bits per word. (This is version 2. Version 1 fits a Zipf law to find the $k$ that belongs to $\mu$, and uses top-k; the library has both.)
#
# **Contrastive search** draws nothing. It takes the word with the largest
#
# $$(1 - \alpha)\, P(v) - \alpha \max_{j \le t} \cos(h_v, h_j),$$
#
# where $h_v$ is the model's vector after reading $v$, and the $h_j$ are those of the text so far. So the word should be probable, but its vector unlike those before. Both run on the stories, because they need the model itself at every step. **Predict, then run:** what is contrastive search with $\alpha = 0$?


# %%
def mirostat_step(z, mu, tau, eta, choose):
    """One word (B) and the next μ (B)."""
    surprise = -z.log_softmax(-1) / math.log(2)
    word = choose(keep(z, surprise <= mu[:, None]))
    return word, mu - eta * (surprise.gather(-1, word[:, None])[:, 0] - tau)


text, mu, mus = prompts[:1], torch.tensor([2.0]), []  # it begins at 2τ
for _ in range(60):
    word, mu = mirostat_step(model(text)[:, -1].detach(), mu, 1.0, eta=0.2, choose=draw)
    text = torch.cat([text, word[:, None]], dim=1)[:, -language.longest_story :]
    mus.append(mu.item())
print("μ:", *(f"{value:.1f}" for value in mus[::6]))


# %%
@torch.no_grad()
def contrastive_step(text: torch.Tensor, k: int, alpha: float) -> torch.Tensor:
    """The next token (scalar) after a text (T)."""
    P, candidates = model(text[None])[0, -1].exp().topk(k)
    states = model.hidden(torch.cat([text.expand(k, -1), candidates[:, None]], dim=1))  # (k, T + 1, D)
    likeness = torch.cosine_similarity(states[:, -1:], states[:1, :-1], dim=-1).amax(-1)  # (k)
    return candidates[((1 - alpha) * P - alpha * likeness).argmax()]


for alpha in (0.0, 0.6):
    text = prompts[0]
    for _ in range(30):
        text = torch.cat([text, contrastive_step(text, 5, alpha)[None]])
    print(f"α = {alpha}:\n{say(text[13:])}\n")
    assert alpha > 0 or text.equal(write(greedy, prompts[:1], 30)[0])

# %% [markdown]
# Here are these samplers on SmolLM2's two distributions: what Mirostat with a target of 3 bits may draw at its first step, and which candidates a beam of four and contrastive search with five consider. You have now seen all twenty-one samplers on real language.

# %%
compare(
    {
        "Mirostat 3, at first": lambda z: keep(z, -z / math.log(2) <= 6),
        "beam 4, beginnings": partial(top_k, k=4),
        "contrastive 5, candidates": partial(top_k, k=5),
    }
)

# %% [markdown]
# ## The pipeline, and what order changes
#
# Where the model is sure, each filter keeps few tokens; where it is not, one filter keeps ten and another five hundred. Programs apply several samplers in a row: penalties first, then filters and temperature, then the draw.
#
# They disagree about whether filters or temperature come first. By default [llama.cpp](https://github.com/ggml-org/llama.cpp/tree/master/tools/server) filters first and divides last (top-nσ, top-k, typical, top-p, min-p, XTC, temperature), as this course does. [`generate`](https://github.com/huggingface/transformers/blob/main/src/transformers/generation/utils.py) of Hugging Face and [vLLM](https://docs.vllm.ai/en/v0.22.1/api/vllm/v1/sample/sampler/) divide before top-k, top-p and min-p.
#
# **Predict, then run:** take a temperature of 1.5 and top-p 0.9 after *Once upon a time there was a*. In which order do more tokens remain, and how many times as many? And what does a penalty still do *after* the filter?

# %%
hot, tight = partial(temperature, T=1.5), partial(top_p, p=0.9)
punish = partial(presence_penalty, history=flat.topk(2).indices, alpha=3.0)
orders = {
    "hot, then top-p": tight(hot(flat)),
    "top-p, then hot": hot(tight(flat)),
    "penalty, then top-p": tight(punish(flat)),
    "top-p, then penalty": punish(tight(flat)),
}

# %%
n_times = n_left(orders["hot, then top-p"]) / n_left(orders["top-p, then hot"])
figures.prediction(
    "How many times as many tokens stay if the temperature comes first?",
    n_times,
    between=(0.1, 100),
    is_logarithmic=True,
    unit="times",
)

# %%
for name, after in orders.items():
    print(f"{name:20} {n_left(after):6,} tokens, H = {entropy(after) / math.log(2):.1f} bits")
assert n_times > 5
same = [name for name, cut in filters.items() if cut(hot(flat)).isinf().equal(hot(cut(flat)).isinf())]
assert same == ["top-k 20", "top-nσ 1.5"]
print("the same tokens in either order:", *same)

# %%
early = tight(dry(z_loop, said, m=2.0)).softmax(-1)[favourite]
late = dry(tight(z_loop), said, m=2.0).softmax(-1)[favourite]
print(f"P(loved) in the loop: {early:.2f} with DRY before top-p, {late:.2f} with DRY after it")
assert late > early + 0.5

# %% [markdown]
# <details><summary>Answer</summary>
#
# If temperature comes first, it flattens the distribution, and nine tenths of the probability are then spread over nearly nine times as many tokens. If it comes last, it only evens out the tokens that have passed.
#
# </details>
#
# Dividing keeps the ranking, and scales all differences and their standard deviation by the same factor. So temperature commutes with top-k and with top-nσ, but not with a filter that uses *probabilities*.
#
# Penalties after a filter come too late: the list is closed, and no other word takes the place of a penalised favourite.
#
# - *DRY's position* is with the penalties, before every filter (exercise 4).
# - *Synergies.* Min-p makes a high temperature bearable, above all if it comes first. A gentle filter and DRY complement each other: one removes what is never right, the other what has already been said. XTC needs a filter as well, so that the words it promotes are good ones.
# - *Conflicts.* Two filters of the same kind do not add up: the stricter one decides. Repetition, frequency and presence penalties together penalise the same words three times. Mirostat steers the surprise by its own cut, so a filter before it leaves it nothing to steer. After top-k 1 nothing else matters.
#
# ## Whole stories
#
# Back to the stories, where a mistake can be recognised exactly. Let all samplers write at once, with lecture 15's KV cache. Each of them has eighty rows of one batch: the twenty introductions, four times each. The true language judges the results.
#
# **Flawless**: stories without a mistake that also came to an end. **Distinct**: different sequences of four words, as a fraction of all.
#
# **Predict, then run:** how many stories are flawless at a temperature of 1.5, and how many if min-p comes before or after it?

# %%
n_rows = 320 if is_full else 80  # stories per sampler
rng = torch.Generator().manual_seed(7)
blind = {"greedy": partial(top_k, k=1), "plain": partial(temperature, T=1.0)} | heats | filters | curves
writers = {name: lambda z, history, change=change: change(z) for name, change in blind.items()}
writers |= {name: change for name, change in PENALTIES.items() if name != "greedy"}
steps = [partial(sampling.min_p, p=0.1), partial(sampling.temperature, t=1.5)]
writers |= {"min-p, then hot": sampling.Pipeline(steps), "hot, then min-p": sampling.Pipeline(steps[::-1])}
mirostat = sampling.Mirostat(1.0, rng)  # draws by itself, because it must see what was drawn


def everybody(logits: torch.Tensor, history: torch.Tensor) -> torch.Tensor:
    """Each sampler chooses for its own rows; the last rows are Mirostat's."""
    rows = zip(writers.values(), logits.split(n_rows), history.split(n_rows), strict=False)
    chosen = [sampling.sample_next_token(change(z, before), rng) for change, z, before in rows]
    return torch.cat([*chosen, mirostat(logits[-n_rows:])])


introductions = prompts.repeat(n_rows // 20 * (len(writers) + 1), 1)
texts = sampling.generate(model, introductions, 80, everybody, eos=vocabulary.eos)


# %%
def judge(texts: torch.Tensor) -> tuple[float, float]:
    """Shares for texts (B, T): of stories without a mistake, of different fours among all sequences of four words."""
    is_over = (texts[:, 12:-1] == vocabulary.eos).cumsum(1) > 0  # nothing is asked after </s>
    is_wrong = (true_bits(texts) == torch.inf) & ~is_over
    flawless = ~is_wrong.any(1) & (texts == vocabulary.eos).any(1)
    fours = [tuple(four) for row in texts[:, 13:].unfold(1, 4, 1).tolist() for four in row]
    fours = [four for four in fours if vocabulary.eos not in four]
    return flawless.float().mean().item(), len(set(fours)) / len(fours)


report = {name: judge(mine) for name, mine in zip([*writers, "Mirostat 1"], texts.split(n_rows), strict=True)}
report["the language"] = judge(told.tokens[:n_rows])
for name, (flawless, variety) in sorted(report.items(), key=lambda row: -row[1][0]):
    print(f"{name:16}{flawless:6.0%} flawless  {variety:5.2f} distinct")
assert report["min-p 0.1"][0] > report["plain"][0] > report["temperature 1.5"][0]
assert min(report["min-p, then hot"][0], report["hot, then min-p"][0]) > 10 * report["temperature 1.5"][0]
assert report["greedy"][1] < report["min-p 0.1"][1] / 2

# %% [markdown]
# With eighty stories a percentage $p$ has a standard error of $\sqrt{p(1-p)/80}$, up to six points (for greedy, which has only twenty different stories, up to eleven). Two samplers can differ by fifteen points by chance, so do not read small differences. The large ones are these:
#
# - Most filters leave about twice as many stories without a mistake as plain sampling, at nearly the same diversity. A low temperature improves quality less and costs more diversity; a high one ruins nearly every story, and min-p prevents that.
# - Greedy writes almost the same in every story, and not even without mistakes: a mistake once made is made every time.
# - No penalty helps: these texts do not suffer from what penalties treat. *No repeat* ruins most stories, because a story of this language has to repeat sequences of three words. XTC removes the best words on purpose. Here it does so at every word, and hardly any story remains flawless.
# - Mirostat evens out the surprise. This language is uneven by nature, with a free choice here and a forced word there. A limit of a few bits restricts the free choices, and the stories become alike.
#
# ## Where it breaks
#
# **A filter improves a flawed model; it harms a perfect one.** Give the filters the true probabilities instead of the model's. Now they remove only possible words. The loss is known exactly: if a fraction $m$ of the probability stays, the KL divergence of the filtered distribution from the true one is $-\log_2 m$ bits.

# %%
for name in ("top-k 20", "top-p 0.9", "min-p 0.1", "typical 0.5"):
    m = (truth * (blind[name](truth.log()) > -torch.inf)).sum(-1)
    print(f"{name:12} removes {1 - m.mean():.1%} of what people say, {-m.log2().mean():.3f} bits per word")
    assert m.min() > 0

# %% [markdown]
# (Min-p loses nothing only because in this language hardly any possible word is ten times less likely than the best one at its position; in English many are.) A filter is a statement about the *model*: that the tail of its distribution is less trustworthy than its head. The better the model, the weaker the filter should be.
#
# ## The ladder
#
# Is a sampler a better model? Put samplers on the ladder: let each predict the true test stories. **Predict, then run:** which rung will top-p 0.9 reach?


# %%
def bits_of_truth(logits: torch.Tensor) -> float:
    """Bits per token that the true next words cost."""
    return -logits.log_softmax(-1).gather(-1, following[is_real][:, None]).mean().item() / math.log(2)


rungs = {f"T {T}": bits_of_truth(temperature(z, T)) for T in (0.7, 0.9, 1.0, 1.1, 1.3, 2.0)}
rungs |= {"top-p 0.9": bits_of_truth(top_p(z, 0.9)), "floor": floor}
print(*(f"{name}: {bits:.2f}" for name, bits in rungs.items()), sep=", ")
excluded = (top_p(z, 0.9).gather(-1, following[is_real][:, None]) == -torch.inf).float().mean()
print(f"top-p 0.9 excludes {excluded:.1%} of the words that really came next")
assert rungs["top-p 0.9"] == math.inf

# %% [markdown]
# A single true word that the filter has excluded costs infinitely many bits, so a filter that is ever wrong is worse than even the uniform model. And no temperature helps by more than a hundredth of a bit: training minimised these very bits at $T = 1$.
#
# **A good predictor covers everything that may be said; a good writer says only what it is sure of.** Perplexity measures the first, the table of whole stories the second, and no single number measures both. So today the ladder gets no new rung:

# %%
figures.rungs("Transformer")

# %% [markdown]
# ## The same in the library
#
# Compare the functions of this lecture with `course.sampling`, on random logits:

# %%
random_z = torch.randn(6, 30, generator=torch.Generator().manual_seed(8), dtype=torch.float64)
once = torch.randint(4, (24,), generator=torch.Generator().manual_seed(9))  # four words, so that they repeat
same_as = [
    (temperature, {"t": 0.7}), (dynamic_temperature, {"low": 0.3, "high": 1.4}), (quadratic, {"factor": 0.4, "curve": 1.5}),
    (top_k, {"k": 7}), (epsilon_cutoff, {"epsilon": 0.04}), (top_p, {"p": 0.8}), (min_p, {"p": 0.2}), (top_a, {"a": 0.6}),
    (top_n_sigma, {"n": 1.3}), (eta_cutoff, {"epsilon": 0.04}), (locally_typical, {"mass": 0.7}), (tail_free, {"z": 0.9}),
]  # fmt: skip
for ours, settings in same_as:
    theirs = getattr(sampling, ours.__name__)(random_z, **settings)
    assert torch.allclose(ours(random_z, *settings.values()), theirs), ours.__name__
for ours, settings in (
    (presence_penalty, {"penalty": 0.7}), (frequency_penalty, {"penalty": 0.7}),
    (repetition_penalty, {"penalty": 1.3}), (dry, {"multiplier": 0.8}), (no_repeat_ngram, {"n": 3}),
):  # fmt: skip
    theirs = getattr(sampling, ours.__name__)(random_z[0], once, **settings)
    assert torch.allclose(ours(random_z[0], once, *settings.values()), theirs), ours.__name__

# %%
assert xtc(random_z, 0.05).equal(sampling.xtc(random_z, threshold=0.05, probability=1.0, generator=rng))
ours = beam_search(next_log_probs, prompts[1].tolist(), 6, width=3)
theirs = sampling.beam_search(model, prompts[1], 6, beam_width=3, length_penalty=0.0)
assert [tuple(text[13:]) for _, text in ours] == [found.tokens for found in theirs]
ours = contrastive_step(prompts[2], 5, 0.4)
assert sampling.contrastive_search(model, prompts[2], 1, k=5, alpha=0.4)[-1] == ours
print("we have just built course.sampling")

# %% [markdown]
# ## Recap
#
# - Generation is a loop: read, choose, append. Greedy and beam search look for the most probable text, and the most probable text is not typical.
# - Temperatures reshape, filters remove, penalties read the history; Mirostat steers the surprise, contrastive search compares states.
# - A temperature commutes with top-k and top-nσ, not with filters that look at probabilities; penalties belong before filters.
# - Every sampler gains quality at the cost of diversity. Filters that adapt to the shape of the distribution lose less.
# - As predictors filters are worthless: one true word excluded costs infinitely many bits.
#
# **In the homework:** [hw6 · GPT](../homeworks/hw6_gpt/hw6_gpt.ipynb), the exercises on generation: each sampler, the pipeline, and beam search.
#
# ## Exercises
#
# **1.** $P = (0.5, 0.3, 0.15, 0.05)$. How many words do top-k 3, top-p 0.7, min-p 0.2, top-a 0.4, epsilon 0.1, eta 0.1, top-nσ 1, typical 0.5 and tail-free 0.9 keep? And which words does XTC 0.2 keep?
#
# <details><summary>Answer</summary>
#
# 3, 2, 3, 3, 3, 3, 2, 2 and 2. Top-p keeps the second word because only 0.5 stands before it, and drops the third, before which 0.8 stands. The thresholds of min-p, top-a, epsilon and eta are all 0.1. XTC keeps all but the first: two words are above 0.2, and of these only the less probable one may stay.
#
# ```python
# import torch
# from course import sampling
#
# z = torch.tensor([0.5, 0.3, 0.15, 0.05], dtype=torch.float64).log()
# left_by = sampling.top_k(z, k=3), sampling.top_p(z, p=0.7), sampling.min_p(z, p=0.2), sampling.top_a(z, a=0.4)
# left_by += sampling.epsilon_cutoff(z, epsilon=0.1), sampling.eta_cutoff(z, epsilon=0.1)
# left_by += sampling.top_n_sigma(z, n=1.0), sampling.locally_typical(z, mass=0.5), sampling.tail_free(z, z=0.9)
# assert [int((left > -torch.inf).sum()) for left in left_by] == [3, 2, 3, 3, 3, 3, 2, 2, 2]
# left = sampling.xtc(z, threshold=0.2, probability=1.0, generator=torch.Generator())
# assert (left > -torch.inf).tolist() == [False, True, True, True]
# ```
#
# </details>
#
# **2.** What becomes of the four words at $T = 0.5$, and with quadratic sampling at $f = 0.3$? Which temperature does dynamic temperature from 0.5 to 1.5 choose? And what does contrastive search do with $\alpha = 0$?
#
# <details><summary>Answer</summary>
#
# At $T = 0.5$ they are proportional to $P^2$: 0.68, 0.25, 0.06, 0.01. Quadratic sampling raises the second and lowers the last: 0.36, 0.33, 0.23, 0.07. The entropy is 0.82 of the largest possible one, so $T = 0.5 + 0.82 = 1.32$. Contrastive search with $\alpha = 0$ is greedy.
#
# ```python
# import math
# import torch
# from course import sampling
#
# z = torch.tensor([0.5, 0.3, 0.15, 0.05], dtype=torch.float64).log()
# assert [round(p, 2) for p in sampling.temperature(z, t=0.5).softmax(-1).tolist()] == [0.68, 0.25, 0.06, 0.01]
# assert [round(p, 2) for p in sampling.quadratic(z, factor=0.3).softmax(-1).tolist()] == [0.36, 0.33, 0.23, 0.07]
# T = 0.5 + torch.special.entr(z.exp()).sum() / math.log(4)
# assert round(T.item(), 2) == 1.32
# hot = sampling.dynamic_temperature(z, low=0.5, high=1.5)
# assert torch.allclose(hot.softmax(-1), (z / T).softmax(-1))
# ```
#
# </details>
#
# **3.** A word has been written four times. How much does a presence penalty of 0.5 take from its logit, and how much a frequency penalty of 0.5?
#
# <details><summary>Answer</summary>
#
# 0.5 and 2.
#
# </details>
#
# **4.** *(long)* Where does DRY belong? A text has arrived again at a phrase that it has used before, and the model is about to repeat it: the next word has probability 0.9. Put DRY before top-p 0.8, and after it.
#
# <details><summary>Answer</summary>
#
# After the filter DRY comes too late: top-p has kept a single word, and however much is taken from its logit, it is the only one left, so the phrase is repeated. Before the filter, DRY lowers the favourite, and other words enter the nucleus. So DRY belongs with the penalties, before every filter. With temperature it does not commute either: a temperature of 2 after it halves the penalty too.
#
# ```python
# import torch
# from course.sampling import dry, top_p
#
# z = torch.tensor([0.9, 0.04, 0.03, 0.02, 0.01], dtype=torch.float64).log()
# history = torch.tensor([3, 4, 0, 1, 2, 3, 4])  # 3 4 was followed by 0; 3 4 has come again
# late = dry(top_p(z, p=0.8), history, multiplier=4.0).softmax(-1)
# early = top_p(dry(z, history, multiplier=4.0), p=0.8).softmax(-1)
# assert late[0] == 1
# assert early[0] < 0.5
# assert (early > 0).sum() > 1
# ```
#
# </details>
#
# ## Further reading
#
# - Ari Holtzman, Jan Buys, Li Du, Maxwell Forbes and Yejin Choi, ["The Curious Case of Neural Text Degeneration"](https://arxiv.org/abs/1904.09751), ICLR 2020.
# - Angela Fan, Mike Lewis and Yann Dauphin, ["Hierarchical Neural Story Generation"](https://aclanthology.org/P18-1082), ACL 2018.
# - John Hewitt, Christopher D. Manning and Percy Liang, ["Truncation Sampling as Language Model Desmoothing"](https://aclanthology.org/2022.findings-emnlp.249), Findings of EMNLP 2022.
# - Clara Meister, Tiago Pimentel, Gian Wiher and Ryan Cotterell, ["Locally Typical Sampling"](https://arxiv.org/abs/2202.00666), *Transactions of the ACL* 11 (2023), 102–121.
# - Minh Nguyen, Andrew Baker, Clement Neo, Allen Roush, Andreas Kirsch and Ravid Shwartz-Ziv, ["Turning Up the Heat: Min-p Sampling for Creative and Coherent LLM Outputs"](https://arxiv.org/abs/2407.01082), arXiv 2407.01082 (2024).
# - Chenxia Tang, Jianchun Liu, Hongli Xu and Liusheng Huang, ["Top-nσ: Not All Logits Are You Need"](https://arxiv.org/abs/2411.07641), arXiv 2411.07641 (2024).
# - Sourya Basu, Govardana Sachitanandam Ramachandran, Nitish Shirish Keskar and Lav R. Varshney, ["Mirostat: A Neural Text Decoding Algorithm that Directly Controls Perplexity"](https://arxiv.org/abs/2007.14966), ICLR 2021.
# - Nitish Shirish Keskar, Bryan McCann, Lav R. Varshney, Caiming Xiong and Richard Socher, ["CTRL: A Conditional Transformer Language Model for Controllable Generation"](https://arxiv.org/abs/1909.05858), arXiv 1909.05858 (2019).
# - Yixuan Su, Tian Lan, Yan Wang, Dani Yogatama, Lingpeng Kong and Nigel Collier, ["A Contrastive Framework for Neural Text Generation"](https://arxiv.org/abs/2202.06417), NeurIPS 2022.
# - David H. Ackley, Geoffrey E. Hinton and Terrence J. Sejnowski, ["A Learning Algorithm for Boltzmann Machines"](https://doi.org/10.1207/s15516709cog0901_7), *Cognitive Science* 9 (1985), 147–169.
# - Written for and by practitioners: Phénix and Egan, ["Tail Free Sampling"](https://www.trentonbricken.com/Tail-Free-Sampling/) (2019); Kalomaze on [dynamic temperature](https://github.com/ggml-org/llama.cpp/issues/3483) (2023) and [quadratic sampling](https://github.com/oobabooga/text-generation-webui/pull/5403) (2024); BlinkDL on top-a, in [RWKV-LM](https://github.com/BlinkDL/RWKV-LM) (2022); P. E. Weidmann on DRY and XTC (2024, pull requests [5677](https://github.com/oobabooga/text-generation-webui/pull/5677) and [6335](https://github.com/oobabooga/text-generation-webui/pull/6335) of text-generation-webui); ["Dummy's Guide to Modern LLM Sampling"](https://rentry.co/samplers).
# - Beam search: Bruce Lowerre, [*The HARPY Speech Recognition System*](https://stacks.stanford.edu/file/druid:rq916rn6924/rq916rn6924.pdf), thesis, Carnegie Mellon University, 1976; Alex Graves, ["Sequence Transduction with Recurrent Neural Networks"](https://arxiv.org/abs/1211.3711), arXiv 1211.3711 (2012); Ilya Sutskever, Oriol Vinyals and Quoc V. Le, ["Sequence to Sequence Learning with Neural Networks"](https://arxiv.org/abs/1409.3215), NeurIPS 2014.
# - Romain Paulus, Caiming Xiong and Richard Socher, ["A Deep Reinforced Model for Abstractive Summarization"](https://arxiv.org/abs/1705.04304), ICLR 2018.
