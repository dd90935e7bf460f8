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


# %% check="a_row_for_each_query_and_a_column_for_each_key" points=1
def a_row_for_each_query_and_a_column_for_each_key(dot_scores, draw):
    """With 3 queries and 4 keys in each of two sentences, the scores have the shape (2, 3, 4)."""
    assert_equal(list(dot_scores(draw.normal(2, 3, 5), draw.normal(2, 4, 5)).shape), [2, 3, 4])


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


# %% check="longer_keys_have_larger_scores" points=1
def longer_keys_have_larger_scores(dot_scores, draw):
    """Keys three times as long have scores three times as large."""
    query, key = draw.normal(2, 3, 5), draw.normal(2, 4, 5)
    scores = dot_scores(query, key)
    assert_close(dot_scores(query, 3 * key), 3 * scores)
    assert_depends(scores, 3 * scores)


# %% check="sentences_of_a_batch_do_not_meet" points=1
def sentences_of_a_batch_do_not_meet(dot_scores, draw):
    """The scores of the first of three sentences are those that it has alone."""
    query, key = draw.normal(3, 2, 5), draw.normal(3, 4, 5)
    scores = dot_scores(query, key)
    assert_close(scores[:1], dot_scores(query[:1], key[:1]))
    assert_depends(scores[:1], dot_scores(query[:1], key[:1] + 1))


# %% check="other_pairs_have_their_dot_products" points=1 hidden
def other_pairs_have_their_dot_products(dot_scores, draw):
    """Other queries and keys, more of the one or of the other, have their scores."""
    for batch_size, T, S, D in ((2, 4, 3, 5), (3, 2, 6, 4)):
        query, key = draw.normal(batch_size, T, D), draw.normal(batch_size, S, D)
        expected = (query[:, :, None] * key[:, None]).sum(-1)
        assert_close(dot_scores(query, key), expected)


# %% [markdown] exercise="bilinear_scores" bonus difficulty=1 minutes=10 forbids="course.models"
# ### 10. Scores: with a matrix between (bonus)
#
# A query and a key need not have the same width, and need not mean the same by the same coordinate. A matrix
# W that is learned decides what matches what: $\text{score}(\mathbf q, \mathbf k) = \mathbf q^\top \mathbf W
# \mathbf k$.
#
# Write `bilinear_scores(query, key, W)` for queries (B, T, D), keys (B, S, D_h) and W (D, D_h). It returns the
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
    """qᵀ W k for every query (B, T, D) and key (B, S, D_h) of a sentence, with W (D, D_h): (B, T, S)."""
    ### BEGIN SOLUTION
    return query @ W @ key.transpose(1, 2)
    ### END SOLUTION


# %% check="the_example_scores_are_21_and_1" points=1
def the_example_scores_are_21_and_1(bilinear_scores):
    """The query of the example has the scores 21 and 1."""
    query, key = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[3.0, 4.0, 5.0], [1.0, 0.0, 0.0]]])
    W = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    assert_close(bilinear_scores(query, key, W), torch.tensor([[[21.0, 1.0]]]))


# %% check="every_word_of_the_source_is_asked" points=1
def every_word_of_the_source_is_asked(bilinear_scores, draw):
    """Another second key changes the second column of scores and no other."""
    query, key, W = draw.normal(2, 3, 5), draw.normal(2, 4, 6), draw.normal(5, 6)
    other = key.clone()
    other[:, 1] += 1
    scores, changed = bilinear_scores(query, key, W), bilinear_scores(query, other, W)
    assert_close(changed[..., [0, 2, 3]], scores[..., [0, 2, 3]], what="scores of the other keys")
    assert_depends(scores[..., 1], changed[..., 1])


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


# %% check="twice_the_matrix_twice_the_scores" points=1
def twice_the_matrix_twice_the_scores(bilinear_scores, draw):
    """With 2W all scores are twice as large, and with -W their opposites: nothing bends or rescales them."""
    query, key, W = draw.normal(2, 3, 5), draw.normal(2, 4, 6), draw.normal(5, 6)
    scores = bilinear_scores(query, key, W)
    assert_close(bilinear_scores(query, key, 2 * W), 2 * scores, what="with 2W")
    assert_close(bilinear_scores(query, key, -W), -scores, what="with -W")
    assert_depends(scores, 2 * scores)


