"""The ways to sign in that the settings name, besides invitations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.serving.attempts import Attempts
from autograder.serving.people import SignIn
from autograder.serving.settings import ServeSettings, secret_key

SECONDS_TO_ANSWER = 10.0  # for a platform


def ways_of(settings: ServeSettings, root: Path, attempts: Attempts) -> Sequence[SignIn]:
    """Each way to sign in, ready for use."""
    return list(_ways(settings, root, attempts))


def _ways(settings: ServeSettings, root: Path, attempts: Attempts) -> Iterator[SignIn]:
    if settings.openid is not None:
        from autograder.serving.openid import OpenID

        yield OpenID(settings.openid, settings, root)
    if settings.lti:
        import httpx2

        from autograder.serving.line_items import LineItems
        from autograder.serving.lti import LTI
        from autograder.serving.tool_key import tool_key

        yield LTI(
            settings.lti,
            settings.address,
            secret_key(root),
            attempts,
            LineItems(attempts.engine),
            tool_key(root),
            httpx2.Client(timeout=SECONDS_TO_ANSWER),
        )
