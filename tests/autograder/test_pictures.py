"""The README's pictures are what the tools say today."""

from pathlib import Path

import pytest

from autograder.sample import pictures

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"


def test_the_failing_check_says_what_it_says_in_a_notebook():
    assert "not divided by the root of the width" in pictures.message(ROOT)
    assert (FOLDER / "failing_check.svg").read_text() == pictures.failing_check(ROOT)


def test_the_ladder_has_the_recorded_bits():
    assert (FOLDER / "ladder.svg").read_text() == pictures.ladder()


@pytest.mark.parametrize("name", ["failing_check", "ladder", "class_report"])
def test_the_readme_shows_every_picture_with_words_for_who_cannot_see_it(name):
    readme = (ROOT / "README.md").read_text()
    assert f"](docs/pictures/{name}.svg)" in readme
    assert f"![](docs/pictures/{name}.svg)" not in readme
