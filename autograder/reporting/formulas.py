"""Formulas as MathML, which every browser shows by itself: pages of marks need no network and no script."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from latex2mathml.converter import convert
from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from traitlets import Bool

LONGEST = 2_000  # characters of one formula; a longer one stays as it was written
MOST = 1_000  # formulas and pieces of code in one text; what comes after stays as it was written
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

# Code in fences or between backticks is passed over; the formula stands in group 1 or 2.
_PIECE = re.compile(
    r"```.*?```|~~~.*?~~~|`[^`\n]+`|\\\$|\$\$(.+?)\$\$|(?<![\\$\w])\$(?!\s)([^$\n]+?)(?<!\s)\$(?![\w$])",
    re.DOTALL,
)


def with_formulas(text: str) -> str:
    """Markdown with `$…$` and `$$…$$` as MathML; a formula that cannot be converted stays as it is."""
    return _PIECE.sub(_set, text, count=MOST)


def _set(found: re.Match) -> str:
    display, inline = found.groups()
    latex = display if display is not None else inline
    if latex is None or len(latex) > LONGEST:
        return found[0]
    try:
        return mathml(latex.strip(), "block" if display is not None else "inline")
    except Exception:  # whatever is wrong with it, the reader sees what was written
        return found[0]


def mathml(latex: str, display: str) -> str:
    """One formula as MathML with nothing in it but numbers, letters, signs and their arrangement."""
    latex = re.sub(r"(\\(?:begin|end)\{)aligned\}", r"\1align*}", latex)  # the converter's name for it
    root = ET.fromstring(convert(latex, display=display))
    for element in root.iter():
        name = element.tag.rpartition("}")[2]
        if not name.startswith("m"):
            raise ValueError(f"{name} is no element of MathML")
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
