"""A class in another language: the same marks, and every word to a student in the student's language."""

import json
import re
import shutil
from pathlib import Path

import pytest
from warm_levels import warm_with

from autograder.checking.examine import run_checks
from autograder.grading.judge import in_full
from autograder.grading.plan import plan_for
from autograder.grading.submission import grade_submission
from autograder.grading.told import as_told
from autograder.isolation import Limits
from autograder.languages.catalogues import language_of
from autograder.languages.notebooks import in_language, language_of_release
from autograder.languages.texts import WORD
from autograder.making.release import ReleaseError, is_out_of_date, release
from autograder.marks.comments import mistakes_of
from autograder.reporting.feedback import feedback_page
from autograder.source.as_answer import as_answer
from autograder.source.homework import references
from autograder.source.loading import find
from autograder.source.sample_submissions import answered
from course.checks import LocalLink
from course.checks.check import homework as checks_of
from course.language import Said, paragraphs

ROOT = Path(__file__).parents[2]
NAME = "hw0_exploring"
PLACE = re.compile(r"\{[^{}]*\}")
ENGLISH_WORDS = re.compile(r"\b(the|is|are|was|where|expected|and|of|not)\b")
NATIVE = "The size of tensor"  # how torch's own messages begin, which are values


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with homework 0 and its German catalogues."""
    root = tmp_path_factory.mktemp("course")
    shutil.copytree(ROOT / "solutions" / NAME, root / "solutions" / NAME)
    shutil.copytree(ROOT / "languages", root / "languages")
    for name in ("pyproject.toml", "nbgrader_config.py"):
        shutil.copy(ROOT / name, root)
    return root


@pytest.fixture(scope="module")
def homework(course):
    return find(NAME, course)


@pytest.fixture(scope="module")
def german(course):
    return language_of(course, "de", NAME)


@pytest.fixture(scope="module")
def released(course):
    """The students' notebook, in English and in German."""
    notebooks = {}
    for code in ("en", "de"):
        folder = release(course, NAME, language=code)
        notebooks[code] = json.loads((folder / f"{NAME}.ipynb").read_text(encoding="utf-8"))
    return notebooks


@pytest.fixture(scope="module")
def graded(course, homework, released):
    """Records of the same half-right answers, handed in in English, in German and in a made-up language."""
    answers = {
        "different_words": as_answer(mistake(homework, "letters_counted"), homework),
        "split_groups": homework.exercise("split_groups").solution,
        "add_per_position": "def add_per_position(x, offsets):\n    return x.reshape(7, 7, 7)\n",
        "real_lengths": "def real_lengths(tokens, pad):\n    return None\n",
        "surprise": "import os\n\n\ndef surprise(bets, word, n_words):\n    os._exit(3)\n",
    }
    plan = plan_for(NAME, course, Limits())
    warm, records = warm_with(Limits()), {}
    for code, start in (*released.items(), ("../de", released["en"])):
        content = answered(start, answers)
        content["metadata"]["language"] = code
        done = grade_submission("ada", json.dumps(content).encode(), plan, warm.student, seed=1)
        records[code] = done.record
        records[f"{code} notebook"] = done.notebook
    return records


def mistake(homework, name):
    return next(entry for entry in homework.misconceptions if entry.name == name)


def verdicts(record):
    return [(check.name, check.result, check.message) for one in record.exercises for check in one.checks]


def untranslated(text, language):
    """The sentences in a text that have no translation, however deep inside."""
    known = language.translations
    if not isinstance(text, Said):
        yield from [] if known.gettext(text) != text else [text]
        return
    words = WORD.search(PLACE.sub(" ", text.template))
    said = known.ngettext(text.template, text.many, 1) if text.many else known.gettext(text.template)
    if words and said == text.template and "detach" not in said:
        yield text.template
    for value in text.values.values():
        if isinstance(value, Said):
            yield from untranslated(value, language)
        elif isinstance(value, str) and ENGLISH_WORDS.search(value) and not value.startswith(NATIVE):
            yield value


def test_the_german_release_is_german_and_its_graded_cells_are_the_english_ones(released):
    english, german = (released[code]["cells"] for code in ("en", "de"))
    assert german[1]["source"][0].startswith("# Hausaufgabe 0")
    assert [cell["id"] for cell in german] == [cell["id"] for cell in english]
    for one, other in zip(english, german, strict=True):
        if one["metadata"].get("nbgrader", {}).get("grade") and one["cell_type"] == "code":
            assert one == other  # nbgrader's checksum included


