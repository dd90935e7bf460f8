"""Statements that run code, or bind names, that their own text does not show."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

RUNNING = frozenset({"exec", "eval"})  # as names; a module has a method `eval`
READING = frozenset({"getsource", "getsourcelines", "__file__", "__wrapped__", "run_path"})
RUNNING_FILES = frozenset({"run_path", "run_module", "safe_execfile", "safe_run_module"})
OF_THE_SHELL = frozenset(
    {
        *("user_ns", "user_global_ns", "run_cell", "run_code", "register_magic_function"),
        *("input_transformers_cleanup", "input_transformers_post", "ast_transformers"),
    }
)
REGISTERING = frozenset({"register_cell_magic", "register_line_magic", "register_line_cell_magic"})
ASKED_OF_THE_SHELL = frozenset({"ex", "push"})  # everyday words elsewhere
MAGIC = re.compile(r"%{0,2}(run|load|loadpy|macro|store|cpaste|paste|rerun|recall|edit)\b")
MAGICS = frozenset({"run_line_magic", "run_cell_magic", "magic"})
NAMESPACES = frozenset({"globals", "locals", "vars"})
LOOKING = frozenset({"get", "keys", "values", "items", "copy"})  # methods of a namespace that bind nothing
SHOWING = frozenset({"print", "display", "sorted", "list", "len", "set", "dict", "type", "id"})
# one of them is in whatever statement `out_of_sight` points out
WORDS = (
    RUNNING | RUNNING_FILES | OF_THE_SHELL | REGISTERING | NAMESPACES | {"get_ipython", "__main__", "modules"}
)


# cells that another program reads: they bind nothing but text
OF_ANOTHER_LANGUAGE = re.compile(
    r"\A\s*%%(?:bash|sh|script|html|HTML|javascript|js|latex|markdown|svg|SVG|perl|ruby|python3?|writefile|file)\b"
)


def hiding(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The uses of Python's ways to run or find code that is written elsewhere, by line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and (node.id in READING or node.id in RUNNING):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and node.attr in READING:
            yield node.lineno, node.attr


def out_of_sight(tree: ast.stmt) -> Iterator[tuple[int, str]]:
    """The places that run text as code, or bind names of the notebook by another way than a binding."""
    looks = set(map(id, _looks(tree)))
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) if name in RUNNING | RUNNING_FILES:
                yield node.lineno, name
            case ast.Attribute(attr=name) if name in RUNNING_FILES | OF_THE_SHELL:
                yield node.lineno, name
            case ast.Attribute(value=ast.Call(func=ast.Name("get_ipython")), attr=name) if (
                name in ASKED_OF_THE_SHELL
            ):
                yield node.lineno, name
            case ast.Call(func=ast.Attribute(attr=name), args=[ast.Constant(str(text)), *_]) if (
                name in MAGICS and (magic := MAGIC.match(text.strip()))
            ):
                yield node.lineno, f"%{magic[1]}"
            case ast.Call(func=ast.Name(id=name), args=[]) if name in NAMESPACES and id(node) not in looks:
                yield node.lineno, f"{name}()"
            case ast.Import(names=names) if any(entry.name == "__main__" for entry in names):
                yield node.lineno, "__main__"
            case ast.ImportFrom(names=names):
                found = {entry.name for entry in names} & (RUNNING_FILES | REGISTERING)
                yield from ((node.lineno, name) for name in sorted(found))
            case ast.Subscript(value=ast.Attribute(attr="modules"), slice=key) if _is_the_notebook(key):
                yield node.lineno, "__main__"
            case ast.Call(func=ast.Attribute(attr="import_module"), args=[key]) if _is_the_notebook(key):
                yield node.lineno, "__main__"


def _is_the_notebook(name: ast.expr) -> bool:
    return (isinstance(name, ast.Constant) and name.value == "__main__") or (
        isinstance(name, ast.Name) and name.id == "__name__"
    )


def _looks(tree: ast.AST) -> Iterator[ast.AST]:
    """The expressions at which a statement only looks: whatever dictionary they are, it is not changed."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(comparators=looked):
                yield from looked
            case (
                ast.Subscript(value=looked, ctx=ast.Load())
                | ast.For(iter=looked)
                | ast.comprehension(iter=looked)
            ):
                yield looked
            case ast.Attribute(value=looked, attr=name) if name in LOOKING:
                yield looked
            case ast.Call(func=ast.Name(id=name), args=looked) if name in SHOWING:
                yield from looked
            case ast.Expr(value=looked) | ast.keyword(arg=None, value=looked):
                yield looked
            case ast.Dict(keys=keys, values=values):
                yield from (value for key, value in zip(keys, values, strict=True) if key is None)
