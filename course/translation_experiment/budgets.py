"""Quality against training: RNNsearch and two Transformers, for 1, 4 and 16 times the steps of lecture 18.

One Transformer adds sines and cosines to its embeddings, the other rotates queries and keys. All three have
about as many parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from course.models.seq2seq import Seq2Seq
from course.models.translator import Translator, TranslatorConfig
from course.training import TrainingConfig, train
from course.translation_experiment.lengths import (
    SCALES,
    LengthsConfig,
    LengthsData,
    lengths_data,
    lengths_model,
    measured,
)
from course.translation_experiment.parallel_text import ShuffledPairs, teacher_forcing_loss
from course.translation_experiment.records import Record, checkpoint_path, training_summary
from course.translation_experiment.translator_sizes import n_parameters

Positioned = Literal["RNNsearch", "Transformer", "rotary"]
POSITIONED: tuple[Positioned, ...] = ("RNNsearch", "Transformer", "rotary")
NAMES = {"RNNsearch": "RNNsearch", "Transformer": "Transformer, sines", "rotary": "Transformer, rotary"}


@dataclass(frozen=True)
class BudgetsConfig(LengthsConfig):
    """The sizes and data of lecture 18; the learning rate of LengthsConfig is RNNsearch's."""

    trained_up_to: tuple[int, ...] = (15,)
    measured: tuple[int, ...] = (5, 10, 15, 20, 25, 30)
    n_pairs: int = 12_000
    n_steps: int = 600
    batch_size: int = 64
    d_model: int = 64
    d_ff: int = 256
    learning_rate_of_transformers: float = 3e-3
    warm_up: float = 1 / 6  # as a fraction of the steps


BUDGETS = {"1x": BudgetsConfig(), "4x": BudgetsConfig(n_steps=2400), "16x": BudgetsConfig(n_steps=9600)}
BUDGETS["paper"] = BudgetsConfig(  # sentences as long as in the paper; for a GPU
    trained_up_to=(50,),
    measured=SCALES["paper"].measured,
    n_pairs=100_000,
    n_steps=20_000,
    batch_size=80,
    learning_rate=2e-3,
    d_embedding=224,
    d_hidden=448,
    d_model=256,
    d_ff=1024,
    learning_rate_of_transformers=1e-3,
)


def budgets_model(kind: Positioned, config: BudgetsConfig, data: LengthsData) -> Seq2Seq | Translator:
    """A new model of one kind, with the sizes of lecture 18."""
    if kind == "RNNsearch":
        return Seq2Seq(lengths_model("RNNsearch", config, data))
    source_vocabulary, target_vocabulary = data.vocabularies
    positions: Literal["sinusoidal", "rotary"] = "rotary" if kind == "rotary" else "sinusoidal"
    return Translator(
        TranslatorConfig(
            len(source_vocabulary),
            len(target_vocabulary),
            d_model=config.d_model,
            d_ff=config.d_ff,
            positions=positions,
            pad=source_vocabulary.pad,
        )
    )


def run_budgets(
    config: BudgetsConfig,
    kinds: Sequence[Positioned],
    seeds: Sequence[int],
    device: torch.device,
    checkpoints: Path,
    record: Callable[[Record], None],
) -> None:
    """Train and measure every model, and call `record` with the results of each as soon as they are known."""
    for seed in seeds:
        data = lengths_data(config, max(config.trained_up_to), seed)
        for kind in kinds:
            record(train_and_measure(kind, config, data, seed, device, checkpoints))


def train_and_measure(
    kind: Positioned,
    config: BudgetsConfig,
    data: LengthsData,
    seed: int,
    device: torch.device,
    checkpoints: Path,
) -> Record:
    """Train one model; return size, processor time of a step, quality by length and alignment error."""
    torch.manual_seed(seed)
    model = budgets_model(kind, config, data)
    training = TrainingConfig(
        n_steps=config.n_steps,
        learning_rate=config.learning_rate if kind == "RNNsearch" else config.learning_rate_of_transformers,
        n_warmup_steps=round(config.warm_up * config.n_steps),
        seed=seed,
        n_steps_between_checkpoints=100,
    )
    batches = ShuffledPairs(data.encode(data.training), config.batch_size, seed)
    path = checkpoint_path(checkpoints, kind, seed, config)
    history = train(model, batches, training, loss=teacher_forcing_loss, device=device,
                    checkpoint=path, has_progress_bar=True)  # fmt: skip
    results = measured(model, data)
    del results["example"]
    return {
        "model": NAMES[kind],
        "kind": kind,
        "trained_up_to": data.limit,
        "seed": seed,
        "n_parameters": n_parameters(model),
        **training_summary(history),
        **results,
    }
