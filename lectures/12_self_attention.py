# %% [markdown]
# # 12 · Self-attention
#
# **You will be able to**
#
# - turn a recurrent state, step by step, into queries, keys and values;
# - compute self-attention with a loop and with three matrix products, and say the shape of each;
# - explain the division by $\sqrt{d_k}$ and the place of the mask by what goes wrong without them;
# - measure what it costs in the length $T$ and in the width $D$, and where the loop over time went;
# - show that it does not depend on the order of its words.
#
# *40 minutes to read, about a minute to run. Before this: [11 · Attention](11_attention.ipynb).*
#
# **The question of the day:** can a text read itself without a state that is carried from word to word?

# %% setup

# %%
import math
import os

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from course import figures
from course.training import TrainingConfig, best_device, train

torch.set_num_threads(1)  # with matrices this small, one core is faster than several
is_full = os.environ.get("COURSE_SCALE") == "full"  # four times the steps, on a GPU if there is one
device = best_device() if is_full else torch.device("cpu")

# %% [markdown]
# ## From a state to a look back
#
# A recurrent network reads *students opened their* and must predict *books*. Its state is $h_3 = \tanh(U h_2 + W c_3)$, with $c_t$ the vector of word $t$ (no longer lecture 11's context). The state has to hold everything that might matter, and it cannot be computed before $h_2$, which waits for $h_1$: the **bottleneck** and the **loop**. Each of the three predictions costs a surprise, and training averages them:
#
# $$L = \tfrac13 (L_1 + L_2 + L_3) = -\tfrac13 \big(\log P(\textit{opened} \mid \textit{students}) + \log P(\textit{their} \mid \dots) + \log P(\textit{books} \mid \dots)\big).$$
#
# If the three words got the probabilities 0.2, 0.5 and 0.1:

# %%
probs = torch.tensor([0.2, 0.5, 0.1])  # of opened, their, books
L_1, L_2, L_3 = -probs.log()
loss = (L_1 + L_2 + L_3) / 3
assert torch.isclose(loss, -probs.prod().log() / 3)
loss

# %% [markdown]
# Lecture 11 removed the bottleneck between two texts: the decoder's state attended to all states of the encoder. Now let one text attend to itself. Make three changes, one at a time:
#
# 1. Replace $h_3$ by $\sum_j \alpha_{3j}\, h_j$, a weighted mean of the network's *own* states. Anything far back is now one step away. But the states still wait for each other.
# 2. Replace it by $\sum_j \alpha_{3j}\, c_j$: look at the *words* instead of the states. All words are there from the beginning; nothing waits.
# 3. $h_3 = \sum_j \alpha_{3j}\, v_j$ with $\alpha_{3\cdot} = \text{softmax}(q_3 \cdot k_1,\ q_3 \cdot k_2,\ q_3 \cdot k_3)$: give each word three roles. What it asks for (its **query**), what it can be found by (its **key**), and what it contributes (its **value**) are different things. In *I ate an apple because it was tasty* the word *it* should look for a noun, but is no noun itself.
#
# $$q_i = W_q c_i, \qquad k_i = W_k c_i, \qquad v_i = W_v c_i$$
#
# (Some notes write $q_i = f(W_q c_i)$, with a function $f$ that is applied to each number. The Transformer uses none.)
#
# | symbol | meaning | shape |
# |---|---|---|
# | $T$, $D$, $d_k$ | words; width of a word's vector (in many papers $d_\text{model}$); width of queries and keys | |
# | $c_i$, $X$ | the vector of word $i$; all of them, one per row | $(D)$, $(T, D)$ |
# | $W_q$, $W_k$, $W_v$ | weights of the three roles, the same for every word | $(d_k, D)$, $(d_k, D)$, $(D, D)$ |
# | $q_i$, $k_i$, $v_i$ | query, key and value of word $i$ | $(d_k)$, $(d_k)$, $(D)$ |
# | $Q$, $K$, $V$ | the same for all words, one per row ($V$ are the values here; the size of the vocabulary is written out) | $(T, d_k)$, $(T, d_k)$, $(T, D)$ |
# | $Q K^\top$ | scores $q_i \cdot k_j$: rows are queries, columns are keys | $(T, T)$ |
# | $A$ | weights $\alpha_{ij}$: each row a distribution over the keys | $(T, T)$ |
# | $h_i$, $H$ | the output at word $i$; all outputs, one per row | $(D)$, $(T, D)$ |

# %% [markdown]
# ## Students opened their
#
# Let the third word give the three words the weights 0.3, 0.5 and 0.2:
#
# $$h_3 = 0.3\, v_1 + 0.5\, v_2 + 0.2\, v_3$$
#
# Which query does that? The softmax gives the weights $\alpha_j$ if $q \cdot k_j = \ln \alpha_j + \text{constant}$. With keys in a plane these are three equations for three unknowns: two numbers of $q_3$, and the constant.

