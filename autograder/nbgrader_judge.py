"""Preprocessors for `nbgrader autograde`: submissions are repaired, sandboxed and judged from outside.

nbgrader runs its converters in the course's folder, so that is where homework and records are.
"""

from __future__ import annotations

import atexit
import json
import secrets
from functools import cache
from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode, from_dict
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Enum

from autograder.autograded import stream
from autograder.comments import mistakes_in_words
from autograder.handed_in import parse
from autograder.isolation import Limits, Warm, choose
from autograder.notebook import notebook, notebook_cell
from autograder.plan import Plan, plan_for
from autograder.records import RecordFolder
from autograder.repair import RepairedCell, repair
from autograder.submission import Graded, grade_submission


class CouldNotJudge(RuntimeError):
    """A check could not run; nbgrader then reports the submission as not processed, which is no mark."""


class Repair(NbGraderPreprocessor):
    """Rebuilds a submission on its release; the first of the sanitizers."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Replace the cells; what was done to them is in nbgrader's log."""
        handed, flags = parse(json.dumps(nb).encode())
        repaired = repair(handed, plan_of(resources).source)
        for flag in (*flags, *repaired.flags):
            self.log.warning("%s: %s", resources["nbgrader"]["student"], flag)
        cells = [_cell(position, cell) for position, cell in enumerate(repaired.cells)]
        return from_dict(notebook(cells)), resources


class Judge(NbGraderPreprocessor):
    """Takes the place of Execute: every cell gets the outputs that follow from the judge's record."""

    isolation = Enum(["best", "bwrap", "landlock", "none"], "best", help="how student code is kept in").tag(
        config=True
    )

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Judge the submission, keep its record in grades/, and show it in the cells."""
        plan = plan_of(resources)
        student = resources["nbgrader"]["student"]
        warm = warm_process(self.isolation)
        data = json.dumps(nb).encode()
        graded = grade_submission(student, data, plan, warm.student, secrets.randbits(32))
        RecordFolder(Path("grades"), plan.homework.name).add(graded.record)
        _require_verdicts(graded)
        _show(graded, plan, nb)
        return nb, resources


def plan_of(resources: ResourcesDict) -> Plan:
    """The plan of the homework that is being graded, prepared once until its source changes."""
    name = resources["nbgrader"]["assignment"]
    root = Path.cwd()
    changed = max(path.stat().st_mtime_ns for path in (root / "solutions" / name).iterdir())
    return _plan(name, root, changed)


@cache
def _plan(name: str, root: Path, changed: int) -> Plan:
    return plan_for(name, root, Limits())


@cache
def warm_process(isolation: str) -> Warm:
    """One warm process for all submissions of this run of nbgrader."""
    warm = Warm(choose(isolation))
    warm.__enter__()
    atexit.register(warm.close)
    return warm


def _cell(position: int, cell: RepairedCell) -> dict:
    metadata = {"nbgrader": dict(cell.of.nbgrader)} if cell.of else {}
    kind = "code" if cell.kind == "code" else "markdown"
    return notebook_cell(cell.of.name if cell.of else f"handed-in-{position}", kind, cell.source, metadata)


def _require_verdicts(graded: Graded) -> None:
    """nbgrader's grade cells know points and no points only."""
    checks = [check for exercise in graded.record.exercises for check in exercise.checks]
    undecided = [check.name for check in checks if check.result == "could_not_run"]
    if undecided:
        raise CouldNotJudge(graded.record.problem or f"These checks could not run: {', '.join(undecided)}.")


def _show(graded: Graded, plan: Plan, nb: NotebookNode) -> None:
    """Give the notebook's cells the outputs of the graded one, and harmless text where a student wrote it."""
    mistakes = mistakes_in_words(graded, plan)
    judged = graded.notebook["cells"][-len(nb.cells) :]
    for cell, made in zip(nb.cells, judged, strict=True):
        cell.source = made["source"]
        if cell.cell_type == "code":
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            named = [stream(mistakes[name] + "\n")] if name in mistakes else []
            cell.outputs = [from_dict(output) for output in (*made["outputs"], *named)]
