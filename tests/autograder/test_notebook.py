"""Percent-format sources are read as meant, and notebooks are written in one spelling."""

import json
from pathlib import Path

import nbformat
import pytest

from autograder.source.notebook import SourceError, notebook, notebook_cell, parse, to_json

SOURCE = '''\
"""A header, of no cell."""

# %% [markdown] written="why" points=1.5 minutes=5
# # Title
#
#   indented

# %% check="it_holds" points=2 hidden

def it_holds():
    pass

'''


def test_text_before_the_first_cell_belongs_to_no_cell():
    assert [cell.kind for cell in parse(SOURCE)] == ["markdown", "code"]


def test_labels_are_text_numbers_and_flags():
    first, second = parse(SOURCE)
    assert first.labels == {"written": "why", "points": 1.5, "minutes": 5}
    assert second.labels == {"check": "it_holds", "points": 2, "hidden": True}
    assert isinstance(first.labels["minutes"], int)


def test_markdown_loses_one_comment_mark_and_one_space():
    assert parse(SOURCE)[0].source == "# Title\n\n  indented"


def test_empty_lines_around_a_cell_are_dropped_and_its_line_is_that_of_its_text():
    cell = parse(SOURCE)[1]
    assert cell.source == "def it_holds():\n    pass"
    assert SOURCE.splitlines()[cell.line - 1] == "def it_holds():"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = 1\n", "has no cell"),
        ('\n# %% chek="a"\n', "line 2: there is no label called chek"),
        ("# %% points=two\n", 'line 1: cannot read the label at "points=two"'),
        ('# %% check="a"points=1\n', "line 1: cannot read"),
        ("# %% [raw]\n# a\n", "line 1: a cell is code or"),
        ("# %% [markdown]\n# a\nb\n", "line 3: every line of a markdown cell"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(text, complaint):
    with pytest.raises(SourceError, match=complaint):
        parse(text)


def test_points_are_a_number_and_nothing_where_none_are_said():
    cells = parse("# %% check='a'\n# %% check='b' points=2\n# %% written='c' points=0.5\n".replace("'", '"'))
    assert [cell.points for cell in cells] == [0, 2, 0.5]


@pytest.mark.parametrize("label", ["points", 'points="two"', 'points="2"'])
def test_points_that_are_no_number_are_named_with_their_line(label):
    [_, cell] = parse(f'# %% check="a"\n\n# %% check="b" {label}\n', Path("parts/b_second.py"))
    with pytest.raises(SourceError, match=r"parts/b_second.py, line 4: the label `points` must be a number"):
        _ = cell.points


def small_notebook():
    cells = [
        notebook_cell("a", "markdown", "one\ntwo"),
        notebook_cell("b", "code", "print('ä')", {"tags": ["x"]}),
    ]
    return notebook(cells)


def test_a_notebook_is_valid_and_ends_with_a_newline():
    text = to_json(small_notebook())
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert text.endswith("}\n")


def test_a_notebook_read_and_written_again_has_the_same_bytes():
    text = to_json(small_notebook())
    assert to_json(json.loads(text)) == text


def test_the_order_in_which_keys_were_set_does_not_show():
    content = small_notebook()
    turned = dict(reversed(content.items()))
    turned["cells"] = [dict(reversed(cell.items())) for cell in content["cells"]]
    assert to_json(turned) == to_json(content)


def test_outputs_are_split_into_lines_as_nbformat_does():
    content = small_notebook()
    shown = {"text/plain": "a\nb", "image/png": "ab\n"}
    content["cells"][1]["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": "one\ntwo\n"},
        {"output_type": "display_data", "data": shown, "metadata": {}},
    ]
    assert json.loads(to_json(content)) == json.loads(nbformat.writes(nbformat.from_dict(content)))


def test_nbformat_reads_back_the_text_that_was_written():
    read = nbformat.reads(to_json(small_notebook()), as_version=4)
    assert [cell.source for cell in read.cells] == ["one\ntwo", "print('ä')"]
