"""The experiment by length, at the scale of a second: what is drawn, recorded, continued after a stop."""

from dataclasses import replace

import pytest
import torch

from course.data.translation_pair import SentencePair
from course.translation_experiment import lengths
from course.translation_experiment.lengths import (
    LengthsConfig,
    lengths_data,
    n_crossings,
    run_lengths,
    train_and_measure,
)

CONFIG = LengthsConfig(
    trained_up_to=(6, 8),
    measured=(5, 8, 12),
    n_pairs=60,
    n_test_pairs=4,
    n_steps=6,
    batch_size=5,
    d_embedding=4,
    d_hidden=6,
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    records = []
    folder = tmp_path_factory.mktemp("checkpoints")
    run_lengths(CONFIG, ["RNNenc", "RNNsearch"], [0], torch.device("cpu"), folder, records.append)
    return {record["model"]: record for record in records}


def test_training_sentences_are_no_longer_than_the_limit():
    longest = max(len(pair.source) for pair in lengths_data(CONFIG, 8, seed=0).training)
    assert longest == 8


def test_test_sentences_have_exactly_the_lengths_asked_for_and_are_new():
    data = lengths_data(CONFIG, 8, seed=0)
    assert {n: {len(pair.source) for pair in some} for n, some in data.test.items()} == {
        5: {5},
        8: {8},
        12: {12},
    }
    known = {pair.source for pair in data.training}
    assert not any(pair.source in known for some in data.test.values() for pair in some)


def test_both_kinds_are_trained_on_both_limits(runs):
    assert list(runs) == ["RNNenc-6", "RNNsearch-6", "RNNenc-8", "RNNsearch-8"]


def test_only_models_with_attention_have_an_alignment_error(runs):
    with_error = [name for name, run in runs.items() if "alignment_error_rate" in run]
    assert with_error == ["RNNsearch-6", "RNNsearch-8"]


def test_the_alignment_error_counts_sentences_within_the_trained_lengths_only(runs):
    by_length = {point["length"]: point["alignment_error_rate"] for point in runs["RNNsearch-6"]["by_length"]}
    assert runs["RNNsearch-6"]["alignment_error_rate"] == by_length[5]


def test_every_length_is_measured_for_every_model(runs):
    assert {tuple(point["length"] for point in run["by_length"]) for run in runs.values()} == {(5, 8, 12)}


def test_training_sentences_are_measured_at_the_limit(runs):
    assert {name: run["of_training"]["length"] for name, run in runs.items()} == {
        "RNNenc-6": 6,
        "RNNsearch-6": 6,
        "RNNenc-8": 8,
        "RNNsearch-8": 8,
    }
    data = lengths_data(CONFIG, 8, seed=0)
    assert len(data.longest_of_training) == CONFIG.n_test_pairs
    assert {len(pair.source) for pair in data.longest_of_training} == {8}
    assert set(data.longest_of_training) <= set(data.training)


def test_the_example_map_has_a_row_for_each_target_word_that_sums_to_one(runs):
    example = runs["RNNsearch-8"]["example"]
    weights = torch.tensor(example["weights"])
    assert weights.shape == (len(example["target"]), len(example["source"]))
    assert torch.allclose(weights.sum(-1), torch.ones(len(weights)), atol=1e-2)


def test_an_interrupted_training_ends_where_an_uninterrupted_one_does(runs, tmp_path, monkeypatch):
    data = lengths_data(CONFIG, 8, seed=0)
    train = lengths.train

    def interrupted(model, batches, config, **options):
        def stop(step, _):
            if step == 4:
                raise KeyboardInterrupt

        return train(
            model, batches, replace(config, n_steps_between_checkpoints=2), after_step=stop, **options
        )

    def same_checkpoints(model, batches, config, **options):
        return train(model, batches, replace(config, n_steps_between_checkpoints=2), **options)

    monkeypatch.setattr(lengths, "train", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train_and_measure("RNNsearch", CONFIG, data, 0, torch.device("cpu"), tmp_path)
    monkeypatch.setattr(lengths, "train", same_checkpoints)
    record = train_and_measure("RNNsearch", CONFIG, data, 0, torch.device("cpu"), tmp_path)
    different = {"seconds_of_training", "cpu_milliseconds_per_step"}
    assert {key: record[key] for key in record.keys() - different} == {
        key: runs["RNNsearch-8"][key] for key in record.keys() - different
    }


def test_links_cross_where_an_adjective_changes_places():
    straight = SentencePair(("a", "cat", "."), ("un", "chat", "."), ((0, 0), (1, 1), (2, 2)))
    turned = SentencePair(("a", "black", "cat"), ("un", "chat", "noir"), ((0, 0), (1, 2), (2, 1)))
    both_to_one = SentencePair(("will", "sleep"), ("dormira",), ((0, 0), (1, 0)))
    assert [n_crossings(pair) for pair in (straight, turned, both_to_one)] == [0, 1, 0]
