"""Pages in other languages: what is translated is there, and the rest is a link to the English page."""

import json
from pathlib import Path

import pytest

from autograder.languages.catalogues import language_of
from autograder.languages.notebooks import in_language
from autograder.making.lectures import execute
from autograder.making.products import build_lecture
from autograder.source.address import Address
from autograder.website.site import TITLE
from autograder.website.translated import index, settings, translated

ROOT = Path(__file__).parents[2]
PAGE = "text/html"


def texts(notebook):
    return "\n\n".join("".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown")


def outputs(notebook):
    return {cell["id"]: cell["outputs"] for cell in notebook["cells"] if cell.get("outputs")}


def printed(notebook):
    """What cells printed, without what checks and figures show as pages."""
    shown = [output for found in outputs(notebook).values() for output in found]
    return [
        "".join(output.get("text") or output["data"]["text/plain"])
        for output in shown
        if PAGE not in output.get("data", {})
    ]


def test_german_has_a_lecture_and_a_homework_with_the_outputs_in_german():
    [(language, pages)] = translated(ROOT)
    assert language.name == "de"
    assert list(pages) == ["lectures/00_welcome", "homeworks/hw0_exploring/hw0_exploring"]
    lecture = pages["lectures/00_welcome"]
    assert "# 00 · Willkommen: was ein Sprachmodell tut" in texts(lecture)
    english = json.loads((ROOT / "lectures" / "00_welcome.ipynb").read_text(encoding="utf-8"))
    assert outputs(lecture).keys() == outputs(english).keys()
    figure = outputs(lecture)["setup-6"][0]["data"][PAGE]
    assert "Turings Frage (1950)" in figure
    assert '"imitator":"ein Modell, das ein Wort zur\\u00fcckblickt"' in figure
    assert '"Yes, that one was real.": "Ja, der war echt."' in figure
    assert "const PHRASES = {};" in "".join(outputs(english)["setup-6"][0]["data"][PAGE])


@pytest.mark.nightly
def test_a_lecture_in_german_prints_what_its_catalogue_says():
    [(_, pages)] = translated(ROOT)
    source = ROOT / "lectures" / "00_welcome.py"
    built = in_language(build_lecture(source, Address.read(ROOT)), language_of(ROOT, "de", source.stem))
    assert printed(execute(built, source.parent)) == printed(pages["lectures/00_welcome"])


def test_a_link_to_what_is_not_translated_leads_to_the_english_page(tmp_path):
    (tmp_path / "languages" / "de").mkdir(parents=True)
    for path in (ROOT / "languages" / "de").glob("[cg]*.po"):
        (tmp_path / "languages" / "de" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "languages" / "de" / "00_one.po").write_text('msgid ""\nmsgstr ""\n"Language: de\\n"\n')
    (tmp_path / "lectures").mkdir()
    (tmp_path / "lectures" / "00_one.py").write_text("")
    said = "[one](00_one.ipynb), [two](01_two.ipynb) and [hw](../homeworks/hw1_a/hw1_a.ipynb)"
    cell = {"cell_type": "markdown", "id": "start-1", "metadata": {}, "source": said}
    (tmp_path / "lectures" / "00_one.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}}))
    [(_, pages)] = translated(tmp_path)
    assert texts(pages["lectures/00_one"]) == (
        '[one](00_one.ipynb), <a href="../../lectures/01_two.html">two</a> and '
        '<a href="../../homeworks/hw1_a/hw1_a.html">hw</a>'
    )


def test_what_sphinx_writes_is_german_too():
    german = language_of(ROOT, "de")
    said = settings(german, TITLE)
    assert said["nb_code_prompt_show"] == "Aufklappen"
    assert said["html_theme_options.search_bar_text"] == "Suchen …"
    assert said["project"] == said["html_title"] == "Sprachmodelle von Grund auf"
    page = index(german, TITLE, ["lectures/00_welcome"])
    assert page.startswith("# Sprachmodelle von Grund auf")
    assert "was bisher übersetzt ist" in page
