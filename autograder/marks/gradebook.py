"""nbgrader's gradebook, written through its own interface by one writer, one commit per student."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType

from nbgrader.api import (
    Grade,
    Gradebook,
    MissingEntry,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import parse_utc
from sqlalchemy import ColumnElement, true

from autograder.marks.database import in_a_sentence, one_transaction, opened
from autograder.marks.decisions import Decisions, Given
from autograder.marks.first_submission import (
    ReleasedAssignment,
    add_student,
    add_submission,
    released_assignment,
)
from autograder.marks.late import counted_as, penalties_now, policy_of
from autograder.marks.records import write_bytes, write_text
from autograder.marks.settings import course_config
from autograder.markup import one_line
from autograder.source.earlier_releases import plain
from autograder.source.released import NotReleased, SourceCell

NOT_KNOWN_HOW_LATE = (
    "Late by an unknown time, so nothing is taken off: {students}. Set c.PerDay.unknown_counts_as_days in "
    "nbgrader_config.py to say how many days that counts as."
)


class MarkBook:
    """The gradebook of one homework, open for one run of the grader."""

    def __init__(self, root: Path, homework: str, url: str | None = None) -> None:
        self.config = course_config(root.resolve(), url)
        self.course = CourseDirectory(config=self.config)
        self.homework = homework
        self._gradebook = opened(self.course)

    def __enter__(self) -> MarkBook:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._gradebook.close()

    def require(self, points: Mapping[str, float]) -> None:
        """Raise NotReleased unless exactly these graded cells, with these points, were released."""
        again = f"Run `autograder release {self.homework}`."
        try:
            with in_a_sentence():
                notebook = self._gradebook.find_notebook(self.homework, self.homework)
                known = {cell.name: cell.max_score for cell in notebook.grade_cells}
        except MissingEntry:
            raise NotReleased(f"{self.homework} was never released in {self.course.root}. {again}") from None
        if known != dict(points):
            names = sorted({name for name, _ in known.items() ^ dict(points).items()})
            raise NotReleased(
                f"{self.homework} has changed since its release ({', '.join(names[:5])}). {again}"
            )

    def edited(self, now: Iterable[SourceCell]) -> str:
        """A sentence that names the cells of which students have a different version, or nothing."""
        with in_a_sentence():
            return edited(self._gradebook, self.homework, now)

    def entered(self, students: Sequence[str] | None = None) -> dict[str, dict[str, float | None]]:
        """The grader's points in the gradebook, by student and graded cell.

        students: None takes all.
        """
        session = self._gradebook.db
        entered: dict[str, dict[str, float | None]] = defaultdict(dict)
        with in_a_sentence():
            rows = (
                session.query(SubmittedAssignment.student_id, Grade.cell_id, Grade.auto_score)
                .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
                .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
                .filter(Grade.cell_id.in_(self._cells), _of(students))
            )
            for student, cell, points in rows:
                entered[student][self._cells[cell]] = points
        return dict(entered)

    def write(
        self,
        student: str,
        verdicts: Mapping[str, float | None],
        comments: Mapping[str, str | None] | None,
        *,
        timestamp: str | None = None,
        new_bytes: bool = True,
    ) -> None:
        """Enter one student's marks, None for a person to decide; manual marks stay.

        comments: the grader's own, by the answer's name; None leaves them.
        new_bytes: whether the student handed in something new, so that manual marks need a review; if not,
        the earliest time counts.
        """
        gradebook, handed_in_at = self._gradebook, _time_of(timestamp)
        with in_a_sentence(), one_transaction(gradebook):
            submission = self._submission(student)
            if submission is not None:
                times = (submission.timestamp, handed_in_at)
                submission.timestamp = handed_in_at or times[0] if new_bytes else earlier_of(*times)
                self._change(submission, verdicts, comments, new_bytes=new_bytes)
                return
            cells, said = self._cells.items(), comments or {}
            grades = {key: _first_grade(verdicts[name]) for key, name in cells if name in verdicts}
            words = {key: {"auto_comment": said[name]} for key, name in cells if name in said}
            add_student(gradebook, student)
            add_submission(gradebook, self._released, student, handed_in_at, grades, words)

    def times(self, students: Sequence[str] | None = None) -> dict[str, datetime | None]:
        """When each student's submission arrived, according to the gradebook; None if that is unknown."""
        with in_a_sentence():
            rows = self._gradebook.db.query(SubmittedAssignment.student_id, SubmittedAssignment.timestamp)
            return dict(rows.filter_by(assignment_id=self._released.key).filter(_of(students)))

    def arrived(self, student: str, timestamp: str | None, known: datetime | None) -> None:
        """Enter when the same submission arrived, unless an earlier time is known."""
        if (time := earlier_of(known, _time_of(timestamp))) == known:
            return
        with in_a_sentence(), one_transaction(self._gradebook):
            if (submission := self._submission(student)) is not None:
                submission.timestamp = time

    def mark_by_hand(self, student: str, cell: str, points: float, comment: str) -> float | None:
        """Enter a person's mark and comment for an answer; returns the mark that was there before."""
        with in_a_sentence(), one_transaction(self._gradebook):
            submission = self._submission(student)
            notebooks = submission.notebooks if submission is not None else ()
            notebook = next(entry for entry in notebooks if entry.name == self.homework)
            grade = next(one for one in notebook.grades if self._cells[one.cell_id] == cell)
            before, grade.manual_score, grade.needs_manual_grade = grade.manual_score, points, False
            for one in notebook.comments:
                if self._cells[one.cell_id] == cell:
                    one.manual_comment = comment
            return before

    def _submission(self, student: str) -> SubmittedAssignment | None:
        keys = {"assignment_id": self._released.key, "student_id": student}
        return self._gradebook.db.query(SubmittedAssignment).filter_by(**keys).one_or_none()

    def _change(
        self,
        submission: SubmittedAssignment,
        verdicts: Mapping[str, float | None],
        comments: Mapping[str, str | None] | None,
        *,
        new_bytes: bool,
    ) -> None:
        notebook = next(entry for entry in submission.notebooks if entry.name == self.homework)
        for grade in notebook.grades:
            if (name := self._cells[grade.cell_id]) in verdicts:
                _enter(grade, verdicts[name], new_bytes=new_bytes)
        if comments is None:
            return
        for comment in notebook.comments:
            comment.auto_comment = comments.get(self._cells[comment.cell_id])

    @cached_property
    def _released(self) -> ReleasedAssignment:
        return released_assignment(self._gradebook, self.homework)

    @cached_property
    def _cells(self) -> Mapping[str, str]:
        """The names of the graded cells and of the answers, by nbgrader's key."""
        return next(entry.cells for entry in self._released.notebooks if entry.name == self.homework)

    def reprice(
        self, student: str, verdicts: Mapping[str, float | None], points: Mapping[str, float]
    ) -> None:
        """Enter the changed points of the same verdicts, in the gradebook and in the autograded notebook."""
        path = self.notebook_path(student)
        content = json.loads(path.read_text(encoding="utf-8"))
        for cell in content["cells"]:
            nbgrader = cell["metadata"].get("nbgrader", {})
            name = nbgrader.get("grade_id")
            nbgrader |= {"points": points[name]} if name in points else {}
            for output in cell.get("outputs", ()):
                if output["output_type"] == "execute_result" and name in verdicts:
                    output["data"] = {"text/plain": repr(verdicts[name])}
        self.write_notebook(student, content)
        self.write(student, verdicts, None, new_bytes=False)

    def to_look_at_again(self) -> dict[str, list[str]]:
        """Student → cells with a manual mark whose automatic points, or files, have changed since."""
        found: dict[str, list[str]] = defaultdict(list)
        with in_a_sentence():
            rows = (
                self._gradebook.db.query(SubmittedAssignment.student_id, Grade.cell_id)
                .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
                .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
                .filter(Grade.cell_id.in_(self._cells), Grade.manual_score.isnot(None))
                .filter(Grade.needs_manual_grade)
            )
            for student, cell in rows:
                found[student].append(self._cells[cell])
        return dict(sorted(found.items()))

    def enter_penalties(self) -> list[str]:
        """Enter the late penalties of the course's policy, from the present points.

        The due date is the gradebook's; if nbgrader's pages have set a new one, that is logged. Returns a
        sentence about students for whom this is impossible, because their delay is unknown.
        """
        root = Path(self.course.root)
        policy, late = policy_of(self.config), Decisions(root).late_without_time(self.homework)
        with in_a_sentence():
            penalties_now(self._gradebook, root, self.homework, policy)
        if not late or counted_as(policy):
            return []
        return [NOT_KNOWN_HOW_LATE.format(students=", ".join(map(one_line, sorted(late))))]

    def by_hand(self) -> dict[Given, float]:
        """What people gave in nbgrader's pages: marks, and extra credit other than 0."""
        given: dict[Given, float] = {}
        with in_a_sentence():
            rows = (
                self._gradebook.db.query(
                    SubmittedAssignment.student_id, Grade.cell_id, Grade.manual_score, Grade.extra_credit
                )
                .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
                .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
                .filter(Grade.cell_id.in_(self._cells))
                .filter(Grade.manual_score.isnot(None) | (Grade.extra_credit != 0))
            )
            for student, cell, points, extra in rows:
                if points is not None:
                    given["mark by hand", student, self._cells[cell]] = points
                if extra:
                    given["extra credit", student, self._cells[cell]] = extra
        return given

    def notebook_path(self, student: str) -> Path:
        """The path at which nbgrader looks for a student's autograded notebook."""
        folder = self.course.format_path(self.course.autograded_directory, student, self.homework)
        return Path(folder) / f"{self.homework}.ipynb"

    def write_notebook(self, student: str, content: Mapping) -> None:
        """Write a student's autograded notebook to the path at which nbgrader looks for it."""
        write_text(self.notebook_path(student), json.dumps(content, ensure_ascii=False) + "\n")

    def write_beside(self, student: str, name: str, content: bytes) -> None:
        """Write a file beside a student's autograded notebook, unless it exists."""
        path = self.notebook_path(student).with_name(name)
        if not path.is_file() or path.read_bytes() != content:
            write_bytes(path, content)


