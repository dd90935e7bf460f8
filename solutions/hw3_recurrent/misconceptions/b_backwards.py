"""What goes wrong with backpropagation through time, written by hand."""

import torch

from autograder.catalogue import misconception

# 3. state_gradients


def _backwards(direct, hand_back):
    """total_t = direct_t + hand_back(total, t), from the last step to the first."""
    total = direct.clone()
    for t in range(direct.shape[1] - 2, -1, -1):
        total[:, t] += hand_back(total, t)
    return total


@misconception(of="state_gradients")
def own_loss_only(direct, states, U):
    """Each state gets a gradient from the loss at its own step only; its effect on later states is left out.

    In the example only the last step has a loss. Does the first state have no influence on it?
    """
    return direct.clone()


@misconception(of="state_gradients")
def slope_of_the_wrong_step(direct, states, U):
    """The slope of tanh is taken at the state that listens back, not at the state that the tanh produced.

    Which tanh lies between the states at t and at t + 1, and which of the two states came out of it?
    """
    return _backwards(direct, lambda total, t: ((1 - states[:, t] ** 2) * total[:, t + 1]) @ U)


@misconception(of="state_gradients")
def only_the_next_loss_is_passed_on(direct, states, U):
    """A state gets gradients from the losses of its own step and of the next one, but from none beyond.

    What does the state at t + 1 hand back: what its own loss says, or everything it has heard itself?
    """
    return _backwards(direct, lambda total, t: ((1 - states[:, t + 1] ** 2) * direct[:, t + 1]) @ U)


@misconception(of="state_gradients")
def message_through_u_transposed(direct, states, U):
    """The backward pass multiplies by U in the same direction as the forward pass, so the wrong units get it.

    Forwards, a row of states is multiplied by the transpose of U. What is a row of gradients multiplied by on
    the way back?
    """
    return _backwards(direct, lambda total, t: ((1 - states[:, t + 1] ** 2) * total[:, t + 1]) @ U.T)


@misconception(of="state_gradients")
def slope_left_out(direct, states, U):
    """The slope of tanh is missing: a saturated state hands back as much as any other.

    If a state stands at 1 and cannot move, how much can the state before it change the loss?
    """
    return _backwards(direct, lambda total, t: total[:, t + 1] @ U)


@misconception(of="state_gradients")
def messages_run_forwards(direct, states, U):
    """The recursion runs from the first step to the last, so states get gradients from earlier losses.

    Can a state change the loss of a word that was read before it? At which end does the recursion have to
    begin?
    """
    total = direct.clone()
    for t in range(1, direct.shape[1]):
        total[:, t] += ((1 - states[:, t - 1] ** 2) * total[:, t - 1]) @ U
    return total


@misconception(of="state_gradients")
def slope_after_u(direct, states, U):
    """The slope of tanh is applied after the product with U, to the unit that receives the gradient.

    Through whose tanh does the way back lead: that of the unit that listened, or that of the unit it
    listened to?
    """
    return _backwards(direct, lambda total, t: (1 - states[:, t + 1] ** 2) * (total[:, t + 1] @ U))


@misconception(of="state_gradients")
def own_loss_left_out(direct, states, U):
    """Before the last step a state gets a gradient from the next state only; its own loss adds nothing.

    In the example only the last step has a loss. What gradient does the first state get if its step has one?
    """
    total = direct.clone()
    for t in range(direct.shape[1] - 2, -1, -1):
        total[:, t] = ((1 - states[:, t + 1] ** 2) * total[:, t + 1]) @ U
    return total


@misconception(of="state_gradients")
def tanh_applied_to_the_states(direct, states, U):
    """The slope is computed as if the states still had to go through the tanh.

    The states you are given: have they come out of the tanh, or do they go into it?
    """
    return _backwards(direct, lambda total, t: ((1 - states[:, t + 1].tanh() ** 2) * total[:, t + 1]) @ U)


@misconception(of="state_gradients")
def slope_without_the_square(direct, states, U):
    """The slope of tanh is taken to be 1 - h, where the square is missing.

    How steep is tanh where the state is near -1? What does your slope say there?
    """
    return _backwards(direct, lambda total, t: ((1 - states[:, t + 1]) * total[:, t + 1]) @ U)


@misconception(of="state_gradients")
def direct_gradients_overwritten(direct, states, U):
    """The sums are written into the tensor of direct gradients that was handed in.

    Print `direct` before and after the call. Which name in your function stands for the same tensor?
    """
    for t in range(direct.shape[1] - 2, -1, -1):
        direct[:, t] += ((1 - states[:, t + 1] ** 2) * direct[:, t + 1]) @ U
    return direct


# 4. bptt_gradients


def _gradients(delta, states, x, h_0, W, U):
    before = torch.cat([h_0[:, None], states[:, :-1]], dim=1)
    return {
        "dW": torch.einsum("btd,bti->di", delta, x),
        "dU": torch.einsum("btd,bte->de", delta, before),
        "db": delta.sum(dim=(0, 1)),
        "dx": delta @ W,
        "dh_0": delta[:, 0] @ U,
    }


def _right(total, states, x, h_0, W, U):
    return _gradients((1 - states**2) * total, states, x, h_0, W, U)


