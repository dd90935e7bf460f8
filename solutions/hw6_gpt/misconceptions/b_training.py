"""What goes wrong in homework 6, exercises 5 to 8: training steps, the trained model, the fault to find."""

import math

import torch
from torch import nn
from torch.nn import functional

from autograder.catalogue import misconception
from course.data.story_language import StoryLanguage
from course.data.story_rules import StoryConfig

from ..notebook import TableModel

# 5. train_steps


def _loss(logits, tokens):
    return functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


def _clip(model, max_norm):
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)


def _trained(arguments, *, loss=_loss, clip=_clip, is_zeroed=True, is_measured_after=False, sign=1):
    table, batches, learning_rate, max_norm = arguments
    model = TableModel(table)
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, maximize=sign < 0)
    losses = []
    for tokens in batches:
        if is_zeroed:
            optimizer.zero_grad()
        before = loss(model(tokens), tokens)
        before.backward()
        clip(model, max_norm)
        optimizer.step()
        losses.append(loss(model(tokens), tokens) if is_measured_after else before)
    return torch.stack(losses).detach(), model.table.detach()


@misconception(of="train_steps", seen="https://github.com/huggingface/transformers/issues/27517")
def trained_without_the_shift(table, batches, learning_rate, max_norm):
    """The logits are scored with the token just read, so the model is trained to repeat it.

    With which token do you score the logits at position t? What is the loss of a model that answers with the
    token it has read?
    """

    def unshifted(logits, tokens):
        return functional.cross_entropy(logits.flatten(0, 1), tokens.flatten())

    return _trained((table, batches, learning_rate, max_norm), loss=unshifted)


@misconception(
    of="train_steps",
    seen="https://uvadlc-notebooks.readthedocs.io/en/latest/tutorial_notebooks/guide3/Debugging_PyTorch.html",
)
def old_gradients_kept(table, batches, learning_rate, max_norm):
    """The gradients are never set back, so each step adds those of the steps before.

    Print `.grad` after the second `backward()`. Is it the gradient of the second batch?
    """
    return _trained((table, batches, learning_rate, max_norm), is_zeroed=False)


@misconception(of="train_steps")
def clipped_too_late(table, batches, learning_rate, max_norm):
    """The step is made with a gradient longer than `max_norm`: nothing shortens it between backward and step.

    In which line does `.grad` get its numbers, and in which line are they used? What does your code do
    between the two?
    """
    return _trained((table, batches, learning_rate, max_norm), clip=lambda model, max_norm: None)


@misconception(of="train_steps")
def clipped_entry_by_entry(table, batches, learning_rate, max_norm):
    """Every entry of the gradient is clipped by itself, which changes its direction.

    Of a gradient (3, 4) with max_norm 1, what is left: (1, 1) or (0.6, 0.8)? Which of them points the same
    way?
    """

    def by_value(model, max_norm):
        nn.utils.clip_grad_value_(model.parameters(), max_norm)

    return _trained((table, batches, learning_rate, max_norm), clip=by_value)


@misconception(of="train_steps")
def largest_entry_for_the_norm(table, batches, learning_rate, max_norm):
    """The gradient is measured by its largest entry, where its norm is asked for.

    Of the gradient (3, 4), what is the norm, and what does your code take for it?
    """

    def by_largest(model, max_norm):
        nn.utils.clip_grad_norm_(model.parameters(), max_norm, norm_type=math.inf)

    return _trained((table, batches, learning_rate, max_norm), clip=by_largest)


@misconception(of="train_steps")
def every_gradient_rescaled(table, batches, learning_rate, max_norm):
    """Every gradient is brought to the length max_norm, the short ones too.

    What happens to a gradient that is shorter than max_norm? Near the end of training, what should a step do
    when the gradient is almost 0?
    """

    def rescale(model, max_norm):
        model.table.grad *= max_norm / model.table.grad.norm()

    return _trained((table, batches, learning_rate, max_norm), clip=rescale)


@misconception(of="train_steps")
def losses_measured_after_the_step(table, batches, learning_rate, max_norm):
    """Each loss is measured after the step on its batch, which makes it look better than it was.

    What is the first number of your list if the learning rate is enormous? Had the model seen the batch then?
    """
    return _trained((table, batches, learning_rate, max_norm), is_measured_after=True)


@misconception(of="train_steps")
def losses_added_up_over_the_batch(table, batches, learning_rate, max_norm):
    """The losses of all predictions are added up instead of averaged, so large batches make large steps.

    What is the first loss of a table of zeros: ln 5, or many times that? What would a batch twice as large
    do to your learning rate?
    """

    def total(logits, tokens):
        return _loss(logits, tokens) * tokens[:, 1:].numel()

    return _trained((table, batches, learning_rate, max_norm), loss=total)


