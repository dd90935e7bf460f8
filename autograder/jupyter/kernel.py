"""A Jupyter kernel whose cells run in the sandbox; this process speaks Jupyter's protocol and runs none.

    client ── provisioner ──▶ server      has everything imported, and the warm process of the sandbox
      └───── ZeroMQ ────────▶   └─ fork ─▶ kernel ── wire ──▶ student's process, confined

Without its provisioner, `python -m autograder.jupyter.kernel FILE` is the same kernel, but starts slowly.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import traceback
from typing import Any, NoReturn

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

from autograder.grading.standin import Cell, Sitting
from autograder.isolation import IsolationUnavailable, Warm, choose
from autograder.isolation.confinement import die_first, die_with_parent

MOST_OF_A_REQUEST = 1 << 16
PYTHON: dict[str, Any] = {  # as Jupyter's tools describe it
    "name": "python",
    "version": sys.version.split()[0],
    "mimetype": "text/x-python",
    "file_extension": ".py",
    "codemirror_mode": {"name": "ipython", "version": 3},
    "pygments_lexer": "ipython3",
    "nbconvert_exporter": "python",
}


class SandboxKernel(Kernel):
    """Runs every cell in a student's process; if it ends, a new one runs the earlier cells again."""

    implementation = "autograder"
    implementation_version = "1"
    banner = "Python in the grader's sandbox: no network, none of your files, limited time and memory."
    language_info = PYTHON
    sitting: Sitting  # set before the first cell

    def do_execute(  # type: ignore[override]  # ipykernel also accepts a function that is not async
        self,
        code: str,
        silent: bool,
        store_history: bool = True,
        user_expressions: dict | None = None,
        allow_stdin: bool = False,
        **_: Any,
    ) -> dict:
        """Run one cell and publish what it printed, displayed and raised."""
        try:
            result = self.sitting.run(Cell(code, f"cell {self.execution_count}"))
        except KeyboardInterrupt:
            self.sitting.close()
            return self._failed("KeyboardInterrupt", "the cell was interrupted", silent)
        if not silent:
            if result.output:
                self._publish("stream", {"name": "stdout", "text": result.output})
            for display in result.displays:
                self._publish("display_data", {"data": display, "metadata": {}})
        if result.error is not None:
            return self._failed(result.error.class_name, result.error.sentence(), silent)
        count = {"execution_count": self.execution_count}
        return {"status": "ok", "payload": [], "user_expressions": {}, **count}

    def _failed(self, name: str, sentence: str, silent: bool) -> dict:
        error = {"ename": name, "evalue": sentence, "traceback": [sentence]}
        if not silent:
            self._publish("error", error)
        return {"status": "error", "execution_count": self.execution_count, **error}

    def _publish(self, kind: str, content: dict) -> None:
        self.send_response(self.iopub_socket, kind, content)

    def do_shutdown(self, restart: bool) -> dict:  # type: ignore[override]  # as `do_execute`
        """End the student's process."""
        self.sitting.close()
        return {"status": "ok", "restart": restart}


def run_kernel(connection_file: str, warm: Warm) -> None:
    """Run the kernel that a connection file describes, until it is shut down."""
    app = IPKernelApp.instance(kernel_class=SandboxKernel, connection_file=connection_file)
    app.initialize(argv=[])
    app.kernel.sitting = Sitting(warm.student, warm.limits)
    app.start()


def serve(requests: socket.socket) -> None:
    """Fork a kernel for each request, `{"connection_file": …}`, and answer with its process number."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the client
    with Warm(choose) as warm:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the exit status of kernels is not needed here
        requests.send(json.dumps({"isolation": warm.level.name}).encode())
        while request := requests.recv(MOST_OF_A_REQUEST):
            process = os.fork()
            if process == 0:
                _become_kernel(requests, json.loads(request)["connection_file"], warm)
            requests.send(json.dumps({"process": process}).encode())


def _become_kernel(requests: socket.socket, connection_file: str, warm: Warm) -> NoReturn:
    status = 1
    try:
        requests.close()
        die_with_parent()
        die_first()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        run_kernel(connection_file, warm)
        status = 0
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(status)


def main() -> None:
    """`FILE`: run one kernel; `--serve DESCRIPTOR`: fork kernels for the process at the other end."""
    if sys.argv[1] == "--serve":
        with socket.socket(fileno=int(sys.argv[2])) as requests:
            serve(requests)
    else:
        with Warm(choose) as warm:
            run_kernel(sys.argv[1], warm)


if __name__ == "__main__":
    try:
        main()
    except IsolationUnavailable as problem:
        sys.exit(f"autograder.jupyter.kernel: {problem}")
