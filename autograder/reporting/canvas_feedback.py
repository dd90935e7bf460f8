"""Canvas: a zip of the submitted notebooks, each with its mark and comments above the student's work.

Canvas attaches each file to its student's submission as a comment, if the file has the name that it had in
"Download Submissions": here `autograder export HW canvas-feedback --to FEEDBACK.zip`, in Canvas *Re-Upload
Submissions*. A student sees the file under the name of the one they uploaded, so it is a notebook, too. The
rules: generate_comments_from_files and infer_comment_context_from_filename in
app/models/abstract_assignment.rb in github.com/instructure/canvas-lms.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

from autograder.languages.catalogues import language_of
from autograder.marks.comments import in_brief
from autograder.marks.exports.formats import Export, Exported, unmarked
from autograder.marks.exports.marks import Mark
from autograder.marks.hand_marks import HandMarks, hand_marks
from autograder.marks.records import RecordFolder, SubmissionRecord
from autograder.markup import one_line
from autograder.reporting.report import heading_of
from autograder.source.homework import HomeworkSource
from autograder.source.loading import find
from autograder.submissions.collect import SUBMITTED, Found, Unreadable, collect, name_in_canvas, read

FEEDBACK = "feedback"  # in the cell's id and metadata: nbformat 4.4 and Colab keep no id of a cell
STAMP = (2026, 1, 1, 0, 0, 0)  # the same feedback gives the same zip


def canvas_feedback(wanted: Export) -> Exported:
    """The zip, with a note on students who are not in it; raises ExportError, SourceError, NothingHandedIn.

    Whose work was not collected from Canvas's zip, and who has no record, is not in it.
    """
    homework, submitted = find(wanted.homework, wanted.root), wanted.root / SUBMITTED
    records = {one.student: one for one in RecordFolder(wanted.root / "grades", wanted.homework).all()}
    found = {one.student: one for one in collect(submitted, wanted.homework)}
    graded = [mark for mark in wanted.marks if mark.student in records]
    names = {mark.student: name_in_canvas(submitted, mark.student, wanted.homework) for mark in graded}
    given = hand_marks(wanted.root, wanted.homework, wanted.gradebook)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for mark in graded:
            if name := names[mark.student]:
                entry = zipfile.ZipInfo(name, STAMP)
                entry.compress_type = zipfile.ZIP_DEFLATED
                said = feedback(mark, records[mark.student], homework, given[mark.student])
                archive.writestr(entry, with_feedback(said, found.get(mark.student)))
    unnamed = ", ".join(one_line(student) for student, name in names.items() if not name)
    notes = [f"no feedback for whose work was not collected from Canvas's zip: {unnamed}"] if unnamed else []
    return Exported(out.getvalue(), (*notes, *filter(None, [unmarked(wanted.marks)])))


def feedback(mark: Mark, record: SubmissionRecord, homework: HomeworkSource, given: HandMarks) -> str:
    """The mark and the comments as Markdown, in the student's language."""
    language = language_of(homework.folder.parent.parent, record.language, homework.name)
    said = in_brief(record, homework, given)
    parts = [f"# {heading_of(homework, language)}", f"**{language(mark.total)}**", said]
    return "\n\n".join(filter(None, parts))


def with_feedback(text: str, found: Found | None) -> str:
    """The student's notebook with a further cell at its top; that cell alone if there is no such notebook.

    A cell of earlier feedback, which a student who works on in the returned file hands in, is replaced.
    """
    notebook = _notebook(found) or {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": []}
    identity = {"id": FEEDBACK} if notebook.get("nbformat_minor", 0) >= 5 else {}
    cell = {"cell_type": "markdown", "metadata": {FEEDBACK: True}, "source": text, **identity}
    theirs = [one for one in notebook["cells"] if not _is_feedback(one)]
    return json.dumps({**notebook, "cells": [cell, *theirs]}, indent=1) + "\n"


def _is_feedback(cell: Any) -> bool:
    if not isinstance(cell, dict):
        return False
    metadata = cell.get("metadata")
    return cell.get("id") == FEEDBACK or (isinstance(metadata, dict) and FEEDBACK in metadata)


def _notebook(found: Found | None) -> dict[str, Any] | None:
    try:
        content = json.loads(read(found.path)) if found and found.path else None
    except (Unreadable, ValueError, RecursionError):
        return None
    is_notebook = (
        isinstance(content, dict)
        and content.get("nbformat") == 4
        and isinstance(content.get("nbformat_minor", 0), int)
        and isinstance(content.get("cells"), list)
    )
    return content if is_notebook else None
