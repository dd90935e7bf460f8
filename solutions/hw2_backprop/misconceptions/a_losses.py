"""What goes wrong with the softmax, the cross-entropy and the words drawn from them."""

import math

import torch
from torch.nn import functional

from autograder.catalogue import misconception

from ..notebook import cross_entropy as right_loss
from ..notebook import log_softmax as right_log_softmax

# 3. log_softmax


@misconception(
    of="log_softmax",
    seen="https://uvadlc-notebooks.readthedocs.io/en/latest/tutorial_notebooks/guide3/Debugging_PyTorch.html",
)
def softmax_over_the_first_axis(logits):
    """The softmax runs over the rows, so each column sums to one, not each row.

    Which axis lists the words that one prediction chooses between? Sum your probabilities along each axis.
    """
    return right_log_softmax(logits.movedim(0, -1)).movedim(-1, 0)


@misconception(of="log_softmax")
def maximum_not_subtracted(logits):
    """The exponential is taken of the logits as they are, and is infinite from 710 on.

    Evaluate `torch.tensor(1000.0).exp()`. Which number may you subtract from all logits of a row before that?
    """
    return logits - logits.exp().sum(-1, keepdim=True).log()


@misconception(of="log_softmax")
def maximum_not_added_back(logits):
    """The maximum is subtracted inside the sum only, so what comes back is too large by the maximum.

    For the logits (0, ln 3), what do your log-probabilities sum to after `exp`? From which of the two numbers
    in ln(e^z / s) did you subtract the maximum?
    """
    top = logits.max(dim=-1, keepdim=True).values
    return logits - (logits - top).exp().sum(-1, keepdim=True).log()


@misconception(of="log_softmax")
def logarithm_of_the_softmax(logits):
    """The logarithm is taken of the probabilities, and that of an unlikely word is 0 by then.

    What is `torch.tensor(-2000.0).exp()`, and what its logarithm? Does the logarithm of a quotient need the
    quotient?
    """
    return right_log_softmax(logits).exp().log()


@misconception(of="log_softmax")
def one_maximum_for_all_rows(logits):
    """One maximum, that of the whole tensor, is subtracted from all rows: the lower rows vanish.

    After your subtraction, what is the largest entry of each row? Where it is far below 0, what is the sum
    of the exponentials?
    """
    shifted = logits - logits.max()
    return shifted - shifted.exp().sum(-1, keepdim=True).log()


@misconception(of="log_softmax")
def maximum_of_the_first_row(logits):
    """The maximum of the first row is subtracted from all rows; the others may be far above it or below.

    After your subtraction, what is the largest entry of each row? For which rows is it 0?
    """
    shifted = logits - (logits[0] if logits.ndim > 1 else logits).max()
    return shifted - shifted.exp().sum(-1, keepdim=True).log()


@misconception(of="log_softmax")
def logarithm_not_taken(logits):
    """The probabilities come back, not their logarithms.

    Can a log-probability be positive? What does the example expect for a probability of 1/4?
    """
    return right_log_softmax(logits).exp()


@misconception(of="log_softmax")
def always_the_second_axis(logits):
    """The softmax runs over axis 1, which is the last one only as long as there are two.

    Of logits of the shape (2, 3, 5), which sums are 1 in your answer? How do you name the last axis, however
    many there are?
    """
    return right_log_softmax(logits.movedim(1, -1)).movedim(-1, 1)


@misconception(of="log_softmax")
def one_sum_for_all_rows(logits):
    """There is one sum for the whole tensor, so that all rows together are one distribution.

    What do the probabilities of each row sum to, and those of all rows together? Over which axis is the sum?
    """
    return right_log_softmax(logits.flatten()).view_as(logits)


@misconception(of="log_softmax")
def computed_as_written(logits):
    """The formula is computed as it is written: the exponentials break above 710, and the logarithm at 0.

    What is `torch.tensor(1000.0).exp()`, and what is `torch.tensor(-2000.0).exp().log()`? Which of the two
    can be avoided by a subtraction before, and which by one after?
    """
    return (logits.exp() / logits.exp().sum(-1, keepdim=True)).log()


# 4. cross_entropy


@misconception(
    of="cross_entropy", seen="https://openillumi.com/en/en-pytorch-crossentropy-logits-nllloss-mechanism"
)
def softmax_before_the_loss(logits, targets):
    """The softmax is applied twice: once to the logits, and once more inside the log-softmax.

    A model that gives the right word a logit of 40 should pay nothing. What do you get, and how often is a
    softmax applied on the way?
    """
    return right_loss(logits.softmax(-1), targets)


@misconception(
    of="cross_entropy", seen="https://openillumi.com/en/en-pytorch-crossentropy-logits-nllloss-mechanism"
)
def probabilities_without_logarithm(logits, targets):
    """The targets' probabilities are averaged, not their logarithms, so the loss lies between -1 and 0.

    What is the surprise at a word of probability 1/4? Where in your code is its logarithm taken?
    """
    return -logits.softmax(-1)[torch.arange(len(targets)), targets].mean()


@misconception(of="cross_entropy")
def losses_summed(logits, targets):
    """The losses of the rows are summed, not averaged.

    What does your loss do when the batch becomes twice as large? What would that do to the size of a step?
    """
    return right_loss(logits, targets) * len(targets)


