# %% [markdown]
# # Homework 2: a feed-forward language model, and its gradients by hand
#
# You build the model of lecture 05 and the gradients of lecture 06 yourself: windows of words, softmax and
# cross-entropy that no logit can break, the model, and the two looks that every first training deserves; then
# an automatic differentiation of your own, the backward pass of every layer, a way to doubt a gradient, and
# in the end the whole model forwards and backwards, line by line.
#
# | part | about | minutes |
# |---|---|---|
# | A | windows, softmax, the model, first losses | 95 |
# | B | gradients, one rule at a time | 105 |
# | C | doubting a gradient; the first wrong line | 80 |
#
# Each exercise is a statement, a function for you to write, and its checks. Some checks are kept back for
# grading: they make the same claims about other sizes and other numbers. The exercises do not build on each
# other's code, so take them in any order.
#
# Words used throughout: `n_window` is the number of words $N$ that a prediction may look at, `vocab_size` the
# number of words $V$ it chooses between, `d_embedding` the number $d$ of numbers per word, `d_hidden` the
# width $D$ of the hidden layer, and B the number of windows handled at once. **Logits** are the numbers
# before the softmax. Logarithms are natural, so losses are in nats. Tensors of numbers are float64, words
# are int64.

# %% [markdown] rules

# %% setup

# %% provided="imports"
import math

import torch
from torch import Tensor, nn

from course.checks import (
    assert_close,
    assert_depends,
    assert_differentiable,
    assert_dtype,
    assert_equal,
    assert_true,
    attribute,
    homework,
)

check = homework("hw2_backprop")


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
# | `windows` | (M, N), int64 | all complete windows that have a next word, in the order of the text |
# | `targets` | (M,), int64 | the word that follows each window |
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
    """All windows (M, n_window) of the documents, and the word that follows each, (M,)."""
    ### BEGIN SOLUTION
    starts = [(document, i) for document in documents for i in range(len(document) - n_window)]
    windows = torch.stack([document[i : i + n_window] for document, i in starts])  # (M, N)
    targets = torch.stack([document[i + n_window] for document, i in starts])  # (M,)
    return windows, targets
    ### END SOLUTION


# %% check="the_example_has_three_windows" points=1
def the_example_has_three_windows(windows_and_targets):
    """The two documents of the example have the three windows and the targets 7, 8, 3."""
    windows, targets = windows_and_targets([torch.tensor([5, 6, 7, 8]), torch.tensor([1, 2, 3])], 2)
    assert_equal(windows, torch.tensor([[5, 6], [6, 7], [1, 2]]), what="windows")
    assert_equal(targets, torch.tensor([7, 8, 3]), what="targets")


check(the_example_has_three_windows, windows_and_targets)


# %% check="the_target_comes_next" points=1
def the_target_comes_next(windows_and_targets, draw):
    """When the text counts upwards, each target is one more than the newest word of its window."""
    start = draw.integers(10, 90)
    windows, targets = windows_and_targets([torch.arange(start, start + 11)], 3)
    assert_equal(targets, windows.max(dim=1).values + 1)


check(the_target_comes_next, windows_and_targets)


# %% check="a_window_is_read_from_left_to_right" points=1
def a_window_is_read_from_left_to_right(windows_and_targets, draw):
    """When the text counts upwards, so does every window."""
    start = draw.integers(10, 90)
    windows, _ = windows_and_targets([torch.arange(start, start + 11)], 4)
    assert_equal(windows[:, 1:] - windows[:, :-1], torch.ones(len(windows), 3, dtype=torch.int64))


check(a_window_is_read_from_left_to_right, windows_and_targets)


# %% check="every_window_is_there_once" points=1
def every_window_is_there_once(windows_and_targets, draw):
    """Documents of 9, 4 and 7 words have 6 + 1 + 4 windows of three words that something follows."""
    windows, targets = windows_and_targets([draw.integers(0, 50, length) for length in (9, 4, 7)], 3)
    assert_equal(list(windows.shape), [11, 3], what="the shape of the windows")
    assert_equal(list(targets.shape), [11], what="the shape of the targets")


check(every_window_is_there_once, windows_and_targets)


