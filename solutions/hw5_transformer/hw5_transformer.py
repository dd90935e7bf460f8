# %% [markdown]
# # Homework 5: the Transformer, from a dot product to the encoder
#
# You build everything between the embeddings and the output of a Transformer encoder: attention and its
# masks, heads, positions, norms, blocks. In the end your encoder computes the same numbers, and the same
# gradients, as `torch.nn.TransformerEncoder` with the same weights. Lectures 12 to 14 are the ground.
#
# | part | about | minutes |
# |---|---|---|
# | A | attention and its masks | 105 |
# | B | heads, and what order means to them | 80 |
# | C | positions | 100 |
# | D | norms, blocks, the encoder | 115 |
#
# Each exercise is a statement, a function or a class for you to write, and its checks. Some checks are kept
# back for grading: they make the same claims about other sizes and other numbers. The exercises do not build
# on each other's code, so take them in any order.
#
# Letters used throughout: B sequences at once; T **queries**, the positions that ask; S **keys**, the
# positions that are looked at (S = T in self-attention); D = `d_model`, the width of the model; H = `n_heads`;
# K = D / H = `d_head`, the width of one head; F = `d_ff`. **Scores** are the numbers before the softmax,
# **weights** those after it. One convention holds for every mask: **True means "may be attended to"**.
#
# Tensors of numbers are float64. **Modules** are filled by the checks: they make your module float64 with
# `.double()` and load weights with `load_state_dict`, so its parameters must have the names and shapes that
# the statement gives. `nn.Linear(3, 5)` as an attribute `expand`, for instance, has the parameters
# `expand.weight` (5, 3) and `expand.bias` (5,).

# %% [markdown] rules

# %% setup

# %% provided="imports"
import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from course.checks import (
    assert_close,
    assert_depends,
    assert_differentiable,
    assert_dtype,
    assert_equal,
    assert_true,
    homework,
    with_weights,
)

check = homework("hw5_transformer")


# %% [markdown]
# ## Part A. Attention and its masks

# %% [markdown] exercise="attention" difficulty=1 minutes=15 forbids="torch.nn.functional.scaled_dot_product_attention,torch.nn.functional.multi_head_attention_forward,torch.nn.MultiheadAttention,torch.nn.Transformer,torch.nn.TransformerEncoder,torch.nn.TransformerEncoderLayer,torch.nn.TransformerDecoder,torch.nn.TransformerDecoderLayer,torch.nn.attention,torch.ops,torch._C,course.models"
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
# | `query` | (…, T, K) |
# | `key` | (…, S, K) |
# | `value` | (…, S, M): values may be of another width |
# | `output` | (…, T, M) |
# | `weights` | (…, T, S) |
#
# In front of the last two axes may stand any others, such as batch and heads; $d_k$ is K, the width of a key
# as it comes. Do not call a ready-made attention; `softmax` may be called.
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
    """The output (…, T, M) and the weights (…, T, S) for query (…, T, K), key (…, S, K), value (…, S, M)."""
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


check(the_example_query_gets_3_and_2, attention)


# %% check="each_query_gives_out_one" points=1
def each_query_gives_out_one(attention, draw):
    """The weights of each query sum to one; in a batch each gets what it gets alone; gradients flow back."""
    query, key, value = draw.normal(2, 3, 5, 6), draw.normal(2, 3, 4, 6), draw.normal(2, 3, 4, 7)
    output, weights = attention(query, key, value)
    assert_close(weights.sum(-1), torch.ones(2, 3, 5).double())
    alone, _ = attention(query[1], key[1], value[1])
    assert_close(output[1], alone, what="the second of the batch")
    assert_differentiable(attention, query, key, value)


check(each_query_gives_out_one, attention)


# %% check="the_width_of_a_key_sets_the_scale" points=1
def the_width_of_a_key_sets_the_scale(attention, draw):
    """Zeros that make queries and keys four times as wide halve all scores, and doubled queries mend it."""
    query, key, value = draw.normal(5, 3), draw.normal(4, 3), draw.normal(4, 7)
    _, weights = attention(query, key, value)
    wide = torch.zeros(5, 9).double(), torch.zeros(4, 9).double()
    _, answer = attention(torch.cat([2 * query, wide[0]], -1), torch.cat([key, wide[1]], -1), value)
    assert_close(answer, weights)
    assert_depends(answer, attention(2 * query, key, value)[1])


check(the_width_of_a_key_sets_the_scale, attention)


# %% check="no_head_sees_another" points=1
def no_head_sees_another(attention, draw):
    """A head has the same weights and output alone as beside two others."""
    query, key, value = draw.normal(2, 3, 5, 6), draw.normal(2, 3, 4, 6), draw.normal(2, 3, 4, 7)
    output, weights = attention(query, key, value)
    alone, weights_alone = attention(query[:, 1:2], key[:, 1:2], value[:, 1:2])
    assert_close(weights[:, 1:2], weights_alone, what="weights")
    assert_close(output[:, 1:2], alone, what="output")
    assert_depends(output[:, 1:2], attention(query[:, :1], key[:, :1], value[:, :1])[0])


check(no_head_sees_another, attention)


# %% check="the_output_is_an_average_of_the_values" points=1
def the_output_is_an_average_of_the_values(attention, draw):
    """Where the values are unit vectors, the output is the weights themselves."""
    output, weights = attention(
        draw.normal(3, 5, 6), draw.normal(3, 4, 6), torch.eye(4).double().expand(3, 4, 4)
    )
    assert_close(output, weights)
    assert_true((weights >= 0).all(), "Some weight is negative.")


check(the_output_is_an_average_of_the_values, attention)


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


check(other_queries_get_their_averages, attention)

# %% [markdown] exercise="dropped_attention" difficulty=2 minutes=10
# ### 2. Where the dropout goes
#
# In training some of the **weights** are dropped, so that no query relies on one key alone. Dropping comes
# after the softmax. What is kept is divided by $1 - p$, with $p$ the rate of dropping, so that on average
# nothing changes; the weights of a query need not sum to one any more.
#
# Write `dropped_attention(scores, value, kept, rate)`, which returns the outputs (B, T, M). `scores` is
# (B, T, S), `value` (B, S, M), `rate` is $p$. Nothing is left to chance: `kept`, (B, T, S), is True where a
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
    """The outputs (B, T, M) of attention with some weights dropped and the others scaled up."""
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


check(the_example_output_is_2, dropped_attention)


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


check(dropping_one_weight_leaves_the_others, dropped_attention)


# %% check="on_average_nothing_changes" points=1
def on_average_nothing_changes(dropped_attention, draw):
    """Averaged over all 16 ways to keep four weights, each with probability 1/2, the output is as without."""
    scores, value = draw.normal(1, 3, 4), draw.normal(1, 4, 2)
    ways = torch.cartesian_prod(*[torch.tensor([True, False])] * 4)
    total = sum(dropped_attention(scores, value, way.expand(1, 3, 4), 0.5) for way in ways) / 16
    share = scores.exp() / scores.exp().sum(-1, keepdim=True)
    assert_close(total[0], torch.stack([(row[:, None] * value[0]).sum(0) for row in share[0]]))


check(on_average_nothing_changes, dropped_attention)


# %% check="a_query_may_lose_all_its_weights" points=1
def a_query_may_lose_all_its_weights(dropped_attention, draw):
    """A query whose weights are all dropped has the output zero, and its neighbour keeps its own."""
    scores, value = draw.normal(1, 2, 3), 1 + draw.uniform(1, 3, 4)
    kept = torch.tensor([[[False] * 3, [True] * 3]])
    answer = dropped_attention(scores, value, kept, 0.2)
    assert_close(answer[0, 0], torch.zeros(4).double())
    assert_true((answer[0, 1] > 1.2).all(), "The neighbour's output is too small.")


check(a_query_may_lose_all_its_weights, dropped_attention)


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


check(other_weights_are_dropped_as_well, dropped_attention)

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


check(the_scales_of_the_examples_are_8_and_30, score_scale)


# %% check="all_sums_of_signs_have_variance_one" points=1
def all_sums_of_signs_have_variance_one(score_scale):
    """Over all queries of ±2 and all keys of ±3 in four dimensions, the scaled products have variance 1."""
    signs = torch.cartesian_prod(*[torch.tensor([1.0, -1.0]).double()] * 4)  # (16, 4)
    products = (2 * signs) @ (3 * signs).T / score_scale(4.0, 9.0, 4)
    assert_close(products.square().mean(), 1.0, what="the variance")


check(all_sums_of_signs_have_variance_one, score_scale)


# %% check="nine_times_as_wide_needs_three_times_the_scale" points=1
def nine_times_as_wide_needs_three_times_the_scale(score_scale, draw):
    """For queries and keys nine times as wide the scale is three times as large."""
    variance, d_head = draw.number(0.5, 2), draw.integers(4, 9)
    assert_close(score_scale(variance, 1.5, 9 * d_head), 3 * float(score_scale(variance, 1.5, d_head)))
    assert_depends(score_scale(variance, 1.5, 9 * d_head), 0.0)


check(nine_times_as_wide_needs_three_times_the_scale, score_scale)


# %% check="other_variances_have_their_scale" points=1 hidden
def other_variances_have_their_scale(score_scale, draw):
    """Other variances and widths have their scale."""
    for d_head in (2, 3, 100):
        a, b = draw.number(0.2, 0.8), draw.number(1.2, 5)
        assert_close(score_scale(a, b, d_head), (d_head * a * b) ** 0.5)


check(other_variances_have_their_scale, score_scale)

# %% [markdown] exercise="effective_keys" difficulty=2 minutes=10 exempt="gradient"
# ### 4. A saturated softmax
#
# How many keys does a query really look at? Not the number of keys, nor does the largest weight tell: the
# weights $(\tfrac12, \tfrac12, 0, 0)$ and $(\tfrac12, \tfrac16, \tfrac16, \tfrac16)$ have the same one. The
# entropy does. Like a perplexity, $e^{H}$ with $H = -\sum_j \alpha_j \ln \alpha_j$ counts the keys: it is $n$
# where $n$ keys have equal weights and the others none. A softmax is **saturated** where it is close to 1.
#
# Write `effective_keys(scores)`, which returns $e^{H}$ of the softmax of each query. `scores` is (…, T, S),
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


check(the_examples_count_4_2_1_and_2_828, effective_keys)


# %% check="every_query_counts_for_itself" points=1
def every_query_counts_for_itself(effective_keys):
    """Three queries that look at one, two and five of five keys count 1, 2 and 5, in each of two batches."""
    low = torch.tensor([[0.0, -900, -900, -900, -900], [0, -900, 0, -900, -900], [0.0] * 5]).double()
    expected = torch.tensor([1.0, 2.0, 5.0]).double()
    assert_close(effective_keys(torch.stack([low, low.flip(0)])), torch.stack([expected, expected.flip(0)]))


check(every_query_counts_for_itself, effective_keys)


# %% check="the_largest_weight_does_not_decide" points=1
def the_largest_weight_does_not_decide(effective_keys):
    """Weights (1/2, 1/2, 0, 0) count 2 keys; (1/2, 1/6, 1/6, 1/6) count 2·√3."""
    weights = torch.tensor([[1 / 2, 1 / 2, 0, 0], [1 / 2, 1 / 6, 1 / 6, 1 / 6]]).double()
    assert_close(effective_keys(weights.log()), torch.tensor([2.0, 2 * 3**0.5]).double(), tolerance=1e-6)


check(the_largest_weight_does_not_decide, effective_keys)


# %% check="a_key_out_of_reach_adds_nothing" points=1
def a_key_out_of_reach_adds_nothing(effective_keys, draw):
    """Two further keys, one at minus infinity and one 2000 below the others, change no count."""
    scores = draw.normal(3, 4)
    answer = effective_keys(scores)
    far = torch.tensor([-math.inf, -2000.0]).double().expand(3, 2)
    assert_close(effective_keys(torch.cat([scores, far], -1)), answer)
    assert_depends(answer, effective_keys(3 * scores))


