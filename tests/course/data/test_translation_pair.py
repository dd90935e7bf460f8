"""The generated pair of languages."""

from collections import Counter
from dataclasses import fields
from random import Random

import pytest
from english_reader import EnglishReader

from course.data.translation_grammar import linked, noun_phrase
from course.data.translation_lexicon import Lexicon
from course.data.translation_pair import (
    SentencePair,
    TranslationConfig,
    alignment_matrix,
    draw_pair,
    translation_pairs,
    translation_vocabularies,
)

LONG = TranslationConfig(max_length=60)
LEXICON = Lexicon()


@pytest.fixture(scope="module")
def pairs() -> list[SentencePair]:
    return translation_pairs(LONG, 1500, Random(0))


def test_a_reader_who_sees_only_the_english_gets_the_same_french_and_the_same_alignment(pairs):
    """So each source has exactly one translation: reading is a function of the source."""
    for pair in pairs:
        french = EnglishReader(LONG.lexicon, pair.source).sentence()
        assert tuple(word for word, _ in french) == pair.target
        links = {(s, t) for t, (_, origins) in enumerate(french) for s in origins}
        assert links == set(pair.alignment)


def test_sources_that_come_again_have_the_same_translation():
    small = TranslationConfig(max_length=8, lexicon=Lexicon().first(2))
    pairs = translation_pairs(small, 2000, Random(1))
    translations = {pair.source: (pair.target, pair.alignment) for pair in pairs}
    assert len(translations) < 1900
    assert all(translations[pair.source] == (pair.target, pair.alignment) for pair in pairs)


def test_a_determiner_without_the_number_of_its_noun_is_refused():
    noun = LEXICON.things[0]
    (every,) = (word for word in LEXICON.singular_determiners if word.english == "every")
    with pytest.raises(ValueError, match="every: expected a plural form in French, got none"):
        noun_phrase(every, noun, is_plural=True)
    assert noun_phrase(every, noun, is_plural=False).phrase.target == ("chaque", "livre")


def test_every_word_on_both_sides_is_aligned(pairs):
    for pair in pairs:
        assert {s for s, _ in pair.alignment} == set(range(len(pair.source)))
        assert {t for _, t in pair.alignment} == set(range(len(pair.target)))
        assert list(pair.alignment) == sorted(set(pair.alignment))


def one_to_many(pair: SentencePair) -> bool:
    return max(Counter(s for s, _ in pair.alignment).values()) > 1


def many_to_one(pair: SentencePair) -> bool:
    return max(Counter(t for _, t in pair.alignment).values()) > 1


def reordered(pair: SentencePair) -> bool:
    return any(s < s2 and t > t2 for s, t in pair.alignment for s2, t2 in pair.alignment)


@pytest.mark.parametrize("has", [one_to_many, many_to_one, reordered])
def test_the_alignment_is_not_a_diagonal(has, pairs):
    assert sum(map(has, pairs)) > len(pairs) / 2


def test_a_sentence_made_by_hand():
    english = "my small black cats that saw the potato do not sleep ."
    french = EnglishReader(Lexicon(), tuple(english.split())).sentence()
    assert " ".join(word for word, _ in french) == (
        "mes petits chats noirs qui ont vu la pomme de terre ne dorment pas ."
    )
    assert french[7:11] == [("la", (6,)), ("pomme", (7,)), ("de", (7,)), ("terre", (7,))]
    assert french[11:14] == [("ne", (9,)), ("dorment", (8, 10)), ("pas", (9,))]


@pytest.mark.parametrize("length", [4, 5, 9, 30, 60, 90])
def test_a_source_has_exactly_the_length_asked_for(length):
    rng = Random(length)
    assert {len(draw_pair(LONG, length, rng).source) for _ in range(20)} == {length}


def test_lengths_are_spread_evenly(pairs):
    """1500 draws over 57 lengths, 26.3 each: one outside 4 … 66 comes with one seed in 10⁶."""
    counts = Counter(len(pair.source) for pair in pairs)
    assert set(counts) == set(range(4, 61))
    assert min(counts.values()) >= 4
    assert max(counts.values()) <= 66