# %% check="no_pair_reaches_into_another_document" points=1
def no_pair_reaches_into_another_document(windows_and_targets, draw):
    """A window and its target come from one document, and a document of N words has none."""
    documents = [100 * k + draw.integers(0, 100, length) for k, length in ((1, 6), (2, 8), (3, 3), (4, 5))]
    windows, targets = windows_and_targets(documents, 3)
    assert_equal(windows // 100, (targets // 100)[:, None].expand(-1, 3), what="the document of each word")


check(no_pair_reaches_into_another_document, windows_and_targets)


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


check(other_documents_have_their_windows, windows_and_targets)

# %% [markdown] exercise="batch_at" difficulty=1 minutes=5
# ### 2. A batch from anywhere
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
    """The batch of the example has the windows (15, 16, 23) and (4, 8, 15) and the targets 42 and 16."""
    windows, targets = batch_at(torch.tensor([4, 8, 15, 16, 23, 42]), torch.tensor([2, 0]), 3)
    assert_equal(windows, torch.tensor([[15, 16, 23], [4, 8, 15]]), what="windows")
    assert_equal(targets, torch.tensor([42, 16]), what="targets")


check(the_example_batch_has_two_rows, batch_at)


# %% check="each_row_begins_at_its_own_place" points=1
def each_row_begins_at_its_own_place(batch_at, draw):
    """In the text 0, 1, 2, … the first words of the windows are the starts."""
    starts = torch.tensor([7, 2, 9, 0]) + draw.integers(0, 5)
    windows, _ = batch_at(torch.arange(40), starts, 3)
    assert_equal(windows[:, 0], starts)


check(each_row_begins_at_its_own_place, batch_at)


# %% check="the_target_stands_behind_its_window" points=1
def the_target_stands_behind_its_window(batch_at, draw):
    """In the text 0, 1, 2, … each target is one more than the last word of its window."""
    windows, targets = batch_at(torch.arange(40), draw.integers(4, 30, 5), 4)
    assert_equal(targets, windows[:, -1] + 1)


check(the_target_stands_behind_its_window, batch_at)


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


check(other_batches_are_cut_out_of_the_text, batch_at)

# %% [markdown] exercise="log_softmax" difficulty=2 minutes=10 forbids="torch.log_softmax,torch.softmax,torch.logsumexp,torch.logaddexp,torch.logcumsumexp,.log_softmax,.softmax,.logsumexp,.logaddexp,.logcumsumexp,torch.nn.functional.log_softmax,torch.nn.functional.softmax,torch.nn.functional.cross_entropy,torch.nn.LogSoftmax,torch.nn.Softmax,torch.nn.CrossEntropyLoss,torch.special,torch.distributions,torch.ops,scipy,course" exempt="gradient"
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


check(the_example_logits_give_quarters, log_softmax)


# %% check="each_row_is_a_distribution" points=1
def each_row_is_a_distribution(log_softmax, draw):
    """The probabilities along the last axis sum to one, with one row or with two times three of them."""
    log_probs, of_one_row = log_softmax(draw.normal(2, 3, 5)), log_softmax(draw.normal(5))
    assert_close(
        log_probs.exp().sum(-1), torch.ones(2, 3, dtype=torch.float64), what="of two times three rows"
    )
    assert_close(of_one_row.exp().sum(-1), torch.ones((), dtype=torch.float64), what="of one row")


check(each_row_is_a_distribution, log_softmax)


# %% check="a_constant_changes_nothing" points=1
def a_constant_changes_nothing(log_softmax, draw):
    """A number added to all logits of a row, another one for each row, changes nothing."""
    logits, constants = draw.normal(3, 5), torch.tensor([[2.0], [-1.0], [0.5]], dtype=torch.float64)
    answer = log_softmax(logits)
    assert_close(log_softmax(logits + constants), answer)
    assert_depends(answer, log_softmax(3 * logits))


check(a_constant_changes_nothing, log_softmax)


# %% check="logits_of_a_thousand_are_no_trouble" points=1
def logits_of_a_thousand_are_no_trouble(log_softmax):
    """(1000, 1000 + ln 3) beside (-1000, -1000 + ln 3) still give 1/4 and 3/4."""
    pair = torch.tensor([0.0, math.log(3)], dtype=torch.float64)
    answer = log_softmax(torch.stack([pair + 1000, pair - 1000, pair]))
    assert_close(answer, torch.tensor([[0.25, 0.75]] * 3, dtype=torch.float64).log())


check(logits_of_a_thousand_are_no_trouble, log_softmax)


# %% check="an_unlikely_word_keeps_its_log_prob" points=1
def an_unlikely_word_keeps_its_log_prob(log_softmax):
    """A word whose logit is 2000 below the best has the log-probability -2000, not minus infinity."""
    answer = log_softmax(torch.tensor([[0.0, -2000.0, -3.0]], dtype=torch.float64))
    rest = math.log(1 + math.exp(-3))
    assert_close(answer, torch.tensor([[-rest, -2000 - rest, -3 - rest]], dtype=torch.float64))


check(an_unlikely_word_keeps_its_log_prob, log_softmax)


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


check(other_logits_give_their_log_probs, log_softmax)

# %% [markdown] exercise="cross_entropy" difficulty=1 minutes=10 forbids="torch.nn.functional.cross_entropy,torch.nn.functional.nll_loss,torch.nn.functional.kl_div,torch.nn.CrossEntropyLoss,torch.nn.NLLLoss,torch.nn.KLDivLoss,torch.distributions,torch.ops,course" exempt="gradient"
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
# `log_probs[torch.arange(B), targets]` takes one number from each row.
#
# </details>
#
# <details><summary>Hint 2</summary>
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
    """The two predictions of the example cost (ln 5/3 + ln 3) / 2."""
    logits = torch.tensor([[0.0, math.log(3), 0.0], [0.0, 0.0, 0.0]], dtype=torch.float64)
    assert_close(cross_entropy(logits, torch.tensor([1, 0])), (math.log(5 / 3) + math.log(3)) / 2)


check(the_example_costs_0_8047_nats, cross_entropy)


# %% check="a_sure_model_pays_nothing_or_much" points=1
def a_sure_model_pays_nothing_or_much(cross_entropy):
    """A logit of 40 above the others costs nothing if it is the target's, and 40 nats if it is not."""
    logits = torch.tensor([[0.0, 40.0, 0.0, 0.0]], dtype=torch.float64)
    assert_close(cross_entropy(logits, torch.tensor([1])), 0.0, what="the sure word came")
    assert_close(cross_entropy(logits, torch.tensor([3])), 40.0, what="another word came")


check(a_sure_model_pays_nothing_or_much, cross_entropy)


# %% check="the_same_rows_twice_cost_the_same" points=1
def the_same_rows_twice_cost_the_same(cross_entropy, draw):
    """A batch that holds every row twice has the same mean loss."""
    logits, targets = draw.normal(3, 7), draw.integers(0, 7, 3)
    answer = cross_entropy(logits, targets)
    assert_close(cross_entropy(torch.cat([logits] * 2), torch.cat([targets] * 2)), answer)
    assert_depends(answer, cross_entropy(3 * logits, targets))


check(the_same_rows_twice_cost_the_same, cross_entropy)


# %% check="knowing_nothing_costs_ln_v" points=1
def knowing_nothing_costs_ln_v(cross_entropy):
    """Equal logits for 11 words cost ln 11 nats, whichever word comes."""
    answer = cross_entropy(torch.full((1, 11), 0.3, dtype=torch.float64), torch.tensor([4]))
    assert_close(answer, math.log(11))


check(knowing_nothing_costs_ln_v, cross_entropy)


# %% check="a_great_surprise_is_finite" points=1
def a_great_surprise_is_finite(cross_entropy):
    """A target whose logit is 2000 below the best costs 2000 nats."""
    logits = torch.tensor([[0.0, -2000.0, -2500.0]], dtype=torch.float64)
    assert_close(cross_entropy(logits, torch.tensor([1])), 2000.0)


check(a_great_surprise_is_finite, cross_entropy)


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


check(other_batches_have_their_mean_loss, cross_entropy)

# %% [markdown] exercise="draw_tokens" difficulty=2 minutes=10
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
    """With u = 0.4, 0.6 and 0.8 the words 0, 1 and 2 of the example are drawn."""
    logits = torch.tensor([[math.log(2), 0.0, 0.0]] * 3, dtype=torch.float64)
    uniforms = torch.tensor([0.4, 0.6, 0.8], dtype=torch.float64)
    assert_equal(draw_tokens(logits, uniforms), torch.tensor([0, 1, 2]))


check(the_example_draws_0_1_2, draw_tokens)


# %% check="a_word_is_drawn_as_often_as_it_is_likely" points=1
def a_word_is_drawn_as_often_as_it_is_likely(draw_tokens):
    """Of 200 evenly spread u, words of probability 1/10, 6/10 and 3/10 get 20, 120 and 60."""
    logits = torch.tensor([0.1, 0.6, 0.3], dtype=torch.float64).log().expand(200, 3)
    drawn = draw_tokens(logits, (torch.arange(200, dtype=torch.float64) + 0.5) / 200)
    assert_equal(torch.bincount(drawn, minlength=3), torch.tensor([20, 120, 60]))


check(a_word_is_drawn_as_often_as_it_is_likely, draw_tokens)


# %% check="logits_may_be_any_numbers" points=1
def logits_may_be_any_numbers(draw_tokens):
    """Logits 1 + ln 2, 1, 1 give the first word half of the line; 1, 1, 1 + ln 2 give the last word half."""
    logits = 1 + torch.tensor([[math.log(2), 0.0, 0.0], [0.0, 0.0, math.log(2)]], dtype=torch.float64)
    uniforms = torch.tensor([0.6, 0.4], dtype=torch.float64)
    assert_equal(draw_tokens(logits, uniforms), torch.tensor([1, 1]))


check(logits_may_be_any_numbers, draw_tokens)


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


check(other_words_are_drawn_by_their_pieces, draw_tokens)

# %% [markdown] exercise="FeedForwardLM" difficulty=2 minutes=20
# ### 6. The model
#
# The model of Bengio and others (2003), with the constants `b` and `c` of the paper:
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
# **Example.** $N = 2$, $d = D = 1$, three words: `E = [[0, 0.5, 1]]`, `W = [[1, -1]]`, `b = [0]`,
# `U = [[1], [0], [2]]`, `c = [0, 1, 0]`, `pad = 0`. The window `[2, 1]` has $\mathbf e = (1, 0.5)$, $h =
# \tanh(1 - 0.5) \approx 0.4621$ and the logits $(0.4621, 1, 0.9242)$.
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


# %% provided="weights"
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
def the_five_parameters_are_registered(FeedForwardLM):
    """The module knows the parameters E, W, b, U and c, in float64, and no others."""
    model = FeedForwardLM(7, 3, 2, 5, 0)
    assert_equal(sorted(model.gradients()), ["E", "U", "W", "b", "c"])
    assert_dtype(model.parameters(), torch.float64, what="a parameter")


check(the_five_parameters_are_registered, FeedForwardLM)


# %% check="the_example_window_has_its_logits" points=1
def the_example_window_has_its_logits(FeedForwardLM):
    """The window of the example has the logits 0.4621, 1, 0.9242, turned round -0.4621, 1, -0.9242."""
    weights = {"E": [[0.0, 0.5, 1.0]], "W": [[1.0, -1.0]], "b": [0.0], "U": [[1.0], [0.0], [2.0]]}
    weights |= {"c": [0.0, 1.0, 0.0]}
    model = FeedForwardLM(3, 2, 1, 1, 0)
    model.load_state_dict({name: torch.tensor(w, dtype=torch.float64) for name, w in weights.items()})
    h = math.tanh(0.5)
    windows = torch.tensor([[2, 1], [1, 2]])
    expected = torch.tensor([[h, 1.0, 2 * h], [-h, 1.0, -2 * h]], dtype=torch.float64)
    assert_close(model(windows), expected)


check(the_example_window_has_its_logits, FeedForwardLM)


# %% check="each_place_of_the_window_has_its_own_columns_of_w" points=1
def each_place_of_the_window_has_its_own_columns_of_w(FeedForwardLM, draw):
    """Exchanging the two words of a window and the two halves of W's columns changes nothing."""
    model, weights = FeedForwardLM(7, 2, 3, 5, 0), weights_of(draw, 7, 2, 3, 5)
    model.load_state_dict(weights)
    answer = model(torch.tensor([[4, 6], [1, 5], [3, 2], [2, 6]]))
    model.load_state_dict(weights | {"W": weights["W"].roll(3, dims=1)})
    assert_close(model(torch.tensor([[6, 4], [5, 1], [2, 3], [6, 2]])), answer)
    assert_depends(answer, model(torch.tensor([[4, 6], [1, 5], [3, 2], [2, 6]])))


check(each_place_of_the_window_has_its_own_columns_of_w, FeedForwardLM)


# %% check="without_w_the_constants_remain" points=1
def without_w_the_constants_remain(FeedForwardLM, draw):
    """With W = 0, every window has the logits U tanh(b) + c; for any W, gradients flow back."""
    model, weights = FeedForwardLM(7, 3, 2, 5, 0), weights_of(draw, 7, 3, 2, 5)
    model.load_state_dict(weights | {"W": torch.zeros(5, 6, dtype=torch.float64)})
    expected = (weights["U"] * weights["b"].tanh()).sum(1) + weights["c"]
    assert_close(model(torch.tensor([[1, 2, 3], [6, 4, 5]])), expected.expand(2, 7))
    model.load_state_dict(weights)
    assert_differentiable(model, torch.tensor([[1, 2, 3], [6, 4, 5]]))


check(without_w_the_constants_remain, FeedForwardLM)


# %% check="the_padding_word_counts_as_zeros" points=1
def the_padding_word_counts_as_zeros(FeedForwardLM, draw):
    """Another column of E for the padding word changes no logit, and that column gets no gradient."""
    model, weights = FeedForwardLM(7, 3, 2, 5, 4), weights_of(draw, 7, 3, 2, 5)
    windows = torch.tensor([[4, 4, 1], [4, 2, 6], [3, 5, 0], [4, 4, 4]])
    model.load_state_dict(weights)
    answer = model(windows)
    answer.square().sum().backward()
    assert_close(model.gradients()["E"][:, 4], torch.zeros(2, dtype=torch.float64), what="the gradient")
    other = weights["E"].clone()
    other[:, 4] += 1
    model.load_state_dict(weights | {"E": other})
    assert_close(model(windows), answer, what="the logits")


check(the_padding_word_counts_as_zeros, FeedForwardLM)


# %% check="other_models_have_their_logits_and_gradients" points=3 hidden
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


check(other_models_have_their_logits_and_gradients, FeedForwardLM)

# %% [markdown] exercise="first_loss_verdict" difficulty=1 minutes=5
# ### 7. The very first loss
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


check(the_three_examples_get_their_verdicts, first_loss_verdict)


# %% check="the_vocabulary_decides" points=1
def the_vocabulary_decides(first_loss_verdict):
    """A loss of 6.9 nats is as expected for 1000 words, too sure for 700, too good for 1400."""
    verdicts = [first_loss_verdict(6.9, vocab_size) for vocab_size in (1000, 700, 1400)]
    assert_equal(verdicts, ["as expected", "too sure", "too good"])


check(the_vocabulary_decides, first_loss_verdict)


# %% check="other_first_losses_get_their_verdicts" points=1 hidden
def other_first_losses_get_their_verdicts(first_loss_verdict, draw):
    """Other losses, close to the borders too, get their verdicts."""
    for vocab_size in (2, draw.integers(40, 60), 12_345):
        floor = math.log(vocab_size)
        losses = [floor + distance for distance in (0.26, -0.26, 0.24, -0.24, 1.5, 12.0, -0.6)]
        verdicts = [first_loss_verdict(loss, vocab_size) for loss in losses]
        expected = ["too sure", "too good", "as expected", "as expected", "too sure", "too sure", "too good"]
        assert_equal(verdicts, expected)


check(other_first_losses_get_their_verdicts, first_loss_verdict)


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


# %% [markdown] exercise="overfit_one_batch" difficulty=2 minutes=15
# ### 8. Overfit one batch
#
# The second look, before the data set: can the model learn a single batch by heart? If the loss of one batch
# does not go down step by step, no amount of text will help. The loop is short and has three classical holes,
# so write it once with care.
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


# %% provided="losses_by_hand"
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


check(the_first_loss_is_measured_before_any_step, overfit_one_batch)


# %% check="a_step_goes_down_the_training_mode_gradient" points=1
def a_step_goes_down_the_training_mode_gradient(overfit_one_batch, draw):
    """After one step the loss is that of a step taken with every second feature dropped."""
    weight, features, targets = draw.normal(5, 7), draw.normal(3, 7), torch.tensor([2, 0, 4])
    answer = overfit_one_batch(weight, features, targets, 0.5, 1)
    assert_close(answer, losses_by_hand(weight, features, targets, 0.5, 1))


check(a_step_goes_down_the_training_mode_gradient, overfit_one_batch)


# %% check="no_step_carries_an_old_gradient" points=1
def no_step_carries_an_old_gradient(overfit_one_batch, draw):
    """The third step uses the gradient of the third step alone, as the second did its own."""
    weight, features, targets = draw.normal(5, 7), draw.normal(3, 7), torch.tensor([1, 3, 0])
    answer = overfit_one_batch(weight, features, targets, 0.4, 3)
    assert_close(answer, losses_by_hand(weight, features, targets, 0.4, 3))


check(no_step_carries_an_old_gradient, overfit_one_batch)


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


check(other_batches_are_learned_step_by_step, overfit_one_batch)

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
# with 1. Also right: the share of hidden units near ±1, if the answer scales W as well. (1 point.)
# ### END SOLUTION

# %% [markdown]
# ## Part B. Gradients, one rule at a time
#
# A letter d before a name stands for a gradient of the loss: `dh` is $\partial L / \partial h$, in the
# shape of `h`. In a backward pass every layer is handed **upstream**, the gradient of the loss with respect
# to the layer's output, and hands back the gradients with respect to its inputs. Write them as formulas;
# torch's autograd stays off until you compare.

# %% [markdown] exercise="Value" difficulty=3 minutes=30 forbids="torch.autograd,torch.func,torch.Tensor.backward,.requires_grad_"
# ### 10. An automatic differentiation of your own
#
# A `Value` is a number that remembers how it was computed. From these memories `backward()` finds the
# derivative of one number with respect to all the numbers it was computed from.
#
# Write the class `Value`:
#
# | you write | and get |
# |---|---|
# | `Value(data)` | a number; `.data` is a float, `.grad` is 0.0 |
# | `a.add(b)`, `a.mul(b)` | new Values: $a + b$ and $a b$; `b` is a Value, and may be `a` itself |
# | `a.power(n)` | $a^n$ for a whole number $n \ge 1$; its derivative is $n a^{n-1}$, also where $a = 0$ |
# | `a.relu()` | $\max(a, 0)$; its derivative where $a = 0$ is 0, by agreement |
# | `a.tanh()` | $\tanh a$ |
# | `a.backward()` | sets `.grad` of `a`, and of every Value behind it, to the derivative of `a` |
#
# `backward()` **sets**: called twice, it leaves the same gradients as called once.
#
# **Example.** With $x = 3$ and $y = 2$, let $L = xy + y^2$. Then `L.data` is 10, and after `L.backward()`
# `x.grad` is $y = 2$, `y.grad` is $x + 2y = 7$ and `L.grad` is 1.
#
# <details><summary>Hint 1</summary>
#
# Let every new Value keep its parents and, for each, the derivative of the step: for $xy$ these are $y$ and
# $x$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# In the example $y$ is used three times. What must happen to the parts of its gradient, and may $y$ pass
# anything on before the last part has come?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# List the Values so that parents stand before children: visit the parents, then append yourself, each Value
# once. Go through the list from its end.
#
# </details>


# %% solution="Value"
class Value:
    """A number that knows which numbers it was computed from, and how it depends on each."""

    def __init__(self, data: float):
        ### BEGIN SOLUTION
        self.data = float(data)
        self.grad = 0.0
        self.parents = ()  # pairs of a Value and the derivative with respect to it
        ### END SOLUTION

    def add(self, other: "Value") -> "Value":
        """self + other"""
        ### BEGIN SOLUTION
        return self._computed(self.data + other.data, (self, 1.0), (other, 1.0))
        ### END SOLUTION

    def mul(self, other: "Value") -> "Value":
        """self · other"""
        ### BEGIN SOLUTION
        return self._computed(self.data * other.data, (self, other.data), (other, self.data))
        ### END SOLUTION

    def power(self, n: int) -> "Value":
        """self to the power of a whole number n of at least 1"""
        ### BEGIN SOLUTION
        return self._computed(self.data**n, (self, n * self.data ** (n - 1)))
        ### END SOLUTION

    def relu(self) -> "Value":
        """max(self, 0)"""
        ### BEGIN SOLUTION
        return self._computed(max(self.data, 0.0), (self, float(self.data > 0)))
        ### END SOLUTION

    def tanh(self) -> "Value":
        """tanh(self)"""
        ### BEGIN SOLUTION
        t = math.tanh(self.data)
        return self._computed(t, (self, 1 - t**2))

    def _computed(self, data, *parents):
        value = Value(data)
        value.parents = parents
        return value

    def _ancestors(self, seen):
        """This Value and all it was computed from, each once, parents first."""
        if id(self) in seen:
            return []
        seen.add(id(self))
        return [node for parent, _ in self.parents for node in parent._ancestors(seen)] + [self]
        ### END SOLUTION

    def backward(self) -> None:
        """Set the grad of this Value, and of every Value behind it, to the derivative of this one."""
        ### BEGIN SOLUTION
        order = self._ancestors(set())
        for value in order:
            value.grad = 0.0
        self.grad = 1.0
        for value in reversed(order):
            for parent, slope in value.parents:
                parent.grad += value.grad * slope
        ### END SOLUTION


# %% check="the_example_has_its_three_gradients" points=1
def the_example_has_its_three_gradients(Value):
    """With x = 3, y = 2 and L = xy + y², L is 10 and its gradients are 2, 7 and, for L itself, 1."""
    x, y = Value(3.0), Value(2.0)
    loss = x.mul(y).add(y.power(2))
    assert_close(attribute(loss, "data"), 10.0, what="L.data")
    loss.backward()
    assert_close([attribute(value, "grad") for value in (x, y, loss)], [2.0, 7.0, 1.0], what="x, y, L")


check(the_example_has_its_three_gradients, Value)


# %% check="each_use_of_a_value_counts" points=1
def each_use_of_a_value_counts(Value, draw):
    """The derivative of x·x + x is 2x + 1."""
    x = Value(draw.number(2, 3))
    loss = x.mul(x).add(x)
    loss.backward()
    assert_close(attribute(x, "grad"), 2 * attribute(x, "data") + 1)


check(each_use_of_a_value_counts, Value)


# %% check="nothing_is_passed_on_too_early" points=1
def nothing_is_passed_on_too_early(Value, draw):
    """With y = x³ and L = y + (y²)³, dL/dx is (1 + 6y⁵) · 3x²."""
    at = draw.number(1.1, 1.6)
    x = Value(at)
    y = x.power(3)
    y.add(y.power(2).power(3)).backward()
    assert_close(attribute(x, "grad"), (1 + 6 * at**15) * 3 * at**2)


check(nothing_is_passed_on_too_early, Value)


# %% check="backward_twice_is_backward_once" points=1
def backward_twice_is_backward_once(Value):
    """A second call of backward leaves the gradients as they are."""
    x, y = Value(3.0), Value(-2.0)
    loss = x.mul(y).tanh().add(x)
    loss.backward()
    loss.backward()
    slope = 1 - math.tanh(-6) ** 2
    assert_close([attribute(x, "grad"), attribute(y, "grad")], [1 - 2 * slope, 3 * slope])


check(backward_twice_is_backward_once, Value)


# %% check="zero_is_no_trouble" points=1
def zero_is_no_trouble(Value):
    """At 0 the derivative of the first power is 1, of the third 0, of relu 0."""
    gradients = []
    for make in ("first", "third", "relu"):
        x = Value(0.0)
        loss = x.relu() if make == "relu" else x.power(1 if make == "first" else 3)
        loss.backward()
        gradients.append(attribute(x, "grad"))
    assert_close(gradients, [1.0, 0.0, 0.0])


check(zero_is_no_trouble, Value)


# %% check="other_expressions_have_their_gradients" points=3 hidden
def other_expressions_have_their_gradients(Value, draw):
    """A longer expression has the gradients that torch finds, twice, and at zero."""
    for x_at, y_at in ((draw.number(0.5, 1.5), draw.number(-2.5, -1.5)), (0.0, draw.number(0.5, 1.5))):
        x, y = Value(x_at), Value(y_at)
        tx, ty = (torch.tensor(at, dtype=torch.float64, requires_grad=True) for at in (x_at, y_at))
        shared, t_shared = x.mul(y).add(x), tx * ty + tx
        loss = shared.tanh().mul(shared).add(y.power(3)).add(x.relu()).add(shared.power(2)).add(x.power(1))
        (t_shared.tanh() * t_shared + ty**3 + tx.relu() + t_shared**2 + tx).backward()
        expected = [tx.grad.item(), ty.grad.item()]
        for _ in range(2):
            loss.backward()
            assert_close(
                [attribute(x, "grad"), attribute(y, "grad")], expected, what="the gradients of x and y"
            )


check(other_expressions_have_their_gradients, Value)

# %% [markdown] exercise="softmax_vjp" difficulty=2 minutes=10 forbids=".backward,torch.autograd,torch.func,torch.ops,torch._softmax_backward_data" exempt="gradient"
# ### 11. Back through the softmax
#
# The softmax has the Jacobian $\partial \hat y_i / \partial z_j = \hat y_i (\delta_{ij} - \hat y_j)$, a table
# of V times V numbers for every row. Nobody needs the table. What the backward pass needs is its product with
# the upstream gradient $g = \partial L / \partial \hat y$, and that is V numbers:
#
# $$\frac{\partial L}{\partial z_j} = \sum_i g_i \frac{\partial \hat y_i}{\partial z_j}$$
#
# Write `softmax_vjp(probs, upstream)`, which returns $\partial L / \partial z$. All three are (B, V); `probs`
# is $\hat y$ itself. It must work for V = 5,000,000, where a V by V table fits on no machine.
#
# **Example.** $\hat y = (\tfrac12, \tfrac14, \tfrac14)$ and $g = (1, 0, 0)$ give
# $(\tfrac14, -\tfrac18, -\tfrac18)$.
#
# <details><summary>Hint 1</summary>
#
# Put the Jacobian into the sum and multiply out: one part has $\delta_{ij}$ in it and loses its sum. What is
# the other sum, and does it depend on $j$?
#
# </details>


# %% solution="softmax_vjp"
def softmax_vjp(probs: Tensor, upstream: Tensor) -> Tensor:
    """The gradient with respect to the logits, (B, V), from that with respect to the probabilities."""
    ### BEGIN SOLUTION
    mean = (probs * upstream).sum(dim=-1, keepdim=True)  # (B, 1)
    return probs * (upstream - mean)
    ### END SOLUTION


# %% check="the_example_gives_a_quarter" points=1
def the_example_gives_a_quarter(softmax_vjp):
    """The example gives (1/4, -1/8, -1/8), and a second row with g = (0, 0, 8) gives (-1, -1/2, 3/2)."""
    probs = torch.tensor([[0.5, 0.25, 0.25]] * 2, dtype=torch.float64)
    upstream = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 8.0]], dtype=torch.float64)
    expected = torch.tensor([[0.25, -0.125, -0.125], [-1.0, -0.5, 1.5]], dtype=torch.float64)
    assert_close(softmax_vjp(probs, upstream), expected)


