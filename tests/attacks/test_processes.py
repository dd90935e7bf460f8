"""Processes that multiply, stay behind, or turn on others."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from textwrap import indent

import pytest
from leftovers import at_home_in, left_over, none_with, processes_with, unique_seconds, wait_until
from warm_levels import SMALL, warm_or_skip

from autograder.isolation import Died, IsolationUnavailable, Warm, choose
from autograder.isolation.tree import children_of

DAEMONS = """
import os, time
for _ in range({count}):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", "{seconds}"])
        os._exit(0)
print("started")
"""


def test_daemons_end_with_the_submission(warm_at_any_level):
    seconds = unique_seconds()
    with warm_at_any_level.student() as student:
        assert student.run(DAEMONS.format(count=5, seconds=seconds)).output == "started\n"
        assert wait_until(lambda: len(processes_with(seconds)) == 5)
    assert processes_with(seconds) == []


def test_daemons_end_when_the_process_that_left_them_does(warm_at_any_level):
    seconds = unique_seconds()
    with warm_at_any_level.student() as student:
        with pytest.raises(Died, match="exited with status 0"):
            student.run(DAEMONS.format(count=3, seconds=seconds) + "os._exit(0)")
        assert processes_with(seconds) == []


def test_nothing_outlives_a_judge_that_is_killed(warm_at_any_level):
    """Judges are forks of the grader: here one starts a submission and is killed while it runs."""
    seconds = unique_seconds()
    judge = os.fork()
    if judge == 0:
        student = warm_at_any_level.student()
        student.run(DAEMONS.format(count=2, seconds=seconds))
        student.run("while True: pass", seconds=60)
        os._exit(0)
    assert wait_until(lambda: len(processes_with(seconds)) == 2)
    os.kill(judge, signal.SIGKILL)
    os.waitpid(judge, 0)
    assert wait_until(lambda: not processes_with(seconds))


def test_nothing_outlives_the_warm_process():
    with Warm(choose(), imports=()) as warm:
        student = warm.student()
        assert student.run("print(1)").output == "1\n"
    assert wait_until(lambda: has_died(student))
    with pytest.raises(IsolationUnavailable):
        warm.student()


def has_died(student):
    with contextlib.suppress(Died):
        student.run("pass")
    return student.death is not None


GRADER = """
from autograder.isolation import Warm, choose
warm = Warm(choose({!r}), imports=()).__enter__()
student = warm.student()
print(warm.process.pid, warm.home.name, flush=True)
student.run({!r})
student.run("while True: pass", seconds=60)
"""


def test_nothing_outlives_a_grader_that_is_killed():
    """The warm process and its directory included."""
    seconds = unique_seconds()
    source = GRADER.format("best", DAEMONS.format(count=2, seconds=seconds))
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True) as grader:
        zygote, home = grader.stdout.readline().split()
        assert wait_until(lambda: len(processes_with(seconds)) == 2)
        grader.kill()
    assert wait_until(lambda: not processes_with(seconds))
    assert wait_until(lambda: not cmdline(zygote))
    assert wait_until(lambda: not os.path.exists(home))


CHAIN = """
import os, time
end = time.monotonic() + 60
if os.fork() == 0:
    while time.monotonic() < end:
        {}
        if os.fork(): os._exit(0)
print("started")
"""
CHAINS = {
    "in one group": CHAIN.format("pass"),
    "in a group each": CHAIN.format("os.setpgid(0, 0)"),
    "in a session each": CHAIN.format("os.setsid()"),
}


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS.keys())
def test_a_chain_of_processes_that_start_the_next_and_end_is_cut(warm, chain):
    """Whoever lists processes and signals them one by one comes too late for each of these."""
    with warm.student() as student:
        assert student.run(chain).output == "started\n"
    assert wait_until(lambda: not left_over(warm), seconds=15)


@pytest.mark.parametrize("level", ["bwrap", "landlock"])
def test_nothing_outlives_a_grader_that_is_killed_beside_chains_and_bombs(level):
    warm_or_skip(level)
    bombing = "\n".join([CHAINS["in one group"], "if os.fork() == 0:", indent(BOMBS["forks"], "    ")])
    with subprocess.Popen(
        [sys.executable, "-c", GRADER.format(level, bombing)], stdout=subprocess.PIPE, text=True
    ) as grader:
        zygote, home = grader.stdout.readline().split()
        assert wait_until(lambda: len(at_home_in(home)) > 1)
        time.sleep(1.0)  # they multiply
        grader.kill()
    assert wait_until(lambda: not at_home_in(home), seconds=15)
    assert wait_until(lambda: not cmdline(zygote))


PROGRAMS = """
import contextlib, subprocess, sys
for _ in range({count}):
    with contextlib.suppress(OSError):  # no more processes are allowed
        subprocess.Popen({command}, stderr=subprocess.DEVNULL)
