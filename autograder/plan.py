"""What it takes to judge submissions of one homework, prepared once before the first of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from autograder.diagnosis import TooSlow, diagnosis, time_limit
from autograder.examine import run_checks
from autograder.homework import HomeworkSource, find, references
from autograder.isolation import Limits
from autograder.released import SourceCell, released_texts, source_cells
from autograder.versions import digest, exercise_versions
from course.checks import LocalLink

MOST_SECONDS_TO_PREPARE = 30.0


class NotReleased(LookupError):
    """The homework as it stands was not released; the message says which command to run."""


@dataclass(frozen=True)
class Plan:
    """A homework, the cells of its notebook, and how submissions are treated."""

    homework: HomeworkSource
    source: Sequence[SourceCell]
    limits: Limits
    texts: frozenset[str] = frozenset()  # the course's own text cells
    forbidden_costs_points: bool = True

    @cached_property
    def references(self) -> dict[str, Any]:
        """The right answers, by the exercise's name."""
        return references(self.homework)

    @cached_property
    def scope(self) -> dict[str, Any]:
        """What the homework's provided cells define, for the checks."""
        return self.homework.namespace()

    @property
    def guarded(self) -> frozenset[str]:
        """Every name that some exercise forbids."""
        return frozenset(name for exercise in self.homework.exercises for name in exercise.forbids)

    def isolation(self, level: str) -> str:
        """What a record says of a level: whether the checks were kept apart from the student's code."""
        return f"{level}, checks in place" if self.homework.in_place else level

    @property
    def points(self) -> dict[str, float]:
        """Everything that nbgrader keeps points for: the checks and the written questions."""
        return {cell.name: cell.nbgrader["points"] for cell in self.source if cell.nbgrader.get("grade")}

    @property
    def points_in_source(self) -> dict[str, float]:
        """The same as the source says now, which is another where it was edited and not released."""
        entries = (*self.homework.checks, *self.homework.written)
        return {entry.name: entry.points for entry in entries if entry.points or entry.name in self.points}

    @property
    def written(self) -> dict[str, float]:
        """The questions graded by hand, and their points."""
        return {cell.name: cell.nbgrader["points"] for cell in self.source if cell.role == "written"}

    @cached_property
    def versions(self) -> dict[str, str]:
        """Exercise → a digest of everything that can change its verdicts."""
        policy = f"forbidden costs points: {self.forbidden_costs_points}"
        if self.homework.in_place:  # every cell may bear on every check
            policy = digest(policy, *(cell.source for cell in self.homework.cells))
        return exercise_versions(self.homework, policy)

    def prepare(self) -> None:
        """Work out what every judge needs, and judge once, so that forked judges find it all in memory.

        They also find torch on one thread: every core has a judge of its own.
        """
        torch.set_num_threads(1)
        _ = self.versions
        if self.homework.in_place:  # its checks run with each student's code, and nothing is known beforehand
            return
        _ = self.references, self.scope
        with suppress(TooSlow), redirect_stdout(None), time_limit(MOST_SECONDS_TO_PREPARE):
            self._rehearse()

    def _rehearse(self) -> None:
        """Examine a right and a wrong answer to every exercise."""
        for exercise in self.homework.exercises:
            wrong = [entry for entry in self.homework.misconceptions if entry.of == exercise.name]
            for thing in (self.references[exercise.name], *(entry.thing for entry in wrong[:1])):
                link = LocalLink({**self.references, exercise.name: thing})
                names = {check.name for check in exercise.checks}
                done = run_checks(self.homework, link, 0, only=names, scope=self.scope)
                diagnosis([entry.trace for entry in done], wrong, self.references)


def plan_for(name: str, root: Path, limits: Limits) -> Plan:
    """The plan of a homework as it was released; raises SourceError or NotReleased."""
    homework = find(name, root)
    built = homework.folder / f"{name}.ipynb"
    if not built.is_file():
        raise NotReleased(f"{name} was never released in {root.resolve()}. Run `autograder release {name}`.")
    notebook = json.loads(built.read_text(encoding="utf-8"))
    return Plan(homework, source_cells(notebook), limits, released_texts(notebook))
