"""The filter, run by an interpreter of its own language, against the kernel's own tables of calls."""

import ctypes
import errno
import itertools
import struct

import pytest

from autograder.isolation import seccomp
from autograder.isolation.system_calls import (
    DENIED,
    DENIED_WITHOUT_NAMESPACES,
    DENIED_WITHOUT_SCOPES,
    EXAMINED,
)

STRICTNESSES = [
    seccomp.Strictness(namespaces=namespaces, signal_scope=scope)
    for namespaces, scope in itertools.product((True, False), repeat=2)
]
IN_SANDBOX = seccomp.Strictness(namespaces=True, signal_scope=True)
ON_HOST = seccomp.Strictness(namespaces=False, signal_scope=False)
LIBSECCOMP_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
COLUMN = {"x86_64": 0, "aarch64": 1}


def verdict(program, machine, number, *arguments):
    """What the kernel would answer: the filter's return value for one call."""
    audit = LIBSECCOMP_MACHINES[machine]
    data = struct.pack("<iIQ6Q", number, audit, 0, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    accumulator, position = 0, 0
    while True:
        code, if_true, if_false, value = struct.unpack_from("<HBBI", program, 8 * position)
        position += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif code == 0x54:
            accumulator &= value
        elif code == 0x06:
            return value
        else:
            passed = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}
            position += if_true if passed[code] else if_false


def error(number):
    return 0x00050000 | number


ALLOWED, KILLED = 0x7FFF0000, 0x80000000


@pytest.fixture(scope="module")
def libseccomp():
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        pytest.skip("libseccomp.so.2 is not installed")
    return library.seccomp_syscall_resolve_name_arch


@pytest.mark.parametrize("machine", COLUMN)
def test_every_number_in_the_tables_is_the_kernels(libseccomp, machine):
    tables = DENIED | DENIED_WITHOUT_NAMESPACES | DENIED_WITHOUT_SCOPES | EXAMINED
    for name, numbers in tables.items():
        known = libseccomp(LIBSECCOMP_MACHINES[machine], name.encode())
        assert numbers[COLUMN[machine]] == (known if known >= 0 else None), name


@pytest.mark.parametrize("machine", COLUMN)
@pytest.mark.parametrize("strictness", STRICTNESSES, ids=str)
def test_every_denied_call_is_refused_and_ordinary_ones_are_not(machine, strictness):
    program = seccomp.program(strictness, machine)
    for numbers in seccomp.denied(strictness).values():
        if numbers[COLUMN[machine]] is not None:
            assert verdict(program, machine, numbers[COLUMN[machine]]) == error(errno.EPERM)
    ordinary = {"x86_64": (0, 1, 9, 39, 57, 202, 257), "aarch64": (56, 63, 64, 98, 172, 222)}
    for number in ordinary[machine]:  # read, write, mmap, getpid, fork, futex, openat
        assert verdict(program, machine, number) == ALLOWED


@pytest.mark.parametrize("machine", COLUMN)
def test_calls_younger_than_the_list_do_not_exist(machine):
    program = seccomp.program(IN_SANDBOX, machine)
    for number in (463, 500, 0x3FFFFFFF):
        assert verdict(program, machine, number) == error(errno.ENOSYS)


def test_another_architectures_calls_kill():
    program = seccomp.program(IN_SANDBOX, "x86_64")
    assert verdict(program, "aarch64", 0) == KILLED
    assert verdict(program, "x86_64", 0x40000000) == KILLED


@pytest.mark.parametrize("machine", COLUMN)
def test_threads_may_be_made_and_namespaces_may_not(machine):
    program, clone = seccomp.program(IN_SANDBOX, machine), EXAMINED["clone"][COLUMN[machine]]
    assert verdict(program, machine, clone, 0x3D0F00) == ALLOWED  # what pthread_create asks for
    for bit in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert verdict(program, machine, clone, 0x11 | bit) == error(errno.EPERM)
    assert verdict(program, machine, EXAMINED["clone3"][COLUMN[machine]]) == error(errno.ENOSYS)


@pytest.mark.parametrize("machine", COLUMN)
def test_sockets_reach_only_a_network_of_the_sandboxs_own(machine):
    socket = EXAMINED["socket"][COLUMN[machine]]
    inside, outside = seccomp.program(IN_SANDBOX, machine), seccomp.program(ON_HOST, machine)
    for family in range(64):
        protocols = {protocol: verdict(inside, machine, socket, family, 1, protocol) for protocol in (0, 9)}
        expected = {0: ALLOWED, 9: ALLOWED} if family in (1, 2, 10) else {0: error(97), 9: error(97)}
        assert protocols == (expected | {0: ALLOWED} if family == 16 else expected)
        assert verdict(outside, machine, socket, family, 1, 0) == error(errno.EAFNOSUPPORT)


@pytest.mark.parametrize("machine", COLUMN)
def test_without_namespaces_a_pair_of_sockets_cannot_send_elsewhere(machine):
    pair = EXAMINED["socketpair"][COLUMN[machine]]
    program = seccomp.program(ON_HOST, machine)
    stream, datagram, sequenced, close_on_exec = 1, 2, 5, 0o2000000
    assert verdict(program, machine, pair, 1, stream | close_on_exec) == ALLOWED
    assert verdict(program, machine, pair, 1, sequenced) == ALLOWED
    assert verdict(program, machine, pair, 1, datagram | close_on_exec) == error(errno.EAFNOSUPPORT)


@pytest.mark.parametrize("machine", COLUMN)
def test_nothing_is_typed_into_another_terminal(machine):
    program, ioctl = seccomp.program(IN_SANDBOX, machine), EXAMINED["ioctl"][COLUMN[machine]]
    assert verdict(program, machine, ioctl, 0, 0x5412) == error(errno.EPERM)
    assert verdict(program, machine, ioctl, 0, 0x5401) == ALLOWED


def test_an_unknown_architecture_is_refused_rather_than_left_open():
    with pytest.raises(NotImplementedError, match="riscv64"):
        seccomp.program(IN_SANDBOX, "riscv64")
