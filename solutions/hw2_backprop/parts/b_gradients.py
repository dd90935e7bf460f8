# %% [markdown]
# ## Part B. Gradients, one rule at a time
#
# A letter d before a name stands for a gradient of the loss: `dh` is $\partial L / \partial h$, in the
# shape of `h`. In a backward pass every layer is handed **upstream**, the gradient of the loss with respect
# to the layer's output, and hands back the gradients with respect to its inputs. Write them as formulas;
# torch's autograd stays off until you compare.

# %% [markdown] exercise="Value" difficulty=3 minutes=50 forbids="torch.autograd,torch.func,torch.Tensor.backward,.requires_grad_"
# ### 10. Your own automatic differentiation
#
# A `Value` is a number that remembers how it was computed. From these memories `backward()` finds the
# derivative of one number with respect to all the numbers it was computed from.
#
# Write the class `Value`:
#
# | you write | and get |
# |---|---|
# | `Value(data)` | a number; `.data` is a float, `.grad` is 0.0 |
# | `a.add(b)`, `a.mul(b)` | new Values: $a + b$ and $a b$; `b` is a Value, and may be `a` itself |
# | `a.power(n)` | $a^n$ for a whole number $n \ge 1$; its derivative is $n a^{n-1}$, also where $a = 0$ |
# | `a.relu()` | $\max(a, 0)$; its derivative where $a = 0$ is 0, by agreement |
# | `a.tanh()` | $\tanh a$ |
# | `a.backward()` | sets `.grad` of `a`, and of every Value behind it, to the derivative of `a` with respect to it |
#
# `backward()` **sets**: called twice, it leaves the same gradients as called once.
#
# **Example.** With $x = 3$ and $y = 2$, let $L = xy + y^2$. Then `L.data` is 10, and after `L.backward()`
# `x.grad` is $y = 2$, `y.grad` is $x + 2y = 7$ and `L.grad` is 1.
#
# <details><summary>Hint 1</summary>
#
# Let every new Value keep its parents and, for each, the derivative of the step: for $xy$ these are $y$ and
# $x$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# In the example $y$ is used three times. What must happen to the parts of its gradient, and may $y$ pass
# anything on before the last part has come?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# List the Values so that parents stand before children: visit the parents, then append yourself, each Value
# once. Go through the list from its end.
#
# </details>


# %% solution="Value"
class Value:
    """A number that knows which numbers it was computed from, and how it depends on each."""

    def __init__(self, data: float):
        ### BEGIN SOLUTION
        self.data = float(data)
        self.grad = 0.0
        self.parents = ()  # pairs of a Value and the derivative with respect to it
        ### END SOLUTION

    def add(self, other: "Value") -> "Value":
        """self + other"""
        ### BEGIN SOLUTION
        return self._computed(self.data + other.data, (self, 1.0), (other, 1.0))
        ### END SOLUTION

    def mul(self, other: "Value") -> "Value":
        """self · other"""
        ### BEGIN SOLUTION
        return self._computed(self.data * other.data, (self, other.data), (other, self.data))
        ### END SOLUTION

    def power(self, n: int) -> "Value":
        """self to the power of a whole number n of at least 1"""
        ### BEGIN SOLUTION
        return self._computed(self.data**n, (self, n * self.data ** (n - 1)))
        ### END SOLUTION

    def relu(self) -> "Value":
        """max(self, 0)"""
        ### BEGIN SOLUTION
        return self._computed(max(self.data, 0.0), (self, float(self.data > 0)))
        ### END SOLUTION

    def tanh(self) -> "Value":
        """tanh(self)"""
        ### BEGIN SOLUTION
        t = math.tanh(self.data)
        return self._computed(t, (self, 1 - t**2))

    def _computed(self, data, *parents):
        value = Value(data)
        value.parents = parents
        return value

    def _ancestors(self, seen):
        """This Value and all it was computed from, each once, parents first."""
        if id(self) in seen:
            return []
        seen.add(id(self))
        return [node for parent, _ in self.parents for node in parent._ancestors(seen)] + [self]
        ### END SOLUTION

    def backward(self) -> None:
        """Set the grad of this Value, and of every Value behind it, to the derivative of this one."""
        ### BEGIN SOLUTION
        order = self._ancestors(set())
        for value in order:
            value.grad = 0.0
        self.grad = 1.0
        for value in reversed(order):
            for parent, slope in value.parents:
                parent.grad += value.grad * slope
        ### END SOLUTION


# %% check="every_step_has_its_number" points=1
def every_step_has_its_number(Value):
    """A new Value has the gradient 0; add, mul, power, relu and tanh compute what their names say."""
    two, minus_three = Value(2.0), Value(-3.0)
    assert_close([attribute(value, "grad") for value in (two, minus_three)], [0.0, 0.0], what="grad")
    made = [two.add(minus_three), two.mul(minus_three), minus_three.power(3), two.tanh()]
    assert_close([attribute(value, "data") for value in made], [-1.0, -6.0, -27.0, math.tanh(2)], what="data")
    cut = [value.relu() for value in (two, minus_three, Value(0.25))]
    assert_close([attribute(value, "data") for value in cut], [2.0, 0.0, 0.25], what="data of relu")


