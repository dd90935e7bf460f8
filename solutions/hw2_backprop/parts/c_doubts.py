# %% [markdown]
# ## Part C. Doubting a gradient


# %% provided="losses_to_differentiate"
def cubic(x, generator):
    """The sum of the cubes."""
    return (x**3).sum()


def with_dropout(x, generator):
    """The sum, and twice the squares of the numbers that a dropout, drawn anew at every call, leaves."""
    kept = torch.rand(x.shape, generator=generator, dtype=torch.float64) < 0.5
    return (2 * kept * x**2 + x).sum()


def neighbours(x, generator):
    """The sum of the products of neighbours, in reading order."""
    flat = x.flatten()
    return (flat[1:] * flat[:-1]).sum()


LOSSES = {"cubic": cubic, "with_dropout": with_dropout, "neighbours": neighbours}


# %% [markdown] exercise="numerical_gradient" difficulty=2 minutes=25 forbids=".backward,torch.autograd,torch.func,torch.ops" dtype="float64"
# ### 18. A gradient from differences
#
# Once you have derived a gradient by hand, you want a check that does not rely on the same rules. Move one
# number of the input a little up and a little down, and see what the loss does:
#
# $$\frac{\partial L}{\partial x_i} \approx
# \frac{L(x + \epsilon \, \mathbf 1_i) - L(x - \epsilon \, \mathbf 1_i)}{2 \epsilon}$$
#
# with $\mathbf 1_i$ the vector that is 1 at place $i$ and 0 elsewhere.
#
# Write `numerical_gradient(loss_name, x, seed)`, which returns this with $\epsilon = 10^{-5}$ for **all**
# entries of `x`, in float64 and in the shape of `x`. The loss is `LOSSES[loss_name](x, generator)`, defined
# in the cell above. Some losses draw random numbers from the generator, and the difference of two draws is
# no derivative: let every call see the same draw, that of `torch.Generator().manual_seed(seed)`. `x` may
# come in float32, whose seven digits are too few for a difference of $10^{-5}$: compute in float64. Leave
# `x` as it is.
#
# **Example.** The loss `"cubic"` is $\sum_i x_i^3$. At `x = [1, 2]` the gradient is `[3, 12]`.
#
# <details><summary>Hint 1</summary>
#
# What should the generator's state be when each of the two losses is computed?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Make a float64 copy of `x` for every call, and change one entry of the copy. `x.flatten()` has one axis to
# walk along.
#
# </details>


# %% solution="numerical_gradient"
def numerical_gradient(loss_name: str, x: Tensor, seed: int) -> Tensor:
    """The central differences of a loss at x, in the shape of x and in float64."""
    ### BEGIN SOLUTION
    step = 1e-5

    def loss_at(index, distance):
        moved = x.double().flatten().clone()
        moved[index] += distance
        return LOSSES[loss_name](moved.reshape(x.shape), torch.Generator().manual_seed(seed)).item()

    slopes = [(loss_at(i, step) - loss_at(i, -step)) / (2 * step) for i in range(x.numel())]
    return torch.tensor(slopes, dtype=torch.float64).reshape(x.shape)
    ### END SOLUTION


# %% check="the_cubic_example_has_slopes_3_and_12" points=1
def the_cubic_example_has_slopes_3_and_12(numerical_gradient):
    """The sum of the cubes has at (1, 2) the gradient (3, 12), at 0.01 the slope 0.0003, to five digits, and at 0 the central difference ε²."""
    near_zero = numerical_gradient("cubic", torch.tensor([0.01]).double(), 0)
    at_zero = numerical_gradient("cubic", torch.tensor([0.0]).double(), 0)
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    assert_close(numerical_gradient("cubic", x, 0), torch.tensor([3.0, 12.0], dtype=torch.float64))
    assert_close(1e4 * near_zero, torch.tensor([3.0]).double(), tolerance=1e-5, what="10,000 times the slope")
    assert_close(
        1e10 * at_zero, torch.tensor([1.0]).double(), tolerance=1e-5, what="the difference at 0, times 10¹⁰"
    )


