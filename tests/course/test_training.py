"""The loop descends, repeats itself bit for bit, and goes on from a checkpoint as if nothing had happened."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course.training import (
    History,
    Training,
    TrainingConfig,
    TrainingDiverged,
    adamw,
    next_token_loss,
    train,
)

CONFIG = TrainingConfig(n_steps=12, learning_rate=0.02, n_warmup_steps=3, seed=5)


class Tiny(nn.Module):
    """A bigram network with dropout, so that the random state matters."""

    vocab_size, context_length = 7, None

    def __init__(self):
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.table = nn.Parameter(torch.randn(7, 6, generator=generator))
        self.out = nn.Linear(6, 7)
        nn.init.constant_(self.out.weight, 0.1)
        nn.init.zeros_(self.out.bias)

    def forward(self, tokens):
        return self.out(F.dropout(self.table[tokens], 0.3, self.training)).log_softmax(-1)


def batches(step):
    """The next token is the last one plus one, modulo 7."""
    tokens = torch.randint(0, 7, (4, 1), generator=torch.Generator().manual_seed(step)) + torch.arange(10)
    return tokens[:, :-1] % 7, tokens[:, 1:] % 7


def weights(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def test_the_loss_falls_far_below_guessing():
    model = Tiny()
    history = train(model, batches, replace(CONFIG, n_steps=150, learning_rate=0.05), device="cpu")
    assert history.losses[0] > 1.5
    model.eval()
    assert next_token_loss(model, batches(999)).item() < 0.1
    assert len(history.losses) == len(history.gradient_norms) == history.n_steps == 150


def test_two_runs_agree_bit_for_bit_whatever_happened_before():
    one, other = Tiny(), Tiny()
    first = train(one, batches, CONFIG, device="cpu")
    torch.manual_seed(123)
    torch.rand(17)
    second = train(other, batches, CONFIG, device="cpu")
    assert first.losses == second.losses
    assert torch.equal(weights(one), weights(other))


def test_the_seed_of_dropout_matters():
    one, other = Tiny(), Tiny()
    train(one, batches, CONFIG, device="cpu")
    train(other, batches, replace(CONFIG, seed=6), device="cpu")
    assert not torch.equal(weights(one), weights(other))


def test_training_leaves_the_global_random_state_alone():
    model = Tiny()
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    train(model, batches, CONFIG, device="cpu")
    assert torch.equal(torch.rand(2), expected)


def test_an_interrupted_run_goes_on_bit_for_bit(tmp_path):
    config = replace(CONFIG, n_steps_between_checkpoints=5)
    uninterrupted, interrupted = Tiny(), Tiny()
    whole = train(uninterrupted, batches, config, device="cpu")

    def stop_after_seven(n_steps_done, model):
        if n_steps_done == 7:
            raise KeyboardInterrupt

    path = tmp_path / "deep" / "run.pt"
    with pytest.raises(KeyboardInterrupt):
        train(interrupted, batches, config, device="cpu", checkpoint=path, after_step=stop_after_seven)
    asked = []

    def recording(step):
        asked.append(step)
        return batches(step)

    fresh = Tiny()
    resumed = train(fresh, recording, config, device="cpu", checkpoint=path)
    assert asked == list(range(5, 12))
    assert resumed.losses == whole.losses
    assert resumed.gradient_norms == whole.gradient_norms
    assert torch.equal(weights(fresh), weights(uninterrupted))


def test_a_finished_run_is_not_repeated(tmp_path):
    first, second = Tiny(), Tiny()
    train(first, batches, CONFIG, device="cpu", checkpoint=tmp_path / "run.pt")

    def never(step):
        raise AssertionError(step)

    history = train(second, never, CONFIG, device="cpu", checkpoint=tmp_path / "run.pt")
    assert history.n_steps == 12
    assert torch.equal(weights(first), weights(second))


def test_a_checkpoint_of_another_configuration_is_refused(tmp_path):
    train(Tiny(), batches, CONFIG, device="cpu", checkpoint=tmp_path / "run.pt")
    with pytest.raises(ValueError, match=r"learning_rate: 0.02, now 0.5"):
        train(
            Tiny(), batches, replace(CONFIG, learning_rate=0.5), device="cpu", checkpoint=tmp_path / "run.pt"
        )


def test_the_schedule_warms_up_and_ends_at_its_final_share():
    config = TrainingConfig(n_steps=100, learning_rate=2.0, n_warmup_steps=4, final_learning_rate=0.1)
    rates = [config.learning_rate_at(step) for step in range(101)]
    assert rates[:5] == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.0])
    assert rates[100] == pytest.approx(0.2)
    assert rates[52] == pytest.approx((2.0 + 0.2) / 2)
    assert all(later <= earlier for earlier, later in pairwise(rates[4:]))


def test_steps_are_those_of_adamw_with_the_scheduled_rate_and_clipped_gradients():
    config = replace(CONFIG, n_steps=4, clip_norm=0.05, weight_decay=0.3)
    model, theirs = Tiny(), Tiny()
    model.forward = lambda tokens: model.out(model.table[tokens]).log_softmax(-1)
    history = train(model, batches, config, device="cpu")
    optimizer = torch.optim.AdamW(
        [
            {"params": [theirs.table, theirs.out.weight], "weight_decay": 0.3},
            {"params": [theirs.out.bias], "weight_decay": 0.0},
        ],
        betas=(0.9, config.beta2),
    )
    for step in range(4):
        inputs, targets = batches(step)
        loss = F.cross_entropy(theirs.out(theirs.table[inputs]).flatten(0, 1), targets.flatten())
        gradients = torch.autograd.grad(loss, list(theirs.parameters()))
        norm = math.sqrt(sum(float((g**2).sum()) for g in gradients))
        assert history.gradient_norms[step] == pytest.approx(norm, rel=1e-4)
        for parameter, gradient in zip(theirs.parameters(), gradients, strict=True):
            parameter.grad = gradient * min(1, 0.05 / norm)
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate_at(step)
        optimizer.step()
    torch.testing.assert_close(weights(model), weights(theirs), atol=1e-5, rtol=1e-4)


def test_padding_has_no_say_in_the_loss():
    model = Tiny().eval()
    inputs, targets = batches(0)
    mask = torch.arange(9) < torch.tensor([[9], [4], [1], [6]])
    expected = F.cross_entropy(model(inputs)[mask], targets[mask])
    assert next_token_loss(model, (inputs, targets, mask)).item() == pytest.approx(expected.item(), rel=1e-6)
    changed = torch.where(mask, targets, 3)
    assert next_token_loss(model, (inputs, changed, mask)) == next_token_loss(model, (inputs, targets, mask))


def test_a_loss_that_is_no_number_stops_the_run_at_its_step():
    def broken(model, example):
        return model(example[0]).mean() * math.nan

    with pytest.raises(TrainingDiverged, match="expected a finite number, got nan at step 0"):
        train(Tiny(), batches, CONFIG, loss=broken, device="cpu")


def steps_read_late(n_steps, reads_every, loss=next_token_loss):
    """Steps on the CPU whose losses are read as seldom as on a GPU."""
    training = Training(Tiny(), CONFIG, loss, torch.device("cpu"))
    training.reads_every = reads_every
    with torch.random.fork_rng():
        torch.manual_seed(CONFIG.seed)
        training.model.train()
        for step in range(n_steps):
            training.take_step(batches(step))
    return training


def test_a_history_that_is_read_late_is_the_same_history():
    expected = train(Tiny(), batches, CONFIG, device="cpu")
    training = steps_read_late(CONFIG.n_steps, reads_every=5)
    assert training.history.n_steps == 10
    training.read()
    assert training.history.losses == expected.losses
    assert training.history.gradient_norms == expected.gradient_norms


def test_a_checkpoint_holds_what_was_not_read_yet(tmp_path):
    training = steps_read_late(4, reads_every=5)
    training.save(tmp_path / "run.pt")
    assert len(torch.load(tmp_path / "run.pt")["history"]["losses"]) == 4


def test_a_loss_that_is_no_number_is_reported_with_its_own_step_however_late_it_is_read():
    calls = iter(range(100))

    def broken_at_the_seventh(model, example):
        return next_token_loss(model, example) * (math.nan if next(calls) == 6 else 1)

    with pytest.raises(TrainingDiverged, match="got nan at step 6"):
        steps_read_late(12, reads_every=5, loss=broken_at_the_seventh)


def test_a_loss_that_is_no_number_moves_no_parameter_where_reading_it_is_free():
    model = Tiny()
    before = weights(model)
    with pytest.raises(TrainingDiverged):
        train(model, batches, CONFIG, loss=lambda model, _: model.table.mean() * math.nan, device="cpu")
    assert torch.equal(weights(model), before)


def test_any_loss_and_any_batch_will_do():
    model = nn.Linear(3, 1)
    target = torch.tensor([[1.0, -2.0, 0.5]])

    def squares(model, example):
        return (model(example[0]) - example[0] @ target.T).square().mean()

    def points(step):
        return (torch.randn(16, 3, generator=torch.Generator().manual_seed(step)),)

    train(model, points, TrainingConfig(n_steps=300, learning_rate=0.05), loss=squares, device="cpu")
    torch.testing.assert_close(model.weight.detach(), target, atol=0.05, rtol=0)


def test_frozen_parameters_stay():
    model = Tiny()
    model.table.requires_grad_(False)
    before = model.table.clone()
    train(model, batches, CONFIG, device="cpu")
    assert torch.equal(model.table, before)
    assert len(adamw(model, CONFIG).param_groups[0]["params"]) == 1


def test_the_progress_bar_counts_the_steps(capsys):
    train(Tiny(), batches, CONFIG, device="cpu", has_progress_bar=True)
    assert "12/12" in capsys.readouterr().err


@pytest.mark.parametrize("knob", ["n_steps", "learning_rate", "clip_norm"])
def test_knobs_that_stop_training_are_refused(knob):
    with pytest.raises(ValueError, match=f"{knob}: expected more than 0, got 0"):
        TrainingConfig(**{knob: 0})


def test_a_history_begins_empty_and_is_nobody_elses():
    one, other = History(), History()
    one.losses.append(1.0)
    assert other.losses == []
