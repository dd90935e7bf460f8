"""The repository describes itself in several places; none of them may drift from the disk."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from autograder.catalogue import catalogue_files
from autograder.source.loading import names
from autograder.source.notebook import read_source
from autograder.source.packages import KINDS, STRANGERS
from autograder.source.parts import source_files

ROOT = Path(__file__).parents[1]
PACKAGES = ("course", "autograder")
HOMEWORKS = names(ROOT)
CATALOGUES = (*KINDS, STRANGERS)
SETUP = "# %% setup\ncheck = None  # which the builder puts there"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def tracked_files() -> list[str]:
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return listing.stdout.split()


def readme_tree() -> dict[str, str]:
    """Path → remark, from the tree in the README: two spaces of indent per level."""
    block = re.search(r"```tree\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1)
    paths, parents = {}, []
    for line in filter(str.strip, block.splitlines()):
        depth = (len(line) - len(line.lstrip())) // 2
        name, _, remark = line.strip().partition(" ")
        parents[depth:] = [name.rstrip("/")]
        paths["/".join(parents)] = remark.strip()
    return paths


def test_the_readme_tree_lists_every_room_and_nothing_else():
    files = [path.split("/") for path in tracked_files()]
    on_disk = {parts[0] for parts in files if not parts[0].startswith(".")}
    on_disk |= {"/".join(parts[:2]) for parts in files if parts[0] in PACKAGES and len(parts) > 2}
    assert set(readme_tree()) == on_disk


def test_every_module_says_in_its_first_line_what_it_is():
    sources = [path for path in tracked_files() if path.startswith(PACKAGES) and path.endswith(".py")]
    assert sources
    assert [path for path in sources if not ast.get_docstring(ast.parse((ROOT / path).read_text()))] == []


def test_every_entry_of_the_readme_tree_says_what_it_is():
    assert [path for path, remark in readme_tree().items() if not remark] == []


def test_environment_and_project_agree_on_python_and_leave_versions_to_one_place():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    conda = [item for item in environment["dependencies"] if isinstance(item, str)]
    assert environment["name"] == PROJECT["name"]
    assert f"python{PROJECT['requires-python']}" in conda
    assert {re.split(r"[<>=]", item)[0] for item in conda} == {"python", "pip"}
    [pip] = [item["pip"] for item in environment["dependencies"] if isinstance(item, dict)]
    assert pip == ["-c constraints.txt", "-e .[dev]"]


def declared_requirements() -> list[Requirement]:
    extras = PROJECT["optional-dependencies"].values()
    texts = PROJECT["dependencies"] + [text for extra in extras for text in extra]
    return [Requirement(text) for text in texts if not text.startswith(PROJECT["name"])]


def pinned_versions() -> dict[str, str]:
    """Package → version, from the file of versions that are tested."""
    pins = (line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
    return {canonicalize_name(name): version for name, version in pins}


@pytest.mark.parametrize("requirement", declared_requirements(), ids=lambda r: r.name)
def test_the_tested_version_lies_within_the_declared_range(requirement):
    assert requirement.specifier.contains(pinned_versions()[canonicalize_name(requirement.name)])


@pytest.mark.parametrize("python", ["3.11.0", "3.12.0", "3.13.0"])
def test_the_tested_versions_can_be_installed_on_the_earliest_of_every_python(python):
    """A release such as 3.11.2, which Debian has, is as much a Python 3.11 as the newest."""
    pinned = pinned_versions()
    demanded = {
        found.name: found.metadata.get("Requires-Python") or ""
        for found in distributions()
        if pinned.get(canonicalize_name(found.name)) == found.version
    }
    assert len(demanded) > 100
    assert {name: ask for name, ask in demanded.items() if python not in SpecifierSet(ask)} == {}


@pytest.mark.parametrize("name", ["utils", "helpers", "common", "misc"])
def test_no_file_is_a_drawer(name):
    assert [path for path in tracked_files() if Path(path).stem == name] == []


def test_no_source_file_is_longer_than_four_hundred_lines():
    sources = [
        path
        for path in tracked_files()
        if path.startswith(("course/", "autograder/")) and path.endswith(".py")
    ]
    lengths = {path: len((ROOT / path).read_text().splitlines()) for path in sources}
    assert {path: length for path, length in lengths.items() if length > 400} == {}


def test_no_file_of_a_homework_is_longer_than_950_lines():
    sources = sorted((ROOT / "solutions").rglob("*.py"))
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources}
    assert lengths
    assert {path: length for path, length in lengths.items() if length > 950} == {}


@pytest.mark.parametrize("name", HOMEWORKS)
def test_a_homework_joined_from_its_parts_uses_no_undefined_name(name):
    """In the files of the parts ruff cannot look for undefined names and for imports that nobody uses."""
    files = source_files(ROOT / "solutions" / name)
    whole = "\n".join(path.read_text() for path in files).replace("# %% setup", SETUP)
    done = lint(whole, f"solutions/{name}/{name}.py")
    assert done.returncode == 0, done.stdout
    done = lint("\n".join(path.read_text() for path in files[1:]), f"solutions/{name}/{name}.py")
    assert "F821" in done.stdout  # what the introduction defines


@pytest.mark.parametrize("name", HOMEWORKS)
def test_every_file_of_a_catalogue_carries_the_letter_of_the_part_that_it_serves(name):
    folder = ROOT / "solutions" / name
    parts = {exercise: path for path in source_files(folder) for exercise in labelled(path)}
    files = [path for kind in CATALOGUES for path in catalogue_files(folder, kind)]
    assert {path.parent.name for path in files} == set(CATALOGUES)
    assert [path.name for path in files if not entries(path)] == []
    astray = {
        f"{path.parent.name}/{path.name}": of
        for path in files
        for of in entries(path)
        if letter(path) != letter(parts[of])
    }
    assert astray == {}


def labelled(part: Path) -> list[str]:
    """The exercises of one file of a homework's source."""
    return [cell.labels["exercise"] for cell in read_source(part) if "exercise" in cell.labels]


def entries(path: Path) -> list[str]:
    """The exercises to which the entries of a file belong: `misconception(of="exercise")`."""
    words = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.keyword)]
    return [ast.literal_eval(word.value) for word in words if word.arg == "of"]


def letter(path: Path) -> str:
    """`c1` of `c1_alignment.py`: the letter of a part, and the number of the piece in which it is written."""
    return path.name.partition("_")[0]


def lint(text: str, name: str) -> subprocess.CompletedProcess:
    """What ruff says of a text as if it were in the file of this name."""
    command = [sys.executable, "-m", "ruff", "check", "--stdin-filename", name, "-"]
    return subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True)


def test_make_help_explains_every_word():
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.M).group(1).split()
    assert [word for word in phony if not re.search(rf"^{word}:.*## \S", makefile, re.M)] == []


def test_notebooks_install_the_version_that_this_is_and_the_changes_begin_with_it():
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert whole["tool"]["course"]["ref"] == f"v{PROJECT['version']}"
    newest = re.search(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text(), re.M).group(1)
    assert newest == PROJECT["version"]


def test_the_page_of_benchmarks_is_what_its_sections_make(monkeypatch):
    """So that running one script again keeps what the others found."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    record = importlib.import_module("record")
    assert record.PAGE.read_text(encoding="utf-8") == record.page()
