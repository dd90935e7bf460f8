"""The proof of a homework's checks: right solutions pass, wrong ones fail as declared and get their names."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from autograder.diagnosis import diagnosis
from autograder.examine import COULD_NOT_RUN, FAILED, PASSED, Examined, run_checks
from autograder.fingerprints import answers
from autograder.homework import Exercise, HomeworkSource, load, references, stubs
from autograder.proof import ALTERNATIVE, MISCONCEPTION, REFERENCE, STUB, Proof, Tried
from course.checks import LocalLink
from course.checks.diagnosis import candidates

SEEDS = (1, 2, 3)


class Candidate(NamedTuple):
    """A solution to try on an exercise."""

    name: str
    kind: str
    thing: Any


def verify(
    folders: Sequence[Path], *, jobs: int | None = None, seeds: Sequence[int] = SEEDS
) -> Iterator[Proof]:
    """A proof of every exercise of the homeworks in these folders, in order, as they are finished."""
    tasks = [
        (str(folder), exercise.name, tuple(seeds))
        for folder in folders
        for exercise in load(folder).exercises
    ]
    context = get_context("fork" if sys.platform == "linux" else "spawn")
    with ProcessPoolExecutor(jobs or os.cpu_count(), mp_context=context) as pool:
        yield from pool.map(_prove_task, tasks)


def _prove_task(task: tuple[str, str, tuple[int, ...]]) -> Proof:
    import torch

    torch.set_num_threads(1)  # the pool uses every core already
    folder, exercise, seeds = task
    homework = load(folder)
    return prove(homework, homework.exercise(exercise), seeds)


def prove(homework: HomeworkSource, exercise: Exercise, seeds: Sequence[int] = SEEDS) -> Proof:
    """Try the stub, the reference and the whole catalogue of one exercise."""
    bench = _Bench(homework, exercise, seeds)
    tried = tuple(bench.try_out(candidate) for candidate in bench.candidates())
    return Proof(
        homework=homework.name,
        exercise=exercise.name,
        checks=tuple(check.name for check in exercise.checks),
        hidden=tuple(check.name for check in exercise.checks if check.hidden),
        points=exercise.points,
        tried=tried,
        violations=tuple(_violations(homework, exercise, tried)),
    )


class _Bench:
    """One exercise with everything that is tried on it; the rest of the homework is the reference's."""

    def __init__(self, homework: HomeworkSource, exercise: Exercise, seeds: Sequence[int]) -> None:
        self.homework, self.exercise, self.seeds = homework, exercise, seeds
        self.references = references(homework)
        self.scope = homework.namespace()
        self.misconceptions = [entry for entry in homework.misconceptions if entry.of == exercise.name]
        self.fingerprints = {
            check.name: answers(homework, check, self.references, self.scope)
            for check in exercise.checks
            if not check.hidden
        }

    def candidates(self) -> Iterator[Candidate]:
        name = self.exercise.name
        yield Candidate("the stub", STUB, stubs(self.homework)[name])
        yield Candidate("the reference", REFERENCE, self.references[name])
        for entry in self.homework.alternatives:
            if entry.of == name:
                yield Candidate(entry.name, ALTERNATIVE, entry.thing)
        for entry in self.misconceptions:
            yield Candidate(entry.name, MISCONCEPTION, entry.thing)

    def try_out(self, candidate: Candidate) -> Tried:
        runs = [self.examine(candidate.thing, seed) for seed in self.seeds]
        results = {
            result: tuple(
                dict.fromkeys(done.check.name for run in runs for done in run if done.result == result)
            )
            for result in (FAILED, PASSED, COULD_NOT_RUN)
        }
        return Tried(
            candidate.name,
            candidate.kind,
            failed=results[FAILED],
            passed=results[PASSED],
            broken=results[COULD_NOT_RUN],
            named=self.names(runs) if candidate.kind == MISCONCEPTION else (),
            named_in_notebook=self.names_in_notebook(runs[0]) if candidate.kind == MISCONCEPTION else (),
        )

    def examine(self, thing: Any, seed: int) -> list[Examined]:
        names = {check.name for check in self.exercise.checks}
        link = LocalLink(self.things(thing))
        return run_checks(self.homework, link, seed, only=names, scope=self.scope)

    def things(self, thing: Any) -> dict[str, Any]:
        return self.references | {self.exercise.name: thing}

    def names(self, runs: list[list[Examined]]) -> tuple[str, ...]:
        """The misconceptions that answer every run as this one did."""
        per_run = [
            diagnosis([done.trace for done in run], self.misconceptions, self.references) for run in runs
        ]
        return tuple(name for name in per_run[0] if all(name in names for names in per_run))

    def names_in_notebook(self, run: list[Examined]) -> tuple[str, ...]:
        """What the student's package makes of the visible checks, without reference or hidden checks."""
        visible = [done for done in run if not done.check.hidden]
        traces = {done.check.name: done.trace for done in visible}
        failed = {done.check.name for done in visible if done.result == FAILED}
        return tuple(candidates(traces, failed, self.fingerprints)) if failed else ()


