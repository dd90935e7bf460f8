# %% [markdown]
# # Homework 4: translating with one vector, and with attention
#
# You build a translator twice. First as in lecture 10: one network reads the source into a single vector,
# another writes the translation from it. Then with the attention of lecture 11, which lets every step look
# back at all of the source. In the end you train one on two small languages whose alignment is known, so that
# the picture of its attention can be right or wrong.
#
# | part | about | minutes |
# |---|---|---|
# | A | an encoder, a decoder, their loss, greedy decoding, honest numbers | 130 |
# | B | scores, weights, contexts, a decoder that attends | 100 |
# | C | attention maps, alignment error rate, a trained translator | 110 |
#
# Each exercise is a statement, a function or class for you to write, and its checks. Some checks are kept
# back for grading: they make the same claims about other sizes and other numbers. The exercises do not build
# on each other's code, so take them in any order. Only exercise 19 trains anything, for about ten seconds of
# one core.
#
# Words used throughout: B sentences are handled at once; a **source** has S positions and its translation,
# the **target**, T. The two are different numbers. Shorter sentences are filled up at the end with a
# **padding** word. D is the width of the decoder's state and M that of the **memory**, the encoder's states.
# **Scores** are the numbers before the softmax over the source, **weights** those after it, and the
# **context** is the weighted mean. Tensors of numbers are float64, words are int64.

# %% [markdown] rules

# %% setup

# %% provided="imports"
import math
from functools import cache

import torch
from torch import Tensor, nn

from course.checks import (
    assert_close,
    assert_depends,
    assert_differentiable,
    assert_dtype,
    assert_equal,
    assert_raises,
    assert_true,
    homework,
    with_weights,
)

check = homework("hw4_attention")


# %% [markdown]
# ## Part A. Through one vector

# %% [markdown] exercise="decoder_inputs_and_targets" difficulty=1 minutes=10
# ### 1. What the decoder reads, and what it should say
#
# In training the decoder is fed the right translation, whatever it says itself: this is **teacher forcing**.
# At each place it reads one word and has to say the next. It begins by reading BOS, and after the last word
# it has to say EOS. Reading EOS teaches it nothing, since nothing comes after.
#
# Write `decoder_inputs_and_targets(sentences, bos, eos, pad)`. `sentences` is a list of B int64 tensors, each
# of shape (n,) with an n of its own, without BOS and EOS. Return the tuple `(inputs, targets)`, two int64
# tensors of shape (B, T) with T one more than the longest n:
#
# | row of | holds |
# |---|---|
# | `inputs` | BOS and the words; then padding |
# | `targets` | the words and EOS; then padding |
#
# **Example.** The sentences `[5, 6, 7]` and `[8]` with `bos=1`, `eos=2`, `pad=0` have the inputs
# `[[1, 5, 6, 7], [1, 8, 0, 0]]` and the targets `[[5, 6, 7, 2], [8, 2, 0, 0]]`.
#
# <details><summary>Hint 1</summary>
#
# Write the two rows of one sentence below each other. Which target stands under which input, and how many are
# there of each?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Build both rows sentence by sentence, before any padding. Where a padded row is cut instead, the cut falls
# on the EOS of the longest sentence alone.
#
# </details>


# %% solution="decoder_inputs_and_targets"
def decoder_inputs_and_targets(
    sentences: list[Tensor], bos: int, eos: int, pad: int
) -> tuple[Tensor, Tensor]:
    """Inputs (B, T), which begin with BOS, and targets (B, T), which end with EOS, both padded."""
    ### BEGIN SOLUTION
    T = 1 + max(len(sentence) for sentence in sentences)
    inputs = torch.full((len(sentences), T), pad)
    targets = torch.full((len(sentences), T), pad)
    for row, sentence in enumerate(sentences):
        n = len(sentence)
        inputs[row, 0], inputs[row, 1 : n + 1] = bos, sentence
        targets[row, :n], targets[row, n] = sentence, eos
    return inputs, targets
    ### END SOLUTION


# %% check="the_example_sentences_are_shifted" points=1
def the_example_sentences_are_shifted(decoder_inputs_and_targets):
    """The two sentences of the example have the inputs and the targets shown there."""
    inputs, targets = decoder_inputs_and_targets([torch.tensor([5, 6, 7]), torch.tensor([8])], 1, 2, 0)
    assert_equal(inputs, torch.tensor([[1, 5, 6, 7], [1, 8, 0, 0]]), what="inputs")
    assert_equal(targets, torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0]]), what="targets")


check(the_example_sentences_are_shifted, decoder_inputs_and_targets)


# %% check="each_target_is_the_next_input" points=1
def each_target_is_the_next_input(decoder_inputs_and_targets, draw):
    """In a sentence without padding, each target is the word that is read next."""
    inputs, targets = decoder_inputs_and_targets([10 + torch.tensor(draw.permutation(6))], 1, 2, 0)
    assert_equal(targets[:, :-1], inputs[:, 1:])


check(each_target_is_the_next_input, decoder_inputs_and_targets)


# %% check="every_sentence_begins_with_bos" points=1
def every_sentence_begins_with_bos(decoder_inputs_and_targets, draw):
    """The first input of every sentence is BOS, and BOS is never a target."""
    sentences = [draw.integers(5, 20, length) for length in (3, 6, 2)]
    inputs, targets = decoder_inputs_and_targets(sentences, 4, 2, 0)
    assert_equal(inputs[:, 0], torch.tensor([4, 4, 4]), what="first inputs")
    assert_true(not (targets == 4).any(), "BOS stands among the targets.")


check(every_sentence_begins_with_bos, decoder_inputs_and_targets)


# %% check="every_sentence_is_told_to_end" points=1
def every_sentence_is_told_to_end(decoder_inputs_and_targets, draw):
    """In every row of targets, one EOS stands right behind the words, and then only the padding word, 9."""
    lengths = (3, 6, 2)
    _, targets = decoder_inputs_and_targets([draw.integers(10, 20, n) for n in lengths], 1, 2, 9)
    behind = [row[length:] for row, length in zip(targets.tolist(), lengths, strict=True)]
    assert_equal(behind, [[2, 9, 9, 9], [2], [2, 9, 9, 9, 9]], what="the targets behind the words")


check(every_sentence_is_told_to_end, decoder_inputs_and_targets)


# %% check="nobody_reads_eos" points=1
def nobody_reads_eos(decoder_inputs_and_targets, draw):
    """EOS is never fed to the decoder, not even to that of a shorter sentence."""
    sentences = [draw.integers(5, 20, length) for length in (2, 5, 4)]
    inputs, _ = decoder_inputs_and_targets(sentences, 1, 2, 0)
    assert_equal((inputs == 2).sum(dim=1), torch.tensor([0, 0, 0]), what="EOS among the inputs of each row")


check(nobody_reads_eos, decoder_inputs_and_targets)


# %% check="other_sentences_are_shifted" points=2 hidden
def other_sentences_are_shifted(decoder_inputs_and_targets, draw):
    """Other sentences, with other special words, have their inputs and targets."""
    for lengths, (bos, eos, pad) in (((4, 7, 1), (1, 2, 0)), ((3, 2), (0, 3, 9)), ((5,), (7, 8, 8))):
        sentences = [draw.integers(10, 40, length) for length in lengths]
        fill = [(max(lengths) - length) * [pad] for length in lengths]
        rows = list(zip((sentence.tolist() for sentence in sentences), fill, strict=True))
        inputs, targets = decoder_inputs_and_targets(sentences, bos, eos, pad)
        assert_equal(inputs, torch.tensor([[bos, *words, *rest] for words, rest in rows]), what="inputs")
        assert_equal(targets, torch.tensor([[*words, eos, *rest] for words, rest in rows]), what="targets")


check(other_sentences_are_shifted, decoder_inputs_and_targets)


# %% [markdown] exercise="Encoder" difficulty=2 minutes=20
# ### 2. The vector that holds a sentence
#
# The encoder reads the source word by word and hands over its states. Without attention the decoder gets only
# one of them, the state after the last word: the **summary**. In a batch, a short sentence is followed by
# padding, and the state behind the padding is not the state behind the sentence.
#
# Write the class `Encoder`, an `nn.Module`:
#
# - `Encoder(vocab_size, d_embedding, d_hidden)` has two modules of torch in float64: `embedding`, an
#   `nn.Embedding`, and `network`, an `nn.GRU` of one layer with `batch_first=True`. The checks load their own
#   weights, by the names `embedding.weight`, `network.weight_ih_l0`, `network.weight_hh_l0`,
#   `network.bias_ih_l0` and `network.bias_hh_l0`.
# - `forward(source, lengths)` takes (B, S) int64 and the numbers of real words (B,), at least 1 each. It
#   returns the tuple `(states, summary)`: the GRU's states, (B, S, D), and for each sentence the state after
#   its last real word, (B, D). What `states` holds at the padding does not matter.
#
# **Example.** With `lengths = [4, 2]` the summary of the first sentence is `states[0, 3]` and that of the
# second `states[1, 1]`.
#
# <details><summary>Hint 1</summary>
#
# The GRU returns its states and, besides, the state after the last *position*. For which sentences of a batch
# is that the one you want?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `states[rows, places]` with two tensors of shape (B,) takes one state from each row.
#
# </details>


