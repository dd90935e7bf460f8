"""Release a homework: nbgrader makes the students' version, which is searched for what must stay secret."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from autograder.languages.catalogues import language_of, languages
from autograder.languages.editions import edition
from autograder.languages.notebooks import in_language, language_of_release
from autograder.making.data_files import data_files
from autograder.making.leaks import leaks
from autograder.making.products import build_homework, homework_products, update
from autograder.source import earlier_releases
from autograder.source.address import Address
from autograder.source.homework import TEXT_STUB, HomeworkSource
from autograder.source.loading import find
from autograder.source.notebook import to_json
from course.language import ENGLISH, Language

REFUSED = "Cannot add or remove cells"  # what nbgrader logs
IN_USE = (
    "The gradebook contains submissions of an earlier release of {name} with different cells, and nbgrader "
    "cannot add or remove cells then. Finish {name} with the version of the course that released it, or use "
    "a separate gradebook for this one: `--gradebook URL`, here and when you grade."
)


class ReleaseError(RuntimeError):
    """nbgrader could not make the students' version; the message is its log, or says why."""


class Leak(RuntimeError):
    """The students' version contains something that it must not; nothing was written to homeworks/."""


def release(root: Path, name: str, gradebook: str | None = None, language: str = "") -> Path:
    """Write homeworks/NAME for the students and return it; raises Leak or ReleaseError.

    gradebook: the URL of the database to update; None means the one in nbgrader_config.py. language: that of
    the last release if "".
    """
    root = root.resolve()
    homework = find(name, root)
    if not homework.in_place:
        update(homework_products(homework, root))
    return release_homework(homework, root, gradebook, language)


def release_homework(
    homework: HomeworkSource, root: Path, gradebook: str | None = None, language: str = ""
) -> Path:
    """The same for a homework that is already loaded and whose notebook exists."""
    name = homework.name
    spoken = _spoken(root, name, language or language_of_release(root, name))
    with tempfile.TemporaryDirectory() as scratch:
        folder = _generate(root, name, Path(scratch), gradebook, spoken)
        found = list(leaks(homework, folder))
        if found:
            raise Leak(f"{name} is not released:\n- " + "\n- ".join(found))
        _keep_earlier(homework.folder, released_path(root, name), folder / f"{name}.ipynb")
        return _publish(folder, root / "homeworks" / name)


def _keep_earlier(folder: Path, before: Path, after: Path) -> None:
    """Record the digests of the release that is about to be replaced."""
    if before.is_file():
        earlier_releases.keep(
            folder, *(json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
        )


def released_path(root: Path, name: str) -> Path:
    """The students' notebook."""
    return root / "homeworks" / name / f"{name}.ipynb"


def is_out_of_date(root: Path, homework: HomeworkSource) -> bool:
    """Whether a homework is released, but a release made now would be different."""
    path = released_path(root, homework.name)
    if not path.is_file():
        return False
    built = build_homework(homework, Address.read(root))
    language = language_of(root, language_of_release(root, homework.name), homework.name)
    cleared = {cell.name: cell.released for cell in edition(built, language).source}
    if data_files(homework.folder) != data_files(path.parent):
        return True
    cells = in_language(built, language)["cells"]
    expected = [_essence({**cell, "source": cleared.get(cell["id"], cell["source"])}) for cell in cells]
    return expected != [_essence(cell) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]


def _essence(cell: Mapping) -> tuple:
    nbgrader = cell["metadata"].get("nbgrader", {})
    folded = cell["metadata"].get("cellView")
    return cell["id"], cell["cell_type"], "".join(cell["source"]), nbgrader.get("points"), folded


def _spoken(root: Path, name: str, language: str) -> Language:
    """The language of a release; raises ReleaseError if the homework has no catalogue in it."""
    there = [ENGLISH.name, *languages(root, name)]
    if language not in there:
        known = ", ".join(there)
        raise ReleaseError(f"{name} is not translated into {language!r}; it can be released in {known}.")
    return language_of(root, language, name)


def _translated(root: Path, name: str, scratch: Path, language: Language) -> Path:
    """A source directory for nbgrader, which holds the homework in another language."""
    source = root / "solutions" / name
    folder = scratch / name
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.ipynb", "__pycache__"))
    notebook = json.loads((source / f"{name}.ipynb").read_text(encoding="utf-8"))
    (folder / f"{name}.ipynb").write_text(to_json(in_language(notebook, language)), encoding="utf-8")
    return scratch


def _generate(root: Path, name: str, scratch: Path, gradebook: str | None, language: Language) -> Path:
    """`nbgrader generate_assignment NAME`, into a folder that no student sees yet."""
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.utils import capture_log

    from autograder.marks.database import opened
    from autograder.marks.settings import course_config

    config = course_config(root, gradebook)
    if "db_url" in config.CourseDirectory:
        opened(CourseDirectory(config=config)).close()  # the sentence below says what is wrong
    config.CourseDirectory.release_directory = str(scratch / "release")
    if language.translations is not None:
        config.CourseDirectory.source_directory = str(_translated(root, name, scratch / "source", language))
        config.ClearSolutions.text_stub = language(TEXT_STUB)
    config.CourseDirectory.assignment_id = name
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    done = capture_log(converter)
    if not done["success"]:
        log = done.get("log") or done["error"]
        if REFUSED in log:
            raise ReleaseError(IN_USE.format(name=name))
        raise ReleaseError(f"nbgrader could not make {name}:\n{log}")
    return scratch / "release" / name


def _publish(folder: Path, destination: Path) -> Path:
    """Replace the destination by the folder, with notebooks in canonical form; unchanged files are left."""
    for path in folder.glob("*.ipynb"):
        path.write_text(to_json(json.loads(path.read_text(encoding="utf-8"))), encoding="utf-8")
    if _files_in(folder) != _files_in(destination):
        shutil.rmtree(destination, ignore_errors=True)
        shutil.copytree(folder, destination)
    return destination


def _files_in(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}
