# %% [markdown]
# # 05 · A feed-forward language model
#
# **You will be able to**
#
# - write down the neural language model of Bengio et al. (2003) and say the shape of every part;
# - build it with loops, then with tensors, and check the very first loss against $\ln V$;
# - train it by gradient descent, and read what its embedding has learned;
# - say what it does better than a table of counts, and what it still cannot do.
#
# *35 minutes to read, under 60 seconds to run. You need matrices times vectors; how the gradients are found is lecture 06.
# Before this: [02 · n-grams](02_ngrams.ipynb), [03 · Perplexity](03_perplexity.ipynb).*
#
# **The question of the day:** how can a model profit from a sentence that it has never seen?

# %% setup

# %%
import math

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from course import figures
from course.data.shuffling import ShuffledStories
from course.data.story_language import StoryLanguage
from course.evaluation import score, target_nll
from course.training import TrainingConfig, train

# %% [markdown]
# ## What a table cannot see
#
# A table of counts has one row for *the girls near*, another for *the boys near*, and nothing connects them. Whatever it learned about girls it must
# learn again about boys, and about teachers, farmers and sailors. With 20 words for each of 3 places there are 8,000 rows;
# the knowledge in them may be a handful of facts.
#
# The idea of Bengio, Ducharme, Vincent and Jauvin (2003): give every word a short list of numbers, its **embedding**, and compute the next word's
# probabilities from those numbers by a smooth function. If *girls* and *boys* have similar numbers, they get similar predictions: every sentence
# about the ones teaches something about the others. The numbers are not given; they are learned together with the function.
#
# ## The model
#
# A window of $N = 3$ words $x_{t-3}, x_{t-2}, x_{t-1}$ predicts the word $x_t$:
#
# $$
# \begin{aligned}
# \mathbf{e} &= [\mathbf{E}\mathbf{x}_{t-3};\; \mathbf{E}\mathbf{x}_{t-2};\; \mathbf{E}\mathbf{x}_{t-1}] && \text{embed each word, and join} \\
# \mathbf{h} &= \sigma(\mathbf{W}\mathbf{e}) && \text{hidden layer} \\
# \mathbf{z} &= \mathbf{U}\mathbf{h} && \text{one number for each word: the logits} \\
# \hat{\mathbf{y}} &= \text{softmax}(\mathbf{z}), \quad \hat y_i = \frac{e^{z_i}}{\sum_{j} e^{z_j}} && \text{probabilities} \\
# L &= -\mathbf{y} \cdot \log \hat{\mathbf{y}} && \text{the surprise at the word that came}
# \end{aligned}
# $$
#
# | symbol | meaning | shape | in the code |
# |---|---|---|---|
# | $V$ | words in the vocabulary | | `vocab_size` |
# | $d$ | numbers per word | | `d_embedding` |
# | $D$ | width of the hidden layer | | `d_hidden` |
# | $N$ | words in the window | | `n_window` |
# | $\mathbf{x}_t$ | word $t$ as a *one-hot* vector: 1 at its own place, 0 elsewhere | $V$ | `one_hot(tokens[t])` |
# | $\mathbf{E}$ | the embedding: one column per word | $d \times V$ | `E` |
# | $[\,\cdot\,;\,\cdot\,]$ | vectors one below the other | | `torch.cat` |
# | $\mathbf{e}$ | the window as one vector | $Nd$ | `e` |
# | $\mathbf{W}$, $\mathbf{U}$ | two matrices of weights | $D \times Nd$, $V \times D$ | `W`, `U` |
# | $\sigma$ | a function applied to each number, here $\tanh$ as in the paper | | `torch.tanh` |
# | $\mathbf{y}$ | the word that came, one-hot | $V$ | `one_hot(target)` |
# | $L$ | the loss, in nats | | `loss` |
#
# (The paper adds a constant to $\mathbf{W}\mathbf{e}$ and to $\mathbf{U}\mathbf{h}$; so does the library. We leave the constants out until the last cell.)
#
# ## The smallest possible one
#
# Five words, $d = 2$, $D = 4$, $N = 3$: no two sizes alike, so a wrong axis shows.

