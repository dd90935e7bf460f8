"""On a Dask worker: the desk beside it, and the function called per submission. Neither needs torch."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock
from typing import cast

from distributed import Worker, WorkerPlugin, get_worker

START_SECONDS = 300.0  # with a cold disk, on a busy machine
END_SECONDS = 10.0
DESKS_PER_PAPER = 2
PACKAGES = Path(__file__).resolve().parents[2]


class WorkerUnfit(RuntimeError):
    """The worker cannot judge; the message names it and says why."""


class DeskProcess:
    """The worker's side of its desk, which answers several requests at a time."""

    def __init__(self, parcel: bytes) -> None:
        self.control, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "autograder.cluster.desk", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env=os.environ | {"PYTHONPATH": f"{PACKAGES}", "OMP_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.greeting = json.loads(self.ask(parcel, START_SECONDS))

    def ask(self, question: bytes, seconds: float) -> bytes:
        """Send a request on a new connection; raises EOFError or another OSError if no answer comes."""
        mine, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self.control, [b"?"], [theirs.fileno()])
        with Connection(mine.detach()) as connection:
            connection.send_bytes(question)
            if not connection.poll(seconds):
                raise TimeoutError
            return connection.recv_bytes()

    def has_ended(self) -> bool:
        """Whether the desk has ended; waits for one that is about to end."""
        try:
            self.process.wait(1.0)
        except subprocess.TimeoutExpired:
            return False
        return True

    def close(self) -> None:
        """Make the desk clean up and end, with all remaining judges and sandboxes."""
        self.control.close()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class DeskPlugin(WorkerPlugin):
    """Gives a worker its desk, which starts with the first request and ends with the worker or the run."""

    def __init__(self, parcel: bytes, seconds: float) -> None:
        self.parcel = parcel
        self.seconds = seconds  # for one attempt; a second one waits for all attempts of the others

    def setup(self, worker: Worker) -> None:
        self.address = worker.address
        self.papers_at_once = worker.state.nthreads
        self.lock = Lock()
        self.desk: DeskProcess | None = None
        self.is_closed = False

    async def teardown(self, worker: Worker) -> None:
        self.is_closed = True
        if self.desk is not None:
            await asyncio.to_thread(self.desk.close)

    def open(self) -> DeskProcess:
        """The desk, started if there is none; raises WorkerUnfit if it cannot judge."""
        with self.lock:
            if self.desk is None or self.desk.process.poll() is not None:
                self.desk = self.started()
            if "problem" in self.desk.greeting:
                raise WorkerUnfit(f"{self.name()} cannot judge: {self.desk.greeting['problem']}")
            return self.desk

    def started(self) -> DeskProcess:
        try:
            desk = None if self.is_closed else DeskProcess(self.parcel)
        except (EOFError, OSError) as error:
            raise WorkerUnfit(f"{self.name()} cannot start its desk ({error!r}); see its log") from None
        if desk is None or self.is_closed:  # or closed while it started
            if desk is not None:
                desk.close()
            raise WorkerUnfit(f"{self.name()} must not judge any more")
        return desk

    def name(self) -> str:
        """The worker, described so that a person can find it."""
        return f"The worker {self.address} on {socket.gethostname()}"

    def judge(self, paper: bytes) -> bytes:
        """The desk's answer about one submission; if it ends without one, a new desk is asked once more."""
        for _ in range(DESKS_PER_PAPER):
            desk = self.open()
            try:
                return desk.ask(paper, self.seconds * (2 + self.papers_at_once))
            except TimeoutError:
                return lost("did not finish in time")
            except (EOFError, OSError):
                if not desk.has_ended():
                    break
        return lost("ended without an answer")


def lost(reason: str) -> bytes:
    """The answer when the desk gives none."""
    return json.dumps({"lost": {"reason": reason}}).encode()


def desk_of(worker: Worker, name: str) -> DeskPlugin:
    """The plugin that the driver gave a worker under this name."""
    return cast(DeskPlugin, worker.plugins[name])


def judge_at_desk(name: str, paper: bytes) -> bytes:
    """The function that Dask calls for each submission, on any worker."""
    return desk_of(get_worker(), name).judge(paper)


async def greeting_of(name: str, dask_worker: Worker) -> dict:
    """The greeting of a worker's desk; "problem" says why it cannot judge."""
    try:
        return (await asyncio.to_thread(desk_of(dask_worker, name).open)).greeting
    except WorkerUnfit as problem:
        return {"problem": str(problem)}
