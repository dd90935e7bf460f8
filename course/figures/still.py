"""A matplotlib drawing that keeps its alt text wherever the notebook is shown."""

import base64
import html
from dataclasses import dataclass

from course.figures.figure import DOTS, png
from course.picture_style import has_shades

DOTS_OF_A_STILL = 2 * DOTS  # an inch: sharp on a screen with two dots for each pixel


@dataclass(frozen=True)
class Still:
    """A picture with its alt text, shown as `<figure><img alt>`, which every viewer keeps.

    keeps_colours: its shades stand for numbers, so a dark page must not turn them round.
    """

    picture: bytes
    alt: str
    caption: str = ""
    keeps_colours: bool = False

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        wide = int.from_bytes(self.picture[16:20])  # where a PNG says it
        source = f"data:image/png;base64,{base64.b64encode(self.picture).decode()}"
        kept = ' class="keeps-colours"' if self.keeps_colours else ""
        return {
            "text/html": (
                f'<figure style="margin:0"><img{kept} width="{wide * DOTS // DOTS_OF_A_STILL}" '
                f'alt="{html.escape(self.alt)}" src="{source}">'
                f"<figcaption>{html.escape(self.caption)}</figcaption></figure>"
            ),
            "text/plain": self.caption or self.alt,
        }


def still(drawing, alt: str, caption: str = "") -> Still:
    """Close a matplotlib figure and show it with its alt text. Raises ValueError if that is empty."""
    if not alt.strip():
        raise ValueError("a picture needs an alt text: what would you say to someone who cannot see it?")
    shaded = has_shades(drawing)
    return Still(png(drawing, DOTS_OF_A_STILL, on_any_ground=shaded), alt, caption, keeps_colours=shaded)
