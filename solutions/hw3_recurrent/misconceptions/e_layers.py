"""What goes wrong with several layers and with both directions."""

import torch
from torch import nn

from autograder.catalogue import misconception

# 12. StackedRNN

SMALL, OWN_STATE = {"the_example_stack_gives_0_6420"}, {"every_layer_starts_from_its_own_state"}
OWN_WEIGHTS, ROWS = {"every_layer_uses_its_own_weights"}, {"last_has_one_row_for_each_layer"}
STACKS = {"other_stacks_agree_with_torch"}


class _Stack(nn.Module):
    """The parameters as the exercise wants them, and the right forward pass in pieces to break."""

    def __init__(self, d_input, d_hidden, n_layers):
        super().__init__()
        for k in range(n_layers):
            shapes = {
                "W": (d_hidden, d_hidden if k else d_input),
                "U": (d_hidden, d_hidden),
                "b": (d_hidden,),
            }
            for name, shape in shapes.items():
                setattr(self, f"{name}_{k}", nn.Parameter(torch.zeros(shape, dtype=torch.float64)))

    def weights(self, k):
        return [getattr(self, f"{name}_{k}") for name in "WUb"]

    def layer(self, k, x, h):
        W, U, b = self.weights(k)
        states = []
        for t in range(x.shape[1]):
            h = torch.tanh(x[:, t] @ W.T + h @ U.T + b)
            states.append(h)
        return torch.stack(states, dim=1)

    def forward(self, x, h_0):
        last = []
        for k in range(len(h_0)):
            x = self.layer(k, x, h_0[k])
            last.append(x[:, -1])
        return x, torch.stack(last)


@misconception(of="StackedRNN", fails=OWN_STATE | OWN_WEIGHTS | STACKS)
class OneFirstStateForAllLayers(_Stack):
    """Every layer starts from the first state of layer 0.

    h_0 has one row of states for each layer. Which of them does your layer 1 read?
    """

    def forward(self, x, h_0):
        return super().forward(x, h_0[:1].expand(len(h_0), -1, -1))


@misconception(of="StackedRNN", fails=OWN_STATE | OWN_WEIGHTS | STACKS)
class StateGoesOnFromLayerToLayer(_Stack):
    """A layer starts from the state in which the layer below it ended, as if the text went on.

    Two things go from layer to layer in your loop. Which of them should: the states as inputs, or the last
    state as a beginning?
    """

    def layer(self, k, x, h):
        return super().layer(k, x, h if k == 0 else x[:, -1])


@misconception(of="StackedRNN", fails=OWN_WEIGHTS | STACKS)
class SameUInEveryLayer(_Stack):
    """All layers use the recurrent matrix of layer 0, which fits because all have the same shape.

    How many matrices U has a network of three layers, and which of yours never receive a gradient?
    """

    def weights(self, k):
        W, _, b = super().weights(k)
        return [W, self.U_0, b]


@misconception(of="StackedRNN", fails=SMALL | OWN_WEIGHTS | STACKS)
class LowerLayerReadOneStepLate(_Stack):
    """A layer reads what the layer below it knew one step earlier.

    At the second word of the example, which state of layer 0 should layer 1 read: that of the first word or
    that of the second?
    """

    def layer(self, k, x, h):
        late = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1) if k else x
        return super().layer(k, late, h)


@misconception(of="StackedRNN", fails=ROWS | STACKS)
class OnlyTheTopLayersLastState(_Stack):
    """Only the last state of the top layer comes back, so the lower layers cannot go on.

    From which states does the next piece of the text start? How many layers have one?
    """

    def forward(self, x, h_0):
        states, last = super().forward(x, h_0)
        return states, last[-1:]


@misconception(of="StackedRNN", fails=ROWS | STACKS)
class LastStatesUpsideDown(_Stack):
    """The last states are listed from the top layer downwards.

    Which layer does your `last[0]` belong to?
    """

    def forward(self, x, h_0):
        states, last = super().forward(x, h_0)
        return states, last.flip(0)


@misconception(of="StackedRNN", fails=ROWS | STACKS)
class LayersOnTheSecondAxis(_Stack):
    """The last states are stacked along the second axis, so texts and layers have changed places.

    Print the shape of your last states. Can it be given back to the network as h_0?
    """

    def forward(self, x, h_0):
        states, last = super().forward(x, h_0)
        return states, last.transpose(0, 1)


