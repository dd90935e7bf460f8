"""The microscope's and the dial's mathematics, run in node, against the course's attention and positions."""

import math

import pytest
import torch
from in_node import call, needs_node

from course import figures
from course.models import rotate, scaled_dot_product_attention, sinusoidal_positions
from course.models.masks import causal_mask

WORDS = ["the", "man", "ate", "a", "fish"]


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def microscope():
    return figures.microscope(normal(5, 2), normal(5, 2, seed=1), normal(5, 3, seed=2), WORDS)


def seen_by(figure):
    return [torch.tensor(figure.data[name], dtype=torch.float64) for name in ("query", "key", "value")]


@needs_node
def test_without_a_mistake_the_microscope_shows_causal_attention():
    figure = microscope()
    outputs, weights = scaled_dot_product_attention(*seen_by(figure), causal_mask(5))
    found = call("microscope", "attend", figure.data)
    assert torch.allclose(torch.tensor(found["weights"], dtype=torch.float64), weights)
    assert torch.allclose(torch.tensor(found["outputs"], dtype=torch.float64), outputs)
    assert found["leaks"] == []


@needs_node
def test_each_switch_of_the_microscope_is_the_mistake_it_names():
    figure = microscope()
    query, key, _ = seen_by(figure)
    scores, past = query @ key.T, causal_mask(5)
    wrong = {
        "unscaled": scores.masked_fill(~past, -math.inf).softmax(-1),
        "maskLate": (scores / math.sqrt(2)).softmax(-1) * past,
        "wrongAxis": (scores / math.sqrt(2)).masked_fill(~past, -math.inf).softmax(-2),
        "unmasked": (scores / math.sqrt(2)).softmax(-1),
    }
    right = call("microscope", "attend", figure.data)["weights"]
    for bug, weights in wrong.items():
        found = call("microscope", "attend", figure.data, {bug: True})
        assert torch.allclose(torch.tensor(found["weights"], dtype=torch.float64), weights), bug
        assert found["weights"] != right, bug
    assert len(call("microscope", "attend", figure.data, {"unmasked": True})["leaks"]) == 10


def test_queries_and_keys_of_unequal_width_are_refused():
    with pytest.raises(ValueError, match="same width"):
        figures.microscope(normal(5, 2), normal(5, 3), normal(5, 2), WORDS)


def test_more_words_than_rows_are_refused():
    with pytest.raises(ValueError, match="one row per token"):
        figures.microscope(normal(4, 2), normal(4, 2), normal(4, 2), WORDS)


def dial(D=6, K=4):
    matrices = [normal(*shape, seed=seed) for seed, shape in enumerate([(K, D), (K, D), (D, D), (12, D)], 1)]
    return figures.position_dial(normal(5, D), WORDS, *matrices)


def of_dial(figure):
    names = ("x", "W_query", "W_key", "W_value", "learned")
    return [torch.tensor(figure.data[name], dtype=torch.float64) for name in names]


def expected_outputs(figure, kind, order):
    """Self-attention over the words in this order, by the library."""
    x, W_query, W_key, W_value, learned = of_dial(figure)
    x = x[order]
    if kind == "sinusoidal":
        x = x + sinusoidal_positions(len(order), x.shape[1]).double()
    if kind == "learned":
        x = x + learned[: len(order)]
    query, key = x @ W_query.T, x @ W_key.T
    if kind == "RoPE":
        query, key = rotate(query), rotate(key)
    return scaled_dot_product_attention(query, key, x @ W_value.T)[0]


@needs_node
@pytest.mark.parametrize("kind", ["none", "sinusoidal", "learned", "RoPE"])
def test_the_dial_s_outputs_are_those_of_the_library_in_any_order(kind):
    figure, order = dial(), [4, 1, 2, 0, 3]
    found = torch.tensor(call("position_dial", "outputs", figure.data, kind, order), dtype=torch.float64)
    assert torch.allclose(found, expected_outputs(figure, kind, order), atol=1e-6)


@needs_node
def test_only_without_positions_do_shuffled_words_keep_their_vectors():
    figure, order = dial(), [4, 1, 2, 0, 3]
    for kind in ("none", "sinusoidal", "learned", "RoPE"):
        straight = torch.tensor(call("position_dial", "outputs", figure.data, kind, [0, 1, 2, 3, 4]))
        shuffled = torch.tensor(call("position_dial", "outputs", figure.data, kind, order))
        assert torch.allclose(shuffled, straight[order], atol=1e-6) == (kind == "none"), kind


@needs_node
def test_under_rope_the_score_stays_while_the_distance_stays():
    figure = dial()
    scores = [call("position_dial", "score", figure.data, "RoPE", 1, 4, m, m - 2) for m in (2, 5, 11)]
    assert scores == pytest.approx([scores[0]] * 3)
    assert call("position_dial", "score", figure.data, "RoPE", 1, 4, 5, 4) != pytest.approx(scores[0])
    moved = [call("position_dial", "score", figure.data, "learned", 1, 4, m, m - 2) for m in (2, 5, 11)]
    assert moved[0] != pytest.approx(moved[1])


def test_an_order_that_repeats_a_word_is_refused():
    x = normal(5, 4)
    square = torch.eye(4)
    with pytest.raises(ValueError, match="each of 0 … 4 once"):
        figures.position_dial(x, WORDS, square, square, square, normal(5, 4), orders=[[0, 0, 1, 2, 3]])


def test_a_matrix_of_another_shape_is_refused():
    x = normal(5, 4)
    with pytest.raises(ValueError, match="W_value: expected shape"):
        figures.position_dial(x, WORDS, torch.eye(4), torch.eye(4), torch.zeros(3, 4), normal(5, 4))


@needs_node
def test_the_map_opens_on_the_query_that_looks_farthest_the_first_token_apart():
    assert call("attention", "farthest", [[1, 0, 0], [0.9, 0.1, 0], [0.2, 0.7, 0.1]]) == 2
    assert call("attention", "farthest", torch.eye(2).tolist()) == 0


@needs_node
def test_words_stand_on_the_diagonal_only_where_no_word_looks_to_its_right():
    causal = [[1.0, 0.0], [0.4, 0.6]]
    for weights, keys, expected in (
        ([causal], ["a", "b"], True),
        ([causal, [[0.5, 0.5], [0.5, 0.5]]], ["a", "b"], False),
        ([causal], ["a", "c"], False),
    ):
        data = {"weights": weights, "queries": ["a", "b"], "keys": keys}
        assert call("attention", "isCausal", data) == expected


@pytest.mark.parametrize("start", [(2, 0), (0, 3), (-1, 0)])
def test_a_map_cannot_open_at_a_head_or_a_query_that_is_not_there(start):
    maps = torch.full((2, 3, 3), 1 / 3)
    assert figures.attention(maps, ["a", "b", "c"], start=(1, 2)).data["start"] == (1, 2)
    with pytest.raises(ValueError, match="one of 2 heads and one of 3 queries"):
        figures.attention(maps, ["a", "b", "c"], start=start)