# %% solution="Encoder"
class Encoder(nn.Module):
    """States (B, S, D) of a GRU and, for each sentence, the state after its last word.

    Parameters: embedding.weight (V, d), network.weight_ih_l0, network.weight_hh_l0, network.bias_ih_l0,
    network.bias_hh_l0; all float64.
    """

    def __init__(self, vocab_size: int, d_embedding: int, d_hidden: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, d_embedding, dtype=torch.float64)
        self.network = nn.GRU(d_embedding, d_hidden, batch_first=True, dtype=torch.float64)
        ### END SOLUTION

    def forward(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """States (B, S, D) and summaries (B, D) of sources (B, S) with lengths (B,)."""
        ### BEGIN SOLUTION
        states, _ = self.network(self.embedding(source))  # (B, S, D)
        return states, states[torch.arange(len(source)), lengths - 1]
        ### END SOLUTION


# %% provided="gru_weights"
def gru_weights(draw, name, n_inputs, d_hidden, ending=""):
    """Random weights of a GRU or a GRU cell that is called `name`."""
    shapes = {"weight_ih": (3 * d_hidden, n_inputs), "weight_hh": (3 * d_hidden, d_hidden)}
    shapes |= {"bias_ih": (3 * d_hidden,), "bias_hh": (3 * d_hidden,)}
    return {f"{name}.{part}{ending}": draw.normal(*shape) for part, shape in shapes.items()}


def encoder_weights(draw, vocab_size, d_embedding, d_hidden):
    """Random weights of an encoder, by name."""
    embedding = {"embedding.weight": draw.normal(vocab_size, d_embedding)}
    return embedding | gru_weights(draw, "network", d_embedding, d_hidden, "_l0")


def gru_step(weights, name, x, state, ending=""):
    """One step of a GRU, written out: x (n_inputs,) and state (D,) → the new state (D,)."""
    from_input = weights[f"{name}.weight_ih{ending}"] @ x + weights[f"{name}.bias_ih{ending}"]
    from_state = weights[f"{name}.weight_hh{ending}"] @ state + weights[f"{name}.bias_hh{ending}"]
    (r_x, z_x, n_x), (r_h, z_h, n_h) = from_input.chunk(3), from_state.chunk(3)
    r, z = torch.sigmoid(r_x + r_h), torch.sigmoid(z_x + z_h)
    return (1 - z) * torch.tanh(n_x + r * n_h) + z * state


def read_alone(weights, words):
    """The states (n, D) of an encoder that reads one sentence, given as a list of words."""
    state, states = torch.zeros(weights["network.weight_hh_l0"].shape[1], dtype=torch.float64), []
    for word in words:
        state = gru_step(weights, "network", weights["embedding.weight"][word], state, "_l0")
        states.append(state)
    return torch.stack(states)


# %% check="the_encoder_has_its_five_parameters" points=1
def the_encoder_has_its_five_parameters(Encoder):
    """The encoder knows the five parameters, by the names of the statement, in float64, and no others."""
    of_network = [f"network.{kind}_l0" for kind in ("bias_hh", "bias_ih", "weight_hh", "weight_ih")]
    module = Encoder(7, 3, 5)
    assert_equal(sorted(module.gradients()), ["embedding.weight", *of_network])
    assert_dtype(module.parameters(), torch.float64, what="a parameter")


check(the_encoder_has_its_five_parameters, Encoder)


# %% check="a_lone_sentence_is_read_to_its_end" points=1
def a_lone_sentence_is_read_to_its_end(Encoder, draw):
    """A sentence without padding has the states of a GRU, the last is its summary, and gradients flow back."""
    weights = encoder_weights(draw, 7, 3, 5)
    encoder, source, lengths = with_weights(Encoder(7, 3, 5), weights), [[4, 1, 6, 2]], torch.tensor([4])
    states, summary = encoder(torch.tensor(source), lengths)
    expected = read_alone(weights, [4, 1, 6, 2])
    assert_close(states, expected[None], what="states")
    assert_close(summary, expected[-1:], what="summary")
    assert_differentiable(encoder, torch.tensor(source), lengths)


check(a_lone_sentence_is_read_to_its_end, Encoder)


# %% check="the_summary_is_the_state_at_the_last_word" points=1
def the_summary_is_the_state_at_the_last_word(Encoder, draw):
    """Each summary is the state of its own sentence at its own last word."""
    encoder, lengths = with_weights(Encoder(7, 3, 5), encoder_weights(draw, 7, 3, 5)), torch.tensor([2, 4, 3])
    states, summary = encoder(torch.tensor([[3, 1, 0, 0], [5, 2, 6, 4], [1, 6, 2, 0]]), lengths)
    assert_close(summary, torch.stack([states[0, 1], states[1, 3], states[2, 2]]))


check(the_summary_is_the_state_at_the_last_word, Encoder)


# %% check="more_padding_leaves_the_summary" points=1
def more_padding_leaves_the_summary(Encoder, draw):
    """Three more places of padding, with another padding word, change no summary."""
    encoder, lengths = with_weights(Encoder(7, 3, 5), encoder_weights(draw, 7, 3, 5)), torch.tensor([2, 3])
    _, summary = encoder(torch.tensor([[3, 1, 0], [5, 2, 6]]), lengths)
    _, padded = encoder(torch.tensor([[3, 1, 4, 4, 4, 4], [5, 2, 6, 4, 4, 4]]), lengths)
    _, elsewhere = encoder(torch.tensor([[3, 2, 0], [5, 2, 1]]), lengths)
    assert_close(padded, summary)
    assert_depends(summary, elsewhere)


check(more_padding_leaves_the_summary, Encoder)


# %% check="sources_may_change_places" points=1
def sources_may_change_places(Encoder, draw):
    """In another order, the sentences of a batch have the same summaries, in that order."""
    encoder = with_weights(Encoder(7, 3, 5), encoder_weights(draw, 7, 3, 5))
    source, lengths = torch.tensor([[3, 1, 0, 0], [5, 2, 6, 4], [1, 6, 2, 0]]), torch.tensor([2, 4, 3])
    _, summary = encoder(source, lengths)
    _, reordered = encoder(source[[1, 2, 0]], lengths[[1, 2, 0]])
    assert_close(reordered, summary[[1, 2, 0]])
    assert_depends(summary[0], summary[1])


check(sources_may_change_places, Encoder)


# %% check="other_encoders_have_their_summaries" points=2 hidden
def other_encoders_have_their_summaries(Encoder, draw):
    """Other encoders have the states of a GRU, their summaries, and gradients."""
    for sizes, lengths in (((9, 2, 4), (3, 6, 1)), ((5, 4, 3), (2, 5, 4, 3))):
        weights = encoder_weights(draw, *sizes)
        source = draw.integers(0, sizes[0], len(lengths), max(lengths) + 1)
        encoder = with_weights(Encoder(*sizes), weights)
        states, summary = encoder(source, torch.tensor(lengths))
        own = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
        alone = [read_alone(own, row[:n].tolist()) for row, n in zip(source, lengths, strict=True)]
        for row, expected in enumerate(alone):
            assert_close(states[row, : len(expected)], expected, what="states of the real words")
        expected = torch.stack([each[-1] for each in alone])
        assert_close(summary, expected, what="summaries")
        weighting = draw.normal(*expected.shape)
        (summary * weighting).sum().backward()
        (expected * weighting).sum().backward()
        gradients = encoder.gradients()
        for name, weight in own.items():
            assert_close(gradients[name], weight.grad, what=f"the gradient of {name}")


check(other_encoders_have_their_summaries, Encoder)


# %% [markdown] exercise="Decoder" difficulty=2 minutes=15
# ### 3. A decoder under teacher forcing
#
# The decoder is a language model that starts from the summary instead of from nothing. It reads `inputs[:,
# 0]`, and its state then says which word should come next, and so on, up to the last input.
#
# Write the class `Decoder`, an `nn.Module`:
#
# - `Decoder(vocab_size, d_embedding, d_hidden)` has three modules of torch in float64: `embedding`, an
#   `nn.Embedding`; `network`, an `nn.GRU` of one layer with `batch_first=True`; `output`, an `nn.Linear` from
#   the state to the vocabulary. The checks load weights by the names that follow from this, such as
#   `network.weight_ih_l0` and `output.bias`.
# - `forward(summary, inputs)` takes the first state (B, D) and the inputs (B, T), and returns the logits
#   (B, T, V). `logits[:, t]` come from the state **after** reading `inputs[:, t]`.
#
# **Example.** With `inputs` of shape (3, 5) and 11 words, the logits have the shape (3, 5, 11): every input
# has its prediction, BOS too.
#
# <details><summary>Hint 1</summary>
#
# The GRU reads all inputs in one call, as long as they are known. Which shape must its first state have? Its
# documentation speaks of layers.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Compare the number of inputs and the number of logits. Which input is answered by `logits[:, 0]`?
#
# </details>


# %% solution="Decoder"
class Decoder(nn.Module):
    """Logits (B, T, V) of the word after each input, when the right words are fed.

    Parameters: embedding.weight (V, d), network.… of a GRU, output.weight (V, D), output.bias (V,); float64.
    """

    def __init__(self, vocab_size: int, d_embedding: int, d_hidden: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, d_embedding, dtype=torch.float64)
        self.network = nn.GRU(d_embedding, d_hidden, batch_first=True, dtype=torch.float64)
        self.output = nn.Linear(d_hidden, vocab_size, dtype=torch.float64)
        ### END SOLUTION

    def forward(self, summary: Tensor, inputs: Tensor) -> Tensor:
        """Logits (B, T, V) for first states (B, D) and inputs (B, T)."""
        ### BEGIN SOLUTION
        states, _ = self.network(self.embedding(inputs), summary[None])  # (B, T, D)
        return self.output(states)
        ### END SOLUTION


# %% provided="decoder_weights"
def decoder_weights(draw, vocab_size, d_embedding, d_hidden):
    """Random weights of a decoder, by name."""
    weights = encoder_weights(draw, vocab_size, d_embedding, d_hidden)
    return weights | {
        "output.weight": draw.normal(vocab_size, d_hidden),
        "output.bias": draw.normal(vocab_size),
    }


# %% check="the_decoder_has_its_seven_parameters" points=1
def the_decoder_has_its_seven_parameters(Decoder):
    """The decoder knows the seven parameters, by the names of the statement, in float64, and no others."""
    of_network = [f"network.{kind}_l0" for kind in ("bias_hh", "bias_ih", "weight_hh", "weight_ih")]
    expected = ["embedding.weight", *of_network, "output.bias", "output.weight"]
    module = Decoder(7, 3, 5)
    assert_equal(sorted(module.gradients()), expected)
    assert_dtype(module.parameters(), torch.float64, what="a parameter")


check(the_decoder_has_its_seven_parameters, Decoder)


# %% check="bos_is_answered_too" points=1
def bos_is_answered_too(Decoder, draw):
    """The first logits come from the state after the first input, and gradients flow back."""
    weights, summary = decoder_weights(draw, 7, 3, 5), draw.normal(1, 5)
    state = gru_step(weights, "network", weights["embedding.weight"][1], summary[0], "_l0")
    decoder, inputs = with_weights(Decoder(7, 3, 5), weights), torch.tensor([[1, 4, 6]])
    logits = decoder(summary, inputs)
    assert_close(logits[0, 0], weights["output.weight"] @ state + weights["output.bias"])
    assert_differentiable(decoder, summary, inputs)


check(bos_is_answered_too, Decoder)


# %% check="each_step_reads_the_word_it_is_given" points=1
def each_step_reads_the_word_it_is_given(Decoder, draw):
    """Another third input changes the third logits, whatever the decoder would have said itself."""
    decoder, summary = with_weights(Decoder(7, 3, 5), decoder_weights(draw, 7, 3, 5)), draw.normal(2, 5)
    logits = decoder(summary, torch.tensor([[1, 4, 6, 3], [1, 2, 5, 3]]))
    other = decoder(summary, torch.tensor([[1, 4, 2, 3], [1, 2, 6, 3]]))
    assert_depends(logits[0, 2], other[0, 2])
    assert_depends(logits[1, 2], other[1, 2])
    alone = decoder(summary[1:], torch.tensor([[1, 2, 5, 3]]))
    assert_close(logits[1:], alone, what="the second of the batch")


check(each_step_reads_the_word_it_is_given, Decoder)


# %% check="later_inputs_do_not_change_earlier_logits" points=1
def later_inputs_do_not_change_earlier_logits(Decoder, draw):
    """Other words from the third input on leave the logits of the first two as they are."""
    decoder, summary = with_weights(Decoder(7, 3, 5), decoder_weights(draw, 7, 3, 5)), draw.normal(2, 5)
    logits = decoder(summary, torch.tensor([[1, 4, 6, 3], [1, 2, 5, 3]]))
    other = decoder(summary, torch.tensor([[1, 4, 2, 5], [1, 2, 6, 0]]))
    assert_close(other[:, :2], logits[:, :2])
    assert_depends(logits[:, 0], logits[:, 1])


check(later_inputs_do_not_change_earlier_logits, Decoder)


# %% check="earlier_inputs_are_remembered" points=1
def earlier_inputs_are_remembered(Decoder, draw):
    """Another second input changes the last logits too, three steps later."""
    decoder, summary = with_weights(Decoder(7, 3, 5), decoder_weights(draw, 7, 3, 5)), draw.normal(1, 5)
    logits = decoder(summary, torch.tensor([[1, 4, 6, 3, 2]]))
    assert_depends(logits[:, 4], decoder(summary, torch.tensor([[1, 5, 6, 3, 2]]))[:, 4])


check(earlier_inputs_are_remembered, Decoder)


# %% check="another_summary_says_something_else" points=1
def another_summary_says_something_else(Decoder, draw):
    """The same inputs after another summary have other logits."""
    decoder, inputs = (
        with_weights(Decoder(7, 3, 5), decoder_weights(draw, 7, 3, 5)),
        torch.tensor([[1, 4, 6]]),
    )
    summary = draw.normal(1, 5)
    assert_depends(decoder(summary, inputs)[:, 0], decoder(-summary, inputs)[:, 0])


check(another_summary_says_something_else, Decoder)


# %% check="other_decoders_have_their_logits" points=2 hidden
def other_decoders_have_their_logits(Decoder, draw):
    """Other decoders have the logits of a GRU that is fed the inputs, and gradients."""
    for sizes, batch_size, T in (((9, 2, 4), 3, 5), ((5, 4, 3), 2, 6)):
        weights, summary = decoder_weights(draw, *sizes), draw.normal(batch_size, sizes[2])
        inputs = draw.integers(0, sizes[0], batch_size, T)
        decoder = with_weights(Decoder(*sizes), weights)
        logits = decoder(summary, inputs)
        own = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
        states = [list(summary)]
        for column in own["embedding.weight"][inputs].unbind(dim=1):
            pairs = zip(column, states[-1], strict=True)
            states.append([gru_step(own, "network", x, state, "_l0") for x, state in pairs])
        states = torch.stack([torch.stack(column) for column in states[1:]], dim=1)  # (B, T, D)
        expected = states @ own["output.weight"].T + own["output.bias"]
        assert_close(logits, expected, what="logits")
        weighting = draw.normal(*expected.shape)
        (logits * weighting).sum().backward()
        (expected * weighting).sum().backward()
        gradients = decoder.gradients()
        for name, weight in own.items():
            assert_close(gradients[name], weight.grad, what=f"the gradient of {name}")


check(other_decoders_have_their_logits, Decoder)


# %% [markdown] exercise="sequence_loss" difficulty=2 minutes=15
# ### 4. The loss of real words
#
# The loss of a batch is the mean surprise per **real** target, EOS included: all surprises added up, divided
# by their number. Every word counts once, whether its sentence is long or short. Which targets are real is
# told by `lengths`, and by nothing else: some vocabularies use one and the same number for EOS and for
# padding, and an EOS that is not learned is never said.
#
# Write `sequence_loss(logits, targets, lengths, pad)`, which returns one number, in nats. `logits` is (B, T,
# V), `targets` (B, T) and `lengths` (B,), the number of real targets of each sentence; behind them stands
# `pad`.
#
# **Example.** Two sentences of two words and one word. The model gives their words, in order, the
# probabilities 1/2 and 1/4, and 1/2. The loss is $(\ln 2 + \ln 4 + \ln 2) / 3 = \tfrac43 \ln 2 \approx
# 0.9242$, whatever it says at the padding.
#
# <details><summary>Hint 1</summary>
#
# `torch.arange(T) < lengths[:, None]` is a table of True and False. Draw it for lengths 2 and 1.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# How often do you divide, and by what? Take a batch of one sentence of one word and one of nine, and follow
# the share that the lonely word has in the result.
#
# </details>


# %% solution="sequence_loss"
def sequence_loss(logits: Tensor, targets: Tensor, lengths: Tensor, pad: int) -> Tensor:
    """The mean surprise, in nats, of the real targets: logits (B, T, V), targets (B, T), lengths (B,)."""
    ### BEGIN SOLUTION
    is_real = torch.arange(targets.shape[1]) < lengths[:, None]  # (B, T)
    log_probs = logits.log_softmax(dim=-1).gather(-1, targets[..., None])[..., 0]  # (B, T)
    return -log_probs[is_real].mean()
    ### END SOLUTION


# %% check="the_example_costs_four_thirds_of_ln_2" points=1
def the_example_costs_four_thirds_of_ln_2(sequence_loss):
    """The two sentences of the example cost 4/3 ln 2."""
    half, quarter = [math.log(2), 0.0, 0.0], [0.0, math.log(2), 0.0]
    logits = torch.tensor([[half, quarter], [half, quarter]], dtype=torch.float64)
    targets, lengths = torch.tensor([[0, 2], [0, 1]]), torch.tensor([2, 1])
    assert_close(sequence_loss(logits, targets, lengths, 1), 4 / 3 * math.log(2))


check(the_example_costs_four_thirds_of_ln_2, sequence_loss)


# %% check="padding_costs_nothing" points=1
def padding_costs_nothing(sequence_loss, draw):
    """Other logits at the padding leave the loss as it is, at a real word they change it; gradients flow back."""
    logits, targets = draw.normal(2, 4, 5), torch.tensor([[3, 4, 0, 0], [1, 2, 3, 4]])
    lengths, loud = torch.tensor([2, 4]), torch.zeros(2, 4, 5, dtype=torch.float64)
    loud[0, 2:, 1] = 3.0
    answer = sequence_loss(logits, targets, lengths, 0)
    assert_differentiable(sequence_loss, logits, targets, lengths, 0)
    assert_close(sequence_loss(logits + loud, targets, lengths, 0), answer)
    assert_depends(answer, sequence_loss(logits - loud.roll(1, dims=0), targets, lengths, 0))


check(padding_costs_nothing, sequence_loss)


# %% check="wider_batches_cost_the_same" points=1
def wider_batches_cost_the_same(sequence_loss, draw):
    """Two more places of padding leave the loss as it is."""
    logits, lengths = draw.normal(2, 5, 6), torch.tensor([3, 3])
    targets = torch.tensor([[5, 1, 2, 0, 0], [3, 2, 4, 0, 0]])
    answer = sequence_loss(logits[:, :3], targets[:, :3], lengths, 0)
    assert_close(sequence_loss(logits, targets, lengths, 0), answer)
    assert_depends(answer, sequence_loss(2 * logits, targets, lengths, 0))


check(wider_batches_cost_the_same, sequence_loss)


# %% check="every_word_counts_once" points=1
def every_word_counts_once(sequence_loss, draw):
    """A sentence of one word and one of four cost together a fifth of the one and four fifths of the other."""
    logits, targets = draw.normal(2, 4, 5), torch.tensor([[3, 0, 0, 0], [1, 2, 3, 4]])
    short = sequence_loss(logits[:1, :1], targets[:1, :1], torch.tensor([1]), 0)
    long = sequence_loss(logits[1:], targets[1:], torch.tensor([4]), 0)
    assert_close(sequence_loss(logits, targets, torch.tensor([1, 4]), 0), (short + 4 * long) / 5)
    assert_depends(short, long)


check(every_word_counts_once, sequence_loss)


# %% check="eos_is_learned_though_it_looks_like_padding" points=1
def eos_is_learned_though_it_looks_like_padding(sequence_loss):
    """Where EOS and padding are both the word 0, a model that is sure never to end pays for it."""
    logits = torch.zeros(1, 4, 3, dtype=torch.float64)
    logits[0, :, 0] = -30.0  # no end, at any place
    expected = (math.log(2) + 30 + math.log(2)) / 2
    assert_close(sequence_loss(logits, torch.tensor([[2, 0, 0, 0]]), torch.tensor([2]), 0), expected)


check(eos_is_learned_though_it_looks_like_padding, sequence_loss)


# %% check="other_batches_have_their_loss" points=2 hidden
def other_batches_have_their_loss(sequence_loss, draw):
    """Other batches have the loss of their real words, and its gradient."""
    for lengths, vocab_size, pad in (((5, 2, 3), 7, 0), ((1, 6), 4, 3), ((2, 4, 4, 1), 3, 0)):
        T = max(lengths) + 1
        logits = draw.normal(len(lengths), T, vocab_size).requires_grad_()
        targets = draw.integers(0, vocab_size, len(lengths), T)
        for row, length in enumerate(lengths):
            targets[row, length - 1 :] = pad  # EOS and padding alike
        own = logits.detach().clone().requires_grad_()
        surprises = [
            own[b, t].logsumexp(0) - own[b, t, targets[b, t]]
            for b, length in enumerate(lengths)
            for t in range(length)
        ]
        expected = torch.stack(surprises).mean()
        answer = sequence_loss(logits, targets, torch.tensor(lengths), pad)
        assert_close(answer, expected, what="loss")
        answer.backward()
        expected.backward()
        assert_close(logits.grad, own.grad, what="gradient")


check(other_batches_have_their_loss, sequence_loss)


# %% provided="table_decoder"
class TableDecoder(nn.Module):
    """A decoder whose state is a place in a table: `state, logits = decoder(state, tokens)`, for B rows.

    Reading a token leads from place n to place `jumps[n, token]`, where `logits` of that place say what comes
    next. In training mode there is a dropout that leaves nothing to chance: every even word is dropped. While
    gradients are on, all steps are kept for a backward pass, and there is memory for eight of them.
    """

    def __init__(self, jumps, logits):
        super().__init__()
        self.jumps = jumps  # (N, V), places
        self.logits = nn.Parameter(logits.clone())  # (N, V)
        self.n_kept = 0

    def forward(self, state, tokens):
        self.n_kept += torch.is_grad_enabled()
        if self.n_kept > 8:
            raise MemoryError("the steps kept for a backward pass do not fit into memory")
        state = self.jumps[state, tokens]  # (B,)
        logits = self.logits[state]  # (B, V)
        kept = 2.0 * (torch.arange(logits.shape[-1]) % 2 == 1)
        return state, logits * kept if self.training else logits


# %% [markdown] exercise="greedy_decode" difficulty=3 minutes=25
# ### 5. Running free
#
# To translate, nobody feeds the right words any more. The decoder reads BOS, then the word it has just said,
# then the next, until it says EOS. **Greedy** decoding says the most likely word every time. The sentences of
# a batch end at different times, and the batch goes on until the last of them has ended.
#
# `TableDecoder(jumps, logits)` above stands for a trained decoder. Like every module it comes in training
# mode.
#
# Write `greedy_decode(jumps, logits, state, bos, eos, max_length)`. Make a `TableDecoder` and let it write
# from the first states `state`, (B,) int64. Return the tuple `(tokens, log_probs)`:
#
# | result | shape | meaning |
# |---|---|---|
# | `tokens` | (B, T), int64 | the words each row says, without BOS, up to its EOS; behind its EOS only EOS |
# | `log_probs` | (B,) | for each row, the sum of the log-probabilities of its words, EOS included |
#
# Stop when every row has said EOS, or when `max_length` words have been written. Decoding is not training:
# use the decoder in evaluation mode and under `torch.no_grad()`, so that no step is kept for a backward pass.
#
# **Example.** If one row says *a* *b* EOS and the other EOS at once, `tokens` is `[[a, b, EOS], [EOS, EOS,
# EOS]]`, and `log_probs[1]` is the log-probability of its first EOS alone.
#
# <details><summary>Hint 1</summary>
#
# Keep a tensor `has_ended`, (B,), of True and False. When does it change, when may the loop end, and what is
# written in a row where it is True?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# In the round in which a row says its EOS, was `has_ended` True before or only after? Which of the two
# decides whether the log-probability counts?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Two lines have nothing to do with the loop: a method that every module has, and `with torch.no_grad():`.
#
# </details>


# %% solution="greedy_decode"
def greedy_decode(
    jumps: Tensor, logits: Tensor, state: Tensor, bos: int, eos: int, max_length: int
) -> tuple[Tensor, Tensor]:
    """What a table decoder says by itself, (B, T), and the log-probability (B,) of each row up to its EOS."""
    ### BEGIN SOLUTION
    decoder = TableDecoder(jumps, logits).eval()
    token = torch.full_like(state, bos)
    has_ended = torch.zeros(len(state), dtype=torch.bool)
    total = torch.zeros(len(state), dtype=torch.float64)
    written = []
    with torch.no_grad():  # nobody will go backwards
        while len(written) < max_length and not has_ended.all():
            state, logits = decoder(state, token)  # (B,), (B, V)
            best = logits.log_softmax(dim=-1).max(dim=-1)
            total += best.values.masked_fill(has_ended, 0.0)
            token = best.indices.masked_fill(has_ended, eos)
            has_ended |= token == eos
            written.append(token)
    return torch.stack(written, dim=1), total
    ### END SOLUTION


# %% provided="chains"
def chain(words, vocab_size, eos, babble, noise):
    """Tables of a decoder that says `words` from the place at which it starts to the last place, then EOS.

    Reading BOS (the word 0) leads nowhere else. After a wrong word, and after EOS, it babbles for ever.
    """
    places = len(words) + 2
    jumps = torch.full((places, vocab_size), places - 1)
    jumps[:, 0] = torch.arange(places)
    logits = noise[:places, :vocab_size].clone()
    for place, word in enumerate([*words, eos]):
        logits[place, word] = 4.0
        if word != eos:
            jumps[place, word] = place + 1
    logits[places - 1, babble] = 4.0
    return jumps, logits


# %% check="the_shorter_row_waits_in_eos" points=1
def the_shorter_row_waits_in_eos(greedy_decode, draw):
    """One row says 5, 3, EOS and the other EOS at once, as in the example; then both stop."""
    jumps, logits = chain([5, 3], 7, 1, 5, draw.uniform(4, 7))
    tokens, _ = greedy_decode(jumps, logits, torch.tensor([0, 2]), 0, 1, 9)
    assert_equal(tokens, torch.tensor([[5, 3, 1], [1, 1, 1]]))


check(the_shorter_row_waits_in_eos, greedy_decode)


# %% check="each_word_is_read_before_the_next" points=1
def each_word_is_read_before_the_next(greedy_decode, draw):
    """A row by itself says its four words one after the other: it reads what it has just said."""
    jumps, logits = chain([5, 3, 7, 9], 11, 1, 7, draw.uniform(6, 11))
    tokens, _ = greedy_decode(jumps, logits, torch.tensor([0]), 0, 1, 5)
    assert_equal(tokens, torch.tensor([[5, 3, 7, 9, 1]]))


check(each_word_is_read_before_the_next, greedy_decode)


# %% check="never_more_than_max_length_words" points=1
def never_more_than_max_length_words(greedy_decode, draw):
    """Of a row that would say five words, max_length = 3 leaves the first three."""
    jumps, logits = chain([5, 3, 7, 9, 3], 11, 1, 7, draw.uniform(7, 11))
    tokens, _ = greedy_decode(jumps, logits, torch.tensor([0]), 0, 1, 3)
    assert_equal(tokens, torch.tensor([[5, 3, 7]]))


check(never_more_than_max_length_words, greedy_decode)


# %% check="nothing_is_dropped_while_decoding" points=1
def nothing_is_dropped_while_decoding(greedy_decode, draw):
    """Even words, which the dropout of training mode would drop, are said too."""
    jumps, logits = chain([4, 2, 6], 9, 1, 6, draw.uniform(5, 9))
    tokens, _ = greedy_decode(jumps, logits, torch.tensor([0]), 0, 1, 4)
    assert_equal(tokens, torch.tensor([[4, 2, 6, 1]]))


check(nothing_is_dropped_while_decoding, greedy_decode)


# %% check="the_log_probs_are_those_of_the_words_said" points=1
def the_log_probs_are_those_of_the_words_said(greedy_decode, draw):
    """A row that says a word and EOS costs the log-probabilities of both; one that says EOS at once, of that."""
    jumps, logits = chain([5], 7, 1, 3, draw.uniform(3, 7))
    of_word, of_eos = (logits[place, word] - logits[place].logsumexp(0) for place, word in ((0, 5), (1, 1)))
    _, alone = greedy_decode(jumps, logits, torch.tensor([0]), 0, 1, 2)
    _, both = greedy_decode(jumps, logits, torch.tensor([0, 1]), 0, 1, 2)
    assert_close(alone, (of_word + of_eos)[None], what="a row by itself")
    assert_close(both, torch.stack([of_word + of_eos, of_eos]), what="two rows together")


check(the_log_probs_are_those_of_the_words_said, greedy_decode)


# %% check="long_translations_fit_into_memory" points=1
def long_translations_fit_into_memory(greedy_decode, draw):
    """A row of eleven words and EOS is said to its end: no step is kept for a backward pass."""
    words = [5, 3, 7, 9, 3, 9, 5, 7, 9, 5, 3]
    jumps, logits = chain(words, 11, 1, 7, draw.uniform(13, 11))
    tokens, _ = greedy_decode(jumps, logits, torch.tensor([0]), 0, 1, 12)
    assert_equal(tokens, torch.tensor([[*words, 1]]))


check(long_translations_fit_into_memory, greedy_decode)


# %% check="other_tables_are_decoded" points=3 hidden
def other_tables_are_decoded(greedy_decode, draw):
    """Other tables are read as they should be, with and without an end in time."""

    def alone(jumps, logits, place, eos, max_length):
        said, total, token = [], 0.0, 0
        while len(said) < max_length and token != eos:
            place = int(jumps[place, token])
            token = int(logits[place].argmax())
            said, total = [*said, token], total + float(logits[place, token] - logits[place].logsumexp(0))
        return said, total

    for words, starts, eos, max_length in (
        ([4, 9, 2, 8], [2, 0, 4, 3], 1, 8),
        ([3, 5, 6], [1, 2], 9, 2),
        ([7, 4, 5, 6, 2], [3, 0], 1, 5),
        ([2, 4, 6, 8, 3, 5, 7, 2, 4, 6], [1, 0, 5], 1, 20),
    ):
        jumps, logits = chain(words, 10, eos, draw.integers(2, 9), draw.uniform(12, 10))
        rows = [alone(jumps, logits, place, eos, max_length) for place in starts]
        T = max(len(said) for said, _ in rows)
        expected = torch.tensor([said + (T - len(said)) * [eos] for said, _ in rows])
        tokens, log_probs = greedy_decode(jumps, logits, torch.tensor(starts), 0, eos, max_length)
        assert_equal(tokens, expected, what="tokens")
        assert_close(
            log_probs, torch.tensor([total for _, total in rows], dtype=torch.float64), what="log_probs"
        )


check(other_tables_are_decoded, greedy_decode)


# %% [markdown] exercise="exact_match" difficulty=2 minutes=15
# ### 6. An honest number
#
# How many translations are right? Two tables of words lie before you, and one of them flatters. For `free`,
# the decoder ran free as in exercise 5. For `forced`, at every place the most likely word was taken while the
# **right** words before it were fed: after every slip somebody put the decoder back on its track. No user
# will do that.
#
# Write `exact_match(free, forced, targets, eos)`, the share of sentences that the decoder translates exactly
# right when it runs free: the same words in the same places, and EOS right behind them.
#
# | argument | shape | |
# |---|---|---|
# | `free` | (B, T′) | what was written; EOS fills the rest of a row; a row without EOS was cut off |
# | `forced` | (B, T) | the most likely words under teacher forcing |
# | `targets` | (B, T) | the right words, EOS, then padding, which is of no interest |
#
# T′ may be smaller or larger than T.
#
# **Example.** With `eos=2`, `targets = [[5, 6, 2], [7, 2, 0]]` and `free = [[5, 6, 2, 2], [7, 7, 6, 2]]` the
# exact match is 0.5: the first row is right, the second is not.
#
# <details><summary>Hint 1</summary>
#
# Turn each row into the list of its words up to and including its first EOS. What remains to be compared?
#
# </details>


# %% solution="exact_match"
def exact_match(free: Tensor, forced: Tensor, targets: Tensor, eos: int) -> float:
    """The share of rows that are exactly right when the decoder runs free, their EOS included."""

    ### BEGIN SOLUTION
    def up_to_eos(row):
        words = row.tolist()
        return words[: words.index(eos) + 1] if eos in words else words

    n_right = sum(up_to_eos(own) == up_to_eos(right) for own, right in zip(free, targets, strict=True))
    return n_right / len(targets)
    ### END SOLUTION


# %% check="half_of_the_example_is_right" points=1
def half_of_the_example_is_right(exact_match):
    """In the example one of two sentences is right; with the second mended both are."""
    targets = torch.tensor([[5, 6, 2], [7, 2, 0]])
    free, mended = [[5, 6, 2, 2], [7, 7, 6, 2]], [[5, 6, 2, 2], [7, 2, 2, 2]]
    share, mended_share = (
        exact_match(torch.tensor(rows), torch.tensor(rows)[:, :3], targets, 2) for rows in (free, mended)
    )
    assert_close(share, 0.5, what="the example")
    assert_close(mended_share, 1.0, what="with the second row mended")


check(half_of_the_example_is_right, exact_match)


# %% check="help_on_the_way_does_not_count" points=1
def help_on_the_way_does_not_count(exact_match, draw):
    """Whatever is said under teacher forcing, only what was written freely is judged."""
    targets = torch.cat([draw.integers(5, 20, 4, 3), torch.full((4, 1), 2)], dim=1)
    wrong = targets.clone()
    wrong[:3, 1] = 4
    assert_close(exact_match(wrong, targets, targets, 2), 0.25, what="right only when helped")
    assert_close(exact_match(targets, wrong, targets, 2), 1.0, what="right when free")


check(help_on_the_way_does_not_count, exact_match)


# %% check="one_wrong_word_spoils_a_sentence" points=1
def one_wrong_word_spoils_a_sentence(exact_match, draw):
    """Of two sentences of five words, one with one wrong word: half of the sentences are right."""
    targets = torch.cat([draw.integers(5, 20, 2, 5), torch.full((2, 1), 2)], dim=1)
    free = targets.clone()
    free[1, draw.integers(0, 5)] = 4
    assert_close(exact_match(free, free, targets, 2), 0.5)


check(one_wrong_word_spoils_a_sentence, exact_match)


# %% check="what_stands_behind_eos_is_not_looked_at" points=1
def what_stands_behind_eos_is_not_looked_at(exact_match):
    """A short sentence is right although one table fills its row with EOS and the other with padding."""
    targets = torch.tensor([[5, 2, 0, 0], [6, 7, 8, 2], [9, 2, 0, 0]])
    free = torch.tensor([[5, 2, 2, 2], [6, 7, 8, 2], [8, 2, 2, 2]])
    assert_close(exact_match(free, free, targets, 2), 2 / 3)


check(what_stands_behind_eos_is_not_looked_at, exact_match)


# %% check="a_sentence_must_end" points=1
def a_sentence_must_end(exact_match):
    """A row that was cut off before its EOS is not right, nor is one that goes on instead of ending."""
    targets = torch.tensor([[5, 6, 2, 0], [7, 8, 6, 2], [9, 2, 0, 0]])
    cut = torch.tensor([[5, 6], [7, 8], [9, 2]])
    too_long = torch.tensor([[5, 6, 7, 2, 2], [7, 8, 6, 2, 2], [9, 9, 2, 2, 2]])
    of_cut, of_too_long = exact_match(cut, targets, targets, 2), exact_match(too_long, targets, targets, 2)
    assert_close(of_cut, 1 / 3, what="cut off")
    assert_close(of_too_long, 1 / 3, what="too long")


check(a_sentence_must_end, exact_match)


# %% check="other_translations_are_judged" points=2 hidden
def other_translations_are_judged(exact_match, draw):
    """Other translations, right, spoilt, cut off and too long, have their share."""
    for n_right, eos in ((2, 3), (1, 9)):
        words = [10 + draw.integers(0, 9, length) for length in (4, 2, 5, 3, 4)]
        targets, free = torch.zeros(5, 6, dtype=torch.int64), torch.full((5, 8), eos)
        for row, sentence in enumerate(words):
            targets[row, : len(sentence)], targets[row, len(sentence)] = sentence, eos
            free[row, : len(sentence)] = sentence
        forced = targets.clone()
        forced[0, 0] = 4
        free[n_right:, 1] = 5
        free[4] = torch.cat([words[4], torch.tensor([6, 6, 6, 6])])
        assert_close(exact_match(free, forced, targets, eos), n_right / 5, what="all of them")
        assert_close(
            exact_match(free[:, :4], forced, targets, eos), (n_right - 1) / 5, what="cut to four words"
        )


check(other_translations_are_judged, exact_match)


# %% [markdown] exercise="bottleneck_table" difficulty=2 minutes=20
# ### 7. An experiment to be believed
#
# A vector of fixed size holds a short sentence better than a long one. To show it, several models are trained
# on short sentences, each with several seeds, and measured at many lengths. An experiment is easily spoilt by
# its bookkeeping, so write the bookkeeping.
#
# `runs` is a list of dicts, one for each model, seed and length:
#
# | key | meaning |
# |---|---|
# | `"model"`, `"seed"` | a name, and the number of the run |
# | `"n_parameters"` | how many numbers the model has learned |
# | `"length"` | the number of words of the test sentences |
# | `"exact_match"` | exercise 6, as the model runs free |
# | `"forced_accuracy"` | the share of right words under teacher forcing |
#
# Write `bottleneck_table(runs, trained_lengths)`, which returns a dict from `(model, length)` to the **mean
# exact match over all seeds**. Four rules:
#
# 1. Lengths in `trained_lengths` (a list) are left out: the table speaks of lengths that no model has seen.
# 2. What counts is `"exact_match"`.
# 3. A model and a length with fewer than two seeds are left out. One run is an anecdote.
# 4. If the largest number of parameters in `runs` is more than 1.05 times the smallest, raise a `ValueError`:
#    then it is not the architecture that is compared.
#
# **Example.** Two seeds of the model `"vector"` at length 9 have the exact matches 0.2 and 0.4. With
# `trained_lengths = [4, 5, 6]` the table has the entry `("vector", 9): 0.3`.
#
# <details><summary>Hint 1</summary>
#
# First collect a list of exact matches for each pair of model and length. Which runs get that far?
#
# </details>


# %% solution="bottleneck_table"
def bottleneck_table(runs: list[dict], trained_lengths: list[int]) -> dict[tuple[str, int], float]:
    """The mean exact match of each model at each unseen length; ValueError for models of unequal size."""
    ### BEGIN SOLUTION
    sizes = [run["n_parameters"] for run in runs]
    if max(sizes) > 1.05 * min(sizes):
        raise ValueError(f"models of {min(sizes)} and of {max(sizes)} parameters are not compared")
    found = {}
    for run in runs:
        if run["length"] not in trained_lengths:
            found.setdefault((run["model"], run["length"]), []).append(run["exact_match"])
    return {cell: sum(shares) / len(shares) for cell, shares in found.items() if len(shares) >= 2}
    ### END SOLUTION


# %% provided="runs"
def a_run(model, seed, length, share, n_parameters=1000):
    """One line of an experiment; under teacher forcing everything looks better."""
    forced_accuracy = 0.8 + 0.2 * share
    return {
        "model": model,
        "seed": seed,
        "n_parameters": n_parameters,
        "length": length,
        "exact_match": share,
        "forced_accuracy": forced_accuracy,
    }


# %% check="the_example_has_a_mean_of_0_3" points=1
def the_example_has_a_mean_of_0_3(bottleneck_table):
    """The two runs of the example give one entry, 0.3."""
    runs = [a_run("vector", 0, 9, 0.2), a_run("vector", 1, 9, 0.4)]
    assert_close(bottleneck_table(runs, [4, 5, 6]), {("vector", 9): 0.3})


check(the_example_has_a_mean_of_0_3, bottleneck_table)


# %% check="lengths_seen_in_training_are_left_out" points=1
def lengths_seen_in_training_are_left_out(bottleneck_table):
    """Of the lengths 3, 5 and 9, only 3 and 9 are reported when 4, 5 and 6 were trained on."""
    runs = [a_run("vector", seed, length, 0.5) for length in (3, 5, 9) for seed in (3, 4)]
    assert_equal(sorted(bottleneck_table(runs, [4, 5, 6])), [("vector", 3), ("vector", 9)])


check(lengths_seen_in_training_are_left_out, bottleneck_table)


# %% check="every_seed_has_its_share" points=1
def every_seed_has_its_share(bottleneck_table):
    """Three seeds with the exact matches 0.1, 0.9 and 0.2 give 0.4, for each of two models."""
    runs = [
        a_run(model, seed, 8, share + more)
        for model, more in (("vector", 0.0), ("attention", 0.06))
        for seed, share in ((5, 0.1), (2, 0.9), (7, 0.2))
    ]
    assert_close(bottleneck_table(runs, [4]), {("vector", 8): 0.4, ("attention", 8): 0.46})


check(every_seed_has_its_share, bottleneck_table)


# %% check="one_seed_is_no_result" points=1
def one_seed_is_no_result(bottleneck_table):
    """A length that was measured with one seed only is not in the table."""
    runs = [a_run("vector", 0, 8, 0.5), a_run("vector", 1, 8, 0.5), a_run("vector", 1, 12, 0.5)]
    assert_equal(list(bottleneck_table(runs, [4])), [("vector", 8)])


check(one_seed_is_no_result, bottleneck_table)


# %% check="unequal_models_are_not_compared" points=1
def unequal_models_are_not_compared(bottleneck_table):
    """1000 parameters against 1060 raise a ValueError; against 1040 there is a table."""
    runs = [a_run("vector", seed, 8, 0.5) for seed in (0, 1)]
    larger = [a_run("attention", seed, 8, 0.5, n_parameters=1060) for seed in (0, 1)]
    similar = [a_run("attention", seed, 8, 0.5, n_parameters=1040) for seed in (0, 1)]
    assert_equal(sorted(bottleneck_table(runs + similar, [4])), [("attention", 8), ("vector", 8)])
    assert_raises(ValueError, bottleneck_table, runs + larger, [4])


check(unequal_models_are_not_compared, bottleneck_table)


# %% check="other_experiments_have_their_table" points=2 hidden
def other_experiments_have_their_table(bottleneck_table, draw):
    """Other experiments, in any order of runs, have their table or none."""
    shares = draw.uniform(2, 3, 4, low=0.0, high=0.9)
    runs = [
        a_run(model, 10 * seed, length, float(shares[i, j, seed]), n_parameters=5000 + 200 * i)
        for i, model in enumerate(("memory", "summary"))
        for j, length in enumerate((3, 11, 17))
        for seed in range(4)
    ]
    runs.append(a_run("memory", 3, 20, 0.7, n_parameters=5000))
    mixed = [runs[place] for place in draw.permutation(len(runs))]
    expected = {
        (model, length): float(shares[i, j].mean())
        for i, model in enumerate(("memory", "summary"))
        for j, length in ((1, 11), (2, 17))
    }
    assert_close(bottleneck_table(mixed, [2, 3, 4]), expected)
    assert_raises(ValueError, bottleneck_table, [*mixed, a_run("giant", 0, 11, 0.9, 5500)], [2, 3])


check(other_experiments_have_their_table, bottleneck_table)

# %% [markdown] written="ninety_seven_percent" points=4 minutes=10
# ### 8. Ninety-seven percent
#
# A classmate reports about a decoder without attention: "On test sentences of 20 words it says 97 % of the
# words right. So translation is solved, and the summary vector is no bottleneck." You learn that the 97 %
# were measured under teacher forcing, on lengths that were trained on, with one seed.
#
# a) Suppose each word is right with probability 0.97 independently of the others, **as long as** all words
# before it are right. About which share of sentences of 20 words, EOS not counted, is then translated exactly
# right when the decoder runs free? Why may the truth be worse still?
#
# b) Under teacher forcing a decoder may say many words right without knowing the source at all. Give a reason
# and an example.
#
# c) Name the three things you would change about the experiment before you believe anything about a
# bottleneck.
#
# ### BEGIN SOLUTION
# a) (1 point) 0.97^20 is about 0.54. After a slip the decoder reads a beginning that it has never met in
# training, where it is worse than 97 % (exposure bias); the 97 % also average over easy words and hard ones.
#
# b) (1 point) The right words before a place often give the next one away, as in any language model: *pomme
# de* is followed by *terre*, an article by a noun of its gender, the last word by a full stop and EOS.
#
# c) (2 points, one missing costs half) Let it run free and count exact matches (or BLEU); measure lengths
# longer than those trained on, and show them as a curve over length; several seeds; and compare with a model
# that has no bottleneck (attention) and as many parameters, trained equally long.
# ### END SOLUTION


# %% [markdown]
# ## Part B. Looking back
#
# With attention, nothing has to pass through one vector. For every word it writes, the decoder asks a
# question, the **query**, and compares it with a **key** for every word of the source. The better a key
# matches, the more of that word's **value** enters the answer. In a translator the query is the decoder's
# state, and keys and values are the encoder's states.

# %% [markdown] exercise="dot_scores" difficulty=1 minutes=10 forbids="course.models"
# ### 9. Scores: the dot product
#
# Write `dot_scores(query, key)` for queries (B, T, D) and keys (B, S, D). It returns the scores (B, T, S):
# `scores[b, t, s]` is the dot product of query t and key s of the same sentence, nothing else.
#
# **Example.** One sentence, one query (1, 2), two keys (3, 4) and (0, 1): the scores are `[[[11, 2]]]`.
#
# <details><summary>Hint 1</summary>
#
# `@` multiplies the last two axes and treats those before as a batch. Which axis of `key` must come last but
# one?
#
# </details>


# %% solution="dot_scores"
def dot_scores(query: Tensor, key: Tensor) -> Tensor:
    """The dot product (B, T, S) of every query (B, T, D) with every key (B, S, D) of its sentence."""
    ### BEGIN SOLUTION
    return query @ key.transpose(1, 2)
    ### END SOLUTION


# %% check="the_example_scores_are_11_and_2" points=1
def the_example_scores_are_11_and_2(dot_scores):
    """The query of the example has the scores 11 and 2."""
    query, key = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[3.0, 4.0], [0.0, 1.0]]])
    assert_close(dot_scores(query, key), torch.tensor([[[11.0, 2.0]]]))


