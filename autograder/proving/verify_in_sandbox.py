"""Test a homework as marks are made: right and wrong answers are submitted and graded in the sandbox.

`autograder.proving.verify` runs the same test on objects in its own process, which is fast and tries every
seed. Here the answers enter the sandbox as text, as a student's do, and the result is a student's record.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.catalogue import Alternative, Misconception
from autograder.checking.memorised import ONLY_THE_EXAMPLES
from autograder.grading.forked import Lost
from autograder.grading.paper import Paper
from autograder.grading.plan import Plan, plan_for
from autograder.grading.pool import Pool, local_judges
from autograder.grading.submission import Graded
from autograder.isolation import Limits
from autograder.marks.records import ExerciseRecord
from autograder.source.as_answer import as_answer
from autograder.source.homework import HomeworkSource
from autograder.source.sample_submissions import answered, reference_answers, released

SEED = 1


@dataclass(frozen=True)
class HandedIn:
    """A submission to be judged: the reference's answers, except for these entries of the catalogue."""

    name: str
    entries: tuple[Misconception | Alternative, ...]
    data: bytes
    kept: Mapping[str, ExerciseRecord] = field(default_factory=dict)

    def paper(self) -> Paper:
        return Paper(self.name, self.data, kept=self.kept, seed=SEED)


@dataclass(frozen=True)
class SandboxProof:
    """What was handed in for a homework at one isolation level, and a sentence for each surprise."""

    homework: str
    level: str
    points: float  # of the reference
    max_points: float  # with those of a bonus
    alternatives: int
    misconceptions: int
    violations: tuple[str, ...]

    def sentence(self) -> str:
        """One line for a table of all homeworks."""
        return (
            f"{self.homework} · {self.level} · reference {self.points:g} of {self.max_points:g} · "
            f"{self.alternatives} alternatives · {self.misconceptions} misconceptions · "
            f"{len(self.violations)} deviations"
        )


def verify_in_sandbox(
    name: str,
    root: Path,
    isolation: str,
    *,
    jobs: int | None = None,
    limits: Limits | None = None,
    mistakes: bool = True,
) -> SandboxProof:
    """Hand in the reference, every alternative and every misconception of a homework, and compare.

    Right answers must earn every point; each wrong one must fail exactly the checks that the homework's table
    says, and be named. What an exercise forbids costs a right answer its points, as it does a student's;
    a wrong one is examined all the same. mistakes: whether wrong answers are handed in too. Raises
    IsolationUnavailable.
    """
    limits = limits or Limits()
    strict = plan_for(name, root, limits)
    lenient = replace(strict, forbidden_costs_points=False)
    submissions, wrong = Submissions(strict), strict.homework.misconceptions if mistakes else ()
    with local_judges(isolation, limits, jobs) as judges:
        [(_, reference)] = judged(judges, [submissions.whole()], strict)
        right = {exercise.name: exercise for exercise in reference.record.exercises}
        violations = [f"the reference: {problem}" for problem in lost_points(right.values())]
        violations += [f"the reference is flagged: {flag}" for flag in reference.record.flags]
        for plan, entries in ((strict, strict.homework.alternatives), (lenient, wrong)):
            rows = [submissions.row(row, right) for row in independent_rows(entries, strict.homework)]
            doubtful = [entry for entry, problems in tried(judges, rows, plan) if problems]
            alone = [submissions.row([entry], right) for entry in doubtful]  # a wrong neighbour may mislead
            violations += [problem for _, problems in tried(judges, alone, plan) for problem in problems]
    return SandboxProof(
        name,
        judges.level.name,
        reference.record.points,
        sum(exercise.max_points for exercise in right.values()),
        len(strict.homework.alternatives),
        len(wrong),
        tuple(violations),
    )


def judged(judges: Pool, tasks: Sequence[HandedIn], plan: Plan) -> Iterator[tuple[HandedIn, Graded]]:
    """Each submission with its grades; raises RuntimeError if a judge was lost."""
    for task, result in judges.judged(tasks, plan):
        if isinstance(result, Lost):
            raise RuntimeError(f"the judge of {[entry.name for entry in task.entries]} {result.reason}")
        yield task, Graded.from_json(result)


def tried(
    judges: Pool, rows: Sequence[HandedIn], plan: Plan
) -> Iterator[tuple[Misconception | Alternative, list[str]]]:
    """Each entry with a sentence for everything that is not as it should be."""
    for handed_in, graded in judged(judges, rows, plan):
        found = {exercise.name: exercise for exercise in graded.record.exercises}
        for entry in handed_in.entries:
            yield entry, list(surprises(entry, found[entry.of], plan))


