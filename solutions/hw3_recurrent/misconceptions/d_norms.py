"""What goes wrong when it is measured how much of a loss arrives, and what remains in the long run."""

import torch

from autograder.catalogue import misconception

# 7. gradient_norms


def _states_from_zeros(x, W, U, b):
    states = [torch.zeros_like(b)]
    for x_t in x:
        states.append(torch.tanh(W @ x_t + U @ states[-1] + b))
    return states


def _arriving(x, W, U, b, v):
    """States h_0 … h_T and the gradients at h_1 … h_T."""
    states, gradients = _states_from_zeros(x, W, U, b), [v]
    for state in reversed(states[2:]):
        gradients.insert(0, ((1 - state**2) * gradients[0]) @ U)
    return states, torch.stack(gradients)


@misconception(of="gradient_norms")
def norms_of_what_u_is_told(x, W, U, b, v):
    """The norms are those of each step's part of the gradient of U, not of the gradients at the states.

    Of what do you take the derivative: of the weights, of which there is one copy, or of a state, of which
    there is one at each step? What stands in your list at the last step?
    """
    states, gradients = _arriving(x, W, U, b, v)
    deltas = (1 - torch.stack(states[1:]) ** 2) * gradients
    return deltas.norm(dim=1) * torch.stack(states[:-1]).norm(dim=1)


@misconception(of="gradient_norms")
def norms_by_distance(x, W, U, b, v):
    """The norms are listed by distance from the end, so the first is that of the last state.

    Which word does the first number of your answer belong to?
    """
    return _arriving(x, W, U, b, v)[1].norm(dim=1).flip(0)


@misconception(of="gradient_norms")
def squares_of_the_norms(x, W, U, b, v):
    """The squares of the entries are added up, and the root is missing.

    By which factor does your answer change from step to step in the example?
    """
    return _arriving(x, W, U, b, v)[1].square().sum(dim=1)


@misconception(of="gradient_norms")
def sums_of_the_entries_sizes(x, W, U, b, v):
    """The sizes of the entries are added up, which is another length than the Euclidean one.

    How long is the vector (3, 4)? Turn it into (5, 0): does your length stay the same?
    """
    return _arriving(x, W, U, b, v)[1].abs().sum(dim=1)


@misconception(of="gradient_norms")
def powers_of_the_radius(x, W, U, b, v):
    """The norms are powers of the spectral radius, which say nothing of single steps and of slopes below 1.

    In which of your lines do the words of the text occur? What does a state at 1 let through?
    """
    radius = torch.linalg.eigvals(U).abs().max()
    return v.norm() * radius ** torch.arange(len(x) - 1, -1, -1)


@misconception(of="gradient_norms")
def slopes_taken_for_one(x, W, U, b, v):
    """The slopes of tanh are taken to be 1 at every state, as if the network were linear.

    Send the same v back through a text of zeros and through a text of very large words. Should both hear the
    same?
    """
    gradients = [v]
    for _ in range(len(x) - 1):
        gradients.insert(0, gradients[0] @ U)
    return torch.stack(gradients).norm(dim=1)


@misconception(of="gradient_norms")
def u_transposed_on_the_way_forwards(x, W, U, b, v):
    """The states are multiplied by the transpose of U, so units listen along its columns.

    One text is no batch: is your state a row or a column? Which of U @ h and h @ U does the formula mean?
    """
    return _arriving(x, W, U.T, b, v)[1].norm(dim=1)


def _handed_back(v, n_steps, one_step):
    """The gradients at all states in the text's order, each found from the one after it."""
    gradients = [v]
    for t in range(n_steps - 1, 0, -1):
        gradients.insert(0, one_step(t, gradients[0]))
    return torch.stack(gradients)


@misconception(of="gradient_norms")
def handed_back_through_u_transposed(x, W, U, b, v):
    """The gradient goes back through U in the direction in which the states go forwards.

    If unit 0 listens to unit 1, which of the two hears of a loss on unit 0? What does your product say?
    """
    states = _states_from_zeros(x, W, U, b)
    return _handed_back(v, len(x), lambda t, g: U @ ((1 - states[t + 1] ** 2) * g)).norm(dim=1)


@misconception(of="gradient_norms")
def slope_of_the_earlier_state(x, W, U, b, v):
    """The slope of tanh is taken at the state that hears, not at the state that the tanh produced.

    Which tanh lies between the states at t and at t + 1, and which of the two came out of it?
    """
    states = _states_from_zeros(x, W, U, b)
    return _handed_back(v, len(x), lambda t, g: ((1 - states[t] ** 2) * g) @ U).norm(dim=1)


@misconception(of="gradient_norms")
def norms_before_the_tanh(x, W, U, b, v):
    """The norms are those of the gradients at the sums inside the tanh, not at the states.

    What must the last number be, whatever the weights are? Which slope has entered yours?
    """
    states, gradients = _arriving(x, W, U, b, v)
    return ((1 - torch.stack(states[1:]) ** 2) * gradients).norm(dim=1)


