"""Choices of n and k that the checks once took for known mistakes."""

import math
from statistics import mean, median, stdev

from autograder.proving.strangers import stranger


def _costs(results, centre=mean):
    return {setting: centre(result["heldout"]) for setting, result in results.items()}


def _smallest_within(limit, cost):
    return min((s for s in cost if cost[s] <= limit), key=lambda setting: (setting[0], cost[setting]))


def _chosen(results, cost, error):
    best = min(cost, key=cost.get)
    return _smallest_within(cost[best] + error(results[best]["heldout"]), cost)


def _standard_error(folds):
    return stdev(folds) / math.sqrt(len(folds))


@stranger(of="choose_n_and_k")
def first_fold_alone(results):
    return _chosen(results, _costs(results, lambda folds: folds[0]), _standard_error)


@stranger(of="choose_n_and_k", may_be=["first_good_enough"])
def smallest_k(results):
    cost = _costs(results)
    best = min(cost, key=cost.get)
    limit = cost[best] + _standard_error(results[best]["heldout"])
    return min(setting for setting in cost if cost[setting] <= limit)


@stranger(of="choose_n_and_k", may_be=["deviation_of_a_single_fold"])
def deviation_times_the_root(results):
    return _chosen(results, _costs(results), lambda folds: math.sqrt(len(folds)) * stdev(folds))


@stranger(of="choose_n_and_k", may_be=["cost_by_the_median"])
def median_of_the_folds(results):
    return _chosen(results, _costs(results, median), _standard_error)


@stranger(of="choose_n_and_k", may_be=["variance_for_the_deviation"])
def variance_of_the_folds(results):
    return _chosen(results, _costs(results), lambda folds: stdev(folds) ** 2 / math.sqrt(len(folds)))


@stranger(of="choose_n_and_k", may_be=["variance_for_the_deviation"])
def variance_shared_among_the_folds(results):
    return _chosen(results, _costs(results), lambda folds: stdev(folds) ** 2 / len(folds))


@stranger(of="choose_n_and_k")
def error_over_the_settings(results):
    cost = _costs(results)
    return _smallest_within(min(cost.values()) + _standard_error([*cost.values()]), cost)


@stranger(of="choose_n_and_k")
def within_one_per_cent(results):
    cost = _costs(results)
    return _smallest_within(1.01 * min(cost.values()), cost)
