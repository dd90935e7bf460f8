"""What goes wrong with inputs and targets, with the summary of a padded sentence, and in the decoder."""

import torch
from torch import nn

from autograder.catalogue import misconception

# 1. decoder_inputs_and_targets

SHIFTED_VALUES = {"the_example_sentences_are_shifted", "other_sentences_are_shifted"}


def _padded(rows, pad):
    longest = max(len(row) for row in rows)
    return torch.tensor([row + (longest - len(row)) * [pad] for row in rows])


@misconception(
    of="decoder_inputs_and_targets",
    fails=SHIFTED_VALUES
    | {
        "each_target_is_the_next_input",
        "every_sentence_begins_with_bos",
        "every_sentence_is_told_to_end",
        "nobody_reads_eos",
    },
    seen="https://github.com/bentrevett/pytorch-seq2seq/issues/46",
)
def targets_not_shifted(sentences, bos, eos, pad):
    """Inputs and targets are the same row: at every place the decoder is to say what it has just read.

    Put your two rows of the example below each other. What does the decoder read in the moment in which it
    should say 5, and how hard is that?
    """
    rows = _padded([[bos, *sentence.tolist(), eos] for sentence in sentences], pad)
    return rows, rows.clone()


@misconception(
    of="decoder_inputs_and_targets",
    fails=SHIFTED_VALUES | {"nobody_reads_eos"},
    seen="https://github.com/bentrevett/pytorch-seq2seq/issues/60",
)
def eos_fed_to_the_decoder(sentences, bos, eos, pad):
    """The padded row is cut at its end, which takes EOS off the longest sentence only: the others are fed it.

    Print your inputs of the example. Which word does the second row read last, and what is it to say after
    that?
    """
    rows = _padded([[bos, *sentence.tolist(), eos] for sentence in sentences], pad)
    return rows[:, :-1], rows[:, 1:]


@misconception(
    of="decoder_inputs_and_targets",
    fails=SHIFTED_VALUES | {"every_sentence_is_told_to_end"},
    seen="https://github.com/bentrevett/pytorch-seq2seq/issues/133",
)
def eos_never_a_target(sentences, bos, eos, pad):
    """EOS is no target, so the decoder never learns to stop.

    How will the decoder let you know that a translation is complete? In which row of which table would it
    learn that?
    """
    words = [sentence.tolist() for sentence in sentences]
    return _padded([[bos, *row[:-1]] for row in words], pad), _padded(words, pad)


@misconception(
    of="decoder_inputs_and_targets",
    fails=SHIFTED_VALUES | {"every_sentence_begins_with_bos", "every_sentence_is_told_to_end"},
)
def bos_never_read(sentences, bos, eos, pad):
    """BOS is not fed, so nothing ever asks for the first word of a translation.

    Which input stands above the target 5 in the example? What will you feed first when you translate?
    """
    words = [sentence.tolist() for sentence in sentences]
    return _padded(words, pad), _padded([[*row[1:], eos] for row in words], pad)


@misconception(
    of="decoder_inputs_and_targets",
    fails=SHIFTED_VALUES | {"each_target_is_the_next_input", "every_sentence_is_told_to_end"},
)
def shifted_twice(sentences, bos, eos, pad):
    """The targets are two words ahead of the inputs: after BOS the decoder is to say the second word.

    In the example, what should the decoder say after reading BOS alone? How many times does your code cut off
    the first word?
    """
    words = [sentence.tolist() for sentence in sentences]
    inputs = _padded([[bos, *row] for row in words], pad)
    return inputs, _padded([[*row[1:], eos, pad] for row in words], pad)


# 2. Encoder

SUMMARIES = {"other_encoders_have_their_summaries"}


class _Encoder(nn.Module):
    """The states as they should be; where the summary comes from is what each mistake says."""

    def __init__(self, vocab_size, d_embedding, d_hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_embedding, dtype=torch.float64)
        self.network = nn.GRU(d_embedding, d_hidden, batch_first=True, dtype=torch.float64)

    def forward(self, source, lengths):
        states, _ = self.network(self.embedding(source))
        return states, self.summary(states, lengths)

    def summary(self, states, lengths):
        return states[torch.arange(len(states)), lengths - 1]


