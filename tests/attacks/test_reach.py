"""What one user's processes can do to that user's other files and processes, whoever the user is.

Each attack is tried at both levels, where root starts the grader and where an ordinary user does, and with a
Landlock of version 1 (Linux 5.13) beside the newest; at night also with versions 3 (6.2) and 5 (6.10). These
know less.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from starts import EACH_AND_WEAKEST, shared

from autograder.isolation.tree import children_of


@pytest.fixture(scope="module", params=EACH_AND_WEAKEST)
def start(request):
    return request.param


@pytest.fixture(scope="module")
def warm(start):
    return shared(start)


@pytest.fixture
def student(warm):
    with warm.student() as student:
        yield student


@pytest.fixture
def desk(start):
    """A teacher's folder that the modes of its files leave open: only the sandbox keeps students away."""
    desk = Path(tempfile.mkdtemp(prefix="desk-"))
    (desk / "gradebook.db").write_text("marks")
    (desk / "submitted").mkdir()
    for place in (desk, *desk.rglob("*")):
        os.chown(place, start.owner, start.owner) if os.geteuid() == 0 else None
        place.chmod(0o755 if place.is_dir() else 0o644)
        os.utime(place, (1_000_000_000, 1_000_000_000))
    yield desk
    shutil.rmtree(desk)


@pytest.fixture
def neighbour(start):
    """A process of the user who starts the grader."""
    user = {"user": start.owner, "group": start.owner} if os.geteuid() == 0 else {}
    process = subprocess.Popen([shutil.which("sleep"), "600"], **user)
    yield process
    process.kill()
    process.wait()


PREAMBLE = """
import ctypes, errno, fcntl, os, platform, resource, signal, socket, struct, threading
libc = ctypes.CDLL(None, use_errno=True)
arm = platform.machine() == "aarch64"

def call(x86, aarch64, *arguments):
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    return libc.syscall(ctypes.c_long(aarch64 if arm else x86), *words)

def quietly(action, *arguments, **more):
    try: return action(*arguments, **more)
    except (OSError, ValueError, AttributeError): return None
"""


def facts(path):
    """Everything about a file that a submission might change."""
    status = path.stat()
    names = sorted(path.iterdir()) if path.is_dir() else path.read_text()
    attributes = {name: os.getxattr(path, name) for name in os.listxattr(path)}
    return status.st_mode, status.st_uid, status.st_gid, status.st_size, status.st_mtime_ns, names, attributes


CHANGES = {
    "mode": "quietly(os.chmod, path, 0); quietly(os.chmod, path, 0o777)",
    "mode of a descriptor": (
        "file = quietly(os.open, path, os.O_PATH)\n"
        "if file is not None: quietly(os.fchmod, file, 0); quietly(os.chmod, f'/proc/self/fd/{file}', 0)"
    ),
    "mode by the newest call": "call(452, 452, -100, path.encode(), 0, 0)",
    "times": "quietly(os.utime, path, (5, 5)); quietly(os.utime, path)",
    "times by older calls": "call(132, 1000, path.encode(), None); call(235, 1000, path.encode(), None)",
    "attributes": (
        "quietly(os.setxattr, path, 'user.mine', b'1')\n"
        "call(463, 463, -100, path.encode(), 0, b'user.a', None, 0)"
    ),
    "length": "quietly(os.truncate, path, 0)",
    "length while it is opened": (
        "for way in (os.O_RDONLY, 3, os.O_WRONLY, os.O_RDWR): quietly(os.open, path, way | os.O_TRUNC)"
    ),
}


@pytest.mark.parametrize("name", ["gradebook.db", "submitted", "."])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_nothing_about_the_teachers_files_is_changed(student, desk, name, change):
    before = facts(desk / name)
    assert student.run(f"{PREAMBLE}\npath = {str(desk / name)!r}\n{change}").error is None
    assert facts(desk / name) == before


def test_the_folder_in_which_submissions_lie_stays_open_to_them(warm, student, start):
    if start.level == "bwrap":
        pytest.skip("submissions lie in a namespace's own /tmp")
    place = Path(warm.home.name)
    before = place.stat()
    source = (
        "for place in ('..', '../..', '../../..', os.path.dirname(os.environ['HOME'])):\n"
        "    quietly(os.chmod, place, 0)"
    )
    assert student.run(f"{PREAMBLE}\n{source}").error is None
    assert (place.stat().st_mode, place.stat().st_uid) == (before.st_mode, before.st_uid)
    with warm.student() as other:
        assert other.run("print(1)").output == "1\n"


def test_where_root_starts_the_grader_each_submission_is_another_user(warm, start):
    if not start.root:
        pytest.skip("an ordinary user's submissions are that user")
    with warm.student() as first, warm.student() as second:
        for student in (first, second):
            student.run("import time")
        keepers = [pid for pid in children_of(warm.process.pid) if children_of(pid)]  # others have ended
        owners = [
            Path(f"/proc/{pid}").stat().st_uid for keeper in keepers for pid in (keeper, *children_of(keeper))
        ]
    assert len(keepers) == 2
    assert len(set(owners)) == 2
    assert 0 not in owners


