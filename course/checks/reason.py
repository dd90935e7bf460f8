"""Why a claim does not hold, in a clause, and whether that clause says all that is to be mended."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

import numpy as np
from torch import Tensor

from course.checks.brief import GENERATOR, KINDS, brief, class_of, kind_name
from course.checks.check_line import line_of
from course.checks.closeness import is_array, is_number, same
from course.checks.compare import Mismatch
from course.checks.difference import NOTHING
from course.checks.differentiable import NO_GRADIENT
from course.checks.errors import NotWritten, StudentError, Unreachable
from course.checks.form_difference import FROM_YIELD
from course.checks.link import called
from course.checks.plain import leaves, replaced
from course.checks.request import GRADIENTS
from course.checks.sequence_difference import where_is_expected
from course.checks.standin import NotAnObject, StandIn, having
from course.checks.trace import Answer, Event, Object
from course.language import joined, say

# Methods that return nothing: that a call of them returned None explains nothing.
WITHOUT_ANSWER = frozenset({"backward", "zero_grad", "step"})
UNPACKED = re.compile(r"values to unpack \(expected (\d+)|cannot unpack non-iterable")
NO_ATTRIBUTE = re.compile(r"'(NoneType|int|float|Tensor|list|tuple|dict|str)' object has no attribute")
ASKED_FOR = re.compile(r"A (tensor|dictionary)\b[^.]* is expected")
READ = "__getattribute__"
LONGEST_SHOWN = 60  # characters of a value
WHOLE = object()  # the place of a value that is no entry of another


class Reason(NamedTuple):
    """A clause; is_plain: whether it says all that is to be mended, so that a hint would lead elsewhere."""

    clause: str
    is_plain: bool = False


class Origin(NamedTuple):
    """The call that returned a value, and the value's place in what it returned."""

    event: Event
    place: object = WHOLE


def reason(problem: Exception, asked: Sequence[Event]) -> Reason:
    """Why a claim does not hold; the calls asked until then may explain it."""
    if isinstance(problem, Mismatch):
        return _of_mismatch(problem, asked)
    if isinstance(problem, StudentError):
        return _of_their_error(problem, asked)
    if isinstance(problem, NotWritten | Unreachable):
        return Reason(problem.args[0])  # `str` would forget how it can be said in another language
    if isinstance(problem, AssertionError):
        return Reason(say(str(problem) or "it does not hold"))
    if "does not require grad" in str(problem):
        return Reason(NO_GRADIENT, is_plain=True)
    if isinstance(problem, NameError):
        clause = say(
            "`{name}` is not defined; run the given cells at the top and before this exercise, then this one",
            name=problem.name,
        )
        return Reason(clause, is_plain=True)
    return _of_a_stop(problem, asked)


def _of_mismatch(problem: Mismatch, asked: Sequence[Event]) -> Reason:
    if problem.message == NOTHING or (problem.received is None and not problem.message):
        clause = _of_nothing(problem, origin(None, asked))
        return Reason(joined(": ", [say(problem.what), clause]), is_plain=True)
    call = last_call(asked)
    if call is not None and (kind := _asked_for(problem)):
        value = call.outcome.value
        if not isinstance(value, kind):
            return _not_the_kind(Origin(call), value, KINDS[kind])
    clause = problem.explained([*call.args, *call.kwargs.values()] if call else ())
    is_known = problem.what or problem.message or problem.is_plain
    found = origin(problem.received, asked)
    if problem.of and not is_known and (found is None or found.place is not WHOLE):
        return Reason(joined(": ", [f"`{problem.of}`", clause]), problem.needs_no_hint)
    return Reason(clause, problem.needs_no_hint)


def _asked_for(problem: Mismatch) -> type | None:
    """The kind of value that a claim asks for in words of its own, "A tensor of logits is expected."."""
    found = ASKED_FOR.match(problem.message)
    return {"tensor": Tensor, "dictionary": dict}[found[1]] if found else None


def _of_nothing(problem: Mismatch, found: Origin | None) -> str:
    """Where the None comes from that was compared: a missing `return` is only one of its causes."""
    if found is None:
        return NO_GRADIENT if problem.of.endswith(".grad") else say("None where a value is expected")
    is_answer = found.place is WHOLE and found.event.method != READ
    return NOTHING if is_answer else _came(found, None)


def _of_their_error(problem: StudentError, asked: Sequence[Event]) -> Reason:
    """What their code raised, and an earlier answer if it is that on which it failed."""
    clause, is_plain = problem.args[0], problem.is_plain
    event = asked[-1] if asked else None
    if event is None or event.outcome.kind != "error" or isinstance(event.target, Answer):
        return Reason(clause, is_plain)
    if class_of(event.target) == GENERATOR and (found := origin(event.target, asked)):
        return Reason(_with_question(found, event.target), is_plain=True)
    if problem.error == "AttributeError" and (kind := NO_ATTRIBUTE.search(problem.message)):
        for place, given in enumerate(event.args, 1):
            is_meant = type(given).__name__ == kind[1] and (given is None or is_number(given))
            if is_meant and (found := origin(given, asked[:-1])) and found.place is WHOLE:
                given_on = say("Its argument {place} came from another answer", place=place)
                clause = joined(". ", [clause.removesuffix("."), given_on])
                return Reason(joined(": ", [clause, _came(found, given)]), is_plain=True)
    return Reason(clause, is_plain)


