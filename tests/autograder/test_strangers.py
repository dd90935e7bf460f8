"""Wrong solutions without a name are put to the checks, and a false name for one is seen."""

import pytest

from autograder.checking.examine import Examined
from autograder.proving.strangers import BY_LUCK, EQUIVALENT, HIDDEN, UNCAUGHT, VISIBLE, Trial, strangers
from autograder.proving.strangers_page import page
from autograder.proving.verify import prove
from autograder.source.homework import FAILED, PASSED
from autograder.source.loading import load
from course.checks import Trace

BY_HAND = """
from autograder.proving.strangers import stranger


@stranger(of="moving_average"{may_be})
def {name}(values, width):
    {body}
"""
DIVIDED = "return [sum(values[i : i + width]) / len(values) for i in range(len(values) - width + 1)]"
THREE = "return [sum(values[i : i + 3]) / 3 for i in range(len(values) - 2)]"


def proof_of(mini, *, mutants=0, **by_hand):
    (mini / "strangers").mkdir()
    for name, body in by_hand.items():
        text = BY_HAND.format(name=name, body=body.removeprefix("may: "), may_be="")
        if body.startswith("may: "):
            text = text.replace('"moving_average"', '"moving_average", may_be=["divides_by_all"]')
        (mini / "strangers" / f"{name}.py").write_text(text)
    homework = load(mini)
    return prove(homework, homework.exercises[0], mutants=mutants)


def test_a_stranger_that_is_called_what_it_is_not_is_a_violation(mini):
    proof = proof_of(mini, divided=DIVIDED)
    [met] = proof.strangers
    assert (met.name, met.fate, met.named, met.false) == (
        "divided",
        VISIBLE,
        ("divides_by_all",),
        ("divides_by_all",),
    )
    assert "divided is named divides_by_all, which is false." in proof.violations


def test_a_name_that_may_be_spoken_is_none(mini):
    proof = proof_of(mini, divided=f"may: {DIVIDED}")
    assert proof.strangers[0].named == ("divides_by_all",)
    assert proof.violations == ()


def test_a_stranger_that_only_hidden_checks_catch_gets_no_name(mini):
    proof = proof_of(mini, three=THREE)
    assert [(met.fate, met.named) for met in proof.strangers] == [(HIDDEN, ())]
    assert proof.violations == ()


def test_a_stranger_that_no_check_catches_is_a_violation(mini):
    right = "return [sum(values[i : i + width]) / width for i in range(len(values) - width + 1)]"
    proof = proof_of(mini, right=right)
    assert proof.strangers[0].fate == UNCAUGHT
    assert proof.violations == ("right is wrong, and the checks do not always catch it.",)


def test_mutants_are_met_and_a_page_tells_what_became_of_them(mini):
    proof = proof_of(mini, mutants=30)
    assert len(proof.strangers) > 5
    assert {met.fate for met in proof.strangers} >= {VISIBLE}
    assert not any(met.false for met in proof.strangers)
    told = page([proof], 30)
    assert f"| mini_homework | {len(proof.strangers)} |" in told
    for met in proof.strangers:
        assert (f"`{met.name}`" in told) == (met.fate in (UNCAUGHT, BY_LUCK, EQUIVALENT))


@pytest.mark.parametrize("is_caught", [True, False])
def test_a_mutant_that_no_check_catches_may_be_judged_to_be_no_mistake(mini, is_caught):
    homework = load(mini)
    exercise = homework.exercises[0]
    check = exercise.checks[0]
    result = FAILED if is_caught else PASSED
    seen = [Examined(check, result, "", Trace(check.name))]
    trial = Trial(lambda thing: seen, lambda thing, seed: seen, lambda seen: (), lambda trace, name: trace)
    [plain] = strangers(homework, exercise, trial, 1)
    (mini / "strangers").mkdir()
    (mini / "strangers" / "equivalent.toml").write_text(f"[moving_average]\n'{plain.name}' = 'The same.'\n")
    [judged] = strangers(load(mini), exercise, trial, 1)
    expected = (VISIBLE, VISIBLE, "") if is_caught else (UNCAUGHT, EQUIVALENT, "The same.")
    assert (plain.fate, judged.fate, judged.reason) == expected
