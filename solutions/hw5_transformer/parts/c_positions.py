# %% [markdown]
# ## Part C. Positions
#
# Attention alone does not know the order of its tokens (exercise 13). There are three places to tell it:
# add something to the embeddings, add something to the scores, or turn queries and keys.

# %% [markdown] exercise="sinusoidal_positions" difficulty=2 minutes=15 forbids="course.models" dtype="float64"
# ### 16. Sines and cosines
#
# The paper adds to each embedding a vector that says the position $p$ in waves of many lengths. Pairs of
# neighbouring numbers share a wave:
#
# $$P_{p, 2i} = \sin \frac{p}{10000^{2i / D}} \qquad P_{p, 2i + 1} = \cos \frac{p}{10000^{2i / D}}$$
#
# Write `sinusoidal_positions(n_positions, d_model)`, which returns P as a float64 tensor (T, D). Positions
# count from 0. If D is odd, the last sine has no cosine. (Some libraries put all sines in the first half and
# all cosines in the second; here they are neighbours.)
#
# **Example.** For D = 4, position 0 has $(0, 1, 0, 1)$ and position 1 has $(\sin 1, \cos 1, \sin 0.01,
# \cos 0.01)$.
#
# <details><summary>Hint 1</summary>
#
# In column 4 stands a sine with $i = 2$, and beside it, in column 5, a cosine with the same $i$. Which exponent
# do both have?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `P[:, 0::2]` are the columns of the sines. How many are they if D is odd, and how many cosines?
#
# </details>


# %% solution="sinusoidal_positions"
def sinusoidal_positions(n_positions: int, d_model: int) -> Tensor:
    """The sines and cosines (T, D) of the positions 0 … T - 1, neighbours sharing a wavelength."""
    ### BEGIN SOLUTION
    columns = torch.arange(d_model)
    exponents = 2 * (columns // 2) / d_model  # 2i/D for both of a pair
    angles = (
        torch.arange(n_positions, dtype=torch.float64)[:, None] / 10_000.0 ** exponents.double()
    )  # (T, D)
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos())
    ### END SOLUTION


# %% check="the_example_positions_have_their_waves" points=1
def the_example_positions_have_their_waves(sinusoidal_positions):
    """For D = 4, the positions 0 and 1 have the numbers of the example, in float64."""
    expected = [[0, 1, 0, 1], [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)]]
    answer = sinusoidal_positions(2, 4)
    assert_close(answer, torch.tensor(expected).double(), tolerance=1e-6)
    assert_dtype(answer, torch.float64)


# %% check="position_0_is_no_turn_at_all" points=1
def position_0_is_no_turn_at_all(sinusoidal_positions):
    """Position 0 has sine 0 and cosine 1 throughout, whatever the width."""
    assert_close(sinusoidal_positions(3, 8)[0], torch.tensor([0.0, 1.0] * 4).double(), tolerance=1e-9)


# %% check="neighbours_are_a_point_of_the_circle" points=1
def neighbours_are_a_point_of_the_circle(sinusoidal_positions):
    """Numbers 2i and 2i + 1 of every position are sine and cosine of one angle, so their squares sum to 1."""
    pairs = sinusoidal_positions(7, 10).reshape(7, 5, 2)
    assert_close(pairs.square().sum(-1), torch.ones(7, 5).double(), tolerance=1e-6)


# %% check="each_pair_turns_at_its_own_speed" points=1
def each_pair_turns_at_its_own_speed(sinusoidal_positions):
    """For D = 8, one position further turns the four pairs by 1, 0.1, 0.01 and 0.001."""
    pairs = sinusoidal_positions(4, 8).reshape(4, 4, 2)
    angles = torch.atan2(pairs[..., 0], pairs[..., 1])
    expected = torch.tensor([1.0, 0.1, 0.01, 0.001]).double().expand(3, 4)
    assert_close(angles[1:] - angles[:-1], expected, tolerance=1e-6)


# %% check="an_odd_width_ends_with_a_sine" points=1
def an_odd_width_ends_with_a_sine(sinusoidal_positions):
    """For D = 3 the third number is the sine of p / 10000^(2/3)."""
    answer = sinusoidal_positions(4, 3)
    assert_equal(list(answer.shape), [4, 3], what="the shape")
    expected = (torch.arange(4).double() / 10_000 ** (2 / 3)).sin()
    assert_close(answer[:, 2], expected, tolerance=1e-6)


