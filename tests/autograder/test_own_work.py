"""Write it yourself: what an answer uses is found in all of the student's cells, and under other names."""

import ast
from pathlib import Path

import pytest

import course
from autograder.source.homework import Exercise, references
from autograder.source.loading import find, names
from autograder.source.released import SourceCell
from autograder.submissions.copied import copied, structure
from autograder.submissions.handed_in import HandedCell
from autograder.submissions.own_work import MOST_SEARCHED, OwnWork
from autograder.submissions.repair import repair
from course.checks.forbidden import Rule
from course.checks.source import forbidden_in

ROOT = Path(__file__).resolve().parents[2]


def exercise(name, forbids=(), allows=()):
    return Exercise(name, name, "", 1, 5, tuple(forbids), (), "", "", 1, allows=tuple(allows))


def cell_of(name, role="answer"):
    nbgrader = {"grade_id": name, "solution": role == "answer", "grade": False, "locked": role == "given"}
    return SourceCell(name, role, "code", f"def {name}(): ...", f"def {name}(): ...", nbgrader)


def work(*cells, exercises=None, provided=""):
    """What is found in cells: (exercise, text) for an answer, a text for a cell of the student's own."""
    exercises = exercises or [exercise("top_k", ["torch.topk", ".topk"])]
    source = [cell_of(entry.name) for entry in exercises]
    handed = [
        HandedCell("code", cell, None, nbgrader={})
        if isinstance(cell, str)
        else HandedCell("code", cell[1], cell[0], nbgrader=cell_of(cell[0]).nbgrader)
        for cell in cells
    ]
    if provided:
        given = cell_of("imports", "given")
        source = [SourceCell("imports", "given", "code", provided, provided, given.nbgrader), *source]
        handed = [HandedCell("code", provided, "imports", nbgrader=given.nbgrader), *handed]
    return OwnWork(repair(handed, source), exercises)


def uses(*cells, **options):
    found = work(*cells, **options)
    return [sentence for entry in found.exercises for sentence in found.uses(entry)]


PLAIN = ("top_k", "def top_k(x, k):\n    return x")


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (
            [("top_k", "import torch\ndef top_k(x, k):\n    return torch.topk(x, k)")],
            "torch.topk` in line 3.",
        ),
        (
            ["def find(x, k):\n    return x.topk(k)", ("top_k", "def top_k(x, k):\n    return find(x, k)")],
            "uses `.topk` in line 2 of cell 1.",
        ),
        (
            [
                "from torch import topk as find",
                "best = find",
                ("top_k", "def top_k(x, k):\n    return best(x, k)"),
            ],
            "uses `torch.topk` in line 2.",
        ),
        ([PLAIN, "def top_k(x, k):\n    return x.topk(k)"], "uses `.topk` in line 2 of cell 2."),
        (
            [("top_k", "from course.sampling.filters import top_k")],
            "`top_k` is `course.sampling.filters.top_k`.",
        ),
        (
            [PLAIN, "from course.sampling import filters\ntop_k = filters.top_k"],
            "`top_k` is `course.sampling.filters.top_k`.",
        ),
        (
            ["import importlib as i", ("top_k", "top_k = i.import_module('course.sampling.filters').top_k")],
            "uses `course.sampling.filters.top_k` in line 1.",
        ),
        (
            [
                "class A:\n    def go(self, x):\n        return inner(x)",
                "def inner(x):\n    return x.topk(1)",
                ("top_k", "def top_k(x, k):\n    return A().go(x)"),
            ],
            "uses `.topk` in line 2 of cell 2.",
        ),
        (  # `inner` is a variable of one function and the other cell's in another
            [
                "def inner(x):\n    return x.topk(1)",
                (
                    "top_k",
                    "def top_k(x, k):\n    def a(inner):\n        return inner\n    return inner(x)",
                ),
            ],
            "uses `.topk` in line 2 of cell 1.",
        ),
    ],
)
def test_what_an_answer_uses_is_found_through_all_cells(cells, sentence):
    assert any(sentence in found for found in uses(*cells))


@pytest.mark.parametrize(
    "cells",
    [
        [PLAIN],
        [PLAIN, "import torch\ntorch.topk(torch.ones(3), 1)"],
        ["from torch import topk\ntopk(x, 1)", ("top_k", "def top_k(topk, k):\n    return topk + k")],
        ["def topk(x, k):\n    return x", ("top_k", "def top_k(x, k):\n    return topk(x, k)")],
        ["from course.data import vocabulary", ("top_k", "def top_k(x, k):\n    return vocabulary")],
        ["values = x.topk(3)", ("top_k", "def top_k(x, k):\n    values = x + k\n    return values")],
    ],
)
def test_what_an_answer_does_not_use_is_not_held_against_it(cells):
    assert uses(*cells) == []


def test_another_exercise_answers_for_itself():
    both = [exercise("top_k"), exercise("top_p", [".topk"])]
    cells = [
        ("top_k", "def top_k(x, k):\n    return x.topk(k)"),
        ("top_p", "def top_p(x, p):\n    return top_k(x, 2)"),
    ]
    assert uses(*cells, exercises=both) == []


def test_what_a_provided_cell_imports_is_known_by_its_path_and_may_be_allowed():
    answer = ("turned_twice", "def turned_twice(x):\n    return turned(turned(x))")
    provided = "from course.models.positions import rotate as turned"
    found = uses(answer, exercises=[exercise("turned_twice")], provided=provided)
    assert found == ["`turned_twice` uses `course.models.positions.rotate` in line 2."]
    allowed = [exercise("turned_twice", allows=["course.models.positions.rotate"])]
    assert uses(answer, exercises=allowed, provided=provided) == []


@pytest.mark.parametrize(
    "elsewhere",
    ["top_k = None", "def top_k(): ...", "for top_k in []: ...", "import math as top_k", "(a, top_k) = 1, 2"],
)
def test_a_name_bound_outside_its_cell_is_said_to_be_what_the_checks_saw(elsewhere):
    [remark] = work(PLAIN, elsewhere).remarks("top_k")
    assert remark == (
        "`top_k` is bound in cell 2 (line 1), not only in its own cell; the checks saw what was bound last."
    )


def test_a_name_of_a_functions_own_is_not_bound_in_the_notebook():
    own = "def f():\n    top_k = 3\n    return [top_k for top_k in range(3)]\n[top_k for top_k in []]"
    assert list(work(PLAIN, own).remarks("top_k")) == []


@pytest.mark.parametrize(
    "text", ["exec(open(m.__file__).read())", "f = inspect.getsource(m)", "g = h.__wrapped__"]
)
def test_code_whose_text_stands_elsewhere_is_pointed_out(text):
    answer = ("top_k", f"def top_k(x, k):\n    {text}")
    assert any("which can hide calls" in remark for remark in work(answer).remarks("top_k"))


def test_a_copy_of_the_courses_code_is_recognised_under_other_names():
    text = (Path(course.__file__).parent / "sampling" / "beam_search.py").read_text()
    [function, *_] = [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef) and list(copied(node))
    ]
    name = function.name
    tree = ast.parse(ast.unparse(function).replace(f"def {name}", "def mine")).body[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id += "_"
        elif isinstance(node, ast.arg):
            node.arg += "_"
    renamed = ast.unparse(tree)
    assert structure(ast.parse(renamed).body[0]) == structure(function)
    [remark] = work(("top_k", renamed.replace("def mine", "def top_k"))).remarks("top_k")
    assert f"a copy of the course's `course.sampling.beam_search.{name}`" in remark


@pytest.mark.parametrize(
    "text",
    [
        "def top_k(x, k):\n    return getattr(x, 'a')" + "-" * 9_000 + "1",
        "def top_k(x, k):\n    return " + "(" * 3_000 + ")" * 3_000,
        "x" + ".topk" * 3_000,
        "x = [" + "[" * 80 + "]" * 80 + "]",
        "def \x00",
        "(" * 100_000,
    ],
)
def test_no_text_of_an_answer_stops_the_judge(text):
    found = work(("top_k", text))
    assert list(found.uses(found.exercises[0])) in ([], ["`top_k` uses `.topk` in line 1."])


def test_an_answer_longer_than_anybody_writes_is_not_parsed_and_said_to_be_too_long():
    long = ("top_k", "x = 1  # getattr\n" * 100_000)
    assert uses(long) == ["`top_k` is too long to be searched."]


def test_long_cells_of_the_students_own_do_not_keep_an_answer_from_being_searched():
    answer = ("top_k", "def top_k(x, k):\n    return x.topk(k)")
    found = work("# " + "x" * MOST_SEARCHED, answer)
    assert found.uses(found.exercises[0]) == ["`top_k` uses `.topk` in line 2."]
    assert not found.is_searched


@pytest.mark.parametrize("homework", names(ROOT))
def test_what_the_course_calls_as_an_exercise_is_forbidden_in_it(homework):
    """Every function and class of the package that has an exercise's name."""
    places = {}
    for path in Path(course.__file__).parent.rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                places.setdefault(node.name, []).append(f"{module}.{node.name}")
    found = [
        (entry.name, path)
        for entry in find(homework, ROOT).exercises
        for path in places.get(entry.name, [])
        if not Rule.of(entry.forbids, entry.allows).breaks(path)
    ]
    assert found == []


@pytest.mark.parametrize("homework", names(ROOT))
def test_right_solutions_keep_the_rule(homework):
    source = find(homework, ROOT)
    right = [(name, name, thing) for name, thing in references(source).items()]
    right += [(entry.of, entry.name, entry.thing) for entry in source.alternatives]
    for of, name, thing in right:
        entry = source.exercise(of)
        assert (name, forbidden_in(thing, entry.forbids, entry.allows)) == (name, [])