check(the_example_scores_are_11_and_2, dot_scores)


# %% check="a_row_for_each_query_and_a_column_for_each_key" points=1
def a_row_for_each_query_and_a_column_for_each_key(dot_scores, draw):
    """With 3 queries and 4 keys in each of two sentences, the scores have the shape (2, 3, 4)."""
    assert_equal(list(dot_scores(draw.normal(2, 3, 5), draw.normal(2, 4, 5)).shape), [2, 3, 4])


check(a_row_for_each_query_and_a_column_for_each_key, dot_scores)


# %% check="each_key_has_its_own_column" points=1
def each_key_has_its_own_column(dot_scores, draw):
    """Another third key changes the third column of scores only, in each row of a batch; gradients flow back."""
    query, key = draw.normal(2, 3, 5), draw.normal(2, 4, 5)
    other = key.clone()
    other[:, 2] += 1
    scores, changed = dot_scores(query, key), dot_scores(query, other)
    assert_close(changed[..., [0, 1, 3]], scores[..., [0, 1, 3]], what="scores of the other keys")
    assert_depends(scores[..., 2], changed[..., 2])
    assert_close(scores[1:], dot_scores(query[1:], key[1:]), what="the second of the batch")
    assert_differentiable(dot_scores, query, key)


check(each_key_has_its_own_column, dot_scores)


