"""What goes wrong with a trained translator, as far as it gives the same weights on every machine.

Weights that were really trained differ in their last digits from machine to machine, so these mistakes are
built by hand: they are what such trainings tend to.
"""

import torch

from autograder.catalogue import misconception
from course.data.translation_lexicon import Lexicon
from course.data.translation_pair import translation_vocabularies
from course.models.seq2seq import Seq2Seq, Seq2SeqConfig

# 18. weights_after


def _shifted(target):
    return target[:, :-1], target[:, 1:]


def _weights_after(
    weights,
    batches,
    learning_rate,
    *,
    read_and_said=_shifted,
    pad=0,
    summary=lambda surprises, is_real: surprises[is_real].mean(),
    clears=True,
    shortened=lambda weights: torch.nn.utils.clip_grad_norm_(weights, 1.0),
):
    """The steps of the exercise, with the places in which they go wrong left open."""
    config = Seq2SeqConfig(
        6, 7, d_embedding=1, d_hidden=2, is_bidirectional=False, attention="additive", pad=0
    )
    model = Seq2Seq(config).double()
    model.load_state_dict(weights)
    for source, target in batches:
        inputs, targets = read_and_said(target)
        surprises = -model(source, inputs).gather(-1, targets[..., None])[..., 0]
        if clears:
            model.zero_grad()
        summary(surprises, targets != pad).backward()
        shortened([*model.parameters()])
        with torch.no_grad():
            for weight in model.parameters():
                weight -= learning_rate * weight.grad
    return model.state_dict()


@misconception(of="weights_after", seen="https://github.com/bentrevett/pytorch-seq2seq/issues/136")
def each_word_learned_at_its_own_place(weights, batches, learning_rate):
    """Inputs and targets are the same row: at every place the model learns to say what it has just read.

    In the example, which words does your loss ask for? Is BOS one that a translator should learn to say?
    """
    return _weights_after(weights, batches, learning_rate, read_and_said=lambda target: (target, target))


@misconception(of="weights_after")
def inputs_learned_as_targets(weights, batches, learning_rate):
    """Inputs and targets are the same row, cut at its end: the model learns to say what it has just read.

    In the example, which word does the decoder read first, and which is it to say then? Is EOS in your loss?
    """
    return _weights_after(
        weights, batches, learning_rate, read_and_said=lambda target: (target[:, :-1], target[:, :-1])
    )


@misconception(of="weights_after")
def targets_read(weights, batches, learning_rate):
    """The decoder is fed the targets: at every place it reads the word that it is to say.

    In the example, what has the decoder read when it is to say 5? Does it ever read BOS?
    """
    return _weights_after(
        weights, batches, learning_rate, read_and_said=lambda target: (target[:, 1:], target[:, 1:])
    )


@misconception(of="weights_after")
def the_word_before_learned(weights, batches, learning_rate):
    """Inputs and targets have changed places: after each word the model learns to say the one before it.

    In the example, what does your model read first? What has the decoder read when it is to say 5?
    """
    return _weights_after(
        weights, batches, learning_rate, read_and_said=lambda target: _shifted(target)[::-1]
    )


@misconception(of="weights_after")
def padding_learned_in_training(weights, batches, learning_rate):
    """The padding is learned like a word: it is in the mean and in the gradient.

    From weights of 0, does the constant of the word 0 rise or fall after your step on a padded batch?
    """
    return _weights_after(weights, batches, learning_rate, pad=-1)


@misconception(of="weights_after")
def surprises_summed_in_training(weights, batches, learning_rate):
    """The surprises are added up, so that a larger batch takes a larger step, until it is shortened.

    What happens to your gradient when every sentence stands twice in the batch?
    """
    return _weights_after(
        weights, batches, learning_rate, summary=lambda surprises, is_real: surprises[is_real].sum()
    )


@misconception(of="weights_after")
def surprises_divided_by_the_sentences(weights, batches, learning_rate):
    """The sum of the surprises is divided by the number of sentences, not by the number of their words.

    The batch of the example has one sentence of three real words. By which number do you divide?
    """
    return _weights_after(
        weights,
        batches,
        learning_rate,
        summary=lambda surprises, is_real: surprises[is_real].sum() / len(surprises),
    )


@misconception(of="weights_after")
def mean_of_sentence_means_in_training(weights, batches, learning_rate):
    """First a mean is taken for each sentence, then the mean of these: words of short sentences pull harder.

    In a batch of one sentence of one word and one of nine, what fraction of your loss is due to the one word?
    """
    return _weights_after(
        weights,
        batches,
        learning_rate,
        summary=lambda surprises, is_real: ((surprises * is_real).sum(1) / is_real.sum(1)).mean(),
    )


@misconception(of="weights_after")
def gradients_added_up(weights, batches, learning_rate):
    """The gradients are never cleared, so every step also repeats those of all batches before it.

    Print a gradient at the start of your second step, before `backward()`. Whose is it?
    """
    return _weights_after(weights, batches, learning_rate, clears=False)


@misconception(of="weights_after")
def steep_steps_not_shortened(weights, batches, learning_rate):
    """A step is longer than the learning rate: the norm of the whole gradient is above 1 when it is taken.

    Print that norm between `backward()` and your step. Which line should have shortened it? Does that line
    come after `backward()`, and is it the norm that it looks at?
    """
    return _weights_after(weights, batches, learning_rate, shortened=lambda weights: None)