@misconception(
    of="Encoder",
    fails=SUMMARIES | {"the_summary_is_the_state_at_the_last_word", "more_padding_leaves_the_summary"},
    seen="https://github.com/bentrevett/pytorch-seq2seq/issues/90",
)
class StateAtThePadding(_Encoder):
    """The summary is the state at the last place of the batch, where a short sentence has only padding.

    For the first sentence of a batch with the lengths 2 and 4, which words has the network read when it
    reaches your summary?
    """

    def summary(self, states, lengths):
        return states[:, -1]


@misconception(
    of="Encoder",
    fails=SUMMARIES
    | {
        "the_summary_is_the_state_at_the_last_word",
        "more_padding_leaves_the_summary",
    },
)
class OnePlaceTooFar(_Encoder):
    """The summary is taken one place behind the last word, after one word of padding.

    Places are counted from 0. At which place stands the last word of a sentence of two words?
    """

    def summary(self, states, lengths):
        return states[torch.arange(len(states)), lengths.clamp(max=states.shape[1] - 1)]


@misconception(
    of="Encoder",
    fails=SUMMARIES
    | {
        "a_lone_sentence_is_read_to_its_end",
        "the_summary_is_the_state_at_the_last_word",
    },
)
class MeanOfTheStates(_Encoder):
    """The summary is the mean of the states of all real words, not the last of them.

    What does the statement call the summary? Which of the states has read the whole sentence?
    """

    def summary(self, states, lengths):
        is_real = torch.arange(states.shape[1]) < lengths[:, None]
        return (states * is_real[..., None]).sum(1) / lengths[:, None]


@misconception(
    of="Encoder",
    fails=SUMMARIES | {"the_summary_is_the_state_at_the_last_word", "sources_may_change_places"},
)
class OneLengthForTheBatch(_Encoder):
    """All summaries are taken at one place, that of the first sentence's last word.

    Let two sentences of a batch change places. Does the summary of one of them change, and should it?
    """

    def summary(self, states, lengths):
        return states[:, lengths[0] - 1]


@misconception(
    of="Encoder",
    fails=SUMMARIES | {"the_summary_is_the_state_at_the_last_word", "sources_may_change_places"},
)
class SortedAndNotPutBack(_Encoder):
    """The batch is sorted by length for the network, and the summaries are never put back in order.

    Which sentence does row 0 of your summaries belong to? Give the batch in another order and look again.
    """

    def summary(self, states, lengths):
        order = lengths.argsort(descending=True, stable=True)
        return super().summary(states, lengths)[order]


@misconception(
    of="Encoder",
    fails=SUMMARIES
    | {
        "the_encoder_has_its_five_parameters",
        "a_lone_sentence_is_read_to_its_end",
        "the_summary_is_the_state_at_the_last_word",
        "more_padding_leaves_the_summary",
        "sources_may_change_places",
    },
)
class AnotherNameForTheNetwork(nn.Module):
    """The GRU has another name than the statement gives it, so its weights find no place.

    Print `sorted(name for name, _ in encoder.named_parameters())`. Where does the first half of each name
    come from?
    """

    def __init__(self, vocab_size, d_embedding, d_hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_embedding, dtype=torch.float64)
        self.gru = nn.GRU(d_embedding, d_hidden, batch_first=True, dtype=torch.float64)

    def forward(self, source, lengths):
        states, _ = self.gru(self.embedding(source))
        return states, states[torch.arange(len(source)), lengths - 1]


# 3. Decoder

LOGITS = {"other_decoders_have_their_logits"}


class _Decoder(nn.Module):
    """The modules of the decoder and its right forward pass, for mistakes to change."""

    def __init__(self, vocab_size, d_embedding, d_hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_embedding, dtype=torch.float64)
        self.network = nn.GRU(d_embedding, d_hidden, batch_first=True, dtype=torch.float64)
        self.output = nn.Linear(d_hidden, vocab_size, dtype=torch.float64)

    def states(self, summary, inputs):
        return self.network(self.embedding(inputs), summary[None])[0]

    def forward(self, summary, inputs):
        return self.output(self.states(summary, inputs))


