"""Grade submissions as they arrive: everything that grading needs stays warm from one to the next.

Submissions are in files, and results in records and the gradebook. A watcher keeps nothing else, so after it
is killed, the next one finds what is due in the same way as `autograder grade`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from autograder.grade import clerk_for, mark_book
from autograder.grading.attempts import as_chosen
from autograder.grading.clerk import Clerk, Task
from autograder.grading.order import Order
from autograder.grading.pool import Judges, JudgesUnavailable, local_judges
from autograder.isolation import Limits
from autograder.making.release import released_path
from autograder.marks.changes import point_changes
from autograder.marks.database import GradebookUnavailable
from autograder.marks.decisions import Decision, Decisions
from autograder.marks.exports.marks import ExportError, Mark, marks_of
from autograder.marks.hand_marks import HandMarks, hand_marks
from autograder.marks.records import SubmissionRecord
from autograder.marks.table import mark
from autograder.markup import one_line
from autograder.software import files_in
from autograder.source.homework import HomeworkSource
from autograder.source.loading import assignments
from autograder.source.notebook import SourceError
from autograder.source.released import NotReleased
from autograder.submissions.collect import Found

SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_BETWEEN_SUMMARIES = 30.0  # at least, while submissions keep arriving
SECONDS_BETWEEN_LOOKS_AT_MARKS = 60.0  # in the gradebook, where people mark in Formgrader
SECONDS_OF_A_TURN = 10.0  # after which it is the turn of other homeworks
SECONDS_UNTIL_ANOTHER_TRY = 2.0
SECONDS_UNTIL_REOPENED = 10.0  # of a homework that could not be graded
AWAY = (GradebookUnavailable, JudgesUnavailable)  # and may come back
JudgesFor = Callable[[Order], AbstractContextManager[Judges]]


class Inbox(Protocol):
    """The source of submissions, which also receives their results."""

    def all(self, homework: str) -> Sequence[Found]:
        """Every submission that is complete."""

    def arrived(self, homework: str) -> Sequence[Found]:
        """Submissions that are new or changed since this was last called; at first, all."""

    def give_back(self, submission: Found, record: SubmissionRecord, homework: HomeworkSource) -> None:
        """A submission has been graded, now or earlier; called more than once for the same record."""

    def by_hand(self, homework: str) -> Sequence[ByHand]:
        """Marks that people gave and the gradebook lacks."""

    def entered(self, homework: str, mark: Any) -> None:
        """The gradebook has one of these."""

    def marked(self, homework: str, marks: Sequence[Mark], given: Mapping[str, HandMarks]) -> None:
        """Everybody's mark in the gradebook, with late penalties, and what people gave to each answer.

        Called again and again.
        """

    @property
    def folder(self) -> Path:
        """The folder with the submissions, and with the attempts that are kept aside."""


class ByHand(Protocol):
    """A person's mark for a question, and their comment for the student."""

    @property
    def student(self) -> str: ...
    @property
    def question(self) -> str: ...
    @property
    def points(self) -> float: ...
    @property
    def comment(self) -> str: ...
    @property
    def who(self) -> str: ...


