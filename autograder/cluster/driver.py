"""The driver's side of a Dask cluster: it sends submissions and yields results as they arrive."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from importlib import metadata
from itertools import islice
from pathlib import Path

from autograder.cluster.parcel import Parcel
from autograder.extras import needs
from autograder.grading.forked import Lost
from autograder.grading.order import Order
from autograder.grading.plan import Plan
from autograder.grading.pool import JudgesUnavailable, SomeTask, Task, seconds_for_a_judge
from autograder.isolation import Level

with needs("distributed", "cluster"):
    import dask.config
    from distributed import Client, Future, KilledWorker, wait

    from autograder.cluster.privacy import obstacle
    from autograder.cluster.worker import DeskPlugin, WorkerUnfit, greeting_of, judge_at_desk

DISTRIBUTION = "language-models-from-scratch"
CONNECT_SECONDS = 20
WAIT_SECONDS = 5.0
SECONDS_TO_FETCH = 120.0  # one result, over a slow connection
SECONDS_WITHOUT_WORKERS = 60.0  # a lost worker may be restarted
PAPERS_PER_THREAD = 2  # so that no worker waits for its next submission
GRACE_SECONDS = 30.0
LEVELS = ("none", "landlock", "bwrap")  # the weakest first
KEPT = "What is finished is kept; run the same command again."


class ClusterUnavailable(JudgesUnavailable):
    """The cluster cannot be reached, or its workers cannot judge; the message says which and why."""


@dataclass
class Cluster:
    """Judges on the workers of a cluster; `name` is the plug-in that starts a desk on each."""

    client: Client
    address: str
    name: str
    starting: concurrent.futures.Future  # of each desk's greeting, by its worker's address
    used: set[str] = field(default_factory=set)  # levels
    last_seen: float = field(default_factory=time.monotonic)  # when there was any worker

    @property
    def level(self) -> Level:
        """The weakest isolation level of all workers, including those that joined later."""
        greetings = list(self.starting.result().values())
        levels = [greeting["name"] for greeting in greetings]
        weakest = min({*levels, *self.used}, key=LEVELS.index)
        reasons = [greeting["reason"] for greeting in greetings if greeting["name"] == weakest]
        share = f"on {levels.count(weakest)} of {len(levels)} workers"
        return Level(weakest, "; ".join([share, *reasons[:1]]))

    def judged(
        self,
        tasks: Sequence[SomeTask],
        plan: Plan,
        arriving: Callable[[], Iterable[SomeTask]] | None = None,
    ) -> Generator[tuple[SomeTask, dict | Lost], None, None]:
        """Yield each task with its result, as they finish; raises ClusterUnavailable for an unfit worker."""
        with in_a_sentence(self.address):
            greetings = self.starting.result()
        require_some(greetings, self.address)
        if unfit := [greeting["problem"] for greeting in greetings.values() if "problem" in greeting]:
            raise ClusterUnavailable("\n".join(unfit))
        return self.answers(iter(tasks))

    def answers(self, waiting: Iterator[SomeTask]) -> Generator[tuple[SomeTask, dict | Lost], None, None]:
        """Send only enough to keep every worker busy: submissions that wait here survive a lost cluster."""
        running: dict[Future, SomeTask] = {}
        try:
            while True:
                with in_a_sentence(self.address):
                    for task in islice(waiting, max(0, self.places() - len(running))):
                        running[self.submit(task)] = task
                    finished = self.finished(running) if running else []
                if not running:
                    return
                for future, result in finished:
                    self.used |= set() if isinstance(result, Lost) else {result["record"]["isolation"]}
                    yield running.pop(future), result
        finally:
            with suppress(Exception):
                self.client.cancel(list(running), force=True)

    def submit(self, task: Task) -> Future:
        return self.client.submit(judge_at_desk, self.name, task.paper().as_bytes(), pure=False)

    def places(self) -> int:
        """How many submissions may be out at once; raises ClusterUnavailable when no worker is left."""
        workers = self.client.nthreads()
        require_private(workers)  # those that have joined since, too
        threads = sum(workers.values())
        if threads:
            self.last_seen = time.monotonic()
        elif time.monotonic() > self.last_seen + SECONDS_WITHOUT_WORKERS:
            raise ClusterUnavailable(
                f"For {SECONDS_WITHOUT_WORKERS:.0f} s there has been no worker at {self.address}. {KEPT}"
            )
        return max(1, PAPERS_PER_THREAD * threads)

    def finished(self, running: Mapping[Future, Task]) -> list[tuple[Future, dict | Lost]]:
        """The submissions that have been judged, which may be none."""
        try:
            done = wait(list(running), timeout=WAIT_SECONDS, return_when="FIRST_COMPLETED").done
            return [(future, result_of(future)) for future in done]
        except TimeoutError:  # also for a result whose worker was just lost: Dask has it judged again
            return []


def result_of(future: Future) -> dict | Lost:
    """The result for a submission; raises an error that makes the whole run pointless."""
    try:
        answer = json.loads(future.result(timeout=SECONDS_TO_FETCH))
    except KilledWorker as error:
        return Lost(f"ended with each of the {error.allowed_failures + 1} workers that tried")
    return answer["graded"] if "graded" in answer else Lost(**answer["lost"])


@contextmanager
def cluster_judges(address: str, order: Order, root: Path) -> Iterator[Cluster]:
    """Judges on an existing cluster; their desks close when this ends. Raises ClusterUnavailable.

    Certificates are those of Dask's own settings.
    """
    name = f"autograder {order.homework} {uuid.uuid4().hex}"  # others may use the cluster too
    seconds = order.limits.patience * seconds_for_a_judge(order.limits) + GRACE_SECONDS
    plugin = DeskPlugin(Parcel.pack(order, root).as_bytes(), seconds)
    with quiet_about_size(), connected(address) as client, ThreadPoolExecutor(1) as meanwhile:
        require_workers(client, address)
        with in_a_sentence(address):
            client.register_plugin(plugin, name=name)
        try:
            yield Cluster(client, address, name, meanwhile.submit(client.run, greeting_of, name))
        finally:
            with suppress(Exception):  # the cluster has ended, and its desks too
                client.unregister_worker_plugin(name)


def quiet_about_size() -> AbstractContextManager:
    """Silence Dask's warning about large tasks: the size of a submission is already limited."""
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})


