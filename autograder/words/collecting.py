"""Commands for what students hand in: collect, repair, similar."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from autograder.words.verb import Arguments, Verb, at_work, gradebook_option, say


def _collect_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("source", type=Path, metavar="SOURCE", help="the download: a folder or a zip file")
    part.add_argument("--homework", required=True, metavar="NAME", help="which homework this is")
    part.add_argument("--to", type=Path, default=Path("submitted"), metavar="DIR", help="default: submitted")
    part.add_argument(
        "--names",
        type=Path,
        metavar="CSV",
        help="the roster: a column `student`, and further columns named as the platforms name them",
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
    part.add_argument(
        "--grace", type=float, default=0.0, metavar="MINUTES", help="how long after --due is still in time"
    )
    gradebook_option(part)


def _collect(args: Arguments) -> int:
    from autograder.collecting import gather, in_words, read_roster
    from autograder.marks.decisions import Decisions
    from autograder.marks.late import NotATime, in_its_zone, read_time, set_due_date
    from autograder.source.loading import require_name

    require_name(args.homework, args.root)
    roster = read_roster(args.names) if args.names else None
    due = read_time(args.due) if args.due else None
    if args.attempt == "in-time" and due is None:
        raise NotATime("--attempt in-time needs a due date: --due 2026-11-20T23:59-05:00.")
    decisions = Decisions(args.root)
    collected = gather(
        args.source,
        args.homework,
        args.root / args.to,
        roster=roster,
        due=due,
        in_time=args.attempt == "in-time",
        grace=timedelta(minutes=args.grace),
        extensions=decisions.extensions(args.homework),
    )
    say(*in_words(collected))
    decisions.record_late(args.homework, collected.late_without_time)
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
