"""A student's process that lies gets a record and no more, and changes nothing for the next student."""

import json

import pytest
from grading import NAME, SHORT, new_course, solved
from hypothesis import given
from hypothesis import strategies as st
from puppet import Puppet, student
from test_sessions import streams
from values import values

from autograder.isolation import wire
from autograder.judge import LONGEST_MESSAGE
from autograder.markup import plain_text
from autograder.plan import plan_for
from autograder.records import to_json
from autograder.submission import grade_submission

SEED = 7
LEVELS_OF_JSON = (dict, list)


def honestly(number, operation, reply):
    return reply


class Marked:
    """A course's homework, a right submission and what its honest process leads to."""

    def __init__(self, course):
        self.plan = plan_for(NAME, course, SHORT)
        self.plan.prepare()
        self.data = json.dumps(solved(course)).encode()
        self.honest = said(self.with_lies(honestly))

    def with_lies(self, lie):
        """What comes of the submission when its process answers rightly, as far as it does not lie."""

        def start():
            return student(Puppet(dict(self.plan.references), lie).answer)

        return grade_submission("ada", self.data, self.plan, start, SEED)


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    marked = Marked(new_course(tmp_path_factory.mktemp("fuzz") / "course"))
    assert marked.honest["points"] == 4
    return marked


def said(graded):
    """The verdict, but for the time it took."""
    return {**json.loads(to_json(graded.record)), "seconds": 0}


def texts_in(tree):
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, LEVELS_OF_JSON):
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from texts_in(part)


@st.composite
def lies(draw):
    """From one answer on, or at one alone: another value in an honest form, or anything at all."""
    # the first answer comes before any code of the student's
    begin, goes_on = draw(st.integers(2, 12)), draw(st.booleans())
    value, stream, is_formal = draw(values), draw(streams), draw(st.integers(0, 3)) > 0
    sides = draw(st.sampled_from(["value", "left", "value and left", "requires graph"]))

    def lie(number, operation, reply):
        if number < begin or (number > begin and not goes_on):
            return reply
        if not is_formal:
            return stream
        honest = wire.decode(reply)
        if operation == "request" and "value" in honest:
            answer = honest["value"]
            answer |= {"value": value} if "value" in sides else {}
            answer |= {"left": wire.encode(((value, 3), {}))} if "left" in sides else {}
            answer |= {"graph": 1} if "graph" in sides else {}
        elif operation == "defined":
            honest["value"] = value
        return wire.encode(honest)

    return lie


@given(lies())
def test_a_lie_costs_points_at_most_and_the_next_verdict_is_the_same(marked, lie):
    graded = marked.with_lies(lie)
    assert graded.record.status == "graded"
    assert 0 <= graded.record.points <= 4
    json.dumps(graded.as_json()).encode()
    for text in texts_in(graded.as_json()):
        assert plain_text(text) == text
    for exercise in graded.record.exercises:
        assert all(len(check.message) <= LONGEST_MESSAGE + 100 for check in exercise.checks)
    assert said(marked.with_lies(honestly)) == marked.honest
