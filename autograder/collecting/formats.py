"""The known formats, and how the format of a download is recognised."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from autograder.collecting import canvas, flat, github_classroom, gradescope, moodle, nbgrader_layout
from autograder.collecting.attempt import Attempt
from autograder.collecting.tree import CollectingError, Place, Tree


def nothing_aside(tree: Tree, homework: str) -> Collection[Place]:
    """Every file is somebody's."""
    return ()


@dataclass(frozen=True)
class Format:
    """A format's functions: whether a tree has it, which attempts it contains, and which files are none."""

    name: str
    recognises: Callable[[Tree, str], bool]
    attempts: Callable[[Tree, str], Iterator[Attempt]]
    aside: Callable[[Tree, str], Collection[Place]] = nothing_aside


# The formats that are recognised most reliably come first.
FORMATS = (
    Format("Gradescope", gradescope.recognises, gradescope.attempts, gradescope.aside),
    Format("Moodle", moodle.recognises, moodle.attempts),
    Format("GitHub Classroom", github_classroom.recognises, github_classroom.attempts),
    Format("nbgrader", nbgrader_layout.recognises, nbgrader_layout.attempts, nbgrader_layout.aside),
    Format("Canvas", canvas.recognises, canvas.attempts),
    Format("flat", flat.recognises, flat.attempts),
)


def recognise(tree: Tree, homework: str) -> tuple[Format, Tree]:
    """The format of a tree, and the subtree in that format: many zips have one folder around everything.

    Raises CollectingError.
    """
    inner = tree.below(tree.tops[0]) if len(tree.tops) == 1 else None
    for form in FORMATS:
        for candidate in filter(None, (tree, inner)):
            if form.recognises(candidate, homework):
                return form, candidate
    raise CollectingError(
        f"Nothing in {tree.name} looks like a download of Canvas, Moodle, Gradescope or GitHub Classroom, "
        f"like STUDENT/{homework}/ or like STUDENT.ipynb; it holds: {', '.join(tree.tops[:5]) or 'nothing'}."
    )
