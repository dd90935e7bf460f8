"""What goes wrong in a decoder that attends: one line of the five at a time."""

import math

import torch
from torch import nn

from autograder.catalogue import misconception

LOGITS = {"other_attention_decoders_have_their_logits"}
UNIFORM = {"with_W_zero_all_real_words_are_alike"}
PADDED = {"padding_of_the_source_changes_nothing"}
QUERY = {"the_word_just_read_decides_where_to_look"}
CONTEXT = {"the_context_reaches_the_output"}
STATE = {"the_state_passes_from_step_to_step"}
FED = {"each_output_is_read_by_the_next_step"}
LENGTHS = {"target_and_source_need_not_be_equally_long"}
PLACES = {"pairs_may_change_places"}
PAST = {"the_future_does_not_change_the_past"}
NAMES = {"the_attention_decoder_has_its_parameters"}


class _AttentionDecoder(nn.Module):
    """The five lines as methods, for mistakes to change one of them."""

    def __init__(self, vocab_size, d_embedding, d_hidden, d_memory):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_embedding, dtype=torch.float64)
        self.cell = nn.GRUCell(d_embedding + d_hidden, d_hidden, dtype=torch.float64)
        self.W = nn.Parameter(torch.zeros(d_hidden, d_memory, dtype=torch.float64))
        self.combine = nn.Linear(d_hidden + d_memory, d_hidden, bias=False, dtype=torch.float64)
        self.output = nn.Linear(d_hidden, vocab_size, dtype=torch.float64)

    def forward(self, state, inputs, memory, mask):
        first, output, steps = state, torch.zeros_like(state), []
        for x in self.embedding(inputs).unbind(dim=1):
            before, state = state, self.next_state(x, output, state, first)
            weights = self.weights(self.query(before, state), memory, mask)
            context = (weights[:, None] @ memory)[:, 0]
            said = self.combined(state, context)
            steps.append((self.output(said), weights))
            output = self.fed(said, output)
        return self.answer(torch.stack([z for z, _ in steps], 1), torch.stack([w for _, w in steps], 1))

    def next_state(self, x, output, state, first):
        return self.cell(torch.cat([x, output], dim=-1), state)

    def query(self, before, state):
        return state

    def weights(self, query, memory, mask):
        scores = (memory @ (query @ self.W)[:, :, None])[:, :, 0]
        return scores.masked_fill(~mask, -math.inf).softmax(dim=-1)

    def combined(self, state, context):
        return torch.tanh(self.combine(torch.cat([state, context], dim=-1)))

    def fed(self, said, output):
        return said

    def answer(self, logits, weights):
        return logits, weights


@misconception(of="AttentionDecoder", fails=LOGITS | QUERY | FED)
class QueryOfTheOldState(_AttentionDecoder):
    """The query is the state before the step, which has not read the word yet.

    Change the first word that is read. Do the weights of the first step change? Which of your two states, the
    one before the cell or the one after it, stands in the table of the statement?
    """

    def query(self, before, state):
        return before


@misconception(of="AttentionDecoder", fails=LOGITS | CONTEXT | PADDED)
class ContextNotFed(_AttentionDecoder):
    """The context is computed and then not used: the output is made of the state alone.

    Which of your lines reads the context? If none does, what can the memory change about a logit?
    """

    def combined(self, state, context):
        return super().combined(state, torch.zeros_like(context))


@misconception(of="AttentionDecoder", fails=LOGITS | CONTEXT)
class ContextBeforeState(_AttentionDecoder):
    """The two halves are joined the other way round, context first, and meet the wrong columns of `combine`.

    Which columns of `combine.weight` belong to the state in $[s_t; c_t]$, the first or the last?
    """

    def combined(self, state, context):
        return torch.tanh(self.combine(torch.cat([context, state], dim=-1)))


