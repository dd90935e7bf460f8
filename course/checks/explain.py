"""Why a claim does not hold: as text, and as HTML that is legible on light and dark pages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from course.language import BETWEEN, ENGLISH, Language, joined, paragraphs, say, shaped

# Medium shades, visible on white and on black; text has the page's own colour.
RED, GREEN = "#d9484a", "#2c9a5b"

BOX = "border-left:4px solid {colour};padding:.4em .9em;margin:.3em 0;line-height:1.5;max-width:56em"
MONO = "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.92em;white-space:pre-wrap"
FAINT = "opacity:.75"

FIRST = say("About the first ✗:")

# A word, and not a name such as p, h_0, dW, `lr = 0.1` or the label `dx:`, which must not be capitalised.
PLAIN_WORD = re.compile(r"(a|[a-zß-öø-ÿ]{2,})(?=[\s'-]|[.?]?(\s|$))(?! = )")

# Hints are Markdown: a line break within a paragraph is a space.
SOFT_BREAK = re.compile(r"(?<!\n)\n(?![\s`|*-]|\d+\.)")
EMPHASIS = re.compile(r"(?<![\w*])(\*\*?)(?=\w)([^*\n]*[^*\s])\1(?![\w*])")


@dataclass(frozen=True)
class Explanation:
    """The parts of the message in reading order; empty ones are left out."""

    is_of_several: bool = False  # whether other claims do not hold either
    difference: str = ""
    received: str = ""
    expected: str = ""
    mistakes: tuple[tuple[str, str], ...] = ()  # (diagnosis, question) of each mistake that the answers match
    hints: tuple[str, ...] = ()  # those shown so far, the newest last
    hints_in_all: int = 0
    mend_first: str = ""  # the sentence about earlier parts that it calls and that are wrong

    @property
    def finding(self) -> str:
        """What is certain where a mistake is named: all results so far agree with it."""
        if len(self.mistakes) < 2:
            return say("Your results match a known mistake.") if self.mistakes else ""
        return say("Your results so far match more than one known mistake.")

    @property
    def diagnosis(self) -> str:
        """The mistake in a sentence; if there are several, each as one possibility."""
        diagnoses = [say(diagnosis) for diagnosis, _ in self.mistakes]
        if len(diagnoses) < 2:
            return joined("", diagnoses)
        first, *others = diagnoses
        return joined(" ", [say("Either: {diagnosis}", diagnosis=first), *map(_or, others)])

    @property
    def question(self) -> str:
        """The question to think about; "" if the mistake is not certain."""
        return self.mistakes[0][1] if len(self.mistakes) == 1 else ""

    @property
    def hint_title(self) -> str:
        """`Hint 1 of 3`."""
        return say("Hint {number} of {total}", number=len(self.hints), total=self.hints_in_all)

    @property
    def hint(self) -> str:
        """The newest hint, each paragraph on one line."""
        newest = paragraphs(self.hints[-1]) if self.hints else ()
        return shaped(joined(BETWEEN, map(say, newest)), _on_one_line)


def _or(diagnosis: str) -> str:
    return say("Or: {diagnosis}", diagnosis=diagnosis)


def _on_one_line(text: str) -> str:
    return text if "```" in text else SOFT_BREAK.sub(" ", text)


def sentence(clause: str) -> str:
    """A clause as a sentence: with a full stop, and with a capital letter if it begins with a word."""
    return shaped(clause, _as_sentence)


def _as_sentence(clause: str) -> str:
    clause = clause.strip()
    if not clause:
        return ""
    end = "" if clause[-1] in ".?!:…`" or "\n" in clause else "."
    return (clause[0].upper() + clause[1:] if PLAIN_WORD.match(clause) else clause) + end


def lines(this: Explanation, language: Language = ENGLISH) -> list[str]:
    """The message for a terminal."""
    return [line for part in _parts(this, language) for line in part.splitlines()]


def _parts(this: Explanation, language: Language) -> Iterator[str]:
    if this.is_of_several:
        yield language(FIRST)
    for name, value in _values(this):
        yield f"{language(name)}: " + language(value).replace("\n", "\n          ")
    said = this.difference, this.mend_first, this.finding, this.diagnosis, this.question
    yield from (language(part) for part in said if part)
    if this.hint:
        yield f"{language(this.hint_title)}: {language(this.hint)}"


def _values(this: Explanation) -> list[tuple[str, str]]:
    pairs = (say("received"), this.received), (say("expected"), this.expected)
    return [(name, value) for name, value in pairs if value]


def blocks(this: Explanation, language: Language = ENGLISH) -> list[str]:
    """The message for a notebook: everything escaped, no scripts, the page's own text colour."""
    return [*_blocks(this, language)]


def _blocks(this: Explanation, language: Language) -> Iterator[str]:
    def said(text: str) -> str:
        return prose(language(text))

    if this.is_of_several:
        yield f'<div style="{FAINT}">{language(FIRST)}</div>'
    if values := [_value(language(name), language(value)) for name, value in _values(this)]:
        yield f'<div style="margin:.4em 0">{"".join(values)}</div>'
    if this.difference:
        yield f"<div>{said(this.difference)}</div>"
    if this.mend_first:
        yield f'<div style="margin-top:.5em"><strong>{said(this.mend_first)}</strong></div>'
    if this.diagnosis:
        yield f'<div style="margin-top:.5em"><span style="{FAINT}">{language(this.finding)}</span></div>'
        yield f"<div><strong>{said(this.diagnosis)}</strong></div>"
    if this.question:
        yield f"<div>{said(this.question)}</div>"
    if this.hint:
        title = f"<strong>{language(this.hint_title)}</strong>"
        yield f'<div style="margin-top:.5em">{title} {said(this.hint)}</div>'


def _value(name: str, value: str) -> str:
    label = f'<span style="flex:0 0 5.5em;{FAINT}">{name}</span>'
    return f'<div style="display:flex">{label}<span style="{MONO}">{escape(value)}</span></div>'


def prose(text: str) -> str:
    """Escaped text with ```blocks``` and `code` as code, *emphasis* as emphasis, and line breaks kept."""
    parts = re.split(r"```(?:\w*\n)?(.*?)```", text, flags=re.DOTALL)
    return "".join(_block(part) if i % 2 else _inline(part) for i, part in enumerate(parts))


def _block(code: str) -> str:
    return f'<pre style="{MONO};margin:.3em 0;background:none;color:inherit">{escape(code.strip())}</pre>'


def _inline(text: str) -> str:
    parts = re.split(r"`([^`\n]+)`", text)
    code = [
        f'<code style="{MONO};background:none;color:inherit">{escape(part)}</code>' for part in parts[1::2]
    ]
    plain = [EMPHASIS.sub(_emphasised, escape(part)).replace("\n", "<br>") for part in parts[::2]]
    return "".join(a + b for a, b in zip(plain, [*code, ""], strict=True))


def _emphasised(found: re.Match) -> str:
    kind = "strong" if found[1] == "**" else "em"
    return f"<{kind}>{found[2]}</{kind}>"
