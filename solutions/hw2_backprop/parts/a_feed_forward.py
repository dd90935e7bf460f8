# %% [markdown]
# ## Part A. The model, forwards

# %% [markdown] exercise="windows_and_targets" difficulty=1 minutes=10
# ### 1. Windows and their targets
#
# A model with a window of $N$ words learns from pairs: $N$ words in a row, and the word that comes next. The
# text consists of documents that have nothing to do with each other, so no pair may reach from one into the
# next.
#
# Write `windows_and_targets(documents, n_window)`. `documents` is a list of int64 tensors, each of shape
# (T,) with a T of its own. Return the tuple `(windows, targets)`:
#
# | result | shape | meaning |
# |---|---|---|
# | `windows` | (pairs, N), int64 | all complete windows that have a next word, in the order of the text |
# | `targets` | (pairs,), int64 | the word that follows each window |
#
# A window is written as it is read, oldest word first. At least one document is longer than $N$; one that is
# not has no pair.
#
# **Example.** The documents `[5, 6, 7, 8]` and `[1, 2, 3]` have, with $N = 2$, the windows
# `[[5, 6], [6, 7], [1, 2]]` and the targets `[7, 8, 3]`.
#
# <details><summary>Hint 1</summary>
#
# How many pairs does a document of T words have? Try T = N, T = N + 1 and T = N + 2 on paper.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A window that starts at word i ends before word i + N. What stands at i + N?
#
# </details>


# %% solution="windows_and_targets"
def windows_and_targets(documents: list[Tensor], n_window: int) -> tuple[Tensor, Tensor]:
    """All windows (pairs, N) of the documents, and the word that follows each, (pairs,)."""
    ### BEGIN SOLUTION
    starts = [(document, i) for document in documents for i in range(len(document) - n_window)]
    windows = torch.stack([document[i : i + n_window] for document, i in starts])  # (pairs, N)
    targets = torch.stack([document[i + n_window] for document, i in starts])  # (pairs,)
    return windows, targets
    ### END SOLUTION


# %% check="the_example_has_three_windows" points=1
def the_example_has_three_windows(windows_and_targets):
    """The two documents of the example have the three windows and the targets 7, 8, 3; others have their own."""
    windows, targets = windows_and_targets([torch.tensor([5, 6, 7, 8]), torch.tensor([1, 2, 3])], 2)
    documents = [torch.tensor([9, 4, 4, 0]), torch.tensor([7, 2, 5])]
    other_windows, other_targets = windows_and_targets(documents, 2)
    assert_equal(windows, torch.tensor([[5, 6], [6, 7], [1, 2]]), what="windows")
    assert_equal(targets, torch.tensor([7, 8, 3]), what="targets")
    assert_equal(other_windows, torch.tensor([[9, 4], [4, 4], [7, 2]]), what="windows of two other documents")
    assert_equal(other_targets, torch.tensor([4, 0, 5]), what="targets of [9, 4, 4, 0] and [7, 2, 5]")


# %% check="the_target_comes_next" points=1
def the_target_comes_next(windows_and_targets, draw):
    """The targets for windows of three words are the words from the fourth on, in whatever order the text has them."""
    text = torch.tensor([50, 40, 60, 90, *(10 * place for place in draw.permutation(7))])
    _, targets = windows_and_targets([text], 3)
    assert_equal(targets, text[3:])


# %% check="a_window_is_read_from_left_to_right" points=1
def a_window_is_read_from_left_to_right(windows_and_targets, draw):
    """When the text counts upwards, so does every window."""
    start = draw.integers(10, 90)
    windows, _ = windows_and_targets([torch.arange(start, start + 11)], 4)
    assert_equal(windows[:, 1:] - windows[:, :-1], torch.ones(len(windows), 3, dtype=torch.int64))


# %% check="every_window_is_there_once" points=1
def every_window_is_there_once(windows_and_targets, draw):
    """Documents of 9, 4 and 7 words have 6 + 1 + 4 windows of three words that something follows."""
    windows, targets = windows_and_targets([draw.integers(0, 50, length) for length in (9, 4, 7)], 3)
    assert_equal(list(windows.shape), [11, 3], what="the shape of the windows")
    assert_equal(list(targets.shape), [11], what="the shape of the targets")