@dataclass
class OpenHomework:
    """A homework with its plan and its gradebook, which stay open until its source changes."""

    order: Order
    root: Path
    judges_for: JudgesFor
    inbox: Inbox
    gradebook: str | None
    say: Callable[[str], None]
    open: ExitStack = field(default_factory=ExitStack)
    clerk: Clerk | None = None
    source: object = None  # its state when it was opened
    has_missed: bool = False  # whether submissions arrived while it could not be graded
    unsummed: float | None = None  # since when the summary is incomplete
    refused: str = ""  # why it could not be opened, as was said
    next_try: float = 0.0  # when to open it again after that: a release may change no file
    looked: float = float("-inf")  # when the gradebook's marks were last handed on

    @property
    def name(self) -> str:
        return self.order.homework

    def round(self, until: float) -> bool:
        """Grade what has arrived, and what arrives up to a time; returns whether there was anything."""
        try:
            arrived = self.inbox.arrived(self.name)
            self.enter_by_hand()
        except AWAY as problem:
            self.give_up(problem)
            return False
        if not (arrived or self.has_missed) or not self.is_ready():
            self.has_missed = self.has_missed or bool(arrived)
            return False
        try:
            self.grade(self.inbox.all(self.name) if self.has_missed else arrived, until)
            self.has_missed = False
        except AWAY as problem:
            self.give_up(problem)
        return True

    def is_ready(self) -> bool:
        """Open the homework, or reopen it if the source has changed; returns whether it can be graded."""
        source = _state_of(self.root, self.name)
        if source == self.source and (self.clerk is not None or time.monotonic() < self.next_try):
            return self.clerk is not None
        try:
            self.close()
            self.source = source
            judges = self.open.enter_context(self.judges_for(self.order))
            marks = self.open.enter_context(mark_book(self.root, self.name, self.gradebook))
            self.clerk = clerk_for(self.order, self.root, marks, judges, ())
            self.clerk.plan.prepare()
            self.unsummed, self.refused = time.monotonic(), ""
        except AWAY as problem:
            self.give_up(problem)
        except (SourceError, NotReleased) as problem:
            self.clerk, self.next_try = None, time.monotonic() + SECONDS_UNTIL_REOPENED
            if str(problem) != self.refused:
                self.refused = str(problem)
                self.say(f"{self.name} cannot be graded: {problem}")
        return self.clerk is not None

    def grade(self, arrived: Sequence[Found], until: float) -> None:
        """Have these judged, and what arrives meanwhile; print each result and report it to the inbox."""
        clerk = self.clerk
        assert clerk is not None
        before = dict(clerk.records)

        def due(found: Sequence[Found]) -> list[Task]:
            log = Decisions(self.root)
            todo = list(clerk.due(as_chosen(found, self.inbox.folder, log, self.name))) if found else []
            judged = {task.submission.student for task in todo}
            for submission in found:
                if submission.student not in judged:
                    self.give_back(submission)
            return todo

        def arriving() -> list[Task]:
            return due(self.inbox.arrived(self.name)) if time.monotonic() < until else []

        if not (todo := due(arrived)):
            return
        with closing(clerk.saved(todo, arriving)) as graded:
            for submission in graded:
                record = clerk.records[submission.student]
                old = [before[record.student]] if record.student in before else []
                before[record.student] = record
                Decisions(self.root).add(*point_changes(self.name, old, [record]))
                self.unsummed = self.unsummed or time.monotonic()
                self.give_back(submission)
                self.say(f"{self.name}  {one_line(record.student)}  {mark(record)}")

    def enter_by_hand(self) -> None:
        """Enter the marks that people gave, and record them in the log."""
        if not (given := self.inbox.by_hand(self.name)) or not self.is_ready() or self.clerk is None:
            return
        for one in given:
            before = self.clerk.marks.mark_by_hand(one.student, one.question, one.points, one.comment)
            if before != one.points:
                why = f"rubric, by {one.who}"
                decision = Decision(
                    self.name, one.student, "mark by hand", one.points, before, one.question, why
                )
                Decisions(self.root).add(decision)
            self.inbox.entered(self.name, one)
            self.unsummed = self.unsummed or time.monotonic()  # the penalty depends on it

    def give_back(self, submission: Found) -> None:
        assert self.clerk is not None
        record = self.clerk.records[submission.student]
        self.inbox.give_back(submission, record, self.clerk.plan.homework)

    def give_up(self, problem: GradebookUnavailable | JudgesUnavailable) -> None:
        """Try again later: a server may have been restarted."""
        self.say(str(problem))
        self.unsummed, self.has_missed = None, True
        self.close()
        time.sleep(SECONDS_UNTIL_ANOTHER_TRY)

    def sum_up(self, after: float = 0.0) -> None:
        """Enter penalties and write the summary, if results have been waiting for this many seconds."""
        if self.clerk is None or self.unsummed is None or time.monotonic() - self.unsummed < after:
            return
        try:
            self.clerk.found = self.inbox.all(self.name)
            self.clerk.marks.enter_penalties()
            self.clerk.summary()
            self.unsummed = None
        except AWAY as problem:
            self.give_up(problem)
            return
        self.hand_on_marks()

    def hand_on_marks(self, after: float = 0.0) -> None:
        """Log marks by hand, and tell the inbox every mark, if that was longer ago than this many seconds."""
        if time.monotonic() - self.looked < after:
            return
        self.looked = time.monotonic()
        if self.clerk is not None:
            with suppress(*AWAY):
                Decisions(self.root).notice(self.name, self.clerk.marks.by_hand())
        with suppress(ExportError, *AWAY):  # not released into this gradebook yet, or to be asked again
            place = (self.root, self.name, self.gradebook)
            self.inbox.marked(self.name, marks_of(*place), hand_marks(*place))

    def close(self) -> None:
        """Write the summary, and close the gradebook."""
        self.sum_up()
        self.open.close()
        self.clerk, self.source = None, None