@misconception(
    of="Decoder",
    fails=LOGITS
    | {
        "bos_is_answered_too",
        "each_step_reads_the_word_it_is_given",
        "another_summary_says_something_else",
    },
    seen="https://github.com/bentrevett/pytorch-seq2seq/issues/45",
)
class SlotZeroLeftEmpty(_Decoder):
    """The outputs are written from place 1 on, and at place 0 zeros are left, which the loss then scores.

    Print the first logits. Which input should they answer, and which answer does a row of zeros stand for?
    """

    def forward(self, summary, inputs):
        logits = super().forward(summary, inputs)
        return torch.cat([torch.zeros_like(logits[:, :1]), logits[:, :-1]], dim=1)


@misconception(
    of="Decoder",
    fails=LOGITS | {"each_step_reads_the_word_it_is_given", "earlier_inputs_are_remembered"},
)
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


@misconception(of="Decoder", fails=LOGITS | {"bos_is_answered_too", "another_summary_says_something_else"})
class SummaryNotUsed(_Decoder):
    """The decoder starts from a state of zeros: nothing of the source reaches it.

    What does your decoder know about the sentence it is to translate? Which argument is never read?
    """

    def states(self, summary, inputs):
        return self.network(self.embedding(inputs))[0]


@misconception(of="Decoder", fails=LOGITS | {"earlier_inputs_are_remembered"})
class EveryStepFromTheSummary(_Decoder):
    """Each step starts from the summary again, so the decoder forgets what it has read before.

    Which state does your third step start from? What has become of the second input by then?
    """

    def states(self, summary, inputs):
        steps = self.embedding(inputs).unbind(dim=1)
        return torch.cat([self.network(x[:, None], summary[None])[0] for x in steps], dim=1)


@misconception(
    of="Decoder",
    fails=LOGITS | {"bos_is_answered_too", "each_step_reads_the_word_it_is_given"},
)
class SpeaksBeforeItReads(_Decoder):
    """The logits of each place come from the state before its input was read.

    From which state do your first logits come, and has that state seen BOS?
    """

    def states(self, summary, inputs):
        states = super().states(summary, inputs)
        return torch.cat([summary[:, None], states[:, :-1]], dim=1)


@misconception(
    of="Decoder",
    fails=LOGITS | {"bos_is_answered_too"},
)
class ProbabilitiesForLogits(_Decoder):
    """Probabilities come back, on which the loss takes a second softmax.

    Sum your answer over the words. Which numbers does the statement ask for, those before or those after the
    softmax?
    """

    def forward(self, summary, inputs):
        return super().forward(summary, inputs).softmax(-1)


@misconception(
    of="Decoder", fails=LOGITS | {"bos_is_answered_too", "later_inputs_do_not_change_earlier_logits"}
)
class LastStateForEveryPlace(_Decoder):
    """All logits come from the state after the last input, which has read the words that are to be said.

    How many different rows of logits has your answer for one sentence? What may the first prediction have
    read?
    """

    def states(self, summary, inputs):
        states = super().states(summary, inputs)
        return states[:, -1:].expand_as(states)


@misconception(
    of="Decoder",
    fails=LOGITS
    | {
        "the_decoder_has_its_seven_parameters",
        "bos_is_answered_too",
        "each_step_reads_the_word_it_is_given",
        "later_inputs_do_not_change_earlier_logits",
        "earlier_inputs_are_remembered",
        "another_summary_says_something_else",
    },
)
class OutputWithoutItsConstant(_Decoder):
    """The output layer has no bias, so the decoder cannot know that some words are more frequent.

    Compare the names of your parameters with those of the statement. Which one is missing?
    """

    def __init__(self, vocab_size, d_embedding, d_hidden):
        super().__init__(vocab_size, d_embedding, d_hidden)
        self.output = nn.Linear(d_hidden, vocab_size, bias=False, dtype=torch.float64)
