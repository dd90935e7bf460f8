import pytest
import torch

from course.checks.brief import brief, brief_pair, number
from course.checks.explain import Explanation, blocks, lines, sentence

FULL = Explanation(
    is_of_several=True,
    difference="All 10 values differ.",
    received="[0.2  0.3]",
    expected="[1  1]",
    mistakes=(("The softmax runs over the queries.", "Which axis of `scores` lists the alternatives?"),),
    hints=("Look at one row.", "Try `dim=-1` on paper."),
    hints_in_all=3,
)


def as_text(explanation):
    return "\n".join(lines(explanation))


def as_html(explanation):
    return "".join(blocks(explanation))


PARTS = [
    "About the first ✗:",
    "[0.2  0.3]",
    "[1  1]",
    "All 10 values differ.",
    "Your results match a known mistake.",
    "The softmax runs over the queries.",
    "lists the alternatives?",
    "Hint 2 of 3",
    "on paper",
]


@pytest.mark.parametrize("rendered", [as_text(FULL), as_html(FULL)])
def test_the_parts_come_in_the_order_in_which_they_are_read(rendered):
    places = [rendered.index(part) for part in PARTS]
    assert places == sorted(places)


def test_a_wrapped_hint_is_one_paragraph():
    wrapped = Explanation(hints=("Look at\none row.\n\n- first\n- second",), hints_in_all=1)
    assert "Look at one row.<br><br>- first<br>- second" in as_html(wrapped)
    assert "Look at one row.\n\n- first\n- second" in as_text(wrapped)


def test_only_the_newest_hint_is_shown():
    assert "Look at one row" not in as_text(FULL)


def test_nothing_a_student_wrote_becomes_markup():
    attack = '<script>alert(1)</script><img src=x onerror="alert(1)">"\'`<b>`'
    html = as_html(Explanation(False, attack, attack, attack, ((attack, attack),), (attack,), hints_in_all=1))
    assert "<script" not in html
    assert "<img" not in html
    assert "<b>" not in html
    assert html.count("&lt;script&gt;") == 6


def test_the_page_decides_on_text_and_background():
    html = as_html(FULL)
    assert "background:none" in html
    assert "color:#" not in html


def test_code_and_blocks_are_set_as_code():
    html = as_html(Explanation(hints=("Compare:\n```python\na < b\n```\nwith `a > b`.",), hints_in_all=1))
    assert ">a &lt; b</pre>" in html
    assert ">a &gt; b</code>" in html
    assert "`" not in html


def test_several_mistakes_are_offered_as_possibilities_and_no_question_is_put():
    both = Explanation(mistakes=(("One thing.", "First?"), ("Another.", "Second?")))
    assert "Either: One thing. Or: Another." in as_text(both)
    assert "First?" not in as_text(both)


def test_empty_parts_leave_no_trace():
    assert as_text(Explanation()) == as_html(Explanation()) == ""
    assert as_text(Explanation(is_of_several=True)) == "About the first ✗:"


def test_a_clause_becomes_a_sentence_but_a_name_keeps_its_spelling():
    assert sentence("the keys differ") == "The keys differ."
    assert sentence("is there a return?") == "Is there a return?"
    assert sentence("`perplexity` raised ValueError: no") == "`perplexity` raised ValueError: no."
    assert sentence("") == ""


def test_small_values_are_shown_whole_and_large_ones_where_they_differ():
    assert brief(torch.tensor([[1.0, 0.25], [1 / 3, 12.0]])) == "[     1    0.25]\n[0.3333      12]"
    one = torch.zeros(4, 5, 6)
    other = one.clone()
    other[2, 3, 4] = 7
    assert brief_pair(one, other) == ("[2, 3, 3:6] = 0  0  0", "[2, 3, 3:6] = 0  7  0")


def test_long_values_are_cut():
    assert len(brief("a" * 10_000)) <= 300
    assert len(brief({i: [i] * 50 for i in range(10_000)})) <= 300
    assert "…" in brief(list(range(10_000)))


def test_a_matrix_in_a_container_is_written_on_one_line():
    matrix = torch.tensor([[1.0, 10.0], [0.25, 3.0]])
    assert brief({"W": matrix, "n": 2}) == "{'W': [[1  10], [0.25  3]], 'n': 2}"
    assert brief([matrix[0]]) == "[[1  10]]"


def test_nothing_has_no_sign():
    assert number(-0.0) == "0"
    assert number(False) == "False"


def test_numbers_that_differ_look_different():
    assert brief_pair(1.00001, 1.00002) == ("1.00001", "1.00002")
    assert number(float("-inf")) == "-inf"
    assert number(30003.0) == "30003"
    assert number(1 / 3) == "0.3333"
    assert number(2.5e9) == "2.5e+09"


@pytest.mark.parametrize(
    "label",
    [
        "p = 0.6",
        "t = 3",
        "h",
        "h_n of the text",
        "d_model = 4",
        "dW",
        "dx",
        "bert.embedding.weight",
        "tokens",
        "x, y, L",
        "k, p, least = (1, 2)",
        "n²",
    ],
)
def test_a_label_that_begins_with_an_identifier_keeps_it_as_it_is(label):
    assert sentence(f"{label}: 0.5 where 0.7 is expected") == f"{label}: 0.5 where 0.7 is expected."


@pytest.mark.parametrize("label", ["the gradient of W", "a state", "gradient of h_0", "text 3"])
def test_a_label_that_begins_with_a_word_gets_its_capital(label):
    assert sentence(f"{label}: it differs").startswith(label[0].upper() + label[1:])


def test_emphasis_is_set_as_emphasis_and_a_product_is_none():
    hint = "If a *query* were **never** asked: `2*3*4`, 2 * 3 * 4 and x*y*z *stand*."
    html = as_html(Explanation(hints=(hint,), hints_in_all=1))
    assert "a <em>query</em> were <strong>never</strong> asked" in html
    assert "2*3*4</code>, 2 * 3 * 4 and x*y*z <em>stand</em>." in html