# %% check="other_positions_have_their_waves" points=2 hidden
def other_positions_have_their_waves(sinusoidal_positions, draw):
    """Other lengths and widths, odd ones too, have their waves."""
    for n_positions, d_model in ((5, 6), (draw.integers(6, 12), 7), (3, 16), (2, 1)):
        expected = [
            [(math.cos if c % 2 else math.sin)(p / 10_000 ** ((c - c % 2) / d_model)) for c in range(d_model)]
            for p in range(n_positions)
        ]
        answer = sinusoidal_positions(n_positions, d_model)
        assert_close(answer, torch.tensor(expected).double(), tolerance=1e-6)


# %% alive="a_look_at_your_sines"
look(
    lambda plots: plots.shades(sinusoidal_positions(24, 24), "position", "dimension")
)  # slower and slower to the right


# %% [markdown] exercise="LearnedPositions" bonus difficulty=1 minutes=10 forbids="course.models"
# ### 17. Learned positions (bonus)
#
# The simplest way: a vector for every position, learned like everything else, and added.
#
# Write the class `LearnedPositions`, an `nn.Module`:
#
# - `LearnedPositions(context_length, d_model)` has one parameter, `table` (C, D), with C the context length:
#   one row per position.
# - `forward(x)` takes x (B, T, D) with $T \le C$ and returns x with row $t$ added at position $t$, in every
#   sequence, (B, T, D).
#
# **Example.** The table has the rows $(1), (10), (100), (1000)$, so D = 1. The two sequences $[[0], [5]]$ and
# $[[7], [7]]$ become $[[1], [15]]$ and $[[8], [17]]$. The third and the fourth row are not used.
#
# <details><summary>Hint 1</summary>
#
# Broadcasting lines shapes up from the right: what stands above the first axis of `table[:T]`, if x is
# (B, T, D)?
#
# </details>


