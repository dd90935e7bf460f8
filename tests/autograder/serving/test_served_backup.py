"""A backup holds what `serve` keeps: attempts, verdicts, rubrics and where marks are sent."""

import shutil

import pytest
from doors import NAME
from test_kept_attempts import EAGER
from test_postgresql import server  # noqa: F401  a fixture

from autograder.cli import main
from autograder.marks.backup import BackupError, backup, gradebook_of, restore
from autograder.serving.attempts import Attempts, Standing, Told
from autograder.serving.kept import kept
from autograder.serving.line_items import LineItem, LineItems
from autograder.serving.rubrics import Question, Rubrics
from autograder.serving.run import database_url
from autograder.serving.settings import read_settings

ONCE, TOLD = "an invitation", Told("visible", "whole", "3 of 5")
LINE = LineItem("https://lms.example", "client", "sub", "https://lms.example/line")


@pytest.fixture
def course(lay_out, tmp_path):
    return lay_out(tmp_path / "first")


@pytest.fixture(params=["sqlite", "postgresql"])
def moved(request, lay_out, tmp_path):
    """Another course's folder, whose attempts are kept in either kind of database."""
    root = lay_out(tmp_path / "second")
    is_file = request.param == "sqlite"
    url = f"sqlite:///{root}/serve.db" if is_file else request.getfixturevalue("server").new_database()
    (root / "serve.toml").write_text(f'database = "{url}"\n')
    return root


def databases(root):
    return [gradebook_of(root, f"sqlite:///{root}/gradebook.db"), *kept(root)]


def attempts_of(root):
    return Attempts(database_url(root, read_settings(root)))


def test_what_is_restored_is_what_was_kept_and_goes_on(course, moved, tmp_path):
    attempts = Attempts(f"sqlite:///{course}/serve.db")
    first, second = (attempts.hand_in("ada", NAME, content, EAGER) for content in (b"one", "zwölf".encode()))
    attempts.tell(NAME, "ada", TOLD, first.number, first.digest)
    attempts.enter_totals(NAME, {"ada": "3 of 7"})
    assert attempts.use(ONCE)
    Rubrics(attempts.engine).ask(NAME, [Question("why", "Why?", "Noise averages out.", 3.0)])
    LineItems(attempts.engine).keep(NAME, "ada", LINE)

    counts = backup(course, tmp_path / "marks.zip", databases(course))
    assert counts["handed_in"] == 2
    restore(moved, tmp_path / "marks.zip", databases(moved))

    again = attempts_of(moved)
    assert again.of("ada", NAME) == attempts.of("ada", NAME)
    assert again.content(second.number) == "zwölf".encode()
    assert again.told(NAME, "ada") == TOLD
    assert again.standing(NAME, "ada") == Standing(first.digest, "3 of 7")
    assert not again.use(ONCE)
    assert Rubrics(again.engine).questions(NAME) == Rubrics(attempts.engine).questions(NAME)
    assert LineItems(again.engine).all(NAME)["ada"][0] == LINE
    assert again.hand_in("bob", NAME, b"three", EAGER).number > second.number


def test_attempts_return_to_a_folder_that_has_never_served(course, lay_out, tmp_path):
    Attempts(f"sqlite:///{course}/serve.db").hand_in("ada", NAME, b"one", EAGER)
    backup(course, tmp_path / "marks.zip", databases(course))
    fresh = lay_out(tmp_path / "fresh")
    assert main(["restore", f"{tmp_path / 'marks.zip'}", "--root", f"{fresh}"]) == 0
    [only] = attempts_of(fresh).of("ada", NAME)
    assert attempts_of(fresh).content(only.number) == b"one"


@pytest.mark.parametrize("moved", ["sqlite"], indirect=True)
def test_attempts_are_never_written_over(course, moved, tmp_path):
    Attempts(f"sqlite:///{course}/serve.db").hand_in("ada", NAME, b"one", EAGER)
    backup(course, tmp_path / "marks.zip", databases(course))
    theirs = attempts_of(moved).hand_in("bob", NAME, b"his", EAGER)
    with pytest.raises(BackupError, match=r"serve\.db already contains attempts \(1\)"):
        restore(moved, tmp_path / "marks.zip", databases(moved))
    assert attempts_of(moved).content(theirs.number) == b"his"


def test_a_course_that_does_not_serve_has_nothing_further_to_keep(course):
    assert kept(course) == []
    shutil.copy(__file__, course / "serve.db")
    assert [one.name for one in kept(course)] == ["serve.db"]
