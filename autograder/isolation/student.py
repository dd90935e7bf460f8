"""The grader's side of one student's process: requests go in, values, faults or a cause of death come out."""

import contextlib
import json
import socket
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from autograder.isolation import channel, wire
from autograder.isolation.border import attach
from autograder.isolation.deaths import how_it_ended
from autograder.isolation.limits import Limits, in_words
from autograder.isolation.replies import read_answer, read_cell, read_fault
from autograder.isolation.results import (
    CellResult,
    Died,
    Handle,
    IsolationUnavailable,
    Named,
    Raised,
    Reply,
)

START_SECONDS = 60.0  # on a machine with much else to do
FAREWELL_SECONDS = 20.0
MAX_REPORT = 1 << 16
UNREADABLE = "sent a reply that cannot be read"


class Student:
    """One fresh sandboxed process and the notebook's namespace in it.

    Every method raises Died once the process is gone, with a sentence such as "did not finish within 10 s".
    """

    def __init__(
        self, control: socket.socket, connection: socket.socket, limits: Limits, files: dict[str, bytes]
    ):
        self.control = control
        self.connection = connection
        self.limits = limits
        self.files = files
        self.started = False
        self.death: Died | None = None

    def run(self, source: str, seconds: float | None = None, name: str | None = None) -> CellResult:
        """Run one notebook cell; an error in it is part of the result.

        name: what tracebacks call the cell; otherwise cells are counted.
        """
        try:
            answer = self.exchange(
                "run", {"source": source, "name": name}, seconds or self.limits.cell_seconds
            )
        except Raised as raised:  # the cells before have broken the shell
            return CellResult("", [], raised.fault)
        return self.understand(partial(read_cell, self.limits), answer)

    def request(
        self,
        target: str | Handle,
        method: str = "",
        args: Iterable = (),
        kwargs: dict[str, Any] | None = None,
        *,
        gradients: bool = False,
        seed: int | None = 0,
        seconds: float | None = None,
    ) -> Any:
        """Call the student's function, class or object; plain data comes back, anything else as a Handle.

        method: "" to call, a method's name, "__getattr__", "__getitem__", "__len__", "__iter__", "__next__";
        of a module also "gradients", a dictionary from parameter names to gradients.
        gradients: the result's tensors carry a graph, and backward() through it crosses the border.
        seed: for the student's global random numbers, set before the call; None leaves them running.
        Raises Raised, with the student's error, or Died.
        """
        return self.ask(target, method, args, kwargs, gradients=gradients, seed=seed, seconds=seconds).value

    def ask(
        self,
        target: str | Handle,
        method: str = "",
        args: Iterable = (),
        kwargs: dict[str, Any] | None = None,
        *,
        gradients: bool = False,
        seed: int | None = 0,
        seconds: float | None = None,
    ) -> Reply:
        """As `request`, with what the call did to its arguments."""
        args, kwargs = list(args), dict(kwargs or {})
        message = {
            "target": target,
            "method": method,
            "args": args,
            "kwargs": kwargs,
            "gradients": gradients,
            "seed": seed,
        }
        seconds = seconds or self.limits.call_seconds
        answer = self.exchange("request", message, seconds, gradients=gradients)
        value, changed, graph = self.understand(read_answer, answer)
        if graph is not None:
            value = attach(self, graph, [args, kwargs], value)
        return Reply(value, changed)

    def backward(self, graph: int, cotangents: list) -> list:
        """The gradients of a call's arguments, given those of its results."""
        message = {"graph": graph, "cotangents": cotangents}
        answer = self.exchange("backward", message, self.limits.call_seconds)
        return self.understand(list.copy, answer)

    def defined(self, names: Iterable[str]) -> set[str]:
        """Those of the names that the notebook has defined."""
        names = list(names)
        answer = self.without_fault("defined", {"names": names}, self.limits.call_seconds)
        return {name for name in names if name in self.understand(list.copy, answer)}

    def guard(self, names: Iterable[str]) -> None:
        """Make calls of exactly these dotted names raise Forbidden from now on; an empty list lifts it.

        Guard every name before the cells run, so that `from torch import softmax` gets the guarded one.
        """
        self.without_fault("forbid", {"names": sorted(names)}, START_SECONDS)

    def without_fault(self, operation: str, fields: dict, seconds: float) -> Any:
        """Ask what only a process that was tampered with answers with an error; that ends it."""
        try:
            return self.exchange(operation, fields, seconds)
        except Raised:
            raise self.die("broke what answers for it") from None

    def kill(self) -> None:
        """End the process and everything it started; returns when they are gone."""
        if self.death is None:
            self.die("was ended by the grader")

    def exchange(self, operation: str, fields: dict, seconds: float, *, gradients: bool = False) -> Any:
        """Send one request and read its reply, all within `seconds`."""
        if self.death is not None:
            raise Died(str(self.death))
        if not self.started:
            self.start()
        message = wire.encode({"operation": operation, **fields}, refer)
        reply = self.converse(message, seconds, gradients)
        if type(reply) is dict and "fault" in reply:
            raise Raised(self.understand(read_fault, reply["fault"]))
        return self.understand(lambda answer: answer["value"], reply)

    def start(self) -> None:
        """Wait for the process and give it its files; what fails here is not the student's doing."""
        self.started = True
        try:
            self.exchange("place", {"files": self.files}, START_SECONDS)
        except (Died, Raised) as problem:
            raise IsolationUnavailable(f"a student's process did not start: it {problem}") from None

    def converse(self, message: bytes, seconds: float, gradients: bool) -> Any:
        deadline = time.monotonic() + seconds
        try:
            channel.send(self.connection, message, deadline)
            frame = channel.receive(self.connection, self.limits.reply_bytes, deadline)
            return wire.decode(frame, Handle.from_reference, gradients=gradients)
        except TimeoutError:
            raise self.die(f"did not finish within {seconds:g} s") from None
        except channel.TooLarge:
            raise self.die(f"sent a reply of more than {in_words(self.limits.reply_bytes)}") from None
        except wire.WireError:
            raise self.die(UNREADABLE) from None
        except (EOFError, OSError):
            raise self.die() from None
        except BaseException:  # such as Ctrl-C: half a conversation cannot be continued
            self.die("was ended by the grader")
            raise

    def understand(self, read: Callable[[Any], Any], answer: Any) -> Any:
        """Take a reply apart; one of another form than agreed ends the process."""
        try:
            return read(answer)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise self.die(UNREADABLE) from None

    def die(self, sentence: str | None = None) -> Died:
        """End the process; the error to raise, saying what happened or what the keeper says happened."""
        self.connection.close()
        report = self.last_report()
        self.death = Died(sentence or how_it_ended(report, self.limits))
        if "problem" in report:
            self.death = Died(f"could not be kept: {report['problem']}")
        return self.death

    def last_report(self) -> dict:
        """Tell the keeper to end everything, and hear from it how it ended."""
        deadline = time.monotonic() + FAREWELL_SECONDS
        with self.control, contextlib.suppress(OSError, EOFError, ValueError):
            self.control.shutdown(socket.SHUT_WR)
            return json.loads(channel.receive(self.control, MAX_REPORT, deadline))
        return {}

    def __enter__(self) -> "Student":
        return self

    def __exit__(self, *exception: object) -> None:
        self.kill()


def refer(thing: Any) -> list:
    """How a handle or a name is written down; anything else that is not plain data stays here."""
    if isinstance(thing, Handle):
        return ["object", thing.index, thing.type_name, thing.callable]
    if isinstance(thing, Named):
        return ["name", thing.name]
    raise wire.Unencodable(f"a {type(thing).__name__} cannot be passed to a student's process")