check(the_example_gives_a_quarter, softmax_vjp)


# %% check="the_gradients_of_a_row_sum_to_zero" points=1
def the_gradients_of_a_row_sum_to_zero(softmax_vjp, draw):
    """Raising all logits of a row together changes nothing, so its gradients sum to zero."""
    answer = softmax_vjp(draw.probabilities(1, 7), 1 + draw.uniform(1, 7))
    assert_close(answer.sum(-1), torch.zeros(1, dtype=torch.float64))
    assert_depends(answer, torch.zeros(1, 7))


check(the_gradients_of_a_row_sum_to_zero, softmax_vjp)


# %% check="rows_do_not_see_each_other" points=1
def rows_do_not_see_each_other(softmax_vjp, draw):
    """What comes for the first row does not depend on the second."""
    probs, upstream = draw.probabilities(2, 5), 1 + draw.uniform(2, 5)
    both = softmax_vjp(probs, upstream)
    assert_close(both[:1], softmax_vjp(probs[:1], upstream[:1]))
    assert_depends(both[:1], softmax_vjp(probs[:1], upstream[:1] ** 2))


check(rows_do_not_see_each_other, softmax_vjp)


# %% check="a_huge_vocabulary_needs_no_table" points=1
def a_huge_vocabulary_needs_no_table(softmax_vjp):
    """It works for a row of 5,000,000 words."""
    probs = torch.full((1, 5_000_000), 2e-7)
    upstream = torch.zeros(1, 5_000_000)
    upstream[0, 3] = 1e7
    answer = softmax_vjp(probs, upstream)
    assert_close(answer[0, :5], torch.tensor([-4e-7, -4e-7, -4e-7, 2.0, -4e-7]))


