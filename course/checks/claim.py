"""A claim tested on the student's objects: what it says, whether it holds, and if not, why."""

import contextlib
import inspect
import sys
from collections.abc import Callable, Collection, Sequence
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
from course.checks.plain import tensors_in
from course.checks.precision import COUNTS, precision
from course.checks.standin import StandIn
from course.checks.to_its_end import to_its_end
from course.checks.trace import Answer, Event, Trace
from course.language import joined, say

if TYPE_CHECKING:
    from types import FunctionType

    import torch

    from course.checks.trace import Object

FLOAT32 = "float32"
IN_PLACE = "in_place"  # the rule that what is handed in stays as it is, where an exercise is exempt from it

Result = Literal["passed", "failed", "not_written"]


@dataclass(frozen=True)
class Finding:
    """The result of testing a claim on somebody's objects."""

    check: str
    sentence: str
    trace: Trace = field(repr=False)
    problem: Exception | None = None
    in_place: str = ""  # the sentence about an argument that was changed beside another problem
    note: str = ""  # a remark to show although the claim holds
    n_events: int = 0  # how much had been asked when it failed

    @property
    def result(self) -> Result:
        """Whether the claim holds, fails, or is about something that is not written yet."""
        if self.problem is None:
            return "passed"
        return "not_written" if isinstance(self.problem, NotWritten) else "failed"

    @property
    def is_plain(self) -> bool:
        """Whether the message says all that is to be mended, so that a hint would lead elsewhere."""
        if self.in_place or isinstance(self.problem, NameError):
            return True
        if isinstance(self.problem, Mismatch | StudentError):
            return self.problem.is_plain
        call = last_call(self.trace.events[: self.n_events])
        return call is not None and call.outcome.value is None

    @property
    def message(self) -> str:
        """Why the claim does not hold, in a clause; "" if it does."""
        if self.problem is None:
            return ""
        why = reason(self.problem, self.trace.events[: self.n_events])
        return joined(" ", [self.in_place, sentence(why)]) if self.in_place else why


def sentence_of(claim: Callable) -> str:
    """The claim in words: the first line of its docstring."""
    return (inspect.getdoc(claim) or claim.__name__.replace("_", " ")).splitlines()[0]


def names_in(claim: Callable) -> list[str]:
    """The names of the student's functions and classes that a claim is about."""
    return [name for name in parameters(claim) if name != "draw"]


def parameters(claim: Callable) -> list[str]:
    """A claim's parameters: the student's functions and classes, and perhaps a `draw`."""
    code = cast("FunctionType", inspect.unwrap(claim)).__code__  # ten times as fast as the signature
    return [*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]


def examine(
    claim: Callable,
    link: Link,
    seed: int | None = None,
    *,
    exempt: Collection[str] = (),
    dtype: str = "",
    written: Written = lambda name: None,
) -> Finding:
    """Test a claim on stand-ins over the link; its inputs are drawn from the seed, or from its name if None.

    A claim that holds still fails if a call changed its arguments, unless the exercise is exempt from that
    rule. dtype: the one that answers must have, if that is the point of the exercise; otherwise an answer
    that is right to seven digits holds, with a note. `written` returns the function or class with a given
    name, to say which argument was changed.
    """
    trace = Trace(claim.__name__)
    arguments: dict[str, object] = {name: StandIn(link, trace, name) for name in parameters(claim)}
    if "draw" in arguments:
        arguments["draw"] = Draw(seed_of(claim.__name__) if seed is None else seed)
    problem: Exception | None = None
    try:
        with (
            contextlib.redirect_stderr(sys.stdout),  # nbgrader counts a warning as a failure
            precision(counts=not dtype) as met,
            to_its_end(trace) as failure,
        ):
            claim(**arguments)
    except Exception as found:
        problem = found
    problem = failure.problem or problem
    in_place = "" if IN_PLACE in exempt else changed_in_place(trace, written)
    if problem is None and in_place:
        problem, in_place = Mismatch(message=in_place, is_plain=True), ""
    note = COUNTS if problem is None and met.is_short and not _gave_float32(trace) else ""
    n_events = len(trace.events) if failure.problem is None else failure.n_events
    return Finding(claim.__name__, sentence_of(claim), trace, problem, in_place, note, n_events)


def _gave_float32(trace: Trace) -> bool:
    """Whether a claim passed numbers in float32, for which answers in float32 are precise enough."""
    given: list[torch.Tensor] = []
    for event in trace.events:
        if not isinstance(event.target, Answer):  # gradients have the dtype of the answer
            given += tensors_in((event.args, event.kwargs))
    return any(str(tensor.dtype) == f"torch.{FLOAT32}" for tensor in given)


def reason(problem: Exception, asked: Sequence[Event]) -> str:
    """Why a claim does not hold; the arguments of the last call asked may explain a NaN or a factor."""
    call = last_call(asked)
    if isinstance(problem, Mismatch):
        return problem.explained([*call.args, *call.kwargs.values()] if call else ())
    if isinstance(problem, StudentError | NotWritten | Unreachable):
        return problem.args[0]  # `str` would forget how it can be said in another language
    if isinstance(problem, AssertionError):
        return say(str(problem) or "it does not hold")
    if "does not require grad" in str(problem):
        return NO_GRADIENT
    if isinstance(problem, NameError):
        return say(
            "`{name}` is not defined; run the given cells at the top and before this exercise, then this one",
            name=problem.name,
        )
    error = f"{type(problem).__name__}: {problem}"
    if call is None:
        return say("the check itself stopped ({error})", error=error)
    name = called(cast("str | Object", call.target), call.method)  # `last_call` skips backward passes
    if call.outcome.value is None:
        return say("`{name}` returned None; is a `return` missing?", name=name)
    return say(
        "the check could not go on with what `{name}` returned, {value} ({error})",
        name=name,
        value=_value_text(call),
        error=error,
    )


def last_call(asked: Sequence[Event]) -> Event | None:
    """The latest call that returned a value."""
    calls = [event for event in asked if not isinstance(event.target, Answer)]
    return next((event for event in reversed(calls) if event.outcome.kind == "value"), None)


def _value_text(call: Event) -> str:
    value, name = call.outcome.value, kind_name(call.outcome.value)
    return name if len(brief(value)) > 60 else joined(": ", [name, brief(value)])
