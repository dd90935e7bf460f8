"""The shapes that tensors have behind the lines of `course/models` while a model runs."""

import linecache
import sys
from collections.abc import Callable
from pathlib import Path

import course.models
from course.figures.machines.description import Box, Machine

MODELS = Path(course.models.__file__).parent


def shapes(machine: Machine, run: Callable[[], object]) -> dict[str, set[tuple[int, ...]]]:
    """For each box the shapes of its tensor, at every time that `run` comes by its line of code."""
    found = {box.key: set() for box in machine.boxes()}
    lines = {(str(MODELS / f"{box.file or machine.file}.py"), box.code) for box in machine.boxes()}
    files = {file for file, _ in lines}

    def look(frame, executed: int, returned: object = None) -> None:
        file = frame.f_code.co_filename
        text = linecache.getline(file, executed)
        for box in machine.boxes():
            if file == str(MODELS / f"{box.file or machine.file}.py") and box.code in text:
                names = {**frame.f_globals, **frame.f_locals, "returned": returned}
                found[box.key].add(tuple(eval(expression(box), names).shape))

    def trace(frame, event, argument):
        if frame.f_code.co_filename not in files or frame.f_code.co_name.startswith("<"):
            return None  # another file, or a comprehension within a line
        executed = frame.f_lineno

        def follow(frame, event, argument):
            nonlocal executed
            if event == "line":
                look(frame, executed)
                executed = frame.f_lineno
            elif event == "return" and argument is not None:
                look(frame, executed, argument)
            return follow

        return follow

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return found


def expression(box: Box) -> str:
    """The box's tensor, in the names of the function that holds its line."""
    return box.value or box.code.split("=")[0].strip()
