# %% provided="a_small_layer"
class Layer(nn.Module):
    """A stand-in for a pre-norm block: x + tanh(W x + b). Like a block, it adds something to x."""

    def __init__(self, d_model):
        super().__init__()
        self.linear = nn.Linear(d_model, d_model)

    def forward(self, x):
        return x + torch.tanh(self.linear(x))


def stack_weights_of(draw, n_layers, d_model):
    """Weights of a stack of small layers and of its last norm."""
    weights = {"norm.weight": 1 + 0.3 * draw.normal(d_model), "norm.bias": 0.3 * draw.normal(d_model)}
    for index in range(n_layers):
        layer = layers_of(draw, linear=(d_model, d_model))
        weights |= {f"layers.{index}.{name}": weight for name, weight in layer.items()}
    return weights


# %% [markdown] exercise="Stack" bonus difficulty=2 minutes=10
# ### 28. A stack of layers (bonus)
#
# A Transformer is a stack of blocks, each with weights of its own, one after the other. In a pre-norm model
# nothing normalises the sum that runs through all of them, so one last norm stands at the end.
#
# Write the class `Stack`, an `nn.Module`. To see nothing but the stack, its layers are small: `Layer(d_model)`,
# given above, computes $x + \tanh(W x + b)$.
#
# - `Stack(n_layers, d_model)` has `layers`, an `nn.ModuleList` of `n_layers` Layers, and `norm`, an
#   `nn.LayerNorm(d_model)`. Its parameters are `layers.0.linear.weight`, `layers.0.linear.bias`,
#   `layers.1.linear.weight`, …, `norm.weight` and `norm.bias`.
# - `forward(x)` takes x (B, T, D), sends it through layer 0, layer 1, …, and then through the norm.
#
# **Example.** With all weights and biases of the layers 0 they add nothing, and $(1, 3)$ comes out as $(-1, 1)$, but for
# $\epsilon$. A stack of three layers has 3 · 2 + 2 = 8 tensors to learn.
#
# <details><summary>Hint 1</summary>
#
# `[Layer(d_model)] * 3` is a list with three entries. How many Layers are made?
#
# </details>


