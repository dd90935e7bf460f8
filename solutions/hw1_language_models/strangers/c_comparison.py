"""Choices of the cheapest model that the checks once took for known mistakes."""

import math

from autograder.proving.strangers import stranger


@stranger(of="cheapest_model", may_be=["fewest_tokens"])
def tokens_divided_by_bits(reports):
    share = {
        name: one["n_tokens"] / math.log2(one["perplexity"])
        for name, one in reports.items()
        if one["n_unknown"] == 0
    }
    return min(share, key=share.get)


@stranger(of="cheapest_model")
def divided_by_the_bits(reports):
    spellers = [name for name, report in reports.items() if report["n_unknown"] == 0]
    return min(spellers, key=lambda name: reports[name]["n_tokens"] / math.log2(reports[name]["perplexity"]))


@stranger(of="cheapest_model", may_be=["bits_divided_by_the_tokens"])
def bits_per_token_per_token(reports):
    spellers = {name: report for name, report in reports.items() if not report["n_unknown"]}
    return min(spellers, key=lambda name: math.log(spellers[name]["perplexity"]) / spellers[name]["n_tokens"])


@stranger(of="cheapest_model", may_be=["unknown_tokens_let_through"])
def unknown_tokens_subtracted(reports):
    known = {name: one["n_tokens"] - one["n_unknown"] for name, one in reports.items()}
    return min(reports, key=lambda name: known[name] * math.log2(reports[name]["perplexity"]))


@stranger(of="cheapest_model")
def tokens_times_the_square_of_the_perplexity(reports):
    spellers = {name: report for name, report in reports.items() if not report["n_unknown"]}
    return min(spellers, key=lambda name: spellers[name]["n_tokens"] * spellers[name]["perplexity"] ** 2)


@stranger(of="cheapest_model")
def most_tokens(reports):
    spellers = {name: report for name, report in reports.items() if not report["n_unknown"]}
    return max(spellers, key=lambda name: spellers[name]["n_tokens"])


@stranger(of="cheapest_model")
def last_of_the_spellers(reports):
    return [name for name, report in reports.items() if not report["n_unknown"]][-1]


@stranger(of="cheapest_model")
def only_the_cheapest_looked_through(reports):
    bits = {name: one["n_tokens"] * math.log2(one["perplexity"]) for name, one in reports.items()}
    by_price = sorted(bits, key=bits.get)
    return by_price[1] if reports[by_price[0]]["n_unknown"] else by_price[0]
