"""What a command is, and how it prints."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from autograder.markup import plain_text

Arguments = argparse.Namespace


@dataclass(frozen=True)
class Verb:
    """A command: its line of help, its options, and what it runs."""

    help: str
    options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Arguments], int]  # the exit status


def say(*lines: str, file: TextIO | None = None) -> None:
    """Print lines, in which nothing, such as a student's name, can control the terminal."""
    print(plain_text("\n".join(lines)).replace("\r", ""), file=file, flush=True)


def counted(number: int, thing: str) -> str:
    """`1 mark`, `2 marks`."""
    return f"{number} {thing}" + ("" if number == 1 else "s")


def gradebook_option(part: argparse.ArgumentParser) -> None:
    part.add_argument(
        "--gradebook",
        metavar="URL",
        help="the database of the marks, such as postgresql://marks@db/course (default: gradebook.db)",
    )


def dask_option(part: argparse.ArgumentParser) -> None:
    part.add_argument("--dask", metavar="ADDRESS", help="grade on a Dask cluster, such as tls://host:8786")


def no_options(part: argparse.ArgumentParser) -> None:
    """For a command that needs none."""
