# %% [markdown]
# ## Part F. Gates

# %% [markdown] exercise="LSTMCell" difficulty=2 minutes=20 forbids="torch.nn.LSTM,torch.nn.LSTMCell,torch.lstm,torch.lstm_cell" dtype="float64"
# ### 16. The LSTM cell
#
# The LSTM keeps, beside the state $\mathbf h$ that it shows, a **cell** $\mathbf c$ that it keeps to itself,
# and three gates between 0 and 1 decide what happens to it. With $\sigma$ the sigmoid:
#
# $$\begin{aligned}
# \mathbf i &= \sigma(\mathbf W_i \mathbf x_t + \mathbf U_i \mathbf h_{t-1} + \mathbf b_i) && \text{what is written} \\
# \mathbf f &= \sigma(\mathbf W_f \mathbf x_t + \mathbf U_f \mathbf h_{t-1} + \mathbf b_f) && \text{what is kept} \\
# \mathbf g &= \tanh(\mathbf W_g \mathbf x_t + \mathbf U_g \mathbf h_{t-1} + \mathbf b_g) && \text{the candidate} \\
# \mathbf o &= \sigma(\mathbf W_o \mathbf x_t + \mathbf U_o \mathbf h_{t-1} + \mathbf b_o) && \text{what is shown} \\
# \mathbf c_t &= \mathbf f \odot \mathbf c_{t-1} + \mathbf i \odot \mathbf g \qquad
# \mathbf h_t = \mathbf o \odot \tanh(\mathbf c_t)
# \end{aligned}$$
#
# Write the class `LSTMCell`, an `nn.Module`:
#
# - `LSTMCell(d_input, d_hidden)` has the parameters `W` (4D, d_input), `U` (4D, D) and `b` (4D,), float64. Each
#   holds the rows of the gates and the candidate on top of one another, **in the order i, f, g, o**, as torch does.
# - `forward(x, state)` takes x (B, d_input) and the tuple `(h, c)` of the states before, (B, D) each, and
#   returns the tuple `(h, c)` after the word.
#
# **Example.** $D = d_{input} = 1$, `W = [[0], [0], [1], [0]]`, `U` and `b` all zero: the gates are 0.5, the
# candidate is $\tanh x$. From $c = 2$, any $h$, and $x = 1$ come $c = 1 + 0.5 \tanh 1 \approx 1.3808$ and $h =
# 0.5 \tanh 1.3808 \approx 0.4406$.
#
# <details><summary>Hint 1</summary>
#
# One product gives all four sums at once, (B, 4D). `chunk(4, dim=-1)` takes them apart; in which order do
# they come?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Set a bias to +40 or −40 and a gate is open or shut, whatever the word. Write down what the cell must do
# with the forget gate open and the input gate shut, and try it.
#
# </details>


# %% alive="a_drawing_lstm_cell"
from course import figures

figures.machine("lstm_cell")  # step by step


