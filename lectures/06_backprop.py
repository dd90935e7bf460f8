# %% [markdown]
# # 06 · Backpropagation by hand
#
# **You will be able to**
#
# - draw the computation graph of a model and carry a gradient through it, step by step;
# - build every Jacobian of a small softmax classifier and multiply them;
# - replace each Jacobian by a function that never builds it;
# - write an automatic differentiator in sixty lines, and check any gradient with numbers.
#
# *35 minutes to read, under 40 seconds to run. You need partial derivatives and the chain rule of calculus.
# Before this: [05 · A feed-forward language model](05_feedforward.ipynb).*
#
# **The question of the day:** the loss is a single number at the end. How do we find out how each weight deep inside the model should change?

# %% setup

# %%
import math

import matplotlib.pyplot as plt
import torch
from torch import Tensor
from torch.nn import functional as F

from course import figures

# %% [markdown]
# ## The smallest network that predicts words
#
# It reads two numbers and chooses between three words:
#
# $$
# \mathbf{z} = \mathbf{W}\mathbf{x}, \qquad \hat{\mathbf{y}} = \text{softmax}(\mathbf{z}), \qquad L = -\mathbf{y} \cdot \log \hat{\mathbf{y}} = -\sum_{i=1}^{3} y_i \log \hat y_i
# $$
#
# | symbol | meaning | shape | in the code |
# |---|---|---|---|
# | $\mathbf{x}$ | what is known about the context | 2 | `x` |
# | $\mathbf{W}$ | the weights, $W_{jn}$ from input $n$ to word $j$ | $3 \times 2$ | `W` |
# | $\mathbf{z}$ | the logits, $z_j = \sum_n W_{jn} x_n$ | 3 | `z` |
# | $\hat{\mathbf{y}}$ | the probabilities, $\hat y_i = e^{z_i} / \sum_k e^{z_k}$ | 3 | `y_hat` |
# | $\mathbf{y}$ | the word that came, one-hot | 3 | `y` |
# | $L$ | the loss | one number | `loss` |
#
# We use 64-bit numbers (`float64`) today, so that "equal" can mean equal to many digits.

# %%
x = torch.tensor([1.5, -0.5], dtype=torch.float64)
W = torch.tensor([[0.2, -0.4], [0.7, 0.1], [-0.3, 0.6]], dtype=torch.float64)
y = torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64)  # the third word came
z = W @ x
y_hat = z.softmax(0)
loss = -(y * y_hat.log()).sum()
print(f"z {z.numpy().round(4)}   y_hat {y_hat.numpy().round(4)}   loss {loss:.4f}")

# %% [markdown]
# Written as a **computation graph**, each value is a node, and an arrow leads from what is used to what is computed with it:
#
# $$\begin{array}{ccccccc}
# \mathbf{W} & \searrow \\
# & & \mathbf{z} & \longrightarrow & \hat{\mathbf{y}} & \longrightarrow & L \\
# \mathbf{x} & \nearrow & & & & \nearrow \\
# & & & & \mathbf{y}
# \end{array}$$
#
# This one is a line; in general it is a directed graph without cycles, because values may be used several times. The chain rule of calculus (not the one of lecture 01,
# which is about probabilities) multiplies along the line:
#
# $$\frac{\partial L}{\partial \mathbf{W}} = \frac{\partial L}{\partial \hat{\mathbf{y}}} \cdot \frac{\partial \hat{\mathbf{y}}}{\partial \mathbf{z}} \cdot \frac{\partial \mathbf{z}}{\partial \mathbf{W}}$$
#
# Each factor is a **Jacobian**: the matrix whose entry in row $i$, column $j$ says how output $i$ changes with input $j$. Build all three.
#
# ## First factor: the loss and the probabilities
#
# $$\frac{\partial L}{\partial \hat{\mathbf{y}}} = \Big[ -\frac{y_1}{\hat y_1} \quad -\frac{y_2}{\hat y_2} \quad -\frac{y_3}{\hat y_3} \Big]$$
#
# There are one output and three inputs, so this Jacobian is a $1 \times 3$ matrix. Two of its entries are zero, because only the word that came is in the loss.

# %%
dL_dy_hat = (-y / y_hat)[None, :]  # (1, 3)
dL_dy_hat

# %% [markdown]
# Do not take this on trust; check it by finite differences. Change one input slightly, measure how the output changes, and divide. This is the definition of a derivative, and it checks
# everything that follows.


# %%
def jacobian_by_nudging(function, at: Tensor, step: float = 1e-6) -> Tensor:
    """(outputs, inputs): column j is how the outputs change with input j, nudged up and down."""
    columns = []
    for j in range(at.numel()):
        nudge = torch.zeros_like(at).flatten()
        nudge[j] = step
        up, down = (function(at + sign * nudge.view_as(at)) for sign in (1, -1))
        columns.append((up - down).flatten() / (2 * step))
    return torch.stack(columns, dim=1)


nudged = jacobian_by_nudging(lambda y_hat: -(y * y_hat.log()).sum(), y_hat)
assert torch.allclose(nudged, dL_dy_hat)
nudged

