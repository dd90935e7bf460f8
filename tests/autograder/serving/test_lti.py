"""Launches of LTI 1.3 and marks back, against a platform that the tests play."""

import time
from urllib.parse import parse_qs, urlsplit

import pytest
from doors import KEY as SECRET
from doors import NAME, Browser, new_door
from signers import new_key, public, signed, signed_with_public_key, times, unsigned, verified
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from autograder.marks.exports.marks import Mark
from autograder.serving.attempts import Attempts
from autograder.serving.line_items import SCORE, LineItems, Sender, scores_url
from autograder.serving.lti import CLAIM, ENDPOINT, INSTRUCTOR, LTI, PlatformKeys
from autograder.serving.settings import LTIPlatform
from autograder.serving.tool_key import tool_key

ISSUER = "https://lms.test"
ADDRESS = "https://hand-in.test"
PLATFORM = LTIPlatform(ISSUER, "course", ("d1", "d2"), f"{ISSUER}/auth", f"{ISSUER}/keys", f"{ISSUER}/token")
KEY, OTHER = new_key(), new_key("other")
BASE = {
    "iss": ISSUER,
    "aud": "course",
    "sub": "77",
    "email": "ada@uni.edu",
    f"{CLAIM}version": "1.3.0",
    f"{CLAIM}message_type": "LtiResourceLinkRequest",
    f"{CLAIM}deployment_id": "d1",
    f"{CLAIM}custom": {"homework": NAME},
    ENDPOINT: {"scope": [SCORE], "lineitem": f"{ISSUER}/lines/5?type=x"},
}


class LMS:
    """A platform: its keys, its tokens, and the scores that it was sent."""

    def __init__(self, tool):
        self.tool, self.keys, self.scores, self.status, self.asked = tool, [KEY], [], 200, 0

    def client(self):
        routes = [
            Route("/keys", lambda request: JSONResponse(public(*self.keys))),
            Route("/token", self.token, methods=["POST"]),
            Route("/lines/5/scores", self.score, methods=["POST"]),
        ]
        return TestClient(Starlette(routes=routes), base_url=ISSUER)

    async def token(self, request):
        form = await request.form()
        claims = verified(form["client_assertion"], self.tool.public(), f"{ISSUER}/token")
        assert claims["iss"] == claims["sub"] == "course"
        assert claims["exp"] - time.time() < 100
        assert form["scope"] == SCORE
        self.asked += 1
        return JSONResponse({"access_token": "t0ken"})

    async def score(self, request):
        assert request.headers["authorization"] == "Bearer t0ken"
        assert request.headers["content-type"] == "application/vnd.ims.lis.v1.score+json"
        if self.status == 200:
            self.scores.append((dict(request.query_params), await request.json()))
        return JSONResponse({}, self.status)


@pytest.fixture
def lms(tmp_path):
    return LMS(tool_key(tmp_path))


@pytest.fixture
def door(tmp_path, lms):
    attempts = Attempts(f"sqlite:///{tmp_path}/serve.db")
    lines = LineItems(attempts.engine)
    way = LTI([PLATFORM], ADDRESS, SECRET, attempts, lines, lms.tool, lms.client())
    return new_door(tmp_path, [way], address=ADDRESS)


class Launched(Browser):
    """A browser that comes from the platform."""

    def __init__(self, door):
        super().__init__(door, ADDRESS)

    def begin(self, **changes):
        """As far as the platform: what we ask it."""
        said = {
            "iss": ISSUER,
            "login_hint": "77",
            "client_id": "course",
            "target_link_uri": ADDRESS,
        } | changes
        there = self.post("/lti/login", data=said, follow_redirects=False)
        if there.status_code != 303:
            return there
        return {name: one[0] for name, one in parse_qs(urlsplit(there.headers["location"]).query).items()}

    def end(self, asked, claims=None, sign=lambda claims: signed(claims, KEY), **changes):
        """Back with a token, which is spoiled by changes of its claims or of how it is signed."""
        token = sign(BASE | times() | {"nonce": asked["nonce"]} | (claims or {}))
        return self.post("/lti/launch", data={"state": asked["state"], "id_token": token} | changes)


def test_who_is_launched_is_signed_in_and_sees_the_homework(door):
    browser = Launched(door)
    asked = browser.begin()
    assert asked["redirect_uri"] == f"{ADDRESS}/lti/launch"
    assert (asked["response_type"], asked["response_mode"]) == ("id_token", "form_post")
    page = browser.end(asked)
    assert (page.status_code, page.url.path) == (200, f"/homework/{NAME}")
    assert ">ada@uni.edu<" in page.text
    assert browser.get(f"/class/{NAME}").status_code == 403


def test_an_instructor_there_is_staff_here(door):
    browser = Launched(door)
    browser.end(browser.begin(), {f"{CLAIM}roles": [INSTRUCTOR]})
    assert browser.get(f"/class/{NAME}").status_code == 200


NOW = int(time.time())
SPOILED = {
    "audience": {"aud": "another"},
    "issuer": {"iss": "https://other.test"},
    "azp of another tool": {"aud": ["course", "another"], "azp": "another"},
    "two audiences and no azp": {"aud": ["course", "another"]},
    "azp alone": {"azp": "another"},
    "deployment": {f"{CLAIM}deployment_id": "d3"},
    "no deployment": {f"{CLAIM}deployment_id": None},
    "nonce": {"nonce": "another"},
    "expired": {"exp": NOW - 3600},
    "never expires": {"exp": None},
    "in the future": {"iat": NOW + 3600, "exp": NOW + 7200},
    "not before": {"nbf": NOW + 3600},
    "old": {"iat": NOW - 36_000},
    "version": {f"{CLAIM}version": "1.1"},
    "message": {f"{CLAIM}message_type": "LtiDeepLinkingRequest"},
    "nobody": {"sub": ""},
    "no name": {"email": None},
    "a list for a name": {"email": ["ada@uni.edu"]},
}