# %% solution="LearnedPositions"
class LearnedPositions(nn.Module):
    """A learned vector for each position, added to x; parameter table (context_length, d_model)."""

    def __init__(self, context_length: int, d_model: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.table = nn.Parameter(0.02 * torch.randn(context_length, d_model))
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, D) with the vector of its position added to each token."""
        ### BEGIN SOLUTION
        return x + self.table[: x.shape[1]]
        ### END SOLUTION


# %% check="the_example_table_is_added" points=1
def the_example_table_is_added(LearnedPositions):
    """The two sequences of the example become 1, 15 and 8, 17, and gradients flow back."""
    table = torch.tensor([[1.0], [10], [100], [1000]]).double()
    model = with_weights(LearnedPositions(4, 1), {"table": table})
    x = torch.tensor([[[0.0], [5.0]], [[7.0], [7.0]]]).double()
    answer = model(x)
    assert_close(answer, torch.tensor([[[1.0], [15.0]], [[8.0], [17.0]]]).double())
    assert_differentiable(model, x)


# %% check="each_position_has_a_vector_of_its_own" points=1
def each_position_has_a_vector_of_its_own(LearnedPositions, draw):
    """What is added at position t is row t of the table."""
    table, x = draw.normal(7, 3), draw.normal(2, 5, 3)
    answer = with_weights(LearnedPositions(7, 3), {"table": table})(x)
    for t in range(5):
        assert_close(answer[:, t] - x[:, t], table[t].expand(2, 3), what=f"position {t}")


# %% check="all_sequences_get_the_same_vectors" points=1
def all_sequences_get_the_same_vectors(LearnedPositions, draw):
    """What is added does not depend on the place of a sequence in the batch."""
    model, x = with_weights(LearnedPositions(7, 3), {"table": draw.normal(7, 3)}), draw.normal(4, 5, 3)
    added = model(x) - x
    assert_close(added, added[:1].expand(4, 5, 3))
    assert_depends(added, torch.zeros(4, 5, 3).double())


# %% check="the_table_is_a_parameter" points=1
def the_table_is_a_parameter(LearnedPositions):
    """The only parameter is the table."""
    assert_equal(list(LearnedPositions(7, 3).gradients()), ["table"])


# %% check="only_used_positions_learn" points=1
def only_used_positions_learn(LearnedPositions, draw):
    """The gradient of a row is the sum of what comes for its position; rows beyond the text get none."""
    model, upstream = with_weights(LearnedPositions(7, 3), {"table": draw.normal(7, 3)}), draw.normal(2, 5, 3)
    assert_equal(list(model.gradients()), ["table"], what="the parameters")
    (model(draw.normal(2, 5, 3)) * upstream).sum().backward()
    expected = torch.cat([upstream[0] + upstream[1], torch.zeros(2, 3).double()])
    assert_close(model.gradients()["table"], expected)


# %% check="other_tables_are_added" points=1 hidden
def other_tables_are_added(LearnedPositions, draw):
    """Other tables are added to other sequences, also to sequences as long as the table."""
    for batch_size, n_positions, context_length, d_model in ((3, 2, 6, 4), (2, 5, 5, 3), (4, 1, 8, 2)):
        table, x = draw.normal(context_length, d_model), draw.normal(batch_size, n_positions, d_model)
        model = with_weights(LearnedPositions(context_length, d_model), {"table": table})
        answer = model(x)
        assert_close(answer, torch.stack([sequence + table[:n_positions] for sequence in x]))


# %% [markdown] exercise="TransformerInput" difficulty=2 minutes=15
# ### 18. What goes into a Transformer
#
# The paper multiplies the embeddings by $\sqrt D$ before it adds the positions: where embeddings start at a size
# of about $1 / \sqrt D$, the sines and cosines, which are of size 1, would drown them.
#
# Write the class `TransformerInput`, an `nn.Module`:
#
# - `TransformerInput(vocab_size, table)` gets C positions ready-made, `table` (C, D), and keeps them as a
#   **buffer** of the name `table`: a buffer moves with the module from one device or precision to another, and
#   is not trained. The layer `embedding`, an `nn.Embedding(vocab_size, D)`, holds the only parameter,
#   `embedding.weight` (V, D).
# - `forward(tokens)` takes tokens (B, T) int64 and returns $\sqrt D \, E_{x_t} + P_t$ for every position,
#   (B, T, D), with $E_{x_t}$ the embedding of the token $x_t$ and $P_t$ row $t$ of the table.
#
# **Example.** D = 4, the embedding of token 2 is $(1, 0, 0, 0)$ and row 0 of the table is $(0, 1, 0, 1)$: the
# token 2 at position 0 becomes $(2, 1, 0, 1)$.
#
# <details><summary>Hint 1</summary>
#
# A module has `register_buffer(name, tensor)`. What happens to a tensor that is only assigned to an attribute
# when the module moves to a GPU, and what to an `nn.Parameter` when the optimizer makes a step?
#
# </details>


# %% solution="TransformerInput"
class TransformerInput(nn.Module):
    """√D times the embedding plus the position; parameter embedding.weight (V, D), buffer table (C, D)."""

    def __init__(self, vocab_size: int, table: Tensor):
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, table.shape[1])
        self.register_buffer("table", table)
        ### END SOLUTION

    def forward(self, tokens: Tensor) -> Tensor:
        """The vectors (B, T, D) of tokens (B, T)."""
        ### BEGIN SOLUTION
        scale = math.sqrt(self.table.shape[1])
        return scale * self.embedding(tokens) + self.table[: tokens.shape[1]]
        ### END SOLUTION


# %% provided="inputs" helper
def input_layer(TransformerInput, embedding, table):
    """The student's layer in float64 with this embedding; whether the buffer is saved is left open."""
    model = TransformerInput(len(embedding), table)
    model.double()
    model.load_state_dict({"embedding.weight": embedding}, strict=False)
    return model


# %% check="the_example_token_becomes_2_1_0_1" points=1
def the_example_token_becomes_2_1_0_1(TransformerInput):
    """Token 2 of the example becomes (2, 1, 0, 1) at position 0, and gradients flow back."""
    embedding = torch.tensor([[9.0, 9, 9, 9], [8, 8, 8, 8], [1, 0, 0, 0]]).double()
    table = torch.tensor([[0.0, 1, 0, 1], [5, 5, 5, 5], [7, 7, 7, 7]]).double()
    model = input_layer(TransformerInput, embedding, table)
    answer = model(torch.tensor([[2, 1]]))
    assert_close(answer[:, :1], torch.tensor([[[2.0, 1.0, 0.0, 1.0]]]).double())
    assert_differentiable(model, torch.tensor([[2, 1]]))


# %% check="only_the_embedding_is_trained" points=1
def only_the_embedding_is_trained(TransformerInput, draw):
    """The only parameter is embedding.weight."""
    assert_equal(list(TransformerInput(9, draw.normal(7, 3)).gradients()), ["embedding.weight"])


# %% check="the_table_is_a_buffer" points=1
def the_table_is_a_buffer(TransformerInput, draw):
    """The positions are a buffer of the name table."""
    table = draw.normal(7, 3)
    buffers = dict(TransformerInput(9, table).named_buffers())
    assert_equal({*buffers}, {"table"}, what="the names of the buffers")
    assert_close(buffers["table"], table)


