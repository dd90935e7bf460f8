"""One entry: a file with two functions, which run in the sandbox under a budget.

    def train(tokens, mask, seconds): ...     learns from stories (N, T); returns weights, a dict of tensors
    def log_probs(weights, tokens): ...       (B, T) → (B, T, V), the next word at every position

The process in which it learned ends before the first word is predicted, so nothing but these weights is known
to it then, and they are counted here.

For the score, each word is predicted from the words before it and nothing else, so no entry gains by looking
ahead. Only afterwards is it given whole stories: an entry that predicts differently then does look ahead, and
is disqualified. So is one whose text uses what knows the answers: the language of the stories, or a model
trained on it. Its text is searched for that as an exercise's is; anyone who wants to hide it can.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from autograder.grading.standin import Cell, RemoteLink, Sitting
from course.checks import NotWritten, StudentError, Unreachable
from course.checks.forbidden import forbidden_uses
from course.data.vocabulary import Batch

ANSWERS = (
    "course.data.story_filter",
    "course.data.story_grammar",
    "course.data.story_language",
    "course.data.story_memory",
    "course.data.story_sampling",
    "course.data.story_sources",
    "course.figures",
    "course.ladder",
    "course.mine",
)
TOLERANCE = 1e-3  # of a probability: rounding differs with the length of what is read
NO_WEIGHTS = "train does not return its weights, a dict of tensors by their names"
LOOKS_AHEAD = "looks ahead: its prediction of a word changes with the words that come later"
VARIES = "answers the same words differently each time; is dropout still on?"
NO_PROBABILITIES = (
    "returns no log-probabilities: the shape must be {shape}, and their exp must sum to 1 over V"
)


Weights = Mapping[str, Tensor]


class Disqualified(Exception):
    """An entry gets no rank; the message says why."""


@dataclass(frozen=True)
class Place:
    """The result of an entry. Without bits it has no rank, and `problem` says why."""

    name: str
    bits_per_token: float | None = None
    share_known: float | None = None  # 0: a model to which all words are equally likely; 1: the true model
    n_parameters: int | None = None  # the numbers that training left, counted
    cpu_seconds: float | None = None  # of training
    problem: str = ""


@dataclass(frozen=True)
class Task:
    """The stories for training, the hidden ones, and the floor of the hidden ones in bits per token."""

    training: Batch
    hidden: Batch
    vocab_size: int
    floor: float
    seconds: float  # of the processor, for training
    most_parameters: int


def place(name: str, source: str, sitting: Sitting, task: Task) -> Place:
    """The place of one entry; errors in its code become its `problem`."""
    try:
        return _measured(name, source, sitting, task)
    except Disqualified as problem:
        return Place(name, problem=str(problem))
    except (StudentError, NotWritten, Unreachable) as problem:
        return Place(name, problem=f"could not be run: {problem}")


def _measured(name: str, source: str, sitting: Sitting, task: Task) -> Place:
    for use in forbidden_uses(source, ANSWERS, allows=["course"]):
        raise Disqualified(f"asks what knows the answers: {use.name}, line {use.line}")
    ran = sitting.run(Cell(source, name))
    if ran.error is not None:
        raise Disqualified(f"could not be run: {ran.error.sentence()}")
    link = RemoteLink(sitting)
    begun, sitting.trains = sitting.used(), True
    learned = link.request("train", "", (task.training.tokens, task.training.mask, task.seconds), {}).value
    seconds, sitting.trains = sitting.used() - begun, False
    weights = _weights(learned)
    n_parameters = sum(weight.numel() for weight in weights.values())
    if n_parameters > task.most_parameters:
        raise Disqualified(f"has {n_parameters:,} parameters; {task.most_parameters:,} are allowed")
    sitting.close()
    bits = _bits_per_token(link, weights, task)
    most = math.log2(task.vocab_size)
    return Place(name, bits, (most - bits) / (most - task.floor), n_parameters, seconds)


def _weights(learned: object) -> dict[str, Tensor]:
    """What training returned; raises Disqualified if that is no dict of tensors."""
    if not isinstance(learned, dict) or not all(isinstance(weight, Tensor) for weight in learned.values()):
        raise Disqualified(NO_WEIGHTS)
    return {str(name): weight.detach() for name, weight in learned.items()}


def _bits_per_token(link: RemoteLink, weights: Weights, task: Task) -> float:
    """The mean over the hidden words, each predicted from the preceding words of its story alone.

    Whole stories come last, because an entry can remember what it was given.
    """
    tokens, mask = task.hidden.tokens, task.hidden.mask
    bits, predictions = 0.0, []
    for last in range(tokens.shape[1] - 1):
        rows = mask[:, last + 1].nonzero()[:, 0]
        said = _asked(link, weights, tokens[rows, : last + 1], task.vocab_size)[:, last]  # (rows, V)
        bits -= float(said.gather(1, tokens[rows, last + 1, None]).sum()) / math.log(2)
        predictions.append(said)
    whole = _asked(link, weights, tokens[:, :-1], task.vocab_size)
    for last, said in enumerate(predictions):
        if not torch.allclose(said.exp(), whole[mask[:, last + 1], last].exp(), atol=TOLERANCE):
            again = _asked(link, weights, tokens[:, :-1], task.vocab_size, seed=1)
            is_repeated = torch.allclose(again.exp(), whole.exp(), atol=TOLERANCE)
            raise Disqualified(LOOKS_AHEAD if is_repeated else VARIES)
    return bits / sum(map(len, predictions))


def _asked(link: RemoteLink, weights: Weights, tokens: Tensor, vocab_size: int, seed: int = 0) -> Tensor:
    """The entry's log-probabilities for these tokens, in float64; raises Disqualified if they are invalid."""
    said = link.request("log_probs", "", (weights, tokens), {}, seed=seed).value
    shape = (*tokens.shape, vocab_size)
    if not isinstance(said, Tensor) or said.shape != shape or not said.is_floating_point():
        raise Disqualified(NO_PROBABILITIES.format(shape="(B, T, V)"))
    totals = said.double().exp().sum(dim=-1)
    if not torch.allclose(totals, torch.ones_like(totals), atol=TOLERANCE):
        raise Disqualified(NO_PROBABILITIES.format(shape="(B, T, V)"))
    return said.detach().double()
