"""Rebuild a submission from its release: the student's text and code, and everything else as released.

Cells are recognised by their nbgrader id, then by the builder's cell id, then by their text, so that a
notebook that lost its metadata (as after Colab) is as good as any. A cell of an earlier release is brought
up to date and noted; one that was in no release is flagged as changed. The file itself is not touched.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from autograder.markup import one_line
from autograder.source.address import without_address
from autograder.source.earlier_releases import digest_of, nbgraders_checksum, plain
from autograder.source.homework import TEXT_STUB, words_below
from autograder.source.released import EarlierCell, Role, SourceCell, defined_names
from autograder.submissions.handed_in import HandedCell
from course.language import joined, say, say_count

Retired = Mapping[str, frozenset[str]]
NONE: Retired = {}


@dataclass(frozen=True)
class RepairedCell:
    """A cell of the rebuilt notebook; the student's own where `of` is None."""

    kind: str
    source: str
    of: SourceCell | None = None
    attachments: Mapping[str, Any] = field(default_factory=dict)
    # it was missing; an answer that was missing must not run over one written elsewhere
    restored: bool = False

    @property
    def role(self) -> Role:
        return self.of.role if self.of else "own"

    @property
    def is_untouched(self) -> bool:
        """Whether the cell is as it was released, now or earlier, or its question has no word below it."""
        if self.of is None:
            return False
        if self.of.role == "written" and not words_below(self.of.released, self.source):
            return True
        return self.source in (self.of.source, self.of.released) or _was(self.of, self.source)


@dataclass(frozen=True)
class Repaired:
    """The rebuilt notebook, what a person should look at (`flags`), and further information (`notes`)."""

    cells: tuple[RepairedCell, ...]
    flags: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def cell(self, name: str) -> RepairedCell:
        return next(cell for cell in self.cells if cell.of and cell.of.name == name)


def repair(handed: Sequence[HandedCell], source: Sequence[SourceCell], retired: Retired = NONE) -> Repaired:
    """The submission rebuilt: every cell of the source once, the student's own cells where they put them.

    retired: the cells of earlier releases to leave out, which no longer exist: name → digests of their texts.
    """
    found = _recognise(handed, source)
    gone = {at for at, cell in enumerate(handed) if at not in found and _is_retired(cell, retired)}
    kept = [
        _rebuilt(cell, found.get(position))
        for position, cell in enumerate(handed)
        if position in found or not (position in gone or _is_copy(cell, source))
    ]
    cells = _with_missing(kept, source)
    compared = replace(_compared(handed, found, source), gone=[handed[at] for at in sorted(gone)])
    return Repaired(tuple(cells), tuple(_flags(handed, compared, source)), tuple(_notes(compared)))


def _recognise(handed: Sequence[HandedCell], source: Sequence[SourceCell]) -> dict[int, SourceCell]:
    """Position in the submission → the source cell it is; of several copies the last, as nbgrader does."""
    last = {cell.name: at for at, cell in enumerate(handed) if cell.name is not None}
    found = {last[cell.name]: cell for cell in source if cell.name in last}
    for same in (_same_cell_id, _same_text):
        known = {cell.name for cell in found.values()}
        for cell in source:
            if cell.name not in known:
                places = [at for at, other in enumerate(handed) if at not in found and same(other, cell)]
                found |= {places[-1]: cell} if places else {}
    return found


def _same_cell_id(handed: HandedCell, cell: SourceCell) -> bool:
    return handed.name is None and bool(cell.cell_id) and handed.cell_id == cell.cell_id


def _same_text(handed: HandedCell, cell: SourceCell) -> bool:
    if handed.name is not None or handed.kind != cell.kind:
        return False
    if cell.role == "answer":
        return not set(cell.defines).isdisjoint(defined_names(handed.source))
    if cell.role == "written":
        return _keeps_the_question(handed.source, cell.released)
    return _is_the_text_of(cell, handed.source)


def _is_the_text_of(cell: SourceCell, text: str) -> bool:
    return _says_the_same(text, cell.released) or _was(cell, text)


def _says_the_same(text: str, released: str) -> bool:
    """Whether two texts differ at most in the address of the course, which may move after the release."""
    return _anywhere(text) == _anywhere(released)


@lru_cache(maxsize=1_000)  # each cell of a submission is compared with all cells of the source
def _anywhere(text: str) -> str:
    return without_address(plain(text))


def _was(cell: SourceCell, text: str) -> bool:
    """Whether an earlier release had this text in the cell."""
    return bool(cell.earlier) and digest_of(text) in {was.text for was in cell.earlier if was}


def _keeps_the_question(answer: str, released: str) -> bool:
    """Whether at least half of the question's lines are in the answer."""
    question = {line for line in plain(released).splitlines() if line and line != TEXT_STUB}
    return 2 * len(question.intersection(plain(answer).splitlines())) >= max(len(question), 1)


