"""The settings in `serve.toml` in the course's folder, and the secret key beside it."""

from __future__ import annotations

import os
import secrets
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

FILE = "serve.toml"
KEY_FILE = "serve.key"
Hidden = Literal["after due", "at once", "never"]
PORT = 8000


class SettingsError(ValueError):
    """Invalid settings; the message says what to change."""


@dataclass(frozen=True)
class OpenIDProvider:
    """A provider where people sign in. claim: the provider's claim that names students in the gradebook."""

    issuer: str
    client_id: str
    client_secret_file: str
    claim: str = "email"


@dataclass(frozen=True)
class LTIPlatform:
    """A learning management system that students come from, with the values of its registration.

    claim: the claim that names students in the gradebook.
    """

    issuer: str
    client_id: str
    deployments: tuple[str, ...]
    login_url: str
    keys_url: str
    token_url: str
    claim: str = "email"


@dataclass(frozen=True)
class ServeSettings:
    """course: its name on the pages.

    address: where students reach it; https, unless it is this machine alone.
    staff: the names of people who may see the class. hidden: when hidden checks and points are shown.
    anonymous: whether written answers are marked without the students' names.
    """

    course: str = "Homework"
    address: str = f"http://127.0.0.1:{PORT}"
    staff: tuple[str, ...] = ()
    hidden: Hidden = "after due"
    seconds_between: float = 30.0
    each_hour: int = 6
    anonymous: bool = False
    database: str = ""
    openid: OpenIDProvider | None = None
    lti: tuple[LTIPlatform, ...] = ()

    @property
    def is_encrypted(self) -> bool:
        return self.address.startswith("https://")

    @property
    def port(self) -> int:
        """Where to listen unless told otherwise: as an address of this machine says; 8000 behind TLS."""
        return PORT if self.is_encrypted else urlsplit(self.address).port or PORT

    @property
    def host(self) -> str:
        return urlsplit(self.address).hostname or ""

    def address_at(self, port: int) -> str:
        """Where this machine reaches the website if it listens on this port; behind TLS, the address."""
        if self.is_encrypted or port == self.port:
            return self.address
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{port}"


def read_settings(root: Path) -> ServeSettings:
    """The settings of a course, or the default ones; raises SettingsError."""
    path = root / FILE
    try:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        said: dict[str, Any] = tomllib.loads(text)
        if unknown := sorted(said.keys() - {one.name for one in fields(ServeSettings)}):
            raise SettingsError(f"{path} has unknown settings: {', '.join(unknown)}.")
        openid = OpenIDProvider(**said.pop("openid")) if "openid" in said else None
        staff = tuple(said.pop("staff", ()))
        lti = tuple(
            LTIPlatform(**{**one, "deployments": tuple(one.get("deployments", ()))})
            for one in said.pop("lti", ())
        )
        found = ServeSettings(**said, staff=staff, openid=openid, lti=lti)
    except (tomllib.TOMLDecodeError, TypeError) as problem:
        raise SettingsError(f"{path} cannot be used: {problem}.") from None
    if found.hidden not in ("after due", "at once", "never"):
        raise SettingsError(f'{path}: hidden is "after due", "at once" or "never", not {found.hidden!r}.')
    if not found.is_encrypted and found.host not in ("127.0.0.1", "localhost", "::1"):
        raise SettingsError(
            f"{path}: the address {found.address} is neither https nor one of this machine alone. Put a "
            "server that speaks TLS in front, and state its address."
        )
    return found


def secret_key(root: Path) -> str:
    """The key that signs cookies and invitations, made on first use; changing it signs everyone out."""
    path = root / KEY_FILE
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return path.read_text(encoding="utf-8").strip()
    with open(handle, "w", encoding="utf-8") as file:
        file.write(secrets.token_urlsafe(48) + "\n")
    return path.read_text(encoding="utf-8").strip()