print("started")
"""
IN_PYTHON = """
import os, sys, time
while True:
    try:
        if os.fork(): os._exit(0)
        os.execv(sys.executable, [sys.executable, "-ISc", *sys.argv[1:2], *sys.argv[1:]])
    except OSError: time.sleep(0.01)
"""
IN_THE_SHELL = 'sleep 0.01; sh -c "$1" sh "$1" "$2" &'


def programs(count, kind, mark):
    """Starts so many programs, each of which starts itself anew and ends; the mark is an argument of all."""
    in_python = ["-ISc", IN_PYTHON, IN_PYTHON, mark]
    command = {"shell": ["sh", "-c", IN_THE_SHELL, "sh", IN_THE_SHELL, mark], "python": in_python}[kind]
    text = repr(command) if kind == "shell" else f"[sys.executable, *{command!r}]"
    return PROGRAMS.format(count=count, command=text)


@pytest.mark.parametrize("kind", ["shell", "python"])
@pytest.mark.parametrize(
    "count", [pytest.param(1, marks=pytest.mark.nightly), 4, pytest.param(20, marks=pytest.mark.nightly), 40]
)
def test_a_chain_of_small_programs_is_cut(warm, kind, count):
    """A few live on until the submission ends; many end it. A shell gives up if it cannot fork.

    One program at a time lives too shortly to be seen for certain.
    """
    mark = unique_seconds()
    many = replace(SMALL, processes=64)
    with warm.student(limits=many) as student, contextlib.suppress(Died if count > 4 else ()):
        assert student.run(programs(count, kind, mark)).output == "started\n"
        time.sleep(1.0)  # some hundred generations
        assert student.run("print('alive')").output == "alive\n"
        assert kind == "shell" or count == 1 or wait_until(lambda: processes_with(mark))
    assert none_with(mark)
    assert wait_until(lambda: not left_over(warm), seconds=15)


def test_nothing_outlives_a_supervisor_that_is_killed(warm):
    """The kernel does so first when memory runs out; a chain is then cut by the warm process."""
    mark = unique_seconds()
    with warm.student() as student, contextlib.suppress(Died):
        assert student.run(programs(2, "python", mark)).output == "started\n"
        assert wait_until(lambda: processes_with(mark))
        for keeper in children_of(warm.process.pid):
            os.kill(keeper, signal.SIGKILL)
        student.run("pass")
    assert wait_until(lambda: none_with(mark), seconds=15)


@pytest.mark.parametrize("level", ["bwrap", "landlock"])
def test_nothing_outlives_a_warm_process_that_ends_after_a_supervisor_was_killed(level):
    """Processes that start one another would then be nobody's."""
    mark = unique_seconds()
    warm_or_skip(level)
    with Warm(choose(level), SMALL) as warm, warm.student() as student:
        assert student.run(programs(2, "python", mark)).output == "started\n"
        assert wait_until(lambda: processes_with(mark))
        for keeper in children_of(warm.process.pid):
            os.kill(keeper, signal.SIGKILL)
        warm.close()
    assert none_with(mark)


