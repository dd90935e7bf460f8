"""Train one rung, or all of them, and measure how far each is above the floor."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import mean

import torch
from torch import nn

from course.data.shuffling import ShuffledStories
from course.evaluation import Score, token_nll
from course.ladder.kinds import bits_by_kind
from course.ladder.rungs import Corpus, Model, Rung, Scale
from course.language_model import LanguageModel
from course.models.counts import CountingModel
from course.training import train


@dataclass(frozen=True)
class Result:
    """One rung, one seed."""

    rung: str
    title: str
    seed: int
    n_parameters: int  # weights, or n-grams counted
    bits_per_token: float
    floor: float  # bits per token of the true model on the same stories
    error: float  # standard error of the distance from the floor, in bits per token
    seconds: float  # of building and training, wall-clock time
    cpu_seconds: float  # the same as CPU time of all cores together
    by_kind: dict[str, float] = field(default_factory=dict)  # bits above the floor for each kind of word
    curve: list[tuple[int, float]] = field(default_factory=list)  # (step, bits per token in training)

    @property
    def percent_above_floor(self) -> float:
        return 100 * (self.bits_per_token / self.floor - 1)


def n_parameters(model: nn.Module) -> int:
    """The weights of a network, or the n-grams that a counting model has to store."""
    if isinstance(model, CountingModel):
        return model.counts.n_ngrams
    return sum(parameter.numel() for parameter in model.parameters())


def climb(
    rung: Rung,
    corpus: Corpus,
    scale: Scale,
    seed: int,
    *,
    device: torch.device | str | None = None,
    has_progress_bar: bool = False,
) -> tuple[Result, Model]:
    """Build and train one rung with this seed; return the result and the model."""
    began, cpu_began = time.perf_counter(), time.process_time()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = rung.build(corpus, scale.width)
    training, curve = rung.at(scale, seed), []
    if training is not None:
        batches = ShuffledStories(corpus.train, rung.batch_size, seed)
        history = train(model, batches, training, device=device, has_progress_bar=has_progress_bar)
        curve = thinned(history.losses)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
    measured, error, by_kind = measure(model, corpus)
    result = Result(
        rung.name,
        rung.title,
        seed,
        n_parameters(model),
        measured.bits_per_token,
        corpus.floor.bits_per_token,
        error,
        seconds,
        cpu_seconds,
        by_kind,
        curve,
    )
    return result, model


def thinned(losses: list[float], n_points: int = 40) -> list[tuple[int, float]]:
    """A training curve as a few points: the steps done, and the mean loss since the last point, in bits."""
    ends = [len(losses) * (point + 1) // n_points for point in range(n_points)]
    slices = [(first, last) for first, last in pairwise([0, *ends]) if last > first]
    return [(last, round(mean(losses[first:last]) / math.log(2), 4)) for first, last in slices]


def measure(model: LanguageModel, corpus: Corpus) -> tuple[Score, float, dict[str, float]]:
    """On the test stories: the score; the standard error of its distance from the floor, in bits/token; the
    distance by kind of word."""
    nll, floor = token_nll(model, corpus.test), corpus.floor_by_token  # (N, T − 1)
    above = (nll - floor).sum(dim=1)  # (N,) per story, so what makes a story hard for all models cancels
    measured = Score(float(nll.sum()), corpus.floor.n_tokens)
    deviation = float(above.std()) * math.sqrt(len(above))
    by_kind = bits_by_kind(nll, floor, corpus.test, corpus.language)
    return measured, deviation / measured.n_tokens / math.log(2), by_kind


def climb_all(
    rungs: Iterable[Rung],
    scale: Scale,
    seeds: Iterable[int] = (0,),
    *,
    device: torch.device | str | None = None,
    has_progress_bar: bool = False,
) -> Iterator[Result]:
    """Climb every rung with every seed, one result at a time."""
    rungs = list(rungs)
    for seed in seeds:
        corpus = Corpus(scale, seed)
        for rung in rungs:
            yield climb(rung, corpus, scale, seed, device=device, has_progress_bar=has_progress_bar)[0]
