"""Generated English-like sentences with their French-like translation and the gold alignment.

    my small black cats that saw the potato never sleep .
    mes petits chats noirs qui ont vu la pomme de terre ne dorment jamais .

A translator has to learn that some adjectives (not all) move behind the noun; that articles, adjectives and
verbs agree with a noun that may be far away; that one word can become several, and several one; and that
negation surrounds the verb. Each source has exactly one translation, so an exact match is meaningful. The
alignment is known from the construction, so an attention map can be wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, fields
from random import Random

import torch
from torch import Tensor

from course.data.translation_grammar import (
    NounPhrase,
    Phrase,
    in_sequence,
    noun_phrase,
    sentence,
    verb_phrase,
    with_place,
    with_relative,
)
from course.data.translation_lexicon import Agreeing, Lexicon, Noun, Verb
from course.data.vocabulary import Vocabulary

SHORTEST_CLAUSE = 3  # the cat sleeps
MOST_CLAUSES, MOST_SENTENCES = 200, 50  # attempts before giving up


@dataclass(frozen=True)
class TranslationConfig:
    """The parameters of the pair. Lengths count the source's words, including the full stop."""

    min_length: int = 4
    max_length: int = 30
    p_before: float = 0.25  # a noun has an adjective that precedes it in French
    p_after: float = 0.4  # … and one that follows it
    p_plural: float = 0.5
    p_place: float = 0.15  # "in front of the house"
    p_relative: float = 0.15  # "that saw the boat"
    p_intransitive: float = 0.3
    p_past: float = 0.3
    p_future: float = 0.2
    p_negated: float = 0.15  # does not, never
    p_adverb: float = 0.2
    lexicon: Lexicon = field(default_factory=Lexicon)

    def __post_init__(self) -> None:
        if not SHORTEST_CLAUSE < self.min_length <= self.max_length:
            raise ValueError(
                f"expected {SHORTEST_CLAUSE + 1} <= min_length <= max_length,"
                f" got min_length = {self.min_length}, max_length = {self.max_length}"
            )
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name.startswith("p_") and not 0 <= value <= 1:
                raise ValueError(f"{each.name}: expected a probability from 0 to 1, got {value}")


