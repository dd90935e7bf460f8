"""What goes wrong with positions that are added: exponents, axes, scales, what is trained."""

import math

import torch
from torch import nn

from autograder.catalogue import misconception

# 16. sinusoidal_positions


def _waves(n_positions, d_model, sine_exponent, cosine_exponent, first=0):
    """Sines and cosines in neighbouring columns, with an exponent for each even column."""
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    positions = torch.arange(first, first + n_positions, dtype=torch.float64)[:, None]
    sines = (positions / 10_000.0 ** (sine_exponent(even) / d_model)).sin()
    cosines = (positions / 10_000.0 ** (cosine_exponent(even) / d_model)).cos()
    return sines, cosines


def _side_by_side(sines, cosines, d_model):
    return torch.stack([sines, cosines], dim=-1).flatten(1)[:, :d_model]


def _same(even):
    return even


def _doubled(even):
    return 2 * even


@misconception(
    of="sinusoidal_positions",
    fails={
        "the_example_positions_have_their_waves",
        "each_pair_turns_at_its_own_speed",
        "an_odd_width_ends_with_a_sine",
        "other_positions_have_their_waves",
    },
    seen="https://github.com/SamLynnEvans/Transformer/issues/25",
)
def exponent_counted_twice(n_positions, d_model):
    """The column's number, which is 2i already, is multiplied by 2 once more.

    For D = 4 the third column has i = 1. Which exponent do you use there, and which does the formula?
    """
    return _side_by_side(*_waves(n_positions, d_model, _doubled, _doubled), d_model)


@misconception(
    of="sinusoidal_positions",
    fails={
        "the_example_positions_have_their_waves",
        "neighbours_are_a_point_of_the_circle",
        "each_pair_turns_at_its_own_speed",
        "other_positions_have_their_waves",
    },
    seen="https://github.com/BrianPulfer/PapersReimplementations/issues/9",
)
def cosine_with_an_exponent_of_its_own(n_positions, d_model):
    """The cosine uses its own column's number, 2i + 1, so a pair has two wavelengths.

    Which i has column 1, and which column 0? Sum the squares of the two for some position.
    """
    return _side_by_side(*_waves(n_positions, d_model, _same, lambda even: even + 1), d_model)


@misconception(
    of="sinusoidal_positions",
    fails={"an_odd_width_ends_with_a_sine", "other_positions_have_their_waves"},
    seen="https://github.com/codertimo/BERT-pytorch/issues/78",
)
def odd_widths_do_not_fit(n_positions, d_model):
    """As many cosines as sines are written, which do not fit where the width is odd.

    How many columns 1, 3, 5, … are there if D = 3, and how many cosines do you compute?
    """
    sines, cosines = _waves(n_positions, d_model, _same, _same)
    table = torch.zeros(n_positions, d_model, dtype=torch.float64)
    table[:, 0::2] = sines
    table[:, 1::2] = cosines
    return table


@misconception(
    of="sinusoidal_positions",
    fails={
        "the_example_positions_have_their_waves",
        "position_0_is_no_turn_at_all",
        "neighbours_are_a_point_of_the_circle",
        "each_pair_turns_at_its_own_speed",
        "an_odd_width_ends_with_a_sine",
        "other_positions_have_their_waves",
    },
    seen="https://github.com/allenai/allennlp/issues/2993",
)
def sines_first_cosines_last(n_positions, d_model):
    """All sines stand in the first half and all cosines in the second; here they are to be neighbours.

    What is the second number of position 0? (Either order would do in a model; one had to be agreed on.)
    """
    return torch.cat(_waves(n_positions, d_model, _same, _same), dim=1)[:, :d_model]


@misconception(
    of="sinusoidal_positions",
    fails={
        "the_example_positions_have_their_waves",
        "position_0_is_no_turn_at_all",
        "each_pair_turns_at_its_own_speed",
        "an_odd_width_ends_with_a_sine",
        "other_positions_have_their_waves",
    },
)
def positions_counted_from_one(n_positions, d_model):
    """The first position is counted as 1.

    What are sine and cosine of position 0?
    """
    return _side_by_side(*_waves(n_positions, d_model, _same, _same, first=1), d_model)


@misconception(
    of="sinusoidal_positions",
    fails={
        "the_example_positions_have_their_waves",
        "position_0_is_no_turn_at_all",
        "each_pair_turns_at_its_own_speed",
        "an_odd_width_ends_with_a_sine",
        "other_positions_have_their_waves",
    },
)
def cosine_first(n_positions, d_model):
    """The cosine stands in the even columns and the sine in the odd ones.

    Column 0 is even. Which function does the formula put there?
    """
    sines, cosines = _waves(n_positions, d_model, _same, _same)
    return _side_by_side(cosines, sines, d_model)


# 17. LearnedPositions


class _Positions(nn.Module):
    """The right table, for `forward` to use in wrong ways."""

    def __init__(self, context_length, d_model):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(context_length, d_model))


@misconception(
    of="LearnedPositions",
    fails={
        "the_example_table_is_added",
        "each_position_has_a_vector_of_its_own",
        "all_sequences_get_the_same_vectors",
        "only_used_positions_learn",
        "other_tables_are_added",
    },
    seen="https://github.com/KasperGroesLudvigsen/influenza_transformer/issues/9",
)
class AddedAlongTheBatch(_Positions):
    """The table is added along the batch: all tokens of one sequence get the same vector.

    What does your layer add to the first and to the second token of a sequence? Which axis of x holds the
    positions?
    """

    def forward(self, x):
        return x + self.table[: x.shape[0], None]


