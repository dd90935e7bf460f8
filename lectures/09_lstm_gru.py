# %% [markdown]
# # 09 · LSTM and GRU
#
# **You will be able to**
#
# - explain each gate of an LSTM, and write the cell in six lines;
# - show why its cell state carries a gradient where a plain RNN loses it, and what the forget bias has to do with it;
# - write a GRU, and say what it leaves out;
# - compare RNN, LSTM and GRU over distance, and say what the gradient before training predicts, and what it does not;
# - say why even the best of them is short-term.
#
# *30 minutes to read, about a minute to run. Before this: [08 · Vanishing and exploding gradients](08_vanishing_gradients.ipynb).*
#
# **The question of the day:** what kind of state lets a gradient survive over many steps?

# %% setup

# %%
import math

import matplotlib.pyplot as plt
import torch
from torch import Tensor, nn

from course import figures

torch.set_num_threads(1)  # with matrices this small, one core is faster than several

# %% [markdown]
# ## Do not rewrite, add
#
# A plain RNN passes its whole state through a matrix and a nonlinearity at every step. To keep a number, the network
# must compute it anew each time, and each of these computations costs the gradient a factor.
#
# Suppose instead that a second state, the **cell** $c_t$, is only *added to*: $c_t = c_{t-1} + \text{new}_t$. Then $\partial c_t / \partial c_{t-1} = 1$ exactly, at any distance. A sum that never forgets
# fills up, though, and what is added at each step is mostly noise. So let the network decide, number by number, with three valves between 0 and 1, the **gates**: how much to keep, how much to write, how much to show. That is **long
# short-term memory** (LSTM; Hochreiter and Schmidhuber, 1997, with the forget gate of Gers, Schmidhuber and Cummins, 2000).
#
# ## The gates, one by one
#
# Each gate is a small layer of its own that reads the word and the last hidden state. From here on $\sigma$ is the
# logistic function, $\sigma(a) = 1 / (1 + e^{-a})$, whose values lie between 0 and 1:
#
# $$\begin{aligned}
# f_t &= \sigma(W_f x_t + U_f h_{t-1} + b_f) && \text{forget gate: how much of each old number stays} \\
# i_t &= \sigma(W_i x_t + U_i h_{t-1} + b_i) && \text{input gate: how much of each new number is written} \\
# g_t &= \tanh(W_g x_t + U_g h_{t-1} + b_g) && \text{candidate: what could be written} \\
# c_t &= f_t \odot c_{t-1} + i_t \odot g_t && \text{cell: keep some, write some} \\
# o_t &= \sigma(W_o x_t + U_o h_{t-1} + b_o) && \text{output gate: how much is shown} \\
# h_t &= o_t \odot \tanh(c_t) && \text{hidden state: what the rest of the network sees}
# \end{aligned}$$
#
# | symbol | meaning | shape |
# |---|---|---|
# | $x_t$ | the word at step $t$, as a vector; in the code $d_x$ is `d_input` | $(d_x)$ |
# | $h_t$ | the hidden state: read by the head and by the gates of the next step | $(D)$ |
# | $c_t$ | the cell state: the memory | $(D)$ |
# | $f_t, i_t, o_t$ | the gates, between 0 and 1 | $(D)$ each |
# | $g_t$ | the candidate, between −1 and 1 | $(D)$ |
# | $W_\cdot$, $U_\cdot$, $b_\cdot$ | weights of a gate, on the word, on the state, and its bias | $(D, d_x)$, $(D, D)$, $(D)$ |
# | $\odot$ | product number by number | |
#
# Begin with one number, $D = 1$, and gates set by hand. **Forget** comes first, alone: a cell that holds 1 and is
# multiplied by a forget gate of 0.9 at each step loses half in seven steps. **Predict, then run:** with a gate of 0.99,
# after how many steps has it lost half?

# %%
figures.prediction(
    "With a gate of 0.99, after how many steps has the cell lost half?",
    math.log(0.5) / math.log(0.99),
    between=(7, 7000),
    is_logarithmic=True,
    unit="steps",
)

# %%
for f in (0.5, 0.9, 0.99, 1.0):
    half = (
        f"half of it after {math.log(0.5) / math.log(f):4.1f} steps"
        if f < 1
        else "at any later step all of it"
    )
    print(f"f = {f:4}: after 10 steps {f**10:.3f} of the cell is left, {half}")