class Submissions:
    """Notebooks made from a homework's reference and catalogue."""

    def __init__(self, plan: Plan) -> None:
        self.homework = plan.homework
        path = plan.homework.folder / f"{plan.homework.name}.ipynb"
        self.released = released(json.loads(path.read_text(encoding="utf-8")))
        self.right = reference_answers(plan.homework)

    def whole(self) -> HandedIn:
        """The reference's answers, in a notebook with all its cells."""
        return self.with_answers("reference", self.released, ())

    def row(
        self, entries: Sequence[Misconception | Alternative], right: Mapping[str, ExerciseRecord]
    ) -> HandedIn:
        """The reference's answers with these entries in place; the other exercises keep their verdicts.

        Cells that only show something about another exercise are left out: some of them train a model, and
        once is enough.
        """
        entered = {entry.of for entry in entries}
        kept = {name: exercise for name, exercise in right.items() if name not in entered}
        needed = list(cells_about(entered, self.released["cells"]))
        name = "-".join(entry.name for entry in entries)[:100]
        return self.with_answers(name, {**self.released, "cells": needed}, entries, kept)

    def with_answers(
        self,
        name: str,
        notebook: Mapping,
        entries: Sequence[Misconception | Alternative],
        kept: Mapping[str, ExerciseRecord] | None = None,
    ) -> HandedIn:
        texts = self.right | {entry.of: as_answer(entry, self.homework) for entry in entries}
        return HandedIn(name, tuple(entries), json.dumps(answered(notebook, texts)).encode(), kept or {})


def cells_about(exercises: Collection[str], cells: Iterable[Mapping]) -> Iterator[Mapping]:
    """The cells without those that only show something about other exercises."""
    answer = ""
    for cell in cells:
        nbgrader = cell["metadata"].get("nbgrader")
        if nbgrader and nbgrader["solution"]:
            answer = nbgrader["grade_id"]
        if nbgrader or cell["cell_type"] != "code" or answer in exercises:
            yield cell


def independent_rows(
    entries: Iterable[Misconception | Alternative], homework: HomeworkSource
) -> list[list[Misconception | Alternative]]:
    """The entries in few groups, each with one entry per exercise and no two that define the same helper."""
    rows: list[tuple[list, set[str]]] = []
    for entry in entries:
        names = defined_in(as_answer(entry, homework))
        for row, taken in rows:
            if names.isdisjoint(taken):
                row.append(entry)
                taken |= names
                break
        else:
            rows.append(([entry], names))
    return [row for row, _ in rows]


def defined_in(source: str) -> set[str]:
    """The names that a cell binds at its top level."""
    bound: set[str] = set()
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            bound.add(statement.name)
        elif not isinstance(statement, ast.Import | ast.ImportFrom):
            stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
            bound |= {node.id for node in stored if isinstance(node.ctx, ast.Store)}
    return bound


def surprises(entry: Misconception | Alternative, found: ExerciseRecord, plan: Plan) -> Iterator[str]:
    """What is not as it should be, in sentences."""
    if isinstance(entry, Alternative):
        yield from (f"{entry.name} of {entry.of}: {problem}" for problem in lost_points([found]))
        return
    broken = {check.name: check.message for check in found.checks if check.result == "could_not_run"}
    failed = {
        check.name
        for check in found.checks
        if check.result == "failed" and check.message != ONLY_THE_EXAMPLES
    }
    checks = plan.homework.exercise(entry.of).checks  # what is drawn anew may hold for a wrong answer
    undecided = broken.keys() | {check.name for check in checks if check.draws and not check.hidden}
    yield from (f"{entry.name}: {check} could not run: {message}" for check, message in broken.items())
    known = plan.homework.failed_by(entry)
    if failed - undecided != known - undecided:
        yield (
            f"{entry.name} of {entry.of} should fail {sorted(known)} and fails {sorted(failed)}: "
            + " | ".join(
                f"{check.name}: {check.message}" for check in found.checks if check.name in failed ^ known
            )
        )
    others = {other.name for other in plan.homework.misconceptions if entry.name in other.equals}
    if entry.name not in found.diagnosis:
        yield f"{entry.name} of {entry.of} is not named; the names are {list(found.diagnosis)}."
    if extra := set(found.diagnosis) - {entry.name, *entry.equals, *others}:
        yield f"{entry.name} of {entry.of} is also named {sorted(extra)}."


def lost_points(exercises: Iterable[ExerciseRecord]) -> Iterator[str]:
    """A sentence for each check that a right answer does not pass."""
    for exercise in exercises:
        for check in exercise.checks:
            if check.result != "passed":
                yield f"{check.name} of {exercise.name} {check.result}: {check.message}"
