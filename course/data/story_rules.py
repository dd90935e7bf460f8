"""The rules of the story language: what a story may look like.

- story: <s> introduction (scene … recall) (scene … recall) … </s>
- introduction: nora had apples , lamps , tickets and drums .
- scene: the girls near the mill who know the king sing .
- recall: she lit lamps ( they were old ) and played drums near the river .
  or: " who ate apples and printed tickets ? " said nora .
"""

from __future__ import annotations

from dataclasses import dataclass, field

from course.data.story_grammar import Part, Slot, either, maybe
from course.data.story_sources import (
    FreshThing,
    HeroName,
    HeroPronoun,
    KnownVerb,
    OtherVerb,
    RecalledThing,
    Source,
    Words,
)
from course.data.story_words import Lexicon
from course.data.vocabulary import BOS, EOS, Vocabulary


@dataclass(frozen=True)
class StoryConfig:
    """The parameters of the story language."""

    n_bindings: int = 5  # objects that each story introduces, each for a different action
    n_recalls: int = 3  # sentences that refer back to them
    recall_distance: int = 1  # scenes before each of those: 0 … this many, equally likely
    agreement_distance: int = 2  # most phrases between a subject and its verb
    nesting_depth: int = 2  # most brackets open at once
    zipf: float = 0.5  # the word of rank r in its class has a weight of 1 / r^zipf
    lexicon: Lexicon = field(default_factory=Lexicon)

    def __post_init__(self) -> None:
        n_actions = len(self.lexicon.actions)
        if not 1 <= self.n_bindings <= n_actions:
            raise ValueError(f"n_bindings: expected 1 … {n_actions}, one action each, got {self.n_bindings}")
        for knob in ("n_recalls", "recall_distance", "agreement_distance", "nesting_depth"):
            if getattr(self, knob) < 0:
                raise ValueError(f"{knob}: expected 0 or more, got {getattr(self, knob)}")


@dataclass(frozen=True)
class StoryRules:
    """The grammar, built from parts; each method is one rule."""

    config: StoryConfig
    vocabulary: Vocabulary

    def story(self) -> Part:
        """A whole story, from <s> to </s>."""
        pieces = (self.scenes(self.config.recall_distance), self.recall()) * self.config.n_recalls
        return (self.word(BOS), self.introduction(), pieces, self.word(EOS))

    def word(self, text: str) -> Part:
        """Exactly these words."""
        return tuple(Slot(Words((token,), (1.0,))) for token in self.vocabulary.encode(text.split()))

    def one_of(self, words: tuple[str, ...]) -> Slot:
        """A word of an open class; the first words are the most frequent."""
        return Slot(Words(tuple(self.vocabulary.encode(words)), self.weights(len(words))))

    def weights(self, n_words: int) -> tuple[float, ...]:
        """The weight of each word of a class, by rank."""
        return tuple(rank**-self.config.zipf for rank in range(1, n_words + 1))

    def introduction(self) -> Part:
        """A hero and the hero's objects: one for each of several actions."""
        words, n_things = self.config.lexicon, self.config.n_bindings
        items: list[Part] = []
        for i in range(n_things):
            separator = () if i == 0 else self.word("and" if i == n_things - 1 else ",")
            items += [separator, self.fresh_thing(len(words.actions) - i)]
        return (self.one_of(words.women + words.men), self.word("had"), *items, self.word("."))

    def fresh_thing(self, n_actions_left: int) -> Slot:
        """An object for an action that has none yet."""
        things = tuple(tuple(self.vocabulary.encode(each)) for each in self.config.lexicon.things)
        return Slot(FreshThing(n_actions_left, things, self.weights(len(things[0]))))

    def scenes(self, most: int) -> Part:
        """0 to `most` scenes, every number equally likely."""
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
        """0 to `most` places: near the mill. Nested, so that no text has two derivations."""
        if most < 1:
            return ()
        words = self.config.lexicon
        place = self.one_of(words.near), self.word("the"), self.one_of(words.place + words.places)
        return maybe(0.5, (place, self.places(most - 1)))

    def recall(self) -> Part:
        """A deed of the hero or a speech; both refer back to objects of the introduction."""
        return either(self.deed(), self.speech())

    def deed(self) -> Part:
        """she lit lamps ( they were old ) and played drums near the river."""
        return (
            either(Slot(HeroName()), Slot(HeroPronoun())),
            self.action(KnownVerb(self.config.n_bindings)),
            maybe(0.3, self.aside(self.config.nesting_depth)),
            self.another_action(),
            self.places(1),
            self.word("."),
        )

    def speech(self) -> Part:
        """ " who ate apples and printed tickets ? " said nora."""
        things = self.action(KnownVerb(self.config.n_bindings)), self.another_action()
        sentence = either(
            (self.word("i"), things, self.word(".")), (self.word("who"), things, self.word("?"))
        )
        said = self.one_of(self.config.lexicon.said), Slot(HeroName()), self.word(".")
        return (self.word('"'), sentence, self.word('"'), said)

    def action(self, verb: Source) -> Part:
        """lit lamps: an action, and the story's object for it."""
        return (Slot(verb), Slot(RecalledThing()))

    def another_action(self) -> Part:
        """and played drums; nothing if the story has only one object."""
        n_things = self.config.n_bindings
        return (self.word("and"), self.action(OtherVerb(n_things))) if n_things > 1 else ()

    def aside(self, depth: int) -> Part:
        """( they were old [ they were heavy ] ): the bracket opened last closes first."""
        if depth == 0:
            return ()
        inside = (
            self.word("they were"),
            self.one_of(self.config.lexicon.old),
            maybe(0.4, self.aside(depth - 1)),
        )
        return either((self.word("("), inside, self.word(")")), (self.word("["), inside, self.word("]")))
