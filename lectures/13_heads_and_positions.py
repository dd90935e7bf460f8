# %% [markdown]
# # 13 · Heads and positions
#
# **You will be able to**
#
# - split one attention into $H$ heads of width $D/H$, with a loop and with one reshape, and say what that costs;
# - show what a single head cannot do, and find out what trained heads look at;
# - give words positions: by sines, by learned vectors, in every layer, by distance, by rotation;
# - say which of these depend on where a word stands and which only on how far apart two words are;
# - compare them on the same data, also on texts longer than any in training.
#
# *40 minutes to read, about 45 seconds to run. Before this: [12 · Self-attention](12_self_attention.ipynb).*
#
# **The question of the day:** how can a word have several queries at once, and how does it know where it stands?

# %% setup

# %%
import math
import os

import matplotlib.pyplot as plt
import torch
from torch import nn

from course import figures
from course.models import scaled_dot_product_attention
from course.training import TrainingConfig, best_device, train

torch.set_num_threads(1)  # with matrices this small, one core is faster than several
is_full = os.environ.get("COURSE_SCALE") == "full"  # four times the steps, on a GPU if there is one
device = best_device() if is_full else torch.device("cpu")
torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## One head gives one average
#
# In *nora had tickets and printed* … the next word needs two things: *who* (nora, so *she* later on) and *what* (tickets). A single attention (a **head**) has one row of weights for both, and gives their average. Suppose it gives half of its weight to each:

# %%
nora, tickets = torch.tensor([1.0, 0.0, 2.0, 0.0]), torch.tensor([0.0, 3.0, 0.0, 1.0])
half = torch.tensor([0.5, 0.5])
found = half @ torch.stack([nora, tickets])
assert torch.equal(found, half @ torch.stack([tickets, nora]))
found

# %% [markdown]
# The average of nora and tickets is the same as the average of tickets and nora, so the information which of them is the person is lost. Two heads of half the width, each with its own weights and its own part of the values, keep them apart:

# %%
looks_at_who, looks_at_what = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
values = torch.stack([nora, tickets])
found = torch.cat([looks_at_who @ values[:, :2], looks_at_what @ values[:, 2:]])
assert torch.equal(found, torch.cat([nora[:2], tickets[2:]]))
found

# %% [markdown]
# ## Many heads
#
# **Multi-head attention** (Vaswani and others, 2017) runs $H$ attentions side by side, in $d_k = D/H$ dimensions each, puts their outputs side by side, and mixes them with one more matrix:
#
# $$\text{head}_h = \text{softmax}\Big(\frac{Q_h K_h^\top}{\sqrt{d_k}}\Big) V_h, \qquad \text{MultiHead}(X) = [\text{head}_1, \dots, \text{head}_H]\, W_o^\top$$
#
# with $Q_h = X W_{q,h}^\top$ and likewise $K_h$ and $V_h$.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $B$, $T$, $D$ | texts, words, width of a word's vector | |
# | $H$, $d_k = D/H$ | number of heads (no longer lecture 12's outputs), width of one head | |
# | $X$ | the words, one per row | $(T, D)$ |
# | $W_{q,h}$, $W_{k,h}$, $W_{v,h}$ | the matrices of head $h$ | $(d_k, D)$ each |
# | $Q_h$, $K_h$, $V_h$ | its queries, keys and values | $(T, d_k)$ each |
# | $W_o$ | mixes the heads | $(D, D)$ |
#
# The drawing shows where the axes are split, and where they come together.

# %%
figures.machine("heads")

# %% [markdown]
# **A question:** with one head instead of three, which shapes change, and which matrices?
#
# <details><summary>Answer</summary>
#
# Every shape with an $H$: queries, keys, values and heads are then $(B, 1, T, D)$, the weights $(B, 1, T, T)$, one map instead of three. No matrix changes: the $(d_k, D)$ matrices of all heads, one below the other, have always been $(D, D)$, and so is $W_o$.
#
# </details>
#
# First we use a loop over heads, with $B = 2$, $T = 5$, $H = 3$, $d_k = 2$, so $D = 6$.

# %%
B, T, H, d_k = 2, 5, 3, 2
D = H * d_k
generator = torch.Generator().manual_seed(0)
W_query, W_key, W_value, W_output = (torch.randn(D, D, generator=generator) / 2 for _ in range(4))
X = torch.randn(B, T, D, generator=generator)

# %%
heads = []
for h in range(H):
    rows = slice(h * d_k, (h + 1) * d_k)  # head h owns these rows of each matrix
    q, k, v = (X @ W[rows].T for W in (W_query, W_key, W_value))  # (B, T, d_k)
    head, _ = scaled_dot_product_attention(q, k, v)
    heads.append(head)
by_loop = torch.cat(heads, dim=-1) @ W_output.T  # (B, T, D)
by_loop.shape

# %% [markdown]
# ## The same in tensors
#
# $H$ matrices of shape $(d_k, D)$, one below the other, are one matrix $(D, D)$. So project once, split the last axis into heads, and move the head axis to the front, where it is one more batch axis:


# %%
def multi_head(X: torch.Tensor) -> torch.Tensor:
    """What every word knows after H looks: (B, T, D) → (B, T, D)."""
    q, k, v = (
        (X @ W.T).view(*X.shape[:2], H, d_k).transpose(1, 2) for W in (W_query, W_key, W_value)
    )  # (B, T, D) → (B, T, H, d_k) → (B, H, T, d_k)
    found, _ = scaled_dot_product_attention(q, k, v)  # (B, H, T, d_k)
    return found.transpose(1, 2).flatten(start_dim=2) @ W_output.T  # (B, T, D)


