"""No letter of a student's commands a terminal, begins a formula or becomes markup, whatever word is used."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import unicodedata
from html.parser import HTMLParser

import pytest
from grading import NAME, new_course, solved
from hostile import COMMANDS, MARKUP, NAMES, ODD, hand_in_under, hostile_notebook

from autograder.cli import main
from autograder.marks.exports.sheets import harmless
from autograder.markup import one_line, plain_text

pytestmark = pytest.mark.usefixtures("one_warm_process")

TURNING = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
COPIED = (
    "a_long_line_that_two_have = '" + "".join(chr(9 + n % 3) for n in range(3)) + "\x9b31m{} ' + 'x' * 9\n"
)

REPORTS_TAGS = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "ul", "li", "b", "div"}
REPORTS_TAGS |= {
    "span",
    "small",
    "table",
    "tr",
    "th",
    "td",
    "details",
    "summary",
    "pre",
    "a",
    "code",
    "footer",
}
REPORTS_ATTRIBUTES = {
    "lang",
    "charset",
    "http-equiv",
    "content",
    "name",
    "class",
    "style",
    "title",
    "id",
    "href",
}
REPORTS_ATTRIBUTES |= {"role", "aria-label", "scope", "open"}


def commands_in(text):
    """What could command a terminal or turn a line around."""
    return {
        mark
        for mark in text
        if (unicodedata.category(mark) in ("Cc", "Cs") and mark not in "\n\t") or mark in TURNING
    }


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """A class of hostile names, each with a hostile notebook, and a good one."""
    course = new_course(tmp_path_factory.mktemp("hostile") / "course")
    data = json.dumps(hostile_notebook(course)).encode()
    for name in NAMES:
        hand_in_under(course, name, data)
    hand_in_under(course, "good", json.dumps(solved(course)).encode())
    return course


@pytest.fixture(scope="module")
def graded(handed_in, tmp_path_factory):
    course = shutil.copytree(handed_in, tmp_path_factory.mktemp("graded") / "course")
    assert main(["grade", NAME, "--submissions", f"{course}/submitted", "--root", f"{course}"]) == 0
    return course


def said(capsys, *words):
    """What a word wrote to the terminal; it ends well."""
    capsys.readouterr()
    assert main([str(word) for word in words]) == 0
    captured = capsys.readouterr()
    return captured.out + captured.err


def test_grade_prints_no_command_and_a_line_for_each(handed_in, tmp_path, capsys):
    course = shutil.copytree(handed_in, tmp_path / "course")
    words = ["grade", NAME, "--submissions", course / "submitted", "--root", course]
    text = said(capsys, *words)
    assert commands_in(text) == set()
    assert "good" in text
    shutil.copyfile(*[course / "submitted" / name / NAME / f"{NAME}.ipynb" for name in ("good", ODD[0])])
    shutil.copyfile(*[course / "submitted" / name / NAME / f"{NAME}.ipynb" for name in ("good", ODD[1])])
    text = said(capsys, *words)
    assert "2 marks changed" in text
    assert commands_in(text) == set()


def test_collect_prints_no_command(handed_in, tmp_path, capsys):
    text = said(
        capsys, "collect", handed_in / "submitted", "--homework", NAME, "--to", tmp_path, "--root", handed_in
    )
    assert commands_in(text) == set()
    assert f"{len(NAMES) + 1} students" in text


def test_repair_prints_no_command(handed_in, tmp_path, capsys):
    notebook = handed_in / "submitted" / NAMES[0] / NAME / f"{NAME}.ipynb"
    text = said(
        capsys, "repair", notebook, "--homework", NAME, "--root", handed_in, "--to", tmp_path / "r.ipynb"
    )
    assert "tags dropped" in text
    assert commands_in(text) == set()


def test_similar_prints_no_command(graded, capsys, tmp_path):
    course = shutil.copytree(graded, tmp_path / "course")
    code = "\n".join(
        f"def part_{n}(values):\n    {COPIED.format(n)}    return sum(values) + {n}" for n in range(9)
    )
    for name in ODD:
        path = course / "autograded" / name / NAME / f"{NAME}.ipynb"
        path.write_text(json.dumps(solved(course, code)))
    text = said(capsys, "similar", NAME, "--root", course)
    assert "in these two alone" in text
    assert commands_in(text) == set()


def test_no_error_prints_a_command(graded, capsys):
    words = ["export", NAME, "gradescope", "--root", graded, "--student", COMMANDS]
    assert main([str(word) for word in words]) == 2
    assert commands_in(capsys.readouterr().err) == set()
    sheet = graded / "sheet.csv"
    sheet.write_text("Student,ID\nX,1\n")
    assert main(["export", NAME, "canvas", "--root", str(graded), "--sheet", str(sheet)]) == 2
    problem = capsys.readouterr().err
    assert commands_in(problem) == set()
    assert len(problem.splitlines()) == 1


def test_the_sheet_holds_no_command_and_no_formula(graded, capfdbinary):
    assert main(["export", NAME, "csv", "--root", str(graded)]) == 0
    text = capfdbinary.readouterr().out.decode()
    assert commands_in(text) == set()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(NAMES) + 1
    for row in rows:
        for cell in row.values():
            assert not re.match(r"[\s\u200b]*[=+@＝＋＠]", cell), cell


@pytest.mark.parametrize(
    "cell",
    [
        "\n=1+1",
        " =1",
        "\u00a0=1",
        "\u200b=1",
        "＝1+1",
        "＋1",
        "＠SUM(A1)",
        "－1+1",
        "-1+1",
        "\t",
        "\r=1",
        "\x00=1",
    ],
)
def test_what_a_spreadsheet_would_take_for_a_formula_gets_an_apostrophe(cell):
    assert harmless(cell).startswith("'")


@pytest.mark.parametrize("cell", ["-1", "-1.5", "1", "a=b", "", "Zoë O'Hara", "a\nb"])
def test_other_cells_stay(cell):
    assert harmless(cell) == cell


class Parts(HTMLParser):
    """The tags of a page with their attributes, and where links lead."""

    def __init__(self, page):
        super().__init__()
        self.found, self.links = set(), set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found |= {(tag, None), *((tag, name) for name, _ in attrs)}
        self.links |= {value for name, value in attrs if name in ("href", "src", "xlink:href", "action")}


def test_the_report_has_no_tag_for_them_that_it_has_not_for_others(graded, tmp_path, capsys):
    text = said(capsys, "report", NAME, "--root", graded)
    assert commands_in(text) == set()
    page = (graded / "grades" / f"{NAME}.html").read_text()
    assert commands_in(page) == set()
    assert "onerror" in page  # it is shown, as text
    parts = Parts(page)
    assert {tag for tag, _ in parts.found} <= REPORTS_TAGS
    assert {name for _, name in parts.found if name} <= REPORTS_ATTRIBUTES
    assert all(link.startswith("#student-") for link in parts.links)


def test_a_terminal_without_the_letters_is_no_reason_to_stop(handed_in, tmp_path):
    """As with LC_ALL=C, or on a Windows console."""
    command = [sys.executable, "-m", "autograder", "collect", handed_in / "submitted", "--homework", NAME]
    command += ["--to", tmp_path, "--root", handed_in]
    for encoding in ("ascii", "latin-1"):
        environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONSAFEPATH": "1"}
        done = subprocess.run(command, env=environment, capture_output=True)
        assert done.returncode == 0, done.stderr
        assert b"\\ufffd" in done.stdout


def test_a_line_is_a_line_and_shows_what_cannot_be_seen():
    assert one_line("a\nb\tc") == "a b c"
    assert one_line(COMMANDS).isprintable()
    assert one_line("Zoë · 李娜 – ok") == "Zoë · 李娜 – ok"


def test_text_keeps_its_lines_and_loses_its_commands():
    for text in (*MARKUP, COMMANDS, *NAMES):
        assert commands_in(plain_text(text)) <= {"\r"}
