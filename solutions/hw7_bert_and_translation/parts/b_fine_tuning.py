# %% [markdown]
# ## Part B. Putting an encoder to use
#
# A pre-trained encoder gives one vector per token. What is put on top is small: one vector for the whole
# sequence and a classifier, or a decision per word, or two scores per position for where an answer begins and
# ends. In this part `hidden` is what the encoder gave, (B, T, D), and `mask`, (B, T), is True at real tokens.

# %% [markdown] exercise="first_token" difficulty=1 minutes=10 forbids="course.models"
# ### 6. The vector of `<cls>`
#
# BERT puts `<cls>` in front of every text, where part A has `<s>`, and its vector stands for the whole. Sequences are padded on the
# right by some programs and on the left by others. Write `first_token(hidden, mask)`, which returns the
# vector of the first **real** token of each sequence, (B, D), wherever the padding is.
#
# **Example.** Two sequences of four vectors of one number each, `hidden = [[[1], [2], [3], [4]], [[5], [6], [7],
# [8]]]`, and `mask = [[False, True, True, True], [True, True, False, False]]` give `[[2], [5]]`.
#
# <details><summary>Hint 1</summary>
#
# For each row of the mask you need the place of the first True. What is `mask.int().argmax(dim=1)`?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `hidden[rows, places]` with two tensors of shape (B,) takes one vector from each sequence.
#
# </details>


# %% solution="first_token"
def first_token(hidden: Tensor, mask: Tensor) -> Tensor:
    """The vector of the first real token of each sequence: (B, T, D) → (B, D)."""
    ### BEGIN SOLUTION
    places = mask.int().argmax(dim=1)  # (B,)
    return hidden[torch.arange(len(hidden)), places]
    ### END SOLUTION


# %% check="the_example_takes_2_and_5" points=1
def the_example_takes_2_and_5(first_token):
    """The first real tokens of the example have the vectors (2) and (5), and gradients flow back."""
    hidden = torch.arange(1.0, 9.0, dtype=torch.float64).reshape(2, 4, 1)
    mask = torch.tensor([[False, True, True, True], [True, True, False, False]])
    answer = first_token(hidden, mask)
    assert_close(answer, torch.tensor([[2.0], [5.0]], dtype=torch.float64))
    assert_differentiable(first_token, hidden, mask)


# %% check="with_padding_on_the_right_it_is_position_0" points=1
def with_padding_on_the_right_it_is_position_0(first_token, draw):
    """With padding on the right, or none, the first token is at position 0; so is the only one."""
    hidden = draw.normal(3, 5, 4)
    mask = torch.arange(5) < torch.tensor([[5], [1], [3]])
    answer = first_token(hidden, mask)
    alone = first_token(hidden[:, :1].contiguous(), mask[:, :1].contiguous())
    assert_close(answer, hidden[:, 0])
    assert_close(alone, hidden[:, 0], what="texts of one token")


# %% check="more_padding_on_the_left_changes_nothing" points=1
def more_padding_on_the_left_changes_nothing(first_token, draw):
    """Three positions of padding put in front of every sequence leave the answer as it is."""
    hidden, mask = draw.normal(4, 5, 6), torch.arange(5) >= torch.tensor([[1], [0], [2], [3]])
    answer = first_token(hidden, mask)
    wider = torch.cat([draw.normal(4, 3, 6), hidden], dim=1)
    padded = torch.cat([torch.zeros(4, 3, dtype=torch.bool), mask], dim=1)
    assert_close(first_token(wider, padded), answer)
    assert_depends(answer, first_token(hidden + 1, mask))


# %% check="other_sequences_have_their_first_token" points=1 hidden
def other_sequences_have_their_first_token(first_token, draw):
    """Other sequences, padded on either side, give the vector of their first token."""
    for batch_size, length, d_model in ((4, 7, 3), (5, 6, 8)):
        hidden, starts = draw.normal(batch_size, length, d_model), draw.integers(1, length - 2, batch_size)
        starts[0] = 0
        ends = torch.full((batch_size,), length)
        ends[:2] = length - 2
        steps = torch.arange(length)
        mask = (steps >= starts[:, None]) & (steps < ends[:, None])
        expected = torch.stack([hidden[row, start] for row, start in enumerate(starts.tolist())])
        assert_close(first_token(hidden, mask), expected)


# %% [markdown] exercise="mean_of_tokens" bonus difficulty=1 minutes=10 forbids="course.models"
# ### 7. The mean of the real tokens (bonus)
#
# Another vector for a whole sequence is the mean over its tokens. Write `mean_of_tokens(hidden, mask)`, (B, D):
# the mean of `hidden` over the positions where `mask` is True. Every sequence has at least one. What stands at
# padded positions may be anything, even infinite, and must not be noticed.
#
# **Example.** `hidden = [[[1, 2], [3, 4], [100, 100]]]` with `mask = [[True, True, False]]` gives `[[2, 3]]`.
#
# <details><summary>Hint 1</summary>
#
# You need a sum over the real positions and their number, one for each sequence. What shape must the number
# have to divide (B, D)?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# What is 0 · ∞? `masked_fill` and `torch.where` put a number in place of another without any arithmetic.
#
# </details>