# %% check="float32_numbers_are_differentiated_in_float64" points=1
def float32_numbers_are_differentiated_in_float64(numerical_gradient):
    """For x in float32 the gradient is in float64 and has as many right digits."""
    answer = numerical_gradient("cubic", torch.tensor([1.5, 0.0625]), 0)
    assert_close(answer, torch.tensor([6.75, 0.01171875], dtype=torch.float64), tolerance=1e-6)
    assert_dtype(answer, torch.float64)


# %% check="both_sides_see_the_same_dropout" points=1
def both_sides_see_the_same_dropout(numerical_gradient, draw):
    """With dropout, each slope is 1 where the number was dropped and 1 + 4x where it was kept."""
    x, seed = 3 + draw.uniform(1, 8), 11
    kept = torch.rand((1, 8), generator=torch.Generator().manual_seed(seed), dtype=torch.float64) < 0.5
    assert_close(numerical_gradient("with_dropout", x, seed), 1 + 4 * kept * x, tolerance=1e-5)


# %% check="every_entry_has_its_slope" points=1
def every_entry_has_its_slope(numerical_gradient, draw):
    """For the products of neighbours, all near a thousandth, the slope of each number is the sum of its neighbours."""
    x = (1 + draw.uniform(2, 3)) / 1000
    padded = torch.cat([torch.zeros(1), x.flatten(), torch.zeros(1)])
    assert_close(
        1000 * numerical_gradient("neighbours", x, 0),
        1000 * (padded[2:] + padded[:-2]).reshape(2, 3),
        tolerance=1e-6,
        what="1,000 times the slopes",
    )


# %% check="other_losses_agree_with_autograd" points=2 hidden
def other_losses_agree_with_autograd(numerical_gradient, draw):
    """For other inputs, each loss has the gradient that autograd finds."""
    for name, shape in (("cubic", (3, 2)), ("with_dropout", (4, 5)), ("neighbours", (7,))):
        for dtype in (torch.float64, torch.float32):
            x, seed = (2 + draw.uniform(*shape)).to(dtype), draw.integers(0, 1000)
            exact = x.double().clone().requires_grad_()  # not the x that is handed over
            LOSSES[name](exact, torch.Generator().manual_seed(seed)).backward()
            assert_close(numerical_gradient(name, x, seed), exact.grad, tolerance=2e-6, what=name)


# %% [markdown] exercise="wrong_entries" bonus difficulty=2 minutes=15
# ### 19. Which entries are wrong? (bonus)
#
# You are given three tensors of one shape: the slopes to the right $(L(x + \epsilon) - L(x)) / \epsilon$,
# the slopes to the left $(L(x) - L(x - \epsilon)) / \epsilon$, and the gradient that a program claims.
#
# - Where the two slopes differ by more than 1 % of the larger of their absolute values, `x` lies at a
#   **kink**, such as the 0 of relu. There is no derivative, and nobody is to blame.
# - Elsewhere the mean $m$ of the two slopes is compared with the claim $c$: the entry is **wrong** if
#   $|m - c| > 10^{-4} \max(|m|, |c|)$. The bound is relative, since the gradients of a good model may all be
#   small.
#
# Write `wrong_entries(right, left, claimed)`, which returns a tensor of True (wrong) and False in the same
# shape.
#
# **Example.** `right = [2, 1, 0.001]`, `left = [2, 0, 0.001]`, `claimed = [2, 0, 0.002]` give
# `[False, False, True]`: right, a kink, and wrong by a factor of 2.
#
# <details><summary>Hint 1</summary>
#
# Make two tensors of True and False, one for each rule, and combine them with `&` and `~`. `torch.maximum`
# works entry by entry.
#
# </details>


# %% solution="wrong_entries"
def wrong_entries(right: Tensor, left: Tensor, claimed: Tensor) -> Tensor:
    """Where the claimed gradient is wrong; kinks, where the slopes of both sides differ, are not judged."""
    ### BEGIN SOLUTION
    mean = (right + left) / 2
    is_kink = (right - left).abs() > 0.01 * torch.maximum(right.abs(), left.abs())
    differs = (mean - claimed).abs() > 1e-4 * torch.maximum(mean.abs(), claimed.abs())
    return differs & ~is_kink
    ### END SOLUTION


# %% check="the_third_entry_of_the_example_is_wrong" points=1
def the_third_entry_of_the_example_is_wrong(wrong_entries):
    """Of the three entries of the example only the third is wrong."""
    right, left, claimed = [2.0, 1.0, 0.001], [2.0, 0.0, 0.001], [2.0, 0.0, 0.002]
    answer = wrong_entries(*(torch.tensor(row, dtype=torch.float64) for row in (right, left, claimed)))
    assert_equal(answer, torch.tensor([False, False, True]))


