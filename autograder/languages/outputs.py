"""What cells have shown: printed words, and the words of pictures and figures.

What a cell printed is translated if it contains words of the cell's own strings. A page in HTML is translated
text by text; what a figure's module says comes from the catalogue of figures.
"""

from __future__ import annotations

import ast
import html
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping

from babel.messages.extract import extract

from course.language import Language

PIECES = re.compile(r"(<(script|style)\b.*?</\2>|<[^>]*>)", re.DOTALL)
SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL)
ALT = re.compile(r'(?<=\salt=")[^"]*')
WORD = re.compile(r"[^\W\d_]{2,}")
PHRASES = {"phrase": None}  # what a figure's module says
DATA = "const values = { data: "  # what course.figures puts in front of a figure's data
NO_PHRASES = "const PHRASES = {};"  # in course/figures/frame.mjs and site/site.js


def shown(cell: Mapping, say: Callable[[str, bool], str]) -> list[dict]:
    """The outputs of a cell, with each text as `say` says it: say(text, whether it was printed)."""
    strings = set(_strings("".join(cell["source"])))
    return [_output(output, strings, say) for output in cell.get("outputs", ())]


def said(cell: Mapping) -> Iterator[tuple[str, bool]]:
    """Each text in a cell's outputs, and whether it was printed."""
    found: dict[str, bool] = {}

    def note(text: str, is_printed: bool) -> str:
        found[text] = is_printed
        return text

    shown(cell, note)
    return iter(found.items())


def in_figures(page: str, language: Language) -> str:
    """A piece of HTML whose figures say their phrases in the language."""
    return SCRIPT.sub(lambda script: in_script(script[0], language), page)


def in_script(script: str, language: Language) -> str:
    """A script that says its phrases in the language."""
    if NO_PHRASES not in script:
        return script
    found = extract("javascript", io.BytesIO(script.encode()), keywords=PHRASES)
    phrases = (str(text) for _, text, _, _ in found)
    table = json.dumps({text: language(text) for text in phrases}).replace("</", "<\\/")
    return script.replace(NO_PHRASES, f"const PHRASES = {table};")


def _output(output: Mapping, strings: set[str], say: Callable[[str, bool], str]) -> dict:
    if "text" in output:
        return {**output, "text": _printed("".join(output["text"]), strings, say)}
    data = dict(output.get("data", {}))
    if "text/html" in data:
        data["text/html"] = _page("".join(data["text/html"]), strings, say)
    elif "text/plain" in data:
        data["text/plain"] = _printed("".join(data["text/plain"]), strings, say)
    return {**output, "data": data} if data else dict(output)


def _printed(text: str, strings: set[str], say: Callable[[str, bool], str]) -> str:
    words = {word for string in strings for word in WORD.findall(string)}
    return say(text, True) if words & set(WORD.findall(text)) else text


def _page(page: str, strings: set[str], say: Callable[[str, bool], str]) -> str:
    def in_html(text: str) -> str:
        words = html.unescape(text)
        if not WORD.search(words):
            return text
        return html.escape(words.replace(words.strip(), say(words.strip(), False)))

    def piece(found: str) -> str:
        if found.startswith("<script"):
            module, begin, data = found.partition(DATA)
            for sentence in map(json.dumps, sorted(string for string in strings if " " in string.strip())):
                if sentence in data:
                    data = data.replace(sentence, json.dumps(say(json.loads(sentence), False)))
            return module + begin + data
        return ALT.sub(lambda alt: in_html(alt[0]), found) if found.startswith("<") else in_html(found)

    parts = PIECES.split(page)  # text, piece, its name if it is a script or a style, text, …
    return "".join(piece(part) for place, part in enumerate(parts) if part and place % 3 != 2)


def _strings(code: str) -> Iterator[str]:
    """The texts of all strings in code, without what is filled into them."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
