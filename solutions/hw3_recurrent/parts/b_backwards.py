# %% [markdown]
# ## Part B. Backpropagation through time, by hand
#
# A letter d before a name stands for a gradient of the loss: `dU` is $\partial L / \partial \mathbf U$, in
# the shape of `U`. Write the gradients as formulas; torch's autograd stays off until you compare.

# %% [markdown] exercise="state_gradients" difficulty=2 minutes=20 forbids=".backward,torch.Tensor.backward,torch.autograd,torch.autograd.grad,torch.autograd.backward,torch.func" exempt="gradient"
# ### 3. What the states are told
#
# The loss is a sum over the steps, $L = L_1 + \dots + L_T$, and $L_t$ looks at $\mathbf h_t$ alone. But
# $\mathbf h_t$ also leads to $\mathbf h_{t+1}$, and through it to all later losses. So a state's gradient has
# two parts: one **directly** from the loss at its own step, and one from the next state, which passes on the
# whole of **its** gradient:
#
# $$\frac{\partial L}{\partial \mathbf h_t} = \frac{\partial L_t}{\partial \mathbf h_t} + \mathbf U^\top
# \left( (1 - \mathbf h_{t+1}^2) \odot \frac{\partial L}{\partial \mathbf h_{t+1}} \right), \qquad
# \frac{\partial L}{\partial \mathbf h_T} = \frac{\partial L_T}{\partial \mathbf h_T}.$$
#
# Write `state_gradients(direct, states, U)`, which returns $\partial L / \partial \mathbf h_t$ for all
# steps, (B, T, D). `direct` (B, T, D) holds $\partial L_t / \partial \mathbf h_t$, `states` (B, T, D) the
# states, and `U` is (D, D). Leave what you are given as it is.
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


# %% provided="losses_through_time" helper
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
    for word in x.unbind(dim=1):
        h = cell(word, h)
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


# %% check="the_last_state_hears_its_own_loss_only" points=1
def the_last_state_hears_its_own_loss_only(state_gradients, draw):
    """At the last step the gradient is the direct one, whatever the other steps say; a lone step is the last."""
    direct, states, U = draw.normal(2, 5, 3), draw.normal(2, 5, 3).tanh(), draw.normal(3, 3)
    answer = state_gradients(direct, states, U)
    alone = state_gradients(direct[:, -1:].contiguous(), states[:, -1:].contiguous(), U)
    assert_close(answer[:, -1], direct[:, -1])
    assert_close(alone, direct[:, -1:], what="a text of one step")


# %% check="a_saturated_state_hands_nothing_back" points=1
def a_saturated_state_hands_nothing_back(state_gradients, draw):
    """Where the state of step 4 is at ±1, step 3 gets a gradient only from its own loss, step 4 also from later ones."""
    direct, states, U = draw.normal(2, 5, 3), 0.8 * draw.normal(2, 5, 3).tanh(), draw.normal(3, 3)
    states[:, 3] = numbers([1.0, -1.0, 1.0], [-1.0, 1.0, 1.0])
    answer = state_gradients(direct, states, U)
    assert_close(answer[:, 2], direct[:, 2])
    assert_depends(answer[:, 3], direct[:, 3])


