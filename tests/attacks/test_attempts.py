"""Whole submissions that attack: none gains a point, learns an input, gets out, stays, or harms another."""

import base64
import json
import re
import shutil
import socket
import sqlite3
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from attempts_inside import INSIDE
from attempts_outside import OUTSIDE
from leftovers import left_over, processes_with, unique_seconds, wait_until
from warm_levels import SMALL, warm_or_skip

from autograder.grading import judge as judging
from autograder.grading.plan import Plan
from autograder.grading.submission import grade_submission
from autograder.making.products import build_homework
from autograder.source.address import Address
from autograder.source.loading import load
from autograder.source.released import source_cells
from autograder.source.sample_submissions import answered, reference_answers, released

HOMEWORK = Path(__file__).parents[1] / "autograder" / "mini_homework"
ATTEMPTS = INSIDE | OUTSIDE
LIMITS = replace(SMALL, call_seconds=3.0, cell_seconds=4.0, submission_seconds=15.0)
SECRET = "fourteen-grey-herons"


@dataclass
class Trial:
    """A course on trial at one level of isolation, and what an attack might reach from there."""

    plan: Plan
    notebook: dict
    warm: object
    desk: Path
    listener: socket.socket
    inputs: list[float]  # what the hidden checks asked last

    def graded(self, attempt, seconds):
        """The verdict on a submission, by the way that every submission goes."""
        words = {"DESK": str(self.desk), "PORT": str(self.listener.getsockname()[1]), "LONG": seconds}
        content = answered(self.notebook, {"moving_average": attempt.answer})
        place = next(i for i, cell in enumerate(content["cells"]) if cell["id"] == "moving_average")
        content["cells"][place:place] = map(code, attempt.before)
        content["cells"] += map(code, attempt.after)
        if attempt.edit is not None:
            attempt.edit(content)
        text = json.dumps(content)
        for word, meaning in words.items():
            text = text.replace(word, meaning)
        self.inputs.clear()
        return grade_submission("me", text.encode(), self.plan, self.warm.student, seed=20)


def code(source):
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


@pytest.fixture(scope="module")
def notebook():
    return build_homework(load(HOMEWORK), Address("https://example.org/course", "v1"))


@pytest.fixture(scope="module")
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.01)
        yield server


@pytest.fixture
def desk():
    """An instructor's desk with a class's gradebook, open to every user of the machine."""
    desk = Path(tempfile.mkdtemp(prefix="desk-"))
    (desk / "solutions").mkdir()
    (desk / "solutions" / "hw.py").write_text(f"pelican_values = '{SECRET}'")
    with sqlite3.connect(desk / "gradebook.db") as book:
        book.execute("create table mark (student, points)")
        book.execute("insert into mark values ('ada', 3), ('me', 0)")
    for place in (desk, *desk.rglob("*")):
        place.chmod(0o777)
    yield desk
    shutil.rmtree(desk)


@pytest.fixture
def trial(warm, trial_at):
    return trial_at(warm)


@pytest.fixture
def trial_without(trial_at):
    """A trial on which nothing is kept in."""
    return trial_at(warm_or_skip("none"))


@pytest.fixture
def trial_at(notebook, listener, desk, monkeypatch):
    """A trial with a warm process: trial_at(warm)."""
    inputs, run_check = [], judging.run_check

    def listening(homework, check, *rest):
        done = run_check(homework, check, *rest)
        if check.hidden:
            inputs.extend(number for event in done.trace.events for number in event.args[0])
        return done

    monkeypatch.setattr(judging, "run_check", listening)
    plan = Plan(load(HOMEWORK), source_cells(notebook), LIMITS)
    return lambda warm: Trial(plan, released(notebook), warm, desk, listener, inputs)


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def all_that_is_shown(graded):
    """Whatever of a verdict a student, a reader of feedback or an instructor gets to see."""
    checks = [check for exercise in graded.record.exercises for check in exercise.checks]
    return "\n".join(
        [
            graded.record.problem,
            *graded.record.flags,
            *(check.message for check in checks),
            *(json.dumps(cell.get("outputs", [])) for cell in graded.notebook["cells"]),
        ]
    )


def told(inputs, shown):
    """Those of the numbers whose first digits are shown, as they are or encoded."""
    digits = {str(abs(number))[:7] for number in inputs}
    forms = {d: (d, d[::-1], base64.b64encode(d.encode()).decode()) for d in digits}
    return {number for number, written in forms.items() if any(form in shown for form in written)}


def kinds_of_output(graded):
    outputs = [output for cell in graded.notebook["cells"] for output in cell.get("outputs", [])]
    return {kind for output in outputs for kind in output.get("data", {})}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt_gains_nothing_tells_nothing_and_leaves_nothing(trial, name):
    attempt, seconds, before = ATTEMPTS[name], unique_seconds(), contents(trial.desk)
    graded = trial.graded(attempt, seconds)
    assert (graded.record.points, graded.record.max_points) == (attempt.fair, 4), graded.record
    shown = all_that_is_shown(graded)
    assert told(trial.inputs, shown) == set()
    assert SECRET not in shown
    assert contents(trial.desk) == before
    with pytest.raises(TimeoutError):
        trial.listener.accept()
    assert wait_until(lambda: not processes_with(seconds) and not left_over(trial.warm))
    assert kinds_of_output(graded) <= {"text/plain", "image/png"}
    assert "\x1b" not in shown
    assert "\\u001b" not in shown
    assert not re.search(r"exit status 1\d\d|by SIG", shown)
    with trial.warm.student() as next_student:
        assert next_student.run("print(6 * 7)").output == "42\n"


def test_an_honest_submission_gets_its_marks_here(trial):
    """And its hidden inputs are those that the attempts above are searched for."""
    right = replace(ATTEMPTS["a_clean_exit"], answer=reference_answers(trial.plan.homework)["moving_average"])
    graded = trial.graded(right, unique_seconds())
    assert graded.record.points == 4
    assert len(trial.inputs) == 33
    assert told(trial.inputs, f"received {trial.inputs[5]:.6f}")


@pytest.mark.parametrize("name", ["ones_own_mark", "records_as_files", "a_classmates_mark"])
def test_without_a_sandbox_the_same_attempts_reach_the_desk(trial_without, name):
    """Or the attempts would be harmless, and their tests could not fail."""
    before = contents(trial_without.desk)
    trial_without.graded(ATTEMPTS[name], unique_seconds())
    assert contents(trial_without.desk) != before


def test_the_desk_is_open_to_whoever_is_not_kept_from_it(desk):
    """Or the attempts would be harmless without a sandbox, and their tests could not fail."""
    with sqlite3.connect(desk / "gradebook.db") as book:
        assert book.execute("update mark set points = 4").rowcount == 2
    assert SECRET in (desk / "solutions" / "hw.py").read_text()
    assert oct(desk.stat().st_mode)[-3:] == "777"