# %% [markdown]
# **Input**: with the gate open at the one step that matters and shut at the others, the cell ignores the rest. **Output**: the number can wait inside, invisible, until it is wanted.

# %%
candidate = torch.tensor([0.9, -0.7, 0.8, -0.5, 0.6])  # something to write at each step
input_gate = torch.tensor([1.0, 0.0, 0.0, 0.0, 0.0])  # only the first is wanted
output_gate = torch.tensor([0.0, 0.0, 0.0, 0.0, 1.0])  # and only at the end
c = torch.tensor(0.0)
for g, i, o in zip(candidate, input_gate, output_gate, strict=True):
    c = 1.0 * c + i * g
    print(f"c = {c:.2f}   h = {o * c.tanh():.2f}")

# %% [markdown]
# Here you can set the gates yourself: twelve steps, with a word worth keeping at the second. Set the gates so that $h$
# shows it at the last step and nowhere else, and read in the bottom row how much of the gradient returns.

# %%
shown = torch.tensor([0.1, 0.9, -0.6, 0.5, -0.8, 0.3, 0.7, -0.4, 0.6, -0.7, 0.2, -0.5])
figures.gates(
    shown,
    forget_gate=torch.full((12,), 0.8),
    input_gate=torch.full((12,), 0.5),
    output_gate=torch.full((12,), 0.9),
)

# %% [markdown]
# Here is one step as a drawing: the cell runs along the top, and three gates reach up to it.

# %%
figures.machine("lstm_cell")

# %% [markdown]
# **A question:** follow $c$ from left to right. Which signs does it meet, and what would a plain RNN have there?
#
# <details><summary>Answer</summary>
#
# A product with the forget gate and a sum, nothing else. A plain RNN multiplies its state by the matrix $U$ and sends it through $\tanh$, in every step.
#
# </details>
#
# ## The smallest LSTM
#
# Now the gates are computed, for $T = 5$ steps, $d_x = 3$ and $D = 4$. There is one matrix per gate, each under its own name.

# %%
T, d_input, D = 5, 3, 4
generator = torch.Generator().manual_seed(0)
W = {gate: torch.randn(D, d_input, generator=generator) for gate in "ifgo"}
U = {gate: torch.randn(D, D, generator=generator) / 2 for gate in "ifgo"}
b = {gate: torch.randn(D, generator=generator) for gate in "ifgo"}
x = torch.randn(T, d_input, generator=generator)


def gate_input(gate: str, x_t: Tensor, h: Tensor) -> Tensor:
    return W[gate] @ x_t + U[gate] @ h + b[gate]


# %%
h, c, states = torch.zeros(D), torch.zeros(D), []
for x_t in x:
    f = gate_input("f", x_t, h).sigmoid()
    i = gate_input("i", x_t, h).sigmoid()
    g = gate_input("g", x_t, h).tanh()
    c = f * c + i * g
    h = gate_input("o", x_t, h).sigmoid() * c.tanh()
    states.append(h)
states = torch.stack(states)  # (T, D)
states[-1]

# %% [markdown]
# The order matters in one place: all four gates read the *old* $h$; the output gate is computed before $h$ is replaced. Many pictures of the LSTM write a gate as one layer on the concatenation,
# $\sigma(W \cdot [h_{t-1}, x_t] + b)$. That is the same: put the two matrices side by side.

# %%
side_by_side = torch.cat([U["f"], W["f"]], dim=1)  # (D, D + d_x)
h_old = torch.randn(D, generator=generator)
as_one_layer = side_by_side @ torch.cat([h_old, x[0]]) + b["f"]
assert torch.allclose(as_one_layer, gate_input("f", x[0], h_old), atol=1e-6)
side_by_side.shape

# %% [markdown]
# ## The same in tensors
#
# Four products with the same vectors are one product with the four matrices stacked. As in lecture 07, all sentences
# are computed at once, and the part that does not wait for $h$ moves out of the loop:

# %%
W_all, U_all, b_all = (torch.cat([part[gate] for gate in "ifgo"]) for part in (W, U, b))


def lstm(x: Tensor) -> Tensor:
    """All hidden states (B, T, D) of inputs (B, T, d_x)."""
    h = c = x.new_zeros(len(x), D)
    states = []
    for projected in (x @ W_all.T + b_all).unbind(dim=1):  # T times (B, 4D)
        i, f, g, o = (projected + h @ U_all.T).chunk(4, dim=-1)  # four times (B, D)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        states.append(h)
    return torch.stack(states, dim=1)


