"""The checks of a homework, run on somebody's functions and classes, wherever those live.

`link` says where: `LocalLink` for objects of this process, the grader's own for a student's sandbox.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from autograder.isolation import IsolationUnavailable
from autograder.source.homework import (
    COULD_NOT_RUN,
    FAILED,
    PASSED,
    Check,
    HomeworkSource,
    Result,
    execute,
    stub,
)
from course.checks import (
    Finding,
    Link,
    LocalLink,
    Mismatch,
    NotWritten,
    StandIn,
    StudentError,
    Trace,
    Unreachable,
    examine,
)

# What only the student's code can have brought about, and what only the grader's machine can.
OF_THE_STUDENT = (Mismatch, StudentError, NotWritten, Unreachable)
OF_THE_GRADER = (OSError, EOFError, IsolationUnavailable)

TOO_MUCH = {
    MemoryError: "what came back is too large to be examined",
    RecursionError: "what came back is nested too deeply to be examined",
}


class Examined(NamedTuple):
    """One check's verdict, the sentence for the student, and the calls it made."""

    check: Check
    result: Result
    message: str
    trace: Trace
    problem: Exception | None = None  # what stopped the claim


def run_checks(
    homework: HomeworkSource,
    link: Link,
    seed: int | None = None,
    *,
    only: Collection[str] | None = None,
    scope: dict[str, Any] | None = None,
    references: Mapping[str, Any] | None = None,
) -> list[Examined]:
    """Run the checks (or only those named) on what the link reaches.

    `seed` draws the inputs of all checks, visible ones too; None draws as the notebook does. `scope` is a
    namespace of the homework to use again, which saves running the provided cells; it is left as it was.
    `references`: see run_check.
    """
    scope = homework.namespace() if scope is None else scope
    chosen = [check for check in homework.checks if only is None or check.name in only]
    return [run_check(homework, check, link, seed, scope, references) for check in chosen]


def run_check(
    homework: HomeworkSource,
    check: Check,
    link: Link,
    seed: int | None,
    scope: dict[str, Any],
    references: Mapping[str, Any] | None = None,
) -> Examined:
    """Run the cell of one check, in which `check` takes down what it finds instead of raising.

    Where it stops on an error that nobody foresaw, the right answers in `references` tell whose fault it is:
    if it stops on one with them too, it could not run. Without them an answer is at fault once it was asked.
    """
    try:
        finding = _finding(homework, check, link, seed, scope)
        if not _is_unforeseen(finding.problem):
            at_fault = isinstance(finding.problem, OF_THE_GRADER)
        elif references is None:
            at_fault = not finding.trace.events
        else:
            right = _finding(homework, check, LocalLink(references), seed, scope)
            at_fault = _is_unforeseen(right.problem)
    except _Broken as broken:
        return Examined(check, COULD_NOT_RUN, _could_not_run(check, broken.error), Trace(check.name))
    if finding.problem is None:
        result, message = PASSED, check.claim
    elif at_fault:
        result, message = COULD_NOT_RUN, _could_not_run(check, finding.problem)
    else:
        result, message = FAILED, TOO_MUCH.get(type(finding.problem), finding.message)
    return Examined(check, result, message, finding.trace, finding.problem)


class _Broken(Exception):
    """The cell of a check is at fault itself, outside its claim."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def _finding(
    homework: HomeworkSource, check: Check, link: Link, seed: int | None, scope: dict[str, Any]
) -> Finding:
    """What the check finds out about what the link reaches; raises _Broken where it finds out nothing."""
    found: list[Finding] = []
    names: dict[str, StandIn | Callable[..., None]] = {
        exercise.name: StandIn(link, Trace(check.name), exercise.name) for exercise in homework.exercises
    }
    names["check"] = _listener(homework, check, link, seed, scope, found)
    try:
        with substituted(scope, names):
            execute(check.source, scope, homework.path, check.line)
    except Exception as error:
        raise _Broken(error) from error
    if len(found) != 1:
        raise _Broken(ValueError(f"its cell calls check() {len(found)} times instead of once"))
    return found[0]


def _is_unforeseen(problem: Exception | None) -> bool:
    """Whether a claim stopped on an error that says neither what is wrong nor that the machine failed."""
    return problem is not None and not isinstance(problem, (*OF_THE_STUDENT, *OF_THE_GRADER))


def _listener(
    homework: HomeworkSource,
    of: Check,
    link: Link,
    seed: int | None,
    scope: dict[str, Any],
    found: list[Finding],
) -> Callable[..., None]:
    """What `check` is while the grader examines; a claim's parameters say whose stand-ins it gets."""
    exempt = homework.exercise(of.exercise).exempt

    def check(claim: Callable[..., None], *things: Any) -> None:
        def written(name: str) -> Any:
            return stub(homework, name, scope)

        found.append(examine(claim, link, _seed(of, seed), exempt=exempt, written=written))

    return check


def _seed(check: Check, seed: int | None) -> int | None:
    """None draws by the check's name, as in the notebook; else no check's seed tells another's."""
    if seed is None:
        return None
    return int.from_bytes(hashlib.sha256(f"{seed}:{check.name}".encode()).digest()[:8])


@contextlib.contextmanager
def substituted(scope: dict[str, Any], names: dict[str, Any]) -> Iterator[None]:
    """The scope with other things under these names, and as it was afterwards.

    The same dictionary, because provided functions look the student's names up in it.
    """
    before = dict(scope)
    scope.update(names)
    try:
        yield
    finally:
        scope.clear()
        scope.update(before)


def _could_not_run(check: Check, error: Exception) -> str:
    return f"the check {check.name} could not run ({type(error).__name__}: {error})"
