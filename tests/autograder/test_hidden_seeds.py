"""Hidden inputs cannot be found by trying seeds: there are 2**64, and each bit of one matters."""

from functools import reduce
from operator import and_, or_
from types import SimpleNamespace

from autograder.checking.examine import _seed
from autograder.grading.paper import paper_of
from autograder.submissions.collect import Found

ALL_BITS = 2**64 - 1


def test_the_seed_of_a_submission_has_64_bits_that_are_drawn():
    seeds = [paper_of(Found("bob", None, "There is nothing.")).seed for _ in range(200)]
    assert (reduce(or_, seeds), reduce(and_, seeds)) == (ALL_BITS, 0)


def test_the_seed_of_a_check_has_64_bits_that_depend_on_the_submissions():
    seeds = [_seed(SimpleNamespace(name="averages_are_right"), seed) for seed in range(200)]
    assert (reduce(or_, seeds), reduce(and_, seeds)) == (ALL_BITS, 0)
