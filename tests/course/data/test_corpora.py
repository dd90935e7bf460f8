"""The loaders of real text, on small files of the same form."""

import gzip
import hashlib
import re

import pytest

from course.data import corpora
from course.data.download import NotReachable, RemoteFile


def put(folder, name: str, contents: bytes) -> RemoteFile:
    """A file in the cache that needs no download."""
    (folder / name).write_bytes(contents)
    return RemoteFile(name, "http://127.0.0.1:9/", hashlib.sha256(contents).hexdigest(), len(contents))


def test_names_are_the_lines_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "NAMES", put(tmp_path, "names.txt", b"emma\nolivia\n"))
    assert corpora.names(tmp_path) == ["emma", "olivia"]


def test_captions_come_in_pairs_and_only_line_feeds_separate_them(tmp_path, monkeypatch):
    english, french = "A dog.\nTwo\u2028cats.\n", "Un chien.\nDeux chats.\n"
    files = {
        "en": put(tmp_path, "en.gz", gzip.compress(english.encode())),
        "fr": put(tmp_path, "fr.gz", gzip.compress(french.encode())),
    }
    monkeypatch.setattr(corpora, "multi30k_file", lambda split, language: files[language])
    assert corpora.multi30k("val", tmp_path) == [("A dog.", "Un chien."), ("Two\u2028cats.", "Deux chats.")]


def test_sides_of_unequal_length_are_an_error(tmp_path, monkeypatch):
    files = {
        "en": put(tmp_path, "en.gz", gzip.compress(b"a\nb\n")),
        "fr": put(tmp_path, "fr.gz", gzip.compress(b"c\n")),
    }
    monkeypatch.setattr(corpora, "multi30k_file", lambda split, language: files[language])
    with pytest.raises(ValueError, match="zip"):
        corpora.multi30k("val", tmp_path)


def test_an_unknown_split_is_explained():
    with pytest.raises(ValueError, match="expected one of train, val, test_2016_flickr, got 'test'"):
        corpora.multi30k("test")


def test_every_file_has_a_public_address_and_a_whole_hash():
    files = [corpora.NAMES, corpora.TINY_SHAKESPEARE]
    files += [
        corpora.multi30k_file(split, side) for split in corpora.MULTI30K_SPLITS for side in ("en", "fr")
    ]
    assert len({file.name for file in files}) == len({file.sha256 for file in files}) == 8
    for file in files:
        assert file.url.startswith("https://raw.githubusercontent.com/")
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert file.n_bytes > 20_000


def test_python_carries_a_long_english_text():
    text = corpora.python_documentation()
    assert len(text) > 300_000
    assert 'The "with" statement' in text


def test_without_a_network_the_documentation_stands_in(tmp_path, monkeypatch):
    def unreachable(file, folder):
        raise NotReachable("no network")

    monkeypatch.setattr(corpora, "fetch", unreachable)
    name, text = corpora.some_english(tmp_path)
    assert name == "Python's documentation"
    assert text == corpora.python_documentation()


def test_with_the_file_shakespeare_is_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "TINY_SHAKESPEARE", put(tmp_path, "t.txt", "Enter Romeo —".encode()))
    assert corpora.some_english(tmp_path) == ("Tiny Shakespeare", "Enter Romeo —")
