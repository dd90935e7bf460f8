"""A hub with two courses for a test: real JupyterHub, real proxy, real servers; and people who use it."""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import requests
from grading import NAME, new_course

PROXY = "configurable-http-proxy"
COURSES = {  # name → its students and its staff
    "first": (("ada", "bob"), ("prof",)),
    "second": (("bob", "cleo"), ("dean",)),
}
PATIENCE = 240.0  # seconds; a loaded machine starts a server slowly
EVERYBODYS = """
c = get_config()
c.Exchange.root = "{folder}/exchange"
c.Exchange.path_includes_course = True
c.Authenticator.plugin_class = "nbgrader.auth.JupyterHubAuthPlugin"
"""
# nbgrader names a student by the system account, which is the same for all here.
STUDENTS = """
import os
c = get_config()
c.CourseDirectory.student_id = os.environ["JUPYTERHUB_USER"]
"""
OF_A_SERVICE = """
import os
c = get_config()
c.ServerApp.root_dir = os.getcwd()
c.ServerApp.jpserver_extensions = {"nbgrader.server_extensions.formgrader": True}
c.ServerApp.tornado_settings = {"headers": {"Content-Security-Policy": "frame-ancestors 'self'"}}
"""


def proxy_in(folder):
    """The program, installed here by npm if it is nowhere; or a sentence that says why there is none."""
    if found := shutil.which(PROXY):
        return Path(found), ""
    if (npm := shutil.which("npm")) is None:
        return None, f"neither {PROXY} nor npm is installed"
    words = [npm, "install", "--prefix", str(folder), "--ignore-scripts", "--no-audit", "--no-fund", PROXY]
    done = subprocess.run(words, capture_output=True, text=True)
    path = folder / "node_modules" / ".bin" / PROXY
    return (path, "") if path.is_file() else (None, f"npm could not install {PROXY}: {done.stderr[-300:]}")


def free_ports(count):
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


