"""What goes wrong with labels for every word: padding in loss and accuracy, and words cut into pieces."""

import torch
from torch.nn import functional

from autograder.catalogue import misconception

# 19. labelling_loss


def _nats(logits, labels):
    """What each place costs, (B, T); a negative label is taken for label 0."""
    return -logits.log_softmax(-1).gather(-1, labels.clamp(min=0)[..., None])[..., 0]


@misconception(of="labelling_loss")
def padding_in_the_loss(logits, labels, pad_label):
    """The places of padding are in the mean like words, as if their label were 0.

    How many words does the example have, and how many terms your mean? What is there to learn where no word
    stands?
    """
    return _nats(logits, labels).mean()


@misconception(of="labelling_loss")
def divided_by_all_places(logits, labels, pad_label):
    """The padding costs nothing, but it is counted in the divisor, so that padded batches look better.

    In the example the two words cost 2 ln 2 together. By what do you divide?
    """
    return (_nats(logits, labels) * (labels != pad_label)).mean()


@misconception(of="labelling_loss", seen="https://github.com/meta-llama/llama-cookbook/issues/101")
def ignored_number_left_at_minus_100(logits, labels, pad_label):
    """The loss ignores -100, its default, where the padding is marked by another number.

    Which number does `cross_entropy` ignore if you say nothing, and which marks the padding here?
    """
    return functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


@misconception(of="labelling_loss")
def labels_shifted_as_in_a_language_model(logits, labels, pad_label):
    """Each word's logits are compared with the label of the next word, as in a language model.

    Which word's label do the logits at place t speak of: that of word t, or that of word t + 1?
    """
    return functional.cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:], ignore_index=pad_label)


@misconception(of="labelling_loss")
def mean_of_the_texts_means(logits, labels, pad_label):
    """Each text is averaged first, so a word of a short text counts more than a word of a long one.

    One text has six words, the other two. How much does one word of each count in your loss?
    """
    is_real = labels != pad_label
    nats = torch.where(is_real, _nats(logits, labels), 0.0)
    return (nats.sum(1) / is_real.sum(1)).mean()


@misconception(of="labelling_loss")
def padding_times_zero(logits, labels, pad_label):
    """The padding is multiplied by 0 after its loss was computed, and 0 times NaN is NaN.

    What does the statement allow at the padding? Does a word that is chosen away still enter your sum?
    """
    is_real = labels != pad_label
    return (_nats(logits, labels) * is_real).sum() / is_real.sum()


@misconception(of="labelling_loss")
def softmax_over_the_words(logits, labels, pad_label):
    """The softmax runs over the places of a text, so the labels of one word are no alternatives.

    Which axis of (B, T, labels) holds the labels that a word may have? What do they add up to in yours?
    """
    log_probs = logits.log_softmax(1)
    is_real = labels != pad_label
    return -log_probs[is_real].gather(-1, labels[is_real][:, None]).mean()


@misconception(of="labelling_loss")
def probabilities_for_their_logarithms(logits, labels, pad_label):
    """The mean probability of the labels is taken, with a minus sign; the logarithm is missing.

    What is the surprise at a label that has the probability 0.5? Can a loss be negative?
    """
    return -torch.exp(-_nats(logits, labels))[labels != pad_label].mean()


@misconception(of="labelling_loss")
def labels_axis_made_by_a_view(logits, labels, pad_label):
    """The axes of the logits are changed by a view, which mixes words and labels.

    Print the logits of one word before and after. Which of `view` and `transpose` moves numbers to other
    places?
    """
    B, T, n_labels = logits.shape
    return functional.cross_entropy(logits.reshape(B, n_labels, T), labels, ignore_index=pad_label)


@misconception(of="labelling_loss")
def summed_over_the_words(logits, labels, pad_label):
    """The nats of all words are added up and not divided by their number.

    In the example each of two words costs ln 2. What is their mean?
    """
    return _nats(logits, labels)[labels != pad_label].sum()


@misconception(of="labelling_loss")
def label_0_taken_for_padding(logits, labels, pad_label):
    """Words with label 0 are left out, whatever marks the padding.

    In the example, how many words does the text have, and how many are in your mean? What is `pad_label` for?
    """
    return _nats(logits, labels)[labels > 0].mean()


@misconception(of="labelling_loss")
def negative_labels_taken_for_padding(logits, labels, pad_label):
    """Every place with a label of 0 or more is counted, although the padding may be marked by 0.

    Which number marks the padding, by the statement? Where does `pad_label` occur in your function?
    """
    return _nats(logits, labels)[labels >= 0].mean()


