"""Feedback reaches a student through nbgrader's exchange, and again after they handed in again."""

import pytest
from grading import NAME, SHORT, catalogue, new_course, solved, submit
from nbgrader.apps.api import NbGraderAPI

from autograder.grade import grade
from autograder.marks.settings import course_config

pytestmark = pytest.mark.usefixtures("one_warm_process")

RECEIPTS = {"2026-11-20 11:00:00.000000 UTC": "abc", "2026-11-21 11:00:00.000000 UTC": "def"}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """The pages in the exchange after each of one student's attempts, by file name."""
    course = new_course(tmp_path_factory.mktemp("given_back") / "course")
    exchange = tmp_path_factory.mktemp("exchange")
    answers = ["width_is_always_three", "divides_by_all"]
    pages = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(course)  # as the instructor's terminal
        patch.setenv("EXCHANGE_ROOT", str(exchange))
        for answer, (time, secret) in zip(answers, RECEIPTS.items(), strict=True):
            path = submit(course, "ada", solved(course, catalogue("misconceptions")[answer]))
            path.with_name("timestamp.txt").write_text(time)
            path.with_name("submission_secret.txt").write_text(secret)
            grade(NAME, course / "submitted", root=course, limits=SHORT, jobs=1)
            api = NbGraderAPI(config=course_config(course))
            for done in (api.generate_feedback(NAME, force=False), api.release_feedback(NAME)):
                assert done["success"], done
            pages.append({path.name: path.read_text() for path in exchange.rglob("*.html")})
    return pages


def test_who_hands_in_again_gets_feedback_on_that(released):
    first, both = released
    assert len(first) == 1
    assert len(both) == 2
    [new] = both.keys() - first.keys()
    assert "divided by the number of all values" in both[new]
    assert "divided by the number of all values" not in next(iter(first.values()))
