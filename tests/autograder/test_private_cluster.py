"""What is said on a cluster is said to those of one's own authority, or does not leave this machine."""

import pickle
import shutil
import socket
import struct
from pathlib import Path

import pytest
from certificates import certificate_in
from grading import RIGHT, new_course
from interrupted import POINTS, hand_in_all, marks, records, words

from autograder.cli import main

distributed = pytest.importorskip("distributed")

import dask.config  # noqa: E402

from autograder.cluster import driver, privacy  # noqa: E402

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")

ELSEWHERE = "192.0.2.1:8786"  # an address for documentation, which nobody has
REACHABLE = ["tcp://10.0.0.7:8786", "10.0.0.7:8786", "ws://10.0.0.7:8786", "tcp://localhost.example.org:1"]
FIRST = {"ada": RIGHT}


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return certificate_in(tmp_path_factory.mktemp("ours") / "files")


@pytest.fixture(scope="module")
def strangers(tmp_path_factory):
    return certificate_in(tmp_path_factory.mktemp("strangers") / "files")


@pytest.fixture(scope="module")
def address(ours):
    """A scheduler and a worker that talk to those who have a certificate of our authority."""
    with dask.config.set(ours.settings):
        security = distributed.Security(require_encryption=True)
    one = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**one, protocol="tls://", security=security) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def course(tmp_path):
    course = new_course(tmp_path / "course")
    hand_in_all(course, FIRST)
    return course


@pytest.fixture
def hurried(monkeypatch):
    monkeypatch.setattr(driver, "CONNECT_SECONDS", 1.0)


def grade_on(address, course):
    return main([*words(course, 1), "--dask", address])


def test_with_certificates_it_grades_as_it_does_here(address, ours, course):
    assert address.startswith("tls://")
    with dask.config.set(ours.settings):
        assert grade_on(address, course) == 0
    assert marks(course) == {student: POINTS[answer] for student, answer in FIRST.items()}


@pytest.mark.usefixtures("hurried")
def test_a_certificate_of_another_authority_opens_nothing(address, strangers, course, capsys):
    with dask.config.set(strangers.settings):
        assert grade_on(address, course) == 2
    assert f"The Dask cluster at {address} does not answer" in capsys.readouterr().err
    assert records(course) == {}


def test_without_certificates_it_is_said_which_settings_name_them(address, course, capsys):
    assert grade_on(address, course) == 2
    said = capsys.readouterr().err
    assert f"{address} asks for certificates, and there are none" in said
    assert "distributed.comm.tls.ca-file" in said


def test_certificates_that_cannot_be_read_are_named(ours, course, capsys, tmp_path):
    with dask.config.set({**ours.settings, "distributed.comm.tls.client.key": str(tmp_path / "no.key")}):
        assert grade_on("tls://127.0.0.1:9", course) == 2
    assert "The certificates for tls://127.0.0.1:9 cannot be used" in capsys.readouterr().err


class Mark:
    """What leaves a file behind where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def greeted_with_a_pickle(address, path):
    """Say to a Dask port, without any certificate, what one of its own kind would unpickle."""
    import msgpack

    header = {"pickled-obj": pickle.dumps(Mark(path)), "num-sub-frames": 0}
    parts = [msgpack.dumps({"__Pickled__": 1}), msgpack.dumps(header)]
    lengths = [len(parts), *map(len, parts)]
    message = struct.pack(f"<{len(lengths)}Q", *lengths) + b"".join(parts)
    host, port = address.rpartition("://")[2].split(":")
    with socket.create_connection((host, int(port)), timeout=5.0) as connection:
        connection.settimeout(5.0)
        connection.sendall(struct.pack("<Q", len(message)) + message)
        try:
            while connection.recv(1 << 16):
                pass
        except OSError:
            pass


def test_a_strangers_pickle_is_opened_without_certificates_and_not_with_them(address, tmp_path):
    """The first half is the reason for all this: if Dask mends it, more than TLS may protect."""
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0") as open_to_all:
        greeted_with_a_pickle(open_to_all.scheduler_address, tmp_path / "open")
    greeted_with_a_pickle(address, tmp_path / "closed")
    assert (tmp_path / "open").exists()
    assert not (tmp_path / "closed").exists()


def test_a_cluster_elsewhere_without_encryption_is_refused_before_a_word_is_said(course, capsys, monkeypatch):
    monkeypatch.setattr(driver, "Client", lambda *arguments, **options: pytest.fail("it was asked"))
    assert grade_on(f"tcp://{ELSEWHERE}", course) == 2
    said = capsys.readouterr().err
    assert "is not encrypted" in said
    assert "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=False" in said
    assert records(course) == {}


def test_whoever_knows_the_network_may_say_so(course, monkeypatch):
    asked = []
    monkeypatch.setattr(driver, "Client", lambda address, **options: asked.append(address))
    with dask.config.set({privacy.MAY_BE_OPEN: False}):
        driver.connected(f"tcp://{ELSEWHERE}")
    assert asked == [f"tcp://{ELSEWHERE}"]


@pytest.mark.parametrize(
    "of_this_machine", ["tcp://127.0.0.1:8786", "tcp://[::1]:8786", "localhost:8786", "inproc://1/2"]
)
def test_what_does_not_leave_the_machine_needs_no_certificate(of_this_machine):
    driver.require_private([of_this_machine])


@pytest.mark.parametrize("reachable", REACHABLE)
def test_a_worker_that_others_reach_needs_one_too(reachable):
    """As where the scheduler is here and listens to everybody."""
    with pytest.raises(driver.ClusterUnavailable, match="is not encrypted"):
        driver.require_private(["tcp://127.0.0.1:1", reachable])
