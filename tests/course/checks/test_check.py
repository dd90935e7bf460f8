import pytest
import torch

from course.checks import CheckFailed, assert_depends, homework


def failure(check, *arguments):
    with pytest.raises(CheckFailed) as caught:
        check(*arguments)
    return str(caught.value)


def test_a_claim_that_holds_prints_one_line_and_returns_nothing(check, toy, capsys):
    assert check(toy.each_row_sums_to_one, toy.reference) is None
    assert capsys.readouterr() == ("✓ Each query's weights sum to one.\n", "")


def test_a_failure_names_the_mistake_and_puts_its_question(check, toy):
    message = failure(check, toy.each_row_sums_to_one, lambda scores: scores.softmax(1))
    assert "✗ Each query's weights sum to one." in message
    assert "The softmax runs over the queries" in message
    assert "Which axis of `scores`" in message
    assert "expected: [1  1  1  1  1]" in message


def test_a_failure_without_a_name_says_what_differs(check, toy):
    message = failure(check, toy.each_row_sums_to_one, lambda scores: 2 * scores.softmax(-1))
    assert "Every value is 2 where 1 is expected." in message
    for mistake in toy.fingerprints["exercises"]["attention_weights"]["misconceptions"].values():
        assert mistake["diagnosis"] not in message


def test_an_answer_that_ignores_the_input_is_shown_without_an_expected_one(check):
    def the_weights_depend_on_the_scores(attention_weights, draw):
        """Other scores give other weights."""
        scores = draw.normal(2, 3)
        assert_depends(attention_weights(scores), attention_weights(2 * scores))

    message = failure(check, the_weights_depend_on_the_scores, torch.ones_like)
    assert "received: [1  1  1]" in message
    assert "The answer is the same for quite another input." in message
    assert "expected" not in message


def test_each_further_pass_over_an_exercise_shows_one_more_hint(check, toy):
    messages = [failure(check, toy.each_row_sums_to_one, toy.softmax_over_queries) for _ in range(3)]
    assert "Hint 1 of 2: Say aloud" in messages[0]
    assert "Hint 2 of 2: Which axis holds the keys?" in messages[1]
    assert "Hint 2 of 2: Which axis holds the keys?" in messages[2]
    other = failure(check, toy.larger_scores_weigh_exponentially_more, toy.softmax_over_queries)
    assert "Hint 2 of 2" in other  # all checks of an exercise give the same hint in one pass


def test_sessions_do_not_share_their_hints(toy):
    for _ in range(2):
        fresh = homework("toy", fingerprints=toy.fingerprints)
        assert "Hint 1 of 2" in failure(fresh, toy.each_row_sums_to_one, toy.softmax_over_queries)


def test_a_stub_is_answered_kindly_and_costs_no_hint(check, toy):
    def attention_weights(scores):
        raise NotImplementedError

    message = failure(check, toy.each_row_sums_to_one, attention_weights)
    assert message == "attention_weights is not written yet. That is where this homework continues."
    assert "Hint 1 of 2" in failure(check, toy.each_row_sums_to_one, toy.softmax_over_queries)


def test_an_error_of_the_students_is_shown_with_its_line(check, toy):
    def attention_weights(scores):
        return scores / zero  # noqa: F821

    message = failure(check, toy.each_row_sums_to_one, attention_weights)
    assert "`attention_weights` raised NameError: name 'zero' is not defined" in message
    assert "`return scores / zero  # noqa: F821`" in message


def test_a_forgotten_return_is_recognised(check, toy):
    def attention_weights(scores):
        scores.softmax(-1)

    assert "nothing came back (None)" in failure(
        check, toy.larger_scores_weigh_exponentially_more, attention_weights
    ).replace("Nothing", "nothing")
    assert "`attention_weights` returned None" in failure(check, toy.each_row_sums_to_one, attention_weights)


def test_another_check_with_the_same_object_narrows_the_names_down(toy):
    """Two mistakes that the first check cannot tell apart, and the second can."""
    prints = {
        "homework": "two",
        "exercises": {
            "attention_weights": {
                "misconceptions": {
                    "one": {"diagnosis": "It is one.", "question": "One?"},
                    "two": {"diagnosis": "It is two.", "question": "Two?"},
                }
            }
        },
        "checks": {
            toy.each_row_sums_to_one.__name__: {"exercise": "attention_weights", "answers": {}},
            toy.larger_scores_weigh_exponentially_more.__name__: {
                "exercise": "attention_weights",
                "answers": {},
            },
        },
    }
    of_queries = [
        toy.fingerprints["checks"][claim.__name__]["answers"]["softmax_over_queries"]
        for claim in toy.claims[:2]
    ]
    first, second = (prints["checks"][claim.__name__]["answers"] for claim in toy.claims[:2])
    first["one"] = first["two"] = of_queries[0]
    second["two"] = of_queries[1]
    check = homework("two", fingerprints=prints)
    wrong = toy.softmax_over_queries
    assert "Either: It is one. Or: It is two." in failure(check, toy.each_row_sums_to_one, wrong)
    assert "It is two." in failure(check, toy.larger_scores_weigh_exponentially_more, wrong)
    narrowed = failure(check, toy.each_row_sums_to_one, wrong)
    assert "It is two." in narrowed
    assert "It is one." not in narrowed


def test_what_another_object_did_does_not_count(check, toy):
    failure(check, toy.larger_scores_weigh_exponentially_more, toy.no_exponential)
    message = failure(check, toy.each_row_sums_to_one, toy.softmax_over_queries)
    assert "The softmax runs over the queries" in message


def test_a_forbidden_call_is_mentioned_even_where_the_claim_holds(check, toy, capsys):
    import torch

    def attention_weights(scores):
        return torch.softmax(scores, -1)

    check(toy.each_row_sums_to_one, attention_weights)
    line = attention_weights.__code__.co_firstlineno + 1
    assert f"This exercise is to be written without `torch.softmax` (line {line})." in capsys.readouterr().out


def test_the_number_of_things_must_be_that_of_the_claim(check, toy):
    with pytest.raises(TypeError, match="is about attention_weights; 2 things were given"):
        check(toy.each_row_sums_to_one, toy.reference, toy.reference)


def test_a_homework_without_fingerprints_checks_all_the_same(toy, capsys):
    check = homework("of_nobody")
    check(toy.each_row_sums_to_one, toy.reference)
    assert "✓" in capsys.readouterr().out
    assert "All 10 values differ" in failure(check, toy.each_row_sums_to_one, toy.softmax_over_queries)


def test_jupyter_is_given_the_message_instead_of_a_traceback(check, toy):
    with pytest.raises(CheckFailed) as caught:
        check(toy.each_row_sums_to_one, toy.softmax_over_queries)
    assert "\n".join(caught.value._render_traceback_()) == str(caught.value)
    assert caught.value.__suppress_context__
