# %% [markdown]
# ## Part G. Labels for every word
#
# A labeller says of every word of a text what it is: noun or verb, part of a name or not. A
# shape (B, T, labels) ends in the number of different labels. Texts of a batch are filled up with padding, and
# at the padding the argument `labels` holds the number `pad_label`. That number is no label of a word, whichever
# it is: sometimes −1 or −100, and sometimes 0, which then is not used for words.

# %% [markdown] exercise="labelling_loss" difficulty=1 minutes=10
# ### 19. The loss of a labeller
#
# Write `labelling_loss(logits, labels, pad_label)`: the mean cross-entropy per **real** word, in nats, as one
# number. `logits` is (B, T, labels), `labels` (B, T) int64. All real words of the batch count alike, in whichever
# text they stand. `logits[:, t]` is about the label of word t itself. There is at least one real word. At the
# padding the logits may be anything, NaN included.
#
# **Example.** One text of three places, two labels, all logits 0, labels `[[1, 0, -1]]` and `pad_label = -1`: each
# of the two words costs $\ln 2$, and the loss is $\ln 2 \approx 0.6931$.
#
# <details><summary>Hint 1</summary>
#
# Choose the real words first, `labels != pad_label`, and take the mean afterwards: over how many?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `torch.nn.functional.cross_entropy` wants a word's logits on axis 1, or (words, labels) and (words,). It ignores −100 unless
# you tell it what to ignore.
#
# </details>


# %% solution="labelling_loss"
def labelling_loss(logits: Tensor, labels: Tensor, pad_label: int) -> Tensor:
    """Mean nats per real word at labels (B, T) under logits (B, T, labels); places with pad_label do not count."""
    ### BEGIN SOLUTION
    is_real = labels != pad_label  # (B, T)
    log_probs = logits[is_real].log_softmax(dim=-1)  # (words, labels)
    return -log_probs.gather(-1, labels[is_real][:, None]).mean()
    ### END SOLUTION


# %% provided="labelled_texts" helper
def labelled_texts(draw, n_words, n_labels, pad_label):
    """Logits and labels of texts with these numbers of real words; label 0 is not used where it is the pad."""
    shape = (len(n_words), max(n_words))
    labels = draw.integers(int(pad_label == 0), n_labels, *shape)
    labels[torch.arange(shape[1]) >= torch.tensor(n_words)[:, None]] = pad_label
    return 2 * draw.normal(*shape, n_labels), labels


def more_padding(logits, labels, pad_label, n):
    """The same texts with n more places of padding, where the logits are large."""
    logits = torch.cat([logits, 9 * torch.eye(logits.shape[2])[:n].expand(len(logits), -1, -1)], dim=1)
    return logits, torch.cat([labels, torch.full((len(labels), n), pad_label)], dim=1)


# %% check="the_example_costs_ln_2" points=1
def the_example_costs_ln_2(labelling_loss):
    """The two words of the example cost ln 2 each, and so they do on average."""
    loss = labelling_loss(torch.zeros(1, 3, 2).double(), torch.tensor([[1, 0, -1]]), -1)
    assert_close(loss, math.log(2))


# %% check="padding_costs_nothing" points=1
def padding_costs_nothing(labelling_loss, draw):
    """Two more places of padding, with large logits or NaN, leave the loss as it is; gradients flow back."""
    logits, labels = labelled_texts(draw, (5, 3), 4, -1)
    answer = labelling_loss(logits, labels, -1)
    longer, longer_labels = more_padding(logits, labels, -1, 2)
    assert_close(labelling_loss(longer, longer_labels, -1), answer)
    unreadable = longer.masked_fill((longer_labels == -1)[..., None], math.nan)
    assert_close(labelling_loss(unreadable, longer_labels, -1), answer, what="with NaN at the padding")
    assert_depends(answer, labelling_loss(2 * logits, labels, -1))
    assert_differentiable(labelling_loss, logits, labels, -1)


