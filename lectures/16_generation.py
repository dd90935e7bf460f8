# %% [markdown]
# # 16 · Generation
#
# **You will be able to**
#
# - write the loop that turns a model into a writer, and choose a word greedily, at random, or by searching;
# - write every common sampler in a line or two, with its formula and its source, and say what it does to a distribution;
# - say which samplers may change places, and what happens to those that may not;
# - measure what a sampler does to the quality and to the diversity of a text, against a language that is known exactly.
#
# *40 minutes to read, about a minute to run. Before this: [15 · The decoder](15_gpt.ipynb) and [03 · Perplexity](03_perplexity.ipynb).*
#
# **The question of the day:** a model gives every word a probability. Which word do we write?

# %% setup

# %%
import math
import os
import textwrap
from functools import partial
from itertools import pairwise, product

import matplotlib.pyplot as plt
import torch

from course import figures
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
# Lecture 15's GPT, stopped early, so that there is something to mend: half the steps, and a third of the stories.

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
# Because the language is known, we can say what a mistake is: **a word that cannot come next**. How much probability does the model give to such words, on average over the positions of true stories?

# %%
read, following = test_stories.tokens[:, :-1], test_stories.tokens[:, 1:]
is_real = test_stories.mask[:, 1:]
with torch.no_grad():
    z = model(read)[is_real]  # (N, V): log-probabilities are logits too
truth = language(read)[is_real].exp()  # (N, V): the true probabilities
is_mistake = truth == 0
q = z.exp()
print(f"{(q * is_mistake).sum(-1).mean():.1%} of the model's probability lies on words that cannot come next")
n_possible = truth.gt(0).sum(-1)
print(
    f"{n_possible.float().mean():.1f} words of {V} can come next on average, at the median {n_possible.median()}"
)

# %% [markdown]
# A few percent per word sound harmless. A story has about sixty words. **Predict, then run:** how many stories are without a mistake, if each word goes wrong with that probability?

# %%
wrong = (q * is_mistake).sum(-1).mean().item()
print(f"(1 - {wrong:.3f})^{language.mean_length:.0f} = {(1 - wrong) ** language.mean_length:.0%}")

# %% [markdown]
# That is why generation is a subject of its own. The word of lecture 15 was *probability*; today's is *choice*.
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
#
# Read, choose, append, again:


# %%
def write(choose, text: torch.Tensor, n_tokens: int) -> torch.Tensor:
    """Append n tokens to texts (B, T), chosen from logits (B, V)."""
    for _ in range(n_tokens):
        with torch.no_grad():
            logits = model(text)[:, -1]
        text = torch.cat([text, choose(logits)[:, None]], dim=1)
    return text


def greedy(logits: torch.Tensor) -> torch.Tensor:
    return logits.argmax(dim=-1)


def say(row: torch.Tensor) -> str:
    """A row of tokens as text, up to the first </s>."""
    tokens = row.tolist()
    end = tokens.index(vocabulary.eos) if vocabulary.eos in tokens else len(tokens)
    return textwrap.fill(" ".join(vocabulary.decode(tokens[:end])), 100)


# %% [markdown]
# **Greedy** takes the most probable word, every time:

# %%
start = torch.full((1, 1), vocabulary.bos)
print(say(write(greedy, start, 70)[0]))

# %% [markdown]
# The most probable name, then a few sentences much like each other, and the same story tomorrow. **Sampling** draws instead: word $v$ with probability $P(v)$.

# %%
generator = torch.Generator().manual_seed(5)


def draw(logits: torch.Tensor) -> torch.Tensor:
    """One token per row (B) from softmax of logits (B, V)."""
    return torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]


for row in write(draw, start.expand(2, -1), 70):
    print(say(row), "\n")

# %% [markdown]
# Livelier, and wrong here and there. Between these two lies everything that follows.
#
# ## Searching: the best text is not made of best words
#
# Greedy does not even find the most probable *text*. The smallest example: the first word is a with 0.6 or b with 0.4; after a, two words are equally likely; after b, one is almost certain.

# %%
first = {"a": 0.6, "b": 0.4}
second = {"a": {"c": 0.5, "d": 0.5}, "b": {"c": 0.9, "d": 0.1}}
texts = {x + y: first[x] * second[x][y] for x in first for y in second[x]}
print({text: round(p, 2) for text, p in texts.items()})
print(
    f"greedy begins with {max(first, key=first.get)}; the most probable text is {max(texts, key=texts.get)}"
)

# %% [markdown]
# **Beam search** (Lowerre, 1976, for speech; Graves, 2012, and Sutskever, Vinyals and Le, 2014, for neural networks) keeps the $k$ most probable beginnings instead of one, and adds up log-probabilities:
#
# $$\text{score}(x_{1 \dots t}) = \sum_{i=1}^{t} \log P(x_i \mid x_{<i}).$$
#
# With $k = 1$ it is greedy; with $k = V^{t}$ it looks at everything. Longer texts have smaller products, so finished texts are usually compared by $\text{score} / t^{\lambda}$, with a length penalty $\lambda$ between 0 and 1.


# %%
def beam_search(next_log_probs, prompt: list[int], n_tokens: int, width: int, eos: int | None = None):
    """The `width` most probable continuations found, as (log P, tokens)."""
    beams = [(0.0, prompt)]
    for _ in range(n_tokens):
        grown = [beam for beam in beams if beam[1][-1] == eos]
        for log_p, text in beams:
            if text[-1] != eos:
                # no text can have more than `width` children among the best `width`
                best = next_log_probs(text).topk(width)
                grown += [
                    (log_p + lp, [*text, token])
                    for lp, token in zip(*map(torch.Tensor.tolist, best), strict=True)
                ]
        beams = sorted(grown, reverse=True)[:width]
    return beams


# %% [markdown]
# Wide enough, it must find the best of all texts. Five words, three steps, 125 texts, a random table of $P(\text{next} \mid \text{last})$:

