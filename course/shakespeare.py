"""Models that write Shakespeare character by character: a GPT at nanoGPT's two settings, and RNNs.

    python -m course.shakespeare                       the setting for this machine
    python -m course.shakespeare --setting gpu --record docs

`--setting rnn` trains an RNN on the same text, `--setting names` one on first names, one a line. nanoGPT
(https://github.com/karpathy/nanoGPT, README.md) reports a validation loss of 1.4697 after about three
minutes on an A100, and 1.88 after about three minutes on a laptop's CPU. Models, loop and samplers are the
course's own. The last tenth of a text is for validation; its loss is the mean over all its characters, in
windows that do not overlap. Texts are downloaded on the first run; what is recorded needs none.
"""

from __future__ import annotations

import argparse
import json
import platform
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import Tensor, nn

from course.data.corpora import names, tiny_shakespeare
from course.data.windows import RandomWindows
from course.evaluation import evaluating, target_nll
from course.models import GPT, GPTConfig, RecurrentConfig, RecurrentLanguageModel
from course.sampling import Sampler, generate
from course.shapes import Int
from course.tokenizers.characters import CharacterTokenizer
from course.training import TrainingConfig, best_device, train

PROGRAM = "python -m course.shakespeare"
RECORDED = Path(__file__).with_suffix(".json")
SAMPLED_AT = (0.01, 0.1, 1.0)  # of the training
Writer = GPT | RecurrentLanguageModel


def shuffled_names() -> str:
    """The names one a line, shuffled, because the list begins with the most common ones."""
    every = names()
    return "\n".join(Random(0).sample(every, len(every)))


TEXTS: dict[str, Callable[[], str]] = {"names": shuffled_names, "shakespeare": tiny_shakespeare}


@dataclass(frozen=True)
class Setting:
    """A training: a published one, with what it reached there, or one of ours."""

    training: TrainingConfig
    n_layers: int
    n_heads: int
    d_model: int
    context_length: int
    batch_size: int
    dropout: float
    n_steps_between_scores: int
    published_loss: float | None = None  # nats per character, the best of a run
    initial_deviation: float = 0.02  # of matrices; nanoGPT's
    text: str = "shakespeare"
    n_sampled: int = 240  # characters
    d_embedding: int = 0  # if not 0, the model is an RNN of d_model units, which begins each window anew

    def model(self, vocab_size: int) -> Writer:
        """An untrained model of this size."""
        if self.d_embedding:
            sizes = RecurrentConfig(vocab_size, "rnn", self.d_embedding, self.d_model, self.n_layers)
            return RecurrentLanguageModel(sizes)
        return GPT(
            GPTConfig(
                vocab_size,
                self.context_length,
                self.d_model,
                self.n_heads,
                self.n_layers,
                dropout=self.dropout,
                initial_deviation=self.initial_deviation,
            )
        )


def published(n_steps: int) -> TrainingConfig:
    """AdamW as in nanoGPT's config/train_shakespeare_char.py."""
    return TrainingConfig(
        n_steps=n_steps,
        learning_rate=1e-3,
        n_warmup_steps=100,
        final_learning_rate=0.1,
        weight_decay=0.1,
        beta2=0.99,
        clip_norm=1.0,
    )


SETTINGS = {
    "gpu": Setting(published(5000), 6, 6, 384, 256, 64, 0.2, 250, published_loss=1.4697),
    "cpu": Setting(
        published(2000), 4, 4, 128, 64, 12, 0.0, 250, published_loss=1.88, initial_deviation=128**-0.5
    ),
    "rnn": Setting(
        TrainingConfig(3000, 3e-3, weight_decay=0.1), 1, 0, 256, 64, 32, 0.0, 3000, d_embedding=32
    ),
    "names": Setting(
        TrainingConfig(2000, 4e-3, weight_decay=0.1),
        *(1, 0, 128, 64, 32, 0.0, 2000),
        text="names",
        n_sampled=80,
        d_embedding=32,
    ),
    "smallest": Setting(TrainingConfig(40, n_warmup_steps=4), 1, 2, 16, 16, 4, 0.0, 20),
}


@dataclass
class Run:
    """What was measured during a training."""

    n_parameters: int = 0
    n_read: int = 0  # characters of the text that were trained on
    seconds: float = 0.0  # wall-clock time, with validation and samples
    scores: list[tuple[int, float, float]] = field(default_factory=list)  # step, validation loss, seconds
    samples: dict[str, str] = field(default_factory=dict)  # by step

    @property
    def best(self) -> tuple[int, float, float]:
        """Step, loss and seconds of the lowest validation loss."""
        return min(self.scores, key=lambda score: score[1])


