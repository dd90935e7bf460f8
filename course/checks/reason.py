"""Why a claim does not hold, in a clause, and whether that clause says all that is to be mended."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from torch import Tensor

from course.checks.brief import GENERATOR, KINDS, class_of
from course.checks.check_line import line_of, takes_apart
from course.checks.closeness import is_number
from course.checks.compare import Mismatch
from course.checks.difference import NOTHING
from course.checks.differentiable import NO_GRADIENT
from course.checks.errors import OF_A_MODULE, NotWritten, StudentError, Unreachable, cut
from course.checks.form_difference import FROM_YIELD
from course.checks.origin import READ, WHOLE, Origin, came, kind_text, last_call, name_of, origin, shown
from course.checks.plain import leaves
from course.checks.sequence_difference import where_is_expected
from course.checks.standin import NotAnObject, having
from course.checks.trace import Answer, Event, Object
from course.language import joined, say

UNPACKED = re.compile(r"values to unpack \(expected (\d+)|cannot unpack non-iterable")
WITHOUT_ENTRIES = re.compile(r"'(?:\w+\.)*(\w+)' (?:object is not (?:subscriptable|iterable)|has no len)")
OF_ANOTHER_KIND = re.compile(r"has no attribute '|is not (iterable|subscriptable|callable)|has no len\(")
NO_ATTRIBUTE = re.compile(r"'(NoneType|int|float|Tensor|list|tuple|dict|str)' object has no attribute")
ASKED_FOR = re.compile(r"A (tensor|dictionary)\b[^.]* is expected|The answer is no (tensor|dictionary)\b")
LONGEST_LINE = 100  # characters of a line of the check


class Reason(NamedTuple):
    """A clause; is_plain: whether it says all that is to be mended, so that a hint would lead elsewhere."""

    clause: str
    is_plain: bool = False


def reason(problem: Exception, asked: Sequence[Event]) -> Reason:
    """Why a claim does not hold; the calls asked until then may explain it."""
    try:
        return _reason(problem, asked)
    except Exception:  # whatever a student returns, the message must not break
        return Reason(str(problem))


def _reason(problem: Exception, asked: Sequence[Event]) -> Reason:
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
    value = call.outcome.value if call else None
    if call is not None and (kind := _asked_for(problem)) and not isinstance(value, kind):
        return _not_the_kind(Origin(call), value, KINDS[kind])
    if call is not None and problem.n_parts and isinstance(value, Tensor):  # its rows passed for the parts
        return _not_the_kind(Origin(call), value, say("a tuple of {count}", count=problem.n_parts))
    clause = problem.explained([*call.args, *call.kwargs.values()] if call else ())
    is_known = problem.what or problem.message or problem.is_plain
    if problem.of and not is_known:
        found = origin(problem.received, asked)
        if found is None or found.place is not WHOLE:  # the check computed it
            clause = joined(": ", [f"`{problem.of}`", clause])
    return Reason(clause, problem.needs_no_hint)


def _asked_for(problem: Mismatch) -> type | None:
    """The kind of value that a claim asks for in words of its own, "A tensor of logits is expected."."""
    found = ASKED_FOR.match(problem.message)
    return {"tensor": Tensor, "dictionary": dict}[found[1] or found[2]] if found else None


def _of_nothing(problem: Mismatch, found: Origin | None) -> str:
    """Where the None comes from that was compared: a missing `return` is only one of its causes."""
    if found is None:
        return NO_GRADIENT if problem.of.endswith(".grad") else say("None where a value is expected")
    is_answer = found.place is WHOLE and found.event.method != READ
    return NOTHING if is_answer else came(found, None)


def _of_their_error(problem: StudentError, asked: Sequence[Event]) -> Reason:
    """What their code raised, and an earlier answer if it is that on which it failed."""
    clause, is_plain = problem.args[0], problem.is_plain
    event = asked[-1] if asked else None
    if event is None or event.outcome.kind != "error" or isinstance(event.target, Answer):
        return Reason(clause, is_plain)
    is_of_kind = problem.line is None and OF_ANOTHER_KIND.search(problem.message)
    if isinstance(event.target, Object) and is_of_kind and not OF_A_MODULE.search(problem.message):
        found = origin(event.target, asked)
        if found and found.event.target != event.target.kind:
            return _not_the_kind(found, event.target, _needed_for(event, found))
    if problem.error == "AttributeError" and (kind := NO_ATTRIBUTE.search(problem.message)):
        for place, given in enumerate(event.args, 1):
            is_meant = type(given).__name__ == kind[1] and (given is None or is_number(given))
            if is_meant and (found := origin(given, asked[:-1])) and found.place is WHOLE:
                given_on = say("Its argument {place} came from another answer", place=place)
                clause = joined(". ", [clause.removesuffix("."), given_on])
                return Reason(joined(": ", [clause, came(found, given)]), is_plain=True)
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
        return Reason(where_is_expected(kind_text(problem.value), problem.expected), is_plain=True)
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
    if unpacked and takes_apart(line):
        if class_of(call.target) == GENERATOR and (found := origin(call.target, asked)):
            return _not_the_kind(found, call.target, "")
        expected = say("a tuple of {count}", count=unpacked[1]) if unpacked[1] else say("a tuple")
        return _not_the_kind(Origin(call), value, expected)
    without = WITHOUT_ENTRIES.search(error)
    if without and without[1] in (type(value).__name__, class_of(value)):
        return _not_the_kind(Origin(call), value, say("a sequence"))
    stopped = say(
        "the check could not go on with what `{name}` returned, {value} ({error})",
        name=name_of(call),
        value=joined(": ", [kind_text(value), shown(value)]),
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


def _is_data(value: object) -> bool:
    return value is None or isinstance(value, int | float | str | list | tuple | dict | Tensor | np.ndarray)


def _names(error: str, value: object) -> bool:
    """Whether an error is about a value of this kind, as in `'float' object is not iterable`."""
    return type(value).__name__ in error.partition(": ")[2].replace("'", " ").split()


def _having(attribute: str, found: Origin) -> str:
    """What is expected where a check reads this attribute, or calls this method, of an answer.

    Methods of a student's own class may return an object with methods that a tensor has, too.
    """
    if not isinstance(found.event.target, Object) or not found.event.method:
        for kind in (Tensor, dict):
            if hasattr(kind, attribute):
                return KINDS[kind]
    return having(attribute)


def _needed_for(event: Event, found: Origin) -> str:
    """What is expected where a check uses an object so."""
    if event.method in ("__iter__", "__len__", "__getitem__", "__contains__"):
        return say("a sequence")
    if not event.method:
        return say("a function")
    return having(str(event.args[0])) if event.method == READ else _having(event.method, found)


def _not_the_kind(found: Origin, value: object, expected: str) -> Reason:
    """An answer is of another kind than the one that is expected."""
    if class_of(value) == GENERATOR:
        return Reason(_with_question(found, value), is_plain=True)
    clause = came(found, value)
    if value is not None and expected:
        clause = say("{came}, where {expected} is expected", came=clause, expected=expected)
    return Reason(clause, is_plain=True)


def _with_question(found: Origin, value: object) -> str:
    return joined("; ", [came(found, value), FROM_YIELD])


def _at(clause: str, line: str) -> str:
    """The clause, and the line of the check, or of a given function, at which it stopped."""
    return say("{clause}, at `{line}`", clause=clause, line=cut(line, LONGEST_LINE)) if line else clause
