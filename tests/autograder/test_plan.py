"""What is prepared once is whole, however long it takes, and is there for every judge."""

import sys

import pytest

from autograder.checking.examine import run_checks
from autograder.grading import plan
from autograder.grading.plan import Plan
from autograder.isolation import Limits
from autograder.source.loading import load
from course.checks import LocalLink

IMPORT = """    ### BEGIN SOLUTION
    from slow_to_import.core import whole
    assert whole
"""


@pytest.fixture
def importing(mini, edit, slow_import):
    """A homework whose reference imports something for a long time when it is first called."""
    edit(mini / "mini_homework.py", "    ### BEGIN SOLUTION\n    heron", f"{IMPORT}    heron")
    return load(mini)


def test_a_preparation_that_has_used_up_its_time_amid_an_import_leaves_it_whole(importing, monkeypatch):
    monkeypatch.setattr(plan, "MOST_SECONDS_TO_PREPARE", 0.2)
    prepared = Plan(importing, (), Limits())
    prepared.prepare()
    assert sys.modules["slow_to_import.core"].whole
    assert "slow_to_import" in sys.modules
    done = run_checks(importing, LocalLink(prepared.references), seed=0, scope=prepared.scope)
    assert [entry.result for entry in done] == ["passed"] * 3


def test_what_right_answers_import_is_in_memory_before_the_first_judge(importing):
    assert "slow_to_import" not in sys.modules
    Plan(importing, (), Limits()).prepare()
    assert sys.modules["slow_to_import.core"].whole
