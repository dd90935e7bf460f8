"""What a student's process returns: results of cells, faults, and sentences about how it ended."""

from dataclasses import dataclass

from course.language import joined, say


@dataclass(frozen=True)
class Frame:
    """One line of the student's own code on the way to an error."""

    cell: str
    line: int
    function: str
    text: str


@dataclass(frozen=True)
class Fault:
    """An error in the student's code, as its process reports it: text to show, never to trust."""

    class_name: str
    message: str
    bases: tuple[str, ...] = ()  # names of the error's classes, from itself up to BaseException
    frames: tuple[Frame, ...] = ()  # outermost first, lines of the student's cells only
    line: int | None = None
    text: str = ""

    def sentence(self) -> str:
        """ZeroDivisionError: division by zero (line 3: return 1 / 0)."""
        error = joined(": ", [self.class_name, self.message]) if self.message else f"{self.class_name}: "
        if self.line is None:
            return error
        text = self.text.strip()
        return say("{error} (line {line}: {text})", error=error, line=self.line, text=text)


@dataclass(frozen=True)
class CellResult:
    """What one notebook cell printed, displayed and raised."""

    output: str
    displays: list[dict[str, str]]  # "text/plain", and "image/png" in base64
    error: Fault | None
    died: bool = False  # whether the process ended while it ran


class Raised(Exception):
    """The student's code raised an error."""

    def __init__(self, fault: Fault):
        super().__init__(fault.sentence())
        self.fault = fault


class Died(Exception):
    """The student's process has ended; the message is the predicate of a sentence that says how."""

    @property
    def sentence(self) -> str:
        """Such as "did not finish within 10 s"."""
        return self.args[0]


class TooLate(Died):
    """A request exceeded its time limit, and its process was ended.

    waited: for how many seconds it was ready to run but had no processor.
    """

    def __init__(self, seconds: float, waited: float):
        super().__init__(say("did not finish within {seconds:g} s", seconds=seconds))
        self.seconds = seconds
        self.waited = waited


class IsolationUnavailable(RuntimeError):
    """This machine cannot run submissions at the level asked for; the message says why."""
