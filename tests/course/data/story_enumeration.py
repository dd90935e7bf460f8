"""All stories of a small grammar with their probabilities, by plain recursion over its rules.

Independent of the automaton, the filter and the sampler: parts are expanded as they are written, and what the
story holds is a dictionary.
"""

from collections import Counter
from collections.abc import Iterator

from course.data.story_grammar import Choice, Part, Slot
from course.data.story_language import StoryLanguage
from course.data.story_rules import StoryRules
from course.data.story_sources import (
    FreshThing,
    HeroName,
    HeroPronoun,
    KnownVerb,
    OtherVerb,
    RecalledThing,
    Words,
)


def all_stories(language: StoryLanguage) -> Counter:
    """Each story as a tuple of words → its probability."""
    lexicon = language.config.lexicon
    verb_of = {thing: verb for verb, *things in lexicon.actions for thing in things}
    pronoun_of = dict.fromkeys(lexicon.women, "she") | dict.fromkeys(lexicon.men, "he")
    zipf = [rank**-language.config.zipf for rank in range(1, 100)]

    def choices(source: object, text: tuple[str, ...]) -> dict[str, float]:
        """What a slot may say after this text, with probabilities."""
        holds = {}
        for word in text:
            if word in verb_of:
                holds.setdefault(verb_of[word], word)
        hero = next((word for word in text if word in pronoun_of), None)
        said = [word for word in text if word in holds]
        if isinstance(source, Words):
            words = [language.vocabulary.word(token) for token in source.tokens]
            return {
                word: share / sum(source.weights) for word, share in zip(words, source.weights, strict=True)
            }
        if isinstance(source, FreshThing):
            left = [things for verb, *things in lexicon.actions if verb not in holds]
            total = sum(zipf[: len(left[0])]) * len(left)
            return {thing: zipf[rank] / total for things in left for rank, thing in enumerate(things)}
        if isinstance(source, KnownVerb):
            return {verb: 1 / len(holds) for verb in holds}
        if isinstance(source, OtherVerb):
            return {verb: 1 / (len(holds) - 1) for verb in holds if verb != said[-1]}
        answers = {
            RecalledThing: lambda: holds[said[-1]],
            HeroName: lambda: hero,
            HeroPronoun: lambda: pronoun_of[hero],
        }
        return {answers[type(source)](): 1.0}

    def expand(part: Part, text: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], float]]:
        """Every way in which the part may go on, with its probability."""
        if isinstance(part, Slot):
            for word, probability in choices(part.source, text).items():
                yield (*text, word), probability
        elif isinstance(part, Choice):
            for chance, option in part.options:
                for longer, probability in expand(option, text):
                    if chance > 0:
                        yield longer, chance * probability
        elif part == ():
            yield text, 1.0
        else:
            for longer, probability in expand(part[0], text):
                for whole, rest in expand(part[1:], longer):
                    yield whole, probability * rest

    stories = Counter()
    for text, probability in expand(StoryRules(language.config, language.vocabulary).story(), ()):
        stories[text] += probability
    return stories
