"""The command line: a table of words, each with its line of help, its options and the function it calls.

The functions know nothing of the command line, and each is imported only when its word is used.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from autograder.markup import plain_text

Arguments = argparse.Namespace


@dataclass(frozen=True)
class Verb:
    """A word of the command line."""

    help: str
    options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Arguments], int]  # the exit status


def main(arguments: Sequence[str] | None = None, verbs: Mapping[str, Verb] | None = None) -> int:
    """Run one word; whatever is the user's to mend is said in a sentence, without a traceback."""
    _print_whatever_the_terminal_can_show()
    args = parser(VERBS if verbs is None else verbs).parse_args(arguments)
    try:
        return args.run(args)
    except Exception as problem:
        if args.traceback or not _is_for_the_user(problem):
            raise
        say(f"autograder {args.verb}: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        say(f"\nautograder {args.verb}: stopped; what was finished is kept.", file=sys.stderr)
        return 130


def say(*lines: str, file: TextIO | None = None) -> None:
    """Print lines; nothing in them, such as a student's name, commands the terminal."""
    print(plain_text("\n".join(lines)).replace("\r", ""), file=file, flush=True)


def _print_whatever_the_terminal_can_show() -> None:
    """Where it has no letter for a character (LANG=C), its number is printed, as Python does in errors."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _is_for_the_user(problem: Exception) -> bool:
    """Errors of our own and of files say what to mend; any other is a fault in the program."""
    return isinstance(problem, OSError) or type(problem).__module__.partition(".")[0] == "autograder"


def parser(verbs: Mapping[str, Verb]) -> argparse.ArgumentParser:
    """The parser of the whole table."""
    whole = argparse.ArgumentParser("autograder", description="Write, prove, release and grade homework.")
    words = whole.add_subparsers(dest="verb", required=True, metavar="WORD")
    for word, verb in verbs.items():
        part = words.add_parser(word, help=verb.help, description=verb.help)
        verb.options(part)
        part.add_argument(
            "--root", type=Path, default=Path.cwd(), help="the course's folder (default: this one)"
        )
        part.add_argument("--traceback", action="store_true", help="show where an error comes from")
        part.set_defaults(run=verb.run)
    return whole


def _gradebook_option(part: argparse.ArgumentParser) -> None:
    part.add_argument(
        "--gradebook",
        metavar="URL",
        help="of a database for the marks, such as postgresql://marks@db/course (default: gradebook.db)",
    )


def no_options(part: argparse.ArgumentParser) -> None:
    """For a word that needs none."""


def _new_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("name", metavar="NAME", help="such as hw8_mine")


def _new(args: Arguments) -> int:
    from autograder.making.new import new

    folder = os.path.relpath(new(args.name, args.root), args.root)
    say(f"written: {folder}\nChange it, then: autograder verify {args.name}; autograder build {args.name}")
    return 0


def _build_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("names", nargs="*", metavar="NAME", help="homeworks and lectures (default: all)")
    part.add_argument("--check", action="store_true", help="write nothing; fail if anything is out of date")
    part.add_argument("--execute", action="store_true", help="run the lectures and keep their outputs")


def _build(args: Arguments) -> int:
    from autograder.making.build import build

    stale = build(args.root, args.names, check=args.check, execute=args.execute, tell=print)
    for path in stale:
        say(f"{'out of date' if args.check else 'written'}: {os.path.relpath(path, args.root)}")
    if not stale:
        say("Everything is up to date.")
    return int(args.check and bool(stale))


def _verify_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("names", nargs="*", metavar="HOMEWORK", help="default: all")
    part.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: one per core)")
    part.add_argument("--seeds", type=int, default=3, metavar="N", help="draws of every hidden check")
    part.add_argument("--json", type=Path, metavar="FILE", help="also write what was found")
    part.add_argument("--quiet", action="store_true", help="show only the exercises that do not hold")
    part.add_argument(
        "--sandbox",
        choices=["best", "bwrap", "landlock"],
        help="instead, hand everything in and have it graded in the sandbox, at this level (many minutes)",
    )


def _verify(args: Arguments) -> int:
    from autograder.proving.proof import summary, table
    from autograder.proving.verify import verify
    from autograder.source.loading import find, names, require_source

    homeworks = [require_source(find(name, args.root)) for name in args.names or names(args.root)]
    if args.sandbox:
        return _verify_in_sandbox(args, [homework.name for homework in homeworks])
    proofs = []
    print("Every right solution and every known wrong one is put to the checks.", flush=True)
    folders = [homework.folder for homework in homeworks]
    for proof in verify(folders, jobs=args.jobs, seeds=range(1, args.seeds + 1)):
        proofs.append(proof)
        if not (args.quiet and proof.holds):
            say(table(proof), "")
    say(summary(proofs))
    if args.json:
        args.json.write_text(json.dumps([proof.as_json() for proof in proofs], indent=1) + "\n")
    return int(not all(proof.holds for proof in proofs))


def _verify_in_sandbox(args: Arguments, homeworks: list[str]) -> int:
    from autograder.proving.verify_in_sandbox import verify_in_sandbox

    holds = True
    for name in homeworks:
        proof = verify_in_sandbox(name, args.root, args.sandbox, jobs=args.jobs)
        print(proof.sentence(), flush=True)
        for violation in proof.violations:
            print(f"    ! {violation}", flush=True)
        holds = holds and not proof.violations
    return int(not holds)


def _release_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("names", nargs="+", metavar="HOMEWORK")
    _gradebook_option(part)


def _release(args: Arguments) -> int:
    from autograder.making.release import release

    for name in args.names:
        say(f"released: {os.path.relpath(release(args.root, name, args.gradebook), args.root)}")
    return 0


def _grade_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("homework", metavar="HOMEWORK")
    part.add_argument(
        "--submissions",
        type=Path,
        required=True,
        metavar="DIR",
        help="STUDENT/HOMEWORK/*.ipynb or STUDENT.ipynb",
    )
    jobs = "submissions at once (default: one per core that may be used)"
    part.add_argument("--jobs", type=int, default=None, help=jobs)
    part.add_argument("--dask", metavar="ADDRESS", help="judge on a Dask cluster, such as tls://host:8786")
    _gradebook_option(part)
    part.add_argument("--json", type=Path, metavar="FILE", help="also write the results")
    part.add_argument("--isolation", default="best", choices=["best", "bwrap", "landlock", "none"])
    part.add_argument("--again", action="store_true", help="grade also what is graded already")
    part.add_argument(
        "--forbidden",
        default="costs",
        choices=["costs", "flag"],
        help="a forbidden call costs its exercise the points (default), or is only reported",
    )


def _grade(args: Arguments) -> int:
    gc.disable()  # until `grade` begins its work: what is imported is no garbage
    try:
        return _graded(args)
    finally:
        gc.enable()


def _graded(args: Arguments) -> int:
    from autograder.grade import grade
    from autograder.marks.changes import in_words, marked_by_hand
    from autograder.marks.records import RecordFolder
    from autograder.sample.demo import table
    from autograder.source.loading import find

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
        json_file=args.json,
        forbidden_costs_points=args.forbidden == "costs",
    )
    say(table(record, find(args.homework, args.root)))
    if words := list(in_words(before, record.submissions)):
        from autograder.marks.gradebook import (
            MarkBook,  # nbgrader, which takes longer than the start of a grading
        )

        with MarkBook(args.root, args.homework, args.gradebook) as marks:
            say("", *words, *marked_by_hand(marks.to_look_at_again()))
    say("\nIsolation: {level} ({reason}).".format(**record.isolation))
    if "checks" in record.isolation:
        say(f"Note: {record.isolation['checks']}.")
    for note in record.notes:
        say(f"Note: {note}")
    say(f"`autograder report {args.homework}` writes the class report.")
    return 0


def _report_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("homework", metavar="HOMEWORK")


def _report(args: Arguments) -> int:
    from autograder.reporting.report import report

    say(f"written: {os.path.relpath(report(args.homework, args.root), args.root)}")
    return 0


def _export_options(part: argparse.ArgumentParser) -> None:
    formats = ["csv", "canvas", "moodle", "gradescope", "gradescope-autograder", "github-classroom"]
    part.add_argument("homework", metavar="HOMEWORK")
    part.add_argument("format", choices=formats, metavar="FORMAT", help=", ".join(formats))
    part.add_argument("--sheet", type=Path, metavar="FILE", help="what Canvas or Moodle exported, to fill in")
    part.add_argument("--student", metavar="NAME", help="whose results (gradescope)")
    part.add_argument("--to", type=Path, metavar="FILE", help="default: standard output")
    _gradebook_option(part)


def _export(args: Arguments) -> int:
    from autograder.marks.exports.formats import Export, export

    wanted = Export(args.root, args.homework, args.sheet, args.student, args.gradebook)
    made = export(wanted, args.format)
    if args.to is None:
        sys.stdout.buffer.write(made)
    else:
        args.to.write_bytes(made)
        say(f"written: {args.to}")
    return 0


def _site_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("--to", type=Path, metavar="DIR", help="where the pages go (default: build/site)")


def _site(args: Arguments) -> int:
    from autograder.website.site import make_site

    say(f"written: {os.path.relpath(make_site(args.root, args.to), args.root)}")
    return 0


def _demo_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("--isolation", default="best", choices=["best", "bwrap", "landlock", "none"])


def _demo(args: Arguments) -> int:
    from autograder.sample.demo import demo

    demo(args.root, isolation=args.isolation)
    return 0


def _collect_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("source", type=Path, metavar="SOURCE", help="a download: a folder or a zip")
    part.add_argument("--homework", required=True, metavar="NAME")
    part.add_argument("--to", type=Path, default=Path("submitted"), metavar="DIR", help="default: submitted")
    part.add_argument(
        "--names",
        type=Path,
        metavar="CSV",
        help="who is who: a column student, others as platforms name them",
    )
    part.add_argument(
        "--due", metavar="TIME", help="as 2026-11-20T23:59; reports who was late, and goes into the gradebook"
    )
    _gradebook_option(part)


def _collect(args: Arguments) -> int:
    from autograder.collecting import gather, in_words, read_roster
    from autograder.marks.late import read_time, set_due_date
    from autograder.source.loading import require_name

    require_name(args.homework, args.root)
    roster = read_roster(args.names) if args.names else None
    due = read_time(args.due) if args.due else None
    collected = gather(args.source, args.homework, args.root / args.to, roster=roster, due=due)
    say(*in_words(collected))
    if due:
        set_due_date(args.root, args.homework, due, args.gradebook)
    return 0


def _repair_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("notebook", type=Path, metavar="NOTEBOOK")
    part.add_argument("--homework", required=True, metavar="NAME")
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


def _doctor(args: Arguments) -> int:
    from autograder.doctor import examine, in_words, resources, this_machine

    found = examine(this_machine())
    say(in_words(found, resources(found.best)))
    return int(found.best is None)


VERBS = {
    "new": Verb("begin a homework of your own with one worked exercise", _new_options, _new),
    "build": Verb("make the notebooks and what the student's package knows", _build_options, _build),
    "verify": Verb("prove the checks: right passes, wrong fails and is named", _verify_options, _verify),
    "release": Verb("make the students' version and search it for leaks", _release_options, _release),
    "grade": Verb("grade a folder of submissions in the sandbox", _grade_options, _grade),
    "report": Verb("write the class report as one HTML file", _report_options, _report),
    "export": Verb("marks for Canvas, Moodle, Gradescope, GitHub Classroom", _export_options, _export),
    "site": Verb("make the pages of the course for the web", _site_options, _site),
    "demo": Verb("do all of it on sample submissions", _demo_options, _demo),
    "collect": Verb("take submissions out of a platform's download", _collect_options, _collect),
    "repair": Verb("make a damaged notebook whole from the release", _repair_options, _repair),
    "similar": Verb("name pairs that share more than the homework explains", _similar_options, _similar),
    "doctor": Verb("say what keeps student code in on this machine", no_options, _doctor),
}