def _is_retired(handed: HandedCell, retired: Retired) -> bool:
    if handed.name is not None:
        return handed.name in retired
    return bool(retired) and any(digest_of(handed.source) in texts for texts in retired.values())


def _is_copy(handed: HandedCell, source: Sequence[SourceCell]) -> bool:
    """Whether a cell that was not recognised repeats one of ours word for word."""
    ours = (cell for cell in source if cell.role in ("check", "given"))
    return any(_is_the_text_of(cell, handed.source) for cell in ours)


def _rebuilt(handed: HandedCell, cell: SourceCell | None) -> RepairedCell:
    if cell is None:
        return RepairedCell(handed.kind, handed.source, attachments=handed.attachments)
    if _is_the_students(cell):
        return RepairedCell(cell.kind, handed.source, cell, handed.attachments)
    return RepairedCell(cell.kind, cell.source, cell)


def _with_missing(kept: list[RepairedCell], source: Sequence[SourceCell]) -> list[RepairedCell]:
    """Insert every missing cell after the one it follows in the source."""
    cells = list(kept)
    position = 0
    for cell in source:
        places = [at for at, other in enumerate(cells) if other.of is cell]
        if not places:
            cells.insert(position, RepairedCell(cell.kind, cell.source, cell, restored=True))
            places = [position]
        position = places[0] + 1
    return cells


@dataclass(frozen=True)
class _Compared:
    """The cells of a submission compared with those of the release, grouped by what must be reported."""

    recognised: Sequence[tuple[HandedCell, SourceCell]]
    changed: Sequence[tuple[HandedCell, SourceCell]]
    earlier: Sequence[SourceCell]  # as they are in an earlier release
    absent_before: Sequence[SourceCell]  # not there, as in an earlier release, or because they were deleted
    unrecorded: Sequence[SourceCell]  # as nbgrader once released them, going by their checksum
    missing: Sequence[SourceCell]
    gone: Sequence[HandedCell] = ()  # what earlier releases had and this one has not


def _compared(
    handed: Sequence[HandedCell], found: Mapping[int, SourceCell], source: Sequence[SourceCell]
) -> _Compared:
    recognised = [(handed[at], cell) for at, cell in sorted(found.items())]
    there = {cell.name for cell in found.values()}
    absent = [cell for cell in source if cell.name not in there]
    differing = [pair for pair in recognised if _text_differs(*pair) or _settings_differ(*pair)]
    earlier = [(other, cell) for other, cell in differing if _is_earlier(other, cell)]
    unrecorded = [pair for pair in differing if pair not in earlier and _fits_its_checksum(pair[0])]
    return _Compared(
        recognised,
        changed=[pair for pair in differing if pair not in earlier and pair not in unrecorded],
        earlier=[cell for _, cell in earlier],
        absent_before=[cell for cell in absent if None in cell.earlier],
        unrecorded=[cell for _, cell in unrecorded],
        missing=[cell for cell in absent if None not in cell.earlier],
    )


def _is_earlier(handed: HandedCell, cell: SourceCell) -> bool:
    """Whether one earlier release had the cell with this text, these points and these rights."""
    return any(
        was is not None
        and (_is_the_students(cell) or was.text == digest_of(handed.source))
        and not _settings_differ(handed, was)
        for was in cell.earlier
    )


def _fits_its_checksum(handed: HandedCell) -> bool:
    theirs = handed.nbgrader
    return handed.name is not None and theirs.get("checksum") == nbgraders_checksum(
        handed.name, handed.kind, handed.source, theirs
    )


def _is_the_students(cell: SourceCell) -> bool:
    return cell.role in ("answer", "written", "alive")


def _text_differs(handed: HandedCell, cell: SourceCell) -> bool:
    return not _is_the_students(cell) and not _says_the_same(handed.source, cell.released)


def _settings_differ(handed: HandedCell, cell: SourceCell | EarlierCell) -> bool:
    return _points_differ(handed, cell) or _kind_differs(handed, cell)


def _points_differ(handed: HandedCell, cell: SourceCell | EarlierCell) -> bool:
    return bool(handed.nbgrader) and handed.nbgrader.get("points") != cell.nbgrader.get("points")


def _kind_differs(handed: HandedCell, cell: SourceCell | EarlierCell) -> bool:
    switches = ("grade", "solution", "locked", "task", "schema_version")
    theirs = handed.nbgrader
    return handed.kind != cell.kind or (
        bool(theirs)
        and any(theirs.get(key, cell.nbgrader.get(key)) != cell.nbgrader.get(key) for key in switches)
    )


