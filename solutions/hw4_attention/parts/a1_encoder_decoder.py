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
    inputs, targets = decoder_inputs_and_targets([torch.tensor([8, 7, 6]), torch.tensor([5])], 1, 2, 0)
    assert_equal(inputs, torch.tensor([[1, 8, 7, 6], [1, 5, 0, 0]]), what="inputs of two others")
    assert_equal(targets, torch.tensor([[8, 7, 6, 2], [5, 2, 0, 0]]), what="targets of two others")


# %% check="each_target_is_the_next_input" points=1
def each_target_is_the_next_input(decoder_inputs_and_targets, draw):
    """In a sentence without padding, each target is the word that is read next."""
    inputs, targets = decoder_inputs_and_targets([10 + torch.tensor(draw.permutation(6))], 1, 2, 0)
    assert_equal(targets[:, :-1], inputs[:, 1:])


# %% check="every_sentence_begins_with_bos" points=1
def every_sentence_begins_with_bos(decoder_inputs_and_targets, draw):
    """The first input of every sentence is BOS, and BOS is never a target."""
    sentences = [draw.integers(5, 20, length) for length in (3, 6, 2)]
    inputs, targets = decoder_inputs_and_targets(sentences, 4, 2, 0)
    assert_equal(inputs[:, 0], torch.tensor([4, 4, 4]), what="first inputs")
    assert_true(not (targets == 4).any(), "BOS stands among the targets.")


# %% check="every_sentence_is_told_to_end" points=1
def every_sentence_is_told_to_end(decoder_inputs_and_targets, draw):
    """In every row of targets, one EOS stands right behind the words, and then only the padding word, 9."""
    lengths = (3, 6, 2)
    _, targets = decoder_inputs_and_targets([draw.integers(10, 20, n) for n in lengths], 1, 2, 9)
    behind = [row[length:] for row, length in zip(targets.tolist(), lengths, strict=True)]
    assert_equal(behind, [[2, 9, 9, 9], [2], [2, 9, 9, 9, 9]], what="the targets behind the words")


# %% check="nobody_reads_eos" points=1
def nobody_reads_eos(decoder_inputs_and_targets, draw):
    """EOS is never fed to the decoder, not even to that of a shorter sentence."""
    sentences = [draw.integers(5, 20, length) for length in (2, 5, 4)]
    inputs, _ = decoder_inputs_and_targets(sentences, 1, 2, 0)
    assert_equal((inputs == 2).sum(dim=1), torch.tensor([0, 0, 0]), what="EOS among the inputs of each row")


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


# %% [markdown] exercise="Encoder" difficulty=2 minutes=30 dtype="float64"
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


# %% provided="gru_weights" helper
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


# %% provided="assert_made_in_float64" helper
def assert_made_in_float64(module, weights):
    """The parameters of a new module are float64. Known weights are loaded: no draw of new ones matters."""
    module.load_state_dict(weights, strict=False)  # a module may have buffers of its own
    assert_dtype(module.parameters(), torch.float64, what="a parameter")


# %% check="the_encoder_has_its_five_parameters" points=1
def the_encoder_has_its_five_parameters(Encoder, draw):
    """The encoder knows the five parameters, by the names of the statement, in float64, and no others."""
    of_network = [f"network.{kind}_l0" for kind in ("bias_hh", "bias_ih", "weight_hh", "weight_ih")]
    module = Encoder(7, 3, 5)
    assert_equal({*module.gradients()}, {"embedding.weight", *of_network})
    assert_made_in_float64(module, encoder_weights(draw, 7, 3, 5))


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


# %% check="the_summary_is_the_state_at_the_last_word" points=1
def the_summary_is_the_state_at_the_last_word(Encoder, draw):
    """Each summary is the state of its own sentence at its own last word."""
    encoder, lengths = with_weights(Encoder(7, 3, 5), encoder_weights(draw, 7, 3, 5)), torch.tensor([2, 4, 3])
    states, summary = encoder(torch.tensor([[3, 1, 0, 0], [5, 2, 6, 4], [1, 6, 2, 0]]), lengths)
    assert_close(summary, torch.stack([states[0, 1], states[1, 3], states[2, 2]]))