# %%
words = ["students", "opened", "their"]  # T = 3
key = torch.tensor([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0]])  # (T, d_k=2)
value = torch.tensor([[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 0.0, -1.0], [0.0, 0.0, 1.0, 3.0]])  # (T, D=4)
wanted = torch.tensor([0.3, 0.5, 0.2])
*q_3, constant = torch.linalg.solve(torch.cat([key, -torch.ones(3, 1)], dim=1), wanted.log())
q_3 = torch.stack(q_3)
h_3 = sum(weight * v for weight, v in zip((key @ q_3).softmax(0), value, strict=True))
assert torch.allclose(h_3, 0.3 * value[0] + 0.5 * value[1] + 0.2 * value[2])
q_3, (key @ q_3).softmax(0), h_3

# %% [markdown]
# Now the second word, whose task is to predict *their*. It gives 0.7 and 0.3: $h_2 = 0.7\, v_1 + 0.3\, v_2$. There is no $q_2 \cdot k_3$: the third word is the answer, and looking at it would be cheating. Two weights that sum to 1 are one condition on the query, $q_2 \cdot (k_1 - k_2) = \ln(0.7 / 0.3)$; we take the shortest query that meets it.
#
# **Predict, then run.** The first word can look only at itself. What does its query have to be, so that $h_1 = v_1$?

# %%
q_2 = torch.linalg.lstsq(key[:1] - key[1:2], torch.tensor([[0.7 / 0.3]]).log()).solution[:, 0]
h_2 = (key[:2] @ q_2).softmax(0) @ value[:2]
assert torch.allclose(h_2, 0.7 * value[0] + 0.3 * value[1])
for q_1 in (torch.zeros(2), torch.tensor([5.0, -3.0])):
    assert torch.equal((key[:1] @ q_1).softmax(0), torch.ones(1))
h_2

# %% [markdown]
# <details><summary>Answer</summary>
#
# Anything. The softmax of a single score is 1.
# </details>
#
# Three rows of weights, one below the other, form a **lower triangle**, and three weighted sums are **one matrix product**:
#
# $$\begin{pmatrix} 1 & 0 & 0 \\ 0.7 & 0.3 & 0 \\ 0.3 & 0.5 & 0.2 \end{pmatrix} \begin{pmatrix} v_1 \\ v_2 \\ v_3 \end{pmatrix} = \begin{pmatrix} h_1 \\ h_2 \\ h_3 \end{pmatrix}$$

# %%
triangle = torch.tensor([[1.0, 0.0, 0.0], [0.7, 0.3, 0.0], [0.3, 0.5, 0.2]])
assert torch.allclose(triangle @ value, torch.stack([value[0], h_2, h_3]))
another = torch.tensor([[1.0, 0.0, 0.0], [0.3, 0.7, 0.0], [0.1, 0.5, 0.4]])  # other weights, same form
another @ value

# %% [markdown]
# ## The smallest self-attention
#
# Now go from words to outputs, with three different sizes $T = 5$, $D = 6$, $d_k = 4$. The first version is a loop: each word makes a query, it and each earlier word get a score, the scores become weights, and the values are mixed.

# %%
B, T, D, d_k = 2, 5, 6, 4
generator = torch.Generator().manual_seed(0)
W_query = torch.randn(d_k, D, generator=generator)
W_key = torch.randn(d_k, D, generator=generator)
W_value = torch.randn(D, D, generator=generator)
X = torch.randn(B, T, D, generator=generator)
rows = []
for i in range(T):
    q = W_query @ X[0, i]
    scores = torch.stack([q @ (W_key @ X[0, j]) for j in range(i + 1)])  # only up to i
    weights = scores.softmax(0)
    rows.append(sum(weight * (W_value @ X[0, j]) for j, weight in enumerate(weights)))
by_loop = torch.stack(rows)  # (T, D)
by_loop.shape

# %% [markdown]
# The drawing shows the route of one word, the third of a text of three, which may look at all of them. The library's letters stand in it, $x$ for $c$ and $z$ for $h$, and its values are as wide as its keys.

# %%
figures.machine("queries_keys_values")

# %% [markdown]
# **A question:** which boxes must be computed for the third word's query, and which have already been computed?
#
# <details><summary>Answer</summary>
#
# New are its query, the three products, the scores, the weights and the output. All keys and values are there already: a word's key and value do not depend on who asks.
#
# </details>
#
# ## The same in tensors
#
# Compute all queries, keys and values, then all scores at once, the upper triangle included. A score that must not count is set to $-\infty$ *before* the softmax, so its weight is exactly 0 after it:
#
# $$Q = X W_q^\top, \quad K = X W_k^\top, \quad V = X W_v^\top, \qquad H = \text{softmax}(\text{mask}(Q K^\top))\, V$$


# %%
def self_attention(X: torch.Tensor) -> torch.Tensor:
    """What every word of texts (…, T, D) knows after looking back: (…, T, D)."""
    Q, K, V = X @ W_query.T, X @ W_key.T, X @ W_value.T
    scores = Q @ K.transpose(-2, -1)  # (…, T, T)
    is_past = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()  # True = may be looked at
    weights = scores.masked_fill(~is_past, -math.inf).softmax(dim=-1)
    return weights @ V


