"""Sign-in by OpenID Connect, against a provider that the tests play."""

import time
from urllib.parse import parse_qs, urlsplit

import httpx2 as httpx
import pytest
from doors import ADDRESS, NAME, Browser, new_door
from signers import new_key, public, signed, signed_with_public_key, times, unsigned
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from autograder.serving.openid import OpenID
from autograder.serving.settings import OpenIDProvider, ServeSettings

ISSUER = "http://provider.test"
KEY, OTHER = new_key(), new_key("other")


class Provider:
    """Says who signs in: honestly, unless a test changes its claims or how it signs."""

    def __init__(self):
        self.claims, self.sign, self.codes, self.used = {}, lambda claims: signed(claims, KEY), {}, 0

    def app(self):
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self.metadata),
                Route("/keys", lambda request: JSONResponse(public(KEY))),
                Route("/token", self.token, methods=["POST"]),
            ]
        )

    def metadata(self, request):
        paths = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
        return JSONResponse(
            {name: f"{ISSUER}/{path}" for name, path in paths.items()}
            | {"issuer": ISSUER, "id_token_signing_alg_values_supported": ["RS256"]}
        )

    async def token(self, request):
        form = await request.form()
        if form["code"] not in self.codes or not form.get("code_verifier"):
            return JSONResponse({"error": "invalid_grant"}, 400)
        nonce = self.codes.pop(form["code"])
        whole = {"iss": ISSUER, "aud": "course", "sub": "7", "nonce": nonce, "email": "ada@uni.edu"}
        token = self.sign(whole | times() | self.claims)
        return JSONResponse({"access_token": "a", "token_type": "Bearer", "id_token": token})


@pytest.fixture
def provider():
    return Provider()


@pytest.fixture
def door(tmp_path, provider):
    (tmp_path / "secret").write_text("s3cret\n")
    settings = ServeSettings(address=ADDRESS, staff=("prof@uni.edu",))
    at = OpenIDProvider(ISSUER, "course", "secret")
    transport = httpx.ASGITransport(app=provider.app())
    return new_door(tmp_path, [OpenID(at, settings, tmp_path, {"transport": transport})])


def go(browser, provider):
    """As far as the provider; the query with which it sends the browser back."""
    there = browser.get("/sign-in/openid", follow_redirects=False)
    asked = {name: value[0] for name, value in parse_qs(urlsplit(there.headers["location"]).query).items()}
    assert asked["code_challenge_method"] == "S256"
    assert asked["redirect_uri"] == f"{ADDRESS}/sign-in/openid/back"
    provider.codes["code"] = asked["nonce"]
    return {"code": "code", "state": asked["state"]}


def back(browser, query):
    return browser.get("/sign-in/openid/back", params=query)


def test_who_signs_in_is_whom_the_provider_names(door, provider):
    browser = Browser(door)
    assert "Sign in with" in browser.get("/").text
    assert ">ada@uni.edu<" in back(browser, go(browser, provider)).text
    assert browser.get(f"/class/{NAME}").status_code == 403


def test_staff_are_those_of_the_settings(door, provider):
    provider.claims = {"email": "prof@uni.edu"}
    browser = Browser(door)
    back(browser, go(browser, provider))
    assert browser.get(f"/class/{NAME}").status_code == 200


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "http://other.test"},
        {"aud": "another course"},
        {"aud": ["course", "another"], "azp": "another"},
        {"nonce": "another"},
        {"exp": int(time.time()) - 4000},
        {"email_verified": False},
        {"email": None},
    ],
    ids=["issuer", "audience", "azp", "nonce", "expired", "not verified", "nobody"],
)
def test_a_token_that_is_not_for_us_now_signs_nobody_in(door, provider, claims):
    provider.claims = claims
    refuse(door, provider)


@pytest.mark.parametrize(
    "sign",
    [
        unsigned,
        lambda claims: signed_with_public_key(claims, KEY),
        lambda claims: signed(claims, OTHER),
        lambda claims: signed(claims, OTHER, kid="first"),
    ],
    ids=["none", "HS256", "unknown key", "another key"],
)
def test_a_token_that_the_provider_did_not_sign_signs_nobody_in(door, provider, sign):
    provider.sign = sign
    refuse(door, provider)


def refuse(door, provider):
    browser = Browser(door)
    assert back(browser, go(browser, provider)).status_code == 403
    assert browser.get(f"/homework/{NAME}").status_code == 403


def test_another_browser_and_a_second_time_are_refused(door, provider):
    browser, other = Browser(door), Browser(door)
    query = go(browser, provider)
    assert back(other, query).status_code == 403
    assert back(browser, query | {"state": "made up"}).status_code == 403
    again = Browser(door)
    query = go(again, provider)
    assert back(again, query).status_code == 200
    assert back(again, query).status_code == 403