check(a_huge_vocabulary_needs_no_table, softmax_vjp)


# %% check="other_rows_agree_with_autograd" points=1 hidden
def other_rows_agree_with_autograd(softmax_vjp, draw):
    """For other sizes, the product is the one that autograd finds."""
    for batch_size, vocab_size in ((3, 5), (4, 2)):
        logits, upstream = (
            draw.normal(batch_size, vocab_size).requires_grad_(),
            2 + draw.normal(batch_size, vocab_size),
        )
        probs = logits.softmax(-1)
        (probs * upstream).sum().backward()
        assert_close(softmax_vjp(probs.detach(), upstream), logits.grad)


check(other_rows_agree_with_autograd, softmax_vjp)

# %% [markdown] exercise="cross_entropy_grad" difficulty=2 forbids=".backward,torch.autograd,torch.func,torch.ops" exempt="gradient"
# ### 12. The gradient of softmax and cross-entropy together
#
# Softmax and cross-entropy in one step have the most beautiful gradient of the subject: for one prediction
# $\partial L / \partial z = \hat{\mathbf y} - \mathbf y$, with $\mathbf y$ the target as a one-hot vector.
# Now the loss is the mean over a batch in which some rows are padding: their target is the number `pad`.
# They do not belong to the loss at all.
#
# Write `cross_entropy_grad(logits, targets, pad)`, the gradient (B, V) of the mean loss **over the rows
# that are no padding**, with respect to the logits (B, V). At least one row is no padding.
#
# **Example.** The logits $(0, \ln 3, 0)$ with target 1 have $\hat{\mathbf y} = (0.2, 0.6, 0.2)$ and the
# gradient $(0.2, -0.4, 0.2)$. Beside a second row, of whatever logits, with target `pad = 0`, this stays as
# it is, and the second row's gradient is zero.
#
# <details><summary>Hint 1</summary>
#
# Three questions: what is subtracted from what; which rows are zero; by which number is everything divided?
#
# </details>


# %% solution="cross_entropy_grad"
def cross_entropy_grad(logits: Tensor, targets: Tensor, pad: int) -> Tensor:
    """The gradient (B, V) of the mean cross-entropy over the rows whose target is not `pad`."""
    ### BEGIN SOLUTION
    is_target = targets != pad  # (B,)
    error = logits.softmax(dim=-1)
    error[torch.arange(len(targets)), targets] -= 1
    return error * is_target[:, None] / is_target.sum()
    ### END SOLUTION


# %% check="the_example_row_has_its_gradient" points=1
def the_example_row_has_its_gradient(cross_entropy_grad):
    """The logits (0, ln 3, 0) with target 1 have the gradient (0.2, -0.4, 0.2)."""
    logits = torch.tensor([[0.0, math.log(3), 0.0]], dtype=torch.float64)
    expected = torch.tensor([[0.2, -0.4, 0.2]], dtype=torch.float64)
    assert_close(cross_entropy_grad(logits, torch.tensor([1]), 0), expected)


check(the_example_row_has_its_gradient, cross_entropy_grad)


# %% check="a_row_among_many_moves_the_mean_less" points=1
def a_row_among_many_moves_the_mean_less(cross_entropy_grad, draw):
    """When every row is there twice, each has half the gradient."""
    logits, targets = draw.normal(3, 5), torch.tensor([4, 1, 3])
    once = cross_entropy_grad(logits, targets, 0)
    twice = cross_entropy_grad(torch.cat([logits] * 2), torch.cat([targets] * 2), 0)
    assert_close(2 * twice[:3], once)
    assert_depends(once, cross_entropy_grad(2 * logits, targets, 0))


check(a_row_among_many_moves_the_mean_less, cross_entropy_grad)


# %% check="padded_rows_have_no_gradient" points=1
def padded_rows_have_no_gradient(cross_entropy_grad, draw):
    """The gradient of rows whose target is padding is zero, and that of the others is not."""
    answer = cross_entropy_grad(draw.normal(4, 5), torch.tensor([2, 3, 0, 3]), 3)
    assert_close(answer[1::2], torch.zeros(2, 5, dtype=torch.float64))
    assert_depends(answer[0::2], torch.zeros(2, 5))


check(padded_rows_have_no_gradient, cross_entropy_grad)


# %% check="padded_rows_do_not_dilute_the_others" points=1
def padded_rows_do_not_dilute_the_others(cross_entropy_grad, draw):
    """Three more rows of padding leave the gradients of the other rows as they are."""
    logits, targets = draw.normal(5, 7), torch.tensor([2, 6, 0, 0, 0])
    alone = cross_entropy_grad(logits[:2], targets[:2], 0)
    assert_close(cross_entropy_grad(logits, targets, 0)[:2], alone)
    assert_depends(alone, cross_entropy_grad(2 * logits[:2], targets[:2], 0))


check(padded_rows_do_not_dilute_the_others, cross_entropy_grad)


# %% check="other_batches_agree_with_autograd" points=2 hidden
def other_batches_agree_with_autograd(cross_entropy_grad, draw):
    """For other batches, padded or not, the gradient is the one that autograd finds."""
    for targets, pad in ((torch.tensor([2, 5, 1, 5, 5, 0]), 5), (torch.tensor([3, 1, 4]), 0)):
        logits = draw.normal(len(targets), 8).requires_grad_()
        torch.nn.functional.cross_entropy(logits, targets, ignore_index=pad).backward()
        assert_close(cross_entropy_grad(logits.detach(), targets, pad), logits.grad)


check(other_batches_agree_with_autograd, cross_entropy_grad)

# %% [markdown] exercise="linear_backward" difficulty=2 forbids=".backward,torch.autograd,torch.func,torch.ops" exempt="gradient"
# ### 13. Back through a linear layer
#
# A linear layer computes $\mathbf a = \mathbf W \mathbf x + \mathbf b$ for each row of a batch; in tensors,
# `a = x @ W.T + b` with x (B, K), W (M, K), b (M,) and a (B, M).
#
# Write `linear_backward(x, W, upstream)`, which returns the tuple `(dx, dW, db)`, each in the shape of what
# it is the gradient of. `upstream` is $\partial L / \partial \mathbf a$, (B, M).
#
# **Example.** `x = [[1, 2]]`, `W = [[3, 4], [5, 6], [7, 8]]`, `upstream = [[1, 0, 10]]` give `dx = [[73,
# 84]]`, `dW = [[1, 2], [0, 0], [10, 20]]`, `db = [1, 0, 10]`.
#
# <details><summary>Hint 1</summary>
#
# For dW and dx, write down the two shapes you have and the one you need. There is only one way to multiply.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `b` is one row, and it is added to every row of the batch. Through how many rows does the loss depend on it?
#
# </details>


