"""Work on many tasks at once in forked processes, each doing some one after another: a crash costs one task.

A process forked for every single task would spend a fifth of a judge's time on copying memory that it shares;
one that went on forever would keep all that it has ever copied.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, NoReturn, TypeVar

from autograder.isolation.confinement import die_with_parent

Task = TypeVar("Task")
INDEX_BYTES = 8
TASKS_OF_A_PROCESS = 20  # after which a judge of homework 1 holds 30 MB of its own


@dataclass(frozen=True)
class Lost:
    """A task whose process did not deliver; `reason` completes the sentence "its process …"."""

    reason: str


@dataclass
class _Worker:
    process: int
    line: Connection
    index: int = -1  # of the task it is at
    begun: int = 0  # tasks
    deadline: float = 0.0


def forked(
    tasks: Sequence[Task], work: Callable[[Task], Any], *, jobs: int, seconds: float
) -> Iterator[tuple[Task, Any]]:
    """Yield (task, what `work` returned) as they are finished, or (task, Lost).

    work: returns what JSON can say; its process inherits this one as it is when it begins. Where a process is
    lost, or has done its share, a new one takes its place.
    seconds: after which a task's process is ended. Closing the iterator ends all that are running.
    """
    crew = _Crew(tasks, work, seconds)
    try:
        for _ in range(jobs):
            crew.hire()
        while crew.workers:
            yield from crew.finished()
    finally:
        crew.disband()


@dataclass
class _Crew:
    """The processes at work, by the line to each, and the tasks that none has begun."""

    tasks: Sequence[Any]
    work: Callable[[Any], Any]
    seconds: float
    workers: dict[Connection, _Worker] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.waiting = iter(range(len(self.tasks)))

    def hire(self) -> None:
        """Have a new process begin the next task, if there is one."""
        if (index := next(self.waiting, None)) is not None:
            self.give(self.start(), index)

    def start(self) -> _Worker:
        ours, theirs = Pipe()
        parent, process = os.getpid(), os.fork()
        if process == 0:
            for line in (ours, *self.workers):
                line.close()  # whoever holds a line's other end would keep it open
            _serve(theirs, lambda index: self.work(self.tasks[index]), parent)
        theirs.close()
        worker = self.workers[ours] = _Worker(process, ours)
        return worker

    def give(self, worker: _Worker, index: int) -> None:
        worker.index, worker.deadline = index, time.monotonic() + self.seconds
        worker.begun += 1
        with suppress(BrokenPipeError):  # its end is found when it is listened to
            worker.line.send_bytes(index.to_bytes(INDEX_BYTES))

    def finished(self) -> Iterator[tuple[Any, Any]]:
        """Wait for the next that speak, end, or have to be ended; each goes on before it is told of."""
        deadline = min(worker.deadline for worker in self.workers.values())
        for line in wait(list(self.workers), max(0.0, deadline - time.monotonic())):
            worker = self.workers[line]
            task = self.tasks[worker.index]
            yield task, self.heard(worker)
        for worker in list(self.workers.values()):
            if time.monotonic() > worker.deadline and not worker.line.poll():
                self.end(worker, kill=True)
                self.hire()
                yield self.tasks[worker.index], Lost("did not finish in time")

    def heard(self, worker: _Worker) -> Any:
        """What a worker has to say: the result of its task, or by its silence that it is lost."""
        try:
            said = worker.line.recv_bytes()
        except (EOFError, OSError):
            status = self.end(worker)
            self.hire()
            return _lost(status)
        if worker.begun < TASKS_OF_A_PROCESS and (index := next(self.waiting, None)) is not None:
            self.give(worker, index)
        else:
            self.end(worker)
            self.hire()
        return json.loads(said)

    def end(self, worker: _Worker, *, kill: bool = False) -> int:
        """Hang up, upon which a worker leaves, and wait for its end; its status."""
        del self.workers[worker.line]
        worker.line.close()
        if kill:
            os.kill(worker.process, signal.SIGKILL)
        return os.waitpid(worker.process, 0)[1]

    def disband(self) -> None:
        for worker in list(self.workers.values()):
            self.end(worker, kill=True)


def _serve(line: Connection, do: Callable[[int], Any], parent: int) -> NoReturn:
    """In the forked process: do what is asked and say what came of it, then leave without a farewell."""
    status = 1
    try:
        die_with_parent()
        if os.getppid() != parent:  # it died before it could be asked to be missed
            os._exit(status)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
        gc.freeze()  # looking for garbage would copy what is shared with the parent
        for index in _asked(line):
            line.send_bytes(json.dumps(do(index)).encode())
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _asked(line: Connection) -> Iterator[int]:
    """The numbers of the tasks to do, until the other side hangs up."""
    while True:
        try:
            asked = line.recv_bytes()
        except EOFError:
            return
        yield int.from_bytes(asked)


def _lost(status: int) -> Lost:
    if os.WIFSIGNALED(status):
        return Lost(f"was ended by {signal.Signals(os.WTERMSIG(status)).name}")
    return Lost("stopped with an error, which is shown above")
