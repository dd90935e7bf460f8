"""The facts that a story has stated so far: who the hero is, and which object belongs to each action.

The memory depends only on the text itself, never on hidden choices, so two ways of parsing the same prefix
always have the same memory. That keeps the filter of `story_filter` exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from course.data.story_words import NO_ACTION, Roles

NOTHING = -1


@dataclass(frozen=True)
class Memory:
    """The facts stated by each of B prefixes; NOTHING where one is not stated yet."""

    roles: Roles
    hero: Tensor  # (B,) the first name
    action: Tensor  # (B,) the last action, by number
    thing_of: Tensor  # (B, A) the object of each action in this story

    @classmethod
    def empty(cls, roles: Roles, batch_size: int) -> Memory:
        """The memory before the first word."""
        nothing = torch.full((batch_size,), NOTHING)
        return cls(roles, nothing, nothing, torch.full((batch_size, roles.n_actions), NOTHING))

    @property
    def vocab_size(self) -> int:
        return self.roles.vocab_size

    def __len__(self) -> int:
        return len(self.hero)

    def rows(self, chosen: Tensor) -> Memory:
        """The memory of some of the prefixes."""
        return Memory(self.roles, self.hero[chosen], self.action[chosen], self.thing_of[chosen])

    def after(self, words: Tensor) -> Memory:
        """The memory after one more word per prefix; words: (B,)."""
        hero = torch.where((self.hero == NOTHING) & self.roles.is_name[words], words, self.hero)
        action_done = self.roles.action_of_verb[words]
        action = torch.where(action_done == NO_ACTION, self.action, action_done)
        action_to_do = self.roles.action_of_thing[words]
        is_first = (action_to_do[:, None] == torch.arange(self.roles.n_actions)) & (self.thing_of == NOTHING)
        return replace(
            self, hero=hero, action=action, thing_of=torch.where(is_first, words[:, None], self.thing_of)
        )

    def is_known(self) -> Tensor:
        """(B, A): True for the actions whose object the story has named."""
        return self.thing_of != NOTHING
