"""What is exported is what the platform reads: the same marks, EX and comments, and nobody else's."""

import html
import json
import re
from dataclasses import replace

import pytest
from importers import canvas_imports, gradescope_imports, moodle_imports
from test_exports import CANVAS_SHEET, MARKS, MINI, MOODLE_SHEET, RECORD, TWO_COLUMNS

from autograder.marks.exports import canvas, gradescope_results, moodle
from autograder.marks.exports.html import as_html
from autograder.marks.exports.marks import number
from autograder.source.loading import load

IDS = {"ada": "501", "alan": "502", "grace": "503"}  # in Canvas and in Moodle
EXCUSED = [replace(MARKS[0], excused=True), *MARKS[1:]]


@pytest.mark.parametrize("marks", [MARKS, EXCUSED], ids=["marks", "one excused"])
@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("most", ["4.00", "8.00", "100"])
def test_canvas_reads_every_mark_scaled_and_ex_for_who_is_excused(marks, separator, most):
    sheet = re.sub(r'"\w+, (\w+)"', r"\1", CANVAS_SHEET.replace("4.00", most)).replace(",", separator)
    read = canvas_imports(canvas("hw1", marks, sheet).text)
    expected = {
        IDS[one.student]: "EX" if one.excused else number(one.score * float(most) / one.max_points)
        for one in marks
        if one.has_mark
    }
    assert read.grades == {"9917": {"503": "", **expected}}  # grace keeps what Canvas has
    assert read.points_possible == {"9917": most}


def test_canvas_reads_one_assignment_and_leaves_all_others_alone():
    read = canvas_imports(canvas("hw1", MARKS, TWO_COLUMNS, "9917").text)
    assert read.grades == {"9917": {"501": "7.5", "502": "5", "504": "N/A"}}


@pytest.mark.parametrize("name", ["=cmd()", "a;b", 'Ada "the first"', "O'Hara", "two\nlines", "-1"])
def test_no_name_moves_a_mark_to_another_student(name):
    quoted = '"{}"'.format(name.replace('"', '""'))
    sheet = CANVAS_SHEET.replace('"Lovelace, Ada"', quoted)
    assert canvas_imports(canvas("hw1", MARKS, sheet).text).grades["9917"]["501"] == "3.75"
    sheet = MOODLE_SHEET.replace("Ada Lovelace", quoted)
    assert moodle_imports(moodle(MARKS, sheet).text)["501"][0] == "93.75"


COMMENT = 'After `<s>`, the table gives *where* **1/2**,\nas "the" does; 1 < 2 & \\\n\nAnd `a\\"b`: =x'


def text_of(page):
    """What a reader of this HTML sees, one line for each break or paragraph."""
    page = re.sub(r"<br>|</p>", "\n", page)
    assert set(re.findall(r"</?(\w+)>", page)) <= {"p", "code", "em", "strong"}
    return html.unescape(re.sub(r"</?\w+>", "", page)).strip()


def test_moodle_reads_every_mark_scaled_and_comments_as_they_were_meant():
    read = moodle_imports(moodle(MARKS, MOODLE_SHEET, {"ada": COMMENT}).text)
    assert {number: grade for number, (grade, _) in read.items()} == {
        "501": "93.75",
        "502": "62.5",
        "503": "",
    }
    assert text_of(read["501"][1]) == re.sub(r"[`*]", "", COMMENT).replace("\n\n", "\n")
    assert read["502"][1] == "old words"


def test_an_excused_student_and_one_without_a_mark_are_as_they_were_in_moodle():
    read = moodle_imports(moodle(EXCUSED, MOODLE_SHEET, {"ada": COMMENT}).text)
    assert (read["501"], read["503"]) == (("", ""), ("", ""))


def test_as_html_can_be_read_again_whatever_the_signs():
    for said in ("<script>alert(1)</script>", "a & b", "&lt;", '"quoted"', "\\"):
        assert text_of(as_html(said)) == said


@pytest.mark.parametrize("passed", [(), (0,), (0, 1), (0, 1, 2)])
def test_gradescope_adds_up_to_the_points_of_the_record_and_shows_what_may_be_seen(passed):
    [exercise] = RECORD.exercises
    points = {check.name: check.points for check in load(MINI).checks}
    checks = tuple(
        replace(check, result="passed" if place in passed else "failed")
        for place, check in enumerate(exercise.checks)
    )
    record = replace(RECORD, exercises=(replace(exercise, checks=checks),))
    score, most, seen = gradescope_imports(json.dumps(gradescope_results(record, load(MINI))))
    assert score == sum(points[check.name] for check in checks if check.result == "passed")
    assert most == RECORD.max_points
    assert len(seen) == sum(not check.hidden for check in checks)


def test_gradescope_reads_no_points_for_what_could_not_be_run():
    record = replace(RECORD, status="could_not_run", problem="It is no notebook.")
    assert gradescope_imports(json.dumps(gradescope_results(record, load(MINI)))) == (0.0, 0, [])