@misconception(
    of="LearnedPositions",
    fails={
        "the_example_table_is_added",
        "each_position_has_a_vector_of_its_own",
        "all_sequences_get_the_same_vectors",
        "only_used_positions_learn",
        "other_tables_are_added",
    },
)
class WholeTableAdded(_Positions):
    """The whole table is added, which fits only sequences as long as the context.

    Which rows does a sequence of five tokens need from a table of seven?
    """

    def forward(self, x):
        return x + self.table


@misconception(
    of="LearnedPositions",
    fails={
        "the_example_table_is_added",
        "each_position_has_a_vector_of_its_own",
        "only_used_positions_learn",
        "other_tables_are_added",
    },
)
class LastRowsOfTheTable(_Positions):
    """The last T rows of the table are used instead of the first.

    Which row belongs to the first token of a short sequence?
    """

    def forward(self, x):
        return x + self.table[-x.shape[1] :]


@misconception(
    of="LearnedPositions",
    fails={
        "the_example_table_is_added",
        "each_position_has_a_vector_of_its_own",
        "only_used_positions_learn",
        "other_tables_are_added",
    },
)
class OneVectorForAllPositions(_Positions):
    """Every token gets the same row of the table, that of the sequence's length.

    Does your layer tell the first token from the second? How many rows of the table do you read?
    """

    def forward(self, x):
        return x + self.table[x.shape[1] - 1]


@misconception(
    of="LearnedPositions",
    fails={
        "the_example_table_is_added",
        "each_position_has_a_vector_of_its_own",
        "all_sequences_get_the_same_vectors",
        "only_used_positions_learn",
        "other_tables_are_added",
    },
)
class PositionsNotAdded(_Positions):
    """The positions are there, and x comes back as it was.

    Print what your layer adds, `model(x) - x`.
    """

    def forward(self, x):
        return x.clone()


@misconception(of="LearnedPositions", fails={"the_table_is_a_parameter", "only_used_positions_learn"})
class TableIsNotTrained(nn.Module):
    """The table is a buffer: it is saved and moved along, and never trained.

    What does `named_parameters()` list? Which gradient does the table get?
    """

    def __init__(self, context_length, d_model):
        super().__init__()
        self.register_buffer("table", torch.zeros(context_length, d_model))

    def forward(self, x):
        return x + self.table[: x.shape[1]]


# 18. TransformerInput


class _Input(nn.Module):
    def __init__(self, vocab_size, table):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, table.shape[1])
        self.register_buffer("table", table)

    def scaled(self, embedded):
        return embedded * math.sqrt(embedded.shape[-1])

    def forward(self, tokens):
        return self.scaled(self.embedding(tokens)) + self.table[: tokens.shape[1]]


@misconception(of="TransformerInput", fails={"only_the_embedding_is_trained", "the_table_is_a_buffer"})
class TableIsAParameter(_Input):
    """The table is a parameter, so training changes the positions that were to stay.

    What does `named_parameters()` list? What would the optimizer do with the table?
    """

    def __init__(self, vocab_size, table):
        super().__init__(vocab_size, table)
        del self.table
        self.table = nn.Parameter(table)


@misconception(of="TransformerInput", fails={"the_table_is_a_buffer"})
class TableIsAPlainAttribute(_Input):
    """The table is an attribute like any other, which stays behind when the module moves.

    Call `.half()` on your module. In which precision is the table then, and what would happen on a GPU?
    """

    def __init__(self, vocab_size, table):
        super().__init__(vocab_size, table)
        del self.table
        self.table = table


@misconception(
    of="TransformerInput",
    fails={
        "the_example_token_becomes_2_1_0_1",
        "the_embedding_alone_is_scaled",
        "other_tokens_get_their_vectors_and_gradients",
    },
)
class EmbeddingNotScaled(_Input):
    """The embeddings are not multiplied by the root of the width, so the positions drown them.

    What should the token of the example become, and what does yours?
    """

    def scaled(self, embedded):
        return embedded


@misconception(
    of="TransformerInput",
    fails={
        "the_example_token_becomes_2_1_0_1",
        "the_embedding_alone_is_scaled",
        "other_tokens_get_their_vectors_and_gradients",
    },
)
class EmbeddingDividedByTheRoot(_Input):
    """The embeddings are divided by the root of the width, as scores are; here they are to grow.

    Embeddings start small and positions are of size 1. Which of the two should be made larger?
    """

    def scaled(self, embedded):
        return embedded / math.sqrt(embedded.shape[-1])


@misconception(
    of="TransformerInput",
    fails={
        "the_example_token_becomes_2_1_0_1",
        "the_embedding_alone_is_scaled",
        "other_tokens_get_their_vectors_and_gradients",
    },
)
class PositionsScaledToo(_Input):
    """The sum of embedding and position is scaled, so the proportion of the two stays as it was.

    If all embeddings are 0, what should come out, and what does?
    """

    def forward(self, tokens):
        return (self.embedding(tokens) + self.table[: tokens.shape[1]]) * math.sqrt(self.table.shape[1])


@misconception(
    of="TransformerInput",
    fails={
        "the_example_token_becomes_2_1_0_1",
        "the_embedding_alone_is_scaled",
        "other_tokens_get_their_vectors_and_gradients",
    },
)
class PositionsLeftOut(_Input):
    """Only the scaled embeddings come back; the table is not added.

    Is the vector of a token at position 0 another than at position 1? Which line reads the table?
    """

    def forward(self, tokens):
        return self.scaled(self.embedding(tokens))