def edited_since(url: str, homework: str, now: Iterable[SourceCell]) -> str:
    """Like `edited`, for the gradebook at a URL."""
    with Gradebook(url) as gradebook:
        return edited(gradebook, homework, now)


def edited(gradebook: Gradebook, homework: str, cells: Iterable[SourceCell]) -> str:
    """A sentence on the cells edited since nbgrader last released them into this gradebook, or nothing."""
    released = {cell.name: cell.source for cell in gradebook.find_notebook(homework, homework).source_cells}
    # nbgrader keeps no cell that students may change freely and that earns nothing
    now = {cell.name: cell.source for cell in cells if cell.role != "alive"}
    names = sorted(
        cell for cell in {*released, *now} if plain(released.get(cell, "")) != plain(now.get(cell, ""))
    )
    if not names:
        return ""
    differ = "1 cell differs" if len(names) == 1 else f"{len(names)} cells differ"
    listed = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    return (
        f"solutions/{homework} was edited after its release: {differ} ({listed}). Marks follow the new "
        f"version, but students have the old one; `autograder release {homework}` gives them the new one."
    )


def _first_grade(points: float | None) -> dict[str, float | bool | None]:
    return {"auto_score": points, "needs_manual_grade": points is None}


def _enter(grade: Grade, points: float | None, *, new_bytes: bool) -> None:
    reviewed = not grade.needs_manual_grade and grade.manual_score is not None
    same = grade.auto_score == points and not new_bytes
    grade.auto_score = points
    by_hand = points is None or grade.manual_score is not None
    grade.needs_manual_grade = by_hand and not (reviewed and same)


def _of(students: Sequence[str] | None) -> ColumnElement[bool]:
    return true() if students is None else SubmittedAssignment.student_id.in_(students)


def earlier_of(*times: datetime | None) -> datetime | None:
    """The earliest of the known times; None if none is known."""
    return min((time for time in times if time is not None), default=None)


def _time_of(timestamp: str | None) -> datetime | None:
    try:
        return parse_utc(timestamp) if timestamp else None
    except (ValueError, TypeError, OverflowError):
        return None
