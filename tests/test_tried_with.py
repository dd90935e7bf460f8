"""The versions in `site/tried_with.md` are those that the tests run with, and each test it names is there."""

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from test_repository import PROJECT, ROOT, pinned_versions

PAGE = (ROOT / "site" / "tried_with.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if "| `" in line]
# What is not from the package index: stated by hand, from the machine on which it was tried.
BY_HAND = {"buildah", "configurable-http-proxy", "node", "podman", "postgresql", "runc"}
EXTRAS = ("cluster", "hub", "postgresql")
NAMED = re.compile(r"([A-Za-z][\w-]*) (\d[\w.]*)")


def said():
    """Package → version, as the page states them."""
    pairs = (pair for row in ROWS for pair in NAMED.findall(row[1]))
    found = {canonicalize_name(name): version for name, version in pairs}
    return {name: version for name, version in found.items() if name not in BY_HAND}


def test_every_version_is_the_one_that_the_tests_run_with():
    pinned = pinned_versions()
    assert len(said()) >= 9
    assert said() == {name: pinned.get(name) for name in said()}


@pytest.mark.parametrize("extra", EXTRAS)
def test_what_others_than_the_course_bring_is_listed(extra):
    asked = map(Requirement, PROJECT["optional-dependencies"][extra])
    names = {canonicalize_name(one.name) for one in asked}
    assert names <= said().keys()


def test_each_row_names_files_that_are_there():
    files = [re.findall(r"`([^`]+)`", row[-1]) for row in ROWS]
    assert all(files)
    assert [name for names in files for name in names if not Path(ROOT, name).is_file()] == []


def test_every_platform_whose_downloads_are_collected_is_listed():
    from autograder.collecting.formats import FORMATS

    platforms = {one.name for one in FORMATS} - {"flat"}  # files side by side, of no platform
    assert platforms <= {row[0] for row in ROWS}
