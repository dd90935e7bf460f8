"""The page `site/commands.md`, made from the parser; `tests/autograder/test_commands_page.py` renews it."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
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
FREQUENT = 5  # an option of as many commands is explained once


def page(whole: argparse.ArgumentParser, groups: Mapping[str, Iterable[str]]) -> str:
    """The page in Markdown: a heading for each group of commands, and below it one for each command."""
    [words] = (action for action in whole._actions if isinstance(action, argparse._SubParsersAction))
    explained = Counter(_explained(option) for part in words.choices.values() for option in _options(part))
    shared = [line for line, times in explained.items() if times >= FREQUENT]
    lines = [BEGINNING, "Several commands take these options, and name them in their last line:", "", *shared]
    for group, names in groups.items():
        lines += ["", f"## {group}"]
        for name in names:
            lines += _command(name, words.choices[name], shared)
    return "\n".join([*lines, ""])


def _command(name: str, part: argparse.ArgumentParser, shared: Iterable[str]) -> Iterator[str]:
    named = [action for action in part._actions if not action.option_strings]
    options = list(_options(part))
    description = part.description or ""
    yield from ("", f"### {name}", "", f"`{' '.join(['autograder', name, *map(_place, named)])}`", "")
    yield f"{_plain(description[:1].upper() + description[1:])}."
    own = [option for option in options if _explained(option) not in shared]
    yield from ["", *map(_explained, own)] if own else []
    others = [f"`{option.option_strings[-1]}`" for option in options if option not in own]
    yield from ["", f"And {', '.join(others)}."] if others else []


def _options(part: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """What a command takes and explains, without what every command takes."""
    return (option for option in part._actions if option.help and not _is_everywhere(option))


def _explained(option: argparse.Action) -> str:
    return f"- `{_shown(option)}`: {_plain(option.help or '')}"


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
