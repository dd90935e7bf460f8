"""What goes wrong when a text is read in both directions."""

import torch

from autograder.catalogue import misconception

# 13. bidirectional_states


def _states_of(x, network):
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


def _states_from_the_end(x, n_words, network):
    return _turned(_states_of(_turned(x, n_words), network), n_words)


@misconception(of="bidirectional_states")
def backward_states_not_turned_back(x, n_words, forwards, backwards):
    """The backward states stand in the order in which they were read, so the first word has the last one's.

    Which word does the first backward state belong to, and next to which forward state does it stand in your
    answer?
    """
    states = torch.cat([_states_of(x, forwards), _states_of(_turned(x, n_words), backwards)], dim=-1)
    return _real(states, n_words)


@misconception(of="bidirectional_states")
def backward_half_first(x, n_words, forwards, backwards):
    """The halves are joined in the wrong order: the backward states stand first.

    In the example, which of the two numbers of the second word has read the word 1?
    """
    states = torch.cat([_states_from_the_end(x, n_words, backwards), _states_of(x, forwards)], dim=-1)
    return _real(states, n_words)


@misconception(of="bidirectional_states")
def padding_read_first_by_the_backward_pass(x, n_words, forwards, backwards):
    """The backward network begins at the end of the tensor, so it reads the padding before the text.

    In the example, what has the backward network read when it comes to the word 0? Change the 7 to another
    number: does your answer change?
    """
    states = torch.cat([_states_of(x, forwards), _states_of(x.flip(1), backwards).flip(1)], dim=-1)
    return _real(states, n_words)


@misconception(of="bidirectional_states")
def same_network_in_both_directions(x, n_words, forwards, backwards):
    """One network reads in both directions; the weights of the other are never used.

    Where in your function does the argument `backwards` occur?
    """
    states = torch.cat([_states_of(x, forwards), _states_from_the_end(x, n_words, forwards)], dim=-1)
    return _real(states, n_words)


@misconception(of="bidirectional_states")
def states_at_the_padding_left(x, n_words, forwards, backwards):
    """The states at the padding are those that the networks happen to have there, not zeros.

    What would a mean over all places of your answer contain, beside the words?
    """
    return torch.cat([_states_of(x, forwards), _states_from_the_end(x, n_words, backwards)], dim=-1)


@misconception(of="bidirectional_states")
def forward_states_at_the_padding_left(x, n_words, forwards, backwards):
    """The backward half is zero at the padding, the forward half is not.

    Which of your two networks goes on after the last real word, and what does it leave there?
    """
    back = _real(_states_from_the_end(x, n_words, backwards), n_words)
    return torch.cat([_states_of(x, forwards), back], dim=-1)


@misconception(of="bidirectional_states")
def backward_network_goes_on_from_the_forward_one(x, n_words, forwards, backwards):
    """The backward network starts from the state in which the forward network ended, not from zeros.

    In the example, what is the backward state of the word 0 if nothing was read before? Which variable
    do your two loops share?
    """
    rows = []
    for words, n in zip(x, n_words.tolist(), strict=True):
        there = _states_of(words[None, :n], forwards)
        h, back = there[:, -1], []
        for word in words[:n].flip(0):
            h = torch.tanh(word @ backwards["W"].T + h @ backwards["U"].T + backwards["b"])
            back.insert(0, h)
        real = torch.cat([there[0], torch.cat(back)], dim=-1)
        rows.append(torch.cat([real, real.new_zeros(len(words) - n, real.shape[1])]))
    return torch.stack(rows)


@misconception(of="bidirectional_states")
def texts_turned_instead_of_words(x, n_words, forwards, backwards):
    """The flip turns the order of the texts in the batch, not the order of the words in each text.

    Which axis does your `flip` name? What does x.flip(0) do to a batch with a single text?
    """
    states = torch.cat([_states_of(x, forwards), _states_of(x.flip(0), backwards).flip(0)], dim=-1)
    return _real(states, n_words)


