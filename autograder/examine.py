"""The checks of a homework, run on somebody's functions and classes, wherever those live.

`link` says where: `LocalLink` for objects of this process, the grader's own for a student's sandbox.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from autograder.homework import Check, HomeworkSource, execute
from course.checks import (
    Finding,
    Link,
    Mismatch,
    NotWritten,
    StandIn,
    StudentError,
    Trace,
    Unreachable,
    examine,
    seed_of,
)

PASSED, FAILED, COULD_NOT_RUN = "passed", "failed", "could_not_run"

# What only the student's code can have brought about, and what only the grader's machine can.
OF_THE_STUDENT = (Mismatch, StudentError, NotWritten, Unreachable)
OF_THE_GRADER = (OSError, EOFError, MemoryError)


class Examined(NamedTuple):
    """One check's verdict, the sentence for the student, and the calls it made."""

    check: Check
    result: str  # "passed", "failed" or "could_not_run"
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
) -> list[Examined]:
    """Run the checks (or only those named) on what the link reaches.

    Visible checks draw as in the notebook. `seed` draws the inputs of hidden checks; None draws theirs as
    plain nbgrader does. `scope` is a namespace of the homework to use again, which saves running the
    provided cells; it is left as it was.
    """
    scope = homework.namespace() if scope is None else scope
    chosen = [check for check in homework.checks if only is None or check.name in only]
    return [run_check(homework, check, link, seed, scope) for check in chosen]


def run_check(
    homework: HomeworkSource, check: Check, link: Link, seed: int | None, scope: dict[str, Any]
) -> Examined:
    """Run the cell of one check, in which `check` takes down what it finds instead of raising."""
    found: list[Finding] = []
    names = {
        exercise.name: StandIn(link, Trace(check.name), exercise.name) for exercise in homework.exercises
    }
    names["check"] = _listener(found, link, _seed(check, seed))
    try:
        with substituted(scope, names):
            execute(check.source, scope, homework.path, check.line)
    except Exception as error:  # the cell itself is at fault, outside its claim
        return Examined(check, COULD_NOT_RUN, _broken(check, error), Trace(check.name))
    if len(found) != 1:
        error = ValueError(f"its cell calls check() {len(found)} times instead of once")
        return Examined(check, COULD_NOT_RUN, _broken(check, error), Trace(check.name))
    return Examined(check, *_verdict(check, found[0]), found[0].trace, found[0].problem)


def _listener(found: list[Finding], link: Link, seed: int | None) -> Callable[..., None]:
    """What `check` is while the grader examines; a claim's parameters say whose stand-ins it gets."""

    def check(claim: Callable[..., None], *things: Any) -> None:
        found.append(examine(claim, link, seed))

    return check


def _seed(check: Check, seed: int | None) -> int | None:
    """None draws by the check's name, as in the notebook."""
    return None if seed is None or not check.hidden else seed_of(f"{seed}:{check.name}")


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


def _verdict(check: Check, finding: Finding) -> tuple[str, str]:
    """A claim that stops on what came back has failed; one that stops before it asked is broken itself."""
    problem = finding.problem
    if problem is None:
        return PASSED, check.claim
    if isinstance(problem, OF_THE_STUDENT):
        return FAILED, finding.message
    if isinstance(problem, OF_THE_GRADER) or not finding.trace.events:
        return COULD_NOT_RUN, _broken(check, problem)
    return FAILED, finding.message


def _broken(check: Check, error: Exception) -> str:
    return f"the check {check.name} could not run ({type(error).__name__}: {error})"
