"""The results of an experiment, in a file that grows while it runs, and the paths of its checkpoints."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from course.training import History

Record = dict[str, Any]
RECORDED = Path(__file__).parent / "recorded"


@dataclass(frozen=True)
class ResultsFile:
    """A JSON file: how the experiment was run, and one record per model and seed."""

    path: Path
    about: Record  # configuration, machine
    command: Callable[[Sequence[Record]], str]  # what repeats the runs of the file

    def add(self, record: Record) -> None:
        """Add a record to those of the same experiment; it replaces an older one of the same model."""
        others = [each for each in self._same_experiment() if _key(each) != _key(record)]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        runs = sorted([*others, record], key=_key)
        text = one_line_per_run({"command": self.command(runs), **self.about}, runs)
        self.path.write_text(text, encoding="utf-8")

    def _same_experiment(self) -> Sequence[Record]:
        if not self.path.exists():
            return []
        contents = read_results(self.path)
        return contents["runs"] if contents["config"] == self.about["config"] else []


def _key(record: Record) -> tuple[str, int]:
    return record["model"], record["seed"]


def one_line_per_run(about: Record, runs: Sequence[Record]) -> str:
    """JSON with one run per line, so that a person can read it and a diff stays short."""
    head = json.dumps(about, ensure_ascii=False, indent=1).removesuffix("\n}")
    lines = ",\n".join(json.dumps(run, ensure_ascii=False) for run in runs)
    return f'{head},\n "runs": [\n{lines}\n]}}\n'


def read_results(path: Path) -> Record:
    """Read a file that `ResultsFile` wrote."""
    return json.loads(path.read_text(encoding="utf-8"))


def recorded_results(name: str) -> Record:
    """The results that come with the course: as "lengths_small" or "budgets_1x".

    Raises ValueError for another name.
    """
    path = RECORDED / f"{name}.json"
    if not path.exists():
        known = ", ".join(sorted(each.stem for each in RECORDED.glob("*.json")))
        raise ValueError(f"name: expected one of {known}, got {name!r}")
    return read_results(path)


def about(config: Any, device: torch.device) -> Record:
    """What an experiment was run with."""
    return {
        "config": json.loads(json.dumps(asdict(config))),  # tuples become lists, as they will in the file
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def training_summary(history: History) -> Record:
    """How long a model was trained, what a step cost, and the loss it reached."""
    last = history.losses[-50:]
    return {
        "n_steps": history.n_steps,
        "seconds_of_training": round(history.seconds, 1),
        "cpu_milliseconds_per_step": round(1000 * history.cpu_seconds / history.n_steps, 1),
        "final_loss": round(sum(last) / len(last), 4),
    }


def checkpoint_path(folder: Path, name: str, seed: int, config: Any) -> Path:
    """One file per model, seed and configuration, so a changed experiment never continues an old model."""
    digest = hashlib.sha256(repr(config).encode()).hexdigest()[:8]
    return folder / f"{name}_{seed}_{digest}.pt"
