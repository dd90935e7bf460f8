"""A page for each model that is drawn: its drawings beside the module of `course/models` that they quote."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from importlib import resources

from markupsafe import Markup

from autograder.reporting.prose import typeset
from autograder.website.thumbnails import thumbnail
from course import figures
from course.figures.machines import MACHINES

PAGE = """\
---
html_theme.sidebar_secondary.remove: true
---

# {title}

{first} {taught}

The line of code of a box that you point at is marked in the source.{several}

<div class="beside">
<div class="drawn">

```{{raw}} html
{drawings}
```

</div>
<div class="source" tabindex="0" role="group" aria-label="The source">
{sources}
</div>
</div>
"""
SOURCE = """\

<p class="file">{path}</p>

```python
{source}
```
"""
CARD = Markup(
    '<li>{picture}<a href="models/{file}.html">{title}</a><span>{said}</span>'
    "<small>Drawn: {drawn}</small></li>"
)
# Where each model is explained, and what homework builds it.
TAUGHT = {
    "feedforward": (("05_feedforward",), "hw2_backprop"),
    "recurrent": (("07_rnn", "09_lstm_gru"), "hw3_recurrent"),
    "seq2seq": (("10_sequence_to_sequence", "11_attention"), "hw4_attention"),
    "multi_head_attention": (("12_self_attention", "13_heads_and_positions"), "hw5_transformer"),
    "transformer": (("14_transformer_block",), "hw5_transformer"),
    "bert": (("17_bert",), "hw7_bert_and_translation"),
    "gpt": (("15_gpt",), "hw6_gpt"),
    "translator": (("18_encoder_decoder",), "hw7_bert_and_translation"),
    "llama": (("19_the_whole_ladder",), ""),
}


def drawn_files() -> dict[str, list[str]]:
    """The modules of `course/models` that have drawings, with the names of the machines."""
    files: dict[str, list[str]] = {}
    for name, machine in MACHINES.items():
        files.setdefault(machine.file, []).append(name)
    return files


def source_of(file: str) -> str:
    """The text of a module of `course/models`."""
    return resources.files("course.models").joinpath(f"{file}.py").read_text(encoding="utf-8").strip()


def title_and_sentence(source: str, file: str) -> tuple[str, str]:
    """What a module is called, and the sentence that it says of itself: `Title: a sentence.`"""
    first, *_ = (ast.get_docstring(ast.parse(source)) or file).split("\n")
    title, _, said = re.sub(r" \([^()]*\)(?=[:.])", "", first).partition(": ")
    return typeset(title), said[:1].upper() + typeset(said[1:])


def taught(file: str) -> str:
    """Where a model is explained and built, with links for a page in a folder beside those."""
    lectures, homework = TAUGHT[file]
    explained = " and ".join(f"[{name[:2]}](../lectures/{name}.ipynb)" for name in lectures)
    built = f"; [homework {homework[2]}](../building/{homework}.md) builds it" if homework else ""
    return f"Lecture{'s' * (len(lectures) > 1)} {explained} explain{'s' * (len(lectures) < 2)} it{built}."


def model_cards() -> str:
    """Cards that lead to the models' pages, in the order and with the pictures of the lectures on them."""
    cards = []
    for file, machines in drawn_files().items():
        title, said = title_and_sentence(source_of(file), file)
        link = Markup('<a href="models/{}.html#{}">{}</a>')
        drawn = Markup("; ").join(link.format(file, name, MACHINES[name].title) for name in machines)
        (lecture, *_), _ = TAUGHT[file]
        cards.append(CARD.format(picture=thumbnail(lecture), file=file, title=title, said=said, drawn=drawn))
    return "\n".join(['<ol class="path homeworks">', *cards, "</ol>", ""])


def model_navigation() -> str:
    """The models' pages in the sidebar, in the same order."""
    entries = [f"models/{file}" for file in drawn_files()]
    return "\n".join(["```{toctree}", ":hidden:", ":maxdepth: 1", "", *entries, "```", ""])


def quoted_files(machines: Iterable[str], file: str) -> list[str]:
    """The modules that the boxes of these machines quote; the page's own is the first."""
    others = (box.file for name in machines for box in MACHINES[name].boxes() if box.file)
    return list(dict.fromkeys((file, *others)))


def model_pages() -> Iterator[tuple[str, str]]:
    """Each page's path among the sources of the site, and its text."""
    for file, machines in drawn_files().items():
        title, first = title_and_sentence(source_of(file), file)
        links = "; ".join(f'<a href="#{name}">{MACHINES[name].title}</a>' for name in machines)
        drawings = (f'<div id="{name}">\n{figures.machine(name).html()}\n</div>' for name in machines)
        page = PAGE.format(
            title=title,
            first=first,
            taught=taught(file),
            several=f" Drawn here: {links}." if len(machines) > 1 else "",
            drawings="\n".join(drawings),
            sources="".join(
                SOURCE.format(path=f"course/models/{each}.py", source=source_of(each))
                for each in quoted_files(machines, file)
            ),
        )
        yield f"models/{file}.md", page
