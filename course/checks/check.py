"""`check(claim, thing)`: what a student runs, in a notebook or anywhere else."""

from collections.abc import Callable
from dataclasses import dataclass, field

from course.checks.claim import Finding, examine, names_in
from course.checks.diagnosis import candidates
from course.checks.explain import Explanation, as_html, as_text
from course.checks.fingerprints import load
from course.checks.standin import LocalLink
from course.checks.trace import Trace


class CheckFailed(AssertionError):
    """A check did not hold; Jupyter shows its message instead of a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass
class Homework:
    """The checks of one homework in one session: remembers what was tried, so that hints come one by one."""

    name: str
    fingerprints: dict
    failures: dict[str, int] = field(default_factory=dict)
    seen: dict[str, tuple[tuple, Trace, bool]] = field(default_factory=dict)

    def __call__(self, claim: Callable, *things: object) -> None:
        """Check one claim about the student's objects; says what holds, or raises CheckFailed with what does not."""
        names = names_in(claim)
        if len(names) != len(things):
            raise TypeError(
                f"{claim.__name__} speaks of {', '.join(names)}: {len(things)} objects were given"
            )
        finding = examine(claim, LocalLink(dict(zip(names, things, strict=True))))
        self.seen[finding.check] = (things, finding.trace, finding.problem is None)
        if finding.problem is None:
            print(f"✓ {finding.sentence}")
            return
        raise CheckFailed(as_text(self._explanation(finding, things))) from None

    def _explanation(self, finding: Finding, things: tuple) -> Explanation:
        names = self._diagnosis(things)
        exercise = self.fingerprints["checks"].get(finding.check, {}).get("exercise", "")
        known = self.fingerprints["exercises"].get(exercise, {}).get("misconceptions", {})
        named = known.get(names[0], {}) if len(names) == 1 else {}
        return Explanation(
            finding.sentence,
            finding.message,
            diagnosis=named.get("diagnosis", ""),
            question=named.get("question", ""),
        )

    def _diagnosis(self, things: tuple) -> list[str]:
        alike = {check: entry for check, entry in self.seen.items() if entry[0] == things}
        answers = {check: self.fingerprints["checks"].get(check, {}).get("answers", {}) for check in alike}
        traces = {check: trace for check, (_, trace, _) in alike.items()}
        return candidates(traces, {check for check, entry in alike.items() if not entry[2]}, answers)


def homework(name: str, *, fingerprints: dict | None = None) -> Homework:
    """The checks of a homework; what is known about its mistakes is loaded by name unless given."""
    return Homework(name, load(name) if fingerprints is None else fingerprints)
