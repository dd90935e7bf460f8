"""The recorded weights: one trained model of each rung, at the default scale and seed 0.

    model = recorded_model("lstm")

A network's weights are kept in half precision in `weights/`, about 0.2 MB each; `python -m course.ladder`
writes them when it records. A counting model has learned counts of its training stories, which take a second
to count and are counted again.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from course.ladder.rungs import RUNGS, SCALES, Corpus, Model

WEIGHTS = Path(__file__).with_name("weights")
SEED = 0  # of the models that are kept
BLIND = ("uniform", "unigram")  # they predict without looking at any word


def save_weights(model: nn.Module, rung: str, folder: Path = WEIGHTS) -> None:
    """Write a network's weights in half precision; its numbers change by less than one part in a thousand."""
    folder.mkdir(parents=True, exist_ok=True)
    state = {name: tensor.detach().cpu().half().contiguous() for name, tensor in model.state_dict().items()}
    save_file(state, weights_of(rung, folder))


def recorded_model(rung: str, corpus: Corpus | None = None, folder: Path = WEIGHTS) -> Model:
    """The model of this rung that the record describes, in evaluation mode, in single precision.

    `corpus`, that of the default scale and seed 0, is made anew unless given. Raises KeyError for a rung that
    the ladder does not have, FileNotFoundError for one whose weights were not written.
    """
    scale = SCALES["default"]
    model = RUNGS[rung].build(Corpus(scale, SEED) if corpus is None else corpus, scale.width)
    if RUNGS[rung].training is not None:
        state = load_file(weights_of(rung, folder))
        model.load_state_dict({name: tensor.to(torch.get_default_dtype()) for name, tensor in state.items()})
    return model.eval()


def kept(folder: Path = WEIGHTS) -> list[str]:
    """The rungs that can be restored: those that count, and those whose weights were written."""
    return [
        name for name, rung in RUNGS.items() if rung.training is None or weights_of(name, folder).exists()
    ]


def recorded_models(rungs: Iterable[str] | None = None, corpus: Corpus | None = None) -> dict[str, Model]:
    """Recorded models by title, in the order given; by default all that look at earlier words."""
    corpus = Corpus(SCALES["default"], SEED) if corpus is None else corpus
    chosen = [name for name in kept() if name not in BLIND] if rungs is None else rungs
    return {RUNGS[name].title: recorded_model(name, corpus) for name in chosen}


def weights_of(rung: str, folder: Path) -> Path:
    """Where a rung's weights are kept."""
    return folder / f"{rung}.safetensors"
