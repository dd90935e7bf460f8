"""Sign-in from a learning management system by LTI 1.3, and the marks back to it.

Authlib's library joserfc reads and signs tokens; the rules of a launch are written out here, and
site/developers.md says why neither PyLTI1p3 nor its fork is used. Rules: IMS Security Framework 1.0, LTI 1.3
core, and Assignment and Grade Services 2.0.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit

import httpx2
from itsdangerous import BadSignature, URLSafeTimedSerializer
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import extract_compact
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from autograder.serving.line_items import SCORE, LineItem, LineItems
from autograder.serving.people import NotAdmitted, Person, name_of, see_other, sign_in
from autograder.serving.settings import LTIPlatform
from autograder.serving.tool_key import ToolKey

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
ENDPOINT = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
INSTRUCTOR = "http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"
COOKIE = "launch"
SECONDS_OF_A_LAUNCH = 600
SECONDS_OF_SKEW = 60  # allowed between two clocks
SECONDS_BETWEEN_KEYS = 60.0  # at least, before keys are fetched again


class Once(Protocol):
    """Remembers what has been used."""

    def use(self, key: str) -> bool: ...


@dataclass
class PlatformKeys:
    """The public keys of a platform, fetched again when it signs with an unknown one."""

    url: str
    client: httpx2.Client
    keys: KeySet = field(default_factory=lambda: KeySet([]))
    fetched: float = float("-inf")

    def known(self, kid: str) -> KeySet:
        """The keys, fetched again if none of them has this name."""
        there = any(key.kid == kid for key in self.keys.keys)
        if not there and time.monotonic() - self.fetched > SECONDS_BETWEEN_KEYS:
            self.fetched = time.monotonic()
            self.keys = KeySet.import_key_set(self.client.get(self.url).json())
        return self.keys


class LTI:
    """The platforms of a course. `label` is None: a launch begins at the platform."""

    label: str | None = None
    path = "/lti/login"

    def __init__(
        self,
        platforms: Sequence[LTIPlatform],
        address: str,
        key: str,
        once: Once,
        lines: LineItems,
        tool_key: ToolKey,
        client: httpx2.Client,
    ) -> None:
        self.platforms, self.address = platforms, address.rstrip("/")
        self.once, self.lines, self.tool_key = once, lines, tool_key
        self.signer = URLSafeTimedSerializer(key, salt="launch")
        self.keys = {one: PlatformKeys(one.keys_url, client) for one in platforms}

    def routes(self) -> list[Route]:
        """The addresses where a platform begins and ends a launch, and that of our public key."""
        return [
            Route(self.path, self.login, methods=["GET", "POST"]),
            Route("/lti/launch", self.launch, methods=["POST"]),
            Route("/lti/keys", self.public_key),
        ]

    def public_key(self, request: Request) -> Response:
        """The key with which we sign requests for a platform's tokens."""
        return JSONResponse(self.tool_key.public())

    async def login(self, request: Request) -> Response:
        """Send the browser back to the platform, with a state and a nonce that only this browser has."""
        said = request.query_params if request.method == "GET" else await request.form()
        platform = self.platform(said.get("iss"), said.get("client_id"))
        state, nonce = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        asked = {
            "scope": "openid",
            "response_type": "id_token",
            "response_mode": "form_post",
            "prompt": "none",
            "client_id": platform.client_id,
            "redirect_uri": f"{self.address}/lti/launch",
            "login_hint": str(said.get("login_hint", "")),
            "lti_message_hint": str(said.get("lti_message_hint", "")),
            "state": state,
            "nonce": nonce,
        }
        reply = see_other(f"{platform.login_url}?{urlencode(asked)}")
        content = [state, nonce, platform.issuer, platform.client_id]
        reply.set_cookie(
            COOKIE,
            self.signer.dumps(content),
            max_age=SECONDS_OF_A_LAUNCH,
            path="/lti",
            httponly=True,
            secure=True,
            samesite="none",  # the launch is a form sent from the platform's site
        )
        return reply

    async def launch(self, request: Request) -> Response:
        """Sign in the person whom the platform names, once, and only in the browser that began the launch."""
        form = await request.form(max_files=0, max_fields=20)
        try:
            found = self.signer.loads(request.cookies.get(COOKIE, ""), max_age=SECONDS_OF_A_LAUNCH)
        except BadSignature:
            raise NotAdmitted("This launch was begun in another browser, or too long ago.") from None
        state, nonce, issuer, client_id = found
        if not secrets.compare_digest(state.encode(), str(form.get("state", "")).encode()):
            raise NotAdmitted("This launch was not begun in this browser.")
        platform = self.platform(issuer, client_id)
        claims = await run_in_threadpool(self.claims, platform, str(form.get("id_token", "")), nonce)
        if not await run_in_threadpool(self.once.use, f"nonce {nonce}"):
            raise NotAdmitted("This launch has already been used.")
        person = person_of(claims, platform)
        homework = str((claims.get(f"{CLAIM}custom") or {}).get("homework", ""))
        if line := line_of(claims, platform):
            await run_in_threadpool(self.lines.keep, homework, person.name, line)
        sign_in(request, person)
        return see_other(f"/homework/{homework}" if homework else "/")

    def platform(self, issuer: object, client_id: object) -> LTIPlatform:
        """The platform of this issuer, and of this client if one is given; raises NotAdmitted."""
        found = [
            one for one in self.platforms if one.issuer == issuer and client_id in (None, "", one.client_id)
        ]
        if len(found) != 1:
            raise NotAdmitted("This platform is not one of the course's.")
        return found[0]

    def claims(self, platform: LTIPlatform, token: str, nonce: str) -> Mapping[str, Any]:
        """The claims of a token that this platform has signed for us and this launch; raises NotAdmitted."""
        try:
            kid = str(jwt_header(token).get("kid", ""))
            claims = jwt.decode(token, self.keys[platform].known(kid), algorithms=["RS256"]).claims
            require_valid(claims, platform, nonce)
        except (JoseError, httpx2.HTTPError, ValueError, KeyError, TypeError) as problem:
            raise NotAdmitted(f"The platform's token is not valid ({type(problem).__name__}).") from None
        return claims


