"""What goes wrong in the distance experiment, and the wrong answers to the riddle of the strips."""

import torch
from torch import nn

from autograder.catalogue import misconception
from course.recall import WORDS, recall_texts

# 23. recaller


class _Network(nn.Module):
    """Embedding, recurrent layer, output; the layer and what becomes of the logits are handed in."""

    def __init__(self, layer, forget_bias=3.0, finish=lambda logits: logits.log_softmax(-1)):
        super().__init__()
        self.embedding, self.layer, self.finish = nn.Embedding(len(WORDS), 16), layer, finish
        self.output = nn.Linear(64 if layer.bidirectional else 32, len(WORDS))
        constants = [p for name, p in layer.named_parameters() if name.startswith("bias")]
        if isinstance(layer, nn.LSTM) and forget_bias is not None:
            for i, bias in enumerate(constants):
                nn.init.constant_(bias[32:64], 0.0 if i % 2 else forget_bias)

    def forward(self, tokens):
        return self.finish(self.output(self.layer(self.embedding(tokens))[0]))


def _lstm(**settings):
    return nn.LSTM(16, 32, **({"batch_first": True} | settings))


def _surprise(model, tokens):
    return -model(tokens)[:, -1].gather(-1, tokens[:, :1]).mean()


def _trained(model, distance, n_steps, generator, loss_of=_surprise, texts=recall_texts, makes_steps=True):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(n_steps):
        loss = loss_of(model, texts(distance, 32, generator))
        optimizer.zero_grad()
        loss.backward()
        if makes_steps:
            optimizer.step()
    return model


@misconception(of="recaller")
def plain_recurrent_network(distance, n_steps, generator, device="cpu"):
    """The network is a plain RNN, whose gradient does not reach the thing twelve words back.

    Part D measured what arrives at the first state of such a network. Which cell has a road on which U
    multiplies nothing?
    """
    return _trained(_Network(nn.RNN(16, 32, batch_first=True)), distance, n_steps, generator)


@misconception(of="recaller")
def forget_gate_half_shut(distance, n_steps, generator, device="cpu"):
    """The LSTM starts with forget gates near 0.5, so nothing of the thing is left after twelve words.

    How much is 0.5 multiplied by itself twelve times? Which constant decides where a new forget gate
    stands?
    """
    return _trained(_Network(_lstm(), forget_bias=None), distance, n_steps, generator)


@misconception(of="recaller", seen="https://github.com/yunjey/pytorch-tutorial/issues/89")
def texts_taken_for_words(distance, n_steps, generator, device="cpu"):
    """The layer is given (B, T, …) and told nothing, so it walks along the texts instead of the words.

    Which axis is time for an `nn.LSTM` unless you say otherwise? Does your prediction for a text depend on
    the other texts of its batch?
    """
    return _trained(_Network(_lstm(batch_first=False)), distance, n_steps, generator)


@misconception(of="recaller")
def logits_for_log_probs(distance, n_steps, generator, device="cpu"):
    """The model gives back logits, which are trained as if they were log-probabilities.

    Take the exponentials of your answer at one place and add them up. What keeps a model from making every
    number as large as it likes?
    """
    model = _Network(_lstm(), finish=lambda logits: logits)
    return _trained(model, distance, n_steps, generator)


@misconception(of="recaller")
def probabilities_for_log_probs(distance, n_steps, generator, device="cpu"):
    """The model gives back probabilities, where their logarithms are asked for.

    Which numbers of your answer add up to 1 at one place: those themselves, or their exponentials?
    """
    model = _Network(_lstm(), finish=lambda logits: logits.softmax(dim=-1))
    return _trained(model, distance, n_steps, generator)


@misconception(of="recaller")
def softmax_over_the_places(distance, n_steps, generator, device="cpu"):
    """The softmax runs over the places of the text, so that the words of one place are no alternatives.

    Between which things does the model choose: between 20 words at one place, or between places?
    """
    model = _Network(_lstm(), finish=lambda logits: logits.log_softmax(dim=1))
    return _trained(model, distance, n_steps, generator)


@misconception(of="recaller")
def reads_the_future_too(distance, n_steps, generator, device="cpu"):
    """The network reads in both directions, so a place knows the words that it should predict.

    What is the next word to a network that has read the text from its end? For which tasks may one read in
    both directions?
    """
    return _trained(_Network(_lstm(bidirectional=True)), distance, n_steps, generator)


@misconception(of="recaller")
def gradients_without_a_step(distance, n_steps, generator, device="cpu"):
    """The gradients are computed and no step is made, so the model stays as it began.

    Print the loss of the first and of the last step. Which line of your loop changes a parameter?
    """
    return _trained(_Network(_lstm()), distance, n_steps, generator, makes_steps=False)


@misconception(of="recaller")
def last_word_for_the_target(distance, n_steps, generator, device="cpu"):
    """The target is the last word of the text, which the network has just read, and not its thing.

    Which column of `tokens` holds the thing? How fast does your loss fall, and is there
    anything to remember?
    """

    def loss_of(model, tokens):
        return -model(tokens)[:, -1].gather(-1, tokens[:, -1:]).mean()

    return _trained(_Network(_lstm()), distance, n_steps, generator, loss_of=loss_of)


@misconception(of="recaller")
def one_batch_by_heart(distance, n_steps, generator, device="cpu"):
    """All steps see the same few texts, which are learned by heart.

    How many different texts has your model seen after 150 steps? What is its loss on texts it has not seen?
    """
    known = recall_texts(distance, 32, generator)
    return _trained(_Network(_lstm()), distance, n_steps, generator, texts=lambda *_: known)


# 24. name_the_fault


@misconception(of="name_the_fault")
def blames_a_state_set_to_zero():
    """The answer is a state that is set to zero, which would change what the network computes.

    Nudging the first word moves h_12. How could it, if the state began again at word 5?
    """
    return "state_set_to_zero_every_four_words"


@misconception(of="name_the_fault")
def blames_a_state_detached_at_every_word():
    """The answer is a state that is detached at every word, which would leave one word in each gradient.

    How many words does the gradient of h_12 reach? Over how many steps has it travelled?
    """
    return "state_detached_at_every_word"


@misconception(of="name_the_fault")
def blames_a_gradient_stopped_four_words_back():
    """The answer is a gradient that reaches four words back from anywhere, which fits h_12 alone.

    How many words does the gradient of h_7 reach? Which words are they, and where do pieces of four
    words begin?
    """
    return "gradient_stopped_four_words_back"


@misconception(of="name_the_fault")
def blames_a_text_read_backwards():
    """The answer is a text read backwards, in which later words would move earlier states.

    Which words move h_7? Has any of them been read after word 7?
    """
    return "text_read_backwards"


@misconception(of="name_the_fault")
def blames_a_loop_over_the_texts():
    """The answer is a loop over the texts, in which no word could move the state of another.

    Word 1 moves h_12. Along which axis must the state have travelled from one to the other?
    """
    return "texts_read_for_words"
