"""For the grader: files attempts from the database as submissions, and stores verdicts in the database."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path

from autograder.collecting.filing import Cabinet
from autograder.grading.told import as_told
from autograder.marks.exports.marks import Mark
from autograder.marks.hand_marks import HandMarks
from autograder.marks.records import RecordFolder, SubmissionRecord
from autograder.marks.table import mark
from autograder.markup import plain_text
from autograder.reporting.feedback import AFTER_DUE, verdict
from autograder.serving.attempts import Attempts, Told
from autograder.serving.handout import Handout, handout
from autograder.serving.rubrics import HandMark, Question, Rubrics
from autograder.source.homework import HomeworkSource, Written
from autograder.submissions.collect import Found, NothingHandedIn, collect

SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.DOTALL)
SECONDS_BETWEEN_LOOKS = 2.0  # at records that another grading run has changed, and at manual marks


@dataclass
class AttemptInbox:
    """The inbox of a website, see `watching.watch.Inbox`. folder: the submissions, in nbgrader's layout.
    later: when students see hidden checks, in words that complete a sentence.
    """

    attempts: Attempts
    folder: Path
    records: Path
    later: str = AFTER_DUE
    has_begun: set[str] = field(default_factory=set)
    judging: dict[tuple[str, str], int] = field(default_factory=dict)
    homeworks: dict[str, HomeworkSource] = field(default_factory=dict)
    told: dict[Path, int] = field(default_factory=dict)  # record → its time of change when it was last shown
    asked: dict[str, list[Question]] = field(default_factory=dict)
    looked: dict[tuple[str, str], float] = field(default_factory=dict)  # (homework, its part) → when

    def __post_init__(self) -> None:
        self.rubrics = Rubrics(self.attempts.engine)

    def all(self, homework: str) -> Sequence[Found]:
        """Every submission there is."""
        try:
            return [found for found in collect(self.folder, homework) if found.handed_in]
        except NothingHandedIn:
            return []

    def arrived(self, homework: str) -> Sequence[Found]:
        """File new attempts; returns the submissions that may be judged now, at first all of them.

        Those that wait come first, in the order in which they were handed in.
        """
        self.place(homework)
        self.tell_changed(homework)
        ready = self.attempts.ready(homework)
        if homework in self.has_begun:
            ready = {who: one for who, one in ready.items() if self.judging.get((homework, who), 0) < one}
        self.judging |= {(homework, student): number for student, number in ready.items()}
        if homework in self.has_begun and not ready:
            return []
        among = [one for one in self.all(homework) if one.student in ready or homework not in self.has_begun]
        self.has_begun.add(homework)
        return sorted(among, key=lambda one: ready.get(one.student, math.inf))

    def place(self, homework: str) -> None:
        """File attempts in the same way as collected ones; doing so twice has no effect."""
        for attempt in self.attempts.unplaced(homework):
            content = {f"{homework}.ipynb": self.attempts.content(attempt.number)}
            cabinet = Cabinet(self.folder, homework)
            cabinet.place(attempt.student, content, attempt.time.replace(tzinfo=UTC))
            self.attempts.placed(attempt.number)

    def give_back(self, submission: Found, record: SubmissionRecord, homework: HomeworkSource) -> None:
        """Store the verdict for the student."""
        self.homeworks[homework.name] = homework
        path = RecordFolder(self.records, homework.name).file(record.student)
        self.told[path] = _time_of(path)
        number = self.judging.get((homework.name, record.student))
        self.attempts.tell(homework.name, record.student, self.words(record, homework), number, record.source)
        self.ask(homework)
        if record.status == "graded":
            root, name = self.folder.parent, homework.name
            path = root / "autograded" / record.student / name / f"{name}.ipynb"
            answers = written_answers(path, homework, handout(root, name))
            self.rubrics.answered(homework.name, record.student, answers)

    def ask(self, homework: HomeworkSource) -> None:
        """Store the questions for those who mark the answers, if they are new."""
        questions = [question_of(one, homework) for one in homework.written]
        if questions != self.asked.get(homework.name):
            self.asked[homework.name] = questions
            self.rubrics.ask(homework.name, questions)

    def by_hand(self, homework: str) -> Sequence[HandMark]:
        """Marks that people gave with a rubric."""
        return self.rubrics.to_enter(homework) if self.is_time(homework, "marks") else ()

    def is_time(self, homework: str, what: str) -> bool:
        """Whether enough time has passed to look at this again."""
        now = time.monotonic()
        if now - self.looked.get((homework, what), float("-inf")) < SECONDS_BETWEEN_LOOKS:
            return False
        self.looked[homework, what] = now
        return True

    def entered(self, homework: str, mark: HandMark) -> None:
        """The gradebook has a mark."""
        self.rubrics.entered(homework, mark)

    def marked(self, homework: str, marks: Sequence[Mark], given: Mapping[str, HandMarks]) -> None:
        """Store what the gradebook has: totals with late penalties, and the marks of answers in words."""
        self.attempts.enter_totals(homework, {mark.student: mark.total for mark in marks})
        self.rubrics.in_gradebook(homework, given)

    def tell_changed(self, name: str) -> None:
        """Store verdicts for records that another command wrote, for example when regrading."""
        if name not in self.homeworks or not self.is_time(name, "records"):
            return
        folder = RecordFolder(self.records, name)
        for path in sorted(folder.path.glob("*.json")):
            if (changed := _time_of(path)) != self.told.get(path):
                self.told[path] = changed
                if (record := folder.find(path.stem)) is not None:
                    told = self.words(record, self.homeworks[name])
                    self.attempts.tell(name, record.student, told, None, record.source)

    def words(self, record: SubmissionRecord, homework: HomeworkSource) -> Told:
        """A record as the student sees it, without and with hidden checks, and the mark."""
        visible, whole = (
            str(verdict(as_told(record, homework, hidden=hidden), self.later)) for hidden in (False, True)
        )
        return Told(visible, whole, mark(record))


def question_of(written: Written, homework: HomeworkSource) -> Question:
    """A question with its reference answer, which only instructors have."""
    cells = (cell.source for cell in homework.cells if cell.labels.get("written") == written.name)
    reference = SOLUTION.search(next(cells, ""))
    return Question(written.name, written.question, reference[1].strip() if reference else "", written.points)


def written_answers(notebook: Path, homework: HomeworkSource, asked: Handout) -> dict[str, str]:
    """Question → its cell in the autograded notebook; nothing where the student wrote nothing below it."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"] if notebook.is_file() else []
    texts = {
        cell["metadata"].get("nbgrader", {}).get("grade_id"): plain_text("".join(cell["source"]))
        for cell in cells
    }
    return {
        one.name: texts[one.name] if asked.answer(one.name, texts[one.name]) else ""
        for one in homework.written
        if one.name in texts
    }


def _time_of(path: Path) -> int:
    return path.stat().st_mtime_ns if path.is_file() else 0
