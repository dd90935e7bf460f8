"""Multi-head attention against torch.nn.MultiheadAttention, and the laws every attention obeys."""

import pytest
import torch
from model_equality import assert_equal, assert_equal_gradients, gradients
from torch import nn

from course.models import MultiHeadAttention, RelativeBias, causal_mask
from course.models.multi_head_attention import LayerCache, merge_heads, split_heads
from course.models.torch_weights import copy_from_torch

B, T, S, D, H = 2, 5, 7, 12, 3


def pair(is_fused):
    theirs = nn.MultiheadAttention(D, H, batch_first=True)
    nn.init.normal_(theirs.in_proj_bias)
    nn.init.normal_(theirs.out_proj.bias)
    ours = MultiHeadAttention(D, H, is_fused=is_fused)
    copy_from_torch(ours, theirs)
    return ours, theirs


def real_keys(n_keys):
    """One sequence without padding, one with much."""
    return torch.arange(n_keys) < torch.tensor([n_keys, 2])[:, None]


def their_gradients_wanted(theirs):
    return [theirs.in_proj_weight, theirs.out_proj.weight]


def our_stacked_gradient(output, ours, x):
    *qkv, out, into_x = gradients(
        output, ours.W_query.weight, ours.W_key.weight, ours.W_value.weight, ours.W_output.weight, x
    )
    return torch.cat(qkv), out, into_x


@pytest.mark.parametrize("is_fused", [False, True])
@pytest.mark.parametrize("has_padding", [False, True])
@pytest.mark.parametrize("is_causal", [False, True])
def test_self_attention_equals_torch_with_every_mask(precision, is_fused, has_padding, is_causal):
    ours, theirs = pair(is_fused)
    x = torch.randn(B, T, D, requires_grad=True)
    real = real_keys(T) if has_padding else None
    mask = None if real is None else real[:, None, None, :]
    # in torch, True means "may NOT be attended to"
    expected, expected_weights = theirs(
        x,
        x,
        x,
        key_padding_mask=None if real is None else ~real,
        attn_mask=~causal_mask(T) if is_causal else None,
        average_attn_weights=False,
    )
    output = ours(x, x, x, mask, is_causal)
    assert_equal(output, expected)
    assert_equal(ours.weights(x, x, x, mask, is_causal), expected_weights)
    received = our_stacked_gradient(output, ours, x)
    wanted = gradients(expected, *their_gradients_wanted(theirs), x)
    for our_gradient, their_gradient in zip(received, wanted, strict=True):
        assert_equal(our_gradient, their_gradient)


@pytest.mark.parametrize("is_fused", [False, True])
@pytest.mark.parametrize("n_keys", [3, 7])
def test_cross_attention_equals_torch_with_more_and_with_fewer_keys(precision, is_fused, n_keys):
    ours, theirs = pair(is_fused)
    query = torch.randn(B, T, D, requires_grad=True)
    key, value = torch.randn(2, B, n_keys, D, requires_grad=True)
    real = real_keys(n_keys)
    expected, _ = theirs(query, key, value, key_padding_mask=~real)
    output = ours(query, key, value, real[:, None, None, :])
    assert_equal(output, expected)
    assert_equal_gradients(output, [query, key, value], expected, [query, key, value])


@pytest.mark.parametrize("is_fused", [False, True])
def test_a_mask_per_head_is_obeyed_head_by_head(precision, is_fused):
    ours, theirs = pair(is_fused)
    x = torch.randn(B, T, D)
    mask = torch.rand(B, H, T, T) < 0.5
    mask |= torch.eye(T, dtype=torch.bool)
    expected, _ = theirs(x, x, x, attn_mask=~mask.flatten(0, 1))
    assert_equal(ours(x, x, x, mask), expected)