@misconception(of="weights_after")
def each_tensor_shortened_by_itself(weights, batches, learning_rate):
    """The gradient of each tensor is shortened by itself, so all together may still be longer than 1.

    Which norm does rule 3 speak of? What is the norm of all your gradients together right before the step?
    """

    def shortened(weights):
        for weight in weights:
            torch.nn.utils.clip_grad_norm_([weight], 1.0)

    return _weights_after(weights, batches, learning_rate, shortened=shortened)


@misconception(of="weights_after")
def every_gradient_brought_to_one(weights, batches, learning_rate):
    """Every gradient is brought to the norm 1, those that are shorter too, so no step is ever small.

    Print the norm of the gradient in the example, before and after the line that changes it. What does rule 3
    do with a gradient that is shorter than 1?
    """

    def shortened(weights):
        norm = torch.cat([weight.grad.flatten() for weight in weights]).norm()
        for weight in weights:
            weight.grad /= norm

    return _weights_after(weights, batches, learning_rate, shortened=shortened)


@misconception(of="weights_after")
def steps_uphill(weights, batches, learning_rate):
    """The gradient is added where it should be subtracted: the loss grows with every step.

    In the example, does the constant of the word 5 rise or fall? Is 5 to become more probable or less?
    """
    return _weights_after(weights, batches, -learning_rate)


@misconception(of="weights_after")
def weights_handed_back_as_they_came(weights, batches, learning_rate):
    """The weights that come back are those that came in: no step has reached them.

    Print one parameter of your model before and after the line with the learning rate. Has it changed? And is
    it that model whose weights you return?
    """
    return weights


@misconception(of="weights_after")
def only_the_last_batch_learned(weights, batches, learning_rate):
    """Of several batches only the last one leaves a trace in the weights.

    Call your function with one batch and with two. Is the step inside the loop, and does the second step
    begin where the first has led?
    """
    return _weights_after(weights, batches[-1:], learning_rate)


@misconception(of="weights_after")
def eos_not_learned_in_training(weights, batches, learning_rate):
    """EOS is left out of the loss, so the model never learns to end a translation.

    How many words must the model of the example predict after BOS? Which of them is not in your loss?
    """

    def without_eos(target):
        inputs, targets = _shifted(target)
        return inputs, targets.masked_fill(targets == 2, 0)

    return _weights_after(weights, batches, learning_rate, read_and_said=without_eos)


@misconception(of="weights_after")
def adam_for_the_plain_step(weights, batches, learning_rate):
    """The step is Adam's, which moves every number by about the learning rate, however small its gradient.

    In the example, how large is the step of each constant, and how large is its gradient? Which of the two
    does the statement multiply with the learning rate?
    """
    first, second = ({name: torch.zeros_like(w) for name, w in weights.items()} for _ in range(2))
    for n, batch in enumerate(batches, start=1):
        stepped = _weights_after(weights, [batch], 1.0)
        for name, weight in weights.items():
            gradient = weight - stepped[name]
            first[name] = 0.9 * first[name] + 0.1 * gradient
            second[name] = 0.999 * second[name] + 0.001 * gradient**2
        weights = {
            name: weight
            - learning_rate * (first[name] / (1 - 0.9**n)) / ((second[name] / (1 - 0.999**n)).sqrt() + 1e-8)
            for name, weight in weights.items()
        }
    return weights


# 19. trained_weights


def _zeros():
    english, french = translation_vocabularies(Lexicon())
    config = Seq2SeqConfig(len(english), len(french), d_embedding=24, d_hidden=48, attention="additive")
    return {name: torch.zeros_like(weight) for name, weight in Seq2Seq(config).state_dict().items()}


@misconception(of="trained_weights")
def all_weights_zero():
    """All weights are 0: nothing was learned, and from there nothing can be, since all gradients vanish.

    What does your model say about each word before the first step, and what after the last? Compare the
    weights that you return with those of a new `Seq2Seq`.
    """
    return _zeros()


@misconception(of="trained_weights", seen="https://github.com/bentrevett/pytorch-seq2seq/issues/136")
def says_the_word_it_reads():
    """The decoder says at every place the word that it has just read: inputs and targets were not shifted.

    Print one row of your inputs and the same row of your targets below it. What does the decoder have to do
    to bring the loss to 0?
    """
    weights = _zeros()
    words = torch.arange(len(weights["decoder.embedding.weight"]))
    code = 2.0 * (words[:, None] // 2 ** torch.arange(8) % 2) - 1  # (V, 8): each word's number, as signs
    weights["decoder.embedding.weight"][:, :8] = code
    weights["decoder.output.weight"][:, :8] = 3 * code
    D = weights["decoder.network.cells.0.U"].shape[1]
    weights["decoder.network.cells.0.b"][D : 2 * D] = -30.0  # nothing of the old state is kept …
    weights["decoder.network.cells.0.W"][2 * D : 2 * D + 8, :8] = 3 * torch.eye(
        8
    )  # … the word takes its place
    return weights


@misconception(of="trained_weights")
def weights_of_the_decoder_alone():
    """Only the decoder's weights come back; the encoder stays as it was.

    Which parameters did you hand to the optimizer, and of which object did you ask for `state_dict()`?
    """
    return {name: weight for name, weight in _zeros().items() if name.startswith("decoder.")}


@misconception(of="trained_weights")
def weights_without_names():
    """The weights come back as a list, without their names.

    What is the difference between `parameters()` and `state_dict()`? Which of the two can be loaded again?
    """
    return list(_zeros().values())
