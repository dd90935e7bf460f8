"""Short texts as HTML: `code`, *emphasis* and $formulas$ are converted, the rest is escaped."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from autograder.markup import plain_text
from autograder.reporting.formulas import MOST, with_formulas

_KEPT = r"`[^`]+`|(?<!\\)(?:\$\$[^$]+\$\$|\$[^$\s](?:[^$]*[^$\s])?\$)"
_PIECE = re.compile(rf"({_KEPT}|\*\w[^*]*\*)")
# What a keyboard cannot write, outside code and formulas: h_0, e^z, W_key, -1, "a word", don't.
_TYPED = re.compile(
    rf"""(?P<kept>{_KEPT})
    | (?<!\w)(?P<letter>[A-Za-z]|\d+(?=\^))(?P<script>[_^])
        (?P<index>\d+(?!\w)|[a-z](?!\w)|(?<=\^)\([^()]{{1,40}}\))
    | (?<!\w)(?P<name>[A-Za-z]\w*_\w+)
    | (?<![^\s(\[,=])(?P<minus>-)(?=\d|\s\S|(?:inf|[a-z])(?!\w))
    | (?P<quote>["'])""",
    re.X,
)
_QUOTES = {'"': "“”", "'": "‘’"}


def prose(words: str) -> Markup:
    """The course's own words, such as a claim or a question, where no Markdown is read, as in a heading."""
    return as_written(typeset(words))


def as_written(words: str) -> Markup:
    """The same for a student's words, of which no sign is exchanged for a better one."""
    return Markup("").join(map(_set, _PIECE.split(plain_text(words), maxsplit=MOST)))


def typeset(words: str) -> str:
    """Markdown as it is typed, with the signs of print: $h_0$, `W_key`, −1, “a word”, don’t; code stays."""
    return _TYPED.sub(_printed, words)


def _printed(found: re.Match[str]) -> str:
    typed = found[0]
    match found.lastgroup:
        case "index":
            index = found["index"].strip("()").replace("−", "-")
            return f"${found['letter']}{found['script']}{{{index}}}$"
        case "name":
            return f"`{typed}`"
        case "minus":
            return "−"
        case "quote":
            opens = not found.start() or found.string[found.start() - 1] in " \n([“"
            return _QUOTES[typed][0 if opens else 1]
    return typed


def _set(piece: str) -> Markup:
    match piece[:1] + piece[-1:], piece[1:-1]:
        case "``", code if code:
            return Markup('<code class="literal">{}</code>').format(code)
        case "**", emphasised if emphasised:
            return Markup("<em>{}</em>").format(emphasised)
        case "$$", _ if (formula := with_formulas(piece)) != piece:
            return Markup(formula)
    return escape(piece)