# %% check="the_example_has_its_three_gradients" points=1
def the_example_has_its_three_gradients(Value):
    """With x = 3, y = 2 and L = xy + y², L is 10 and its gradients are 2, 7 and, for L itself, 1; with two Values x = 3 and y = 3 they are 3, 9 and 1."""
    gradients = []
    for y_at, result in ((2.0, 10.0), (3.0, 18.0)):
        x, y = Value(3.0), Value(y_at)
        loss = x.mul(y).add(y.power(2))
        assert_close(attribute(loss, "data"), result, what="L.data")
        loss.backward()
        gradients.append([attribute(value, "grad") for value in (x, y, loss)])
    assert_close(gradients[0], [2.0, 7.0, 1.0], what="x, y, L")
    assert_close(gradients[1], [3.0, 9.0, 1.0], what="x, y, L where x and y are two Values of 3")


# %% check="each_use_of_a_value_counts" points=1
def each_use_of_a_value_counts(Value, draw):
    """The derivative of x·x + x is 2x + 1, and that of x + x is 2."""
    x, y = Value(draw.number(2, 3)), Value(draw.number(2, 3))
    loss = x.mul(x).add(x)
    loss.backward()
    y.add(y).backward()
    assert_close(attribute(x, "grad"), 2 * attribute(x, "data") + 1)
    assert_close(attribute(y, "grad"), 2.0, what="the derivative of y + y")


# %% check="nothing_is_passed_on_too_early" points=1
def nothing_is_passed_on_too_early(Value, draw):
    """With y = x³ and L = y + (y²)³, dL/dx is (1 + 6y⁵) · 3x²."""
    at = draw.number(1.1, 1.6)
    x = Value(at)
    y = x.power(3)
    y.add(y.power(2).power(3)).backward()
    assert_close(attribute(x, "grad"), (1 + 6 * at**15) * 3 * at**2)


# %% check="backward_twice_is_backward_once" points=1
def backward_twice_is_backward_once(Value):
    """A second call of backward leaves the gradients as they are; another loss of the same x sets its own, and then the first one again."""
    x, y = Value(3.0), Value(-2.0)
    loss = x.mul(y).tanh().add(x)
    loss.backward()
    loss.backward()
    slope = 1 - math.tanh(-6) ** 2
    assert_close([attribute(x, "grad"), attribute(y, "grad")], [1 - 2 * slope, 3 * slope])
    x.power(2).backward()
    assert_close(attribute(x, "grad"), 6.0, what="the gradient of x²")
    loss.backward()
    assert_close(attribute(x, "grad"), 1 - 2 * slope, what="the gradient of the first loss, asked for again")


# %% check="zero_is_no_trouble" points=1
def zero_is_no_trouble(Value):
    """At 0 the derivative of the first power is 1, of the third 0, of relu 0; relu's is 1 a quarter above and 0 a quarter below."""
    gradients = []
    for at, make in ((0.0, "first"), (0.0, "third"), (0.0, "relu"), (0.25, "relu"), (-0.25, "relu")):
        x = Value(at)
        loss = x.relu() if make == "relu" else x.power(1 if make == "first" else 3)
        loss.backward()
        gradients.append(attribute(x, "grad"))
    assert_close(gradients, [1.0, 0.0, 0.0, 1.0, 0.0], what="power 1, power 3 and relu at 0, relu at ±0.25")


# %% check="other_expressions_have_their_gradients" points=3 hidden
def other_expressions_have_their_gradients(Value, draw):
    """A longer expression has the gradients that torch finds, twice, and at zero."""
    for x_at, y_at in ((draw.number(0.5, 1.5), draw.number(-2.5, -1.5)), (0.0, draw.number(0.5, 1.5))):
        x, y = Value(x_at), Value(y_at)
        tx, ty = (torch.tensor(at, dtype=torch.float64, requires_grad=True) for at in (x_at, y_at))
        shared, t_shared = x.mul(y).add(x), tx * ty + tx
        loss = shared.tanh().mul(shared).add(y.power(3)).add(x.relu()).add(shared.power(2)).add(x.power(1))
        (t_shared.tanh() * t_shared + ty**3 + tx.relu() + t_shared**2 + tx).backward()
        expected = [tx.grad.item(), ty.grad.item()]
        for _ in range(2):
            shared.backward()
            loss.backward()
            assert_close(
                [attribute(x, "grad"), attribute(y, "grad")], expected, what="the gradients of x and y"
            )


# %% [markdown] exercise="softmax_vjp" difficulty=2 minutes=15 forbids=".backward,torch.autograd,torch.func,torch.ops,torch._softmax_backward_data" exempt="gradient"
# ### 11. Back through the softmax
#
# The softmax has the Jacobian $\partial \hat y_i / \partial z_j = \hat y_i (\delta_{ij} - \hat y_j)$, a table
# of V times V numbers for every row. Nobody needs the table. What the backward pass needs is its product with
# the upstream gradient $g = \partial L / \partial \hat y$, and that is V numbers:
#
# $$\frac{\partial L}{\partial z_j} = \sum_i g_i \frac{\partial \hat y_i}{\partial z_j}$$
#
# Write `softmax_vjp(probs, upstream)`, which returns $\partial L / \partial z$. All three are (B, V); `probs`
# is $\hat y$ itself. It must work for V = 5,000,000, where a V by V table fits on no machine.
#
# **Example.** $\hat y = (\tfrac12, \tfrac14, \tfrac14)$ and $g = (1, 0, 0)$ give
# $(\tfrac14, -\tfrac18, -\tfrac18)$.
#
# <details><summary>Hint 1</summary>
#
# Put the Jacobian into the sum and multiply out: one part has $\delta_{ij}$ in it and loses its sum. What is
# the other sum, and does it depend on $j$?
#
# </details>


