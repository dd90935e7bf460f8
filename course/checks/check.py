"""`check(claim, claim, split_heads=split_heads)`: the call a student runs, in a notebook or elsewhere."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from course.checks.brief import brief, brief_pair
from course.checks.claim import Finding, examine, names_in
from course.checks.compare import Mismatch
from course.checks.diagnosis import candidates, spoken
from course.checks.explain import Explanation, sentence
from course.checks.fingerprints import known, load
from course.checks.parts import called, mend_first
from course.checks.printed import printed
from course.checks.progress import Score, in_words, untried
from course.checks.sequence_difference import where_is_expected
from course.checks.source import forbidden_in
from course.checks.standin import LocalLink
from course.checks.verdict import Points, Verdict
from course.language import ENGLISH, Language, joined, say
from course.language import language as named

PATIENCE = 30.0  # seconds for which a claim goes on after the first difference
RESERVED = frozenset({"points", "later"})  # names that no answer can have


@dataclass(frozen=True)
class Homework:
    """The checks of one homework in one session; counts the attempts, so that hints appear one at a time."""

    name: str
    given: Mapping | None = field(default=None, repr=False)  # fingerprints used instead of the file's
    failures: dict[str, int] = field(default_factory=dict, repr=False)  # of each exercise
    scores: dict[str, Score] = field(default_factory=dict, repr=False)
    is_quiet: bool = False  # shows no verdict
    wrong: dict[str, object] = field(default_factory=dict, repr=False)  # exercise → what failed
    language: Language = field(default=ENGLISH, repr=False)

    @cached_property
    def fingerprints(self) -> Mapping:
        """The fingerprints of the homework's known mistakes; read when a check first needs them."""
        return load(self.name) if self.given is None else self.given

    def __call__(
        self, *claims: Callable, points: Sequence[float] = (), later: int = 0, **things: object
    ) -> Points | None:
        """Test every claim about an exercise on the student's functions or classes, given by their names.

        points: what each claim is worth, 1 if not given. later: how many claims are tested only after the
        homework is handed in. Shows which claims hold and what to fix first. Returns None if all hold,
        otherwise the points of those that do, which nbgrader reads as partial credit. Raises TypeError if a
        claim is about a name that was not given.
        """
        for claim in claims:
            if not inspect.isfunction(claim) or not things.keys() >= {*names_in(claim)}:
                raise TypeError(self.language(_misused(claim)))
        worth = list(points) or [1] * len(claims)
        exercise = self._exercise(claims[0].__name__) or ", ".join(things)
        about = self.fingerprints.get("exercises", {}).get(exercise, {})
        link, exempt = LocalLink(things), about.get("exempt", ())
        options = {"exempt": exempt, "dtype": about.get("dtype", ""), "written": things.get}
        with printed() as output:
            findings = tuple(examine(claim, link, patience=PATIENCE, **options) for claim in claims)
        if output.left_out:
            print("\n" + self.language(output.left_out))
        held = [finding.result == "passed" for finding in findings]
        earned = sum(value for value, holds in zip(worth, held, strict=True) if holds)
        self.scores[exercise] = Score(sum(held), len(held), earned, sum(worth))
        self.wrong.pop(exercise, None)
        why = self._explanation(exercise, about, findings, self._wrong_parts(things))
        if why and exercise in things:
            self.wrong[exercise] = things[exercise]
        remarks = *(finding.note for finding in findings), _advice(about, things)
        verdict = Verdict(findings, later, why, joined("\n", dict.fromkeys(remarks)), self.language)
        result = Points(earned, sum(worth), language=self.language)
        if self.is_quiet:
            return None if verdict.holds else result
        if verdict.is_unwritten:
            return _quiet(replace(result, about=verdict.unwritten))
        show(verdict)
        return None if verdict.holds else result

    def progress(self) -> None:
        """Print how many exercises are done in this session, the points so far, and what is left."""
        scores = untried(self.fingerprints)
        for name, score in self.scores.items():
            before = scores.get(name, score)
            scores[name] = replace(score, later=before.later, bonus=before.bonus)
        if scores:
            print(in_words(scores, self.language))

    def _exercise(self, check: str) -> str | None:
        return self._known(check).get("exercise")

    def _known(self, check: str) -> Mapping:
        return self.fingerprints.get("checks", {}).get(check, {})

    def _wrong_parts(self, things: Mapping[str, object]) -> list[str]:
        """The earlier parts that these use and that failed their own checks as they still are."""
        used = {name: one for thing in things.values() for name, one in called(thing, self.wrong).items()}
        return [name for name, one in used.items() if one is self.wrong[name] and name not in things]

    def _explanation(
        self, exercise: str, about: Mapping, findings: Sequence[Finding], wrong_parts: Sequence[str]
    ) -> Explanation | None:
        """What to fix: the mistake that all claims together point to, and why the first of them fails."""
        failed = [finding for finding in findings if finding.result == "failed"]
        if not failed:
            return None
        first, mistakes = failed[0], self._mistakes(about, findings)
        self.failures[exercise] = self.failures.get(exercise, 0) + (not first.is_plain)
        is_said = len(mistakes) == 1 and isinstance(first.problem, Mismatch)
        needs_none = len(mistakes) == 1 or wrong_parts or first.is_plain
        hints = () if needs_none else tuple(about.get("hints", ()))
        received, expected = values(first.problem)
        is_said = is_said or first.message == where_is_expected(received, expected)
        return Explanation(
            is_of_several=len(failed) > 1,
            difference="" if is_said else sentence(first.message),
            received=received,
            expected=expected,
            mend_first=mend_first(wrong_parts),
            mistakes=mistakes,
            hints=hints[: self.failures[exercise]],
            hints_in_all=len(hints),
        )

    def _mistakes(self, about: Mapping, findings: Sequence[Finding]) -> tuple[tuple[str, str], ...]:
        """Diagnosis and question of each mistake that explains the results of all claims of an exercise."""
        answers = {finding.check: known(self._known(finding.check)) for finding in findings}
        traces = {finding.check: finding.trace for finding in findings}
        failed = {finding.check for finding in findings if finding.problem is not None}
        named = spoken(candidates(traces, failed, answers), about.get("misconceptions", {}))
        return tuple((one["diagnosis"], one["question"]) for one in named)


