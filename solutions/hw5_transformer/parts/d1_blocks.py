# %% [markdown]
# ## Part D. Norms, blocks, the encoder

# %% [markdown] exercise="LayerNorm" difficulty=2 minutes=15 forbids="torch.nn.LayerNorm,torch.nn.functional.layer_norm,torch.layer_norm,torch.native_layer_norm,torch.nn.GroupNorm,torch.nn.functional.group_norm,torch.group_norm,torch.native_group_norm,torch.nn.functional.instance_norm,torch.instance_norm,torch.nn.functional.batch_norm,torch.batch_norm,course.models"
# ### 23. Layer normalisation
#
# Every vector, at every position, is brought to mean 0 and variance 1, whatever stands beside it in the batch.
# Then each of its D numbers gets a gain and a bias of its own, which are learned:
#
# $$\text{LN}(x) = g \odot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + b \qquad
# \mu = \frac1D \sum_i x_i \qquad \sigma^2 = \frac1D \sum_i (x_i - \mu)^2$$
#
# Write the class `LayerNorm`, an `nn.Module`:
#
# - `LayerNorm(d_model, epsilon)` has two parameters, `gain` (D,) and `bias` (D,). In a new module the gain is 1
#   and the bias 0, so that it only normalises.
# - `forward(x)` takes x (…, D) and returns a tensor of the same shape. Do not call a ready-made norm.
#
# **Example.** $x = (0, 0, 0, 4)$ has $\mu = 1$ and $\sigma^2 = 3$. With $\epsilon = 1$ it becomes
# $(-\tfrac12, -\tfrac12, -\tfrac12, \tfrac32)$, since $x - \mu$ is divided by 2; with the
# gain 4 and the bias 1 throughout, $(-1, -1, -1, 7)$.
#
# <details><summary>Hint 1</summary>
#
# Along which axis lie the numbers of one vector? `keepdim=True` keeps it, so that shapes fit.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `var` and `std` of torch divide by D - 1 unless told otherwise. Look up `correction`, or write the mean of
# squares yourself.
#
# </details>


# %% solution="LayerNorm"
class LayerNorm(nn.Module):
    """Each vector to mean 0 and variance 1, then a gain and a bias; parameters gain (D,) and bias (D,)."""

    def __init__(self, d_model: int, epsilon: float):
        super().__init__()
        ### BEGIN SOLUTION
        self.epsilon = epsilon
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """x (…, D), normalised along the last axis."""
        ### BEGIN SOLUTION
        centred = x - x.mean(dim=-1, keepdim=True)
        variance = centred.square().mean(dim=-1, keepdim=True)
        return self.gain * centred / torch.sqrt(variance + self.epsilon) + self.bias
        ### END SOLUTION


# %% check="the_example_vector_becomes_minus_1_and_7" points=1
def the_example_vector_becomes_minus_1_and_7(LayerNorm):
    """With ε = 1, gain 4 and bias 1 (0, 0, 0, 4) gives (-1, -1, -1, 7), and gradients flow back."""
    weights = {"gain": torch.full((4,), 4.0).double(), "bias": torch.ones(4).double()}
    model = with_weights(LayerNorm(4, 1.0), weights)
    x = torch.tensor([[0.0, 0, 0, 4]]).double()
    answer = model(x)
    assert_close(answer, torch.tensor([[-1.0, -1, -1, 7]]).double())
    assert_differentiable(model, x)


# %% check="a_new_norm_only_normalises" points=1
def a_new_norm_only_normalises(LayerNorm, draw):
    """A new module with a tiny ε gives every vector mean 0 and variance 1."""
    model = LayerNorm(6, 1e-12)
    model.double()
    answer = model(0.1 * draw.normal(2, 5, 6) + 7)
    assert_close(answer.mean(-1), torch.zeros(2, 5).double(), what="the means")
    assert_close(answer.square().mean(-1), torch.ones(2, 5).double(), what="the variances")


# %% check="a_vector_is_normalised_alone" points=1
def a_vector_is_normalised_alone(LayerNorm, draw):
    """A vector has the same output alone as beside other positions and other sequences."""
    model = with_weights(LayerNorm(6, 1e-5), {"gain": draw.normal(6), "bias": draw.normal(6)})
    x = draw.normal(3, 5, 6)
    answer = model(x)
    assert_close(model(x[2:, 1:2]), answer[2:, 1:2])
    assert_depends(answer[2:, 1:2], model(x[:1, 1:2]))


