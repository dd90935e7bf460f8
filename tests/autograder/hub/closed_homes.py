"""The hub of a test on a machine where everybody has an account, with homes and courses that are closed.

The accounts are in a passwd file that only the hub's own processes see, in a mount namespace; those of this
machine stay as they are.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from hub_of_two_courses import COURSES, Hub

FIRST_ID = 61_000  # of user and group; usually free, and below those that systems give out themselves
PEOPLE = sorted({name for students, staff in COURSES.values() for name in (*students, *staff)})
NAMES = [*PEOPLE, *(f"grader-{course}" for course in COURSES)]
IDS = {name: FIRST_ID + number for number, name in enumerate(NAMES)}
PYTHON = Path(sys.base_prefix)
# The accounts, and Python where it is in a folder that only root may enter; $0 is the hub's folder.
NAMESPACE = """
mount --bind "$0/passwd" /etc/passwd && mount --bind "$0/group" /etc/group || exit
if [ -n "$CLOSED" ]; then
    mount --bind "$PYTHON" "$0/python" && mount -t tmpfs -o mode=755 none "$CLOSED" || exit
    mkdir -p "$PYTHON" && mount --bind "$0/python" "$PYTHON" || exit
fi
exec "$@"
"""


def closed_above(folder):
    """The topmost folder on the way there that others may not enter, or nothing."""
    closed = (path for path in reversed((folder, *folder.parents)) if not path.stat().st_mode & 0o001)
    return str(next(closed, ""))


class HubOfAccounts(Hub):
    """Everybody is a system user whose home has mode 0700; each grader owns the course, which has it too."""

    has_accounts = True

    def words_of(self, person, words):
        number = IDS.get(person, 0)
        ids = [f"--reuid={number}", f"--regid={number}", "--clear-groups"]
        become = ["setpriv", *ids, "sh", "-c", 'exec "$@"', "sh"] if number else []
        seen = ["env", f"CLOSED={closed_above(PYTHON)}", f"PYTHON={PYTHON}"]
        return [*seen, "unshare", "--mount", "sh", "-c", NAMESPACE, str(self.folder), *become, *words]

    def give_to(self, person, folder):
        for path in (folder, *folder.rglob("*")):
            os.chown(path, IDS[person], IDS[person], follow_symlinks=False)

    def prepare(self, monkeypatch):
        (self.folder / "python").mkdir()
        users = (f"{name}:x:{number}:{number}::{self.home(name)}:/bin/sh\n" for name, number in IDS.items())
        groups = (f"{name}:x:{number}:\n" for name, number in IDS.items())
        for file, lines in (("passwd", users), ("group", groups)):
            (self.folder / file).write_text(
                Path("/etc", file).read_text().rstrip("\n") + "\n" + "".join(lines)
            )
        super().prepare(monkeypatch)
        (self.folder / "hub.json").chmod(0o600)
        closed = {name: self.home(name) for name in NAMES}
        for name, folder in (*closed.items(), *((one.grader, one.folder) for one in self.courses.values())):
            self.give_to(name, folder)
            folder.chmod(0o700)

    def can_list(self, person, folder):
        """Whether this person can list the folder."""
        return subprocess.run(self.words_of(person, ["ls", folder]), capture_output=True).returncode == 0


def why_not():
    """Why this machine cannot have such a hub; nothing if it can."""
    if os.geteuid() != 0:
        return "only root can act for other accounts"
    if missing := [name for name in ("unshare", "setpriv", "mount") if shutil.which(name) is None]:
        return f"not installed: {', '.join(missing)}"
    with a_folder() as folder:
        (folder / "python").mkdir()
        for name in ("passwd", "group"):
            shutil.copy(f"/etc/{name}", folder / name)
        words = HubOfAccounts(folder, folder, []).words_of(
            NAMES[0], [sys.executable, "-c", "import autograder"]
        )
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    return done.stderr[-300:] if done.returncode else ""


@contextmanager
def a_folder():
    """A folder that other accounts reach; pytest's own are closed to them."""
    with tempfile.TemporaryDirectory(prefix="hub-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)
