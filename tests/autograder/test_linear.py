"""Reading what a student wrote takes time in proportion to its length, whatever it is."""

import ast
import contextlib
import functools
import importlib
import os
import re
import resource
import signal
import time

import pytest
from nbconvert.filters import markdown2html
from test_own_work import PLAIN, ROOT, work

from autograder.collecting.attempt import student_id
from autograder.collecting.canvas import NAME as CANVAS
from autograder.collecting.choosing import COPY
from autograder.collecting.moodle import NAME as MOODLE
from autograder.grading.autograded import autograded_notebook
from autograder.marks.exports.sheets import harmless
from autograder.marks.records import SubmissionRecord
from autograder.markup import harmless_attachments, harmless_markdown, one_line, plain_text
from autograder.reporting.formulas import with_formulas
from autograder.reporting.prose import prose
from autograder.source.released import defined_names
from autograder.submissions.collect import Unreadable
from autograder.submissions.handed_in import parse
from autograder.submissions.repair import NAMES_ITS_HOMEWORK, RepairedCell
from course.checks.explain import Explanation, blocks, lines, sentence
from course.tokenizers.words import NO_SPACE_AFTER, NO_SPACE_BEFORE, WORD_OR_MARK

REPEATS = 300_000
SECONDS = 20  # of processor time, for all texts together; what is quadratic takes minutes for one of them
UNITS = [
    *("![", "!", "[", "](", "](  ", "]:\t", "<", "<a ", "`", "``` ", "```\n", "~~~", "$", "$$", "$x", "$ "),
    *("\\$", "\\", "\\href", "\\mmlToken[", " ", "\n", "\t\n", "def ", "def\n", "class (", "homework( "),
    *("homework('", "a", "a-", "-1", "_1", "(1", "'", "\x1b[", "\ud800"),
    *("\u202e", ". ", "( ", "![a](attachment:", "![a](attachment:x)", "$a$ ", "a copy", "http://"),
]
BEGINNINGS = {"![": "a", "](": " ", "$": "x", "`": "x", "def": " ", "homework(": " ", "x": " "}
TEXTS = [unit * (REPEATS // len(unit)) for unit in UNITS]
TEXTS += [begun + unit * REPEATS + "(" for begun, unit in BEGINNINGS.items()]


def shown_in_the_notebook(text):
    """A text cell of a student's on its way to formgrader and the feedback."""
    record = SubmissionRecord("ada", 0.0, 0.0, "graded")
    notebook = autograded_notebook([RepairedCell("markdown", text.replace("\ud800", "?"))], {}, record)
    return markdown2html(with_formulas(notebook["cells"][-1]["source"]))


def read(text):
    with_cell = '{"nbformat": 4, "cells": [{"source": %s}]}'
    for data in (text, text + "}", "[" + text, with_cell % f'"{text}"'):
        with contextlib.suppress(Unreadable):
            parse(data.encode("utf-8", "surrogatepass"))


READERS = {
    "plain_text": plain_text,
    "one_line": one_line,
    "harmless_markdown": harmless_markdown,
    "harmless_attachments": lambda text: harmless_attachments({text: {"image/png": text}}),
    "with_formulas": with_formulas,
    "sheets.harmless": harmless,
    "prose": prose,
    "student_id": student_id,
    "defined_names": defined_names,
    "handed_in.parse": read,
    "names of Canvas": lambda text: CANVAS.fullmatch(text[:70_000]),
    "names of Moodle": lambda text: MOODLE.fullmatch(text[:70_000]),
    "names of copies": lambda text: COPY.sub("", text[:300]),  # file systems have no longer ones
    "the homework it names": NAMES_ITS_HOMEWORK.findall,
    "sentence": sentence,
    "lines": lambda text: lines(Explanation(difference=text, received=text)),
    "blocks": lambda text: blocks(Explanation(difference=text, received=text)),
    "words": WORD_OR_MARK.findall,
    "spaces before": lambda text: NO_SPACE_BEFORE.sub("", text),
    "spaces after": lambda text: NO_SPACE_AFTER.sub("", text),
}


def ends_within(seconds, work):
    """Whether a process of its own is done before the system ends it for the processor time it used."""
    process = os.fork()
    if process == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + seconds), int(used + seconds) + 5))
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert status in (0, -signal.SIGXCPU), status
    return status == 0


GRADING = (
    *(
        "cluster",
        "collecting",
        "competing",
        "grading",
        "isolation",
        "jupyter",
        "marks",
        "markup.py",
        "nbgrader",
    ),
    *("reporting", "serving", "submissions", "watching", "checking"),
)
# Expressions that see no text of a student's, or only one that is short already.
OTHERS = {
    "autograder.isolation.large_pages.OWN_MEMORY": "the kernel's list of mappings",
    "autograder.marks.persisting.BEGINS_A_WORD": "the names of nbgrader's tables",
    "autograder.marks.exports.canvas.WITH_ID": "the first row of Canvas's own table",
    "autograder.marks.forget.mentions": "a list of names",
    "autograder.collecting.roster._names": "one class of characters",
    "autograder.collecting.github_classroom._last_commit": "git's line about a commit",
    "autograder.serving.inbox.SOLUTION": "the instructor's answer",
    "autograder.collecting.canvas.NAME": "names of files, see READERS",
    "autograder.collecting.canvas.ANOTHER": "names of files, one class of characters",
    "autograder.serving.marking.NUMBER": "at most nine digits",
    "autograder.collecting.moodle.NAME": "names of files, see READERS",
    "autograder.collecting.choosing.COPY": "names of files, see READERS",
    "autograder.collecting.choosing._plain": "names of files, one class of characters",
    "autograder.collecting.attempt.RENAMED": "names of files, which are short",
}


