"""Train one rung, or all of them, and measure how far each is above the floor."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from course.data.shuffling import ShuffledStories
from course.evaluation import Score, story_nll
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
    training = rung.at(scale, seed)
    if training is not None:
        batches = ShuffledStories(corpus.train, rung.batch_size, seed)
        train(model, batches, training, device=device, has_progress_bar=has_progress_bar)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
    measured, error = measure(model, corpus)
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
    )
    return result, model


def measure(model: LanguageModel, corpus: Corpus) -> tuple[Score, float]:
    """The score on the test stories, and the standard error of its distance from the floor, in bits/token."""
    nll: Tensor = story_nll(model, corpus.test)
    above = nll - corpus.floor_by_story  # (N,) per story, so what makes a story hard for all models cancels
    measured = Score(float(nll.sum()), corpus.floor.n_tokens)
    deviation = float(above.std()) * math.sqrt(len(above))
    return measured, deviation / measured.n_tokens / math.log(2)


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
