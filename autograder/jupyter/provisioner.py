"""Starts the kernel `autograder` for Jupyter's tools: a server per client process, a fork per kernel."""

from __future__ import annotations

import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
from typing import Any, cast

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import LocalProvisioner

MOST_OF_AN_ANSWER = 1 << 16


class NoServer(RuntimeError):
    """The process that forks kernels has ended; its error output says why."""


class Server:
    """The process that has everything imported and forks a kernel on request; it ends with this one."""

    def __init__(self) -> None:
        self.requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", "autograder.jupyter.kernel", "--serve", str(theirs.fileno())]
            self.process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # error messages are still shown
            )
        self.isolation = self._answer()["isolation"]

    def fork(self, connection_file: str) -> ForkedKernel:
        """Start a kernel."""
        self.requests.send(json.dumps({"connection_file": connection_file}).encode())
        return ForkedKernel(self._answer()["process"])

    def _answer(self) -> dict:
        if answer := self.requests.recv(MOST_OF_AN_ANSWER):
            return json.loads(answer)
        self.process.wait()
        raise NoServer(
            "the sandboxed kernel cannot be started here; `autograder doctor` says what is missing"
        )


@functools.cache
def server() -> Server:
    """The server of this process, started with the first kernel."""
    return Server()


class ForkedKernel:
    """A kernel's process, not a child of this one, with the methods of subprocess.Popen that are used."""

    stdin = stdout = stderr = None

    def __init__(self, process: int) -> None:
        self.pid = process
        self._handle: int | None = os.pidfd_open(process)  # None once it has ended

    def poll(self) -> int | None:
        """None while it runs; its exit status is unknown."""
        return 0 if self._has_ended(0) else None

    def wait(self, timeout: float | None = None) -> int:
        """Return when it has ended."""
        if not self._has_ended(timeout) and timeout is not None:  # without a timeout it has ended
            raise subprocess.TimeoutExpired("autograder.jupyter.kernel", timeout)
        return 0

    def _has_ended(self, timeout: float | None) -> bool:
        if self._handle is not None and select.select([self._handle], [], [], timeout)[0]:
            os.close(self._handle)
            self._handle = None
        return self._handle is None

    def send_signal(self, number: int) -> None:
        """Signal it, unless it has ended."""
        if self._handle is not None and not self._has_ended(0):
            signal.pidfd_send_signal(self._handle, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class SandboxProvisioner(LocalProvisioner):
    """The entry point `autograder` of `jupyter_client.kernel_provisioners`."""

    async def launch_kernel(self, cmd: list[str], **_: Any) -> KernelConnectionInfo:
        """Fork a kernel for the connection file, the last word of the command."""
        kernel = server().fork(cmd[-1])
        self.process = cast("subprocess.Popen[bytes]", kernel)  # with the methods that a provisioner uses
        self.pid, self.pgid, self.ip = kernel.pid, None, None
        return self.connection_info
