"""A student's process that lies gets a record and no more, and changes nothing for the next student."""

import json

from hypothesis import given
from hypothesis import strategies as st
from marked import said, seldom, texts_in
from test_sessions import streams
from values import values

from autograder.grading.judge import LONGEST_MESSAGE
from autograder.isolation import wire
from autograder.markup import plain_text


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


@seldom
@given(lies())
def test_a_lie_costs_points_at_most_and_the_next_verdict_is_the_same(marked, lie):
    graded = marked.graded(lie=lie)
    assert graded.record.status == "graded"
    assert 0 <= graded.record.points <= 4
    json.dumps(graded.as_json()).encode()
    for text in texts_in(graded.as_json()):
        assert plain_text(text) == text
    for exercise in graded.record.exercises:
        assert all(len(check.message) <= LONGEST_MESSAGE + 100 for check in exercise.checks)
    assert said(marked.graded()) == marked.honest
