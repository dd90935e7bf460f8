"""The proof by the path that gives marks: that it holds, and that it notices what does not."""

import pytest
from grading import NAME, ROOT, new_course

from autograder.isolation import choose
from autograder.proving.verify_in_sandbox import defined_in, verify_in_sandbox
from autograder.source.loading import assignments

pytestmark = pytest.mark.usefixtures("one_warm_process_with_any_limits")

WITH_MISTAKES = ["hw0_exploring"]
TRAINING = ["hw3_recurrent", "hw4_attention", "hw6_gpt", "hw7_bert_and_translation"]  # which takes long
WITHOUT = [
    pytest.param(name, marks=[pytest.mark.nightly] if name in TRAINING else [])
    for name in assignments(ROOT)
    if name not in WITH_MISTAKES
]


@pytest.mark.parametrize("homework", WITH_MISTAKES)
def test_right_answers_earn_everything_and_mistakes_fail_as_declared_and_are_named(homework):
    proof = verify_in_sandbox(homework, ROOT, "best", jobs=1)
    assert proof.violations == ()
    assert proof.points == proof.max_points
    assert (proof.alternatives > 0, proof.misconceptions > 0) == (True, True)


@pytest.mark.parametrize("homework", WITHOUT)
def test_right_answers_earn_everything_in_the_sandbox_too(homework):
    proof = verify_in_sandbox(homework, ROOT, "best", jobs=1, mistakes=False)
    assert proof.violations == ()
    assert (proof.points, proof.alternatives > 0) == (proof.max_points, True)


@pytest.fixture
def course(tmp_path):
    """A small course, whose catalogue may be spoilt."""
    return new_course(tmp_path)


def spoil(course, file, before, after):
    path = course / "solutions" / NAME / file
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


def test_the_small_homework_holds_at_the_level_asked_for(course):
    proof = verify_in_sandbox(NAME, course, "best", jobs=1)
    assert (proof.violations, proof.level) == ((), choose("best").name)


def test_a_failure_that_is_not_in_the_table_is_noticed(course):
    spoil(course, "fails.tsv", "divides_by_all\taverages_are_right ", "divides_by_all\t")
    violations = verify_in_sandbox(NAME, course, "best", jobs=1).violations
    assert any("should fail ['averages_are_right_for_any_width']" in violation for violation in violations)


def test_an_alternative_that_is_wrong_is_noticed(course):
    spoil(course, "alternatives.py", "return", "return 1 +")
    violations = verify_in_sandbox(NAME, course, "best", jobs=1).violations
    assert any(
        violation.startswith("the_alternative") or " failed: " in violation for violation in violations
    )


def test_names_bound_at_the_top_of_a_cell():
    source = (
        "import os\nfor i in range(2):\n    a = i\nB: int = 3\ndef f(x):\n    y = x\nclass C:\n    z = 1\n"
    )
    assert defined_in(source) == {"i", "a", "B", "f", "C"}
