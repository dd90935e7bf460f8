import pytest
import torch

from course.checks import Mismatch, Points, assert_depends, assert_differentiable, assert_equal, homework
from course.checks.check import values

ROWS, LARGER = "Each query's weights sum to one.", "A weight is proportional to the exponential of its score."


@pytest.fixture
def shown(capsys):
    """What a check prints outside a notebook."""

    def text(check, *claims, **given):
        check(*claims, **given)
        return capsys.readouterr().out

    return text


def test_claims_that_hold_are_listed_and_nothing_is_returned(check, toy, capsys):
    assert check(*toy.claims[:2], attention_weights=toy.reference) is None
    assert capsys.readouterr() == (f"✓ {ROWS}\n✓ {LARGER}\n2 of 2 claims hold\n", "")


def test_claims_that_are_examined_later_are_counted(check, toy, shown):
    said = shown(check, toy.each_row_sums_to_one, later=2, attention_weights=toy.reference)
    assert said.splitlines()[-1] == "1 of 1 claim holds; 2 more claims are tested after you hand in"


def test_the_points_of_the_claims_that_hold_are_returned(check, toy):
    def twice(scores):
        return 2 * scores.softmax(-1)

    def of_twice(*points):
        return check(
            toy.each_row_sums_to_one, toy.the_scores_are_left_alone, points=points, attention_weights=twice
        )

    assert of_twice() == Points(1, 2)
    assert of_twice(2, 3) == Points(3, 5)
    assert float(repr(of_twice(2, 0.5))) == 0.5


def test_every_claim_is_tried_whatever_became_of_those_before(check, toy, shown):
    said = shown(check, *toy.claims, attention_weights=toy.softmax_over_queries)
    assert said.splitlines()[:4] == [
        f"✗ {ROWS}",
        f"✗ {LARGER}",
        "✓ The scores are the same afterwards.",
        "1 of 3 claims hold",
    ]


def test_a_failure_names_the_mistake_and_puts_its_question_instead_of_a_hint(check, toy, shown):
    said = shown(check, *toy.claims, attention_weights=lambda scores: scores.softmax(1))
    assert "The softmax runs over the queries" in said
    assert "Which axis of `scores`" in said
    assert "expected: [1  1  1  1  1]" in said
    assert "Hint" not in said


def test_a_failure_without_a_name_says_what_differs_in_the_first_claim(check, toy, shown):
    said = shown(check, *toy.claims, attention_weights=lambda scores: 2 * scores.softmax(-1))
    assert "About the first ✗:\nreceived: [2  2  2  2  2]" in said
    assert "`weights.sum(-1)`: every value is 2 where 1 is expected." in said
    for mistake in toy.fingerprints["exercises"]["attention_weights"]["misconceptions"].values():
        assert mistake["diagnosis"] not in said


def test_one_claim_that_fails_is_not_repeated(check, toy, shown):
    said = shown(check, toy.each_row_sums_to_one, attention_weights=lambda scores: 2 * scores.softmax(-1))
    assert said.count(ROWS) == 1
    assert "About" not in said


def test_names_rest_on_all_claims_together(toy, shown):
    """Two mistakes that the first claim cannot tell apart, and the second can."""
    first, second = (claim.__name__ for claim in toy.claims[:2])
    of_queries = {
        name: toy.fingerprints["checks"][name]["answers"]["softmax_over_queries"] for name in (first, second)
    }
    exercise = {
        "misconceptions": {
            "one": {"diagnosis": "It is one.", "question": "One?"},
            "two": {"diagnosis": "It is two.", "question": "Two?"},
        }
    }
    answers = {
        first: {"one": of_queries[first], "two": of_queries[first]},
        second: {"two": of_queries[second]},
    }
    checks = {name: {"exercise": "attention_weights", "answers": known} for name, known in answers.items()}
    prints = {"homework": "two", "exercises": {"attention_weights": exercise}, "checks": checks}
    check, wrong = homework("two", fingerprints=prints), toy.softmax_over_queries
    assert "Either: It is one. Or: It is two." in shown(
        check, toy.each_row_sums_to_one, attention_weights=wrong
    )
    together = shown(check, *toy.claims[:2], attention_weights=wrong)
    assert "It is two." in together
    assert "It is one." not in together


