"""Positions: against their formulas written as loops, and the laws each kind is made for."""

import math

import pytest
import torch
from model_equality import assert_equal
from torch import nn
from transformers.models.t5.modeling_t5 import T5Attention

from course.models import RelativeBias, SinusoidalPositions, rotate, sinusoidal_positions
from course.models.positions import clipped_buckets, distances, t5_buckets

T, D = 6, 8


@pytest.mark.parametrize("width", [8, 7])
def test_sinusoids_equal_the_paper_s_formula_at_even_and_odd_width(precision, width):
    table = sinusoidal_positions(T, width)
    for t in range(T):
        for i in range(width):
            angle = t / 10_000 ** (2 * (i // 2) / width)
            expected = math.sin(angle) if i % 2 == 0 else math.cos(angle)
            assert abs(table[t, i].item() - expected) < 1e-6


def test_sinusoids_may_start_anywhere():
    assert_equal(sinusoidal_positions(3, D, first=4), sinusoidal_positions(7, D)[4:])


def test_sinusoids_are_no_parameters_and_are_not_saved():
    positions = SinusoidalPositions(T, D)
    assert list(positions.parameters()) == []
    assert positions.state_dict() == {}


def test_rotation_turns_neighbouring_pairs_by_the_position_s_angle(precision):
    x = torch.randn(T, 4)
    turned = rotate(x)
    for t in range(T):
        for pair, wavelength in ((0, 1.0), (1, 10_000 ** (-2 / 4))):
            z = complex(*x[t, 2 * pair : 2 * pair + 2].tolist()) * complex(
                math.cos(t * wavelength), math.sin(t * wavelength)
            )
            assert abs(complex(*turned[t, 2 * pair : 2 * pair + 2].tolist()) - z) < 1e-6


def test_rotated_scores_depend_on_the_distance_alone(precision):
    query, key = torch.randn(2, 1, D).expand(2, T, D)
    scores = rotate(query) @ rotate(key).T
    shifted = rotate(query, first=100) @ rotate(key, first=100).T
    assert_equal(shifted, scores)
    assert_equal(scores.diagonal(1), scores[0, 1].expand(T - 1))
    assert (scores[0, 1] - scores[1, 0]).abs() > 1e-3  # before is not after


def test_an_odd_head_width_cannot_be_rotated():
    with pytest.raises(ValueError, match="expected an even width, so that dimensions pair up, got 7"):
        rotate(torch.randn(T, 7))


def test_distances_are_key_minus_query_and_count_from_the_last_queries():
    assert distances(2, 4).tolist() == [[-2, -1, 0, 1], [-3, -2, -1, 0]]


def test_clipped_buckets_end_at_the_radius():
    assert clipped_buckets(torch.arange(-5, 6), n_buckets=5).tolist() == [0, 0, 0, 0, 1, 2, 3, 4, 4, 4, 4]


@pytest.mark.parametrize("n_buckets", [32, 8])
@pytest.mark.parametrize("farthest", [128, 20])
def test_t5_buckets_equal_those_of_transformers(n_buckets, farthest):
    distance = torch.arange(-200, 201)
    expected = T5Attention._relative_position_bucket(
        distance, bidirectional=True, num_buckets=n_buckets, max_distance=farthest
    )
    assert t5_buckets(distance, n_buckets, farthest).tolist() == expected.tolist()


@pytest.mark.parametrize("is_clipped", [False, True])
def test_a_relative_bias_is_one_number_per_head_and_distance(is_clipped):
    bias = RelativeBias(n_heads=3, n_buckets=9, is_clipped=is_clipped)
    nn.init.normal_(bias.bias)
    table = bias(4, 6)
    assert table.shape == (3, 4, 6)
    assert_equal(table[:, 0, 1:], table[:, 1, 2:].new_tensor(table[:, 0, 1:].tolist()))
    assert_equal(table[:, 0, :5], table[:, 1, 1:])
    assert (table[:, 0, 1] - table[:, 0, 3]).abs().min() > 1e-4
