"""What a command is, and how it prints."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import nullcontext
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


def grace_option(part: argparse.ArgumentParser) -> None:
    part.add_argument(
        "--grace",
        type=float,
        metavar="MINUTES",
        help="how long after the due date is still in time (default: what was set last, at first 0)",
    )


def isolation_option(part: argparse.ArgumentParser) -> None:
    part.add_argument(
        "--isolation",
        default="best",
        choices=["best", "bwrap", "landlock", "none"],
        help="the sandbox for students' code (default: the best that works; see `autograder doctor`)",
    )


def dask_option(part: argparse.ArgumentParser) -> None:
    part.add_argument("--dask", metavar="ADDRESS", help="grade on a Dask cluster, such as tls://host:8786")


def at_work(run: Callable[[Arguments], int]) -> Callable[[Arguments], int]:
    """The same command, during which `forget` refuses to work; a preview writes nothing, so it may."""

    def run_together(args: Arguments) -> int:
        from autograder.marks.at_work import together

        with nullcontext() if vars(args).get("preview") else together(args.root):
            return run(args)

    return run_together


def no_options(part: argparse.ArgumentParser) -> None:
    """For a command that needs none."""
