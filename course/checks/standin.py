"""Stand-ins (proxies): what a check holds in place of the student's function, class or object.

A stand-in passes each call to a link, and the link answers with plain data; only the link knows whether the
student's object is in this process or in a sandbox. Every call is recorded in the trace.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NoReturn, cast

from course.checks.autograd import failure, returned
from course.checks.closeness import untouched
from course.checks.errors import NotWritten, StudentError, Unreachable
from course.checks.link import Link, LocalLink
from course.checks.plain import leaves, mapped, replaced, sendable, snapshot
from course.checks.request import GRADIENTS, Reply
from course.checks.to_its_end import ask_on
from course.checks.trace import Event, Object, Outcome, Thing, Trace
from course.language import say

__all__ = [
    "Link",
    "LocalLink",
    "NotWritten",
    "Reply",
    "StandIn",
    "StudentError",
    "Unreachable",
    "as_object",
    "attribute",
]


A_MODULE = say("a module")


class NoValue:
    """Base of objects that are not values: they cannot be compared, calculated with or tested for truth."""

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError(f"{self!r} is not a value; a check compares plain values only")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __bool__ = __float__ = __int__ = __index__ = __complex__ = _refuse
    __hash__ = object.__hash__


class StandIn(NoValue):
    """A student's function, class or object as a check sees it."""

    def __init__(self, link: Link, trace: Trace, target: str | Object) -> None:
        self._link, self._trace, self._target = link, trace, target

    def __call__(self, *args: object, **kwargs: object) -> object:
        return self._ask("", args, kwargs)

    def __getattr__(self, name: str) -> "Method":
        if name.startswith("_"):
            raise AttributeError(name)
        return Method(self, name)

    def gradients(self) -> dict:
        """The gradients of a module's parameters, by name; no attribute of the module can hide them."""
        return cast("dict", self._ask(GRADIENTS))

    def __len__(self) -> int:
        try:
            return cast("int", self._ask("__len__"))
        except StudentError as problem:  # list() also calls this, and ignores only a TypeError
            raise TypeError(problem.message) if problem.error == "TypeError" else problem from None

    def __getitem__(self, key: object) -> object:
        return self._ask("__getitem__", (key,))

    def __contains__(self, entry: object) -> bool:
        return cast("bool", self._ask("__contains__", (entry,)))

    def __iter__(self) -> Iterator:
        entries = cast("StandIn", self._ask("__iter__"))  # an iterator is not plain data
        while True:
            try:
                yield entries._ask("__next__")
            except StudentError as error:
                if error.error != "StopIteration":
                    raise
                return

    def __repr__(self) -> str:
        return self._target if isinstance(self._target, str) else f"an object of class {self._target.kind}"

    def _ask(self, method: str, args: tuple = (), kwargs: dict | None = None) -> object:
        return ask(self._link, self._trace, self._target, method, args, kwargs or {})


class Method(NoValue):
    """A method of a student's object, not called yet; to read an attribute, use `attribute(…, name)`."""

    def __init__(self, owner: StandIn, name: str) -> None:
        self._owner, self._name = owner, name

    def __call__(self, *args: object, **kwargs: object) -> object:
        return self._owner._ask(self._name, args, kwargs)

    def __repr__(self) -> str:
        return f"the method {self._name} of {self._owner!r}, which was not called,"


class NotAnObject(TypeError):
    """A check needs one of the student's objects, and an answer is plain data."""

    def __init__(self, value: object, expected: str) -> None:
        super().__init__("an answer is no object of the student's")
        self.value, self.expected = value, expected


def as_object(value: object, expected: str = A_MODULE) -> StandIn:
    """The stand-in itself; raises NotAnObject for plain data. expected: what is needed, in words."""
    if isinstance(value, StandIn):
        return value
    raise NotAnObject(value, expected)


def attribute(stand_in: StandIn, name: str) -> object:
    """The value of an attribute of a student's object; raises NotAnObject if it is none."""
    return as_object(stand_in, having(name))._ask("__getattribute__", (name,))


def having(attribute: str) -> str:
    """An object with this attribute or method, in words."""
    return say("an object with `{name}`", name=attribute)


def ask(link: Link, trace: Trace, target: str | Object, method: str, args: tuple, kwargs: dict) -> object:
    """Send one request to the link, record it in the trace, and return a copy of the answer to the check."""
    ask_on()
    index = len(trace.events)
    given = mapped((args, kwargs), _marked)
    recorded = snapshot(given) if leaves(given) else given  # the link copies what it passes on
    try:
        reply = _answer(link, trace, target, method, recorded)
    except (StudentError, NotWritten, Unreachable) as problem:
        trace.events.append(Event(target, method, recorded[0], recorded[1], failure(problem)))
        raise
    left = cast("tuple | None", reply.left)
    changed = None if left is None or untouched(recorded, left) else left
    outcome = Outcome("value", snapshot(reply.value), changed=changed)
    trace.events.append(Event(target, method, recorded[0], recorded[1], outcome))
    if not leaves(reply.value):
        return reply.value
    value = returned(trace, index, given, reply.value, reply.backward)
    return mapped(value, lambda entry: _presented(link, trace, entry))


def _answer(link: Link, trace: Trace, target: str | Object, method: str, given: tuple) -> Reply:
    """The link's reply; objects are numbered by the link there and by the trace here."""
    if trace.objects:
        target, given = replaced((target, given), Object, lambda known: trace.objects[known.index])
    reply = link.request(target, method, *given, seed=len(trace.events))
    found = reply.value, reply.left
    numbered = replaced(found, Object, trace.number_of)
    return reply if numbered is found else replace(reply, value=numbered[0], left=numbered[1])


def _marked(entry: object) -> object:
    if isinstance(entry, StandIn):
        return Thing(entry._target) if isinstance(entry._target, str) else entry._target
    return sendable(entry)


def _presented(link: Link, trace: Trace, entry: object) -> object:
    if isinstance(entry, Thing):
        return StandIn(link, trace, entry.name)
    return StandIn(link, trace, entry) if isinstance(entry, Object) else entry
