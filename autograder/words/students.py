"""Commands for students' data: student, forget."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.words.verb import Arguments, Verb, counted, gradebook_option, say

if TYPE_CHECKING:
    from autograder.marks.backup import Database
    from autograder.marks.one_student import OneStudent


def note_unknown(root: Path, names: Sequence[str], gradebook: str | None = None) -> None:
    """Say which of these students are not in a gradebook that has others: an id may be misspelt."""
    from nbgrader.coursedir import CourseDirectory

    from autograder.marks.database import in_a_sentence, opened
    from autograder.marks.settings import course_config

    course = CourseDirectory(config=course_config(root.resolve(), gradebook))
    with in_a_sentence(), opened(course) as book:
        known = sorted(student.id for student in book.students)
    if unknown := [name for name in names if known and name not in known]:
        likely = {name: get_close_matches(name, known, n=1) for name in unknown}
        said = (name + (f" (or {likely[name][0]}?)" if likely[name] else "") for name in unknown)
        say(f"Note: not in the gradebook: {', '.join(said)}.", file=sys.stderr)


def _student_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("student", metavar="ID", help="the student's id, as in the gradebook")
    part.add_argument("--to", type=Path, required=True, metavar="FILE", help="such as ada.zip")
    gradebook_option(part)


def _student(args: Arguments) -> int:
    from autograder.marks.backup import gradebook_of
    from autograder.marks.one_student import OneStudent
    from autograder.serving.kept import kept

    databases = [gradebook_of(args.root, args.gradebook), *kept(args.root)]
    student = OneStudent(args.student, args.root, databases)
    if not student.is_known:
        say(f"Nothing is kept of a student {args.student}.", file=sys.stderr)
        return 1
    student.hand_over(args.to)
    say(f"written: {args.to}; it says how hidden checks ended, also those of homework that is not due yet")
    return 0


def _forget_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("student", metavar="ID", nargs="?", help="the student's id, as in the gradebook")
    everyone = "instead of ID: everybody who has handed in nothing since this day"
    part.add_argument("--all-before", type=date.fromisoformat, metavar="YYYY-MM-DD", help=everyone)
    part.add_argument("--dry-run", action="store_true", help="list what would be deleted, delete nothing")
    part.add_argument("--yes", action="store_true", help="delete without asking")
    gradebook_option(part)


def _forget(args: Arguments) -> int:
    from autograder.marks.at_work import alone
    from autograder.marks.backup import gradebook_of
    from autograder.marks.forget import Forgetting, forget, mentions
    from autograder.marks.one_student import OneStudent
    from autograder.serving.kept import kept

    if (args.student is None) == (args.all_before is None):
        say("Name one student, or say --all-before and a day.", file=sys.stderr)
        return 2
    databases = [gradebook_of(args.root, args.gradebook), *kept(args.root)]
    with nullcontext() if args.dry_run else alone(args.root):
        if args.all_before:
            students = _of_a_finished_term(args.root, databases, args.all_before)
        else:
            one = OneStudent(args.student, args.root, databases)
            lines = list(Forgetting(one).lines())
            say(*lines) if lines else say(f"Nothing is kept of a student {one.name}.", file=sys.stderr)
            students = [one] if lines else []
        if not students:
            return 1
        if args.dry_run:
            say("Nothing was deleted, because of --dry-run.")
            return 0
        if not (args.yes or _agrees()):
            say("Nothing was deleted.")
            return 1
        forget(students)
        say("All of this is deleted.")
        if named := mentions(args.root, [student.name for student in students]):
            whose = "The name is" if args.student else "Some of the names are"
            say(f"{whose} still mentioned in these files; please look at them:", *named)
    return 0


def _of_a_finished_term(root: Path, databases: Sequence[Database], day: date) -> list[OneStudent]:
    """Who has handed in nothing since the beginning of this day, UTC; says so, and who stays."""
    from autograder.marks.finished import everybody, last_handed_in

    going, staying = [], []
    for student in everybody(root, databases):
        time = last_handed_in(student)
        if time and time.date() >= day:
            staying.append(student.name)
            continue
        going.append(student)
        when = f"last handed in on {time.date()}" if time else "handed in nothing"
        paths, rows = counted(len(student.places), "path"), counted(sum(student.counts.values()), "row")
        say(f"{student.name}  {when}; {paths}, {rows}")
    if staying:
        say(f"Because of a later submission, all that is kept stays of: {', '.join(staying)}")
    if not going:
        say(f"Nothing is kept of anybody who has handed in nothing since {day}.", file=sys.stderr)
    return going


def _agrees() -> bool:
    """Whether the person at the terminal wants this; without one, not."""
    try:
        return input("Delete all of this for good? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


VERBS = {
    "student": Verb("write everything that is kept of one student to a zip", _student_options, _student),
    "forget": Verb("delete all that is kept of one student, or of a past term", _forget_options, _forget),
}
