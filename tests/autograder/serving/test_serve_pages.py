"""What a browser is shown and allowed: to sign in, hand in and read verdicts; strangers see nothing."""

import asyncio
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise

import pytest
from doors import ADDRESS, KEY, NAME, Browser, new_door

from autograder.marks.database import GradebookUnavailable
from autograder.marks.decisions import Decision, Decisions
from autograder.serving import app, waiting
from autograder.serving.attempts import Told
from autograder.serving.clock import how_far
from autograder.serving.people import Invitations, NoSuchName, Person, name_of
from autograder.serving.settings import ServeSettings
from autograder.submissions.collect import LARGEST_NOTEBOOK, Unreadable

MARKUP = "<script>alert(1)</script>"


def notebook(word="x = 1"):
    return json.dumps({"cells": [{"cell_type": "code", "source": word}], "nbformat": 4}).encode()


@pytest.fixture
def door(tmp_path):
    return new_door(tmp_path)


@pytest.fixture
def ada(door):
    browser = Browser(door)
    browser.join("ada")
    return browser


def test_an_invitation_signs_one_person_in_and_works_once(door):
    link = Invitations(KEY).link(ADDRESS, Person("ada")).removeprefix(ADDRESS)
    first, second = Browser(door), Browser(door)
    assert "Sign in as ada" in first.get(link).text
    assert first.get(link).status_code == 200  # looking at it uses nothing up
    assert ">ada<" in first.post("/join", data=first.form(link)).text
    refused = second.post("/join", data=second.form(link))
    assert (refused.status_code, "has been used" in refused.text) == (403, True)


@pytest.mark.parametrize("spoil", [lambda token: token[:-1], lambda token: "x" + token, lambda token: "x"])
def test_an_invitation_that_was_changed_is_refused(door, spoil):
    token = Invitations("another key" * 4).link(ADDRESS, Person("ada", True)).rpartition("/")[2]
    for made in (token, spoil(Invitations(KEY).link(ADDRESS, Person("ada")).rpartition("/")[2])):
        assert Browser(door).get(f"/join/{made}").status_code == 403


@pytest.mark.parametrize("name", ["../ada", "ada lovelace", "a/b", "", ".ada", MARKUP])
def test_nobody_is_invited_by_a_name_that_is_no_folders(name):
    with pytest.raises(NoSuchName):
        Invitations(KEY).link(ADDRESS, Person(name))


def test_two_people_never_become_one_student():
    claims = ["ada@uni.edu", "a b", "a-b", "A B", "../x", "x", "x/", "ä", "a"]
    assert len({name_of(claim) for claim in claims}) == len(claims)
    assert name_of("ada@uni.edu") == "ada@uni.edu"
    assert all("/" not in name_of(claim) and not name_of(claim).startswith(".") for claim in claims)


def test_what_is_handed_in_is_kept_and_the_same_bytes_once(door, ada):
    page = ada.hand_in(notebook())
    assert "It is being graded" in page.text
    ada.hand_in(notebook())
    [attempt] = door.attempts.of("ada", NAME)
    assert door.attempts.content(attempt.number) == notebook()


def test_attempts_in_a_row_are_all_kept_and_judged_later(door, ada):
    for number in range(8):
        page = ada.hand_in(notebook(f"x = {number}"))
    assert "because you handed in others shortly before" in page.text
    assert 'http-equiv="refresh" content="15"' in page.text
    attempts = door.attempts.of("ada", NAME)
    assert len(attempts) == 8
    gaps = [(later.not_before - one.not_before).total_seconds() for one, later in pairwise(attempts)]
    assert all(gap >= 30 for gap in gaps)
    assert attempts[6].not_before - attempts[0].not_before >= timedelta(hours=1)
    for attempt in attempts:
        door.attempts.placed(attempt.number)
    assert door.attempts.ready(NAME) == {"ada": attempts[0].number}


def test_the_queue_is_counted_by_students(door, ada):
    ada.hand_in(notebook())
    bob, cleo = Browser(door), Browser(door)
    bob.join("bob")
    cleo.join("cleo")
    assert "In the queue: 1 before" in bob.hand_in(notebook("b")).text
    assert "In the queue: 2 before" in cleo.hand_in(notebook("c")).text
    [first] = door.attempts.of("ada", NAME)
    door.attempts.tell(NAME, "ada", Told("seen", "seen", "1 of 2"), first.number)
    assert "In the queue: 1 before" in cleo.get(f"/homework/{NAME}").text


def test_hidden_checks_are_told_after_the_due_date_and_an_extension(door, ada):
    ada.hand_in(notebook())
    door.attempts.tell(NAME, "ada", Told("visible part", "whole part", "1 of 2"), 1)
    assert "visible part" in ada.get(f"/homework/{NAME}").text
    past = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    Decisions(door.root).add(Decision(NAME, "", "due", past))
    assert "whole part" in ada.get(f"/homework/{NAME}").text
    Decisions(door.root).add(Decision(NAME, "ada", "extension in hours", 2.0))
    page = ada.get(f"/homework/{NAME}").text
    assert "visible part" in page
    assert "whole part" not in page


@pytest.mark.parametrize(("grace", "is_late"), [(61, False), (59, True)])
def test_within_a_moment_of_grace_nothing_is_late_and_hidden_checks_stay_hidden(door, ada, grace, is_late):
    ada.hand_in(notebook())
    door.attempts.tell(NAME, "ada", Told("visible part", "whole part", "1 of 2"), 1)
    past = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    Decisions(door.root).add(Decision(NAME, "", "due", past))
    Decisions(door.root).set_grace(NAME, timedelta(minutes=grace))
    page = ada.get(f"/homework/{NAME}").text
    seen = ("whole part" in page, ">late<" in page, "what you hand in now is late" in page)
    assert seen == (is_late, is_late, is_late)
    staff = Browser(door)
    staff.join("prof", is_staff=True)
    for address in (f"/class/{NAME}", f"/class/{NAME}/ada"):
        assert (">late<" in staff.get(address).text) == is_late


@pytest.mark.parametrize(("hidden", "seen"), [("at once", "whole"), ("never", "visible")])
def test_the_instructor_decides_when_hidden_checks_are_told(tmp_path, hidden, seen):
    door = new_door(tmp_path, hidden=hidden)
    Decisions(door.root).add(Decision(NAME, "", "due", "2020-01-01T00:00:00+00:00"))
    browser = Browser(door)
    browser.join("ada")
    door.attempts.tell(NAME, "ada", Told("visible", "whole", ""), None)
    assert seen in browser.get(f"/homework/{NAME}").text


def test_the_instructor_sees_the_class_and_a_student_does_not(door, ada):
    ada.hand_in(notebook())
    staff = Browser(door)
    staff.join("prof", is_staff=True)
    page = staff.get(f"/class/{NAME}").text
    assert ">ada<" in page
    assert "waits" in page
    assert "1" in staff.get(f"/class/{NAME}/ada").text
    assert staff.get(f"/class/{NAME}/nobody").status_code == 404
    for path in (f"/class/{NAME}", f"/class/{NAME}/ada"):
        assert ada.get(path).status_code == 403
        assert Browser(door).get(path).status_code == 403


def test_who_was_staff_is_so_no_longer_than_a_session_lasts_though_it_is_renewed(door, monkeypatch):
    staff = Browser(door)
    staff.join("prof", is_staff=True)
    now = time.time()
    for days, status in ((50, 200), (70, 403)):
        monkeypatch.setattr(time, "time", lambda days=days: now + days * 86_400)
        assert staff.get(f"/class/{NAME}").status_code == status
        assert staff.get("/").status_code == 200


