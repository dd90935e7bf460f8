"""Frames over a socket, with a deadline and a limit on their size."""

import socket
import struct
import time
from contextlib import suppress
from typing import Protocol

LENGTH = struct.Struct("<Q")
CHUNK = 1 << 20


class Deadline(Protocol):
    """A deadline that may be put off."""

    def remaining(self) -> float:
        """Seconds to wait before asking again; raises TimeoutError when the time is over."""


class TooLarge(ValueError):
    """The other side announces a frame beyond the limit."""


def send(connection: socket.socket, frame: bytes, deadline: float | Deadline | None = None) -> None:
    """Send one frame; raises TimeoutError, or another OSError where the other side is gone."""
    view = memoryview(frame)
    start = LENGTH.pack(len(frame)) + view[:CHUNK]  # the other side wakes up once, not twice
    send_exactly(connection, memoryview(start), deadline)
    send_exactly(connection, view[CHUNK:], deadline)


def send_exactly(connection: socket.socket, view: memoryview, deadline: float | Deadline | None) -> None:
    """Send all of it."""
    while view:
        connection.settimeout(remaining(deadline))
        with suppress(TimeoutError):  # whether it really is too late, `remaining` says
            view = view[connection.send(view) :]


def receive(connection: socket.socket, limit: int, deadline: float | Deadline | None = None) -> bytearray:
    """Receive one frame of at most `limit` bytes; raises EOFError, TimeoutError or TooLarge."""
    (length,) = LENGTH.unpack(receive_exactly(connection, LENGTH.size, deadline))
    if length > limit:
        raise TooLarge(length)
    return receive_exactly(connection, length, deadline)


def receive_exactly(connection: socket.socket, count: int, deadline: float | Deadline | None) -> bytearray:
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