check(a_key_out_of_reach_adds_nothing, effective_keys)


# %% check="other_scores_have_their_count" points=1 hidden
def other_scores_have_their_count(effective_keys, draw):
    """Other scores, sharp and flat, have the exponential of their entropy."""
    for shape, scale in (((2, 3, 5), 1.0), ((4, 7), 6.0), ((3, 2), 0.1)):
        scores = scale * draw.normal(*shape)
        scores[..., -1] -= 1500
        log_probs = scores - scores.logsumexp(-1, keepdim=True)
        assert_close(effective_keys(scores), torch.exp(-(log_probs.exp() * log_probs).sum(-1)))


check(other_scores_have_their_count, effective_keys)

# %% [markdown] written="why_divide_by_the_root" points=4 minutes=10
# ### 5. Why divide at all
#
# A classmate leaves the division out: "The matrices $W^Q$ and $W^K$ are learned. If the scores are too large,
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


check(the_example_forbids_one_pair, causal_mask)


# %% check="position_i_sees_i_plus_one_positions" points=1
def position_i_sees_i_plus_one_positions(causal_mask):
    """With as many queries as keys, the first position sees one key, the second two, and so on."""
    assert_equal(causal_mask(6, 6).long().sum(-1), torch.arange(1, 7))


check(position_i_sees_i_plus_one_positions, causal_mask)


# %% check="every_position_sees_itself" points=1
def every_position_sees_itself(causal_mask):
    """The diagonal is True, and the key right after it is False."""
    mask = causal_mask(5, 5)
    assert_equal(mask.diagonal(), torch.ones(5, dtype=torch.bool), what="the diagonal")
    assert_equal(mask.diagonal(1), torch.zeros(4, dtype=torch.bool), what="next to the diagonal")


check(every_position_sees_itself, causal_mask)


# %% check="the_newest_position_sees_everything" points=1
def the_newest_position_sees_everything(causal_mask):
    """A single query, the newest of seven positions, sees all seven; the one before it sees six."""
    assert_equal(causal_mask(1, 7), torch.ones(1, 7, dtype=torch.bool))
    assert_equal(causal_mask(2, 7).long().sum(-1), torch.tensor([6, 7]))


check(the_newest_position_sees_everything, causal_mask)


# %% check="other_masks_hide_the_future_alone" points=1 hidden
def other_masks_hide_the_future_alone(causal_mask, draw):
    """Other masks, square and wide, hide the future and nothing else."""
    for n_queries, n_keys in ((4, 4), (3, 8), (1, 1), (5, draw.integers(6, 12))):
        first = n_keys - n_queries
        expected = [[j <= first + i for j in range(n_keys)] for i in range(n_queries)]
        assert_equal(causal_mask(n_queries, n_keys), torch.tensor(expected))


check(other_masks_hide_the_future_alone, causal_mask)

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


check(the_example_shares_between_two_keys, masked_weights)


# %% check="forbidden_weights_are_exactly_0" points=1
def forbidden_weights_are_exactly_0(masked_weights, draw):
    """Forbidden weights are 0 and allowed ones are not, in each row of a batch; gradients flow back."""
    mask = torch.tensor([[True, False, True, False, False], [False, True, True, True, False]])
    scores = draw.normal(3, 2, 5)
    answer = masked_weights(scores, mask)
    assert_equal(answer == 0, ~mask.expand(3, 2, 5), what="where the weights are 0")
    assert_close(answer[1], masked_weights(scores[1], mask), what="the second of the batch")
    assert_differentiable(masked_weights, scores, mask)


check(forbidden_weights_are_exactly_0, masked_weights)


# %% check="allowed_weights_sum_to_one" points=1
def allowed_weights_sum_to_one(masked_weights, draw):
    """The allowed weights of each query sum to one."""
    mask = torch.tensor([[True, False, True, True, False], [False, True, False, True, True]])
    answer = masked_weights(draw.normal(3, 2, 5), mask)
    assert_close((answer * mask).sum(-1), torch.ones(3, 2).double())


check(allowed_weights_sum_to_one, masked_weights)


# %% check="a_forbidden_score_has_no_say" points=1
def a_forbidden_score_has_no_say(masked_weights, draw):
    """The weights stay as they are when the forbidden scores become -9, 800 or 30,000."""
    scores, mask = draw.normal(2, 4), torch.tensor([[True, False, True, True], [False, True, True, True]])
    answer = masked_weights(scores, mask)
    for high in (-9.0, 800.0, 30_000.0):
        assert_close(masked_weights(torch.where(mask, scores, high), mask), answer)
    assert_depends(answer, masked_weights(-scores, mask))


check(a_forbidden_score_has_no_say, masked_weights)


# %% check="low_scores_are_not_lost" points=1
def low_scores_are_not_lost(masked_weights, draw):
    """The weights stay as they are when all scores of a query are lowered by 20,000, and by 3,000,000,000."""
    scores, mask = draw.integers(-2, 3, 2, 5).double(), torch.tensor([True, True, False, True, False])
    answer = masked_weights(scores, mask)
    assert_close(masked_weights(scores - 20_000, mask), answer)
    assert_close(masked_weights(scores - 3e9, mask), answer)
    assert_depends(answer, masked_weights(-scores - 1, ~mask))


check(low_scores_are_not_lost, masked_weights)


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
        scores[..., 1] += 50_000
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


check(other_scores_are_masked, masked_weights)

# %% [markdown] exercise="padding_mask" difficulty=1 minutes=10 forbids="course.models"
# ### 8. The padding mask
#
# Sequences of a batch are filled up with the token `pad` to a common length. Nobody may attend to a filling.
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
    assert_equal(padding_mask(torch.tensor([[5, 9, 3], [7, 3, 3]]), 3), expected)


check(the_example_hides_three_paddings, padding_mask)


# %% check="all_queries_of_a_sequence_see_its_real_tokens" points=1
def all_queries_of_a_sequence_see_its_real_tokens(padding_mask):
    """Broadcast to two sequences, three heads and four queries, each query sees its sequence's real keys."""
    tokens = torch.tensor([[4, 6, 8, 1, 1], [9, 1, 1, 1, 1]])
    mask = padding_mask(tokens, 1)
    seen = (mask & torch.ones(2, 3, 4, 5, dtype=torch.bool)).long().sum(-1)
    assert_equal(seen, torch.tensor([3, 1])[:, None, None].expand(2, 3, 4))


check(all_queries_of_a_sequence_see_its_real_tokens, padding_mask)


# %% check="the_padding_token_is_the_one_given" points=1
def the_padding_token_is_the_one_given(padding_mask):
    """With pad = 7, the token 0 is an ordinary word."""
    mask = padding_mask(torch.tensor([[0, 2, 7, 7], [3, 0, 0, 7]]), 7)
    expected = torch.tensor([[True, True, False, False], [True, True, True, False]])
    assert_equal(mask.reshape(2, 4), expected)


check(the_padding_token_is_the_one_given, padding_mask)


# %% check="other_paddings_are_hidden" points=1 hidden
def other_paddings_are_hidden(padding_mask, draw):
    """Other batches have their padding hidden, as keys."""
    for batch_size, n_keys, pad in ((3, 5, 0), (2, 7, 4), (4, 1, draw.integers(1, 6))):
        tokens = draw.integers(0, 8, batch_size, n_keys)
        tokens[0, -1], tokens[1] = pad, (pad + 1) * torch.ones(n_keys).long()
        expected = [[[[token != pad for token in row]]] for row in tokens.tolist()]
        assert_equal(padding_mask(tokens, pad), torch.tensor(expected))


check(other_paddings_are_hidden, padding_mask)


# %% provided="attention_with_a_mask"
def outputs_under(mask, x, n_heads=2):
    """What each position of x (B, T, D) gets from an attention over x under a mask, (B, H, T, D)."""
    allowed = mask.expand(-1, n_heads, -1, -1)
    shares = torch.einsum("btd,bsd->bts", x, x).exp()[:, None] * allowed  # these scores are small
    return torch.einsum("bhts,bsd->bhtd", shares / shares.sum(-1, keepdim=True), x)


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


check(the_example_has_its_two_masks, translation_masks)


# %% check="each_language_has_its_own_padding" points=1
def each_language_has_its_own_padding(translation_masks):
    """The source's padding token is an ordinary word of the target, and the other way round."""
    source, target = torch.tensor([[5, 9, 0, 0]]), torch.tensor([[7, 0, 0, 9, 9]])
    source_mask, target_mask = translation_masks(source, target, 0, 9)
    assert_equal(source_mask.flatten(), torch.tensor([True, True, False, False]), what="the source's keys")
    newest = target_mask[:, :, -1].flatten()
    assert_equal(newest, torch.tensor([True, True, True, False, False]), what="the newest query's keys")


check(each_language_has_its_own_padding, translation_masks)


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


check(the_future_does_not_change_the_past, translation_masks)


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


check(padding_does_not_change_real_tokens, translation_masks)


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


check(other_sentences_have_their_masks, translation_masks)


# %% [markdown]
# ## Part B. Heads, and what order means to them