@misconception(of="gradient_norms")
def norms_at_the_words(x, W, U, b, v):
    """The norms are those of the gradients at the words, not at the states.

    Of what do you take the derivative: of `x`, or of the states? What must the last number be?
    """
    states, gradients = _arriving(x, W, U, b, v)
    return (((1 - torch.stack(states[1:]) ** 2) * gradients) @ W).norm(dim=1)


@misconception(of="gradient_norms")
def a_loss_at_every_step(x, W, U, b, v):
    """Every state is multiplied by v, where only the last one has a loss.

    What is L in the statement? In the example, how much gradient can reach the first state, four words away?
    """
    states, gradients = _states_from_zeros(x, W, U, b), [v]
    for state in reversed(states[2:]):
        gradients.insert(0, v + ((1 - state**2) * gradients[0]) @ U)
    return torch.stack(gradients).norm(dim=1)


@misconception(of="gradient_norms")
def v_taken_for_ones(x, W, U, b, v):
    """The last state is summed up, and v is never used.

    Where does v occur in your function? What must the last of the norms be?
    """
    return _arriving(x, W, U, b, torch.ones_like(v))[1].norm(dim=1)


@misconception(of="gradient_norms")
def largest_entries(x, W, U, b, v):
    """The largest entry of each gradient is taken for its length.

    How long is the vector (3, 4)?
    """
    return _arriving(x, W, U, b, v)[1].abs().amax(dim=1)


@misconception(of="gradient_norms")
def states_before_their_words(x, W, U, b, v):
    """The norms are those at the states before each word, h_0 to the last but one.

    Which state is the first in your list: one that has read the first word, or the zeros before it?
    """
    states, gradients = _arriving(x, W, U, b, v)
    first = ((1 - states[1] ** 2) * gradients[0]) @ U
    return torch.cat([first[None], gradients[:-1]]).norm(dim=1)


# 8. long_run_factor


@misconception(of="long_run_factor")
def norm_of_one_step(U):
    """The largest singular value is taken, which says what one step can do at most, not what many will do.

    In the example one step can make a vector ten times as long. Which of its powers shows what is left in
    the end?
    """
    return torch.linalg.matrix_norm(U, 2)


@misconception(of="long_run_factor")
def length_of_all_entries(U):
    """You return the norm of all entries as one long vector (the Frobenius norm), not the growth per step.

    What does your function give for the identity of size 3, which changes no vector at all?
    """
    return U.norm()


@misconception(of="long_run_factor")
def largest_real_part(U):
    """The eigenvalues are compared by their real parts, so turning and mirroring count too little.

    A rotation by a right angle has the eigenvalues i and -i. By how much does it change a length?
    """
    return torch.linalg.eigvals(U).real.max()


@misconception(of="long_run_factor")
def largest_entry(U):
    """The largest entry of U is taken for the factor.

    In the example the largest entry is 10. What becomes of it when U is multiplied by itself?
    """
    return U.abs().max()


@misconception(of="long_run_factor")
def mean_factor_of_volumes(U):
    """The factor is read off the determinant, which averages over all directions.

    Three axes are stretched by 0.7, -1.2 and 0.3. Which of the three is left after a hundred steps?
    """
    return torch.linalg.det(U).abs() ** (1 / len(U))


@misconception(of="long_run_factor")
def eigenvalues_of_half_the_matrix(U):
    """The eigenvalues are computed as if U were symmetric, from the half below its diagonal.

    What does the h in `eigvalsh` promise about the matrix? Does a rotation keep the promise?
    """
    return torch.linalg.eigvalsh(U).abs().max()


@misconception(of="long_run_factor")
def imaginary_parts_dropped(U):
    """Of each eigenvalue only the real part is measured, so a turning counts too little.

    A rotation by a right angle has the eigenvalues i and -i. What is left of them in your function, and how
    large are they?
    """
    return torch.linalg.eigvals(U).real.abs().max()


@misconception(of="long_run_factor")
def first_eigenvalue(U):
    """An eigenvalue is taken that is not the largest, as the first may be: torch does not sort them.

    Stretchings by 0.7, -1.2 and 0.3: which of the three is left after many steps, and which comes first?
    """
    return torch.linalg.eigvals(U)[0].abs()


@misconception(of="long_run_factor")
def mean_of_the_sizes(U):
    """The sizes of all eigenvalues are averaged.

    Stretchings by 0.7, -1.2 and 0.3: which of the three is left of a vector after a hundred steps?
    """
    return torch.linalg.eigvals(U).abs().mean()


@misconception(of="long_run_factor")
def not_yet_the_long_run(U):
    """Fifty steps are taken for the long run; what the first of them did is still felt.

    How long is the first power of the example's matrix? Which root of this number is left in your answer?
    """
    return torch.linalg.matrix_norm(torch.linalg.matrix_power(U, 50)) ** (1 / 50)
