"""The page on attacks and the tests say the same."""

import re

import pytest
from attempts import FAMILIES
from table import (
    ALL_FAMILIES,
    COSTLY,
    DEFEATED,
    ELSEWHERE,
    FAMILY_OF_TEST,
    HERE,
    LEVELS,
    NAMES,
    OPEN,
    OPEN_AT,
    PAGE,
    STAYS_OPEN,
    TOGETHER,
    WHOLE,
    Attack,
    Results,
    attacks,
    names_of_tests,
    on_reader,
    page,
    start_of,
    verdict,
)

from autograder.isolation import landlock


@pytest.fixture(scope="module")
def rows():
    """The page's table: (family, title, test) → the results at both levels."""
    lines = [line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines() if "`test_" in line]
    return {(cells[0], cells[1], cells[5].strip("`")): cells[2:5] for cells in lines if len(cells) == 6}


def test_the_page_names_every_attack_there_is_and_no_other(rows):
    assert set(rows) == {(a.family, a.title, f"{a.file}::{a.test}") for a in attacks()}


def test_every_attack_of_the_page_was_tried_and_succeeded_nowhere_but_where_that_is_known(rows):
    for attack, (*results, _) in rows.items():
        test = attack[2].partition("::")[2]
        expected = {verdict(test, level) for level in LEVELS}
        assert set(results) & expected, attack
        assert set(results) <= expected | {"–"}, attack


# Tests that choose for themselves who starts the grader, or that only root on this machine can make.
FEWER_STARTS = {
    "test_nothing_outlives_the_warm_process",
    "test_nothing_outlives_a_grader_that_is_killed",
    "test_nothing_outlives_a_warm_process_that_ends_after_a_supervisor_was_killed",
    "test_nothing_outlives_a_grader_that_is_killed_beside_chains_and_bombs",
    "test_where_root_starts_the_grader_each_submission_is_another_user",
}


def test_every_attack_was_tried_as_root_and_as_another_with_four_landlocks(rows):
    fewer = {
        name.partition("::")[2]
        for (_, _, name), (*_, started) in rows.items()
        if not re.fullmatch(r"root and ordinary; 1, 3, 5, \d+", started)
    }
    assert fewer == FEWER_STARTS


def test_what_is_said_to_be_costly_or_open_is_a_test_that_is_there():
    there = {attack.test for attack in attacks()}
    assert COSTLY | OPEN_AT.keys() <= there
    assert {level for levels in OPEN_AT.values() for level in levels} <= set(LEVELS)


@pytest.mark.parametrize(("what", "file", "test"), ELSEWHERE)
def test_an_attack_on_a_reader_names_a_test_that_is_there_and_stands_on_the_page(what, file, test):
    assert test in names_of_tests(HERE.parent / file)
    assert on_reader(what, file, test) in PAGE.read_text().splitlines()


def test_the_page_names_every_attacker_of_the_siege_and_no_other():
    section = PAGE.read_text().partition(TOGETHER)[2].partition("##")[0]
    said = dict(line.strip("| ").split(" | ") for line in section.strip().splitlines())
    assert said == {name: STAYS_OPEN if name in OPEN else DEFEATED for name in NAMES}


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_has_several_attacks_and_a_whole_submission_among_them(family):
    of_family = [attack for attack in attacks() if attack.family == family]
    assert len(of_family) >= 3
    assert any(attack.file == WHOLE for attack in of_family)


def test_there_are_at_least_thirty_whole_submissions():
    assert sum(attack.file == WHOLE for attack in attacks()) >= 30


def test_every_family_named_for_a_test_is_one_and_the_test_is_there():
    there = {test for path in HERE.glob("test_*.py") for test in names_of_tests(path)}
    assert FAMILY_OF_TEST.keys() <= there
    assert {family for family in FAMILY_OF_TEST.values() if family} <= ALL_FAMILIES.keys()


class Report:
    def __init__(self, nodeid, outcome):
        self.nodeid, self.when = nodeid, "call"
        self.passed, self.skipped = outcome == "passed", outcome == "skipped"


def test_an_attack_that_succeeds_in_one_variant_is_not_called_defeated():
    results = Results()
    for variant, outcome in (("bwrap-a/80", "passed"), ("bwrap-a/443", "failed"), ("landlock-80", "passed")):
        test = f"tests/attacks/test_network.py::test_the_internet_is_not_reached[{variant}]"
        results.pytest_runtest_logreport(Report(test, outcome))
    attack = Attack("f", "", "test_network.py", "test_the_internet_is_not_reached")
    assert [results.of(attack, level) for level in ("bwrap", "landlock")] == ["succeeds", "defeated"]
    assert "| succeeds | defeated |" in page(results)


def test_who_started_the_grader_is_read_from_the_name_of_a_variant():
    assert start_of("landlock-ordinary-3-x") == ("ordinary", 3)
    assert start_of("landlock-root-475") == start_of("bwrap-root") == ("root", landlock.version())


def test_an_attack_that_is_skipped_in_one_variant_counts_where_it_was_tried():
    attack = Attack("n", "", "test_reach.py", "test_x")
    results = Results()
    for variant, outcome in (("landlock-ordinary", "skipped"), ("landlock-root", "passed")):
        results.pytest_runtest_logreport(Report(f"tests/attacks/test_reach.py::test_x[{variant}]", outcome))
    results.pytest_runtest_logreport(Report("tests/attacks/test_reach.py::test_x[bwrap-root]", "skipped"))
    assert [results.of(attack, level) for level in ("bwrap", "landlock")] == ["not tried here", "defeated"]
