"""What goes wrong in the loss of the gaps and in the mask of an encoder (homework 7, part A)."""

import torch
from torch.nn import functional

from autograder.catalogue import misconception

IGNORED = -100

# 4. mlm_loss


def _surprise(logits, targets):
    log_probs = logits.log_softmax(-1).gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    return -log_probs.masked_fill(targets == IGNORED, 0.0)  # (B, T)


@misconception(of="mlm_loss", seen="https://github.com/huggingface/transformers/issues/2718")
def averaged_over_all_positions(logits, targets):
    """The sum over the gaps is divided by the number of all positions.

    With one gap among fourteen positions and equal logits for 5 words, is your loss ln 5? How many positions
    have been asked for?
    """
    return _surprise(logits, targets).mean()


@misconception(of="mlm_loss", seen="https://github.com/huggingface/transformers/issues/144")
def ignored_counted_as_word_0(logits, targets):
    """Positions that are not asked for are scored as if word 0 had stood there.

    What does your code do with a target of −100? Are the logits at such positions looked at?
    """
    return functional.cross_entropy(logits.flatten(0, 1), targets.clamp(min=0).flatten())


@misconception(of="mlm_loss", seen="https://github.com/mosaicml/examples/issues/457")
def word_0_never_counted(logits, targets):
    """Gaps in which word 0 stood are left out too, as if 0 meant "not asked for".

    Which number marks a position that is not asked for here? May 0 be a word like any other?
    """
    counted = targets > 0
    return _surprise(logits, targets)[counted].sum() / (targets != IGNORED).sum()


@misconception(of="mlm_loss")
def shifted_as_if_generating(logits, targets):
    """The logits at one position are compared with the word at the next, as in a GPT.

    In the gap itself the model sees a mask, not the word. Is there anything to shift?
    """
    moved = torch.full_like(targets, IGNORED)
    moved[:, :-1] = targets[:, 1:]
    n_asked = (moved != IGNORED).sum().clamp(min=1)
    return _surprise(logits, moved).sum() / n_asked


@misconception(of="mlm_loss")
def mean_of_the_means_of_sequences(logits, targets):
    """Each sequence is averaged on its own, so a gap counts more where there are few.

    A sequence with one gap and another with nine: how much does each of the ten count for you?
    """
    n_asked = (targets != IGNORED).sum(1)
    means = _surprise(logits, targets).sum(1) / n_asked.clamp(min=1)
    return means[n_asked > 0].mean()


@misconception(of="mlm_loss")
def softmax_before_the_loss(logits, targets):
    """A softmax is taken before a loss that takes one itself, so even a sure model pays.

    What is the least your loss can be when the right word has the logit 60 and the others 0?
    """
    return functional.cross_entropy(logits.softmax(-1).flatten(0, 1), targets.flatten(), ignore_index=IGNORED)


@misconception(of="mlm_loss")
def summed_over_the_gaps(logits, targets):
    """The surprises are summed up and not averaged.

    Knowing nothing of 5 words should cost ln 5. What does it cost with six gaps?
    """
    return _surprise(logits, targets).sum()


@misconception(of="mlm_loss")
def shifted_and_averaged(logits, targets):
    """The logits at one position are compared with the word at the next, as in a GPT.

    In the gap itself the model sees a mask, not the word. Is there anything to shift?
    """
    return functional.cross_entropy(logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten())


@misconception(of="mlm_loss")
def logits_taken_for_log_probs(logits, targets):
    """The loss expects logarithms of probabilities, and is given the logits as they are.

    Do the exponentials of your logits sum to one? Which of torch's losses takes the softmax itself?
    """
    return functional.nll_loss(logits.flatten(0, 1), targets.flatten())


@misconception(of="mlm_loss")
def probs_taken_for_log_probs(logits, targets):
    """The loss expects logarithms of probabilities, and is given probabilities.

    Can a mean surprise be below 0? Which step lies between a probability and its surprise?
    """
    return functional.nll_loss(logits.softmax(-1).flatten(0, 1), targets.flatten())


@misconception(of="mlm_loss")
def words_left_on_the_last_axis(logits, targets):
    """The words stay on the last axis, where torch's loss takes axis 1 for them.

    Which shape does `cross_entropy` want where the targets are (B, T)? On which axis are your words?
    """
    return functional.cross_entropy(logits, targets)


@misconception(of="mlm_loss")
def words_viewed_onto_axis_one(logits, targets):
    """The words are brought to axis 1 by a view, which mixes words and positions.

    Does `reshape` know which axis is which? What does `transpose(1, 2)` do instead?
    """
    return functional.cross_entropy(logits.reshape(len(logits), logits.shape[2], -1), targets)


# 5. encoder_mask


@misconception(of="encoder_mask", seen="https://github.com/yg211/bert_nli/pull/3")
def mask_of_ones(tokens, pad):
    """Everything may be attended to, padding too, so the answer for a text depends on its neighbours' length.

    Change what stands at a padded position. Do the real tokens notice?
    """
    return torch.ones(len(tokens), 1, 1, tokens.shape[1], dtype=torch.bool)


@misconception(of="encoder_mask", seen="https://github.com/CarryCKW/AES-NPCR/issues/7")
def padding_taken_to_be_0(tokens, pad):
    """The padding is looked for as word 0, whatever `pad` is.

    In the example the padding is word 9. Which places does your mask forbid?
    """
    return (tokens != 0)[:, None, None, :]


@misconception(of="encoder_mask")
def causal_mask_left_on(tokens, pad):
    """A causal triangle is left in the mask, so no token sees what comes behind it.

    A gap at the beginning: which words would help to fill it in, and may it look at them?
    """
    triangle = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).tril()
    first_is_real = torch.eye(tokens.shape[1], dtype=torch.bool)
    return (triangle & (tokens != pad)[:, None, None, :]) | first_is_real


@misconception(of="encoder_mask")
def queries_masked(tokens, pad):
    """The mask lies along the queries: padded positions may look nowhere, and everybody may look at them.

    In (B, H, queries, keys), along which axis does the softmax run? What is a softmax over a row that is
    forbidden throughout?
    """
    return (tokens != pad)[:, None, :, None]


@misconception(of="encoder_mask")
def true_means_forbidden(tokens, pad):
    """True stands at the padding: the mask is the wrong way round.

    What does True mean in the masks of this course? Which of torch's own functions mean the opposite?
    """
    return (tokens == pad)[:, None, None, :]


@misconception(of="encoder_mask")
def neither_query_nor_key_is_padding(tokens, pad):
    """Padding may neither be looked at nor look, so its rows have no True and become NaN.

    What is a softmax over a row that is forbidden throughout? Does anybody read what a padded query finds?
    """
    real = tokens != pad
    return real[:, None, None, :] & real[:, None, :, None]


@misconception(of="encoder_mask")
def triangle_and_padding(tokens, pad):
    """A causal triangle is joined to the padding, so no token sees what comes behind it.

    A gap at the beginning: which words would help to fill it in, and may it look at them?
    """
    triangle = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).tril()
    return triangle & (tokens != pad)[:, None, None, :]
