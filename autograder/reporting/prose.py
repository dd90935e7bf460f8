"""Short texts as HTML: `code`, *emphasis* and $formulas$ are converted, the rest is escaped."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from autograder.markup import plain_text
from autograder.reporting.formulas import MOST, with_formulas

_PIECE = re.compile(r"(`[^`]+`|\*\w[^*]*\*|(?<!\\)(?:\$\$[^$]+\$\$|\$[^$\s](?:[^$]*[^$\s])?\$))")


def prose(words: str) -> Markup:
    """A claim, a diagnosis, a question or a student's answer, where no Markdown is read, as in a heading."""
    return Markup("").join(map(_set, _PIECE.split(plain_text(words), maxsplit=MOST)))


def _set(piece: str) -> Markup:
    match piece[:1] + piece[-1:], piece[1:-1]:
        case "``", code if code:
            return Markup('<code class="literal">{}</code>').format(code)
        case "**", emphasised if emphasised:
            return Markup("<em>{}</em>").format(emphasised)
        case "$$", _ if (formula := with_formulas(piece)) != piece:
            return Markup(formula)
    return escape(piece)