assert torch.allclose(self_attention(X)[0], by_loop, atol=1e-5)
self_attention(X).shape

# %% [markdown]
# ### Rows here, columns there
#
# We put words in rows. Other texts, *Understanding Deep Learning* among them, put words in columns: $\mathbf X$ is $D \times N$, the values are $\mathbf V[\mathbf X] = \boldsymbol\beta_v \mathbf 1^\top + \boldsymbol\Omega_v \mathbf X$, likewise $\mathbf Q$ and $\mathbf K$, and
#
# $$\mathbf{Sa}[\mathbf X] = \mathbf V \cdot \text{Softmax}[\mathbf K^\top \mathbf Q],$$
#
# where the softmax runs down the columns, because there a column belongs to a query. It is our formula, transposed. (The $\boldsymbol\beta$ are biases; $\boldsymbol\Omega$ is $W$.)

# %%
x = X[0]  # (T, D)
in_rows = (x @ W_query.T @ (x @ W_key.T).T).softmax(dim=1) @ (x @ W_value.T)
columns = x.T  # (D, N)
in_columns = W_value @ columns @ ((W_key @ columns).T @ (W_query @ columns)).softmax(dim=0)
assert torch.allclose(in_rows.T, in_columns, atol=1e-5)
in_rows.shape, in_columns.shape

# %% [markdown]
# ## Attention as routing that depends on the data
#
# With the weights $A$ fixed, everything is linear: each output is a mixture of the values, $h_i = \sum_j \alpha_{ij} v_j$. You can write this as one large matrix that acts on all words end to end, with a block $\alpha_{ij} W_v$ for the route from word $j$ to word $i$:

# %%
A = (x @ W_query.T @ (x @ W_key.T).T).softmax(dim=1)  # (T, T)
routes = torch.kron(A, W_value)  # (T·D, T·D): block (i, j) is α_ij W_v
assert torch.allclose(routes @ x.flatten(), in_rows.flatten(), atol=1e-4)
routes.shape

# %% [markdown]
# A fully connected layer over the whole text would learn every number of such a matrix. Attention learns three small ones, and *computes* the routes from the words themselves: one branch sets the weights of the other (a **hypernetwork**). Take a review of 37 words, at $D = 1024$, in which the *their* of the last sentence has to find the *restaurant* of the first:
#
# > The restaurant refused to serve me a ham sandwich, because it only cooks vegetarian food. In the end, they just gave me two slices of bread. Their ambience was just as good as the food and service. (quoted: Prince, 2023, section 12.1)
#
# **Predict, then run.** How many times more parameters does the fully connected layer have? And if the text is twice as long?

# %%
width = 1024
figures.prediction(
    "For 37 words, how many times as many parameters does the fully connected layer have?",
    (37 * width) ** 2 / (3 * width**2),
    between=(1, 1e6),
    is_logarithmic=True,
    unit="times",
)

# %%
for n_words in (37, 74):
    connected, attention = (n_words * width) ** 2, 3 * width**2
    print(
        f"{n_words} words: fully connected {connected:,}, attention {attention:,}: {connected / attention:.0f} ×"
    )

# %% [markdown]
# The number of parameters does not depend on $T$ at all: the same three matrices are applied to every word, and the same comparison to every pair of words. So any length fits:

# %%
for n_words in (1, 5, 500):
    assert self_attention(torch.randn(n_words, D, generator=generator)).shape == (n_words, D)
print(f"{W_query.numel() + W_key.numel() + W_value.numel()} parameters for 1, 5 or 500 words")

# %% [markdown]
# ## Why the dot product
#
# $q \cdot k = |q|\, |k| \cos\theta$, with $\theta$ the angle between the two, measures similarity, but not direction alone: a long key scores high with every query on its side. **Cosine similarity** divides the lengths out.

# %%
q = torch.tensor([1.0, 0.5])
keys = torch.tensor([[1.0, 0.5], [4.0, -1.0], [-1.0, 2.0]])  # same direction; long; at a right angle
products = keys @ q
cosines = F.cosine_similarity(keys, q[None])
assert torch.allclose(products, keys.norm(dim=1) * q.norm() * cosines, atol=1e-6)
products, cosines

# %% [markdown]
# The first key points exactly where $q$ points. The second points elsewhere, but it is longer, and the dot product prefers it. Is that a fault? A cosine is never above 1 or below −1, so with cosines alone no weight can be more than $e^2 \approx 7.4$ times another: nothing could be ignored. With dot products a word can learn a long key, which gets large weights from many queries, and a long query, which makes its own weights sharp. Models that do use cosines multiply them by a learned number.

# %% [markdown]
# ## Why $\sqrt{d_k}$
#
# Let the numbers in $q$ and $k$ be independent with mean 0 and variance 1. A product $q_d k_d$ then has mean 0 and variance 1 as well, and $q \cdot k$ is a sum of $d_k$ of them: variances add up, so its variance is $d_k$ and its standard deviation $\sqrt{d_k}$.
#
# **Predict, then run.** Five keys, $d_k = 256$, random vectors. How large is the largest of the five weights, on average? (Equal weights would be 0.2.)

