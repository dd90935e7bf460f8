"""Recurrent and Transformer on the same batches, at the scale of a second."""

from dataclasses import replace

import pytest
import torch

from course.models import Seq2Seq, Translator
from course.translation_experiment.budgets import (
    BUDGETS,
    POSITIONED,
    BudgetsConfig,
    budgets_model,
    run_budgets,
)
from course.translation_experiment.lengths import lengths_data
from course.translation_experiment.tables import budgets_table, with_range
from course.translation_experiment.translator_sizes import n_parameters

CONFIG = BudgetsConfig(
    trained_up_to=(6,),
    measured=(5, 8),
    n_pairs=60,
    n_test_pairs=4,
    n_steps=6,
    batch_size=5,
    d_embedding=4,
    d_hidden=6,
    d_model=8,
    d_ff=12,
)


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    return tmp_path_factory.mktemp("checkpoints")


@pytest.fixture(scope="module")
def runs(checkpoints):
    records = []
    run_budgets(CONFIG, POSITIONED, [0, 1], torch.device("cpu"), checkpoints, records.append)
    return records


def test_every_kind_is_trained_with_every_seed_and_measured_at_every_length(runs):
    assert [(run["kind"], run["seed"]) for run in runs] == [
        (kind, seed) for seed in (0, 1) for kind in POSITIONED
    ]
    assert {tuple(point["length"] for point in run["by_length"]) for run in runs} == {(5, 8)}
    assert all(run["n_steps"] == 6 and run["cpu_milliseconds_per_step"] > 0 for run in runs)


def test_a_run_that_is_asked_for_again_has_the_record_that_it_had(runs, checkpoints):
    again = []
    run_budgets(CONFIG, POSITIONED, [0], torch.device("cpu"), checkpoints, again.append)
    assert again == [run for run in runs if run["seed"] == 0]


def test_the_table_has_a_row_for_each_model_over_its_seeds(runs):
    header, _, *rows = budgets_table(runs).splitlines()
    assert header.endswith("| BLEU 5 | BLEU 8 |")
    assert [row.split(" | ")[1] for row in rows] == ["2", "2", "2"]


@pytest.mark.parametrize(
    ("values", "told"), [([97.2, 95.4, 98.3], "97 (95–98)"), ([100.0, 99.9], "100"), ([3.0], "3")]
)
def test_a_mean_is_told_with_the_lowest_and_the_highest(values, told):
    assert with_range(values) == told


def test_budgets_differ_in_nothing_but_their_steps():
    first = BUDGETS["1x"]
    for name, times in (("1x", 1), ("4x", 4), ("16x", 16)):
        assert BUDGETS[name] == replace(first, n_steps=times * first.n_steps)


@pytest.mark.parametrize("name", ["1x", "paper"])
def test_the_three_have_about_as_many_parameters(name):
    config = BUDGETS[name]
    data = lengths_data(BudgetsConfig(n_pairs=10, n_test_pairs=1, measured=(5,)), 15, seed=0)
    models = {kind: budgets_model(kind, config, data) for kind in POSITIONED}
    sizes = {kind: n_parameters(model) for kind, model in models.items()}
    assert max(sizes.values()) < 1.1 * min(sizes.values())
    assert isinstance(models["RNNsearch"], Seq2Seq)
    assert isinstance(models["rotary"], Translator)
    assert models["rotary"].positions is None
    assert models["rotary"].encoder.layers[0].attention.has_rotation
    assert not models["rotary"].decoder.layers[0].cross_attention.has_rotation
    assert not models["Transformer"].encoder.layers[0].attention.has_rotation
