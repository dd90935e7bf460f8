"""Reading what a student wrote takes time in proportion to its length, whatever it is."""

import contextlib
import os
import resource
import signal

import pytest
from nbconvert.filters import markdown2html
from test_own_work import PLAIN, work

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

    assert ends_within(SECONDS, search)


def test_what_is_quadratic_is_found_out():
    """The bound is one that can be missed."""
    import re

    quadratic = re.compile(r"!(?=\[[^\]]*\](?!\(attachment:))")
    assert not ends_within(SECONDS, lambda: quadratic.sub("", "![" * REPEATS))
