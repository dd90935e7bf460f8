"""An exercise with everything that is tried on it, as the test of its checks needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from autograder.catalogue import Misconception
from autograder.checking.examine import Examined, run_checks
from autograder.checking.fingerprints import answers, shipped
from autograder.checking.matching import REFERENCE as THE_REFERENCE
from autograder.checking.matching import Runs, diagnosis, known_answers
from autograder.proving.proof import (
    ALTERNATIVE,
    CONSTANT,
    MISCONCEPTION,
    REFERENCE,
    STUB,
    Kind,
    Tried,
    Undecided,
)
from autograder.proving.strangers import Trial
from autograder.source.homework import (
    COULD_NOT_RUN,
    FAILED,
    PASSED,
    WITH_ITS_MISTAKES,
    Exercise,
    HomeworkSource,
    Result,
    references,
    stubs,
)
from course.checks import LocalLink, Trace, replay
from course.checks.diagnosis import candidates as recognised
from course.checks.diagnosis import spoken
from course.checks.fingerprints import BY_CHANCE, Fingerprint, has_answer, known

# What a function returns that ignores its input, or whose `return` is forgotten: no claim may hold for it.
CONSTANTS: tuple[object, ...] = (None, 0.0, 1.0, "", [])

PATIENCE = 60.0  # seconds for one misconception: a busy machine is no reason to doubt it


class Candidate(NamedTuple):
    """A solution to try on an exercise."""

    name: str
    kind: Kind
    thing: Any


class Bench:
    """One exercise with everything that is tried on it; the other answers are the reference's."""

    def __init__(self, homework: HomeworkSource, exercise: Exercise, seeds: Sequence[int]) -> None:
        self.homework, self.exercise, self.seeds = homework, exercise, seeds
        self.references = references(homework)
        self.scope = homework.namespace()
        self.misconceptions = [entry for entry in homework.misconceptions if entry.of == exercise.name]
        self.visible = {check.name for check in exercise.checks if not check.hidden}
        self.drawn = {check.name for check in exercise.checks if check.hidden or check.draws}
        self._own_runs: dict[int, dict[str, list[Examined]]] = {}
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
        """Run the visible checks as in the notebook, then all checks that draw their inputs, with every seed.

        How well a wrong model is trained is chance: then only hidden checks count with other seeds.
        """
        visible = self.look(candidate)
        drawn = [self.draw(candidate, seed) for seed in self.seeds if self.drawn]
        by_chance = candidate.kind == MISCONCEPTION and self.exercise.trained == WITH_ITS_MISTAKES
        counted = [[entry for entry in run if entry.check.hidden or not by_chance] for run in drawn]
        done = [*visible, *(entry for run in counted for entry in run)]
        tried = Tried(
            candidate.name,
            candidate.kind,
            failed=_with_result(FAILED, done),
            passed=_with_result(PASSED, done),
            undecided=tuple(_undecided(visible, dict(zip(self.seeds, counted, strict=False)))),
            broken=_with_result(COULD_NOT_RUN, done),
            noted=tuple(dict.fromkeys(entry.check.name for entry in done if entry.note)),
        )
        return tried if candidate.kind != MISCONCEPTION else self.named(tried, visible, drawn)

    def look(self, candidate: Candidate) -> list[Examined]:
        """The results of the visible checks, which the reference and the misconceptions have already run."""
        if candidate.kind == REFERENCE:
            return self.own
        if candidate.kind == MISCONCEPTION:
            return self.wrong[candidate.name]
        return self.examine(candidate.thing, None, self.visible)

    def draw(self, candidate: Candidate, seed: int) -> list[Examined]:
        """The results of the drawn checks; those of the reference and the misconceptions are kept."""
        if candidate.kind == REFERENCE:
            return self.own_runs(seed)[THE_REFERENCE]
        if candidate.kind == MISCONCEPTION:
            return self.own_runs(seed)[candidate.name]
        return self.examine(candidate.thing, seed, self.drawn)

    def own_runs(self, seed: int) -> dict[str, list[Examined]]:
        """The results of the reference and of every misconception on the drawn checks, with one seed."""
        if seed not in self._own_runs:
            things = {THE_REFERENCE: self.references[self.exercise.name]}
            things |= {entry.name: entry.thing for entry in self.misconceptions}
            self._own_runs[seed] = {
                name: self.examine(thing, seed, self.drawn) for name, thing in things.items()
            }
        return self._own_runs[seed]

    def runs(self, seed: int | None) -> Runs:
        """The answers of the reference and of every misconception, as in the notebook and with this seed."""
        done = {THE_REFERENCE: self.own, **self.wrong}
        anew = self.own_runs(seed) if seed is not None else {}
        return {
            name: {one.check.name: one.trace for one in (*visible, *anew.get(name, ()))}
            for name, visible in done.items()
        }

    def examine(self, thing: Any, seed: int | None, names: set[str]) -> list[Examined]:
        link = LocalLink(self.things(thing))
        return run_checks(self.homework, link, seed, only=names, scope=self.scope)

    def named(self, tried: Tried, visible: list[Examined], drawn: list[list[Examined]]) -> Tried:
        """Add the names that the grader gives it, and those of the student's package, which sees less."""
        traces = [done.trace for done in visible if done.check.name not in self.drawn]
        alike = self.diagnosis(traces, self.misconceptions, None)
        possible = [entry for entry in self.misconceptions if entry.name in alike] or self.misconceptions
        seeds: Sequence[int | None] = self.seeds if drawn else [None]
        runs = [
            self.diagnosis([*traces, *(done.trace for done in run)], possible, seed)
            for seed, run in zip(seeds, drawn or [[]], strict=True)
        ]
        return replace(
            tried,
            named=tuple(name for name in runs[0] if all(name in run for run in runs)),
            named_sometimes=tuple(sorted({name for run in runs for name in run})),
            named_in_notebook=self.named_in_notebook(visible),
        )

    def diagnosis(
        self, traces: list[Trace], entries: list[Misconception], seed: int | None
    ) -> tuple[str, ...]:
        runs = self.runs(seed)
        return diagnosis(traces, entries, self.references, seconds=PATIENCE, runs=runs)

    def named_in_notebook(self, visible: Sequence[Examined]) -> tuple[str, ...]:
        """The mistakes named after the visible checks, from their fingerprints alone."""
        traces = {done.check.name: done.trace for done in visible}
        failed = {done.check.name for done in visible if done.result == FAILED}
        answers_to = {name: found.wrong for name, found in self.fingerprints.items()}
        names = recognised(traces, failed, answers_to) if failed else ()
        about = {
            entry.name: {"diagnosis": entry.diagnosis, "question": entry.question}
            for entry in self.misconceptions
        }
        return tuple(names) if spoken(names, about) else ()

    def trial(self) -> Trial:
        """What is tried on strangers; a mistake whose name they are given gets the same calls."""
        mistakes = {entry.name: entry.thing for entry in self.misconceptions}
        right = self.references[self.exercise.name]
        return Trial(
            visible=lambda thing: self.examine(thing, None, self.visible),
            drawn=lambda thing, seed: self.examine(thing, seed, self.drawn),
            names=self.named_in_notebook,
            replayed=lambda trace, name: replay(trace, self.things(mistakes[name] if name else right)),
        )

    def sealed_as_right(self) -> Iterator[str]:
        """The mistakes whose seals right answers bear in every visible check that tells them apart."""
        if self.exercise.trained:
            return
        for name, done in self.wrong.items():
            recorded = [
                (known_answers(one.trace, own.trace), self.fingerprints[own.check.name].wrong[name])
                for one, own in zip(done, self.own, strict=True)
                if name in self.fingerprints[own.check.name].wrong
            ]
            if recorded and all(_bears_all(right, fingerprint) for right, fingerprint in recorded):
                yield name

    def shipped_otherwise(self, digest: str) -> Iterator[str]:
        """The checks whose answers in the student's package differ, although it was built from this code."""
        package = shipped(self.homework.folder.parents[1], self.homework.name)
        about = package.get("exercises", {}).get(self.exercise.name, {})
        if about.get("made_from") != digest:
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
    """Whether two fingerprints agree about this run, even if they were made with different rounding."""
    alike = [one.is_right for one in there] == [one.is_right for one in here]
    return alike and all(has_answer(event, one) for event, one in zip(run.events, there, strict=False))


def _bears_all(right: Trace | None, fingerprint: Fingerprint) -> bool:
    """Whether right code, asked the same, gave all these answers, none of which is left to chance."""
    is_by_chance = any(one.seal == BY_CHANCE for one in fingerprint)
    return right is not None and not is_by_chance and all(map(has_answer, right.events, fingerprint))


def _undecided(visible: Sequence[Examined], drawn: Mapping[int, Sequence[Examined]]) -> Iterator[Undecided]:
    """The checks that pass with some draws and fail with others."""
    done = [*visible, *(entry for run in drawn.values() for entry in run)]
    passed = _with_result(PASSED, done)
    for check in _with_result(FAILED, done):
        if check in passed:
            seeds = tuple(seed for seed, run in drawn.items() if check in _with_result(PASSED, run))
            yield Undecided(check, check in _with_result(PASSED, visible), seeds)


def _always(constant: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: constant


def _with_result(result: Result, done: Sequence[Examined]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entry.check.name for entry in done if entry.result == result))
