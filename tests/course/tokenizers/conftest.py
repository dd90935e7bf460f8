"""Texts for the tokenizers: real ones, and ones that are hard to cut."""

import random
from pydoc_data.topics import topics

import pytest


@pytest.fixture(scope="session")
def documentation() -> str:
    """60,000 characters of English from Python's own documentation."""
    return "\n".join(topics[name] for name in sorted(topics))[:60_000]


@pytest.fixture(scope="session")
def hard_texts() -> list[str]:
    """Short random texts: repeated letters, runs of spaces, accents, numerals that are no digits, emoji."""
    alphabet = [*"aaab  \n\té߲½一🙂_-ₐ1", "'s", "'ll", "\x1c", "\xa0", "e\u0301"]
    rng = random.Random(0)
    kinds = [rng.sample(alphabet, rng.randint(1, len(alphabet))) for _ in range(60)]
    return ["".join(rng.choices(kind, k=rng.randint(1, 150))) for kind in kinds]
