"""A class on a real JupyterHub with two courses: fetch, work, validate, hand in, be graded, read feedback."""

import json
from importlib.util import find_spec

import pytest
import requests
from closed_homes import NAMES, HubOfAccounts, a_folder, why_not
from grading import NAME, RIGHT, catalogue, named
from hub_of_two_courses import Hub, Person, proxy_in
from interrupted import records
from tried import compare

from autograder.source.sample_submissions import answered

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(find_spec("jupyterhub") is None, reason="`pip install -e '.[hub]'` brings JupyterHub"),
]
WRONG = catalogue("misconceptions")["divides_by_all"]
ANSWERS = {("first", "ada"): RIGHT, ("first", "bob"): WRONG, ("second", "bob"): RIGHT}
POINTS = {RIGHT: 4, WRONG: 1}


@pytest.fixture(scope="module", params=[Hub, HubOfAccounts], ids=["one account", "closed homes"])
def hub(request):
    if request.param is HubOfAccounts and (problem := why_not()):
        pytest.skip(problem)
    with a_folder() as npm, a_folder() as folder:
        proxy, problem = proxy_in(npm)
        if proxy is None:
            pytest.skip(problem)
        compare("configurable-http-proxy", proxy)
        compare("Node", "node")
        hub = request.param(folder, proxy)
        with pytest.MonkeyPatch.context() as patch:
            hub.prepare(patch)
        with hub.running():
            for course in hub.courses.values():
                course.type("nbgrader", "release_assignment", NAME)
            yield hub


@pytest.fixture(scope="module")
def people(hub):
    """Everybody who uses a server, signed in."""
    names = ("ada", "bob", "cleo")
    found = {name: Person(hub, name) for name in names}
    for one in found.values():
        one.start_server()
    return found


def work_on(person, course, answer):
    """Fetch, solve and save the notebook."""
    person.assignment("fetch", course)
    notebook = person.ask("GET", person.notebook(course))["content"]
    words = named(notebook, "why_smooth")["source"] + "\n\nIt averages noise away."
    solved = answered(notebook, {"moving_average": answer, "why_smooth": words})
    body = {"type": "notebook", "format": "json", "content": solved}
    person.ask("PUT", person.notebook(course), data=json.dumps(body))


@pytest.fixture(scope="module")
def handed_in(hub, people):
    """Everybody's work, collected, graded by a watcher, and with feedback released."""
    for (course, name), answer in ANSWERS.items():
        work_on(people[name], course, answer)
        people[name].assignment("submit", course)
    for name, course in hub.courses.items():
        expected = {who: POINTS[answer] for (where, who), answer in ANSWERS.items() if where == name}
        with course.watching() as watcher:
            course.type("nbgrader", "collect", NAME)

            def is_graded(course=course, expected=expected, watcher=watcher):
                assert watcher.poll() is None, (course.folder / "watch.log").read_text()
                return {who: record.points for who, record in records(course.folder).items()} == expected

            hub.wait_until(is_graded)
        course.type("nbgrader", "generate_feedback", "--force", NAME)
        course.type("nbgrader", "release_feedback", NAME)
    return people


def test_students_see_the_homework_of_their_own_courses_and_of_no_other(people):
    seen = {
        name: {
            course
            for course in ("first", "second")
            for one in person.ask("GET", "assignments", params={"course_id": course})["value"]
            if one["status"] == "released" or one["status"] == "fetched"
        }
        for name, person in people.items()
    }
    assert seen == {"ada": {"first"}, "bob": {"first", "second"}, "cleo": {"second"}}


def test_validate_names_the_checks_that_do_not_hold_and_none_of_a_right_answer(people):
    person = people["cleo"]
    path = f"second/{NAME}/{NAME}.ipynb"
    for answer, is_right in ((WRONG, False), (RIGHT, True)):
        work_on(person, "second", answer)
        said = person.ask("POST", "assignments/validate", data={"path": path})
        assert said["success"], said
        assert ("failed" in said["value"]) is not is_right


def test_feedback_comes_back_to_each_student_of_each_course(hub, handed_in):
    for (course, name), answer in ANSWERS.items():
        handed_in[name].assignment("fetch_feedback", course)
        pages = [*(hub.folder / "homes" / name / course / NAME / "feedback").rglob("*.html")]
        assert len(pages) == 1
        is_named = "divided by the number of all values" in pages[0].read_text()
        assert is_named is (answer == WRONG)


def formgrader(hub, name, course):
    return Person(hub, name).get(f"{hub.address}/services/{course}/formgrader/api/assignments")


def test_staff_see_the_marks_of_their_course_in_formgrader(hub, handed_in):
    for name, course in (("prof", "first"), ("dean", "second")):
        [assignment] = formgrader(hub, name, course).json()
        expected = [POINTS[answer] for (where, _), answer in ANSWERS.items() if where == course]
        assert assignment["num_submissions"] == len(expected)
        assert assignment["average_score"] == pytest.approx(sum(expected) / len(expected))


@pytest.mark.parametrize(("name", "course"), [("ada", "first"), ("prof", "second"), ("dean", "first")])
def test_formgrader_is_open_to_nobody_else(hub, name, course):
    assert formgrader(hub, name, course).status_code == 403


def test_nobody_reaches_another_persons_server_or_enters_by_another_name(hub, people):
    assert people["ada"].get(f"{hub.address}/user/bob/api/contents").status_code in (403, 404)
    stranger = requests.Session()
    stranger.get(f"{hub.address}/hub/login")
    [token] = [one.value for one in stranger.cookies if one.name == "_xsrf"]
    said = {"username": "mallory", "password": "any", "_xsrf": token}
    assert stranger.post(f"{hub.address}/hub/login", data=said).status_code == 403


def test_where_everybody_has_an_account_nobody_reads_what_is_anothers(hub, handed_in):
    """Homes, courses, and in the exchange what others handed in and were told; graders need none of it."""
    if not hub.has_accounts:
        pytest.skip("all people of this hub share an account")
    exchange = hub.folder / "exchange"
    closed = {hub.home(name): name for name in NAMES}
    closed |= {course.folder: course.grader for course in hub.courses.values()}
    closed |= {folder: f"grader-{folder.parts[-2]}" for folder in exchange.glob("*/inbound")}
    closed |= {folder: f"grader-{folder.parts[-2]}" for folder in exchange.glob("*/feedback")}
    assert len(closed) == len(NAMES) + 3 * len(hub.courses)
    for folder, owner in closed.items():
        assert [name for name in NAMES if hub.can_list(name, folder)] == [owner]
