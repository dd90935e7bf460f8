"""What can go wrong on the student's side of a check, told apart because each is answered differently."""

import linecache
import traceback
from collections.abc import Callable, Sequence

LONGEST_MESSAGE = 2_000
MOST_FRAMES = 20

# As `type` knows them: a metaclass may say something else, or raise.
NAME_OF, PARENTS_OF = (type.__dict__[name].__get__ for name in ("__name__", "__mro__"))


class StudentError(Exception):
    """The student's code raised: the exception's class by name, its message, and the student's own line."""

    def __init__(
        self,
        error: str,
        message: str = "",
        line: int | None = None,
        text: str = "",
        bases: tuple[str, ...] = (),
        name: str = "",
    ) -> None:
        self.error, self.message, self.line, self.text, self.name = error, message, line, text, name
        self.bases = bases or (error,)  # names of the exception's class and of its parents
        super().__init__(self.sentence())

    def sentence(self) -> str:
        """ "`attention_weights` raised ZeroDivisionError: division by zero, at line 3: `return 1 / 0`"."""
        name = f"`{self.name}`" if self.name else "your code"
        raised = f"{name} raised {self.error}" + (f": {_cut(self.message, 300)}" if self.message else "")
        place = f", at line {self.line}" if self.line else ""
        return raised + place + (f": `{_cut(self.text, 100)}`" if place and self.text else "")


class NotWritten(Exception):
    """The function is still the stub that was handed out."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"{name} is not written yet. That is where this homework continues.")


class Unreachable(Exception):
    """The student's code gave no answer at all: it did not finish, ran out of memory or ended its process."""

    def __init__(self, what_happened: str) -> None:
        self.what_happened = what_happened
        super().__init__(what_happened)


def described(error: BaseException, is_own: Callable[[str], bool]) -> dict:
    """An exception as plain data, whatever its class does to hide: what it is, what it says and where it was.

    is_own: whether a file, by its name, holds code of the student's; only the lines of those are told.
    """
    places = [
        (frame.f_code, line, linecache.getline(frame.f_code.co_filename, line, frame.f_globals).strip())
        for frame, line in traceback.walk_tb(error.__traceback__)
        if is_own(frame.f_code.co_filename)
    ][-MOST_FRAMES:]
    frames = [
        {"cell": code.co_filename[1:-1], "line": line, "function": _function(code.co_qualname), "text": text}
        for code, line, text in places
    ]
    _, line, text = places[-1] if places else (None, None, "")
    if isinstance(error, SyntaxError) and type(error.lineno) is int:
        line, text = error.lineno, str(error.text or "").rstrip("\n")
    return {
        "class_name": NAME_OF(type(error)),
        "message": _message_of(error),
        "bases": [NAME_OF(base) for base in PARENTS_OF(type(error)) if base is not object],
        "frames": frames,
        "line": line,
        "text": text[:LONGEST_MESSAGE],
    }


def student_problem(
    name: str, class_name: str, message: str, bases: Sequence[str], function: str, line: int | None, text: str
) -> StudentError | NotWritten:
    """The exception of a call as a check reports it; `name` is the call's, `function` the innermost one's."""
    if is_stub(class_name, message, text):
        return NotWritten(function or name)
    return StudentError(class_name, message, line, text.strip(), tuple(bases), name)


def is_stub(error: str, message: str, text: str) -> bool:
    """Whether an exception is a stub's own NotImplementedError, not one of torch's about a missing kernel."""
    if error != "NotImplementedError":
        return False
    return "raise NotImplementedError" in text if text.strip() else not message


def _function(qualified: str) -> str:
    return qualified.rpartition("<locals>.")[2]


def _message_of(error: BaseException) -> str:
    """What the error says, even where saying it fails."""
    try:
        message = error.msg if isinstance(error, SyntaxError) and error.msg else error
        return str.__str__(str(message))[:LONGEST_MESSAGE]
    except Exception:
        return "(its message cannot be read)"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
