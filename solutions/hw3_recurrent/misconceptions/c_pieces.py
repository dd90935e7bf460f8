"""What goes wrong when a long text is read in pieces: streams, states, and where gradients stop."""

import torch

from autograder.catalogue import misconception

# 5. stream_batches

CUT = {"the_example_text_makes_two_pieces", "other_texts_are_cut_into_streams"}
GOES_ON, NEXT = {"a_row_goes_on_where_it_stopped"}, {"the_target_is_the_next_word"}
ROWS = {"every_piece_has_all_rows"}


def _tables(tokens, batch_size):
    length = (len(tokens) - 1) // batch_size
    n_read = batch_size * length
    return tokens[:n_read].view(batch_size, length), tokens[1 : n_read + 1].view(batch_size, length)


def _pieces(inputs, targets, n_steps):
    return list(zip(inputs.split(n_steps, 1), targets.split(n_steps, 1), strict=True))


@misconception(
    of="stream_batches",
    fails=CUT | GOES_ON | ROWS,
    seen="https://github.com/yikangshen/Ordered-Neurons/issues/13",
)
def windows_one_after_the_other_into_the_rows(tokens, batch_size, n_steps):
    """The text is cut into windows first, and consecutive windows become the rows of one batch.

    With the example's text, where does row 0 stop in your first piece and where does it begin in the second?
    What does the state of row 0 know about those words?
    """
    n_windows = (len(tokens) - 1) // n_steps
    inputs = tokens[: n_windows * n_steps].view(n_windows, n_steps)
    targets = tokens[1 : n_windows * n_steps + 1].view(n_windows, n_steps)
    return list(zip(inputs.split(batch_size), targets.split(batch_size), strict=True))


@misconception(of="stream_batches", fails=CUT | GOES_ON | NEXT)
def text_dealt_out_like_cards(tokens, batch_size, n_steps):
    """The words are dealt out to the rows in turn, so no row is a piece of text.

    Read row 0 of your first piece aloud. Which two sizes does your `reshape` get, and in which order does it
    fill the table?
    """
    length = (len(tokens) - 1) // batch_size
    n_read = batch_size * length
    inputs = tokens[:n_read].view(length, batch_size).T
    targets = tokens[1 : n_read + 1].view(length, batch_size).T.roll(-1, 0)
    return _pieces(inputs, targets, n_steps)


@misconception(of="stream_batches", fails=CUT | ROWS, seen="https://github.com/fastai/fastbook/pull/469")
def short_piece_dropped(tokens, batch_size, n_steps):
    """The last, shorter piece is left out, so the end of every stream is never read.

    Which words of the example occur in none of your pieces? May a network read a piece of two words?
    """
    pieces = _pieces(*_tables(tokens, batch_size), n_steps)
    return [piece for piece in pieces if piece[0].shape[1] == n_steps]


@misconception(of="stream_batches", fails=CUT | NEXT)
def last_target_wrapped_around(tokens, batch_size, n_steps):
    """The targets are the piece turned round by one, so the last target of a piece is its own first word.

    Which word follows the 3 in the example? Must a target come from the same piece as its input?
    """
    inputs, _ = _tables(tokens, batch_size)
    return [(piece, piece.roll(-1, 1)) for piece in inputs.split(n_steps, 1)]


@misconception(of="stream_batches", fails=CUT | NEXT)
def inputs_for_targets(tokens, batch_size, n_steps):
    """The target of a word is the word itself, which the network has just read.

    Print the first input and the first target. Which of the two does the network know when it predicts?
    """
    inputs, _ = _tables(tokens, batch_size)
    return _pieces(inputs, inputs, n_steps)


@misconception(of="stream_batches", fails=CUT | GOES_ON | ROWS)
def a_word_lost_at_each_border(tokens, batch_size, n_steps):
    """Each piece is one word too short, because its last word serves as a target only.

    After the input 2 comes the input 3 in the example. In which of your pieces is 3 an input?
    """
    inputs, _ = _tables(tokens, batch_size)
    return [(piece[:, :-1], piece[:, 1:]) for piece in inputs.split(n_steps, 1) if piece.shape[1] > 1]


@misconception(of="stream_batches", fails=CUT | ROWS)
def end_of_the_text_in_a_smaller_batch(tokens, batch_size, n_steps):
    """What is left at the end of the text becomes one more piece, with fewer rows than the others.

    Which of the B states shall go on with your last piece? How many rows has every other piece?
    """
    inputs, targets = _tables(tokens, batch_size)
    rest = tokens[inputs.numel() :][: n_steps + 1]
    pieces = _pieces(inputs, targets, n_steps)
    return [*pieces, (rest[None, :-1], rest[None, 1:])] if len(rest) > 1 else pieces


# 6. piece_gradients