# %% solution="mean_of_tokens"
def mean_of_tokens(hidden: Tensor, mask: Tensor) -> Tensor:
    """The mean vector of the real tokens of each sequence: (B, T, D) → (B, D)."""
    ### BEGIN SOLUTION
    total = hidden.masked_fill(~mask[..., None], 0.0).sum(dim=1)  # (B, D)
    return total / mask.sum(dim=1, keepdim=True)
    ### END SOLUTION


# %% check="the_example_has_the_mean_2_3" points=1
def the_example_has_the_mean_2_3(mean_of_tokens):
    """The two real tokens of the example have the mean (2, 3), and gradients flow back."""
    hidden = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [100.0, 100.0]]], dtype=torch.float64)
    answer = mean_of_tokens(hidden, torch.tensor([[True, True, False]]))
    assert_close(answer, torch.tensor([[2.0, 3.0]], dtype=torch.float64))
    assert_differentiable(mean_of_tokens, hidden, torch.tensor([[True, True, False]]))


# %% check="equal_tokens_have_themselves_as_mean" points=1
def equal_tokens_have_themselves_as_mean(mean_of_tokens, draw):
    """Where all tokens of a sequence have the same vector, 0 too, that is the mean, however long it is."""
    vectors, mask = draw.normal(4, 4), torch.arange(5) < torch.tensor([[2], [5], [1], [3]])
    vectors[3] = 0.0
    hidden = torch.where(mask[..., None], vectors[:, None], 0.0)
    assert_close(mean_of_tokens(hidden, mask), vectors)


# %% check="infinite_padding_is_not_noticed" points=1
def infinite_padding_is_not_noticed(mean_of_tokens, draw):
    """Padding of any value, infinite too, leaves the mean as it is."""
    hidden, mask = draw.normal(3, 5, 4), torch.arange(5) >= torch.tensor([[2], [0], [4]])
    answer = mean_of_tokens(hidden.masked_fill(~mask[..., None], 0.0), mask)
    for padding in (7.0, math.inf):
        assert_close(mean_of_tokens(hidden.masked_fill(~mask[..., None], padding), mask), answer)
    assert_depends(answer, mean_of_tokens(hidden + 1, mask))


# %% check="other_sequences_have_their_mean" points=1 hidden
def other_sequences_have_their_mean(mean_of_tokens, draw):
    """Other sequences, of very different lengths, have the mean of their tokens."""
    for batch_size, length, d_model in ((4, 7, 3), (3, 9, 5)):
        hidden, lengths = draw.normal(batch_size, length, d_model), draw.integers(2, length, batch_size)
        lengths[0], lengths[1] = 1, length
        mask = torch.arange(length) < lengths[:, None]
        expected = torch.stack([hidden[row, :n].mean(0) for row, n in enumerate(lengths.tolist())])
        padded = hidden.masked_fill(~mask[..., None], -math.inf)
        assert_close(mean_of_tokens(padded, mask), expected)


# %% [markdown] exercise="ClassifierHead" difficulty=2 minutes=10 forbids="course.models" dtype="float64"
# ### 8. A head that decides
#
# What BERT puts on the vector $h$ of `<cls>` is a small network:
#
# $$\mathbf p = \tanh(\mathbf W_{\text{pool}} \mathbf h + \mathbf b_{\text{pool}}) \qquad
# \mathbf z = \mathbf W \mathbf p + \mathbf b$$
#
# Write the class `ClassifierHead`, an `nn.Module`:
#
# - `ClassifierHead(d_model, n_classes)` has the parameters `W_pool` (D, D), `b_pool` (D,), `W` (classes, D)
#   and `b` (classes,), float64, filled however you like.
# - `forward(h)` takes (B, D) and returns the logits $z$, (B, classes).
#
# **Example.** $D = 2$, one class: `W_pool = [[0, 1], [2, 0]]`, `b_pool = [0, 1]`, `W = [[1, 2]]`, `b = [3]`.
# For $h = (0.5, -0.5)$, $p = (\tanh -0.5, \tanh 2)$ and $z \approx -0.4621 + 2 · 0.9640 + 3 = 4.4659$.
#
# <details><summary>Hint 1</summary>
#
# For rows of vectors, $W h$ is `h @ W.T`.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Every parameter must get a gradient. If one gets none, the forward pass does not use it; compare its name in
# `__init__` with its name in `forward`, letter by letter.
#
# </details>