def connected(address: str) -> Client:
    try:
        require_private([address])
        with in_a_sentence(address):
            return Client(address, timeout=CONNECT_SECONDS)
    except ValueError as error:
        raise ClusterUnavailable(f"{address} is not the address of a Dask scheduler ({error}).") from error


def require_private(addresses: Iterable[str]) -> None:
    """Raise ClusterUnavailable if a stranger could take part in a connection to one of them."""
    for address in addresses:
        try:
            problem = obstacle(address)
        except OSError as error:
            problem = f"The certificates for {address} cannot be used ({error})."
        if problem:
            raise ClusterUnavailable(problem)


def require_workers(client: Client, address: str) -> None:
    """Raise ClusterUnavailable unless there are workers, all private and with the grader installed."""
    require_private(client.nthreads())
    with in_a_sentence(address):
        found = client.run(metadata.version, DISTRIBUTION, on_error="return")
    require_some(found, address)
    if lacking := [worker for worker, version in found.items() if isinstance(version, Exception)]:
        raise ClusterUnavailable(f"The grader is not installed for the Python of {', '.join(lacking)}.")


def require_some(workers: Sized, address: str) -> None:
    """Raise ClusterUnavailable if there are none."""
    if not workers:
        raise ClusterUnavailable(
            f"The Dask cluster at {address} has no workers; start some: `dask worker {address}`."
        )


@contextmanager
def in_a_sentence(address: str) -> Iterator[None]:
    """Turn errors of the cluster into ClusterUnavailable."""
    try:
        yield
    except WorkerUnfit as unfit:
        raise ClusterUnavailable(f"{unfit}. {KEPT}") from unfit
    except (OSError, asyncio.CancelledError, concurrent.futures.CancelledError) as error:
        raise ClusterUnavailable(
            f"The Dask cluster at {address} does not answer ({error}). {KEPT}"
        ) from error
