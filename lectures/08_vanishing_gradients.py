# %% [markdown]
# # 08 · Vanishing and exploding gradients
#
# **You will be able to**
#
# - write the influence of one state on a later one as a product of Jacobians, and compute it;
# - predict from the spectral radius whether it will vanish or explode;
# - clip a gradient, and say what that prevents and what it does not;
# - measure over which distance a recurrent network can learn anything at all.
#
# *30 minutes to read, under a minute to run. Before this: [07 · Recurrent networks](07_rnn.ipynb). You need eigenvalues.*
#
# **The question of the day:** an RNN can carry a word across a whole story. Why does it not learn to?

# %% setup

# %%
import math

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course import figures

torch.set_num_threads(1)  # with matrices this small, one core is faster than several

# %% [markdown]
# ## A word that comes back
#
# > When she tried to print her **tickets**, the printer had run out of toner. She walked to the shop, stood in a long line, paid far too much for a new
# > one, carried it home through the rain and put it in. Then at last she printed her …
#
# You know the word. So does anyone who reads it, and the clue lies some forty words back. For an RNN to *learn* this,
# the error at the last word must tell the steps around the first *tickets* what they should have kept. Only the
# gradient can tell them, and it has to pass through every step in between.
#
# ## A product of Jacobians
#
# The state follows $h_t = \tanh(a_t)$ with $a_t = U h_{t-1} + W x_t$. A small change of $h_{t-1}$ changes $a_t$ by $U$ times as much, and $h_t$ by the slope of $\tanh$,
# which is $1 - h_t^2$, times that. From $h_k$ to a later $h_t$ the chain rule of calculus multiplies all steps between:
#
# $$\frac{\partial h_t}{\partial h_{t-1}} = \text{diag}(1 - h_t^2)\, U, \qquad \frac{\partial h_t}{\partial h_k} = \prod_{j=t}^{k+1} \text{diag}(1 - h_j^2)\, U \quad (\text{latest step leftmost}).$$
#
# | symbol | meaning | shape |
# |---|---|---|
# | $\partial h_t / \partial h_{t-1}$ | the **Jacobian** of one step: row $i$, column $j$ is $\partial h_{t,i} / \partial h_{t-1,j}$ | $(D, D)$ |
# | $\text{diag}(v)$ | the matrix with $v$ on its diagonal and zeros elsewhere | $(D, D)$ |
# | $\partial L / \partial h_k$ | what the error $L$ at step $t$ tells step $k$: $\frac{\partial L}{\partial h_t} \frac{\partial h_t}{\partial h_k}$ | $(D)$ |
# | $\lVert A \rVert$ | the spectral norm: by how much $A$ stretches a vector at most | |
# | $\rho(A)$ | the spectral radius: the largest absolute eigenvalue | |
#
# With $D = 1$ the product is a power. **Predict, then run.** What is left of a gradient of 1 after 50 steps with a factor of 0.9? And with a factor of 1.1?

# %%
figures.prediction(
    "What is left of a gradient of 1 after 50 steps with a factor of 0.9?",
    0.9**50,
    between=(1e-6, 1),
    is_logarithmic=True,
)

# %%
for u in (0.9, 1.0, 1.1):
    print(f"{u}^50 = {u**50:.4g}")

# %% [markdown]
# The two factors lie on either side of 1, and the results differ by more than four orders of magnitude. The first is a **vanishing** gradient, the second an **exploding** gradient; there is little room between them.
#
# Now use matrices, with $T = 5$ steps and $D = 3$.

# %%
T, D = 5, 3
generator = torch.Generator().manual_seed(0)
U = torch.randn(D, D, generator=generator, dtype=torch.float64) / 2
projected = torch.randn(T, D, generator=generator, dtype=torch.float64)  # W x_t of each step


def run(h: Tensor, projected: Tensor, U: Tensor) -> list[Tensor]:
    """States h_0 … h_T, from h_0."""
    states = [h]
    for step in projected:
        states.append(torch.tanh(U @ states[-1] + step))
    return states


