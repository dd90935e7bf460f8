"""What stands in a check where an assertion failed, or where the check could not go on."""

import ast
import builtins
import inspect
import linecache
import sys
import textwrap
import traceback
from types import FrameType
from typing import NamedTuple

from torch import Tensor

from course.checks.link import is_own
from course.checks.to_its_end import has_failed

LONGEST = 70  # characters of an expression; a longer one explains nothing


class Compared(NamedTuple):
    """What a check compares, as it stands there: `weights.sum(-1)`."""

    text: str = ""  # "" if it is unknown or long, or would say no more than "answer"
    n_parts: int = 0  # if it is a part of an answer, as in `tokens, log = f(x)`: of how many


UNKNOWN = Compared()


def line_of(problem: BaseException) -> str:
    """The line of the check, or of a given function that it called, at which an error arose; else ""."""
    places = [
        (frame.f_code.co_filename, line, frame.f_globals)
        for frame, line in traceback.walk_tb(problem.__traceback__)
        if is_own(frame.f_code.co_filename)
    ]
    return linecache.getline(*places[-1]).strip() if places else ""


def takes_apart(line: str) -> bool:
    """Whether a line is `a, b = f(x)`, of an answer itself and not of something that was made of it."""
    try:
        statements = ast.parse(line).body
    except SyntaxError:
        return False
    value = statements[0].value if statements and isinstance(statements[0], ast.Assign) else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return not hasattr(Tensor, value.func.attr)
    name = value.func if isinstance(value, ast.Call) else value
    is_of_object = isinstance(name, ast.Call)  # `module(…)(x)`
    return is_of_object or (isinstance(name, ast.Name) and not hasattr(builtins, name.id))


def compared() -> Compared:
    """What the caller was given first, in the code that called it; for a name, what was assigned to it.

    Nothing after the first failure, as only that one is said.
    """
    if has_failed():
        return UNKNOWN
    caller = sys._getframe(1)
    frame = caller.f_back
    try:
        return _compared(frame, caller.f_code.co_name) if frame else UNKNOWN
    except Exception:  # as the source may be gone, or may have changed
        return UNKNOWN


def _compared(frame: FrameType, assertion: str) -> Compared:
    """The first argument of the only such assertion on the line at which a frame is."""
    code = frame.f_code
    lines = linecache.getlines(code.co_filename, frame.f_globals)[code.co_firstlineno - 1 :]
    tree = ast.parse(textwrap.dedent("".join(inspect.getblock(lines))))
    line = frame.f_lineno - code.co_firstlineno + 1
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == assertion
        and node.args
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    if len(calls) != 1:
        return UNKNOWN
    given = calls[0].args[0]
    name = given.id if isinstance(given, ast.Name) else ""
    text = ast.unparse(_assigned(tree, name) or given)
    return Compared(text if len(text) <= LONGEST and text != "answer" else "", _n_parts(tree, name))


def _assigned(tree: ast.AST, name: str) -> ast.expr | None:
    """The value of the only statement that binds a name, if it is `name = value`."""
    bound = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name]
    stores = [node for node in bound if isinstance(node.ctx, ast.Store)]
    found = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and [one for one in node.targets if one in stores]
    ]
    return found[0] if len(stores) == len(found) == 1 else None


def _n_parts(tree: ast.AST, name: str) -> int:
    """Into how many names the answers are taken apart of which one gets this name; 0 if that is unclear."""
    counts = {
        len(target.elts)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and takes_apart(ast.unparse(node))
        for target in node.targets
        if isinstance(target, ast.Tuple) and name in [ast.unparse(one) for one in target.elts]
    }
    return counts.pop() if len(counts) == 1 else 0
