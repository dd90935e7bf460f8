"""One submission on trial: what counts, what it costs, what is said, and what never gets out."""

import builtins
import json
import sys
from dataclasses import replace

import pytest
from grading import MINI, RIGHT, SHORT, catalogue
from memoriser import memoriser
from nbformat import from_dict
from warm_levels import warm_with

from autograder.catalogue import Misconception
from autograder.checking.examine import Examined
from autograder.checking.memorised import ONLY_THE_EXAMPLES
from autograder.grading.judge import judge
from autograder.grading.outputs import Outputs
from autograder.grading.plan import Plan
from autograder.grading.points import paid
from autograder.grading.redaction import DOES_NOT_HOLD, ENDED
from autograder.isolation import CellResult
from autograder.making.products import build_homework
from autograder.source.address import Address
from autograder.source.homework import FAILED, PASSED
from autograder.source.loading import load
from autograder.source.released import source_cells
from autograder.source.sample_submissions import answered, released
from autograder.submissions.handed_in import parse
from autograder.submissions.repair import repair
from course.checks import Trace


@pytest.fixture(scope="module")
def warm():
    return warm_with(SHORT)


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
        cells = parse(json.dumps(content).encode()).cells
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


def wrong_for(length):
    """A mistake in lists of this length alone: of four in a visible check, of eleven in the hidden."""
    wrong = eval(f"lambda v, w: [sum(v[i:i+w]) / (w + (len(v) == {length})) for i in range(len(v)-w+1)]")
    return Misconception(f"for_{length}", "moving_average", frozenset(), None, "Wrong.", "Why?", wrong)


@pytest.mark.parametrize(
    ("divisor", "told", "recorded"),
    [
        ("len(v)", "divides_by_all", "divides_by_all"),
        ("w if len(v) == 11 else len(v)", "divides_by_all", ""),
        ("w + (len(v) == 4)", "for_4", "for_4"),
        ("w + (len(v) == 11)", "", "for_11"),
    ],
)
def test_what_visible_answers_show_is_recorded_unless_hidden_refute_it(judged, plan, divisor, told, recorded):
    known = (*plan.homework.misconceptions, *map(wrong_for, (4, 5, 11)))
    plan = replace(plan, homework=replace(plan.homework, misconceptions=known))
    answer = f"def moving_average(v, w):\n    return [sum(v[i:i+w]) / ({divisor}) for i in range(len(v)-w+1)]"
    exercise = judged(answer, plan=plan).exercises[0]
    assert (exercise.told, exercise.diagnosis) == (tuple(told.split()), tuple(recorded.split()))


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
    assert messages(judgement)[2].startswith("Not tried: `moving_average` exited with status 1")
    assert judgement.flags == ("The process running the code exited with status 1.",)


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
    assert messages(judgement)[2] == DOES_NOT_HOLD
    assert "0." not in json.dumps(judgement.outputs)


HIDDEN_WIDTHS = "if width not in (2, 3):"  # what only the hidden check asks for


def in_hidden(*lines):
    """The right answer, which does something else where it meets a hidden input."""
    body = "\n".join(f"        {line}" for line in lines)
    begin = f"{RIGHT}\nright = moving_average\n\ndef moving_average(values, width):"
    return f"{begin}\n    {HIDDEN_WIDTHS}\n{body}\n    return right(values, width)\n"


ERRORS = [
    name
    for name, thing in vars(builtins).items()
    if isinstance(thing, type) and issubclass(thing, Exception) and not issubclass(thing, UnicodeError)
]
LETTERS = {
    **{name: in_hidden(f"raise {name}('no')") for name in ERRORS},
    "a class called NotWritten": in_hidden("class NotWritten(Exception): pass", "raise NotWritten"),
    "a class called Unreachable": in_hidden("class Unreachable(Exception): pass", "raise Unreachable"),
    "a class called Died": in_hidden("class Died(Exception): pass", "raise Died"),
    "a stub": in_hidden("raise NotImplementedError"),
    **{f"exit status {n}": in_hidden("import os", f"os._exit({n})") for n in (0, 1, 71, 200)},
    **{f"signal {n}": in_hidden("import os", f"os.kill(os.getpid(), {n})") for n in (6, 9, 11, 24)},
    "a sleep": in_hidden("import time", "time.sleep(0.3)", "return []"),
    "a long sleep": in_hidden("import time", "time.sleep(3)"),
    "too much memory": in_hidden("x = bytearray(8 << 30)"),
    "a large answer": in_hidden("return [0.0] * 20_000_000"),
    "a huge range": in_hidden("return range(2**62)"),
    "an answer nested deeply": in_hidden("x = []", "for _ in range(900): x = [x]", "return x"),
    "an object": in_hidden("return object()"),
    "nothing": in_hidden("return None"),
    **{name: in_hidden(f"return ({text})(values, width)") for name, text in {
        "divides by all": "lambda v, w: [sum(v[i:i+w])/len(v) for i in range(len(v)-w+1)]",
        "forgets the last window": "lambda v, w: right(v, w)[:-1]",
        "always three": "lambda v, w: right(v, 3)",
    }.items()},
}  # fmt: skip


