"""Stand-ins: what a check holds in place of the student's function, class or object.

A stand-in passes each call to a link, and the link answers with plain data; whether the student's object
lives in this process or in a sandbox is the link's business alone. Every call is written into the trace.
"""

from collections.abc import Iterator

from course.checks.autograd import entering, leaving
from course.checks.closeness import same
from course.checks.errors import NotWritten, StudentError, Unreachable
from course.checks.link import Link, LocalLink, Reply
from course.checks.plain import leaves, mapped, replaced, sendable, snapshot
from course.checks.trace import Event, Object, Outcome, Thing, Trace

__all__ = [
    "Link",
    "LocalLink",
    "NotWritten",
    "Reply",
    "StandIn",
    "StudentError",
    "Unreachable",
    "attribute",
]


class NoValue:
    """What cannot be compared, counted with or asked whether it is true: only values can."""

    def _refuse(self, *_: object) -> None:
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

    def __len__(self) -> int:
        try:
            return self._ask("__len__")
        except StudentError as problem:  # list() asks for a length too, and minds nothing but a TypeError
            raise TypeError(problem.message) if problem.error == "TypeError" else problem from None

    def __getitem__(self, key: object) -> object:
        return self._ask("__getitem__", (key,))

    def __contains__(self, entry: object) -> bool:
        return self._ask("__contains__", (entry,))

    def __iter__(self) -> Iterator:
        entries = self._ask("__iter__")
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
    """A method of a student's object, not called yet; the value of an attribute is `attribute(…, name)`."""

    def __init__(self, owner: StandIn, name: str) -> None:
        self._owner, self._name = owner, name

    def __call__(self, *args: object, **kwargs: object) -> object:
        return self._owner._ask(self._name, args, kwargs)

    def __repr__(self) -> str:
        return f"the method {self._name} of {self._owner!r}, which was not called,"


def attribute(stand_in: StandIn, name: str) -> object:
    """The value of an attribute of a student's object."""
    return stand_in._ask("__getattribute__", (name,))


def last_outcome(function: StandIn | Method) -> Outcome:
    """What the latest call led to."""
    owner = function._owner if isinstance(function, Method) else function
    return owner._trace.events[-1].outcome


def ask(link: Link, trace: Trace, target: str | Object, method: str, args: tuple, kwargs: dict) -> object:
    """Put one request to the link, write it into the trace, and hand the check a copy of the answer."""
    index = len(trace.events)
    recorded = given = mapped((args, kwargs), _marked)
    if leaves(given):  # else there is nothing in the copy that a link would not copy before it hands it on
        recorded, given = snapshot(recorded), entering(trace, index, given)
    try:
        value, left = _answer(link, trace, target, method, given)
    except (StudentError, NotWritten, Unreachable) as problem:
        trace.events.append(Event(target, method, *recorded, failure(problem)))
        raise
    changed = None if left is None or same(left, recorded) else left
    outcome = Outcome("value", snapshot(value), changed=changed)
    trace.events.append(Event(target, method, *recorded, outcome))
    if not leaves(value):
        return value
    return mapped(leaving(trace, index, value), lambda entry: _presented(link, trace, entry))


def _answer(link: Link, trace: Trace, target: str | Object, method: str, given: tuple) -> tuple:
    """The answer and the arguments afterwards; objects have the link's numbers there and the trace's here."""
    if trace.objects:
        target, given = replaced((target, given), Object, lambda known: trace.objects[known.index])
    reply = link.request(target, method, *given, seed=len(trace.events))
    both = (reply.value, reply.left) if isinstance(reply, Reply) else (reply, None)
    return replaced(both, Object, trace.number_of)


def failure(problem: Exception) -> Outcome:
    """The outcome of a call that gave no value."""
    if isinstance(problem, StudentError):
        return Outcome("error", error=problem.error, message=problem.message)
    return Outcome("error", error=type(problem).__name__, message=str(problem))


def _marked(entry: object) -> object:
    if isinstance(entry, StandIn):
        return Thing(entry._target) if isinstance(entry._target, str) else entry._target
    return sendable(entry)


def _presented(link: Link, trace: Trace, entry: object) -> object:
    if isinstance(entry, Thing):
        return StandIn(link, trace, entry.name)
    return StandIn(link, trace, entry) if isinstance(entry, Object) else entry