SMALL = {"the_example_pieces_give_0_6610"}
THROUGH, ON = {"inside_a_piece_the_gradient_goes_all_the_way"}, {"the_state_goes_on"}
STOPS, NEW = {"the_gradient_stops_at_the_border"}, {"a_new_document_starts_from_nothing"}
OTHERS = {"other_pieces_agree_with_torch"}


def _fresh_rows(h, is_new):
    return torch.where(is_new[:, None], 0.0, h)


def _read(
    W, U, b, pieces, h_0, *, begin=_fresh_rows, after_step=lambda h: h, after_piece=torch.Tensor.detach
):
    U, results, h = U.clone().requires_grad_(), [], h_0
    for x, weighting, is_new in pieces:
        h, losses = begin(h, is_new), []
        for t in range(x.shape[1]):
            h = torch.tanh(x[:, t] @ W.T + after_step(h) @ U.T + b)
            losses.append((weighting[:, t] * h).sum())
        loss = sum(losses)
        [dU] = torch.autograd.grad(loss, U, retain_graph=after_piece is not torch.Tensor.detach)
        results.append((loss.detach(), dU))
        h = after_piece(h)
    return results


@misconception(
    of="piece_gradients",
    fails=SMALL | ON | STOPS | NEW | OTHERS,
    seen="https://github.com/yunjey/pytorch-tutorial/issues/90",
)
def state_not_detached(W, U, b, pieces, h_0):
    """The state keeps its past from piece to piece, so the second backward pass runs into the first piece.

    Torch says that it cannot go through a graph a second time. Which tensor of the second piece still hangs
    on the graph of the first, and what should it keep instead?
    """
    U, h, results = U.clone().requires_grad_(), h_0, []
    for x, weighting, is_new in pieces:
        h, loss = _fresh_rows(h, is_new), 0.0
        for t in range(x.shape[1]):
            h = torch.tanh(x[:, t] @ W.T + h @ U.T + b)
            loss = loss + (weighting[:, t] * h).sum()
        U.grad = None
        loss.backward()
        results.append((loss.detach(), U.grad.clone()))
    return results


@misconception(of="piece_gradients", fails=STOPS | OTHERS)
def graph_kept_instead_of_cut(W, U, b, pieces, h_0):
    """The graph of all pieces is kept, so every gradient runs back to the beginning of the text.

    `retain_graph=True` silences an error. What does it do to memory after a thousand pieces, and what was the
    error trying to say?
    """
    return _read(W, U, b, pieces, h_0, after_piece=lambda h: h)


@misconception(of="piece_gradients", fails=THROUGH | STOPS | OTHERS)
def detached_at_every_step(W, U, b, pieces, h_0):
    """The state loses its past at every step, so no gradient ever goes back in time.

    How far back does your gradient reach inside a piece of five words? In which of the two loops is the state
    detached?
    """
    return _read(W, U, b, pieces, h_0, after_step=torch.Tensor.detach)


@misconception(
    of="piece_gradients",
    fails=SMALL | ON | STOPS | NEW | OTHERS,
    seen="https://github.com/yikangshen/Ordered-Neurons/issues/13",
)
def every_piece_from_zeros(W, U, b, pieces, h_0):
    """The state is set to zeros before each piece, although the text goes on.

    What does your network know at the beginning of the second piece? What is `is_new` for?
    """
    return _read(W, U, b, pieces, h_0, after_piece=lambda h: torch.zeros_like(h))


@misconception(
    of="piece_gradients", fails=NEW | OTHERS, seen="https://github.com/karpathy/char-rnn/issues/78"
)
def state_carried_into_new_documents(W, U, b, pieces, h_0):
    """A new document begins with the state in which the old one ended.

    Two documents have nothing to do with each other. Where in your function is `is_new` read?
    """
    return _read(W, U, b, pieces, h_0, begin=lambda h, is_new: h)


@misconception(of="piece_gradients", fails=NEW | OTHERS)
def one_new_document_resets_all_rows(W, U, b, pieces, h_0):
    """As soon as one row begins a new document, all rows begin from zeros.

    Row 1 begins a new document and row 0 is in the middle of one. Which of the two states should be zeros?
    """
    return _read(W, U, b, pieces, h_0, begin=lambda h, is_new: torch.zeros_like(h) if is_new.any() else h)


@misconception(of="piece_gradients", fails=STOPS | OTHERS)
def gradients_added_up_over_pieces(W, U, b, pieces, h_0):
    """Each gradient contains those of all pieces before it, because nothing sets U.grad back.

    What does `backward()` do with what it finds in `.grad`? Is your second dU the sum of two?
    """
    total, results = torch.zeros_like(U), []
    for loss, dU in _read(W, U, b, pieces, h_0):
        total = total + dU
        results.append((loss, total))
    return results