batch = torch.stack([x, x.flip(0)])  # (B=2, T, d_x)
assert torch.allclose(lstm(batch)[0], states, atol=1e-6)
lstm(batch).shape

# %% [markdown]
# ## The highway
#
# Follow the gradient along the cells. If the gates are held fixed,
#
# $$\frac{\partial c_t}{\partial c_{t-1}} = \text{diag}(f_t), \qquad \frac{\partial c_t}{\partial c_k} = \text{diag}(f_t \odot f_{t-1} \odot \dots \odot f_{k+1}).$$
#
# No matrix $U$, no slope of $\tanh$: only the forget gates, and the network can learn to hold them near 1. This direct
# path along the cells is the highway. There are indirect paths too, through $h$ and the gates; on these *side roads*
# the gradient behaves as in the RNN of lecture 08. Let autograd confirm it. With $U = 0$ the gates do not look at $h$,
# so there are no side roads:

# %%
f_gates = (x @ W["f"].T + b["f"]).sigmoid()  # (T, D)
i_gates, candidates = (x @ W["i"].T + b["i"]).sigmoid(), (x @ W["g"].T + b["g"]).tanh()
cells = [torch.zeros(D, requires_grad=True)]
for t in range(T):
    cells.append(f_gates[t] * cells[-1] + i_gates[t] * candidates[t])
(by_autograd,) = torch.autograd.grad(cells[-1].sum(), cells[1])
assert torch.allclose(by_autograd, f_gates[1:].prod(dim=0))
by_autograd

# %% [markdown]
# ## The forget bias
#
# At the start of training the weights are small, so $f_t \approx \sigma(b_f)$. **Predict, then run.** With $b_f = 0$, what is left of a gradient after 30 steps? With 1? With 3?