# %% check="more_padding_leaves_the_summary" points=1
def more_padding_leaves_the_summary(Encoder, draw):
    """Three more places of padding, with another padding word, change no summary."""
    encoder, lengths = with_weights(Encoder(7, 3, 5), encoder_weights(draw, 7, 3, 5)), torch.tensor([2, 3])
    _, summary = encoder(torch.tensor([[3, 1, 0], [5, 2, 6]]), lengths)
    _, padded = encoder(torch.tensor([[3, 1, 4, 4, 4, 4], [5, 2, 6, 4, 4, 4]]), lengths)
    _, elsewhere = encoder(torch.tensor([[3, 2, 0], [5, 2, 1]]), lengths)
    assert_close(padded, summary)
    assert_depends(summary, elsewhere)


# %% check="sources_may_change_places" points=1
def sources_may_change_places(Encoder, draw):
    """In another order, the sentences of a batch have the same summaries, in that order."""
    encoder = with_weights(Encoder(7, 3, 5), encoder_weights(draw, 7, 3, 5))
    source, lengths = torch.tensor([[3, 1, 0, 0], [5, 2, 6, 4], [1, 6, 2, 0]]), torch.tensor([2, 4, 3])
    _, summary = encoder(source, lengths)
    _, reordered = encoder(source[[1, 2, 0]], lengths[[1, 2, 0]])
    assert_close(reordered, summary[[1, 2, 0]])
    assert_depends(summary[0], summary[1])


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


# %% [markdown] exercise="Decoder" difficulty=2 minutes=15 dtype="float64"
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


# %% alive="a_drawing_seq2seq"
from course import figures

figures.machine("seq2seq")  # step by step


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


# %% provided="decoder_weights" helper
def decoder_weights(draw, vocab_size, d_embedding, d_hidden):
    """Random weights of a decoder, by name."""
    weights = encoder_weights(draw, vocab_size, d_embedding, d_hidden)
    return weights | {
        "output.weight": draw.normal(vocab_size, d_hidden),
        "output.bias": draw.normal(vocab_size),
    }


# %% check="the_decoder_has_its_seven_parameters" points=1
def the_decoder_has_its_seven_parameters(Decoder, draw):
    """The decoder knows the seven parameters, by the names of the statement, in float64, and no others."""
    of_network = [f"network.{kind}_l0" for kind in ("bias_hh", "bias_ih", "weight_hh", "weight_ih")]
    expected = ["embedding.weight", *of_network, "output.bias", "output.weight"]
    module = Decoder(7, 3, 5)
    assert_equal({*module.gradients()}, {*expected})
    assert_made_in_float64(module, decoder_weights(draw, 7, 3, 5))


# %% check="bos_is_answered_too" points=1
def bos_is_answered_too(Decoder, draw):
    """The first logits come from the state after the first input, and gradients flow back."""
    weights, summary = decoder_weights(draw, 7, 3, 5), draw.normal(1, 5)
    state = gru_step(weights, "network", weights["embedding.weight"][1], summary[0], "_l0")
    decoder, inputs = with_weights(Decoder(7, 3, 5), weights), torch.tensor([[1, 4, 6]])
    logits = decoder(summary, inputs)
    assert_close(logits[0, 0], weights["output.weight"] @ state + weights["output.bias"])
    assert_differentiable(decoder, summary, inputs)


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


# %% check="later_inputs_do_not_change_earlier_logits" points=1
def later_inputs_do_not_change_earlier_logits(Decoder, draw):
    """Other words from the third input on leave the logits of the first two as they are."""
    decoder, summary = with_weights(Decoder(7, 3, 5), decoder_weights(draw, 7, 3, 5)), draw.normal(2, 5)
    logits = decoder(summary, torch.tensor([[1, 4, 6, 3], [1, 2, 5, 3]]))
    other = decoder(summary, torch.tensor([[1, 4, 2, 5], [1, 2, 6, 0]]))
    assert_close(other[:, :2], logits[:, :2])
    assert_depends(logits[:, 0], logits[:, 1])