# %% check="small_gradients_are_judged_as_strictly" points=1
def small_gradients_are_judged_as_strictly(wrong_entries, draw):
    """Gradients a trillion times smaller, with slopes and claims alike, get the same verdicts."""
    slopes = (1 + draw.uniform(6)) * torch.tensor([1.0, -1.0, -1.0, 1.0, -1.0, 1.0], dtype=torch.float64)
    claimed = slopes * torch.tensor([1.0, 1.001, 1.0, -1.0, 0.99, 1.0], dtype=torch.float64)
    expected = torch.tensor([False, True, False, True, True, False])
    assert_equal(wrong_entries(slopes, slopes, claimed), expected, what="as they are")
    assert_equal(
        wrong_entries(slopes / 1e12, slopes / 1e12, claimed / 1e12), expected, what="a trillion times smaller"
    )


# %% check="a_kink_is_nobodys_fault" points=1
def a_kink_is_nobodys_fault(wrong_entries, draw):
    """Where the slopes differ, any claim passes; a wrong claim beside it does not, and the mean of two does."""
    slope = draw.number(1, 2)
    right = torch.tensor([[slope, slope, -slope, 1.004 * slope, -slope]], dtype=torch.float64)
    left = torch.tensor([[0.0, slope, slope, 0.996 * slope, slope]], dtype=torch.float64)
    claimed = torch.tensor([[slope, 0.0, 0.0, slope, slope]], dtype=torch.float64)
    answer = wrong_entries(right, left, claimed)
    assert_equal(answer, torch.tensor([[False, True, False, False, False]]))


# %% check="the_bounds_stand_where_they_are_stated" points=1
def the_bounds_stand_where_they_are_stated(wrong_entries):
    """Slopes 0.998 % of the larger one apart are no kink, 1.01 % are one; claims 0.009 % off are right, 0.011 % not."""
    cases = [  # right, left, claimed, wrong?
        (1.0, 0.995, 5.0, True),
        (1.0, 0.99005, 5.0, True),
        (1.0, 0.99002, 5.0, True),
        (0.99002, 1.0, 5.0, True),
        (1.0, 0.9899, 5.0, False),
        (0.9899, 1.0, 5.0, False),
        (-1.0, -0.99002, 5.0, True),
        (-1.0, -0.9899, 5.0, False),
        (1.0, 1.0, 1.00009, False),
        (1.0, 1.0, 0.99991, False),
        (1.0, 1.0, 1.00011, True),
        (1.0, 1.0, 0.99989, True),
        (1.0, 1.0, 1.000100005, False),  # more than 0.01 % of m, less of c
        (1.0, 1.0, 0.999900005, False),  # more than 0.01 % of c, less of m
        (-1.0, -1.0, -1.000100005, False),  # the same two below zero
        (-1.0, -1.0, -0.999900005, False),
        (1.0049, 0.9951, 1.0001003, True),  # more than 0.01 % of m and of c, less of the slope to the right
    ]
    right, left, claimed = (
        torch.tensor(row, dtype=torch.float64) for row in list(zip(*cases, strict=True))[:3]
    )
    scales = (1.0, 1000.0, 0.001)
    answers = [wrong_entries(scale * right, scale * left, scale * claimed) for scale in scales]
    for scale, answer in zip(scales, answers, strict=True):
        assert_equal(answer, torch.tensor([case[3] for case in cases]), what=f"{scale:g} times the slopes")


# %% check="a_unit_that_is_off_has_the_slope_0" points=1
def a_unit_that_is_off_has_the_slope_0(wrong_entries):
    """Where both slopes are 0, there is no kink: the claim 0 is right, and any other is wrong."""
    zeros = torch.zeros(3, dtype=torch.float64)
    answer = wrong_entries(zeros, zeros, torch.tensor([0.0, 5.0, -1e-9], dtype=torch.float64))
    assert_equal(answer, torch.tensor([False, True, True]))


