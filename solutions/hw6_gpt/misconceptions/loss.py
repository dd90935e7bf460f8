"""What goes wrong in homework 6, exercise 1: the loss and its shift.

The first line of a docstring is the diagnosis, the rest is the question put to the student. `fails` names
exactly the checks that the mistake fails.
"""

from torch.nn.functional import cross_entropy

from autograder.catalogue import misconception


def _mean_loss(logits, tokens):
    return cross_entropy(logits.flatten(0, 1), tokens.flatten())


@misconception(
    of="next_token_loss",
    fails={
        "the_example_costs_half_of_ln_6",
        "who_knows_the_next_token_pays_nothing",
        "the_last_logits_of_a_row_do_not_count",
        "other_texts_have_their_next_token_loss",
    },
    seen="https://github.com/huggingface/transformers/issues/27517",
)
def logits_scored_with_their_own_token(logits, tokens):
    """Nothing is shifted: the logits at a position are scored with the token that was read there.

    Which tokens had the model read when it computed the logits at position t? Is token t among them? What
    would a model learn that is paid for repeating it?
    """
    return _mean_loss(logits, tokens)


@misconception(
    of="next_token_loss",
    fails={
        "the_example_costs_half_of_ln_6",
        "who_knows_the_next_token_pays_nothing",
        "other_texts_have_their_next_token_loss",
    },
    seen="https://github.com/huggingface/transformers/issues/47394",
)
def shifted_twice(logits, tokens):
    """The shift is made twice: the logits at position t are scored with token t + 2.

    In the example, with which token do you score the first logits? How many predictions do three tokens give?
    """
    return _mean_loss(logits[:, :-2], tokens[:, 2:])


@misconception(
    of="next_token_loss",
    fails={
        "the_example_costs_half_of_ln_6",
        "who_knows_the_next_token_pays_nothing",
        "the_last_logits_of_a_row_do_not_count",
        "other_texts_have_their_next_token_loss",
    },
)
def shifted_backwards(logits, tokens):
    """The shift goes the wrong way: the logits at position t are scored with token t − 1.

    Write the positions in a row and draw an arrow from each logits to the token you score them with. Do the
    arrows point to the future?
    """
    return _mean_loss(logits[:, 1:], tokens[:, :-1])


@misconception(
    of="next_token_loss",
    fails={
        "who_knows_the_next_token_pays_nothing",
        "the_last_logits_of_a_row_do_not_count",
        "other_texts_have_their_next_token_loss",
    },
)
def rows_run_together(logits, tokens):
    """The rows are joined first, so the last logits of a row are scored with the next row's first token.

    Two rows of four tokens: how many predictions can be judged, and how many do you average? What has the
    beginning of one row to do with the end of another?
    """
    return cross_entropy(logits.flatten(0, 1)[:-1], tokens.flatten()[1:])


@misconception(
    of="next_token_loss",
    fails={
        "the_example_costs_half_of_ln_6",
        "who_knows_the_next_token_pays_nothing",
        "knowing_nothing_costs_ln_v",
        "other_texts_have_their_next_token_loss",
    },
)
def losses_added_up(logits, tokens):
    """The losses of a row are added up instead of averaged, so a longer text costs more.

    What does a model pay per prediction that finds all V tokens equally likely? Does your number depend on T?
    """
    return _mean_loss(logits[:, :-1], tokens[:, 1:]) * (tokens.shape[1] - 1)


@misconception(
    of="next_token_loss",
    fails={
        "the_example_costs_half_of_ln_6",
        "who_knows_the_next_token_pays_nothing",
        "knowing_nothing_costs_ln_v",
        "other_texts_have_their_next_token_loss",
    },
)
def everything_added_up(logits, tokens):
    """The losses of all rows and positions are added up; the mean of all predictions is asked for.

    How many predictions do four rows of three tokens give? What does a model pay per prediction that finds
    all V tokens equally likely?
    """
    return _mean_loss(logits[:, :-1], tokens[:, 1:]) * tokens[:, 1:].numel()


@misconception(
    of="next_token_loss",
    fails={
        "the_example_costs_half_of_ln_6",
        "who_knows_the_next_token_pays_nothing",
        "other_texts_have_their_next_token_loss",
    },
    seen="https://openillumi.com/en/en-pytorch-crossentropy-logits-nllloss-mechanism",
)
def probabilities_given_to_cross_entropy(logits, tokens):
    """The softmax is taken before `cross_entropy`, which takes another one.

    What does `cross_entropy` expect as its first argument? How low can the loss become if the largest "logit"
    is 1 and the smallest 0?
    """
    return _mean_loss(logits.softmax(-1)[:, :-1], tokens[:, 1:])
