"""The words of the story language, by class."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor

from course.data.vocabulary import BOS, EOS, Vocabulary


def words(text: str) -> tuple[str, ...]:
    """Write a class of words as one line: "red blue" is ("red", "blue")."""
    return tuple(text.split())


FUNCTION_WORDS = words('. , and ? " ( ) [ ] the who dreamed of i saw they were she he')


@dataclass(frozen=True)
class Lexicon:
    """The open word classes. Words at the same place belong together: girl and girls, red and burning."""

    women: tuple[str, ...] = words("nora anna clara emma ivy ruth")
    men: tuple[str, ...] = words("ben hugo omar paul felix david")
    colours: tuple[str, ...] = words("red blue green white golden black silver yellow grey purple brown pink")
    motions: tuple[str, ...] = words(  # what things of that colour do in a dream
        "burning floating growing melting shining vanishing gleaming glowing fading spinning rolling dancing"
    )
    things: tuple[str, ...] = words(
        "tickets lamps drums kites books coins shoes boxes clocks cups"
        " gloves keys letters maps apples pens ropes stamps bells toys"
    )
    person: tuple[str, ...] = words("girl boy teacher farmer sailor baker nurse king")
    persons: tuple[str, ...] = words("girls boys teachers farmers sailors bakers nurses kings")
    place: tuple[str, ...] = words("mill river bridge school market church")
    places: tuple[str, ...] = words("mills rivers bridges schools markets churches")
    sings: tuple[str, ...] = words("sings waits laughs sleeps walks")
    sing: tuple[str, ...] = words("sing wait laugh sleep walk")
    knows: tuple[str, ...] = words("knows likes sees helps")
    know: tuple[str, ...] = words("know like see help")
    found: tuple[str, ...] = words("found hid put left")
    near: tuple[str, ...] = words("near behind beside under")
    said: tuple[str, ...] = words("said cried whispered")
    old: tuple[str, ...] = words("old heavy broken pretty")

    def __post_init__(self) -> None:
        for one, other in (
            ("colours", "motions"),
            ("person", "persons"),
            ("place", "places"),
            ("sings", "sing"),
            ("knows", "know"),
        ):
            if len(getattr(self, one)) != len(getattr(self, other)):
                raise ValueError(
                    f"{one}, {other}: expected equally many words, they belong together in pairs"
                )

    def first(self, n_words: int) -> Lexicon:
        """The same classes cut to their first `n_words` words."""
        return replace(self, **{each.name: getattr(self, each.name)[:n_words] for each in fields(self)})

    def vocabulary(self) -> Vocabulary:
        """<bos>, <eos>, the function words, then class after class."""
        open_words = [word for each in fields(self) for word in getattr(self, each.name)]
        return Vocabulary((BOS, EOS, *FUNCTION_WORDS, *open_words))


@dataclass(frozen=True)
class Roles:
    """What the memory of a story watches for, word by word."""

    is_colour: Tensor  # (V,) bool
    is_name: Tensor  # (V,) bool
    pronoun_of: Tensor  # (V,) int64: she or he for a name

    @classmethod
    def of(cls, lexicon: Lexicon, vocabulary: Vocabulary) -> Roles:
        """The roles that the words of a lexicon play."""
        colours, women, men = (
            torch.tensor(vocabulary.encode(words)) for words in (lexicon.colours, lexicon.women, lexicon.men)
        )
        is_colour = torch.zeros(len(vocabulary), dtype=torch.bool)
        is_name, pronoun_of = is_colour.clone(), torch.zeros(len(vocabulary), dtype=torch.int64)
        is_colour[colours] = True
        is_name[torch.cat([women, men])] = True
        pronoun_of[women], pronoun_of[men] = vocabulary.token("she"), vocabulary.token("he")
        return cls(is_colour, is_name, pronoun_of)
