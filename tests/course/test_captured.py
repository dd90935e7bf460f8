"""A small model's step is recorded once for each shape and replayed: the bookkeeping, tried without a GPU."""

from dataclasses import replace

import pytest
import torch

from course import captured
from course.captured import CapturedStep, Recording, is_worth_capturing
from course.data.shuffling import ShuffledStories
from course.data.vocabulary import pad_sequences
from course.models import GPT, GPTConfig, RecurrentConfig, RecurrentLanguageModel
from course.training import Training, TrainingConfig, next_token_loss, train

needs_cuda = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="records CUDA graphs: needs an NVIDIA GPU"
)


class Replayer:
    """Records as CUDA does: a replay runs the same lines on the tensors of the recording."""

    def __init__(self, n_numbers=1, can_record=True):
        self.n_numbers, self.can_record, self.did = n_numbers, can_record, []

    def run(self, step, example):
        self.did.append("run")
        return step(example), self.can_record

    def record(self, step, example):
        self.did.append("record")
        kept = tuple(part.clone() for part in example)
        numbers = tuple(torch.zeros(()) for _ in range(self.n_numbers))

        def replay():
            self.did.append("replay")
            for place, number in zip(numbers, step(kept), strict=True):
                place.copy_(number)

        return Recording(kept, numbers, replay)


def counted():
    """A step that adds its batch's sum to a total, and returns the total."""
    total = torch.zeros(())

    def step(example):
        total.add_(example[0].sum())
        return (total.clone(),)

    return step


def batch(*numbers):
    return (torch.tensor(numbers, dtype=torch.float32),)


def test_steps_of_a_shape_are_run_twice_then_recorded_once_and_replayed():
    recorder = Replayer()
    step = CapturedStep(counted(), recorder)
    totals = [step(batch(number, 0.5))[0].item() for number in (1, 2, 3, 4)]
    assert recorder.did == ["run", "run", "record", "replay", "replay"]
    assert totals == [1.5, 4, 7.5, 12]


def test_numbers_of_a_step_survive_the_next_one():
    step = CapturedStep(counted(), Replayer())
    totals = [step(batch(1.0))[0] for _ in range(5)]
    assert [total.item() for total in totals] == [1, 2, 3, 4, 5]


def test_each_shape_and_type_of_batch_has_its_own_recording():
    recorder = Replayer()
    step = CapturedStep(counted(), recorder)
    for _ in range(3):
        step(batch(1.0))
        step(batch(1.0, 2.0))
        step((torch.tensor([1, 2]),))
    assert recorder.did.count("record") == 3


def test_a_step_that_reads_from_the_gpu_is_never_recorded():
    recorder = Replayer(can_record=False)
    step = CapturedStep(counted(), recorder)
    totals = [step(batch(1.0))[0].item() for _ in range(5)]
    assert "record" not in recorder.did
    assert totals == [1, 2, 3, 4, 5]


def test_rare_shapes_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(captured, "MOST_GRAPHS", 2)
    recorder = Replayer()
    step = CapturedStep(counted(), recorder)
    for n_numbers in (1, 2, 3, 4):
        for _ in range(3):
            step(batch(*[1.0] * n_numbers))
    assert recorder.did.count("record") == 2


USUAL = {"precision": torch.float32, "is_compiled": False, "n_processes": 1}


@pytest.mark.parametrize(
    ("device_type", "n_parameters", "otherwise", "expected"),
    [
        ("cuda", 110_000, {}, True),
        ("cuda", 10_700_000, {"precision": torch.bfloat16}, True),
        ("cuda", 124_000_000, {}, False),  # its kernels take longer than their launch
        ("cuda", 110_000, {"is_compiled": True}, False),
        ("cuda", 110_000, {"n_processes": 2}, False),
        ("cuda", 10_700_000, {"precision": torch.float16}, False),
        ("cpu", 110_000, {}, False),
        ("mps", 110_000, {}, False),
    ],
)
def test_steps_of_small_models_on_one_cuda_device_are_captured(
    device_type, n_parameters, otherwise, expected
):
    assert is_worth_capturing(device_type, n_parameters, **(USUAL | otherwise)) is expected


