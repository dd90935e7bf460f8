"""What a student reads when a check fails: as text, and as HTML that is legible on light and dark pages."""

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Explanation:
    """The parts of the message, in the order in which they are read; empty ones are left out."""

    claim: str
    difference: str = ""
    received: str = ""
    expected: str = ""
    diagnosis: str = ""
    question: str = ""
    advice: str = ""
    hint: str = ""

    def parts(self) -> list[tuple[str, str]]:
        """Heading and text of each part that has something to say."""
        named = [
            ("", self.difference),
            ("received", self.received),
            ("expected", self.expected),
            ("", self.diagnosis),
            ("", self.question),
            ("", self.advice),
            ("", self.hint),
        ]
        return [(heading, text) for heading, text in named if text]


def as_text(explanation: Explanation) -> str:
    """The message for a terminal."""
    lines = [f"✗ {explanation.claim}"]
    return "\n".join(lines + [f"  {heading} {text}".rstrip() for heading, text in explanation.parts()])


def as_html(explanation: Explanation) -> str:
    """The message for a notebook, without scripts; colours are those of the page."""
    parts = "".join(f"<div>{escape(f'{h} {t}'.strip())}</div>" for h, t in explanation.parts())
    return f"<div><b>✗ {escape(explanation.claim)}</b>{parts}</div>"
