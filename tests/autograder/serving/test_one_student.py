"""One student's data is handed over whole, and forgotten whole; all else stays as it is, to the byte."""

import json
import os
import shutil
import zipfile
from collections import Counter
from datetime import datetime
from pathlib import Path
from unittest.mock import Mock

import pytest
import sqlalchemy as sql
from nbgrader.api import Gradebook
from test_kept_attempts import EAGER
from test_postgresql import server  # noqa: F401  a fixture

from autograder.cli import main
from autograder.marks.at_work import FILE as LOCK
from autograder.marks.at_work import alone, together
from autograder.marks.backup import gradebook_of
from autograder.marks.decisions import Decision, Decisions
from autograder.marks.records import HomeworkRecord, RecordFolder, SubmissionRecord, write
from autograder.marks.settings import course_config
from autograder.serving.attempts import ATTEMPT, Attempts, Told
from autograder.serving.kept import kept
from autograder.serving.line_items import LineItem, LineItems
from autograder.serving.rubrics import Question, Rubrics
from autograder.serving.run import database_url
from autograder.serving.settings import read_settings

GONE, STAYS = "lovelace", "babbage"
HW = "hw1"
WHY = Question("why", "Why?", "Noise averages out.", 3.0)
OF_STUDENTS = {
    *("student", "submitted_assignment", "submitted_notebook", "grade", "comment"),
    *("handed_in", "told", "standing", "known_student", "lti_line"),
    *("written_answer", "rubric_marked", "rubric_chosen"),
}
FOLDERS = ("submitted", "autograded", "feedback")


@pytest.fixture(scope="module")
def marked(tmp_path_factory, lay_out):
    """A course with the data of two students, but without a website."""
    root = lay_out(tmp_path_factory.mktemp("two") / "course")
    course_config(root)  # finds the program with which nbgrader makes a database
    with Gradebook(f"sqlite:///{root}/gradebook.db") as book:
        book.add_assignment(HW)
        book.add_notebook(HW, HW)
        book.add_grade_cell("why", HW, HW, max_score=4, cell_type="markdown")
        book.add_solution_cell("why", HW, HW)
        for student in (GONE, STAYS):
            enter(book, student)
    for student in (GONE, STAYS):
        lay_down(root, student)
    records = [RecordFolder(root / "grades", HW).find(student) for student in (GONE, STAYS)]
    write(root / "grades" / f"{HW}.json", HomeworkRecord(HW, tuple(records)))
    (root / "grades" / f"{HW}.html").write_text(f"<li>{GONE}<li>{STAYS}")
    Decisions(root).add(
        *(Decision(HW, one, "excused", True, why=f"{one} is ill") for one in (STAYS, GONE, STAYS))
    )
    return root


def enter(book, student):
    book.add_student(student, last_name=student.title())
    book.add_submission(HW, student)
    book.find_grade("why", HW, HW, student).manual_score = 3
    book.find_comment("why", HW, HW, student).manual_comment = f"Well done, {student}."
    book.db.commit()


def lay_down(root, student):
    for folder in (*FOLDERS, "submitted/.kept"):
        path = root / folder / student / HW / f"{HW}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(f"by {student}, in {folder}")
    RecordFolder(root / "grades", HW).add(SubmissionRecord(student, 1.0, 2.0, "graded"))


@pytest.fixture(params=["sqlite", "postgresql"])
def course(request, marked, tmp_path):
    """A copy with a website, whose database is of either kind."""
    root = Path(shutil.copytree(marked, tmp_path / "course"))
    if request.param == "postgresql":
        url = request.getfixturevalue("server").new_database()
        (root / "serve.toml").write_text(f'database = "{url}"\n')
    attempts = attempts_of(root)
    rubrics = Rubrics(attempts.engine)
    rubrics.ask(HW, [WHY])
    rubrics.add(HW, "why", 2.0, "An item of the rubric")
    for student in (GONE, STAYS):
        for content in (f"first of {student}", f"second of {student}"):
            number = attempts.hand_in(student, HW, content.encode(), EAGER).number
            attempts.tell(HW, student, Told(f"page of {student}", "whole", f"{number} of 5"), number)
        attempts.know([student])
        rubrics.answered(HW, student, {"why": f"because of {student}"})
        rubrics.mark(HW, "why", student, [1], f"dear {student}", "ta")
        line = LineItem("https://lms.example", "client", f"sub-{student}", "https://lms.example/line")
        LineItems(attempts.engine).keep(HW, student, line)
    attempts.engine.dispose()
    return root


