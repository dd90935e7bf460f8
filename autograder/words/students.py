"""Commands for the data of one student: student, forget."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from difflib import get_close_matches
from pathlib import Path

from autograder.words.verb import Arguments, Verb, gradebook_option, say


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
    part.add_argument("student", metavar="ID", help="the student's id, as in the gradebook")
    part.add_argument("--dry-run", action="store_true", help="list what would be deleted, delete nothing")
    part.add_argument("--yes", action="store_true", help="delete without asking")
    gradebook_option(part)


def _forget(args: Arguments) -> int:
    from autograder.marks.at_work import alone
    from autograder.marks.backup import gradebook_of
    from autograder.marks.forget import Forgetting, mentions
    from autograder.marks.one_student import OneStudent
    from autograder.serving.kept import kept

    databases = [gradebook_of(args.root, args.gradebook), *kept(args.root)]
    with nullcontext() if args.dry_run else alone(args.root):
        going = Forgetting(OneStudent(args.student, args.root, databases))
        if not (lines := list(going.lines())):
            say(f"Nothing is kept of a student {args.student}.", file=sys.stderr)
            return 1
        say(*lines)
        if args.dry_run:
            say("Nothing was deleted, because of --dry-run.")
            return 0
        if not (args.yes or _agrees()):
            say("Nothing was deleted.")
            return 1
        going.forget()
        say("All of this is deleted.")
        if named := mentions(args.root, args.student):
            say("The name is still mentioned in these files; please look at them:", *named)
    return 0


def _agrees() -> bool:
    """Whether the person at the terminal wants this; without one, not."""
    try:
        return input("Delete all of this for good? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


VERBS = {
    "student": Verb("write everything that is kept of one student to a zip", _student_options, _student),
    "forget": Verb("delete everything that is kept of one student", _forget_options, _forget),
}