# %% check="the_embedding_alone_is_scaled" points=1
def the_embedding_alone_is_scaled(TransformerInput, draw):
    """Where the table is 0 the output is √D times the embedding; where the embedding is 0 it is the table."""
    embedding, table, tokens = (
        draw.normal(9, 6),
        draw.normal(7, 6),
        torch.tensor([[3, 6, 0, 3], [1, 1, 5, 2]]),
    )
    flat = input_layer(TransformerInput, embedding, torch.zeros(7, 6).double())(tokens)
    assert_close(flat, 6**0.5 * embedding[tokens], what="without a table")
    empty = input_layer(TransformerInput, torch.zeros(9, 6).double(), table)(tokens)
    assert_close(empty, table[:4].expand(2, 4, 6), what="without embeddings")


# %% check="other_tokens_get_their_vectors_and_gradients" points=2 hidden
def other_tokens_get_their_vectors_and_gradients(TransformerInput, draw):
    """Other tokens get their vectors, and the embedding its gradient."""
    for vocab_size, context_length, d_model, shape in ((7, 6, 5, (3, 4)), (11, 3, 8, (4, 2))):
        embedding, table = draw.normal(vocab_size, d_model), draw.normal(context_length, d_model)
        tokens, upstream = draw.integers(0, vocab_size, *shape), draw.normal(*shape, d_model)
        model = input_layer(TransformerInput, embedding, table)
        own = embedding.clone().requires_grad_()
        output = model(tokens)
        expected = own[tokens] * d_model**0.5 + table[: shape[1]]
        assert_close(output, expected, what="the output")
        (output * upstream).sum().backward()
        (expected * upstream).sum().backward()
        assert_close(model.gradients()["embedding.weight"], own.grad, what="the gradient")


# %% [markdown] exercise="relative_bias" bonus difficulty=3 minutes=20 forbids="course.models"
# ### 19. A bias for each distance (bonus)
#
# Instead of saying where each token stands, one can tell each pair how far apart it is: a learned number,
# chosen by the distance $j - i$ from query position $i$ to key position $j$, is added to the score. Far
# distances share a number: all beyond $R$ to the right count as $R$, all beyond $R$ to the left as $-R$. (Such
# clipped distances are of Shaw and others, 2018, who learn a vector for each; a number for each head and distance
# is in T5, Raffel and others, 2020.)
#
# Write `relative_bias(bias, n_queries, n_keys)`. `bias` is (H, 2R + 1): for each head the numbers for the
# distances $-R, \dots, -1, 0, 1, \dots, R$, in this order. Return what is to be added to the scores,
# (H, T, S). There are at least as many keys as queries, and **the queries are the last positions**, as in
# exercise 6.
#
# **Example.** One head, R = 1, bias $(10, 20, 30)$. For three queries and three keys the result is
# `[[[20, 30, 30], [10, 20, 30], [10, 10, 20]]]`, and for one query and three keys `[[[10, 10, 20]]]`.
#
# <details><summary>Hint 1</summary>
#
# Make a table (T, S) of the distances first. What is the position of query 0, if there are T queries and S
# keys?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `clamp` cuts off what is too far. Which entry of `bias` belongs to the distance $-R$, and so which to $d$? A
# table of whole numbers can be an index.
#
# </details>


# %% solution="relative_bias"
def relative_bias(bias: Tensor, n_queries: int, n_keys: int) -> Tensor:
    """What is added to the scores, (H, T, S): the entry of bias (H, 2R + 1) for each clipped distance."""
    ### BEGIN SOLUTION
    radius = bias.shape[1] // 2
    queries = torch.arange(n_keys - n_queries, n_keys)
    distances = torch.arange(n_keys) - queries[:, None]  # (T, S)
    return bias[:, distances.clamp(-radius, radius) + radius]
    ### END SOLUTION


# %% check="the_example_biases_are_10_20_30" points=1
def the_example_biases_are_10_20_30(relative_bias):
    """With as many queries as keys, the example has 10 below, 20 on, 30 above the diagonal; gradients flow back."""
    expected = torch.tensor([[[20.0, 30, 30], [10, 20, 30], [10, 10, 20]]]).double()
    bias = torch.tensor([[10.0, 20, 30]]).double()
    assert_close(relative_bias(bias, 3, 3), expected)
    assert_differentiable(relative_bias, bias, 3, 3)


