"""Sign-in with OpenID Connect, by Authlib: it checks issuer, audience, signature, expiry, state and nonce."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.starlette_client import OAuth
from joserfc.errors import JoseError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from autograder.serving.people import NotAdmitted, Person, name_of, see_other, sign_in
from autograder.serving.settings import OpenIDProvider, ServeSettings


class OpenID:
    """One provider, such as a university's. client: settings of its HTTP client, for tests."""

    label: str | None = "Sign in with your institution's account"
    path = "/sign-in/openid"

    def __init__(
        self,
        provider: OpenIDProvider,
        settings: ServeSettings,
        root: Path,
        client: Mapping[str, Any] | None = None,
    ) -> None:
        self.provider, self.settings = provider, settings
        self.oauth = OAuth()
        self.oauth.register(
            "provider",
            client_id=provider.client_id,
            client_secret=(root / provider.client_secret_file).read_text("utf-8").strip(),
            server_metadata_url=f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration",
            client_kwargs={
                "scope": "openid email profile",
                "code_challenge_method": "S256",
                **(client or {}),
            },
        )

    def routes(self) -> list[Route]:
        """The routes to the provider and back."""
        return [Route(self.path, self.go), Route(f"{self.path}/back", self.back)]

    async def go(self, request: Request) -> Response:
        """Send the browser to the provider."""
        back = f"{self.settings.address.rstrip('/')}{self.path}/back"
        return await self.oauth.provider.authorize_redirect(request, back)

    async def back(self, request: Request) -> Response:
        """Receive the browser from the provider, with a code that only this session can use."""
        try:
            token = await self.oauth.provider.authorize_access_token(request)
            claims = token["userinfo"]
        except (AuthlibBaseError, JoseError, KeyError) as problem:
            raise NotAdmitted(f"The provider did not sign you in ({type(problem).__name__}).") from None
        claim = claims.get(self.provider.claim)
        if not isinstance(claim, str) or (
            self.provider.claim == "email" and claims.get("email_verified") is False
        ):
            raise NotAdmitted("The provider does not say, or has not verified, who you are.")
        sign_in(request, Person(name_of(claim), claim in self.settings.staff))
        return see_other("/")