# %% [markdown]
# Compute the product, one Jacobian after the other:

# %%
h = run(torch.zeros(D, dtype=torch.float64), projected, U)
product = torch.eye(D, dtype=torch.float64)
for t in range(1, T + 1):
    product = torch.diag(1 - h[t] ** 2) @ U @ product
product

# %% [markdown]
# Autograd, which does not use our formula, gives the same matrix:

# %%
from_autograd = torch.autograd.functional.jacobian(lambda h_0: run(h_0, projected, U)[-1], h[0])
assert torch.allclose(product, from_autograd)
from_autograd

# %% [markdown]
# ## How fast: the spectral radius
#
# Leave out $\tanh$ for a moment. Then the product is $U^n$, with $n = t - k$ the distance, and the eigenvalues of $U$
# decide how it grows: in the long run each step multiplies its norm by the spectral radius,
#
# $$\lVert U^n \rVert^{1/n} \to \rho(U), \qquad \lVert U^n \rVert \le \lVert U \rVert^n.$$


# %%
def with_radius(A: Tensor, radius: float) -> Tensor:
    """A, scaled to this spectral radius."""
    return A * radius / torch.linalg.eigvals(A).abs().max()


def norm_of_power(A: Tensor, n: int) -> float:
    return torch.linalg.matrix_norm(torch.linalg.matrix_power(A, n), 2).item()


# %%
wide = torch.randn(32, 32, generator=generator, dtype=torch.float64)
for radius in (0.9, 1.0, 1.1):
    one, thirty, sixty = (norm_of_power(with_radius(wide, radius), n) for n in (1, 30, 60))
    per_step = (sixty / thirty) ** (1 / 30)
    row = f"radius {radius}: norm {one:.2f} after 1 step, {sixty:8.4f} after 60"
    print(f"{row}, × {per_step:.3f} a step")
    assert abs(per_step - radius) < 0.01

# %% [markdown]
# The number per step is the radius, as promised; the norm after one step is larger, because a random matrix stretches some directions before the eigenvalues
# take over.
#
# Now put $\tanh$ back. Its slopes are at most 1, so $\lVert \partial h_t / \partial h_k \rVert \le \lVert U \rVert^{t-k}$: if $\lVert U \rVert < 1$, the gradient *must* vanish. A norm above 1 is necessary for exploding,
# but not sufficient, since large states sit where $\tanh$ is flat. Here is the norm of $\partial L / \partial h_t$ for a loss at the last step, for three radii:


# %%
def gradient_norms(U: Tensor, projected: Tensor) -> list[float]:
    """|∂L/∂h_t| for t = 0 … T, where L is the sum of the last state."""
    states = run(torch.zeros(len(U), dtype=torch.float64, requires_grad=True), projected, U)
    gradients = torch.autograd.grad(states[-1].sum(), states)
    return [gradient.norm().item() for gradient in gradients]


quiet = 0.1 * torch.randn(60, 32, generator=generator, dtype=torch.float64)
radii = (0.7, 1.0, 1.6)
norms = [gradient_norms(with_radius(wide, radius), quiet) for radius in radii]

# %%
drawing, axes = plt.subplots(figsize=(6, 2.8))
looks = (("-", "#0072B2"), ("--", "#009E73"), (":", "#D55E00"))
for radius, values, (style, colour) in zip(radii, norms, looks, strict=True):
    axes.semilogy(range(60, -1, -1), values, style, color=colour, label=f"radius {radius}")
axes.set(xlabel="steps back from the loss", ylabel="|∂L/∂h|")
axes.legend(frameon=False)
figures.still(
    drawing,
    alt="Norm of the gradient over 60 steps back, by spectral radius: "
    + "; ".join(f"{r} ends at {values[0]:.0e}" for r, values in zip(radii, norms, strict=True)),
    caption="A straight line here is the same factor at every step. "
    "At 1.6 the flat ends of tanh hold the explosion back.",
)

# %% [markdown]
# Try it. Set the radius, lengthen the text, leave out $\tanh$; choose a step and read its product of Jacobians. Then clip, and watch what clipping does to the
# *shape* of the strip.