# %% solution="softmax_vjp"
def softmax_vjp(probs: Tensor, upstream: Tensor) -> Tensor:
    """The gradient with respect to the logits, (B, V), from that with respect to the probabilities."""
    ### BEGIN SOLUTION
    mean = (probs * upstream).sum(dim=-1, keepdim=True)  # (B, 1)
    return probs * (upstream - mean)
    ### END SOLUTION


# %% check="the_example_gives_a_quarter" points=1
def the_example_gives_a_quarter(softmax_vjp):
    """The example gives (1/4, -1/8, -1/8); rows with g = (0, 0, 8) give (-1, -1/2, 3/2) and, for ŷ = (1/4, 1/2, 1/4), (-1/2, -1, 3/2)."""
    probs = torch.tensor([[0.5, 0.25, 0.25]] * 2 + [[0.25, 0.5, 0.25]], dtype=torch.float64)
    upstream = torch.tensor([[1.0, 0.0, 0.0]] + [[0.0, 0.0, 8.0]] * 2, dtype=torch.float64)
    rows = [[0.25, -0.125, -0.125], [-1.0, -0.5, 1.5], [-0.5, -1.0, 1.5]]
    expected = torch.tensor(rows, dtype=torch.float64)
    assert_close(softmax_vjp(probs, upstream), expected)


# %% check="the_gradients_of_a_row_sum_to_zero" points=1
def the_gradients_of_a_row_sum_to_zero(softmax_vjp, draw):
    """Raising all logits of a row together changes nothing, so its gradients sum to zero."""
    answer = softmax_vjp(draw.probabilities(1, 7), 1 + draw.uniform(1, 7))
    assert_close(answer.sum(-1), torch.zeros(1, dtype=torch.float64))
    assert_depends(answer, torch.zeros(1, 7))


# %% check="rows_do_not_see_each_other" points=1
def rows_do_not_see_each_other(softmax_vjp, draw):
    """What comes for the first row does not depend on the second."""
    probs, upstream = draw.probabilities(2, 5), 1 + draw.uniform(2, 5)
    both = softmax_vjp(probs, upstream)
    assert_close(both[:1], softmax_vjp(probs[:1], upstream[:1]))
    assert_depends(both[:1], softmax_vjp(probs[:1], upstream[:1] ** 2))


# %% check="a_huge_vocabulary_needs_no_table" points=1
def a_huge_vocabulary_needs_no_table(softmax_vjp):
    """It works for a row of 5,000,000 words."""
    probs = torch.full((1, 5_000_000), 2e-7)
    upstream = torch.zeros(1, 5_000_000)
    upstream[0, 3] = 1e7
    answer = softmax_vjp(probs, upstream)
    assert_close(answer[0, :5], torch.tensor([-4e-7, -4e-7, -4e-7, 2.0, -4e-7]))


# %% check="other_rows_agree_with_autograd" points=1 hidden
def other_rows_agree_with_autograd(softmax_vjp, draw):
    """For other sizes, the product is the one that autograd finds."""
    for batch_size, vocab_size in ((3, 5), (4, 2)):
        logits, upstream = (
            draw.normal(batch_size, vocab_size).requires_grad_(),
            2 + draw.normal(batch_size, vocab_size),
        )
        probs = logits.softmax(-1)
        (probs * upstream).sum().backward()
        assert_close(softmax_vjp(probs.detach(), upstream), logits.grad)


# %% [markdown] exercise="cross_entropy_grad" difficulty=2 forbids=".backward,torch.autograd,torch.func,torch.ops" exempt="gradient"
# ### 12. The gradient of softmax and cross-entropy together
#
# Softmax and cross-entropy in one step have the most beautiful gradient of the subject: for one prediction
# $\partial L / \partial z = \hat{\mathbf y} - \mathbf y$, with $\mathbf y$ the target as a one-hot vector.
# Now the loss is the mean over a batch in which some rows are padding: their target is the number `pad`.
# They do not belong to the loss at all.
#
# Write `cross_entropy_grad(logits, targets, pad)`, the gradient (B, V) of the mean loss **over the rows
# that are no padding**, with respect to the logits (B, V). At least one row is no padding.
#
# **Example.** The logits $(0, \ln 3, 0)$ with target 1 have $\hat{\mathbf y} = (0.2, 0.6, 0.2)$ and the
# gradient $(0.2, -0.4, 0.2)$. Beside a second row, of whatever logits, with target `pad = 0`, this stays as
# it is, and the second row's gradient is zero.
#
# <details><summary>Hint 1</summary>
#
# Three questions: what is subtracted from what; which rows are zero; by which number is everything divided?
#
# </details>


# %% solution="cross_entropy_grad"
def cross_entropy_grad(logits: Tensor, targets: Tensor, pad: int) -> Tensor:
    """The gradient (B, V) of the mean cross-entropy over the rows whose target is not `pad`."""
    ### BEGIN SOLUTION
    is_target = targets != pad  # (B,)
    error = logits.softmax(dim=-1)
    error[torch.arange(len(targets)), targets] -= 1
    return error * is_target[:, None] / is_target.sum()
    ### END SOLUTION