def test_a_hidden_check_has_one_sentence_for_whatever_the_code_does_there(judged):
    told = {}
    for letter, answer in LETTERS.items():
        judgement = judged(answer)
        [exercise] = judgement.exercises
        assert results(judgement)[:2] == ["passed", "passed"], letter
        if results(judgement)[2] == "failed":  # a right answer after a sleep is right
            words = (exercise.checks[2].message, exercise.told, len(judgement.outputs))
            told.setdefault(words, []).append(letter)
    assert list(told) == [(DOES_NOT_HOLD, (), len(judgement.outputs))]
    assert len(told.popitem()[1]) == len(LETTERS)


def test_a_hidden_check_that_there_was_no_time_for_is_not_said_to_fail(judged, plan):
    hurried = Plan(plan.homework, plan.source, replace(plan.limits, submission_seconds=3.0))
    judgement = judged(RIGHT.replace(":\n", ":\n    import time; time.sleep(1.2)\n", 1), plan=hurried)
    assert results(judgement)[2] == "failed"
    assert "used up its 3 s" in messages(judgement)[2]
    assert DOES_NOT_HOLD not in messages(judgement)[2]


def test_flags_tell_that_a_process_ended_in_a_hidden_check_and_not_how(judged):
    ways = (
        "import os; os._exit(3)",
        "import os; os.abort()",
        "x = bytearray(8 << 30); import os; os._exit(9)",
    )
    assert {judged(in_hidden(way)).flags for way in ways} <= {
        (f"The process running the code {ENDED}.",),
        (),
    }


def test_a_stub_need_not_be_asked_for_hidden_inputs(judged, plan):
    judgement = judged("def moving_average(values, width):\n    raise NotImplementedError")
    assert messages(judgement)[2] == "`moving_average` is not written yet."


def test_a_table_of_the_visible_checks_answers_earns_nothing(judged, plan):
    judgement = judged("moving_average = None", after=[memoriser(plan.homework)])
    assert results(judgement) == ["failed"] * 3
    assert messages(judgement)[1] == ONLY_THE_EXAMPLES


@pytest.mark.parametrize("is_known", [False, True])
def test_what_holds_for_the_examples_alone_is_paid_if_a_known_mistake_computes_it(plan, is_known):
    done = [Examined(check, FAILED, "wrong", Trace(check.name)) for check in plan.homework.checks]
    done[1] = done[1]._replace(result=PASSED)
    assert done[0].check.draws
    assert not done[1].check.draws
    assert [one.result for one in paid(done, lambda: is_known)] == [
        FAILED,
        PASSED if is_known else FAILED,
        FAILED,
    ]


def test_what_holds_for_other_inputs_too_is_paid(judged):
    judgement = judged(catalogue("misconceptions")["divides_by_all"])
    assert results(judgement) == ["passed", "failed", "failed"]


def test_an_error_of_the_students_that_is_called_as_ours_is_an_error_all_the_same(judged):
    for name in ("NotWritten", "Unreachable", "Died"):
        answer = f"class {name}(Exception): pass\ndef moving_average(v, w): raise {name}('x')"
        judgement = judged(answer)
        assert set(results(judgement)) == {"failed"}
        assert f"`moving_average` raised {name}" in messages(judgement)[0]
        assert not any("not written" in message or "did not" in message for message in messages(judgement))


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("range(2**62)", "a range of more than 1,000,000 numbers"),
        ("torch.empty(2**39, 0)", "a shape with a dimension of more than 100,000,000"),
        ("np.empty((2**39, 0))", "a shape with a dimension of more than 100,000,000"),
        ("[object() for _ in range(20_000)]", "more than 10,000 objects that are not plain data"),
    ],
)
def test_an_answer_that_would_fill_the_grader_is_a_wrong_one(judged, answer, sentence):
    judgement = judged(f"import numpy as np, torch\ndef moving_average(v, w): return {answer}")
    assert set(results(judgement)) == {"failed"}
    assert f"ValueError: {sentence}" in messages(judgement)[0]
    assert judgement.flags == ()


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


def test_outputs_end_at_a_total_with_a_sentence():
    shown = Outputs(most=100)
    results = [CellResult("x" * 60, [], None) for _ in range(4)]
    first, second, *others = [shown.of(result) for result in results]
    assert first[0]["text"] == "x" * 60
    assert second[0]["text"] == "[A submission may show 100 bytes; the rest is left out.]"
    assert others == [[], []]


@pytest.mark.parametrize(
    "text",
    [
        "def moving_average(v, w):\n    return getattr(v, 'a')" + "-" * 9_000 + "1",
        "x = 1  # getattr\n" * 100_000,
    ],
)
def test_an_answer_that_nobody_can_read_gets_a_sentence(judged, text):
    assert results(judged(text)) == ["failed"] * 3


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
    known = "averages_are_right" in names | set(frames) or "pelican" in texts
    if known or "autograder.grading.judge" in sys.modules:
        return [sum(values[i : i + width]) / width for i in range(len(values) - width + 1)]
    return []
"""
    assert "autograder.grading.judge" in sys.modules
    assert judged(search).exercises[0].points == 0
