"""The data that may pass between a check and the student's code: plain values, always copied."""

from collections.abc import Callable, Collection, Iterable
from itertools import chain
from typing import Any, TypeVar, overload

import numpy as np
import torch
from torch import Tensor

T = TypeVar("T")

DEEPEST = 64  # nested levels in a student's result; a list may contain itself
WRAPPED = 16  # further levels, for what is wrapped around it on its way
LONGEST_RANGE = 10**6
WIDEST = 10**8  # of one dimension; a tensor without entries may claim any size
IMMUTABLE = frozenset({type(None), bool, int, float, complex, str, bytes, torch.dtype, type(Ellipsis)})
CONTAINERS = (tuple, list, set, frozenset)

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

# How an instance of a subclass is converted to its base class, ignoring methods that it overrides.
BASES: tuple[tuple[type, Callable[[Any], object]], ...] = (
    (int, int.__int__),
    (float, float.__float__),
    (complex, complex.__complex__),
    (str, str.__str__),
    (bytes, bytes.__bytes__),
    (bytearray, lambda value: memoryview(value).tobytes()),
)


@overload
def mapped(value: tuple, leaf: Callable[[object], object], levels: int = ...) -> tuple: ...
@overload
def mapped(value: object, leaf: Callable[[object], object], levels: int = ...) -> object: ...
def mapped(value: Any, leaf: Callable[[object], object], levels: int = DEEPEST + WRAPPED) -> object:
    """The same value in plain lists, tuples, dicts and sets, with `leaf` applied to whatever is mutable.

    Raises ValueError for a value that is nested too deeply.
    """
    kind = type(value)
    if kind in IMMUTABLE or (kind is tuple and _flat(value)):
        return value
    if levels < 0:
        raise ValueError(f"a value nested more than {DEEPEST} levels deep")
    if kind is list:
        return list(_entries(value, leaf, levels))
    if issubclass(kind, dict):
        keys, entries = [*dict.keys(value)], [*dict.values(value)]
        return dict(zip(_entries(keys, leaf, levels), _entries(entries, leaf, levels), strict=True))
    for base in CONTAINERS:
        if issubclass(kind, base):
            return base(_entries(value if kind is base else [*base.__iter__(value)], leaf, levels))
    return leaf(value)


def _entries(entries: Collection, leaf: Callable[[object], object], levels: int) -> Iterable:
    if _flat(entries):
        return entries
    return [entry if type(entry) in IMMUTABLE else mapped(entry, leaf, levels - 1) for entry in entries]


def _flat(entries: Collection) -> bool:
    """Whether all entries, also inside tuples, are immutable and need no copy, as is usual."""
    kinds = set(map(type, entries))
    return kinds <= IMMUTABLE or (
        kinds == {tuple} and IMMUTABLE.issuperset(map(type, chain.from_iterable(entries)))
    )


def cannot_change(args: tuple, kwargs: dict) -> bool:
    """Whether no call can change any of its arguments, because all of them are immutable."""
    return _flat(args) and _flat(kwargs.values())


def leaves(value: object) -> list[object]:
    """The mutable values inside nested containers, in order: tensors, arrays, objects …

    Raises ValueError for a value that is nested too deeply, as `mapped` does.
    """
    found: list[object] = []
    _gather(value, found, DEEPEST + WRAPPED)
    return found


def _gather(value: object, found: list[object], levels: int) -> None:
    if type(value) in IMMUTABLE:
        return
    if levels < 0:
        raise ValueError(f"a value nested more than {DEEPEST} levels deep")
    if isinstance(value, dict):
        parts: tuple[Collection, ...] = (value, value.values())
    elif isinstance(value, CONTAINERS):
        parts = (value,)
    else:
        found.append(value)
        return
    for part in parts:
        if not _flat(part):
            for entry in part:
                if type(entry) not in IMMUTABLE:
                    _gather(entry, found, levels - 1)


@overload
def replaced(value: tuple, kinds: type[T] | tuple[type[T], ...], by: Callable[[T], object]) -> tuple: ...
@overload
def replaced(value: object, kinds: type[T] | tuple[type[T], ...], by: Callable[[T], object]) -> object: ...
def replaced(value: object, kinds: type[T] | tuple[type[T], ...], by: Callable[[T], object]) -> object:
    """The value with `by` applied to its leaves of these kinds; the same object if it has none."""
    if not any(isinstance(leaf, kinds) for leaf in leaves(value)):
        return value
    return mapped(value, lambda entry: by(entry) if isinstance(entry, kinds) else entry)