# %%
for bias in (0.0, 1.0, 3.0):
    f = torch.tensor(bias).sigmoid()
    print(f"b_f = {bias:.0f}: f ≈ {f:.2f}, after 30 steps {f**30:.1e}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# With a bias of zero, a new LSTM forgets half of everything at each step, and its gradient vanishes almost as fast as
# an RNN's.
#
# </details>
#
# The remedy is a single number: begin with $b_f = 1$ or more, so that a new cell remembers (Gers and others,
# 2000; Jozefowicz, Zaremba and Sutskever, 2015). The library begins with 1. Here is the gradient of the last hidden
# state with respect to each input, in untrained networks of 64 units:

# %%
from course.models import GRU, LSTM, RNN


def arriving(network: nn.Module, forget_bias: float | None = None) -> Tensor:
    """|∂h_T/∂x_t| for 60 steps, relative to the last one, mean of 8 texts: (T)."""
    if forget_bias is not None:
        nn.init.constant_(network.cells[0].b[64:128], forget_bias)  # rows of i, f, g, o
    x = torch.randn(8, 60, 24, generator=torch.Generator().manual_seed(1)).requires_grad_()
    (gradient,) = torch.autograd.grad(network(x)[0][:, -1].sum(), x)
    lengths = gradient.norm(dim=-1).log10().mean(0)
    return 10 ** (lengths - lengths[-1])


torch.manual_seed(0)
curves = {"RNN": arriving(RNN(24, 64)), "GRU": arriving(GRU(24, 64))}
curves |= {f"LSTM, forget bias {bias}": arriving(LSTM(24, 64), bias) for bias in (0, 1, 3)}

# %%
drawing, axes = plt.subplots(figsize=(6, 3))
styles = ["-", "--", ":", "-.", (0, (5, 1, 1, 1))]
colours = ["#D55E00", "#009E73", "#56B4E9", "#0072B2", "#E69F00"]
for (name, curve), style, colour in zip(curves.items(), styles, colours, strict=True):
    axes.semilogy(range(59, -1, -1), curve, linestyle=style, color=colour, label=name)
axes.set(xlabel="steps back", ylabel="relative |∂h_T/∂x_t|")
axes.legend(frameon=False, fontsize=9)
figures.still(
    drawing,
    alt="What arrives 59 steps back, before training: "
    + ", ".join(f"{name} {curve[0]:.0e}" for name, curve in curves.items())
    + ".",
    caption="Before training. The steeper a line falls, the smaller the factor by which each step multiplies "
    "the gradient. With a forget bias of 3 hardly any of it is lost.",
)

# %%
for name, curve in curves.items():
    per_step = (curve[0] / curve[-1]).item() ** (1 / 59)
    print(f"{name:19} each step back multiplies the gradient by {per_step:.2f} on average")
assert curves["LSTM, forget bias 3"][0] > curves["LSTM, forget bias 0"][0]

# %% [markdown]
# ## GRU: two gates instead of three
#
# The **gated recurrent unit** (Cho and others, 2014) asks what can be left out. It has no cell beside the hidden state, and one gate $z$ for two jobs: what is kept and what is written add up to one.
#
# $$\begin{aligned}
# r_t &= \sigma(W_r x_t + U_r h_{t-1} + b_r) && \text{reset gate: how much of } h_{t-1} \text{ is seen} \\
# z_t &= \sigma(W_z x_t + U_z h_{t-1} + b_z) && \text{update gate: how much stays} \\
# n_t &= \tanh(W_n x_t + b_n + r_t \odot (U_n h_{t-1} + b'_n)) && \text{candidate} \\
# h_t &= (1 - z_t) \odot n_t + z_t \odot h_{t-1} && \text{state: keep some, write the rest}
# \end{aligned}$$
#
# On its highway $\partial h_t / \partial h_{t-1}$ is $\text{diag}(z_t)$: the update gate plays the part of the forget
# gate. (The paper applies $r$ before the product, $U_n (r_t \odot h_{t-1})$; in the form here, that of cuDNN and
# PyTorch, the three products with $h_{t-1}$ can be made at once. The reset gate also multiplies the second bias $b'_n$.
# In some texts $z$ and $1 - z$ are swapped.)

# %%
gru_W = {gate: torch.randn(D, d_input, generator=generator) for gate in "rzn"}
gru_U = {gate: torch.randn(D, D, generator=generator) / 2 for gate in "rzn"}
gru_b = {gate: torch.randn(D, generator=generator) for gate in "rzn"}
b_candidate = torch.randn(D, generator=generator)


def gru_step(x_t: Tensor, h: Tensor) -> Tensor:
    """The next state (D) from a word (d_x) and the state before it (D)."""
    r = (gru_W["r"] @ x_t + gru_U["r"] @ h + gru_b["r"]).sigmoid()
    z = (gru_W["z"] @ x_t + gru_U["z"] @ h + gru_b["z"]).sigmoid()
    n = (gru_W["n"] @ x_t + gru_b["n"] + r * (gru_U["n"] @ h + b_candidate)).tanh()
    return (1 - z) * n + z * h


h, gru_states = torch.zeros(D), []
for x_t in x:
    h = gru_step(x_t, h)
    gru_states.append(h)
gru_states = torch.stack(gru_states)

# %% [markdown]
# Here is the same kind of drawing, with one gate and one state less:

# %%
figures.machine("gru_cell")

# %% [markdown]
# **A question:** where do you find the LSTM's forget gate here, and where its input gate?
#
# <details><summary>Answer</summary>
#
# The update gate $z$ is both: $z$ itself multiplies the old state, as the forget gate does, and $1 - z$ multiplies the candidate, as the input gate does. The reset gate $r$ has no counterpart in the LSTM.
#
# </details>
#
# How large are the three networks? **Predict, then run:** for the same width, how many times as many weights as an RNN
# do a GRU and an LSTM have?

# %%
layers = {"RNN": RNN(64, 128), "GRU": GRU(64, 128), "LSTM": LSTM(64, 128)}
sizes = {name: sum(p.numel() for p in layer.parameters()) for name, layer in layers.items()}
for name, size in sizes.items():
    print(f"{name:4} {size:6,} weights, {size / sizes['RNN']:.2f} times as many as the RNN")

# %% [markdown]
# ## Equal to torch.nn
#
# PyTorch stacks the gates of the LSTM in the order i, f, g, o and those of the GRU in the order r, z, n, and has two
# biases that are added up. Copy our weights into its layers:

# %%
zeros = torch.zeros(4 * D)
their_lstm, their_gru = nn.LSTM(d_input, D), nn.GRU(d_input, D)
gru_all = [torch.cat([part[gate] for gate in "rzn"]) for part in (gru_W, gru_U, gru_b)]
second_bias = torch.cat([torch.zeros(2 * D), b_candidate])
copies = [(their_lstm, (W_all, U_all, b_all, zeros)), (their_gru, (*gru_all, second_bias))]
with torch.no_grad():
    for layer, weights in copies:
        for theirs, ours in zip(layer.parameters(), weights, strict=True):
            theirs.copy_(ours)
assert torch.allclose(their_lstm(x)[0], states, atol=1e-6)
assert torch.allclose(their_gru(x)[0], gru_states, atol=1e-6)
print("the six lines are torch.nn.LSTM, the four lines are torch.nn.GRU")

# %% [markdown]
# ## Accuracy over distance
#
# Here is lecture 08's experiment again: a thing, small talk, and the question which of eight things it was. There are
# four networks: an RNN, a GRU, an LSTM with its forget bias of 1, and an LSTM with a forget bias of 3. The thing stands
# 20 words back. Each network is trained for 150 steps, from three random starts.
#
# **Predict, then run.** The figure shows what fraction of the gradient arrives at the thing before training. Does the
# network to which most arrives learn best? (It asks for the first three. The table after it has all four, with every
# start; there 1e-06 is 1 part in 1,000,000.)

# %%
from course.tickets import KINDS, TicketsConfig, trial

networks, brief = ("rnn", "gru", "lstm", "lstm_3"), TicketsConfig(n_steps=150)
live = {kind: [trial(kind, 20, seed, brief) for seed in (0, 1, 2)] for kind in networks}

# %%
options = {}
for kind in ("rnn", "gru", "lstm"):
    arrived, right = (sum(getattr(run, of) for run in live[kind]) / 3 for of in ("arrives", "accuracy"))
    parts = float(f"{1 / arrived:.0e}")  # one significant digit
    options[f"{KINDS[kind]}: 1 part in {parts:,.0f} arrives"] = right
figures.prediction("Which of the three is right most often after training?", options, unit="%")

# %%
for kind, runs in live.items():
    shares = ", ".join(f"{run.arrives:.0e}" for run in runs)
    print(f"{KINDS[kind]:19} {shares}   right: " + ", ".join(f"{run.accuracy:.0%}" for run in runs))
assert min(run.arrives for run in live["lstm"]) > 50 * max(run.arrives for run in live["gru"])
assert min(run.accuracy for run in live["gru"]) > max(run.accuracy for run in live["lstm"]) + 0.3

# %% [markdown]
# <details><summary>Answer</summary>
#
# No: a hundred times more arrives in the LSTM than in the GRU, and yet the LSTM guesses with all three starts, while
# the GRU is right in 83 % to 100 %. With a forget bias of 3 the LSTM is right every time.
#
# </details>
#
# Does this hold at other distances? Here is the **record**: eleven distances, 300 steps, three starts each (`python -m course.tickets`, some
# six minutes). It has a fifth network, the RNN with lecture 08's remedy: its $U$ begins orthogonal.

# %%
from statistics import mean

from course.tickets import accuracies, cell, read_recorded

record = read_recorded()
found = accuracies(record)
recurrent = ("rnn", "rnn_orthogonal", "gru", "lstm", "lstm_3")
print("accuracy at          " + "".join(f"{d:>11} words" for d in (8, 12, 32, 64)))
for kind in recurrent:
    print(f"{KINDS[kind]:21}" + "".join(f"{cell(found[kind][d]):>17}" for d in (8, 12, 32, 64)))

least = min(run.arrives for run in record if run.kind == "gru" and run.accuracy > 0.9)
most = max(run.arrives for run in record if "lstm" in run.kind and run.accuracy < 0.2)
assert min(found["rnn_orthogonal"][8]) > 0.95 > 0.3 > max(found["rnn"][8])
assert max(found["rnn_orthogonal"][12]) < 0.2

# %%
drawing, both = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True)
left, right = both
looks = {
    "rnn": ("o-", "#D55E00"),
    "rnn_orthogonal": ("v-", "#CC79A7"),
    "gru": ("^:", "#009E73"),
    "lstm": ("s--", "#0072B2"),
    "lstm_3": ("D-.", "#E69F00"),
}
for kind, (style, colour) in looks.items():
    curve, distances = found[kind], sorted(found[kind])
    left.plot(
        distances, [mean(curve[d]) for d in distances], style, color=colour, label=KINDS[kind], markersize=4
    )
    lowest, highest = ([end(curve[d]) for d in distances] for end in (min, max))
    left.fill_between(distances, lowest, highest, color=colour, alpha=0.2, linewidth=0)
    runs = [run for run in record if run.kind == kind]
    right.plot(
        [r.arrives for r in runs], [r.accuracy for r in runs], style[0], color=colour, fillstyle="none"
    )
