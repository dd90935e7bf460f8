"""Which call returned a value that a check met later, and that call and that value in words."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

from course.checks.brief import brief, class_of, kind_name
from course.checks.closeness import is_array, same
from course.checks.link import called
from course.checks.plain import replaced
from course.checks.request import GRADIENTS
from course.checks.standin import StandIn
from course.checks.trace import Answer, Event, Object
from course.language import joined, say

# Methods that return nothing: that a call of them returned None explains nothing.
WITHOUT_ANSWER = frozenset({"backward", "zero_grad", "step"})
READ = "__getattribute__"
LONGEST_SHOWN = 60  # characters of a value
WHOLE = object()  # the place of a value that is no entry of another


class Origin(NamedTuple):
    """The call that returned a value, and the value's place in what it returned."""

    event: Event
    place: object = WHOLE


def last_call(asked: Sequence[Event]) -> Event | None:
    """The latest call that returned a value."""
    return next(iter(_calls(asked)), None)


def name_of(event: Event) -> str:
    """The call in words: `attention_weights`, `Value.grad`."""
    return called(cast("str | Object", event.target), event.method, event.args)


def origin(value: object, asked: Sequence[Event]) -> Origin | None:
    """The call that returned this value, alone or as an entry: of data the latest, of an object the first."""
    value = replaced(value, StandIn, lambda stand_in: stand_in._target)
    calls = _calls(asked)
    for event in calls[::-1] if isinstance(value, Object) else calls:
        if value is None and event.method in WITHOUT_ANSWER:
            continue
        if _is(event.outcome.value, value):
            return Origin(event)
        for place, entry in _entries(event.outcome.value):
            if _is(entry, value):
                return Origin(event, place)
    return None


def _entries(value: object) -> Iterable[tuple[object, object]]:
    """The places in a container and what is there."""
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list | tuple) else ()


def _calls(asked: Sequence[Event]) -> list[Event]:
    """The calls that returned a value, the latest first; backward passes are none."""
    return [
        event
        for event in reversed(asked)
        if not isinstance(event.target, Answer) and event.outcome.kind == "value"
    ]


def _is(found: object, value: object) -> bool:
    return type(found) is type(value) and same(found, value)


def came(found: Origin, value: object) -> str:
    """Which call returned this value: `Value.add` returned -1, a number."""
    event, place = found
    said = {"name": name_of(event), "value": joined(", ", [shown(value), kind_text(value)])}
    if value is None and place is not WHOLE and event.method == GRADIENTS:
        return say("the parameter `{place}` got no gradient", place=place)
    if place is not WHOLE:
        return say("entry {place} of what `{name}` returned is {value}", place=brief(place), **said)
    if event.method == READ:
        return say("`{name}` is {value}", **said)
    if value is None:
        return say("`{name}` returned None; is a `return` missing?", **said)
    return say("`{name}` returned {value}", **said)


def kind_text(value: object) -> str:
    """The kind of a value, and how many entries it has."""
    name = kind_name(value)
    if is_array(value) and value.ndim:
        return say("{kind} of shape {shape}", kind=name, shape=tuple(value.shape))
    if isinstance(value, list | tuple):
        return say("{kind} of {count}", kind=name, count=len(value))
    return name


def shown(value: object) -> str:
    """The value itself if it is short; "" if it is not, or if its kind says it."""
    is_large = value is None or class_of(value) or (is_array(value) and value.ndim)
    text = "" if is_large else brief(value)
    return text if len(text) <= LONGEST_SHOWN else ""
