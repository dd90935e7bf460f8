"""The Shakespeare run: windows of a text, an exact validation loss, and a page made from the record."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from course import shakespeare
from course.data.windows import N_STEPS_DRAWN, RandomWindows
from course.evaluation import target_nll
from course.models import GPT, GPTConfig, RecurrentConfig, RecurrentLanguageModel
from course.shakespeare import (
    RECORDED,
    SAMPLED_AT,
    SETTINGS,
    main,
    page,
    read_recorded,
    run,
    validation_loss,
)
from course.training import Training, TrainingConfig, next_token_loss

TEXT = "Enter Romeo, and two or three others.\n" * 40


def test_targets_are_the_inputs_shifted_by_one_anywhere_in_the_text():
    batches = RandomWindows(torch.arange(50), 7, batch_size=64)
    inputs, targets = batches(3)
    assert inputs.shape == targets.shape == (64, 7)
    assert torch.equal(inputs + 1, targets)
    assert torch.equal(inputs, inputs[:, :1] + torch.arange(7))
    assert (inputs[:, 0].min(), inputs[:, 0].max()) == (0, 42)  # the first and the last place


def test_a_batch_is_a_function_of_its_step():
    one, other = (RandomWindows(torch.arange(90), 5, 4, seed=2) for _ in range(2))
    late = one(N_STEPS_DRAWN + 4)[0]
    assert torch.equal(one(4)[0], other(4)[0])
    assert torch.equal(late, other(N_STEPS_DRAWN + 4)[0])
    assert not torch.equal(late, one(4)[0])
    assert torch.equal(one.placed(torch.device("cpu"))(4)[0], one(4)[0])


def test_extremes_hold_the_smallest_and_the_largest_token_wherever_they_stand():
    text = torch.tensor([3, 3, 4, 3, 3, 3, 4, 3, 9, 1])
    inputs, targets = RandomWindows(text, 4, 2).extremes()
    seen = torch.cat([inputs.flatten(), targets.flatten()])
    assert (seen.min(), seen.max()) == (1, 9)


def test_a_text_shorter_than_a_window_is_refused():
    with pytest.raises(ValueError, match="more than 5 tokens, got 5"):
        RandomWindows(torch.arange(5), 5, 1)


def test_the_validation_loss_is_the_mean_over_all_characters_of_full_windows():
    torch.manual_seed(0)
    model = GPT(GPTConfig(9, 4, 8, 2, 1, initial_deviation=0.5))
    text = torch.randint(9, (31,))
    expected = torch.cat(
        [
            target_nll(model(text[None, t : t + 4]), text[None, t + 1 : t + 5])[0].detach()
            for t in range(0, 25, 4)
        ]
    )
    assert validation_loss(model, text, 4, batch_size=3) == pytest.approx(expected.mean().item(), rel=1e-6)


def test_no_step_reads_a_number_from_the_device():
    model, nowhere = GPT(GPTConfig(9, 4, 8, 2, 1)), torch.device("meta")
    training = Training(model, SETTINGS["smallest"].training, next_token_loss, nowhere)
    training.is_checked = True
    batches = RandomWindows(torch.arange(90) % 9, 4, 6).placed(nowhere)
    for step in range(3):
        training.take_step(batches(step))
    assert training.n_steps_taken == 3


def test_a_run_is_scored_on_the_way_and_sampled_three_times():
    found = run(SETTINGS["smallest"], TEXT, torch.device("cpu"))
    assert [step for step, _, _ in found.scores] == [1, 4, 20, 40]
    assert {len(sample) for sample in found.samples.values()} <= set(range(241))
    assert found.n_read == len(TEXT) * 9 // 10
    assert list(found.samples) == ["1", "4", "40"]
    assert found.best[1] == min(loss for _, loss, _ in found.scores)
    assert found.scores[-1][1] < found.scores[0][1]
    assert found.scores[-1][2] <= found.seconds


def quick(seed=0):
    """An RNN of 16 units for 30 steps."""
    training = TrainingConfig(30, 4e-3, seed=seed)
    return replace(SETTINGS["names"], training=training, d_model=16, context_length=12, batch_size=4)


def losses(setting, text):
    found = run(setting, text, torch.device("cpu"))
    return [loss for _, loss, _ in found.scores], found.samples


def test_an_rnn_runs_by_the_same_loop_and_repeats_with_its_seed():
    text = "ab\n" * 400
    (first, *_, last), _ = losses(quick(), text)
    assert last < first
    assert losses(quick(), text) == losses(quick(), text)
    assert losses(quick(), text) != losses(quick(seed=1), text)


def test_held_out_text_is_not_trained_on():
    text = "ab\n" * 400
    with_stranger = text + "z" * 130  # less than a tenth, so only in the part that is held out
    (*_, last), _ = losses(quick(), with_stranger)
    (*_, without), _ = losses(quick(), text)
    assert last > without + 0.7


def test_a_new_rnn_is_about_as_good_as_the_uniform_distribution():
    torch.manual_seed(0)
    model = RecurrentLanguageModel(RecurrentConfig(27, "rnn"))
    text = torch.randint(27, (500,), generator=torch.Generator().manual_seed(1))
    assert validation_loss(model, text, 64) == pytest.approx(torch.tensor(27.0).log().item(), abs=0.2)


def test_the_settings_are_the_published_ones():
    gpu, cpu = SETTINGS["gpu"], SETTINGS["cpu"]
    assert sum(p.numel() for p in gpu.model(65).parameters()) == pytest.approx(10.7e6, rel=0.02)
    assert (gpu.batch_size * gpu.context_length, gpu.training.n_steps) == (16_384, 5000)
    assert (cpu.batch_size * cpu.context_length, cpu.training.n_steps) == (768, 2000)
    for setting in (gpu, cpu):
        last = setting.training.learning_rate_at(setting.training.n_steps)
        assert (setting.training.learning_rate, last) == (1e-3, pytest.approx(1e-4))


def test_the_command_writes_the_record_and_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(shakespeare, "RECORDED", tmp_path / "record.json")
    monkeypatch.setitem(shakespeare.TEXTS, "shakespeare", lambda: TEXT)
    main(["--setting", "smallest", "--threads", "1", "--record", str(tmp_path)])
    assert "validation loss" in capsys.readouterr().out
    recorded = json.loads((tmp_path / "record.json").read_text())
    assert recorded["smallest"]["command"].startswith("python -m course.shakespeare --setting smallest")
    assert (tmp_path / "shakespeare.md").read_text() == page(recorded)


def test_a_setting_that_was_not_run_says_so():
    assert page({}).count("| not measured |") == 2


def test_the_documentation_shows_the_record_that_ships_with_the_course():
    docs = Path(__file__).parents[2] / "docs" / "shakespeare.md"
    assert docs.read_text() == page(json.loads(RECORDED.read_text()))


@pytest.mark.parametrize("name", ["names", "rnn", "cpu"])
def test_the_record_is_of_these_settings_and_each_model_learned(name):
    recorded = read_recorded()[name]
    setting = SETTINGS[name]
    theirs = recorded["setting"] | {"training": TrainingConfig(**recorded["setting"]["training"])}
    assert replace(setting, **theirs) == setting
    n_steps = setting.training.n_steps
    assert [int(step) / n_steps for step in recorded["samples"]] == list(SAMPLED_AT)
    found = [loss for _, loss, _ in recorded["scores"]]
    assert found == sorted(found, reverse=True)
    assert recorded["scores"][-1][0] == n_steps


def test_a_missing_record_is_empty(tmp_path):
    assert read_recorded(tmp_path / "none.json") == {}