def watch(
    inbox: Inbox,
    homeworks: Sequence[str],
    root: Path,
    *,
    jobs: int | None = None,
    isolation: str = "best",
    dask: str | None = None,
    gradebook: str | None = None,
    say: Callable[[str], None] = print,
    has_ended: Callable[[], bool] = lambda: False,
) -> None:
    """Grade what arrives in the inbox, until it has ended; raises IsolationUnavailable.

    If a homework cannot be graded now, or the gradebook or cluster cannot be used, that is printed and tried
    again.
    dask: the address of a Dask cluster whose workers judge; with None they are judged here, `jobs` at once.
    gradebook: the URL of its database; None takes the one of nbgrader_config.py.
    """
    limits = Limits()
    with shared_judges(isolation, limits, jobs, dask, root, say) as judges_for, ExitStack() as stack:
        opened = [
            OpenHomework(Order(name, isolation, limits), root, judges_for, inbox, gradebook, say)
            for name in homeworks
        ]
        for one in opened:
            stack.callback(one.close)
        turn = SECONDS_OF_A_TURN if len(opened) > 1 else float("inf")
        while not has_ended():
            busy = [one.round(time.monotonic() + turn) for one in opened]
            for one in opened:
                one.sum_up(SECONDS_BETWEEN_SUMMARIES if any(busy) else 0.0)
                one.hand_on_marks(SECONDS_BETWEEN_LOOKS_AT_MARKS)
            if not any(busy):
                time.sleep(SECONDS_BETWEEN_LOOKS)


@contextmanager
def shared_judges(
    isolation: str, limits: Limits, jobs: int | None, dask: str | None, root: Path, say: Callable[[str], None]
) -> Iterator[JudgesFor]:
    """The judges of a homework: on this machine shared by all, and ready; on a cluster its own."""
    if dask is not None:
        from autograder.cluster.driver import cluster_judges

        say(f"Ready. Judges: the workers of the Dask cluster at {dask}.")
        yield lambda order: cluster_judges(dask, order, root)
        return
    with local_judges(isolation, limits, jobs) as judges:
        judges.warm()
        say(f"Ready. Isolation: {judges.level.name} ({judges.level.reason}).")
        yield lambda order: nullcontext(judges)


def released(root: Path) -> list[str]:
    """The homeworks that are released; raises NotReleased if none is."""
    found = [name for name in assignments(root) if released_path(root, name).is_file()]
    if not found:
        raise NotReleased(f"No homework is released in {root}. Run `autograder release NAME`.")
    return found


def _state_of(root: Path, name: str) -> object:
    """A state that changes when the homework is edited or released."""
    paths = [*files_in(root / "solutions" / name), released_path(root, name)]
    there = [(path, path.stat()) for path in paths if path.is_file()]
    return [(path, status.st_mtime_ns, status.st_size) for path, status in there]
