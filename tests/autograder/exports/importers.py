"""What the platforms understand of a file that is imported there, after their own rules, in a few lines each.

golden/README.md names the sources; a file that the platform would refuse is an AssertionError here.
"""

import csv
import io
import json
import re
import zipfile
from dataclasses import dataclass

# lib/gradebook_importer.rb of canvas-lms: GRADEBOOK_IMPORTER_RESERVED_NAMES and NON_ASSIGNMENT_COLUMN_HEADERS
OF_STUDENTS = {"Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID", "Section"} | {
    "Integration ID",
    "Root Account",
}
OF_CANVAS = re.compile(r"(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)")


@dataclass(frozen=True)
class Imported:
    """What arrived: assignments, each with student → grade as it is entered."""

    grades: dict[str, dict[str, str]]
    points_possible: dict[str, str]


def canvas_imports(text):
    """Assignment, by its id, → student's id → grade; GradebookImporter#parse!."""
    first = text.splitlines()[:3]
    is_semicolon = _fields(first, ";") > _fields(first, ",")
    rows = list(csv.reader(io.StringIO(text), delimiter=";" if is_semicolon else ","))
    header, rows = rows[0], [row for row in rows[1:] if not re.fullmatch(r"[;, ]+", ",".join(row))]
    apart = header[:2] == ["LastName", "FirstName"]
    assert apart or ("Student" in header[0] and "ID" in header[1]), "Invalid header row"
    about = [title for title in header if title in OF_STUDENTS]
    assert header[: len(about)] == about, "Invalid header row"
    assert about[-1] == "Section", "Invalid header row"
    assignments = [title for title in header[len(about) :] if not OF_CANVAS.search(title)]
    grades, points = {}, {}
    for title in assignments:
        number = re.fullmatch(r".*\((\d+)\)", title)
        assert number, f"{title} would become a new assignment"
        place, ids = header.index(title), header.index("ID")
        grades[number[1]] = {}
        for row in rows:
            if "Points Possible" in row[0]:
                points[number[1]] = row[place]
            elif not all(re.fullmatch(r"\s*(Muted|Manual Posting.*)?\s*", cell, re.I) for cell in row):
                grades[number[1]][row[ids]] = _with_a_period(row[place].strip())
    return Imported(grades, points)


def _fields(lines, separator):
    """How many fields each of these lines has; 0 if they differ or one is not complete."""
    try:
        counts = {len(next(csv.reader([line], delimiter=separator, strict=True))) for line in lines}
    except csv.Error:
        return 0
    return min(counts) if len(counts) == 1 else 0


def _with_a_period(cell):
    """The converter decimal_comma_to_period: the last mark of a number is the decimal one."""
    if not re.fullmatch(r"-?[0-9.,]+%?", cell):
        return cell
    *before, last = re.split(r"[,.]", cell)
    return f"{''.join(before)}.{last}" if before else last


def moodle_imports(text):
    """Participant's number → (grade, comment); the class of importgradeslib.php."""
    assert '\\"' not in text, "PHP's fgetcsv reads a quotation mark after a backslash as text"
    header, *rows = csv.reader(io.StringIO(text))
    where = {title: place for place, title in enumerate(header)}
    missing = {"Identifier", "Grade", "Last modified (grade)"} - where.keys()
    assert not missing, f"Moodle refuses a worksheet without {missing}"
    comment = where.get("Feedback comments", 0)
    found = {}
    for row in rows:
        assert len(row) == len(header)
        number = row[where["Identifier"]][len("Participant ") :]
        found[number] = (row[where["Grade"]], row[comment] if comment else None)
    return found


def gradescope_imports(text):
    """(score, maximum, tests that a student sees before the due date), as the page on results says."""
    results = json.loads(text)
    tests = results.get("tests", [])
    assert tests or "score" in results, "results.json needs a score or tests"
    seen = {"hidden", "after_due_date", "after_published", "visible"}
    for test in tests:
        assert {test["visibility"], results["visibility"]} <= seen
        assert test["output_format"] in {"text", "html", "simple_format", "md", "ansi"}
        assert test["status"] in {"passed", "failed"}
        assert 0 <= test["score"] <= test["max_score"]
    score = results.get("score", sum(test["score"] for test in tests))  # a score at the top replaces the sum
    return score, sum(test["max_score"] for test in tests), [t for t in tests if t["visibility"] == "visible"]


def canvas_attaches(data, uploaded):
    """({user: (attachment, content)}, ignored names); Assignment#infer_comment_context_from_filename.

    uploaded: user, by number or anonymous sign → the numbers of the files of their submission.
    """
    found, ignored = {}, []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.infolist():
            name = entry.filename.rpartition("/")[2]
            pieces = [piece for piece in name.split("_") if piece != "LATE"]
            numbers = pieces[1:3] if pieces[0] == "anon" else [p for p in pieces if re.fullmatch(r"\d+", p)]
            user, number = [*numbers, None, None][:2]
            if pieces[-1].startswith("link") or name.startswith("._"):
                number = None
            if number is None or number not in uploaded.get(user, ()):
                ignored.append(entry.filename)
                continue
            assert user not in found, "one file each is expected here"
            found[user] = (number, archive.read(entry))
    return found, ignored
