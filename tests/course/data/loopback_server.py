"""A web server on this machine that misbehaves on request."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """Serves `contents` at every path and keeps the Range header of each request."""

    def __init__(self, contents: bytes) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.contents = contents
        self.status = 200
        self.has_range = True  # answers Range requests
        self.cut_after: list[int] = []  # the next answers break off after so many bytes
        self.ranges: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/file.txt"

    def __enter__(self) -> "Server":
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def do_GET(self) -> None:
        server: Server = self.server
        wanted = self.headers.get("Range")
        server.ranges.append(wanted)
        if server.status != 200:
            self.send_error(server.status)
            return
        first = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and server.has_range else 0
        if first and first >= len(server.contents):
            self.send_error(416)
            return
        body = server.contents[first:]
        self.send_response(206 if first else 200)
        if first:
            size = len(server.contents)
            self.send_header("Content-Range", f"bytes {first}-{size - 1}/{size}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: server.cut_after.pop(0)] if server.cut_after else body)

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""
