"""What goes wrong in stacks and with tied weights: whose weights are used, and how often."""

from torch import nn, tanh

from autograder.catalogue import misconception

from ..notebook import Layer
from ..notebook import Stack as RightStack
from ..notebook import TiedModel as RightModel

# 28. Stack


class _Stack(RightStack):
    def run(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def forward(self, x):
        return self.norm(self.run(x))


@misconception(of="Stack")
class OneLayerRepeated(_Stack):
    """One layer stands in the list several times, so all layers share their weights.

    How often is `Layer(d_model)` called in your code? Change a weight of layer 0 and look at layer 1.
    """

    def __init__(self, n_layers, d_model):
        super().__init__(0, d_model)
        self.layers = nn.ModuleList([Layer(d_model)] * n_layers)


@misconception(of="Stack")
class LastNormMissing(_Stack):
    """The norm at the end is made and not used.

    What are mean and variance of your output? What normalises the sum in a pre-norm model?
    """

    def forward(self, x):
        return self.run(x)


@misconception(of="Stack")
class LayersInAList(_Stack):
    """The module does not know the parameters of its layers, as when these are kept in a Python list.

    What does `named_parameters()` list? Would an optimizer train your layers?
    """

    def __init__(self, n_layers, d_model):
        super().__init__(0, d_model)
        del self.layers
        self.layers = [Layer(d_model) for _ in range(n_layers)]


@misconception(of="Stack")
class NormAfterEveryLayer(_Stack):
    """The norm is applied after every layer; here it stands at the end alone.

    How often is the norm called for three layers?
    """

    def forward(self, x):
        for layer in self.layers:
            x = self.norm(layer(x))
        return x


@misconception(of="Stack")
class NormBeforeEveryLayerAndAtTheEnd(_Stack):
    """The norm is applied before every layer too; here it stands at the end alone.

    How often is the norm called for three layers?
    """

    def run(self, x):
        for layer in self.layers:
            x = layer(self.norm(x))
        return x


@misconception(of="Stack")
class NormBeforeTheLayers(_Stack):
    """The norm stands before the first layer instead of after the last.

    What are mean and variance of your output? Where does the sum of all layers pass a norm?
    """

    def forward(self, x):
        return self.run(self.norm(x))


@misconception(of="Stack")
class EveryLayerReadsTheInput(_Stack):
    """Every layer reads the stack's input, and only the last one's output is used.

    What does layer 1 read: the input, or what layer 0 has made of it?
    """

    def run(self, x):
        outputs = [layer(x) for layer in self.layers]
        return outputs[-1]


@misconception(of="Stack")
class LayersInReverse(_Stack):
    """The last layer comes first.

    Which layer should see the input?
    """

    def run(self, x):
        for layer in reversed(self.layers):
            x = layer(x)
        return x


@misconception(of="Stack")
class InputAddedOnceMore(_Stack):
    """x is added to each layer's output, although a Layer adds it already.

    What does a Layer give back if all its weights are 0? And what does one step of your loop?
    """

    def run(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x


@misconception(of="Stack")
class NormAfterEveryLayerAndTheLast(_Stack):
    """The norm is applied after every layer and once more at the end.

    How often is the norm called for three layers?
    """

    def run(self, x):
        for layer in self.layers:
            x = self.norm(layer(x))
        return x


@misconception(of="Stack")
class LayersSideBySide(_Stack):
    """All layers read the stack's input, and their outputs are added up.

    What does layer 1 read: the input, or what layer 0 has made of it? How often is x in your sum?
    """

    def run(self, x):
        return sum(layer(x) for layer in self.layers)


# 29. TiedModel


class _Tied(RightModel):
    def forward(self, tokens):
        return tanh(self.hidden(self.embedding(tokens))) @ self.embedding.weight.T


@misconception(of="TiedModel")
class WeightCopied(_Tied):
    """The output has a weight of its own beside the embedding's, and the two are trained apart.

    How many parameters does your model have? After one step of training, are the two still equal?
    """

    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model)
        self.output = nn.Linear(d_model, vocab_size, bias=False)
        self.output.weight = nn.Parameter(self.embedding.weight.detach().clone())

    def forward(self, tokens):
        return self.output(tanh(self.hidden(self.embedding(tokens))))


@misconception(of="TiedModel")
class OutputDetached(_Tied):
    """The output uses the embedding without its gradient, so only the entrance teaches it.

    What does `.detach()` (or `.data`, or a copy made in `forward`) do to the gradient?
    """

    def forward(self, tokens):
        return tanh(self.hidden(self.embedding(tokens))) @ self.embedding.weight.detach().T


@misconception(of="TiedModel")
class EntranceDetached(_Tied):
    """The entrance uses the embedding without its gradient, so only the exit teaches it.

    Which words appear in the gradient of your embedding because they were read?
    """

    def forward(self, tokens):
        return tanh(self.hidden(self.embedding.weight.detach()[tokens])) @ self.embedding.weight.T


@misconception(of="TiedModel")
class OutputWithABias(_Tied):
    """The output layer has a bias, which the formula does not have.

    Which parameters does `named_parameters()` list that the statement does not?
    """

    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.output.weight = self.embedding.weight
        nn.init.zeros_(self.output.bias)

    def forward(self, tokens):
        return self.output(tanh(self.hidden(self.embedding(tokens))))


@misconception(of="TiedModel")
class HiddenLayerSkipped(_Tied):
    """The embeddings are compared with each other directly; the hidden layer is not used.

    Look at the gradient of `hidden.weight`. Why is there none?
    """

    def forward(self, tokens):
        return self.embedding(tokens) @ self.embedding.weight.T


@misconception(of="TiedModel")
class TanhLeftOut(_Tied):
    """The hidden layer is linear: the tanh is missing.

    In the example, what does your hidden layer make of 1? Can it be more than 1 after a tanh?
    """

    def forward(self, tokens):
        return self.hidden(self.embedding(tokens)) @ self.embedding.weight.T


@misconception(of="TiedModel")
class TanhOfTheLogits(_Tied):
    """The tanh is taken of the logits, where it belongs around the hidden layer.

    Can a logit of your model be larger than 1? What does the formula put inside the tanh?
    """

    def forward(self, tokens):
        return tanh(self.hidden(self.embedding(tokens)) @ self.embedding.weight.T)


@misconception(of="TiedModel")
class ProbabilitiesForLogits(_Tied):
    """A softmax turns the logits into probabilities.

    Sum your outputs over the words. Does the formula end with a softmax?
    """

    def forward(self, tokens):
        return super().forward(tokens).softmax(-1)
