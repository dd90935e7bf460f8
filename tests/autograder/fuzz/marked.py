"""A small homework, and what comes of one submission to it whose process may lie."""

import json

from grading import NAME, solved
from hypothesis import settings
from puppet import LIMITS, Puppet, student

from autograder.grading.plan import plan_for
from autograder.grading.submission import grade_submission
from autograder.marks.records import to_json

SEED = 7
seldom = settings(max_examples=max(20, settings.default.max_examples // 10))  # for what takes long


def honestly(number, operation, reply):
    return reply


class Marked:
    """A course's homework, a right submission and what its honest process leads to."""

    def __init__(self, course):
        self.course = course
        self.notebook = solved(course)
        self.data = json.dumps(self.notebook).encode()
        self.plan = plan_for(NAME, course, LIMITS)
        self.plan.prepare()
        self.honest = said(self.graded())

    def graded(self, data=None, lie=honestly):
        """What comes of a submission whose process answers rightly, as far as it does not lie."""

        def start():
            return student(Puppet(dict(self.plan.references), lie).answer)

        return grade_submission("ada", self.data if data is None else data, self.plan, start, SEED)


def said(graded):
    """The verdict, but for the time it took."""
    return {**json.loads(to_json(graded.record)), "seconds": 0}


def texts_in(tree):
    """Every string in what JSON can say."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict | list):
        for part in [*tree, *tree.values()] if isinstance(tree, dict) else tree:
            yield from texts_in(part)
