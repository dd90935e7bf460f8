# %% [markdown]
# ## Part A. A state, step by step

# %% [markdown] exercise="rnn_step" difficulty=1 minutes=10 forbids="torch.nn.RNN,torch.nn.RNNCell,torch.rnn_tanh,torch.rnn_tanh_cell,torch_rnn"
# ### 1. One step
#
# A recurrent network reads a text word by word and keeps a **state**. At each word a new state is computed
# from the word and from the state before it:
#
# $$\mathbf h_t = \tanh(\mathbf W \mathbf x_t + \mathbf U \mathbf h_{t-1} + \mathbf b)$$
#
# Write `rnn_step(x, h, W, U, b)`, which returns the new states (B, D) of B texts. `x` (B, d_input) holds
# the word of each text, `h` (B, D) the state of each text before it, one **row** per text; `W` is
# (D, d_input), `U` is (D, D), `b` is (D,). The formula is about columns, as formulas are.
#
# **Example.** One text, $d_{input} = 1$, $D = 2$: `W = [[1], [0]]`, `U = [[0, 1], [0, 0]]`, `b = [0, 0.5]`.
# With `h = [[0.2, 0.4]]` and `x = [[0.5]]` the new state is $\tanh(0.5 + 0.4) \approx 0.7163$ and $\tanh(0.5)
# \approx 0.4621$: the first row of `U` says that the first unit depends on the second.
#
# <details><summary>Hint 1</summary>
#
# $\mathbf W \mathbf x$ for a column is `W @ x`. What is it for rows? Write the shapes underneath; for `W`
# only one way of multiplying fits.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `U` is square, so both `h @ U` and `h @ U.T` run. Do the example by hand with each.
#
# </details>


