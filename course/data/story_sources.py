"""Sources: the distributions from which the slots of a story draw their words, fixed or given by the memory.

A source gives P(word | memory) for a batch of memories, and its entropy. The entropy is the same for every
memory that is possible at the slot, so the entropy of whole stories is a finite sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch

from course.data.story_memory import NOTHING, Memory
from course.data.story_words import Roles
from course.shapes import Bool, Float, Int, Tensor


class Source(Protocol):
    """The distribution from which a slot draws its word."""

    @property
    def entropy(self) -> float:
        """In nats."""
        ...

    def probs(self, memory: Memory) -> Float[Tensor, "batch vocab"]:
        """P(word | memory), float64; a row of zeros if the memory holds no word for this slot."""
        ...


def shares(weights: tuple[float, ...]) -> list[float]:
    """The weights, scaled to sum to one."""
    return [weight / sum(weights) for weight in weights]


def entropy(probs: list[float]) -> float:
    """−Σ p ln p, in nats."""
    return -sum(p * math.log(p) for p in probs)


def uniform(allowed: Bool[Tensor, "batch choices"]) -> Float[Tensor, "batch choices"]:
    """The uniform distribution over what each row allows."""
    return allowed.double() / allowed.sum(-1, keepdim=True).clamp(min=1)


def certain(words: Int[Tensor, " batch"], vocab_size: int) -> Float[Tensor, "batch vocab"]:
    """Probability one for this word, a row of zeros for NOTHING."""
    return (torch.arange(vocab_size) == words[:, None]).double()


@dataclass(frozen=True)
class Words:
    """A fixed distribution, independent of the memory."""

    tokens: tuple[int, ...]
    weights: tuple[float, ...]

    @property
    def entropy(self) -> float:
        return entropy(shares(self.weights))

    def row(self, vocab_size: int) -> Float[Tensor, " vocab"]:
        """The distribution."""
        row = torch.zeros(vocab_size, dtype=torch.float64)
        row[list(self.tokens)] = torch.tensor(shares(self.weights), dtype=torch.float64)
        return row

    def probs(self, memory: Memory) -> Float[Tensor, "batch vocab"]:
        return self.row(memory.vocab_size).expand(len(memory), -1)


@dataclass(frozen=True)
class FreshThing:
    """An object for an action that has none yet, when `n_left` such actions are left."""

    n_left: int
    things: tuple[tuple[int, ...], ...]  # for each action
    weights: tuple[float, ...]  # of the things of one action, the same for all

    @property
    def entropy(self) -> float:
        return math.log(self.n_left) + entropy(shares(self.weights))

    def probs(self, memory: Memory) -> Float[Tensor, "batch vocab"]:
        within_action = torch.zeros(len(self.things), memory.vocab_size, dtype=torch.float64)
        for action, things in enumerate(self.things):
            within_action[action, list(things)] = torch.tensor(shares(self.weights), dtype=torch.float64)
        return uniform(~memory.is_known()) @ within_action  # (B, A) @ (A, V)


def verbs_of(actions: Float[Tensor, "batch actions"], roles: Roles) -> Float[Tensor, "batch vocab"]:
    """Probabilities of actions as probabilities of their verbs."""
    is_verb = roles.action_of_verb[:, None] == torch.arange(roles.n_actions)  # (V, A)
    return actions @ is_verb.double().T


@dataclass(frozen=True)
class KnownVerb:
    """One of the `n_known` actions whose objects the story has named."""

    n_known: int

    @property
    def entropy(self) -> float:
        return math.log(self.n_known)

    def probs(self, memory: Memory) -> Float[Tensor, "batch vocab"]:
        return verbs_of(uniform(memory.is_known()), memory.roles)


@dataclass(frozen=True)
class OtherVerb:
    """One of the `n_known` actions, except the last one mentioned."""

    n_known: int

    @property
    def entropy(self) -> float:
        return math.log(self.n_known - 1)

    def probs(self, memory: Memory) -> Float[Tensor, "batch vocab"]:
        is_last = torch.arange(memory.roles.n_actions) == memory.action[:, None]
        return verbs_of(uniform(memory.is_known() & ~is_last), memory.roles)


@dataclass(frozen=True)
class RecalledThing:
    """The story's object for the action just mentioned."""

    entropy: float = 0.0

    def probs(self, memory: Memory) -> Float[Tensor, "batch vocab"]:
        thing = memory.thing_of.gather(1, memory.action.clamp(min=0)[:, None])[:, 0]
        return certain(torch.where(memory.action == NOTHING, NOTHING, thing), memory.vocab_size)


@dataclass(frozen=True)
class HeroName:
    """The name of the story's first person."""

    entropy: float = 0.0

    def probs(self, memory: Memory) -> Float[Tensor, "batch vocab"]:
        return certain(memory.hero, memory.vocab_size)


@dataclass(frozen=True)
class HeroPronoun:
    """She or he, according to the hero's name."""

    entropy: float = 0.0

    def probs(self, memory: Memory) -> Float[Tensor, "batch vocab"]:
        pronoun = torch.where(memory.hero == NOTHING, NOTHING, memory.roles.pronoun_of[memory.hero])
        return certain(pronoun, memory.vocab_size)