# %% solution="ClassifierHead"
class ClassifierHead(nn.Module):
    """Logits W tanh(W_pool h + b_pool) + b; parameters W_pool (D, D), b_pool (D,), W (classes, D), b."""

    def __init__(self, d_model: int, n_classes: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.W_pool = nn.Parameter(torch.randn(d_model, d_model, dtype=torch.float64) / d_model)
        self.b_pool = nn.Parameter(torch.zeros(d_model, dtype=torch.float64))
        self.W = nn.Parameter(torch.randn(n_classes, d_model, dtype=torch.float64) / d_model)
        self.b = nn.Parameter(torch.zeros(n_classes, dtype=torch.float64))
        ### END SOLUTION

    def forward(self, h: Tensor) -> Tensor:
        """The logits (B, classes) for vectors (B, D)."""
        ### BEGIN SOLUTION
        pooled = torch.tanh(h @ self.W_pool.T + self.b_pool)  # (B, D)
        return pooled @ self.W.T + self.b  # (B, classes)
        ### END SOLUTION


# %% provided="assert_made_in_float64" helper
def assert_made_in_float64(module, weights):
    """The parameters of a new module are float64. Known weights are loaded: no draw of new ones matters."""
    module.load_state_dict(weights, strict=False)  # a module may have buffers of its own
    assert_dtype(module.parameters(), torch.float64, what="a parameter")


# %% provided="head_weights" helper
def head_weights(draw, d_model, n_classes):
    """Random parameters of a classifier head, by name."""
    return {
        "W_pool": draw.normal(d_model, d_model),
        "b_pool": draw.normal(d_model),
        "W": draw.normal(n_classes, d_model),
        "b": draw.normal(n_classes),
    }


# %% check="the_example_has_the_logit_4_4659" points=1
def the_example_has_the_logit_4_4659(ClassifierHead):
    """The vector of the example has the logit -tanh 0.5 + 2 tanh 2 + 3; in float64, gradients flow back."""
    weights = {"W_pool": [[0.0, 1.0], [2.0, 0.0]], "b_pool": [0.0, 1.0], "W": [[1.0, 2.0]], "b": [3.0]}
    weights = {name: torch.tensor(weight, dtype=torch.float64) for name, weight in weights.items()}
    head, h = with_weights(ClassifierHead(2, 1), weights), torch.tensor([[0.5, -0.5]], dtype=torch.float64)
    answer = head(h)
    expected = -math.tanh(0.5) + 2 * math.tanh(2.0) + 3
    assert_close(answer, torch.tensor([[expected]], dtype=torch.float64))
    assert_made_in_float64(ClassifierHead(2, 1), weights)
    assert_differentiable(head, h)


# %% check="the_pooling_is_bounded_by_one" points=1
def the_pooling_is_bounded_by_one(ClassifierHead, draw):
    """Of a huge vector each logit is a sum of its row of W with signs, plus b: tanh has ended at ±1."""
    weights, h = head_weights(draw, 5, 3), 1e6 * draw.normal(2, 5)
    head = with_weights(ClassifierHead(5, 3), weights)
    signs = torch.stack([(weights["W_pool"] * row).sum(1).sign() for row in h])
    expected = torch.stack([(weights["W"] * row).sum(1) + weights["b"] for row in signs])
    assert_close(head(h), expected)


# %% check="every_parameter_gets_a_gradient" points=1
def every_parameter_gets_a_gradient(ClassifierHead, draw):
    """The four parameters, and no others, get a gradient that is not zero."""
    head = with_weights(ClassifierHead(5, 3), head_weights(draw, 5, 3))
    (head(draw.normal(4, 5)) * draw.normal(4, 3)).sum().backward()
    gradients = head.gradients()
    assert_equal({*gradients}, {"W", "W_pool", "b", "b_pool"}, what="the parameters")
    for name, gradient in gradients.items():
        assert_true(gradient is not None and bool((gradient != 0).any()), f"{name} gets no gradient.")


# %% check="other_heads_have_their_logits_and_gradients" points=2 hidden
def other_heads_have_their_logits_and_gradients(ClassifierHead, draw):
    """Heads of other sizes have the logits of the formula, and its gradients."""
    for d_model, n_classes, batch_size in ((4, 7, 3), (6, 2, 5)):
        weights, h = head_weights(draw, d_model, n_classes), draw.normal(batch_size, d_model) / 2
        head = with_weights(ClassifierHead(d_model, n_classes), weights)
        own = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
        pooled = functional.linear(h, own["W_pool"], own["b_pool"]).tanh()
        expected, logits = functional.linear(pooled, own["W"], own["b"]), head(h)
        assert_close(logits, expected.detach(), what="logits")
        weighting = draw.normal(batch_size, n_classes)
        (logits * weighting).sum().backward()
        (expected * weighting).sum().backward()
        gradients = head.gradients()
        for name, weight in own.items():
            assert_close(gradients[name], weight.grad, what=f"the gradient of {name}")


# %% [markdown] exercise="tags_of_words" bonus difficulty=2 minutes=10 forbids="course.models"
# ### 9. One tag for each word (bonus)
#
# A tagger decides for every token, but a word may have been cut into several pieces, and special tokens may stand
# around the sentence: none, one or several on each side. Usually the **first piece** speaks for its word, in training and at inference.
#
# Write `tags_of_words(logits, word_of_piece)` for one sentence: `logits` is (T, tags), one row per piece and one
# column per tag, and `word_of_piece`, (T,) int64, says which word a piece belongs to: 0, 1, 2 … in order, and
# −1 for special tokens. Return the tags of the words, (words,) int64, in order: the column with the largest logit
# in the row of the word's first piece.
#
# **Example.** The pieces `<s> new york er s </s>` belong to the words `[-1, 0, 1, 1, 1, -1]`. With the largest
# logits in columns 4, 2, 3, 0, 1, 4 the two words have the tags `[2, 3]`.
#
# <details><summary>Hint 1</summary>
#
# A piece is the first of its word when the piece before it belongs to another word. What about special
# tokens?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Make a boolean tensor (T,) that is True at the first pieces. `logits[is_first]` keeps their rows.
#
# </details>


# %% solution="tags_of_words"
def tags_of_words(logits: Tensor, word_of_piece: Tensor) -> Tensor:
    """The tag of each word, read off its first piece: logits (T, tags) → (words,)."""
    ### BEGIN SOLUTION
    before = torch.cat([torch.tensor([-1]), word_of_piece[:-1]])
    is_first = (word_of_piece != before) & (word_of_piece >= 0)
    return logits[is_first].argmax(dim=-1)
    ### END SOLUTION


# %% check="the_example_has_the_tags_2_3" points=1
def the_example_has_the_tags_2_3(tags_of_words):
    """The two words of the example have the tags 2 and 3."""
    logits = functional.one_hot(torch.tensor([4, 2, 3, 0, 1, 4]), 5).double()
    pieces = torch.tensor([-1, 0, 1, 1, 1, -1])
    assert_equal(tags_of_words(logits, pieces), torch.tensor([2, 3]))
    logits = functional.one_hot(torch.tensor([4, 3, 2, 0, 1, 4]), 5).double()
    assert_equal(tags_of_words(logits, pieces), torch.tensor([3, 2]), what="the tags of two other words")


# %% check="whole_words_have_the_tags_of_their_pieces" points=1
def whole_words_have_the_tags_of_their_pieces(tags_of_words, draw):
    """Where every word is one piece, the tags are those of the pieces between the special tokens."""
    logits, words = draw.normal(6, 4), torch.tensor([-1, 0, 1, 2, 3, -1])
    assert_equal(tags_of_words(logits, words), logits[1:5].argmax(-1))


# %% check="later_pieces_have_no_say" points=1
def later_pieces_have_no_say(tags_of_words):
    """Later pieces, however sure of another tag, leave the tag of the word as it is, in a sentence of one word too."""
    sureness = torch.tensor([1.0, 1, 60, 50, 50, 1, 100, 1], dtype=torch.float64)
    logits = sureness[:, None] * functional.one_hot(torch.tensor([2, 1, 2, 0, 0, 0, 2, 1]), 3)
    assert_equal(tags_of_words(logits, torch.tensor([-1, 0, 0, 0, 0, 1, 1, -1])), torch.tensor([1, 0]))
    alone = tags_of_words(logits[1:5], torch.tensor([0, 0, 0, 0]))
    assert_equal(alone, torch.tensor([1]), what="one word without special tokens")


# %% check="other_sentences_have_their_tags" points=1 hidden
def other_sentences_have_their_tags(tags_of_words, draw):
    """Other sentences, with more special tokens and words of one to four pieces, have their tags."""
    for n_tags, lengths in ((7, (1, 4, 3, 1)), (4, (3, 1, 1, 2, 3))):
        tags, rows, words = draw.integers(0, n_tags, len(lengths)), [], []
        for word, (tag, n_pieces) in enumerate(zip(tags.tolist(), lengths, strict=True)):
            for piece in range(n_pieces):
                sureness = 2 if piece == 0 else 90 - 30 * piece
                rows.append(sureness * functional.one_hot(torch.tensor((tag + piece) % n_tags), n_tags))
                words.append(word)
        special = 50 * functional.one_hot((tags[:3] + 1) % n_tags, n_tags)
        logits = torch.cat([special[:2], torch.stack(rows), special]) + draw.uniform(len(rows) + 5, n_tags)
        pieces = torch.tensor([-1, -1, *words, -1, -1, -1])
        assert_equal(tags_of_words(logits, pieces), tags)


# %% [markdown] exercise="span_logits" bonus difficulty=2 minutes=10 forbids="course.models"
# ### 10. Where does the answer begin, where does it end? (bonus)
#
# The input is a question and a passage, and the answer is a run of words of the passage. Two vectors are all
# that is learned: one says how much a position looks like the beginning of the answer, the other how much like
# its end. The answer cannot lie in the question or in the padding.
#
# Write `span_logits(hidden, W, b, in_passage)`, which returns the tuple `(first, last)`, each (B, T):
# `first[i, t]` is $\mathbf w_0 \cdot \mathbf h_t + b_0$ and `last[i, t]` is $\mathbf w_1 \cdot \mathbf h_t +
# b_1$, where `W` is (2, D) with these two rows and `b` is (2,); and both are $-\infty$ where `in_passage`,
# (B, T) bool, is False.
#
# **Example.** `hidden = [[[1, 0], [0, 1], [2, 2]]]`, `W = [[1, 0], [0, 3]]`, `b = [0, 1]` and
# `in_passage = [[False, True, True]]` give first `[[-inf, 0, 2]]` and last `[[-inf, 4, 7]]`.
#
# <details><summary>Hint 1</summary>
#
# `hidden @ W.T + b` has the shape (B, T, 2). `unbind` takes a tensor apart along an axis.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# After the softmax over positions, which probability has a position whose logit is 0? And −∞?
#
# </details>


# %% solution="span_logits"
def span_logits(hidden: Tensor, W: Tensor, b: Tensor, in_passage: Tensor) -> tuple[Tensor, Tensor]:
    """Logits over positions for the first and the last word of the answer, each (B, T)."""
    ### BEGIN SOLUTION
    scores = (hidden @ W.T + b).masked_fill(~in_passage[..., None], -math.inf)  # (B, T, 2)
    first, last = scores.unbind(dim=-1)
    return first, last
    ### END SOLUTION


# %% check="the_example_has_its_four_logits" points=1
def the_example_has_its_four_logits(span_logits):
    """The example has the logits 0, 2 and 4, 7 in the passage, minus infinity outside; gradients flow back."""
    hidden = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]], dtype=torch.float64)
    W = torch.tensor([[1.0, 0.0], [0.0, 3.0]], dtype=torch.float64)
    b = torch.tensor([0.0, 1.0], dtype=torch.float64)
    first, last = span_logits(hidden, W, b, torch.tensor([[False, True, True]]))
    assert_close(first, torch.tensor([[-math.inf, 0.0, 2.0]], dtype=torch.float64), what="first")
    assert_close(last, torch.tensor([[-math.inf, 4.0, 7.0]], dtype=torch.float64), what="last")
    assert_differentiable(span_logits, hidden, W, b, torch.ones(1, 3, dtype=torch.bool))


