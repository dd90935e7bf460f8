"""Gradescope: one submission's results in its format, and an autograder that runs this grader there.

The format is that of https://gradescope-autograders.readthedocs.io/en/latest/specs/.
"""

from __future__ import annotations

import io
import subprocess
import zipfile
from pathlib import Path

from autograder.marks.exports.marks import ExportError
from autograder.marks.records import CheckRecord, ExerciseRecord, SubmissionRecord
from autograder.source.homework import HomeworkSource

STAMP = (2026, 1, 1, 0, 0, 0)  # the same content gives the same zip
CARRIED = (
    "course",
    "autograder",
    "pyproject.toml",
    "constraints.txt",
    "nbgrader_config.py",
    "README.md",
    "LICENSE",
)

SETUP = """\
#!/usr/bin/env bash
# Run once by Gradescope when the autograder is built.
set -euo pipefail
apt-get update && apt-get install -y --no-install-recommends python3 python3-venv bubblewrap
python3 -m venv /autograder/venv
cd /autograder/source
/autograder/venv/bin/pip install --quiet -c constraints.txt -e '.[instructor]'
/autograder/venv/bin/autograder release {homework}
"""

RUN = """\
#!/usr/bin/env bash
# Run by Gradescope for every submission. The sandbox inside its container is the best that can be had there.
set -euo pipefail
cd /autograder/source
rm -rf submitted && mkdir -p submitted/student/{homework}
cp /autograder/submission/*.ipynb submitted/student/{homework}/
/autograder/venv/bin/autograder grade {homework} --submissions submitted --again --jobs 1
/autograder/venv/bin/autograder export {homework} gradescope --to /autograder/results/results.json
"""


def gradescope_results(record: SubmissionRecord, homework: HomeworkSource) -> dict:
    """What /autograder/results/results.json must say: a test per check; of a hidden one the verdict alone.

    A submission that could not be run gets no points and the sentence that says why.
    """
    diagnoses = {entry.name: f"{entry.diagnosis} {entry.question}" for entry in homework.misconceptions}
    titles = {exercise.name: exercise.title for exercise in homework.exercises}
    points = {check.name: check.points for check in homework.checks}
    tests = [
        _test(titles[exercise.name], check, points[check.name], _named(exercise, check, diagnoses))
        for exercise in record.exercises
        for check in exercise.checks
    ]
    notes = [record.problem, *record.flags] if record.problem else list(record.flags)
    if record.status == "could_not_run":
        tests = []
    return {
        **({} if tests else {"score": 0.0}),
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "output": "\n".join(notes),
        "output_format": "text",
        "tests": tests,
    }


def _named(exercise: ExerciseRecord, check: CheckRecord, diagnoses: dict[str, str]) -> str:
    """The known mistakes of the exercise, said with each of its checks that failed."""
    if check.result == "passed":
        return ""
    return "\n".join(diagnoses[name] for name in exercise.told if name in diagnoses)


def _test(title: str, check: CheckRecord, points: float, named: str) -> dict:
    said = "" if check.hidden and check.result != "passed" else check.message
    return {
        "name": f"{title}: {check.name.replace('_', ' ')}",
        "score": points if check.result == "passed" else 0.0,
        "max_score": points,
        "status": "passed" if check.result == "passed" else "failed",
        "output": "\n".join(text for text in (said, named) if text),
        "output_format": "text",
        "visibility": "visible",
    }


def gradescope_autograder(root: Path, homework: str) -> bytes:
    """The zip to upload as an autograder: this grader, this homework's solutions and the two scripts.

    It holds solutions and hidden checks, as every autograder of Gradescope does; students never see it.
    """
    missing = [
        name for name in ("course", "autograder", f"solutions/{homework}") if not (root / name).is_dir()
    ]
    if missing:
        raise ExportError(f"{root} is no checkout of the course: it has no {', '.join(missing)}.")
    names = {"homework": homework}
    texts = {"setup.sh": SETUP.format(**names), "run_autograder": RUN.format(**names)}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            _add(archive, name, text.encode(), executable=True)
        for name in _tracked(root, [*CARRIED, f"solutions/{homework}", f"homeworks/{homework}"]):
            _add(archive, name, (root / name).read_bytes())
    return out.getvalue()


def _tracked(root: Path, paths: list[str]) -> list[str]:
    """The files under these paths that belong to the project, whether or not there is a repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *paths]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return sorted(listed.stdout.splitlines())
    found = (
        file
        for path in paths
        for file in ((root / path).rglob("*") if (root / path).is_dir() else [root / path])
    )
    files = (file for file in found if file.is_file() and "__pycache__" not in file.parts)
    return sorted(file.relative_to(root).as_posix() for file in files)


def _add(archive: zipfile.ZipFile, name: str, content: bytes, *, executable: bool = False) -> None:
    entry = zipfile.ZipInfo(name, STAMP)
    entry.external_attr = (0o755 if executable else 0o644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)
