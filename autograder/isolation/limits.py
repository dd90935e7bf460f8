"""How much one submission may use."""

import json
from dataclasses import asdict, dataclass

MEGABYTE = 1 << 20
GIGABYTE = 1 << 30


@dataclass(frozen=True)
class Limits:
    """What one submission may use, all its processes together; enforced from outside its code."""

    memory_bytes: int = 2 * GIGABYTE  # beyond the memory that it inherits
    cpu_seconds: int = 120  # processor time, while any of its processes lives
    call_seconds: float = 10.0  # one request; waiting for a processor does not count
    cell_seconds: float = 60.0  # one notebook cell, or one request that trains a model, as above
    submission_seconds: float = 600.0  # everything, as above
    patience: float = 10.0  # times these seconds: the limits on wall time, on however busy a machine
    processes: int = 64  # processes and threads at one time
    files: int = 10_000
    file_bytes: int = 256 * MEGABYTE  # all files together
    output_bytes: int = 64 << 10  # printed by one cell
    display_bytes: int = 4 * MEGABYTE  # displayed by one cell
    reply_bytes: int = 64 * MEGABYTE  # one answer
    answers_bytes: int = 256 * MEGABYTE  # everything that its processes tell the grader

    @property
    def lifetime(self) -> float:
        """The seconds until a process is ended: of two submissions, during the first of which it may wait."""
        return 2 * self.patience * self.submission_seconds

    @property
    def largest_file_bytes(self) -> int:
        """The size of one file, which leaves room for its folders and for the file system's own blocks."""
        return self.file_bytes - self.file_bytes // 16

    def as_text(self) -> str:
        """The form in which the limits are sent to the process that enforces them."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str | bytes | bytearray) -> "Limits":
        return cls(**json.loads(text))


def in_words(number_of_bytes: float) -> str:
    """2147483648 → "2 GB"."""
    for unit, size in (("GB", GIGABYTE), ("MB", MEGABYTE), ("kB", 1 << 10)):
        if number_of_bytes >= size:
            return f"{number_of_bytes / size:.3g} {unit}"
    return f"{int(number_of_bytes)} bytes"


def size_of(text: str) -> int:
    """How many bytes a text takes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def shortened(text: str, most: int) -> str:
    """The text, or as much of its beginning as fits into so many bytes."""
    if size_of(text) <= most:
        return text
    return text[:most].encode(errors="surrogatepass")[:most].decode(errors="ignore")
