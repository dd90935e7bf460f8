"""What goes wrong in the feed-forward model and with its very first loss."""

import math

import torch
from torch import nn
from torch.nn import functional

from autograder.catalogue import misconception

# 6. FeedForwardLM


class _Model(nn.Module):
    """The parameters as the exercise wants them, and the right forward pass in pieces to break."""

    def __init__(self, vocab_size, n_window, d_embedding, d_hidden, pad):
        super().__init__()
        self.pad, self.d_embedding = pad, d_embedding
        self.E = nn.Parameter(torch.zeros(d_embedding, vocab_size, dtype=torch.float64))
        self.W = nn.Parameter(torch.zeros(d_hidden, n_window * d_embedding, dtype=torch.float64))
        self.b = nn.Parameter(torch.zeros(d_hidden, dtype=torch.float64))
        self.U = nn.Parameter(torch.zeros(vocab_size, d_hidden, dtype=torch.float64))
        self.c = nn.Parameter(torch.zeros(vocab_size, dtype=torch.float64))

    def embedded(self, windows):
        return self.E.T[windows] * (windows != self.pad)[..., None]

    def joined(self, windows):
        return self.embedded(windows).flatten(1)

    def forward(self, windows):
        return functional.linear(
            torch.tanh(functional.linear(self.joined(windows), self.W, self.b)), self.U, self.c
        )


@misconception(of="FeedForwardLM")
class EmbeddingsSummed(_Model):
    """W has as many columns as one embedding has numbers, as when the window's are added up and not joined.

    How many numbers does e have for three words of two numbers each, and how many columns has W? Would a sum
    tell *dog bites man* from *man bites dog*?
    """

    def __init__(self, vocab_size, n_window, d_embedding, d_hidden, pad):
        super().__init__(vocab_size, 1, d_embedding, d_hidden, pad)

    def joined(self, windows):
        return self.embedded(windows).sum(1)


@misconception(of="FeedForwardLM")
class PositionsInterleaved(_Model):
    """The joined embeddings are interleaved: first the first number of every word, then the second.

    Print e for a window whose embeddings are (1, 2) and (3, 4). Which of its numbers does the first word own?
    """

    def joined(self, windows):
        return self.embedded(windows).transpose(1, 2).flatten(1)


@misconception(
    of="FeedForwardLM",
    seen="https://uvadlc-notebooks.readthedocs.io/en/latest/tutorial_notebooks/guide3/Debugging_PyTorch.html",
)
class NumbersOfTheWordsFedIn(nn.Module):
    """The words' numbers themselves are multiplied by W, as if word 6 were twice word 3; there is no E.

    What does it mean to the model that one word has the number 3 and another the number 6? Which parameter
    turns a word into numbers that can be learned?
    """

    def __init__(self, vocab_size, n_window, d_embedding, d_hidden, pad):
        super().__init__()
        self.W = nn.Parameter(torch.zeros(d_hidden, n_window, dtype=torch.float64))
        self.b = nn.Parameter(torch.zeros(d_hidden, dtype=torch.float64))
        self.U = nn.Parameter(torch.zeros(vocab_size, d_hidden, dtype=torch.float64))
        self.c = nn.Parameter(torch.zeros(vocab_size, dtype=torch.float64))

    def forward(self, windows):
        return torch.tanh(windows.double() @ self.W.T + self.b) @ self.U.T + self.c


@misconception(of="FeedForwardLM")
class ConstantsLeftOut(_Model):
    """The constants b and c are parameters of the model, but the forward pass does not add them.

    With W = 0 all windows look alike to the model. What can it still predict, and with which parameters?
    """

    def forward(self, windows):
        return torch.tanh(self.joined(windows) @ self.W.T) @ self.U.T


@misconception(of="FeedForwardLM")
class PaddingTrained(_Model):
    """The padding word has an embedding like any other, which adds to the logits and is trained.

    What is the gradient of the padding word's column of E after a step? What does the model learn about
    nothing?
    """

    def embedded(self, windows):
        return self.E.T[windows]


