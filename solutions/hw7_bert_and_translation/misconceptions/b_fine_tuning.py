"""What goes wrong when encoder and head are trained together (homework 7, part B)."""

import torch
from torch.nn import functional

from autograder.catalogue import misconception
from course.models.bert import BERTConfig, SequenceClassifier

# 12. fine_tune

CONFIG = BERTConfig(vocab_size=11, context_length=9, d_model=6, n_heads=2, n_layers=1, d_ff=5)


def _tuned(weights, tokens, mask, labels, learning_rate, n_steps, *, fixed=(), zeroes=True):
    model = SequenceClassifier(CONFIG, 3).double()
    model.load_state_dict(weights, strict=False)
    for _ in range(n_steps):
        if zeroes:
            model.zero_grad()
        functional.cross_entropy(model(tokens, mask), labels).backward()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if parameter.grad is not None and not name.startswith(fixed):
                    parameter -= learning_rate * parameter.grad
    return model.state_dict()


@misconception(of="fine_tune", seen="https://github.com/yg211/bert_nli/pull/3")
def fine_tuned_without_a_mask(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """The mask is not handed to the model, so padding is read like text.

    With which arguments do you call the model? Exchange the padding tokens: do the trained weights change?
    """
    return _tuned(encoder | head, tokens, None, labels, learning_rate, n_steps)


@misconception(of="fine_tune", seen="https://github.com/CarryCKW/AES-NPCR/issues/7")
def mask_made_from_word_0(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """The mask is rebuilt from word 0, though the padding need not be word 0.

    Which argument says already where the real tokens are? Does yours agree with it?
    """
    return _tuned(encoder | head, tokens, tokens != 0, labels, learning_rate, n_steps)


@misconception(of="fine_tune")
def encoder_left_frozen(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """Only the head is trained; the encoder stays as it was.

    Which weights have moved after one step? Which parameters did you give to the optimiser?
    """
    return _tuned(encoder | head, tokens, mask, labels, learning_rate, n_steps, fixed="bert.")


@misconception(of="fine_tune")
def no_step_taken(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """Nothing is trained: all weights come back as they were given.

    Which line of your loop changes the parameters? What does `backward()` change?
    """
    return _tuned(encoder | head, tokens, mask, labels, learning_rate, 0)


@misconception(of="fine_tune")
def one_text_after_the_other(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """Each text has a step of its own, B of them where one is asked for.

    How many texts does the loss of one step average over? How often does your optimiser move in it?
    """
    weights = encoder | head
    for _ in range(n_steps):
        for row in zip(tokens, mask, labels, strict=True):
            weights = _tuned(weights, *(part[None] for part in row), learning_rate, 1)
    return weights


@misconception(of="fine_tune")
def head_left_as_it_was(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """Only the encoder is trained; the new head keeps its random weights.

    Which part of the model knows nothing at all in the beginning?
    """
    return _tuned(encoder | head, tokens, mask, labels, learning_rate, n_steps, fixed=("pooler.", "output."))


@misconception(of="fine_tune")
def encoder_started_anew(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """The pre-trained weights never reach the model: it trains from random numbers.

    With no step at all, are the weights those of `encoder`? What does `strict=False` hide?
    """
    renamed = {name.removeprefix("bert."): weight for name, weight in encoder.items()}
    return _tuned(renamed | head, tokens, mask, labels, learning_rate, n_steps)


@misconception(of="fine_tune")
def gradients_piled_up(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """The gradients are never set to zero, so the second step takes the first one again.

    What is in `.grad` when `backward()` is called for the second time?
    """
    return _tuned(encoder | head, tokens, mask, labels, learning_rate, n_steps, zeroes=False)


@misconception(of="fine_tune")
def head_started_anew(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """The weights of `head` never reach the model: the head trains from random numbers.

    With no step at all, are the weights those of `head`? What does `strict=False` hide?
    """
    return _tuned(encoder, tokens, mask, labels, learning_rate, n_steps)


@misconception(of="fine_tune")
def losses_summed(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """The cross-entropies of the labels are summed, not averaged, so every step is B times as long.

    Give every text twice. Should the step change, and does yours?
    """
    return _tuned(encoder | head, tokens, mask, labels, learning_rate * len(labels), n_steps)


@misconception(of="fine_tune")
def loss_climbed(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """The steps go up the gradient, and the loss grows.

    Which sign has the step in the formula? Print the loss before and after.
    """
    return _tuned(encoder | head, tokens, mask, labels, -learning_rate, n_steps)


@misconception(of="fine_tune")
def one_step_too_many(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """One step more is taken than was asked for.

    How often does your loop run if `n_steps` is 0?
    """
    return _tuned(encoder | head, tokens, mask, labels, learning_rate, n_steps + 1)


@misconception(of="fine_tune")
def one_step_whatever_is_asked(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """One step is taken, however many are asked for.

    Which line of your code reads `n_steps`? Is the `return` inside the loop?
    """
    return _tuned(encoder | head, tokens, mask, labels, learning_rate, min(n_steps, 1))


@misconception(of="fine_tune")
def softmax_before_the_cross_entropy(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """A softmax is taken before a loss that takes one itself.

    What does `functional.cross_entropy` expect, logits or probabilities?
    """
    model = SequenceClassifier(CONFIG, 3).double()
    model.load_state_dict(encoder | head)
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    for _ in range(n_steps):
        optimizer.zero_grad()
        functional.cross_entropy(model(tokens, mask).softmax(-1), labels).backward()
        optimizer.step()
    return model.state_dict()
