"""Try wrong solutions that are not in the catalogue: do the checks catch them, and name them correctly?

Strangers are the mutants of the reference, the reference that repeats its first answer (`first_answers`), and
the solutions in a folder `strangers` of a homework. If a stranger is given the name of a mistake, the name is
true if the stranger answers as that mistake does on inputs drawn with many seeds, and false otherwise.
"""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from autograder.checking.examine import Examined
from autograder.checking.matching import TooSlow, time_limit
from autograder.proving.first_answers import NAME, has_data, repeating_first
from autograder.proving.mutants import Mutant, mutants
from autograder.source.homework import FAILED, Exercise, HomeworkSource, completed
from autograder.source.packages import stranger_modules
from course.checks import Trace
from course.checks.diagnosis import answers_as

SECONDS = 10.0  # of processor time for the checks of one mutant
MANY_SEEDS = range(1, 21)
MARK = "__stranger__"

Fate = Literal["visible", "hidden", "by luck", "uncaught", "equivalent"]
VISIBLE: Fate = "visible"  # a check that students see catches it
HIDDEN: Fate = "hidden"  # only hidden checks do, with every seed
BY_LUCK: Fate = "by luck"  # only hidden checks do, and not with every seed
UNCAUGHT: Fate = "uncaught"
EQUIVALENT: Fate = "equivalent"  # uncaught, and judged to be no mistake


@dataclass(frozen=True)
class Stranger:
    """A wrong solution, whether it was caught, and the mistakes it was named as."""

    name: str  # for a mutant, its change
    fate: Fate
    named: tuple[str, ...] = ()
    false: tuple[str, ...] = ()  # those of its names that are not true
    reason: str = ""  # why it is judged to be equivalent


@dataclass(frozen=True)
class Known:
    """Which names would be true of a solution that somebody wrote by hand."""

    of: str
    may_be: frozenset[str]


def stranger(*, of: str, may_be: Iterable[str] = ()) -> Callable[[Any], Any]:
    """Mark a wrong solution that is not in the catalogue; `may_be` are names that would be true of it."""

    def mark(thing: Any) -> Any:
        setattr(thing, MARK, Known(of, frozenset(may_be)))
        return thing

    return mark


def by_hand(folder: Path, exercise: str) -> dict[str, Any]:
    """Name → solution, for the strangers of this exercise in a homework's folder."""
    things = [thing for module in stranger_modules(folder) for thing in vars(module).values()]
    marked = [thing for thing in things if isinstance(getattr(thing, MARK, None), Known)]
    return {thing.__name__: thing for thing in marked if getattr(thing, MARK).of == exercise}


def judged(folder: Path) -> Mapping[str, Mapping[str, str]]:
    """Exercise → change of a mutant → why it is not a mistake; from `strangers/equivalent.toml`."""
    path = folder / "strangers" / "equivalent.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


class Mutator:
    """Makes the mutants of a homework's references, each in a namespace of its own."""

    def __init__(self, homework: HomeworkSource) -> None:
        self.scope = completed(homework)

    def made(self, mutant: Mutant) -> Any:
        """The function or class of a mutant; an error in its definition is raised when it is used."""
        scope = dict(self.scope)
        try:
            exec(compile(mutant.source, f"<a mutant of {mutant.exercise}>", "exec"), scope)
        except Exception as problem:
            return _raising(problem)
        return scope[mutant.exercise]


def _raising(problem: Exception) -> Callable[..., Any]:
    def use(*args: Any, **kwargs: Any) -> Any:
        raise problem

    return use


@dataclass(frozen=True)
class Trial:
    """What is tried on the strangers of one exercise."""

    visible: Callable[[Any], Sequence[Examined]]
    drawn: Callable[[Any, int], Sequence[Examined]]  # with a seed; the hidden checks, and others that draw
    names: Callable[[Sequence[Examined]], Sequence[str]]  # that are spoken after the visible checks
    replayed: Callable[[Trace, str | None], Trace]  # on the mistake of a name, or on the reference

    def met(self, name: str, thing: Any, is_true: Callable[[str], bool] | None = None) -> Stranger:
        """Try a stranger: whether it is caught, and the mistakes it is named as."""
        try:
            with time_limit(SECONDS), contextlib.redirect_stdout(None):
                seen = self.visible(thing)
        except TooSlow:
            return Stranger(name, VISIBLE)
        if any(one.result == FAILED for one in seen):
            named = tuple(self.names(seen))
            is_true = is_true or (lambda other: self.is_alike(thing, seen, other))
            false = () if any(map(is_true, named)) else named
            return Stranger(name, VISIBLE, named, false)
        caught = [self.is_caught(thing, seed) for seed in MANY_SEEDS]
        return Stranger(name, HIDDEN if all(caught) else BY_LUCK if any(caught) else UNCAUGHT)

    def is_caught(self, thing: Any, seed: int) -> bool:
        """Whether a hidden check fails with this seed."""
        try:
            with time_limit(SECONDS), contextlib.redirect_stdout(None):
                return any(one.result == FAILED for one in self.drawn(thing, seed) if one.check.hidden)
        except TooSlow:
            return True

    def is_alike(self, thing: Any, seen: Sequence[Examined], name: str) -> bool:
        """Whether a stranger answers every call as the mistake of this name does."""
        for seed in (None, *MANY_SEEDS):
            try:
                with time_limit(SECONDS), contextlib.redirect_stdout(None):
                    done = seen if seed is None else self.drawn(thing, seed)
                    traces = [one.trace for one in done]
                    if not all(self._answers_as(trace, name) for trace in traces):
                        return False
            except TooSlow:
                return False
        return True

    def _answers_as(self, trace: Trace, name: str) -> bool:
        right = self.replayed(trace, None)
        return answers_as([trace], [self.replayed(trace, name)], [right])


def strangers(homework: HomeworkSource, exercise: Exercise, trial: Trial, most: int) -> Iterator[Stranger]:
    """Try the strangers of an exercise: those written by hand, and at most `most` mutants."""
    for name, thing in by_hand(homework.folder, exercise.name).items():
        yield trial.met(name, thing, getattr(thing, MARK).may_be.__contains__)
    if exercise.trained:
        return
    reasons = judged(homework.folder).get(exercise.name, {})
    mutator = Mutator(homework)
    for mutant in mutants(exercise.name, exercise.solution, most):
        met = trial.met(mutant.change, mutator.made(mutant))
        reason = reasons.get(mutant.change, "")
        yield met if not reason or met.fate != UNCAUGHT else Stranger(met.name, EQUIVALENT, reason=reason)
    if most:
        yield from _repeating(mutator.scope[exercise.name], trial)


def _repeating(reference: Any, trial: Trial) -> Iterator[Stranger]:
    """The reference that repeats its first answer, unless all that claims ask with are settings."""
    if (thing := repeating_first(reference)) is None:
        return
    asked = [event for one in trial.visible(thing) for event in one.trace.events]
    if any(has_data(event.args, event.kwargs) for event in asked):
        yield trial.met(NAME, repeating_first(reference))


def violations(homework: HomeworkSource, exercise: Exercise, met: Iterable[Stranger]) -> Iterator[str]:
    """A sentence for each stranger written by hand that is not always caught, or is given a false name."""
    hands = by_hand(homework.folder, exercise.name)
    for one in met:
        if one.name in hands and one.false:
            yield f"{one.name} is named {' or '.join(one.false)}, which is false."
        if one.name in hands and one.fate in (UNCAUGHT, BY_LUCK):
            yield f"{one.name} is wrong, and the checks do not always catch it."
