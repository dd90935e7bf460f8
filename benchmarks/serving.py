"""A class hands in at `autograder serve`: how soon each student knows, and whether everything is kept.

    python benchmarks/serving.py [--homework NAME] [--students 300] [--minutes 5] [--kill] [--postgresql]

Simulated on this machine alone: every student signs in by an invitation, hands in once at a time drawn
uniformly, and reloads the page as browsers are told to. A student's turn begins when a judge is free: when
all earlier attempts have been judged but as many as the other judges have in hand, by the database's times.

`--kill` ends the grader, and then the whole server, with SIGKILL while the class hands in; a student who gets
no answer, or is told that the database is away, tries again. `--postgresql` keeps attempts and marks in a
PostgreSQL server of this run's own, which `--kill` ends too, for three seconds.

Ends with an error unless every attempt is kept once, every record and mark equals what `autograder grade`
finds for the same submissions, and 95 % of the class know within MOST_SECONDS, with at most MOST_BYTES.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import httpx2 as httpx
import psutil
from grading import ROOT
from nbgrader.api import Gradebook

from autograder.grading.capacity import capacity_here
from autograder.isolation import Limits
from autograder.marks.database import with_driver
from autograder.sample.demo import make_course
from autograder.sample.sample_class import hand_in_ordinary
from autograder.serving.attempts import Attempt, Attempts
from autograder.serving.people import Invitations, Person
from autograder.serving.run import database_url
from autograder.serving.settings import read_settings, secret_key
from autograder.source.loading import find

if TYPE_CHECKING:
    from postgresql_server import Server as DatabaseServer

SETTINGS = 'address = "http://127.0.0.1:{port}"\nhidden = "at once"\nseconds_between = 0.0\n'
RELOAD = re.compile(r'http-equiv="refresh" content="(\d+)(?:;url=([^"]*))?"')
FIELD = re.compile(r'type="hidden" name="(\w+)" value="([^"]*)"')
READY = "Ready. Isolation"  # says the grader
SECONDS_UNTIL_ANOTHER_TRY = 1.0
SECONDS_WITHOUT_A_DATABASE = 3.0
SECONDS_AFTER_THE_LAST = 300.0  # before a student who knows nothing yet counts as lost
FROM_HANDING_IN, FROM_THE_TURN = "from handing in to knowing", "from one's turn to knowing"
MOST_SECONDS = {FROM_HANDING_IN: 15.0, FROM_THE_TURN: 2.0}
MOST_BYTES = 4 << 30


@dataclass
class Player:
    """A student with a browser; times are seconds since 1970."""

    name: str
    notebook: Path
    link: str
    address: str
    at: float  # when this student hands in
    handed_in: float = 0.0
    turn: float = 0.0  # since when a judge has been free
    knew: float = 0.0

    async def play(self, homework: str, begin: float) -> None:
        await asyncio.sleep(max(0.0, begin + self.at - time.monotonic()))
        async with httpx.AsyncClient(base_url=self.address, follow_redirects=True, timeout=30) as browser:
            page, content = f"/homework/{homework}", self.notebook.read_bytes()
            await self.send(browser, self.link, "/join")
            self.handed_in = time.time()
            await self.send(browser, page, page, files={"notebook": (self.notebook.name, content)})
            while not self.knew:
                text = (await patiently(partial(browser.get, page))).text
                if (reload := RELOAD.search(text)) is None:
                    self.knew = time.time()
                else:
                    await asyncio.sleep(int(reload[1]))
                    page = urljoin(page, reload[2] or "")

    async def send(self, browser: httpx.AsyncClient, page: str, target: str, **more: dict) -> None:
        """Fill in the form of a page."""
        fields = dict(FIELD.findall((await patiently(lambda: browser.get(page))).text))
        answer = await patiently(lambda: browser.post(target, data=fields, **more))
        if answer.status_code != 200 and not answer.history and "has been used" not in answer.text:
            raise RuntimeError(f"{self.name}: {target} answers {answer.status_code}")


async def patiently(ask: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
    """Ask until there is an answer, as people do who read that the server or its database is away."""
    while True:
        with suppress(httpx.TransportError):
            answer = await ask()
            has_arrived = bool(answer.history)  # a form that leads to another page, even if that is away
            if answer.status_code != 503 or has_arrived:
                return answer
        await asyncio.sleep(SECONDS_UNTIL_ANOTHER_TRY)


@dataclass
class Server:
    """`autograder serve` in a separate process, and the most memory that it and its children held."""

    course: Path
    jobs: int  # how many judges it has
    database: DatabaseServer | None = None
    process: subprocess.Popen | None = None
    most_bytes: int = 0
    killed: list[str] = field(default_factory=list)

    def start(self) -> None:
        port = read_settings(self.course).address.rpartition(":")[2]
        words = [sys.executable, "-m", "autograder", "serve", f"--root={self.course}", f"--port={port}"]
        words += [f"--jobs={self.jobs}"]
        with open(self.course / "serve.log", "ab") as log:
            where = {"GRADEBOOK_URL": self.database.url} if self.database else {}
            self.process = subprocess.Popen(
                words, stdout=log, stderr=log, start_new_session=True, env=os.environ | where
            )

    def kill(self) -> None:
        assert self.process is not None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def kill_grader(self) -> None:
        assert self.process is not None
        psutil.Process(self.process.pid).children()[0].kill()

    async def watch_memory(self) -> None:
        while True:
            with suppress(psutil.Error):
                whole = psutil.Process(self.process.pid)
                family = [whole, *whole.children(recursive=True)]
                self.most_bytes = max(self.most_bytes, sum(map(share, family)))
            await asyncio.sleep(1.0)

    async def disturb(self, seconds: float) -> None:
        """End the grader after a quarter of the time, the database after half, the server after the third."""
        await asyncio.sleep(seconds / 4)
        self.kill_grader()
        self.killed.append("grader")
        await asyncio.sleep(seconds / 4)
        if self.database is not None:
            self.database.stop()
            self.database.process.wait()
            await asyncio.sleep(SECONDS_WITHOUT_A_DATABASE)
            await asyncio.to_thread(self.database.start)
            self.killed.append("database")
        await asyncio.sleep(seconds / 4)
        self.kill()
        self.start()
        self.killed.append("server")


def share(process: psutil.Process) -> int:
    """Bytes of memory; those that processes share are counted once."""
    with suppress(psutil.Error):
        return process.memory_full_info().pss
    return 0


def main() -> int:
    options = arguments()
    with ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory())
        database = stack.enter_context(a_database()) if options.postgresql else None
        course, apart = a_course(Path(scratch), options, database)
        players = class_of(course, options)
        server = Server(course, options.jobs, database)
        server.start()
        try:
            asyncio.run(hand_in_all(players, server, options))
            problems = differences(server, apart, players, options.homework)
            told = [player for player in players if player.knew]
            seconds = waited(told) if len(told) > 1 else {}
        finally:
            server.kill()
    problems += broken(seconds, server)
    print(table(seconds))
    killed = f", {' and '.join(server.killed)} killed meanwhile" if server.killed else ""
    print(f"{len(told)} of {len(players)} know; at most {server.most_bytes / 2**20:.0f} MB{killed}")
    print(*problems, sep="\n")
    return int(bool(problems))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--homework", default="hw1_language_models")
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=5.0)
    jobs = capacity_here().jobs(Limits())
    parser.add_argument("--jobs", type=int, default=jobs, help="submissions judged at the same time")
    parser.add_argument("--kill", action="store_true", help="end grader, database and server in the middle")
    parser.add_argument("--postgresql", action="store_true", help="keep attempts and marks in PostgreSQL")
    return parser.parse_args()


@contextmanager
def a_database():
    """A PostgreSQL server of this run's own."""
    sys.path.append(str(ROOT / "tests" / "autograder"))
    from postgresql_server import a_server

    with a_server() as server:
        yield server


