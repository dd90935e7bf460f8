"""A claim put to the student's objects: what it says, what it needs, and whether it holds."""

import contextlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from course.checks.compare import Mismatch
from course.checks.draw import Draw, seed_of
from course.checks.errors import NotWritten, StudentError, Unreachable
from course.checks.standin import Link, StandIn
from course.checks.trace import Trace


@dataclass(frozen=True)
class Finding:
    """Whether a claim holds, and if not, the problem that stopped it."""

    check: str
    sentence: str
    trace: Trace = field(repr=False)
    problem: Exception | None = None

    @property
    def result(self) -> str:
        """passed, failed, not_written or could_not_run."""
        if self.problem is None:
            return "passed"
        if isinstance(self.problem, NotWritten):
            return "not_written"
        return "could_not_run" if isinstance(self.problem, Unreachable) else "failed"

    @property
    def message(self) -> str:
        """What stopped the claim, in a sentence; "" if it holds."""
        return "" if self.problem is None else reason(self.problem)


def sentence_of(claim: Callable) -> str:
    """The claim in words: its docstring's first line."""
    return (inspect.getdoc(claim) or claim.__name__.replace("_", " ")).splitlines()[0]


def names_in(claim: Callable) -> list[str]:
    """The student's objects that a claim speaks of, by name."""
    return [name for name in inspect.signature(claim).parameters if name != "draw"]


def examine(claim: Callable, link: Link, seed: int | None = None) -> Finding:
    """Run a claim against stand-ins over the link; its inputs come from the seed, or from the claim's name."""
    trace = Trace(claim.__name__)
    arguments = {name: StandIn(link, trace, name) for name in names_in(claim)}
    if "draw" in inspect.signature(claim).parameters:
        arguments["draw"] = Draw(seed_of(claim.__name__) if seed is None else seed)
    try:
        with contextlib.redirect_stderr(sys.stdout):
            claim(**arguments)
    except Exception as problem:
        return Finding(claim.__name__, sentence_of(claim), trace, problem)
    return Finding(claim.__name__, sentence_of(claim), trace)


def reason(problem: Exception) -> str:
    """Why a claim does not hold, in a sentence."""
    if isinstance(problem, Mismatch | StudentError | NotWritten | Unreachable):
        return str(problem)
    return f"the check could not use what came back ({type(problem).__name__}: {problem})"