# %% tags="nbval-ignore-output"
draw = torch.Generator().manual_seed(2)
small = torch.randn(4, 4, generator=draw, dtype=torch.float64)
inputs = 0.1 * torch.randn(40, 4, generator=draw, dtype=torch.float64)
figures.gradient_strip(with_radius(small, 0.6), inputs)

# %% [markdown]
# <details><summary>What to see</summary>
#
# Clipping multiplies everything by one number. It keeps a step from being enormous; it does not make one part of the
# strip larger than another. What has vanished stays vanished. Below a radius of 1 the gradient vanishes, and at 1.6 it
# explodes, though less than without $\tanh$. This small $U$ was chosen for that: with most matrices of this size the
# states come to rest where $\tanh$ is flat, and then the gradient vanishes even at a radius of 1.6. You can see it here if
# you make the inputs ten times as large: change the 0.1 in the cell to 1.
#
# </details>
#
# ## What the weights are told
#
# Steps share their weights, so the gradient of $U$ is a sum over all steps (lecture 07). Each term comes from one
# distance. A term that is a million times smaller is not *wrong*; it is outvoted: the near past decides the direction
# of the sum.

# %%
matrix = with_radius(wide, 0.9)
states = run(torch.zeros(32, dtype=torch.float64), quiet, matrix)
grad_h, shares = torch.ones(32, dtype=torch.float64), []
for t in range(60, 0, -1):
    delta = grad_h * (1 - states[t] ** 2)
    shares.append(torch.outer(delta, states[t - 1]).norm())  # this step's term of ∂L/∂U
    grad_h = matrix.T @ delta
shares = torch.stack(shares) / sum(shares)
for n in (1, 5, 10, 20, 40):
    print(f"the terms of the nearest {n:2} steps make up {shares[:n].sum():.1%} of the summed norms")

# %% [markdown]
# ## Exploding, and its cure
#
# Why does everybody speak of vanishing, and few of exploding? Because exploding is loud: the loss jumps, and you look. Here is how it comes about:
# a network of one unit, $h_t = \tanh(u\, h_{t-1} - 0.2)$ with $h_0 = 0.5$, which should end at 0.6 after 30 steps. The loss as a function of $u$:


# %%
def end_loss(u: Tensor) -> Tensor:
    h = torch.full_like(u, 0.5)
    for _ in range(30):
        h = torch.tanh(u * h - 0.2)
    return (h - 0.6) ** 2


u = torch.linspace(1.2, 2.2, 1000, dtype=torch.float64, requires_grad=True)
values = end_loss(u)
(slopes,) = torch.autograd.grad(values.sum(), u)
print(f"slopes from {slopes.abs().min():.1e} to {slopes.abs().max():.1e}")

# %%
drawing, axes = plt.subplots(figsize=(6, 2.4))
axes.plot(u.detach(), values.detach(), color="#0072B2")
axes.set(xlabel="u", ylabel="loss")
figures.still(
    drawing,
    alt=f"Loss against u: nearly flat on both sides of a wall of slope {slopes.abs().max():.0f}.",
    caption="Nearly flat to the left and to the right, and a wall between. On the wall the slope is "
    f"{slopes.abs().max():.0f}, so a step of any usual learning rate ends far away.",
)

# %% [markdown]
# A step of gradient descent is the gradient times the learning rate; in the steep region, such a step lands far outside
# the plot. The remedy is to limit the gradient's norm and keep its direction. This is **gradient clipping** (Pascanu,
# Mikolov and Bengio, 2013). With all gradients of the model as one long vector $g$, and a threshold $c$,
#
# $$g \leftarrow g \cdot \min\left(1, \frac{c}{\lVert g \rVert}\right).$$


# %%
def clip(gradients: list[Tensor], threshold: float) -> list[Tensor]:
    """The same direction, no longer than the threshold; all tensors together are one vector."""
    length = torch.cat([gradient.flatten() for gradient in gradients]).norm()
    return [gradient * min(1.0, threshold / max(length.item(), 1e-12)) for gradient in gradients]