def attempts_of(root):
    return Attempts(database_url(root, read_settings(root)))


def databases(root):
    return [gradebook_of(root, None), *kept(root)]


def rows(root):
    """Every row of every table of the course, as text, with the table's name."""
    found = []
    for one in databases(root):
        with one.open() as connection:
            for table in one.tables:
                found += [f"{table.name} {tuple(row)}" for row in connection.execute(sql.select(table))]
    return found


def files(root):
    """The bytes of every file but the lock; the databases' own are compared by their rows."""
    paths = [
        path for path in root.rglob("*") if path.is_file() and ".db" not in path.name and path.name != LOCK
    ]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def autograder(course, *words):
    return main([*words, "--root", str(course)])


def test_the_zip_has_everything_of_one_student_and_nothing_of_another(course, tmp_path):
    to = tmp_path / "data.zip"
    assert autograder(course, "student", GONE, "--to", str(to)) == 0
    assert to.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(to) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    assert not [name for name, text in content.items() if STAYS.encode() in text + name.encode()]
    for folder in FOLDERS:
        assert content[f"{folder}/{GONE}/{HW}/{HW}.ipynb"] == f"by {GONE}, in {folder}".encode()
    assert f"submitted/.kept/{GONE}/{HW}/{HW}.ipynb" in content
    assert json.loads(content[f"grades/{HW}/{GONE}.json"])["student"] == GONE
    book, website = json.loads(content["gradebook.json"]), json.loads(content["serve.json"])
    [grade] = book["grade"]
    assert (grade["manual_score"], grade["cell_id"]["name"]) == (3.0, "why")
    assert grade["cell_id"]["notebook_id"]["assignment_id"]["name"] == HW
    assert book["comment"][0]["manual_comment"] == f"Well done, {GONE}."
    assert [content[row["content"]] for row in website["handed_in"]] == [
        f"{which} of {GONE}".encode() for which in ("first", "second")
    ]
    assert website["rubric_chosen"][0]["item"]["comment"] == "An item of the rubric"
    assert website["told"][0]["visible"] == f"page of {GONE}"
    assert [line["why"] for line in json.loads(content["log.json"])] == [f"{GONE} is ill"]
    named = content["README.txt"].decode()
    assert all(name.split("/")[0] in named for name in content if name != "README.txt")


def test_a_forgotten_student_is_nowhere_and_the_other_is_as_before(course, capsys):
    before, rows_before = files(course), rows(course)
    assert autograder(course, "forget", GONE, "--yes") == 0
    assert "still mentioned" not in capsys.readouterr().out
    for path in course.rglob("*"):
        assert GONE not in path.name
        assert not path.is_file() or GONE.encode() not in path.read_bytes().lower(), path
    left = rows(course)
    assert set(left) <= set(rows_before)
    gone = Counter(row.split()[0] for row in set(rows_before) - set(left))
    assert set(gone) == OF_STUDENTS
    assert gone == Counter(row.split()[0] for row in left if row.split()[0] in OF_STUDENTS)

    after, log, summary = files(course), f"grades/{Decisions(course).path.name}", f"grades/{HW}.json"
    changed = {name for name in before if before[name] != after.get(name)}
    assert {name for name in changed if GONE not in name} == {log, summary, f"grades/{HW}.html"}
    lines, lines_before = after[log].splitlines(), before[log].splitlines()
    assert [lines[0], lines[2]] == [lines_before[0], lines_before[2]]
    theirs = [line for line in before[summary].splitlines() if STAYS.encode() in line]
    assert [line for line in after[summary].splitlines() if STAYS.encode() in line] == theirs


def test_the_log_says_that_someone_was_forgotten_but_not_who(course):
    autograder(course, "forget", GONE, "--yes")
    log = Decisions(course)
    *_, last = log.all()
    assert (last.student, last.what, last.value) == ("forgotten 1", "forgotten", True)
    assert last.time
    assert log.path.stat().st_mode & 0o777 == 0o600
    assert [entry.why for entry in log.all(student="forgotten 1")] == ["", ""]
    assert log.excused(HW) == {STAYS}  # and no export has a student called "forgotten 1"
    autograder(course, "forget", STAYS, "--yes")
    assert [entry.student for entry in log.all()][-1] == "forgotten 2"


