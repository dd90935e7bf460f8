"""The students' repository holds what students need, and no solution; what others put there stays."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.making.leaks import lines_of_answers, lines_of_hidden_checks, secret_lines
from autograder.making.publish import NotPublished, implemented, publish, secrets
from autograder.making.release import release
from autograder.source.loading import load, names

REPOSITORY = Path(__file__).parents[2]
NAME = "mini_homework"
PLANTED = ["heron", "pelican", "albatross", "cormorant"]  # solution, hidden check, misconception, rubric


@pytest.fixture(scope="module")
def released(tmp_path_factory, lay_out):
    """A course with a package, a lecture and a released homework."""
    course = lay_out(tmp_path_factory.mktemp("course"))
    shutil.copy(REPOSITORY / "LICENSE", course)
    (course / "course" / "__init__.py").write_text('"""What students install."""\n')
    cells = [{"cell_type": "markdown", "source": "# Numbers", "metadata": {}}]
    (course / "lectures" / "01_numbers.ipynb").write_text(json.dumps({"cells": cells}))
    release(course, NAME)
    return course


@pytest.fixture
def course(released, tmp_path):
    """A copy of it, free to be spoiled."""
    return Path(shutil.copytree(released, tmp_path / "teacher"))


@pytest.fixture
def students(tmp_path):
    return tmp_path / "students"


def texts(folder):
    """Path → text of every file in a folder."""
    paths = [path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


def test_students_get_the_package_the_homework_the_lectures_and_nothing_else(course, students):
    publish(course, students)
    published = set(texts(students)) - {f"course/checks/fingerprints/{NAME}.json"}
    assert published == {
        ".gitignore",
        "AGENTS.md",
        ".published.json",
        "LICENSE",
        "README.md",
        "course/__init__.py",
        f"homeworks/{NAME}/{NAME}.ipynb",
        "lectures/01_numbers.ipynb",
        "pyproject.toml",
    }


def test_nothing_secret_is_published_and_every_secret_was_there_to_be_found(course, students):
    publish(course, students)
    source = "".join(path.read_text() for path in (course / "solutions" / NAME).glob("*.py"))
    assert [word for word in PLANTED if word in source] == PLANTED
    outside = [text for name, text in texts(students).items() if "fingerprints" not in name]
    assert [word for word in PLANTED if any(word in text for text in outside)] == []


def test_what_is_published_can_be_installed_and_brings_no_grader(course, students):
    publish(course, students)
    made = tomllib.loads((students / "pyproject.toml").read_text())
    stated = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    address = {name: stated["tool"]["course"][name] for name in ("repository", "ref")}
    assert made["tool"]["course"] == address  # the site is the instructors'
    assert made["project"]["dependencies"] == stated["project"]["dependencies"]
    assert made["tool"]["setuptools"]["packages"]["find"]["include"] == ["course*"]
    assert "scripts" not in made["project"]
    assert set(made["project"]["optional-dependencies"]) == {"notebooks", "validate"}
    assert all(made["project"]["optional-dependencies"].values())


def test_the_readme_names_each_notebook_and_opens_it_in_colab(course, students):
    publish(course, students)
    readme = (students / "README.md").read_text()
    assert "[Numbers](lectures/01_numbers.ipynb)" in readme
    assert f"/blob/v0.1.0/homeworks/{NAME}/{NAME}.ipynb)" in readme


def test_assistants_are_asked_to_tutor_and_not_to_write_the_answer(course, students):
    publish(course, students)
    agents = (students / "AGENTS.md").read_text()
    assert f"`homeworks/{NAME}/{NAME}.ipynb`" in agents
    assert "leave the writing to them" in agents
    assert not {"{", "}"} & set(agents)


def hidden_line(course):
    return next(line for line, _ in lines_of_hidden_checks(load(course / "solutions" / NAME)))


def a_solution_in_the_release(course, students):
    path = course / "homeworks" / NAME / f"{NAME}.ipynb"
    content = json.loads(path.read_text())
    solution = (course / "solutions" / NAME / f"{NAME}.py").read_text()
    region = solution.partition("### BEGIN SOLUTION\n")[2].partition("### END")[0]
    content["cells"][0]["source"] = region
    path.write_text(json.dumps(content))
    return "holds a line of the solution of moving_average"


def a_hidden_check_in_the_package(course, students):
    (course / "course" / "notes.py").write_text(f"def f():\n    {hidden_line(course)}\n")
    return r"course/notes\.py holds a line of the hidden check"


def a_hidden_check_in_a_lecture(course, students):
    cells = [{"cell_type": "code", "source": f"x = 1\n{hidden_line(course)}", "metadata": {}, "outputs": []}]
    (course / "lectures" / "01_numbers.ipynb").write_text(json.dumps({"cells": cells}))
    return r"lectures/01_numbers\.ipynb holds a line of the hidden check"


def answers(source, kind):
    """The lines of one kind of answer, as a person would copy them."""
    return "\n".join(line for line, origin in secret_lines(source) if origin.startswith(kind))


def answers_in_a_lecture(course, students):
    source = answers(load(course / "solutions" / NAME), "the solution of")
    cells = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []}]
    (course / "lectures" / "01_numbers.ipynb").write_text(json.dumps({"cells": cells}))
    return rf"lectures/01_numbers\.ipynb holds \d+ lines of {NAME}'s answers"


def misconceptions_in_the_package(course, students):
    shutil.copy(course / "solutions" / NAME / "misconceptions.py", course / "course")
    return rf"course/misconceptions\.py holds \d+ lines of {NAME}'s answers"


def an_answer_in_what_the_course_says_of_itself(course, students):
    path = course / "pyproject.toml"
    said = tomllib.loads(path.read_text())["project"]["description"]
    line = next(iter(lines_of_answers(load(course / "solutions" / NAME))["the solution of"]))
    path.write_text(path.read_text().replace(json.dumps(said), json.dumps(line)))
    return rf"README\.md holds a line of {NAME}'s answers, such as one of .*{re.escape(line)}"


def a_source_beside_the_release(course, students):
    shutil.copy(course / "solutions" / NAME / "misconceptions.py", course / "homeworks" / NAME)
    return r"misconceptions\.py does not belong in a release"


def solutions_in_the_folder(course, students):
    (students / "solutions").mkdir(parents=True)
    return "solutions exists, and is not for students"


def solutions_in_the_history(course, students):
    git = ["git", "-C", str(students), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    (students / "solutions").mkdir(parents=True)
    (students / "solutions" / "a.py").write_text("answer = 42\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"], ["rm", "-rq", "solutions"]):
        subprocess.run([*git, *words], check=True)
    subprocess.run([*git, "commit", "-qm", "without"], check=True)
    return "the git history of .* contains solutions"


@pytest.mark.parametrize(
    "spoil",
    [
        a_solution_in_the_release,
        a_hidden_check_in_the_package,
        a_hidden_check_in_a_lecture,
        answers_in_a_lecture,
        misconceptions_in_the_package,
        an_answer_in_what_the_course_says_of_itself,
        a_source_beside_the_release,
        solutions_in_the_folder,
        solutions_in_the_history,
    ],
)
def test_what_students_must_not_have_is_refused_before_anything_is_written(spoil, course, students):
    said = spoil(course, students)
    before = texts(students)
    with pytest.raises(NotPublished, match=said):
        publish(course, students)
    assert texts(students) == before


@pytest.mark.parametrize("homework", names(REPOSITORY))
@pytest.mark.parametrize("kind", ["the solution of", "misconceptions", "alternatives"])
@pytest.mark.parametrize("place", ["course/notes.py", "lectures/01_numbers.ipynb", "AGENTS.md"])
def test_a_whole_homeworks_answers_are_found_in_every_place(homework, kind, place):
    source = load(REPOSITORY / "solutions" / homework)
    content = answers(source, kind)
    notebook = json.dumps({"cells": [{"source": content}]})
    said = [*secrets([source], {place: (notebook if "ipynb" in place else content).encode()})]
    assert any(f"{place} holds" in one and f"{homework}'s answers" in one for one in said)


@pytest.mark.parametrize("place", [".", "homeworks", ".."])
def test_a_folder_that_is_not_apart_from_the_course_is_refused(place, course):
    with pytest.raises(NotPublished, match="overlaps with"):
        publish(course, course / place)


def test_what_is_not_released_is_not_published(course, students):
    shutil.rmtree(course / "homeworks")
    with pytest.raises(NotPublished, match="No homework is released yet"):
        publish(course, students)
    with pytest.raises(NotPublished, match=f"Run `autograder release {NAME}`"):
        publish(course, students, [NAME])


def test_publishing_again_renews_its_own_files_and_leaves_those_of_others(course, students):
    publish(course, students)
    (students / "syllabus.md").write_text("Mondays at ten.\n")
    (students / "README.md").write_text("Our own words.\n")
    (course / "course" / "__init__.py").write_text('"""Renewed."""\n')
    (course / "lectures" / "01_numbers.ipynb").unlink()
    done = publish(course, students)
    assert done.written == ("course/__init__.py",)
    assert done.removed == ("lectures/01_numbers.ipynb",)
    assert done.kept == ("README.md",)
    found = texts(students)
    assert found["syllabus.md"] == "Mondays at ten.\n"
    assert found["README.md"] == "Our own words.\n"
    assert found["course/__init__.py"] == '"""Renewed."""\n'
    assert "lectures/01_numbers.ipynb" not in found


def test_a_persons_file_stays_a_persons_when_it_is_published_a_third_time(course, students):
    publish(course, students)
    (students / "README.md").write_text("Our own words.\n")
    publish(course, students)
    assert publish(course, students).kept == ("README.md",)
    assert (students / "README.md").read_text() == "Our own words.\n"


def test_whoever_would_publish_where_the_solutions_are_is_warned(course, students, capsys):
    for words in (
        ["init", "-q"],
        ["remote", "add", "origin", "git@github.com:language-models-from-scratch/course.git"],
    ):
        subprocess.run(["git", *words], cwd=course, check=True)
    assert main(["publish", str(students), "--root", str(course)]) == 0
    out = capsys.readouterr().out
    assert "which is where this checkout with its solutions comes from" in out
    assert "push --force origin refs/tags/v0.1.0" in out


def test_instructors_are_told_how_much_the_package_answers():
    [said] = implemented([load(REPOSITORY / "solutions" / "hw5_transformer")])
    assert said.startswith("The course package implements what ")
    assert list(implemented([load(REPOSITORY / "tests" / "autograder" / NAME)])) == []
