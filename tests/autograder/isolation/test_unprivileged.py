"""Becoming nobody: each test does it in a process of its own."""

import os
import pwd
import tempfile
from pathlib import Path

import pytest
from forked import forked, outcome

from autograder.isolation.room import Room
from autograder.isolation.unprivileged import FREE_IDS, CannotDescend, Users, claim_on, closed_parents

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture
def house():
    """A home that only root may enter, with an interpreter in it, as pyenv makes it."""
    place = tempfile.TemporaryDirectory()
    house = Path(place.name)
    house.chmod(0o755)
    (house / "own").mkdir()
    (house / "home/python").mkdir(parents=True)
    (house / "home/python/lib.py").write_text("code")
    (house / "home/secret").write_text("token")
    (house / "home").chmod(0o700)
    with place:
        yield house


def becoming(house):
    """A user of one's own beside a place that is root's, as a keeper becomes one."""
    return Users(Room((house / "home/python",)), house / "own").become_one()


def test_a_user_without_rights_still_reads_an_interpreter_in_roots_home(house):
    def become_and_look():
        uid = becoming(house)
        (house / "own/file").write_text("mine")
        ids = [*os.getresuid(), *os.getresgid(), *os.getgroups()]
        return uid, ids, (house / "home/python/lib.py").read_text()

    uid, ids, code = forked(become_and_look)
    assert uid in FREE_IDS
    assert ids == [uid] * 6
    assert code == "code"
    assert (house / "own/file").stat().st_uid == uid


def test_the_place_stays_roots_so_that_one_user_finds_nothing_of_another_there(house):
    def first():
        uid = becoming(house)
        (house / "own/secret-name").write_text("mine")
        return uid

    def second():
        becoming(house)
        acts = (
            (os.chmod, house / "own", 0o777),
            (os.listdir, house / "own"),
            (os.remove, house / "own/secret-name"),
        )
        return [outcome(*act) for act in acts]

    with claim_on(forked(first)):  # or the second might become the same user
        assert forked(second) == ["PermissionError"] * 3
    assert (house / "own").stat().st_uid == 0


def test_the_rest_of_the_home_and_the_way_back_are_closed(house):
    def become_and_try():
        becoming(house)
        return [
            outcome((house / "home/secret").read_text),
            outcome((house / "home/python/lib.py").write_text, "other code"),
            outcome(os.setuid, 0),
        ]

    assert forked(become_and_try) == ["FileNotFoundError", "PermissionError", "PermissionError"]


def test_for_everyone_else_the_home_stays_as_it_was(house):
    forked(lambda: becoming(house))
    assert (house / "home/secret").read_text() == "token"
    assert f" {house}" not in Path("/proc/self/mountinfo").read_text()


def test_an_interpreter_that_only_root_may_read_is_refused_with_the_cure(house):
    (house / "home/python").chmod(0o700)

    def refusal():
        with pytest.raises(CannotDescend) as problem:
            Users(Room((house / "home/python",)), house / "own")
        return str(problem.value), os.geteuid()

    sentence, user = forked(refusal)
    assert f"chmod -R o+rX {house}/home/python" in sentence
    assert user == 0


def test_no_two_have_the_same_user_at_one_time(house):
    def with_one_id_left():
        users = Users(Room(()), house / "own")
        users.ids = users.ids[:1]
        return forked_twice(users)

    def forked_twice(users):
        def second():
            with pytest.raises(CannotDescend, match="in use"):
                users.become_one()

        claim = claim_on(users.ids[0])  # as another keeper has it
        forked(second)
        claim.close()
        return forked(users.become_one) == users.ids[0]

    assert forked(with_one_id_left)


def test_only_directories_that_others_may_not_pass_count_as_closed(house):
    assert closed_parents([house / "home/python"]) == [house / "home"]
    assert closed_parents([house / "own"]) == []


def test_the_new_user_has_no_account_and_no_process(house):
    uid = forked(lambda: becoming(house))
    with pytest.raises(KeyError):
        pwd.getpwuid(uid)
    owners = {entry.stat().st_uid for entry in os.scandir("/proc") if entry.name.isdigit()}
    assert uid not in owners
