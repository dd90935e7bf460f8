"""The instructor's page says of every exercise what it asks and what its checks separate."""

from autograder.source.loading import load
from autograder.website.overview import overview


def test_the_page_names_every_check_with_the_mistakes_that_fail_it(mini):
    homework = load(mini)
    lines = overview(homework).splitlines()
    for check in homework.checks:
        [line] = [
            line for line in lines if line.startswith((f"| {check.name} |", f"| {check.name} (hidden) |"))
        ]
        failing = {entry.name for entry in homework.misconceptions if check.name in homework.failed_by(entry)}
        assert {name for name in (m.name for m in homework.misconceptions) if name in line} == failing


def test_the_page_adds_up_points_and_minutes(mini):
    homework = load(mini)
    [together] = [line for line in overview(homework).splitlines() if "**together**" in line]
    cells = [cell.strip() for cell in together.split("|")]
    assert cells[3:5] == ["10", "7"]  # five and five minutes, four points and three
    assert cells[5:7] == ["3", "3"]


def test_the_page_says_which_mistakes_no_code_stands_for(mini):
    assert "- 1d: the curve is read as delayed (a way of reading a picture)" in overview(load(mini))
