"""Checks: claims about a student's code, and feedback that names the mistake.

In a notebook: `check = homework("hw1_language_models")`, then `check(claim, other, f=f)`. A claim is a
function whose docstring is the sentence that it checks. It compares with `assert_close`, `assert_equal`,
`assert_depends`, `assert_differentiable`, `assert_dtype`, `assert_true` and `assert_raises`, and loads given
weights into a student's module by `with_weights`.
"""

from course.checks.check import Homework, homework
from course.checks.claim import Finding, examine
from course.checks.compare import (
    Mismatch,
    assert_close,
    assert_depends,
    assert_dtype,
    assert_equal,
    assert_raises,
    assert_true,
    is_close,
    same,
)
from course.checks.diagnosis import matches, replay
from course.checks.difference import describe_difference
from course.checks.differentiable import assert_differentiable
from course.checks.draw import Draw, seed_of
from course.checks.forbidden import forbidden_uses
from course.checks.standin import (
    Link,
    LocalLink,
    NotWritten,
    Reply,
    StandIn,
    StudentError,
    Unreachable,
    attribute,
)
from course.checks.trace import Event, Object, Outcome, Trace
from course.checks.verdict import Points
from course.checks.weights import answer_of_new, with_weights
from course.language import say

__all__ = [
    "Draw",
    "Event",
    "Finding",
    "Homework",
    "Link",
    "LocalLink",
    "Mismatch",
    "NotWritten",
    "Object",
    "Outcome",
    "Points",
    "Reply",
    "StandIn",
    "StudentError",
    "Trace",
    "Unreachable",
    "answer_of_new",
    "assert_close",
    "assert_depends",
    "assert_differentiable",
    "assert_dtype",
    "assert_equal",
    "assert_raises",
    "assert_true",
    "attribute",
    "describe_difference",
    "examine",
    "forbidden_uses",
    "homework",
    "is_close",
    "matches",
    "replay",
    "same",
    "say",
    "seed_of",
    "with_weights",
]
