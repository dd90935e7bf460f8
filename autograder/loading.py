"""Homeworks read from the folders under solutions/."""

from __future__ import annotations

from pathlib import Path

from autograder.catalogue import Alternative, Misconception, NotCode, collect, modules
from autograder.consistency import inconsistencies
from autograder.homework import HomeworkSource, exercises_in, written_in
from autograder.notebook import SourceError
from autograder.ordinary import ordinary
from autograder.parts import has_source, joined, source_files


def load(folder: Path | str) -> HomeworkSource:
    """Read solutions/NAME; raises SourceError or CatalogueError naming what does not fit."""
    folder = Path(folder).resolve()
    files = source_files(folder)
    cells = tuple(joined(files))
    wrong, right = modules(folder, "misconceptions"), modules(folder, "alternatives")
    homework = HomeworkSource(
        name=folder.name,
        folder=folder,
        cells=cells,
        exercises=tuple(exercises_in(cells)),
        written=tuple(written_in(cell) for cell in cells if "written" in cell.labels),
        misconceptions=tuple(entry for module in wrong for entry in collect(module, Misconception)),
        alternatives=tuple(entry for module in right for entry in collect(module, Alternative)),
        not_code=tuple(entry for module in wrong for entry in collect(module, NotCode)),
        files=files,
    )
    problems = list(inconsistencies(homework))
    if problems:
        raise SourceError(f"{homework.path} does not fit together:\n- " + "\n- ".join(problems))
    return homework


def find(name: str, root: Path | str = ".") -> HomeworkSource:
    """The homework called NAME under root/solutions; raises SourceError listing the ones there are."""
    require_name(name, root)
    folder = Path(root) / "solutions" / name
    return load(folder) if name in names(root) else ordinary(folder)


def require_name(name: str, root: Path | str = ".") -> None:
    """Raise SourceError, listing the homeworks there are, unless one is called NAME."""
    there = assignments(root)
    if not there:
        place = Path(root).resolve()
        raise SourceError(
            f"{place} holds no homework in solutions/. Go to the course's folder, or name it: --root."
        )
    if name not in there:
        raise SourceError(f"There is no homework called {name}. There are: {', '.join(there)}.")


def names(root: Path | str = ".") -> list[str]:
    """The homeworks under root/solutions: the folders that hold a source."""
    return [folder.name for folder in _folders(root) if has_source(folder)]


def assignments(root: Path | str = ".") -> list[str]:
    """The homeworks, and the folders that hold a notebook of the same name and no source."""
    return [
        folder.name
        for folder in _folders(root)
        if has_source(folder) or (folder / f"{folder.name}.ipynb").is_file()
    ]


def require_source(homework: HomeworkSource) -> HomeworkSource:
    """The homework itself; raises SourceError for an ordinary notebook."""
    if homework.in_place:
        raise SourceError(
            f"{homework.name} is a notebook without a source: nothing can be built from it or proved of it. "
            "It can be released and graded."
        )
    return homework


def _folders(root: Path | str) -> list[Path]:
    return sorted(path for path in (Path(root) / "solutions").glob("*") if path.is_dir())