@misconception(of="bptt_gradients")
def gradients_overwritten_at_each_step(total, states, x, h_0, W, U):
    """The gradients of the weights are overwritten at each step, so only the step done last counts.

    In the example, which of the two words is left in your dW? What is the difference between = and += in a
    loop over the steps?
    """
    first = _right(total[:, :1], states[:, :1], x[:, :1], h_0, W, U)
    return _right(total, states, x, h_0, W, U) | {name: first[name] for name in ("dW", "dU", "db")}


@misconception(of="bptt_gradients")
def state_after_in_the_outer_product(total, states, x, h_0, W, U):
    """dU pairs each step with the state it led to, not with the state it came from.

    Which state does the forward pass multiply by U: the one before the step or the one after it?
    """
    delta = (1 - states**2) * total
    return _right(total, states, x, h_0, W, U) | {"dU": torch.einsum("btd,bte->de", delta, states)}


@misconception(of="bptt_gradients")
def first_step_left_out(total, states, x, h_0, W, U):
    """The sums begin at the second step, as if the first had no state before it.

    How many terms has your sum for a text of two words? What stood before the first word, and is that
    zero here?
    """
    later = _right(total[:, 1:], states[:, 1:], x[:, 1:], states[:, 0], W, U)
    return _right(total, states, x, h_0, W, U) | {name: later[name] for name in ("dW", "dU", "db")}


@misconception(of="bptt_gradients")
def zeros_before_the_first_step(total, states, x, h_0, W, U):
    """dU takes the state before the first word to be zeros, though the text was started from h_0.

    Which state did U read at the first step? Look through your function for the places where h_0 occurs.
    """
    right = _right(total, states, x, h_0, W, U)
    return right | {"dU": _right(total, states, x, torch.zeros_like(h_0), W, U)["dU"]}


@misconception(of="bptt_gradients")
def tanh_skipped_on_the_way_back(total, states, x, h_0, W, U):
    """The gradient of the state is used as it is, as if there were no tanh before it.

    The weights act inside the tanh. By how much does the state move when the sum inside moves a little, if
    the state is near 1?
    """
    return _gradients(total, states, x, h_0, W, U)


@misconception(of="bptt_gradients")
def averaged_over_the_steps(total, states, x, h_0, W, U):
    """The gradients of the weights are averaged over the steps, where the chain rule adds them up.

    Each step uses the same weight once more. If a weight is used twice as often, does it matter as much for
    the loss, or more?
    """
    right = _right(total, states, x, h_0, W, U)
    return right | {name: right[name] / x.shape[1] for name in ("dW", "dU", "db")}


@misconception(of="bptt_gradients")
def h_0_through_u_transposed(total, states, x, h_0, W, U):
    """The gradient of h_0 is multiplied by U in the same direction as in the forward pass.

    Forwards, h_0 as a row is multiplied by the transpose of U. What is its gradient multiplied by?
    """
    right = _right(total, states, x, h_0, W, U)
    return right | {"dh_0": ((1 - states[:, 0] ** 2) * total[:, 0]) @ U.T}


@misconception(of="bptt_gradients")
def gradient_of_the_first_state_for_h_0(total, states, x, h_0, W, U):
    """dh_0 is the gradient of the state after the first word; one step back is missing.

    How many steps lie between h_0 and the first entry of `states`?
    """
    return _right(total, states, x, h_0, W, U) | {"dh_0": total[:, 0].clone()}


@misconception(of="bptt_gradients")
def tanh_skipped_before_h_0(total, states, x, h_0, W, U):
    """dh_0 is made of the gradient after the first tanh, where the one before it belongs.

    What stands between h_0 and the first state, beside U? Which of total and delta has passed it?
    """
    return _right(total, states, x, h_0, W, U) | {"dh_0": total[:, 0] @ U}


@misconception(of="bptt_gradients")
def averaged_over_the_texts(total, states, x, h_0, W, U):
    """The gradients of the weights are divided by the number of texts.

    What does the statement say about averages? If the loss is a sum over texts, what is its gradient?
    """
    right = _right(total, states, x, h_0, W, U)
    return right | {name: right[name] / len(x) for name in ("dW", "dU", "db")}


@misconception(of="bptt_gradients")
def only_the_last_step(total, states, x, h_0, W, U):
    """Only the last step contributes to the gradients of the weights.

    At how many steps are W, U and b used? In the example, which word is missing in your dW?
    """
    before = torch.cat([h_0[:, None], states[:, :-1]], dim=1)[:, -1]
    last = _right(total[:, -1:], states[:, -1:], x[:, -1:], before, W, U)
    return _right(total, states, x, h_0, W, U) | {name: last[name] for name in ("dW", "dU", "db")}


@misconception(of="bptt_gradients")
def handed_back_a_second_time(total, states, x, h_0, W, U):
    """What later states hand back is added once more, although `total` holds it already.

    What is the difference between the `direct` of the last exercise and the `total` of this one?
    """
    total = total.clone()
    for t in range(total.shape[1] - 2, -1, -1):
        total[:, t] += ((1 - states[:, t + 1] ** 2) * total[:, t + 1]) @ U
    return _right(total, states, x, h_0, W, U)


@misconception(of="bptt_gradients")
def du_transposed(total, states, x, h_0, W, U):
    """dU is transposed: its rows belong to the units that are listened to.

    Which of the two sizes of U belongs to the unit that listens? To which does each delta belong?
    """
    right = _right(total, states, x, h_0, W, U)
    return right | {"dU": right["dU"].T}