def test_an_answer_that_ignores_the_input_is_shown_without_an_expected_one(check, shown):
    def the_weights_depend_on_the_scores(attention_weights, draw):
        """Other scores give other weights."""
        scores = draw.normal(2, 3)
        assert_depends(attention_weights(scores), attention_weights(2 * scores))

    said = shown(check, the_weights_depend_on_the_scores, attention_weights=torch.ones_like)
    assert "received: [1  1  1]" in said
    assert "The answer is the same for a very different input." in said
    assert "expected" not in said


def doubled(scores):
    return 2 * scores.softmax(-1)


def test_each_further_try_shows_one_more_hint_and_never_two(check, toy, shown):
    said = [shown(check, *toy.claims, attention_weights=doubled) for _ in range(3)]
    assert "Hint 1 of 2: Say aloud" in said[0]
    assert "Hint 2 of 2: Which axis holds the keys?" in said[1]
    assert "Hint 2 of 2: Which axis holds the keys?" in said[2]
    assert [text.count("Hint") for text in said] == [1, 1, 1]


def endless(scores):
    return endless(scores)


def in_place(scores):
    scores *= 2
    return scores.softmax(-1)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda scores: zero * scores, "name 'zero' is not defined"),  # noqa: F821
        (lambda scores: scores @ torch.ones(3, 3), "A float32 tensor meets a float64 one"),
        (lambda scores: None, "is a `return` missing?"),
        (in_place, "changed its argument 1, `scores`, in place"),
        (lambda scores: scores.softmax(-1).tolist(), "a list of 2, where a tensor is expected"),
        (lambda scores: (row for row in scores), "is there a `yield` where a `return` is meant"),
        (lambda: None, "Are its parameters those that the exercise names?"),
        (lambda scores: exit(), "raised SystemExit, at line"),
        (endless, "RecursionError"),
        (torch.nn.Module(), "Is there a `forward`, spelt so, and indented as a part of the class?"),
    ],
)
def test_a_message_that_says_what_to_mend_has_no_hint_behind_it_and_costs_none(
    check, toy, shown, answer, message
):
    said = shown(check, *toy.claims, attention_weights=answer)
    assert message in said
    assert "Hint" not in said
    assert "Hint 1 of 2" in shown(check, *toy.claims, attention_weights=doubled)


def test_sessions_do_not_share_their_hints(toy, shown):
    for _ in range(2):
        fresh = homework("toy", fingerprints=toy.fingerprints)
        assert "Hint 1 of 2" in shown(fresh, *toy.claims, attention_weights=doubled)


def test_a_stub_is_one_quiet_line_without_points_and_costs_no_hint(check, toy, shown):
    def attention_weights(scores):
        raise NotImplementedError

    assert shown(check, *toy.claims, attention_weights=attention_weights) == (
        "○ `attention_weights` is not written yet\n"
    )
    points = check(*toy.claims, attention_weights=attention_weights)
    assert (points.earned, points.worth) == (0, 3)
    assert "Hint 1 of 2" in shown(check, *toy.claims, attention_weights=doubled)


def test_an_error_of_the_students_is_shown_with_its_line(check, toy, shown):
    def attention_weights(scores):
        return scores / zero  # noqa: F821

    said = shown(check, toy.each_row_sums_to_one, attention_weights=attention_weights)
    assert "`attention_weights` raised NameError: name 'zero' is not defined" in said
    assert "`return scores / zero  # noqa: F821`" in said


def test_a_helper_that_is_missing_after_a_restart_sends_the_student_to_the_given_cells(check, toy, shown):
    def needs_a_helper(attention_weights):
        """It needs one."""
        attention_weights(drawn_scores)  # noqa: F821

    said = shown(check, needs_a_helper, attention_weights=toy.reference)
    assert (
        "`drawn_scores` is not defined; run the given cells at the top and before this exercise, then" in said
    )


def test_a_forgotten_return_is_recognised(check, toy, shown):
    def attention_weights(scores):
        scores.softmax(-1)

    larger = toy.larger_scores_weigh_exponentially_more
    said = shown(check, larger, attention_weights=attention_weights)
    assert "The result is None; is a `return` missing?" in said
    assert "`attention_weights` returned None" in shown(
        check, toy.each_row_sums_to_one, attention_weights=attention_weights
    )


def test_what_another_object_did_does_not_count(check, toy, shown):
    shown(check, *toy.claims, attention_weights=toy.no_exponential)
    said = shown(check, *toy.claims, attention_weights=toy.softmax_over_queries)
    assert "The softmax runs over the queries" in said


