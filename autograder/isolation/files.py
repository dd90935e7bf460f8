"""Files that accompany a submission, read without following links."""

import os
import stat
from pathlib import Path

from autograder.isolation.limits import in_words

LEFT_OUT = (".ipynb",)  # an autograded notebook holds the hidden checks


def regular_files(
    directory: Path | None, most_bytes: int, endings: tuple[str, ...] = ("",)
) -> dict[str, bytes]:
    """The regular files below a directory by relative path; links, pipes and devices are left out.

    endings: those of the file names wanted.

    Raises ValueError if the files take more than `most_bytes` together.
    """
    found: dict[str, bytes] = {}
    if directory is None:
        return found
    left = most_bytes
    for folder, _, names in os.walk(directory):
        for name in sorted(name for name in names if name.endswith(endings)):
            content = read_regular(Path(folder, name), left + 1)
            if content is not None:
                left -= len(content)
                found[str(Path(folder, name).relative_to(directory))] = content
            if left < 0:
                raise ValueError(f"the files beside the notebook take more than {in_words(most_bytes)}")
    return found


def read_regular(path: Path, most_bytes: int) -> bytes | None:
    """The first bytes of a regular file that has only one name; None for anything else."""
    if path.name.endswith(LEFT_OUT):
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            return None
        return file.read(most_bytes)
