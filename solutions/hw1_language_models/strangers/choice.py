"""Choices among models that the checks once took for known mistakes."""

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


@stranger(of="cheapest_model", may_be=["fewest_tokens"])
def tokens_divided_by_bits(reports):
    share = {
        name: one["n_tokens"] / math.log2(one["perplexity"])
        for name, one in reports.items()
        if one["n_unknown"] == 0
    }
    return min(share, key=share.get)


@stranger(of="choose_n_and_k", may_be=["cost_by_the_median"])
def median_of_the_folds(results):
    cost = {setting: median(result["heldout"]) for setting, result in results.items()}
    best = min(cost, key=cost.get)
    folds = results[best]["heldout"]
    limit = cost[best] + stdev(folds) / math.sqrt(len(folds))
    smallest = min(n for n, k in cost if cost[n, k] <= limit)
    return min((s for s in cost if s[0] == smallest and cost[s] <= limit), key=cost.get)


@stranger(of="cheapest_model")
def divided_by_the_bits(reports):
    spellers = [name for name, report in reports.items() if report["n_unknown"] == 0]
    return min(spellers, key=lambda name: reports[name]["n_tokens"] / math.log2(reports[name]["perplexity"]))


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


@stranger(of="cheapest_model", may_be=["bits_divided_by_the_tokens"])
def bits_per_token_per_token(reports):
    spellers = {name: report for name, report in reports.items() if not report["n_unknown"]}
    return min(spellers, key=lambda name: math.log(spellers[name]["perplexity"]) / spellers[name]["n_tokens"])


@stranger(of="cheapest_model", may_be=["unknown_tokens_let_through"])
def unknown_tokens_subtracted(reports):
    known = {name: one["n_tokens"] - one["n_unknown"] for name, one in reports.items()}
    return min(reports, key=lambda name: known[name] * math.log2(reports[name]["perplexity"]))


@stranger(of="choose_n_and_k")
def error_over_the_settings(results):
    cost = {setting: mean(result["heldout"]) for setting, result in results.items()}
    limit = min(cost.values()) + stdev(cost.values()) / math.sqrt(len(cost))
    return min((s for s in cost if cost[s] <= limit), key=lambda setting: (setting[0], cost[setting]))


@stranger(of="cheapest_model")
def most_tokens(reports):
    spellers = {name: report for name, report in reports.items() if not report["n_unknown"]}
    return max(spellers, key=lambda name: spellers[name]["n_tokens"])


@stranger(of="choose_n_and_k")
def within_one_per_cent(results):
    cost = {setting: mean(result["heldout"]) for setting, result in results.items()}
    limit = 1.01 * min(cost.values())
    return min((s for s in cost if cost[s] <= limit), key=lambda setting: (setting[0], cost[setting]))


@stranger(of="cheapest_model")
def last_of_the_spellers(reports):
    return [name for name, report in reports.items() if not report["n_unknown"]][-1]
