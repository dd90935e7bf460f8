"""The grader's run of a check gives the verdict the notebook gives, and tells whose fault a failure is."""

import contextlib
import io

import pytest

from autograder.checking.examine import run_checks
from autograder.source.homework import references, stubs
from autograder.source.loading import load
from course.checks import LocalLink, Unreachable, homework


def verdicts(source, things, **options):
    return {done.check.name: done.result for done in run_checks(source, LocalLink(things), **options)}


@pytest.fixture
def source(mini):
    return load(mini)


@pytest.fixture
def right(source):
    return references(source)


def inputs(source, things, seed):
    runs = run_checks(source, LocalLink(things), seed)
    return {done.check.name: [event.args for event in done.trace.events] for done in runs}


def test_the_reference_passes_and_the_stub_fails_every_check(source, right):
    assert set(verdicts(source, right).values()) == {"passed"}
    assert set(verdicts(source, stubs(source)).values()) == {"failed"}


def test_a_stub_is_told_that_it_is_not_written_yet(source):
    [done, *_] = run_checks(source, LocalLink(stubs(source)))
    assert done.message == "`moving_average` is not written yet. This is your next step."


def test_the_verdict_is_the_one_the_notebook_gives(source):
    notebook = homework("none", fingerprints={"exercises": {}, "checks": {}})
    for entry in source.misconceptions:
        for check in source.checks:
            scope = source.namespace()
            exec(check.source, scope)
            with contextlib.redirect_stdout(io.StringIO()):
                points = notebook(scope[check.name], moving_average=entry.thing)
            assert verdicts(source, {"moving_average": entry.thing}, only={check.name}) == {
                check.name: "passed" if points is None else "failed"
            }


def test_a_submission_has_drawn_inputs_of_its_own_in_visible_checks_too(source, right):
    one, two = inputs(source, right, seed=1), inputs(source, right, seed=2)
    assert inputs(source, right, seed=1) == one
    assert inputs(source, right, None)["there_is_one_average_per_window"] not in (
        one["there_is_one_average_per_window"],
        two["there_is_one_average_per_window"],
    )
    assert {name for name in one if one[name] != two[name]} == {
        "there_is_one_average_per_window",
        "averages_are_right_for_any_width",
    }


def test_only_the_named_checks_run(source, right):
    assert list(verdicts(source, right, only={"averages_are_right"})) == ["averages_are_right"]


def test_the_scope_is_left_as_it_was(source, right):
    scope = source.namespace()
    before = dict(scope)
    run_checks(source, LocalLink(right), scope=scope)
    assert scope == before


def test_a_claim_that_stumbles_over_what_came_back_has_failed(source, right):
    for known in (None, right):
        runs = run_checks(source, LocalLink({"moving_average": lambda values, width: 5}), references=known)
        assert {done.result for done in runs} == {"failed"}
        assert runs[0].message == "`moving_average` returned 5, a number, where a sequence is expected"


ORACLE = "    assert_equal(len(moving_average(values, 3)), 5)"


@pytest.mark.parametrize("answer", [None, lambda values, width: []], ids=["the right answer", "a wrong one"])
@pytest.mark.parametrize(
    "fault",
    [
        "import no_such_module",
        "assert_equal.core",
        "raise MemoryError",
        "raise OSError('full')",
        "assert False",
    ],
)
def test_what_goes_wrong_in_the_checks_own_oracle_could_not_run(mini, edit, right, answer, fault):
    edit(mini / "mini_homework.py", ORACLE, f"    moving_average(values, 3)\n    {fault}\n{ORACLE}")
    things = right if answer is None else {"moving_average": answer}
    [done] = run_checks(
        load(mini), LocalLink(things), only={"there_is_one_average_per_window"}, references=right
    )
    assert done.result == "could_not_run"


DOWN = "\n\ndef down(n):\n    return 0 if n < 1 else down(n - 1)\n"


@pytest.mark.parametrize(
    ("looked_at", "said"), [("bytes(int(abs({})))", "too large"), ("down({})", "nested too deeply")]
)
def test_an_answer_that_is_too_much_to_look_at_is_the_students_fault(mini, edit, right, looked_at, said):
    answer = looked_at.format("moving_average(values, 3)[0]")
    edit(mini / "mini_homework.py", ORACLE, f"    {answer}\n{ORACLE}")
    edit(mini / "mini_homework.py", "assert_close, assert_equal\n", f"assert_close, assert_equal\n{DOWN}")
    link = LocalLink({"moving_average": lambda values, width: [2.0**60]})
    [done, *_] = run_checks(load(mini), link, references=right)
    assert (done.result, said in done.message) == ("failed", True)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("    values = draw.normal(7).tolist()\n", "    values = nonsense\n", "NameError"),
        ("    assert_equal(len(moving_average(values, 3)), 5)\n", "\n\nabsent\n", "NameError"),
    ],
)
def test_a_broken_check_could_not_run_and_costs_nobody_anything(mini, edit, old, new, why):
    edit(mini / "mini_homework.py", old, new)
    source = load(mini)
    done = run_checks(source, LocalLink(references(source)))[0]
    assert done.result == "could_not_run"
    assert why in done.message


class Unplugged:
    """A link that fails in a given way from its second call on."""

    def __init__(self, things, problem):
        self.link, self.problem, self.calls = LocalLink(things), problem, 0

    def request(self, *args, **kwargs):
        self.calls += 1
        if self.calls > 1:
            raise self.problem
        return self.link.request(*args, **kwargs)


@pytest.mark.parametrize(
    ("problem", "result"),
    [(Unreachable("it did not finish within 10 s"), "failed"), (BrokenPipeError("lost"), "could_not_run")],
)
def test_a_silent_student_has_failed_and_a_lost_connection_could_not_run(source, right, problem, result):
    runs = run_checks(source, Unplugged(right, problem))
    assert [done.result for done in runs] == ["passed", result, result]


def test_provided_functions_reach_the_students_names(mini, edit, right):
    path = mini / "mini_homework.py"
    edit(
        path,
        "# %% [markdown] exercise",
        "def twice(values):\n    return moving_average(values, 2)\n\n# %% [markdown] exercise",
    )
    edit(path, "    values = draw.normal(7).tolist()\n", "    values = twice([0.0] * 8)\n")
    assert verdicts(load(mini), right)["there_is_one_average_per_window"] == "passed"
