"""A check that fails and names the mistake: what it says, and as a part of the first page."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from pathlib import Path

from markupsafe import Markup

HOMEWORK, EXERCISE = "hw5_transformer", "attention"
WRONG = """\
def attention(query, key, value):
    scores = query @ key.transpose(-2, -1)
    weights = scores.softmax(dim=-1)
    return weights @ value, weights
"""


def message(root: Path) -> str:
    """The output of the released homework's check on the wrong answer."""
    path = root / "homeworks" / HOMEWORK / f"{HOMEWORK}.ipynb"
    cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    last = next(i for i, cell in enumerate(cells) if cell["id"] == f"{EXERCISE}-check")
    names: dict[str, object] = {}
    with redirect_stdout(io.StringIO()) as printed:
        for cell in cells[: last + 1]:
            if cell["id"] == f"{EXERCISE}-check":
                printed.truncate(printed.seek(0))  # only the output of these checks
            exec(WRONG if cell["id"] == EXERCISE else "".join(cell["source"]), names)
    return printed.getvalue().strip()


def failing_check(root: Path) -> str:
    """The wrong answer and below it what its checks say, as text that flows; "" in a course without them."""
    if not (root / "homeworks" / HOMEWORK).is_dir():
        return ""
    name = "The scores are not"
    lines = [
        Markup('<p class="{}">{}</p>').format(
            "fails" if line.startswith("✗") else "named" if line.startswith(name) else "told", line
        )
        for line in filter(None, message(root).splitlines())
    ]
    code = Markup("<pre>{}</pre>").format(WRONG.rstrip())
    return Markup('<div class="failing-check">{}{}</div>\n').format(code, Markup("").join(lines))