# %%
measured = {}
for width in (4, 16, 64, 256, 1024):
    q = torch.randn(2000, 1, width, generator=generator)
    k = torch.randn(2000, 5, width, generator=generator)
    scores = (q * k).sum(-1)  # (2000, 5)
    largest = [(scores / scale).softmax(-1).amax(-1).mean().item() for scale in (1, math.sqrt(width))]
    measured[width] = (scores.var().item(), *largest)

# %%
figures.prediction(
    "How large is the largest of five weights for keys of width 256, on average?",
    measured[256][1],
    between=(0.2, 1),
)

# %%
for width, (variance, without, with_root) in measured.items():
    print(
        f"d_k = {width:4}: variance {variance:7.1f}, largest weight {without:.2f}, with √d_k {with_root:.2f}"
    )

# %% [markdown]
# Without the division a wide head chooses one word before it has learned anything. And a softmax that has chosen passes almost no gradient: its Jacobian is $\text{diag}(\alpha) - \alpha \alpha^\top$ (lecture 06), which is zero where one weight is 1. So divide by what the deviation will be:
#
# $$\text{Attention}(Q, K, V) = \text{softmax}\Big(\frac{Q K^\top}{\sqrt{d_k}}\Big) V$$


# %%
def gradient_size(width: int, scale: float) -> float:
    """Mean size of the softmax's Jacobian for five random keys of this width."""
    q, k = (torch.randn(2000, n, width, generator=generator) for n in (1, 5))
    weights = ((q * k).sum(-1) / scale).softmax(-1)
    jacobians = torch.diag_embed(weights) - weights[:, :, None] * weights[:, None, :]
    return jacobians.flatten(1).norm(dim=1).mean().item()


widths = (4, 16, 64, 256, 1024)
passed = {
    "without √d_k": [gradient_size(width, 1) for width in widths],
    "with √d_k": [gradient_size(width, math.sqrt(width)) for width in widths],
}
assert passed["without √d_k"][-1] < passed["with √d_k"][-1] / 3

for name, sizes in passed.items():
    print(f"size of the Jacobian {name:12}", "  ".join(f"{size:.2f}" for size in sizes))

# %% [markdown]
# The division sets the scale at the start of training. Later the norms of queries and keys are whatever training makes of them.
#
# ## Masks
#
# A **mask** says which keys a query may look at; in this course True always means "may". The **causal mask** is the triangle: no query sees a later key. A **padding mask** hides the tokens that only fill up short texts in a batch. The two combine by *and*.

# %%
real = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])  # (B, T): the second text has three words
is_past = torch.ones(T, T, dtype=torch.bool).tril()
mask = is_past & real[:, None, :]  # (B, T, T)
mask[1].int()

# %% [markdown]
# Why $-\infty$ before the softmax, and not 0 after it? **Predict, then run.** Change the *last* word: which words' weights change, if the mask comes after the softmax?

# %%
text = x / 2
changed = text.clone()
changed[-1] += 1.0
before, after = ((x @ W_query.T @ (x @ W_key.T).T).softmax(dim=1).tril() for x in (text, changed))
moved = (after - before).abs().amax(dim=1) > 1e-6
print(f"rows that moved: {moved.int().tolist()}, and the rows sum to {before.sum(1).numpy().round(2)}")
assert moved.all()
assert torch.equal(self_attention(changed)[:-1], self_attention(text)[:-1])  # −∞ before: only the last

# %% [markdown]
# <details><summary>Answer</summary>
#
# All of them. The weights on the future are 0, but the future still counts in the sum that everything is divided by. So rows no longer sum to one, and the shortfall reveals to each word what comes next. A model trained this way can exploit it.
#
# </details>
#
# Put it under the microscope. Drag the queries and the keys; then switch on one mistake at a time. Two of the four mistakes leave the sum of every row at 1. How would you notice those?

