"""What goes wrong on the way back through the softmax and the loss."""

import torch
from torch.nn import functional

from autograder.catalogue import misconception

# 11. softmax_vjp


@misconception(
    of="softmax_vjp",
    seen="https://stats.stackexchange.com/questions/235528/backpropagation-with-softmax-cross-entropy",
)
def only_the_diagonal(probs, upstream):
    """Only the diagonal of the Jacobian is used, as if a logit moved no probability but its own.

    When one logit of the example grows, what happens to the other two probabilities? Which entries of the
    Jacobian say so?
    """
    return upstream * probs * (1 - probs)


@misconception(of="softmax_vjp")
def off_diagonal_with_a_plus(probs, upstream):
    """The entries off the diagonal have the wrong sign.

    When one logit grows, do the probabilities of the other words grow or shrink? What must each row of the
    Jacobian sum to?
    """
    mean = (probs * upstream).sum(-1, keepdim=True)
    return probs * (upstream + mean - 2 * probs * upstream)


@misconception(
    of="softmax_vjp",
    seen="https://ai.stackexchange.com/questions/35741/trouble-writing-the-backpropagation-algorithm-in-python-through-crossentropy-and",
)
def batch_rows_mixed(probs, upstream):
    """The sum runs over the whole batch, so every row's gradient depends on the other rows.

    Call your function with the first row alone. Which of your sums is over more than one prediction?
    """
    return probs * (upstream - (probs * upstream).sum())


@misconception(of="softmax_vjp")
def whole_table_built(probs, upstream):
    """The Jacobian is built as a table of V by V numbers for every row, where V numbers suffice.

    How many bytes has your table for V = 5,000,000? Write out one entry of the product: what do all of them
    have in common?
    """
    if probs.shape[-1] > 100_000:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
    table = torch.diag_embed(probs) - probs[:, :, None] * probs[:, None, :]
    return (upstream[:, None, :] @ table)[:, 0]


@misconception(of="softmax_vjp")
def upstream_not_centred(probs, upstream):
    """The upstream gradient is multiplied by the probabilities, and nothing is subtracted.

    If all of upstream is 1, the loss is the sum of the probabilities. Can any logit change that sum?
    """
    return probs * upstream


@misconception(of="softmax_vjp")
def probabilities_left_outside_the_difference(probs, upstream):
    """The mean of upstream is subtracted, but the difference is not multiplied by the probabilities.

    Let a word have the probability 0. Can its logit change the loss by a little step, and what is its
    gradient in yours?
    """
    return upstream - (probs * upstream).sum(-1, keepdim=True)


@misconception(of="softmax_vjp")
def one_part_without_its_probability(probs, upstream):
    """The sum is subtracted as it is, where each word subtracts its own part of it.

    Multiply out the sum over i: which factor stands before the part without δ? What do the gradients of your
    row sum to?
    """
    weighted = probs * upstream
    return weighted - weighted.sum(-1, keepdim=True)


@misconception(of="softmax_vjp")
def softmax_of_the_probabilities(probs, upstream):
    """A softmax is applied to the probabilities, which are the result of one already.

    What is `probs` in the example, and what does your formula multiply by? Which of the two is ŷ?
    """
    again = probs.softmax(-1)
    return again * (upstream - (again * upstream).sum(-1, keepdim=True))


@misconception(of="softmax_vjp")
def upstream_summed_without_the_probabilities(probs, upstream):
    """What is subtracted is the plain sum of the upstream gradients, without the probabilities in it.

    In the sum over i, by what is each $g_i$ multiplied? What is that sum in the example, and what is yours?
    """
    return probs * (upstream - upstream.sum(-1, keepdim=True))


@misconception(of="softmax_vjp")
def mean_for_the_sum(probs, upstream):
    """What is subtracted is a mean over the V words, where the formula has a sum.

    What do the gradients of your row sum to? By what is the sum over i divided in the formula?
    """
    return probs * (upstream - (probs * upstream).mean(-1, keepdim=True))


@misconception(of="softmax_vjp")
def upstream_subtracted_from_the_probabilities(probs, upstream):
    """The upstream gradient is subtracted from the probabilities, as if it were a one-hot target.

    ŷ − y is a gradient through softmax and cross-entropy together. Through which of the two does this
    exercise go back?
    """
    return probs - upstream


# 12. cross_entropy_grad


def _error(logits, targets, shift=0):
    one_hot = functional.one_hot((targets + shift) % logits.shape[1], logits.shape[1])
    return logits.softmax(-1) - one_hot.to(logits.dtype)