# %% check="earlier_inputs_are_remembered" points=1
def earlier_inputs_are_remembered(Decoder, draw):
    """Another second input changes the last logits too, three steps later."""
    decoder, summary = with_weights(Decoder(7, 3, 5), decoder_weights(draw, 7, 3, 5)), draw.normal(1, 5)
    logits = decoder(summary, torch.tensor([[1, 4, 6, 3, 2]]))
    assert_depends(logits[:, 4], decoder(summary, torch.tensor([[1, 5, 6, 3, 2]]))[:, 4])


# %% check="another_summary_says_something_else" points=1
def another_summary_says_something_else(Decoder, draw):
    """The same inputs after another summary have other logits."""
    decoder, inputs = (
        with_weights(Decoder(7, 3, 5), decoder_weights(draw, 7, 3, 5)),
        torch.tensor([[1, 4, 6]]),
    )
    summary = draw.normal(1, 5)
    assert_depends(decoder(summary, inputs)[:, 0], decoder(-summary, inputs)[:, 0])


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


# %% [markdown] exercise="sequence_loss" difficulty=2 minutes=20
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
# **Example.** Two sentences with two real targets and one, EOS among them. The model gives these, in order, the
# probabilities 1/2 and 1/4, and 1/2. The loss is $(\ln 2 + \ln 4 + \ln 2) / 3 = \tfrac43 \ln 2 \approx
# 0.9242$, whatever it says at the padding, NaN included.
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
# the weight of the lonely word in the result.
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


# %% check="padding_costs_nothing" points=1
def padding_costs_nothing(sequence_loss, draw):
    """Other logits at the padding leave the loss as it is, at a real word they change it; gradients flow back."""
    logits, targets = draw.normal(2, 4, 5), torch.tensor([[3, 4, 0, 0], [1, 2, 3, 4]])
    lengths, loud = torch.tensor([2, 4]), torch.zeros(2, 4, 5, dtype=torch.float64)
    loud[0, 2:, 1] = 3.0
    answer = sequence_loss(logits, targets, lengths, 0)
    assert_close(sequence_loss(logits + loud, targets, lengths, 0), answer)
    unreadable = torch.where(loud.sum(-1, keepdim=True) > 0, math.nan, logits)
    assert_close(sequence_loss(unreadable, targets, lengths, 0), answer, what="with NaN at the padding")
    assert_depends(answer, sequence_loss(logits - loud.roll(1, dims=0), targets, lengths, 0))
    assert_differentiable(sequence_loss, logits, targets, lengths, 0)


# %% check="wider_batches_cost_the_same" points=1
def wider_batches_cost_the_same(sequence_loss, draw):
    """Two more places of padding leave the loss as it is."""
    logits, lengths = draw.normal(2, 5, 6), torch.tensor([3, 3])
    targets = torch.tensor([[5, 1, 2, 0, 0], [3, 2, 4, 0, 0]])
    answer = sequence_loss(logits[:, :3], targets[:, :3], lengths, 0)
    assert_close(sequence_loss(logits, targets, lengths, 0), answer)
    assert_depends(answer, sequence_loss(2 * logits, targets, lengths, 0))


# %% check="every_word_counts_once" points=1
def every_word_counts_once(sequence_loss, draw):
    """A sentence of one word and one of four cost together a fifth of the one and four fifths of the other."""
    logits, targets = draw.normal(2, 4, 5), torch.tensor([[3, 0, 0, 0], [1, 2, 3, 4]])
    short = sequence_loss(logits[:1, :1], targets[:1, :1], torch.tensor([1]), 0)
    long = sequence_loss(logits[1:], targets[1:], torch.tensor([4]), 0)
    assert_close(sequence_loss(logits, targets, torch.tensor([1, 4]), 0), (short + 4 * long) / 5)
    assert_depends(short, long)


# %% check="eos_is_learned_though_it_looks_like_padding" points=1
def eos_is_learned_though_it_looks_like_padding(sequence_loss):
    """Where EOS and padding are both the word 0, a model that is sure never to end pays for it."""
    logits = torch.full((1, 4, 3), 800.0, dtype=torch.float64)
    logits[0, :, 0] = 770.0  # no end, at any place
    expected = (math.log(2) + 30 + math.log(2)) / 2
    assert_close(sequence_loss(logits, torch.tensor([[2, 0, 0, 0]]), torch.tensor([2]), 0), expected)


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
