"""What real downloads hold: typed answers, anonymous late students, files that a browser renamed."""

from datetime import UTC, datetime, timedelta

import pytest
from downloads import HOMEWORK, laid_out, notebook, zipped

from autograder.cli import main
from autograder.collecting import CollectingError, gather
from autograder.collecting.attempt import Attempt
from autograder.collecting.choosing import choose
from autograder.collecting.tree import File
from autograder.marks.decisions import Decisions
from autograder.marks.late import in_its_zone, read_time
from autograder.submissions.collect import collect

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
CANVAS = {
    "hallhal_LATE_20109_text.html": b"<p>my words</p>",
    "adamsann_20101_link.html": b"<a>elsewhere</a>",
    f"LATE_anon_X9fQz_900021_{HOMEWORK}.ipynb": notebook("anonymous"),
    f"van_der_berg_20111_900022_{HOMEWORK}.ipynb": notebook("berg"),
}


def rows(source, to, **options):
    return {row.student: row for row in gather(source, HOMEWORK, to, **options).rows}


def notebooks(to):
    return {found.student: found.path.read_bytes() for found in collect(to, HOMEWORK) if found.path}


def test_canvas_names_of_text_link_and_anonymous_late_are_understood(tmp_path):
    found = rows(zipped(tmp_path / "c.zip", CANVAS), tmp_path / "submitted")
    assert set(found) == {"20109", "20101", "X9fQz", "20111"}
    late = {student for student, row in found.items() if row.late == "marked late, time unknown"}
    assert late == {"20109", "X9fQz"}
    assert notebooks(tmp_path / "submitted") == {"X9fQz": notebook("anonymous"), "20111": notebook("berg")}
    assert "not a file: typed into Canvas's page, or a link" in found["20109"].notes
    typed = tmp_path / "submitted" / "20109" / HOMEWORK / "text.html"
    assert typed.read_bytes() == b"<p>my words</p>"


def test_a_name_in_canvas_that_ends_like_another_users_number_is_pointed_out(tmp_path):
    files = {
        f"adamsann_20101_900020_{HOMEWORK}.ipynb": notebook("ann"),
        f"eve_20101_20199_900023_{HOMEWORK}.ipynb": notebook("eve"),  # eve's name is "eve_20101"
    }
    found = rows(zipped(tmp_path / "c.zip", files), tmp_path / "submitted")
    assert set(found) == {"20101"}
    said = f"900023_{HOMEWORK}.ipynb is user 20101's, or user 20199's if a name ends in _20101: see in Canvas"
    assert said in found["20101"].notes
    assert notebooks(tmp_path / "submitted") == {"20101": notebook("ann")}


def test_an_archive_that_is_half_understood_is_refused_with_a_list(tmp_path):
    odd = {f"student{number}.ipynb": notebook() for number in range(4)}
    source = zipped(tmp_path / "c.zip", {**CANVAS, **odd})
    with pytest.raises(
        CollectingError, match=r"Canvas, with 4 of its students.*these 4 are: student0\.ipynb"
    ):
        gather(source, HOMEWORK, tmp_path / "submitted")
    assert not (tmp_path / "submitted").exists()


@pytest.mark.parametrize("ending", ["ipynb.txt", "ipynb.json", "json", "ipynb.ipynb"])
@pytest.mark.parametrize("name", ["ada.{}", "doejane_40112_900001_" + HOMEWORK + ".{}"])
def test_a_notebook_that_a_browser_renamed_is_a_notebook(ending, name, tmp_path):
    content = notebook("mine")
    found = rows(laid_out(tmp_path / "d", {name.format(ending): content}), tmp_path / "submitted")
    assert list(notebooks(tmp_path / "submitted").values()) == [content]
    [row] = found.values()
    assert any("notebook" in note for note in row.notes) or ending == "ipynb.ipynb"


def test_other_json_is_no_notebook(tmp_path):
    source = zipped(tmp_path / "c.zip", {"doejane_40112_900001_settings.json": b'{"a": 1}'})
    assert "no notebook" in rows(source, tmp_path / "submitted")["40112"].notes


def attempt(says, hours):
    file = File((f"{HOMEWORK}.ipynb",), lambda: notebook(says))
    return Attempt(("ada",), (file,), time=NOON + timedelta(hours=hours))


@pytest.mark.parametrize(
    ("hours", "counts"),
    [((-2, -1, 1), -1), ((1, 2), 2), ((-1, 0), 0)],
)
def test_the_latest_in_time_counts_where_that_is_asked_and_the_latest_where_all_are_late(hours, counts):
    chosen = choose([attempt(str(hour), hour) for hour in hours], HOMEWORK, NOON)
    assert chosen.attempt.time == NOON + timedelta(hours=counts)
    assert len(chosen.others) == len(hours) - 1


def nbgrader_download(tmp_path, stamp):
    files = {f"ada/{HOMEWORK}/{HOMEWORK}.ipynb": notebook(), f"ada/{HOMEWORK}/timestamp.txt": stamp.encode()}
    return zipped(tmp_path / "n.zip", files)


@pytest.mark.parametrize(
    ("options", "late"),
    [
        ({}, "30 min"),
        ({"grace": timedelta(minutes=30)}, ""),
        ({"grace": timedelta(minutes=29)}, "30 min"),
        ({"extensions": {"ada": timedelta(hours=1)}}, ""),
        ({"extensions": {"bo": timedelta(hours=1)}}, "30 min"),
    ],
)
def test_grace_and_an_extension_make_late_work_be_in_time(options, late, tmp_path):
    source = nbgrader_download(tmp_path, "2026-11-20 12:30:00.000000 UTC")
    found = rows(source, tmp_path / "submitted", due=NOON, **options)
    assert found["ada"].late == late


def test_a_due_time_says_its_zone():
    assert in_its_zone(read_time("2026-11-20T23:59-05:00")) == (
        "2026-11-20 23:59 UTC-0500, which is 2026-11-21 04:59 UTC"
    )
    assert in_its_zone(NOON) == "2026-11-20 12:00 UTC+0000"


def test_the_word_says_when_it_was_due_and_logs_who_is_late_by_an_unknown_time(
    course_folder, tmp_path, capsys
):
    files = {f"doejane_LATE_40112_900001_{HOMEWORK}.ipynb": notebook()}
    source = zipped(tmp_path / "c.zip", files)
    words = ["collect", str(source), "--homework", "mini_homework", "--root", str(course_folder)]
    assert main([*words, "--due", "2026-11-20T23:59-05:00"]) == 0
    out = capsys.readouterr().out
    assert "1 late by an unknown time; c.PerDay.unknown_counts_as_days sets the penalty." in out
    assert "Due 2026-11-20 23:59 UTC-0500, which is 2026-11-21 04:59 UTC." in out
    assert Decisions(course_folder).late_without_time("mini_homework") == {"40112"}
    assert main([*words, "--attempt", "in-time"]) == 2
    assert "--attempt in-time needs a due date" in capsys.readouterr().err