@misconception(of="train_steps")
def steps_uphill(table, batches, learning_rate, max_norm):
    """The gradient is added instead of subtracted, so the loss rises.

    The gradient points to where the loss grows. In which direction do you go?
    """
    return _trained((table, batches, learning_rate, max_norm), sign=-1)


@misconception(of="train_steps")
def table_returned_as_it_came(table, batches, learning_rate, max_norm):
    """The table that comes back is the one that came in; what was trained is the model's own copy of it.

    `TableModel` makes a copy of `table`. Which of the two does the optimiser move, and which do you return?
    """
    return _trained((table, batches, learning_rate, max_norm))[0], table


# 7. story_log_probs: what a badly trained model answers, put together from the true model instead of trained

LANGUAGE = StoryLanguage(StoryConfig(n_bindings=2, n_recalls=1, agreement_distance=1, nesting_depth=1))


def _true_log_probs(tokens):
    return LANGUAGE(tokens).clamp(min=-20.0).log_softmax(-1)


def _surely(tokens):
    return (12 * functional.one_hot(tokens, LANGUAGE.vocab_size).float()).log_softmax(-1)


@misconception(of="story_log_probs")
def never_trained(tokens):
    """The model finds all words equally likely: it was never trained, or another one was.

    What is the loss of your model before the first step, and what after the last? Is the model that answers
    here the one that was trained?
    """
    return torch.full((*tokens.shape, LANGUAGE.vocab_size), -math.log(LANGUAGE.vocab_size))


@misconception(of="story_log_probs", seen="https://github.com/huggingface/transformers/issues/27517")
def learned_to_repeat(tokens):
    """The model gives the word just read to come again: it was trained without the shift.

    What was your training loss at the end? If it was far below the floor, what did the model have to predict
    that it could see?
    """
    return _surely(tokens)


@misconception(of="story_log_probs")
def looks_at_the_next_word(tokens):
    """The model knows the next word because it sees it: its blocks have no causal mask.

    How can a model pay less than the true distribution? Ask it about a story whose last words you have
    changed.
    """
    return _surely(tokens.roll(-1, dims=1))


@misconception(of="story_log_probs")
def the_true_model_asked(tokens):
    """The answers are those of the language itself; nothing was trained.

    How can a model that has seen 13,000 stories know every probability exactly? Which function of yours
    learns?
    """
    return LANGUAGE(tokens)


@misconception(of="story_log_probs")
def logits_for_log_probs(tokens):
    """The answers are logits: their exponentials do not sum to one.

    Which function makes log-probabilities of logits? Where is it in your code?
    """
    return 1.5 * _true_log_probs(tokens) + 3


@misconception(of="story_log_probs")
def probabilities_for_log_probs(tokens):
    """The answers are probabilities: no logarithm was taken.

    Which sign have the numbers that you return? Which sign has the logarithm of a probability?
    """
    return _true_log_probs(tokens).exp()


@misconception(of="story_log_probs")
def only_the_last_word_read(tokens):
    """The model looks at the last word only, like a count of word pairs.

    After "nora had cups", does your model know at the next "she" what nora has? Does attention reach all
    positions, and are the positions added?
    """
    followers = torch.full((LANGUAGE.vocab_size, LANGUAGE.vocab_size), 0.01)
    stories = LANGUAGE.sample(2000, torch.Generator().manual_seed(5))
    pairs = stories.mask[:, 1:]
    ones = torch.ones(int(pairs.sum()))
    followers.index_put_((stories.tokens[:, :-1][pairs], stories.tokens[:, 1:][pairs]), ones, accumulate=True)
    return (followers / followers.sum(-1, keepdim=True)).log()[tokens]


# 8. name_the_leak


@misconception(of="name_the_leak")
def blamed_a_second_shift():
    """The answer is a second shift, which makes the task harder and the loss higher.

    Is the token after the next easier to predict than the next one? Can its loss fall below the floor?
    """
    return "shifted_twice"


@misconception(of="name_the_leak")
def blamed_a_backward_shift():
    """The answer is a shift backwards, with which position 0, too, finds its own token as its target.

    With that fault, which token would position 0 be scored with? Then look at what the finished model does
    with new text: which token does it expect after "0 2"?
    """
    return "shifted_backwards"


@misconception(of="name_the_leak")
def blamed_the_missing_mask():
    """The answer is the missing mask, which cannot help the last position of a row.

    At the last position, is there a token after it that the model could look at? What was the loss there?
    """
    return "no_causal_mask"


@misconception(of="name_the_leak")
def blamed_the_missing_step():
    """The answer is a forgotten step, with which the loss would not change at all.

    What is the loss after 0 and after 400 steps? Can that happen when the parameters stay as they are?
    """
    return "never_stepped"


@misconception(of="name_the_leak")
def blamed_the_direction():
    """The answer is a step uphill, with which the loss would rise.

    In which direction does the printed loss move from line to line?
    """
    return "trained_uphill"