@torch.no_grad()
def validation_loss(model: Writer, text: Int[Tensor, " text"], T: int, batch_size: int = 256) -> float:
    """Nats per character over a text in windows of T; of a last window that is not full, nothing counts."""
    windows = text[: (len(text) - 1) // T * T + 1].unfold(0, T + 1, T)  # (N, T + 1)
    with evaluating(model) as device:
        sums = [
            target_nll(model(rows[:, :-1]), rows[:, 1:]).double().sum()
            for rows in windows.to(device).split(batch_size)
        ]
    return float(sum(sums)) / windows[:, 1:].numel()


def written(model: Writer, tokenizer: CharacterTokenizer, n_characters: int, seed: int = 0) -> str:
    """What the model writes after a line feed."""
    device = next(model.parameters()).device
    prompt = torch.tensor([tokenizer.encode("\n")], device=device)
    sampler = Sampler(torch.Generator(device).manual_seed(seed))
    return tokenizer.decode(generate(model, prompt, n_characters, sampler)[0].tolist()).strip("\n")


def run(setting: Setting, text: str, device: torch.device, *, has_progress_bar: bool = False) -> Run:
    """Train on the first nine tenths of a text; score and sample on the way."""
    tokenizer = CharacterTokenizer.train(text)
    tokens = torch.tensor(tokenizer.encode(text))
    training, held_out = tokens[: len(tokens) * 9 // 10], tokens[len(tokens) * 9 // 10 :]
    torch.manual_seed(setting.training.seed)
    model = setting.model(tokenizer.vocab_size)
    found = Run(sum(parameter.numel() for parameter in model.parameters()), len(training))
    n_steps, began = setting.training.n_steps, time.perf_counter()
    sampled_at = {max(1, round(share * n_steps)) for share in SAMPLED_AT}

    def look(n_steps_done: int, _: nn.Module) -> None:
        if n_steps_done % setting.n_steps_between_scores == 0 or n_steps_done in sampled_at:
            loss = validation_loss(model, held_out, setting.context_length)
            found.scores.append((n_steps_done, loss, time.perf_counter() - began))
        if n_steps_done in sampled_at:
            found.samples[str(n_steps_done)] = written(model, tokenizer, setting.n_sampled)

    batches = RandomWindows(training, setting.context_length, setting.batch_size)
    train(model, batches, setting.training, device=device, after_step=look, has_progress_bar=has_progress_bar)
    found.seconds = time.perf_counter() - began
    return found


def record(found: Run, setting: Setting, command: str, device: torch.device) -> dict[str, Any]:
    """Everything that was measured, and where."""
    card = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    return {
        "command": command,
        "device": card,
        "threads": torch.get_num_threads(),
        "torch": torch.__version__.split("+")[0],
        "setting": asdict(setting),
        **asdict(found),
    }


def read_recorded(path: Path = RECORDED) -> dict[str, dict[str, Any]]:
    """The trainings that the command recorded, by the names of their settings; none if there is no record."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def row(name: str, recorded: dict[str, Any] | None) -> str:
    """A line of the page's table."""
    published_loss = SETTINGS[name].published_loss
    if recorded is None:
        return f"| {name} | {published_loss} | not measured | | | |"
    step, loss, seconds = Run(scores=recorded["scores"]).best
    where = f"{recorded['device']}, {recorded['threads']} thread(s) of the CPU, PyTorch {recorded['torch']}"
    return f"| {name} | {published_loss} | {loss:.4f} | {step:,} | {seconds:.0f} | {where} |"


def page(recorded: dict[str, dict[str, Any]]) -> str:
    """The page of the documentation, made from the records alone."""
    settings = [name for name, setting in SETTINGS.items() if setting.published_loss]
    rows = "\n".join(row(name, recorded.get(name)) for name in settings)
    commands = "\n".join(f"    {PROGRAM} --setting {name} --record docs" for name in settings)
    texts = "\n".join(
        f"## {name}, after {int(step):,} steps\n\n```text\n{sample}\n```\n"
        for name in settings
        for step, sample in recorded.get(name, {"samples": {}})["samples"].items()
    )
    return f"""# Tiny Shakespeare, character by character

{commands}

A GPT of the course at the two settings of nanoGPT, trained by the course's loop. Losses are nats per
character of the last tenth of the text, the lowest of a run; seconds are wall-clock time until then, with
validation.

| setting | nanoGPT reports | our validation loss | at step | seconds | where |
| --- | ---: | ---: | ---: | ---: | --- |
{rows}

{texts}"""


def main(words: list[str]) -> None:
    """Train, print, record."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description=__doc__)
    device = best_device()
    default = "gpu" if device.type == "cuda" else "cpu"
    parser.add_argument("--setting", choices=SETTINGS, default=default)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="of the CPU")
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="write shakespeare.md there")
    asked = parser.parse_args(words)
    torch.set_num_threads(asked.threads)
    setting = SETTINGS[asked.setting]
    found = run(setting, TEXTS[setting.text](), device, has_progress_bar=True)
    for step, loss, seconds in found.scores:
        print(f"step {step:>5}  validation loss {loss:.4f}  {seconds:6.1f} s")
    for n_steps, sample in found.samples.items():
        print(f"\n--- after {n_steps} steps\n{sample}")
    if asked.record is not None:
        command = shlex.join([*PROGRAM.split(), *words])
        recorded = read_recorded(RECORDED)
        recorded[asked.setting] = record(found, setting, command, device)
        RECORDED.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n")
        (asked.record / "shakespeare.md").write_text(page(recorded))


if __name__ == "__main__":
    main(sys.argv[1:])