# %%
table = torch.randn(5, 5, generator=torch.Generator().manual_seed(3), dtype=torch.float64).log_softmax(-1)
everything = [
    (sum(table[x, y].item() for x, y in zip((0, *tail), tail, strict=False)), tail)
    for tail in product(range(5), repeat=3)
]
best_log_p, best = max(everything)
for width in (1, 2, 5):
    (log_p, text), *_ = beam_search(lambda text: table[text[-1]], [0], 3, width)
    print(f"width {width}: {text[1:]} log P {log_p:.3f}")
assert text[1:] == list(best)
print(f"exhaustive: {list(best)} log P {best_log_p:.3f}")

# %% [markdown]
# On the model: the introductions of twenty test stories, each of them thirteen tokens long with `<s>`. How does the first one go on?

# %%
prompts = test_stories.tokens[:20, :13]


def next_log_probs(text: list[int]) -> torch.Tensor:
    with torch.no_grad():
        return model(torch.tensor([text]))[0, -1]


(log_p, text), *_ = beam_search(next_log_probs, prompts[0].tolist(), 80, width=4, eos=vocabulary.eos)
print(f"log2 P = {log_p / math.log(2):.1f}\n{say(torch.tensor(text[1:]))}")

# %% [markdown]
# The same few phrases again and again, and one that cannot be said at all: nobody in this language does the same thing twice in one sentence. Is it the model's fault that the most probable text is a poor one? Take the model out of it. In the *true* language a story gets cheaper with everything that is left out, so write one by hand that leaves out all it
# can, and compare its price in bits with that of stories as the language tells them.

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
print(f"by hand, {hand_bits:.1f} bits:\n{say(by_hand[0, 13:])}\n")
print(f"as told, {told_bits[0]:.1f} bits:\n{say(told.tokens[0, 13:])}")

# %%
drawing, axes = plt.subplots(figsize=(6, 2.8))
axes.hist(told_bits.tolist(), bins=30, color="#0072B2", label="500 stories of the language")
axes.axvline(hand_bits, color="#D55E00", linestyle="--", linewidth=2, label="by hand")
axes.set(xlabel="bits of the story after its introduction, −log₂ P", ylabel="stories")
axes.legend(frameon=False)
figures.still(
    drawing,
    alt=f"Stories cost {told_bits.mean():.0f} bits on average after their introduction, most of them between {told_bits.quantile(0.1):.0f} and {told_bits.quantile(0.9):.0f}; the one by hand costs {hand_bits:.0f}.",
    caption="What is most probable is not what is typical.",
)

# %% [markdown]
# The story by hand is millions of times more probable than one from the middle of the heap, and nobody would tell it. Each story in the heap is improbable, but there are so many of them that practically everything that is ever told is told there. Information theory calls the heap the **typical set** (Holtzman and others, 2020, saw the same for people's
# English and GPT-2). Search is right where one answer is right, as in translation (lecture 18). For stories, draw.
#
# ## One distribution, every sampler
#
# From here on, samplers are functions $z \to z'$: they change logits, or remove words by setting them to $-\infty$; then we draw from $\text{softmax}(z')$. Ten words that may follow "she read", the last two clearly wrong:

# %%
words = ["letters", "books", "poems", "maps", "tales", "signs", "faces", "minds", "walls", "soup"]
example = torch.tensor([3.0, 2.6, 2.1, 1.7, 1.4, 1.1, 0.8, 0.4, -0.6, -1.6], dtype=torch.float64)
figures.sampling_bench(words, example)

# %% [markdown]
# Play before you read on. Questions to put to the bench: what does top-p keep when you make one bar tall, and what when all are alike? Raise the temperature to 2.5 with min-p at 0.3, then change the order: how many words are left?
#
# A word on how we measure. Removing words takes away **mass**, and what is left is renormalised; the **entropy** says how open the choice still is.


# %%
def entropy(z: torch.Tensor) -> torch.Tensor:
    """H of softmax(z) in nats, (…, V) → (…); what cannot happen adds nothing."""
    return torch.special.entr(z.softmax(-1)).sum(-1)


shown = {}  # what each sampler made of the example, for the picture below


def look(name: str, after: torch.Tensor, before: torch.Tensor = example) -> None:
    """Print and remember what a sampler did."""
    shown[name] = (before, after)
    P, lost = after.softmax(-1), before.softmax(-1)[after == -torch.inf].sum()
    bits = [entropy(each) / math.log(2) for each in (before, after)]
    print(f"{name}: removed {lost:.1%}, H {bits[0]:.2f} → {bits[1]:.2f} bits")
    print("   ", " ".join(f"{word} {f'{p:.2f}'[1:]}" for word, p in zip(words, P, strict=True) if p > 0))


look("nothing", example)

# %% [markdown]
# ## Temperatures
#
# **Temperature** divides: $z' = z / T$ (here $T$ is a temperature, no length), so $P'(v) \propto P(v)^{1/T}$. Below 1 the rich get richer, above 1 the poor; $T \to 0$ is greedy, $T \to \infty$ the uniform distribution. (Ackley, Hinton and Sejnowski, 1985.)
#
# **Dynamic temperature** is cool where the model is sure and hot where it is not (Kalomaze, 2023), by a curve with the exponent $c$: $T = T_\text{low} + (T_\text{high} - T_\text{low}) \, (H / H_\text{max})^{c}$, where $H_\text{max}$ is the logarithm of the number of words still possible.
#
# **Quadratic** or **smooth** sampling (Kalomaze, 2024) bends instead of stretching. With $d = z - \max z$: $z' = \max z - f \, \big(\tfrac{3-c}{2} d^2 - \tfrac{c-1}{2} d^3\big)$. Near the top differences shrink, far from it they grow; $f$ says how much, $c$ how unevenly, and $c = 1$ is a parabola.


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
look("temperature 0.5", temperature(example, 0.5))
look("temperature 2", temperature(example, 2.0))
look("dynamic 0.2 … 1.5", dynamic_temperature(example, 0.2, 1.5))
look("quadratic f 0.3", quadratic(example, 0.3))

# %% [markdown]
# **Predict, then run:** does a temperature ever change which of two words is the more probable? Does the quadratic?