# %% check="no_pair_reaches_into_another_document" points=1
def no_pair_reaches_into_another_document(windows_and_targets, draw):
    """A window and its target come from one document, and a document of N words has none."""
    documents = [100 * k + draw.integers(0, 90, length) for k, length in ((1, 6), (2, 8), (3, 3), (4, 5))]
    windows, targets = windows_and_targets(documents, 3)
    assert_equal(windows // 100, (targets // 100)[:, None].expand(-1, 3), what="the document of each word")


# %% check="other_documents_have_their_windows" points=2 hidden
def other_documents_have_their_windows(windows_and_targets, draw):
    """Other documents have, with other window sizes, exactly the pairs they should."""
    for lengths, n_window in (((8, 2, 13), 5), ((4, 6), 1), ((2, 7, 10, 3), 2)):
        documents = [(draw.integers(3, 9) + 7 * torch.arange(length)) % 1009 for length in lengths]
        pairs = [
            [*document.tolist()[i - n_window : i + 1]]
            for document in documents
            for i in range(n_window, len(document))
        ]
        windows, targets = windows_and_targets(documents, n_window)
        assert_equal(windows, torch.tensor(pairs)[:, :-1], what="windows")
        assert_equal(targets, torch.tensor(pairs)[:, -1], what="targets")


# %% [markdown] exercise="batch_at" bonus difficulty=1 minutes=5
# ### 2. A batch from anywhere (bonus)
#
# Training takes a few windows at a time, from random places of one long text. The places have been drawn
# already.
#
# Write `batch_at(tokens, starts, n_window)`, which returns `(windows, targets)` of shapes (B, N) and (B,).
# `tokens` is the text, (T,) int64; `starts`, (B,) int64, says for each row of the batch where its window
# begins. Row k is the window of `n_window` words from `starts[k]` on, and its target the word after it.
#
# **Example.** In the text `[4, 8, 15, 16, 23, 42]`, `starts = [2, 0]` and `n_window = 3` give the windows
# `[[15, 16, 23], [4, 8, 15]]` and the targets `[42, 16]`.
#
# <details><summary>Hint 1</summary>
#
# `starts[:, None] + torch.arange(n_window)` has a number for each row and each place. What does
# `tokens[...]` give for such a table?
#
# </details>


# %% solution="batch_at"
def batch_at(tokens: Tensor, starts: Tensor, n_window: int) -> tuple[Tensor, Tensor]:
    """Windows (B, n_window) that begin at `starts` (B,) in the text, and the word after each, (B,)."""
    ### BEGIN SOLUTION
    places = starts[:, None] + torch.arange(n_window)  # (B, N)
    return tokens[places], tokens[starts + n_window]
    ### END SOLUTION


# %% check="the_example_batch_has_two_rows" points=1
def the_example_batch_has_two_rows(batch_at):
    """The batch of the example has the windows (15, 16, 23) and (4, 8, 15) and the targets 42 and 16; other starts have their own."""
    text = torch.tensor([4, 8, 15, 16, 23, 42])
    windows, targets = batch_at(text, torch.tensor([2, 0]), 3)
    other_windows, other_targets = batch_at(text, torch.tensor([1, 2]), 3)
    assert_equal(windows, torch.tensor([[15, 16, 23], [4, 8, 15]]), what="windows")
    assert_equal(targets, torch.tensor([42, 16]), what="targets")
    expected = torch.tensor([[8, 15, 16], [15, 16, 23]])
    assert_equal(other_windows, expected, what="windows from the starts 1 and 2")
    assert_equal(other_targets, torch.tensor([23, 42]), what="targets from the starts 1 and 2")


# %% check="each_row_begins_at_its_own_place" points=1
def each_row_begins_at_its_own_place(batch_at, draw):
    """In the text 0, 1, 2, … the first words of the windows are the starts."""
    starts = torch.tensor([7, 2, 9, 0]) + draw.integers(0, 5)
    windows, _ = batch_at(torch.arange(40), starts, 3)
    assert_equal(windows[:, 0], starts)


# %% check="the_target_stands_behind_its_window" points=1
def the_target_stands_behind_its_window(batch_at, draw):
    """In the text 0, 1, 2, … each target is one more than the last word of its window."""
    windows, targets = batch_at(torch.arange(40), draw.integers(4, 30, 5), 4)
    assert_equal(targets, windows[:, -1] + 1)


# %% check="other_batches_are_cut_out_of_the_text" points=1 hidden
def other_batches_are_cut_out_of_the_text(batch_at, draw):
    """Other starts, the last possible one among them, give their windows and targets."""
    for length, n_window in ((23, 5), (12, 1)):
        tokens = 13 * torch.arange(length) % 97
        starts = torch.tensor([3, length - n_window - 1, 0, draw.integers(1, 6)])
        rows = torch.stack([tokens[start : start + n_window + 1] for start in starts.tolist()])
        windows, targets = batch_at(tokens, starts, n_window)
        assert_equal(windows, rows[:, :-1], what="windows")
        assert_equal(targets, rows[:, -1], what="targets")


# %% [markdown] exercise="log_softmax" difficulty=2 minutes=15 forbids="torch.log_softmax,torch.softmax,torch.logsumexp,torch.logaddexp,torch.logcumsumexp,.log_softmax,.softmax,.logsumexp,.logaddexp,.logcumsumexp,torch.nn.functional.log_softmax,torch.nn.functional.softmax,torch.nn.functional.softmin,torch.nn.functional.cross_entropy,torch.nn.LogSoftmax,torch.nn.Softmax,torch.nn.Softmin,torch.nn.CrossEntropyLoss,torch.special,torch.distributions,torch.ops,scipy,course" exempt="gradient"
# ### 3. Log-probabilities that nothing breaks
#
# The softmax turns logits into probabilities, $\hat y_i = e^{z_i} / \sum_j e^{z_j}$. What training needs is
# the logarithm, and computing it as written breaks twice: $e^{1000}$ is infinite as a float, and
# $e^{-1000}$ is 0, of which there is no logarithm.
#
# Write `log_softmax(logits)`, which returns $\ln \hat y$ in the shape of `logits`, (…, V). The softmax runs
# over the last axis. No finite logits may lead to an infinity or to NaN. Use `exp`, `log`, sums and maxima;
# do not call a ready-made softmax or logsumexp.
#
# **Example.** Logits $(0, \ln 3)$ stand for the probabilities 1/4 and 3/4, and so do
# $(1000, 1000 + \ln 3)$. Logits $(0, -2000)$ have the log-probabilities 0 and $-2000$, as nearly as floats
# can say it.
#
# <details><summary>Hint 1</summary>
#
# Adding the same number to all logits of a row changes no probability. Which number makes every $e^{z_i}$ at
# most 1?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Write out $\ln(e^{z_i} / s)$ as a difference. Is there still a small number of which you take the logarithm?
#
# </details>


# %% solution="log_softmax"
def log_softmax(logits: Tensor) -> Tensor:
    """The logarithms of the softmax over the last axis of logits (…, V)."""
    ### BEGIN SOLUTION
    shifted = logits - logits.max(dim=-1, keepdim=True).values
    return shifted - shifted.exp().sum(dim=-1, keepdim=True).log()
    ### END SOLUTION


# %% check="the_example_logits_give_quarters" points=1
def the_example_logits_give_quarters(log_softmax):
    """The logits (0, ln 3) and (ln 3, 0) give the probabilities 1/4 and 3/4, in their order."""
    logits = torch.tensor([[0.0, math.log(3)], [math.log(3), 0.0], [2.0, 2.0]], dtype=torch.float64)
    expected = torch.tensor([[0.25, 0.75], [0.75, 0.25], [0.5, 0.5]], dtype=torch.float64).log()
    assert_close(log_softmax(logits), expected)


# %% check="each_row_is_a_distribution" points=1
def each_row_is_a_distribution(log_softmax, draw):
    """The probabilities along the last axis sum to one, with one row or with two times three of them."""
    log_probs, of_one_row = log_softmax(draw.normal(2, 3, 5)), log_softmax(draw.normal(5))
    assert_close(
        log_probs.exp().sum(-1), torch.ones(2, 3, dtype=torch.float64), what="of two times three rows"
    )
    assert_close(of_one_row.exp().sum(-1), torch.ones((), dtype=torch.float64), what="of one row")


# %% check="a_constant_changes_nothing" points=1
def a_constant_changes_nothing(log_softmax, draw):
    """A number added to all logits of a row, another one for each row, changes nothing."""
    logits, constants = draw.normal(3, 5), torch.tensor([[2.0], [-1.0], [0.5]], dtype=torch.float64)
    answer = log_softmax(logits)
    assert_close(log_softmax(logits + constants), answer)
    assert_depends(answer, log_softmax(3 * logits))


# %% check="logits_of_a_thousand_are_no_trouble" points=1
def logits_of_a_thousand_are_no_trouble(log_softmax):
    """The rows (z, z + ln 3) of one batch, with z = 500, 1000, -1000, 0 and -500, all give 1/4 and 3/4."""
    pair = torch.tensor([0.0, math.log(3)], dtype=torch.float64)
    answer = log_softmax(torch.stack([pair + z for z in (500, 1000, -1000, 0, -500)]))
    assert_close(answer, torch.tensor([[0.25, 0.75]] * 5, dtype=torch.float64).log())


# %% check="an_unlikely_word_keeps_its_log_prob" points=1
def an_unlikely_word_keeps_its_log_prob(log_softmax):
    """A word whose logit is 2000 below the best has the log-probability -2000, not minus infinity."""
    answer = log_softmax(torch.tensor([[0.0, -2000.0, -3.0], [-2000.0, -2000.0, 0.0]], dtype=torch.float64))
    rest = math.log(1 + math.exp(-3))
    expected = [[-rest, -2000 - rest, -3 - rest], [-2000.0, -2000.0, 0.0]]
    assert_close(answer, torch.tensor(expected, dtype=torch.float64))


# %% check="other_logits_give_their_log_probs" points=2 hidden
def other_logits_give_their_log_probs(log_softmax, draw):
    """Other logits, large, small and far apart, give their log-probabilities."""
    for shape, offset in (((2, 3, 7), 1000.0), ((4, 6), -1500.0), ((11,), 0.0)):
        logits = 3 * draw.normal(*shape)
        logits[..., 2] -= 1200
        expected = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
        assert_close(log_softmax(logits + offset), expected)
    apart = torch.tensor([[800.0, 801.0], [-800.0, -803.0], [0.0, 1.0]], dtype=torch.float64)
    assert_close(log_softmax(apart), apart - torch.logsumexp(apart, dim=-1, keepdim=True))


# %% [markdown] exercise="cross_entropy" difficulty=1 minutes=10 forbids="torch.nn.functional.cross_entropy,torch.nn.functional.nll_loss,torch.nn.functional.kl_div,torch.nn.CrossEntropyLoss,torch.nn.NLLLoss,torch.nn.KLDivLoss,torch.distributions,torch.ops,course"
# ### 4. Cross-entropy
#
# The loss of one prediction is the surprise at the word that came, $-\ln \hat y_{\text{target}}$. The loss
# of a batch is the **mean** over its rows.
#
# Write `cross_entropy(logits, targets)`, which returns the mean loss in nats as one number. `logits` is
# (B, V), `targets` is (B,) int64. `torch.log_softmax` may be called here; torch's own losses may not.
#
# **Example.** The logits $(0, \ln 3, 0)$ and $(0, 0, 0)$ stand for the probabilities 1/5, 3/5, 1/5 and for
# three times 1/3. The targets are 1 and 0, so the loss is $(\ln \tfrac53 + \ln 3) / 2 \approx 0.8047$.
#
# <details><summary>Hint 1</summary>
#
# Three steps: log-probabilities (B, V), from each row the one at its target, (B,), and their mean. Print the shape
# after each of your lines. Which sign has the logarithm of a probability, and which a surprise?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `log_probs[torch.arange(len(targets)), targets]` takes one number from each row. A sum over the batch grows with
# the batch, and the logarithm of a probability that has become 0 is infinite.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Count how often a softmax is applied between the logits and your logarithm, calls inside other calls
# included. It must be once.
#
# </details>


# %% solution="cross_entropy"
def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean surprise, in nats, at targets (B,) under the softmax of logits (B, V)."""
    ### BEGIN SOLUTION
    log_probs = torch.log_softmax(logits, dim=-1)  # (B, V)
    return -log_probs[torch.arange(len(targets)), targets].mean()
    ### END SOLUTION


# %% check="the_example_costs_0_8047_nats" points=1
def the_example_costs_0_8047_nats(cross_entropy):
    """The two predictions of the example cost (ln 5/3 + ln 3) / 2; turned round, with targets 0 and 1, they cost the same."""
    logits = torch.tensor([[0.0, math.log(3), 0.0], [0.0, 0.0, 0.0]], dtype=torch.float64)
    answer, turned = (
        cross_entropy(logits, torch.tensor([1, 0])),
        cross_entropy(logits.flip(0), torch.tensor([0, 1])),
    )
    assert_close(answer, (math.log(5 / 3) + math.log(3)) / 2)
    assert_close(turned, (math.log(5 / 3) + math.log(3)) / 2, what="the loss with both rows exchanged")


# %% check="a_sure_model_pays_nothing_or_much" points=1
def a_sure_model_pays_nothing_or_much(cross_entropy):
    """A logit of 40 above the others costs nothing if it is the target's, and 40 nats if it is not."""
    logits = torch.tensor([[0.0, 40.0, 0.0, 0.0]], dtype=torch.float64)
    assert_close(cross_entropy(logits, torch.tensor([1])), 0.0, what="the sure word came")
    assert_close(cross_entropy(logits, torch.tensor([3])), 40.0, what="another word came")


# %% check="the_same_rows_twice_cost_the_same" points=1
def the_same_rows_twice_cost_the_same(cross_entropy, draw):
    """A batch that holds every row twice has the same mean loss, and gradients flow back."""
    logits, targets = draw.normal(3, 7), draw.integers(0, 7, 3)
    answer = cross_entropy(logits, targets)
    assert_close(cross_entropy(torch.cat([logits] * 2), torch.cat([targets] * 2)), answer)
    assert_depends(answer, cross_entropy(3 * logits, targets))
    assert_differentiable(cross_entropy, logits, targets)


# %% check="knowing_nothing_costs_ln_v" points=1
def knowing_nothing_costs_ln_v(cross_entropy):
    """Equal logits for 11 words cost ln 11 nats, whichever word comes."""
    answer = cross_entropy(torch.full((1, 11), 0.3, dtype=torch.float64), torch.tensor([4]))
    assert_close(answer, math.log(11))


# %% check="a_great_surprise_is_finite" points=1
def a_great_surprise_is_finite(cross_entropy):
    """A target whose logit is 2000 below the best costs 2000 nats; logits around -1000, 0 and 1000 cost what their differences say."""
    logits = torch.tensor([[0.0, -2000.0, -2500.0]], dtype=torch.float64)
    pair = torch.tensor([0.0, math.log(3)], dtype=torch.float64)
    surprise = cross_entropy(logits, torch.tensor([1]))
    far_out = cross_entropy(torch.stack([pair - 1000, pair, pair + 1000]), torch.tensor([1, 0, 1]))
    assert_close(surprise, 2000.0)
    expected = (2 * math.log(4 / 3) + math.log(4)) / 3
    assert_close(far_out, expected, what="the loss of rows around -1000, 0 and 1000")


# %% check="other_batches_have_their_mean_loss" points=2 hidden
def other_batches_have_their_mean_loss(cross_entropy, draw):
    """Other batches, one with logits beyond a thousand, have their mean loss."""
    for batch_size, vocab_size, scale in ((5, 3, 1.0), (2, 13, 4.0), (7, 6, 900.0)):
        logits, targets = (
            scale * draw.normal(batch_size, vocab_size),
            draw.integers(0, vocab_size, batch_size),
        )
        logits[0], targets[0] = torch.linspace(-1000.0, 1000.0, vocab_size, dtype=torch.float64), 0
        at_targets = logits[torch.arange(batch_size), targets]
        assert_close(cross_entropy(logits, targets), (logits.logsumexp(-1) - at_targets).mean())


# %% [markdown] exercise="draw_tokens" difficulty=2 minutes=10 forbids="torch.multinomial,.multinomial,torch.distributions"
# ### 5. From logits to words
#
# To let the model write, draw each next word according to its probability. The chance comes from outside
# here: for each row, a number $u$ between 0 and 1. Lay the words' probabilities side by side from 0 to 1,
# in the order of their numbers; the word on whose piece $u$ falls is drawn.
#
# Write `draw_tokens(logits, uniforms)` for logits (B, V) and uniforms (B,); it returns the words' numbers,
# (B,) int64. The softmax is yours to apply, and `torch.softmax` may be called. No $u$ lies exactly on a
# border.
#
# **Example.** The logits $(\ln 2, 0, 0)$ stand for the probabilities 1/2, 1/4, 1/4. With $u = 0.4$ the word 0
# is drawn, with $u = 0.6$ the word 1, with $u = 0.8$ the word 2.
#
# <details><summary>Hint 1</summary>
#
# `cumsum` gives the right borders of the pieces. How many of them lie to the left of $u$?
#
# </details>


# %% solution="draw_tokens"
def draw_tokens(logits: Tensor, uniforms: Tensor) -> Tensor:
    """The words (B,) on whose piece of probability uniforms (B,) fall, for logits (B, V)."""
    ### BEGIN SOLUTION
    borders = torch.softmax(logits, dim=-1).cumsum(dim=-1)  # (B, V)
    return (borders[:, :-1] < uniforms[:, None]).sum(dim=-1)  # (B,)
    ### END SOLUTION


# %% check="the_example_draws_0_1_2" points=1
def the_example_draws_0_1_2(draw_tokens):
    """With u = 0.4, 0.6 and 0.8 the words 0, 1 and 2 of the example are drawn; with u = 0.7, 0.9 and 0.2 the words 1, 2 and 0."""
    logits = torch.tensor([[math.log(2), 0.0, 0.0]] * 3, dtype=torch.float64)
    drawn, others = (
        draw_tokens(logits, torch.tensor(uniforms, dtype=torch.float64))
        for uniforms in ([0.4, 0.6, 0.8], [0.7, 0.9, 0.2])
    )
    assert_equal(drawn, torch.tensor([0, 1, 2]))
    assert_equal(others, torch.tensor([1, 2, 0]), what="the words for u = 0.7, 0.9 and 0.2")


# %% check="a_word_is_drawn_as_often_as_it_is_likely" points=1
def a_word_is_drawn_as_often_as_it_is_likely(draw_tokens):
    """Of 200 evenly spread u, words of probability 1/10, 6/10 and 3/10 get 20, 120 and 60."""
    logits = torch.tensor([0.1, 0.6, 0.3], dtype=torch.float64).log().expand(200, 3)
    drawn = draw_tokens(logits, (torch.arange(200, dtype=torch.float64) + 0.5) / 200)
    assert_equal(torch.bincount(drawn, minlength=3), torch.tensor([20, 120, 60]))


# %% check="logits_may_be_any_numbers" points=1
def logits_may_be_any_numbers(draw_tokens):
    """Logits 1 + ln 2, 1, 1 give the first word half of the line; 1, 1, 1 + ln 2 give the last word half."""
    logits = 1 + torch.tensor([[math.log(2), 0.0, 0.0], [0.0, 0.0, math.log(2)]], dtype=torch.float64)
    uniforms = torch.tensor([0.6, 0.4], dtype=torch.float64)
    assert_equal(draw_tokens(logits, uniforms), torch.tensor([1, 1]))


# %% check="other_words_are_drawn_by_their_pieces" points=1 hidden
def other_words_are_drawn_by_their_pieces(draw_tokens, draw):
    """For other logits, the word is drawn on whose piece u falls."""
    for batch_size, vocab_size in ((40, 5), (30, 9)):
        logits = 3 * draw.normal(batch_size, vocab_size)
        words = draw.integers(0, vocab_size, batch_size)
        probs = torch.exp(logits - logits.logsumexp(-1, keepdim=True))
        left = torch.tensor([probs[row, :word].sum() for row, word in enumerate(words.tolist())])
        inside = probs[torch.arange(batch_size), words] * draw.number(0.3, 0.7)
        assert_equal(draw_tokens(logits, left + inside), words)


# %% [markdown] exercise="FeedForwardLM" difficulty=2 minutes=30 dtype="float64"
# ### 6. The model
#
# The model of Bengio and others (2003), with the paper's two constants, here `b` and `c`:
#
# $$\mathbf e = [\mathbf E \mathbf x_{t-N}; \dots; \mathbf E \mathbf x_{t-1}] \qquad
# \mathbf h = \tanh(\mathbf W \mathbf e + \mathbf b) \qquad \mathbf z = \mathbf U \mathbf h + \mathbf c$$
#
# Before the start of a text there is nothing, so windows are filled up with the word number `pad`. It stands
# for nothing: in $\mathbf e$ it counts as $d$ zeros, whatever its column of $\mathbf E$ holds, and training
# must not move that column.
#
# Write the class `FeedForwardLM`, an `nn.Module`:
#
# - `FeedForwardLM(vocab_size, n_window, d_embedding, d_hidden, pad)` has five parameters of these names and
#   shapes, filled however you like (the checks load their own): `E` (d, V), one column per word;
#   `W` (D, N·d); `b` (D,); `U` (V, D); `c` (V,). All float64.
# - `forward(windows)` takes (B, N) int64, oldest word first, and returns the logits, (B, V).
#
# The paper's further connections, straight from $\mathbf e$ to $\mathbf z$, are left out.
#
# **Example.** $N = 2$, $d = D = 1$, three words: `E = [[5, 0.5, 1]]`, `W = [[1, -1]]`, `b = [0]`,
# `U = [[1], [0], [2]]`, `c = [0, 1, 0]`, `pad = 0`. The window `[2, 1]` has $\mathbf e = (1, 0.5)$, $h =
# \tanh(1 - 0.5) \approx 0.4621$ and the logits $(0.4621, 1, 0.9242)$. The window `[0, 2]` begins before the text:
# $\mathbf e = (0, 1)$, $h = \tanh(-1) \approx -0.7616$, and the logits are $(-0.7616, 1, -1.5232)$.
#
# The drawing below shows the model of lecture 05 at all T positions of B texts, so its shapes begin with B and T;
# here each window is a row of its own, and they begin with B alone. Its last two steps, the direct connections and
# the softmax, are not in this exercise.
#
# <details><summary>Hint 1</summary>
#
# `self.E.T[windows]` has the shape (B, N, d). Which numbers of a row must stand side by side in $\mathbf e$:
# those of one word, or those of one coordinate?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A module knows as its parameters what is an `nn.Parameter` and an attribute of its own.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# What is multiplied by zero adds nothing and gets no gradient. `windows != pad` is a table of True and False;
# which shape must it have to multiply (B, N, d)?
#
# </details>


# %% alive="a_drawing_feedforward"
from course import figures

figures.machine("feedforward")  # step by step


# %% solution="FeedForwardLM"
class FeedForwardLM(nn.Module):
    """Logits U tanh(W e + b) + c for windows of words; parameters E (d, V), W (D, N·d), b, U (V, D), c."""

    def __init__(self, vocab_size: int, n_window: int, d_embedding: int, d_hidden: int, pad: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.pad = pad
        width = n_window * d_embedding
        shapes = {"E": (d_embedding, vocab_size), "W": (d_hidden, width), "b": (d_hidden,)}
        shapes |= {"U": (vocab_size, d_hidden), "c": (vocab_size,)}
        for name, shape in shapes.items():
            setattr(self, name, nn.Parameter(0.1 * torch.randn(shape, dtype=torch.float64)))
        ### END SOLUTION

    def forward(self, windows: Tensor) -> Tensor:
        """The logits (B, V) for windows (B, N)."""
        ### BEGIN SOLUTION
        embedded = self.E.T[windows] * (windows != self.pad)[..., None]  # (B, N, d)
        e = embedded.flatten(start_dim=1)  # (B, N·d)
        h = torch.tanh(e @ self.W.T + self.b)  # (B, D)
        return h @ self.U.T + self.c  # (B, V)
        ### END SOLUTION


# %% provided="weights" helper
def weights_of(draw, vocab_size, n_window, d_embedding, d_hidden):
    """Random parameters of a feed-forward language model, by name."""
    return {
        "E": draw.normal(d_embedding, vocab_size),
        "W": draw.normal(d_hidden, n_window * d_embedding) / 2,
        "b": draw.normal(d_hidden),
        "U": draw.normal(vocab_size, d_hidden),
        "c": draw.normal(vocab_size),
    }


# %% check="the_five_parameters_are_registered" points=1
def the_five_parameters_are_registered(FeedForwardLM, draw):
    """The module knows the parameters E, W, b, U and c, in float64, and no others."""
    model = FeedForwardLM(7, 3, 2, 5, 0)
    assert_equal({*model.gradients()}, {"E", "U", "W", "b", "c"})
    model.load_state_dict(weights_of(draw, 7, 3, 2, 5))  # instead of whatever it was filled with
    assert_dtype(model.parameters(), torch.float64, what="a parameter")


# %% check="the_example_window_has_its_logits" points=1
def the_example_window_has_its_logits(FeedForwardLM):
    """Of the example, [2, 1] has the logits 0.4621, 1, 0.9242, and [0, 2], with padding, -0.7616, 1, -1.5232."""
    weights = {"E": [[5.0, 0.5, 1.0]], "W": [[1.0, -1.0]], "b": [0.0], "U": [[1.0], [0.0], [2.0]]}
    weights |= {"c": [0.0, 1.0, 0.0]}
    model = FeedForwardLM(3, 2, 1, 1, 0)
    model.load_state_dict({name: torch.tensor(w, dtype=torch.float64) for name, w in weights.items()})
    expected = [[h, 1.0, 2 * h] for h in (math.tanh(0.5), math.tanh(-1.0))]
    answer = model(torch.tensor([[2, 1], [0, 2]]))
    assert_close(answer, torch.tensor(expected, dtype=torch.float64))


# %% check="each_place_of_the_window_has_its_own_columns_of_w" points=1
def each_place_of_the_window_has_its_own_columns_of_w(FeedForwardLM, draw):
    """Exchanging the two words of a window and the two halves of W's columns changes nothing."""
    model, weights = FeedForwardLM(7, 2, 3, 5, 0), weights_of(draw, 7, 2, 3, 5)
    model.load_state_dict(weights)
    answer = model(torch.tensor([[4, 6], [1, 5], [3, 2], [2, 6]]))
    model.load_state_dict(weights | {"W": weights["W"].roll(3, dims=1)})
    assert_close(model(torch.tensor([[6, 4], [5, 1], [2, 3], [6, 2]])), answer)
    assert_depends(answer, model(torch.tensor([[4, 6], [1, 5], [3, 2], [2, 6]])))


# %% check="without_w_the_constants_remain" points=1
def without_w_the_constants_remain(FeedForwardLM, draw):
    """With W = 0, every window has the logits U tanh(b) + c; for any W, gradients flow back."""
    model, weights = FeedForwardLM(7, 3, 2, 5, 0), weights_of(draw, 7, 3, 2, 5)
    model.load_state_dict(weights | {"W": torch.zeros(5, 6, dtype=torch.float64)})
    expected = (weights["U"] * weights["b"].tanh()).sum(1) + weights["c"]
    assert_close(model(torch.tensor([[1, 2, 3], [6, 4, 5]])), expected.expand(2, 7))
    model.load_state_dict(weights)
    assert_differentiable(model, torch.tensor([[1, 2, 3], [6, 4, 5]]))


# %% check="the_padding_word_counts_as_zeros" points=1
def the_padding_word_counts_as_zeros(FeedForwardLM, draw):
    """The column of E for the padding word changes no logit and gets no gradient; windows of padding alone, and with one word behind it, have the logits of the formula, in any order."""
    model, weights = FeedForwardLM(7, 3, 2, 5, 4), weights_of(draw, 7, 3, 2, 5)
    windows = torch.tensor([[4, 4, 1], [4, 2, 6], [3, 5, 0], [4, 4, 4], [4, 4, 6]])
    model.load_state_dict(weights)
    answer = model(windows)
    answer.square().sum().backward()
    assert_close(model.gradients()["E"][:, 4], torch.zeros(2, dtype=torch.float64), what="the gradient")
    of_padding = weights["U"] @ torch.tanh(weights["b"]) + weights["c"]
    assert_close(answer[3], of_padding, what="the logits for a window of padding")
    for row, word in ((0, 1), (4, 6)):
        hidden = torch.tanh(weights["W"][:, 4:] @ weights["E"][:, word] + weights["b"])
        expected = weights["U"] @ hidden + weights["c"]
        assert_close(answer[row], expected, what=f"the logits for the window [4, 4, {word}], with pad = 4")
    assert_close(
        model(windows.flip(0)), answer.flip(0), what="the logits for the same windows, last one first"
    )
    other = weights["E"].clone()
    other[:, 4] += 1
    model.load_state_dict(weights | {"E": other})
    assert_close(model(windows), answer, what="the logits with another column of E for the padding word")


# %% check="the_other_words_of_a_padded_window_keep_their_places" points=1
def the_other_words_of_a_padded_window_keep_their_places(FeedForwardLM, draw):
    """A window that begins with padding has the logits of one that begins otherwise, if W's columns there are 0."""
    model, weights = FeedForwardLM(7, 3, 2, 5, 4), weights_of(draw, 7, 3, 2, 5)
    model.load_state_dict(weights)
    padded = model(torch.tensor([[4, 2, 6], [4, 4, 1]]))
    for row, window in enumerate(([5, 2, 6], [5, 3, 1])):
        W = weights["W"].clone()
        W[:, : 2 * (row + 1)] = 0
        model.load_state_dict(weights | {"W": W})
        assert_close(padded[row], model(torch.tensor([window]))[0], what=f"{row + 1} of 3 are padding")


# %% check="other_models_have_their_logits_and_gradients" points=2 hidden
def other_models_have_their_logits_and_gradients(FeedForwardLM, draw):
    """Models of other sizes have the logits of the formula, and its gradients."""
    for sizes, pad, batch_size in (((11, 4, 3, 2), 0, 6), ((5, 3, 2, 7), 4, 4)):
        weights = weights_of(draw, *sizes)
        windows = draw.integers(0, sizes[0], batch_size, sizes[1])
        windows[0, 0], windows[1] = pad, torch.arange(sizes[1]) % 3 + 1
        model = FeedForwardLM(*sizes, pad)
        model.load_state_dict(weights)
        logits = model(windows)
        own = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
        zeroed = own["E"] * (torch.arange(sizes[0]) != pad)
        e = torch.cat([zeroed[:, windows[:, place]] for place in range(sizes[1])])  # (N·d, B)
        expected = (own["U"] @ (own["W"] @ e + own["b"][:, None]).tanh() + own["c"][:, None]).T
        assert_close(logits, expected, what="logits")
        weighting = draw.normal(*expected.shape)
        (logits * weighting).sum().backward()
        (expected * weighting).sum().backward()
        gradients = model.gradients()
        for name, weight in own.items():
            assert_close(gradients[name], weight.grad, what=f"the gradient of {name}")


# %% [markdown] exercise="first_loss_verdict" bonus difficulty=1 minutes=5
# ### 7. The very first loss (bonus)
#
# Before any training you know what the loss must be. A new model knows nothing, so it should find all
# $V$ words about equally likely, which costs $\ln V$ nats. A first loss that is far from $\ln V$ says that
# something is wrong before a single step was made.
#
# Write `first_loss_verdict(first_loss, vocab_size)`, which returns one of three texts:
#
# | verdict | when |
# |---|---|
# | `"too sure"` | the loss is more than 0.25 nats above $\ln V$: the logits are far apart, for no reason |
# | `"too good"` | the loss is more than 0.25 nats below $\ln V$: the model has seen its targets |
# | `"as expected"` | anything between |
#
# **Example.** With 27 words, $\ln 27 \approx 3.296$. A first loss of 27.9 is `"too sure"`, 2.4 is
# `"too good"` and 3.4 is `"as expected"`.
#
# <details><summary>Hint 1</summary>
#
# Take the difference first. Its size tells the third verdict from the others, and its sign the first from the
# second.
#
# </details>


# %% solution="first_loss_verdict"
def first_loss_verdict(first_loss: float, vocab_size: int) -> str:
    """ "too sure", "too good" or "as expected": the loss in nats before training beside ln V."""
    ### BEGIN SOLUTION
    excess = first_loss - math.log(vocab_size)
    if abs(excess) <= 0.25:
        return "as expected"
    return "too sure" if excess > 0 else "too good"
    ### END SOLUTION


# %% check="the_three_examples_get_their_verdicts" points=1
def the_three_examples_get_their_verdicts(first_loss_verdict):
    """With 27 words, 27.9 is too sure, 2.4 too good and 3.4 as expected."""
    verdicts = [first_loss_verdict(loss, 27) for loss in (27.9, 2.4, 3.4)]
    assert_equal(verdicts, ["too sure", "too good", "as expected"])


# %% check="the_vocabulary_decides" points=1
def the_vocabulary_decides(first_loss_verdict):
    """A loss of 6.9 nats is as expected for 800 to 1250 words, too sure for 700, too good for 1400; for 1000, 8 and 600 are too sure and 0.1 is too good; the bounds are 0.25 nats away on either side."""
    verdicts = [first_loss_verdict(6.9, vocab_size) for vocab_size in (1000, 700, 1400, 800, 1250)]
    far_off = [first_loss_verdict(loss, 1000) for loss in (8.0, 600.0, 0.1)]
    near = [
        first_loss_verdict(math.log(vocab_size) + distance, vocab_size)
        for vocab_size in (27, 1000)
        for distance in (0.24999, -0.24999, 0.25001, -0.25001)
    ]
    assert_equal(verdicts, ["as expected", "too sure", "too good", "as expected", "as expected"])
    assert_equal(far_off, ["too sure", "too sure", "too good"], what="8, 600 and 0.1 nats for 1000 words")
    expected = ["as expected", "as expected", "too sure", "too good"] * 2
    assert_equal(
        near, expected, what="ln V + 0.24999, - 0.24999, + 0.25001 and - 0.25001, for 27 and 1000 words"
    )


# %% check="other_first_losses_get_their_verdicts" points=1 hidden
def other_first_losses_get_their_verdicts(first_loss_verdict, draw):
    """Other losses, close to the borders too, get their verdicts."""
    for vocab_size in (2, draw.integers(40, 60), 12_345):
        floor = math.log(vocab_size)
        losses = [floor + distance for distance in (0.25001, -0.25001, 0.24999, -0.24999, 1.5, 12.0, -0.6)]
        verdicts = [first_loss_verdict(loss, vocab_size) for loss in losses]
        expected = ["too sure", "too good", "as expected", "as expected", "too sure", "too sure", "too good"]
        assert_equal(verdicts, expected)


# %% provided="dropping_layer"
class DroppingLayer(nn.Module):
    """Logits W x, with a dropout that leaves nothing to chance: in training every second feature is dropped.

    Those that stay count twice, as in any dropout. `weight` is (V, D).
    """

    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight.clone())

    def forward(self, features):
        kept = 2.0 * (torch.arange(features.shape[-1]) % 2 == 0)
        return (features * kept if self.training else features) @ self.weight.T


# %% [markdown] exercise="overfit_one_batch" difficulty=2 minutes=25 forbids="losses_by_hand"
# ### 8. Overfit one batch
#
# The second sanity check, before the data set: can the model overfit a single batch? If the loss of one batch
# does not go down step by step, no amount of text will help. The loop is short but has three classic
# pitfalls, so write it carefully once.
#
# `DroppingLayer(weight)` above is a module with one parameter and a dropout, which works in training mode
# only (`model.train()`) and not in evaluation mode (`model.eval()`).
#
# Write `overfit_one_batch(weight, features, targets, learning_rate, n_steps)`. Make a `DroppingLayer` of
# `weight` (V, D) and train it with the features (B, D) and targets (B,), all of them in every step:
# `n_steps` steps of plain gradient descent on the mean cross-entropy,
# $\theta \leftarrow \theta - \eta \, \partial L / \partial \theta$, **in training mode**. Before the first
# step and after each step measure the mean cross-entropy of the same batch **in evaluation mode**. Return
# these `n_steps + 1` losses as a tensor.
#
# `torch.nn.functional.cross_entropy`, `backward()` and `torch.optim.SGD` may be used.
#
# **Example.** With `weight` all zero and five words, the first loss is $\ln 5 \approx 1.609$; with
# `n_steps = 0` it is the only one.
#
# <details><summary>Hint 1</summary>
#
# `backward()` adds to `.grad` what it finds. What is in `.grad` at the second step?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Write down the mode in which the model is at each line of the loop, also in its second round.
#
# </details>


# %% solution="overfit_one_batch"
def overfit_one_batch(
    weight: Tensor, features: Tensor, targets: Tensor, learning_rate: float, n_steps: int
) -> Tensor:
    """The n_steps + 1 evaluation losses before, between and after steps of gradient descent on one batch."""
    ### BEGIN SOLUTION
    model = DroppingLayer(weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)

    def evaluation_loss():
        model.eval()
        with torch.no_grad():
            return nn.functional.cross_entropy(model(features), targets)

    losses = [evaluation_loss()]
    for _ in range(n_steps):
        model.train()
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(features), targets).backward()
        optimizer.step()
        losses.append(evaluation_loss())
    return torch.stack(losses)
    ### END SOLUTION


