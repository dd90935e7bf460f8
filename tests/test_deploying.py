"""What is in `deploy/` fits the program: commands, extras, versions; and no solution is in an image."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from test_repository import PROJECT, ROOT

from autograder.cli import VERBS, parser
from autograder.doctor import CONTAINER
from autograder.marks.database import with_driver
from autograder.serving.settings import read_settings

DEPLOY = ROOT / "deploy"
CONTAINERFILE = (DEPLOY / "Containerfile").read_text()
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
VALUES = yaml.safe_load((DEPLOY / "hub-values.yaml").read_text())
PAGE = (ROOT / "site" / "deploying.md").read_text()
OURS = ("pages", "grader")


def copied():
    """What the Containerfile takes from this repository."""
    lines = [line.split()[1:-1] for line in CONTAINERFILE.splitlines() if line.startswith("COPY ")]
    return [path for paths in lines if not paths[0].startswith("--from") for path in paths]


def test_only_what_students_may_see_and_the_grader_are_copied_into_an_image():
    assert copied()
    assert {path.partition("/")[0] for path in copied()} <= {
        *("constraints.txt", "pyproject.toml", "README.md", "LICENSE"),
        *("course", "autograder"),
    }
    assert all((ROOT / path).exists() for path in copied())


def test_what_is_installed_is_in_the_project():
    extras = re.search(r'"/tmp/course\[(.*?)\]"', CONTAINERFILE).group(1).split(",")
    assert {*extras} <= PROJECT["optional-dependencies"].keys()
    assert {"serve", "postgresql", "instructor"} <= {*extras}


def test_a_container_is_built_of_a_target_that_there_is():
    targets = set(re.findall(r"^FROM .* AS (\w+)$", CONTAINERFILE, re.M))
    assert targets == {"grader", "student"}
    assert {COMPOSE["services"][name]["build"]["target"] for name in OURS} <= targets
    assert all(f"--target {name}" in CONTAINERFILE for name in targets)


def typed():
    """Every command of the course in these files and on their page."""
    yield from (COMPOSE["services"][name]["command"] for name in OURS)
    yield re.search(r"^CMD (\[.*\])$", CONTAINERFILE, re.M).group(1).strip('[]"').split('", "')
    for line in re.findall(r"(?:run --rm grader|^)\s*(autograder [^#`\n]*)", PAGE, re.M):
        yield shlex.split(line)
    for line in re.findall(r"`(autograder [^`]*)`", PAGE):
        yield shlex.split(line)


@pytest.mark.parametrize("words", [*typed()], ids=" ".join)
def test_every_command_exists_with_its_options(words):
    assert words[0] == "autograder"
    parser(VERBS).parse_args(words[1:])


def test_the_pages_listen_where_the_tls_server_asks():
    command = COMPOSE["services"]["pages"]["command"]
    assert command[command.index("--host") + 1] == "0.0.0.0"
    port = command[command.index("--port") + 1]
    assert f"reverse_proxy pages:{port}" in (DEPLOY / "Caddyfile").read_text()


def test_settings_on_the_page_are_read_and_name_the_database_that_there_is(tmp_path):
    [block] = re.findall(r"```toml\n(.*?)```", PAGE, re.S)
    (tmp_path / "serve.toml").write_text(block)
    found = read_settings(tmp_path)
    grader, db = COMPOSE["services"]["grader"], COMPOSE["services"]["db"]["environment"]
    assert found.is_encrypted
    assert found.database == grader["environment"]["GRADEBOOK_URL"]
    assert found.database == f"postgresql://{db['POSTGRES_USER']}@db/{db['POSTGRES_DB']}"
    assert with_driver(found.database).startswith("postgresql+psycopg://")
    assert f"db:5432:{db['POSTGRES_DB']}:{db['POSTGRES_USER']}:" in PAGE


def test_only_the_tls_server_is_reached_from_outside_and_everything_has_limits():
    services = COMPOSE["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["tls"]
    assert COMPOSE["networks"]["inside"]["internal"] is True
    assert services["grader"]["networks"] == ["inside"]
    assert all("mem_limit" in service for service in services.values())
    for name in OURS:
        assert services[name]["cap_drop"] == ["ALL"]
        assert services[name]["read_only"] is True


def test_the_grader_gets_what_doctor_asks_for():
    asked = set(re.findall(r"--security-opt (\S+)", CONTAINER))
    assert {*COMPOSE["services"]["grader"]["security_opt"]} == {*asked, "no-new-privileges:true"}
    assert all(f"--security-opt {option}" in PAGE for option in asked)


def test_versions_are_those_of_the_project_and_of_what_was_tried():
    assert VALUES["singleuser"]["image"]["tag"] == PROJECT["version"]
    assert f"course-student:{PROJECT['version']}" in PAGE
    tried = (ROOT / "site" / "tried_with.md").read_text()
    [major] = re.findall(r"postgres:(\d+)$", COMPOSE["services"]["db"]["image"])
    assert f"PostgreSQL {major};" in tried


def test_a_students_server_keeps_to_its_core_and_has_the_home_of_the_image():
    single = VALUES["singleuser"]
    assert single["extraEnv"]["OMP_NUM_THREADS"] == "1"
    assert f"WORKDIR {single['storage']['homeMountPath']}" in CONTAINERFILE
    command = single["lifecycleHooks"]["postStart"]["exec"]["command"]
    assert command[-2:] == ["/opt/students/.", f"{single['storage']['homeMountPath']}/"]
    assert "COPY --from=students . /opt/students/" in CONTAINERFILE


def test_what_is_copied_at_each_start_replaces_nothing_of_a_students(tmp_path):
    image, home = tmp_path / "image", tmp_path / "home"
    for folder, text in ((image, "as given out"), (home, "a student's work")):
        (folder / "hw").mkdir(parents=True)
        (folder / "hw" / "old.ipynb").write_text(text)
    (image / "hw" / "new.ipynb").write_text("as given out")
    *words, _, _ = VALUES["singleuser"]["lifecycleHooks"]["postStart"]["exec"]["command"]
    subprocess.run([*words, f"{image}/.", f"{home}/"], check=True)
    assert (home / "hw" / "old.ipynb").read_text() == "a student's work"
    assert (home / "hw" / "new.ipynb").read_text() == "as given out"


def test_the_page_names_the_files_that_there_are():
    there = {path.name for path in DEPLOY.iterdir() if path.is_file()}
    assert there == {"Containerfile", "compose.yaml", "Caddyfile", "hub-values.yaml"}
    assert {"compose.yaml", "hub-values.yaml", "deploy/Containerfile"} <= set(re.findall(r"[\w/.-]+", PAGE))
    assert Path(ROOT, "site", "tried_with.md").is_file()


def has_compose():
    words = ["docker", "compose", "version"]
    return shutil.which(words[0]) and subprocess.run(words, capture_output=True).returncode == 0


@pytest.mark.skipif(not has_compose(), reason="Docker Compose is not installed")
def test_compose_reads_its_file(tmp_path):
    for name in ("password", "pgpass"):
        (tmp_path / name).write_text("x")
    words = ["docker", "compose", "-f", str(DEPLOY / "compose.yaml"), "config", "--quiet"]
    named = {"COURSE_FOLDER": str(tmp_path), "COURSE_HOST": "course.example.edu"}
    subprocess.run(words, check=True, env={"PATH": "/usr/bin:/usr/local/bin", **named})
