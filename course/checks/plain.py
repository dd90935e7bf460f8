"""What may cross between a check and the student's code: plain data, always copied."""

from collections.abc import Callable, Collection, Iterable
from itertools import chain

import numpy as np
import torch
from torch import Tensor

DEEPEST = 64  # a list that contains itself must end somewhere
IMMUTABLE = frozenset({type(None), bool, int, float, complex, str, bytes, range, slice, torch.dtype})


def mapped(value: object, leaf: Callable[[object], object], depth: int = 0) -> object:
    """The same value in plain lists, tuples, dicts and sets, with `leaf` applied to what is not immutable."""
    kind = type(value)
    if kind in IMMUTABLE or (kind is tuple and _flat(value)):
        return value
    if depth > DEEPEST:
        raise ValueError(f"a value nested more than {DEEPEST} levels deep")
    if isinstance(value, dict):
        entries = value.values() if _flat(value.values()) else _entries(value.values(), leaf, depth)
        return dict(zip(value if _flat(value) else _entries(value, leaf, depth), entries, strict=True))
    for kind in (tuple, list, set, frozenset):
        if isinstance(value, kind):
            return kind(value if _flat(value) else _entries(value, leaf, depth))
    return leaf(value)


def _entries(entries: Iterable, leaf: Callable[[object], object], depth: int) -> list:
    return [mapped(entry, leaf, depth + 1) for entry in entries]


def _flat(entries: Collection) -> bool:
    """Whether all entries, or all entries of tuples, are immutable and need no copy; mostly they are."""
    kinds = set(map(type, entries))
    return kinds <= IMMUTABLE or (
        kinds == {tuple} and IMMUTABLE.issuperset(map(type, chain.from_iterable(entries)))
    )


def leaves(value: object) -> list[object]:
    """What there is inside nested containers that is not immutable, in order: tensors, arrays, objects …

    Raises ValueError for a value that is nested too deeply, as `mapped` does.
    """
    found: list[object] = []
    _gather(value, found, 0)
    return found


def _gather(value: object, found: list[object], depth: int) -> None:
    if type(value) in IMMUTABLE:
        return
    if depth > DEEPEST:
        raise ValueError(f"a value nested more than {DEEPEST} levels deep")
    if isinstance(value, dict):
        parts: tuple[Collection, ...] = (value.values(), value)
    elif isinstance(value, tuple | list | set | frozenset):
        parts = (value,)
    else:
        found.append(value)
        return
    for part in parts:
        for entry in () if _flat(part) else part:
            _gather(entry, found, depth + 1)


def replaced(value: object, kinds: type | tuple[type, ...], by: Callable[[object], object]) -> object:
    """The value with `by` applied to its leaves of these kinds; the very same value where it has none."""
    if not any(isinstance(leaf, kinds) for leaf in leaves(value)):
        return value
    return mapped(value, lambda entry: by(entry) if isinstance(entry, kinds) else entry)


def plain(value: object, otherwise: Callable[[object], object]) -> object:
    """The value as plain data: subclasses become their base, numpy numbers become Python's.

    `otherwise` turns what is not plain into something that is. Tensors keep their gradient history, so that a
    check can call `backward` on what a student's module returns.
    """
    return mapped(value, lambda entry: _plain_leaf(entry, otherwise))


def _plain_leaf(value: object, otherwise: Callable[[object], object]) -> object:
    if isinstance(value, Tensor):
        return _plain_tensor(value)
    if isinstance(value, np.ndarray):
        return plain(value.tolist(), otherwise) if value.dtype == object else np.array(value)
    if isinstance(value, np.generic) and not isinstance(value.item(), np.generic):
        return value.item()
    for base in (int, float, complex, str, bytes):
        if isinstance(value, base):
            return base(value)
    return otherwise(value)


def _plain_tensor(tensor: Tensor) -> Tensor:
    dense = tensor.to_dense() if tensor.layout != torch.strided else tensor
    return dense.cpu().as_subclass(Tensor)


def snapshot(value: object) -> object:
    """A copy that nobody else can change; its tensors lose their history, not their need of gradients."""
    return mapped(value, copied)


def copied(value: object) -> object:
    """A leaf of its own: see `snapshot`."""
    if isinstance(value, Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, torch.Generator):
        return copied_generator(value)
    return value


def copied_generator(generator: torch.Generator) -> torch.Generator:
    """A generator of its own in the same state."""
    copy = torch.Generator(generator.device)
    copy.set_state(generator.get_state())
    return copy


def tensors_in(value: object) -> list[Tensor]:
    """All tensors inside nested containers, in order."""
    return [leaf for leaf in leaves(value) if isinstance(leaf, Tensor)]


def sendable(argument: object) -> object:
    """The argument itself if it is plain; what is not plain cannot reach a student's code in a sandbox."""
    if isinstance(argument, Tensor | np.ndarray | torch.Generator):
        return argument
    raise TypeError(f"a check can pass on plain data only, not a {type(argument).__name__}")
