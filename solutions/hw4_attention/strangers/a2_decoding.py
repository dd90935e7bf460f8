"""Translations, marks and tables that the checks once let pass."""

from itertools import pairwise

import torch

from autograder.proving.strangers import stranger

from ..notebook import TableDecoder, bottleneck_table


@stranger(of="greedy_decode")
def one_for_eos(jumps, logits, state, bos, eos, max_length):
    return _decoded(jumps, logits, state, bos, 1, max_length)


def _decoded(jumps, logits, state, bos, eos, max_length):
    decoder, token = TableDecoder(jumps, logits).eval(), torch.full_like(state, bos)
    has_ended, total, written = torch.zeros(len(state), dtype=torch.bool), 0.0, []
    with torch.no_grad():
        while len(written) < max_length and not has_ended.all():
            state, scores = decoder(state, token)
            best = scores.log_softmax(dim=-1).max(dim=-1)
            total = total + best.values.masked_fill(has_ended, 0.0)
            token = best.indices.masked_fill(has_ended, eos)
            has_ended |= token == eos
            written.append(token)
    return torch.stack(written, dim=1), total


@stranger(of="exact_match")
def words_in_any_order(free, forced, targets, eos):
    def sentence(row):
        words = row.tolist()
        return [*sorted(words[: words.index(eos)]), eos] if eos in words else words

    pairs = zip(free, targets, strict=True)
    return sum(sentence(own) == sentence(right) for own, right in pairs) / len(targets)


@stranger(of="bottleneck_table")
def neighbouring_runs_compared(runs, trained_lengths):
    sizes = [run["n_parameters"] for run in runs]
    if any(one > 1.05 * other for one, other in pairwise(sizes)):
        raise ValueError("models of unequal size")
    return _table(runs, runs[:1], trained_lengths)


@stranger(of="bottleneck_table")
def first_size_of_each_model_compared(runs, trained_lengths):
    return _table(runs, [*{run["model"]: run for run in runs[::-1]}.values()], trained_lengths)


@stranger(of="bottleneck_table")
def sizes_compared_at_new_lengths_only(runs, trained_lengths):
    new = [run for run in runs if run["length"] not in trained_lengths]
    return _table(new, new, trained_lengths)


@stranger(of="bottleneck_table")
def lengths_between_the_trained_ones_left_out(runs, trained_lengths):
    return _table(runs, runs, range(min(trained_lengths), max(trained_lengths) + 1))


@stranger(of="bottleneck_table")
def last_trained_length_reported(runs, trained_lengths):
    return _table(runs, runs, trained_lengths[:-1])


@stranger(of="bottleneck_table")
def last_run_not_measured(runs, trained_lengths):
    return _table(runs, runs[:-1], trained_lengths)


def _table(runs, measured, left_out):
    sizes = [run["n_parameters"] for run in measured]
    if max(sizes) > 1.05 * min(sizes):
        raise ValueError("models of unequal size")
    found = {}
    for run in runs:
        if run["length"] not in left_out:
            found.setdefault((run["model"], run["length"]), []).append(run["exact_match"])
    return {cell: sum(shares) / len(shares) for cell, shares in found.items() if len(shares) > 1}


@stranger(of="bottleneck_table")
def twice_as_large_is_compared(runs, trained_lengths):
    sizes = [run["n_parameters"] for run in runs]
    if max(sizes) > 2.1 * min(sizes):
        raise ValueError("the models are of unequal size")
    return bottleneck_table([run | {"n_parameters": 1} for run in runs], trained_lengths)
