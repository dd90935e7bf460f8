"""The experiment measures what it says; near and far behave as the course claims."""

import json

import pytest
import torch

from course.recall import recall_texts
from course.tickets import (
    KINDS,
    TicketsConfig,
    Trial,
    lines,
    main,
    mean_accuracy,
    network,
    page,
    reach,
    trial,
)

QUICK = TicketsConfig(distances=(2,), seeds=(0,), n_steps=120, n_test_texts=200)


@pytest.mark.parametrize("kind", KINDS)
def test_every_model_answers_at_every_position_of_its_distance(kind):
    model = network(kind, distance=7, seed=0)
    texts = recall_texts(7, 3, torch.Generator().manual_seed(0))
    log_probs = model(texts)
    assert log_probs.shape[:2] == (3, 8)
    torch.testing.assert_close(log_probs.exp().sum(-1), torch.ones(3, 8))


@pytest.mark.parametrize("kind", KINDS)
def test_every_model_learns_a_near_word(kind):
    assert trial(kind, 2, 0, QUICK).accuracy > 0.95


def test_over_a_longer_distance_the_rnn_fails_and_attention_does_not():
    assert trial("rnn", 30, 0, QUICK).accuracy < 0.4
    assert trial("attention", 30, 0, QUICK).accuracy > 0.9


def test_a_trial_repeats_with_its_seed():
    one, again, other = (trial("gru", 3, seed, QUICK) for seed in (0, 0, 1))
    assert one.accuracy == again.accuracy
    weights = [network("lstm", 3, seed).output.weight for seed in (0, 0, 1)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    assert other.seed == 1


def test_accuracies_are_averaged_over_seeds():
    done = [Trial("rnn", 5, 0, 0.5, 0.0), Trial("rnn", 5, 1, 1.0, 0.0), Trial("lstm", 5, 0, 0.25, 0.0)]
    assert mean_accuracy(done) == {"rnn": {5: 0.75}, "lstm": {5: 0.25}}


@pytest.mark.parametrize(
    ("accuracy", "expected"),
    [({2: 1.0, 4: 0.95, 8: 0.2, 16: 1.0}, 4), ({2: 0.5, 4: 1.0}, 0), ({4: 1.0, 2: 1.0}, 4)],
)
def test_reach_ends_at_the_first_failure(accuracy, expected):
    assert reach(accuracy) == expected


def test_the_table_has_a_line_per_model():
    assert lines({"rnn": {2: 1.0, 4: 0.25}}) == [["model", "2", "4", "reach"], ["RNN", "1.00", "0.25", "2"]]


def test_unknown_models_are_refused():
    with pytest.raises(ValueError, match="kinds: expected some of rnn, gru, lstm, attention, got gpt"):
        TicketsConfig(kinds=("gpt", "rnn"))


def test_the_command_prints_draws_and_records(tmp_path, capsys):
    words = [
        "--kinds",
        "rnn",
        "--distances",
        "1",
        "2",
        "--seeds",
        "0",
        "--steps",
        "5",
        "--record",
        str(tmp_path),
    ]
    main(words)
    assert "RNN" in capsys.readouterr().out
    recorded = json.loads((tmp_path / "tickets" / "tickets.json").read_text())
    assert [each["distance"] for each in recorded["trials"]] == [1, 2]
    assert (tmp_path / "tickets" / "tickets.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "tickets.md").read_text() == page(recorded)
