"""What goes wrong on the way back through the linear layer, tanh and the embedding."""

import torch

from autograder.catalogue import misconception

# 13. linear_backward


@misconception(of="linear_backward")
def weight_gradient_transposed(x, W, upstream):
    """The gradient of W is transposed.

    What shape does W have, and what shape your dW? Which entry of W does the first row of your dW belong to?
    """
    return upstream @ W, x.T @ upstream, upstream.sum(0)


@misconception(of="linear_backward")
def multiplied_with_the_transpose_of_w(x, W, upstream):
    """The backward pass multiplies upstream by the transpose of W, as the forward pass multiplies x.

    Which shapes have upstream and your matrix? Which one turns a row of outputs back into a row of inputs?
    """
    return upstream @ W.T, upstream.T @ x, upstream.sum(0)


@misconception(of="linear_backward")
def weight_gradient_transposed_to_fit(x, W, upstream):
    """The gradient of W is turned only where its shape does not fit: that of a square layer stays transposed.

    Which axis of your dW is that of the outputs? Can the shape tell you, where W has as many rows as columns?
    """
    dW = x.T @ upstream
    return upstream @ W, dW if dW.shape == W.shape else dW.T, upstream.sum(0)


@misconception(of="linear_backward")
def bias_not_summed(x, W, upstream):
    """The gradient of the bias has a row for every row of the batch.

    What shape does b have, and what shape your db? Through how many rows does the loss depend on b?
    """
    return upstream @ W, upstream.T @ x, upstream


@misconception(of="linear_backward")
def bias_averaged(x, W, upstream):
    """The gradient of the bias is averaged over the batch; the mean in the loss is in upstream already.

    If b grows a little, all rows change. Do their effects on the loss add up, or average?
    """
    return upstream @ W, upstream.T @ x, upstream.mean(0)


@misconception(of="linear_backward")
def weight_gradient_averaged(x, W, upstream):
    """The gradient of W is divided by the batch size; the mean in the loss is in upstream already.

    Where does the division by the batch size belong: to the loss, or to every layer on the way back?
    """
    return upstream @ W, upstream.T @ x / len(x), upstream.sum(0)


@misconception(of="linear_backward")
def input_gradient_averaged(x, W, upstream):
    """The gradient of x is divided by the batch size; the mean in the loss is in upstream already.

    Through how many rows of a does the loss depend on one row of x? What is dx when the batch has a second
    row?
    """
    return upstream @ W / len(x), upstream.T @ x, upstream.sum(0)


@misconception(of="linear_backward")
def weight_and_bias_averaged(x, W, upstream):
    """The gradients of W and b are divided by the batch size; the mean in the loss is in upstream already.

    If W or b grows a little, all rows change. Do their effects on the loss add up, or average?
    """
    return upstream @ W, upstream.T @ x / len(x), upstream.mean(0)


@misconception(of="linear_backward")
def every_gradient_averaged(x, W, upstream):
    """All three gradients are divided by the batch size; the mean in the loss is in upstream already.

    Suppose that the loss is a sum, not a mean. Would your lines be different? How would they know?
    """
    return upstream @ W / len(x), upstream.T @ x / len(x), upstream.mean(0)


@misconception(of="linear_backward")
def bias_of_the_first_row(x, W, upstream):
    """The gradient of the bias is that of the first row of the batch; the other rows have no say.

    Change the second row of upstream. Does your db change? Is b added to the second row, too?
    """
    return upstream @ W, upstream.T @ x, upstream[0]


@misconception(of="linear_backward")
def gradient_of_w_first(x, W, upstream):
    """The gradients are in a different order: dW comes first, dx second.

    What shape does your first result have, and what shape does x have?
    """
    return upstream.T @ x, upstream @ W, upstream.sum(0)


@misconception(of="linear_backward")
def bias_summed_over_the_units(x, W, upstream):
    """The gradient of the bias is summed over the units, so there is one number for each row of the batch.

    What shape does b have, and what shape your db? Which axis counts the rows of a batch?
    """
    return upstream @ W, upstream.T @ x, upstream.sum(1)


# 14. tanh_backward


@misconception(of="tanh_backward")
def output_taken_for_the_input(h, upstream):
    """The slope is computed as 1 − tanh²(h), but h is the output of tanh already.

    How often is tanh applied between a and your slope? Try h = 1: what must the slope be?
    """
    return upstream * (1 - h.tanh() ** 2)


