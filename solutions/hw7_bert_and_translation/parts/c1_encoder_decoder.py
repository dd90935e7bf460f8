# %% [markdown]
# ## Part C. Encoder and decoder
#
# A translator is an encoder that reads the source with nothing hidden but padding, and a decoder that writes
# the target word by word and looks at the encoder's output, the **memory**, (B, S, D), in every block. Three
# attentions, three masks.

# %% [markdown] exercise="CrossAttention" difficulty=2 minutes=30 forbids="torch.nn.MultiheadAttention,torch.nn.functional.scaled_dot_product_attention,torch.nn.attention,torch.nn.functional.multi_head_attention_forward,torch.nn.Transformer,torch.nn.TransformerDecoder,torch.nn.TransformerDecoderLayer,torch.nn.TransformerEncoder,torch.nn.TransformerEncoderLayer,course.models,torch_attention" dtype="float64"
# ### 14. Cross-attention
#
# The decoder asks, the memory answers: queries come from the target's vectors `x`, (B, T, D), keys and values
# from `memory`, (B, S, D). In each of H heads, of $d_k = D / H$ neighbouring features,
#
# $$\text{scores} = \frac{\mathbf q \mathbf k^\top}{\sqrt{d_k}} \qquad
# \text{weights} = \text{softmax over the keys} \qquad \text{head} = \text{weights} \cdot \mathbf v$$
#
# and the heads, side by side, go through one more matrix.
#
# Write the class `CrossAttention`, an `nn.Module`:
#
# - `CrossAttention(d_model, n_heads)` has the parameters `W_query`, `W_key`, `W_value` and `W_output`, all
#   (D, D) float64, without biases, filled however you like. As in `nn.Linear`, a matrix W turns rows `x` into
#   `x @ W.T`.
# - `forward(x, memory, mask)` returns (B, T, D). `mask`, (B, 1, 1, S), is True at the keys that may be attended
#   to.
#
# Scores and softmax are yours to write; torch's ready-made attention, such as `nn.MultiheadAttention` and
# `functional.scaled_dot_product_attention`, may not be called.
#
# **Example.** $D = 2$, $H = 2$, so $d_k = 1$; all four matrices are the identity. The target has one position,
# $(1, 1)$; the memory has two, $(0, \ln 9)$ and $(\ln 3, 0)$. Head 0 has the scores $0$ and $\ln 3$, the weights
# 1/4 and 3/4 and the value $\tfrac34 \ln 3 \approx 0.824$; head 1 has the scores $\ln 9$ and 0, the weights 9/10 and
# 1/10 and the value $\tfrac9{10} \ln 9 \approx 1.978$. The result is $(0.824, 1.978)$.
#
# <details><summary>Hint 1</summary>
#
# Write the shape behind every line. Which of B, T, S, H and $d_k$ does each of q, k, v, scores and weights have? T
# and S differ, so a wrong one shows.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Heads: `(B, T, D) → (B, T, H, d_k) → (B, H, T, d_k)`, and back again after the weighted sum.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `scores.masked_fill(~mask, -math.inf)` before the softmax; along which axis does the softmax run?
#
# </details>


