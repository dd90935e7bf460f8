"""What goes wrong in homework 2: every function is a mistake, with the question that lets a student find it.

The first line of a docstring is the diagnosis, the rest is the question put to the student. `fails` names
exactly the checks that the mistake fails.
"""

import math

import torch
from torch import nn
from torch.nn import functional

from autograder.catalogue import misconception

# 1. windows_and_targets

WINDOW_VALUES = {"the_example_has_three_windows", "other_documents_have_their_windows"}


def _windows(documents, n_window, n_last=0):
    starts = [(document, i) for document in documents for i in range(len(document) - n_window + n_last)]
    return torch.stack([document[i : i + n_window] for document, i in starts]), starts


@misconception(of="windows_and_targets", fails=WINDOW_VALUES | {"the_target_comes_next"})
def target_is_the_last_word_of_the_window(documents, n_window):
    """The target is the last word of the window, which the model has already read.

    In the example, which word should be predicted after `[5, 6]`? How hard is a target that stands in the
    window already?
    """
    windows, _ = _windows(documents, n_window)
    return windows, windows[:, -1]


@misconception(of="windows_and_targets", fails=WINDOW_VALUES | {"a_window_is_read_from_left_to_right"})
def window_reversed(documents, n_window):
    """The windows list the newest word first.

    Print the first window of the example. In which order does the text have these words?
    """
    windows, starts = _windows(documents, n_window)
    return windows.flip(1), torch.stack([document[i + n_window] for document, i in starts])


@misconception(of="windows_and_targets", fails=WINDOW_VALUES | {"every_window_is_there_once"})
def last_window_lost(documents, n_window):
    """The last pair of every document is missing, so its last word is never a target.

    How many pairs does a document of three words have with a window of two? Which start is the last that
    still has a target, and does your range reach it?
    """
    windows, starts = _windows(documents, n_window, -1)
    return windows, torch.stack([document[i + n_window] for document, i in starts])


@misconception(
    of="windows_and_targets", fails=WINDOW_VALUES | {"the_target_comes_next", "every_window_is_there_once"}
)
def window_without_a_next_word(documents, n_window):
    """The last words of a document make one more window, and its target is taken from the beginning.

    What follows the last window of a document? Count your pairs of a document with exactly N words.
    """
    windows, starts = _windows(documents, n_window, 1)
    return windows, torch.stack([document[(i + n_window) % len(document)] for document, i in starts])


@misconception(
    of="windows_and_targets",
    fails=WINDOW_VALUES | {"every_window_is_there_once", "no_pair_reaches_into_another_document"},
)
def windows_cross_documents(documents, n_window):
    """The documents are joined before the windows are cut, so that windows reach from one into the next.

    In the example, does the second document say anything about what follows `[7, 8]`? At which moment does
    your code forget where a document ends?
    """
    return _by_unfolding(torch.cat(documents), n_window)


def _by_unfolding(tokens, n_window):
    return tokens[:-1].unfold(0, n_window, 1), tokens[n_window:]


# 2. batch_at

BATCH_VALUES = {"the_example_batch_has_two_rows", "other_batches_are_cut_out_of_the_text"}


@misconception(of="batch_at", fails=BATCH_VALUES | {"each_row_begins_at_its_own_place"})
def one_start_for_the_whole_batch(tokens, starts, n_window):
    """All rows of the batch begin at the same place, so the batch holds one window many times.

    Print your batch for two different starts. Which entry of `starts` decides about the second row?
    """
    places = starts[0] + torch.arange(n_window).expand(len(starts), -1)
    return tokens[places], tokens[starts[0] + n_window].expand(len(starts))


@misconception(of="batch_at", fails=BATCH_VALUES | {"the_target_stands_behind_its_window"})
def batch_target_inside_the_window(tokens, starts, n_window):
    """The target is the last word of the window itself.

    The window from `start` on covers the places start, …, start + N - 1. Which place comes next?
    """
    return tokens[starts[:, None] + torch.arange(n_window)], tokens[starts + n_window - 1]


@misconception(of="batch_at", fails=BATCH_VALUES | {"the_target_stands_behind_its_window"})
def window_one_word_away_from_its_target(tokens, starts, n_window):
    """Between the window and its target one word is left out.

    With start 0 and two words in the window, which places does your window cover and which does your target
    come from? (A place beyond the end was taken to be the last one.)
    """
    places = (starts + n_window + 1).clamp(max=len(tokens) - 1)
    return tokens[starts[:, None] + torch.arange(n_window)], tokens[places]


@misconception(of="batch_at", fails=BATCH_VALUES | {"each_row_begins_at_its_own_place"})
def start_taken_for_the_target(tokens, starts, n_window):
    """The places are taken for those of the targets, and the windows for what comes before them.

    In the example the first start is 3, where 16 stands. Is 16 to be read or to be predicted?
    """
    return tokens[starts[:, None] - n_window + torch.arange(n_window)], tokens[starts]


# 3. log_softmax

SOFTMAX_VALUES = {"the_example_logits_give_quarters", "other_logits_give_their_log_probs"}


@misconception(
    of="log_softmax",
    fails=SOFTMAX_VALUES
    | {
        "each_row_is_a_distribution",
        "a_constant_changes_nothing",
        "logits_of_a_thousand_are_no_trouble",
        "an_unlikely_word_keeps_its_log_prob",
    },
    seen="https://uvadlc-notebooks.readthedocs.io/en/latest/tutorial_notebooks/guide3/Debugging_PyTorch.html",
)
def softmax_over_the_first_axis(logits):
    """The softmax runs over the rows, so that each column sums to one.

    Which axis lists the words that one prediction chooses between? Sum your probabilities along each axis.
    """
    return torch.log_softmax(logits, dim=0)


@misconception(
    of="log_softmax", fails={"logits_of_a_thousand_are_no_trouble", "other_logits_give_their_log_probs"}
)
def maximum_not_subtracted(logits):
    """The exponential is taken of the logits as they are, and is infinite from 710 on.

    Evaluate `torch.tensor(1000.0).exp()`. Which number may you subtract from all logits of a row before that?
    """
    return logits - logits.exp().sum(-1, keepdim=True).log()


@misconception(
    of="log_softmax", fails={"an_unlikely_word_keeps_its_log_prob", "other_logits_give_their_log_probs"}
)
def logarithm_of_the_softmax(logits):
    """The logarithm is taken of the probabilities, and that of an unlikely word is 0 by then.

    What is `torch.tensor(-2000.0).exp()`, and what its logarithm? Does the logarithm of a quotient need the
    quotient?
    """
    return torch.softmax(logits, dim=-1).log()


@misconception(
    of="log_softmax", fails={"logits_of_a_thousand_are_no_trouble", "other_logits_give_their_log_probs"}
)
def one_maximum_for_all_rows(logits):
    """One maximum, that of the whole tensor, is subtracted from all rows: the lower rows vanish.

    After your subtraction, what is the largest entry of each row? Where it is far below 0, what is the sum
    of the exponentials?
    """
    shifted = logits - logits.max()
    return shifted - shifted.exp().sum(-1, keepdim=True).log()