@dataclass(frozen=True)
class SentencePair:
    """Source and target words, and the pairs (source index, target index) that translate each other."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]

    @property
    def sure(self) -> tuple[tuple[int, int], ...]:
        """The links of target words that translate exactly one source word.

        In the alignment error rate (Och, Ney 2003) these are the sure links, and `alignment` holds the
        possible ones, so attention that peaks at any of several right words does not count as an error.
        """
        n_origins = Counter(t for _, t in self.alignment)
        return tuple((s, t) for s, t in self.alignment if n_origins[t] == 1)


def translation_pairs(
    config: TranslationConfig,
    n_pairs: int,
    rng: Random,
    *,
    exclude: Collection[tuple[str, ...]] = (),
) -> list[SentencePair]:
    """Pairs whose source lengths are uniform from min_length to max_length.

    Sources in `exclude` are drawn again: pass the training sources to keep them out of a test set.
    Raises ValueError if the settings leave too few sentences of some length.
    """
    if n_pairs < 1:
        raise ValueError(f"n_pairs: expected at least 1, got {n_pairs}")
    return [_new_pair(config, rng, exclude) for _ in range(n_pairs)]


def _new_pair(config: TranslationConfig, rng: Random, exclude: Collection[tuple[str, ...]]) -> SentencePair:
    length = rng.randint(config.min_length, config.max_length)
    for _ in range(MOST_SENTENCES * MOST_CLAUSES):
        pair = draw_pair(config, length, rng)
        if pair.source not in exclude:
            return pair
    raise ValueError(
        f"found no sentence of {length} words outside the {len(exclude)} excluded ones;"
        " there are few short sentences, so a larger min_length helps"
    )


def draw_pair(config: TranslationConfig, length: int, rng: Random) -> SentencePair:
    """One pair whose source has exactly `length` words, in as many clauses as needed.

    Raises ValueError if the settings allow no such sentence.
    """
    for _ in range(MOST_SENTENCES):
        clauses = draw_clauses(config, length - 1, rng)  # one word is the full stop
        if clauses is not None:
            return finished_pair(config, clauses, rng)
    raise ValueError(f"found no sentence of exactly {length} words with these settings")


def draw_clauses(config: TranslationConfig, n_words: int, rng: Random) -> list[Phrase] | None:
    """Clauses that fill `n_words` with connectives between them; None if no clause seems to fit the rest."""
    clauses: list[Phrase] = []
    for _ in range(MOST_CLAUSES):
        clause = draw_clause(config, rng)
        left = n_words - len(clause.source)
        if left == 0:
            return [*clauses, clause]
        if left > SHORTEST_CLAUSE:  # room for a connective and one more clause
            clauses.append(clause)
            n_words = left - 1
    return None


def finished_pair(config: TranslationConfig, clauses: list[Phrase], rng: Random) -> SentencePair:
    """Join the clauses and record which words translate each other."""
    connectives = [rng.choice(config.lexicon.connectives) for _ in clauses[1:]]
    whole = sentence(clauses, connectives)
    links = sorted((s, t) for t, origins in enumerate(whole.origins) for s in origins)
    return SentencePair(whole.source, whole.target, tuple(links))


def draw_clause(config: TranslationConfig, rng: Random) -> Phrase:
    """A subject, a verb and, in most cases, an object."""
    lexicon = config.lexicon
    subject = draw_modified(config, lexicon.people_and_animals, rng)
    if rng.random() < config.p_intransitive:
        return in_sequence(subject.phrase, draw_verb(config, lexicon.intransitive_verbs, subject, rng))
    verb = draw_verb(config, lexicon.transitive_verbs, subject, rng)
    anything = lexicon.people_and_animals + lexicon.things
    return in_sequence(subject.phrase, verb, draw_modified(config, anything, rng).phrase)


def draw_modified(config: TranslationConfig, nouns: tuple[Noun, ...], rng: Random) -> NounPhrase:
    """A noun phrase, perhaps with a place or a relative clause.

    Places and relative clauses contain plain noun phrases only, so a verb always belongs to the last noun
    phrase that has none yet, and no sentence is ambiguous.
    """
    noun = draw_noun(config, nouns, rng)
    lexicon, chance = config.lexicon, rng.random()
    if chance < config.p_place:
        return with_place(noun, rng.choice(lexicon.prepositions), draw_noun(config, lexicon.things, rng))
    if chance < config.p_place + config.p_relative:
        verb = draw_verb(config, lexicon.transitive_verbs, noun, rng)
        return with_relative(noun, verb, draw_noun(config, lexicon.things, rng))
    return noun


def draw_noun(config: TranslationConfig, nouns: tuple[Noun, ...], rng: Random) -> NounPhrase:
    """A determiner, perhaps adjectives, a noun."""
    lexicon, is_plural = config.lexicon, rng.random() < config.p_plural
    determiners = lexicon.plural_determiners if is_plural else lexicon.singular_determiners
    return noun_phrase(
        rng.choice(determiners),
        rng.choice(nouns),
        is_plural=is_plural,
        before=perhaps(lexicon.adjectives_before, config.p_before, rng),
        after=perhaps(lexicon.adjectives_after, config.p_after, rng),
    )


def draw_verb(config: TranslationConfig, verbs: tuple[Verb, ...], subject: NounPhrase, rng: Random) -> Phrase:
    """A verb that agrees with its subject, in some tense, perhaps negated, perhaps with an adverb."""
    verb, is_plural = rng.choice(verbs), subject.is_plural
    if rng.random() < config.p_negated:
        return verb_phrase(verb, is_plural=is_plural, manner=rng.choice(("negated", "never")))
    chance = rng.random()
    is_past, is_future = chance < config.p_past, config.p_past <= chance < config.p_past + config.p_future
    tense = "past" if is_past else "future" if is_future else "present"
    adverb = rng.choice(config.lexicon.adverbs) if rng.random() < config.p_adverb else None
    return verb_phrase(verb, is_plural=is_plural, tense=tense, adverb=adverb)


def perhaps(words: tuple[Agreeing, ...], probability: float, rng: Random) -> Agreeing | None:
    """One of the words with this probability, else None."""
    return rng.choice(words) if rng.random() < probability else None


def alignment_matrix(pair: SentencePair) -> Tensor:
    """True where a target word (row) translates a source word (column): (T, S), like attention weights."""
    matrix = torch.zeros(len(pair.target), len(pair.source), dtype=torch.bool)
    for s, t in pair.alignment:
        matrix[t, s] = True
    return matrix


def translation_vocabularies(lexicon: Lexicon) -> tuple[Vocabulary, Vocabulary]:
    """All source words and all target words that the lexicon can produce, with the special tokens."""
    nouns = lexicon.people_and_animals + lexicon.things
    verbs = lexicon.transitive_verbs + lexicon.intransitive_verbs
    agreeing = (
        lexicon.singular_determiners
        + lexicon.plural_determiners
        + lexicon.adjectives_before
        + lexicon.adjectives_after
    )
    pairs = lexicon.adverbs + lexicon.prepositions + lexicon.connectives
    source = [". that will do does not never", *(english for english, _ in pairs)]
    target = [". qui a ont ne pas jamais", *(french for _, french in pairs)]
    for noun in nouns:
        source += [noun.singular, noun.plural]
        target += [noun.french_singular, noun.french_plural]
    for verb in verbs:
        source += [verb.base, verb.third, verb.past]
        target += [verb.french_singular, verb.french_plural, verb.participle]
        target += [verb.french_future(False), verb.french_future(True)]
    for word in agreeing:
        source.append(word.english)
        target += [form for g in ("m", "f") for plural in (False, True) if (form := word.french(g, plural))]
    return _closed_vocabulary(source), _closed_vocabulary(target)


def _closed_vocabulary(texts: list[str]) -> Vocabulary:
    return Vocabulary.from_sentences([sorted({word for text in texts for word in text.split()})])