def test_a_second_time_there_is_nothing(course, capsys):
    assert autograder(course, "forget", GONE, "--yes") == 0
    before = files(course), rows(course)
    capsys.readouterr()
    for words in (["forget", GONE, "--yes"], ["student", GONE, "--to", str(course / "a.zip")]):
        assert autograder(course, *words) == 1
        assert capsys.readouterr().err == f"Nothing is kept of a student {GONE}.\n"
    assert (files(course), rows(course)) == before


def end_the_term_of(course, student):
    """Everything that this student handed in was handed in in 2020."""
    [attempts] = [one for one in databases(course) if one.name == "serve.db"]
    with attempts.open() as connection:
        theirs = ATTEMPT.c.student == student
        connection.execute(ATTEMPT.update().where(theirs).values(time=datetime(2020, 7, 1)))
    for path in course.glob(f"submitted/**/{student}/**/*"):
        os.utime(path, (1_593_600_000, 1_593_600_000))


def test_a_finished_term_is_forgotten_and_the_present_one_stays_as_it_is(course, capsys):
    end_the_term_of(course, GONE)
    Decisions(course).add(Decision(HW, "somerville", "excused", True))  # who handed in nothing
    assert autograder(course, "forget", "--all-before", "2020-08-01", "--yes") == 0
    out = capsys.readouterr().out
    assert f"{GONE}  last handed in on 2020-07-01" in out
    assert "somerville  handed in nothing" in out
    assert f"stays of: {STAYS}\n" in out
    assert "still mentioned" not in out
    for path in course.rglob("*"):
        assert GONE not in path.name
        assert not path.is_file() or GONE.encode() not in path.read_bytes().lower(), path
    assert [entry.student for entry in Decisions(course).all() if entry.what == "forgotten"] == [
        "forgotten 1",
        "forgotten 2",
    ]
    kept = [row for row in rows(course) if STAYS in row]
    assert kept
    assert (course / "submitted" / STAYS / HW / f"{HW}.ipynb").is_file()
    before = files(course), rows(course)
    assert autograder(course, "forget", "--all-before", "2020-08-01", "--yes") == 1
    assert (files(course), rows(course)) == before


@pytest.mark.parametrize("course", ["sqlite"], indirect=True)
def test_everybody_is_forgotten_at_once(course):
    assert autograder(course, "forget", "--all-before", "2999-01-01", "--yes") == 0
    for path in course.rglob("*"):
        text = path.read_bytes().lower() if path.is_file() else b""
        assert not [name for name in (GONE, STAYS) if name.encode() in text or name in path.name], path
    summary = json.loads((course / "grades" / f"{HW}.json").read_text())
    assert summary["submissions"] == []


@pytest.mark.parametrize("course", ["sqlite"], indirect=True)
@pytest.mark.parametrize("where", ["attempts", "files", "gradebook"])
def test_one_late_sign_of_a_submission_keeps_a_student(course, where):
    end_the_term_of(course, GONE)
    if where == "attempts":
        attempts_of(course).hand_in(GONE, HW, b"new", EAGER)
    elif where == "files":
        (course / "submitted" / GONE / HW / "new.txt").write_text("new")
    else:
        with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
            book.find_submission(HW, GONE).timestamp = datetime(2020, 8, 1)
            book.db.commit()
    before = files(course), rows(course)
    assert autograder(course, "forget", "--all-before", "2020-08-01", "--yes") == 1
    assert (files(course), rows(course)) == before


@pytest.mark.parametrize("course", ["sqlite"], indirect=True)
def test_a_term_is_listed_first_and_one_student_and_a_day_exclude_each_other(course, capsys):
    before = files(course), rows(course)
    assert autograder(course, "forget", "--all-before", "2999-01-01", "--dry-run") == 0
    assert "Nothing was deleted" in capsys.readouterr().out
    for words in ([], [GONE, "--all-before", "2999-01-01"]):
        assert autograder(course, "forget", *words, "--yes") == 2
    assert (files(course), rows(course)) == before


