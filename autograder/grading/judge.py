"""The verdict on one submission: the student's code runs in the sandbox, the checks run here.

First all cells of the student run, then the visible checks, then the hidden ones; from the first hidden
input on, nothing that the student's code says is shown to anybody. The marks follow from what is found here
and from nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from autograder.catalogue import Misconception
from autograder.checking.examine import Examined, run_check
from autograder.checking.matching import diagnosis
from autograder.grading.outputs import Outputs
from autograder.grading.plan import Plan
from autograder.grading.points import paid, points_of
from autograder.grading.redaction import ENDED, is_not_written, not_tried, redacted
from autograder.grading.second_judging import judged_again
from autograder.grading.standin import Cell, RemoteLink, Sitting
from autograder.isolation.forbidden import PROVIDED
from autograder.isolation.limits import in_words
from autograder.isolation.student import Student
from autograder.marks.records import CheckRecord, ExerciseRecord
from autograder.markup import plain_text
from autograder.source.homework import COULD_NOT_RUN, FAILED, PASSED, Check, Exercise
from autograder.submissions.own_work import OwnWork
from autograder.submissions.repair import Repaired, RepairedCell
from course.checks import NotWritten, Trace, Unreachable
from course.checks.check import values
from course.checks.explain import sentence
from course.language import ENGLISH, Language, joined, say

LONGEST_MESSAGE = 2_000
DRAWN_ANEW = say("These inputs were drawn for grading; your notebook draws others.")
OUT_OF_MEMORY = re.compile(r"raised MemoryError|can't allocate memory")
MOST_DEATHS_PER_EXERCISE = 2  # after which its other checks are not tried


@dataclass(frozen=True)
class Judgement:
    """The findings about one submission; `outputs` are those of the student's cells, by position."""

    exercises: tuple[ExerciseRecord, ...]
    flags: tuple[str, ...]
    outputs: Mapping[int, list[dict]]