def stories():
    generator = torch.Generator().manual_seed(0)
    lengths = torch.randint(3, 40, (90,), generator=generator).tolist()
    return pad_sequences(
        [torch.randint(1, 11, (length,), generator=generator).tolist() for length in lengths], 0
    )


def gpt():
    torch.manual_seed(0)
    return GPT(GPTConfig(11, 40, d_model=16, n_heads=2, n_layers=2, initial_deviation=0.2))


def lstm():
    torch.manual_seed(0)
    return RecurrentLanguageModel(RecurrentConfig(11, "lstm", d_embedding=6, d_hidden=8))


def test_padding_to_few_widths_keeps_every_batch_and_asks_for_few_shapes():
    plain = ShuffledStories(stories(), 6, seed=1)
    padded = plain.placed(torch.device("cpu"), 8)
    widths = set()
    for step in range(plain.n_batches):
        narrow, wide = plain(step), padded(step)
        width = narrow[0].shape[1]
        for one, other in zip(narrow, wide, strict=True):
            assert torch.equal(one, other[:, :width])
        assert not wide[2][:, width:].any()
        widths.add(wide[0].shape[1])
    assert all(width % 8 == 0 or width == stories().tokens.shape[1] - 1 for width in widths)
    assert len(widths) <= 5 < len({plain(step)[0].shape[1] for step in range(plain.n_batches)})


@pytest.mark.parametrize("make_model", [gpt, lstm])
def test_padding_changes_no_loss_and_no_gradient(make_model):
    plain = ShuffledStories(stories(), 6, seed=1)
    padded, model = plain.placed(torch.device("cpu"), 16), make_model().double()
    for step in range(plain.n_batches):
        losses = [next_token_loss(model, source(step)) for source in (plain, padded)]
        gradients = [torch.autograd.grad(loss, list(model.parameters())) for loss in losses]
        torch.testing.assert_close(losses[1], losses[0], rtol=1e-13, atol=0)
        for one, other in zip(*gradients, strict=True):
            torch.testing.assert_close(other, one, rtol=1e-9, atol=1e-13)


def test_a_captured_training_is_the_training_as_written():
    config = TrainingConfig(n_steps=20, learning_rate=1e-2, n_warmup_steps=4)
    model, batches = gpt(), ShuffledStories(stories(), 6)
    expected = train(gpt(), batches, config, device="cpu")
    training = Training(model, config, next_token_loss, torch.device("cpu"))
    training.descend = CapturedStep(training.step, Replayer(n_numbers=2))
    for step in range(20):
        training.take_step(batches(step))
    assert training.history.losses == expected.losses
    assert training.history.gradient_norms == expected.gradient_norms


@needs_cuda
@pytest.mark.parametrize("make_model", [gpt, lstm])
def test_on_a_gpu_replayed_steps_have_the_losses_of_steps_as_written(make_model):
    config = TrainingConfig(n_steps=120, learning_rate=1e-2)
    batches = ShuffledStories(stories(), 6)
    histories = [
        train(make_model(), batches, replace(config, is_captured=is_captured), device="cuda")
        for is_captured in (True, False)
    ]
    torch.testing.assert_close(*(torch.tensor(each.losses) for each in histories), rtol=1e-2, atol=1e-3)


@needs_cuda
def test_on_a_gpu_steps_are_replayed_unless_they_wait():
    device = torch.device("cuda")
    batches = ShuffledStories(stories(), 6).placed(device, 16)

    def waiting(model, example):
        loss = next_token_loss(model, example)
        return loss * (1.0 if loss.item() > 0 else 0.5)

    for loss, expected in ((next_token_loss, True), (waiting, False)):
        training = Training(gpt(), TrainingConfig(), loss, device)
        for step in range(60):
            training.take_step(batches(step))
        assert isinstance(training.descend, CapturedStep)
        assert bool(training.descend.recordings) is expected


@needs_cuda
def test_on_a_gpu_dropout_differs_from_replay_to_replay():
    batch, config = ShuffledStories(stories(), 6)(0), GPTConfig(11, 40, 16, 2, 2, dropout=0.5)
    training = Training(
        GPT(config), TrainingConfig(learning_rate=1e-12), next_token_loss, torch.device("cuda")
    )
    for _ in range(12):
        training.take_step(batch)
    training.read()
    assert len(set(training.history.losses)) == 12
