"""Limits on the data that crosses the process boundary, and the two errors for data that breaks them."""

from course.checks.plain import DEEPEST, WRAPPED

MAX_DEPTH = DEEPEST + WRAPPED
MAX_DIMENSIONS = 32
MAX_TREE_BYTES = 8 << 20
MAX_BRACKETS = 1 << 20  # two bytes of JSON can become a hundred of Python objects
MAX_BUFFERS = 1 << 16
MOST_GENERATORS = 100  # each turns a few bytes of JSON into thousands
MAX_EQUAL_HASHES = 64  # more keys than this with one hash are an attack on the dictionary

JSON_SCALARS = frozenset({type(None), bool, int, float, str})


class WireError(ValueError):
    """A frame that no honest encoder writes."""


class Unencodable(TypeError):
    """A value that is not plain data, or too large for a frame."""
