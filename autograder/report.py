"""The class report: one HTML file that needs no network, legible in light and dark, all escaped."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path

from autograder.catalogue import Misconception
from autograder.class_statistics import (
    ClassStatistics,
    ExerciseStatistics,
    MistakeCount,
    class_statistics,
    histogram,
)
from autograder.homework import Check, HomeworkSource, find, title
from autograder.markup import plain_text
from autograder.records import (
    CheckRecord,
    ExerciseRecord,
    HomeworkRecord,
    SubmissionRecord,
    read_homework,
    write_text,
)

MARKS = {"passed": ("good", "✓"), "failed": ("bad", "✗"), "could_not_run": ("open", "–")}

# Nothing is loaded and no script runs, whatever a student may have smuggled into a message.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def report(name: str, root: Path | str = ".") -> Path:
    """Write grades/NAME.html from grades/NAME.json; raises FileNotFoundError where nothing was graded yet."""
    records = Path(root) / "grades" / f"{name}.json"
    if not records.is_file():
        raise FileNotFoundError(f"{records} is not there: grade first with `autograder grade {name} …`.")
    page = records.with_suffix(".html")
    write_text(page, render(read_homework(records), find(name, root)))
    return page


def render(record: HomeworkRecord, homework: HomeworkSource) -> str:
    """The page for the records of one homework."""
    counted = class_statistics(record, homework)
    heading = title(homework.cells[0].source) if homework.cells else homework.name
    parts = [
        f"<h1>{_text(heading)}</h1><p class=quiet>{_text(homework.name)}</p>",
        _facts(counted),
        _distribution(counted),
        _commonest(counted),
        _heat_map(counted),
        _exercises(counted),
        _attention(counted),
        _students(record, homework),
        _footer(record),
    ]
    style = resources.files("autograder").joinpath("report.css").read_text(encoding="utf-8")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(heading)}</title><style>{style}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def _text(value: object) -> str:
    return html.escape(plain_text(str(value)))


def _rich(text: str) -> str:
    """The course's own words, in which code stands between backquotes."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", _text(text))


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _facts(counted: ClassStatistics) -> str:
    average = "" if counted.mean is None else f"{_number(counted.mean)} of {_number(counted.max_points)}"
    middle = "" if counted.median is None else f"{_number(counted.median)} of {_number(counted.max_points)}"
    facts = [
        ("submissions", len(counted.graded) + len(counted.could_not_run)),
        ("could not be run", len(counted.could_not_run)),
        ("to look at", len(counted.flagged)),
        ("median", middle),
        ("mean", average),
    ]
    return (
        "<ul class=facts>"
        + "".join(f"<li><b>{value}</b>{name}</li>" for name, value in facts if value != "")
        + "</ul>"
    )


def _distribution(counted: ClassStatistics) -> str:
    counts = histogram(counted.points, counted.max_points)
    tallest = max([*counts, 1])
    columns = "".join(
        f"<div><small>{count or ''}</small><span style='height:{70 * count / tallest:.0f}%'></span>"
        f"<small>{10 * place}–{10 * place + 10} %</small></div>"
        for place, count in enumerate(counts)
    )
    return f"<h2>Marks</h2><div class=columns role=img aria-label='Marks by tenths: {counts}'>{columns}</div>"


def _commonest(counted: ClassStatistics) -> str:
    made = [pair for pair in counted.commonest(5) if len(pair[1].students) > 1]
    if not made:
        return ""
    entries = "".join(_common_mistake(exercise, mistake) for exercise, mistake in made)
    return f"<h2>Worth a word in class</h2>{entries}"


def _common_mistake(exercise: ExerciseStatistics, mistake: MistakeCount) -> str:
    who = ", ".join(f"<a href='#{_anchor(name)}'>{_text(name)}</a>" for name in mistake.students)
    return (
        f"<div class=mistake><p><b>{_text(exercise.title)}</b> · {_students_in_words(mistake)} · {who}</p>"
        f"<p>{_rich(mistake.diagnosis)}</p><p class=quiet>To ask: {_rich(mistake.question)}</p></div>"
    )


def _students_in_words(mistake: MistakeCount) -> str:
    return "1 student" if len(mistake.students) == 1 else f"{len(mistake.students)} students"


def _heat_map(counted: ClassStatistics) -> str:
    """Every exercise against every mistake that is known of it, the warmer the more often made."""
    everyone = max(len(counted.graded), 1)
    rows = "".join(
        f"<tr><th scope=row>{_text(exercise.title)}</th><td><div class=cells>"
        + "".join(_heat_cell(mistake, everyone) for mistake in exercise.mistakes)
        + "</div></td></tr>"
        for exercise in counted.exercises
    )
    return (
        "<h2>Which mistakes the class makes</h2>"
        "<p class=quiet>Each box is a known mistake; the number says how many students' answers equal it.</p>"
        f"<div class=table><table class=heat>{rows}</table></div>"
    )


def _heat_cell(mistake: MistakeCount, everyone: int) -> str:
    count = len(mistake.students)
    name = mistake.name.replace("_", " ")
    kind = "cell" if count else "cell none"
    number = f"<b>{count}</b>" if count else ""
    return (
        f"<span class='{kind}' style='--share:{math.sqrt(count / everyone):.2f}' title='{_text(mistake.diagnosis)}'>"
        f"{_text(name)}{number}</span>"
    )


