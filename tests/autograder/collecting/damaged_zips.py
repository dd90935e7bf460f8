"""Zips that a student may hand in, spoiled in every way for which the library has an error of its own."""

import io
import random
import struct
import zipfile

from downloads import HOMEWORK, notebook

NAME = f"{HOMEWORK}.ipynb"
LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


def made(files, method=zipfile.ZIP_DEFLATED):
    """The bytes of a zip of {name: bytes}."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def whole(method=zipfile.ZIP_DEFLATED):
    return made({NAME: notebook("x = 1\n" * 50), "notes.txt": b"hello"}, method)


def with_field(place_of_local, place_of_central, value, data=None):
    """A zip in which a field of 2 bytes is another, in both headers of the first member."""
    data = bytearray(data or whole())
    for mark, place in ((LOCAL, place_of_local), (CENTRAL, place_of_central)):
        at = data.index(mark) + place
        data[at : at + 2] = struct.pack("<H", value)
    return bytes(data)


def with_content(spoil, method):
    """A zip in which the packed bytes of the first member are spoiled in place."""
    data = bytearray(whole(method))
    name, extra = struct.unpack("<HH", data[26:30])
    start = 30 + name + extra
    size = struct.unpack("<I", data[data.index(CENTRAL) + 20 :][:4])[0]
    data[start : start + size] = spoil(bytes(data[start : start + size]))[:size].ljust(size, b"\0")
    return bytes(data)


def renamed(name, new):
    """A zip in which a name is other bytes of the same length, under the flag that says UTF-8."""
    assert len(name) == len(new)
    return with_field(6, 8, 0x800, made({name.decode(): notebook()}).replace(name, new))


def flipped(data):
    return bytes(byte ^ 0x5A for byte in data)


def bzip2_of_nothing_known(data):
    return b"BZh9" + flipped(data[4:])


DAMAGED = {
    "cut short": whole()[: len(whole()) // 2],
    "no directory": whole()[: whole().index(CENTRAL)],
    "deflate damaged": with_content(flipped, zipfile.ZIP_DEFLATED),
    "bzip2 damaged": with_content(bzip2_of_nothing_known, zipfile.ZIP_BZIP2),
    "lzma damaged": with_content(lambda data: data[:9] + flipped(data[9:]), zipfile.ZIP_LZMA),
    "lzma with bad properties": with_content(
        lambda data: data[:4] + b"\xff" * 5 + data[9:], zipfile.ZIP_LZMA
    ),
    "lzma with a dictionary of 4 GB": with_content(
        lambda data: data[:5] + b"\xff" * 4 + data[9:], zipfile.ZIP_LZMA
    ),
    "wrong checksum": with_field(14, 16, 0xDEAD),
    "encrypted": with_field(6, 8, 1),
    "strongly encrypted": with_field(6, 8, 0x41),
    "patched data": with_field(6, 8, 0x20),
    "unknown method": with_field(8, 10, 99),
    "version 9.9": with_field(4, 6, 99),
    "a name that is not UTF-8": renamed(b"aaaa.ipynb", b"\xff\xfe\xfa\xfb.ipynb"),
    "names that differ": with_content(bytes, zipfile.ZIP_STORED).replace(NAME.encode(), b"x" * len(NAME), 1),
    "members that overlap": whole().replace(
        struct.pack("<I", whole().rindex(LOCAL)) + b"notes", struct.pack("<I", 0) + b"notes"
    ),
    "a directory elsewhere": whole()[:-6] + struct.pack("<I", 0x7FFFFFFF) + b"\0\0",
    "an extra field that breaks off": with_field(28, 30, 40_000),
    "a file within a file": made({NAME: notebook(), f"{NAME}/inner.txt": b"x"}),
    "a path of 65 kB": made({"a/" * 32_000 + "b.txt": b"x", NAME: notebook()}),
    "a folder called like the time": made({"timestamp.txt/x": b"x", NAME: notebook()}),
    "no zip": b"this is no zip",
    "nothing": b"",
}


def corrupted(seed):
    """A good zip of some method with a few bytes changed, cut out, doubled or put in."""
    draw = random.Random(seed)
    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    data = bytearray(whole(draw.choice(methods)))
    for _ in range(draw.randint(1, 6)):
        # most of what can go wrong stands in the headers, so half of the changes are made there
        starts = [at for mark in (LOCAL, CENTRAL, END) if (at := data.find(mark)) >= 0] or [0]
        at = draw.choice(starts) + draw.randrange(50) if draw.random() < 0.5 else draw.randrange(len(data))
        at = min(at, len(data) - 1)
        match draw.choice(("set", "set", "set", "cut", "double", "put")):
            case "set":
                data[at] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
            case "cut" if len(data) > 60:
                del data[at : at + draw.randint(1, 30)]
            case "double":
                data[at:at] = data[at : at + draw.randint(1, 60)]
            case _:
                data[at:at] = draw.randbytes(draw.randint(1, 8))
    return bytes(data)
