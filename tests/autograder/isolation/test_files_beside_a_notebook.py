import os

import pytest

from autograder.isolation.files import regular_files


def test_plain_files_come_along_by_their_relative_names(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "names.txt").write_text("ada")
    (tmp_path / "local_helpers.py").write_text("x = 1")
    assert regular_files(tmp_path, 1000) == {"data/names.txt": b"ada", "local_helpers.py": b"x = 1"}


def test_links_pipes_and_notebooks_stay_behind(tmp_path):
    secret = tmp_path / "gradebook.db"
    secret.write_text("marks")
    submission = tmp_path / "submission"
    submission.mkdir()
    (submission / "symbolic").symlink_to(secret)
    (submission / "directory").symlink_to(tmp_path)
    os.link(secret, submission / "hard")
    os.mkfifo(submission / "pipe")
    (submission / "hw1.ipynb").write_text("{}")
    assert regular_files(submission, 1000) == {}


def test_too_much_is_refused_with_a_sentence(tmp_path):
    (tmp_path / "a").write_bytes(bytes(600))
    (tmp_path / "b").write_bytes(bytes(600))
    with pytest.raises(ValueError, match="more than 1000 bytes"):
        regular_files(tmp_path, 1000)


def test_no_directory_means_no_files():
    assert regular_files(None, 1000) == {}