# %% provided="losses_by_hand" helper
def losses_by_hand(weight, features, targets, learning_rate, n_steps):
    """The same losses without autograd; the gradient is what part B is about."""
    targets_one_hot = torch.eye(len(weight), dtype=torch.float64)[targets]
    dropped = features.clone()
    dropped[:, 0::2], dropped[:, 1::2] = 2 * dropped[:, 0::2], 0.0
    losses = []
    for _ in range(n_steps + 1):
        losses.append(-((features @ weight.T).log_softmax(-1) * targets_one_hot).sum(-1).mean().item())
        error = (dropped @ weight.T).softmax(-1) - targets_one_hot
        weight = weight - learning_rate * error.T @ dropped / len(features)
    return torch.tensor(losses, dtype=torch.float64)


# %% check="the_first_loss_is_measured_before_any_step" points=1
def the_first_loss_is_measured_before_any_step(overfit_one_batch, draw):
    """Without a step there is one loss, that of the weights as they come, nothing dropped."""
    weight, features, targets = draw.normal(5, 7), draw.normal(3, 7), torch.tensor([2, 0, 4])
    answer = overfit_one_batch(weight, features, targets, 0.5, 0)
    assert_close(answer, losses_by_hand(weight, features, targets, 0.5, 0))


# %% check="a_step_goes_down_the_training_mode_gradient" points=1
def a_step_goes_down_the_training_mode_gradient(overfit_one_batch, draw):
    """After one step the loss is that of a step taken with every second feature dropped."""
    weight, features, targets = draw.normal(5, 7), draw.normal(3, 7), torch.tensor([2, 0, 4])
    answer = overfit_one_batch(weight, features, targets, 0.5, 1)
    assert_close(answer, losses_by_hand(weight, features, targets, 0.5, 1))


