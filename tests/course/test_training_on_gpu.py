"""How training behaves away from the CPU, tried without a GPU: it never waits, and picks its precision."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
import torch

from course.data.shuffling import ShuffledStories
from course.data.vocabulary import pad_sequences
from course.kernels import without_kernels
from course.models import (
    GPT,
    FeedForwardConfig,
    FeedForwardLanguageModel,
    GPTConfig,
    Llama,
    LlamaConfig,
    RecurrentConfig,
    RecurrentLanguageModel,
    SelfAttentionConfig,
    SelfAttentionLanguageModel,
    Seq2Seq,
    Seq2SeqConfig,
    Translator,
    TranslatorConfig,
)
from course.precision import step_precision
from course.training import N_STEPS_UNREAD, Training, TrainingConfig, TrainingDiverged, next_token_loss, ready
from course.translation_experiment.parallel_text import ParallelText, ShuffledPairs, teacher_forcing_loss

CONFIG = TrainingConfig(n_steps=6, learning_rate=1e-2)
NOWHERE = torch.device("meta")  # tensors with shapes but no values: a step that reads a value raises
LARGE, SMALL = 124_000_000, 110_000

LANGUAGE_MODELS = {
    "RNN": lambda: RecurrentLanguageModel(RecurrentConfig(7, "rnn", 4, 6)),
    "GRU": lambda: RecurrentLanguageModel(RecurrentConfig(7, "gru", 4, 6)),
    "LSTM": lambda: RecurrentLanguageModel(RecurrentConfig(7, "lstm", 4, 6)),
    "feed-forward": lambda: FeedForwardLanguageModel(FeedForwardConfig(7)),
    "self-attention": lambda: SelfAttentionLanguageModel(SelfAttentionConfig(7, 8, 2)),
    "GPT": lambda: GPT(GPTConfig(7, 8, 8, 2, 2)),
    "GPT, rotary": lambda: GPT(GPTConfig(7, 8, 8, 2, 2, positions="rotary")),
    "GPT, relative": lambda: GPT(GPTConfig(7, 8, 8, 2, 2, positions="relative")),
    "Llama": lambda: Llama(LlamaConfig(7, 8, 8, 4, 2, 2, 12)),
}
TRANSLATORS = {
    "RNNsearch": lambda: Seq2Seq(Seq2SeqConfig(7, 7, 4, 6)),
    "RNNenc": lambda: Seq2Seq(Seq2SeqConfig(7, 7, 4, 6, attention="none")),
    "Transformer": lambda: Translator(TranslatorConfig(7, 7, d_model=8, n_heads=2, d_ff=12)),
}
TEXT = pad_sequences([[1, 4, 5, 6, 2], [1, 5, 2], [1, 6, 6, 4, 5, 2], [1, 4, 2]], pad=0)


def case(name):
    """A model, a source of batches, and the loss."""
    if name in LANGUAGE_MODELS:
        return LANGUAGE_MODELS[name](), ShuffledStories(TEXT, 2), next_token_loss
    return TRANSLATORS[name](), ShuffledPairs(ParallelText(TEXT, TEXT), 2), teacher_forcing_loss


@pytest.mark.parametrize("name", [*LANGUAGE_MODELS, *TRANSLATORS])
def test_no_step_reads_a_number_from_the_device(name):
    model, batches, loss = case(name)
    training = Training(model, CONFIG, loss, NOWHERE)
    training.is_checked = True
    there = batches.placed(NOWHERE, 4)
    with without_kernels():  # those that a CPU would take
        for step in range(4):
            training.take_step(there(step))
    assert training.n_steps_taken == 4
    assert training.history.n_steps == 0


def test_a_step_that_does_read_a_number_is_noticed():
    def reading(model, example):
        loss = next_token_loss(model, example)
        return loss * 2 if loss.item() > 1 else loss

    model, batches, _ = case("GPT")
    training = Training(model, CONFIG, reading, NOWHERE)
    training.is_checked = True
    with pytest.raises(RuntimeError, match="meta"):
        training.take_step(batches.placed(NOWHERE)(0))


class Unread(Training):
    """A training on the CPU that reads as seldom as on a GPU, and counts how often."""

    n_readings = 0

    def __init__(self, model, config, loss=next_token_loss):
        super().__init__(model, config, loss, torch.device("cpu"))
        self.reads_every = N_STEPS_UNREAD

    def read(self):
        self.n_readings += 1
        super().read()


def test_losses_are_read_every_so_many_steps():
    model, batches, _ = case("GPT")
    training = Unread(model, CONFIG)
    for step in range(2 * N_STEPS_UNREAD + 3):
        training.take_step(batches(step))
    assert training.n_readings == 2
    assert training.history.n_steps == 2 * N_STEPS_UNREAD


def test_a_divergence_names_its_step_although_it_is_read_later():
    model, batches, _ = case("GPT")
    seen = Counter()

    def broken_at_step_17(model, example):
        seen["steps"] += 1
        return next_token_loss(model, example) / (0 if seen["steps"] == 18 else 1)

    training = Unread(model, CONFIG, broken_at_step_17)
    for step in range(N_STEPS_UNREAD - 1):
        training.take_step(batches(step))
    with pytest.raises(TrainingDiverged, match="at step 17"):
        training.take_step(batches(N_STEPS_UNREAD - 1))
    assert seen["steps"] == N_STEPS_UNREAD


@pytest.mark.parametrize("name", ["GPT", "RNNsearch"])
def test_batches_made_on_the_device_are_those_made_on_the_cpu(name):
    _, batches, _ = case(name)
    there = batches.placed(torch.device("cpu"))
    for step in range(5):
        for one, other in zip(batches(step), there(step), strict=True):
            assert torch.equal(one, other)
    assert all(part.device == NOWHERE for part in batches.placed(NOWHERE)(3))


@pytest.mark.parametrize("name", ["LSTM", "GPT", "RNNsearch", "Transformer"])
def test_one_look_at_a_source_finds_a_token_that_the_model_cannot_read(name):
    model, batches, loss = case(name)
    training = Training(model, CONFIG, loss, torch.device("cpu"))
    training.check(batches.extremes())
    spoiled = TEXT.tokens.clone()
    spoiled[2, 3] = 7
    text = replace(TEXT, tokens=spoiled)
    is_pair = name in TRANSLATORS
    source = ShuffledPairs(ParallelText(text, TEXT), 2) if is_pair else ShuffledStories(text, 2)
    with pytest.raises(ValueError, match=r"expected values in 0 … 6, got 7"):
        training.check(source.extremes())


def test_a_look_leaves_the_model_and_its_gradients_alone():
    model, batches, loss = case("GPT")
    training = Training(model.train(), CONFIG, loss, torch.device("cpu"))
    training.check(batches.extremes())
    assert model.training
    assert all(parameter.grad is None for parameter in model.parameters())


def test_on_the_cpu_batches_stay_as_they_are():
    model, batches, loss = case("GPT")
    assert ready(batches, Training(model, CONFIG, loss, torch.device("cpu"))) is batches


COMPILED = ["feed-forward", "self-attention", "GPT", "Llama"]
GRAPHS = f"""
import json
from torch import _dynamo
from tests.course.test_training_on_gpu import case

