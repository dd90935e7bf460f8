"""The rules of the story language: what a story may look like.

story         <bos> introduction (scene … recall) (scene … recall) … <eos>
introduction  nora dreamed of red tickets burning , blue lamps floating and green drums growing .
scene         the girls near the mill who know the king sing .
recall        she found the blue lamps floating ( they were old ) behind the red tickets burning .
              " i saw the green drums growing and the red tickets burning . " said nora .
"""

from __future__ import annotations

from dataclasses import dataclass, field

from course.data.story_grammar import Part, Slot, either, maybe
from course.data.story_sources import (
    FreshColour,
    HeroName,
    HeroPronoun,
    KnownColour,
    Motion,
    OtherColour,
    RecalledThing,
    Source,
    Words,
)
from course.data.story_words import Lexicon
from course.data.vocabulary import BOS, EOS, Vocabulary


@dataclass(frozen=True)
class StoryConfig:
    """The knobs of the story language."""

    n_bindings: int = 4  # coloured things that each story introduces
    n_recalls: int = 3  # sentences that come back to them
    recall_distance: int = 1  # most scenes in front of each of those, 0 … this many, equally likely
    agreement_distance: int = 2  # most phrases between a subject and its verb
    nesting_depth: int = 2  # most brackets open at once
    zipf: float = 0.5  # the word of rank r in its class has a weight of 1 / r^zipf
    lexicon: Lexicon = field(default_factory=Lexicon)

    def __post_init__(self) -> None:
        n_colours = len(self.lexicon.colours)
        if not 1 <= self.n_bindings <= n_colours:
            raise ValueError(f"n_bindings: expected 1 … {n_colours}, one colour each, got {self.n_bindings}")
        for knob in ("n_recalls", "recall_distance", "agreement_distance", "nesting_depth"):
            if getattr(self, knob) < 0:
                raise ValueError(f"{knob}: expected 0 or more, got {getattr(self, knob)}")


@dataclass(frozen=True)
class StoryRules:
    """The grammar as parts of parts; each method is one rule."""

    config: StoryConfig
    vocabulary: Vocabulary

    def story(self) -> Part:
        """A whole story, from <bos> to <eos>."""
        pieces = (self.scenes(self.config.recall_distance), self.recall()) * self.config.n_recalls
        return (self.word(BOS), self.introduction(), pieces, self.word(EOS))

    def word(self, text: str) -> Part:
        """These very words."""
        return tuple(Slot(Words((token,), (1.0,))) for token in self.vocabulary.encode(text.split()))

    def one_of(self, words: tuple[str, ...]) -> Slot:
        """A word of an open class; the first ones are the most frequent."""
        weights = tuple(rank**-self.config.zipf for rank in range(1, len(words) + 1))
        return Slot(Words(tuple(self.vocabulary.encode(words)), weights))

    def introduction(self) -> Part:
        """A hero and the things of the dream, each with a colour of its own: red tickets burning."""
        words = self.config.lexicon
        n_things = self.config.n_bindings
        items: list[Part] = []
        for i in range(n_things):
            separator = () if i == 0 else self.word("and" if i == n_things - 1 else ",")
            colour = Slot(FreshColour(len(words.colours) - i))
            items += [separator, colour, self.one_of(words.things), self.motion()]
        return (self.one_of(words.women + words.men), self.word("dreamed of"), *items, self.word("."))

    def motion(self) -> Slot:
        """What things of this colour do: usually the colour's own motion, sometimes one of two others."""
        colours, motions = (
            self.vocabulary.encode(words)
            for words in (self.config.lexicon.colours, self.config.lexicon.motions)
        )
        n_motions = len(motions)
        favourites = tuple(
            (colour, tuple(motions[(i + step) % n_motions] for step in (0, 1, 3)[:n_motions]))
            for i, colour in enumerate(colours)
        )
        return Slot(Motion(favourites, (0.8, 0.1, 0.1)[:n_motions]))

    def scenes(self, most: int) -> Part:
        """Between no and `most` scenes, every number equally likely."""
        if most == 0:
            return ()
        return maybe(most / (most + 1), (self.scene(), self.scenes(most - 1)))

    def scene(self) -> Part:
        """A subject whose verb agrees with it, with other nouns in between: the girls near the mill sing."""
        words = self.config.lexicon
        one = self.subject(words.person, words.knows), self.one_of(words.sings), self.word(".")
        many = self.subject(words.persons, words.know), self.one_of(words.sing), self.word(".")
        return either(one, many)

    def subject(self, person: tuple[str, ...], knows: tuple[str, ...]) -> Part:
        """the girls (near the mill) (who know the king)."""
        words, distance = self.config.lexicon, self.config.agreement_distance
        who = (
            self.word("who"),
            self.one_of(knows),
            self.word("the"),
            self.one_of(words.person + words.persons),
        )
        relative_clause = maybe(0.5, who) if distance > 0 else ()
        return (self.word("the"), self.one_of(person), self.places(distance - 1), relative_clause)

    def places(self, most: int) -> Part:
        """Between no and `most` times: near the mill. Nested, so that no text has two derivations."""
        if most < 1:
            return ()
        words = self.config.lexicon
        place = self.one_of(words.near), self.word("the"), self.one_of(words.place + words.places)
        return maybe(0.5, (place, self.places(most - 1)))

    def recall(self) -> Part:
        """A deed of the hero, or something said; both come back to things of the introduction."""
        return either(self.deed(), self.speech())

    def deed(self) -> Part:
        """she found the blue lamps floating ( they were old ) behind the red tickets burning."""
        words = self.config.lexicon
        elsewhere = (self.one_of(words.near), self.mention(OtherColour(self.config.n_bindings)))
        return (
            either(Slot(HeroName()), Slot(HeroPronoun())),
            self.one_of(words.found),
            self.mention(KnownColour(self.config.n_bindings)),
            maybe(0.3, self.aside(self.config.nesting_depth)),
            elsewhere if self.config.n_bindings > 1 else (),
            self.word("."),
        )

    def speech(self) -> Part:
        """ " who saw the green drums growing and the red tickets burning ? " cried nora."""
        another = (
            (self.word("and"), self.mention(OtherColour(self.config.n_bindings)))
            if self.config.n_bindings > 1
            else ()
        )
        things = self.mention(KnownColour(self.config.n_bindings)), another
        sentence = either(
            (self.word("i saw"), things, self.word(".")), (self.word("who saw"), things, self.word("?"))
        )
        said = self.one_of(self.config.lexicon.said), Slot(HeroName()), self.word(".")
        return (self.word('"'), sentence, self.word('"'), said)

    def mention(self, colour: Source) -> Part:
        """the blue lamps floating: a colour, the thing that the story has bound to it, and what it does."""
        return (self.word("the"), Slot(colour), Slot(RecalledThing()), self.motion())

    def aside(self, depth: int) -> Part:
        """( they were old [ they were heavy ] ), closed in the order in which it was opened."""
        if depth == 0:
            return ()
        inside = (
            self.word("they were"),
            self.one_of(self.config.lexicon.old),
            maybe(0.4, self.aside(depth - 1)),
        )
        return either((self.word("("), inside, self.word(")")), (self.word("["), inside, self.word("]")))
