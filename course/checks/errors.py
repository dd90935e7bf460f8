"""What can go wrong on the student's side of a check, told apart because each is answered differently."""


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


def is_stub(error: str, message: str, text: str) -> bool:
    """Whether an exception is a stub's own NotImplementedError, not one of torch's about a missing kernel."""
    if error != "NotImplementedError":
        return False
    return "raise NotImplementedError" in text if text.strip() else not message


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
