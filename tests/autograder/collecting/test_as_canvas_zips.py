"""Downloads named by the rules of Canvas's own zipper are collected under the numbers of Canvas.

The rules: add_submission, get_filename, sanitize_user_name and sanitize_attachment_filename in
lib/content_zipper.rb of github.com/instructure/canvas-lms.
"""

import re

import pytest
from downloads import HOMEWORK, notebook, zipped

from autograder.collecting import gather
from autograder.submissions.collect import collect

NAMES = ["O'Hara, Zoë", "van der Berg, Jan", "李, 娜", "Smith-Jones, Al", "King 3rd, Bo"]
NAMES += ["x_12_y, Cy", "1984, Ann"]
FILES = [f"{HOMEWORK}.ipynb", "my work: 2nd try?.ipynb", "7_8_9.ipynb", "LATE_1_2_x.ipynb"]


def called(name, user, late, *, anonymous=""):
    """What begins the names of all that one student handed in; name: as Canvas sorts it, last name first."""
    who = [] if anonymous else [re.sub(r"_(\d+)_", r"\1", name).lower()]
    parts = [*who, *(["LATE"] if late else []), f"anon_{anonymous}" if anonymous else str(user)]
    return re.sub(r"\W", "", "_".join(parts))


def attachment(begins, number, file):
    """The name of one uploaded file."""
    return f"{begins}_{number}_" + re.sub(r'[\x00/\\:*?"<>|]+', "_", file)


def collected(files, tmp_path):
    """The rows by student, and the notebooks that the grader finds."""
    done = gather(zipped(tmp_path / "canvas.zip", files), HOMEWORK, tmp_path / "submitted")
    assert (done.form, done.lost) == ("Canvas", ())
    found = collect(tmp_path / "submitted", HOMEWORK)
    return {row.student: row for row in done.rows}, {
        one.student: one.path.read_bytes() for one in found if one.path
    }


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("file", FILES)
def test_every_student_is_found_by_number_whatever_the_name_and_the_file(file, late, tmp_path):
    users = {str(4000 + place): name for place, name in enumerate(NAMES)}
    files = {
        attachment(called(name, user, late), 900 + place, file): notebook(user)
        for place, (user, name) in enumerate(users.items())
    }
    rows, found = collected(files, tmp_path)
    assert found == {user: notebook(user) for user in users}
    assert {bool(row.late) for row in rows.values()} == {late}


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("entry", ["text", "link"])
def test_what_was_typed_is_its_writers(entry, late, tmp_path):
    files = {f"{called('Doe, Jane', 40112, late)}_{entry}.html": b"<p>words</p>"}
    rows, found = collected(files, tmp_path)
    assert (set(rows), found, bool(rows["40112"].late)) == ({"40112"}, {}, late)


@pytest.mark.parametrize("late", [False, True])
def test_the_anonymous_go_by_their_sign(late, tmp_path):
    files = {
        attachment(called("", 0, late, anonymous=sign), 900 + place, f"{HOMEWORK}.ipynb"): notebook(sign)
        for place, sign in enumerate(("aB3xY", "12345", "LATEx"))
    }
    rows, found = collected(files, tmp_path)
    assert found == {sign: notebook(sign) for sign in ("aB3xY", "12345", "LATEx")}
    assert {bool(row.late) for row in rows.values()} == {late}


def test_several_files_of_one_attempt_stay_together(tmp_path):
    begins = called("Doe, Jane", 40112, late=False)
    files = {
        attachment(begins, 1, f"{HOMEWORK}.ipynb"): notebook("jane"),
        attachment(begins, 2, "data.csv"): b"1,2",
    }
    _, found = collected(files, tmp_path)
    assert found == {"40112": notebook("jane")}
    assert (tmp_path / "submitted" / "40112" / HOMEWORK / "data.csv").read_bytes() == b"1,2"