# %% [markdown]
# ## Second factor: the softmax
#
# Every logit is in the denominator of every probability, so all nine derivatives are there:
#
# $$\frac{\partial \hat y_i}{\partial z_j} = \begin{cases} \hat y_i (1 - \hat y_i) & i = j \\ -\hat y_i \hat y_j & i \ne j \end{cases}$$
#
# (For $i = j$, the quotient rule gives $\frac{e^{z_i} s - e^{z_i} e^{z_i}}{s^2} = \hat y_i - \hat y_i^2$ with $s = \sum_k e^{z_k}$; for $i \ne j$ the first term is missing.)
#
# **Predict, then run.** What is the sum of each row?

# %%
dy_hat_dz = torch.zeros(3, 3, dtype=torch.float64)
for i in range(3):
    for j in range(3):
        dy_hat_dz[i, j] = y_hat[i] * (1 - y_hat[i]) if i == j else -y_hat[i] * y_hat[j]
print(dy_hat_dz, "\nrow sums", dy_hat_dz.sum(1).abs().round(decimals=12))

# %% [markdown]
# <details><summary>Why zero</summary>
#
# A row's sum says how $\hat y_i$ changes when all logits grow by the same amount. It does not: softmax depends only on differences. The columns sum to zero for
# another reason: the probabilities always add up to one, so what one gains the others lose.
#
# </details>
#
# With tensors it is one line, $\text{diag}(\hat{\mathbf{y}}) - \hat{\mathbf{y}} \hat{\mathbf{y}}^\top$:

# %%
assert torch.allclose(dy_hat_dz, y_hat.diag() - y_hat.outer(y_hat))
assert torch.allclose(dy_hat_dz, jacobian_by_nudging(lambda z: z.softmax(0), z))
print("loop, tensors and nudging agree")

# %% [markdown]
# ## Third factor: the logits and the weights
#
# There are three outputs and six inputs $W_{11}, W_{12}, W_{21}, W_{22}, W_{31}, W_{32}$, so this is a $3 \times 6$ matrix. Since $z_j = \sum_n W_{jn} x_n$, the weight $W_{mn}$ touches
# only $z_m$:
#
# $$\frac{\partial z_j}{\partial W_{mn}} = \begin{cases} x_n & j = m \\ 0 & j \ne m \end{cases}
# \qquad
# \frac{\partial \mathbf{z}}{\partial \mathbf{W}} = \begin{bmatrix} x_1 & x_2 & 0 & 0 & 0 & 0 \\ 0 & 0 & x_1 & x_2 & 0 & 0 \\ 0 & 0 & 0 & 0 & x_1 & x_2 \end{bmatrix}$$

# %%
dz_dW = torch.zeros(3, 6, dtype=torch.float64)
for j in range(3):
    for m in range(3):
        for n in range(2):
            dz_dW[j, 2 * m + n] = x[n] if j == m else 0.0
with_tensors = torch.kron(torch.eye(3, dtype=torch.float64), x[None, :])  # x for every 1 of the eye
assert torch.equal(dz_dW, with_tensors)
assert torch.allclose(dz_dW, jacobian_by_nudging(lambda W: W @ x, W))
dz_dW

# %% [markdown]
# ## Multiply
#
# $(1 \times 3) \cdot (3 \times 3) \cdot (3 \times 6) = 1 \times 6$: one number for each weight.
#
# **Predict, then run.** The third word came. Which of the six numbers will be negative, that is, which weights should grow? Remember $x_1 > 0 > x_2$.

# %%
dL_dz = dL_dy_hat @ dy_hat_dz  # (1, 3)
dL_dW = dL_dz @ dz_dW  # (1, 6)
print("dL/dz", dL_dz, "\ndL/dW", dL_dW)

# %% [markdown]
# <details><summary>Answer</summary>
#
# Three are negative. The weight of $x_1$ for the third word should grow. So should the weights of $x_2$ for the two other words, because $x_2$ is negative, and a larger weight
# makes their logits smaller.
#
# </details>
#
# Now multiply the symbols. In $\frac{\partial L}{\partial z_j} = \sum_i -\frac{y_i}{\hat y_i} \frac{\partial \hat y_i}{\partial z_j}$ every $\hat y_i$ cancels:
#
# $$\frac{\partial L}{\partial z_j} = -y_j (1 - \hat y_j) + \sum_{i \ne j} y_i \hat y_j = \hat y_j \sum_i y_i - y_j = \hat y_j - y_j$$
#
# It is the model's probability minus the true one. With the third factor, and in the shape of $\mathbf{W}$:
#
# $$
# \begin{aligned}
# \frac{\partial L}{\partial \mathbf{W}} &= [(\hat y_1 - y_1) x_1 \;\; (\hat y_1 - y_1) x_2 \;\; (\hat y_2 - y_2) x_1 \;\; (\hat y_2 - y_2) x_2 \;\; (\hat y_3 - y_3) x_1 \;\; (\hat y_3 - y_3) x_2] \\
# &\;\to\; (\hat{\mathbf{y}} - \mathbf{y})\, \mathbf{x}^\top \quad \text{as three rows of two.}
# \end{aligned}
# $$

# %%
by_formula = (y_hat - y).outer(x)  # (3, 2)
leaf = W.clone().requires_grad_()
F.cross_entropy((leaf @ x)[None], y[None]).backward()
assert torch.allclose(dL_dz[0], y_hat - y)
assert torch.allclose(dL_dW.view(3, 2), by_formula)
assert torch.allclose(leaf.grad, by_formula)
print("three Jacobians = (y_hat − y) xᵀ = torch:\n", by_formula)

