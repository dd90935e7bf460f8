"""A homework in parts is the homework in one file, and what is wrong with it is named where it stands."""

import traceback

import pytest

from autograder.checking.examine import run_checks
from autograder.checking.versions import exercise_versions, made_from
from autograder.making.build import build
from autograder.making.new import CannotBegin, new
from autograder.making.products import build_homework
from autograder.making.release import release
from autograder.nbgrader.judge import plan_of
from autograder.source.address import Address
from autograder.source.loading import load, names
from autograder.source.notebook import SourceError, to_json
from autograder.source.parts import source_files
from course.checks import LocalLink

NAME = "mini_homework"
BEGINNINGS = {  # the first line of each part
    "0_introduction": "# %% [markdown]",
    "a_averages": '# %% [markdown] exercise="moving_average"',
    "b_words": "# %% [markdown]\n# ## 2. In words",
}


def cut(folder):
    """Write NAME.py as parts instead; a part is found by how it begins."""
    path = folder / f"{folder.name}.py"
    text = path.read_text()
    starts = [text.index(beginning) for beginning in BEGINNINGS.values()]
    (folder / "parts").mkdir()
    for name, start, end in zip(BEGINNINGS, starts, [*starts[1:], len(text)], strict=True):
        (folder / "parts" / f"{name}.py").write_text(text[start:end].rstrip() + "\n")
    path.unlink()
    return folder / "parts"


@pytest.fixture
def parts(mini):
    """The folder of the parts of mini_homework."""
    return cut(mini)


def essence(folder):
    """All that is made of a homework and does not say where a line stands."""
    homework = load(folder)
    cells = [(cell.kind, cell.source, cell.labels) for cell in homework.cells]
    notebook = to_json(build_homework(homework, Address("https://github.com/somewhere/else", "v9")))
    return cells, notebook, exercise_versions(homework), made_from(homework)


def test_joined_parts_are_the_one_file(mini):
    before = essence(mini)
    parts = cut(mini)
    assert [path.name for path in source_files(mini)] == [f"{name}.py" for name in BEGINNINGS]
    assert essence(mini) == before
    (parts / "a_averages.py").rename(parts / "a1_averages.py")
    (parts / "b_words.py").rename(parts / "a2_words.py")
    assert essence(mini) == before


def test_a_homework_in_parts_is_one_of_those_there_are(parts, course_folder):
    assert names(course_folder) == [NAME]
    with pytest.raises(CannotBegin, match="exists already"):
        new(NAME, course_folder)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("b_words", "c_words", r"c_words\.py has no part B before it"),
        ("a_averages", "c_averages", r"b_words\.py has no part A before it"),
        ("0_introduction", "c_introduction", r"a_averages\.py has no introduction before it"),
        ("b_words", "a_words", r"a_averages\.py, a_words\.py: the pieces of one part are numbered a1_, a2_"),
        ("b_words", "a1_words", r"a1_words\.py, a_averages\.py: the pieces of one part are numbered"),
        ("b_words", "b2_words", r"b2_words\.py: the pieces of one part are numbered b1_"),
        ("b_words", "B_words", r"B_words\.py is not named like a part"),
        ("b_words", "words", r"words\.py is not named like a part"),
        ("b_words", "../mini_homework", r"contains both mini_homework\.py and parts"),
    ],
)
def test_parts_that_are_not_one_whole_are_refused(mini, parts, old, new, complaint):
    (parts / f"{old}.py").rename(parts / f"{new}.py")
    with pytest.raises(SourceError, match=complaint):
        load(mini)


@pytest.mark.parametrize("letter", ["A", "C"])
def test_a_part_out_of_order_is_named_with_its_file_and_line(mini, parts, edit, letter):
    edit(parts / "b_words.py", "# ## 2. In words", "# ## Part B. In words")
    assert len(load(mini).written) == 1
    edit(parts / "b_words.py", "Part B", f"Part {letter}")
    with pytest.raises(SourceError, match=rf"b_words\.py, line 2: Part {letter} begins in a file of another"):
        load(mini)


def test_a_part_without_a_cell_is_refused(mini, parts):
    (parts / "b_words.py").write_text("# nothing\n")
    with pytest.raises(SourceError, match=r"b_words\.py has no cell"):
        load(mini)


