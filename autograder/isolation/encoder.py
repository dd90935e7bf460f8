"""Values → a JSON tree, and the bytes of their arrays."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from autograder.isolation.plain_data import JSON_SCALARS, MAX_DEPTH, Unencodable
from course.checks.plain import ARRAY_DTYPES, TENSOR_DTYPES
from course.checks.trace import Object, Thing

TENSOR = torch._C.TensorBase  # its methods cannot be replaced; those of torch.Tensor can


class Writer:
    """Turns values into a JSON tree and collects the bytes of arrays."""

    def __init__(self) -> None:
        self.buffers: list[bytes] = []

    def tree(self, value: Any, depth: int) -> Any:
        if type(value) in JSON_SCALARS:
            return value
        if depth == 0:
            raise Unencodable(f"a value nested more than {MAX_DEPTH} levels deep")
        write = EXACT.get(type(value)) or next((by for kind, by in WRITERS if isinstance(value, kind)), None)
        if write is None:
            raise Unencodable(f"a {type(value).__name__} is not plain data")
        return write(self, value, depth - 1)

    def items(self, values: Iterable, depth: int) -> list:
        values = list(values)
        if JSON_SCALARS.issuperset(map(type, values)):
            return values
        return [value if type(value) in JSON_SCALARS else self.tree(value, depth) for value in values]

    def aside(self, content: bytes) -> int:
        self.buffers.append(content)
        return len(self.buffers) - 1


def write_dict(writer: Writer, value: dict, depth: int) -> dict:
    return {"dict": [writer.items(dict.keys(value), depth), writer.items(dict.values(value), depth)]}


def write_tensor(writer: Writer, value: torch.Tensor, depth: int) -> dict:
    with torch._C.DisableTorchFunctionSubclass():
        name = dtype_name(value.dtype, TENSOR_DTYPES)
        if value.layout is not torch.strided or value.is_meta:
            raise Unencodable("a tensor whose entries cannot be read")
        plain = TENSOR.resolve_neg(TENSOR.resolve_conj(TENSOR.cpu(TENSOR.detach(value))))
        plain = TENSOR.clone(plain, memory_format=torch.contiguous_format)  # also for strides of zero
        content = TENSOR.numpy(TENSOR.view(TENSOR.reshape(plain, (-1,)), torch.uint8)).tobytes()
        return {"tensor": [name, list(value.shape), writer.aside(content), bool(value.requires_grad)]}


def write_array(writer: Writer, value: np.ndarray, depth: int) -> dict:
    array = np.asarray(value)
    native = array.astype(ARRAY_DTYPES[dtype_name(array.dtype, ARRAY_DTYPES)], copy=False)
    return {"array": [array.dtype.name, list(array.shape), writer.aside(native.tobytes())]}


def dtype_name(dtype: Any, known: dict[str, Any]) -> str:
    """The name of a dtype; raises Unencodable for one that cannot be sent."""
    name = dtype.name if isinstance(dtype, np.dtype) else str(dtype).removeprefix("torch.")
    if name not in known:
        raise Unencodable(f"an array of {name} cannot be sent")
    return name


def write_generator(writer: Writer, value: torch.Generator, depth: int) -> dict:
    return {"generator": writer.tree(value.get_state(), depth)}


# Subclasses are written as the plain type they extend: a Counter arrives as a dict, a named tuple as a tuple.
WRITERS: tuple[tuple[Any, Callable[[Writer, Any, int], Any]], ...] = (
    (torch.Tensor, write_tensor),
    (np.ndarray, write_array),
    (list, lambda writer, value, depth: writer.items(list.__iter__(value), depth)),
    (tuple, lambda writer, value, depth: {"tuple": writer.items(tuple.__iter__(value), depth)}),
    (dict, write_dict),
    (set, lambda writer, value, depth: {"set": writer.items(set.__iter__(value), depth)}),
    (frozenset, lambda writer, value, depth: {"frozenset": writer.items(frozenset.__iter__(value), depth)}),
    (str, lambda writer, value, depth: str.__str__(value)),
    (int, lambda writer, value, depth: int.__int__(value)),
    (float, lambda writer, value, depth: float.__float__(value)),
    (complex, lambda writer, value, depth: {"complex": [value.real, value.imag]}),
    ((bytes, bytearray), lambda writer, value, depth: {"bytes": writer.aside(bytes(value))}),
    (range, lambda writer, value, depth: {"range": [value.start, value.stop, value.step]}),
    (
        slice,
        lambda writer, value, depth: {"slice": writer.items((value.start, value.stop, value.step), depth)},
    ),
    (torch.dtype, lambda writer, value, depth: {"dtype": str(value).removeprefix("torch.")}),
    (torch.Generator, write_generator),
    (Object, lambda writer, value, depth: {"object": [value.index, value.kind]}),
    (Thing, lambda writer, value, depth: {"thing": value.name}),
    (type(Ellipsis), lambda writer, value, depth: {"ellipsis": None}),
)
EXACT = {kind: write for kind, write in WRITERS if isinstance(kind, type)}  # most values are no subclass