# %% check="other_pairs_have_their_bilinear_scores" points=1 hidden
def other_pairs_have_their_bilinear_scores(bilinear_scores, draw):
    """Other queries, keys and matrices have the scores of a loop."""
    for batch_size, T, S, D, D_h in ((2, 4, 3, 5, 7), (3, 2, 4, 6, 5)):
        query, key, W = draw.normal(batch_size, T, D), draw.normal(batch_size, S, D_h), draw.normal(D, D_h)
        expected = torch.zeros(batch_size, T, S, dtype=torch.float64)
        for b in range(batch_size):
            for t in range(T):
                for s in range(S):
                    expected[b, t, s] = (query[b, t][:, None] * W * key[b, s]).sum()
        assert_close(bilinear_scores(query, key, W), expected)


# %% [markdown] exercise="additive_scores" difficulty=2 minutes=20 forbids="course.models"
# ### 11. Scores: a small network
#
# The first attention (Bahdanau and others, 2015) let a small network look at each pair:
#
# $$\text{score}(\mathbf q, \mathbf k) = \mathbf v^\top \tanh(\mathbf W_q \mathbf q + \mathbf W_k \mathbf k)$$
#
# Write `additive_scores(query, key, W_query, W_key, v)` for queries (B, T, D), keys (B, S, D_h), `W_query`
# (N, D), `W_key` (N, D_h) and `v` (N,), with N the width of the small network. It returns the scores (B, T, S).
#
# **Example.** All widths are 1, both matrices are `[[1]]` and `v = [2]`. The query 1 has with the key 1 the
# score $2 \tanh 2 \approx 1.9281$, and with the key $-1$ the score 0.
#
# <details><summary>Hint 1</summary>
#
# Every query meets every key: (B, T, 1, N) plus (B, 1, S, N) is (B, T, S, N).
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
    """vᵀ tanh(W_query q + W_key k) for every query (B, T, D) and key (B, S, D_h) of a sentence: (B, T, S)."""
    ### BEGIN SOLUTION
    from_query = (query @ W_query.T)[:, :, None]  # (B, T, 1, N)
    from_key = (key @ W_key.T)[:, None]  # (B, 1, S, N)
    return torch.tanh(from_query + from_key) @ v  # (B, T, S)
    ### END SOLUTION


# %% check="the_example_scores_are_2_tanh_2_and_0" points=1
def the_example_scores_are_2_tanh_2_and_0(additive_scores):
    """The query 1 of the example has with the keys 1 and -1 the scores 2 tanh 2 and 0."""
    one = torch.ones(1, 1, dtype=torch.float64)
    key = torch.tensor([[[1.0], [-1.0]]], dtype=torch.float64)
    answer = additive_scores(one[None], key, one, one, torch.tensor([2.0], dtype=torch.float64))
    assert_close(answer, torch.tensor([[[2 * math.tanh(2), 0.0]]], dtype=torch.float64))


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


# %% check="large_numbers_saturate" points=1
def large_numbers_saturate(additive_scores, draw):
    """With huge keys of either sign, every score is the sum of v or its opposite."""
    query, key = draw.normal(1, 2, 5), torch.tensor([[[1e6], [-1e6], [2e6]]], dtype=torch.float64)
    v = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)
    answer = additive_scores(query, key, draw.normal(3, 5), torch.ones(3, 1, dtype=torch.float64), v)
    assert_close(answer, torch.tensor([[[3.5, -3.5, 3.5]] * 2], dtype=torch.float64))


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


# %% check="each_matrix_reads_its_own_argument" points=1
def each_matrix_reads_its_own_argument(additive_scores):
    """With W_query = 1/2 and W_key = 1/4, the query 2 and the key 8 have the score tanh 3, and -2 and 8 tanh 1."""
    query, key = torch.tensor([[[2.0], [-2.0]]]).double(), torch.tensor([[[8.0]]]).double()
    one = torch.ones(1, 1, dtype=torch.float64)
    answer = additive_scores(query, key, one / 2, one / 4, one[0])
    assert_close(answer, torch.tensor([[[math.tanh(3)], [math.tanh(1)]]], dtype=torch.float64))