# %% check="longer_keys_have_larger_scores" points=1
def longer_keys_have_larger_scores(dot_scores, draw):
    """Keys three times as long have scores three times as large."""
    query, key = draw.normal(2, 3, 5), draw.normal(2, 4, 5)
    scores = dot_scores(query, key)
    assert_close(dot_scores(query, 3 * key), 3 * scores)
    assert_depends(scores, 3 * scores)


check(longer_keys_have_larger_scores, dot_scores)


# %% check="sentences_of_a_batch_do_not_meet" points=1
def sentences_of_a_batch_do_not_meet(dot_scores, draw):
    """The scores of the first of three sentences are those that it has alone."""
    query, key = draw.normal(3, 2, 5), draw.normal(3, 4, 5)
    scores = dot_scores(query, key)
    assert_close(scores[:1], dot_scores(query[:1], key[:1]))
    assert_depends(scores[:1], dot_scores(query[:1], key[:1] + 1))


check(sentences_of_a_batch_do_not_meet, dot_scores)


# %% check="other_pairs_have_their_dot_products" points=1 hidden
def other_pairs_have_their_dot_products(dot_scores, draw):
    """Other queries and keys, more of the one or of the other, have their scores."""
    for batch_size, T, S, D in ((2, 4, 3, 5), (3, 2, 6, 4)):
        query, key = draw.normal(batch_size, T, D), draw.normal(batch_size, S, D)
        expected = (query[:, :, None] * key[:, None]).sum(-1)
        assert_close(dot_scores(query, key), expected)


check(other_pairs_have_their_dot_products, dot_scores)


# %% [markdown] exercise="bilinear_scores" difficulty=1 minutes=10 forbids="course.models"
# ### 10. Scores: with a matrix between
#
# A query and a key need not have the same width, and need not mean the same by the same coordinate. A matrix
# W that is learned decides what matches what: $\text{score}(\mathbf q, \mathbf k) = \mathbf q^\top \mathbf W
# \mathbf k$.
#
# Write `bilinear_scores(query, key, W)` for queries (B, T, D), keys (B, S, M) and W (D, M). It returns the
# scores (B, T, S).
#
# **Example.** `W = [[1, 0, 0], [0, 1, 1]]`, the query (1, 2) and the keys (3, 4, 5) and (1, 0, 0): the scores
# are $1 \cdot 3 + 2 \cdot 4 + 2 \cdot 5 = 21$ and 1.
#
# <details><summary>Hint 1</summary>
#
# Multiply the queries by W first. Which width do they have then, and what is left to do?
#
# </details>


# %% solution="bilinear_scores"
def bilinear_scores(query: Tensor, key: Tensor, W: Tensor) -> Tensor:
    """qᵀ W k for every query (B, T, D) and key (B, S, M) of a sentence, with W (D, M): (B, T, S)."""
    ### BEGIN SOLUTION
    return query @ W @ key.transpose(1, 2)
    ### END SOLUTION


# %% check="the_example_scores_are_21_and_1" points=1
def the_example_scores_are_21_and_1(bilinear_scores):
    """The query of the example has the scores 21 and 1."""
    query, key = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[3.0, 4.0, 5.0], [1.0, 0.0, 0.0]]])
    W = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    assert_close(bilinear_scores(query, key, W), torch.tensor([[[21.0, 1.0]]]))


check(the_example_scores_are_21_and_1, bilinear_scores)


# %% check="every_word_of_the_source_is_asked" points=1
def every_word_of_the_source_is_asked(bilinear_scores, draw):
    """Another second key changes the second column of scores and no other."""
    query, key, W = draw.normal(2, 3, 5), draw.normal(2, 4, 6), draw.normal(5, 6)
    other = key.clone()
    other[:, 1] += 1
    scores, changed = bilinear_scores(query, key, W), bilinear_scores(query, other, W)
    assert_close(changed[..., [0, 2, 3]], scores[..., [0, 2, 3]], what="scores of the other keys")
    assert_depends(scores[..., 1], changed[..., 1])


check(every_word_of_the_source_is_asked, bilinear_scores)


# %% check="each_query_has_its_own_row" points=1
def each_query_has_its_own_row(bilinear_scores, draw):
    """Another second query changes the second row of scores only, in each row of a batch; gradients flow back."""
    query, key, W = draw.normal(2, 3, 5), draw.normal(2, 4, 6), draw.normal(5, 6)
    other = query.clone()
    other[:, 1] += 1
    scores, changed = bilinear_scores(query, key, W), bilinear_scores(other, key, W)
    assert_close(changed[:, [0, 2]], scores[:, [0, 2]], what="scores of the other queries")
    assert_depends(scores[:, 1], changed[:, 1])
    assert_close(scores[1:], bilinear_scores(query[1:], key[1:], W), what="the second of the batch")
    assert_differentiable(bilinear_scores, query, key, W)


check(each_query_has_its_own_row, bilinear_scores)


# %% check="twice_the_matrix_twice_the_scores" points=1
def twice_the_matrix_twice_the_scores(bilinear_scores, draw):
    """With 2W all scores are twice as large: nothing bends or rescales them."""
    query, key, W = draw.normal(2, 3, 5), draw.normal(2, 4, 6), draw.normal(5, 6)
    scores = bilinear_scores(query, key, W)
    assert_close(bilinear_scores(query, key, 2 * W), 2 * scores)
    assert_depends(scores, 2 * scores)


check(twice_the_matrix_twice_the_scores, bilinear_scores)


# %% check="other_pairs_have_their_bilinear_scores" points=1 hidden
def other_pairs_have_their_bilinear_scores(bilinear_scores, draw):
    """Other queries, keys and matrices have the scores of a loop."""
    for batch_size, T, S, D, M in ((2, 4, 3, 5, 7), (3, 2, 4, 6, 5)):
        query, key, W = draw.normal(batch_size, T, D), draw.normal(batch_size, S, M), draw.normal(D, M)
        expected = torch.zeros(batch_size, T, S, dtype=torch.float64)
        for b in range(batch_size):
            for t in range(T):
                for s in range(S):
                    expected[b, t, s] = (query[b, t][:, None] * W * key[b, s]).sum()
        assert_close(bilinear_scores(query, key, W), expected)


check(other_pairs_have_their_bilinear_scores, bilinear_scores)


# %% [markdown] exercise="additive_scores" difficulty=2 minutes=15 forbids="course.models"
# ### 11. Scores: a small network
#
# The first attention (Bahdanau and others, 2015) let a small network look at each pair:
#
# $$\text{score}(\mathbf q, \mathbf k) = \mathbf v^\top \tanh(\mathbf W_q \mathbf q + \mathbf W_k \mathbf k)$$
#
# Write `additive_scores(query, key, W_query, W_key, v)` for queries (B, T, D), keys (B, S, M), `W_query` (K,
# D), `W_key` (K, M) and `v` (K,). It returns the scores (B, T, S).
#
# **Example.** All widths are 1, both matrices are `[[1]]` and `v = [2]`. The query 1 has with the key 1 the
# score $2 \tanh 2 \approx 1.9281$, and with the key $-1$ the score 0.
#
# <details><summary>Hint 1</summary>
#
# Every query meets every key: (B, T, 1, K) plus (B, 1, S, K) is (B, T, S, K).
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Go through the formula from inside out. Of how many numbers is the tanh taken for one pair, and how many are
# left after the product with v?
#
# </details>


# %% solution="additive_scores"
def additive_scores(query: Tensor, key: Tensor, W_query: Tensor, W_key: Tensor, v: Tensor) -> Tensor:
    """vᵀ tanh(W_query q + W_key k) for every query (B, T, D) and key (B, S, M) of a sentence: (B, T, S)."""
    ### BEGIN SOLUTION
    from_query = (query @ W_query.T)[:, :, None]  # (B, T, 1, K)
    from_key = (key @ W_key.T)[:, None]  # (B, 1, S, K)
    return torch.tanh(from_query + from_key) @ v  # (B, T, S)
    ### END SOLUTION


# %% check="the_example_scores_are_2_tanh_2_and_0" points=1
def the_example_scores_are_2_tanh_2_and_0(additive_scores):
    """The query 1 of the example has with the keys 1 and -1 the scores 2 tanh 2 and 0."""
    one = torch.ones(1, 1, dtype=torch.float64)
    key = torch.tensor([[[1.0], [-1.0]]], dtype=torch.float64)
    answer = additive_scores(one[None], key, one, one, torch.tensor([2.0], dtype=torch.float64))
    assert_close(answer, torch.tensor([[[2 * math.tanh(2), 0.0]]], dtype=torch.float64))


check(the_example_scores_are_2_tanh_2_and_0, additive_scores)


# %% check="v_may_raise_a_score_above_one" points=1
def v_may_raise_a_score_above_one(additive_scores, draw):
    """With ten times v all scores are ten times as large, in each row of a batch; gradients flow back."""
    query, key = draw.normal(2, 3, 5), draw.normal(2, 4, 6)
    W_query, W_key, v = draw.normal(7, 5), draw.normal(7, 6), draw.normal(7)
    scores = additive_scores(query, key, W_query, W_key, v)
    assert_close(additive_scores(query, key, W_query, W_key, 10 * v), 10 * scores)
    assert_depends(scores, 10 * scores)
    alone = additive_scores(query[1:], key[1:], W_query, W_key, v)
    assert_close(scores[1:], alone, what="the second of the batch")
    assert_differentiable(additive_scores, query, key, W_query, W_key, v)


check(v_may_raise_a_score_above_one, additive_scores)


# %% check="large_numbers_saturate" points=1
def large_numbers_saturate(additive_scores, draw):
    """With huge keys of either sign, every score is the sum of v or its opposite."""
    query, key = draw.normal(1, 2, 5), torch.tensor([[[1e6], [-1e6], [2e6]]], dtype=torch.float64)
    v = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)
    answer = additive_scores(query, key, draw.normal(3, 5), torch.ones(3, 1, dtype=torch.float64), v)
    assert_close(answer, torch.tensor([[[3.5, -3.5, 3.5]] * 2], dtype=torch.float64))


check(large_numbers_saturate, additive_scores)


# %% check="the_network_looks_at_every_key" points=1
def the_network_looks_at_every_key(additive_scores, draw):
    """Another last key changes the last column of scores and no other."""
    query, key = draw.normal(2, 3, 5), draw.normal(2, 4, 6)
    W_query, W_key, v = draw.normal(7, 5), draw.normal(7, 6), draw.normal(7)
    other = key.clone()
    other[:, 3] += 1
    scores = additive_scores(query, key, W_query, W_key, v)
    changed = additive_scores(query, other, W_query, W_key, v)
    assert_close(changed[..., :3], scores[..., :3], what="scores of the other keys")
    assert_depends(scores[..., 3], changed[..., 3])


check(the_network_looks_at_every_key, additive_scores)


# %% check="a_lead_depends_on_the_query" points=1
def a_lead_depends_on_the_query(additive_scores):
    """The key 1 is 2 tanh 1 ahead of the key -1 for the query 0, and tanh 4 - tanh 2 for the query 3."""
    query, key = torch.tensor([[[0.0], [3.0]]]).double(), torch.tensor([[[1.0], [-1.0]]]).double()
    one = torch.ones(1, 1, dtype=torch.float64)
    scores = additive_scores(query, key, one, one, one[0])
    lead = scores[0, :, 0] - scores[0, :, 1]
    assert_close(lead, torch.tensor([2 * math.tanh(1), math.tanh(4) - math.tanh(2)], dtype=torch.float64))


check(a_lead_depends_on_the_query, additive_scores)


