"""What goes wrong when encoder and head are trained together (homework 7, part B)."""

import torch
from torch.nn import functional

from autograder.catalogue import misconception
from course.models.bert import BERTConfig, SequenceClassifier

# 12. fine_tune

CONFIG = BERTConfig(vocab_size=11, context_length=9, d_model=6, n_heads=2, n_layers=1, d_ff=5)
STEPS = {"each_step_follows_its_own_gradient", "other_reviews_train_all_weights"}


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


@misconception(
    of="fine_tune",
    fails=STEPS | {"padding_does_not_train"},
    seen="https://github.com/yg211/bert_nli/pull/3",
)
def fine_tuned_without_a_mask(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """The mask is not handed to the model, so padding is read like text.

    With which arguments do you call the model? Exchange the padding tokens: do the trained weights change?
    """
    return _tuned(encoder | head, tokens, None, labels, learning_rate, n_steps)


@misconception(
    of="fine_tune",
    fails=STEPS | {"padding_does_not_train"},
    seen="https://github.com/CarryCKW/AES-NPCR/issues/7",
)
def mask_made_from_word_0(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """The mask is made anew, from word 0, though the padding need not be word 0.

    Which argument says already where the real tokens are? Does yours agree with it?
    """
    return _tuned(encoder | head, tokens, tokens != 0, labels, learning_rate, n_steps)


@misconception(of="fine_tune", fails=STEPS | {"a_step_moves_encoder_and_head", "padding_does_not_train"})
def encoder_left_frozen(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """Only the head is trained; the encoder stays as it was.

    Which weights have moved after one step? Which parameters did you give to the optimiser?
    """
    return _tuned(encoder | head, tokens, mask, labels, learning_rate, n_steps, fixed="bert.")


@misconception(of="fine_tune", fails=STEPS | {"a_step_moves_encoder_and_head", "padding_does_not_train"})
def head_left_as_it_was(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """Only the encoder is trained; the new head keeps its random weights.

    Which part of the model knows nothing at all in the beginning?
    """
    return _tuned(encoder | head, tokens, mask, labels, learning_rate, n_steps, fixed=("pooler.", "output."))


@misconception(
    of="fine_tune",
    fails=STEPS
    | {
        "without_a_step_the_weights_are_those_given",
        "a_step_moves_encoder_and_head",
        "padding_does_not_train",
    },
)
def encoder_started_anew(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """The pre-trained weights never reach the model: it trains from random numbers.

    With no step at all, are the weights those of `encoder`? What does `strict=False` hide?
    """
    renamed = {name.removeprefix("bert."): weight for name, weight in encoder.items()}
    return _tuned(renamed | head, tokens, mask, labels, learning_rate, n_steps)


@misconception(of="fine_tune", fails=STEPS)
def gradients_piled_up(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    """The gradients are never set to zero, so the second step takes the first one again.

    What is in `.grad` when `backward()` is called for the second time?
    """
    return _tuned(encoder | head, tokens, mask, labels, learning_rate, n_steps, zeroes=False)
