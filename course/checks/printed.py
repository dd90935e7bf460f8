"""What a student's code prints while it is checked: shown from its beginning, up to a limit."""

import contextlib
import io
import sys
from collections.abc import Iterator
from typing import TextIO

from course.language import say_count

MOST_SHOWN = 10_000  # characters, of all claims of an exercise together


class Printed(io.TextIOBase):
    """Passes on what is written up to a limit, and counts the rest."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, stream: TextIO, most: int = MOST_SHOWN) -> None:
        self._stream, self._room = stream, most
        self._lines = self._characters = 0  # left out

    def write(self, text: str) -> int:
        """Pass on as much as there is room for; returns the number of all characters."""
        shown, rest = text[: self._room], text[self._room :]
        if shown:
            self._stream.write(shown)
        self._room -= len(shown)
        self._lines += rest.count("\n")
        self._characters += len(rest)
        return len(text)

    def writable(self) -> bool:
        """Always True."""
        return True

    def flush(self) -> None:
        """Flush the stream behind this one."""
        self._stream.flush()

    def fileno(self) -> int:
        """That of the stream behind this one."""
        return self._stream.fileno()

    @property
    def left_out(self) -> str:
        """A sentence that says how much is not shown; "" if all is."""
        if not self._characters:
            return ""
        return say_count(
            "[{count} more line that your code printed is not shown]",
            "[{count} more lines that your code printed are not shown]",
            max(self._lines, 1),
        )


@contextlib.contextmanager
def printed() -> Iterator[Printed]:
    """What is printed meanwhile goes to standard output as far as the limit allows."""
    stream = Printed(sys.stdout)
    with contextlib.redirect_stdout(stream):
        yield stream
