"""However a submission's processes multiply, none is left."""

import subprocess
import sys

import pytest

# A process that adopts orphans, and some that each start the next one and end.
CHAINS = """
import os, time
from autograder.isolation import kernel
from autograder.isolation.tree import Descendants

kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
end = time.monotonic() + 40
for _ in range({count}):
    if os.fork() == 0:
        os.setsid()
        while time.monotonic() < end:
            if os.fork():
                os._exit(0)
        os._exit(1)
time.sleep(0.3)
tree = Descendants(os.getpid())
tree.kill()
print(tree.pids(), time.monotonic() < end)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has processes that adopt others' orphans")
@pytest.mark.parametrize("count", [1, 3])
def test_processes_that_start_the_next_one_and_end_are_caught(count):
    """Whoever lists processes and signals them one by one comes too late for each of these."""
    ended = subprocess.run(
        [sys.executable, "-c", CHAINS.format(count=count)], capture_output=True, text=True, check=False
    )
    assert (ended.stdout, ended.stderr) == ("[] True\n", "")