# %% check="a_lead_depends_on_the_query" points=1
def a_lead_depends_on_the_query(additive_scores):
    """The key 1 is 2 tanh 1 ahead of the key -1 for the query 0, and tanh 4 - tanh 2 for the query 3."""
    query, key = torch.tensor([[[0.0], [3.0]]]).double(), torch.tensor([[[1.0], [-1.0]]]).double()
    one = torch.ones(1, 1, dtype=torch.float64)
    scores = additive_scores(query, key, one, one, one[0])
    lead = scores[0, :, 0] - scores[0, :, 1]
    assert_close(lead, torch.tensor([2 * math.tanh(1), math.tanh(4) - math.tanh(2)], dtype=torch.float64))


# %% check="other_pairs_have_their_additive_scores" points=1 hidden
def other_pairs_have_their_additive_scores(additive_scores, draw):
    """Other queries, keys and networks have the scores of a loop."""
    for batch_size, T, S, D, D_h, N in ((2, 4, 3, 5, 7, 6), (3, 2, 4, 6, 5, 3)):
        query, key = draw.normal(batch_size, T, D), draw.normal(batch_size, S, D_h)
        W_query, W_key, v = draw.normal(N, D), draw.normal(N, D_h), draw.normal(N)
        expected = torch.zeros(batch_size, T, S, dtype=torch.float64)
        for b in range(batch_size):
            for t in range(T):
                for s in range(S):
                    hidden = [
                        math.tanh((W_query[i] * query[b, t]).sum() + (W_key[i] * key[b, s]).sum())
                        for i in range(N)
                    ]
                    expected[b, t, s] = sum(float(v[i]) * hidden[i] for i in range(N))
        assert_close(additive_scores(query, key, W_query, W_key, v), expected)


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


# %% check="each_query_shares_out_one" points=1
def each_query_shares_out_one(attention_weights, draw):
    """The weights of each query sum to one, with padding and without, and gradients flow back."""
    mask = torch.tensor([[True, True, True, False, False], [True] * 5])
    scores = draw.normal(2, 3, 5)
    weights = attention_weights(scores, mask)
    assert_close(weights.sum(-1), torch.ones(2, 3, dtype=torch.float64))
    assert_differentiable(attention_weights, scores, mask)


# %% check="padding_gets_no_weight" points=1
def padding_gets_no_weight(attention_weights, draw):
    """The weights at the padding are exactly 0, and those of real words are not."""
    weights = attention_weights(
        draw.normal(2, 3, 4), torch.tensor([[True, True, False, False], [True] * 3 + [False]])
    )
    assert_equal(weights[0, :, 2:], torch.zeros(3, 2, dtype=torch.float64), what="weights at the padding")
    assert_true(bool((weights[1, :, :3] > 0).all()), "A real word has no weight.")


# %% check="what_padding_scores_does_not_matter" points=1
def what_padding_scores_does_not_matter(attention_weights, draw):
    """Other scores at the padding leave all weights as they are."""
    scores, loud = draw.normal(2, 3, 4), torch.zeros(2, 3, 4, dtype=torch.float64)
    mask = torch.tensor([[True, True, True, False], [True] * 4])
    loud[0, :, 3] = torch.tensor([30.0, -4.0, 2.0])
    weights = attention_weights(scores, mask)
    assert_close(attention_weights(scores + loud, mask), weights)
    assert_depends(weights, attention_weights(2 * scores, mask))


# %% check="real_words_may_score_very_low" points=1
def real_words_may_score_very_low(attention_weights):
    """Real words with the scores -20000 and -20000 + ln 3 still share one between them."""
    scores = torch.tensor([[[-20000.0, -20000.0 + math.log(3), 0.0]]], dtype=torch.float64)
    answer = attention_weights(scores, torch.tensor([[True, True, False]]))
    assert_close(answer, torch.tensor([[[0.25, 0.75, 0.0]]], dtype=torch.float64))


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