def test_splitting_gives_each_head_its_own_block_of_dimensions():
    x = torch.arange(B * T * D, dtype=torch.float32).view(B, T, D)
    heads = split_heads(x, H)
    assert heads.shape == (B, H, T, D // H)
    assert heads[1, 2, 3].tolist() == x[1, 3, 2 * D // H :].tolist()
    assert merge_heads(heads).tolist() == x.tolist()


@pytest.mark.parametrize("is_fused", [False, True])
def test_without_positions_permuting_the_tokens_permutes_the_outputs(is_fused):
    ours, _ = pair(is_fused)
    x = torch.randn(B, T, D)
    order = torch.tensor([3, 0, 4, 1, 2])
    assert_equal(ours(x[:, order], x[:, order], x[:, order]), ours(x, x, x)[:, order])


@pytest.mark.parametrize("positions", ["rotation", "bias"])
def test_with_positions_permuting_the_tokens_does_not_permute_the_outputs(positions):
    bias = RelativeBias(H)
    nn.init.normal_(bias.bias)
    ours = MultiHeadAttention(
        D, H, has_rotation=positions == "rotation", position_bias=bias if positions == "bias" else None
    )
    x = torch.randn(B, T, D)
    order = torch.tensor([3, 0, 4, 1, 2])
    permuted = ours(x[:, order], x[:, order], x[:, order])
    assert (permuted - ours(x, x, x)[:, order]).abs().max() > 1e-3


@pytest.mark.parametrize("has_rotation", [False, True])
@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("has_padding", [False, True])
@pytest.mark.parametrize("is_causal", [False, True])
def test_the_fused_kernel_equals_the_course_s_own_lines(
    precision, has_rotation, has_bias, has_padding, is_causal
):
    bias = RelativeBias(H) if has_bias else None
    if has_bias:
        nn.init.normal_(bias.bias)
    ours = MultiHeadAttention(D, H, is_fused=False, has_rotation=has_rotation, position_bias=bias)
    x = torch.randn(B, T, D)
    mask = real_keys(T)[:, None, None, :] if has_padding else None
    own = ours(x, x, x, mask, is_causal)
    ours.is_fused = True
    assert_equal(ours(x, x, x, mask, is_causal), own)


@pytest.mark.parametrize("is_fused", [False, True])
@pytest.mark.parametrize("has_rotation", [False, True])
def test_attending_piece_by_piece_with_a_cache_equals_attending_at_once(precision, is_fused, has_rotation):
    ours = MultiHeadAttention(D, H, is_fused=is_fused, has_rotation=has_rotation)
    x = torch.randn(B, T, D)
    cache = LayerCache()
    pieces = [ours(piece, piece, piece, is_causal=True, cache=cache) for piece in x.split([2, 1, 2], dim=1)]
    assert_equal(torch.cat(pieces, dim=1), ours(x, x, x, is_causal=True))
    assert cache.length == T


def test_a_selected_cache_does_not_grow_with_the_original():
    cache = LayerCache()
    cache.extend(torch.randn(B, H, 1, 4), torch.randn(B, H, 1, 4))
    chosen = cache.select(torch.tensor([1, 1, 0]))
    cache.extend(torch.randn(B, H, 1, 4), torch.randn(B, H, 1, 4))
    assert chosen.length == 1
    assert chosen.key.shape[0] == 3
    assert chosen.key[0].equal(cache.key[1, :, :1])


@pytest.mark.parametrize("is_fused", [False, True])
def test_an_all_masked_row_is_refused_on_both_paths(is_fused):
    x = torch.randn(B, T, D)
    mask = torch.ones(B, 1, 1, T, dtype=torch.bool)
    mask[1] = False
    with pytest.raises(ValueError, match=r"at least one True per query.*index \(1, 0, 0\)"):
        MultiHeadAttention(D, H, is_fused=is_fused)(x, x, x, mask)


@pytest.mark.parametrize("is_fused", [False, True])
def test_a_mask_of_a_wrong_shape_is_refused_on_both_paths(is_fused):
    x = torch.randn(B, T, D)
    with pytest.raises(ValueError, match=r"broadcasts to the scores \(2, 3, 5, 5\).*got \(2, 5\)"):
        MultiHeadAttention(D, H, is_fused=is_fused)(x, x, x, torch.ones(B, T, dtype=torch.bool))


def test_a_width_that_the_heads_do_not_divide_is_refused():
    with pytest.raises(ValueError, match="expected a multiple of n_heads = 5, got 12"):
        MultiHeadAttention(D, 5)
