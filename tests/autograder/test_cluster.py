"""Grading on the workers of a Dask cluster ends as grading here does, whatever becomes of a worker."""

import json
import os
import shutil
import signal
import sys
import time
from collections import Counter
from multiprocessing.connection import Pipe

import pytest
from grading import NAME, SHORT, new_course, solved, submit
from interrupted import FIRST, POINTS, hand_in_all, marks, records, words

from autograder.cli import main
from autograder.cluster import parcel
from autograder.cluster.desk import attend
from autograder.grading.clerk import Clerk
from autograder.grading.order import Order
from autograder.grading.paper import Paper, paper_of
from autograder.marks.records import CheckRecord, ExerciseRecord
from autograder.software import software
from autograder.submissions.collect import Found
from autograder.watching.arrivals import Arrivals
from autograder.watching.watch import watch

distributed = pytest.importorskip("distributed")

from autograder.cluster import driver  # noqa: E402  it needs distributed

SLOW = "import time\n\ndef moving_average(values, width):\n    time.sleep(0.7)\n    return []"
EXPECTED = {student: POINTS[answer] for student, answer in FIRST.items()} | {"slow": 0}


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes; a third is started where one is killed."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    course = new_course(tmp_path_factory.mktemp("handed_in") / "course")
    hand_in_all(course, FIRST)
    submit(course, "slow", solved(course, SLOW))
    (course / "submitted" / "torn").mkdir()
    (course / "submitted" / "torn" / NAME).mkdir()
    (course / "submitted" / "torn" / NAME / f"{NAME}.ipynb").write_text('{"cells": [')
    return course


@pytest.fixture
def course(handed_in, tmp_path):
    return shutil.copytree(handed_in, tmp_path / "course")


def on(cluster, course):
    return [*words(course, 2), "--dask", cluster.scheduler_address]


def processes_below(process):
    """The ids of all descendants of a process."""
    with open(f"/proc/{process}/task/{process}/children") as children:
        own = [int(child) for child in children.read().split()]
    return [*own, *(below for child in own for below in processes_below(child))]


def desks():
    """The processes that judge, of all workers of this test."""
    found = []
    for process in processes_below(os.getpid()):
        try:
            with open(f"/proc/{process}/cmdline") as line:
                found += [process] if "autograder.cluster.desk" in line.read() else []
        except OSError:
            continue
    return found


def busy_worker(client):
    """The address of a worker that has a paper before it."""
    return next(worker for worker, papers in client.processing().items() if papers)


def verdicts(course):
    """What each student's record says, but for what differs from run to run."""
    return {
        student: (record.status, record.problem, record.flags, record.exercises, record.isolation)
        for student, record in records(course).items()
    }


@pytest.fixture
def saved(monkeypatch):
    """How often each student's work was entered, and what else is to happen then: saved.then(student)."""
    return Watch(monkeypatch, Clerk.save)


class Watch(Counter):
    def __init__(self, monkeypatch, save):
        super().__init__()
        self.then = lambda student: None

        def watched(clerk, submission, graded):
            save(clerk, submission, graded)
            self[submission.student] += 1
            self.then(submission.student)

        monkeypatch.setattr(Clerk, "save", watched)


def test_a_worker_killed_in_the_middle_costs_no_submission_and_enters_none_twice(
    cluster, course, handed_in, tmp_path, saved
):
    killed = []

    def kill_one(student):
        with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
            if not killed:
                killed.append(busy_worker(client))
                process = client.run(os.getpid, workers=killed)[killed[0]]
                os.kill(process, signal.SIGKILL)

    saved.then = kill_one
    assert main(on(cluster, course)) == 0
    assert killed
    assert saved == dict.fromkeys([*EXPECTED, "torn"], 1)
    assert marks(course) == EXPECTED | {"torn": None}
    here = shutil.copytree(handed_in, tmp_path / "here")
    assert main(words(here, 2)) == 0
    assert verdicts(course) == verdicts(here)
    assert desks() == []


@pytest.mark.nightly
def test_ctrl_c_keeps_what_is_finished_and_the_same_command_does_the_rest(cluster, course, saved, capsys):
    def interrupt(student):
        raise KeyboardInterrupt

    saved.then = interrupt
    assert main(on(cluster, course)) == 130
    assert capsys.readouterr().err.endswith("autograder grade: stopped; what was finished is kept.\n")
    finished = records(course)
    assert finished.keys() == saved.keys()
    assert desks() == []
    saved.then = lambda student: None
    assert main(on(cluster, course)) == 0
    assert saved == dict.fromkeys([*EXPECTED, "torn"], 1)
    assert records(course).items() >= finished.items()
    assert marks(course) == EXPECTED | {"torn": None}


