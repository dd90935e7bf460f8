"""nbgrader's gradebook, written through its own interface by one writer, one commit per student."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from nbgrader.api import Grade, Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config, PyFileConfigLoader

from autograder.notebook import to_json
from autograder.records import write_text

CONFIGURATION = "nbgrader_config.py"


class NotReleased(LookupError):
    """The gradebook does not know the homework as it stands; the message says which command to run."""


def course_directory(root: Path) -> CourseDirectory:
    """The course as nbgrader sees it, with the settings of its nbgrader_config.py."""
    root = root.resolve()
    config = Config()
    if (root / CONFIGURATION).is_file():
        config = PyFileConfigLoader(CONFIGURATION, path=str(root)).load_config()
    return CourseDirectory(root=str(root), config=config)


class MarkBook:
    """The gradebook of one homework, open for one run of the grader."""

    def __init__(self, course: CourseDirectory, homework: str) -> None:
        self.course = course
        self.homework = homework
        self._gradebook = Gradebook(course.db_url, course.course_id)

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
            notebook = self._gradebook.find_notebook(self.homework, self.homework)
        except MissingEntry:
            raise NotReleased(f"{self.homework} was never released in {self.course.root}. {again}") from None
        known = {cell.name: cell.max_score for cell in notebook.grade_cells}
        if known != dict(points):
            names = sorted({name for name, _ in known.items() ^ dict(points).items()})
            raise NotReleased(
                f"{self.homework} has changed since its release ({', '.join(names[:5])}). {again}"
            )

    def students(self) -> set[str]:
        """Those who have a submission of this homework in the gradebook."""
        found = self._gradebook.assignment_submissions(self.homework)
        return {submission.student_id for submission in found}

    def write(
        self,
        student: str,
        verdicts: Mapping[str, float | None],
        comments: Mapping[str, str | None],
        *,
        timestamp: Any = None,
        new_bytes: bool = True,
    ) -> None:
        """Enter one student's marks, None for a person to decide; what was entered by hand stays.

        new_bytes: whether the student handed in something new, so that marks by hand need another look."""
        gradebook = self._gradebook
        extra = {"timestamp": timestamp} if timestamp is not None else {}
        with one_transaction(gradebook):
            gradebook.update_or_create_student(student)
            submission = gradebook.update_or_create_submission(self.homework, student, **extra)
            notebook = next(entry for entry in submission.notebooks if entry.name == self.homework)
            for grade in notebook.grades:
                if (name := self._cells[grade.cell_id]) in verdicts:
                    _enter(grade, verdicts[name], new_bytes=new_bytes)
            for comment in notebook.comments:
                comment.auto_comment = comments.get(self._cells[comment.cell_id])

    @cached_property
    def _cells(self) -> dict[str, str]:
        """The names of the graded cells and of the answers, by nbgrader's key."""
        notebook = self._gradebook.find_notebook(self.homework, self.homework)
        return {
            cell.id: cell.name
            for cell in (*notebook.grade_cells, *notebook.solution_cells, *notebook.task_cells)
        }

    def write_notebook(self, student: str, content: Mapping) -> Path:
        """Put the autograded notebook where nbgrader looks for it."""
        folder = self.course.format_path(self.course.autograded_directory, student, self.homework)
        path = Path(folder) / f"{self.homework}.ipynb"
        write_text(path, to_json(content))
        return path


def _enter(grade: Grade, points: float | None, *, new_bytes: bool) -> None:
    reviewed = not grade.needs_manual_grade and grade.manual_score is not None
    same = grade.auto_score == points and not new_bytes
    grade.auto_score = points
    by_hand = points is None or grade.manual_score is not None
    grade.needs_manual_grade = by_hand and not (reviewed and same)


@contextlib.contextmanager
def one_transaction(gradebook: Gradebook) -> Iterator[None]:
    """Everything inside becomes visible together or not at all; nbgrader's methods commit as they go."""
    session = gradebook.db
    session.commit = session.flush
    try:
        yield
    except BaseException:
        session.rollback()
        raise
    finally:
        del session.commit
    session.commit()
