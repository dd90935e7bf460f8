"""What goes wrong on the way back through broadcasting and a layer norm."""

import torch

from autograder.catalogue import misconception

# 16. unbroadcast


def _unbroadcast(gradient, shape, *, total=torch.sum):
    while gradient.ndim > len(shape):
        gradient = total(gradient, dim=0)
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = total(gradient, dim=axis, keepdim=True)
    return gradient


@misconception(of="unbroadcast")
def nothing_summed(gradient, shape):
    """The gradient comes back in the broadcast shape.

    What shape does the tensor have that this gradient will update? What would adding the two do?
    """
    return gradient


@misconception(of="unbroadcast")
def stretched_axes_forgotten(gradient, shape):
    """An axis that was stretched from size 1 is not summed.

    A column of shape (2, 1) was added to a table of shape (2, 3). How many copies of its first number are
    there?
    """
    while gradient.ndim > len(shape):
        gradient = gradient.sum(0)
    return gradient


@misconception(of="unbroadcast")
def copies_averaged(gradient, shape):
    """The gradients of the copies are averaged, not added.

    If the small tensor's number grows a little, all its copies do. Do their effects on the loss add up?
    """
    return _unbroadcast(gradient, shape, total=torch.mean)


@misconception(of="unbroadcast")
def stretched_axes_lost(gradient, shape):
    """The stretched axes are summed, but then they are gone from the shape.

    Which shape is asked for, and which comes back, for a column of shape (2, 1)?
    """
    while gradient.ndim > len(shape):
        gradient = gradient.sum(0)
    return gradient.sum([axis for axis, size in enumerate(shape) if size == 1]) if 1 in shape else gradient


@misconception(of="unbroadcast")
def one_missing_axis_summed(gradient, shape):
    """Only one axis in front is summed away, though several may be missing.

    A bias of shape (3,) was added to (4, 2, 3). How many axes are missing, and how many times do you sum?
    """
    if gradient.ndim > len(shape):
        gradient = gradient.sum(0)
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(axis, keepdim=True)
    return gradient


@misconception(of="unbroadcast")
def missing_or_stretched(gradient, shape):
    """Either the missing axes are summed away or the stretched ones, never both.

    A column of shape (2, 1) was added to (4, 2, 3). Which axes are missing, which were stretched, and what
    does your code do with the second kind?
    """
    if gradient.ndim > len(shape):
        return gradient.sum([*range(gradient.ndim - len(shape))])
    return _unbroadcast(gradient, shape)


@misconception(of="unbroadcast")
def first_stretched_axis_alone(gradient, shape):
    """Only the first stretched axis is summed, though several may have been stretched.

    The shape is (1, 1), the gradient (2, 3). After how many sums does your loop end?
    """
    while gradient.ndim > len(shape):
        gradient = gradient.sum(0)
    return gradient.sum(shape.index(1), keepdim=True) if 1 in shape else gradient


@misconception(of="unbroadcast")
def stretched_axes_counted_with_the_missing(gradient, shape):
    """The stretched axes are summed first, while the missing ones in front still shift their numbers.

    The gradient is (4, 2, 3) and the shape (2, 1). Which axis of the gradient belongs to the 1, and which one
    do you sum?
    """
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(axis, keepdim=True)
    while gradient.ndim > len(shape):
        gradient = gradient.sum(0)
    return gradient


@misconception(of="unbroadcast")
def first_copy_taken(gradient, shape):
    """Of the copies of a number, the gradient of the first is taken, and the others are dropped.

    In the example, three numbers of the first row share one number of the shape (2, 1). What have the second
    and the third to say?
    """
    while gradient.ndim > len(shape):
        gradient = gradient[0]
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = gradient.narrow(axis, 0, 1)
    return gradient


# 17. layer_norm_backward


def _norm_backward(x, gain, upstream, eps, *, through_mean=True, through_deviation=True, ddof=0):
    centred = x - x.mean(-1, keepdim=True)
    s = (centred.square().sum(-1, keepdim=True) / (x.shape[-1] - ddof) + eps).sqrt()
    normed, g = centred / s, upstream * gain
    dx = g
    if through_mean:
        dx = dx - g.mean(-1, keepdim=True)
    if through_deviation:
        dx = dx - normed * (g * normed).mean(-1, keepdim=True)
    return dx / s, (upstream * normed).sum(0), upstream.sum(0)


@misconception(of="layer_norm_backward")
def mean_and_deviation_taken_for_constants(x, gain, upstream, eps):
    """The mean and the deviation are treated as constants, although every number of the row is in them.

    If one number of a row grows, what happens to m and to s? Through how many ways does it reach the loss?
    """
    return _norm_backward(x, gain, upstream, eps, through_mean=False, through_deviation=False)


@misconception(of="layer_norm_backward")
def mean_taken_for_a_constant(x, gain, upstream, eps):
    """The way through the mean is missing, so that raising a whole row seems to change the loss.

    Add 1 to all numbers of a row: what does the layer norm make of it? What must the gradients sum to, then?
    """
    return _norm_backward(x, gain, upstream, eps, through_mean=False)


@misconception(of="layer_norm_backward")
def deviation_taken_for_a_constant(x, gain, upstream, eps):
    """The way through the deviation is missing or adds 0, so that stretching a row seems to change the loss.

    Multiply all numbers of a row by 2: what does the layer norm make of it? Which term of your dx knows that?
    """
    return _norm_backward(x, gain, upstream, eps, through_deviation=False)