# %% check="any_number_may_stand_for_padding" points=1
def any_number_may_stand_for_padding(labelling_loss, draw):
    """The same texts have the same loss whether -1, -100 or 0 stands for padding."""
    logits, labels = labelled_texts(draw, (5, 3), 4, 0)
    answer = labelling_loss(logits, labels, 0)
    for pad_label in (-1, -100):
        other = torch.where(labels == 0, pad_label, labels)
        assert_close(labelling_loss(logits, other, pad_label), answer, what=f"padding marked by {pad_label}")
    assert_depends(answer, labelling_loss(-logits, labels, 0))


# %% check="every_real_word_counts_alike" points=1
def every_real_word_counts_alike(labelling_loss, draw):
    """A batch costs, per word, what its texts cost alone, weighted by their numbers of words."""
    logits, labels = labelled_texts(draw, (6, 2), 3, -1)
    labels[0, 0], labels[1, :2] = 0, torch.tensor([1, 2])  # the texts share no proportion of labels 0
    alone = [
        labelling_loss(logits[row : row + 1, :n], labels[row : row + 1, :n], -1)
        for row, n in ((0, 6), (1, 2))
    ]
    assert_close(labelling_loss(logits, labels, -1), (6 * alone[0] + 2 * alone[1]) / 8)
    assert_depends(alone[0], alone[1])


# %% check="a_sure_labeller_pays_nothing" points=1
def a_sure_labeller_pays_nothing(labelling_loss, draw):
    """Where each word's own label is sure, the loss is 0, and 30 where another label is."""
    labels = torch.tensor([[2, 0, 1, 1, 0], [1, 2, 0, -1, -1]])
    logits = 30.0 * torch.eye(3).double()[labels % 3]  # at the padding sure of label 2
    assert_close(labelling_loss(logits, labels, -1), 0.0, what="the loss of sure labels")
    assert_close(
        labelling_loss(logits.roll(1, 2), labels, -1), 30.0, what="the loss of sure and wrong labels"
    )


# %% check="other_texts_have_their_loss" points=2 hidden
def other_texts_have_their_loss(labelling_loss, draw):
    """Other texts have the mean loss of their real words."""
    for n_words, n_labels, pad_label in (((4, 7, 1), 5, -100), ((3, 6, 2, 5), 3, -1), ((2, 5), 4, 0)):
        logits, labels = labelled_texts(draw, n_words, n_labels, pad_label)
        total = sum(
            (logits[row, t].exp().sum().log() - logits[row, t, labels[row, t]]).item()
            for row, n in enumerate(n_words)
            for t in range(n)
        )
        assert_close(labelling_loss(logits, labels, pad_label), total / sum(n_words))


# %% [markdown] exercise="labelling_accuracy" bonus difficulty=1 minutes=5
# ### 20. Its accuracy (bonus)
#
# Write `labelling_accuracy(logits, labels, pad_label)`: the fraction of the **real** words of the batch whose
# likeliest label is the right one, a number between 0 and 1. The arguments are those of exercise 19.
#
# **Example.** Two labels, one text of two real words and two places of padding, labels `[[1, 0, -1, -1]]`, and the
# labeller finds 1 likeliest everywhere: the accuracy is 0.5.
#
# <details><summary>Hint 1</summary>
#
# Count on paper for the example: how many right ones, out of how many? In which places may a 1 or a 0 be
# counted at all?
#
# </details>


# %% solution="labelling_accuracy"
def labelling_accuracy(logits: Tensor, labels: Tensor, pad_label: int) -> Tensor:
    """Fraction of the real words whose likeliest label is theirs, for logits (B, T, labels) and labels (B, T)."""
    ### BEGIN SOLUTION
    is_right = logits.argmax(dim=-1) == labels  # (B, T)
    return is_right[labels != pad_label].double().mean()
    ### END SOLUTION


# %% provided="likeliest_labels" helper
def sure_of(labels, n_labels):
    """Logits whose likeliest label is the given one, (B, T, labels)."""
    return 3.0 * torch.eye(n_labels).double()[labels] - 1.0


