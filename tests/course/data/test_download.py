"""Downloads from a server on this machine that breaks off, lies and refuses."""

import hashlib
import random
import socket
from pathlib import Path

import pytest
from loopback_server import Server

from course.data.download import (
    BrokenOff,
    CorpusError,
    NotReachable,
    RemoteFile,
    WrongContents,
    cache_folder,
    fetch,
)

CONTENTS = random.Random(0).randbytes(300_000)


@pytest.fixture
def server(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Server(CONTENTS) as running:
        yield running


@pytest.fixture
def file(server) -> RemoteFile:
    return RemoteFile("file.txt", server.url, hashlib.sha256(CONTENTS).hexdigest(), len(CONTENTS))


def get(file: RemoteFile, folder: Path, **settings) -> Path:
    return fetch(file, folder, show_progress=False, timeout=5, **settings)


def test_a_file_is_downloaded_once_and_kept(server, file, tmp_path):
    first = get(file, tmp_path / "new" / "folder")
    again = get(file, tmp_path / "new" / "folder")
    assert first == again
    assert first.read_bytes() == CONTENTS
    assert server.ranges == [None]
    assert [path.name for path in first.parent.iterdir()] == ["file.txt"]


def test_a_transfer_that_breaks_off_is_continued_in_the_same_call(server, file, tmp_path):
    server.cut_after = [100_000, 50_000]
    assert get(file, tmp_path).read_bytes() == CONTENTS
    assert server.ranges == [None, "bytes=100000-", "bytes=150000-"]


def test_what_came_before_giving_up_is_kept_and_continued_by_a_later_call(server, file, tmp_path):
    server.cut_after = [100_000]
    with pytest.raises(BrokenOff, match=r"100,000 of 300,000 bytes\. .* run this again to continue"):
        get(file, tmp_path, attempts=1)
    assert not (tmp_path / "file.txt").exists()
    assert (tmp_path / "file.txt.part").stat().st_size == 100_000
    assert get(file, tmp_path).read_bytes() == CONTENTS
    assert server.ranges == [None, "bytes=100000-"]


def test_an_interrupted_program_continues_where_it_stopped(server, file, tmp_path, monkeypatch):
    def interrupted(pieces, *arguments, **settings):
        yield next(pieces)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("course.data.download.progress", interrupted)
        with pytest.raises(KeyboardInterrupt):
            get(file, tmp_path)
    have = (tmp_path / "file.txt.part").stat().st_size
    assert 0 < have < len(CONTENTS)
    assert get(file, tmp_path).read_bytes() == CONTENTS
    assert server.ranges[1] == f"bytes={have}-"


def test_a_server_that_cannot_continue_is_asked_for_everything_again(server, file, tmp_path):
    server.has_range = False
    server.cut_after = [100_000]
    assert get(file, tmp_path).read_bytes() == CONTENTS
    assert server.ranges == [None, "bytes=100000-"]


def test_a_remainder_of_another_file_is_noticed_and_thrown_away(server, file, tmp_path):
    (tmp_path / "file.txt.part").write_bytes(b"x" * 100_000)
    with pytest.raises(WrongContents, match="expected SHA-256"):
        get(file, tmp_path)
    assert get(file, tmp_path).read_bytes() == CONTENTS


def test_a_file_that_has_become_shorter_on_the_server_is_fetched_anew(server, file, tmp_path):
    server.contents = CONTENTS[:70_000]
    (tmp_path / "file.txt.part").write_bytes(CONTENTS[:90_000])
    with pytest.raises(BrokenOff, match="70,000 of 300,000 bytes"):
        get(file, tmp_path, attempts=2)


@pytest.mark.parametrize("contents", [CONTENTS[:-1] + b"?", CONTENTS + b"more", b"<html>" * 100_000])
def test_other_contents_are_refused_and_not_kept(server, file, tmp_path, contents):
    server.contents = contents
    with pytest.raises(WrongContents, match=r"expected SHA-256 .* got .* put it at"):
        get(file, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_file_in_the_cache_is_named_and_left_alone(server, file, tmp_path):
    (tmp_path / "file.txt").write_text("something else")
    with pytest.raises(WrongContents, match=r"is not the file it should be.* Delete .*file\.txt to"):
        get(file, tmp_path)
    assert server.ranges == []
    assert (tmp_path / "file.txt").read_text() == "something else"


@pytest.mark.parametrize(("status", "answer"), [(404, "404 Not Found"), (503, "503 Service Unavailable")])
def test_a_refusal_says_what_the_server_answered_and_what_to_do(server, file, tmp_path, status, answer):
    server.status = status
    with pytest.raises(NotReachable) as caught:
        get(file, tmp_path)
    message = str(caught.value)
    assert f"the server answered {answer}" in message
    assert file.url in message
    assert str(tmp_path / "file.txt") in message
    assert "COURSE_CACHE" in message


def test_without_a_network_the_message_says_where_to_put_the_file(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/file.txt"
    with pytest.raises(NotReachable, match=r"Connection refused.* put it at .*file\.txt"):
        get(RemoteFile("file.txt", url, "0" * 64, 10), tmp_path)


def test_a_file_put_there_by_hand_is_taken_without_a_network(tmp_path):
    (tmp_path / "file.txt").write_bytes(CONTENTS)
    sha256 = hashlib.sha256(CONTENTS).hexdigest()
    nowhere = RemoteFile("file.txt", "http://127.0.0.1:9/", sha256, len(CONTENTS))
    assert get(nowhere, tmp_path) == tmp_path / "file.txt"


def test_the_progress_bar_counts_to_the_size_of_the_file(server, file, tmp_path, capfd):
    fetch(file, tmp_path, timeout=5)
    assert "file.txt: 100%" in capfd.readouterr().err


def test_the_environment_chooses_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path


@pytest.mark.parametrize(
    ("platform", "end"),
    [
        ("linux", ".cache/language-models-from-scratch"),
        ("darwin", "Library/Caches/language-models-from-scratch"),
        ("win32", "AppData/Local/language-models-from-scratch/Cache"),
    ],
)
def test_each_operating_system_has_its_own_place_for_caches(monkeypatch, platform, end):
    for name in ("COURSE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", platform)
    assert cache_folder() == Path.home() / end


def test_every_failure_is_a_corpus_error():
    assert all(issubclass(kind, CorpusError) for kind in (NotReachable, BrokenOff, WrongContents))
