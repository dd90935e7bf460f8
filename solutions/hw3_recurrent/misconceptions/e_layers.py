"""What goes wrong with layers on layers."""

import torch
from torch import nn

from autograder.catalogue import misconception

# 12. StackedRNN


class _Stack(nn.Module):
    """The parameters as the exercise wants them, and the right forward pass in pieces to break."""

    def __init__(self, d_input, d_hidden, n_layers):
        super().__init__()
        for k in range(n_layers):
            shapes = {
                "W": (d_hidden, d_hidden if k else d_input),
                "U": (d_hidden, d_hidden),
                "b": (d_hidden,),
            }
            for name, shape in shapes.items():
                setattr(self, f"{name}_{k}", nn.Parameter(torch.zeros(shape, dtype=torch.float64)))

    def weights(self, k):
        return [getattr(self, f"{name}_{k}") for name in "WUb"]

    def layer(self, k, x, h):
        W, U, b = self.weights(k)
        states = []
        for t in range(x.shape[1]):
            h = torch.tanh(x[:, t] @ W.T + h @ U.T + b)
            states.append(h)
        return torch.stack(states, dim=1)

    def forward(self, x, h_0):
        last = []
        for k in range(len(h_0)):
            x = self.layer(k, x, h_0[k])
            last.append(x[:, -1])
        return x, torch.stack(last)


@misconception(of="StackedRNN")
class OneFirstStateForAllLayers(_Stack):
    """Every layer starts from the first state of layer 0.

    h_0 has one row of states for each layer. Which of them does your layer 1 read?
    """

    def forward(self, x, h_0):
        return super().forward(x, h_0[:1].expand(len(h_0), -1, -1))


@misconception(of="StackedRNN")
class StateGoesOnFromLayerToLayer(_Stack):
    """A layer starts from the state in which the layer below it ended, as if the text went on.

    Two things go from layer to layer in your loop. Which of them should: the states as inputs, or the last
    state as a beginning?
    """

    def layer(self, k, x, h):
        return super().layer(k, x, h if k == 0 else x[:, -1])


@misconception(of="StackedRNN")
class SameUInEveryLayer(_Stack):
    """All layers use the recurrent matrix of layer 0, which fits because all have the same shape.

    How many matrices U has a network of three layers, and which of yours never receive a gradient?
    """

    def weights(self, k):
        W, _, b = super().weights(k)
        return [W, self.U_0, b]


@misconception(of="StackedRNN")
class LowerLayerReadOneStepLate(_Stack):
    """A layer reads what the layer below it knew one step earlier.

    At the second word of the example, which state of layer 0 should layer 1 read: that of the first word or
    that of the second?
    """

    def forward(self, x, h_0):
        last = []
        for k in range(len(h_0)):
            states = self.layer(k, x, h_0[k])
            last.append(states[:, -1])
            x = torch.cat([h_0[k][:, None], states[:, :-1]], dim=1)
        return states, torch.stack(last)


@misconception(of="StackedRNN")
class OnlyTheTopLayersLastState(_Stack):
    """Only the last state of the top layer comes back, so the lower layers cannot go on.

    From which states does the next piece of the text start? How many layers have one?
    """

    def forward(self, x, h_0):
        states, last = super().forward(x, h_0)
        return states, last[-1:]


@misconception(of="StackedRNN")
class LastStatesUpsideDown(_Stack):
    """The last states are listed from the top layer downwards.

    Which layer does your `last[0]` belong to?
    """

    def forward(self, x, h_0):
        states, last = super().forward(x, h_0)
        return states, last.flip(0)


@misconception(of="StackedRNN")
class LayersOnTheSecondAxis(_Stack):
    """The last states are stacked along the second axis, so texts and layers have changed places.

    Print the shape of your last states. Can it be given back to the network as h_0?
    """

    def forward(self, x, h_0):
        states, last = super().forward(x, h_0)
        return states, last.transpose(0, 1)


@misconception(of="StackedRNN")
class LayersInAList(_Stack):
    """The module sees no parameters of its layers, as when they stand in a Python list.

    Print `list(model.parameters())`. Where does a module look for its parameters?
    """

    def __init__(self, d_input, d_hidden, n_layers):
        super().__init__(d_input, d_hidden, n_layers)
        self.layers = [[self._parameters.pop(f"{name}_{k}") for name in "WUb"] for k in range(n_layers)]

    def weights(self, k):
        return self.layers[k]


@misconception(of="StackedRNN")
class TopStateForEveryLayer(_Stack):
    """The last state of the top layer is given back for every layer.

    From which state will layer 0 go on when the next piece of the text comes?
    """

    def forward(self, x, h_0):
        states, last = super().forward(x, h_0)
        return states, last[-1:].expand_as(last)


@misconception(of="StackedRNN")
class UpperLayersShareTheirWeights(_Stack):
    """All layers above the first use the weights of layer 1.

    In a stack of three layers, which line of yours reads W_2?
    """

    def weights(self, k):
        return super().weights(min(k, 1))


@misconception(of="StackedRNN")
class UpperLayersWithTheUAndBOfLayer0(_Stack):
    """Each layer has its own W, but U and b are those of layer 0 everywhere.

    Which of your three names carries the number of the layer?
    """

    def weights(self, k):
        return [self.weights_of(k)[0], *self.weights_of(0)[1:]]

    def weights_of(self, k):
        return super().weights(k)