def test_a_release_keeps_its_language_until_another_is_asked_for(course, homework, released):
    assert language_of_release(course, NAME) == "de"
    assert not is_out_of_date(course, homework)
    with pytest.raises(ReleaseError, match="is not translated into 'xx'; it can be released in en, de"):
        release(course, NAME, language="xx")
    assert language_of_release(course, NAME) == "de"


def test_the_same_answers_get_the_same_marks_and_english_records_in_every_language(graded):
    english, german = graded["en"], graded["de"]
    assert 0 < english.points == german.points < english.max_points
    assert [one.told for one in english.exercises] == [one.told for one in german.exercises]
    assert verdicts(english) == verdicts(german)
    assert (english.flags, english.notes) == (german.flags, german.notes)
    assert (english.language, german.language) == ("en", "de")


def test_a_made_up_language_falls_back_to_that_of_the_release(graded):
    assert graded["../de"].language == "de"
    assert verdicts(graded["../de"]) == verdicts(graded["en"])


def test_a_notebook_in_german_is_not_taken_for_a_changed_one(graded):
    assert not [flag for flag in graded["de"].flags if "restored" in flag]
    statement = next(c for c in graded["de notebook"]["cells"] if c["id"] == "split_groups-statement")
    assert statement["source"].startswith("### 2. Eine Achse teilen")


def test_what_a_german_student_is_told_is_german(graded, homework, german):
    record = graded["de"]
    told = as_told(record, homework)
    catalogue = set(german.translations._catalog.values())
    for shown in told.exercises:
        assert all(check.claim in catalogue for check in shown.checks)
        assert all(entry.diagnosis in catalogue for entry in shown.mistakes)
    assert told.exercises[0].mistakes
    assert told.exercises[1].title == "Eine Achse teilen"
    assert all(record.said[text] != text for text in (*record.flags, *record.notes))
    failed = [check for one in record.exercises for check in one.checks if check.result != "passed"]
    assert failed
    assert all(check.said and check.said != check.message for check in failed)
    assert set(mistakes_of(record, homework)["different_words"].split("\n")) <= {
        f"{german(entry.diagnosis)} {german(entry.question)}" for entry in homework.misconceptions
    }


def test_the_feedback_page_says_its_language_and_an_english_one_stays_english(graded, homework):
    page = feedback_page(graded["de"], homework)
    assert '<html lang="de">' in page
    assert "Hausaufgabe 0: Sprachmodelle erkunden" in page
    assert " points for the checks" not in page
    page = feedback_page(graded["en"], homework)
    assert '<html lang="en">' in page
    assert " points for the checks" in page


def test_every_message_about_a_known_mistake_is_translated_to_its_last_clause(homework, german):
    right, scope = references(homework), homework.namespace()
    firsts = {entry.of: entry for entry in reversed(homework.misconceptions)}
    assert firsts.keys() == {exercise.name for exercise in homework.exercises}
    seen = 0
    for name, entry in firsts.items():
        visible = {check.name for check in homework.exercise(name).checks if not check.hidden}
        done = run_checks(homework, LocalLink(right | {name: entry.thing}), only=visible, scope=scope)
        for one in done:
            if one.problem is not None:
                seen += 1
                assert list(untranslated(in_full(one), german)) == []
    assert seen > len(firsts)


def test_the_checks_of_a_german_notebook_speak_german(homework, capsys):
    check = checks_of(NAME, language="de")
    scope = homework.namespace()
    for entry in homework.exercise("different_words").checks:
        exec(entry.source, scope)
    claims = scope["the_example_has_six_words"], scope["saying_it_again_adds_no_word"]
    check(*claims, different_words=lambda text: len(text.split()))
    told = capsys.readouterr().out
    assert "✗ `The cat saw the dog and the bird` hat 6 verschiedene Wörter." in told
    assert "\n0 von 2 Behauptungen gelten\n" in told
    assert "erhalten: 8" in told
    assert "Deine Ergebnisse passen zu einem bekannten Fehler." in told
    assert "Jedes Wort wird jedes Mal gezählt, wenn es vorkommt." in told
    check.progress()
    assert capsys.readouterr().out.startswith("0 von 11 Aufgaben fertig · 0 von ")


def test_every_hint_is_there_for_a_german_student(homework):
    german = checks_of(NAME, language="de").language
    for exercise in homework.exercises:
        for hint in exercise.hints:
            assert all(german(one) != one for one in paragraphs(hint))


def test_a_translated_setup_cell_asks_for_the_language(homework, german):
    cell = {"cell_type": "code", "id": "setup", "metadata": {}, "source": f'check = homework("{NAME}")'}
    [made] = in_language({"cells": [cell], "metadata": {}}, german)["cells"]
    assert made["source"] == f'check = homework("{NAME}", language="de")'
