"""The 256 bytes as tokens, in GPT-2's order, and the visible characters that stand for them in its files."""

from __future__ import annotations

# First the bytes that print as one visible character, then the rest (Radford et al. 2019, encoder.py).
PRINTABLE_BYTES = (*range(33, 127), *range(161, 173), *range(174, 256))
BYTE_ORDER = (*PRINTABLE_BYTES, *sorted(set(range(256)).difference(PRINTABLE_BYTES)))

SINGLE_BYTES = tuple(bytes([value]) for value in BYTE_ORDER)
TOKEN_OF_BYTE = {byte: token for token, byte in enumerate(BYTE_ORDER)}

# A printable byte stands for itself; the others are written as the characters from U+0100 on.
VISIBLE = "".join(map(chr, (*PRINTABLE_BYTES, *range(256, 256 + 256 - len(PRINTABLE_BYTES)))))
BYTE_OF_VISIBLE = dict(zip(VISIBLE, BYTE_ORDER, strict=True))


def byte_tokens(text: str) -> list[int]:
    """One token for each byte of the text's UTF-8: "é" → two tokens."""
    return [TOKEN_OF_BYTE[byte] for byte in text.encode()]


def visible(spelling: bytes) -> str:
    """Bytes as GPT-2's files write them: b" the" → "Ġthe"."""
    return "".join(VISIBLE[TOKEN_OF_BYTE[byte]] for byte in spelling)


def from_visible(text: str) -> bytes:
    """ "Ġthe" → b" the"."""
    return bytes(BYTE_OF_VISIBLE[character] for character in text)