@misconception(
    of="log_softmax",
    fails=SOFTMAX_VALUES
    | {
        "each_row_is_a_distribution",
        "logits_of_a_thousand_are_no_trouble",
        "an_unlikely_word_keeps_its_log_prob",
    },
)
def logarithm_not_taken(logits):
    """The probabilities come back, not their logarithms.

    Can a log-probability be positive? What does the example expect for a probability of 1/4?
    """
    return torch.softmax(logits, dim=-1)


# 4. cross_entropy

LOSS_VALUES = {"the_example_costs_0_8370_nats", "other_batches_have_their_mean_loss"}


@misconception(
    of="cross_entropy",
    fails=LOSS_VALUES | {"a_sure_model_pays_nothing_or_much", "a_great_surprise_is_finite"},
    seen="https://openillumi.com/en/en-pytorch-crossentropy-logits-nllloss-mechanism",
)
def softmax_before_the_loss(logits, targets):
    """The softmax is applied twice: once to the logits, and once more inside the log-softmax.

    A model that gives the right word a logit of 40 should pay nothing. What do you get, and how often is a
    softmax applied on the way?
    """
    return functional.cross_entropy(logits.softmax(-1), targets)


@misconception(
    of="cross_entropy",
    fails=LOSS_VALUES
    | {"a_sure_model_pays_nothing_or_much", "knowing_nothing_costs_ln_v", "a_great_surprise_is_finite"},
    seen="https://openillumi.com/en/en-pytorch-crossentropy-logits-nllloss-mechanism",
)
def probabilities_without_logarithm(logits, targets):
    """The targets' probabilities are averaged, not their logarithms, so the loss lies between -1 and 0.

    What is the surprise at a word of probability 1/4? Where in your code is its logarithm taken?
    """
    return functional.nll_loss(logits.softmax(-1), targets)


@misconception(of="cross_entropy", fails=LOSS_VALUES | {"the_same_rows_twice_cost_the_same"})
def losses_summed(logits, targets):
    """The losses of the rows are summed, not averaged.

    What does your loss do when the batch becomes twice as large? What would that do to the size of a step?
    """
    return functional.cross_entropy(logits, targets, reduction="sum")


@misconception(of="cross_entropy", fails=LOSS_VALUES | {
    "a_sure_model_pays_nothing_or_much", "knowing_nothing_costs_ln_v", "a_great_surprise_is_finite"
})  # fmt: skip
def loss_in_bits(logits, targets):
    """The loss is in bits, where nats are asked for.

    What is the natural logarithm of 11, and what do you get for 11 words that are equally likely?
    """
    return functional.cross_entropy(logits, targets) / math.log(2)


@misconception(of="cross_entropy", fails={"a_great_surprise_is_finite", "other_batches_have_their_mean_loss"})
def loss_of_a_vanished_probability(logits, targets):
    """The logarithm is taken of a probability that has become 0, so a great surprise costs infinity.

    Print the probability of the target before you take its logarithm. Which function goes from logits to
    log-probabilities in one piece?
    """
    return -logits.softmax(-1)[torch.arange(len(targets)), targets].log().mean()


# 5. draw_tokens

DRAWN = {
    "the_example_draws_0_1_2",
    "a_word_is_drawn_as_often_as_it_is_likely",
    "other_words_are_drawn_by_their_pieces",
}


@misconception(of="draw_tokens", fails=DRAWN, seen="https://github.com/ml-explore/mlx-examples/pull/521")
def probabilities_taken_for_logits(logits, uniforms):
    """The softmax is applied to probabilities, as if they were logits, which makes all words nearly alike.

    What are the probabilities of the example after your last softmax? Whoever expects logits applies the
    softmax himself: how often is it applied in all?
    """
    return _drawn(logits.softmax(-1).softmax(-1), uniforms)


def _drawn(probs, uniforms):
    return (probs.cumsum(-1)[:, :-1] < uniforms[:, None]).sum(-1)


@misconception(of="draw_tokens", fails=DRAWN | {"logits_may_be_any_numbers"})
def always_the_likeliest(logits, uniforms):
    """The likeliest word is always taken, and u has no say.

    Call your function with u = 0.4 and with u = 0.8. How often should a word of probability 1/4 come?
    """
    return logits.argmax(-1)


@misconception(
    of="draw_tokens",
    fails={
        "the_example_draws_0_1_2",
        "logits_may_be_any_numbers",
        "other_words_are_drawn_by_their_pieces",
    },
)
def exponentials_not_divided(logits, uniforms):
    """The exponentials of the logits are laid side by side as they are, without dividing by their sum.

    What do your pieces sum to in the example? How long is the line on which u falls?
    """
    return _drawn(logits.exp(), uniforms)


# 6. FeedForwardLM

MODEL_VALUES = {"other_models_have_their_logits_and_gradients"}
EXAMPLE_LOGITS = {"the_example_window_has_its_logits"}
LOADED = (
    MODEL_VALUES
    | EXAMPLE_LOGITS
    | {
        "each_place_of_the_window_has_its_own_columns_of_w",
        "without_w_the_constants_remain",
        "the_padding_word_counts_as_zeros",
    }
)


class _Model(nn.Module):
    """The parameters as the exercise wants them, and the right forward pass in pieces to break."""

    def __init__(self, vocab_size, n_window, d_embedding, d_hidden, pad):
        super().__init__()
        self.pad, self.d_embedding = pad, d_embedding
        self.E = nn.Parameter(torch.zeros(d_embedding, vocab_size, dtype=torch.float64))
        self.W = nn.Parameter(torch.zeros(d_hidden, n_window * d_embedding, dtype=torch.float64))
        self.b = nn.Parameter(torch.zeros(d_hidden, dtype=torch.float64))
        self.U = nn.Parameter(torch.zeros(vocab_size, d_hidden, dtype=torch.float64))
        self.c = nn.Parameter(torch.zeros(vocab_size, dtype=torch.float64))

    def embedded(self, windows):
        return self.E.T[windows] * (windows != self.pad)[..., None]

    def joined(self, windows):
        return self.embedded(windows).flatten(1)

    def forward(self, windows):
        return functional.linear(
            torch.tanh(functional.linear(self.joined(windows), self.W, self.b)), self.U, self.c
        )


@misconception(of="FeedForwardLM", fails=LOADED)
class EmbeddingsSummed(_Model):
    """The embeddings of the window are added up, not joined, so W has too few columns and order is lost.

    What does your model say about *dog bites man* and *man bites dog*? How many numbers does e have for three
    words of two numbers each?
    """

    def __init__(self, vocab_size, n_window, d_embedding, d_hidden, pad):
        super().__init__(vocab_size, 1, d_embedding, d_hidden, pad)

    def joined(self, windows):
        return self.embedded(windows).sum(1)


@misconception(
    of="FeedForwardLM",
    fails=MODEL_VALUES | {"each_place_of_the_window_has_its_own_columns_of_w"},
)
class PositionsInterleaved(_Model):
    """The joined embeddings are interleaved: first the first number of every word, then the second.

    Print e for a window whose embeddings are (1, 2) and (3, 4). Which of its numbers does the first word own?
    """

    def joined(self, windows):
        return self.embedded(windows).transpose(1, 2).flatten(1)


