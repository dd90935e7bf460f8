"""What is drawn and tabulated is what was recorded."""

import pytest

from course.translation_experiment.pictures import bleu_by_steps, map_beside_gold, quality_against_length
from course.translation_experiment.tables import in_words, lengths_report, lengths_table, models_table


def run(kind, limit, seed, bleu):
    points = [
        {"length": n, "bleu": bleu - n, "token_accuracy": 0.5, "exact_match": 0.25} for n in (10, 20, 30)
    ]
    record = {
        "model": f"{kind}-{limit}",
        "kind": kind,
        "trained_up_to": limit,
        "seed": seed,
        "by_length": points,
    }
    record |= {"n_parameters": 12345, "n_steps": 1000, "seconds_of_training": 20.0, "final_loss": 0.1}
    return record | ({"alignment_error_rate": 0.031} if kind == "RNNsearch" else {})


RUNS = [run(kind, limit, 0, 90.0) for kind in ("RNNsearch", "RNNenc") for limit in (15, 25)]


@pytest.fixture
def panels():
    return quality_against_length([*RUNS, run("RNNenc", 15, 1, 70.0)]).axes


def curves(panel):
    return {curve.get_label(): curve[0] for curve in panel.containers}


def test_no_two_models_look_alike_even_without_colour(panels):
    looks = {(line.get_marker(), line.get_linestyle()) for line in curves(panels[0]).values()}
    assert len(looks) == 4


def test_seeds_of_one_model_are_averaged(panels):
    line = curves(panels[0])["RNNenc-15"]
    assert list(line.get_xdata()) == [10, 20, 30]
    assert list(line.get_ydata()) == [70, 60, 50]


def test_the_trained_lengths_are_marked(panels):
    marks = [line.get_xdata()[0] for line in panels[1].lines if line.get_linestyle() == ":"]
    assert marks == [15, 25]


def test_the_gold_alignment_stands_beside_the_weights():
    example = {
        "source": ["black", "cats"],
        "target": ["chats", "noirs", "."],
        "gold": [[1, 0], [0, 1]],
        "weights": [[0.1, 0.9], [0.8, 0.2], [0.5, 0.5]],
    }
    weights, gold = (axes.images[0].get_array().tolist() for axes in map_beside_gold(example).axes[:2])
    assert weights == example["weights"]
    assert gold == [[0, 1], [1, 0], [0, 0]]


def test_a_table_row_holds_one_model_by_length():
    header, _, first, *_ = lengths_table(RUNS, "exact_match", 100).splitlines()
    assert header == "| model | 10 | 20 | 30 |"
    assert first == "| RNNenc-15 | 25 | 25 | 25 |"


def test_a_table_gives_the_range_over_the_seeds():
    *_, row = lengths_table([run("RNNenc", 15, 0, 90.0), run("RNNenc", 15, 1, 70.0)]).splitlines()
    assert row == "| RNNenc-15 | 70 (60–80) | 60 (50–70) | 50 (40–60) |"


def test_a_picture_in_words_has_the_same_numbers():
    runs = [run("RNNenc", 15, 0, 90.0), run("RNNenc", 15, 1, 70.0), run("RNNsearch", 25, 0, 80.0)]
    assert in_words(runs) == "RNNenc-15 70 (60–80), 60 (50–70), 50 (40–60); RNNsearch-25 70, 60, 50"


def test_quality_on_training_sentences_stands_beside_that_on_new_ones_where_it_was_measured():
    known = {"of_training": {"length": 20, "bleu": 99.0, "exact_match": 0.5}}
    runs = [run("RNNenc", 20, 0, 90.0) | known]
    assert lengths_report(runs).splitlines()[-1] == "| RNNenc-20 | 20 | 99 | 70 | 50 | 25 |"
    assert "training sentences" not in lengths_report(RUNS)


def test_a_model_without_attention_has_a_dash_for_its_alignment_error():
    rows = models_table(RUNS).splitlines()[2:]
    assert [row.split(" | ")[-1] for row in rows] == ["– |", "– |", "3.1 |", "3.1 |"]


def test_bars_go_from_the_lowest_seed_to_the_highest():
    runs = [run("RNNsearch", 15, seed, first) for seed, first in enumerate((90.0, 60.0, 75.0))]
    [panel] = bleu_by_steps([runs]).axes
    [(line, _, (bars,))] = panel.containers
    assert line.get_ydata()[0] == 65
    assert [tuple(end) for end in bars.get_segments()[0]] == [(10, 50), (10, 80)]
    assert panel.get_title() == "1,000 steps"