# %%
words = ["the", "cat", "dog", "sat", "ran"]
V, d, D, N = 5, 2, 4, 3
generator = torch.Generator().manual_seed(0)
E = torch.randn(d, V, generator=generator)
W = torch.randn(D, N * d, generator=generator)
U = torch.randn(V, D, generator=generator)
window, target = [words.index(word) for word in ("sat", "the", "cat")], words.index("ran")

# %% [markdown]
# A matrix times a one-hot vector picks out a column. That is all an embedding is: a row of a table, looked up by number. No program multiplies
# with the zeros.


# %%
def one_hot(token: int) -> torch.Tensor:
    return torch.eye(V)[token]


assert torch.equal(E @ one_hot(1), E[:, 1])
E[:, 1]  # what the model knows about "cat"

# %% [markdown]
# Now the five lines of the model, as loops over single numbers.

# %%
e = [E[i, token].item() for token in window for i in range(d)]  # (N·d,)
h = [math.tanh(sum(W[j, k].item() * e[k] for k in range(N * d))) for j in range(D)]  # (D,)
z = [sum(U[i, j].item() * h[j] for j in range(D)) for i in range(V)]  # (V,)
y_hat = [math.exp(z[i]) / sum(math.exp(value) for value in z) for i in range(V)]  # (V,)
loss = -sum(y * math.log(p) for y, p in zip(one_hot(target).tolist(), y_hat, strict=True))
print({word: round(p, 3) for word, p in zip(words, y_hat, strict=True)}, f"loss {loss:.4f}")

# %% [markdown]
# Only one term of the sum in the loss is not zero, so $L = -\log \hat y_{\text{target}}$: the cross-entropy of lecture 01, for one word.
#
# ## The same with tensors
#
# Many windows at once, (B, N) token numbers. `E.T[windows]` looks up a row of $\mathbf{E}^\top$ for each, and flattening joins the rows of a window.


