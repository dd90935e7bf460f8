"""The command for full scale: its plan, its records, its page, and a run at the smallest scale."""

import shlex
from pathlib import Path

import pytest

from course import full
from course.full import Done, Task, full_tasks, main, page, perform, read, state, write_page

ROOT = Path(__file__).parents[2]
HELLO = Task("hello", """-c 'print("hello")'""", "a word")
FAILS = Task("fails", """-c 'raise SystemExit(3)'""", "nothing")
SCALE = Task("scale", """-c 'import os; print(os.environ["COURSE_SCALE"])'""", "a scale", "full")


@pytest.fixture
def two_tasks(monkeypatch):
    """A plan of two tasks, of which the second fails; the list counts how often each was run."""
    ran = []

    def performed(task):
        ran.append(task.name)
        return perform(task)

    monkeypatch.setitem(full.SCALES, "smallest", lambda: [HELLO, FAILS])
    monkeypatch.setattr(full, "perform", performed)
    return ran


def test_a_task_leaves_its_output_its_seconds_and_whether_it_ended_well():
    done, failed = perform(HELLO), perform(FAILS)
    assert (done.output, done.is_right, failed.is_right) == ("hello", True, False)
    assert done.seconds > 0
    assert done.machine.endswith(full.torch.__version__)


def test_a_notebook_is_run_at_the_scale_that_its_command_names():
    assert perform(SCALE).output == "full"
    assert SCALE.command.startswith("COURSE_SCALE=full python ")


def test_of_a_progress_bar_the_last_state_is_kept():
    assert perform(Task("bar", r"""-c 'print("1/2\r2/2\rdone")'""", "")).output == "done"


def test_what_is_recorded_is_not_run_again_and_what_failed_is(two_tasks, tmp_path):
    assert main(["--scale", "smallest", "--to", str(tmp_path)]) == 1
    assert main(["--scale", "smallest", "--to", str(tmp_path)]) == 1
    assert two_tasks == ["hello", "fails", "fails"]
    main(["--scale", "smallest", "--to", str(tmp_path), "--only", "hello", "--again"])
    assert two_tasks[3:] == ["hello"]


def test_a_record_of_another_command_does_not_count(two_tasks, tmp_path):
    main(["--scale", "smallest", "--to", str(tmp_path), "--only", "hello"])
    assert read(HELLO, tmp_path).is_right
    assert read(Task("hello", "another", ""), tmp_path) is None


def test_the_plan_runs_nothing(two_tasks, tmp_path, capsys):
    assert main(["--plan", "--scale", "smallest", "--to", str(tmp_path)]) == 0
    assert two_tasks == []
    assert "not measured" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_without_a_gpu_nothing_is_recorded_as_full_scale(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(full.torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit):
        main(["--to", str(tmp_path)])
    assert "expected an NVIDIA GPU" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_unknown_task_is_refused(two_tasks, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--scale", "smallest", "--only", "hallo", "--to", str(tmp_path)])
    assert "expected some of hello, fails" in capsys.readouterr().err


def test_the_page_says_what_is_not_measured_and_shows_what_is():
    done = Done(HELLO.command, True, 2.0, "a machine", "today", "hello")
    quiet = Done(SCALE.command, True, 3.0, "a machine", "today", "cells")
    written = page([HELLO, FAILS, SCALE], [done, None, quiet])
    assert f"| `{FAILS.command}` | nothing | not measured |" in written
    assert f"| `{HELLO.command}` | a word | 2 s |" in written
    assert "hello\n```" in written
    assert "cells" not in written  # a notebook that ran has nothing more to say
    assert state(Done("", False, 1.0, "", "", "")) == "failed"


def test_every_file_and_word_of_the_plan_exists():
    names = [task.name for task in full_tasks()]
    assert len(names) == len(set(names)) > 30
    for task in full_tasks():
        words = shlex.split(task.arguments)
        if words[0] != "-m":
            assert (ROOT / words[0]).exists()
        elif task.course_scale:
            assert (ROOT / words[-1]).exists()
        else:
            assert words[1].startswith(("course.", "pytest"))


def test_the_documentation_shows_the_records_in_the_repository(tmp_path):
    records = tmp_path / "full_scale"
    records.mkdir()
    for path in (ROOT / "docs" / "full_scale").glob("*.json"):
        (records / path.name).write_text(path.read_text())
    write_page(full_tasks(), tmp_path)
    assert (ROOT / "docs" / "full_scale.md").read_text() == (tmp_path / "full_scale.md").read_text()


@pytest.mark.nightly
def test_the_smallest_scale_runs_to_its_end(tmp_path):
    assert main(["--scale", "smallest", "--to", str(tmp_path)]) == 0
    written = (tmp_path / "full_scale.md").read_text()
    assert "Transformer" in written
    assert "not measured |" not in written