# %% check="other_pairs_have_their_additive_scores" points=1 hidden
def other_pairs_have_their_additive_scores(additive_scores, draw):
    """Other queries, keys and networks have the scores of a loop."""
    for batch_size, T, S, D, M, K in ((2, 4, 3, 5, 7, 6), (3, 2, 4, 6, 5, 3)):
        query, key = draw.normal(batch_size, T, D), draw.normal(batch_size, S, M)
        W_query, W_key, v = draw.normal(K, D), draw.normal(K, M), draw.normal(K)
        expected = torch.zeros(batch_size, T, S, dtype=torch.float64)
        for b in range(batch_size):
            for t in range(T):
                for s in range(S):
                    hidden = [
                        math.tanh((W_query[i] * query[b, t]).sum() + (W_key[i] * key[b, s]).sum())
                        for i in range(K)
                    ]
                    expected[b, t, s] = sum(float(v[i]) * hidden[i] for i in range(K))
        assert_close(additive_scores(query, key, W_query, W_key, v), expected)


check(other_pairs_have_their_additive_scores, additive_scores)


# %% [markdown] exercise="attention_weights" difficulty=2 minutes=15 forbids="course.models"
# ### 12. From scores to weights
#
# The weights of a query are a distribution over the words of its source: the softmax of its scores. Padding
# is no word and gets nothing, exactly 0, however large its score happens to be; what is left must still sum
# to one.
#
# Write `attention_weights(scores, mask)` for scores (B, T, S) and a mask (B, S) of True (a real word) and
# False (padding). It returns the weights (B, T, S). Every sentence has at least one real word.
# `torch.softmax` may be called.
#
# **Example.** The scores $(0, \ln 3, 50)$ with the mask (True, True, False) have the weights (1/4, 3/4, 0).
#
# <details><summary>Hint 1</summary>
#
# Which number must a score be, so that its exponential is exactly 0, whatever the other scores are?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `masked_fill` leaves its tensor as it is and returns a new one. And which shape must the mask have to stand
# above (B, T, S)?
#
# </details>


# %% solution="attention_weights"
def attention_weights(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax of scores (B, T, S) over the real words of each source; mask (B, S) is True at these."""
    ### BEGIN SOLUTION
    return scores.masked_fill(~mask[:, None, :], -math.inf).softmax(dim=-1)
    ### END SOLUTION


# %% check="the_example_weights_are_quarters" points=1
def the_example_weights_are_quarters(attention_weights):
    """The scores (0, ln 3, 50), the last of them padding, have the weights 1/4, 3/4 and 0."""
    scores = torch.tensor([[[0.0, math.log(3), 50.0]]], dtype=torch.float64)
    answer = attention_weights(scores, torch.tensor([[True, True, False]]))
    assert_close(answer, torch.tensor([[[0.25, 0.75, 0.0]]], dtype=torch.float64))


check(the_example_weights_are_quarters, attention_weights)


# %% check="each_query_shares_out_one" points=1
def each_query_shares_out_one(attention_weights, draw):
    """The weights of each query sum to one, with padding and without, and gradients flow back."""
    mask = torch.tensor([[True, True, True, False, False], [True] * 5])
    scores = draw.normal(2, 3, 5)
    weights = attention_weights(scores, mask)
    assert_close(weights.sum(-1), torch.ones(2, 3, dtype=torch.float64))
    assert_differentiable(attention_weights, scores, mask)


check(each_query_shares_out_one, attention_weights)


# %% check="padding_gets_no_weight" points=1
def padding_gets_no_weight(attention_weights, draw):
    """The weights at the padding are exactly 0, and those of real words are not."""
    weights = attention_weights(
        draw.normal(2, 3, 4), torch.tensor([[True, True, False, False], [True] * 3 + [False]])
    )
    assert_equal(weights[0, :, 2:], torch.zeros(3, 2, dtype=torch.float64), what="weights at the padding")
    assert_true(bool((weights[1, :, :3] > 0).all()), "A real word has no weight.")


check(padding_gets_no_weight, attention_weights)


# %% check="what_padding_scores_does_not_matter" points=1
def what_padding_scores_does_not_matter(attention_weights, draw):
    """Other scores at the padding leave all weights as they are."""
    scores, loud = draw.normal(2, 3, 4), torch.zeros(2, 3, 4, dtype=torch.float64)
    mask = torch.tensor([[True, True, True, False], [True] * 4])
    loud[0, :, 3] = torch.tensor([30.0, -4.0, 2.0])
    weights = attention_weights(scores, mask)
    assert_close(attention_weights(scores + loud, mask), weights)
    assert_depends(weights, attention_weights(2 * scores, mask))


check(what_padding_scores_does_not_matter, attention_weights)


# %% check="real_words_may_score_very_low" points=1
def real_words_may_score_very_low(attention_weights):
    """Real words with the scores -20000 and -20000 + ln 3 still share one between them."""
    scores = torch.tensor([[[-20000.0, -20000.0 + math.log(3), 0.0]]], dtype=torch.float64)
    answer = attention_weights(scores, torch.tensor([[True, True, False]]))
    assert_close(answer, torch.tensor([[[0.25, 0.75, 0.0]]], dtype=torch.float64))


check(real_words_may_score_very_low, attention_weights)


# %% check="each_query_is_on_its_own" points=1
def each_query_is_on_its_own(attention_weights, draw):
    """Other scores of the second query, or of the second sentence, leave the weights of the first."""
    scores, mask = draw.normal(2, 3, 4), torch.ones(2, 4, dtype=torch.bool)
    other_query, other_sentence = scores.clone(), scores.clone()
    other_query[:, 1] *= 3
    other_sentence[1] *= 3
    weights = attention_weights(scores, mask)
    assert_close(attention_weights(other_query, mask)[:, 0], weights[:, 0], what="the first query")
    assert_close(attention_weights(other_sentence, mask)[0], weights[0], what="the first sentence")
    assert_depends(weights, attention_weights(other_query, mask))


check(each_query_is_on_its_own, attention_weights)


# %% check="other_scores_have_their_weights" points=2 hidden
def other_scores_have_their_weights(attention_weights, draw):
    """Other scores, some beyond a thousand, have the weights of their real words."""
    for lengths, T, S, offset in (((3, 5, 2), 4, 6, 0.0), ((2, 7), 5, 7, 1500.0), ((4, 1), 3, 5, -30000.0)):
        scores = 2 * draw.normal(len(lengths), T, S)
        mask = torch.arange(S) < torch.tensor(lengths)[:, None]
        scores = scores + torch.where(mask[:, None], offset, draw.number(5.0, 9.0))
        expected = torch.zeros(len(lengths), T, S, dtype=torch.float64)
        for b, n in enumerate(lengths):
            real = scores[b, :, :n]
            expected[b, :, :n] = (real - real.logsumexp(-1, keepdim=True)).exp()
        assert_close(attention_weights(scores, mask), expected)


check(other_scores_have_their_weights, attention_weights)


# %% [markdown] exercise="attend" difficulty=2 minutes=15 forbids="torch.nn.functional.scaled_dot_product_attention,torch.nn.MultiheadAttention,torch.nn.functional.multi_head_attention_forward,course.models"
# ### 13. The context
#
# What a query learns from the source is its **context**, the mean of the values with its weights. Put
# together what you have: dot products of queries and keys, a masked softmax, a weighted mean of values.
#
# Write `attend(query, key, value, mask)` for queries (B, T, D), keys (B, S, D), values (B, S, M) and a mask
# (B, S) that is True at real words. It returns the tuple `(context, weights)` of shapes (B, T, M) and (B, T,
# S). The scores are dot products, not scaled.
#
# **Example.** Keys (10, 0) and (0, 1) with the values (1, 2, 3) and (4, 5, 6): the query (9, 0) matches the
# first key alone, and its context is as good as (1, 2, 3). The query (0, ln 3) has the scores 0 and ln 3: its
# weights are 1/4 and 3/4 and its context is (3.25, 4.25, 5.25).
#
# <details><summary>Hint 1</summary>
#
# The weights are (B, T, S), and a context has M numbers. Which of the four arguments has an axis of length M?
#
# </details>


# %% solution="attend"
def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Contexts (B, T, M), means of the values (B, S, M), and their weights (B, T, S), by dot products."""
    ### BEGIN SOLUTION
    scores = query @ key.transpose(1, 2)  # (B, T, S)
    weights = scores.masked_fill(~mask[:, None, :], -math.inf).softmax(dim=-1)
    return weights @ value, weights
    ### END SOLUTION


# %% check="the_example_contexts_are_one_value_and_a_mean" points=1
def the_example_contexts_are_one_value_and_a_mean(attend):
    """The two queries of the example have the contexts (1, 2, 3) and (3.25, 4.25, 5.25)."""
    query = torch.tensor([[[9.0, 0.0], [0.0, math.log(3)]]], dtype=torch.float64)
    key = torch.tensor([[[10.0, 0.0], [0.0, 1.0]]], dtype=torch.float64)
    value = torch.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]], dtype=torch.float64)
    context, weights = attend(query, key, value, torch.tensor([[True, True]]))
    shares = torch.tensor([[[1.0, 0.0], [0.25, 0.75]]], dtype=torch.float64)
    assert_close(weights, shares, what="weights")
    assert_close(context, shares @ value, what="context")


check(the_example_contexts_are_one_value_and_a_mean, attend)


# %% check="contexts_are_made_of_values" points=1
def contexts_are_made_of_values(attend, draw):
    """Values three times as large make contexts three times as large, and change no weight, in each row."""
    query, key, value = draw.normal(2, 3, 5), draw.normal(2, 4, 5), draw.normal(2, 4, 6)
    mask = torch.tensor([[True, True, True, False], [True] * 4])
    context, weights = attend(query, key, value, mask)
    tripled, same_weights = attend(query, key, 3 * value, mask)
    assert_close(tripled, 3 * context, what="context")
    assert_close(same_weights, weights, what="weights")
    assert_depends(context, tripled)
    alone, _ = attend(query[1:], key[1:], value[1:], mask[1:])
    assert_close(context[1:], alone, what="the second of the batch")
    assert_differentiable(attend, query, key, value, mask)


check(contexts_are_made_of_values, attend)


# %% check="padding_does_not_reach_the_context" points=1
def padding_does_not_reach_the_context(attend, draw):
    """Other keys and values at the padding change neither contexts nor weights."""
    query, key, value = draw.normal(2, 3, 5), draw.normal(2, 4, 5), draw.normal(2, 4, 6)
    mask, is_padding = torch.tensor([[True, True, True, False], [True] * 4]), torch.zeros(2, 4, 1)
    is_padding[0, 3] = 1.0
    context, weights = attend(query, key, value, mask)
    other_context, other_weights = attend(query, key + 2 * is_padding, value + 5 * is_padding, mask)
    assert_close(other_weights, weights, what="weights")
    assert_close(other_context, context, what="context")
    assert_depends(context, attend(query, key, value + 1, mask)[0])


check(padding_does_not_reach_the_context, attend)


# %% check="the_order_of_the_source_does_not_matter" points=1
def the_order_of_the_source_does_not_matter(attend, draw):
    """Keys and values that change places together leave the contexts; the weights change places too."""
    query, key, value = draw.normal(2, 3, 5), draw.normal(2, 4, 5), draw.normal(2, 4, 6)
    mask, order = torch.ones(2, 4, dtype=torch.bool), [2, 0, 3, 1]
    context, weights = attend(query, key, value, mask)
    moved_context, moved_weights = attend(query, key[:, order], value[:, order], mask)
    assert_close(moved_context, context, what="context")
    assert_close(moved_weights, weights[..., order], what="weights")
    assert_depends(weights, moved_weights)


check(the_order_of_the_source_does_not_matter, attend)


# %% check="other_queries_have_their_contexts" points=2 hidden
def other_queries_have_their_contexts(attend, draw):
    """Other sizes, more queries than words or fewer, have the contexts of a loop."""
    for lengths, T, S, D, M in (((3, 5), 4, 6, 2, 7), ((4, 2, 3), 5, 4, 6, 3)):
        query, key, value = (draw.normal(len(lengths), n, d) for n, d in ((T, D), (S, D), (S, M)))
        mask = torch.arange(S) < torch.tensor(lengths)[:, None]
        context, weights = attend(query, key, value, mask)
        for b, n in enumerate(lengths):
            for t in range(T):
                matches = torch.exp(torch.stack([(query[b, t] * key[b, s]).sum() for s in range(n)]))
                shares = matches / matches.sum()
                assert_close(weights[b, t, :n], shares, what="weights")
                assert_close(context[b, t], sum(shares[s] * value[b, s] for s in range(n)), what="context")


check(other_queries_have_their_contexts, attend)


# %% [markdown] exercise="AttentionDecoder" difficulty=3 minutes=35 forbids="course.models"
# ### 14. A decoder that looks back
#
# Now the decoder itself. At every step t it reads one word and what it made of the step before, takes a look
# at the source, and puts both together (Luong and others, 2015, with input feeding):
#
# | line | formula | shape |
# |---|---|---|
# | the new state | $\mathbf s_t = \text{GRUCell}([\mathbf e_t; \mathbf o_{t-1}],\ \mathbf s_{t-1})$ | (B, D) |
# | the weights | $\boldsymbol\alpha_t = \text{softmax over the real words of } \mathbf s_t^\top \mathbf W \mathbf h_i$ | (B, S) |
# | the context | $\mathbf c_t = \sum_i \alpha_{ti} \mathbf h_i$ | (B, M) |
# | the output | $\mathbf o_t = \tanh(\mathbf W_o [\mathbf s_t; \mathbf c_t])$ | (B, D) |
# | the logits | $\mathbf z_t = \mathbf U \mathbf o_t + \mathbf u$ | (B, V) |
#
# $\mathbf e_t$ is the embedding of the word read, $\mathbf h_i$ are the rows of the memory, and $\mathbf o_0 = 0$.
#
# Write the class `AttentionDecoder`, an `nn.Module` in float64:
#
# - `AttentionDecoder(vocab_size, d_embedding, d_hidden, d_memory)` has `embedding`, an `nn.Embedding`;
#   `cell`, an `nn.GRUCell` whose input is $[\mathbf e_t; \mathbf o_{t-1}]$, in this order; `W`, an
#   `nn.Parameter` of shape (D, M); `combine`, an `nn.Linear` without bias, the $\mathbf W_o$; `output`, an
#   `nn.Linear`, for $\mathbf U$ and $\mathbf u$. The checks load weights by these names, such as
#   `cell.weight_ih` and `output.bias`.
# - `forward(state, inputs, memory, mask)` takes $\mathbf s_0$ (B, D), the inputs (B, T), the memory (B, S, M)
#   and its mask (B, S), True at real words. It returns the tuple `(logits, weights)` of shapes (B, T, V) and
#   (B, T, S).
#
# **Example.** With `W` all zero every step gives all real words of a source the same weight: 1/3 each to
# three words, and 0 to the padding behind them.
#
# <details><summary>Hint 1</summary>
#
# Besides the word it reads, a step needs two things from the step before. Name them before you write the loop.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# For one step, the scores are (B, S): `memory @ (state @ W)[:, :, None]` has one axis more.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Where a check says that something has no influence, follow that thing through the five lines: in which does
# it enter, and is that the variable of this step or of the one before?
#
# </details>


