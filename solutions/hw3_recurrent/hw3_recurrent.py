# %% [markdown]
# # Homework 3: recurrent networks
#
# You build what lectures 07 to 09 are about: a network whose state carries the past, the gradient that
# travels back through it, what becomes of that gradient on the way, the gates that help it, and labels for
# every word of a text. In the end a network of yours must remember a word over a distance.
#
# | part | about | minutes |
# |---|---|---|
# | A | a state, step by step | 35 |
# | B | backpropagation through time, by hand | 50 |
# | C | long texts in pieces | 40 |
# | D | gradients that vanish and explode | 45 |
# | E | several layers, both directions | 50 |
# | F | gates: LSTM and GRU | 55 |
# | G | labels for every word | 35 |
# | H | the distance experiment; a fault to find | 50 |
#
# Each exercise is a statement, a function for you to write, and its checks. Some checks are kept back for
# grading: they make the same claims about other sizes and other numbers. The exercises do not build on each
# other's code, so take them in any order.
#
# Words used throughout: B texts are read at once, T words of each; `d_input` is the number of numbers per
# word, `d_hidden` the width $D$ of the state. The states of B texts are the **rows** of a matrix (B, D), and
# inputs are (B, T, d_input). `W` (D, d_input) reads the word, `U` (D, D) reads the state before it, and `b`
# (D,) is a constant. Numbers are float64, words are int64, logarithms are natural.

# %% setup

# %% provided="imports"
import math
from itertools import pairwise

import torch
from torch import Tensor, nn

from course.checks import assert_close, assert_equal, assert_true, assert_unchanged, homework

check = homework("hw3_recurrent")


def assert_depends(answer, elsewhere):
    """An answer that is the same for quite another input is no answer."""
    answer, elsewhere = torch.as_tensor(answer), torch.as_tensor(elsewhere)
    differ = answer.shape != elsewhere.shape or bool(((answer - elsewhere).abs() > 1e-6).any())
    assert_true(differ, "The answer is the same for quite another input.")


def numbers(*rows):
    """A float64 tensor of these rows."""
    return torch.tensor(rows, dtype=torch.float64)


# %% provided="recurrent_weights"
def rnn_weights(draw, d_input, d_hidden):
    """Random weights of a recurrent layer, by name."""
    return {
        "W": draw.normal(d_hidden, d_input) / 2,
        "U": draw.normal(d_hidden, d_hidden) / 2,
        "b": draw.normal(d_hidden) / 2,
    }


def torch_rnn(W, U, b):
    """torch's own recurrent layer with these weights; its two constants are only ever added."""
    layer = nn.RNN(W.shape[1], W.shape[0], batch_first=True).double()
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    layer.load_state_dict(dict(zip(names, (W, U, b, torch.zeros_like(b)), strict=True)))
    return layer


# %% [markdown]
# ## Part A. A state, step by step

# %% [markdown] exercise="rnn_step" difficulty=1 minutes=10 forbids="torch.nn.RNN,torch.nn.RNNCell"
# ### 1. One step
#
# A recurrent network reads a text word by word and keeps a **state**. At each word the state is made anew
# from the word and from the state before it:
#
# $$\mathbf h_t = \tanh(\mathbf W \mathbf x_t + \mathbf U \mathbf h_{t-1} + \mathbf b)$$
#
# Write `rnn_step(x, h, W, U, b)`, which returns the new states (B, D) of B texts. `x` (B, d_input) holds
# the word of each text, `h` (B, D) the state of each text before it, one **row** per text; `W` is
# (D, d_input), `U` is (D, D), `b` is (D,). The formula is about columns, as formulas are.
#
# **Example.** One text, $d_{input} = 1$, $D = 2$: `W = [[1], [0]]`, `U = [[0, 1], [0, 0]]`, `b = [0, 0.5]`.
# From `h = [[0.2, 0.4]]` and `x = [[0.5]]` come $\tanh(0.5 + 0.4) \approx 0.7163$ and $\tanh(0.5) \approx
# 0.4621$: the first row of `U` says that the first unit listens to the second.
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
    """The step of the example leads to the state (tanh 0.9, tanh 0.5)."""
    W, U, b = numbers([1.0], [0.0]), numbers([0.0, 1.0], [0.0, 0.0]), torch.tensor([0.0, 0.5]).double()
    expected = numbers([math.tanh(0.9), math.tanh(0.5)])
    assert_close(rnn_step(numbers([0.5]), numbers([0.2, 0.4]), W, U, b), expected)


check(the_example_step_gives_0_7163_and_0_4621, rnn_step)


# %% check="a_unit_listens_through_its_own_row_of_u" points=1
def a_unit_listens_through_its_own_row_of_u(rnn_step, draw):
    """Where row 2 of U is zero, unit 2 does not hear the state before, and the others do."""
    weights, x, h = rnn_weights(draw, 3, 5), draw.normal(2, 3), draw.normal(2, 5)
    weights["U"][2] = 0.0
    answer, elsewhere = rnn_step(x, h, **weights), rnn_step(x, h + 1, **weights)
    assert_close(elsewhere[:, 2], answer[:, 2])
    assert_depends(answer[:, :2], elsewhere[:, :2])


check(a_unit_listens_through_its_own_row_of_u, rnn_step)


# %% check="without_word_and_state_the_constant_remains" points=1
def without_word_and_state_the_constant_remains(rnn_step, draw):
    """With a word of zeros and a state of zeros the new state is tanh(b)."""
    weights = rnn_weights(draw, 3, 4)
    answer = rnn_step(torch.zeros(2, 3).double(), torch.zeros(2, 4).double(), **weights)
    assert_close(answer, torch.tanh(weights["b"]).expand(2, 4))


check(without_word_and_state_the_constant_remains, rnn_step)


# %% check="a_state_stays_between_minus_one_and_one" points=1
def a_state_stays_between_minus_one_and_one(rnn_step, draw):
    """However large words and state are, the new state lies within -1 and 1, on both sides of 0."""
    answer = rnn_step(50 * draw.normal(6, 3), 50 * draw.normal(6, 4), **rnn_weights(draw, 3, 4))
    assert_true(answer.abs().max() <= 1, f"The largest entry of the state is {answer.abs().max():.3f}.")
    assert_true(answer.min() < -0.9, "No entry of the state is near -1.")


check(a_state_stays_between_minus_one_and_one, rnn_step)


# %% check="other_steps_agree_with_torch" points=2 hidden
def other_steps_agree_with_torch(rnn_step, draw):
    """Steps of other sizes lead to the states of torch's own cell."""
    for batch_size, d_input, d_hidden in ((3, 2, 5), (2, 6, 3)):
        weights = rnn_weights(draw, d_input, d_hidden)
        x, h = draw.normal(batch_size, d_input), draw.normal(batch_size, d_hidden)
        _, last = torch_rnn(**weights)(x[:, None], h[None])
        assert_close(rnn_step(x, h, **weights), last[0].detach())


check(other_steps_agree_with_torch, rnn_step)

# %% [markdown] exercise="RNN" difficulty=2 minutes=25 forbids="torch.nn.RNN,torch.nn.RNNCell"
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
def the_three_parameters_are_registered(RNN):
    """The module knows the parameters W, U and b, and no others."""
    assert_equal(sorted(RNN(3, 5).gradients()), ["U", "W", "b"])


