"""What goes wrong in the feed-forward layer: where its nonlinearity stands, and what is added."""

import torch
from torch import nn

from autograder.catalogue import misconception

from ..notebook import FeedForward as RightLayers

# 25. FeedForward


@misconception(of="FeedForward")
class NothingBetweenTheLayers(RightLayers):
    """There is no relu, so the two linear layers are one linear map.

    What does your layer make of -2 in the example? Can a linear map turn 3 into 3 and -2 into 4?
    """

    def forward(self, x):
        return self.contract(self.expand(x))


@misconception(of="FeedForward")
class ReluAtTheEnd(RightLayers):
    """There is a relu after the second layer too, so the output is never negative.

    What comes out where all hidden numbers are 0 and `contract.bias` is negative?
    """

    def forward(self, x):
        return torch.relu(self.contract(torch.relu(self.expand(x))))


@misconception(of="FeedForward")
class ReluBeforeTheLayers(RightLayers):
    """The relu stands before the first layer instead of after it.

    Is -2 still there when your first layer sees it? Which numbers does the formula take the maximum of?
    """

    def forward(self, x):
        return self.contract(self.expand(torch.relu(x)))


@misconception(of="FeedForward")
class ResidualInside(RightLayers):
    """x is added to the output; the residual belongs to the block, which would add it twice.

    In the example 3 should become 3. What does it become in yours?
    """

    def forward(self, x):
        return x + self.contract(torch.relu(self.expand(x)))


@misconception(of="FeedForward")
class GeluForRelu(RightLayers):
    """The nonlinearity is gelu, as in later models; the formula says max(0, ·).

    What should come out for exactly -2 in the example, and what does?
    """

    def forward(self, x):
        return self.contract(nn.functional.gelu(self.expand(x)))


@misconception(of="FeedForward")
class HiddenAveragedOverThePositions(RightLayers):
    """The hidden numbers are averaged over the positions, so the positions do not work alone.

    Does the output for one token change when another one stands beside it?
    """

    def forward(self, x):
        hidden = torch.relu(self.expand(x)).mean(1, keepdim=True)
        return self.contract(hidden).expand_as(x)


@misconception(of="FeedForward")
class WidthInsideIgnored(RightLayers):
    """The layer inside is as wide as the model, whatever `d_ff` says.

    Which shape must `expand.weight` have, and which has yours?
    """

    def __init__(self, d_model, d_ff):
        super().__init__(d_model, d_model)

    def forward(self, x):
        return self.contract(torch.relu(self.expand(x)))


@misconception(of="FeedForward")
class WidthsExchanged(RightLayers):
    """The widths of the two layers have changed places: the first leads from F to D.

    Which shape must `expand.weight` have, and which has yours? Which width comes in?
    """

    def __init__(self, d_model, d_ff):
        super().__init__(d_ff, d_model)

    def forward(self, x):
        return self.contract(torch.relu(self.expand(x)))


@misconception(of="FeedForward")
class LayersWithoutBias(RightLayers):
    """The layers have no bias, where the statement gives each of them one.

    How many parameters does your module have? Which argument of `nn.Linear` decides about the bias?
    """

    def __init__(self, d_model, d_ff):
        super().__init__(d_model, d_ff)
        for layer in (self.expand, self.contract):
            layer.register_parameter("bias", None)

    def forward(self, x):
        return self.contract(torch.relu(self.expand(x)))


@misconception(of="FeedForward")
class ReluOnlyAtTheEnd(RightLayers):
    """The relu stands after the second layer instead of between the two.

    Which of the two layers does the formula put inside the maximum? What stands between yours?
    """

    def forward(self, x):
        return torch.relu(self.contract(self.expand(x)))
