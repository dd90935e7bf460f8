"""Make notebooks from sources, with a set-up cell, a badge and nbgrader's full metadata.

`X.py` is written by hand (a homework in parts), and `X.ipynb` beside it is made here; the same source always
gives the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from autograder.checking.fingerprints import Tell, fingerprints, fingerprints_path, shipped, spelled
from autograder.checking.rules import introduction
from autograder.making import lectures
from autograder.making.check_cells import FOLDED, with_check_cells
from autograder.source.address import Address
from autograder.source.homework import STARS, Asked, Exercise, HomeworkSource, written_in
from autograder.source.notebook import ALIVE, Cell, SourceError, notebook, notebook_cell, read_source, to_json

Product = tuple[Path, str]  # a file and its intended content

SESSION = """

from course.checks import homework

check = homework("{name}")
check.progress()"""

PROGRESS = "check.progress()  # what is done, and what is left"

NOT_COMPARED = "nbval-ignore-output"  # a tag that nbval knows

# Labels whose text becomes the cell's id, which is also nbgrader's grade_id.
NAMED = ("solution", "check", "written", "provided", ALIVE)


def update(products: Iterable[Product], *, check: bool = False) -> list[Path]:
    """Write the products whose files differ (with `check` write nothing), and return their paths."""
    stale = []
    for path, text in products:
        if not path.is_file() or path.read_bytes() != text.encode():
            stale.append(path)
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.encode())
    return stale


def homework_products(homework: HomeworkSource, root: Path, tell: Tell = str) -> Iterator[Product]:
    """The instructor's notebook, and the fingerprints for the student's package."""
    yield homework.notebook, to_json(build_homework(homework, Address.read(root)))
    path = fingerprints_path(root, homework.name)
    if not path.parents[1].is_dir():  # a course in another folder, without the student's package
        return
    yield path, spelled(fingerprints(homework, shipped(root, homework.name), tell)) + "\n"


def lecture_product(root: Path, name: str, *, execute: bool = False) -> Product:
    """A lecture's notebook with its outputs: the old ones if its code is the same, or those of a new run."""
    path = root / "lectures" / f"{name}.py"
    built, product = build_lecture(path, Address.read(root)), path.with_suffix(".ipynb")
    filled = lectures.execute(built, path.parent) if execute else lectures.keep_outputs(built, product)
    return product, to_json(filled)


def lecture_names(root: Path) -> list[str]:
    """The lectures under root: the sources whose names begin with a number."""
    return sorted(path.stem for path in (root / "lectures").glob("[0-9]*.py"))


def build_homework(homework: HomeworkSource, address: Address) -> dict:
    """The instructor's notebook, from which nbgrader makes the students'; its badge opens the students'."""
    badge = f"{address.badge(f'homeworks/{homework.name}/{homework.name}.ipynb')} {address.version}"
    exercises = {exercise.name: exercise for exercise in homework.exercises}

    def dress(cell_id: str, cell: Cell) -> dict:
        source = cell.source + SESSION.format(name=homework.name) if "setup" in cell.labels else cell.source
        text = _text(replace(cell, source=source), exercises)
        return notebook_cell(cell_id, cell.kind, text, _metadata(cell_id, cell))

    cells = [
        *with_check_cells(homework.cells, homework.exercises),
        Cell("code", PROGRESS, {"provided": "progress"}),
    ]
    return _build(cells, address, badge, dress, homework.path)


def build_lecture(path: Path, address: Address) -> dict:
    """A lecture's notebook without outputs; nothing in it is graded.

    From the first cell on in which a model is trained, outputs are not compared when the lecture is tested.
    The answer to a prediction is folded, see `lectures.folds`.
    """
    badge = address.badge(f"lectures/{path.stem}.ipynb")
    cells = read_source(path)
    first = next((cell.line for cell in cells if "trained" in cell.labels), math.inf)
    answers = {cell.line for cell in lectures.answers(cells)}

    def dress(cell_id: str, cell: Cell) -> dict:
        is_answer = cell.line in answers
        tags = [NOT_COMPARED] if cell.kind == "code" and cell.line >= first else []
        tags += lectures.folds(cell, is_answer=is_answer)
        folded = {"jupyter": {"outputs_hidden": True}} if is_answer else {}
        metadata = folded | _tags(cell, *tags)
        return notebook_cell(cell_id, cell.kind, cell.source, metadata)

    return _build(cells, address, badge, dress, path)


