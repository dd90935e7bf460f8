# %% [markdown]
# ## Part C. Long texts in pieces

# %% [markdown] exercise="stream_batches" difficulty=2 minutes=15
# ### 5. A long text as B streams
#
# A text of a million words is too long for one backward pass, and read word by word it is slow. So it is cut
# into B **streams** that are read side by side, and the streams are cut into **pieces**. Row k of the batch is
# stream k, from the first piece to the last: where row k stops in one piece, it goes on in the next. Only then
# does a state that is handed on belong to the text that follows.
#
# Write `stream_batches(tokens, batch_size, n_steps)`. `tokens` is the text, (N,) int64. Each stream reads
# $T = \lfloor (N - 1) / B \rfloor$ words: stream k reads the words k·T, …, k·T + T − 1, and predicts at each
# of them the word that comes next in the text. What is left at the end of the text is not used. Return a list
# of tuples `(inputs, targets)`, each tensor (B, `n_steps`), in the order of reading; the last piece may be
# shorter, but it has all B rows.
#
# **Example.** The text 0, 1, …, 13 with `batch_size = 2` and `n_steps = 4`: $T = 6$, the streams read 0…5 and
# 6…11, and the word 13 is never used. The pieces are
#
# | inputs | targets |
# |---|---|
# | `[[0, 1, 2, 3], [6, 7, 8, 9]]` | `[[1, 2, 3, 4], [7, 8, 9, 10]]` |
# | `[[4, 5], [10, 11]]` | `[[5, 6], [11, 12]]` |
#
# <details><summary>Hint 1</summary>
#
# Lay the text out as a table with one row per stream first, (B, T), once for the inputs and once for the
# targets. Cut the tables afterwards.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The targets are the same cut of the text, one word later. The target of the last word of stream 0 is the
# first word of stream 1.
#
# </details>


# %% solution="stream_batches"
def stream_batches(tokens: Tensor, batch_size: int, n_steps: int) -> list[tuple[Tensor, Tensor]]:
    """Pieces of `batch_size` streams of a text (N,): inputs and targets, (B, n_steps) each, in order."""
    ### BEGIN SOLUTION
    length = (len(tokens) - 1) // batch_size
    n_read = batch_size * length
    inputs = tokens[:n_read].reshape(batch_size, length)
    targets = tokens[1 : n_read + 1].reshape(batch_size, length)
    pieces = zip(inputs.split(n_steps, dim=1), targets.split(n_steps, dim=1), strict=True)
    return list(pieces)
    ### END SOLUTION


# %% check="the_example_text_makes_two_pieces" points=1
def the_example_text_makes_two_pieces(stream_batches):
    """The text of the example makes the two pieces of the table."""
    pieces = stream_batches(torch.arange(14), 2, 4)
    assert_equal(len(pieces), 2, what="the number of pieces")
    expected = (([[0, 1, 2, 3], [6, 7, 8, 9]], [[1, 2, 3, 4], [7, 8, 9, 10]]),)
    expected += (([[4, 5], [10, 11]], [[5, 6], [11, 12]]),)
    for (inputs, targets), (own_inputs, own_targets) in zip(pieces, expected, strict=True):
        assert_equal(inputs, torch.tensor(own_inputs), what="inputs")
        assert_equal(targets, torch.tensor(own_targets), what="targets")
    pieces = stream_batches(100 + torch.arange(14), 2, 4)
    assert_equal(len(pieces), 2, what="the number of pieces of another text")
    assert_equal(pieces[0][0], 100 + torch.tensor(expected[0][0]), what="its first inputs")


# %% check="a_row_goes_on_where_it_stopped" points=1
def a_row_goes_on_where_it_stopped(stream_batches, draw):
    """When the text counts upwards, each row of a piece begins one above its end in the piece before."""
    start = draw.integers(0, 90)
    pieces = stream_batches(torch.arange(start, start + 37), 3, 4)  # 12 words for each stream
    assert_true(len(pieces) > 1, "There is only one piece.")
    for (before, _), (after, _) in pairwise(pieces):
        assert_equal(after[:, 0], before[:, -1] + 1)


# %% check="the_target_is_the_next_word" points=1
def the_target_is_the_next_word(stream_batches, draw):
    """When the text counts upwards, each target is one above its input, at the end of a row too."""
    start = draw.integers(0, 90)
    pieces = stream_batches(torch.arange(start, start + 37), 3, 4)
    assert_true(len(pieces) > 0, "There is no piece.")
    for inputs, targets in pieces:
        assert_equal(targets, inputs + 1)


