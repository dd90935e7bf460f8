"""The command line: a table of commands, each with its line of help, its options and its function.

The functions know nothing of the command line, and each is imported only when its command is used.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from autograder.importing import is_importing
from autograder.words import collecting, giving_out, grading, marks, serving, students, writing
from autograder.words.verb import Verb, say

GROUPS = {
    "Writing a course": writing.VERBS,
    "What students get": giving_out.VERBS,
    "What students hand in": collecting.VERBS,
    "The website where they hand in": serving.VERBS,
    "Grading": grading.VERBS,
    "Marks": marks.VERBS,
    "Students' data": students.VERBS,
}
VERBS = {word: verb for group in GROUPS.values() for word, verb in group.items()}


STOPPED = "stopped; what was finished is kept."


class Terminated(KeyboardInterrupt):
    """SIGTERM, as a service manager sends it: whatever cleans up after Ctrl-C cleans up after it too."""


def main(arguments: Sequence[str] | None = None, verbs: Mapping[str, Verb] | None = None) -> int:
    """Run one command; an error that the user can fix is shown as a sentence, without a traceback."""
    atexit.register(gc.freeze)  # at its end Python would search all of torch for garbage, which took a second
    _print_whatever_the_terminal_can_show()
    args, words = argparse.Namespace(traceback=True), "autograder"
    try:
        with interrupted_or_terminated(lambda: words):
            args = parser(VERBS if verbs is None else verbs).parse_args(arguments)
            words = f"autograder {args.verb}"
            return args.run(args)
    except Exception as problem:
        if args.traceback or not _is_for_the_user(problem):
            raise
        say(f"{words}: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as end:
        say(f"\n{words}: {STOPPED}", file=sys.stderr)
        return 128 + (signal.SIGTERM if isinstance(end, Terminated) else signal.SIGINT)


@contextmanager
def interrupted_or_terminated(words: Callable[[], str]) -> Iterator[None]:
    """Raise KeyboardInterrupt in this process on SIGINT, Terminated on SIGTERM; its forks simply end.

    In the middle of an import the process ends at once: a library's own code may not survive an exception.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        if os.getpid() != ours:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif is_importing(frame):
            say(f"\n{words()}: {STOPPED}", file=sys.__stderr__)  # some imports are quiet ones
            os._exit(128 + number)
        raise Terminated if number == signal.SIGTERM else KeyboardInterrupt

    before = [(number, signal.signal(number, end)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _print_whatever_the_terminal_can_show() -> None:
    """A character that the terminal cannot show (LANG=C) is printed as its number, as in Python's errors."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _is_for_the_user(problem: Exception) -> bool:
    """Our own errors and those of files say what to fix; any other is a fault in the program."""
    return isinstance(problem, OSError) or type(problem).__module__.partition(".")[0] == "autograder"


def parser(verbs: Mapping[str, Verb]) -> argparse.ArgumentParser:
    """The parser of all commands."""
    whole = argparse.ArgumentParser("autograder", description="Write, test, release and grade homework.")
    words = whole.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    for word, verb in verbs.items():
        part = words.add_parser(word, help=verb.help, description=verb.help)
        verb.options(part)
        part.add_argument(
            "--root", type=Path, default=Path.cwd(), help="the course folder (default: the current one)"
        )
        part.add_argument("--traceback", action="store_true", help="show the full traceback of an error")
        part.set_defaults(run=verb.run)
    return whole