# %% [markdown]
# **Predict, then run.** Both runs start where the loss is steepest. Both have the same learning rate, which begins at
# 0.03 and falls by a tenth after each step. Where is each after one step, and what is its loss after 60?


# %%
def descend(place: Tensor, threshold: float) -> list[Tensor]:
    """60 places, each a step down from the one before."""
    path = [place]
    for step in range(60):
        place = path[-1].detach().requires_grad_()
        gradients = torch.autograd.grad(end_loss(place), [place])
        path.append(place - 0.03 * 0.9**step * clip(list(gradients), threshold)[0])
    return path


paths = [descend(u[slopes.abs().argmax()], threshold) for threshold in (math.inf, 1.0)]
for name, path in zip(("without clipping", "clipped at 1"), paths, strict=True):
    after = end_loss(path[-1])
    print(f"{name:16}: from {path[0]:.3f} to {path[1]:6.3f}; loss after 60 steps {after:.3f}")
assert end_loss(paths[1][-1]) < end_loss(paths[0][-1])

# %% [markdown]
# <details><summary>Answer</summary>
#
# Without clipping, the very first step jumps onto a plateau, where the gradient is too small to bring the parameter
# back. With clipping, each step keeps its direction but not its length, and the loss goes to practically zero.
#
# </details>
#
# Clipping takes three lines of code, and the course's training loop always uses it; in a healthy run the threshold is rarely
# reached. It does nothing about vanishing gradients, because it can only shorten a gradient, and a gradient that has
# vanished has no usable direction left to keep. Vanishing gradients are also harder to notice. The loss falls, the
# model learns to use the nearby words, and nothing in the training curve shows what it has failed to learn.
#
# ## The tickets
#
# Back to the sentence. How much of the error at its last word arrives at *tickets*? Take twenty untrained RNNs with
# PyTorch's random weights. For every word read, we measure the norm of $\partial L / \partial x_t$, relative to that of
# the last word read:

# %%
text = (
    "when she tried to print her tickets the printer had run out of toner "
    "she walked to the shop stood in a long line paid far too much for a new one "
    "carried it home through the rain and put it in then at last she printed her"
)
sentence = text.split()
symbols = sorted({*sentence})
tokens = torch.tensor([symbols.index(word) for word in sentence])
clue = sentence.index("tickets")
far = len(sentence) - clue  # steps from the clue to the answer
print(f"{len(sentence)} words are read; the clue is number {clue + 1}, {far} steps before the answer")


# %%
def error_at_each_word(seed: int) -> Tensor:
    """|∂L/∂x_t| of the loss at the word after the sentence, for each word read: (T)."""
    torch.manual_seed(seed)
    embedding, network = nn.Embedding(len(symbols), 24), nn.RNN(24, 64)
    head = nn.Linear(64, len(symbols))
    x = embedding(tokens).detach().requires_grad_()  # (T, d_embedding)
    loss = F.cross_entropy(head(network(x)[0])[-1], tokens[clue])
    return torch.autograd.grad(loss, x)[0].norm(dim=-1)


norms = torch.stack([error_at_each_word(seed) for seed in range(20)]).log10().mean(0)
relative = 10 ** (norms - norms[-1])  # 1 at the last word

# %%
drawing, axes = plt.subplots(figsize=(9, 3))
axes.plot(relative, "o-", color="#0072B2", markersize=4)
axes.plot([clue], [relative[clue]], "s", color="#D55E00", markersize=9)
axes.set(yscale="log", ylabel="relative |∂L/∂x|")
axes.set_xticks(range(len(sentence)), sentence, rotation=90, fontsize=10)
figures.still(
    drawing,
    alt="Relative norm of the gradient at each word of the sentence, from 1 at the last word "
    f"down to {relative[clue]:.0e} at “tickets”.",
    caption="What the error at the end tells each word. The square is the clue.",
)

# %%
per_step = relative[clue] ** (1 / (far - 1))
print(f"at the clue: {relative[clue]:.1e} of what reaches the last word, × {per_step:.2f} a step")
assert relative[clue] < 1e-6

