# %% [markdown]
# ## Part A. Attention and its masks

# %% [markdown] exercise="attention" difficulty=1 minutes=15 forbids="torch.nn.functional.scaled_dot_product_attention,torch.nn.functional.multi_head_attention_forward,torch.nn.MultiheadAttention,torch.nn.Transformer,torch.nn.TransformerEncoder,torch.nn.TransformerEncoderLayer,torch.nn.TransformerDecoder,torch.nn.TransformerDecoderLayer,torch.nn.attention,course.models"
# ### 1. Scaled dot-product attention
#
# Every query takes an average of the values. How much each value counts is decided by its key:
#
# $$\text{attention}(Q, K, V) = \text{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# Write `attention(query, key, value)`, which returns the tuple `(output, weights)`:
#
# | tensor | shape |
# |---|---|
# | `query` | (…, T, d_k) |
# | `key` | (…, S, d_k) |
# | `value` | (…, S, d_v): values may be of another width |
# | `output` | (…, T, d_v) |
# | `weights` | (…, T, S) |
#
# In front of the last two axes may stand any others, such as batch and heads; $d_k$ is the width of a key as
# it comes. Do not call a ready-made attention; `softmax` may be called.
#
# **Example.** One query $(2, 0, 0, 0)$, two keys $(\ln 3, 0, 0, 0)$ and $(0, 1, 0, 0)$, two values $(4, 0)$ and
# $(0, 8)$. The dot products are $2 \ln 3$ and 0, the scores $\ln 3$ and 0, the weights 3/4 and 1/4, and the
# output is $(3, 2)$.
#
# <details><summary>Hint 1</summary>
#
# Which two axes of `key` must change places, so that each query meets each key? There may be four axes.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A query chooses between keys. Along which axis of the (…, T, S) scores do these lie?
#
# </details>


