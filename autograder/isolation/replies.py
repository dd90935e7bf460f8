"""Takes replies of a student's process apart, believing nothing about their form.

Every function raises KeyError, TypeError or ValueError where a reply is not what an honest process sends.
"""

import base64
import binascii
import contextlib
from typing import Any

from autograder.isolation.limits import Limits
from autograder.isolation.results import CellResult, Fault, Frame

MAX_FRAMES = 20
ROOM_FOR_NOTES = 100
MAX_TEXT = 1 << 13
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def read_answer(answer: dict) -> tuple[Any, tuple[list, dict] | None, int | None]:
    """The value, the changed arguments, the number of the graph."""
    changed, graph = answer["changed"], answer["graph"]
    if graph is not None and type(graph) is not int:
        raise TypeError("the number of a graph is an integer")
    if changed is not None:
        args, kwargs = changed
        changed = (list.copy(args), dict.copy(kwargs))
    return answer["value"], changed, graph


def read_cell(limits: Limits, answer: dict) -> CellResult:
    """A cell's result, every part of it text or a picture, and within the limits."""
    displays = [read_display(display) for display in list.copy(answer["displays"])]
    if sum(len(content) for display in displays for content in display.values()) > limits.display_bytes:
        raise ValueError("more displays than the student's side of the border lets through")
    output = text_of(answer["output"], limits.output_bytes + ROOM_FOR_NOTES)
    error = answer["error"]
    return CellResult(output, displays, None if error is None else read_fault(error))


def read_display(display: dict) -> dict[str, str]:
    """The text of a display, and its picture if it is one."""
    shown = {"text/plain": text_of(display["text/plain"])} if "text/plain" in display else {}
    picture = "".join(str.split(display.get("image/png", "")))
    with contextlib.suppress(binascii.Error):
        if base64.b64decode(picture, validate=True).startswith(PNG_SIGNATURE):
            shown["image/png"] = picture  # base64 and nothing else: a page may show it without escaping it
    return shown


def read_fault(fields: dict) -> Fault:
    """An error, every part of it text or a line number."""
    return Fault(
        class_name=text_of(fields["class_name"]),
        message=text_of(fields["message"]),
        bases=tuple(text_of(name) for name in list.copy(fields["bases"])[:MAX_FRAMES]),
        frames=tuple(map(read_frame, list.copy(fields["frames"])[:MAX_FRAMES])),
        line=None if fields["line"] is None else line_of(fields["line"]),
        text=text_of(fields["text"]),
    )


def read_frame(fields: dict) -> Frame:
    return Frame(
        cell=text_of(fields["cell"]),
        line=line_of(fields["line"]),
        function=text_of(fields["function"]),
        text=text_of(fields["text"]),
    )


def text_of(content: Any, most: int = MAX_TEXT) -> str:
    if type(content) is not str:
        raise TypeError("text was expected")
    return content[:most]


def line_of(number: Any) -> int:
    if type(number) is not int:
        raise TypeError("a line number was expected")
    return number
