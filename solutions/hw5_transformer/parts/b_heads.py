# %% [markdown]
# ## Part B. Heads, and what order means to them

# %% [markdown] exercise="split_heads" difficulty=1 minutes=10 forbids="course.models"
# ### 10. Split into heads
#
# Several heads attend side by side, each in its own $d_k = D / H$ of the D dimensions: head 0 owns the first
# $d_k$ numbers of every vector, head 1 the next $d_k$, and so on. To let each head attend alone, the axis of heads
# moves before the axis of positions.
#
# Write `split_heads(x, n_heads)`, which turns x (B, T, D) into (B, H, T, d_k).
#
# **Example.** One sequence of two vectors, $(1, 2, 3, 4, 5, 6)$ and $(7, 8, 9, 10, 11, 12)$, and three heads:
# head 0 sees $(1, 2)$ and $(7, 8)$, head 1 sees $(3, 4)$ and $(9, 10)$, head 2 sees $(5, 6)$ and $(11, 12)$.
#
# <details><summary>Hint 1</summary>
#
# `view` and `reshape` never change the order in which the numbers lie in memory. In which order do they lie in
# x, and which axis can therefore be cut in two, and into what?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# After the cut you have four axes. Which two of them must change places?
#
# </details>


# %% solution="split_heads"
def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """The heads (B, H, T, d_k) of x (B, T, D); head h owns the numbers from h·d_k to (h + 1)·d_k - 1."""
    ### BEGIN SOLUTION
    B, T, D = x.shape
    return x.view(B, T, n_heads, D // n_heads).transpose(1, 2)  # (B, T, H, d_k) → (B, H, T, d_k)
    ### END SOLUTION


# %% check="the_example_has_three_heads" points=1
def the_example_has_three_heads(split_heads):
    """In the example the three heads see their two numbers of both vectors, in a second sequence as well."""
    x = torch.arange(1.0, 25).double().reshape(2, 2, 6)
    expected = torch.tensor([[[[1.0, 2], [7, 8]], [[3, 4], [9, 10]], [[5, 6], [11, 12]]]]).double()
    assert_close(split_heads(x, 3), torch.cat([expected, expected + 12]))
    assert_differentiable(split_heads, x, 3)


# %% check="a_head_owns_neighbouring_numbers" points=1
def a_head_owns_neighbouring_numbers(split_heads):
    """If every vector is (0, 1, …, 11), each head of four sees three numbers in a row, at every position."""
    heads = split_heads(torch.arange(12.0).double().expand(2, 5, 12).contiguous(), 4)
    expected = torch.arange(12.0).double().reshape(1, 4, 1, 3).expand(2, 4, 5, 3)
    assert_close(heads, expected)


# %% check="positions_stay_where_they_are" points=1
def positions_stay_where_they_are(split_heads):
    """If all numbers of a vector are the number of its position, so are those of every head."""
    positions = torch.arange(5.0).double()
    heads = split_heads(positions[None, :, None].expand(2, 5, 12).contiguous(), 3)
    assert_close(heads, positions[None, None, :, None].expand(2, 3, 5, 4))


# %% check="as_many_heads_as_asked_for" points=1
def as_many_heads_as_asked_for(split_heads, draw):
    """Vectors of 12 numbers make two heads of six or six heads of two."""
    x = draw.normal(3, 5, 12)
    assert_equal(list(split_heads(x, 2).shape), [3, 2, 5, 6], what="the shape for two heads")
    assert_equal(list(split_heads(x, 6).shape), [3, 6, 5, 2], what="the shape for six heads")


# %% check="other_vectors_are_split" points=1 hidden
def other_vectors_are_split(split_heads, draw):
    """Other vectors are split into their heads."""
    for batch_size, n_positions, n_heads, d_head in ((2, 7, 5, 3), (3, 4, 1, 6), (1, 2, 4, 3)):
        x = draw.normal(batch_size, n_positions, n_heads * d_head)
        expected = torch.stack([x[..., h * d_head : (h + 1) * d_head] for h in range(n_heads)], dim=1)
        assert_close(split_heads(x, n_heads), expected)


# %% [markdown] exercise="merge_heads" difficulty=1 minutes=5 forbids="course.models"
# ### 11. Merge the heads
#
# After each head has attended, its outputs go back to the places they came from: the numbers of head 0 first,
# then those of head 1, for each position.
#
# Write `merge_heads(x)`, which turns (B, H, T, d_k) into (B, T, H·d_k) and undoes `split_heads`.
#
# **Example.** Three heads with the vectors $(1, 2), (7, 8)$ and $(3, 4), (9, 10)$ and $(5, 6), (11, 12)$ at two
# positions become the vectors $(1, 2, 3, 4, 5, 6)$ and $(7, 8, 9, 10, 11, 12)$.
#
# <details><summary>Hint 1</summary>
#
# Which two axes must be neighbours, and in which order, before they can be joined into one?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# If `view` complains that the numbers do not lie in memory as it needs them: `reshape` and `flatten` copy
# where they must.
#
# </details>


# %% solution="merge_heads"
def merge_heads(x: Tensor) -> Tensor:
    """The heads (B, H, T, d_k) side by side again, (B, T, H·d_k)."""
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(start_dim=2)  # (B, T, H, d_k) → (B, T, D)
    ### END SOLUTION


# %% check="the_example_is_put_together" points=1
def the_example_is_put_together(merge_heads):
    """In the example the two vectors of six numbers come back, and those of a second sequence."""
    heads = torch.tensor([[[[1.0, 2], [7, 8]], [[3, 4], [9, 10]], [[5, 6], [11, 12]]]]).double()
    heads = torch.cat([heads, heads + 12])
    assert_close(merge_heads(heads), torch.arange(1.0, 25).double().reshape(2, 2, 6))
    assert_differentiable(merge_heads, heads)


# %% check="each_head_returns_to_its_own_place" points=1
def each_head_returns_to_its_own_place(merge_heads):
    """If all numbers of a head are the head's number, every vector is 0, 0, 1, 1, 2, 2, …"""
    heads = torch.arange(4.0).double()[None, :, None, None].expand(3, 4, 5, 2)
    expected = torch.arange(4.0).double().repeat_interleave(2).expand(3, 5, 8)
    assert_close(merge_heads(heads.contiguous()), expected)


# %% check="a_position_keeps_its_own_numbers" points=1
def a_position_keeps_its_own_numbers(merge_heads):
    """If all numbers of a position are the position's number, so are those of its vector."""
    heads = torch.arange(5.0).double()[None, None, :, None].expand(3, 4, 5, 2)
    assert_close(merge_heads(heads.contiguous()), torch.arange(5.0).double()[None, :, None].expand(3, 5, 8))


# %% check="other_heads_are_merged" points=1 hidden
def other_heads_are_merged(merge_heads, draw):
    """Other heads are put side by side."""
    for batch_size, n_heads, n_positions, d_head in ((2, 3, 5, 4), (3, 1, 4, 6), (1, 6, 2, 3)):
        heads = draw.normal(batch_size, n_heads, n_positions, d_head)
        assert_close(merge_heads(heads), torch.cat(list(heads.unbind(dim=1)), dim=-1))


# %% provided="attention_of_torch" helper
KINDS = ("weight", "bias")


def layers_of(draw, **shapes):
    """Weights and biases of linear layers, by name; a shape is (numbers out, numbers in)."""
    weights = {}
    for name, (n_out, n_in) in shapes.items():
        weights[f"{name}.weight"] = 1.5 * draw.normal(n_out, n_in) / n_in**0.5
        weights[f"{name}.bias"] = draw.normal(n_out)
    return weights


def attention_weights_of(draw, d_model):
    """The four linear layers of an attention."""
    square = (d_model, d_model)
    return layers_of(draw, W_query=square, W_key=square, W_value=square, W_output=square)


def attended_by_torch(weights, n_heads, query, key, value, mask=None):
    """What PyTorch's own multi-head attention computes with these weights."""
    parts = ("W_query", "W_key", "W_value")
    named = {f"in_proj_{kind}": torch.cat([weights[f"{part}.{kind}"] for part in parts]) for kind in KINDS}
    named |= {f"out_proj.{kind}": weights[f"W_output.{kind}"] for kind in KINDS}
    shape = (len(query), n_heads, query.shape[1], key.shape[1])
    hidden = None if mask is None else ~mask.expand(shape).flatten(0, 1)  # there True means "hidden"
    layer = nn.MultiheadAttention(query.shape[-1], n_heads, batch_first=True, dtype=torch.float64)
    options = {"attn_mask": hidden, "need_weights": False}
    return torch.func.functional_call(layer, named, (query, key, value), options)[0]


# %% [markdown] exercise="MultiHeadAttention" difficulty=3 minutes=25 forbids="torch.nn.functional.scaled_dot_product_attention,torch.nn.functional.multi_head_attention_forward,torch.nn.MultiheadAttention,torch.nn.Transformer,torch.nn.TransformerEncoder,torch.nn.TransformerEncoderLayer,torch.nn.TransformerDecoder,torch.nn.TransformerDecoderLayer,torch.nn.attention,course.models"
# ### 12. Multi-head attention
#
# Queries, keys and values are made by matrices, each head attends with its part of them, and one more matrix
# mixes what the heads have found:
#
# $$\text{head}_h = \text{attention}(Q_h, K_h, V_h) \qquad
# \text{output} = [\text{head}_0, \dots, \text{head}_{H-1}] \, W^O$$
#
# $Q_h$, $K_h$ and $V_h$ are the parts of head $h$ in what `W_query`, `W_key` and `W_value` make; $W^O$ belongs to
# `W_output`.
#
# Write the class `MultiHeadAttention`, an `nn.Module`:
#
# - `MultiHeadAttention(d_model, n_heads)` has four layers `nn.Linear(d_model, d_model)` as attributes
#   `W_query`, `W_key`, `W_value` and `W_output`, so eight tensors to learn: `W_query.weight` (D, D),
#   `W_query.bias` (D,) and so on. The matrices of all heads lie in one: the numbers of head $h$ are those from
#   $h d_k$ to $(h + 1) d_k - 1$ of what `W_query` gives.
# - `forward(query, key, value, mask=None)` takes query (B, T, D), key and value (B, S, D), and a mask that
#   broadcasts to (B, H, T, S), True = may be attended to; it returns (B, T, D). In self-attention all three
#   are the same tensor; T and S may differ otherwise.
#
# There is no dropout. Do not call a ready-made attention.
#
# **Example.** $D = 2$, two heads, all four matrices the unit matrix, all biases 0. Query $(\ln 3, 0)$, keys
# $(1, 5)$ and $(0, 5)$, values $(4, 2)$ and $(0, 6)$. $d_k$ is 1: head 0 has the scores $\ln 3$ and 0, the weights
# 3/4 and 1/4 and the output 3; head 1 has the scores 0 and 0 and the output 4. The result is $(3, 4)$.
#
# <details><summary>Hint 1</summary>
#
# Exercises 1, 7, 10 and 11 are the parts. Write down the shape after each line.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Each tensor has a length of its own: T for what is made of `query`, S for what is made of `key` and `value`.
# Which width is it whose root divides the scores?
#
# </details>


# %% alive="a_drawing_heads"
from course import figures

figures.machine("heads")  # step by step


# %% solution="MultiHeadAttention"
class MultiHeadAttention(nn.Module):
    """H attentions side by side; linear layers W_query, W_key, W_value, W_output, all (D, D) with bias."""

    def __init__(self, d_model: int, n_heads: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads = n_heads
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model)
        self.W_value = nn.Linear(d_model, d_model)
        self.W_output = nn.Linear(d_model, d_model)
        ### END SOLUTION

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        """The output (B, T, D) for query (B, T, D), key and value (B, S, D); mask as (B, H, T, S)."""
        ### BEGIN SOLUTION
        q = self.W_query(query).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, T, d_k)
        k = self.W_key(key).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, S, d_k)
        v = self.W_value(value).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, S, d_k)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        heads = scores.softmax(dim=-1) @ v  # (B, H, T, d_k)
        return self.W_output(heads.transpose(1, 2).flatten(start_dim=2))  # (B, T, D)
        ### END SOLUTION


