"""Every trained result that the course records has three seeds, but for the exceptions that stand here.

The exceptions are exact: a seed that is recorded later is to be taken out of them, and out of the texts that
say how many there are.
"""

from collections import defaultdict

from course import tickets
from course.ladder.records import read_recorded
from course.translation_experiment.records import RECORDED, read_results

THREE = {0, 1, 2}
FEWER = {
    ("lengths_full", "RNNenc-30"): {0},
    ("lengths_full", "RNNenc-50"): {0},
    ("lengths_full", "RNNsearch-30"): {0},
    ("lengths_full", "RNNsearch-50"): {0},
}


def recorded_seeds():
    """(record, model) → the seeds with which it was trained."""
    seeds = defaultdict(set)
    for path in RECORDED.glob("*.json"):
        for run in read_results(path)["runs"]:
            seeds[path.stem, run["model"]].add(run["seed"])
    for each in tickets.read_recorded():
        seeds["tickets", f"{each.kind} over {each.distance} words"].add(each.seed)
    for each in read_recorded():
        seeds["ladder", each.rung].add(each.seed)
    return dict(seeds)


def test_every_record_has_three_seeds_but_for_the_exceptions():
    seeds = recorded_seeds()
    assert {record for record, _ in seeds} > {"tickets", "ladder", "budgets_1x", "budgets_4x", "budgets_16x"}
    assert {key: some for key, some in seeds.items() if some != THREE} == FEWER
