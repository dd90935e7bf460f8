"""The versions in `site/tried_with.md` are those that the tests run with, and each test it names is there."""

import re
import warnings
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from test_repository import PROJECT, ROOT, pinned_versions

PAGE = (ROOT / "site" / "tried_with.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if "| `" in line]
# What is not from the package index. Tests that start such a program compare its version (`tried.compare`);
# Podman, buildah and runc are started by hand alone.
BY_HAND = {"buildah", "configurable-http-proxy", "node", "podman", "postgresql", "runc"}
EXTRAS = ("cluster", "hub", "postgresql", "serve")
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


@pytest.mark.parametrize(
    ("printed", "warns"),
    [
        ("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)", False),
        ("PostgreSQL 150.1", True),
        ("v16", True),
    ],
)
def test_a_program_of_another_version_than_the_page_states_is_reported(tmp_path, monkeypatch, printed, warns):
    monkeypatch.syspath_prepend(ROOT / "tests" / "autograder")
    from tried import compare

    program = tmp_path / "postgres"
    program.write_text(f"#!/bin/sh\necho '{printed}'\n")
    program.chmod(0o755)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        compare("PostgreSQL", program)
    assert [f"{one.message}".partition(" is ")[0] for one in told] == ["PostgreSQL"] * warns


def test_each_row_names_files_that_are_there():
    files = [re.findall(r"`([^`]+)`", row[-1]) for row in ROWS]
    assert all(files)
    assert [name for names in files for name in names if not Path(ROOT, name).is_file()] == []


def test_every_platform_whose_downloads_are_collected_is_listed():
    from autograder.collecting.formats import FORMATS

    platforms = {one.name for one in FORMATS} - {"flat"}  # files side by side, of no platform
    assert platforms <= {row[0] for row in ROWS}
