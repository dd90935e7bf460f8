"""Every student in a directory is found, nothing outside it is opened, and big files are not read."""

import os

import pytest

from autograder.submissions.collect import NothingHandedIn, Unreadable, collect, read


def hand_in(root, *parts, content=b"{}"):
    path = root.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_both_layouts_are_found_in_alphabetical_order(tmp_path):
    nested = hand_in(tmp_path, "bob", "hw", "hw.ipynb")
    flat = hand_in(tmp_path, "ada.ipynb")
    assert [(found.student, found.path) for found in collect(tmp_path, "hw")] == [
        ("ada", flat),
        ("bob", nested),
    ]


def test_a_renamed_notebook_is_taken_and_the_name_is_reported(tmp_path):
    renamed = hand_in(tmp_path, "ada", "hw", "hw (1).ipynb")
    (found,) = collect(tmp_path, "hw")
    assert found.path == renamed
    assert found.flags == ("The notebook was called hw (1).ipynb.",)


def test_the_right_name_wins_over_a_copy_beside_it(tmp_path):
    hand_in(tmp_path, "ada", "hw", "hw (1).ipynb")
    right = hand_in(tmp_path, "ada", "hw", "hw.ipynb")
    (found,) = collect(tmp_path, "hw")
    assert found.path == right
    assert not found.flags


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (
            ["ada/hw/one.ipynb", "ada/hw/two.ipynb"],
            "None of the 2 notebooks is called hw.ipynb: one.ipynb, two.ipynb.",
        ),
        (["ada/hw/answers.pdf"], "ada/hw holds no notebook."),
        (["ada/hw_9/hw_9.ipynb"], "Not handed in: ada/ holds no directory hw; it holds: hw_9."),
    ],
)
def test_a_student_without_a_notebook_is_reported_with_what_is_there(tmp_path, files, sentence):
    for file in files:
        hand_in(tmp_path, *file.split("/"))
    (found,) = collect(tmp_path, "hw")
    assert (found.student, found.path, found.problem) == ("ada", None, sentence)


def test_an_empty_directory_is_a_submission_with_a_problem(tmp_path):
    (tmp_path / "ada" / "hw").mkdir(parents=True)
    (tmp_path / "bob").mkdir()
    problems = [found.problem for found in collect(tmp_path, "hw")]
    assert problems == [
        "The directory ada/hw is empty.",
        "Not handed in: bob/ holds no directory hw; it is empty.",
    ]


def test_a_student_who_is_there_twice_is_graded_once(tmp_path):
    nested = hand_in(tmp_path, "ada", "hw", "hw.ipynb")
    hand_in(tmp_path, "ada.ipynb")
    (found,) = collect(tmp_path, "hw")
    assert found.path == nested
    assert found.flags == ("ada.ipynb was also handed in and was ignored.",)


def test_hidden_files_and_strangers_are_no_students(tmp_path):
    hand_in(tmp_path, ".ipynb_checkpoints", "hw", "hw.ipynb")
    hand_in(tmp_path, "__MACOSX", "hw", "hw.ipynb")
    hand_in(tmp_path, "marks.csv")
    with pytest.raises(NothingHandedIn, match="contains no submission"):
        collect(tmp_path, "hw")


def test_a_missing_directory_is_said_to_be_missing(tmp_path):
    with pytest.raises(NothingHandedIn, match="There is no directory"):
        collect(tmp_path / "nowhere", "hw")


@pytest.mark.parametrize("place", ["ada", "ada/hw"])
def test_links_to_directories_are_not_followed(tmp_path, place):
    hand_in(tmp_path, "elsewhere", "hw", "hw.ipynb")
    submissions = tmp_path / "submissions"
    link = submissions / place
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "elsewhere" / ("hw" if place.endswith("hw") else ""))
    (found,) = collect(submissions, "hw")
    assert found.path is None
    assert "is a link" in found.problem


def test_a_second_name_of_another_file_is_not_read(tmp_path):
    (tmp_path / "solutions.ipynb").write_text("{}")
    os.link(tmp_path / "solutions.ipynb", tmp_path / "ada.ipynb")
    with pytest.raises(Unreadable, match=r"ada.ipynb is a hard link to another file"):
        read(tmp_path / "ada.ipynb")


def test_a_link_to_a_file_is_not_read(tmp_path):
    secret = hand_in(tmp_path, "secret.json", content=b"secret")
    link = tmp_path / "submissions" / "ada" / "hw" / "hw.ipynb"
    link.parent.mkdir(parents=True)
    link.symlink_to(secret)
    (found,) = collect(tmp_path / "submissions", "hw")
    with pytest.raises(Unreadable, match=r"hw\.ipynb is a link"):
        read(found.path)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "ada.ipynb")
    with pytest.raises(Unreadable, match="is not a file"):
        read(tmp_path / "ada.ipynb")


def test_a_folder_in_a_files_place_is_not_read(tmp_path):
    with pytest.raises(Unreadable, match="is not a file"):
        read(tmp_path)


def test_a_file_of_200_megabytes_is_refused_by_its_size_and_not_read(tmp_path):
    with open(tmp_path / "ada.ipynb", "wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(Unreadable, match=r"ada\.ipynb has 200 MB; at most 20 MB are read"):
        read(tmp_path / "ada.ipynb")


def test_a_name_that_is_no_text_gets_a_record_of_its_own(tmp_path):
    (tmp_path / "ada.ipynb").write_bytes(b"{}")
    os.mkdir(os.fsencode(tmp_path) + b"/z\xff")
    ada, other = collect(tmp_path, "hw")
    assert ada.student == "ada"
    assert other.student == "z%FF"
    assert "not valid UTF-8" in other.problem


@pytest.mark.parametrize("mark", ['"', "<", ">", "\\", "\n", "\x1b", "\x9b", "\u202e", "\u200b"])
def test_a_name_that_would_be_markup_is_refused_under_another_and_stops_nobody(tmp_path, mark):
    """Formgrader writes names into its pages, and into its scripts, as they are."""
    (tmp_path / "ada.ipynb").write_bytes(b"{}")
    (tmp_path / f"m{mark}x" / "hw").mkdir(parents=True)
    ada, other = collect(tmp_path, "hw")
    assert (ada.student, ada.path) == ("ada", tmp_path / "ada.ipynb")
    assert other.path is None
    assert mark not in other.student + other.problem.replace(repr(mark), "")
    assert ascii(mark) in other.problem


@pytest.mark.parametrize("name", ["Zoë O'Hara", "李娜", "a&b", "x_1 (2)", "=1", "{{ 7*7 }}"])
def test_an_odd_name_that_is_harmless_is_kept(tmp_path, name):
    (tmp_path / f"{name}.ipynb").write_bytes(b"{}")
    [found] = collect(tmp_path, "hw")
    assert (found.student, found.problem) == (name, "")
