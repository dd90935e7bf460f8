"""A student's process without a process: it answers as the real one does, until it is told to lie."""

from pathlib import Path
from types import SimpleNamespace

from autograder.isolation import wire
from autograder.isolation.channel import LENGTH
from autograder.isolation.limits import Limits
from autograder.isolation.session import Session
from autograder.isolation.student import Student

HOURS = 1e5  # seconds: nothing here waits for anybody, but the machine may have much else to do
LIMITS = Limits(call_seconds=HOURS, cell_seconds=HOURS, submission_seconds=10 * HOURS)
CELL = {"output": "", "displays": [], "error": None}


class Puppet(Session):
    """Answers requests on these things; `lie` makes another frame of an honest reply, or returns it."""

    def __init__(self, things, lie=lambda number, operation, reply: reply):
        super().__init__(SimpleNamespace(user_ns=things), LIMITS, Path("/nowhere"))
        self.lie, self.answered = lie, 0

    def answer(self, frame):
        operation = wire.decode(frame)["operation"]
        quiet = {"place": None, "forbid": None, "run": CELL}
        reply = wire.encode({"value": quiet[operation]}) if operation in quiet else super().answer(frame)
        self.answered += 1
        return self.lie(self.answered, operation, reply)


class Line:
    """A socket's end, at the other end of which somebody answers at once."""

    def __init__(self, answer):
        self.answer = answer
        self.asked, self.said = bytearray(), bytearray()

    def send(self, view):
        self.asked += view
        if len(self.asked) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self.asked)
            if len(self.asked) == LENGTH.size + length:
                reply = self.answer(bytes(self.asked[LENGTH.size :]))
                self.said += LENGTH.pack(len(reply)) + reply if isinstance(reply, bytes) else reply
                self.asked.clear()
        return len(view)

    def recv(self, most):
        taken, self.said = self.said[:most], self.said[most:]
        return bytes(taken)

    def settimeout(self, seconds):
        pass

    def close(self):
        pass


class NoKeeper(Line):
    """Nobody watches: what is asked here is never answered."""

    def __init__(self):
        super().__init__(lambda frame: bytearray())

    def shutdown(self, how):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass


def student(answer, limits=LIMITS):
    """The grader's side of a process whose every request `answer` makes the reply of.

    A bytearray is sent as it is, without the length that goes before a frame.
    """
    return Student(NoKeeper(), Line(answer), limits, {})