# %% check="outside_the_passage_nothing_is_possible" points=1
def outside_the_passage_nothing_is_possible(span_logits, draw):
    """After a softmax over the positions, exactly the words of the passage have a chance."""
    in_passage = torch.tensor(
        [[False, False, True, True, True, False], [False, True, True, False, False, False]]
    )
    first, last = span_logits(draw.normal(2, 6, 5), draw.normal(2, 5), draw.normal(2), in_passage)
    assert_equal(first.softmax(-1) > 0, in_passage, what="first")
    assert_equal(last.softmax(-1) > 0, in_passage, what="last")


# %% check="exchanged_rows_exchange_first_and_last" points=1
def exchanged_rows_exchange_first_and_last(span_logits, draw):
    """With the rows of W and b exchanged, first and last are exchanged, and with b = (1, 0) first grows by 1."""
    hidden, W, in_passage = draw.normal(3, 4, 5), draw.normal(2, 5), torch.ones(3, 4, dtype=torch.bool)
    nothing = torch.zeros(2, dtype=torch.float64)
    first, last = span_logits(hidden, W, nothing, in_passage)
    other_first, other_last = span_logits(hidden, W.flip(0), nothing, in_passage)
    more, same = span_logits(hidden, W, torch.tensor([1.0, 0.0], dtype=torch.float64), in_passage)
    assert_true(bool((first.isfinite() & last.isfinite()).all()), "A word of the passage is excluded.")
    assert_close(other_first, last, what="first, rows exchanged")
    assert_close(other_last, first, what="last, rows exchanged")
    assert_close(more, first + 1, what="first with b = (1, 0)")
    assert_close(same, last, what="last with b = (1, 0)")


