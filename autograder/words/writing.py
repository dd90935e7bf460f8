"""Words about writing a homework: new, build, verify, localise."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from autograder.words.verb import Arguments, Verb, say


def _new_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("name", metavar="NAME", help="such as hw8_mine")


def _new(args: Arguments) -> int:
    from autograder.making.new import new

    folder = os.path.relpath(new(args.name, args.root), args.root)
    say(f"written: {folder}\nEdit it, then run: autograder verify {args.name}; autograder build {args.name}")
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
    part.add_argument("--seeds", type=int, default=3, metavar="N", help="random draws of every hidden check")
    part.add_argument(
        "--mutants",
        type=int,
        default=4,
        metavar="N",
        help="unnamed wrong solutions to make of each reference (default: 4)",
    )
    part.add_argument("--json", type=Path, metavar="FILE", help="also write the results to FILE")
    part.add_argument("--quiet", action="store_true", help="show only the exercises with problems")
    otherwise = part.add_mutually_exclusive_group()
    otherwise.add_argument(
        "--accept", action="store_true", help="write which checks each mistake fails into fails.tsv"
    )
    otherwise.add_argument(
        "--sandbox",
        choices=["best", "bwrap", "landlock"],
        help="instead, grade every answer as a submission in the sandbox, at this level (many minutes)",
    )


def _verify(args: Arguments) -> int:
    from autograder.proving.deviations import accept
    from autograder.proving.proof import summary, table
    from autograder.proving.remembered import remember
    from autograder.proving.strangers_page import page
    from autograder.proving.verify import verify
    from autograder.source.loading import find, names, require_source

    homeworks = [require_source(find(name, args.root)) for name in args.names or names(args.root)]
    if args.sandbox:
        return _verify_in_sandbox(args, [homework.name for homework in homeworks])
    proofs = []
    print("Running the checks on every correct solution and on every known mistake.", flush=True)
    folders = [homework.folder for homework in homeworks]
    seeds = range(1, args.seeds + 1)
    compared, mutants = not args.accept, args.mutants
    for proof in verify(folders, jobs=args.jobs, seeds=seeds, compared=compared, mutants=mutants):
        proofs.append(proof)
        if not (args.quiet and proof.holds):
            say(table(proof), "")
    say(summary(proofs))
    for homework in homeworks if args.accept else ():
        accept(homework, proofs)
    for homework in homeworks:
        remember(args.root, homework.name, proofs)
    if args.accept and not args.names and (args.root / "docs").is_dir():
        (args.root / "docs" / "strangers.md").write_text(page(proofs, args.mutants), encoding="utf-8")
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


def _localise_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("language", nargs="?", default="", metavar="LANGUAGE", help="such as de (default: all)")
    part.add_argument("names", nargs="*", metavar="NAME", help="homeworks and lectures to begin")
    part.add_argument("--check", action="store_true", help="write nothing; list what is stale, and fail")


def _localise(args: Arguments) -> int:
    from autograder.making.localise import localise, out_of_date

    if args.check:
        lines = list(out_of_date(args.root, args.language))
        say(*lines or ["Everything is translated."])
        return int(bool(lines))
    for path in localise(args.root, args.language, args.names):
        say(f"written: {os.path.relpath(path, args.root)}")
    return 0


VERBS = {
    "new": Verb("create a homework with one worked exercise", _new_options, _new),
    "build": Verb("build the notebooks and the students' fingerprints", _build_options, _build),
    "localise": Verb("bring the catalogues of translations up to date", _localise_options, _localise),
    "verify": Verb("test the checks: right passes, wrong fails and is named", _verify_options, _verify),
}
