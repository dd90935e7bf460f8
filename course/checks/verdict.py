"""What a student reads after the checks of an exercise: every claim, how many hold, and one thing to fix."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from course.checks.claim import Finding
from course.checks.errors import NotWritten
from course.checks.explain import BOX, FAINT, GREEN, RED, Explanation, blocks, lines, prose
from course.checks.parts import all_of
from course.language import ENGLISH, Language, joined, say, say_count

SIGNS = {"passed": ("✓", GREEN), "failed": ("✗", RED), "not_written": ("○", "inherit")}


@dataclass(frozen=True)
class Verdict:
    """The claims in their order, and why the first failing one does not hold."""

    findings: tuple[Finding, ...]
    later: int = 0  # claims that are tested after the homework is handed in
    why: Explanation | None = None
    advice: str = ""
    language: Language = ENGLISH

    @property
    def holds(self) -> bool:
        """Whether every claim holds."""
        return all(finding.result == "passed" for finding in self.findings)

    @property
    def is_unwritten(self) -> bool:
        """Whether every claim met only a stub."""
        return all(finding.result == "not_written" for finding in self.findings)

    @property
    def unwritten(self) -> str:
        """`○ Value.tanh is not written yet`; "" if everything that the claims met is written."""
        problems = (finding.problem for finding in self.findings)
        names = dict.fromkeys(one.name for one in problems if isinstance(one, NotWritten))
        if not names:
            return ""
        return say_count(
            "○ {names} is not written yet", "○ {names} are not written yet", len(names), names=all_of(names)
        )

    @property
    def summary(self) -> str:
        """`4 of 5 claims hold; 1 more claim is tested after you hand in`."""
        held = sum(finding.result == "passed" for finding in self.findings)
        counted = say_count(
            "{held} of {count} claim holds", "{held} of {count} claims hold", len(self.findings), held=held
        )
        later = say_count(
            "{count} more claim is tested after you hand in",
            "{count} more claims are tested after you hand in",
            self.later,
        )
        return joined("; ", [counted, later if self.later else ""])

    def as_text(self) -> str:
        """For a terminal, and for anything else that shows no HTML."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for finding in self.findings:
            yield f"{SIGNS[finding.result][0]} {self.language(finding.sentence)}"
        yield self.language(self.summary)
        if self.unwritten:
            yield self.language(self.unwritten)
        why = lines(self.why, self.language) if self.why else ()
        for part in (why, [self.language(self.advice)] if self.advice else ()):
            yield from ("", *part) if part else ()

    def as_html(self) -> str:
        """For a notebook: everything escaped, no scripts, legible on light and dark pages."""
        rows = "".join(_row(finding, self.language) for finding in self.findings)
        more = blocks(self.why, self.language) if self.why else []
        if self.advice:
            more = [*more, f'<div style="margin-top:.5em">{prose(self.language(self.advice))}</div>']
        if self.unwritten:
            more = [f"<div>{prose(self.language(self.unwritten))}</div>", *more]
        why = f'<div style="margin-top:.6em">{"".join(more)}</div>' if more else ""
        counted = f'<div style="margin-top:.2em"><strong>{self.language(self.summary)}</strong></div>'
        return f'<div style="{BOX.format(colour=GREEN if self.holds else RED)}">{rows}{counted}{why}</div>'


def _row(finding: Finding, language: Language) -> str:
    sign, colour = SIGNS[finding.result]
    shown = f'<span style="flex:0 0 1.4em;color:{colour};font-weight:700">{sign}</span>'
    faint = "" if finding.result == "failed" else f' style="{FAINT}"'
    return f'<div style="display:flex">{shown}<span{faint}>{prose(language(finding.sentence))}</span></div>'


@dataclass(frozen=True)
class Points:
    """The value of a check cell if a claim does not hold; nbgrader reads its text as partial credit."""

    earned: float
    worth: float
    about: str = ""  # one line of text, if there is nothing else to show
    language: Language = field(default=ENGLISH, compare=False)

    def __repr__(self) -> str:
        return repr(self.earned)

    def _repr_html_(self) -> str:
        """The same in words, for a reader."""
        about = f"{prose(self.language(self.about))} · " if self.about else ""
        points = say("{earned:g} of {worth:g} points", earned=self.earned, worth=self.worth)
        return f'<span style="{FAINT}">{about}{self.language(points)}</span>'
