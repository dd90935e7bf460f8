"""The verdict on one submission: the student's code runs in the sandbox, the checks run here.

First all cells of the student run, then the visible checks, then the hidden ones; from the first hidden
input on, nothing that the student's code says is shown to anybody. The marks follow from what is found here
and from nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from autograder.autograded import error, stream
from autograder.diagnosis import diagnosis
from autograder.examine import COULD_NOT_RUN, FAILED, PASSED, Examined, run_check
from autograder.homework import Check, Exercise
from autograder.isolation import CellResult
from autograder.isolation.limits import in_words
from autograder.isolation.student import Student
from autograder.markup import harmless_pictures, plain_text
from autograder.plan import Plan
from autograder.records import CheckRecord, ExerciseRecord
from autograder.redaction import quiet, redacted
from autograder.repair import Repaired, RepairedCell
from autograder.standin import Cell, RemoteLink, Sitting
from course.checks import Trace, forbidden_uses
from course.checks.check import values
from course.checks.explain import sentence
from course.checks.forbidden import Use

LONGEST_MESSAGE = 2_000
OUT_OF_MEMORY = re.compile(r"raised MemoryError|can't allocate memory")
MOST_DEATHS_PER_EXERCISE = 2  # after which its other checks are not tried


@dataclass(frozen=True)
class Judgement:
    """What was found out about one submission; `outputs` are those of the student's cells, by position."""

    exercises: tuple[ExerciseRecord, ...]
    flags: tuple[str, ...]
    outputs: Mapping[int, list[dict]]


@dataclass
class Judge:
    """One submission on trial."""

    plan: Plan
    submission: Repaired
    sitting: Sitting
    seed: int
    kept: Mapping[str, ExerciseRecord] = field(default_factory=dict)  # exercises that need no new verdict
    faults: dict[str, str] = field(default_factory=dict)  # answer cell → what went wrong while it ran
    outputs: dict[int, list[dict]] = field(default_factory=dict)
    examined: dict[str, list[Examined]] = field(default_factory=dict)
    deaths: dict[str, list[str]] = field(default_factory=dict)  # exercise → what became of its processes

    def judge(self) -> Judgement:
        """Run everything, in the order that keeps hidden inputs from being told."""
        self.run_cells()
        due = [entry for entry in self.plan.homework.exercises if entry.name not in self.kept]
        defined = self.sitting.defined([exercise.name for exercise in due])
        for hidden in (False, True):
            for exercise in due:
                self.examine(exercise, hidden, exercise.name in defined)
        records = tuple(self.record(exercise) for exercise in self.plan.homework.exercises)
        return Judgement(records, tuple(self.flags(records)), self.outputs)

    def run_cells(self) -> None:
        """Run all cells but the checks; a failing cell costs what it defines and no more."""
        for position, cell in enumerate(self.submission.cells):
            if not _runs(cell):
                continue
            name = cell.of.name if cell.of else f"own cell {position}"
            before = len(self.sitting.deaths)
            result = self.sitting.run(Cell(cell.source, name))
            self.outputs[position] = outputs_of(result)
            if result.error is not None and cell.of is not None:
                died = self.sitting.deaths[before:]
                fault = died[-1] if died else f"stopped with {result.error.sentence()}"
                self.faults |= dict.fromkeys(cell.of.defines, fault)

    def examine(self, exercise: Exercise, hidden: bool, is_defined: bool) -> None:
        """Run the exercise's visible or hidden checks."""
        obstacle = self.obstacle(exercise, is_defined)
        if obstacle is None:
            self.sitting.forbid(exercise.forbids if self.plan.forbidden_costs_points else ())
        for check in (check for check in exercise.checks if check.hidden is hidden):
            reason = obstacle or self.exhausted(exercise)
            tried = Examined(check, FAILED, reason, Trace(check.name)) if reason else self.tried(check)
            self.examined.setdefault(exercise.name, []).append(tried)

    def tried(self, check: Check) -> Examined:
        """Run one check; what happened to the student's process meanwhile is remembered with its exercise."""
        before = len(self.sitting.deaths)
        done = run_check(self.plan.homework, check, RemoteLink(self.sitting), self.seed, self.plan.scope)
        if check.hidden:
            self.sitting.deaths[before:] = map(quiet, self.sitting.deaths[before:])
        deaths = self.sitting.deaths[before:]
        self.deaths.setdefault(check.exercise, []).extend(deaths)
        if done.result == PASSED:
            return done
        if not check.hidden:
            return done._replace(message=in_full(done) + self.limit_of(done))
        if done.result == COULD_NOT_RUN:
            return done._replace(message=f"The check {check.name} could not run.")
        return done._replace(message=redacted(check, done.trace, deaths[-1] if deaths else None))

    def obstacle(self, exercise: Exercise, is_defined: bool) -> str | None:
        """Why the checks of an exercise need not be run at all."""
        if not is_defined:
            fault = self.faults.get(exercise.name)
            return f"`{exercise.name}` is not defined" + (f": its cell {fault}." if fault else ".")
        uses = self.forbidden_uses(exercise)
        if uses and self.plan.forbidden_costs_points:
            return f"{uses[0]} This exercise asks you to write it yourself."
        return None

    def limit_of(self, done: Examined) -> str:
        """The limit that an error of Python's own or torch's is about, where it is about one."""
        if not OUT_OF_MEMORY.search(done.message):
            return ""
        return f" A submission may use {in_words(self.plan.limits.memory_bytes)} of memory."

    def exhausted(self, exercise: Exercise) -> str | None:
        """What the exercise's code did to its process, once it has done so too often."""
        deaths = self.deaths.get(exercise.name, [])
        if len(deaths) < MOST_DEATHS_PER_EXERCISE:
            return None
        return f"Not tried: `{exercise.name}` {deaths[-1]} in {len(deaths)} checks before."

    def forbidden_uses(self, exercise: Exercise) -> list[str]:
        """A sentence for each forbidden name that the answer's text uses."""
        return [
            f"`{exercise.name}` uses `{use.name}` in line {use.line}." for use in self.uses[exercise.name]
        ]

    @cached_property
    def uses(self) -> dict[str, list[Use]]:
        """The forbidden names used in each answer."""
        return {
            exercise.name: forbidden_uses(self.submission.cell(exercise.name).source, exercise.forbids)
            for exercise in self.plan.homework.exercises
        }

    def record(self, exercise: Exercise) -> ExerciseRecord:
        """What is kept of an exercise: points for the checks that passed, the names of its mistakes."""
        if exercise.name in self.kept:
            return self.kept[exercise.name]
        done = self.examined[exercise.name]
        failed = any(entry.result == FAILED for entry in done)
        entries = [entry for entry in self.plan.homework.misconceptions if entry.of == exercise.name]
        traces = [entry.trace for entry in sorted(done, key=lambda entry: entry.result != FAILED)]
        return ExerciseRecord(
            name=exercise.name,
            points=sum(entry.check.points for entry in done if entry.result == PASSED),
            max_points=exercise.points,
            diagnosis=diagnosis(traces, entries, self.plan.references) if failed else (),
            checks=tuple(_check_record(entry) for entry in _in_notebook_order(exercise, done)),
        )

    def flags(self, records: Sequence[ExerciseRecord]) -> list[str]:
        """What a person should look at."""
        flags = [use for exercise in self.plan.homework.exercises for use in self.forbidden_uses(exercise)]
        broken = [
            check.name for record in records for check in record.checks if check.result == COULD_NOT_RUN
        ]
        if broken:
            flags.append(f"Could not be run, and counted as nothing yet: {', '.join(broken)}.")
        if self.sitting.deaths:
            flags.append(f"The process running the code {'; '.join(dict.fromkeys(self.sitting.deaths))}.")
        return flags


def judge(
    plan: Plan,
    submission: Repaired,
    start: Callable[[], Student],
    seed: int,
    kept: Mapping[str, ExerciseRecord] | None = None,
) -> Judgement:
    """The verdict on a rebuilt submission; `start` gives fresh sandboxed processes.

    kept: verdicts that still hold; their exercises are not examined again.
    """
    sitting = Sitting(start, plan.limits, plan.guarded)
    try:
        return Judge(plan, submission, sitting, seed, kept or {}).judge()
    finally:
        sitting.close()


def _runs(cell: RepairedCell) -> bool:
    """Whether a cell runs in the student's process; a restored stub would undo an answer elsewhere."""
    if cell.kind != "code" or cell.role == "check":
        return False
    return not (cell.role == "answer" and cell.restored)


def outputs_of(result: CellResult) -> list[dict]:
    """A cell's outputs as notebook outputs: text and pictures only."""
    outputs = [stream(result.output)] if result.output else []
    for display in result.displays:
        data = {"text/plain": plain_text(str(display.get("text/plain", "")), limit=LONGEST_MESSAGE)}
        data |= harmless_pictures(display)
        outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
    if result.error is not None:
        outputs.append(error(plain_text(result.error.class_name, limit=100), result.error.sentence()))
    return outputs


def _in_notebook_order(exercise: Exercise, done: Sequence[Examined]) -> list[Examined]:
    order = {check.name: place for place, check in enumerate(exercise.checks)}
    return sorted(done, key=lambda entry: order[entry.check.name])


def in_full(done: Examined) -> str:
    """A visible check's message: what was received and expected, briefly, and in which way they differ."""
    pair = zip(("received", "expected"), values(done.problem), strict=True)
    lines = [f"{name}: {value}" for name, value in pair if value]
    return "\n".join([*lines, sentence(done.message)])


def _check_record(done: Examined) -> CheckRecord:
    message = plain_text(done.message, limit=LONGEST_MESSAGE)
    return CheckRecord(done.check.name, done.check.hidden, done.result, message)
