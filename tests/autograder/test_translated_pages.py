"""Pages in other languages: what is translated is there, and the rest is a link to the English page."""

import json
from pathlib import Path

from autograder.languages.catalogues import language_of
from autograder.website.site import TITLE
from autograder.website.translated import index, settings, translated

ROOT = Path(__file__).parents[2]


def texts(notebook):
    return "\n\n".join("".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown")


def test_german_has_a_lecture_and_a_homework_with_the_outputs_of_the_english_ones():
    [(language, pages)] = translated(ROOT)
    assert language.name == "de"
    assert list(pages) == ["lectures/00_welcome", "homeworks/hw0_exploring/hw0_exploring"]
    lecture = pages["lectures/00_welcome"]
    assert "# 00 · Willkommen: was ein Sprachmodell tut" in texts(lecture)
    english = json.loads((ROOT / "lectures" / "00_welcome.ipynb").read_text(encoding="utf-8"))
    outputs = [cell["outputs"] for cell in english["cells"] if "outputs" in cell]
    assert [cell["outputs"] for cell in lecture["cells"] if "outputs" in cell] == outputs


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
    assert said["author"].startswith("die Autor")
    assert said["project"] == said["html_title"] == "Sprachmodelle von Grund auf"
    page = index(german, TITLE, ["lectures/00_welcome"])
    assert page.startswith("# Sprachmodelle von Grund auf")
    assert "Was bisher übersetzt ist." in page