check(the_three_parameters_are_registered, RNN)


# %% check="the_example_text_has_its_states" points=1
def the_example_text_has_its_states(RNN):
    """The text of the example has the states 0.7616 and 0.6420, and 0 and 0 after h_0 = -1."""
    model = RNN(1, 1)
    model.load_state_dict({"W": numbers([1.0]), "U": numbers([1.0]), "b": torch.zeros(1).double()})
    x = numbers([[1.0], [0.0]])
    first = math.tanh(1)
    assert_close(model(x)[0], numbers([[first], [math.tanh(first)]]), what="the states")
    assert_close(model(x, numbers([-1.0]))[0], numbers([[0.0], [0.0]]), what="the states after h_0 = -1")


check(the_example_text_has_its_states, RNN)


# %% check="the_last_state_is_the_one_after_the_last_word" points=1
def the_last_state_is_the_one_after_the_last_word(RNN, draw):
    """The second result is the state at the last word of each text."""
    model = RNN(3, 4)
    model.load_state_dict(rnn_weights(draw, 3, 4))
    states, last = model(draw.normal(2, 5, 3))
    assert_equal(list(states.shape), [2, 5, 4], what="the shape of the states")
    assert_close(last, states[:, -1])


check(the_last_state_is_the_one_after_the_last_word, RNN)


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


check(the_past_moves_the_future_and_not_the_other_way_round, RNN)


# %% check="texts_of_a_batch_do_not_meet" points=1
def texts_of_a_batch_do_not_meet(RNN, draw):
    """Each text has the states it has when it is read alone."""
    model, x = RNN(3, 4), draw.normal(2, 5, 3)
    model.load_state_dict(rnn_weights(draw, 3, 4))
    together = model(x)[0]
    for row in range(2):
        assert_close(together[row], model(x[row : row + 1])[0][0], what=f"text {row}")
    assert_depends(together[0], together[1])


check(texts_of_a_batch_do_not_meet, RNN)


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


check(each_text_starts_from_its_own_state, RNN)


# %% check="two_pieces_are_the_whole" points=1
def two_pieces_are_the_whole(RNN, draw):
    """Reading three words, and four more from the last state on, is reading seven words."""
    model, x = RNN(3, 4), draw.normal(2, 7, 3)
    model.load_state_dict(rnn_weights(draw, 3, 4))
    whole, first = model(x)[0], model(x[:, :3])
    second = model(x[:, 3:], first[1])
    assert_close(torch.cat([first[0], second[0]], dim=1), whole)


check(two_pieces_are_the_whole, RNN)


