import copy

import pytest
import torch

from course.checks import LocalLink, examine, matches, replay
from course.checks.diagnosis import candidates, spoken
from course.checks.fingerprints import Sealed, differing, known
from course.checks.seal import seal
from course.checks.trace import Outcome


def traces(toy, thing):
    return [examine(claim, LocalLink({"attention_weights": thing})).trace for claim in toy.claims]


def replayed(student, thing):
    return [replay(trace, {"attention_weights": thing}) for trace in student]


def named(toy, thing):
    """As the grader does it: every mistake is asked what the student was asked."""
    student = traces(toy, thing)
    right = replayed(student, toy.reference)
    return [entry.__name__ for entry in toy.mistakes if matches(student, replayed(student, entry), right)]


def session(toy, thing, *claims):
    """As a student's notebook does it: by the fingerprints, from the checks made so far."""
    findings = [examine(claim, LocalLink({"attention_weights": thing})) for claim in claims or toy.claims]
    answers = {check: known(about) for check, about in toy.fingerprints["checks"].items()}
    failed = {finding.check for finding in findings if finding.problem is not None}
    return candidates({finding.check: finding.trace for finding in findings}, failed, answers)


def by_sums(scores):
    """Another way to write the softmax over the queries."""
    exponentials = torch.exp(scores - scores.amax(dim=(-1, -2), keepdim=True))
    return exponentials / exponentials.sum(1)[:, None]


def in_single_precision(scores):
    return torch.stack([torch.softmax(block.T.float(), -1).T for block in scores])


def shifted_in_place(scores):
    scores.sub_(scores.amax(-1, True))
    return scores.exp() / scores.exp().sum(-1, True)


def over_batch(scores):
    return scores.softmax(0)


def sigmoid(scores):
    return scores.sigmoid()


def almost_right(scores):
    weights = scores.softmax(-1)
    weights[..., 0] *= 1.01
    return weights


def over_queries_in_the_first_block_only(scores):
    return torch.cat([scores[:1].softmax(-2), scores[1:].softmax(-1)])


def raises(scores):
    return scores.softmax("keys")


@pytest.mark.parametrize("mistake", ["softmax_over_queries", "no_exponential", "changes_the_scores"])
def test_each_mistake_is_named_and_no_other_is(toy, mistake):
    assert named(toy, getattr(toy, mistake)) == [mistake]
    assert session(toy, getattr(toy, mistake)) == [mistake]


@pytest.mark.parametrize(
    ("thing", "mistake"),
    [
        (by_sums, "softmax_over_queries"),
        (in_single_precision, "softmax_over_queries"),
        (shifted_in_place, "changes_the_scores"),
    ],
)
def test_a_mistake_is_named_however_it_is_written(toy, thing, mistake):
    assert named(toy, thing) == [mistake]
    assert session(toy, thing) == [mistake]


@pytest.mark.parametrize(
    "thing",
    [over_batch, sigmoid, almost_right, over_queries_in_the_first_block_only, raises, lambda scores: None],
)
def test_a_mistake_that_is_not_in_the_catalogue_gets_no_name(toy, thing):
    assert named(toy, thing) == []
    assert session(toy, thing) == []


def test_a_right_answer_gets_no_name(toy):
    assert named(toy, lambda scores: scores.exp() / scores.exp().sum(-1, keepdim=True)) == []
    assert session(toy, toy.reference) == []


def test_one_failed_check_is_enough_for_a_name(toy):
    assert session(toy, toy.softmax_over_queries, toy.each_row_sums_to_one) == ["softmax_over_queries"]


def two_halves(attention_weights, draw):
    """Two calls come first, then two comparisons."""
    from course.checks import assert_close

    first, second = draw.normal(2, 5, 3), draw.normal(2, 5, 3)
    answers = [attention_weights(first), attention_weights(second)]
    for scores, weights in zip([first, second], answers, strict=True):
        assert_close(weights, scores.softmax(-1))


def wrong_from_the_second_call_on():
    seen = []

    def attention_weights(scores):
        seen.append(1)
        return scores.softmax(-1 if len(seen) % 2 else -2)

    return attention_weights


def test_a_student_who_is_wrong_where_the_mistake_is_right_is_not_given_its_name(toy):
    wrong = examine(two_halves, LocalLink({"attention_weights": wrong_from_the_second_call_on()})).trace
    answers = {"late": differing(wrong, replay(wrong, {"attention_weights": toy.reference}))}
    same_mistake = examine(
        two_halves, LocalLink({"attention_weights": wrong_from_the_second_call_on()})
    ).trace
    always_wrong = examine(two_halves, LocalLink({"attention_weights": toy.softmax_over_queries})).trace
    fingerprints = {"two_halves": answers}
    assert candidates({"two_halves": same_mistake}, {"two_halves"}, fingerprints) == ["late"]
    assert candidates({"two_halves": always_wrong}, {"two_halves"}, fingerprints) == []


def wrong(value):
    return Sealed(seal(Outcome("value", value)), is_right=False)


def test_of_two_mistakes_that_one_check_cannot_tell_apart_another_check_tells():
    one = examine(lambda thing: thing(1), LocalLink({"thing": lambda x: x}))
    fingerprints = {"first": {"a": [wrong(1)], "b": [wrong(1)]}, "second": {"a": [wrong(7)]}}
    assert candidates({"first": one.trace}, {"first"}, fingerprints) == ["a", "b"]
    both = {"first": one.trace, "second": copy.deepcopy(one.trace)}
    assert candidates(both, {"first"}, fingerprints) == ["b"]


def test_a_check_that_failed_for_another_reason_rules_a_name_out():
    answers = {"a_check": {"known": [wrong(1)]}}
    trace = examine(lambda thing: thing(1), LocalLink({"thing": lambda x: x})).trace
    assert candidates({"a_check": trace}, {"a_check"}, answers) == ["known"]
    assert candidates({"a_check": trace, "other": trace}, {"a_check", "other"}, answers) == []


def test_a_mistake_that_stops_at_another_call_is_not_this_one():
    trace = examine(lambda thing: thing(1), LocalLink({"thing": lambda x: x})).trace
    later = {"a_check": {"known": [wrong(1), wrong(2)]}}
    assert candidates({"a_check": trace}, {"a_check"}, later) == []


def test_a_failure_is_not_explained_by_answers_that_are_all_right():
    right = {"a_check": {"known": [wrong(1)._replace(is_right=True)]}}
    trace = examine(lambda thing: thing(1), LocalLink({"thing": lambda x: x})).trace
    assert candidates({"a_check": trace}, {"a_check"}, right) == []


def test_an_error_is_a_mistake_only_where_it_says_the_same(toy):
    def transposed(scores):
        return scores @ torch.ones(7, 7)

    def by_nothing(scores):
        return scores @ torch.ones(2, 2)

    student = traces(toy, by_nothing)
    right = replayed(student, toy.reference)
    assert matches(student, replayed(student, by_nothing), right)
    assert not matches(student, replayed(student, transposed), right)


def about(**questions):
    return {name: {"diagnosis": f"{name}.", "question": question} for name, question in questions.items()}


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], []),
        (["a"], ["a."]),
        (["a", "b"], ["b."]),
        (["a", "c"], ["a.", "c."]),
        (["a", "b", "c"], ["b.", "c."]),
        (["a", "c", "d"], []),
        (["unknown to the package"], []),
    ],
)
def test_two_mistakes_are_spoken_of_together_and_no_more(names, said):
    known = about(a="Why?", b="Why?", c="How?", d="When?")
    assert [one["diagnosis"] for one in spoken(names, known)] == said