def _violations(homework: HomeworkSource, exercise: Exercise, tried: Sequence[Tried]) -> Iterator[str]:
    entries = {entry.name: entry for entry in homework.misconceptions if entry.of == exercise.name}
    for one in tried:
        yield from (f"{check} could not run on {one.name}." for check in one.broken)
        if one.kind == STUB:
            yield from _stub_violations(exercise, one)
        elif one.kind == MISCONCEPTION:
            yield from _misconception_violations(entries[one.name].fails, one)
            yield from _naming_violations(one, _declared_names(entries, one.name))
        else:
            yield from (f"{one.name} is right and fails {check}." for check in one.failed)
    yield from _gaps(exercise, tried)
    yield from (
        f"The reference calls {name}, which the exercise forbids." for name in _forbidden_calls(exercise)
    )


def _stub_violations(exercise: Exercise, stub: Tried) -> Iterator[str]:
    worth = {check.name for check in exercise.checks if check.points}
    yield from (f"The stub passes {name}, which gives points." for name in stub.passed if name in worth)


def _misconception_violations(declared: frozenset[str], one: Tried) -> Iterator[str]:
    for check in sorted(declared.intersection(one.passed)):
        sometimes = " with some seeds" if check in one.failed else ""
        yield f"{one.name} is declared to fail {check} and passes it{sometimes}."
    for check in sorted(set(one.failed) - declared):
        yield f"{one.name} fails {check}, which is not declared."


def _declared_names(entries: dict[str, Any], name: str) -> set[str]:
    """The misconception itself and those declared equal to it, from either side."""
    return {name} | entries[name].equals | {other.name for other in entries.values() if name in other.equals}


def _naming_violations(one: Tried, declared: set[str]) -> Iterator[str]:
    for name in sorted(declared - set(one.named)):
        also = "" if name == one.name else f" as {name}, which is declared equal"
        yield f"{one.name} is not named by the diagnosis{also}."
    yield from (
        f"{one.name} is also named {name}, which is not declared equal."
        for name in one.named
        if name not in declared
    )


def _gaps(exercise: Exercise, tried: Sequence[Tried]) -> Iterator[str]:
    wrong = [one for one in tried if one.kind == MISCONCEPTION]
    for check in exercise.checks:
        if not any(check.name in one.failed for one in wrong):
            yield f"No wrong solution fails {check.name}: it proves nothing."
    if not any(one.kind == ALTERNATIVE for one in tried):
        yield f"{exercise.name} has no alternative solution."


def _forbidden_calls(exercise: Exercise) -> Iterator[str]:
    tree = ast.parse(exercise.solution)
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return (name for name in exercise.forbids if name in called)