# %% check="other_texts_agree_with_torch" points=3 hidden
def other_texts_agree_with_torch(RNN, draw):
    """Texts of other sizes have the states, and W, U, b the gradients, of torch.nn.RNN."""
    for batch_size, length, d_input, d_hidden in ((3, 4, 2, 5), (4, 3, 6, 2)):
        weights = rnn_weights(draw, d_input, d_hidden)
        x, h_0 = draw.normal(batch_size, length, d_input), draw.normal(batch_size, d_hidden)
        weighting = draw.normal(batch_size, length, d_hidden)
        model, theirs = RNN(d_input, d_hidden), torch_rnn(**weights)
        model.load_state_dict(weights)
        states, last = model(x, h_0)
        expected, expected_last = theirs(x, h_0[None])
        assert_close(states, expected.detach(), what="states")
        assert_close(last, expected_last[0].detach(), what="last")
        (states * weighting).sum().backward()
        (expected * weighting).sum().backward()
        gradients = model.gradients()
        for name, own in zip("WUb", ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0"), strict=True):
            assert_close(gradients[name], getattr(theirs, own).grad, what=f"the gradient of {name}")


check(other_texts_agree_with_torch, RNN)

# %% [markdown]
# ## Part B. Backpropagation through time, by hand
#
# A letter d before a name stands for a gradient of the loss: `dU` is $\partial L / \partial \mathbf U$, in
# the shape of `U`. Write the gradients as formulas; torch's autograd stays off until you compare.

# %% [markdown] exercise="state_gradients" difficulty=2 minutes=20 forbids=".backward,torch.autograd"
# ### 3. What the states are told
#
# The loss is a sum over the steps, $L = L_1 + \dots + L_T$, and $L_t$ looks at $\mathbf h_t$ alone. But
# $\mathbf h_t$ also leads to $\mathbf h_{t+1}$, and through it to all later losses. So a state hears from two
# sides: **directly** from the loss at its own step, and from the next state, which hands on all **it** has
# heard:
#
# $$\frac{\partial L}{\partial \mathbf h_t} = \frac{\partial L_t}{\partial \mathbf h_t} + \mathbf U^\top
# \left( (1 - \mathbf h_{t+1}^2) \odot \frac{\partial L}{\partial \mathbf h_{t+1}} \right), \qquad
# \frac{\partial L}{\partial \mathbf h_T} = \frac{\partial L_T}{\partial \mathbf h_T}.$$
#
# Write `state_gradients(direct, states, U)`, which returns $\partial L / \partial \mathbf h_t$ for all
# steps, (B, T, D). `direct` (B, T, D) holds $\partial L_t / \partial \mathbf h_t$, `states` (B, T, D) the
# states, and `U` is (D, D).
#
# **Example.** One text, $D = 1$, `U = [[0.5]]`, states 0.6, 0.8, 0. Only the last step has a loss: `direct`
# is 0, 0, 1. The gradients are 0.09, 0.5, 1: one step back $0.5 \cdot (1 - 0^2) \cdot 1$, two steps back
# $0.5 \cdot (1 - 0.8^2) \cdot 0.5$.
#
# <details><summary>Hint 1</summary>
#
# In which order can the steps be done, if each needs the result of the one after it?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The slope $1 - \mathbf h^2$ belongs to the tanh between $\mathbf h_t$ and $\mathbf h_{t+1}$. Which of the
# two did that tanh produce?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# For a column the formula says $\mathbf U^\top \boldsymbol\delta$. What is that for rows?
#
# </details>


# %% solution="state_gradients"
def state_gradients(direct: Tensor, states: Tensor, U: Tensor) -> Tensor:
    """∂L/∂h_t for every step (B, T, D), from what each step's own loss says of its state (B, T, D)."""
    ### BEGIN SOLUTION
    total = direct.clone()
    for t in range(direct.shape[1] - 2, -1, -1):
        delta = (1 - states[:, t + 1] ** 2) * total[:, t + 1]  # (B, D)
        total[:, t] += delta @ U
    return total
    ### END SOLUTION


# %% provided="losses_through_time"
def weighted_states(draw, batch_size, length, d_input, d_hidden):
    """A loss Σ weighting · h_t over a small network of torch: all that exercises 3 and 4 need and find."""
    weights = rnn_weights(draw, d_input, d_hidden)
    cell = nn.RNNCell(d_input, d_hidden).double()
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    cell.load_state_dict(dict(zip(names, (*weights.values(), torch.zeros(d_hidden)), strict=True)))
    x = draw.normal(batch_size, length, d_input).requires_grad_()
    h_0 = draw.normal(batch_size, d_hidden).requires_grad_()
    weighting = draw.normal(batch_size, length, d_hidden)
    h, states = h_0, []
    for x_t in x.unbind(dim=1):
        h = cell(x_t, h)
        h.retain_grad()
        states.append(h)
    (torch.stack(states, dim=1) * weighting).sum().backward()
    return weights | {
        "x": x.detach(),
        "h_0": h_0.detach(),
        "direct": weighting,
        "states": torch.stack(states, dim=1).detach(),
        "total": torch.stack([h.grad for h in states], dim=1),
        "dW": cell.weight_ih.grad,
        "dU": cell.weight_hh.grad,
        "db": cell.bias_ih.grad,
        "dx": x.grad,
        "dh_0": h_0.grad,
    }


# %% check="the_example_states_hear_0_09_0_5_and_1" points=1
def the_example_states_hear_0_09_0_5_and_1(state_gradients):
    """The three states of the example have the gradients 0.09, 0.5 and 1."""
    direct, states = numbers([[0.0], [0.0], [1.0]]), numbers([[0.6], [0.8], [0.0]])
    assert_close(state_gradients(direct, states, numbers([0.5])), numbers([[0.09], [0.5], [1.0]]))


check(the_example_states_hear_0_09_0_5_and_1, state_gradients)


# %% check="the_last_state_hears_its_own_loss_only" points=1
def the_last_state_hears_its_own_loss_only(state_gradients, draw):
    """At the last step the gradient is the direct one, whatever the other steps say."""
    direct, states, U = draw.normal(2, 5, 3), draw.normal(2, 5, 3).tanh(), draw.normal(3, 3)
    assert_close(state_gradients(direct, states, U)[:, -1], direct[:, -1])


check(the_last_state_hears_its_own_loss_only, state_gradients)


# %% check="a_saturated_state_hands_nothing_back" points=1
def a_saturated_state_hands_nothing_back(state_gradients, draw):
    """Where the state of step 4 is at ±1, step 3 hears its own loss only, and step 4 its own and later ones."""
    direct, states, U = draw.normal(2, 5, 3), 0.8 * draw.normal(2, 5, 3).tanh(), draw.normal(3, 3)
    states[:, 3] = numbers([1.0, -1.0, 1.0], [-1.0, 1.0, 1.0])
    answer = state_gradients(direct, states, U)
    assert_close(answer[:, 2], direct[:, 2])
    assert_depends(answer[:, 3], direct[:, 3])


check(a_saturated_state_hands_nothing_back, state_gradients)


# %% check="the_message_goes_to_the_unit_that_was_listened_to" points=1
def the_message_goes_to_the_unit_that_was_listened_to(state_gradients):
    """If unit 0 listens to unit 2 alone, a loss on unit 0 is told to unit 2 of the step before."""
    U = numbers([0.0, 0.0, 0.7], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    direct = numbers([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    answer = state_gradients(direct, torch.zeros(1, 2, 3).double(), U)
    assert_close(answer[:, 0], numbers([0.0, 0.0, 0.7]))


check(the_message_goes_to_the_unit_that_was_listened_to, state_gradients)


# %% check="other_states_agree_with_autograd" points=3 hidden
def other_states_agree_with_autograd(state_gradients, draw):
    """Networks of other sizes have the state gradients that autograd finds."""
    for sizes in ((2, 6, 3, 4), (3, 4, 2, 5)):
        known = weighted_states(draw, *sizes)
        assert_close(state_gradients(known["direct"], known["states"], known["U"]), known["total"])


check(other_states_agree_with_autograd, state_gradients)

# %% [markdown] exercise="bptt_gradients" difficulty=3 minutes=30 forbids=".backward,torch.autograd"
# ### 4. What the weights are told
#
# The weights are the same at every step, so each step has its say and the gradients **add up** over the
# steps. With $\boldsymbol\delta_t = (1 - \mathbf h_t^2) \odot \partial L / \partial \mathbf h_t$, the
# gradient before the tanh of step t:
#
# $$\frac{\partial L}{\partial \mathbf W} = \sum_t \boldsymbol\delta_t \mathbf x_t^\top \qquad
# \frac{\partial L}{\partial \mathbf U} = \sum_t \boldsymbol\delta_t \mathbf h_{t-1}^\top \qquad
# \frac{\partial L}{\partial \mathbf b} = \sum_t \boldsymbol\delta_t$$
#
# and, for whatever stands below the network or came before the text,
#
# $$\frac{\partial L}{\partial \mathbf x_t} = \mathbf W^\top \boldsymbol\delta_t \qquad
# \frac{\partial L}{\partial \mathbf h_0} = \mathbf U^\top \boldsymbol\delta_1.$$
#
# Write `bptt_gradients(total, states, x, h_0, W, U)`, which returns a dict with `"dW"`, `"dU"`, `"db"`,
# `"dx"` and `"dh_0"`, each in the shape of its thing. `total` (B, T, D) is what the last exercise found,
# $\partial L / \partial \mathbf h_t$; `states` is (B, T, D), `x` (B, T, d_input), `h_0` (B, D). The
# gradients of the weights are summed over the texts, nothing is averaged. There is a check for each
# gradient.
#
# **Example.** One text of two words, everything one number wide: $W = 2$, $U = 0.5$, $h_0 = 1$, words 3
# and 4, states 0 and 0, `total` 10 and 1. Then $\delta$ is 10 and 1, $dW = 10 \cdot 3 + 1 \cdot 4 = 34$,
# $dU = 10 \cdot 1 + 1 \cdot 0 = 10$, $db = 11$, $dx = (20, 2)$ and $dh_0 = 5$.
#
# <details><summary>Hint 1</summary>
#
# Compute $\boldsymbol\delta$ for all steps first, (B, T, D). Every gradient is a product with it.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# For `dU` you need, beside each $\boldsymbol\delta_t$, the state one step **before**. What stands before the
# first?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `torch.einsum("btd,bti->di", ...)` sums over texts and steps at once; a loop with `+=` does too.
#
# </details>


# %% solution="bptt_gradients"
def bptt_gradients(
    total: Tensor, states: Tensor, x: Tensor, h_0: Tensor, W: Tensor, U: Tensor
) -> dict[str, Tensor]:
    """The gradients dW, dU, db, dx and dh_0 of a recurrent layer, from those of its states (B, T, D)."""
    ### BEGIN SOLUTION
    delta = (1 - states**2) * total  # (B, T, D)
    before = torch.cat([h_0[:, None], states[:, :-1]], dim=1)  # (B, T, D)
    return {
        "dW": torch.einsum("btd,bti->di", delta, x),
        "dU": torch.einsum("btd,bte->de", delta, before),
        "db": delta.sum(dim=(0, 1)),
        "dx": delta @ W,
        "dh_0": delta[:, 0] @ U,
    }
    ### END SOLUTION


# %% provided="one_gradient"
def assert_gradient(bptt_gradients, draw, name):
    """One of the five gradients is that of autograd, for B = 2, T = 4, d_input = 3, D = 5."""
    known = weighted_states(draw, 2, 4, 3, 5)
    arguments = {key: known[key] for key in ("total", "states", "x", "h_0", "W", "U")}
    assert_close(bptt_gradients(**arguments)[name], known[name], what=name)


# %% check="the_example_has_its_five_gradients" points=1
def the_example_has_its_five_gradients(bptt_gradients):
    """The gradients of the example are dW = 34, dU = 10, db = 11, dx = (20, 2) and dh_0 = 5."""
    total, states, x = numbers([[10.0], [1.0]]), numbers([[0.0], [0.0]]), numbers([[3.0], [4.0]])
    own = bptt_gradients(total, states, x, numbers([1.0]), numbers([2.0]), numbers([0.5]))
    expected = {"dW": numbers([34.0]), "dU": numbers([10.0]), "db": torch.tensor([11.0]).double()}
    expected |= {"dx": numbers([[20.0], [2.0]]), "dh_0": numbers([5.0])}
    for name, value in expected.items():
        assert_close(own[name], value, what=name)


check(the_example_has_its_five_gradients, bptt_gradients)


# %% check="dW_adds_up_over_the_steps" points=1
def dW_adds_up_over_the_steps(bptt_gradients, draw):
    """dW is what autograd finds: the sum over all steps of all texts."""
    assert_gradient(bptt_gradients, draw, "dW")


check(dW_adds_up_over_the_steps, bptt_gradients)


# %% check="dU_pairs_each_step_with_the_state_before" points=1
def dU_pairs_each_step_with_the_state_before(bptt_gradients, draw):
    """dU is what autograd finds, the first step with h_0 included."""
    assert_gradient(bptt_gradients, draw, "dU")


check(dU_pairs_each_step_with_the_state_before, bptt_gradients)


# %% check="db_adds_up_over_the_steps" points=1
def db_adds_up_over_the_steps(bptt_gradients, draw):
    """db is what autograd finds: the sum over all steps of all texts."""
    assert_gradient(bptt_gradients, draw, "db")


check(db_adds_up_over_the_steps, bptt_gradients)


# %% check="dx_goes_back_through_w" points=1
def dx_goes_back_through_w(bptt_gradients, draw):
    """dx is what autograd finds, for every word of every text."""
    assert_gradient(bptt_gradients, draw, "dx")


check(dx_goes_back_through_w, bptt_gradients)


# %% check="dh_0_hears_from_the_first_step" points=1
def dh_0_hears_from_the_first_step(bptt_gradients, draw):
    """dh_0 is what autograd finds: the first step's message, sent back through U."""
    assert_gradient(bptt_gradients, draw, "dh_0")


check(dh_0_hears_from_the_first_step, bptt_gradients)


# %% check="all_five_hold_for_other_sizes" points=3 hidden
def all_five_hold_for_other_sizes(bptt_gradients, draw):
    """With other sizes and weights, all five gradients are what autograd finds."""
    for sizes in ((3, 5, 2, 4), (2, 3, 6, 4)):
        known = weighted_states(draw, *sizes)
        own = bptt_gradients(**{key: known[key] for key in ("total", "states", "x", "h_0", "W", "U")})
        for name in ("dW", "dU", "db", "dx", "dh_0"):
            assert_close(own[name], known[name], what=name)


check(all_five_hold_for_other_sizes, bptt_gradients)

# %% [markdown]
# ## Part C. Long texts in pieces

# %% [markdown] exercise="stream_batches" difficulty=2 minutes=15
# ### 5. A long text as B streams
#
# A text of a million words is too long for one backward pass, and read word by word it is slow. So it is cut
# into B **streams** that are read side by side, and the streams are cut into **pieces**. Row k of the batch is
# stream k, from the first piece to the last: where row k stops in one piece, it goes on in the next. Only then
# does a state that is handed on belong to the text that follows.
#
# Write `stream_batches(tokens, batch_size, n_steps)`. `tokens` is the text, (N,) int64. Each stream reads
# $S = \lfloor (N - 1) / B \rfloor$ words: stream k reads the words k·S, …, k·S + S − 1, and predicts at each
# of them the word that comes next in the text. What is left at the end of the text is not used. Return a list
# of tuples `(inputs, targets)`, each tensor (B, `n_steps`), in the order of reading; the last piece may be
# shorter, but it has all B rows.
#
# **Example.** The text 0, 1, …, 13 with `batch_size = 2` and `n_steps = 4`: $S = 6$, the streams read 0…5 and
# 6…11, and the word 13 is never used. The pieces are
#
# | inputs | targets |
# |---|---|
# | `[[0, 1, 2, 3], [6, 7, 8, 9]]` | `[[1, 2, 3, 4], [7, 8, 9, 10]]` |
# | `[[4, 5], [10, 11]]` | `[[5, 6], [11, 12]]` |
#
# <details><summary>Hint 1</summary>
#
# Lay the text out as a table with one row per stream first, (B, S), once for the inputs and once for the
# targets. Cut the tables afterwards.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The targets are the same cut of the text, one word later. The target of the last word of stream 0 is the
# first word of stream 1.
#
# </details>


# %% solution="stream_batches"
def stream_batches(tokens: Tensor, batch_size: int, n_steps: int) -> list[tuple[Tensor, Tensor]]:
    """Pieces of `batch_size` streams of a text (N,): inputs and targets, (B, n_steps) each, in order."""
    ### BEGIN SOLUTION
    length = (len(tokens) - 1) // batch_size
    n_read = batch_size * length
    inputs = tokens[:n_read].reshape(batch_size, length)
    targets = tokens[1 : n_read + 1].reshape(batch_size, length)
    pieces = zip(inputs.split(n_steps, dim=1), targets.split(n_steps, dim=1), strict=True)
    return list(pieces)
    ### END SOLUTION


# %% check="the_example_text_makes_two_pieces" points=1
def the_example_text_makes_two_pieces(stream_batches):
    """The text of the example makes the two pieces of the table."""
    pieces = stream_batches(torch.arange(14), 2, 4)
    assert_equal(len(pieces), 2, what="the number of pieces")
    expected = (([[0, 1, 2, 3], [6, 7, 8, 9]], [[1, 2, 3, 4], [7, 8, 9, 10]]),)
    expected += (([[4, 5], [10, 11]], [[5, 6], [11, 12]]),)
    for (inputs, targets), (own_inputs, own_targets) in zip(pieces, expected, strict=True):
        assert_equal(inputs, torch.tensor(own_inputs), what="inputs")
        assert_equal(targets, torch.tensor(own_targets), what="targets")


check(the_example_text_makes_two_pieces, stream_batches)


# %% check="a_row_goes_on_where_it_stopped" points=1
def a_row_goes_on_where_it_stopped(stream_batches, draw):
    """When the text counts upwards, each row of a piece begins one above its end in the piece before."""
    start = draw.integers(0, 90)
    pieces = stream_batches(torch.arange(start, start + 37), 3, 4)  # 12 words for each stream
    assert_true(len(pieces) > 1, "There is only one piece.")
    for (before, _), (after, _) in pairwise(pieces):
        assert_equal(after[:, 0], before[:, -1] + 1)


check(a_row_goes_on_where_it_stopped, stream_batches)


# %% check="the_target_is_the_next_word" points=1
def the_target_is_the_next_word(stream_batches, draw):
    """When the text counts upwards, each target is one above its input, at the end of a row too."""
    start = draw.integers(0, 90)
    pieces = stream_batches(torch.arange(start, start + 37), 3, 4)
    assert_true(len(pieces) > 0, "There is no piece.")
    for inputs, targets in pieces:
        assert_equal(targets, inputs + 1)


check(the_target_is_the_next_word, stream_batches)


# %% check="every_piece_has_all_rows" points=1
def every_piece_has_all_rows(stream_batches, draw):
    """Streams of 11 words in pieces of 4 are pieces of 4, 4 and 3 steps, all of 3 rows."""
    pieces = stream_batches(draw.integers(0, 50, 35), 3, 4)
    shapes = [list(inputs.shape) for inputs, _ in pieces]
    assert_equal(shapes, [[3, 4], [3, 4], [3, 3]])


check(every_piece_has_all_rows, stream_batches)


# %% check="other_texts_are_cut_into_streams" points=2 hidden
def other_texts_are_cut_into_streams(stream_batches, draw):
    """Other texts make, with other sizes, exactly the pieces they should."""
    for n_words, batch_size, n_steps in ((44, 3, 5), (30, 4, 2), (24, 2, 4)):
        tokens = (draw.integers(3, 9) + 7 * torch.arange(n_words)) % 1009
        length, pieces = (n_words - 1) // batch_size, stream_batches(tokens, batch_size, n_steps)
        assert_equal(len(pieces), math.ceil(length / n_steps), what="the number of pieces")
        for i, (inputs, targets) in enumerate(pieces):
            rows = [
                [
                    (k * length + t, k * length + t + 1)
                    for t in range(i * n_steps, min((i + 1) * n_steps, length))
                ]
                for k in range(batch_size)
            ]
            places = torch.tensor(rows)  # (B, n_steps, 2)
            assert_equal(inputs, tokens[places[..., 0]], what="inputs")
            assert_equal(targets, tokens[places[..., 1]], what="targets")


check(other_texts_are_cut_into_streams, stream_batches)

# %% [markdown] exercise="piece_gradients" difficulty=3 minutes=25 forbids="torch.nn.RNN,torch.nn.RNNCell"
# ### 6. Truncated backpropagation through time
#
# Between two pieces the **state** is handed on, so the network reads the text as a whole. The **gradient**
# stops there: the loss of a piece is differentiated through the steps of this piece and no further. Inside the
# piece it goes all the way. Where a row begins a new document, its state begins anew from zeros, and the other
# rows go on.
#
# Write `piece_gradients(W, U, b, pieces, h_0)`, for the step of exercise 1. `pieces` is a list of tuples
# `(x, weighting, is_new)`:
#
# | | shape | meaning |
# |---|---|---|
# | `x` | (B, T, d_input) | the words of this piece; T may differ from piece to piece |
# | `weighting` | (B, T, D) | the loss of the piece is $\sum$ `weighting` · `states`, summed over everything |
# | `is_new` | (B,), bool | which rows begin a new document with this piece |
#
# `h_0` (B, D) is the state before the first piece. Return a list with a tuple `(loss, dU)` for each piece, in
# order: its loss, and $\partial\,\text{loss} / \partial \mathbf U$ through this piece alone, (D, D). The
# weights stay as they are. Autograd is welcome: `torch.autograd.grad`, or `backward`.
#
# **Example.** One row, everything one number wide, $W = 1$, $U = 0.5$, $b = 0$, $h_0 = 0$; two pieces of one
# word each, $x = 1$ and then $x = 0$, both weightings 1. The first loss is $\tanh 1 \approx 0.7616$ with $dU
# = 0$. The second is $\tanh(0.5 \cdot 0.7616) \approx 0.3634$ with $dU = (1 - 0.3634^2) \cdot 0.7616 \approx
# 0.6610$. If the second piece begins a new document, both its numbers are 0.
#
# <details><summary>Hint 1</summary>
#
# A copy of `U` that `requires_grad_()` is a leaf of your own. At the end of a piece, which method makes of the
# last state a tensor that remembers its numbers and not where they came from?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Write the two loops first: pieces outside, steps inside. In which of the two does the state lose its past?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `torch.where(is_new[:, None], 0.0, h)` looks at each row by itself.
#
# </details>


# %% solution="piece_gradients"
def piece_gradients(
    W: Tensor, U: Tensor, b: Tensor, pieces: list[tuple[Tensor, Tensor, Tensor]], h_0: Tensor
) -> list[tuple[Tensor, Tensor]]:
    """(loss, ∂loss/∂U) of each piece; the state goes on from piece to piece, the gradient does not."""
    ### BEGIN SOLUTION
    U = U.clone().requires_grad_()
    h, results = h_0, []
    for x, weighting, is_new in pieces:
        h, loss = torch.where(is_new[:, None], 0.0, h), 0.0
        for x_t, weighting_t in zip(x.unbind(1), weighting.unbind(1), strict=True):
            h = torch.tanh(x_t @ W.T + h @ U.T + b)
            loss = loss + (weighting_t * h).sum()
        [dU] = torch.autograd.grad(loss, U)
        results.append((loss.detach(), dU))
        h = h.detach()
    return results
    ### END SOLUTION


# %% provided="pieces"
def three_pieces(draw, batch_size, lengths, d_input, d_hidden, is_new):
    """Weights, pieces and a first state; `is_new` lists, for each piece, the rows that begin a document."""
    pieces = []
    for length, rows in zip(lengths, is_new, strict=True):
        new = torch.tensor([row in rows for row in range(batch_size)])
        x, weighting = draw.normal(batch_size, length, d_input), draw.normal(batch_size, length, d_hidden)
        pieces.append((x, weighting, new))
    return rnn_weights(draw, d_input, d_hidden) | {"pieces": pieces, "h_0": draw.normal(batch_size, d_hidden)}


def by_torch(W, U, b, pieces, h_0):
    """(loss, ∂loss/∂U) of each piece by torch's own layer, which cannot look behind its first state."""
    layer, h, results = torch_rnn(W, U, b), h_0, []
    for x, weighting, begins in pieces:
        states, last = layer(x, (h * ~begins[:, None])[None])
        layer.zero_grad()
        loss = (states * weighting).sum()
        loss.backward()
        results.append((loss.detach(), layer.weight_hh_l0.grad.clone()))
        h = last[0].detach()
    return results


# %% check="the_example_pieces_give_0_6610" points=1
def the_example_pieces_give_0_6610(piece_gradients):
    """The two pieces of the example have the losses 0.7616 and 0.3634 and the gradients 0 and 0.6610."""
    one, goes_on = numbers([[1.0]]), torch.tensor([False])
    pieces = [(one, one, goes_on), (0 * one, one, goes_on)]
    own = piece_gradients(one[0], one[0] / 2, torch.zeros(1).double(), pieces, 0 * one[0])
    first, second = math.tanh(1), math.tanh(math.tanh(1) / 2)
    assert_close([float(loss) for loss, _ in own], [first, second], what="the losses")
    assert_close(own[0][1], numbers([0.0]), what="the first dU")
    assert_close(own[1][1], numbers([(1 - second**2) * first]), what="the second dU")


check(the_example_pieces_give_0_6610, piece_gradients)


# %% check="inside_a_piece_the_gradient_goes_all_the_way" points=1
def inside_a_piece_the_gradient_goes_all_the_way(piece_gradients, draw):
    """The gradient of the first piece is that of torch's layer, through all five of its steps."""
    known = three_pieces(draw, 2, (5,), 3, 4, [()])
    [(loss, dU)] = piece_gradients(**known)
    [(expected_loss, expected_dU)] = by_torch(**known)
    assert_close(loss, expected_loss, what="the loss")
    assert_close(dU, expected_dU, what="dU")


check(inside_a_piece_the_gradient_goes_all_the_way, piece_gradients)


# %% check="the_state_goes_on" points=1
def the_state_goes_on(piece_gradients, draw):
    """The losses of three pieces add up to the loss of the whole text."""
    known = three_pieces(draw, 2, (2, 4, 3), 3, 5, [(), (), ()])
    whole = tuple(
        torch.cat(parts, dim=1) for parts in zip(*[piece[:2] for piece in known["pieces"]], strict=True)
    )
    [(expected, _)] = by_torch(**known | {"pieces": [(*whole, known["pieces"][0][2])]})
    assert_close(sum(loss for loss, _ in piece_gradients(**known)), expected)


check(the_state_goes_on, piece_gradients)


# %% check="the_gradient_stops_at_the_border" points=1
def the_gradient_stops_at_the_border(piece_gradients, draw):
    """The gradient of the third piece is the one with the state before it held fixed."""
    known = three_pieces(draw, 2, (2, 4, 3), 3, 5, [(), (), ()])
    assert_close(piece_gradients(**known)[2][1], by_torch(**known)[2][1])


check(the_gradient_stops_at_the_border, piece_gradients)


# %% check="a_new_document_starts_from_nothing" points=1
def a_new_document_starts_from_nothing(piece_gradients, draw):
    """A row that begins a new document hears nothing of the old one, and the other rows go on."""
    known = three_pieces(draw, 3, (2, 4), 2, 5, [(), (1,)])
    own, expected = piece_gradients(**known), by_torch(**known)
    assert_close(own[1][0], expected[1][0], what="the loss of the second piece")


check(a_new_document_starts_from_nothing, piece_gradients)


# %% check="other_pieces_agree_with_torch" points=3 hidden
def other_pieces_agree_with_torch(piece_gradients, draw):
    """Other pieces, with new documents here and there, agree with torch's own layer."""
    for sizes, is_new in (((3, (4, 2, 5), 2, 4), [(), (2,), (0,)]), ((2, (3, 3, 1), 5, 3), [(0,), (), (1,)])):
        known = three_pieces(draw, *sizes, is_new)
        pairs = zip(piece_gradients(**known), by_torch(**known), strict=True)
        for i, ((loss, dU), (expected_loss, expected_dU)) in enumerate(pairs):
            assert_close(loss, expected_loss, what=f"the loss of piece {i}")
            assert_close(dU, expected_dU, what=f"dU of piece {i}")


check(other_pieces_agree_with_torch, piece_gradients)

# %% [markdown]
# ## Part D. Gradients that vanish and explode

# %% [markdown] exercise="gradient_norms" difficulty=2 minutes=15 forbids="torch.nn.RNN"
# ### 7. What arrives, and where
#
# Only the last state of a text has a loss, $L = \mathbf v \cdot \mathbf h_T$. How much of it do the earlier
# states hear? Measure it: the length of $\partial L / \partial \mathbf h_t$ at every step.
#
# Write `gradient_norms(x, W, U, b, v)`, which returns the Euclidean norms of $\partial L / \partial \mathbf
# h_t$ for $t = 1 \dots T$, (T,), **in the order of the text**. One text only: `x` is (T, d_input), `v` is
# (D,), and the state before the first word is zeros. The step is that of exercise 1. Use autograd, or the
# recursion of exercise 3.
#
# **Example.** $D = 1$, `U = [[0.5]]`, $W = 1$, $b = 0$, four words that are all 0, and `v = [2]`. All states
# are 0, every tanh has the slope 1, and the norms are 0.25, 0.5, 1, 2.
#
# <details><summary>Hint 1</summary>
#
# A tensor that is not a leaf forgets its gradient unless it was asked to keep it: `h.retain_grad()`, before
# `backward()`. `torch.autograd.grad(L, states)` with a list of states works as well.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The last number must be the length of `v`, whatever the weights are. Check that first.
#
# </details>


# %% solution="gradient_norms"
def gradient_norms(x: Tensor, W: Tensor, U: Tensor, b: Tensor, v: Tensor) -> Tensor:
    """‖∂(v · h_T)/∂h_t‖ for t = 1 … T, in the order of the text x (T, d_input)."""
    ### BEGIN SOLUTION
    h, states = torch.zeros_like(b).requires_grad_(), []
    for x_t in x:
        h = torch.tanh(W @ x_t + U @ h + b)
        states.append(h)
    gradients = torch.autograd.grad(v @ h, states)
    return torch.stack([gradient.norm() for gradient in gradients])
    ### END SOLUTION


# %% check="the_example_halves_with_every_step" points=1
def the_example_halves_with_every_step(gradient_norms):
    """The norms of the example are 0.25, 0.5, 1 and 2."""
    zero = torch.zeros(1).double()
    answer = gradient_norms(torch.zeros(4, 1).double(), numbers([1.0]), numbers([0.5]), zero, zero + 2)
    assert_close(answer, torch.tensor([0.25, 0.5, 1.0, 2.0], dtype=torch.float64))


check(the_example_halves_with_every_step, gradient_norms)


# %% check="the_last_state_hears_all_of_v" points=1
def the_last_state_hears_all_of_v(gradient_norms, draw):
    """At the last step the norm is that of v, and there is one norm for each of the seven words."""
    v = draw.normal(4)
    answer = gradient_norms(draw.normal(7, 3), **rnn_weights(draw, 3, 4), v=v)
    assert_equal(list(answer.shape), [7], what="the shape")
    assert_close(answer[-1], v.norm())


check(the_last_state_hears_all_of_v, gradient_norms)


# %% check="a_rotation_loses_nothing" points=1
def a_rotation_loses_nothing(gradient_norms, draw):
    """If U turns the state and every slope is 1, all steps hear equally much, whatever v is."""
    angle = draw.number(0.3, 1.2)
    U = numbers([math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)])
    v, W = draw.normal(2), draw.normal(2, 3)
    answer = gradient_norms(torch.zeros(5, 3).double(), W, U, torch.zeros(2).double(), v)
    assert_close(answer, (v @ v).sqrt().expand(5))


check(a_rotation_loses_nothing, gradient_norms)


# %% check="saturated_states_pass_less_on" points=1
def saturated_states_pass_less_on(gradient_norms, draw):
    """With the same U, a text that drives the states to ±1 tells its first step less than a text of zeros."""
    weights, v, x = rnn_weights(draw, 3, 4), draw.normal(4), 20 * draw.normal(6, 3)
    weights["b"] = 0 * weights["b"]
    quiet, loud = gradient_norms(0 * x, **weights, v=v), gradient_norms(x, **weights, v=v)
    assert_true(
        loud[0] < quiet[0] / 10, f"The first step hears {loud[0]:.3g}, and {quiet[0]:.3g} without words."
    )


check(saturated_states_pass_less_on, gradient_norms)


# %% check="other_networks_agree_with_autograd" points=2 hidden
def other_networks_agree_with_autograd(gradient_norms, draw):
    """Networks of other sizes have the norms that the definition gives."""
    for length, d_input, d_hidden in ((6, 2, 5), (3, 4, 3)):
        weights, x, v = (
            rnn_weights(draw, d_input, d_hidden),
            draw.normal(length, d_input),
            draw.normal(d_hidden),
        )
        states, _ = torch_rnn(**weights)(x[None])
        gradient, expected = v, [v.norm()]
        for state in reversed(states[0, 1:].detach().unbind()):
            jacobian = torch.diag(1 - state**2) @ weights["U"]
            gradient = gradient @ jacobian
            expected.insert(0, gradient.norm())
        assert_close(gradient_norms(x, **weights, v=v), torch.stack(expected))


check(other_networks_agree_with_autograd, gradient_norms)

# %% [markdown] exercise="long_run_factor" difficulty=2 minutes=10
# ### 8. The factor in the long run
#
# Where all slopes are 1, each step back multiplies the gradient by $\mathbf U^\top$. Over many steps the
# length of the gradient then changes by a fixed factor per step, in the long run the same for almost every
# $\mathbf v$. Which number of $\mathbf U$ is it?
#
# Write `long_run_factor(U)`, the $\lim_{n \to \infty} \lVert \mathbf U^n \rVert^{1/n}$ of a (D, D) matrix, as
# one number. `torch.linalg` may be used.
#
# **Example.** `U = [[0.5, 10], [0, 0.5]]`: one step can make a vector twenty times as long, but
# `U` multiplied with itself 50 times has no entry above $10^{-11}$. The factor is 0.5.
#
# <details><summary>Hint 1</summary>
#
# Which vectors does a matrix only stretch? After many steps, which of these stretchings is left over?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A rotation has no real vector that it only stretches; its eigenvalues are complex. What is the size of a
# complex number?
#
# </details>


# %% solution="long_run_factor"
def long_run_factor(U: Tensor) -> Tensor:
    """The factor per step by which U (D, D) changes lengths in the long run: its spectral radius."""
    ### BEGIN SOLUTION
    return torch.linalg.eigvals(U).abs().max()
    ### END SOLUTION


# %% check="the_example_has_the_factor_one_half" points=1
def the_example_has_the_factor_one_half(long_run_factor):
    """The matrix of the example has the factor 0.5, and its double the factor 1."""
    U = numbers([0.5, 10.0], [0.0, 0.5])
    assert_close(float(long_run_factor(U)), 0.5, tolerance=1e-6)
    assert_close(float(long_run_factor(2 * U)), 1.0, tolerance=1e-6)


check(the_example_has_the_factor_one_half, long_run_factor)


# %% check="a_shrinking_rotation_has_its_factor" points=1
def a_shrinking_rotation_has_its_factor(long_run_factor, draw):
    """A matrix that turns by some angle and shrinks by 0.9 has the factor 0.9."""
    angle = draw.number(0.5, 2.5)
    U = 0.9 * numbers([math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)])
    assert_close(float(long_run_factor(U)), 0.9)


check(a_shrinking_rotation_has_its_factor, long_run_factor)


# %% check="the_sign_of_a_stretching_does_not_matter" points=1
def the_sign_of_a_stretching_does_not_matter(long_run_factor):
    """Stretching by 0.3, -1.2 and 0.7 along three axes has the factor 1.2."""
    assert_close(float(long_run_factor(torch.diag(numbers([0.3, -1.2, 0.7])[0]))), 1.2)


check(the_sign_of_a_stretching_does_not_matter, long_run_factor)


# %% check="other_matrices_have_their_factor" points=2 hidden
def other_matrices_have_their_factor(long_run_factor, draw):
    """Other matrices have the factor that a high power of them shows."""
    for size in (3, 5):
        mix = draw.normal(size, size) + 3 * torch.eye(size)
        stretchings = torch.linspace(-0.4, 0.4, size, dtype=torch.float64)
        stretchings[1] = -draw.number(0.8, 1.3)
        U = mix @ torch.diag(stretchings) @ torch.linalg.inv(mix)
        power = torch.linalg.matrix_power(U, 41).norm() / torch.linalg.matrix_power(U, 40).norm()
        assert_close(float(long_run_factor(U)), float(power), tolerance=1e-6)


check(other_matrices_have_their_factor, long_run_factor)

# %% [markdown] exercise="clipped" difficulty=1 minutes=10 forbids="torch.nn.utils"
# ### 9. Clipping
#
# An exploded gradient is too long, but its direction may still be good. **Clipping** shortens it: with all
# gradients of the model taken as **one** long vector $g$ and a threshold $c$,
#
# $$g \leftarrow g \cdot \min\left(1, \frac{c}{\lVert g \rVert}\right).$$
#
# Write `clipped(gradients, threshold)`. `gradients` is a dict from names to tensors of any shapes; return a
# new dict with the same names and shapes, and leave the one you were given as it is. If all gradients are
# zero, they stay so.
#
# **Example.** `{"W": [[3.0]], "b": [4.0]}` has the length 5. With the threshold 1 it becomes
# `{"W": [[0.6]], "b": [0.8]}`; with the threshold 10 nothing changes.
#
# <details><summary>Hint 1</summary>
#
# There is one length for all tensors together. Of what is it the square root?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The factor is the same for all tensors, and it is never above 1.
#
# </details>


# %% solution="clipped"
def clipped(gradients: dict[str, Tensor], threshold: float) -> dict[str, Tensor]:
    """The same direction, with all tensors together no longer than the threshold."""
    ### BEGIN SOLUTION
    length = torch.cat([gradient.flatten() for gradient in gradients.values()]).norm()
    factor = threshold / length if length > threshold else 1.0
    return {name: gradient * factor for name, gradient in gradients.items()}
    ### END SOLUTION


# %% provided="gradients_to_clip"
def drawn_gradients(draw, size):
    """Gradients of three shapes, `size` long altogether."""
    gradients = {"W": draw.normal(4, 2), "U": 5 * draw.normal(4, 4), "b": draw.normal(4) / 5}
    stretch = size / length_of(gradients)
    return {name: stretch * gradient for name, gradient in gradients.items()}


def length_of(gradients):
    """The length of all gradients together."""
    return math.sqrt(sum((gradient**2).sum().item() for gradient in gradients.values()))


# %% check="the_example_becomes_0_6_and_0_8" points=1
def the_example_becomes_0_6_and_0_8(clipped):
    """With the threshold 1, the gradients 3 and 4 become 0.6 and 0.8."""
    own = clipped({"W": numbers([3.0]), "b": numbers([4.0])[0]}, 1.0)
    assert_close(own, {"W": numbers([0.6]), "b": numbers([0.8])[0]})


check(the_example_becomes_0_6_and_0_8, clipped)


# %% check="all_together_are_as_long_as_the_threshold" points=1
def all_together_are_as_long_as_the_threshold(clipped, draw):
    """Gradients 12 long become 0.7 long, all of them together, if that is the threshold."""
    own = clipped(drawn_gradients(draw, 12.0), 0.7)
    assert_equal(sorted(own), ["U", "W", "b"])
    assert_close(length_of(own), 0.7)


check(all_together_are_as_long_as_the_threshold, clipped)


# %% check="the_direction_stays" points=1
def the_direction_stays(clipped, draw):
    """All entries of all tensors are multiplied by one and the same number."""
    gradients = drawn_gradients(draw, 12.0)
    own = clipped(gradients, 0.7)
    factor = own["U"][1, 2] / gradients["U"][1, 2]
    for name, gradient in gradients.items():
        assert_close(own[name], gradient * factor, what=name)


check(the_direction_stays, clipped)


# %% check="short_gradients_are_left_alone" points=1
def short_gradients_are_left_alone(clipped, draw):
    """Gradients shorter than the threshold, and zeros, stay as they are."""
    gradients = drawn_gradients(draw, 0.4)
    assert_close(clipped(gradients, 0.7), gradients)
    zeros = {"W": torch.zeros(2, 3).double()}
    assert_close(clipped(zeros, 0.7), zeros, what="zeros")


check(short_gradients_are_left_alone, clipped)


# %% check="what_was_given_is_not_changed" points=1
def what_was_given_is_not_changed(clipped, draw):
    """The dict you are given, and its tensors, are the same afterwards, and what comes back is clipped."""
    own = assert_unchanged(clipped, drawn_gradients(draw, 12.0), 0.7)
    assert_true(length_of(own) < 11, "Nothing was clipped.")


check(what_was_given_is_not_changed, clipped)


# %% check="other_gradients_are_clipped" points=2 hidden
def other_gradients_are_clipped(clipped, draw):
    """Other gradients are clipped as by torch, and the short ones left alone."""
    for size, threshold in ((30.0, 2.5), (2.0, 1.9), (1.0, 1.5)):
        gradients = drawn_gradients(draw, size)
        expected = {name: gradient.clone().requires_grad_() for name, gradient in gradients.items()}
        for name, leaf in expected.items():
            leaf.grad = gradients[name].clone()
        nn.utils.clip_grad_norm_(expected.values(), threshold)
        own = clipped(gradients, threshold)
        for name, leaf in expected.items():
            assert_close(own[name], leaf.grad, tolerance=1e-5, what=name)


check(other_gradients_are_clipped, clipped)

# %% [markdown] exercise="clipped_step" difficulty=1 minutes=5
# ### 10. A step that is never enormous
#
# Clipping has to come at the right moment. Write `clipped_step(parameters, gradients, learning_rate,
# threshold)`, one step of gradient descent with clipped gradients: return a new dict with the parameters after
# it. `parameters` and `gradients` are dicts with the same names. `nn.utils.clip_grad_norm_` may be used, or
# your own function.
#
# **Example.** The parameters `{"W": [[1.0]], "b": [2.0]}` with the gradients `{"W": [[3.0]], "b": [4.0]}`,
# learning rate 0.5 and threshold 1: the clipped gradients are 0.6 and 0.8, so the parameters become 0.7 and
# 1.6.
#
# <details><summary>Hint 1</summary>
#
# What is limited is the gradient, before the learning rate and before the parameters see it. How far can the
# parameters move in one step, if the threshold is 1 and the learning rate 0.5?
#
# </details>


# %% solution="clipped_step"
def clipped_step(
    parameters: dict[str, Tensor], gradients: dict[str, Tensor], learning_rate: float, threshold: float
) -> dict[str, Tensor]:
    """The parameters after one step of gradient descent with clipped gradients."""
    ### BEGIN SOLUTION
    length = torch.cat([gradient.flatten() for gradient in gradients.values()]).norm()
    size = learning_rate * torch.clamp(threshold / length, max=1.0)
    return {name: parameter - size * gradients[name] for name, parameter in parameters.items()}
    ### END SOLUTION


# %% check="the_example_step_leads_to_0_7_and_1_6" points=1
def the_example_step_leads_to_0_7_and_1_6(clipped_step):
    """The step of the example leads to the parameters 0.7 and 1.6."""
    parameters = {"W": numbers([1.0]), "b": numbers([2.0])[0]}
    own = clipped_step(parameters, {"W": numbers([3.0]), "b": numbers([4.0])[0]}, 0.5, 1.0)
    assert_close(own, {"W": numbers([0.7]), "b": numbers([1.6])[0]})


check(the_example_step_leads_to_0_7_and_1_6, clipped_step)


# %% check="no_step_is_longer_than_rate_times_threshold" points=1
def no_step_is_longer_than_rate_times_threshold(clipped_step, draw):
    """With a gradient 1000 long, rate 0.1 and threshold 2, the parameters move by 0.2, downhill."""
    parameters, gradients = drawn_gradients(draw, 9.0), drawn_gradients(draw, 1000.0)
    own = clipped_step(parameters, gradients, 0.1, 2.0)
    moved = {name: own[name] - parameters[name] for name in parameters}
    assert_close(length_of(moved), 0.2)
    downhill = sum((moved[name] * gradients[name]).sum() for name in moved)
    assert_true(downhill < 0, "The step goes uphill.")


check(no_step_is_longer_than_rate_times_threshold, clipped_step)


# %% check="a_short_gradient_makes_its_usual_step" points=1
def a_short_gradient_makes_its_usual_step(clipped_step, draw):
    """With a gradient 1.5 long and threshold 2, the step is that of plain gradient descent."""
    parameters, gradients = drawn_gradients(draw, 9.0), drawn_gradients(draw, 1.5)
    own = clipped_step(parameters, gradients, 0.1, 2.0)
    for name, parameter in parameters.items():
        assert_close(own[name], parameter - 0.1 * gradients[name], what=name)


check(a_short_gradient_makes_its_usual_step, clipped_step)


# %% check="other_steps_are_clipped" points=1 hidden
def other_steps_are_clipped(clipped_step, draw):
    """Other steps, with long and with short gradients, lead where they should."""
    for size, threshold, learning_rate in ((40.0, 3.0, 0.2), (0.8, 1.0, 1.5), (5.0, 0.3, 2.0)):
        parameters, gradients = drawn_gradients(draw, 4.0), drawn_gradients(draw, size)
        own = clipped_step(parameters, gradients, learning_rate, threshold)
        factor = learning_rate * min(1.0, threshold / size)
        for name, parameter in parameters.items():
            assert_close(own[name], parameter - factor * gradients[name], what=name)


check(other_steps_are_clipped, clipped_step)

# %% [markdown] written="radius_and_norm" points=3 minutes=10
# ### 11. Radius and norm
#
# A recurrent network has $\mathbf U$ = `[[0.5, 10], [0, 0.5]]` as in exercise 8. Its largest singular value
# (its norm, the most by which one step can lengthen a vector) is about 10, its spectral radius is 0.5.
#
# a) A gradient of length 1 is sent back through this network, all slopes being 1. Can it grow? What will have
# become of it after 2 steps at most, and what after 60? Which of the two numbers answers which question?
#
# b) The slopes of tanh are between 0 and 1. A classmate concludes: "With a spectral radius below 1 the
# gradient of this network vanishes, and with a radius above 1 it explodes." Is either half of the sentence
# certain? Say why, or why not.
#
# ### BEGIN SOLUTION
# a) (1 point) Yes: one step may multiply its length by about 10, and two steps again (the corner of U² is
# 10); after 60 steps at most 60 · 10 · 0.5^59 ≈ 10^-15 is left. The norm answers what a few steps can do,
# the radius what remains in the long run.
#
# b) (2 points) A radius above 1 does not make it explode: states near ±1 have slopes near 0, and the product
# of slopes and U may vanish all the same; the unit that explodes must also be listened to (v must have a part
# in that direction). (1 point.) A radius below 1 makes it vanish in the long run where all slopes are 1, but
# may let it grow over dozens of steps first; and since slopes differ from unit to unit and from step to step,
# the product is no longer a power of U, so that only a norm below 1 makes vanishing certain. Full point for
# either of the two reasons. (1 point.)
# ### END SOLUTION
