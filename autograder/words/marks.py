"""Commands for existing marks: export, term, backup, restore, merge; excuse, extend, log."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from autograder.words.students import note_unknown
from autograder.words.verb import Arguments, Verb, at_work, counted, gradebook_option, say


def _export_options(part: argparse.ArgumentParser) -> None:
    formats = ["csv", "canvas", "moodle", "gradescope", "gradescope-autograder", "github-classroom"]
    formats += ["canvas-feedback"]
    part.add_argument("homework", metavar="HOMEWORK")
    part.add_argument("format", choices=formats, metavar="FORMAT", help=", ".join(formats))
    part.add_argument("--sheet", type=Path, metavar="FILE", help="the sheet exported by Canvas or Moodle")
    part.add_argument("--student", metavar="NAME", help="the student whose results to export (gradescope)")
    part.add_argument("--column", metavar="NAME", help="the assignment's title or number in Canvas's sheet")
    part.add_argument(
        "--unmarked",
        default="warn",
        choices=["warn", "stop"],
        help="if written answers are not yet graded: export with a warning (default), or export nothing",
    )
    part.add_argument(
        "--hidden",
        default="after_due_date",
        choices=["after_due_date", "after_published", "visible"],
        help="when Gradescope shows students the results of hidden checks (default: after_due_date)",
    )
    part.add_argument("--to", type=Path, metavar="FILE", help="default: standard output")
    gradebook_option(part)


def _export(args: Arguments) -> int:
    from autograder.marks.exports.formats import Export, export
    from autograder.reporting.canvas_feedback import canvas_feedback

    wanted = Export(
        args.root,
        args.homework,
        args.sheet,
        args.student,
        args.gradebook,
        args.column,
        stop_if_unmarked=args.unmarked == "stop",
        hidden=args.hidden,
    )
    made = canvas_feedback(wanted) if args.format == "canvas-feedback" else export(wanted, args.format)
    for note in made.notes:
        say(f"Note: {note}.", file=sys.stderr)
    if args.to is None:
        sys.stdout.buffer.write(made.content)
    else:
        args.to.write_bytes(made.content)
        say(f"written: {args.to}")
    return 0


def _excuse_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("homework", metavar="HOMEWORK")
    part.add_argument("students", nargs="+", metavar="STUDENT")
    part.add_argument("--undo", action="store_true", help="the homework counts again for these students")
    part.add_argument("--why", default="", metavar="TEXT", help="the reason, for the log")
    gradebook_option(part)


def _excuse(args: Arguments) -> int:
    from autograder.marks.decisions import Decision, Decisions
    from autograder.source.loading import require_name

    require_name(args.homework, args.root)
    note_unknown(args.root, args.students, args.gradebook)
    log, excused = Decisions(args.root), not args.undo
    before = log.excused(args.homework)
    log.add(
        *(
            Decision(args.homework, student, "excused", excused, student in before, why=args.why)
            for student in args.students
        )
    )
    now = "now excused from" if excused else "no longer excused from"
    say(f"{now} {args.homework}: {', '.join(args.students)}")
    say(f"excused in all: {', '.join(sorted(log.excused(args.homework))) or 'nobody'}")
    return 0


def _extend_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("homework", metavar="HOMEWORK")
    part.add_argument("students", nargs="+", metavar="STUDENT")
    part.add_argument(
        "--days",
        type=float,
        default=0.0,
        metavar="N",
        help="how many extra days, in place of an earlier extension",
    )
    part.add_argument(
        "--hours", type=float, default=0.0, metavar="N", help="added to --days; 0 in total ends the extension"
    )
    part.add_argument("--why", default="", metavar="TEXT", help="the reason, for the log")
    gradebook_option(part)


def _extend(args: Arguments) -> int:
    from autograder.marks.decisions import Decision, Decisions
    from autograder.source.loading import require_name

    require_name(args.homework, args.root)
    note_unknown(args.root, args.students, args.gradebook)
    log, hours = Decisions(args.root), 24 * args.days + args.hours
    before = {
        student: longer.total_seconds() / 3600 for student, longer in log.extensions(args.homework).items()
    }
    log.add(
        *(
            Decision(args.homework, student, "extension in hours", hours, before.get(student), why=args.why)
            for student in args.students
        )
    )
    say(f"{', '.join(args.students)}: {hours:g} more hours; `autograder grade {args.homework}` applies this.")
    return 0


def _log_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("homework", nargs="?", metavar="HOMEWORK", help="default: all")
    part.add_argument("--student", metavar="NAME", help="default: all")


def _log(args: Arguments) -> int:
    from autograder.marks.decisions import Decisions, in_words

    found = Decisions(args.root).all(args.homework, args.student)
    say(*(in_words(found) if found else ["Nothing is recorded."]))
    return 0


def _term_options(part: argparse.ArgumentParser) -> None:
    part.add_argument(
        "homeworks", nargs="*", metavar="HOMEWORK", help="default: all that anybody has handed in"
    )
    part.add_argument(
        "--weight",
        action="append",
        default=[],
        metavar="HOMEWORK=N",
        help="the homework's weight (default: 1); may be repeated",
    )
    tables = part.add_mutually_exclusive_group()
    tables.add_argument(
        "--statistics", action="store_true", help="a line for each homework instead: how the class did"
    )
    tables.add_argument(
        "--mistakes",
        action="store_true",
        help="instead, the mistakes that a student made in more than one homework",
    )
    part.add_argument("--drop", type=int, default=0, metavar="N", help="drop each student's N lowest marks")
    part.add_argument("--to", type=Path, metavar="FILE", help="default: standard output")
    gradebook_option(part)


def _term(args: Arguments) -> int:
    from autograder.marks import persisting
    from autograder.marks.term import as_csv, read_weights, statistics_as_csv, term

    weights = read_weights(args.weight)
    found = term(args.root, args.homeworks, weights=weights, drop=args.drop, gradebook=args.gradebook)
    if found.left_out:
        names = ", ".join(found.left_out)
        say(f"Note: left out, because nobody has handed it in: {names}.", file=sys.stderr)
    if args.mistakes:
        mistakes = persisting.persisting(args.root, found.homeworks)
        if not mistakes:
            among = ", ".join(found.homeworks)
            say(f"Note: nobody made the same mistake in two of: {among}.", file=sys.stderr)
        table = persisting.as_csv(mistakes)
    else:
        table = (statistics_as_csv if args.statistics else as_csv)(found.students)
    if args.to is None:
        say(table.rstrip("\n"))
    else:
        args.to.write_text(table, encoding="utf-8")
        say(f"written: {args.to}")
    return 0


def _backup_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("file", type=Path, metavar="FILE", help="such as marks.zip")
    gradebook_option(part)


def _backup(args: Arguments) -> int:
    from autograder.marks.backup import backup, gradebook_of
    from autograder.serving.kept import kept

    counts = backup(args.root, args.file, [gradebook_of(args.root, args.gradebook), *kept(args.root)])
    say(f"written: {args.file} ({_counted(counts)}, and grades/)")
    return 0


def _restore(args: Arguments) -> int:
    from autograder.marks.backup import gradebook_of, restore
    from autograder.serving.kept import kept

    databases = [gradebook_of(args.root, args.gradebook), *kept(args.root, args.file)]
    counts = restore(args.root, args.file, databases)
    say(f"restored: {_counted(counts)}, and grades/")
    return 0


def _merge_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("other", type=Path, metavar="FOLDER", help="the other course's folder")
    part.add_argument(
        "--dry-run", action="store_true", help="list what would be taken over, and change nothing"
    )
    gradebook_option(part)


def _merge(args: Arguments) -> int:
    from autograder.marks.merge import merge

    found = merge(args.root, args.other, args.gradebook, dry_run=args.dry_run)
    done = "to take over" if args.dry_run else "taken over"
    taken = f"{counted(len(found.submissions), 'submission')}, {counted(len(found.marks), 'mark')} by hand"
    sums = (
        f"{done}: {taken}, {len(found.granted)} extended or excused; {len(found.conflicts)} differ and stay"
    )
    say(*found.submissions, *found.granted, *found.marks, *found.conflicts, sums)
    return 0


def _counted(rows: Mapping[str, int]) -> str:
    """What a backup holds, from how many rows each table has."""
    named = {"student": "student", "grade": "mark", "handed_in": "attempt"}
    return ", ".join(counted(rows[table], what) for table, what in named.items() if table in rows)


VERBS = {
    "export": Verb("export marks or feedback to Canvas, Moodle or another", _export_options, _export),
    "term": Verb("list marks over all homeworks, weighted", _term_options, _term),
    "backup": Verb("write the gradebook and the records into one file", _backup_options, _backup),
    "restore": Verb("put a backup into an empty gradebook", _backup_options, _restore),
    "merge": Verb(
        "take over submissions and marks from another course folder", _merge_options, at_work(_merge)
    ),
    "excuse": Verb("excuse students from a homework", _excuse_options, _excuse),
    "extend": Verb("give students more time for a homework", _extend_options, _extend),
    "log": Verb("list changes of marks, extensions and excuses", _log_options, _log),
}