left.set(xscale="log", xlabel="distance in words", ylabel="accuracy")
left.set_xticks([2, 4, 8, 16, 32, 64, 100], ["2", "4", "8", "16", "32", "64", "100"])
left.minorticks_off()
right.legend(*left.get_legend_handles_labels(), frameon=False, fontsize=9, loc=(0.02, 0.36))
right.set(xscale="log", xlabel="fraction of the gradient that arrives before training")
figures.still(
    drawing,
    alt="Mean accuracy at the distances 8, 32 and 100: "
    + "; ".join(
        f"{KINDS[kind]} " + ", ".join(f"{mean(found[kind][d]):.2f}" for d in (8, 32, 100)) for kind in looks
    )
    + f". The fraction that arrives does not decide: the GRU learns with as little as {least:.0e}, and the LSTMs "
    + f"fail with as much as {most:.1g}.",
    caption="Left: means of three starts, and their range as a band. Right: a mark for each of these trained "
    "networks. If the gradient that arrives decided, all marks would lie on one rising curve.",
)

# %% [markdown]
# Within one kind of network, less arrives the further back the thing stands, and over long distances learning fails. To
# this extent the gradient at the start predicts learning. Between different kinds of network it does not. Over 32 words
# about a thousandth arrives in the LSTM, which stays at guessing with all three starts (9 % to 13 % right); in the GRU
# thousands of times less arrives, and it is right in 91 % to 100 %. A forget bias of 3 solves this: two thirds of the
# gradient or more arrive, and all three starts are right every time. But even that much gradient does not decide the
# result. Over 64 words more than half still arrives, and the three starts end at 11 %, 13 % and 69 %; those of the GRU,
# with next to nothing, end at 74 %, 91 % and 100 %.
#
# The orthogonal start is the same story on a smaller scale. Over 8 words it lets about a fifth of the gradient arrive,
# where PyTorch's start lets 0.3 % to 0.4 %, and the RNN learns with all three starts what it otherwise guesses (11 % to
# 27 % right). Four words further still 6 % or more arrive, and it guesses with all three.
#
# A gradient that arrives is therefore not enough. Nor does it need to be large, because Adam (lecture 05) divides each
# step by the usual size of the gradient. Its size says nothing about where it points, or whether the next texts agree
# with it. And that the GRU reaches further than an LSTM with a forget bias of 1 says something about this task, this
# width and these 300 steps, not about GRUs.
#
# ## Where it breaks: still short-term
#
# The name is honest: a *long* short-term memory. Three limits remain. A gate below 1 is still a factor per step: at
# 0.99, as computed above, half is gone after 69. Each step still waits for the one before. And the state has $D$ numbers,
# whether the text has ten words or ten thousand. The first can be seen in a trained network. The GRU below learned to
# keep a thing for 8 words; then the small talk becomes longer and longer:

# %%
from course.recall import recall_loss, recall_network, recall_texts
from course.training import TrainingConfig, train


def keeper_batches(step: int) -> tuple[Tensor]:
    return (recall_texts(8, 32, torch.Generator().manual_seed(step)),)


keeper, config = recall_network("gru"), TrainingConfig(n_steps=150, learning_rate=1e-2)
history = train(keeper, keeper_batches, config, loss=recall_loss, device="cpu")
for distance in (8, 50, 300, 1000, 3000):
    tokens = recall_texts(distance, 200, torch.Generator().manual_seed(9))
    with torch.no_grad():
        right = (keeper(tokens)[:, -1].argmax(-1) == tokens[:, 0]).float().mean()
    print(f"after {distance:4} words: {right:.0%} right")

# %% [markdown]
# It keeps the thing far longer than in training, but in the end it loses it: no gate that was learned from examples is
# exactly 1. And this was one thing, with nothing else to remember. A story asks for more.
#
# ## The ladder
#
# Here are the three networks on the stories, trained by the same loop for the same number of steps (at learning rates
# chosen by hand: 0.004 for the RNN, 0.01 for the other two).

# %%
from course.data.shuffling import ShuffledStories
from course.data.story_language import StoryLanguage
from course.evaluation import score, target_nll
from course.models import RecurrentConfig, RecurrentLanguageModel

language = StoryLanguage()
V = language.vocab_size
stories = language.sample(2500, torch.Generator().manual_seed(1))
test_stories = language.sample(200, torch.Generator().manual_seed(2))