# %%
cases = (temperature(example, 0.3), dynamic_temperature(example, 0.2, 1.5), quadratic(example, 0.3, c=2.0))
for after in cases:
    assert after.argsort(descending=True).tolist() == list(range(10))
print("never: the ranking stays, only the distances change")

# %% [markdown]
# ## Filters by rank, probability, or logit
#
# No temperature brings a wrong word to zero. Filters do. All keep the most probable word; they differ in who else may stay.
#
# | filter | keeps $v$ if | adapts to | proposed by |
# |---|---|---|---|
# | **top-k** | $v$ is among the $k$ most probable | nothing | Fan, Lewis and Dauphin, 2018 |
# | **top-p** (nucleus) | the words before $v$ hold less than $p$ together | the shape | Holtzman and others, 2020 |
# | **min-p** | $P(v) \ge p \cdot P_{(1)}$ | the best | Nguyen and others, 2024 |
# | **top-a** | $P(v) \ge a \cdot P_{(1)}^2$ | the best, twice | BlinkDL (RWKV), 2022 |
# | **top-nσ** | $z_v \ge \max z - n \, \sigma(z)$ | the spread of the logits, their standard deviation $\sigma$ | Tang and others, 2024 |
# | **epsilon cutoff** | $P(v) \ge \varepsilon$ | nothing | Hewitt, Manning and Liang, 2022 |
# | **eta cutoff** | $P(v) \ge \min(\varepsilon, \sqrt{\varepsilon}\, e^{-H})$ | the entropy | the same |


# %%
def keep(z, allowed):
    """Everything else gets −∞; the most probable word stays in any case."""
    return z.masked_fill(~(allowed | (z == z.amax(-1, keepdim=True))), -torch.inf)


def top_k(z, k):
    return keep(z, z >= z.topk(k).values[..., -1:])


def top_p(z, p):
    P, order = z.softmax(-1).sort(descending=True)
    before = P.cumsum(-1) - P  # what the more probable words hold
    return keep(z, (before < p).gather(-1, order.argsort(-1)))  # back to the words' own places


def min_p(z, p):
    P = z.softmax(-1)
    return keep(z, p * P.amax(-1, keepdim=True) <= P)


# %%
def top_a(z, a):
    P = z.softmax(-1)
    return keep(z, a * P.amax(-1, keepdim=True) ** 2 <= P)


def top_n_sigma(z, n):
    return keep(z, z >= z.amax(-1, keepdim=True) - n * z.std(-1, keepdim=True))


def epsilon_cutoff(z, epsilon):
    return keep(z, z.softmax(-1) >= epsilon)


def eta_cutoff(z, epsilon):
    eta = (math.sqrt(epsilon) * (-entropy(z)).exp()).clamp(max=epsilon)
    return keep(z, z.softmax(-1) >= eta[..., None])


# %%
rules = {
    "top-k 4": partial(top_k, k=4),
    "top-p 0.75": partial(top_p, p=0.75),
    "min-p 0.25": partial(min_p, p=0.25),
    "top-a 0.7": partial(top_a, a=0.7),
    "top-nσ 1": partial(top_n_sigma, n=1.0),
    "epsilon 0.08": partial(epsilon_cutoff, epsilon=0.08),
    "eta 0.25": partial(eta_cutoff, epsilon=0.25),
}
left = {name: sampler(example) for name, sampler in rules.items()}
shown |= {name: (example, after) for name, after in left.items()}
look("top-k 4", left["top-k 4"])
assert all(after.equal(left["top-k 4"]) for after in left.values())
print("and the other six do the same")

# %% [markdown]
# Seven rules, set so that they agree here: each keeps four words, and takes away the same mass. Why seven, then? Because one setting must serve a model that is sure and a model that is not. In the stories sixty things may follow "had", all equally likely, and after the question mark of a question nothing but a quote. **Predict, then run:** the same seven settings at these two places.
# How many of the words that can follow survive, and how many that cannot?

# %%
places = {name: (read[is_real] == vocabulary.token(name)).nonzero()[0, 0] for name in ("had", "?")}
for name, place in places.items():
    n_possible = int((~is_mistake[place]).sum())
    print(f"after {name!r}, where {n_possible} words are possible and {V - n_possible} are not:")
    for rule, sampler in rules.items():
        stays, wrong_here = sampler(z[place]) > -torch.inf, is_mistake[place]
        print(f"    {rule:13} keeps {(stays & ~wrong_here).sum():2} and {(stays & wrong_here).sum()}")

# %% [markdown]
# Top-k is wrong at both places, and no other $k$ would be right at both. Epsilon is right at one. Top-p follows the shape, but gives away a quarter of the mass by definition, also where all of it is good. The rules that ask how a word compares with the best, or with what was to be expected, keep nearly all of the sixty words in the first place and only the quotation mark in the second.
#
# ## Filters that look at the whole curve
#
# **Locally typical** sampling (Meister and others, 2023) takes the heap of the histogram to heart: keep the words whose surprise $-\ln P(v)$ is closest to the entropy $H$, until they hold the mass $\tau$. The most probable word may be *too* predictable for that (here, as in most programs, it stays all the same).
#
# **Tail-free** sampling (Phénix and Egan, 2019) looks for the place where the sorted curve flattens: with second differences $b_i = |P_{(i)} - 2 P_{(i+1)} + P_{(i+2)}|$, keep words while the sum of $b_i / \sum b$ before them is at most $s$.
#
# **XTC**, exclude top choices (Weidmann, 2024), goes the other way: among the words with $P(v) \ge \theta$ it drops all but the *least* probable, with a probability of its own, so that a text now and then leaves the beaten path.


# %%
def locally_typical(z, mass):
    P, log_P = z.softmax(-1), z.log_softmax(-1)
    _distance, order = (-log_P - entropy(z)[..., None]).abs().sort()
    before = P.gather(-1, order).cumsum(-1) - P.gather(-1, order)
    return keep(z, (before < mass).gather(-1, order.argsort(-1)))


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
look("typical 0.3", locally_typical(example, 0.3))
look("tail-free 0.9", tail_free(example, 0.9))
look("XTC 0.1", xtc(example, 0.1))

