"""A figure that is interactive in JupyterLab, in Colab, in VS Code and on a static page with no kernel."""

import base64
import hashlib
import html
import io
import json
from dataclasses import dataclass
from importlib import resources
from typing import Any

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

    def __post_init__(self):
        if not self.alt.strip():
            raise ValueError(
                f"figure {self.name!r} needs an alt text: what would you say to someone who cannot see it?"
            )
        if len(self.json()) > MOST_DATA:
            raise ValueError(
                f"figure {self.name!r} carries {len(self.json()):,} bytes of data, but at most {MOST_DATA:,} "
                "fit on a page. Pass fewer tokens or heads."
            )

    def json(self) -> str:
        """The data as JSON that is safe inside a script element."""
        return json.dumps(self.data, separators=(",", ":")).replace("</", "<\\/")

    def module(self) -> str:
        """The complete text of the ES module, which imports nothing."""
        return read("frame.mjs") + read(f"{self.name}.mjs")

    def html(self) -> str:
        """The figure as one piece of HTML: fallback picture first, then the script that replaces it."""
        identity = hashlib.sha256(f"{self.name}{self.json()}".encode()).hexdigest()[:12]
        image = base64.b64encode(self.picture).decode()
        script = self.module().replace("export default", "const figure =", 1)
        mount = MOUNT.replace("IDENTITY", identity).replace("DATA", self.json())
        return (
            f'<figure id="figure-{identity}" style="margin:0">'
            f'<div class="live"><img alt="{html.escape(self.alt)}" src="data:image/png;base64,{image}"></div>'
            f"<figcaption>{html.escape(self.caption)}</figcaption></figure>"
            f'<script type="module">\n{script}\n{mount}</script>'
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


def read(file: str) -> str:
    """The text of a module that ships with the package."""
    return resources.files(__package__).joinpath(file).read_text(encoding="utf-8")


def png(drawing) -> bytes:
    """A matplotlib figure as PNG, on white to be legible on light and dark pages; closes the figure."""
    import matplotlib.pyplot as plt

    buffer = io.BytesIO()
    drawing.savefig(buffer, format="png", dpi=80, facecolor="white", bbox_inches="tight", pad_inches=0.15)
    plt.close(drawing)
    return buffer.getvalue()
