"""Download a public file once: check its SHA-256, keep it in a cache, resume an interrupted transfer.

CorpusError (an OSError)
├── NotReachable      no network or no such page; the message says where to put the file by hand
├── BrokenOff         the transfer ended too early; the bytes received are kept for the next attempt
└── WrongContents     the bytes are not those of the file
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

BLOCK = 1 << 16
RANGE_NOT_SATISFIABLE = 416


@dataclass(frozen=True)
class RemoteFile:
    """A file on the web and how to recognise it."""

    name: str  # in the cache
    url: str
    sha256: str
    n_bytes: int


class CorpusError(OSError):
    """A corpus is not available; the message says why and what to do."""


class NotReachable(CorpusError):
    """The file could not be fetched at all."""


class BrokenOff(CorpusError):
    """The transfer ended before the file was complete."""


class WrongContents(CorpusError):
    """The bytes that were downloaded or found are not those of the file."""


def cache_folder() -> Path:
    """Where corpora are kept: $COURSE_CACHE, or the operating system's folder for caches."""
    chosen = os.environ.get("COURSE_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    name = "language-models-from-scratch"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / name
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / name / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / name


def fetch(
    file: RemoteFile,
    folder: Path | None = None,
    *,
    attempts: int = 3,
    timeout: float = 20.0,
    show_progress: bool = True,
) -> Path:
    """The path of the file in the cache, downloaded if it is not there yet.

    An interrupted transfer is resumed, up to `attempts` times in one call and again in later calls. The file
    gets its name only when it is complete and its SHA-256 is correct. Raises NotReachable, BrokenOff or
    WrongContents.
    """
    path = (cache_folder() if folder is None else folder) / file.name
    if path.exists():
        expect_contents(path, file, advice=f"Delete {path} to have it downloaded again.")
        return path
    partial = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(attempts):
            transfer(file, partial, timeout=timeout, show_progress=show_progress)
            if partial.stat().st_size >= file.n_bytes:
                break
    except (OSError, HTTPException) as error:
        raise NotReachable(how_to_do_it_by_hand(file, path, reason(error))) from error
    accept(partial, path, file)
    return path


def accept(partial: Path, path: Path, file: RemoteFile) -> None:
    """Give a transferred file its name if it is complete and correct."""
    size = partial.stat().st_size
    if size < file.n_bytes:
        raise BrokenOff(
            f"{file.name}: the transfer broke off after {size:,} of {file.n_bytes:,} bytes. They are kept;"
            f" run this again to continue. {how_to_do_it_by_hand(file, path)}"
        )
    try:
        expect_contents(partial, file, advice=how_to_do_it_by_hand(file, path))
    except WrongContents:
        partial.unlink()  # resuming could never make it correct
        raise
    partial.replace(path)


def transfer(file: RemoteFile, partial: Path, *, timeout: float, show_progress: bool) -> None:
    """Append the missing bytes to `partial`; start again if the server cannot resume."""
    have = partial.stat().st_size if partial.exists() else 0
    if have >= file.n_bytes:
        return
    try:
        response = request(file.url, have, timeout)
    except HTTPError as error:
        if error.code != RANGE_NOT_SATISFIABLE or not have:
            raise
        partial.write_bytes(b"")  # the server has a different, shorter file: discard the bytes so far
        return
    with response:
        expected = f"bytes {have}-"
        continues = response.status == 206 and response.headers.get("Content-Range", "").startswith(expected)
        start = have if continues else 0
        with partial.open("ab" if continues else "wb") as out:
            for block in progress(blocks(response), file, start, show=show_progress):
                out.write(block)
                if out.tell() > file.n_bytes:  # not our file, perhaps a login page; the hash will show it
                    return


def request(url: str, start: int, timeout: float):
    """Request everything from byte `start` on."""
    headers = {"User-Agent": "language-models-from-scratch"}
    if start:
        headers["Range"] = f"bytes={start}-"
    return urlopen(Request(url, headers=headers), timeout=timeout)


def blocks(response) -> Iterator[bytes]:
    """The body in blocks; if the connection breaks, the blocks simply end."""
    while True:
        try:
            block = response.read(BLOCK)
        except (OSError, HTTPException):
            return
        if not block:
            return
        yield block


def progress(pieces: Iterator[bytes], file: RemoteFile, initial: int, *, show: bool) -> Iterator[bytes]:
    """The same pieces, with a progress bar in bytes."""
    from tqdm.auto import tqdm  # only a download needs it

    with tqdm(
        total=file.n_bytes, initial=initial, desc=file.name, unit="B", unit_scale=True, disable=not show
    ) as bar:
        for piece in pieces:
            bar.update(len(piece))
            yield piece


def expect_contents(path: Path, file: RemoteFile, *, advice: str) -> None:
    """Raise WrongContents unless the bytes at `path` are those of the file."""
    received = hashlib.sha256(path.read_bytes()).hexdigest()
    if received != file.sha256:
        raise WrongContents(
            f"{path} is not the file it should be: expected SHA-256 {file.sha256} ({file.n_bytes:,} bytes),"
            f" got {received} ({path.stat().st_size:,} bytes). {advice}"
        )


def reason(error: Exception) -> str:
    """Why a download failed, in a few words."""
    if isinstance(error, HTTPError):
        return f"the server answered {error.code} {error.reason}"
    return str(getattr(error, "reason", None) or error) or type(error).__name__


def how_to_do_it_by_hand(file: RemoteFile, path: Path, why: str | None = None) -> str:
    """What to do if this machine cannot download the file, as a sentence."""
    beginning = f"{file.name} could not be downloaded: {why}. " if why else ""
    return (
        f"{beginning}You can also fetch {file.url} on another machine and put it at {path}"
        " (or set the environment variable COURSE_CACHE to a folder that holds it)."
    )
