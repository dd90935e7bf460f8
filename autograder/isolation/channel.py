"""Frames over a socket or a pair of pipes, with a deadline and a limit on their size."""

import os
import select
import struct
import time
from contextlib import suppress
from typing import Protocol

LENGTH = struct.Struct("<Q")
CHUNK = 1 << 20
CAPACITY = 1 << 16  # of a pipe


class Deadline(Protocol):
    """A deadline that may be postponed."""

    def remaining(self) -> float:
        """Seconds to wait before asking again; raises TimeoutError when the time is over."""


class Connection(Protocol):
    """The methods of a socket that frames need."""

    def settimeout(self, seconds: float | None) -> None: ...

    def send(self, data: memoryview) -> int: ...

    def recv(self, most: int) -> bytes: ...

    def close(self) -> None: ...


class Pipes:
    """An incoming and an outgoing pipe as one connection, which carries bytes and nothing else.

    A socket could also carry open files. The receiver must close each of them, wanted or not, which can take
    as long as the sender likes: a network connection can be made to linger.
    """

    def __init__(self, incoming: int, outgoing: int):
        self.seconds: float | None = None
        self.ahead = b""  # bytes that arrived together with those asked for, such as a frame with its length
        self.incoming = open(incoming, "rb", buffering=0)  # noqa: SIM115  closed by `close`
        self.outgoing = open(outgoing, "wb", buffering=0)  # noqa: SIM115
        self.readable, self.writable = select.poll(), select.poll()
        self.readable.register(incoming, select.POLLIN)
        self.writable.register(outgoing, select.POLLOUT)
        for descriptor in (incoming, outgoing):
            os.set_blocking(descriptor, False)

    def settimeout(self, seconds: float | None) -> None:
        self.seconds = seconds

    def send(self, data: memoryview) -> int:
        """Send at least one byte and return how many; raises TimeoutError, BrokenPipeError."""
        while (sent := self.outgoing.write(data)) is None:
            self.wait(self.writable)
        return sent

    def recv(self, most: int) -> bytes:
        """The bytes that have arrived, or none at the end; raises TimeoutError."""
        arrived: bytes | None = self.ahead or None
        while arrived is None:
            self.wait(self.readable)  # first: what is asked for has rarely arrived yet
            arrived = self.incoming.read(max(most, CAPACITY))
        self.ahead = arrived[most:]
        return arrived[:most]

    def wait(self, until: select.poll) -> None:
        if not until.poll(None if self.seconds is None else 1000 * self.seconds):
            raise TimeoutError

    def close(self) -> None:
        self.incoming.close()
        self.outgoing.close()


def pair() -> tuple[Pipes, tuple[int, int]]:
    """One side of a connection, and the descriptors from which the other side can be made."""
    there, out = os.pipe()
    back, theirs = os.pipe()
    return Pipes(back, out), (there, theirs)


class TooLarge(ValueError):
    """The other side announced a frame above the limit."""


def send(connection: Connection, frame: bytes, deadline: float | Deadline | None = None) -> None:
    """Send one frame; raises TimeoutError, or another OSError if the other side has closed."""
    view = memoryview(frame)
    start = LENGTH.pack(len(frame)) + view[:CHUNK]  # the other side wakes up once, not twice
    send_exactly(connection, memoryview(start), deadline)
    send_exactly(connection, view[CHUNK:], deadline)


def send_exactly(connection: Connection, view: memoryview, deadline: float | Deadline | None) -> None:
    """Send all bytes of the view."""
    while view:
        connection.settimeout(remaining(deadline))
        with suppress(TimeoutError):  # whether it really is too late, `remaining` says
            view = view[connection.send(view) :]


def receive(connection: Connection, limit: int, deadline: float | Deadline | None = None) -> bytearray:
    """Receive one frame of at most `limit` bytes; raises EOFError, TimeoutError or TooLarge."""
    (length,) = LENGTH.unpack(receive_exactly(connection, LENGTH.size, deadline))
    if length > limit:
        raise TooLarge(length)
    return receive_exactly(connection, length, deadline)


def receive_exactly(connection: Connection, count: int, deadline: float | Deadline | None) -> bytearray:
    """Receive `count` bytes; memory grows with what arrives, not with what was announced."""
    received = bytearray()
    while len(received) < count:
        connection.settimeout(remaining(deadline))
        with suppress(TimeoutError):  # whether it really is too late, `remaining` says
            chunk = connection.recv(min(CHUNK, count - len(received)))
            if not chunk:
                raise EOFError("the other side closed the connection")
            received += chunk
    return received


def remaining(deadline: float | Deadline | None) -> float | None:
    """Seconds until a deadline on time.monotonic()'s clock; raises TimeoutError when it has passed."""
    if deadline is None:
        return None
    if not isinstance(deadline, float):
        return deadline.remaining()
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds
