"""Put your own model on the recorded ladder.

    standing = on_the_ladder("my GPT", model, seconds=history.seconds)
    print(standing)
    standing.picture()

Any object that maps tokens (B, T) to log-probabilities (B, T, V) of the next token can be placed there. The
fraction of what can be known is 0 for the uniform model, and 1 for the true model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn

from course.data.vocabulary import Batch
from course.evaluation import evaluating
from course.ladder.climb import measure, n_parameters
from course.ladder.records import aligned, read_recorded, summaries
from course.ladder.rungs import SCALES, Corpus
from course.ladder.weights import SEED
from course.language_model import LanguageModel
from course.plots import Picture, ladder

TOLERANCE = 1e-3  # nats; rounding differs with the length of what is read
HEADINGS = ("", "model", "parameters", "bits/token", "above floor", "known", "seconds")


class NoLanguageModel(ValueError):
    """A model does not return probabilities, or has seen what it predicts; the message says which."""


@dataclass(frozen=True)
class Place:
    """A model on the ladder: your own, or a recorded one."""

    title: str
    n_parameters: int | None  # None: not known
    bits_per_token: float
    seconds: float | None  # of training, wall-clock time
    is_own: bool = False


@dataclass(frozen=True)
class Standing:
    """Your own model among the recorded ones, worst first; printed, it is a table."""

    places: tuple[Place, ...]
    floor: float  # bits per token of the true model on the same stories
    vocab_size: int

    @property
    def own(self) -> Place:
        return next(place for place in self.places if place.is_own)

    @property
    def percent_above_floor(self) -> float:
        """The distance of your own model from the floor, in percent."""
        return 100 * (self.own.bits_per_token / self.floor - 1)

    def share_known(self, place: Place) -> float:
        """How much of what can be known about the next word a model knows, from 0 to 1."""
        most = math.log2(self.vocab_size)
        return (most - place.bits_per_token) / (most - self.floor)

    def beats(self, title: str) -> bool:
        """Whether your own model needs fewer bits than a recorded one; raises KeyError if there is none."""
        recorded = {place.title: place.bits_per_token for place in self.places if not place.is_own}
        return self.own.bits_per_token < recorded[title]

    def __str__(self) -> str:
        return aligned([HEADINGS, *map(self._cells, self.places), self._floor_cells()], n_left=2)

    def _cells(self, place: Place) -> tuple[str, ...]:
        return (
            "→" if place.is_own else "",
            place.title,
            "–" if place.n_parameters is None else f"{place.n_parameters:,}",
            f"{place.bits_per_token:.4f}",
            f"{100 * (place.bits_per_token / self.floor - 1):.1f} %",
            f"{self.share_known(place):z.1%}",
            "–" if place.seconds is None else f"{place.seconds:.0f}",
        )

    def _floor_cells(self) -> tuple[str, ...]:
        return ("", "floor (exact)", "", f"{self.floor:.4f}", "0.0 %", "100.0%", "")

    def picture(self) -> Picture:
        """The ladder with your own rung among the others."""
        bits = {place.title: place.bits_per_token for place in self.places}
        return ladder(bits, self.floor, own=self.own.title)


def on_the_ladder(
    title: str, model: LanguageModel, corpus: Corpus | None = None, *, seconds: float | None = None
) -> Standing:
    """Measure a model on the ladder's test stories.

    `corpus`, that of the default scale and seed 0, is made anew unless given; `seconds` is what its training
    took. Raises NoLanguageModel as `require_honest` does.
    """
    corpus = Corpus(SCALES["default"], SEED) if corpus is None else corpus
    require_honest(model, corpus.test)
    bits = measure(model, corpus)[0].bits_per_token
    own = Place(title, parameters_of(model), bits, seconds, is_own=True)
    places = sorted([*recorded_places(), own], key=lambda place: -place.bits_per_token)
    return Standing(tuple(places), corpus.floor.bits_per_token, corpus.language.vocab_size)


def recorded_places() -> Iterator[Place]:
    """The rungs of the record, each over all its seeds."""
    for rung in summaries(read_recorded()):
        yield Place(rung.title, rung.n_parameters, rung.bits_per_token, rung.seconds)


def parameters_of(model: object) -> int | None:
    """The weights of a network, or the n-grams that one of the course's counting models stores."""
    return n_parameters(model) if isinstance(model, nn.Module) else getattr(model, "n_parameters", None)


@torch.no_grad()
def require_honest(model: LanguageModel, stories: Batch, n_stories: int = 20, n_places: int = 12) -> None:
    """Raise NoLanguageModel unless a model returns probabilities, and the same ones for a story's beginning.

    A model that is given only the beginning cannot have seen what comes next.
    """
    tokens = stories.tokens[stories.mask.sum(dim=1).argsort(descending=True)[:n_stories]]  # the longest
    inputs = tokens[:, : int(stories.mask.sum(dim=1).sort(descending=True).values[len(tokens) - 1]) - 1]
    with evaluating(model) as device:
        whole = model(inputs.to(device)).double().cpu()  # (B, T, V)
        totals = whole.exp().sum(dim=-1)
        if whole.ndim != 3 or not torch.allclose(totals, torch.ones_like(totals), atol=TOLERANCE):
            raise NoLanguageModel("the probabilities of the next word do not sum to 1")
        for last in sorted(set(torch.linspace(0, inputs.shape[1] - 2, n_places).long().tolist())):
            beginning = model(inputs[:, : last + 1].to(device)).double().cpu()[:, last]
            if not torch.allclose(beginning.exp(), whole[:, last].exp(), atol=TOLERANCE):
                raise NoLanguageModel(
                    f"the prediction after {last + 1} words changes with the words that come later: "
                    "the model sees the future"
                )