@misconception(of="FeedForwardLM")
class PaddingCountsUntrained(_Model):
    """The padding word's column of E is not trained, but what it holds still counts in e.

    What does `padding_idx` change: what is looked up, or what is trained? What is your e for a window of
    padding alone?
    """

    def embedded(self, windows):
        return functional.embedding(windows, self.E.T, padding_idx=self.pad)


@misconception(
    of="FeedForwardLM",
    seen="https://uvadlc-notebooks.readthedocs.io/en/latest/tutorial_notebooks/guide3/Debugging_PyTorch.html",
)
class ParametersInAList(nn.Module):
    """The module finds no parameters, as when they stand in a Python list; nor will an optimizer.

    Print `list(model.parameters())`. Where does a module look for its parameters?
    """

    def __init__(self, vocab_size, n_window, d_embedding, d_hidden, pad):
        super().__init__()
        self.weights = [
            parameter
            for _, parameter in _Model(vocab_size, n_window, d_embedding, d_hidden, pad).named_parameters()
        ]

    def forward(self, windows):
        E, W, b, U, c = self.weights
        return torch.tanh(E.T[windows].flatten(1) @ W.T + b) @ U.T + c


@misconception(of="FeedForwardLM")
class TanhLeftOut(_Model):
    """The hidden layer has no tanh, and two linear layers in a row are one.

    In the example, W e is 0.5. What is h in yours, and what in the statement?
    """

    def forward(self, windows):
        return functional.linear(functional.linear(self.joined(windows), self.W, self.b), self.U, self.c)


@misconception(of="FeedForwardLM")
class ProbabilitiesForLogits(_Model):
    """Probabilities come back, on which the loss will take a second softmax.

    Sum your answer over the words. Which numbers does the statement ask for, those before or those after the
    softmax?
    """

    def forward(self, windows):
        return super().forward(windows).softmax(-1)


@misconception(of="FeedForwardLM")
class PaddingTakenForZero(_Model):
    """The word 0 is taken for padding, whatever `pad` is.

    With pad = 4, which word of the window [4, 2, 0] counts as zeros in yours, and which should?
    """

    def __init__(self, vocab_size, n_window, d_embedding, d_hidden, pad):
        super().__init__(vocab_size, n_window, d_embedding, d_hidden, 0)


@misconception(of="FeedForwardLM")
class OnlyNumbersAbovePadCount(_Model):
    """Words with a smaller number than `pad` count as zeros, too, as if the padding word always came first.

    With pad = 4, what is `windows > pad` for the window [4, 2, 6]? Which of its three words are padding?
    """

    def embedded(self, windows):
        return self.E.T[windows] * (windows > self.pad)[..., None]


@misconception(of="FeedForwardLM")
class FirstMaskRemembered(_Model):
    """Which places are padding is found out for the first windows and kept, whatever windows come next.

    Hand your model [[0, 2]] and then [[2, 1]], with pad = 0. When is the mask for the second window made?
    """

    mask = None

    def embedded(self, windows):
        if self.mask is None or self.mask.shape[:2] != windows.shape:
            self.mask = (windows != self.pad)[..., None]
        return self.E.T[windows] * self.mask


@misconception(of="FeedForwardLM")
class WindowsCutAnew(_Model):
    """`E[:, windows]`, of shape (d, B, N), is reshaped to B rows, which mixes the windows of the batch.

    Change the last window of a batch. Do the logits of the first change? Which axis must come first before
    rows are made?
    """

    def joined(self, windows):
        return (self.E[:, windows] * (windows != self.pad)).reshape(len(windows), -1)


@misconception(of="FeedForwardLM")
class ConstantsOfTheHiddenLayerLeftOut(_Model):
    """`b` is a parameter, but nothing adds it: only `c` is used.

    With W = 0, what is the hidden layer of your model? Which line of the formula does it come from?
    """

    def forward(self, windows):
        hidden = torch.tanh(functional.linear(self.joined(windows), self.W))
        return functional.linear(hidden, self.U, self.c)


