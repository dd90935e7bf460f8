"""A page for each model that is drawn: its drawings beside the module of `course/models` that they quote."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import resources

from markupsafe import Markup

from course import figures
from course.figures.machines import MACHINES

PAGE = """\
---
html_theme.sidebar_secondary.remove: true
---

# {title}

{first} Point at a box of the drawing: its line of code is marked in the source.

<div class="beside">
<div class="drawn">

```{{raw}} html
{drawings}
```

</div>
<div class="source" tabindex="0" role="group" aria-label="{path}">

```python
{source}
```

</div>
</div>
"""


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
    """What a module is called, and the first line of what it says of itself, its indices lowered."""
    first, *_ = (ast.get_docstring(ast.parse(source)) or file).split("\n")
    return re.split(r": |, | \(|\.$", first)[0], re.sub(r"\b([a-z])_(\w)\b", r"\1<sub>\2</sub>", first)


def model_cards() -> str:
    """Cards that lead to the models' pages, in the order in which the lectures come to them."""
    cards = []
    for file, machines in drawn_files().items():
        title, first = title_and_sentence(source_of(file), file)
        said = first.partition(": ")[2] or first.removeprefix(f"{title}, ")
        drawn = "; ".join(MACHINES[name].title for name in machines)
        cards.append(
            Markup('<li><a href="models/{}.html">{}</a><span>{}</span><small>Drawn: {}</small></li>').format(
                file, title, Markup(said[:1].upper() + said[1:]), drawn
            )
        )
    return "\n".join(['<ol class="path homeworks">', *cards, "</ol>", ""])


def model_pages() -> Iterator[tuple[str, str]]:
    """Each page's path among the sources of the site, and its text."""
    for file, machines in drawn_files().items():
        source = source_of(file)
        title, first = title_and_sentence(source, file)
        page = PAGE.format(
            title=title,
            first=first,
            drawings="\n".join(figures.machine(name).html() for name in machines),
            path=f"course/models/{file}.py",
            source=source,
        )
        yield f"models/{file}.md", page
