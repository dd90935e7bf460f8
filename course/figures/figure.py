"""A figure that is interactive in JupyterLab, in Colab, in VS Code and on a static page with no kernel."""

import base64
import hashlib
import html
import io
import json
import os
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from course.picture_style import GREY, INK, quieten

DOTS = 80  # an inch: so many pixels a page gives to one
MOST_DATA = 150_000  # bytes of JSON: a page holds several figures and should stay under 2 MB


@dataclass(frozen=True)
class Figure:
    """One interactive figure: an ES module, its data, and a fallback picture for viewers that run no scripts.

    name: the module's file name without ending. data: the JSON values that it gets from `model.get("data")`.
    alt: a sentence that says what the picture shows. picture: PNG bytes of the figure at its default setting.
    Raises ValueError if the data is larger than a page can carry, or if the alt text is missing.
    """

    name: str
    data: dict[str, Any]
    alt: str
    caption: str
    picture: bytes
    most_data: int = MOST_DATA

    def __post_init__(self):
        if not self.alt.strip():
            raise ValueError(
                f"figure {self.name!r} needs an alt text: what would you say to someone who cannot see it?"
            )
        if len(self.json()) > self.most_data:
            raise ValueError(
                f"figure {self.name!r} carries {len(self.json()):,} bytes of data, but at most "
                f"{self.most_data:,} fit on a page. Pass fewer tokens or heads."
            )

    def json(self) -> str:
        """The data as JSON that is safe inside a script element."""
        return json.dumps(self.data, separators=(",", ":")).replace("</", "<\\/")

    def module(self) -> str:
        """The ES module's text, which imports nothing; its default export is `{ render({ model, el }) }`."""
        return module(self.name)

    def html(self) -> str:
        """The figure as one piece of HTML: fallback picture first, then the script that replaces it."""
        image = base64.b64encode(self.picture).decode()
        return (
            f'<figure id="figure-{identity(self.name, self.json())}" style="margin:0">'
            f'<div class="live"><img alt="{html.escape(self.alt)}" src="data:image/png;base64,{image}"></div>'
            f"<figcaption>{html.escape(self.caption)}</figcaption></figure>{script(self.name, self.json())}"
        )

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {
            "text/html": self.html(),
            "image/png": base64.b64encode(self.picture).decode(),
            "text/plain": f"{self.caption}\n{self.alt}",
        }


# The front-end contract is anywidget's: render({model, el}). Here the model is only a dictionary.
MOUNT = """
const values = { data: DATA };
const model = {
  get: (key) => values[key],
  set: (key, value) => { values[key] = value; },
  on() {}, off() {}, save_changes() {},
};
for (const el of document.querySelectorAll("#figure-IDENTITY .live:not([data-alive])")) {
  el.setAttribute("data-alive", "");
  figure.render({ model, el });
}
"""


def identity(name: str, data: str) -> str:
    """Twelve hexadecimal digits that identify a figure, made from its module's name and its data's JSON."""
    return hashlib.sha256(f"{name}{data}".encode()).hexdigest()[:12]


def script(name: str, data: str) -> str:
    """The script element of a figure: its module, with the JSON of its data inserted."""
    program = module(name).replace("export default", "const figure =", 1)
    mount = MOUNT.replace("IDENTITY", identity(name, data)).replace("DATA", data)
    return f'<script type="module">\n{program}\n{mount}</script>'


def module(name: str) -> str:
    """One text with a figure's module, after the frame and the models that it imports."""
    return "".join(map(own_text, together(name)))


def together(name: str) -> list[str]:
    """A module and all that it imports, each once and after its own imports; by path without ending."""
    found: list[str] = []
    for imported in IMPORTED.findall(whole_text(name)):
        path = os.path.normpath(f"{os.path.dirname(name)}/{imported}").lstrip("/")
        found += [each for each in together(path) if each not in found]
    return [*found, name]


def names() -> list[str]:
    """The names of all figures, which are those of their modules."""
    files = (Path(file.name) for file in resources.files(__package__).iterdir())
    return sorted(file.stem for file in files if file.suffix == ".mjs" and file.stem != "frame")


# What ties the files together for an editor or a linter; in one text there is nothing left to tie.
IMPORTED = re.compile(r'^import \{[^{}]*\} from "\./([\w/]+)\.mjs";$', re.M)
TIE = re.compile(r'\n(?:(?:import|export) \{[^{}]*\}(?: from "\./[\w/]+\.mjs")?;\n)+')


def own_text(name: str) -> str:
    """A module of the package, by its path without ending, without its imports and exports."""
    return TIE.sub("", whole_text(name), count=1)


def whole_text(name: str) -> str:
    """A module as it is on disk."""
    return resources.files(__package__).joinpath(f"{name}.mjs").read_text(encoding="utf-8")


def png(drawing, dots: int = DOTS, *, on_any_ground: bool = False) -> bytes:
    """A matplotlib figure as PNG in the course's style, with so many dots an inch; closes the figure.

    It stands on white, legible on light and dark pages; `on_any_ground`, it has no ground and grey words.
    """
    import matplotlib.pyplot as plt

    quieten(drawing, GREY if on_any_ground else INK)
    buffer = io.BytesIO()
    ground = {"transparent": True} if on_any_ground else {"facecolor": "white"}
    drawing.savefig(buffer, format="png", dpi=dots, bbox_inches="tight", pad_inches=0.15, **ground)
    plt.close(drawing)
    return buffer.getvalue()
