import os
import tempfile
from pathlib import Path

import pytest
from forked import forked
from warm_levels import CONFINED, warm_or_skip

from autograder.isolation import IsolationUnavailable, bwrap, choose, confinement, kernel, landlock, levels


def test_the_best_is_the_first_that_works():
    confined = []
    for name in CONFINED:
        try:
            confined.append(choose(name).name)
        except IsolationUnavailable:
            continue
    if confined:
        assert choose().name == confined[0]
    else:
        with pytest.raises(IsolationUnavailable):
            choose()


def test_nothing_runs_unconfined_unless_that_is_asked_for_by_name(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(landlock, "version", lambda: 0)
    monkeypatch.setattr(landlock, "apply", lambda rules: None)  # Landlock is there but does nothing
    with pytest.raises(IsolationUnavailable, match=r"no bwrap: bubblewrap .* no landlock: .* can be read"):
        choose()
    assert choose("none").name == "none"


def test_a_process_that_keeps_its_rights_is_not_taken_for_confined(monkeypatch):
    warm_or_skip("landlock")

    def keep_rights():
        raise PermissionError("the student's process still holds rights")

    monkeypatch.setattr(confinement, "verify_powerless", keep_rights)
    with pytest.raises(IsolationUnavailable, match="could not give up its rights"):
        choose("landlock")


def test_a_trial_that_ends_without_an_answer_has_not_shown_that_a_level_holds(monkeypatch):
    monkeypatch.setattr(levels, "trial_problem", lambda *_: os._exit(0))
    with pytest.raises(IsolationUnavailable, match="the trial ended unexpectedly"):
        choose("landlock")


def test_without_bubblewrap_the_next_level_says_why_it_is_not_the_first(monkeypatch):
    warm_or_skip("landlock")
    monkeypatch.setenv("PATH", "/nowhere")
    level = choose()
    assert level.name == "landlock"
    assert "bubblewrap (the program bwrap) is not installed" in level.reason


def test_a_bubblewrap_that_fails_is_quoted(monkeypatch):
    place = tempfile.TemporaryDirectory()
    Path(place.name).chmod(0o755)
    fake = Path(place.name, "bwrap")
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place.name}:/usr/bin:/bin")
    with place, pytest.raises(IsolationUnavailable, match="No permissions to create new namespace"):
        choose("bwrap")


def test_where_user_namespaces_are_used_up_the_reason_says_so():
    warm_or_skip("bwrap")
    if os.geteuid() != 0:
        pytest.skip("only root can forbid itself namespaces")

    def refusal():
        kernel.unshare(kernel.CLONE_NEWUSER)
        with open("/proc/sys/user/max_user_namespaces", "w") as most:
            most.write("0")
        return bwrap_problem()

    assert "max_user_namespaces is 0" in forked(refusal)


def bwrap_problem():
    try:
        choose("bwrap")
    except IsolationUnavailable as problem:
        return str(problem)
    return "there is nothing wrong"


def test_an_unknown_level_is_refused_with_the_ones_there_are():
    with pytest.raises(IsolationUnavailable, match="best, bwrap, landlock or none"):
        choose("docker")


def test_the_options_of_this_bubblewrap_are_read_from_its_help():
    warm_or_skip("bwrap")
    known = bwrap.options_of(bwrap.program())
    assert {"--ro-bind", "--unshare-user", "--seccomp"} <= known