def test_a_sender_who_is_gone_is_no_error(door):
    async def upload():
        sent = iter(
            [{"type": "http.request", "body": b"--b", "more_body": True}, {"type": "http.disconnect"}]
        )

        async def receive():
            return next(sent)

        async def send(message):
            raise AssertionError(message)

        kind = (b"content-type", b"multipart/form-data; boundary=b")
        scope = {"type": "http", "method": "POST", "path": "/join", "raw_path": b"/join", "query_string": b""}
        await door.app()(scope | {"headers": [(b"host", b"127.0.0.1"), kind]}, receive, send)

    asyncio.run(upload())


def test_the_class_shows_who_has_not_handed_in(door, ada):
    ada.hand_in(notebook())
    door.attempts.know(["bob", "cleo", "dan"])
    Browser(door).join("eve")
    Decisions(door.root).add(Decision(NAME, "cleo", "excused", True))
    staff = Browser(door)
    staff.join("prof", is_staff=True)
    page = staff.get(f"/class/{NAME}").text
    assert "1 of 4" in page
    assert "bob, dan, eve" in page
    assert f'Excused: <a href="/class/{NAME}/cleo">cleo</a>' in page
    cleo, bob = staff.get(f"/class/{NAME}/cleo").text, staff.get(f"/class/{NAME}/bob").text
    assert ["<b>excused</b>" in one for one in (cleo, bob)] == [True, False]
    assert ["Nothing has been handed in." in one for one in (cleo, bob)] == [True, True]
    browser = Browser(door)
    browser.join("cleo")
    assert "you are <b>excused</b>" in browser.get(f"/homework/{NAME}").text
    assert "<td>excused</td>" in browser.get("/").text
    assert "prof" not in page.partition("<main>")[2]


def test_a_page_that_waits_says_so_and_reloads_and_one_with_a_form_does_not(door, ada):
    assert 'http-equiv="refresh"' not in ada.get(f"/homework/{NAME}").text
    page = ada.hand_in(notebook()).text
    assert "has been handed in" in page
    assert "You may close this page" in page
    assert ('http-equiv="refresh"' in page, 'type="file"' in page) == (True, False)
    again = ada.get(f"/homework/{NAME}?again=1").text
    assert ('http-equiv="refresh"' in again, 'type="file"' in again) == (False, True)


def test_a_page_that_waits_asks_for_itself_and_is_answered_when_there_is_a_verdict(door, ada, monkeypatch):
    monkeypatch.setattr(waiting, "SECONDS_HELD", 60.0)
    asks = re.search(r'http-equiv="refresh" content="0;url=([^"]*)"', ada.hand_in(notebook()).text)[1]
    [attempt] = door.attempts.of("ada", NAME)
    with ThreadPoolExecutor() as pool:
        held = pool.submit(ada.get, f"/homework/{NAME}{asks}")
        time.sleep(3 * waiting.SECONDS_BETWEEN_LOOKS)
        assert not held.done()
        door.attempts.tell(NAME, "ada", Told("seen", "all", "1 of 4"), attempt.number, attempt.digest)
        page = held.result(timeout=4 * waiting.SECONDS_BETWEEN_LOOKS).text
    assert "seen" in page
    assert 'http-equiv="refresh"' not in page


def test_a_page_is_not_held_for_long_nor_if_nothing_waits(door, ada, monkeypatch):
    begin = time.monotonic()
    assert ada.get(f"/homework/{NAME}?held=1").status_code == 200
    assert time.monotonic() - begin < waiting.SECONDS_BETWEEN_LOOKS
    monkeypatch.setattr(waiting, "SECONDS_HELD", 0.3)
    ada.hand_in(notebook())
    assert "It is being graded" in ada.get(f"/homework/{NAME}?held=1").text


def test_those_who_wait_share_one_look_at_the_database(door, ada, monkeypatch):
    ada.hand_in(notebook())
    monkeypatch.setattr(waiting, "SECONDS_HELD", 1.0)
    looks, unjudged = [], door.attempts.unjudged
    monkeypatch.setattr(door.attempts, "unjudged", lambda: looks.append(0) or unjudged())

    async def together():
        await asyncio.gather(*(door.waiting.until_judged(1) for _ in range(50)))

    asyncio.run(together())
    assert 1 <= len(looks) <= 1 + 1.0 / waiting.SECONDS_BETWEEN_LOOKS


