"""Wrong solutions that nobody wrote: mutants of the reference, with one small change in its syntax tree.

The operators are those of mutmut and cosmic-ray (other arithmetic, comparisons, constants and conditions;
deletions and exchanges), and a few for tensors: a different axis, a different reduction, an inverted mask.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass

ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
NAMES = {
    "mean": ("sum",),
    "sum": ("mean",),
    "max": ("min",),
    "min": ("max",),
    "maximum": ("minimum",),
    "minimum": ("maximum",),
    "argmax": ("argmin",),
    "amax": ("amin",),
    "softmax": ("log_softmax",),
    "log_softmax": ("softmax",),
    "triu": ("tril",),
    "tril": ("triu",),
    "log": ("log2",),
    "log2": ("log",),
    "exp": ("exp2",),
    "sin": ("cos",),
    "cos": ("sin",),
    "sqrt": ("square",),
    "square": ("abs",),
    "sigmoid": ("tanh",),
    "tanh": ("sigmoid",),
    "zeros": ("ones",),
    "ones": ("zeros",),
    "any": ("all",),
    "all": ("any",),
    "append": ("extend",),
    "flip": ("clone",),
}
SYMMETRIC = ("transpose", "max", "min", "maximum", "minimum")  # whose first two arguments may be exchanged
REGION = "### BEGIN SOLUTION", "### END SOLUTION"


@dataclass(frozen=True)
class Mutant:
    """A solution with one change: the changed statement before and after, each on one line."""

    exercise: str
    before: str
    after: str
    source: str

    @property
    def change(self) -> str:
        """`return x + 1 → return x - 1`."""
        return f"{self.before} → {self.after}"


def mutants(exercise: str, solution: str, most: int | None = None) -> list[Mutant]:
    """The mutants of a solution; if there are more than `most`, a fixed pseudo-random choice of them."""
    found = {mutant.source: mutant for mutant in _all(exercise, solution)}
    by_lot = sorted(found.values(), key=lambda one: hashlib.sha256(one.source.encode()).digest())
    return by_lot[:most]


def _all(exercise: str, solution: str) -> Iterator[Mutant]:
    tree = ast.parse(solution)
    inside = _lines_of_solution(solution)
    original = ast.unparse(tree)
    places = [node for node in ast.walk(tree) if getattr(node, "lineno", 0) in inside]
    statements = {
        id(part): node for node in places if isinstance(node, ast.stmt) for part in _own_parts(node)
    }
    strict = {id(node.value) for node in places if isinstance(node, ast.keyword) and node.arg == "strict"}
    for node in places:
        for other in _instead_of(node) if id(node) not in strict else ():
            statement = statements.get(id(node))
            changed = _replaced(tree, node, other)
            if statement is None or changed == original:
                continue
            yield Mutant(exercise, _head(statement), _head(_replaced_in(statement, node, other)), changed)


def _lines_of_solution(solution: str) -> set[int]:
    lines: set[int] = set()
    inside = False
    for number, line in enumerate(solution.splitlines(), 1):
        inside = (inside or REGION[0] in line) and REGION[1] not in line
        lines |= {number} if inside else set()
    return lines


def _own_parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """The statement and its parts, without the statements inside it."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]


class _Replace(ast.NodeTransformer):
    """Replaces one node, identified as an object, by another."""

    def __init__(self, node: ast.AST, other: ast.AST) -> None:
        self.node, self.other = node, other

    def visit(self, node: ast.AST) -> ast.AST:
        """The replacement, if this is the node to replace."""
        return self.other if node is self.node else self.generic_visit(node)


def _replaced_in(tree: ast.AST, node: ast.AST, other: ast.AST) -> ast.AST:
    """A copy of the tree in which one node is replaced."""
    memo: dict[int, object] = {}
    twin = copy.deepcopy(tree, memo)
    found = memo[id(node)]
    assert isinstance(found, ast.AST)
    return _Replace(found, other).visit(twin)


def _replaced(tree: ast.AST, node: ast.AST, other: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(_replaced_in(tree, node, other)))


def _head(statement: ast.AST) -> str:
    """A statement's first line: of a compound one, its condition."""
    return ast.unparse(ast.fix_missing_locations(statement)).splitlines()[0]


def _instead_of(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that may replace a node."""
    match node:
        case ast.BinOp(left, operator, right):
            if type(operator) in ARITHMETIC:
                yield ast.BinOp(left, ARITHMETIC[type(operator)](), right)
            yield left
            yield right
        case ast.UnaryOp(_, operand) if not isinstance(operand, ast.Constant):
            yield operand
        case ast.UnaryOp(ast.USub(), ast.Constant(int(value))):
            yield ast.Constant(0) if value == 1 else ast.UnaryOp(ast.USub(), ast.Constant(value - 1))
            yield ast.UnaryOp(ast.USub(), ast.Constant(value + 1))
        case ast.Compare(left, [operator], right):
            for other in COMPARISONS.get(type(operator), ()):
                yield ast.Compare(left, [other()], right)
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
            yield from values
        case ast.IfExp(_, one, other):
            yield one
            yield other
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield ast.Constant(value + 1)
            if value > 0:
                yield ast.Constant(value - 1)
        case ast.Constant(float(value)):
            yield ast.Constant(2 * value if value else 1.0)
        case ast.Call():
            yield from _other_calls(node)
        case ast.If(test, body, otherwise):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, otherwise)
            yield ast.If(ast.Constant(False), body, otherwise)
        case (
            ast.Assign([ast.Name()]) | ast.AugAssign() | ast.Expr(ast.Call()) | ast.Assign([ast.Attribute()])
        ):
            yield ast.Pass()
        case ast.For(target, iterated, body, []) if not isinstance(body[-1], ast.Return):
            yield ast.For(target, iterated, [*body, ast.Break()], [])


def _other_calls(node: ast.Call) -> Iterator[ast.AST]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    is_starred = any(isinstance(arg, ast.Starred) for arg in node.args)
    if len(node.args) > 1 and not is_starred and name not in SYMMETRIC:
        first, second, *rest = node.args
        yield ast.Call(node.func, [second, first, *rest], node.keywords)
    match node.func:
        case ast.Attribute(owner, name):
            is_of_math = isinstance(owner, ast.Name) and owner.id == "math"
            for other in NAMES.get(name, ()):
                if is_of_math and not hasattr(math, other):
                    continue
                yield ast.Call(ast.Attribute(owner, other, ast.Load()), node.args, node.keywords)
            is_of_a_module = isinstance(owner, ast.Name) and owner.id in ("torch", "math", "nn", "functional")
            if not is_of_a_module and not isinstance(owner, ast.Call | ast.Name):
                yield owner
            if isinstance(owner, ast.Name) and not is_of_a_module and owner.id != "self":
                yield owner
        case ast.Name(name):
            for other in NAMES.get(name, ()):
                yield ast.Call(ast.Name(other, ast.Load()), node.args, node.keywords)
