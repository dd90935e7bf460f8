"""Take over the marks of another course folder, such as that of a colleague who graded half of the class.

Nothing that is here is replaced: where both have a mark by hand and they differ, or where a student has
handed in something else there, ours stays and the difference is listed.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbgrader.api import Comment, Grade, Gradebook, MissingEntry, Student, SubmittedAssignment
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import insert, update

from autograder.marks.backup import RECORDS
from autograder.marks.database import in_a_sentence, one_transaction, opened
from autograder.marks.decisions import Decision, Decisions
from autograder.marks.first_submission import add_submission, released_assignment
from autograder.marks.records import RecordFolder
from autograder.marks.settings import course_config

IN_WORDS = {
    "manual_score": "mark by hand",
    "extra_credit": "extra credit",
    "manual_comment": "comment by hand",
}
BY_HAND = {Grade: ("manual_score", "extra_credit"), Comment: ("manual_comment",)}
COLUMNS = {
    Grade: ("auto_score", "needs_manual_grade", *BY_HAND[Grade]),
    Comment: ("auto_comment", *BY_HAND[Comment]),
}
ABOUT_A_STUDENT = ("first_name", "last_name", "email", "lms_user_id")


class MergeError(ValueError):
    """Marks that cannot be taken over; the message says why, and nothing was changed."""


@dataclass
class Difference:
    """What the other folder has and this one lacks, and what differs.

    submissions: whole ones. decisions: of students from whom there is nothing here. marks: (our row, column,
    their value). conflicts: in words.
    """

    submissions: list[SubmittedAssignment] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    marks: list[tuple[Grade | Comment, str, Any]] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Merged:
    """In words: what was missing (submissions, extensions and excuses, marks by hand), and what differs."""

    submissions: tuple[str, ...]
    granted: tuple[str, ...]
    marks: tuple[str, ...]
    conflicts: tuple[str, ...]


@dataclass(frozen=True)
class Merge:
    """Two course folders with the gradebooks that are open."""

    root: Path
    other: Path
    ours: Gradebook
    theirs: Gradebook

    def difference(self) -> Difference:
        """Compare the gradebooks; raises MergeError if a homework was not released here, or differently."""
        found = Difference(decisions=self._decisions(), conflicts=self._granted_otherwise())
        for assignment in self.theirs.assignments:
            submissions = self.theirs.assignment_submissions(assignment.name)
            if submissions:
                self._require_same(assignment.name)
            for submission in submissions:
                try:
                    ours = self.ours.find_submission(assignment.name, submission.student_id)
                except MissingEntry:
                    found.submissions.append(submission)
                else:
                    _compare(ours, submission, found)
        return found

    def carry_out(self, found: Difference) -> None:
        """Take over what is missing here: files and decisions first, then all marks in one transaction.

        After a crash, merging again finds what is still missing, and does the rest.
        """
        for submission in found.submissions:
            self._copy_files(submission.name, submission.student_id)
        Decisions(self.root).take_over(found.decisions)
        with one_transaction(self.ours):
            for submission in found.submissions:
                self._add(submission)
            for row, column, value in found.marks:
                setattr(row, column, value)
                if column == "manual_score":
                    row.needs_manual_grade = False

    def _decisions(self) -> list[Decision]:
        """Those about a student and a homework of which there is neither a submission nor a decision here."""
        known = self._known()
        return [one for one in _about_students(self.other) if (one.homework, one.student) not in known]

    def _known(self) -> set[tuple[str, str]]:
        """(homework, student) of all submissions and decisions that are here."""
        known = {(one.homework, one.student) for one in Decisions(self.root).all()}
        for assignment in self.ours.assignments:
            known |= {(assignment.name, one.student_id) for one in assignment.submissions}
        return known

    def _granted_otherwise(self) -> list[str]:
        """The extensions and excuses there of students who are known here without, or with another."""
        known, ours = self._known(), _granted(_about_students(self.root))
        theirs = _granted(_about_students(self.other))
        return [
            f"{place[0]} {place[1]}: {ours.get(place, 'not')} here, {there} there; ours stays"
            for place, there in theirs.items()
            if place[:2] in known and ours.get(place) != there
        ]

    def _require_same(self, homework: str) -> None:
        try:
            ours, theirs = _cells(self.ours, homework), _cells(self.theirs, homework)
        except MissingEntry:
            raise MergeError(
                f"{homework} was never released in {self.root}; run `autograder release {homework}` there."
            ) from None
        if ours != theirs:
            names = sorted({f"{cell}" for _, cell in dict(ours.items() ^ theirs.items())})
            raise MergeError(
                f"{homework} was released there in another version ({', '.join(names[:5])}). Release "
                "it in both folders from the same source, grade again, and merge then."
            )

    def _add(self, submission: SubmittedAssignment) -> None:
        session, student = self.ours.db, submission.student_id
        if session.get(Student, student) is None:
            about = {name: getattr(submission.student, name) for name in ABOUT_A_STUDENT}
            session.execute(insert(Student), [{"id": student, **about}])
        assignment = released_assignment(self.ours, submission.name)
        grades, comments = (
            {
                key: {name: getattr(rows[notebook.name, cell], name) for name in COLUMNS[kind]}
                for notebook in assignment.notebooks
                for key, cell in (notebook.graded if kind is Grade else notebook.answered).items()
            }
            for kind, rows in ((Grade, _rows(submission, Grade)), (Comment, _rows(submission, Comment)))
        )
        add_submission(self.ours, assignment, student, submission.timestamp, grades, comments)
        one = SubmittedAssignment
        session.execute(
            update(one)
            .where(one.assignment_id == assignment.key, one.student_id == student)
            .values(extension=submission.extension)
        )

    def _copy_files(self, homework: str, student: str) -> None:
        """What was handed in, earlier attempts, the graded notebook and the record, unless they are here."""
        ours, theirs = (_folders(folder, homework, student) for folder in (self.root, self.other))
        here, there = (folders[0].parents[1] for folders in (ours, theirs))
        kept = [top.name for top in there.glob(".*/")]  # where `collect` keeps attempts that do not count
        ours += [here / name / student / homework for name in kept]
        theirs += [there / name / student / homework for name in kept]
        for here, there in zip(ours, theirs, strict=True):
            if there.is_dir() and not here.exists():
                unfinished = here.with_name(f".{here.name}.part")
                shutil.rmtree(unfinished, ignore_errors=True)
                shutil.copytree(there, unfinished, symlinks=True)
                unfinished.rename(here)
        record = RecordFolder(self.other / RECORDS, homework).find(student)
        folder = RecordFolder(self.root / RECORDS, homework)
        if record is not None and not folder.file(student).exists():
            folder.add(record)


def merge(root: Path, other: Path, gradebook: str | None = None, *, dry_run: bool = False) -> Merged:
    """Take over what the gradebook of `other` has and that of `root` lacks.

    gradebook: the URL of ours; None takes the one of nbgrader_config.py. dry_run: change nothing. Raises
    MergeError, GradebookUnavailable.
    """
    if root.resolve() == other.resolve() or not (other / "nbgrader_config.py").is_file():
        raise MergeError(f"{other} is not another course folder: it has no nbgrader_config.py of its own.")
    courses = (
        CourseDirectory(config=course_config(folder.resolve(), url))
        for folder, url in ((root, gradebook), (other, None))
    )
    ours, theirs = map(opened, courses)
    with in_a_sentence(), ours, theirs:
        both = Merge(root, other, ours, theirs)
        found = both.difference()
        merged = Merged(
            tuple(f"{one.name} {one.student_id}: all marks" for one in found.submissions),
            tuple(
                f"{homework} {student}: {what}"
                for (homework, student, _), what in _granted(found.decisions).items()
            ),
            tuple(f"{_place(row)}: {IN_WORDS[column]}" for row, column, _ in found.marks),
            tuple(found.conflicts),
        )
        if not dry_run:
            both.carry_out(found)
        return merged


def _about_students(root: Path) -> list[Decision]:
    """The decisions about students who were not forgotten."""
    log = Decisions(root).all()
    gone = {one.student for one in log if one.what == "forgotten"}
    return [one for one in log if one.student and one.student not in gone]


def _granted(decisions: Iterable[Decision]) -> dict[tuple[str, str, str], str]:
    """(homework, student, what) → in words, of the extensions and excuses that apply."""
    last: dict[tuple[str, str, str], Any] = {
        (one.homework, one.student, one.what): one.value for one in decisions
    }
    excused = {key: "excused" for key, value in last.items() if key[2] == "excused" and value}
    return excused | {
        key: f"extended by {value:g} hours"
        for key, value in last.items()
        if key[2] == "extension in hours" and value
    }


def _folders(root: Path, homework: str, student: str) -> list[Path]:
    course = CourseDirectory(config=course_config(root.resolve()))
    steps = (course.submitted_directory, course.autograded_directory)
    return [Path(course.format_path(step, student, homework)) for step in steps]


def _cells(gradebook: Gradebook, homework: str) -> dict[tuple[str, str], float | None]:
    """(notebook, cell) → points, of all cells that get a mark or a comment."""
    notebooks = gradebook.find_assignment(homework).notebooks
    return {
        (notebook.name, cell.name): getattr(cell, "max_score", None)
        for notebook in notebooks
        for cell in (*notebook.solution_cells, *notebook.grade_cells, *notebook.task_cells)
    }


def _rows(submission: SubmittedAssignment, kind: type) -> dict[tuple[str, str], Any]:
    """(notebook, cell) → the grade or comment."""
    return {
        (notebook.name, row.name): row
        for notebook in submission.notebooks
        for row in (notebook.grades if kind is Grade else notebook.comments)
    }


def _place(row: Grade | Comment) -> str:
    return f"{row.assignment.name} {row.student.id} {row.name}"


def _compare(ours: SubmittedAssignment, theirs: SubmittedAssignment, found: Difference) -> None:
    here, there = _rows(ours, Grade), _rows(theirs, Grade)
    if any(here[place].auto_score != row.auto_score for place, row in there.items()):
        found.conflicts.append(f"{ours.name} {ours.student_id}: other automatic points there; ours stay")
        return
    for kind, columns in BY_HAND.items():
        here, there = _rows(ours, kind), _rows(theirs, kind)
        for place, row in there.items():
            for name in columns:
                mine, other = getattr(here[place], name), getattr(row, name)
                if mine is None and other is not None:
                    found.marks.append((here[place], name, other))
                elif other not in (None, mine):
                    both = f"{_shown(mine)} here, {_shown(other)} there; ours stays"
                    found.conflicts.append(f"{_place(row)}: {IN_WORDS[name]} {both}")


def _shown(value: float | str) -> str:
    return f"“{value}”" if isinstance(value, str) else f"{value:g}"