# %% [markdown] exercise="attend" difficulty=2 minutes=15 forbids="torch.nn.functional.scaled_dot_product_attention,torch.nn.MultiheadAttention,torch.nn.functional.multi_head_attention_forward,course.models"
# ### 13. The context
#
# What a query learns from the source is its **context**, the mean of the values with its weights. Put
# together what you have: dot products of queries and keys, a masked softmax, a weighted mean of values.
#
# Write `attend(query, key, value, mask)` for queries (B, T, D), keys (B, S, D), values (B, S, D_h) and a mask
# (B, S) that is True at real words. It returns the tuple `(context, weights)` of shapes (B, T, D_h) and
# (B, T, S). The scores are dot products, not scaled.
#
# **Example.** Keys (10, 0) and (0, 1) with the values (1, 2, 3) and (4, 5, 6): the query (9, 0) matches the
# first key alone, and its context is as good as (1, 2, 3). The query (0, ln 3) has the scores 0 and ln 3: its
# weights are 1/4 and 3/4 and its context is (3.25, 4.25, 5.25).
#
# <details><summary>Hint 1</summary>
#
# The weights are (B, T, S), and a context has $D_h$ numbers. Which of the four arguments has an axis of that
# length?
#
# </details>


# %% solution="attend"
def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Contexts (B, T, D_h), means of the values (B, S, D_h), and their weights (B, T, S), by dot products."""
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
    alpha = torch.tensor([[[1.0, 0.0], [0.25, 0.75]]], dtype=torch.float64)
    assert_close(weights, alpha, what="weights")
    assert_close(context, alpha @ value, what="context")


# %% check="contexts_are_made_of_values" points=1
def contexts_are_made_of_values(attend, draw):
    """Values three times as large make contexts three times as large, and change no weight; each query shares out one."""
    query, key, value = draw.normal(2, 3, 5), draw.normal(2, 4, 5), draw.normal(2, 4, 6)
    mask = torch.tensor([[True, True, True, False], [True] * 4])
    context, weights = attend(query, key, value, mask)
    tripled, same_weights = attend(query, key, 3 * value, mask)
    alone, _ = attend(query[1:], key[1:], value[1:], mask[1:])
    assert_close(tripled, 3 * context, what="context")
    assert_close(same_weights, weights, what="weights")
    assert_close(
        weights.sum(-1), torch.ones(2, 3, dtype=torch.float64), what="the sum of each query's weights"
    )
    assert_depends(context, tripled)
    assert_close(context[1:], alone, what="the second of the batch")
    assert_differentiable(attend, query, key, value, mask)


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


# %% check="however_low_the_scores_padding_gets_nothing" points=1
def however_low_the_scores_padding_gets_nothing(attend):
    """Two words with the score -1000, and padding beside them with 0: the words get 1/2 each, padding nothing."""
    query = torch.full((1, 1, 2), 10.0, dtype=torch.float64)
    key = torch.tensor([[[-50.0, -50.0], [-50.0, -50.0], [0.0, 0.0]]], dtype=torch.float64)
    value = torch.tensor([[[1.0], [3.0], [50.0]]], dtype=torch.float64)
    context, weights = attend(query, key, value, torch.tensor([[True, True, False]]))
    assert_close(weights, torch.tensor([[[0.5, 0.5, 0.0]]], dtype=torch.float64), what="weights")
    assert_close(context, torch.tensor([[[2.0]]], dtype=torch.float64), what="context")


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


# %% check="other_queries_have_their_contexts" points=2 hidden
def other_queries_have_their_contexts(attend, draw):
    """Other sizes, more queries than words or fewer, have the contexts of a loop."""
    for lengths, T, S, D, D_h in (((3, 5), 4, 6, 2, 7), ((4, 2, 3), 5, 4, 6, 3)):
        query, key, value = (draw.normal(len(lengths), n, d) for n, d in ((T, D), (S, D), (S, D_h)))
        mask = torch.arange(S) < torch.tensor(lengths)[:, None]
        context, weights = attend(query, key, value, mask)
        for b, n in enumerate(lengths):
            for t in range(T):
                matches = torch.exp(torch.stack([(query[b, t] * key[b, s]).sum() for s in range(n)]))
                alpha = matches / matches.sum()
                assert_close(weights[b, t, :n], alpha, what="weights")
                assert_close(context[b, t], sum(alpha[s] * value[b, s] for s in range(n)), what="context")


# %% [markdown] exercise="AttentionDecoder" difficulty=3 minutes=50 forbids="course.models" dtype="float64"
# ### 14. A decoder that looks back
#
# Now the decoder itself. At every step t it reads one word and what it made of the step before, takes a look
# at the source, and puts both together (Luong and others, 2015, with input feeding):
#
# | line | formula | shape |
# |---|---|---|
# | the new state | $\mathbf s_t = \text{GRUCell}([\mathbf e_t; \mathbf o_{t-1}],\ \mathbf s_{t-1})$ | (B, D) |
# | the weights | $\boldsymbol\alpha_t$, the softmax of $\mathbf s_t^\top \mathbf W \mathbf h_i$ over the real words | (B, S) |
# | the context | $\mathbf c_t = \sum_i \alpha_{ti} \mathbf h_i$ | (B, D_h) |
# | the output | $\mathbf o_t = \tanh(\mathbf W_o [\mathbf s_t; \mathbf c_t])$ | (B, D) |
# | the logits | $\mathbf z_t = \mathbf U \mathbf o_t + \mathbf u$ | (B, V) |
#
# $\mathbf e_t$ is the embedding of the word read, $\mathbf h_i$ are the rows of the memory, and $\mathbf o_0 = 0$. A
# semicolon joins two vectors into one.
#
# Write the class `AttentionDecoder`, an `nn.Module` in float64:
#
# - `AttentionDecoder(vocab_size, d_embedding, d_hidden, d_memory)` has `embedding`, an `nn.Embedding`;
#   `cell`, an `nn.GRUCell` whose input is $[\mathbf e_t; \mathbf o_{t-1}]$, in this order; `W`, an
#   `nn.Parameter` of shape (D, D_h); `combine`, an `nn.Linear` without bias, the $\mathbf W_o$; `output`, an
#   `nn.Linear`, for $\mathbf U$ and $\mathbf u$. The checks load weights by these names, such as
#   `cell.weight_ih` and `output.bias`.
# - `forward(state, inputs, memory, mask)` takes $\mathbf s_0$ (B, D), the inputs (B, T), the memory (B, S, D_h)
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


# %% alive="a_drawing_seq2seq_attention"
from course import figures

figures.machine("seq2seq_attention")  # step by step


# %% solution="AttentionDecoder"
class AttentionDecoder(nn.Module):
    """Logits (B, T, V) and weights (B, T, S) of a decoder that attends to a memory (B, S, D_h).

    Parameters: embedding.weight (V, d), cell.… of a GRU cell, W (D, D_h), combine.weight (D, D + D_h),
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
        """Logits and weights for s_0 (B, D), inputs (B, T), memory (B, S, D_h) and mask (B, S)."""
        ### BEGIN SOLUTION
        output, all_logits, all_weights = torch.zeros_like(state), [], []
        for x in self.embedding(inputs).unbind(dim=1):
            state = self.cell(torch.cat([x, output], dim=-1), state)  # (B, D)
            scores = (memory @ (state @ self.W)[:, :, None])[:, :, 0]  # (B, S)
            weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
            context = (weights[:, None] @ memory)[:, 0]  # (B, D_h)
            output = torch.tanh(self.combine(torch.cat([state, context], dim=-1)))  # (B, D)
            all_logits.append(self.output(output))
            all_weights.append(weights)
        return torch.stack(all_logits, dim=1), torch.stack(all_weights, dim=1)
        ### END SOLUTION