@pytest.mark.parametrize("claims", SPOILED.values(), ids=SPOILED)
def test_a_token_that_is_not_for_this_launch_is_refused(door, claims):
    browser = Launched(door)
    assert browser.end(browser.begin(), claims).status_code == 403
    assert browser.get(f"/homework/{NAME}").status_code == 403


SIGNED = {
    "alg none": unsigned,
    "HS256 with the public key": lambda claims: signed_with_public_key(claims, KEY),
    "a key the platform does not have": lambda claims: signed(claims, OTHER),
    "another key by the platform's name": lambda claims: signed(claims, OTHER, kid=KEY.kid),
    "RS512": lambda claims: signed(claims, KEY, alg="RS512"),
    "no token": lambda claims: "x.y.z",
    "changed": lambda claims: signed(claims, KEY)[:-8] + "AAAAAAAA",
}


@pytest.mark.parametrize("sign", SIGNED.values(), ids=SIGNED)
def test_a_token_that_the_platform_did_not_sign_is_refused(door, sign):
    browser = Launched(door)
    assert browser.end(browser.begin(), sign=sign).status_code == 403
    assert browser.get(f"/homework/{NAME}").status_code == 403


def test_the_same_token_a_second_time_is_refused(door):
    browser = Launched(door)
    asked = browser.begin()
    assert browser.end(asked).status_code == 200
    assert browser.end(asked).status_code == 403


def test_another_browser_another_state_and_another_platform_are_refused(door):
    browser, other = Launched(door), Launched(door)
    asked = browser.begin()
    assert other.end(asked).status_code == 403
    other.begin()
    assert other.end(asked).status_code == 403
    assert browser.end(asked, state="made up").status_code == 403
    assert browser.begin(iss="https://other.test").status_code == 403
    assert browser.begin(client_id="another").status_code == 403


def test_a_new_key_of_the_platform_is_fetched_and_not_more_often_than_once_a_minute(lms, monkeypatch):
    keys = PlatformKeys(PLATFORM.keys_url, lms.client())
    assert [one.kid for one in keys.known(KEY.kid).keys] == ["first"]
    lms.keys = [KEY, OTHER]
    assert len(keys.known(OTHER.kid).keys) == 1
    monkeypatch.setattr(time, "monotonic", lambda: keys.fetched + 100)
    assert len(keys.known(OTHER.kid).keys) == 2


def mark(points, student="ada@uni.edu", waits=False):
    return Mark(student, "", "", "", points, 0.0, 10.0, "", "", waits)


def launched(door):
    browser = Launched(door)
    browser.end(browser.begin())
    return LineItems(door.attempts.engine)


def test_a_mark_goes_back_once_and_again_when_it_changed(door, lms):
    lines = launched(door)
    sender = Sender([PLATFORM], lms.tool, lms.client())
    for points in (7.5, 7.5, 8.0):
        assert list(sender.send(NAME, lines, [mark(points)])) == []
    assert [score["scoreGiven"] for _, score in lms.scores] == [7.5, 8.0]
    query, first = lms.scores[0]
    assert query == {"type": "x"}
    assert (first["userId"], first["scoreMaximum"], first["gradingProgress"]) == ("77", 10.0, "FullyGraded")
    assert first["timestamp"] < lms.scores[1][1]["timestamp"]
    assert lms.asked == 1
    list(sender.send(NAME, lines, [mark(8.0, waits=True)]))
    assert lms.scores[-1][1]["gradingProgress"] == "PendingManual"


def test_what_the_platform_does_not_take_is_said_and_sent_later(door, lms):
    lines = launched(door)
    sender = Sender([PLATFORM], lms.tool, lms.client())
    lms.status = 503
    assert list(sender.send(NAME, lines, [mark(7.0)])) == ["ada@uni.edu: the platform answered 503"]
    assert list(sender.send(NAME, lines, [mark(1.0, "bob")])) == ["bob did not come from a platform"]
    lms.status = 200
    assert list(sender.send(NAME, lines, [mark(7.0), mark(None)])) == []
    assert len(lms.scores) == 1


@pytest.mark.parametrize(
    "endpoint",
    [
        {"scope": [SCORE], "lineitem": "https://inside.test/lines/5"},
        {"scope": [SCORE], "lineitem": "http://lms.test/lines/5"},
        {"scope": [], "lineitem": f"{ISSUER}/lines/5"},
        {"scope": [SCORE]},
        None,
    ],
    ids=["another host", "unencrypted", "no scope", "no column", "nothing"],
)
def test_no_mark_goes_where_the_platform_is_not(door, endpoint):
    browser = Launched(door)
    assert browser.end(browser.begin(), {ENDPOINT: endpoint}).status_code == 200
    assert LineItems(door.attempts.engine).all(NAME) == {}


def test_the_key_is_kept_and_only_its_public_part_is_told(tmp_path, door):
    assert tool_key(tmp_path).key.as_dict(private=True) == tool_key(tmp_path).key.as_dict(private=True)
    assert (tmp_path / "serve-lti.pem").stat().st_mode & 0o077 == 0
    [told] = Launched(door).get("/lti/keys").json()["keys"]
    assert told["kty"] == "RSA"
    assert {"d", "p", "q"}.isdisjoint(told)


def test_the_query_of_a_line_stays_behind_its_scores():
    assert scores_url("https://lms.test/lines/5/?a=b") == "https://lms.test/lines/5/scores?a=b"