@functools.cache
def expressions():
    """Every use of `re` in the rooms that grade: its module and its name there, or the function it is in."""
    found = set()
    paths = [path for room in GRADING for path in sorted((ROOT / "autograder" / room).rglob("*.py"))]
    paths += [ROOT / "autograder" / "markup.py", ROOT / "course" / "language.py"]
    for path in (*paths, *sorted((ROOT / "course" / "checks").glob("*.py"))):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for statement in ast.parse(path.read_text()).body:
            calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
            if any(ast.unparse(call.func).startswith("re.") for call in calls if call.args):
                target = statement.targets[0].id if isinstance(statement, ast.Assign) else statement.name
                found.add(f"{module}.{target}")
    return found


@functools.cache
def patterns():
    """Name → the compiled expression, of all that stand in a module by themselves or in a tuple."""
    found = {}
    for name in sorted(expressions() - OTHERS.keys()):
        module, _, attribute = name.rpartition(".")
        value = getattr(importlib.import_module(module), attribute)
        if isinstance(value, tuple):
            found |= {f"{name}[{at}]": pattern for at, (pattern, _) in enumerate(value)}
        elif isinstance(value, re.Pattern):
            found[name] = value
    return found


def grows_faster_than_its_text(work, text, length=20_000):
    """Whether twice the text takes three times as long, once that is long at all."""
    seconds = []
    for part in (text[:length], text[: 2 * length]):
        begun = time.process_time()
        work(part)
        seconds.append(time.process_time() - begun)
    return seconds[1] > 0.2 and seconds[1] > 3 * seconds[0]


def every_way(pattern):
    """What a program may do with an expression."""

    def tried(text):
        text = text.encode("utf-8", "surrogatepass") if isinstance(pattern.pattern, bytes) else text
        pattern.sub(text[:0], text)
        pattern.fullmatch(text)

    return tried


@pytest.mark.parametrize("name", patterns())
def test_an_expression_takes_time_in_proportion(name):
    work = every_way(patterns()[name])
    assert [text[:12] for text in TEXTS if grows_faster_than_its_text(work, text)] == []


def test_every_expression_is_timed_by_itself_or_with_its_reader_or_named_with_a_reason():
    timed = {name.partition("[")[0] for name in patterns()}
    assert expressions() - timed - OTHERS.keys() == WITH_THEIR_READERS
    assert OTHERS.keys() <= expressions()


def test_an_expression_that_is_quadratic_is_found_out():
    quadratic = re.compile(r"\.?\s*Did you mean: .*")
    assert grows_faster_than_its_text(every_way(quadratic), " " * REPEATS)


# Functions with an expression of their own, each of which READERS calls.
WITH_THEIR_READERS = {
    "autograder.collecting.attempt.student_id",
    "autograder.markup.harmless_attachments",
    "autograder.reporting.formulas.mathml",
    "course.checks.explain._inline",
    "course.checks.explain.prose",
}


@pytest.mark.parametrize("name", READERS)
def test_reading_takes_time_in_proportion(name):
    assert ends_within(SECONDS, lambda: [READERS[name](text) for text in TEXTS])


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:12]))
def test_a_page_with_it_is_made(text):
    assert ends_within(SECONDS, lambda: shown_in_the_notebook(text))


NESTED = "".join(" " * depth + f"def f{depth}(x):\n" for depth in range(90)) + " " * 90
ANSWER = "import torch\ndef top_k(x, k):\n    torch.topk\n    return ["
CODE = {
    "functions in functions": [("top_k", NESTED + "x = [" + "a," * 100_000 + "]")],
    "lambdas in lambdas": [("top_k", "top_k = " + "lambda:" * 150 + "[" + "a," * 100_000 + "]")],
    "imports": ["\n".join(f"import os as a{i}" for i in range(12_000)), PLAIN] * 2,
    "imports and attributes": [
        "\n".join(f"import os as a{i}" for i in range(12_000)),
        ("top_k", ANSWER + "x.a," * 50_000 + "]"),
    ],
    "imports and attributes in one statement": [
        "if 1:\n" + "".join(f" import os as a{i}\n" for i in range(5_000)) + " [" + "x.topk," * 20_000 + "]\n"
        " top_k = a1"
    ],
    "one name again and again": ["a = a\n" * 50_000, ("top_k", "def top_k(x, k): return a")],
    "one path longer and longer": [
        ("top_k", "import torch\ndef top_k(x, k):\n" + " a: 0 = a.x\n" * 20_000 + " return a.topk"),
        "import torch as a\nf = [" + "lambda a=a.x: a.topk," * 10_000 + "]\ntop_k = f",
    ],
    "functions that are timed": [
        "def f(): ...\n" + "timeit(f, globals=globals())\n" * 8_000 + "f = 'a'\n" * 2_000,
        "[" + "timeit(a, 'b', globals=globals())," * 5_000 + "]",
        PLAIN,
    ],
    "all modules again and again": ["[" + "[m for m in sys.modules.values()]," * 7_000 + "]", PLAIN],
    "each name from the next": [
        "\n".join(f"a{i} = a{i + 1}" for i in range(15_000)),
        ("top_k", "def top_k(x, k): return a0"),
    ],
}


@pytest.mark.parametrize("name", CODE)
def test_searching_code_takes_time_in_proportion(name):
    def search():
        found = work(*CODE[name])
        for exercise in found.exercises:
            list(found.uses(exercise) + list(found.remarks(exercise.name)))
        list(found.unseen())

    assert ends_within(SECONDS, search)


def test_what_is_quadratic_is_found_out():
    """The bound is one that can be missed."""
    quadratic = re.compile(r"!(?=\[[^\]]*\](?!\(attachment:))")
    assert not ends_within(SECONDS, lambda: quadratic.sub("", "![" * REPEATS))
