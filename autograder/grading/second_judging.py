"""Charge a mistake only once: an answer that calls a wrong part is judged again with a right one instead."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from torch import nn

from autograder.checking.examine import Examined
from autograder.grading.parts import Parts
from autograder.grading.plan import Plan
from autograder.grading.points import paid, points_of
from autograder.grading.redaction import is_not_written
from autograder.grading.standin import Cell, Sitting
from autograder.isolation.forbidden import PROVIDED
from autograder.marks.records import ExerciseRecord
from autograder.source.homework import FAILED, PASSED, Exercise, Result, right_cells
from autograder.submissions.own_work import OwnWork
from course.checks.parts import all_of, mend_first
from course.language import joined, say


class Judge(Protocol):
    """What the second judging needs from the first."""

    plan: Plan
    sitting: Sitting
    kept: Mapping[str, ExerciseRecord]
    examined: dict[str, list[Examined]]

    @property
    def own_work(self) -> OwnWork:
        """The code of the submission."""

    def examine(self, exercise: Exercise, hidden: bool, is_defined: bool) -> None:
        """Run an exercise's visible or hidden checks."""

    def mistakes(
        self, exercise: Exercise, done: Sequence[Examined]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The mistakes that the visible checks show, and those that all show."""

    def anew(self, sitting: Sitting) -> Judge:
        """A new judge of the same submission, which has examined nothing yet and uses another session."""


class Again(NamedTuple):
    """What the second judging has found: exercise → its verdicts, and → the parts that were answered for."""

    verdicts: dict[str, list[Examined]]
    answered: dict[str, tuple[str, ...]]


def judged_again(judge: Judge, exercises: Sequence[Exercise]) -> Again:
    """The verdicts on failed exercises that use functions or modules of other failed exercises.

    Of two results the better one counts; the second is made with right parts in place of the wrong ones.
    Where the first result counts, it says which parts are wrong, as far as visible checks show it.
    """
    slips = {
        one.name: parts
        for one in exercises
        if _has_failed(judge, one.name) and (parts := _wrong_parts(judge, one))
    }
    groups: dict[tuple[str, ...], list[Exercise]] = {}
    for one in exercises:
        if replaced := _replaceable(judge, slips.get(one.name, ())):
            groups.setdefault(replaced, []).append(one)
    second: dict[str, list[Examined]] = {}
    for replaced, group in groups.items():
        second |= _with_right(judge, replaced, group)
    found = {}
    for one in (one for one in exercises if one.name in slips):
        name, parts, first = one.name, slips[one.name], judge.examined[one.name]
        if name in second and _points(judge, one, second[name]) > _points(judge, one, first):
            again = say(
                "It calls your {parts}, which failed, so this was examined with a right one in its place.",
                parts=all_of(_replaceable(judge, parts)),
            )
            found[name] = _told(again, second[name], PASSED)
        else:
            shown = [part for part in parts if _has_failed(judge, part, hidden=False)]
            found[name] = _told(mend_first(shown), first, FAILED)
    return Again(found, {one.name: parts for parts, group in groups.items() for one in group})


def _with_right(
    judge: Judge, parts: tuple[str, ...], exercises: Sequence[Exercise]
) -> dict[str, list[Examined]]:
    """The results of the checks when the grader answers the calls of these parts, in a separate process.

    All visible checks come before the first hidden one, as in the first judging.
    """
    first = judge.sitting
    first.close()  # and its time is counted
    cells = [
        Cell(source, f"{PROVIDED} right {place}")
        for place, source in enumerate(right_cells(judge.plan.homework))
    ]
    functions, modules = (
        [name for name in parts if kind(judge.plan.references[name])]
        for kind in (inspect.isfunction, is_module)
    )
    right = Parts(functions, cells, first.start, first.limits, first.budget, modules)
    sitting = Sitting(first.start, first.limits, first.guarded, parts=right, shared=first.budget)
    sitting.take_over(first)
    again = judge.anew(sitting)
    try:
        for hidden in (False, True):
            for exercise in exercises:
                again.examine(exercise, hidden, is_defined=True)
    finally:
        sitting.close()
        right.close()
    return again.examined


def _replaceable(judge: Judge, parts: Sequence[str]) -> tuple[str, ...]:
    """The parts that values can answer: functions, and modules with their weights; no other class."""
    right = judge.plan.references
    return tuple(name for name in parts if inspect.isfunction(right[name]) or is_module(right[name]))


def is_module(thing: object) -> bool:
    """Whether it is a class of modules."""
    return inspect.isclass(thing) and issubclass(thing, nn.Module)


def _wrong_parts(judge: Judge, exercise: Exercise) -> list[str]:
    """The earlier exercises that this answer calls and that failed, except those that are not written.

    A later one is not answered for: two exercises that only call each other would both be right.
    """
    names = [one.name for one in judge.plan.homework.exercises]
    earlier = names[: names.index(exercise.name)]
    return [
        name for name in judge.own_work.parts(exercise.name) if name in earlier and _has_failed(judge, name)
    ]


def _has_failed(judge: Judge, name: str, *, hidden: bool = True) -> bool:
    """Whether a written exercise failed one of its checks; without `hidden`, one of the visible ones."""
    if name in judge.kept:
        verdicts = [(one.hidden, one.result) for one in judge.kept[name].checks]
    else:
        done = judge.examined.get(name, [])
        if is_not_written([entry for entry in done if not entry.check.hidden]):
            return False
        verdicts = [(entry.check.hidden, entry.result) for entry in done]
    return any(result == FAILED and (hidden or not is_hidden) for is_hidden, result in verdicts)


def _points(judge: Judge, exercise: Exercise, done: Sequence[Examined]) -> float:
    """What these verdicts are worth."""
    return points_of(paid(done, lambda: bool(judge.mistakes(exercise, done)[1])))


def _told(sentence: str, done: Sequence[Examined], result: Result) -> list[Examined]:
    """The verdicts, with the sentence added to the first visible check that ended in this way."""
    first = next((one for one in done if one.result == result and not one.check.hidden), None)
    if first is None or not sentence:
        return [*done]
    return [
        one._replace(message=joined("\n", [say(one.message), sentence])) if one is first else one
        for one in done
    ]
