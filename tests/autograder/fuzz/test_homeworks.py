"""Every check of every homework, put to answers of which some are spoiled: a verdict, in clean words."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marked import seldom, texts_in
from puppet import LIMITS, Puppet, student
from spoiling import spoiled

from autograder.checking.examine import FAILED, PASSED, run_check
from autograder.grading.judge import _check_record, in_full
from autograder.grading.standin import RemoteLink, Sitting
from autograder.isolation import wire
from autograder.markup import plain_text
from autograder.source.homework import references
from autograder.source.loading import find
from course.language import ENGLISH

ROOT = Path(__file__).parents[3]
HOMEWORKS = sorted(path.name for path in (ROOT / "solutions").iterdir() if path.name.startswith("hw"))
BY_DAY, *AT_NIGHT = HOMEWORKS


class Examined:
    """A homework whose checks are put to its own right answers."""

    def __init__(self, name):
        self.homework = find(name, ROOT)
        self.references = references(self.homework)
        self.scope = self.homework.namespace()

    def by(self, check, lie):
        with_lies = Sitting(lambda: student(Puppet(dict(self.references), lie).answer), LIMITS)
        try:
            link = RemoteLink(with_lies)
            return run_check(self.homework, check, link, 7, self.scope, self.references)
        finally:
            with_lies.close()


@pytest.fixture(
    scope="module", params=[BY_DAY, *(pytest.param(name, marks=pytest.mark.nightly) for name in AT_NIGHT)]
)
def examined(request):
    return Examined(request.param)


def lying(seed, share):
    """Some of the answers are spoiled, in ways that the seed draws."""
    draw = random.Random(seed)

    def lie(number, operation, reply):
        honest = wire.decode(reply)
        if operation != "request" or "value" not in honest or draw.random() > share:
            return reply
        answer = honest["value"]
        answer["value"] = spoiled(answer["value"], draw)
        if draw.random() < 0.1:
            answer["graph"] = None if answer["graph"] else 1
        return wire.encode(honest)

    return lie


@seldom
@given(place=st.integers(0, 1000), seed=st.integers(0, 2**32), share=st.sampled_from([0.1, 0.5, 1.0]))
def test_a_spoiled_answer_gets_a_verdict(examined, place, seed, share):
    check = examined.homework.checks[place % len(examined.homework.checks)]
    done = examined.by(check, lying(seed, share))
    assert done.result in (PASSED, FAILED), done
    if done.result == FAILED:
        record = _check_record(done._replace(message=in_full(done)), ENGLISH)
        for text in texts_in(json.loads(json.dumps(vars(record)))):
            assert plain_text(text) == text


def test_right_answers_pass_afterwards(examined):
    for check in examined.homework.checks:
        assert examined.by(check, lambda number, operation, reply: reply).result == PASSED, check.name
