"""One submission on trial: what counts, what it costs, what is said, and what never gets out."""

import json
import sys

import pytest
from grading import MINI, RIGHT, SHORT, catalogue
from nbformat import from_dict

from autograder.address import Address
from autograder.build import build_homework
from autograder.handed_in import parse
from autograder.homework import load
from autograder.isolation import Warm, choose
from autograder.judge import judge
from autograder.plan import Plan
from autograder.released import source_cells
from autograder.repair import repair
from autograder.sample_submissions import answered, released


@pytest.fixture(scope="module")
def warm():
    with Warm(choose("best"), SHORT) as warm:
        yield warm


@pytest.fixture(scope="module")
def plan():
    homework = load(MINI)
    built = build_homework(homework, Address("https://example.org/course", "v1"))
    return Plan(homework, source_cells(built), SHORT)


@pytest.fixture(scope="module")
def notebook(plan):
    return released(build_homework(plan.homework, Address("https://example.org/course", "v1")))


@pytest.fixture
def judged(plan, notebook, warm):
    def run(answer, *, before=(), after=(), seed=1, plan=plan):
        content = answered(notebook, {"moving_average": answer})
        place = next(i for i, cell in enumerate(content["cells"]) if cell["id"] == "moving_average")
        own = [{"cell_type": "code", "metadata": {}, "source": text} for text in (*before, *after)]
        content["cells"][place:place] = own[: len(before)]
        content["cells"] += own[len(before) :]
        cells, _ = parse(json.dumps(content).encode())
        return judge(plan, repair(cells, plan.source), warm.student, seed)

    return run


def results(judgement):
    return [check.result for check in judgement.exercises[0].checks]


def messages(judgement):
    return [check.message for check in judgement.exercises[0].checks]


def test_the_right_answer_passes_whatever_the_seed(judged):
    assert {tuple(results(judged(RIGHT, seed=seed))) for seed in (1, 2, 3)} == {("passed",) * 3}


def test_a_wrong_answer_shows_what_was_received_and_what_was_expected(judged):
    message = messages(judged(catalogue("misconceptions")["divides_by_all"]))[1]
    assert "received: [3.75, 3.5]" in message
    assert "expected: [5, 4.66667]" in message


def test_the_last_definition_counts(judged):
    assert judged("moving_average = None", after=[RIGHT]).exercises[0].points == 4
    assert judged(RIGHT, after=["def moving_average(v, w): return []"]).exercises[0].points == 0


def test_functions_of_the_students_own_are_there_when_they_are_needed(judged):
    helper = "def mean(values):\n    return sum(values) / len(values)"
    answer = "def moving_average(v, w):\n    return [mean(v[i:i+w]) for i in range(len(v)-w+1)]"
    assert judged(answer, before=[helper]).exercises[0].points == 4


def test_a_failing_cell_elsewhere_costs_nothing(judged):
    assert (
        judged(RIGHT, before=["1 / 0", "def broken(:"], after=["raise SystemExit"]).exercises[0].points == 4
    )


def test_a_syntax_error_in_the_answer_is_told_with_its_line(judged):
    judgement = judged("def moving_average(v, w:\n    return v")
    assert results(judgement) == ["failed"] * 3
    assert "SyntaxError" in messages(judgement)[0]
    assert "line 1" in messages(judgement)[0]


def test_a_cell_that_hangs_is_told_by_its_limit(judged):
    judgement = judged("while True: pass")
    assert messages(judgement)[0] == "`moving_average` is not defined: its cell did not finish within 1.5 s."


def test_after_two_deaths_the_other_checks_of_the_exercise_are_not_tried(judged):
    judgement = judged("import os\ndef moving_average(v, w): os._exit(1)")
    assert messages(judgement)[2].startswith("Not tried: `moving_average` ended itself with exit status 1")
    assert judgement.flags == ("The process running the code ended itself with exit status 1.",)


def test_a_death_in_one_check_leaves_the_points_of_the_others(judged):
    wrapper = """
import os
average = moving_average

def moving_average(values, width):
    return os._exit(1) if len(values) == 4 else average(values, width)
"""
    assert results(judged(RIGHT + wrapper)) == ["passed", "failed", "passed"]


