"""Make the students' repository: the course's package, the released homeworks and the lectures, no solutions.

It is made in a separate folder, without history. Its files are searched for solutions before anything is
written. Publishing again replaces what was published before, and leaves everything else as it is.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from autograder.making.leaks import leaks, lines_of, lines_of_answers, lines_of_hidden_checks
from autograder.making.release import is_out_of_date, released_path
from autograder.making.student_files import own_files
from autograder.marks.records import write_bytes
from autograder.source.address import Address
from autograder.source.homework import HomeworkSource
from autograder.source.loading import find, names
from autograder.source.tracked import tracked

MANIFEST = ".published.json"  # lists what was published, so that the next run can recognise it
PACKAGE = "course/"

# As many lines of one homework's answers stand in other files by chance: in the package at most 6, because it
# implements what exercises ask for, and in a lecture at most 2 beyond those. No other text has any.
BY_CHANCE_IN_THE_PACKAGE = 9
BY_CHANCE_IN_A_LECTURE = 3

NOT_FOR_STUDENTS = ("solutions", "autograder", "grades", "submitted", "autograded", "gradebook.db")


class NotPublished(RuntimeError):
    """Nothing was published; the message says what students would have seen, or what is missing."""


@dataclass(frozen=True)
class Published:
    """What publishing did to the folder, and what the instructor should know about it."""

    folder: Path
    address: Address
    written: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]  # edited there by a person, and left as they are
    homeworks: tuple[HomeworkSource, ...]
    notes: tuple[str, ...]


def publish(root: Path, folder: Path, homeworks: Sequence[str] = ()) -> Published:
    """Make or renew the students' repository in a folder; raises NotPublished or SourceError.

    homeworks: by name; none means all that are released.
    """
    root, folder = root.resolve(), folder.resolve()
    _require_a_place_of_its_own(root, folder)
    sources = [find(name, root) for name in names(root)]
    published = [source for source in sources if source.name in (homeworks or _released(root))]
    _require_released(root, [*homeworks, *(source.name for source in published)])
    files = _files(root, published)
    if found := [*_of_the_folder(folder), *secrets(sources, files)]:
        raise NotPublished("Nothing was published:\n- " + "\n- ".join(found[:20]))
    before = _manifest(folder)
    kept = tuple(
        sorted(
            name for name in before | files if _is_a_persons(folder / name, before.get(name), files.get(name))
        )
    )
    removed = tuple(sorted(name for name in before if name not in files and name not in kept))
    written = tuple(name for name in sorted(files) if name not in kept and _write(folder / name, files[name]))
    for name in removed:
        (folder / name).unlink(missing_ok=True)
    digests = {name: _digest(content) for name, content in sorted(files.items())}
    write_bytes(folder / MANIFEST, (json.dumps(digests, indent=1) + "\n").encode())
    notes = tuple(_notes(root, published))
    return Published(folder, Address.read(root), written, removed, kept, tuple(published), notes)


def _require_a_place_of_its_own(root: Path, folder: Path) -> None:
    if folder == root or folder in root.parents or root in folder.parents:
        raise NotPublished(f"{folder} overlaps with {root}; name a folder beside it, such as ../students.")


def _released(root: Path) -> list[str]:
    return [name for name in names(root) if released_path(root, name).is_file()]


def _require_released(root: Path, wanted: Sequence[str]) -> None:
    there = _released(root)
    missing = [name for name in dict.fromkeys(wanted) if name not in there]
    if missing:
        raise NotPublished(
            f"Not released yet: {', '.join(missing)}. Run `autograder release {' '.join(missing)}`."
        )
    if not wanted:
        raise NotPublished("No homework is released yet; begin with `autograder release HOMEWORK`.")


def _files(root: Path, homeworks: Sequence[HomeworkSource]) -> dict[str, bytes]:
    """Path in the students' repository → bytes."""
    paths = ["course", "LICENSE", *(f"homeworks/{homework.name}" for homework in homeworks)]
    lectures = [name for name in tracked(root, ["lectures"]) if name.endswith(".ipynb")]
    listed = [*tracked(root, paths), *lectures]
    notebooks = [name for name in listed if name.endswith(".ipynb")]
    return {name: (root / name).read_bytes() for name in listed} | own_files(root, notebooks)