@pytest.mark.parametrize("course", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", ["", ".", "..", "../submitted", f"{GONE}/{HW}", ".kept", "*", "%"])
def test_what_is_no_students_name_deletes_nothing(course, name):
    before = files(course), rows(course)
    assert autograder(course, "forget", name, "--yes") == 1
    assert (files(course), rows(course)) == before


@pytest.mark.parametrize("course", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("words", "answer"), [(["--dry-run"], "y"), ([], "n"), ([], EOFError())])
def test_without_a_yes_it_only_lists(course, words, answer, capsys, monkeypatch):
    before = files(course), rows(course)
    monkeypatch.setattr("builtins.input", Mock(side_effect=[answer]))
    assert autograder(course, "forget", GONE, *words) == (0 if words else 1)
    assert (files(course), rows(course)) == before
    out = capsys.readouterr().out
    for said in (
        f"submitted/{GONE}",
        f"submitted/.kept/{GONE}",
        f"grades/{HW}/{GONE}.json",
        f"grades/{HW}.json: the student's part",
        f"`autograder report {HW}`",
        "gradebook.db, grade: 1 row",
        "serve.db, handed_in: 2 rows",
        "reasons in 1 line",
        "Nothing was deleted",
    ):
        assert said in out


@pytest.mark.parametrize("course", ["sqlite"], indirect=True)
def test_a_yes_at_the_terminal_deletes(course, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda _: "y")
    assert autograder(course, "forget", GONE) == 0
    assert not (course / "submitted" / GONE).exists()


@pytest.mark.parametrize("course", ["sqlite"], indirect=True)
def test_nobody_is_forgotten_while_a_grader_is_at_work_nor_graded_meanwhile(course, capsys):
    before = files(course)
    with together(course), together(course):
        assert autograder(course, "forget", GONE, "--yes") == 2
        assert "is at work in this folder; end it first" in capsys.readouterr().err
        assert autograder(course, "forget", GONE, "--dry-run") == 0
    assert files(course) == before
    commands = (
        ["grade", HW, "--submissions", f"{course}/submitted"],
        ["watch", f"{course}/submitted"],
        ["serve"],
        ["collect", f"{course}/submitted", "--homework", HW],
    )
    with alone(course):
        for words in commands:
            assert autograder(course, *words) == 2
            assert "`autograder forget` is at work" in capsys.readouterr().err


@pytest.mark.parametrize("course", ["sqlite"], indirect=True)
def test_what_others_wrote_about_the_student_is_listed_and_kept(course, capsys):
    theirs = course / "submitted" / STAYS / HW / "friends.txt"
    theirs.write_text(f"with {GONE}'s help")
    Decisions(course).add(Decision(HW, STAYS, "excused", False, why=f"as {GONE}"))
    (course / "submitted" / STAYS / HW / "others.txt").write_text(f"with {GONE}-smith")
    assert autograder(course, "forget", GONE, "--yes") == 0
    *_, said, log, friends = capsys.readouterr().out.splitlines()
    assert said.startswith("The name is still mentioned")
    assert (log, friends) == (f"grades/{Decisions(course).path.name}", f"submitted/{STAYS}/{HW}/friends.txt")
    assert theirs.read_text() == f"with {GONE}'s help"


@pytest.mark.parametrize("course", ["sqlite"], indirect=True)
def test_flat_files_are_found_and_a_link_is_not_followed(course, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("not for students")
    (course / "submitted" / GONE / "linked").symlink_to(secret)
    (course / "submitted" / GONE / "key").symlink_to(secret / "key")
    (course / "feedback" / f"{GONE}.html").write_text("flat")
    assert autograder(course, "student", GONE, "--to", str(tmp_path / "a.zip")) == 0
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert f"feedback/{GONE}.html" in archive.namelist()
        assert not [name for name in archive.namelist() if "key" in name]
    assert autograder(course, "forget", GONE, "--yes") == 0
    assert not (course / "feedback" / f"{GONE}.html").exists()
    assert (secret / "key").read_text() == "not for students"


@pytest.mark.parametrize("course", ["sqlite"], indirect=True)
def test_a_file_is_not_written_over(course, tmp_path, capsys):
    (tmp_path / "a.zip").write_text("mine")
    assert autograder(course, "student", GONE, "--to", str(tmp_path / "a.zip")) == 2
    assert "exists already" in capsys.readouterr().err
    assert (tmp_path / "a.zip").read_text() == "mine"