# %% check="each_number_has_its_own_gain_and_bias" points=1
def each_number_has_its_own_gain_and_bias(LayerNorm):
    """With the gains 0, 1 and 10 and the biases 5, 0 and 0, (1, 2, 3) becomes (5, 0, 10·√(3/2))."""
    weights = {"gain": torch.tensor([0.0, 1, 10]).double(), "bias": torch.tensor([5.0, 0, 0]).double()}
    answer = with_weights(LayerNorm(3, 0.0), weights)(torch.tensor([[1.0, 2, 3]] * 2).double())
    assert_close(answer, torch.tensor([[5.0, 0, 10 * 1.5**0.5]] * 2).double())


# %% check="epsilon_stands_under_the_root" points=1
def epsilon_stands_under_the_root(LayerNorm):
    """With ε = 0.0003, (0.01, -0.01, 0.01, -0.01) is divided by 0.02, and equal numbers become 0."""
    x = torch.tensor([[0.01, -0.01, 0.01, -0.01], [0.5] * 4]).double()
    weights = {"gain": torch.ones(4).double(), "bias": torch.zeros(4).double()}
    answer = with_weights(LayerNorm(4, 0.0003), weights)(x)
    assert_close(answer, torch.stack([x[0] / 0.02, torch.zeros(4).double()]))


# %% check="other_norms_have_the_outputs_and_gradients_of_torch" points=2 hidden
def other_norms_have_the_outputs_and_gradients_of_torch(LayerNorm, draw):
    """Other norms have the outputs and gradients of PyTorch's."""
    for shape, epsilon in (((3, 4, 5), 0.3), ((2, 7), 1e-5), ((2, 2, 3, 6), draw.number(0.01, 0.1))):
        gain, bias = draw.normal(shape[-1]), draw.normal(shape[-1])
        x, upstream = 0.5 * draw.normal(*shape) + 2, draw.normal(*shape)
        model, own = with_weights(LayerNorm(shape[-1], epsilon), {"gain": gain, "bias": bias}), [gain, bias]
        own = [weight.clone().requires_grad_() for weight in own]
        output, expected = model(x), functional.layer_norm(x, shape[-1:], *own, epsilon)
        assert_close(output, expected, what="the output")
        (output * upstream).sum().backward()
        (expected * upstream).sum().backward()
        gradients = model.gradients()
        for name, weight in zip(("gain", "bias"), own, strict=True):
            assert_close(gradients[name], weight.grad, what=f"the gradient of {name}")


# %% [markdown] exercise="rms_norm" difficulty=1 minutes=5 forbids="torch.nn.RMSNorm,torch.nn.functional.rms_norm,torch.rms_norm,course.models"
# ### 24. Without the mean
#
# Many newer models leave out the mean and the bias (Zhang and Sennrich, 2019): a vector is divided by the root
# of the mean of its squares (RMS), then multiplied by a gain,
#
# $$\text{RMSNorm}(x) = g \odot \frac{x}{\sqrt{\frac1D \sum_i x_i^2 + \epsilon}}$$
#
# Write `rms_norm(x, gain, epsilon)` for x (…, D) and gain (D,). Where x comes in float16, whose numbers end at
# 65,504, take the squares in float32: the square of 300 is 90,000 already. Do not call a ready-made norm.
#
# **Example.** $x = (3, 4, 0, 0)$ has the mean square 6.25. With $\epsilon = 0$ and gain 1 it becomes
# $(1.2, 1.6, 0, 0)$. A vector of equal numbers, as $(2, 2, 2)$, becomes $(1, 1, 1)$.
#
# <details><summary>Hint 1</summary>
#
# Square, mean, root: in this order, as the name says from right to left. Is there any difference from a mean?
#
# </details>


# %% solution="rms_norm"
def rms_norm(x: Tensor, gain: Tensor, epsilon: float) -> Tensor:
    """x (…, D) divided by the root of the mean of its squares, times gain (D,)."""
    ### BEGIN SOLUTION
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return gain * wide / torch.sqrt(wide.square().mean(dim=-1, keepdim=True) + epsilon)
    ### END SOLUTION