# %% solution="linear_backward"
def linear_backward(x: Tensor, W: Tensor, upstream: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """dx (B, K), dW (M, K), db (M,) of a = x Wᵀ + b, from upstream (B, M)."""
    ### BEGIN SOLUTION
    return upstream @ W, upstream.T @ x, upstream.sum(dim=0)
    ### END SOLUTION


# %% check="the_gradient_of_x_goes_through_w" points=1
def the_gradient_of_x_goes_through_w(linear_backward):
    """In the example dx is (73, 84)."""
    x, W = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    dx, _, _ = linear_backward(x, W, torch.tensor([[1.0, 0.0, 10.0]]))
    assert_close(dx, torch.tensor([[73.0, 84.0]]))


check(the_gradient_of_x_goes_through_w, linear_backward)


# %% check="the_gradient_of_w_has_the_shape_of_w" points=1
def the_gradient_of_w_has_the_shape_of_w(linear_backward):
    """With the example's row there twice, dW is ((2, 4), (0, 0), (20, 40)), in the shape of W."""
    x, W = torch.tensor([[1.0, 2.0]] * 2), torch.tensor([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    _, dW, _ = linear_backward(x, W, torch.tensor([[1.0, 0.0, 10.0]] * 2))
    assert_close(dW, torch.tensor([[2.0, 4.0], [0.0, 0.0], [20.0, 40.0]]))


check(the_gradient_of_w_has_the_shape_of_w, linear_backward)


# %% check="the_bias_hears_from_every_row" points=1
def the_bias_hears_from_every_row(linear_backward):
    """With the rows (1, 0, 10) and (2, 5, 20) upstream, db is (3, 5, 30)."""
    x, W = torch.tensor([[1.0, 2.0]] * 2), torch.tensor([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    _, _, db = linear_backward(x, W, torch.tensor([[1.0, 0.0, 10.0], [2.0, 5.0, 20.0]]))
    assert_close(db, torch.tensor([3.0, 5.0, 30.0]))


check(the_bias_hears_from_every_row, linear_backward)


# %% check="other_linear_layers_agree_with_autograd" points=2 hidden
def other_linear_layers_agree_with_autograd(linear_backward, draw):
    """For other sizes, the three gradients are those that autograd finds."""
    for batch_size, n_in, n_out in ((5, 3, 4), (2, 7, 3)):
        x, W, b = (
            draw.normal(*shape).requires_grad_() for shape in ((batch_size, n_in), (n_out, n_in), (n_out,))
        )
        upstream = 1 + draw.normal(batch_size, n_out)
        ((x @ W.T + b) * upstream).sum().backward()
        gradients = linear_backward(x.detach(), W.detach(), upstream)
        for name, gradient, expected in zip(
            ("dx", "dW", "db"), gradients, (x.grad, W.grad, b.grad), strict=True
        ):
            assert_close(gradient, expected, what=name)


check(other_linear_layers_agree_with_autograd, linear_backward)

# %% [markdown] exercise="tanh_backward" minutes=5 forbids=".backward,torch.autograd,torch.func,torch.ops" exempt="gradient"
# ### 14. Back through tanh
#
# Write `tanh_backward(h, upstream)`, which returns $\partial L / \partial a$ for $h = \tanh a$. It is
# handed the **output** `h`, not `a`: that is all the backward pass needs. All three have the same shape.
#
# **Example.** `h = [0, 0.6]` and `upstream = [2, 5]` give `[2, 3.2]`.
#
# <details><summary>Hint 1</summary>
#
# The derivative of $\tanh a$ is $1 - \tanh^2 a$. Which part of it is in your hands already?
#
# </details>


# %% solution="tanh_backward"
def tanh_backward(h: Tensor, upstream: Tensor) -> Tensor:
    """The gradient with respect to a, from h = tanh(a) and the gradient with respect to h."""
    ### BEGIN SOLUTION
    return upstream * (1 - h**2)
    ### END SOLUTION


# %% check="the_example_slopes_are_1_and_0_64" points=1
def the_example_slopes_are_1_and_0_64(tanh_backward):
    """h = (0, 0.6) and upstream (2, 5) give (2, 3.2)."""
    h, upstream = torch.tensor([0.0, 0.6]).double(), torch.tensor([2.0, 5.0]).double()
    assert_close(tanh_backward(h, upstream), torch.tensor([2.0, 3.2]).double(), tolerance=1e-6)


check(the_example_slopes_are_1_and_0_64, tanh_backward)


# %% check="a_saturated_unit_passes_nothing_on" points=1
def a_saturated_unit_passes_nothing_on(tanh_backward, draw):
    """Where h is 1 or -1, the gradient is zero, however large it is upstream."""
    h, upstream = torch.tensor([[1.0, -1.0, 0.5]]).double(), 10 + draw.uniform(1, 3)
    answer = tanh_backward(h, upstream)
    assert_close(answer[:, :2], torch.zeros(1, 2).double())
    assert_depends(answer, torch.zeros(1, 3))


check(a_saturated_unit_passes_nothing_on, tanh_backward)


# %% check="other_units_agree_with_autograd" points=1 hidden
def other_units_agree_with_autograd(tanh_backward, draw):
    """For other numbers and shapes, the gradient is the one that autograd finds."""
    for shape in ((3, 5), (2, 4, 3)):
        a, upstream = draw.normal(*shape).requires_grad_(), 2 + draw.normal(*shape)
        (a.tanh() * upstream).sum().backward()
        assert_close(tanh_backward(a.detach().tanh(), upstream), a.grad)


check(other_units_agree_with_autograd, tanh_backward)

# %% [markdown] exercise="embedding_backward" difficulty=2 forbids=".backward,torch.autograd,torch.func,torch.ops" exempt="gradient"
# ### 15. Back through the embedding
#
# `E.T[windows]` looks up a column of E for every word of every window. Backwards, every place of a window
# hands its gradient to the column it came from.
#
# Write `embedding_backward(windows, upstream, vocab_size)`, which returns dE, (d, V). `windows` is (B, N)
# int64, `upstream` (B, N, d).
#
# **Example.** One window `[2, 0, 2]`, $d = 1$, `upstream = [[[5], [7], [1]]]`, four words: `dE = [[7, 0, 6,
# 0]]`.
#
# <details><summary>Hint 1</summary>
#
# Write the loop first: for each place, add. Then look for what `dE[:, [2, 0, 2]] += …` does with the word
# that occurs twice, and at `index_add_`.
#
# </details>


# %% solution="embedding_backward"
def embedding_backward(windows: Tensor, upstream: Tensor, vocab_size: int) -> Tensor:
    """dE (d, V) from upstream (B, N, d), the gradient of what was looked up for windows (B, N)."""
    ### BEGIN SOLUTION
    by_place = upstream.flatten(end_dim=1)  # (B·N, d)
    dE = torch.zeros(by_place.shape[1], vocab_size, dtype=upstream.dtype)
    return dE.index_add(1, windows.flatten(), by_place.T)
    ### END SOLUTION


# %% check="the_example_word_gets_both_gradients" points=1
def the_example_word_gets_both_gradients(embedding_backward):
    """In the example the word that occurs twice gets 5 + 1, and the words that do not occur get 0."""
    upstream = torch.tensor([[[5.0], [7.0], [1.0]]])
    expected = torch.tensor([[7.0, 0.0, 6.0, 0.0]])
    assert_close(embedding_backward(torch.tensor([[2, 0, 2]]), upstream, 4), expected)


check(the_example_word_gets_both_gradients, embedding_backward)


# %% check="each_word_has_a_column" points=1
def each_word_has_a_column(embedding_backward, draw):
    """For words that occur once, the columns of dE are the rows of upstream."""
    upstream = draw.normal(2, 2, 3)
    answer = embedding_backward(torch.tensor([[4, 1], [0, 3]]), upstream, 5)
    expected = torch.stack(
        [upstream[1, 0], upstream[0, 1], 0 * upstream[0, 0], upstream[1, 1], upstream[0, 0]]
    )
    assert_close(answer, expected.T)


check(each_word_has_a_column, embedding_backward)


# %% check="other_windows_agree_with_autograd" points=2 hidden
def other_windows_agree_with_autograd(embedding_backward, draw):
    """For other windows, with many words repeated, dE is the one that autograd finds."""
    for batch_size, n_window, d_embedding, vocab_size in ((4, 3, 2, 5), (2, 5, 4, 3)):
        windows = draw.integers(0, vocab_size - 1, batch_size, n_window)  # the last word never
        windows[0, 0] = windows[1, 1] = 1
        E, upstream = (
            draw.normal(d_embedding, vocab_size).requires_grad_(),
            1 + draw.uniform(batch_size, n_window, d_embedding),
        )
        (E.T[windows] * upstream).sum().backward()
        assert_close(embedding_backward(windows, upstream, vocab_size), E.grad)


check(other_windows_agree_with_autograd, embedding_backward)

# %% [markdown] exercise="unbroadcast" difficulty=2 minutes=10 forbids=".backward,torch.autograd,torch.func,torch.ops,.sum_to_size" exempt="gradient"
# ### 16. Back through broadcasting
#
# Where a small tensor met a larger one, torch repeated it without being asked: a bias (M,) was added to
# every row of (B, M). Backwards, all copies of a number send a gradient, and they must be added up until
# the gradient has the shape of the tensor again.
#
# Write `unbroadcast(gradient, shape)`: `gradient` has the broadcast shape, the result has `shape`, a list of
# sizes that was broadcast to it. Missing axes come in front; axes of size 1 were stretched; others are as
# they were.
#
# **Example.** The gradient `[[1, 2, 3], [10, 20, 30]]` becomes `[11, 22, 33]` for the shape `[3]`, `[[6],
# [60]]` for the shape `[2, 1]`, and stays for `[2, 3]`.
#
# <details><summary>Hint 1</summary>
#
# Do it in two steps: first sum away the axes that `shape` does not have, then sum those that have size 1, and
# keep them (`keepdim=True`).
#
# </details>


# %% solution="unbroadcast"
def unbroadcast(gradient: Tensor, shape: list[int]) -> Tensor:
    """The gradient summed over the copies that broadcasting made, in the shape before it."""
    ### BEGIN SOLUTION
    while gradient.ndim > len(shape):
        gradient = gradient.sum(dim=0)
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(dim=axis, keepdim=True)
    return gradient
    ### END SOLUTION


# %% check="a_missing_axis_is_summed_away" points=1
def a_missing_axis_is_summed_away(unbroadcast):
    """The example becomes (11, 22, 33) for the shape (3); four copies of it become (44, 88, 132)."""
    gradient = torch.tensor([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]).double()
    rows = torch.tensor([11.0, 22.0, 33.0]).double()
    assert_close(unbroadcast(gradient, [3]), rows, what="the example")
    assert_close(unbroadcast(gradient.expand(4, 2, 3), [3]), 4 * rows, what="four copies")


check(a_missing_axis_is_summed_away, unbroadcast)


# %% check="a_stretched_axis_is_summed_and_kept" points=1
def a_stretched_axis_is_summed_and_kept(unbroadcast):
    """The example becomes ((6), (60)) for the shape (2, 1)."""
    gradient = torch.tensor([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]).double()
    assert_close(unbroadcast(gradient, [2, 1]), torch.tensor([[6.0], [60.0]]).double())


check(a_stretched_axis_is_summed_and_kept, unbroadcast)


# %% check="other_shapes_agree_with_autograd" points=2 hidden
def other_shapes_agree_with_autograd(unbroadcast, draw):
    """For other shapes, the gradient is the one that autograd finds."""
    for shape, wide in (
        ([3, 1], (2, 3, 4)),
        ([4], (3, 4)),
        ([2, 3], (2, 3)),
        ([1, 1, 5], (2, 3, 5)),
        ([], (2, 3)),
    ):
        small, gradient = draw.normal(*shape, 1).squeeze(-1).requires_grad_(), 1 + draw.uniform(*wide)
        (small.expand(wide) * gradient).sum().backward()
        assert_close(unbroadcast(gradient, shape), small.grad, what=f"from {list(wide)} to {shape}")


check(other_shapes_agree_with_autograd, unbroadcast)

# %% [markdown] exercise="layer_norm_backward" difficulty=3 minutes=20 forbids=".backward,torch.autograd,torch.func,torch.ops,torch.native_layer_norm_backward" exempt="gradient"
# ### 17. Back through a layer norm
#
# A layer norm, which you will meet again in the Transformer, makes of each row $\mathbf x$ of D numbers
#
# $$\hat x_i = \frac{x_i - m}{s}, \quad m = \frac1D \sum_j x_j, \quad s = \sqrt{\frac1D \sum_j (x_j - m)^2 +
# \epsilon}, \qquad y_i = \gamma_i \hat x_i + \beta_i$$
#
# Every $x_j$ moves $y_i$ in three ways: itself, through $m$ and through $s$. Put together, with
# $g_i = \gamma_i \, \partial L / \partial y_i$,
#
# $$\frac{\partial L}{\partial x_i}
# = \frac1s \Big( g_i - \overline{g} - \hat x_i \, \overline{g \hat x} \Big)$$
#
# where a bar is the mean over the row. Derive it on paper; then write
# `layer_norm_backward(x, gain, upstream, eps)`, which returns the tuple `(dx, dgain, dbias)`. `x` and
# `upstream` are (B, D), `gain` is $\gamma$, (D,).
#
# **Example.** For `x = [[1, -1, 1, -1]]`, all gains 1, eps 0: $m = 0$, $s = 1$, $\hat{\mathbf x} = \mathbf
# x$. With `upstream = [[4, 0, 0, 0]]`, $\overline g = 1$ and $\overline{g \hat x} = 1$, so `dx = [[2, 0,
# -2, 0]]`, `dgain = [4, 0, 0, 0]` and `dbias = [4, 0, 0, 0]`.
#
# <details><summary>Hint 1</summary>
#
# Compute $\hat{\mathbf x}$ and $s$ again first. `dgain` and `dbias` need no more, and hear from every row.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Two laws to test yourself: with eps = 0, each row of dx sums to zero, and so does its product with x̂.
#
# </details>


# %% solution="layer_norm_backward"
def layer_norm_backward(
    x: Tensor, gain: Tensor, upstream: Tensor, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """dx (B, D), dgain (D,), dbias (D,) of a layer norm over the last axis."""
    ### BEGIN SOLUTION
    centred = x - x.mean(dim=-1, keepdim=True)
    s = (centred.square().mean(dim=-1, keepdim=True) + eps).sqrt()  # (B, 1)
    normed, g = centred / s, upstream * gain  # (B, D)
    dx = (g - g.mean(-1, keepdim=True) - normed * (g * normed).mean(-1, keepdim=True)) / s
    return dx, (upstream * normed).sum(dim=0), upstream.sum(dim=0)
    ### END SOLUTION


# %% check="the_example_row_gets_2_0_minus_2_0" points=1
def the_example_row_gets_2_0_minus_2_0(layer_norm_backward):
    """In the example dx is (2, 0, -2, 0)."""
    x, upstream = (
        torch.tensor([[1.0, -1.0, 1.0, -1.0]]).double(),
        torch.tensor([[4.0, 0.0, 0.0, 0.0]]).double(),
    )
    dx, _, _ = layer_norm_backward(x, torch.ones(4).double(), upstream, 0.0)
    assert_close(dx, torch.tensor([[2.0, 0.0, -2.0, 0.0]]).double())


check(the_example_row_gets_2_0_minus_2_0, layer_norm_backward)


# %% check="raising_a_whole_row_changes_nothing" points=1
def raising_a_whole_row_changes_nothing(layer_norm_backward, draw):
    """Each row of dx sums to zero."""
    dx, _, _ = layer_norm_backward(draw.normal(3, 5), 1 + draw.uniform(5), 2 + draw.normal(3, 5), 1e-5)
    assert_close(dx.sum(-1), torch.zeros(3).double())
    assert_depends(dx, torch.zeros(3, 5))


check(raising_a_whole_row_changes_nothing, layer_norm_backward)


# %% check="stretching_a_row_changes_nothing" points=1
def stretching_a_row_changes_nothing(layer_norm_backward, draw):
    """With eps = 0, the product of each row of dx with the centred row of x sums to zero."""
    x = draw.normal(3, 5)
    dx, _, _ = layer_norm_backward(x, 1 + draw.uniform(5), 2 + draw.normal(3, 5), 0.0)
    assert_close((dx * (x - x.mean(-1, keepdim=True))).sum(-1), torch.zeros(3).double())
    assert_depends(dx, torch.zeros(3, 5))


check(stretching_a_row_changes_nothing, layer_norm_backward)


# %% check="gain_and_deviation_enter_dx" points=1
def gain_and_deviation_enter_dx(layer_norm_backward):
    """For the row (4, 0, 4, 0) with eps = 12, so s = 4, and gains 2, 3, 4, 5, dx is (43, -99, -85, 141) / 64."""
    x, upstream = torch.tensor([[4.0, 0.0, 4.0, 0.0]]).double(), torch.tensor([[4.0, 0.0, 0.0, 3.0]]).double()
    dx, _, _ = layer_norm_backward(x, torch.tensor([2.0, 3.0, 4.0, 5.0]).double(), upstream, 12.0)
    assert_close(dx, torch.tensor([[2.6875, -6.1875, -5.3125, 8.8125]]).double() / 4)


check(gain_and_deviation_enter_dx, layer_norm_backward)


# %% check="gain_and_bias_hear_from_every_row" points=1
def gain_and_bias_hear_from_every_row(layer_norm_backward):
    """For two rows (4, 0, 4, 0) with upstream (4, 0, 0, 3), dgain is (8, 0, 0, -6) and dbias (8, 0, 0, 6)."""
    x = torch.tensor([[4.0, 0.0, 4.0, 0.0]] * 2).double()
    upstream = torch.tensor([[4.0, 0.0, 0.0, 3.0]] * 2).double()
    _, dgain, dbias = layer_norm_backward(x, torch.tensor([2.0, 3.0, 4.0, 5.0]).double(), upstream, 0.0)
    assert_close(dgain, torch.tensor([8.0, 0.0, 0.0, -6.0]).double(), what="dgain")
    assert_close(dbias, torch.tensor([8.0, 0.0, 0.0, 6.0]).double(), what="dbias")


check(gain_and_bias_hear_from_every_row, layer_norm_backward)


# %% check="other_layer_norms_agree_with_autograd" points=2 hidden
def other_layer_norms_agree_with_autograd(layer_norm_backward, draw):
    """For other rows, gains and eps, the gradients are those of autograd."""
    for batch_size, d_model, eps in ((3, 5, 0.1), (4, 7, 1e-5)):
        x, gain, bias = (
            draw.normal(*shape).requires_grad_() for shape in ((batch_size, d_model), (d_model,), (d_model,))
        )
        upstream = 1 + draw.normal(batch_size, d_model)
        (torch.nn.functional.layer_norm(x, (d_model,), gain, bias, eps) * upstream).sum().backward()
        gradients = layer_norm_backward(x.detach(), gain.detach(), upstream, eps)
        expected = (x.grad, gain.grad, bias.grad)
        for name, gradient, right in zip(("dx", "dgain", "dbias"), gradients, expected, strict=True):
            assert_close(gradient, right, what=name)


check(other_layer_norms_agree_with_autograd, layer_norm_backward)

# %% [markdown]
# ## Part C. Doubting a gradient


# %% provided="losses_to_differentiate"
def cubic(x, generator):
    """The sum of the cubes."""
    return (x**3).sum()


def with_dropout(x, generator):
    """The sum of the squares of those numbers that a dropout, drawn anew at every call, leaves over."""
    kept = torch.rand(x.shape, generator=generator, dtype=torch.float64) < 0.5
    return (2 * kept * x**2 + x).sum()


def neighbours(x, generator):
    """The sum of the products of neighbours, in reading order."""
    flat = x.flatten()
    return (flat[1:] * flat[:-1]).sum()


LOSSES = {"cubic": cubic, "with_dropout": with_dropout, "neighbours": neighbours}


# %% [markdown] exercise="numerical_gradient" difficulty=2 minutes=15 forbids=".backward,torch.autograd,torch.func,torch.ops"
# ### 18. A gradient from differences
#
# Whoever has written a gradient by hand wants a second opinion that knows no rules. Move one number of the
# input a little up and a little down, and see what the loss does:
#
# $$\frac{\partial L}{\partial x_i} \approx
# \frac{L(x + \epsilon \, \mathbf 1_i) - L(x - \epsilon \, \mathbf 1_i)}{2 \epsilon}$$
#
# Write `numerical_gradient(loss_name, x, seed)`, which returns this with $\epsilon = 10^{-5}$ for **all**
# entries of `x`, in float64 and in the shape of `x`. The loss is `LOSSES[loss_name](x, generator)`, defined
# in the cell above. Some losses draw random numbers from the generator, and the difference of two draws is
# no derivative: let every call see the same draw, that of `torch.Generator().manual_seed(seed)`. `x` may
# come in float32, whose seven digits are too few for a difference of $10^{-5}$: compute in float64. Leave
# `x` as it is.
#
# **Example.** The loss `"cubic"` is $\sum_i x_i^3$. At `x = [1, 2]` the gradient is `[3, 12]`.
#
# <details><summary>Hint 1</summary>
#
# What should the generator's state be when each of the two losses is computed?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Make a float64 copy of `x` for every call, and change one entry of the copy. `x.flatten()` has one axis to
# walk along.
#
# </details>


# %% solution="numerical_gradient"
def numerical_gradient(loss_name: str, x: Tensor, seed: int) -> Tensor:
    """The central differences of a loss at x, in the shape of x and in float64."""
    ### BEGIN SOLUTION
    step = 1e-5

    def loss_at(index, distance):
        moved = x.double().flatten().clone()
        moved[index] += distance
        return LOSSES[loss_name](moved.reshape(x.shape), torch.Generator().manual_seed(seed)).item()

    slopes = [(loss_at(i, step) - loss_at(i, -step)) / (2 * step) for i in range(x.numel())]
    return torch.tensor(slopes, dtype=torch.float64).reshape(x.shape)
    ### END SOLUTION


# %% check="the_cubic_example_has_slopes_3_and_12" points=1
def the_cubic_example_has_slopes_3_and_12(numerical_gradient):
    """The sum of the cubes has at (1, 2) the gradient (3, 12), to six digits."""
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    assert_close(numerical_gradient("cubic", x, 0), torch.tensor([3.0, 12.0], dtype=torch.float64))


check(the_cubic_example_has_slopes_3_and_12, numerical_gradient)


# %% check="float32_numbers_are_differentiated_in_float64" points=1
def float32_numbers_are_differentiated_in_float64(numerical_gradient):
    """For x in float32 the gradient is in float64 and has as many right digits."""
    answer = numerical_gradient("cubic", torch.tensor([1.5]), 0)
    assert_close(answer, torch.tensor([6.75], dtype=torch.float64), tolerance=1e-6)
    assert_dtype(answer, torch.float64)


check(float32_numbers_are_differentiated_in_float64, numerical_gradient)


# %% check="both_sides_see_the_same_dropout" points=1
def both_sides_see_the_same_dropout(numerical_gradient, draw):
    """With dropout, each slope is 1 where the number was dropped and 1 + 4x where it was kept."""
    x, seed = 3 + draw.uniform(1, 8), 11
    kept = torch.rand((1, 8), generator=torch.Generator().manual_seed(seed), dtype=torch.float64) < 0.5
    assert_close(numerical_gradient("with_dropout", x, seed), 1 + 4 * kept * x, tolerance=1e-5)


check(both_sides_see_the_same_dropout, numerical_gradient)


# %% check="every_entry_has_its_slope" points=1
def every_entry_has_its_slope(numerical_gradient, draw):
    """For the products of neighbours, the slope of each number is the sum of its neighbours."""
    x = 1 + draw.uniform(2, 3)
    padded = torch.cat([torch.zeros(1), x.flatten(), torch.zeros(1)])
    assert_close(
        numerical_gradient("neighbours", x, 0), (padded[2:] + padded[:-2]).reshape(2, 3), tolerance=1e-6
    )


check(every_entry_has_its_slope, numerical_gradient)


# %% check="other_losses_agree_with_autograd" points=2 hidden
def other_losses_agree_with_autograd(numerical_gradient, draw):
    """For other inputs, each loss has the gradient that autograd finds."""
    for name, shape in (("cubic", (3, 2)), ("with_dropout", (4, 5)), ("neighbours", (7,))):
        for dtype in (torch.float64, torch.float32):
            x, seed = (2 + draw.uniform(*shape)).to(dtype), draw.integers(0, 1000)
            exact = x.double().clone().requires_grad_()  # not the x that is handed over
            LOSSES[name](exact, torch.Generator().manual_seed(seed)).backward()
            assert_close(numerical_gradient(name, x, seed), exact.grad, tolerance=2e-6, what=name)


check(other_losses_agree_with_autograd, numerical_gradient)

# %% [markdown] exercise="wrong_entries" difficulty=2 minutes=10
# ### 19. Which entries are wrong?
#
# Three tensors of one shape lie before you: the slopes to the right $(L(x + \epsilon) - L(x)) / \epsilon$,
# the slopes to the left $(L(x) - L(x - \epsilon)) / \epsilon$, and the gradient that a program claims.
#
# - Where the two slopes differ by more than 1 % of the larger of their absolute values, `x` lies at a
#   **kink**, such as the 0 of relu. There is no derivative, and nobody is to blame.
# - Elsewhere the mean $m$ of the two slopes is compared with the claim $c$: the entry is **wrong** if
#   $|m - c| > 10^{-4} \max(|m|, |c|)$. The bound is relative, since the gradients of a good model may all be
#   small.
#
# Write `wrong_entries(right, left, claimed)`, which returns a tensor of True (wrong) and False in the same
# shape.
#
# **Example.** `right = [2, 1, 0.001]`, `left = [2, 0, 0.001]`, `claimed = [2, 0, 0.002]` give
# `[False, False, True]`: right, a kink, and wrong by a factor of 2.
#
# <details><summary>Hint 1</summary>
#
# Make two tensors of True and False, one for each rule, and combine them with `&` and `~`. `torch.maximum`
# works entry by entry.
#
# </details>


# %% solution="wrong_entries"
def wrong_entries(right: Tensor, left: Tensor, claimed: Tensor) -> Tensor:
    """Where the claimed gradient is wrong; kinks, where the slopes of both sides differ, are not judged."""
    ### BEGIN SOLUTION
    mean = (right + left) / 2
    is_kink = (right - left).abs() > 0.01 * torch.maximum(right.abs(), left.abs())
    differs = (mean - claimed).abs() > 1e-4 * torch.maximum(mean.abs(), claimed.abs())
    return differs & ~is_kink
    ### END SOLUTION


# %% check="the_third_entry_of_the_example_is_wrong" points=1
def the_third_entry_of_the_example_is_wrong(wrong_entries):
    """Of the three entries of the example only the third is wrong."""
    right, left, claimed = [2.0, 1.0, 0.001], [2.0, 0.0, 0.001], [2.0, 0.0, 0.002]
    answer = wrong_entries(*(torch.tensor(row, dtype=torch.float64) for row in (right, left, claimed)))
    assert_equal(answer, torch.tensor([False, False, True]))


check(the_third_entry_of_the_example_is_wrong, wrong_entries)


# %% check="small_gradients_are_judged_as_strictly" points=1
def small_gradients_are_judged_as_strictly(wrong_entries, draw):
    """Gradients a million times smaller, with slopes and claims alike, get the same verdicts."""
    slopes = (1 + draw.uniform(6)) * torch.tensor([1.0, -1.0, -1.0, 1.0, -1.0, 1.0], dtype=torch.float64)
    claimed = slopes * torch.tensor([1.0, 1.001, 1.0, -1.0, 0.99, 1.0], dtype=torch.float64)
    expected = torch.tensor([False, True, False, True, True, False])
    assert_equal(wrong_entries(slopes, slopes, claimed), expected, what="as they are")
    assert_equal(
        wrong_entries(slopes / 1e6, slopes / 1e6, claimed / 1e6), expected, what="a million times smaller"
    )


check(small_gradients_are_judged_as_strictly, wrong_entries)


# %% check="a_kink_is_nobodys_fault" points=1
def a_kink_is_nobodys_fault(wrong_entries, draw):
    """Where the slopes differ, any claim passes; a wrong claim beside it does not, and the mean of two does."""
    slope = draw.number(1, 2)
    right = torch.tensor([[slope, slope, -slope, 1.004 * slope]], dtype=torch.float64)
    left = torch.tensor([[0.0, slope, slope, 0.996 * slope]], dtype=torch.float64)
    answer = wrong_entries(right, left, torch.tensor([[slope, 0.0, 0.0, slope]], dtype=torch.float64))
    assert_equal(answer, torch.tensor([[False, True, False, False]]))


check(a_kink_is_nobodys_fault, wrong_entries)


# %% check="other_gradients_are_judged_by_both_rules" points=1 hidden
def other_gradients_are_judged_by_both_rules(wrong_entries, draw):
    """Other gradients, large and small, smooth and at kinks, get their verdicts."""
    for scale in (1e-7, 1.0, 1e4):
        right = scale * (1 + draw.uniform(4, 3))
        left, claimed, expected = right.clone(), right.clone(), torch.zeros(4, 3, dtype=torch.bool)
        left[1, 2], left[2, 0] = 0.0, -right[2, 0]
        claimed[0, 1], claimed[1, 2], claimed[3, 0], claimed[3, 2] = (
            0.0,
            0.0,
            1.003 * right[3, 0],
            -right[3, 2],
        )
        expected[0, 1] = expected[3, 0] = expected[3, 2] = True
        assert_equal(wrong_entries(right, left, claimed), expected)


check(other_gradients_are_judged_by_both_rules, wrong_entries)


# %% provided="lines_by_autograd"
LINES = ("e", "a", "h", "z", "y_hat", "L", "dz", "dU", "dc", "dh", "da", "dW", "db", "de", "dE")


def lines_by_autograd(E, W, b, U, c, windows, targets):
    """All fifteen lines of the next exercise, the gradients by autograd."""
    E, W, b, U, c = (weight.clone().requires_grad_() for weight in (E, W, b, U, c))
    e = torch.cat([E[:, column] for column in windows.unbind(dim=1)]).T
    a = nn.functional.linear(e, W, b)
    h = a.tanh()
    z = nn.functional.linear(h, U, c)
    L = nn.functional.cross_entropy(z, targets)
    named = {"e": e, "a": a, "h": h, "z": z, "U": U, "c": c, "W": W, "b": b, "E": E}
    for tensor in named.values():
        tensor.retain_grad()
    L.backward()
    lines = {"e": e, "a": a, "h": h, "z": z, "y_hat": z.softmax(dim=-1), "L": L}
    lines |= {f"d{name}": tensor.grad for name, tensor in named.items()}
    return {name: lines[name].detach() for name in LINES}


def three_windows(draw):
    """Arguments of a small model: B = 3, N = 2, d = 4, D = 7, V = 5, with repeated words."""
    windows, targets = torch.tensor([[1, 1], [2, 0], [3, 1]]), torch.tensor([3, 1, 4])
    return weights_of(draw, 5, 2, 4, 7) | {"windows": windows, "targets": targets}


def departs(own, expected, name):
    """Whether a line is missing, or is not what autograd finds."""
    try:
        assert_close(own[name], expected[name])
    except (AssertionError, LookupError, TypeError):
        return True
    return False


def assert_line(own, expected, name):
    """One line is right; if not, the message names the first line that departs."""
    assert_true(isinstance(own, dict), f"A dictionary of lines is expected, not {type(own).__name__}.")
    if not departs(own, expected, name):
        return
    first = next(line for line in LINES if departs(own, expected, line))
    if first != name:
        message = (
            f"The first line that departs from autograd is {first}. Mend {first} first; {name} departs too."
        )
        assert_true(False, message)
    assert_true(name in own, f"The first line that departs from autograd is {name}: it is missing.")
    assert_close(own[name], expected[name], what=f"the first line that departs from autograd is {name}")


# %% [markdown] exercise="forward_and_backward" difficulty=3 minutes=35 forbids=".backward,torch.autograd,torch.func,torch.ops" exempt="gradient"
# ### 20. The first wrong line
#
# Now the whole model of exercise 6 (without padding), forwards and backwards, by hand. In a long backward
# pass a mistake spoils everything after it, and staring at a wrong `dE` tells nothing. So keep every
# intermediate result: there is a check for each, in order, and a failing one names **the first line that
# departs** from autograd. Mend that line; the later ones may be right already.
#
# Write `forward_and_backward(E, W, b, U, c, windows, targets)`, which returns a dict of fifteen lines. The
# loss is the **mean** cross-entropy over the batch. No call of autograd.
#
# | line | what | shape |
# |---|---|---|
# | `"e"` | joined embeddings | (B, N·d) |
# | `"a"` | $\mathbf W \mathbf e + \mathbf b$ | (B, D) |
# | `"h"` | $\tanh \mathbf a$ | (B, D) |
# | `"z"` | $\mathbf U \mathbf h + \mathbf c$ | (B, V) |
# | `"y_hat"` | softmax of $\mathbf z$ | (B, V) |
# | `"L"` | the loss | one number |
# | `"dz"` | $\partial L / \partial \mathbf z$ | that of `z` |
# | `"dU"` | $\partial L / \partial \mathbf U$ | that of `U` |
# | `"dc"` | $\partial L / \partial \mathbf c$ | that of `c` |
# | `"dh"` | $\partial L / \partial \mathbf h$ | that of `h` |
# | `"da"` | $\partial L / \partial \mathbf a$ | that of `a` |
# | `"dW"` | $\partial L / \partial \mathbf W$ | that of `W` |
# | `"db"` | $\partial L / \partial \mathbf b$ | that of `b` |
# | `"de"` | $\partial L / \partial \mathbf e$ | that of `e` |
# | `"dE"` | $\partial L / \partial \mathbf E$ | that of `E` |
#
# Shapes of the arguments: `E` (d, V), `W` (D, N·d), `b` (D,), `U` (V, D), `c` (V,), `windows` (B, N) and
# `targets` (B,), both int64. As in exercise 6, the first $d$ numbers of $\mathbf e$ belong to the oldest
# word.
#
# **Example.** With all weights zero, `y_hat` is $1/V$ everywhere and $L = \ln V$. For one row and three
# words with target 0, `dz` is $(-\tfrac23, \tfrac13, \tfrac13)$ and `dc` the same; all other gradients are
# zero.
#
# <details><summary>Hint 1</summary>
#
# Write all six forward lines first. Each backward line then needs one gradient that you have and one
# forward line.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The 1/B of the mean enters once, in `dz`. After that nothing is ever averaged.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `dU`, `dc`, `dh` are exercise 13 with `dz` upstream; `dW`, `db`, `de` are exercise 13 again, with `da`.
# For `dE`, give `de` the shape (B, N, d) and see exercise 15.
#
# </details>


# %% solution="forward_and_backward"
def forward_and_backward(
    E: Tensor, W: Tensor, b: Tensor, U: Tensor, c: Tensor, windows: Tensor, targets: Tensor
) -> dict[str, Tensor]:
    """Every intermediate result of the model and of its gradient, by name."""
    ### BEGIN SOLUTION
    rows = torch.arange(len(targets))

    e = E.T[windows].flatten(start_dim=1)  # (B, N·d)
    a = e @ W.T + b  # (B, D)
    h = torch.tanh(a)  # (B, D)
    z = h @ U.T + c  # (B, V)
    y_hat = z.softmax(dim=-1)  # (B, V)
    L = -z.log_softmax(dim=-1)[rows, targets].mean()

    dz = y_hat.clone()  # (B, V)
    dz[rows, targets] -= 1
    dz /= len(targets)
    dU = dz.T @ h  # (V, D)
    dc = dz.sum(dim=0)  # (V,)
    dh = dz @ U  # (B, D)
    da = dh * (1 - h**2)  # (B, D)
    dW = da.T @ e  # (D, N·d)
    db = da.sum(dim=0)  # (D,)
    de = da @ W  # (B, N·d)
    by_place = de.reshape(-1, len(E))  # (B·N, d)
    dE = torch.zeros_like(E).index_add(1, windows.flatten(), by_place.T)  # (d, V)

    names = ("e", "a", "h", "z", "y_hat", "L", "dz", "dU", "dc", "dh", "da", "dW", "db", "de", "dE")
    return dict(zip(names, (e, a, h, z, y_hat, L, dz, dU, dc, dh, da, dW, db, de, dE), strict=True))
    ### END SOLUTION


# %% check="line_e_agrees_with_autograd" points=1
def line_e_agrees_with_autograd(forward_and_backward, draw):
    """`e`, the joined embeddings, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "e")


check(line_e_agrees_with_autograd, forward_and_backward)


# %% check="line_a_agrees_with_autograd" points=1
def line_a_agrees_with_autograd(forward_and_backward, draw):
    """`a`, the hidden layer before tanh, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "a")


check(line_a_agrees_with_autograd, forward_and_backward)


# %% check="line_h_agrees_with_autograd" points=1
def line_h_agrees_with_autograd(forward_and_backward, draw):
    """`h`, the hidden layer, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "h")


check(line_h_agrees_with_autograd, forward_and_backward)


# %% check="line_z_agrees_with_autograd" points=1
def line_z_agrees_with_autograd(forward_and_backward, draw):
    """`z`, the logits, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "z")


check(line_z_agrees_with_autograd, forward_and_backward)


# %% check="line_y_hat_agrees_with_autograd" points=1
def line_y_hat_agrees_with_autograd(forward_and_backward, draw):
    """`y_hat`, the probabilities, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "y_hat")


check(line_y_hat_agrees_with_autograd, forward_and_backward)


# %% check="line_L_agrees_with_autograd" points=1
def line_L_agrees_with_autograd(forward_and_backward, draw):
    """`L`, the loss, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "L")


check(line_L_agrees_with_autograd, forward_and_backward)


# %% check="line_dz_agrees_with_autograd" points=1
def line_dz_agrees_with_autograd(forward_and_backward, draw):
    """`dz`, the gradient of the logits, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "dz")


check(line_dz_agrees_with_autograd, forward_and_backward)


# %% check="line_dU_agrees_with_autograd" points=1
def line_dU_agrees_with_autograd(forward_and_backward, draw):
    """`dU`, the gradient of U, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "dU")


check(line_dU_agrees_with_autograd, forward_and_backward)


# %% check="line_dc_agrees_with_autograd" points=1
def line_dc_agrees_with_autograd(forward_and_backward, draw):
    """`dc`, the gradient of c, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "dc")


check(line_dc_agrees_with_autograd, forward_and_backward)


# %% check="line_dh_agrees_with_autograd" points=1
def line_dh_agrees_with_autograd(forward_and_backward, draw):
    """`dh`, the gradient of the hidden layer, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "dh")


check(line_dh_agrees_with_autograd, forward_and_backward)


# %% check="line_da_agrees_with_autograd" points=1
def line_da_agrees_with_autograd(forward_and_backward, draw):
    """`da`, the gradient before tanh, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "da")


check(line_da_agrees_with_autograd, forward_and_backward)


# %% check="line_dW_agrees_with_autograd" points=1
def line_dW_agrees_with_autograd(forward_and_backward, draw):
    """`dW`, the gradient of W, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "dW")