def test_the_same_seed_gives_the_same_pairs_and_another_seed_others():
    first, again, other = (translation_pairs(LONG, 5, Random(seed)) for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_excluded_sources_do_not_come():
    small = TranslationConfig(min_length=6, max_length=7, lexicon=Lexicon().first(2))
    training = {pair.source for pair in translation_pairs(small, 300, Random(0))}
    test = {pair.source for pair in translation_pairs(small, 300, Random(1), exclude=training)}
    assert test
    assert not training & test


def test_knobs_at_zero_switch_things_off():
    knobs = [each.name for each in fields(TranslationConfig) if each.name.startswith("p_")]
    plain = TranslationConfig(min_length=12, max_length=12, **dict.fromkeys(knobs, 0.0))
    switched_off = {"small", "red", "two", "behind", "that", "saw", "will", "not", "never", "often", "sleeps"}
    for pair in translation_pairs(plain, 50, Random(0)):
        assert not reordered(pair)
        assert not switched_off & set(pair.source)


def test_one_right_source_word_per_target_word_is_a_perfect_alignment(pairs):
    """1 − (|A∩S| + |A∩P|) / (|A| + |S|) is 0, whichever of its origins a word picks."""
    rng = Random(0)
    for pair in pairs[:200]:
        sure, possible = set(pair.sure), set(pair.alignment)
        peaks = {(rng.choice([s for s, t2 in possible if t2 == t]), t) for t in range(len(pair.target))}
        assert sure <= possible
        assert len(peaks & sure) + len(peaks & possible) == len(peaks) + len(sure)


def test_the_vocabularies_hold_every_word_and_nothing_else():
    small = TranslationConfig(max_length=12, lexicon=Lexicon().first(2))
    source, target = translation_vocabularies(small.lexicon)
    drawn = translation_pairs(small, 3000, Random(0))
    assert {word for pair in drawn for word in pair.source} == set(source.words[4:])
    assert {word for pair in drawn for word in pair.target} == set(target.words[4:])


def test_the_vocabularies_of_the_whole_lexicon_have_no_unknown_word(pairs):
    source, target = translation_vocabularies(LONG.lexicon)
    assert all(source.unk not in source.encode(pair.source) for pair in pairs)
    assert all(target.unk not in target.encode(pair.target) for pair in pairs)


def test_the_matrix_of_an_alignment_has_targets_as_rows(pairs):
    pair = pairs[0]
    matrix = alignment_matrix(pair)
    assert matrix.shape == (len(pair.target), len(pair.source))
    assert {(s, t) for t, s in matrix.nonzero().tolist()} == set(pair.alignment)


def test_forms_of_the_lexicon_never_confuse_two_readings():
    """Nouns show their number, verbs their tense and number; no word is both a noun and a verb."""
    lexicon = Lexicon()
    forms = []
    for noun in lexicon.people_and_animals + lexicon.things:
        forms += [noun.singular, noun.plural]
    for verb in lexicon.transitive_verbs + lexicon.intransitive_verbs:
        forms += [verb.base, verb.third, verb.past]
    assert len(set(forms)) == len(forms)


def test_no_french_word_would_have_to_be_elided():
    _, target = translation_vocabularies(Lexicon())
    may_begin_with_a_vowel = {"a", "ont", "un", "une", "et", "à", "avec"}
    begins = {word for word in target.words[4:] if word[0] in "aeiouyhàâéèêîôû"}
    assert begins == may_begin_with_a_vowel


def test_parts_are_linked_by_their_names():
    french = [("ne", "not"), ("voit", "do verb"), ("pas", "not")]
    phrase = linked({"do": "does", "not": "not", "verb": "see"}, french)
    assert phrase.source == ("does", "not", "see")
    assert phrase.origins == ((1,), (0, 2), (1,))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TranslationConfig(min_length=3), "expected 4 <= min_length <= max_length, got"),
        (lambda: TranslationConfig(min_length=9, max_length=8), "max_length = 8"),
        (lambda: TranslationConfig(p_past=1.5), r"p_past: expected a probability from 0 to 1, got 1\.5"),
        (lambda: translation_pairs(LONG, 0, Random(0)), "n_pairs: expected at least 1, got 0"),
        (lambda: draw_pair(TranslationConfig(p_after=1.0), 4, Random(0)), "no sentence of exactly 4 words"),
    ],
)
def test_bad_settings_are_explained(call, message):
    with pytest.raises(ValueError, match=message):
        call()
