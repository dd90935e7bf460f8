"""What goes wrong with a state, step by step: the RNN cell and its unrolling."""

import torch
from torch import nn

from autograder.catalogue import misconception

# 1. rnn_step


@misconception(of="rnn_step")
def u_not_transposed(x, h, W, U, b):
    """The states are multiplied by U where its transpose is needed, so units listen along the columns.

    In the example, which unit should receive the 0.4? For a column the formula says U @ h: how is the same
    written when h is a row?
    """
    return torch.tanh(x @ W.T + h @ U + b)


@misconception(of="rnn_step")
def w_not_transposed(x, h, W, U, b):
    """The words are multiplied by W where its transpose is needed, which works only for a square W.

    Write the shapes of x and of W side by side. Which two sizes must agree for a product, and which
    do agree here?
    """
    return torch.tanh(x @ W + h @ U.T + b)


@misconception(of="rnn_step")
def state_left_out(x, h, W, U, b):
    """The state before does not enter, so the network forgets everything at every word.

    Call your function twice with the same word and different states. Which term of the formula tells them
    apart?
    """
    return torch.tanh(x @ W.T + b)


@misconception(of="rnn_step")
def state_added_outside_of_tanh(x, h, W, U, b):
    """The tanh covers the word only; what comes from the state is added afterwards, without bounds.

    How large can an entry of your new state become? Which part of the formula does the bracket enclose?
    """
    return torch.tanh(x @ W.T + b) + h @ U.T


@misconception(of="rnn_step")
def old_state_added_to_the_new_one(x, h, W, U, b):
    """The state before is added to the new one once more, outside of the tanh.

    How often does h occur in the formula? How large can an entry of your state become after ten words?
    """
    return h + torch.tanh(x @ W.T + h @ U.T + b)


@misconception(of="rnn_step")
def constant_added_outside_of_tanh(x, h, W, U, b):
    """The constant b is added after the tanh, so an entry of the state may be larger than 1.

    Which part of the formula does the bracket enclose? What is the new state if word and state are zeros?
    """
    return torch.tanh(x @ W.T + h @ U.T) + b


@misconception(of="rnn_step")
def sigmoid_for_tanh(x, h, W, U, b):
    """The sigmoid stands where the tanh belongs, so no entry of a state is ever negative.

    What does your function give for a sum of 0, and what for a large negative sum?
    """
    return torch.sigmoid(x @ W.T + h @ U.T + b)


@misconception(of="rnn_step")
def constant_left_out(x, h, W, U, b):
    """The constant b is not added.

    What is the new state if both the word and the state are zeros? What should it be?
    """
    return torch.tanh(x @ W.T + h @ U.T)


@misconception(of="rnn_step")
def tanh_left_out(x, h, W, U, b):
    """The sum is the new state as it is; the tanh around it is missing.

    What stands in front of the bracket of the formula? How large can your state become after ten words?
    """
    return x @ W.T + h @ U.T + b


@misconception(of="rnn_step")
def w_laid_out_anew(x, h, W, U, b):
    """W is reshaped until it fits, which puts its numbers in other places than the transpose does.

    Take W = [[1, 2], [3, 4], [5, 6]]. Which row does its transpose begin with, and which your reshaped W?
    """
    return torch.tanh(x @ W.reshape(W.shape[1], W.shape[0]) + h @ U.T + b)


# 2. RNN


class _RNN(nn.Module):
    """The parameters as the exercise wants them, and the right forward pass in pieces to break."""

    def __init__(self, d_input, d_hidden):
        super().__init__()
        self.W = nn.Parameter(torch.zeros(d_hidden, d_input, dtype=torch.float64))
        self.U = nn.Parameter(torch.zeros(d_hidden, d_hidden, dtype=torch.float64))
        self.b = nn.Parameter(torch.zeros(d_hidden, dtype=torch.float64))

    def first(self, x, h_0):
        return torch.zeros(len(x), len(self.b)).double() if h_0 is None else h_0

    def step(self, x_t, h):
        return torch.tanh(x_t @ self.W.T + h @ self.U.T + self.b)

    def unrolled(self, x, h_0):
        h, states = self.first(x, h_0), []
        for t in range(x.shape[1]):
            h = self.step(x[:, t], h)
            states.append(h)
        return states

    def forward(self, x, h_0=None):
        states = self.unrolled(x, h_0)
        return torch.stack(states, dim=1), states[-1]


@misconception(of="RNN", seen="https://github.com/pytorch/pytorch/issues/1538")
class BatchReadAsTime(_RNN):
    """The loop runs over the batch axis, so the state goes from text to text instead of from word to word.

    Print the shape of what one turn of your loop reads. Is it one word of every text, or every word of one
    text?
    """

    def forward(self, x, h_0=None):
        h, states = torch.zeros(x.shape[1], len(self.b)).double() if h_0 is None else h_0, []
        for x_t in x:
            h = self.step(x_t, h)
            states.append(h)
        return torch.stack(states), h


