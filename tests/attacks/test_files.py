"""Reading what is not theirs, writing where nothing is theirs."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

import autograder
from autograder.isolation import Died
from autograder.isolation.tree import children_of

CHECKOUT = Path(autograder.__file__).resolve().parents[1]


@pytest.fixture
def desk():
    """An instructor's desk, open to every user of the machine: only the sandbox keeps students away."""
    desk = Path(tempfile.mkdtemp(prefix="desk-"))
    for name in ("solutions/hw1/hw1.py", "submitted/ada/hw1/hw1.ipynb", "gradebook.db"):
        (desk / name).parent.mkdir(parents=True, exist_ok=True)
        (desk / name).write_text("secret")
    for place in (desk, *desk.rglob("*")):
        place.chmod(0o777)
    yield desk
    shutil.rmtree(desk)


def said(student, source):
    """What a cell prints; "kept out" if an error of the system keeps it from that."""
    result = student.run(source)
    if result.error is None:
        return result.output.strip()
    assert "OSError" in result.error.bases, result.error
    return "kept out"


@pytest.mark.parametrize("name", ["solutions/hw1/hw1.py", "submitted/ada/hw1/hw1.ipynb", "gradebook.db"])
def test_solutions_other_submissions_and_the_gradebook_cannot_be_read(student, desk, name):
    assert said(student, f"print(open({str(desk / name)!r}).read())") == "kept out"


@pytest.mark.parametrize("name", ["solutions/hw1", "submitted", "."])
def test_nor_can_they_be_listed(student, desk, name):
    assert said(student, f"import os; print(os.listdir({str(desk / name)!r}))") == "kept out"


def test_a_database_cannot_be_opened_to_give_oneself_marks(student, desk):
    source = (
        f"import sqlite3; sqlite3.connect({str(desk / 'gradebook.db')!r}).execute('create table marks (x)')"
    )
    assert student.run(source).error.class_name == "OperationalError"
    assert (desk / "gradebook.db").read_text() == "secret"


@pytest.mark.parametrize("name", ["gradebook.db", "new.txt", "solutions/hw1/hw1.py"])
def test_nothing_outside_can_be_written(student, desk, name):
    before = sorted(desk.rglob("*"))
    assert said(student, f"open({str(desk / name)!r}, 'w').write('mine')") == "kept out"
    assert sorted(desk.rglob("*")) == before
    assert (desk / "gradebook.db").read_text() == "secret"


@pytest.mark.parametrize("act", ["os.remove", "os.rmdir", "os.truncate", "os.mkfifo"])
def test_nothing_outside_can_be_removed_cut_or_made(student, desk, act):
    arguments = {"os.remove": "gradebook.db", "os.rmdir": "submitted", "os.truncate": "gradebook.db"}
    path = desk / arguments.get(act, "pipe")
    more = ", 0" if act == "os.truncate" else ""
    assert said(student, f"import os; {act}({str(path)!r}{more})") == "kept out"
    assert (desk / "gradebook.db").read_text() == "secret"
    assert not (desk / "pipe").exists()


@pytest.mark.parametrize("link", ["os.symlink", "os.link"])
def test_a_link_to_a_file_is_no_way_to_it(student, desk, link):
    source = f"import os; {link}({str(desk / 'gradebook.db')!r}, 'mine'); print(open('mine').read())"
    assert said(student, source) == "kept out"


def test_a_program_it_starts_sees_no_more(student, desk):
    output = student.run(f"!cat {desk}/gradebook.db {desk}/solutions/hw1/hw1.py; ls {desk}").output
    assert "secret" not in output
    assert "hw1.py\n" not in output


def test_the_homeworks_source_and_the_graders_are_not_there(student):
    for path in (CHECKOUT / "solutions", CHECKOUT / "autograder", CHECKOUT / "tests", CHECKOUT / ".git"):
        assert said(student, f"import os; print(os.listdir({str(path)!r}))") == "kept out"
    grade = CHECKOUT / "autograder" / "__init__.py"
    assert said(student, f"print(open({str(grade)!r}).read())") == "kept out"


