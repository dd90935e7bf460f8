"""A page for each model that is drawn: its drawings beside the module of `course/models` that they quote."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import resources

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


def model_pages() -> Iterator[tuple[str, str]]:
    """Each page's path among the sources of the site, and its text."""
    for file, machines in drawn_files().items():
        source = resources.files("course.models").joinpath(f"{file}.py").read_text(encoding="utf-8").strip()
        first, *_ = (ast.get_docstring(ast.parse(source)) or file).split("\n")
        page = PAGE.format(
            title=re.split(r": |, | \(|\.$", first)[0],
            first=first,
            drawings="\n".join(figures.machine(name).html() for name in machines),
            path=f"course/models/{file}.py",
            source=source,
        )
        yield f"models/{file}.md", page