# %% [markdown]
# Why this factor? PyTorch draws $U$ uniformly from $\pm 1/\sqrt{D}$. Such numbers have variance $1/(3D)$, and a random
# $D \times D$ matrix of variance $s^2$ has a spectral radius near $s \sqrt{D}$: here $1/\sqrt 3 \approx 0.58$, and the
# slopes of $\tanh$ make the factor a little smaller. (A famous remedy is to begin with an orthogonal $U$, whose norm is
# exactly 1. It helps at the start; nothing keeps it there.)

# %%
torch.manual_seed(0)
fresh = [nn.RNN(24, 64).weight_hh_l0.detach() for _ in range(20)]
radii = [torch.linalg.eigvals(matrix).abs().max() for matrix in fresh]
print(f"mean spectral radius of 20 fresh networks: {sum(radii) / 20:.2f}")

# %% [markdown]
# ## How far back can an RNN learn?
#
# A gradient that small might still be enough, so try it. The language of this experiment has one kind of sentence: a
# thing, small talk drawn at random, and then the thing again, which the network must predict. For each distance a fresh
# network is trained for 150 steps, and then tested on texts that it has not seen. All of this is done three times, from
# three random starts. There are eight things, so guessing is right in one case of eight.

# %%
from statistics import mean

from course.recall import THINGS, WORDS, recall_accuracy, recall_network, recall_texts

example = recall_texts(6, 1, torch.Generator().manual_seed(0))[0]
print(" ".join(WORDS[token] for token in example), "→", WORDS[example[0]])

# %% [markdown]
# We also draw the fraction of the gradient that arrives at the thing before any training: $\lVert \partial L / \partial
# x \rVert$ at the thing, relative to that at the last word, as for the tickets above.

# %%
from course.tickets import share_that_arrives

distances, seeds = (1, 2, 3, 4, 5, 8, 12, 20), (0, 1, 2)
arrives = [mean(share_that_arrives(recall_network("rnn", seed), d) for seed in seeds) for d in distances]

# %% [markdown]
# **Predict, then run.** The gradient falls smoothly with distance. Will the accuracy?

# %% trained
tries = {d: [recall_accuracy("rnn", d, seed=seed) for seed in seeds] for d in distances}
accuracy = [mean(found) for found in tries.values()]
guessing = 1 / len(THINGS)

# %%
drawing, axes = plt.subplots(figsize=(6, 2.8))
axes.plot(distances, accuracy, "-", color="#0072B2", label="accuracy after training, mean")
for distance, found in tries.items():
    axes.plot([distance] * len(seeds), found, "o", color="#0072B2", markersize=5, fillstyle="none")
axes.axhline(guessing, color="#D55E00", linestyle=":", label="guessing")
axes.plot(distances, arrives, "s--", color="#E69F00", label="gradient that arrives, before training")
axes.set(xlabel="distance in words", ylabel="fraction", ylim=(-0.03, 1.05), xticks=distances)
axes.legend(frameon=False)
figures.still(
    drawing,
    alt="Accuracy of the recalled word by distance, for three starts: "
    + "; ".join(f"{d}: " + ", ".join(f"{a:.0%}" for a in found) for d, found in tries.items())
    + f". Guessing: {guessing:.0%}.",
    caption="A circle for each of three random starts, and their mean as a line.",
)

# %%
for distance, found in tries.items():
    print(f"distance {distance:2}: right in " + ", ".join(f"{a:.0%}" for a in found))
assert min(tries[1]) > 0.9
assert max(tries[20]) < 0.3

# %% [markdown]
# <details><summary>Answer</summary>
#
# The accuracy does not fall smoothly. At short distances gradient descent finds the solution, and the network is right
# every time; a little further it depends on the start, and further still no start finds it: all stay at guessing.
#
# </details>
#
# The gradient that arrives falls in the same direction, but nothing in its curve says where the limit will lie. (In lecture
# 09, far more arrives in some networks, and they still fail.) Is it only a matter of patience? Here is three times as
# much training:

# %%
for distance in (5, 8, far):
    patient = [recall_accuracy("rnn", distance, n_steps=450, seed=seed) for seed in seeds]
    print(f"distance {distance:2}: right in " + ", ".join(f"{a:.0%}" for a in patient))
assert max(patient) < 0.3

# %% [markdown]
# The limit moves by a few words at most, not by dozens. But an RNN could do it. With $U = 3 I$ ($I$ is the identity matrix) each unit keeps its sign
# over all 42 words, although the small talk pushes at it:

# %%
kept = torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)
noise, slope = torch.randn(far, 3, generator=generator, dtype=torch.float64), 1.0
for push in 0.3 * noise:
    kept = torch.tanh(3 * kept + push)
    slope = slope * 3 * (1 - kept**2)  # the diagonal of ∂h_t/∂h_0
print(f"after {far} words {kept.numpy().round(2)}, ∂h_t/∂h_0 up to {slope.max():.0e}")

# %% [markdown]
# The state keeps its signs. But because it keeps them so firmly, the gradient through it vanishes all the more (Bengio, Simard and Frasconi, 1994). Solutions exist, but gradient descent does not find them.
#
# ## Why the floor is out of reach
#
# In the stories of the ladder a thing returns tens of words after it was first named. Train an RNN on them as in lecture 07, and look at the things that return, by their distance:

# %%
from course.data.shuffling import ShuffledStories
from course.data.story_language import StoryLanguage
from course.evaluation import score, target_nll
from course.models import RecurrentConfig, RecurrentLanguageModel
from course.training import TrainingConfig, train

language = StoryLanguage()
stories = language.sample(2500, torch.Generator().manual_seed(1))
test_stories = language.sample(200, torch.Generator().manual_seed(2))
torch.manual_seed(0)
config = RecurrentConfig(language.vocab_size, "rnn", d_embedding=48, d_hidden=128)
recurrent = RecurrentLanguageModel(config)
training = TrainingConfig(n_steps=400, learning_rate=4e-3)
history = train(recurrent, ShuffledStories(stories, 32), training, device="cpu")
norms = history.gradient_norms
print(f"largest norm of the gradient before clipping {max(norms):.2f}, at the end {norms[-1]:.2f}")

# %%
read, came = test_stories.tokens[:, :-1], test_stories.tokens[:, 1:]  # (B, T) each
is_real = test_stories.mask[:, 1:]
with torch.no_grad():
    spent_by_language = target_nll(language(read), came) / math.log(2)
    above = target_nll(recurrent(read), came) / math.log(2) - spent_by_language  # in bits

# %% [markdown]
# For each next word, find where the same word first stands in the story. If it is a thing and was already read, it returns.

# %%
same = came[:, :, None] == read[:, None, :]  # (B, T, T): is the next word at t the word read at s?
first = same.int().argmax(-1)  # (B, T): the smallest such s
distance = torch.arange(came.shape[1]) + 1 - first  # (B, T), in words
things = [thing for kind in language.config.lexicon.things for thing in kind]
is_thing = torch.isin(came, torch.tensor(language.vocabulary.encode(things))) & is_real
returns = is_thing & (distance > 0) & same.any(-1)

# %%
for low, high in ((1, 15), (16, 30), (31, 60), (61, 200)):
    chosen = returns & (distance >= low) & (distance <= high)
    excess = above[chosen].mean()
    row = f"thing first named {low:2} to {high:3} words ago"
    print(f"{row}: {excess:.2f} bits above, {chosen.sum():3} times")
others = above[is_real & ~returns].mean()
print(f"all other words: {others:.2f} bits above the floor")
spent = spent_by_language[returns].mean()
print(f"the language itself spends {spent:.2f} bits on a thing that returns")
print(f"things that return are {returns.sum() / is_real.sum():.0%} of all words")
assert above[returns].mean() > 3 * others

