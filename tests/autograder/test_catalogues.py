"""Catalogues: what is stale is listed, what is translated is kept, and German's are complete."""

from pathlib import Path

import pytest

from autograder.checking.fingerprints import shipped
from autograder.languages.catalogues import (
    CatalogueError,
    as_text,
    compiled,
    language_of,
    merged,
    new,
    read,
    stale,
    template,
)
from autograder.languages.code import same_code
from autograder.languages.notebooks import in_language, language_in
from autograder.languages.texts import Text, in_notebook, is_prose, known_to_students, of_check
from autograder.making.localise import localise, out_of_date
from autograder.making.products import build_homework
from autograder.source.address import Address
from autograder.source.loading import find
from course.language import ENGLISH

ROOT = Path(__file__).parents[2]
NAME = "hw0_exploring"
SHAPE = Text("{what} has shape {found}", "checks", is_template=True)


@pytest.fixture(scope="module")
def homework():
    return find(NAME, ROOT)


@pytest.fixture(scope="module")
def notebook(homework):
    return build_homework(homework, Address("https://example.org/course", "v1"))


def translated(tmp_path, text, said):
    """A catalogue with one translation, as a file has it."""
    catalogue = template([text])
    catalogue.get(text.english).string = said
    made = merged(new("de", "checks"), catalogue)
    made.get(text.english).string = said
    path = tmp_path / "de" / "checks.po"
    path.parent.mkdir(exist_ok=True)
    path.write_text(as_text(made))
    return read(path)


def test_german_is_complete_and_none_of_it_is_stale():
    assert list(out_of_date(ROOT, "de")) == []


def test_a_catalogue_is_the_same_text_after_another_merge(tmp_path):
    catalogue = translated(tmp_path, SHAPE, "{what} hat die Form {found}")
    assert as_text(merged(read(tmp_path / "de" / "checks.po"), template([SHAPE]))) == as_text(catalogue)
    assert not list(stale(catalogue, template([SHAPE])))


def test_a_changed_text_is_stale_and_keeps_its_translation_to_be_looked_at(tmp_path):
    catalogue = translated(tmp_path, SHAPE, "{what} hat die Form {found}")
    changed = template([Text("{what} has the shape {found}", "checks", is_template=True)])
    [missing, gone] = stale(catalogue, changed)
    assert missing.startswith("not in the catalogue: ")
    assert gone.startswith("no longer in the course: ")
    [after, *_] = stale(merged(catalogue, changed), changed)
    assert after == "the English has changed: {what} has the shape {found}"
    assert "hat die Form" in as_text(catalogue)


def test_what_is_gone_is_listed_and_what_is_not_translated_too(tmp_path):
    catalogue = translated(tmp_path, SHAPE, "{what} hat die Form {found}")
    assert list(stale(catalogue, template([]))) == ["no longer in the course: {what} has shape {found}"]
    assert list(stale(translated(tmp_path, SHAPE, ""), template([SHAPE]))) == [
        "not translated: {what} has shape {found}"
    ]


@pytest.mark.parametrize("said", ["{what} hat die Form", "{what} hat die Form {gefunden}", "{found} {found}"])
def test_a_translation_with_other_places_is_listed(tmp_path, said):
    [line] = stale(translated(tmp_path, SHAPE, said), template([SHAPE]))
    assert line.startswith("other places than the original")


@pytest.mark.parametrize("said", ["Nimm `y`.", "Nimm x.", "Nimm `x` und `x`."])
def test_a_paragraph_with_other_code_is_listed(tmp_path, said):
    text = Text("Take `x`.", "statement")
    [line] = stale(translated(tmp_path, text, said), template([text]))
    assert line.startswith("other formulas, code, markup or links")


def test_code_may_say_other_words_and_do_nothing_else():
    code = 'print(f"{n} pieces, {x:.2f}")  # how many'
    assert same_code(code, 'print(f"{x:.2f} für {n} Stücke")')
    assert not same_code(code, 'print(f"{m} Stücke, {x:.2f}")')
    assert not same_code(code, 'print(f"{n} Stücke, {x:.3f}")')
    assert not same_code(code, 'print(f"{n} Stücke, {x:.2f}"); quit()')
    assert not same_code(code, "print(")


def test_only_prose_is_translated():
    assert is_prose("Say `x`.")
    assert not any(map(is_prose, ["$$P(x) = y$$", "`x = [1, 2]`", "</details>", "```\nall code\n```"]))


def test_the_answers_to_written_questions_are_not_translated(notebook):
    assert not any("BEGIN SOLUTION" in text.english for text in in_notebook(notebook) if not text.is_code)


def test_a_translated_notebook_has_the_same_graded_cells(notebook):
    german = in_language(notebook, language_of(ROOT, "de", NAME))
    assert language_in(german) == "de"
    assert [cell["id"] for cell in german["cells"]] == [cell["id"] for cell in notebook["cells"]]
    for one, other in zip(notebook["cells"], german["cells"], strict=True):
        assert one["metadata"] == other["metadata"]
        if one["cell_type"] == "code" and one["id"] != "setup" and "alive" not in one["metadata"]:
            assert one["source"] == other["source"]


def test_english_notebooks_are_as_they_were(notebook):
    assert in_language(notebook, ENGLISH) == notebook


def test_students_get_no_word_of_a_mistake_that_only_hidden_checks_show(homework):
    mistakes = {entry.diagnosis for entry in homework.misconceptions}
    assert not mistakes & known_to_students(homework, {})
    told = shipped(ROOT, NAME)
    named = {
        entry["diagnosis"]
        for about in told["exercises"].values()
        for entry in about["misconceptions"].values()
    }
    assert mistakes & known_to_students(homework, told) == named


def test_students_get_no_message_of_a_hidden_check(homework):
    hidden = {text.english for check in homework.checks if check.hidden for text in of_check(check)}
    shown = {text.english for check in homework.checks if not check.hidden for text in of_check(check)}
    assert hidden - shown
    assert not (hidden - shown) & known_to_students(homework, shipped(ROOT, NAME))


@pytest.mark.parametrize("name", ["", "xx", "..", "../de", "/", "de/"])
def test_a_language_without_catalogues_is_english(name):
    assert language_of(ROOT, name, NAME) is ENGLISH


def test_an_unknown_code_is_refused(course_folder):
    with pytest.raises(CatalogueError, match="klingon is not the code of a language"):
        localise(course_folder, "klingon")


def test_only_valid_translations_are_compiled(tmp_path):
    catalogue = translated(tmp_path, SHAPE, "{what} hat die Form {found}")
    assert b"hat die Form" in compiled([catalogue])
    catalogue.get(SHAPE.english).flags.add("fuzzy")
    assert b"hat die Form" not in compiled([catalogue])
