"""Inside the student's process: earlier parts that the grader answers because the student's own are wrong.

Such a part is a function whose calls, and whose gradients, become requests to the grader, or a class of
modules whose forward pass is such a function. Only values cross, as everywhere.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.isolation import channel, wire
from autograder.isolation.remote_module import new, remote_module, run
from course.checks.autograd import Backward
from course.checks.request import Reply
from course.checks.standin import StandIn
from course.checks.trace import Object, Trace

MAX_ANSWER = 1 << 32  # the grader is trusted


class CallBack:
    """Requests from the student's process to the grader, while the grader waits for an answer."""

    def __init__(self, connection: channel.Connection) -> None:
        self.connection = connection

    def part(self, name: str) -> Callable[..., object]:
        """A function in place of the student's; raises RuntimeError where the grader has no answer."""

        def part(*args: object, **kwargs: object) -> object:
            return StandIn(self, Trace(name), name)(*args, **kwargs)

        part.__name__ = part.__qualname__ = name
        return part

    def module(self, name: str) -> type[torch.nn.Module]:
        """A class of modules in place of the student's."""
        return remote_module(name, self.part(new(name)), self.part(run(name)))

    def request(
        self, target: str | Object, method: str, args: tuple, kwargs: dict, *, seed: int = 0
    ) -> Reply:
        """The method of course.checks' Link, for a part called by its name."""
        arguments = wire.encode((args, kwargs))
        gradients = torch.is_grad_enabled()
        value, graph = self.ask({"part": target, "arguments": arguments, "gradients": gradients})
        return Reply(value, None, None if graph is None else self.way_back(graph))

    def way_back(self, graph: int) -> Backward:
        """A function that asks the grader for gradients."""

        def backward(gradients: Sequence[Tensor]) -> Sequence[Tensor | None]:
            return self.ask({"part": None, "graph": graph, "gradients": list(gradients)})

        return backward

    def ask(self, message: dict[str, Any]) -> Any:
        """Send a request while the grader's own request is still being answered."""
        channel.send(self.connection, wire.encode(message))
        answer = wire.decode(channel.receive(self.connection, MAX_ANSWER))
        if "problem" in answer:
            raise RuntimeError(answer["problem"])
        return answer["value"]