@misconception(of="AttentionDecoder", fails=LOGITS | FED)
class OutputNotUpdated(_AttentionDecoder):
    """Every step reads an output of zeros: what the step before has made of the source is forgotten.

    Print what you join to the embedding at the second step. After which line should it have changed?
    """

    def fed(self, said, output):
        return output


@misconception(
    of="AttentionDecoder",
    fails=LOGITS | UNIFORM | PADDED,
    seen="https://github.com/pytorch/tutorials/issues/593",
)
class PaddingAttendedTo(_AttentionDecoder):
    """The padding of the source is attended to like any word.

    With W = 0 and four real words in a batch of width six, what weight has each word? Where is the mask used?
    """

    def weights(self, query, memory, mask):
        return super().weights(query, memory, torch.ones_like(mask))


@misconception(of="AttentionDecoder", fails=LOGITS | STATE)
class StateNotCarried(_AttentionDecoder):
    """Each step starts from s_0 again; only the output of the step before is carried on.

    Which state does your third call of the cell get? Which name did you forget to change in the loop?
    """

    def next_state(self, x, output, state, first):
        return super().next_state(x, output, first, first)


@misconception(of="AttentionDecoder", fails=LOGITS | CONTEXT)
class TanhForgotten(_AttentionDecoder):
    """The output is the linear layer's alone, without the tanh.

    Can an entry of your output be larger than 1? Go through the fourth line of the table again.
    """

    def combined(self, state, context):
        return self.combine(torch.cat([state, context], dim=-1))


@misconception(of="AttentionDecoder", fails=LOGITS | UNIFORM | CONTEXT)
class SentencesCompete(_AttentionDecoder):
    """The softmax runs over the sentences of the batch, so that they compete for each place of the source.

    With W = 0, what do the weights of one sentence sum to? Which axis of the scores lists the source words?
    """

    def weights(self, query, memory, mask):
        scores = (memory @ (query @ self.W)[:, :, None])[:, :, 0]
        return scores.masked_fill(~mask, -math.inf).softmax(dim=0).nan_to_num()


@misconception(of="AttentionDecoder", fails=LOGITS | UNIFORM | LENGTHS | PAST | FED)
class MapOnItsSide(_AttentionDecoder):
    """The weights come back with the source as rows and the steps as columns.

    With 3 inputs and a source of 6 words, which shape has each sentence's map? Which shape does the statement
    give?
    """

    def answer(self, logits, weights):
        return logits, weights.transpose(1, 2)


@misconception(of="AttentionDecoder", fails=LOGITS | STATE)
class OutputInFrontOfTheWord(_AttentionDecoder):
    """The cell's input is joined the other way round, the old output first and the word behind it.

    Which columns of `cell.weight_ih` belong to the embedding in $[e_t; o_{t-1}]$?
    """

    def next_state(self, x, output, state, first):
        return self.cell(torch.cat([output, x], dim=-1), state)


@misconception(of="AttentionDecoder", fails=LOGITS | UNIFORM | PADDED | PLACES)
class MaskOfTheFirstSentence(_AttentionDecoder):
    """The mask of the first sentence is used for all of them.

    Let the sentences change places. Do the weights of the longer one change? Which axis of `mask` lists the
    sentences?
    """

    def weights(self, query, memory, mask):
        return super().weights(query, memory, mask[:1].expand_as(mask))


@misconception(
    of="AttentionDecoder",
    fails=LOGITS | NAMES | UNIFORM | LENGTHS | PADDED | PLACES | PAST | QUERY | CONTEXT | STATE | FED,
)
class CombineWithABias(_AttentionDecoder):
    """`combine` has a bias, which the formula has not, and for which no weight is given.

    Compare the names of your parameters with those of the statement. Which one is too many?
    """

    def __init__(self, vocab_size, d_embedding, d_hidden, d_memory):
        super().__init__(vocab_size, d_embedding, d_hidden, d_memory)
        self.combine = nn.Linear(d_hidden + d_memory, d_hidden, dtype=torch.float64)