def _of_a_stop(problem: Exception, asked: Sequence[Event]) -> Reason:
    """The claim itself stopped on an error; what it could not go on with is an earlier answer."""
    error, line = f"{type(problem).__name__}: {problem}", line_of(problem)
    call = last_call(asked)
    if call is None:
        stopped = say("the check itself stopped ({error})", error=error)
        return Reason(_at(stopped, line))
    if isinstance(problem, NotAnObject):
        if found := origin(problem.value, asked):
            return _not_the_kind(found, problem.value, problem.expected)
        return Reason(where_is_expected(_kind_text(problem.value), problem.expected), is_plain=True)
    if isinstance(problem, AttributeError) and _is_data(problem.obj):
        if problem.obj is None and (found := origin(None, asked)) is None and ".grad" in line:
            return Reason(NO_GRADIENT, is_plain=True)
        if found := origin(problem.obj, asked):
            return _not_the_kind(found, problem.obj, _having(str(problem.name), found))
    value = call.outcome.value
    if _names(error, None) and (found := origin(None, asked)):
        return _not_the_kind(found, None, "")
    if _names(error, None) and ".grad" in line:
        return Reason(NO_GRADIENT, is_plain=True)
    for odd in leaves(value):
        if isinstance(odd, np.ndarray) or class_of(odd) == GENERATOR:
            return _not_the_kind(origin(odd, asked) or Origin(call), odd, KINDS[Tensor])
    unpacked = UNPACKED.search(error)
    if unpacked and class_of(call.target) == GENERATOR and (found := origin(call.target, asked)):
        return _not_the_kind(found, call.target, "")
    if unpacked and not (is_array(value) and (".shape" in line or ".size(" in line)):
        expected = say("a tuple of {count}", count=unpacked[1]) if unpacked[1] else say("a tuple")
        return _not_the_kind(Origin(call), value, expected)
    stopped = say(
        "the check could not go on with what `{name}` returned, {value} ({error})",
        name=name_of(call),
        value=joined(": ", [_kind_text(value), _shown(value)]),
        error=error,
    )
    return Reason(_at(stopped, line), is_plain=not isinstance(value, Tensor) and _names(error, value))


def met_numpy(problem: Exception, asked: Sequence[Event]) -> bool:
    """Whether a claim could not go on with an answer because there is a numpy array in it."""
    is_foreseen = isinstance(problem, Mismatch | StudentError | NotWritten | Unreachable | NameError)
    if is_foreseen and not (isinstance(problem, Mismatch) and _asked_for(problem) is Tensor):
        return False
    call = last_call(asked)
    return call is not None and _has_array(call.outcome.value)


def _has_array(value: object) -> bool:
    return any(isinstance(leaf, np.ndarray) for leaf in leaves(value))


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


def _is_data(value: object) -> bool:
    return value is None or isinstance(value, int | float | str | list | tuple | dict | Tensor | np.ndarray)


def _names(error: str, value: object) -> bool:
    """Whether an error is about a value of this kind, as in `'float' object is not iterable`."""
    return re.search(rf"\b{type(value).__name__}\b", error.partition(": ")[2]) is not None


def _having(attribute: str, found: Origin) -> str:
    """What is expected where a check reads this attribute, or calls this method, of an answer.

    Methods of a student's own class may return an object with methods that a tensor has, too.
    """
    if not isinstance(found.event.target, Object) or not found.event.method:
        for kind in (Tensor, dict):
            if hasattr(kind, attribute):
                return KINDS[kind]
    return having(attribute)


def _not_the_kind(found: Origin, value: object, expected: str) -> Reason:
    """An answer is of another kind than the one that is expected."""
    if class_of(value) == GENERATOR:
        return Reason(_with_question(found, value), is_plain=True)
    came = _came(found, value)
    if value is None or not expected:
        return Reason(came, is_plain=True)
    return Reason(say("{came}, where {expected} is expected", came=came, expected=expected), is_plain=True)


def _with_question(found: Origin, value: object) -> str:
    return joined("; ", [_came(found, value), FROM_YIELD])


def _came(found: Origin, value: object) -> str:
    """Which call returned this value: `Value.add` returned -1, a number."""
    event, place = found
    said = {"name": name_of(event), "value": joined(", ", [_shown(value), _kind_text(value)])}
    if place is not WHOLE and event.method == GRADIENTS:
        return say("the parameter `{place}` got no gradient", place=place)
    if place is not WHOLE:
        return say("entry {place} of what `{name}` returned is {value}", place=brief(place), **said)
    if event.method == READ:
        return say("`{name}` is {value}", **said)
    if value is None:
        return say("`{name}` returned None; is a `return` missing?", **said)
    return say("`{name}` returned {value}", **said)


def _kind_text(value: object) -> str:
    """The kind of a value, and how many entries it has."""
    name = kind_name(value)
    if is_array(value) and value.ndim:
        return say("{kind} of shape {shape}", kind=name, shape=tuple(value.shape))
    if isinstance(value, list | tuple):
        return say("{kind} of {count}", kind=name, count=len(value))
    return name


def _shown(value: object) -> str:
    """The value itself if it is short; "" if it is not, or if its kind says it."""
    is_large = value is None or class_of(value) or (is_array(value) and value.ndim)
    text = "" if is_large else brief(value)
    return text if len(text) <= LONGEST_SHOWN else ""


def _at(clause: str, line: str) -> str:
    """The clause, and the line of the check, or of a given function, at which it stopped."""
    return say("{clause}, at `{line}`", clause=clause, line=line) if line else clause
