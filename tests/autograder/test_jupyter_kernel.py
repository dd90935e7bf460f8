"""The sandboxed Jupyter kernel, as tools that know nothing of it use it."""

import importlib.metadata
import json
import os
import socket
import sys
import time
import tomllib
from pathlib import Path

import nbformat
import pytest
from jupyter_client.provisioning import KernelProvisionerFactory
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

from autograder.isolation import IsolationUnavailable, choose
from autograder.jupyter import provisioner
from autograder.jupyter.provisioner import ForkedKernel, SandboxProvisioner

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory):
    """The kernelspec and the entry point as an installation has them."""
    try:
        choose()
    except IsolationUnavailable as problem:
        pytest.skip(str(problem))
    place = tmp_path_factory.mktemp("installed")
    files = PROJECT["tool"]["setuptools"]["data-files"]
    [(folder, [spec])] = [(folder, specs) for folder, specs in files.items() if "kernels" in folder]
    target = place / folder / Path(spec).name
    target.parent.mkdir(parents=True)
    target.write_text((ROOT / spec).read_text())
    points = PROJECT["project"]["entry-points"]["jupyter_client.kernel_provisioners"]
    lines = [f"{name} = {value}" for name, value in points.items()]
    (place / "kernel-0.dist-info").mkdir()
    (place / "kernel-0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: kernel\nVersion: 0\n"
    )
    text = "[jupyter_client.kernel_provisioners]\n" + "\n".join(lines) + "\n"
    (place / "kernel-0.dist-info" / "entry_points.txt").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(place / "share" / "jupyter"))
        patch.syspath_prepend(str(place))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(place), str(ROOT)]))
        KernelProvisionerFactory.clear_instance()
        yield
    KernelProvisionerFactory.clear_instance()
    if provisioner.server.cache_info().currsize:
        server = provisioner.server()
        server.requests.close()
        server.process.wait(30)
        provisioner.server.cache_clear()


def executed(*cells, **options):
    """A notebook of these cells, after nbclient has run it with the kernel."""
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
    NotebookClient(notebook, kernel_name="autograder", timeout=60, **options).execute()
    return notebook


def printed(cell):
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def test_the_entry_point_is_the_provisioner():
    points = importlib.metadata.entry_points(group="jupyter_client.kernel_provisioners")
    assert points["autograder"].load() is SandboxProvisioner


def test_a_notebook_runs_cell_by_cell_and_displays_what_it_made():
    notebook = executed(
        "x = 6",
        "print(x * 7)",
        "%matplotlib inline\nimport matplotlib.pyplot as plt",
        "plt.plot([1, 2]);",
        "x",
    )
    assert printed(notebook.cells[1]) == "42\n"
    assert "image/png" in notebook.cells[3].outputs[0].data
    assert notebook.cells[4].outputs[0].data["text/plain"] == "6"
    nbformat.validate(notebook)


def test_cells_have_no_network_and_see_no_files_of_ours():
    attempt = "import os, socket\ntry: print({})\nexcept OSError: print('kept out')"
    with socket.create_server(("127.0.0.1", 0)) as server:
        notebook = executed(
            attempt.format(f"socket.create_connection({server.getsockname()!r})"),
            attempt.format(f"os.listdir({str(ROOT / 'solutions')!r})"),
        )
    assert [printed(cell) for cell in notebook.cells] == ["kept out\n", "kept out\n"]


def test_an_error_is_an_error_of_its_cell():
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        executed("1 / 0")
    notebook = executed("1 / 0", "print('next')", allow_errors=True)
    assert notebook.cells[0].outputs[0].ename == "ZeroDivisionError"
    assert printed(notebook.cells[1]) == "next\n"


def test_a_cell_that_ends_the_process_costs_itself_only():
    notebook = executed("x = 3", "import os\nos._exit(0)", "print(x)", allow_errors=True)
    assert "exited with status 0" in notebook.cells[1].outputs[0].evalue
    assert printed(notebook.cells[2]) == "3\n"


def test_notebooks_have_nothing_in_common_and_their_kernels_end():
    executed("x = 1")
    notebook = executed("print('x' in globals())")
    assert printed(notebook.cells[0]) == "False\n"
    children = Path(
        f"/proc/{provisioner.server().process.pid}/task/{provisioner.server().process.pid}/children"
    )
    deadline = time.monotonic() + 10
    while len(children.read_text().split()) > 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(children.read_text().split()) == 1  # the warm process


def test_a_kernel_that_has_ended_leaves_no_descriptor_open():
    process = os.fork()
    if process == 0:
        os._exit(0)
    before = len(os.listdir("/proc/self/fd"))
    kernel = ForkedKernel(process)
    assert kernel.wait(30) == kernel.poll() == kernel.wait(30) == 0
    kernel.kill()
    assert len(os.listdir("/proc/self/fd")) == before
    os.waitpid(process, 0)


def test_a_machine_without_a_sandbox_starts_no_kernel(monkeypatch, capfd):
    broken = "import autograder.isolation as i\ndef choose(): raise i.IsolationUnavailable('none here')\n"
    run = f"{broken}i.choose = choose\nfrom autograder.jupyter.kernel import main\nmain()"
    popen = provisioner.subprocess.Popen
    monkeypatch.setattr(
        provisioner.subprocess,
        "Popen",
        lambda command, **options: popen([sys.executable, "-c", run, *command[3:]], **options),
    )
    with pytest.raises(provisioner.NoServer, match="autograder doctor"):
        provisioner.Server()
    assert "none here" in capfd.readouterr().err


def test_the_kernelspec_asks_for_the_provisioner():
    spec = json.loads((ROOT / "autograder" / "jupyter" / "kernelspec" / "kernel.json").read_text())
    assert spec["metadata"]["kernel_provisioner"]["provisioner_name"] == "autograder"


def test_a_cell_that_hangs_can_be_interrupted_and_the_next_one_runs():
    notebook = new_notebook(cells=[new_code_cell(source) for source in ("while True: pass", "print('next')")])
    client = NotebookClient(
        notebook, kernel_name="autograder", timeout=3, interrupt_on_timeout=True, allow_errors=True
    )
    client.execute()
    assert notebook.cells[0].outputs[0].ename == "KeyboardInterrupt"
    assert printed(notebook.cells[1]) == "next\n"
