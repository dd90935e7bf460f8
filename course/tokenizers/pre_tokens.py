"""Split text into pre-tokens, which no token may cross, as GPT-2 does (Radford et al. 2019)."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from itertools import groupby

# Unicode's White_Space. Python's \s would add four control characters that are not in it.
WHITESPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


def split_pre_tokens(text: str) -> list[str]:
    """ "I don't know 42!" → ["I", " don", "'t", " know", " 42", "!"]; joined, they give the text again.

    A space belongs to the word that follows it, so most words look the same wherever they occur.
    """
    return gpt2_pattern().findall(text)


def split_digits_apart(text: str) -> list[str]:
    """ "in 1984" → ["in", " ", "1", "9", "8", "4"]: every digit by itself, and GPT-2's pattern between them.

    SmolLM's tokenizer does so, so that a number is always cut in the same way.
    """
    words: list[str] = []
    for part in digit_pattern().split(text):
        words += [part] if digit_pattern().fullmatch(part) else split_pre_tokens(part)
    return words


@cache
def digit_pattern() -> re.Pattern[str]:
    """One character of the category of numbers, which include ² and Ⅳ; `split` keeps it."""
    return re.compile(f"([{characters_of_category('N')}])")


@cache
def gpt2_pattern() -> re.Pattern[str]:
    r"""GPT-2's pattern, spelt for Python's `re`.

    The original: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+

    Python's `re` has no \p{…}; the classes of letters and numbers are written out from `unicodedata`.
    """
    letters, numbers = characters_of_category("L"), characters_of_category("N")
    return re.compile(
        "'s|'t|'re|'ve|'m|'ll|'d"
        f"| ?[{letters}]+"
        f"| ?[{numbers}]+"
        f"| ?[^{WHITESPACE}{letters}{numbers}]+"
        f"|[{WHITESPACE}]+(?![^{WHITESPACE}])"
        f"|[{WHITESPACE}]+"
    )


@cache
def characters_of_category(category: str) -> str:
    """The ranges of all characters whose Unicode category begins with this letter: "N" → "0-9²-³¹…"."""
    points = [p for p in range(sys.maxunicode + 1) if unicodedata.category(chr(p))[0] == category]
    # In a run of consecutive code points, the difference between a point and its index is constant.
    runs = [[p for _, p in run] for _, run in groupby(enumerate(points), lambda item: item[1] - item[0])]
    return "".join(rf"\U{run[0]:08x}-\U{run[-1]:08x}" for run in runs)
