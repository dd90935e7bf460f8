"""What goes wrong when gradients are measured and clipped."""

import math

import torch

from autograder.catalogue import misconception

# 7. gradient_norms

EXAMPLE, LAST = {"the_example_halves_with_every_step"}, {"the_last_state_hears_all_of_v"}
TURNED, SATURATED = {"a_rotation_loses_nothing"}, {"saturated_states_pass_less_on"}
OTHERS = {"other_networks_agree_with_autograd"}


def _states(x, W, U, b):
    states = [torch.zeros_like(b)]
    for x_t in x:
        states.append(torch.tanh(W @ x_t + U @ states[-1] + b))
    return states


def _gradients(x, W, U, b, v):
    """States h_0 … h_T and the gradients at h_1 … h_T."""
    states, gradients = _states(x, W, U, b), [v]
    for state in reversed(states[2:]):
        gradients.insert(0, ((1 - state**2) * gradients[0]) @ U)
    return states, torch.stack(gradients)


@misconception(of="gradient_norms", fails=EXAMPLE | LAST | TURNED | SATURATED | OTHERS)
def norms_of_what_u_is_told(x, W, U, b, v):
    """The norms are those of each step's share in the gradient of U, not of the gradients at the states.

    Of what do you take the derivative: of the weights, of which there is one copy, or of a state, of which
    there is one at each step? What stands in your list at the last step?
    """
    states, gradients = _gradients(x, W, U, b, v)
    deltas = (1 - torch.stack(states[1:]) ** 2) * gradients
    return deltas.norm(dim=1) * torch.stack(states[:-1]).norm(dim=1)


@misconception(of="gradient_norms", fails=EXAMPLE | LAST | SATURATED | OTHERS)
def norms_by_distance(x, W, U, b, v):
    """The norms are listed by distance from the end, so the first is that of the last state.

    Which word does the first number of your answer belong to?
    """
    return _gradients(x, W, U, b, v)[1].norm(dim=1).flip(0)


@misconception(of="gradient_norms", fails=EXAMPLE | LAST | TURNED | OTHERS)
def squares_of_the_norms(x, W, U, b, v):
    """The squares of the entries are added up, and the root is missing.

    By which factor does your answer change from step to step in the example?
    """
    return _gradients(x, W, U, b, v)[1].square().sum(dim=1)


@misconception(of="gradient_norms", fails=LAST | TURNED | OTHERS)
def sums_of_the_entries_sizes(x, W, U, b, v):
    """The sizes of the entries are added up, which is another length than the Euclidean one.

    How long is the vector (3, 4)? Turn it into (5, 0): does your length stay the same?
    """
    return _gradients(x, W, U, b, v)[1].abs().sum(dim=1)


@misconception(of="gradient_norms", fails=SATURATED | OTHERS)
def powers_of_the_radius(x, W, U, b, v):
    """The norms are powers of the spectral radius, which say nothing of single steps and of slopes below 1.

    In which of your lines do the words of the text occur? What does a state at 1 let through?
    """
    radius = torch.linalg.eigvals(U).abs().max()
    return v.norm() * radius ** torch.arange(len(x) - 1, -1, -1)


@misconception(of="gradient_norms", fails=SATURATED | OTHERS)
def slopes_taken_for_one(x, W, U, b, v):
    """The slopes of tanh are taken to be 1 at every state, as if the network were linear.

    Send the same v back through a text of zeros and through a text of very large words. Should both hear the
    same?
    """
    gradients = [v]
    for _ in range(len(x) - 1):
        gradients.insert(0, gradients[0] @ U)
    return torch.stack(gradients).norm(dim=1)


# 8. long_run_factor

FACTORS = {"other_matrices_have_their_factor"}
HALF, SHRINKS = {"the_example_has_the_factor_one_half"}, {"a_shrinking_rotation_has_its_factor"}
SIGN = {"the_sign_of_a_stretching_does_not_matter"}


@misconception(of="long_run_factor", fails=HALF | FACTORS)
def norm_of_one_step(U):
    """The largest singular value is taken, which says what one step can do at most, not what many will do.

    In the example one step can make a vector twenty times as long. Which of its powers shows what is left in
    the end?
    """
    return torch.linalg.matrix_norm(U, 2)


@misconception(of="long_run_factor", fails=HALF | SHRINKS | SIGN | FACTORS)
def length_of_all_entries(U):
    """The entries are taken as one long vector, whose length is no factor of any step.

    What does your function give for the identity of size 3, which changes no vector at all?
    """
    return U.norm()


@misconception(of="long_run_factor", fails=SHRINKS | SIGN | FACTORS)
def largest_real_part(U):
    """The eigenvalues are compared by their real parts, so turning and mirroring count too little.

    A rotation by a right angle has the eigenvalues i and -i. By how much does it change a length?
    """
    return torch.linalg.eigvals(U).real.max()


@misconception(of="long_run_factor", fails=HALF | SHRINKS | FACTORS)
def largest_entry(U):
    """The largest entry of U is taken for the factor.

    In the example the largest entry is 10. What becomes of it when U is multiplied with itself?
    """
    return U.abs().max()


@misconception(of="long_run_factor", fails=SIGN | FACTORS)
def mean_factor_of_volumes(U):
    """The factor is read off the determinant, which averages over all directions.

    Three axes are stretched by 0.3, -1.2 and 0.7. Which of the three is left after a hundred steps?
    """
    return torch.linalg.det(U).abs() ** (1 / len(U))


