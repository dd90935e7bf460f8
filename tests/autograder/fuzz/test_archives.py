"""Whatever zip is handed in: it is filed or left out with a sentence, and nothing lies anywhere else."""

import contextlib
import io
import stat
import warnings
import zipfile

from hypothesis import given
from hypothesis import strategies as st
from marked import seldom
from values import anywhere

from autograder.collecting.filing import contents
from autograder.collecting.gather import gather, in_words
from autograder.collecting.tree import CollectingError, nested
from autograder.markup import one_line
from autograder.submissions.collect import Unreadable

HOMEWORK = "hw"
PARTS = ["hw", "hw.ipynb", "a", "..", ".", "", "/", "\\", "\0", "x" * 250, "=1+1", "\x1b[2J", "\u202e", "é"]
PARTS += [".git", "__MACOSX", "timestamp.txt", "a b", "<script>", "C:", "hw (1).ipynb", "in.zip"]
PARTS += [".kept", "-"]
parts = st.sampled_from(PARTS) | st.text(max_size=4)
names = st.lists(parts, min_size=1, max_size=4).map("/".join)
kinds = st.sampled_from([0, stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK, stat.S_IFIFO, 0o777])
methods = st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])


def zipped(members):
    """A zip of (name, bytes, kind, method); a name that cannot be written is left out."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive, warnings.catch_warnings(action="ignore"):  # of equal names
        for name, data, kind, method in members:
            entry = zipfile.ZipInfo(name or "x")
            entry.external_attr, entry.compress_type = kind << 16, method
            with contextlib.suppress(UnicodeEncodeError, ValueError):
                archive.writestr(entry, data)
    return whole.getvalue()


plain = st.binary(max_size=20) | st.just(b'{"nbformat": 4, "cells": []}') | st.just(b"x" * 10_000)
flat = st.lists(st.tuples(names, plain, kinds, methods), max_size=6).map(zipped)
files = plain | flat
members = st.lists(st.tuples(names, files, kinds, methods), max_size=6)


@st.composite
def archives(draw):
    """A zip, of which a few bytes may be others."""
    whole = bytearray(draw(members.map(zipped)))
    for _ in range(draw(st.sampled_from([0, 0, 1, 4]))):
        place = draw(anywhere) % len(whole)
        whole[place : place + draw(st.integers(0, 4))] = draw(st.binary(max_size=4))
    return bytes(whole)


@seldom
@given(archives())
def test_a_zip_is_a_tree_or_unreadable(data):
    with contextlib.suppress(Unreadable):
        tree = nested(data, "a.zip")
        notes = []
        kept = contents(tree.files, False, notes)
        for name in kept:
            assert not {"", ".", ".."} & set(name.split("/"))
            assert not name.startswith("/")
            assert not set(name) & {"\\", "\0"}
        for path, why in tree.left_out:
            assert ".." not in path
            assert why


@seldom
@given(archive=archives())
def test_a_download_is_collected_or_refused_and_nothing_is_written_beside(archive, tmp_path_factory):
    folder = tmp_path_factory.mktemp("download")
    (folder / "all.zip").write_bytes(archive)
    with contextlib.suppress(CollectingError):
        collected = gather(folder / "all.zip", HOMEWORK, folder / "to")
        for line in in_words(collected):
            assert one_line(line) == line
    assert {entry.name for entry in folder.iterdir()} <= {"all.zip", "to"}
    for path in (folder / "to").rglob("*"):
        assert not path.is_symlink()
        assert path.is_dir() or path.is_file()
