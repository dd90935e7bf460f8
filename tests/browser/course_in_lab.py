"""The course that JupyterLab opens in these tests: some of the real notebooks, and submissions."""

import json
import shutil

from autograder.grade import grade
from autograder.sample import demo
from autograder.source.as_answer import as_answer
from autograder.source.loading import load
from autograder.source.sample_submissions import answered, hand_in, reference_answers

LECTURE = "lectures/03_perplexity.ipynb"
HOMEWORK = "hw1_language_models"
EXERCISE = "sequence_log_prob"
MISTAKE = "first_word_not_scored"
WORDS = "\n\nBecause the divergence $D = \\sum_i p_i \\log_2 \\frac{p_i}{q_i}$ is never negative."


def make_course(root, course):
    """A course directory: one lecture, one homework, an exchange, and two students, graded."""
    demo.make_course(course, root / "solutions" / HOMEWORK, root)
    for path in (LECTURE, f"solutions/{HOMEWORK}/{HOMEWORK}.ipynb"):
        (course / path).parent.mkdir(exist_ok=True)
        shutil.copy(root / path, course / path)
    (course / "exchange").mkdir(mode=0o777)
    hand_in(course / "submitted", "ada", HOMEWORK, solved(course))
    hand_in(course / "submitted", "bob", HOMEWORK, solved(course, **{EXERCISE: mistake(course)}))
    grade(HOMEWORK, course / "submitted", root=course, jobs=1)
    return course


def solved(course, **answers):
    """The released notebook with every exercise solved and every question answered, but for these."""
    notebook = json.loads((course / "homeworks" / HOMEWORK / f"{HOMEWORK}.ipynb").read_text())
    cells = [cell | {"source": "".join(cell["source"])} for cell in notebook["cells"]]
    texts = {cell["metadata"].get("nbgrader", {}).get("grade_id"): cell["source"] for cell in cells}
    homework = load(course / "solutions" / HOMEWORK)
    words = {written.name: texts[written.name] + WORDS for written in homework.written}
    return answered(notebook | {"cells": cells}, reference_answers(homework) | words | answers)


def mistake(course):
    """A known wrong answer to the exercise."""
    homework = load(course / "solutions" / HOMEWORK)
    known = {entry.name: entry for entry in homework.misconceptions}
    return as_answer(known[MISTAKE], homework)


def stub(course):
    """What the exercise's cell holds in the release."""
    notebook = json.loads((course / "homeworks" / HOMEWORK / f"{HOMEWORK}.ipynb").read_text())
    return next("".join(cell["source"]) for cell in notebook["cells"] if cell["id"] == EXERCISE)
