"""The key with which the course signs requests for a learning management system's tokens."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

FILE = "serve-lti.pem"
BITS = 2048
SECONDS = 60


@dataclass(frozen=True)
class ToolKey:
    """An RSA key of the course's own."""

    key: RSAKey

    def public(self) -> dict[str, Any]:
        """The public key set that platforms fetch."""
        return dict(KeySet([self.key]).as_dict(private=False))

    def assertion(self, client_id: str, audience: str) -> str:
        """A statement to a platform's token server that says who we are, valid once and for a minute."""
        now = int(time.time())
        claims = {"iss": client_id, "sub": client_id, "aud": audience, "iat": now, "exp": now + SECONDS}
        header = {"alg": "RS256", "kid": self.key.kid, "typ": "JWT"}
        return jwt.encode(header, {**claims, "jti": secrets.token_urlsafe(16)}, self.key)


def tool_key(root: Path) -> ToolKey:
    """The key of a course, made on first use, in a file that only this account can read."""
    path = root / FILE
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        pass
    else:
        with open(handle, "wb") as file:
            file.write(RSAKey.generate_key(BITS).as_pem(private=True))
    key = RSAKey.import_key(path.read_bytes(), {"use": "sig", "alg": "RS256"})
    key.ensure_kid()
    return ToolKey(key)