@misconception(of="RNN")
class NewWeightsAtEveryStep(_RNN):
    """Every step after the first draws weights of its own, so what was learned holds for the first word only.

    How many numbers has your network for a text of a thousand words? At which line are W, U and b made, and
    how often does that line run?
    """

    def unrolled(self, x, h_0):
        h, states = self.first(x, h_0), []
        for t in range(x.shape[1]):
            weights = [p if t == 0 else 0.1 * torch.randn_like(p) for p in (self.W, self.U, self.b)]
            W, U, b = weights
            h = torch.tanh(x[:, t] @ W.T + h @ U.T + b)
            states.append(h)
        return states


@misconception(of="RNN")
class OnlyTheLastState(_RNN):
    """Only the state after the last word is given back, where the states at all words are asked for.

    How many predictions does a language model make while it reads five words, and which state does each of
    them need?
    """

    def forward(self, x, h_0=None):
        last = self.unrolled(x, h_0)[-1]
        return last[:, None], last


@misconception(of="RNN")
class OneFirstStateForAllTexts(_RNN):
    """All texts of the batch start from the first row of h_0.

    What does text 1 remember of its earlier words when it begins from the state of text 0? What shape does
    h_0 have, and why?
    """

    def first(self, x, h_0):
        return super().first(x, None if h_0 is None else h_0[:1].expand(len(x), -1))


@misconception(of="RNN")
class FirstStateIgnored(_RNN):
    """The text always starts from zeros, whatever state is handed in.

    Where in your forward pass does h_0 occur? What happens to a text that was cut into two pieces?
    """

    def first(self, x, h_0):
        return super().first(x, None)


@misconception(of="RNN")
class StateNotHandedOn(_RNN):
    """Every step starts from h_0 again, so no state knows of any word but its own.

    After the step, which variable holds the new state, and which does the next turn of the loop read?
    """

    def unrolled(self, x, h_0):
        h = self.first(x, h_0)
        return [self.step(x[:, t], h) for t in range(x.shape[1])]


@misconception(of="RNN")
class StatesBeforeTheirWords(_RNN):
    """The states are collected before the step, so the first is h_0 and the last word's own is missing.

    Has the state that you keep for the first word read that word already? Which comes first in your loop, the
    step or the keeping?
    """

    def forward(self, x, h_0=None):
        states = [self.first(x, h_0), *self.unrolled(x, h_0)]
        return torch.stack(states[:-1], dim=1), states[-1]


@misconception(of="RNN")
class PlainTensorsForWeights(_RNN):
    """The module knows no parameters W, U and b, as when they are plain tensors, which no optimizer finds.

    Print `list(model.parameters())`. What has to be wrapped around a tensor so that a module knows it?
    """

    def __init__(self, d_input, d_hidden):
        nn.Module.__init__(self)
        self.W = torch.randn(d_hidden, d_input, dtype=torch.float64)
        self.U = torch.randn(d_hidden, d_hidden, dtype=torch.float64)
        self.b = torch.zeros(d_hidden, dtype=torch.float64)


@misconception(of="RNN")
class StateDetachedAtEveryWord(_RNN):
    """Each step begins from a detached state, so no gradient goes back further than one word.

    The states are right. But what does a loss at the last word say about the first one, if the state between
    them has forgotten where it comes from?
    """

    def unrolled(self, x, h_0):
        h, states = self.first(x, h_0), []
        for t in range(x.shape[1]):
            h = self.step(x[:, t], h.detach())
            states.append(h)
        return states


@misconception(of="RNN")
class LastTextForLastWord(_RNN):
    """The second result is cut out along the first axis: all states of the last text, not each text's last.

    Which axis of the states (B, T, D) is time? How many rows has your second result, and how many texts are
    there?
    """

    def forward(self, x, h_0=None):
        states = super().forward(x, h_0)[0]
        return states, states[-1]


@misconception(of="RNN")
class FirstStateForTheLast(_RNN):
    """The second result is the state at the first word.

    From which word does the next piece of a text have to go on?
    """

    def forward(self, x, h_0=None):
        states = super().forward(x, h_0)[0]
        return states, states[:, 0]


@misconception(of="RNN")
class StatesLaidOneBehindTheOther(_RNN):
    """The states are joined along the texts and then reshaped, so that words and texts are mixed up.

    In which order do the rows lie before your reshape: text by text or word by word? Which axis changes
    faster in (B, T, D)?
    """

    def forward(self, x, h_0=None):
        states = self.unrolled(x, h_0)
        return torch.cat(states).reshape(x.shape[0], x.shape[1], -1), states[-1]


@misconception(of="RNN")
class TimeOnTheFirstAxis(_RNN):
    """The states are stacked along the first axis, so time stands where the texts belong.

    Print the shape of your states for two texts of five words. Which of its axes is B?
    """

    def forward(self, x, h_0=None):
        states = self.unrolled(x, h_0)
        return torch.stack(states), states[-1]


@misconception(of="RNN")
class StateKeptBetweenCalls(_RNN):
    """A text that comes without h_0 starts from the state in which the text before it ended.

    Call your network twice with the same x and nothing else. Why are the answers different?
    """

    def first(self, x, h_0):
        before = getattr(self, "kept", None)
        is_of_these_texts = h_0 is None and before is not None and len(before) == len(x)
        return before if is_of_these_texts else super().first(x, h_0)

    def unrolled(self, x, h_0):
        states = super().unrolled(x, h_0)
        self.kept = states[-1]
        return states
