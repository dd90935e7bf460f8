"""Real text: names, Tiny Shakespeare, Multi30k English-French, and the documentation built into Python.

Each is downloaded once, checked and cached (see `download`); Python's documentation needs no network.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Literal

from course.data.download import CorpusError, RemoteFile, fetch

Split = Literal["train", "val", "test_2016_flickr"]

# First names given in the USA, from A. Karpathy's makemore.
NAMES = RemoteFile(
    name="names.txt",
    url="https://raw.githubusercontent.com/karpathy/makemore/master/names.txt",
    sha256="0a30b5557f192f32ab962680889aac5f6fda0f4cecf40a6d0b5694f58ea8cc4d",
    n_bytes=228_145,
)

# Scenes from Shakespeare's plays, about a million characters, from A. Karpathy's char-rnn.
TINY_SHAKESPEARE = RemoteFile(
    name="tinyshakespeare.txt",
    url="https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
    sha256="86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
    n_bytes=1_115_394,
)

# Captions of photographs in English with French translations (Elliott et al. 2016, 2017).
MULTI30K_URL = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"
MULTI30K_CONTENTS = {  # SHA-256 and size of the files as served, compressed
    ("train", "en"): ("d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f", 568_929),
    ("train", "fr"): ("622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c", 604_242),
    ("val", "en"): ("14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28", 21_650),
    ("val", "fr"): ("ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9", 23_001),
    ("test_2016_flickr", "en"): ("611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9", 21_077),
    ("test_2016_flickr", "fr"): ("6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90", 22_310),
}
MULTI30K_SPLITS = tuple(dict.fromkeys(split for split, _ in MULTI30K_CONTENTS))


def multi30k_file(split: Split, language: Literal["en", "fr"]) -> RemoteFile:
    """One side of one split."""
    sha256, n_bytes = MULTI30K_CONTENTS[split, language]
    name = f"{split}.{language}.gz"
    return RemoteFile(f"multi30k_{name}", f"{MULTI30K_URL}/{name}", sha256, n_bytes)


def names(folder: Path | None = None) -> list[str]:
    """32,033 first names in lower case."""
    return lines(fetch(NAMES, folder).read_text(encoding="utf-8"))


def tiny_shakespeare(folder: Path | None = None) -> str:
    """1,115,394 characters of Shakespeare's plays."""
    return fetch(TINY_SHAKESPEARE, folder).read_text(encoding="utf-8")


def multi30k(split: Split = "train", folder: Path | None = None) -> list[tuple[str, str]]:
    """English captions with their French translations: 29,000 (train), 1,014 (val), 1,000 (test)."""
    if split not in MULTI30K_SPLITS:
        raise ValueError(f"split: expected one of {', '.join(MULTI30K_SPLITS)}, got {split!r}")
    paths = [fetch(multi30k_file(split, language), folder) for language in ("en", "fr")]
    english, french = (lines(gzip.decompress(path.read_bytes()).decode("utf-8")) for path in paths)
    return list(zip(english, french, strict=True))


def python_documentation() -> str:
    """The text of `help()` on Python itself: about half a million characters of English, always available.

    The text differs slightly between versions of Python.
    """
    from pydoc_data.topics import topics  # half a megabyte that nothing else needs

    return "\n\n".join(topics[name].strip() for name in sorted(topics))


def some_english(folder: Path | None = None) -> tuple[str, str]:
    """A title and a long text: Tiny Shakespeare, or Python's documentation if there is no network."""
    try:
        return "Tiny Shakespeare", tiny_shakespeare(folder)
    except CorpusError:
        return "Python's documentation", python_documentation()


def lines(text: str) -> list[str]:
    """The lines of a text, without the empty one after the last line feed."""
    return text.removesuffix("\n").split("\n")