@misconception(of="bidirectional_states")
def halves_added_up(x, n_words, forwards, backwards):
    """The two states of a word are added up, so that past and future cannot be told apart any more.

    How many numbers does a word have in your answer, and how many in the statement?
    """
    return _real(_states_of(x, forwards) + _states_from_the_end(x, n_words, backwards), n_words)


@misconception(of="bidirectional_states")
def padding_taken_for_words(x, n_words, forwards, backwards):
    """Both networks read the padding like words: `n_words` is never used.

    Where does `n_words` occur in your function? What has the backward network read when it comes to the last
    real word?
    """
    return torch.cat([_states_of(x, forwards), _states_of(x.flip(1), backwards).flip(1)], dim=-1)


@misconception(of="bidirectional_states")
def padding_made_zeros_and_read(x, n_words, forwards, backwards):
    """The padding is set to zeros and then read, which leaves a state that is not zero: b is still added.

    What state does a network have after reading a word of zeros from a state of zeros?
    """
    x = _real(x, n_words)
    states = torch.cat([_states_of(x, forwards), _states_of(x.flip(1), backwards).flip(1)], dim=-1)
    return _real(states, n_words)


@misconception(of="bidirectional_states")
def own_word_left_out_on_the_way_back(x, n_words, forwards, backwards):
    """The backward state of a word is the one before it was read, so it knows the words after it only.

    In the example, which backward state belongs to the last real word: one that has read it, or the zeros?
    """
    back = _real(_states_from_the_end(x, n_words, backwards), n_words)
    later = torch.cat([back[:, 1:], torch.zeros_like(back[:, :1])], dim=1)
    return torch.cat([_real(_states_of(x, forwards), n_words), later], dim=-1)


@misconception(of="bidirectional_states")
def backward_network_reads_the_forward_states(x, n_words, forwards, backwards):
    """The backward network reads the states of the forward network instead of the words.

    Which tensor does your second network get? What size is the second network's W, and what size a state?
    """
    there = _real(_states_of(x, forwards), n_words)
    return _real(torch.cat([there, _states_from_the_end(there, n_words, backwards)], dim=-1), n_words)


@misconception(of="bidirectional_states")
def numbers_of_both_states_in_turn(x, n_words, forwards, backwards):
    """The two states are shuffled together number by number instead of standing side by side.

    Which numbers does `answer[..., :D]` hold: one whole state, or half of each?
    """
    states = torch.stack([_states_of(x, forwards), _states_from_the_end(x, n_words, backwards)], dim=-1)
    return _real(states.flatten(2), n_words)


# 14. text_vectors


def _at(states, places):
    return states[torch.arange(len(states)), places]


@misconception(
    of="text_vectors", seen="https://discuss.pytorch.org/t/bilstm-output-hidden-state-mismatch/49825"
)
def last_place_of_the_tensor(states, n_words):
    """The last place of the tensor is taken for both directions, padding or not.

    What has the backward network read at the last place? And what stands there for a short text?
    """
    return states[:, -1]


@misconception(of="text_vectors")
def last_word_for_both_directions(states, n_words):
    """Both halves are taken at the last real word, where the backward network has read a single word.

    Where does the backward network begin to read? How many words has it read when it is at the last one?
    """
    return _at(states, n_words - 1)


@misconception(of="text_vectors")
def first_place_for_both_directions(states, n_words):
    """Both halves are taken at the first word, where the forward network has read a single word.

    How many words has the forward network read at the first place?
    """
    return states[:, 0].clone()


@misconception(of="text_vectors")
def ends_exchanged(states, n_words):
    """The forward half is taken at the first word and the backward half at the last: each has read one word.

    In the example, which state has read both words in the forward direction?
    """
    d_hidden = states.shape[-1] // 2
    return torch.cat([states[:, 0, :d_hidden], _at(states, n_words - 1)[:, d_hidden:]], dim=-1)


@misconception(of="text_vectors")
def forward_half_from_the_padding(states, n_words):
    """The forward half of a short text is taken from its padding.

    What is the forward half of your answer for a text that is shorter than the longest?
    """
    d_hidden = states.shape[-1] // 2
    return torch.cat([states[:, -1, :d_hidden], states[:, 0, d_hidden:]], dim=-1)


@misconception(of="text_vectors")
def halves_exchanged(states, n_words):
    """Both halves are right, but the backward one stands first.

    In which order does the statement put the two halves?
    """
    d_hidden = states.shape[-1] // 2
    return torch.cat([states[:, 0, d_hidden:], _at(states, n_words - 1)[:, :d_hidden]], dim=-1)


@misconception(of="text_vectors")
def one_place_behind_the_last_word(states, n_words):
    """The forward half is taken one place behind the last real word.

    A text has three words, counted from 0. What is the number of the last one?
    """
    d_hidden = states.shape[-1] // 2
    return torch.cat([_at(states, n_words)[:, :d_hidden], states[:, 0, d_hidden:]], dim=-1)


@misconception(of="text_vectors")
def mean_of_the_states(states, n_words):
    """The states of all words are averaged.

    Which states of a text have read all of it? How many of them are in your mean?
    """
    return states.sum(dim=1) / n_words[:, None]


@misconception(of="text_vectors")
def largest_numbers_of_the_states(states, n_words):
    """Of each number the largest over all places is taken.

    At how many places have the numbers of your vector stood? Has any one of these states read the whole text?
    """
    return states.amax(dim=1)


@misconception(of="text_vectors")
def places_of_all_texts_for_each(states, n_words):
    """One half has three axes and the other two, as when the places are an index beside a colon.

    What are the shapes of your two halves? In `states[:, n_words - 1]`, how many places does each text get?
    """
    d_hidden = states.shape[-1] // 2
    return torch.cat([states[:, n_words - 1, :d_hidden], states[:, 0, d_hidden:]], dim=-1)


# 15. top_states


@misconception(of="top_states")
def last_row_only(h_n, n_layers):
    """Only the last row of h_n is taken, which is the backward direction alone.

    Which network does the last row of h_n belong to? Where is the other direction?
    """
    return h_n[-1].clone()


@misconception(of="top_states")
def bottom_layer_taken(h_n, n_layers):
    """The first two rows are taken, which belong to the lowest layer.

    In which order does torch list the layers?
    """
    return torch.cat([h_n[0], h_n[1]], dim=-1)


@misconception(
    of="top_states", seen="https://discuss.pytorch.org/t/bilstm-output-hidden-state-mismatch/49825"
)
def directions_before_layers(h_n, n_layers):
    """The rows are read as if all layers of one direction came first, then all of the other.

    In the example, which row belongs to layer 1 forwards? Which of the two axes changes faster in yours?
    """
    forwards, backwards = h_n.reshape(2, n_layers, *h_n.shape[1:])[:, -1]
    return torch.cat([forwards, backwards], dim=-1)


@misconception(of="top_states")
def texts_mixed_by_a_reshape(h_n, n_layers):
    """The two rows are reshaped where they should stand side by side, so a text gets another one's states.

    With which text does your first row end? Which axis lies between directions and numbers in h_n?
    """
    return h_n[-2:].reshape(h_n.shape[1], -1)


@misconception(of="top_states")
def backward_state_first(h_n, n_layers):
    """The backward state stands before the forward state.

    Which of the two directions comes first in h_n, and which in your answer?
    """
    return torch.cat([h_n[-1], h_n[-2]], dim=-1)


@misconception(of="top_states")
def rows_2_and_3(h_n, n_layers):
    """Rows 2 and 3 are taken, which are the top layer of two layers only.

    Which rows of `h_n` belong to the top of three layers? Where does your function use `n_layers`?
    """
    return torch.cat([h_n[2], h_n[3]], dim=-1)


@misconception(of="top_states")
def rows_counted_by_layers(h_n, n_layers):
    """The rows are found by the number of layers, as if each layer had one row.

    How many rows has `h_n` below the top layer, if there are three layers?
    """
    return torch.cat([h_n[n_layers], h_n[n_layers + 1]], dim=-1)


@misconception(of="top_states")
def numbers_of_both_directions_in_turn(h_n, n_layers):
    """The two states are shuffled together number by number instead of standing side by side.

    Which axis changes fastest in your (B, 2D): the direction or the number?
    """
    return h_n[-2:].permute(1, 2, 0).flatten(1)
