"""Commands for what students get: release, publish, site."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from autograder.words.verb import Arguments, Verb, gradebook_option, say


def _release_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("names", nargs="+", metavar="HOMEWORK")
    part.add_argument(
        "--language", default="", metavar="CODE", help="such as de (default: that of the last release)"
    )
    gradebook_option(part)


def _release(args: Arguments) -> int:
    from autograder.making.release import release
    from autograder.proving.remembered import still_wrong

    for name in args.names:
        say(
            f"released: {os.path.relpath(release(args.root, name, args.gradebook, args.language), args.root)}"
        )
        if wrong := still_wrong(args.root, name):
            say(
                f"Note: `autograder verify {name}` found this, and nothing has changed since:",
                *wrong,
                file=sys.stderr,
            )
    return 0


def _publish_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("folder", type=Path, metavar="FOLDER", help="beside this one, such as ../students")
    part.add_argument("names", nargs="*", metavar="HOMEWORK", help="default: all that are released")


def _publish(args: Arguments) -> int:
    from autograder.making.publish import in_words, publish

    say(*in_words(publish(args.root, args.folder, args.names)))
    return 0


def _site_options(part: argparse.ArgumentParser) -> None:
    part.add_argument("--to", type=Path, metavar="DIR", help="where the pages go (default: build/site)")


def _site(args: Arguments) -> int:
    from autograder.website.site import begin_overviews, make_site

    begun = begin_overviews(args.root)  # while the site's figures are drawn here
    with begun.process:  # which is waited for even if the site cannot be built
        say(f"written: {os.path.relpath(make_site(args.root, args.to), args.root)}")
        overviews = os.path.relpath(begun.finished(), args.root)
    say(f"written: {overviews} (for instructors: it names hidden checks, so do not publish it)")
    return 0


VERBS = {
    "release": Verb("make the students' version and search it for leaks", _release_options, _release),
    "publish": Verb("make the students' repository, without solutions", _publish_options, _publish),
    "site": Verb("build the website, and pages for instructors", _site_options, _site),
}
