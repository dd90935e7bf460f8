"""The page `site/commands.md`, made from the parser; `tests/autograder/test_commands_page.py` renews it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

PAGE = Path("site", "commands.md")
EVERYWHERE = ("--help", "--root", "--traceback")
BEGINNING = """\
# Every command and option

What `autograder COMMAND --help` prints, on one page; [For instructors](instructors.md) explains when to use
it.
Every command takes `--root FOLDER`, the course folder if it is not the current one, and `--traceback`, which
shows where in the program an error arose.
"""


def page(whole: argparse.ArgumentParser) -> str:
    """The page in Markdown, a heading for each command."""
    [words] = (action for action in whole._actions if isinstance(action, argparse._SubParsersAction))
    return "\n".join(
        [BEGINNING, *(line for name, part in words.choices.items() for line in _command(name, part))]
    )


def _command(name: str, part: argparse.ArgumentParser) -> Iterator[str]:
    named = [action for action in part._actions if not action.option_strings]
    options = [action for action in part._actions if not _is_everywhere(action)]
    yield f"## `{' '.join(['autograder', name, *map(_place, named)])}`"
    description = part.description or ""
    yield from ("", f"{_plain(description[:1].upper() + description[1:])}.", "")
    lines = [f"- `{_shown(action)}`: {_plain(action.help)}" for action in options if action.help]
    yield from [*lines, ""] if lines else []


def _is_everywhere(action: argparse.Action) -> bool:
    return bool(set(EVERYWHERE) & set(action.option_strings))


def _place(action: argparse.Action) -> str:
    """An argument in the line of its command: NAME, [NAME], NAME …"""
    name = str(action.metavar or action.dest.upper())
    several = f"{name} …" if action.nargs in ("*", "+") else name
    return f"[{several}]" if action.nargs in ("*", "?") else several


def _shown(action: argparse.Action) -> str:
    """`--seeds N`, or the name of an argument."""
    if not action.option_strings:
        return str(action.metavar or action.dest.upper())
    choices = "|".join(map(str, action.choices or ()))
    value = "" if action.nargs == 0 else f" {choices or action.metavar or action.dest.upper()}"
    return f"{action.option_strings[-1]}{value}"


def _plain(text: str) -> str:
    """Help as Markdown, in which a star is a star."""
    return re.sub(r"([*<])(?=[^`]*(?:`[^`]*`[^`]*)*$)", r"\\\1", text)
