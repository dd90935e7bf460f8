"""What goes wrong in the whole model's backward pass, one line at a time."""

import torch
from torch.nn import functional

from autograder.catalogue import misconception

# 20. forward_and_backward

LINES = ("e", "a", "h", "z", "y_hat", "L", "dz", "dU", "dc", "dh", "da", "dW", "db", "de", "dE")


class _Lines:
    """The right fifteen lines, each a method to break."""

    def __init__(self, E, W, b, U, c, windows, targets):
        self.E, self.W, self.b, self.U, self.c = E, W, b, U, c
        self.windows, self.targets, self.lines = windows, targets, {}
        for name in LINES:
            self.lines[name] = getattr(self, name)(**self.lines)

    def e(self, **_):
        return self.E.T[self.windows].flatten(1)

    def a(self, e, **_):
        return e @ self.W.T + self.b

    def h(self, a, **_):
        return a.tanh()

    def z(self, h, **_):
        return h @ self.U.T + self.c

    def y_hat(self, z, **_):
        return z.softmax(-1)

    def L(self, z, **_):
        return functional.cross_entropy(z, self.targets)

    def dz(self, y_hat, **_):
        return (y_hat - functional.one_hot(self.targets, y_hat.shape[1])) / len(y_hat)

    def dU(self, dz, h, **_):
        return dz.T @ h

    def dc(self, dz, **_):
        return dz.sum(0)

    def dh(self, dz, **_):
        return dz @ self.U

    def da(self, dh, h, **_):
        return dh * (1 - h**2)

    def dW(self, da, e, **_):
        return da.T @ e

    def db(self, da, **_):
        return da.sum(0)

    def de(self, da, **_):
        return da @ self.W

    def dE(self, de, **_):
        by_place = de.reshape(-1, len(self.E))
        return torch.zeros_like(self.E).index_add(1, self.windows.flatten(), by_place.T)


def _method(wrong):
    return lambda self, **lines: wrong(self, lines)


def _lines_with(arguments, **broken):
    """The fifteen lines with some computed otherwise: name → function of the model and its lines."""
    methods = {name: _method(wrong) for name, wrong in broken.items()}
    return type("Broken", (_Lines,), methods)(*arguments).lines


@misconception(of="forward_and_backward")
def words_interleaved_in_e(E, W, b, U, c, windows, targets):
    """In e the embeddings are interleaved, not joined word by word.

    Print e for one window. Which d of its numbers belong to the oldest word, and which should?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(
        arguments,
        e=lambda model, _: E.T[windows].transpose(1, 2).flatten(1),
        dE=lambda model, lines: _Lines.dE(
            model, lines["de"].reshape(len(windows), len(E), -1).transpose(1, 2).flatten(1)
        ),
    )


@misconception(of="forward_and_backward")
def loss_summed_gradient_of_the_mean(E, W, b, U, c, windows, targets):
    """The loss is the sum over the batch, while its gradient is that of the mean.

    Divide your L by the loss of torch. Which number do you get, and where does it come from?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(
        arguments, L=lambda model, lines: functional.cross_entropy(lines["z"], targets, reduction="sum")
    )


@misconception(of="forward_and_backward")
def dz_not_divided_by_the_batch(E, W, b, U, c, windows, targets):
    """dz is the gradient of the sum of the losses: the 1/B of the mean is missing.

    Divide your dz by that of autograd. Is it the same number everywhere, and what has it to do with the
    batch?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(arguments, dz=lambda model, lines: _Lines.dz(model, lines["y_hat"]) * len(windows))


@misconception(of="forward_and_backward")
def dz_with_the_wrong_sign(E, W, b, U, c, windows, targets):
    """dz is y − ŷ, so that all gradients point downhill.

    If the logit of the right word grows, the loss falls. Which sign must that entry of dz have?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(arguments, dz=lambda model, lines: -_Lines.dz(model, lines["y_hat"]))


