"""People who are signed in, and ways to sign in: an interface, and one-time invitations."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from autograder.collecting.attempt import student_id

SECONDS_OF_AN_INVITATION = 60 * 86_400
SECONDS_OF_A_SESSION = 60 * 86_400  # since the last visit; for staff, since they signed in


@dataclass(frozen=True)
class Person:
    """A person, named as in the gradebook; staff may see the class."""

    name: str
    is_staff: bool = False


class SignIn(Protocol):
    """A way to sign in. `label` is the text of its button; None shows no button."""

    label: str | None
    path: str

    def routes(self) -> list[Route]:
        """Its routes; one of them ends by calling `sign_in`."""


class NoSuchName(ValueError):
    """A name that cannot be a student's; the message suggests one that can."""


class NotAdmitted(PermissionError):
    """A person cannot be signed in, or may not do this; the message says why."""


def sign_in(request: Request, person: Person) -> None:
    """Begin a new session, without anything from an earlier one."""
    request.session.clear()
    request.session.update(
        name=person.name, is_staff=person.is_staff, since=int(time.time()), csrf=secrets.token_urlsafe(16)
    )


def signed_in(request: Request) -> Person | None:
    """The person who sent this request.

    Each visit renews the session but not the right to see the class, which ends sixty days after signing in.
    """
    name, since = request.session.get("name"), request.session.get("since", 0)
    is_staff = request.session.get("is_staff") and time.time() < since + SECONDS_OF_A_SESSION
    return Person(name, bool(is_staff)) if name else None


def name_of(claim: str) -> str:
    """The student's name for a platform's claim.

    It is the claim itself if that can be a folder's name; otherwise a simplified form with a digest, so that
    no two claims become one student. Raises NoSuchName for an empty claim.
    """
    if not claim.strip():
        raise NoSuchName("The platform does not say who signs in.")
    plain = student_id(claim)
    return plain if plain == claim else f"{plain}-{hashlib.sha256(claim.encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class Invitations:
    """Links that sign in one person, once; each contains the person's name and a signature."""

    key: str

    def link(self, address: str, person: Person) -> str:
        """A new link."""
        if name_of(person.name) != person.name:
            raise NoSuchName(f"{person.name!r} cannot be a student's name; {name_of(person.name)!r} could.")
        said = {"name": person.name, "staff": person.is_staff, "once": secrets.token_urlsafe(12)}
        return f"{address.rstrip('/')}/join/{self._signer.dumps(said)}"

    def read(self, token: str) -> tuple[Person, str]:
        """The person of an invitation, and the key that marks it as used; raises NotAdmitted."""
        try:
            said = self._signer.loads(token, max_age=SECONDS_OF_AN_INVITATION)
        except BadSignature:
            raise NotAdmitted("This invitation is not valid, or too old. Ask for a new one.") from None
        return Person(said["name"], said["staff"]), f"invitation {said['once']}"

    @property
    def _signer(self) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self.key, salt="invitation")


def see_other(path: str) -> Response:
    """Redirect to an address, with GET."""
    return Response(status_code=303, headers={"location": path})


def invitations_as_csv(invitations: Invitations, address: str, people: Iterable[Person]) -> str:
    """A line for each person: name,link."""
    lines = (f"{person.name},{invitations.link(address, person)}" for person in people)
    return "\n".join(["student,link", *lines]) + "\n"