# %% check="a_key_before_the_query_has_a_negative_distance" points=1
def a_key_before_the_query_has_a_negative_distance(relative_bias, draw):
    """If only the first R entries of the bias are not 0, only keys before their query get anything."""
    bias = torch.cat([1 + draw.uniform(3, 4), torch.zeros(3, 5).double()], dim=1)
    earlier = torch.ones(5, 5).tril(-1).bool().expand(3, 5, 5)
    assert_equal(relative_bias(bias, 5, 5) != 0, earlier)


# %% check="far_distances_share_the_outermost_entries" points=1
def far_distances_share_the_outermost_entries(relative_bias, draw):
    """With R = 2 the first of six queries gets the entries for 0, 1, 2, 2, 2, 2 and the last -2, -2, -2, -2, -1, 0."""
    bias = draw.normal(3, 5)
    answer = relative_bias(bias, 6, 6)
    assert_close(answer[:, 0], bias[:, [2, 3, 4, 4, 4, 4]], what="the first query")
    assert_close(answer[:, 5], bias[:, [0, 0, 0, 0, 1, 2]], what="the last query")


# %% check="new_queries_see_what_they_saw_in_the_whole" points=1
def new_queries_see_what_they_saw_in_the_whole(relative_bias, draw):
    """The two newest queries of seven get the last two rows of the table for all seven."""
    bias = draw.normal(2, 7)
    answer = relative_bias(bias, 2, 7)
    assert_close(answer, relative_bias(bias, 7, 7)[:, -2:])
    assert_depends(answer[0], answer[1])


# %% check="other_distances_have_their_bias" points=2 hidden
def other_distances_have_their_bias(relative_bias, draw):
    """Other heads and lengths get the bias of each distance."""
    for n_heads, radius, n_queries, n_keys in ((2, 3, 6, 6), (4, 1, 2, 5), (3, 6, 3, 4), (2, 2, 1, 7)):
        bias, expected = (
            draw.normal(n_heads, 2 * radius + 1),
            torch.zeros(n_heads, n_queries, n_keys).double(),
        )
        for i in range(n_queries):
            for j in range(n_keys):
                distance = j - (i + n_keys - n_queries)
                expected[:, i, j] = bias[:, min(max(distance, -radius), radius) + radius]
        assert_close(relative_bias(bias, n_queries, n_keys), expected)


# %% alive="a_look_at_your_bias"
look(
    lambda plots: plots.shades(relative_bias(torch.tensor([[0.1, 0.4, 0.9, 1.0, 0.5, 0.2, 0.0]]), 12, 12)[0])
)  # bands


# %% [markdown] exercise="rotate" difficulty=2 minutes=20 forbids="course.models"
# ### 20. Turn by the position
#
# Rotary positions (RoPE; Su and others, 2021) neither add to embeddings nor to scores. They take each pair of
# **neighbouring** numbers of a query or key for a point of the plane and turn it, the faster the further left:
# the pair $(x_{2i}, x_{2i+1})$ at position $p$ is turned by the angle $\theta = p / 10000^{2i/d_k}$,
#
# $$(x, y) \to (x \cos\theta - y \sin\theta, \; x \sin\theta + y \cos\theta)$$
#
# Write `rotate(x, first, base)` for x (…, T, d_k) with $d_k$ even: every vector turned by its position. Positions count
# from `first`, which is usually 0. `base` is what stands in the formula as 10000; models for long texts take a
# larger one, and turn more slowly. Where x comes in float16, make the angles in float32 or better all the same:
# float16 has no odd numbers above 2048. (Other libraries pair number $i$ with number $i + d_k/2$; here pairs are
# neighbours, as Su and others have them.)
#
# **Example.** $d_k = 4$, `first = 0` and the vector $(0, 1, 2, 0)$ at three positions. The first stays, the second becomes
# $(-\sin 1, \cos 1, 2 \cos 0.01, 2 \sin 0.01)$, the third $(-\sin 2, \cos 2, 2 \cos 0.02, 2 \sin 0.02)$.
#
# <details><summary>Hint 1</summary>
#
# Make a table of angles (T, d_k/2) first. `x[..., 0::2]` and `x[..., 1::2]` have the same last axis as it.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The turned numbers must be neighbours again. What shape does `torch.stack([a, b], dim=-1)` have, and what does
# flattening its last two axes give?
#
# </details>


# %% solution="rotate"
def rotate(x: Tensor, first: int, base: float = 10_000.0) -> Tensor:
    """x (…, T, d_k) with each pair of neighbours turned by its position, which counts from `first`."""
    ### BEGIN SOLUTION
    n_positions, d_head = x.shape[-2:]
    positions = torch.arange(first, first + n_positions, dtype=torch.float64)
    speeds = base ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)
    angles = positions[:, None] * speeds  # (T, d_k/2)
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()
    return torch.stack(turned, dim=-1).flatten(start_dim=-2)
    ### END SOLUTION


