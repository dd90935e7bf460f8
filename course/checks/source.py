"""The source of the functions and classes that a student has defined in this session, if available."""

import ast
import inspect
import linecache
from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import cast

from course.checks.forbidden import Rule, Use, forbidden_uses, loaded, parsed


def forbidden_in(thing: object, forbids: Iterable[str], allows: Iterable[str] = ()) -> list[Use]:
    """The forbidden names that a function or class of this session uses, by the lines of its cell.

    A function or class that is itself forbidden was imported, and is reported as used on line 1.
    """
    forbids, allows = tuple(forbids), tuple(allows)
    if (path := _full_name(thing)) and Rule.of(forbids, allows).breaks(path):
        return [Use(1, path)]
    source, first_line = source_of(thing)
    aliases = imported(thing, source, forbids)
    uses = forbidden_uses(source, forbids, allows=allows, aliases=aliases)
    return [Use(use.line + first_line - 1, use.name) for use in uses]


def source_of(thing: object) -> tuple[str, int]:
    """The source of a function or class, and the line of its cell on which it begins; ("", 1) if unknown."""
    function = _some_function(thing)
    if function is None:
        return "", 1
    if isinstance(thing, FunctionType):
        try:
            lines, first_line = inspect.getsourcelines(thing)
        except (OSError, TypeError):
            return "", 1
        return "".join(lines), first_line
    name = cast("type", thing).__name__
    return _class_source(name, "".join(linecache.getlines(function.__code__.co_filename)))


def _class_source(name: str, whole: str) -> tuple[str, int]:
    """A class's source from the cell of its methods, because inspect.getsource does not find it there."""
    tree = parsed(whole)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.ClassDef) and node.name == name:
            return "\n".join(whole.splitlines()[node.lineno - 1 : node.end_lineno]), node.lineno
    return "", 1


def imported(thing: object, source: str, forbids: Iterable[str]) -> dict[str, str]:
    """What names in the source mean in the session: modules and forbidden functions, under any name."""
    function, tree = _some_function(thing), parsed(source)
    if function is None or tree is None:
        return {}
    known = {id(found): path for path in forbids if (found := loaded(path)) is not None}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    meanings = {}
    for name, value in _namespace(function).items():
        if name in names and isinstance(value, ModuleType):
            meanings[name] = value.__name__
        elif name in names and id(value) in known:
            meanings[name] = known[id(value)]
        elif name in names and (path := _full_name(value)):
            meanings[name] = path
    return meanings


def _full_name(value: object) -> str:
    """course.models.attention.attention; "" for what is not a function or class of the course's package."""
    module = getattr(value, "__module__", None)
    if not isinstance(value, FunctionType | type) or not isinstance(module, str):
        return ""
    return f"{module}.{value.__qualname__}" if module.startswith("course.") else ""


def _namespace(function: FunctionType) -> dict[str, object]:
    """The names that a function can see: the session's and those of its enclosing functions."""
    return {**function.__globals__, **inspect.getclosurevars(function).nonlocals}


def _some_function(thing: object) -> FunctionType | None:
    if isinstance(thing, FunctionType):
        return thing
    members = vars(thing).values() if isinstance(thing, type) else ()
    return next((member for member in members if isinstance(member, FunctionType)), None)
