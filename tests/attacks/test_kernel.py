"""System calls that lead out of the sandbox or deep into the kernel, made directly."""

import pytest
from starts import EACH, shared
from warm_levels import PATIENT

PREAMBLE = """
import ctypes, errno, os, platform
libc = ctypes.CDLL(None, use_errno=True)
arm = platform.machine() == "aarch64"

def call(x86, aarch64, *arguments):
    number = aarch64 if arm else x86
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result = libc.syscall(ctypes.c_long(number), *words)
    print("done" if result >= 0 else errno.errorcode[ctypes.get_errno()])
"""
NEW_USER, NEW_MOUNTS, NEW_NETWORK = 0x10000000, 0x00020000, 0x40000000

CALLS = {
    "ptrace traceme": "call(101, 117, 0, 0, 0, 0)",
    "ptrace attach": "call(101, 117, 16, os.getppid() or 1, 0, 0)",
    "process_vm_readv": "call(310, 270, 1, 0, 0, 0, 0, 0)",
    "pidfd_getfd": "call(438, 438, 0, 0, 0)",
    "unshare user": f"call(272, 97, {NEW_USER})",
    "unshare mounts": f"call(272, 97, {NEW_MOUNTS})",
    "unshare network": f"call(272, 97, {NEW_NETWORK})",
    "setns": "call(308, 268, 0, 0)",
    "clone with a user namespace": f"call(56, 220, {NEW_USER | 17}, 0, 0, 0, 0)",
    "mount": "call(165, 40, b'none', b'/tmp', b'tmpfs', 0, None)",
    "umount": "call(166, 39, b'/proc', 0)",
    "pivot_root": "call(155, 41, b'/tmp', b'/tmp')",
    "chroot": "call(161, 51, b'/tmp')",
    "fsopen": "call(430, 430, b'tmpfs', 0)",
    "open_by_handle_at": "call(304, 265, 0, None, 0)",
    "bpf": "call(321, 280, 0, None, 0)",
    "perf_event_open": "call(298, 241, None, 0, 0, 0, 0)",
    "userfaultfd": "call(323, 282, 0)",
    "keyctl": "call(250, 219, 0, 0, 0, 0, 0)",
    "init_module": "call(175, 105, None, 0, b'')",
    "kexec_load": "call(246, 104, 0, 0, None, 0)",
    "reboot": "call(169, 142, 0, 0, 0, None)",
    "swapon": "call(167, 224, b'/tmp', 0)",
    "settimeofday": "call(164, 170, None, None)",
    "sethostname": "call(170, 161, b'mine', 4)",
    "syslog": "call(103, 116, 3, None, 0)",
    "memfd_create": "call(319, 279, b'unseen', 0)",
    "shmget": "call(29, 194, 0, 4096, 0o1777)",
}


@pytest.fixture(scope="module", params=EACH)
def student(request):
    """One process for all: none of these attacks changes anything, or it has worked."""
    with shared(request.param).student(limits=PATIENT) as student:
        yield student


@pytest.mark.parametrize("attempt", CALLS.values(), ids=CALLS.keys())
def test_a_forbidden_system_call_is_refused(student, attempt):
    expected = "EPERM\n" if attempt.startswith("call(56") else "ENOSYS\n"  # others clone without harm
    assert student.run(PREAMBLE + attempt).output == expected


@pytest.mark.parametrize(
    "attempt",
    ["call(435, 435, None, 0)", "call(425 + 50, 475, 0)", "call(600, 600)"],
    ids=["clone3", "475", "600"],
)
def test_calls_that_cannot_be_judged_do_not_exist(student, attempt):
    assert student.run(PREAMBLE + attempt).output == "ENOSYS\n"


def test_io_uring_does_not_exist(student):
    assert student.run(PREAMBLE + "call(425, 425, 8, None)").output == "ENOSYS\n"


@pytest.mark.parametrize(
    "identity", ["os.setuid(0)", "os.setgid(0)", "os.setgroups([0])", "os.setresuid(0, 0, 0)"]
)
def test_nobody_becomes_root(student, identity):
    error = student.run(f"import os\n{identity}").error
    assert error.class_name in ("PermissionError", "OSError")  # refused, or there is no such user inside
    assert student.run("print(os.geteuid() == 0)").output == "False\n"


def test_no_right_is_held_and_none_can_come(student):
    status = student.run("print(open('/proc/self/status').read())").output
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert {int(fields[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
    assert (fields["NoNewPrivs"], fields["Seccomp"]) == ("1", "2")


def test_limits_cannot_be_raised(student):
    source = (
        "import resource\n"
        "for name in ('AS', 'CPU', 'FSIZE', 'NOFILE', 'NPROC', 'CORE', 'MEMLOCK', 'MSGQUEUE'):\n"
        "    kind = getattr(resource, 'RLIMIT_' + name)\n"
        "    soft, hard = resource.getrlimit(kind)\n"
        "    try: resource.setrlimit(kind, (hard + 1, hard + 1)); print('raised', kind)\n"
        "    except ValueError: pass\n"
    )
    assert student.run(source).output == ""


@pytest.mark.parametrize(
    "path",
    [
        "/proc/sys/kernel/core_pattern",
        "/proc/sysrq-trigger",
        "/proc/sys/vm/overcommit_memory",
        "/sys/power/state",
    ],
)
def test_the_kernels_settings_cannot_be_written(student, path):
    assert "OSError" in student.run(f"open({path!r}, 'w').write('1')").error.bases


@pytest.mark.parametrize("path", ["/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/kvm", "/dev/tty", "/proc/kcore"])
def test_devices_are_not_there(student, path):
    assert "OSError" in student.run(f"open({path!r}, 'rb').read(1)").error.bases


def test_devices_cannot_be_made(student):
    assert "OSError" in student.run("import os; os.mknod('disk', 0o60600, os.makedev(8, 0))").error.bases