# %% check="the_example_vectors_are_turned" points=1
def the_example_vectors_are_turned(rotate):
    """The vectors of the example are turned by 0, by 1 and 0.01, by 2 and 0.02, and gradients flow back."""
    x = torch.tensor([[0.0, 1, 2, 0]]).double().expand(3, 4).clone()
    angles = [(0, 0), (1, 0.01), (2, 0.02)]
    expected = [[-math.sin(a), math.cos(a), 2 * math.cos(b), 2 * math.sin(b)] for a, b in angles]
    assert_close(rotate(x, 0), torch.tensor(expected).double(), tolerance=1e-6)
    assert_differentiable(rotate, x, 0)


# %% check="position_0_is_not_turned" points=1
def position_0_is_not_turned(rotate, draw):
    """The vectors at position 0 stay as they are, and those at position 1 do not."""
    x = draw.normal(2, 3, 5, 4)
    answer = rotate(x, 0)
    assert_close(answer[..., 0, :], x[..., 0, :])
    assert_depends(answer[..., 1, :], x[..., 1, :])


# %% check="neighbours_are_turned_together" points=1
def neighbours_are_turned_together(rotate, draw):
    """No pair of neighbours changes its length, and where all other pairs are 0 they stay 0."""
    x = draw.normal(2, 5, 6)
    lengths = x.reshape(2, 5, 3, 2).norm(dim=-1)
    assert_close(rotate(x, 3).reshape(2, 5, 3, 2).norm(dim=-1), lengths, tolerance=1e-6)
    alone = torch.cat([x[..., :2], torch.zeros(2, 5, 4).double()], dim=-1)
    assert_close(rotate(alone, 3)[..., 2:], torch.zeros(2, 5, 4).double())


# %% check="scores_depend_on_the_distance_alone" points=1
def scores_depend_on_the_distance_alone(rotate, draw):
    """Queries and keys moved on by 40 positions have the same scores; keys moved on alone have others."""
    query, key = draw.normal(2, 3, 5, 4), draw.normal(2, 3, 7, 4)
    scores = rotate(query, 2) @ rotate(key, 0).transpose(-2, -1)
    assert_close(rotate(query, 42) @ rotate(key, 40).transpose(-2, -1), scores, tolerance=1e-6)
    assert_depends(scores, rotate(query, 2) @ rotate(key, 40).transpose(-2, -1))


# %% check="positions_count_from_first" points=1
def positions_count_from_first(rotate, draw):
    """The vectors 3, 4 and 5 of six, turned alone with first = 3, are turned as among the six."""
    x = draw.normal(2, 6, 4)
    assert_close(rotate(x[:, 3:], 3), rotate(x, 0)[:, 3:], tolerance=1e-6)


# %% check="a_larger_base_turns_more_slowly" points=1
def a_larger_base_turns_more_slowly(rotate):
    """With the base 100 the pair (1, 0) in the second place is turned by 0.1, with 1,000,000 by 0.001."""
    x = torch.tensor([[0.0, 0, 1, 0]]).double()
    for base, angle in ((100.0, 0.1), (1e6, 0.001)):
        turned = torch.tensor([[0.0, 0, math.cos(angle), math.sin(angle)]]).double()
        assert_close(rotate(x, 1, base), turned, tolerance=1e-6)


# %% check="half_precision_still_knows_its_position" points=1
def half_precision_still_knows_its_position(rotate, draw):
    """In float16 vectors at the positions 2049 to 2051 are turned as in float64, to two digits."""
    x = draw.normal(3, 4)
    answer = rotate(x.half(), 2049)
    assert_close(torch.as_tensor(answer).double(), rotate(x, 2049), tolerance=0.02)
    assert_depends(answer[1] @ answer[1], answer[0] @ answer[1] + 1)