# %% check="every_piece_has_all_rows" points=1
def every_piece_has_all_rows(stream_batches, draw):
    """3 streams of 11 words in pieces of 5 are pieces of 5, 5 and 1 steps, whether 34, 35 or 36 words are there."""
    for n_words in (34, 35, 36):
        pieces = stream_batches(draw.integers(0, 50, n_words), 3, 5)
        shapes = [list(inputs.shape) for inputs, _ in pieces]
        assert_equal(shapes, [[3, 5], [3, 5], [3, 1]], what=f"the shapes for {n_words} words")


# %% check="other_texts_are_cut_into_streams" points=2 hidden
def other_texts_are_cut_into_streams(stream_batches, draw):
    """Other texts make, with other sizes, exactly the pieces they should."""
    for n_words, batch_size, n_steps in ((44, 3, 5), (30, 4, 2), (24, 2, 4)):
        tokens = (draw.integers(3, 9) + 7 * torch.arange(n_words)) % 1009
        length, pieces = (n_words - 1) // batch_size, stream_batches(tokens, batch_size, n_steps)
        assert_equal(len(pieces), math.ceil(length / n_steps), what="the number of pieces")
        for i, (inputs, targets) in enumerate(pieces):
            rows = [
                [
                    (k * length + t, k * length + t + 1)
                    for t in range(i * n_steps, min((i + 1) * n_steps, length))
                ]
                for k in range(batch_size)
            ]
            places = torch.tensor(rows)  # (B, n_steps, 2)
            assert_equal(inputs, tokens[places[..., 0]], what="inputs")
            assert_equal(targets, tokens[places[..., 1]], what="targets")


# %% [markdown] exercise="piece_gradients" difficulty=3 minutes=30 forbids="torch.nn.RNN,torch.nn.RNNCell,torch.rnn_tanh,torch.rnn_tanh_cell,torch_rnn,by_torch"
# ### 6. Truncated backpropagation through time
#
# Between two pieces the **state** is handed on, so the network reads the text as a whole. The **gradient**
# stops there: the loss of a piece is differentiated through the steps of this piece and no further. Inside the
# piece it goes all the way. Where a row begins a new document, its state starts from zeros again, and the
# other rows continue.
#
# Write `piece_gradients(W, U, b, pieces, h_0)`, for the step of exercise 1. `pieces` is a list of tuples
# `(x, weighting, is_new)`:
#
# | name | shape | meaning |
# |---|---|---|
# | `x` | (B, T, d_input) | the words of this piece; T may differ from piece to piece |
# | `weighting` | (B, T, D) | the loss of the piece is $\sum$ `weighting` · `states`, summed over everything |
# | `is_new` | (B,), bool | which rows begin a new document with this piece |
#
# `h_0` (B, D) is the state before the first piece. Return a list with a tuple `(loss, dU)` for each piece, in
# order: its loss, and $\partial\,\text{loss} / \partial \mathbf U$ through this piece alone, (D, D). The
# weights stay as they are. Autograd is welcome: `torch.autograd.grad`, or `backward`.
#
# **Example.** One row, everything one number wide, $W = 1$, $U = 0.5$, $b = 0$, $h_0 = 0$; two pieces of one
# word each, $x = 1$ and then $x = 0$, both weightings 1. The first loss is $\tanh 1 \approx 0.7616$ with $dU
# = 0$. The second is $\tanh(0.5 \cdot 0.7616) \approx 0.3634$ with $dU = (1 - 0.3634^2) \cdot 0.7616 \approx
# 0.6610$. If the second piece begins a new document, both its numbers are 0.
#
# <details><summary>Hint 1</summary>
#
# A copy of `U` with `requires_grad_()` is a leaf of your own. At the end of a piece, which method makes of the
# last state a tensor that remembers its numbers and not where they came from?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Write the two loops first: pieces outside, steps inside. In which of the two does the state lose its past?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `torch.where(is_new[:, None], 0.0, h)` looks at each row by itself.
#
# </details>


# %% solution="piece_gradients"
def piece_gradients(
    W: Tensor, U: Tensor, b: Tensor, pieces: list[tuple[Tensor, Tensor, Tensor]], h_0: Tensor
) -> list[tuple[Tensor, Tensor]]:
    """(loss, ∂loss/∂U) of each piece; the state goes on from piece to piece, the gradient does not."""
    ### BEGIN SOLUTION
    U = U.clone().requires_grad_()
    h, results = h_0, []
    for x, weighting, is_new in pieces:
        h, loss = torch.where(is_new[:, None], 0.0, h), 0.0
        for x_t, weighting_t in zip(x.unbind(1), weighting.unbind(1), strict=True):
            h = torch.tanh(x_t @ W.T + h @ U.T + b)
            loss = loss + (weighting_t * h).sum()
        [dU] = torch.autograd.grad(loss, U)
        results.append((loss.detach(), dU))
        h = h.detach()
    return results
    ### END SOLUTION


