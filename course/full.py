"""Everything that is recorded at full scale, by one command in the repository, on a machine with a GPU.

    python -m course.full --plan            what it would run, and what is recorded already
    python -m course.full                   run what is not recorded yet, and write docs/full_scale.md
    python -m course.full --only ladder-0 --again

Each task is a command of its own, whose output, seconds and machine are kept in docs/full_scale/. A task that
failed is run again the next time; an interrupted run goes on with the next task.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

import torch

SECONDS_OF_A_NOTEBOOK = 180  # what one may take at full scale
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Task:
    """A command, and what it is to show."""

    name: str
    arguments: str  # of Python
    goal: str
    course_scale: str = ""  # for a notebook

    @property
    def command(self) -> str:
        """The command as a person would type it."""
        scale = f"COURSE_SCALE={self.course_scale} " if self.course_scale else ""
        return f"{scale}python {self.arguments}"


@dataclass(frozen=True)
class Done:
    """What a task left behind."""

    command: str
    is_right: bool  # it ended without an error
    seconds: float
    machine: str
    date: str
    output: str


def notebook(path: Path, course_scale: str) -> Task:
    """A notebook from its first to its last cell; the file itself is not changed."""
    arguments = f"-m jupyter execute --timeout=-1 {path}"
    return Task(path.stem, arguments, f"at most {SECONDS_OF_A_NOTEBOOK} s", course_scale)


def full_tasks() -> list[Task]:
    """What is recorded at full scale, the quickest first."""
    ladder, translation = "-m course.ladder", "-m course.translation_experiment"
    notebooks = [*sorted(Path("lectures").glob("*.ipynb")), *sorted(Path("solutions").glob("*/*.ipynb"))]
    translated = (("lengths", "paper"), ("budgets", "paper"), ("budgets", "4x"), ("budgets", "16x"))
    tests = "-m pytest tests/course/test_captured.py tests/course/kernels -rs"
    return [
        Task("tests", tests, "replayed steps and cuDNN give the numbers of our own lines"),
        Task("steps", "benchmarks/training_steps.py", "GPT at least 1,000 steps/s, GRU and LSTM 200"),
        Task("gpt2", "benchmarks/gpt_throughput.py", "ratio at least 1.0 at every size, 45 % of the peak"),
        Task("smollm2", "benchmarks/real_model.py --batch-sizes 1 64", "tokens/s against transformers"),
        Task(
            "shakespeare",
            "-m course.shakespeare --setting gpu --record docs",
            "validation loss of 1.47 in at most 60 s",
        ),
        Task("ladder-default", f"{ladder} --picture build/full/ladder.png", "at most 40 s"),
        *(
            Task(f"ladder-{seed}", f"{ladder} --scale full --seeds {seed} --record docs", "at most 300 s")
            for seed in range(3)
        ),
        *(notebook(path, "full") for path in notebooks),
        *(
            Task(
                f"{word}-{scale}",
                f"{translation} {word} --scale {scale} --seeds 0 1 2 --to build/full",
                "quality by length of the sentence",
            )
            for word, scale in translated
        ),
    ]


def smallest_tasks() -> list[Task]:
    """One task of each kind at its smallest size, which shows that the commands work."""
    ladder = "-m course.ladder --scale tiny --rungs bigram gpt --device cpu --picture build/full/tiny.png"
    return [
        Task("steps", "benchmarks/training_steps.py --rungs gpt --steps 3", "a table"),
        Task("ladder-default", ladder, "a table"),
        notebook(Path("lectures/00_welcome.ipynb"), "small"),
    ]


SCALES: dict[str, Callable[[], list[Task]]] = {"full": full_tasks, "smallest": smallest_tasks}


def machine() -> str:
    """The GPU, if there is one, and the cores."""
    gpu = f"{torch.cuda.get_device_name()}; " if torch.cuda.is_available() else ""
    return f"{gpu}{os.cpu_count()} cores ({platform.machine()}); PyTorch {torch.__version__}"


def perform(task: Task) -> Done:
    """Run a task; what it prints is shown and kept."""
    began, lines = time.perf_counter(), []
    with subprocess.Popen(
        [sys.executable, *shlex.split(task.arguments)],
        env=os.environ | {"COURSE_SCALE": task.course_scale or "small"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        for line in process.stdout or ():
            text = line.decode(errors="replace")
            print(text, end="", flush=True)
            lines.append(text.rstrip("\n").rpartition("\r")[2])  # of a progress bar, its last state
    seconds = time.perf_counter() - began
    today = f"{date.today():%d %B %Y}"
    return Done(task.command, process.returncode == 0, seconds, machine(), today, "\n".join(lines[-60:]))


def path_of(task: Task, folder: Path) -> Path:
    """Where the record of a task is."""
    return folder / "full_scale" / f"{task.name}.json"


def read(task: Task, folder: Path) -> Done | None:
    """The record of a task; None if it was not run, or its command is another now."""
    path = path_of(task, folder)
    if not path.exists():
        return None
    done = Done(**json.loads(path.read_text(encoding="utf-8")))
    return done if done.command == task.command else None


def state(done: Done | None) -> str:
    """A task's state in a few words."""
    if done is None:
        return NOT_MEASURED
    return f"{done.seconds:.0f} s" if done.is_right else "failed"


