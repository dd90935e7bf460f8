"""Calls that an exercise asks you to do without, found in the source."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Use:
    """A forbidden name and the line where it is used."""

    name: str
    line: int


def forbidden_uses(source: str, forbids: Sequence[str]) -> list[Use]:
    """The forbidden names used in the source, in the order of their lines."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    aliases = _imports(tree)
    uses = {_use(node, aliases, forbids) for node in ast.walk(tree)}
    return sorted(uses - {None}, key=lambda use: (use.line, use.name))


def _imports(tree: ast.AST) -> dict[str, str]:
    aliases = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                aliases[name.asname or name.name.split(".")[0]] = (
                    name.name if name.asname else name.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                aliases[name.asname or name.name] = f"{node.module}.{name.name}"
    return aliases


def _use(node: ast.AST, aliases: dict[str, str], forbids: Sequence[str]) -> Use | None:
    path = _path(node, aliases) if isinstance(node, ast.Name | ast.Attribute) else ""
    if path in forbids:
        return Use(path, node.lineno)
    if isinstance(node, ast.Attribute) and f".{node.attr}" in forbids:
        return Use(f".{node.attr}", node.lineno)
    return None


def _path(node: ast.AST, aliases: dict[str, str]) -> str:
    if isinstance(node, ast.Attribute):
        base = _path(node.value, aliases)
        return f"{base}.{node.attr}" if base else ""
    return aliases.get(node.id, node.id) if isinstance(node, ast.Name) else ""
