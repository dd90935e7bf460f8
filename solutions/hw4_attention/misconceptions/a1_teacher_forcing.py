"""What goes wrong with inputs and targets, and in the decoder that is fed the right words."""

import torch
from torch import nn

from autograder.catalogue import misconception

from ..notebook import Decoder as RightDecoder

# 1. decoder_inputs_and_targets


def _padded(rows, pad):
    longest = max(len(row) for row in rows)
    return torch.tensor([row + (longest - len(row)) * [pad] for row in rows])


@misconception(
    of="decoder_inputs_and_targets", seen="https://github.com/bentrevett/pytorch-seq2seq/issues/46"
)
def targets_not_shifted(sentences, bos, eos, pad):
    """Inputs and targets are the same row: at every place the decoder is to say what it has just read.

    Put your two rows of the example below each other. What does the decoder read in the moment in which it
    should say 5, and how hard is that?
    """
    rows = _padded([[bos, *sentence.tolist(), eos] for sentence in sentences], pad)
    return rows, rows.clone()


@misconception(of="decoder_inputs_and_targets")
def inputs_for_targets(sentences, bos, eos, pad):
    """The targets are the inputs, BOS and the words: at every place the decoder is to say what it has read.

    In the second row of the example, what is the decoder to say after BOS, and what after 8?
    """
    rows = _padded([[bos, *sentence.tolist()] for sentence in sentences], pad)
    return rows, rows.clone()


@misconception(of="decoder_inputs_and_targets")
def targets_in_front_of_the_inputs(sentences, bos, eos, pad):
    """The two tables are in the wrong order: that which should be said stands first.

    In which order does the statement name them? Which of your two begins with BOS?
    """
    words = [sentence.tolist() for sentence in sentences]
    return _padded([[*row, eos] for row in words], pad), _padded([[bos, *row] for row in words], pad)


@misconception(
    of="decoder_inputs_and_targets", seen="https://github.com/bentrevett/pytorch-seq2seq/issues/60"
)
def eos_fed_to_the_decoder(sentences, bos, eos, pad):
    """The padded row is cut at its end, which takes EOS off the longest sentence only: the others are fed it.

    Print your inputs of the example. Which word does the second row read last, and what is it to say after
    that?
    """
    rows = _padded([[bos, *sentence.tolist(), eos] for sentence in sentences], pad)
    return rows[:, :-1], rows[:, 1:]


@misconception(
    of="decoder_inputs_and_targets", seen="https://github.com/bentrevett/pytorch-seq2seq/issues/133"
)
def eos_never_a_target(sentences, bos, eos, pad):
    """EOS is no target, so the decoder never learns to stop.

    How will the decoder let you know that a translation is complete? In which row of which table would it
    learn that?
    """
    words = [sentence.tolist() for sentence in sentences]
    return _padded([[bos, *row[:-1]] for row in words], pad), _padded(words, pad)


@misconception(of="decoder_inputs_and_targets")
def bos_never_read(sentences, bos, eos, pad):
    """BOS is not fed, so nothing ever asks for the first word of a translation.

    Which input stands above the target 5 in the example? What will you feed first when you translate?
    """
    words = [sentence.tolist() for sentence in sentences]
    return _padded(words, pad), _padded([[*row[1:], eos] for row in words], pad)


@misconception(of="decoder_inputs_and_targets")
def shifted_twice(sentences, bos, eos, pad):
    """The targets are two words ahead of the inputs: after BOS the decoder is to say the second word.

    In the example, what should the decoder say after reading BOS alone? How many times does your code cut off
    the first word?
    """
    words = [sentence.tolist() for sentence in sentences]
    inputs = _padded([[bos, *row] for row in words], pad)
    return inputs, _padded([[*row[1:], eos, pad] for row in words], pad)


@misconception(of="decoder_inputs_and_targets")
def padding_is_always_zero(sentences, bos, eos, pad):
    """Rows are filled up with the word 0, whatever `pad` is.

    Call your function with `pad=9`. With which number are the short rows filled, and who chose it?
    """
    words = [sentence.tolist() for sentence in sentences]
    return _padded([[bos, *row] for row in words], 0), _padded([[*row, eos] for row in words], 0)


@misconception(of="decoder_inputs_and_targets")
def eos_at_the_end_of_the_row(sentences, bos, eos, pad):
    """EOS stands at the end of the padded row, so a short sentence is to say padding before it may end.

    What is the decoder to say right after 8 in the second row of the example? What does yours have to say?
    """
    words = [sentence.tolist() for sentence in sentences]
    inputs = _padded([[bos, *row] for row in words], pad)
    targets = _padded([[*row, pad] for row in words], pad)
    targets[:, -1] = eos
    return inputs, targets


@misconception(of="decoder_inputs_and_targets")
def padding_where_eos_belongs(sentences, bos, eos, pad):
    """Behind the words of the targets comes padding at once, so nothing teaches the decoder to end.

    How many words does the example's first sentence have, and how many targets? What is the last one for?
    """
    words = [sentence.tolist() for sentence in sentences]
    return _padded([[bos, *row] for row in words], pad), _padded([[*row, pad] for row in words], pad)


