"""Compare which checks the misconceptions fail with the homework's table, or write it into the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from autograder.proving.proof import MISCONCEPTION, Proof, Tried
from autograder.source.fails import FILE, write_fails
from autograder.source.homework import HomeworkSource


def deviations(homework: HomeworkSource, exercise: str, tried: Iterable[Tried]) -> Iterator[str]:
    """A sentence for each misconception of an exercise that does not fail exactly the checks in its row."""
    accept = f"`autograder verify {homework.name} --accept` writes down what it fails"
    found = {one.name: frozenset(one.failed) for one in tried if one.kind == MISCONCEPTION}
    known = {name: checks for (of, name), checks in homework.fails.items() if of == exercise}
    for name, failed in found.items():
        if name not in known:
            yield f"{name} has no row in {FILE}: {accept}."
        elif failed != known[name]:
            yield f"{_difference(name, failed, known[name])}, unlike in {FILE}: if that is right, {accept}."
    for name in sorted(known.keys() - found.keys()):
        yield f"{name} has a row in {FILE} but is not a misconception of {exercise}: {accept}."


def _difference(name: str, failed: frozenset[str], known: frozenset[str]) -> str:
    differences = (("passes", known - failed), ("fails", failed - known))
    return f"{name} " + " and ".join(
        f"{verb} {', '.join(sorted(checks))}" for verb, checks in differences if checks
    )


def accept(homework: HomeworkSource, proofs: Iterable[Proof]) -> None:
    """Write into the homework's table what these proofs of all its exercises found."""
    write_fails(
        homework.folder,
        {
            (proof.exercise, one.name): one.failed
            for proof in proofs
            if proof.homework == homework.name
            for one in proof.tried
            if one.kind == MISCONCEPTION
        },
    )
