"""What goes wrong in a decoder that attends: one line of the five at a time."""

import math

import torch
from torch import nn

from autograder.catalogue import misconception

from ..notebook import AttentionDecoder as RightDecoder


class _AttentionDecoder(RightDecoder):
    """The five lines as methods, for mistakes to change one of them."""

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


@misconception(of="AttentionDecoder")
class QueryOfTheOldState(_AttentionDecoder):
    """The query is the state before the step, which has not read the word yet.

    Change the first word that is read. Do the weights of the first step change? Which of your two states, the
    one before the cell or the one after it, stands in the table of the statement?
    """

    def query(self, before, state):
        return before


@misconception(of="AttentionDecoder")
class ContextNotFed(_AttentionDecoder):
    """The context is computed and then not used: the output is made of the state alone.

    Which of your lines reads the context? If none does, what can the memory change about a logit?
    """

    def combined(self, state, context):
        return super().combined(state, torch.zeros_like(context))


@misconception(of="AttentionDecoder")
class ContextBeforeState(_AttentionDecoder):
    """The two halves are joined the other way round, context first, and meet the wrong columns of `combine`.

    Which columns of `combine.weight` belong to the state in $[s_t; c_t]$, the first or the last?
    """

    def combined(self, state, context):
        return torch.tanh(self.combine(torch.cat([context, state], dim=-1)))


@misconception(of="AttentionDecoder")
class OutputNotUpdated(_AttentionDecoder):
    """Every step reads an output of zeros: what the step before has made of the source is forgotten.

    Print what you join to the embedding at the second step. After which line should it have changed?
    """

    def fed(self, said, output):
        return output


@misconception(of="AttentionDecoder", seen="https://github.com/pytorch/tutorials/issues/593")
class PaddingAttendedTo(_AttentionDecoder):
    """The padding of the source is attended to like any word.

    With W = 0 and four real words in a batch of width six, what weight has each word? Where is the mask used?
    """

    def weights(self, query, memory, mask):
        return super().weights(query, memory, torch.ones_like(mask))


@misconception(of="AttentionDecoder")
class PaddingScoredZero(_AttentionDecoder):
    """The scores at the padding are 0, and a score of 0 has the exponential 1.

    With W = 0 and four real words in a batch of width six, what weight has the padding? What is the
    exponential of the number that you write there?
    """

    def weights(self, query, memory, mask):
        return super().weights(query, memory * mask[..., None], torch.ones_like(mask))


@misconception(of="AttentionDecoder")
class MaskedAfterTheSoftmax(_AttentionDecoder):
    """The weights are masked after the softmax, so what padding had taken is lost to the words.

    With W = 0 and four real words in a batch of width six, what do the weights of a step sum to?
    """

    def weights(self, query, memory, mask):
        return super().weights(query, memory, torch.ones_like(mask)) * mask


@misconception(of="AttentionDecoder")
class RenormalisedAfterTheSoftmax(_AttentionDecoder):
    """The softmax is taken over padding too and repaired afterwards; what padding has swallowed is lost.

    Real words score -20000 and the padding 0. What does the softmax over all of them leave of the real words?
    """

    def weights(self, query, memory, mask):
        weights = super().weights(query, memory, torch.ones_like(mask)) * mask
        return weights / weights.sum(dim=-1, keepdim=True)


@misconception(of="AttentionDecoder")
class ContextOfEqualShares(_AttentionDecoder):
    """The context is the plain mean of the real words: the weights come back, but they weigh nothing.

    Which of your lines uses the weights? By what does the third line of the table multiply each row of the
    memory?
    """

    def forward(self, state, inputs, memory, mask):
        self.mean = (memory * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)
        return super().forward(state, inputs, memory, mask)

    def combined(self, state, context):
        return super().combined(state, self.mean)


@misconception(of="AttentionDecoder")
class SoftmaxOfTheLogits(_AttentionDecoder):
    """Probabilities come back instead of logits: a softmax was taken of the last line.

    What does each row of your first answer sum to? Which line of the table has a softmax, and which has none?
    """

    def answer(self, logits, weights):
        return logits.softmax(dim=-1), weights


@misconception(of="AttentionDecoder")
class StateNotCarried(_AttentionDecoder):
    """Each step starts from s_0 again; only the output of the step before is carried on.

    Which state does your third call of the cell get? Which name did you forget to change in the loop?
    """

    def next_state(self, x, output, state, first):
        return super().next_state(x, output, first, first)


@misconception(of="AttentionDecoder")
class TanhForgotten(_AttentionDecoder):
    """The output is the linear layer's alone, without the tanh.

    Can an entry of your output be larger than 1? Go through the fourth line of the table again.
    """

    def combined(self, state, context):
        return self.combine(torch.cat([state, context], dim=-1))


@misconception(of="AttentionDecoder")
class SentencesCompete(_AttentionDecoder):
    """The softmax runs over the sentences of the batch, so that they compete for each place of the source.

    With W = 0, what do the weights of one sentence sum to? Which axis of the scores lists the source words?
    """

    def weights(self, query, memory, mask):
        scores = (memory @ (query @ self.W)[:, :, None])[:, :, 0]
        return scores.masked_fill(~mask, -math.inf).softmax(dim=0)


