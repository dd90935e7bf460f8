"""A sentence for every way in which a student's process can end."""

import os
import signal

from autograder.isolation.limits import Limits, in_words
from course.language import say

OUT_OF_MEMORY = 71  # the status of a process that has not even the memory to answer

CRASHES: dict[int, str] = {
    signal.SIGSEGV: say("crashed with a segmentation fault"),
    signal.SIGBUS: say("crashed with a bus error"),
    signal.SIGFPE: say("crashed with an arithmetic error outside Python"),
    signal.SIGABRT: say("aborted"),
    signal.SIGSYS: say("made a system call that is not allowed"),
    signal.SIGXFSZ: say("wrote a file that is too large"),
}


def how_it_ended(report: dict, limits: Limits) -> str:
    """A keeper's report → "used more than 2 GB of memory"."""
    status, reason, seconds = (report.get(name) for name in ("status", "reason", "cpu_seconds"))
    if reason == "memory_bytes" or (type(status) is int and is_out_of_memory(status)):
        return say("used more than {memory} of memory", memory=in_words(limits.memory_bytes))
    if reason == "lifetime":
        return say("was still running after {seconds:g} s", seconds=limits.lifetime)
    if reason == "processes":
        return say("started more than {count} processes and threads", count=limits.processes)
    if reason == "file_bytes":
        return say("wrote more than {size} of files", size=in_words(limits.file_bytes))
    if reason == "files":
        return say("made more than {count} files", count=limits.files)
    if reason == "hidden_files":
        return say("hid files where they cannot be counted")
    if type(status) is not int:
        return say("was ended by the system")
    if os.WIFEXITED(status):
        return say("exited with status {status}", status=os.WEXITSTATUS(status))
    number = os.WTERMSIG(status)
    ignored_the_warning = (
        number == signal.SIGKILL and type(seconds) is float and seconds >= limits.cpu_seconds
    )
    if reason == "cpu_seconds" or number == signal.SIGXCPU or ignored_the_warning:
        return say("used more than {seconds} s of processor time", seconds=limits.cpu_seconds)
    if number in CRASHES:
        return CRASHES[number]
    if number not in set(signal.Signals):
        return say("was ended")
    return say("was ended by {signal}", signal=signal.Signals(number).name)


def is_out_of_memory(status: int) -> bool:
    return os.WIFEXITED(status) and os.WEXITSTATUS(status) == OUT_OF_MEMORY
