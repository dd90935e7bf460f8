"""The proof of a homework's checks: right solutions pass, wrong ones fail as declared and get their names."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from autograder.catalogue import Misconception
from autograder.checking import rules
from autograder.checking.diagnosis import diagnosis
from autograder.checking.examine import Examined, run_checks
from autograder.checking.fingerprints import answers, shipped
from autograder.checking.versions import made_from
from autograder.proving.proof import ALTERNATIVE, CONSTANT, MISCONCEPTION, REFERENCE, STUB, Kind, Proof, Tried
from autograder.source.homework import (
    COULD_NOT_RUN,
    FAILED,
    PASSED,
    Exercise,
    HomeworkSource,
    Result,
    references,
    stubs,
)
from autograder.source.loading import load
from course.checks import LocalLink, Trace
from course.checks.diagnosis import candidates as recognised
from course.checks.fingerprints import Fingerprint, known
from course.checks.seal import bears
from course.checks.source import forbidden_in

SEEDS = (1, 2, 3)

# What a function returns that ignores its input, or whose `return` is forgotten: no claim may hold for it.
CONSTANTS: tuple[object, ...] = (None, 0.0, 1.0, "", [])


REBUILD = "remove its file in course/checks/fingerprints and run `autograder build`"
PATIENCE = 60.0  # seconds for one misconception: a busy machine is no reason to doubt it


class Candidate(NamedTuple):
    """A solution to try on an exercise."""

    name: str
    kind: Kind
    thing: Any


def verify(
    folders: Sequence[Path], *, jobs: int | None = None, seeds: Sequence[int] = SEEDS
) -> Iterator[Proof]:
    """A proof of every exercise of the homeworks in these folders, in order, as they are finished."""
    _loaded.cache_clear()
    tasks = [
        (str(folder), exercise.name, tuple(seeds))
        for folder in folders
        for exercise in _loaded(str(folder)).exercises
    ]
    context = get_context("fork" if sys.platform == "linux" else "spawn")
    with ProcessPoolExecutor(jobs or os.cpu_count(), mp_context=context) as pool:
        yield from pool.map(_prove_task, tasks)


@cache
def _loaded(folder: str) -> HomeworkSource:
    """A homework, which the processes of the pool have from before they were forked."""
    return load(folder)


def _prove_task(task: tuple[str, str, tuple[int, ...]]) -> Proof:
    import torch

    torch.set_num_threads(1)  # the pool uses every core already
    folder, exercise, seeds = task
    homework = _loaded(folder)
    return prove(homework, homework.exercise(exercise), seeds)


def prove(homework: HomeworkSource, exercise: Exercise, seeds: Sequence[int] = SEEDS) -> Proof:
    """Try the stub, the reference and the whole catalogue of one exercise."""
    bench = _Bench(homework, exercise, seeds)
    candidates = list(bench.candidates())
    tried = tuple(bench.try_out(candidate) for candidate in candidates)
    problems = (
        *_violations(homework, exercise, tried),
        *_forbidden(exercise, candidates),
        *rules.violations(
            exercise, bench.references[exercise.name], lambda thing: bench.examine(thing, None, bench.visible)
        ),
        *(
            f"The student's package knows other answers to {name}: {REBUILD}."
            for name in bench.shipped_otherwise()
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
    )


class _Bench:
    """One exercise with everything that is tried on it; the rest of the homework is the reference's."""

    def __init__(self, homework: HomeworkSource, exercise: Exercise, seeds: Sequence[int]) -> None:
        self.homework, self.exercise, self.seeds = homework, exercise, seeds
        self.references = references(homework)
        self.scope = homework.namespace()
        self.misconceptions = [entry for entry in homework.misconceptions if entry.of == exercise.name]
        self.visible = {check.name for check in exercise.checks if not check.hidden}
        self.drawn = {check.name for check in exercise.checks if check.hidden or check.draws}
        self.own = self.examine(self.references[exercise.name], None, self.visible)
        self.wrong = {
            entry.name: self.examine(entry.thing, None, self.visible) for entry in self.misconceptions
        }
        self.fingerprints = {
            own.check.name: answers(
                exercise, {name: done[i] for name, done in self.wrong.items()}, own.trace, self.references
            )
            for i, own in enumerate(self.own)
        }

    def candidates(self) -> Iterator[Candidate]:
        name = self.exercise.name
        yield Candidate("the stub", STUB, stubs(self.homework)[name])
        for constant in CONSTANTS:
            yield Candidate(f"{constant!r} for every input", CONSTANT, _always(constant))
        yield Candidate("the reference", REFERENCE, self.references[name])
        for entry in self.homework.alternatives:
            if entry.of == name:
                yield Candidate(entry.name, ALTERNATIVE, entry.thing)
        for mistake in self.misconceptions:
            yield Candidate(mistake.name, MISCONCEPTION, mistake.thing)

    def try_out(self, candidate: Candidate) -> Tried:
        """All checks as in the notebook, then with several seeds those whose inputs a seed changes.

        What a mistake is declared to fail is what students see, and the hidden checks with every seed.
        """
        visible = self.look(candidate)
        drawn = [self.examine(candidate.thing, seed, self.drawn) for seed in self.seeds if self.drawn]
        again = [entry for run in drawn for entry in run]
        if candidate.kind == MISCONCEPTION:
            again = [entry for entry in again if entry.check.hidden]
        done = [*visible, *again]
        tried = Tried(
            candidate.name,
            candidate.kind,
            failed=_with_result(FAILED, done),
            passed=_with_result(PASSED, done),
            broken=_with_result(COULD_NOT_RUN, done),
        )
        return tried if candidate.kind != MISCONCEPTION else self.named(tried, visible, drawn)

    def look(self, candidate: Candidate) -> list[Examined]:
        """The visible checks, which the reference and the misconceptions have been through already."""
        if candidate.kind == REFERENCE:
            return self.own
        if candidate.kind == MISCONCEPTION:
            return self.wrong[candidate.name]
        return self.examine(candidate.thing, None, self.visible)

    def examine(self, thing: Any, seed: int | None, names: set[str]) -> list[Examined]:
        link = LocalLink(self.things(thing))
        return run_checks(self.homework, link, seed, only=names, scope=self.scope)

    def named(self, tried: Tried, visible: list[Examined], drawn: list[list[Examined]]) -> Tried:
        """What the grader calls it with each seed, and what the student's package does, which sees less."""
        traces = [done.trace for done in visible if done.check.name not in self.drawn]
        alike = self.diagnosis(traces, self.misconceptions)
        possible = [entry for entry in self.misconceptions if entry.name in alike] or self.misconceptions
        runs = [self.diagnosis([*traces, *(done.trace for done in run)], possible) for run in drawn or [[]]]
        return replace(
            tried,
            named=tuple(name for name in runs[0] if all(name in run for run in runs)),
            named_sometimes=tuple(sorted({name for run in runs for name in run})),
            named_in_notebook=self.named_in_notebook(visible),
        )

    def diagnosis(self, traces: list[Trace], entries: list[Misconception]) -> tuple[str, ...]:
        return diagnosis(traces, entries, self.references, seconds=PATIENCE)

    def named_in_notebook(self, visible: list[Examined]) -> tuple[str, ...]:
        traces = {done.check.name: done.trace for done in visible}
        failed = {done.check.name for done in visible if done.result == FAILED}
        answers_to = {name: found.wrong for name, found in self.fingerprints.items()}
        return tuple(recognised(traces, failed, answers_to)) if failed else ()

    def shipped_otherwise(self) -> Iterator[str]:
        """The checks to which the student's package, as built from all this, knows other answers."""
        package = shipped(self.homework.folder.parents[1], self.homework.name)
        about = package.get("exercises", {}).get(self.exercise.name, {})
        if about.get("made_from") != made_from(self.homework)[self.exercise.name]:
            return  # `autograder build` is still to come
        for i, own in enumerate(self.own):
            there = known(package["checks"][own.check.name])
            here = self.fingerprints[own.check.name].wrong
            runs = {name: done[i].trace for name, done in self.wrong.items()}
            if there.keys() != here.keys() or not all(
                _is_written(there[name], here[name], runs[name]) for name in here
            ):
                yield own.check.name

    def things(self, thing: Any) -> dict[str, Any]:
        return self.references | {self.exercise.name: thing}


