"""What verify found out about one exercise, and how it is printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, NamedTuple

from autograder.proving.strangers import BY_LUCK, EQUIVALENT, HIDDEN, UNCAUGHT, Stranger

Kind = Literal["stub", "constant", "reference", "alternative", "misconception"]  # of a solution
STUB: Kind = "stub"
CONSTANT: Kind = "constant"
REFERENCE: Kind = "reference"
ALTERNATIVE: Kind = "alternative"
MISCONCEPTION: Kind = "misconception"

PASS_SIGN, FAIL_SIGN, BROKEN_SIGN = "·", "✗", "?"


class Undecided(NamedTuple):
    """A check whose verdict on a solution depends on what is drawn, and the draws with which it passes."""

    check: str
    in_notebook: bool
    seeds: tuple[int, ...]

    def __str__(self) -> str:
        """`as in the notebook and with seeds 3, 7`."""
        seeds = f"with {'seed' if len(self.seeds) == 1 else 'seeds'} {', '.join(map(str, self.seeds))}"
        where = ["as in the notebook"] if self.in_notebook else []
        return " and ".join([*where, *([seeds] if self.seeds else [])])


@dataclass(frozen=True)
class Tried:
    """One solution, right or wrong, and what the checks and the diagnosis said about it."""

    name: str
    kind: Kind
    failed: tuple[str, ...]  # checks failed, with any seed
    passed: tuple[str, ...]  # checks passed, with any seed
    undecided: tuple[Undecided, ...] = ()  # checks passed with some draws and failed with others
    broken: tuple[str, ...] = ()  # checks that could not run
    noted: tuple[str, ...] = ()  # checks passed with a remark
    named: tuple[str, ...] = ()  # what the grader's diagnosis calls it, with every seed
    named_sometimes: tuple[str, ...] = ()  # and with any seed
    named_in_notebook: tuple[str, ...] = ()  # what the student's package calls it, from visible checks alone


@dataclass(frozen=True)
class Proof:
    """Everything that was tried on an exercise, and a sentence for every violation."""

    homework: str
    exercise: str
    checks: tuple[str, ...]
    hidden: tuple[str, ...]
    points: float
    tried: tuple[Tried, ...]
    violations: tuple[str, ...] = field(default=())
    strangers: tuple[Stranger, ...] = field(default=())

    @property
    def holds(self) -> bool:
        return not self.violations

    def as_json(self) -> dict:
        return asdict(self)


def table(proof: Proof) -> str:
    """Which solution fails which check, the mistakes it is named as, and what does not hold."""
    return "\n".join(
        [_heading(proof), *_legend(proof), *_rows(proof), *_strangers(proof), *_violations(proof)]
    )


def summary(proofs: list[Proof]) -> str:
    """One line for all: how much was tried and whether it holds."""
    wrong = [tried for proof in proofs for tried in proof.tried if tried.kind == MISCONCEPTION]
    in_notebook = sum(tried.name in tried.named_in_notebook for tried in wrong)
    violations = sum(len(proof.violations) for proof in proofs)
    verdict = f"{_count(violations, 'claim')} not holding" if violations else "everything holds"
    met = [one for proof in proofs for one in proof.strangers]
    return (
        f"{_count(len(proofs), 'exercise')}, {_count(sum(len(proof.checks) for proof in proofs), 'check')}, "
        f"{_count(len(wrong), 'misconception')} ({in_notebook} named in the notebook already)"
        f"{', ' + tally(met) if met else ''}: {verdict}."
    )


def tally(met: Sequence[Stranger]) -> str:
    """How many strangers were caught and named."""
    fates = Counter(one.fate for one in met)
    named = [one for one in met if one.named]
    false = sum(bool(one.false) for one in named)
    wrong = len(met) - fates[EQUIVALENT]
    return (
        f"{_count(wrong, 'stranger')} ({wrong - fates[UNCAUGHT] - fates[BY_LUCK]} always caught, "
        f"{fates[HIDDEN]} of them by hidden checks alone; {len(named)} named, {false} falsely)"
    )


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" + ("" if number == 1 else "s")


def _heading(proof: Proof) -> str:
    sign = "✓" if proof.holds else "✗"
    return f"{sign} {proof.homework} · {proof.exercise} · {proof.points:g} points"


def _legend(proof: Proof) -> Iterator[str]:
    for number, check in enumerate(proof.checks, 1):
        yield f"    {number:>2} {check}{' (hidden)' if check in proof.hidden else ''}"


def _rows(proof: Proof) -> Iterator[str]:
    """Columns: kind, name, a sign for each check, the mistakes it is named as, and those in the notebook."""
    numbers = " ".join(f"{number:>2}" for number in range(1, len(proof.checks) + 1))
    rows = [
        ("", "", numbers, "named", "in the notebook"),
        *(_row(proof, tried) for tried in proof.tried if _shown(tried)),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield ("    " + "  ".join(map(str.ljust, row, widths))).rstrip()


def _shown(tried: Tried) -> bool:
    """Whether a row is worth printing; that of a constant that fails everything is not."""
    return tried.kind != CONSTANT or bool(tried.passed)


def _row(proof: Proof, tried: Tried) -> tuple[str, ...]:
    signs = " ".join(f"{_sign(tried, check):>2}" for check in proof.checks)
    if tried.kind != MISCONCEPTION:
        return tried.kind, tried.name, signs, "", ""
    named, in_notebook = _named(tried.name, tried.named), _named(tried.name, tried.named_in_notebook)
    return tried.kind, tried.name, signs, named, in_notebook


def _sign(tried: Tried, check: str) -> str:
    if check in tried.broken:
        return BROKEN_SIGN
    return FAIL_SIGN if check in tried.failed else PASS_SIGN


def _named(name: str, names: tuple[str, ...]) -> str:
    others = [other for other in names if other != name]
    return " ".join((["✓"] if name in names else ["–"]) + [f"= {other}" for other in others])


def _strangers(proof: Proof) -> Iterator[str]:
    if proof.strangers:
        yield f"    {tally(proof.strangers)}"
    for one in proof.strangers:
        if one.fate in (UNCAUGHT, BY_LUCK):
            yield f"      {one.fate}: {one.name}"
        if one.false:
            yield f"      falsely named {' or '.join(one.false)}: {one.name}"


def _violations(proof: Proof) -> Iterator[str]:
    return (f"    ! {violation}" for violation in proof.violations)