def jwt_header(token: str) -> Mapping[str, Any]:
    """The header of a token, not verified; raises ValueError."""
    return extract_compact(token.encode()).headers()


def require_valid(claims: Mapping[str, Any], platform: LTIPlatform, nonce: str) -> None:
    """Raise NotAdmitted unless these claims are valid now and belong to a launch that we began."""
    now = time.time()
    audience = claims.get("aud")
    audience = audience if isinstance(audience, list) else [audience]
    party = claims.get("azp")
    rules = {
        "issuer": claims.get("iss") == platform.issuer,
        "audience": platform.client_id in audience,
        "authorized party": party == platform.client_id if party or len(audience) > 1 else True,
        "time": float(claims["exp"]) > now - SECONDS_OF_SKEW and not_yet(claims) < now + SECONDS_OF_SKEW,
        "age": float(claims["iat"]) > now - SECONDS_OF_A_LAUNCH - SECONDS_OF_SKEW,
        "nonce": secrets.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()),
        "version": claims.get(f"{CLAIM}version") == "1.3.0",
        "message": claims.get(f"{CLAIM}message_type") == "LtiResourceLinkRequest",
        "deployment": claims.get(f"{CLAIM}deployment_id") in platform.deployments,
        "subject": isinstance(claims.get("sub"), str) and bool(claims["sub"]),
    }
    if broken := [name for name, holds in rules.items() if not holds]:
        raise NotAdmitted(f"The platform's token is not valid: {', '.join(broken)}.")


def not_yet(claims: Mapping[str, Any]) -> float:
    """The time from which a token is valid."""
    return max(float(claims["iat"]), float(claims.get("nbf", 0)))


def person_of(claims: Mapping[str, Any], platform: LTIPlatform) -> Person:
    """The person of a launch, by the claim that names students in the gradebook."""
    claim = claims.get(platform.claim)
    if not isinstance(claim, str):
        raise NotAdmitted(f"The platform does not send {platform.claim}, which names students here.")
    return Person(name_of(claim), INSTRUCTOR in (claims.get(f"{CLAIM}roles") or ()))


def line_of(claims: Mapping[str, Any], platform: LTIPlatform) -> LineItem | None:
    """The student's line item; None if the platform accepts no marks, or names another host."""
    endpoint = claims.get(ENDPOINT) or {}
    url = endpoint.get("lineitem")
    if not isinstance(url, str) or SCORE not in (endpoint.get("scope") or ()):
        return None
    if urlsplit(url)[:2] != urlsplit(platform.token_url)[:2]:
        return None
    return LineItem(platform.issuer, platform.client_id, str(claims["sub"]), url)
