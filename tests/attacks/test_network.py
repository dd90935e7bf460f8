"""Reaching out of the sandbox."""

import socket
import tempfile
import threading
from pathlib import Path

import pytest
from starts import EACH, shared
from warm_levels import PATIENT


@pytest.fixture(scope="module", params=EACH)
def student(request):
    """One process for all: none of these attacks changes anything, or it has worked."""
    with shared(request.param).student(limits=PATIENT) as student:
        yield student


@pytest.fixture
def listener():
    """A server of the grader's machine, and how often it was reached."""
    reached = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        stop = threading.Event()

        def listen():
            while not stop.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                reached.append(connection.getsockname())
                connection.close()

        thread = threading.Thread(target=listen)
        thread.start()
        yield server.getsockname()[1], reached
        stop.set()
        thread.join()


CONNECT = "import socket; socket.create_connection(('127.0.0.1', {port}), 3).sendall(b'answers')"


def test_a_port_of_this_machine_is_not_reached(student, listener):
    port, reached = listener
    assert "OSError" in student.run(CONNECT.format(port=port)).error.bases
    assert reached == []


def test_the_listener_of_that_test_can_be_reached(listener):
    port, reached = listener
    socket.create_connection(("127.0.0.1", port), 3).close()
    for _ in range(50):
        if reached:
            break
        threading.Event().wait(0.05)
    assert len(reached) == 1


@pytest.mark.parametrize("address", ["'192.0.2.1', 80", "'2001:db8::1', 80", "'example.org', 443"])
def test_the_internet_is_not_reached(student, address):
    error = student.run(f"import socket; socket.create_connection(({address}), 3)").error
    assert "OSError" in error.bases
    assert "timed out" not in error.message  # refused at once, not merely unanswered


def test_a_datagram_does_not_leave(student):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(0.5)
        port = receiver.getsockname()[1]
        sender = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
        student.run(f"{sender}.sendto(b'answers', ('127.0.0.1', {port}))")
        with pytest.raises(TimeoutError):
            receiver.recv(10)


@pytest.mark.parametrize("kind", ["SOCK_STREAM", "SOCK_DGRAM"])
def test_sockets_with_a_path_or_a_name_are_not_reached(student, kind):
    with tempfile.TemporaryDirectory(prefix="desk-") as place:
        Path(place).chmod(0o777)
        for address in (f"{place}/service", "\0service-of-the-grader"):
            with socket.socket(socket.AF_UNIX, getattr(socket, kind)) as server:
                server.bind(address)
                if not address.startswith("\0"):
                    Path(address).chmod(0o777)
                if kind == "SOCK_STREAM":
                    server.listen()
                server.settimeout(0.3)
                source = (
                    "import socket\n"
                    f"for maker in (lambda: socket.socket(socket.AF_UNIX, socket.{kind}),"
                    f" lambda: socket.socketpair(socket.AF_UNIX, socket.{kind})[0]):\n"
                    "    for act in (lambda s: s.connect(WHERE), lambda s: s.sendto(b'answers', WHERE)):\n"
                    "        try: act(maker())\n"
                    "        except OSError: pass\n"
                ).replace("WHERE", repr(address))
                assert student.run(source).error is None
                with pytest.raises(TimeoutError):
                    server.accept() if kind == "SOCK_STREAM" else server.recv(10)


def test_other_kinds_of_socket_do_not_exist(student):
    source = (
        "import errno, socket\n"
        "for family in range(3, 64):  # packet, vsock, alg, bluetooth, can, tipc, …\n"
        "    if family in (socket.AF_INET6, socket.AF_NETLINK): continue\n"
        "    try: socket.socket(family, socket.SOCK_DGRAM); print(family)\n"
        "    except OSError as error: assert error.errno == errno.EAFNOSUPPORT, (family, error)\n"
    )
    result = student.run(source)
    assert (result.output, result.error) == ("", None)


def test_raw_sockets_do_not_exist(student):
    error = student.run("import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)").error
    assert "OSError" in error.bases


def test_only_routing_questions_go_over_netlink(student):
    for protocol in (9, 12, 15, 16):  # audit, netfilter, uevents, generic
        error = student.run(
            f"import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, {protocol})"
        ).error
        assert "Address family not supported" in error.message