# %% check="no_step_carries_an_old_gradient" points=1
def no_step_carries_an_old_gradient(overfit_one_batch, draw):
    """The third step uses the gradient of the third step alone, as the second did its own, and so for another batch."""
    weight, features, targets = draw.normal(5, 7), draw.normal(3, 7), torch.tensor([1, 3, 0])
    answer = overfit_one_batch(weight, features, targets, 0.4, 3)
    other = overfit_one_batch(weight, features.flip(1), targets.flip(0), 0.4, 3)
    assert_close(answer, losses_by_hand(weight, features, targets, 0.4, 3))
    expected = losses_by_hand(weight, features.flip(1), targets.flip(0), 0.4, 3)
    assert_close(other, expected, what="the losses of another batch")


# %% check="other_batches_are_learned_step_by_step" points=2 hidden
def other_batches_are_learned_step_by_step(overfit_one_batch, draw):
    """Other batches have the losses of plain gradient descent, down to almost 0."""
    weight, features, targets = draw.normal(3, 6), draw.normal(4, 6), torch.tensor([2, 0, 1, 1])
    answer = overfit_one_batch(weight, features, targets, 0.3, 7)
    assert_close(answer, losses_by_hand(weight, features, targets, 0.3, 7))
    eye = torch.eye(4, dtype=torch.float64).repeat_interleave(2, dim=1)
    learned = overfit_one_batch(
        torch.zeros(4, 8, dtype=torch.float64), eye, torch.tensor([3, 1, 0, 2]), 8.0, 60
    )
    assert_true(learned[-1] < 0.05, f"After 60 steps the loss of four easy rows is {learned[-1]:.4f}.")
    assert_close(learned[0], math.log(4))


