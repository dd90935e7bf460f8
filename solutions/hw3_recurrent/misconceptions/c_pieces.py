"""What goes wrong when a long text is read in pieces: streams, states, and where gradients stop."""

import torch

from autograder.catalogue import misconception

# 5. stream_batches


def _tables(tokens, batch_size):
    length = (len(tokens) - 1) // batch_size
    n_read = batch_size * length
    return tokens[:n_read].view(batch_size, length), tokens[1 : n_read + 1].view(batch_size, length)


def _pieces(inputs, targets, n_steps):
    return list(zip(inputs.split(n_steps, 1), targets.split(n_steps, 1), strict=True))


@misconception(of="stream_batches", seen="https://github.com/yikangshen/Ordered-Neurons/issues/13")
def windows_one_after_the_other_into_the_rows(tokens, batch_size, n_steps):
    """The text is cut into windows first, and consecutive windows become the rows of one batch.

    With the example's text, where does row 0 stop in your first piece and where does it begin in the second?
    What does the state of row 0 know about those words?
    """
    n_windows = (len(tokens) - 1) // n_steps
    inputs = tokens[: n_windows * n_steps].view(n_windows, n_steps)
    targets = tokens[1 : n_windows * n_steps + 1].view(n_windows, n_steps)
    return list(zip(inputs.split(batch_size), targets.split(batch_size), strict=True))


@misconception(of="stream_batches")
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


@misconception(of="stream_batches", seen="https://github.com/fastai/fastbook/pull/469")
def short_piece_dropped(tokens, batch_size, n_steps):
    """The last, shorter piece is left out, so the end of every stream is never read.

    Which words of the example occur in none of your pieces? May a network read a piece of two words?
    """
    pieces = _pieces(*_tables(tokens, batch_size), n_steps)
    return [piece for piece in pieces if piece[0].shape[1] == n_steps]


@misconception(of="stream_batches")
def piece_of_a_single_step_dropped(tokens, batch_size, n_steps):
    """A last piece of a single step is left out.

    If a stream has 11 words and a piece 5, what does the last piece hold? Where does your loop over the
    pieces end?
    """
    inputs, targets = _tables(tokens, batch_size)
    return [piece for piece in _pieces(inputs, targets, n_steps) if piece[0].shape[1] > 1 or n_steps == 1]


@misconception(of="stream_batches")
def last_target_wrapped_around(tokens, batch_size, n_steps):
    """The targets are the piece rotated by one, so the last target of a piece is its own first word.

    Which word follows the 3 in the example? Must a target come from the same piece as its input?
    """
    inputs, _ = _tables(tokens, batch_size)
    return [(piece, piece.roll(-1, 1)) for piece in inputs.split(n_steps, 1)]


@misconception(of="stream_batches")
def inputs_for_targets(tokens, batch_size, n_steps):
    """The target of a word is the word itself, which the network has just read.

    Print the first input and the first target. Which of the two does the network know when it predicts?
    """
    inputs, _ = _tables(tokens, batch_size)
    return _pieces(inputs, inputs, n_steps)


@misconception(of="stream_batches")
def a_word_lost_at_each_border(tokens, batch_size, n_steps):
    """Each piece is one word too short, because its last word serves as a target only.

    After the input 2 comes the input 3 in the example. In which of your pieces is 3 an input?
    """
    inputs, _ = _tables(tokens, batch_size)
    return [(piece[:, :-1], piece[:, 1:]) for piece in inputs.split(n_steps, 1) if piece.shape[1] > 1]


@misconception(of="stream_batches")
def end_of_the_text_in_a_smaller_batch(tokens, batch_size, n_steps):
    """What is left at the end of the text becomes one more piece, with fewer rows than the others.

    Which of the B states shall go on with your last piece? How many rows has every other piece?
    """
    inputs, targets = _tables(tokens, batch_size)
    rest = tokens[inputs.numel() :][: n_steps + 1]
    pieces = _pieces(inputs, targets, n_steps)
    return [*pieces, (rest[None, :-1], rest[None, 1:])] if len(rest) > 1 else pieces


@misconception(of="stream_batches")
def targets_cut_out_of_the_streams(tokens, batch_size, n_steps):
    """Streams of ⌊N / B⌋ words are cut first and the targets out of them, so streams begin elsewhere.

    How many words does a stream read in the example, and where does the second begin? Where is the target of
    a stream's last word, if not in the stream?
    """
    length = len(tokens) // batch_size
    table = tokens[: batch_size * length].view(batch_size, length)
    return _pieces(table[:, :-1], table[:, 1:], n_steps)