# %% check="the_example_row_has_its_gradient" points=1
def the_example_row_has_its_gradient(cross_entropy_grad):
    """The logits (0, ln 3, 0) with target 1 have the gradient (0.2, -0.4, 0.2); beside a row (0, 0, ln 2) with target 2, half of it."""
    logits = torch.tensor([[0.0, math.log(3), 0.0], [0.0, 0.0, math.log(2)]], dtype=torch.float64)
    alone = cross_entropy_grad(logits[:1], torch.tensor([1]), 0)
    both = cross_entropy_grad(logits, torch.tensor([1, 2]), 0)
    assert_close(alone, torch.tensor([[0.2, -0.4, 0.2]], dtype=torch.float64))
    expected = torch.tensor([[0.1, -0.2, 0.1], [0.125, 0.125, -0.25]], dtype=torch.float64)
    assert_close(both, expected, what="the gradient of both rows")


# %% check="a_row_among_many_moves_the_mean_less" points=1
def a_row_among_many_moves_the_mean_less(cross_entropy_grad, draw):
    """When every row is there twice, each has half the gradient."""
    logits, targets = draw.normal(3, 5), torch.tensor([4, 1, 3])
    once = cross_entropy_grad(logits, targets, 0)
    twice = cross_entropy_grad(torch.cat([logits] * 2), torch.cat([targets] * 2), 0)
    assert_close(2 * twice[:3], once)
    assert_depends(once, cross_entropy_grad(2 * logits, targets, 0))


# %% check="padded_rows_have_no_gradient" points=1
def padded_rows_have_no_gradient(cross_entropy_grad, draw):
    """The gradient of rows whose target is padding is zero, and that of the others is not."""
    answer = cross_entropy_grad(draw.normal(4, 5), torch.tensor([2, 3, 0, 3]), 3)
    assert_close(answer[1::2], torch.zeros(2, 5, dtype=torch.float64))
    assert_depends(answer[0::2], torch.zeros(2, 5))


# %% check="padded_rows_do_not_dilute_the_others" points=1
def padded_rows_do_not_dilute_the_others(cross_entropy_grad, draw):
    """Three more rows of padding leave the gradients of the other rows as they are."""
    logits, targets = draw.normal(5, 7), torch.tensor([2, 6, 0, 0, 0])
    alone = cross_entropy_grad(logits[:2], targets[:2], 0)
    assert_close(cross_entropy_grad(logits, targets, 0)[:2], alone)
    assert_depends(alone, cross_entropy_grad(2 * logits[:2], targets[:2], 0))


# %% check="other_batches_agree_with_autograd" points=2 hidden
def other_batches_agree_with_autograd(cross_entropy_grad, draw):
    """For other batches, padded or not, the gradient is the one that autograd finds."""
    for targets, pad in ((torch.tensor([2, 5, 1, 5, 5, 0]), 5), (torch.tensor([3, 1, 4]), 0)):
        logits = draw.normal(len(targets), 8).requires_grad_()
        torch.nn.functional.cross_entropy(logits, targets, ignore_index=pad).backward()
        assert_close(cross_entropy_grad(logits.detach(), targets, pad), logits.grad)


# %% [markdown] exercise="linear_backward" difficulty=2 forbids=".backward,torch.autograd,torch.func,torch.ops" exempt="gradient"
# ### 13. Back through a linear layer
#
# A linear layer computes $\mathbf a = \mathbf W \mathbf x + \mathbf b$ for each row of a batch; in tensors,
# `a = x @ W.T + b` with x (B, inputs), W (outputs, inputs), b (outputs,) and a (B, outputs).
#
# Write `linear_backward(x, W, upstream)`, which returns the tuple `(dx, dW, db)`, each in the shape of what
# it is the gradient of. `upstream` is $\partial L / \partial \mathbf a$, (B, outputs).
#
# **Example.** `x = [[1, 2]]`, `W = [[3, 4], [5, 6], [7, 8]]`, `upstream = [[1, 0, 10]]` give `dx = [[73,
# 84]]`, `dW = [[1, 2], [0, 0], [10, 20]]`, `db = [1, 0, 10]`.
#
# <details><summary>Hint 1</summary>
#
# For dW and dx, write down the two shapes you have and the one you need. There is only one way to multiply.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `b` is one row, and it is added to every row of the batch. Through how many rows does the loss depend on it?
#
# </details>


