"""A figure as MyST's directive `{anywidget}`, for a page or a book made by MyST, without a kernel."""

import re
from pathlib import Path

from course.figures.figure import Figure

MARKUP = re.compile(r"[\\`*_{}\[\]()<>#$~^|@%!]")


def as_directive(figure: Figure, folder: str | Path) -> str:
    """MyST text that shows the figure, with its caption below; its module is written into the folder.

    folder: the folder of the page that will hold the text, in which the directive looks for the module.
    """
    path = Path(folder) / f"{figure.name}.mjs"
    path.write_text(figure.module(), encoding="utf-8")
    caption = MARKUP.sub(r"\\\g<0>", figure.caption)
    return f'```{{anywidget}} ./{path.name}\n{{"data":{figure.json()}}}\n```\n\n{caption}\n'