# %% [markdown] exercise="split_heads" difficulty=1 minutes=10 forbids="course.models"
# ### 10. Split into heads
#
# Several heads attend side by side, each in its own K = D / H of the D dimensions: head 0 owns the first K
# numbers of every vector, head 1 the next K, and so on. To let each head attend alone, the axis of heads
# moves before the axis of positions.
#
# Write `split_heads(x, n_heads)`, which turns x (B, T, D) into (B, H, T, K).
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
    """The heads (B, H, T, K) of x (B, T, D); head h owns the numbers from h·K to (h + 1)·K - 1."""
    ### BEGIN SOLUTION
    B, T, D = x.shape
    return x.view(B, T, n_heads, D // n_heads).transpose(1, 2)  # (B, T, H, K) → (B, H, T, K)
    ### END SOLUTION


# %% check="the_example_has_three_heads" points=1
def the_example_has_three_heads(split_heads):
    """In the example the three heads see their two numbers of both vectors, in a second sequence as well."""
    x = torch.arange(1.0, 25).double().reshape(2, 2, 6)
    expected = torch.tensor([[[[1.0, 2], [7, 8]], [[3, 4], [9, 10]], [[5, 6], [11, 12]]]]).double()
    assert_close(split_heads(x, 3), torch.cat([expected, expected + 12]))
    assert_differentiable(split_heads, x, 3)


check(the_example_has_three_heads, split_heads)


# %% check="a_head_owns_neighbouring_numbers" points=1
def a_head_owns_neighbouring_numbers(split_heads):
    """If every vector is (0, 1, …, 11), each head of four sees three numbers in a row, at every position."""
    heads = split_heads(torch.arange(12.0).double().expand(2, 5, 12).contiguous(), 4)
    expected = torch.arange(12.0).double().reshape(1, 4, 1, 3).expand(2, 4, 5, 3)
    assert_close(heads, expected)


check(a_head_owns_neighbouring_numbers, split_heads)


# %% check="positions_stay_where_they_are" points=1
def positions_stay_where_they_are(split_heads):
    """If all numbers of a vector are the number of its position, so are those of every head."""
    positions = torch.arange(5.0).double()
    heads = split_heads(positions[None, :, None].expand(2, 5, 12).contiguous(), 3)
    assert_close(heads, positions[None, None, :, None].expand(2, 3, 5, 4))


check(positions_stay_where_they_are, split_heads)


# %% check="as_many_heads_as_asked_for" points=1
def as_many_heads_as_asked_for(split_heads, draw):
    """Vectors of 12 numbers make two heads of six or six heads of two."""
    x = draw.normal(3, 5, 12)
    assert_equal(list(split_heads(x, 2).shape), [3, 2, 5, 6], what="the shape for two heads")
    assert_equal(list(split_heads(x, 6).shape), [3, 6, 5, 2], what="the shape for six heads")


check(as_many_heads_as_asked_for, split_heads)


# %% check="other_vectors_are_split" points=1 hidden
def other_vectors_are_split(split_heads, draw):
    """Other vectors are split into their heads."""
    for batch_size, n_positions, n_heads, d_head in ((2, 7, 5, 3), (3, 4, 1, 6), (1, 2, 4, 3)):
        x = draw.normal(batch_size, n_positions, n_heads * d_head)
        expected = torch.stack([x[..., h * d_head : (h + 1) * d_head] for h in range(n_heads)], dim=1)
        assert_close(split_heads(x, n_heads), expected)


check(other_vectors_are_split, split_heads)

# %% [markdown] exercise="merge_heads" difficulty=1 minutes=5 forbids="course.models"
# ### 11. Merge the heads
#
# After each head has attended, its outputs go back to the places they came from: the numbers of head 0 first,
# then those of head 1, for each position.
#
# Write `merge_heads(x)`, which turns (B, H, T, K) into (B, T, H·K) and undoes `split_heads`.
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
    """The heads (B, H, T, K) side by side again, (B, T, H·K)."""
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(start_dim=2)  # (B, T, H, K) → (B, T, D)
    ### END SOLUTION


# %% check="the_example_is_put_together" points=1
def the_example_is_put_together(merge_heads):
    """In the example the two vectors of six numbers come back, and those of a second sequence."""
    heads = torch.tensor([[[[1.0, 2], [7, 8]], [[3, 4], [9, 10]], [[5, 6], [11, 12]]]]).double()
    heads = torch.cat([heads, heads + 12])
    assert_close(merge_heads(heads), torch.arange(1.0, 25).double().reshape(2, 2, 6))
    assert_differentiable(merge_heads, heads)


check(the_example_is_put_together, merge_heads)


# %% check="each_head_returns_to_its_own_place" points=1
def each_head_returns_to_its_own_place(merge_heads):
    """If all numbers of a head are the head's number, every vector is 0, 0, 1, 1, 2, 2, …"""
    heads = torch.arange(4.0).double()[None, :, None, None].expand(3, 4, 5, 2)
    expected = torch.arange(4.0).double().repeat_interleave(2).expand(3, 5, 8)
    assert_close(merge_heads(heads.contiguous()), expected)


check(each_head_returns_to_its_own_place, merge_heads)


# %% check="a_position_keeps_its_own_numbers" points=1
def a_position_keeps_its_own_numbers(merge_heads):
    """If all numbers of a position are the position's number, so are those of its vector."""
    heads = torch.arange(5.0).double()[None, None, :, None].expand(3, 4, 5, 2)
    assert_close(merge_heads(heads.contiguous()), torch.arange(5.0).double()[None, :, None].expand(3, 5, 8))


check(a_position_keeps_its_own_numbers, merge_heads)


# %% check="other_heads_are_merged" points=1 hidden
def other_heads_are_merged(merge_heads, draw):
    """Other heads are put side by side."""
    for batch_size, n_heads, n_positions, d_head in ((2, 3, 5, 4), (3, 1, 4, 6), (1, 6, 2, 3)):
        heads = draw.normal(batch_size, n_heads, n_positions, d_head)
        assert_close(merge_heads(heads), torch.cat(list(heads.unbind(dim=1)), dim=-1))


check(other_heads_are_merged, merge_heads)


# %% provided="attention_of_torch"
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


# %% [markdown] exercise="MultiHeadAttention" difficulty=3 minutes=25 forbids="torch.nn.functional.scaled_dot_product_attention,torch.nn.functional.multi_head_attention_forward,torch.nn.MultiheadAttention,torch.nn.Transformer,torch.nn.TransformerEncoder,torch.nn.TransformerEncoderLayer,torch.nn.TransformerDecoder,torch.nn.TransformerDecoderLayer,torch.nn.attention,torch.ops,torch._C,course.models"
# ### 12. Multi-head attention
#
# Queries, keys and values are made by matrices, each head attends with its share of them, and one more matrix
# mixes what the heads have found:
#
# $$\text{head}_h = \text{attention}(Q_h, K_h, V_h) \qquad
# \text{output} = [\text{head}_1; \dots; \text{head}_H] \, W^O$$
#
# Write the class `MultiHeadAttention`, an `nn.Module`:
#
# - `MultiHeadAttention(d_model, n_heads)` has four layers `nn.Linear(d_model, d_model)` as attributes
#   `W_query`, `W_key`, `W_value` and `W_output`, so eight parameters: `W_query.weight` (D, D),
#   `W_query.bias` (D,) and so on. The matrices of all heads lie in one: the numbers of head $h$ are those from
#   $hK$ to $(h + 1)K - 1$ of what `W_query` gives.
# - `forward(query, key, value, mask=None)` takes query (B, T, D), key and value (B, S, D), and a mask that
#   broadcasts to (B, H, T, S), True = may be attended to; it returns (B, T, D). In self-attention all three
#   are the same tensor; T and S may differ otherwise.
#
# There is no dropout. Do not call a ready-made attention.
#
# **Example.** $D = 2$, two heads, all four matrices the unit matrix, all biases 0. Query $(\ln 3, 0)$, keys
# $(1, 5)$ and $(0, 5)$, values $(4, 2)$ and $(0, 6)$. K is 1: head 0 has the scores $\ln 3$ and 0, the weights
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
        q = self.W_query(query).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, T, K)
        k = self.W_key(key).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, S, K)
        v = self.W_value(value).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, S, K)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        heads = scores.softmax(dim=-1) @ v  # (B, H, T, K)
        return self.W_output(heads.transpose(1, 2).flatten(start_dim=2))  # (B, T, D)
        ### END SOLUTION


# %% check="the_eight_parameters_are_registered" points=1
def the_eight_parameters_are_registered(MultiHeadAttention):
    """The module knows weight and bias of W_query, W_key, W_value and W_output, and no others."""
    names = [
        f"W_{part}.{kind}" for part in ("key", "output", "query", "value") for kind in ("bias", "weight")
    ]
    assert_equal(sorted(MultiHeadAttention(6, 3).gradients()), names)


check(the_eight_parameters_are_registered, MultiHeadAttention)


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


check(the_example_heads_find_3_and_4, MultiHeadAttention)


# %% check="self_attention_is_that_of_torch" points=1
def self_attention_is_that_of_torch(MultiHeadAttention, draw):
    """With the same weights, self-attention in three heads gives the numbers of PyTorch's."""
    weights, x = attention_weights_of(draw, 6), draw.normal(2, 5, 6)
    assert_close(
        with_weights(MultiHeadAttention(6, 3), weights)(x, x, x), attended_by_torch(weights, 3, x, x, x)
    )


check(self_attention_is_that_of_torch, MultiHeadAttention)


# %% check="queries_need_not_be_as_many_as_keys" points=1
def queries_need_not_be_as_many_as_keys(MultiHeadAttention, draw):
    """Three queries and five keys, and five queries and three keys, have one output per query."""
    model = with_weights(MultiHeadAttention(6, 2), attention_weights_of(draw, 6))
    short, long = draw.normal(2, 3, 6), draw.normal(2, 5, 6)
    assert_equal(list(model(short, long, long).shape), [2, 3, 6], what="the shape for three queries")
    assert_equal(list(model(long, short, short).shape), [2, 5, 6], what="the shape for five queries")


check(queries_need_not_be_as_many_as_keys, MultiHeadAttention)


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


check(heads_may_change_places, MultiHeadAttention)


# %% check="what_the_heads_found_is_mixed" points=1
def what_the_heads_found_is_mixed(MultiHeadAttention, draw):
    """With W_output's matrix 0, every output is W_output's bias."""
    weights, query, key = attention_weights_of(draw, 6), draw.normal(2, 3, 6), draw.normal(2, 5, 6)
    unmixed = weights | {"W_output.weight": torch.zeros(6, 6).double()}
    answer = with_weights(MultiHeadAttention(6, 2), unmixed)(query, key, key)
    assert_close(answer, weights["W_output.bias"].expand(2, 3, 6))


check(what_the_heads_found_is_mixed, MultiHeadAttention)


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


check(what_the_mask_hides_does_not_matter, MultiHeadAttention)


# %% check="sequences_do_not_see_each_other" points=1
def sequences_do_not_see_each_other(MultiHeadAttention, draw):
    """A sequence has the same output alone as beside two others."""
    model, x = with_weights(MultiHeadAttention(6, 3), attention_weights_of(draw, 6)), draw.normal(3, 5, 6)
    answer = model(x, x, x)
    assert_close(model(x[1:2], x[1:2], x[1:2]), answer[1:2])
    assert_depends(answer[1:2], answer[:1])


check(sequences_do_not_see_each_other, MultiHeadAttention)


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


check(other_attentions_have_the_outputs_and_gradients_of_torch, MultiHeadAttention)


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


# %% [markdown] exercise="permutation_gap" difficulty=2 minutes=15
# ### 13. Does order matter?
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
# outputs are $(3, 8, 7, 4)$. The differences are 1, 2, 0 and -3, and the gap is 3.
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


check(the_example_gap_is_3, permutation_gap)


# %% check="attention_alone_does_not_mind" points=1
def attention_alone_does_not_mind(permutation_gap, draw):
    """Self-attention has no gap, and has one as soon as positions are added."""
    x, order = draw.normal(2, 5, 3), [3, 0, 4, 2, 1]
    assert_close(permutation_gap("self_attention", x, order), 0.0, tolerance=1e-9)
    assert_true(permutation_gap("with_positions", x, order) > 0.01, "With positions there should be a gap.")


check(attention_alone_does_not_mind, permutation_gap)


# %% check="without_a_permutation_there_is_no_gap" points=1
def without_a_permutation_there_is_no_gap(permutation_gap, draw):
    """If the order stays as it is, no layer has a gap; turned by one, positions make one and neighbours none."""
    x = 3 * draw.normal(2, 4, 3)
    assert_close(permutation_gap("with_positions", x, [0, 1, 2, 3]), 0.0, tolerance=1e-9)
    assert_close(permutation_gap("neighbours", x, [1, 2, 3, 0]), 0.0, tolerance=1e-9)
    assert_true(permutation_gap("with_positions", x, [1, 2, 3, 0]) > 0.001, "The positions should matter.")


check(without_a_permutation_there_is_no_gap, permutation_gap)


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


check(other_layers_have_their_gap, permutation_gap)


# %% provided="keys_at_right_angles"
def orthogonal_keys(draw, n_keys, d_head):
    """Keys (S, K) at right angles to each other, of lengths between 1/2 and 2."""
    mirror = draw.normal(d_head, 1)
    turned = torch.eye(d_head).double() - 2 * mirror @ mirror.T / mirror.square().sum()
    return turned[:n_keys] * draw.uniform(n_keys, 1, low=0.5, high=2.0)


# %% [markdown] exercise="query_for" difficulty=2 minutes=15 exempt="gradient"
# ### 14. Design a query
#
# A query can be made to order. S keys of width K stand at right angles to each other ($k_i \cdot k_j = 0$ for
# $i \ne j$), but may be of different lengths. You want a query whose scaled dot-product attention looks
# **equally** at the keys whose numbers are in the list `wanted`, with weights that together make up `share`,
# and equally at all the others, which get the rest.
#
# Write `query_for(keys, wanted, share)`, which returns such a query, (K,). `keys` is (S, K); some keys are
# wanted and some are not; `share` lies between 0 and 1 and is more than the wanted keys would get from
# a query of zeros. The scores are divided by $\sqrt{K}$ as in exercise 1.
#
# **Example.** Three keys, the first three unit vectors of four dimensions; `wanted = [0]`, `share = 0.5`. The
# query $(2 \ln 2, 0, 0, 0)$ has the scores $(\ln 2, 0, 0)$ and the weights $(1/2, 1/4, 1/4)$. With a share of
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
def query_for(keys: Tensor, wanted: list[int], share: float) -> Tensor:
    """A query (K,) that gives the wanted ones of orthogonal keys (S, K) equal weights that sum to `share`."""
    ### BEGIN SOLUTION
    n_others = len(keys) - len(wanted)
    score = math.log(share / len(wanted) * n_others / (1 - share))  # the others' scores are 0
    chosen = keys[wanted]
    directions = chosen / chosen.square().sum(-1, keepdim=True)  # k · k / |k|² = 1
    return score * math.sqrt(keys.shape[-1]) * directions.sum(0)
    ### END SOLUTION