def test_a_worker_without_the_isolation_asked_for_is_named_with_the_level(cluster, course, capsys):
    def move_to(path):
        import os

        before, os.environ["PATH"] = os.environ["PATH"], path
        return before

    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        worker = sorted(client.nthreads())[0]
        path = client.run(move_to, "/nowhere", workers=[worker])[worker]
        try:
            assert main([*on(cluster, course), "--isolation", "bwrap"]) == 2
        finally:
            client.run(move_to, path, workers=[worker])
    said = capsys.readouterr().err
    assert f"The worker {worker} on " in said
    assert "cannot judge: no bwrap: " in said
    assert "Traceback" not in said
    assert records(course) == {}


def test_a_worker_with_another_version_of_what_judges_is_told_which_and_judges_nothing(
    cluster, course, capsys, monkeypatch
):
    monkeypatch.setattr(parcel, "software", lambda: software() | {"torch": "0.1"})
    assert main(on(cluster, course)) == 2
    assert "its torch is of a different version" in capsys.readouterr().err
    assert records(course) == {}


def test_an_address_where_nobody_answers_is_said_to_be_one(course, capsys, monkeypatch):
    monkeypatch.setattr(driver, "CONNECT_SECONDS", 0.5)
    assert main([*words(course, 2), "--dask", "tcp://127.0.0.1:9"]) == 2
    assert "The Dask cluster at tcp://127.0.0.1:9 does not answer" in capsys.readouterr().err


def test_without_distributed_it_is_said_what_to_install(course, capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "autograder.cluster.driver")
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main([*words(course, 2), "--dask", "tcp://127.0.0.1:9"]) == 2
    assert "pip install -e '.[cluster]'" in capsys.readouterr().err


class Broken:
    """A desk at which no paper can be judged."""

    def answer(self, paper):
        raise ZeroDivisionError(f"no mark for {paper.student}")


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (Paper("ada", b"{}").as_bytes(), "stopped with ZeroDivisionError: no mark for ada"),
        (b"not a paper", "stopped with JSONDecodeError: "),
    ],
)
def test_a_fault_at_a_desk_is_answered_logged_and_no_success(capfd, sent, reason):
    ours, theirs = Pipe()
    grader, process = os.getpid(), os.fork()
    if process == 0:
        attend(theirs, Broken(), grader)
    theirs.close()
    ours.send_bytes(sent)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 1
    answer = json.loads(ours.recv_bytes())
    assert answer["lost"].startswith(reason)
    assert reason.removeprefix("stopped with ").partition(":")[0] in capfd.readouterr().err


def test_a_paper_arrives_as_it_was_sent(tmp_path):
    (tmp_path / "ada.ipynb").write_bytes(b"\x00 not a notebook \xff")
    kept = {"square": ExerciseRecord("square", 1.0, 2.0, ("twice",), (CheckRecord("one", True, "failed"),))}
    found = Found("ada", tmp_path / "ada.ipynb", flags=("Renamed.",))
    sent = paper_of(found, kept, seed=7)
    assert Paper.from_bytes(sent.as_bytes()) == sent
    assert (sent.data, sent.kept["square"].diagnosis, sent.seed) == (found.path.read_bytes(), ("twice",), 7)
    nothing = paper_of(Found("bob", None, "There is nothing."))
    assert Paper.from_bytes(nothing.as_bytes()) == nothing


def test_a_parcel_holds_the_homework_and_no_other(course, tmp_path):
    order = Order(NAME, "landlock", SHORT, forbidden_costs_points=False)
    folder = course / "solutions" / NAME
    (folder / "__pycache__").mkdir(exist_ok=True)
    (folder / "__pycache__" / "left.pyc").write_bytes(b"by Python")
    sent = parcel.Parcel.pack(order, course)
    arrived = parcel.Parcel.from_bytes(sent.as_bytes())
    assert arrived == sent
    arrived.unpack(tmp_path / "there")
    copies = {path.name: path.read_bytes() for path in (tmp_path / "there").rglob("*") if path.is_file()}
    assert copies == {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.nightly
def test_a_watcher_waits_for_its_cluster_and_grades_on_it(cluster, course, monkeypatch):
    """It says that the cluster is away, and tries again until it is back."""
    monkeypatch.setattr(driver, "CONNECT_SECONDS", 1)
    said = []

    def watched(address, until):
        inbox = Arrivals(course / "submitted")
        deadline = time.monotonic() + 120

        def has_ended():
            assert time.monotonic() < deadline, said
            return until()

        watch(inbox, [NAME], course, isolation="none", dask=address, say=said.append, has_ended=has_ended)

    watched("tcp://127.0.0.1:9", lambda: sum("does not answer" in line for line in said) > 1)
    assert not records(course)
    watched(cluster.scheduler_address, lambda: (course / "grades" / f"{NAME}.json").is_file())
    assert marks(course) == EXPECTED  # what is torn may still be being written
