"""Controls that run Python again, below a result that is complete without them.

    explore(show, text=sentence("prompt", "the girls"), temperature=number("temperature", 1.0, 0.1, 3.0))

The result of `show` with the default values is displayed first, like any cell's result; a page or a notebook
without a kernel keeps it. With a kernel and ipywidgets, controls appear below it, and moving one replaces the
result. Only features common to ipywidgets 7 and 8 are used.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipywidgets import DOMWidget

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class Control:
    """One control: its default value, and how to make its widget."""

    value: Any
    widget: Callable[[], DOMWidget]


def number(label: str, value: float, low: float, high: float, step: float = 0.1) -> Control:
    """A number between two limits. Raises ValueError if the default lies outside."""
    if not low <= value <= high:
        raise ValueError(f"{label}: expected a default between {low} and {high}, got {value}")

    def widget() -> DOMWidget:
        from ipywidgets import BoundedFloatText

        return BoundedFloatText(value=value, min=low, max=high, step=step, **described(label))

    return Control(value, widget)


def sentence(label: str, value: str) -> Control:
    """A line of text; it takes effect when Enter is pressed or the field loses focus."""

    def widget() -> DOMWidget:
        from ipywidgets import Layout, Text

        return Text(value=value, continuous_update=False, layout=Layout(width="36em"), **described(label))

    return Control(value, widget)


def choice(label: str, options: Sequence[str], value: str | None = None) -> Control:
    """One of several names, by default the first. Raises ValueError if `value` is not one of them."""
    value = options[0] if value is None else value
    if value not in options:
        raise ValueError(f"{label}: expected one of {list(options)}, got {value!r}")

    def widget() -> DOMWidget:
        from ipywidgets import Dropdown

        return Dropdown(options=list(options), value=value, **described(label))

    return Control(value, widget)


def described(label: str) -> dict[str, Any]:
    """A widget's label, as wide as its text."""
    return {"description": label, "style": {"description_width": "initial"}}


def explore(show: Callable[..., Any], **controls: Control) -> None:
    """Display `show(**defaults)`; where a kernel runs, the result follows the controls.

    An exception that `show` raises is displayed instead of its result, so the control can be moved back.
    """
    from IPython.display import display

    values = {name: control.value for name, control in controls.items()}
    handle = display(result(show, values), display_id=True)
    try:
        from ipywidgets import VBox
    except ImportError:  # the result stays without controls
        return
    widgets = {name: control.widget() for name, control in controls.items()}

    def follow(_change: Any) -> None:
        handle.update(result(show, {name: widget.value for name, widget in widgets.items()}))

    for widget in widgets.values():
        widget.observe(follow, names="value")
    box = VBox(list(widgets.values()))
    view = {"version_major": 2, "version_minor": 0, "model_id": box.model_id}
    # Without a text form: a viewer that has no widgets shows the result alone.
    display({WIDGET_VIEW: view}, raw=True)


def result(show: Callable[..., Any], values: dict[str, Any]) -> Any:
    """The result of `show`, or a sentence that says what it raised."""
    try:
        return show(**values)
    except Exception as error:
        return Said(f"{type(error).__name__}: {error}")


@dataclass(frozen=True)
class Said:
    """A line of text as a result."""

    text: str

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/html": f"<p>{html.escape(self.text)}</p>", "text/plain": self.text}
