"""Outputs in another language: words that the cell chose are translated, results are not."""

import json

import pytest

from autograder.languages.outputs import in_figures, said, shown
from autograder.languages.texts import Text, in_notebook
from course.language import Language

DATA = 'const values = { data: {"title":"a few words","few words":1} };'


def cell(source, *outputs):
    return {"cell_type": "code", "id": "one", "metadata": {}, "source": source, "outputs": list(outputs)}


def stream(text):
    return {"output_type": "stream", "name": "stdout", "text": text}


def page(text):
    return {"output_type": "display_data", "data": {"text/html": text, "text/plain": "a picture"}}


def loud(text, is_printed):
    return text.upper()


class Loud:
    """A catalogue that has every phrase."""

    def gettext(self, text):
        return text.upper()


def test_only_printed_words_that_the_cell_itself_has_chosen_are_translated():
    source = 'print(f"{n} words known"); story'
    assert dict(said(cell(source, stream("3 words known\n"), stream("clara had hens\n")))) == {
        "3 words known\n": True
    }
    assert shown(cell(source, stream("3 words known\n")), loud)[0]["text"] == "3 WORDS KNOWN\n"


def test_a_page_is_translated_text_by_text_and_so_is_its_picture():
    made = page('<p class="of hers">Two &amp; <b>three</b> 5</p><img alt="a cat" src="x"><style>a b</style>')
    [output] = shown(cell("1", made), loud)
    assert output["data"]["text/html"] == (
        '<p class="of hers">TWO &amp; <b>THREE</b> 5</p><img alt="A CAT" src="x"><style>a b</style>'
    )
    assert output["data"]["text/plain"] == "a picture"


def test_the_sentences_of_a_cell_are_translated_in_a_figures_data_but_not_in_its_module():
    module = '<script type="module">const a = "a few words";'
    [output] = shown(cell('figure(title="a few words")', page(f"{module}{DATA}</script>")), loud)
    assert output["data"]["text/html"] == f"{module}{DATA.replace('a few words', 'A FEW WORDS', 1)}</script>"


def test_a_figure_gets_the_phrases_that_its_module_says_and_no_others():
    script = '<script>const PHRASES = {};\nphrase("one of {n}", { n }); say("two");</script>'
    made = in_figures(script, Language("xx", Loud()))
    table = json.loads(made.split("const PHRASES = ")[1].split(";\n")[0])
    assert table == {"one of {n}": "ONE OF {N}"}


@pytest.mark.parametrize("metadata", [{"nbgrader": {}}, {}])
def test_code_of_a_graded_notebook_is_translated_only_where_students_may_change_it(metadata):
    made = cell("x = 1  # a number", stream("1")) | {"metadata": metadata}
    found = list(in_notebook({"cells": [made]}))
    assert found == ([] if metadata else [Text("x = 1  # a number", "one", is_code=True)])