# %% [markdown]
# The language itself needs almost no bits here, because the story has said which thing it must be. The network knows *that* a thing comes and of which kind, and guesses among the five of that kind,
# which costs $\log_2 5 = 2.32$ bits when all are equally likely. It does so at every distance.
#
# ## The ladder
#
# There is no new model today. Instead, the bits of the RNN's rung are split into three parts: the floor, what the
# returning things cost above it, and everything else.

# %%
floor = score(language, test_stories).bits_per_token
total = score(recurrent, test_stories).bits_per_token
n_words = is_real.sum()
parts = {"floor": floor, "things that return": (above[returns].sum() / n_words).item()}
parts["everything else"] = total - sum(parts.values())
print({name: round(bits, 3) for name, bits in parts.items()}, f"RNN {total:.3f}")

# %%
drawing, axes = plt.subplots(figsize=(6, 1.7))
left = 0.0
looks = (("#D55E00", ""), ("#E69F00", "//"), ("#0072B2", ""))
for (name, bits), (colour, hatch) in zip(parts.items(), looks, strict=True):
    style = {"color": colour, "hatch": hatch, "edgecolor": "white"}
    axes.barh(["RNN"], [bits], left=left, label=f"{name} {bits:.2f}", **style)
    left += bits
axes.set(xlabel="bits per token", xlim=(0, 1.1 * total), ylim=(-0.5, 1.3))
axes.legend(frameon=False, ncols=3, loc="upper center", fontsize=8.5, columnspacing=1.2)
figures.still(
    drawing,
    alt=f"The RNN's {total:.2f} bits per token: "
    + ", ".join(f"{name} {bits:.2f}" for name, bits in parts.items())
    + ".",
    caption="Where the distance to the floor comes from.",
)

# %% [markdown]
# One word in ten causes more than a third of the whole distance to the floor. To close this gap the model has to learn
# from words that stand far apart; lecture 09 begins with networks through which the gradient survives. On the whole ladder:

# %%
figures.rungs("RNN", live={"RNN": total})

# %% [markdown]
# ## The same in the library
#
# `torch.nn.utils.clip_grad_norm_` clips as we did, in place, and the course's training loop calls it. On random gradients of a recurrent cell:

# %%
from course.models import RNNCell

cell = RNNCell(d_input=5, d_hidden=4)
shapes = [parameter.shape for parameter in cell.parameters()]
gradients = [10 * torch.randn(shape, generator=generator) for shape in shapes]
for parameter, gradient in zip(cell.parameters(), gradients, strict=True):
    parameter.grad = gradient.clone()
nn.utils.clip_grad_norm_(cell.parameters(), max_norm=1.0)
for parameter, clipped in zip(cell.parameters(), clip(gradients, 1.0), strict=True):
    assert torch.allclose(parameter.grad, clipped, atol=1e-5)

# %% [markdown]
# And the Jacobian of the library's cell is the one of the formula:

# %%
state, x = torch.randn(1, 4, generator=generator), torch.randn(1, 5, generator=generator)
jacobian = torch.autograd.functional.jacobian(lambda h: cell(x, (h,))[0], state)[0, :, 0]  # (D, D)
by_formula = torch.diag(1 - cell(x, (state,))[0][0] ** 2) @ cell.U
assert torch.allclose(jacobian, by_formula, atol=1e-6)
print("one step of the library has the Jacobian diag(1 − h²) U")

