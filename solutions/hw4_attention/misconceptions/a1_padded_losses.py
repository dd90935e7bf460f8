"""What goes wrong in the loss of padded sentences."""

import torch

from autograder.catalogue import misconception

# 4. sequence_loss


def _surprises(logits, targets):
    return -logits.log_softmax(dim=-1).gather(-1, targets[..., None])[..., 0]


def _is_real(targets, lengths):
    return torch.arange(targets.shape[1]) < lengths[:, None]


@misconception(of="sequence_loss", seen="https://github.com/huggingface/transformers/issues/2759")
def mean_over_all_positions(logits, targets, lengths, pad):
    """The mean runs over all positions, those of padding included.

    How many numbers does your mean average in the example, and how many words are there? What does the model
    learn from being right about padding?
    """
    return _surprises(logits, targets).mean()


@misconception(of="sequence_loss", seen="https://github.com/tensorflow/docs/pull/1460")
def masked_sum_over_all_positions(logits, targets, lengths, pad):
    """The surprises of padding are set to 0, but the sum is divided by the number of all positions.

    With two more places of padding, which of your two numbers changes, the one above or the one below the
    fraction line?
    """
    return (_surprises(logits, targets) * _is_real(targets, lengths)).mean()


@misconception(of="sequence_loss", seen="https://github.com/pytorch/tutorials/issues/663")
def mean_of_step_means(logits, targets, lengths, pad):
    """First a mean is taken at each step, then the mean of these: the words of long sentences weigh more.

    At the last step of a batch only the longest sentence is left. How much does its word count in your loss,
    and how much does each word of the first step?
    """
    is_real = _is_real(targets, lengths)
    per_step = (_surprises(logits, targets) * is_real).sum(0) / is_real.sum(0).clamp(min=1)
    return per_step[is_real.any(0)].mean()


@misconception(of="sequence_loss")
def mean_of_sentence_means(logits, targets, lengths, pad):
    """First a mean is taken for each sentence, then the mean of these: words of short sentences weigh more.

    In a batch of one sentence of one word and one of nine, what fraction of your loss is due to the one word?
    """
    return (_totals(logits, targets, lengths) / lengths).mean()


@misconception(of="sequence_loss")
def mean_of_masked_sentence_means(logits, targets, lengths, pad):
    """A mean is taken for each sentence, and their mean: words of short sentences weigh more. NaN stays NaN.

    In a batch of one sentence of one word and one of nine, what fraction of your loss is due to the one word?
    And what is 0 times NaN?
    """
    return ((_surprises(logits, targets) * _is_real(targets, lengths)).sum(1) / lengths).mean()


@misconception(of="sequence_loss")
def divided_by_the_sentences(logits, targets, lengths, pad):
    """The sum of the surprises is divided by the number of sentences, not by the number of their words.

    Follow the example: by which number do you divide the three surprises, and what is it the number of?
    """
    return _totals(logits, targets, lengths).mean()


def _totals(logits, targets, lengths):
    """The surprises of each sentence's real words, added up (B,)."""
    return _surprises(logits, targets).masked_fill(~_is_real(targets, lengths), 0.0).sum(1)


@misconception(of="sequence_loss", seen="https://github.com/ml-explore/mlx-lm/pull/1697")
def one_pad_too_many(logits, targets, lengths, pad):
    """The mask is one place too long: behind every EOS one word of padding is learned.

    Write down the mask for a sentence of length 2 in a batch of width 4. How many places are True?
    """
    surprises = _surprises(logits, targets)
    return surprises[torch.arange(targets.shape[1]) <= lengths[:, None]].mean()


@misconception(of="sequence_loss", seen="https://github.com/open-jarvis/OpenJarvis/pull/521")
def eos_masked_with_the_padding(logits, targets, lengths, pad):
    """Every target that equals the padding word is masked, and where EOS is the same word, EOS is masked too.

    What does your mask say about the last word of a sentence when `eos == pad`? Which argument tells a real
    word from padding without looking at the word?
    """
    surprises = _surprises(logits, targets)
    return surprises[targets != pad].mean()


@misconception(of="sequence_loss")
def sum_instead_of_mean(logits, targets, lengths, pad):
    """The surprises are added up and not divided, so that a larger batch takes a larger step.

    What happens to your loss when every sentence stands twice in the batch?
    """
    return _surprises(logits, targets)[_is_real(targets, lengths)].sum()


@misconception(of="sequence_loss")
def last_word_left_out(logits, targets, lengths, pad):
    """The mask is one place too short: the last real target of every sentence, its EOS, is not learned.

    Write down the mask for a sentence of length 2. How many places are True, and which target is the second?
    """
    return _surprises(logits, targets)[torch.arange(targets.shape[1]) < lengths[:, None] - 1].mean()


@misconception(of="sequence_loss")
def logits_cut_anew(logits, targets, lengths, pad):
    """(B, T, V) is reshaped to (B, V, T), which cuts the rows of logits apart instead of turning them.

    Which numbers stand in the first column of your (V, T) for one sentence? Are they the logits of one place?
    """
    B, T, V = logits.shape
    return _surprises(logits.reshape(B, V, T).transpose(1, 2), targets)[_is_real(targets, lengths)].mean()


@misconception(of="sequence_loss")
def logits_taken_for_log_probabilities(logits, targets, lengths, pad):
    """The logits themselves are read as log-probabilities: no softmax stands between them and the loss.

    Add 1 to all logits of a place. Does the model say anything else, and what happens to your loss?
    """
    return -logits.gather(-1, targets[..., None])[..., 0][_is_real(targets, lengths)].mean()


@misconception(of="sequence_loss")
def softmax_before_the_cross_entropy(logits, targets, lengths, pad):
    """The softmax is taken twice, once by hand and once in the loss, which expects logits.

    A model is sure of the right word, with a logit of 30. How small is your loss, and how small can it get?
    """
    return _surprises(logits.softmax(-1), targets)[_is_real(targets, lengths)].mean()
