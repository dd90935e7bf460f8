"""A homework is read from its folder as it was meant, and inconsistencies are reported."""

import traceback

import pytest

from autograder.source.as_answer import as_answer
from autograder.source.homework import clear_solution, references, stubs
from autograder.source.loading import find, load, names
from autograder.source.notebook import SourceError


@pytest.fixture
def homework(mini):
    return load(mini)


def test_an_exercise_is_its_statement_solution_and_checks(homework):
    [exercise] = homework.exercises
    assert (exercise.name, exercise.title) == ("moving_average", "Moving average")
    assert (exercise.difficulty, exercise.minutes, exercise.points) == (1, 5, 4)
    assert exercise.forbids == ("statistics.mean",)
    assert [check.hidden for check in exercise.checks] == [False, False, True]


def test_a_claim_is_the_docstring_of_its_function(homework):
    assert homework.checks[2].claim == "Averages are right for windows of any width."


def test_hints_are_read_from_the_statement_in_order(homework):
    assert [hint.split()[0] for hint in homework.exercises[0].hints] == ["How", "Window"]


def test_the_rubric_of_a_written_question_is_no_part_of_the_question(homework):
    [question] = homework.written
    assert (question.name, question.points, question.minutes) == ("why_smooth", 3, 5)
    assert "what does it cost" in question.question
    assert "cormorant" not in question.question


def test_the_stub_keeps_the_signature_and_is_not_written_yet(homework):
    stub = stubs(homework)["moving_average"]
    assert list(stub.__annotations__) == ["values", "width", "return"]
    with pytest.raises(NotImplementedError):
        stub([1.0], 1)


def test_the_reference_is_the_solution_region(homework):
    assert references(homework)["moving_average"]([1.0, 3.0, 5.0], 2) == [2.0, 4.0]


def test_each_namespace_is_a_fresh_one(homework):
    homework.namespace()["assert_close"] = None
    assert homework.namespace()["assert_close"] is not None


def test_an_error_in_a_cell_names_the_line_of_the_source(mini, edit):
    path = mini / "mini_homework.py"
    edit(path, "import assert_close, assert_equal\n", "import assert_close, assert_equal\n1 / 0\n")
    with pytest.raises(ZeroDivisionError) as caught:
        load(mini).namespace()
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert path.read_text().splitlines()[frame.lineno - 1] == "1 / 0"


def test_a_solution_region_becomes_the_stub_at_its_own_indentation():
    source = (
        "def f(x):\n    if x:\n        ### BEGIN SOLUTION\n        return 1\n        ### END SOLUTION\n    y"
    )
    assert clear_solution(source, "stop") == "def f(x):\n    if x:\n        stop\n    y"


@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        (
            "mini_homework.py",
            'written="why_smooth"',
            'written="moving_average"',
            "moving_average is used 2 times",
        ),
        ("mini_homework.py", "    ### BEGIN SOLUTION\n", "", "no solution cell with a ### BEGIN SOLUTION"),
        (
            "mini_homework.py",
            "def moving_average(values:",
            "def average(values:",
            "defines no function or class",
        ),
        (
            "mini_homework.py",
            'solution="moving_average"',
            'solution="average"',
            "average in mini_homework.py, line .* is below",
        ),
        (
            "mini_homework.py",
            '    """Seven values hold five windows of width three."""\n',
            "",
            "with a docstring",
        ),
        (
            "mini_homework.py",
            "def averages_are_right(",
            "def right(",
            "the cell of averages_are_right defines no",
        ),
        ("misconceptions.py", 'of="moving_average"', 'of="median"', "to median, which is not an exercise"),
        (
            "misconceptions.py",
            'of="moving_average")',
            'of="moving_average", equals={"nobody"})',
            "nobody, which is not a misconception of",
        ),
        ("fails.tsv", "divides_by_all\t", "divides_by_all ", r"fails\.tsv is not a table of 3 columns"),
        ("alternatives.py", 'of="moving_average"', 'of="median"', "by_running_totals belongs to median"),
    ],
)
def test_what_does_not_fit_together_is_named(mini, edit, file, old, new, complaint):
    edit(mini / file, old, new)
    with pytest.raises(SourceError, match=complaint):
        load(mini)


def test_a_check_before_the_first_exercise_is_refused(mini, edit):
    edit(
        mini / "mini_homework.py",
        '# %% [markdown] exercise="moving',
        '# %% check="early"\npass\n\n# %% [markdown] exercise="moving',
    )
    with pytest.raises(SourceError, match=r"early in mini_homework\.py, line 14 comes before"):
        load(mini)


def test_an_unknown_homework_is_answered_with_those_there_are(course_folder):
    (course_folder / "solutions" / "empty").mkdir()
    assert names(course_folder) == ["mini_homework"]
    with pytest.raises(SourceError, match=r"no homework called hw9. There are: mini_homework\."):
        find("hw9", course_folder)


def test_a_catalogue_may_be_a_folder_with_one_file_per_theme(mini):
    before = load(mini)
    (mini / "misconceptions").mkdir()
    (mini / "misconceptions.py").rename(mini / "misconceptions" / "averages.py")
    assert [entry.name for entry in load(mini).misconceptions] == [
        entry.name for entry in before.misconceptions
    ]
    assert load(mini).not_code == before.not_code


def test_two_courses_in_one_process_keep_their_catalogues_apart(tmp_path, lay_out, edit):
    first, second = (lay_out(tmp_path / name) / "solutions" / "mini_homework" for name in ("one", "two"))
    edit(first / "misconceptions.py", "albatross_windows", "puffin_windows")
    kept, _ = load(first), load(second)
    [entry] = [entry for entry in kept.misconceptions if entry.name == "divides_by_all"]
    assert "puffin_windows" in as_answer(entry, kept)


def test_a_wrong_answer_is_handed_in_with_its_own_decorators(mini, edit):
    edit(mini / "misconceptions.py", "def divides_by_all", "@functools.cache\ndef divides_by_all")
    edit(
        mini / "misconceptions.py",
        "from autograder.catalogue",
        "import functools\n\nfrom autograder.catalogue",
    )
    homework = load(mini)
    [entry] = [entry for entry in homework.misconceptions if entry.name == "divides_by_all"]
    text = as_answer(entry, homework)
    assert text.startswith("import functools")
    assert "@functools.cache\ndef " in text
    assert "misconception" not in text
