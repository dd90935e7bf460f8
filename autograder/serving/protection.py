"""Limits for every request before the application sees it, and headers for every reply."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from autograder.serving.people import NotAdmitted
from autograder.submissions.collect import LARGEST_NOTEBOOK

LARGEST_REQUEST = LARGEST_NOTEBOOK + 100_000  # bytes, including what a form adds
# Other forms are read before it is known who sends them, and what arrives is kept until the last byte of it.
LARGEST_FORM = 1_000_000
NOTEBOOKS = "/homework/"  # where those who are signed in send notebooks
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


class TooLarge(Exception):
    """A request larger than any notebook may be."""


class Protection:
    """Ends a request that is too large, and adds the headers of HEADERS to every reply.

    too_large: the page for a request to this path.
    """

    def __init__(self, app: ASGIApp, *, is_encrypted: bool, too_large: Callable[[str], str]) -> None:
        self.app, self.too_large = app, too_large
        hsts = {"strict-transport-security": "max-age=31536000"} if is_encrypted else {}
        self.headers = HEADERS | hsts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        size, has_begun, most = 0, False, largest(scope["path"])

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > most:
                raise TooLarge
            return message

        async def with_headers(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        said = dict(scope["headers"]).get(b"content-length", b"0")
        try:
            if not said.isdigit() or int(said) > most:
                raise TooLarge
            await self.app(scope, counted, with_headers)
        except ClientDisconnect:  # there is nobody to answer
            return
        except TooLarge:
            if has_begun:
                raise
            body = self.too_large(scope["path"]).encode()
            headers = [(b"content-type", b"text/html; charset=utf-8"), (b"connection", b"close")]
            await with_headers({"type": "http.response.start", "status": 413, "headers": headers})
            await send({"type": "http.response.body", "body": body})


def largest(path: str) -> int:
    """The most bytes of a request to this path."""
    return LARGEST_REQUEST if path.startswith(NOTEBOOKS) else LARGEST_FORM


def require_own_form(request: Request, token: object) -> None:
    """Raise NotAdmitted unless a form of this session's own pages sent the request."""
    own = request.session.get("csrf", "")
    if not own or not isinstance(token, str) or not secrets.compare_digest(own.encode(), token.encode()):
        raise NotAdmitted("This form is out of date. Go back, reload the page and try again.")
