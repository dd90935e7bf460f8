"""What goes wrong in norms: axes, roots, and what is subtracted."""

from torch import nn

from autograder.catalogue import misconception

from ..notebook import LayerNorm as RightNorm

# 23. LayerNorm


class _Norm(RightNorm):
    """The right layer norm in pieces to break."""

    axes = (-1,)

    def centred(self, x):
        return x - x.mean(self.axes, keepdim=True)

    def size(self, centred):
        return (centred.square().mean(self.axes, keepdim=True) + self.epsilon).sqrt()

    def forward(self, x):
        centred = self.centred(x)
        return self.gain * centred / self.size(centred) + self.bias


@misconception(of="LayerNorm", seen="https://github.com/harvardnlp/annotated-transformer/pull/119")
class DividedByOneLess(_Norm):
    """The variance is the sum of squares divided by D - 1, as torch's `std` and `var` do; here it is D.

    For the vector of the example, is your variance 3 or 4? Which argument decides about it?
    """

    def size(self, centred):
        return (centred.square().sum(-1, keepdim=True) / (centred.shape[-1] - 1) + self.epsilon).sqrt()


@misconception(of="LayerNorm", seen="https://github.com/codertimo/BERT-pytorch/issues/30")
class EpsilonOutsideTheRoot(_Norm):
    """ε is added to the root, where it belongs under it.

    In the example, do you divide by √(3 + 1) or by √3 + 1?
    """

    def size(self, centred):
        return centred.square().mean(-1, keepdim=True).sqrt() + self.epsilon


@misconception(of="LayerNorm", seen="https://github.com/harvardnlp/annotated-transformer/pull/119")
class StandardDeviationPlusEpsilon(_Norm):
    """torch's `std` is used, which divides by D - 1, and ε is added to it; it belongs under the root.

    In the example the vector is to be divided by √(3 + 1). What is `x.std()`, and what do you divide by?
    """

    def size(self, centred):
        return centred.std(-1, keepdim=True) + self.epsilon


@misconception(of="LayerNorm")
class NormalisedOverTheBatch(_Norm):
    """Mean and variance are taken over the sequences of the batch, separately for each place and number.

    What is your output for a batch with a single sequence? Does a vector need its neighbours to be
    normalised?
    """

    axes = (0,)


@misconception(of="LayerNorm")
class NormalisedOverTheTokens(_Norm):
    """Mean and variance are taken over the positions, separately for each of the D numbers.

    Along which axis lie the numbers of one vector? What would a causal model learn of its future this way?
    """

    axes = (-2,)


@misconception(of="LayerNorm")
class NormalisedOverEverything(_Norm):
    """One mean and one variance are taken over all axes together.

    How many means are there for a batch of 2 sequences of 5 vectors, and how many should there be?
    """

    def centred(self, x):
        return x - x.mean()

    def size(self, centred):
        return (centred.square().mean() + self.epsilon).sqrt()


@misconception(of="LayerNorm")
class OneGainForAllNumbers(_Norm):
    """Gain and bias are single numbers, where each of the D numbers has its own.

    What shape is your gain? How many numbers does the statement ask for?
    """

    def __init__(self, d_model, epsilon):
        super().__init__(1, epsilon)


@misconception(of="LayerNorm")
class GainStartsAtZero(_Norm):
    """The gain of a new module is 0, so nothing passes until training changes it.

    What is the output of your new module? By which number is nothing changed when it multiplies?
    """

    def __init__(self, d_model, epsilon):
        super().__init__(d_model, epsilon)
        nn.init.zeros_(self.gain)


@misconception(of="LayerNorm")
class MeanNotSubtracted(_Norm):
    """The mean is not subtracted; this is nearly the norm of the next exercise.

    What is the mean of your output in a new module?
    """

    def centred(self, x):
        return x


@misconception(of="LayerNorm")
class DividedByTheVariance(_Norm):
    """The vectors are divided by the variance, without the root.

    If x becomes ten times as large, so should the divisor. By how much does the variance grow?
    """

    def size(self, centred):
        return centred.square().mean(-1, keepdim=True) + self.epsilon


@misconception(of="LayerNorm")
class GainNotUsed(_Norm):
    """The gain is a parameter that the forward pass never uses.

    Double the gain. Does your output change?
    """

    def forward(self, x):
        centred = self.centred(x)
        return centred / self.size(centred) + self.bias


@misconception(of="LayerNorm")
class BiasNotUsed(_Norm):
    """The bias is a parameter that the forward pass never uses.

    Add 1 to the bias. Does your output change?
    """

    def forward(self, x):
        centred = self.centred(x)
        return self.gain * centred / self.size(centred)


@misconception(of="LayerNorm")
class BiasMultipliedByTheGain(_Norm):
    """The bias is added before the gain multiplies, so it is multiplied too.

    With the gain 0 and the bias 5, what should come out, and what does?
    """

    def forward(self, x):
        centred = self.centred(x)
        return self.gain * (centred / self.size(centred) + self.bias)


@misconception(of="LayerNorm")
class EpsilonNotUsed(_Norm):
    """ε is not used: the vectors are divided by their standard deviation alone.

    In the example, do you divide by √3 or by √(3 + 1)? What becomes of a vector of equal numbers?
    """

    def size(self, centred):
        return centred.square().mean(self.axes, keepdim=True).sqrt()


@misconception(of="LayerNorm")
class EpsilonWrittenIn(_Norm):
    """ε is a number in your code, whatever `epsilon` says.

    Which line of your code reads `epsilon`? What is the divisor in the example?
    """

    def __init__(self, d_model, epsilon):
        super().__init__(d_model, 1e-5)


@misconception(of="LayerNorm")
class MeanOnlyInTheVariance(_Norm):
    """The mean is subtracted inside the variance and stays in the vector that is divided.

    What is the mean of your output in a new module? What does the formula divide: x, or x - μ?
    """

    def forward(self, x):
        return self.gain * x / self.size(self.centred(x)) + self.bias


@misconception(of="LayerNorm")
class GainAndBiasNotUsed(_Norm):
    """Gain and bias are parameters that the forward pass never uses.

    Double the gain. Does your output change? Which line of `forward` reads it?
    """

    def forward(self, x):
        centred = self.centred(x)
        return centred / self.size(centred)


@misconception(of="LayerNorm")
class OneAddedToTheGain(_Norm):
    """The gain is used as 1 + gain, as in models whose gain begins at 0; here it begins at 1.

    What is your new module's output for (0, 0, 0, 4) and ε = 1? By which number is it multiplied?
    """

    def forward(self, x):
        centred = self.centred(x)
        return (1 + self.gain) * centred / self.size(centred) + self.bias
