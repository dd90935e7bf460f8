import re

from course.checks.claim import Finding
from course.checks.compare import Mismatch
from course.checks.errors import NotWritten
from course.checks.explain import Explanation
from course.checks.trace import Trace
from course.checks.verdict import Points, Verdict


def finding(sentence, problem=None):
    return Finding("a_check", sentence, Trace("a_check"), problem)


HOLDS = finding("It holds.")
FAILS = finding("It fails.", Mismatch(message="no"))
STUB = finding("It waits.", NotWritten("later"))


def test_each_claim_has_a_sign_that_needs_no_colour():
    said = "✓ It holds.\n✗ It fails.\n○ It waits.\n1 of 3 claims hold\n○ `later` is not written yet"
    assert Verdict((HOLDS, FAILS, STUB)).as_text() == said
    html = Verdict((HOLDS, FAILS, STUB)).as_html()
    assert [sign for sign in html if sign in "✓✗○"] == ["✓", "✗", "○", "○"]


def test_the_list_is_followed_by_the_count_the_reason_and_the_advice():
    verdict = Verdict((HOLDS, FAILS), later=1, why=Explanation(difference="Twice."), advice="Without `sum`.")
    assert verdict.as_text().splitlines()[2:] == [
        "1 of 2 claims hold; 1 more claim is tested after you hand in",
        "",
        "Twice.",
        "",
        "Without `sum`.",
    ]
    shown = re.sub("<[^>]*>", " ", verdict.as_html())
    places = [shown.index(part) for part in ("It fails.", "1 of 2", "Twice.", "Without")]
    assert places == sorted(places)


def test_claims_and_advice_are_escaped():
    attack = "<script>alert(1)</script>"
    html = Verdict((finding(attack), finding(attack, NotWritten(attack))), advice=attack).as_html()
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 4
    assert "<script" not in Points(0, 1, attack)._repr_html_()


def test_green_and_red_mark_signs_and_the_edge_and_never_running_text():
    html = Verdict((HOLDS, FAILS)).as_html()
    assert re.findall(r"[;\"]color:#[^>]*>(.)", html) == ["✓", "✗"]


def test_points_read_as_a_number_and_are_shown_in_words():
    assert repr(Points(2, 4)) == "2"
    assert "2 of 4 points" in Points(2, 4)._repr_html_()
