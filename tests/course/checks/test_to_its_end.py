import time

import pytest
import torch

from course.checks import LocalLink, assert_close, assert_depends, assert_equal, assert_true, examine
from course.checks.compare import Mismatch


def tried(claim, f):
    return examine(claim, LocalLink({"f": f}))


def two_values(f):
    """Two and three are doubled."""
    assert_close(f(2.0), 4.0, what="two")
    assert_close(f(3.0), 6.0, what="three")


def test_a_claim_asks_everything_and_says_what_failed_first():
    finding = tried(two_values, lambda x: x + 1)
    assert [event.args for event in finding.trace.events] == [(2.0,), (3.0,)]
    assert finding.problem.what == "two"
    assert (finding.problem.received, finding.problem.expected) == (3.0, 4.0)


def test_what_fails_later_by_an_exception_does_not_hide_what_failed_first():
    finding = tried(two_values, lambda x: 1.0 if x == 2 else 1 / 0)
    assert finding.problem.what == "two"
    assert [event.outcome.kind for event in finding.trace.events] == ["value", "error"]


def test_the_arguments_that_explain_a_failure_are_those_of_the_call_before_it():
    def halves(f):
        """Their halves."""
        assert_close(f(torch.tensor([0.0, 2.0])), torch.tensor([0.0, 1.0]))
        assert_close(f(torch.ones(7)), torch.ones(7) / 2)

    finding = tried(halves, lambda x: x)
    assert finding.n_events == 1
    assert (
        finding.message
        == tried(
            lambda f: assert_close(f(torch.tensor([0.0, 2.0])), torch.tensor([0.0, 1.0])), lambda x: x
        ).message
    )


@pytest.mark.parametrize("value", [None, "4", torch.ones(2), [4.0]])
def test_a_claim_does_not_go_on_with_a_value_of_another_form(value):
    assert len(tried(two_values, lambda x: value).trace.events) == 1


@pytest.mark.parametrize("value", [[1, "a"], [1], (1, 2)])
def test_the_form_of_what_a_list_holds_counts_too(value):
    def lists(f):
        """Lists."""
        assert_equal(f(0), [1, 2])
        f(1)

    assert len(tried(lists, lambda x: value).trace.events) == 1
    assert len(tried(lists, lambda x: [2, 1]).trace.events) == 2


def test_an_answer_that_ignores_its_input_is_asked_further_and_a_condition_ends_the_claim():
    def depends(f):
        """It depends."""
        assert_depends(f(1.0), f(2.0))
        assert_true(f(3.0) > 0, "not positive")
        f(4.0)

    assert len(tried(depends, lambda x: 1.0).trace.events) == 4
    assert len(tried(depends, lambda x: -x).trace.events) == 3


def test_outside_of_a_claim_an_assertion_raises():
    with pytest.raises(Mismatch):
        assert_close(1.0, 2.0)


def slow(x):
    time.sleep(0.05)
    return x + 1.0


def test_a_claim_that_has_failed_is_not_waited_for_longer_than_the_patience():
    def many(f):
        """Many."""
        for x in range(40):
            assert_close(f(float(x)), x + 1.0 + (x > 0))

    link = LocalLink({"f": slow})
    cut = examine(many, link, patience=0.2)
    assert 2 < len(cut.trace.events) < 20
    assert "not asked to its end" in cut.note
    whole = examine(many, link, patience=60.0)
    assert (len(whole.trace.events), whole.note) == (40, "")
    assert (cut.result, cut.message) == (whole.result, whole.message)


def test_a_claim_that_holds_is_waited_for_however_long_it_takes():
    def many(f):
        """Many."""
        for x in range(8):
            assert_close(f(float(x)), x + 1.0)

    finding = examine(many, LocalLink({"f": slow}), patience=0.0)
    assert (finding.result, len(finding.trace.events)) == ("passed", 8)