# %% solution="linear_backward"
def linear_backward(x: Tensor, W: Tensor, upstream: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """dx (B, inputs), dW (outputs, inputs), db (outputs,) of a = x Wᵀ + b, from upstream (B, outputs)."""
    ### BEGIN SOLUTION
    return upstream @ W, upstream.T @ x, upstream.sum(dim=0)
    ### END SOLUTION


# %% check="the_gradient_of_x_goes_through_w" points=1
def the_gradient_of_x_goes_through_w(linear_backward):
    """In the example dx is (73, 84), and of a second row with (2, 5, 20) upstream it is (171, 198)."""
    x, W = torch.tensor([[1.0, 2.0]] * 2), torch.tensor([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    dx, _, _ = linear_backward(x, W, torch.tensor([[1.0, 0.0, 10.0], [2.0, 5.0, 20.0]]))
    assert_close(dx, torch.tensor([[73.0, 84.0], [171.0, 198.0]]))


# %% check="the_gradient_of_w_has_the_shape_of_w" points=1
def the_gradient_of_w_has_the_shape_of_w(linear_backward):
    """With the example's row there twice, dW is ((2, 4), (0, 0), (20, 40)), in the shape of W; with (1, 2) and (3, 5), ((4, 7), (0, 0), (40, 70))."""
    x, W = torch.tensor([[1.0, 2.0]] * 2), torch.tensor([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    upstream = torch.tensor([[1.0, 0.0, 10.0]] * 2)
    _, dW, _ = linear_backward(x, W, upstream)
    _, other, _ = linear_backward(torch.tensor([[1.0, 2.0], [3.0, 5.0]]), W, upstream)
    assert_close(dW, torch.tensor([[2.0, 4.0], [0.0, 0.0], [20.0, 40.0]]))
    assert_close(
        other, torch.tensor([[4.0, 7.0], [0.0, 0.0], [40.0, 70.0]]), what="dW for two different rows"
    )


# %% check="the_bias_hears_from_every_row" points=1
def the_bias_hears_from_every_row(linear_backward):
    """With the rows (1, 0, 10) and (2, 5, 20) upstream, db is (3, 5, 30)."""
    x, W = torch.tensor([[1.0, 2.0]] * 2), torch.tensor([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    _, _, db = linear_backward(x, W, torch.tensor([[1.0, 0.0, 10.0], [2.0, 5.0, 20.0]]))
    assert_close(db, torch.tensor([3.0, 5.0, 30.0]))


# %% check="a_square_layer_is_no_exception" points=1
def a_square_layer_is_no_exception(linear_backward):
    """Where W is square, too, dx is upstream times W, and dW has a row for every unit."""
    x, W = torch.tensor([[1.0, 2.0]]).double(), torch.tensor([[3.0, 4.0], [5.0, 6.0]]).double()
    dx, dW, _ = linear_backward(x, W, torch.tensor([[1.0, 10.0]]).double())
    assert_close(dx, torch.tensor([[53.0, 64.0]]).double(), what="dx")
    assert_close(dW, torch.tensor([[1.0, 2.0], [10.0, 20.0]]).double(), what="dW")


# %% check="other_linear_layers_agree_with_autograd" points=2 hidden
def other_linear_layers_agree_with_autograd(linear_backward, draw):
    """For other sizes, the three gradients are those that autograd finds."""
    for batch_size, n_in, n_out in ((5, 3, 4), (2, 7, 3), (3, 4, 4)):
        x, W, b = (
            draw.normal(*shape).requires_grad_() for shape in ((batch_size, n_in), (n_out, n_in), (n_out,))
        )
        upstream = 1 + draw.normal(batch_size, n_out)
        ((x @ W.T + b) * upstream).sum().backward()
        gradients = linear_backward(x.detach(), W.detach(), upstream)
        for name, gradient, expected in zip(
            ("dx", "dW", "db"), gradients, (x.grad, W.grad, b.grad), strict=True
        ):
            assert_close(gradient, expected, what=name)


# %% [markdown] exercise="tanh_backward" bonus minutes=5 forbids=".backward,torch.autograd,torch.func,torch.ops" exempt="gradient"
# ### 14. Back through tanh (bonus)
#
# Write `tanh_backward(h, upstream)`, which returns $\partial L / \partial a$ for $h = \tanh a$. It is
# handed the **output** `h`, not `a`: that is all the backward pass needs. All three have the same shape.
#
# **Example.** `h = [0, 0.6]` and `upstream = [2, 5]` give `[2, 3.2]`.
#
# <details><summary>Hint 1</summary>
#
# The derivative of $\tanh a$ is $1 - \tanh^2 a$. Which part of it is in your hands already?
#
# </details>


# %% solution="tanh_backward"
def tanh_backward(h: Tensor, upstream: Tensor) -> Tensor:
    """The gradient with respect to a, from h = tanh(a) and the gradient with respect to h."""
    ### BEGIN SOLUTION
    return upstream * (1 - h**2)
    ### END SOLUTION


# %% check="the_example_slopes_are_1_and_0_64" points=1
def the_example_slopes_are_1_and_0_64(tanh_backward):
    """h = (0, 0.6) and upstream (2, 5) give (2, 3.2); h = (0.5, -0.6) and upstream (4, 1) give (3, 0.64)."""
    answers = [
        tanh_backward(torch.tensor(h).double(), torch.tensor(upstream).double())
        for h, upstream in (([0.0, 0.6], [2.0, 5.0]), ([0.5, -0.6], [4.0, 1.0]))
    ]
    assert_close(answers[0], torch.tensor([2.0, 3.2]).double(), tolerance=1e-6)
    other = torch.tensor([3.0, 0.64]).double()
    assert_close(answers[1], other, tolerance=1e-6, what="the gradient where h is (0.5, -0.6)")


# %% check="a_saturated_unit_passes_nothing_on" points=1
def a_saturated_unit_passes_nothing_on(tanh_backward, draw):
    """Where h is 1 or -1, the gradient is zero, however large it is upstream."""
    h, upstream = torch.tensor([[1.0, -1.0, 0.5]]).double(), 10 + draw.uniform(1, 3)
    answer = tanh_backward(h, upstream)
    assert_close(answer[:, :2], torch.zeros(1, 2).double())
    assert_depends(answer, torch.zeros(1, 3))


# %% check="other_units_agree_with_autograd" points=1 hidden
def other_units_agree_with_autograd(tanh_backward, draw):
    """For other numbers and shapes, the gradient is the one that autograd finds."""
    for shape in ((3, 5), (2, 4, 3)):
        a, upstream = draw.normal(*shape).requires_grad_(), 2 + draw.normal(*shape)
        (a.tanh() * upstream).sum().backward()
        assert_close(tanh_backward(a.detach().tanh(), upstream), a.grad)


# %% [markdown] exercise="embedding_backward" difficulty=2 forbids=".backward,torch.autograd,torch.func,torch.ops" exempt="gradient"
# ### 15. Back through the embedding
#
# `E.T[windows]` looks up a column of E for every word of every window. Backwards, every place of a window
# hands its gradient to the column it came from.
#
# Write `embedding_backward(windows, upstream, vocab_size)`, which returns dE, (d, V). `windows` is (B, N)
# int64, `upstream` (B, N, d).
#
# **Example.** One window `[2, 0, 2]`, $d = 1$, `upstream = [[[5], [7], [1]]]`, four words: `dE = [[7, 0, 6,
# 0]]`.
#
# <details><summary>Hint 1</summary>
#
# Write the loop first: for each place, add. Then look for what `dE[:, [2, 0, 2]] += …` does with the word
# that occurs twice, and at `index_add_`.
#
# </details>


# %% solution="embedding_backward"
def embedding_backward(windows: Tensor, upstream: Tensor, vocab_size: int) -> Tensor:
    """dE (d, V) from upstream (B, N, d), the gradient of what was looked up for windows (B, N)."""
    ### BEGIN SOLUTION
    by_place = upstream.flatten(end_dim=1)  # (B·N, d)
    dE = torch.zeros(by_place.shape[1], vocab_size, dtype=upstream.dtype)
    return dE.index_add(1, windows.flatten(), by_place.T)
    ### END SOLUTION


# %% check="the_example_word_gets_both_gradients" points=1
def the_example_word_gets_both_gradients(embedding_backward):
    """In the example the word 2 gets 5 + 1, and words that do not occur 0; in two windows it gets 5 + 1, too."""
    in_one = embedding_backward(torch.tensor([[2, 0, 2]]), torch.tensor([[[5.0], [7.0], [1.0]]]), 4)
    upstream = torch.tensor([[[5.0], [7.0]], [[1.0], [3.0]]])
    in_two = embedding_backward(torch.tensor([[2, 0], [2, 1]]), upstream, 4)
    assert_close(in_one, torch.tensor([[7.0, 0.0, 6.0, 0.0]]), what="the example")
    assert_close(in_two, torch.tensor([[7.0, 3.0, 6.0, 0.0]]), what="the windows [2, 0] and [2, 1]")


# %% check="each_word_has_a_column" points=1
def each_word_has_a_column(embedding_backward, draw):
    """For words that occur once, the columns of dE are the rows of upstream; with words 4 and 1 exchanged, so are their columns."""
    upstream = draw.normal(2, 2, 3)
    answer, exchanged = (
        embedding_backward(torch.tensor(windows), upstream, 5)
        for windows in ([[4, 1], [0, 3]], [[1, 4], [0, 3]])
    )
    expected = torch.stack(
        [upstream[1, 0], upstream[0, 1], 0 * upstream[0, 0], upstream[1, 1], upstream[0, 0]]
    )
    assert_close(answer, expected.T)
    assert_close(exchanged, expected[[0, 4, 2, 3, 1]].T, what="dE with the words 4 and 1 exchanged")


# %% check="other_windows_agree_with_autograd" points=2 hidden
def other_windows_agree_with_autograd(embedding_backward, draw):
    """For other windows, with many words repeated, dE is the one that autograd finds."""
    for batch_size, n_window, d_embedding, vocab_size in ((4, 3, 2, 5), (2, 5, 4, 3)):
        windows = draw.integers(0, vocab_size - 1, batch_size, n_window)  # the last word never
        windows[0, 0] = windows[1, 1] = 1
        E, upstream = (
            draw.normal(d_embedding, vocab_size).requires_grad_(),
            1 + draw.uniform(batch_size, n_window, d_embedding),
        )
        (E.T[windows] * upstream).sum().backward()
        assert_close(embedding_backward(windows, upstream, vocab_size), E.grad)


# %% [markdown] exercise="unbroadcast" difficulty=2 minutes=10 forbids=".backward,torch.autograd,torch.func,torch.ops,.sum_to_size" exempt="gradient"
# ### 16. Back through broadcasting
#
# When a small tensor met a larger one, torch repeated it silently: a bias (D,) was added to every row of
# (B, D). In the backward pass every copy of a number gets a gradient, and these must be added up until the
# gradient has the shape of the tensor again.
#
# Write `unbroadcast(gradient, shape)`. `gradient` has the shape after broadcasting; `shape`, a list of sizes,
# is that of the tensor before, and of the result. Axes that `shape` does not have came in front; axes of size
# 1 were stretched; others are as they were. `sum_to_size` does just that, so do without it.
#
# **Example.** The gradient `[[1, 2, 3], [10, 20, 30]]` becomes `[11, 22, 33]` for the shape `[3]`, `[[6],
# [60]]` for the shape `[2, 1]`, and stays for `[2, 3]`.
#
# <details><summary>Hint 1</summary>
#
# Do it in two steps: first sum away the axes that `shape` does not have, then sum those that have size 1, and
# keep them (`keepdim=True`).
#
# </details>


# %% solution="unbroadcast"
def unbroadcast(gradient: Tensor, shape: list[int]) -> Tensor:
    """The gradient summed over the copies that broadcasting made, in the shape before it."""
    ### BEGIN SOLUTION
    while gradient.ndim > len(shape):
        gradient = gradient.sum(dim=0)
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(dim=axis, keepdim=True)
    return gradient
    ### END SOLUTION


# %% check="a_missing_axis_is_summed_away" points=1
def a_missing_axis_is_summed_away(unbroadcast):
    """The example becomes (11, 22, 33) for the shape (3), twice as large one (22, 44, 66), four copies (44, 88, 132); for () it becomes 66."""
    gradient = torch.tensor([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]).double()
    rows = torch.tensor([11.0, 22.0, 33.0]).double()
    assert_close(unbroadcast(gradient, [3]), rows, what="the example")
    assert_close(unbroadcast(2 * gradient, [3]), 2 * rows, what="twice the example")
    assert_close(unbroadcast(gradient.expand(4, 2, 3), [3]), 4 * rows, what="four copies")
    assert_close(unbroadcast(gradient, []), torch.tensor(66.0).double(), what="one number")


# %% check="a_stretched_axis_is_summed_and_kept" points=1
def a_stretched_axis_is_summed_and_kept(unbroadcast):
    """The example becomes ((6), (60)) for the shape (2, 1), ((66)) for (1, 1) and stays for (2, 3); four copies become ((24), (240))."""
    gradient = torch.tensor([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]).double()
    column = torch.tensor([[6.0], [60.0]]).double()
    assert_close(unbroadcast(gradient, [2, 1]), column, what="the example")
    assert_close(unbroadcast(gradient, [1, 1]), torch.tensor([[66.0]]).double(), what="both axes stretched")
    assert_close(unbroadcast(gradient.expand(4, 2, 3), [2, 1]), 4 * column, what="four copies")
    assert_close(unbroadcast(gradient, [2, 3]), gradient, what="no axis stretched")


# %% check="other_shapes_agree_with_autograd" points=2 hidden
def other_shapes_agree_with_autograd(unbroadcast, draw):
    """For other shapes, the gradient is the one that autograd finds."""
    for shape, wide in (
        ([3, 1], (2, 3, 4)),
        ([4], (3, 4)),
        ([2, 3], (2, 3)),
        ([1, 1, 5], (2, 3, 5)),
        ([], (2, 3)),
    ):
        small, gradient = draw.normal(*shape, 1).squeeze(-1).requires_grad_(), 1 + draw.uniform(*wide)
        (small.expand(wide) * gradient).sum().backward()
        assert_close(unbroadcast(gradient, shape), small.grad, what=f"from {list(wide)} to {shape}")


# %% [markdown] exercise="layer_norm_backward" bonus difficulty=3 minutes=35 forbids=".backward,torch.autograd,torch.func,torch.ops,torch.native_layer_norm_backward" exempt="gradient"
# ### 17. Back through a layer norm (bonus)
#
# A layer norm, which you will meet again in the Transformer, makes of each row $\mathbf x$ of D numbers
#
# $$\hat x_i = \frac{x_i - m}{s}, \qquad m = \frac1D \sum_j x_j, \qquad s = \sqrt{\frac1D \sum_j (x_j - m)^2 +
# \epsilon}, \qquad y_i = \gamma_i \hat x_i + \beta_i$$
#
# with gains $\gamma$, biases $\beta$ and a small $\epsilon$. Every $x_j$ moves its own $y_j$, and through $m$ and $s$
# every $y_i$. Put together, with
# $g_i = \gamma_i \, \partial L / \partial y_i$,
#
# $$\frac{\partial L}{\partial x_i}
# = \frac1s \Big( g_i - \overline{g} - \hat x_i \, \overline{g \hat x} \Big)$$
#
# where a bar is the mean over the row. Derive it on paper; then write
# `layer_norm_backward(x, gain, upstream, eps)`, which returns the tuple `(dx, dgain, dbias)`. `x` and
# `upstream` are (B, D), `gain` is $\gamma$, (D,).
#
# **Example.** For `x = [[1, -1, 1, -1]]`, all gains 1, eps 0: $m = 0$, $s = 1$, $\hat{\mathbf x} = \mathbf
# x$. With `upstream = [[4, 0, 0, 0]]`, $\overline g = 1$ and $\overline{g \hat x} = 1$, so `dx = [[2, 0,
# -2, 0]]`, `dgain = [4, 0, 0, 0]` and `dbias = [4, 0, 0, 0]`.
#
# <details><summary>Hint 1</summary>
#
# Compute $\hat{\mathbf x}$ and $s$ again first. `dgain` and `dbias` need no more, and sum over all rows.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Two laws to test yourself: with eps = 0, each row of dx sums to zero, and so does its product with x̂.
#
# </details>


# %% solution="layer_norm_backward"
def layer_norm_backward(
    x: Tensor, gain: Tensor, upstream: Tensor, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """dx (B, D), dgain (D,), dbias (D,) of a layer norm over the last axis."""
    ### BEGIN SOLUTION
    centred = x - x.mean(dim=-1, keepdim=True)
    s = (centred.square().mean(dim=-1, keepdim=True) + eps).sqrt()  # (B, 1)
    normed, g = centred / s, upstream * gain  # (B, D)
    dx = (g - g.mean(-1, keepdim=True) - normed * (g * normed).mean(-1, keepdim=True)) / s
    return dx, (upstream * normed).sum(dim=0), upstream.sum(dim=0)
    ### END SOLUTION


# %% check="the_example_row_gets_2_0_minus_2_0" points=1
def the_example_row_gets_2_0_minus_2_0(layer_norm_backward):
    """In the example dx is (2, 0, -2, 0)."""
    x, upstream = (
        torch.tensor([[1.0, -1.0, 1.0, -1.0]]).double(),
        torch.tensor([[4.0, 0.0, 0.0, 0.0]]).double(),
    )
    dx, _, _ = layer_norm_backward(x, torch.ones(4).double(), upstream, 0.0)
    assert_close(dx, torch.tensor([[2.0, 0.0, -2.0, 0.0]]).double())


# %% check="raising_a_whole_row_changes_nothing" points=1
def raising_a_whole_row_changes_nothing(layer_norm_backward, draw):
    """Each row of dx sums to zero."""
    dx, _, _ = layer_norm_backward(draw.normal(3, 5), 1 + draw.uniform(5), 2 + draw.normal(3, 5), 1e-5)
    assert_close(dx.sum(-1), torch.zeros(3).double(), tolerance=1e-4)
    assert_depends(dx, torch.zeros(3, 5))


# %% check="stretching_a_row_changes_nothing" points=1
def stretching_a_row_changes_nothing(layer_norm_backward, draw):
    """With eps = 0, the product of each row of dx with the centred row of x sums to zero."""
    x = draw.normal(3, 5)
    dx, _, _ = layer_norm_backward(x, 1 + draw.uniform(5), 2 + draw.normal(3, 5), 0.0)
    assert_close((dx * (x - x.mean(-1, keepdim=True))).sum(-1), torch.zeros(3).double(), tolerance=1e-4)
    assert_depends(dx, torch.zeros(3, 5))


# %% check="gain_and_deviation_enter_dx" points=1
def gain_and_deviation_enter_dx(layer_norm_backward):
    """For the row (4, 0, 4, 0) with eps = 12, so s = 4, and gains 2, 3, 4, 5, dx is (43, -99, -85, 141) / 64."""
    x, upstream = torch.tensor([[4.0, 0.0, 4.0, 0.0]]).double(), torch.tensor([[4.0, 0.0, 0.0, 3.0]]).double()
    dx, _, _ = layer_norm_backward(x, torch.tensor([2.0, 3.0, 4.0, 5.0]).double(), upstream, 12.0)
    assert_close(dx, torch.tensor([[2.6875, -6.1875, -5.3125, 8.8125]]).double() / 4)


# %% check="gain_and_bias_hear_from_every_row" points=1
def gain_and_bias_hear_from_every_row(layer_norm_backward):
    """Two rows (4, 0, 4, 0), s = 4 and upstream (4, 0, 0, 3): dgain (4, 0, 0, -3), dbias (8, 0, 0, 6); with (0, 4, 0, 1) in the second row (2, -2, 0, -2) and (4, 4, 0, 4)."""
    x, gain = torch.tensor([[4.0, 0.0, 4.0, 0.0]] * 2).double(), torch.tensor([2.0, 3.0, 4.0, 5.0]).double()
    upstream = torch.tensor([[4.0, 0.0, 0.0, 3.0]] * 2).double()
    _, dgain, dbias = layer_norm_backward(x, gain, upstream, 12.0)
    upstream[1] = torch.tensor([0.0, 4.0, 0.0, 1.0])
    _, other_dgain, other_dbias = layer_norm_backward(x, gain, upstream, 12.0)
    assert_close(dgain, torch.tensor([4.0, 0.0, 0.0, -3.0]).double(), what="dgain")
    assert_close(dbias, torch.tensor([8.0, 0.0, 0.0, 6.0]).double(), what="dbias")
    expected = torch.tensor([2.0, -2.0, 0.0, -2.0]).double()
    assert_close(other_dgain, expected, what="dgain with another second row upstream")
    expected = torch.tensor([4.0, 4.0, 0.0, 4.0]).double()
    assert_close(other_dbias, expected, what="dbias with another second row upstream")


# %% check="other_layer_norms_agree_with_autograd" points=2 hidden
def other_layer_norms_agree_with_autograd(layer_norm_backward, draw):
    """For other rows, gains and eps, the gradients are those of autograd."""
    for batch_size, d_model, eps in ((3, 5, 0.1), (4, 7, 1e-5)):
        x, gain, bias = (
            draw.normal(*shape).requires_grad_() for shape in ((batch_size, d_model), (d_model,), (d_model,))
        )
        upstream = 1 + draw.normal(batch_size, d_model)
        (torch.nn.functional.layer_norm(x, (d_model,), gain, bias, eps) * upstream).sum().backward()
        gradients = layer_norm_backward(x.detach(), gain.detach(), upstream, eps)
        expected = (x.grad, gain.grad, bias.grad)
        for name, gradient, right in zip(("dx", "dgain", "dbias"), gradients, expected, strict=True):
            assert_close(gradient, right, what=name)