def homework(name: str, *, language: str = "en", fingerprints: Mapping | None = None) -> Homework:
    """The checks of a homework; its fingerprints are read by its name unless given.

    language: that in which they speak, such as "de"; without a catalogue for it they speak English.
    """
    return Homework(name, fingerprints, language=named(language))


def values(problem: Exception | None) -> tuple[str, str]:
    """The value received and the value expected, in brief; "" where nothing was compared."""
    if not isinstance(problem, Mismatch) or (problem.received is None and problem.expected is None):
        return "", ""
    if problem.is_plain:
        return "", ""
    if problem.message:
        return brief(problem.received), ""
    received, expected = brief_pair(problem.received, problem.expected)
    return ("", "") if received == expected else (received, expected)  # where they differ cannot be seen


def show(verdict: Verdict) -> None:
    """Display the verdict in a notebook, print it elsewhere."""
    display = jupyter_display()
    if display is None:
        print(verdict.as_text())
    else:
        display({"text/html": verdict.as_html(), "text/plain": verdict.as_text()}, raw=True)


def jupyter_display() -> Callable | None:
    """IPython's display function if a notebook can show HTML; None in a terminal or without IPython."""
    ipython = sys.modules.get("IPython")
    if ipython is None:
        return None
    return ipython.display.display if hasattr(ipython.get_ipython(), "kernel") else None


def _quiet(points: Points) -> Points:
    """The points; a notebook shows them with one line of text, elsewhere that line is printed."""
    if jupyter_display() is None:
        print(points.language(points.about))
    return points


def _misused(claim: Callable) -> str:
    if not inspect.isfunction(claim):
        return say("give each answer by its name, as in `check(claim, split_heads=split_heads)`")
    names = names_in(claim)
    about, *others = names
    for name in others:
        about = say("{names} and {name}", names=about, name=name)
    given = ", ".join(f"{name}={name}" for name in names)
    return say(
        "{claim} is about {names}: `check({claim}, {given})`", claim=claim.__name__, names=about, given=given
    )


def _advice(about: Mapping, things: Mapping[str, object]) -> str:
    """A reminder if the answer uses something that the exercise forbids."""
    rule = about.get("forbids", []), about.get("allows", [])
    uses = [use for thing in things.values() for use in forbidden_in(thing, *rule)]
    if not uses:
        return ""
    found = joined(", ", [say("`{name}` (line {line})", name=use.name, line=use.line) for use in uses])
    return say("Write this exercise without {found}: as it is, grading may give it no points.", found=found)
