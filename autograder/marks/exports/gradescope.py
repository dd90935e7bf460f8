"""Gradescope: one submission's results in its format, and an autograder that runs this grader there.

The format is that of https://gradescope-autograders.readthedocs.io/en/latest/specs/.
"""

from __future__ import annotations

import io
import tomllib
import zipfile
from pathlib import Path

from autograder.marks.exports.marks import ExportError
from autograder.marks.records import CheckRecord, ExerciseRecord, SubmissionRecord
from autograder.source.homework import HomeworkSource
from autograder.source.tracked import tracked

MEGABYTES = 500  # of a submission: Gradescope's smaller containers have 1.5 GB for everything
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

# uv installs a recent Python if the image has none, and knows where the CPU build of torch is.
SETUP = """\
#!/usr/bin/env bash
# Run once by Gradescope when the autograder is built.
set -euo pipefail
apt-get update && apt-get install -y --no-install-recommends python3 python3-venv bubblewrap
python3 -m venv /autograder/tools
/autograder/tools/bin/pip install --quiet uv
export UV_PYTHON_INSTALL_DIR=/opt/python
/autograder/tools/bin/uv venv --python '{python}' /autograder/venv
cd /autograder/source
/autograder/tools/bin/uv pip install --quiet --python /autograder/venv/bin/python --torch-backend cpu \\
    -c constraints.txt -e '.[instructor]'
/autograder/venv/bin/autograder release {homework}
"""

RUN = """\
#!/usr/bin/env bash
# Run by Gradescope for every submission, in the best sandbox that works inside its container.
# Whatever happens, the student gets a results file: the first one stands until a better one replaces it.
set -uo pipefail
submission=${{SUBMISSION:-/autograder/submission}} results=${{RESULTS:-/autograder/results}}
autograder=${{AUTOGRADER:-/autograder/venv/bin/autograder}}
say() {{
    printf '{{"score": 0, "tests": [], "output": "%s"}}\\n' "$1" > "$results/results.json"
}}
mkdir -p "$results"
say 'The autograder stopped before it had a result. Submit again; tell your instructor if that does not help.'
mapfile -d '' notebooks < <(
    find "$submission" -name '*.ipynb' -type f -not -path '*/.*' -not -path '*/__MACOSX/*' -print0
)
if [ ${{#notebooks[@]}} -eq 0 ]; then
    say 'There is no notebook in this submission. Hand in the file that ends in .ipynb.'
    exit 0
elif [ ${{#notebooks[@]}} -gt 1 ]; then
    say "There are ${{#notebooks[@]}} notebooks in this submission, and only one can be graded. Hand in one."
    exit 0
fi
cd "${{SOURCE:-/autograder/source}}" || exit 0
rm -rf submitted && mkdir -p submitted/student/{homework}
cp -- "${{notebooks[0]}}" submitted/student/{homework}/{homework}.ipynb
if "$autograder" grade {homework} --submissions submitted --again --jobs 1 --memory {memory}; then
    "$autograder" export {homework} gradescope --hidden {hidden} --to "$results/made.json" \\
        && mv "$results/made.json" "$results/results.json"
fi
exit 0
"""

HIDDEN_UNTIL = ("after_due_date", "after_published", "visible")  # as Gradescope calls them


def gradescope_results(
    record: SubmissionRecord, homework: HomeworkSource, hidden: str = HIDDEN_UNTIL[0]
) -> dict:
    """The content of /autograder/results/results.json: a test per check; for a hidden one only the verdict.

    hidden: when students see the results of hidden checks. Until then Gradescope shows no total, so that
    nobody can find the results out by resubmitting.
    A submission that could not be run gets no points and the sentence that says why.
    """
    diagnoses = {entry.name: f"{entry.diagnosis} {entry.question}" for entry in homework.misconceptions}
    titles = {exercise.name: exercise.title for exercise in homework.exercises}
    points = {check.name: check.points for check in homework.checks}
    tests = [
        _test(titles[exercise.name], check, points[check.name], _named(exercise, check, diagnoses), hidden)
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
    """The known mistakes of the exercise, repeated for each of its checks that failed."""
    if check.result == "passed":
        return ""
    return "\n".join(diagnoses[name] for name in exercise.told if name in diagnoses)


def _test(title: str, check: CheckRecord, points: float, named: str, hidden: str) -> dict:
    said = "" if check.hidden and check.result != "passed" else check.message
    return {
        "name": f"{title}: {check.name.replace('_', ' ')}",
        "score": points if check.result == "passed" else 0.0,
        "max_score": points,
        "status": "passed" if check.result == "passed" else "failed",
        "output": "\n".join(text for text in (said, named) if text),
        "output_format": "text",
        "visibility": hidden if check.hidden else "visible",
    }


def gradescope_autograder(root: Path, homework: str, hidden: str = HIDDEN_UNTIL[0]) -> bytes:
    """The zip to upload as an autograder: this grader, this homework's solutions and the two scripts.

    It contains solutions and hidden checks, like every autograder of Gradescope; students never see it.
    """
    missing = [
        name for name in ("course", "autograder", f"solutions/{homework}") if not (root / name).is_dir()
    ]
    if missing:
        raise ExportError(f"{root} is not a checkout of the course: it has no {', '.join(missing)}.")
    stated = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {"homework": homework, "hidden": hidden, "python": stated["requires-python"], "memory": MEGABYTES}
    texts = {"setup.sh": SETUP.format(**names), "run_autograder": RUN.format(**names)}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            _add(archive, name, text.encode(), executable=True)
        for name in tracked(root, [*CARRIED, f"solutions/{homework}", f"homeworks/{homework}"]):
            _add(archive, name, (root / name).read_bytes())
    return out.getvalue()


def _add(archive: zipfile.ZipFile, name: str, content: bytes, *, executable: bool = False) -> None:
    entry = zipfile.ZipInfo(name, STAMP)
    entry.external_attr = (0o755 if executable else 0o644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)
