"""Mistakes that persist over a term: those that one student made in more than one homework.

A mistake's name says what it is, so the same name in the catalogues of two homeworks is the same mistake, as
are names that synonyms.py lists together. A class of the catalogue is spelt `ScoresNotScaled` where a
function is spelt `scores_not_scaled`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.marks.exports.sheets import write_sheet
from autograder.marks.records import RecordFolder, SubmissionRecord
from autograder.marks.synonyms import SHOWN

BEGINS_A_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True)
class Persisting:
    """A mistake and the students who made it in several homeworks, each with these homeworks."""

    mistake: str
    homeworks: Mapping[str, Sequence[str]]


def persisting(root: Path, homeworks: Sequence[str]) -> list[Persisting]:
    """The mistakes that somebody made in at least two of these homeworks; those of most students first."""
    return _persisting({name: RecordFolder(root / "grades", name).all() for name in homeworks})


def _persisting(records: Mapping[str, Iterable[SubmissionRecord]]) -> list[Persisting]:
    made: dict[str, dict[str, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
    for homework, submissions in records.items():
        for submission in submissions:
            for name in (name for exercise in submission.exercises for name in exercise.diagnosis):
                made[one_name(name)][submission.student][homework] = None
    found = [
        Persisting(mistake, {who: [*where] for who, where in sorted(students.items()) if len(where) > 1})
        for mistake, students in sorted(made.items())
    ]
    return sorted((one for one in found if one.homeworks), key=lambda one: -len(one.homeworks))


def one_name(name: str) -> str:
    """The name under which a mistake is listed, whatever its catalogue calls it."""
    spelt = one_spelling(name)
    return SHOWN.get(spelt, spelt)


def one_spelling(name: str) -> str:
    """ "ScoresNotScaled" → "scores_not_scaled"."""
    return BEGINS_A_WORD.sub("_", name).lower()


def as_csv(mistakes: Sequence[Persisting]) -> str:
    """A table with a line for each mistake and student: in which homeworks, in the order of the term."""
    header = ["mistake", "student", "homeworks"]
    rows = ((one.mistake, who, " ".join(where)) for one in mistakes for who, where in one.homeworks.items())
    return write_sheet(header, (dict(zip(header, row, strict=True)) for row in rows))
