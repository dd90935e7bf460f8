"""Keep catalogues of translations up to date with the course, and compile what students' checks need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.checking.fingerprints import shipped
from autograder.languages.catalogues import (
    CHECKS,
    EVERYWHERE,
    FIGURES,
    GRADER,
    CatalogueError,
    as_text,
    compiled,
    folder_of,
    languages,
    merged,
    new,
    read,
    stale,
    template,
)
from autograder.languages.texts import Text, in_notebook, known_to_students, of_homework, said_in
from autograder.making.lectures import keep_outputs
from autograder.making.products import build_homework, build_lecture, lecture_names
from autograder.source.address import Address
from autograder.source.loading import find, names, require_source

ROOMS = (
    "checking",
    "grading",
    "isolation",
    "marks",
    "nbgrader",
    "reporting",
    "source",
    "submissions",
    "website",
)  # that speak to students
FOLDERS = {
    CHECKS: ("course/checks", "course/mine"),
    GRADER: tuple(f"autograder/{room}" for room in ROOMS),
    FIGURES: ("course/figures", "site"),
}


def localise(root: Path, language: str = "", wanted: Sequence[str] = ()) -> list[Path]:
    """Merge the present texts into the catalogues, and compile them; returns the files that were written.

    language: of all if "". wanted: homeworks and lectures for which the language gets a catalogue, besides
    those that have one. Raises CatalogueError.
    """
    written = []
    for code in [language] if language else languages(root):
        for name in (*EVERYWHERE, *_begun(root, code), *wanted):
            path = folder_of(root) / code / f"{name}.po"
            catalogue = read(path) if path.is_file() else new(code, name)
            written += _update(path, as_text(merged(catalogue, template(texts(root, name)))).encode())
        written += _update(compiled_path(root, code), students_catalogue(root, code))
    return list(dict.fromkeys(written))


def out_of_date(root: Path, language: str = "") -> Iterator[str]:
    """A line for each text without a valid translation, and for what is to be compiled again."""
    for code in [language] if language else languages(root):
        for name in (*EVERYWHERE, *_begun(root, code)):
            path = folder_of(root) / code / f"{name}.po"
            found = stale(read(path), template(texts(root, name)))
            yield from (f"{path.relative_to(root)}: {line}" for line in found)
        path = compiled_path(root, code)
        if not path.is_file() or path.read_bytes() != students_catalogue(root, code):
            yield f"{path.relative_to(root)}: to be compiled again; run `autograder localise`"


def texts(root: Path, name: str) -> Iterator[Text]:
    """The texts of one catalogue; raises CatalogueError for a name that the course does not have."""
    if name in FOLDERS:
        yield from said_in([root / folder for folder in FOLDERS[name]], root)
    elif name in names(root):
        homework = require_source(find(name, root))
        yield from in_notebook(build_homework(homework, Address.read(root)))
        yield from of_homework(homework)
    elif name in lecture_names(root):
        path = root / "lectures" / f"{name}.py"
        built = build_lecture(path, Address.read(root))
        yield from in_notebook(keep_outputs(built, path.with_suffix(".ipynb")))
    else:
        raise CatalogueError(f"There is no homework or lecture called {name}.")


def students_catalogue(root: Path, language: str) -> bytes:
    """The compiled catalogue for the students' package, without anything that only hidden checks show."""
    folder = folder_of(root) / language
    homeworks = [name for name in names(root) if (folder / f"{name}.po").is_file()]
    public: set[str] = set()
    for name in homeworks:
        public |= known_to_students(find(name, root), shipped(root, name))
    return compiled([read(folder / f"{name}.po") for name in (CHECKS, *homeworks)], public)


def compiled_path(root: Path, language: str) -> Path:
    """Where the students' package looks for its catalogue."""
    return root / "course" / "languages" / f"{language}.mo"


def _begun(root: Path, language: str) -> list[str]:
    """The homeworks and lectures that have a catalogue."""
    found = (path.stem for path in (folder_of(root) / language).glob("*.po"))
    return sorted(name for name in found if name not in EVERYWHERE)


def _update(path: Path, content: bytes) -> list[Path]:
    if path.is_file() and path.read_bytes() == content:
        return []
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return [path]
