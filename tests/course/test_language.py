"""Sentences remember their templates, so that a language can say them again; anything else stays English."""

import pickle
from gettext import NullTranslations

import pytest

from course.checks import homework
from course.language import ENGLISH, Language, joined, language, paragraphs, say, say_count, shaped


class Dictionary(NullTranslations):
    """Translations from a dictionary; of counted sentences, by their form for one."""

    def __init__(self, words):
        super().__init__()
        self.words = words

    def gettext(self, message):
        return self.words.get(message, message)

    def ngettext(self, one, many, count):
        return self.words[one][count != 1]


GERMAN = Language(
    "de",
    Dictionary(
        {
            "the shape is {found} where {expected} is expected": "erwartet wird {expected}, nicht {found}",
            "{count} entry": ("{count} Eintrag", "{count} Einträge"),
            "the answer": "die Antwort",
            "a claim, word for word": "eine Behauptung, Wort für Wort",
        }
    ),
)


def loud(text):
    return text.upper()


def test_a_sentence_is_the_english_one_and_can_be_said_in_another_language():
    sentence = say("the shape is {found} where {expected} is expected", found=(2, 5), expected=(5, 2))
    assert sentence == ENGLISH(sentence) == "the shape is (2, 5) where (5, 2) is expected"
    assert GERMAN(sentence) == "erwartet wird (5, 2), nicht (2, 5)"


def test_sentences_inside_a_sentence_are_translated_and_values_are_not():
    inner = say("the answer")
    assert GERMAN(joined(": ", [inner, "the answer"])) == "die Antwort: the answer"
    assert joined("; ", ["", inner, ""]) == "the answer"


def test_a_count_chooses_the_form_of_the_language():
    said = [say_count("{count} entry", "{count} entries", count) for count in (1, 3)]
    assert said == ["1 entry", "3 entries"]
    assert list(map(GERMAN, said)) == ["1 Eintrag", "3 Einträge"]


def test_a_change_of_the_text_is_made_in_each_language():
    assert GERMAN(shaped(say("the answer"), loud)) == "DIE ANTWORT"


def test_a_text_without_places_may_contain_braces():
    assert say("{'a': 1}") == "{'a': 1}"
    assert say(said := say("the answer")) is said


def test_whole_paragraphs_are_translated_and_others_stay_english():
    assert GERMAN("a claim, word for word") == "eine Behauptung, Wort für Wort"
    assert GERMAN.text("a claim, word for word\n\nanother") == "eine Behauptung, Wort für Wort\n\nanother"
    assert GERMAN("") == ""


def test_a_block_of_code_is_one_paragraph():
    block = "```python\nx = 1\n\ny = 2\n```"
    assert paragraphs(f"before\n\n{block}\n\nafter") == ["before", block, "after"]


def test_a_sentence_survives_a_pickle():
    sentence = shaped(joined(": ", [say("the answer"), "3"]), loud)
    again = pickle.loads(pickle.dumps(sentence))
    assert (again, GERMAN(again)) == (sentence, "DIE ANTWORT: 3")


@pytest.mark.parametrize("name", ["", "xx", "../checks/fingerprints/hw0_exploring", "/etc/passwd", "de.mo"])
def test_an_unknown_language_is_english_and_never_a_path(name):
    assert language(name) is ENGLISH
    assert homework("hw0_exploring", language=name).language is ENGLISH