@misconception(
    of="FeedForwardLM",
    fails=LOADED | {"the_five_parameters_are_registered"},
    seen="https://uvadlc-notebooks.readthedocs.io/en/latest/tutorial_notebooks/guide3/Debugging_PyTorch.html",
)
class NumbersOfTheWordsFedIn(nn.Module):
    """The words' numbers themselves are multiplied with W, as if word 6 were twice word 3; there is no E.

    What does it mean to the model that one word has the number 3 and another the number 6? Which parameter
    turns a word into numbers that can be learned?
    """

    def __init__(self, vocab_size, n_window, d_embedding, d_hidden, pad):
        super().__init__()
        self.W = nn.Parameter(torch.zeros(d_hidden, n_window, dtype=torch.float64))
        self.b = nn.Parameter(torch.zeros(d_hidden, dtype=torch.float64))
        self.U = nn.Parameter(torch.zeros(vocab_size, d_hidden, dtype=torch.float64))
        self.c = nn.Parameter(torch.zeros(vocab_size, dtype=torch.float64))

    def forward(self, windows):
        return torch.tanh(windows.double() @ self.W.T + self.b) @ self.U.T + self.c


@misconception(of="FeedForwardLM", fails=MODEL_VALUES | EXAMPLE_LOGITS | {"without_w_the_constants_remain"})
class ConstantsLeftOut(_Model):
    """The constants b and c are parameters of the model, but the forward pass does not add them.

    With W = 0 all windows look alike to the model. What can it still predict, and with which parameters?
    """

    def forward(self, windows):
        return torch.tanh(self.joined(windows) @ self.W.T) @ self.U.T


@misconception(of="FeedForwardLM", fails=MODEL_VALUES | {"the_padding_word_counts_as_zeros"})
class PaddingTrained(_Model):
    """The padding word has an embedding like any other, which adds to the logits and is trained.

    What is the gradient of the padding word's column of E after a step? What does the model learn about
    nothing?
    """

    def embedded(self, windows):
        return self.E.T[windows]


@misconception(
    of="FeedForwardLM",
    fails=LOADED | {"the_five_parameters_are_registered"},
    seen="https://uvadlc-notebooks.readthedocs.io/en/latest/tutorial_notebooks/guide3/Debugging_PyTorch.html",
)
class ParametersInAList(nn.Module):
    """The parameters stand in a Python list, where neither the module nor an optimizer finds them.

    Print `list(model.parameters())`. Where does a module look for its parameters?
    """

    def __init__(self, vocab_size, n_window, d_embedding, d_hidden, pad):
        super().__init__()
        self.weights = [
            parameter
            for _, parameter in _Model(vocab_size, n_window, d_embedding, d_hidden, pad).named_parameters()
        ]

    def forward(self, windows):
        E, W, b, U, c = self.weights
        return torch.tanh(E.T[windows].flatten(1) @ W.T + b) @ U.T + c


# 7. first_loss_verdict

VERDICTS = {
    "the_three_examples_get_their_verdicts",
    "the_vocabulary_decides",
    "other_first_losses_get_their_verdicts",
}


def _verdict(excess, above=0.25, below=0.25):
    return "too sure" if excess > above else "too good" if excess < -below else "as expected"


@misconception(of="first_loss_verdict", fails=VERDICTS)
def a_large_first_loss_not_noticed(first_loss, vocab_size):
    """A first loss far above ln V passes as normal: "it has not learned anything yet".

    What does a model pay that finds all words equally likely? How can a model that knows nothing pay more?
    """
    return "too good" if first_loss < math.log(vocab_size) - 0.25 else "as expected"


@misconception(of="first_loss_verdict", fails=VERDICTS)
def a_small_first_loss_not_noticed(first_loss, vocab_size):
    """A first loss far below ln V passes as normal: "the better".

    How can an untrained model know which word comes? Through which part of its input could it have seen it?
    """
    return "too sure" if first_loss > math.log(vocab_size) + 0.25 else "as expected"


@misconception(of="first_loss_verdict", fails=VERDICTS)
def first_loss_compared_in_bits(first_loss, vocab_size):
    """The loss in nats is compared with the logarithm of V to base 2.

    What is ln 27, and what is the number you compare with? In which unit does the loss come?
    """
    return _verdict(first_loss - math.log2(vocab_size))


@misconception(of="first_loss_verdict", fails=VERDICTS)
def first_loss_compared_with_v(first_loss, vocab_size):
    """The loss is compared with V, which is the perplexity of knowing nothing and not its loss.

    A perplexity is the exponential of a loss. Which of the two is 27 for 27 equally likely words?
    """
    return _verdict(first_loss - vocab_size)


# 8. overfit_one_batch

STEPS = {"no_step_carries_an_old_gradient", "other_batches_are_learned_step_by_step"}
FIRST_STEP = STEPS | {"a_step_goes_down_the_training_mode_gradient"}


class _Layer(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight.clone())

    def forward(self, features):
        kept = 2.0 * (torch.arange(features.shape[-1]) % 2 == 0)
        return (features * kept if self.training else features) @ self.weight.T


def _losses(arguments, *, is_zeroed=True, is_training=True, is_measured_in_training=False, sign=1):
    weight, features, targets, learning_rate, n_steps = arguments
    model = _Layer(weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, maximize=sign < 0)

    def measured():
        return functional.cross_entropy(model.train(is_measured_in_training)(features), targets).detach()

    losses = [measured()]
    for _ in range(n_steps):
        model.train(is_training)
        if is_zeroed:
            optimizer.zero_grad()
        functional.cross_entropy(model(features), targets).backward()
        optimizer.step()
        losses.append(measured())
    return torch.stack(losses)


@misconception(
    of="overfit_one_batch",
    fails=STEPS,
    seen="https://uvadlc-notebooks.readthedocs.io/en/latest/tutorial_notebooks/guide3/Debugging_PyTorch.html",
)
def gradients_never_zeroed(weight, features, targets, learning_rate, n_steps):
    """The gradients are never set back, so each step adds those of all steps before.

    Print `.grad` after the first and after the second `backward()` with a learning rate of 0. Why did it
    double?
    """
    return _losses((weight, features, targets, learning_rate, n_steps), is_zeroed=False)


@misconception(
    of="overfit_one_batch",
    fails=FIRST_STEP,
    seen="https://uvadlc-notebooks.readthedocs.io/en/latest/tutorial_notebooks/guide3/Debugging_PyTorch.html",
)
def evaluation_mode_left_on(weight, features, targets, learning_rate, n_steps):
    """After the first measurement the model stays in evaluation mode, so no feature is ever dropped.

    Print `model.training` right before your `backward()`, in every round. Who puts the model back into
    training mode?
    """
    return _losses((weight, features, targets, learning_rate, n_steps), is_training=False)


@misconception(of="overfit_one_batch", fails=FIRST_STEP | {"the_first_loss_is_measured_before_any_step"})
def measured_in_training_mode(weight, features, targets, learning_rate, n_steps):
    """The losses are measured in training mode, with every second feature dropped.

    Which features does the model see while you measure? Which would it see in use?
    """
    return _losses((weight, features, targets, learning_rate, n_steps), is_measured_in_training=True)


