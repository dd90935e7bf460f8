"""`autograder doctor` says what was tried, what would help, and fails where nothing keeps student code in."""

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder import doctor
from autograder.cli import main
from autograder.doctor import (
    CONTAINER,
    ELSEWHERE,
    INSTALL,
    INSTALL_KERNEL,
    NEWER_KERNEL,
    SWITCH_ON,
    Machine,
    examine,
    kernel,
)
from autograder.isolation import IsolationUnavailable
from autograder.isolation.levels import OBSTACLES, attempt
from autograder.isolation.room import student_room, what_a_submission_sees

ROOT = Path(__file__).parents[2]


def broken(*levels):
    return lambda level: "it failed" if level in levels else None


def test_a_machine_on_which_all_works_lacks_nothing():
    found = examine(Machine(is_container=True, obstacles=(0,)), broken())
    assert found.best == "bwrap"
    assert found.remedies == {}


def test_the_next_level_is_used_where_the_best_fails():
    assert examine(Machine(), broken("bwrap")).best == "landlock"
    assert examine(Machine(), broken("bwrap", "landlock")).best is None


@pytest.mark.parametrize(
    ("level", "machine", "remedy"),
    [
        ("bwrap", Machine(bwrap=None), INSTALL),
        ("bwrap", Machine(is_container=True), CONTAINER),
        ("bwrap", Machine(system="darwin"), ELSEWHERE),
        ("landlock", Machine(kernel=(5, 10), landlock=0), NEWER_KERNEL),
        ("landlock", Machine(kernel=(6, 1), landlock=0), SWITCH_ON),
        ("landlock", Machine(system="win32"), ELSEWHERE),
    ],
)
def test_what_is_missing_is_what_the_facts_say(level, machine, remedy):
    assert examine(machine, broken(level)).remedies[level] == (remedy,)


@pytest.mark.parametrize("place", range(len(OBSTACLES)))
def test_every_setting_that_forbids_namespaces_has_a_remedy_of_its_own(place):
    said = examine(Machine(obstacles=(place,)), broken("bwrap")).remedies["bwrap"]
    assert said == (doctor.ALLOWANCES[place],)
    assert len(doctor.ALLOWANCES) == len(OBSTACLES)


def test_without_facts_nothing_is_guessed():
    assert examine(Machine(), broken("bwrap", "landlock")).remedies == {"bwrap": (), "landlock": ()}


def test_kernel_versions_are_compared_as_numbers():
    assert doctor.kernel_version("5.9.16-200.fc33.x86_64") < doctor.kernel_version("5.13.0")


def test_the_page_names_the_problem_and_the_remedy():
    said = doctor.in_words(examine(Machine(bwrap=None), broken("bwrap"))).splitlines()
    place = next(at for at, line in enumerate(said) if "bwrap     does not work: it failed" in line)
    assert INSTALL in said[place + 1]
    assert said[-1] == "Grading here uses landlock."


def test_the_page_lists_what_a_submission_sees_from_this_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = doctor.in_words(examine(Machine(), broken())).splitlines()
    place = said.index("What a submission sees of this machine:")
    listed = said[place + 1 : said.index("", place)]
    assert listed == [f"  {line}" for line in what_a_submission_sees(student_room())]
    assert any(line.startswith(f"  {Path(sys.prefix).resolve()}, to read") for line in listed)
    assert any(str(tmp_path) in line for line in listed)


def test_resources_are_a_list_before_the_verdict():
    said = doctor.in_words(examine(Machine(), broken()), ["2 cores", "no driver"]).splitlines()
    assert said[-5:] == ["Resources:", "  2 cores", "  no driver", "", "Grading here uses bwrap."]


def test_the_driver_is_named_where_there_is_one(tmp_path):
    assert doctor.build_of_torch(tmp_path / "none").endswith("; no NVIDIA driver")
    (tmp_path / "version").write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.1\nGCC\n")
    assert doctor.build_of_torch(tmp_path / "version").endswith(
        "; NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.1"
    )


@pytest.mark.parametrize(
    ("left_out", "done"),
    [([], "everything"), (["a backward pass (cuda0)"], "everything but a backward pass (cuda0)")],
)
def test_what_the_warm_process_leaves_out_is_said(monkeypatch, left_out, done):
    @contextmanager
    def warm(level):
        yield SimpleNamespace(left_out=left_out)

    monkeypatch.setattr(doctor, "Warm", warm)
    assert doctor.warm_process("bwrap").endswith(f" that has prepared {done}")


def test_a_warm_process_that_does_not_start_says_why(monkeypatch):
    def warm(level):
        raise IsolationUnavailable("it has 2 threads")

    monkeypatch.setattr(doctor, "Warm", warm)
    assert doctor.warm_process("bwrap") == "submissions cannot be started: it has 2 threads"


def test_the_exit_status_follows_what_was_really_tried(capsys):
    works = [level for level in doctor.CONFINED if attempt(level) is None]
    assert main(["doctor"]) == (0 if works else 1)
    said = capsys.readouterr().out
    assert all(f"{level:9} works" in said for level in works[:1])
    assert ("forked from a single-threaded process" in said) == bool(works)


def test_where_nothing_works_the_exit_status_says_so(capsys, monkeypatch):
    monkeypatch.setattr(doctor.examine, "__defaults__", (broken("bwrap", "landlock"),))
    assert main(["doctor"]) == 1
    assert capsys.readouterr().out.endswith("so grading will not start.\n")


def test_the_kernel_is_found_once_it_is_installed_as_the_sentence_says(tmp_path, monkeypatch):
    for places in ("ENV_JUPYTER_PATH", "SYSTEM_JUPYTER_PATH"):
        monkeypatch.setattr(f"jupyter_core.paths.{places}", [])
    assert kernel() == f"not installed; `{INSTALL_KERNEL}`"
    _, *words = [word for word in INSTALL_KERNEL.split() if word != "--sys-prefix"]
    command = [sys.executable, "-m", "jupyter", *words, "--prefix", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share" / "jupyter"))
    assert Path(kernel()) == tmp_path / "share" / "jupyter" / "kernels" / "autograder"


def test_what_make_installs_has_the_kernel():
    _, _, options = INSTALL_KERNEL.partition(" install ")
    assert f"jupyter kernelspec install --log-level=WARN {options}\n" in (ROOT / "Makefile").read_text()
