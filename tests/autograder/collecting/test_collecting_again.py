"""Collecting again never loses a byte: the later counts, whatever was there is kept."""

from datetime import UTC, datetime, timedelta

import pytest
from downloads import HOMEWORK, notebook, zipped

from autograder.cli import main
from autograder.collecting import CollectingError, read_roster
from autograder.collecting.attempt import Attempt, student_id
from autograder.collecting.choosing import choose
from autograder.collecting.filing import Cabinet
from autograder.collecting.gather import in_words, lateness
from autograder.collecting.tree import File
from autograder.marks.decisions import Decisions

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def attempt(says, time=None, name=f"{HOMEWORK}.ipynb", **facts):
    return Attempt(("ada",), (File((name,), lambda: notebook(says)),), time=time, **facts)


def file(cabinet, *attempts):
    return cabinet.file("ada", choose(attempts, HOMEWORK), timed=False)


def counting(cabinet):
    return (cabinet.to / "ada" / HOMEWORK / f"{HOMEWORK}.ipynb").read_bytes()


def kept(cabinet):
    return {path.read_bytes() for path in (cabinet.to / ".kept" / "ada").rglob("*.ipynb")}


@pytest.mark.parametrize(
    ("hours", "until", "counts"),
    [((-1, 1), 0, -1), ((1, -1), 0, -1), ((-2, -1), 0, -1), ((2, 1), 0, 2), ((-1, 1), None, 1)],
)
def test_what_arrived_in_time_counts_before_what_did_not_whichever_was_collected_first(
    cabinet, hours, until, counts
):
    limit = None if until is None else NOON + timedelta(hours=until)
    for hour in hours:
        one = choose([attempt(f"{hour}", NOON + timedelta(hours=hour))], HOMEWORK, limit)
        notes = cabinet.file("ada", one, timed=False, until=limit)
    assert counting(cabinet) == notebook(f"{counts}")
    assert kept(cabinet) == {notebook(f"{hour}") for hour in hours if hour != counts}
    assert notes[0].startswith("counts now") == (counts == hours[1])


@pytest.fixture
def cabinet(tmp_path):
    return Cabinet(tmp_path / "submitted", HOMEWORK)


def test_a_later_download_counts_and_the_earlier_is_kept(cabinet):
    file(cabinet, attempt("early", NOON))
    assert file(cabinet, attempt("late", NOON + timedelta(hours=1))) == ["counts now; what was there is kept"]
    assert counting(cabinet) == notebook("late")
    assert kept(cabinet) == {notebook("early")}


def test_an_older_download_is_kept_and_does_not_count(cabinet):
    file(cabinet, attempt("late", NOON + timedelta(hours=1)))
    file(cabinet, attempt("early", NOON))
    assert counting(cabinet) == notebook("late")
    assert kept(cabinet) == {notebook("early")}


def test_nothing_is_half_done_when_writing_fails(cabinet, monkeypatch):
    file(cabinet, attempt("early", NOON))

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        file(cabinet, attempt("late", NOON + timedelta(hours=1)))
    assert counting(cabinet) == notebook("early")
    assert [path.name for path in (cabinet.to / ".kept").iterdir()] in ([], ["ada"])


def test_the_time_decides_before_the_name_and_the_name_before_the_order():
    first, second = attempt("a", NOON), attempt("b", NOON + timedelta(seconds=1), name="draft.ipynb")
    assert choose([second, first], HOMEWORK).attempt is second
    named, other = attempt("a", order=1), attempt("b", name="draft.ipynb", order=2)
    assert choose([named, other], HOMEWORK).attempt is named


@pytest.mark.parametrize("name", ["hw2_backprop (1).ipynb", "hw2_backprop-2.ipynb", "HW2_backprop.ipynb"])
def test_a_copys_name_is_recognised_beside_other_notebooks(name):
    files = tuple(File((called,), bytes) for called in ("scratch.ipynb", name))
    chosen = choose([Attempt(("ada",), files)], HOMEWORK)
    assert chosen.notebook.name == name
    assert chosen.notes == (f"the notebook was called {name}",)


def test_no_notebook_is_guessed_among_several_of_other_names():
    files = tuple(File((called,), bytes) for called in ("a.ipynb", "b.ipynb"))
    assert choose([Attempt(("ada",), files)], HOMEWORK).notebook is None


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-1, ""), (0, ""), (30, "under a minute"), (90, "1 min"), (90_061, "1 d 1 h 1 min")],
)
def test_lateness_in_words(seconds, said):
    assert lateness(attempt("", NOON + timedelta(seconds=seconds)), NOON) == said


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("Zoë O'Hara", "zoe-o-hara"),
        ("z.ohara@uni.edu", "z.ohara@uni.edu"),
        ("../..", "unnamed"),
        ("a/b", "a-b"),
    ],
)
def test_an_id_can_be_a_folders_name(name, student):
    assert student_id(name) == student


