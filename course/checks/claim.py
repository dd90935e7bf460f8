"""A claim put to the student's objects: what it says, whether it holds, and if not, why."""

import contextlib
import inspect
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast

from course.checks.brief import brief, kind_name
from course.checks.changed import Written, changed_in_place
from course.checks.compare import Mismatch
from course.checks.differentiable import NO_GRADIENT
from course.checks.draw import Draw, seed_of
from course.checks.errors import NotWritten, StudentError, Unreachable
from course.checks.explain import sentence
from course.checks.link import Link, called
from course.checks.standin import StandIn
from course.checks.trace import Answer, Event, Trace

if TYPE_CHECKING:
    from course.checks.trace import Object

IN_PLACE = "in_place"  # the rule that what is handed in stays as it is, where an exercise is exempt from it

Result = Literal["passed", "failed", "not_written"]


@dataclass(frozen=True)
class Finding:
    """What came of putting a claim to somebody's objects."""

    check: str
    sentence: str
    trace: Trace = field(repr=False)
    problem: Exception | None = None
    in_place: str = ""  # the sentence about an argument that was changed beside another problem

    @property
    def result(self) -> Result:
        """Whether the claim holds, or the student has yet to write what it is about."""
        if self.problem is None:
            return "passed"
        return "not_written" if isinstance(self.problem, NotWritten) else "failed"

    @property
    def message(self) -> str:
        """Why the claim does not hold, in a clause; "" if it does."""
        if self.problem is None:
            return ""
        why = reason(self.problem, self.trace)
        return f"{self.in_place} {sentence(why)}" if self.in_place else why


def sentence_of(claim: Callable) -> str:
    """The claim in words: its docstring's first line."""
    return (inspect.getdoc(claim) or claim.__name__.replace("_", " ")).splitlines()[0]


def names_in(claim: Callable) -> list[str]:
    """The student's functions and classes that a claim speaks of, by name."""
    return [name for name in parameters(claim) if name != "draw"]


def parameters(claim: Callable) -> list[str]:
    """What a claim takes, by name: the student's things, and perhaps a `draw`."""
    return list(inspect.signature(claim).parameters)


def examine(
    claim: Callable,
    link: Link,
    seed: int | None = None,
    *,
    exempt: Collection[str] = (),
    written: Written = lambda name: None,
) -> Finding:
    """Put a claim to stand-ins over the link; it draws from the seed, or from its name where that is None.

    A claim that holds still fails where a call changed what it was given, unless the exercise is exempt from
    that rule. `written` gives the function or class of a name, to say which argument it was.
    """
    trace = Trace(claim.__name__)
    arguments: dict[str, object] = {name: StandIn(link, trace, name) for name in parameters(claim)}
    if "draw" in arguments:
        arguments["draw"] = Draw(seed_of(claim.__name__) if seed is None else seed)
    problem: Exception | None = None
    try:
        with contextlib.redirect_stderr(sys.stdout):  # nbgrader takes a warning for a failure
            claim(**arguments)
    except Exception as found:
        problem = found
    in_place = "" if IN_PLACE in exempt else changed_in_place(trace, written)
    if problem is None and in_place:
        problem, in_place = Mismatch(message=in_place), ""
    return Finding(claim.__name__, sentence_of(claim), trace, problem, in_place)


def reason(problem: Exception, trace: Trace) -> str:
    """Why a claim does not hold; the arguments of its last call may tell the cause of a NaN or a factor."""
    call = last_call(trace)
    if isinstance(problem, Mismatch):
        return problem.explained([*call.args, *call.kwargs.values()] if call else ())
    if isinstance(problem, StudentError | NotWritten | Unreachable):
        return str(problem)
    if isinstance(problem, AssertionError):
        return str(problem) or "it does not hold"
    if "does not require grad" in str(problem):
        return NO_GRADIENT
    error = f"{type(problem).__name__}: {problem}"
    if call is None:
        return f"the check itself stopped ({error})"
    name = called(cast("str | Object", call.target), call.method)  # `last_call` gives no backward pass
    if call.outcome.value is None:
        return f"`{name}` returned None; a function without `return` gives None"
    return f"the check could not go on with what `{name}` returned, {_value_text(call)} ({error})"


def last_call(trace: Trace) -> Event | None:
    """The latest call that gave a value."""
    calls = [event for event in trace.events if not isinstance(event.target, Answer)]
    return next((event for event in reversed(calls) if event.outcome.kind == "value"), None)


def _value_text(call: Event) -> str:
    value, name = call.outcome.value, kind_name(call.outcome.value)
    return name if len(brief(value)) > 60 else f"{name}: {brief(value)}"