assert torch.allclose(multi_head(X), by_loop, atol=1e-6)
multi_head(X).shape

# %% [markdown]
# **Predict, then run.** Would `view(B, H, T, d_k)` do as well, without the transpose? The shape is the same.

# %%
wrong = X.view(B, H, T, d_k)  # cuts the text, not the vector
right = X.view(B, T, H, d_k).transpose(1, 2)
assert wrong.shape == right.shape
for row in range(2):
    print(
        f"first head of the first text, row {row} the same:", torch.equal(wrong[0, 0, row], right[0, 0, row])
    )

# %% [markdown]
# <details><summary>Answer</summary>
#
# No. A view keeps the numbers in their order in memory: word by word. Its "first head" is the first word and two thirds of the second, cut into pieces, and a mask over $T$ then hides the wrong numbers. There is no error message, because the shapes fit.
# </details>
#
# What do heads cost? The matrices are as large as before, and so are the products: $H$ heads of $T^2 \cdot 2d_k$ are $T^2 \cdot 2D$. Only the softmax works on $H$ maps instead of one.

# %%
from torch.utils.flop_counter import FlopCounterMode

from course.models import MultiHeadAttention

for n_heads in (1, 4, 16):
    layer = MultiHeadAttention(64, n_heads, is_fused=False)
    text = torch.randn(1, 50, 64)
    with FlopCounterMode(display=False) as counter:
        layer(text, text, text)
    n_parameters = sum(p.numel() for p in layer.parameters())
    print(
        f"H = {n_heads:2}, d_k = {64 // n_heads:2}: {n_parameters:,} parameters, {counter.get_total_flops():,} operations"
    )
    assert n_parameters == 4 * (64 * 64 + 64)
    assert counter.get_total_flops() == 8 * 50 * 64**2 + 4 * 50**2 * 64

# %% [markdown]
# Quoted sizes: the first Transformer had $D = 512$ and $H = 8$, BERT-large 1024 and 16, GPT-3 12,288 and 96; so $d_k$ is 64, 64 and 128. We look at what heads *learn* once they have positions.
#
# ## Nobody knows who ate whom
#
# Lecture 12 ended with a proof: permute the words, and the outputs are permuted. More heads do not help: to each of them the text is a bag of words. Here is a task that needs order and nothing else. In *the man ate the fish*, who ate? A small model reads the sentence, averages over its words, and names one of eight animals.

# %%
from course.models import Linear, SinusoidalPositions

ANIMALS = ("man", "fish", "cat", "dog", "bird", "horse", "goat", "hen")
WORDS = ("the", "ate", *ANIMALS)


def meals(step: int, n_sentences: int = 64) -> tuple[torch.Tensor, torch.Tensor]:
    """Sentences (B, 5) "the X ate the Y", and X (B)."""
    shuffled = torch.rand(n_sentences, len(ANIMALS), generator=torch.Generator().manual_seed(step)).argsort(1)
    eater, eaten = shuffled[:, 0] + 2, shuffled[:, 1] + 2
    the, ate = torch.zeros_like(eater), torch.ones_like(eater)
    return torch.stack([the, eater, ate, the, eaten], dim=1), eater


class WhoAte(nn.Module):
    """Attention over the whole sentence, the mean of its outputs, one answer."""

    def __init__(self, positions: nn.Module | None) -> None:
        super().__init__()
        self.embedding, self.positions = nn.Embedding(len(WORDS), 16), positions
        self.attention, self.output = MultiHeadAttention(16, n_heads=2), Linear(16, len(WORDS))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        if self.positions is not None:
            x = x + self.positions(tokens.shape[1])
        return self.output((x + self.attention(x, x, x)).mean(dim=1)).log_softmax(dim=-1)


# %% [markdown]
# **Predict, then run.** How often is it right without positions? (Guessing among eight would be 0.125.)


# %% trained
def naming_loss(model: nn.Module, example: tuple[torch.Tensor, ...]) -> torch.Tensor:
    sentences, eater = example
    return -model(sentences).gather(1, eater[:, None]).mean()


accuracy = {}
for name, positions in (("without positions", None), ("with positions", SinusoidalPositions(5, 16))):
    torch.manual_seed(0)
    model = WhoAte(positions)
    config = TrainingConfig(n_steps=800 if is_full else 200, learning_rate=1e-2)
    train(model, meals, config, loss=naming_loss, device=device)
    model.cpu()
    sentences, eater = meals(1_000_000, 1000)
    accuracy[name] = (model(sentences).argmax(1) == eater).float().mean().item()

# %%
figures.prediction(
    "In what fraction of the sentences is it right without positions?",
    accuracy["without positions"],
    unit="%",
)

# %%
print({name: f"{right:.1%} right" for name, right in accuracy.items()})

# %% [markdown]
# <details><summary>Answer</summary>
#
# Half of the time. It learns that the answer is one of the two, and cannot know which. You have just seen that positions fix this; here is how they work.
# </details>
#
# ## A vector for each position
#
# The simplest solution is to let the vector of a word say where it stands. Position $t$ has a vector $p_t$, the same in every sentence, and the first layer reads
#
# $$e_t = c_t + p_t.$$
#
# The $p_t$ may be **learned** like any other parameter: one row for each position, up to a longest text of $T_\text{max}$ words. Or they may be **computed**, and then there is one for every position, however long the text.
#
# ### Sines and cosines
#
# $$p_{t,\,2i} = \sin(t\,\omega_i), \qquad p_{t,\,2i+1} = \cos(t\,\omega_i), \qquad \omega_i = 10000^{-2i/D}, \qquad i = 0, \dots, D/2 - 1$$
#
# | symbol | meaning | |
# |---|---|---|
# | $t$; $m$, $n$ | position in the text, counted from 0; two positions that are compared | |
# | $i$ | number of a pair of dimensions | |
# | $\omega_i$ | its speed, in radians per position; it turns once in $2\pi/\omega_i$ positions | |
# | $p_t$ | the vector of position $t$ | $(D)$ |
#
# The pairs are like the hands of a clock: the first turns once in $2\pi \approx 6.3$ positions, the last hardly moves. Together they tell positions apart, near and far.