@misconception(of="forward_and_backward")
def du_transposed(E, W, b, U, c, windows, targets):
    """dU has the shape (D, V), that of U transposed.

    What shape does U have? In which order must dz and h be multiplied so that dU has it too?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(arguments, dU=lambda model, lines: lines["h"].T @ lines["dz"])


@misconception(of="forward_and_backward")
def dc_not_summed(E, W, b, U, c, windows, targets):
    """dc has a row for each window: it was not summed over the batch.

    What shape does c have? How many windows is c added to?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(arguments, dc=lambda model, lines: lines["dz"])


@misconception(of="forward_and_backward")
def tanh_slope_left_out(E, W, b, U, c, windows, targets):
    """dh is handed on as da, as if there were no tanh.

    Between a and h lies one function. What is its slope where h is 0.9?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(arguments, da=lambda model, lines: lines["dh"])


@misconception(of="forward_and_backward")
def tanh_slope_from_a(E, W, b, U, c, windows, targets):
    """The slope of tanh is computed as 1 − a², with what went into tanh instead of what came out.

    What is your slope where a is 2? Can a slope of tanh be negative?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(arguments, da=lambda model, lines: lines["dh"] * (1 - lines["a"] ** 2))


@misconception(of="forward_and_backward")
def db_averaged(E, W, b, U, c, windows, targets):
    """db is averaged over the batch, which divides by B a second time.

    In which line has the 1/B of the mean entered already? How many lines after it may divide again?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(arguments, db=lambda model, lines: lines["da"].mean(0))


@misconception(of="forward_and_backward")
def de_of_repeated_words_overwritten(E, W, b, U, c, windows, targets):
    """Of a word that occurs several times in the batch, dE keeps only the last gradient.

    Run it on one window that holds the same word three times. Which of its places does your dE know of?
    """

    def overwritten(model, lines):
        dE = torch.zeros_like(E)
        for word, gradient in zip(windows.flatten().tolist(), lines["de"].reshape(-1, len(E)), strict=True):
            dE[:, word] = gradient
        return dE

    return _lines_with((E, W, b, U, c, windows, targets), dE=overwritten)


@misconception(of="forward_and_backward")
def constants_left_out_of_a(E, W, b, U, c, windows, targets):
    """b is left out of a.

    With W = 0, what is a in your program? Which argument does no line of yours read?
    """
    return _lines_with((E, W, b, U, c, windows, targets), a=lambda model, lines: lines["e"] @ W.T)


@misconception(of="forward_and_backward")
def averaged_again_after_dz(E, W, b, U, c, windows, targets):
    """The gradients of the weights and constants are divided by the number of windows once more.

    The mean of the batch is in dz already. How often is each of your lines divided by B, counted from the
    loss?
    """
    n = len(windows)
    return _lines_with(
        (E, W, b, U, c, windows, targets),
        dU=lambda model, lines: lines["dz"].T @ lines["h"] / n,
        dc=lambda model, lines: lines["dz"].mean(0),
        dW=lambda model, lines: lines["da"].T @ lines["e"] / n,
        db=lambda model, lines: lines["da"].mean(0),
    )


@misconception(of="forward_and_backward")
def tanh_slope_without_the_square(E, W, b, U, c, windows, targets):
    """The slope of tanh is 1 − h, without the square.

    Where h is −0.9, the tanh is nearly flat. What does your slope say there?
    """
    return _lines_with(
        (E, W, b, U, c, windows, targets), da=lambda model, lines: lines["dh"] * (1 - lines["h"])
    )


@misconception(of="forward_and_backward")
def y_hat_turned_into_dz(E, W, b, U, c, windows, targets):
    """dz is written into y_hat itself, so the probabilities are gone when the dict is made.

    What do the rows of the y_hat that you return sum to? Do `dz = y_hat` and `dz -= …` make a new tensor?
    """
    lines = _Lines(E, W, b, U, c, windows, targets).lines
    return lines | {"y_hat": lines["dz"]}
