"""The words of the story language, by class."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import chain

import torch
from torch import Tensor

from course.data.vocabulary import BOS, EOS, Vocabulary


def words(text: str) -> tuple[str, ...]:
    """Write a class of words as one line: "red blue" is ("red", "blue")."""
    return tuple(text.split())


FUNCTION_WORDS = words('. , and ? " ( ) [ ] the who i had they were she he')


@dataclass(frozen=True)
class Lexicon:
    """The open word classes. Words with the same index belong together: girl and girls, sings and sing."""

    women: tuple[str, ...] = words("nora anna clara emma ivy ruth")
    men: tuple[str, ...] = words("ben hugo omar paul felix david")
    actions: tuple[tuple[str, ...], ...] = (  # a verb and its objects
        words("printed tickets posters photos labels cards"),
        words("wore gloves boots scarves hats coats"),
        words("ate apples nuts plums cakes pears"),
        words("read letters books poems maps tales"),
        words("played drums flutes bells pipes horns"),
        words("lit lamps candles torches stoves matches"),
        words("fed cats hens goats ducks dogs"),
        words("rode horses camels mules ponies bikes"),
        words("opened boxes trunks bags tins jars"),
        words("planted roses beans tulips trees herbs"),
        words("washed cups plates bowls spoons pots"),
        words("mended clocks kites boats chairs nets"),
    )
    person: tuple[str, ...] = words("girl boy teacher farmer sailor baker nurse king")
    persons: tuple[str, ...] = words("girls boys teachers farmers sailors bakers nurses kings")
    place: tuple[str, ...] = words("mill river bridge school market church")
    places: tuple[str, ...] = words("mills rivers bridges schools markets churches")
    sings: tuple[str, ...] = words("sings waits laughs sleeps walks")
    sing: tuple[str, ...] = words("sing wait laugh sleep walk")
    knows: tuple[str, ...] = words("knows likes sees helps")
    know: tuple[str, ...] = words("know like see help")
    near: tuple[str, ...] = words("near behind beside under")
    said: tuple[str, ...] = words("said cried whispered")
    old: tuple[str, ...] = words("old heavy broken pretty")

    def __post_init__(self) -> None:
        for one, other in (
            ("person", "persons"),
            ("place", "places"),
            ("sings", "sing"),
            ("knows", "know"),
        ):
            if len(getattr(self, one)) != len(getattr(self, other)):
                raise ValueError(
                    f"{one}, {other}: expected equally many words, because they belong together in pairs"
                )

        if len({len(action) for action in self.actions}) != 1:
            raise ValueError("actions: expected the same number of objects for every action")

    @property
    def verbs(self) -> tuple[str, ...]:
        """The verbs, in the order of the actions."""
        return tuple(verb for verb, *_ in self.actions)

    @property
    def things(self) -> tuple[tuple[str, ...], ...]:
        """The objects of each action."""
        return tuple(tuple(things) for _, *things in self.actions)

    def first(self, n_words: int) -> Lexicon:
        """The same classes cut to their first `n_words` words: as many actions, with as many objects each."""
        cut = {each.name: getattr(self, each.name)[:n_words] for each in fields(self)}
        return replace(self, **cut | {"actions": tuple(action[: n_words + 1] for action in cut["actions"])})

    def vocabulary(self) -> Vocabulary:
        """<s>, </s>, the function words, then one class after another."""
        classes = [getattr(self, each.name) for each in fields(self) if each.name != "actions"]
        return Vocabulary((BOS, EOS, *FUNCTION_WORDS, *chain(*classes), *chain(*self.actions)))


NO_ACTION = -1


@dataclass(frozen=True)
class Roles:
    """What each word means to the memory of a story: which action, object, name or pronoun it is."""

    action_of_verb: Tensor  # (V,) int64: the number of the action, NO_ACTION for other words
    action_of_thing: Tensor  # (V,) int64: likewise for the action's objects
    n_actions: int
    is_name: Tensor  # (V,) bool
    pronoun_of: Tensor  # (V,) int64: she or he for a name

    @property
    def vocab_size(self) -> int:
        return len(self.is_name)

    @classmethod
    def of(cls, lexicon: Lexicon, vocabulary: Vocabulary) -> Roles:
        """The roles that the words of a lexicon play."""
        action_of_verb = torch.full((len(vocabulary),), NO_ACTION)
        action_of_thing = action_of_verb.clone()
        is_name, pronoun_of = torch.zeros_like(action_of_verb).bool(), torch.zeros_like(action_of_verb)
        for action, (verb, things) in enumerate(zip(lexicon.verbs, lexicon.things, strict=True)):
            action_of_verb[vocabulary.token(verb)] = action
            action_of_thing[vocabulary.encode(things)] = action
        for names, pronoun in ((lexicon.women, "she"), (lexicon.men, "he")):
            is_name[vocabulary.encode(names)] = True
            pronoun_of[vocabulary.encode(names)] = vocabulary.token(pronoun)
        return cls(action_of_verb, action_of_thing, len(lexicon.actions), is_name, pronoun_of)