check(line_dW_agrees_with_autograd, forward_and_backward)


# %% check="line_db_agrees_with_autograd" points=1
def line_db_agrees_with_autograd(forward_and_backward, draw):
    """`db`, the gradient of b, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "db")


check(line_db_agrees_with_autograd, forward_and_backward)


# %% check="line_de_agrees_with_autograd" points=1
def line_de_agrees_with_autograd(forward_and_backward, draw):
    """`de`, the gradient of the joined embeddings, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "de")


check(line_de_agrees_with_autograd, forward_and_backward)


# %% check="line_dE_agrees_with_autograd" points=1
def line_dE_agrees_with_autograd(forward_and_backward, draw):
    """`dE`, the gradient of E, is what autograd finds."""
    arguments = three_windows(draw)
    assert_line(forward_and_backward(**arguments), lines_by_autograd(**arguments), "dE")


check(line_dE_agrees_with_autograd, forward_and_backward)


# %% check="all_lines_hold_for_other_sizes" points=3 hidden
def all_lines_hold_for_other_sizes(forward_and_backward, draw):
    """With other sizes and weights, all fifteen lines are what autograd finds."""
    for sizes, batch_size in (((7, 2, 3, 4), 5), ((4, 5, 2, 3), 6)):
        weights, targets = weights_of(draw, *sizes), draw.integers(0, sizes[0], batch_size)
        windows = draw.integers(0, sizes[0], batch_size, sizes[1])
        windows[0] = torch.arange(sizes[1]) % 2
        windows[1] = 1
        own = forward_and_backward(**weights, windows=windows, targets=targets)
        expected = lines_by_autograd(**weights, windows=windows, targets=targets)
        for name in LINES:
            assert_line(own, expected, name)


