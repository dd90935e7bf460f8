"""Llama against transformers, its grouped attention against multi-head attention, and its cache."""

import pytest
import torch
from model_equality import assert_equal
from torch.nn import functional as F

from benchmarks.llama_in_transformers import in_transformers
from course.models import GroupedQueryAttention, Llama, LlamaConfig, MultiHeadAttention, SwiGLU, rotate
from course.models.grouped_query_attention import group_queries, ungroup_queries
from course.models.positions import rotation

SIZES = LlamaConfig(vocab_size=23, context_length=16, d_model=24, n_heads=6, n_groups=2, n_layers=3, d_ff=20)
B, T = 3, 9


@pytest.fixture
def tokens():
    return torch.randint(SIZES.vocab_size, (B, T))


@pytest.fixture
def ours(precision):
    torch.manual_seed(1)
    model = Llama(SIZES)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, 1.0 if parameter.ndim == 1 else 0.0, 0.3)
    return model


# transformers computes rotations in float32 whatever the model's precision
@pytest.mark.parametrize("precision", [torch.float32], indirect=True)
def test_the_logits_are_those_of_transformers(ours, tokens):
    with torch.no_grad():
        assert_equal(ours.logits(tokens), in_transformers(ours)(tokens).logits)


def test_the_parameters_are_as_many_as_smollm2_has():
    with torch.device("meta"):
        model = Llama(LlamaConfig())
    assert sum(parameter.numel() for parameter in model.parameters()) == 134_515_008


def test_the_course_s_own_lines_give_what_the_kernel_gives(ours, tokens):
    plain = Llama(LlamaConfig(**{**vars(SIZES), "is_fused": False}))
    plain.load_state_dict(ours.state_dict())
    assert_equal(plain.logits(tokens), ours.logits(tokens))


def test_with_a_cache_token_by_token_and_in_pieces(ours, tokens):
    whole = ours(tokens)
    cache = ours.new_cache()
    pieces = [ours(piece, cache) for piece in tokens.split([1, 4, 1, 3], dim=1)]
    assert_equal(torch.cat(pieces, dim=1), whole)
    assert cache.length == T


def test_a_cache_holds_only_the_heads_that_are_shared(ours, tokens):
    cache = ours.new_cache()
    ours(tokens, cache)
    assert cache.layers[0].key.shape == (B, SIZES.n_groups, T, SIZES.d_model // SIZES.n_heads)


def test_the_last_position_alone_gets_the_same_answer(ours, tokens):
    assert_equal(ours.next_log_probs(tokens), ours(tokens)[:, -1])


def test_padding_at_the_start_changes_nothing(ours, tokens):
    mask = torch.ones(B, T, dtype=torch.bool)
    mask[1, :4] = False
    assert_equal(ours(tokens, mask=mask)[1, 4:], ours(tokens[1:2, 4:])[0])
    assert_equal(ours(tokens, mask=mask)[0], ours(tokens)[0])


def test_one_group_per_head_is_multi_head_attention(precision):
    grouped, whole = GroupedQueryAttention(12, 3, 3), MultiHeadAttention(12, 3, has_rotation=True)
    for name in ("W_query", "W_key", "W_value", "W_output"):
        getattr(whole, name).weight = getattr(grouped, name).weight
        torch.nn.init.zeros_(getattr(whole, name).bias)
    x = torch.randn(2, 5, 12)
    turn = rotation(5, 4, dtype=x.dtype)
    assert_equal(grouped(x, turn), whole(x, x, x))


def test_heads_of_a_group_attend_to_the_same_keys_and_values(precision):
    attention = GroupedQueryAttention(12, 6, 2)
    x = torch.randn(2, 5, 12)
    q = rotate(attention.W_query(x).view(2, 5, 6, 2).transpose(1, 2))
    k = rotate(attention.W_key(x).view(2, 5, 2, 2).transpose(1, 2)).repeat_interleave(3, dim=1)
    v = attention.W_value(x).view(2, 5, 2, 2).transpose(1, 2).repeat_interleave(3, dim=1)
    heads = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
    assert_equal(attention(x, rotation(5, 2, dtype=x.dtype)), attention.W_output(heads))


def test_grouping_is_undone():
    query = torch.randn(2, 6, 5, 4)
    grouped = group_queries(query, 2)
    assert grouped.shape == (2, 2, 15, 4)
    assert ungroup_queries(grouped, 5).equal(query)
    assert grouped[1, 1, 5].equal(query[1, 4, 0])  # the first query of the second head of the second group


def test_the_gate_of_swiglu_by_hand(precision):
    layer = SwiGLU(1, 1)
    for matrix, value in ((layer.gate, 2.0), (layer.expand, 3.0), (layer.contract, 5.0)):
        torch.nn.init.constant_(matrix.weight, value)
    x = torch.tensor([[[0.7]]])
    assert_equal(layer(x), 5 * 3 * x * (2 * x) * torch.sigmoid(2 * x))


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ((10, 3, 3), "d_model: expected a multiple of n_heads = 3, got 10"),
        ((12, 6, 4), "n_heads: expected a multiple of n_groups = 4, got 6"),
    ],
)
def test_heads_that_cannot_be_shared_out_are_refused(sizes, sentence):
    with pytest.raises(ValueError, match=sentence):
        GroupedQueryAttention(*sizes)


def test_more_positions_than_the_context_are_refused_with_the_cached_ones_counted(ours):
    cache = ours.new_cache()
    ours(torch.zeros(1, 10, dtype=torch.int64), cache)
    with pytest.raises(ValueError, match="expected at most 16 positions, got T = 7 after 10 cached ones"):
        ours(torch.zeros(1, 7, dtype=torch.int64), cache)