def _exercises(counted: ClassStatistics) -> str:
    rows = "".join(_exercise_row(exercise, len(counted.graded)) for exercise in counted.exercises)
    return (
        "<h2>Exercises</h2><div class=table><table><tr><th>exercise<th class=number>points"
        "<th>mean share of the points<th class=number>full marks<th class=number>not written"
        f"<th class=number>wrong in no known way</tr>{rows}</table></div>"
    )


def _exercise_row(exercise: ExerciseStatistics, students: int) -> str:
    return (
        f"<tr><td>{_text(exercise.title)}<td class=number>{_number(exercise.max_points)}"
        f"<td>{_bar(exercise.mean_share)}"
        f"<td class=number>{exercise.full_marks} of {students}<td class=number>{exercise.unwritten or ''}"
        f"<td class=number>{exercise.unexplained or ''}</tr>"
    )


def _bar(share: float) -> str:
    return f"<span class=bar title='{share:.0%}'><span style='width:{share:.0%}'></span></span>"


def _attention(counted: ClassStatistics) -> str:
    """What a person should look at: submissions that could not be run, and those with flags."""
    could_not = [(record.student, record.problem) for record in counted.could_not_run]
    flagged = [(record.student, flag) for record in counted.flagged for flag in record.flags]
    slow = [
        (record.student, f"took {record.seconds:.1f} s") for record in counted.slowest if record.seconds > 10
    ]
    parts = [("Could not be run", could_not), ("Flagged", flagged), ("Slowest", slow)]
    return "".join(_notes(heading, notes) for heading, notes in parts if notes)


def _notes(heading: str, notes: Iterable[tuple[str, str]]) -> str:
    rows = "".join(
        f"<tr><th scope=row><a href='#{_anchor(student)}'>{_text(student)}</a><td>{_text(note)}</tr>"
        for student, note in notes
    )
    return f"<h2>{heading}</h2><div class=table><table class=notes>{rows}</table></div>"


def _anchor(student: str) -> str:
    return "student-" + "".join(letter if letter.isalnum() else f"_{ord(letter):x}_" for letter in student)


def _students(record: HomeworkRecord, homework: HomeworkSource) -> str:
    return "<h2>Students</h2>" + "".join(_student(entry, homework) for entry in record.submissions)


def _student(record: SubmissionRecord, homework: HomeworkSource) -> str:
    return (
        f"<details id='{_anchor(record.student)}'><summary><b>{_text(record.student)}</b>{_points(record)}"
        f"<span class=quiet>{_text(', '.join(_summary(record)))}</span></summary>"
        + (f"<p class=bad>{_text(record.problem)}</p>" if record.problem else "")
        + "".join(f"<p class=open>{_text(flag)}</p>" for flag in record.flags)
        + (
            "".join(_answer(exercise, homework) for exercise in record.exercises)
            if record.status == "graded"
            else ""
        )
        + "</details>"
    )


def _points(record: SubmissionRecord) -> str:
    if record.status != "graded":
        return "<span class='points open'>not run</span>"
    return f"<span class=points>{_number(record.points)} of {_number(record.max_points)}</span>"


def _summary(record: SubmissionRecord) -> Iterator[str]:
    for exercise in record.exercises:
        yield from (name.replace("_", " ") for name in exercise.diagnosis)
    if record.flags:
        yield "1 flag" if len(record.flags) == 1 else f"{len(record.flags)} flags"


def _answer(exercise: ExerciseRecord, homework: HomeworkSource) -> str:
    source = homework.exercise(exercise.name)
    claims = {check.name: check for check in source.checks}
    checks = "".join(_check(check, claims[check.name]) for check in exercise.checks if check.name in claims)
    known = {entry.name: entry for entry in homework.misconceptions}
    mistakes = "".join(_mistake(known[name]) for name in exercise.diagnosis if name in known)
    points = f"{_number(exercise.points)} of {_number(exercise.max_points)}"
    lost = " open" if exercise.points < exercise.max_points else ""
    heading = (
        f"<summary><span class=title>{_rich(source.title)}</span><span class=quiet>{points}</span></summary>"
    )
    return f"<details class=answer{lost}>{heading}{mistakes}<ul class=checks>{checks}</ul></details>"


def _mistake(entry: Misconception) -> str:
    question = f"<p class=quiet>{_rich(entry.question)}</p>"
    return f"<div class=mistake><p>{_rich(entry.diagnosis)}</p>{question}</div>"


def _check(check: CheckRecord, claim: Check) -> str:
    colour, mark = MARKS[check.result]
    hidden = " <span class=quiet>(hidden)</span>" if check.hidden else ""
    message = "" if check.result == "passed" else f"<pre>{_text(check.message)}</pre>"
    return f"<li><span class={colour}>{mark}</span> {_rich(claim.claim)}{hidden}{message}</li>"


def _footer(record: HomeworkRecord) -> str:
    level = record.isolation.get("level", "unknown")
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    by_hand = ", ".join(f"{name} ({_number(points)})" for name, points in record.graded_by_hand.items())
    lines = [f"Student code ran under isolation “{level}”.", f"Graded with {versions}."]
    lines += [f"Graded by hand, not in these marks: {by_hand}."] if by_hand else []
    return "<footer class=quiet>" + "".join(f"<p>{_text(line)}</p>" for line in lines) + "</footer>"
