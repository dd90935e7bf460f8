"""Whatever is wrong with what one student handed in, `collect` ends and everybody else is filed."""

import contextlib
import zipfile
from io import BytesIO

import pytest
from damaged_zips import DAMAGED, corrupted
from downloads import GRADESCOPE, HOMEWORK, notebook, zipped

from autograder.collecting import CollectingError, filing, gather, in_words
from autograder.collecting.tree import nested, opened
from autograder.submissions.collect import Unreadable

NEIGHBOURS = ("10001", "30003")


def collected_beside(data, tmp_path):
    """What became of a class in which the student in the middle handed in this zip; who has a notebook."""
    files = {f"ada_{NEIGHBOURS[0]}_1_{HOMEWORK}.ipynb": notebook("ada")}
    files |= {"mallory_20002_2_work.zip": data, f"zoe_{NEIGHBOURS[1]}_3_{HOMEWORK}.ipynb": notebook("zoe")}
    to = tmp_path / "submitted"
    collected = gather(zipped(tmp_path / "class.zip", files), HOMEWORK, to)
    list(in_words(collected))
    return collected, [path.parents[1].name for path in sorted(to.glob(f"*/{HOMEWORK}/{HOMEWORK}.ipynb"))]


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_zip_concerns_the_one_who_handed_it_in(kind, tmp_path):
    collected, filed = collected_beside(DAMAGED[kind], tmp_path)
    assert set(NEIGHBOURS) <= set(filed)
    [row] = [row for row in collected.rows if row.student == "20002"]
    assert row.notes


def kinds_of_errors():
    """What the library raises for the damaged ones; the files are tried one by one."""
    found = set()
    for data in DAMAGED.values():
        try:
            with zipfile.ZipFile(BytesIO(data)) as archive:
                for member in archive.infolist():
                    archive.read(member)
        except Exception as error:
            found.add(type(error).__name__)
    return found


def test_the_damaged_ones_raise_many_kinds_of_errors():
    """Otherwise the test above would try the same thing again and again."""
    expected = {
        "BadZipFile",
        "LZMAError",
        "NotImplementedError",
        "RuntimeError",
        "UnicodeDecodeError",
        "error",
    }
    assert expected <= kinds_of_errors()


@pytest.mark.parametrize("seed", range(300))
def test_a_zip_with_bytes_changed_at_random_stops_nobody(seed, tmp_path):
    _, filed = collected_beside(corrupted(seed), tmp_path)
    assert set(NEIGHBOURS) <= set(filed)


@pytest.mark.parametrize("seed", range(100))
def test_a_download_with_bytes_changed_at_random_is_refused_in_a_sentence_or_collected(seed, tmp_path):
    source = tmp_path / "class.zip"
    source.write_bytes(corrupted(seed))
    with contextlib.suppress(CollectingError):
        gather(source, HOMEWORK, tmp_path / "submitted")


def test_what_is_beyond_a_students_room_is_not_even_read(tmp_path, monkeypatch):
    """Thousands of members that unpack to 100 MB each would keep the machine busy for minutes."""
    monkeypatch.setattr(filing, "MOST_BYTES_OF_A_STUDENT", 2_500)
    source = zipped(tmp_path / "c.zip", {f"Bo_1_assignsubmission_file_/{n:02}": b"0" * 999 for n in range(9)})
    with opened(source) as tree:
        read = []
        files = [
            filing.File(file.path, lambda file=file: read.append(file) or file.read()) for file in tree.files
        ]
        notes = []
        assert len(filing.contents(files, False, notes)) == 2
    assert len(read) == 3
    assert len(notes) == 7


@pytest.mark.parametrize("last", ["..", "."])
def test_a_name_of_no_file_is_left_out(last, tmp_path):
    files = {
        f"bo_1_2_{last}": b"x",
        f"bo_1_1_{HOMEWORK}.ipynb": notebook(),
        f"ada_2_3_{HOMEWORK}.ipynb": b"{}",
    }
    collected = gather(zipped(tmp_path / "c.zip", files), HOMEWORK, tmp_path / "submitted")
    assert [row.student for row in collected.rows] == ["1", "2"]
    assert any("not the name of a file" in note for note in collected.rows[0].notes)


def test_a_thousand_notes_about_one_student_are_counted_and_not_printed(tmp_path):
    folder = "Bo_1_assignsubmission_file_"
    files = {f"{folder}/../{number}.txt": b"" for number in range(1_000)}
    collected = gather(zipped(tmp_path / "m.zip", {**files, f"{folder}/a.ipynb": b""}), HOMEWORK, tmp_path)
    printed = "\n".join(in_words(collected))
    assert "and 9" in printed
    assert len(printed) < 10_000


def test_two_people_whose_names_are_no_text_are_told_apart(tmp_path):
    download = tmp_path / "download"
    for number, name in enumerate((b"Z\xf6e", b"Z\xf8e")):
        folder = download / f"{name.decode('utf-8', 'surrogateescape')}_{number}_assignsubmission_file_"
        folder.mkdir(parents=True)
        (folder / f"{HOMEWORK}.ipynb").write_bytes(notebook(str(number)))
    collected = gather(download, HOMEWORK, tmp_path / "submitted")
    assert len({row.student for row in collected.rows}) == 2
    assert all(line.isprintable() for line in in_words(collected))


def test_a_folder_called_like_the_file_of_the_time_does_not_keep_the_time_from_being_written(tmp_path):
    odd = {"assignment_77_export/submission_501/timestamp.txt/inner": b"x"}
    gather(zipped(tmp_path / "g.zip", GRADESCOPE | odd), HOMEWORK, tmp_path / "submitted")
    filed = {path.parents[1].name for path in (tmp_path / "submitted").glob("*/*/timestamp.txt")}
    assert filed == {"3001", "3002", "cy@uni.edu"}
    assert (tmp_path / "submitted" / "3001" / HOMEWORK / "timestamp.txt.handed-in" / "inner").is_file()


def test_a_zip_of_a_million_members_is_refused_before_they_are_read(monkeypatch):
    monkeypatch.setattr(zipfile, "ZipFile", None)
    with pytest.raises(Unreadable, match="it has 1000000 members"):
        nested(b"PK\x01\x02" * 1_000_000, "work.zip")
