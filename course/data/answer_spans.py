"""Generated passages with a question whose answer is a span of words, and the best possible accuracy.

    ada put the red ball in the kitchen . ben left the green key under the old bed .
    where is the key ?                                          → "under the old bed", words 14 to 17

A passage states where several objects are. The question is about one of these statements, chosen at random.
It names the object, and with probability `p_colour` its colour too. If several statements fit the question,
no model can do better than guess one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class SpanConfig:
    """The parameters of the passages."""

    min_facts: int = 2
    max_facts: int = 4
    p_colour: float = 0.5
    people: tuple[str, ...] = ("ada", "ben", "clara", "david", "emma", "felix")
    verbs: tuple[str, ...] = ("put", "left", "hid")
    colours: tuple[str, ...] = ("red", "green", "blue", "white")
    things: tuple[str, ...] = ("ball", "key", "book", "lamp", "coat", "map", "drum", "cup")
    places: tuple[str, ...] = (
        "in the kitchen",
        "under the old bed",
        "on a chair",
        "behind the big brown door",
        "in the garden",
        "near my window",
    )

    def __post_init__(self) -> None:
        if not 1 <= self.min_facts <= self.max_facts:
            raise ValueError(
                f"expected 1 <= min_facts <= max_facts, got {self.min_facts} and {self.max_facts}"
            )
        if not 0 <= self.p_colour <= 1:
            raise ValueError(f"p_colour: expected a probability from 0 to 1, got {self.p_colour}")


@dataclass(frozen=True)
class SpanQuestion:
    """A question, a passage, and the positions of the answer's first and last word (inclusive)."""

    question: tuple[str, ...]
    passage: tuple[str, ...]
    first: int
    last: int

    @property
    def answer(self) -> tuple[str, ...]:
        return self.passage[self.first : self.last + 1]


def draw_questions(config: SpanConfig, n_questions: int, rng: Random) -> list[SpanQuestion]:
    """Independent passages, each with one question."""
    if n_questions < 1:
        raise ValueError(f"n_questions: expected at least 1, got {n_questions}")
    return [_draw_question(config, rng) for _ in range(n_questions)]


def _draw_question(config: SpanConfig, rng: Random) -> SpanQuestion:
    n_facts = rng.randint(config.min_facts, config.max_facts)
    asked = rng.randrange(n_facts)
    passage: list[str] = []
    for i in range(n_facts):
        colour, thing = rng.choice(config.colours), rng.choice(config.things)
        passage += [rng.choice(config.people), rng.choice(config.verbs), "the", colour, thing]
        place = rng.choice(config.places).split()
        if i == asked:
            first, last = len(passage), len(passage) + len(place) - 1
            names_colour = rng.random() < config.p_colour
            question = ("where", "is", "the", *((colour,) if names_colour else ()), thing, "?")
        passage += [*place, "."]
    return SpanQuestion(question, tuple(passage), first, last)


def possible_answers(config: SpanConfig, question: SpanQuestion) -> list[tuple[int, int]]:
    """The spans of all statements that fit the question, each equally likely to be meant."""
    wanted = question.question[3:-1]  # between "where is the" and "?"
    spans, first_word = [], 0
    for i, word in enumerate(question.passage):
        if word == ".":
            colour, thing = question.passage[first_word + 3 : first_word + 5]
            if wanted in ((thing,), (colour, thing)):
                spans.append((first_word + 5, i - 1))
            first_word = i + 1
    return spans


def best_accuracy(config: SpanConfig) -> float:
    """The fraction of questions that the best possible model answers with exactly the right span.

    Another statement fits by chance with probability q (1 / objects, or 1 / (objects · colours)), so with n
    statements k = 1 + Binomial(n − 1, q) fit, and E[1 / k] = (1 − (1 − q)ⁿ) / (n·q).
    """
    q_thing = 1 / len(config.things)
    q_both = q_thing / len(config.colours)
    counts = range(config.min_facts, config.max_facts + 1)
    total = 0.0
    for n in counts:
        for weight, q in ((1 - config.p_colour, q_thing), (config.p_colour, q_both)):
            total += weight * (1 - (1 - q) ** n) / (n * q)
    return total / len(counts)