# %% [markdown]
# ## Penalties: what has been said already
#
# These read the history. Let $c_v$ be how often $v$ has occurred; $\alpha$, $\rho$, $m$, $b$ and $n_0$ are set by hand, and $[c_v > 0]$ is 1 where it is true, else 0.
#
# | penalty | $z'_v$ | source |
# |---|---|---|
# | **presence** | $z_v - \alpha\,[c_v > 0]$ | OpenAI API |
# | **frequency** | $z_v - \alpha\, c_v$ | OpenAI API |
# | **repetition** | $z_v / \rho$ if $z_v > 0$, else $\rho z_v$, where $c_v > 0$ | Keskar and others, 2019 (CTRL) |
# | **DRY** | $z_v - m \cdot b^{\,n - n_0}$, where $v$ would prolong a repeated phrase of $n \ge n_0$ words | Weidmann, 2024 |
#
# DRY stands for *don't repeat yourself*: $n$ is the length of the longest end of the text that has stood before, and was followed by $v$ then.


# %%
def counts(z, history):
    return torch.bincount(history, minlength=len(z))


def presence_penalty(z, history, alpha):
    return z - alpha * (counts(z, history) > 0)


def frequency_penalty(z, history, alpha):
    return z - alpha * counts(z, history)


def repetition_penalty(z, history, rho):
    return torch.where(counts(z, history) > 0, torch.where(z > 0, z / rho, z * rho), z)


def dry(z, history, m, b=1.75, n0=2):
    z, text = z.clone(), history.tolist()
    for v in range(len(z)):
        repeats = [
            n
            for n in range(n0, len(text))
            for i in range(len(text) - n)
            if text[i : i + n] == text[-n:] and text[i + n] == v
        ]
        z[v] -= m * b ** (max(repeats) - n0) if repeats else 0
    return z


# %%
said = "letters maps books letters maps soup letters maps"
history = torch.tensor([words.index(word) for word in said.split()])
look("presence 1", presence_penalty(example, history, 1.0))
look("frequency 1", frequency_penalty(example, history, 1.0))
look("repetition 1.5", repetition_penalty(example, history, 1.5))
look("DRY 1", dry(example, history, 1.0))

# %% [markdown]
# Frequency punishes "letters" three times over; DRY punishes only what has followed "letters maps", which is "books" and "soup". The repetition penalty has a flaw that is easy to miss: adding 5 to every logit changes no probability, but it changes what the penalty does.

# %%
for name, penalise, strength in (
    ("repetition", repetition_penalty, 1.5),
    ("frequency", frequency_penalty, 1.0),
):
    P = [penalise(example + shift, history, strength).softmax(-1)[0] for shift in (0, 5)]
    print(f"{name:10} P(letters) = {P[0]:.3f}, and {P[1]:.3f} with 5 more on every logit")

# %% [markdown]
# All of them on one page, the same ten words in each:

# %%
drawing, axes = plt.subplots(4, 5, figsize=(11, 7), sharex=True, sharey=True, gridspec_kw={"hspace": 0.45})
for panel, (name, (before, after)) in zip(axes.flat, shown.items(), strict=False):
    P, removed = before.softmax(-1), after == -torch.inf
    panel.bar(range(10), after.softmax(-1), color="#0072B2")
    panel.bar(range(10), P, color="none", edgecolor="#767676", linewidth=0.8)
    panel.bar(range(10), P.where(removed, 0), color="none", edgecolor="#D55E00", hatch="////", linewidth=0.8)
    panel.set(title=name, xticks=[])
for panel in axes.flat[len(shown) :]:
    panel.axis("off")
remaining = (f"{name} {(after > -torch.inf).sum()}" for name, (_, after) in shown.items())
figures.still(
    drawing,
    alt=f"Ten words under each sampler. Words left: {', '.join(remaining)}.",
    caption="Outlined: before. Blue: after. Hatched: removed. Penalties read the history, not the order of the bars.",
)

# %% [markdown]
# ## Samplers with a memory or a view of their own
#
# **Mirostat** (Basu and others, 2021) is a thermostat. It wants a surprise of $\tau$ bits per word on average, and carries one number $\mu$ along: only words with at most $\mu$ bits may be drawn, and after each word $\mu \leftarrow \mu - \eta\,(-\log_2 P(v) - \tau)$, a step of size $\eta$ against the error. (This is version 2. Version 1 fits a Zipf law to find the $k$ that belongs to
# $\mu$, and uses top-k; the library has both.)


# %%
def mirostat_step(z, mu, tau, eta, choose):
    """One word (B) and the next μ (B)."""
    surprise = -z.log_softmax(-1) / math.log(2)
    word = choose(keep(z, surprise <= mu[:, None]))
    return word, mu - eta * (surprise.gather(-1, word[:, None])[:, 0] - tau)


# %%
text, mu, mus, tau = prompts[:1], torch.tensor([2 * 1.0]), [], 1.0
for _ in range(60):
    with torch.no_grad():
        word, mu = mirostat_step(model(text)[:, -1], mu, tau, eta=0.2, choose=draw)
    text = torch.cat([text, word[:, None]], dim=1)[:, -language.longest_story :]
    mus.append(mu.item())
print("μ:", *(f"{value:.1f}" for value in mus[::6]))
print(say(text[0]))

# %% [markdown]
# **Contrastive search** (Su and others, 2022) draws nothing. Among the $k$ most probable words it takes the one with the largest
#
# $$(1 - \alpha)\, P(v) - \alpha \max_{j \le t} \cos(h_v, h_j),$$
#
# where $h_v$ is the model's vector after reading $v$, and $h_j$ those of the text so far: probable, but not what it has just been thinking.


# %%
def contrastive_step(text: torch.Tensor, k: int, alpha: float) -> torch.Tensor:
    """The next token (scalar) after a text (T)."""
    P, candidates = model(text[None])[0, -1].exp().topk(k)
    states = model.hidden(torch.cat([text.expand(k, -1), candidates[:, None]], dim=1))  # (k, T + 1, D)
    likeness = torch.cosine_similarity(states[:, -1:], states[:1, :-1], dim=-1).amax(-1)  # (k)
    return candidates[((1 - alpha) * P - alpha * likeness).argmax()]


