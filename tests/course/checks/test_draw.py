import random
import statistics
import zlib

import pytest
import torch

from course.checks import Draw, seed_of


def test_the_same_seed_gives_the_same_inputs_and_another_seed_gives_others():
    def drawn(seed):
        draw = Draw(seed)
        return draw.normal(3, 2), draw.integers(0, 9, 5), draw.permutation(7), draw.sentence("abc", 6)

    once, again, other = drawn(3), drawn(3), drawn(4)
    assert torch.equal(once[0], again[0])
    assert once[2:] == again[2:]
    assert not torch.equal(once[0], other[0])


def test_numbers_come_from_pythons_random_alone():
    expected = random.Random(11)
    draw = Draw(11)
    torch.manual_seed(0)  # must not matter
    assert draw.uniform(2, 2).flatten().tolist() == [expected.random() for _ in range(4)]


def test_normal_numbers_have_mean_zero_and_variance_one():
    numbers = Draw(0).normal(20_000).tolist()
    assert statistics.fmean(numbers) == pytest.approx(0, abs=0.03)
    assert statistics.pvariance(numbers) == pytest.approx(1, abs=0.05)


def test_integers_reach_both_ends_and_no_further():
    numbers = Draw(1).integers(3, 6, 500)
    assert set(numbers.tolist()) == {3, 4, 5}
    assert isinstance(Draw(1).integers(3, 6), int)


def test_an_empty_range_is_refused():
    with pytest.raises(ValueError, match="no whole number"):
        Draw(0).integers(4, 4)


def test_a_permutation_holds_every_number_once_and_is_not_always_the_same():
    draw = Draw(5)
    orders = [draw.permutation(6) for _ in range(20)]
    assert all(sorted(order) == list(range(6)) for order in orders)
    assert len({tuple(order) for order in orders}) > 10


def test_probabilities_are_positive_and_sum_to_one_along_the_last_axis():
    probabilities = Draw(2).probabilities(4, 3, 7)
    assert (probabilities > 0).all()
    torch.testing.assert_close(probabilities.sum(-1), torch.ones(4, 3, dtype=torch.float64))


def test_a_generator_depends_on_the_seed():
    draws = [torch.rand(3, generator=Draw(seed).generator()).tolist() for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


def test_the_seed_of_a_name_is_the_same_in_every_process():
    assert seed_of("each_row_sums_to_one") == zlib.crc32(b"each_row_sums_to_one")
