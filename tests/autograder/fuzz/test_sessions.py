"""Whatever a student's process answers, and when: a value, an error of the student's, or its death."""

import contextlib
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from puppet import CELL, student
from puppet import LIMITS as UNHURRIED
from values import changed_frames, frames, values

from autograder.isolation import Died, Raised, wire
from autograder.isolation.channel import LENGTH
from autograder.isolation.limits import size_of
from autograder.isolation.replies import MAX_FRAMES, MAX_TEXT
from autograder.isolation.results import CellResult, IsolationUnavailable
from course.checks.request import Reply
from course.checks.trace import Object

LIMITS = replace(UNHURRIED, output_bytes=1000, display_bytes=2000)
FAULT = {"class_name": "E", "message": "m", "bases": ["E"], "frames": [], "line": 1, "text": "x"}
FRAME = {"cell": "cell 1", "line": 3, "function": "f", "text": "return"}
PNG = "iVBORw0KGgo="
REPLIES = [
    {"value": None},
    {"value": CELL},
    {"value": {**CELL, "displays": [{"text/plain": "a", "image/png": PNG}], "error": FAULT}},
    {"value": {**CELL, "output": "x" * 2000}},
    {"value": ["f"]},
    {"value": [torch.ones(2), None]},
    {"value": {"value": 3, "left": None, "graph": None}},
    {"value": {"value": torch.ones(2, requires_grad=True), "left": wire.encode((([1],), {})), "graph": 1}},
    {"value": {"value": Object(0, "A"), "left": wire.encode((([1],), {"k": 2})), "graph": 0}},
    {"fault": {**FAULT, "frames": [FRAME, FRAME]}},
]
agreed = st.sampled_from(REPLIES)
replaced = st.builds(lambda value, key: {key: value}, values, st.sampled_from(["value", "fault"]))
inside = st.builds(
    lambda reply, key, other: {
        name: {**part, key: other} if isinstance(part, dict) else other for name, part in reply.items()
    },
    agreed,
    st.sampled_from([*CELL, *FAULT, "value", "left", "graph", "displays"]),
    values | st.lists(values, max_size=2) | values.map(wire.encode),
)
replies = changed_frames((agreed | replaced | inside).map(wire.content)) | frames | replaced.map(wire.encode)
streams = st.one_of(
    replies,
    replies,
    replies,
    replies.map(lambda frame: bytearray(LENGTH.pack(len(frame)) + frame[:-1])),  # it breaks off
    st.binary(max_size=20).map(bytearray),
    st.integers(0, 2**64 - 1).map(LENGTH.pack).map(bytearray),
)
ASKED = {
    "run": lambda s: s.run("x = 1"),
    "ask": lambda s: s.ask("f", "", ([1],), {}),
    "ask with gradients": lambda s: s.ask("f", "", (torch.ones(2),), {"k": 1}, gradients=True),
    "backward": lambda s: s.backward(1, [torch.ones(2)]),
    "defined": lambda s: s.defined(["f", "g"]),
    "guard": lambda s: s.guard(["f"]),
}


def conversation(replies, methods):
    """A student's process that sends these, one for each request, and what came of each request."""
    waiting = iter([wire.encode({"value": None}), *replies])
    with student(lambda frame: next(waiting, bytearray()), LIMITS) as theirs:
        for method in methods:
            try:
                yield ASKED[method](theirs)
            except (Raised, Died) as problem:
                yield problem
        assert theirs.death is None or isinstance(theirs.death, Died)
        if theirs.death is not None:
            with pytest.raises(Died):
                theirs.run("nothing")


@given(st.lists(st.tuples(streams, st.sampled_from([*ASKED])), min_size=1, max_size=4))
def test_a_request_ends_in_what_is_documented(steps):
    sent, methods = zip(*steps, strict=True)
    for method, came in zip(methods, conversation(sent, methods), strict=True):
        if isinstance(came, Raised):
            assert_is_text(came.fault)
        elif not isinstance(came, Died):
            assert_is_as_promised(method, came)


def assert_is_text(fault):
    assert all(type(text) is str for text in (fault.class_name, fault.message, fault.text, *fault.bases))
    assert max(len(text) for text in (fault.class_name, fault.message, fault.text, *fault.bases)) <= MAX_TEXT
    assert len(fault.frames) <= MAX_FRAMES
    assert type(fault.line) in (int, type(None))
    fault.sentence()


def assert_is_as_promised(method, came):
    if method == "run":
        assert type(came) is CellResult
        assert size_of(came.output) <= LIMITS.output_bytes + 100
        shown = [size_of(text) for display in came.displays for text in display.values()]
        assert sum(shown) <= LIMITS.display_bytes
        if came.error is not None:
            assert_is_text(came.error)
    elif method.startswith("ask"):
        assert type(came) is Reply
        assert came.left is None or [type(part) for part in came.left] == [tuple, dict]
    elif method == "backward":
        assert type(came) is list
    else:
        assert came is None or came <= {"f", "g"}


@given(streams)
def test_a_process_that_cannot_be_started_is_no_fault_of_the_student(stream):
    with contextlib.suppress(IsolationUnavailable, Raised, Died), student(lambda frame: stream) as theirs:
        theirs.run("nothing")
