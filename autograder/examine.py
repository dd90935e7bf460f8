"""The checks of a homework, run on somebody's functions and classes, wherever those live.

`link` says where: `LocalLink` for objects of this process, the grader's own for a student's sandbox.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from course.checks import Draw, NotWritten, StandIn, StudentError, Trace, Unreachable

from autograder.homework import Check, HomeworkSource, execute

PASSED, FAILED, COULD_NOT_RUN = "passed", "failed", "could_not_run"


class Examined(NamedTuple):
    """One check's verdict, the sentence for the student, and the calls it made."""

    check: Check
    result: str  # "passed", "failed" or "could_not_run"
    message: str
    trace: Trace


def run_checks(
    homework: HomeworkSource,
    link: Any,
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
    return [_run(homework, check, link, seed, scope) for check in chosen]


def _run(
    homework: HomeworkSource, check: Check, link: Any, seed: int | None, scope: dict[str, Any]
) -> Examined:
    trace = Trace(check.name, [])
    stand_ins = {exercise.name: StandIn(link, trace, exercise.name) for exercise in homework.exercises}
    draw = Draw(seed_of(check, seed))
    names = {**stand_ins, "check": _caller(draw)}
    with substituted(scope, names):
        try:
            execute(check.source, scope, homework.path, check.line)
        except Exception as error:
            return Examined(check, *_verdict(error, check, trace), trace)
    return Examined(check, PASSED, check.claim, trace)


def seed_of(check: Check, seed: int | None) -> int:
    """The seed of a check's draws: by name in the notebook, by submission and name for a hidden check."""
    if check.hidden and seed is not None:
        return zlib.crc32(f"{seed}:{check.name}".encode())
    return zlib.crc32(check.name.encode())


def _caller(draw: Draw) -> Callable[..., None]:
    """What `check` is while the grader examines: it calls the claim and lets its error through."""

    def check(claim: Callable[..., None], *things: Any) -> None:
        wants_draw = claim.__code__.co_varnames[: claim.__code__.co_argcount][-1:] == ("draw",)
        claim(*things, *([draw] if wants_draw else []))

    return check


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


def _verdict(error: Exception, check: Check, trace: Trace) -> tuple[str, str]:
    if isinstance(error, (AssertionError, StudentError, NotWritten, Unreachable)):
        return FAILED, str(error) or check.claim
    if not trace.events:
        return COULD_NOT_RUN, f"The check {check.name} stopped before it asked anything: {_name(error)}."
    return FAILED, f"What came back could not be used: {_name(error)}."


def _name(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
