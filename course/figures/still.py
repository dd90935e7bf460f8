"""A matplotlib drawing that keeps its alt text wherever the notebook is shown."""

import base64
import html
from dataclasses import dataclass

from course.figures.figure import png


@dataclass(frozen=True)
class Still:
    """A picture with its alt text, shown as `<figure><img alt>`, which every viewer keeps."""

    picture: bytes
    alt: str
    caption: str = ""

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        source = f"data:image/png;base64,{base64.b64encode(self.picture).decode()}"
        return {
            "text/html": (
                f'<figure style="margin:0"><img alt="{html.escape(self.alt)}" src="{source}">'
                f"<figcaption>{html.escape(self.caption)}</figcaption></figure>"
            ),
            "text/plain": self.caption or self.alt,
        }


def still(drawing, alt: str, caption: str = "") -> Still:
    """Close a matplotlib figure and show it with its alt text. Raises ValueError if that is empty."""
    if not alt.strip():
        raise ValueError("a picture needs an alt text: what would you say to someone who cannot see it?")
    return Still(png(drawing), alt, caption)
