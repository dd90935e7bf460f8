"""A download may hold anything: nothing in it leaves its folder, is too large, or stops the others."""

import os
import stat
import zipfile

import pytest
from downloads import HOMEWORK, notebook, zipped

from autograder.collecting import filing, gather, tree
from autograder.collecting.tree import opened
from autograder.submissions.collect import IN_CANVAS, Unreadable

GOOD = {"doejane_40112_900001_hw2_backprop.ipynb": notebook("jane")}
COLLECTED = {f"40112/{HOMEWORK}/{HOMEWORK}.ipynb", f".kept/40112/{HOMEWORK}/{IN_CANVAS}"}


def everything_below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "name",
    [
        "../../escaped.ipynb",
        "/etc/escaped.ipynb",
        "a/../../../escaped.ipynb",
        "..\\..\\escaped.ipynb",
        "C:\\escaped.ipynb",
        "x_1_2_../../../escaped.ipynb",
    ],
)
def test_a_name_that_leads_elsewhere_is_left_out_and_the_rest_collected(name, tmp_path):
    outside = tmp_path / "deep" / "down"
    outside.mkdir(parents=True)
    source = zipped(outside / "c.zip", {name: notebook("evil"), **GOOD})
    collected = gather(source, HOMEWORK, outside / "submitted")
    assert [note.split(": ")[-1] for note in collected.notes] == ["its name leads out of the folder"]
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path != source]
    assert {path.relative_to(outside).as_posix() for path in written} == {
        f"submitted/{name}" for name in COLLECTED
    }


def test_a_refused_name_is_reported(tmp_path):
    with opened(zipped(tmp_path / "c.zip", {"../up.ipynb": b"", **GOOD})) as found:
        assert [(why, "up.ipynb" in path) for path, why in found.left_out] == [
            ("its name leads out of the folder", True)
        ]


def test_what_is_left_out_is_told_once_where_it_belongs(tmp_path):
    files = {
        "Bo_1_assignsubmission_file_/ok.ipynb": b"",
        "Bo_1_assignsubmission_file_/deep/../../x.ipynb": b"",
    }
    collected = gather(zipped(tmp_path / "m.zip", files), HOMEWORK, tmp_path / "submitted")
    [row] = collected.rows
    assert sum("leads out" in note for note in (*row.notes, *collected.notes)) == 1
    assert any("leads out" in note for note in row.notes)


def test_a_link_in_a_zip_is_not_made(tmp_path):
    link = zipfile.ZipInfo("doejane_40112_900002_gradebook.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    source = zipped(tmp_path / "c.zip", GOOD)
    with zipfile.ZipFile(source, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    collected = gather(source, HOMEWORK, tmp_path / "submitted")
    assert not any(path.is_symlink() for path in (tmp_path / "submitted").rglob("*"))
    assert any("a link" in note for note in collected.notes)


def test_links_and_pipes_in_a_folder_are_not_followed(tmp_path):
    secret = tmp_path / "secret.ipynb"
    secret.write_bytes(notebook("secret"))
    there = tmp_path / "download"
    there.mkdir()
    (there / "bo.ipynb").write_bytes(notebook("bo"))
    (there / "ada.ipynb").symlink_to(secret)
    (there / "inner").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(there / "cy.ipynb")
    collected = gather(there, HOMEWORK, tmp_path / "submitted")
    assert everything_below(tmp_path / "submitted") == [f"bo/{HOMEWORK}/{HOMEWORK}.ipynb"]
    assert collected.notes == (
        "left out ada.ipynb: a link",
        "left out cy.ipynb: not a file",
        "left out inner: a link",
    )


def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(tree, "LARGEST_FILE", 1_000_000)
    bomb = {"bombbo_40113_900002_hw2_backprop.ipynb": b"0" * 5_000_000, **GOOD}
    collected = gather(zipped(tmp_path / "c.zip", bomb), HOMEWORK, tmp_path / "submitted")
    assert set(everything_below(tmp_path / "submitted")) == COLLECTED
    assert any("it says it has 5 MB" in note for note in collected.notes)


def test_a_zip_that_lies_about_a_size_is_read_no_further_than_allowed(tmp_path, monkeypatch):
    monkeypatch.setattr(tree, "LARGEST_FILE", 1_000_000)
    source = zipped(tmp_path / "c.zip", {"a.ipynb": b"0" * 5_000_000})
    with zipfile.ZipFile(source) as archive:
        member = archive.infolist()[0]
        with pytest.raises(Unreadable, match="more than 1 MB"):
            tree.contents(archive, member)


def test_many_small_bombs_are_stopped_by_what_one_student_may_fill(tmp_path, monkeypatch):
    monkeypatch.setattr(filing, "MOST_BYTES_OF_A_STUDENT", 2_500)
    files = {f"Bo_1_assignsubmission_file_/{place}.txt": b"0" * 1_000 for place in range(9)}
    [row] = gather(zipped(tmp_path / "m.zip", files), HOMEWORK, tmp_path / "submitted").rows
    assert len(everything_below(tmp_path / "submitted")) == 2
    assert sum("left out" in note for note in row.notes) == 7


def test_a_zip_within_a_zip_is_opened_once_and_no_deeper(tmp_path):
    innermost = zipped(tmp_path / "i.zip", {f"{HOMEWORK}.ipynb": notebook()}).read_bytes()
    inner = zipped(tmp_path / "j.zip", {"i.zip": innermost}).read_bytes()
    source = zipped(tmp_path / "c.zip", {"doejane_40112_900001_j.zip": inner})
    [row] = gather(source, HOMEWORK, tmp_path / "submitted").rows
    assert "no notebook" in row.notes


def test_a_member_that_is_damaged_costs_nobody_else(tmp_path):
    source = zipped(tmp_path / "c.zip", {"bo_1_2_hw2_backprop.ipynb": os.urandom(2_000), **GOOD})
    data = bytearray(source.read_bytes())
    data[300:600] = bytes(300)
    source.write_bytes(data)
    collected = gather(source, HOMEWORK, tmp_path / "submitted")
    assert (tmp_path / "submitted" / "40112" / HOMEWORK / f"{HOMEWORK}.ipynb").is_file()
    assert any("cannot be unpacked" in note for row in collected.rows for note in row.notes)


def test_a_file_and_a_folder_of_one_name_do_not_stop_the_others(tmp_path):
    folder = "Bo_1_assignsubmission_file_"
    files = {f"{folder}/a": b"file", f"{folder}/a/b": b"within", f"{folder}/{HOMEWORK}.ipynb": notebook()}
    [row] = gather(zipped(tmp_path / "m.zip", files), HOMEWORK, tmp_path / "submitted").rows
    assert any("a file and a folder have the same name" in note for note in row.notes)
    assert (tmp_path / "submitted" / "Bo" / HOMEWORK / f"{HOMEWORK}.ipynb").is_file()


def test_a_time_that_a_student_writes_is_not_taken_for_the_platforms(tmp_path):
    folder = "Bo_1_assignsubmission_file_"
    forged = b"2001-01-01 00:00:00 UTC"
    files = {f"{folder}/timestamp.txt": forged, f"{folder}/{HOMEWORK}.ipynb": notebook()}
    gather(zipped(tmp_path / "m.zip", files), HOMEWORK, tmp_path / "submitted")
    there = tmp_path / "submitted" / "Bo" / HOMEWORK
    assert not (there / "timestamp.txt").exists()
    assert (there / "timestamp.txt.handed-in").read_bytes() == forged