@pytest.fixture
def exchange(start):
    """A classmate's notebook in an exchange where nbgrader has it, open to everyone."""
    share = Path("/usr/local/share")
    if not os.access(share, os.W_OK):
        pytest.skip(f"{share} cannot be written by this user")
    root = Path(tempfile.mkdtemp(prefix="nbgrader-", dir=share))
    (root / "exchange/inbound").mkdir(parents=True)
    (root / "exchange/inbound/hw1.ipynb").write_text("the work of Alice")
    for place in (root, *root.rglob("*")):
        place.chmod(0o777)
        os.chown(place, start.owner, start.owner) if os.geteuid() == 0 else None
    yield root / "exchange/inbound"
    shutil.rmtree(root)


def test_what_others_handed_in_through_the_exchange_is_neither_read_nor_listed(student, exchange):
    source = PREAMBLE + (
        f"print(quietly(os.listdir, {str(exchange)!r}), quietly(os.listdir, '/usr/local/share') or None,\n"
        f"      quietly(open, {str(exchange / 'hw1.ipynb')!r}))"
    )
    assert student.run(source).output == "None None None\n"
    assert (exchange / "hw1.ipynb").read_text() == "the work of Alice"


def limits_of(pid):
    return Path(f"/proc/{pid}/limits").read_text()


def scheduling_of(pid):
    """Nice value, real-time priority and policy, and the processors it may use."""
    numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return numbers[15:17], numbers[37:39], os.sched_getaffinity(pid)


OTHERS = """
for pid in {victims}:
    for limit in ("NOFILE", "CPU", "NPROC", "AS", "FSIZE"):
        quietly(resource.prlimit, pid, getattr(resource, "RLIMIT_" + limit), (0, 0))
    quietly(os.setpriority, os.PRIO_PROCESS, pid, 19)
    quietly(os.setpriority, os.PRIO_PGRP, pid, 19)
    quietly(os.setpriority, os.PRIO_USER, os.getuid(), 19)
    quietly(os.sched_setscheduler, pid, os.SCHED_IDLE, os.sched_param(0))
    quietly(os.sched_setaffinity, pid, {{0}})
    call(314, 274, pid, struct.pack("IIQiIQQQ", 48, 5, 0, 0, 0, 0, 0, 0), 0)
    call(251, 30, 1, pid, 3 << 13)
"""


def test_limits_and_scheduling_of_other_processes_are_out_of_reach(warm, student, neighbour):
    student.run("import time")
    family = [warm.process.pid, *children_of(warm.process.pid)]
    victims = [neighbour.pid, os.getpid(), *family]
    before = [(limits_of(pid), scheduling_of(pid)) for pid in victims]
    source = PREAMBLE + OTHERS.format(victims=[*victims, 1, 2])
    assert student.run(source).error is None
    assert [(limits_of(pid), scheduling_of(pid)) for pid in victims] == before
    with warm.student() as other:
        assert other.run("print(1)").output == "1\n"


SIGNALS = """
numbers = (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP)
for pid in {victims}:
    for number in numbers:
        quietly(os.kill, pid, number)
        quietly(os.killpg, pid, number)
        call(200, 130, pid, number)
        call(234, 131, pid, pid, number)
        call(129, 138, pid, number, bytes(128))
        call(297, 240, pid, pid, number, bytes(128))
        quietly(lambda: signal.pidfd_send_signal(os.pidfd_open(pid), number))
        here, there = socket.socketpair()
        for set_owner in (
            lambda: fcntl.fcntl(here, fcntl.F_SETOWN, pid),
            lambda: fcntl.fcntl(here, 15, struct.pack("ii", 1, pid)),
            lambda: fcntl.ioctl(here, 0x8901, struct.pack("i", pid)),
        ):
            quietly(set_owner)
            quietly(fcntl.fcntl, here, 10, number)
            quietly(fcntl.fcntl, here, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
            quietly(there.send, b"x")
"""


def test_no_way_to_signal_reaches_another_process(warm, student, neighbour):
    with warm.student() as other:
        other.run("x = 1")
        keepers = children_of(warm.process.pid)
        victims = [neighbour.pid, warm.process.pid, *keepers]
        result = student.run(PREAMBLE + SIGNALS.format(victims=victims))
        assert result.error is None
        time.sleep(0.2)
        assert neighbour.poll() is None
        assert warm.process.poll() is None
        assert {status_letter(pid) for pid in victims} <= {"S", "R", "D"}
        assert other.run("print(x)").output == "1\n"


