"""What goes wrong with the summary of a padded sentence."""

import torch
from torch import nn

from autograder.catalogue import misconception

from ..notebook import Encoder as RightEncoder

# 2. Encoder


class _Encoder(RightEncoder):
    """The states as they should be; where the summary comes from is what each mistake says."""

    def forward(self, source, lengths):
        states, _ = self.network(self.embedding(source))
        return states, self.summary(states, lengths)

    def summary(self, states, lengths):
        return states[torch.arange(len(states)), lengths - 1]


@misconception(of="Encoder", seen="https://github.com/bentrevett/pytorch-seq2seq/issues/90")
class StateAtThePadding(_Encoder):
    """The summary is the state at the last place of the batch, where a short sentence has only padding.

    For the first sentence of a batch with the lengths 2 and 4, which words has the network read when it
    reaches your summary?
    """

    def summary(self, states, lengths):
        return states[:, -1]


@misconception(of="Encoder")
class OnePlaceTooFar(_Encoder):
    """The summary is taken one place behind the last word, after one word of padding.

    Places are counted from 0. At which place stands the last word of a sentence of two words?
    """

    def summary(self, states, lengths):
        return states[torch.arange(len(states)), lengths.clamp(max=states.shape[1] - 1)]


@misconception(of="Encoder")
class MeanOfTheStates(_Encoder):
    """The summary is the mean of the states of all real words, not the last of them.

    What does the statement call the summary? Which of the states has read the whole sentence?
    """

    def summary(self, states, lengths):
        is_real = torch.arange(states.shape[1]) < lengths[:, None]
        return (states * is_real[..., None]).sum(1) / lengths[:, None]


@misconception(of="Encoder")
class OneLengthForTheBatch(_Encoder):
    """All summaries are taken at one place, that of the first sentence's last word.

    Let two sentences of a batch change places. Does the summary of one of them change, and should it?
    """

    def summary(self, states, lengths):
        return states[:, lengths[0] - 1]


@misconception(of="Encoder")
class ZeroTakenForPadding(_Encoder):
    """The last word is searched as the last that is not 0, though nobody says that the padding is 0.

    Fill up a short sentence with the word 4. Where does it end for you? Which argument says where it ends?
    """

    def forward(self, source, lengths):
        return super().forward(source, (source != 0).sum(dim=1))


@misconception(of="Encoder")
class SortedAndNotPutBack(_Encoder):
    """The batch is sorted by length for the network, and the summaries are never put back in order.

    Which sentence does row 0 of your summaries belong to? Give the batch in another order and look again.
    """

    def summary(self, states, lengths):
        order = lengths.argsort(descending=True, stable=True)
        return super().summary(states, lengths)[order]


@misconception(of="Encoder")
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


@misconception(of="Encoder")
class SentencesReadAcross(_Encoder):
    """`batch_first` is left out, so the network takes the sentences for the steps of time.

    Which words does your GRU read one after the other, those of one row or those of one column? Is the second
    state of a lone sentence made from the first?
    """

    def __init__(self, vocab_size, d_embedding, d_hidden):
        super().__init__(vocab_size, d_embedding, d_hidden)
        self.network.batch_first = False


@misconception(of="Encoder")
class EveryLengthForEverySentence(_Encoder):
    """Each sentence gets a summary for every length of the batch: the answer has an axis too many.

    With three sentences, what shape is your summary? In `states[:, lengths - 1]`, what says which length
    belongs to which row?
    """

    def summary(self, states, lengths):
        return states[:, lengths - 1]


@misconception(of="Encoder")
class AnswerOfTheGRUItself(_Encoder):
    """The GRU's result is returned as it is: its second part has a layer axis and is from the last position.

    What is the shape of the second value a GRU returns? After which word of a short sentence is it taken?
    """

    def forward(self, source, lengths):
        return self.network(self.embedding(source))