for alpha in (0.0, 0.3, 0.6):
    text = prompts[0]
    with torch.no_grad():
        for _ in range(30):
            text = torch.cat([text, contrastive_step(text, 5, alpha)[None]])
    print(f"α = {alpha}:\n{say(text[13:])}\n")

# %% [markdown]
# ## The pipeline, and what order changes
#
# Programs apply several samplers in a row: penalties come first, then filters and temperature, then the draw. On filters and temperature they disagree: llama.cpp filters first and divides last, as this course does; `generate` of Hugging Face divides before top-k, top-p, min-p and the rest. When does the order matter? Try it: every pair, both ways, on fifty random distributions. The number is the largest share of probability that moves.

# %%
from course import sampling  # its top-nσ leaves out what another filter has removed

pairs = {
    "temperature": partial(temperature, T=2.0),
    "top-k": partial(top_k, k=4),
    "top-p": partial(top_p, p=0.8),
    "min-p": partial(min_p, p=0.15),
    "top-nσ": partial(sampling.top_n_sigma, n=1.0),
    "typical": partial(locally_typical, mass=0.7),
    "presence": lambda z: presence_penalty(z, torch.tensor([0, 1, 2]), 1.5),
}
random_logits = 2 * torch.randn(50, 10, generator=torch.Generator().manual_seed(4), dtype=torch.float64)


def moved(one, other) -> float:
    """The largest total variation between one∘other and other∘one."""
    both = [
        torch.stack([last(before(z)) for z in random_logits]).softmax(-1)
        for before, last in ((one, other), (other, one))
    ]
    return (both[0] - both[1]).abs().sum(-1).max().item() / 2


differs = torch.tensor([[moved(one, other) for other in pairs.values()] for one in pairs.values()])
place = {name: i for i, name in enumerate(pairs)}
for one, other in (("temperature", "top-k"), ("temperature", "top-nσ"), ("top-k", "min-p")):
    assert differs[place[one], place[other]] < 1e-9
assert differs[place["temperature"], place["min-p"]] > 0.5

# %%
print(f"{'':11}", *(f"{name:>11}" for name in pairs))
for name, row in zip(pairs, differs.tolist(), strict=True):
    print(f"{name:11}", *(f"{value:11.2f}" if value > 1e-9 else f"{'0':>11}" for value in row))

# %% [markdown]
# Which samplers commute with temperature? Dividing all logits by $T$ keeps their ranking, and scales their differences and their standard deviation by the same factor. Temperature therefore commutes with top-k, which uses only the ranking, and with top-nσ, which measures differences in units of the standard deviation. It does not commute with a filter that uses *probabilities*. A temperature of 2 applied before
# min-p flattens the distribution, so words from the tail pass the filter; applied after min-p, it only evens out the probabilities of the words that have survived. This is why some programs put temperature last, and why top-nσ was proposed for sampling at high temperatures. Top-k and min-p also commute with each other: renormalising after one filter changes no word's ratio to the most probable word.

# %%
hot, tight = pairs["temperature"], pairs["min-p"]
look("hot, then min-p", tight(hot(example)))
look("min-p, then hot", hot(tight(example)))

# %% [markdown]
# Penalties after a filter come too late: the filter has already closed the list, and the penalty can only choose among what is left. Penalise the favourite before top-p, and its place in the nucleus is free for another:

# %%
punish = partial(presence_penalty, history=torch.tensor([0, 1]), alpha=3.0)
look("penalty, then top-p", top_p(punish(example), 0.75))
look("top-p, then penalty", punish(top_p(example, 0.75)))

# %% [markdown]
# **DRY's position** follows from the same argument: it belongs with the penalties, before everything that cuts (exercise 4). Two more things to know before samplers are combined:
#
# - *Synergies.* Min-p makes a high temperature bearable, if it comes first: the tail is gone before the rest is evened out. A gentle filter and DRY share the work, since one removes what is never right and the other what has been said. XTC needs a filter beside it: what it promotes must be good.
# - *Conflicts.* Two filters of the same kind do not add up: the stricter one decides, as top-k 40 does nothing after top-p has kept ten. Repetition, frequency and presence penalties together punish the same words three times over. Mirostat steers the surprise by its own cut, so a filter before it takes the steering wheel away. And after top-k 1 nothing else matters.
#
# ## Quality against diversity, measured
#
# Now the samplers meet the model, at every position of the true stories. Two numbers for each setting: how much probability is left on words that **cannot** come next (quality: lower is better), and how many bits of **entropy** are left (diversity; the language itself has about one and a half).

# %%
sweeps = {
    "temperature": [partial(temperature, T=T) for T in (0.3, 0.5, 0.7, 0.85, 1.0, 1.2)],
    "top-k": [partial(top_k, k=k) for k in (1, 2, 3, 5, 10, 20, 40)],
    "top-p": [partial(top_p, p=p) for p in (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)],
    "min-p": [partial(min_p, p=p) for p in (0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02)],
    "epsilon": [partial(epsilon_cutoff, epsilon=e) for e in (0.3, 0.1, 0.05, 0.02, 0.01, 0.003)],
    "eta": [partial(eta_cutoff, epsilon=e) for e in (0.5, 0.2, 0.1, 0.03, 0.01, 0.003)],
    "typical": [partial(locally_typical, mass=m) for m in (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)],
    "top-nσ": [partial(top_n_sigma, n=n) for n in (0.3, 0.5, 0.8, 1.2, 1.6, 2.0)],
}
true_entropy = (torch.special.entr(truth).sum(-1).mean() / math.log(2)).item()


def quality_and_diversity(logits: torch.Tensor) -> tuple[float, float]:
    """Probability of a word that cannot come next, and bits of entropy, both as means over positions."""
    p_wrong = (logits.softmax(-1) * is_mistake).sum(-1)
    return p_wrong.mean().item(), entropy(logits).mean().item() / math.log(2)


curves = {name: [quality_and_diversity(change(z)) for change in some] for name, some in sweeps.items()}