@misconception(of="AttentionDecoder")
class MapOnItsSide(_AttentionDecoder):
    """The weights come back with the source as rows and the steps as columns.

    With 3 inputs and a source of 6 words, what shape is each sentence's map? What shape does the statement
    give?
    """

    def answer(self, logits, weights):
        return logits, weights.transpose(1, 2)


@misconception(of="AttentionDecoder")
class OutputInFrontOfTheWord(_AttentionDecoder):
    """The cell's input is joined the other way round, the old output first and the word behind it.

    Which columns of `cell.weight_ih` belong to the embedding in $[e_t; o_{t-1}]$?
    """

    def next_state(self, x, output, state, first):
        return self.cell(torch.cat([output, x], dim=-1), state)


@misconception(of="AttentionDecoder")
class MaskOfTheFirstSentence(_AttentionDecoder):
    """The mask of the first sentence is used for all of them.

    Let the sentences change places. Do the weights of the longer one change? Which axis of `mask` lists the
    sentences?
    """

    def weights(self, query, memory, mask):
        return super().weights(query, memory, mask[:1].expand_as(mask))


@misconception(of="AttentionDecoder")
class WordsHiddenInsteadOfPadding(_AttentionDecoder):
    """The mask is taken the wrong way round: words are hidden and padding is looked at.

    What does True mean in `mask`, and what does True mean to `masked_fill`?
    """

    def weights(self, query, memory, mask):
        return super().weights(query, memory, ~mask)


@misconception(of="AttentionDecoder")
class ScoresDividedByTheRoot(_AttentionDecoder):
    """The scores are divided by the root of a width, which the second line does not do.

    Which numbers stand between $s_t$ and $h_i$ in the table? Is there one that you have added?
    """

    def query(self, before, state):
        return state / state.shape[-1] ** 0.5


@misconception(of="AttentionDecoder")
class ScoresReturnedForWeights(_AttentionDecoder):
    """The scores come back instead of the weights that are made of them.

    With W = 0, what does each row of your weights sum to? Which of your two tables did the context use?
    """

    def forward(self, state, inputs, memory, mask):
        self.scores = []
        logits, _ = super().forward(state, inputs, memory, mask)
        return logits, torch.stack(self.scores, dim=1)

    def weights(self, query, memory, mask):
        self.scores.append((memory @ (query @ self.W)[:, :, None])[:, :, 0])
        return super().weights(query, memory, mask)


@misconception(of="AttentionDecoder")
class OutputCarriedAsState(_AttentionDecoder):
    """The output takes the place of the state: the next step starts from $o_{t-1}$, not from $s_{t-1}$.

    Two things are carried from step to step. Which of your variables holds which of them when the second step
    begins?
    """

    def next_state(self, x, output, state, first):
        is_first_step = state is first
        return super().next_state(x, output, state if is_first_step else output, first)


@misconception(of="AttentionDecoder")
class StateFedInsteadOfOutput(_AttentionDecoder):
    """The cell reads the state twice, as its state and beside the word, where the output should stand.

    What do you join to the embedding at the second step? Does it know anything of the source?
    """

    def next_state(self, x, output, state, first):
        return super().next_state(x, torch.zeros_like(state) if state is first else state, state, first)


@misconception(of="AttentionDecoder")
class FirstOutputNotZero(_AttentionDecoder):
    """At the first step the cell reads $s_0$ beside the word, where $o_0$ is 0.

    Which two things does the first step find, and which of them is 0?
    """

    def next_state(self, x, output, state, first):
        return super().next_state(x, state if state is first else output, state, first)


@misconception(of="AttentionDecoder")
class LogitsOfTheState(_AttentionDecoder):
    """The logits are made of the state, so that the context reaches a word only through the next step.

    Which of your variables enters `output`, and which does the last line of the table name?
    """

    def forward(self, state, inputs, memory, mask):
        self.states = []
        _, weights = super().forward(state, inputs, memory, mask)
        return self.output(torch.stack(self.states, dim=1)), weights

    def query(self, before, state):
        self.states.append(state)
        return state


@misconception(of="AttentionDecoder")
class RunsFree(_AttentionDecoder):
    """After the first input the decoder reads the words it says itself, and the inputs are ignored.

    Change the third input. Does any logit change? Who chooses the words that are read under teacher forcing?
    """

    def forward(self, state, inputs, memory, mask):
        first, output, token, steps = state, torch.zeros_like(state), inputs[:, 0], []
        for _ in inputs.T:
            state = self.next_state(self.embedding(token), output, state, first)
            weights = self.weights(state, memory, mask)
            output = self.combined(state, (weights[:, None] @ memory)[:, 0])
            steps.append((self.output(output), weights))
            token = steps[-1][0].argmax(-1)
        return self.answer(torch.stack([z for z, _ in steps], 1), torch.stack([w for _, w in steps], 1))


@misconception(of="AttentionDecoder")
class CombineWithABias(_AttentionDecoder):
    """`combine` has a bias, which the formula has not, and for which no weight is given.

    Compare the names of your parameters with those of the statement. Which one is too many?
    """

    def __init__(self, vocab_size, d_embedding, d_hidden, d_memory):
        super().__init__(vocab_size, d_embedding, d_hidden, d_memory)
        self.combine = nn.Linear(d_hidden + d_memory, d_hidden, dtype=torch.float64)
