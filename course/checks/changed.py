"""Arguments must not be modified: a sentence that names the one a call changed."""

import inspect
from collections.abc import Callable, Sequence
from typing import cast

from course.checks.closeness import requirements, same, untouched
from course.checks.link import called
from course.checks.trace import Event, Object
from course.language import joined, say

Written = Callable[[str], object]  # the function or class with this name, or None


def changed_in_place(asked: Sequence[Event], written: Written) -> str:
    """A sentence about the first call that changed an argument, "`f` changed its argument 1, `x`, in place.";
    "" if none did. Drawing from a generator does not count as a change; `x.requires_grad_()` does.

    `written` returns the function or class with a given name; its signature names the arguments.
    """
    for event in asked:
        if event.outcome.changed is not None:
            return _sentence(event, event.outcome.changed, written)
    return ""


def _target(event: Event) -> str | Object:
    return cast("str | Object", event.target)  # a backward pass changes no arguments


def _sentence(event: Event, changed: tuple, written: Written) -> str:
    args, kwargs = changed
    said: dict[str, object] = {"function": called(_target(event), event.method)}
    for place, (given, left) in enumerate(zip(event.args, args, strict=True)):
        if not untouched(given, left):
            said |= {"position": place + 1, "name": _parameter(event, place, written)}
            if said["name"]:
                which = say("`{function}` changed its argument {position}, `{name}`, in place.", **said)
            else:
                which = say("`{function}` changed its argument {position} in place.", **said)
            return _how(which, given, left)
    name = next(name for name, left in kwargs.items() if not untouched(event.kwargs[name], left))
    which = say("`{function}` changed its argument `{name}` in place.", **said, name=name)
    return _how(which, event.kwargs[name], kwargs[name])


def _how(which: str, given: object, left: object) -> str:
    """The sentence, and what has changed if it is not the numbers."""
    if not same(given, left):
        return which
    if sum(requirements(left)) > sum(requirements(given)):
        how = say(
            "Its numbers are the same, but it requires a gradient now: something was added to it, as in "
            "`x += …`, or `requires_grad_()` was called on it. Work on a copy."
        )
    else:
        how = say(
            "Its numbers are the same, but it no longer requires a gradient; `detach()` makes a new tensor."
        )
    return joined(" ", [which, how])


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
