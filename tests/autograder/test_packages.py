"""A catalogue's files import from one another and from the notebook, and what they import is handed in."""

import sys

import pytest
from grading import ROOT

from autograder.catalogue import CatalogueError
from autograder.checking.versions import made_from
from autograder.proving.verify import prove
from autograder.source.as_answer import as_answer
from autograder.source.homework import defined
from autograder.source.loading import find, load, names

WINDOWS = '''
"""What several mistakes need."""

def starts(values, width):
    return range(count(values, width))

def count(values, width):
    return len(values) - width + 1
'''
SHARED = '''
"""What goes wrong with moving averages."""

from autograder.catalogue import misconception

from .windows import starts
from ..notebook import moving_average as right, print_averages


@misconception(of="moving_average")
def sums(values, width):
    """The sums are not divided.

    How large is the average of seven ones?
    """
    return [sum(values[start : start + width]) for start in starts(values, width)]


@misconception(of="moving_average")
def width_is_four(values, width):
    """The width is always four.

    What happens when the width changes?
    """
    return right(values, 4)
'''
PROVIDED = """
# %% provided="printing"
def print_averages(averages):
    print(*averages)

# %% [markdown] exercise="moving"""


@pytest.fixture
def shared(mini, edit):
    """The small homework, whose mistakes are two files that share a helper and use the notebook."""
    edit(mini / "mini_homework.py", '\n# %% [markdown] exercise="moving', PROVIDED)
    folder = mini / "misconceptions"
    folder.mkdir()
    (mini / "misconceptions.py").unlink()
    (folder / "averages.py").write_text(SHARED)
    (folder / "windows.py").write_text(WINDOWS)
    return mini


def entry_of(homework, name):
    return next(entry for entry in homework.misconceptions if entry.name == name)


def test_a_file_uses_what_another_file_and_the_notebook_define(shared):
    homework = load(shared)
    assert entry_of(homework, "sums").thing([1, 2, 3], 2) == [3, 5]
    assert entry_of(homework, "width_is_four").thing([1, 2, 3, 6], 2) == [3]


def test_what_is_imported_belongs_to_the_homework_alone(shared):
    path, modules = [*sys.path], {*sys.modules}
    load(shared)
    assert sys.path == path
    own = str(shared).replace(".", "_")
    assert {name for name in sys.modules.keys() - modules if not name.startswith(own)} == set()


def test_a_change_of_what_is_imported_is_seen_by_the_next_who_loads(shared, edit):
    load(shared)
    edit(shared / "misconceptions" / "windows.py", "- width + 1", "- width")
    assert entry_of(load(shared), "sums").thing([1, 2, 3], 2) == [3]


def test_an_answer_holds_what_it_imports_from_another_file_and_not_what_the_notebook_has(shared):
    homework = load(shared)
    scope = {}
    text = as_answer(entry_of(homework, "sums"), homework)
    exec(text, scope)
    assert scope["moving_average"]([1, 2, 3], 2) == [3, 5]
    assert "import" not in text
    assert "What several mistakes need" not in text


def test_an_answer_that_builds_on_the_reference_holds_it_under_another_name(shared):
    homework = load(shared)
    scope = {}
    exec(as_answer(entry_of(homework, "width_is_four"), homework), scope)
    assert scope["moving_average"]([1, 2, 3, 6], 2) == scope["right"]([1, 2, 3, 6], 4) == [3]


def test_an_answer_holds_what_else_the_reference_defines_beside_it(shared, edit):
    helped = "def pelican_sum(values):\n    return sum(values)\n\n\ndef moving_average("
    edit(shared / "mini_homework.py", "def moving_average(values:", f"{helped}values:")
    edit(shared / "misconceptions" / "averages.py", "print_averages\n", "print_averages, pelican_sum\n")
    edit(shared / "misconceptions" / "averages.py", "[sum(values[start", "[pelican_sum(values[start")
    homework = load(shared)
    scope = {}
    exec(as_answer(entry_of(homework, "sums"), homework), scope)
    assert scope["moving_average"]([1, 2, 3], 2) == [3, 5]


def test_an_answer_cannot_use_the_name_that_it_takes(shared, edit):
    edit(shared / "misconceptions" / "averages.py", "moving_average as right, ", "moving_average, ")
    edit(shared / "misconceptions" / "averages.py", "right(values", "moving_average(values")
    homework = load(shared)
    with pytest.raises(CatalogueError, match="width_is_four takes the place of moving_average"):
        as_answer(entry_of(homework, "width_is_four"), homework)


def test_a_name_that_the_notebook_does_not_define_cannot_be_imported(shared, edit):
    edit(shared / "misconceptions" / "averages.py", "print_averages", "print_medians")
    with pytest.raises(ImportError, match="print_medians"):
        load(shared)


def test_what_a_mistake_imports_bears_on_what_is_known_of_it(shared, edit):
    before = made_from(load(shared))
    edit(shared / "misconceptions" / "windows.py", "- width + 1", "- (width - 1)")
    assert made_from(load(shared)) != before


def test_the_proof_tries_what_is_imported(shared):
    homework = load(shared)
    proof = prove(homework, homework.exercises[0])
    failed = {one.name: one.failed for one in proof.tried if one.kind == "misconception"}
    assert failed["width_is_four"] == (
        "there_is_one_average_per_window",
        "averages_are_right",
        "averages_are_right_for_any_width",
    )


@pytest.mark.parametrize("name", names(ROOT))
def test_what_an_entry_imports_can_be_handed_in(name):
    homework = find(name, ROOT)
    for entry in (*homework.misconceptions, *homework.alternatives):
        text = as_answer(entry, homework)
        assert entry.of in defined(text)
        assert "notebook import" not in text
