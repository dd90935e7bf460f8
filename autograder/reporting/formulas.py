"""Formulas as MathML, which every browser can show: pages of marks need no network and no script."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from latex2mathml.converter import convert
from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from traitlets import Bool

LONGEST = 2_000  # characters of one formula; a longer one is left as it is
MOST = 1_000  # formulas and pieces of code in one text; the rest is left as it is
HARMLESS = {
    "display",
    "xmlns",
    "mathvariant",
    "stretchy",
    "fence",
    "form",
    "separator",
    "accent",
    "linethickness",
}
HARMLESS |= {
    "minsize",
    "maxsize",
    "columnalign",
    "rowspacing",
    "columnspacing",
    "movablelimits",
    "lspace",
    "rspace",
}

# Code in fences or between backticks is skipped; the formula is in group 1 or 2.
_PIECE = re.compile(
    r"```.*?```|~~~.*?~~~|`[^`\n]+`|\\\$|\$\$(.+?)\$\$|(?<![\\$\w])\$(?!\s)([^$\n]+?)(?<!\s)\$(?![\w$])",
    re.DOTALL,
)


def with_formulas(text: str) -> str:
    """Markdown with `$…$` and `$$…$$` as MathML; a formula that cannot be converted is left as it is."""
    return _PIECE.sub(_set, text, count=MOST)


def _set(found: re.Match) -> str:
    display, inline = found.groups()
    latex = display if display is not None else inline
    if latex is None or len(latex) > LONGEST:
        return found[0]
    try:
        return mathml(latex.strip(), "block" if display is not None else "inline")
    except Exception:  # whatever is wrong with it, the reader sees the source
        return found[0]


def mathml(latex: str, display: str) -> str:
    """One formula as MathML that contains only elements for numbers, letters, signs and layout."""
    latex = re.sub(r"(\\(?:begin|end)\{)aligned\}", r"\1align*}", latex)  # the converter's name for it
    root = ET.fromstring(convert(latex, display=display))
    for element in root.iter():
        name = element.tag.rpartition("}")[2]
        if not name.startswith("m"):
            raise ValueError(f"{name} is not an element of MathML")
        for attribute in set(element.attrib) - HARMLESS:
            del element.attrib[attribute]
    ET.register_namespace("", "http://www.w3.org/1998/Math/MathML")
    return ET.tostring(root, encoding="unicode").replace("\n", " ")


class Formulas(Preprocessor):
    """Convert the formulas of all Markdown cells, for nbgrader's feedback and formgrader."""

    enabled = Bool(True, help="whether to use it").tag(config=True)

    def preprocess_cell(
        self, cell: NotebookNode, resources: ResourcesDict, index: int
    ) -> tuple[NotebookNode, ResourcesDict]:
        if cell.cell_type == "markdown":
            cell.source = with_formulas(cell.source)
        return cell, resources
