"""Preprocessors for `nbgrader autograde`: submissions are repaired, run in the sandbox and judged outside.

nbgrader runs its converters in the course's folder, so that is where homework and records are.
"""

from __future__ import annotations

import atexit
from functools import cache, lru_cache
from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode, from_dict
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from traitlets import Enum
from traitlets.config import Config

from autograder.grading.attempt import Attempt
from autograder.grading.autograded import stream
from autograder.grading.forked import Lost, forked
from autograder.grading.paper import Paper, paper_of
from autograder.grading.plan import Plan, plan_for
from autograder.grading.pool import limits_of_a_judge
from autograder.grading.submission import Graded, not_run
from autograder.isolation import Limits, Warm, choose
from autograder.languages.notebooks import in_metadata
from autograder.marks.comments import mistakes_of
from autograder.marks.gradebook import edited_since
from autograder.marks.records import RecordFolder
from autograder.software import code_on_disk, contents, digest, software
from autograder.source.notebook import notebook, notebook_cell
from autograder.submissions.collect import Found, collect
from autograder.submissions.handed_in import parse
from autograder.submissions.repair import RepairedCell, repair

BONUS = "bonus"  # where nbgrader's resources have the points of bonus cells

LOADED = software()  # the software with which this process judges until it ends


class CouldNotJudge(RuntimeError):
    """A check could not run; nbgrader then reports the submission as not processed, without a mark."""


class Repair(NbGraderPreprocessor):
    """Rebuilds a submission from its release; the first of the sanitizers."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Replace the cells, and write the repairs to nbgrader's log."""
        paper = paper_of(handed_in(resources, self.config))
        if paper.data is None:
            raise CouldNotJudge(paper.problem)
        handed = parse(paper.data)
        plan = plan_of(resources)
        edition = plan.edition(handed.language)
        repaired = repair(handed.cells, edition.source, plan.retired)
        for said in (*paper.flags, *handed.flags, *repaired.flags, *repaired.notes):
            self.log.warning("%s: %s", paper.student, said)
        cells = [_cell(position, cell) for position, cell in enumerate(repaired.cells)]
        return from_dict(notebook(cells, in_metadata(edition.language))), resources


class Judge(NbGraderPreprocessor):
    """Replaces nbgrader's Execute: every cell gets the outputs that follow from the judge's record."""

    isolation = Enum(
        ["best", "bwrap", "landlock", "none"], "best", help="the isolation level of student code"
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Judge the submission, save its record in grades/, and show it in the cells that Repair made."""
        plan = plan_of(resources)
        warm = warm_process(self.isolation)
        graded = judged(paper_of(handed_in(resources, self.config)), plan, warm)
        RecordFolder(Path("grades"), plan.homework.name).add(graded.record)
        now = plan.cells_now(Path.cwd())
        if edited := edited_since(resources["nbgrader"]["db_url"], plan.homework.name, now):
            self.log.warning(edited)
        require_verdicts(graded)
        _show(graded, plan, nb)
        resources[BONUS] = bonus_of(graded, plan)
        return nb, resources


def judged(paper: Paper, plan: Plan, warm: Warm) -> Graded:
    """Judge one submission in a process of its own, which has the time and memory of a judge."""
    plan.prepare()
    attempt = Attempt(plan, warm.level.name, warm)
    [(_, result)] = forked([paper], attempt, jobs=1, **limits_of_a_judge(plan.limits))
    if isinstance(result, Lost):
        return not_run(paper.student, result.sentence, plan)
    return Graded.from_json(result["graded"])


class Save(SaveAutoGrades):
    """Replaces nbgrader's SaveAutoGrades, which knows no points beyond a cell's maximum, as a bonus has."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Enter the points of all cells, then those of a bonus."""
        nb, resources = super().preprocess(nb, resources)
        about = resources["nbgrader"]
        with Gradebook(about["db_url"]) as gradebook:
            for cell, points in resources[BONUS].items():
                place = about["notebook"], about["assignment"], about["student"]
                gradebook.find_grade(cell, *place).auto_score = points
            gradebook.db.commit()
        return nb, resources


def bonus_of(graded: Graded, plan: Plan) -> dict[str, float | None]:
    """The points of the cells of checks that are worth nothing to nbgrader."""
    return {name: of for name, of in plan.points_by_cell(graded.record).items() if not plan.points[name]}


def handed_in(resources: ResourcesDict, config: Config) -> Found:
    """The student's submission as nbgrader collected it; raises CouldNotJudge."""
    student, name = resources["nbgrader"]["student"], resources["nbgrader"]["assignment"]
    course = CourseDirectory(config=config)
    folder = Path(course.format_path(course.submitted_directory, student, name))
    for found in collect(folder.parents[1], name):
        if found.student == student:
            return found
    raise CouldNotJudge(f"There is no submission from {student} in {folder}.")


def plan_of(resources: ResourcesDict) -> Plan:
    """The plan of the homework that is being graded, prepared once until a file in its folder changes.

    Raises CouldNotJudge if the judging code has changed, because a running process cannot load the new one.
    """
    if code_on_disk() != LOADED["grader"]:
        raise CouldNotJudge(
            "The code of the grader or of the course has changed since this process started. "
            "Restart it (the Jupyter server, if that is where you grade) and grade again."
        )
    name, root = resources["nbgrader"]["assignment"], Path.cwd()
    return _plan(name, root, digest(*contents(root / "solutions" / name)))


@lru_cache(maxsize=4)
def _plan(name: str, root: Path, content: str) -> Plan:
    return plan_for(name, root, Limits())


@cache
def warm_process(isolation: str) -> Warm:
    """One warm process for all submissions of this run of nbgrader."""
    warm = Warm(lambda: choose(isolation))
    warm.__enter__()
    atexit.register(warm.close)
    return warm


def _cell(position: int, cell: RepairedCell) -> dict:
    metadata = {"nbgrader": dict(cell.of.nbgrader)} if cell.of else {}
    kind = "code" if cell.kind == "code" else "markdown"
    return notebook_cell(cell.of.name if cell.of else f"handed-in-{position}", kind, cell.source, metadata)


def require_verdicts(graded: Graded) -> None:
    """Raise CouldNotJudge unless every check has a verdict: nbgrader's cells have points or none."""
    checks = [check for exercise in graded.record.exercises for check in exercise.checks]
    undecided = [check.name for check in checks if check.result == "could_not_run"]
    if undecided:
        raise CouldNotJudge(graded.record.problem or f"These checks could not run: {', '.join(undecided)}.")


def _show(graded: Graded, plan: Plan, nb: NotebookNode) -> None:
    """Give the notebook's cells the outputs of the graded one, and make students' text harmless."""
    mistakes = mistakes_of(graded.record, plan.homework)
    judged = graded.notebook["cells"][-len(nb.cells) :]
    for cell, made in zip(nb.cells, judged, strict=True):
        cell.source = made["source"]
        if cell.cell_type == "code":
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            named = [stream(mistakes[name] + "\n")] if name in mistakes else []
            cell.outputs = [from_dict(output) for output in (*made["outputs"], *named)]
