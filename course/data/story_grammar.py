"""A grammar as a stochastic regular expression, and the finite automaton it compiles to.

A part of a text is one of three things:

    Slot(source)                       one word, drawn from a source
    (part, part, …)                    one after the other; () is nothing
    Choice(((p, part), (p, part)))     one of them, with these probabilities

There are no loops, so a text has a greatest length, and the automaton is a directed acyclic graph whose
nodes are the slots (the position automaton of Glushkov 1961: one state per symbol of the expression).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from course.data.story_sources import Source


@dataclass(frozen=True)
class Slot:
    """One word of the text."""

    source: Source


@dataclass(frozen=True)
class Choice:
    """One of several parts; the probabilities sum to one."""

    options: tuple[tuple[float, Part], ...]

    def __post_init__(self) -> None:
        total = sum(probability for probability, _ in self.options)
        if abs(total - 1) > 1e-9:
            raise ValueError(f"options: expected probabilities that sum to 1, got a sum of {total}")


Part = Slot | Choice | tuple


def maybe(probability: float, part: Part) -> Choice:
    """The part with this probability, otherwise nothing."""
    return Choice(((probability, part), (1 - probability, ())))


def either(*parts: Part) -> Choice:
    """One of the parts, all equally likely."""
    return Choice(tuple((1 / len(parts), part) for part in parts))


@dataclass(frozen=True)
class Automaton:
    """N word slots, each after all that may precede it: node 0 begins the text, the last one ends it."""

    sources: tuple[Source, ...]  # S distinct sources of words
    source_of: Tensor  # (N,) which source a node draws its word from
    follow: Tensor  # (N, N) P(next node | node), float64; zero below the diagonal, the end follows itself

    @property
    def n_nodes(self) -> int:
        return len(self.source_of)

    def expected_visits(self) -> Tensor:
        """(N,) how often a text passes each node on average; the end counts once."""
        visits = torch.zeros(self.n_nodes, dtype=torch.float64)
        visits[0] = 1.0
        for node in range(self.n_nodes - 1):
            visits += visits[node] * self.follow[node]
        return visits

    def entropy(self) -> float:
        """Entropy of a whole text in nats: at each node that of its word and of the choice of the next node.

        Exact if no text has two derivations, because text and derivation then determine each other.
        """
        words = torch.tensor([source.entropy for source in self.sources], dtype=torch.float64)
        choices = torch.special.entr(self.follow).sum(-1)  # Σ −p ln p; zero at the last node
        return float((self.expected_visits() * (words[self.source_of] + choices)).sum())

    def longest_text(self) -> int:
        """Number of words of the longest text, its first and last included."""
        longest = torch.ones(self.n_nodes, dtype=torch.int64)
        for node in reversed(range(self.n_nodes - 1)):
            longest[node] = 1 + longest[self.follow[node] > 0].max()
        return int(longest[0])


def compile_grammar(part: Part) -> Automaton:
    """Number the slots of a grammar and collect P(next slot | slot).

    Raises ValueError unless all texts begin with the same slot and end with the same slot.
    """
    slots: list[tuple[Source, dict[int, float]]] = []  # from the end of the text to its beginning

    def enter(part: Part, then: dict[int, float]) -> dict[int, float]:
        """Put `part` in front of what follows it; return the slots it may begin with, with probabilities."""
        if isinstance(part, Slot):
            slots.append((part.source, then))
            return {len(slots) - 1: 1.0}
        if isinstance(part, tuple):
            for piece in reversed(part):
                then = enter(piece, then)
            return then
        beginnings: dict[int, float] = {}
        for probability, option in part.options:
            if probability > 0:
                for slot, share in enter(option, then).items():
                    beginnings[slot] = beginnings.get(slot, 0.0) + probability * share
        return beginnings

    first = enter(part, {})
    if len(first) != 1 or sum(not then for _, then in slots) != 1:
        raise ValueError("part: expected texts that all begin with one slot and all end with one slot")
    return _numbered(slots)


def _numbered(slots: list[tuple[Source, dict[int, float]]]) -> Automaton:
    """The automaton of slots collected from the end: each node is numbered after all that may precede it."""
    last = len(slots) - 1
    sources = tuple(dict.fromkeys(source for source, _ in reversed(slots)))
    follow = torch.zeros(len(slots), len(slots), dtype=torch.float64)
    for slot, (_, then) in enumerate(slots):
        for successor, probability in then.items():
            follow[last - slot, last - successor] = probability
    follow[last, last] = 1.0
    source_of = torch.tensor([sources.index(source) for source, _ in reversed(slots)])
    return Automaton(sources, source_of, follow)