def test_who_was_collected_elsewhere_counts_as_having_handed_in(door, ada):
    ada.hand_in(notebook())
    door.attempts.tell(NAME, "bob", Told("", "", "1 of 2"), None)  # graded from a platform's download
    staff = Browser(door)
    staff.join("prof", is_staff=True)
    assert '<td class="number">2</td><td class="number">1</td>' in staff.get("/").text  # one of them waits


@pytest.mark.parametrize(
    ("address", "port"),
    [
        ("http://127.0.0.1:8123", 8123),
        ("http://localhost", 8000),
        ("https://course.example.edu", 8000),
        ("https://course.example.edu:8443", 8000),  # where the TLS server listens
    ],
)
def test_an_address_of_this_machine_says_where_to_listen(address, port):
    assert ServeSettings(address=address).port == port


@pytest.mark.parametrize(
    ("address", "there"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8932"),
        ("http://[::1]:8000", "http://[::1]:8932"),
        ("https://x.edu", "https://x.edu"),
    ],
)
def test_the_address_on_another_port_is_the_one_that_answers(address, there):
    settings = ServeSettings(address=address)
    assert settings.address_at(8932) == there
    assert settings.address_at(settings.port) == address


def test_what_waits_is_found_without_reading_what_was_handed_in(door):
    """The files of a term are a gigabyte, and the question is asked several times a second."""
    with door.attempts.engine.connect() as connection:
        asked = "explain query plan select number from handed_in where judged is null"
        [row] = connection.exec_driver_sql(asked).all()
    assert "COVERING INDEX handed_in_waits" in row[-1]


def test_times_are_in_the_zone_of_the_due_date_and_late_ones_say_so(door, ada):
    ada.hand_in(notebook())
    for day, is_late in (("2020-01-01", True), ("2099-01-01", False)):
        Decisions(door.root).add(Decision(NAME, "", "due", f"{day}T23:59:00+05:30"))
        page = ada.get(f"/homework/{NAME}?again=1").text
        assert page.count("UTC+05:30") == 3
        assert f"{day} 23:59 UTC+05:30" in page
        assert (">late<" in page, "what you hand in now is late" in page) == (is_late, is_late)


def test_no_date_breaks_in_a_narrow_table(door, ada):
    Decisions(door.root).add(Decision(NAME, "", "due", "2099-01-01T23:59:00+05:30"))
    ada.hand_in(notebook())
    staff = Browser(door)
    staff.join("prof", is_staff=True)
    assert re.search(r"\.time \{ white-space: nowrap; \}", ada.get("/style.css").text)
    for page in (ada.get("/"), staff.get("/"), staff.get(f"/class/{NAME}"), staff.get(f"/class/{NAME}/ada")):
        [*tables] = re.findall(r"<table>.*?</table>", page.text, re.DOTALL)
        dates = [len(re.findall(r"\d{4}-\d\d-\d\d", table)) for table in tables]
        whole = [len(re.findall(r'"time">[^<]*\d{4}-\d\d-\d\d[^<]*</span>', table)) for table in tables]
        assert dates == whole
        assert sum(dates) >= 1


@pytest.mark.parametrize(
    ("far", "said"),
    [
        (timedelta(days=3, hours=5), "in 3 days"),
        (timedelta(hours=47), "in 47 hours"),
        (timedelta(seconds=90), "in 1 minute"),
        (-timedelta(minutes=119), "119 minutes ago"),
    ],
)
def test_how_far_a_time_is_loses_little(far, said):
    now = datetime.now(UTC)
    assert how_far(now + far, now) == said


@pytest.mark.parametrize("path", ["/nothing", "/homework/other", "/join/x", f"/class/{NAME}", "/class/x"])
def test_every_page_of_what_went_wrong_leads_back(ada, path):
    page = ada.get(path).text
    assert "<h1>" in page
    assert '<a href="/">To the first page</a>' in page