# %% [markdown]
# The gradient does its job: a step against it makes the loss smaller.

# %%
for eta in (0.1, 0.5, 1.0):
    after = F.cross_entropy(((W - eta * by_formula) @ x)[None], y[None])
    print(f"η = {eta}: loss {loss:.4f} → {after:.4f}")
    assert after < loss

# %% [markdown]
# ## Where it breaks: the Jacobian does not fit in memory
#
# The matrix $\partial \mathbf{z} / \partial \mathbf{W}$ above has 18 entries, 12 of them zero. **Predict, then run.** How large is it for the last layer of GPT-2, with 768 inputs and
# 50,257 words?

# %%
V, D = 50_257, 768
entries = V * (V * D)

# %%
figures.prediction(
    "How many terabytes does this Jacobian take, at 4 bytes a number?",
    entries * 4 / 1e12,
    between=(1e-6, 1e6),
    is_logarithmic=True,
    unit="TB",
)

# %%
print(f"{entries:.2e} entries of 4 bytes: {entries * 4 / 1e12:,.0f} terabytes")
print(f"fraction that is not zero: {1 / V:.1e}")

# %% [markdown]
# The way out: we never need the Jacobian itself. We need its *product* with a row vector, the gradient that arrives
# from the side of the loss. This **vector-Jacobian product** (VJP) often has a formula that never builds the matrix.
# Write $\mathbf{g}$ for the gradient that arrives:
#
# | step | forwards | what comes back from $\mathbf{g}$ | instead of |
# |---|---|---|---|
# | softmax | $\hat{\mathbf{y}} = \text{softmax}(\mathbf{z})$ | $\hat{\mathbf{y}} \odot (\mathbf{g} - \mathbf{g} \cdot \hat{\mathbf{y}})$ | a $V \times V$ matrix |
# | linear, for its weights | $\mathbf{z} = \mathbf{W}\mathbf{x}$ | $\mathbf{g}\, \mathbf{x}^\top$ | $V \times VD$ |
# | linear, for its input | $\mathbf{z} = \mathbf{W}\mathbf{x}$ | $\mathbf{W}^\top \mathbf{g}$ | ($\mathbf{W}$ itself) |
# | tanh | $\mathbf{h} = \tanh(\mathbf{a})$ | $\mathbf{g} \odot (1 - \mathbf{h} \odot \mathbf{h})$ | a diagonal matrix |
#
# ($\odot$ multiplies entry by entry.)


# %%
def softmax_backward(g: Tensor, y_hat: Tensor) -> Tensor:
    return y_hat * (g - g @ y_hat)