# %% check="other_gradients_are_judged_by_both_rules" points=1 hidden
def other_gradients_are_judged_by_both_rules(wrong_entries, draw):
    """Other gradients, large and small, smooth and at kinks, get their verdicts."""
    for scale in (1e-7, 1.0, 1e4):
        right = scale * (1 + draw.uniform(4, 3))
        left, claimed, expected = right.clone(), right.clone(), torch.zeros(4, 3, dtype=torch.bool)
        left[1, 2], left[2, 0] = 0.0, -right[2, 0]
        claimed[0, 1], claimed[1, 2], claimed[3, 0], claimed[3, 2] = (
            0.0,
            0.0,
            1.003 * right[3, 0],
            -right[3, 2],
        )
        expected[0, 1] = expected[3, 0] = expected[3, 2] = True
        assert_equal(wrong_entries(right, left, claimed), expected)


# %% provided="lines_by_autograd" helper
LINES = ("e", "a", "h", "z", "y_hat", "L", "dz", "dU", "dc", "dh", "da", "dW", "db", "de", "dE")


def lines_by_autograd(E, W, b, U, c, windows, targets):
    """All fifteen lines of the next exercise, the gradients by autograd."""
    E, W, b, U, c = (weight.clone().requires_grad_() for weight in (E, W, b, U, c))
    e = torch.cat([E[:, column] for column in windows.unbind(dim=1)]).T
    a = nn.functional.linear(e, W, b)
    h = a.tanh()
    z = nn.functional.linear(h, U, c)
    L = nn.functional.cross_entropy(z, targets)
    named = {"e": e, "a": a, "h": h, "z": z, "U": U, "c": c, "W": W, "b": b, "E": E}
    for tensor in named.values():
        tensor.retain_grad()
    L.backward()
    lines = {"e": e, "a": a, "h": h, "z": z, "y_hat": z.softmax(dim=-1), "L": L}
    lines |= {f"d{name}": tensor.grad for name, tensor in named.items()}
    return {name: lines[name].detach() for name in LINES}


def three_windows(draw):
    """Arguments of a small model: B = 3, N = 2, d = 4, D = 7, V = 5, with repeated words."""
    windows, targets = torch.tensor([[1, 1], [2, 0], [3, 1]]), torch.tensor([3, 1, 4])
    return weights_of(draw, 5, 2, 4, 7) | {"windows": windows, "targets": targets}


def departs(own, expected, name):
    """Whether a line is missing, or is not what autograd finds."""
    return name not in own or not is_close(own[name], expected[name])


def assert_line(own, expected, name):
    """One line is right; if not, the message names the first line that departs."""
    assert_true(isinstance(own, dict), f"A dictionary of lines is expected, not {type(own).__name__}.")
    if not departs(own, expected, name):
        return
    first = next(line for line in LINES if departs(own, expected, line))
    if first != name:
        message = (
            f"The first line that departs from autograd is {first}. Mend {first} first; {name} departs too."
        )
        assert_true(False, message)
    assert_true(name in own, f"The first line that departs from autograd is {name}: it is missing.")
    assert_close(own[name], expected[name], what=f"the first line that departs from autograd is {name}")


