"""Notebook cells run as in Jupyter, at every level."""

import base64
import json
from pathlib import Path

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from autograder.isolation import Frame, Limits
from autograder.isolation.cells import CellCompiler, Transformer

COURSE = Path(__file__).parents[3] / "homeworks"


def test_what_is_printed_and_the_last_value_come_back(student):
    result = student.run("print('one')\nimport sys; print('two', file=sys.stderr)\n40 + 2")
    assert result.output == "one\ntwo\n"
    assert result.displays == [{"text/plain": "42"}]
    assert result.error is None


def test_cells_share_a_namespace_and_a_failing_cell_leaves_the_others_be(student):
    student.run("x = 1")
    failed = student.run("y = x + 1\nz = y / 0\nw = 3")
    assert failed.error.class_name == "ZeroDivisionError"
    assert student.run("print(x, y)").output == "1 2\n"
    assert student.defined(["x", "y", "z", "w"]) == {"x", "y"}


def test_an_error_names_the_cell_the_line_and_the_students_frames_only(student):
    student.run("import json\ndef outer(x):\n    return inner(x)\ndef inner(x):\n    return json.loads(x)")
    error = student.run("print('here')\nouter('{')", name="question 3").error
    assert error.class_name == "JSONDecodeError"
    assert "ValueError" in error.bases
    assert error.frames == (
        Frame("question 3", 2, "<module>", "outer('{')"),
        Frame("cell 1", 3, "outer", "return inner(x)"),
        Frame("cell 1", 5, "inner", "return json.loads(x)"),
    )
    assert (error.line, error.text) == (5, "return json.loads(x)")


def test_a_syntax_error_tells_its_line(student):
    error = student.run("x = 1\ndef f(:\n    pass").error
    assert (error.class_name, error.line, error.text) == ("SyntaxError", 2, "def f(:")


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("await __import__('asyncio').sleep(0, 'awaited')", "'awaited'"),
        ("%precision 2\n3.14159", "3.14"),
        ("%%capture kept\nprint('hidden')", None),
        ("lines = !echo hello\nlines[0]", "'hello'"),
        ("_ = 5\n_", "5"),
    ],
)
def test_jupyters_own_syntax_is_understood(student, source, output):
    result = student.run(source)
    assert result.error is None
    assert [display["text/plain"] for display in result.displays[-1:]] == ([output] if output else [])


MAGICS = [
    *(
        "%time x = 1",
        "%%time\nx = 1",
        "x = %time 1",
        "y = !ls",
        "!ls",
        "int?",
        "?int",
        "x\n%matplotlib inline",
    ),
    *("\n\nx = 1", "  x = 1\n  y = 2", ">>> x = 1\n>>> y = 2", "In [1]: x = 1", '"""\n>>> f(3)\n"""'),
    *("x = (5\n%y)", "x = '''\n%time\n!ls\n'''", "if x:\n    %time y", "f(x", "x = 1;", "a = 5 % 3", "/f x"),
]


def cells_of_the_course():
    for path in sorted(COURSE.glob("*/*.ipynb")):
        for cell in json.loads(path.read_text())["cells"]:
            if cell["cell_type"] == "code":
                yield "".join(cell["source"])


@pytest.mark.parametrize("source", MAGICS)
def test_a_cell_is_read_as_ipython_reads_it(source):
    assert Transformer(CellCompiler()).transform_cell(source) == TransformerManager().transform_cell(source)


def test_the_cells_of_the_homeworks_are_read_as_ipython_reads_them():
    sources = list(cells_of_the_course())
    assert len(sources) > 100
    ours, theirs = Transformer(CellCompiler()), TransformerManager()
    assert [*map(ours.transform_cell, sources)] == [*map(theirs.transform_cell, sources)]


def test_a_warning_of_the_parser_names_the_cell_and_comes_once(student):
    student.run("import warnings; warnings.simplefilter('always')")
    said = student.run(r"pattern = '\d'", name="the pattern").output
    assert said.count("invalid escape sequence") == 1
    assert "<the pattern>:1" in said


def test_a_figure_comes_back_as_a_picture_and_a_page_does_not(student):
    figure = student.run("import matplotlib.pyplot as plt\nplt.plot([1, 3, 2]);")
    (display,) = figure.displays
    assert base64.b64decode(display["image/png"]).startswith(b"\x89PNG")
    page = student.run("from IPython.display import HTML\nHTML('<script>alert(1)</script>')")
    assert page.displays == [{"text/plain": "<IPython.core.display.HTML object>"}]


def test_there_is_nobody_to_answer_input(student):
    assert student.run("name = input('your name? ')").error.class_name == "EOFError"


def test_leaving_is_an_error_of_the_cell_and_not_the_end(student):
    assert student.run("import sys\nsys.exit(3)").error.class_name == "SystemExit"
    assert student.run("raise KeyboardInterrupt").error.class_name == "KeyboardInterrupt"
    assert student.run("print('still here')").output == "still here\n"


def test_output_is_cut_at_its_limit_and_says_so(warm):
    with warm.student(limits=Limits(output_bytes=1000, display_bytes=1000)) as student:
        result = student.run("for i in range(20000): print('x' * 100)\n'y' * 5000")
        assert len(result.output) < 1200
        assert "[output cut after 1000 bytes]" in result.output
        assert "[displays too large, left out]" in result.output
        assert result.displays == []


def test_output_is_counted_in_bytes(warm):
    with warm.student(limits=Limits(output_bytes=1000, display_bytes=1000)) as student:
        result = student.run("print('€' * 400)\n'é' * 600")
        assert result.output.startswith("€" * 333 + "\n[output cut")
        assert result.displays == []
        assert student.run("print('x' * 999)\n'é' * 400").displays != []


def test_the_environment_holds_nothing_of_the_graders(warm, monkeypatch):
    monkeypatch.setenv("API_TOKEN", "secret")
    with warm.student() as student:
        names = student.run("import os\nprint(*sorted(os.environ))").output.split()
    python = {"MPLBACKEND", "MPLCONFIGDIR", "IPYTHONDIR", "OMP_NUM_THREADS", "PYTHONDONTWRITEBYTECODE"}
    assert set(names) - {"COURSE_CACHE"} == {"PATH", "HOME", "TMPDIR", "LANG"} | python


def test_files_beside_the_notebook_lie_in_the_work_directory(warm, tmp_path):
    (tmp_path / "local_names.py").write_text("NAMES = ['ada']")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/corpus.txt").write_text("text")
    with warm.student(tmp_path) as student:
        result = student.run("import local_names\nprint(local_names.NAMES, open('data/corpus.txt').read())")
    assert result.output == "['ada'] text\n"


def test_each_student_starts_with_an_empty_directory_and_namespace(warm):
    with warm.student() as first:
        first.run("x = 1; open('left.txt', 'w').write('behind')")
        with warm.student() as second:
            assert second.defined(["x"]) == set()
            assert second.run("import os; print(os.listdir())").output == "[]\n"
