"""The two processes of `autograder serve`: one answers requests, the other grades."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.extras import needs
from autograder.isolation.confinement import die_with_parent
from autograder.reporting.feedback import AFTER_DUE, NEVER
from autograder.serving.attempts import Attempts
from autograder.serving.inbox import AttemptInbox
from autograder.serving.settings import ServeSettings, read_settings, secret_key
from autograder.submissions.collect import SUBMITTED
from autograder.watching.watch import watch

SECONDS_UNTIL_RESTART = 2.0


def database_url(root: Path, settings: ServeSettings) -> str:
    """The URL of the database of attempts: from the settings, or a file in the course's folder."""
    return settings.database or f"sqlite:///{(root / 'serve.db').resolve()}"


def grade_attempts(
    root: Path,
    homeworks: Sequence[str],
    *,
    jobs: int | None,
    isolation: str,
    dask: str | None,
    gradebook: str | None,
    say: Callable[[str], None],
) -> None:
    """Grade attempts until this process is ended."""
    settings = read_settings(root)
    attempts = Attempts(database_url(root, settings))
    later = NEVER if settings.hidden == "never" else AFTER_DUE
    inbox = AttemptInbox(attempts, root / SUBMITTED, root / "grades", later)
    watch(inbox, homeworks, root, jobs=jobs, isolation=isolation, dask=dask, gradebook=gradebook, say=say)


def serve_pages(root: Path, homeworks: Sequence[str], host: str, port: int) -> None:
    """Answer requests until this process is asked to end."""
    with needs("uvicorn", "serve"):
        import uvicorn
    with needs("starlette", "serve"):
        from autograder.serving.app import Door
    from autograder.serving.ways import ways_of

    settings, key = read_settings(root), secret_key(root)
    attempts = Attempts(database_url(root, settings))
    door = Door(root, settings, attempts, key, homeworks, ways_of(settings, root, attempts))
    uvicorn.run(
        door.app(), host=host, port=port, log_level="warning", proxy_headers=False, server_header=False
    )


@dataclass
class Grader:
    """The grading process, which is restarted whenever it ends, and ends with this one."""

    words: Sequence[str]
    has_ended: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Grader:
        self.thread = threading.Thread(target=self._keep, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.has_ended.set()
        self.thread.join()

    def _keep(self) -> None:
        """Start it and wait for it in one thread: a child that ends with its parent ends with that thread."""
        while not self.has_ended.is_set():
            words = [sys.executable, "-P", "-m", "autograder", *self.words]
            with subprocess.Popen(words, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent) as process:
                while process.poll() is None and not self.has_ended.wait(0.1):
                    pass
                process.terminate()
            self.has_ended.wait(SECONDS_UNTIL_RESTART)