# %% check="other_passages_have_their_logits" points=1 hidden
def other_passages_have_their_logits(span_logits, draw):
    """Other passages have the logits of the formula, and minus infinity around them."""
    for batch_size, length, d_model in ((3, 8, 4), (2, 5, 7)):
        hidden, W, b = draw.normal(batch_size, length, d_model), draw.normal(2, d_model), draw.normal(2)
        in_passage = draw.uniform(batch_size, length) < 0.6
        in_passage[:, 0], in_passage[:, 2] = False, True
        first, last = span_logits(hidden, W, b, in_passage)
        for row, logits in enumerate((first, last)):
            expected = (hidden * W[row]).sum(-1) + b[row]
            assert_close(logits, torch.where(in_passage, expected, -math.inf), what=("first", "last")[row])


# %% [markdown] exercise="best_span" difficulty=2 minutes=15 forbids="course.models"
# ### 11. The best answer
#
# Two scores per position do not make an answer yet: the likeliest beginning may stand behind the likeliest
# end. Write `best_span(first_logits, last_logits, longest)` for one passage: both are (T,), and the result is
# the pair of ints `(first, last)` with the largest sum `first_logits[first] + last_logits[last]` among all
# spans with `first <= last` and at most `longest` words. Both ends belong to the answer, so a span has
# `last - first + 1` words. Only one span is the best; a logit may be −∞.
#
# **Example.** `first_logits = [0, 1, 5]`, `last_logits = [4, 3, 1]`: separately, the best beginning is at 2 and
# the best end at 0, which is no span. The sums of spans are 4, 3, 1, 4 (1 to 1), 2 and 6 (2 to 2): with any
# `longest` the answer is `(2, 2)`.
#
# <details><summary>Hint 1</summary>
#
# `first_logits[:, None] + last_logits` is a table (T, T) of all sums. Which entries are no spans?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `torch.ones(T, T).triu()` keeps what is on or above the diagonal; what does `.tril(1)` keep of that? Where in
# the table are the spans of exactly `longest` words?
#
# </details>