@misconception(of="layer_norm_backward")
def gain_forgotten(x, gain, upstream, eps):
    """The gain is not in dx: upstream is used where upstream times gain belongs.

    By how much does y change when x̂ grows by a little? Which parameter is that?
    """
    dx, _, _ = _norm_backward(x, torch.ones_like(gain), upstream, eps)
    return dx, *_norm_backward(x, gain, upstream, eps)[1:]


@misconception(of="layer_norm_backward")
def gain_multiplied_at_the_end(x, gain, upstream, eps):
    """The gain multiplies dx at the end, where it belongs to g, of which the means are taken.

    What does a row of your dx sum to? Where does γ stand in the formula: in g, or before the bracket?
    """
    _, dgain, dbias = _norm_backward(x, gain, upstream, eps)
    return gain * _norm_backward(x, torch.ones_like(gain), upstream, eps)[0], dgain, dbias


@misconception(of="layer_norm_backward")
def gain_and_bias_averaged(x, gain, upstream, eps):
    """The gradients of gain and bias are averaged over the batch; a mean in the loss is in upstream already.

    If β grows a little, all rows change. Do their effects on the loss add up, or average?
    """
    dx, dgain, dbias = _norm_backward(x, gain, upstream, eps)
    return dx, dgain / len(x), dbias / len(x)


@misconception(of="layer_norm_backward")
def eps_left_out(x, gain, upstream, eps):
    """ε is nowhere in s.

    For the row (4, 0, 4, 0) with ε = 12, what is s by the formula, and what in your code? Which argument did
    you not use?
    """
    return _norm_backward(x, gain, upstream, 0.0)


@misconception(of="layer_norm_backward")
def variance_for_the_deviation(x, gain, upstream, eps):
    """The root is missing: s is the variance.

    For the row (4, 0, 4, 0) with ε = 12, what is the number under the root, and what is s?
    """
    centred = x - x.mean(-1, keepdim=True)
    s = centred.square().mean(-1, keepdim=True) + eps
    normed, g = centred / s, upstream * gain
    dx = g - g.mean(-1, keepdim=True) - normed * (g * normed).mean(-1, keepdim=True)
    return dx / s, (upstream * normed).sum(0), upstream.sum(0)


@misconception(of="layer_norm_backward")
def gain_and_bias_not_summed(x, gain, upstream, eps):
    """The gradients of gain and bias have a row for every row of the batch.

    Which shape have gain and bias? Through how many rows does the loss depend on them?
    """
    dx, _, _ = _norm_backward(x, gain, upstream, eps)
    centred = x - x.mean(-1, keepdim=True)
    return dx, upstream * centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt(), upstream


@misconception(of="layer_norm_backward")
def deviation_with_d_minus_one(x, gain, upstream, eps):
    """The deviation divides by D − 1, as `torch.std` does, where the layer norm divides by D.

    What is s in the example by the formula, and what does your line give?
    """
    return _norm_backward(x, gain, upstream, eps, ddof=1)


def _norm(x, eps):
    centred = x - x.mean(-1, keepdim=True)
    s = (centred.square().mean(-1, keepdim=True) + eps).sqrt()
    return centred, s


@misconception(of="layer_norm_backward")
def deviation_left_out(x, gain, upstream, eps):
    """dx is not divided by s.

    Make all numbers of a row twice as far apart. What should happen to dx, and what happens to yours?
    """
    dx, dgain, dbias = _norm_backward(x, gain, upstream, eps)
    return dx * _norm(x, eps)[1], dgain, dbias


@misconception(of="layer_norm_backward")
def gain_gradient_of_the_bare_row(x, gain, upstream, eps):
    """The gradient of the gain is made with x, where the gain has multiplied x̂.

    Which numbers is γ multiplied by in the formula of y? What are they in the example?
    """
    dx, _, dbias = _norm_backward(x, gain, upstream, eps)
    return dx, (upstream * x).sum(0), dbias


@misconception(of="layer_norm_backward")
def gain_inside_its_own_gradient(x, gain, upstream, eps):
    """The gradients of gain and bias are multiplied by the gain, as if they came before it.

    How much does y change when β increases slightly? Does that depend on γ?
    """
    dx, dgain, dbias = _norm_backward(x, gain, upstream, eps)
    return dx, dgain * gain, dbias * gain


@misconception(of="layer_norm_backward")
def eps_outside_the_root(x, gain, upstream, eps):
    """ε is added to the deviation, outside the root, where it belongs under it.

    For the row (4, 0, 4, 0) with ε = 12, what is the number under the root, and what is s?
    """
    centred, s = _norm(x, 0.0)
    normed, g = centred / (s + eps), upstream * gain
    dx = g - g.mean(-1, keepdim=True) - normed * (g * normed).mean(-1, keepdim=True)
    return dx / (s + eps), (upstream * normed).sum(0), upstream.sum(0)


@misconception(of="layer_norm_backward")
def sums_for_the_means(x, gain, upstream, eps):
    """The bars are taken for sums over the row, where they are means.

    What does a row of your dx sum to? What is the mean of g in the example?
    """
    centred, s = _norm(x, eps)
    normed, g = centred / s, upstream * gain
    dx = g - g.sum(-1, keepdim=True) - normed * (g * normed).sum(-1, keepdim=True)
    return dx / s, (upstream * normed).sum(0), upstream.sum(0)


@misconception(of="layer_norm_backward")
def means_down_the_batch(x, gain, upstream, eps):
    """The bars are taken for means over the batch, where they are means over each row.

    Give a batch of one row. What is left of your g minus its mean? Which axis does a layer norm run along?
    """
    centred, s = _norm(x, eps)
    normed, g = centred / s, upstream * gain
    dx = g - g.mean(0) - normed * (g * normed).mean(0)
    return dx / s, (upstream * normed).sum(0), upstream.sum(0)
