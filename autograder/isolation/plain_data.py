"""What may cross the border, how deep and how large, and the two ways in which it may not."""

import numpy as np
import torch

MAX_DEPTH = 48
MAX_DIMENSIONS = 32
MAX_TREE_BYTES = 8 << 20
MAX_BRACKETS = 1 << 20  # two bytes of JSON can become a hundred of Python objects
MAX_BUFFERS = 1 << 16
MAX_EQUAL_HASHES = 64  # more keys than this with one hash are an attack on the dictionary

JSON_SCALARS = frozenset({type(None), bool, int, float, str})
TENSOR_DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
    )
}
ARRAY_DTYPES = {
    name: np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
}


class WireError(ValueError):
    """A frame that no honest encoder writes."""


class Unencodable(TypeError):
    """A value that is not plain data and may not be passed by reference."""