# %% [markdown]
# ## Recap
#
# - $\partial h_t / \partial h_k$ is a product of $t - k$ Jacobians $\text{diag}(1 - h_j^2)\, U$; its norm changes by
#   about the same factor at each step.
# - A factor below 1 vanishes, above 1 explodes; without $\tanh$ it is the spectral radius of $U$, and the slopes of $\tanh$ take something off.
# - Exploding is easy to notice, and clipping prevents it; vanishing is silent, and clipping does not change it.
# - Contributions of the far past are not wrong but outvoted: from an ordinary start and in these few hundred steps, a plain RNN learns nothing beyond a few words. Other starts carry it further (Le, Jaitly and Hinton, 2015).
# - The RNN's distance to the floor is, for a good part, words that return.
#
# **In the homework:** [hw3 · Recurrent networks](../homeworks/hw3_recurrent/hw3_recurrent.ipynb), the exercises on the gradient through time and on clipping.
#
# ## Exercises
#
# **1.** A gradient is multiplied by 0.58 at each step. What is left of it after 20 steps?
#
# <details><summary>Answer</summary>
#
# $0.58^{20} \approx 2 \cdot 10^{-5}$.
#
# </details>
#
# **2.** The gradient is $(3, 4)$, the threshold 1. What does it become if its norm is clipped, and if each number is
# clipped separately?
#
# <details><summary>Answer</summary>
#
# $(0.6, 0.8)$: the same direction, a fifth of the length. Clipping each number separately gives $(1, 1)$: a different direction.
#
# </details>
#
# **3.** $U = \begin{pmatrix} 0.5 & 10 \\ 0 & 0.5 \end{pmatrix}$ has the spectral radius 0.5. Can $\lVert U^n \rVert$ be larger than 1 for some $n$?
#
# <details><summary>Answer</summary>
#
# Yes: $U$ itself has a norm above 10. The radius says what happens in the long run, and there $U^n \to 0$.
#
# </details>
#
# **4.** *(long)* Begin with an orthogonal $U$, which changes no length. Compare how much of a gradient arrives after 50 steps without $\tanh$; then with $\tanh$ and small inputs; then with the $U$ that PyTorch draws.
#
# <details><summary>Answer</summary>
#
# Without $\tanh$ all of it arrives, exactly. With $\tanh$ and small inputs a good part arrives, because its slope is nearly 1 there. With PyTorch's $U$ almost nothing does. (Le, Jaitly and Hinton, 2015, began with the identity and $\max(0, a)$; training may still leave that region.)
#
# ```python
# import torch
#
# D, T = 32, 50
# generator = torch.Generator().manual_seed(0)
# orthogonal, _ = torch.linalg.qr(torch.randn(D, D, generator=generator))
# as_torch_draws = (2 * torch.rand(D, D, generator=generator) - 1) / D**0.5
# inputs = 0.02 * torch.randn(T, D, generator=generator)
#
#
# def share_that_arrives(U: torch.Tensor, squash) -> float:
#     first = torch.zeros(D, requires_grad=True)
#     h = first
#     for x in inputs:
#         h = squash(U @ h + x)
#     (gradient,) = torch.autograd.grad(h, first, torch.ones(D) / D**0.5)
#     return gradient.norm().item()
#
#
# assert abs(share_that_arrives(orthogonal, lambda a: a) - 1) < 1e-4
# assert 0.1 < share_that_arrives(orthogonal, torch.tanh) < 1
# assert share_that_arrives(as_torch_draws, torch.tanh) < 1e-9
# ```
#
# </details>
#
# ## Further reading
#
# - Yoshua Bengio, Patrice Simard and Paolo Frasconi, ["Learning Long-Term Dependencies with Gradient Descent is Difficult"](https://doi.org/10.1109/72.279181), *IEEE Transactions on Neural Networks* 5 (1994), 157–166.
# - Razvan Pascanu, Tomas Mikolov and Yoshua Bengio, ["On the difficulty of training recurrent neural networks"](https://arxiv.org/abs/1211.5063), ICML 2013.
# - Andrew M. Saxe, James L. McClelland and Surya Ganguli, ["Exact solutions to the nonlinear dynamics of learning in deep linear neural networks"](https://arxiv.org/abs/1312.6120), ICLR 2014.
# - Sepp Hochreiter, [*Untersuchungen zu dynamischen neuronalen Netzen*](https://people.idsia.ch/~juergen/SeppHochreiter1991ThesisAdvisorSchmidhuber.pdf), diploma thesis, Technische Universität München, 1991.
# - Quoc V. Le, Navdeep Jaitly and Geoffrey E. Hinton, ["A Simple Way to Initialize Recurrent Networks of Rectified Linear Units"](https://arxiv.org/abs/1504.00941), 2015: another start carries a plain network over hundreds of steps.
