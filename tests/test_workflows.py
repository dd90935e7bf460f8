"""Continuous integration runs what the Makefile promises, and nothing is skipped in silence."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FLOWS = {path.name: path for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}
MAKEFILE = (ROOT / "Makefile").read_text()
ONLY_ROOT = re.compile(r'skip.*"only root|def small_disk', re.MULTILINE)


def flow(name):
    return yaml.safe_load(FLOWS[name].read_text())


def steps(name):
    return [step for job in flow(name)["jobs"].values() for step in job["steps"]]


def recipe(target):
    return re.search(rf"^{target}: .*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)[1].splitlines()


@pytest.mark.parametrize("name", FLOWS)
def test_every_job_ends_by_itself(name):
    assert all(job["timeout-minutes"] <= 350 for job in flow(name)["jobs"].values())


@pytest.mark.parametrize("name", FLOWS)
def test_every_job_installs_the_torch_of_the_containers_and_keeps_packages(name):
    [index] = re.findall(r"^ARG TORCH_INDEX=(\S+)$", (ROOT / "deploy" / "Containerfile").read_text(), re.M)
    assert flow(name)["env"]["PIP_EXTRA_INDEX_URL"] == index
    pythons = [
        step["with"] for step in steps(name) if step.get("uses", "").startswith("actions/setup-python@")
    ]
    assert len(pythons) == len(flow(name)["jobs"])
    for python in pythons:
        assert python["cache"] == "pip"
        paths = python["cache-dependency-path"].split()
        assert paths
        assert [path for path in paths if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize("target", ["nightly", "browser", "colab", "site", "test", "lectures", "solutions"])
def test_every_long_target_is_run(target):
    scripts = [step.get("run", "") for name in FLOWS for step in steps(name)]
    assert "bash .ci/run" in scripts
    whole = "\n".join([*scripts, (ROOT / ".ci" / "run").read_text()])
    assert re.search(rf"^make {target}\b", whole, re.MULTILINE)


def test_what_runs_every_night_says_what_it_skips():
    assert "-rs" in flow("nightly.yml")["env"]["PYTEST_ADDOPTS"]
    assert flow("nightly.yml")[True]["schedule"]  # YAML takes `on` for a truth value


def of_the_strongest():
    """The job's script, and the files and folders of tests that it runs."""
    [script] = [step["run"] for step in steps("test.yml") if "pytest" in step.get("run", "")]
    return script, [ROOT / path for path in re.findall(r"tests/[\w/.]+", script)]


def test_what_only_root_can_do_is_done_by_root():
    """A class on a hub, too, but every night."""
    script, places = of_the_strongest()
    assert all(place.exists() for place in places)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if path.parent.name != "hub" and ONLY_ROOT.search(path.read_text()) and path != Path(__file__):
            assert any(path.is_relative_to(place) for place in places), path
    roles = flow("test.yml")["jobs"]["strongest"]["strategy"]["matrix"]["include"]
    assert [role["who"] for role in roles if role["as"].startswith("sudo")] == ["root"]
    assert [role["who"] for role in roles if not role["as"].startswith("sudo")] == ["ordinary"]
    assert script.splitlines()[-1] == "${{ matrix.check }}"
    assert {role["who"]: ".ci/skips.py root" in role["check"] for role in roles} == {
        "root": True,
        "ordinary": False,
    }
    assert all("bwrap" in role["check"] for role in roles if role["who"] == "ordinary")


ALL = "3 tests/a.py: no disk\n1 tests/b.py: whole file\n"
LOG = """
SKIPPED [2] tests/a.py:7: no disk
SKIPPED [1] tests/a.py:9: no disk
SKIPPED [1] tests/b.py: whole file
{passed}
"""


@pytest.mark.parametrize(
    ("allowed", "passed", "said"),
    [
        (ALL, "5 passed, 4 skipped", ""),
        (ALL.replace("3", "2"), "5 passed, 4 skipped", "1 skipped beyond the 2"),
        (ALL.partition("1")[0], "5 passed, 4 skipped", "1 skipped beyond the 0 that may be: tests/b.py"),
        (ALL, "4 skipped", "nothing was tested"),
    ],
)
def test_what_is_skipped_beyond_what_may_be_fails(tmp_path, allowed, passed, said):
    shutil.copy(ROOT / ".ci" / "skips.py", tmp_path)
    (tmp_path / "skips-root.txt").write_text(allowed)
    (tmp_path / "log").write_text(LOG.format(passed=passed))
    words = [sys.executable, tmp_path / "skips.py", "root", tmp_path / "log"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode != 0) == bool(said)
    assert said in done.stdout


def test_what_may_be_skipped_is_in_a_file_that_is_there():
    lines = (ROOT / ".ci" / "skips-root.txt").read_text().splitlines()
    assert lines
    for line in lines:
        count, file, _ = re.fullmatch(r"(\d+) (\S+): (.*)", line).groups()
        assert int(count) > 0
        assert (ROOT / file).is_file()


def test_the_last_thing_that_make_test_does_is_to_look_at_the_figures():
    assert recipe("test")[-1].split()[-1] == "lint-figures"


@pytest.mark.parametrize(
    ("ci", "run", "status", "said"),
    [
        ("exit 1", "exit 1", 0, "npm could not install eslint"),
        ("exit 0", "exit 1", 2, ""),
        ("exit 0", "exit 0", 0, ""),
        (None, None, 0, "npm is not installed"),
    ],
    ids=["no network", "a mistake", "none", "no npm"],
)
def test_a_mistake_in_a_figure_fails_and_a_missing_network_does_not(tmp_path, ci, run, status, said):
    for name in ("Makefile", "package.json", "package-lock.json"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "bin").mkdir()
    for name in ("make", "sh", "touch", "grep"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    if ci is not None:
        npm = tmp_path / "bin" / "npm"
        npm.write_text(f'#!/bin/sh\nif [ "$1" = ci ]; then {ci}; else {run}; fi\n')
        npm.chmod(0o755)
    words = ["make", "--no-print-directory", "lint-figures"]
    done = subprocess.run(
        words, cwd=tmp_path, env=os.environ | {"PATH": f"{tmp_path}/bin"}, capture_output=True, text=True
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert said in done.stdout