@misconception(of="tanh_backward")
def sigmoid_slope(h, upstream):
    """The slope is h(1 − h), which belongs to the sigmoid.

    What is the slope of tanh at 0, where h is 0? Draw it, and compare.
    """
    return upstream * h * (1 - h)


@misconception(of="tanh_backward")
def square_forgotten(h, upstream):
    """The slope is 1 − h, without the square.

    The slope of tanh is the same at a and at −a. Is yours?
    """
    return upstream * (1 - h)


@misconception(of="tanh_backward")
def upstream_forgotten(h, upstream):
    """The slope is returned by itself, without the gradient from upstream.

    The chain rule multiplies two numbers at each unit. Which one is missing?
    """
    return 1 - h**2


@misconception(of="tanh_backward")
def square_subtracted_from_upstream(h, upstream):
    """The square of h is subtracted from upstream itself: a bracket is missing around the slope.

    In the example, the slope at 0.6 is 0.64. In which order does Python work out `upstream * 1 - h ** 2`?
    """
    return upstream - h**2


# 15. embedding_backward


@misconception(of="embedding_backward")
def repeated_words_overwritten(windows, upstream, vocab_size):
    """Of a word that occurs several times only the last gradient is kept.

    Print your dE for the window `[2, 0, 2]`. What has become of the 5? What does `dE[:, [2, 2]] = …` do?
    """
    dE = torch.zeros(upstream.shape[-1], vocab_size, dtype=upstream.dtype)
    for word, gradient in zip(windows.flatten().tolist(), upstream.flatten(0, 1), strict=True):
        dE[:, word] = gradient
    return dE


def _summed(windows, upstream, vocab_size):
    dE = torch.zeros(upstream.shape[-1], vocab_size, dtype=upstream.dtype)
    return dE.index_add(1, windows.flatten(), upstream.flatten(0, 1).T)


@misconception(of="embedding_backward")
def one_row_per_word(windows, upstream, vocab_size):
    """The gradient has a row per word, where E has a column per word.

    What shape does E have, and what shape does your dE have?
    """
    return _summed(windows, upstream, vocab_size).T


@misconception(of="embedding_backward")
def repeated_words_averaged(windows, upstream, vocab_size):
    """The gradients of a word that occurs several times are averaged, not added.

    If the word's column grows a little, all its places change. Do their effects on the loss add up, or
    average?
    """
    times = torch.bincount(windows.flatten(), minlength=vocab_size).clamp(min=1)
    return _summed(windows, upstream, vocab_size) / times


@misconception(of="embedding_backward")
def only_the_newest_word(windows, upstream, vocab_size):
    """Only the last place of every window hands its gradient on.

    How many columns of E were looked up for one window? How many get a gradient from you?
    """
    return _summed(windows[:, -1:], upstream[:, -1:], vocab_size)


@misconception(of="embedding_backward")
def as_many_columns_as_words_seen(windows, upstream, vocab_size):
    """There are columns only up to the largest word that occurs.

    What shape does E have in the example? Which argument did you not use?
    """
    return _summed(windows, upstream, int(windows.max()) + 1)


@misconception(of="embedding_backward")
def columns_cut_anew(windows, upstream, vocab_size):
    """A table (V, d) is reshaped to (d, V), which cuts its rows apart instead of turning them.

    With two numbers per word, which two entries of your answer belong to the word 0?
    """
    return _summed(windows, upstream, vocab_size).T.reshape(-1, vocab_size)


@misconception(of="embedding_backward")
def overwritten_across_windows(windows, upstream, vocab_size):
    """Places of a window are added up, but of a word at one place of several windows only the last counts.

    Give your code the windows [2, 0] and [2, 1]. How many times does it write the column of the word 2, and
    how many gradients has that word?
    """
    dE = torch.zeros(upstream.shape[-1], vocab_size, dtype=upstream.dtype)
    for place in range(windows.shape[1]):
        dE[:, windows[:, place]] += upstream[:, place].T
    return dE


@misconception(of="embedding_backward")
def overwritten_within_a_window(windows, upstream, vocab_size):
    """Windows are added up, but of a word that occurs twice in one window only the last gradient is kept.

    What is `dE[:, [2, 0, 2]] += …` for the word 2? How many times is its column written?
    """
    dE = torch.zeros(upstream.shape[-1], vocab_size, dtype=upstream.dtype)
    for window, gradients in zip(windows, upstream, strict=True):
        dE[:, window] += gradients.T
    return dE
