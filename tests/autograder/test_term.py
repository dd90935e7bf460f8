"""A term's marks follow from the homeworks' marks, their weights, and who is excused."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.marks.decisions import Decision, Decisions
from autograder.marks.persisting import one_spelling, persisting
from autograder.marks.records import ExerciseRecord, RecordFolder, SubmissionRecord
from autograder.marks.settings import course_config
from autograder.marks.term import TermError, as_csv, read_weights, term

MARKS = {"ada": {"hw1": 8, "hw2": 2, "hw3": 4}, "bo": {"hw1": 4}, "cy": {"hw1": 8, "hw2": 10, "hw3": 4}}
MOST = {"hw1": 8, "hw2": 10, "hw3": 4}


@pytest.fixture(scope="module")
def marked(tmp_path_factory, lay_out):
    """Three homeworks, of which bo has handed in one."""
    course_folder = lay_out(tmp_path_factory.mktemp("term"))
    course_config(course_folder)  # finds the program with which nbgrader makes a database
    with Gradebook(f"sqlite:///{course_folder / 'gradebook.db'}") as book:
        for homework, most in MOST.items():
            book.add_assignment(homework)
            book.add_notebook(homework, homework)
            book.add_grade_cell("all", homework, homework, max_score=most, cell_type="code")
        for student, marks in MARKS.items():
            book.add_student(student)
            for homework, points in marks.items():
                book.add_submission(homework, student)
                grade = book.find_grade("all", homework, homework, student)
                grade.auto_score, grade.needs_manual_grade = points, False
        book.db.commit()
    return course_folder


@pytest.fixture
def course(marked, tmp_path):
    """A copy, in which a test may decide what it likes."""
    return Path(shutil.copytree(marked, tmp_path / "course"))


def totals(term):
    return {student.name: student.total for student in term.students}


def test_homeworks_count_alike_and_what_is_missing_counts_as_nothing(course):
    assert totals(term(course)) == pytest.approx({"ada": (100 + 20 + 100) / 3, "bo": 50 / 3, "cy": 100})


def test_weights_and_the_lowest_left_out(course):
    weighted = totals(term(course, weights={"hw2": 2}))
    assert weighted["ada"] == pytest.approx((100 + 2 * 20 + 100) / 4)
    assert totals(term(course, drop=1))["ada"] == 100
    assert totals(term(course, drop=1))["bo"] == 25


def test_however_many_are_dropped_one_mark_remains(course):
    assert totals(term(course, drop=9)) == {"ada": 100, "bo": 50, "cy": 100}
    Decisions(course).add(Decision("hw2", "bo", "excused", True), Decision("hw3", "bo", "excused", True))
    assert totals(term(course, drop=1))["bo"] == 50


def test_what_is_excused_does_not_count(course):
    Decisions(course).add(Decision("hw2", "ada", "excused", True), Decision("hw3", "bo", "excused", True))
    found = totals(term(course))
    assert (found["ada"], found["bo"]) == (100, 25)


def test_what_is_not_due_yet_is_neither_missing_nor_counted(course):
    now = datetime.now(UTC).replace(tzinfo=None)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        book.update_or_create_assignment("hw2", duedate=now + timedelta(days=9))
        book.update_or_create_assignment("hw3", duedate=now - timedelta(days=1))
    assert as_csv(term(course).students).splitlines()[2] == "bo,50,,0,25,hw3"
    assert totals(term(course))["ada"] == pytest.approx((100 + 20 + 100) / 3)  # handed in before it is due
    Decisions(course).add(Decision("hw3", "bo", "extension in hours", 48.0))
    assert as_csv(term(course).students).splitlines()[2] == "bo,50,,,50,"


def test_the_table_says_what_is_missing_and_what_was_left_out(course):
    Decisions(course).add(Decision("hw3", "bo", "excused", True))
    lines = as_csv(term(course, drop=1).students).splitlines()
    assert lines[0] == "student,hw1,hw2,hw3,percent,missing"
    assert lines[1] == "ada,100,(20),100,100,"
    assert lines[2] == "bo,50,(0),EX,50,hw2"


def test_statistics_have_a_line_for_each_homework(course, capsys):
    Decisions(course).add(Decision("hw3", "bo", "excused", True))
    assert main(["term", "--statistics", "--root", str(course)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "homework,handed in,missing,excused,lowest,quartile,median,upper quartile,highest",
        "hw1,3,0,0,50,75,100,100,100",
        "hw2,2,1,0,20,40,60,80,100",
        "hw3,2,0,1,100,100,100,100,100",
    ]


def test_some_homeworks_can_be_named(course, capsys):
    assert main(["term", "hw1", "--weight", "hw1=3", "--root", str(course)]) == 0
    assert capsys.readouterr().out.splitlines()[2] == "bo,50,50,"


@pytest.mark.parametrize("words", [{"weights": {"hw9": 1}}, {"drop": -1}, {"weights": {"hw1": -1}}])
def test_what_makes_no_sense_is_refused(words, course):
    with pytest.raises(TermError):
        term(course, **words)


def test_a_weight_that_is_none_is_said():
    with pytest.raises(TermError, match="write it like"):
        read_weights(["hw1"])


def test_a_homework_that_nobody_has_handed_in_is_left_out_and_named(course, capsys):
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        book.add_assignment("hw4")
    Decisions(course).add(Decision("hw4", "ada", "excused", True))
    before = totals(term(course, ["hw1", "hw2", "hw3"]))
    assert totals(term(course)) == before
    assert term(course).left_out == ["hw4"]
    assert main(["term", "--root", str(course)]) == 0
    printed = capsys.readouterr()
    assert printed.err == "Note: left out, because nobody has handed it in: hw4.\n"
    assert printed.out.splitlines()[0] == "student,hw1,hw2,hw3,percent,missing"
    assert totals(term(course, ["hw1", "hw4"])) == pytest.approx({"ada": 100, "bo": 25, "cy": 50})


MISTAKES = {
    "hw1": {"ada": ["logits_for_probabilities"], "bo": ["off_by_one"], "cy": ["summed"]},
    "hw2": {"ada": ["LogitsForProbabilities", "summed"], "cy": ["summed", "LogitsForProbabilities"]},
    "hw3": {"ada": ["logits_for_probabilities"], "cy": ["LogitsForProbabilities"]},
}


@pytest.fixture
def with_records(course):
    """The course, with what each student did wrong."""
    for homework, students in MISTAKES.items():
        for student, names in students.items():
            exercises = tuple(ExerciseRecord(f"e{n}", 0, 1, (name,)) for n, name in enumerate(names))
            record = SubmissionRecord(student, 0, len(names), "graded", exercises=exercises)
            RecordFolder(course / "grades", homework).add(record)
    return course


def test_a_mistake_persists_if_a_student_made_it_in_two_homeworks(with_records):
    found = persisting(with_records, ["hw1", "hw2", "hw3"])
    assert [(one.mistake, one.homeworks) for one in found] == [
        ("logits_for_probabilities", {"ada": ["hw1", "hw2", "hw3"], "cy": ["hw2", "hw3"]}),
        ("summed", {"cy": ["hw1", "hw2"]}),
    ]


def test_a_mistake_of_two_students_in_one_homework_each_does_not_persist(with_records):
    assert "off_by_one" not in {one.mistake for one in persisting(with_records, ["hw1", "hw2", "hw3"])}
    assert persisting(with_records, ["hw2"]) == []


@pytest.mark.parametrize(
    ("name", "spelt"),
    [
        ("ScoresNotScaled", "scores_not_scaled"),
        ("scores_not_scaled", "scores_not_scaled"),
        ("GPT2Tied", "gpt2_tied"),
    ],
)
def test_a_class_and_a_function_of_one_name_are_one_mistake(name, spelt):
    assert one_spelling(name) == spelt


def test_one_mistake_under_two_names_persists(course):
    for homework, name in (("hw1", "masked_after_the_softmax"), ("hw3", "MaskAfterTheSoftmax")):
        exercise = ExerciseRecord("e", 0, 1, (name,))
        RecordFolder(course / "grades", homework).add(
            SubmissionRecord("ada", 0, 1, "graded", exercises=(exercise,))
        )
    [found] = persisting(course, ["hw1", "hw2", "hw3"])
    assert (found.mistake, found.homeworks) == ("mask_after_the_softmax", {"ada": ["hw1", "hw3"]})


def test_the_word_lists_who_made_which_mistake_again(with_records, capsys):
    assert main(["term", "--mistakes", "--root", str(with_records)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "mistake,student,homeworks",
        "logits_for_probabilities,ada,hw1 hw2 hw3",
        "logits_for_probabilities,cy,hw2 hw3",
        "summed,cy,hw1 hw2",
    ]


def test_a_term_without_a_mistake_made_twice_says_so(with_records, capsys):
    assert main(["term", "hw1", "--mistakes", "--root", str(with_records)]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == ["mistake,student,homeworks"]
    assert "nobody made the same mistake in two of: hw1." in said.err
