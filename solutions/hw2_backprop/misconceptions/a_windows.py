"""What goes wrong when text is cut into windows, targets and batches."""

import torch

from autograder.catalogue import misconception

# 1. windows_and_targets


def _windows(documents, n_window, n_last=0):
    starts = [(document, i) for document in documents for i in range(len(document) - n_window + n_last)]
    return torch.stack([document[i : i + n_window] for document, i in starts]), starts


@misconception(of="windows_and_targets")
def target_is_the_last_word_of_the_window(documents, n_window):
    """The target is the last word of the window, which the model has already read.

    In the example, which word should be predicted after `[5, 6]`? How hard is a target that stands in the
    window already?
    """
    windows, _ = _windows(documents, n_window)
    return windows, windows[:, -1]


@misconception(of="windows_and_targets")
def target_counted_on_from_the_last_word(documents, n_window):
    """The target is the number of the window's last word plus one, right only where the text counts upwards.

    What is your target for the first window of the text `[5, 2, 9]`? Which of its words does your code read?
    """
    windows, _ = _windows(documents, n_window)
    return windows, windows[:, -1] + 1


@misconception(of="windows_and_targets")
def window_reversed(documents, n_window):
    """The windows list the newest word first.

    Print the first window of the example. In which order does the text have these words?
    """
    windows, starts = _windows(documents, n_window)
    return windows.flip(1), torch.stack([document[i + n_window] for document, i in starts])


@misconception(of="windows_and_targets")
def last_window_lost(documents, n_window):
    """The last pair of every document is missing, so its last word is never a target.

    How many pairs does a document of three words have with a window of two? Which start is the last that
    still has a target, and does your range reach it?
    """
    windows, starts = _windows(documents, n_window, -1)
    return windows, torch.stack([document[i + n_window] for document, i in starts])


@misconception(of="windows_and_targets")
def window_without_a_next_word(documents, n_window):
    """The last words of a document make one more window, and its target is taken from the beginning.

    What follows the last window of a document? Count your pairs of a document with exactly N words.
    """
    windows, starts = _windows(documents, n_window, 1)
    return windows, torch.stack([document[(i + n_window) % len(document)] for document, i in starts])


@misconception(of="windows_and_targets")
def windows_cross_documents(documents, n_window):
    """The documents are joined before the windows are cut, so that windows reach from one into the next.

    In the example, does the second document say anything about what follows `[7, 8]`? At which moment does
    your code forget where a document ends?
    """
    return _by_unfolding(torch.cat(documents), n_window)


def _by_unfolding(tokens, n_window):
    return tokens[:-1].unfold(0, n_window, 1), tokens[n_window:]


@misconception(of="windows_and_targets")
def windows_side_by_side(documents, n_window):
    """Each window begins where the one before has ended, so most windows are left out.

    In `[5, 6, 7, 8]`, which words follow 6 and which follow 7? How many words do two windows in a row share?
    """
    cut = [document[: (len(document) - 1) // n_window * n_window + 1] for document in documents]
    starts = [(d, i) for d in cut for i in range(0, len(d) - n_window, n_window)]
    return torch.stack([d[i : i + n_window] for d, i in starts]), torch.stack(
        [d[i + n_window] for d, i in starts]
    )


@misconception(of="windows_and_targets")
def only_the_first_document(documents, n_window):
    """Only the first document is cut into windows.

    Which document does the last of your windows come from? Where in your code do the others come in?
    """
    return _by_unfolding(documents[0], n_window)


@misconception(of="windows_and_targets")
def targets_are_windows_too(documents, n_window):
    """Each target is a whole window, moved by one word, where one word is asked for.

    In the example, which word follows `[5, 6]`? How many numbers has each of your targets?
    """
    windows, starts = _windows(documents, n_window)
    return windows, torch.stack([document[i + 1 : i + n_window + 1] for document, i in starts])


# 2. batch_at


@misconception(of="batch_at")
def one_start_for_the_whole_batch(tokens, starts, n_window):
    """All rows of the batch begin at the same place, so the batch holds one window many times.

    Print your batch for two different starts. Which entry of `starts` decides about the second row?
    """
    places = starts[0] + torch.arange(n_window).expand(len(starts), -1)
    return tokens[places], tokens[starts[0] + n_window].expand(len(starts))


@misconception(of="batch_at")
def batch_target_inside_the_window(tokens, starts, n_window):
    """The target is the last word of the window itself.

    The window from `start` on covers the places start, …, start + N - 1. Which place comes next?
    """
    return tokens[starts[:, None] + torch.arange(n_window)], tokens[starts + n_window - 1]


@misconception(of="batch_at")
def window_one_word_away_from_its_target(tokens, starts, n_window):
    """Between the window and its target one word is left out.

    With start 0 and two words in the window, which places does your window cover and which does your target
    come from? (A place beyond the end was taken to be the last one.)
    """
    places = (starts + n_window + 1).clamp(max=len(tokens) - 1)
    return tokens[starts[:, None] + torch.arange(n_window)], tokens[places]


@misconception(of="batch_at")
def start_taken_for_the_target(tokens, starts, n_window):
    """The places are taken for those of the targets, and the windows for what comes before them.

    In the example the first start is 3, where 16 stands. Is 16 to be read or to be predicted?
    """
    return tokens[starts[:, None] - n_window + torch.arange(n_window)], tokens[starts]


@misconception(of="batch_at")
def target_behind_the_first_word(tokens, starts, n_window):
    """The target is the word after the first word of the window, whatever the window's width.

    For a window of three words from place 2 on, which places does it cover? Where does your target stand?
    """
    return tokens[starts[:, None] + torch.arange(n_window)], tokens[starts + 1]


@misconception(of="batch_at")
def places_for_words(tokens, starts, n_window):
    """The places come back, not the words that stand there.

    In the example, which word stands at place 2? Which of the three arguments did you not use?
    """
    return starts[:, None] + torch.arange(n_window), starts + n_window


@misconception(of="batch_at")
def windows_as_columns(tokens, starts, n_window):
    """Every window is a column of the answer, where a row is asked for.

    With two starts and windows of three words, which shape have your windows, and which are asked for?
    """
    return tokens[starts + torch.arange(n_window)[:, None]], tokens[starts + n_window]