# %% solution="best_span"
def best_span(first_logits: Tensor, last_logits: Tensor, longest: int) -> tuple[int, int]:
    """The span (first, last) of at most `longest` words with the largest sum of logits."""
    ### BEGIN SOLUTION
    sums = first_logits[:, None] + last_logits  # (T, T)
    is_span = torch.ones_like(sums, dtype=torch.bool).triu().tril(longest - 1)
    place = sums.masked_fill(~is_span, -math.inf).argmax().item()
    return divmod(place, len(last_logits))
    ### END SOLUTION


# %% check="the_example_answers_2_2" points=1
def the_example_answers_2_2(best_span):
    """The best span of the example is (2, 2)."""
    first, last = torch.tensor([0.0, 1.0, 5.0]).double(), torch.tensor([4.0, 3.0, 1.0]).double()
    assert_equal(list(best_span(first, last, 3)), [2, 2])


# %% check="an_answer_does_not_end_before_it_begins" points=1
def an_answer_does_not_end_before_it_begins(best_span):
    """With the likeliest end in front of the likeliest beginning, the best pair in the right order is found."""
    first = torch.tensor([0.0, 2.0, 1.0, 9.0, 0.5], dtype=torch.float64)
    last = torch.tensor([0.3, 8.0, 4.0, 0.1, 0.2], dtype=torch.float64)
    assert_equal(list(best_span(first, last, 5)), [1, 1])
    assert_equal(list(best_span(first - torch.tensor([0.0, 5, 0, 0, 0]), last, 5)), [3, 4])


# %% check="an_answer_has_at_most_so_many_words" points=1
def an_answer_has_at_most_so_many_words(best_span):
    """Spans of 1, 2, 4 and 5 words are the best with longest = 1, 3, 4 and 5."""
    first = torch.tensor([9.4, 9.0, 1.0, 3.0, 0.0, 0.5], dtype=torch.float64)
    last = torch.tensor([0.1, 0.2, 2.0, 0.3, 9.0, 1.0], dtype=torch.float64)
    answers = [list(best_span(first, last, longest)) for longest in (1, 3, 4, 5)]
    assert_equal(answers, [[0, 0], [3, 4], [1, 4], [0, 4]])


# %% check="sums_below_zero_are_compared_too" points=1
def sums_below_zero_are_compared_too(best_span):
    """Of spans whose sums are all below 0, some of them minus infinity, the best is found."""
    first = torch.tensor([-1.0, -6.0, -math.inf, -5.0, -2.0], dtype=torch.float64)
    last = torch.tensor([-math.inf, -1.0, -4.0, -7.0, -9.0], dtype=torch.float64)
    assert_equal(list(best_span(first, last, 5)), [0, 1])
    assert_equal(list(best_span(first, last, 1)), [1, 1])
    assert_equal(list(best_span(first - 100, last, 2)), [0, 1])


# %% check="other_passages_have_their_best_span" points=1 hidden
def other_passages_have_their_best_span(best_span, draw):
    """Other passages, with impossible positions, have the best of all their spans."""
    for length, longest in ((7, 1), (9, 3), (6, 6), (12, 4)):
        for attempt in range(6):
            first, last = 3 * draw.normal(length), 3 * draw.normal(length)
            first[draw.integers(0, 3)], last[draw.integers(0, 3)] = -math.inf, -math.inf
            peak = 3 + draw.integers(0, length - 4)
            first[(peak + longest) % length], last[peak] = 11.0, 10.0
            if attempt % 2 == 0 and peak >= longest:
                first[peak - longest] = 13.0
            first -= 50.0 * (attempt % 3)  # all sums below 0, two times of three
            spans = [(a, b) for a in range(length) for b in range(a, min(length, a + longest))]
            expected = max(spans, key=lambda span: (first[span[0]] + last[span[1]]).item())
            assert_equal(list(best_span(first, last, longest)), list(expected))