def linear_backward(g: Tensor, W: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients for the weights and for the input."""
    return g.outer(x), W.T @ g


def tanh_backward(g: Tensor, h: Tensor) -> Tensor:
    return g * (1 - h * h)


# %%
g = torch.randn(3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
for_W, for_x = linear_backward(g, W, x)
assert torch.allclose(softmax_backward(g, y_hat), g @ dy_hat_dz)
assert torch.allclose(for_W.flatten(), g @ dz_dW)
assert torch.allclose(for_x, g @ jacobian_by_nudging(lambda x: W @ x, x))
assert torch.allclose(tanh_backward(g, z.tanh()), g @ jacobian_by_nudging(torch.tanh, z))
print("each equals g times its Jacobian")

# %% [markdown]
# Why do we multiply from the loss back to the weights? The same product may be bracketed in two ways. From the left,
# every intermediate result is one row. From the right, it is a matrix with a column for every weight.

# %%
from_the_left = 1 * 3 * 3 + 1 * 3 * 6  # (1×3)(3×3), then (1×3)(3×6)
from_the_right = 3 * 3 * 6 + 1 * 3 * 6  # (3×3)(3×6), then (1×3)(3×6)
print(f"multiplications: {from_the_left} backwards, {from_the_right} forwards")

# %% [markdown]
# With one loss and many weights, going backwards wins, by a factor that grows with the network. **Backpropagation** is
# the chain rule, applied from the loss towards the inputs, with vector-Jacobian products.
#
# ## An automatic differentiator
#
# Every computation consists of small steps with known derivatives. So let each number remember how it was made: from
# which numbers, and with which *local derivatives*. This record is called a **tape**. Going through it backwards needs
# no more calculus.


# %%
class Value:
    """A number that remembers what it was computed from, with the local derivative by each."""

    def __init__(self, number: float, edges: tuple = ()):
        self.number, self.edges, self.grad = number, edges, 0.0

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.number + other.number, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.number * other.number, ((self, other.number), (other, self.number)))

    __radd__, __rmul__ = __add__, __mul__

    def __repr__(self):
        return f"Value({self.number:.4f}, grad={self.grad:.4f})"


(Value(3.0) * 2.0).edges  # the derivative of a product by one factor is the other

# %% [markdown]
# A function of one number has one edge. The other operations are made of these:


# %%
def power(a: Value, n: float) -> Value:
    return Value(a.number**n, ((a, n * a.number ** (n - 1)),))


def exp(a: Value) -> Value:
    return Value(math.exp(a.number), ((a, math.exp(a.number)),))


def log(a: Value) -> Value:
    return Value(math.log(a.number), ((a, 1 / a.number),))


def tanh(a: Value) -> Value:
    return Value(math.tanh(a.number), ((a, 1 - math.tanh(a.number) ** 2),))


# %%
Value.__pow__, Value.exp, Value.log, Value.tanh = power, exp, log, tanh
Value.__neg__ = lambda a: a * -1
Value.__sub__ = lambda a, b: a + -b
Value.__truediv__ = lambda a, b: a * b**-1
a = Value(0.5)
a.exp() / a, -a.tanh()

# %% [markdown]
# In the backward pass, a node may pass its gradient on only when everything that uses the node has sent its part. A
# topological order, traversed in reverse, guarantees this.


# %%
def in_order(value: Value) -> list[Value]:
    """Every node that the value depends on, each after those it was made from."""
    order, visited = [], set()

    def visit(node: Value) -> None:
        if id(node) not in visited:
            visited.add(id(node))
            for source, _ in node.edges:
                visit(source)
            order.append(node)

    visit(value)
    return order


def backward(loss: Value) -> None:
    """Add ∂loss/∂leaf to the grad of every leaf, a value that was made from nothing."""
    arrived = {id(loss): 1.0}  # ∂loss/∂loss
    for node in reversed(in_order(loss)):
        upstream = arrived.get(id(node), 0.0)
        if not node.edges:
            node.grad += upstream
        for source, local in node.edges:
            arrived[id(source)] = arrived.get(id(source), 0.0) + local * upstream


# %% [markdown]
# That is the whole differentiator. Here is the network from above, number by number:

# %%
x1, x2 = x.tolist()
weights = [[Value(w) for w in row] for row in W.tolist()]
exponentials = [(w1 * x1 + w2 * x2).exp() for w1, w2 in weights]
value_loss = -(exponentials[2] / sum(exponentials)).log()
backward(value_loss)
gradients = torch.tensor([[w.grad for w in row] for row in weights], dtype=torch.float64)
assert torch.allclose(gradients, by_formula)
print(f"{len(in_order(value_loss))} nodes, loss {value_loss.number:.4f}, gradients (y_hat − y) xᵀ")

# %% [markdown]
# Step through such a tape, forwards and backwards. Two inputs and two words, to fit on the page: $z_1 = w_1 x_1$ and $z_2 = w_2 x_2$; the first word came. At the end compare the
# gradients of the logits with $\hat{\mathbf{y}} - \mathbf{y}$, here `p1 − 1` and `p2 − 0`. The exponentials are used twice each: watch their gradients arrive in two parts (one part of `e2`'s is zero, since $L$ does not depend on `p2`). The figure draws any graph: replace the dictionary by your own.

# %%
graph = {
    "x1": 1.5,
    "x2": -0.5,
    "w1": 0.4,
    "w2": 0.9,
    "z1": ("mul", "w1", "x1"),
    "z2": ("mul", "w2", "x2"),
    "e1": ("exp", "z1"),
    "e2": ("exp", "z2"),
    "s": ("add", "e1", "e2"),
    "p1": ("div", "e1", "s"),
    "p2": ("div", "e2", "s"),
    "L": ("nlog", "p1"),
}
figures.tape(graph, twice=("w2", "w1"), claims={"z1": ("p1", 1), "z2": ("p2", 0)})

# %% [markdown]
# The switches are the two classic mistakes. **Used twice:** a value that is used in two places gets a gradient from
# each, and they *add*. With `=` instead of `+=` the last one wins, and everything before it is lost. **zero_grad:** a
# leaf keeps its gradient until it is set to zero, so that several batches can be added up. If you forget to reset it,
# each step follows the sum of all gradients since the beginning. Torch behaves in the same way:

# %%
w = Value(3.0)
backward(w * w)  # w is used twice: the derivative of w² is 2w = 6
once = w.grad
backward(w * w)  # no reset in between
torch_w = torch.tensor(3.0, requires_grad=True)
for _ in range(2):
    (torch_w * torch_w).backward()
print(f"after one pass {once}, after two without a reset {w.grad}, torch {torch_w.grad.item()}")
assert (once, w.grad) == (6.0, 12.0) == (6.0, torch_w.grad.item())

# %% [markdown]
# ## One number, many ways to the loss
#
# Some layers use every number of a row for every output. Subtract the mean from a row of $D$ numbers:
#
# $$y_i = x_i - m, \qquad m = \frac1D \sum_j x_j$$
#
# $x_j$ goes straight to $y_j$, and $g_j$ comes back. It also goes through $m$ to *all* $y_i$, and from each comes
# $-g_i / D$. Together, they subtract $\bar g$, the mean of $\mathbf g$, from every $g_j$. Now divide a row by its size:
#
# $$y_i = \frac{x_i}{s}, \qquad s = \sqrt{\frac1D \sum_j x_j^2}, \qquad
# \frac{\partial y_i}{\partial s} = -\frac{y_i}{s}, \qquad \frac{\partial s}{\partial x_j} = \frac{x_j}{D s} = \frac{y_j}{D}$$
#
# The direct path gives $g_j / s$. The path through $s$ gives $-\frac{y_j}{s} \cdot \frac1D \sum_i g_i y_i$, which again contains a mean over the row.
#
# **Predict, then run.** What is the sum of the first gradient? And the second gradient times $\mathbf y$, added up?


# %%
def centred_backward(g: Tensor) -> Tensor:
    return g - g.mean()


def scaled_backward(g: Tensor, y: Tensor, s: Tensor) -> Tensor:
    return (g - y * (g * y).mean()) / s


row, arriving = torch.randn(2, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
size = row.square().mean().sqrt()
to_centred, to_scaled = centred_backward(arriving), scaled_backward(arriving, row / size, size)
assert torch.allclose(to_centred, arriving @ jacobian_by_nudging(lambda x: x - x.mean(), row))
assert torch.allclose(to_scaled, arriving @ jacobian_by_nudging(lambda x: x / x.square().mean().sqrt(), row))
print(f"{to_centred.sum().abs():.6f} and {(to_scaled * row / size).sum().abs():.6f}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# Both are zero. Raising a whole row changes nothing once the mean is subtracted, and stretching it changes nothing once
# it is divided by its size, so no gradient points that way.
#
# </details>
#
# A *layer norm* (lecture 14) applies the two steps one after
# the other, then a gain and a bias for each number. Homework 2 asks for its backward pass, as a bonus, in which both
# means occur.

# %% [markdown]
# ## The whole model of lecture 05, by hand
#
# Now we use tensors, for a batch of $B$ windows. The forward pass computes $\mathbf{e}$, $\mathbf{a} =
# \mathbf{W}\mathbf{e}$, $\mathbf{h} = \tanh(\mathbf{a})$, $\mathbf{z} = \mathbf{U}\mathbf{h}$ and $L$. The loss is the
# mean over the batch, which puts $1/B$ into the first line of the backward pass. Write $d\mathbf{v}$ for $\partial L /
# \partial \mathbf{v}$, one row for each example:
#
# | forwards | backwards | shape |
# |---|---|---|
# | $L = \text{mean}(-\log \hat y_{\text{target}})$ | $d\mathbf{z} = (\hat{\mathbf{y}} - \mathbf{y}) / B$ | (B, V) |
# | $\mathbf{z} = \mathbf{U}\mathbf{h}$ | $d\mathbf{U} = d\mathbf{z}^\top \mathbf{h}$, $\quad d\mathbf{h} = d\mathbf{z}\, \mathbf{U}$ | (V, D), (B, D) |
# | $\mathbf{h} = \tanh(\mathbf{a})$ | $d\mathbf{a} = d\mathbf{h} \odot (1 - \mathbf{h} \odot \mathbf{h})$ | (B, D) |
# | $\mathbf{a} = \mathbf{W}\mathbf{e}$ | $d\mathbf{W} = d\mathbf{a}^\top \mathbf{e}$, $\quad d\mathbf{e} = d\mathbf{a}\, \mathbf{W}$ | (D, Nd), (B, Nd) |
# | $\mathbf{e} = [\mathbf{E}\mathbf{x}; \mathbf{E}\mathbf{x}; \mathbf{E}\mathbf{x}]$ | each piece of $d\mathbf{e}$ is **added** to its word's column of $d\mathbf{E}$ | (d, V) |
#
# Here is the forward pass once more. Read it from the top down: $d\mathbf{z}$ belongs to the box $z$, $d\mathbf{h}$ to $h$, $d\mathbf{e}$ to $e$. The dashed lines are not in the table.

# %%
figures.machine("feedforward")

# %% [markdown]
# **A question:** with the direct connections of the paper (lecture 05: a matrix from $\mathbf{e}$ straight to the logits), along how many paths does a gradient come back to the embeddings, and what happens where they meet?
#
# <details><summary>Answer</summary>
#
# Along two: through $\mathbf{U}$, the $\tanh$ and $\mathbf{W}$, and past the hidden layer through the direct matrix. They meet at $\mathbf{e}$, where the two gradients are added. Only then is the sum cut into pieces, one for each word of the window.
#
# </details>


# %%
def forward(windows, E, W, U):
    """What the backward pass needs: e (B, N·d), h (B, D), z (B, V)."""
    e = E.T[windows].flatten(1)
    h = torch.tanh(e @ W.T)
    return e, h, h @ U.T


def gradients_by_hand(windows, targets, E, W, U):
    """(dE, dW, dU) of the mean cross-entropy of windows (B, N) and targets (B,)."""
    e, h, z = forward(windows, E, W, U)
    dz = (z.softmax(-1) - F.one_hot(targets, z.shape[-1])) / len(targets)  # (B, V)
    dU, dh = dz.T @ h, dz @ U
    da = dh * (1 - h * h)  # (B, D)
    dW, de = da.T @ e, da @ W
    pieces = de.unflatten(1, (windows.shape[1], -1)).flatten(0, 1)  # (B·N, d)
    dE = torch.zeros_like(E.T).index_add(0, windows.flatten(), pieces).T
    return dE, dW, dU


# %%
generator = torch.Generator().manual_seed(0)


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


V, d, N, D, B = 7, 2, 3, 4, 5
theta = [random(d, V), random(D, N * d), random(V, D)]
windows = torch.tensor([[0, 1, 2], [1, 1, 1], [3, 1, 0], [6, 2, 1], [4, 4, 2]])  # (B, N)
targets = torch.tensor([3, 0, 6, 6, 1])  # (B,)

# %% [markdown]
# The words repeat on purpose: word 1 stands in four windows, and in one of them three times.

# %%
leaves = [parameter.clone().requires_grad_() for parameter in theta]
F.cross_entropy(forward(windows, *leaves)[2], targets).backward()
by_hand = gradients_by_hand(windows, targets, *theta)
for name, ours, leaf in zip("EWU", by_hand, leaves, strict=True):
    assert torch.allclose(ours, leaf.grad)
    print(f"d{name} {tuple(ours.shape)} equals torch's")

# %% [markdown]
# ## Checking a gradient
#
# Where there is no autograd to compare with, use finite differences. Two choices decide whether the check is worth
# anything: the size of the step, and the arithmetic.
#
# $$\frac{\partial L}{\partial \theta_k} \approx \frac{L(\theta_k + \varepsilon) - L(\theta_k)}{\varepsilon} \;\text{(one-sided)} \qquad \frac{\partial L}{\partial \theta_k} \approx \frac{L(\theta_k + \varepsilon) - L(\theta_k - \varepsilon)}{2 \varepsilon} \;\text{(central)}$$
#
# Here $\theta_k$ is one number among all parameters; the others stay as they are.
#
# **Predict, then run.** Does the approximation keep improving as $\varepsilon$ shrinks? What will happen at $\varepsilon = 10^{-12}$?


# %%
def nudged_gradient(theta, step: float, dtype: torch.dtype, central: bool) -> Tensor:
    """The gradient for U (V, D), entry by entry, in the arithmetic of dtype."""
    E, W, U = (parameter.to(dtype) for parameter in theta)

    def loss(U):
        return F.cross_entropy(forward(windows, E, W, U)[2], targets)

    found = torch.zeros_like(U)
    for place in range(U.numel()):
        nudge = torch.zeros_like(U)
        nudge.view(-1)[place] = step
        below = loss(U - nudge) if central else loss(U)
        found.view(-1)[place] = (loss(U + nudge) - below) / (2 * step if central else step)
    return found.double()


def relative_error(a: Tensor, b: Tensor) -> float:
    return ((a - b).norm() / (a.norm() + b.norm())).item()


# %% tags="nbval-ignore-output"
exact = gradients_by_hand(windows, targets, *theta)[2]
steps = [10.0**-k for k in range(1, 13)]
kinds = {
    "one-sided, float32": (torch.float32, False),
    "central, float32": (torch.float32, True),
    "one-sided, float64": (torch.float64, False),
    "central, float64": (torch.float64, True),
}
errors = {
    name: [relative_error(nudged_gradient(theta, step, *kind), exact) for step in steps]
    for name, kind in kinds.items()
}
best = {name: min(zip(values, steps, strict=True)) for name, values in errors.items()}

# %% tags="nbval-ignore-output"
in_float64 = dict(zip(steps, errors["central, float64"], strict=True))
options = {f"ε = {step:.0e}": in_float64[step] for step in (1e-2, 1e-5, 1e-12)}
figures.prediction("With central differences in float64, which step is best?", options, is_least=True)

# %% tags="nbval-ignore-output"
for name, (error, step) in best.items():
    print(f"{name:19} best error {error:.0e} at step {step:.0e}")

# %% tags="nbval-ignore-output"
drawing, axes = plt.subplots(figsize=(6, 3))
looks = [("#E69F00", "s--"), ("#D55E00", "s-"), ("#009E73", "o--"), ("#0072B2", "o-")]
for (name, values), (colour, look) in zip(errors.items(), looks, strict=True):
    axes.loglog(steps, values, look, color=colour, markersize=4, label=name)
axes.set(xlabel="step ε", ylabel="relative error", ylim=(1e-12, 3))
axes.legend(frameon=False, fontsize=9, loc="lower left")
figures.still(
    drawing,
    alt="Relative error of nudged gradients against the step; each curve falls and rises again. Best: "
    + ", ".join(f"{name} {error:.0e} at {step:.0e}" for name, (error, step) in best.items())
    + ".",
    caption="On the right the step is too coarse; on the left two nearly equal losses differ by rounding.",
)

# %% [markdown]
# Every curve has a valley. To its right the step is too coarse. One-sided differences miss the curvature, an error
# proportional to $\varepsilon$; in central ones the curvature cancels, and the error is proportional to
# $\varepsilon^2$. To its left the two losses agree in so many digits that their difference is mostly rounding noise,
# which is then divided by an ever smaller step. In `float32` even the best step leaves few correct digits, so a wrong
# gradient can pass. **Use `float64`, central differences, and a step near $10^{-5}$ or $10^{-6}$**; then a correct
# gradient agrees to eight digits or more, and a wrong one does not. Here is $d\mathbf{U}$, first correct and then with
# three common mistakes:

# %% tags="nbval-ignore-output"
e, h, z = forward(windows, *theta)
dz = (z.softmax(-1) - F.one_hot(targets, V)) / B
suspects = {
    "right": dz.T @ h,
    "1/B forgotten": dz.T @ h * B,
    "wrong sign": -dz.T @ h,
    "a in the place of h": dz.T @ (e @ theta[1].T),
}
reference = nudged_gradient(theta, 1e-5, torch.float64, central=True)
errors = {name: relative_error(suspect, reference) for name, suspect in suspects.items()}
for name, error in errors.items():
    print(f"dU, {name:19}: relative error {error:.0e}")
    assert error < 1e-8 if name == "right" else error > 1e-2

# %% [markdown]
# There are two more traps. A central difference at a *kink*, such as that of $\max(0, a)$ at $a = 0$, averages two
# different slopes. And if the forward pass draws random numbers, the two losses belong to different functions, so give
# both the same seed.

# %%
kink = torch.zeros(1, dtype=torch.float64, requires_grad=True)
kink.relu().sum().backward()
nudged = jacobian_by_nudging(torch.relu, kink.detach()).item()
print(f"slope of max(0, a) at a = 0: {nudged} by a central difference, {kink.grad.item()} by torch")

# %% [markdown]
# ## The ladder
#
# There is no new model today, but a rung earned by hand. The window model of lecture 05 is trained on fewer stories, with nothing but the lines of `gradients_by_hand` and $\theta \leftarrow \theta - \eta\, d\theta$. For comparison, the same training is run with torch's gradients.

# %%
from course.data.story_language import StoryLanguage

language = StoryLanguage()
train_stories = language.sample(1500, torch.Generator().manual_seed(1))
test_stories = language.sample(200, torch.Generator().manual_seed(2))
bos, V = language.vocabulary.bos, language.vocab_size


def examples(stories) -> tuple[Tensor, Tensor]:
    """All windows of N = 3 words of the stories, (windows, N), and the words that came, (windows,)."""
    padded = F.pad(stories.tokens[:, :-1], (2, 0), value=bos).unfold(1, 3, 1)  # (B, T, N)
    is_real = stories.mask[:, 1:]
    return padded[is_real], stories.tokens[:, 1:][is_real]


windows, targets = examples(train_stories)
test_windows, test_targets = examples(test_stories)
windows.shape, test_windows.shape


# %%
def autograd_gradients(windows, targets, *theta):
    leaves = [parameter.detach().requires_grad_() for parameter in theta]
    loss = F.cross_entropy(forward(windows, *leaves)[2], targets)
    return torch.autograd.grad(loss, leaves)


def train_with(gradients, n_steps: int, batch_size: int = 256, eta: float = 1.0) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    starts = (((16, V), 0.1), ((64, 48), 48**-0.5), ((V, 64), 0.03))  # shape and size of E, W, U
    theta = [torch.randn(*shape, generator=generator) * size for shape, size in starts]
    for _ in range(n_steps):
        chosen = torch.randint(len(windows), (batch_size,), generator=generator)
        steps = gradients(windows[chosen], targets[chosen], *theta)
        theta = [p - eta * step for p, step in zip(theta, steps, strict=True)]
    return theta


# %%
def bits(theta) -> float:
    logits = forward(test_windows, *theta)[2]
    return F.cross_entropy(logits, test_targets).item() / math.log(2)


by_hand = bits(train_with(gradients_by_hand, n_steps=1500))
by_torch = bits(train_with(autograd_gradients, n_steps=1500))
print(f"by hand {by_hand:.2f}, by torch {by_torch:.2f} bits per token")
assert abs(by_hand - by_torch) < 0.01

# %%
figures.rungs("feed-forward", live={"feed-forward": by_hand})

# %% [markdown]
# The diamond is this page's model, with a window of three words and plain steps of gradient descent. The rung under its name has four words, a wider hidden layer, and Adam.
#
# ## The same in the library
#
# `course.models` writes its loss from the logits, stable for large ones, and has biases in both layers. Our backward
# pass must give the gradients that autograd finds in the library's model with random weights.
#
# **A question, which homework 2 answers:** the table above has no row for a bias. $\mathbf b$ has $D$ numbers and
# $d\mathbf a$ has $B$ rows of $D$: along how many paths does one number of $\mathbf b$ reach the loss, and what is its
# gradient? The cells below leave the gradients of the biases to you.

# %%
from course.models import FeedForwardConfig, FeedForwardLanguageModel
from course.models.cross_entropy import cross_entropy

torch.manual_seed(0)
config = FeedForwardConfig(7, n_window=3, d_embedding=2, d_hidden=4)
library = FeedForwardLanguageModel(config).double()
tokens = torch.tensor([[1, 5, 2, 2], [6, 0, 3, 1]])  # (B, T)
targets = torch.tensor([[5, 2, 2, 4], [0, 3, 1, 1]])
cross_entropy(library.logits(tokens), targets).backward()

# %%
E, W, U = library.embedding.weight.T, library.hidden.weight, library.output.weight
with torch.no_grad():
    windows = F.pad(tokens, (2, 0)).unfold(1, 3, 1).flatten(0, 1)  # (B·T, N)
    e = E.T[windows].flatten(1)
    h = torch.tanh(e @ W.T + library.hidden.bias)
    z = h @ U.T + library.output.bias
    dz = (z.softmax(-1) - F.one_hot(targets.flatten(), 7)) / targets.numel()
    da = dz @ U * (1 - h * h)
    pieces = (da @ W).view(-1, 2)
    dE = torch.zeros(7, 2, dtype=torch.float64).index_add(0, windows.flatten(), pieces)
by_hand = {"embedding.weight": dE, "hidden.weight": da.T @ e, "output.weight": dz.T @ h}
gradients = {name: parameter.grad for name, parameter in library.named_parameters()}
for name, gradient in by_hand.items():
    assert torch.allclose(gradient, gradients.pop(name))
print("three gradients by hand, equal to those of the library's model; left over:", *gradients)

# %% [markdown]
# ## Recap
#
# - The gradient is a product of Jacobians along the graph; for softmax and cross-entropy it shrinks to $\hat{\mathbf{y}} - \mathbf{y}$, and for the weights to $(\hat{\mathbf{y}} - \mathbf{y})\mathbf{x}^\top$.
# - Nobody builds the Jacobians: each step knows how to turn what arrives into what it passes on.
# - The product is computed backwards, because there is one loss and there are many weights.
# - A value used twice adds up both gradients; gradients kept between steps must be reset.
# - Check gradients with `float64`, central differences and a step near $10^{-5}$.
#
# **In the homework:** [hw2 · Backpropagation](../homeworks/hw2_backprop/hw2_backprop.ipynb): a scalar differentiator,
# the softmax VJP, the backward pass through every layer, and a gradient check; each step of yours is compared with
# autograd, and the first wrong line is named.
#
# ## Exercises
#
# **1.** $\hat{\mathbf{y}} = (0.7, 0.2, 0.1)$, and the third word came. What is $\partial L / \partial \mathbf{z}$? Why do its numbers add up to zero?
#
# <details><summary>Answer</summary>
#
# $(0.7, 0.2, -0.9)$. Both $\hat{\mathbf{y}}$ and $\mathbf{y}$ add up to one. (Adding the same number to all logits changes nothing.)
#
# </details>
#
# **2.** $L = a \cdot a + a$ at $a = 3$. How many contributions arrive at $a$ in the backward pass, and what is their sum?
#
# <details><summary>Answer</summary>
#
# Three: 3 from each side of the product, and 1 from the sum. Together they make $7 = 2a + 1$.
#
# </details>
#
# **3.** How many forward passes does a central difference need for the gradient of a model with a million weights? And backpropagation?
#
# <details><summary>Answer</summary>
#
# Two million. Backpropagation needs one forward pass and one backward pass, which costs about twice as much as the forward pass. Finite differences are for checking a few numbers.
#
# </details>
#
# **4.** *(long)* In practice softmax and logarithm are one step, $\mathbf{s} = \mathbf{z} - \log \sum_k e^{z_k}$. Derive its vector-Jacobian product, and check it with autograd in `float64`.
#
# <details><summary>Answer</summary>
#
# $\partial s_i / \partial z_j = [i = j] - \hat y_j$, so from $\mathbf{g}$ comes back $\mathbf{g} - \hat{\mathbf{y}} \sum_i g_i$. With $\mathbf{g} = -\mathbf{y}$ that is $\hat{\mathbf{y}} - \mathbf{y}$ again, without a division by $\hat y$.
#
# ```python
# import torch
#
#
# def log_softmax_backward(g: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
#     return g - z.softmax(0) * g.sum()
#
#
# generator = torch.Generator().manual_seed(0)
# z, g = (torch.randn(7, generator=generator, dtype=torch.float64) for _ in range(2))
# asked = z.clone().requires_grad_()
# asked.log_softmax(0).backward(g)
# assert torch.allclose(log_softmax_backward(g, z), asked.grad)
# y = torch.eye(7, dtype=torch.float64)[2]
# assert torch.allclose(log_softmax_backward(-y, z), z.softmax(0) - y)
# ```
#
# </details>
#
# ## Further reading
#
# - David E. Rumelhart, Geoffrey E. Hinton and Ronald J. Williams, ["Learning Representations by Back-propagating Errors"](https://doi.org/10.1038/323533a0), *Nature* 323 (1986), 533–536.
# - Atılım Güneş Baydin, Barak A. Pearlmutter, Alexey Andreyevich Radul and Jeffrey Mark Siskind, ["Automatic Differentiation in Machine Learning: a Survey"](https://www.jmlr.org/papers/v18/17-468.html), *Journal of Machine Learning Research* 18 (2018), 1–43.
# - Adam Paszke et al., ["PyTorch: An Imperative Style, High-Performance Deep Learning Library"](https://arxiv.org/abs/1912.01703), NeurIPS 2019.
# - Ian Goodfellow, Yoshua Bengio and Aaron Courville, [*Deep Learning*](https://www.deeplearningbook.org), MIT Press, 2016, section 6.5.
# - Seppo Linnainmaa, ["Taylor Expansion of the Accumulated Rounding Error"](https://doi.org/10.1007/BF01931367), *BIT* 16 (1976), 146–160: the backward pass, before anyone trained a network with it.
# - Andrej Karpathy, [micrograd](https://github.com/karpathy/micrograd): a scalar tape in a hundred lines, from which the class of this lecture descends.
# - Christopher Olah, ["Calculus on Computational Graphs: Backpropagation"](https://colah.github.io/posts/2015-08-Backprop/), 2015.
