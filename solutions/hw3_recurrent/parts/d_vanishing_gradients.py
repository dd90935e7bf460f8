# %% [markdown]
# ## Part D. Gradients that vanish and explode

# %% [markdown] exercise="gradient_norms" difficulty=2 minutes=15 forbids="torch.nn.RNN"
# ### 7. What arrives, and where
#
# Only the last state of a text has a loss, $L = \mathbf v \cdot \mathbf h_T$. How much of its gradient reaches
# the earlier states? Measure it: the norm of $\partial L / \partial \mathbf h_t$ at every step.
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


# %% check="the_last_state_hears_all_of_v" points=1
def the_last_state_hears_all_of_v(gradient_norms, draw):
    """At the last step the norm is that of v, and there is one norm for each of the seven words."""
    v = draw.normal(4)
    answer = gradient_norms(draw.normal(7, 3), **rnn_weights(draw, 3, 4), v=v)
    assert_equal(list(answer.shape), [7], what="the shape")
    assert_close(answer[-1], v.norm())


# %% check="a_rotation_loses_nothing" points=1
def a_rotation_loses_nothing(gradient_norms, draw):
    """If U rotates the state and every slope is 1, equally much reaches every step, whatever v is."""
    angle = draw.number(0.3, 1.2)
    U = numbers([math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)])
    v, W = draw.normal(2), draw.normal(2, 3)
    answer = gradient_norms(torch.zeros(5, 3).double(), W, U, torch.zeros(2).double(), v)
    assert_close(answer, (v @ v).sqrt().expand(5))


# %% check="saturated_states_pass_less_on" points=1
def saturated_states_pass_less_on(gradient_norms, draw):
    """With the same U, less gradient reaches the first step if a text drives the states to ±1 than with zeros."""
    weights, v, x = rnn_weights(draw, 3, 4), draw.normal(4), 20 * draw.normal(6, 3)
    weights["b"] = 0 * weights["b"]
    quiet, loud = gradient_norms(0 * x, **weights, v=v), gradient_norms(x, **weights, v=v)
    assert_true(
        loud[0] < quiet[0] / 10, f"{loud[0]:.3g} reaches the first step, and {quiet[0]:.3g} without words."
    )


# %% check="the_loss_goes_to_the_unit_that_was_listened_to" points=1
def the_loss_goes_to_the_unit_that_was_listened_to(gradient_norms):
    """If unit 0 listens to unit 1 at 0.5 and unit 1 to nobody, a loss on unit 0 is felt one step back."""
    U, v, zeros = numbers([0.0, 0.5], [0.0, 0.0]), numbers([1.0, 0.0])[0], torch.zeros(2).double()
    answer = gradient_norms(torch.zeros(3, 1).double(), zeros[:, None], U, zeros, v)
    assert_close(answer, numbers([0.0, 0.5, 1.0])[0])


# %% check="one_step_back_is_one_jacobian" points=1
def one_step_back_is_one_jacobian(gradient_norms, draw):
    """Of two words, the first hears v times the slopes of tanh after the second, times U."""
    weights, x, v = rnn_weights(draw, 3, 4), draw.normal(2, 3), draw.normal(4)
    W, U, b = weights["W"], weights["U"], weights["b"]
    last = torch.tanh(W @ x[1] + U @ torch.tanh(W @ x[0] + b) + b)
    expected = torch.stack([(v * (1 - last**2) @ U).norm(), v.norm()])
    assert_close(gradient_norms(x, **weights, v=v), expected)


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


# %% alive="a_look_at_your_gradients"
look(
    lambda plots: plots.loss_curves(
        {
            f"U = {u}": gradient_norms(
                torch.zeros(40, 1).double(),
                torch.ones(1, 1).double(),
                torch.tensor([[u]]).double(),
                torch.zeros(1).double(),
                torch.ones(1).double(),
            ).tolist()
            for u in (0.8, 0.9, 1.0)
        },
        unit="length of the gradient, word by word",
    )
)


# %% [markdown] exercise="long_run_factor" difficulty=2 minutes=10 exempt="gradient"
# ### 8. The factor in the long run
#
# Where all slopes are 1, each step back multiplies the gradient by $\mathbf U^\top$. Over many steps the
# length of the gradient then changes by a fixed factor per step, in the long run the same for almost every
# $\mathbf v$. Which number of $\mathbf U$ is it?
#
# Write `long_run_factor(U)`, the $\lim_{n \to \infty} \lVert \mathbf U^n \rVert^{1/n}$ of a (D, D) matrix, as
# one number. `torch.linalg` may be used.
#
# **Example.** `U = [[0.5, 10], [0, 0.5]]`: one step can make a vector ten times as long, but
# `U` multiplied by itself 50 times has no entry above $10^{-11}$. The factor is 0.5.
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
    """The factor per step by which U (D, D) changes lengths in the long run."""
    ### BEGIN SOLUTION
    return torch.linalg.eigvals(U).abs().max()
    ### END SOLUTION


# %% check="the_example_has_the_factor_one_half" points=1
def the_example_has_the_factor_one_half(long_run_factor):
    """The matrix of the example has the factor 0.5, and its double the factor 1."""
    U = numbers([0.5, 10.0], [0.0, 0.5])
    assert_close(float(long_run_factor(U)), 0.5, tolerance=1e-6)
    assert_close(float(long_run_factor(2 * U)), 1.0, tolerance=1e-6)


# %% check="a_shrinking_rotation_has_its_factor" points=1
def a_shrinking_rotation_has_its_factor(long_run_factor, draw):
    """A matrix that turns by some angle and shrinks by 0.9 has the factor 0.9."""
    angle = draw.number(0.5, 2.5)
    U = 0.9 * numbers([math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)])
    assert_close(float(long_run_factor(U)), 0.9)