# %% check="the_message_goes_to_the_unit_that_was_listened_to" points=1
def the_message_goes_to_the_unit_that_was_listened_to(state_gradients):
    """If unit 0, at 0.6, depends on unit 2 alone, the gradient of a loss on it goes to unit 2 of the step before."""
    U = numbers([0.0, 0.0, 0.5], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    direct = numbers([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    answer = state_gradients(direct, numbers([[0.0, 0.0, 0.0], [0.6, 0.0, 0.9]]), U)
    assert_close(answer[:, 0], numbers([0.0, 0.0, 0.5 * (1 - 0.6**2)]))


# %% check="the_direct_gradients_stay_as_they_are" points=1
def the_direct_gradients_stay_as_they_are(state_gradients, draw):
    """The tensors you are given are the same afterwards, and more than its own loss reaches the first state."""
    direct, states, U = draw.normal(2, 5, 3), 0.8 * draw.normal(2, 5, 3).tanh(), draw.normal(3, 3)
    assert_depends(state_gradients(direct, states, U)[:, 0], direct[:, 0])


# %% check="other_states_agree_with_autograd" points=3 hidden
def other_states_agree_with_autograd(state_gradients, draw):
    """Networks of other sizes have the state gradients that autograd finds."""
    for sizes in ((2, 6, 3, 4), (3, 4, 2, 5)):
        known = weighted_states(draw, *sizes)
        assert_close(state_gradients(known["direct"], known["states"], known["U"]), known["total"])


# %% [markdown] exercise="bptt_gradients" difficulty=3 minutes=30 forbids=".backward,torch.Tensor.backward,torch.autograd,torch.autograd.grad,torch.autograd.backward,torch.func" exempt="gradient"
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
# `"dx"` and `"dh_0"`, each in the shape of what it belongs to. `total` (B, T, D) is what the last exercise found,
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


# %% provided="one_gradient" helper
def assert_gradient(bptt_gradients, draw, name):
    """One of the five gradients is that of autograd, for B = 2, T = 4, d_input = 3, D = 5."""
    known = weighted_states(draw, 2, 4, 3, 5)
    arguments = {key: known[key] for key in ("total", "states", "x", "h_0", "W", "U")}
    assert_close(bptt_gradients(**arguments)[name], known[name], what=f"the gradient {name}")


# %% check="the_example_has_its_five_gradients" points=1
def the_example_has_its_five_gradients(bptt_gradients):
    """The gradients of the example are dW = 34, dU = 10, db = 11, dx = (20, 2) and dh_0 = 5."""
    total, states, x = numbers([[10.0], [1.0]]), numbers([[0.0], [0.0]]), numbers([[3.0], [4.0]])
    own = bptt_gradients(total, states, x, numbers([1.0]), numbers([2.0]), numbers([0.5]))
    expected = {"dW": numbers([34.0]), "dU": numbers([10.0]), "db": torch.tensor([11.0]).double()}
    expected |= {"dx": numbers([[20.0], [2.0]]), "dh_0": numbers([5.0])}
    for name, value in expected.items():
        assert_close(own[name], value, what=f"the gradient {name}")


# %% check="dW_adds_up_over_the_steps" points=1
def dW_adds_up_over_the_steps(bptt_gradients, draw):
    """dW is what autograd finds: the sum over all steps of all texts."""
    assert_gradient(bptt_gradients, draw, "dW")


# %% check="dU_pairs_each_step_with_the_state_before" points=1
def dU_pairs_each_step_with_the_state_before(bptt_gradients, draw):
    """dU is what autograd finds, the first step with h_0 included."""
    assert_gradient(bptt_gradients, draw, "dU")


# %% check="db_adds_up_over_the_steps" points=1
def db_adds_up_over_the_steps(bptt_gradients, draw):
    """db is what autograd finds: the sum over all steps of all texts."""
    assert_gradient(bptt_gradients, draw, "db")


# %% check="dx_goes_back_through_w" points=1
def dx_goes_back_through_w(bptt_gradients, draw):
    """dx is what autograd finds, for every word of every text."""
    assert_gradient(bptt_gradients, draw, "dx")


# %% check="dh_0_hears_from_the_first_step" points=1
def dh_0_hears_from_the_first_step(bptt_gradients, draw):
    """dh_0 is what autograd finds: the first step's message, sent back through U."""
    assert_gradient(bptt_gradients, draw, "dh_0")


# %% check="all_five_hold_for_other_sizes" points=3 hidden
def all_five_hold_for_other_sizes(bptt_gradients, draw):
    """With other sizes and weights, all five gradients are what autograd finds."""
    for sizes in ((3, 5, 2, 4), (2, 3, 6, 4)):
        known = weighted_states(draw, *sizes)
        own = bptt_gradients(**{key: known[key] for key in ("total", "states", "x", "h_0", "W", "U")})
        for name in ("dW", "dU", "db", "dx", "dh_0"):
            assert_close(own[name], known[name], what=f"the gradient {name}")
