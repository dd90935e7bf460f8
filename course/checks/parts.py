"""Find the student's own earlier parts that a function or class calls."""

import dis
from collections.abc import Collection, Iterator
from types import CodeType, FunctionType

from course.language import say, say_count


def mend_first(parts: Collection[str]) -> str:
    """The advice for a failed exercise that calls these wrong parts; "" if there are none."""
    if not parts:
        return ""
    return say_count(
        "It calls your {parts}, which fails the checks of its own exercise; fix that first.",
        "It calls your {parts}, which fail the checks of their own exercise; fix that first.",
        len(parts),
        parts=all_of(parts),
    )


def all_of(names: Collection[str]) -> str:
    """`a`, and `b`: all of these names of the student's code, with "and" between them."""
    first, *rest = (f"`{name}`" for name in names)
    for name in rest:
        first = say("{names} and {name}", names=first, name=name)
    return first


def called(thing: object, names: Collection[str]) -> dict[str, object]:
    """Name → object, for those of `names` that a function or class uses, directly or through helpers.

    Code from outside this session, such as a function of torch, is not followed.
    """
    found: dict[str, object] = {}
    waiting, seen = list(_functions(thing)), set[int]()
    while waiting:
        function = waiting.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        for name in _names(function.__code__):
            value = function.__globals__.get(name)
            if value is thing or value is None:
                continue
            if name in names:
                found[name] = value
            elif getattr(value, "__module__", None) == function.__module__:
                waiting += _functions(value)
    return found


def _functions(thing: object) -> Iterator[FunctionType]:
    members = vars(thing).values() if isinstance(thing, type) else (thing,)
    yield from (member for member in members if isinstance(member, FunctionType))


def _names(code: CodeType) -> Iterator[str]:
    """The names that code looks up in its session, including the functions inside it.

    The name behind a dot is not one of them: `nn.LayerNorm` is not the student's LayerNorm.
    """
    yield from (step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL")
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
