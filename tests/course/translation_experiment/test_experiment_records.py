"""A file of results grows while an experiment runs, and never mixes two experiments."""

from dataclasses import dataclass

import pytest
import torch

from course.translation_experiment.records import ResultsFile, about, checkpoint_path, read_results


@dataclass(frozen=True)
class Config:
    measured: tuple[int, ...] = (5, 10)


def names(runs):
    """Stands for the command that repeats these runs."""
    return " ".join(run["model"] for run in runs)


@pytest.fixture
def results(tmp_path):
    return ResultsFile(tmp_path / "new" / "results.json", about(Config(), torch.device("cpu")), names)


def models(results):
    return [(run["model"], run["seed"], run["bleu"]) for run in read_results(results.path)["runs"]]


def test_records_of_other_models_are_kept(results):
    results.add({"model": "b", "seed": 0, "bleu": 1.0})
    results.add({"model": "a", "seed": 0, "bleu": 2.0})
    assert models(results) == [("a", 0, 2.0), ("b", 0, 1.0)]
    assert read_results(results.path)["command"] == "a b"  # of all records, not of the last


def test_a_model_trained_again_replaces_its_older_record(results):
    results.add({"model": "a", "seed": 0, "bleu": 1.0})
    results.add({"model": "a", "seed": 1, "bleu": 2.0})
    results.add({"model": "a", "seed": 0, "bleu": 3.0})
    assert models(results) == [("a", 0, 3.0), ("a", 1, 2.0)]


def test_records_of_another_configuration_do_not_stay(results):
    results.add({"model": "a", "seed": 0, "bleu": 1.0})
    other = ResultsFile(results.path, about(Config((5,)), torch.device("cpu")), names)
    other.add({"model": "b", "seed": 0, "bleu": 2.0})
    assert models(results) == [("b", 0, 2.0)]


def test_another_configuration_never_goes_on_from_an_old_checkpoint(tmp_path):
    paths = {checkpoint_path(tmp_path, "a", seed, Config((n,))) for seed in (0, 1) for n in (5, 10)}
    assert len(paths) == 4