# %% [markdown] exercise="forward_and_backward" difficulty=3 minutes=55 forbids=".backward,torch.autograd,torch.func,torch.ops,lines_by_autograd" exempt="gradient"
# ### 20. The first wrong line
#
# Now the whole model of exercise 6 (without padding), forwards and backwards, by hand. In a long backward
# pass a mistake spoils everything after it, and staring at a wrong `dE` tells nothing. So keep every
# intermediate result: there is a check for each, in order, and a failing one names **the first line that
# departs** from autograd. Mend that line; the later ones may be right already.
#
# Write `forward_and_backward(E, W, b, U, c, windows, targets)`, which returns a dict of fifteen lines. The
# loss is the **mean** cross-entropy over the batch. No call of autograd.
#
# | line | what | shape |
# |---|---|---|
# | `"e"` | joined embeddings | (B, N·d) |
# | `"a"` | $\mathbf W \mathbf e + \mathbf b$ | (B, D) |
# | `"h"` | $\tanh \mathbf a$ | (B, D) |
# | `"z"` | $\mathbf U \mathbf h + \mathbf c$ | (B, V) |
# | `"y_hat"` | softmax of $\mathbf z$ | (B, V) |
# | `"L"` | the loss | one number |
# | `"dz"` | $\partial L / \partial \mathbf z$ | that of `z` |
# | `"dU"` | $\partial L / \partial \mathbf U$ | that of `U` |
# | `"dc"` | $\partial L / \partial \mathbf c$ | that of `c` |
# | `"dh"` | $\partial L / \partial \mathbf h$ | that of `h` |
# | `"da"` | $\partial L / \partial \mathbf a$ | that of `a` |
# | `"dW"` | $\partial L / \partial \mathbf W$ | that of `W` |
# | `"db"` | $\partial L / \partial \mathbf b$ | that of `b` |
# | `"de"` | $\partial L / \partial \mathbf e$ | that of `e` |
# | `"dE"` | $\partial L / \partial \mathbf E$ | that of `E` |
#
# Shapes of the arguments: `E` (d, V), `W` (D, N·d), `b` (D,), `U` (V, D), `c` (V,), `windows` (B, N) and
# `targets` (B,), both int64. As in exercise 6, the first $d$ numbers of $\mathbf e$ belong to the oldest
# word.
#
# **Example.** With all weights zero, `y_hat` is $1/V$ everywhere and $L = \ln V$. For one row and three
# words with target 0, `dz` is $(-\tfrac23, \tfrac13, \tfrac13)$ and `dc` the same; all other gradients are
# zero.
#
# <details><summary>Hint 1</summary>
#
# Write all six forward lines first. Each backward line then needs one gradient that you have and one
# forward line.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The 1/B of the mean enters once, in `dz`. After that nothing is ever averaged.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `dU`, `dc`, `dh` are exercise 13 with `dz` upstream; `dW`, `db`, `de` are exercise 13 again, with `da`.
# For `dE`, give `de` the shape (B, N, d) and see exercise 15.
#
# </details>


# %% solution="forward_and_backward"
def forward_and_backward(
    E: Tensor, W: Tensor, b: Tensor, U: Tensor, c: Tensor, windows: Tensor, targets: Tensor
) -> dict[str, Tensor]:
    """Every intermediate result of the model and of its gradient, by name."""
    ### BEGIN SOLUTION
    rows = torch.arange(len(targets))

    e = E.T[windows].flatten(start_dim=1)  # (B, N·d)
    a = e @ W.T + b  # (B, D)
    h = torch.tanh(a)  # (B, D)
    z = h @ U.T + c  # (B, V)
    y_hat = z.softmax(dim=-1)  # (B, V)
    L = -z.log_softmax(dim=-1)[rows, targets].mean()

    dz = y_hat.clone()  # (B, V)
    dz[rows, targets] -= 1
    dz /= len(targets)
    dU = dz.T @ h  # (V, D)
    dc = dz.sum(dim=0)  # (V,)
    dh = dz @ U  # (B, D)
    da = dh * (1 - h**2)  # (B, D)
    dW = da.T @ e  # (D, N·d)
    db = da.sum(dim=0)  # (D,)
    de = da @ W  # (B, N·d)
    by_place = de.reshape(-1, len(E))  # (B·N, d)
    dE = torch.zeros_like(E).index_add(1, windows.flatten(), by_place.T)  # (d, V)

    names = ("e", "a", "h", "z", "y_hat", "L", "dz", "dU", "dc", "dh", "da", "dW", "db", "de", "dE")
    return dict(zip(names, (e, a, h, z, y_hat, L, dz, dU, dc, dh, da, dW, db, de, dE), strict=True))
    ### END SOLUTION


# %% check="line_e_agrees_with_autograd" points=1
def line_e_agrees_with_autograd(forward_and_backward, draw):
    """`e`, the joined embeddings, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "e")


# %% check="line_a_agrees_with_autograd" points=1
def line_a_agrees_with_autograd(forward_and_backward, draw):
    """`a`, the hidden layer before tanh, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "a")


# %% check="line_h_agrees_with_autograd" points=1
def line_h_agrees_with_autograd(forward_and_backward, draw):
    """`h`, the hidden layer, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "h")


# %% check="line_z_agrees_with_autograd" points=1
def line_z_agrees_with_autograd(forward_and_backward, draw):
    """`z`, the logits, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "z")