def test_only_the_course_of_the_checkout_can_be_imported(student):
    assert student.run("import course.checks").error is None
    for name in ("autograder.cli", "autograder.source.homework", "tests.warm_levels"):
        assert student.run(f"import {name}").error.class_name in ("ModuleNotFoundError", "PermissionError")


@pytest.mark.parametrize(
    "path", ["/etc/shadow", "/etc/passwd-", "/root/.bashrc", "/var/log", "/run", "/srv", "/sys/kernel"]
)
def test_the_machine_around_is_closed(student, path):
    if not os.path.exists(path):
        pytest.skip(f"there is no {path} here")
    look = f"print(os.listdir({path!r}) if os.path.isdir({path!r}) else open({path!r}).read())"
    assert said(student, f"import os; {look}") in ("kept out", "[]") or not os.listdir(path)


def test_the_interpreter_cannot_be_changed_for_the_next_one(student):
    packages = Path(sys.modules["torch"].__file__).resolve().parent
    for path in (packages / "__init__.py", packages / "trojan.py", CHECKOUT / "course" / "__init__.py"):
        assert said(student, f"open({str(path)!r}, 'a').write('#')") == "kept out"
    assert not (packages / "trojan.py").exists()


@pytest.mark.parametrize("place", ["/dev/shm", "/tmp", "/var/tmp"])
def test_nothing_is_left_in_the_places_everyone_may_write_to(student, place):
    path = Path(place, f"left-by-{os.getpid()}")
    student.run(f"open({str(path)!r}, 'w').write('for the next')")
    assert not path.exists()


def test_one_submission_finds_nothing_of_another(warm):
    with warm.student() as first, warm.student() as second:
        first.run("import os; open('mine.txt', 'w').write('my solution')")
        place = first.run("print(os.path.realpath('mine.txt'))").output.strip()
        assert said(second, f"print(open({place!r}).read())") == "kept out"
        assert said(second, f"open({place!r}, 'w').write('spoiled')") == "kept out"
        assert first.run("print(open('mine.txt').read())").output == "my solution\n"


SEARCH = """
found = 0
for line in open("/proc/self/maps"):
    span, rights, *rest = line.split()
    low, high = (int(end, 16) for end in span.split("-"))
    if rights.startswith("rw") and high - low < 1 << 28:
        with open("/proc/self/mem", "rb", 0) as memory:
            memory.seek(low)
            content = memory.read(high - low)
        place = content.find(b"fourteen-grey")
        while place >= 0:
            found += content[place + 13 : place + 20][::-1] == b"snoreh-"
            place = content.find(b"fourteen-grey", place + 1)
        del content
print(found > 0)
"""


def test_nothing_of_an_earlier_submission_is_in_the_memory_a_later_one_starts_with(warm):
    with warm.student() as first, warm.student() as second:
        first.run("secret = ('fourteen-grey' + '-herons') * 1000")
        assert first.run(SEARCH).output == "True\n"
        assert second.run(SEARCH).output == "False\n"
        with warm.student() as third:
            assert third.run(SEARCH).output == "False\n"


def test_the_reference_is_not_among_the_objects_in_memory(student):
    loaded = student.run("import sys\nprint(*sys.modules)").output.split()
    graders = {name for name in loaded if name.startswith("autograder") and "isolation" not in name}
    assert graders == {"autograder"}
    assert not [name for name in loaded if name.split(".")[0] in ("solutions", "nbgrader")]


@pytest.mark.parametrize("name", ["environ", "mem", "cwd", "root", "fd/0", "maps"])
def test_other_processes_cannot_be_read_through_proc(warm, student, name):
    known = [1, 2, os.getpid(), warm.process.pid, *children_of(warm.process.pid)]
    look = (
        "import os\n"
        f"for process in {known}:\n"
        f"    path = f'/proc/{{process}}/{name}'\n"
        "    if process == os.getpid(): continue\n"
        "    try: print(os.readlink(path) if os.path.islink(path) else open(path, 'rb').read(1))\n"
        "    except OSError: pass\n"
    )
    assert student.run(look).output == ""


