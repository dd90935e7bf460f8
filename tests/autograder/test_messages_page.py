"""Whatever an instructor can be told, as a flag or as a refusal, has a row on the page of messages."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "autograder"
PAGE = ROOT / "site" / "messages.md"

# Faults within the program or between its processes, which a command says in other words or not at all.
WITHIN = {"WireError", "Unencodable", "Forbidden", "WorkerUnfit", "AnotherVersion", "HasThreads", "Died"} | {
    "Disqualified",  # a line of the competition's own table
    "Unreadable",  # said in the record, where the sentence is found by itself
    "Spoilt",
}
ROOMS = ("submissions", "grading", "checking")  # whose sentences are in records and feedback
SHORTEST = 3  # words; a shorter piece, such as ` of cell {number}`, is part of another sentence
PARTS = {"the answer to", "without a name"}  # of other sentences, too


def plain(text):
    """A text without what marks code, in one line; at its ends, without signs."""
    return " ".join(text.replace("`", "").replace("**", "").split()).strip(" .,:;()[]'\"")


def longest_piece(node):
    """The longest part of a message that is always the same; nothing if it is not written here."""
    match node:
        case ast.Constant(value=str(text)):
            pieces = re.split(r"\{[^}]*\}", text)
        case ast.JoinedStr(values=values):
            pieces = [part.value for part in values if isinstance(part, ast.Constant)]
        case _:
            return ""
    return max(map(plain, pieces), key=len, default="")


def calls(path, kind):
    return (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, kind))


def name_of(call):
    return call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""


def told():
    """Every sentence of a record, a flag or a check."""
    paths = (path for room in ROOMS for path in sorted((TOOL / room).glob("*.py")))
    return {
        longest_piece(call.args[0])
        for path in paths
        for call in calls(path, ast.Call)
        if name_of(call) == "say"
    }


def errors():
    """The names of the errors that the tool defines, and that a command may end with."""
    classes = {node.name for path in TOOL.rglob("*.py") for node in calls(path, ast.ClassDef)}
    return classes - WITHIN


def refusals():
    """Every sentence with which a command refuses."""
    own = errors()
    return {
        longest_piece(node.exc.args[0])
        for path in TOOL.rglob("*.py")
        for node in calls(path, ast.Raise)
        if name_of(node.exc) in own and node.exc.args
    }


SENTENCES = sorted(one for one in told() | refusals() if len(one.split()) >= SHORTEST and one not in PARTS)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_every_message_has_a_row(sentence):
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert any(sentence in plain(row) for row in rows), f"{PAGE} has no row with: {sentence}"


def test_the_messages_are_found_in_the_code():
    assert len(SENTENCES) > 100
    assert "Changed by the student and restored" in SENTENCES


def test_every_row_is_something_that_is_said_somewhere():
    """The longest piece of each message between two `…` is in the tool's text."""
    code = plain(re.sub(r'"\s*\n\s*f?"', "", "\n".join(path.read_text() for path in TOOL.rglob("*.py"))))
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    for row in rows:
        for message in row.split(" | ")[0].removeprefix("| ").split("<br>"):
            piece = max(map(plain, re.split("…", message)), key=len)
            assert piece in code or message.endswith(" says"), message