# %% check="line_y_hat_agrees_with_autograd" points=1
def line_y_hat_agrees_with_autograd(forward_and_backward, draw):
    """`y_hat`, the probabilities, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "y_hat")


# %% check="line_L_agrees_with_autograd" points=1
def line_L_agrees_with_autograd(forward_and_backward, draw):
    """`L`, the loss, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "L")


# %% check="line_dz_agrees_with_autograd" points=1
def line_dz_agrees_with_autograd(forward_and_backward, draw):
    """`dz`, the gradient of the logits, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "dz")


# %% check="line_dU_agrees_with_autograd" points=1
def line_dU_agrees_with_autograd(forward_and_backward, draw):
    """`dU`, the gradient of U, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "dU")


# %% check="line_dc_agrees_with_autograd" points=1
def line_dc_agrees_with_autograd(forward_and_backward, draw):
    """`dc`, the gradient of c, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "dc")


# %% check="line_dh_agrees_with_autograd" points=1
def line_dh_agrees_with_autograd(forward_and_backward, draw):
    """`dh`, the gradient of the hidden layer, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "dh")


# %% check="line_da_agrees_with_autograd" points=1
def line_da_agrees_with_autograd(forward_and_backward, draw):
    """`da`, the gradient before tanh, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "da")


# %% check="line_dW_agrees_with_autograd" points=1
def line_dW_agrees_with_autograd(forward_and_backward, draw):
    """`dW`, the gradient of W, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "dW")


# %% check="line_db_agrees_with_autograd" points=1
def line_db_agrees_with_autograd(forward_and_backward, draw):
    """`db`, the gradient of b, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "db")


# %% check="line_de_agrees_with_autograd" points=1
def line_de_agrees_with_autograd(forward_and_backward, draw):
    """`de`, the gradient of the joined embeddings, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "de")


