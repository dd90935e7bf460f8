"""Landlock: a process gives up every file that it does not name, for itself and all its descendants.

Needs Linux 5.13 and no rights. https://docs.kernel.org/userspace-api/landlock.html
"""

import os
import struct
from collections.abc import Iterable
from pathlib import Path

from autograder.isolation import kernel

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
VERSION_QUERY = 1
RULE_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_DIR, MAKE_REG, MAKE_FIFO = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 10
MAKE_SOCK, MAKE_SYM, REFER, TRUNCATE = 1 << 9, 1 << 12, 1 << 13, 1 << 14
FILE_RIGHTS = {
    1: (1 << 13) - 1,
    2: (1 << 14) - 1,
    3: (1 << 15) - 1,
    5: (1 << 16) - 1,
}  # version → every right that exists since then
NETWORK_RIGHTS = 0b11  # bind and connect of TCP, from version 4
SCOPES = 0b11  # abstract sockets and signals, from version 6

READ = EXECUTE | READ_FILE | READ_DIR
CREATE = REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_FIFO | MAKE_SOCK | MAKE_SYM | REFER
WRITE = READ | WRITE_FILE | TRUNCATE | CREATE
ONLY_FOR_DIRECTORIES = READ_DIR | CREATE


def version() -> int:
    """The kernel's Landlock version, 0 where there is none."""
    try:
        return kernel.system_call(CREATE_RULESET, None, 0, VERSION_QUERY)
    except OSError:
        return 0


def restrict(readable: Iterable[Path], listable: Iterable[Path], writable: Iterable[Path]) -> None:
    """Allow only these files: to read and run, to list, to change; no TCP, and no signals to the outside.

    Raises OSError if the kernel refuses.
    """
    rules = [(path, READ) for path in readable]
    rules += [(path, READ_DIR) for path in listable]
    rules += [(path, WRITE) for path in writable]
    apply(rules)


def shut_off() -> None:
    """Keep access to all files, but not to other processes: no signals, no reading of their memory."""
    apply([(Path("/"), all_file_rights(version()))])


def apply(rules: list[tuple[Path, int]]) -> None:
    found = version()
    handled = all_file_rights(found)
    fields = [handled]
    if found >= 4:
        fields.append(NETWORK_RIGHTS)
    if found >= 6:
        fields.append(SCOPES)
    attributes = struct.pack(f"<{len(fields)}Q", *fields)
    ruleset = kernel.system_call(CREATE_RULESET, attributes, len(attributes), 0)
    for path, rights in rules:
        add_rule(ruleset, path, rights & handled)
    kernel.system_call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def add_rule(ruleset: int, path: Path, rights: int) -> None:
    """Allow these rights beneath a path, if the path exists."""
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(f"/proc/self/fd/{opened}"):
        rights &= ~ONLY_FOR_DIRECTORIES
    kernel.system_call(ADD_RULE, ruleset, RULE_PATH_BENEATH, struct.pack("<Qi", rights, opened), 0)
    os.close(opened)


def all_file_rights(found: int) -> int:
    """Every file right that this version of Landlock knows."""
    return max((rights for since, rights in FILE_RIGHTS.items() if since <= found), default=0)
