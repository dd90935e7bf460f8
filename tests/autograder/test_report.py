"""The class report says what the class knows and where it goes wrong, and nothing in it can run."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from grading import MINI, ROOT
from jinja2 import UndefinedError

from autograder.marks.records import (
    CheckRecord,
    ExerciseRecord,
    HomeworkRecord,
    SubmissionRecord,
    write,
)
from autograder.reporting.class_statistics import class_statistics, histogram
from autograder.reporting.page import render
from autograder.reporting.prose import as_written, prose, typeset
from autograder.reporting.report import report, report_page
from autograder.reporting.similarity import Pair
from autograder.source.loading import load, names

CHECKS = ("there_is_one_average_per_window", "averages_are_right", "averages_are_right_for_any_width")
HOSTILE = "</pre><script>alert('gotcha')</script><img src=x onerror=alert(1)>"


def submission(student, results, diagnosis=(), message="It differs.", **fields):
    worth = dict(zip(CHECKS, (1, 1, 2), strict=True))
    checks = tuple(
        CheckRecord(name, name == CHECKS[2], result, message)
        for name, result in zip(CHECKS, results, strict=True)
    )
    points = sum(worth[check.name] for check in checks if check.result == "passed")
    exercise = ExerciseRecord("moving_average", points, 4, tuple(diagnosis), checks)
    return SubmissionRecord(student, points, 4, "graded", exercises=(exercise,), **fields)


RIGHT = ("passed",) * 3
WRONG = ("passed", "failed", "failed")


@pytest.fixture(scope="module")
def homework():
    return load(MINI)


@pytest.fixture
def record():
    return HomeworkRecord(
        "mini_homework",
        (
            submission("ada", RIGHT),
            submission("bob", WRONG, ["divides_by_all"]),
            submission("cleo", WRONG, ["divides_by_all"], flags=("uses `statistics.mean`",)),
            submission("dana", ("failed",) * 3, message="`moving_average` is not written yet."),
            submission("eve", ("failed",) * 3, message=HOSTILE),
            SubmissionRecord("flo", 0, 4, "could_not_run", "The file is empty."),
        ),
        {"level": "bwrap", "reason": "it works"},
        {"torch": "2.13"},
        {"why_smooth": 3},
    )


class Page(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.words, self.cells = set(), {}, [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= dict(attributes)
        if ("class", "cell") in attributes:
            self.cells.append(dict(attributes)["style"])

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).split())


def test_who_could_not_be_run_is_counted_apart(record, homework):
    counted = class_statistics(record, homework)
    assert counted.points == (4, 2 - 1, 1, 0, 0)
    assert [entry.student for entry in counted.could_not_run] == ["flo"]
    assert (counted.median, counted.mean) == (1, 1.2)


def test_what_the_mean_leaves_out_is_said_beside_it(record, homework):
    said = "Median and mean leave out what could not be run."
    assert said in Page(report_page(record, homework)).text
    graded = tuple(entry for entry in record.submissions if entry.status == "graded")
    assert said not in Page(report_page(replace(record, submissions=graded), homework)).text


def test_an_exercise_counts_the_unwritten_and_the_unexplained_apart(record, homework):
    [exercise] = class_statistics(record, homework).exercises
    assert (exercise.full_marks, exercise.unwritten, exercise.unexplained) == (1, 1, 1)
    assert exercise.mean_share == pytest.approx((4 + 1 + 1) / 4 / 5)


def test_the_commonest_mistake_comes_first_with_its_students(record, homework):
    [(exercise, mistake)] = class_statistics(record, homework).commonest(5)
    assert exercise.name == "moving_average"
    assert (mistake.name, mistake.students) == ("divides_by_all", ("bob", "cleo"))


def test_the_histogram_puts_full_marks_into_the_last_column():
    assert histogram([0, 4, 4, 3.9, 2], 4, bins=4) == [1, 0, 1, 3]
    assert histogram([0, 0], 0, bins=2) == [2, 0]


def test_the_page_says_all_that_matters(record, homework):
    words = Page(report_page(record, homework)).text
    for piece in (
        "1 of 4",
        "The sum of each window is divided by the number of all values.",
        "How many numbers did you add up before you divided?",
        "divides by all",
        "Averages are right for windows of any width.",
        "uses `statistics.mean`",
        "The file is empty.",
        "0 of 4, not written yet",
        "isolation “bwrap”",
        "Graded by hand, not in these marks: why_smooth (3).",
    ):
        assert piece in words, piece


def test_a_second_judging_is_told_with_the_parts_that_were_answered(homework):
    ada = submission("ada", WRONG)
    again = replace(ada, exercises=(replace(ada.exercises[0], judged_again=("window", "<b>")),))
    told = "Judged a second time, with a right answer in place of window, &lt;b&gt;."
    assert told in report_page(HomeworkRecord("mini_homework", (again,)), homework)
    assert "a second time" not in report_page(HomeworkRecord("mini_homework", (ada,)), homework)


def test_the_heat_of_a_mistake_grows_with_the_students_who_make_it(record, homework):
    [style] = Page(report_page(record, homework)).cells
    assert style == f"--share:{(2 / 5) ** 0.5:.2f}"


def test_nothing_on_the_page_runs_or_is_fetched(record, homework):
    page = report_page(record, homework)
    parsed = Page(page)
    assert "gotcha" in parsed.text
    assert not {"script", "img", "link", "iframe", "svg", "form"} & parsed.tags
    assert not [name for name in parsed.attributes if name.startswith("on")]
    assert "default-src 'none'" in page
    assert "http://" not in page
    assert "https://" not in page


def test_a_student_of_any_name_has_a_section_that_links_lead_to(homework):
    name = "Zoë '><script> O'Neil"
    page = report_page(HomeworkRecord("mini_homework", (submission(name, WRONG, flags=("look",)),)), homework)
    assert "<script>" not in page
    assert page.count('student-Zoë_20__27__3e__3c_script_3e__20_O_27_Neil"') == 2


def test_a_class_of_nobody_makes_a_page_too(homework):
    assert "0</b>submissions" in report_page(HomeworkRecord("mini_homework"), homework)


def test_an_exercise_that_the_homework_no_longer_has_is_left_out(homework):
    gone = ExerciseRecord("quartiles", 1, 1)
    record = SubmissionRecord("ada", 1, 1, "graded", exercises=(gone,))
    assert "quartiles" not in Page(report_page(HomeworkRecord("mini_homework", (record,)), homework)).text


def test_short_texts_get_code_emphasis_and_formulas_and_are_escaped():
    assert prose("`<s>` opens") == '<code class="literal">&lt;s&gt;</code> opens'
    assert prose("the *next* <b>") == "the <em>next</em> &lt;b&gt;"
    assert "<msub>" in prose("from $o_{t-1}$")
    assert prose("Is `2*3*4` *scored*?") == 'Is <code class="literal">2*3*4</code> <em>scored</em>?'
    for words in ("5$ or 6$", "$ 5", "2 * 3 * 4", "0.1 ** 400", "``", "**", "$$", "$x_{$", r"\$5 or \$6"):
        assert prose(words) == words


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("(B, H, T, d_k) and h_12.", "(B, H, T, $d_{k}$) and $h_{12}$."),
        ("e^z / s, 10^(−H/3)", "$e^{z}$ / s, $10^{-H/3}$"),
        ("W_key, bias_ih and dh_0", "`W_key`, `bias_ih` and `dh_0`"),
        ("t - 1 = -1, i or -i, (0, -inf)", "t − 1 = −1, i or −i, (0, −inf)"),
        ("the word \"the\", torch's `W`'s", "the word “the”, torch’s `W`’s"),
        ('("at least")', "(“at least”)"),
        ("`x[-1] - 'a_b'` and $x_t - -1$", "`x[-1] - 'a_b'` and $x_t - -1$"),
        ("GPT-2, top-k, 1e-9, a–b", "GPT-2, top-k, 1e-9, a–b"),
    ],
)
def test_what_a_keyboard_cannot_write_is_printed_as_in_a_book(typed, printed):
    assert typeset(typed) == printed
    assert prose(typed) == as_written(printed)
    assert typeset(printed) == printed


def test_no_sign_of_a_student_is_exchanged():
    assert as_written("h_0 isn't -1") == "h_0 isn&#39;t -1"


def catalogue(name):
    """All that the catalogue of a homework says in words."""
    homework = load(ROOT / "solutions" / name)
    words = [text for entry in homework.misconceptions for text in (entry.diagnosis, entry.question)]
    words += [exercise.title for exercise in homework.exercises] + [check.claim for check in homework.checks]
    assert words
    return words


@pytest.mark.parametrize("name", names(ROOT))
def test_every_formula_of_the_catalogue_is_set(name):
    assert not [text for text in catalogue(name) if "$" in typeset(text) and "<math" not in prose(text)]


@pytest.mark.parametrize("name", names(ROOT))
def test_nothing_of_the_catalogue_is_shown_as_it_was_typed(name):
    for text in catalogue(name):
        shown = re.sub(r"<(code|math)\b.*?</\1>", "", str(prose(text)))
        assert not re.search(r"\w_\w|\^|&#3[49];|(?<!\S)-(?!\S)|[ (]-\d", shown), text


def test_a_value_is_escaped_unless_a_template_says_otherwise_and_none_may_be_missing(record, homework):
    page = render("similar.html.j2", about="<b>\x1b[31m", pairs=[Pair("a<", "b", (), ())])
    assert "&lt;b&gt;[31m" in page
    assert ">a&lt;</a>" in page
    with pytest.raises(UndefinedError):
        render("similar.html.j2")


def test_the_report_is_written_beside_the_records(record, course_folder):
    write(course_folder / "grades" / "mini_homework.json", record)
    assert report("mini_homework", course_folder) == course_folder / "grades" / "mini_homework.html"


def test_without_records_the_report_says_what_to_do_first(course_folder):
    with pytest.raises(FileNotFoundError, match="grade first with `autograder grade mini_homework"):
        report("mini_homework", course_folder)
