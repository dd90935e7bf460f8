"""In-notebook checks, which run in one process with the student's code, in the student's sandbox.

nbgrader runs them in the same way, but without a sandbox. The machine is safe, and students do not see the
hidden tests. But code that tampers with the process it shares with the checks can forge a mark, so every
record says that its checks ran in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing

from autograder.grading.judge import Judgement
from autograder.grading.outputs import Outputs
from autograder.grading.plan import Plan
from autograder.grading.standin import Cell, Sitting
from autograder.isolation import CellResult
from autograder.isolation.student import Student
from autograder.marks.records import CheckRecord, ExerciseRecord
from autograder.markup import plain_text
from autograder.source.homework import COULD_NOT_RUN, FAILED, PASSED, Check, Result
from autograder.source.released import SourceCell
from autograder.submissions.repair import Repaired

SENTENCE = (
    "the checks ran in the notebook itself, beside the student's code, which could have tampered with them"
)
UNFINISHED = "With the hidden tests, this cell did not finish: it terminated its process or ran out of time."
NOT_PASSED = "A hidden test of this cell does not pass."
LONGEST_MESSAGE = 2_000


def judge_in_place(plan: Plan, submission: Repaired, start: Callable[[], Student]) -> Judgement:
    """The verdict on a rebuilt submission of an ordinary notebook.

    It runs once as students have it, for the outputs. If it has hidden tests, it runs once more with them,
    for the marks alone, because code that runs after a hidden test may have read it.
    """
    hidden = {check.name for check in plan.homework.checks if check.hidden}
    with closing(Sitting(start, plan.limits)) as sitting:
        visible, deaths = run(submission, sitting, lambda check: check.released), sitting.deaths
    whole: Mapping[int, CellResult] = {}
    if hidden:
        with closing(Sitting(start, plan.limits, shared=sitting.budget)) as sitting:
            whole = run(submission, sitting, lambda check: check.source)
    places = {cell.of.name: place for place, cell in enumerate(submission.cells) if cell.of}
    verdicts = {
        check.name: verdict(check, visible[places[check.name]], whole.get(places[check.name]))
        for check in plan.homework.checks
    }
    flags = [f"The process running the code {'; '.join(dict.fromkeys(deaths))}."] if deaths else []
    shown = Outputs()
    return Judgement(
        tuple(_record(exercise.name, exercise.checks, verdicts) for exercise in plan.homework.exercises),
        tuple(flags),
        {place: shown.of(result) for place, result in visible.items()},
    )


def run(
    submission: Repaired, sitting: Sitting, text_of_check: Callable[[SourceCell], str]
) -> dict[int, CellResult]:
    """The result of each code cell, by position; the stub that replaces a missing answer is not run."""
    results = {}
    for place, cell in enumerate(submission.cells):
        if cell.kind == "code" and not (cell.role == "answer" and cell.restored):
            name = cell.of.name if cell.of else f"own cell {place}"
            source = text_of_check(cell.of) if cell.of and cell.role == "check" else cell.source
            results[place] = sitting.run(Cell(source, name))
    return results


def verdict(check: Check, visible: CellResult, whole: CellResult | None) -> CheckRecord:
    """A check's record from the run that students can make themselves and, if there is one, the full run."""
    decisive = whole if check.hidden and whole is not None else visible
    result: Result
    if visible.error is not None:
        result, message = FAILED, plain_text(visible.error.sentence(), limit=LONGEST_MESSAGE)
    elif decisive.error is not None:
        result, message = FAILED, UNFINISHED if decisive.died else NOT_PASSED
    elif is_number(decisive):
        result, message = COULD_NOT_RUN, "This cell returns a number of points; please grade it by hand."
    else:
        result, message = PASSED, check.claim
    return CheckRecord(check.name, check.hidden, result, message)


def is_number(result: CellResult) -> bool:
    """Whether a cell's last value is a number, which nbgrader takes for partial credit."""
    try:
        float(result.displays[-1]["text/plain"])
    except (IndexError, KeyError, TypeError, ValueError):
        return False
    return True


def _record(name: str, checks: tuple[Check, ...], verdicts: Mapping[str, CheckRecord]) -> ExerciseRecord:
    return ExerciseRecord(
        name=name,
        points=sum(check.points for check in checks if verdicts[check.name].result == PASSED),
        max_points=sum(check.points for check in checks),
        checks=tuple(verdicts[check.name] for check in checks),
    )
