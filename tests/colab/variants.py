"""The forms in which a homework is run: as it was handed out, with nothing right in it, and solved."""

import copy
from collections.abc import Callable, Iterator

from nbformat import NotebookNode

STUB = "raise NotImplementedError"
OF_A_STUB = (
    "NotImplementedError: ",
    "NameError: ",
)  # what is tried, and what was to come of it


def handed_out(release: NotebookNode, solved: NotebookNode) -> NotebookNode:
    """The homework as students open it."""
    return copy.deepcopy(release)


def answering_nothing(release: NotebookNode, solved: NotebookNode) -> NotebookNode:
    """The homework of a student whose functions all return None."""
    return _with_answers(release, lambda cell: cell.source.replace(STUB, "return None"))


def with_the_solutions(release: NotebookNode, solved: NotebookNode) -> NotebookNode:
    """The homework with the reference in place of every stub; checks that are kept back stay so."""
    answers = {cell.id: cell.source for cell in solved.cells}
    return _with_answers(release, lambda cell: answers[cell.id])


def _with_answers(release: NotebookNode, answer: Callable[[NotebookNode], str]) -> NotebookNode:
    answered = copy.deepcopy(release)
    for cell in answered.cells:
        if is_code(cell) and is_marked(cell, "solution"):
            cell.source = answer(cell)
    return answered


def is_code(cell: NotebookNode) -> bool:
    return cell.cell_type == "code"


def is_marked(cell: NotebookNode, mark: str) -> bool:
    """Whether nbgrader knows the cell as this: "solution" or "grade"."""
    return bool(cell.metadata.get("nbgrader", {}).get(mark))


def is_free(cell: NotebookNode) -> bool:
    """Whether the cell is there to try things out, and nbgrader takes no notice of it."""
    return "nbgrader" not in cell.metadata


def is_visible_check(cell: NotebookNode) -> bool:
    """Whether the cell says something when it is run; a check that is kept back is only a comment."""
    return is_code(cell) and is_marked(cell, "grade") and "check(" in cell.source


def html(cell: NotebookNode) -> str:
    return "".join(output.get("data", {}).get("text/html", "") for output in cell.outputs)


def errors(cell: NotebookNode) -> Iterator[tuple[str, str]]:
    """(class and message, what is shown) of what the cell raised."""
    for output in cell.outputs:
        if output.output_type == "error":
            yield f"{output.ename}: {output.evalue}", "\n".join(output.traceback)


def faults_when_handed_out(cell: NotebookNode) -> Iterator[str]:
    """The checks say in one line that their function is not written yet; a stub may be tried in vain."""
    raised = list(errors(cell))
    if not is_visible_check(cell):
        yield from (error for error, _ in raised if not (is_free(cell) and error.startswith(OF_A_STUB)))
    elif raised or len(cell.outputs) != 1 or "not written yet" not in html(cell):
        yield f"instead of one line on what is not written yet: {raised} {html(cell)}"


def faults_when_nothing_is_answered(cell: NotebookNode) -> Iterator[str]:
    """Checks that fail explain themselves as HTML, and nothing is raised."""
    if not is_visible_check(cell):
        return
    yield from (f"instead of an explanation: {error}" for error, _ in errors(cell))
    if "✗" not in html(cell):
        yield f"passes for a function that returns None: {html(cell)}"


def faults_when_solved(cell: NotebookNode) -> Iterator[str]:
    """Every claim holds and says so; nothing fails."""
    yield from (error for error, _ in errors(cell))
    if is_visible_check(cell) and ("✓" not in html(cell) or "✗" in html(cell)):
        yield f"does not say that all hold: {html(cell)!r}"


FORMS = {
    "handed out": (handed_out, faults_when_handed_out),
    "answering nothing": (answering_nothing, faults_when_nothing_is_answered),
    "solved": (with_the_solutions, faults_when_solved),
}