# %% provided="attention_decoder_weights" helper
SIZES = (7, 3, 5, 4)  # of the attention decoder in the visible checks: V, d, D, D_h


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
def the_attention_decoder_has_its_parameters(AttentionDecoder, draw):
    """The decoder knows its nine parameters, by the names of the statement, in float64, and no others."""
    of_cell = [f"cell.{kind}" for kind in ("bias_hh", "bias_ih", "weight_hh", "weight_ih")]
    expected = ["W", *of_cell, "combine.weight", "embedding.weight", "output.bias", "output.weight"]
    module = AttentionDecoder(*SIZES)
    assert_equal({*module.gradients()}, {*expected})
    assert_made_in_float64(module, attention_decoder_weights(draw, *SIZES))


# %% check="with_W_zero_all_real_words_are_alike" points=1
def with_W_zero_all_real_words_are_alike(AttentionDecoder, draw):
    """With W = 0, each of six real words gets 1/6, each of four 1/4, and padding nothing, at every step."""
    weights = attention_decoder_weights(draw, *SIZES) | {"W": torch.zeros(5, 4, dtype=torch.float64)}
    _, answer = with_weights(AttentionDecoder(*SIZES), weights)(*two_sources(draw))
    rows = torch.tensor([[1 / 6] * 6, [1 / 4] * 4 + [0.0] * 2], dtype=torch.float64)
    assert_close(answer, rows[:, None].expand(-1, 3, -1))