def test_files_cannot_be_hidden_from_being_counted(student):
    with pytest.raises(Died, match="hid files where they cannot be counted"):
        student.run("import os, time\nos.mkdir('closed', 0)\ntime.sleep(9)")


def test_files_cannot_be_hidden_at_the_end_of_a_long_path(student):
    deeper = "import os, time\nfor i in range(60): os.mkdir('d' * 200); os.chdir('d' * 200)\ntime.sleep(9)"
    with pytest.raises(Died, match="hid files where they cannot be counted"):
        student.run(deeper)


DESCRIPTORS = """
import os
for descriptor in sorted(map(int, os.listdir("/proc/self/fd"))):
    try: print(os.readlink(f"/proc/self/fd/{descriptor}").split(":")[0])
    except FileNotFoundError: pass
"""


def test_no_descriptor_is_inherited_but_the_connection_to_the_grader(student):
    assert student.run(DESCRIPTORS).output.split() == ["/dev/null"] * 3 + ["pipe"] * 2
    programs = student.run("!readlink /proc/self/fd/3 /proc/self/fd/4 /proc/self/fd/5").output
    assert "socket" not in programs
    assert "pipe" not in programs


def test_a_disk_cannot_be_filled(student):
    flood = "import time\nfor i in range(40): open(f'{i}', 'wb').write(bytes(4 << 20))\ntime.sleep(9)"
    assert_cut_short(student, flood, "wrote more than 32 MB of files")


def assert_cut_short(student, flood, *sentences):
    """A flood ends at its own sandbox's edge, or with one of these sentences."""
    try:
        error = student.run(flood).error
    except Died as died:
        assert died.sentence in sentences  # noqa: PT017
    else:
        assert "No space left on device" in error.message or "Function not implemented" in error.message


REMOVED = """
import ctypes, mmap, os, socket, time
name = {name!r}
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
kept, (here, there) = [], socket.socketpair()
for _ in range(20):
    file = os.open(name, os.O_RDWR | os.O_CREAT)
    assert os.write(file, bytes(4 << 20)) == 4 << 20, "No space left on device"
    {keep}
    os.remove(name)
    {forget}
time.sleep(9)
"""
WAYS_TO_KEEP = {
    "open": ("kept.append(file)", "pass"),
    "mapped": ("libc.mmap(None, ctypes.c_size_t(4096), 1, 1, file, ctypes.c_long(0))", "os.close(file)"),
    "on its way through a socket": ("socket.send_fds(here, [b'x'], [file])", "os.close(file)"),
    "unreadable": ("libc.prctl(4, 0, 0, 0, 0); kept.append(file)", "pass"),
}


@pytest.mark.parametrize(("keep", "forget"), WAYS_TO_KEEP.values(), ids=WAYS_TO_KEEP.keys())
def test_a_disk_cannot_be_filled_with_files_that_are_removed(student, keep, forget):
    sentences = ("wrote more than 32 MB of files", "hid files where they cannot be counted")
    assert_cut_short(student, REMOVED.format(name="file", keep=keep, forget=forget), *sentences)


@pytest.mark.parametrize("name", ["a\x0cb", "a\rb", "a\nb", "a\u2028 (deleted)", "a\udcff"])
def test_a_disk_cannot_be_filled_with_removed_files_of_odd_names(student, name):
    """/proc escapes only line feeds in names; Python takes other characters for the end of a line, too."""
    keep, forget = WAYS_TO_KEEP["mapped"]
    sentences = ("wrote more than 32 MB of files", "hid files where they cannot be counted")
    assert_cut_short(student, REMOVED.format(name=name, keep=keep, forget=forget), *sentences)


def test_a_file_without_a_name_is_counted_as_well(student):
    flood = (
        "import os, time\n"
        "for _ in range(20):\n"
        "    assert os.write(os.open('.', os.O_RDWR | os.O_TMPFILE), bytes(4 << 20)) == 4 << 20, "
        "'No space left on device'\n"
        "time.sleep(9)"
    )
    assert_cut_short(student, flood, "wrote more than 32 MB of files")