# %% provided="weights_of_a_query"
def looks_at(query, keys):
    """The attention weights (S,) of a query (K,) over keys (S, K)."""
    query = torch.as_tensor(query).double()
    assert_equal(list(query.shape), [keys.shape[-1]], what="the shape of the query")
    return torch.softmax(keys @ query / math.sqrt(keys.shape[-1]), dim=-1)


# %% check="the_example_query_looks_at_one_half" points=1
def the_example_query_looks_at_one_half(query_for):
    """The query of the example has the weights 1/2, 1/4 and 1/4."""
    keys = torch.eye(4).double()[:3]
    expected = torch.tensor([0.5, 0.25, 0.25]).double()
    assert_close(looks_at(query_for(keys, [0], 0.5), keys), expected, tolerance=1e-5)


check(the_example_query_looks_at_one_half, query_for)


# %% check="wanted_keys_get_equal_weights" points=1
def wanted_keys_get_equal_weights(query_for):
    """Two wanted keys, one three times as long as the other, get the same weight."""
    keys = torch.diag(torch.tensor([1.0, 3.0, 1.0, 2.0])).double()
    weights = looks_at(query_for(keys, [1, 2], 0.75), keys)
    assert_close(weights[1], weights[2], tolerance=1e-5)
    assert_true(weights[1] > weights[0], "The wanted keys should get more than the others.")


check(wanted_keys_get_equal_weights, query_for)


# %% check="wanted_keys_get_their_share" points=1
def wanted_keys_get_their_share(query_for):
    """Three of five keys of length 1, wanted with a share of 0.9, get 0.3 each, and the others 0.05 each."""
    keys = torch.eye(6).double()[:5]
    expected = torch.tensor([0.3, 0.05, 0.3, 0.05, 0.3]).double()
    assert_close(looks_at(query_for(keys, [0, 2, 4], 0.9), keys), expected, tolerance=1e-5)


check(wanted_keys_get_their_share, query_for)


# %% check="a_value_is_copied" points=1
def a_value_is_copied(query_for, draw):
    """Of six keys of several lengths, one wanted with a share of 0.9999 brings its value, nearly."""
    keys, values = orthogonal_keys(draw, 6, 7), draw.normal(6, 3)
    output = looks_at(query_for(keys, [4], 0.9999), keys) @ values
    assert_close(output, values[4], tolerance=0.002)


check(a_value_is_copied, query_for)


# %% check="other_keys_get_what_is_wanted" points=2 hidden
def other_keys_get_what_is_wanted(query_for, draw):
    """Other keys, turned and of other lengths, get the weights that are wanted."""
    for n_keys, d_head, wanted in ((5, 7, [3]), (6, 8, [5, 1]), (7, 7, [0, 2, 3, 6])):
        keys, share = orthogonal_keys(draw, n_keys, d_head), draw.number(0.7, 0.99)
        expected = torch.full((n_keys,), (1 - share) / (n_keys - len(wanted))).double()
        expected[wanted] = share / len(wanted)
        assert_close(looks_at(query_for(keys, wanted, share), keys), expected, tolerance=1e-5)


check(other_keys_get_what_is_wanted, query_for)

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


check(the_fault_leaves_the_future_dark, fault_of_the_map)


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


check(the_fault_makes_the_whole_map, fault_of_the_map)


# %% [markdown]
# ## Part C. Positions
#
# Attention alone does not know the order of its tokens (exercise 13). There are three places to tell it:
# add something to the embeddings, add something to the scores, or turn queries and keys.

# %% [markdown] exercise="sinusoidal_positions" difficulty=2 minutes=15 forbids="course.models"
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


check(the_example_positions_have_their_waves, sinusoidal_positions)


# %% check="position_0_is_no_turn_at_all" points=1
def position_0_is_no_turn_at_all(sinusoidal_positions):
    """Position 0 has sine 0 and cosine 1 throughout, whatever the width."""
    assert_close(sinusoidal_positions(3, 8)[0], torch.tensor([0.0, 1.0] * 4).double(), tolerance=1e-9)


check(position_0_is_no_turn_at_all, sinusoidal_positions)


# %% check="neighbours_are_a_point_of_the_circle" points=1
def neighbours_are_a_point_of_the_circle(sinusoidal_positions):
    """Numbers 2i and 2i + 1 of every position are sine and cosine of one angle, so their squares sum to 1."""
    pairs = sinusoidal_positions(7, 10).reshape(7, 5, 2)
    assert_close(pairs.square().sum(-1), torch.ones(7, 5).double(), tolerance=1e-6)


check(neighbours_are_a_point_of_the_circle, sinusoidal_positions)


# %% check="each_pair_turns_at_its_own_speed" points=1
def each_pair_turns_at_its_own_speed(sinusoidal_positions):
    """For D = 8, one position further turns the four pairs by 1, 0.1, 0.01 and 0.001."""
    pairs = sinusoidal_positions(4, 8).reshape(4, 4, 2)
    angles = torch.atan2(pairs[..., 0], pairs[..., 1])
    expected = torch.tensor([1.0, 0.1, 0.01, 0.001]).double().expand(3, 4)
    assert_close(angles[1:] - angles[:-1], expected, tolerance=1e-6)


check(each_pair_turns_at_its_own_speed, sinusoidal_positions)


# %% check="an_odd_width_ends_with_a_sine" points=1
def an_odd_width_ends_with_a_sine(sinusoidal_positions):
    """For D = 3 the third number is the sine of p / 10000^(2/3)."""
    answer = sinusoidal_positions(4, 3)
    assert_equal(list(answer.shape), [4, 3], what="the shape")
    expected = (torch.arange(4).double() / 10_000 ** (2 / 3)).sin()
    assert_close(answer[:, 2], expected, tolerance=1e-6)


check(an_odd_width_ends_with_a_sine, sinusoidal_positions)


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


check(other_positions_have_their_waves, sinusoidal_positions)

# %% [markdown] exercise="LearnedPositions" difficulty=1 minutes=10 forbids="course.models"
# ### 17. Learned positions
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


check(the_example_table_is_added, LearnedPositions)


# %% check="each_position_has_a_vector_of_its_own" points=1
def each_position_has_a_vector_of_its_own(LearnedPositions, draw):
    """What is added at position t is row t of the table."""
    table, x = draw.normal(7, 3), draw.normal(2, 5, 3)
    answer = with_weights(LearnedPositions(7, 3), {"table": table})(x)
    for t in range(5):
        assert_close(answer[:, t] - x[:, t], table[t].expand(2, 3), what=f"position {t}")


check(each_position_has_a_vector_of_its_own, LearnedPositions)


# %% check="all_sequences_get_the_same_vectors" points=1
def all_sequences_get_the_same_vectors(LearnedPositions, draw):
    """What is added does not depend on the place of a sequence in the batch."""
    model, x = with_weights(LearnedPositions(7, 3), {"table": draw.normal(7, 3)}), draw.normal(4, 5, 3)
    added = model(x) - x
    assert_close(added, added[:1].expand(4, 5, 3))
    assert_depends(added, torch.zeros(4, 5, 3).double())


check(all_sequences_get_the_same_vectors, LearnedPositions)


# %% check="the_table_is_a_parameter" points=1
def the_table_is_a_parameter(LearnedPositions):
    """The only parameter is the table."""
    assert_equal(list(LearnedPositions(7, 3).gradients()), ["table"])


check(the_table_is_a_parameter, LearnedPositions)


# %% check="only_used_positions_learn" points=1
def only_used_positions_learn(LearnedPositions, draw):
    """The gradient of a row is the sum of what comes for its position; rows beyond the text get none."""
    model, upstream = with_weights(LearnedPositions(7, 3), {"table": draw.normal(7, 3)}), draw.normal(2, 5, 3)
    assert_equal(list(model.gradients()), ["table"], what="the parameters")
    (model(draw.normal(2, 5, 3)) * upstream).sum().backward()
    expected = torch.cat([upstream[0] + upstream[1], torch.zeros(2, 3).double()])
    assert_close(model.gradients()["table"], expected)


check(only_used_positions_learn, LearnedPositions)


# %% check="other_tables_are_added" points=1 hidden
def other_tables_are_added(LearnedPositions, draw):
    """Other tables are added to other sequences, as long as the table too."""
    for batch_size, n_positions, context_length, d_model in ((3, 2, 6, 4), (2, 5, 5, 3), (4, 1, 8, 2)):
        table, x = draw.normal(context_length, d_model), draw.normal(batch_size, n_positions, d_model)
        model = with_weights(LearnedPositions(context_length, d_model), {"table": table})
        answer = model(x)
        assert_close(answer, torch.stack([sequence + table[:n_positions] for sequence in x]))


check(other_tables_are_added, LearnedPositions)

# %% [markdown] exercise="TransformerInput" difficulty=2 minutes=15
# ### 18. What goes into a Transformer
#
# The paper multiplies the embeddings by $\sqrt D$ before it adds the positions: embeddings start small, and
# the sines and cosines, which are of size 1, would drown them.
#
# Write the class `TransformerInput`, an `nn.Module`:
#
# - `TransformerInput(vocab_size, table)` gets the positions ready-made, `table` (C, D), and keeps them as a
#   **buffer** of the name `table`: a buffer moves with the module from one device or precision to another, and
#   is not trained. The layer `embedding`, an `nn.Embedding(vocab_size, D)`, holds the only parameter,
#   `embedding.weight` (V, D).
# - `forward(tokens)` takes tokens (B, T) int64 and returns $\sqrt D \, E_{x_t} + P_t$ for every position,
#   (B, T, D).
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


# %% provided="inputs"
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


check(the_example_token_becomes_2_1_0_1, TransformerInput)


# %% check="only_the_embedding_is_trained" points=1
def only_the_embedding_is_trained(TransformerInput, draw):
    """The only parameter is embedding.weight."""
    assert_equal(list(TransformerInput(9, draw.normal(7, 3)).gradients()), ["embedding.weight"])


check(only_the_embedding_is_trained, TransformerInput)


# %% check="the_table_is_a_buffer" points=1
def the_table_is_a_buffer(TransformerInput, draw):
    """The positions are a buffer of the name table."""
    table = draw.normal(7, 3)
    buffers = dict(TransformerInput(9, table).named_buffers())
    assert_equal(sorted(buffers), ["table"], what="the names of the buffers")
    assert_close(buffers["table"], table)


check(the_table_is_a_buffer, TransformerInput)


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


check(the_embedding_alone_is_scaled, TransformerInput)


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


check(other_tokens_get_their_vectors_and_gradients, TransformerInput)

# %% [markdown] exercise="relative_bias" difficulty=3 minutes=20 forbids="course.models"
# ### 19. A bias for each distance
#
# Instead of saying where each token stands, one can tell each pair how far apart it is: a learned number,
# chosen by the distance $j - i$ from query position $i$ to key position $j$, is added to the score. Far
# distances share a number: all beyond $R$ to the right count as $R$, all beyond $R$ to the left as $-R$ (Shaw
# and others, 2018).
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


check(the_example_biases_are_10_20_30, relative_bias)


# %% check="a_key_before_the_query_has_a_negative_distance" points=1
def a_key_before_the_query_has_a_negative_distance(relative_bias, draw):
    """If only the first R entries of the bias are not 0, only keys before their query get anything."""
    bias = torch.cat([1 + draw.uniform(3, 4), torch.zeros(3, 5).double()], dim=1)
    earlier = torch.ones(5, 5).tril(-1).bool().expand(3, 5, 5)
    assert_equal(relative_bias(bias, 5, 5) != 0, earlier)