# %% check="the_example_vector_has_root_mean_square_2_5" points=1
def the_example_vector_has_root_mean_square_2_5(rms_norm):
    """The vector (3, 4, 0, 0) becomes (1.2, 1.6, 0, 0), and gradients flow back."""
    x, gain = torch.tensor([[3.0, 4, 0, 0]]).double(), torch.ones(4).double()
    answer = rms_norm(x, gain, 0.0)
    assert_close(answer, torch.tensor([[1.2, 1.6, 0, 0]]).double())
    assert_differentiable(rms_norm, x, gain, 0.0)


# %% check="the_mean_is_left_alone" points=1
def the_mean_is_left_alone(rms_norm):
    """Vectors of equal numbers become vectors of 1 or -1, times the gain."""
    x = torch.tensor([[2.0, 2, 2], [-5, -5, -5]]).double()
    answer = rms_norm(x, torch.tensor([1.0, 2, 3]).double(), 0.0)
    assert_close(answer, torch.tensor([[1.0, 2, 3], [-1, -2, -3]]).double())


# %% check="a_vector_is_divided_by_its_own_size" points=1
def a_vector_is_divided_by_its_own_size(rms_norm, draw):
    """The mean square of every output is 1, beside small vectors and large ones."""
    x = draw.normal(2, 5, 3) * torch.tensor([0.01, 1, 100, 3, 0.2]).double()[:, None]
    answer = rms_norm(x, torch.ones(3).double(), 0.0)
    assert_close(answer.square().mean(-1), torch.ones(2, 5).double())


# %% check="a_vector_of_zeros_stays_zero" points=1
def a_vector_of_zeros_stays_zero(rms_norm):
    """With ε = 0.0003 a vector of zeros stays zero, and (0.01, -0.01) is divided by 0.02."""
    x = torch.tensor([[0.0, 0.0], [0.01, -0.01]]).double()
    assert_close(rms_norm(x, torch.ones(2).double(), 0.0003), x / 0.02)


# %% check="large_numbers_in_half_precision_are_divided_as_well" points=1
def large_numbers_in_half_precision_are_divided_as_well(rms_norm):
    """In float16, (300, 400, 0, 0) becomes (1.2, 1.6, 0, 0), to two digits."""
    x, gain = torch.tensor([[300.0, 400, 0, 0]]).half(), torch.ones(4).half()
    answer = torch.as_tensor(rms_norm(x, gain, 0.0)).double()
    assert_close(answer, torch.tensor([[1.2, 1.6, 0, 0]]).double(), tolerance=0.01)


# %% check="other_vectors_are_divided_by_their_size" points=1 hidden
def other_vectors_are_divided_by_their_size(rms_norm, draw):
    """Other vectors are divided by their root mean square."""
    for shape, epsilon in (((3, 4, 5), 0.3), ((2, 7), 1e-5), ((6,), 0.0)):
        x, gain = draw.normal(*shape) + 1, draw.normal(shape[-1])
        rows = [row * gain / math.sqrt(sum(v * v for v in row.tolist()) / len(row) + epsilon)
                for row in x.reshape(-1, shape[-1])]  # fmt: skip
        assert_close(rms_norm(x, gain, epsilon), torch.stack(rows).reshape(shape))


# %% [markdown] exercise="FeedForward" difficulty=1 minutes=10 forbids="course.models"
# ### 25. The feed-forward layer
#
# Between two attentions each position works alone, in a wider space:
#
# $$\text{FF}(x) = W_2 \max(0, W_1 x + b_1) + b_2$$
#
# for each vector $x$ as a column. (The maximum with 0 is called ReLU.)
#
# Write the class `FeedForward`, an `nn.Module`:
#
# - `FeedForward(d_model, d_ff)` has two linear layers, `expand` with the parameters `expand.weight` (F, D) and
#   `expand.bias` (F,), and `contract` with `contract.weight` (D, F) and `contract.bias` (D,).
# - `forward(x)` takes x (B, T, D) and returns (B, T, D). There is no residual here; it belongs to the block.
#
# **Example.** D = 1, F = 2, `expand.weight = [[1], [-1]]`, `contract.weight = [[1, 2]]`, all biases 0: the layer
# computes $\max(0, x) + 2 \max(0, -x)$. It turns 3 into 3 and $-2$ into 4.
#
# <details><summary>Hint 1</summary>
#
# What would two linear maps in a row be without anything between them? What could the example not do then?
#
# </details>


# %% solution="FeedForward"
class FeedForward(nn.Module):
    """Linear, relu, linear at each position; layers expand (D to F) and contract (F to D), with bias."""

    def __init__(self, d_model: int, d_ff: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.expand = nn.Linear(d_model, d_ff)
        self.contract = nn.Linear(d_ff, d_model)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """The output (B, T, D) for x (B, T, D)."""
        ### BEGIN SOLUTION
        return self.contract(torch.relu(self.expand(x)))  # (B, T, D) → (B, T, F) → (B, T, D)
        ### END SOLUTION


# %% check="the_example_turns_3_into_3_and_minus_2_into_4" points=1
def the_example_turns_3_into_3_and_minus_2_into_4(FeedForward):
    """The layer of the example turns 3 into 3 and -2 into 4, and gradients flow back."""
    weights = {"expand.weight": torch.tensor([[1.0], [-1]]), "contract.weight": torch.tensor([[1.0, 2]])}
    weights |= {"expand.bias": torch.zeros(2), "contract.bias": torch.zeros(1)}
    model = with_weights(FeedForward(1, 2), {name: weight.double() for name, weight in weights.items()})
    x = torch.tensor([[[3.0], [-2.0]]]).double()
    answer = model(x)
    assert_close(answer, torch.tensor([[[3.0], [4.0]]]).double())
    assert_differentiable(model, x)


# %% check="each_position_works_alone" points=1
def each_position_works_alone(FeedForward, draw):
    """A vector has the same output alone as among others."""
    weights = layers_of(draw, expand=(7, 3), contract=(3, 7))
    weights["contract.bias"] += 99  # far from where a relu would act
    model, x = with_weights(FeedForward(3, 7), weights), draw.normal(2, 5, 3)
    answer = model(x)
    assert_close(model(x[1:, 3:4]), answer[1:, 3:4])
    assert_depends(answer, model(-x))


# %% check="a_silent_hidden_layer_leaves_the_last_bias" points=1
def a_silent_hidden_layer_leaves_the_last_bias(FeedForward, draw):
    """Where all hidden numbers are far below 0, the output is contract.bias, below 0 too."""
    weights = layers_of(draw, expand=(7, 3), contract=(3, 7))
    weights |= {"expand.bias": torch.full((7,), -99.0).double(), "contract.bias": -1 - draw.uniform(3)}
    answer = with_weights(FeedForward(3, 7), weights)(draw.normal(2, 5, 3))
    assert_close(answer, weights["contract.bias"].expand(2, 5, 3))


# %% check="other_layers_have_their_outputs_and_gradients" points=2 hidden
def other_layers_have_their_outputs_and_gradients(FeedForward, draw):
    """Other layers have the outputs of the formula, and its gradients."""
    for shape, d_ff in (((2, 4, 3), 5), ((3, 2, 6), 4)):
        weights = layers_of(draw, expand=(d_ff, shape[-1]), contract=(shape[-1], d_ff))
        model, x, upstream = (
            with_weights(FeedForward(shape[-1], d_ff), weights),
            draw.normal(*shape),
            draw.normal(*shape),
        )
        own = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
        inside = torch.einsum("btd,fd->btf", x, own["expand.weight"]) + own["expand.bias"]
        expected = torch.einsum("btf,df->btd", inside * (inside > 0), own["contract.weight"])
        expected, output = expected + own["contract.bias"], model(x)
        assert_close(output, expected, what="the output")
        (output * upstream).sum().backward()
        (expected * upstream).sum().backward()
        gradients = model.gradients()
        for name, weight in own.items():
            assert_close(gradients[name], weight.grad, what=f"the gradient of {name}")


# %% provided="blocks_of_torch" helper
ATTENTION_MATRICES = [f"attention.W_{part}.weight" for part in ("query", "key", "value", "output")]


def block_weights_of(draw, d_model, d_ff):
    """All weights of a block: attention, feed-forward layer and two norms."""
    weights = {f"attention.{name}": weight for name, weight in attention_weights_of(draw, d_model).items()}
    layers = layers_of(draw, expand=(d_ff, d_model), contract=(d_model, d_ff))
    weights |= {f"feed_forward.{name}": weight for name, weight in layers.items()}
    for norm in ("norm_attention", "norm_feed_forward"):
        weights |= {
            f"{norm}.weight": 1 + 0.3 * draw.normal(d_model),
            f"{norm}.bias": 0.3 * draw.normal(d_model),
        }
    return weights


def plain_norms(d_model):
    """Gains of 1 and biases of 0 for the two norms of a block."""
    norms = {
        f"{norm}.weight": torch.ones(d_model).double() for norm in ("norm_attention", "norm_feed_forward")
    }
    return norms | {name.replace("weight", "bias"): torch.zeros(d_model).double() for name in norms}


def silenced(weights, *layers):
    """The weights with those of some layers set to 0."""
    return {name: 0 * w if name.startswith(layers) else w for name, w in weights.items()}


def named_as_in_torch(weights):
    """The weights of a block under the names that they have in PyTorch."""
    parts = ("W_query", "W_key", "W_value")
    named = {}
    for kind in KINDS:
        named[f"self_attn.in_proj_{kind}"] = torch.cat(
            [weights[f"attention.{part}.{kind}"] for part in parts]
        )
        named[f"self_attn.out_proj.{kind}"] = weights[f"attention.W_output.{kind}"]
        named[f"linear1.{kind}"] = weights[f"feed_forward.expand.{kind}"]
        named[f"linear2.{kind}"] = weights[f"feed_forward.contract.{kind}"]
        named[f"norm1.{kind}"] = weights[f"norm_attention.{kind}"]
        named[f"norm2.{kind}"] = weights[f"norm_feed_forward.{kind}"]
    return named


def hidden_from(x, n_heads, mask):
    """The mask as PyTorch wants it, (B · H, T, T) with True = hidden."""
    return None if mask is None else ~mask.expand(len(x), n_heads, x.shape[1], x.shape[1]).flatten(0, 1)


def block_of_torch(weights, n_heads, x, mask=None, is_pre_norm=False):
    """What PyTorch's own block computes with these weights."""
    d_ff, d_model = weights["feed_forward.expand.weight"].shape
    block = nn.TransformerEncoderLayer(
        d_model, n_heads, d_ff, dropout=0.0, batch_first=True, norm_first=is_pre_norm, dtype=torch.float64
    )
    options = {"src_mask": hidden_from(x, n_heads, mask)}
    return torch.func.functional_call(block, named_as_in_torch(weights), (x,), options)


def assert_block_of_torch(Block, draw, is_pre_norm):
    """Outputs and gradients of blocks of several sizes, masked too, are those of PyTorch."""
    for d_model, n_heads, d_ff, shape in ((6, 2, 7, (3, 4)), (8, 4, 5, (2, 5))):
        weights, x = block_weights_of(draw, d_model, d_ff), draw.normal(*shape, d_model)
        model = with_weights(Block(d_model, n_heads, d_ff), weights)
        own = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
        mask = draw.uniform(shape[0], 1, shape[1], shape[1]) < 0.6
        mask[..., 0], mask[..., 1] = True, False
        output, expected = model(x, mask), block_of_torch(own, n_heads, x, mask, is_pre_norm)
        assert_close(output, expected, what="the output")
        upstream = draw.normal(*output.shape)
        (output * upstream).sum().backward()
        (expected * upstream).sum().backward()
        gradients = model.gradients()
        for name, weight in own.items():
            assert_close(gradients[name], weight.grad, tolerance=1e-6, what=f"the gradient of {name}")


# %% [markdown] exercise="PostNormBlock" difficulty=2 minutes=15 forbids="torch.nn.Transformer,torch.nn.TransformerEncoder,torch.nn.TransformerEncoderLayer,torch.nn.TransformerDecoderLayer,course.models.transformer,course.models.gpt,course.models.bert" allows="course.mine.ready.hw5_transformer.SelfAttention,course.mine.ready.hw5_transformer.TwoLayers,course.models.multi_head_attention.MultiHeadAttention"
# ### 26. A block, as in the paper
#
# A block lets the positions look at each other and then think alone. Each of the two steps **adds** to what
# was there, and the sum is normalised:
#
# $$y = \text{LN}_1(x + \text{Attention}(x)) \qquad z = \text{LN}_2(y + \text{FF}(y))$$
#
# Write the class `PostNormBlock`, an `nn.Module`:
#
# - `PostNormBlock(d_model, n_heads, d_ff)` has four parts: `attention`, a `SelfAttention(d_model, n_heads)`;
#   `feed_forward`, a `TwoLayers(d_model, d_ff)`; `norm_attention` and `norm_feed_forward`, two
#   `nn.LayerNorm(d_model)`. `SelfAttention` and `TwoLayers` are imported at the top; your own
#   `MultiHeadAttention`, called with x three times, and `FeedForward` have the same parameters and fit as well.
# - `forward(x, mask=None)` takes x (B, T, D) and a mask that broadcasts to (B, H, T, T), True = may be attended
#   to, which goes to the attention. It returns $z$, (B, T, D). There is no dropout.
#
# **Example.** If all weights and biases of `attention` and `feed_forward` are 0, both add nothing, and x is normalised
# twice: $(1, 3)$ becomes $(-1, 1)$, but for $\epsilon$.
#
# <details><summary>Hint 1</summary>
#
# Two lines, one for each formula. Which tensor is normalised in the first, and which one does the second add to?
#
# </details>


# %% alive="a_drawing_block"
from course import figures

figures.machine("block")  # step by step


# %% solution="PostNormBlock"
class PostNormBlock(nn.Module):
    """norm(x + f(x)) twice; parts attention, norm_attention, feed_forward, norm_feed_forward."""

    def __init__(self, d_model: int, n_heads: int, d_ff: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.attention = SelfAttention(d_model, n_heads)
        self.norm_attention = nn.LayerNorm(d_model)
        self.feed_forward = TwoLayers(d_model, d_ff)
        self.norm_feed_forward = nn.LayerNorm(d_model)
        ### END SOLUTION

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """The block's output (B, T, D); mask as (B, H, T, T), True = may be attended to."""
        ### BEGIN SOLUTION
        x = self.norm_attention(x + self.attention(x, mask))
        return self.norm_feed_forward(x + self.feed_forward(x))
        ### END SOLUTION


# %% check="silent_parts_leave_the_input_normalised" points=1
def silent_parts_leave_the_input_normalised(PostNormBlock):
    """With attention and feed-forward layer silent, (1, 3) becomes (-1, 1) and (8, 4) becomes (1, -1)."""
    weights = {name: torch.zeros(2, 2).double() for name in ATTENTION_MATRICES}
    weights |= {name.replace("weight", "bias"): torch.zeros(2).double() for name in ATTENTION_MATRICES}
    weights |= {"feed_forward.expand.weight": torch.zeros(3, 2).double()}
    weights |= {"feed_forward.contract.weight": torch.zeros(2, 3).double()}
    weights |= {"feed_forward.expand.bias": torch.zeros(3).double()}
    weights |= {"feed_forward.contract.bias": torch.zeros(2).double()} | plain_norms(2)
    answer = with_weights(PostNormBlock(2, 1, 3), weights)(torch.tensor([[[1.0, 3.0], [8.0, 4.0]]]).double())
    assert_close(answer, torch.tensor([[[-1.0, 1.0], [1.0, -1.0]]]).double(), tolerance=1e-4)


# %% check="a_block_is_that_of_torch" points=1
def a_block_is_that_of_torch(PostNormBlock, draw):
    """With the same weights, the block gives the numbers of PyTorch's post-norm block; gradients flow back."""
    weights, x = block_weights_of(draw, 6, 7), draw.normal(2, 5, 6)
    block = with_weights(PostNormBlock(6, 3, 7), weights)
    answer = block(x)
    assert_close(answer, block_of_torch(weights, 3, x))
    assert_differentiable(block, x)


# %% check="what_leaves_the_block_is_normalised" points=1
def what_leaves_the_block_is_normalised(PostNormBlock, draw):
    """With gains of 1 and biases of 0 every output has mean 0 and variance 1, and depends on the input."""
    model = with_weights(PostNormBlock(6, 3, 7), block_weights_of(draw, 6, 7) | plain_norms(6))
    x = draw.normal(2, 5, 6)
    answer = model(x)
    assert_close(answer.mean(-1), torch.zeros(2, 5).double(), what="the means")
    assert_close(answer.square().mean(-1), torch.ones(2, 5).double(), tolerance=1e-3, what="the variances")
    assert_depends(answer, model(-x))


# %% check="the_input_passes_by_a_silent_attention" points=1
def the_input_passes_by_a_silent_attention(PostNormBlock, draw):
    """With the attention silent a token still knows itself, and learns nothing of the others."""
    weights, x = silenced(block_weights_of(draw, 6, 7), "attention"), draw.normal(2, 5, 6)
    model = with_weights(PostNormBlock(6, 3, 7), weights)
    answer = model(x)
    assert_close(model(x[:, 2:3]), answer[:, 2:3], what="a token alone")
    assert_depends(answer[:, 2], answer[:, 3])


# %% check="the_sum_passes_by_a_silent_feed_forward" points=1
def the_sum_passes_by_a_silent_feed_forward(PostNormBlock, draw):
    """With the feed-forward layer silent, x plus attention is normalised by the one norm and then the other."""
    weights, x = silenced(block_weights_of(draw, 6, 7), "feed_forward"), draw.normal(2, 5, 6)
    own = {name.removeprefix("attention."): w for name, w in weights.items() if name.startswith("attention")}
    expected = x + attended_by_torch(own, 3, x, x, x)
    for norm in ("norm_attention", "norm_feed_forward"):
        expected = functional.layer_norm(expected, (6,), weights[f"{norm}.weight"], weights[f"{norm}.bias"])
    assert_close(with_weights(PostNormBlock(6, 3, 7), weights)(x), expected)


# %% check="masked_tokens_do_not_matter" points=1
def masked_tokens_do_not_matter(PostNormBlock, draw):
    """Under a causal mask the future does not change the past; other tokens of the past change it."""
    model, x = with_weights(PostNormBlock(6, 3, 7), block_weights_of(draw, 6, 7)), draw.normal(2, 5, 6)
    mask, other = torch.ones(5, 5, dtype=torch.bool).tril(), x.clone()
    other[:, 3:] += 2 * draw.normal(2, 2, 6)
    answer, changed = model(x, mask), model(other, mask)
    assert_close(changed[:, :3], answer[:, :3])
    assert_depends(changed[:, 3:], answer[:, 3:])


# %% check="other_post_norm_blocks_are_those_of_torch" points=3 hidden
def other_post_norm_blocks_are_those_of_torch(PostNormBlock, draw):
    """Other blocks, masked too, have the outputs and gradients of PyTorch's."""
    assert_block_of_torch(PostNormBlock, draw, is_pre_norm=False)


# %% [markdown] exercise="PreNormBlock" bonus difficulty=2 minutes=10 forbids="torch.nn.Transformer,torch.nn.TransformerEncoder,torch.nn.TransformerEncoderLayer,torch.nn.TransformerDecoderLayer,course.models.transformer,course.models.gpt,course.models.bert" allows="course.mine.ready.hw5_transformer.SelfAttention,course.mine.ready.hw5_transformer.TwoLayers,course.models.multi_head_attention.MultiHeadAttention"
# ### 27. A block, as today (bonus)
#
# In the paper's block every sum passes through a norm. Later models normalise what goes **into** each part,
# and leave the sum alone:
#
# $$y = x + \text{Attention}(\text{LN}_1(x)) \qquad z = y + \text{FF}(\text{LN}_2(y))$$
#
# Write the class `PreNormBlock`, with the parts, names and arguments of exercise 26:
# `PreNormBlock(d_model, n_heads, d_ff)` and `forward(x, mask=None)`.
#
# **Example.** If all weights and biases of `attention` and `feed_forward` are 0, both add nothing, and x comes out as it
# was, unnormalised: $(1, 3)$ stays $(1, 3)$.
#
# <details><summary>Hint 1</summary>
#
# What is added to the attention's output: x, or the x that was normalised? Does your code still have both when it
# adds?
#
# </details>


# %% solution="PreNormBlock"
class PreNormBlock(nn.Module):
    """x + f(norm(x)) twice; parts attention, norm_attention, feed_forward, norm_feed_forward."""

    def __init__(self, d_model: int, n_heads: int, d_ff: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.attention = SelfAttention(d_model, n_heads)
        self.norm_attention = nn.LayerNorm(d_model)
        self.feed_forward = TwoLayers(d_model, d_ff)
        self.norm_feed_forward = nn.LayerNorm(d_model)
        ### END SOLUTION

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """The block's output (B, T, D); mask as (B, H, T, T), True = may be attended to."""
        ### BEGIN SOLUTION
        x = x + self.attention(self.norm_attention(x), mask)
        return x + self.feed_forward(self.norm_feed_forward(x))
        ### END SOLUTION


# %% check="silent_parts_leave_the_input_as_it_is" points=1
def silent_parts_leave_the_input_as_it_is(PreNormBlock, draw):
    """With attention and feed-forward layer silent, the input comes out as it is."""
    weights, x = silenced(block_weights_of(draw, 6, 7), "attention", "feed_forward"), 4 * draw.normal(2, 5, 6)
    assert_close(with_weights(PreNormBlock(6, 3, 7), weights)(x), x)


# %% check="a_modern_block_is_that_of_torch" points=1
def a_modern_block_is_that_of_torch(PreNormBlock, draw):
    """With the same weights, the block gives the numbers of PyTorch's pre-norm block; gradients flow back."""
    weights, x = block_weights_of(draw, 6, 7), draw.normal(2, 5, 6)
    block = with_weights(PreNormBlock(6, 3, 7), weights)
    answer = block(x)
    assert_close(answer, block_of_torch(weights, 3, x, is_pre_norm=True))
    assert_differentiable(block, x)


# %% check="what_is_added_does_not_grow_with_the_input" points=1
def what_is_added_does_not_grow_with_the_input(PreNormBlock, draw):
    """With one part silent, what the other adds is the same for inputs 1000 times as large, but for ε."""
    weights, x = block_weights_of(draw, 6, 7), 10 * draw.normal(2, 5, 6)
    for silent in ("feed_forward", "attention"):
        model = with_weights(PreNormBlock(6, 3, 7), silenced(weights, silent))
        added = model(x) - x
        assert_close(model(1000 * x) - 1000 * x, added, tolerance=1e-3, what=f"without {silent}")
        assert_depends(added, torch.zeros(2, 5, 6).double())


# %% check="the_feed_forward_reads_what_attention_found" points=1
def the_feed_forward_reads_what_attention_found(PreNormBlock, draw):
    """What attention adds is in the residual and goes, normalised, into the feed-forward layer."""
    weights, x = block_weights_of(draw, 6, 7), draw.normal(2, 5, 6)
    found = with_weights(PreNormBlock(6, 3, 7), silenced(weights, "feed_forward"))(x)
    thought = with_weights(PreNormBlock(6, 3, 7), silenced(weights, "attention"))(found)
    assert_close(with_weights(PreNormBlock(6, 3, 7), weights)(x), thought)
    assert_depends(thought, found)


# %% check="hidden_tokens_do_not_matter" points=1
def hidden_tokens_do_not_matter(PreNormBlock, draw):
    """Padding that is masked does not change real tokens; real tokens do."""
    model, x = with_weights(PreNormBlock(6, 3, 7), block_weights_of(draw, 6, 7)), draw.normal(2, 5, 6)
    real = torch.tensor([[True, True, True, False, False], [True, True, False, False, False]])
    mask = real[:, None, None]
    answer = model(x, mask)
    other = torch.where(real[..., None], x, x + 2 * draw.normal(2, 5, 6))
    assert_close(model(other, mask)[real], answer[real])
    other = torch.where(real[..., None], x + 2 * draw.normal(2, 5, 6), x)
    assert_depends(model(other, mask)[real], answer[real])


# %% check="other_pre_norm_blocks_are_those_of_torch" points=3 hidden
def other_pre_norm_blocks_are_those_of_torch(PreNormBlock, draw):
    """Other blocks, masked too, have the outputs and gradients of PyTorch's."""
    assert_block_of_torch(PreNormBlock, draw, is_pre_norm=True)