# %% check="the_sign_of_a_stretching_does_not_matter" points=1
def the_sign_of_a_stretching_does_not_matter(long_run_factor):
    """Stretching by 0.7, -1.2 and 0.3 along three axes has the factor 1.2."""
    assert_close(float(long_run_factor(torch.diag(numbers([0.7, -1.2, 0.3])[0]))), 1.2)


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
    largest = draw.number(0.8, 1.3)
    U = torch.diag(numbers([0.2, -0.5, 0.4, -largest])[0]) + torch.triu(draw.normal(4, 4), diagonal=1)
    assert_close(float(long_run_factor(U)), largest, tolerance=1e-6)


# %% [markdown] exercise="clipped" difficulty=1 minutes=10 forbids="torch.nn.utils" exempt="gradient"
# ### 9. Clipping
#
# An exploded gradient is too long, but its direction may still be good. **Clipping** shortens it: with all
# gradients of the model taken as **one** long vector $g$ and a threshold $c$,
#
# $$g \leftarrow g \cdot \min\left(1, \frac{c}{\lVert g \rVert}\right).$$
#
# Write `clipped(gradients, threshold)`. `gradients` is a dict from names to tensors of any shapes; return a
# new dict with the same names and shapes, and leave the one you were given as it is. If all gradients are
# zero, they stay so. Compute the length and the factor yourself, without `torch.nn.utils`.
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


# %% provided="gradients_to_clip" helper
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
    """With the threshold 1, the gradients 3 and 4 become 0.6 and 0.8; with 10 they stay as they are."""
    gradients = {"W": numbers([3.0]), "b": numbers([4.0])[0]}
    assert_close(clipped(gradients, 1.0), {"W": numbers([0.6]), "b": numbers([0.8])[0]})
    assert_close(clipped(gradients, 10.0), gradients, what="with the threshold 10")


# %% check="all_together_are_as_long_as_the_threshold" points=1
def all_together_are_as_long_as_the_threshold(clipped, draw):
    """Gradients 12 long become 0.7 long, all of them together, if that is the threshold."""
    own = clipped(drawn_gradients(draw, 12.0), 0.7)
    assert_equal({*own}, {"U", "W", "b"})
    assert_close(length_of(own), 0.7)


# %% check="the_direction_stays" points=1
def the_direction_stays(clipped, draw):
    """All entries of all tensors are multiplied by one and the same number."""
    gradients = drawn_gradients(draw, 12.0)
    own = clipped(gradients, 0.7)
    factor = own["U"][1, 2] / gradients["U"][1, 2]
    for name, gradient in gradients.items():
        assert_close(own[name], gradient * factor, what=name)


# %% check="short_gradients_are_left_alone" points=1
def short_gradients_are_left_alone(clipped, draw):
    """Gradients shorter than the threshold, and zeros, stay as they are."""
    gradients = drawn_gradients(draw, 0.4)
    assert_close(clipped(gradients, 0.7), gradients)
    zeros = {"W": torch.zeros(2, 3).double()}
    assert_close(clipped(zeros, 0.7), zeros, what="zeros")


# %% check="what_was_given_is_not_changed" points=1
def what_was_given_is_not_changed(clipped, draw):
    """The dict you are given, and its tensors, are the same afterwards, and what comes back is clipped."""
    own = clipped(drawn_gradients(draw, 12.0), 0.7)
    assert_true(length_of(own) < 11, "Nothing was clipped.")


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


# %% [markdown] exercise="clipped_step" difficulty=1 minutes=5 exempt="gradient"
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


# %% check="no_step_is_longer_than_rate_times_threshold" points=1
def no_step_is_longer_than_rate_times_threshold(clipped_step, draw):
    """With a gradient 1000 long, rate 0.1 and threshold 2, the parameters move by 0.2, downhill; with threshold 0.5 by 0.05."""
    parameters, gradients = drawn_gradients(draw, 9.0), drawn_gradients(draw, 1000.0)
    own, shorter = (clipped_step(parameters, gradients, 0.1, threshold) for threshold in (2.0, 0.5))
    moved = {name: own[name] - parameters[name] for name in parameters}
    assert_close(length_of(moved), 0.2)
    assert_close(length_of({name: shorter[name] - parameters[name] for name in parameters}), 0.05)
    downhill = sum((moved[name] * gradients[name]).sum() for name in moved)
    assert_true(downhill < 0, "The step goes uphill.")


# %% check="a_short_gradient_makes_its_usual_step" points=1
def a_short_gradient_makes_its_usual_step(clipped_step, draw):
    """With a gradient 0.05, 0.3 or 1.5 long and threshold 2, the step is that of plain gradient descent."""
    for size in (0.05, 0.3, 1.5):
        parameters, gradients = drawn_gradients(draw, 9.0), drawn_gradients(draw, size)
        own = clipped_step(parameters, gradients, 0.1, 2.0)
        for name, parameter in parameters.items():
            assert_close(own[name], parameter - 0.1 * gradients[name], what=name)


# %% check="other_steps_are_clipped" points=1 hidden
def other_steps_are_clipped(clipped_step, draw):
    """Other steps, with long and with short gradients, lead where they should."""
    for size, threshold, learning_rate in (
        (40.0, 3.0, 0.2),
        (0.8, 1.0, 1.5),
        (5.0, 0.3, 2.0),
        (0.1, 0.7, 3.0),
    ):
        parameters, gradients = drawn_gradients(draw, 4.0), drawn_gradients(draw, size)
        own = clipped_step(parameters, gradients, learning_rate, threshold)
        factor = learning_rate * min(1.0, threshold / size)
        for name, parameter in parameters.items():
            assert_close(own[name], parameter - factor * gradients[name], what=name)


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
