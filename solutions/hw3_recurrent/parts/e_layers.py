# %% [markdown]
# ## Part E. Several layers, both directions

# %% [markdown] exercise="StackedRNN" difficulty=2 minutes=20 forbids="torch.nn.RNN,torch.nn.RNNCell,torch.rnn_tanh,torch.rnn_tanh_cell,torch_rnn,by_layers_of_torch" dtype="float64"
# ### 12. Layers on layers
#
# The states of one layer are a text of vectors, so another layer can read them. At each step layer 0 reads
# the word, layer 1 the new state of layer 0 **at the same step**, and so on. Each layer has weights of its
# own and a state of its own.
#
# Write the class `StackedRNN`, an `nn.Module`:
#
# - `StackedRNN(d_input, d_hidden, n_layers)` has, for each layer k = 0, 1, …, the parameters `W_k`, `U_k` and
#   `b_k`, that is `W_0`, `U_0`, `b_0`, `W_1`, …, all float64. `W_0` is (D, d_input), all other `W_k` and all
#   `U_k` are (D, D).
# - `forward(x, h_0)` takes x (B, T, d_input) and the first states of all layers, (L, B, D). It returns the
#   tuple `(states, last)`: the states of the **top** layer at every word, (B, T, D), and the last state of
#   **every** layer, (L, B, D), lowest layer first.
#
# **Example.** Two layers, everything one number wide, `W_0 = W_1 = [[1]]`, `U_0 = U_1 = [[0]]`, no constants:
# the text `[[[1], [0]]]` has the top states $\tanh(\tanh 1) \approx 0.6420$ and 0.
#
# <details><summary>Hint 1</summary>
#
# Take one layer at a time through the whole text: what are its inputs, and what is its first state?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `setattr(self, f"W_{k}", nn.Parameter(...))` gives a parameter a name with a number in it, and `getattr`
# finds it again.
#
# </details>


