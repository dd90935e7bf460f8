"""Right answers in place of a student's wrong earlier parts, so that one slip costs points only once.

The right answers run in their own sandbox, apart from the student's process and from the judge. A student's
process sends them data, which the judge decodes, and receives data. It never contains the code of a right
answer or any part of a check.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.grading.standin import Budget, Cell
from autograder.isolation import Died, Limits, Raised, wire
from autograder.isolation.remote_module import new, right_functions, run
from autograder.isolation.student import Student
from course.checks.plain import leaves
from course.checks.trace import Object, Thing

MOST_CALLS = 5_000  # that one submission may make
NO_ANSWER = "the grader cannot answer this call of `{name}`"


@dataclass
class Parts:
    """Right answers to some exercises, in their own process, which starts with the first call.

    names: functions.
    """

    names: Collection[str]
    cells: Collection[Cell]  # of the homework, with its right answers
    start: Callable[[], Student]
    limits: Limits
    budget: Budget
    modules: Collection[str] = ()  # classes, whose forward passes are answered
    calls: int = 0
    process: Student | None = None

    def answer(self, message: Mapping[str, Any]) -> bytes:
        """The frame that answers a call from the student's process.

        Raises ValueError after too many calls, KeyError and TypeError for a malformed one.
        """
        self.calls += 1
        if self.calls > MOST_CALLS:
            raise ValueError(f"more than {MOST_CALLS} calls that the grader must answer")
        name = message["part"]
        if name is not None and name not in self._answered:
            raise ValueError(f"{name} is not a function for which the grader answers")
        try:
            return wire.encode({"value": self._value(name, message)})
        except (Died, Raised, wire.WireError, wire.Unencodable) as problem:
            return wire.encode({"problem": _told(problem) or NO_ANSWER.format(name=name)})

    def _value(self, name: str | None, message: Mapping[str, Any]) -> object:
        process = self._living()
        if name is None:
            graph, gradients = message["graph"], message["gradients"]
            if type(graph) is not int or type(gradients) is not list:
                raise TypeError("a computation graph has a number, and its gradients are a list")
            return process.backward(graph, gradients, self._seconds())
        args, kwargs = wire.decode(message["arguments"])
        if type(args) is not tuple or type(kwargs) is not dict:
            raise TypeError("arguments are a tuple and a dictionary")
        if any(isinstance(leaf, Object | Thing) for leaf in leaves((args, kwargs))):
            raise wire.Unencodable("an object in the place of data")
        gradients = message["gradients"] is True
        reply = process.ask(name, "", args, kwargs, gradients=gradients, seconds=self._seconds())
        if any(isinstance(leaf, Object | Thing) for leaf in leaves(reply.value)):
            raise wire.Unencodable("an object in the place of data")
        return reply.value, self._kept(reply.backward)

    def _kept(self, backward: Any) -> int | None:
        """The number of a computation graph, which the process keeps until it ends."""
        if backward is None:
            return None
        self._graphs.append(backward)
        return backward.args[0]

    def __post_init__(self) -> None:
        self._graphs: list[Any] = []
        self._answered = {*self.names}.union(*((new(name), run(name)) for name in self.modules))

    def _living(self) -> Student:
        if self.process is None:
            self.process = self.start()
            functions = [Cell(right_functions(name), f"right {name}") for name in sorted(self.modules)]
            for cell in (*self.cells, *functions):
                self.process.run(cell.source, self.limits.cell_seconds, cell.name)
        return self.process

    def _seconds(self) -> float:
        return self.budget.seconds(self.limits.call_seconds, self.process) or 0.001

    def close(self) -> None:
        """End the process, and charge its time to the submission."""
        if self.process is not None:
            self.process.kill()
            self.budget.enter(self.process)
            self.process = None


def _told(problem: Exception) -> str:
    """What an error of a right answer says, without the line of its code; "" if it raised none."""
    return f"{problem.fault.class_name}: {problem.fault.message}" if isinstance(problem, Raised) else ""
