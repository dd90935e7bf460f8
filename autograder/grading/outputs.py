"""What the cells of a submission printed and displayed, as notebook outputs, up to a total."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.grading.autograded import error, stream
from autograder.isolation import CellResult
from autograder.isolation.limits import MEGABYTE, in_words
from autograder.markup import harmless_pictures, plain_text

LONGEST_TEXT = 2_000  # characters of the text that stands for a displayed object
MOST_SHOWN = 16 * MEGABYTE


@dataclass
class Outputs:
    """The outputs of one submission: each cell is limited by the sandbox, and all together here."""

    most: int = MOST_SHOWN  # characters

    def __post_init__(self) -> None:
        self.left = self.most

    def of(self, result: CellResult) -> list[dict]:
        """A cell's outputs: text and pictures only, and a sentence where the total is used up."""
        if self.left <= 0:
            return []
        self.left -= len(result.output) + sum(
            len(str(text)) for display in result.displays for text in display.values()
        )
        if self.left > 0:
            return outputs_of(result)
        return [stream(f"[A submission may show {in_words(self.most)}; the rest is left out.]")]


def outputs_of(result: CellResult) -> list[dict]:
    """A cell's outputs as notebook outputs: text and pictures only."""
    outputs = [stream(result.output)] if result.output else []
    for display in result.displays:
        data = {"text/plain": plain_text(str(display.get("text/plain", "")), limit=LONGEST_TEXT)}
        data |= harmless_pictures(display)
        outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
    if result.error is not None:
        outputs.append(error(plain_text(result.error.class_name, limit=100), result.error.sentence()))
    return outputs