# %%
drawing, axes = plt.subplots(figsize=(7, 4))
styles = ["o-", "s--", "^-", "D-.", "v:", "P--", "X-", "*:"]
colours = ["#767676", "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000"]
for (name, points), style, colour in zip(curves.items(), styles, colours, strict=True):
    p_wrong, bits = zip(*points, strict=True)
    axes.plot(bits, p_wrong, style, color=colour, label=name, markersize=5)
axes.axvline(true_entropy, color="#767676", linewidth=0.8)
axes.set(yscale="log", xlim=(0.4, 1.8), xlabel="bits of entropy left", ylabel="probability of a mistake")
axes.set_yticks([0.01, 0.02, 0.04], ["1 %", "2 %", "4 %"])
axes.minorticks_off()
axes.legend(frameon=False, fontsize=8, ncols=2)
ends = (
    f"{name} from {p[0][0]:.4f} at {p[0][1]:.2f} bits to {p[-1][0]:.4f} at {p[-1][1]:.2f}"
    for name, p in curves.items()
)
figures.still(
    drawing,
    alt=f"Probability of a mistake against entropy: {'; '.join(ends)}.",
    caption="Each curve is one sampler from strict to lenient; thin line: the true language. Lower is better, right is richer.",
)

# %% [markdown]
# Every curve falls: each sampler buys quality with diversity. None reaches zero, because at one place in a hundred even the most probable word is wrong. What differs is the price. Read at one height, **half the mistakes** of plain sampling: how much of the language's entropy is left to each?


# %%
def diversity_at(points: list[tuple[float, float]], wanted: float) -> float:
    """The entropy where the curve passes this probability of a mistake, between two settings on a straight line."""
    for (p0, bits0), (p1, bits1) in pairwise(points):
        if p0 <= wanted <= p1:
            return bits0 + (bits1 - bits0) * (wanted - p0) / (p1 - p0)
    return math.nan


at_price = {name: diversity_at(points, wrong / 2) for name, points in curves.items()}
for name in sorted(at_price, key=at_price.get, reverse=True):
    print(f"{name:12} {at_price[name]:.2f} bits; the language has {true_entropy:.2f}")

# %% [markdown]
# ## Whole stories
#
# A position is not a story: a mistake leads to the next. So let them write. All samplers at once, each with eighty rows of one batch: the twenty introductions, four times each. The model remembers its keys and values (lecture 15), which the library's `generate` uses.

# %%
n_rows = 320 if is_full else 80  # stories per sampler
rng = torch.Generator().manual_seed(7)
writers = {
    "greedy": partial(sampling.temperature, t=0.0),
    "T 1": partial(sampling.temperature, t=1.0),
    "T 0.7": partial(sampling.temperature, t=0.7),
    "T 1.3": partial(sampling.temperature, t=1.3),
    "dynamic 0.3–1.3": partial(sampling.dynamic_temperature, low=0.3, high=1.3),
    "quadratic 0.3": partial(sampling.quadratic, factor=0.3),
    "top-k 10": partial(sampling.top_k, k=10),
    "top-p 0.9": partial(sampling.top_p, p=0.9),
    "min-p 0.1": partial(sampling.min_p, p=0.1),
    "top-a 0.2": partial(sampling.top_a, a=0.2),
    "top-nσ 1.5": partial(sampling.top_n_sigma, n=1.5),
    "epsilon 0.02": partial(sampling.epsilon_cutoff, epsilon=0.02),
    "eta 0.02": partial(sampling.eta_cutoff, epsilon=0.02),
    "typical 0.9": partial(sampling.locally_typical, mass=0.9),
    "tail-free 0.95": partial(sampling.tail_free, z=0.95),
    "presence 1": partial(sampling.presence_penalty, penalty=1.0),
    "frequency 0.5": partial(sampling.frequency_penalty, penalty=0.5),
    "repetition 1.2": partial(sampling.repetition_penalty, penalty=1.2),
    "DRY 0.8": partial(sampling.dry, multiplier=0.8),
}

# %%
hotter, tighter = writers["T 1.3"], writers["min-p 0.1"]
no_top = partial(sampling.xtc, threshold=0.1, probability=0.5, generator=rng)
writers["min-p, XTC 0.1"] = sampling.Pipeline([tighter, no_top])
writers["min-p, T 1.3"] = sampling.Pipeline([tighter, hotter])
writers["T 1.3, min-p"] = sampling.Pipeline([hotter, tighter])
mirostat = sampling.Mirostat(1.0, rng)  # draws by itself, because it must see what was drawn


def everybody(logits: torch.Tensor, history: torch.Tensor) -> torch.Tensor:
    """Each sampler chooses for its own rows; the last rows are Mirostat's."""
    chosen = []
    for change, z, before in zip(writers.values(), logits.split(n_rows), history.split(n_rows), strict=False):
        chosen.append(sampling.sample_next_token(change(z, before), rng))
    return torch.cat([*chosen, mirostat(logits[-n_rows:])])