check(all_lines_hold_for_other_sizes, forward_and_backward)

# %% provided="broken_runs"
# For the next exercise: the lines of somebody's backward pass that depart from autograd, in four runs.
BROKEN_RUNS = {
    "A": "none",
    "B": "none",
    "C": "dE",
    "D": "dE",
}

# %%
for run, broken in BROKEN_RUNS.items():
    print(f"run {run}: lines that depart from autograd: {broken}")

# %% [markdown] exercise="name_the_broken_line" difficulty=2 minutes=10
# ### 21. Find the fault
#
# Somebody else's `forward_and_backward` was compared with autograd in four runs; the table above says which
# lines departed.
#
# | run | batch |
# |---|---|
# | A | one window, three different words |
# | B | two windows, six different words |
# | C | one window, in which a word occurs twice |
# | D | two windows of three different words each; one word occurs in both |
#
# Exactly one thing is wrong. Write `name_the_broken_line()`, which takes nothing and returns the name of
# the fault:
#
# | name | what the program would do |
# |---|---|
# | `"mean_of_the_batch_forgotten"` | not divide dz by the number of windows |
# | `"bias_taken_from_the_first_window"` | take the first row of da for db, instead of the sum over the rows |
# | `"slope_of_tanh_forgotten"` | hand dh on as da |
# | `"repeated_word_overwritten"` | keep only the last gradient of a word that occurs more than once |
# | `"repeated_word_overwritten_within_a_window"` | the same within each window, but add up over windows |
# | `"gradients_of_a_word_averaged"` | divide the gradient of every word by the number of windows |
#
# **Example of the reasoning.** If run B had printed `dz dU dc dh …` and run A nothing, the fault would
# depend on the number of windows and come first in dz.
#
# <details><summary>Hint 1</summary>
#
# Which line does each fault break first? Cross out those that cannot leave run A and run B whole.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Two faults are left. What is the difference between run C and run D?
#
# </details>


