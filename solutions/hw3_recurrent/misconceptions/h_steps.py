"""What goes wrong with the steps of a training: the loss, the gradient, the step, the next batch."""

import torch

from autograder.catalogue import misconception

# 22. after_steps


def _small_log_probs(weights, tokens):
    """The network of the exercise: log-probabilities of the next word, (B, T, 20)."""
    state, answers = torch.zeros(len(tokens), len(weights["U"]), dtype=torch.float64), []
    for words in tokens.unbind(dim=1):
        sums = weights["E"][words] @ weights["W"].T + state @ weights["U"].T + weights["b"]
        state = torch.tanh(sums)
        answers.append((state @ weights["C"].T + weights["c"]).log_softmax(-1))
    return torch.stack(answers, dim=1)


def _surprises_at(place, target):
    """The loss that looks for the word in column `target` at this place."""
    return lambda log_probs, tokens: (
        -log_probs[:, place].gather(-1, tokens[:, target : target + 1 or None]).mean()
    )


_at_the_thing = _surprises_at(-1, 0)


def _gradients_of(weights, tokens, loss_of=_at_the_thing):
    leaves = {name: weight.detach().clone().requires_grad_() for name, weight in weights.items()}
    loss = loss_of(_small_log_probs(leaves, tokens), tokens)
    return dict(zip(leaves, torch.autograd.grad(loss, list(leaves.values())), strict=True))


def _moved(weights, gradients, size):
    return {name: weight - size * gradients[name] for name, weight in weights.items()}


def _trained_on(weights, batches, learning_rate, loss_of=_at_the_thing):
    for tokens in batches:
        weights = _moved(weights, _gradients_of(weights, tokens, loss_of), learning_rate)
    return weights


@misconception(of="after_steps")
def next_word_at_every_place(weights, batches, learning_rate):
    """The loss is that of a language model: the surprise at the next word of the text, at every place.

    Which word does the loss of the statement ask for, and at which place? What could a network learn about
    small talk that was drawn at random?
    """

    def loss_of(log_probs, tokens):
        return -log_probs[:, :-1].gather(-1, tokens[:, 1:, None]).mean()

    return _trained_on(weights, batches, learning_rate, loss_of)


@misconception(of="after_steps")
def last_word_asked_for_again(weights, batches, learning_rate):
    """The target is the last word of the text, which the network has just read, and not its thing.

    Which column of `tokens` holds the thing? Which one does your loss read?
    """
    return _trained_on(weights, batches, learning_rate, _surprises_at(-1, -1))


@misconception(of="after_steps")
def thing_asked_for_at_once(weights, batches, learning_rate):
    """The thing is asked for at the first place, where it has just been read, so nothing is remembered.

    How many words of small talk lie between the thing and your question?
    """
    return _trained_on(weights, batches, learning_rate, _surprises_at(0, 0))


@misconception(of="after_steps")
def thing_asked_for_at_every_place(weights, batches, learning_rate):
    """The thing is asked for at every place of the text, where the statement asks after the last word only.

    For one text of T words, how many log-probabilities does your loss read, and how many does it need?
    """

    def loss_of(log_probs, tokens):
        return -log_probs.gather(-1, tokens[:, :1, None].expand(-1, tokens.shape[1], 1)).mean()

    return _trained_on(weights, batches, learning_rate, loss_of)


@misconception(of="after_steps")
def every_text_asked_for_all_things(weights, batches, learning_rate):
    """Each text is asked for the things of all texts of the batch, not for its own alone.

    What is the shape of `log_probs[:, -1, tokens[:, 0]]`? How many numbers does your mean need?
    """

    def loss_of(log_probs, tokens):
        return -log_probs[:, -1, tokens[:, 0]].mean()

    return _trained_on(weights, batches, learning_rate, loss_of)


@misconception(of="after_steps")
def probability_for_the_surprise(weights, batches, learning_rate):
    """The loss is the probability of the thing, with a minus sign; the logarithm is missing.

    What does `small_log_probs` return? How large is the surprise at a thing that has the probability 0.05?
    """

    def loss_of(log_probs, tokens):
        return -log_probs[:, -1].exp().gather(-1, tokens[:, :1]).mean()

    return _trained_on(weights, batches, learning_rate, loss_of)