def test_a_roster_knows_students_by_every_column(tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text(
        "student,first_name,last_name,github,section\nzo1,Zoë,O'Hara,zohara,A\nbo2,Bo,Chen,bochen,A\n"
    )
    roster = read_roster(path)
    for name in ("zo1", "ZOHARA", "zoë o'hara", "oharazoë"):
        assert roster.id_of([name]) == ("zo1", True), name
    assert roster.id_of(["A"]) == ("A", False)  # both are in section A, so it names neither
    assert roster.students == {"zo1", "bo2"}


def test_the_sheet_of_canvas_is_a_roster(tmp_path):
    path = tmp_path / "export.csv"
    path.write_text(
        "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Homework 1 (4711)\n"
        "    Points Possible,,,,,100\n"
        '"Chen, Bo",10001,S1,bchen,A,10002\n'
        '"Müller, Lena",10002,S2,lmueller,A,40\n'
        '"Student, Test",10003,,3f1a,A,\n'
    )
    roster = read_roster(path)
    assert roster.id_of(["10001", "chenbo"]) == ("bchen", True)
    assert roster.id_of(["10002"]) == ("lmueller", True)  # not Bo, whose mark is this number
    assert roster.students == {"bchen", "lmueller"}


def test_a_roster_without_ids_is_refused(tmp_path):
    (tmp_path / "roster.csv").write_text("name,github\nBo,bochen\n")
    with pytest.raises(CollectingError, match="no column called student"):
        read_roster(tmp_path / "roster.csv")


def test_the_table_cannot_be_used_to_write_to_the_terminal(tmp_path):
    from autograder.collecting import Collected, Row

    row = Row("ada", "\x1b[2Jada", "", "", ("called \x07.ipynb",))
    assert all(line.isprintable() for line in in_words(Collected("flat", (row,), ())))


def test_the_word_prints_the_table_and_tells_the_gradebook_when_it_was_due(course_folder, tmp_path, capsys):
    from nbgrader.api import Gradebook

    source = zipped(tmp_path / "f.zip", {"ada.ipynb": notebook(), "bo.ipynb": notebook()})
    words = ["collect", str(source), "--homework", "mini_homework", "--root", str(course_folder)]
    assert main([*words, "--due", "2026-11-20T13:00+01:00"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in out[:3]] == ["student", "ada", "bo"]
    assert out[-2:] == ["flat: 2 students.", "Due 2026-11-20 13:00 UTC+0100, which is 2026-11-20 12:00 UTC."]
    assert (course_folder / "submitted" / "ada" / "mini_homework" / "mini_homework.ipynb").is_file()
    with Gradebook(f"sqlite:///{course_folder / 'gradebook.db'}") as gradebook:
        assert gradebook.find_assignment("mini_homework").duedate == datetime(2026, 11, 20, 12)


def test_the_word_puts_the_attempt_that_counts_on_record(course_folder, tmp_path):
    log = Decisions(course_folder)

    def collect(stamp, which):
        files = {"ada/mini_homework/mini_homework.ipynb": notebook(stamp)}
        files |= {"ada/mini_homework/timestamp.txt": f"2026-11-20 {stamp}:00 UTC".encode()}
        source = zipped(tmp_path / "n.zip", files)
        words = ["collect", str(source), "--homework", "mini_homework", "--root", str(course_folder)]
        assert main([*words, "--due", "2026-11-20T12:00Z", "--grace", "5", "--attempt", which]) == 0
        return [(one.student, one.value[:16], one.why) for one in log.all() if one.what == "attempt"]

    assert collect("12:04", "in-time") == []  # there is no choice among one
    in_time = ("ada", "2026-11-20 12:04", "in-time of 2")
    assert collect("12:06", "in-time") == [in_time]
    assert collect("12:06", "in-time") == [in_time]
    assert collect("12:07", "latest") == [in_time, ("ada", "2026-11-20 12:07", "latest of 3")]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--homework", "hw9"], "There is no homework called hw9"),
        (["--homework", "mini_homework", "--due", "friday"], "'friday' is not a time"),
        (["--homework", "mini_homework"], "There is no "),
    ],
)
def test_the_word_says_what_to_mend(options, problem, course_folder, capsys):
    assert main(["collect", str(course_folder / "no.zip"), *options, "--root", str(course_folder)]) == 2
    assert problem in capsys.readouterr().err