def status_letter(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_the_names_of_files_are_not_told_by_a_watch(student, desk):
    source = PREAMBLE + (
        "watch = call(294, 26, 0); other = call(253, 1000) if not arm else -1\n"
        f"places = ({str(desk)!r}, '/tmp', '..', '.')\n"
        "added = [call(254, 27, watch, place.encode(), 0xFFF) for place in places]\n"
        "print(watch, other, set(added), call(300, 262, 0, 0))"
    )
    assert student.run(source).output == "-1 -1 {-1} -1\n"


CONNECTIONS = """
places = ["/proc/self/net", "/proc/net", "/proc/thread-self/net", f"/proc/{os.getpid()}/net"]
places += [f"/proc/self/task/{task}/net" for task in os.listdir("/proc/self/task")]
for place in places:
    for name in ("tcp", "tcp6", "udp", "unix", "raw", "netlink", "route", "arp", "dev"):
        file = quietly(open, f"{place}/{name}")
        if file is not None: print(file.read())
"""


def test_the_connections_of_this_machine_are_not_listed(student):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as named:
        named.bind("\0a-name-that-the-whole-machine-sees")
        port = f":{server.getsockname()[1]:04X} "
        assert port in Path("/proc/net/tcp").read_text()
        assert "a-name-that-the-whole-machine-sees" in Path("/proc/net/unix").read_text()
        result = student.run(PREAMBLE + CONNECTIONS)
    assert result.error is None
    assert port not in result.output
    assert "a-name" not in result.output


def test_signals_and_limits_of_ones_own_still_work(student):
    source = PREAMBLE + (
        "signal.signal(signal.SIGUSR1, lambda *_: print('heard'))\n"
        "os.kill(os.getpid(), signal.SIGUSR1)\n"
        "signal.raise_signal(signal.SIGUSR1)\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); os.nice(1)\n"
        "os.sched_setaffinity(0, os.sched_getaffinity(0))\n"
    )
    result = student.run(source)
    assert result.error is None
    assert result.output == "heard\nheard\n"


LEGITIMATE = {
    "copies": (
        "import pathlib, shutil\n"
        "pathlib.Path('a').write_text('x')\n"
        "for copy in (shutil.copy, shutil.copy2, shutil.copyfile): copy('a', 'b')\n"
        "pathlib.Path('t/u').mkdir(parents=True)\n"
        "shutil.copytree('t', 's'); shutil.move('s', 'r'); shutil.rmtree('t')"
    ),
    "touches": (
        "import pathlib\nfor _ in range(2): pathlib.Path('new').touch()\npathlib.Path('new').unlink()"
    ),
    "archives": (
        "import tarfile, zipfile\n"
        "open('a', 'w').write('x')\n"
        "with zipfile.ZipFile('a.zip', 'w') as z: z.write('a')\n"
        "zipfile.ZipFile('a.zip').extractall('z')\n"
        "with tarfile.open('a.tar', 'w') as t: t.add('a')\n"
        "tarfile.open('a.tar').extractall('t')"
    ),
    "temporary files": (
        "import tempfile\n"
        "with tempfile.TemporaryDirectory(), tempfile.NamedTemporaryFile() as named:\n"
        "    named.write(b'x')\n"
        "    tempfile.TemporaryFile().write(b'x')"
    ),
    "programs": (
        "import subprocess, sys\n"
        "assert subprocess.run([sys.executable, '-c', 'print(1)'], capture_output=True).stdout == b'1\\n'\n"
        "assert subprocess.run('echo > a; cp a b; mv b c; ls | wc -l; rm c', shell=True).returncode == 0"
    ),
    "training on threads": (
        "import torch\n"
        "torch.set_num_threads(2)\n"
        "model = torch.nn.Linear(300, 300); optimizer = torch.optim.AdamW(model.parameters())\n"
        "model(torch.ones(300, 300)).sum().backward(); optimizer.step()\n"
        "torch.save(model.state_dict(), 'm.pt')\n"
        "model.load_state_dict(torch.load('m.pt', mmap=True))"
    ),
    "plots": (
        "import matplotlib.pyplot as plt\n"
        "plt.plot([1, 2]); plt.savefig('p.png'); plt.savefig('p.pdf'); plt.close()"
    ),
    "arrays in files": (
        "import numpy as np\n"
        "np.save('a.npy', np.ones((99, 99))); array = np.load('a.npy', mmap_mode='r'); array @ array"
    ),
    "a database": "import sqlite3\nsqlite3.connect('d.db').execute('create table t (x)')",
    "tasks": (
        "import asyncio, concurrent.futures as futures\n"
        "await asyncio.sleep(0.01)\n"
        "assert list(futures.ThreadPoolExecutor(2).map(abs, [-1])) == [1]"
    ),
}


@pytest.mark.parametrize("work", LEGITIMATE.values(), ids=LEGITIMATE.keys())
def test_honest_work_goes_on(student, work):
    result = student.run(work)
    assert result.error is None, result.error