# %% check="other_vectors_are_turned_by_their_position" points=2 hidden
def other_vectors_are_turned_by_their_position(rotate, draw):
    """Other vectors are turned, each pair by its angle, at position 301 too."""
    for shape, first in (((2, 3, 4, 6), 0), ((5, 8), draw.integers(3, 30)), ((3, 2, 2), 1), ((4, 4), 301)):
        x, expected = draw.normal(*shape), torch.zeros(shape).double()
        for t in range(shape[-2]):
            for i in range(shape[-1] // 2):
                turn = complex(0, (first + t) / 10_000 ** (2 * i / shape[-1]))
                factor = math.e**turn
                point = torch.complex(x[..., t, 2 * i], x[..., t, 2 * i + 1]) * factor
                expected[..., t, 2 * i], expected[..., t, 2 * i + 1] = point.real, point.imag
        assert_close(rotate(x, first), expected, tolerance=1e-6 if first < 301 else 1e-3)  # angles in float32


# %% alive="a_look_at_your_turn"
look(
    lambda plots: plots.shades(
        rotate(torch.tensor([1.0, 0.0] * 8).double().expand(24, 16), 0), "position", "number"
    )
)  # clocks


# %% [markdown] exercise="rotary_attention" difficulty=2 minutes=15 forbids="course.models"
# ### 21. Attention with rotary positions
#
# A turn by the position of the query and a turn by that of the key leave, in their product, a turn by the
# difference: of positions, the scores know only how far two tokens are apart. What is turned are queries and
# keys. The values are what is fetched, and stay as they are.
#
# Write `rotary_attention(query, key, value, first)`, which returns the outputs (…, T, d_v) of scaled dot-product
# attention with rotary positions. `query` is (…, T, d_k), `key` (…, S, d_k), `value` (…, S, d_v). The keys stand at
# the positions `first`, `first + 1`, …, and **the queries are the last positions** among them, as in exercise
# 6. There is no mask. Your `rotate` is a part to use here, with its usual base.
#
# **Example.** $d_k = 2$, one query $(\sqrt 2 \ln 3, 0)$, two keys, both $(1, 0)$, values $(8, 0)$ and $(4, 1)$,
# `first = 2`. The keys stand at the positions 2 and 3 and the query at 3, as the second key does: the scores are
# $\ln 3 \cos 1 \approx 0.594$ and $\ln 3 \approx 1.099$. The nearer key gets more, 0.624, and the output is about
# $(5.505, 0.624)$.
#
# <details><summary>Hint 1</summary>
#
# If the keys stand at `first`, …, `first + S - 1`, where does the first of T queries stand?
#
# </details>


# %% solution="rotary_attention"
def rotary_attention(query: Tensor, key: Tensor, value: Tensor, first: int) -> Tensor:
    """The outputs (…, T, d_v); keys stand at `first` and after, the queries are the last of these positions."""
    ### BEGIN SOLUTION
    first_query = first + key.shape[-2] - query.shape[-2]
    scores = rotate(query, first_query) @ rotate(key, first).transpose(-2, -1) / math.sqrt(query.shape[-1])
    return scores.softmax(dim=-1) @ value
    ### END SOLUTION


# %% check="the_example_output_is_5_505" points=1
def the_example_output_is_5_505(rotary_attention):
    """In the example the nearer key gets more, 0.624, and the output is (5.505, 0.624)."""
    query = torch.tensor([[math.sqrt(2) * math.log(3), 0.0]]).double()
    key, value = torch.tensor([[1.0, 0], [1, 0]]).double(), torch.tensor([[8.0, 0], [4, 1]]).double()
    near = 3 / (3 ** math.cos(1) + 3)
    expected = torch.tensor([[8 - 4 * near, near]]).double()
    answer, wide = (rotary_attention(query, key, one, 2) for one in (value, functional.pad(value, (0, 3))))
    assert_close(answer, expected, tolerance=1e-6)
    assert_close(wide[:, :2], expected, tolerance=1e-6, what="with three more numbers in each value")


# %% check="moving_everything_changes_nothing" points=1
def moving_everything_changes_nothing(rotary_attention, draw):
    """Everything moved on by 60 positions has the same outputs, in each row of a batch; gradients flow back."""
    query, key, value = draw.normal(2, 3, 5, 4), draw.normal(2, 3, 5, 4), draw.normal(2, 3, 5, 6)
    answer = rotary_attention(query, key, value, 0)
    assert_close(rotary_attention(query, key, value, 60), answer, tolerance=1e-6)
    assert_depends(answer, rotary_attention(-query, key, value, 0))
    alone = rotary_attention(query[1], key[1], value[1], 0)
    assert_close(answer[1], alone, what="the second of the batch")
    assert_differentiable(rotary_attention, query, key, value, 0)


# %% check="values_are_only_averaged" points=1
def values_are_only_averaged(rotary_attention, draw):
    """Where all values are the same, so is every output."""
    query, key, value = draw.normal(2, 3, 4), draw.normal(2, 5, 4), draw.normal(4)
    answer = rotary_attention(query, key, value.expand(2, 5, 4).contiguous(), 7)
    assert_close(answer, value.expand(2, 3, 4))


# %% check="equal_keys_are_told_apart_by_their_distance" points=1
def equal_keys_are_told_apart_by_their_distance(rotary_attention, draw):
    """If all queries and keys are the same, the newest looks more at itself than far back, the oldest at all.

    In a second pair of numbers, 100 steps turn as far as one step in the first.
    """
    x, value = (1 + draw.uniform(1, 4)).expand(6, 4).contiguous(), torch.eye(6).double()
    weights = rotary_attention(x, x, value, 0)
    slow = torch.tensor([0.0, 0, 2, 0]).double().expand(101, 4).contiguous()
    alpha = torch.as_tensor(rotary_attention(slow[-1:], slow, torch.eye(101).double(), 0))
    newest = weights[-1]
    assert_true(newest[5] > newest[2] + 0.01, "The newest query looks no more at itself than three back.")
    assert_true(weights[0, 5] > 0, "The oldest query does not look at the newest key; there is no mask.")
    far_back = alpha[0, 100] / alpha[0, 0]
    assert_close(
        far_back, math.exp(2 - 2 * math.cos(1)), what="by how much a second pair prefers 0 to 100 steps back"
    )


# %% check="new_queries_get_what_they_got_in_the_whole" points=1
def new_queries_get_what_they_got_in_the_whole(rotary_attention, draw):
    """The two newest queries of six get, asked alone, what they get among the six."""
    query, key, value = draw.normal(2, 6, 4), draw.normal(2, 6, 4), draw.normal(2, 6, 8)
    answer = rotary_attention(query, key, value, 0)[:, -2:]
    assert_close(rotary_attention(query[:, -2:], key, value, 0), answer)
    assert_depends(answer[:, 0], answer[:, 1])


# %% check="other_queries_attend_by_distance" points=2 hidden
def other_queries_attend_by_distance(rotary_attention, draw):
    """Other queries, few and many, get the outputs of rotary attention."""
    for lead, n_queries, n_keys, d_head, d_value in (
        ((2, 3), 5, 5, 4, 6),
        ((2,), 3, 7, 8, 8),
        ((), 1, 4, 2, 6),
    ):
        query, key = 1.5 * draw.normal(*lead, n_queries, d_head), draw.normal(*lead, n_keys, d_head)
        value, first = draw.normal(*lead, n_keys, d_value), draw.integers(1, 9)
        pairs_of = [torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) for x in (query, key)]
        speeds = 10_000 ** (-torch.arange(0, d_head, 2).double() / d_head)
        distance = torch.arange(n_keys) - torch.arange(n_keys - n_queries, n_keys)[:, None]
        turn = torch.polar(torch.ones(()).double(), -distance[..., None] * speeds)  # (T, S, d_k/2)
        scores = torch.einsum("...tk,...sk,tsk->...ts", pairs_of[0], pairs_of[1].conj(), turn).real
        expected = (scores / d_head**0.5).softmax(-1) @ value
        assert_close(rotary_attention(query, key, value, first), expected, tolerance=1e-6)


