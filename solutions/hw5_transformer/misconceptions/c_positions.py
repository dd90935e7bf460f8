"""What goes wrong with positions that are added: axes, rows, scales, what is trained."""

import math

import torch
from torch import nn

from autograder.catalogue import misconception

from ..notebook import TransformerInput as RightInput

# 17. LearnedPositions


class _Positions(nn.Module):
    """The right table, for `forward` to use in wrong ways."""

    def __init__(self, context_length, d_model):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(context_length, d_model))


@misconception(
    of="LearnedPositions", seen="https://github.com/KasperGroesLudvigsen/influenza_transformer/issues/9"
)
class AddedAlongTheBatch(_Positions):
    """The table is added along the batch: all tokens of one sequence get the same vector.

    What does your layer add to the first and to the second token of a sequence? Which axis of x holds the
    positions?
    """

    def forward(self, x):
        return x + self.table[: x.shape[0], None]


@misconception(of="LearnedPositions")
class WholeTableAdded(_Positions):
    """The whole table is added, which fits only sequences as long as the context.

    Which rows does a sequence of five tokens need from a table of seven?
    """

    def forward(self, x):
        return x + self.table


@misconception(of="LearnedPositions")
class LastRowsOfTheTable(_Positions):
    """The last T rows of the table are used instead of the first.

    Which row belongs to the first token of a short sequence?
    """

    def forward(self, x):
        return x + self.table[-x.shape[1] :]


@misconception(of="LearnedPositions")
class OneVectorForAllPositions(_Positions):
    """Every token gets the same row of the table, that of the sequence's length.

    Does your layer tell the first token from the second? How many rows of the table do you read?
    """

    def forward(self, x):
        return x + self.table[x.shape[1] - 1]


@misconception(of="LearnedPositions")
class PositionsNotAdded(_Positions):
    """The positions are there, and x comes back as it was.

    Print what your layer adds, `model(x) - x`.
    """

    def forward(self, x):
        return x.clone()


@misconception(of="LearnedPositions")
class TableIsNotTrained(nn.Module):
    """The table is a buffer: it is saved and moved along, and never trained.

    What does `named_parameters()` list? Which gradient does the table get?
    """

    def __init__(self, context_length, d_model):
        super().__init__()
        self.register_buffer("table", torch.zeros(context_length, d_model))

    def forward(self, x):
        return x + self.table[: x.shape[1]]


@misconception(of="LearnedPositions")
class RowsFromOneOn(_Positions):
    """The rows are counted from 1: the first token gets the second row.

    What does your layer add to the first token of the example: 1 or 10?
    """

    def forward(self, x):
        rows = torch.arange(1, x.shape[1] + 1).clamp(max=len(self.table) - 1)
        return x + self.table[rows]


@misconception(of="LearnedPositions")
class OnlyThePositions(_Positions):
    """The rows of the table come back alone; x is not among them.

    Which of the two numbers 10 and 5 is in the second token of your first sequence, and which should be?
    """

    def forward(self, x):
        return self.table[: x.shape[1]].expand_as(x)


@misconception(of="LearnedPositions")
class FirstRowForAll(_Positions):
    """Every token gets the first row of the table.

    Does your layer tell the first token from the second? How many rows of the table do you read?
    """

    def forward(self, x):
        return x + self.table[0]


@misconception(of="LearnedPositions")
class AddedInPlace(_Positions):
    """The result is right, and the x that was handed in is changed.

    Print x after a call. What does `+=` do to a tensor, and what does `x + …` make?
    """

    def forward(self, x):
        x += self.table[: x.shape[1]]
        return x


@misconception(of="LearnedPositions")
class TableIsAPlainTensor(nn.Module):
    """The module knows no parameter `table`, as when the table is a tensor like any other.

    What does `named_parameters()` list? What makes a tensor a parameter?
    """

    def __init__(self, context_length, d_model):
        super().__init__()
        self.table = torch.zeros(context_length, d_model)

    def forward(self, x):
        return x + self.table[: x.shape[1]]


@misconception(of="LearnedPositions")
class TableIsAnEmbedding(nn.Module):
    """The table is an `nn.Embedding`, whose parameter has the name `table.weight`.

    What does `named_parameters()` list, and which name does the statement give? Which class of `torch.nn`
    makes a tensor itself a parameter?
    """

    def __init__(self, context_length, d_model):
        super().__init__()
        self.table = nn.Embedding(context_length, d_model)

    def forward(self, x):
        return x + self.table.weight[: x.shape[1]]