# %% check="the_example_is_half_right" points=1
def the_example_is_half_right(labelling_accuracy):
    """The labeller of the example is right about one of two words."""
    logits = sure_of(torch.tensor([[1, 1, 1, 1]]), 2)
    assert_close(float(labelling_accuracy(logits, torch.tensor([[1, 0, -1, -1]]), -1)), 0.5)
    both = labelling_accuracy(logits, torch.tensor([[1, 1, -1, -1]]), -1)
    assert_close(float(both), 1.0, what="where both words are right")


# %% check="padding_counts_neither_way" points=1
def padding_counts_neither_way(labelling_accuracy):
    """Six of eight real words are right, whatever the labeller says at the padding and whatever marks it."""
    labels = torch.tensor([[1, 2, 1, 2, 2], [2, 1, 1, 0, 0]])
    says = torch.tensor([[1, 2, 1, 2, 1], [2, 1, 0, 0, 0]])
    assert_close(float(labelling_accuracy(sure_of(says, 3), labels, 0)), 0.75, what="padding marked by 0")
    labels[1, 3:] = -1
    assert_close(float(labelling_accuracy(sure_of(says, 3), labels, -1)), 0.75, what="padding marked by -1")


# %% check="a_long_text_counts_more" points=1
def a_long_text_counts_more(labelling_accuracy):
    """A text of seven right words and one of one wrong word are 7/8 right together."""
    labels = torch.tensor([[1, 0, 1, 2, 0, 1, 2], [1, -1, -1, -1, -1, -1, -1]])
    says = torch.cat([labels[:1], torch.zeros(1, 7, dtype=torch.int64)])
    assert_close(float(labelling_accuracy(sure_of(says, 3), labels, -1)), 7 / 8)


# %% check="other_texts_have_their_accuracy" points=1 hidden
def other_texts_have_their_accuracy(labelling_accuracy, draw):
    """Other texts have the fraction of right words among their real ones."""
    for n_words, n_labels, pad_label in (((3, 8, 1), 4, 0), ((7, 2, 5, 4), 3, -100), ((6, 3), 5, -1)):
        _, labels = labelled_texts(draw, n_words, n_labels, pad_label)
        says = torch.where(
            draw.uniform(*labels.shape) < 0.6, labels.clamp(min=0), (labels + 1).clamp(min=0) % n_labels
        )
        says = torch.where(labels == pad_label, 0, says)
        says[0, :2] = labels[0, :2]
        says[1, 0] = 0 if pad_label == 0 else (labels[1, 0] + 1) % n_labels  # a wrong answer in any case
        n_right = sum((says[row, :n] == labels[row, :n]).sum().item() for row, n in enumerate(n_words))
        answer = labelling_accuracy(sure_of(says, n_labels), labels, pad_label)
        assert_close(float(answer), n_right / sum(n_words))


# %% [markdown] exercise="labels_of_pieces" bonus difficulty=2 minutes=10
# ### 21. Labels for pieces of words (bonus)
#
# The labels belong to words, but a tokenizer cuts words into pieces and puts special tokens around the text.
# Each word's label must go to the right piece: here to its **first** piece. All other pieces, and the special
# tokens, get `pad_label`, so that they cost nothing.
#
# Write `labels_of_pieces(word_labels, word_of_piece, pad_label)`. `word_labels` is a list with the label of each
# word. `word_of_piece` says for each piece the number of its word, counted from 0, or `None` for a special
# token; the pieces of a word stand together. A long text may have been cut off, so that the last words have no
# piece. Return the labels of the pieces, an int64 tensor as long as `word_of_piece`.
#
# **Example.** *Marie unbelievably left*, labels `[3, 0, 0]`, is cut into `<s> Marie un believ ably left </s>`.
# With `word_of_piece = [None, 0, 1, 1, 1, 2, None]` and `pad_label = -100` the labels are
# `[-100, 3, 0, -100, -100, 0, -100]`.
#
# <details><summary>Hint 1</summary>
#
# Which two neighbours do you have to compare to see that a piece is the first of its word?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Two words beside each other may have the same label. Compare words, not labels.
#
# </details>