def trained(cell: str, learning_rate: float) -> RecurrentLanguageModel:
    torch.manual_seed(0)
    model = RecurrentLanguageModel(RecurrentConfig(V, cell, d_embedding=48, d_hidden=96))
    config = TrainingConfig(n_steps=300, learning_rate=learning_rate)
    train(model, ShuffledStories(stories, 32), config, device="cpu")
    return model


models = {"RNN": trained("rnn", 4e-3), "LSTM": trained("lstm", 1e-2), "GRU": trained("gru", 1e-2)}

# %%
bits = {name: score(model, test_stories).bits_per_token for name, model in models.items()}
for name, value in bits.items():
    print(f"{name:4} {value:.2f} bits per token")
assert max(bits["LSTM"], bits["GRU"]) < bits["RNN"]

# %%
figures.rungs("LSTM", new=("GRU", "LSTM"), live=bits)

# %% [markdown]
# On the same stories the gates save a little after 300 steps. In the recorded runs, with five to eight times as many
# steps and more stories, they save more: 0.13 bits (GRU) and 0.20 (LSTM), where the seeds of the RNN and of the GRU
# differ by less than 0.004. Those of the LSTM differ by 0.09, more than its distance from the GRU, though all three are
# better than the GRU's.

# %% [markdown]
# Two of these recorded models answer below, with their own weights, beside the truth. **Predict, then look:** at which of the six beginnings do the gates save most, and at which do they save nothing?

# %%
from course import ladder