# %% check="line_dE_agrees_with_autograd" points=1
def line_dE_agrees_with_autograd(forward_and_backward, draw):
    """`dE`, the gradient of E, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "dE")


# %% check="all_lines_hold_for_other_sizes" points=3 hidden
def all_lines_hold_for_other_sizes(forward_and_backward, draw):
    """With other sizes and weights, all fifteen lines are what autograd finds."""
    for sizes, batch_size in (((7, 2, 3, 4), 5), ((4, 5, 2, 3), 6)):
        weights, targets = weights_of(draw, *sizes), draw.integers(0, sizes[0], batch_size)
        windows = draw.integers(0, sizes[0], batch_size, sizes[1])
        windows[0] = torch.arange(sizes[1]) % 2
        windows[1] = 1
        own = forward_and_backward(**weights, windows=windows, targets=targets)
        expected = lines_by_autograd(**weights, windows=windows, targets=targets)
        for name in LINES:
            assert_line(own, expected, name)


# %% provided="broken_runs"
# For the next exercise: the lines of somebody's backward pass that depart from autograd, in four runs.
BROKEN_RUNS = {
    "A": "none",
    "B": "none",
    "C": "dE",
    "D": "dE",
}

# %%
for run, broken in BROKEN_RUNS.items():
    print(f"run {run}: lines that depart from autograd: {broken}")

# %% [markdown] exercise="name_the_broken_line" difficulty=2 minutes=10
# ### 21. Find the fault
#
# Somebody else's `forward_and_backward` was compared with autograd in four runs; the lines printed above
# say which departed.
#
# | run | batch |
# |---|---|
# | A | one window, three different words |
# | B | two windows, six different words |
# | C | one window, in which a word occurs twice |
# | D | two windows of three different words each; one word occurs in both |
#
# Exactly one thing is wrong. Write `name_the_broken_line()`, which takes nothing and returns the name of
# the fault:
#
# | name | what the program would do |
# |---|---|
# | `"mean_of_the_batch_forgotten"` | not divide dz by the number of windows |
# | `"bias_taken_from_the_first_window"` | take the first row of da for db, instead of the sum over the rows |
# | `"slope_of_tanh_forgotten"` | hand dh on as da |
# | `"repeated_word_overwritten"` | keep only the last gradient of a word that occurs more than once |
# | `"repeated_word_overwritten_within_a_window"` | the same within each window, but add up over windows |
# | `"gradients_of_a_word_averaged"` | divide the gradient of every word by the number of windows |
#
# **Example of the reasoning.** If run B had printed `dz dU dc dh …` and run A `none`, the fault would
# depend on the number of windows and come first in dz.
#
# <details><summary>Hint 1</summary>
#
# Which line does each fault break first? Cross out those that cannot leave run A and run B whole.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Two faults are left. What is the difference between run C and run D?
#
# </details>


# %% solution="name_the_broken_line"
def name_the_broken_line() -> str:
    """The name of the one fault behind the four runs."""
    ### BEGIN SOLUTION
    return "repeated_word_overwritten"
    ### END SOLUTION


# %% check="the_fault_leaves_runs_a_and_b_whole" points=1
def the_fault_leaves_runs_a_and_b_whole(name_the_broken_line):
    """The answer is one of the six names, and runs A and B do not show that fault."""
    shown_by = {
        "mean_of_the_batch_forgotten": "run B",
        "bias_taken_from_the_first_window": "run B",
        "slope_of_tanh_forgotten": "run A",
        "repeated_word_overwritten": "",
        "repeated_word_overwritten_within_a_window": "",
        "gradients_of_a_word_averaged": "run B",
    }
    answer = name_the_broken_line()
    assert_true(answer in shown_by, f"{answer!r} is not one of the six names.")
    assert_true(not shown_by[answer], f"{shown_by[answer]} would show that fault already.")


# %% check="the_fault_breaks_what_the_table_says" points=3 hidden
def the_fault_breaks_what_the_table_says(name_the_broken_line, draw):
    """The fault you name breaks, in each run, exactly the lines that were printed."""
    batches = {"A": [[0, 1, 2]], "B": [[0, 1, 2], [3, 4, 5]], "C": [[0, 1, 0]], "D": [[0, 1, 2], [2, 4, 5]]}

    def broken_lines(fault, windows):
        weights, targets = weights_of(draw, 7, 3, 2, 4), torch.arange(len(windows)) + 4
        right = lines_by_autograd(**weights, windows=windows, targets=targets)
        n_windows, own = len(windows), dict(right)
        if fault == "mean_of_the_batch_forgotten":
            own |= {name: n_windows * right[name] for name in LINES[6:]}
        if fault == "bias_taken_from_the_first_window":
            own["db"] = right["da"][0]
        if fault == "slope_of_tanh_forgotten":
            own["da"] = right["dh"]
        if fault == "gradients_of_a_word_averaged":
            own["dE"] = right["dE"] / n_windows
        if fault.startswith("repeated_word_overwritten"):
            within = fault.endswith("within_a_window")
            total = torch.zeros_like(right["dE"])
            for window, de in zip(windows.tolist(), right["de"].reshape(n_windows, 3, 2), strict=True):
                last = dict(zip(window, de, strict=True))
                for word, gradient in last.items():
                    total[:, word] = gradient + (total[:, word] if within else 0)
            own["dE"] = total
        return " ".join(name for name in LINES if departs(own, right, name)) or "none"

    answer = name_the_broken_line()
    for run, batch in batches.items():
        shown = broken_lines(str(answer), torch.tensor(batch))
        assert_equal(shown, BROKEN_RUNS[run], what=f"the broken lines of run {run} with that fault")


# %% [markdown] written="why_no_jacobian" points=4 minutes=20
# ### 22. What a backward pass costs
#
# A model has V = 50,000 words, a hidden layer of D = 1,000 and batches of B = 100 windows.
#
# a) How many numbers does the Jacobian of the whole batch's logits with respect to U have, zeros included?
# And how many numbers does `dz.T @ h` read and write?
#
# b) Computing $L$ from U and h takes about $2 \cdot B \cdot V \cdot D$ operations. About how many does it
# take to compute dU and dh together? Say why the gradient of **all** parameters costs only a small multiple
# of one forward pass, while differences (exercise 18) would cost as many forward passes as there are
# parameters, twice over.
#
# c) What must be kept in memory from the forward to the backward pass, and for which lines of exercise 20
# is it needed?
#
# ### BEGIN SOLUTION
# a) (1 point) The batch has B·V = 5 million logits, U has V·D = 50 million entries: 2.5 · 10^14 numbers.
# The product reads B·V + B·D = 5.1 million numbers and writes V·D = 50 million.
#
# b) (2 points) Two products of the same size: about 4·B·V·D, twice the forward pass. (1 point.) Going
# backwards from one number, L, every line hands on one tensor in the shape of its input and does about
# twice the work it did forwards, whatever the number of parameters. A difference answers for one parameter
# only and costs a forward pass on each side. (1 point.)
#
# c) (1 point) e (for dW), h (for dU and for the slope in da), y_hat (for dz), and the windows and targets
# (for dE and dz). The weights U and W are there anyway. Not a, since the slope of tanh needs h only.
# ### END SOLUTION


# %% [markdown]
# ## It learns by your backward pass
#
# Two networks with the same first weights, your `FeedForwardLM` (exercise 6), see the same windows of words
# (exercise 1). One is trained by PyTorch: autograd and `torch.optim.SGD`. The other never meets autograd: the
# gradients are those of your `forward_and_backward` (exercise 20), and what is learned is written with your
# `draw_tokens` (exercise 5). Nothing here is graded: change it as you like.
#
# *What to see:* one curve, although two are drawn; a largest difference of all weights that is rounding and no more;
# and a network that has learned from your gradients alone to write words in their order. A part whose checks do not
# hold yet is replaced by a ready-made one, and the first line says which.

# %% alive="your_gradients_teach"
from course.ladder import SCALES, Corpus, on_the_ladder
from course.mine import parts
from course.plots import loss_curves

mine = parts(
    check,
    windows_and_targets=windows_and_targets,
    FeedForwardLM=FeedForwardLM,
    forward_and_backward=forward_and_backward,
    draw_tokens=draw_tokens,
)
NAMES, N_WINDOW, N_STEPS, RATE = "EWbUc", 3, 1500, 0.5

corpus = Corpus(SCALES["default"], seed=0)
vocabulary = corpus.language.vocabulary
before = torch.full((N_WINDOW - 1,), vocabulary.bos)  # every story begins with a whole window
documents = [torch.cat([before, story]) for story in corpus.sequences[:2000]]
windows, targets = mine.windows_and_targets(documents, N_WINDOW)

torch.manual_seed(0)
network = mine.FeedForwardLM(len(vocabulary), N_WINDOW, 24, 96, pad=-1)
theirs = mine.FeedForwardLM(len(vocabulary), N_WINDOW, 24, 96, pad=-1)
theirs.load_state_dict(network.state_dict())
weights = {
    name: getattr(network, name).detach() for name in NAMES
}  # the network's own, to be changed in place
optimizer = torch.optim.SGD(theirs.parameters(), lr=RATE)
losses = {"by my gradients": [], "by PyTorch's": []}
for step in range(N_STEPS):
    rows = torch.randint(len(windows), (128,), generator=torch.Generator().manual_seed(step))
    found = mine.forward_and_backward(*weights.values(), windows[rows], targets[rows])
    for name, weight in weights.items():
        weight -= RATE * found[f"d{name}"]
    loss = nn.functional.cross_entropy(theirs(windows[rows]), targets[rows])
    theirs.zero_grad()
    loss.backward()
    optimizer.step()
    losses["by my gradients"].append(float(found["L"]))
    losses["by PyTorch's"].append(loss.item())
difference = max(float((weights[name] - getattr(theirs, name)).detach().abs().max()) for name in NAMES)
print(f"After {N_STEPS} steps no weight differs by more than {difference:.1g}.")


class NextWord:
    """The network as a language model: log-probabilities (B, T, V) of the next word for tokens (B, T)."""

    vocab_size, context_length = len(vocabulary), None
    n_parameters = sum(weight.numel() for weight in weights.values())

    def __call__(self, tokens):
        text = torch.cat([before.expand(len(tokens), -1), tokens], dim=1)
        with torch.inference_mode():
            logits = network(text.unfold(1, N_WINDOW, 1).flatten(0, 1))  # (B · T, V)
        return logits.log_softmax(dim=-1).view(*tokens.shape, -1)


standing = on_the_ladder("my network", NextWord(), corpus)
print(standing)
stories = torch.full((2, 1), vocabulary.bos)
for step in range(40):
    logits, uniforms = (
        NextWord()(stories)[:, -1],
        torch.rand(2, generator=torch.Generator().manual_seed(step)),
    )
    stories = torch.cat([stories, mine.draw_tokens(logits, uniforms.double())[:, None]], dim=1)
print(*("\n" + corpus.language.read(story) for story in stories), sep="\n")
loss_curves(losses)
