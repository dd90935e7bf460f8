"""Which strangers of all homeworks were caught and named, as a page: `docs/strangers.md`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from autograder.proving.proof import Proof
from autograder.proving.strangers import BY_LUCK, EQUIVALENT, HIDDEN, UNCAUGHT, VISIBLE, Stranger

BEGINNING = """# Strangers: wrong solutions that nobody has named

Written by `autograder verify --accept --mutants {most}`. Strangers are mutants of each reference, at most
{most} of it, each with one small change; the reference that repeats its first answer; and the wrong solutions
in the homework's folder `strangers`. A stranger is *caught* if a check fails: either a visible one, or only a
hidden one, which must then fail with each of 20 seeds. After the visible checks some strangers are given the
name of a known mistake. The name is *true* if the stranger answers every call as that mistake does, with 20
seeds, and otherwise *false*; a stranger written by hand states which names are true. Without a name, students
read only what differs. An *equivalent* mutant is not a mistake, for the reason given.
"""
HEADER = (
    "homework",
    "strangers",
    "equivalent",
    "caught by visible checks",
    "by hidden ones",
    "with some seeds",
    "uncaught",
    "named truly",
    "named falsely",
    "without a name",
)


def page(proofs: Sequence[Proof], most: int) -> str:
    """A table with a row for each homework, and lists of what is not as it should be."""
    homeworks = list(dict.fromkeys(proof.homework for proof in proofs))
    rows = [(name, [one for p in proofs if p.homework == name for one in p.strangers]) for name in homeworks]
    rows.append(("**together**", [one for proof in proofs for one in proof.strangers]))
    lines = [_row(HEADER), _row(("---",) * len(HEADER)), *(_row(_numbers(*row)) for row in rows)]
    return "\n".join([BEGINNING.format(most=most), *lines, *_lists(proofs)]) + "\n"


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _numbers(name: str, met: Sequence[Stranger]) -> tuple[object, ...]:
    fates = Counter(one.fate for one in met)
    caught = [one for one in met if one.fate == VISIBLE]
    named = [one for one in caught if one.named]
    false = sum(bool(one.false) for one in named)
    counted = (fates[fate] for fate in (EQUIVALENT, VISIBLE, HIDDEN, BY_LUCK, UNCAUGHT))
    return (name, len(met), *counted, len(named) - false, false, len(caught) - len(named))


def _lists(proofs: Sequence[Proof]) -> Iterator[str]:
    kinds = (
        ("Falsely named", lambda one: bool(one.false), lambda one: " or ".join(one.false)),
        ("Caught with some seeds only", lambda one: one.fate == BY_LUCK, lambda one: ""),
        ("Uncaught", lambda one: one.fate == UNCAUGHT, lambda one: ""),
        ("Equivalent", lambda one: one.fate == EQUIVALENT, lambda one: one.reason),
    )
    for title, is_of, remark in kinds:
        found = [(proof, one) for proof in proofs for one in proof.strangers if is_of(one)]
        yield f"\n## {title}: {len(found)}\n"
        for proof, one in found:
            said = remark(one)
            yield f"- {proof.homework}, `{proof.exercise}`: `{one.name}`" + (f": {said}" if said else "")