# %% provided="pieces" helper
def three_pieces(draw, batch_size, lengths, d_input, d_hidden, is_new):
    """Weights, pieces and a first state; `is_new` lists, for each piece, the rows that begin a document."""
    pieces = []
    for length, rows in zip(lengths, is_new, strict=True):
        new = torch.tensor([row in rows for row in range(batch_size)])
        x, weighting = draw.normal(batch_size, length, d_input), draw.normal(batch_size, length, d_hidden)
        pieces.append((x, weighting, new))
    return rnn_weights(draw, d_input, d_hidden) | {"pieces": pieces, "h_0": draw.normal(batch_size, d_hidden)}


def by_torch(W, U, b, pieces, h_0):
    """(loss, ∂loss/∂U) of each piece by torch's own layer, which cannot look behind its first state."""
    layer, h, results = torch_rnn(W, U, b), h_0, []
    for x, weighting, begins in pieces:
        states, last = layer(x, (h * ~begins[:, None])[None])
        layer.zero_grad()
        loss = (states * weighting).sum()
        loss.backward()
        results.append((loss.detach(), layer.weight_hh_l0.grad.clone()))
        h = last[0].detach()
    return results


# %% check="the_example_pieces_give_0_6610" points=1
def the_example_pieces_give_0_6610(piece_gradients):
    """The two pieces of the example have the losses 0.7616 and 0.3634 and the gradients 0 and 0.6610."""
    one, goes_on = numbers([[1.0]]), torch.tensor([False])
    pieces = [(one, one, goes_on), (0 * one, one, goes_on)]
    own = piece_gradients(one[0], one[0] / 2, torch.zeros(1).double(), pieces, 0 * one[0])
    first, second = math.tanh(1), math.tanh(math.tanh(1) / 2)
    assert_close(own[0][0], first, what="the first loss")
    assert_close(own[1][0], second, what="the second loss")
    assert_close(own[0][1], numbers([0.0]), what="the first dU")
    assert_close(own[1][1], numbers([(1 - second**2) * first]), what="the second dU")


# %% check="inside_a_piece_the_gradient_goes_all_the_way" points=1
def inside_a_piece_the_gradient_goes_all_the_way(piece_gradients, draw):
    """The gradient of the first piece is that of torch's layer, through all five of its steps."""
    known = three_pieces(draw, 2, (5,), 3, 4, [()])
    [(loss, dU)] = piece_gradients(**known)
    [(expected_loss, expected_dU)] = by_torch(**known)
    assert_close(loss, expected_loss, what="the loss")
    assert_close(dU, expected_dU, what="the gradient dU")


# %% check="the_state_goes_on" points=1
def the_state_goes_on(piece_gradients, draw):
    """The losses of three pieces add up to the loss of the whole text."""
    known = three_pieces(draw, 2, (2, 4, 3), 3, 5, [(), (), ()])
    whole = tuple(
        torch.cat(parts, dim=1) for parts in zip(*[piece[:2] for piece in known["pieces"]], strict=True)
    )
    [(expected, _)] = by_torch(**known | {"pieces": [(*whole, known["pieces"][0][2])]})
    assert_close(sum(loss for loss, _ in piece_gradients(**known)), expected)


# %% check="the_gradient_stops_at_the_border" points=1
def the_gradient_stops_at_the_border(piece_gradients, draw):
    """The gradient of the third piece is the one with the state before it held fixed."""
    known = three_pieces(draw, 2, (2, 4, 3), 3, 5, [(), (), ()])
    assert_close(piece_gradients(**known)[2][1], by_torch(**known)[2][1])


# %% check="a_new_document_starts_from_nothing" points=1
def a_new_document_starts_from_nothing(piece_gradients, draw):
    """A row that begins a new document, in the first piece too, knows nothing of before; the other rows carry on."""
    known = three_pieces(draw, 3, (2, 4), 2, 5, [(2,), (1,)])
    own, expected = piece_gradients(**known), by_torch(**known)
    assert_close(own[0][0], expected[0][0], what="the loss of the first piece")
    assert_close(own[1][0], expected[1][0], what="the loss of the second piece")


# %% check="other_pieces_agree_with_torch" points=3 hidden
def other_pieces_agree_with_torch(piece_gradients, draw):
    """Other pieces, with new documents here and there, agree with torch's own layer."""
    for sizes, is_new in (((3, (4, 2, 5), 2, 4), [(), (2,), (0,)]), ((2, (3, 3, 1), 5, 3), [(0,), (), (1,)])):
        known = three_pieces(draw, *sizes, is_new)
        pairs = zip(piece_gradients(**known), by_torch(**known), strict=True)
        for i, ((loss, dU), (expected_loss, expected_dU)) in enumerate(pairs):
            assert_close(loss, expected_loss, what=f"the loss of piece {i}")
            assert_close(dU, expected_dU, what=f"the gradient dU of piece {i}")