recorded = {result.title: result for result in ladder.read_recorded() if result.seed == 0}
both = ladder.recorded_models(["rnn", "lstm"])
figures.every_rung(
    both,
    language,
    {title: recorded[title].bits_per_token for title in both},
    recorded["LSTM"].floor,
    caption="With gates and without: choose a beginning, then click a word or type one.",
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# They save most at *Who said it?*, about four bits, and more than one at *She or he?*: each asks for one name, which a cell can keep. They save nothing at *Which thing?*, where one of five things is asked for. Both models know that it is something to light, and spread their guesses over all such things.
#
# </details>

# %% [markdown]
# Where did the gates help? Here are the bits above the floor, by the kind of word that came next:

# %%
from course.ladder.kinds import bits_by_kind

read, came = test_stories.tokens[:, :-1], test_stories.tokens[:, 1:]  # (B, T) each
with torch.no_grad():
    truth = target_nll(language(read), came)
    spent = [target_nll(model(read), came) for model in models.values()]
above = [bits_by_kind(each, truth, test_stories, language) for each in spent]
print(" " * 10 + "".join(f"{name:>7}" for name in models))
for kind in above[0]:
    print(f"{kind:10}" + "".join(f"{gap[kind]:7.2f}" for gap in above))

# %% [markdown]
# In these 300 steps the gates helped with agreement between a verb and a subject some words back. (Lecture 07's RNN,
# wider and trained for longer, had learned it too.) The expensive lines are *things* and *names*, and they have hardly
# moved. The longer training of the recorded LSTM above taught it to keep a name, but not the things: a story has
# several, and asks for them in any order. One summary of everything, carried along and overwritten word by word, is a
# poor place to look things up. Lecture 10 makes this **bottleneck** worse, by pressing a whole sentence through it;
# lecture 11 removes it.
#
# ## The same in the library
#
# First compare `course.models` with `torch.nn`, on random weights, with two layers in both directions; then compare it
# with the function of this lecture:

# %%
for ours_type, theirs_type in ((LSTM, nn.LSTM), (GRU, nn.GRU)):
    theirs = theirs_type(d_input, D, num_layers=2, bidirectional=True, batch_first=True)
    ours = ours_type(d_input, D, n_layers=2, is_bidirectional=True)
    ours.copy_from_torch(theirs)
    assert torch.allclose(ours(batch)[0], theirs(batch)[0], atol=1e-6)

# %%
ours = LSTM(d_input, D)
ours.copy_from_torch(their_lstm)
assert torch.allclose(ours(batch)[0], lstm(batch), atol=1e-6)
print("we have just built course.models.LSTM")

# %% [markdown]
# ## Recap
#
# - An LSTM keeps a cell $c_t = f_t \odot c_{t-1} + i_t \odot g_t$ beside what it shows, $h_t = o_t \odot \tanh(c_t)$.
# - Along the cell the gradient is multiplied by forget gates only, so it survives if they are near 1; hence a forget
#   bias of 1 or more.
# - A GRU has two gates, no separate cell, and three quarters of the weights.
# - In the recall task, with 300 steps and three starts, the RNN reaches 4 words (from an orthogonal start, 8), the LSTM 8
#   (with a forget bias of 3, 32), and the GRU 48. How much gradient arrives before training does not decide which network learns.
# - Both are still short-term: a factor per step, one step after another, and a state of fixed size.
#
# **In the homework:** [hw3 · Recurrent networks](../homeworks/hw3_recurrent/hw3_recurrent.ipynb), the exercises on the LSTM and GRU cells and the distance experiment.
#
# ## Exercises
#
# **1.** $D = 100$, $d_x = 50$. How many weights does an LSTM cell have as written here, and how many does a GRU cell have?
#
# <details><summary>Answer</summary>
#
# $4 \cdot (100 \cdot 50 + 100 \cdot 100 + 100) = 60{,}400$, and $3 \cdot 15{,}000 + 4 \cdot 100 = 45{,}400$: three matrices of each kind, and four biases.
#
# </details>
#
# **2.** What does a GRU do if $z_t = 1$ at every step? And if $z_t = 0$ and $r_t = 1$?
#
# <details><summary>Answer</summary>
#
# It never changes its state. In the other case it is the plain RNN of lecture 07.
#
# </details>
#
# **3.** A forget gate stands at 0.95. After how many steps has the cell lost half of what it held?
#
# <details><summary>Answer</summary>
#
# $\ln 0.5 / \ln 0.95 \approx 13.5$, so after 14.
#
# </details>
#
# **4.** *(long)* Set the weights of an LSTM by hand so that it counts: its cell should hold the number of times that the letter *a* has been read. Could a GRU do the same?
#
# <details><summary>Answer</summary>
#
# Hold the forget gate open with a large bias, let the input gate open only for *a*, and make the candidate 1. The cell of an LSTM may grow without limit. The state of a GRU cannot: it is a mean of its old value and a candidate between −1 and 1, so it never leaves that range. (Weiss, Goldberg and Yahav, 2018, found this difference in trained networks.)
#
# ```python
# import torch
#
# letters = "abacabadabacaba" * 3
# h, c = torch.tensor(0.0), torch.tensor(0.0)
# for letter in letters:
#     is_a = float(letter == "a")
#     f = torch.sigmoid(torch.tensor(30.0))  # always open
#     i = torch.sigmoid(torch.tensor(60.0 * is_a - 30.0))  # open for a
#     g = torch.tanh(torch.tensor(30.0))
#     c = f * c + i * g
#     h = torch.tanh(c)
# assert abs(c.item() - letters.count("a")) < 1e-4
#
# z, state = torch.tensor(0.3), torch.tensor(0.0)
# for _ in letters:
#     state = (1 - z) * 1.0 + z * state  # the largest candidate, at every step
# assert state <= 1
# ```
#
# </details>
#
# ## Further reading
#
# - Sepp Hochreiter and Jürgen Schmidhuber, ["Long Short-Term Memory"](https://doi.org/10.1162/neco.1997.9.8.1735), *Neural Computation* 9 (1997), 1735–1780.
# - Felix A. Gers, Jürgen Schmidhuber and Fred Cummins, ["Learning to Forget: Continual Prediction with LSTM"](https://doi.org/10.1162/089976600300015015), *Neural Computation* 12 (2000), 2451–2471.
# - Kyunghyun Cho, Bart van Merriënboer, Caglar Gulcehre, Dzmitry Bahdanau, Fethi Bougares, Holger Schwenk and Yoshua Bengio, ["Learning Phrase Representations using RNN Encoder–Decoder for Statistical Machine Translation"](https://aclanthology.org/D14-1179), EMNLP 2014.
# - Rafal Jozefowicz, Wojciech Zaremba and Ilya Sutskever, ["An Empirical Exploration of Recurrent Network Architectures"](https://proceedings.mlr.press/v37/jozefowicz15.html), ICML 2015.
# - Klaus Greff, Rupesh K. Srivastava, Jan Koutník, Bas R. Steunebrink and Jürgen Schmidhuber, ["LSTM: A Search Space Odyssey"](https://arxiv.org/abs/1503.04069), *IEEE Transactions on Neural Networks and Learning Systems* 28 (2017), 2222–2232.
# - Christopher Olah, ["Understanding LSTM Networks"](https://colah.github.io/posts/2015-08-Understanding-LSTMs/), 2015: the drawing that everybody knows.