@misconception(of="stream_batches")
def rows_end_in_their_own_beginning(tokens, batch_size, n_steps):
    """The target of a stream's last word is the first word of the same stream.

    Which word follows 5 in the text of the example? What does `roll` put at the end of a row?
    """
    inputs, _ = _tables(tokens, batch_size)
    return _pieces(inputs, inputs.roll(-1, dims=1), n_steps)


@misconception(of="stream_batches")
def words_dealt_out_with_their_own_targets(tokens, batch_size, n_steps):
    """The words are dealt out to the rows in turn: each target is right, but no row is a piece of text.

    Read row 0 of your first piece aloud. Where in the text does its second word stand?
    """
    inputs, targets = _tables(tokens, batch_size)
    n_words = inputs.shape[1]
    dealt = [table.flatten().view(n_words, batch_size).T for table in (inputs, targets)]
    return _pieces(*dealt, n_steps)


@misconception(of="stream_batches")
def blocks_of_the_text_cut_into_rows(tokens, batch_size, n_steps):
    """Each piece is the next block of the text, cut into rows, so a row goes on where another row stopped.

    With the example's text, which word follows row 0 of your first piece, and in which row does it stand?
    """
    n_words = batch_size * n_steps
    starts = range(0, len(tokens) - n_words, n_words)
    blocks = [(tokens[k : k + n_words], tokens[k + 1 : k + n_words + 1]) for k in starts]
    return [(a.view(batch_size, n_steps), b.view(batch_size, n_steps)) for a, b in blocks]


@misconception(of="stream_batches")
def pieces_overlap(tokens, batch_size, n_steps):
    """Each piece begins one word after the one before it, so nearly every word is read several times.

    How often does the word 3 of the example occur among your inputs? By how many words does your loop
    move on?
    """
    inputs, targets = _tables(tokens, batch_size)
    starts = range(inputs.shape[1] - n_steps + 1)
    return [(inputs[:, k : k + n_steps], targets[:, k : k + n_steps]) for k in starts]


@misconception(of="stream_batches")
def targets_run_out_before_the_inputs(tokens, batch_size, n_steps):
    """Streams of ⌊N / B⌋ words are cut first; at their end an input has no target left.

    How many inputs and how many targets has your last piece? Where is the target of a stream's last word?
    """
    length = len(tokens) // batch_size
    table = tokens[: batch_size * length].view(batch_size, length)
    starts = range(0, length - 1, n_steps)
    return [(table[:, k : k + n_steps], table[:, k + 1 : k + 1 + n_steps]) for k in starts]


@misconception(of="stream_batches")
def streams_of_all_words(tokens, batch_size, n_steps):
    """Each stream is ⌊N / B⌋ words long, as if the last word of the text had a target.

    How many words of the example can be predicted from the one before, and how many does each stream get?
    """
    length = len(tokens) // batch_size
    tables = [each[: batch_size * length].view(batch_size, length) for each in (tokens, tokens.roll(-1))]
    return _pieces(*tables, n_steps)


# 6. piece_gradients


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


