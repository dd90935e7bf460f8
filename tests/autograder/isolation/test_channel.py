import socket
import threading
import time
from contextlib import closing

import pytest

from autograder.isolation import channel


@pytest.fixture(params=["socket", "pipes"])
def pair(request):
    if request.param == "socket":
        left, right = socket.socketpair()
    else:
        left, descriptors = channel.pair()
        right = channel.Pipes(*descriptors)
    with closing(left), closing(right):
        yield left, right


def soon(seconds):
    return time.monotonic() + seconds


def test_frames_arrive_whole_and_in_order(pair):
    left, right = pair
    frames = [b"", b"a", bytes(range(256)) * 8192]
    sender = threading.Thread(target=lambda: [channel.send(left, frame) for frame in frames])
    sender.start()
    assert [bytes(channel.receive(right, 1 << 22, soon(10))) for _ in frames] == frames
    sender.join()


def test_an_announcement_beyond_the_limit_is_refused_at_once(pair):
    left, right = pair
    left.send(channel.LENGTH.pack(2**63))
    with pytest.raises(channel.TooLarge):
        channel.receive(right, 1 << 20, soon(10))


def test_silence_ends_at_the_deadline(pair):
    _, right = pair
    with pytest.raises(TimeoutError):
        channel.receive(right, 100, soon(0.05))


def test_a_byte_now_and_then_does_not_move_the_deadline(pair):
    left, right = pair
    left.send(channel.LENGTH.pack(1000))
    stop = threading.Event()

    def trickle():
        while not stop.wait(0.02):
            left.send(b"x")

    sender = threading.Thread(target=trickle)
    sender.start()
    with pytest.raises(TimeoutError):
        channel.receive(right, 1000, soon(0.2))
    stop.set()
    sender.join()


def test_a_reader_that_does_not_read_does_not_hold_the_sender(pair):
    left, _ = pair
    with pytest.raises(TimeoutError):
        channel.send(left, bytes(8 << 20), soon(0.1))


def test_hanging_up_in_the_middle_of_a_frame_is_the_end(pair):
    left, right = pair
    left.send(channel.LENGTH.pack(1000) + b"half")
    left.close()
    with pytest.raises(EOFError):
        channel.receive(right, 1000, soon(10))


def test_sending_to_one_who_is_gone_is_an_error(pair):
    left, right = pair
    right.close()
    with pytest.raises(BrokenPipeError):
        channel.send(left, bytes(8 << 20), soon(10))
