"""The words of the story language, by class."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor

from course.data.vocabulary import BOS, EOS, Vocabulary

FUNCTION_WORDS = tuple('. , and ? " ( ) [ ] the who dreamed of i saw are they were she he'.split())


@dataclass(frozen=True)
class Lexicon:
    """The open word classes. Words at the same place belong together: girl and girls, red and burning."""

    women: tuple[str, ...] = ("nora", "anna", "clara", "emma", "ivy", "ruth")
    men: tuple[str, ...] = ("ben", "hugo", "omar", "paul", "felix", "david")
    colours: tuple[str, ...] = tuple(
        "red blue green white golden black silver yellow grey purple brown pink".split()
    )
    motions: tuple[str, ...] = tuple(  # what things of that colour do in a dream
        "burning floating growing melting shining vanishing gleaming glowing fading spinning rolling dancing".split()
    )
    things: tuple[str, ...] = tuple(
        "tickets lamps drums kites books coins shoes boxes clocks cups"
        " gloves keys letters maps apples pens ropes stamps bells toys".split()
    )
    person: tuple[str, ...] = tuple("girl boy teacher farmer sailor baker nurse king".split())
    persons: tuple[str, ...] = tuple("girls boys teachers farmers sailors bakers nurses kings".split())
    place: tuple[str, ...] = tuple("mill river bridge school market church".split())
    places: tuple[str, ...] = tuple("mills rivers bridges schools markets churches".split())
    sings: tuple[str, ...] = tuple("sings waits laughs sleeps walks".split())
    sing: tuple[str, ...] = tuple("sing wait laugh sleep walk".split())
    knows: tuple[str, ...] = tuple("knows likes sees helps".split())
    know: tuple[str, ...] = tuple("know like see help".split())
    found: tuple[str, ...] = tuple("found hid put left".split())
    near: tuple[str, ...] = tuple("near behind beside under".split())
    said: tuple[str, ...] = tuple("said cried whispered".split())
    old: tuple[str, ...] = tuple("old heavy broken pretty".split())

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