# %% solution="rnn_step"
def rnn_step(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Tensor:
    """The states (B, D) after words x (B, d_input), from the states h (B, D) before them."""
    ### BEGIN SOLUTION
    return torch.tanh(x @ W.T + h @ U.T + b)
    ### END SOLUTION


# %% check="the_example_step_gives_0_7163_and_0_4621" points=1
def the_example_step_gives_0_7163_and_0_4621(rnn_step):
    """The step of the example leads to (tanh 0.9, tanh 0.5), zeros beside it in the batch to (0, tanh 0.5)."""
    W, U, b = numbers([1.0], [0.0]), numbers([0.0, 1.0], [0.0, 0.0]), torch.tensor([0.0, 0.5]).double()
    expected = numbers([math.tanh(0.9), math.tanh(0.5)], [0.0, math.tanh(0.5)])
    x, h = numbers([0.5], [0.0]), numbers([0.2, 0.4], [0.0, 0.0])
    assert_close(rnn_step(x, h, W, U, b), expected)
    assert_differentiable(rnn_step, x, h, W, U, b)


# %% check="a_unit_listens_through_its_own_rows" points=1
def a_unit_listens_through_its_own_rows(rnn_step, draw):
    """Where row 2 of W and of U is zero, unit 2 depends on neither the word nor the state; the others do."""
    weights, x, h = rnn_weights(draw, 3, 5), draw.normal(2, 3), draw.normal(2, 5)
    weights["W"][2], weights["U"][2] = 0.0, 0.0
    answer = rnn_step(x, h, **weights)
    for what, elsewhere in (
        ("state", rnn_step(x, h + 1, **weights)),
        ("word", rnn_step(x + 1, h, **weights)),
    ):
        assert_close(elsewhere[:, 2], answer[:, 2], what=f"unit 2 after another {what}")
        assert_depends(answer[:, :2], elsewhere[:, :2])


# %% check="without_word_and_state_the_constant_remains" points=1
def without_word_and_state_the_constant_remains(rnn_step, draw):
    """With a word of zeros and a state of zeros the new state is tanh(b)."""
    weights = rnn_weights(draw, 3, 4)
    answer = rnn_step(torch.zeros(2, 3).double(), torch.zeros(2, 4).double(), **weights)
    assert_close(answer, torch.tanh(weights["b"]).expand(2, 4))


# %% check="a_state_stays_between_minus_one_and_one" points=1
def a_state_stays_between_minus_one_and_one(rnn_step, draw):
    """However large words and state are, the new state lies within -1 and 1, on both sides of 0."""
    answer = rnn_step(50 * draw.normal(6, 3), 50 * draw.normal(6, 4), **rnn_weights(draw, 3, 4))
    assert_true(answer.abs().max() <= 1, f"The largest entry of the state is {answer.abs().max():.3f}.")
    assert_true(answer.min() < -0.9, "No entry of the state is near -1.")


# %% check="other_steps_agree_with_torch" points=2 hidden
def other_steps_agree_with_torch(rnn_step, draw):
    """Steps of other sizes lead to the states of torch's own cell."""
    for batch_size, d_input, d_hidden in ((3, 2, 5), (2, 6, 3)):
        weights = rnn_weights(draw, d_input, d_hidden)
        x, h = draw.normal(batch_size, d_input), draw.normal(batch_size, d_hidden)
        _, last = torch_rnn(**weights)(x[:, None], h[None])
        assert_close(rnn_step(x, h, **weights), last[0].detach())


# %% [markdown] exercise="RNN" difficulty=2 minutes=25 forbids="torch.nn.RNN,torch.nn.RNNCell,torch.rnn_tanh,torch.rnn_tanh_cell,torch_rnn" dtype="float64"
# ### 2. A whole text
#
# The same step, with the same weights, at every word: this is **unrolling**. The network gives back all its
# states, since a language model needs each of them, and once more the last one, from which the next piece of
# the text can go on.
#
# Write the class `RNN`, an `nn.Module`:
#
# - `RNN(d_input, d_hidden)` has three parameters of these names and shapes, filled however you like (the
#   checks load their own): `W` (D, d_input), `U` (D, D), `b` (D,). All float64.
# - `forward(x, h_0=None)` takes x (B, T, d_input) and the states before the first word, (B, D), one row for
#   each text; `None` stands for zeros. It returns the tuple `(states, last)` of shapes (B, T, D) and (B, D).
#
# **Example.** $d_{input} = D = 1$, `W = [[1]]`, `U = [[1]]`, `b = [0]`. The text `[[[1], [0]]]` has the
# states $\tanh 1 \approx 0.7616$ and $\tanh 0.7616 \approx 0.6420$; from `h_0 = [[-1]]` the same text leads
# to $\tanh 0 = 0$ and 0.
#
# <details><summary>Hint 1</summary>
#
# `x.unbind(dim=...)` is a list of tensors. Which axis has to be taken apart so that each of them is one word
# of every text?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Collect the states in a list, after the step. Along which axis does `torch.stack` have to lay them for
# (B, T, D)?
#
# </details>


# %% alive="a_drawing_rnn"
from course import figures

figures.machine("rnn")  # step by step


# %% solution="RNN"
class RNN(nn.Module):
    """The states of a recurrent network at every word; parameters W (D, d_input), U (D, D), b (D,)."""

    def __init__(self, d_input: int, d_hidden: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.W = nn.Parameter(0.1 * torch.randn(d_hidden, d_input, dtype=torch.float64))
        self.U = nn.Parameter(0.1 * torch.randn(d_hidden, d_hidden, dtype=torch.float64))
        self.b = nn.Parameter(torch.zeros(d_hidden, dtype=torch.float64))
        ### END SOLUTION

    def forward(self, x: Tensor, h_0: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """All states (B, T, D) and the last one (B, D), from x (B, T, d_input) and h_0 (B, D)."""
        ### BEGIN SOLUTION
        h = x.new_zeros(len(x), len(self.b)) if h_0 is None else h_0
        states = []
        for x_t in x.unbind(dim=1):  # T times (B, d_input)
            h = torch.tanh(x_t @ self.W.T + h @ self.U.T + self.b)
            states.append(h)
        return torch.stack(states, dim=1), h
        ### END SOLUTION


# %% check="the_three_parameters_are_registered" points=1
def the_three_parameters_are_registered(RNN, draw):
    """The module knows the parameters W, U and b, in float64, and no others."""
    model = RNN(3, 5)
    assert_equal({*model.gradients()}, {"U", "W", "b"})
    model.load_state_dict(rnn_weights(draw, 3, 5))
    assert_dtype(model.parameters(), torch.float64, what="a parameter")


# %% check="the_example_text_has_its_states" points=1
def the_example_text_has_its_states(RNN):
    """The text of the example has the states 0.7616 and 0.6420, 0 and 0 after h_0 = -1; gradients flow back."""
    model = with_weights(RNN(1, 1), {"W": numbers([1.0]), "U": numbers([1.0]), "b": torch.zeros(1).double()})
    x = numbers([[1.0], [0.0]])
    first = math.tanh(1)
    assert_close(model(x)[0], numbers([[first], [math.tanh(first)]]), what="the states")
    assert_close(model(x, numbers([-1.0]))[0], numbers([[0.0], [0.0]]), what="the states after h_0 = -1")
    assert_differentiable(model, x, numbers([-1.0]))


# %% check="the_last_state_is_the_one_after_the_last_word" points=1
def the_last_state_is_the_one_after_the_last_word(RNN, draw):
    """The second result is the state at the last word of each text."""
    model = with_weights(RNN(3, 4), rnn_weights(draw, 3, 4))
    states, last = model(draw.normal(2, 5, 3))
    assert_equal(list(states.shape), [2, 5, 4], what="the shape of the states")
    assert_close(last, states[:, -1])


# %% check="each_state_is_one_step_from_the_one_before" points=1
def each_state_is_one_step_from_the_one_before(RNN, draw):
    """Every state but the first is the step of exercise 1 from its word and the state before."""
    weights, x = rnn_weights(draw, 3, 4), draw.normal(2, 5, 3)
    states, _ = with_weights(RNN(3, 4), weights)(x)
    expected = torch.tanh(x[:, 1:] @ weights["W"].T + states[:, :-1].double() @ weights["U"].T + weights["b"])
    assert_close(states[:, 1:], expected)
    assert_depends(states[:, 1:], states[:, :-1])


# %% check="the_past_moves_the_future_and_not_the_other_way_round" points=1
def the_past_moves_the_future_and_not_the_other_way_round(RNN, draw):
    """Another word at step 3 changes the states from step 3 on, and none before."""
    model, x = RNN(3, 4), draw.normal(2, 5, 3)
    model.load_state_dict(rnn_weights(draw, 3, 4))
    other = x.clone()
    other[:, 2] += 1
    states, elsewhere = model(x)[0], model(other)[0]
    assert_close(elsewhere[:, :2], states[:, :2], what="the states before the word")
    for t in (2, 3, 4):
        assert_depends(states[:, t], elsewhere[:, t])


# %% check="texts_of_a_batch_do_not_meet" points=1
def texts_of_a_batch_do_not_meet(RNN, draw):
    """Each text has the states it has when it is read alone."""
    model, x = RNN(3, 4), draw.normal(2, 5, 3)
    model.load_state_dict(rnn_weights(draw, 3, 4))
    together = model(x)[0]
    for row in range(2):
        assert_close(together[row], model(x[row : row + 1])[0][0], what=f"text {row}")
    assert_depends(together[0], together[1])


# %% check="each_text_starts_from_its_own_state" points=1
def each_text_starts_from_its_own_state(RNN, draw):
    """Each row of h_0 is the state of its own text before the first word."""
    model, x, h_0 = RNN(3, 4), draw.normal(2, 5, 3), draw.normal(2, 4)
    model.load_state_dict(rnn_weights(draw, 3, 4))
    together = model(x, h_0)[0]
    for row in range(2):
        alone = model(x[row : row + 1], h_0[row : row + 1])[0][0]
        assert_close(together[row], alone, what=f"text {row}")
    assert_depends(together, model(x)[0])


# %% check="two_pieces_are_the_whole" points=1
def two_pieces_are_the_whole(RNN, draw):
    """Reading three words or one, and the others from the last state on, is reading all seven."""
    model, x = RNN(3, 4), draw.normal(2, 7, 3)
    model.load_state_dict(rnn_weights(draw, 3, 4))
    whole = model(x)[0]
    for n in (3, 1):
        first = model(x[:, :n])
        second = model(x[:, n:], first[1])
        assert_close(torch.cat([first[0], second[0]], dim=1), whole, what=f"the states, {n} words first")


# %% check="a_loss_on_the_last_state_reaches_the_first_word" points=1
def a_loss_on_the_last_state_reaches_the_first_word(RNN, draw):
    """Where all words but the first are zeros, a loss on the last states still has a gradient for W."""
    model, x = RNN(3, 4), draw.normal(2, 5, 3)
    x[:, 1:] = 0.0
    model.load_state_dict(rnn_weights(draw, 3, 4))
    model(x)[1].sum().backward()
    assert_true(bool((model.gradients()["W"] != 0).any()), "The gradient of W is zero.")


# %% check="other_texts_agree_with_torch" points=3 hidden
def other_texts_agree_with_torch(RNN, draw):
    """Texts of other sizes have the states and gradients of torch.nn.RNN."""
    for batch_size, length, d_input, d_hidden in ((3, 4, 2, 5), (4, 3, 6, 2)):
        weights = rnn_weights(draw, d_input, d_hidden)
        x, h_0 = draw.normal(batch_size, length, d_input), draw.normal(batch_size, d_hidden)
        weighting = draw.normal(batch_size, length, d_hidden)
        model, theirs = with_weights(RNN(d_input, d_hidden), weights), torch_rnn(**weights)
        states, last = model(x, h_0)
        expected, expected_last = theirs(x, h_0[None])
        assert_close(states, expected.detach(), what="states")
        assert_close(last, expected_last[0].detach(), what="last")
        (states * weighting).sum().backward()
        (expected * weighting).sum().backward()
        gradients = model.gradients()
        for name, own in zip("WUb", ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0"), strict=True):
            assert_close(gradients[name], getattr(theirs, own).grad, what=f"the gradient of {name}")