@misconception(
    of="StackedRNN",
    fails=SMALL | OWN_STATE | OWN_WEIGHTS | ROWS | STACKS | {"every_layer_has_three_parameters"},
)
class LayersInAList(nn.Module):
    """The layers stand in a Python list, where the module does not see their parameters.

    Print `list(model.parameters())`. Where does a module look for its parameters?
    """

    def __init__(self, d_input, d_hidden, n_layers):
        super().__init__()
        widths = [d_input] + [d_hidden] * (n_layers - 1)
        self.layers = [nn.RNNCell(width, d_hidden).double() for width in widths]

    def forward(self, x, h_0):
        last = []
        for cell, h in zip(self.layers, h_0, strict=True):
            states = []
            for x_t in x.unbind(1):
                h = cell(x_t, h)
                states.append(h)
            x = torch.stack(states, dim=1)
            last.append(h)
        return x, torch.stack(last)


# 13. bidirectional_states

BOTH_ENDS = {"the_example_text_is_read_from_both_ends", "other_texts_are_read_from_both_ends"}
PAST, FUTURE = {"the_first_half_knows_the_past"}, {"the_second_half_knows_the_future"}
REAL, ZEROS = {"padding_does_not_change_real_words"}, {"padding_has_zeros"}
OWN_NETWORK = {"each_direction_has_its_own_weights"}


def _read(x, network):
    h, states = torch.zeros(len(x), len(network["b"]), dtype=x.dtype), []
    for t in range(x.shape[1]):
        h = torch.tanh(x[:, t] @ network["W"].T + h @ network["U"].T + network["b"])
        states.append(h)
    return torch.stack(states, dim=1)


def _places(x, n_words):
    """For each text its real places in reverse order, then its padding, (B, T)."""
    places = torch.arange(x.shape[1])
    return torch.where(places < n_words[:, None], n_words[:, None] - 1 - places, places)


def _turned(x, n_words):
    return x.gather(1, _places(x, n_words)[..., None].expand_as(x))


def _real(states, n_words):
    return states * (torch.arange(states.shape[1]) < n_words[:, None])[..., None]


def _backwards(x, n_words, network):
    return _turned(_read(_turned(x, n_words), network), n_words)


@misconception(of="bidirectional_states", fails=BOTH_ENDS | FUTURE | OWN_NETWORK)
def backward_states_not_turned_back(x, n_words, forwards, backwards):
    """The backward states stand in the order in which they were read, so the first word has the last one's.

    Which word does the first backward state belong to, and next to which forward state does it stand in your
    answer?
    """
    states = torch.cat([_read(x, forwards), _read(_turned(x, n_words), backwards)], dim=-1)
    return _real(states, n_words)


@misconception(of="bidirectional_states", fails=BOTH_ENDS | PAST | FUTURE | OWN_NETWORK)
def backward_half_first(x, n_words, forwards, backwards):
    """The halves are joined in the wrong order: the backward states stand first.

    In the example, which of the two numbers of the second word has read the word 1?
    """
    states = torch.cat([_backwards(x, n_words, backwards), _read(x, forwards)], dim=-1)
    return _real(states, n_words)


@misconception(of="bidirectional_states", fails=BOTH_ENDS | REAL)
def padding_read_first_by_the_backward_pass(x, n_words, forwards, backwards):
    """The backward network begins at the end of the tensor, so it reads the padding before the text.

    In the example, what has the backward network read when it comes to the word 0? Change the 7 to another
    number: does your answer change?
    """
    states = torch.cat([_read(x, forwards), _read(x.flip(1), backwards).flip(1)], dim=-1)
    return _real(states, n_words)


@misconception(of="bidirectional_states", fails=OWN_NETWORK | {"other_texts_are_read_from_both_ends"})
def same_network_in_both_directions(x, n_words, forwards, backwards):
    """One network reads in both directions; the weights of the other are never used.

    Where in your function does the argument `backwards` occur?
    """
    states = torch.cat([_read(x, forwards), _backwards(x, n_words, forwards)], dim=-1)
    return _real(states, n_words)


@misconception(of="bidirectional_states", fails=BOTH_ENDS | ZEROS)
def states_at_the_padding_left(x, n_words, forwards, backwards):
    """The states at the padding are those that the networks happen to have there, not zeros.

    What would a mean over all places of your answer contain, beside the words?
    """
    return torch.cat([_read(x, forwards), _backwards(x, n_words, backwards)], dim=-1)


@misconception(of="bidirectional_states", fails=BOTH_ENDS | FUTURE | OWN_NETWORK)
def texts_turned_instead_of_words(x, n_words, forwards, backwards):
    """The flip turns the order of the texts in the batch, not the order of the words in each text.

    Which axis does your `flip` name? What does x.flip(0) do to a batch with a single text?
    """
    states = torch.cat([_read(x, forwards), _read(x.flip(0), backwards).flip(0)], dim=-1)
    return _real(states, n_words)


