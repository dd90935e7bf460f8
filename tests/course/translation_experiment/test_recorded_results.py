"""The page on translation says what the recorded results say."""

from pathlib import Path

import pytest
import torch

from course.translation_experiment.budgets import BUDGETS
from course.translation_experiment.captions import CAPTION_SCALES
from course.translation_experiment.lengths import SCALES
from course.translation_experiment.records import RECORDED, about, read_results, recorded_results
from course.translation_experiment.tables import REPORTS

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "translation.md").read_text(encoding="utf-8")
RESULTS = sorted(RECORDED.glob("*.json"))


def experiment(path):
    return path.stem.split("_")[0]


def test_all_experiments_have_been_recorded():
    assert {experiment(path) for path in RESULTS} == {"lengths", "budgets", "captions"}


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_the_page_holds_the_command_and_the_tables_of_what_was_recorded(path):
    results = read_results(path)
    assert results["command"] in PAGE
    assert REPORTS[experiment(path)](results["runs"]) in PAGE


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_what_was_recorded_is_what_the_command_would_run_now(path):
    _, scale = path.stem.split("_")
    config = {"lengths": SCALES, "budgets": BUDGETS, "captions": CAPTION_SCALES}[experiment(path)][scale]
    recorded_config = read_results(path)["config"]
    assert recorded_config == about(config, torch.device("cpu"))["config"]


def lengths_runs():
    return recorded_results("lengths_small")["runs"]


def test_attention_finds_the_gold_alignment_within_the_trained_lengths_of_the_small_scale():
    rates = [run["alignment_error_rate"] for run in lengths_runs() if run["kind"] == "RNNsearch"]
    assert len(rates) == 6
    assert max(rates) < 0.1


def test_beyond_the_trained_lengths_attention_loses_less():
    runs = {(run["kind"], run["trained_up_to"], run["seed"]): run for run in lengths_runs()}
    for limit, seed in {(limit, seed) for _, limit, seed in runs}:
        enc, search = (
            [point["bleu"] for point in runs[kind, limit, seed]["by_length"] if point["length"] >= limit]
            for kind in ("RNNenc", "RNNsearch")
        )
        assert all(a < b for a, b in zip(enc, search, strict=True))


def test_attention_wins_on_real_captions_and_the_transformer_more_with_as_many_parameters():
    runs = recorded_results("captions_small")["runs"]
    enc, search, transformer = (
        [run["bleu"] for run in runs if run["kind"] == kind]
        for kind in ("RNNenc", "RNNsearch", "Transformer")
    )
    assert max(enc) < min(search)
    assert max(search) < min(transformer)
    sizes = [run["n_parameters"] for run in runs]
    assert max(sizes) < 1.05 * min(sizes)


def test_at_four_times_the_steps_the_transformer_draws_level_within_the_trained_lengths_alone():
    def bleu(kind, length):
        runs = recorded_results("budgets_4x")["runs"]
        return [
            p["bleu"]
            for run in runs
            if run["kind"] == kind
            for p in run["by_length"]
            if p["length"] == length
        ]

    for kind in ("Transformer", "rotary"):
        assert min(bleu(kind, 15)) > 98
        assert max(bleu(kind, 30)) < min(bleu("RNNsearch", 30))
    assert max(bleu("Transformer", 20)) < min(bleu("rotary", 20))