def page(tasks: Sequence[Task], records: Sequence[Done | None]) -> str:
    """The page of the documentation, made from the records."""
    both = list(zip(tasks, records, strict=True))
    rows = "\n".join(f"| `{task.command}` | {task.goal} | {state(done)} |" for task, done in both)
    outputs = "\n".join(
        f"## {task.name}\n\n{done.machine}; {done.date}.\n\n```text\n{done.output}\n```\n"
        for task, done in both
        if done is not None and not (done.is_right and task.course_scale)
    )
    return f"""# At full scale

    python -m course.full

runs every command below that is not measured yet, on a machine with a GPU, and writes this page.

What differs on a GPU is in `course/captured.py` (steps of small models are replayed), `course/precision.py`
(bfloat16; float16 with a scaled loss on cards without it, such as Colab's T4; float32 for small models) and
`course/kernels/`. All of it is tested on the CPU, except CUDA's own part, which the first command tests.

| command | is to show | seconds |
| --- | --- | ---: |
{rows}

{outputs}"""


def main(words: Sequence[str]) -> int:
    """Run what is not recorded; 1 if a task failed."""
    parser = argparse.ArgumentParser(prog="python -m course.full", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--scale", choices=SCALES, default="full", help="smallest: to try the command itself")
    parser.add_argument("--plan", action="store_true", help="only print the commands and their state")
    parser.add_argument("--only", nargs="+", metavar="TASK", help="some of the tasks")
    parser.add_argument("--again", action="store_true", help="also those that are recorded")
    parser.add_argument("--to", type=Path, default=Path("docs"), metavar="FOLDER", help="by default docs")
    asked = parser.parse_args(words)
    if not Path("lectures").is_dir():
        parser.error("expected to be run in the course's repository, where lectures/ and benchmarks/ are")
    tasks = SCALES[asked.scale]()
    unknown = set(asked.only or ()) - {task.name for task in tasks}
    if unknown:
        parser.error(f"--only: expected some of {', '.join(task.name for task in tasks)}; got {unknown}")
    if asked.plan:
        for task in tasks:
            print(f"{task.name:<28}{state(read(task, asked.to)):<14}{task.command}")
        return 0
    if asked.scale == "full" and not torch.cuda.is_available():
        parser.error("expected an NVIDIA GPU; without one, try --plan or --scale smallest")
    for task in tasks:
        done = read(task, asked.to)
        is_open = done is None or not done.is_right or asked.again
        if is_open and (asked.only is None or task.name in asked.only):
            print(f"--- {task.name}: {task.command}", flush=True)
            keep(task, perform(task), asked.to)
            write_page(tasks, asked.to)
    return int(any(not done.is_right for done in (read(task, asked.to) for task in tasks) if done))


def keep(task: Task, done: Done, folder: Path) -> None:
    """Write the record of a task."""
    path = path_of(task, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(done), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_page(tasks: Sequence[Task], folder: Path) -> None:
    """Write the page of what is recorded so far."""
    (folder / "full_scale.md").write_text(page(tasks, [read(task, folder) for task in tasks]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