def _build(
    cells: Iterable[Cell], address: Address, badge: str, dress: Callable[[str, Cell], dict], path: Path
) -> dict:
    cells = list(cells)
    setups = [cell for cell in cells if "setup" in cell.labels]
    if len(setups) != 1:
        raise SourceError(f"{path} needs exactly one line `# %% setup`; it has {len(setups)}.")
    filled = (_filled(cell, address) for cell in cells)
    dressed = [dress(cell_id, cell) for cell_id, cell in _with_ids(filled)]
    metadata = {"accelerator": "GPU", "colab": {"gpuType": "T4"}} if "gpu" in setups[0].labels else {}
    return notebook([notebook_cell("badge", "markdown", badge), *dressed], metadata)


def _filled(cell: Cell, address: Address) -> Cell:
    """Fill in the set-up cell and the rules, which are the same everywhere."""
    texts = {"setup": address.setup, "rules": introduction}
    label = next((label for label in texts if label in cell.labels), None)
    if label is None:
        return cell
    if cell.source:
        raise SourceError(
            f"{cell.line.where}: the cell `{label}` is filled in by the builder; leave it empty."
        )
    return Cell(cell.kind, texts[label](), cell.labels, cell.line)


def _with_ids(cells: Iterable[Cell]) -> Iterator[tuple[str, Cell]]:
    """Each cell with its name; a cell without one is numbered from the named cell before it."""
    taken, last, count = {"badge"}, "start", 0
    for cell in cells:
        name = _name(cell)
        last, count = (name, 0) if name else (last, count + 1)
        cell_id = name or f"{last}-{count}"
        if cell_id in taken or len(cell_id) > 64:
            raise SourceError(f"{cell.line.where}: {cell_id} is longer than 64 characters or taken.")
        taken.add(cell_id)
        yield cell_id, cell


def _name(cell: Cell) -> str | None:
    if "setup" in cell.labels:
        return "setup"
    if "exercise" in cell.labels:
        return f"{cell.labels['exercise']}-statement"
    named = [name for label in NAMED if isinstance(name := cell.labels.get(label), str)]
    return named[0] if named else None


def _text(cell: Cell, exercises: Mapping[str, Exercise]) -> str:
    if "exercise" in cell.labels:
        exercise = exercises[str(cell.labels["exercise"])]
        return _with_line(cell.source, f"{STARS[exercise.difficulty - 1]} · {_effort(exercise)}")
    if "written" in cell.labels:
        return _with_line(cell.source, f"{_effort(written_in(cell))} · graded by hand")
    return cell.source


def _effort(asked: Asked) -> str:
    points = f"{asked.points:g} point{'' if asked.points == 1 else 's'}"
    return f"{points}{' on top' if asked.bonus else ''} · about {asked.minutes} minutes"


def _with_line(markdown: str, line: str) -> str:
    """The text with a separate line under the heading, or at the top if there is no heading."""
    first, _, rest = markdown.partition("\n")
    if first.startswith("#") and "BEGIN SOLUTION" not in first:
        return f"{first}\n\n*{line}*\n\n{rest.lstrip()}"
    return f"*{line}*\n\n{markdown}"


def _metadata(cell_id: str, cell: Cell) -> dict:
    """nbgrader's schema, version 3, for the labels of a cell."""
    labels = cell.labels
    if not labels.keys() & {"setup", "provided", "exercise", "solution", "check", "written", ALIVE}:
        return _tags(cell)
    grade = "check" in labels or "written" in labels
    solution = "solution" in labels or "written" in labels
    schema = {
        "grade": grade,
        "grade_id": cell_id,
        "locked": not solution and ALIVE not in labels,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    alive = {ALIVE: True} if ALIVE in labels else {}
    points = 0 if "bonus" in labels else cell.points
    return {"nbgrader": schema | ({"points": points} if grade else {}), **alive, **_tags(cell)}


def _tags(cell: Cell, *more: str) -> dict:
    """A cell's tags; a folded cell is folded in JupyterLab and VS Code, and a form in Colab."""
    tags = [*str(cell.labels.get("tags", "")).replace(",", " ").split(), *more]
    folded = {"cellView": "form", "jupyter": {"source_hidden": True}} if FOLDED in cell.labels else {}
    return folded | ({"tags": tags} if tags else {})