check(a_key_before_the_query_has_a_negative_distance, relative_bias)


# %% check="far_distances_share_the_outermost_entries" points=1
def far_distances_share_the_outermost_entries(relative_bias, draw):
    """With R = 2 the first of six queries gets the entries for 0, 1, 2, 2, 2, 2 and the last -2, -2, -2, -2, -1, 0."""
    bias = draw.normal(3, 5)
    answer = relative_bias(bias, 6, 6)
    assert_close(answer[:, 0], bias[:, [2, 3, 4, 4, 4, 4]], what="the first query")
    assert_close(answer[:, 5], bias[:, [0, 0, 0, 0, 1, 2]], what="the last query")


check(far_distances_share_the_outermost_entries, relative_bias)


# %% check="new_queries_see_what_they_saw_in_the_whole" points=1
def new_queries_see_what_they_saw_in_the_whole(relative_bias, draw):
    """The two newest queries of seven get the last two rows of the table for all seven."""
    bias = draw.normal(2, 7)
    answer = relative_bias(bias, 2, 7)
    assert_close(answer, relative_bias(bias, 7, 7)[:, -2:])
    assert_depends(answer[0], answer[1])


check(new_queries_see_what_they_saw_in_the_whole, relative_bias)


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


check(other_distances_have_their_bias, relative_bias)

# %% [markdown] exercise="rotate" difficulty=2 minutes=15 forbids="course.models"
# ### 20. Turn by the position
#
# Rotary positions (RoPE; Su and others, 2021) neither add to embeddings nor to scores. They take each pair of
# **neighbouring** numbers of a query or key for a point of the plane and turn it, the faster the further left:
# the pair $(x_{2i}, x_{2i+1})$ at position $p$ is turned by the angle $\theta = p / 10000^{2i/K}$,
#
# $$(x, y) \to (x \cos\theta - y \sin\theta, \; x \sin\theta + y \cos\theta)$$
#
# Write `rotate(x, first)` for x (…, T, K) with K even: every vector turned by its position. Positions count
# from `first`, which is usually 0. (Other libraries pair number $i$ with number $i + K/2$; here pairs are
# neighbours, as in the paper.)
#
# **Example.** K = 4, `first = 0` and three times the vector $(0, 1, 2, 0)$. The first stays, the second becomes
# $(-\sin 1, \cos 1, 2 \cos 0.01, 2 \sin 0.01)$, the third $(-\sin 2, \cos 2, 2 \cos 0.02, 2 \sin 0.02)$.
#
# <details><summary>Hint 1</summary>
#
# Make a table of angles (T, K/2) first. `x[..., 0::2]` and `x[..., 1::2]` have the same last axis as it.
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
def rotate(x: Tensor, first: int) -> Tensor:
    """x (…, T, K) with each pair of neighbours turned by its position, which counts from `first`."""
    ### BEGIN SOLUTION
    n_positions, d_head = x.shape[-2:]
    positions = torch.arange(first, first + n_positions, dtype=torch.float64)
    speeds = 10_000.0 ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)
    angles = positions[:, None] * speeds  # (T, K/2)
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


check(the_example_vectors_are_turned, rotate)


# %% check="position_0_is_not_turned" points=1
def position_0_is_not_turned(rotate, draw):
    """The vectors at position 0 stay as they are, and those at position 1 do not."""
    x = draw.normal(2, 3, 5, 4)
    answer = rotate(x, 0)
    assert_close(answer[..., 0, :], x[..., 0, :])
    assert_depends(answer[..., 1, :], x[..., 1, :])


check(position_0_is_not_turned, rotate)


# %% check="neighbours_are_turned_together" points=1
def neighbours_are_turned_together(rotate, draw):
    """No pair of neighbours changes its length, and where all other pairs are 0 they stay 0."""
    x = draw.normal(2, 5, 6)
    lengths = x.reshape(2, 5, 3, 2).norm(dim=-1)
    assert_close(rotate(x, 3).reshape(2, 5, 3, 2).norm(dim=-1), lengths, tolerance=1e-6)
    alone = torch.cat([x[..., :2], torch.zeros(2, 5, 4).double()], dim=-1)
    assert_close(rotate(alone, 3)[..., 2:], torch.zeros(2, 5, 4).double())


check(neighbours_are_turned_together, rotate)


# %% check="scores_depend_on_the_distance_alone" points=1
def scores_depend_on_the_distance_alone(rotate, draw):
    """Queries and keys moved on by 40 positions have the same scores; keys moved on alone have others."""
    query, key = draw.normal(2, 3, 5, 4), draw.normal(2, 3, 7, 4)
    scores = rotate(query, 2) @ rotate(key, 0).transpose(-2, -1)
    assert_close(rotate(query, 42) @ rotate(key, 40).transpose(-2, -1), scores, tolerance=1e-6)
    assert_depends(scores, rotate(query, 2) @ rotate(key, 40).transpose(-2, -1))


check(scores_depend_on_the_distance_alone, rotate)


# %% check="positions_count_from_first" points=1
def positions_count_from_first(rotate, draw):
    """The vectors 3, 4 and 5 of six, turned alone with first = 3, are turned as among the six."""
    x = draw.normal(2, 6, 4)
    assert_close(rotate(x[:, 3:], 3), rotate(x, 0)[:, 3:], tolerance=1e-6)


check(positions_count_from_first, rotate)