def cmdline(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


BOMBS = {
    "forks": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "forks that leave": (
        "import os\nwhile True:\n    try:\n        if os.fork(): os.setsid()\n    except OSError: pass"
    ),
    "programs": ("import subprocess\nkept = []\nwhile True: kept.append(subprocess.Popen(['sleep', '99']))"),
    "threads": (
        "import threading, time\nwhile True:\n"
        "    try: threading.Thread(target=time.sleep, args=(99,)).start()\n    except RuntimeError: pass"
    ),
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_ends_with_a_sentence_and_leaves_nothing(warm, bomb):
    with warm.student() as student:
        try:
            error = student.run(bomb, seconds=4).error
            assert error.class_name in ("BlockingIOError", "RuntimeError", "MemoryError")
        except Died as died:
            assert died.sentence in (  # noqa: PT017
                "started more than 24 processes and threads",
                "did not finish within 4 s",
                "used more than 600 MB of memory",
            )
    assert wait_until(lambda: not left_over(warm))


def until_it_dies(student, source):
    with contextlib.suppress(Died):
        student.run(source, seconds=4)


def test_a_bomb_in_one_submission_does_not_stop_another(warm):
    with warm.student() as bomber, warm.student() as honest:
        honest.run("def double(x): return 2 * x")
        bombing = threading.Thread(target=until_it_dies, args=(bomber, BOMBS["forks"]))
        bombing.start()
        while bombing.is_alive():
            assert honest.request("double", "", [21]) == 42
        assert honest.run("import subprocess; print(subprocess.call(['true']))").output == "0\n"


BUSY = """
import os, time
for _ in range(58):
    if os.fork() == 0:
        os.setsid()  # a scheduler group of its own
        while True: pass
print("started")
"""
WORK = """
import time
def work():
    begun = time.process_time()
    while time.process_time() < begun + 0.6: pass
    return "done"
"""


def test_an_honest_neighbour_keeps_every_answer_beside_58_busy_processes(warm):
    attackers = replace(SMALL, processes=64, cpu_seconds=4, cell_seconds=600.0)
    honest = replace(SMALL, call_seconds=1.0, submission_seconds=600.0, patience=600.0)
    with warm.student(limits=attackers) as attacker, warm.student(limits=honest) as neighbour:
        neighbour.run(WORK)
        with contextlib.suppress(Died):  # on a busy machine its share is used up before all have started
            assert attacker.run(BUSY).output == "started\n"
        assert neighbour.request("work") == "done"


def test_busy_processes_end_when_they_have_had_their_share(warm):
    with warm.student(limits=replace(SMALL, processes=64, cpu_seconds=2)) as attacker:
        with contextlib.suppress(Died):
            attacker.run(BUSY, seconds=600)
        assert wait_until(lambda: has_died(attacker), seconds=300)
    assert attacker.death.sentence == "used more than 2 s of processor time"


def test_memory_cannot_be_hidden_by_forbidding_others_to_look(student):
    greed = (
        "import ctypes, os, time\n"
        "ctypes.CDLL(None).prctl(4, 0)  # no longer dumpable\n"
        "for _ in range(4):\n"
        "    if os.fork() == 0:\n"
        "        junk = bytearray(b'x') * (400 << 20)\n"
        "        time.sleep(60)\n"
        "time.sleep(60)"
    )
    with pytest.raises(Died, match=r"used more than 600 MB of memory|hid files where they cannot be counted"):
        student.run(greed)


def test_a_name_that_is_no_text_hides_nothing(student):
    """A process may be called anything, and /proc tells its name among the numbers that are watched."""
    source = (
        "import ctypes, time\n"
        "for name in (b'\\xff\\xfe', b') R 1 (', b'a\\nThreads:9999', b'a\\x0cThreads:9999'):\n"
        "    ctypes.CDLL(None).prctl(15, name)\n"
        "    time.sleep(0.6)\n"
        "print('alive')"
    )
    assert student.run(source).output == "alive\n"


def test_memory_cannot_be_hidden_behind_a_name(student):
    """Of a process whose first thread has ended, /proc tells no memory there, but its name as always."""
    greed = (
        "import ctypes, os, threading, time\n"
        "libc = ctypes.CDLL(None)\n"
        "def hold():\n"
        "    junk = bytearray(b'x') * (400 << 20)\n"
        "    time.sleep(60)\n"
        "for _ in range(4):\n"
        "    if os.fork() == 0:\n"
        "        threading.Thread(target=hold).start()\n"
        "        libc.prctl(15, b'\\x0cRssAnon:0')\n"
        "        libc.pthread_exit(None)\n"
        "time.sleep(15)"
    )
    with pytest.raises(Died, match="used more than 600 MB of memory"):
        student.run(greed)


VICTIMS = """
import os, signal
killed = []
for process in {victims}:
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
        try:
            os.kill(process, number)
            killed.append((process, number))
        except OSError:
            pass
print(killed)
"""


def test_the_processes_of_the_grader_cannot_be_signalled(warm, student):
    victims = [os.getpid(), warm.process.pid, os.getppid()]
    assert student.run(VICTIMS.format(victims=victims)).output == "[]\n"
    assert warm.process.poll() is None


def test_the_processes_beside_it_cannot_be_signalled(warm, student):
    keepers = Path(f"/proc/{warm.process.pid}/task/{warm.process.pid}/children").read_text().split()
    student.run(VICTIMS.format(victims=[1, 2, *map(int, keepers)]))
    assert student.run("print('still kept')").output == "still kept\n"


def test_signalling_everyone_ends_oneself_only(warm):
    with warm.student() as other, warm.student() as student:
        other.run("x = 1")
        with contextlib.suppress(Died):
            student.run("import os, signal\nos.kill(-1, signal.SIGKILL)", seconds=3)
        assert other.run("print(x)").output == "1\n"
    assert warm.process.poll() is None


def test_the_holder_of_the_sandbox_cannot_be_taken_over(student):
    source = (
        "for process in (1, 2):\n"
        "    try: open(f'/proc/{process}/mem', 'r+b'); print('open', process)\n"
        "    except OSError: pass\n"
    )
    assert student.run(source).output == ""


def test_an_exit_handler_or_a_thread_does_not_hold_a_submission(warm):
    with warm.student() as student:
        student.run("import atexit, time\natexit.register(time.sleep, 600)")
        student.run("import threading\nthreading.Thread(target=time.sleep, args=(600,)).start()")
    assert wait_until(lambda: not left_over(warm))
