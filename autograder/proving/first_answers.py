"""A wrong solution made of the reference: it repeats its first answer for later inputs of the same sizes.

Who keeps a result in a dictionary under its shape has written it. Only a claim that asks twice sees it, with
other values of the same sizes and the same settings.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import torch
from torch import nn

NAME = "the first answer repeated for inputs of the same sizes"
SETTINGS = (str, int, float, bool, type(None))


def repeating_first(thing: Any) -> Any | None:
    """The function or module with this fault; None for a class without `forward` or `__call__`.

    A number or word that is an argument by itself is a setting, and another one gets its own answer. Of
    tensors, lists, tuples and dicts only sizes and types count. Each object of a class remembers for itself.
    """
    if not isinstance(thing, type):
        return _remembering(thing, {})
    method = "forward" if issubclass(thing, nn.Module) else "__call__"
    if not any(method in vars(base) for base in thing.__mro__):
        return None
    original = getattr(thing, method)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        first = self.__dict__.setdefault("_first_answers", {})
        return _remembering(lambda *a, **k: original(self, *a, **k), first)(*args, **kwargs)

    return type(thing.__name__, (thing,), {method: call})


def has_data(args: tuple, kwargs: dict) -> bool:
    """Whether an argument of a call is more than a setting, so that a first answer can be wrong later."""
    return any(not isinstance(one, SETTINGS) for one in (*args, *kwargs.values()))


def _remembering(function: Callable[..., Any], first: dict[Hashable, Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        key = (*map(_sizes, args), *((name, _sizes(kwargs[name])) for name in sorted(kwargs)))
        if key not in first:
            first[key] = function(*args, **kwargs)
        return first[key]

    return call


def _sizes(value: Any, *, is_inside: bool = False) -> Hashable:
    match value:
        case torch.Tensor():
            return (*value.shape, str(value.dtype))
        case dict():
            return tuple((_sizes(k, is_inside=True), _sizes(v, is_inside=True)) for k, v in value.items())
        case list() | tuple():
            return tuple(_sizes(one, is_inside=True) for one in value)
        case _ if isinstance(value, SETTINGS) and not is_inside:
            return value
    return type(value).__name__
