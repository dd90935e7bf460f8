"""What goes wrong when layers become an encoder: their list, their order, the mask, a last norm."""

from torch import nn
from torch.nn import functional

from autograder.catalogue import misconception

from ..notebook import PostNormBlock
from ..notebook import TransformerEncoder as RightEncoder

# 30. TransformerEncoder


@misconception(of="TransformerEncoder")
class LayersShareTheirWeights(RightEncoder):
    """One layer stands in the list several times, so all layers share their weights.

    How often is `PostNormBlock(…)` called for three layers? How many parameters does your encoder know?
    """

    def __init__(self, n_layers, d_model, n_heads, d_ff):
        super().__init__(0, d_model, n_heads, d_ff)
        self.layers = nn.ModuleList([PostNormBlock(d_model, n_heads, d_ff)] * n_layers)


@misconception(of="TransformerEncoder")
class BlocksInAPythonList(RightEncoder):
    """The module knows no parameters, as when its layers are kept in a Python list.

    What does `named_parameters()` list? Would an optimizer train your layers?
    """

    def __init__(self, n_layers, d_model, n_heads, d_ff):
        super().__init__(0, d_model, n_heads, d_ff)
        del self.layers
        self.layers = [PostNormBlock(d_model, n_heads, d_ff) for _ in range(n_layers)]


@misconception(of="TransformerEncoder")
class AnotherNormAtTheEnd(RightEncoder):
    """The output is normalised once more, although the last layer ends with a norm.

    The last norm's gain and bias have been learned. What becomes of them if you normalise again?
    """

    def forward(self, x, mask=None):
        return functional.layer_norm(super().forward(x, mask), x.shape[-1:])


@misconception(of="TransformerEncoder")
class OnlyTheFirstLayerIsMasked(RightEncoder):
    """The mask goes to the first layer only; in the others everything may be seen.

    Follow the mask through the loop over the layers. Which of them get it?
    """

    def forward(self, x, mask=None):
        for index, layer in enumerate(self.layers):
            x = layer(x, mask if index == 0 else None)
        return x


@misconception(of="TransformerEncoder")
class NoLayerIsMasked(RightEncoder):
    """The mask is taken and not used.

    Follow the mask from `forward` of the encoder to the softmax. Where does it end?
    """

    def forward(self, x, mask=None):
        return super().forward(x)


@misconception(of="TransformerEncoder")
class OnlyTheLastLayerCounts(RightEncoder):
    """Every layer reads the encoder's input, and the last one's output comes back.

    What does the second layer read: the input, or what the first has made of it?
    """

    def forward(self, x, mask=None):
        return self.layers[-1](x, mask)


@misconception(of="TransformerEncoder")
class SequencesSeeEachOther(RightEncoder):
    """Sequences attend to each other: the first axis is treated as that of the positions.

    Put the sequences of a batch in another order, or leave one alone. Do its outputs stay the same?
    """

    def forward(self, x, mask=None):
        turned = None if mask is None or mask.shape[-1] != len(x) else mask
        return super().forward(x.transpose(0, 1), turned).transpose(0, 1)


@misconception(of="TransformerEncoder")
class NormOfItsOwnAtTheEnd(RightEncoder):
    """The encoder has a norm of its own after the last layer, with two parameters more.

    With what does the last layer end? Which parameters does your encoder know that the statement does not
    name?
    """

    def __init__(self, n_layers, d_model, n_heads, d_ff):
        super().__init__(n_layers, d_model, n_heads, d_ff)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        return self.norm(super().forward(x, mask))


@misconception(of="TransformerEncoder")
class MaskReadAsHidden(RightEncoder):
    """The mask's True is read as "hidden", as in some libraries; here it means "may be attended to".

    Which tokens does your encoder look at where the mask is True?
    """

    def forward(self, x, mask=None):
        return super().forward(x, None if mask is None else ~mask)


@misconception(of="TransformerEncoder")
class OneHeadInEveryLayer(RightEncoder):
    """Every layer has one head as wide as the model, whatever `n_heads` says.

    Follow `n_heads` from your encoder to its heads. Which line of the forward pass reads it?
    """

    def __init__(self, n_layers, d_model, n_heads, d_ff):
        super().__init__(n_layers, d_model, 1, d_ff)


@misconception(of="TransformerEncoder")
class OneLayerRuns(RightEncoder):
    """Only the first layer runs; the others are made and never used.

    How often does your loop, or your `return` inside it, reach the second layer?
    """

    def forward(self, x, mask=None):
        return self.layers[0](x, mask)


@misconception(of="TransformerEncoder")
class InputAddedToEveryLayer(RightEncoder):
    """What a layer reads is added to its output, although its two sums do that inside, before the norms.

    With silent layers, is a token normalised when it leaves your encoder?
    """

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = x + layer(x, mask)
        return x


@misconception(of="TransformerEncoder")
class LastLayerComesFirst(RightEncoder):
    """The layers are run in reverse: the last one reads the input.

    Which layer should see the input?
    """

    def forward(self, x, mask=None):
        for layer in reversed(self.layers):
            x = layer(x, mask)
        return x