# %% solution="name_the_broken_line"
def name_the_broken_line() -> str:
    """The name of the one fault behind the four runs."""
    ### BEGIN SOLUTION
    return "repeated_word_overwritten"
    ### END SOLUTION


# %% check="the_fault_leaves_runs_a_and_b_whole" points=1
def the_fault_leaves_runs_a_and_b_whole(name_the_broken_line):
    """The answer is one of the six names, and runs A and B do not show that fault."""
    shown_by = {
        "mean_of_the_batch_forgotten": "run B",
        "bias_taken_from_the_first_window": "run B",
        "slope_of_tanh_forgotten": "run A",
        "repeated_word_overwritten": "",
        "repeated_word_overwritten_within_a_window": "",
        "gradients_of_a_word_averaged": "run B",
    }
    answer = name_the_broken_line()
    assert_true(answer in shown_by, f"{answer!r} is not one of the six names.")
    assert_true(not shown_by[answer], f"{shown_by[answer]} would show that fault already.")


check(the_fault_leaves_runs_a_and_b_whole, name_the_broken_line)


# %% check="the_fault_breaks_what_the_table_says" points=3 hidden
def the_fault_breaks_what_the_table_says(name_the_broken_line, draw):
    """The fault you name breaks, in each run, exactly the lines that the table names."""
    batches = {"A": [[0, 1, 2]], "B": [[0, 1, 2], [3, 4, 5]], "C": [[0, 1, 0]], "D": [[0, 1, 2], [2, 4, 5]]}

    def broken_lines(fault, windows):
        weights, targets = weights_of(draw, 7, 3, 2, 4), torch.arange(len(windows)) + 4
        right = lines_by_autograd(**weights, windows=windows, targets=targets)
        n_windows, own = len(windows), dict(right)
        if fault == "mean_of_the_batch_forgotten":
            own |= {name: n_windows * right[name] for name in LINES[6:]}
        if fault == "bias_taken_from_the_first_window":
            own["db"] = right["da"][0]
        if fault == "slope_of_tanh_forgotten":
            own["da"] = right["dh"]
        if fault == "gradients_of_a_word_averaged":
            own["dE"] = right["dE"] / n_windows
        if fault.startswith("repeated_word_overwritten"):
            within = fault.endswith("within_a_window")
            total = torch.zeros_like(right["dE"])
            for window, de in zip(windows.tolist(), right["de"].reshape(n_windows, 3, 2), strict=True):
                last = dict(zip(window, de, strict=True))
                for word, gradient in last.items():
                    total[:, word] = gradient + (total[:, word] if within else 0)
            own["dE"] = total
        return " ".join(name for name in LINES if departs(own, right, name)) or "none"

    answer = name_the_broken_line()
    for run, batch in batches.items():
        shown = broken_lines(str(answer), torch.tensor(batch))
        assert_equal(shown, BROKEN_RUNS[run], what=f"the broken lines of run {run} with that fault")


check(the_fault_breaks_what_the_table_says, name_the_broken_line)

# %% [markdown] written="why_no_jacobian" points=4 minutes=10
# ### 22. What a backward pass costs
#
# A model has V = 50,000 words, a hidden layer of D = 1,000 and batches of B = 100 windows.
#
# a) How many numbers has the Jacobian of the logits of the whole batch with respect to U, zeros included?
# And how many numbers does `dz.T @ h` read and write?
#
# b) Computing $L$ from U and h takes about $2 \cdot B \cdot V \cdot D$ operations. About how many does it
# take to compute dU and dh together? Say why the gradient of **all** parameters costs only a small multiple
# of one forward pass, while differences (exercise 18) would cost as many forward passes as there are
# parameters, twice over.
#
# c) What must be kept in memory from the forward to the backward pass, and for which lines of exercise 20
# is it needed?
#
# ### BEGIN SOLUTION
# a) (1 point) The batch has B·V = 5 million logits, U has V·D = 50 million entries: 2.5 · 10^14 numbers.
# The product reads B·V + B·D = 5.1 million numbers and writes V·D = 50 million.
#
# b) (2 points) Two products of the same size: about 4·B·V·D, twice the forward pass. (1 point.) Going
# backwards from one number, L, every line hands on one tensor in the shape of its input and does about
# twice the work it did forwards, whatever the number of parameters. A difference answers for one parameter
# only and costs a forward pass on each side. (1 point.)
#
# c) (1 point) e (for dW), h (for dU and for the slope in da), y_hat (for dz), and the windows and targets
# (for dE and dz). The weights U and W are there anyway. Not a, since the slope of tanh needs h only.
# ### END SOLUTION
