"""Text that is run as code, put where it is run: `eval("f(x)")` becomes `f(x)`, and is searched like it.

What is timed becomes a function: `timeit("f(x)")` is `timeit(lambda: f(x))`.
"""

from __future__ import annotations

import ast
from symtable import symtable

TIMING = frozenset({"timeit", "repeat", "Timer"})
INLINING = TIMING | {"eval"}  # one of them is in whatever is changed


class _Inlined(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Name(id="eval"), args=[ast.Constant(str(text))], keywords=[]):
                return self._code(text, node) or node
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in TIMING:
                node.args = [self._timed(argument) for argument in node.args]
                for keyword in node.keywords:
                    keyword.value = self._timed(keyword.value)
        return self.generic_visit(node)

    def _timed(self, argument: ast.expr) -> ast.expr:
        """What is timed, as a function if it is a text."""
        if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
            return argument
        code = self._code(argument.value, argument)
        if code is None:
            return argument
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        return ast.copy_location(ast.Lambda(nothing, code), argument)

    def _code(self, text: str, place: ast.expr) -> ast.expr | None:
        """The expression that a text holds, if its names are those of the place where it stands."""
        try:
            symtable(text.strip(), "text", "eval")
            code = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        nodes = list(ast.walk(code))
        if any(isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for node in nodes):
            return None
        for node in nodes:
            ast.copy_location(node, place)
        return self.visit(code)


def inlined(statement: ast.stmt, source: str) -> ast.stmt:
    """The statement with the code of its texts, or as it is if that is too deep; source: of its cell."""
    if not any(word in source for word in INLINING):
        return statement
    try:
        return _Inlined().visit(statement)
    except RecursionError:
        return statement