def _is_written(there: Fingerprint, here: Fingerprint, run: Trace) -> bool:
    """Whether one fingerprint says of this run what the other does; processors round differently."""
    alike = [one.is_right for one in there] == [one.is_right for one in here]
    return alike and all(
        bears(event.outcome, one.seal) for event, one in zip(run.events, there, strict=False)
    )


def _always(constant: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: constant


def _with_result(result: Result, done: Sequence[Examined]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entry.check.name for entry in done if entry.result == result))


def _violations(homework: HomeworkSource, exercise: Exercise, tried: Sequence[Tried]) -> Iterator[str]:
    entries = {entry.name: entry for entry in homework.misconceptions if entry.of == exercise.name}
    for one in tried:
        yield from (f"{check} could not run on {one.name}." for check in one.broken)
        if one.kind in (STUB, CONSTANT):
            yield from _undeserved_points(exercise, one)
        elif one.kind == MISCONCEPTION:
            yield from _misconception_violations(entries[one.name].fails, one)
            yield from _naming_violations(one, _declared_names(entries, one.name))
        else:
            yield from (f"{one.name} is right and fails {check}." for check in one.failed)
    yield from _gaps(exercise, tried)


def _undeserved_points(exercise: Exercise, one: Tried) -> Iterator[str]:
    worth = {check.name for check in exercise.checks if check.points}
    yield from (f"{one.name} passes {name}, which gives points." for name in one.passed if name in worth)


def _misconception_violations(declared: frozenset[str], one: Tried) -> Iterator[str]:
    for check in sorted(declared.intersection(one.passed)):
        sometimes = " with some seeds" if check in one.failed else ""
        yield f"{one.name} is declared to fail {check} and passes it{sometimes}."
    undeclared = [check for check in one.failed if check not in declared]
    if undeclared:
        yield f"{one.name} also fails {', '.join(undeclared)}, which is not declared."


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
            yield f"No wrong solution fails {check.name}: it proves nothing."
    if not any(one.kind == ALTERNATIVE for one in tried):
        yield f"{exercise.name} has no alternative solution."


def _forbidden(exercise: Exercise, candidates: Sequence[Candidate]) -> Iterator[str]:
    """Right solutions must keep the exercise's own rule."""
    for candidate in candidates:
        if candidate.kind in (REFERENCE, ALTERNATIVE):
            for use in forbidden_in(candidate.thing, exercise.forbids, exercise.allows):
                yield f"{candidate.name} uses {use.name} in line {use.line}, which the exercise forbids."
