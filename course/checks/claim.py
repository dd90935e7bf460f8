"""A claim tested on the student's objects: what it says, whether it holds, and if not, why."""

import contextlib
import inspect
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, cast

from course.checks.changed import Written, changed_in_place
from course.checks.compare import Mismatch
from course.checks.draw import Draw, seed_of
from course.checks.errors import NotWritten
from course.checks.explain import sentence
from course.checks.link import AsTensors, Link
from course.checks.plain import tensors_in
from course.checks.precision import COUNTS, precision
from course.checks.reason import Reason, met_numpy, reason
from course.checks.standin import StandIn
from course.checks.to_its_end import to_its_end
from course.checks.trace import Answer, Trace
from course.language import joined, say

if TYPE_CHECKING:
    from types import FunctionType

    import torch

FLOAT32 = "float32"
IN_PLACE = "in_place"  # the rule that what is handed in stays as it is, where an exercise is exempt from it

CUT = say("A claim that does not hold was not asked to its end, because that took long.")

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
        return bool(self.in_place) or self._reason.is_plain

    @property
    def message(self) -> str:
        """Why the claim does not hold, in a clause; "" if it does."""
        why = self._reason.clause
        return joined(" ", [self.in_place, sentence(why)]) if self.in_place else why

    @cached_property
    def _reason(self) -> Reason:
        return reason(self.problem, self.trace.events[: self.n_events]) if self.problem else Reason("")


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
    patience: float | None = None,
    written: Written = lambda name: None,
) -> Finding:
    """Test a claim on stand-ins over the link; its inputs are drawn from the seed, or from its name if None.

    A claim that holds still fails if a call changed its arguments, unless the exercise is exempt from that
    rule. dtype: the one that answers must have, if that is the point of the exercise; otherwise an answer
    that is right to seven digits holds, with a note. patience: for how many seconds a claim goes on after the
    first difference; None is without limit. `written` returns the function or class with a given name, to say
    which argument was changed.
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
            to_its_end(trace, patience) as failure,
        ):
            claim(**arguments)
    except Exception as found:
        problem = found
    problem = failure.problem or problem
    n_events = len(trace.events) if failure.problem is None else failure.n_events
    asked = trace.events[:n_events]
    in_place = "" if IN_PLACE in exempt else changed_in_place(asked, written)
    if problem is None and in_place:
        problem, in_place = Mismatch(message=in_place, is_plain=True), ""
    if problem is not None and met_numpy(problem, asked):
        again = examine(claim, AsTensors(link), seed, exempt=exempt, dtype=dtype, written=written)
        if again.result == "passed":
            clause = reason(problem, asked).clause
            problem = Mismatch(message=say("{clause}; its values are right", clause=clause), is_plain=True)
    note = COUNTS if problem is None and met.is_short and not _gave_float32(trace) else ""
    if failure.is_cut:
        note = CUT
    return Finding(claim.__name__, sentence_of(claim), trace, problem, in_place, note, n_events)


def _gave_float32(trace: Trace) -> bool:
    """Whether a claim passed numbers in float32, for which answers in float32 are precise enough."""
    given: list[torch.Tensor] = []
    for event in trace.events:
        if not isinstance(event.target, Answer):  # gradients have the dtype of the answer
            given += tensors_in((event.args, event.kwargs))
    return any(str(tensor.dtype) == f"torch.{FLOAT32}" for tensor in given)