found = {{}}
for name in {COMPILED}:
    _dynamo.reset()
    model, batches, loss = case(name)
    explained = _dynamo.explain(loss)(model, batches(0))
    found[name] = explained.graph_count, explained.graph_break_count
print(json.dumps(found))
"""


def test_a_model_and_its_loss_are_compiled_as_one_graph():
    """In a process of its own, as the shapes that these tests check at every call would split the graphs.

    Recurrent networks are left out: their loop over steps is for cuDNN or a captured step.
    """
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.getcwd()}
    done = subprocess.run(
        [sys.executable, "-c", GRAPHS], capture_output=True, text=True, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout) == {name: [1, 0] for name in COMPILED}


@pytest.mark.parametrize(
    ("device_type", "n_parameters", "capability", "expected"),
    [
        ("cuda", LARGE, (9, 0), torch.bfloat16),  # H100
        ("cuda", LARGE, (8, 0), torch.bfloat16),  # A100
        ("cuda", LARGE, (7, 5), torch.float16),  # T4
        ("cuda", LARGE, (6, 1), torch.float32),
        ("cuda", SMALL, (9, 0), torch.float32),
        ("cpu", LARGE, None, torch.float32),
        ("mps", LARGE, None, torch.float32),
    ],
)
def test_the_precision_is_what_the_card_can_do(device_type, n_parameters, capability, expected):
    assert step_precision(device_type, n_parameters, capability) == expected


def in_float16(loss=next_token_loss):
    """A training on the CPU that computes as on a T4."""
    torch.manual_seed(0)
    model, _, _ = case("GPT")
    training = Training(model, replace(CONFIG, n_warmup_steps=1), loss, torch.device("cpu"))
    training.precision = torch.float16
    training.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    return training


def test_in_float16_the_scaled_loss_gives_the_norms_and_losses_of_float32():
    half, single = in_float16(), in_float16()
    single.precision, single.scaler = torch.float32, torch.amp.GradScaler("cpu", enabled=False)
    batches = ShuffledStories(TEXT, 2)
    for step in range(6):
        half.take_step(batches(step))
        single.take_step(batches(step))
    for ours, expected in (
        (half.history.losses, single.history.losses),
        (half.history.gradient_norms, single.history.gradient_norms),
    ):
        assert ours == pytest.approx(expected, rel=2e-2)
        assert ours != expected


def test_in_float16_a_step_whose_gradients_overflow_is_skipped():
    training = in_float16()
    training.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**30)
    before = [parameter.clone() for parameter in training.model.parameters()]
    scale = training.scaler.get_scale()
    training.take_step(ShuffledStories(TEXT, 2)(0))
    for parameter, old in zip(training.model.parameters(), before, strict=True):
        assert torch.equal(parameter, old)
    assert training.scaler.get_scale() == scale / 2


def test_the_scale_goes_on_with_a_checkpoint(tmp_path):
    training, other = in_float16(), in_float16()
    training.take_step(ShuffledStories(TEXT, 2)(0))
    training.scaler.update(64.0)
    training.save(tmp_path / "run.pt")
    other.load(tmp_path / "run.pt")
    assert other.scaler.get_scale() == 64.0


def test_a_checkpoint_keeps_the_options_of_the_device_that_goes_on(tmp_path):
    """As on a GPU, the learning rate is a tensor, although the checkpoint was written on a CPU."""
    model, batches, loss = case("GPT")
    training = Training(model, CONFIG, loss, torch.device("cpu"))
    training.take_step(batches(0))
    training.save(tmp_path / "run.pt")
    other = Training(case("GPT")[0], CONFIG, loss, torch.device("cpu"))
    rate = torch.tensor(1.0)
    for group in other.optimizer.param_groups:
        group["lr"] = rate
    other.load(tmp_path / "run.pt")
    other.take_step(batches(1))
    assert all(group["lr"] is rate for group in other.optimizer.param_groups)
    assert rate.item() == pytest.approx(CONFIG.learning_rate_at(1))
