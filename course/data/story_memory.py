"""What a story has said so far: who the hero is, and which thing has which colour.

The memory is read off the text itself, never off hidden choices, so two ways of parsing the same prefix
always remember the same things. That is what keeps the filter of `story_filter` exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from course.data.story_words import Roles

NOTHING = -1


@dataclass(frozen=True)
class Memory:
    """What each of B prefixes has said so far; NOTHING where it has not said it yet."""

    roles: Roles
    latest: Tensor  # (B,) the last word
    colour: Tensor  # (B,) the last colour
    thing_of: Tensor  # (B, V) for each colour the word that followed it
    hero: Tensor  # (B,) the first name

    @classmethod
    def empty(cls, roles: Roles, batch_size: int) -> Memory:
        """The memory before the first word."""
        nothing = torch.full((batch_size,), NOTHING)
        return cls(roles, nothing, nothing, torch.full((batch_size, len(roles.is_colour)), NOTHING), nothing)

    @property
    def vocab_size(self) -> int:
        return self.thing_of.shape[1]

    def rows(self, chosen: Tensor) -> Memory:
        """The memory of some of the prefixes."""
        return Memory(
            self.roles, self.latest[chosen], self.colour[chosen], self.thing_of[chosen], self.hero[chosen]
        )

    def after(self, words: Tensor) -> Memory:
        """The memory after one more word per prefix; words: (B,)."""
        named = (self.colour == self.latest) & (self.latest != NOTHING)  # this word names the coloured thing
        prefixes = named.nonzero()[:, 0]
        thing_of = self.thing_of.clone()
        thing_of[prefixes, self.latest[prefixes]] = words[prefixes]
        colour = torch.where(self.roles.is_colour[words], words, self.colour)
        hero = torch.where((self.hero == NOTHING) & self.roles.is_name[words], words, self.hero)
        return replace(self, latest=words, colour=colour, thing_of=thing_of, hero=hero)

    def is_known(self) -> Tensor:
        """(B, V) which colours the story has introduced."""
        return self.thing_of != NOTHING