# %%
def forward(windows: torch.Tensor, E: torch.Tensor, W: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    """Logits (…, V) for windows (…, N)."""
    e = E.T[windows].flatten(start_dim=-2)  # (…, N·d)
    h = torch.tanh(e @ W.T)  # (…, D)
    return h @ U.T  # (…, V)


windows, targets = torch.tensor([window, [0, 1, 3]]), torch.tensor([target, 0])  # (B=2, N), (B,)
logits = forward(windows, E, W, U)
assert torch.allclose(logits[0].softmax(-1), torch.tensor(y_hat))
assert torch.isclose(F.cross_entropy(logits[:1], targets[:1]), torch.tensor(loss))
print("loops and tensors agree")

# %% [markdown]
# **Predict, then run.** Why are the embeddings joined, and not added? What would the model say about *the dog bit* and *bit dog the* if they were
# added?

# %%
order, reverse = torch.tensor([0, 1, 3]), torch.tensor([3, 1, 0])
added = [E.T[tokens].sum(0) for tokens in (order, reverse)]
joined = [E.T[tokens].flatten() for tokens in (order, reverse)]
print("added: ", torch.allclose(*added), "  joined:", torch.allclose(*joined))

# %% [markdown]
# <details><summary>Why</summary>
#
# A sum does not know the order of its terms, so the two would be the same to the model. Joined, each place of the window meets its own columns of
# $\mathbf{W}$.
#
# </details>
#
# ## Before training: the first loss
#
# A model that knows nothing should give every word $1/V$, a loss of $\ln V$. If the first loss is far from that, something is wrong before
# anything was learned, so look at it every time.

# %%
language = StoryLanguage()
train_stories = language.sample(4000, torch.Generator().manual_seed(1))
test_stories = language.sample(300, torch.Generator().manual_seed(2))
print(f"V = {language.vocab_size}, ln V = {math.log(language.vocab_size):.3f} nats")
print(language.read(train_stories.tokens[0])[:100])


# %% [markdown]
# For a text, every position has a window: the $N$ tokens that end there. Before the start stands `<s>`.


# %%
def windows_of(tokens: torch.Tensor, n_window: int, fill: int) -> torch.Tensor:
    """(B, T) → (B, T, N): the N tokens that end at each position."""
    padded = F.pad(tokens, (n_window - 1, 0), value=fill)
    return padded.unfold(1, n_window, 1)


windows_of(torch.tensor([[5, 6, 7, 8]]), n_window=3, fill=0)

# %% [markdown]
# All parts in one class, with the one interface of this course: tokens (B, T) in, log-probabilities (B, T, V) out.


# %%
class WindowModel(nn.Module):
    """Bengio et al. 2003 without constants: log softmax(U tanh(W e))."""

    context_length = None

    def __init__(self, vocab_size, n_window, d_embedding, d_hidden, fill, generator, scale_of_U=0.03):
        super().__init__()
        self.vocab_size, self.n_window, self.fill = vocab_size, n_window, fill
        width = n_window * d_embedding
        self.E = nn.Parameter(torch.randn(d_embedding, vocab_size, generator=generator) * 0.1)
        self.W = nn.Parameter(torch.randn(d_hidden, width, generator=generator) / width**0.5)
        self.U = nn.Parameter(torch.randn(vocab_size, d_hidden, generator=generator) * scale_of_U)

    def forward(self, tokens):
        windows = windows_of(tokens, self.n_window, self.fill)  # (B, T, N)
        return forward(windows, self.E, self.W, self.U).log_softmax(-1)  # (B, T, V)


# %% [markdown]
# **Predict, then run.** The same model with three sizes of the random numbers in $\mathbf{U}$. Which first loss is near $\ln V$, and on which side
# are the others?


# %%
def new_model(n_window: int, scale_of_U: float = 0.03) -> WindowModel:
    generator = torch.Generator().manual_seed(0)
    return WindowModel(language.vocab_size, n_window, 16, 64, language.vocabulary.bos, generator, scale_of_U)


for scale in (0.03, 1.0, 30.0):
    first = score(new_model(3, scale), test_stories).cross_entropy
    print(f"U of size {scale:5}: first loss {first:7.3f} nats, ln V = {math.log(language.vocab_size):.3f}")

# %% [markdown]
# With large random weights the model is *sure*, and of something random. Its first steps would go into unlearning that.
# The width of $\mathbf{h}$ matters: a sum of $D$ random terms grows like $\sqrt{D}$, so weights are drawn smaller the more of them are added up.
#
# ## Learning
#
# Collect all parameters in one letter, $\theta = (\mathbf{E}, \mathbf{W}, \mathbf{U})$. **Stochastic gradient descent** (SGD) takes a few examples, asks in which
# direction the loss falls, and moves every parameter a little that way:
#
# $$\theta^{s+1} = \theta^{s} - \eta\, \frac{\partial\, [-\log p(w_t \mid w_{t-1}, \dots, w_{t-n+1})]}{\partial \theta}$$
#
# | symbol | meaning |
# |---|---|
# | $s$ | the number of the step |
# | $\eta$ | the learning rate: how far to go |
# | $w_t$, $n$ | the word and the order of the model, as in lecture 02; here $n = N + 1$ |
# | $\partial / \partial \theta$ | the gradient: how the loss changes with each parameter |
#
# On the five-word example, with torch computing the gradients (lecture 06 computes them by hand):

# %%
theta = [parameter.clone().requires_grad_() for parameter in (E, W, U)]
for step in range(21):
    loss = F.cross_entropy(forward(windows, *theta), targets)
    if step % 5 == 0:
        print(f"step {step:2}  loss {loss.item():.4f}")
    gradients = torch.autograd.grad(loss, theta)
    theta = [(p - 0.2 * g).detach().requires_grad_() for p, g in zip(theta, gradients, strict=True)]

# %% [markdown]
# Which embeddings moved? Only those of words that stood in a window; the others had no part in the loss.

# %%
moved = (theta[0] - E).abs().sum(0)  # (V,): how far each column of E moved
print({word: round(distance, 3) for word, distance in zip(words, moved.tolist(), strict=True)})
assert (moved[[word not in windows.unique() for word in range(V)]] == 0).all()

# %% [markdown]
# Now the stories. `course.training` does the same for every model of this course, with two refinements: AdamW, which gives each parameter a step size of its
# own (Loshchilov and Hutter, 2019), and a learning rate that warms up and cools down.

# %%
model = new_model(n_window=3)
batches = ShuffledStories(train_stories, batch_size=16)
config = TrainingConfig(n_steps=600, learning_rate=1e-2)
history = train(model, batches, config, device="cpu")
floor = score(language, test_stories)
print(f"after {history.n_steps} steps: {score(model, test_stories).bits_per_token:.2f} bits per token")

# %%
drawing, axes = plt.subplots(figsize=(6, 2.6))
axes.plot(history.losses, color="#0072B2", linewidth=1, label="training loss")
axes.axhline(math.log(language.vocab_size), color="#009E73", linestyle=":", label="ln V")
axes.axhline(floor.cross_entropy, color="#D55E00", linestyle="--", label="floor")
axes.set(xlabel="step", ylabel="nats per token", ylim=(0, 5.4))
axes.legend(frameon=False)
figures.still(
    drawing,
    alt=f"Training loss over {history.n_steps} steps: from {history.losses[0]:.2f} nats, about ln V, to {history.losses[-1]:.2f}; the floor is {floor.cross_entropy:.2f}.",
    caption="The loss begins at ln V, as it must, and falls fast at first. It does not come near the floor.",
)

# %% [markdown]
# ## What it learned about words
#
# Nobody told the model that *nora* and *emma* are names. But names can stand in the same places, so the function needs the same from them, and their columns in
# $\mathbf{E}$ were pushed in the same directions. How alike two words are is measured by the **cosine** of the angle between their vectors, 1 for
# the same direction and 0 for a right angle:
#
# $$\cos(\mathbf{a}, \mathbf{b}) = \frac{\mathbf{a} \cdot \mathbf{b}}{\lVert \mathbf{a} \rVert \, \lVert \mathbf{b} \rVert}$$
#
# **Predict, then run.** Which words will be nearest to *girls*: *girl*, *boys*, or *the*?


# %%
def nearest(word: str, k: int = 5) -> list[str]:
    vectors = F.normalize(model.E.detach().T, dim=1)  # (V, d), each of length one
    cosines = vectors @ vectors[language.vocabulary.token(word)]  # (V,)
    return language.vocabulary.decode(cosines.topk(k + 1).indices[1:], keep_special=True)


for word in ("girls", "nora", "boots", "river", "sings"):
    print(f"{word:6} {nearest(word)}")

# %% [markdown]
# Is that more than a few good examples? The grammar of the stories knows the class of every word; count how often a word and its nearest neighbour belong to the
# same one.

# %%
from dataclasses import fields

lexicon = language.config.lexicon
classes = {field.name: getattr(lexicon, field.name) for field in fields(lexicon)}
actions = classes.pop("actions")  # a verb, and the things that one does it to
classes["verbs"] = [verb for verb, *_ in actions]
classes["things"] = [thing for _, *things in actions for thing in things]
class_of = {word: name for name, members in classes.items() for word in members}
agreeing = sum(class_of.get(nearest(word, 1)[0]) == name for word, name in class_of.items()) / len(class_of)
sizes = [len(members) for members in classes.values()]
by_chance = sum(size * (size - 1) / (language.vocab_size - 1) for size in sizes) / len(class_of)
print(
    f"the nearest word is of the same class for {agreeing:.0%} of the words; by chance it would be {by_chance:.0%}"
)
assert agreeing > 3 * by_chance

# %% [markdown]
# Walk around in the map. A picture of two dimensions must bend sixteen, so some neighbours look far apart: switch the measure and compare.

# %%
figures.embedding(model.E.T, language.vocabulary.words, start="girls")

# %% [markdown]
# ## What is better than counting
#
# **No sparsity problem.** Let both look five words back: the table of lecture 02 as a 6-gram model, and the network with a window of five. Split the test text
# by one question: did these five words ever stand side by side in the training stories?

# %%
from course.models import KneserNey, NGramCounts

bos, vocab_size = language.vocabulary.bos, language.vocab_size
sequences = [tokens[mask] for tokens, mask in zip(train_stories.tokens, train_stories.mask, strict=True)]
six_gram = KneserNey(NGramCounts(sequences, 6, vocab_size, bos))
wider = new_model(n_window=5)
train(wider, batches, config, device="cpu")

seen = {tuple(window) for tokens in sequences for window in windows_of(tokens[None], 5, bos)[0].tolist()}
contexts = windows_of(test_stories.tokens[:, :-1], 5, bos).tolist()  # (B, T, N)
is_seen = torch.tensor([[tuple(window) in seen for window in story] for story in contexts])
is_real = test_stories.mask[:, 1:]


# %%
@torch.no_grad()
def bits_where(model, chosen: torch.Tensor) -> float:
    """Mean bits over the positions (B, T) that are chosen."""
    losses = target_nll(model(test_stories.tokens[:, :-1]), test_stories.tokens[:, 1:])
    return (losses[chosen].mean() / math.log(2)).item()


for name, chosen in (("seen", is_seen & is_real), ("never seen", ~is_seen & is_real)):
    print(
        f"five words {name:10} ({chosen.sum() / is_real.sum():3.0%} of the text): "
        f"6-gram {bits_where(six_gram, chosen):.2f}, network {bits_where(wider, chosen):.2f}, "
        f"true model {bits_where(language, chosen):.2f} bits"
    )

# %% [markdown]
# Where the context is new, the table falls back on shorter contexts and forgets the rest. The network has seen words *like* these, and stays nearer to the
# truth. It is also ahead where the context was seen: once or twice is too seldom to tell what else could follow.
#
# **No need to store the n-grams.** The table grows with the text; the network has as many parameters as its shapes say.

# %%
n_parameters = sum(parameter.numel() for parameter in wider.parameters())
six_grams = {
    gram for tokens in sequences for gram in zip(*(tokens.tolist()[i:] for i in range(6)), strict=False)
}
print(f"{n_parameters:,} parameters; {len(six_grams):,} different 6-grams in the table")

# %% [markdown]
# ## What remains
#
# **The window is too small, and never large enough.** Try four windows. Each position has columns of $\mathbf{W}$ of its own, so the matrix grows with the
# window.
#
# **Predict, then run.** Which step will bring most: from one word to three, from three to five, or from five to eight?

# %%
models = {1: new_model(1), 3: model, 5: wider, 8: new_model(8)}
for n_window in (1, 8):
    train(models[n_window], batches, config, device="cpu")
bits = {n_window: score(m, test_stories).bits_per_token for n_window, m in models.items()}
for n_window, value in bits.items():
    print(f"window {n_window}: {value:.2f} bits per token, W has {models[n_window].W.numel():6,} numbers")

# %% [markdown]
# What does the widest one still not know? Compare it with the true probabilities, and add up what it pays too much, by the class of the word that
# came.


# %%
@torch.no_grad()
def excess_by_class(model) -> dict[str, float]:
    """Bits above the true model, in total over all targets of a class, divided by the number of tokens."""
    inputs, targets = test_stories.tokens[:, :-1], test_stories.tokens[:, 1:]
    excess = (target_nll(model(inputs), targets) - target_nll(language(inputs), targets)) / math.log(2)
    by_word = torch.zeros(vocab_size).index_add(0, targets[is_real], excess[is_real]) / is_real.sum()
    totals = {}
    for word, bits in zip(language.vocabulary.words, by_word.tolist(), strict=True):
        name = class_of.get(word, word)
        totals[name] = totals.get(name, 0.0) + bits
    return dict(sorted(totals.items(), key=lambda item: -item[1]))


missing = excess_by_class(models[8])
print(f"in total {sum(missing.values()):.2f} bits per token above the floor, among them:")
print({name: round(value, 3) for name, value in list(missing.items())[:8]})
assert missing["things"] + missing["verbs"] > sum(missing.values()) / 2

# %% [markdown]
# More than half of what is missing are things and the verbs that go with them: what the hero had was said in the first sentence, far outside the window, and a hero does only what these
# things allow. Then the names of the heroes, for the same reason. A window of 30 would hold more of it, at the price of a $\mathbf{W}$ four times as large, most of it without
# examples; and some other text would need 300.
#
# **Nothing is shared between positions.** The first word of the window is multiplied by other columns of $\mathbf{W}$ than the second, so what was learned about a
# word at one place is not known at the next. Here is what *girls* contributes to the hidden layer from each of three places, compared by cosine:

# %%
blocks = model.W.detach().unflatten(1, (3, -1))  # (D, N, d): the columns that belong to each place
contributions = torch.einsum("jnd,d->nj", blocks, model.E.detach()[:, language.vocabulary.token("girls")])
(F.normalize(contributions, dim=1) @ F.normalize(contributions, dim=1).T).round(decimals=2)

# %% [markdown]
# Three places, three rather different messages about the same word. The next architecture reads one word after the other with the *same* weights, and keeps what it read in a
# state instead of a window: lecture 07.
#
# ## The ladder
#
# The counted models of lecture 02 and today's rungs, on the same stories.

# %%
ladder = {"uniform": math.log2(vocab_size)}
for n in (2, 4):
    ladder[f"{n}-gram"] = score(
        KneserNey(NGramCounts(sequences, n, vocab_size, bos)), test_stories
    ).bits_per_token
ladder["6-gram"] = score(six_gram, test_stories).bits_per_token
for n_window in (3, 5, 8):
    ladder[f"feed-forward, window {n_window}"] = bits[n_window]
assert ladder["feed-forward, window 5"] < ladder["6-gram"]  # both look five words back

# %%
drawing, axes = plt.subplots(figsize=(6, 2.8))
colours = ["#0072B2" if name.startswith("feed") else "#8C959F" for name in ladder]
bars = axes.barh(list(ladder)[::-1], list(ladder.values())[::-1], color=colours[::-1])
axes.bar_label(bars, [f"{value:.2f}" for value in list(ladder.values())[::-1]], padding=3)
axes.axvline(floor.bits_per_token, color="#D55E00", linestyle="--", label=f"floor {floor.bits_per_token:.2f}")
axes.set(xlabel="bits per token", xlim=(0, ladder["uniform"] + 0.8))
axes.legend(frameon=False)
figures.still(
    drawing,
    alt="The ladder in bits per token: "
    + ", ".join(f"{name} {value:.2f}" for name, value in ladder.items())
    + f"; floor {floor.bits_per_token:.2f}.",
    caption="Grey: tables of counts. Blue: today's rungs.",
)

# %% [markdown]
# ## The same in the library
#
# `course.models` has the model with the paper's constants $\mathbf{b}$ and $\mathbf{c}$, and keeps $\mathbf{E}^\top$, one *row* per word, as torch does. With our weights and
# the constants at zero it must answer what ours answers, on random tokens too:

# %%
from course.models import FeedForwardConfig, FeedForwardLanguageModel

library = FeedForwardLanguageModel(
    FeedForwardConfig(vocab_size, n_window=3, d_embedding=16, d_hidden=64, fill=bos)
)
with torch.no_grad():
    library.embedding.weight.copy_(model.E.T)
    library.hidden.weight.copy_(model.W)
    library.output.weight.copy_(model.U)
    library.hidden.bias.zero_()
    library.output.bias.zero_()
    tokens = torch.randint(vocab_size, (2, 7), generator=generator)  # (B, T)
    assert torch.allclose(library(tokens), model(tokens), atol=1e-5)
print("we have just built the library's model")

# %% [markdown]
# ## Recap
#
# - An embedding gives each word a column of numbers; similar use makes similar columns.
# - $\mathbf{e} = [\mathbf{E}\mathbf{x}; \mathbf{E}\mathbf{x}; \mathbf{E}\mathbf{x}]$, $\mathbf{h} = \sigma(\mathbf{W}\mathbf{e})$, $\mathbf{z} = \mathbf{U}\mathbf{h}$, softmax, surprise: five lines.
# - The first loss should be $\ln V$; look at it before anything else.
# - All of $\theta = (\mathbf{E}, \mathbf{W}, \mathbf{U})$ moves against its gradient, a step for every batch.
# - It knows what to do in contexts that were never counted; but its window ends, grows $\mathbf{W}$, and shares nothing between places.
#
# **In the homework:** [hw2 · Backpropagation](../homeworks/hw2_backprop/hw2_backprop.ipynb) begins with windows and targets, this model's forward pass, and the
# check of the first loss.
#
# ## Further reading
#
# - Yoshua Bengio, Réjean Ducharme, Pascal Vincent and Christian Jauvin, "A Neural Probabilistic Language Model", *Journal of Machine Learning Research* 3 (2003), 1137–1155.
# - Tomas Mikolov, Kai Chen, Greg Corrado and Jeffrey Dean, "Efficient Estimation of Word Representations in Vector Space", ICLR 2013 (workshop).
# - Ilya Loshchilov and Frank Hutter, "Decoupled Weight Decay Regularization", ICLR 2019.
# - Daniel Jurafsky and James H. Martin, *Speech and Language Processing*, 3rd edition draft, chapters on neural networks and on embeddings.