@misconception(of="after_steps")
def asked_one_word_too_early(weights, batches, learning_rate):
    """The prediction is read at the last place but one, before the text is at its end.

    Place t has read the words up to t. Which place has read all of them?
    """
    return _trained_on(weights, batches, learning_rate, _surprises_at(-2, 0))


@misconception(of="after_steps")
def surprises_added_up(weights, batches, learning_rate):
    """The surprises of the texts are added up, where the loss is their mean.

    How much longer does your step become if the batch holds every text twice?
    """

    def loss_of(log_probs, tokens):
        return len(tokens) * _at_the_thing(log_probs, tokens)

    return _trained_on(weights, batches, learning_rate, loss_of)


@misconception(of="after_steps")
def steps_uphill(weights, batches, learning_rate):
    """Each step goes along the gradient, so the surprise grows.

    Compute the loss of the batch before and after your step. In which direction does the gradient point?
    """
    return _trained_on(weights, batches, -learning_rate)


@misconception(of="after_steps")
def gradients_never_set_to_zero(weights, batches, learning_rate):
    """The gradients of all batches so far add up, because nothing sets them back before the next one.

    What does `backward()` do with what it finds in `.grad`? Which line of your loop empties it?
    """
    total = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    for tokens in batches:
        new = _gradients_of(weights, tokens)
        total = {name: gradient + new[name] for name, gradient in total.items()}
        weights = _moved(weights, total, learning_rate)
    return weights


@misconception(of="after_steps")
def every_step_on_the_first_batch(weights, batches, learning_rate):
    """Every step is made with the first batch; the others are never read.

    What does a model learn that sees the same texts at every step? Which index changes in your loop?
    """
    return _trained_on(weights, [batches[0]] * len(batches), learning_rate)


@misconception(of="after_steps")
def every_step_from_the_first_weights(weights, batches, learning_rate):
    """Every step starts from the weights that were handed in, so only the last step is left.

    Which weights does your second step move: those of the beginning, or those that the first step left?
    """
    return _trained_on(weights, batches[-1:], learning_rate)


@misconception(of="after_steps")
def all_gradients_at_the_first_weights(weights, batches, learning_rate):
    """All gradients are taken at the first weights, and the steps are made at the end.

    Where does the network stand when the gradient of the second batch is taken?
    """
    after = weights
    for tokens in batches:
        after = _moved(after, _gradients_of(weights, tokens), learning_rate)
    return after


@misconception(of="after_steps")
def gradients_but_no_step(weights, batches, learning_rate):
    """The weights stay as they were: no step is made, or its gradient is 0.

    Which line of your loop changes a weight?
    """
    return {name: weight.clone() for name, weight in weights.items()}


@misconception(of="after_steps")
def step_before_the_gradient(weights, batches, learning_rate):
    """Each step is made before the batch's own gradient is there, so the last gradient is never used.

    In one turn of your loop, which line finds the gradient, and which uses it? Which comes first?
    """
    gradients = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    for tokens in batches:
        weights = _moved(weights, gradients, learning_rate)
        gradients = _gradients_of(weights, tokens)
    return weights


@misconception(of="after_steps")
def steps_made_in_what_was_given(weights, batches, learning_rate):
    """The tensors that were handed in are moved themselves.

    Print the weights you were given after the call. Whose tensors does your dict hold?
    """
    for name, weight in _trained_on(weights, batches, learning_rate).items():
        weights[name].copy_(weight)
    return weights


@misconception(of="after_steps")
def weights_after_a_step_are_no_leaves(weights, batches, learning_rate):
    """After the first step the weights are results and no leaves, so autograd keeps no gradient for them.

    Print `.is_leaf` and `.grad` of a weight in the second turn of your loop. What makes a leaf of a result?
    """
    weights = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
    for tokens in batches:
        _at_the_thing(_small_log_probs(weights, tokens), tokens).backward()
        if any(not weight.is_leaf for weight in weights.values()):
            raise TypeError("unsupported operand type(s) for *: 'float' and 'NoneType'")
        weights = {name: weight - learning_rate * weight.grad for name, weight in weights.items()}
    return weights


@misconception(of="after_steps")
def whole_gradient_subtracted(weights, batches, learning_rate):
    """The gradient is subtracted as it is; the learning rate does not enter.

    Where in your loop does `learning_rate` occur? How far does your step go at half the rate?
    """
    return _trained_on(weights, batches, 1.0)
