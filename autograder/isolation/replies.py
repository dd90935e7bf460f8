"""Parse replies of a student's process, trusting nothing about their form.

Every function raises KeyError, TypeError or ValueError for a reply that no honest process sends.
"""

import base64
import contextlib
from typing import Any

from autograder.isolation import wire
from autograder.isolation.limits import Limits, shortened, size_of
from autograder.isolation.results import CellResult, Fault, Frame

MAX_FRAMES = 20
ROOM_FOR_NOTES = 100
MAX_TEXT = 1 << 13
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def read_answer(answer: dict) -> tuple[Any, bytes | None, int | None]:
    """The value, the frame of the arguments after the call, and the number of the graph."""
    left, graph = fields_of(answer)["left"], answer["graph"]
    if type(left) not in (bytes, type(None)) or type(graph) not in (int, type(None)):
        raise TypeError("the arguments are a frame, and the number of a graph is an integer")
    return answer["value"], left, graph


def read_arguments(args: tuple, kwargs: dict, frame: bytes) -> tuple[tuple, dict]:
    """The arguments as the call left them."""
    left = wire.decode(frame)
    if type(left) is not tuple or [*map(type, left)] != [tuple, dict]:
        raise TypeError("arguments are a tuple and a dictionary")
    if len(left[0]) != len(args) or left[1].keys() != kwargs.keys():
        raise ValueError("arguments that differ from those of the call")
    return left


def read_cell(limits: Limits, answer: dict) -> CellResult:
    """A cell's result, every part of it text or a picture, and within the limits."""
    displays = [read_display(display) for display in list.copy(fields_of(answer)["displays"])]
    if sum(size_of(content) for display in displays for content in display.values()) > limits.display_bytes:
        raise ValueError("more displays than the student's side may send")
    output = shortened(text_of(answer["output"], None), limits.output_bytes + ROOM_FOR_NOTES)
    error = answer["error"]
    return CellResult(output, displays, None if error is None else read_fault(error))


def read_display(display: dict) -> dict[str, str]:
    """The text of a display, and its picture if it is one."""
    shown = {"text/plain": text_of(display["text/plain"])} if "text/plain" in fields_of(display) else {}
    picture = "".join(str.split(display.get("image/png", "")))
    with contextlib.suppress(ValueError):
        if base64.b64decode(picture, validate=True).startswith(PNG_SIGNATURE):
            shown["image/png"] = picture  # base64 and nothing else: a page may show it without escaping it
    return shown


def read_fault(fields: dict) -> Fault:
    """An error, every part of it text or a line number."""
    return Fault(
        class_name=text_of(fields_of(fields)["class_name"]),
        message=text_of(fields["message"]),
        bases=tuple(text_of(name) for name in list.copy(fields["bases"])[:MAX_FRAMES]),
        frames=tuple(map(read_frame, list.copy(fields["frames"])[:MAX_FRAMES])),
        line=None if fields["line"] is None else line_of(fields["line"]),
        text=text_of(fields["text"]),
    )


def read_frame(fields: dict) -> Frame:
    return Frame(
        cell=text_of(fields_of(fields)["cell"]),
        line=line_of(fields["line"]),
        function=text_of(fields["function"]),
        text=text_of(fields["text"]),
    )


def read_names(answer: list) -> set[str]:
    """The names in a list that holds nothing else."""
    return {text_of(name) for name in list.copy(answer)}


def fields_of(answer: Any) -> dict:
    """The answer, if it is a dictionary, because tensors and arrays accept names as indices, too."""
    if type(answer) is not dict:
        raise TypeError("a dictionary was expected")
    return answer


def text_of(content: Any, most: int | None = MAX_TEXT) -> str:
    if type(content) is not str:
        raise TypeError("text was expected")
    return content[:most]


def line_of(number: Any) -> int:
    if type(number) is not int:
        raise TypeError("a line number was expected")
    return number