@misconception(of="FeedForwardLM")
class ConstantsOfTheOutputLeftOut(_Model):
    """`c` is a parameter, but nothing adds it: only `b` is used.

    In the example the word 1 has the logit 1. Which parameter does it come from, when its row of U is 0?
    """

    def forward(self, windows):
        hidden = torch.tanh(functional.linear(self.joined(windows), self.W, self.b))
        return functional.linear(hidden, self.U)


@misconception(of="FeedForwardLM")
class NewestWordFirst(_Model):
    """The embeddings are joined from the newest word to the oldest.

    In the example the window [2, 1] has e = (1, 0.5). Which word stands first in your e, and which is older?
    """

    def joined(self, windows):
        return super().joined(windows.flip(1))


@misconception(of="FeedForwardLM")
class PaddedWindowsEmptied(_Model):
    """As soon as one word of a window is padding, all of it counts as zeros, the real words too.

    In the example, what is e for the window [0, 2]? Which of its two numbers is 0, and which in yours?
    """

    def embedded(self, windows):
        return self.E.T[windows] * (windows != self.pad).all(1)[:, None, None]


@misconception(of="FeedForwardLM")
class PaddingMovedBehind(_Model):
    """The real words move to the front, and the zeros for padding stand behind them.

    In the example, what is e for the window [0, 2]? Which columns of W belong to the newest word?
    """

    def joined(self, windows):
        order = (windows == self.pad).int().argsort(dim=1, stable=True)
        return super().joined(windows.gather(1, order))


# 7. first_loss_verdict


def _verdict(excess, above=0.25, below=0.25):
    return "too sure" if excess > above else "too good" if excess < -below else "as expected"


@misconception(of="first_loss_verdict")
def a_large_first_loss_not_noticed(first_loss, vocab_size):
    """A first loss far above ln V passes as normal: "it has not learned anything yet".

    What does a model pay that finds all words equally likely? How can a model that knows nothing pay more?
    """
    return "too good" if first_loss < math.log(vocab_size) - 0.25 else "as expected"


@misconception(of="first_loss_verdict")
def a_small_first_loss_not_noticed(first_loss, vocab_size):
    """A first loss far below ln V passes as normal: "the better".

    How can an untrained model know which word comes? Through which part of its input could it have seen it?
    """
    return "too sure" if first_loss > math.log(vocab_size) + 0.25 else "as expected"


@misconception(of="first_loss_verdict")
def first_loss_compared_in_bits(first_loss, vocab_size):
    """The loss in nats is compared with the logarithm of V to base 2.

    What is ln 27, and what is the number you compare with? In which unit does the loss come?
    """
    return _verdict(first_loss - math.log2(vocab_size))


@misconception(of="first_loss_verdict")
def first_loss_compared_with_v(first_loss, vocab_size):
    """The loss is compared with V, which is the perplexity of knowing nothing and not its loss.

    A perplexity is the exponential of a loss. Which of the two is 27 for 27 equally likely words?
    """
    return _verdict(first_loss - vocab_size)


@misconception(of="first_loss_verdict")
def verdicts_exchanged(first_loss, vocab_size):
    """A high loss is called too good and a low one too sure.

    Which loss does a model have that knows the answer, a high one or a low one?
    """
    return _verdict(math.log(vocab_size) - first_loss)


@misconception(of="first_loss_verdict")
def a_quarter_of_ln_v(first_loss, vocab_size):
    """The loss may lie further from ln V than the 0.25 nats that are allowed, as with 25 % of ln V.

    For 1000 words, how many nats are 25 % of ln V? What does the statement allow?
    """
    return _verdict(first_loss / math.log(vocab_size) - 1)


@misconception(of="first_loss_verdict")
def no_room_for_chance(first_loss, vocab_size):
    """Losses within 0.25 nats of ln V are called too sure or too good, though no new model hits ln V exactly.

    What is the verdict on 3.4 in the example, and how far is 3.4 from ln 27?
    """
    return _verdict(first_loss - math.log(vocab_size), 0.0, 0.0)
