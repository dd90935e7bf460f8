"""Generated sentences with names tagged in BIO form, and the best accuracy that any tagger can reach.

    washington  lives in new    york   and ford   bought the   …
    B-PER       O     O  B-LOC  I-LOC  O   B-ORG  O

Names are ambiguous: "washington" may be a person or a place, and "new york" is the beginning of "new york
times". A verb says something about the kind of name on each side, so words on both sides are needed, and
some sentences remain ambiguous even so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

KINDS = ("PER", "LOC", "ORG")
TAGS = ("O", *(f"{place}-{kind}" for kind in KINDS for place in "BI"))

KindProbabilities = tuple[float, float, float]  # P(PER), P(LOC), P(ORG)


@dataclass(frozen=True)
class VerbPattern:
    """A verb and how likely each kind of name is before and after it."""

    verb: str
    before: KindProbabilities
    after: KindProbabilities


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


@dataclass(frozen=True)
class EntityConfig:
    """The names of each kind (equally likely within it), the verbs, and the most clauses in a sentence."""

    max_clauses: int = 3
    people: tuple[str, ...] = _names(
        "ada, ben, jordan, georgia, washington, ford, grace hopper, paris, austin, clara"
    )
    places: tuple[str, ...] = _names(
        "lisbon, paris, jordan, georgia, washington, new york, austin, cape town, oslo"
    )
    organisations: tuple[str, ...] = _names(
        "shell, ford, amazon, new york times, washington post, red cross, austin motors"
    )
    verbs: tuple[VerbPattern, ...] = field(
        default=(
            VerbPattern("lives in", (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
            VerbPattern("works for", (1.0, 0.0, 0.0), (0.3, 0.0, 0.7)),
            VerbPattern("visited", (1.0, 0.0, 0.0), (0.3, 0.6, 0.1)),
            VerbPattern("likes", (1.0, 0.0, 0.0), (0.5, 0.3, 0.2)),
            VerbPattern("bought", (0.4, 0.0, 0.6), (0.0, 0.0, 1.0)),
            VerbPattern("thanked", (0.5, 0.2, 0.3), (0.5, 0.2, 0.3)),
        )
    )

    def __post_init__(self) -> None:
        if self.max_clauses < 1:
            raise ValueError(f"max_clauses: expected at least 1, got {self.max_clauses}")
        for pattern in self.verbs:
            for probabilities in (pattern.before, pattern.after):
                if min(probabilities) < 0 or abs(sum(probabilities) - 1) > 1e-9:
                    raise ValueError(f"{pattern.verb}: expected shares that sum to 1, got {probabilities}")

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """The names of each kind, in the order of `KINDS`."""
        return self.people, self.places, self.organisations


@dataclass(frozen=True)
class TaggedSentence:
    """Words and one tag for each."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True)
class TaggingAccuracy:
    """Fractions of words and of whole names that are tagged correctly."""

    words: float
    names: float


def name_tags(kind: str, name: str) -> list[str]:
    """ "new york", LOC → ["B-LOC", "I-LOC"]."""
    return [f"B-{kind}"] + [f"I-{kind}"] * (len(name.split()) - 1)


def draw_tagged_sentences(config: EntityConfig, n_sentences: int, rng: Random) -> list[TaggedSentence]:
    """Independent sentences of 1 to `max_clauses` clauses: name, verb, name."""
    if n_sentences < 1:
        raise ValueError(f"n_sentences: expected at least 1, got {n_sentences}")
    return [_draw_sentence(config, rng) for _ in range(n_sentences)]


def _draw_sentence(config: EntityConfig, rng: Random) -> TaggedSentence:
    words: list[str] = []
    tags: list[str] = []
    for i in range(rng.randint(1, config.max_clauses)):
        pattern = rng.choice(config.verbs)
        before, after = _draw_name(config, pattern.before, rng), _draw_name(config, pattern.after, rng)
        outside = ["and"] if i else []
        for text, text_tags in ((outside, ["O"] * len(outside)), before, _verb(pattern), after):
            words += text
            tags += text_tags
    return TaggedSentence((*words, "."), (*tags, "O"))


def _verb(pattern: VerbPattern) -> tuple[list[str], list[str]]:
    words = pattern.verb.split()
    return words, ["O"] * len(words)


def _draw_name(
    config: EntityConfig, probabilities: KindProbabilities, rng: Random
) -> tuple[list[str], list[str]]:
    (kind,) = rng.choices(range(len(KINDS)), probabilities)
    name = rng.choice(config.names[kind])
    return name.split(), name_tags(KINDS[kind], name)


def kind_weights(config: EntityConfig, probabilities: KindProbabilities, name: str) -> list[float]:
    """P(kind and name) for each kind, at a position where the kinds have these probabilities."""
    return [
        probability * (names.count(name) / len(names))
        for probability, names in zip(probabilities, config.names, strict=True)
    ]


def best_tags(config: EntityConfig, words: Sequence[str]) -> list[str]:
    """The most probable tags given the whole sentence, which no tagger can beat on average."""
    tags: list[str] = []
    for name, probabilities in _read(config, words):
        if probabilities is None:
            tags += ["O"] * len(name.split())
        else:
            weights = kind_weights(config, probabilities, name)
            tags += name_tags(KINDS[weights.index(max(weights))], name)
    return tags


def _read(config: EntityConfig, words: Sequence[str]) -> Iterator[tuple[str, KindProbabilities | None]]:
    """The sentence in parts: names with the probabilities of their kinds, other words with None."""
    clause: list[str] = []
    for word in words:
        if word not in ("and", "."):
            clause.append(word)
            continue
        text = f" {' '.join(clause)} "
        pattern = next(pattern for pattern in config.verbs if f" {pattern.verb} " in text)
        before, after = text.split(f" {pattern.verb} ")
        yield from ((before.strip(), pattern.before), (pattern.verb, None), (after.strip(), pattern.after))
        yield word, None
        clause = []


def best_accuracy(config: EntityConfig) -> TaggingAccuracy:
    """The accuracy of the best possible tagger, by summing over every verb, side and name.

    At each position the best choice is the kind with the largest P(kind, name), and its probability is the
    chance of being right. All other words are certain.
    """
    right_names = right_words = name_words = 0.0
    sides = [side for pattern in config.verbs for side in (pattern.before, pattern.after)]
    for probabilities in sides:
        for name in sorted(set().union(*config.names)):
            weights, n_words = kind_weights(config, probabilities, name), len(name.split())
            right_names += max(weights)
            right_words += max(weights) * n_words
            name_words += sum(weights) * n_words
    # Per clause: two names, a verb, and "and" or the full stop.
    other_words = sum(len(pattern.verb.split()) + 1 for pattern in config.verbs)
    words = (right_words + other_words) / (name_words + other_words)
    return TaggingAccuracy(words, right_names / len(sides))
