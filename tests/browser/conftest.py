"""A real Chromium with the network cut: only this machine answers."""

import functools
import http.server
import shutil
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]


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


@pytest.fixture(params=["light", "dark"])
def page(chromium, request):
    """An empty page in a light and in a dark browser; what it asked others for is in `page.asked`."""
    context = chromium.new_context(color_scheme=request.param, viewport={"width": 1000, "height": 800})
    page = context.new_page()
    page.asked, page.faults = [], []

    def answer(route):
        address = route.request.url
        if address.startswith(("http://127.0.0.1", "data:", "blob:")):
            return route.continue_()
        page.asked.append(address)
        return route.abort()

    page.route("**/*", answer)
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    yield page
    context.close()
