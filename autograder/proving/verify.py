"""Test a homework's checks: right solutions pass, wrong ones fail as the table says and are named."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, NamedTuple

from autograder.checking import rules
from autograder.checking.versions import made_from
from autograder.isolation.confinement import die_with_parent
from autograder.proving.bench import Bench, Candidate
from autograder.proving.deviations import deviations
from autograder.proving.proof import ALTERNATIVE, CONSTANT, MISCONCEPTION, REFERENCE, STUB, Proof, Tried
from autograder.proving.strangers import strangers, violations
from autograder.source.as_answer import as_answer
from autograder.source.homework import Exercise, HomeworkSource
from autograder.source.loading import load
from course.checks.forbidden import forbidden_uses
from course.checks.source import forbidden_in

SEEDS = (1, 2, 3)

REBUILD = "remove its file in course/checks/fingerprints and run `autograder build`"


def verify(
    folders: Sequence[Path],
    *,
    jobs: int | None = None,
    seeds: Sequence[int] = SEEDS,
    compared: bool = True,
    mutants: int = 0,
) -> Iterator[Proof]:
    """Yield a proof of every exercise of the homeworks in these folders, in order, as they finish.

    compared: whether a misconception must fail the checks in its homework's table. mutants: how many
    mutants of each reference are tried at most.
    """
    _loaded.cache_clear()
    tasks = []
    for folder in folders:
        homework = _loaded(str(folder))
        digests = made_from(homework)
        tasks += [
            _Task(str(folder), one.name, tuple(seeds), compared, mutants, digests[one.name])
            for one in homework.exercises
        ]
    context = get_context("fork" if sys.platform == "linux" else "spawn")
    with ProcessPoolExecutor(
        jobs or os.cpu_count(), mp_context=context, initializer=_end_with_parent
    ) as pool:
        try:
            begun = {task: pool.submit(_prove_task, task) for task in sorted(tasks, key=_work, reverse=True)}
            yield from (begun[task].result() for task in tasks)
        except BaseException:  # Ctrl-C too: nobody waits for a proof that takes a minute
            for process in active_children():
                process.kill()
            raise


def _end_with_parent() -> None:
    """In a process of the pool: the parent alone hears Ctrl-C, and if it is killed, this one ends too."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@cache
def _loaded(folder: str) -> HomeworkSource:
    """A homework, loaded before the processes of the pool are forked."""
    return load(folder)


class _Task(NamedTuple):
    """A proof that a process of the pool will make."""

    folder: str
    exercise: str
    seeds: tuple[int, ...]
    compared: bool
    mutants: int
    made_from: str


def _work(task: _Task) -> int:
    """About how much work a task is: starting with the largest keeps all processors busy to the end."""
    homework = _loaded(task.folder)
    exercise = homework.exercise(task.exercise)
    mistakes = sum(entry.of == exercise.name for entry in homework.misconceptions)
    return mistakes * len(exercise.checks) * (10 if exercise.trained else 1)


def _prove_task(task: _Task) -> Proof:
    import torch

    torch.set_num_threads(1)  # the pool uses every core already
    homework = _loaded(task.folder)
    return prove(
        homework,
        homework.exercise(task.exercise),
        task.seeds,
        compared=task.compared,
        mutants=task.mutants,
        digest=task.made_from,
    )


