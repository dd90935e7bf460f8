"""Run a homework's checks on somebody's functions and classes, in any process.

`link` reaches them: `LocalLink` in this process, the grader's own link in a student's sandbox.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Collection, Iterator, Mapping
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
from course.language import say

# Errors that only the student's code can cause, and errors that only the grader's machine can.
OF_THE_STUDENT = (Mismatch, StudentError, NotWritten, Unreachable)
OF_THE_GRADER = (OSError, EOFError, IsolationUnavailable)

TOO_MUCH = {
    MemoryError: say("the result is too large to be examined"),
    RecursionError: say("the result is nested too deeply to be examined"),
}


class Examined(NamedTuple):
    """One check's verdict, the sentence for the student, and the calls it made."""

    check: Check
    result: Result
    message: str
    trace: Trace
    problem: Exception | None = None  # what stopped the claim
    note: str = ""  # a remark to show although the claim holds


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
    namespace of the homework to reuse, which saves running the provided cells; it is left unchanged.
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
    """Run the block of one check, and test its claim on what the link reaches.

    If it stops on an unforeseen error, the right answers in `references` decide whose fault that is: if the
    check stops with them too, it could not run. Without them, the answer is at fault if it was called.
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
    return Examined(check, result, message, finding.trace, finding.problem, finding.note)


class _Broken(Exception):
    """The block of a check itself raises an error, outside its claim."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def _finding(
    homework: HomeworkSource, check: Check, link: Link, seed: int | None, scope: dict[str, Any]
) -> Finding:
    """The check's finding about what the link reaches; raises _Broken if its block cannot run."""
    outside = Trace(check.name)  # of calls outside the claim
    names = {exercise.name: StandIn(link, outside, exercise.name) for exercise in homework.exercises}
    exercise = homework.exercise(check.exercise)

    def written(name: str) -> Any:
        return stub(homework, name, scope)

    with substituted(scope, names):
        try:
            execute(check.source, scope, homework.path, check.line)
            claim = scope[check.name]
        except Exception as error:
            raise _Broken(error) from error
        return examine(
            claim,
            link,
            _seed(check, seed),
            exempt=exercise.exempt,
            dtype=exercise.dtype,
            written=written,
        )


def _is_unforeseen(problem: Exception | None) -> bool:
    """Whether a claim stopped on an error that blames neither the answer nor the machine."""
    return problem is not None and not isinstance(problem, (*OF_THE_STUDENT, *OF_THE_GRADER))


def _seed(check: Check, seed: int | None) -> int | None:
    """The seed of one check, which reveals no other's; None draws by the check's name, as a notebook does."""
    if seed is None:
        return None
    return int.from_bytes(hashlib.sha256(f"{seed}:{check.name}".encode()).digest()[:8])


@contextlib.contextmanager
def substituted(scope: dict[str, Any], names: dict[str, Any]) -> Iterator[None]:
    """The scope with these names replaced, restored afterwards.

    It is the same dictionary, because provided functions look up the student's names in it.
    """
    before = dict(scope)
    scope.update(names)
    try:
        yield
    finally:
        scope.clear()
        scope.update(before)


def _could_not_run(check: Check, error: Exception) -> str:
    said = f"{type(error).__name__}: {error}"
    return say("the check {name} could not run ({error})", name=check.name, error=said)
