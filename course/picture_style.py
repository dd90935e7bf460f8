"""The one style of the course's pictures, whatever drew them: thin grey axes, and words in dark grey."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import ColorType

GREY = "#767676"  # a contrast of 4.5 to 1 with white and with black
INK = "#24292F"  # words on white


def quieten(drawing: Figure, words: str = INK) -> None:
    """Axes on two sides only, in grey, and the colour `words` where words have none of their own.

    A map of shades has no axes, since its edges show where it ends.
    """
    from matplotlib.text import Text

    drawing.draw_without_rendering()  # which makes the numbers beside the axes
    for axes in drawing.axes:
        quieten_axes(axes)
    for text in drawing.findobj(Text):
        if isinstance(text, Text) and is_plain(text.get_color()):
            text.set_color(words)


def quieten_axes(axes: Axes) -> None:
    """Lines and marks of one panel."""
    is_map = bool(axes.images)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_visible(not is_map)
    for spine in axes.spines.values():
        spine.set(color=GREY, linewidth=0.8)
    axes.tick_params(which="both", color=GREY, length=0 if is_map else 3)


def has_shades(drawing: Figure) -> bool:
    """Whether a picture shows numbers as colours, which must look the same on a dark page."""
    return any(axes.images for axes in drawing.axes)


def is_plain(colour: ColorType) -> bool:
    """Whether a colour is the one that words have if nobody gives them another."""
    from matplotlib.colors import to_hex

    return to_hex(colour) in ("#000000", GREY)