def a_course(
    scratch: Path, options: argparse.Namespace, database: DatabaseServer | None
) -> tuple[Path, Path]:
    """A released course to be served, and a copy of it whose class was graded by `autograder grade`."""
    course, apart = scratch / "course", scratch / "apart"
    make_course(course, ROOT / "solutions" / options.homework, ROOT)
    shutil.copytree(course, apart)
    released = json.loads((course / "homeworks" / options.homework / f"{options.homework}.ipynb").read_text())
    hand_in_ordinary(find(options.homework, apart), released, apart / "submitted", options.students)
    grade = [sys.executable, "-m", "autograder", "grade", options.homework, "--submissions", "submitted"]
    subprocess.run(grade, cwd=apart, check=True, capture_output=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        settings = SETTINGS.format(port=probe.getsockname()[1])
    if database is not None:
        settings += f'database = "{database.url}"\n'
        release = [sys.executable, "-m", "autograder", "release", options.homework]
        subprocess.run([*release, "--gradebook", database.url], cwd=course, check=True, capture_output=True)
    (course / "serve.toml").write_text(settings)
    for path in (apart / "submitted").iterdir():
        (course / "theirs" / path.name).parent.mkdir(exist_ok=True)
        shutil.copytree(path, course / "theirs" / path.name)
    return course, apart


def class_of(course: Path, options: argparse.Namespace) -> list[Player]:
    """The players, in the order in which they hand in."""
    address, invitations = read_settings(course).address, Invitations(secret_key(course))
    draw = random.Random(0)
    players = [
        Player(
            path.name,
            path / options.homework / f"{options.homework}.ipynb",
            invitations.link(address, Person(path.name, False)),
            address,
            draw.uniform(0, 60 * options.minutes),
        )
        for path in sorted((course / "theirs").iterdir())
    ]
    return sorted(players, key=lambda player: player.at)


async def hand_in_all(players: list[Player], server: Server, options: argparse.Namespace) -> None:
    async with httpx.AsyncClient() as browser:
        await patiently(lambda: browser.get(players[0].address))
    while READY not in (server.course / "serve.log").read_text():
        await asyncio.sleep(SECONDS_UNTIL_ANOTHER_TRY)
    seconds, begin = 60 * options.minutes, time.monotonic()
    beside = [asyncio.create_task(server.watch_memory())]
    if options.kill:
        beside.append(asyncio.create_task(server.disturb(seconds)))
    played = asyncio.gather(*(player.play(options.homework, begin) for player in players))
    with suppress(TimeoutError):
        await asyncio.wait_for(played, seconds + SECONDS_AFTER_THE_LAST)
    for task in beside:
        if task.done():
            task.result()  # raises what went wrong in it
        task.cancel()


def differences(server: Server, apart: Path, players: list[Player], name: str) -> list[str]:
    """What is lost, counted twice, or different from the course that was graded in one go."""
    course = server.course
    attempts = Attempts(database_url(course, read_settings(course)))
    find_turns(players, [one for player in players for one in attempts.of(player.name, name)], server.jobs)
    problems = [f"{one.name} never got a verdict" for one in players if not one.knew]
    problems += [f"{one.name}: not 1 attempt" for one in players if len(attempts.of(one.name, name)) != 1]
    here = points(course, name, server.database.url if server.database else None)
    there = points(apart, name)
    problems += [
        f"{one}: {here.get(one)} here, {there[one]} there" for one in there if here.get(one) != there[one]
    ]
    return problems


def points(course: Path, name: str, url: str | None = None) -> dict[str, tuple]:
    """Each student's points in the record and in the gradebook, at this URL or in the course's folder."""
    with Gradebook(with_driver(url or f"sqlite:///{course}/gradebook.db")) as gradebook:
        marks = {one.student_id: one.score for one in gradebook.assignment_submissions(name)}
    records = {path.stem: json.loads(path.read_text()) for path in (course / "grades" / name).glob("*.json")}
    return {who: (record["points"], marks.get(who)) for who, record in records.items()}


def find_turns(players: list[Player], attempts: list[Attempt], jobs: int) -> None:
    """Enter since when one of so many judges has been free for each player's attempt."""
    earlier: list[float] = []  # when the attempts before this one were judged
    turns = {}
    for attempt in sorted(attempts, key=lambda one: one.number):
        arrived = seconds_of(attempt.time)
        free = sorted(earlier)[-jobs] if len(earlier) >= jobs else arrived
        turns[attempt.student] = max(arrived, free)
        earlier.append(seconds_of(attempt.judged or attempt.time))
    for player in players:
        player.turn = turns.get(player.name, 0.0)


def seconds_of(time: datetime) -> float:
    """The seconds since 1970 of a time in the database, which is in UTC."""
    return time.replace(tzinfo=UTC).timestamp()


def waited(told: list[Player]) -> dict[str, list[float]]:
    """The seconds that each student who knows a verdict has waited."""
    return {
        FROM_HANDING_IN: [one.knew - one.handed_in for one in told],
        FROM_THE_TURN: [one.knew - one.turn for one in told],
    }


def nineteen_of_twenty(seconds: list[float]) -> float:
    """The seconds within which 95 % know."""
    return statistics.quantiles(seconds, n=20, method="inclusive")[-1]


def broken(waited: dict[str, list[float]], server: Server) -> list[str]:
    """Which promises were not kept."""
    late = {what: nineteen_of_twenty(seconds) for what, seconds in waited.items()}
    problems = [
        f"{what}: 95 % within {late[what]:.1f} s, not {most:.0f} s"
        for what, most in MOST_SECONDS.items()
        if what in late and late[what] > most
    ]
    if server.most_bytes > MOST_BYTES:
        problems.append(f"{server.most_bytes / 2**20:.0f} MB were used, not {MOST_BYTES / 2**20:.0f} MB")
    return problems


def table(waited: dict[str, list[float]]) -> str:
    lines = [f"{'seconds':<30}{'median':>8}{'95 %':>8}{'most':>8}"]
    for what, seconds in waited.items():
        figures = statistics.median(seconds), nineteen_of_twenty(seconds), max(seconds)
        lines.append(f"{what:<30}" + "".join(f"{one:>8.1f}" for one in figures))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
