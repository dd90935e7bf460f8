"""Every lecture ends with exercises, and code in their folded answers shows that these are right."""

import re
from pathlib import Path

import pytest

from autograder.source.notebook import read_source

LECTURES = sorted((Path(__file__).parents[1] / "lectures").glob("*.py"))
each_lecture = pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)


def exercises(path):
    """Number → text, from the section Exercises of a lecture."""
    text = "\n".join(cell.source for cell in read_source(path) if cell.kind == "markdown")
    section = text.partition("## Exercises\n")[2].partition("\n## ")[0]
    parts = re.split(r"^\*\*(\d+)\.\*\* ", section, flags=re.M)
    return dict(zip(map(int, parts[1::2]), parts[2::2], strict=True))


def programs(path):
    return re.findall(r"```python\n(.*?)```", "\n".join(exercises(path).values()), re.S)


@each_lecture
def test_three_quick_exercises_and_a_long_one_with_folded_answers(path):
    found = exercises(path)
    assert list(found) == [1, 2, 3, 4]
    assert [number for number, text in found.items() if text.startswith("*(long)*")] == [4]
    for text in found.values():
        assert text.count("<details><summary>Answer</summary>\n\n") == text.count("</details>") == 1


@each_lecture
def test_the_answers_are_right(path):
    found = programs(path)
    assert found
    for program in found:
        assert "assert " in program
        exec(compile(program, path.name, "exec"), {"__name__": "answer"})
