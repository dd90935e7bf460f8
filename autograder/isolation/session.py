"""Inside the student's process: answers the grader's requests, one at a time, until the grader hangs up."""

import random
import socket
from pathlib import Path
from typing import Any

import numpy as np
import torch

from autograder.isolation import channel, wire
from autograder.isolation.cells import Cells, Shell, describe
from autograder.isolation.forbidden import Guard
from autograder.isolation.limits import Limits, in_words
from autograder.isolation.objects import Graphs, Objects

MAX_REQUEST = 1 << 32  # the grader is trusted


class Session:
    """One student's namespace and objects, and the operations on them."""

    def __init__(self, shell: Shell, limits: Limits, work: Path):
        self.cells = Cells(shell, limits)
        self.objects = Objects(self.cells.namespace)
        self.graphs = Graphs()
        self.guard = Guard()
        self.limits = limits
        self.work = work

    def place(self, files: dict[str, bytes]) -> None:
        """Write files into the work directory."""
        for name, content in files.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def run(self, source: str, name: str | None) -> dict[str, Any]:
        return self.cells.run(source, name)

    def defined(self, names: list[str]) -> list[str]:
        return [name for name in names if name in self.cells.namespace]

    def forbid(self, names: list[str]) -> None:
        self.guard.forbid(names)

    def request(
        self, target: Any, method: str, args: list, kwargs: dict, gradients: bool, seed: int | None
    ) -> dict[str, Any]:
        """Call the student's thing; its value, its arguments if they changed, and the graph behind it."""
        if seed is not None:
            seed_everything(seed)
        thing = self.objects.named(target) if isinstance(target, str) else target
        before = wire.content([args, kwargs], self.objects.refer)
        value = self.objects.ask(thing, method, tuple(args), kwargs)
        after = wire.content([args, kwargs], self.objects.refer)
        changed = [args, kwargs] if after != before else None
        graph = self.graphs.keep([args, kwargs], value) if gradients else None
        self.cells.shell.output.clear()
        return {"value": value, "changed": changed, "graph": graph}

    def backward(self, graph: int, cotangents: list) -> list:
        return self.graphs.backward(graph, cotangents)

    def answer(self, frame: bytes) -> bytes:
        """One request's reply, or the error it ended in."""
        try:
            message = wire.decode(frame, self.objects.resolve, generators=True, gradients=True)
            operation = OPERATIONS[message.pop("operation")]
            reply = wire.encode({"value": operation(self, **message)}, self.objects.refer)
        except BaseException as error:
            return wire.encode({"fault": describe(error)})
        if len(reply) > self.limits.reply_bytes:
            most = in_words(self.limits.reply_bytes)
            error = ValueError(f"the result takes {in_words(len(reply))}; at most {most} may be returned")
            return wire.encode({"fault": describe(error)})
        return reply

    def serve(self, connection: socket.socket) -> None:
        """Answer until the other side closes the connection."""
        self.cells.open_streams()
        while True:
            try:
                frame = channel.receive(connection, MAX_REQUEST)
            except EOFError:
                return
            channel.send(connection, self.answer(frame))


OPERATIONS = {
    "place": Session.place,
    "run": Session.run,
    "defined": Session.defined,
    "forbid": Session.forbid,
    "request": Session.request,
    "backward": Session.backward,
}


def seed_everything(seed: int) -> None:
    """The same global random numbers for every request that asks for the same seed."""
    random.seed(seed)
    np.random.seed(seed % (1 << 32))
    torch.default_generator.manual_seed(seed)  # manual_seed queues it for absent devices too