# %% solution="CrossAttention"
class CrossAttention(nn.Module):
    """Multi-head attention from x (B, T, D) to memory (B, S, D); W_query, W_key, W_value, W_output (D, D)."""

    def __init__(self, d_model: int, n_heads: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads = n_heads
        for name in ("W_query", "W_key", "W_value", "W_output"):
            setattr(self, name, nn.Parameter(torch.randn(d_model, d_model, dtype=torch.float64) / d_model))
        ### END SOLUTION

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        """What each position of x finds in the memory: (B, T, D)."""
        ### BEGIN SOLUTION
        q, k, v = x @ self.W_query.T, memory @ self.W_key.T, memory @ self.W_value.T
        q, k, v = (part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
        weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
        return (weights @ v).transpose(1, 2).flatten(start_dim=2) @ self.W_output.T  # (B, T, D)
        ### END SOLUTION


# %% provided="cross_weights" helper
MATRICES = ("W_query", "W_key", "W_value", "W_output")


def cross_weights(draw, d_model):
    """Four random matrices of a cross-attention, by name."""
    return {name: draw.normal(d_model, d_model) / 2 for name in MATRICES}


def torch_attention(weights, n_heads):
    """torch's own attention with these four matrices."""
    oracle = nn.MultiheadAttention(
        len(weights["W_output"]), n_heads, bias=False, batch_first=True, dtype=torch.float64
    )
    stacked = torch.cat([weights[name] for name in MATRICES[:3]])
    oracle.load_state_dict({"in_proj_weight": stacked, "out_proj.weight": weights["W_output"]})
    return oracle


def all_keys(batch_size, n_keys):
    """A mask that hides nothing: (B, 1, 1, S)."""
    return torch.ones(batch_size, 1, 1, n_keys, dtype=torch.bool)


# %% check="the_example_finds_0_824_and_1_978" points=1
def the_example_finds_0_824_and_1_978(CrossAttention):
    """The one position of the example finds 3/4 ln 3 and 9/10 ln 9; in float64, gradients flow back."""
    eye = torch.eye(2, dtype=torch.float64)
    layer = with_weights(CrossAttention(2, 2), dict.fromkeys(MATRICES, eye))
    memory = torch.tensor([[[0.0, math.log(9)], [math.log(3), 0.0]]], dtype=torch.float64)
    x = torch.ones(1, 1, 2, dtype=torch.float64)
    answer = layer(x, memory, all_keys(1, 2))
    assert_close(answer, torch.tensor([[[0.75 * math.log(3), 0.9 * math.log(9)]]], dtype=torch.float64))
    assert_made_in_float64(CrossAttention(2, 2), dict.fromkeys(MATRICES, eye))
    assert_differentiable(layer, x, memory, all_keys(1, 2))


# %% check="scores_are_divided_by_the_root_of_k" points=1
def scores_are_divided_by_the_root_of_k(CrossAttention):
    """With one head of width 4, products of 0 and 2 ln 3 become the weights 1/4 and 3/4."""
    layer = with_weights(CrossAttention(4, 1), dict.fromkeys(MATRICES, torch.eye(4, dtype=torch.float64)))
    x, memory = torch.zeros(1, 1, 4, dtype=torch.float64), torch.zeros(1, 2, 4, dtype=torch.float64)
    x[0, 0, 0], memory[0, 1, 0] = 2.0, math.log(3)
    expected = torch.tensor([[[0.75 * math.log(3), 0.0, 0.0, 0.0]]], dtype=torch.float64)
    assert_close(layer(x, memory, all_keys(1, 2)), expected)


# %% check="what_is_found_comes_from_the_memory" points=1
def what_is_found_comes_from_the_memory(CrossAttention, draw):
    """Where all memory positions hold the same vector m, everybody finds W_output W_value m."""
    weights, m = cross_weights(draw, 6), draw.normal(2, 6)
    layer = with_weights(CrossAttention(6, 3), weights)
    expected = torch.stack([weights["W_output"] @ (weights["W_value"] @ row) for row in m])
    answer = layer(draw.normal(2, 4, 6), m[:, None].expand(2, 5, 6), all_keys(2, 5))
    assert_close(answer, expected[:, None].expand(2, 4, 6))


# %% check="each_position_asks_for_itself" points=1
def each_position_asks_for_itself(CrossAttention, draw):
    """Another vector at one target position changes what this position finds, and no other."""
    layer = with_weights(CrossAttention(6, 2), cross_weights(draw, 6))
    x, memory = draw.normal(2, 4, 6), draw.normal(2, 3, 6)
    other = x.clone()
    other[:, 2] += draw.normal(2, 6)
    change = (layer(other, memory, all_keys(2, 3)) - layer(x, memory, all_keys(2, 3))).abs().amax(-1)
    assert_equal(change > 1e-9, torch.tensor([[False, False, True, False]] * 2), what="positions that change")


# %% check="every_position_reads_the_whole_source" points=1
def every_position_reads_the_whole_source(CrossAttention, draw):
    """Another vector at any place of the memory changes what every target position finds."""
    layer = with_weights(CrossAttention(6, 3), cross_weights(draw, 6))
    x, memory = draw.normal(2, 4, 6), draw.normal(2, 5, 6)
    answer = layer(x, memory, all_keys(2, 5))
    for place in range(5):
        other = memory.clone()
        other[:, place] += draw.normal(2, 6)
        change = (layer(x, other, all_keys(2, 5)) - answer).abs().amax(-1)
        assert_true(bool((change > 1e-9).all()), f"Some position does not read place {place} of the source.")


# %% check="padding_of_the_source_is_not_read" points=1
def padding_of_the_source_is_not_read(CrossAttention, draw):
    """Other vectors at masked places of the memory change nothing."""
    layer = with_weights(CrossAttention(6, 3), cross_weights(draw, 6))
    x, memory = draw.normal(2, 4, 6), draw.normal(2, 5, 6)
    mask = (torch.arange(5) < torch.tensor([[3], [5]]))[:, None, None]
    elsewhere = torch.where(mask.transpose(-2, -1)[:, 0], memory, memory + 5)
    answer = layer(x, memory, mask)
    assert_close(layer(x, elsewhere, mask), answer)
    assert_depends(answer, layer(x, elsewhere, all_keys(2, 5)))


# %% check="however_low_the_scores_padding_is_not_read" points=1
def however_low_the_scores_padding_is_not_read(CrossAttention):
    """Two words with a score of -283, and padding beside them with 0: the mean of the words is found."""
    layer = with_weights(CrossAttention(2, 1), dict.fromkeys(MATRICES, torch.eye(2, dtype=torch.float64)))
    x = torch.tensor([[[20.0, 0.0]]], dtype=torch.float64)
    memory = torch.tensor([[[-20.0, 1.0], [-20.0, 3.0], [0.0, 50.0]]], dtype=torch.float64)
    answer = layer(x, memory, torch.tensor([[[[True, True, False]]]]))
    assert_close(answer, torch.tensor([[[-20.0, 2.0]]], dtype=torch.float64))


# %% check="three_heads_find_what_torch_finds" points=1
def three_heads_find_what_torch_finds(CrossAttention, draw):
    """With the same matrices, three heads find the numbers of torch's attention, padding hidden."""
    weights, x, memory = cross_weights(draw, 6), draw.normal(2, 4, 6), draw.normal(2, 4, 6)
    real = torch.arange(4) < torch.tensor([[4], [3]])
    expected, _ = torch_attention(weights, 3)(x, memory, memory, key_padding_mask=~real)
    answer = with_weights(CrossAttention(6, 3), weights)(x, memory, real[:, None, None])
    assert_close(answer, expected.detach())


# %% check="other_sizes_find_what_torch_finds" points=2 hidden
def other_sizes_find_what_torch_finds(CrossAttention, draw):
    """With other sizes, outputs and gradients are those of torch's attention with these weights."""
    for d_model, n_heads, n_targets, n_sources in ((6, 2, 3, 7), (12, 3, 5, 4), (8, 4, 6, 5)):
        weights, x = cross_weights(draw, d_model), draw.normal(3, n_targets, d_model)
        memory = draw.normal(3, n_sources, d_model)
        real = torch.arange(n_sources) < torch.tensor([[n_sources], [1], [n_sources - 1]])
        layer = with_weights(CrossAttention(d_model, n_heads), weights)
        oracle = torch_attention(weights, n_heads)
        expected, _ = oracle(x, memory, memory, key_padding_mask=~real)
        answer, weighting = layer(x, memory, real[:, None, None]), draw.normal(3, n_targets, d_model)
        assert_close(answer, expected.detach())
        (answer * weighting).sum().backward()
        (expected * weighting).sum().backward()
        grads = dict(zip(MATRICES[:3], oracle.in_proj_weight.grad.chunk(3), strict=True))
        own = layer.gradients()
        for name, grad in (grads | {"W_output": oracle.out_proj.weight.grad}).items():
            assert_close(own[name], grad, what=f"the gradient of {name}")


# %% [markdown] exercise="translation_masks" difficulty=2 minutes=15 forbids="course.models"
# ### 15. Three masks
#
# Write `translation_masks(source, target, source_pad, target_pad)`, which returns the tuple
# `(encoder, decoder, cross)` of boolean masks, True where a query (row) may attend to a key (column):
#
# | mask | shape | queries and keys | what is forbidden |
# |---|---|---|---|
# | `encoder` | (B, 1, 1, S) | source, source | keys that are padding |
# | `decoder` | (B, 1, T, T) | target, target | keys that come later, and keys that are padding |
# | `cross` | (B, 1, 1, S) | target, source | keys that are padding |
#
# `source` is (B, S) and `target` (B, T), both int64; the two languages have padding tokens of their own. The
# first token of a target is never padding, and a position may always attend to itself unless it is padding.
#
# **Example.** `source = [[4, 6, 8, 0]]`, `target = [[1, 9, 5]]`, `source_pad = 0`, `target_pad = 9` (padding may
# stand anywhere): encoder and cross are `[[[[True, True, True, False]]]]`, and decoder is `[[[[True, False, False],
# [True, False, False], [True, False, True]]]]`.
#
# <details><summary>Hint 1</summary>
#
# For each mask: whose positions are the keys? Only the keys' padding matters.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `torch.ones(T, T, dtype=torch.bool).tril()` has (queries, keys); a mask of shape (B, 1, 1, T) forbids keys.
# Both conditions must hold.
#
# </details>


# %% solution="translation_masks"
def translation_masks(
    source: Tensor, target: Tensor, source_pad: int, target_pad: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The masks of the encoder (B, 1, 1, S), of the decoder (B, 1, T, T) and between them (B, 1, 1, S)."""
    ### BEGIN SOLUTION
    real_source = (source != source_pad)[:, None, None]  # (B, 1, 1, S)
    real_target = (target != target_pad)[:, None, None]  # (B, 1, 1, T)
    triangle = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()  # (T, T)
    return real_source, real_target & triangle, real_source
    ### END SOLUTION


# %% check="the_example_has_its_masks" points=1
def the_example_has_its_masks(translation_masks):
    """The source of the example hides its last word; the target hides what comes later, and its padding."""
    source, target = torch.tensor([[4, 6, 8, 0]]), torch.tensor([[1, 9, 5]])
    encoder, decoder, cross = translation_masks(source, target, 0, 9)
    rows = [[True, False, False], [True, False, False], [True, False, True]]
    assert_equal(encoder, torch.tensor([[[[True, True, True, False]]]]), what="encoder")
    assert_equal(decoder, torch.tensor([[rows]]), what="decoder")
    assert_equal(cross, torch.tensor([[[[True, True, True, False]]]]), what="cross")
    encoder, decoder, _ = translation_masks(torch.tensor([[4, 6, 0, 0]]), torch.tensor([[1, 5, 9]]), 0, 9)
    rows = [[True, False, False], [True, True, False], [True, True, False]]
    assert_equal(encoder, torch.tensor([[[[True, True, False, False]]]]), what="encoder of another pair")
    assert_equal(decoder, torch.tensor([[rows]]), what="decoder of another pair")


# %% check="the_source_is_read_whole" points=1
def the_source_is_read_whole(translation_masks):
    """Encoder and cross-attention see every real word of a source longer than the target, and no padding."""
    source = torch.tensor([[4, 6, 5, 7, 4], [3, 8, 0, 0, 0]])
    encoder, _, cross = translation_masks(source, torch.tensor([[1, 5, 6], [1, 2, 9]]), 0, 9)
    assert_equal(encoder, (source > 0).reshape(2, 1, 1, 5), what="encoder")
    assert_equal(cross, (source > 0).reshape(2, 1, 1, 5), what="cross")


# %% check="the_decoder_sees_itself_and_its_past" points=1
def the_decoder_sees_itself_and_its_past(translation_masks):
    """Without padding, word t of a target longer than the source sees the words 0 … t."""
    _, decoder, _ = translation_masks(
        torch.tensor([[4, 6], [3, 8]]), torch.tensor([[1, 5, 6, 7, 0]] * 2), 0, 9
    )
    expected = torch.tensor([[key <= query for key in range(5)] for query in range(5)])
    assert_equal(decoder, expected.expand(2, 1, 5, 5))


# %% check="each_language_has_its_own_padding" points=1
def each_language_has_its_own_padding(translation_masks):
    """The source's padding token may be a word of the target, and the other way round."""
    source, target = torch.tensor([[9, 4, 0, 0], [9, 9, 9, 0]]), torch.tensor([[1, 0, 5], [1, 0, 9]])
    encoder, decoder, cross = translation_masks(source, target, 0, 9)
    assert_equal(encoder, (source != 0).reshape(2, 1, 1, 4), what="encoder")
    assert_equal(cross, (source != 0).reshape(2, 1, 1, 4), what="cross")
    assert_equal(decoder[:, 0, 2], target != 9, what="decoder, the row of the last position")


# %% check="other_sentences_have_their_masks" points=2 hidden
def other_sentences_have_their_masks(translation_masks, draw):
    """Other sentences have their three masks, whichever of the two is longer."""
    for n_sources, n_targets, pads in ((4, 6, (0, 11)), (7, 3, (12, 0)), (3, 5, (5, 5))):
        source, target = draw.integers(0, 13, 5, n_sources), draw.integers(0, 13, 5, n_targets)
        source[:, 0], target[:, 0] = 7, 8
        source[0, 1:], target[1, 2:] = pads[0], pads[1]
        source[2, 1:], target[2, 1:] = 3, 2
        encoder, decoder, cross = translation_masks(source, target, *pads)
        real = (source != pads[0]).reshape(5, 1, 1, n_sources)
        rows = [
            [
                [bool(target[i, key] != pads[1]) and key <= query for key in range(n_targets)]
                for query in range(n_targets)
            ]
            for i in range(5)
        ]
        assert_equal(encoder, real, what="encoder")
        assert_equal(decoder, torch.tensor(rows)[:, None], what="decoder")
        assert_equal(cross, real, what="cross")


# %% alive="a_look_at_your_masks"
words = torch.tensor([[5, 3, 8, 4, 6, 0, 0]])  # two places of padding
look(lambda plots: plots.shades(translation_masks(words, words, 0, 0)[1][0, 0]))  # of the decoder


# %% [markdown] exercise="DecoderBlock" difficulty=3 minutes=25 forbids="torch.nn.functional.multi_head_attention_forward,torch.nn.Transformer,torch.nn.TransformerDecoder,torch.nn.TransformerDecoderLayer,torch.nn.TransformerEncoder,torch.nn.TransformerEncoderLayer,course.models.transformer,course.models.translator,torch_block" allows="course.models.multi_head_attention,course.models.layer_norm" dtype="float64"
# ### 16. A block of the decoder
#
# In the order of 2017 (post-norm), each of three steps adds what it found and normalises the sum:
#
# $$\mathbf x \leftarrow \text{norm}(\mathbf x + \text{self-attention}(\mathbf x)) \qquad
# \mathbf x \leftarrow \text{norm}(\mathbf x + \text{cross-attention}(\mathbf x, \text{memory})) \qquad
# \mathbf x \leftarrow \text{norm}(\mathbf x + \text{feed-forward}(\mathbf x))$$
#
# where the feed-forward layer is `contract(relu(expand(x)))`.
#
# Write the class `DecoderBlock`, an `nn.Module`. `DecoderBlock(d_model, n_heads, d_ff)` has, under these names,
#
# | attribute | what | from |
# |---|---|---|
# | `self_attention`, `cross_attention` | `MultiHeadAttention(d_model, n_heads)` | the course |
# | `expand`, `contract` | `nn.Linear`, D → `d_ff` and `d_ff` → D | torch |
# | `norm_self`, `norm_cross`, `norm_feed_forward` | `LayerNorm(d_model)` | the course |
#
# all in float64: end `__init__` with `self.double()`. `forward(x, memory, self_mask, cross_mask)` takes `x`
# (B, T, D), `memory` (B, S, D) and the masks `decoder` and `cross` of the last exercise, and returns (B, T, D).
# A `MultiHeadAttention` is called with `(query, key, value, mask)`: the vectors from which it computes queries,
# keys and values, and a mask. Your `CrossAttention` does not fit in here: the checks load the weights of torch's own
# block, whose attention has biases. It is used at the end of the notebook.
#
# The drawing below is the whole Transformer of 2017, step by step; your block is what stands in its decoder.
#
# **Example.** When all of a block's matrices and biases are zero, no attention finds anything, and what is left
# of it is three norms: the vector $(1, 3)$ becomes $(-1, 1)$.
#
# <details><summary>Hint 1</summary>
#
# What do the queries of the cross-attention come from, and what its keys? Which of the two masks has a column
# for each position of the memory?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Three lines of the same form, and `x` stands twice on the right of each: once inside the step, once beside it.
#
# </details>


# %% alive="a_drawing_transformer"
from course import figures

figures.machine("transformer")  # step by step


# %% solution="DecoderBlock"
class DecoderBlock(nn.Module):
    """Self-attention, cross-attention, feed-forward, each followed by residual and norm (post-norm)."""

    def __init__(self, d_model: int, n_heads: int, d_ff: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.expand, self.contract = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm_self, self.norm_cross = LayerNorm(d_model), LayerNorm(d_model)
        self.norm_feed_forward = LayerNorm(d_model)
        self.double()
        ### END SOLUTION

    def forward(self, x: Tensor, memory: Tensor, self_mask: Tensor, cross_mask: Tensor) -> Tensor:
        """The vectors of the target after the block: (B, T, D)."""
        ### BEGIN SOLUTION
        x = self.norm_self(x + self.self_attention(x, x, x, self_mask))
        x = self.norm_cross(x + self.cross_attention(x, memory, memory, cross_mask))
        return self.norm_feed_forward(x + self.contract(functional.relu(self.expand(x))))
        ### END SOLUTION


# %% provided="block_weights" helper
TORCH_NAMES = {"self_attn": "self_attention", "multihead_attn": "cross_attention"}
TORCH_NAMES |= {"linear1": "expand", "linear2": "contract"}
TORCH_NAMES |= {"norm1": "norm_self", "norm2": "norm_cross", "norm3": "norm_feed_forward"}


def torch_block(draw, d_model, n_heads, d_ff):
    """torch's own decoder layer with random weights, and the same weights under the names of this homework."""
    theirs = nn.TransformerDecoderLayer(d_model, n_heads, d_ff, 0.0, batch_first=True, dtype=torch.float64)
    theirs.load_state_dict({name: draw.normal(*w.shape) / 2 for name, w in theirs.state_dict().items()})
    ours = {}
    for name, weight in theirs.state_dict().items():
        ours |= translate_weight(name, weight, TORCH_NAMES, is_norm=False)
    return theirs, ours


def random_block(draw, DecoderBlock, *sizes):
    """A block with random weights, in which the relu passes everything on."""
    weights = torch_block(draw, *sizes)[1]
    weights["expand.bias"] += 20
    return with_weights(DecoderBlock(*sizes), weights)


def causal(batch_size, n_targets):
    """The triangle for every sentence: (B, 1, T, T)."""
    return torch.ones(n_targets, n_targets, dtype=torch.bool).tril().expand(batch_size, 1, -1, -1)


def decoded_by_torch(theirs, x, memory, real_x, real):
    """What torch's layer makes of x under the triangle; padding, False in `real_x` and `real`, is hidden."""
    triangle = causal(len(x), x.shape[1])[0, 0]
    hidden = {"tgt_key_padding_mask": ~real_x, "memory_key_padding_mask": ~real}
    return theirs(x, memory, tgt_mask=~triangle, **hidden)


# %% check="with_nothing_found_three_norms_are_left" points=1
def with_nothing_found_three_norms_are_left(DecoderBlock, draw):
    """With all matrices and biases zero, (1, 3) becomes (-1, 1), and so does (5, 9)."""
    _, weights = torch_block(draw, 2, 1, 3)
    zeros = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    gains = {name: torch.ones_like(weight) for name, weight in weights.items() if name.endswith("gain")}
    block = with_weights(DecoderBlock(2, 1, 3), zeros | gains)
    x = torch.tensor([[[1.0, 3.0], [5.0, 9.0]]], dtype=torch.float64)
    answer = block(x, torch.ones(1, 3, 2, dtype=torch.float64), causal(1, 2), all_keys(1, 3))
    assert_close(answer, torch.tensor([[[-1.0, 1.0]] * 2], dtype=torch.float64), tolerance=1e-4)


# %% check="the_future_does_not_change_the_past" points=1
def the_future_does_not_change_the_past(DecoderBlock, draw):
    """Another vector at position 2 changes positions from there on only; in float64, gradients flow back."""
    block = random_block(draw, DecoderBlock, 6, 3, 5)
    x, memory = draw.normal(2, 4, 6), draw.normal(2, 5, 6)
    other = x.clone()
    other[:, 2] += draw.normal(2, 6)
    masks = causal(2, 4), all_keys(2, 5)
    change = (block(other, memory, *masks) - block(x, memory, *masks)).abs().amax(-1)
    assert_equal(change > 1e-9, torch.tensor([[False, False, True, True]] * 2), what="positions that change")
    assert_made_in_float64(DecoderBlock(6, 3, 5), torch_block(draw, 6, 3, 5)[1])
    assert_differentiable(block, x, memory, *masks)


# %% check="the_first_word_reads_the_end_of_the_source" points=1
def the_first_word_reads_the_end_of_the_source(DecoderBlock, draw):
    """Another vector at any place of a memory longer than the target changes every position."""
    block = random_block(draw, DecoderBlock, 6, 2, 4)
    x, memory = draw.normal(2, 3, 6), draw.normal(2, 5, 6)
    answer = block(x, memory, causal(2, 3), all_keys(2, 5))
    for place in range(5):
        other = memory.clone()
        other[:, place] += draw.normal(2, 6)
        change = (block(x, other, causal(2, 3), all_keys(2, 5)) - answer).abs().amax(-1)
        assert_true(bool((change > 1e-9).all()), f"Some position does not read place {place} of the source.")


# %% check="the_source_s_padding_is_not_read" points=1
def the_source_s_padding_is_not_read(DecoderBlock, draw):
    """Other vectors at masked places of a memory shorter than the target change nothing."""
    block = random_block(draw, DecoderBlock, 6, 3, 5)
    x, memory = draw.normal(2, 4, 6), draw.normal(2, 3, 6)
    mask = (torch.arange(3) < torch.tensor([[2], [3]]))[:, None, None]
    answer = block(x, memory, causal(2, 4), mask)
    other = memory.clone()
    other[0, 2] += 3
    assert_close(block(x, other, causal(2, 4), mask), answer)
    assert_depends(answer, block(x, other, causal(2, 4), all_keys(2, 3)))


# %% check="one_block_computes_what_torch_computes" points=1
def one_block_computes_what_torch_computes(DecoderBlock, draw):
    """With the same weights and masks, a block gives the numbers of torch's decoder layer."""
    theirs, weights = torch_block(draw, 6, 3, 7)
    # target and source are equally long here, so a mix-up gives numbers and not only an error
    x, memory = draw.normal(2, 4, 6), draw.normal(2, 4, 6)
    real_x, real = torch.arange(4) < torch.tensor([[4], [3]]), torch.arange(4) < torch.tensor([[4], [2]])
    expected = decoded_by_torch(theirs, x, memory, real_x, real)
    block = with_weights(DecoderBlock(6, 3, 7), weights)
    answer = block(x, memory, causal(2, 4) & real_x[:, None, None], real[:, None, None])
    assert_close(answer, expected.detach())


# %% check="other_blocks_compute_what_torch_computes" points=2 hidden
def other_blocks_compute_what_torch_computes(DecoderBlock, draw):
    """With other sizes, outputs and gradients are those of torch's decoder layer with these weights."""
    for d_model, n_heads, d_ff, n_targets, n_sources in ((6, 2, 7, 5, 3), (8, 4, 3, 4, 6)):
        theirs, weights = torch_block(draw, d_model, n_heads, d_ff)
        x, memory = draw.normal(3, n_targets, d_model), draw.normal(3, n_sources, d_model)
        real_x = torch.arange(n_targets) < torch.tensor([[n_targets], [2], [n_targets - 1]])
        real = torch.arange(n_sources) < torch.tensor([[n_sources], [n_sources - 1], [1]])
        expected = decoded_by_torch(theirs, x, memory, real_x, real)
        block = with_weights(DecoderBlock(d_model, n_heads, d_ff), weights)
        answer = block(x, memory, causal(3, n_targets) & real_x[:, None, None], real[:, None, None])
        assert_close(answer, expected.detach())
        weighting = draw.normal(3, n_targets, d_model)
        (answer * weighting).sum().backward()
        (expected * weighting).sum().backward()
        own = block.gradients()
        for name in (
            "linear1.weight",
            "multihead_attn.out_proj.weight",
            "norm2.bias",
            "self_attn.in_proj_bias",
        ):
            grad = theirs.get_parameter(name).grad
            for ours, part in translate_weight(name, grad, TORCH_NAMES, is_norm=False).items():
                assert_close(own[ours], part, what=f"the gradient of {ours}")


# %% [markdown] exercise="EncoderDecoder" difficulty=3 minutes=40 forbids="course.models.translator,torch.nn.Transformer,torch.nn.TransformerDecoder,torch.nn.TransformerEncoder,torch_translator" allows="course.models.transformer,course.models.positions" dtype="float64"
# ### 17. The whole translator
#
# Write the class `EncoderDecoder`, an `nn.Module`, from the course's stacks of blocks. Your own blocks, of exercises
# 14 and 16, translate at the end of the notebook.
#
# `EncoderDecoder(source_vocab_size, target_vocab_size, d_model, n_heads, d_ff, n_layers, pad)` has, in float64,
#
# | attribute | what |
# |---|---|
# | `source_embedding`, `target_embedding` | `nn.Embedding(…, d_model)` |
# | `encoder`, `decoder` | `Encoder(config)` and `Decoder(config)` of the course, where `config = TransformerConfig(d_model=…, n_heads=…, n_layers=…, d_ff=…, is_pre_norm=True)` |
# | `output` | `nn.Linear`, D → words of the target |
#
# and the methods
#
# - `encode(source)`, (B, S) → the tuple `(memory, mask)`, (B, S, D) and (B, 1, 1, S);
# - `decode(target, memory, mask)`, (B, T) → **logits** of the next word after each position, (B, T, V);
# - `forward(source, target)`: both, one after the other.
#
# Two things differ from the drawing of exercise 16. Norms stand in front of the steps here (pre-norm), which trains
# more easily; and each language has an embedding of its own, neither of which is the output matrix. Tokens are embedded as $\sqrt D$
# times their embedding plus `sinusoidal_positions(n_positions, d_model)` of the course (T, D). `Encoder` is called
# with `(x, mask)`. `Decoder` is called with `(x, memory, mask, memory_mask)`; it applies the causal triangle by
# itself, and as targets are padded on the right its `mask` may be `None`: no real word sees the padding behind it.
# Logits at the padding of a target are not looked at.
#
# **Example.** With the weights of `output` zero and its bias $(1, 2, 3)$, every position has the logits
# $(1, 2, 3)$, whatever the sentences are.
#
# <details><summary>Hint 1</summary>
#
# Whose padding does the mask of the cross-attention show? At which moment of `encode` do you have it?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Logits are any numbers; the loss takes the softmax. `self.double()` at the end of `__init__` makes all of it
# float64, and the positions follow when they are added.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# If a source shorter or longer than the target crashes, a mask of one has come to the attention of the other.
#
# </details>


# %% solution="EncoderDecoder"
class EncoderDecoder(nn.Module):
    """Encoder, decoder with cross-attention, embeddings with positions, and an output layer."""

    def __init__(
        self,
        source_vocab_size: int,
        target_vocab_size: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        pad: int,
    ):
        super().__init__()
        ### BEGIN SOLUTION
        self.d_model, self.pad = d_model, pad
        blocks = TransformerConfig(
            d_model=d_model, n_heads=n_heads, n_layers=n_layers, d_ff=d_ff, is_pre_norm=True
        )
        self.source_embedding = nn.Embedding(source_vocab_size, d_model)
        self.target_embedding = nn.Embedding(target_vocab_size, d_model)
        self.encoder, self.decoder = Encoder(blocks), Decoder(blocks)
        self.output = nn.Linear(d_model, target_vocab_size)
        for embedding in (self.source_embedding, self.target_embedding):
            nn.init.normal_(embedding.weight, std=1 / math.sqrt(d_model))  # 1 once it is scaled
        self.double()
        ### END SOLUTION

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """The memory (B, S, D) and the mask of its real positions (B, 1, 1, S)."""
        ### BEGIN SOLUTION
        mask = (source != self.pad)[:, None, None]
        return self.encoder(self.embedded(source, self.source_embedding), mask), mask

    def embedded(self, tokens: Tensor, embedding: nn.Embedding) -> Tensor:
        """Scaled embeddings plus positions: (B, T, D)."""
        x = math.sqrt(self.d_model) * embedding(tokens)
        return x + sinusoidal_positions(tokens.shape[1], self.d_model).to(x)
        ### END SOLUTION

    def decode(self, target: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        """Logits (B, T, V) of the word after each position of the target (B, T)."""
        ### BEGIN SOLUTION
        return self.output(self.decoder(self.embedded(target, self.target_embedding), memory, None, mask))
        ### END SOLUTION

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Teacher forcing: logits (B, T, V) for a source (B, S) and the words of a target (B, T)."""
        ### BEGIN SOLUTION
        return self.decode(target, *self.encode(source))
        ### END SOLUTION


# %% provided="translator_weights" helper
def torch_translator(draw, n_source, n_target, d_model, n_heads, d_ff, n_layers):
    """torch's stacks with random weights, and all weights of an EncoderDecoder, by name."""
    kinds = {"dropout": 0.0, "batch_first": True, "norm_first": True, "dtype": torch.float64}
    encoder_block = nn.TransformerEncoderLayer(d_model, n_heads, d_ff, **kinds)
    decoder_block = nn.TransformerDecoderLayer(d_model, n_heads, d_ff, **kinds)
    norms = [nn.LayerNorm(d_model, dtype=torch.float64) for _ in range(2)]
    theirs = (
        nn.TransformerEncoder(encoder_block, n_layers, norms[0], enable_nested_tensor=False),
        nn.TransformerDecoder(decoder_block, n_layers, norms[1]),
    )
    weights = {
        "source_embedding.weight": draw.normal(n_source, d_model) / 2,
        "target_embedding.weight": draw.normal(n_target, d_model) / 2,
        "output.weight": draw.normal(n_target, d_model),
        "output.bias": draw.normal(n_target),
    }
    for kind, stack, names in zip(
        ("encoder", "decoder"), theirs, (NAMES_IN_ENCODER, NAMES_IN_DECODER), strict=True
    ):
        stack.load_state_dict({name: draw.normal(*w.shape) / 2 for name, w in stack.state_dict().items()})
        for name, weight in stack.state_dict().items():
            found = translate_weight(name, weight, names, is_norm=False)
            weights |= {f"{kind}.{ours}": part for ours, part in found.items()}
    return theirs, weights


def translated_by_torch(stacks, weights, source, target, pad):
    """Memory (B, S, D) and logits (B, T, V) of torch's stacks with these weights."""
    encoder, decoder = stacks
    x, y = (
        embedding.shape[1] ** 0.5 * embedding[tokens]
        + sinusoidal_positions(tokens.shape[1], embedding.shape[1]).double()
        for embedding, tokens in (
            (weights["source_embedding.weight"], source),
            (weights["target_embedding.weight"], target),
        )
    )
    memory = encoder(x, src_key_padding_mask=source == pad)
    triangle = ~causal(1, target.shape[1])[0, 0]
    decoded = decoder(y, memory, tgt_mask=triangle, memory_key_padding_mask=source == pad)
    return memory.detach(), (decoded @ weights["output.weight"].T + weights["output.bias"]).detach()


# %% check="without_output_weights_the_bias_is_left" points=1
def without_output_weights_the_bias_is_left(EncoderDecoder, draw):
    """With output weights 0 and bias (1, 2, 3), every position has the logits 1, 2, 3."""
    _, weights = torch_translator(draw, 7, 3, 4, 2, 5, 1)
    bias = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    weights |= {"output.weight": torch.zeros(3, 4, dtype=torch.float64), "output.bias": bias}
    model = with_weights(EncoderDecoder(7, 3, 4, 2, 5, 1, 0), weights)
    answer = model(torch.tensor([[4, 6, 0], [3, 5, 2]]), torch.tensor([[1, 2], [2, 1]]))
    assert_close(answer, bias.expand(2, 2, 3))


# %% check="later_words_do_not_change_earlier_logits" points=1
def later_words_do_not_change_earlier_logits(EncoderDecoder, draw):
    """Another word at position 2 of the target changes the logits from there on only; gradients flow back."""
    _, weights = torch_translator(draw, 9, 8, 6, 2, 5, 2)
    model = with_weights(EncoderDecoder(9, 8, 6, 2, 5, 2, 0), weights)
    source, target = torch.tensor([[4, 6, 5]]), torch.tensor([[1, 5, 3, 7]])
    other = torch.tensor([[1, 5, 6, 7]])
    change = (model(source, other) - model(source, target)).abs().amax(-1)
    assert_equal(change > 1e-9, torch.tensor([[False, False, True, True]]), what="positions that change")
    assert_made_in_float64(EncoderDecoder(9, 8, 6, 2, 5, 2, 0), weights)
    assert_differentiable(model, source, target)


# %% check="every_source_word_reaches_the_first_prediction" points=1
def every_source_word_reaches_the_first_prediction(EncoderDecoder, draw):
    """Another word anywhere in the source changes the memory at every place and all logits."""
    model = with_weights(EncoderDecoder(9, 8, 6, 3, 5, 1, 0), torch_translator(draw, 9, 8, 6, 3, 5, 1)[1])
    source, target = torch.tensor([[4, 6, 5, 8]]), torch.tensor([[1, 5]])
    memory, _ = model.encode(source)
    answer = model(source, target)
    for place in range(4):
        other = source.clone()
        other[0, place] = 2
        change = (model.encode(other)[0] - memory).abs().amax(-1)
        assert_true(
            bool((change > 1e-9).all()), f"Some place of the memory does not read source word {place}."
        )
        change = (model(other, target) - answer).abs().amax(-1)
        assert_true(bool((change > 1e-9).all()), f"Some prediction does not depend on source word {place}.")


# %% check="more_padding_changes_no_logits" points=1
def more_padding_changes_no_logits(EncoderDecoder, draw):
    """Two more padding tokens behind the sources, or behind the targets, leave the logits at words as they are."""
    model = with_weights(EncoderDecoder(9, 8, 6, 2, 5, 2, 0), torch_translator(draw, 9, 8, 6, 2, 5, 2)[1])
    source, target = torch.tensor([[4, 6, 5], [3, 8, 0]]), torch.tensor([[1, 5, 3, 7], [1, 2, 0, 0]])
    answer, is_word = model(source, target), target != 0
    wider = model(functional.pad(source, (0, 2)), target)
    assert_close(wider[is_word], answer[is_word], what="longer sources")
    longer = model(source, functional.pad(target, (0, 2)))
    assert_close(longer[:, :4][is_word], answer[is_word], what="longer targets")
    assert_depends(answer, model(source.flip(0), target))


# %% check="decode_uses_the_memory_and_mask_it_is_given" points=1
def decode_uses_the_memory_and_mask_it_is_given(EncoderDecoder, draw):
    """A memory and its mask lead to the same logits after another source was encoded, and another mask to others."""
    model = with_weights(EncoderDecoder(9, 8, 6, 2, 5, 1, 0), torch_translator(draw, 9, 8, 6, 2, 5, 1)[1])
    source, target = torch.tensor([[4, 6, 5], [3, 8, 0]]), torch.tensor([[1, 5], [1, 2]])
    memory, shown = model.encode(source)
    answer = model.decode(target, memory, shown)
    model.encode(torch.tensor([[2, 0, 0], [7, 1, 5]]))
    assert_close(model.decode(target, memory, shown), answer, what="after another source")
    assert_depends(model.decode(target, memory, torch.ones_like(shown))[1], answer[1])


# %% check="exchanged_sentences_have_exchanged_logits" points=1
def exchanged_sentences_have_exchanged_logits(EncoderDecoder, draw):
    """Sentences in another order have the same logits in that order, and each word's place matters."""
    model = with_weights(EncoderDecoder(9, 8, 6, 2, 5, 1, 0), torch_translator(draw, 9, 8, 6, 2, 5, 1)[1])
    source, target = torch.tensor([[4, 6, 5, 7], [3, 8, 2, 0]]), torch.tensor([[1, 5], [1, 2]])
    answer = model(source, target)
    assert_close(model(source.flip(0), target.flip(0)), answer.flip(0))
    turned = torch.tensor([[6, 4, 5, 7], [8, 3, 2, 0]])
    change = (model(turned, target) - answer).abs().amax()
    assert_true(change > 1e-9, "The order of the source's words makes no difference.")


# %% check="one_translator_computes_what_torch_computes" points=1
def one_translator_computes_what_torch_computes(EncoderDecoder, draw):
    """With the same weights, the logits at real words are those of torch's stacks; the padding is word 4 here."""
    stacks, weights = torch_translator(draw, 9, 7, 6, 3, 5, 1)
    source, target = torch.tensor([[5, 3, 8, 1, 2], [6, 0, 4, 4, 4]]), torch.tensor([[1, 6, 3], [1, 2, 4]])
    _, expected = translated_by_torch(stacks, weights, source, target, 4)
    answer = with_weights(EncoderDecoder(9, 7, 6, 3, 5, 1, 4), weights)(source, target)
    assert_close(answer[target != 4], expected[target != 4])


# %% check="other_translators_compute_what_torch_computes" points=2 hidden
def other_translators_compute_what_torch_computes(EncoderDecoder, draw):
    """With other sizes and lengths, logits are those of torch's stacks with these weights."""
    for sizes, n_sources, n_targets, pad in (((9, 7, 6, 3, 5, 2), 4, 6, 0), ((5, 11, 8, 2, 3, 1), 7, 3, 4)):
        stacks, weights = torch_translator(draw, *sizes)
        model = with_weights(EncoderDecoder(*sizes, pad), weights)
        source, target = draw.integers(1, 4, 3, n_sources), draw.integers(1, 4, 3, n_targets)
        source[1, 2:] = pad
        real = source != pad
        memory, expected = translated_by_torch(stacks, weights, source, target, pad)
        is_word = target != pad
        assert_close(model(source, target)[is_word], expected[is_word])
        found, mask = model.encode(source)
        assert_close(found[real], memory[real], what="the memory")
        assert_equal(mask, real[:, None, None], what="the mask")