# %% solution="AttentionDecoder"
class AttentionDecoder(nn.Module):
    """Logits (B, T, V) and weights (B, T, S) of a decoder that attends to a memory (B, S, M).

    Parameters: embedding.weight (V, d), cell.… of a GRU cell, W (D, M), combine.weight (D, D + M),
    output.weight (V, D), output.bias (V,); all float64.
    """

    def __init__(self, vocab_size: int, d_embedding: int, d_hidden: int, d_memory: int):
        super().__init__()
        ### BEGIN SOLUTION
        in_float64 = {"dtype": torch.float64}
        self.embedding = nn.Embedding(vocab_size, d_embedding, **in_float64)
        self.cell = nn.GRUCell(d_embedding + d_hidden, d_hidden, **in_float64)
        self.W = nn.Parameter(torch.zeros(d_hidden, d_memory, **in_float64))
        self.combine = nn.Linear(d_hidden + d_memory, d_hidden, bias=False, **in_float64)
        self.output = nn.Linear(d_hidden, vocab_size, **in_float64)
        ### END SOLUTION

    def forward(self, state: Tensor, inputs: Tensor, memory: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and weights for s_0 (B, D), inputs (B, T), memory (B, S, M) and mask (B, S)."""
        ### BEGIN SOLUTION
        output, all_logits, all_weights = torch.zeros_like(state), [], []
        for x in self.embedding(inputs).unbind(dim=1):
            state = self.cell(torch.cat([x, output], dim=-1), state)  # (B, D)
            scores = (memory @ (state @ self.W)[:, :, None])[:, :, 0]  # (B, S)
            weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
            context = (weights[:, None] @ memory)[:, 0]  # (B, M)
            output = torch.tanh(self.combine(torch.cat([state, context], dim=-1)))  # (B, D)
            all_logits.append(self.output(output))
            all_weights.append(weights)
        return torch.stack(all_logits, dim=1), torch.stack(all_weights, dim=1)
        ### END SOLUTION


# %% provided="attention_decoder_weights"
SIZES = (7, 3, 5, 4)  # of the attention decoder in the visible checks: V, d, D, M


def attention_decoder_weights(draw, vocab_size, d_embedding, d_hidden, d_memory):
    """Random weights of an attention decoder, by name."""
    weights = {"embedding.weight": draw.normal(vocab_size, d_embedding)}
    weights |= gru_weights(draw, "cell", d_embedding + d_hidden, d_hidden)
    weights |= {
        "W": draw.normal(d_hidden, d_memory),
        "combine.weight": draw.normal(d_hidden, d_hidden + d_memory),
    }
    return weights | {
        "output.weight": draw.normal(vocab_size, d_hidden),
        "output.bias": draw.normal(vocab_size),
    }


def two_sources(draw):
    """Arguments of an attention decoder: B = 2, T = 3, sources of 6 and of 4 words, so S = 6."""
    mask = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
    return [draw.normal(2, 5), torch.tensor([[1, 4, 6], [1, 2, 5]]), draw.normal(2, 6, 4), mask]


# %% check="the_attention_decoder_has_its_parameters" points=1
def the_attention_decoder_has_its_parameters(AttentionDecoder):
    """The decoder knows its nine parameters, by the names of the statement, in float64, and no others."""
    of_cell = [f"cell.{kind}" for kind in ("bias_hh", "bias_ih", "weight_hh", "weight_ih")]
    expected = ["W", *of_cell, "combine.weight", "embedding.weight", "output.bias", "output.weight"]
    module = AttentionDecoder(*SIZES)
    assert_equal(sorted(module.gradients()), expected)
    assert_dtype(module.parameters(), torch.float64, what="a parameter")


check(the_attention_decoder_has_its_parameters, AttentionDecoder)


# %% check="with_W_zero_all_real_words_are_alike" points=1
def with_W_zero_all_real_words_are_alike(AttentionDecoder, draw):
    """With W = 0, each of six real words gets 1/6, each of four 1/4, and padding nothing, at every step."""
    weights = attention_decoder_weights(draw, *SIZES) | {"W": torch.zeros(5, 4, dtype=torch.float64)}
    _, answer = with_weights(AttentionDecoder(*SIZES), weights)(*two_sources(draw))
    rows = torch.tensor([[1 / 6] * 6, [1 / 4] * 4 + [0.0] * 2], dtype=torch.float64)
    assert_close(answer, rows[:, None].expand(-1, 3, -1))


check(with_W_zero_all_real_words_are_alike, AttentionDecoder)


# %% check="target_and_source_need_not_be_equally_long" points=1
def target_and_source_need_not_be_equally_long(AttentionDecoder, draw):
    """A target may be shorter or longer than its source, and gradients flow back."""
    decoder = with_weights(AttentionDecoder(*SIZES), attention_decoder_weights(draw, *SIZES))
    for T, S in ((3, 6), (6, 2)):
        arguments = draw.normal(2, 5), draw.integers(0, 7, 2, T), draw.normal(2, S, 4)
        logits, weights = decoder(*arguments, torch.ones(2, S, dtype=torch.bool))
        assert_equal([list(logits.shape), list(weights.shape)], [[2, T, 7], [2, T, S]], what="shapes")
    assert_differentiable(decoder, *arguments, torch.ones(2, S, dtype=torch.bool))


check(target_and_source_need_not_be_equally_long, AttentionDecoder)


# %% check="padding_of_the_source_changes_nothing" points=1
def padding_of_the_source_changes_nothing(AttentionDecoder, draw):
    """Another memory at the padding changes no logit."""
    decoder = with_weights(AttentionDecoder(*SIZES), attention_decoder_weights(draw, *SIZES))
    state, inputs, memory, mask = two_sources(draw)
    logits, _ = decoder(state, inputs, memory, mask)
    other, _ = decoder(state, inputs, memory + 2 * ~mask[..., None], mask)
    assert_close(other, logits)
    assert_depends(logits, decoder(state, inputs, -memory, mask)[0])


check(padding_of_the_source_changes_nothing, AttentionDecoder)


# %% check="pairs_may_change_places" points=1
def pairs_may_change_places(AttentionDecoder, draw):
    """In another order, the sentences of a batch have the same logits and weights, in that order."""
    decoder = with_weights(AttentionDecoder(*SIZES), attention_decoder_weights(draw, *SIZES))
    arguments = two_sources(draw)
    logits, weights = decoder(*arguments)
    other_logits, other_weights = decoder(*(argument.flip(0) for argument in arguments))
    assert_close(other_logits, logits.flip(0), what="logits")
    assert_close(other_weights, weights.flip(0), what="weights")
    assert_depends(logits[0], logits[1])


check(pairs_may_change_places, AttentionDecoder)


# %% check="the_future_does_not_change_the_past" points=1
def the_future_does_not_change_the_past(AttentionDecoder, draw):
    """Another third input changes the third step, and nothing in the first two."""
    decoder = with_weights(AttentionDecoder(*SIZES), attention_decoder_weights(draw, *SIZES))
    state, inputs, memory, mask = two_sources(draw)
    logits, weights = decoder(state, inputs, memory, mask)
    other_logits, other_weights = decoder(state, torch.tensor([[1, 4, 2], [1, 2, 0]]), memory, mask)
    assert_close(other_logits[:, :2], logits[:, :2], what="logits")
    assert_close(other_weights[:, :2], weights[:, :2], what="weights")
    assert_depends(logits[:, 2], other_logits[:, 2])


check(the_future_does_not_change_the_past, AttentionDecoder)


# %% check="the_word_just_read_decides_where_to_look" points=1
def the_word_just_read_decides_where_to_look(AttentionDecoder, draw):
    """Another first input changes the weights of the first step already."""
    decoder = with_weights(AttentionDecoder(*SIZES), attention_decoder_weights(draw, *SIZES))
    state, inputs, memory, mask = two_sources(draw)
    _, weights = decoder(state, inputs, memory, mask)
    _, other = decoder(state, torch.tensor([[3, 4, 6], [0, 2, 5]]), memory, mask)
    assert_depends(weights[0, 0], other[0, 0])
    assert_depends(weights[1, 0], other[1, 0])


check(the_word_just_read_decides_where_to_look, AttentionDecoder)


# %% check="the_first_look_compares_state_and_memory" points=1
def the_first_look_compares_state_and_memory(AttentionDecoder, draw):
    """In the first step, two words' weights have the ratio exp of the difference of their scores s₁ᵀ W h."""
    weights, first = attention_decoder_weights(draw, *SIZES), draw.normal(1, 5) / 2
    weights["W"], memory = weights["W"] / 4, draw.normal(1, 6, 4)
    decoder, mask = with_weights(AttentionDecoder(*SIZES), weights), torch.ones(1, 6, dtype=torch.bool)
    _, answer = decoder(first, torch.tensor([[1, 4]]), memory, mask)
    word_and_no_output = torch.cat([weights["embedding.weight"][1], torch.zeros(5, dtype=torch.float64)])
    state = gru_step(weights, "cell", word_and_no_output, first[0])
    ratios = answer[0, 0, :-1] / answer[0, 0, 1:]
    assert_close(
        ratios, torch.exp(-(memory[0].diff(dim=0) @ weights["W"].T @ state)), what="ratios of weights"
    )


check(the_first_look_compares_state_and_memory, AttentionDecoder)


# %% check="the_context_reaches_the_output" points=1
def the_context_reaches_the_output(AttentionDecoder, draw):
    """Where `combine` cuts the state off and W is 0, the output is the tanh of the mean memory's part."""
    weights, of_context = attention_decoder_weights(draw, *SIZES), draw.normal(5, 4)
    weights |= {"W": torch.zeros(5, 4, dtype=torch.float64)}
    weights |= {"combine.weight": torch.cat([torch.zeros(5, 5, dtype=torch.float64), of_context], dim=1)}
    state, inputs, memory, mask = two_sources(draw)
    logits, _ = with_weights(AttentionDecoder(*SIZES), weights)(state, inputs, memory, mask)
    mean = memory[0].mean(dim=0)
    expected = weights["output.weight"] @ torch.tanh(of_context @ mean) + weights["output.bias"]
    assert_close(logits[0], expected.expand(3, 7))


check(the_context_reaches_the_output, AttentionDecoder)


# %% check="the_state_passes_from_step_to_step" points=1
def the_state_passes_from_step_to_step(AttentionDecoder, draw):
    """Where all outputs are 0 and the cell reads none, another first input still changes the last weights."""
    weights = attention_decoder_weights(draw, *SIZES)
    weights["cell.weight_ih"] = weights["cell.weight_ih"] * torch.tensor([1.0] * 3 + [0.0] * 5)
    weights["combine.weight"] = torch.zeros(5, 9, dtype=torch.float64)
    decoder = with_weights(AttentionDecoder(*SIZES), weights)
    state, inputs, memory, mask = two_sources(draw)
    _, answer = decoder(state, inputs, memory, mask)
    assert_depends(answer[0, 2], decoder(state, torch.tensor([[3, 4, 6], [1, 2, 5]]), memory, mask)[1][0, 2])


check(the_state_passes_from_step_to_step, AttentionDecoder)


# %% check="each_output_is_read_by_the_next_step" points=1
def each_output_is_read_by_the_next_step(AttentionDecoder, draw):
    """Another `combine` leaves the weights of the first step, and changes those of the second."""
    weights = attention_decoder_weights(draw, *SIZES)
    decoder, arguments = AttentionDecoder(*SIZES), two_sources(draw)
    _, answer = with_weights(decoder, weights)(*arguments)
    _, other = with_weights(decoder, weights | {"combine.weight": -weights["combine.weight"]})(*arguments)
    assert_close(other[:, 0], answer[:, 0], what="weights of the first step")
    assert_depends(answer[0, 1], other[0, 1])


check(each_output_is_read_by_the_next_step, AttentionDecoder)


# %% check="other_attention_decoders_have_their_logits" points=3 hidden
def other_attention_decoders_have_their_logits(AttentionDecoder, draw):
    """Other sizes have the logits, weights and gradients of the five lines."""

    def alone(own, state, inputs, memory):
        output, rows = torch.zeros_like(state), []
        for token in inputs.tolist():
            state = gru_step(own, "cell", torch.cat([own["embedding.weight"][token], output]), state)
            shares = (memory @ (own["W"].T @ state)).softmax(0)
            context = (shares[:, None] * memory).sum(0)
            output = torch.tanh(own["combine.weight"] @ torch.cat([state, context]))
            rows.append((own["output.weight"] @ output + own["output.bias"], shares))
        return torch.stack([row[0] for row in rows]), torch.stack([row[1] for row in rows])

    for sizes, lengths, T in (((9, 2, 4, 6), (3, 5), 4), ((5, 4, 3, 2), (4, 2, 3), 5)):
        weights, S = attention_decoder_weights(draw, *sizes), max(lengths) + 1
        state, memory = draw.normal(len(lengths), sizes[2]), draw.normal(len(lengths), S, sizes[3])
        inputs, mask = (
            draw.integers(0, sizes[0], len(lengths), T),
            torch.arange(S) < torch.tensor(lengths)[:, None],
        )
        decoder = with_weights(AttentionDecoder(*sizes), weights)
        logits, shares = decoder(state, inputs, memory, mask)
        own = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
        rows = [alone(own, state[b], inputs[b], memory[b, :n]) for b, n in enumerate(lengths)]
        for b, n in enumerate(lengths):
            assert_close(shares[b, :, :n], rows[b][1], what="weights")
            assert_close(
                shares[b, :, n:], torch.zeros(T, S - n, dtype=torch.float64), what="weights at the padding"
            )
        expected = torch.stack([row[0] for row in rows])
        assert_close(logits, expected, what="logits")
        weighting = draw.normal(*expected.shape)
        (logits * weighting).sum().backward()
        (expected * weighting).sum().backward()
        gradients = decoder.gradients()
        for name, weight in own.items():
            assert_close(gradients[name], weight.grad, what=f"the gradient of {name}")


check(other_attention_decoders_have_their_logits, AttentionDecoder)


# %% [markdown]
# ## Part C. Is it looking at the right word?
#
# Attention weights invite a picture: a row for each word of the target, a column for each word of the source.
# Before anybody reads such a picture, its rows and columns must be the right ones; and where the right
# alignment is known, the picture can be given a mark.

# %% [markdown] exercise="alignment_map" difficulty=1 minutes=10 exempt="gradient"
# ### 15. One map out of a batch
#
# Under teacher forcing a decoder gave the weights of a whole batch, (B, T, S). Its inputs were BOS, then the
# words, so `weights[b, 0]` says where it looked **while it chose** the first word of sentence b, and so on;
# one more row belongs to EOS, and further rows and columns to padding.
#
# Write `alignment_map(weights, sentence, n_target, n_source)`, the map of one sentence: a row for each of its
# `n_target` words (without EOS) and a column for each of its `n_source` source words, and nothing else.
#
# **Example.** The map of the French sentence *le chat dort .* and its source *the cat sleeps .* has four rows
# and four columns, however wide the batch is. Its first row belongs to *le*, which was chosen after reading
# BOS.
#
# <details><summary>Hint 1</summary>
#
# Write the inputs in one column and the words chosen next to them. Which of the two columns labels the rows?
#
# </details>


# %% solution="alignment_map"
def alignment_map(weights: Tensor, sentence: int, n_target: int, n_source: int) -> Tensor:
    """The weights (n_target, n_source) with which one sentence's words were chosen, from those of its batch."""
    ### BEGIN SOLUTION
    return weights[sentence, :n_target, :n_source]
    ### END SOLUTION


# %% check="targets_are_rows_and_sources_columns" points=1
def targets_are_rows_and_sources_columns(alignment_map, draw):
    """The map of 3 target words and 5 source words has 3 rows and 5 columns, whatever the batch."""
    weights = draw.probabilities(2, 6, 8)
    assert_equal(list(alignment_map(weights, 1, 3, 5).shape), [3, 5])


check(targets_are_rows_and_sources_columns, alignment_map)


# %% check="the_first_row_is_of_the_first_word" points=1
def the_first_row_is_of_the_first_word(alignment_map):
    """Where step t looked at source word t alone, the map of a sentence has its ones on the diagonal."""
    weights = torch.eye(6, dtype=torch.float64).expand(3, 6, 6)
    expected = torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], dtype=torch.float64)
    assert_close(alignment_map(weights, 2, 3, 4), expected)


check(the_first_row_is_of_the_first_word, alignment_map)


# %% check="the_map_is_of_one_sentence" points=1
def the_map_is_of_one_sentence(alignment_map, draw):
    """The maps of two sentences hold the weights of these two, as the batch has them."""
    weights = draw.probabilities(3, 6, 5)
    first, third = alignment_map(weights, 0, 5, 4), alignment_map(weights, 2, 5, 4)
    assert_close(first, weights[0, :-1, :-1], what="the first sentence")
    assert_close(third, weights[2, :-1, :-1], what="the third sentence")


check(the_map_is_of_one_sentence, alignment_map)


# %% check="other_sentences_have_their_maps" points=1 hidden
def other_sentences_have_their_maps(alignment_map, draw):
    """Other sentences, longer or shorter than their sources, have their maps."""
    for batch_size, T, S in ((3, 7, 5), (2, 4, 8)):
        weights = draw.probabilities(batch_size, T, S)
        for sentence, n_target, n_source in ((0, T - 1, S - 2), (batch_size - 1, 2, S), (1, T - 2, 3)):
            rows = [[float(weights[sentence, t, s]) for s in range(n_source)] for t in range(n_target)]
            answer = alignment_map(weights, sentence, n_target, n_source)
            assert_close(answer, torch.tensor(rows, dtype=torch.float64))


check(other_sentences_have_their_maps, alignment_map)


# %% [markdown] exercise="alignment_links" difficulty=2 minutes=10
# ### 16. From weights to links
#
# An **alignment** is a list of links (source word, target word), both counted from 0. To read one from a map,
# take for each target word the source word with the largest weight.
#
# Many translators read EOS at the end of the source. It is no word, and decoders like to look at it when they
# need nothing from the source, as for a word that follows from the last ones. A target word whose largest
# weight lies on EOS translates nothing, and gets no link.
#
# Write `alignment_links(weights)` for a map (T, S + 1) whose **last column is EOS**. It returns the links, a
# list of tuples `(s, t)` of ints, in the order of the target words. No row has two largest weights.
#
# **Example.** The map `[[0.3, 0.4, 0.3], [0.05, 0.45, 0.5], [0.8, 0.1, 0.1]]` has the links
# `[(1, 0), (0, 2)]`: the target word 1 looks at EOS.
#
# <details><summary>Hint 1</summary>
#
# Over which axis do you look for the largest weight, if every target word is to choose?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Should EOS take part in the search, or be taken out before it? Try both on the second row of the example.
#
# </details>


# %% solution="alignment_links"
def alignment_links(weights: Tensor) -> list[tuple[int, int]]:
    """Links (source, target) at the largest weight of each row of (T, S + 1), none to EOS, the last column."""
    ### BEGIN SOLUTION
    eos = weights.shape[1] - 1
    return [(source, target) for target, source in enumerate(weights.argmax(dim=1).tolist()) if source != eos]
    ### END SOLUTION


# %% check="the_example_has_two_links" points=1
def the_example_has_two_links(alignment_links):
    """The map of the example has the links (1, 0) and (0, 2)."""
    weights = torch.tensor([[0.3, 0.4, 0.3], [0.05, 0.45, 0.5], [0.8, 0.1, 0.1]])
    assert_equal(alignment_links(weights), [(1, 0), (0, 2)])