# %% check="other_vectors_are_turned_by_their_position" points=2 hidden
def other_vectors_are_turned_by_their_position(rotate, draw):
    """Other vectors are turned, each pair by its angle."""
    for shape, first in (((2, 3, 4, 6), 0), ((5, 8), draw.integers(3, 30)), ((3, 2, 2), 1)):
        x, expected = draw.normal(*shape), torch.zeros(shape).double()
        for t in range(shape[-2]):
            for i in range(shape[-1] // 2):
                turn = complex(0, (first + t) / 10_000 ** (2 * i / shape[-1]))
                factor = math.e**turn
                point = torch.complex(x[..., t, 2 * i], x[..., t, 2 * i + 1]) * factor
                expected[..., t, 2 * i], expected[..., t, 2 * i + 1] = point.real, point.imag
        assert_close(rotate(x, first), expected, tolerance=1e-6)


check(other_vectors_are_turned_by_their_position, rotate)

# %% provided="a_ready_rotation"
from course.models.positions import rotate as turned  # exercise 20, ready-made: turned(x, first)

# %% [markdown] exercise="rotary_attention" difficulty=2 minutes=15 forbids="course.models.attention,course.models.multi_head_attention,course.models.transformer" allows="course.models.positions.rotate"
# ### 21. Attention with rotary positions
#
# A turn by the position of the query and a turn by that of the key leave, in their product, a turn by the
# difference: scores know how far two tokens are apart and nothing else. What is turned are queries and
# keys. The values are what is fetched, and stay as they are.
#
# Write `rotary_attention(query, key, value, first)`, which returns the outputs (…, T, M) of scaled dot-product
# attention with rotary positions. `query` is (…, T, K), `key` (…, S, K), `value` (…, S, M). The keys stand at
# the positions `first`, `first + 1`, …, and **the queries are the last positions** among them, as in exercise
# 6. There is no mask. `turned(x, first)`, given above, does what exercise 20 asks for, and is yours to use.
#
# **Example.** K = 2, one query $(\sqrt 2 \ln 3, 0)$, two keys, both $(1, 0)$, values $(8, 0)$ and $(4, 1)$,
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
    """The outputs (…, T, M); keys stand at `first` and after, the queries are the last of these positions."""
    ### BEGIN SOLUTION
    first_query = first + key.shape[-2] - query.shape[-2]
    scores = turned(query, first_query) @ turned(key, first).transpose(-2, -1) / math.sqrt(query.shape[-1])
    return scores.softmax(dim=-1) @ value
    ### END SOLUTION


# %% check="the_example_output_is_5_505" points=1
def the_example_output_is_5_505(rotary_attention):
    """In the example the nearer key gets more, 0.624, and the output is (5.505, 0.624)."""
    query = torch.tensor([[math.sqrt(2) * math.log(3), 0.0]]).double()
    key, value = torch.tensor([[1.0, 0], [1, 0]]).double(), torch.tensor([[8.0, 0], [4, 1]]).double()
    near = 3 / (3 ** math.cos(1) + 3)
    expected = torch.tensor([[8 - 4 * near, near]]).double()
    assert_close(rotary_attention(query, key, value, 2), expected, tolerance=1e-6)


check(the_example_output_is_5_505, rotary_attention)


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


check(moving_everything_changes_nothing, rotary_attention)


# %% check="values_are_only_averaged" points=1
def values_are_only_averaged(rotary_attention, draw):
    """Where all values are the same, so is every output."""
    query, key, value = draw.normal(2, 3, 4), draw.normal(2, 5, 4), draw.normal(4)
    answer = rotary_attention(query, key, value.expand(2, 5, 4).contiguous(), 7)
    assert_close(answer, value.expand(2, 3, 4))


check(values_are_only_averaged, rotary_attention)


# %% check="equal_keys_are_told_apart_by_their_distance" points=1
def equal_keys_are_told_apart_by_their_distance(rotary_attention, draw):
    """If all queries and keys are the same, the newest looks more at itself than far back, the oldest at all."""
    x, value = (1 + draw.uniform(1, 4)).expand(6, 4).contiguous(), torch.eye(6).double()
    weights = rotary_attention(x, x, value, 0)
    newest = weights[-1]
    assert_true(newest[5] > newest[2] + 0.01, "The newest query looks no more at itself than three back.")
    assert_true(weights[0, 5] > 0, "The oldest query does not look at the newest key; there is no mask.")


check(equal_keys_are_told_apart_by_their_distance, rotary_attention)


# %% check="new_queries_get_what_they_got_in_the_whole" points=1
def new_queries_get_what_they_got_in_the_whole(rotary_attention, draw):
    """The two newest queries of six get, asked alone, what they get among the six."""
    query, key, value = draw.normal(2, 6, 4), draw.normal(2, 6, 4), draw.normal(2, 6, 8)
    answer = rotary_attention(query, key, value, 0)[:, -2:]
    assert_close(rotary_attention(query[:, -2:], key, value, 0), answer)
    assert_depends(answer[:, 0], answer[:, 1])


check(new_queries_get_what_they_got_in_the_whole, rotary_attention)


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
        turn = torch.polar(torch.ones(()).double(), -distance[..., None] * speeds)  # (T, S, K/2)
        scores = torch.einsum("...tk,...sk,tsk->...ts", pairs_of[0], pairs_of[1].conj(), turn).real
        expected = (scores / d_head**0.5).softmax(-1) @ value
        assert_close(rotary_attention(query, key, value, first), expected, tolerance=1e-6)


check(other_queries_attend_by_distance, rotary_attention)

# %% [markdown] written="dog_bites_man" points=4 minutes=10
# ### 22. Dog bites man
#
# a) An encoder has no positions at all: embeddings, attention without a mask, feed-forward layers. It reads
# *dog bites man* and *man bites dog*. How do its outputs for *bites* differ, and how those for *dog*? Why?
#
# b) Now the attention is causal, and still there are no positions. Compare the outputs again, and answer: can
# such a model tell at which position it stands? (Think of a token that occurs at the start only, such as
# `<s>`, and of how much weight it can get.)
#
# c) A classmate tests the causal attention of part b with exercise 13's `permutation_gap`, mask on, finds a
# gap and concludes that attention is not permutation equivariant. What was tested?
#
# ### BEGIN SOLUTION
# a) (1 point) Not at all: the outputs are the same, each word's going with the word. Attention without a mask
# is permutation equivariant and everything else acts on each position alone.
#
# b) (2 points) They differ: *bites* sees *dog* in the one sentence and *man* in the other, and *dog* sees
# nothing but itself in the one and everything in the other. (1 point.) Yes: position t averages over t + 1
# tokens, so the share of `<s>` at equal scores is 1/(t + 1), which tells the position (weaker and weaker
# towards the end). Any argument that the number of visible tokens leaves a trace in the average is right.
# (1 point.)
#
# c) (1 point) The mask speaks of places, not of tokens, so with the mask on the layer is attention and mask
# together, which knows the order. To keep the tokens' relations, rows and columns of the mask would have to
# be permuted along; then there is no gap.
# ### END SOLUTION


# %% [markdown]
# ## Part D. Norms, blocks, the encoder

# %% [markdown] exercise="LayerNorm" difficulty=2 minutes=15 forbids="torch.nn.LayerNorm,torch.nn.functional.layer_norm,torch.layer_norm,torch.native_layer_norm,torch.nn.GroupNorm,torch.nn.functional.group_norm,torch.group_norm,torch.native_group_norm,torch.nn.functional.instance_norm,torch.instance_norm,torch.nn.functional.batch_norm,torch.batch_norm,torch.ops,torch._C,course.models"
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
# - `forward(x)` takes x (…, D) and returns a tensor of the same shape.
#
# **Example.** $x = (0, 0, 0, 4)$ has $\mu = 1$ and $\sigma^2 = 3$. With $\epsilon = 1$ it becomes
# $(-\tfrac12, -\tfrac12, -\tfrac12, \tfrac32)$, since what is left of it without its mean is divided by 2; with the
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


check(the_example_vector_becomes_minus_1_and_7, LayerNorm)


# %% check="a_new_norm_only_normalises" points=1
def a_new_norm_only_normalises(LayerNorm, draw):
    """A new module with a tiny ε gives every vector mean 0 and variance 1."""
    model = LayerNorm(6, 1e-12)
    model.double()
    answer = model(3 * draw.normal(2, 5, 6) + 7)
    assert_close(answer.mean(-1), torch.zeros(2, 5).double(), what="the means")
    assert_close(answer.square().mean(-1), torch.ones(2, 5).double(), what="the variances")


check(a_new_norm_only_normalises, LayerNorm)


# %% check="a_vector_is_normalised_alone" points=1
def a_vector_is_normalised_alone(LayerNorm, draw):
    """A vector has the same output alone as beside other positions and other sequences."""
    model = with_weights(LayerNorm(6, 1e-5), {"gain": draw.normal(6), "bias": draw.normal(6)})
    x = draw.normal(3, 5, 6)
    answer = model(x)
    assert_close(model(x[1:2, 2:3]), answer[1:2, 2:3])
    assert_depends(answer[1:2, 2:3], model(x[:1, 2:3]))


check(a_vector_is_normalised_alone, LayerNorm)


# %% check="each_number_has_its_own_gain_and_bias" points=1
def each_number_has_its_own_gain_and_bias(LayerNorm):
    """With the gains 0, 1 and 10 and the biases 5, 0 and 0, (1, 2, 3) becomes (5, 0, 10·√(3/2))."""
    weights = {"gain": torch.tensor([0.0, 1, 10]).double(), "bias": torch.tensor([5.0, 0, 0]).double()}
    answer = with_weights(LayerNorm(3, 0.0), weights)(torch.tensor([[1.0, 2, 3]] * 2).double())
    assert_close(answer, torch.tensor([[5.0, 0, 10 * 1.5**0.5]] * 2).double())


check(each_number_has_its_own_gain_and_bias, LayerNorm)


# %% check="epsilon_stands_under_the_root" points=1
def epsilon_stands_under_the_root(LayerNorm):
    """The vector (0.01, -0.01, 0.01, -0.01) with ε = 0.0003 is divided by 0.02."""
    x = torch.tensor([[0.01, -0.01, 0.01, -0.01]]).double()
    weights = {"gain": torch.ones(4).double(), "bias": torch.zeros(4).double()}
    assert_close(with_weights(LayerNorm(4, 0.0003), weights)(x), x / 0.02)


check(epsilon_stands_under_the_root, LayerNorm)


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


check(other_norms_have_the_outputs_and_gradients_of_torch, LayerNorm)

# %% [markdown] exercise="rms_norm" difficulty=1 minutes=5 forbids="torch.nn.RMSNorm,torch.nn.functional.rms_norm,torch.rms_norm,torch.ops,torch._C,course.models"
# ### 24. Without the mean
#
# Many newer models leave out the mean and the bias (Zhang and Sennrich, 2019): a vector is divided by the root
# of the mean of its squares (RMS), then multiplied by a gain,
#
# $$\text{RMSNorm}(x) = g \odot \frac{x}{\sqrt{\frac1D \sum_i x_i^2 + \epsilon}}$$
#
# Write `rms_norm(x, gain, epsilon)` for x (…, D) and gain (D,).
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
    return gain * x / torch.sqrt(x.square().mean(dim=-1, keepdim=True) + epsilon)
    ### END SOLUTION


# %% check="the_example_vector_has_root_mean_square_2_5" points=1
def the_example_vector_has_root_mean_square_2_5(rms_norm):
    """The vector (3, 4, 0, 0) becomes (1.2, 1.6, 0, 0), and gradients flow back."""
    x, gain = torch.tensor([[3.0, 4, 0, 0]]).double(), torch.ones(4).double()
    answer = rms_norm(x, gain, 0.0)
    assert_close(answer, torch.tensor([[1.2, 1.6, 0, 0]]).double())
    assert_differentiable(rms_norm, x, gain, 0.0)


check(the_example_vector_has_root_mean_square_2_5, rms_norm)


# %% check="the_mean_is_left_alone" points=1
def the_mean_is_left_alone(rms_norm):
    """Vectors of equal numbers become vectors of 1 or -1, times the gain."""
    x = torch.tensor([[2.0, 2, 2], [-5, -5, -5]]).double()
    answer = rms_norm(x, torch.tensor([1.0, 2, 3]).double(), 0.0)
    assert_close(answer, torch.tensor([[1.0, 2, 3], [-1, -2, -3]]).double())


check(the_mean_is_left_alone, rms_norm)


# %% check="a_vector_is_divided_by_its_own_size" points=1
def a_vector_is_divided_by_its_own_size(rms_norm, draw):
    """The mean square of every output is 1, beside small vectors and large ones."""
    x = draw.normal(2, 5, 3) * torch.tensor([0.01, 1, 100, 3, 0.2]).double()[:, None]
    answer = rms_norm(x, torch.ones(3).double(), 0.0)
    assert_close(answer.square().mean(-1), torch.ones(2, 5).double())


check(a_vector_is_divided_by_its_own_size, rms_norm)


# %% check="a_vector_of_zeros_stays_zero" points=1
def a_vector_of_zeros_stays_zero(rms_norm):
    """With ε = 0.0003 a vector of zeros stays zero, and (0.01, -0.01) is divided by 0.02."""
    x = torch.tensor([[0.0, 0.0], [0.01, -0.01]]).double()
    assert_close(rms_norm(x, torch.ones(2).double(), 0.0003), x / 0.02)


check(a_vector_of_zeros_stays_zero, rms_norm)


# %% check="other_vectors_are_divided_by_their_size" points=1 hidden
def other_vectors_are_divided_by_their_size(rms_norm, draw):
    """Other vectors are divided by their root mean square."""
    for shape, epsilon in (((3, 4, 5), 0.3), ((2, 7), 1e-5), ((6,), 0.0)):
        x, gain = draw.normal(*shape) + 1, draw.normal(shape[-1])
        rows = [row * gain / math.sqrt(sum(v * v for v in row.tolist()) / len(row) + epsilon)
                for row in x.reshape(-1, shape[-1])]  # fmt: skip
        assert_close(rms_norm(x, gain, epsilon), torch.stack(rows).reshape(shape))


check(other_vectors_are_divided_by_their_size, rms_norm)

# %% [markdown] exercise="FeedForward" difficulty=1 minutes=10 forbids="course.models"
# ### 25. The feed-forward layer
#
# Between two attentions each position works alone, in a wider space:
#
# $$\text{FF}(x) = W_2 \max(0, W_1 x + b_1) + b_2$$
#
# Write the class `FeedForward`, an `nn.Module`:
#
# - `FeedForward(d_model, d_ff)` has two linear layers, `expand` with the parameters `expand.weight` (F, D) and
#   `expand.bias` (F,), and `contract` with `contract.weight` (D, F) and `contract.bias` (D,).
# - `forward(x)` takes x (B, T, D) and returns (B, T, D). There is no residual here; it belongs to the block.
#
# **Example.** D = 1, F = 2, `expand.weight` $(1, -1)$, `contract.weight` $(1, 2)$, all biases 0: the layer
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


check(the_example_turns_3_into_3_and_minus_2_into_4, FeedForward)


# %% check="each_position_works_alone" points=1
def each_position_works_alone(FeedForward, draw):
    """A vector has the same output alone as among others."""
    model = with_weights(FeedForward(3, 7), layers_of(draw, expand=(7, 3), contract=(3, 7)))
    x = draw.normal(2, 5, 3)
    answer = model(x)
    assert_close(model(x[1:, 3:4]), answer[1:, 3:4])
    assert_depends(answer[1:, 3:4], model(x[1:, 2:3]))


check(each_position_works_alone, FeedForward)


# %% check="a_silent_hidden_layer_leaves_the_last_bias" points=1
def a_silent_hidden_layer_leaves_the_last_bias(FeedForward, draw):
    """Where all hidden numbers are far below 0, the output is contract.bias, below 0 too."""
    weights = layers_of(draw, expand=(7, 3), contract=(3, 7))
    weights |= {"expand.bias": torch.full((7,), -99.0).double(), "contract.bias": -1 - draw.uniform(3)}
    answer = with_weights(FeedForward(3, 7), weights)(draw.normal(2, 5, 3))
    assert_close(answer, weights["contract.bias"].expand(2, 5, 3))


check(a_silent_hidden_layer_leaves_the_last_bias, FeedForward)


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


check(other_layers_have_their_outputs_and_gradients, FeedForward)


# %% provided="parts_of_a_block"
from course.models.multi_head_attention import MultiHeadAttention as ReadyAttention


class SelfAttention(ReadyAttention):
    """Multi-head attention of x (B, T, D) over itself, ready-made: SelfAttention(d_model, n_heads)."""

    def forward(self, x, mask=None):
        return super().forward(x, x, x, mask)


class TwoLayers(nn.Module):
    """The feed-forward layer, ready-made: TwoLayers(d_model, d_ff)."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.expand, self.contract = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.contract(functional.relu(self.expand(x)))


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


# %% [markdown] exercise="PostNormBlock" difficulty=2 minutes=15 forbids="torch.nn.Transformer,torch.nn.TransformerEncoder,torch.nn.TransformerEncoderLayer,torch.nn.TransformerDecoderLayer,torch.ops,torch._C,course.models.transformer,course.models.gpt,course.models.bert" allows="course.models.multi_head_attention.MultiHeadAttention"
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
#   `nn.LayerNorm(d_model)`. `SelfAttention` and `TwoLayers` stand ready-made in the cell above.
# - `forward(x, mask=None)` takes x (B, T, D) and a mask that broadcasts to (B, H, T, T), True = may be attended
#   to, which goes to the attention. It returns $z$, (B, T, D). There is no dropout.
#
# **Example.** If all weights of `attention` and `feed_forward` are 0, both add nothing, and x is normalised
# twice: $(1, 3)$ becomes $(-1, 1)$, but for $\epsilon$.
#
# <details><summary>Hint 1</summary>
#
# Two lines, one for each formula. Which tensor is normalised in the first, and which one does the second add to?
#
# </details>


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


check(silent_parts_leave_the_input_normalised, PostNormBlock)


# %% check="a_block_is_that_of_torch" points=1
def a_block_is_that_of_torch(PostNormBlock, draw):
    """With the same weights, the block gives the numbers of PyTorch's post-norm block; gradients flow back."""
    weights, x = block_weights_of(draw, 6, 7), draw.normal(2, 5, 6)
    block = with_weights(PostNormBlock(6, 3, 7), weights)
    answer = block(x)
    assert_close(answer, block_of_torch(weights, 3, x))
    assert_differentiable(block, x)


check(a_block_is_that_of_torch, PostNormBlock)


# %% check="what_leaves_the_block_is_normalised" points=1
def what_leaves_the_block_is_normalised(PostNormBlock, draw):
    """With gains of 1 and biases of 0 every output has mean 0 and variance 1, and depends on the input."""
    model = with_weights(PostNormBlock(6, 3, 7), block_weights_of(draw, 6, 7) | plain_norms(6))
    x = draw.normal(2, 5, 6)
    answer = model(x)
    assert_close(answer.mean(-1), torch.zeros(2, 5).double(), what="the means")
    assert_close(answer.square().mean(-1), torch.ones(2, 5).double(), tolerance=1e-3, what="the variances")
    assert_depends(answer, model(-x))


check(what_leaves_the_block_is_normalised, PostNormBlock)


# %% check="the_input_passes_by_a_silent_attention" points=1
def the_input_passes_by_a_silent_attention(PostNormBlock, draw):
    """With the attention silent a token still knows itself, and learns nothing of the others."""
    weights, x = silenced(block_weights_of(draw, 6, 7), "attention"), draw.normal(2, 5, 6)
    model = with_weights(PostNormBlock(6, 3, 7), weights)
    answer = model(x)
    assert_close(model(x[:, 2:3]), answer[:, 2:3], what="a token alone")
    assert_depends(answer[:, 2], answer[:, 3])


check(the_input_passes_by_a_silent_attention, PostNormBlock)


# %% check="the_sum_passes_by_a_silent_feed_forward" points=1
def the_sum_passes_by_a_silent_feed_forward(PostNormBlock, draw):
    """With the feed-forward layer silent, x plus attention is normalised by the one norm and then the other."""
    weights, x = silenced(block_weights_of(draw, 6, 7), "feed_forward"), draw.normal(2, 5, 6)
    own = {name.removeprefix("attention."): w for name, w in weights.items() if name.startswith("attention")}
    expected = x + attended_by_torch(own, 3, x, x, x)
    for norm in ("norm_attention", "norm_feed_forward"):
        expected = functional.layer_norm(expected, (6,), weights[f"{norm}.weight"], weights[f"{norm}.bias"])
    assert_close(with_weights(PostNormBlock(6, 3, 7), weights)(x), expected)


check(the_sum_passes_by_a_silent_feed_forward, PostNormBlock)


# %% check="masked_tokens_do_not_matter" points=1
def masked_tokens_do_not_matter(PostNormBlock, draw):
    """Under a causal mask the future does not change the past; other tokens of the past change it."""
    model, x = with_weights(PostNormBlock(6, 3, 7), block_weights_of(draw, 6, 7)), draw.normal(2, 5, 6)
    mask, other = torch.ones(5, 5, dtype=torch.bool).tril(), x.clone()
    other[:, 3:] += 2 * draw.normal(2, 2, 6)
    answer, changed = model(x, mask), model(other, mask)
    assert_close(changed[:, :3], answer[:, :3])
    assert_depends(changed[:, 3:], answer[:, 3:])


check(masked_tokens_do_not_matter, PostNormBlock)


# %% check="other_post_norm_blocks_are_those_of_torch" points=3 hidden
def other_post_norm_blocks_are_those_of_torch(PostNormBlock, draw):
    """Other blocks, masked too, have the outputs and gradients of PyTorch's."""
    assert_block_of_torch(PostNormBlock, draw, is_pre_norm=False)


check(other_post_norm_blocks_are_those_of_torch, PostNormBlock)

# %% [markdown] exercise="PreNormBlock" difficulty=2 minutes=10 forbids="torch.nn.Transformer,torch.nn.TransformerEncoder,torch.nn.TransformerEncoderLayer,torch.nn.TransformerDecoderLayer,torch.ops,torch._C,course.models.transformer,course.models.gpt,course.models.bert" allows="course.models.multi_head_attention.MultiHeadAttention"
# ### 27. A block, as today
#
# In the paper's block every residual passes through a norm. Later models normalise what goes **into** each part,
# and leave the sum alone:
#
# $$y = x + \text{Attention}(\text{LN}_1(x)) \qquad z = y + \text{FF}(\text{LN}_2(y))$$
#
# Write the class `PreNormBlock`, with the parts, names and arguments of exercise 26:
# `PreNormBlock(d_model, n_heads, d_ff)` and `forward(x, mask=None)`.
#
# **Example.** If all weights of `attention` and `feed_forward` are 0, both add nothing, and x comes out as it
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


check(silent_parts_leave_the_input_as_it_is, PreNormBlock)


# %% check="a_modern_block_is_that_of_torch" points=1
def a_modern_block_is_that_of_torch(PreNormBlock, draw):
    """With the same weights, the block gives the numbers of PyTorch's pre-norm block; gradients flow back."""
    weights, x = block_weights_of(draw, 6, 7), draw.normal(2, 5, 6)
    block = with_weights(PreNormBlock(6, 3, 7), weights)
    answer = block(x)
    assert_close(answer, block_of_torch(weights, 3, x, is_pre_norm=True))
    assert_differentiable(block, x)


check(a_modern_block_is_that_of_torch, PreNormBlock)


# %% check="what_is_added_does_not_grow_with_the_input" points=1
def what_is_added_does_not_grow_with_the_input(PreNormBlock, draw):
    """With one part silent, what the other adds is the same for inputs 1000 times as large, but for ε."""
    weights, x = block_weights_of(draw, 6, 7), 10 * draw.normal(2, 5, 6)
    for silent in ("feed_forward", "attention"):
        model = with_weights(PreNormBlock(6, 3, 7), silenced(weights, silent))
        added = model(x) - x
        assert_close(model(1000 * x) - 1000 * x, added, tolerance=1e-3, what=f"without {silent}")
        assert_depends(added, torch.zeros(2, 5, 6).double())


check(what_is_added_does_not_grow_with_the_input, PreNormBlock)


# %% check="the_feed_forward_reads_what_attention_found" points=1
def the_feed_forward_reads_what_attention_found(PreNormBlock, draw):
    """What attention adds is in the residual and goes, normalised, into the feed-forward layer."""
    weights, x = block_weights_of(draw, 6, 7), draw.normal(2, 5, 6)
    found = with_weights(PreNormBlock(6, 3, 7), silenced(weights, "feed_forward"))(x)
    thought = with_weights(PreNormBlock(6, 3, 7), silenced(weights, "attention"))(found)
    assert_close(with_weights(PreNormBlock(6, 3, 7), weights)(x), thought)
    assert_depends(thought, found)


check(the_feed_forward_reads_what_attention_found, PreNormBlock)


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


check(hidden_tokens_do_not_matter, PreNormBlock)


# %% check="other_pre_norm_blocks_are_those_of_torch" points=3 hidden
def other_pre_norm_blocks_are_those_of_torch(PreNormBlock, draw):
    """Other blocks, masked too, have the outputs and gradients of PyTorch's."""
    assert_block_of_torch(PreNormBlock, draw, is_pre_norm=True)


check(other_pre_norm_blocks_are_those_of_torch, PreNormBlock)


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


# %% [markdown] exercise="Stack" difficulty=2 minutes=10
# ### 28. A stack of layers
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
# **Example.** With all weights of the layers 0 they add nothing, and $(1, 3)$ comes out as $(-1, 1)$, but for
# $\epsilon$. A stack of three layers has 3 · 2 + 2 = 8 parameters.
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
    assert_equal(sorted(Stack(3, 4).gradients()), [*names, "norm.bias", "norm.weight"])


check(three_layers_have_eight_parameters, Stack)


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


check(every_layer_uses_its_own_weights, Stack)


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


check(what_leaves_the_stack_is_normalised, Stack)


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


check(layers_come_in_their_order, Stack)


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


check(other_stacks_have_their_outputs_and_gradients, Stack)

# %% [markdown] exercise="TiedModel" difficulty=2 minutes=10
# ### 29. Tied weights
#
# A language model has a table of embeddings (V, D) at its entrance and a matrix (V, D) at its exit that scores
# every word. Both say what a word is like, and the paper uses **one** tensor for both: it is stored once, and
# its gradient is the sum of what comes from both ends.
#
# Write the class `TiedModel`, an `nn.Module`:
#
# - `TiedModel(vocab_size, d_model)` has the parameters `embedding.weight` (V, D), `hidden.weight` (D, D) and
#   `hidden.bias` (D,), and no others: `embedding` is an `nn.Embedding`, `hidden` an `nn.Linear`. If you keep
#   an output layer of its own as well, call it `output` and let its weight be the same parameter.
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


# %% provided="tied_weights"
def tied_model(TiedModel, embedding, weight, bias):
    """The student's model in float64 with these weights, under both names that the embedding may have."""
    model = TiedModel(*embedding.shape)
    model.double()
    named = {"embedding.weight": embedding, "output.weight": embedding}
    model.load_state_dict(named | {"hidden.weight": weight, "hidden.bias": bias}, strict=False)
    return model


def tied_logits(embedding, weight, bias, tokens):
    """The logits of the formula."""
    return torch.einsum("btd,vd->btv", (embedding[tokens] @ weight.T + bias).tanh(), embedding)


# %% check="the_model_has_three_parameters" points=1
def the_model_has_three_parameters(TiedModel):
    """The model knows the parameters embedding.weight, hidden.weight and hidden.bias, and no others."""
    names = ["embedding.weight", "hidden.bias", "hidden.weight"]
    assert_equal(sorted(TiedModel(7, 3).gradients()), names)


check(the_model_has_three_parameters, TiedModel)


# %% check="the_example_token_has_its_logits" points=1
def the_example_token_has_its_logits(TiedModel):
    """In the example the token 0 has the logits tanh 2 and 2·tanh 2, and gradients flow back."""
    two, zero = torch.full((1, 1), 2.0).double(), torch.zeros(1).double()
    model = tied_model(TiedModel, torch.tensor([[1.0], [2.0]]).double(), two, zero)
    expected = torch.tensor([[[math.tanh(2), 2 * math.tanh(2)]]]).double()
    assert_close(model(torch.tensor([[0]])), expected)
    assert_differentiable(model, torch.tensor([[0]]))


check(the_example_token_has_its_logits, TiedModel)


# %% check="both_ends_teach_the_embedding" points=1
def both_ends_teach_the_embedding(TiedModel, draw):
    """The gradient of the embedding is the sum of what comes from the entrance and from the exit."""
    weights = draw.normal(7, 3), draw.normal(3, 3), draw.normal(3)
    model, own, tokens = (
        tied_model(TiedModel, *weights),
        weights[0].clone().requires_grad_(),
        torch.tensor([[4, 1]]),
    )
    model(tokens).square().sum().backward()
    tied_logits(own, *weights[1:], tokens).square().sum().backward()
    assert_close(model.gradients()["embedding.weight"], own.grad)


check(both_ends_teach_the_embedding, TiedModel)


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
        gradients = model.gradients()
        for name, weight in zip(("embedding.weight", "hidden.weight", "hidden.bias"), own, strict=True):
            assert_close(gradients[name], weight.grad, what=f"the gradient of {name}")


check(other_models_have_tied_logits_and_gradients, TiedModel)


# %% provided="encoder_of_torch"


def encoder_weights_of(draw, n_layers, d_model, d_ff):
    """All weights of an encoder, under the names of exercise 30."""
    weights = {}
    for index in range(n_layers):
        for name, weight in block_weights_of(draw, d_model, d_ff).items():
            for part in ("attention.", "feed_forward."):
                name = name.removeprefix(part)
            weights[f"layers.{index}.{name}"] = weight
    return weights


def encoder_of_torch(weights, n_layers, n_heads, x, mask=None):
    """What `torch.nn.TransformerEncoder`, post-norm, computes with these weights."""
    named = {}
    for index in range(n_layers):
        prefix = f"layers.{index}."
        own = {name.removeprefix(prefix): w for name, w in weights.items() if name.startswith(prefix)}
        own = {part_of(name) + name: w for name, w in own.items()}
        named |= {prefix + name: weight for name, weight in named_as_in_torch(own).items()}
    d_ff, d_model = weights["layers.0.expand.weight"].shape
    layer = nn.TransformerEncoderLayer(
        d_model, n_heads, d_ff, dropout=0.0, batch_first=True, dtype=torch.float64
    )
    encoder = nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
    options = {"mask": hidden_from(x, n_heads, mask)}
    return torch.func.functional_call(encoder, named, (x,), options)


def part_of(name):
    """Where a weight of a layer lies in a block of exercise 26."""
    return "attention." if name.startswith("W_") else "" if name.startswith("norm") else "feed_forward."


# %% [markdown] exercise="TransformerEncoder" difficulty=3 minutes=40 forbids="torch.nn.functional.scaled_dot_product_attention,torch.nn.functional.multi_head_attention_forward,torch.nn.MultiheadAttention,torch.nn.Transformer,torch.nn.TransformerEncoder,torch.nn.TransformerEncoderLayer,torch.nn.TransformerDecoder,torch.nn.TransformerDecoderLayer,torch.nn.attention,torch.ops,torch._C,course.models"
# ### 30. The encoder
#
# Everything together: the encoder of the paper, a stack of post-norm blocks. With the same weights it must give
# the numbers of `torch.nn.TransformerEncoder`, and the same gradients.
#
# Write two classes in one cell, both an `nn.Module`. The checks use the second; the first is there so that it
# can be made of something.
#
# - `EncoderLayer(d_model, n_heads, d_ff)` has eight parts: `W_query`, `W_key`, `W_value`, `W_output`, each an
#   `nn.Linear(d_model, d_model)`, as in exercise 12; `expand`, an `nn.Linear(d_model, d_ff)`, and `contract`, an
#   `nn.Linear(d_ff, d_model)`, with a relu between them; `norm_attention` and `norm_feed_forward`, two
#   `nn.LayerNorm(d_model)`.
# - `TransformerEncoder(n_layers, d_model, n_heads, d_ff)` has `layers`, an `nn.ModuleList` of `n_layers`
#   EncoderLayers. So `layers.0.W_query.weight` is one of its parameters, and there are 16 for each layer.
# - `forward(x, mask=None)` of both takes x (B, T, D) and a mask that broadcasts to (B, H, T, T), True = may be
#   attended to, and returns (B, T, D). Every layer sees the mask. There is no dropout, nor a norm after the last
#   layer: that layer ends with one.
#
# Use `nn.Linear`, `nn.LayerNorm` and what you wrote above; no ready-made attention, layer or encoder.
#
# **Example.** If in every layer all weights are 0 but those of the norms, whose gain is 1 and whose bias is 0,
# every token is only normalised again and again: $(1, 3)$ becomes $(-1, 1)$, but for $\epsilon$, whatever the
# number of layers.
#
# <details><summary>Hint 1</summary>
#
# Take your solutions of the exercises 12, 25 and 26 into one class, and check it with `n_layers = 1` first.
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
class EncoderLayer(nn.Module):
    """A post-norm block; parts W_query, W_key, W_value, W_output, expand, contract and two norms."""

    def __init__(self, d_model: int, n_heads: int, d_ff: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads = n_heads
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model)
        self.W_value = nn.Linear(d_model, d_model)
        self.W_output = nn.Linear(d_model, d_model)
        self.norm_attention = nn.LayerNorm(d_model)
        self.expand = nn.Linear(d_model, d_ff)
        self.contract = nn.Linear(d_ff, d_model)
        self.norm_feed_forward = nn.LayerNorm(d_model)
        ### END SOLUTION

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """The layer's output (B, T, D)."""
        ### BEGIN SOLUTION
        x = self.norm_attention(x + self.attention(x, mask))
        return self.norm_feed_forward(x + self.contract(torch.relu(self.expand(x))))

    def attention(self, x, mask):
        B, T, D = x.shape

        def heads(layer):
            return layer(x).view(B, T, self.n_heads, D // self.n_heads).transpose(1, 2)  # (B, H, T, K)

        q, k, v = heads(self.W_query), heads(self.W_key), heads(self.W_value)
        scores = q @ k.transpose(-2, -1) / math.sqrt(D // self.n_heads)  # (B, H, T, T)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        found = scores.softmax(dim=-1) @ v  # (B, H, T, K)
        return self.W_output(found.transpose(1, 2).reshape(B, T, D))
        ### END SOLUTION


class TransformerEncoder(nn.Module):
    """A stack of post-norm blocks, the encoder of Vaswani and others (2017); part layers."""

    def __init__(self, n_layers: int, d_model: int, n_heads: int, d_ff: int):
        super().__init__()
        ### BEGIN SOLUTION
        self.layers = nn.ModuleList([EncoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers)])
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
    assert_equal(sorted(TransformerEncoder(2, 4, 2, 3).gradients()), sorted(names))


check(two_layers_have_thirty_two_parameters, TransformerEncoder)


# %% check="silent_layers_only_normalise" points=1
def silent_layers_only_normalise(TransformerEncoder):
    """With silent layers (1, 3) becomes (-1, 1) and (8, 4) becomes (1, -1), whatever the number of layers."""
    shapes = {f"W_{part}": (2, 2) for part in ("query", "key", "value", "output")}
    for n_layers in (1, 3):
        weights = {}
        for index in range(n_layers):
            for name, (n_out, n_in) in (shapes | {"expand": (3, 2), "contract": (2, 3)}).items():
                weights[f"layers.{index}.{name}.weight"] = torch.zeros(n_out, n_in).double()
                weights[f"layers.{index}.{name}.bias"] = torch.zeros(n_out).double()
            weights |= {f"layers.{index}.{name}": weight for name, weight in plain_norms(2).items()}
        model = with_weights(TransformerEncoder(n_layers, 2, 1, 3), weights)
        answer = model(torch.tensor([[[1.0, 3.0], [8.0, 4.0]]]).double())
        assert_close(answer, torch.tensor([[[-1.0, 1.0], [1.0, -1.0]]]).double(), tolerance=1e-4)


check(silent_layers_only_normalise, TransformerEncoder)


# %% check="the_encoder_is_that_of_torch" points=2
def the_encoder_is_that_of_torch(TransformerEncoder, draw):
    """With the same weights, three layers give the numbers of torch.nn.TransformerEncoder."""
    weights, x = encoder_weights_of(draw, 3, 6, 7), draw.normal(2, 5, 6)
    answer = with_weights(TransformerEncoder(3, 6, 2, 7), weights)(x)
    assert_close(answer, encoder_of_torch(weights, 3, 2, x))


check(the_encoder_is_that_of_torch, TransformerEncoder)


# %% check="padding_does_not_change_what_is_real" points=1
def padding_does_not_change_what_is_real(TransformerEncoder, draw):
    """Other vectors at masked paddings change no real token after two layers; real tokens do."""
    model = with_weights(TransformerEncoder(2, 6, 3, 7), encoder_weights_of(draw, 2, 6, 7))
    x = draw.normal(2, 5, 6)
    real = torch.tensor([[True, True, True, True, False], [True, True, False, False, False]])
    mask = real[:, None, None]
    answer = model(x, mask)
    other = torch.where(real[..., None], x, x + 2 * draw.normal(2, 5, 6))
    assert_close(model(other, mask)[real], answer[real])
    other = torch.where(real[..., None], x + 2 * draw.normal(2, 5, 6), x)
    assert_depends(model(other, mask)[real], answer[real])


check(padding_does_not_change_what_is_real, TransformerEncoder)


# %% check="more_padding_changes_nothing" points=1
def more_padding_changes_nothing(TransformerEncoder, draw):
    """A sequence has the same outputs without padding as with three paddings behind it."""
    model = with_weights(TransformerEncoder(2, 6, 3, 7), encoder_weights_of(draw, 2, 6, 7))
    x = draw.normal(2, 4, 6)
    padded, mask = torch.cat([x, draw.normal(2, 3, 6)], dim=1), torch.arange(7)[None, None, None] < 4
    answer = model(x)
    assert_close(model(padded, mask)[:, :4], answer)
    assert_depends(answer, model(padded)[:, :4])


check(more_padding_changes_nothing, TransformerEncoder)


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


check(the_future_stays_hidden_in_every_layer, TransformerEncoder)


# %% check="tokens_may_change_places" points=1
def tokens_may_change_places(TransformerEncoder, draw):
    """Without a mask, tokens in another order have their outputs in that order."""
    model = with_weights(TransformerEncoder(2, 6, 3, 7), encoder_weights_of(draw, 2, 6, 7))
    x = draw.normal(2, 5, 6)
    order, answer = [3, 0, 4, 2, 1], model(x)
    assert_close(model(x[:, order]), answer[:, order])
    assert_depends(answer, answer[:, order])


check(tokens_may_change_places, TransformerEncoder)


# %% check="sequences_may_change_places" points=1
def sequences_may_change_places(TransformerEncoder, draw):
    """Sequences in another order have their outputs in that order, and one alone has its own."""
    model = with_weights(TransformerEncoder(2, 6, 3, 7), encoder_weights_of(draw, 2, 6, 7))
    x = draw.normal(3, 5, 6)
    order, answer = [2, 0, 1], model(x)
    assert_close(model(x[order]), answer[order])
    assert_close(model(x[1:2]), answer[1:2], what="one sequence alone")
    assert_depends(answer, answer[order])


check(sequences_may_change_places, TransformerEncoder)


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


check(other_encoders_have_the_outputs_and_gradients_of_torch, TransformerEncoder)

# %% [markdown]
# ## At a real size
#
# One step forwards and backwards through your encoder and through PyTorch's. With `COURSE_SCALE=full` in the
# environment it is the encoder of the paper (6 layers, D = 512, 8 heads, F = 2048) on 32 texts of 256 tokens, in
# bfloat16 where there is a GPU. At the small scale the cell takes well under a second.

# %%
import os
import time


def clock_both(encoder_class):
    """Print the seconds of a step of an encoder and of PyTorch's, and the memory that a GPU needed."""
    is_full = os.environ.get("COURSE_SCALE") == "full"  # a real size, for a GPU
    device = "cuda" if is_full and torch.cuda.is_available() else "cpu"
    sizes, shape = ((6, 512, 8, 2048), (32, 256)) if is_full else ((2, 64, 4, 256), (4, 32))
    layer = nn.TransformerEncoderLayer(*sizes[1:], dropout=0.0, batch_first=True)
    theirs = nn.TransformerEncoder(layer, sizes[0], enable_nested_tensor=False)
    x = torch.randn(*shape, sizes[1], generator=torch.Generator().manual_seed(0))
    for name, encoder in (("yours", encoder_class(*sizes)), ("PyTorch's", theirs)):
        seconds = seconds_of_a_step(encoder.to(device), x.to(device))
        n_weights = sum(parameter.numel() for parameter in encoder.parameters())
        print(f"{name:9}  {n_weights / 1e6:5.2f} million weights  {seconds:.4f} s on {device}")
    if device == "cuda":
        print(f"{torch.cuda.max_memory_allocated() / 2**20:.0f} MiB at most")


def seconds_of_a_step(encoder, x):
    """The quickest of three steps forwards and backwards; the first one also warms up."""
    quickest = math.inf
    for _ in range(3):
        begun = time.perf_counter()
        with torch.autocast(x.device.type, torch.bfloat16, enabled=x.is_cuda):
            loss = encoder(x).square().mean()
        loss.backward()
        loss.item()  # waits for the GPU
        quickest = min(quickest, time.perf_counter() - begun)
    return quickest


clock_both(TransformerEncoder)