@pytest.mark.parametrize(
    ("old", "new", "line", "complaint"),
    [
        ('check="averages_are_right"', 'chek="averages_are_right"', '# %% chek="av', "no label called chek"),
        ('solution="moving_average"', 'solution="average"', "def moving_average(", "is below moving"),
    ],
)
def test_an_error_names_the_part_and_its_line(mini, parts, edit, old, new, line, complaint):
    path = parts / "a_averages.py"
    edit(path, old, new)
    lines = path.read_text().splitlines()
    number = next(at for at, text in enumerate(lines, 1) if text.startswith(line))
    with pytest.raises(SourceError, match=rf"a_averages\.py, line {number}\b.*{complaint}"):
        load(mini)


def test_a_cell_that_cannot_be_built_is_named_with_its_part(mini, parts, edit):
    edit(parts / "b_words.py", 'written="why_smooth"', f'written="{"w" * 65}"')
    with pytest.raises(SourceError, match=r"b_words\.py, line 5: w+ is longer than 64 characters"):
        build_homework(load(mini), Address("https://github.com/somewhere/else", "v9"))


def last_place(error):
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return frame.filename, frame.line


@pytest.mark.parametrize("part", ["0_introduction", "b_words"])
def test_a_traceback_names_the_part_and_its_line(mini, parts, part):
    path = parts / f"{part}.py"
    path.write_text(path.read_text() + '\n# %% provided="broken"\n1 / 0\n')
    with pytest.raises(ZeroDivisionError) as caught:
        load(mini).namespace()
    assert last_place(caught.value) == (str(path), "1 / 0")


def test_a_claim_that_stops_is_traced_to_its_part(mini, parts, edit):
    edit(parts / "a_averages.py", "    pelican_values =", "    1 / 0\n    pelican_values =")
    homework = load(mini)
    link = LocalLink({"moving_average": lambda values, width: values})
    [done] = run_checks(homework, link, seed=0, only={"averages_are_right_for_any_width"})
    assert last_place(done.problem) == (str(parts / "a_averages.py"), "1 / 0")


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        ("0_introduction", "assert_close, assert_equal", "assert_close, assert_equal  # here"),
        ("a_averages", "heron_starts", "egret_starts"),
        ("a_averages", "pelican_values", "gannet_values"),
    ],
)
def test_an_edit_in_any_part_is_graded_anew(mini, parts, edit, part, old, new):
    before = exercise_versions(load(mini))
    edit(parts / f"{part}.py", old, new)
    assert exercise_versions(load(mini)) != before


def test_what_bears_on_no_verdict_is_not_graded_anew_wherever_it_stands(mini, parts, edit):
    before = exercise_versions(load(mini))
    edit(parts / "b_words.py", "Why does", "Why, then, does")
    (parts / "b_words.py").rename(parts / "b_in_words.py")
    assert exercise_versions(load(mini)) == before
    (parts / "table.csv").write_text("1,2\n")
    assert exercise_versions(load(mini)) != before


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        ("0_introduction", "# # Averages", "# # Means"),
        ("a_averages", "Average each window", "Take the mean of each window"),
        ("b_words", "Why does", "Why, then, does"),
    ],
)
def test_an_edit_in_any_part_makes_what_is_made_of_it_out_of_date(course_folder, parts, edit, part, old, new):
    build(course_folder, [NAME])
    assert build(course_folder, [NAME], check=True) == []
    edit(parts / f"{part}.py", old, new)
    assert parts.parent / f"{NAME}.ipynb" in build(course_folder, [NAME], check=True)


def test_a_running_server_takes_in_an_edit_in_any_part(course_folder, parts, edit, monkeypatch):
    build(course_folder, [NAME])
    monkeypatch.chdir(course_folder)
    resources = {"nbgrader": {"assignment": NAME}}
    before = plan_of(resources)
    assert plan_of(resources) is before
    edit(parts / "a_averages.py", "heron_starts", "egret_starts")
    assert "egret_starts" in plan_of(resources).homework.exercise("moving_average").solution


def test_no_part_is_released(course_folder, parts):
    released = release(course_folder, NAME)
    assert [str(path.relative_to(released)) for path in released.rglob("*")] == [f"{NAME}.ipynb"]
    assert "heron" not in (released / f"{NAME}.ipynb").read_text()