def _notes(compared: _Compared) -> Iterator[str]:
    cells = _counted([*compared.earlier, *compared.absent_before])
    if compared.earlier or (compared.gone and compared.absent_before):
        yield say("Made from an earlier release; brought up to date: {cells}.", cells=cells)
    elif compared.absent_before:
        yield say("Missing, as from earlier releases of the homework, and restored: {cells}.", cells=cells)
    if compared.unrecorded:
        yield say(
            "Made from a release that is not on record, judging by nbgrader's checksums; "
            "brought up to date: {cells}.",
            cells=_counted(compared.unrecorded),
        )
    if compared.gone:
        cells = _counted(compared.gone)
        yield say("From an earlier release, and no longer part of this one: {cells}.", cells=cells)


def _flags(handed: Sequence[HandedCell], compared: _Compared, source: Sequence[SourceCell]) -> Iterator[str]:
    lost = [cell for other, cell in compared.recognised if other.name is None]
    if lost:
        yield say_count(
            "The notebook has lost metadata (as after Colab): {count} cell recognised by text.",
            "The notebook has lost metadata (as after Colab): {count} cells recognised by text.",
            len(lost),
        )
    yield from _missing(compared.missing)
    yield from _changes(compared.changed)
    yield from _copies(handed, {cell.name: cell for cell in source})
    tags = sorted({tag for cell in handed for tag in cell.tags if tag != "parameters"})
    if tags:
        names = ", ".join(one_line(tag[:40]) for tag in tags[:5])
        yield say("Cell tags dropped: {names}.", names=names)


def _missing(cells: Sequence[SourceCell]) -> Iterator[str]:
    def those(role: Role) -> list[SourceCell]:
        return [cell for cell in cells if cell.role == role]

    if found := those("check"):
        yield say_count(
            "Restored {count} check cell ({names}), missing from the submission.",
            "Restored {count} check cells ({names}), missing from the submission.",
            len(found),
            names=_shown(found),
        )
    if found := those("given"):
        yield say_count(
            "Restored {count} cell of the homework ({names}), missing from the submission.",
            "Restored {count} cells of the homework ({names}), missing from the submission.",
            len(found),
            names=_shown(found),
        )
    if found := those("written"):
        yield say_count(
            "Restored {count} written question ({names}), missing from the submission.",
            "Restored {count} written questions ({names}), missing from the submission.",
            len(found),
            names=_shown(found),
        )
    if found := those("answer"):
        yield say_count(
            "Missing from the submission: {count} answer cell ({names}).",
            "Missing from the submission: {count} answer cells ({names}).",
            len(found),
            names=_shown(found),
        )


def _changes(pairs: Sequence[tuple[HandedCell, SourceCell]]) -> Iterator[str]:
    def those(changed: Callable[[HandedCell, SourceCell], bool]) -> list[SourceCell]:
        return [cell for handed, cell in pairs if changed(handed, cell)]

    if found := those(_text_differs):
        yield say("Changed by the student and restored: {cells}.", cells=_counted(found))
    if found := those(_points_differ):
        yield say("Points had been changed and were restored in {cells}.", cells=_counted(found))
    if found := those(_kind_differs):
        yield say(
            "Cell type or permissions had been changed and were restored in {cells}.", cells=_counted(found)
        )


def _copies(handed: Sequence[HandedCell], source: dict[str, SourceCell]) -> Iterator[str]:
    counts = Counter(cell.name for cell in handed if cell.name in source)
    copied = [source[name] for name, count in counts.items() if count > 1]
    if copied:
        yield say("More than one copy of {cells}; the last copy is graded.", cells=_counted(copied))


Named = Sequence[SourceCell] | Sequence[HandedCell]


def _counted(cells: Named) -> str:
    """`2 cells (a, b)`."""
    count, names = len(cells), _shown(cells)
    return say_count("{count} cell ({names})", "{count} cells ({names})", count, names=names)


def _shown(cells: Named) -> str:
    names = joined(", ", [cell.name or say("without a name") for cell in cells[:8]])
    return joined(", ", [names, "…"]) if len(cells) > 8 else names


NAMES_ITS_HOMEWORK = re.compile(r"\bhomework\(\s*[\"'](\w{1,80})[\"']")


def mix_up(handed: Sequence[HandedCell], repaired: Repaired, homework: str) -> str | None:
    """A sentence if a notebook belongs to a different homework and contains nothing of this one."""
    ours = (cell for cell in repaired.cells if cell.role in ("answer", "written", "check"))
    if not all(cell.restored for cell in ours):
        return None
    named = {name for cell in handed for name in NAMES_ITS_HOMEWORK.findall(cell.source)}
    if not named or homework in named:
        return None
    return say(
        "This is the notebook of {other}, and it contains nothing of {homework}.",
        other=min(named),
        homework=homework,
    )