# %% check="target_and_source_need_not_be_equally_long" points=1
def target_and_source_need_not_be_equally_long(AttentionDecoder, draw):
    """A target may be shorter or longer than its source, and gradients flow back."""
    decoder = with_weights(AttentionDecoder(*SIZES), attention_decoder_weights(draw, *SIZES))
    for T, S in ((3, 6), (6, 2)):
        arguments = draw.normal(2, 5), draw.integers(0, 7, 2, T), draw.normal(2, S, 4)
        logits, weights = decoder(*arguments, torch.ones(2, S, dtype=torch.bool))
        assert_equal([list(logits.shape), list(weights.shape)], [[2, T, 7], [2, T, S]], what="shapes")
    assert_differentiable(decoder, *arguments, torch.ones(2, S, dtype=torch.bool))


# %% check="padding_of_the_source_changes_nothing" points=1
def padding_of_the_source_changes_nothing(AttentionDecoder, draw):
    """Another memory at the padding changes no logit, however low the scores of real words are."""
    weights = attention_decoder_weights(draw, *SIZES)
    decoder = with_weights(AttentionDecoder(*SIZES), weights)
    state, inputs, memory, mask = two_sources(draw)
    logits, _ = decoder(state, inputs, memory, mask)
    other, _ = decoder(state, inputs, memory + 2 * ~mask[..., None], mask)
    assert_close(other, logits)
    assert_depends(logits, decoder(state, inputs, -memory, mask)[0])
    for sign in (1, -1):  # with either sign, scores of many thousands below zero
        steep = with_weights(AttentionDecoder(*SIZES), weights | {"W": 50_000.0 * sign * weights["W"]})
        alike = memory[:, :1].expand(-1, 6, -1).clone()  # so all real words have one score
        logits, _ = steep(state, inputs, alike, mask)
        other, _ = steep(state, inputs, alike * mask[..., None], mask)
        assert_close(other, logits, what="the logits where scores are large")


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


# %% check="the_word_just_read_decides_where_to_look" points=1
def the_word_just_read_decides_where_to_look(AttentionDecoder, draw):
    """Another first input changes the weights of the first step already."""
    decoder = with_weights(AttentionDecoder(*SIZES), attention_decoder_weights(draw, *SIZES))
    state, inputs, memory, mask = two_sources(draw)
    _, weights = decoder(state, inputs, memory, mask)
    _, other = decoder(state, torch.tensor([[3, 4, 6], [0, 2, 5]]), memory, mask)
    assert_depends(weights[0, 0], other[0, 0])
    assert_depends(weights[1, 0], other[1, 0])


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


# %% check="the_context_reaches_the_output" points=1
def the_context_reaches_the_output(AttentionDecoder, draw):
    """Where `combine` cuts the state off, each output is the tanh of what the step's weights make of the memory."""
    weights, of_context = attention_decoder_weights(draw, *SIZES), draw.normal(5, 4)
    weights |= {"combine.weight": torch.cat([torch.zeros(5, 5, dtype=torch.float64), of_context], dim=1)}
    state, inputs, memory, mask = two_sources(draw)
    logits, alpha = with_weights(AttentionDecoder(*SIZES), weights)(state, inputs, memory, mask)
    outputs = torch.tanh(alpha[0] @ memory[0] @ of_context.T)  # (T, D)
    assert_close(logits[0], outputs @ weights["output.weight"].T + weights["output.bias"])


