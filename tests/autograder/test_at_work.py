"""Graders of several accounts work in one folder together; `forget` works there alone."""

import os

import pytest

from autograder.marks.at_work import FILE, AtWork, alone, together

NOBODY = 65534


def held_by_another(hold, root):
    """Whether a process of another account can hold it."""
    if (child := os.fork()) == 0:
        status = 2
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            with hold(root):
                status = 0
        except AtWork:
            status = 1
        finally:
            os._exit(status)
    return {0: True, 1: False}[os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])]


def test_graders_hold_it_together_and_forget_alone(tmp_path):
    with together(tmp_path), together(tmp_path), pytest.raises(AtWork, match="Nothing was deleted"):
        alone(tmp_path).__enter__()
    with alone(tmp_path), pytest.raises(AtWork, match="try again after it"):
        together(tmp_path).__enter__()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another account")
def test_accounts_share_it(course_folder):
    for folder in (course_folder, *course_folder.parents[:3]):
        folder.chmod(0o755)
    with together(course_folder):
        assert os.stat(course_folder / "grades" / FILE).st_uid == 0
        assert held_by_another(together, course_folder)
        assert not held_by_another(alone, course_folder)
    assert held_by_another(alone, course_folder)