# %% provided="small_classifier"
# For the next exercise: a BERT small enough to look at, with a classifier of three classes on top.
SMALL = BERTConfig(vocab_size=11, context_length=9, d_model=6, n_heads=2, n_layers=1, d_ff=5)
N_CLASSES = 3


def small_weights(draw):
    """Random weights of the encoder and of the head, by name: what was pre-trained, and what was not."""
    weights = SequenceClassifier(SMALL, N_CLASSES).state_dict()
    drawn = {name: draw.normal(*weight.shape) / 2 for name, weight in weights.items()}
    encoder = {name: weight for name, weight in drawn.items() if name.startswith("bert.")}
    return encoder, {name: weight for name, weight in drawn.items() if name not in encoder}


# %% [markdown] exercise="fine_tune" difficulty=3 minutes=20 allows="course.models.bert" dtype="float64"
# ### 12. Fine-tuning
#
# The pre-trained encoder comes with its weights, the head on top is new, and a few steps of training fit both
# to a task. `SequenceClassifier(SMALL, N_CLASSES)` of the course is such a model: called with tokens (B, T)
# and a mask (B, T), True at real tokens, it returns logits (B, 3). Its parameters are called `bert.…` (the
# encoder) and `pooler.…`, `output.…` (the head).
#
# Write `fine_tune(encoder, head, tokens, mask, labels, learning_rate, n_steps)`: make the model in float64
# (`.double()`) before you load the given weights, `encoder` and `head`, two dicts from names to tensors: a model
# in float32 would round them. Then take `n_steps` steps of plain gradient descent,
# $\theta \leftarrow \theta - \eta \, \partial L / \partial \theta$, on the mean cross-entropy of the labels,
# (B,) int64, all sequences in every step. **All** parameters are trained. Return the weights in the end as one
# dict, name → tensor.
#
# `functional.cross_entropy`, `backward()` and `torch.optim.SGD` may be used.
#
# **Example.** With `n_steps = 0` the result is `encoder | head`, the weights as they were given.
#
# <details><summary>Hint 1</summary>
#
# `load_state_dict` complains about every name that is missing. With `strict=False` it says nothing and leaves
# the random numbers of a new model.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Which arguments does the model take? Exchange the tokens at padded positions: do your weights change?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Compare `encoder` with the weights after one step. If nothing has moved, who keeps it from moving? If more
# has moved in the second step than it should, what did `backward()` find in `.grad`?
#
# </details>


# %% solution="fine_tune"
def fine_tune(
    encoder: dict[str, Tensor],
    head: dict[str, Tensor],
    tokens: Tensor,
    mask: Tensor,
    labels: Tensor,
    learning_rate: float,
    n_steps: int,
) -> dict[str, Tensor]:
    """All weights, encoder and head, after n_steps of gradient descent from the given ones."""
    ### BEGIN SOLUTION
    model = SequenceClassifier(SMALL, N_CLASSES).double()
    model.load_state_dict(encoder | head)
    for _ in range(n_steps):
        model.zero_grad()
        functional.cross_entropy(model(tokens, mask), labels).backward()
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.grad is not None:  # positions and segments that do not occur
                    parameter -= learning_rate * parameter.grad
    return model.state_dict()
    ### END SOLUTION


# %% provided="small_reviews" helper
def small_reviews(draw, batch_size, length):
    """Random texts of unequal lengths with labels: tokens, mask and labels."""
    lengths = draw.integers(2, length, batch_size)
    lengths[0] = length
    mask = torch.arange(length) < lengths[:, None]
    return draw.integers(1, 11, batch_size, length), mask, torch.arange(batch_size) % N_CLASSES


def stepped(weights, tokens, mask, labels, learning_rate, n_steps):
    """The same weights after gradient descent, each step written out."""
    classifier = SequenceClassifier(SMALL, N_CLASSES).to(torch.float64)
    while n_steps > 0:
        n_steps -= 1
        own = {name: weight.detach().requires_grad_() for name, weight in weights.items()}
        logits = torch.func.functional_call(classifier, own, (tokens, mask))
        loss = -logits.log_softmax(-1)[torch.arange(len(labels)), labels].mean()
        gradients = torch.autograd.grad(loss, list(own.values()), allow_unused=True)
        weights = {
            name: weight.detach() - (0 if gradient is None else learning_rate * gradient)
            for (name, weight), gradient in zip(own.items(), gradients, strict=True)
        }
    return weights


def assert_weights(received, expected):
    """All weights agree, the encoder's looked at first."""
    assert_true(isinstance(received, dict), "A dictionary of weights is expected.", is_plain=True)
    assert_equal({*received}, {*expected}, what="the names of the weights")
    for name in sorted(expected):
        assert_close(received[name], expected[name], what=name)