# %% check="the_eight_parameters_are_registered" points=1
def the_eight_parameters_are_registered(MultiHeadAttention):
    """The module knows weight and bias of W_query, W_key, W_value and W_output, and no others."""
    names = [
        f"W_{part}.{kind}" for part in ("key", "output", "query", "value") for kind in ("bias", "weight")
    ]
    assert_equal({*MultiHeadAttention(6, 3).gradients()}, {*names})


# %% check="the_example_heads_find_3_and_4" points=1
def the_example_heads_find_3_and_4(MultiHeadAttention):
    """In the example the output is (3, 4), and gradients flow back."""
    names = ("W_query", "W_key", "W_value", "W_output")
    weights = {f"{name}.weight": torch.eye(2).double() for name in names}
    weights |= {f"{name}.bias": torch.zeros(2).double() for name in names}
    query = torch.tensor([[[math.log(3), 0.0]]]).double()
    key, value = torch.tensor([[[1.0, 5], [0, 5]]]).double(), torch.tensor([[[4.0, 2], [0, 6]]]).double()
    model = with_weights(MultiHeadAttention(2, 2), weights)
    answer = model(query, key, value)
    assert_close(answer, torch.tensor([[[3.0, 4.0]]]).double())
    assert_differentiable(model, query, key, value)