@misconception(of="bidirectional_states", fails=BOTH_ENDS | PAST | FUTURE | ZEROS | OWN_NETWORK)
def halves_added_up(x, n_words, forwards, backwards):
    """The two states of a word are added up, so that past and future cannot be told apart any more.

    How many numbers has a word in your answer, and how many in the statement?
    """
    return _real(_read(x, forwards) + _backwards(x, n_words, backwards), n_words)


# 14. text_vectors

VECTORS = {"the_example_vector_is_3_2", "each_half_has_read_the_whole_text", "other_texts_have_their_vectors"}


def _at(states, places):
    return states[torch.arange(len(states)), places]


@misconception(
    of="text_vectors",
    fails=VECTORS,
    seen="https://discuss.pytorch.org/t/bilstm-output-hidden-state-mismatch/49825",
)
def last_place_of_the_tensor(states, n_words):
    """The last place of the tensor is taken for both directions, padding or not.

    What has the backward network read at the last place? And what stands there for a short text?
    """
    return states[:, -1]


@misconception(of="text_vectors", fails=VECTORS)
def last_word_for_both_directions(states, n_words):
    """Both halves are taken at the last real word, where the backward network has read a single word.

    Where does the backward network begin to read? How many words has it read at the last one?
    """
    return _at(states, n_words - 1)


@misconception(of="text_vectors", fails=VECTORS)
def first_place_for_both_directions(states, n_words):
    """Both halves are taken at the first word, where the forward network has read a single word.

    How many words has the forward network read at the first place?
    """
    return states[:, 0].clone()


@misconception(of="text_vectors", fails=VECTORS)
def ends_exchanged(states, n_words):
    """The forward half is taken at the first word and the backward half at the last: each has read one word.

    In the example, which state has read both words in the forward direction?
    """
    d_hidden = states.shape[-1] // 2
    return torch.cat([states[:, 0, :d_hidden], _at(states, n_words - 1)[:, d_hidden:]], dim=-1)


@misconception(of="text_vectors", fails=VECTORS)
def forward_half_from_the_padding(states, n_words):
    """The forward half is taken at the end of the tensor, where a short text has padding.

    What is the forward half of your answer for a text that is shorter than the longest?
    """
    d_hidden = states.shape[-1] // 2
    return torch.cat([states[:, -1, :d_hidden], states[:, 0, d_hidden:]], dim=-1)


# 15. top_states

THREE_FOUR, OF_EACH = {"the_example_states_are_3_and_4"}, {"each_text_keeps_its_own_states"}
LAYERS = {"other_layers_agree_with_torch"}


@misconception(of="top_states", fails=THREE_FOUR | OF_EACH | LAYERS)
def last_row_only(h_n, n_layers):
    """Only the last row of h_n is taken, which is the backward direction alone.

    Which network does the last row of h_n belong to? Where is the other direction?
    """
    return h_n[-1].clone()


@misconception(of="top_states", fails=THREE_FOUR | LAYERS)
def bottom_layer_taken(h_n, n_layers):
    """The first two rows are taken, which belong to the lowest layer.

    In which order does torch list the layers?
    """
    return torch.cat([h_n[0], h_n[1]], dim=-1)


@misconception(
    of="top_states",
    fails=THREE_FOUR | LAYERS,
    seen="https://discuss.pytorch.org/t/bilstm-output-hidden-state-mismatch/49825",
)
def directions_before_layers(h_n, n_layers):
    """The rows are read as if all layers of one direction came first, then all of the other.

    In the example, which row belongs to layer 1 forwards? Which of the two axes changes faster in yours?
    """
    forwards, backwards = h_n.reshape(2, n_layers, *h_n.shape[1:])[:, -1]
    return torch.cat([forwards, backwards], dim=-1)


@misconception(of="top_states", fails=OF_EACH | LAYERS)
def texts_mixed_by_a_reshape(h_n, n_layers):
    """The two rows are reshaped where they should stand side by side, so a text gets another one's states.

    With which text does your first row end? Which axis lies between directions and numbers in h_n?
    """
    return h_n[-2:].reshape(h_n.shape[1], -1)


@misconception(of="top_states", fails=THREE_FOUR | LAYERS)
def backward_state_first(h_n, n_layers):
    """The backward state stands before the forward state.

    Which of the two directions comes first in h_n, and which in your answer?
    """
    return torch.cat([h_n[-1], h_n[-2]], dim=-1)
