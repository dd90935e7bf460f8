"""`check(claim, thing)`: what a student runs, in a notebook or anywhere else."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from course.checks.brief import brief, brief_pair
from course.checks.claim import Finding, examine, names_in
from course.checks.compare import Mismatch
from course.checks.diagnosis import candidates
from course.checks.explain import Explanation, as_html, as_text, sentence
from course.checks.fingerprints import known, load
from course.checks.source import forbidden_in
from course.checks.standin import LocalLink

MOST_NAMES = 3  # mistakes that may be named together; more would name nothing


class CheckFailed(AssertionError):
    """A claim does not hold; Jupyter shows the message in place of a traceback."""

    def __init__(self, message: str, shown: str | None = None) -> None:
        super().__init__(message)
        self.shown = message if shown is None else shown

    def _render_traceback_(self) -> list[str]:
        return self.shown.splitlines()


@dataclass(frozen=True)
class Homework:
    """The checks of one homework in one session; remembers what was tried, so that hints come one by one."""

    name: str
    given: Mapping | None = field(default=None, repr=False)  # fingerprints that take the place of the file's
    tried: dict[str, "Attempt"] = field(default_factory=dict, repr=False)
    failures: dict[str, int] = field(default_factory=dict, repr=False)

    @cached_property
    def fingerprints(self) -> Mapping:
        """What is known of the homework's mistakes; read when the first check asks for it."""
        return load(self.name) if self.given is None else self.given

    def __call__(self, claim: Callable, *things: object) -> None:
        """Check a claim about the student's functions or classes, given in the order in which it names them.

        Prints the claim if it holds; raises CheckFailed if it does not.
        """
        names = names_in(claim)
        if len(names) != len(things):
            raise TypeError(f"{claim.__name__} is about {', '.join(names)}; {len(things)} things were given")
        given = dict(zip(names, things, strict=True))
        exempt = self._about(claim.__name__).get("exempt", ())
        finding = examine(claim, LocalLink(given), exempt=exempt, written=given.get)
        self.tried[finding.check] = Attempt(things, finding)
        if finding.result == "passed":
            print("\n".join(filter(None, [f"✓ {finding.sentence}", self._advice(finding, things)])))
        elif finding.result == "not_written":
            raise CheckFailed(finding.message) from None
        else:
            raise shown(self._explanation(finding, things)) from None

    def _explanation(self, finding: Finding, things: tuple) -> Explanation:
        self.failures[finding.check] = self.failures.get(finding.check, 0) + 1
        number = self._rounds(finding.check)
        mistakes = self._mistakes(finding, things)
        is_said = len(mistakes) == 1 and isinstance(finding.problem, Mismatch)
        hints = self._about(finding.check).get("hints", [])
        received, expected = values(finding.problem)
        is_said = is_said or finding.message == f"{received} where {expected} is expected"
        return Explanation(
            claim=finding.sentence,
            difference="" if is_said else sentence(finding.message),
            received=received,
            expected=expected,
            mistakes=mistakes,
            advice=self._advice(finding, things),
            hints=tuple(hints[:number]),
            hints_in_all=len(hints),
        )

    def _rounds(self, check: str) -> int:
        """How often the exercise was tried in vain, so that all its checks give the same hint in one pass."""
        exercise = self._exercise(check)
        alike = (count for other, count in self.failures.items() if self._exercise(other) == exercise)
        return max(alike) if exercise else self.failures[check]

    def _about(self, check: str) -> Mapping:
        return self.fingerprints.get("exercises", {}).get(self._exercise(check), {})

    def _exercise(self, check: str) -> str | None:
        return self._known(check).get("exercise")

    def _known(self, check: str) -> Mapping:
        return self.fingerprints.get("checks", {}).get(check, {})

    def _mistakes(self, finding: Finding, things: tuple) -> tuple[tuple[str, str], ...]:
        """Diagnosis and question of the mistakes that explain what these very objects did so far."""
        exercise = self._exercise(finding.check)
        attempts = {
            check: attempt.finding
            for check, attempt in self.tried.items()
            if attempt.is_of(things) and self._exercise(check) == exercise
        }
        answers = {check: known(self._known(check)) for check in attempts}
        traces = {check: attempt.trace for check, attempt in attempts.items()}
        failed = {check for check, attempt in attempts.items() if attempt.problem is not None}
        about = self._about(finding.check).get("misconceptions", {})
        named = [about[name] for name in candidates(traces, failed, answers) if name in about]
        return tuple((one["diagnosis"], one["question"]) for one in named) if len(named) <= MOST_NAMES else ()

    def _advice(self, finding: Finding, things: tuple) -> str:
        """A reminder where the exercise is to be done without something that is used."""
        about = self._about(finding.check)
        rule = about.get("forbids", []), about.get("allows", [])
        uses = [use for thing in things for use in forbidden_in(thing, *rule)]
        if not uses:
            return ""
        found = ", ".join(f"`{use.name}` (line {use.line})" for use in uses)
        return f"This exercise is to be written without {found}."


@dataclass(frozen=True)
class Attempt:
    """The objects that a check was made with, and what came of it."""

    things: tuple
    finding: Finding

    def is_of(self, things: tuple) -> bool:
        """Whether these are the very same objects."""
        return len(things) == len(self.things) and all(
            a is b for a, b in zip(things, self.things, strict=True)
        )


def homework(name: str, *, fingerprints: Mapping | None = None) -> Homework:
    """The checks of a homework; what is known of its mistakes is read by its name unless given."""
    return Homework(name, fingerprints)


def values(problem: Exception | None) -> tuple[str, str]:
    """What was received and expected, in brief; "" for what is not known, as where nothing was compared."""
    if not isinstance(problem, Mismatch) or (problem.received is None and problem.expected is None):
        return "", ""
    if problem.message:
        return brief(problem.received), ""
    return brief_pair(problem.received, problem.expected)


def shown(explanation: Explanation) -> CheckFailed:
    """The exception to raise; in Jupyter the message is displayed, and the exception repeats its headline."""
    display = jupyter_display()
    if display is None:
        return CheckFailed(as_text(explanation))
    display({"text/html": as_html(explanation), "text/plain": as_text(explanation)}, raw=True)
    return CheckFailed(as_text(explanation), explanation.headline)


def jupyter_display() -> Callable | None:
    """IPython's display where a notebook shows its HTML; None in a terminal and without IPython."""
    ipython = sys.modules.get("IPython")
    if ipython is None:
        return None
    return ipython.display.display if hasattr(ipython.get_ipython(), "kernel") else None