# %% check="self_attention_is_that_of_torch" points=1
def self_attention_is_that_of_torch(MultiHeadAttention, draw):
    """With the same weights, self-attention in three heads gives the numbers of PyTorch's."""
    weights, x = attention_weights_of(draw, 6), draw.normal(2, 5, 6)
    assert_close(
        with_weights(MultiHeadAttention(6, 3), weights)(x, x, x), attended_by_torch(weights, 3, x, x, x)
    )


# %% check="queries_need_not_be_as_many_as_keys" points=1
def queries_need_not_be_as_many_as_keys(MultiHeadAttention, draw):
    """Three queries and five keys, and five queries and three keys, have one output per query."""
    model = with_weights(MultiHeadAttention(6, 2), attention_weights_of(draw, 6))
    short, long = draw.normal(2, 3, 6), draw.normal(2, 5, 6)
    assert_equal(list(model(short, long, long).shape), [2, 3, 6], what="the shape for three queries")
    assert_equal(list(model(long, short, short).shape), [2, 5, 6], what="the shape for five queries")


# %% check="heads_may_change_places" points=1
def heads_may_change_places(MultiHeadAttention, draw):
    """Rows of the first three matrices and columns of the last, moved by one head, change no output."""
    weights, query, key = attention_weights_of(draw, 6), draw.normal(2, 3, 6), draw.normal(2, 5, 6)
    moved = {name: weight.roll(2, dims=0) for name, weight in weights.items() if "output" not in name}
    moved |= {"W_output.weight": weights["W_output.weight"].roll(2, dims=1)}
    moved |= {"W_output.bias": weights["W_output.bias"]}
    answer = with_weights(MultiHeadAttention(6, 3), weights)(query, key, key)
    assert_close(with_weights(MultiHeadAttention(6, 3), moved)(query, key, key), answer)
    assert_depends(answer, with_weights(MultiHeadAttention(6, 1), weights)(query, key, key))


# %% check="what_the_heads_found_is_mixed" points=1
def what_the_heads_found_is_mixed(MultiHeadAttention, draw):
    """With W_output's matrix 0, every output is W_output's bias."""
    weights, query, key = attention_weights_of(draw, 6), draw.normal(2, 3, 6), draw.normal(2, 5, 6)
    unmixed = weights | {"W_output.weight": torch.zeros(6, 6).double()}
    answer = with_weights(MultiHeadAttention(6, 2), unmixed)(query, key, key)
    assert_close(answer, weights["W_output.bias"].expand(2, 3, 6))


# %% check="what_the_mask_hides_does_not_matter" points=1
def what_the_mask_hides_does_not_matter(MultiHeadAttention, draw):
    """Other vectors at masked keys change no output, and other vectors at allowed keys do."""
    model = with_weights(MultiHeadAttention(6, 2), attention_weights_of(draw, 6))
    query, key = draw.normal(2, 3, 6), draw.normal(2, 5, 6)
    real = torch.tensor([[True, True, False, True, False], [True, False, False, True, True]])
    mask = real[:, None, None]
    answer = model(query, key, key, mask)
    other = torch.where(real[..., None], key, key + 3)
    assert_close(model(query, other, other, mask), answer)
    other = torch.where(real[..., None], key + 3, key)
    assert_depends(answer, model(query, other, other, mask))


# %% check="however_low_the_scores_nothing_hidden_is_seen" points=1
def however_low_the_scores_nothing_hidden_is_seen(MultiHeadAttention, draw):
    """Where all allowed keys are alike, every query finds the same, however low its scores are."""
    weights, query = attention_weights_of(draw, 6), draw.normal(2, 3, 6)
    real = torch.tensor([[True, True, False, True, False], [True, False, False, True, True]])
    alike = draw.normal(2, 1, 6).expand(2, 5, 6)
    key = torch.where(real[..., None], alike, 0.0)
    expected = weights["W_output.weight"] @ (weights["W_value.weight"] @ alike.mT) + (
        weights["W_output.weight"] @ weights["W_value.bias"] + weights["W_output.bias"]
    ).reshape(6, 1)
    for sign in (1, -1):  # with either sign, some scores are hundreds below zero
        steep = weights | {"W_query.weight": 300.0 * sign * weights["W_query.weight"]}
        answer = with_weights(MultiHeadAttention(6, 2), steep)(query, key, key, real[:, None, None])
        assert_close(answer, expected.mT[:, :3])


# %% check="sequences_do_not_see_each_other" points=1
def sequences_do_not_see_each_other(MultiHeadAttention, draw):
    """A sequence has the same output alone as beside two others."""
    model, x = with_weights(MultiHeadAttention(6, 3), attention_weights_of(draw, 6)), draw.normal(3, 5, 6)
    answer = model(x, x, x)
    assert_close(model(x[1:2], x[1:2], x[1:2]), answer[1:2])
    assert_depends(answer[1:2], answer[:1])


# %% check="other_attentions_have_the_outputs_and_gradients_of_torch" points=3 hidden
def other_attentions_have_the_outputs_and_gradients_of_torch(MultiHeadAttention, draw):
    """Other attentions, masked too, have the outputs and gradients of PyTorch's."""
    for d_model, n_heads, n_queries, n_keys in ((6, 2, 4, 7), (8, 4, 5, 3), (10, 5, 2, 4)):
        weights = attention_weights_of(draw, d_model)
        own = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
        model = with_weights(MultiHeadAttention(d_model, n_heads), weights)
        query, key, value = (draw.normal(3, length, d_model) for length in (n_queries, n_keys, n_keys))
        mask = draw.uniform(3, 1, n_queries, n_keys) < 0.6
        mask[..., 1] = True
        mask[..., 2] = False
        output, weighting = model(query, key, value, mask), draw.normal(3, n_queries, d_model)
        expected = attended_by_torch(own, n_heads, query, key, value, mask)
        assert_close(output, expected, what="the output")
        (output * weighting).sum().backward()
        (expected * weighting).sum().backward()
        gradients = model.gradients()
        for name, weight in own.items():
            assert_close(gradients[name], weight.grad, tolerance=1e-7, what=f"the gradient of {name}")


# %% provided="layers_to_permute"
def self_attention(x, mask=None):
    """Attention of x (B, T, D) over itself, without any matrices; mask (T, T), None = all may be seen."""
    return functional.scaled_dot_product_attention(x, x, x, attn_mask=mask)


def neighbours(x, mask=None):
    """Each vector plus the one before it; before the first comes the last. A mask has no influence."""
    return x + x.roll(1, dims=1)


def with_positions(x, mask=None):
    """Self-attention after the number of its position was added to each vector."""
    return self_attention(x + torch.arange(x.shape[1])[:, None], mask)


LAYERS = {"self_attention": self_attention, "neighbours": neighbours, "with_positions": with_positions}


# %% [markdown] exercise="permutation_gap" bonus difficulty=2 minutes=15
# ### 13. Does order matter? (bonus)
#
# A layer is **permutation equivariant** if it does not matter whether the tokens are put into another order
# before it or after it: with $\pi$ a permutation of the positions, $f(\pi x) = \pi f(x)$. (It would be
# *invariant* if the order did not matter at all, $f(\pi x) = f(x)$, as for a mean over the positions.)
#
# Write `permutation_gap(layer, x, order)`: the largest absolute value in $f(\pi x) - \pi f(x)$, a number. `layer`
# is a name, and $f$ is `LAYERS[layer]`, from the cell above; x is (B, T, D); `order` is a list of T positions,
# and $\pi x$ has at position $i$ what x has at position `order[i]`. A mask speaks of positions, so ask the
# layer without one.
#
# **Example.** For the layer `"neighbours"` and $x = (7, 0, 3, 1)$, with D = 1, the outputs are $(8, 7, 3, 4)$.
# With `order = [2, 0, 1, 3]` the permuted x is $(3, 7, 0, 1)$ with the outputs $(4, 10, 7, 1)$, and the permuted
# outputs are $(3, 8, 7, 4)$. The differences are 1, 2, 0 and −3, and the gap is 3.
#
# <details><summary>Hint 1</summary>
#
# `x[:, order]` permutes the positions of every sequence. How often, and where, does your code do this?
#
# </details>


# %% solution="permutation_gap"
def permutation_gap(layer: str, x: Tensor, order: list[int]) -> float:
    """How far the layer is from equivariance: the largest entry of |f(π x) - π f(x)|, for x (B, T, D)."""
    ### BEGIN SOLUTION
    f = LAYERS[layer]
    return (f(x[:, order]) - f(x)[:, order]).abs().max().item()
    ### END SOLUTION


# %% check="the_example_gap_is_3" points=1
def the_example_gap_is_3(permutation_gap):
    """The layer of the example has the gap 3."""
    x = torch.tensor([[[7.0], [0.0], [3.0], [1.0]]]).double()
    assert_close(permutation_gap("neighbours", x, [2, 0, 1, 3]), 3.0)


# %% check="attention_alone_does_not_mind" points=1
def attention_alone_does_not_mind(permutation_gap, draw):
    """Self-attention has no gap, and has one as soon as positions are added."""
    x, order = draw.normal(2, 5, 3), [3, 0, 4, 2, 1]
    assert_close(permutation_gap("self_attention", x, order), 0.0, tolerance=1e-9)
    assert_true(permutation_gap("with_positions", x, order) > 0.01, "With positions there should be a gap.")


# %% check="without_a_permutation_there_is_no_gap" points=1
def without_a_permutation_there_is_no_gap(permutation_gap, draw):
    """If the order stays as it is, no layer has a gap; turned by one, positions make one and neighbours none."""
    x = 3 * draw.normal(2, 4, 3)
    assert_close(permutation_gap("with_positions", x, [0, 1, 2, 3]), 0.0, tolerance=1e-9)
    assert_close(permutation_gap("neighbours", x, [1, 2, 3, 0]), 0.0, tolerance=1e-9)
    assert_true(permutation_gap("with_positions", x, [1, 2, 3, 0]) > 0.001, "The positions should matter.")


# %% check="other_layers_have_their_gap" points=1 hidden
def other_layers_have_their_gap(permutation_gap, draw):
    """Other sequences and orders have their gap, in each of the layers."""
    for batch_size, n_positions in ((2, 6), (3, 5)):
        drawn, order = draw.normal(batch_size, n_positions, 4), [2, 0, 1, *range(n_positions - 1, 2, -1)]
        for layer, x in ((layer, x) for layer in LAYERS for x in (drawn, -drawn)):
            moved, outputs = torch.stack([x[:, place] for place in order], dim=1), LAYERS[layer](x)
            differences = [LAYERS[layer](moved)[:, i] - outputs[:, place] for i, place in enumerate(order)]
            expected = max(difference.abs().max().item() for difference in differences)
            assert_close(permutation_gap(layer, x, order), expected, tolerance=1e-9, what=layer)


# %% provided="keys_at_right_angles" helper
def orthogonal_keys(draw, n_keys, d_head):
    """Keys (S, d_k) at right angles to each other, of lengths between 1/2 and 2."""
    mirror = draw.normal(d_head, 1)
    turned = torch.eye(d_head).double() - 2 * mirror @ mirror.T / mirror.square().sum()
    return turned[:n_keys] * draw.uniform(n_keys, 1, low=0.5, high=2.0)


# %% [markdown] exercise="query_for" difficulty=2 minutes=15 exempt="gradient"
# ### 14. Design a query
#
# A query can be made to order. S keys of width $d_k$ stand at right angles to each other ($k_i \cdot k_j = 0$ for
# $i \ne j$), but may be of different lengths. You want a query whose scaled dot-product attention looks
# **equally** at the keys whose numbers are in the list `wanted`, with weights that together make up `fraction`,
# and equally at all the others, which get the rest.
#
# Write `query_for(keys, wanted, fraction)`, which returns such a query, (d_k,). `keys` is (S, d_k); some keys are
# wanted and some are not; `fraction` lies between 0 and 1 and is more than the wanted keys would get from
# a query of zeros. The scores are divided by $\sqrt{d_k}$ as in exercise 1.
#
# **Example.** Three keys, the first three unit vectors of four dimensions; `wanted = [0]`, `fraction = 0.5`. The
# query $(2 \ln 2, 0, 0, 0)$ has the scores $(\ln 2, 0, 0)$ and the weights $(1/2, 1/4, 1/4)$. With a fraction of
# nearly 1, the output is nearly a copy of a value: attention can fetch.
#
# <details><summary>Hint 1</summary>
#
# Let the other scores be 0 and the wanted ones $s$. Write down the weights and solve for $s$; how many keys are
# wanted, and how many are not?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Try a sum of multiples of the wanted keys. What is $k_i \cdot k_i$, and by how much must $k_i$ be multiplied to
# get the score you want?
#
# </details>


# %% solution="query_for"
def query_for(keys: Tensor, wanted: list[int], fraction: float) -> Tensor:
    """A query (d_k,) that gives the wanted ones of orthogonal keys (S, d_k) equal weights that sum to `fraction`."""
    ### BEGIN SOLUTION
    n_others = len(keys) - len(wanted)
    score = math.log(fraction / len(wanted) * n_others / (1 - fraction))  # the others' scores are 0
    chosen = keys[wanted]
    directions = chosen / chosen.square().sum(-1, keepdim=True)  # k · k / |k|² = 1
    return score * math.sqrt(keys.shape[-1]) * directions.sum(0)
    ### END SOLUTION


# %% provided="weights_of_a_query" helper
def looks_at(query, keys):
    """The attention weights (S,) of a query (d_k,) over keys (S, d_k)."""
    query = torch.as_tensor(query).double()
    assert_equal(list(query.shape), [keys.shape[-1]], what="the shape of the query")
    return torch.softmax(keys @ query / math.sqrt(keys.shape[-1]), dim=-1)


# %% check="the_example_query_looks_at_one_half" points=1
def the_example_query_looks_at_one_half(query_for):
    """The query of the example has the weights 1/2, 1/4 and 1/4."""
    keys = torch.eye(4).double()[:3]
    expected = torch.tensor([0.5, 0.25, 0.25]).double()
    assert_close(looks_at(query_for(keys, [0], 0.5), keys), expected, tolerance=1e-5)
    turned = keys.flip(0)
    weights = looks_at(query_for(turned, [0], 0.5), turned)
    assert_close(weights, expected, tolerance=1e-5, what="the weights with the keys in the other order")


# %% check="wanted_keys_get_equal_weights" points=1
def wanted_keys_get_equal_weights(query_for):
    """Two wanted keys, one three times as long as the other, get the same weight."""
    keys = torch.diag(torch.tensor([1.0, 3.0, 1.0, 2.0])).double()
    weights = looks_at(query_for(keys, [1, 2], 0.75), keys)
    assert_close(weights[1], weights[2], tolerance=1e-5)
    assert_true(weights[1] > weights[0], "The wanted keys should get more than the others.")


# %% check="wanted_keys_get_their_share" points=1
def wanted_keys_get_their_share(query_for):
    """Three of five keys of length 1, wanted with a fraction of 0.9, get 0.3 each, and the others 0.05 each."""
    keys = torch.eye(6).double()[:5]
    expected = torch.tensor([0.3, 0.05, 0.3, 0.05, 0.3]).double()
    assert_close(looks_at(query_for(keys, [0, 2, 4], 0.9), keys), expected, tolerance=1e-5)


# %% check="a_value_is_copied" points=1
def a_value_is_copied(query_for, draw):
    """Of six keys of several lengths, a short one wanted with a fraction of 0.9999 brings its value, nearly."""
    keys, values = orthogonal_keys(draw, 6, 7), draw.normal(6, 3)
    keys[4] *= 0.5 / keys[4].norm()
    values[4] += 9  # unlike the others
    output = looks_at(query_for(keys, [4], 0.9999), keys) @ values
    assert_close(output, values[4], tolerance=0.002)


# %% check="other_keys_get_what_is_wanted" points=2 hidden
def other_keys_get_what_is_wanted(query_for, draw):
    """Other keys, turned and of other lengths, get the weights that are wanted."""
    for n_keys, d_head, wanted in ((5, 7, [3]), (6, 8, [5, 1]), (7, 7, [0, 2, 3, 6])):
        keys, fraction = orthogonal_keys(draw, n_keys, d_head), draw.number(0.7, 0.99)
        expected = torch.full((n_keys,), (1 - fraction) / (n_keys - len(wanted))).double()
        expected[wanted] = fraction / len(wanted)
        assert_close(looks_at(query_for(keys, wanted, fraction), keys), expected, tolerance=1e-5)