def test_a_refused_upload_leads_back_to_its_form(ada):
    page = ada.hand_in(b"no notebook").text
    assert "<h1>Not handed in</h1>" in page
    assert f'<a href="/homework/{NAME}">Back</a>' in page


def test_every_page_has_a_title_of_its_own_and_one_heading(door, ada):
    ada.hand_in(notebook())
    staff = Browser(door)
    staff.join("prof", is_staff=True)
    pages = [Browser(door).get("/"), ada.get("/"), ada.get(f"/homework/{NAME}"), ada.get("/nothing")]
    pages += [staff.get(path) for path in (f"/class/{NAME}", f"/class/{NAME}/ada", f"/marking/{NAME}")]
    titles = [re.search("<title>(.+)</title>", page.text)[1] for page in pages]
    assert len(set(titles)) == len(titles)
    assert [len(re.findall("<h1>.+</h1>", page.text)) for page in pages] == [1] * len(pages)


def test_a_student_sees_only_their_own_verdict(door, ada):
    door.attempts.tell(NAME, "bob", Told("of bob", "of bob", ""), None)
    assert "of bob" not in ada.get(f"/homework/{NAME}").text
    assert ada.get("/homework/other").status_code == 404


def test_a_form_from_elsewhere_does_nothing(door, ada):
    for token in ("", "x", None):
        data = {} if token is None else {"csrf": token}
        done = ada.post(f"/homework/{NAME}", data=data, files={"notebook": ("hw.ipynb", notebook())})
        assert done.status_code == 403
    assert ada.post("/sign-out").status_code == 403
    assert door.attempts.of("ada", NAME) == []
    other = Browser(door)
    other.join("bob")
    files = {"notebook": ("hw.ipynb", notebook())}
    stolen = other.post(f"/homework/{NAME}", data=ada.form(f"/homework/{NAME}"), files=files)
    assert stolen.status_code == 403


def test_who_signs_out_is_out(door, ada):
    ada.post("/sign-out", data=ada.form("/"))
    assert ada.get(f"/homework/{NAME}").status_code == 403
    stale = ada.post(f"/homework/{NAME}", data={}, files={"notebook": ("hw.ipynb", notebook())})
    assert "<h1>Not signed in</h1>" in stale.text
    assert "it has not arrived" in stale.text


def test_a_cookie_that_was_changed_signs_nobody_in(door, ada):
    cookie = ada.cookies["door"]
    for made in (cookie[:-2], "x" + cookie, cookie.replace(".", "x", 1)):
        stranger = Browser(door)
        stranger.cookies.set("door", made)
        assert stranger.get(f"/homework/{NAME}").status_code == 403


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([], "the form contained no file"),
        ([notebook(), notebook("y")], "the form contained 2 files"),
        (b"", "The file is empty"),
        (b"PK\x03\x04", "not a notebook"),
        (notebook()[:-5], "ends abruptly"),
        (b"[" * 100_000, "not a notebook"),
        (b'{"nbformat": 4, "cells": ' + b"[" * 100 + b"]" * 100 + b"}", "nested too deeply"),
        (MARKUP.encode(), "not a notebook"),
    ],
)
def test_what_is_no_notebook_is_not_kept_and_it_is_said_why(door, ada, content, said):
    done = ada.hand_in(content)
    assert (done.status_code, said in done.text) == (400, True), done.text
    assert door.attempts.of("ada", NAME) == []


def test_one_upload_is_read_at_a_time(door, ada, monkeypatch):
    """JSON that fits into an upload can take 700 MB of memory while it is read."""
    reading, most = [], []

    def slowly(content):
        reading.append(content)
        most.append(len(reading))
        time.sleep(0.05)
        reading.pop()
        raise Unreadable("no notebook")

    monkeypatch.setattr(app, "parse", slowly)
    data = ada.form(f"/homework/{NAME}")
    with ada, ThreadPoolExecutor(4) as pool:
        send = partial(ada.post, f"/homework/{NAME}", data=data)
        sent = [pool.submit(send, files=[("notebook", ("hw.ipynb", b"{}"))]) for _ in range(8)]
    assert [one.result().status_code for one in sent] == [400] * 8
    assert most == [1] * 8