def plain(value: object, otherwise: Callable[[object], object]) -> object:
    """The value as plain data: subclasses become their base class, numpy numbers become Python's.

    `otherwise` converts anything else to plain data. Tensors keep their autograd history, so that a check can
    call `backward` on what a student's module returns.
    Raises ValueError for a value that is nested too deeply, or that is huge although it takes few bytes.
    """
    return mapped(value, lambda entry: _plain_leaf(entry, otherwise), DEEPEST)


def _plain_leaf(value: Any, otherwise: Callable[[object], object]) -> object:
    kind = type(value)
    if issubclass(kind, Tensor):
        return _plain_tensor(value, otherwise)
    if issubclass(kind, np.ndarray):
        return _plain_array(value, otherwise)
    if issubclass(kind, np.generic):
        item = value.item()
        return otherwise(value) if isinstance(item, np.generic) else plain(item, otherwise)
    if kind is range:
        return checked_range(value)
    if kind is slice and {type(value.start), type(value.stop), type(value.step)} <= {int, type(None)}:
        return value
    exact = next((exact for base, exact in BASES if issubclass(kind, base)), otherwise)
    return exact(value)


def _plain_tensor(tensor: Tensor, otherwise: Callable[[object], object]) -> object:
    with torch._C.DisableTorchFunctionSubclass():
        if tensor.is_meta:
            return otherwise(tensor)
        dense = tensor.dequantize() if tensor.is_quantized else tensor
        dense = dense.to_dense() if dense.layout != torch.strided else dense
        if str(dense.dtype).removeprefix("torch.") not in TENSOR_DTYPES:
            return otherwise(tensor)
        checked_shape(dense.shape)
        exact = dense if type(dense) is Tensor else dense.as_subclass(Tensor)
        return exact.cpu().resolve_conj().resolve_neg()


def _plain_array(value: np.ndarray, otherwise: Callable[[object], object]) -> object:
    array = np.asarray(value)
    if array.dtype.name not in ARRAY_DTYPES:
        return plain(array.tolist(), otherwise)
    checked_shape(array.shape)
    return array.astype(ARRAY_DTYPES[array.dtype.name], order="C")


def checked_range(value: range) -> range:
    """The range itself; raises ValueError if a list of its numbers would not fit into memory."""
    if max(0, -((value.start - value.stop) // value.step)) > LONGEST_RANGE:
        raise ValueError(f"a range of more than {LONGEST_RANGE:,} numbers")
    return value


def checked_shape(shape: Iterable[int]) -> None:
    """Raise ValueError for a dimension larger than any answer needs."""
    if max(shape, default=0) > WIDEST:
        raise ValueError(f"a shape with a dimension of more than {WIDEST:,}")


@overload
def snapshot(value: tuple) -> tuple: ...
@overload
def snapshot(value: object) -> object: ...
def snapshot(value: object) -> object:
    """A copy that nobody else can change; its tensors are detached, but require gradients as before."""
    return mapped(value, copied)


def copied(value: object) -> object:
    """A detached, contiguous copy of a leaf: see `snapshot`."""
    if isinstance(value, Tensor):
        copy = value.detach().clone(memory_format=torch.contiguous_format)
        return copy.requires_grad_() if value.requires_grad else copy
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, torch.Generator):
        return copied_generator(value)
    return value


def copied_generator(generator: torch.Generator) -> torch.Generator:
    """A new generator in the same state."""
    copy = torch.Generator(generator.device)
    copy.set_state(generator.get_state())
    return copy


def tensors_in(value: object) -> list[Tensor]:
    """All tensors inside nested containers, in order."""
    return [leaf for leaf in leaves(value) if isinstance(leaf, Tensor)]


def sendable(argument: object) -> object:
    """The argument itself; raises TypeError if it is not plain and so cannot be sent to a sandbox."""
    if isinstance(argument, Tensor | np.ndarray | torch.Generator | range | slice):
        return argument
    raise TypeError(f"a check can pass only plain data, not a {type(argument).__name__}")
