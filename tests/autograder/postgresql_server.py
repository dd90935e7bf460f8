"""A PostgreSQL server for tests and benchmarks, in a folder of its own, that can be killed and come back."""

import os
import pwd
import secrets
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tried import compare

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
USERS = ("postgres", "nobody")  # PostgreSQL refuses to run as root
SECONDS_TO_START = 60.0


@dataclass
class Server:
    """A PostgreSQL server of one's own, with one user and a password that nobody has seen."""

    folder: Path
    port: int
    password: str
    settings: dict = field(default_factory=dict)
    process: subprocess.Popen | None = None

    @property
    def url(self):
        return f"postgresql://marker:{self.password}@127.0.0.1:{self.port}/postgres"

    def start(self):
        import psycopg  # here: without it the tests are skipped, which import this module first

        options = {"unix_socket_directories": "", "shared_buffers": "16MB"} | self.settings
        settings = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        listen = ["-h", "127.0.0.1", "-p", f"{self.port}"]
        self.process = unprivileged("postgres", "-D", f"{self.folder}/data", *listen, *settings)
        deadline = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < deadline and self.process.poll() is None:
            with suppress(psycopg.OperationalError):  # not there yet, or not ready
                return psycopg.connect(self.url).close()
            time.sleep(0.05)
        raise AssertionError("the server did not start")

    def new_database(self):
        """The URL of a database that nobody has used."""
        import psycopg

        name = f"new_{secrets.token_hex(4)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"{self.url.removesuffix('postgres')}{name}"

    def stop(self):
        """At once, as when its machine fails; a process forked off this one may do it too."""
        os.kill(self.process.pid, signal.SIGKILL)


def unprivileged(program, *arguments):
    """Start one of PostgreSQL's programs, as somebody who is not root."""
    who = {}
    if os.geteuid() == 0:
        entry = user_to_be()
        who = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([BINARIES[-1] / program, *arguments], cwd="/", **who, **quiet)


def user_to_be():
    """The first of USERS that there is."""
    there = {entry.pw_name: entry for entry in pwd.getpwall()}
    return next(there[name] for name in USERS if name in there)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def a_server(**settings):
    """A server that has started; settings: of PostgreSQL, such as fsync="off"."""
    compare("PostgreSQL", BINARIES[-1] / "postgres")
    with tempfile.TemporaryDirectory(prefix="postgresql-", dir="/tmp") as place:  # a short, open path
        server = Server(Path(place), free_port(), secrets.token_hex(16), settings)
        (server.folder / "password").write_text(server.password)
        if os.geteuid() == 0:
            for path in (server.folder, server.folder / "password"):
                os.chown(path, user_to_be().pw_uid, user_to_be().pw_gid)
        access = ["--auth=scram-sha-256", f"--pwfile={place}/password", "--username=marker"]
        made = unprivileged("initdb", "-D", f"{place}/data", "--locale=C", "--no-sync", *access)
        assert made.wait(SECONDS_TO_START) == 0
        server.start()
        try:
            yield server
        finally:
            server.stop()
            server.process.wait(SECONDS_TO_START)