# %% alive="a_look_at_your_losses"
twice_each = torch.eye(4).repeat_interleave(2, dim=1)  # 4 rows; dropout takes one of two equal features
look(
    lambda plots: plots.loss_curves(
        {
            "one batch": overfit_one_batch(
                torch.zeros(3, 8), twice_each, torch.tensor([0, 1, 2, 0]), 1.0, 200
            ).tolist()
        }
    )
)


# %% [markdown] written="a_first_loss_of_27" points=3 minutes=10
# ### 9. A first loss of 27
#
# A classmate's model over 27 letters starts with a loss of 27 nats. After 200 steps the loss is 3.2, after
# 20,000 it is 2.1, and the curve looks like a hockey stick. "It starts badly," says the classmate, "but it
# learns fast."
#
# a) What did the model predict before the first step, and why does that cost 27 nats and not 3.3?
#
# b) What did the first 200 steps teach the model? What would you change before the first step, and which two
# numbers would you look at to know that the change was right?
#
# ### BEGIN SOLUTION
# a) (1 point) Its logits were far apart for no reason, typically because U (or c) was drawn too large. The
# softmax makes of them a distribution that is sure of a random letter, and being sure and wrong costs the
# distance of the logits. Knowing nothing costs only ln 27 = 3.296.
#
# b) (2 points) They taught it to shrink its logits, nothing about the language: 3.2 is about what a model
# that knows nothing costs. (1 point.) Draw U smaller, c = 0 (or zero), so that all logits start near 0; the
# first loss must then be ln 27, and the spread (standard deviation) of the logits must be small compared
# with 1. Also right: the fraction of hidden units near ±1, if the answer scales W as well. (1 point.)
# ### END SOLUTION