@misconception(of="labelling_loss")
def softmax_before_the_cross_entropy(logits, labels, pad_label):
    """Probabilities are given to a cross-entropy that takes the softmax itself, so it is taken twice.

    Of what does `cross_entropy` take the softmax? What does a labeller pay that is quite sure and right?
    """
    return _nats(logits.softmax(-1), labels)[labels != pad_label].mean()


@misconception(of="labelling_loss")
def logits_taken_for_log_probabilities(logits, labels, pad_label):
    """The logit of the label is taken for its log-probability.

    All logits of the example are 0. How large is the probability of each of two labels then, and what is its
    logarithm?
    """
    is_word = labels != pad_label
    return -logits[is_word].gather(-1, labels[is_word][:, None]).mean()


@misconception(of="labelling_loss")
def places_where_the_labels_belong(logits, labels, pad_label):
    """The logits are passed as (B, T, labels), where a cross-entropy wants the labels on axis 1.

    Which of the three sizes does `cross_entropy` take for the number of labels? Compare it with the message.
    """
    return functional.cross_entropy(logits, labels, ignore_index=pad_label)


# 20. labelling_accuracy


@misconception(of="labelling_accuracy")
def accuracy_over_all_places(logits, labels, pad_label):
    """The places of padding are counted like words, so the accuracy depends on the longest text of the batch.

    In the example, by how many do you divide? How many words are there?
    """
    return (logits.argmax(-1) == labels).double().mean()


@misconception(of="labelling_accuracy")
def right_words_divided_by_all_places(logits, labels, pad_label):
    """Only real words are counted as right, but they are divided by the number of all places.

    In the example, how many of your places are words? Can a labeller that is always right reach 1?
    """
    return ((logits.argmax(-1) == labels) & (labels != pad_label)).double().mean()


@misconception(of="labelling_accuracy")
def padding_always_right(logits, labels, pad_label):
    """Each place of padding counts as a right answer.

    What is the accuracy of a labeller that is always wrong, in a batch that is mostly padding?
    """
    return ((logits.argmax(-1) == labels) | (labels == pad_label)).double().mean()


@misconception(of="labelling_accuracy")
def mean_of_the_texts_accuracies(logits, labels, pad_label):
    """The accuracy is averaged over texts, so a text of one word counts as much as a text of seven.

    How many of the eight words of two such texts are right, if only the short text is wrong?
    """
    is_real = labels != pad_label
    return (((logits.argmax(-1) == labels) & is_real).sum(1) / is_real.sum(1)).mean()


@misconception(of="labelling_accuracy")
def answers_left_out_instead_of_padding(logits, labels, pad_label):
    """Places where the labeller says padding are left out, instead of the places that are padding.

    Which of the two knows where the padding is: what the labeller says, or the labels?
    """
    says = logits.argmax(-1)
    counted = says != pad_label if pad_label >= 0 else labels != pad_label
    return (says == labels)[counted].double().mean()


@misconception(of="labelling_accuracy")
def probability_instead_of_choice(logits, labels, pad_label):
    """The mean probability of the right label is taken, not the fraction of words it wins.

    If the right label has 0.6 at every word, how many words are labelled rightly?
    """
    return torch.exp(-_nats(logits, labels))[labels != pad_label].mean()


@misconception(of="labelling_accuracy")
def right_answers_at_the_padding_counted(logits, labels, pad_label):
    """All places are searched for right answers, and only the divisor leaves the padding out.

    Where padding is marked by 0 and the labeller says 0 there, is that a right answer?
    """
    return (logits.argmax(-1) == labels).sum() / (labels != pad_label).sum()


@misconception(of="labelling_accuracy")
def right_words_not_divided(logits, labels, pad_label):
    """The right words are counted, but not divided by the number of words.

    Between which two numbers does a fraction lie?
    """
    return ((logits.argmax(-1) == labels) & (labels != pad_label)).sum()


@misconception(of="labelling_accuracy")
def nonnegative_labels_taken_for_words(logits, labels, pad_label):
    """Every place with a label of 0 or more is counted, although the padding may be marked by 0.

    Where does `pad_label` occur in your function? What is a place that holds 0 if 0 marks the padding?
    """
    return (logits.argmax(-1) == labels)[labels >= 0].double().mean()


@misconception(of="labelling_accuracy")
def percent(logits, labels, pad_label):
    """The fraction is given in percent.

    Between which two numbers should the answer lie?
    """
    return 100 * (logits.argmax(-1) == labels)[labels != pad_label].double().mean()


