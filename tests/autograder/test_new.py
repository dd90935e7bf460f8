"""A homework that is begun with `new` holds at once and overwrites nothing."""

import pytest

from autograder.cli import main
from autograder.making.build import build
from autograder.making.new import CannotBegin, new
from autograder.making.release import release
from autograder.proving.verify import verify
from autograder.source.loading import load


@pytest.fixture
def root(lay_out, tmp_path):
    return lay_out(tmp_path)


def test_what_new_writes_verifies_builds_and_releases(root):
    folder = new("hw8_mine", root)
    homework = load(folder)
    assert len(homework.misconceptions) >= 3
    assert all(proof.holds for proof in verify([folder], jobs=1, seeds=range(1, 20)))
    build(root, ["hw8_mine"])
    released = release(root, "hw8_mine") / "hw8_mine.ipynb"
    assert "Answer" in released.read_text() or "NotImplementedError" in released.read_text()


def test_new_overwrites_nothing(root):
    folder = new("hw8_mine", root)
    (folder / "hw8_mine.py").write_text("mine")
    with pytest.raises(CannotBegin, match="exists already"):
        new("hw8_mine", root)
    assert (folder / "hw8_mine.py").read_text() == "mine"


@pytest.mark.parametrize("name", ["", "Mine", "8_mine", "../mine", "my homework", "hw-8"])
def test_a_name_that_nobody_could_import_is_refused(root, name):
    with pytest.raises(CannotBegin, match="such as hw8_mine"):
        new(name, root)


def test_the_command_says_what_comes_next(root, capsys):
    assert main(["new", "hw8_mine", "--root", str(root)]) == 0
    assert "autograder verify hw8_mine" in capsys.readouterr().out
