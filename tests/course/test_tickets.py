"""The experiment measures what it says; near and far behave as the course claims."""

import json
from dataclasses import replace

import pytest
import torch

from course import tickets
from course.recall import recall_texts
from course.tickets import (
    KINDS,
    TicketsConfig,
    Trial,
    accuracies,
    cell,
    keep,
    lines,
    main,
    network,
    page,
    reach,
    read_recorded,
    share_that_arrives,
    trial,
    with_recorded,
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


def test_an_lstm_begins_with_the_forget_bias_of_its_name():
    for kind, bias in (("lstm", 1.0), ("lstm_3", 3.0)):
        biases = network(kind, 5, seed=0).network.cells[0].b.chunk(4)
        assert [(part == bias).all().item() for part in biases] == [False, True, False, False]


def test_an_orthogonal_start_changes_no_length_and_nothing_else():
    plain, orthogonal = (network(kind, 5, seed=1).state_dict() for kind in ("rnn", "rnn_orthogonal"))
    differing = [name for name, weight in plain.items() if not torch.equal(weight, orthogonal[name])]
    assert differing == ["network.cells.0.U"]
    U = orthogonal["network.cells.0.U"]
    torch.testing.assert_close(U @ U.T, torch.eye(len(U)))


def test_the_share_that_arrives_is_that_of_finite_differences():
    model, distance, step = network("gru", 3, seed=0).double(), 3, 1e-5
    texts = recall_texts(distance, 64, torch.Generator().manual_seed(0))
    rows = model.embedding.weight[texts].detach()  # (B, T, d)

    def losses(x):  # of each text; they do not depend on one another
        log_probs = model.output(model.network(x)[0])[:, -1].log_softmax(-1)
        return -log_probs.gather(-1, texts[:, :1])[:, 0].detach()

    def slopes(place):
        found = torch.zeros_like(rows[:, place])
        for number in range(rows.shape[-1]):
            nudge = torch.zeros_like(rows)
            nudge[:, place, number] = step
            found[:, number] = (losses(rows + nudge) - losses(rows - nudge)) / (2 * step)
        return found.norm()

    expected = slopes(0) / slopes(distance)
    assert share_that_arrives(model, distance) == pytest.approx(expected.item(), rel=1e-4)


def test_accuracies_are_collected_over_seeds():
    scores = (("rnn", 0.5), ("rnn", 1.0), ("lstm", 0.25))
    done = [Trial(kind, 5, seed, accuracy, None, 0.0) for seed, (kind, accuracy) in enumerate(scores)]
    assert accuracies(done) == {"rnn": {5: [0.5, 1.0]}, "lstm": {5: [0.25]}}


@pytest.mark.parametrize(
    ("accuracy", "expected"),
    [
        ({2: [1.0], 4: [0.95], 8: [0.2], 16: [1.0]}, 4),
        ({2: [0.5], 4: [1.0]}, 0),
        ({4: [1.0, 0.9], 2: [1.0]}, 4),
    ],
)
def test_reach_ends_at_the_first_failure(accuracy, expected):
    assert reach(accuracy) == expected


def test_a_spread_is_told_where_seeds_differ():
    assert cell([1.0, 0.98]) == "0.99"
    assert cell([1.0, 0.125, 1.0]) == "0.71 (0.12–1.00)"


def test_the_table_has_a_line_per_model():
    found = {"rnn": {2: [1.0], 4: [0.25]}}
    assert lines(found) == [["model", "2", "4", "reach"], ["RNN", "1.00", "0.25", "2"]]


def test_the_record_has_every_model_with_three_seeds_and_a_page_of_its_own():
    recorded = json.loads(tickets.RECORDED.read_text())
    tried = {kind: {each.seed for each in read_recorded() if each.kind == kind} for kind in KINDS}
    assert all(len(seeds) >= 3 for seeds in tried.values())
    docs = tickets.RECORDED.parents[1] / "docs"
    assert (docs / "tickets.md").read_text() == page(recorded)


def test_new_trials_join_the_record_of_the_same_training(tmp_path, monkeypatch):
    monkeypatch.setattr(tickets, "RECORDED", tmp_path / "tickets.json")
    config = TicketsConfig(kinds=("gru",), distances=(2, 4), seeds=(0,))

    def kept(kind, accuracy, config):
        done = [Trial(kind, distance, 0, accuracy, None, 0.0) for distance in config.distances]
        keep(*with_recorded(done, config), tmp_path)
        recorded = json.loads(tickets.RECORDED.read_text())
        return recorded["command"], [(each["kind"], each["accuracy"]) for each in recorded["trials"]]

    assert kept("gru", 0.5, config)[1] == [("gru", 0.5)] * 2
    command, together = kept("rnn", 0.25, replace(config, kinds=("rnn",)))
    assert together == [("rnn", 0.25)] * 2 + [("gru", 0.5)] * 2
    assert command == "python -m course.tickets --kinds rnn gru --distances 2 4 --seeds 0 --record docs"
    assert kept("gru", 0.75, config)[1] == [("rnn", 0.25)] * 2 + [("gru", 0.75)] * 2
    assert kept("gru", 1.0, replace(config, n_steps=7))[1] == [("gru", 1.0)] * 2  # another training


def test_unknown_models_are_refused():
    with pytest.raises(ValueError, match=r"kinds: expected some of rnn, .*attention, got gpt"):
        TicketsConfig(kinds=("gpt", "rnn"))


def test_the_command_prints_draws_and_records(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(tickets, "RECORDED", tmp_path / "tickets.json")
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
    recorded = json.loads((tmp_path / "tickets.json").read_text())
    assert [each["distance"] for each in recorded["trials"]] == [1, 2]
    assert (tmp_path / "tickets" / "tickets.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "tickets.md").read_text() == page(recorded)
