"""What is said of a hidden check: no word of it chosen by the student's code, so no input gets out."""

from __future__ import annotations

import builtins
import re

from autograder.homework import Check
from course.checks import Trace

NOT_SHOWN = "The inputs of this check are not shown."
CHOSEN_BY_THE_STUDENT = re.compile(r" with exit status \d+| by SIG\w+")  # numbers that could tell an input


def redacted(check: Check, trace: Trace, death: str | None) -> str:
    """Why a hidden check failed, in the course's words alone.

    death: what happened to the student's process during the check, in the grader's words.
    """
    error = trace.events[-1].outcome.error if trace.events else ""
    if error == "NotWritten":
        return f"`{check.exercise}` is not written yet."
    return f"{_what_happened(check, error, death)} {NOT_SHOWN}"


def quiet(death: str) -> str:
    """How a process ended during a hidden check, without the number that its code may have chosen."""
    return CHOSEN_BY_THE_STUDENT.sub("", death)


def _what_happened(check: Check, error: str, death: str | None) -> str:
    if death:
        return f"`{check.exercise}` {death}."
    if _is_builtin_error(error):
        return f"`{check.exercise}` raised {error}."
    return "This does not hold."


def _is_builtin_error(name: str) -> bool:
    """Whether a class name is one of Python's own; any other may have been made up to say something."""
    known = getattr(builtins, name, None) if name.isidentifier() else None
    return isinstance(known, type) and issubclass(known, Exception)
