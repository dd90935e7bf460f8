"""A real Chromium with the network cut: only this machine answers."""

import functools
import http.server
import shutil
import sys
import threading
from pathlib import Path

import pytest
from course_in_lab import make_course
from lab_page import Lab, serve_lab

from autograder.website.site import make_site

ROOT = Path(__file__).parents[2]
sys.path.append(f"{ROOT}/tests/autograder")  # whose hostile words are shown here, too
sys.path.append(f"{ROOT}/tests/course/figures")  # whose models run here, too
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
REFUSED = "net::ERR_FAILED"  # how the browser reports a request that `answer` refused


def pytest_collection_modifyitems(items):
    """Everything in this folder needs a browser: `make browser` runs it, `make test` leaves it out."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium():
    """The browser; the tests are skipped where none is installed."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser is installed (looked for {', '.join(BROWSERS)})")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=SWITCHES)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def serve():
    """Serve a folder on this machine: serve(folder) → its address."""
    servers = []

    def start(folder):
        handler = functools.partial(Quiet, directory=str(folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Without a line for each request."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def site(chromium, tmp_path_factory):
    """The folder of the built site."""
    return make_site(ROOT, tmp_path_factory.mktemp("built") / "site").parent


@pytest.fixture(scope="session")
def address(site, serve):
    """Where the built site is served."""
    return serve(site)


def cut_off(browser, **settings):
    """An empty page; `page.asked` is what it asked others for, `page.faults` what the console reported."""
    page = browser.new_context(viewport={"width": 1000, "height": 800}, **settings).new_page()
    page.asked, page.faults = [], []

    def answer(route):
        address = route.request.url
        if address.startswith(("http://127.0.0.1", "data:", "blob:")):
            return route.continue_()
        page.asked.append(address)
        return route.abort()

    def note(message):
        if message.type == "error" and REFUSED not in message.text:
            page.faults.append(message.text)

    page.route("**/*", answer)
    page.on("console", note)
    page.on("pageerror", lambda error: page.faults.append(error.stack or str(error)))
    return page


@pytest.fixture(params=["light", "dark"])
def page(chromium, request):
    """An empty page in a light and in a dark browser."""
    page = cut_off(chromium, color_scheme=request.param)
    yield page
    page.context.close()


@pytest.fixture(scope="session")
def lab_course(chromium, tmp_path_factory):
    """A course with lectures, a released homework and submissions that the grader has graded."""
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed")
    return make_course(ROOT, tmp_path_factory.mktemp("lab") / "course")


@pytest.fixture(scope="session")
def lab_address(lab_course, tmp_path_factory):
    """Where JupyterLab serves that course, started by the command of `make lab`."""
    with serve_lab(ROOT / "Makefile", lab_course, tmp_path_factory.mktemp("home")) as address:
        yield address


@pytest.fixture
def lab(chromium, lab_course, lab_address):
    """JupyterLab in a fresh page."""
    page = cut_off(chromium)
    page.set_default_timeout(120_000)
    yield Lab(page, lab_address, lab_course)
    page.context.close()
