"""One sentence in two languages: phrases are built in both at once, with the links between their words.

    the  small  black  cats    never sleep          the  girl   that  saw    a    boat
     |     |  \\   /  |          |   \\ /             |     |     |    / \\    |     |
    les petits chats noirs   ne dorment jamais      la  fille   qui   a vu   un  bateau

Nothing is drawn at random here: the same English always becomes the same French.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from course.data.translation_lexicon import Agreeing, Gender, Noun, Tense, Verb

Manner = Literal["plain", "negated", "never"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """English words, French words, and for each French word the indices of its English words."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    origins: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class NounPhrase:
    """A phrase whose head decides agreement in French."""

    phrase: Phrase
    gender: Gender
    is_plural: bool


def linked(source: Mapping[str, str], target: Sequence[tuple[str, str]]) -> Phrase:
    """A phrase from named English parts in order, and French parts in order with the names they translate.

    linked({"noun": "potato"}, [("pomme de terre", "noun")]): all words of a part have the same links.
    """
    words: list[str] = []
    places: dict[str, tuple[int, ...]] = {}
    for name, text in source.items():
        places[name] = tuple(range(len(words), len(words) + len(text.split())))
        words += text.split()
    french, origins = [], []
    for text, names in target:
        for word in text.split():
            french.append(word)
            origins.append(tuple(sorted(place for name in names.split() for place in places[name])))
    return Phrase(tuple(words), tuple(french), tuple(origins))


def in_sequence(*phrases: Phrase) -> Phrase:
    """Phrases one after another, in both languages."""
    source: list[str] = []
    target: list[str] = []
    origins: list[tuple[int, ...]] = []
    for phrase in phrases:
        first = len(source)
        origins += [tuple([first + place for place in each]) for each in phrase.origins]
        source += phrase.source
        target += phrase.target
    return Phrase(tuple(source), tuple(target), tuple(origins))


@cache  # a lexicon has a few thousand noun phrases, and a corpus repeats each of them many times
def noun_phrase(
    determiner: Agreeing,
    noun: Noun,
    *,
    is_plural: bool,
    before: Agreeing | None = None,
    after: Agreeing | None = None,
) -> NounPhrase:
    """The small black cats → les petits chats noirs; `before` and `after` say where French puts them."""
    agreeing = {"determiner": determiner, "before": before, "after": after}
    present = {name: word for name, word in agreeing.items() if word is not None}
    english = {name: word.english for name, word in present.items()} | {"noun": noun.english(is_plural)}
    french = {name: word.existing_french(noun.gender, is_plural) for name, word in present.items()}
    french["noun"] = noun.french(is_plural)
    order = [name for name in ("determiner", "before", "noun", "after") if name in french]
    return NounPhrase(linked(english, [(french[name], name) for name in order]), noun.gender, is_plural)


def with_place(noun: NounPhrase, preposition: tuple[str, str], other: NounPhrase) -> NounPhrase:
    """The cats + in front of + a door."""
    english, french = preposition
    link = linked({"preposition": english}, [(french, "preposition")])
    return NounPhrase(in_sequence(noun.phrase, link, other.phrase), noun.gender, noun.is_plural)


def with_relative(noun: NounPhrase, verb_phrase: Phrase, other: NounPhrase) -> NounPhrase:
    """The cats + that + saw + a door; the verb must agree with the cats."""
    link = linked({"that": "that"}, [("qui", "that")])
    phrase = in_sequence(noun.phrase, link, verb_phrase, other.phrase)
    return NounPhrase(phrase, noun.gender, noun.is_plural)


@cache
def verb_phrase(
    verb: Verb,
    *,
    is_plural: bool,
    tense: Tense = "present",
    manner: Manner = "plain",
    adverb: tuple[str, str] | None = None,
) -> Phrase:
    """The verb with its auxiliaries, negation and adverb; negation only in the present, without an adverb."""
    present = verb.base if is_plural else verb.third
    french = verb.french_plural if is_plural else verb.french_singular
    if manner == "negated":
        source = {"do": "do" if is_plural else "does", "not": "not", "verb": verb.base}
        return linked(source, [("ne", "not"), (french, "do verb"), ("pas", "not")])
    if manner == "never":
        target = [("ne", "never"), (french, "verb"), ("jamais", "never")]
        return linked({"never": "never", "verb": present}, target)
    often, souvent = ({"adverb": adverb[0]}, [(adverb[1], "adverb")]) if adverb else ({}, [])
    if tense == "past":
        auxiliary = "ont" if is_plural else "a"
        target = [(auxiliary, "verb"), *souvent, (verb.participle, "verb")]
        return linked(often | {"verb": verb.past}, target)
    if tense == "future":
        source = {"will": "will"} | often | {"verb": verb.base}
        return linked(source, [(verb.french_future(is_plural), "will verb"), *souvent])
    return linked(often | {"verb": present}, [(french, "verb"), *souvent])


def sentence(clauses: Sequence[Phrase], connectives: Sequence[tuple[str, str]]) -> Phrase:
    """Clauses joined by connectives, with a full stop."""
    links = [linked({"link": english}, [(french, "link")]) for english, french in connectives]
    parts = [clauses[0]]
    for link, clause in zip(links, clauses[1:], strict=True):
        parts += [link, clause]
    return in_sequence(*parts, linked({"stop": "."}, [(".", "stop")]))
