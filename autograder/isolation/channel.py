"""Frames over a socket, with a deadline and a limit on their size."""

import socket
import struct
import time

LENGTH = struct.Struct("<Q")
CHUNK = 1 << 20


class TooLarge(ValueError):
    """The other side announces a frame beyond the limit."""


def send(connection: socket.socket, frame: bytes, deadline: float | None = None) -> None:
    """Send one frame; raises TimeoutError, or another OSError where the other side is gone."""
    connection.settimeout(remaining(deadline))
    view = memoryview(frame)
    connection.sendall(LENGTH.pack(len(frame)) + view[:CHUNK])  # the other side wakes up once, not twice
    if len(view) > CHUNK:
        connection.sendall(view[CHUNK:])


def receive(connection: socket.socket, limit: int, deadline: float | None = None) -> bytearray:
    """Receive one frame of at most `limit` bytes; raises EOFError, TimeoutError or TooLarge."""
    (length,) = LENGTH.unpack(receive_exactly(connection, LENGTH.size, deadline))
    if length > limit:
        raise TooLarge(length)
    return receive_exactly(connection, length, deadline)


def receive_exactly(connection: socket.socket, count: int, deadline: float | None) -> bytearray:
    """Receive `count` bytes; memory grows with what arrives, not with what was announced."""
    received = bytearray()
    while len(received) < count:
        connection.settimeout(remaining(deadline))
        chunk = connection.recv(min(CHUNK, count - len(received)))
        if not chunk:
            raise EOFError("the other side closed the connection")
        received += chunk
    return received


def remaining(deadline: float | None) -> float | None:
    """Seconds until a deadline on time.monotonic()'s clock; raises TimeoutError when it has passed."""
    if deadline is None:
        return None
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds
