"""A claim asks everything before an assertion that ends it, so that a failure hides no later answer.

`assert_close` and `assert_equal` do not end it where the answer has the expected form; nor do
`assert_depends` and `assert_raises`.
"""

import ast
from pathlib import Path

import pytest

PARTS = sorted((Path(__file__).parents[2] / "solutions").glob("*/parts/*.py"))
ENDS = {"assert_true", "assert_dtype", "assert_differentiable"}


def claims(path):
    """The functions of the cells labelled as checks, hidden ones too."""
    for cell in path.read_text(encoding="utf-8").split("\n# %% ")[1:]:
        if cell.startswith("check="):
            yield next(node for node in ast.parse("# " + cell).body if isinstance(node, ast.FunctionDef))


def asked_too_late(claim):
    """Names of the student's objects that are called after an assertion that ends the claim."""
    own = {argument.arg for argument in claim.args.args} - {"draw"}
    for node in ast.walk(claim):
        if isinstance(node, ast.Assign) and _root(node.value) in {name for name in own if name[0].isupper()}:
            own |= {
                one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)
            }
    calls = [*_calls(claim, ())]
    ends = [(place, loops) for place, node, loops in calls if _ends(node)]
    return {
        name
        for place, node, loops in calls
        if (name := _root(node)) in own and any(place > end or {*loops} & {*around} for end, around in ends)
    }


def _calls(node, loops):
    """Place, node and surrounding loops of every call; its place is where it ends, as it is made last."""
    loops = (*loops, node) if isinstance(node, ast.For | ast.While) else loops
    for child in ast.iter_child_nodes(node):
        yield from _calls(child, loops)
    if isinstance(node, ast.Call):
        yield (node.end_lineno, node.end_col_offset), node, loops


def _ends(node):
    goes_on = any(keyword.arg == "goes_on" for keyword in node.keywords)
    return isinstance(node.func, ast.Name) and node.func.id in ENDS and not goes_on


def _root(node):
    """`model` of `model.read(x)[0]`."""
    while not isinstance(node, ast.Name):
        node = getattr(node, "func", None) or getattr(node, "value", None)
        if node is None:
            return ""
    return node.id


@pytest.mark.parametrize("path", PARTS, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_no_claim_asks_after_an_assertion_that_ends_it(path):
    late = {claim.name: asked_too_late(claim) for claim in claims(path)}
    assert {name: of for name, of in late.items() if of} == {}


@pytest.mark.parametrize("path", PARTS, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_no_claim_catches_what_an_assertion_raises(path):
    """It would not be raised, as a claim goes on; `is_close` tells whether an assertion would hold."""
    handlers = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ExceptHandler)]
    caught = {
        name.id for one in handlers if one.type for name in ast.walk(one.type) if isinstance(name, ast.Name)
    }
    assert all(one.type for one in handlers)
    assert caught & {"AssertionError", "Mismatch", "Exception", "BaseException"} == set()


def test_a_call_behind_an_ending_assertion_is_found():
    source = """
def claim(f, draw):
    for x in (1, 2):
        assert_true(f(x) > 0, "no")
"""
    assert asked_too_late(ast.parse(source).body[0]) == {"f"}
    assert asked_too_late(ast.parse(source.replace('"no")', '"no", goes_on=True)')).body[0]) == set()
