"""Choices of n and k that the checks once took for known mistakes."""

import math
from statistics import mean, median, stdev

from autograder.proving.strangers import stranger


@stranger(of="choose_n_and_k")
def first_fold_alone(results):
    cost = {setting: result["heldout"][0] for setting, result in results.items()}
    best = min(cost, key=cost.get)
    folds = results[best]["heldout"]
    limit = cost[best] + stdev(folds) / math.sqrt(len(folds))
    smallest = min(n for n, k in cost if cost[n, k] <= limit)
    return min((s for s in cost if s[0] == smallest and cost[s] <= limit), key=cost.get)


@stranger(of="choose_n_and_k", may_be=["first_good_enough"])
def smallest_k(results):
    cost = {setting: mean(result["heldout"]) for setting, result in results.items()}
    best = min(cost, key=cost.get)
    folds = results[best]["heldout"]
    limit = cost[best] + stdev(folds) / math.sqrt(len(folds))
    return min(setting for setting in cost if cost[setting] <= limit)


@stranger(of="choose_n_and_k", may_be=["deviation_of_a_single_fold"])
def deviation_times_the_root(results):
    cost = {setting: mean(result["heldout"]) for setting, result in results.items()}
    best = min(cost, key=cost.get)
    folds = results[best]["heldout"]
    limit = cost[best] + math.sqrt(len(folds)) * stdev(folds)
    smallest = min(n for n, k in cost if cost[n, k] <= limit)
    return min((s for s in cost if s[0] == smallest and cost[s] <= limit), key=cost.get)


@stranger(of="choose_n_and_k", may_be=["cost_by_the_median"])
def median_of_the_folds(results):
    cost = {setting: median(result["heldout"]) for setting, result in results.items()}
    best = min(cost, key=cost.get)
    folds = results[best]["heldout"]
    limit = cost[best] + stdev(folds) / math.sqrt(len(folds))
    smallest = min(n for n, k in cost if cost[n, k] <= limit)
    return min((s for s in cost if s[0] == smallest and cost[s] <= limit), key=cost.get)


@stranger(of="choose_n_and_k", may_be=["variance_for_the_deviation"])
def variance_of_the_folds(results):
    cost = {setting: mean(result["heldout"]) for setting, result in results.items()}
    best = min(cost, key=cost.get)
    folds = results[best]["heldout"]
    limit = cost[best] + stdev(folds) ** 2 / math.sqrt(len(folds))
    return min((s for s in cost if cost[s] <= limit), key=lambda setting: (setting[0], cost[setting]))


@stranger(of="choose_n_and_k", may_be=["variance_for_the_deviation"])
def variance_shared_among_the_folds(results):
    cost = {setting: mean(result["heldout"]) for setting, result in results.items()}
    best = min(cost, key=cost.get)
    folds = results[best]["heldout"]
    limit = cost[best] + stdev(folds) ** 2 / len(folds)
    return min((s for s in cost if cost[s] <= limit), key=lambda setting: (setting[0], cost[setting]))


@stranger(of="choose_n_and_k")
def error_over_the_settings(results):
    cost = {setting: mean(result["heldout"]) for setting, result in results.items()}
    limit = min(cost.values()) + stdev(cost.values()) / math.sqrt(len(cost))
    return min((s for s in cost if cost[s] <= limit), key=lambda setting: (setting[0], cost[setting]))


@stranger(of="choose_n_and_k")
def within_one_per_cent(results):
    cost = {setting: mean(result["heldout"]) for setting, result in results.items()}
    limit = 1.01 * min(cost.values())
    return min((s for s in cost if cost[s] <= limit), key=lambda setting: (setting[0], cost[setting]))