# 9. clipped

FIVE, LONG = {"the_example_becomes_0_6_and_0_8"}, {"all_together_are_as_long_as_the_threshold"}
STRAIGHT, SHORT = {"the_direction_stays"}, {"short_gradients_are_left_alone"}
UNCHANGED, CLIPPED = {"what_was_given_is_not_changed"}, {"other_gradients_are_clipped"}


def _length(gradients):
    return math.sqrt(sum(float((gradient**2).sum()) for gradient in gradients.values()))


def _scaled(gradients, factor):
    return {name: gradient * factor for name, gradient in gradients.items()}


@misconception(of="clipped", fails=FIVE | LONG | STRAIGHT | CLIPPED)
def each_tensor_by_itself(gradients, threshold):
    """Each tensor is clipped by its own length, so the direction of the whole changes.

    In the example your W and b are both 1 long. How long are they together, and does the step still point
    where (3, 4) pointed?
    """
    return {
        name: gradient * (threshold / max(float(gradient.norm()), threshold))
        for name, gradient in gradients.items()
    }


@misconception(of="clipped", fails=FIVE | LONG | STRAIGHT | CLIPPED)
def entries_cut_off(gradients, threshold):
    """Each entry is cut off at the threshold, which turns long gradients towards a corner.

    Where does (3, 4) point, and where does what you make of it point?
    """
    return {name: gradient.clamp(-threshold, threshold) for name, gradient in gradients.items()}


@misconception(of="clipped", fails=SHORT | CLIPPED)
def short_ones_stretched(gradients, threshold):
    """The factor is used below the threshold too, so that short gradients become longer.

    What does your function make of a gradient that is almost zero, at the end of training? And of zeros?
    """
    return _scaled(gradients, threshold / _length(gradients) if _length(gradients) else math.nan)


@misconception(of="clipped", fails=FIVE | LONG | CLIPPED)
def lengths_added_up(gradients, threshold):
    """The lengths of the tensors are added up, which is more than the length of all together.

    How long is the vector (3, 4): 5 or 7?
    """
    size = sum(float(gradient.norm()) for gradient in gradients.values())
    return _scaled(gradients, min(1.0, threshold / size) if size else 1.0)


@misconception(of="clipped", fails=FIVE | LONG | CLIPPED)
def root_forgotten(gradients, threshold):
    """The threshold is divided by the square of the length.

    In the example, is 25 the length of (3, 4)?
    """
    size = _length(gradients)
    return _scaled(gradients, min(1.0, threshold / size**2) if size > threshold else 1.0)


@misconception(of="clipped", fails=UNCHANGED)
def multiplied_in_place(gradients, threshold):
    """The tensors that were handed in are themselves shortened.

    Print the gradients you were given, before and after the call. What does an underscore at the end of a
    method's name, or `*=`, do to a tensor that others hold as well?
    """
    size = _length(gradients)
    for gradient in gradients.values():
        gradient *= min(1.0, threshold / size) if size else 1.0
    return dict(gradients)


# 10. clipped_step

SEVEN, MOVED = {"the_example_step_leads_to_0_7_and_1_6"}, {"no_step_is_longer_than_rate_times_threshold"}
USUAL, STEPS = {"a_short_gradient_makes_its_usual_step"}, {"other_steps_are_clipped"}


def _clipped(gradients, threshold):
    return _scaled(gradients, min(1.0, threshold / _length(gradients)))


def _step(parameters, gradients, size):
    return {name: parameter - size * gradients[name] for name, parameter in parameters.items()}


@misconception(of="clipped_step", fails=SEVEN | MOVED | STEPS)
def clipped_after_the_step(parameters, gradients, learning_rate, threshold):
    """The step is made with the whole gradient, and the gradients are clipped when it is too late.

    Which line of yours moves the parameters, and which limits the gradients? In which order do they stand?
    """
    moved = _step(parameters, gradients, learning_rate)
    _clipped(gradients, threshold)
    return moved


@misconception(of="clipped_step", fails=SEVEN | MOVED | USUAL | STEPS)
def parameters_clipped(parameters, gradients, learning_rate, threshold):
    """The parameters after the step are clipped instead of the gradients before it.

    Should the weights of a good model be no longer than the threshold? Which of the two dicts can explode?
    """
    return _clipped(_step(parameters, gradients, learning_rate), threshold)


@misconception(of="clipped_step", fails=SEVEN | MOVED | STEPS)
def step_clipped_instead_of_gradient(parameters, gradients, learning_rate, threshold):
    """The learning rate is multiplied in first, and the product is clipped, so the rate no longer counts.

    How far do your parameters move if the gradient is enormous and the rate is halved?
    """
    return _step(parameters, _clipped(_scaled(gradients, learning_rate), threshold), 1.0)


@misconception(of="clipped_step", fails=SEVEN | MOVED | USUAL | STEPS)
def uphill(parameters, gradients, learning_rate, threshold):
    """The gradient is added, so the step goes uphill.

    In which direction does the loss grow: along the gradient or against it?
    """
    return _step(parameters, _clipped(gradients, threshold), -learning_rate)


@misconception(of="clipped_step", fails=USUAL | STEPS)
def every_gradient_made_as_long_as_the_threshold(parameters, gradients, learning_rate, threshold):
    """The factor is used for short gradients too, so every step is equally long.

    What happens near a minimum, where gradients are small, if no step can be small?
    """
    return _step(parameters, _scaled(gradients, threshold / _length(gradients)), learning_rate)