# 21. labels_of_pieces


@misconception(of="labels_of_pieces")
def labels_laid_out_from_the_first_piece(word_labels, word_of_piece, pad_label):
    """The labels are laid along the pieces one by one, so they slip at the first cut or special token.

    Which piece of the example gets the label of *Marie*, and which that of *left*?
    """
    n_pieces = len(word_of_piece)
    return torch.tensor([*word_labels, *[pad_label] * n_pieces][:n_pieces])


@misconception(of="labels_of_pieces")
def every_piece_labelled(word_labels, word_of_piece, pad_label):
    """All pieces of a word get its label, so long words count more often.

    How often does *unbelievably* enter the loss, and how often *left*?
    """
    return torch.tensor([pad_label if word is None else word_labels[word] for word in word_of_piece])


@misconception(of="labels_of_pieces")
def last_piece_labelled(word_labels, word_of_piece, pad_label):
    """The label stands at the last piece of a word instead of the first.

    Which neighbour do you compare a piece with: the one before it or the one after it?
    """
    following = [*word_of_piece[1:], None]
    return torch.tensor(
        [
            word_labels[word] if word is not None and word != after else pad_label
            for word, after in zip(word_of_piece, following, strict=True)
        ]
    )


@misconception(of="labels_of_pieces")
def special_tokens_given_label_0(word_labels, word_of_piece, pad_label):
    """The special tokens get label 0, as if they were words.

    Is `<s>` a word that a labeller should be judged by? What does the statement put there?
    """
    labels, before = [], None
    for word in word_of_piece:
        labels.append(0 if word is None else pad_label if word == before else word_labels[word])
        before = word
    return torch.tensor(labels)


@misconception(of="labels_of_pieces")
def neighbours_with_one_label_joined(word_labels, word_of_piece, pad_label):
    """A new word is recognised by a new label, so of two neighbours with one label the second is lost.

    Two words beside each other are both outside of any name. By what can you see that they are two words?
    """
    labels, before = [], None
    for word in word_of_piece:
        label = None if word is None else word_labels[word]
        labels.append(pad_label if label is None or label == before else label)
        before = label
    return torch.tensor(labels)


@misconception(of="labels_of_pieces")
def special_tokens_counted_as_words(word_labels, word_of_piece, pad_label):
    """The special tokens at the beginning are counted as words, so every label comes from a word further on.

    Which word is number 0: `<s>` or *Marie*?
    """
    n_specials = next(i for i, word in enumerate(word_of_piece) if word is not None)
    labels, before = [], None
    for word in word_of_piece:
        is_first = word is not None and word != before
        labels.append(word_labels[(word + n_specials) % len(word_labels)] if is_first else pad_label)
        before = word
    return torch.tensor(labels)


@misconception(of="labels_of_pieces")
def word_0_taken_for_a_special_token(word_labels, word_of_piece, pad_label):
    """The first word, whose number is 0, is treated like `None`.

    What is `not 0` in Python? How do you ask whether something is `None`?
    """
    labels, before = [], None
    for word in word_of_piece:
        labels.append(word_labels[word] if word and word != before else pad_label)
        before = word
    return torch.tensor(labels)


@misconception(of="labels_of_pieces")
def every_word_looked_up(word_labels, word_of_piece, pad_label):
    """Every word is searched among the pieces, also those that were cut off.

    What does `index` do if a word has no piece? Which would be the safer loop: over the words or the pieces?
    """
    labels = [pad_label] * len(word_of_piece)
    for word, label in enumerate(word_labels):
        labels[word_of_piece.index(word)] = label
    return torch.tensor(labels)


@misconception(of="labels_of_pieces")
def always_minus_100(word_labels, word_of_piece, pad_label):
    """The places that do not count get -100, whatever `pad_label` is.

    Where does the argument `pad_label` occur in your function?
    """
    labels, before = [], None
    for word in word_of_piece:
        labels.append(-100 if word is None or word == before else word_labels[word])
        before = word
    return torch.tensor(labels)


@misconception(of="labels_of_pieces")
def first_piece_compared_with_the_last(word_labels, word_of_piece, pad_label):
    """The first piece is compared with the last one: that is where Python's index -1 points.

    Which piece is `word_of_piece[i - 1]` for i = 0? What becomes of a text of a single word?
    """
    firsts = [word not in (None, word_of_piece[i - 1]) for i, word in enumerate(word_of_piece)]
    pairs = zip(word_of_piece, firsts, strict=True)
    return torch.tensor([word_labels[word] if is_first else pad_label for word, is_first in pairs])
