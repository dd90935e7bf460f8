"""Inside the student's process: answers the grader's requests, one at a time, until the grader hangs up."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from autograder.isolation import channel, wire
from autograder.isolation.call_back import CallBack
from autograder.isolation.cells import Cells, Shell, describe
from autograder.isolation.forbidden import Guard
from autograder.isolation.limits import Limits, in_words
from course.checks.autograd import Backward
from course.checks.request import Objects
from course.checks.trace import Object, Thing

MAX_REQUEST = 1 << 32  # the grader is trusted
ALWAYS_RETURNED = 1 << 16  # bytes of arguments; larger arguments are returned only if they changed


class Session:
    """One student's namespace and objects, and the operations on them."""

    def __init__(self, shell: Shell, limits: Limits, work: Path):
        self.cells = Cells(shell, limits)
        self.objects = Objects(self.cells.namespace)
        self.graphs: dict[int, Backward] = {}
        self.count = 0
        self.guard = Guard()
        self.limits = limits
        self.work = work
        self.call_back: CallBack | None = None  # None until it serves

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

    def substitute(self, names: list[str], modules: list[str]) -> None:
        """Replace these functions, and these classes of modules, by ones that the grader answers."""
        assert self.call_back is not None
        functions = {name: self.call_back.part(name) for name in names}
        self.cells.namespace.update(functions | {name: self.call_back.module(name) for name in modules})

    def forbid(self, names: list[str]) -> None:
        self.guard.forbid(names)

    def request(
        self,
        target: Thing | Object,
        method: str,
        arguments: bytes,
        gradients: bool,
        seed: int,
        released: list[int],
    ) -> dict[str, Any]:
        """Call the student's object; returns the value, the arguments afterwards, and the graph's number."""
        for graph in released:
            self.graphs.pop(graph, None)
        args, kwargs = given = wire.decode(arguments, generators=True)
        before = wire.content(given) if len(arguments) > ALWAYS_RETURNED else None
        reply = self.objects.request(
            target, method, args, kwargs, seed=seed, gradients=gradients, take_down=wire.content
        )
        after = cast("wire.Content | None", reply.left)  # what `take_down` made of it
        left = None if after is None or after == before else wire.framed(after)
        self.cells.shell.output.clear()
        return {"value": reply.value, "left": left, "graph": self.keep(reply.backward)}

    def keep(self, backward: Backward | None) -> int | None:
        """The number under which gradients can be asked for later."""
        if backward is None:
            return None
        self.count += 1
        self.graphs[self.count] = backward
        return self.count

    def backward(self, graph: int, gradients: list) -> list:
        return list(self.graphs[graph](gradients))

    def answer(self, frame: bytes | bytearray) -> bytes:
        """The reply to one request, or the error that it raised."""
        try:
            message = wire.decode(frame)
            operation = OPERATIONS[message.pop("operation")]
            reply = wire.encode({"value": operation(self, **message)})
            if len(reply) <= self.limits.reply_bytes:
                return reply
            most = in_words(self.limits.reply_bytes)
            raise ValueError(f"the result takes {in_words(len(reply))}; at most {most} may be returned")
        except BaseException as error:
            return wire.encode({"fault": describe(error)})

    def serve(self, incoming: int, outgoing: int) -> None:
        """Read requests from one pipe and write replies to the other, until the grader closes them."""
        connection = channel.Pipes(incoming, outgoing)
        self.call_back = CallBack(connection)
        self.cells.open_streams()
        while True:
            try:
                frame = channel.receive(connection, MAX_REQUEST)
            except EOFError:
                return
            channel.send(connection, self.answer(frame))


OPERATIONS: dict[str, Callable[..., Any]] = {
    "place": Session.place,
    "run": Session.run,
    "defined": Session.defined,
    "forbid": Session.forbid,
    "substitute": Session.substitute,
    "request": Session.request,
    "backward": Session.backward,
}
