"""Work on many tasks at once in forked processes, each doing several in turn: a crash costs one task.

Forking a process for every single task would spend a fifth of a judge's time on copying shared memory; a
process that never ended would keep all memory that it has ever copied.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
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
TOO_LARGE = 72  # the exit status of a process whose result is too large
SECONDS_BETWEEN_LOOKS = 0.1  # between questions whether more tasks have arrived
NEW_OBJECTS = 20_000  # between searches for garbage, which is small here and rarely cyclic
TASKS_OF_A_PROCESS = 20  # after which a judge of homework 1 holds 30 MB of its own


@dataclass(frozen=True)
class Lost:
    """A task whose process returned no result; `reason` completes the sentence "its process …"."""

    reason: str
    is_of_the_task: bool = False  # the task itself is the cause: any machine would lose it

    @property
    def sentence(self) -> str:
        """The sentence about the submission that its record shows."""
        if self.is_of_the_task:
            return f"This submission could not be judged: the process that judged it {self.reason}."
        return f"The grader failed here: its process {self.reason}. Run it again."


@dataclass
class _Worker:
    process: int
    line: Connection
    index: int = -1  # of its current task
    knows: int = 0  # how many tasks there were when it was forked
    begun: int = 0  # how many tasks it has begun
    used: float = 0.0  # processor seconds before its current task
    due: float = 0.0  # when to check its processor time again, on the clock of time.monotonic()
    far: float = 0.0  # when it must have finished in any case


def forked(
    tasks: Sequence[Task],
    work: Callable[[Task], Any],
    *,
    jobs: int,
    seconds: float,
    patience: float = 10.0,
    memory_bytes: int | None = None,
    arriving: Callable[[], Iterable[Task]] | None = None,
) -> Iterator[tuple[Task, Any]]:
    """Yield (task, the result of `work`) or (task, Lost), in the order in which the tasks finish.

    work: returns JSON data; its process is a fork of this one. A process that is lost, or has done its share
    of tasks, is replaced by a new one.
    seconds: a process is killed after this much processor time on one task, or after `patience` times as many
    seconds of wall time. Closing the iterator ends all processes.
    memory_bytes: the most that a process may use beyond what it inherits; None sets no limit.
    arriving: returns the tasks that arrived since its last call; called often while any process is working.
    """
    crew = _Crew(list(tasks), work, seconds, patience, memory_bytes)
    longest = float("inf") if arriving is None else SECONDS_BETWEEN_LOOKS
    try:
        crew.hire(jobs)
        while crew.workers:
            yield from crew.finished(longest)
            if arriving is not None:
                crew.tasks += arriving()
            crew.hire(jobs)
    finally:
        crew.disband()


@dataclass
class _Crew:
    """The processes at work, by the connection to each, and the tasks that none has begun."""

    tasks: list[Any]
    work: Callable[[Any], Any]
    seconds: float
    patience: float
    memory_bytes: int | None
    workers: dict[Connection, _Worker] = field(default_factory=dict)
    given: int = 0  # how many tasks have been given out, in their order

    def hire(self, jobs: int) -> None:
        """Start processes for the next tasks until `jobs` are at work or no task is left."""
        while len(self.workers) < jobs and self.given < len(self.tasks):
            self.give(self.start())

    def start(self) -> _Worker:
        ours, theirs = Pipe()
        parent, process = os.getpid(), os.fork()
        if process == 0:
            for line in (ours, *self.workers):
                line.close()  # a process that holds the other end would keep the connection open
            _serve(theirs, lambda index: self.work(self.tasks[index]), parent, self.memory_bytes)
        theirs.close()
        worker = self.workers[ours] = _Worker(process, ours, knows=len(self.tasks))
        return worker

    def give(self, worker: _Worker) -> None:
        """Give a process the next task."""
        now, index = time.monotonic(), self.given
        self.given += 1
        worker.index, worker.used = index, processor_seconds(worker.process)
        worker.due, worker.far = now + self.seconds, now + self.patience * self.seconds
        worker.begun += 1
        with suppress(BrokenPipeError):  # `heard` will notice that it has ended
            worker.line.send_bytes(index.to_bytes(INDEX_BYTES))

    def finished(self, longest: float) -> Iterator[tuple[Any, Any]]:
        """Yield each finished or lost task, after giving its worker the next one.

        longest: seconds to wait for the first.
        """
        due = min(worker.due for worker in self.workers.values())
        ready = wait(list(self.workers), max(0.0, min(longest, due - time.monotonic())))
        for line in cast("list[Connection]", ready):  # `wait` accepts other kinds as well
            worker = self.workers[line]
            task = self.tasks[worker.index]
            yield task, self.heard(worker)
        for worker in list(self.workers.values()):
            if not self.has_time(worker) and not worker.line.poll():
                self.end(worker, kill=True)
                yield self.tasks[worker.index], Lost("did not finish in time")

    def has_time(self, worker: _Worker) -> bool:
        """Whether a worker has time left; sets when to check again."""
        if (now := time.monotonic()) > worker.due:
            used = processor_seconds(worker.process) - worker.used
            worker.due = now + min(self.seconds - used, worker.far - now)
        return worker.due > now

    def heard(self, worker: _Worker) -> Any:
        """The result that a worker sends, or Lost if it ended without one."""
        try:
            said = worker.line.recv_bytes(MOST_OF_A_RESULT)
        except (EOFError, OSError):
            return self.lost(self.end(worker))
        if worker.begun < TASKS_OF_A_PROCESS and self.given < worker.knows:
            self.give(worker)
        else:
            self.end(worker)
        return json.loads(said)

    def lost(self, status: int) -> Lost:
        """Why a process ended without a result, by its exit status."""
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
        """Close the connection, which ends the worker, and wait for it; returns its status."""
        del self.workers[worker.line]
        worker.line.close()
        if kill:
            os.kill(worker.process, signal.SIGKILL)
        return os.waitpid(worker.process, 0)[1]

    def disband(self) -> None:
        for worker in list(self.workers.values()):
            self.end(worker, kill=True)


def _serve(line: Connection, do: Callable[[int], Any], parent: int, memory_bytes: int | None) -> NoReturn:
    """In the forked process: do the tasks asked for and send their results, then exit at once."""
    status = 1
    try:
        die_with_parent()
        die_first()
        if os.getppid() != parent:  # the parent ended before the kernel was told to report its end
            os._exit(status)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
        gc.freeze()  # collecting garbage would copy what is shared with the parent
        gc.set_threshold(NEW_OBJECTS)
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
    """The numbers of the tasks to do, until the parent closes the connection."""
    while True:
        try:
            asked = line.recv_bytes()
        except EOFError:
            return
        yield int.from_bytes(asked)