# %% solution="StackedRNN"
class StackedRNN(nn.Module):
    """Several recurrent layers; layer k has the parameters W_k, U_k, b_k and reads the states of layer k − 1."""

    def __init__(self, d_input: int, d_hidden: int, n_layers: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.n_layers = n_layers
        for k in range(n_layers):
            shapes = {
                "W": (d_hidden, d_input if k == 0 else d_hidden),
                "U": (d_hidden, d_hidden),
                "b": (d_hidden,),
            }
            for name, shape in shapes.items():
                setattr(self, f"{name}_{k}", nn.Parameter(0.1 * torch.randn(shape, dtype=torch.float64)))
        ### END SOLUTION

    def forward(self, x: Tensor, h_0: Tensor) -> tuple[Tensor, Tensor]:
        """The top layer's states (B, T, D) and all layers' last states (L, B, D); h_0 is (L, B, D)."""
        ### BEGIN SOLUTION
        last = []
        for k, h in enumerate(h_0):
            W, U, b = (getattr(self, f"{name}_{k}") for name in "WUb")
            states = []
            for x_t in x.unbind(dim=1):
                h = torch.tanh(x_t @ W.T + h @ U.T + b)
                states.append(h)
            x = torch.stack(states, dim=1)  # what the next layer reads
            last.append(h)
        return x, torch.stack(last)
        ### END SOLUTION


# %% provided="stacked_weights" helper
def stacked_weights(draw, d_input, d_hidden, n_layers):
    """Random weights of all layers, by name."""
    weights = {}
    for k, width in enumerate([d_input] + [d_hidden] * (n_layers - 1)):
        layer = rnn_weights(draw, width, d_hidden)
        weights |= {f"{name}_{k}": weight for name, weight in layer.items()}
    return weights


def by_layers_of_torch(weights, x, h_0):
    """The top states and the last states, each layer being one of torch's own."""
    last = []
    for k in range(len(h_0)):
        layer = torch_rnn(*(weights[f"{name}_{k}"] for name in "WUb"))
        x, h_n = layer(x, h_0[k : k + 1])
        last.append(h_n[0])
    return x.detach(), torch.stack(last).detach()


def stack_of(StackedRNN, weights, n_layers):
    """The student's model of these weights."""
    d_hidden, d_input = weights["W_0"].shape
    return with_weights(StackedRNN(d_input, d_hidden, n_layers), weights)


# %% check="every_layer_has_three_parameters" points=1
def every_layer_has_three_parameters(StackedRNN, draw):
    """Three layers have the parameters W_0, U_0, b_0 to W_2, U_2, b_2, in float64, and no others."""
    model = StackedRNN(3, 5, 3)
    names = sorted(model.gradients())
    assert_equal(names, sorted(f"{name}_{k}" for name in "WUb" for k in range(3)))
    model.load_state_dict(stacked_weights(draw, 3, 5, 3))
    assert_dtype(model.parameters(), torch.float64, what="a parameter")


# %% check="the_example_stack_gives_0_6420" points=1
def the_example_stack_gives_0_6420(StackedRNN):
    """The top states of the example are 0.6420 and 0, and gradients flow back."""
    one, zero = numbers([1.0]), torch.zeros(1).double()
    weights = {"W_0": one, "U_0": 0 * one, "b_0": zero, "W_1": one, "U_1": 0 * one, "b_1": zero}
    model = stack_of(StackedRNN, weights, 2)
    x, h_0 = numbers([[1.0], [0.0]]), torch.zeros(2, 1, 1).double()
    states, _ = model(x, h_0)
    assert_close(states, numbers([[math.tanh(math.tanh(1))], [0.0]]))
    assert_differentiable(model, x, h_0)


# %% check="every_layer_starts_from_its_own_state" points=1
def every_layer_starts_from_its_own_state(StackedRNN, draw):
    """If layer 1 reads nothing (W_1 = 0), the top states depend on its own first state, not on layer 0's."""
    weights = stacked_weights(draw, 3, 5, 2)
    weights["W_1"] = 0 * weights["W_1"]
    model, x, h_0 = stack_of(StackedRNN, weights, 2), draw.normal(2, 4, 3), draw.normal(2, 2, 5)
    other = h_0.clone()
    other[0] += 1
    states = model(x, h_0)[0]
    assert_close(model(x, other)[0], states)
    assert_depends(states, model(x, h_0 + 1)[0])


# %% check="every_layer_uses_its_own_weights" points=1
def every_layer_uses_its_own_weights(StackedRNN, draw):
    """Layers 0 and 1 of three are the two layers that torch makes of the same weights."""
    weights, x, h_0 = stacked_weights(draw, 3, 5, 3), draw.normal(2, 4, 3), draw.normal(3, 2, 5)
    weights |= {"W_2": torch.eye(5).double(), "U_2": 0 * weights["U_2"], "b_2": 0 * weights["b_2"]}
    states, _ = stack_of(StackedRNN, weights, 3)(x, h_0)
    assert_close(states.atanh(), by_layers_of_torch(weights, x, h_0[:2])[0], tolerance=1e-6)


# %% check="last_has_one_row_for_each_layer" points=1
def last_has_one_row_for_each_layer(StackedRNN, draw):
    """The last states are (L, B, D): the first of them is where layer 0 ends, the last where the top one ends."""
    weights, x, h_0 = stacked_weights(draw, 3, 5, 3), draw.normal(2, 4, 3), draw.normal(3, 2, 5)
    states, last = stack_of(StackedRNN, weights, 3)(x, h_0)
    assert_equal(list(last.shape), [3, 2, 5], what="the shape of the last states")
    assert_close(last[2], states[:, -1], what="the last state of the top layer")
    assert_close(last[0], by_layers_of_torch(weights, x, h_0[:1])[1][0], what="the last state of layer 0")


# %% check="other_stacks_agree_with_torch" points=2 hidden
def other_stacks_agree_with_torch(StackedRNN, draw):
    """Stacks of other sizes have the states of layers of torch."""
    for batch_size, length, d_input, d_hidden, n_layers in ((3, 4, 2, 5, 2), (2, 3, 6, 4, 4)):
        weights = stacked_weights(draw, d_input, d_hidden, n_layers)
        x, h_0 = draw.normal(batch_size, length, d_input), draw.normal(n_layers, batch_size, d_hidden)
        states, last = stack_of(StackedRNN, weights, n_layers)(x, h_0)
        expected, expected_last = by_layers_of_torch(weights, x, h_0)
        assert_close(states, expected, what="states")
        assert_close(last, expected_last, what="last")


# %% [markdown] exercise="bidirectional_states" difficulty=3 minutes=30 forbids="torch.nn.RNN,torch.nn.RNNCell,torch.rnn_tanh,torch.rnn_tanh_cell,torch_rnn"
# ### 13. Both directions
#
# Whoever labels a word may look at what comes after it. So a second network, with weights of its own, reads the
# text from its end, and each word gets both states: what was read before it, and what is still to come.
#
# Texts of a batch differ in length; short ones are filled up at the end with **padding**. No real word's
# state may depend on it.
#
# Write `bidirectional_states(x, n_words, forwards, backwards)`. `x` is (B, T, d_input); `n_words`, (B,)
# int64, says how many words of each text are real, at least 1. `forwards` and `backwards` are dicts with the
# weights `"W"`, `"U"` and `"b"` of the two networks. Each step is that of exercise 1, each first state is
# zeros. Return (B, T, 2D): at each real word first the forward state, then the backward state **of this word**;
# zeros at the padding.
#
# **Example.** Everything one number wide, both networks with $W = 1$, $U = 1$, $b = 0$. One text of two real
# words, 1 and 0, and one place of padding, where x is 7. The forward states are $\tanh 1 \approx 0.7616$ and
# $\tanh 0.7616 \approx 0.6420$, the backward states $\tanh(1 + 0) \approx 0.7616$ and $\tanh 0 = 0$. The answer
# is `[[[0.7616, 0.7616], [0.6420, 0], [0, 0]]]`.
#
# <details><summary>Hint 1</summary>
#
# What does the backward network have to read first in a text with padding? Try the example with `x.flip(1)`
# on paper.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# One row at a time it is easy: cut out the real words, turn them round, read, turn the states back. For the
# whole batch at once, a state can be kept at zeros for as long as only padding has been read.
#
# </details>


# %% solution="bidirectional_states"
def bidirectional_states(
    x: Tensor, n_words: Tensor, forwards: dict[str, Tensor], backwards: dict[str, Tensor]
) -> Tensor:
    """Forward and backward state of every real word side by side, (B, T, 2D); zeros at the padding."""
    ### BEGIN SOLUTION
    is_real = torch.arange(x.shape[1]) < n_words[:, None]  # (B, T)

    def read(steps, weights):
        h, states = x.new_zeros(len(x), len(weights["b"])), {}
        for t in steps:
            new = torch.tanh(x[:, t] @ weights["W"].T + h @ weights["U"].T + weights["b"])
            h = torch.where(
                is_real[:, t, None], new, 0.0
            )  # padding comes before anything or after everything
            states[t] = h
        return torch.stack([states[t] for t in sorted(states)], dim=1)  # (B, T, D), in the order of the text

    steps = range(x.shape[1])
    return torch.cat([read(steps, forwards), read(reversed(steps), backwards)], dim=-1)
    ### END SOLUTION


# %% provided="both_directions"
def directions(draw, d_input, d_hidden):
    """Weights of two networks, forwards and backwards."""
    return {
        "forwards": rnn_weights(draw, d_input, d_hidden),
        "backwards": rnn_weights(draw, d_input, d_hidden),
    }


# %% check="the_example_text_is_read_from_both_ends" points=1
def the_example_text_is_read_from_both_ends(bidirectional_states):
    """The three places of the example have the states 0.7616 and 0.7616, 0.6420 and 0, and zeros."""
    network = {"W": numbers([1.0]), "U": numbers([1.0]), "b": torch.zeros(1).double()}
    answer = bidirectional_states(numbers([[1.0], [0.0], [7.0]]), torch.tensor([2]), network, network)
    first = math.tanh(1)
    assert_close(answer, numbers([[first, first], [math.tanh(first), 0.0], [0.0, 0.0]]))


# %% check="the_first_half_knows_the_past" points=1
def the_first_half_knows_the_past(bidirectional_states, draw):
    """Another word at place 2 changes the first half of the states from there on only; gradients flow back."""
    networks, x, n_words = directions(draw, 3, 4), draw.normal(2, 5, 3), torch.tensor([5, 5])
    other = x.clone()
    other[:, 2] += 1
    answer = bidirectional_states(x, n_words, **networks)[..., :4]
    elsewhere = bidirectional_states(other, n_words, **networks)[..., :4]
    assert_close(elsewhere[:, :2], answer[:, :2])
    for place in (2, 3, 4):
        assert_depends(answer[:, place], elsewhere[:, place])
    assert_differentiable(bidirectional_states, x, n_words, networks["forwards"], networks["backwards"])


# %% check="the_second_half_knows_the_future" points=1
def the_second_half_knows_the_future(bidirectional_states, draw):
    """Another word at place 2 changes the second half of the states there and earlier, and not later."""
    networks, x, n_words = directions(draw, 3, 4), draw.normal(2, 5, 3), torch.tensor([5, 5])
    other = x.clone()
    other[:, 2] += 1
    answer = bidirectional_states(x, n_words, **networks)[..., 4:]
    elsewhere = bidirectional_states(other, n_words, **networks)[..., 4:]
    assert_close(elsewhere[:, 3:], answer[:, 3:])
    for place in (0, 1, 2):
        assert_depends(answer[:, place], elsewhere[:, place])


# %% check="each_state_is_one_step_from_its_neighbour" points=1
def each_state_is_one_step_from_its_neighbour(bidirectional_states, draw):
    """Each forward state is a step from the one on its left, and each backward state from the one on its right."""
    networks, x = directions(draw, 3, 4), draw.normal(2, 5, 3)
    answer = bidirectional_states(x, torch.tensor([5, 5]), **networks)

    def step(words, states, network):
        return torch.tanh(words @ network["W"].T + states @ network["U"].T + network["b"])

    there, back = answer[..., :4], answer[..., 4:]
    assert_close(there[:, 1:], step(x[:, 1:], there[:, :-1], networks["forwards"]), what="the first half")
    assert_close(back[:, :-1], step(x[:, :-1], back[:, 1:], networks["backwards"]), what="the second half")
    assert_depends(there, back)


# %% check="padding_does_not_change_real_words" points=1
def padding_does_not_change_real_words(bidirectional_states, draw):
    """A text has the same states alone and with padding, whatever numbers stand there."""
    networks, x = directions(draw, 3, 4), draw.normal(2, 6, 3)
    answer = bidirectional_states(x, torch.tensor([6, 3]), **networks)
    alone = bidirectional_states(x[1:, :3], torch.tensor([3]), **networks)
    assert_close(answer[1:, :3], alone)
    assert_depends(alone[:, 0], alone[:, 1])


# %% check="padding_has_zeros" points=1
def padding_has_zeros(bidirectional_states, draw):
    """All states at places of padding are zeros, and those of real words are not."""
    answer = bidirectional_states(draw.normal(2, 6, 3), torch.tensor([6, 2]), **directions(draw, 3, 4))
    assert_close(answer[1, 2:], torch.zeros(4, 8).double())
    assert_true((answer[1, :2] != 0).all(), "A real word has zeros.")


# %% check="each_direction_has_its_own_weights" points=1
def each_direction_has_its_own_weights(bidirectional_states, draw):
    """Exchanging the two networks and turning the text round exchanges the halves and turns them round."""
    x, n_words, networks = draw.normal(2, 5, 3), torch.tensor([5, 5]), directions(draw, 3, 4)
    answer = bidirectional_states(x, n_words, **networks)
    turned = bidirectional_states(x.flip(1), n_words, networks["backwards"], networks["forwards"])
    assert_close(turned.flip(1).roll(4, dims=2), answer)
    assert_depends(answer[..., 4:], bidirectional_states(x, n_words, *[networks["forwards"]] * 2)[..., 4:])


# %% check="other_texts_are_read_from_both_ends" points=3 hidden
def other_texts_are_read_from_both_ends(bidirectional_states, draw):
    """Other texts, padded or full, have the states of two networks of torch."""
    for n_words, d_input, d_hidden in (((4, 7, 1), 2, 5), ((3, 2, 5, 5), 4, 3)):
        networks, x = directions(draw, d_input, d_hidden), draw.normal(len(n_words), max(n_words), d_input)
        answer = bidirectional_states(x, torch.tensor(n_words), **networks)
        expected = torch.zeros(*x.shape[:2], 2 * d_hidden).double()
        for row, n in enumerate(n_words):
            there, _ = torch_rnn(**networks["forwards"])(x[row : row + 1, :n])
            back, _ = torch_rnn(**networks["backwards"])(x[row : row + 1, :n].flip(1))
            expected[row, :n] = torch.cat([there[0], back[0].flip(0)], dim=-1).detach()
        assert_close(answer, expected)


# %% [markdown] exercise="text_vectors" bonus difficulty=1 minutes=5
# ### 14. One vector for the whole text (bonus)
#
# A classifier needs one vector for the whole text: from each direction the state that has read **all** of it.
#
# Write `text_vectors(states, n_words)`. `states` (B, T, 2D) are bidirectional states as in exercise 13,
# forward half first; `n_words` (B,) counts the real words of each text, the rest is padding. Return (B, 2D): the
# forward half of the state that has read the whole text, and then the backward half of the one that has.
#
# **Example.** $D = 1$, one text of three real words in four places: `[[[1, 2], [6, 5], [3, 4], [0, 0]]]` gives
# `[[3, 2]]`.
#
# <details><summary>Hint 1</summary>
#
# The forward network ends at the last real word. At which word does the backward network end?
#
# </details>


# %% solution="text_vectors"
def text_vectors(states: Tensor, n_words: Tensor) -> Tensor:
    """From bidirectional states (B, T, 2D), the two that have read the whole text, side by side (B, 2D)."""
    ### BEGIN SOLUTION
    d_hidden = states.shape[-1] // 2
    forwards = states[torch.arange(len(states)), n_words - 1, :d_hidden]
    return torch.cat([forwards, states[:, 0, d_hidden:]], dim=-1)
    ### END SOLUTION


# %% check="the_example_vector_is_3_2" points=1
def the_example_vector_is_3_2(text_vectors):
    """The text of the example has the vector (3, 2)."""
    states = numbers([[1.0, 2.0], [6.0, 5.0], [3.0, 4.0], [0.0, 0.0]])
    assert_close(text_vectors(states, torch.tensor([3])), numbers([3.0, 2.0]))


# %% check="each_half_has_read_the_whole_text" points=1
def each_half_has_read_the_whole_text(text_vectors):
    """If every state holds the number of words it has read, both halves hold the length; gradients flow back."""
    n_words = torch.tensor([5, 2, 3])
    places = torch.arange(5)
    there, back = (places + 1).expand(3, 5), n_words[:, None] - places
    states = torch.stack([there, there, back, back], dim=-1) * (places < n_words[:, None])[..., None]
    assert_close(text_vectors(states.double(), n_words), n_words[:, None].expand(3, 4).double())
    assert_differentiable(text_vectors, states.double(), n_words)


# %% check="other_texts_have_their_vectors" points=1 hidden
def other_texts_have_their_vectors(text_vectors, draw):
    """Other texts, full and padded, have the vectors of their two ends."""
    for d_hidden, lengths in ((3, (4, 6, 1)), (2, (5, 3, 2, 5))):
        n_words = torch.tensor(lengths)
        states = draw.normal(len(lengths), max(lengths), 2 * d_hidden)
        states *= (torch.arange(max(lengths)) < n_words[:, None])[..., None]
        expected = [
            torch.cat([row[n - 1][:d_hidden], row[0][d_hidden:]])
            for row, n in zip(states, lengths, strict=True)
        ]
        assert_close(text_vectors(states, n_words), torch.stack(expected))


# %% [markdown] exercise="top_states" bonus difficulty=1 minutes=5
# ### 15. Reading torch's h_n (bonus)
#
# `torch.nn.RNN` with several layers and both directions returns its last states as one tensor `h_n` of shape
# (2·L, B, D). Its rows are, in this order: layer 0 forwards, layer 0 backwards, layer 1 forwards, layer 1
# backwards, …
#
# Write `top_states(h_n, n_layers)`, which returns (B, 2D): for each text the forward and then the backward
# last state of the **top** layer.
#
# **Example.** Two layers, one text, $D = 1$: `h_n = [[[1]], [[2]], [[3]], [[4]]]` gives `[[3, 4]]`.
#
# <details><summary>Hint 1</summary>
#
# Give `h_n` four axes: which of layers and directions changes faster along its rows?
#
# </details>


# %% solution="top_states"
def top_states(h_n: Tensor, n_layers: int) -> Tensor:
    """The top layer's last states of both directions, (B, 2D), from torch's h_n (2·L, B, D)."""
    ### BEGIN SOLUTION
    forwards, backwards = h_n.unflatten(0, (n_layers, 2))[-1]
    return torch.cat([forwards, backwards], dim=-1)
    ### END SOLUTION


# %% check="the_example_states_are_3_and_4" points=1
def the_example_states_are_3_and_4(top_states):
    """The last states of the example are 3 and 4."""
    assert_close(top_states(numbers([[1.0]], [[2.0]], [[3.0]], [[4.0]]), 2), numbers([3.0, 4.0]))


# %% check="each_text_keeps_its_own_states" points=1
def each_text_keeps_its_own_states(top_states, draw):
    """Another order of the texts gives the same vectors in that order, and gradients flow back."""
    h_n = draw.normal(6, 4, 3)
    answer = top_states(h_n, 3)
    assert_equal(list(answer.shape), [4, 6], what="the shape")
    assert_close(top_states(h_n[:, [2, 0, 3, 1]], 3), answer[[2, 0, 3, 1]])
    assert_depends(answer, top_states(h_n + 1, 3))
    assert_differentiable(top_states, h_n, 3)


# %% check="the_top_of_three_layers_is_found" points=1
def the_top_of_three_layers_is_found(top_states):
    """Of three layers, with the numbers 0 to 5 in the six rows of h_n, each text has 4 and 5, one after the other."""
    h_n = torch.arange(6.0).double()[:, None, None].expand(6, 4, 2)
    assert_close(top_states(h_n, 3), numbers([4.0, 4.0, 5.0, 5.0]).expand(4, 4))


# %% check="other_layers_agree_with_torch" points=1 hidden
def other_layers_agree_with_torch(top_states, draw):
    """For torch's networks, they are the outputs after the last word (forwards) and the first (backwards)."""
    for d_hidden, n_layers in ((4, 3), (3, 1), (2, 2)):
        layer = nn.RNN(5, d_hidden, n_layers, batch_first=True, bidirectional=True).double()
        for parameter in layer.parameters():
            parameter.data = draw.normal(*parameter.shape) / 2
        output, h_n = layer(draw.normal(3, 6, 5))
        expected = torch.cat([output[:, -1, :d_hidden], output[:, 0, d_hidden:]], dim=-1)
        assert_close(top_states(h_n.detach(), n_layers), expected.detach())