# %% provided="a_broken_map"
# For the next exercise: queries and keys of six words, and the weights that a broken causal attention made.
WORDS = ["the", "old", "cat", "saw", "a", "dog"]
QUERIES = [[2, 0, 1, 0], [0, 2, 0, 1], [1, 1, 2, 0], [0, 1, 1, 2], [2, 1, 0, 1], [1, 0, 2, 1]]
KEYS = [[1, 1, 0, 1], [0, 2, 1, 0], [2, 0, 1, 1], [1, 0, 0, 2], [1, 1, 2, 0], [0, 1, 1, 2]]
BROKEN_MAP = [
    [0.096, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.17, 0.28, 0.0, 0.0, 0.0, 0.0],
    [0.062, 0.169, 0.169, 0.0, 0.0, 0.0],
    [0.099, 0.099, 0.099, 0.163, 0.0, 0.0],
    [0.191, 0.07, 0.315, 0.191, 0.116, 0.0],
    [0.065, 0.065, 0.292, 0.108, 0.292, 0.177],
]

# %%
from course.plots import heat_map

heat_map(BROKEN_MAP, WORDS, WORDS, largest=0.4)

# %% [markdown] exercise="fault_of_the_map" difficulty=2 minutes=10
# ### 15. Find the fault
#
# The picture shows the weights of a causal attention over six words, made from the `QUERIES` and `KEYS` of the
# cell above. Exactly one thing is wrong with it. Write `fault_of_the_map()`, which takes nothing and
# returns the name of the fault:
#
# | name | what the program would do |
# |---|---|
# | `"mask_after_softmax"` | take the softmax of all scores and set forbidden weights to 0 afterwards |
# | `"forbidden_scores_zero"` | set forbidden scores to 0 before the softmax |
# | `"triangle_transposed"` | hide the past instead of the future |
# | `"softmax_over_queries"` | let the softmax run down the columns, with the right mask |
# | `"scores_not_scaled"` | not divide the scores by the root of the width |
# | `"diagonal_hidden"` | hide each word from itself as well, except the first |
#
# You may compute with `QUERIES` and `KEYS`, and with `BROKEN_MAP`, or look and think.
#
# **Example of the reasoning.** If the first row said $(0.2, 0.1, \dots)$, words of the future would have
# weights, and only the second and the third fault could be meant.
#
# <details><summary>Hint 1</summary>
#
# Where are the zeros? Which faults would put something there?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Sum each row and each column. What do the three faults that are left say about these sums?
#
# </details>


# %% solution="fault_of_the_map"
def fault_of_the_map() -> str:
    """The name of the one fault behind the broken map."""
    ### BEGIN SOLUTION
    return "mask_after_softmax"
    ### END SOLUTION


# %% check="the_fault_leaves_the_future_dark" points=1
def the_fault_leaves_the_future_dark(fault_of_the_map):
    """The answer is one of the six names, and its fault puts zeros where the map has them."""
    shown_by = {
        "mask_after_softmax": "",
        "forbidden_scores_zero": "the future has weights",
        "triangle_transposed": "the future has weights",
        "softmax_over_queries": "",
        "scores_not_scaled": "",
        "diagonal_hidden": "no word but the first looks at itself",
    }
    answer = fault_of_the_map()
    assert_true(answer in shown_by, f"{answer!r} is not one of the six names.")
    assert_true(not shown_by[answer], f"With that fault {shown_by[answer]}. Does the map show this?")


# %% check="the_fault_makes_the_whole_map" points=2 hidden
def the_fault_makes_the_whole_map(fault_of_the_map):
    """The fault you name makes, from the queries and keys, exactly this map."""
    query, key = torch.tensor(QUERIES).double(), torch.tensor(KEYS).double()
    scores, mask = query @ key.T / 2, torch.ones(6, 6, dtype=torch.bool).tril()
    fault = fault_of_the_map()
    hidden = scores.masked_fill(~mask, -math.inf)
    maps = {
        "mask_after_softmax": scores.softmax(-1) * mask,
        "forbidden_scores_zero": (scores * mask).softmax(-1),
        "triangle_transposed": scores.masked_fill(~mask.T, -math.inf).softmax(-1),
        "softmax_over_queries": hidden.softmax(0),
        "scores_not_scaled": (2 * hidden).softmax(-1),
        "diagonal_hidden": hidden.masked_fill(torch.eye(6).bool() & (torch.arange(6) > 0), -math.inf).softmax(
            -1
        ),
    }
    made = maps.get(str(fault), torch.zeros(6, 6).double())
    assert_close(torch.tensor(BROKEN_MAP).double(), made, tolerance=6e-4, what="the map with that fault")
