"""What a student reads after a check: as text, and as HTML that is legible on light and dark pages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

RED = "#d9484a"  # in between, so that it stands out on white and on black; words have the page's own colour

BOX = "border-left:4px solid {colour};padding:.4em .9em;margin:.3em 0;line-height:1.5;max-width:56em"
MONO = "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.92em;white-space:pre-wrap"
FAINT = "opacity:.75"

# A word, in contrast to a name such as p, h_0, dW, `lr = 0.1` or the label `dx:`, which is spelt as it is.
PLAIN_WORD = re.compile(r"(a|[a-z]{2,})(?=[\s'-]|[.?]?(\s|$))(?! = )")

# Hints are Markdown: a line break within a paragraph is a space.
SOFT_BREAK = re.compile(r"(?<!\n)\n(?![\s`|*-]|\d+\.)")


@dataclass(frozen=True)
class Explanation:
    """The parts of the message in the order in which they are read; empty ones are left out."""

    claim: str
    difference: str = ""
    received: str = ""
    expected: str = ""
    mistakes: tuple[tuple[str, str], ...] = ()  # (diagnosis, question) of each mistake that it looks like
    advice: str = ""
    hints: tuple[str, ...] = ()  # those given so far, the newest last
    hints_in_all: int = 0

    @property
    def finding(self) -> str:
        """What is certain where a mistake is named: the answers agree, all those given so far."""
        if len(self.mistakes) < 2:
            return "Your answers are those of a known mistake." if self.mistakes else ""
        return "Your answers so far are those of more than one known mistake."

    @property
    def diagnosis(self) -> str:
        """The mistake in a sentence; of several, each as the possibility that it is."""
        diagnoses = [diagnosis for diagnosis, _ in self.mistakes]
        return "Either: " + " Or: ".join(diagnoses) if len(diagnoses) > 1 else "".join(diagnoses)

    @property
    def question(self) -> str:
        """The question to think about; none where the mistake is not certain."""
        return self.mistakes[0][1] if len(self.mistakes) == 1 else ""

    @property
    def headline(self) -> str:
        """Claim and diagnosis, or what differs, in a line or two."""
        values = f"{self.received} where {self.expected} is expected." if self.received else ""
        why = self.diagnosis or self.difference or values
        return f"✗ {self.claim}" + (f"\n  {why}" if why else "")

    @property
    def hint_title(self) -> str:
        """`Hint 1 of 3`."""
        return f"Hint {len(self.hints)} of {self.hints_in_all}"

    @property
    def hint(self) -> str:
        """The newest hint, each paragraph on one line."""
        newest = self.hints[-1] if self.hints else ""
        return newest if "```" in newest else SOFT_BREAK.sub(" ", newest)


def sentence(clause: str) -> str:
    """A clause as a sentence: a full stop at its end, and a capital at its beginning if that is a word."""
    clause = clause.strip()
    if not clause:
        return ""
    end = "" if clause[-1] in ".?!:…`" or "\n" in clause else "."
    return (clause[0].upper() + clause[1:] if PLAIN_WORD.match(clause) else clause) + end


def as_text(explanation: Explanation) -> str:
    """The message for a terminal."""
    return "\n".join(_lines(explanation))


def _lines(this: Explanation) -> Iterator[str]:
    yield f"✗ {this.claim}"
    for name, value in (("received", this.received), ("expected", this.expected)):
        if value:
            yield f"  {name}: " + value.replace("\n", "\n            ")
    for text in (this.difference, this.finding, this.diagnosis, this.question, this.advice):
        if text:
            yield "  " + text.replace("\n", "\n  ")
    if this.hint:
        yield f"  {this.hint_title}: " + this.hint.replace("\n", "\n  ")


def as_html(explanation: Explanation) -> str:
    """The message for a notebook: everything escaped, no scripts, the page's own text colour."""
    return f'<div style="{BOX.format(colour=RED)}">{"".join(_blocks(explanation))}</div>'


def _blocks(this: Explanation) -> Iterator[str]:
    cross = f'<span style="color:{RED};font-weight:700">✗</span>'
    yield f"<div>{cross} <strong>{_prose(this.claim)}</strong></div>"
    values = [
        (name, value) for name, value in (("received", this.received), ("expected", this.expected)) if value
    ]
    if values:
        yield f'<div style="margin:.4em 0">{"".join(_value(name, value) for name, value in values)}</div>'
    if this.difference:
        yield f"<div>{_prose(this.difference)}</div>"
    if this.diagnosis:
        yield f'<div style="margin-top:.5em"><span style="{FAINT}">{this.finding}</span></div>'
        yield f"<div><strong>{_prose(this.diagnosis)}</strong></div>"
    if this.question:
        yield f"<div>{_prose(this.question)}</div>"
    if this.advice:
        yield f'<div style="margin-top:.5em">{_prose(this.advice)}</div>'
    if this.hint:
        yield f'<div style="margin-top:.5em"><strong>{this.hint_title}</strong> {_prose(this.hint)}</div>'


def _value(name: str, value: str) -> str:
    label = f'<span style="flex:0 0 5.5em;{FAINT}">{name}</span>'
    return f'<div style="display:flex">{label}<span style="{MONO}">{escape(value)}</span></div>'


def _prose(text: str) -> str:
    """Escaped text in which ```blocks``` and `code` are set as code and line breaks are kept."""
    parts = re.split(r"```(?:\w*\n)?(.*?)```", text, flags=re.DOTALL)
    return "".join(_block(part) if i % 2 else _inline(part) for i, part in enumerate(parts))


def _block(code: str) -> str:
    return f'<pre style="{MONO};margin:.3em 0;background:none;color:inherit">{escape(code.strip())}</pre>'


def _inline(text: str) -> str:
    parts = re.split(r"`([^`\n]+)`", text)
    code = [
        f'<code style="{MONO};background:none;color:inherit">{escape(part)}</code>' for part in parts[1::2]
    ]
    plain = [escape(part).replace("\n", "<br>") for part in parts[::2]]
    return "".join(a + b for a, b in zip(plain, [*code, ""], strict=True))