def test_answers_that_agree_with_everything_earn_nothing(judged):
    answer = """
class Agreeable(list):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __len__(self): return 5
    def __float__(self): return 5.0

def moving_average(values, width):
    return Agreeable()
"""
    assert judged(answer).exercises[0].points == 0


def test_patching_the_checks_and_torch_earns_nothing(judged):
    patches = """
import builtins, course.checks, torch
for module in (course.checks, course.checks.compare, torch, builtins):
    for name in ("assert_close", "assert_equal", "allclose", "equal", "same", "all", "any", "abs", "len"):
        if hasattr(module, name):
            setattr(module, name, lambda *a, **k: True)
def moving_average(values, width):
    return values
"""
    assert judged(patches).exercises[0].points == 0


def test_hidden_inputs_are_not_in_anything_that_is_shown(judged):
    answer = """
class Told(Exception):
    pass

seen = []

def moving_average(values, width):
    seen.append(repr(values))
    print(repr(values))
    if width in (4, 11):
        raise Told(repr(seen)) from ValueError(repr(values))
    return [sum(values[i : i + width]) / width for i in range(len(values) - width + 1)]
"""
    judgement = judged(answer, after=["print(seen)"])
    assert results(judgement) == ["passed", "passed", "failed"]
    assert messages(judgement)[2] == "This does not hold. The inputs of this check are not shown."
    assert "0." not in json.dumps(judgement.outputs)


def test_pythons_own_errors_are_named_in_hidden_checks_too(judged):
    answer = RIGHT.replace("heron_starts =", "if width == 4: raise KeyError(str(values))\n    heron_starts =")
    assert messages(judged(answer))[2] == (
        "`moving_average` raised KeyError. The inputs of this check are not shown."
    )


WITH_MEAN = """
import statistics

mean = {mean}

def moving_average(values, width):
    return [mean(values[i : i + width]) for i in range(len(values) - width + 1)]
"""


def test_forbidden_calls_cost_their_exercise_or_only_a_flag(judged, plan):
    answer = WITH_MEAN.format(mean="statistics.mean")
    lenient = Plan(plan.homework, plan.source, plan.limits, forbidden_costs_points=False)
    judgements = judged(answer), judged(answer, plan=lenient)
    assert [judgement.exercises[0].points for judgement in judgements] == [0, 4]
    for judgement in judgements:
        assert judgement.flags[0] == "`moving_average` uses `statistics.mean` in line 4."


def test_a_forbidden_call_that_no_reader_finds_is_caught_when_it_is_made(judged):
    judgement = judged(WITH_MEAN.format(mean="getattr(statistics, 'me' + 'an')"))
    assert results(judgement) == ["failed"] * 3
    assert "statistics.mean may not be used" in messages(judgement)[0]


def test_outputs_are_text_and_pictures_only(judged):
    shown = """
from IPython.display import HTML, Javascript, Markdown, display
display(HTML("<script>alert(1)</script>"), Javascript("alert(2)"), Markdown("<img src=x onerror=alert(3)>"))
print("plain")
"""
    judgement = judged(RIGHT, after=[shown])
    outputs = [from_dict(output) for outputs in judgement.outputs.values() for output in outputs]
    kinds = {kind for output in outputs if output.output_type == "display_data" for kind in output.data}
    assert kinds <= {"text/plain", "image/png"}
    assert any(output.output_type == "stream" and "plain" in output.text for output in outputs)


def test_the_students_process_never_sees_a_check(judged):
    search = """
import gc, sys

def moving_average(values, width):
    names = {getattr(thing, "__name__", "") for thing in gc.get_objects() if callable(thing)}
    texts = "".join(thing for thing in gc.get_objects() if isinstance(thing, str))
    frames, frame = [], sys._getframe()
    while frame:
        frames += [frame.f_code.co_filename, *frame.f_globals]
        frame = frame.f_back
    if "averages_are_right" in names | set(frames) or "autograder.judge" in sys.modules or "pelican" in texts:
        return [sum(values[i : i + width]) / width for i in range(len(values) - width + 1)]
    return []
"""
    assert "autograder.judge" in sys.modules
    assert judged(search).exercises[0].points == 0