@misconception(of="overfit_one_batch", fails=FIRST_STEP)
def uphill(weight, features, targets, learning_rate, n_steps):
    """The steps go up the gradient, so the loss grows.

    In which direction does the gradient point, and which sign stands before it in the formula of the step?
    """
    return _losses((weight, features, targets, learning_rate, n_steps), sign=-1)


# 10. Value


class _Value:
    """A right Value in pieces to break."""

    seed = 1.0

    def __init__(self, data, parents=()):
        self.data, self.grad, self.parents = float(data), 0.0, parents

    def add(self, other):
        return type(self)(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def mul(self, other):
        return type(self)(self.data * other.data, ((self, other.data), (other, self.data)))

    def power(self, n):
        return type(self)(self.data**n, ((self, n * self.data ** (n - 1)),))

    def relu(self):
        return type(self)(max(self.data, 0.0), ((self, float(self.data > 0)),))

    def tanh(self):
        return type(self)(math.tanh(self.data), ((self, 1 - math.tanh(self.data) ** 2),))

    def ancestors(self, seen):
        if id(self) in seen:
            return []
        seen.add(id(self))
        return [node for parent, _ in self.parents for node in parent.ancestors(seen)] + [self]

    def clear(self):
        for value in self.ancestors(set()):
            value.grad = 0.0

    def receive(self, gradient):
        self.grad += gradient

    def backward(self):
        self.clear()
        self.grad = self.seed
        for value in reversed(self.ancestors(set())):
            for parent, slope in value.parents:
                parent.receive(value.grad * slope)


EXPRESSIONS = {"other_expressions_have_their_gradients"}
EXAMPLE_EXPRESSION = {"the_example_has_its_three_gradients"}
REUSED = {"each_use_of_a_value_counts", "nothing_is_passed_on_too_early"}


@misconception(
    of="Value", fails=EXPRESSIONS | EXAMPLE_EXPRESSION | REUSED | {"backward_twice_is_backward_once"}
)
class GradientsOverwritten(_Value):
    """A Value that is used twice keeps only the gradient that came last.

    In the example y is used three times. Which parts of its gradient do you see arrive, and what does your
    code do with the part that is there already?
    """

    def receive(self, gradient):
        self.grad = gradient


@misconception(
    of="Value",
    fails=EXPRESSIONS | {"nothing_is_passed_on_too_early"},
    seen="https://github.com/karpathy/micrograd/issues/68",
)
class PassedOnAtOnce(_Value):
    """A Value passes its gradient on with every part that arrives, the earlier parts again each time.

    With y = x³ and L = y² + y, how often does y pass something on to x? What had it received at each of these
    moments?
    """

    def backward(self):
        self.clear()
        self.grad = 1.0
        self.pass_on()

    def pass_on(self):
        for parent, slope in self.parents:
            parent.grad += self.grad * slope
            parent.pass_on()


@misconception(
    of="Value",
    fails=EXPRESSIONS | {"backward_twice_is_backward_once"},
    seen="https://github.com/karpathy/micrograd/issues/53",
)
class SecondBackwardAdds(_Value):
    """A second call of backward adds to the gradients of the first.

    What is `.grad` of x when your second `backward()` begins? Is it part of the derivative that is asked for?
    """

    def clear(self):
        pass


@misconception(of="Value", fails=EXPRESSIONS | {"zero_is_no_trouble"})
class PowerDividesByItsBase(_Value):
    """The derivative of a power is computed as n times the power divided by the base, which fails at 0.

    What is the derivative of x³ at 0? Which form of it needs no division?
    """

    def power(self, n):
        return type(self)(self.data**n, ((self, n * self.data**n / self.data),))


@misconception(of="Value", fails=EXPRESSIONS | {"zero_is_no_trouble"})
class ReluSlopeOneAtZero(_Value):
    """The derivative of relu at 0 is taken to be 1, where 0 is agreed.

    Which comparison decides whether a gradient passes your relu, and what does it say for exactly 0?
    """

    def relu(self):
        return type(self)(max(self.data, 0.0), ((self, float(self.data >= 0)),))


@misconception(
    of="Value",
    fails=EXPRESSIONS
    | EXAMPLE_EXPRESSION
    | REUSED
    | {"backward_twice_is_backward_once", "zero_is_no_trouble"},
)
class SeedForgotten(_Value):
    """Backward begins with the gradient 0, so all gradients stay 0.

    What is the derivative of L with respect to L itself? What is `L.grad` when your backward begins?
    """

    seed = 0.0


@misconception(
    of="Value",
    fails=EXPRESSIONS
    | EXAMPLE_EXPRESSION
    | REUSED
    | {"backward_twice_is_backward_once", "zero_is_no_trouble"},
)
class SeededWithItsOwnValue(_Value):
    """Backward begins with the value of L as its gradient, not with 1.

    By how much does L change when L grows by 0.001? Which number does your backward begin with?
    """

    def backward(self):
        self.seed = self.data
        super().backward()


# 11. softmax_vjp

VJP_VALUES = {"the_example_gives_a_quarter", "other_rows_agree_with_autograd"}
SUMS = {"the_gradients_of_a_row_sum_to_zero"}
HUGE = {"a_huge_vocabulary_needs_no_table"}


@misconception(
    of="softmax_vjp",
    fails=VJP_VALUES | SUMS,
    seen="https://stats.stackexchange.com/questions/235528/backpropagation-with-softmax-cross-entropy",
)
def only_the_diagonal(probs, upstream):
    """Only the diagonal of the Jacobian is used, as if a logit moved no probability but its own.

    When one logit of the example grows, what happens to the other two probabilities? Which entries of the
    Jacobian say so?
    """
    return upstream * probs * (1 - probs)


@misconception(of="softmax_vjp", fails=VJP_VALUES | SUMS)
def off_diagonal_with_a_plus(probs, upstream):
    """The entries off the diagonal have the wrong sign.

    When one logit grows, do the probabilities of the other words grow or shrink? What must each row of the
    Jacobian sum to?
    """
    mean = (probs * upstream).sum(-1, keepdim=True)
    return probs * (upstream + mean - 2 * probs * upstream)


@misconception(
    of="softmax_vjp",
    fails=VJP_VALUES | {"rows_do_not_see_each_other"},
    seen="https://ai.stackexchange.com/questions/35741/trouble-writing-the-backpropagation-algorithm-in-python-through-crossentropy-and",
)
def batch_rows_mixed(probs, upstream):
    """The sum runs over the whole batch, so every row's gradient depends on the other rows.

    Call your function with the first row alone. Which of your sums is over more than one prediction?
    """
    return probs * (upstream - (probs * upstream).sum())


@misconception(of="softmax_vjp", fails=HUGE)
def whole_table_built(probs, upstream):
    """The Jacobian is built as a table of V by V numbers for every row, where V numbers suffice.

    How many bytes has your table for V = 5,000,000? Write out one entry of the product: what do all of them
    have in common?
    """
    if probs.shape[-1] > 100_000:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
    table = torch.diag_embed(probs) - probs[:, :, None] * probs[:, None, :]
    return (upstream[:, None, :] @ table)[:, 0]


@misconception(of="softmax_vjp", fails=VJP_VALUES | SUMS)
def upstream_not_centred(probs, upstream):
    """The upstream gradient is multiplied with the probabilities, and nothing is subtracted.

    If all of upstream is 1, the loss is the sum of the probabilities. Can any logit change that sum?
    """
    return probs * upstream


# 12. cross_entropy_grad

BATCH_GRADIENT = {"other_batches_agree_with_autograd"}


def _error(logits, targets, shift=0):
    one_hot = functional.one_hot((targets + shift) % logits.shape[1], logits.shape[1])
    return logits.softmax(-1) - one_hot.to(logits.dtype)


@misconception(of="cross_entropy_grad", fails=BATCH_GRADIENT | {"a_row_among_many_moves_the_mean_less"})
def mean_forgotten(logits, targets, pad):
    """The gradient is that of the sum of the losses, not of their mean.

    When the batch is twice as large, how much does one row move the mean? And your gradient?
    """
    return _error(logits, targets) * (targets != pad)[:, None]


@misconception(of="cross_entropy_grad", fails=BATCH_GRADIENT | {"the_example_row_has_its_gradient"})
def target_minus_prediction(logits, targets, pad):
    """The sign is turned round: y − ŷ, along which the loss falls, is no gradient of the loss.

    If the logit of the right word grows, does the loss grow? Which sign has its gradient, then?
    """
    return -_error(logits, targets) * (targets != pad)[:, None] / (targets != pad).sum()


@misconception(of="cross_entropy_grad", fails=BATCH_GRADIENT | {"a_row_among_many_moves_the_mean_less"})
def divided_twice(logits, targets, pad):
    """The gradient is divided by the number of rows twice.

    Which of your lines divide by the number of rows? By which factor should the gradient shrink in a batch
    twice as large?
    """
    return _error(logits, targets) * (targets != pad)[:, None] / (targets != pad).sum() ** 2


@misconception(of="cross_entropy_grad", fails=BATCH_GRADIENT | {"padded_rows_have_no_gradient"})
def padding_pushed_towards_pad(logits, targets, pad):
    """Padded rows have a gradient, which teaches the model to predict padding.

    Does the loss depend on the logits of a padded row? What is the gradient of something that does not
    matter?
    """
    return _error(logits, targets) / (targets != pad).sum()


@misconception(of="cross_entropy_grad", fails=BATCH_GRADIENT | {"padded_rows_do_not_dilute_the_others"})
def divided_by_all_rows(logits, targets, pad):
    """The gradient is divided by the number of all rows, padded ones included.

    Over how many rows does the mean of the loss run, and by which number do you divide?
    """
    return _error(logits, targets) * (targets != pad)[:, None] / len(targets)


@misconception(of="cross_entropy_grad", fails=BATCH_GRADIENT | {"the_example_row_has_its_gradient"})
def one_hot_one_place_too_far(logits, targets, pad):
    """The 1 is subtracted at the wrong word, the one after the target.

    Which entry of the example's gradient is negative? Which is in yours?
    """
    return _error(logits, targets, 1) * (targets != pad)[:, None] / (targets != pad).sum()


# 13. linear_backward

LINEAR = {"other_linear_layers_agree_with_autograd"}


@misconception(of="linear_backward", fails=LINEAR | {"the_gradient_of_w_has_the_shape_of_w"})
def weight_gradient_transposed(x, W, upstream):
    """The gradient of W is transposed.

    Which shape has W, and which has your dW? Which entry of W does the first row of your dW belong to?
    """
    return upstream @ W, x.T @ upstream, upstream.sum(0)


@misconception(of="linear_backward", fails=LINEAR | {"the_gradient_of_x_goes_through_w"})
def multiplied_with_the_transpose_of_w(x, W, upstream):
    """On the way back upstream is multiplied with the transpose of W, as on the way there.

    Which shapes have upstream and your matrix? Which one turns M numbers back into K?
    """
    if upstream.shape[1] != W.shape[1]:
        return W.T, upstream.T @ x, upstream.sum(0)
    return upstream @ W.T, upstream.T @ x, upstream.sum(0)


@misconception(of="linear_backward", fails=LINEAR | {"the_bias_hears_from_every_row"})
def bias_not_summed(x, W, upstream):
    """The gradient of the bias has a row for every row of the batch.

    Which shape has b, and which has your db? Through how many rows does the loss depend on b?
    """
    return upstream @ W, upstream.T @ x, upstream


@misconception(of="linear_backward", fails=LINEAR | {"the_bias_hears_from_every_row"})
def bias_averaged(x, W, upstream):
    """The gradient of the bias is averaged over the batch; the mean in the loss is in upstream already.

    If b grows a little, all rows change. Do their effects on the loss add up, or average?
    """
    return upstream @ W, upstream.T @ x, upstream.mean(0)


@misconception(of="linear_backward", fails=LINEAR | {"the_gradient_of_w_has_the_shape_of_w"})
def weight_gradient_averaged(x, W, upstream):
    """The gradient of W is divided by the batch size; the mean in the loss is in upstream already.

    Where does the division by the batch size belong: to the loss, or to every layer on the way back?
    """
    return upstream @ W, upstream.T @ x / len(x), upstream.sum(0)


# 14. tanh_backward

TANH = {"the_example_slopes_are_1_and_0_64", "other_units_agree_with_autograd"}
SATURATED = {"a_saturated_unit_passes_nothing_on"}


@misconception(of="tanh_backward", fails=TANH | SATURATED)
def output_taken_for_the_input(h, upstream):
    """The slope is computed as 1 − tanh²(h), but h is the output of tanh already.

    How often is tanh applied between a and your slope? Try h = 1: what must the slope be?
    """
    return upstream * (1 - h.tanh() ** 2)


@misconception(of="tanh_backward", fails=TANH | SATURATED)
def sigmoid_slope(h, upstream):
    """The slope is h(1 − h), which belongs to the sigmoid.

    What is the slope of tanh at 0, where h is 0? Draw it, and compare.
    """
    return upstream * h * (1 - h)


@misconception(of="tanh_backward", fails=TANH | SATURATED)
def square_forgotten(h, upstream):
    """The slope is 1 − h, without the square.

    The slope of tanh is the same at a and at −a. Is yours?
    """
    return upstream * (1 - h)


@misconception(of="tanh_backward", fails=TANH)
def upstream_forgotten(h, upstream):
    """The slope is returned by itself, without the gradient from upstream.

    The chain rule multiplies two numbers at each unit. Which one is missing?
    """
    return 1 - h**2


# 15. embedding_backward

LOOKED_UP = {"the_example_word_gets_both_gradients", "other_windows_agree_with_autograd"}


@misconception(of="embedding_backward", fails=LOOKED_UP)
def repeated_words_overwritten(windows, upstream, vocab_size):
    """Of a word that occurs several times only the last gradient is kept.

    Print your dE for the window `[2, 0, 2]`. What has become of the 5? What does `dE[:, [2, 2]] = …` do?
    """
    dE = torch.zeros(upstream.shape[-1], vocab_size, dtype=upstream.dtype)
    for word, gradient in zip(windows.flatten().tolist(), upstream.flatten(0, 1), strict=True):
        dE[:, word] = gradient
    return dE


def _summed(windows, upstream, vocab_size):
    dE = torch.zeros(upstream.shape[-1], vocab_size, dtype=upstream.dtype)
    return dE.index_add(1, windows.flatten(), upstream.flatten(0, 1).T)


@misconception(of="embedding_backward", fails=LOOKED_UP | {"each_word_has_a_column"})
def one_row_per_word(windows, upstream, vocab_size):
    """The gradient has a row per word, where E has a column per word.

    Which shape has E, and which has your dE?
    """
    return _summed(windows, upstream, vocab_size).T


@misconception(of="embedding_backward", fails=LOOKED_UP)
def repeated_words_averaged(windows, upstream, vocab_size):
    """The gradients of a word that occurs several times are averaged, not added.

    If the word's column grows a little, all its places change. Do their effects on the loss add up, or
    average?
    """
    times = torch.bincount(windows.flatten(), minlength=vocab_size).clamp(min=1)
    return _summed(windows, upstream, vocab_size) / times


@misconception(of="embedding_backward", fails=LOOKED_UP | {"each_word_has_a_column"})
def only_the_newest_word(windows, upstream, vocab_size):
    """Only the last place of every window hands its gradient on.

    How many columns of E were looked up for one window? How many get a gradient from you?
    """
    return _summed(windows[:, -1:], upstream[:, -1:], vocab_size)


# 16. unbroadcast

SHAPES = {"other_shapes_agree_with_autograd"}
MISSING, STRETCHED = {"a_missing_axis_is_summed_away"}, {"a_stretched_axis_is_summed_and_kept"}


def _unbroadcast(gradient, shape, *, total=torch.sum):
    while gradient.ndim > len(shape):
        gradient = total(gradient, dim=0)
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = total(gradient, dim=axis, keepdim=True)
    return gradient


@misconception(of="unbroadcast", fails=SHAPES | MISSING | STRETCHED)
def nothing_summed(gradient, shape):
    """The gradient comes back in the broadcast shape.

    Which shape has the tensor that is to be moved by this gradient? What would adding them do?
    """
    return gradient


@misconception(of="unbroadcast", fails=SHAPES | STRETCHED)
def stretched_axes_forgotten(gradient, shape):
    """Only missing axes are summed, not those that were stretched from size 1.

    A column of shape (2, 1) was added to a table of shape (2, 3). How many copies of its first number are
    there?
    """
    while gradient.ndim > len(shape):
        gradient = gradient.sum(0)
    return gradient


@misconception(of="unbroadcast", fails=SHAPES | MISSING | STRETCHED)
def copies_averaged(gradient, shape):
    """The gradients of the copies are averaged, not added.

    If the small tensor's number grows a little, all its copies do. Do their effects on the loss add up?
    """
    return _unbroadcast(gradient, shape, total=torch.mean)


@misconception(of="unbroadcast", fails=SHAPES | STRETCHED)
def stretched_axes_lost(gradient, shape):
    """The stretched axes are summed, but then they are gone from the shape.

    Which shape is asked for, and which comes back, for a column of shape (2, 1)?
    """
    while gradient.ndim > len(shape):
        gradient = gradient.sum(0)
    return gradient.sum([axis for axis, size in enumerate(shape) if size == 1]) if 1 in shape else gradient


# 17. layer_norm_backward

NORM = {"other_layer_norms_agree_with_autograd"}
NORM_EXAMPLE = {"the_example_row_gets_2_0_minus_2_0"}
RAISED, STRETCHED_ROW = {"raising_a_whole_row_changes_nothing"}, {"stretching_a_row_changes_nothing"}


def _norm_backward(x, gain, upstream, eps, *, through_mean=True, through_deviation=True, ddof=0):
    centred = x - x.mean(-1, keepdim=True)
    s = (centred.square().sum(-1, keepdim=True) / (x.shape[-1] - ddof) + eps).sqrt()
    normed, g = centred / s, upstream * gain
    dx = g
    if through_mean:
        dx = dx - g.mean(-1, keepdim=True)
    if through_deviation:
        dx = dx - normed * (g * normed).mean(-1, keepdim=True)
    return dx / s, (upstream * normed).sum(0), upstream.sum(0)


@misconception(of="layer_norm_backward", fails=NORM | NORM_EXAMPLE | RAISED | STRETCHED_ROW)
def mean_and_deviation_taken_for_constants(x, gain, upstream, eps):
    """The mean and the deviation are treated as constants, although every number of the row is in them.

    If one number of a row grows, what happens to m and to s? Through how many ways does it reach the loss?
    """
    return _norm_backward(x, gain, upstream, eps, through_mean=False, through_deviation=False)


@misconception(of="layer_norm_backward", fails=NORM | NORM_EXAMPLE | RAISED)
def mean_taken_for_a_constant(x, gain, upstream, eps):
    """The way through the mean is missing, so that raising a whole row seems to change the loss.

    Add 1 to all numbers of a row: what does the layer norm make of it? What must the gradients sum to, then?
    """
    return _norm_backward(x, gain, upstream, eps, through_mean=False)


@misconception(of="layer_norm_backward", fails=NORM | NORM_EXAMPLE | STRETCHED_ROW)
def deviation_taken_for_a_constant(x, gain, upstream, eps):
    """The way through the deviation is missing, so that stretching a row seems to change the loss.

    Multiply all numbers of a row by 2: what does the layer norm make of it? Which term of your dx knows that?
    """
    return _norm_backward(x, gain, upstream, eps, through_deviation=False)


@misconception(of="layer_norm_backward", fails=NORM)
def gain_forgotten(x, gain, upstream, eps):
    """The gain is not in dx: upstream is used where upstream times gain belongs.

    By how much does y change when x̂ grows by a little? Which parameter is that?
    """
    dx, _, _ = _norm_backward(x, torch.ones_like(gain), upstream, eps)
    return dx, *_norm_backward(x, gain, upstream, eps)[1:]


@misconception(of="layer_norm_backward", fails=NORM | {"gain_and_bias_hear_from_every_row"})
def gain_and_bias_not_summed(x, gain, upstream, eps):
    """The gradients of gain and bias have a row for every row of the batch.

    Which shape have gain and bias? Through how many rows does the loss depend on them?
    """
    dx, _, _ = _norm_backward(x, gain, upstream, eps)
    centred = x - x.mean(-1, keepdim=True)
    return dx, upstream * centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt(), upstream


@misconception(
    of="layer_norm_backward",
    fails=NORM | NORM_EXAMPLE | STRETCHED_ROW | {"gain_and_bias_hear_from_every_row"},
)
def deviation_with_d_minus_one(x, gain, upstream, eps):
    """The deviation divides by D − 1, as `torch.std` does, where the layer norm divides by D.

    What is s in the example by the formula, and what does your line give?
    """
    return _norm_backward(x, gain, upstream, eps, ddof=1)


# 18. numerical_gradient

DIFFERENCES = {"other_losses_agree_with_autograd"}


def _generators(seed):
    while True:
        yield torch.Generator().manual_seed(seed)


def _one_generator(seed):
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield generator


def _losses_named(name):
    return {
        "cubic": lambda x, generator: (x**3).sum(),
        "with_dropout": _with_dropout,
        "neighbours": lambda x, generator: (x.flatten()[1:] * x.flatten()[:-1]).sum(),
    }[name]


def _with_dropout(x, generator):
    kept = torch.rand(x.shape, generator=generator, dtype=torch.float64) < 0.5
    return (2 * kept * x**2 + x).sum()


def _differences(loss_name, x, seed, *, step=1e-5, is_central=True, generators=_generators, n_entries=None):
    generator = generators(seed)

    def loss_at(index, distance):
        moved = x.flatten().clone()
        moved[index] += distance
        return _losses_named(loss_name)(moved.reshape(x.shape), next(generator)).item()

    slopes = torch.zeros(x.numel(), dtype=torch.float64)
    for i in range(x.numel() if n_entries is None else n_entries):
        low = -step if is_central else 0.0
        slopes[i] = (loss_at(i, step) - loss_at(i, low)) / (step - low)
    return slopes.reshape(x.shape)


@misconception(
    of="numerical_gradient",
    fails=DIFFERENCES | {"float32_numbers_are_differentiated_in_float64"},
    seen="https://github.com/PaddlePaddle/Paddle/issues/4283",
)
def differences_in_float32(loss_name, x, seed):
    """The differences are taken in float32, where rounding is as large as the difference itself.

    Print the two losses of one difference with all their digits. How many digits differ, and how many does a
    float32 have?
    """
    return _differences(loss_name, x, seed)


@misconception(of="numerical_gradient", fails=DIFFERENCES | {"both_sides_see_the_same_dropout"})
def dropout_drawn_anew(loss_name, x, seed):
    """Every call of the loss draws a dropout of its own, so the difference compares two different losses.

    Call the loss twice at the same x with your generator. How large is the difference, divided by 2ε?
    """
    return _differences(loss_name, x.double(), seed, generators=_one_generator)


@misconception(
    of="numerical_gradient",
    fails=DIFFERENCES
    | {"the_cubic_example_has_slopes_3_and_12", "float32_numbers_are_differentiated_in_float64"},
)
def difference_to_one_side(loss_name, x, seed):
    """The difference is taken to one side only, whose error is as large as ε and not as ε².

    Compute both differences of x³ at 2 by hand, with ε = 0.1. Which of the two is nearer to 12?
    """
    return _differences(loss_name, x.double(), seed, is_central=False)


@misconception(
    of="numerical_gradient",
    fails=DIFFERENCES
    | {
        "the_cubic_example_has_slopes_3_and_12",
        "both_sides_see_the_same_dropout",
        "every_entry_has_its_slope",
    },
)
def only_the_first_entry_moved(loss_name, x, seed):
    """Only the first entry is moved; a mistake in any other one would not be seen.

    How many entries has x, and how many of your slopes are not zero?
    """
    return _differences(loss_name, x.double(), seed, n_entries=1)


@misconception(
    of="numerical_gradient",
    fails=DIFFERENCES
    | {
        "the_cubic_example_has_slopes_3_and_12",
        "float32_numbers_are_differentiated_in_float64",
        "both_sides_see_the_same_dropout",
        "every_entry_has_its_slope",
    },
)
def divided_by_one_step(loss_name, x, seed):
    """The difference is divided by ε, although the two places lie 2ε apart.

    How far apart are the two places whose losses you subtract?
    """
    return 2 * _differences(loss_name, x.double(), seed)


# 19. wrong_entries

JUDGED = {"other_gradients_are_judged_by_both_rules"}
THIRD = {"the_third_entry_of_the_example_is_wrong"}


def _differs(right, left, claimed):
    mean = (right + left) / 2
    return (mean - claimed).abs() > 1e-4 * torch.maximum(mean.abs(), claimed.abs())


def _is_kink(right, left):
    return (right - left).abs() > 0.01 * torch.maximum(right.abs(), left.abs())


@misconception(of="wrong_entries", fails=JUDGED | THIRD | {"small_gradients_are_judged_as_strictly"})
def loose_absolute_tolerance(right, left, claimed):
    """The bound is an absolute 0.01, so that gradients smaller than that are never wrong.

    If all gradients are about 0.001, which claims pass your test? Would 0 pass, everywhere?
    """
    return (((right + left) / 2 - claimed).abs() > 1e-2) & ~_is_kink(right, left)


@misconception(of="wrong_entries", fails=JUDGED | THIRD | {"a_kink_is_nobodys_fault"})
def kinks_judged(right, left, claimed):
    """Claims at a kink are judged as well, although there is no derivative to compare them with.

    What is the slope of relu to the right of 0, and to the left? What does the mean of the two mean?
    """
    return _differs(right, left, claimed)


@misconception(
    of="wrong_entries",
    fails=JUDGED | THIRD | {"small_gradients_are_judged_as_strictly", "a_kink_is_nobodys_fault"},
)
def right_entries_reported(right, left, claimed):
    """True and False are exchanged: True stands where the claim agrees.

    Does your test ask whether two numbers are close, or whether they are not? Which of the two is "wrong"?
    """
    return ~_differs(right, left, claimed)


@misconception(
    of="wrong_entries",
    fails=JUDGED | THIRD | {"small_gradients_are_judged_as_strictly", "a_kink_is_nobodys_fault"},
)
def one_verdict_for_all(right, left, claimed):
    """There is one verdict for the whole tensor, so nobody learns which entry is wrong.

    Which shape is asked for? Which entry would you mend first, knowing only that some entry is wrong?
    """
    return (_differs(right, left, claimed) & ~_is_kink(right, left)).any()


# 20. forward_and_backward

LINES = ("e", "a", "h", "z", "y_hat", "L", "dz", "dU", "dc", "dh", "da", "dW", "db", "de", "dE")
USES = {
    "a": "e", "h": "a", "z": "h", "y_hat": "z", "L": "z", "dz": "y_hat", "dU": "dz h", "dc": "dz", "dh": "dz",
    "da": "dh h", "dW": "da e", "db": "da", "de": "da", "dE": "de",
}  # fmt: skip


def _spoiled(first):
    """The checks of a line and of all that are computed from it."""
    spoiled = {first}
    for line in LINES:
        if spoiled.intersection(USES.get(line, "").split()):
            spoiled.add(line)
    return {f"line_{line}_agrees_with_autograd" for line in spoiled} | {"all_lines_hold_for_other_sizes"}


class _Lines:
    """The right fifteen lines, each a method to break."""

    def __init__(self, E, W, b, U, c, windows, targets):
        self.E, self.W, self.b, self.U, self.c = E, W, b, U, c
        self.windows, self.targets, self.lines = windows, targets, {}
        for name in LINES:
            self.lines[name] = getattr(self, name)(**self.lines)

    def e(self, **_):
        return self.E.T[self.windows].flatten(1)

    def a(self, e, **_):
        return e @ self.W.T + self.b

    def h(self, a, **_):
        return a.tanh()

    def z(self, h, **_):
        return h @ self.U.T + self.c

    def y_hat(self, z, **_):
        return z.softmax(-1)

    def L(self, z, **_):
        return functional.cross_entropy(z, self.targets)

    def dz(self, y_hat, **_):
        return (y_hat - functional.one_hot(self.targets, y_hat.shape[1])) / len(y_hat)

    def dU(self, dz, h, **_):
        return dz.T @ h

    def dc(self, dz, **_):
        return dz.sum(0)

    def dh(self, dz, **_):
        return dz @ self.U

    def da(self, dh, h, **_):
        return dh * (1 - h**2)

    def dW(self, da, e, **_):
        return da.T @ e

    def db(self, da, **_):
        return da.sum(0)

    def de(self, da, **_):
        return da @ self.W

    def dE(self, de, **_):
        by_place = de.reshape(-1, len(self.E))
        return torch.zeros_like(self.E).index_add(1, self.windows.flatten(), by_place.T)


def _method(wrong):
    return lambda self, **lines: wrong(self, lines)


def _lines_with(arguments, **broken):
    """The fifteen lines with some computed otherwise: name → function of the model and its lines."""
    methods = {name: _method(wrong) for name, wrong in broken.items()}
    return type("Broken", (_Lines,), methods)(*arguments).lines


@misconception(of="forward_and_backward", fails=_spoiled("e"))
def words_interleaved_in_e(E, W, b, U, c, windows, targets):
    """In e the embeddings are interleaved, not joined word by word.

    Print e for one window. Which d of its numbers belong to the oldest word, and which should?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(
        arguments,
        e=lambda model, _: E.T[windows].transpose(1, 2).flatten(1),
        dE=lambda model, lines: _Lines.dE(
            model, lines["de"].reshape(len(windows), len(E), -1).transpose(1, 2).flatten(1)
        ),
    )


@misconception(of="forward_and_backward", fails=_spoiled("L"))
def loss_summed_gradient_of_the_mean(E, W, b, U, c, windows, targets):
    """The loss is the sum over the batch, while its gradient is that of the mean.

    Divide your L by the loss of torch. Which number do you get, and where does it come from?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(
        arguments, L=lambda model, lines: functional.cross_entropy(lines["z"], targets, reduction="sum")
    )


@misconception(of="forward_and_backward", fails=_spoiled("dz"))
def dz_not_divided_by_the_batch(E, W, b, U, c, windows, targets):
    """dz is the gradient of the sum of the losses: the 1/B of the mean is missing.

    Divide your dz by that of autograd. Is it the same number everywhere, and what has it to do with the
    batch?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(arguments, dz=lambda model, lines: _Lines.dz(model, lines["y_hat"]) * len(windows))


@misconception(of="forward_and_backward", fails=_spoiled("dz"))
def dz_with_the_wrong_sign(E, W, b, U, c, windows, targets):
    """dz is y − ŷ, so that all gradients point downhill.

    If the logit of the right word grows, the loss falls. Which sign must that entry of dz have?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(arguments, dz=lambda model, lines: -_Lines.dz(model, lines["y_hat"]))


@misconception(of="forward_and_backward", fails=_spoiled("dU"))
def du_transposed(E, W, b, U, c, windows, targets):
    """dU has the shape (D, V), that of U transposed.

    Which shape has U? In which order must dz and h be multiplied for dU to have it?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(arguments, dU=lambda model, lines: lines["h"].T @ lines["dz"])


@misconception(of="forward_and_backward", fails=_spoiled("dc"))
def dc_not_summed(E, W, b, U, c, windows, targets):
    """dc has a row for each window: it was not summed over the batch.

    Which shape has c? How many windows is c added to?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(arguments, dc=lambda model, lines: lines["dz"])


@misconception(of="forward_and_backward", fails=_spoiled("da"))
def tanh_slope_left_out(E, W, b, U, c, windows, targets):
    """dh is handed on as da, as if there were no tanh.

    Between a and h lies one function. What is its slope where h is 0.9?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(arguments, da=lambda model, lines: lines["dh"])


@misconception(of="forward_and_backward", fails=_spoiled("da"))
def tanh_slope_from_a(E, W, b, U, c, windows, targets):
    """The slope of tanh is computed as 1 − a², with what went into tanh instead of what came out.

    What is your slope where a is 2? Can a slope of tanh be negative?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(arguments, da=lambda model, lines: lines["dh"] * (1 - lines["a"] ** 2))


@misconception(of="forward_and_backward", fails=_spoiled("db"))
def db_averaged(E, W, b, U, c, windows, targets):
    """db is averaged over the batch, which divides by B a second time.

    In which line has the 1/B of the mean entered already? How many lines after it may divide again?
    """
    arguments = (E, W, b, U, c, windows, targets)
    return _lines_with(arguments, db=lambda model, lines: lines["da"].mean(0))


@misconception(of="forward_and_backward", fails=_spoiled("dE"))
def de_of_repeated_words_overwritten(E, W, b, U, c, windows, targets):
    """Of a word that occurs several times in the batch, dE keeps only the last gradient.

    Run it on one window that holds the same word three times. Which of its places does your dE know of?
    """

    def overwritten(model, lines):
        dE = torch.zeros_like(E)
        for word, gradient in zip(windows.flatten().tolist(), lines["de"].reshape(-1, len(E)), strict=True):
            dE[:, word] = gradient
        return dE

    return _lines_with((E, W, b, U, c, windows, targets), dE=overwritten)


# 21. name_the_broken_line

WHOLE_TABLE = {"the_fault_breaks_what_the_table_says"}
SHOWN_EARLY = WHOLE_TABLE | {"the_fault_leaves_runs_a_and_b_whole"}


@misconception(of="name_the_broken_line", fails=SHOWN_EARLY)
def said_the_mean_is_forgotten():
    """The missing 1/B is named, but run B has two windows and is whole.

    In run B, by which number would dz be too large? Does the table show it?
    """
    return "mean_of_the_batch_forgotten"


@misconception(of="name_the_broken_line", fails=SHOWN_EARLY)
def said_the_bias_of_the_first_window():
    """The bias is named, but run B has two windows, and its db is right.

    Which line does this fault break, and is that line in the table?
    """
    return "bias_taken_from_the_first_window"


@misconception(of="name_the_broken_line", fails=SHOWN_EARLY)
def said_the_slope_of_tanh():
    """The slope of tanh is named, which would break da in every run.

    In which run of the table does da depart?
    """
    return "slope_of_tanh_forgotten"


@misconception(of="name_the_broken_line", fails=WHOLE_TABLE)
def said_overwritten_within_a_window():
    """Overwriting within a window is named, but in run D no window holds a word twice, and dE departs.

    Where does the repeated word of run D stand? What would this fault do with its two gradients?
    """
    return "repeated_word_overwritten_within_a_window"


@misconception(of="name_the_broken_line", fails=SHOWN_EARLY)
def said_averaged_over_windows():
    """Averaging is named, which would halve dE in run B.

    How many windows has run B? Is its dE right?
    """
    return "gradients_of_a_word_averaged"
