"""A batch in which most submissions attack: the honest ones keep their points, the grader its memory."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from besiegers import (
    ANSWERS,
    ARRIVED,
    CELLS,
    NAMES,
    OPEN,
    PREAMBLE,
    SECRET,
    besiegers,
    files_that_are_no_notebooks,
)
from grading import NAME, RIGHT, catalogue, new_course, solved, submit
from starts import STARTS, Start

from autograder.isolation import Limits
from autograder.isolation.limits import GIGABYTE, MEGABYTE
from autograder.isolation.tree import children_of, fields_of
from autograder.source.loading import find

LIMITS = Limits(
    memory_bytes=600 * MEGABYTE,
    cpu_seconds=15,
    call_seconds=4.0,
    cell_seconds=8.0,
    submission_seconds=30.0,
    patience=3.0,
)
MOST_MEMORY = 3 * GIGABYTE
SOME = [
    *("closes the folder above", "58 busy processes", "memory shared and let go", "memory in sockets"),
    *("a range of 10**8", "one name again and again", "text and tags", "reads the exchange"),
    *("the course's own", "the course's own text"),
    *("changes its argument openly", "changes its argument and hides it"),
]
JOBS = 2
HARMFUL_NAME = "attacker\x1b[2J\x9b31m"
GRADE = f"""
import sys
from pathlib import Path
from autograder.grade import grade
from autograder.isolation import Limits, Warm
name, course, level, limits, *Warm.program = sys.argv[1:]
course = Path(course)
grade(name, course / "submitted", root=course, isolation=level, jobs={JOBS}, limits=Limits.from_text(limits))
"""


def honest():
    """Student → a right answer, ten of them."""
    answers = [RIGHT, *catalogue("alternatives").values()]
    return {f"honest{number}": answers[number % len(answers)] for number in range(10)}


def graded(course, start):
    """Grade a course as the command does; student → record, the seconds it took, the most memory in use."""
    arguments = NAME, str(course), start.level, LIMITS.as_text(), *start.program
    command = [sys.executable, "-c", GRADE, *arguments]
    begun, most = time.monotonic(), [0]
    with subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}) as grader:
        watch = threading.Thread(target=watch_memory, args=(grader, most))
        watch.start()
        assert grader.wait() == 0
        watch.join()
    records = json.loads((course / "grades" / f"{NAME}.json").read_text())["submissions"]
    return {r["student"]: r for r in records}, time.monotonic() - begun, most[0]


def watch_memory(grader, most):
    """Note the most memory (PSS) that the grader's own processes have at one time, students' apart."""
    while grader.poll() is None:
        most[0] = max(most[0], sum(kilobytes(pid) for pid in own_processes(grader.pid)) << 10)
        time.sleep(0.1)


def kilobytes(pid):
    return fields_of(Path(f"/proc/{pid}/smaps_rollup")).get("Pss", 0)


def own_processes(pid):
    """A process and its descendants, without the warm process and what descends from it."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return []
    if b"-m\0autograder.isolation\0" in command:
        return []
    return [pid, *(found for child in children_of(pid) for found in own_processes(child))]


def besieged(folder, start, chosen=None):
    """Grade ten honest submissions alone, then beside attackers."""
    start.warm()  # or the test is skipped
    alone, together = new_course(folder / "alone"), new_course(folder / "together")
    attackers = besiegers(together, find(NAME, together))
    attackers = {name: attackers[name] for name in chosen or NAMES}
    for course in (alone, together):
        for student, answer in honest().items():
            submit(course, student, solved(course, answer))
    for place, content in enumerate(attackers.values()):
        submit(together, f"attacker{place:02}", json.dumps(content))
    submit(together, HARMFUL_NAME, json.dumps(next(iter(attackers.values()))))
    for place, hand_in in enumerate(files_that_are_no_notebooks(together).values()):
        path = together / "submitted" / f"file{place}" / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        hand_in(path)
    return together, list(attackers), graded(alone, start), graded(together, start)


def shown(course, student):
    """What the code of a student's cells printed, as the autograded notebook has it."""
    notebook = json.loads((course / "autograded" / student / NAME / f"{NAME}.ipynb").read_text())
    return json.dumps([cell.get("outputs", []) for cell in notebook["cells"]])


def assert_withstood(course, attackers, alone, together):
    peaceful, seconds_alone, _ = alone
    records, seconds, memory = together
    assert {student: peaceful[student]["points"] for student in honest()} == dict.fromkeys(honest(), 4.0)
    assert {student: records[student]["points"] for student in honest()} == dict.fromkeys(honest(), 4.0)
    students = {name: f"attacker{place:02}" for place, name in enumerate(attackers)}
    assert {name for name in attackers if ARRIVED not in shown(course, students[name])} <= FOR_READERS
    assert [name for name in attackers if SECRET in shown(course, students[name])] == []
    got = {name: records[student]["points"] for name, student in students.items()}
    assert {name: points for name, points in got.items() if points > ALLOWED.get(name, 0)} == {}
    assert {name: got[name] for name in OPEN if name in got} == {n: p for n, p in OPEN.items() if n in got}
    for name in FLAGGED & students.keys():
        assert any(
            "course.sampling" in flag or "text alone" in flag for flag in records[students[name]]["flags"]
        )
    files = [record for student, record in records.items() if student.startswith("file")]
    assert [record["points"] for record in files if record["points"]] == []
    assert not any(
        "\x1b" in text or "\x9b" in text for record in records.values() for text in record["flags"]
    )
    problems = [r["problem"] for r in records.values() if "The grader failed" in r["problem"]]
    assert problems == []
    assert memory < MOST_MEMORY
    harmful = len(attackers) + 1  # the one with a name of its own
    assert seconds < 2 * seconds_alone + harmful * LIMITS.submission_seconds / JOBS


# Aimed at whoever reads them: Python need not run them.
FOR_READERS = {"9000 minus signs", "4 MB of text", "functions in functions", "one name again and again"}
FLAGGED = {"the course's own", "the course's own by another name", "the course's own text"}
ALLOWED = {"sleeps in every call": 4, **OPEN}  # what is right in them is paid


@pytest.mark.parametrize("name", sorted((CELLS | ANSWERS).keys() - FOR_READERS))
def test_the_code_of_an_attack_is_code(name):
    compile(PREAMBLE + CELLS.get(name, "") + ANSWERS.get(name, ""), name, "exec")


def test_every_attacker_is_on_the_page_on_attacks(tmp_path):
    course = new_course(tmp_path)
    assert set(besiegers(course, find(NAME, course))) == set(NAMES)


@pytest.mark.nightly
@pytest.mark.parametrize("start", STARTS, ids=str)
def test_ten_honest_submissions_beside_all_attackers_keep_every_point(tmp_path, start):
    course, attackers, alone, together = besieged(tmp_path, start)
    print(start, len(attackers), "attackers:", alone[1:], together[1:])
    assert_withstood(course, attackers, alone, together)


def test_ten_honest_submissions_beside_some_attackers_keep_every_point(tmp_path):
    assert_withstood(*besieged(tmp_path, Start("landlock", os.geteuid() == 0), SOME))