check(the_example_has_two_links, alignment_links)


# %% check="every_target_word_chooses" points=1
def every_target_word_chooses(alignment_links):
    """Two target words may look at one source word, which then has two links; another has none."""
    weights = torch.tensor([[0.1, 0.6, 0.2, 0.1], [0.2, 0.7, 0.1, 0.0], [0.5, 0.1, 0.4, 0.0]])
    assert_equal(alignment_links(weights), [(1, 0), (1, 1), (0, 2)])


check(every_target_word_chooses, alignment_links)


# %% check="a_look_at_eos_is_no_link" points=1
def a_look_at_eos_is_no_link(alignment_links):
    """Two words that look at EOS have no link, and the third has its own."""
    weights = torch.tensor([[0.2, 0.3, 0.5], [0.05, 0.05, 0.9], [0.3, 0.6, 0.1]])
    assert_equal(alignment_links(weights), [(1, 2)])


check(a_look_at_eos_is_no_link, alignment_links)


# %% check="a_faint_look_is_a_link_too" points=1
def a_faint_look_is_a_link_too(alignment_links):
    """The largest of many small weights makes a link, and the second largest never does."""
    weights = torch.tensor([[0.18, 0.16, 0.17, 0.22, 0.15, 0.12], [0.02, 0.45, 0.47, 0.02, 0.02, 0.02]])
    assert_equal(alignment_links(weights), [(3, 0), (2, 1)])


check(a_faint_look_is_a_link_too, alignment_links)


# %% check="other_maps_have_their_links" points=2 hidden
def other_maps_have_their_links(alignment_links, draw):
    """Other maps, with more rows than columns or fewer, have their links."""
    for T, S in ((7, 4), (3, 6)):
        weights = draw.probabilities(T, S + 1)
        weights[0, S - 1] = weights[1, S] = weights[2, 0] = weights[-1, 0] = 2.0  # EOS; the first word, twice
        expected = []
        for target, row in enumerate(weights.tolist()):
            source = max(range(S + 1), key=row.__getitem__)
            expected += [(source, target)] if source < S else []
        assert_equal(alignment_links(weights), expected)


check(other_maps_have_their_links, alignment_links)


# %% [markdown] exercise="alignment_error_rate" difficulty=2 minutes=15 forbids="course.evaluation"
# ### 17. A mark for an alignment
#
# For the sentences of our small languages the right links are known. Some are **sure**: this word translates
# that one. Others are only **possible**: of *will dance* and *danseront* nobody can say which of the two
# English words it is, so either counts as right and none is demanded. The sure links are possible too. The
# **alignment error rate** (Och and Ney, 2003) of the links A that were found is, with the sure links S and
# the possible links P,
#
# $$\text{AER} = 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|}$$
#
# Over many sentences, the four numbers are counted over all of them together before anything is divided.
#
# Write `alignment_error_rate(found, sure, possible)`. Each argument is a list with one entry per sentence, a
# list of links `(s, t)`. At least one link is found or sure.
#
# **Example.** One sentence with the four sure links (0, 0), (1, 1), (2, 3) and (3, 4), which also has the
# possible link (2, 2). Found are six: (0, 0), (1, 1), (2, 2), (2, 3), (4, 4) and (3, 5). Three of them are
# sure and four are possible, so the rate is $1 - (3 + 4) / (6 + 4) = 0.3$.
#
# <details><summary>Hint 1</summary>
#
# With sets of tuples, `&` is the intersection. In how many of the two intersections of the example is
# `(1, 1)`, which is sure, and in how many `(2, 2)`, which is only possible?
#
# </details>


# %% solution="alignment_error_rate"
def alignment_error_rate(
    found: list[list[tuple[int, int]]],
    sure: list[list[tuple[int, int]]],
    possible: list[list[tuple[int, int]]],
) -> float:
    """1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|), counted over all sentences together."""
    ### BEGIN SOLUTION
    right, asked = 0, 0
    for a, s, p in zip(found, sure, possible, strict=True):
        right += len(set(a) & set(s)) + len(set(a) & set(p))
        asked += len(set(a)) + len(set(s))
    return 1 - right / asked
    ### END SOLUTION


# %% check="the_example_has_the_rate_0_3" points=1
def the_example_has_the_rate_0_3(alignment_error_rate):
    """The links of the example have the alignment error rate 0.3."""
    sure = [(0, 0), (1, 1), (2, 3), (3, 4)]
    found = [(0, 0), (1, 1), (2, 2), (2, 3), (4, 4), (3, 5)]
    assert_close(alignment_error_rate([found], [sure], [[*sure, (2, 2)]]), 0.3)


check(the_example_has_the_rate_0_3, alignment_error_rate)


# %% check="sure_links_alone_are_no_error" points=1
def sure_links_alone_are_no_error(alignment_error_rate):
    """Who finds the sure links makes no error; who finds none of the possible ones makes only errors."""
    sure, possible = [[(0, 1), (2, 0)]], [[(0, 1), (1, 1), (2, 0), (2, 2)]]
    assert_close(alignment_error_rate(sure, sure, possible), 0.0, what="the sure links")
    assert_close(alignment_error_rate([[(3, 3), (0, 0)]], sure, possible), 1.0, what="wrong links")


check(sure_links_alone_are_no_error, alignment_error_rate)


# %% check="missing_links_are_errors" points=1
def missing_links_are_errors(alignment_error_rate):
    """One right link where four are sure: nothing found is wrong, and the rate is 3/5."""
    sure = [[(n, n) for n in range(4)]]
    assert_close(alignment_error_rate([[(2, 2)]], sure, sure), 0.6)


check(missing_links_are_errors, alignment_error_rate)


# %% check="wrong_links_are_errors" points=1
def wrong_links_are_errors(alignment_error_rate):
    """All four sure links and two wrong ones: nothing is missing, and the rate is 1/5."""
    sure = [[(n, n) for n in range(4)]]
    assert_close(alignment_error_rate([[*sure[0], (0, 1), (3, 2)]], sure, sure), 0.2)


check(wrong_links_are_errors, alignment_error_rate)


# %% check="a_long_sentence_weighs_more" points=1
def a_long_sentence_weighs_more(alignment_error_rate):
    """A sentence of one wrong link beside one of nine right links: 1 of 10 is wrong, so the rate is 1/10."""
    long = [(n, n) for n in range(9)]
    assert_close(alignment_error_rate([[(0, 1)], long], [[(0, 0)], long], [[(0, 0)], long]), 0.1)


check(a_long_sentence_weighs_more, alignment_error_rate)


# %% check="other_alignments_have_their_rate" points=2 hidden
def other_alignments_have_their_rate(alignment_error_rate, draw):
    """Other alignments, with missing, wrong and possible links, have their rate."""
    for lengths in ((5, 9), (7, 4, 6)):
        found, sure, possible, right, asked = [], [], [], 0, 0
        for n in lengths:
            sure.append([(place, target) for target, place in enumerate(draw.permutation(n))])
            doubtful = [(20 + k, k) for k in range(3)]
            possible.append(sure[-1] + doubtful)
            found.append(sure[-1][: n - 2] + doubtful[:1] + [(30, 0), (31, 1), (32, 2)][: n - 3])
            right += 2 * (n - 2) + 1
            asked += len(found[-1]) + n
        assert_close(alignment_error_rate(found, sure, possible), 1 - right / asked)


check(other_alignments_have_their_rate, alignment_error_rate)


# %% provided="translation_task"
import os
import sys
import time
from dataclasses import dataclass, replace
from random import Random

from course.data.translation_pair import TranslationConfig, translation_pairs, translation_vocabularies
from course.data.vocabulary import Vocabulary
from course.models.seq2seq import Seq2Seq, Seq2SeqConfig
from course.plots import heat_map
from course.training import best_device
from course.translation_experiment.parallel_text import ParallelText, parallel_text
from course.translation_experiment.quality import attention_links, error_rate, translations


def translation_task():
    """Training pairs, and a model of lecture 11; COURSE_SCALE=full makes all of it larger."""
    return cut_task(os.environ.get("COURSE_SCALE", "small"))


@cache
def cut_task(scale):
    """The task at a scale: "small" (sentences of up to 9 words) or "full" (up to 25, and a wider model)."""
    is_small = scale == "small"
    pairs_config = TranslationConfig(min_length=5, max_length=9 if is_small else 25)
    training = translation_pairs(pairs_config, 8_000 if is_small else 20_000, Random(0))
    english, french = translation_vocabularies(pairs_config.lexicon)
    width = 48 if is_small else 256
    model_config = Seq2SeqConfig(
        len(english),
        len(french),
        d_embedding=width // 2,
        d_hidden=width,
        attention="additive",
        pad=english.pad,
    )
    text = parallel_text([(pair.source, pair.target) for pair in training], english, french)
    known = {pair.source for pair in training}
    n_steps, device = (400, torch.device("cpu")) if is_small else (2_000, best_device())
    return Task(pairs_config, n_steps, device, known, english, french, model_config, text)


@dataclass(frozen=True)
class Task:
    """What a translator is trained on, and what is needed to ask it new sentences."""

    pairs_config: TranslationConfig
    n_steps: int
    device: torch.device  # where to train
    known: set  # the sources of the training pairs
    english: Vocabulary
    french: Vocabulary
    model_config: Seq2SeqConfig
    text: ParallelText

    @property
    def source(self):
        """The training sources, (N, S) int64, padded with `pad`."""
        return self.text.source.tokens

    @property
    def target(self):
        """Their translations between BOS and EOS, (N, T) int64, padded with `pad`."""
        return self.text.target.tokens

    @property
    def pad(self):
        """The padding word of both languages."""
        return self.french.pad

    def new_pairs(self, seed, n_pairs=150):
        """Sentences that were not trained on, with translation and gold alignment."""
        return translation_pairs(self.pairs_config, n_pairs, Random(f"new {seed}"), exclude=self.known)


def loaded(task, weights):
    """The model of the task with these weights, ready to be asked."""
    model = Seq2Seq(task.model_config)
    model.load_state_dict({name: weight.to(torch.float32) for name, weight in weights.items()})
    return model.eval()


def missing_or_misshapen(task, weights):
    """The first parameter of the model that `weights` lack, or give another shape; None if they fit."""
    if not isinstance(weights, dict):
        return f"a dict from names to tensors is expected, not {type(weights).__name__}"
    expected = {name: list(weight.shape) for name, weight in Seq2Seq(task.model_config).state_dict().items()}
    for name, shape in expected.items():
        found = list(weights[name].shape) if isinstance(weights.get(name), Tensor) else None
        if found != shape:
            return f"{name} should have the shape {shape}" + (
                f", not {found}" if found else ": it is missing"
            )
    return None


def surprise(task, model, pairs):
    """The mean surprise, in nats, of the words of new pairs, and the share of inputs that it repeats."""
    text = parallel_text([(pair.source, pair.target) for pair in pairs], task.english, task.french)
    inputs, targets = text.target.tokens[:, :-1], text.target.tokens[:, 1:]
    is_real = targets != task.pad
    with torch.no_grad():
        log_probs = model(text.source.tokens, inputs)
    assert_close(
        log_probs.exp().sum(-1), torch.ones(inputs.shape), what="sums of probabilities", tolerance=1e-4
    )
    at_targets = log_probs.gather(-1, targets[..., None])[..., 0]
    return -float(at_targets[is_real].mean()), float((log_probs.argmax(-1) == inputs)[is_real].float().mean())


def with_exchanged_sources(pairs):
    """Each translation beside the source of the pair before it: what a model that reads its source minds."""
    return [
        replace(pair, source=other.source) for pair, other in zip(pairs, pairs[-1:] + pairs, strict=False)
    ]


def alignment_error(task, model, pairs):
    """The alignment error rate of the model's weights while the right translations are fed."""
    return error_rate(attention_links(model, pairs, task.english, task.french), pairs)


def free_exact_match(task, model, pairs):
    """The share of sentences that the model, running free and greedily, translates exactly right."""
    text = parallel_text([(pair.source, pair.target) for pair in pairs], task.english, task.french)
    written = translations(model, text, task.french)
    return sum(tuple(words) == pair.target for words, pair in zip(written, pairs, strict=True)) / len(pairs)


def memory_in_use():
    """The largest memory so far, of the GPU where there is one."""
    if torch.cuda.is_available():
        return f"{torch.cuda.max_memory_allocated() / 2**20:.0f} MB of the GPU"
    if sys.platform == "win32":
        return "memory unknown"
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{peak / (2**20 if sys.platform == 'darwin' else 2**10):.0f} MB"


# %% provided="small_translator"
SMALL_CONFIG = Seq2SeqConfig(
    6, 7, d_embedding=1, d_hidden=2, is_bidirectional=False, attention="additive", pad=0
)


def small_translator(weights):
    """A Seq2Seq with these weights, in float64: six source words, seven target words, padding 0, EOS 2."""
    model = Seq2Seq(SMALL_CONFIG).double()
    model.load_state_dict(weights)
    return model


# %% [markdown] exercise="weights_after" difficulty=2 minutes=20 allows="course.models.seq2seq,course.training,course.translation_experiment" exempt="float64"
# ### 18. What a training step does
#
# Before a translator is trained for minutes, its steps are worth a look, on a model so small that some of
# them can be followed by hand. `small_translator(weights)` makes it; `model(source, inputs)` gives the
# **log-probabilities** (B, T, V) of the word after each input. Padding is the word 0, BOS 1 and EOS 2.
#
# Write `weights_after(weights, batches, learning_rate)`. `weights` is a dict from the names of the
# parameters to float64 tensors. `batches` is a list of pairs `(source, target)`, int64 tensors of shapes
# (B, S) and (B, T), and a target stands **between BOS and EOS**, then padded. For each batch in turn take one
# step:
#
# 1. The loss is the mean surprise of the batch's real words, EOS included, when the right words before them
#    are fed.
# 2. The gradient is that of this batch's loss alone.
# 3. If the norm of the gradient, of all parameters together, is above 1, the gradient is shortened to 1;
#    `nn.utils.clip_grad_norm_` may do that.
# 4. From every parameter, `learning_rate` times its gradient is subtracted, nothing else (no Adam, no
#    momentum).
#
# Return the weights after the last step, a dict as `model.state_dict()` gives it.
#
# **Example.** All weights are 0, and the one target is BOS 5 3 EOS. The model gives each of 7 words the
# probability 1/7 everywhere, and only `decoder.output.bias` has a gradient: 1/7 − 1/3 for the words 5, 3 and
# EOS, of which each is a third of what is to be said, and 1/7 for the four others. With a learning rate of
# 0.3, the bias is then +0.0571 for these three and −0.0429 for the others.
#
# <details><summary>Hint 1</summary>
#
# `target` holds both the inputs and the targets of exercise 1. Which column is missing from the one, and
# which from the other?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `backward()` adds to the gradients that are there. What do they hold when your second batch begins?
#
# </details>