# %%
query = torch.stack([torch.tensor([0.5, -0.5]), q_2, q_3, torch.tensor([0.8, 0.4])]) * math.sqrt(2)
figures.microscope(
    query,
    torch.cat([key, torch.tensor([[1.0, -1.5]])]),
    torch.cat([value, torch.tensor([[0.5, 0.5, 0.5, 0.5]])]),
    ["students", "opened", "their", "books"],
    caption="The example of this lecture, with the rows 0.7, 0.3 and 0.3, 0.5, 0.2. Choose a query, follow its scores to its output.",
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# You notice the missing mask here by the red frames, and in training by a loss that is too good to be true. The missing $\sqrt{d_k}$ hardly shows with two dimensions. With 64, each row puts nearly all its weight on one word from the first step, and the model learns slowly.
# </details>
#
# ## Time is no longer a loop
#
# None of $h_1$, $h_2$ and $h_3$ depends on another. You can compute the last one first, or each on its own machine:

# %%
backwards = [self_attention(x[: t + 1])[-1] for t in reversed(range(T))]
assert torch.allclose(torch.stack(backwards[::-1]), by_loop, atol=1e-5)
print("computed from the last to the first, one by one: the same")

# %% [markdown]
# How long does the whole computation take, with any number of machines? As long as the longest chain of operations in which each needs the result of the one before. Autograd records which operation depends on which, so we can measure that chain:


# %%
def longest_chain(output: torch.Tensor) -> int:
    """Most operations on a path from the output back to an input."""
    depth, waiting = {None: 0}, [output.grad_fn]
    while waiting:
        before = [node for node, _ in waiting[-1].next_functions]
        unknown = [node for node in before if node not in depth]
        if unknown:
            waiting.extend(unknown)
        else:
            node = waiting.pop()
            depth[node] = 1 + max((depth[each] for each in before), default=0)
    return depth[output.grad_fn]


# %%
def recurrent(X: torch.Tensor) -> torch.Tensor:
    """The states (T, D) of h_t = tanh(U h_{t−1} + x_t); any square matrix can play U."""
    h, states = torch.zeros(D), []
    for x_t in X:
        h = torch.tanh(W_value @ h + x_t)
        states.append(h)
    return torch.stack(states)


chains = {}
for n_words in (10, 20, 40, 80):
    text = torch.randn(n_words, D, generator=generator, requires_grad=True)
    chains[n_words] = longest_chain(recurrent(text)), longest_chain(self_attention(text))
    print(f"T = {n_words}: RNN {chains[n_words][0]} operations in a row, attention {chains[n_words][1]}")
assert len({attention for _, attention in chains.values()}) == 1
assert chains[80][0] - chains[40][0] == 2 * (chains[40][0] - chains[20][0])

# %% [markdown]
# The loop over time is gone. In its place there is more work, but all of it can be done at once.
#
# ## Quadratic in T, linear in D
#
# The scores are $T^2$ dot products of width $D$, of $2D$ operations each ($D$ multiplications and $D$ additions). Mixing the values costs the same again, which makes $4T^2D$. The three projections add $2TD^2$ each, as in any layer (here $d_k = D$). Let PyTorch count what is really multiplied:

# %%
from torch.utils.flop_counter import FlopCounterMode


def operations(n_words: int, width: int) -> tuple[int, int]:
    """Counted floating-point operations: in projections, and between words."""
    matrices = torch.randn(3, width, width)
    with FlopCounterMode(display=False) as projecting:
        Q, K, V = torch.randn(n_words, width) @ matrices
    with FlopCounterMode(display=False) as attending:
        (Q @ K.T).softmax(dim=-1) @ V
    return projecting.get_total_flops(), attending.get_total_flops()


for n_words, width in ((128, 64), (256, 64), (128, 128)):
    projecting, attending = operations(n_words, width)
    assert (projecting, attending) == (6 * n_words * width**2, 4 * n_words**2 * width)
    print(f"T = {n_words}, D = {width:3}: projections {projecting:,}, between words {attending:,}")

# %% [markdown]
# Twice as many words make four times the work between words; twice the width makes twice that work. Attention and projections cost the same where $4T^2D = 6TD^2$, at $T = 1.5\,D$.
#
# How does attention compare in time with PyTorch's own recurrent network? One core, one text at a time: a core gains nothing from a short chain, so this is attention's hardest case. The milliseconds are the record of `python -m course.clocks` (with `--device cuda` it measures a GPU). Where both axes are logarithmic, a power of $T$ is a straight line, and its slope is the power. **Predict, then run:** the width is 64. From how many words on is attention slower than the RNN? (It was measured at 32, 64, 128 words and so on.)

# %%
from course.clocks import read_recorded, slope

clock = read_recorded()
slopes = {kind: slope(clock[kind], 512, 2048) for kind in ("rnn", "attention")}
slower = [n for n in clock["rnn"] if clock["attention"][n] > clock["rnn"][n]]
figures.prediction(
    "From how many words on is attention slower on one core?",
    min(slower),
    between=(16, 4096),
    is_logarithmic=True,
    unit="words",
)

# %%
short = slope(clock["attention"], 32, 64)
print(
    f"from 512 to 2048 words: slope {slopes['rnn']:.2f} for the RNN, {slopes['attention']:.2f} for attention"
)
print(f"from 32 to 64 words attention has slope {short:.2f}; it is slower from {min(slower)} words on")
assert abs(slopes["rnn"] - 1) < 0.2
assert abs(slopes["attention"] - 2) < 0.2
assert short < 1.2
assert clock["attention"][32] < clock["rnn"][32]

# %%
drawing, axes = plt.subplots(figsize=(5.6, 3.2))
for kind, style, colour in (("rnn", "s--", "#0072B2"), ("attention", "o-", "#D55E00")):
    axes.loglog(list(clock[kind]), list(clock[kind].values()), style, color=colour, label=kind)
axes.set(xlabel="words, T", ylabel="milliseconds of one core")
axes.set_xticks(list(clock["rnn"]), list(map(str, clock["rnn"])))
axes.minorticks_off()
axes.legend(frameon=False)
figures.still(
    drawing,
    alt="Milliseconds of one core by words: "
    + "; ".join(
        f"{kind} " + ", ".join(f"{n} words {value:.2f}" for n, value in clock[kind].items())
        for kind in ("rnn", "attention")
    )
    + ".",
    caption="One text, width 64, recorded. For long texts the RNN's line has slope 1, that of attention slope 2.",
)

# %% [markdown]
# The RNN takes $T$ rounds, each too small to keep even one core busy. Attention takes one round of $4T^2D$ operations, and for short texts its projections cost more than that. For short texts the loop is slower; for long texts, on a single core, the quadratic cost catches up. Where thousands of units compute at once, as on a GPU, the crossing moves far to the right: attention's work can be spread, and the RNN's rounds cannot.
#
# Memory grows as well. Written out, the weights of one text need $T^2$ numbers per layer; for 100,000 words these are $4 \cdot 10^{10}$ bytes in float32. Kernels that never write the matrix down (Dao and others, 2022) save the memory, but the time still grows with $T^2$.
#
# ## Where it breaks: no order
#
# *The man ate the fish.* *The fish ate the man.* Nothing in the formula mentions a position. Without a mask, permuting the words permutes the outputs and does nothing else; such a function is called **equivariant**:
#
# $$f(PX) = P\, f(X) \quad \text{for every permutation } P.$$
#
# Why: permuted words have permuted queries, keys and values; the score of a pair of words stays the same wherever the two stand; and a sum does not care about the order of its terms.


# %%
def without_mask(X: torch.Tensor) -> torch.Tensor:
    """Self-attention in which every word sees every word, divided by √d_k."""
    Q, K, V = X @ W_query.T, X @ W_key.T, X @ W_value.T
    return (Q @ K.transpose(-2, -1) / math.sqrt(d_k)).softmax(dim=-1) @ V


vector = {word: torch.randn(D, generator=generator) for word in ("the", "man", "ate", "fish")}
sentences = [text.split() for text in ("the man ate the fish", "the fish ate the man")]
first, second = (without_mask(torch.stack([vector[word] for word in words])) for words in sentences)
for word in ("man", "ate", "fish"):
    places = [words.index(word) for words in sentences]
    assert torch.allclose(first[places[0]], second[places[1]], atol=1e-6)
    print(f"{word}: at place {places[0]} and at place {places[1]}, the same vector")
for _ in range(100):
    P = torch.eye(T)[torch.randperm(T, generator=generator)]
    assert torch.allclose(without_mask(P @ x), P @ without_mask(x), atol=1e-5)
print("f(PX) = P f(X) for 100 random permutations")

# %% [markdown]
# To this function a sentence is a bag of words: nothing tells who ate whom. The causal mask lets a little order in, because each word sees a different set of words. **Predict, then run:** with the causal mask, what does the *last* word notice when the words before it change places?

# %%
shuffled = x[[3, 1, 0, 2, 4]]
same = [
    torch.allclose(a, b, atol=1e-5) for a, b in zip(self_attention(x), self_attention(shuffled), strict=True)
]
assert same[-1]
assert not all(same)
same

# %% [markdown]
# <details><summary>Answer</summary>
#
# Nothing. It sees the same bag, in whatever order.
#
# </details>
#
# The next lecture gives words their positions.
#
# ## The ladder
#
# Our language model has one embedding, one self-attention and one output layer. The word's own vector is added to the output of the attention, so a word need not attend to itself. The model knows *which* words have come, and which came last, but not their order.

# %%
from course.models import Linear, causal_mask, scaled_dot_product_attention


class OneLook(nn.Module):
    """Each word looks once at the words before it; then the next is predicted."""

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.W_query, self.W_key, self.W_value = (Linear(d_model, d_model) for _ in range(3))
        self.output = Linear(d_model, vocab_size)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)  # (B, T, D)
        mask = causal_mask(tokens.shape[1], device=tokens.device)
        found, _ = scaled_dot_product_attention(self.W_query(x), self.W_key(x), self.W_value(x), mask)
        return self.output(x + found).log_softmax(dim=-1)  # (B, T, vocab_size)