# %% [markdown] written="dog_bites_man" points=4 minutes=15
# ### 22. Dog bites man
#
# a) An encoder has no positions at all: embeddings, attention without a mask, feed-forward layers. It reads
# *dog bites man* and *man bites dog*. How do its outputs for *bites* differ, and how those for *dog*? Why?
#
# b) Now the attention is causal, and still there are no positions. Compare the outputs again, and answer: can
# such a model tell at which position it stands? (Think of a token that occurs at the start only, such as
# `<s>`, and of how much weight it can get.)
#
# c) A classmate permutes the tokens before the causal attention of part b, finds other outputs than the old ones
# permuted, and concludes that attention minds the order of its tokens. What was tested?
#
# ### BEGIN SOLUTION
# a) (1 point) Not at all: the outputs are the same, each word's going with the word. Attention without a mask
# is permutation equivariant and everything else acts on each position alone.
#
# b) (2 points) They differ: *bites* sees *dog* in the one sentence and *man* in the other, and *dog* sees
# nothing but itself in the one and everything in the other. (1 point.) Yes: position t averages over t + 1
# tokens, so the fraction of `<s>` at equal scores is 1/(t + 1), which tells the position (weaker and weaker
# towards the end). Any argument that the number of visible tokens leaves a trace in the average is right.
# (1 point.)
#
# c) (1 point) The mask speaks of places, not of tokens, so with the mask on the layer is attention and mask
# together, which knows the order. To keep the tokens' relations, rows and columns of the mask would have to
# be permuted along; then there is no gap.
# ### END SOLUTION
