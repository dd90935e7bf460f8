"""Commands for the website where students hand in: serve, invite, send, due."""

from __future__ import annotations

import argparse
import sys
from datetime import timedelta
from pathlib import Path

from autograder.words.students import note_unknown
from autograder.words.verb import (
    Arguments,
    Verb,
    at_work,
    dask_option,
    grace_option,
    gradebook_option,
    isolation_option,
    say,
)

ELSEWHERE = (
    "links of `autograder invite` lead to {invited}; to change that, write "
    'address = "{here}" into serve.toml.'
)


def _serve_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("homeworks", nargs="*", metavar="HOMEWORK", help="default: all that are released")
    part.add_argument("--host", default="127.0.0.1", help="where to listen (default: this machine alone)")
    part.add_argument("--port", type=int, help="on which port to listen (default: the address's, or 8000)")
    part.add_argument(
        "--only",
        default="both",
        choices=["both", "pages", "grader"],
        help="run only one of its two processes",
    )
    part.add_argument("--jobs", type=int, default=None, help="submissions graded at the same time")
    isolation_option(part)
    dask_option(part)
    gradebook_option(part)


def _serve(args: Arguments) -> int:
    from autograder.extras import needs
    from autograder.source.loading import require_name
    from autograder.watching.watch import released

    names = args.homeworks or released(args.root)
    for name in names:
        require_name(name, args.root)
    if args.only == "grader":
        from autograder.serving.run import grade_attempts

        grade_attempts(
            args.root,
            names,
            jobs=args.jobs,
            isolation=args.isolation,
            dask=args.dask,
            gradebook=args.gradebook,
            say=say,
        )
        return 0
    with needs("itsdangerous", "serve"):
        from autograder.serving.run import Grader, serve_pages
        from autograder.serving.settings import read_settings
    settings = read_settings(args.root)
    port = settings.port if args.port is None else args.port
    say(f"Serving {', '.join(names)} at {settings.address_at(port)}. Ctrl-C ends it.")
    if settings.address_at(port) != settings.address:
        say(f"Note: {ELSEWHERE.format(invited=settings.address, here=settings.address_at(port))}")
    if args.only == "pages":
        serve_pages(args.root, names, args.host, port)
        return 0
    jobs = [f"--jobs={args.jobs}"] if args.jobs else []
    gradebook = [f"--gradebook={args.gradebook}"] if args.gradebook else []
    dask = [f"--dask={args.dask}"] if args.dask else []
    isolation = f"--isolation={args.isolation}"
    options = [f"--root={args.root}", "--only=grader", isolation, *jobs, *dask, *gradebook]
    with Grader(["serve", *options, *names]):
        serve_pages(args.root, names, args.host, port)
    return 0


def _invite_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("names", nargs="*", metavar="NAME", help="students' ids, as in the gradebook")
    part.add_argument("--names", dest="roster", type=Path, metavar="CSV", help="a roster, as for `collect`")
    part.add_argument("--staff", action="store_true", help="invite people who may see the whole class")
    part.add_argument("--to", type=Path, metavar="FILE", help="default: standard output")


def _invite(args: Arguments) -> int:
    from autograder.extras import needs

    with needs("itsdangerous", "serve"):
        from autograder.serving.people import Invitations, Person, invitations_as_csv
    from autograder.collecting import read_roster
    from autograder.serving.attempts import Attempts
    from autograder.serving.run import database_url
    from autograder.serving.settings import read_settings, secret_key

    names = list(args.names)
    if args.roster:
        names += sorted(read_roster(args.roster).students)
    invitations = Invitations(secret_key(args.root))
    people = [Person(name, args.staff) for name in names]
    settings = read_settings(args.root)
    text = invitations_as_csv(invitations, settings.address, people)
    if not args.staff:
        note_unknown(args.root, names)
        Attempts(database_url(args.root, settings)).know(names)
    if args.to is None:
        sys.stdout.write(text)
    else:
        args.to.touch(mode=0o600)
        args.to.write_text(text, encoding="utf-8")
        say(f"written: {args.to} ({len(people)}; each link signs one person in, once)")
    return 0


def _due_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("homework", metavar="HOMEWORK")
    part.add_argument(
        "time", metavar="TIME", help="as 2026-11-20T23:59-05:00 (without a zone: this machine's)"
    )
    grace_option(part)
    gradebook_option(part)


def _due(args: Arguments) -> int:
    from autograder.marks.decisions import Decisions
    from autograder.marks.late import in_its_zone, read_time, set_due_date
    from autograder.source.loading import require_name

    require_name(args.homework, args.root)
    due = read_time(args.time)
    if args.grace is not None:
        Decisions(args.root).set_grace(args.homework, timedelta(minutes=args.grace))
    set_due_date(args.root, args.homework, due, args.gradebook)
    say(f"{args.homework}: due {in_its_zone(due)}.")
    return 0


def _send_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("homework", metavar="HOMEWORK")
    gradebook_option(part)


def _send(args: Arguments) -> int:
    from autograder.extras import needs
    from autograder.marks.exports.marks import marks_of
    from autograder.serving.attempts import Attempts
    from autograder.serving.line_items import LineItems, Sender
    from autograder.serving.run import database_url
    from autograder.serving.settings import read_settings
    from autograder.serving.tool_key import tool_key

    with needs("httpx2", "serve"):
        import httpx2
    settings = read_settings(args.root)
    lines = LineItems(Attempts(database_url(args.root, settings)).engine)
    with httpx2.Client(timeout=30) as client:
        sender = Sender(settings.lti, tool_key(args.root), client)
        problems = list(sender.send(args.homework, lines, marks_of(args.root, args.homework, args.gradebook)))
    for problem in problems:
        say(f"not sent: {problem}", file=sys.stderr)
    say(f"{args.homework}: missing marks were sent to the platforms; {len(problems)} could not be sent.")
    return int(bool(problems))


VERBS = {
    "serve": Verb("run a website where students hand in and read verdicts", _serve_options, at_work(_serve)),
    "invite": Verb("make one-time links that sign people in to `serve`", _invite_options, _invite),
    "send": Verb("send marks to the LMS that students came from, by LTI", _send_options, _send),
    "due": Verb("set when a homework is due", _due_options, _due),
}
