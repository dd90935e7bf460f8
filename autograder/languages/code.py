"""Whether two pieces of code do the same, apart from what they say."""

from __future__ import annotations

import ast


def same_code(one: str, other: str) -> bool:
    """Whether both are the same code apart from comments and the texts of strings."""
    try:
        return _essence(one) == _essence(other)
    except SyntaxError:
        return False


def _essence(code: str) -> str:
    return ast.dump(_Unsaid().visit(ast.parse(code)))


class _Unsaid(ast.NodeTransformer):
    """Empties all strings; of those with places, only the values remain, in the order of their code."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        values = [value for value in node.values if isinstance(value, ast.FormattedValue)]
        return ast.JoinedStr([*sorted(values, key=ast.dump)])
