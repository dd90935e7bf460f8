"""Commands for grading: grade, watch, try, report, compete, demo, doctor."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.markup import one_line
from autograder.words.verb import (
    Arguments,
    Verb,
    at_work,
    dask_option,
    gradebook_option,
    isolation_option,
    no_options,
    say,
)

if TYPE_CHECKING:
    from autograder.marks.records import SubmissionRecord

TO_MARK = (
    "Answers in words of {count} must still be marked by hand, in Formgrader or on the website of "
    "`autograder serve`; the points above are those of the checks alone."
)

NO_RECORD = "nobody called {student} has been graded here, so the hidden inputs are new ones."


def _grade_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("homework", metavar="HOMEWORK")
    part.add_argument(
        "--submissions",
        type=Path,
        required=True,
        metavar="DIR",
        help="STUDENT/HOMEWORK/*.ipynb or STUDENT.ipynb",
    )
    jobs = "submissions graded at the same time (default: one per available core)"
    part.add_argument("--jobs", type=int, default=None, help=jobs)
    dask_option(part)
    gradebook_option(part)
    part.add_argument("--json", type=Path, metavar="FILE", help="also write the results to FILE")
    isolation_option(part)
    part.add_argument(
        "--attempt",
        default="latest",
        choices=["latest", "in-time", "best"],
        help="which of a student's attempts counts (default: latest)",
    )
    part.add_argument("--again", action="store_true", help="also regrade what is graded already")
    memory = "memory of one submission in megabytes (default: 2048)"
    part.add_argument("--memory", type=_megabytes, metavar="MB", help=memory)
    part.add_argument(
        "--preview",
        action="store_true",
        help="judge what is due, show which marks would change, write nothing",
    )
    part.add_argument(
        "--forbidden",
        default="costs",
        choices=["costs", "flag"],
        help="whether a forbidden call costs its exercise the points (default) or is only reported",
    )


def _megabytes(text: str) -> int:
    """The number of bytes; raises ValueError unless it is at least one megabyte."""
    if (megabytes := int(text)) < 1:
        raise ValueError
    return megabytes << 20


def _grade(args: Arguments) -> int:
    from autograder.grading.forked import NEW_OBJECTS

    before = gc.get_threshold()
    gc.set_threshold(NEW_OBJECTS)  # imports and syntax trees are many objects and hardly any garbage
    try:
        return _graded(args)
    finally:
        gc.set_threshold(*before)


def _graded(args: Arguments) -> int:
    from autograder.grade import grade, mark_book
    from autograder.isolation import Limits
    from autograder.marks.changes import in_words, kept_by_hand, marked_by_hand, point_changes
    from autograder.marks.records import RecordFolder
    from autograder.marks.table import table
    from autograder.source.loading import find
    from autograder.submissions.collect import SUBMITTED

    before = RecordFolder(args.root / "grades", args.homework).all()
    record = grade(
        args.homework,
        args.submissions,
        root=args.root,
        jobs=args.jobs,
        dask=args.dask,
        gradebook=args.gradebook,
        isolation=args.isolation,
        again=args.again,
        limits=Limits(memory_bytes=args.memory) if args.memory else None,
        json_file=args.json,
        forbidden_costs_points=args.forbidden == "costs",
        preview=args.preview,
        attempt=args.attempt,
    )
    if args.preview:
        words = list(in_words(before, record.submissions, "would change")) or ["No mark would change."]
        changed = point_changes(args.homework, before, record.submissions)
        with mark_book(args.root, args.homework, args.gradebook) as marks:
            words += kept_by_hand(marks.by_hand(), changed)
        say(*words, "Nothing was written, because of --preview.")
        return 0
    say(table(record, find(args.homework, args.root)))
    to_look_at_again = log_changes(args, before, record.submissions)
    if words := [*in_words(before, record.submissions), *marked_by_hand(to_look_at_again)]:
        say("", *words)
    say("\nIsolation: {level} ({reason}).".format(**record.isolation))
    if "checks" in record.isolation:
        say(f"Note: {record.isolation['checks']}.")
    for note in (*record.notes, *beyond_the_checks(args)):
        say(f"Note: {note}")
    if args.submissions.resolve() != (args.root / SUBMITTED).resolve():
        say(f"Note: Formgrader counts as submissions only what is in {SUBMITTED}/.")
    say(f"`autograder report {args.homework}` writes the class report.")
    return 0


def beyond_the_checks(args: Arguments) -> list[str]:
    """Sentences on what a person must mark and what is taken off; the table is of the checks alone."""
    from autograder.marks.exports.marks import marks_of, number

    marks = marks_of(args.root, args.homework, args.gradebook)
    waiting = sum(mark.waits_for_a_person and not mark.excused for mark in marks)
    late = [f"{one_line(mark.student)} {number(mark.penalty)}" for mark in marks if mark.penalty]
    notes = [TO_MARK.format(count="1 student" if waiting == 1 else f"{waiting} students")] if waiting else []
    return notes + ([f"Taken off for being late, after the points above: {', '.join(late)}."] if late else [])


def log_changes(
    args: Arguments, before: list[SubmissionRecord], after: Sequence[SubmissionRecord]
) -> dict[str, list[str]]:
    """Record in the log the points that this run changed, and what people gave since the last look.

    Returns student → cells with a manual mark to be looked at again.
    """
    from autograder.marks.changes import point_changes
    from autograder.marks.decisions import Decisions
    from autograder.marks.gradebook import MarkBook

    log = Decisions(args.root)
    log.add(*point_changes(args.homework, before, after))
    with MarkBook(args.root, args.homework, args.gradebook) as marks:
        log.notice(args.homework, marks.by_hand())
        return marks.to_look_at_again()


def _watch_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("folder", type=Path, metavar="FOLDER", help="see `grade --submissions`")
    part.add_argument(
        "--homework",
        action="append",
        dest="homeworks",
        metavar="NAME",
        help="may be repeated (default: all that are released)",
    )
    jobs = "submissions graded at the same time (default: one per available core)"
    part.add_argument("--jobs", type=int, default=None, help=jobs)
    isolation_option(part)
    dask_option(part)
    gradebook_option(part)


def _watch(args: Arguments) -> int:
    from autograder.source.loading import require_name
    from autograder.watching.arrivals import Arrivals
    from autograder.watching.watch import released, watch

    names = args.homeworks or released(args.root)
    for name in names:
        require_name(name, args.root)
    say(f"Watching {args.folder} for {', '.join(names)}. Ctrl-C ends it.")
    watch(
        Arrivals(args.folder),
        names,
        args.root,
        jobs=args.jobs,
        isolation=args.isolation,
        dask=args.dask,
        gradebook=args.gradebook,
        say=say,
    )
    return 0


def _try_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("notebook", type=Path, metavar="NOTEBOOK")
    part.add_argument("--homework", metavar="NAME", help="default: the notebook's own name")
    part.add_argument("--student", metavar="NAME", help="use the hidden inputs of this student's record")
    part.add_argument(
        "--calls",
        metavar="EXERCISE",
        help="show this exercise alone: the calls of its claims that do not hold (of all, if all hold), with "
        "the student's answer above the right one; then what its student would read",
    )
    isolation_option(part)


def _try(args: Arguments) -> int:
    from autograder.grading import compared
    from autograder.grading.preview import graded_alone, made_by
    from autograder.grading.told import as_told, in_words
    from autograder.marks.records import RecordFolder
    from autograder.source.loading import require_name

    name = args.homework or args.notebook.stem
    require_name(name, args.root)
    record = RecordFolder(args.root / "grades", name).find(args.student) if args.student else None
    if args.student and record is None:
        say(f"Note: {NO_RECORD.format(student=args.student)}", file=sys.stderr)
    seed = record.seed if record else None
    alone = graded_alone(args.notebook, name, args.root, args.isolation, seed, args.calls)
    graded = alone.graded.record
    if alone.compared:
        say(f"The calls of {args.calls}. They show hidden inputs, so they are for you:")
        say(*compared.in_words(alone.compared), f"\nWhat the student would read of {args.calls}:")
        asked_about = tuple(one for one in graded.exercises if one.name == args.calls)
        graded = replace(graded, exercises=asked_about)
    say(*in_words(as_told(graded, alone.homework)))
    say(f"\nMade by: {made_by(alone.graded.record)}. Nothing was written.")
    return 0


def _report_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("homework", metavar="HOMEWORK")
    gradebook_option(part)


def _report(args: Arguments) -> int:
    from autograder.reporting.report import report

    say(f"written: {os.path.relpath(report(args.homework, args.root, args.gradebook), args.root)}")
    return 0


def _demo_options(part: argparse.ArgumentParser) -> None:
    isolation_option(part)


def _demo(args: Arguments) -> int:
    from autograder.sample.demo import demo

    demo(args.root, isolation=args.isolation)
    return 0


def _doctor(args: Arguments) -> int:
    from autograder.doctor import examine, in_words, resources, this_machine

    found = examine(this_machine())
    say(in_words(found, resources(found.best)))
    return int(found.best is None)


def _compete_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("folder", type=Path, metavar="DIR", help="a folder with one NAME.py for each student")
    part.add_argument("--seed", type=int, required=True, help="decides the hidden stories; keep it secret")
    part.add_argument(
        "--cpu-seconds",
        type=float,
        default=60.0,
        metavar="N",
        help="processor time for training each entry (default: 60)",
    )
    part.add_argument(
        "--parameters",
        type=int,
        default=500_000,
        metavar="N",
        help="the most an entry may have (default: 500000)",
    )
    isolation_option(part)


def _compete(args: Arguments) -> int:
    from autograder.competing import Competition, as_text, compete

    competition = Competition(args.seed, args.cpu_seconds, args.parameters)
    places, task = compete(args.folder, competition, args.isolation, say)
    say(as_text(places, task))
    return 0


VERBS = {
    "grade": Verb("grade a folder of submissions in the sandbox", _grade_options, at_work(_grade)),
    "watch": Verb("grade what arrives in a folder, as it arrives", _watch_options, at_work(_watch)),
    "try": Verb("grade one notebook and print what its student would read", _try_options, _try),
    "report": Verb("write the class report as one HTML file", _report_options, _report),
    "compete": Verb("rank language models by their loss on hidden stories", _compete_options, _compete),
    "demo": Verb("run everything once on sample submissions", _demo_options, _demo),
    "doctor": Verb("report which sandboxes work on this machine", no_options, _doctor),
}
