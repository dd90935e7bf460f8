"""What goes wrong in what a translator learns from (homework 7, part C)."""

from torch.nn import functional

from autograder.catalogue import misconception

# 18. translation_loss


def _next_surprise(logits, targets):
    log_probs = logits.log_softmax(dim=-1)
    return -log_probs.gather(-1, targets[..., None])[..., 0]  # (B, T − 1)


@misconception(of="translation_loss", seen="https://github.com/bentrevett/pytorch-seq2seq/issues/46")
def target_not_shifted(logits, target, pad):
    """The logits are compared with the word just read, so copying is learned and not translating.

    After `<s>` has been read, which word is the first logit about? Which one do you compare it with?
    """
    inputs = target[:, :-1]
    is_real = target[:, 1:] != pad
    return _next_surprise(logits, inputs)[is_real].mean()


@misconception(of="translation_loss")
def target_shifted_twice(logits, target, pad):
    """The target is shifted a second time: each logit is compared with the word after the next.

    The decoder has read `target[:, :-1]`. In the example, which token is `logits[:, 0]` about?
    """
    return functional.cross_entropy(logits[:, :-1].flatten(0, 1), target[:, 2:].flatten(), ignore_index=pad)


@misconception(of="translation_loss")
def loss_of_the_padding_too(logits, target, pad):
    """Padding is predicted and counted like a word.

    Put padding behind a target: does the loss change? What is learned from predicting `<pad>` after `<pad>`?
    """
    return _next_surprise(logits, target[:, 1:]).mean()


@misconception(of="translation_loss")
def divided_by_padding_too(logits, target, pad):
    """Padding costs nothing but is counted: the sum is divided by all places.

    How many real words have the targets together, without `<s>`? By which number do you divide?
    """
    return _next_surprise(logits, target[:, 1:]).masked_fill(target[:, 1:] == pad, 0.0).mean()


@misconception(of="translation_loss")
def softmax_and_then_the_loss(logits, target, pad):
    """A softmax is taken before a loss that takes one itself.

    Logits that name the next word with 60 should cost nothing. What do yours cost?
    """
    return functional.cross_entropy(
        logits.softmax(-1).flatten(0, 1), target[:, 1:].flatten(), ignore_index=pad
    )


@misconception(of="translation_loss")
def sentences_averaged(logits, target, pad):
    """Each sentence is averaged on its own, so words of short sentences count more.

    A sentence of 2 words and one of 20: how much does a word of each count for your loss?
    """
    is_real = target[:, 1:] != pad
    total = _next_surprise(logits, target[:, 1:]).masked_fill(~is_real, 0.0).sum(dim=1)
    return (total / is_real.sum(dim=1)).mean()


@misconception(of="translation_loss")
def inputs_taken_for_targets(logits, target, pad):
    """The logits are compared with `target[:, :-1]`, the words just read.

    After `<s>` has been read, which word is the first logit about? Which one do you compare it with?
    """
    return functional.cross_entropy(logits.flatten(0, 1), target[:, :-1].flatten(), ignore_index=pad)


@misconception(of="translation_loss")
def losses_of_words_summed(logits, target, pad):
    """The surprises are summed up and not averaged.

    In the example two words are predicted. By which number do you divide?
    """
    is_real = target[:, 1:] != pad
    return _next_surprise(logits, target[:, 1:])[is_real].sum()


@misconception(of="translation_loss")
def end_not_predicted(logits, target, pad):
    """The last token of a target, `</s>`, is left out, so the model never learns to stop.

    How many tokens are predicted in the example: one or two?
    """
    targets = target[:, 1:].masked_fill(target[:, 1:] == 2, pad)
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad)


@misconception(of="translation_loss")
def last_column_not_predicted(logits, target, pad):
    """The last column is cut off a second time, so the longest sentence is scored without its `</s>`.

    How many logits are there in the example, and how many of them does your loss use?
    """
    return functional.cross_entropy(logits[:, :-1].transpose(1, 2), target[:, 1:-1], ignore_index=pad)


@misconception(of="translation_loss")
def padding_of_the_inputs_left_out(logits, target, pad):
    """What is left out is decided by the word just read, so the padding right after `</s>` is predicted.

    Which slice of `target` says what is predicted? From which slice do you take your mask?
    """
    is_real = target[:, :-1] != pad
    return _next_surprise(logits, target[:, 1:])[is_real].mean()


@misconception(of="translation_loss")
def places_viewed_as_words(logits, target, pad):
    """The words are brought to axis 1 by a view, which mixes words and places.

    Does `reshape` know which axis is which? What does `transpose(1, 2)` do instead?
    """
    return functional.cross_entropy(
        logits.reshape(len(logits), logits.shape[2], -1), target[:, 1:], ignore_index=pad
    )


@misconception(of="translation_loss")
def word_0_taken_for_padding(logits, target, pad):
    """The padding is looked for as word 0, whatever `pad` says.

    Which line of your code reads `pad`? May 0 be a word like any other?
    """
    return functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=0)