@dataclass
class Course:
    """A course and its grader, who has an account of the hub, but no server: they type into a terminal."""

    hub: "Hub"
    name: str
    folder: Path
    token: str

    @property
    def grader(self):
        return f"grader-{self.name}"

    @property
    def environment(self):
        return self.hub.environment | {
            "HOME": str(self.hub.home(self.grader)),
            "COURSE_ID": self.name,
            "EXCHANGE_ROOT": f"{self.hub.folder}/exchange",
            "JUPYTER_CONFIG_PATH": f"{self.hub.folder}/etc",
            "JUPYTERHUB_USER": self.grader,
            "JUPYTERHUB_API_TOKEN": self.token,
            "JUPYTERHUB_API_URL": f"http://127.0.0.1:{self.hub.ports[1]}/hub/api",
        }

    def type(self, module, *words):
        """Run a command in the course's folder, which must end well; what it says."""
        done = subprocess.run(
            self.hub.words_of(self.grader, [sys.executable, "-m", module, *words]),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    @contextmanager
    def watching(self):
        """`autograder watch submitted/`, until the end of this block."""
        (self.folder / "submitted").mkdir(exist_ok=True)
        self.hub.give_to(self.grader, self.folder / "submitted")
        watch = [sys.executable, "-m", "autograder", "watch", "submitted", "--jobs", "1"]
        words = self.hub.words_of(self.grader, watch)
        with (
            open(self.folder / "watch.log", "ab") as log,
            subprocess.Popen(words, cwd=self.folder, env=self.environment, stdout=log, stderr=log) as process,
        ):
            try:
                yield process
            finally:
                process.send_signal(signal.SIGINT)


@dataclass
class Hub:
    """The hub in a process of its own. All people, and the graders, share the account of the test."""

    has_accounts = False

    folder: Path
    proxy: Path
    ports: list[int] = field(default_factory=lambda: free_ports(3 + len(COURSES)))
    courses: dict[str, Course] = field(default_factory=dict)
    process: subprocess.Popen | None = None

    @property
    def address(self):
        return f"http://127.0.0.1:{self.ports[0]}"

    @property
    def environment(self):
        """Nobody's settings, and the programs beside this Python."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
        path = os.pathsep.join([str(Path(sys.executable).parent), kept["PATH"]])
        return kept | {"PATH": path, "HUB_OF_A_TEST": f"{self.folder}/hub.json", "PYTHONSAFEPATH": "1"}

    def words_of(self, person, words):
        """The command as this person gives it."""
        return words

    def give_to(self, person, folder):
        """Make it theirs."""

    def home(self, person):
        return self.folder / "homes" / person

    def prepare(self, monkeypatch):
        """Two courses with the same homework, an exchange that all can write, and homes."""
        for name in ("exchange", "etc", "students", "homes"):
            (self.folder / name).mkdir()
        (self.folder / "students" / "nbgrader_config.py").write_text(STUDENTS)
        (self.folder / "exchange").chmod(0o777)
        (self.folder / "etc" / "nbgrader_config.py").write_text(EVERYBODYS.format(folder=self.folder))
        (self.folder / "service_config.py").write_text(OF_A_SERVICE)
        said = {}
        for port, (name, (students, staff)) in zip(self.ports[3:], COURSES.items(), strict=True):
            with monkeypatch.context() as patch:
                patch.setenv("COURSE_ID", name)
                course = Course(self, name, new_course(self.folder / name), secrets.token_hex(16))
            self.courses[name] = course
            said[name] = {
                "folder": str(course.folder),
                "port": port,
                "token": course.token,
                "students": students,
                "staff": staff,
            }
            for person in (*students, *staff, course.grader):
                self.home(person).mkdir(exist_ok=True)
        places = {"folder": str(self.folder), "proxy": str(self.proxy), "ports": self.ports[:3]}
        about = places | {"courses": said, "has_accounts": self.has_accounts}
        (self.folder / "hub.json").write_text(json.dumps(about))

    @contextmanager
    def running(self):
        settings = Path(__file__).with_name("jupyterhub_config.py")
        words = self.words_of("root", [sys.executable, "-m", "jupyterhub", "-f", str(settings)])
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                words, cwd=self.folder, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )
        try:
            self.wait_until(lambda: requests.get(f"{self.address}/hub/health", timeout=5).ok)
            yield self
        finally:
            self.process.terminate()  # which ends the proxy, the services and everybody's servers first
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(PATIENCE / 2)
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    @property
    def log(self):
        return self.folder / "hub.log"

    def said(self):
        """The end of the hub's log, without the proxy's complaints that it cannot reach the hub yet."""
        lines = self.log.read_text().splitlines()
        return "\n".join(line for line in lines if line.startswith(("[", "    ")) and "xsrf" not in line)[
            -5000:
        ]

    def wait_until(self, is_so):
        deadline = time.monotonic() + PATIENCE
        while True:
            with suppress(requests.ConnectionError, requests.Timeout):
                if is_so():
                    return
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < deadline, self.said()
            time.sleep(1.0)


class Person(requests.Session):
    """Somebody with a browser, who signs in to the hub."""

    def __init__(self, hub, name):
        super().__init__()
        self.hub, self.name = hub, name
        self.get(f"{hub.address}/hub/login")
        fields = {"username": name, "password": "any", "_xsrf": self.xsrf("/hub/")}
        done = self.post(f"{hub.address}/hub/login?next=/hub/home", data=fields)
        assert done.url.endswith("/hub/home"), (done.url, done.text[:2000])

    def xsrf(self, path):
        return next(one.value for one in self.cookies if one.name == "_xsrf" and one.path == path)

    def start_server(self):
        """Start one's own server, and wait for it; the way to it leads through the hub's sign-in."""
        self.get(f"{self.hub.address}/hub/spawn/{self.name}")
        own = f"{self.hub.address}/user/{self.name}"

        def is_there():
            there = self.get(f"{own}/lab")
            return there.ok and there.url.startswith(f"{own}/lab")

        self.hub.wait_until(is_there)

    def ask(self, method, path, **more):
        """A request to one's own server, as its pages make it; the JSON of the reply."""
        own = f"/user/{self.name}/"
        headers = {"X-XSRFToken": self.xsrf(own)}
        done = self.request(
            method, f"{self.hub.address}{own}{path}", headers=headers, timeout=PATIENCE, **more
        )
        assert done.ok, (done.status_code, done.text[:2000])
        return done.json()

    def assignment(self, action, course):
        """What a button of Assignment List does."""
        said = self.ask("POST", f"assignments/{action}", data={"course_id": course, "assignment_id": NAME})
        assert said["success"], said
        return said["value"]

    def notebook(self, course):
        return f"api/contents/{course}/{NAME}/{NAME}.ipynb"
