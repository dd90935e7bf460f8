"""Every call that the checks of one exercise made, with the student's answer and the right one side by side.

For an appeal such as "it runs at home": the checks are run with the inputs of the grading and with those that
the notebook draws. What it shows contains hidden inputs, so it is for instructors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

from autograder.checking.examine import Examined
from autograder.grading.judge import Judge
from autograder.grading.paper import Paper, with_files
from autograder.grading.plan import Plan
from autograder.grading.standin import Sitting
from autograder.isolation.student import Student
from autograder.markup import plain_text
from autograder.source.homework import PASSED
from autograder.submissions.handed_in import parse
from autograder.submissions.repair import repair
from course.checks import Trace
from course.checks.brief import brief, brief_pair
from course.checks.closeness import same
from course.checks.diagnosis import replay
from course.checks.request import random_numbers_kept, seed_everything
from course.checks.trace import Answer, Event, Object, Outcome, Thing

MOST_CALLS = 4  # shown of a claim; those that differ come first
LONGEST = 1_000  # characters of one value


@dataclass(frozen=True)
class Call:
    """One call as it could be typed, the student's answer and the right one."""

    typed: str
    theirs: str
    right: str
    is_same: bool


@dataclass(frozen=True)
class Compared:
    """One claim: how it ended, its calls in order, and how it ended with the inputs of the notebook."""

    claim: str
    is_hidden: bool
    holds: bool
    calls: tuple[Call, ...]
    holds_in_notebook: bool

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Compared:
        """The inverse of `dataclasses.asdict`, after JSON."""
        return cls(**{**data, "calls": tuple(Call(**call) for call in data["calls"])})


def compared(paper: Paper, plan: Plan, start: Callable[[], Student], exercise: str) -> list[dict]:
    """Every claim of the exercise as JSON data of `Compared`, in the notebook's order.

    paper.kept: the verdicts of all other exercises, which are not examined again. Raises Unreadable.
    """
    assert paper.data is not None
    with random_numbers_kept():
        seed_everything(paper.seed)
        graded = _examined(paper.data, paper, plan, start, paper.seed)[exercise]
        as_drawn = _examined(paper.data, paper, plan, start, None)[exercise]
        at_home = {one.check.name: one.result == PASSED for one in as_drawn}
        claims = [
            Compared(
                one.check.claim,
                one.check.hidden,
                one.result == PASSED,
                tuple(_calls(one.trace, plan.references)),
                at_home[one.check.name],
            )
            for one in graded
        ]
    return [asdict(claim) for claim in claims]


def _examined(
    data: bytes, paper: Paper, plan: Plan, start: Callable[[], Student], seed: int | None
) -> dict[str, list[Examined]]:
    handed = parse(data)
    repaired = repair(handed.cells, plan.edition(handed.language).source, plan.retired)
    sitting = Sitting(with_files(paper, plan, start), plan.limits, plan.guarded)
    judge = Judge(plan, repaired, sitting, seed, paper.kept)
    try:
        judge.judge()
    finally:
        sitting.close()
    return judge.examined


def _calls(trace: Trace, references: Mapping[str, Any]) -> Iterator[Call]:
    right = [event.outcome for event in replay(trace, references).events]
    for event, known in zip_longest(trace.events, right[: len(trace.events)]):
        is_same = event.by_chance or (known is not None and same(event.outcome, known))
        yield Call(_typed(event), *_answers(event.outcome, known), is_same)


def _typed(event: Event) -> str:
    given = [_said(value) for value in event.args]
    given += [f"{name}={_said(value)}" for name, value in event.kwargs.items()]
    method = f".{event.method.removesuffix('()')}" if event.method else ""
    target = event.target if isinstance(event.target, str) else _said(event.target)
    return f"{target}{method}({', '.join(given)})"


def _answers(theirs: Outcome, right: Outcome | None) -> tuple[str, str]:
    if right is None:
        return _ended(theirs), "(the right answer is not asked this)"
    if not theirs.kind == right.kind == "value":
        return _ended(theirs), _ended(right)
    if isinstance(theirs.value, Object) or isinstance(right.value, Object):
        return _ended(theirs), _ended(right)
    texts = brief_pair(theirs.value, right.value)
    kinds = ["", ""]
    if texts[0] == texts[1] and not same(theirs.value, right.value):
        kinds = [f" ({type(outcome.value).__name__})" for outcome in (theirs, right)]
    ends = (theirs, right)
    said = [
        _in_a_row(text) + kind + _changed(end) for text, kind, end in zip(texts, kinds, ends, strict=True)
    ]
    return said[0], said[1]


def _ended(outcome: Outcome) -> str:
    if outcome.kind == "not_written":
        return "(not written yet)"
    if outcome.kind == "unreachable":
        return f"(no answer: {_in_a_row(outcome.message)})"
    if outcome.kind == "error":
        return _in_a_row(f"{outcome.error}: {outcome.message}")
    return _said(outcome.value) + _changed(outcome)


def _changed(outcome: Outcome) -> str:
    return "; its arguments were changed" if outcome.changed else ""


def _said(value: object) -> str:
    """A value as it would be named in a sentence about a call."""
    if isinstance(value, Thing):
        return value.name
    if isinstance(value, Object):
        return f"{value.kind}#{value.index + 1}"
    if isinstance(value, Answer):
        return f"answer#{value.event + 1}"
    return _in_a_row(brief(value))


def _in_a_row(text: str) -> str:
    return plain_text(", ".join(text.splitlines()), limit=LONGEST)


def in_words(claims: Sequence[Compared]) -> Iterator[str]:
    """The claims as lines for a terminal, with the calls of those that do not hold; of all, if all hold."""
    disputed = [claim for claim in claims if not (claim.holds and claim.holds_in_notebook)]
    for claim in claims:
        kind = "hidden; " if claim.is_hidden else ""
        graded, home = _holds(claim.holds), _holds(claim.holds_in_notebook)
        yield f"{claim.claim} ({kind}as graded: {graded}; with the notebook's own inputs: {home})"
        if claim not in (disputed or claims):
            continue
        shown = sorted(claim.calls, key=lambda call: call.is_same)[:MOST_CALLS]
        for call in shown:
            yield f"  {' ' if call.is_same else '≠'} {call.typed}"
            yield f"      theirs: {call.theirs}"
            yield f"      right:  {call.right}"
        if more := claim.calls[len(shown) :]:
            yield f"    and {len(more)} more of {len(claim.calls)} calls"
        if not claim.calls:
            yield "    nothing was called"


def _holds(holds: bool) -> str:
    return "holds" if holds else "does not hold"