introductions = prompts.repeat(n_rows // 20 * (len(writers) + 1), 1)
texts = sampling.generate(model, introductions, 80, everybody, eos=vocabulary.eos)
texts.shape

# %% [markdown]
# What comes out is judged by the true language. **Flawless**: stories without a mistake that also came to an end. **Mistakes**: first mistakes per hundred words. **Bits**: surprise per word under the true language, up to the first mistake. **Distinct**: different sequences of four words, as a share of all.


# %%
def judge(texts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """For texts (B, T), after the introduction: words up to a mistake or the end, whether there was one, their bits."""
    bits = true_bits(texts)
    is_over = (texts[:, 12:-1] == vocabulary.eos).cumsum(1) > 0  # nothing is asked after </s>
    is_wrong = (bits == torch.inf) & ~is_over
    is_fine = (is_wrong.cumsum(1) == 0) & ~is_over
    return is_fine.sum(1), is_wrong.any(1), bits.where(is_fine, 0.0).sum(1)


def distinct(texts: torch.Tensor, n: int = 4) -> float:
    """Different n-grams of words after the prompt, over all of them."""
    grams = [
        tuple(row[i : i + n])
        for row in texts[:, 13:].tolist()
        for i in range(len(row) - n + 1)
        if vocabulary.eos not in row[i : i + n]
    ]
    return len(set(grams)) / len(grams)


report = {}
for name, mine in zip([*writers, "Mirostat 1"], texts.split(n_rows), strict=True):
    n_words, has_mistake, bits = judge(mine)
    flawless = ((mine == vocabulary.eos).any(1) & ~has_mistake).float().mean().item()
    per_hundred = 100 * has_mistake.sum() / (n_words.sum() + has_mistake.sum())
    report[name] = flawless, per_hundred, bits.sum() / n_words.sum(), distinct(mine)
told_row = 1.0, 0.0, told_bits.sum() / told.mask[:, 13:].sum(), distinct(test_stories.tokens[:80])

# %%
print(f"{'':16}flawless  mistakes/100   bits  distinct")
best_first = dict(sorted(report.items(), key=lambda row: -row[1][0]))
for name, (flawless, mistakes, bits, variety) in ({"the language": told_row} | best_first).items():
    print(f"{name:16}{flawless:8.0%}  {mistakes:12.2f}  {bits:5.2f}  {variety:8.2f}")

# %%
for better, worse in (("min-p 0.1", "T 1"), ("top-p 0.9", "T 1"), ("T 1", "T 1.3")):
    assert report[better][0] > report[worse][0]
assert report["greedy"][3] < report["min-p 0.1"][3] / 2

# %% [markdown]
# With eighty stories a share is uncertain by five points or so (by ten for greedy, which has only twenty different ones), so do not read small differences. The large ones are these:
#
# - Filters that adapt leave twice as many stories without a mistake as plain sampling, and nearly all the phrases of the language. Temperature improves quality less and costs more diversity.
# - Greedy says almost nothing, and not even without mistakes: at true prefixes one in a hundred of its words is wrong, but after its own monotonous sentences more, and a mistake once made is made every time.
# - Penalties and DRY change little that stands out from chance: these texts do not suffer from what they treat. Nor does the order of min-p and a temperature of 1.3 matter much, at these strengths.
# - XTC throws the best words away on purpose. On a model whose best words are right, that only costs.
# - Mirostat evens out the surprise. This language is uneven by nature, a free choice here, a forced word there, and so Mirostat flattens what should stay.
#
# ## Where it breaks
#
# **A filter mends a model; it harms a perfect one.** Give the filters the true probabilities instead of the model's. What they remove now is nothing but possible words. The price is exact: if a share $m$ of the probability stays, the filtered language differs from the true one by a KL divergence of $-\log_2 m$ bits.

# %%
log_truth = truth.log()
for name in ("top-k 10", "top-p 0.9", "min-p 0.1", "typical 0.9"):
    stays = writers[name](log_truth) > -torch.inf
    m = (truth * stays).sum(-1)
    print(f"{name:12} removes {1 - m.mean():.1%} of what people say, {-m.log2().mean():.3f} bits per word")

# %% [markdown]
# (Min-p pays nothing only because in this language hardly any possible word is ten times less likely than the best one in its place; in English many are.) A filter is a statement about the *model*: that the tail of its distribution is less trustworthy than its head. The better the model, the weaker the filter should be.
#
# **Penalties assume that repetition is a fault.** In these stories, and in all English, "the" and the full stop come again because they must, and the things of the introduction come back because the story is about them. Measure it at the true prefixes: how much probability lies on words that cannot come next, as the penalty grows?


# %%
with torch.no_grad():
    every_z = model(read)  # (B, T, V)
cannot = language(read) == -torch.inf


def mistakes_under(penalise) -> float:
    """Probability of a mistake, mean over all positions; each sees the history up to itself."""
    steps = [penalise(every_z[:, t], read[:, : t + 1]).softmax(-1) for t in range(read.shape[1])]
    return (torch.stack(steps, dim=1) * cannot).sum(-1)[is_real].mean().item()


for strength in (0.0, 0.5, 1.0, 2.0):
    by_count = mistakes_under(partial(sampling.frequency_penalty, penalty=strength))
    by_presence = mistakes_under(partial(sampling.presence_penalty, penalty=strength))
    print(f"strength {strength}: frequency {by_count:.1%}, presence {by_presence:.1%}")

# %% [markdown]
# A gentle penalty does nothing, a strong one does harm, and most of it where words are counted: after three sentences the full stop has become too expensive to be used.
#
# ## The ladder
#
# Is a sampler a better model? Put it on the ladder: let each predict the true test stories. **Predict, then run:** where will top-p 0.9 stand?


# %%
def bits_of_truth(logits: torch.Tensor) -> float:
    """Bits per token that the true next words cost."""
    return -logits.log_softmax(-1).gather(-1, following[is_real][:, None]).mean().item() / math.log(2)


rungs = {"floor": floor} | {
    f"T {T}": bits_of_truth(temperature(z, T)) for T in (0.7, 0.9, 1.0, 1.1, 1.3, 2.0)
}
rungs["top-p 0.9"] = bits_of_truth(top_p(z, 0.9))
for name, value in rungs.items():
    print(f"{name:9} {value:.2f} bits per token")
excluded = (top_p(z, 0.9).gather(-1, following[is_real][:, None]) == -torch.inf).float().mean()
print(f"top-p 0.9 excludes {excluded:.1%} of the words that really came next")
assert rungs["top-p 0.9"] == math.inf

# %% [markdown]
# A single true word that the filter has excluded costs infinitely many bits, so a filter that is ever wrong stands below even the uniform model. And no temperature helps by more than a hundredth of a bit: training minimised these very bits at $T = 1$. **A good predictor covers everything that may be said; a good writer says only what it is sure of.** Perplexity measures
# the first, today's table the second, and no single number measures both.
#
# ## The same in the library
#
# The functions of this lecture and `course.sampling`, on random logits:

# %%
random_z = torch.randn(6, 30, generator=torch.Generator().manual_seed(8), dtype=torch.float64)
ours_and_theirs = {
    "temperature": (temperature(random_z, 0.7), {"t": 0.7}),
    "dynamic_temperature": (dynamic_temperature(random_z, 0.3, 1.4), {"low": 0.3, "high": 1.4}),
    "quadratic": (quadratic(random_z, 0.4, 1.5), {"factor": 0.4, "curve": 1.5}),
    "top_k": (top_k(random_z, 7), {"k": 7}),
    "top_p": (top_p(random_z, 0.8), {"p": 0.8}),
    "min_p": (min_p(random_z, 0.2), {"p": 0.2}),
    "top_a": (top_a(random_z, 0.6), {"a": 0.6}),
    "top_n_sigma": (top_n_sigma(random_z, 1.3), {"n": 1.3}),
    "epsilon_cutoff": (epsilon_cutoff(random_z, 0.04), {"epsilon": 0.04}),
    "eta_cutoff": (eta_cutoff(random_z, 0.04), {"epsilon": 0.04}),
    "locally_typical": (locally_typical(random_z, 0.7), {"mass": 0.7}),
    "tail_free": (tail_free(random_z, 0.9), {"z": 0.9}),
    "xtc": (xtc(random_z, 0.05), {"threshold": 0.05, "probability": 1.0, "generator": rng}),
}
for name, (ours, settings) in ours_and_theirs.items():
    assert torch.allclose(ours, getattr(sampling, name)(random_z, **settings)), name

# %%
said = torch.randint(4, (24,), generator=torch.Generator().manual_seed(9))  # four words, so that they repeat
one = random_z[0]
assert torch.allclose(presence_penalty(one, said, 0.7), sampling.presence_penalty(one, said, penalty=0.7))
assert torch.allclose(frequency_penalty(one, said, 0.7), sampling.frequency_penalty(one, said, penalty=0.7))
assert torch.allclose(repetition_penalty(one, said, 1.3), sampling.repetition_penalty(one, said, penalty=1.3))
assert torch.allclose(dry(one, said, 0.8), sampling.dry(one, said, multiplier=0.8))
ours = beam_search(next_log_probs, prompts[1].tolist(), 6, width=3)
theirs = sampling.beam_search(model, prompts[1], 6, beam_width=3, length_penalty=0.0)
assert [tuple(text[13:]) for _, text in ours] == [found.tokens for found in theirs]
with torch.no_grad():
    ours = contrastive_step(prompts[2], 5, 0.4)
assert sampling.contrastive_search(model, prompts[2], 1, k=5, alpha=0.4)[-1] == ours
print("we have just built course.sampling")

# %% [markdown]
# ## Recap
#
# - Generation is a loop: read, choose, append. Greedy and beam search look for the most probable text, and the most probable is not the typical.
# - Temperatures reshape, filters remove, penalties read the history; Mirostat steers the surprise, contrastive search compares states.
# - A temperature commutes with top-k and top-nσ, not with filters that look at probabilities; penalties belong before filters.
# - Every sampler pays for quality with diversity. Filters that adapt to the shape of the distribution pay less.
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
# after = [
#     sampling.top_k(z, k=3),
#     sampling.top_p(z, p=0.7),
#     sampling.min_p(z, p=0.2),
#     sampling.top_a(z, a=0.4),
#     sampling.epsilon_cutoff(z, epsilon=0.1),
#     sampling.eta_cutoff(z, epsilon=0.1),
#     sampling.top_n_sigma(z, n=1.0),
#     sampling.locally_typical(z, mass=0.5),
#     sampling.tail_free(z, z=0.9),
# ]
# assert [int((left > -torch.inf).sum()) for left in after] == [3, 2, 3, 3, 3, 3, 2, 2, 2]
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
# At $T = 0.5$ they are proportional to $P^2$: 0.68, 0.25, 0.06, 0.01. The quadratic lifts the second and presses the last: 0.36, 0.33, 0.23, 0.07. The entropy is 0.82 of the largest possible one, so $T = 0.5 + 0.82 = 1.32$. Contrastive search with $\alpha = 0$ is greedy.
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
# **4.** *(long)* Where does DRY belong? A text has come round to a phrase that it has said before, and the model wants to go on with it: the next word has 0.9. Put DRY before top-p 0.8, and after it.
#
# <details><summary>Answer</summary>
#
# After the filter DRY comes too late: top-p has kept a single word, and however much is taken from its logit, it is the only one left, so the phrase is repeated. Before the filter it takes the favourite down, and other words enter the nucleus. So DRY stands with the penalties, before everything that cuts. With temperature it does not commute either: a temperature of 2 after it halves the penalty too.
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
# - Alex Graves, ["Sequence Transduction with Recurrent Neural Networks"](https://arxiv.org/abs/1211.3711), arXiv 1211.3711 (2012).
# - Ilya Sutskever, Oriol Vinyals and Quoc V. Le, ["Sequence to Sequence Learning with Neural Networks"](https://arxiv.org/abs/1409.3215), NeurIPS 2014.
# - David H. Ackley, Geoffrey E. Hinton and Terrence J. Sejnowski, ["A Learning Algorithm for Boltzmann Machines"](https://doi.org/10.1207/s15516709cog0901_7), *Cognitive Science* 9 (1985), 147–169.
# - Written for and by practitioners: Phénix and Egan, ["Tail Free Sampling"](https://www.trentonbricken.com/Tail-Free-Sampling/) (2019); Kalomaze on dynamic temperature and quadratic sampling (2023, 2024); P. E. Weidmann on DRY and XTC (2024, pull requests [5677](https://github.com/oobabooga/text-generation-webui/pull/5677) and [6335](https://github.com/oobabooga/text-generation-webui/pull/6335) of text-generation-webui); ["Dummy's Guide to Modern LLM Sampling"](https://rentry.co/samplers).
# - Bruce Lowerre, [*The HARPY Speech Recognition System*](https://stacks.stanford.edu/file/druid:rq916rn6924/rq916rn6924.pdf), thesis, Carnegie Mellon University, 1976: beam search, before it had the name.
# - Patrick von Platen, ["How to generate text"](https://huggingface.co/blog/how-to-generate), 2020.