# 18. TransformerInput


class _Input(RightInput):
    def scaled(self, embedded):
        return embedded * math.sqrt(embedded.shape[-1])

    def forward(self, tokens):
        return self.scaled(self.embedding(tokens)) + self.table[: tokens.shape[1]]


@misconception(of="TransformerInput")
class TableIsAParameter(_Input):
    """The table is a parameter, so training changes the positions that were to stay.

    What does `named_parameters()` list? What would the optimizer do with the table?
    """

    def __init__(self, vocab_size, table):
        super().__init__(vocab_size, table)
        del self.table
        self.table = nn.Parameter(table)


@misconception(of="TransformerInput")
class TableIsAFrozenParameter(_Input):
    """The table is a parameter without a gradient, where the statement asks for a buffer.

    What do `named_parameters()` and `named_buffers()` list? Which of the two does an optimizer get?
    """

    def __init__(self, vocab_size, table):
        super().__init__(vocab_size, table)
        del self.table
        self.table = nn.Parameter(table, requires_grad=False)


@misconception(of="TransformerInput")
class WholeTableOfPositions(_Input):
    """The whole table is added, which fits only sequences as long as the table.

    Which rows does a sequence of four tokens need from a table of seven?
    """

    def forward(self, tokens):
        return self.scaled(self.embedding(tokens)) + self.table


@misconception(of="TransformerInput")
class ScaledByTheContext(_Input):
    """The embeddings are multiplied by the root of the table's length, C, not of its width, D.

    By which number should the 1 of the example be multiplied? Which axis of the table has the length D?
    """

    def forward(self, tokens):
        return math.sqrt(len(self.table)) * self.embedding(tokens) + self.table[: tokens.shape[1]]


@misconception(of="TransformerInput")
class TableIsAPlainAttribute(_Input):
    """The table is an attribute like any other, which stays behind when the module moves.

    Call `.half()` on your module. In which precision is the table then, and what would happen on a GPU?
    """

    def __init__(self, vocab_size, table):
        super().__init__(vocab_size, table)
        del self.table
        self.table = table


@misconception(of="TransformerInput")
class EmbeddingNotScaled(_Input):
    """What `forward` adds to the positions is not √D times the embedding's weight, so the positions drown it.

    What should the token of the example become, and what does yours? Where is √D in `forward`?
    """

    def scaled(self, embedded):
        return embedded


@misconception(of="TransformerInput")
class EmbeddingDividedByTheRoot(_Input):
    """The embeddings are divided by the root of the width, as scores are; here they are to grow.

    Embeddings start small and positions are of size 1. Which of the two should be made larger?
    """

    def scaled(self, embedded):
        return embedded / math.sqrt(embedded.shape[-1])


@misconception(of="TransformerInput")
class PositionsScaledToo(_Input):
    """The sum of embedding and position is scaled, so the proportion of the two stays as it was.

    If all embeddings are 0, what should come out, and what does?
    """

    def forward(self, tokens):
        return (self.embedding(tokens) + self.table[: tokens.shape[1]]) * math.sqrt(self.table.shape[1])


@misconception(of="TransformerInput")
class PositionsLeftOut(_Input):
    """Only the scaled embeddings come back; the table is not added.

    Is the vector of a token at position 0 another than at position 1? Which line reads the table?
    """

    def forward(self, tokens):
        return self.scaled(self.embedding(tokens))


@misconception(of="TransformerInput")
class EmbeddingTimesTheWidth(_Input):
    """The embeddings are multiplied by the width itself, not by its root.

    In the example, is 1 multiplied by 4 or by 2?
    """

    def scaled(self, embedded):
        return embedded * embedded.shape[-1]


@misconception(of="TransformerInput")
class PositionsScaledAlone(_Input):
    """The positions are multiplied by the root of the width, and the embeddings are not.

    Which of the two starts small and would be drowned?
    """

    def forward(self, tokens):
        return self.embedding(tokens) + self.scaled(self.table[: tokens.shape[1]])


@misconception(of="TransformerInput")
class PositionReadByTheToken(_Input):
    """The row of the table is chosen by the token, where its place in the sequence should choose it.

    A word that occurs twice gets the same vector both times in your layer. Should it?
    """

    def forward(self, tokens):
        return self.scaled(self.embedding(tokens)) + self.table[tokens]
