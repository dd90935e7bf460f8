"""A second road from English to French: reads the finished sentence word by word, knowing only the lexicon.

Independent of the grammar that generates both languages at once. It also says, for each French word, which
English words it comes from.
"""

from course.data.translation_lexicon import Lexicon

Word = tuple[str, tuple[int, ...]]  # a French word and the places of the English ones


class EnglishReader:
    """Translates one sentence; raises ValueError where the sentence cannot be read."""

    def __init__(self, lexicon: Lexicon, words: tuple[str, ...]) -> None:
        self.words, self.place = words, 0
        self.lexicon = lexicon
        self.before = {word.english: word for word in lexicon.adjectives_before}
        self.after = {word.english: word for word in lexicon.adjectives_after}
        self.nouns = {}
        for noun in lexicon.people_and_animals + lexicon.things:
            self.nouns |= {noun.singular: (noun, False), noun.plural: (noun, True)}

    def next_is(self, text: str) -> bool:
        wanted = tuple(text.split())
        return self.words[self.place : self.place + len(wanted)] == wanted

    def take(self, text: str) -> tuple[int, ...]:
        if not self.next_is(text):
            raise ValueError(f"expected {text!r} at {self.place} of {' '.join(self.words)}")
        first = self.place
        self.place += len(text.split())
        return tuple(range(first, self.place))

    def sentence(self) -> list[Word]:
        french = self.clause()
        while not self.next_is("."):
            english, conjunction = next(pair for pair in self.lexicon.connectives if self.next_is(pair[0]))
            french += [(conjunction, self.take(english)), *self.clause()]
        return [*french, (".", self.take("."))]

    def clause(self) -> list[Word]:
        subject, is_plural = self.modified()
        verb, has_object = self.verb(is_plural)
        return subject + verb + (self.modified()[0] if has_object else [])

    def modified(self) -> tuple[list[Word], bool]:
        french, is_plural = self.noun()
        for english, preposition in self.lexicon.prepositions:
            if self.next_is(english):
                return [*french, (preposition, self.take(english)), *self.noun()[0]], is_plural
        if self.next_is("that"):
            french = [*french, ("qui", self.take("that"))]
            return french + self.verb(is_plural)[0] + self.noun()[0], is_plural
        return french, is_plural

    def noun(self) -> tuple[list[Word], bool]:
        determiner = self.take(self.words[self.place])
        before = self.take(self.words[self.place]) if self.words[self.place] in self.before else ()
        after = self.take(self.words[self.place]) if self.words[self.place] in self.after else ()
        noun, is_plural = self.nouns[self.words[self.place]]
        head = self.take(self.words[self.place])
        articles = self.lexicon.plural_determiners if is_plural else self.lexicon.singular_determiners
        article = next(each for each in articles if each.english == self.words[determiner[0]])
        french = [(article.french(noun.gender, is_plural), determiner)]
        for place in before:
            french.append((self.before[self.words[place]].french(noun.gender, is_plural), before))
        french += [(word, head) for word in noun.french(is_plural).split()]
        for place in after:
            french.append((self.after[self.words[place]].french(noun.gender, is_plural), after))
        return french, is_plural

    def verb(self, is_plural: bool) -> tuple[list[Word], bool]:
        will = self.take("will") if self.next_is("will") else ()
        do = self.take("do" if is_plural else "does") if self.next_is("do") or self.next_is("does") else ()
        negation = self.take("not") if do else self.take("never") if self.next_is("never") else ()
        adverbs = [
            (souvent, self.take(often)) for often, souvent in self.lexicon.adverbs if self.next_is(often)
        ]
        for verbs, has_object in (
            (self.lexicon.transitive_verbs, True),
            (self.lexicon.intransitive_verbs, False),
        ):
            for verb in verbs:
                present = verb.base if is_plural or will or do else verb.third
                french = verb.french_plural if is_plural else verb.french_singular
                if self.next_is(verb.past):
                    have = "ont" if is_plural else "a"
                    head = self.take(verb.past)
                    return [(have, head), *adverbs, (verb.participle, head)], has_object
                if self.next_is(present):
                    head = will + do + self.take(present)
                    if negation:
                        last = "pas" if do else "jamais"
                        return [("ne", negation), (french, head), (last, negation)], has_object
                    future = verb.future_stem + ("ont" if is_plural else "a")
                    return [(future if will else french, head), *adverbs], has_object
        raise ValueError(f"no verb at {self.place} of {' '.join(self.words)}")
