"""What comes back from a student's process: values, faults, and sentences about how it died."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Handle:
    """An object that stays in the student's process; a target and an argument of later requests."""

    index: int
    type_name: str
    callable: bool

    @classmethod
    def from_reference(cls, reference: list) -> "Handle":
        """Read the student's side's reference; raises ValueError or TypeError where it is none."""
        kind, index, type_name, is_callable = reference
        if kind != "object" or (type(index), type(type_name), type(is_callable)) != (int, str, bool):
            raise TypeError("an odd reference")
        return cls(index, type_name[:100], is_callable)


@dataclass(frozen=True)
class Named:
    """A thing of the student's by its name in the notebook, to pass it as an argument."""

    name: str


@dataclass(frozen=True)
class Frame:
    """One line of the student's own code on the way to an error."""

    cell: str
    line: int
    function: str
    text: str


@dataclass(frozen=True)
class Fault:
    """An error in the student's code, told by the student's process: text to show, never to trust."""

    class_name: str
    message: str
    bases: tuple[str, ...] = ()  # names of the error's classes, from itself up to BaseException
    frames: tuple[Frame, ...] = ()  # outermost first, lines of the student's cells only
    line: int | None = None
    text: str = ""

    def sentence(self) -> str:
        """ZeroDivisionError: division by zero (line 3: return 1 / 0)."""
        where = f" (line {self.line}: {self.text.strip()})" if self.line is not None else ""
        return f"{self.class_name}: {self.message}{where}"


@dataclass(frozen=True)
class CellResult:
    """What one notebook cell printed, displayed and raised."""

    output: str
    displays: list[dict[str, str]]  # "text/plain", and "image/png" in base64
    error: Fault | None


@dataclass(frozen=True)
class Reply:
    """One answer: the value, and what the call did to its arguments."""

    value: Any
    changed: tuple[list, dict] | None = None  # the arguments after the call, if it changed them


class Raised(Exception):
    """The student's code raised an error."""

    def __init__(self, fault: Fault):
        super().__init__(fault.sentence())
        self.fault = fault


class Died(Exception):
    """The student's process is gone; the message says in a sentence's predicate what happened."""

    @property
    def sentence(self) -> str:
        """Such as "did not finish within 10 s"."""
        return str(self)


class IsolationUnavailable(RuntimeError):
    """This machine cannot run submissions at the level asked for; the message says why."""