# %% trained
from course.data.shuffling import ShuffledStories
from course.data.story_language import StoryLanguage
from course.evaluation import score, target_nll
from course.ladder.kinds import bits_by_kind
from course.models import RecurrentConfig, RecurrentLanguageModel

language = StoryLanguage()
stories = language.sample(2500, torch.Generator().manual_seed(1))
test_stories = language.sample(200, torch.Generator().manual_seed(2))
torch.manual_seed(0)
one_look = OneLook(language.vocab_size, d_model=64)
gru = RecurrentLanguageModel(RecurrentConfig(language.vocab_size, "gru", d_embedding=48, d_hidden=96))
config = TrainingConfig(n_steps=1200 if is_full else 300, learning_rate=1e-2)
for model in (gru, one_look):
    train(model, ShuffledStories(stories, 32), config, device=device)
    model.cpu()

# %%
bits = score(one_look, test_stories).bits_per_token
print(f"self-attention {bits:.2f} bits per token")
figures.rungs("self-attention", new=("self-attention",), live={"self-attention": bits})

# %% [markdown]
# The diamond stands far to the right of its bar, because the bar belongs to a different model: it has four heads and rotary positions (lecture 13), is twice as wide, and was trained for five times as many steps on eight times as many stories. Training is not what this page's model lacks most. Lecture 13 gives it heads and positions, and without any further steps it covers more than half of the distance. The lower half of the picture shows what attention gains: at *things* every earlier rung lost more than a bit, and this one loses almost nothing.
#
# This model has one attention, no state and no order. Where is it good, and where is it not? Here are the bits above the floor by the kind of word that came next, beside a GRU that was trained for as many steps:

# %%
read, following = test_stories.tokens[:, :-1], test_stories.tokens[:, 1:]
above = {}
with torch.no_grad():
    truth = target_nll(language(read), following)
    for name, model in (("GRU", gru), ("self-attention", one_look)):
        paid = target_nll(model(read), following)
        above[name] = bits_by_kind(paid, truth, test_stories, language)
for kind in ("full stops", "verbs", "she, he", "things"):
    print(f"{kind:10}", "   ".join(f"{name} {above[name][kind]:5.2f}" for name in above))
assert above["self-attention"]["things"] < above["GRU"]["things"] / 2
assert above["self-attention"]["verbs"] > above["GRU"]["verbs"] + 0.5

# %% [markdown]
# The GRU's state could not hold all the things at once, but a single attention finds them: the verb makes the query, and it matches the thing's key wherever the thing stands. Agreement and full stops depend on word order, and there the recurrent network is far ahead. Here is where the trained model looks, in a story that it has not seen. Find a verb whose thing came up before, and read its row:

# %%
story = test_stories.tokens[2, :19]
with torch.no_grad():
    x = one_look.embedding(story)
    _, looks = scaled_dot_product_attention(one_look.W_query(x), one_look.W_key(x), x, causal_mask(19))
read_words = [language.vocabulary.words[token] for token in story]
for verb, thing in (("rode", "mules"), ("played", "drums")):
    weight = looks[read_words.index(verb), : read_words.index(verb) + 1]
    print(f"{verb} gives {weight[read_words.index(thing)]:.0%} of its weight to {thing}")
    assert weight.argmax() == read_words.index(thing)
figures.attention(looks, read_words, caption="The one head of the trained model, and where each word looks.")

# %% [markdown]
# ## Two heads of a real model
#
# SmolLM2, met in lectures 01, 03 and 04, has 270 attentions like today's, nine side by side in each of thirty layers. (Lecture 13 calls them **heads**.) Here are two of them on *I ate an apple because it was tasty*, and one on the review with its *their*. The weights are recorded; where the package is installed, `look` takes any text, layer and head.
#
# **Predict, then run.** Which word do you look back to when you read *it*? Which word must a model find at *Their*?

# %%
from course.pretrained import cut
from course.pretrained import look as weights_of
from course.pretrained.recorded import APPLE, HEADS, REVIEW

found = {}
for text, word, (layer, head) in (
    (APPLE, " it", (25, 2)),
    (APPLE, " it", (16, 0)),
    (REVIEW, " Their", (13, 8)),
):
    pieces = cut(text)
    best = weights_of(text, layer, head)[pieces.index(word)].topk(3)
    found[layer, head] = [pieces[i] for i in best.indices]
    told = ", ".join(f"{pieces[i]!r} {w:.2f}" for w, i in zip(*map(torch.Tensor.tolist, best), strict=True))
    print(f"layer {layer + 1}, head {head + 1}, at {word!r}: {told}")
assert found[25, 2][0] == " apple"
assert found[16, 0][0] == " because"
assert " restaurant" in found[13, 8][:2]

# %% [markdown]
# In one head, *it* attends to *apple*. Another looks one word back. And *Their* finds *The restaurant* 28 tokens back. We searched all 270 heads for these; most are not so easily read. Here are the first two, in full:

# %%
figures.attention(
    torch.stack([weights_of(APPLE, 25, 2), weights_of(APPLE, 16, 0)]),
    [piece.strip() for piece in cut(APPLE)],
    caption="Two heads of SmolLM2. The first links the pronoun to its noun; the second looks at the word before.",
)

# %% [markdown]
# Even these give much of their weight to the first token. Weights must sum to one, so a head with nothing to add has to put them somewhere. Of the six heads that are recorded on these two texts:

# %%
to_first = [weights_of(text, *head)[1:, 0].mean().item() for text in (REVIEW, APPLE) for head in HEADS[text]]
print("weight on the first token, mean over the later ones:", *(f"{share:.2f}" for share in to_first))
assert sum(share > 0.25 for share in to_first) == 4

# %% [markdown]
# And a head that looks at the right word need not be the reason for what the model answers (lecture 13 ablates heads to find out).
#
# ## The same in the library
#
# Compare today's function, with its $\sqrt{d_k}$, with `course.models` and with PyTorch, on random weights:

# %%
Q, K, V = (torch.randn(B, T, width, generator=generator) for width in (d_k, d_k, D))
ours = (Q @ K.transpose(-2, -1) / math.sqrt(d_k)).masked_fill(~is_past, -math.inf).softmax(-1) @ V
library, weights = scaled_dot_product_attention(Q, K, V, causal_mask(T))
assert torch.allclose(ours, library, atol=1e-6)
assert torch.allclose(ours, F.scaled_dot_product_attention(Q, K, V, is_causal=True), atol=1e-6)
assert torch.equal(weights.triu(diagonal=1), torch.zeros(B, T, T))
print("we have just built course.models.scaled_dot_product_attention")

# %% [markdown]
# ## Recap
#
# - Each word asks (query), is found (key) and gives (value): $H = \text{softmax}(\text{mask}(Q K^\top / \sqrt{d_k}))\, V$.
# - $\sqrt{d_k}$ keeps the scores at variance 1, so that the softmax still passes a gradient; the mask puts $-\infty$ before the softmax.
# - No word waits for another: a chain of constant length instead of one that grows with $T$; in exchange $4T^2D$ operations.
# - The number of parameters does not depend on the length of the text.
# - Self-attention is equivariant: without positions a text is a bag of words.
#
# **In the homework:** [hw5 · Transformer](../homeworks/hw5_transformer/hw5_transformer.ipynb), the exercises on attention weights, scaling and masks.
#
# ## Exercises
#
# **1.** In *we are eating bread* each word attends to itself and to the words before it, and all scores happen to be equal. Which four weights does *bread* give? Which does *are* give?
#
# <details><summary>Answer</summary>
#
# A quarter to each of the four; a half to *we* and a half to *are*. Equal scores give the mean of the values.
#
# </details>
#
# **2.** A query has the scores 3 and 1 with two words, and a third word is masked. What are the weights?
#
# <details><summary>Answer</summary>
#
# $e^2 / (e^2 + 1) = 0.881$, then 0.119, and exactly 0.
#
# </details>
#
# **3.** How many operations lie between the words of a text with $T = 1000$ and width 64? With $T = 2000$? Written as one matrix that acts on all words end to end, the weighted sums of the values are $A \otimes I$, with $(TD)^2$ entries. What fraction of them can be different from zero?
#
# <details><summary>Answer</summary>
#
# $4 T^2 D = 2.56 \cdot 10^8$, and four times as many. Each of the $T^2$ blocks is $\alpha_{ij} I$ with $D$ entries on its diagonal: $T^2 D$ of $T^2 D^2$, so one in 64. Such a matrix is called *sparse*, and is never written out.
#
# </details>
#
# **4.** *(long)* Compute one row of attention without ever holding all of its scores: read keys and values in blocks of three, and carry along only the largest score so far, the sum of exponentials and the weighted sum of values. (That is how kernels avoid the $T^2$ numbers.)
#
# <details><summary>Answer</summary>
#
# When a new block brings a larger maximum $m'$, everything gathered so far is multiplied by $e^{m - m'}$; then the block is added. At the end, divide. Nothing is approximated.
#
# ```python
# import math
# import torch
#
# generator = torch.Generator().manual_seed(0)
# T, width = 20, 8
# q, keys, values = (torch.randn(shape, generator=generator) for shape in ((width,), (T, width), (T, width)))
# largest, total, mixed = torch.tensor(-math.inf), torch.tensor(0.0), torch.zeros(width)
# for start in range(0, T, 3):
#     scores = keys[start : start + 3] @ q / math.sqrt(width)
#     now = torch.maximum(largest, scores.max())
#     weights = (scores - now).exp()
#     shrink = (largest - now).exp()
#     total, mixed = shrink * total + weights.sum(), shrink * mixed + weights @ values[start : start + 3]
#     largest = now
# whole = (keys @ q / math.sqrt(width)).softmax(0) @ values
# assert torch.allclose(mixed / total, whole, atol=1e-6)
# ```
#
# </details>
#
# ## Further reading
#
# - Ashish Vaswani, Noam Shazeer, Niki Parmar, Jakob Uszkoreit, Llion Jones, Aidan N. Gomez, Łukasz Kaiser and Illia Polosukhin, ["Attention Is All You Need"](https://arxiv.org/abs/1706.03762), NeurIPS 2017. Cited more than a hundred thousand times within its first seven years; since then, countless titles have said that something is all you need.
# - Jianpeng Cheng, Li Dong and Mirella Lapata, ["Long Short-Term Memory-Networks for Machine Reading"](https://aclanthology.org/D16-1053), EMNLP 2016: a recurrent network that looks back at itself, the first step of today.
# - Ankur Parikh, Oscar Täckström, Dipanjan Das and Jakob Uszkoreit, ["A Decomposable Attention Model for Natural Language Inference"](https://aclanthology.org/D16-1244), EMNLP 2016: looking at words, without recurrence.
# - Tri Dao, Daniel Y. Fu, Stefano Ermon, Atri Rudra and Christopher Ré, ["FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness"](https://arxiv.org/abs/2205.14135), NeurIPS 2022.
# - Simon J. D. Prince, [*Understanding Deep Learning*](https://udlbook.github.io/udlbook/), MIT Press, 2023, chapter 12.
# - Jay Alammar, ["The Illustrated Transformer"](https://jalammar.github.io/illustrated-transformer/), 2018.