# %% solution="attention"
def attention(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """The output (…, T, d_v) and the weights (…, T, S) for query (…, T, d_k), key (…, S, d_k), value (…, S, d_v)."""
    ### BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # (…, T, S)
    weights = scores.softmax(dim=-1)
    return weights @ value, weights
    ### END SOLUTION


# %% check="the_example_query_gets_3_and_2" points=1
def the_example_query_gets_3_and_2(attention):
    """In the example the weights are 3/4 and 1/4 and the output is (3, 2)."""
    query = torch.tensor([[2.0, 0, 0, 0]]).double()
    key = torch.tensor([[math.log(3), 0, 0, 0], [0, 1, 0, 0]]).double()
    output, weights = attention(query, key, torch.tensor([[4.0, 0], [0, 8]]).double())
    assert_close(weights, torch.tensor([[0.75, 0.25]]).double(), what="weights")
    assert_close(output, torch.tensor([[3.0, 2.0]]).double(), what="output")


# %% check="each_query_gives_out_one" points=1
def each_query_gives_out_one(attention, draw):
    """The weights of each query sum to one; in a batch each gets what it gets alone; gradients flow back."""
    query, key, value = draw.normal(2, 3, 5, 6), draw.normal(2, 3, 4, 6), draw.normal(2, 3, 4, 7)
    output, weights = attention(query, key, value)
    assert_close(weights.sum(-1), torch.ones(2, 3, 5).double())
    alone, _ = attention(query[1], key[1], value[1])
    assert_close(output[1], alone, what="the second of the batch")
    assert_differentiable(attention, query, key, value)


# %% check="the_width_of_a_key_sets_the_scale" points=1
def the_width_of_a_key_sets_the_scale(attention, draw):
    """Zeros that make queries and keys four times as wide halve all scores, and doubled queries mend it."""
    query, key, value = draw.normal(5, 3), draw.normal(4, 3), draw.normal(4, 7)
    _, weights = attention(query, key, value)
    wide = torch.zeros(5, 9).double(), torch.zeros(4, 9).double()
    _, answer = attention(torch.cat([2 * query, wide[0]], -1), torch.cat([key, wide[1]], -1), value)
    assert_close(answer, weights)
    assert_depends(answer, attention(2 * query, key, value)[1])


# %% check="no_head_sees_another" points=1
def no_head_sees_another(attention, draw):
    """A head has the same weights and output alone as beside two others."""
    query, key, value = draw.normal(2, 3, 5, 6), draw.normal(2, 3, 4, 6), draw.normal(2, 3, 4, 7)
    output, weights = attention(query, key, value)
    alone, weights_alone = attention(query[:, 1:2], key[:, 1:2], value[:, 1:2])
    assert_close(weights[:, 1:2], weights_alone, what="weights")
    assert_close(output[:, 1:2], alone, what="output")
    assert_depends(output[:, 1:2], attention(query[:, :1], key[:, :1], value[:, :1])[0])


# %% check="the_output_is_an_average_of_the_values" points=1
def the_output_is_an_average_of_the_values(attention, draw):
    """Where the values are unit vectors, the output is the weights themselves."""
    output, weights = attention(
        draw.normal(3, 5, 6), draw.normal(3, 4, 6), torch.eye(4).double().expand(3, 4, 4)
    )
    assert_close(output, weights)
    assert_true((weights >= 0).all(), "Some weight is negative.")


# %% check="other_queries_get_their_averages" points=2 hidden
def other_queries_get_their_averages(attention, draw):
    """Other queries get their averages, found one query at a time."""
    for lead, n_queries, n_keys, d_head, d_value in (
        ((2, 3), 4, 5, 7, 2),
        ((), 6, 2, 3, 8),
        ((5,), 2, 3, 1, 4),
    ):
        query, key = draw.normal(*lead, n_queries, d_head), draw.normal(*lead, n_keys, d_head)
        value = draw.normal(*lead, n_keys, d_value)
        pairs = query.flatten(0, -3) if lead else query[None]
        rows = [
            [(k @ q / d_head**0.5).softmax(0) for q in queries]
            for queries, k in zip(pairs, key.reshape(-1, n_keys, d_head), strict=True)
        ]
        expected = torch.stack([torch.stack(row) for row in rows]).reshape(*lead, n_queries, n_keys)
        output, weights = attention(query, key, value)
        assert_close(weights, expected, what="weights")
        assert_close(output, (expected[..., None] * value[..., None, :, :]).sum(-2), what="output")


# %% [markdown] exercise="dropped_attention" difficulty=2 minutes=10
# ### 2. Where the dropout goes
#
# In training some of the **weights** are dropped, so that no query relies on one key alone. Dropping comes
# after the softmax. What is kept is divided by $1 - p$, with $p$ the rate of dropping, so that on average
# nothing changes; the weights of a query need not sum to one any more.
#
# Write `dropped_attention(scores, value, kept, rate)`, which returns the outputs (B, T, d_v). `scores` is
# (B, T, S), `value` (B, S, d_v), `rate` is $p$. Nothing is left to chance: `kept`, (B, T, S), is True where a
# weight is kept.
#
# **Example.** One query, two keys with scores $(0, 0)$ and values 3 and 5; the second weight is dropped, and
# $p = 1/4$. The weights are $(1/2, 1/2)$, then $(1/2, 0)$, then $(2/3, 0)$, and the output is 2.
#
# <details><summary>Hint 1</summary>
#
# Write down the three rows of numbers of the example. Which line of your code makes each of them?
#
# </details>


# %% solution="dropped_attention"
def dropped_attention(scores: Tensor, value: Tensor, kept: Tensor, rate: float) -> Tensor:
    """The outputs (B, T, d_v) of attention with some weights dropped and the others scaled up."""
    ### BEGIN SOLUTION
    weights = scores.softmax(dim=-1)  # (B, T, S)
    return (weights * kept / (1 - rate)) @ value
    ### END SOLUTION


# %% check="the_example_output_is_2" points=1
def the_example_output_is_2(dropped_attention):
    """In the example the output is 2."""
    scores, kept = torch.zeros(1, 1, 2).double(), torch.tensor([[[True, False]]])
    answer = dropped_attention(scores, torch.tensor([[[3.0], [5.0]]]).double(), kept, 0.25)
    assert_close(answer, torch.tensor([[[2.0]]]).double())


# %% check="dropping_one_weight_leaves_the_others" points=1
def dropping_one_weight_leaves_the_others(dropped_attention, draw):
    """With unit vectors for values, a weight is the same whether or not another one was dropped, in each row."""
    scores, eye = draw.normal(2, 5, 3), torch.eye(3).double().expand(2, 3, 3)
    kept = torch.tensor([True, True, False]).expand(2, 5, 3)
    answer = dropped_attention(scores, eye, kept, 0.4)
    everything = dropped_attention(scores, eye, torch.ones(2, 5, 3, dtype=torch.bool), 0.4)
    assert_close(answer[..., :2], everything[..., :2])
    assert_close(answer[..., 2], torch.zeros(2, 5).double(), what="the dropped weights")
    assert_depends(everything, dropped_attention(-scores, eye, kept, 0.4))
    alone = dropped_attention(scores[1:], eye[1:], kept[1:], 0.4)
    assert_close(answer[1:], alone, what="the second of the batch")
    assert_differentiable(dropped_attention, scores, eye, kept, 0.4)


# %% check="on_average_nothing_changes" points=1
def on_average_nothing_changes(dropped_attention, draw):
    """Averaged over all 16 ways to keep four weights, each with probability 1/2, the output is as without."""
    scores, value = draw.normal(1, 3, 4), draw.normal(1, 4, 2)
    ways = torch.cartesian_prod(*[torch.tensor([True, False])] * 4)
    total = sum(dropped_attention(scores, value, way.expand(1, 3, 4), 0.5) for way in ways) / 16
    alpha = scores.exp() / scores.exp().sum(-1, keepdim=True)
    assert_close(total[0], torch.stack([(row[:, None] * value[0]).sum(0) for row in alpha[0]]))


# %% check="a_query_may_lose_all_its_weights" points=1
def a_query_may_lose_all_its_weights(dropped_attention, draw):
    """A query whose weights are all dropped has the output zero, and its neighbour keeps its own."""
    scores = draw.normal(1, 1, 3) + torch.tensor([[[2.0], [0.0]]]).double()
    value = 1 + draw.uniform(1, 3, 4, high=0.2)
    kept = torch.tensor([[[False] * 3, [True] * 3]])
    answer = dropped_attention(scores, value, kept, 0.2)
    assert_close(answer[0, 0], torch.zeros(4).double())
    assert_true((answer[0, 1] > 1.2).all(), "The neighbour's output is too small.")


# %% check="other_weights_are_dropped_as_well" points=1 hidden
def other_weights_are_dropped_as_well(dropped_attention, draw):
    """Other weights are dropped, and the rest scaled up."""
    for rate in (0.1, draw.number(0.3, 0.6), 0.8):
        scores, value, kept = draw.normal(2, 4, 5), draw.normal(2, 5, 3), draw.uniform(2, 4, 5) > rate
        kept[0, 0] = torch.tensor([True, False, True, False, True])
        exponentials = scores.exp()
        expected = torch.einsum("bts,bsm->btm", exponentials * kept, value)
        expected = expected / exponentials.sum(-1, keepdim=True) / (1 - rate)
        assert_close(dropped_attention(scores, value, kept, rate), expected)


# %% [markdown] exercise="score_scale" difficulty=2 minutes=10
# ### 3. Why the square root
#
# A dot product of long vectors is a large number. Let the $d$ numbers of a query be independent, with mean 0
# and variance $v_q$, and those of a key with mean 0 and variance $v_k$. Their dot product has mean 0 and some
# variance, and the scale is chosen to undo it.
#
# Write `score_scale(variance_query, variance_key, d_head)`, which returns the number by which dot products
# must be **divided** so that they have variance 1.
#
# **Example.** For variances 1 and 1 and $d = 64$ the scale is 8, the one of the paper. For variances 9 and 4
# and $d = 25$ it is 30.
#
# <details><summary>Hint 1</summary>
#
# What is the variance of one product $q_i k_i$, if both factors have mean 0 and are independent?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Variances of independent terms add up. If $x$ has variance 36, which variance has $x / c$?
#
# </details>


# %% solution="score_scale"
def score_scale(variance_query: float, variance_key: float, d_head: int) -> float:
    """What dot products of d_head terms must be divided by, so that their variance is 1."""
    ### BEGIN SOLUTION
    return math.sqrt(d_head * variance_query * variance_key)
    ### END SOLUTION


# %% check="the_scales_of_the_examples_are_8_and_30" points=1
def the_scales_of_the_examples_are_8_and_30(score_scale):
    """The examples have the scales 8 and 30."""
    assert_close([score_scale(1.0, 1.0, 64), score_scale(9.0, 4.0, 25)], [8.0, 30.0])


# %% check="all_sums_of_signs_have_variance_one" points=1
def all_sums_of_signs_have_variance_one(score_scale):
    """Over all queries of ±2 and all keys of ±3 in four dimensions, the scaled products have variance 1."""
    signs = torch.cartesian_prod(*[torch.tensor([1.0, -1.0]).double()] * 4)  # (16, 4)
    products = (2 * signs) @ (3 * signs).T / score_scale(4.0, 9.0, 4)
    assert_close(products.square().mean(), 1.0, what="the variance")


# %% check="nine_times_as_wide_needs_three_times_the_scale" points=1
def nine_times_as_wide_needs_three_times_the_scale(score_scale, draw):
    """For queries and keys nine times as wide the scale is three times as large."""
    variance, d_head = draw.number(0.5, 2), draw.integers(4, 9)
    assert_close(score_scale(variance, 1.5, 9 * d_head), 3 * float(score_scale(variance, 1.5, d_head)))
    assert_depends(score_scale(variance, 1.5, 9 * d_head), 0.0)


# %% check="other_variances_have_their_scale" points=1 hidden
def other_variances_have_their_scale(score_scale, draw):
    """Other variances and widths have their scale."""
    for d_head in (2, 3, 100):
        a, b = draw.number(0.2, 0.8), draw.number(1.2, 5)
        assert_close(score_scale(a, b, d_head), (d_head * a * b) ** 0.5)


# %% [markdown] exercise="effective_keys" difficulty=2 minutes=10 exempt="gradient"
# ### 4. A saturated softmax
#
# How many keys does a query really look at? The number of keys does not tell, nor does the largest weight: the
# weights $(\tfrac12, \tfrac12, 0, 0)$ and $(\tfrac12, \tfrac16, \tfrac16, \tfrac16)$ have the same one. The
# entropy does. Like a perplexity, $e$ to the entropy $-\sum_j \alpha_j \ln \alpha_j$ of the weights $\alpha_j$
# counts the keys: it is $n$ where $n$ keys have equal weights and the others none. A softmax is **saturated**
# where this number is close to 1.
#
# Write `effective_keys(scores)`, which returns this number for the softmax of each query. `scores` is (…, T, S),
# the result (…, T). A score may be $-\infty$, or so low that its weight is 0 as a float: such a key adds
# nothing.
#
# **Example.** Scores $(0, 0, 0, 0)$ give 4, $(0, 0, -\infty)$ give 2, $(0, -2000)$ give 1, and
# $(\ln 2, 0, 0)$, the weights 1/2, 1/4, 1/4, give $e^{1.5 \ln 2} \approx 2.828$.
#
# <details><summary>Hint 1</summary>
#
# What is $0 \cdot \ln 0$ for Python, and what should it be here? `torch.where` and `torch.xlogy` can both
# help.
#
# </details>


# %% solution="effective_keys"
def effective_keys(scores: Tensor) -> Tensor:
    """The exponential of each query's entropy in nats: how many keys (…, T) it looks at."""
    ### BEGIN SOLUTION
    weights = scores.softmax(dim=-1)
    return torch.exp(-torch.xlogy(weights, weights).sum(dim=-1))
    ### END SOLUTION


# %% check="the_examples_count_4_2_1_and_2_828" points=1
def the_examples_count_4_2_1_and_2_828(effective_keys):
    """The examples count 4, 2, 1 and 2.828 keys."""
    rows = [[0.0] * 4, [0.0, 0.0, -math.inf], [0.0, -2000.0], [math.log(2), 0.0, 0.0]]
    answers = [effective_keys(torch.tensor([row]).double())[0] for row in rows]
    assert_close(torch.stack(answers), torch.tensor([4.0, 2.0, 1.0, 2**1.5]).double())


# %% check="every_query_counts_for_itself" points=1
def every_query_counts_for_itself(effective_keys):
    """Three queries that look at one, two and five of five keys count 1, 2 and 5, in each of two batches."""
    low = torch.tensor([[0.0, -900, -900, -900, -900], [0, -900, 0, -900, -900], [0.0] * 5]).double()
    expected = torch.tensor([1.0, 2.0, 5.0]).double()
    assert_close(effective_keys(torch.stack([low, low.flip(0)])), torch.stack([expected, expected.flip(0)]))


# %% check="the_largest_weight_does_not_decide" points=1
def the_largest_weight_does_not_decide(effective_keys):
    """Weights (1/2, 1/2, 0, 0) count 2 keys; (1/2, 1/6, 1/6, 1/6) count 2·√3."""
    weights = torch.tensor([[1 / 2, 1 / 2, 0, 0], [1 / 2, 1 / 6, 1 / 6, 1 / 6]]).double()
    assert_close(effective_keys(weights.log()), torch.tensor([2.0, 2 * 3**0.5]).double(), tolerance=1e-6)


# %% check="a_key_out_of_reach_adds_nothing" points=1
def a_key_out_of_reach_adds_nothing(effective_keys, draw):
    """Two further keys, at minus infinity and 2000 below the others, change no count; nor do 1000 on all scores."""
    scores = draw.normal(3, 4)
    answer = effective_keys(scores)
    far = torch.tensor([-math.inf, -2000.0]).double().expand(3, 2)
    with_far = effective_keys(torch.cat([scores, far], -1))
    high, low = effective_keys(scores + 1000), effective_keys(scores - 1000)
    sharper = effective_keys(3 * scores)
    assert_close(with_far, answer)
    assert_close(high, answer, what="1000 added to all scores")
    assert_close(low, answer, what="1000 taken off all scores")
    assert_depends(answer, sharper)


# %% check="other_scores_have_their_count" points=1 hidden
def other_scores_have_their_count(effective_keys, draw):
    """Other scores, sharp and flat, have the exponential of their entropy."""
    for shape, scale in (((2, 3, 5), 1.0), ((4, 7), 6.0), ((3, 2), 0.1)):
        scores = scale * draw.normal(*shape)
        scores[..., -1] -= 1500
        log_probs = scores - scores.logsumexp(-1, keepdim=True)
        assert_close(effective_keys(scores), torch.exp(-(log_probs.exp() * log_probs).sum(-1)))


# %% alive="a_look_at_your_saturation"
WIDTHS = 1, 4, 16, 64, 256
noise = torch.Generator().manual_seed(0)
queries, keys = (torch.randn(n, max(WIDTHS), generator=noise).double() for n in (100, 16))


def keys_looked_at(d, scale):
    """How many of 16 random keys a random query looks at, on average."""
    return float(effective_keys(queries[:, :d] @ keys[:, :d].T / scale).mean())


look(
    lambda plots: plots.heat_map(
        [
            [keys_looked_at(d, scale(d)) for d in WIDTHS]
            for scale in (lambda d: 1.0, lambda d: score_scale(1.0, 1.0, d))
        ],
        ["as they are", "divided"],
        WIDTHS,
        row_title="scores",
        column_title="width",
        largest=16,
    )
)


# %% [markdown] written="why_divide_by_the_root" bonus points=4 minutes=15
# ### 5. Why divide at all (bonus)
#
# A classmate leaves the division out: "The matrices that make queries and keys are learned. If the scores are too large,
# training will make the matrices smaller."
#
# a) Heads of width 64, queries and keys of variance 1. How large are scores without the division, typically,
# and about how many of 100 keys does a query look at (exercise 4) before the first step?
#
# b) What is the gradient of the weights with respect to the scores there? Answer the classmate: why does
# training not simply repair it?
#
# c) Somebody else divides by 64 instead. What do the attention weights look like before the first step, and
# why is that less bad?
#
# ### BEGIN SOLUTION
# a) (1 point) The standard deviation is 8, so the best of 100 keys is some 20 above the average and a few
# above the second: nearly all weight goes to one or two keys.
#
# b) (2 points) The Jacobian is diag(α) − ααᵀ. With one weight near 1 and the others near 0 all its entries
# are near 0: α(1 − α) → 0. (1 point.) The gradient that should make the matrices smaller flows through this
# very Jacobian, so it is near 0 too; most queries stay with the key that chance gave them. (1 point.)
#
# c) (1 point) The scores have the standard deviation 1/8, so the weights are nearly uniform and the output
# is nearly the average of all values. There the Jacobian is not small (about 1/S on the diagonal): the
# gradient flows and training can sharpen the weights.
# ### END SOLUTION

# %% [markdown] exercise="causal_mask" difficulty=1 minutes=10 forbids="torch.nn.Transformer,course.models"
# ### 6. The causal mask
#
# A model that predicts the next word must not look at it. Position $i$ may attend to the positions $j \le i$:
# to what precedes it, and to itself.
#
# There can be more keys than queries: when a text is continued, the earlier positions have been dealt with,
# and only the newest ask. **The queries are the last positions.** Of 5 positions with 2 queries, the queries
# are the positions 3 and 4 (counting from 0).
#
# Write `causal_mask(n_queries, n_keys)`, a tensor (T, S) of True and False: True where the query may attend
# to the key. There are at least as many keys as queries.
#
# **Example.** `causal_mask(2, 4)` is `[[True, True, True, False], [True, True, True, True]]`.
#
# <details><summary>Hint 1</summary>
#
# Give each query the number of its position. Query 0 of `causal_mask(2, 5)` stands at position 3; what is the
# rule for T and S?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A column of positions compared with a row of positions is a table of True and False.
#
# </details>


# %% solution="causal_mask"
def causal_mask(n_queries: int, n_keys: int) -> Tensor:
    """True (T, S) where a query may attend to a key; the queries are the last of the n_keys positions."""
    ### BEGIN SOLUTION
    positions = torch.arange(n_keys - n_queries, n_keys)
    return torch.arange(n_keys) <= positions[:, None]  # (T, S)
    ### END SOLUTION


# %% check="the_example_forbids_one_pair" points=1
def the_example_forbids_one_pair(causal_mask):
    """With two queries and four keys, only the first query and the last key do not meet."""
    assert_equal(causal_mask(2, 4), torch.tensor([[True, True, True, False], [True] * 4]))


# %% check="position_i_sees_i_plus_one_positions" points=1
def position_i_sees_i_plus_one_positions(causal_mask):
    """With as many queries as keys, the first position sees one key, the second two, and so on."""
    assert_equal(causal_mask(6, 6).long().sum(-1), torch.arange(1, 7))


# %% check="every_position_sees_itself" points=1
def every_position_sees_itself(causal_mask):
    """The diagonal is True, and the key right after it is False."""
    mask = causal_mask(5, 5)
    assert_equal(mask.diagonal(), torch.ones(5, dtype=torch.bool), what="the diagonal")
    assert_equal(mask.diagonal(1), torch.zeros(4, dtype=torch.bool), what="next to the diagonal")


# %% check="the_newest_position_sees_everything" points=1
def the_newest_position_sees_everything(causal_mask):
    """A single query, the newest of seven positions, sees all seven; the one before it sees six."""
    assert_equal(causal_mask(1, 7), torch.ones(1, 7, dtype=torch.bool))
    assert_equal(causal_mask(2, 7).long().sum(-1), torch.tensor([6, 7]))


# %% check="other_masks_hide_the_future_alone" points=1 hidden
def other_masks_hide_the_future_alone(causal_mask, draw):
    """Other masks, square and wide, hide the future and nothing else."""
    for n_queries, n_keys in ((4, 4), (3, 8), (1, 1), (5, draw.integers(6, 12))):
        first = n_keys - n_queries
        expected = [[j <= first + i for j in range(n_keys)] for i in range(n_queries)]
        assert_equal(causal_mask(n_queries, n_keys), torch.tensor(expected))


# %% alive="a_look_at_your_mask"
look(lambda plots: plots.shades(causal_mask(6, 9)))  # bright: may be attended to


# %% [markdown] exercise="masked_weights" difficulty=2 minutes=15 forbids="course.models"
# ### 7. Weights under a mask
#
# A key that may not be attended to must have the weight 0, and its score must have no influence on any other
# weight. This is why the mask comes **before** the softmax: the forbidden scores become $-\infty$.
#
# Write `masked_weights(scores, mask)`, the softmax over the last axis of `scores` (…, T, S) among the keys
# that `mask` allows. `mask` is a tensor of True ("may be attended to") and False, whose shape broadcasts to
# that of the scores; every query has at least one True. Forbidden weights are exactly 0. Scores may be any
# finite numbers, so no forbidden score may win however high it is, and no allowed one get lost however low.
#
# **Example.** Scores $(\ln 3, 0, 7)$ with the mask (True, True, False) have the weights 3/4, 1/4 and 0.
#
# <details><summary>Hint 1</summary>
#
# Which number does the exponential turn into exactly 0? What is that number times 0, and times 1?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `masked_fill` and `torch.where` put a number in place of another without any arithmetic. Which of the two
# returns a new tensor, and which entries does it fill?
#
# </details>


# %% solution="masked_weights"
def masked_weights(scores: Tensor, mask: Tensor) -> Tensor:
    """The softmax (…, T, S) over those keys that `mask` allows (True); forbidden ones get exactly 0."""
    ### BEGIN SOLUTION
    return scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
    ### END SOLUTION


# %% check="the_example_shares_between_two_keys" points=1
def the_example_shares_between_two_keys(masked_weights):
    """In the example the weights are 3/4, 1/4 and 0, and the scores stay as they were."""
    scores = torch.tensor([[math.log(3), 0.0, 7.0]]).double()
    answer = masked_weights(scores, torch.tensor([[True, True, False]]))
    assert_close(answer, torch.tensor([[0.75, 0.25, 0.0]]).double())


# %% check="forbidden_weights_are_exactly_0" points=1
def forbidden_weights_are_exactly_0(masked_weights, draw):
    """Forbidden weights are 0 and allowed ones are not, in each row of a batch; gradients flow back."""
    mask = torch.tensor([[True, False, True, False, False], [False, True, True, True, False]])
    scores = draw.normal(3, 2, 5)
    answer = masked_weights(scores, mask)
    assert_equal(answer == 0, ~mask.expand(3, 2, 5), what="where the weights are 0")
    assert_close(answer[1], masked_weights(scores[1], mask), what="the second of the batch")
    assert_differentiable(masked_weights, scores, mask)


# %% check="allowed_weights_sum_to_one" points=1
def allowed_weights_sum_to_one(masked_weights, draw):
    """The allowed weights of each query sum to one."""
    mask = torch.tensor([[True, False, True, True, False], [True, True, True, True, True]])
    answer = masked_weights(draw.normal(3, 2, 5), mask)
    assert_close((answer * mask).sum(-1), torch.ones(3, 2).double())


# %% check="a_forbidden_score_has_no_say" points=1
def a_forbidden_score_has_no_say(masked_weights, draw):
    """The weights stay as they are when the forbidden scores become -9, 800, 30,000 or 4,000,000,000."""
    scores, mask = draw.normal(2, 4), torch.tensor([[True, False, True, True], [False, True, True, True]])
    answer = masked_weights(scores, mask)
    for high in (-9.0, 800.0, 30_000.0, 4e9):
        assert_close(masked_weights(torch.where(mask, scores, high), mask), answer)
    assert_depends(answer, masked_weights(-scores, mask))


# %% check="low_scores_are_not_lost" points=1
def low_scores_are_not_lost(masked_weights, draw):
    """The weights stay as they are when all scores are lowered by 20,000, and one query's by 3,000,000,000."""
    scores, mask = draw.integers(-2, 3, 2, 5).double(), torch.tensor([True, True, False, True, False])
    answer = masked_weights(scores, mask)
    assert_close(masked_weights(scores - 20_000, mask), answer)
    assert_close(masked_weights(scores - torch.tensor([[3e9], [0.0]]).double(), mask), answer)
    assert_depends(answer, masked_weights(-scores - 1, ~mask))


# %% check="other_scores_are_masked" points=2 hidden
def other_scores_are_masked(masked_weights, draw):
    """Other scores, low and high, share out one among the allowed keys."""
    for shape, mask_shape, offset in (
        ((2, 3, 4, 5), (2, 1, 1, 5), 0),
        ((3, 6), (3, 6), -4e9),
        ((4, 2), (2,), 9e4),
    ):
        scores, mask = draw.integers(-3, 4, *shape).double() + offset, draw.uniform(*mask_shape) < 0.5
        mask[..., 0], mask[..., 1] = True, False
        scores[..., 1] += 5e9
        scores[..., 0, :] -= 20_000
        allowed = mask.expand(shape)
        expected = torch.zeros(shape).double()
        for row, keys, place in zip(
            scores.reshape(-1, shape[-1]),
            allowed.reshape(-1, shape[-1]),
            expected.view(-1, shape[-1]),
            strict=True,
        ):
            place[keys] = (row[keys] - row[keys].max()).exp() / (row[keys] - row[keys].max()).exp().sum()
        assert_close(masked_weights(scores, mask), expected)


# %% alive="a_look_at_your_weights"
look(
    lambda plots: plots.shades(masked_weights(torch.zeros(8, 8), torch.ones(8, 8).tril().bool()))
)  # equal scores, the future hidden


# %% [markdown] exercise="padding_mask" bonus difficulty=1 minutes=10 forbids="course.models"
# ### 8. The padding mask (bonus)
#
# Sequences of a batch are filled up with the token `pad` to a common length. No query may attend to padding.
#
# Write `padding_mask(tokens, pad)` for tokens (B, S): True where a **key** is a real token. The scores to
# which the mask will be broadcast are (B, H, T, S), so return it with the shape (B, 1, 1, S): the same for
# all heads and all queries of a sequence.
#
# **Example.** For `tokens = [[5, 9, 3], [7, 3, 3]]` and `pad = 3` the mask is
# `[[[[True, True, False]]], [[[True, False, False]]]]`.
#
# <details><summary>Hint 1</summary>
#
# In a table of scores, rows are queries and columns are keys. If nobody may look at token j, is it row j or
# column j that is False?
#
# </details>


# %% solution="padding_mask"
def padding_mask(tokens: Tensor, pad: int) -> Tensor:
    """True (B, 1, 1, S) at the keys that are no padding."""
    ### BEGIN SOLUTION
    return (tokens != pad)[:, None, None, :]
    ### END SOLUTION


# %% check="the_example_hides_three_paddings" points=1
def the_example_hides_three_paddings(padding_mask):
    """In the example the last token of the first sequence and the last two of the second are hidden."""
    expected = torch.tensor([[[[True, True, False]]], [[[True, False, False]]]])
    tokens = torch.tensor([[5, 9, 3], [7, 3, 3]])
    assert_equal(padding_mask(tokens, 3), expected)
    assert_equal(padding_mask(tokens.flip(0), 3), expected.flip(0), what="the sequences in the other order")


# %% check="all_queries_of_a_sequence_see_its_real_tokens" points=1
def all_queries_of_a_sequence_see_its_real_tokens(padding_mask):
    """Broadcast to two sequences, three heads and four queries, each query sees its sequence's real keys."""
    tokens = torch.tensor([[4, 6, 8, 1, 1], [9, 1, 1, 1, 1]])
    mask = padding_mask(tokens, 1)
    seen = (mask & torch.ones(2, 3, 4, 5, dtype=torch.bool)).long().sum(-1)
    assert_equal(seen, torch.tensor([3, 1])[:, None, None].expand(2, 3, 4))


# %% check="the_padding_token_is_the_one_given" points=1
def the_padding_token_is_the_one_given(padding_mask):
    """With pad = 7, the token 0 is an ordinary word, and what is filled up in front is hidden there."""
    mask = padding_mask(torch.tensor([[0, 2, 7, 7], [3, 0, 0, 7], [7, 7, 0, 3]]), 7)
    rows = [[True, True, False, False], [True, True, True, False], [False, False, True, True]]
    assert_equal(mask.reshape(3, 4), torch.tensor(rows))


# %% check="other_paddings_are_hidden" points=1 hidden
def other_paddings_are_hidden(padding_mask, draw):
    """Other batches have their padding hidden, as keys."""
    for batch_size, n_keys, pad in ((3, 5, 0), (2, 7, 4), (4, 1, draw.integers(1, 6))):
        tokens = draw.integers(0, 8, batch_size, n_keys)
        tokens[0, -1], tokens[1] = pad, (pad + 1) * torch.ones(n_keys).long()
        expected = [[[[token != pad for token in row]]] for row in tokens.tolist()]
        assert_equal(padding_mask(tokens, pad), torch.tensor(expected))


# %% provided="attention_with_a_mask" helper
def outputs_under(mask, x, n_heads=2):
    """What each position of x (B, T, D) gets from an attention over x under a mask, (B, H, T, D)."""
    allowed = mask.expand(-1, n_heads, -1, -1)
    exponentials = torch.einsum("btd,bsd->bts", x, x).exp()[:, None] * allowed  # these scores are small
    return torch.einsum("bhts,bsd->bhtd", exponentials / exponentials.sum(-1, keepdim=True), x)


# %% [markdown] exercise="translation_masks" difficulty=2 minutes=15 forbids="course.models"
# ### 9. Two masks for a translation
#
# A Transformer that translates reads a batch of source sentences (B, S) and writes target sentences (B, T).
# Both are padded, each language with a padding token of its own. Two masks are needed:
#
# - `source_mask`, (B, 1, 1, S): whoever attends to the source, be it the source itself or the target, sees
#   the real source tokens.
# - `target_mask`, (B, 1, T, T): a target position that attends to the target sees what is **neither future
#   nor padding**: real tokens at its own position and before.
#
# Write `translation_masks(source, target, source_pad, target_pad)`, which returns the tuple
# `(source_mask, target_mask)`. Queries at padding are left to do as they like; their outputs are never used.
# The first token of every sequence is real; padding may stand anywhere after it.
#
# **Example.** `source = [[4, 6, 8, 0]]` with padding 0 and `target = [[0, 9, 5]]` with padding 9 give
# `source_mask = [[[[True, True, True, False]]]]` and
# `target_mask = [[[[True, False, False], [True, False, False], [True, False, True]]]]`.
#
# <details><summary>Hint 1</summary>
#
# Two conditions for a pair of target positions: one asks about the key alone, one about query and key. Write
# down the shape of each before you combine them.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A key must pass both conditions. Which of `&` and `|` says so?
#
# </details>


# %% solution="translation_masks"
def translation_masks(
    source: Tensor, target: Tensor, source_pad: int, target_pad: int
) -> tuple[Tensor, Tensor]:
    """The masks (B, 1, 1, S) over the source and (B, 1, T, T) over the target, True = may be attended to."""
    ### BEGIN SOLUTION
    n_targets = target.shape[1]
    triangle = torch.ones(n_targets, n_targets, dtype=torch.bool).tril()  # (T, T)
    source_mask = (source != source_pad)[:, None, None, :]  # (B, 1, 1, S)
    target_mask = (target != target_pad)[:, None, None, :] & triangle  # (B, 1, T, T)
    return source_mask, target_mask
    ### END SOLUTION


# %% check="the_example_has_its_two_masks" points=1
def the_example_has_its_two_masks(translation_masks):
    """The example has the two masks of the statement."""
    source, target = torch.tensor([[4, 6, 8, 0]]), torch.tensor([[0, 9, 5]])
    source_mask, target_mask = translation_masks(source, target, 0, 9)
    expected = torch.tensor([[[[True, False, False], [True, False, False], [True, False, True]]]])
    assert_equal(source_mask, torch.tensor([[[[True, True, True, False]]]]), what="source_mask")
    assert_equal(target_mask, expected, what="target_mask")


# %% check="each_language_has_its_own_padding" points=1
def each_language_has_its_own_padding(translation_masks):
    """The source's padding token is an ordinary word of the target, and the other way round."""
    source, target = (
        torch.tensor([[5, 9, 0, 0], [4, 0, 0, 0]]),
        torch.tensor([[7, 0, 0, 9, 9], [3, 9, 9, 9, 9]]),
    )
    source_mask, target_mask = translation_masks(source, target, 0, 9)
    seen = torch.tensor([[True, True, False, False], [True, False, False, False]])
    assert_equal(source_mask.flatten(), seen.flatten(), what="the source's keys")
    seen = torch.arange(5) < torch.tensor([[3], [1]])
    assert_equal(target_mask[:, :, -1].flatten(), seen.flatten(), what="the newest queries' keys")


# %% check="the_future_does_not_change_the_past" points=1
def the_future_does_not_change_the_past(translation_masks, draw):
    """Other embeddings at the positions 3 and 4 change no output before them."""
    x, target = draw.normal(2, 5, 3), torch.tensor([[1, 4, 2, 3, 5], [1, 2, 6, 0, 0]])
    _, mask = translation_masks(torch.tensor([[1, 2], [3, 4]]), target, 9, 0)
    other = x.clone()
    other[:, 3:] += 1
    outputs, changed = outputs_under(mask, x), outputs_under(mask, other)
    assert_close(changed[:, :, :3], outputs[:, :, :3])
    assert_depends(changed[:, :, 3:], outputs[:, :, 3:])


# %% check="padding_does_not_change_real_tokens" points=1
def padding_does_not_change_real_tokens(translation_masks, draw):
    """Other embeddings at the paddings change no output of a real token, and no output is NaN."""
    x, target = draw.normal(2, 5, 3), torch.tensor([[1, 0, 4, 2, 0], [1, 0, 0, 5, 3]])
    _, mask = translation_masks(torch.tensor([[1, 2], [3, 4]]), target, 9, 0)
    answer = outputs_under(mask, x)
    changed = outputs_under(mask, torch.where((target == 0)[..., None], x + 2.0, x))
    assert_true(not answer.isnan().any(), "Some query may attend to no key at all, so its weights are NaN.")
    for row, real in enumerate(target != 0):
        assert_close(changed[row, :, real], answer[row, :, real], what=f"sequence {row}")
    assert_depends(answer[1, :, 3], answer[1, :, 0])


# %% check="other_sentences_have_their_masks" points=2 hidden
def other_sentences_have_their_masks(translation_masks, draw):
    """Other sentences, longer and shorter than their translation, have their masks."""
    for n_sources, n_targets, pads in ((7, 4, (0, 5)), (3, 6, (8, 1)), (5, 2, (2, 0))):
        source, target = draw.integers(0, 9, 3, n_sources), draw.integers(0, 9, 3, n_targets)
        source[:, 0] = target[:, 0] = 6
        source[0, -1], target[0, -1], source[1, 1], target[1, 1] = *pads, pads[1], pads[0]
        seen = [[[token != pads[0] for token in row]] for row in source.tolist()]
        allowed = [
            [[j <= i and row[j] != pads[1] for j in range(n_targets)] for i in range(n_targets)]
            for row in target.tolist()
        ]
        source_mask, target_mask = translation_masks(source, target, *pads)
        assert_equal(source_mask, torch.tensor(seen)[:, None], what="source_mask")
        assert_equal(target_mask, torch.tensor(allowed)[:, None], what="target_mask")