@misconception(of="piece_gradients", seen="https://github.com/yunjey/pytorch-tutorial/issues/90")
def state_not_detached(W, U, b, pieces, h_0):
    """The second backward pass runs into the first piece: the state, or a loss that grows, keeps its past.

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


@misconception(of="piece_gradients")
def graph_kept_instead_of_cut(W, U, b, pieces, h_0):
    """The graph of all pieces is kept, so every gradient runs back to the beginning of the text.

    `retain_graph=True` silences an error. What does it do to memory after a thousand pieces, and what was the
    error trying to say?
    """
    return _read(W, U, b, pieces, h_0, after_piece=lambda h: h)


@misconception(of="piece_gradients")
def detached_at_every_step(W, U, b, pieces, h_0):
    """The state loses its past at every step, so no gradient ever goes back in time.

    How far back does your gradient reach inside a piece of five words? In which of the two loops is the state
    detached?
    """
    return _read(W, U, b, pieces, h_0, after_step=torch.Tensor.detach)


@misconception(of="piece_gradients", seen="https://github.com/yikangshen/Ordered-Neurons/issues/13")
def every_piece_from_zeros(W, U, b, pieces, h_0):
    """The state is set to zeros before each piece, although the text goes on.

    What does your network know at the beginning of the second piece? What is `is_new` for?
    """
    return _read(W, U, b, pieces, h_0, after_piece=lambda h: torch.zeros_like(h))


@misconception(of="piece_gradients", seen="https://github.com/karpathy/char-rnn/issues/78")
def state_carried_into_new_documents(W, U, b, pieces, h_0):
    """A new document begins with the state in which the old one ended.

    Two documents have nothing to do with each other. Where in your function is `is_new` read?
    """
    return _read(W, U, b, pieces, h_0, begin=lambda h, is_new: h)


@misconception(of="piece_gradients")
def one_new_document_resets_all_rows(W, U, b, pieces, h_0):
    """As soon as one row begins a new document, all rows begin from zeros.

    Row 1 begins a new document and row 0 is in the middle of one. Which of the two states should be zeros?
    """
    return _read(W, U, b, pieces, h_0, begin=lambda h, is_new: torch.zeros_like(h) if is_new.any() else h)


@misconception(of="piece_gradients")
def gradients_added_up_over_pieces(W, U, b, pieces, h_0):
    """Each gradient contains those of all pieces before it, because nothing sets U.grad back.

    What does `backward()` do with what it finds in `.grad`? Is your second dU the sum of two?
    """
    total, results = torch.zeros_like(U), []
    for loss, dU in _read(W, U, b, pieces, h_0):
        total = total + dU
        results.append((loss, total))
    return results


def _first_states_for(rows, h_0):
    return lambda h, is_new: torch.where(rows(is_new)[:, None], h_0, h)


@misconception(of="piece_gradients")
def new_documents_from_h_0(W, U, b, pieces, h_0):
    """A new document begins with h_0, which belongs to the beginning of another text.

    From which state does the statement let a new document begin? What has h_0 read?
    """
    return _read(W, U, b, pieces, h_0, begin=_first_states_for(lambda is_new: is_new, h_0))


@misconception(of="piece_gradients")
def every_piece_from_h_0(W, U, b, pieces, h_0):
    """Every piece begins with h_0 again, although the text goes on.

    Which state does your network have before the first word of the second piece, and which words has it read?
    """
    return _read(W, U, b, pieces, h_0, begin=_first_states_for(torch.ones_like, h_0))


@misconception(of="piece_gradients")
def rows_that_go_on_set_to_zeros(W, U, b, pieces, h_0):
    """The rows that go on are set to zeros, and those that begin a new document keep their state.

    In your `torch.where`, which of the two values does a row with True in `is_new` get?
    """
    return _read(W, U, b, pieces, h_0, begin=lambda h, is_new: torch.where(is_new[:, None], h, 0.0))


@misconception(of="piece_gradients")
def loss_of_the_last_step_only(W, U, b, pieces, h_0):
    """The loss of a piece is that of its last step.

    How many states does the sum of the statement run over, and how many enter your loss?
    """
    last = [(x, torch.cat([0 * each[:, :-1], each[:, -1:]], dim=1), new) for x, each, new in pieces]
    return _read(W, U, b, last, h_0)


@misconception(of="piece_gradients")
def means_for_sums(W, U, b, pieces, h_0):
    """The loss of each step is averaged, where the statement sums over everything.

    By how many numbers do you divide? Would two pieces of different size still add up to the whole text?
    """
    scaled = [(x, each / each[:, 0].numel(), is_new) for x, each, is_new in pieces]
    return _read(W, U, b, scaled, h_0)


@misconception(of="piece_gradients")
def one_tensor_for_all_gradients(W, U, b, pieces, h_0):
    """All pieces return one and the same tensor, `U.grad`, which later pieces add to.

    After three pieces, look at the first dU that you stored. When did it change?
    """
    results = _read(W, U, b, pieces, h_0)
    total = sum(dU for _, dU in results)
    return [(loss, total) for loss, _ in results]


@misconception(of="piece_gradients")
def zeros_written_into_h_0(W, U, b, pieces, h_0):
    """The zeros for new documents are written into the tensor h_0 that was handed in.

    Print h_0 before and after a call whose first piece begins a document. Does `detach` make a copy?
    """
    h_0[pieces[0][2]] = 0.0
    return _read(W, U, b, pieces, h_0)


@misconception(of="piece_gradients")
def one_tensor_emptied_for_each_piece(W, U, b, pieces, h_0):
    """All pieces return one and the same tensor, `U.grad`, so each of them shows the last gradient.

    After two pieces, look at the first dU that you stored. When did it change, and what would keep it?
    """
    results = _read(W, U, b, pieces, h_0)
    return [(loss, results[-1][1]) for loss, _ in results]