@pytest.mark.parametrize("is_honest", [True, False])
def test_a_huge_upload_is_ended_before_it_is_read(door, ada, is_honest):
    """Whether it says its size or not: one that does not is counted as it comes."""
    fields = ada.form(f"/homework/{NAME}")
    read = []

    def body():
        yield b"--b\r\ncontent-disposition: form-data; name=notebook; filename=x\r\n\r\n"
        for _ in range(10 * LARGEST_NOTEBOOK // 1_000_000):
            read.append(1)
            yield b"x" * 1_000_000

    headers = {"content-type": "multipart/form-data; boundary=b"}
    if is_honest:
        headers["content-length"] = str(10 * LARGEST_NOTEBOOK)
    done = ada.post(f"/homework/{NAME}", content=body(), headers=headers)
    assert done.status_code == 413
    assert "default-src 'none'" in done.headers["content-security-policy"]
    assert "<h1>Not handed in</h1>" in done.text
    assert f'<a href="/homework/{NAME}">Back</a>' in done.text
    assert fields
    assert door.attempts.of("ada", NAME) == []


@pytest.mark.parametrize("path", ["/join", "/sign-out"])
def test_strangers_cannot_fill_the_disk_or_the_memory_with_forms_that_never_end(door, path):
    def body():
        yield b"--b\r\ncontent-disposition: form-data; name=x; filename=x\r\n\r\n"
        for _ in range(15):
            yield b"x" * 1_000_000

    headers = {"content-type": "multipart/form-data; boundary=b"}
    done = Browser(door).post(path, content=body(), headers=headers)
    assert done.status_code == 413
    assert "larger than any" in done.text


@pytest.mark.parametrize("filename", ["../../../etc/passwd", MARKUP, "a" * 500, "\x00", 'x"; filename="y'])
def test_the_name_of_a_file_is_never_used(door, ada, filename, tmp_path):
    done = ada.hand_in(notebook(), filename)
    assert MARKUP not in done.text
    assert len(door.attempts.of("ada", NAME)) == 1
    assert {path.name.partition("-")[0] for path in tmp_path.iterdir()} == {"serve.db"}


def test_every_reply_forbids_scripts_and_everything_from_elsewhere(door, ada):
    replies = [
        Browser(door).get(path) for path in ("/", "/style.css", "/nothing", f"/homework/{NAME}", "/join/x")
    ]
    replies += [ada.get(path) for path in ("/", f"/homework/{NAME}", f"/class/{NAME}")]
    for reply in replies:
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "<script" not in reply.text
        assert "http" not in reply.text.replace("http-equiv", "")


def test_another_host_is_not_served(door):
    assert Browser(door).get("/", headers={"host": "evil.example"}).status_code == 400


def test_a_cookie_is_for_this_site_and_out_of_reach_of_scripts(tmp_path):
    cookie = Browser(new_door(tmp_path)).get("/").headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie


def test_a_page_that_the_database_keeps_away_comes_back_by_itself_and_a_form_does_not(door, ada, monkeypatch):
    form = ada.form(f"/homework/{NAME}")

    def away(*_):
        raise GradebookUnavailable("The database is away.")

    for name in ("of", "hand_in"):
        monkeypatch.setattr(door.attempts, name, away)
    page = ada.get(f"/homework/{NAME}")
    assert (page.status_code, 'http-equiv="refresh"' in page.text) == (503, True)
    files = {"notebook": ("hw.ipynb", notebook())}
    page = ada.post(f"/homework/{NAME}", data=form, files=files)
    assert (page.status_code, 'http-equiv="refresh"' in page.text) == (503, False)
    assert 'http-equiv="refresh"' not in ada.get("/homework/other").text