@dataclass
class Judge:
    """Judges one submission."""

    plan: Plan
    submission: Repaired
    sitting: Sitting
    seed: int | None  # None draws as the notebook does
    kept: Mapping[str, ExerciseRecord] = field(default_factory=dict)  # exercises that need no new verdict
    faults: dict[str, str] = field(default_factory=dict)  # answer cell → what went wrong while it ran
    outputs: dict[int, list[dict]] = field(default_factory=dict)
    ran: set[int] = field(default_factory=set)  # the cells that ran to their end
    shown: Outputs = field(default_factory=Outputs)
    examined: dict[str, list[Examined]] = field(default_factory=dict)
    deaths: dict[str, list[str]] = field(default_factory=dict)  # exercise → how its processes ended
    ends: list[str] = field(default_factory=list)  # how processes ended before the first hidden check
    ended: Counter[str] = field(default_factory=Counter)  # exercise → how many ended in hidden checks
    answered: dict[str, tuple[str, ...]] = field(default_factory=dict)  # exercise → parts judged as right
    language: Language = ENGLISH  # of the student

    def judge(self) -> Judgement:
        """Run everything, in the order that keeps hidden inputs from leaking."""
        self.run_cells()
        due = [entry for entry in self.plan.homework.exercises if entry.name not in self.kept]
        defined = self.sitting.defined([exercise.name for exercise in due])
        for hidden in (False, True):
            for exercise in due:
                self.examine(exercise, hidden, exercise.name in defined)
            if not hidden:
                self.ends = list(self.sitting.deaths)
        again = judged_again(self, due)
        self.examined |= again.verdicts
        self.answered |= again.answered
        records = tuple(self.record(exercise) for exercise in self.plan.homework.exercises)
        return Judgement(records, tuple(self.flags(records)), self.outputs)

    def anew(self, sitting: Sitting) -> Judge:
        """A new judge of the same submission, which has examined nothing yet and uses another session."""
        return replace(self, sitting=sitting, examined={}, deaths={}, ended=Counter())

    def run_cells(self) -> None:
        """Run all cells except the checks; a cell that fails costs only the answers that it defines."""
        for position, cell in enumerate(self.submission.cells):
            if not _runs(cell):
                continue
            name = cell.of.name if cell.of else f"own cell {position}"
            name = f"{PROVIDED} {name}" if cell.role == "given" else name
            before = len(self.sitting.deaths)
            result = self.sitting.run(Cell(cell.source, name))
            self.outputs[position] = self.shown.of(result)
            if result.error is None:
                self.ran.add(position)
            elif cell.of is not None:
                died = self.sitting.deaths[before:]
                said = result.error.sentence()
                fault = died[-1] if died else say("stopped with {error}", error=said)
                self.faults |= dict.fromkeys(cell.of.defines, fault)

    def examine(self, exercise: Exercise, hidden: bool, is_defined: bool) -> None:
        """Run the exercise's visible or hidden checks."""
        obstacle = self.obstacle(exercise, is_defined)
        if hidden and is_not_written(self.examined.get(exercise.name, [])):
            obstacle = obstacle or say("`{name}` is not written yet.", name=exercise.name)
        self.sitting.trains = bool(exercise.trained)
        if obstacle is None:
            self.sitting.forbid(exercise.forbids if self.plan.forbidden_costs_points else ())
        for check in (check for check in exercise.checks if check.hidden is hidden):
            reason = obstacle or self.exhausted(exercise)
            tried = Examined(check, FAILED, reason, Trace(check.name)) if reason else self.tried(check)
            self.examined.setdefault(exercise.name, []).append(tried)

    def tried(self, check: Check) -> Examined:
        """Run one check, and remember with its exercise how the student's processes ended meanwhile."""
        before = len(self.sitting.deaths)
        plan = self.plan
        done = run_check(
            plan.homework, check, RemoteLink(self.sitting), self.seed, plan.scope, plan.references
        )
        deaths = self.sitting.deaths[before:]
        if check.hidden:
            self.ended[check.exercise] += len(deaths)
        else:
            self.deaths.setdefault(check.exercise, []).extend(deaths)
        if done.result == PASSED:
            is_told = done.note and not check.hidden
            return done._replace(message=joined(" ", [say(done.message), done.note])) if is_told else done
        if not check.hidden:
            return done._replace(message=joined(" ", [in_full(done), self.limit_of(done)]))
        if done.result == COULD_NOT_RUN:
            return done._replace(message=say("The check {name} could not run.", name=check.name))
        return done._replace(message=redacted(done))

    def obstacle(self, exercise: Exercise, is_defined: bool) -> str | None:
        """Why the checks of an exercise are not run, if there is a reason."""
        if not is_defined:
            fault = self.faults.get(exercise.name)
            if not fault:
                return say("`{name}` is not defined.", name=exercise.name)
            return say("`{name}` is not defined: its cell {fault}.", name=exercise.name, fault=fault)
        uses = self.uses[exercise.name]
        if uses and self.plan.forbidden_costs_points:
            return joined(" ", [uses[0], say("This exercise asks you to write it yourself.")])
        return None

    def limit_of(self, done: Examined) -> str:
        """A sentence about the memory limit, if Python or torch ran out of memory."""
        if not OUT_OF_MEMORY.search(done.message):
            return ""
        memory = in_words(self.plan.limits.memory_bytes)
        return say("A submission may use {memory} of memory.", memory=memory)

    def exhausted(self, exercise: Exercise) -> str | None:
        """How the exercise's code ended its processes, once that has happened too often."""
        deaths = self.deaths.get(exercise.name, [])
        if len(deaths) >= MOST_DEATHS_PER_EXERCISE:
            return say(
                "Not tried: `{name}` {ended} in {count} earlier checks.",
                name=exercise.name,
                ended=deaths[-1],
                count=len(deaths),
            )
        if self.ended[exercise.name] >= MOST_DEATHS_PER_EXERCISE:
            return not_tried(exercise.name)
        return None

    @cached_property
    def own_work(self) -> OwnWork:
        """The code of the submission, to ask whether an exercise was written by the student."""
        return OwnWork(self.submission, self.plan.homework.exercises)

    @cached_property
    def uses(self) -> dict[str, list[str]]:
        """A sentence for each forbidden name that an answer uses, by exercise."""
        return {exercise.name: self.own_work.uses(exercise) for exercise in self.plan.homework.exercises}

    def record(self, exercise: Exercise) -> ExerciseRecord:
        """The record of an exercise: points for the checks that passed, and the names of its mistakes."""
        if exercise.name in self.kept:
            return self.kept[exercise.name]
        done = self.examined[exercise.name]
        told, found = self.mistakes(exercise, done)
        verdicts = paid(done, lambda: bool(found))
        return ExerciseRecord(
            name=exercise.name,
            points=points_of(verdicts),
            max_points=exercise.points,
            bonus=exercise.bonus,
            diagnosis=found,
            told=told,
            judged_again=self.answered.get(exercise.name, ()),
            checks=tuple(_check_record(one, self.language) for one in _in_notebook_order(exercise, verdicts)),
        )

    def mistakes(
        self, exercise: Exercise, done: Sequence[Examined]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The mistakes that visible checks show, which the student is told, and those that all show."""
        entries = [entry for entry in self.plan.homework.misconceptions if entry.of == exercise.name]
        visible = [entry for entry in done if not entry.check.hidden]
        if not any(entry.result == FAILED for entry in visible):
            return (), self.named(done, entries)
        told = self.named(visible, entries)
        hidden = [entry for entry in done if entry.check.hidden]
        return told, self.named(hidden, [entry for entry in entries if entry.name in told], is_wrong=True)

    def named(
        self, done: Sequence[Examined], entries: Sequence[Misconception], is_wrong: bool = False
    ) -> tuple[str, ...]:
        """The mistakes that explain every answer, if a check failed; is_wrong: another than these failed."""
        if not entries or not (is_wrong or any(entry.result == FAILED for entry in done)):
            return ()
        traces = [entry.trace for entry in sorted(done, key=lambda entry: entry.result != FAILED)]
        return diagnosis(traces, entries, self.plan.references, is_wrong=is_wrong)

    def flags(self, records: Sequence[ExerciseRecord]) -> list[str]:
        """What a person should look at."""
        exercises = [exercise.name for exercise in self.plan.homework.exercises]
        flags = [
            sentence for name in exercises for sentence in (*self.uses[name], *self.own_work.remarks(name))
        ]
        flags += self.own_work.unseen()
        flags += [*self.own_work.own_modules(self.ran), *self.own_work.unread_cells(self.ran)]
        if not self.own_work.is_searched:
            flags.append(say("Its cells are too long to be searched for forbidden names."))
        broken = [
            check.name for record in records for check in record.checks if check.result == COULD_NOT_RUN
        ]
        if broken:
            flags.append(
                say(
                    "Could not be run; no points awarded yet, please review: {names}.",
                    names=", ".join(broken),
                )
            )
        ends = [*self.ends, ENDED] if self.ended.total() else self.ends
        if ends:
            said = joined("; ", dict.fromkeys(ends))
            flags.append(say("The process running the code {ended}.", ended=said))
        return flags


def judge(
    plan: Plan,
    submission: Repaired,
    start: Callable[[], Student],
    seed: int,
    kept: Mapping[str, ExerciseRecord] | None = None,
    language: Language = ENGLISH,
) -> Judgement:
    """The verdict on a rebuilt submission; `start` gives fresh sandboxed processes.

    kept: verdicts that still hold; their exercises are not examined again. language: of the student.
    """
    sitting = Sitting(start, plan.limits, plan.guarded)
    try:
        return Judge(plan, submission, sitting, seed, kept or {}, language=language).judge()
    finally:
        sitting.close()


def _runs(cell: RepairedCell) -> bool:
    """Whether a cell runs in the student's process; a restored stub would undo an answer elsewhere.

    A cell of a living end trains for a minute, defines no answer and is not graded.
    """
    if cell.kind != "code" or cell.role in ("check", "alive"):
        return False
    return not (cell.role == "answer" and cell.restored)


def _in_notebook_order(exercise: Exercise, done: Sequence[Examined]) -> list[Examined]:
    order = {check.name: place for place, check in enumerate(exercise.checks)}
    return sorted(done, key=lambda entry: order[entry.check.name])


def in_full(done: Examined) -> str:
    """A visible check's message: what was received and expected, briefly, and in which way they differ."""
    pair = zip((say("received"), say("expected")), values(done.problem), strict=True)
    lines = [joined(": ", [name, value]) for name, value in pair if value]
    is_about_inputs = done.check.draws and not isinstance(done.problem, NotWritten | Unreachable)
    return joined("\n", [*lines, sentence(done.message), DRAWN_ANEW if is_about_inputs else ""])


def _check_record(done: Examined, language: Language) -> CheckRecord:
    message = plain_text(done.message, limit=LONGEST_MESSAGE)
    said = plain_text(language(done.message), limit=LONGEST_MESSAGE) if language.translations else ""
    return CheckRecord(done.check.name, done.check.hidden, done.result, message, said)