# %% check="the_state_reaches_the_output" points=1
def the_state_reaches_the_output(AttentionDecoder, draw):
    """Where `combine` cuts the context off, the first output is the tanh of the new state's part."""
    weights, of_state = attention_decoder_weights(draw, *SIZES), draw.normal(5, 5)
    weights |= {"combine.weight": torch.cat([of_state, torch.zeros(5, 4, dtype=torch.float64)], dim=1)}
    state, inputs, memory, mask = two_sources(draw)
    logits, _ = with_weights(AttentionDecoder(*SIZES), weights)(state, inputs, memory, mask)
    word_and_no_output = torch.cat([weights["embedding.weight"][1], torch.zeros(5, dtype=torch.float64)])
    output = torch.tanh(of_state @ gru_step(weights, "cell", word_and_no_output, state[0]))
    assert_close(logits[0, 0], weights["output.weight"] @ output + weights["output.bias"])


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


# %% check="each_output_is_read_by_the_next_step" points=1
def each_output_is_read_by_the_next_step(AttentionDecoder, draw):
    """Another `combine` leaves the weights of the first step, and changes those of the second."""
    weights = attention_decoder_weights(draw, *SIZES)
    decoder, arguments = AttentionDecoder(*SIZES), two_sources(draw)
    _, answer = with_weights(decoder, weights)(*arguments)
    _, other = with_weights(decoder, weights | {"combine.weight": -weights["combine.weight"]})(*arguments)
    assert_close(other[:, 0], answer[:, 0], what="weights of the first step")
    assert_depends(answer[0, 1], other[0, 1])


# %% check="other_attention_decoders_have_their_logits" points=3 hidden
def other_attention_decoders_have_their_logits(AttentionDecoder, draw):
    """Other sizes have the logits, weights and gradients of the five lines."""

    def alone(own, state, inputs, memory):
        output, rows = torch.zeros_like(state), []
        for token in inputs.tolist():
            state = gru_step(own, "cell", torch.cat([own["embedding.weight"][token], output]), state)
            alpha = (memory @ (own["W"].T @ state)).softmax(0)
            context = (alpha[:, None] * memory).sum(0)
            output = torch.tanh(own["combine.weight"] @ torch.cat([state, context]))
            rows.append((own["output.weight"] @ output + own["output.bias"], alpha))
        return torch.stack([row[0] for row in rows]), torch.stack([row[1] for row in rows])

    for sizes, lengths, T in (((9, 2, 4, 6), (3, 5), 4), ((5, 4, 3, 2), (4, 2, 3), 5)):
        weights, S = attention_decoder_weights(draw, *sizes), max(lengths) + 1
        state, memory = draw.normal(len(lengths), sizes[2]), draw.normal(len(lengths), S, sizes[3])
        inputs, mask = (
            draw.integers(0, sizes[0], len(lengths), T),
            torch.arange(S) < torch.tensor(lengths)[:, None],
        )
        decoder = with_weights(AttentionDecoder(*sizes), weights)
        logits, alpha = decoder(state, inputs, memory, mask)
        own = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
        rows = [alone(own, state[b], inputs[b], memory[b, :n]) for b, n in enumerate(lengths)]
        for b, n in enumerate(lengths):
            assert_close(alpha[b, :, :n], rows[b][1], what="weights")
            assert_close(
                alpha[b, :, n:], torch.zeros(T, S - n, dtype=torch.float64), what="weights at the padding"
            )
        expected = torch.stack([row[0] for row in rows])
        assert_close(logits, expected, what="logits")
        weighting = draw.normal(*expected.shape)
        (logits * weighting).sum().backward()
        (expected * weighting).sum().backward()
        gradients = decoder.gradients()
        for name, weight in own.items():
            assert_close(gradients[name], weight.grad, what=f"the gradient of {name}")