@misconception(of="cross_entropy")
def averaged_over_all_words(logits, targets):
    """The mean runs over all B · V numbers of the table, most of them zero, and not over the B losses.

    How many numbers does your mean divide by, and how many predictions are there? What is the loss of 11
    words that are equally likely?
    """
    one_hot = functional.one_hot(targets, logits.shape[1])
    return -(one_hot * logits.log_softmax(-1)).mean()


@misconception(of="cross_entropy")
def loss_in_bits(logits, targets):
    """The loss is in bits, where nats are asked for.

    What is the natural logarithm of 11, and what do you get for 11 words that are equally likely?
    """
    return right_loss(logits, targets) / math.log(2)


@misconception(of="cross_entropy")
def loss_of_a_vanished_probability(logits, targets):
    """The logarithm is taken of a probability that has become 0, so a great surprise costs infinity.

    Print the probability of the target before you take its logarithm. Which function goes from logits to
    log-probabilities in one piece?
    """
    return -logits.softmax(-1)[torch.arange(len(targets)), targets].log().mean()


@misconception(of="cross_entropy")
def exponentials_beyond_all_bounds(logits, targets):
    """The exponentials of the logits are summed as they are: that of 1000 is infinite, that of -1000 is 0.

    Evaluate `torch.tensor(1000.0).exp()`. Which number may you subtract from all logits of a row before that?
    """
    return (logits.exp().sum(-1).log() - logits[torch.arange(len(targets)), targets]).mean()


@misconception(of="cross_entropy")
def every_target_with_every_row(logits, targets):
    """Each row pays for the targets of all rows: B times B numbers are averaged, not B.

    What is the shape of what you average? In `log_probs[:, targets]`, what says which target belongs to which
    row?
    """
    return -torch.log_softmax(logits, -1)[:, targets].mean()


@misconception(of="cross_entropy")
def softmax_down_the_batch(logits, targets):
    """The softmax runs over the rows of the batch, so that predictions compete, not words.

    Give a batch of one row. What does your loss say, whatever the logits? Which axis lists the words?
    """
    return -torch.log_softmax(logits, 0)[torch.arange(len(targets)), targets].mean()


@misconception(of="cross_entropy")
def log_probability_for_the_surprise(logits, targets):
    """The mean log-probability comes back, with its sign: a better model has a higher loss.

    Can a surprise be below 0? What is the loss of a model that gives the right word the probability 1/2?
    """
    return torch.log_softmax(logits, -1)[torch.arange(len(targets)), targets].mean()


# 5. draw_tokens


@misconception(of="draw_tokens", seen="https://github.com/ml-explore/mlx-examples/pull/521")
def probabilities_taken_for_logits(logits, uniforms):
    """The softmax is applied to probabilities, as if they were logits, which makes all words nearly alike.

    What are the probabilities of the example after your last softmax? Whoever expects logits applies the
    softmax himself: how often is it applied in all?
    """
    return _drawn(logits.softmax(-1).softmax(-1), uniforms)


def _drawn(probs, uniforms):
    return (probs.cumsum(-1)[:, :-1] < uniforms[:, None]).sum(-1)


@misconception(of="draw_tokens")
def always_the_likeliest(logits, uniforms):
    """The likeliest word is always taken, and u has no say.

    Call your function with u = 0.4 and with u = 0.8. How often should a word of probability 1/4 come?
    """
    return logits.argmax(-1)


@misconception(of="draw_tokens")
def uniforms_not_turned_into_a_column(logits, uniforms):
    """The numbers u are compared with the columns of the borders, where each belongs to a row.

    Which shape have your borders, and which has `uniforms`? With which axis does torch line up the only axis
    of `uniforms`?
    """
    return (logits.softmax(-1).cumsum(-1) < uniforms).sum(-1)


@misconception(of="draw_tokens")
def exponentials_not_divided(logits, uniforms):
    """The exponentials of the logits are laid side by side as they are, without dividing by their sum.

    What do your pieces sum to in the example? How long is the line on which u falls?
    """
    return _drawn(logits.exp(), uniforms)


@misconception(of="draw_tokens")
def probabilities_down_the_batch(logits, uniforms):
    """The softmax runs over the rows of the batch, so that rows compete, not words.

    What do the probabilities of one row sum to? Which axis of the logits lists the words?
    """
    return (logits.softmax(0).cumsum(-1) < uniforms[:, None]).sum(-1)


@misconception(of="draw_tokens")
def pieces_of_the_first_row(logits, uniforms):
    """All words are drawn by the probabilities of the first row.

    Give two rows with different logits and the same u. Should the same word be drawn?
    """
    return _drawn(logits[:1].softmax(-1).expand_as(logits), uniforms)


@misconception(of="draw_tokens")
def pieces_in_the_order_of_likelihood(logits, uniforms):
    """The pieces are sorted, the likeliest word first, where they should lie in the order of the words.

    For the probabilities 1/4, 1/4, 1/2 and u = 0.1, on whose piece does u fall in your order, and in the one
    of the statement?
    """
    probs, words = logits.softmax(-1).sort(dim=-1, descending=True, stable=True)
    return words.gather(1, _drawn(probs, uniforms)[:, None])[:, 0]


@misconception(of="draw_tokens")
def logits_laid_side_by_side(logits, uniforms):
    """The logits themselves are laid side by side: no softmax makes probabilities of them.

    How long is your line in the example, and how long is the piece of the word 1? Can a piece be 0 long?
    """
    return (logits.cumsum(-1) < uniforms[:, None]).sum(-1)
