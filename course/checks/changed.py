"""Arguments must not be modified: a sentence that names the one a call changed."""

import inspect
from collections.abc import Callable
from typing import cast

from course.checks.closeness import same
from course.checks.link import called
from course.checks.trace import Event, Object, Trace
from course.language import say

Written = Callable[[str], object]  # the function or class with this name, or None


def changed_in_place(trace: Trace, written: Written) -> str:
    """A sentence about the first call that changed an argument, "`f` changed its argument 1, `x`, in place.";
    "" if none did. Drawing from a generator does not count as a change.

    `written` returns the function or class with a given name; its signature names the arguments.
    """
    for event in trace.events:
        if event.outcome.changed is not None:
            name = called(_target(event), event.method)
            return _sentence(name, event, event.outcome.changed, written)
    return ""


def _target(event: Event) -> str | Object:
    return cast("str | Object", event.target)  # a backward pass changes no arguments


def _sentence(function: str, event: Event, changed: tuple, written: Written) -> str:
    args, kwargs = changed
    for place, (given, left) in enumerate(zip(event.args, args, strict=True)):
        if not same(given, left):
            name = _parameter(event, place, written)
            said: dict[str, object] = {"function": function, "position": place + 1}
            if not name:
                return say("`{function}` changed its argument {position} in place.", **said)
            return say("`{function}` changed its argument {position}, `{name}`, in place.", **said, name=name)
    name = next(name for name, left in kwargs.items() if not same(event.kwargs[name], left))
    return say("`{function}` changed its argument `{name}` in place.", function=function, name=name)


def _parameter(event: Event, place: int, written: Written) -> str:
    """The parameter's name in the signature of what was called; "" if unknown."""
    target, method = _target(event), event.method
    thing = written(target.kind if isinstance(target, Object) else target)
    if isinstance(target, Object) and not method:
        method = "forward" if hasattr(thing, "forward") else "__call__"
    try:
        function = getattr(thing, method) if method else thing
        parameters = inspect.signature(cast("Callable", function)).parameters.values()
    except (AttributeError, TypeError, ValueError):
        return ""
    names = [one.name for one in parameters if one.kind is not one.VAR_POSITIONAL][bool(method) :]  # no self
    return names[place] if place < len(names) else ""
