"""Misconceptions and alternatives are what a module marks, nothing more and nothing left over."""

import importlib.util
import sys

import pytest

from autograder.catalogue import (
    Alternative,
    CatalogueError,
    Misconception,
    NotCode,
    alternative,
    collect,
    misconception,
)

MODULE = '''
from autograder.catalogue import alternative, misconception, not_code

def private(x):
    return x

@misconception(of="double", equals={"Triples"}, seen="https://example.org/1")
def adds_two(x):
    """Two is added.

    What is double of five?
    And of ten?
    """
    return private(x) + 2

@misconception(of="double")
class Triples:
    """Three instead of two.

    How often is x taken?
    """

class Inherits(Triples):
    pass

@alternative(of="double")
def by_adding(x):
    return x + x

not_code("3d", "the axis is misread", why="a picture")
'''


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text(MODULE)
    spec = importlib.util.spec_from_file_location("wrong", path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules["wrong"] = loaded
    spec.loader.exec_module(loaded)
    yield loaded
    del sys.modules["wrong"]


def test_an_entry_says_what_its_decorator_and_docstring_say(module):
    entry = collect(module, Misconception)[0]
    assert (entry.name, entry.of, entry.equals) == ("adds_two", "double", {"Triples"})
    assert entry.seen == "https://example.org/1"
    assert entry.diagnosis == "Two is added."
    assert entry.question == "What is double of five? And of ten?"
    assert entry.thing(5) == 7


def test_entries_come_in_the_order_of_the_file_and_a_subclass_is_none(module):
    assert [entry.name for entry in collect(module, Misconception)] == ["adds_two", "Triples"]


def test_each_kind_is_collected_by_itself(module):
    assert [entry.name for entry in collect(module, Alternative)] == ["by_adding"]
    assert collect(module, NotCode) == [NotCode("3d", "the axis is misread", "a picture")]


def test_collecting_twice_finds_the_same(module):
    assert collect(module, Misconception) == collect(module, Misconception)


def test_what_is_marked_elsewhere_is_not_collected(module):
    @alternative(of="double")
    def elsewhere(x):
        return 2 * x

    assert "elsewhere" not in [entry.name for entry in collect(module, Alternative)]


def test_what_another_file_marks_is_not_collected_where_it_is_imported(module):
    module.elsewhere = misconception(of="double")(elsewhere)
    assert "elsewhere" not in [entry.name for entry in collect(module, Misconception)]


def elsewhere(x):
    """Marked in this file.

    Where is it marked?
    """


@pytest.mark.parametrize("text", [None, "Only the diagnosis.", "\n\n"])
def test_a_misconception_without_diagnosis_and_question_is_refused(text):
    def nameless(x):
        return x

    nameless.__doc__ = text
    with pytest.raises(CatalogueError, match="nameless needs a docstring"):
        misconception(of="double")(nameless)
