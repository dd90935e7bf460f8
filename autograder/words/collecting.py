"""Commands for what students hand in: collect, repair, similar."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from autograder.words.verb import Arguments, Verb, at_work, grace_option, gradebook_option, say


def _collect_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("source", type=Path, metavar="SOURCE", help="the download: a folder or a zip file")
    part.add_argument("--homework", required=True, metavar="NAME", help="which homework this is")
    part.add_argument("--to", type=Path, default=Path("submitted"), metavar="DIR", help="default: submitted")
    part.add_argument(
        "--names",
        type=Path,
        metavar="CSV",
        help="the roster: a column `student`, and further columns named as the platforms name them; or the "
        "sheet that Canvas's gradebook exports",
    )
    part.add_argument(
        "--due",
        metavar="TIME",
        help="the due date, such as 2026-11-20T23:59-05:00 (without a zone: this machine's); late work "
        "is reported, and the gradebook records the date",
    )
    part.add_argument(
        "--attempt",
        default="latest",
        choices=["latest", "in-time"],
        help="which attempt counts: the latest (default), or the latest that arrived by --due",
    )
    grace_option(part)
    gradebook_option(part)


def _collect(args: Arguments) -> int:
    from autograder.collecting import gather, in_words, read_roster
    from autograder.marks.decisions import Decisions
    from autograder.marks.late import NotATime, in_its_zone, read_time, set_due_date
    from autograder.source.loading import require_name
    from autograder.submissions.collect import collect as in_folder

    require_name(args.homework, args.root)
    roster = read_roster(args.names) if args.names else None
    due = read_time(args.due) if args.due else None
    if args.attempt == "in-time" and due is None:
        raise NotATime("--attempt in-time needs a due date: --due 2026-11-20T23:59-05:00.")
    decisions, in_time, to = Decisions(args.root), args.attempt == "in-time", args.root / args.to
    if args.grace is not None:
        decisions.set_grace(args.homework, timedelta(minutes=args.grace))
    collected = gather(
        args.source,
        args.homework,
        to,
        roster=roster,
        due=due,
        in_time=in_time,
        grace=decisions.grace(args.homework),
        extensions=decisions.extensions(args.homework),
    )
    say(*in_words(collected))
    decisions.record_late(args.homework, collected.late_without_time)
    if to.is_dir() and (in_time or decisions.attempts_chosen(args.homework)):
        from autograder.grading.attempts import record  # which imports torch

        students = {row.student for row in collected.rows}
        found = [one for one in in_folder(to, args.homework) if one.student in students]
        record(decisions, args.homework, to, args.attempt, found, found)
    if count := sum(collected.late_without_time.values()):
        say(f"{count} late by an unknown time; c.PerDay.unknown_counts_as_days sets the penalty.")
    if due:
        say(f"Due {in_its_zone(due)}.")
        set_due_date(args.root, args.homework, due, args.gradebook)
    return _warned(collected.lost)


def _warned(lost: Sequence[tuple[str, ...]]) -> int:
    """The exit status; 1, with a warning, if something that holds a notebook was not collected."""
    from autograder.collecting.unclaimed import listed

    if lost:
        say(
            f"NOT COLLECTED, because it is unclear whose: {listed(lost)}. All others were collected. "
            "Name these as the others are named, and collect again.",
            file=sys.stderr,
        )
    return 1 if lost else 0


def _repair_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("notebook", type=Path, metavar="NOTEBOOK")
    part.add_argument("--homework", required=True, metavar="NAME", help="which homework this is")
    part.add_argument("--to", type=Path, metavar="FILE", help="default: NOTEBOOK.repaired.ipynb beside it")


def _repair(args: Arguments) -> int:
    from autograder.collecting.repair_notebook import repair_notebook

    written, done = repair_notebook(args.notebook, args.homework, args.root, args.to)
    say(*done)
    say(f"written: {written}")
    return 0


def _similar_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("homework", metavar="HOMEWORK")


def _similar(args: Arguments) -> int:
    from autograder.reporting.similar import in_words, similar
    from autograder.source.loading import find

    say(*in_words(similar(find(args.homework, args.root), args.root)))
    return 0


VERBS = {
    "collect": Verb("unpack submissions from a platform's download", _collect_options, at_work(_collect)),
    "repair": Verb("repair a damaged notebook from the release", _repair_options, _repair),
    "similar": Verb(
        "list pairs of submissions with more in common than expected", _similar_options, _similar
    ),
}