# %% solution="weights_after"
def weights_after(
    weights: dict[str, Tensor], batches: list[tuple[Tensor, Tensor]], learning_rate: float
) -> dict[str, Tensor]:
    """The weights of a small translator after one clipped gradient step for each batch."""
    ### BEGIN SOLUTION
    model = small_translator(weights)
    for source, target in batches:
        inputs, targets = target[:, :-1], target[:, 1:]
        log_probs = model(source, inputs).gather(-1, targets[..., None])[..., 0]  # (B, T − 1)
        model.zero_grad()
        (-log_probs[targets != 0].mean()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        with torch.no_grad():  # the step is no part of the next gradient
            for weight in model.parameters():
                weight -= learning_rate * weight.grad
    return model.state_dict()
    ### END SOLUTION


# %% provided="small_weights"
def small_weights(draw=None, scale=1.0):
    """The weights of a small translator by name: all 0, or random ones."""
    shapes = {name: weight.shape for name, weight in Seq2Seq(SMALL_CONFIG).state_dict().items()}
    if draw is None:
        return {name: torch.zeros(shape, dtype=torch.float64) for name, shape in shapes.items()}
    return {name: scale * draw.normal(*shape) for name, shape in shapes.items()}


def a_batch(draw, lengths, more_padding=0):
    """Sources of three words each and targets of these lengths between BOS and EOS, padded."""
    width = max(lengths) + 2 + more_padding
    rows = [[1, *draw.integers(3, 7, n).tolist(), 2] + [0] * (width - n - 2) for n in lengths]
    return draw.integers(1, 6, len(lengths), 3), torch.tensor(rows)


# %% check="the_example_moves_the_constants" points=1
def the_example_moves_the_constants(weights_after):
    """From weights of 0, the target of the example moves the output's constants as shown there."""
    batch = torch.tensor([[3, 4]]), torch.tensor([[1, 5, 3, 2]])
    answer = weights_after(small_weights(), [batch], 0.3)
    share = torch.tensor([0, 0, 1, 1, 0, 1, 0], dtype=torch.float64) / 3
    assert_close(answer["decoder.output.bias"], 0.3 * (share - 1 / 7))


check(the_example_moves_the_constants, weights_after)


# %% check="every_real_word_pulls_alike" points=1
def every_real_word_pulls_alike(weights_after):
    """From weights of 0, a sentence of three words and one of one pull by their six real words, EOS twice."""
    target = torch.tensor([[1, 4, 4, 6, 2], [1, 5, 2, 0, 0]])
    answer = weights_after(small_weights(), [(torch.tensor([[3, 4], [5, 0]]), target)], 0.6)
    share = torch.tensor([0, 0, 2, 0, 2, 1, 1], dtype=torch.float64) / 6
    assert_close(answer["decoder.output.bias"], 0.6 * (share - 1 / 7))


check(every_real_word_pulls_alike, weights_after)


# %% check="each_batch_has_a_gradient_of_its_own" points=1
def each_batch_has_a_gradient_of_its_own(weights_after, draw):
    """Two steps in one call lead where one step leads, followed by another from there."""
    weights, first, second = small_weights(draw), a_batch(draw, (2, 3)), a_batch(draw, (3, 1))
    after_one = weights_after(weights, [first], 0.5)
    one_by_one = weights_after(after_one, [second], 0.5)
    together = weights_after(weights, [first, second], 0.5)
    for name in ("decoder.output.bias", "decoder.output.weight"):
        assert_close(together[name], one_by_one[name], what=f"after both steps, {name}")
        assert_depends(after_one[name], one_by_one[name])


check(each_batch_has_a_gradient_of_its_own, weights_after)


# %% check="a_steep_step_is_shortened" points=1
def a_steep_step_is_shortened(weights_after):
    """Where the model is sure of a wrong word, the step is as long as the learning rate, and no longer."""
    weights, batch = small_weights(), (torch.tensor([[3]]), torch.tensor([[1, 5, 2]]))
    weights["decoder.output.bias"][6] = 40.0
    answer = weights_after(weights, [batch], 0.3)["decoder.output.bias"] - weights["decoder.output.bias"]
    downhill = torch.tensor([0, 0, 0.5, 0, 0, 0.5, -1.0], dtype=torch.float64)
    assert_close(answer, 0.3 * downhill / downhill.norm(), tolerance=1e-5)


check(a_steep_step_is_shortened, weights_after)


# %% check="encoder_and_attention_learn_too" points=1
def encoder_and_attention_learn_too(weights_after, draw):
    """One step changes every tensor of weights, the encoder's and the attention's among them."""
    weights = small_weights(draw, 0.5)
    answer = weights_after(weights, [a_batch(draw, (2, 3, 3))], 0.5)
    assert_equal(sorted(answer), sorted(weights), what="the names of the weights")
    unmoved = [name for name, weight in weights.items() if bool((answer[name] == weight).all())]
    assert_equal(unmoved, [], what="weights that stay as they were")


check(encoder_and_attention_learn_too, weights_after)


# %% check="other_batches_move_the_weights" points=2 hidden
def other_batches_move_the_weights(weights_after, draw):
    """Other batches, steep and flat, move all weights as the gradient of a loop says."""
    for scale, learning_rate, lengths in (
        (0.5, 0.4, ((3, 1), (2, 4, 2))),
        (2.0, 0.2, ((1, 5), (2,), (3, 3))),
    ):
        weights = small_weights(draw, scale)
        batches = [a_batch(draw, each, more_padding=len(each) - 1) for each in lengths]
        expected = {name: weight.clone() for name, weight in weights.items()}
        for source, target in batches:
            model = small_translator(expected)
            surprises = []
            for sentence, row in zip(source, target.tolist(), strict=True):
                words = row[: row.index(2) + 1]
                log_probs = model(sentence[None], torch.tensor([words[:-1]]))[0]
                surprises += [-log_probs[place, word] for place, word in enumerate(words[1:])]
            gradients = torch.autograd.grad(sum(surprises) / len(surprises), list(model.parameters()))
            length = math.sqrt(sum(float((gradient**2).sum()) for gradient in gradients))
            for (name, _), gradient in zip(model.named_parameters(), gradients, strict=True):
                expected[name] = expected[name] - learning_rate * gradient / max(length, 1.0)
        answer = weights_after(weights, batches, learning_rate)
        for name, weight in expected.items():
            assert_close(answer[name], weight, tolerance=1e-5, what=f"after the last step, {name}")


check(other_batches_move_the_weights, weights_after)


# %% [markdown] exercise="trained_weights" difficulty=3 minutes=30 trained="reference" allows="course.models.seq2seq,course.training,course.translation_experiment"
# ### 19. Train one
#
# Now a translator of your own for the small English and the small French of lecture 11. The model is given,
# `Seq2Seq` with additive attention; its learning is yours, and its loss is that of exercise 18.
# `task = translation_task()` has what you need:
#
# | | |
# |---|---|
# | `Seq2Seq(task.model_config)` | a new model; `model(source, inputs)` gives the **log-probabilities** (B, T, V) of the word after each input |
# | `task.source` | (N, S), the sources of 8,000 training pairs, padded |
# | `task.target` | (N, T), their translations **between BOS and EOS**, padded |
# | `task.pad` | the padding word of both |
# | `task.n_steps` | a number of steps that suffices |
# | `task.device` | the CPU, which is quick enough; with COURSE_SCALE=full the GPU if there is one |
# | `task.new_pairs(seed)` | sentences that you do not train on |
# | `surprise(task, model, pairs)`, `alignment_error(…)`, `free_exact_match(…)` | how good the model is on such pairs |
#
# Write `trained_weights()`, which trains and returns the weights, a dict as `model.state_dict()` gives it.
# The grader puts them into its own model, draws new sentences, feeds the right translations and compares your
# model's attention with the gold alignment; then it lets the model run free. On new sentences there must be
#
# | | at most |
# |---|---|
# | surprise per word (each source has one right translation: the floor is about 0) | 0.10 nats |
# | alignment error rate (before any training about 87 %) | 15 % |
# | sentences not translated exactly right, running free | 15 % |
#
# The line `@cache` makes Python remember the answer: the training happens once, in the cell below yours,
# however often the checks ask. It should take well under a minute. Adam with a learning rate of 0.008,
# batches of 64 pairs drawn at random and gradients clipped to a norm of 1 will do.
#
# **Example.** Before any training, with 181 French words, the surprise is about $\ln 181 \approx 5.2$ nats.
#
# <details><summary>Hint 1</summary>
#
# Do the checks of exercise 18 pass? Then only two things are left: drawing row numbers, for which there is
# `torch.randint`, and Adam instead of the plain step.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Print the loss every 50 steps. If it is almost 0 within the first hundred, ask what the decoder was allowed
# to read. If it stays above 1.5, ask whether source and target of a row belong together.
#
# </details>


# %% solution="trained_weights"
@cache
def trained_weights() -> dict[str, Tensor]:
    """The weights, by name, of a Seq2Seq(task.model_config) that has learned to translate."""
    ### BEGIN SOLUTION
    torch.manual_seed(0)
    task, generator = translation_task(), torch.Generator().manual_seed(0)
    model = Seq2Seq(task.model_config).to(task.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
    for _ in range(task.n_steps):
        rows = torch.randint(len(task.source), (64,), generator=generator)
        source, target = task.source[rows].to(task.device), task.target[rows].to(task.device)
        inputs, targets = target[:, :-1], target[:, 1:]
        log_probs = model(source, inputs).gather(-1, targets[..., None])[..., 0]  # (B, T)
        loss = -log_probs[targets != task.pad].mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return {name: weight.detach().cpu() for name, weight in model.state_dict().items()}
    ### END SOLUTION


# %%
begun = time.perf_counter()
trained = trained_weights()
print(f"{time.perf_counter() - begun:.0f} seconds of training, {memory_in_use()}")


# %% check="the_weights_fit_the_model" points=1
def the_weights_fit_the_model(trained_weights):
    """There is a weight of the right shape for every name of the model's parameters."""
    problem = missing_or_misshapen(translation_task(), trained_weights())
    assert_true(problem is None, f"The weights do not fit the model: {problem}.")


check(the_weights_fit_the_model, trained_weights)


# %% check="the_next_word_is_no_surprise" points=1
def the_next_word_is_no_surprise(trained_weights):
    """On new sentences, a word costs at most 0.1 nats when the right words before it are fed."""
    task = translation_task()
    model, pairs = loaded(task, trained_weights()), task.new_pairs("visible")
    nats, repeated = surprise(task, model, pairs)
    elsewhere, _ = surprise(task, model, with_exchanged_sources(pairs))
    hint = f" Beside the source of another sentence it costs {elsewhere:.2f} nats."
    if repeated > 0.5:
        hint = f" At {repeated:.0%} of the places it says the word that it has just read."
    assert_true(nats <= 0.1, f"A word costs {nats:.2f} nats.{hint}")


check(the_next_word_is_no_surprise, trained_weights)


# %% check="the_attention_finds_the_alignment" points=3
def the_attention_finds_the_alignment(trained_weights):
    """On new sentences, the alignment error rate of the attention weights is at most 15 %."""
    task = translation_task()
    rate = alignment_error(task, loaded(task, trained_weights()), task.new_pairs("visible"))
    assert_true(rate <= 0.15, f"The alignment error rate is {rate:.1%}.")


check(the_attention_finds_the_alignment, trained_weights)


# %% check="running_free_it_translates" points=3
def running_free_it_translates(trained_weights):
    """Running free, the model translates at least 85 % of new sentences exactly right."""
    task = translation_task()
    share = free_exact_match(task, loaded(task, trained_weights()), task.new_pairs("visible"))
    assert_true(share >= 0.85, f"{share:.0%} of the sentences are right.")


check(running_free_it_translates, trained_weights)


# %% check="other_new_sentences_are_aligned_and_translated" points=2 hidden
def other_new_sentences_are_aligned_and_translated(trained_weights, draw):
    """Other new sentences are aligned and translated within the same bounds."""
    task = translation_task()
    model, pairs = loaded(task, trained_weights()), task.new_pairs(draw.integers(0, 10**9))
    nats, rate = surprise(task, model, pairs)[0], alignment_error(task, model, pairs)
    share = free_exact_match(task, model, pairs)
    report = f"A word costs {nats:.2f} nats, the error rate is {rate:.1%}, and {share:.0%} are exactly right."
    assert_true(nats <= 0.1 and rate <= 0.15 and share >= 0.85, report)


check(other_new_sentences_are_aligned_and_translated, trained_weights)

# %%
task = translation_task()
[pair] = task.new_pairs("a picture", 1)
text = parallel_text([(pair.source, pair.target)], task.english, task.french)
with torch.no_grad():
    weights = loaded(task, trained).alignment(text.source.tokens, text.target.tokens[:, :-1])[0]
heat_map(
    weights[: len(pair.target)],
    pair.target,
    pair.source,
    row_title="target",
    column_title="source",
    largest=1.0,
)


# %% provided="broken_map"
# For the next exercise: the weights, rounded, of one sentence of a batch. Rows and columns are labelled as exercise 15
# wants them; the other sentence of the batch is two words longer, so the source is followed by padding.
SOURCE = ["the", "black", "cat", "never", "sleeps", ".", "(padding)", "(padding)"]
TARGET = ["le", "chat", "noir", "ne", "dort", "jamais", "."]
GOLD = [(0, 0), (2, 1), (1, 2), (3, 3), (4, 4), (3, 5), (5, 6)]  # links (source, target)
BROKEN_MAP = [
    [0.17, 0.17, 0.17, 0.17, 0.17, 0.17, 0.00, 0.00],
    [0.86, 0.03, 0.03, 0.03, 0.02, 0.03, 0.00, 0.00],
    [0.03, 0.03, 0.86, 0.03, 0.03, 0.03, 0.00, 0.00],
    [0.02, 0.87, 0.03, 0.03, 0.02, 0.03, 0.00, 0.00],
    [0.03, 0.03, 0.02, 0.87, 0.03, 0.03, 0.00, 0.00],
    [0.02, 0.03, 0.03, 0.03, 0.86, 0.03, 0.00, 0.00],
    [0.03, 0.03, 0.02, 0.87, 0.03, 0.03, 0.00, 0.00],
]

# %%
heat_map(BROKEN_MAP, TARGET, SOURCE, row_title="target", column_title="source", largest=1.0)

# %% [markdown] exercise="name_the_fault" difficulty=2 minutes=10
# ### 20. Find the fault
#
# A classmate's attention decoder had learned to translate. Then its code was rewritten to be faster, the
# trained weights were loaded into it, and now it translates badly. The picture above shows the weights of the
# new code for *the black cat never sleeps .* while the right translation is fed; the numbers are in
# `BROKEN_MAP`, the gold alignment is in `GOLD`. Write `name_the_fault()`, which takes nothing and returns the
# name of the one fault:
#
# | name | what the program would do |
# |---|---|
# | `"padding_not_masked"` | take the softmax over all columns, padding included |
# | `"softmax_over_the_targets"` | take the softmax over the rows, so that each source word shares out one |
# | `"axes_swapped"` | write the weights of each target word into a column |
# | `"query_of_the_old_state"` | ask at step t with the state $\mathbf s_{t-1}$, before the word was read |
# | `"rows_labelled_by_inputs"` | label each row with the word that was read, and leave the row of BOS out |
# | `"weights_left_unsharp"` | divide the scores by ten, so that all words weigh about the same |
#
# **Example of the reasoning.** If the row of *le* showed its largest weight at *cat*, where the row of *chat*
# belongs, and every other row that of the next word too, the rows would be labelled with the words that were
# read.
#
# <details><summary>Hint 1</summary>
#
# Add up each row and each column, and look at the padding. Which names are out?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Write next to each row the target word to which its largest weight belongs by `GOLD`. What is left for the
# first row to know?
#
# </details>


# %% solution="name_the_fault"
def name_the_fault() -> str:
    """The name of the one fault behind the map."""
    ### BEGIN SOLUTION
    return "query_of_the_old_state"
    ### END SOLUTION


# %% check="the_fault_keeps_rows_whole_and_padding_dark" points=1
def the_fault_keeps_rows_whole_and_padding_dark(name_the_fault):
    """The answer is one of the six names, and the sums of the map do not speak against it."""
    spoken_against = {
        "padding_not_masked": "The padding has no weight in the picture.",
        "softmax_over_the_targets": "The rows of the picture sum to one, and its columns do not.",
        "axes_swapped": "The rows of the picture sum to one, and its columns do not.",
        "query_of_the_old_state": "",
        "rows_labelled_by_inputs": "",
        "weights_left_unsharp": "Six rows of the picture have one weight above 0.8.",
    }
    answer = name_the_fault()
    assert_true(answer in spoken_against, f"{answer!r} is not one of the six names.")
    assert_true(not spoken_against[answer], spoken_against[answer])


check(the_fault_keeps_rows_whole_and_padding_dark, name_the_fault)


# %% check="the_fault_draws_this_very_map" points=3 hidden
def the_fault_draws_this_very_map(name_the_fault):
    """A decoder with the fault you name, and no other, has exactly this map."""
    scores = torch.zeros(len(TARGET) + 1, len(SOURCE), dtype=torch.float64)  # a row for EOS too
    for row in range(len(TARGET)):
        scores[row] = 0.1 * ((3 * torch.arange(len(SOURCE)) + 2 * row) % 4 - 2.0)
    for source, target in GOLD:
        scores[target, source] = 3.4
    is_word = torch.tensor([not word.startswith("(") for word in SOURCE])
    before = torch.zeros(1, len(SOURCE), dtype=torch.float64)  # nothing was read: all words score alike

    def drawn(fault):
        rows = torch.cat([before, scores]) if fault == "query_of_the_old_state" else scores
        rows = rows / 10 if fault == "weights_left_unsharp" else rows
        shown = is_word | (fault == "padding_not_masked")
        axis = 0 if fault == "softmax_over_the_targets" else 1
        weights = rows.masked_fill(~shown, -math.inf).softmax(axis).nan_to_num()
        weights = weights[1:] if fault == "rows_labelled_by_inputs" else weights[: len(TARGET)]
        return weights.T if fault == "axes_swapped" else weights

    answer = str(name_the_fault())
    assert_close(drawn(answer), torch.tensor(BROKEN_MAP), tolerance=0.012, what="the map with that fault")


check(the_fault_draws_this_very_map, name_the_fault)

# %% [markdown] written="what_three_percent_means" points=4 minutes=15
# ### 21. What the picture proves
#
# Your translator of exercise 19 has some per cent of alignment error although it translates nearly everything
# right.
#
# a) Its errors are not scattered. Where would you look for them first, and why can a word be right while the
# attention looks at the wrong place? (*snowman* is *bonhomme de neige*, *potato* is *pomme de terre*.)
#
# b) Another model reads EOS at the end of the source, and in its map most of the weight of many rows lies on
# EOS or on the full stop before it. A classmate concludes that these target words translate the full stop.
# What else can it mean, in a model whose encoder is recurrent?
#
# c) To show that a target word depends on a source word, what would you do besides looking at weights?
#
# ### BEGIN SOLUTION
# a) (1 point) At words that the last words give away: *de* and *neige* after *bonhomme*, *à coucher*, *ne* …
# *pas*, EOS. The decoder's own state is enough to say them, so the loss does not tell the attention where to
# look.
#
# b) (2 points) The encoder's state at the end has read the whole sentence, so looking there is looking at a
# summary of everything (the bottleneck of part A again), not at the word that stands there. (1 point.) Or the
# decoder needs nothing from the source, and since the weights must sum to one, it puts them where they do
# least harm. (1 point.)
#
# c) (1 point) Change or remove the source word and see whether the probability of the target word changes; or
# the gradient of its log-probability with respect to the source word's embedding.
# ### END SOLUTION