# %% solution="LSTMCell"
class LSTMCell(nn.Module):
    """One step of an LSTM; W (4D, d_input), U (4D, D) and b (4D,) hold the gates in the order i, f, g, o."""

    def __init__(self, d_input: int, d_hidden: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.W = nn.Parameter(0.1 * torch.randn(4 * d_hidden, d_input, dtype=torch.float64))
        self.U = nn.Parameter(0.1 * torch.randn(4 * d_hidden, d_hidden, dtype=torch.float64))
        self.b = nn.Parameter(torch.zeros(4 * d_hidden, dtype=torch.float64))
        ### END SOLUTION

    def forward(self, x: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """The states (h, c) after the words x (B, d_input), from those before them, (B, D) each."""
        ### BEGIN SOLUTION
        h, c = state
        i, f, g, o = (x @ self.W.T + h @ self.U.T + self.b).chunk(4, dim=-1)  # four times (B, D)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c
        ### END SOLUTION


# %% provided="gate_weights" helper
def gate_weights(draw, n_gates, d_input, d_hidden):
    """Random weights of a cell with this many gates, by name."""
    return {
        "W": draw.normal(n_gates * d_hidden, d_input),
        "U": draw.normal(n_gates * d_hidden, d_hidden),
        "b": draw.normal(n_gates * d_hidden),
    }


def loaded(Cell, weights, n_gates):
    """The student's cell with these weights."""
    d_hidden, d_input = len(weights["W"]) // n_gates, weights["W"].shape[1]
    return with_weights(Cell(d_input, d_hidden), weights)


def with_gates(weights, n_gates, **biases):
    """The same weights with some gates held open (+40) or shut (-40): `with_gates(weights, 4, g1=-40)`."""
    b = weights["b"].clone().unflatten(0, (n_gates, -1))
    W, U = (weights[name].clone().unflatten(0, (n_gates, -1)) for name in "WU")
    for gate, bias in biases.items():
        W[int(gate[1:])], U[int(gate[1:])], b[int(gate[1:])] = 0.0, 0.0, bias
    return weights | {"W": W.flatten(0, 1), "U": U.flatten(0, 1), "b": b.flatten()}


# %% check="the_lstm_has_three_parameters" points=1
def the_lstm_has_three_parameters(LSTMCell, draw):
    """The cell knows the parameters W, U and b, in float64, and no others."""
    cell = LSTMCell(3, 5)
    assert_equal({*cell.gradients()}, {"U", "W", "b"})
    cell.load_state_dict(gate_weights(draw, 4, 3, 5))
    assert_dtype(cell.parameters(), torch.float64, what="a parameter")


# %% check="the_example_cell_gives_0_4406" points=1
def the_example_cell_gives_0_4406(LSTMCell):
    """The cell of the example leads to h = 0.4406 and c = 1.3808, and gradients flow back."""
    weights = {"W": numbers([0.0], [0.0], [1.0], [0.0]), "U": torch.zeros(4, 1).double()}
    cell = loaded(LSTMCell, weights | {"b": torch.zeros(4).double()}, 4)
    h, c = cell(numbers([1.0]), (numbers([0.7]), numbers([2.0])))
    expected = 1 + math.tanh(1) / 2
    assert_close(c, numbers([expected]), what="the cell c")
    assert_close(h, numbers([math.tanh(expected) / 2]), what="the state h")
    assert_differentiable(cell, numbers([1.0]), (numbers([0.7]), numbers([2.0])))


# %% check="the_state_before_reaches_every_gate" points=1
def the_state_before_reaches_every_gate(LSTMCell):
    """Without a word, the state 1 before alone opens the four gates by 0.5, -0.5, 1 and -1: each as U says."""
    weights = {"W": torch.zeros(4, 1).double(), "b": torch.zeros(4).double()}
    weights["U"] = numbers([0.5], [-0.5], [1.0], [-1.0])
    h, c = loaded(LSTMCell, weights, 4)(numbers([0.0]), (numbers([1.0]), numbers([2.0])))
    i, f, o = (1 / (1 + math.exp(-z)) for z in (0.5, -0.5, -1.0))
    cell = f * 2.0 + i * math.tanh(1.0)
    assert_close(c, numbers([cell]), what="the cell c")
    assert_close(h, numbers([o * math.tanh(cell)]), what="the state h")


# %% check="an_open_forget_gate_keeps_the_cell" points=1
def an_open_forget_gate_keeps_the_cell(LSTMCell, draw):
    """With the forget gate open and the input gate shut, c stays as it is, whatever the word."""
    weights = with_gates(gate_weights(draw, 4, 3, 5), 4, g0=-40, g1=40)
    c = draw.normal(2, 5)
    assert_close(loaded(LSTMCell, weights, 4)(draw.normal(2, 3), (draw.normal(2, 5), c))[1], c)


# %% check="a_shut_forget_gate_clears_the_cell" points=1
def a_shut_forget_gate_clears_the_cell(LSTMCell, draw):
    """With the forget gate shut and the input gate open, c is the candidate, which lies between -1 and 1."""
    weights = with_gates(gate_weights(draw, 4, 3, 5), 4, g0=40, g1=-40)
    cell, x, h, c = loaded(LSTMCell, weights, 4), draw.normal(6, 3), draw.normal(6, 5), draw.normal(6, 5)
    answer = cell(x, (h, c))[1]
    assert_equal(list(answer.shape), [6, 5], what="the shape of c")
    assert_close(cell(x, (h, c + 3))[1], answer, what="the cell c after another one")
    assert_depends(answer, cell(-x, (h, c))[1])
    assert_true(answer.abs().max() <= 1, f"The largest entry of c is {answer.abs().max():.3f}.")
    assert_true(answer.min() < 0, "No entry of c is below 0.")


# %% check="a_shut_output_gate_shows_nothing" points=1
def a_shut_output_gate_shows_nothing(LSTMCell, draw):
    """With the output gate shut, h is 0, and c is what it is with the gate open."""
    weights, x, state = gate_weights(draw, 4, 3, 5), draw.normal(2, 3), (draw.normal(2, 5), draw.normal(2, 5))
    h, c = loaded(LSTMCell, with_gates(weights, 4, g3=-40), 4)(x, state)
    assert_close(h, torch.zeros(2, 5).double(), what="the state h")
    assert_close(c, loaded(LSTMCell, with_gates(weights, 4, g3=40), 4)(x, state)[1], what="the cell c")


# %% check="what_is_shown_stays_within_one" points=1
def what_is_shown_stays_within_one(LSTMCell, draw):
    """However large the cell is, h lies within -1 and 1, and with an open output gate it comes near."""
    weights = with_gates(gate_weights(draw, 4, 3, 5), 4, g1=40, g3=40)
    h, _ = loaded(LSTMCell, weights, 4)(
        draw.normal(2, 3), (draw.normal(2, 5), torch.full((2, 5), 30.0).double())
    )
    assert_close(h, torch.ones(2, 5).double())


# %% check="two_open_gates_keep_and_write" points=1
def two_open_gates_keep_and_write(LSTMCell, draw):
    """With the forget gate and the input gate both open, c is the old cell plus the whole candidate."""
    weights, x, h, c = gate_weights(draw, 4, 3, 5), draw.normal(2, 3), draw.normal(2, 5), draw.normal(2, 5)
    candidate = loaded(LSTMCell, with_gates(weights, 4, g0=40, g1=-40), 4)(x, (h, c))[1]
    assert_close(loaded(LSTMCell, with_gates(weights, 4, g0=40, g1=40), 4)(x, (h, c))[1], c + candidate)


# %% check="other_lstm_cells_agree_with_torch" points=3 hidden
def other_lstm_cells_agree_with_torch(LSTMCell, draw):
    """Cells of other sizes agree with torch.nn.LSTMCell, their gradients too."""
    for batch_size, d_input, d_hidden in ((3, 2, 5), (4, 5, 3)):
        weights = gate_weights(draw, 4, d_input, d_hidden)
        theirs = nn.LSTMCell(d_input, d_hidden).double()
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        theirs.load_state_dict(dict(zip(names, (*weights.values(), 0 * weights["b"]), strict=True)))
        x, state = (
            draw.normal(batch_size, d_input),
            (draw.normal(batch_size, d_hidden), draw.normal(batch_size, d_hidden)),
        )
        weighting, own = draw.normal(batch_size, d_hidden), loaded(LSTMCell, weights, 4)
        h, c = own(x, state)
        expected_h, expected_c = theirs(x, state)
        assert_close(c, expected_c.detach(), what="the cell c")
        assert_close(h, expected_h.detach(), what="the state h")
        ((h + 2 * c) * weighting).sum().backward()
        ((expected_h + 2 * expected_c) * weighting).sum().backward()
        gradients = own.gradients()
        for name, their_name in zip("WUb", names[:3], strict=True):
            assert_close(gradients[name], getattr(theirs, their_name).grad, what=f"the gradient of {name}")


# %% [markdown] exercise="with_forget_bias" difficulty=2 minutes=10 exempt="gradient"
# ### 17. A new cell remembers
#
# At the start of training a forget gate near 0.5 halves the cell at every word. A forget bias of 1 or more
# keeps it open until the network has learned what to forget. In torch's `nn.LSTM` this needs care: each layer
# and each direction has **two** constants, `bias_ih_…` and `bias_hh_…`, (4D,) each, in the order i, f, g, o,
# and they are only ever added.
#
# Write `with_forget_bias(weights, value)`. `weights` is the `state_dict` of an `nn.LSTM`, a dict from names to
# tensors. Return a new dict in which, in **every** layer and direction, the two constants of the forget gate
# add up to `value` for each unit. Everything else is as before, and the dict you are given stays as it is.
# The names are `bias_ih_l0`, `bias_hh_l0`, `bias_ih_l1`, …, with `_reverse` at the end for the backward
# direction.
#
# **Example.** One layer with $D = 1$: `bias_ih_l0 = [1, 2, 3, 4]` and `bias_hh_l0 = [5, 6, 7, 8]` may become
# `[1, 0.5, 3, 4]` and `[5, 0.5, 7, 8]` for the value 1: all that counts is that $0.5 + 0.5 = 1$.
#
# <details><summary>Hint 1</summary>
#
# Which rows of a constant of length 4D belong to f?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# List the names of an `nn.LSTM(2, 3, num_layers=2, bidirectional=True)`. How many constants do you find?
#
# </details>


# %% solution="with_forget_bias"
def with_forget_bias(weights: dict[str, Tensor], value: float) -> dict[str, Tensor]:
    """The weights of an nn.LSTM with the forget gate's two constants adding up to `value` everywhere."""
    ### BEGIN SOLUTION
    changed = {name: weight.clone() for name, weight in weights.items()}
    for name, bias in changed.items():
        if name.startswith("bias"):
            d_hidden = len(bias) // 4
            bias[d_hidden : 2 * d_hidden] = value if name.startswith("bias_ih") else 0.0
    return changed
    ### END SOLUTION


# %% provided="weights_of_torch" helper
def lstm_weights(draw, d_input, d_hidden, n_layers, suffixes=("",)):
    """Random weights as in the state_dict of an nn.LSTM; suffixes ("", "_reverse") for both directions."""
    weights = {}
    for layer in range(n_layers):
        width = d_input if layer == 0 else d_hidden * len(suffixes)
        for end in (f"_l{layer}{suffix}" for suffix in suffixes):
            weights |= {f"weight_ih{end}": draw.normal(4 * d_hidden, width)}
            weights |= {f"weight_hh{end}": draw.normal(4 * d_hidden, d_hidden)}
            weights |= {f"bias_{kind}{end}": draw.normal(4 * d_hidden) for kind in ("ih", "hh")}
    return weights


def forget_sums(weights):
    """For each layer and direction the sum of its two constants of the forget gate."""
    ends = [name.removeprefix("bias_ih") for name in weights if name.startswith("bias_ih")]
    sums = {end: weights[f"bias_ih{end}"] + weights[f"bias_hh{end}"] for end in ends}
    return {end: total[len(total) // 4 : len(total) // 2] for end, total in sums.items()}


# %% check="the_two_constants_of_f_add_up_to_the_value" points=1
def the_two_constants_of_f_add_up_to_the_value(with_forget_bias, draw):
    """In a network of one layer, the constants of the forget gate add up to 1.5."""
    own = with_forget_bias(lstm_weights(draw, 2, 3, 1), 1.5)
    assert_close(forget_sums(own), {"_l0": torch.full((3,), 1.5).double()})


# %% check="every_layer_gets_it" points=1
def every_layer_gets_it(with_forget_bias, draw):
    """In a network of three layers, the constants add up to 1.5 in each of them."""
    own = forget_sums(with_forget_bias(lstm_weights(draw, 2, 3, 3), 1.5))
    for layer in (2, 1, 0):
        assert_close(own[f"_l{layer}"], torch.full((3,), 1.5).double(), what=f"layer {layer}")


# %% check="both_directions_get_it" points=1
def both_directions_get_it(with_forget_bias, draw):
    """In a network of both directions, the constants add up to 1.5 in each of them."""
    own = forget_sums(with_forget_bias(lstm_weights(draw, 2, 4, 1, ("", "_reverse")), 1.5))
    assert_close(own, {end: torch.full((4,), 1.5).double() for end in ("_l0", "_l0_reverse")})


# %% check="nothing_else_moves" points=1
def nothing_else_moves(with_forget_bias, draw):
    """All matrices, and the constants of the other gates, are as before; so is the dict that you were given."""
    for _ in range(2):
        weights = lstm_weights(draw, 2, 3, 2)
        own = with_forget_bias(weights, 1.5)
        assert_equal({*own}, {*weights})
        for name, before in weights.items():
            keep = [row for row in range(12) if "weight" in name or row not in (3, 4, 5)]
            assert_equal(own[name][keep], before[keep], what=name)


# %% check="other_networks_get_their_forget_bias" points=1 hidden
def other_networks_get_their_forget_bias(with_forget_bias, draw):
    """Other networks get theirs too, and nothing else moves."""
    for n_layers, suffixes, value in ((2, ("", "_reverse"), 2.0), (3, ("",), -0.5)):
        weights = lstm_weights(draw, 3, 5, n_layers, suffixes)
        own = with_forget_bias(weights, value)
        for end, total in forget_sums(own).items():
            assert_close(total, torch.full((5,), value).double(), what=f"the sum in {end}")
        for name, before in weights.items():
            keep = [row for row in range(20) if "weight" in name or not 5 <= row < 10]
            assert_equal(own[name][keep], before[keep], what=name)


# %% [markdown] exercise="GRUCell" difficulty=2 minutes=20 forbids="torch.nn.GRU,torch.nn.GRUCell,torch.gru,torch.gru_cell" dtype="float64"
# ### 18. The GRU cell
#
# The GRU has no cell beside the state. Its **update gate** z decides what stays, its **reset gate** r what the
# candidate may see of the past:
#
# $$\begin{aligned}
# \mathbf r &= \sigma(\mathbf W_r \mathbf x_t + \mathbf U_r \mathbf h_{t-1} + \mathbf b_r) \\
# \mathbf z &= \sigma(\mathbf W_z \mathbf x_t + \mathbf U_z \mathbf h_{t-1} + \mathbf b_z) \\
# \mathbf n &= \tanh(\mathbf W_n \mathbf x_t + \mathbf b_n + \mathbf r \odot (\mathbf U_n \mathbf h_{t-1} +
# \mathbf b'_n)) \\
# \mathbf h_t &= (1 - \mathbf z) \odot \mathbf n + \mathbf z \odot \mathbf h_{t-1}
# \end{aligned}$$
#
# This is the form of torch. The paper of Cho and others (2014) lets $\mathbf r$ act on $\mathbf h_{t-1}$ before
# the product with $\mathbf U_n$; the two are different functions, and here the one above is asked for.
#
# Write the class `GRUCell`, an `nn.Module`:
#
# - `GRUCell(d_input, d_hidden)` has the parameters `W` (3D, d_input), `U` (3D, D) and `b` (3D,), in the order
#   r, z, n, and `b_candidate` (D,), which is $\mathbf b'_n$. All float64.
# - `forward(x, h)` takes x (B, d_input) and the states before, (B, D), and returns the states after, (B, D).
#
# **Example.** $D = d_{input} = 1$, `W = [[0], [0], [1]]`, `U = [[0], [0], [1]]`, `b` and `b_candidate` zero: the
# gates are 0.5. From $h = 1$ and $x = 0$ comes $n = \tanh(0.5 \cdot 1) \approx 0.4621$ and $h = 0.5 \cdot
# 0.4621 + 0.5 \cdot 1 \approx 0.7311$.
#
# <details><summary>Hint 1</summary>
#
# Compute `x @ W.T + b` and `h @ U.T` apart, three blocks each. For r and z they are simply added. And for n?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# With z = 1 the state must stay, with r = 0 the candidate must not know the past. Hold the gates there with
# constants of +40 and −40 and try.
#
# </details>


# %% alive="a_drawing_gru_cell"
from course import figures

figures.machine("gru_cell")  # step by step


# %% solution="GRUCell"
class GRUCell(nn.Module):
    """One step of a GRU; W (3D, d_input), U (3D, D), b (3D,) in the order r, z, n, and b_candidate (D,)."""

    def __init__(self, d_input: int, d_hidden: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.W = nn.Parameter(0.1 * torch.randn(3 * d_hidden, d_input, dtype=torch.float64))
        self.U = nn.Parameter(0.1 * torch.randn(3 * d_hidden, d_hidden, dtype=torch.float64))
        self.b = nn.Parameter(torch.zeros(3 * d_hidden, dtype=torch.float64))
        self.b_candidate = nn.Parameter(torch.zeros(d_hidden, dtype=torch.float64))
        ### END SOLUTION

    def forward(self, x: Tensor, h: Tensor) -> Tensor:
        """The states (B, D) after the words x (B, d_input), from the states h (B, D) before them."""
        ### BEGIN SOLUTION
        r_x, z_x, n_x = (x @ self.W.T + self.b).chunk(3, dim=-1)  # three times (B, D)
        r_h, z_h, n_h = (h @ self.U.T).chunk(3, dim=-1)
        r, z = (r_x + r_h).sigmoid(), (z_x + z_h).sigmoid()
        n = torch.tanh(n_x + r * (n_h + self.b_candidate))
        return (1 - z) * n + z * h
        ### END SOLUTION


# %% provided="gru_weights" helper
def gru_weights(draw, d_input, d_hidden):
    """Random weights of a GRU cell, by name."""
    return gate_weights(draw, 3, d_input, d_hidden) | {"b_candidate": draw.normal(d_hidden)}


# %% check="the_gru_has_four_parameters" points=1
def the_gru_has_four_parameters(GRUCell, draw):
    """The cell knows the parameters W, U, b and b_candidate, in float64, and no others."""
    cell = GRUCell(3, 5)
    assert_equal({*cell.gradients()}, {"U", "W", "b", "b_candidate"})
    cell.load_state_dict(gru_weights(draw, 3, 5))
    assert_dtype(cell.parameters(), torch.float64, what="a parameter")


# %% check="the_example_cell_gives_0_7311" points=1
def the_example_cell_gives_0_7311(GRUCell):
    """The cell of the example leads from 1 to 0.7311, and gradients flow back."""
    one_candidate, zeros = numbers([0.0], [0.0], [1.0]), torch.zeros(3).double()
    weights = {"W": one_candidate, "U": one_candidate, "b": zeros, "b_candidate": zeros[:1]}
    cell = loaded(GRUCell, weights, 3)
    answer = cell(numbers([0.0]), numbers([1.0]))
    assert_close(answer, numbers([math.tanh(0.5) / 2 + 0.5]))
    assert_differentiable(cell, numbers([0.0]), numbers([1.0]))


# %% check="an_update_gate_at_one_keeps_the_state" points=1
def an_update_gate_at_one_keeps_the_state(GRUCell, draw):
    """With z = 1 the state stays as it is, whatever the word, also if the state itself opens the gate."""
    weights, h = with_gates(gru_weights(draw, 3, 5), 3, g1=40), draw.normal(2, 5)
    assert_close(loaded(GRUCell, weights, 3)(draw.normal(2, 3), h), h)
    weights, h = gru_weights(draw, 3, 5), 1 + draw.normal(2, 5).abs()
    weights["U"][5:10] = 40.0
    assert_close(loaded(GRUCell, weights, 3)(draw.normal(2, 3), h), h, what="with z opened by the state")


# %% check="a_reset_gate_at_zero_hides_the_past" points=1
def a_reset_gate_at_zero_hides_the_past(GRUCell, draw):
    """With r = 0 and z = 0, neither the old state nor b_candidate reaches the new state, and the word does."""
    weights = with_gates(gru_weights(draw, 3, 5), 3, g0=-40, g1=-40)
    x, h = draw.normal(2, 3), draw.normal(2, 5)
    answer = loaded(GRUCell, weights, 3)(x, h)
    assert_close(loaded(GRUCell, weights, 3)(x, h + 2), answer, what="another state before")
    other = weights | {"b_candidate": weights["b_candidate"] + 2}
    assert_close(loaded(GRUCell, other, 3)(x, h), answer, what="another b_candidate")
    assert_depends(answer, loaded(GRUCell, weights, 3)(-x, h))
    weights, h = gru_weights(draw, 3, 5), 1 + draw.normal(2, 5).abs()
    weights["U"][:5] = -40.0
    other = weights | {"b_candidate": weights["b_candidate"] + 2}
    answer = loaded(GRUCell, weights, 3)(x, h)
    assert_close(
        loaded(GRUCell, other, 3)(x, h), answer, what="another b_candidate, with r shut by the state"
    )


# %% check="the_reset_gate_acts_after_the_product" points=1
def the_reset_gate_acts_after_the_product(GRUCell, draw):
    """If unit 0 listens to unit 1, the reset gate of unit 0 decides, and that of unit 1 does not matter."""
    weights = with_gates(gru_weights(draw, 3, 2), 3, g0=40, g1=-40)
    weights["U"][4] = numbers([0.0, 0.8])[0]  # row 0 of U_n
    weights["b"][1] = -40.0  # the reset gate of unit 1 is shut
    x, h = draw.normal(2, 3), draw.normal(2, 2)
    answer = loaded(GRUCell, weights, 3)(x, h)
    weights["b"][1] = 40.0
    assert_close(loaded(GRUCell, weights, 3)(x, h)[:, 0], answer[:, 0])
    assert_depends(answer[:, 0], loaded(GRUCell, weights, 3)(x, h + 1)[:, 0])


# %% check="b_candidate_counts_where_the_reset_gate_is_open" points=1
def b_candidate_counts_where_the_reset_gate_is_open(GRUCell, draw):
    """With r = 1, what b_candidate gains and the constant of n loses cancels out; the gain alone does not."""
    weights, x, h = with_gates(gru_weights(draw, 3, 5), 3, g0=40), draw.normal(2, 3), draw.normal(2, 5)
    answer = loaded(GRUCell, weights, 3)(x, h)
    gain = weights | {"b_candidate": weights["b_candidate"] + 0.5}
    loss = gain | {"b": weights["b"] - 0.5 * (torch.arange(15) >= 10)}
    assert_close(loaded(GRUCell, loss, 3)(x, h), answer)
    assert_depends(answer, loaded(GRUCell, gain, 3)(x, h))


# %% check="other_gru_cells_agree_with_torch" points=3 hidden
def other_gru_cells_agree_with_torch(GRUCell, draw):
    """Cells of other sizes agree with torch.nn.GRUCell, their gradients too."""
    for batch_size, d_input, d_hidden in ((3, 2, 5), (4, 5, 3)):
        weights = gru_weights(draw, d_input, d_hidden)
        second = torch.cat([torch.zeros(2 * d_hidden).double(), weights["b_candidate"]])
        theirs = nn.GRUCell(d_input, d_hidden).double()
        their_weights = {"weight_ih": weights["W"], "weight_hh": weights["U"], "bias_ih": weights["b"]}
        theirs.load_state_dict(their_weights | {"bias_hh": second})
        x, h, weighting = (
            draw.normal(batch_size, d_input),
            draw.normal(batch_size, d_hidden),
            draw.normal(batch_size, d_hidden),
        )
        own = loaded(GRUCell, weights, 3)
        answer, expected = own(x, h), theirs(x, h)
        assert_close(answer, expected.detach())
        (answer * weighting).sum().backward()
        (expected * weighting).sum().backward()
        gradients = own.gradients()
        expected_gradients = {
            "W": theirs.weight_ih.grad,
            "U": theirs.weight_hh.grad,
            "b": theirs.bias_ih.grad,
        }
        expected_gradients["b_candidate"] = theirs.bias_hh.grad[-d_hidden:]
        for name, gradient in expected_gradients.items():
            assert_close(gradients[name], gradient, what=f"the gradient of {name}")
