"""Every homework ends with something that runs on the student's own parts, or on ready-made ones."""

import ast
import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
from promised import PROMISED

from autograder.checking.examine import run_checks
from autograder.making.products import build_homework
from autograder.source.address import Address
from autograder.source.homework import completed, references, stubs
from autograder.source.loading import find, names
from course import figures
from course.checks import LocalLink
from course.checks.check import Homework
from course.checks.progress import Score
from course.mine.parts import parts, ready_made
from course.pretrained import explored, predictions, recorded
from course.pretrained.smollm2 import NotInstalled

ROOT = Path(__file__).parents[2]
LIVING = names(ROOT)

# The machines, and the exercises in which they are built.
DRAWN = {
    "feedforward": "FeedForwardLM",
    "rnn": "RNN",
    "lstm_cell": "LSTMCell",
    "gru_cell": "GRUCell",
    "seq2seq": "Decoder",
    "seq2seq_attention": "AttentionDecoder",
    "heads": "MultiHeadAttention",
    "block": "PostNormBlock",
    "gpt": "GPT",
    "transformer": "DecoderBlock",
}


@pytest.fixture(scope="module", params=LIVING)
def homework(request):
    return find(request.param, ROOT)


def alive(homework):
    return [cell for cell in homework.cells if "alive" in cell.labels]


def result(source, scope):
    """What a cell shows: the value of its last line."""
    tree = ast.parse(source)
    exec(compile(ast.Module(tree.body[:-1], []), "<cell>", "exec"), scope)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "<cell>", "eval"), scope)
    exec(compile(ast.Module([last], []), "<cell>", "exec"), scope)
    return None


def shown_by(homework, scope, check, change=str):
    """The last values of the cells, with what they define left in `scope`."""
    scope["check"] = check
    return [result(change(cell.source), scope) for cell in alive(homework)]


def in_haste(source):
    return re.sub(r"n_steps=\d+", "n_steps=2", source)


def test_what_is_built_is_drawn_where_it_is_asked_for():
    """The drawing of a machine stands between the statement of its exercise and the student's cell."""
    found = {}
    for homework in map(find, LIVING):
        labels = [(cell.labels, cell.source) for cell in homework.cells]
        for (drawn, source), (below, _) in pairwise(labels):
            for machine in re.findall(r'figures\.machine\("(\w+)"\)', source) if "alive" in drawn else ():
                found[machine] = below["solution"]
                assert figures.machine(machine).html()
    assert found == DRAWN


def test_every_homework_ends_alive(homework):
    assert alive(homework)


@pytest.mark.nightly
def test_without_a_single_answer_it_runs_on_ready_made_parts(homework, monkeypatch, capsys):
    monkeypatch.chdir(homework.folder)
    scope = homework.namespace() | stubs(homework)
    shown = shown_by(homework, scope, Homework(homework.name), in_haste)
    printed = capsys.readouterr().out
    assert "None of these parts is yours yet. Ready-made" in printed
    assert any(hasattr(value, "alt_text") or hasattr(value, "alt") for value in shown), "no picture"


def test_the_ready_made_parts_are_right(homework):
    built = build_homework(homework, Address("https://example.org/course", "v1"))
    cells = {cell["id"]: cell["source"] for cell in built["cells"]}
    ready = ready_made(homework.name)
    check = Homework(homework.name, is_quiet=True)
    for name, part in ready.items():
        scope = completed(homework) | {name: part, "check": check}
        exec(cells.get("helpers_of_the_checks", ""), scope)
        exec(cells[f"{name}-check"], scope)
    wrong = {name: check.scores[name] for name in ready if not check.scores[name].is_done}
    assert not wrong


@pytest.fixture
def without_the_weights(monkeypatch):
    def missing():
        raise NotInstalled("the weights")

    for module in (explored, predictions, recorded):
        monkeypatch.setattr(module, "loaded", missing)
    monkeypatch.setattr(predictions, "is_installed", lambda: False)


@pytest.mark.parametrize(
    ("name", "parts"), [("hw0_exploring", ("c_exploring.py", "d_game.py")), ("hw6_gpt", ("c3_families.py",))]
)
def test_checks_that_ask_the_real_model_hold_without_its_weights(name, parts, without_the_weights):
    homework = find(name, ROOT)
    asking = {check.name for check in homework.checks if check.line.file.name in parts}
    done = run_checks(homework, LocalLink(references(homework)), 1, only=asking)
    assert [one.check.name for one in done if one.result != "passed"] == []
    assert len(done) > 20


def test_homework_0_plays_from_the_record_without_the_weights(without_the_weights, capsys):
    exploring = find("hw0_exploring", ROOT)
    check = Homework(exploring.name)
    check.scores.update({exercise.name: Score(1, 1) for exercise in exploring.exercises})
    scope = completed(exploring)
    shown_by(exploring, scope, check)
    assert "(stored)" in capsys.readouterr().out
    assert eval(PROMISED[exploring.name], scope)


@pytest.mark.nightly
def test_with_right_answers_it_does_what_it_promises(homework, one_thread, monkeypatch, capsys):
    monkeypatch.chdir(homework.folder)
    check = Homework(homework.name)
    check.scores.update({exercise.name: Score(1, 1) for exercise in homework.exercises})
    scope, begun = completed(homework), time.process_time()
    shown_by(homework, scope, check)
    scope["seconds_busy"] = time.process_time() - begun
    assert "Ready-made" not in capsys.readouterr().out
    assert eval(PROMISED[homework.name], scope)


def test_a_wrong_answer_is_not_used(homework, monkeypatch, capsys):
    """The name of one part that does not hold is among the ready-made ones."""
    part = next(iter(ready_made(homework.name)))
    check = Homework(homework.name)
    check.scores.update({exercise.name: Score(1, 1) for exercise in homework.exercises})
    check.scores[part] = Score(1, 2)
    answers = completed(homework)
    mine = parts(check, **{name: answers[name] for name in ready_made(homework.name)})
    assert mine.ready_made == (part,)
    assert getattr(mine, part) is not answers[part]
    assert f"in this session: {part}." in capsys.readouterr().out.replace("\n", " ")
