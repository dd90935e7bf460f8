"""Whatever file is handed in for a notebook: a record, made without an error, of text that is clean."""

import contextlib
import json

import nbformat
from hypothesis import given
from hypothesis import strategies as st
from marked import said, seldom, texts_in
from values import anywhere, places, scalars, texts

from autograder.collecting.repair_notebook import repair_notebook
from autograder.markup import plain_text
from autograder.submissions.collect import Unreadable
from autograder.submissions.handed_in import parse

NAMES = ["cells", "metadata", "nbgrader", "grade_id", "source", "attachments", "image/png", "nbformat", "id"]
NAMES += ["grade", "solution", "locked", "points", "checksum", "cell_type", "tags", "schema_version"]
ODD = ["\ud800", True, -1, 3, 4, 10**400, "code", "markdown", "raw", "4", [], {}]
ODD += ["moving_average", "why_smooth"]
LONG = [b"[" * 3000, b"9" * 5000, b'{"":' * 3000]
LEVELS = 70
leaves = scalars | st.sampled_from(ODD)
trees = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES) | texts, inner, max_size=4)
    ),
    max_leaves=6,
)


def deep(levels, leaf):
    for _ in range(levels):
        leaf = [leaf]
    return leaf


odd = trees | st.builds(deep, st.integers(1, LEVELS), leaves)
CHANGES = ["replace", "replace", "copy", "remove", "double"]


@st.composite
def contents(draw, notebook):
    """A right submission in which places were changed, copied, removed and doubled."""
    tree = json.loads(json.dumps([notebook]))
    for _ in range(draw(st.integers(1, 6))):
        everywhere = [*places(tree)]
        if draw(st.booleans()):  # most places are texts, and few are what the grader looks at
            everywhere = [place for place in everywhere if place[1] in NAMES] or everywhere
        container, key = everywhere[draw(anywhere) % len(everywhere)]
        other, its = everywhere[draw(anywhere) % len(everywhere)]
        change = draw(st.sampled_from(CHANGES))
        if change == "replace":
            container[key] = draw(odd)
        elif change == "copy":
            container[key] = json.loads(json.dumps(other[its]))
        elif change == "double" and isinstance(container, list):
            container.insert(key, json.loads(json.dumps(container[key])))
        elif container is not tree:
            del container[key]
    return tree[0]


def as_file(content):
    return json.dumps(content).encode("utf-8", "surrogatepass")


def assert_is_clean(graded):
    json.dumps(graded.as_json()).encode()
    nbformat.validate(nbformat.from_dict(graded.notebook))
    for text in texts_in(graded.as_json()):
        assert plain_text(text) == text


@seldom
@given(data=st.data())
def test_a_changed_notebook_gets_a_record(marked, data):
    graded = marked.graded(as_file(data.draw(contents(marked.notebook))))
    assert_is_clean(graded)
    assert 0 <= graded.record.points <= 4
    assert said(marked.graded()) == marked.honest


@seldom
@given(data=st.data())
def test_changed_bytes_are_cells_or_one_sentence(marked, data):
    file = bytearray(marked.data)
    for _ in range(data.draw(st.integers(1, 4))):
        place, length = data.draw(anywhere) % (len(file) + 1), data.draw(st.sampled_from([0, 1, 9, 10**4]))
        file[place : place + length] = data.draw(st.binary(max_size=9) | st.sampled_from(LONG))
    with contextlib.suppress(Unreadable):
        parse(bytes(file))


@seldom
@given(data=st.data())
def test_a_changed_notebook_is_repaired(marked, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("handed_in")
    (folder / "ada.ipynb").write_bytes(as_file(data.draw(contents(marked.notebook))))
    with contextlib.suppress(Unreadable):
        path, done = repair_notebook(folder / "ada.ipynb", marked.plan.homework.name, marked.course)
        nbformat.validate(nbformat.read(path, 4))
        assert all(done)
