"""The grader's side of one student's process: requests go in; values, errors or how it ended come out."""

import contextlib
import json
import select
import socket
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from autograder.isolation import channel, wire
from autograder.isolation.deadline import Deadline
from autograder.isolation.deaths import how_it_ended
from autograder.isolation.limits import Limits, in_words
from autograder.isolation.replies import (
    fields_of,
    read_answer,
    read_arguments,
    read_cell,
    read_fault,
    read_names,
)
from autograder.isolation.results import CellResult, Died, IsolationUnavailable, Raised, TooLate
from autograder.isolation.spent import Spent
from course.checks.autograd import Backward
from course.checks.request import Reply
from course.checks.trace import Object, Thing
from course.language import say

START_SECONDS = 60.0  # on a very busy machine
FAREWELL_SECONDS = 20.0
MAX_REPORT = 1 << 16
UNREADABLE = say("sent a reply that cannot be read")


class Student:
    """One fresh sandboxed process and the notebook's namespace in it.

    Every method raises Died once the process has ended, with a sentence like "did not finish within 10 s".
    """

    def __init__(
        self, control: socket.socket, connection: channel.Connection, limits: Limits, files: dict[str, bytes]
    ):
        self.control = control
        self.connection = connection
        self.limits = limits
        self.files = files
        self.started = False
        self.death: Died | None = None
        self.told = 0  # bytes of its answers so far
        self.released: list[int] = []  # graphs that are no longer needed here
        self.report: dict | None = None  # the keeper's last
        self.busy = 0.0  # seconds spent on requests
        self.parts: Callable[[dict], bytes] | None = None  # answers its calls of earlier parts

    def run(self, source: str, seconds: float | None = None, name: str | None = None) -> CellResult:
        """Run one notebook cell; an error in it is part of the result.

        name: the cell's name in tracebacks; without one, cells are numbered.
        """
        try:
            answer = self.exchange(
                "run", {"source": source, "name": name}, seconds or self.limits.cell_seconds
            )
        except Raised as raised:  # earlier cells have broken the shell
            return CellResult("", [], raised.fault)
        return self.understand(partial(read_cell, self.limits), answer)

    def request(self, target: str | Object, method: str = "", args: Iterable = (), **options: Any) -> Any:
        """The value of the reply to `ask`."""
        return self.ask(target, method, args, **options).value

    def ask(
        self,
        target: str | Object,
        method: str = "",
        args: Iterable = (),
        kwargs: dict[str, Any] | None = None,
        *,
        gradients: bool = False,
        seed: int = 0,
        seconds: float | None = None,
    ) -> Reply:
        """Call the student's function, class or object; its process performs the call by `Objects.request`.

        Raises Raised, with the student's error, or Died, as the reply's `backward` does.
        """
        args, kwargs = tuple(args), dict(kwargs or {})
        arguments = wire.encode((args, kwargs))
        message = {
            "target": Thing(target) if isinstance(target, str) else target,
            "method": method,
            "arguments": arguments,
            "gradients": gradients,
            "seed": seed,
            "released": self.released[:],
        }
        self.released.clear()
        answer = self.exchange("request", message, seconds or self.limits.call_seconds)
        value, left, graph = self.understand(read_answer, answer)
        if left is not None and left != arguments:
            changed = self.understand(partial(read_arguments, args, kwargs), left)
            self.told += wire.weight(left)
        else:
            changed = None
        return Reply(value, changed, None if graph is None else self.way_back(graph))

    def way_back(self, graph: int) -> Backward:
        """A function that asks for gradients; when it is deleted, the process may forget the graph."""
        backward = partial(self.backward, graph)
        weakref.finalize(backward, self.released.append, graph).atexit = False
        return backward

    def backward(self, graph: int, gradients: Sequence, seconds: float | None = None) -> list:
        """The gradients of a call's arguments, given those of its results."""
        message = {"graph": graph, "gradients": list(gradients)}
        answer = self.exchange("backward", message, seconds or self.limits.call_seconds)
        return self.understand(list.copy, answer)

    def defined(self, names: Iterable[str]) -> set[str]:
        """The names among these that the notebook has defined."""
        names = list(names)
        answer = self.without_fault("defined", {"names": names}, self.limits.call_seconds)
        return self.understand(read_names, answer).intersection(names)

    def guard(self, names: Iterable[str]) -> None:
        """Make calls of exactly these dotted names raise Forbidden from now on; an empty list allows all.

        Guard every name before the cells run, so that `from torch import softmax` gets the guarded one.
        """
        self.without_fault("forbid", {"names": sorted(names)}, START_SECONDS)

    def substitute(
        self, names: Iterable[str], modules: Iterable[str], answer: Callable[[dict], bytes]
    ) -> None:
        """From now on, answer calls of these functions and classes of the notebook here, with frames."""
        fields = {"names": sorted(names), "modules": sorted(modules)}
        self.without_fault("substitute", fields, self.limits.call_seconds)
        self.parts = answer

    def without_fault(self, operation: str, fields: dict, seconds: float) -> Any:
        """Send a request to which only a tampered process replies with an error, which ends it."""
        try:
            return self.exchange(operation, fields, seconds)
        except Raised:
            raise self.die(say("tampered with the code that answers the grader's requests")) from None

    def kill(self) -> None:
        """End the process and everything it started; returns when they are gone."""
        if self.death is None:
            self.die(say("was ended by the grader"))

    def has_ended(self) -> bool:
        """Whether its process has ended though nothing was asked of it: then its keeper has said why."""
        waiting = select.poll()
        waiting.register(self.control, select.POLLIN)
        return bool(waiting.poll(0))

    def exchange(self, operation: str, fields: dict, seconds: float) -> Any:
        """Send one request and read its reply, all within `seconds`."""
        if self.death is not None:
            raise Died(self.death.sentence)
        if not self.started:
            self.start()
        reply = self.converse(wire.encode({"operation": operation, **fields}), seconds)
        if type(reply) is dict and "fault" in reply:
            raise Raised(self.understand(read_fault, reply["fault"]))
        return self.understand(lambda answer: fields_of(answer)["value"], reply)

    def start(self) -> None:
        """Wait for the process and give it its files; a failure here is not the student's fault."""
        self.started = True
        try:
            self.exchange("place", {"files": self.files}, START_SECONDS)
        except (Died, Raised) as problem:
            raise IsolationUnavailable(f"a student's process did not start: it {problem}") from None

    def converse(self, message: bytes, seconds: float) -> Any:
        deadline = Deadline(seconds, self.limits.patience, self.spent_since)
        try:
            channel.send(self.connection, message, deadline)
            reply = self.receive(deadline)
            while self.parts is not None and type(reply) is dict and "part" in reply:
                channel.send(self.connection, self.understand(self.parts, reply), deadline)
                reply = self.receive(deadline)
            return reply
        except TimeoutError:
            raise self.die(TooLate(seconds, deadline.waited)) from None
        except channel.TooLarge:
            raise self.die(
                say("sent a reply of more than {size}", size=in_words(self.limits.reply_bytes))
            ) from None
        except wire.WireError:
            raise self.die(UNREADABLE) from None
        except (EOFError, OSError):
            raise self.die() from None
        except BaseException:  # such as Ctrl-C: an interrupted exchange cannot be continued
            self.die(say("was ended by the grader"))
            raise
        finally:
            self.busy += deadline.passed()

    def receive(self, deadline: Deadline) -> Any:
        """Its next message; raises WireError, EOFError, OSError and TooLarge."""
        frame = channel.receive(self.connection, self.limits.reply_bytes, deadline)
        said = wire.decode(frame)
        self.told += wire.weight(frame)  # of a frame that could be read
        return said

    def spent_since(self, moment: float) -> Spent:
        """The time its processes have spent since a moment of time.monotonic(); EOFError if they ended."""
        deadline = time.monotonic() + FAREWELL_SECONDS
        channel.send(self.control, json.dumps({"since": moment}).encode(), deadline)
        said = json.loads(channel.receive(self.control, MAX_REPORT, deadline))
        if not said.keys() <= set(Spent._fields):
            self.report = said
            raise EOFError
        return Spent(**said)

    def counted(self) -> float:
        """The counted seconds of all its requests."""
        if self.death is None and self.started:
            with contextlib.suppress(EOFError, OSError, ValueError):
                return self.spent_since(0.0)._replace(wall=self.busy).counted
        spent = Spent(**{name: (self.report or {}).get(name, 0.0) for name in Spent._fields})
        return spent._replace(wall=self.busy).counted

    def understand(self, read: Callable[[Any], Any], answer: Any) -> Any:
        """Parse a reply; a malformed one ends the process."""
        try:
            return read(answer)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise self.die(UNREADABLE) from None

    def die(self, reason: str | TooLate | None = None) -> Died:
        """End the process; returns the error to raise, with this reason or the one the keeper reports."""
        self.connection.close()
        report = self.report = self.report or self.last_report()
        sentence = reason or how_it_ended(report, self.limits)
        self.death = sentence if isinstance(sentence, TooLate) else Died(sentence)
        if "problem" in report:
            self.death = Died(say("could not be kept: {problem}", problem=report["problem"]))
        return self.death

    def last_report(self) -> dict:
        """Tell the keeper to end everything; returns its report."""
        deadline = time.monotonic() + FAREWELL_SECONDS
        with self.control, contextlib.suppress(OSError, EOFError, ValueError):
            self.control.shutdown(socket.SHUT_WR)
            return json.loads(channel.receive(self.control, MAX_REPORT, deadline))
        return {}

    def __enter__(self) -> "Student":
        return self

    def __exit__(self, *exception: object) -> None:
        self.kill()
