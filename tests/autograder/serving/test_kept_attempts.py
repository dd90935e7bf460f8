"""Attempts are kept once and in order, by whichever database, and none is lost with its server."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from test_postgresql import SECONDS_TO_START, server  # noqa: F401  a fixture

from autograder.marks.database import GradebookUnavailable
from autograder.serving.attempts import Attempts, Pace, Standing, Told, TooMany, counts

EAGER = Pace(seconds_between=0.0, each_hour=1000)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    return (
        f"sqlite:///{tmp_path}/serve.db"
        if request.param == "sqlite"
        else request.getfixturevalue("server").url
    )


@pytest.fixture
def attempts(url):
    return Attempts(url)


def numbered(attempts, homework, student="ada"):
    return [attempts.content(one.number) for one in attempts.of(student, homework)]


def test_the_same_bytes_from_many_windows_at_once_are_one_attempt(attempts):
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: attempts.hand_in("ada", "same", b"x", EAGER), range(16)))
    assert len({one.number for one in done}) == 1
    assert sum(one.is_new for one in done) == 1


def test_what_many_hand_in_at_once_is_all_kept(attempts):
    with ThreadPoolExecutor(8) as pool:
        done = pool.map(lambda n: attempts.hand_in(f"s{n % 4}", "many", f"{n}".encode(), EAGER), range(40))
        numbers = [one.number for one in done]
    assert len(set(numbers)) == 40
    for student in range(4):
        kept = {int(one) for one in numbered(attempts, "many", f"s{student}")}
        assert kept == set(range(student, 40, 4))


def test_attempts_without_end_are_refused(attempts):
    pace = Pace(0.0, 1000, most=3)
    for number in range(3):
        attempts.hand_in("ada", "flood", f"{number}".encode(), pace)
    with pytest.raises(TooMany, match="3 attempts already"):
        attempts.hand_in("ada", "flood", b"one more", pace)


def test_attempts_that_would_fill_the_disk_are_refused_but_a_small_one_is_always_kept(attempts):
    pace = Pace(0.0, 1000, most_bytes=250, small_bytes=20)
    for number in range(2):
        attempts.hand_in("ada", "heavy", f"{number}".encode() * 100, pace)
    with pytest.raises(TooMany, match="Clear the outputs"):
        attempts.hand_in("ada", "heavy", b"2" * 100, pace)
    assert attempts.hand_in("ada", "heavy", b"3" * 20, pace).is_new
    assert attempts.hand_in("ada", "another", b"2" * 100, pace).is_new
    assert attempts.hand_in("bob", "heavy", b"2" * 100, pace).is_new


def test_a_total_stays_until_the_mark_or_the_attempt_that_counts_is_another(attempts):
    told = Told("visible", "whole", "3 of 5")
    for verdict, source, total in (
        (told, "first", ""),
        (told, "first", "4 of 7"),
        (told, "second", ""),
        (replace(told, mark="5 of 5"), "second", ""),
    ):
        attempts.tell("totals", "ada", verdict, None, source)
        assert attempts.standing("totals", "ada") == Standing(source, total)
        attempts.enter_totals("totals", {"ada": "4 of 7"})


def test_who_is_no_longer_in_the_gradebook_has_no_total_and_keeps_the_attempt_that_counts(attempts):
    attempts.tell("gone", "ada", Told("visible", "whole", "3 of 5"), None, "first")
    attempts.enter_totals("gone", {"ada": "4 of 7", "bob": "0 of 7"})
    attempts.enter_totals("gone", {})
    assert attempts.standings("gone") == {"ada": Standing("first")}


def test_of_the_same_bytes_handed_in_again_the_later_attempt_counts(attempts):
    for content in (b"x", b"y", b"x"):
        last = attempts.hand_in("ada", "again", content, EAGER)
    assert counts(attempts.of("ada", "again"), last.digest) == last.number


def test_something_is_used_once(attempts, url):
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: attempts.use(f"once {url}"), range(16))) == 1


def test_a_server_that_is_killed_has_everything_that_was_confirmed(server):  # noqa: F811
    attempts = Attempts(server.url)
    attempts.hand_in("ada", "killed", b"first", EAGER)
    server.stop()
    server.process.wait(SECONDS_TO_START)
    with pytest.raises(GradebookUnavailable):
        attempts.hand_in("ada", "killed", b"second", EAGER)
    server.start()
    attempts.hand_in("ada", "killed", b"third", EAGER)
    assert numbered(attempts, "killed") == [b"first", b"third"]