@misconception(of="cross_entropy_grad")
def mean_forgotten(logits, targets, pad):
    """The gradient is that of the sum of the losses, not of their mean.

    When the batch is twice as large, how much does one row move the mean? And your gradient?
    """
    return _error(logits, targets) * (targets != pad)[:, None]


@misconception(of="cross_entropy_grad")
def target_minus_prediction(logits, targets, pad):
    """The sign is reversed: the loss falls along y − ŷ, so that is minus the gradient.

    If the logit of the right word grows, does the loss grow? Which sign has its gradient, then?
    """
    return -_error(logits, targets) * (targets != pad)[:, None] / (targets != pad).sum()


@misconception(of="cross_entropy_grad")
def divided_twice(logits, targets, pad):
    """The gradient is divided by the number of rows twice.

    Which of your lines divide by the number of rows? By which factor should the gradient shrink in a batch
    twice as large?
    """
    return _error(logits, targets) * (targets != pad)[:, None] / (targets != pad).sum() ** 2


@misconception(of="cross_entropy_grad")
def padding_pushed_towards_pad(logits, targets, pad):
    """Padded rows have a gradient, which teaches the model to predict padding.

    Does the loss depend on the logits of a padded row? What is the gradient of something that does not
    matter?
    """
    return _error(logits, targets) / (targets != pad).sum()


@misconception(of="cross_entropy_grad")
def divided_by_all_rows(logits, targets, pad):
    """The gradient is divided by the number of all rows, padded ones included.

    Over how many rows does the mean of the loss run, and by which number do you divide?
    """
    return _error(logits, targets) * (targets != pad)[:, None] / len(targets)


@misconception(of="cross_entropy_grad")
def one_hot_one_place_too_far(logits, targets, pad):
    """The 1 is subtracted at the wrong word, the one after the target.

    Which entry of the example's gradient is negative? Which is in yours?
    """
    return _error(logits, targets, 1) * (targets != pad)[:, None] / (targets != pad).sum()


@misconception(of="cross_entropy_grad")
def target_zero_taken_for_padding(logits, targets, pad):
    """Rows with the target 0 are taken for padding, whatever `pad` is.

    With pad = 3 and the targets 2, 3, 0, 3, which rows are zero in your answer, and which should be?
    """
    is_real = targets != 0
    return _error(logits, targets) * is_real[:, None] / is_real.sum()


@misconception(of="cross_entropy_grad")
def padded_rows_keep_their_probabilities(logits, targets, pad):
    """In padded rows the one-hot target is left out, but the probabilities stay.

    What should a padded row of the gradient be, and what is left of ŷ − y there when only y is zero?
    """
    is_real = targets != pad
    one_hot = functional.one_hot(targets, logits.shape[1]) * is_real[:, None]
    return (logits.softmax(-1) - one_hot) / is_real.sum()


@misconception(of="cross_entropy_grad")
def probabilities_over_the_rows(logits, targets, pad):
    """The softmax runs over the rows of the batch, so that predictions compete, not words.

    What do the probabilities of one row sum to in your code? What is ŷ when the batch has a single row?
    """
    is_real = targets != pad
    one_hot = functional.one_hot(targets, logits.shape[1])
    return (logits.softmax(0) - one_hot) * is_real[:, None] / is_real.sum()


@misconception(of="cross_entropy_grad")
def padding_in_the_gradient(logits, targets, pad):
    """Rows of padding are treated like all others: they have a gradient, and they are counted.

    What does the model learn from a row whose target is `pad`? Which argument did you not use?
    """
    return _error(logits, targets) / len(targets)


@misconception(of="cross_entropy_grad")
def one_subtracted_in_every_row(logits, targets, pad):
    """Every target has 1 subtracted in every row, not in its own row alone.

    How many entries of a row are negative in your answer? In `[:, targets]`, what says which row a target
    belongs to?
    """
    is_real = targets != pad
    gradient = logits.softmax(-1)
    gradient[:, targets] -= 1
    return gradient * is_real[:, None] / is_real.sum()


@misconception(of="cross_entropy_grad")
def logits_minus_one_hot(logits, targets, pad):
    """The one-hot target is subtracted from the logits, where the probabilities belong.

    What is ŷ in the example, and from which numbers do you subtract?
    """
    is_real = targets != pad
    one_hot = functional.one_hot(targets, logits.shape[1])
    return (logits - one_hot) * is_real[:, None] / is_real.sum()