@misconception(of="decoder_inputs_and_targets")
def targets_filled_with_eos(sentences, bos, eos, pad):
    """The targets are filled up with EOS, so a short sentence is told to end again and again.

    How many times stands EOS in the second row of the example's targets, and how many times in yours?
    """
    words = [sentence.tolist() for sentence in sentences]
    return _padded([[bos, *row] for row in words], pad), _padded([[*row, eos] for row in words], eos)


# 3. Decoder


class _Decoder(RightDecoder):
    """The modules of the decoder and its right forward pass, for mistakes to change."""

    def states(self, summary, inputs):
        return self.network(self.embedding(inputs), summary[None])[0]

    def forward(self, summary, inputs):
        return self.output(self.states(summary, inputs))


@misconception(of="Decoder", seen="https://github.com/bentrevett/pytorch-seq2seq/issues/45")
class SlotZeroLeftEmpty(_Decoder):
    """The outputs are written from place 1 on, and at place 0 zeros are left, which the loss then scores.

    Print the first logits. Which input should they answer, and which answer does a row of zeros stand for?
    """

    def forward(self, summary, inputs):
        logits = super().forward(summary, inputs)
        return torch.cat([torch.zeros_like(logits[:, :1]), logits[:, :-1]], dim=1)


@misconception(of="Decoder")
class FedWithItsOwnWords(_Decoder):
    """After BOS the decoder reads the words it says itself, not the inputs: it runs free in training.

    Change the third input. Does anything happen? Which words should stand in the inputs of teacher forcing?
    """

    def states(self, summary, inputs):
        token, states, state = inputs[:, :1], [], summary[None]
        for _ in range(inputs.shape[1]):
            one, state = self.network(self.embedding(token), state)
            states.append(one)
            token = self.output(one).argmax(-1)
        return torch.cat(states, dim=1)


@misconception(of="Decoder")
class SummaryNotUsed(_Decoder):
    """The decoder starts from a state of zeros: nothing of the source reaches it.

    What does your decoder know about the sentence it is to translate? Which argument is never read?
    """

    def states(self, summary, inputs):
        return self.network(self.embedding(inputs))[0]


@misconception(of="Decoder")
class EveryStepFromTheSummary(_Decoder):
    """Each step starts from the summary again, so the decoder forgets what it has read before.

    Which state does your third step start from? What has become of the second input by then?
    """

    def states(self, summary, inputs):
        steps = self.embedding(inputs).unbind(dim=1)
        return torch.cat([self.network(x[:, None], summary[None])[0] for x in steps], dim=1)


@misconception(of="Decoder")
class FirstInputSkipped(_Decoder):
    """The first input, BOS, is never read, and no logits answer it.

    How many inputs has the example, and how many rows of logits have you? Which input does your first row
    answer?
    """

    def states(self, summary, inputs):
        return super().states(summary, inputs[:, 1:])


@misconception(of="Decoder")
class LastInputSkipped(_Decoder):
    """The last input is never read, and no logits answer it.

    How many inputs has the example, and how many rows of logits have you? Who has cut off the last word of
    the inputs already?
    """

    def states(self, summary, inputs):
        return super().states(summary, inputs[:, :-1])


@misconception(of="Decoder")
class SpeaksBeforeItReads(_Decoder):
    """The logits of each place come from the state before its input was read.

    From which state do your first logits come, and has that state seen BOS?
    """

    def states(self, summary, inputs):
        states = super().states(summary, inputs)
        return torch.cat([summary[:, None], states[:, :-1]], dim=1)


@misconception(of="Decoder")
class ProbabilitiesForLogits(_Decoder):
    """Probabilities come back, on which the loss takes a second softmax.

    Sum your answer over the words. Which numbers does the statement ask for, those before or those after the
    softmax?
    """

    def forward(self, summary, inputs):
        return super().forward(summary, inputs).softmax(-1)


@misconception(of="Decoder")
class LastStateForEveryPlace(_Decoder):
    """All logits come from the state after the last input, which has read the words that are to be said.

    How many different rows of logits has your answer for one sentence? What may the first prediction have
    read?
    """

    def states(self, summary, inputs):
        states = super().states(summary, inputs)
        return states[:, -1:].expand_as(states)


@misconception(of="Decoder")
class OutputWithoutItsConstant(_Decoder):
    """The output layer has no bias, so the decoder cannot know that some words are more frequent.

    Compare the names of your parameters with those of the statement. Which one is missing?
    """

    def __init__(self, vocab_size, d_embedding, d_hidden):
        super().__init__(vocab_size, d_embedding, d_hidden)
        self.output = nn.Linear(d_hidden, vocab_size, bias=False, dtype=torch.float64)


@misconception(of="Decoder")
class LogProbabilitiesForLogits(_Decoder):
    """Log-probabilities come back: every row of logits is lowered by one and the same number.

    Exponentiate your answer and sum it over the words. What does the statement ask for, what stands before
    the softmax or what comes of it?
    """

    def forward(self, summary, inputs):
        return super().forward(summary, inputs).log_softmax(-1)


@misconception(of="Decoder")
class TimeBeforeBatch(_Decoder):
    """The answer is (T, B, V): the steps come first and the sentences second.

    With two sentences and four inputs, what shape is your answer? Along which axis did you stack the steps?
    """

    def forward(self, summary, inputs):
        return super().forward(summary, inputs).transpose(0, 1)
