"""A sentence for every way in which a student's process can end."""

import os
import signal

from autograder.isolation.limits import Limits, in_words

OUT_OF_MEMORY = 71  # the status of a process that has not even the memory to answer

CRASHES: dict[int, str] = {
    signal.SIGSEGV: "crashed with a segmentation fault",
    signal.SIGBUS: "crashed with a bus error",
    signal.SIGFPE: "crashed with an arithmetic error outside Python",
    signal.SIGABRT: "aborted",
    signal.SIGSYS: "made a system call that is not allowed",
    signal.SIGXFSZ: "wrote a file that is too large",
}


def how_it_ended(report: dict, limits: Limits) -> str:
    """A keeper's report → "used more than 2 GB of memory"."""
    status, reason, seconds = (report.get(name) for name in ("status", "reason", "cpu_seconds"))
    if reason == "memory_bytes" or (type(status) is int and is_out_of_memory(status)):
        return f"used more than {in_words(limits.memory_bytes)} of memory"
    if reason == "submission_seconds":
        return f"was still running after {limits.patience * limits.submission_seconds:g} s"
    if reason == "processes":
        return f"started more than {limits.processes} processes and threads"
    if reason == "file_bytes":
        return f"wrote more than {in_words(limits.file_bytes)} of files"
    if reason == "files":
        return f"made more than {limits.files} files"
    if reason == "hidden_files":
        return "hid files where they cannot be counted"
    if type(status) is not int:
        return "was ended by the system"
    if os.WIFEXITED(status):
        return f"exited with status {os.WEXITSTATUS(status)}"
    number = os.WTERMSIG(status)
    ignored_the_warning = (
        number == signal.SIGKILL and type(seconds) is float and seconds >= limits.cpu_seconds
    )
    if reason == "cpu_seconds" or number == signal.SIGXCPU or ignored_the_warning:
        return f"used more than {limits.cpu_seconds} s of processor time"
    if number in CRASHES:
        return CRASHES[number]
    return f"was ended by {signal.Signals(number).name}" if number in set(signal.Signals) else "was ended"


def is_out_of_memory(status: int) -> bool:
    return os.WIFEXITED(status) and os.WEXITSTATUS(status) == OUT_OF_MEMORY