# %% check="without_a_step_the_weights_are_those_given" points=1
def without_a_step_the_weights_are_those_given(fine_tune, draw):
    """With no step, the weights are the given ones, in float64: the pre-trained encoder and the new head."""
    given = [(*small_weights(draw), small_reviews(draw, 4, 7)) for _ in range(2)]
    answers = [fine_tune(encoder, head, *reviews, 0.1, 0) for encoder, head, reviews in given]
    for (encoder, head, _), answer in zip(given, answers, strict=True):
        assert_weights(answer, encoder | head)
        assert_dtype(answer, torch.float64)


# %% check="a_step_moves_encoder_and_head" points=1
def a_step_moves_encoder_and_head(fine_tune, draw):
    """One step moves the embedding and the attention of the encoder, and both layers of the head."""
    encoder, head = small_weights(draw)
    before = encoder | head
    after = fine_tune(encoder, head, *small_reviews(draw, 4, 7), 0.1, 1)
    for name in (
        "bert.embedding.weight",
        "bert.encoder.layers.0.attention.W_value.weight",
        "pooler.linear.weight",
        "output.weight",
    ):
        moved = (after[name] - before[name]).abs().max().item()
        assert_true(1e-9 < moved < 1, f"{name} has moved by {moved:.3g} at most.")


# %% check="padding_does_not_train" points=1
def padding_does_not_train(fine_tune, draw):
    """Other tokens at padded positions leave the trained weights as they are; other labels do not."""
    encoder, head = small_weights(draw)
    tokens, mask, labels = small_reviews(draw, 4, 7)
    answer = fine_tune(encoder, head, torch.where(mask, tokens, 0), mask, labels, 1.0, 1)
    padded_otherwise = fine_tune(encoder, head, torch.where(mask, tokens, 10), mask, labels, 1.0, 1)
    other_labels = fine_tune(encoder, head, tokens, mask, labels.flip(0), 1.0, 1)
    for name in ("output.weight", "bert.encoder.layers.0.attention.W_value.weight"):
        assert_close(padded_otherwise[name], answer[name], what=name)
        assert_depends(answer[name], (encoder | head)[name])
        assert_depends(answer[name], other_labels[name])


# %% check="each_step_follows_its_own_gradient" points=2
def each_step_follows_its_own_gradient(fine_tune, draw):
    """Three steps lead where three steps of gradient descent lead that are written out one by one."""
    encoder, head = small_weights(draw)
    reviews = small_reviews(draw, 4, 7)
    assert_weights(fine_tune(encoder, head, *reviews, 0.1, 3), stepped(encoder | head, *reviews, 0.1, 3))


# %% check="other_reviews_train_all_weights" points=2 hidden
def other_reviews_train_all_weights(fine_tune, draw):
    """Other texts, rates and numbers of steps lead to the weights of gradient descent."""
    for batch_size, length, learning_rate, n_steps in ((5, 6, 0.2, 2), (3, 8, 0.05, 4)):
        encoder, head = small_weights(draw)
        reviews = small_reviews(draw, batch_size, length)
        answer = fine_tune(encoder, head, *reviews, learning_rate, n_steps)
        assert_weights(answer, stepped(encoder | head, *reviews, learning_rate, n_steps))


# %% [markdown] written="why_not_write_with_bert" points=4 minutes=15
# ### 13. Why not write with BERT?
#
# a) A classmate wants to generate text with BERT: "I put `<mask>` at the end, take the likeliest word, put the
# next `<mask>` behind it, and so on." It runs, but the texts are poor. Give a reason that lies in what BERT
# has practised, and say what the same trick has to do with the way a GPT is trained.
#
# b) In one pass over a text of 100 tokens, how many predictions does BERT learn from, and how many does a GPT?
# What does BERT get in exchange?
#
# c) Somebody leaves out the second and the third rule of 80/10/10 and hides all tokens that are asked for. The
# masked-language-model loss on held-out text even falls a little. Fine-tuned on sentiment, the model is worse.
# Explain both.
#
# ### BEGIN SOLUTION
# a) (1 point) BERT has practised gaps with words on both sides; a gap at the very end, with nothing behind it,
# is rare in its training, and the beginning of a long text with no end never occurs. A GPT practises exactly
# this at every position: predict the next word from what precedes it.
#
# b) (1 point: half for both numbers, half for the exchange.) About 15 of 100, against 100 (99 or 100 with the
# first or the end). In exchange each prediction may use both sides, and so may every vector that is used later.
#
# c) (2 points, one each.) All gaps are now visible as gaps, so the model never has to doubt a word that it
# reads; the task is easier and the loss falls. But in fine-tuning there is no mask token: the vectors of tokens
# that are not masked were never asked for, so nothing made them good, and the input looks unlike all that the
# model has trained on.
# ### END SOLUTION
