"""Every command and option is explained: by a line of help, on a page made from the parser, and by a word."""

import argparse
import re
import shlex
from pathlib import Path

import pytest

from autograder.cli import GROUPS, VERBS, parser
from autograder.words.commands_page import FREQUENT, PAGE, page

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "site/instructors.md")]
TYPED = re.compile(r"(?:^|`)(?:\.venv/bin/)?autograder ([a-z][^`\n#…]*)(?=`|\n|#)", re.M)
[COMMANDS] = (one for one in parser(VERBS)._actions if isinstance(one, argparse._SubParsersAction))


def test_the_page_is_what_the_parser_says():
    path, now = ROOT / PAGE, page(parser(VERBS), GROUPS)
    if not path.exists() or path.read_text(encoding="utf-8") != now:
        path.write_text(now, encoding="utf-8")
        pytest.fail(f"{path} was written anew; look at it")


@pytest.mark.parametrize("name", COMMANDS.choices)
def test_every_option_has_its_line_of_help_and_is_on_the_page(name):
    part = COMMANDS.choices[name]
    [section] = re.findall(
        rf"^### {name}\n\n`autograder {name}\b.*?(?=^##|\Z)", page(parser(VERBS), GROUPS), re.M | re.S
    )
    for action in part._actions:
        assert action.help or not action.option_strings, f"{name} {action.option_strings}"
        if not set(action.option_strings) & {"--help", "--root", "--traceback"}:
            assert all(f"`{option}" in section for option in action.option_strings[-1:])


def test_an_option_of_many_commands_is_explained_once():
    text = page(parser(VERBS), GROUPS)
    lines = [line for line in text.splitlines() if line.startswith("- `--")]
    assert text.count("the database of the marks") == 1
    assert text.index("- `--gradebook URL`") < text.index("\n## ")
    assert not [line for line in lines if lines.count(line) >= FREQUENT]


@pytest.mark.parametrize("name", COMMANDS.choices)
def test_every_command_is_explained_to_those_who_use_it(name):
    """Instructors find it on their page; what only concerns translators, in CONTRIBUTING."""
    place = "CONTRIBUTING.md" if name == "localise" else "site/instructors.md"
    assert re.search(rf"`autograder [\w`, ]*\b{name}\b|autograder {name}\b", (ROOT / place).read_text()), name


def typed():
    """Every command that a document spells out, without the word `autograder`."""
    return sorted({found.strip() for path in DOCUMENTS for found in TYPED.findall(path.read_text())})


@pytest.mark.parametrize("words", [one for one in typed() if " " in one])
def test_what_the_documents_say_to_type_is_understood(words):
    assert parser(VERBS).parse_args(shlex.split(words))


def test_the_documents_name_no_other_command():
    named = {words for words in typed() if " " not in words}
    assert len(named) > 10
    assert named <= COMMANDS.choices.keys()