# %%
d_model, n_positions = 8, 6
table = torch.zeros(n_positions, d_model)
for t in range(n_positions):
    for i in range(d_model // 2):
        omega_i = 10_000 ** (-2 * i / d_model)
        table[t, 2 * i], table[t, 2 * i + 1] = math.sin(t * omega_i), math.cos(t * omega_i)
table

# %%
omega = 10_000 ** (-torch.arange(0, d_model, 2) / d_model)  # (D/2)
turns = torch.arange(n_positions)[:, None] * omega  # (T, D/2), radians
in_tensors = torch.stack([turns.sin(), turns.cos()], dim=-1).flatten(start_dim=1)  # (T, D)
assert torch.allclose(in_tensors, table, atol=1e-6)
print("positions to one turn, pair by pair:", [round(2 * math.pi / each.item(), 1) for each in omega])

# %% [markdown]
# A table that belongs to a model but is never trained is a **buffer**. `register_buffer` gives it to the module, so that it moves to
# the GPU with the model and is saved with it, and no optimizer sees it.


# %%
class PositionTable(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", in_tensors)


print(f"saved: {list(PositionTable().state_dict())}, trained: {list(PositionTable().parameters())}")

# %%
from course.models import sinusoidal_positions

p = sinusoidal_positions(100, 64)  # (100, D=64): row t is p_t

# %%
drawing, (left, right) = plt.subplots(1, 2, figsize=(8, 2.8), width_ratios=(1.3, 1))
left.imshow(p.T, cmap="cividis", aspect="auto")
left.set(xlabel="position t", ylabel="dimension of $p_t$")
for t, style in ((10, "-"), (50, "--"), (90, ":")):
    right.plot(range(100), p @ p[t], style, color="#0072B2", label=f"$m$ = {t}")
right.set(xlabel="position n", ylabel=r"$p_m \cdot p_n$", ylim=(11, 38))
right.legend(frameon=False, fontsize=9, ncols=3, loc="upper center")
drawing.tight_layout()
figures.still(
    drawing,
    alt="Left: sines and cosines as stripes, quick ones at the top, almost constant ones at the bottom. Right: the dot "
    "product of position m with all positions n has its peak of 32 at n = m and the same shape for m = 10, 50 and 90.",
    caption="Left: each column is the vector of one position, yellow for 1 and blue for −1. Right: the dot product of one "
    "position's vector with that of every position n. Each curve has its peak at n = m, and all have the same shape.",
)

# %% [markdown]
# The shape of the curves on the right is no accident. By $\sin a \sin b + \cos a \cos b = \cos(a - b)$,
#
# $$p_m \cdot p_n = \sum_i \cos\big((m - n)\,\omega_i\big),$$
#
# and moving $s$ positions on is one fixed rotation $M_s$ of every pair, the same from every start: $p_{t+s} = M_s\, p_t$. So a layer's matrix can learn to point to "the position before".

# %%
omega = 10_000 ** (-torch.arange(0, 64, 2, dtype=torch.float64) / 64)
m, n, s = 70, 23, 5
assert math.isclose(p[m] @ p[n], ((m - n) * omega).cos().sum(), rel_tol=1e-4)
rotation = torch.block_diag(
    *[torch.tensor([[math.cos(s * w), math.sin(s * w)], [-math.sin(s * w), math.cos(s * w)]]) for w in omega]
)
assert torch.allclose(p[:-s] @ rotation.T, p[s:], atol=1e-4)
print(f"one matrix takes the vectors of all positions from 0 to {99 - s} to those from {s} to 99")

# %% [markdown]
# ### Once, or in every layer
#
# If the position is added to the first layer's input, it has to survive all layers above. You can also add it in each layer, to queries, keys and values. *Understanding Deep Learning*, with words in columns and $\boldsymbol\Pi$ for the matrix of the $p_t$, writes
#
# $$\mathbf{Sa}[\mathbf X] = (\mathbf V + \boldsymbol\Pi) \cdot \text{Softmax}\big[(\mathbf K + \boldsymbol\Pi)^\top (\mathbf Q + \boldsymbol\Pi)\big].$$
#
# Here it is in rows, for one head. With identity matrices for $W_q$, $W_k$, $W_v$ it is the same as adding once, at the input; with other matrices it is not:


# %%
def with_positions(x: torch.Tensor, Pi: torch.Tensor, matrices: list[torch.Tensor]) -> torch.Tensor:
    """Words in rows (T, D): positions are added after the projections, as in the formula above."""
    Q, K, V = (x @ W.T + Pi for W in matrices)
    return (Q @ K.T).softmax(dim=-1) @ V


x, Pi = X[0], sinusoidal_positions(T, D)
identity = torch.eye(D)
at_the_input = with_positions(x + Pi, torch.zeros(T, D), [identity] * 3)
assert torch.allclose(with_positions(x, Pi, [identity] * 3), at_the_input, atol=1e-5)
once = with_positions(x + Pi, torch.zeros(T, D), [W_query, W_key, W_value])
each_time = with_positions(x, Pi, [W_query, W_key, W_value])
print(f"with other matrices the two differ by up to {(each_time - once).abs().max():.2f}")

# %% [markdown]
# What does a score depend on now? Multiply out: words with words, words with positions, positions with positions. ($p_i$ is a row of $\boldsymbol\Pi$.)
#
# $$(q_i + p_i) \cdot (k_j + p_j) = q_i \cdot k_j + q_i \cdot p_j + p_i \cdot k_j + p_i \cdot p_j$$

# %%
Q, K = x @ W_query.T, x @ W_key.T
four = torch.stack([Q @ K.T, Q @ Pi.T, Pi @ K.T, Pi @ Pi.T])  # (4, T, T)
assert torch.allclose(four.sum(0), (Q + Pi) @ (K + Pi).T, atol=1e-5)
four[3]  # positions with positions: constant along the diagonals

# %% [markdown]
# ## How far, not where
#
# In *the panda eats shoots and leaves* it matters little whether *eats* is the third word of a page or the thousandth; it matters that *panda* stands one before it. Absolute positions run 0 … 5; here are the positions relative to *eats*:

# %%
panda = ["the", "panda", "eats", "shoots", "and", "leaves"]
offset = torch.arange(6)[None, :] - torch.arange(6)[:, None]  # (queries, keys): j − i
print(dict(zip(panda, offset[panda.index("eats")].tolist(), strict=True)))
offset

# %% [markdown]
# **Relative positions** have one learned number $\pi_{j-i}$ for every offset, which is added to the score (one set per head). Far offsets share one number: they are clipped at a largest distance $r$ (in the manner of Shaw and others, 2018), or put into buckets that grow with the distance (Raffel and others, 2020, the model T5).
#
# $$\text{score}_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}} + \pi_{\text{clip}(j - i,\, -r,\, r)}$$

# %%
r = 2
pi = torch.tensor([0.5, 1.0, 0.0, -1.0, -0.5])  # for the offsets −2 … 2
bias = torch.zeros(6, 6)
for i in range(6):
    for j in range(6):
        bias[i, j] = pi[max(-r, min(r, j - i)) + r]
assert torch.equal(bias, pi[offset.clamp(-r, r) + r])
bias

# %%
from course.models import RelativeBias
from course.models.positions import t5_buckets

library = RelativeBias(n_heads=1, n_buckets=2 * r + 1, is_clipped=True)
library.bias.data = pi[:, None]
assert torch.equal(library(6, 6)[0], bias)
back = torch.tensor([0, 1, 7, 8, 9, 12, 20, 50, 100, 1000])
print(dict(zip(back.tolist(), t5_buckets(-back, n_buckets=32).tolist(), strict=True)))

# %% [markdown]
# T5 has one bucket for each of the nearest eight offsets, then coarser and coarser ones, and a single one for everything far away.
#
# ## Turn instead of add
#
# **Rotary positions** (RoPE; Su and others, 2021) take the clock literally. Nothing is added. Instead the query at position $m$ is *rotated*, pair by pair, by the angles $m\,\omega_i$, and the key at position $n$ by the angles $n\,\omega_i$:
#
# $$\begin{pmatrix} q'_{2i} \\ q'_{2i+1} \end{pmatrix} = \begin{pmatrix} \cos m\omega_i & -\sin m\omega_i \\ \sin m\omega_i & \cos m\omega_i \end{pmatrix} \begin{pmatrix} q_{2i} \\ q_{2i+1} \end{pmatrix}, \qquad \omega_i = 10000^{-2i/d_k}$$
#
# Write $R_m$ for this rotation of all pairs. ($M_s$ above turns the other way, $M_s = R_{-s}$, because there the sine comes first in each pair.) Rotating both vectors by the same angle does not change the angle between them, so
#
# $$(R_m q) \cdot (R_n k) = q^\top R_m^\top R_n\, k = q^\top R_{n-m}\, k :$$
#
# the score depends on the two words and on the distance between them, and on nothing else.


# %%
def turned(x: torch.Tensor, t: int) -> torch.Tensor:
    """One vector (d_k) at position t, every neighbouring pair turned by its angle."""
    result = x.clone()
    for i in range(len(x) // 2):
        angle = t * 10_000 ** (-2 * i / len(x))
        even, odd = x[2 * i], x[2 * i + 1]
        result[2 * i] = even * math.cos(angle) - odd * math.sin(angle)
        result[2 * i + 1] = even * math.sin(angle) + odd * math.cos(angle)
    return result


q, k = torch.randn(2, 4, generator=generator)
for m, n in ((3, 1), (7, 5), (1002, 1000), (3, 2)):
    print(f"m = {m:4}, n = {n:4}, m − n = {m - n}: q·k = {turned(q, m) @ turned(k, n):.4f}")

# %%
from course.models import rotate

together = rotate(q.expand(9, 4))  # the same query at the positions 0 … 8
assert torch.allclose(together, torch.stack([turned(q, t) for t in range(9)]), atol=1e-6)
assert torch.allclose(together.norm(dim=-1), q.norm().expand(9))  # lengths stay
together.shape

# %% [markdown]
# Values are not rotated: a word contributes the same value wherever it stands. A warning if you load other people's weights: some code bases pair dimension $i$ with $i + d_k/2$ instead of its neighbour. Both work, but not with each other's weights.
#
# Now try it yourself. In the upper part, shuffle the sentence and see whose vector changes, for each kind of position. In the lower part, move $m$ and $n$ together, so that $m - n$ stays the same.

# %%
names = ["the", "man", "ate", "the", "fish"]
vectors = {word: torch.randn(6, generator=generator) for word in dict.fromkeys(names)}
W_look = torch.randn(4, 6, generator=generator) / 2  # the same matrix for queries and keys
figures.position_dial(
    torch.stack([vectors[word] for word in names]),
    names,
    W_look,
    W_look,
    torch.eye(6),
    learned=torch.randn(16, 6, generator=generator),
    orders=[[3, 4, 2, 0, 1]],
    asks=(1, 4),
)

# %% [markdown]
# | | acts on | encodes | learned numbers | for longer texts |
# |---|---|---|---|---|
# | sinusoidal | input | position, and distance by a matrix | none | computable |
# | learned | input | position | $T_\text{max} D$ | no row |
# | per layer | $Q$, $K$, $V$ of each layer | position | as chosen | as chosen |
# | relative bias | scores | distance | one per bucket and head | last bucket |
# | RoPE | $Q$ and $K$, by rotation | distance | none | computable |
#
# ## The ladder
#
# We train the model of lecture 12 again, now with $W_o$ and biases, with one head and with four, and with each kind of position, on the same stories for the same 300 steps.

# %%
from course.models import LearnedPositions


class ManyLooks(nn.Module):
    """One multi-head look back with one kind of positions; the word itself is added to what it found."""

    def __init__(self, vocab_size: int, d_model: int, n_heads: int, kind: str, longest: int = 128) -> None:
        super().__init__()
        added = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = added[kind](longest, d_model) if kind in added else None
        bias = RelativeBias(n_heads) if kind == "relative" else None
        self.attention = MultiHeadAttention(
            d_model, n_heads, has_rotation=kind == "rotary", position_bias=bias
        )
        self.output = Linear(d_model, vocab_size)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)  # (B, T, D)
        if self.positions is not None:
            x = x + self.positions(tokens.shape[1])
        return self.output(x + self.attention(x, x, x, is_causal=True)).log_softmax(dim=-1)


# %%
from course.data.shuffling import ShuffledStories
from course.data.story_language import StoryLanguage
from course.evaluation import score

language = StoryLanguage()
stories = language.sample(2500, torch.Generator().manual_seed(1))
test_stories = language.sample(200, torch.Generator().manual_seed(2))


def trained(n_heads: int, kind: str) -> ManyLooks:
    """A fresh model after 300 steps (1200 at full scale)."""
    torch.manual_seed(0)
    model = ManyLooks(language.vocab_size, 64, n_heads, kind)
    config = TrainingConfig(n_steps=1200 if is_full else 300, learning_rate=1e-2)
    train(model, ShuffledStories(stories, 32), config, device=device)
    return model.cpu()


models = {"1 head, none": trained(1, "none")}
models |= {
    f"4 heads, {kind}": trained(4, kind) for kind in ("none", "learned", "sinusoidal", "relative", "rotary")
}

# %%
bits = {name: score(model, test_stories).bits_per_token for name, model in models.items()}
floor = score(language, test_stories).bits_per_token
for name, value in (bits | {"floor": floor}).items():
    print(f"{name:19} {value:.2f} bits per token")
assert bits["4 heads, none"] < bits["1 head, none"]
assert max(bits["4 heads, relative"], bits["4 heads, rotary"]) < bits["4 heads, none"]
if not is_full:  # with four times the steps, having none catches up
    assert max(bits["4 heads, learned"], bits["4 heads, sinusoidal"]) < bits["4 heads, none"]
assert bits["4 heads, rotary"] == min(bits.values())

# %%
drawing, axes = plt.subplots(figsize=(6, 2.4))
bars = axes.barh(list(bits)[::-1], list(bits.values())[::-1], color="#E69F00")
axes.bar_label(bars, [f"{value:.2f}" for value in list(bits.values())[::-1]], padding=3)
axes.axvline(floor, color="#D55E00", linestyle="--", label=f"floor {floor:.2f}")
axes.set(xlabel="bits per token", xlim=(0, 1.5 * max(bits.values())))
axes.legend(frameon=False, loc="lower right")
figures.still(
    drawing,
    alt="Today's models in bits per token: "
    + ", ".join(f"{name} {value:.2f}" for name, value in bits.items())
    + f"; floor {floor:.2f}.",
    caption="Positions compared, with one look back: heads help, and positions help again.",
)

# %% [markdown]
# The course's ladder has no new rung today: its self-attention already has four heads and rotary positions, like the last of
# these models. The diamond is that model; the rung is twice as wide and was trained for five times as many steps.

# %%
figures.rungs("self-attention", live={"self-attention": bits["4 heads, rotary"]})

# %% [markdown]
# Every kind of position beats having none. (One head without positions is lecture 12's model with one more matrix to learn in the same 300 steps, and is somewhat behind it.) RoPE comes first here, with one layer and 300 steps; other studies have found different orders on different texts. (At full scale, with 1,200 steps on the same stories, the two kinds that depend on distance still beat having no positions, but the sines no longer do. That was one seed.)
#
# ## What heads look at
#
# Take the best one apart. For each head, compute the mean fraction of its weight that goes to the word itself, to the word before, to the first token, and, for a verb like *printed*, to the things that belong to it:

# %%
from course.models import attention_maps

best = models["4 heads, rotary"]
read, is_word = test_stories.tokens[:, :-1], test_stories.mask[:, :-1]
with torch.no_grad(), attention_maps(best) as maps:
    best(read)
weights = maps["attention"]  # (B, H, T, T)
roles = language.roles
is_pair = (roles.action_of_verb[read][:, :, None] == roles.action_of_thing[read][:, None, :]) & (
    roles.action_of_verb[read][:, :, None] >= 0
)  # (B, T, T): a verb, and a thing that belongs to it
has_thing = (is_pair.tril().any(dim=-1)) & is_word

# %%
shares = {
    "itself": weights.diagonal(dim1=2, dim2=3).transpose(1, 2)[is_word].mean(0),
    "word before": weights.diagonal(-1, 2, 3).transpose(1, 2)[is_word[:, 1:]].mean(0),
    "first token": weights[..., 0].transpose(1, 2)[is_word].mean(0),
    "verb's thing": (weights * is_pair[:, None]).sum(-1).transpose(1, 2)[has_thing].mean(0),
}  # each (H)
for name, share in shares.items():
    print(f"{name:12}", "  ".join(f"head {h + 1} {value:.2f}" for h, value in enumerate(share)))

# %% [markdown]
# A map shows where a head looks, not why. To find out what it is *needed* for, ablate it: set its columns of $W_o$ to zero and see which words become harder to predict, in bits.

# %%
from copy import deepcopy

from course.evaluation import target_nll
from course.ladder.kinds import bits_by_kind

following = test_stories.tokens[:, 1:]


@torch.no_grad()
def without_head(head: int) -> torch.Tensor:
    """What every word costs, in nats, with one head ablated: (B, T)."""
    model = deepcopy(best)
    model.attention.W_output.weight[:, 16 * head : 16 * (head + 1)] = 0
    return target_nll(model(read), following)


with torch.no_grad():
    whole = target_nll(best(read), following)
needed = [bits_by_kind(without_head(head), whole, test_stories, language) for head in range(4)]
for kind in ("full stops", "verbs", "she, he", "things"):
    print(f"{kind:10}", "  ".join(f"head {h} {more[kind]:5.2f}" for h, more in enumerate(needed, start=1)))

# %% [markdown]
# Nothing told the heads to divide the work, but roughly they did: full stops depend most on one head, things on others, and some kinds of word depend on several. A negative number means that the prediction there is better without this head.

# %%
most_needed = {kind: max(range(4), key=lambda h: needed[h][kind]) + 1 for kind in ("full stops", "things")}
print("most needed for", most_needed)
assert most_needed["full stops"] != most_needed["things"]

# %% [markdown]
# Look for yourself: choose a head, then a word.

# %%
story = test_stories.tokens[2, :24]
figures.attention(
    weights[2, :, :24, :24],
    [language.vocabulary.words[token] for token in story],
    caption="Four heads of one trained layer with rotary positions.",
)

# %% [markdown]
# ## Heads of a real model
#
# SmolLM2 has thirty layers of nine heads, and rotary positions. What do its 270 heads look at? Meaningless text shows this best: 24 random tokens, and then the same 24 once more (eight such texts). At the second reading, how much of its weight does a head give to the token *before*? And how much does it give to the token that *followed* the first occurrence of the present token? (The means are recorded with the other weights of lecture 12.)
#
# **Predict, then run.** Does any head do the second? What would that be good for?

# %%
from course.pretrained import cut, look, predict
from course.pretrained.recorded import TWICE, shares_of_heads

found = shares_of_heads()  # each (layers, heads)
for name, share in found.items():
    best = share.flatten().topk(3)
    told = [
        f"layer {i // 9 + 1}, head {i % 9 + 1}: {w:.2f}"
        for w, i in zip(*map(torch.Tensor.tolist, best), strict=True)
    ]
    print(f"{name:11} above one half: {(share > 0.5).sum()} heads; {'; '.join(told)}")
first = {name: (share > 0.5).any(dim=1).nonzero().min().item() + 1 for name, share in found.items()}
print("the first layer with such a head:", first)
assert first["word before"] < first["copies"]

# %%
drawing, panels = plt.subplots(2, 1, figsize=(7, 3.6), sharex=True)
titles = "fraction of weight on the token before", "fraction of weight on the token that followed last time"
for panel, title, share in zip(panels, titles, found.values(), strict=True):
    image = panel.imshow(share.T, cmap="cividis", vmin=0, vmax=1, extent=(0.5, 30.5, 9.5, 0.5))
    panel.set(ylabel="head", yticks=(1, 5, 9))
    panel.set_title(title, loc="left", fontsize=10)
    drawing.colorbar(image, ax=panel)
panels[1].set(xlabel="layer")
drawing.tight_layout()
figures.still(
    drawing,
    alt="Two maps of all 270 heads by layer. Most are dark. Heads that look at the word before are spread over the layers, "
    f"from layer {first['word before']} on; heads that copy stand in layers {first['copies']} and later.",
    caption="Every head of SmolLM2, one cell each: the fraction of its weight that goes to the token before, and to the token that followed last time.",
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# Several heads copy.
#
# </details>
#
# A head that looks at what followed last time is called an **induction head** (Elhage and others, 2021; Olsson and others, 2022). It helps to predict everything that recurs in a text: names, formulas, quotations. It cannot work alone. It must look for a position whose *previous word* is the present word, so a head in an earlier layer has to record at each position which word stood before it. Indeed, the copying heads are in late layers, and the first head that looks one word back is in an early layer.
#
# Here is one head of each kind, reading names that no model has seen, *Ilka Brunnhild Osmotar*. The first of the two copies; look at the rows of the second mention:

# %%
pieces = cut(TWICE)
figures.attention(
    torch.stack([look(TWICE, 18, 6), look(TWICE, 16, 0)]),
    [piece.strip() for piece in pieces],
    start=(0, pieces.index(" Il") + 1),
    caption="Two heads of SmolLM2: the first looks at the piece that followed last time, the second at the piece before.",
)

# %%
copying, second = look(TWICE, 18, 6), pieces.index(" Il")
for t in range(second, len(pieces)):
    best = copying[t].argmax()
    print(f"{pieces[t]!r:8} looks at {pieces[best]!r:8} with {copying[t, best]:.2f}")
assert copying[second + 1 : -1].argmax(-1).tolist() == list(range(2, len(pieces) - second))

# %% [markdown]
# At the first mention there is nothing to copy, and this head attends to the first token. It does the same at the second *Il*, which is preceded by a space and is therefore a different token from the first. Does the model *use* what such heads find? Compare what it expects after *In the evening Ilka*, without the first sentence and with it:

# %%
alone, told = (
    predict(context, " Brunnhild")
    for context in (
        "In the evening Ilka",
        "Ilka Brunnhild Osmotar sold nine green kettles. In the evening Ilka",
    )
)
print(f"P(Brunnhild): alone {alone.probability:.1e}, after the first sentence {told.probability:.1e}")
assert told.probability > 1000 * alone.probability

# %% [markdown]
# After one mention the name is nearly a billion times as likely. (This shows that the model copies. Only ablation could show which of its heads do it.)
#
# ## Where it breaks: longer than in training
#
# Fresh models of the five kinds see only the first 30 words of each story in training, and are tested on whole stories. **Predict, then run.** Which of them still work after word 30?

# %%
from course.data.vocabulary import Batch

beginnings = Batch(stories.tokens[:, :31], stories.mask[:, :31])
n_positions = read.shape[1]
is_real = test_stories.mask[:, 1:]
early = is_real & (torch.arange(n_positions) < 30)
late = is_real & (torch.arange(n_positions) >= 30)
gaps = {}
for kind in ("none", "learned", "sinusoidal", "relative", "rotary"):
    torch.manual_seed(0)
    model = ManyLooks(language.vocab_size, 64, 4, kind)
    config = TrainingConfig(n_steps=800 if is_full else 200, learning_rate=1e-2)
    train(model, ShuffledStories(beginnings, 32), config, device=device)
    model.cpu()
    with torch.no_grad():
        cost = target_nll(model(read), following) / math.log(2)
    gaps[kind] = cost[early].mean().item(), cost[late].mean().item()

# %%
options = {kind: after for kind, (_, after) in gaps.items()}
figures.prediction("After word 30, which kind of positions costs least?", options, is_least=True, unit="bits")

# %%
for kind, (before, after) in gaps.items():
    print(f"{kind:10}: {before:.2f} bits up to word 30, {after:.2f} after it")

# %% [markdown]
# The words after the thirtieth are harder for all, because these models never saw how stories end; the model without positions shows by how much. Beyond that:
#
# - *learned*: the rows from 30 on were never trained. They are random, and worse than nothing.
# - *sinusoidal*: the vectors exist, but no layer has ever met them.
# - *relative* and *rotary*: a distance of three is a distance of three anywhere, and most of what matters is near. Only the far distances are new, and with rotation they cost some bits.

# %%
lost = {kind: late_cost - early_cost for kind, (early_cost, late_cost) in gaps.items()}
assert min(lost["learned"], lost["sinusoidal"]) > max(lost["relative"], lost["rotary"]) + 0.5

# %% [markdown]
# Three later ideas are meant for texts longer than those of training. **ALiBi** (Press and others, 2022) has no
# position vectors: each head subtracts a fixed multiple of the distance from every score. **NoPE** (Kazemnejad and
# others, 2023) is a decoder without any positions. Its mask already tells a word how many words stand before it, and on
# the authors' tasks it generalised to longer texts better than any other method. **Position interpolation** (Chen and
# others, 2023) squeezes a long text's rotary positions into the range that was trained, $t \to
# t\,T_{\text{trained}}/T$. The model then meets angles between known ones instead of new ones, and needs only a little
# more training (fewer than 1,000 steps, they report).

# %% [markdown]
# ## The same in the library
#
# Compare `multi_head` of this lecture, with its four matrices, with `course.models.MultiHeadAttention` and with PyTorch's; then with our rotation inside.

# %%
layer = MultiHeadAttention(D, H)
theirs = nn.MultiheadAttention(D, H, bias=False, batch_first=True)
with torch.no_grad():
    for linear, W in zip(layer.children(), (W_query, W_key, W_value, W_output), strict=True):
        linear.weight.copy_(W)
        linear.bias.zero_()
    theirs.in_proj_weight.copy_(torch.cat([W_query, W_key, W_value]))
    theirs.out_proj.weight.copy_(W_output)
assert torch.allclose(layer(X, X, X), multi_head(X), atol=1e-6)
assert torch.allclose(theirs(X, X, X)[0], multi_head(X), atol=1e-6)
assert torch.allclose(sinusoidal_positions(len(table), d_model), in_tensors, atol=1e-6)
layer.has_rotation = True
q, k, v = ((X @ W.T).view(B, T, H, d_k).transpose(1, 2).contiguous() for W in (W_query, W_key, W_value))
for t in range(T):
    for head in (*q.flatten(0, 1), *k.flatten(0, 1)):  # each (T, d_k)
        head[t] = turned(head[t], t)
found, _ = scaled_dot_product_attention(q, k, v)
assert torch.allclose(layer(X, X, X), found.transpose(1, 2).flatten(2) @ W_output.T, atol=1e-5)
print("we have just built course.models.MultiHeadAttention")

# %% [markdown]
# ## Recap
#
# - $H$ heads of width $D/H$ compare $H$ queries at once, for the parameters and products of one.
# - Without positions attention cannot tell who ate whom; half right is the best it can do.
# - Sines and learned vectors say *where* a word stands, and are added to what is read; a relative bias and a rotation say *how far apart* two words are.
# - Under RoPE the score of a query at $m$ and a key at $n$ depends on $m - n$ alone, because $R_m^\top R_n = R_{n-m}$.
# - Heads of a real model look one word back, or at what followed last time: then the model can copy a name that it reads for the first time.
# - Distances carry over to longer texts; positions that were never trained do not.
#
# **In the homework:** [hw5 · Transformer](../homeworks/hw5_transformer/hw5_transformer.ipynb), the exercises on heads and on positions.
#
# ## Exercises
#
# **1.** A model is 512 wide. How wide is a head if there are 8, and if there are 16? How many numbers does the matrix of all queries have each time?
#
# <details><summary>Answer</summary>
#
# 64 and 32; $512^2 = 262{,}144$ both times.
#
# </details>
#
# **2.** A query stands at position 3 and a key at position 1; then at 103 and 101. For which kinds of position is the score the same: learned vectors, relative bias, rotation?
#
# <details><summary>Answer</summary>
#
# For the relative bias and the rotation, which depend only on the distance. Learned vectors are different numbers at every position.
#
# </details>
#
# **3.** The fastest pair of the sines turns once in $2\pi$ positions. Why is that pair alone not enough to tell positions apart?
#
# <details><summary>Answer</summary>
#
# After six positions it stands almost where it began, and after 44 it is back to within 0.02 of a radian ($44 \approx 7 \cdot 2\pi$). The slower pairs tell these positions apart, like the hour hand of a clock.
#
# </details>
#
# **4.** *(long)* Build a head by hand that looks exactly one position back, from sinusoidal positions of width 64 alone. (Moving on by one position is a rotation: let $W_q$ be the one that goes back.)
#
# <details><summary>Answer</summary>
#
# The query of position $t$ is $M_{-1}\, p_t = p_{t-1}$, times a large number; the key of position $n$ is $p_n$. The score $p_{t-1} \cdot p_n$ is largest at $n = t - 1$. Heads that do this appear by themselves in trained models.
#
# ```python
# import torch
#
# T, D = 60, 64
# speeds = 10000 ** (-torch.arange(0, D, 2) / D)
# angles = torch.arange(T)[:, None] * speeds  # (T, D / 2)
# places = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)  # (T, D)
# back = torch.zeros(D, D)
# for i, speed in enumerate(speeds):
#     sin, cos = speed.sin(), speed.cos()
#     back[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.stack([torch.stack([cos, -sin]), torch.stack([sin, cos])])
# scores = 10 * (places @ back.T) @ places.T
# future = torch.ones(T, T, dtype=torch.bool).triu(1)
# weights = scores.masked_fill(future, -torch.inf).softmax(-1)
# assert torch.allclose((places @ back.T)[1:], places[:-1], atol=1e-4)
# assert weights.argmax(-1)[1:].equal(torch.arange(T - 1))
# ```
#
# </details>
#
# ## Further reading
#
# - Ashish Vaswani, Noam Shazeer, Niki Parmar, Jakob Uszkoreit, Llion Jones, Aidan N. Gomez, Łukasz Kaiser and Illia Polosukhin, ["Attention Is All You Need"](https://arxiv.org/abs/1706.03762), NeurIPS 2017, sections 3.2.2 and 3.5.
# - Peter Shaw, Jakob Uszkoreit and Ashish Vaswani, ["Self-Attention with Relative Position Representations"](https://aclanthology.org/N18-2074), NAACL 2018.
# - Colin Raffel, Noam Shazeer, Adam Roberts, Katherine Lee, Sharan Narang, Michael Matena, Yanqi Zhou, Wei Li and Peter J. Liu, ["Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer"](https://jmlr.org/papers/v21/20-074.html), *Journal of Machine Learning Research* 21 (2020), 1–67.
# - Jianlin Su, Yu Lu, Shengfeng Pan, Ahmed Murtadha, Bo Wen and Yunfeng Liu, ["RoFormer: Enhanced Transformer with Rotary Position Embedding"](https://arxiv.org/abs/2104.09864), arXiv:2104.09864, 2021.
# - Ofir Press, Noah A. Smith and Mike Lewis, ["Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation"](https://arxiv.org/abs/2108.12409), ICLR 2022.
# - Amirhossein Kazemnejad, Inkit Padhi, Karthikeyan Natesan Ramamurthy, Payel Das and Siva Reddy, ["The Impact of Positional Encoding on Length Generalization in Transformers"](https://arxiv.org/abs/2305.19466), NeurIPS 2023.
# - Shouyuan Chen, Sherman Wong, Liangjian Chen and Yuandong Tian, ["Extending Context Window of Large Language Models via Positional Interpolation"](https://arxiv.org/abs/2306.15595), arXiv:2306.15595, 2023.
# - Elena Voita, David Talbot, Fedor Moiseev, Rico Sennrich and Ivan Titov, ["Analyzing Multi-Head Self-Attention: Specialized Heads Do the Heavy Lifting, the Rest Can Be Pruned"](https://aclanthology.org/P19-1580), ACL 2019.
# - Nelson Elhage and others, ["A Mathematical Framework for Transformer Circuits"](https://transformer-circuits.pub/2021/framework/index.html), 2021.
# - Catherine Olsson and others, ["In-context Learning and Induction Heads"](https://arxiv.org/abs/2209.11895), arXiv:2209.11895, 2022.
# - Simon J. D. Prince, [*Understanding Deep Learning*](https://udlbook.github.io/udlbook/), MIT Press, 2023, chapter 12.