# %% solution="labels_of_pieces"
def labels_of_pieces(word_labels: list[int], word_of_piece: list[int | None], pad_label: int) -> Tensor:
    """Each word's label at its first piece, pad_label at all other pieces."""
    ### BEGIN SOLUTION
    labels = []
    for before, word in pairwise([None, *word_of_piece]):
        is_first = word is not None and word != before
        labels.append(word_labels[word] if is_first else pad_label)
    return torch.tensor(labels)
    ### END SOLUTION


# %% check="the_example_pieces_have_their_labels" points=1
def the_example_pieces_have_their_labels(labels_of_pieces):
    """The seven pieces of the example have the labels of the statement."""
    answer = labels_of_pieces([3, 0, 0], [None, 0, 1, 1, 1, 2, None], -100)
    assert_equal(answer, torch.tensor([-100, 3, 0, -100, -100, 0, -100]))


# %% check="whole_words_keep_their_labels" points=1
def whole_words_keep_their_labels(labels_of_pieces):
    """Where every word is one piece and nothing special stands around, the labels are those of the words."""
    assert_equal(labels_of_pieces([2, 2, 0, 1, 1], [0, 1, 2, 3, 4], -100), torch.tensor([2, 2, 0, 1, 1]))


# %% check="every_word_is_labelled_once" points=1
def every_word_is_labelled_once(labels_of_pieces):
    """Words of 3, 1 and 2 pieces have one label each, also where two neighbours share it; so has a word alone."""
    answer = labels_of_pieces([7, 7, 4], [None, 0, 0, 0, 1, 2, 2, None], -1)
    assert_equal(torch.as_tensor(answer)[answer != -1], torch.tensor([7, 7, 4]))
    assert_equal(labels_of_pieces([5], [0, 0], -1), torch.tensor([5, -1]), what="the labels of a single word")


# %% check="special_tokens_shift_nothing" points=1
def special_tokens_shift_nothing(labels_of_pieces):
    """Two special tokens more at the beginning move all labels by two places."""
    alone = labels_of_pieces([5, 6, 8], [0, 1, 1, 2], -1)
    later = labels_of_pieces([5, 6, 8], [None, None, 0, 1, 1, 2], -1)
    assert_equal(later, torch.tensor([-1, -1, *torch.as_tensor(alone).tolist()]))
    assert_depends(alone, labels_of_pieces([8, 6, 5], [0, 1, 1, 2], -1))


# %% check="a_text_cut_off_loses_its_last_labels" points=1
def a_text_cut_off_loses_its_last_labels(labels_of_pieces):
    """If only three of five words have pieces, the labels of the first three are used."""
    answer = labels_of_pieces([1, 2, 3, 4, 5], [None, 0, 1, 1, 2, None], -100)
    assert_equal(answer, torch.tensor([-100, 1, 2, -100, 3, -100]))


# %% check="other_words_have_labelled_pieces" points=2 hidden
def other_words_have_labelled_pieces(labels_of_pieces, draw):
    """Other words, cut otherwise, have their label at the first piece."""
    for n_specials, pad_label in ((1, -100), (3, 99), (0, -1)):
        cut = [draw.integers(1, 4) for _ in range(6)]
        cut[1:4] = [1, 3, 2]
        word_labels = [int(label) for label in draw.integers(0, 9, 8)]
        word_labels[1] = word_labels[2] = word_labels[3]
        around, places, expected = [None] * n_specials, [], []
        for word, n_pieces in enumerate(cut):
            places += [word] * n_pieces
            expected += [word_labels[word]] + [pad_label] * (n_pieces - 1)
        pads = [pad_label] * n_specials
        answer = labels_of_pieces(word_labels, around + places + around, pad_label)
        assert_equal(answer, torch.tensor(pads + expected + pads))
