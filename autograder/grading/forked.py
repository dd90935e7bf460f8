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
from typing import Any, NoReturn, TypeVar, cast

from autograder.isolation.clock import processor_seconds
from autograder.isolation.confinement import die_first, die_with_parent, limit_memory
from autograder.isolation.deaths import OUT_OF_MEMORY
from autograder.isolation.limits import MEGABYTE, in_words

Task = TypeVar("Task")
INDEX_BYTES = 8
MOST_OF_A_RESULT = 64 * MEGABYTE
TOO_LARGE = 72  # the status of a process whose result is
TASKS_OF_A_PROCESS = 20  # after which a judge of homework 1 holds 30 MB of its own


@dataclass(frozen=True)
class Lost:
    """A task whose process did not deliver; `reason` completes the sentence "its process …"."""

    reason: str
    is_of_the_task: bool = False  # and of nothing else: on any machine it would be lost

    @property
    def sentence(self) -> str:
        """What is said of a submission."""
        if self.is_of_the_task:
            return f"This submission could not be judged: the process that judged it {self.reason}."
        return f"The grader failed here: its process {self.reason}. Run it again."


@dataclass
class _Worker:
    process: int
    line: Connection
    index: int = -1  # of the task it is at
    begun: int = 0  # tasks
    used: float = 0.0  # processor seconds, before its task
    due: float = 0.0  # when to look whether its time is over, and
    far: float = 0.0  # when it is, on time.monotonic()'s clock


def forked(
    tasks: Sequence[Task],
    work: Callable[[Task], Any],
    *,
    jobs: int,
    seconds: float,
    patience: float = 10.0,
    memory_bytes: int | None = None,
) -> Iterator[tuple[Task, Any]]:
    """Yield (task, what `work` returned) as they are finished, or (task, Lost).

    work: returns what JSON can say; its process inherits this one as it is when it begins. Where a process is
    lost, or has done its share, a new one takes its place.
    seconds: of processor time, after which a task's process is ended, as it is after `patience` times as many
    of any kind. Closing the iterator ends all that are running.
    memory_bytes: that a process may use beyond what it is born with; None does not limit it.
    """
    crew = _Crew(tasks, work, seconds, patience, memory_bytes)
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
    patience: float
    memory_bytes: int | None
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
            _serve(theirs, lambda index: self.work(self.tasks[index]), parent, self.memory_bytes)
        theirs.close()
        worker = self.workers[ours] = _Worker(process, ours)
        return worker

    def give(self, worker: _Worker, index: int) -> None:
        now = time.monotonic()
        worker.index, worker.used = index, processor_seconds(worker.process)
        worker.due, worker.far = now + self.seconds, now + self.patience * self.seconds
        worker.begun += 1
        with suppress(BrokenPipeError):  # its end is found when it is listened to
            worker.line.send_bytes(index.to_bytes(INDEX_BYTES))

    def finished(self) -> Iterator[tuple[Any, Any]]:
        """Wait for the next that speak, end, or have to be ended; each goes on before it is told of."""
        due = min(worker.due for worker in self.workers.values())
        ready = wait(list(self.workers), max(0.0, due - time.monotonic()))
        for line in cast("list[Connection]", ready):  # of what it was given, which may be of other kinds
            worker = self.workers[line]
            task = self.tasks[worker.index]
            yield task, self.heard(worker)
        for worker in list(self.workers.values()):
            if not self.has_time(worker) and not worker.line.poll():
                self.end(worker, kill=True)
                self.hire()
                yield self.tasks[worker.index], Lost("did not finish in time")

    def has_time(self, worker: _Worker) -> bool:
        """Whether a worker may go on; when to look again is noted."""
        if (now := time.monotonic()) > worker.due:
            used = processor_seconds(worker.process) - worker.used
            worker.due = now + min(self.seconds - used, worker.far - now)
        return worker.due > now

    def heard(self, worker: _Worker) -> Any:
        """What a worker has to say: the result of its task, or by its silence that it is lost."""
        try:
            said = worker.line.recv_bytes(MOST_OF_A_RESULT)
        except (EOFError, OSError):
            status = self.end(worker)
            self.hire()
            return self.lost(status)
        if worker.begun < TASKS_OF_A_PROCESS and (index := next(self.waiting, None)) is not None:
            self.give(worker, index)
        else:
            self.end(worker)
            self.hire()
        return json.loads(said)

    def lost(self, status: int) -> Lost:
        """How a process that said nothing ended."""
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            by_the_system = ", as the system does where memory runs out" if number == signal.SIGKILL else ""
            return Lost(f"was ended by {signal.Signals(number).name}{by_the_system}")
        if (code := os.WEXITSTATUS(status)) == OUT_OF_MEMORY and self.memory_bytes is not None:
            return Lost(f"used more than {in_words(self.memory_bytes)} of memory", is_of_the_task=True)
        if code == TOO_LARGE:
            return Lost(f"made a record of more than {in_words(MOST_OF_A_RESULT)}", is_of_the_task=True)
        return Lost("stopped with an error, which is shown above")

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


def _serve(line: Connection, do: Callable[[int], Any], parent: int, memory_bytes: int | None) -> NoReturn:
    """In the forked process: do what is asked and say what came of it, then leave without a farewell."""
    status = 1
    try:
        die_with_parent()
        die_first()
        if os.getppid() != parent:  # it died before it could be asked to be missed
            os._exit(status)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
        gc.freeze()  # looking for garbage would copy what is shared with the parent
        if memory_bytes is not None:
            limit_memory(memory_bytes)
        for index in _asked(line):
            result = json.dumps(do(index)).encode()
            if len(result) > MOST_OF_A_RESULT:
                os._exit(TOO_LARGE)
            line.send_bytes(result)
        status = 0
    except MemoryError:
        status = OUT_OF_MEMORY
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
