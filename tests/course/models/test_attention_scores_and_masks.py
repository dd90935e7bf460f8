"""Attention as functions: scores against loops, masks against their one convention, weights against torch."""

import math

import pytest
import torch
from model_equality import assert_equal
from torch.nn import functional as F

from course.models import (
    additive_scores,
    attention_weights,
    bilinear_scores,
    causal_mask,
    dot_scores,
    padding_mask,
    scaled_dot_product_attention,
)

B, QUERIES, KEYS, K, V = 2, 5, 3, 4, 6


def by_loop(score, query, key):
    """score(q, k) for every pair, one number at a time."""
    rows = [[[score(q, k) for k in keys] for q in queries] for queries, keys in zip(query, key, strict=True)]
    return torch.tensor(rows, dtype=query.dtype)


def test_dot_scores_are_the_dot_product_of_every_pair(precision):
    query, key = torch.randn(B, QUERIES, K), torch.randn(B, KEYS, K)
    assert_equal(dot_scores(query, key), by_loop(lambda q, k: float(q.dot(k)), query, key))


def test_bilinear_scores_put_the_matrix_between_widths_that_differ(precision):
    query, key, W = torch.randn(B, QUERIES, K), torch.randn(B, KEYS, V), torch.randn(K, V)
    expected = by_loop(
        lambda q, k: float(sum(q[i] * W[i, j] * k[j] for i in range(K) for j in range(V))), query, key
    )
    assert_equal(bilinear_scores(query, key, W), expected)


def test_additive_scores_apply_tanh_before_the_vector(precision):
    query, key = torch.randn(B, QUERIES, K), torch.randn(B, KEYS, V)
    W_query, W_key, v = torch.randn(7, K), torch.randn(7, V), torch.randn(7)
    expected = by_loop(lambda q, k: float(v.dot((W_query.mv(q) + W_key.mv(k)).tanh())), query, key)
    assert_equal(additive_scores(query, key, W_query, W_key, v), expected)


def test_weights_and_output_equal_torch(precision):
    query, key, value = torch.randn(B, QUERIES, K), torch.randn(B, KEYS, K), torch.randn(B, KEYS, V)
    mask = torch.tensor([[True, False, True]]).expand(QUERIES, KEYS)
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    assert_equal(output, F.scaled_dot_product_attention(query, key, value, attn_mask=mask))
    assert_equal(weights.sum(dim=-1), torch.ones(B, QUERIES))


def test_true_means_may_be_attended_to():
    weights = attention_weights(torch.randn(B, QUERIES, KEYS), torch.tensor([True, False, True]))
    assert (weights[..., 1] == 0).all()
    assert (weights[..., [0, 2]] > 0).all()


def test_a_masked_key_gets_exactly_nothing_however_large_its_score():
    scores = torch.tensor([[-1e30, 1e30, 0.0]])  # the one that is allowed is the smallest
    assert attention_weights(scores, torch.tensor([[True, False, False]])).tolist() == [[1.0, 0.0, 0.0]]


def test_dividing_by_the_root_of_k_keeps_the_variance_at_one():
    width = 400
    scores = dot_scores(torch.randn(500, width), torch.randn(500, width)) / math.sqrt(width)
    assert 0.95 < scores.var().item() < 1.05


def test_the_causal_mask_is_the_lower_triangle_with_its_diagonal():
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_fewer_queries_than_keys_are_the_last_positions():
    assert causal_mask(2, 4).tolist() == causal_mask(4)[2:].tolist()


def test_more_queries_than_keys_are_refused():
    with pytest.raises(ValueError, match="at least as many keys as queries, got 2 keys, 3 queries"):
        causal_mask(3, 2)


def test_the_padding_mask_hides_keys_from_every_query_of_every_head():
    mask = padding_mask(torch.tensor([[5, 6, 0], [7, 0, 0]]), pad=0)
    assert mask.shape == (2, 1, 1, 3)
    assert mask[:, 0, 0].tolist() == [[True, True, False], [True, False, False]]


def test_a_query_that_may_attend_to_nothing_is_an_error_that_says_where():
    mask = torch.ones(B, QUERIES, KEYS, dtype=torch.bool)
    mask[1, 3] = False
    with pytest.raises(ValueError, match=r"at least one True per query.*index \(1, 3\).*shape \(2, 5, 3\)"):
        attention_weights(torch.randn(B, QUERIES, KEYS), mask)


@pytest.mark.parametrize("shape", [(KEYS, QUERIES), (B, KEYS), (7, B, QUERIES, KEYS), (QUERIES,)])
def test_a_mask_of_a_wrong_shape_is_refused_with_both_shapes(shape, as_students_run_it):
    with pytest.raises(ValueError, match=r"broadcasts to the scores \(2, 5, 3\).*got \("):
        attention_weights(torch.randn(B, QUERIES, KEYS), torch.ones(shape, dtype=torch.bool))


def test_a_mask_of_numbers_is_refused_because_it_could_mean_either(as_students_run_it):
    with pytest.raises(
        TypeError, match=r"expected dtype torch.bool \(True = may be attended to\), got torch.int64"
    ):
        attention_weights(torch.randn(B, QUERIES, KEYS), torch.ones(QUERIES, KEYS, dtype=torch.int64))
