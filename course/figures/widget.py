"""A figure as an anywidget, for a notebook in which Python keeps changing what the figure shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.figures.figure import Figure

if TYPE_CHECKING:
    from ipywidgets import DOMWidget

# anywidget draws once and tells of changes; the figures draw everything anew.
LIVE = """
export default {
  render({ model, el }) {
    const draw = () => figure.render({ model, el });
    model.on("change:data", draw);
    draw();
    return () => model.off("change:data", draw);
  },
};
"""


def live(module: str) -> str:
    """A figure's module, changed to draw again whenever the model's data change."""
    return module.replace("export default", "const figure =", 1) + LIVE


def as_widget(figure: Figure) -> DOMWidget:
    """The figure as an `anywidget.AnyWidget` whose trait `data` is the figure's: set it to redraw the figure.

    `shown = as_widget(attention(weights, words))`, later `shown.data = attention(other_weights, words).data`.
    Raises ImportError if anywidget is not installed; the figure by itself needs no package.
    """
    try:
        from anywidget import AnyWidget
        from traitlets import Dict
    except ImportError as missing:
        raise ImportError(
            "a widget needs anywidget: pip install anywidget; the figure itself needs no package"
        ) from missing

    class FigureWidget(AnyWidget):
        _esm = live(figure.module())
        data = Dict().tag(sync=True)

    return FigureWidget(data=figure.data)