def secrets(homeworks: Sequence[HomeworkSource], files: Mapping[str, bytes]) -> Iterator[str]:
    """A sentence for everything in the files that students must not have.

    A released homework is searched for every line of its solutions and hidden checks, everything else for
    lines of hidden checks, and for more lines of right and wrong answers than are there by chance.
    """
    hidden = {line: origin for homework in homeworks for line, origin in lines_of_hidden_checks(homework)}
    for name, content in files.items():
        if Path(name).parts[0] in NOT_FOR_STUDENTS:
            yield f"{name} is not for students."
        text = "\n".join(line.strip() for line in lines_of(content))
        for line in hidden if not name.startswith("homeworks/") else ():
            if line in text:
                yield f'{name} holds a line of {hidden[line]}: "{line}"'
    yield from _answers(homeworks, files)
    with tempfile.TemporaryDirectory() as scratch:
        for homework in homeworks:
            here = f"homeworks/{homework.name}/"
            for name in (name for name in files if name.startswith(here)):
                path = Path(scratch, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(files[name])
            yield from leaks(homework, Path(scratch, here))


def _answers(homeworks: Sequence[HomeworkSource], files: Mapping[str, bytes]) -> Iterator[str]:
    """A sentence for each file outside the releases that holds the answers of a homework."""
    texts = {
        name: {line.strip() for line in lines_of(content)}
        for name, content in files.items()
        if not name.startswith("homeworks/")
    }
    package = {line for name, lines in texts.items() if name.startswith(PACKAGE) for line in lines}
    for homework in homeworks:
        for answers, (name, lines) in product(lines_of_answers(homework).values(), texts.items()):
            is_package = name.startswith(PACKAGE)
            found = sorted(line for line in lines & answers.keys() if is_package or line not in package)
            if len(found) > min(_by_chance(name), len(answers) // 2):
                count = "a line" if len(found) == 1 else f"{len(found)} lines"
                yield (
                    f"{name} holds {count} of {homework.name}'s answers, "
                    f'such as one of {answers[found[0]]}: "{found[0]}"'
                )


def _by_chance(name: str) -> int:
    """How many lines of a homework's solutions, or of one of its catalogues, a file may hold."""
    if name.startswith(PACKAGE):
        return BY_CHANCE_IN_THE_PACKAGE
    return BY_CHANCE_IN_A_LECTURE if name.endswith(".ipynb") else 0


def _of_the_folder(folder: Path) -> Iterator[str]:
    """What is wrong with an existing folder: it, or its git history, contains something not for students."""
    for name in NOT_FOR_STUDENTS:
        if (folder / name).exists():
            yield f"{folder / name} exists, and is not for students."
    if (folder / ".git").exists():
        command = ["git", "-C", str(folder), "rev-list", "--all", "--max-count=1", "--", *NOT_FOR_STUDENTS]
        if subprocess.run(command, capture_output=True, text=True).stdout.strip():
            held = " or ".join(NOT_FOR_STUDENTS[:2])
            yield f"the git history of {folder} contains {held}; start a new repository without it."


def _manifest(folder: Path) -> dict[str, str]:
    """Path → digest of each file that was published here before."""
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return {str(name): str(digest) for name, digest in found.items() if _is_below(str(name))}
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError):
        raise NotPublished(f"{folder / MANIFEST} cannot be read; move it away and publish again.") from None


def _is_below(name: str) -> bool:
    return not Path(name).is_absolute() and ".." not in Path(name).parts


def _is_a_persons(path: Path, before: str | None, coming: bytes | None) -> bool:
    """Whether a file that would be replaced or removed was changed after it was published."""
    if not path.is_file():
        return False
    there = path.read_bytes()
    return there != coming and _digest(there) != before


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(path: Path, content: bytes) -> bool:
    """Whether the file had to be written."""
    if path.is_file() and path.read_bytes() == content:
        return False
    write_bytes(path, content)
    return True


def _notes(root: Path, homeworks: Sequence[HomeworkSource]) -> Iterator[str]:
    for homework in homeworks:
        if is_out_of_date(root, homework):
            yield f"{homework.name} was edited after its release; students get the released version."
    if _is_remote(root, Address.read(root)):
        yield (
            f"[tool.course] names {Address.read(root).repository}, which is where this checkout with its "
            "solutions comes from. Name the students' one there, run `autograder build` and publish again."
        )


def _is_remote(root: Path, address: Address) -> bool:
    listed = subprocess.run(["git", "remote", "-v"], cwd=root, capture_output=True, text=True).stdout
    urls = {line.split()[1] for line in listed.splitlines()}
    project = address.repository.partition("://")[2].partition("/")[2]
    return any(
        project in url.replace(":", "/") and url.removesuffix(".git").endswith(project) for url in urls
    )


def implemented(homeworks: Iterable[HomeworkSource]) -> Iterator[str]:
    """A sentence on the exercises that the package itself answers, because lectures need it."""
    total = {homework.name: len(homework.exercises) for homework in homeworks}
    there = {
        homework.name: sum(
            any(name.startswith("course.") for name in exercise.forbids) for exercise in homework.exercises
        )
        for homework in homeworks
    }
    listed = ", ".join(f"{name} {count} of {total[name]}" for name, count in there.items() if count)
    if listed:
        yield (
            f"The course package implements what {sum(there.values())} of {sum(total.values())} exercises "
            f"ask for ({listed}). Calling it costs the points; a copy of it earns them, and is flagged "
            "if it is longer than about ten lines."
        )


def in_words(done: Published) -> Iterator[str]:
    """What `autograder publish` prints: what it did, and the commands that come next."""
    yield f"published: {done.folder} ({len(done.written)} files written, {len(done.removed)} removed)"
    yield f"Homework in it: {', '.join(homework.name for homework in done.homeworks)}."
    yield from implemented(done.homeworks)
    for name in done.kept:
        yield f"left as it is, because it was changed there after publishing: {name}"
    yield from (f"Note: {note}" for note in done.notes)
    there, address = done.folder, done.address
    yield (
        f"Next, so that {address.repository} has it (another address: write it under [tool.course] in "
        "pyproject.toml, run `autograder build`, and publish again):"
    )
    if not (there / ".git").exists():
        yield f"  git -C {there} init -b main && git -C {there} remote add origin {address.repository}"
    yield f"  git -C {there} add -A && git -C {there} commit -m 'Publish the course'"
    yield f"  git -C {there} tag -f {address.ref}"
    yield f"  git -C {there} push origin main && git -C {there} push --force origin refs/tags/{address.ref}"
