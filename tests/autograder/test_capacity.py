"""As many submissions are judged at once as there are processors and memory that may be used."""

import os
from dataclasses import replace

import pytest

from autograder.grading.capacity import Capacity, capacity_here
from autograder.isolation import Limits

GB = 1 << 30
LIMITS = Limits(memory_bytes=2 * GB)
MEMINFO = f"MemTotal: {64 << 20} kB\nMemFree: 1 kB\nMemAvailable: {40 << 20} kB\n"


@pytest.fixture
def machine(tmp_path):
    """The machine whose /proc and /sys hold these files: machine(**{path: text})."""

    def lay_out(files, allowed=16):
        for name, text in {"proc/meminfo": MEMINFO, **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return capacity_here(tmp_path, allowed)

    return lay_out


@pytest.mark.parametrize("cores", [1, 2, 3, 4, 8, 16, 32, 64])
def test_there_is_a_job_for_every_core(cores):
    assert Capacity(cores, cores).jobs(LIMITS) == cores


def test_jobs_follow_the_cores_that_this_process_may_use():
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert replace(capacity_here(), quota=None).jobs(LIMITS) == 1
    finally:
        os.sched_setaffinity(0, allowed)


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"}, 1.5),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, None),
        (
            {
                "proc/self/cgroup": "0::/batch/job\n",
                "sys/fs/cgroup/batch/cpu.max": "200000 100000\n",
                "sys/fs/cgroup/batch/job/cpu.max": "max 100000\n",
            },
            2.0,
        ),
        (
            {
                "proc/self/cgroup": "4:memory:/\n2:cpu,cpuacct:/docker/x\n",
                "sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us": "300000\n",
                "sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us": "100000\n",
            },
            3.0,
        ),
        (
            {  # as a container of version 1 sees it: the group's path is the host's, the mount its own
                "proc/self/cgroup": "2:cpu:/docker/x\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            None,
        ),
        ({}, None),
    ],
)
def test_a_control_groups_share_of_time_is_found(machine, files, quota):
    found = machine(files)
    assert found.quota == quota
    assert found.processors == (16 if quota is None else round(quota))


@pytest.mark.parametrize(
    ("files", "most", "jobs"),
    [
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": f"{8 * GB}\n"}, 8 * GB, 4),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, None, 16),
        (
            {
                "proc/self/cgroup": "4:memory:/x\n",
                "sys/fs/cgroup/memory/x/memory.limit_in_bytes": f"{3 * GB}\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            },
            3 * GB,
            1,
        ),
        ({"proc/meminfo": f"MemTotal: {16 << 20} kB\nMemAvailable: {12 << 20} kB\n"}, None, 6),
        ({"proc/meminfo": f"MemTotal: {2 << 20} kB\nMemAvailable: {1 << 20} kB\n"}, None, 1),
    ],
)
def test_jobs_follow_the_memory_that_there_is(machine, files, most, jobs):
    found = machine(files)
    assert found.most_bytes == most
    assert found.jobs(LIMITS) == jobs


def test_where_the_system_tells_nothing_the_cores_count(tmp_path):
    assert capacity_here(tmp_path, 5).jobs(LIMITS) == 5


def test_what_is_seen_is_a_list_of_sentences(machine):
    files = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"}
    assert machine(files).in_words(LIMITS)[1:] == [
        "control groups allow the time of 1.5 cores",
        "40 GB of memory are free",
        "2 submissions are judged at once",
    ]
