"""Everything needed to judge submissions of one homework, prepared once before the first of them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from autograder.checking.examine import run_check
from autograder.checking.matching import diagnosis
from autograder.checking.versions import exercise_versions
from autograder.isolation import Limits
from autograder.languages.catalogues import language_of, languages
from autograder.languages.editions import Edition, edition
from autograder.languages.notebooks import language_of_release
from autograder.making.data_files import TooMuchData, data_files
from autograder.making.products import build_homework
from autograder.marks.records import SubmissionRecord
from autograder.software import digest, software
from autograder.source.address import Address
from autograder.source.earlier_releases import retired, with_earlier
from autograder.source.homework import COULD_NOT_RUN, PASSED, HomeworkSource, references
from autograder.source.loading import find
from autograder.source.notebook import SourceError
from autograder.source.released import NotReleased, SourceCell, released_texts, source_cells
from autograder.submissions.copied import of_the_course
from course.checks import LocalLink
from course.language import ENGLISH

MOST_SECONDS_TO_PREPARE = 30.0  # of processor time


@dataclass(frozen=True)
class Plan:
    """A homework, the cells of its notebook, and how submissions are treated."""

    homework: HomeworkSource
    source: Sequence[SourceCell]
    limits: Limits
    texts: frozenset[str] = frozenset()  # the course's own text cells
    editions: Mapping[str, Edition] = field(default_factory=dict)  # in other languages than English
    language: str = "en"  # that in which students have it
    forbidden_costs_points: bool = True
    files: Mapping[str, bytes] = field(default_factory=dict)  # the course's own, beside every notebook
    retired: Mapping[str, frozenset[str]] = field(default_factory=dict)  # as `repair` has it

    def edition(self, language: str) -> Edition:
        """The edition in a language that a submission names; otherwise in that in which students have it."""
        english = Edition(ENGLISH, self.source, self.texts)
        editions = {ENGLISH.name: english, **self.editions}
        return editions.get(language) or editions.get(self.language, english)

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
        """The isolation level as records state it, with a note if the checks ran in the notebook."""
        return f"{level}, checks in place" if self.homework.in_place else level

    @property
    def points(self) -> dict[str, float]:
        """The cells for which nbgrader keeps points, checks' and written questions', with their maxima."""
        return {cell.name: cell.nbgrader["points"] for cell in self.source if cell.nbgrader.get("grade")}

    @property
    def points_in_source(self) -> dict[str, float]:
        """The same according to the source, which differs if it was edited but not released."""
        worth = self.homework.cell_points()
        return {name: points for name, points in worth.items() if points or name in self.points}

    def points_by_cell(self, record: SubmissionRecord) -> dict[str, float | None]:
        """The points of each cell of checks; None, for a person to decide, if a check could not be run."""
        checks = {check.name: check for check in self.homework.checks}
        verdicts = [verdict for exercise in record.exercises for verdict in exercise.checks]
        earned: dict[str, float | None] = dict.fromkeys((checks[one.name].cell for one in verdicts), 0.0)
        for one in verdicts:
            check, before = checks[one.name], earned[checks[one.name].cell]
            if before is None or one.result == COULD_NOT_RUN:
                earned[check.cell] = None
            elif one.result == PASSED:
                earned[check.cell] = before + check.points
        return {name: points for name, points in earned.items() if name in self.points}

    def cells_now(self, root: Path) -> Sequence[SourceCell]:
        """The cells as a release would have them now; `source` has them as they were when last built."""
        if self.homework.in_place:
            return self.source
        return edition(build_homework(self.homework, Address.read(root)), self.edition("").language).source

    @property
    def written(self) -> dict[str, float]:
        """The questions graded by hand, and their points."""
        released = {cell.name for cell in self.source if cell.role == "written"}
        return {each.name: each.points for each in self.homework.written if each.name in released}

    @cached_property
    def versions(self) -> dict[str, str]:
        """Exercise → a digest of everything in the homework that can change its verdicts."""
        return exercise_versions(self.homework)

    @cached_property
    def conditions(self) -> dict[str, str]:
        """What else can change any verdict: the software that judges, and how submissions are treated."""
        price = "its points" if self.forbidden_costs_points else "nothing"
        return {**software(), "limits": digest(self.limits.as_text()), "forbidden call": price}

    def prepare(self) -> None:
        """Compute what every judge needs, and judge once, so that forked judges find it all in memory.

        They also find torch limited to one thread, because every core has its own judge. A second call does
        nothing.
        """
        _ = self._prepared

    @cached_property
    def _prepared(self) -> None:
        torch.set_num_threads(1)
        _ = self.versions, self.conditions
        if self.homework.in_place:  # its checks run with each student's code, and nothing is known beforehand
            return
        _ = self.references, self.scope, of_the_course()
        with redirect_stdout(None):
            self._rehearse()

    def _rehearse(self) -> None:
        """Examine the right answers until the time is up.

        It stops between two checks and never within one: an interrupted step, such as torch importing a part
        of itself on its first use, would stay half done in every judge.
        """
        link = LocalLink(self.references)
        deadline = time.process_time() + MOST_SECONDS_TO_PREPARE
        for exercise in self.homework.exercises:
            done = []
            for check in exercise.checks:
                if time.process_time() > deadline:
                    return
                done.append(run_check(self.homework, check, link, 0, self.scope))
            diagnosis([entry.trace for entry in done], (), self.references)


def plan_for(name: str, root: Path, limits: Limits) -> Plan:
    """The plan of a homework as it was released; raises SourceError or NotReleased."""
    homework = find(name, root)
    built = homework.notebook
    if not built.is_file():
        raise NotReleased(f"{built} does not exist. Run `autograder release {name}` to make it.")
    notebook = json.loads(built.read_text(encoding="utf-8"))
    source = with_earlier(source_cells(notebook), homework.folder)
    gone = retired(source, homework.folder)
    try:
        files = data_files(homework.folder)
    except TooMuchData as problem:
        raise SourceError(f"{homework.folder}: {problem}") from None
    return Plan(
        homework,
        source,
        limits,
        released_texts(notebook),
        editions=_editions(notebook, homework, root),
        language=language_of_release(root, name),
        files=files,
        retired=gone,
    )


def _editions(notebook: Mapping, homework: HomeworkSource, root: Path) -> dict[str, Edition]:
    """The notebook in every language that has a catalogue of this homework."""
    found = {}
    for name in languages(root, homework.name):
        made = edition(notebook, language_of(root, name, homework.name))
        found[name] = replace(made, source=with_earlier(made.source, homework.folder))
    return found
