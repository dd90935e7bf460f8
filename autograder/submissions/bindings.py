"""The names of the notebook that a statement binds, changes and reads, told apart as Python does."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from symtable import SymbolTable, symtable

from course.checks.bound_to import FORMS, bindings


def bound(statement: ast.stmt) -> frozenset[str]:
    """The names that it binds for the whole notebook, also by `global` within a function."""
    return frozenset(
        symbol.get_name()
        for scope in _scopes(statement)
        for symbol in scope.get_symbols()
        if (symbol.is_assigned() or symbol.is_imported())
        and (scope.get_type() == "module" or symbol.is_declared_global())
    )


def read(statement: ast.stmt) -> frozenset[str]:
    """The names of the notebook that it reads; all of its names, if Python cannot tell them apart."""
    scopes = _scopes(statement)
    if not scopes:  # such as a `return` in no function: it is followed everywhere
        return frozenset(node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
    return frozenset(
        symbol.get_name()
        for scope in scopes
        for symbol in scope.get_symbols()
        if symbol.is_referenced() and (scope.get_type() == "module" or symbol.is_global())
    )


def changed(statement: ast.stmt) -> frozenset[str]:
    """The names whose objects it changes: `f.__code__ = …`, `setattr(C, …)`, `C.__setattr__(…)`."""
    return frozenset(name for node in ast.walk(statement) for name in _changed_by(node))


def _changed_by(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Attribute(value=thing, ctx=ast.Store()) | ast.Subscript(value=thing, ctx=ast.Store()):
            while isinstance(thing, ast.Attribute | ast.Subscript):
                thing = thing.value
            if isinstance(thing, ast.Name):
                yield thing.id
        case (
            ast.Call(
                func=ast.Name("setattr") | ast.Attribute(attr="__setattr__"), args=[ast.Name(name), _, _]
            )
            | ast.Call(func=ast.Attribute(value=ast.Name(name), attr="__setattr__"))
        ):
            yield name


def given(statement: ast.stmt) -> Mapping[str, list[ast.AST | None]]:
    """Name → what a statement binds it to: expressions, definitions, imports, and None for all else."""
    found: dict[str, list[ast.AST | None]] = defaultdict(list)
    unknown: Counter[str] = Counter()
    for node in ast.walk(statement):
        match node:
            case ast.arguments():
                continue  # a call may give something else
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found[name].append(node)
            case ast.alias(name=name, asname=other):
                found[other or name.partition(".")[0]].append(node)
            case ast.Name(id=str(name), ctx=ast.Store()) | ast.arg(arg=str(name)):
                unknown[name] += 1
            case (
                ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.ExceptHandler(name=str(name))
            ):
                unknown[name] += 1
        values = list(bindings(node)) if isinstance(node, FORMS) else []
        unknown.subtract({name for name, _ in values})
        for name, value in values:
            found[name].append(value)
    for name in +unknown:
        found[name].append(None)
    return found


def _scopes(statement: ast.stmt) -> list[SymbolTable]:
    """The tables of a statement and of all functions and classes in it; none if it cannot be compiled."""
    try:
        scopes = [symtable(ast.unparse(statement), "cell", "exec")]
    except (SyntaxError, ValueError, RecursionError):
        return []
    for scope in scopes:
        scopes += scope.get_children()  # the list grows as it is read
    return scopes