def test_a_forbidden_call_is_mentioned_even_where_the_claim_holds(check, toy, shown):
    import torch

    def attention_weights(scores):
        return torch.softmax(scores, -1)

    said = shown(check, toy.each_row_sums_to_one, attention_weights=attention_weights)
    line = attention_weights.__code__.co_firstlineno + 1
    assert f"Write this exercise without `torch.softmax` (line {line}): as it is" in said


def test_answers_are_given_by_the_names_that_the_claims_use(check, toy):
    with pytest.raises(
        TypeError, match=r"about attention_weights: `check\(.*attention_weights=attention_weights"
    ):
        check(toy.each_row_sums_to_one, weights=toy.reference)
    for answer in (torch.nn.Linear, torch.softmax):
        with pytest.raises(TypeError, match="give each answer by its name"):
            check(toy.each_row_sums_to_one, answer, attention_weights=toy.reference)


def test_a_homework_without_fingerprints_checks_all_the_same(toy, shown):
    check = homework("of_nobody")
    assert "✓" in shown(check, toy.each_row_sums_to_one, attention_weights=toy.reference)
    said = shown(check, toy.each_row_sums_to_one, attention_weights=toy.softmax_over_queries)
    assert "all 10 values differ" in said


def test_two_long_values_that_look_the_same_where_they_are_cut_off_are_not_shown():
    words = [f"a rather long word {i:03}" for i in range(60)]
    assert values(Mismatch(received=words[:-1], expected=words)) == ("", "")
    assert values(Mismatch(received=words[1:], expected=words)) != ("", "")


def test_of_sets_of_names_only_those_are_shown_that_differ(check, shown):
    def the_names_are_those_of_the_table(attention_weights):
        """The names are those of the table."""
        assert_equal({*attention_weights(0)}, {"b", "a"})

    said = shown(check, the_names_are_those_of_the_table, attention_weights=lambda x: {"a": 1, "c": 2})
    assert "Entries missing: 'b'; not expected: 'c'." in said
    assert "received" not in said
    assert "Hint" not in said


def an_entry_is_two(attention_weights):
    """The first is two."""
    assert_equal(attention_weights(0), torch.tensor([2, 1]))


RIGHT = torch.tensor([2, 1])


@pytest.mark.parametrize(
    ("answer", "is_plain"),
    [
        (None, True),
        ([2, 1], True),
        ("2, 1", True),
        (RIGHT.double(), True),
        (RIGHT[:, None], True),
        (RIGHT[:, None] + 1, False),
        (RIGHT + 1, False),
        (torch.tensor([2, 1, 0]), False),
        (2, False),
    ],
)
def test_a_hint_stands_behind_wrong_values_and_not_behind_the_kind_or_the_shape_of_right_ones(
    check, shown, answer, is_plain
):
    of = homework("toy", fingerprints=hinted(an_entry_is_two))
    assert ("Hint" not in shown(of, an_entry_is_two, attention_weights=lambda x: answer)) is is_plain


def hinted(claim):
    exercises = {"attention_weights": {"hints": ["Which?"]}}
    checks = {claim.__name__: {"exercise": "attention_weights"}}
    return {"homework": "toy", "exercises": exercises, "checks": checks}


def test_a_gradient_that_was_cut_off_needs_no_hint(shown):
    def gradients_flow(attention_weights):
        """Gradients flow back."""
        assert_differentiable(attention_weights, torch.ones(2))

    of = homework("toy", fingerprints=hinted(gradients_flow))
    for cut in (lambda x: (2 * x).detach(), lambda x: x * x.detach()):
        assert "Hint" not in shown(of, gradients_flow, attention_weights=cut)


def test_values_that_look_the_same_are_not_shown():
    assert values(Mismatch(torch.tensor([1.0]), torch.tensor([1]))) == ("", "")


def test_methods_that_are_still_stubs_are_named(check, shown):
    class Value:
        def add(self):
            return 1

        def mul(self):
            raise NotImplementedError

    def sums(attention_weights):
        """Sums."""
        assert_equal(attention_weights().add(), 1)

    def products(attention_weights):
        """Products."""
        assert_equal(attention_weights().mul(), 1)

    said = shown(check, sums, products, attention_weights=Value)
    assert said == "✓ Sums.\n○ Products.\n1 of 2 claims hold\n○ `Value.mul` is not written yet\n"
