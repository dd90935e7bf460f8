"""What goes wrong in homework 6, exercise 1: the loss, its shift and its padding."""

from torch.nn.functional import cross_entropy

from autograder.catalogue import misconception


def _losses(logits, tokens):
    return cross_entropy(logits.mT, tokens, reduction="none")


def _mean_loss(logits, tokens, mask):
    """The mean over those tokens (B, T) that the mask, if there is one, calls real."""
    losses = _losses(logits, tokens)
    return losses.mean() if mask is None else losses[mask].mean()


def _after_the_first(mask):
    return None if mask is None else mask[:, 1:]


@misconception(of="next_token_loss", seen="https://github.com/huggingface/transformers/issues/27517")
def logits_scored_with_their_own_token(logits, tokens, mask=None):
    """Nothing is shifted: the logits at a position are scored with the token that was read there.

    Which tokens had the model read when it computed the logits at position t? Is token t among them? What
    would a model learn that is paid for repeating it?
    """
    return _mean_loss(logits, tokens, mask)


@misconception(of="next_token_loss", seen="https://github.com/huggingface/transformers/issues/47394")
def shifted_twice(logits, tokens, mask=None):
    """The shift is made twice: the logits at position t are scored with token t + 2.

    In the example, with which token do you score the first logits? How many predictions do three tokens give?
    """
    return _mean_loss(logits[:, :-2], tokens[:, 2:], None if mask is None else mask[:, 2:])


@misconception(of="next_token_loss")
def shifted_backwards(logits, tokens, mask=None):
    """The shift goes the wrong way: the logits at position t are scored with token t − 1.

    Write the positions in a row and draw an arrow from each logits to the token you score them with. Do the
    arrows point to the future?
    """
    return _mean_loss(logits[:, 1:], tokens[:, :-1], _after_the_first(mask))


@misconception(of="next_token_loss")
def rows_run_together(logits, tokens, mask=None):
    """The rows are joined first, so the last logits of a row are scored with the next row's first token.

    Two rows of four tokens: how many predictions can be judged, and how many do you average? What has the
    beginning of one row to do with the end of another?
    """
    losses = cross_entropy(logits.flatten(0, 1)[:-1], tokens.flatten()[1:], reduction="none")
    return losses.mean() if mask is None else losses[mask.flatten()[1:]].mean()


@misconception(of="next_token_loss")
def losses_added_up(logits, tokens, mask=None):
    """The losses of a row are added up instead of averaged, so a longer text costs more.

    What does a model pay per prediction that finds all V tokens equally likely? Does your number depend on T?
    """
    return _mean_loss(logits[:, :-1], tokens[:, 1:], _after_the_first(mask)) * (tokens.shape[1] - 1)


@misconception(of="next_token_loss")
def everything_added_up(logits, tokens, mask=None):
    """The losses of all rows and positions are added up; the mean of all predictions is asked for.

    How many predictions do four rows of three tokens give? What does a model pay per prediction that finds
    all V tokens equally likely?
    """
    losses = _losses(logits[:, :-1], tokens[:, 1:])
    return losses.sum() if mask is None else losses[mask[:, 1:]].sum()


@misconception(
    of="next_token_loss", seen="https://openillumi.com/en/en-pytorch-crossentropy-logits-nllloss-mechanism"
)
def probabilities_given_to_cross_entropy(logits, tokens, mask=None):
    """The softmax is taken before `cross_entropy`, which takes another one.

    What does `cross_entropy` expect as its first argument? How low can the loss become if the largest "logit"
    is 1 and the smallest 0?
    """
    return _mean_loss(logits.softmax(-1)[:, :-1], tokens[:, 1:], _after_the_first(mask))


@misconception(of="next_token_loss")
def padding_counted_too(logits, tokens, mask=None):
    """Padding is predicted and counted like words, whatever `mask` says.

    Change the padding behind a text. Does your loss change? What does a model learn that is paid for
    predicting what nobody asks for?
    """
    return _mean_loss(logits[:, :-1], tokens[:, 1:], None)


@misconception(of="next_token_loss")
def mask_of_the_tokens_read(logits, tokens, mask=None):
    """What is left out is decided by the token read, so the padding right after a text is still predicted.

    In the example with a mask, which of the two predictions is judged: the one that reads a real token, or
    the one that is about a real token?
    """
    return _mean_loss(logits[:, :-1], tokens[:, 1:], None if mask is None else mask[:, :-1])


@misconception(of="next_token_loss")
def divided_by_padding_too(logits, tokens, mask=None):
    """Padding costs nothing but is counted: the sum is divided by the number of all predictions.

    In the example with a mask, by which number must ln 2 be divided?
    """
    losses = _losses(logits[:, :-1], tokens[:, 1:])
    return losses.mean() if mask is None else (losses * mask[:, 1:]).mean()


@misconception(of="next_token_loss")
def texts_averaged_one_by_one(logits, tokens, mask=None):
    """Each text is averaged on its own, so a word of a short text counts more.

    A text of 2 tokens and one of 20: how many predictions does each give, and how much does each of them
    count for you?
    """
    losses, real = _losses(logits[:, :-1], tokens[:, 1:]), _after_the_first(mask)
    return losses.mean() if mask is None else ((losses * real).sum(1) / real.sum(1)).mean()


@misconception(of="next_token_loss")
def texts_averaged_one_by_one_without_padding(logits, tokens, mask=None):
    """Each text is averaged on its own, so a word of a short text counts more.

    A text of 2 tokens and one of 20: how many predictions does each give, and how much does each of them
    count for you?
    """
    losses, real = _losses(logits[:, :-1], tokens[:, 1:]), _after_the_first(mask)
    return losses.mean() if mask is None else (losses.where(real, 0.0).sum(1) / real.sum(1)).mean()