# %% solution="Stack"
class Stack(nn.Module):
    """Layers with weights of their own, one after the other, then a norm; parts layers and norm."""

    def __init__(self, n_layers: int, d_model: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.layers = nn.ModuleList([Layer(d_model) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """The output (B, T, D) of the last norm."""
        ### BEGIN SOLUTION
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)
        ### END SOLUTION


# %% check="three_layers_have_eight_parameters" points=1
def three_layers_have_eight_parameters(Stack):
    """A stack of three layers knows the parameters of the three layers and of the norm."""
    names = [f"layers.{index}.linear.{kind}" for index in range(3) for kind in ("bias", "weight")]
    assert_equal({*Stack(3, 4).gradients()}, {*names, "norm.bias", "norm.weight"})


# %% check="every_layer_uses_its_own_weights" points=1
def every_layer_uses_its_own_weights(Stack, draw):
    """Three layers whose biases add 0.5, 0.3 and 0.1 to one number each add them all; gradients flow back."""
    added = torch.tensor([[0.5, 0, 0, 0, 0], [0, 0.3, 0, 0, 0], [0, 0, 0.1, 0, 0]]).double()
    weights = {f"layers.{index}.linear.weight": torch.zeros(5, 5).double() for index in range(3)}
    weights |= {f"layers.{index}.linear.bias": added[index].atanh() for index in range(3)}
    weights |= {"norm.weight": 1 + draw.uniform(5), "norm.bias": draw.normal(5)}
    x = draw.normal(2, 4, 5)
    expected = functional.layer_norm(x + added.sum(0), (5,), weights["norm.weight"], weights["norm.bias"])
    stack = with_weights(Stack(3, 5), weights)
    assert_close(stack(x), expected)
    assert_differentiable(stack, x)


# %% check="what_leaves_the_stack_is_normalised" points=1
def what_leaves_the_stack_is_normalised(Stack, draw):
    """With gain 1 and bias 0 in the norm every output has mean 0 and variance 1, and depends on the input."""
    weights = stack_weights_of(draw, 2, 5)
    weights |= {"norm.weight": torch.ones(5).double(), "norm.bias": torch.zeros(5).double()}
    model, x = with_weights(Stack(2, 5), weights), 4 * draw.normal(2, 3, 5)
    answer = model(x)
    assert_close(answer.mean(-1), torch.zeros(2, 3).double(), what="the means")
    assert_close(answer.square().mean(-1), torch.ones(2, 3).double(), tolerance=1e-3, what="the variances")
    assert_depends(answer, model(-x))


# %% check="layers_come_in_their_order" points=1
def layers_come_in_their_order(Stack, draw):
    """Two layers are layer 0 and then layer 1, not at once nor the other way round."""
    weights, x = stack_weights_of(draw, 2, 5), draw.normal(2, 3, 5)
    expected = x
    for index in range(2):
        linear = (weights[f"layers.{index}.linear.{kind}"] for kind in KINDS)
        expected = expected + functional.linear(expected, *linear).tanh()
    expected = functional.layer_norm(expected, (5,), weights["norm.weight"], weights["norm.bias"])
    assert_close(with_weights(Stack(2, 5), weights)(x), expected)


# %% check="other_stacks_have_their_outputs_and_gradients" points=2 hidden
def other_stacks_have_their_outputs_and_gradients(Stack, draw):
    """Other stacks have the outputs of their layers, and their gradients."""
    for n_layers, d_model, shape in ((3, 6, (2, 4)), (5, 3, (1, 2)), (2, 4, (3, 1))):
        weights, x = stack_weights_of(draw, n_layers, d_model), draw.normal(*shape, d_model)
        model = with_weights(Stack(n_layers, d_model), weights)
        own = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
        expected = x
        for index in range(n_layers):
            linear = (own[f"layers.{index}.linear.{kind}"] for kind in KINDS)
            expected = expected + functional.linear(expected, *linear).tanh()
        expected = functional.layer_norm(expected, (d_model,), own["norm.weight"], own["norm.bias"])
        output, upstream = model(x), draw.normal(*x.shape)
        assert_close(output, expected, what="the output")
        (output * upstream).sum().backward()
        (expected * upstream).sum().backward()
        gradients = model.gradients()
        for name, weight in own.items():
            assert_close(gradients[name], weight.grad, what=f"the gradient of {name}")


# %% [markdown] exercise="TiedModel" bonus difficulty=2 minutes=10
# ### 29. Tied weights (bonus)
#
# A language model has a table of embeddings (V, D) at its entrance and a matrix (V, D) at its exit that scores
# every word. Both say what a word is like, and the paper uses **one** tensor for both: it is stored once, and
# its gradient is the sum of what comes from both ends.
#
# Write the class `TiedModel`, an `nn.Module`:
#
# - `TiedModel(vocab_size, d_model)` has the parameters `embedding.weight` (V, D), `hidden.weight` (D, D) and
#   `hidden.bias` (D,), and no others: `embedding` is an `nn.Embedding`, `hidden` an `nn.Linear`. If you
#   also keep an output layer, call it `output` and let its weight be the same parameter.
# - `forward(tokens)` takes tokens (B, T) int64 and returns the logits $E \tanh(W E_{x_t} + b)$, (B, T, V), with
#   $E$ = `embedding.weight`, $W$ = `hidden.weight` and $b$ = `hidden.bias`.
#
# **Example.** V = 2, D = 1, E = [[1], [2]], W = 2, b = 0. The token 0 has the logits $(\tanh 2, 2 \tanh 2)
# \approx (0.964, 1.928)$.
#
# <details><summary>Hint 1</summary>
#
# A tensor that is copied is another tensor from then on, whatever it holds. Can the forward pass use
# `self.embedding.weight` twice?
#
# </details>


# %% solution="TiedModel"
class TiedModel(nn.Module):
    """Logits E tanh(W E[x] + b) with one E at both ends; layers embedding (V, D) and hidden (D to D)."""

    def __init__(self, vocab_size: int, d_model: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.hidden = nn.Linear(d_model, d_model)
        ### END SOLUTION

    def forward(self, tokens: Tensor) -> Tensor:
        """The logits (B, T, V) for tokens (B, T)."""
        ### BEGIN SOLUTION
        h = torch.tanh(self.hidden(self.embedding(tokens)))  # (B, T, D)
        return h @ self.embedding.weight.T  # (B, T, V)
        ### END SOLUTION


# %% provided="tied_weights" helper
def tied_model(TiedModel, embedding, weight, bias):
    """The student's model in float64 with these weights, under both names that the embedding may have."""
    model = TiedModel(*embedding.shape)
    model.double()
    named = {"embedding.weight": embedding, "output.weight": embedding}
    model.load_state_dict(named | {"hidden.weight": weight, "hidden.bias": bias}, strict=False)
    return model


def tied_names(gradients):
    """Gradients by name, where the one weight of both ends is called that of the embedding."""
    other = "embedding.weight" if "embedding.weight" not in gradients else "output.weight"
    return {other if name == "output.weight" else name: gradient for name, gradient in gradients.items()}


def tied_logits(embedding, weight, bias, tokens):
    """The logits of the formula."""
    return torch.einsum("btd,vd->btv", (embedding[tokens] @ weight.T + bias).tanh(), embedding)


# %% check="the_model_has_three_parameters" points=1
def the_model_has_three_parameters(TiedModel):
    """The model knows the parameters embedding.weight, hidden.weight and hidden.bias, and no others."""
    names = ["embedding.weight", "hidden.bias", "hidden.weight"]
    assert_equal({*tied_names(TiedModel(7, 3).gradients())}, {*names})


# %% check="the_example_token_has_its_logits" points=1
def the_example_token_has_its_logits(TiedModel):
    """In the example the token 0 has the logits tanh 2 and 2·tanh 2, and gradients flow back."""
    two, zero = torch.full((1, 1), 2.0).double(), torch.zeros(1).double()
    model = tied_model(TiedModel, torch.tensor([[1.0], [2.0]]).double(), two, zero)
    expected = torch.tensor([[[math.tanh(2), 2 * math.tanh(2)]]]).double()
    assert_close(model(torch.tensor([[0]])), expected)
    assert_differentiable(model, torch.tensor([[0]]))


# %% check="both_ends_teach_the_embedding" points=1
def both_ends_teach_the_embedding(TiedModel, draw):
    """Two texts have their logits, and the embedding's gradient is the sum of those from entrance and exit."""
    weights = draw.normal(7, 3), draw.normal(3, 3), draw.normal(3)
    model, own, tokens = (
        tied_model(TiedModel, *weights),
        weights[0].clone().requires_grad_(),
        torch.tensor([[4, 1], [2, 6]]),
    )
    logits, expected = model(tokens), tied_logits(own, *weights[1:], tokens)
    assert_close(logits, expected, what="the logits")
    logits.square().sum().backward()
    expected.square().sum().backward()
    assert_close(tied_names(model.gradients())["embedding.weight"], own.grad)


# %% check="other_models_have_tied_logits_and_gradients" points=2 hidden
def other_models_have_tied_logits_and_gradients(TiedModel, draw):
    """Other models have the logits of the formula, and its gradients."""
    for vocab_size, d_model, shape in ((5, 4, (3, 2)), (4, 6, (2, 5))):
        own = [draw.normal(*size) for size in ((vocab_size, d_model), (d_model, d_model), (d_model,))]
        own = [weight.requires_grad_() for weight in own]
        model = tied_model(TiedModel, *(weight.detach() for weight in own))
        tokens = draw.integers(0, vocab_size, *shape)
        logits, expected = model(tokens), tied_logits(*own, tokens)
        assert_close(logits, expected, what="the logits")
        upstream = draw.normal(*expected.shape)
        (logits * upstream).sum().backward()
        (expected * upstream).sum().backward()
        gradients = tied_names(model.gradients())
        for name, weight in zip(("embedding.weight", "hidden.weight", "hidden.bias"), own, strict=True):
            assert_close(gradients[name], weight.grad, what=f"the gradient of {name}")


# %% provided="encoder_of_torch" helper


def encoder_weights_of(draw, n_layers, d_model, d_ff):
    """All weights of an encoder, under the names of exercise 30."""
    blocks = [block_weights_of(draw, d_model, d_ff) for _ in range(n_layers)]
    return {f"layers.{index}.{name}": w for index, block in enumerate(blocks) for name, w in block.items()}


def encoder_of_torch(weights, n_layers, n_heads, x, mask=None):
    """What `torch.nn.TransformerEncoder`, post-norm, computes with these weights."""
    named = {}
    for prefix in (f"layers.{index}." for index in range(n_layers)):
        own = {name.removeprefix(prefix): w for name, w in weights.items() if name.startswith(prefix)}
        named |= {prefix + name: weight for name, weight in named_as_in_torch(own).items()}
    d_ff, d_model = weights["layers.0.feed_forward.expand.weight"].shape
    layer = nn.TransformerEncoderLayer(
        d_model, n_heads, d_ff, dropout=0.0, batch_first=True, dtype=torch.float64
    )
    encoder = nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
    options = {"mask": hidden_from(x, n_heads, mask)}
    return torch.func.functional_call(encoder, named, (x,), options)


# %% [markdown] exercise="TransformerEncoder" difficulty=2 minutes=20 forbids="torch.nn.functional.multi_head_attention_forward,torch.nn.MultiheadAttention,torch.nn.Transformer,torch.nn.TransformerEncoder,torch.nn.TransformerEncoderLayer,torch.nn.TransformerDecoder,torch.nn.TransformerDecoderLayer,torch.nn.attention,course.models" allows="course.mine.ready.hw5_transformer.SelfAttention,course.mine.ready.hw5_transformer.TwoLayers"
# ### 30. The encoder
#
# Everything together: the encoder of the paper, a stack of post-norm blocks. With the same weights it must give
# the numbers of `torch.nn.TransformerEncoder`, and the same gradients.
#
# Write the class `TransformerEncoder`, an `nn.Module`:
#
# - `TransformerEncoder(n_layers, d_model, n_heads, d_ff)` has `layers`, an `nn.ModuleList` of `n_layers` blocks of
#   exercise 26. So `layers.0.attention.W_query.weight` and `layers.0.feed_forward.expand.weight` are among its
#   parameters, 16 tensors for each layer.
# - `forward(x, mask=None)` takes x (B, T, D) and a mask that broadcasts to (B, H, T, T), True = may be attended to,
#   and returns (B, T, D). Every layer sees the mask. There is no dropout, nor a norm after the last layer: that
#   layer ends with one.
#
# Your `PostNormBlock` is a part to use here, and if it is wrong, so is the encoder. No ready-made layer or encoder.
#
# **Example.** If in every layer all weights and biases are 0 but those of the norms, whose gain is 1 and whose bias is 0,
# every token is only normalised again and again: $(1, 3)$ becomes $(-1, 1)$, but for $\epsilon$, whatever the
# number of layers.
#
# <details><summary>Hint 1</summary>
#
# Six lines are enough. How many times is `PostNormBlock(…)` called for three layers?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# If the outputs are right without a mask and wrong with one: does every layer get it, and does it stand before
# the softmax? If they are right for one layer only: how many layers did you make?
#
# </details>


# %% solution="TransformerEncoder"
class TransformerEncoder(nn.Module):
    """A stack of post-norm blocks, the encoder of Vaswani and others (2017); part layers."""

    def __init__(self, n_layers: int, d_model: int, n_heads: int, d_ff: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.layers = nn.ModuleList([PostNormBlock(d_model, n_heads, d_ff) for _ in range(n_layers)])
        ### END SOLUTION

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """The encoded tokens (B, T, D); mask as (B, H, T, T), True = may be attended to."""
        ### BEGIN SOLUTION
        for layer in self.layers:
            x = layer(x, mask)
        return x
        ### END SOLUTION


# %% check="two_layers_have_thirty_two_parameters" points=1
def two_layers_have_thirty_two_parameters(TransformerEncoder, draw):
    """An encoder of two layers knows 16 parameters for each, under their names."""
    names = encoder_weights_of(draw, 2, 4, 3)
    assert_equal({*TransformerEncoder(2, 4, 2, 3).gradients()}, {*names})


# %% check="silent_layers_only_normalise" points=1
def silent_layers_only_normalise(TransformerEncoder):
    """With silent layers (1, 3) becomes (-1, 1) and (8, 4) becomes (1, -1), whatever the number of layers."""
    shapes = {f"attention.W_{part}": (2, 2) for part in ("query", "key", "value", "output")}
    shapes |= {"feed_forward.expand": (3, 2), "feed_forward.contract": (2, 3)}
    for n_layers in (1, 3):
        weights = {}
        for index in range(n_layers):
            for name, (n_out, n_in) in shapes.items():
                weights[f"layers.{index}.{name}.weight"] = torch.zeros(n_out, n_in).double()
                weights[f"layers.{index}.{name}.bias"] = torch.zeros(n_out).double()
            weights |= {f"layers.{index}.{name}": weight for name, weight in plain_norms(2).items()}
        model = with_weights(TransformerEncoder(n_layers, 2, 1, 3), weights)
        answer = model(torch.tensor([[[1.0, 3.0], [8.0, 4.0]]]).double())
        assert_close(answer, torch.tensor([[[-1.0, 1.0], [1.0, -1.0]]]).double(), tolerance=1e-4)


# %% check="the_encoder_is_that_of_torch" points=2
def the_encoder_is_that_of_torch(TransformerEncoder, draw):
    """With the same weights, three layers give the numbers of torch.nn.TransformerEncoder."""
    weights, x = encoder_weights_of(draw, 3, 6, 7), draw.normal(2, 5, 6)
    answer = with_weights(TransformerEncoder(3, 6, 2, 7), weights)(x)
    assert_close(answer, encoder_of_torch(weights, 3, 2, x))


# %% check="padding_does_not_change_what_is_real" points=1
def padding_does_not_change_what_is_real(TransformerEncoder, draw):
    """Other vectors at masked paddings change no real token after two layers, however low the scores; real ones do."""
    weights, x = encoder_weights_of(draw, 2, 6, 7), draw.normal(2, 5, 6)
    model = with_weights(TransformerEncoder(2, 6, 3, 7), weights)
    real = torch.tensor([[True, True, True, True, False], [True, True, False, False, False]])
    mask = real[:, None, None]
    answer = model(x, mask)
    other = torch.where(real[..., None], x, x + 2 * draw.normal(2, 5, 6))
    assert_close(model(other, mask)[real], answer[real])
    other = torch.where(real[..., None], x + 2 * draw.normal(2, 5, 6), x)
    assert_depends(model(other, mask)[real], answer[real])
    alike = x[:, :1].expand(2, 5, 6).clone()
    for sign in (1, -1):  # with either sign, some scores are hundreds below zero
        name = "layers.0.attention.W_query.weight"
        steep = with_weights(TransformerEncoder(2, 6, 3, 7), weights | {name: 300.0 * sign * weights[name]})
        answer = steep(alike, mask)
        other = torch.where(real[..., None], alike, 0.0)
        assert_close(steep(other, mask)[real], answer[real], what="where scores are large")


# %% check="more_padding_changes_nothing" points=1
def more_padding_changes_nothing(TransformerEncoder, draw):
    """A sequence has the same outputs without padding as with three paddings behind it."""
    model = with_weights(TransformerEncoder(2, 6, 3, 7), encoder_weights_of(draw, 2, 6, 7))
    x = draw.normal(2, 4, 6)
    padded, mask = torch.cat([x, draw.normal(2, 3, 6)], dim=1), torch.arange(7)[None, None, None] < 4
    answer = model(x)
    assert_close(model(padded, mask)[:, :4], answer)
    assert_depends(answer, model(padded)[:, :4])


# %% check="the_future_stays_hidden_in_every_layer" points=1
def the_future_stays_hidden_in_every_layer(TransformerEncoder, draw):
    """Under a causal mask other tokens from position 3 on change no earlier output; gradients flow back."""
    model = with_weights(TransformerEncoder(3, 6, 3, 7), encoder_weights_of(draw, 3, 6, 7))
    x = draw.normal(2, 5, 6)
    mask, other = torch.ones(5, 5, dtype=torch.bool).tril(), x.clone()
    other[:, 3:] += 2 * draw.normal(2, 2, 6)
    answer, changed = model(x, mask), model(other, mask)
    assert_close(changed[:, :3], answer[:, :3])
    assert_depends(changed[:, 3:], answer[:, 3:])
    assert_differentiable(model, x, mask)


# %% check="tokens_may_change_places" points=1
def tokens_may_change_places(TransformerEncoder, draw):
    """Without a mask, tokens in another order have their outputs in that order."""
    model = with_weights(TransformerEncoder(2, 6, 3, 7), encoder_weights_of(draw, 2, 6, 7))
    x = draw.normal(2, 5, 6)
    order, answer = [3, 0, 4, 2, 1], model(x)
    assert_close(model(x[:, order]), answer[:, order])
    assert_depends(answer, answer[:, order])


# %% check="sequences_may_change_places" points=1
def sequences_may_change_places(TransformerEncoder, draw):
    """Sequences in another order have their outputs in that order, and one alone has its own."""
    model = with_weights(TransformerEncoder(2, 6, 3, 7), encoder_weights_of(draw, 2, 6, 7))
    x = draw.normal(3, 5, 6)
    order, answer = [2, 0, 1], model(x)
    assert_close(model(x[order]), answer[order])
    assert_close(model(x[1:2]), answer[1:2], what="one sequence alone")
    assert_depends(answer, answer[order])


# %% check="other_encoders_have_the_outputs_and_gradients_of_torch" points=5 hidden
def other_encoders_have_the_outputs_and_gradients_of_torch(TransformerEncoder, draw):
    """Other encoders, masked too, have the outputs and gradients of PyTorch's."""
    for n_layers, d_model, n_heads, d_ff, shape in ((2, 6, 3, 5, (3, 4)), (3, 8, 2, 10, (2, 5))):
        weights, x = encoder_weights_of(draw, n_layers, d_model, d_ff), draw.normal(*shape, d_model)
        model = with_weights(TransformerEncoder(n_layers, d_model, n_heads, d_ff), weights)
        own = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
        mask = draw.uniform(shape[0], 1, shape[1], shape[1]) < 0.6
        mask[..., 0], mask[..., 1] = True, False
        output, expected = model(x, mask), encoder_of_torch(own, n_layers, n_heads, x, mask)
        assert_close(output, expected, what="the output")
        upstream = draw.normal(*output.shape)
        (output * upstream).sum().backward()
        (expected * upstream).sum().backward()
        gradients = model.gradients()
        for name, weight in own.items():
            assert_close(gradients[name], weight.grad, tolerance=1e-6, what=f"the gradient of {name}")


# %% [markdown]
# ## It writes
#
# Everything below is made of your parts: the input of exercise 18 with the sines of 16, the mask of 6, the
# encoder of 30 with the attention of 12, the norms of 23 and the feed-forward layers of 25 put into its blocks, and
# the embedding as output, as in 29. Under a causal mask the encoder is a language model. It reads 20,000 stories of
# the course in less than a minute, and writes one. Nothing here is graded: change it as you like.
#
# *What to see:* a loss that falls towards the floor; fewer bits above the floor than the GRU of the course's
# ladder, which is 31 % above it; a story that keeps to its rules most of the time; and where your heads look when
# they read it. A part whose checks do not hold yet is replaced by a ready-made one, and the first line says which.

# %% alive="your_transformer_trains"
from course.data.shuffling import ShuffledStories
from course.ladder import SCALES, Corpus, on_the_ladder
from course.mine import parts
from course.plots import loss_curves
from course.training import TrainingConfig, train

mine = parts(
    check,
    TransformerInput=TransformerInput,
    sinusoidal_positions=sinusoidal_positions,
    causal_mask=causal_mask,
    TransformerEncoder=TransformerEncoder,
    MultiHeadAttention=MultiHeadAttention,
    LayerNorm=LayerNorm,
    FeedForward=FeedForward,
    split_heads=split_heads,
    masked_weights=masked_weights,
)


class OverItself(mine.MultiHeadAttention):
    """Self-attention, called as block(x, mask) calls it."""

    def forward(self, x, *others):
        return super().forward(x, x, x, others[-1])


class StoryWriter(nn.Module):
    """Your encoder as a language model: log-probabilities (B, T, V) of the next word for tokens (B, T)."""

    def __init__(self, vocab_size, context_length, n_layers=2, d_model=64, n_heads=4, d_ff=256):
        super().__init__()
        self.vocab_size, self.context_length = vocab_size, context_length
        self.input = mine.TransformerInput(vocab_size, mine.sinusoidal_positions(context_length, d_model))
        nn.init.normal_(self.input.embedding.weight, std=d_model**-0.5)
        self.encoder = mine.TransformerEncoder(n_layers, d_model, n_heads, d_ff)
        for block in self.encoder.layers:
            block.attention = OverItself(d_model, n_heads)
            block.feed_forward = mine.FeedForward(d_model, d_ff)
            block.norm_attention = mine.LayerNorm(d_model, 1e-5)
            block.norm_feed_forward = mine.LayerNorm(d_model, 1e-5)

    def forward(self, tokens):
        x = self.input(tokens)
        mask = mine.causal_mask(tokens.shape[1], tokens.shape[1])
        return (self.encoder(x, mask) @ self.input.embedding.weight.T).log_softmax(dim=-1)


corpus = Corpus(SCALES["default"], seed=0)
torch.manual_seed(0)
writer = StoryWriter(corpus.language.vocab_size, corpus.language.longest_story).float()
history = train(
    writer, ShuffledStories(corpus.train, 32), TrainingConfig(n_steps=600, learning_rate=3e-3), device="cpu"
)
rung = on_the_ladder("my Transformer", writer, corpus, seconds=history.seconds)
print(rung)
loss_curves({"my Transformer": history.losses}, floor=math.log(2) * rung.floor)

# %% alive="your_transformer_writes"
from course.plots import heat_map
from course.sampling import generate

start = torch.tensor([[corpus.language.vocabulary.bos]])
end = corpus.language.vocabulary.eos
story = generate(writer, start, 60, eos=end, use_cache=False)[0]
print(corpus.language.read(story))

# Where the heads of the first block look, at each place the one that looks there most: the weights of your
# exercises 7 and 10, from the matrices it has learned.
read = story[:24]
words = [corpus.language.vocabulary.word(token) for token in read.tolist()]
with torch.no_grad():
    x, attention = writer.input(read[None]), writer.encoder.layers[0].attention
    query, key = (mine.split_heads(layer(x), 4) for layer in (attention.W_query, attention.W_key))
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    weights = mine.masked_weights(scores, mine.causal_mask(len(read), len(read)))[0]  # (H, T, T)
heat_map(weights.max(dim=0).values, words, words)