def prove(
    homework: HomeworkSource,
    exercise: Exercise,
    seeds: Sequence[int] = SEEDS,
    *,
    compared: bool = True,
    mutants: int = 0,
    digest: str | None = None,
) -> Proof:
    """Try the stub, the reference, the whole catalogue and the strangers of one exercise.

    digest: the digest of what the exercise is made from, if it is known already.
    """
    bench = Bench(homework, exercise, seeds)
    candidates = list(bench.candidates())
    tried = tuple(bench.try_out(candidate) for candidate in candidates)
    met = tuple(strangers(homework, exercise, bench.trial(), mutants))
    problems = (
        *_violations(homework, exercise, tried),
        *(deviations(homework, exercise.name, tried) if compared else ()),
        *_forbidden(exercise, candidates),
        *violations(homework, exercise, met),
        *_forbidden_in_answers(exercise, homework),
        *rules.violations(
            exercise, bench.references[exercise.name], lambda thing: bench.examine(thing, None, bench.visible)
        ),
        *(
            f"Right answers have the seals of {name} wherever it differs, so right code could be called that."
            for name in bench.sealed_as_right()
        ),
        *(
            f"The student's package contains different answers to {name}: {REBUILD}."
            for name in bench.shipped_otherwise(digest or made_from(homework)[exercise.name])
        ),
    )
    return Proof(
        homework=homework.name,
        exercise=exercise.name,
        checks=tuple(check.name for check in exercise.checks),
        hidden=tuple(check.name for check in exercise.checks if check.hidden),
        points=exercise.points,
        tried=tried,
        violations=problems,
        strangers=met,
    )


def _violations(homework: HomeworkSource, exercise: Exercise, tried: Sequence[Tried]) -> Iterator[str]:
    entries = {entry.name: entry for entry in homework.misconceptions if entry.of == exercise.name}
    for one in tried:
        yield from (f"{check} could not run on {one.name}." for check in one.broken)
        if one.kind in (STUB, CONSTANT):
            yield from _undeserved_points(exercise, one)
        elif one.kind == MISCONCEPTION:
            yield from (f"{exercise.name}/{luck.check}: {one.name} passes {luck}." for luck in one.undecided)
            yield from _naming_violations(one, _declared_names(entries, one.name))
        else:
            yield from (f"{one.name} is right and fails {check}." for check in one.failed)
        if one.kind == REFERENCE:
            yield from (f"{check} tells the reference that it computes in float32." for check in one.noted)
    yield from _gaps(exercise, tried)


def _undeserved_points(exercise: Exercise, one: Tried) -> Iterator[str]:
    worth = {check.name for check in exercise.checks if check.points}
    yield from (f"{one.name} passes {name}, which gives points." for name in one.passed if name in worth)


def _declared_names(entries: dict[str, Any], name: str) -> set[str]:
    """The misconception itself and those declared equal to it, from either side."""
    return {name} | entries[name].equals | {other.name for other in entries.values() if name in other.equals}


def _naming_violations(one: Tried, declared: set[str]) -> Iterator[str]:
    for name in sorted(declared - set(one.named)):
        also = "" if name == one.name else f" as {name}, which is declared equal"
        sometimes = " with every seed" if name in one.named_sometimes else ""
        yield f"{one.name} is not named by the diagnosis{also}{sometimes}."
    for name in one.named_sometimes:
        if name not in declared:
            sometimes = "" if name in one.named else " with some seeds"
            yield f"{one.name} is also named {name}{sometimes}, which is not declared equal."


def _gaps(exercise: Exercise, tried: Sequence[Tried]) -> Iterator[str]:
    wrong = [one for one in tried if one.kind == MISCONCEPTION]
    for check in exercise.checks:
        if not any(check.name in one.failed for one in wrong):
            yield f"No wrong solution fails {check.name}, so the check proves nothing."
    if not any(one.kind == ALTERNATIVE for one in tried):
        yield f"{exercise.name} has no alternative solution."


def _forbidden(exercise: Exercise, candidates: Sequence[Candidate]) -> Iterator[str]:
    """A sentence for each correct solution that uses what its exercise forbids."""
    for candidate in candidates:
        if candidate.kind in (REFERENCE, ALTERNATIVE):
            for use in forbidden_in(candidate.thing, exercise.forbids, exercise.allows):
                yield f"{candidate.name} uses {use.name} in line {use.line}, which the exercise forbids."


def _forbidden_in_answers(exercise: Exercise, homework: HomeworkSource) -> Iterator[str]:
    """The same for mistakes as students would submit them: the rule would hide the diagnosis."""
    for entry in homework.misconceptions:
        if entry.of == exercise.name:
            answer = as_answer(entry, homework)
            uses = forbidden_uses(answer, exercise.forbids, allows=exercise.allows)
            for name in dict.fromkeys(use.name for use in uses):
                yield f"{entry.name} uses {name}, which the exercise forbids."
