"""Whatever stands in a student's cells, the search for what is not their own work ends with sentences."""

from hypothesis import given
from hypothesis import strategies as st
from test_own_work import PLAIN, work

PIECES = [
    *(
        "%time ",
        "%%timeit -n 1 ",
        "%prun ",
        "%load_ext ",
        "!ls {",
        "}",
        ";exec ",
        ",f ",
        "/f ",
        "?",
        "%",
        "x = ",
    ),
    *(
        "import ",
        "from ",
        " as ",
        "course",
        ".sampling",
        ".filters",
        "top_k",
        "*",
        "solved",
        ".py'",
        "'",
        '"',
    ),
    *("eval('", "exec('", "timeit('", "')", "(", ")", "[", "]", "globals()", "locals()", "vars(", "print("),
    *("sys.modules", "[__name__]", "['course.sampling']", ".__dict__", "import_module(", "name=", "lambda: "),
    *(
        "def f(x):\n    ",
        "class A:\n    ",
        "try:\n    ",
        "\nexcept ImportError: ...",
        "\n",
        "    ",
        "global top_k",
    ),
    *("f'{", "yield", "await ", ":=", "\\", "\x00", "\u2028", "\ud800", "1", ", ", " % ", "return "),
]
SOURCES = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@given(answer=SOURCES, cell=SOURCES)
def test_the_search_ends_with_sentences(answer, cell):
    found = work(("top_k", answer), cell, PLAIN)
    exercise = found.exercises[0]
    said = [*found.uses(exercise), *found.remarks("top_k"), *found.unseen()]
    said += [*found.own_modules({0, 1, 2}), *found.unread_cells({0, 1, 2})]
    assert all(str(sentence).endswith(".") for sentence in said)
