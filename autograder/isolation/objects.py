"""The student's objects, and what may be asked of them from outside."""

import operator
from collections.abc import Callable, Iterator
from typing import Any

import torch

MAX_GRAPHS = 64

# Methods that go through the language rather than through the object's attributes.
PROTOCOLS: dict[str, Callable] = {
    "": lambda thing, *args, **kwargs: thing(*args, **kwargs),
    "__getattr__": getattr,
    "__getitem__": operator.getitem,
    "__contains__": operator.contains,
    "__len__": len,
    "__iter__": iter,
    "__next__": next,
}
# Of a torch.nn.Module: what would otherwise be an iterator comes as a list.
LISTED = frozenset({"named_parameters", "parameters", "named_buffers", "buffers"})


class Objects:
    """What stays here and is known outside by a number."""

    def __init__(self, namespace: dict[str, Any]):
        self.namespace = namespace
        self.kept: list[Any] = []
        self.numbers: dict[int, int] = {}

    def refer(self, thing: Any) -> list:
        """The reference under which an object is known outside."""
        number = self.numbers.get(id(thing))
        if number is None:
            number = self.numbers[id(thing)] = len(self.kept)
            self.kept.append(thing)
        return ["object", number, type(thing).__name__, callable(thing)]

    def resolve(self, reference: list) -> Any:
        """The object behind a reference, or the thing of that name."""
        kind, key, *_ = reference
        return self.kept[key] if kind == "object" else self.named(key)

    def named(self, name: str) -> Any:
        if name not in self.namespace:
            raise NameError(f"name {name!r} is not defined")
        return self.namespace[name]

    def ask(self, thing: Any, method: str, args: tuple, kwargs: dict) -> Any:
        """Call an object or one of its methods."""
        if method in PROTOCOLS:
            return PROTOCOLS[method](thing, *args, **kwargs)
        if method == "gradients" and isinstance(thing, torch.nn.Module) and not hasattr(thing, method):
            return {name: parameter.grad for name, parameter in thing.named_parameters()}
        answer = getattr(thing, method)(*args, **kwargs)
        return list(answer) if method in LISTED and isinstance(answer, Iterator) else answer


class Graphs:
    """Computations kept so that gradients can be asked for later: the border's side of autograd."""

    def __init__(self) -> None:
        self.kept: dict[int, tuple[list[torch.Tensor], list[torch.Tensor]]] = {}
        self.count = 0

    def keep(self, inputs: Any, outputs: Any) -> int | None:
        """Remember a call's tensors; None where no output depends on anything differentiable."""
        results = list(tensors_in(outputs))
        if not any(result.requires_grad for result in results):
            return None
        self.count += 1
        self.kept[self.count] = (list(tensors_in(inputs)), results)
        self.kept.pop(self.count - MAX_GRAPHS, None)
        return self.count

    def backward(self, number: int, cotangents: list[torch.Tensor | None]) -> list[torch.Tensor | None]:
        """The gradients of a call's arguments, given those of its results; parameters collect theirs."""
        inputs, outputs = self.kept[number]
        for tensor in inputs:
            tensor.grad = None
        pairs = [
            (output, cotangent)
            for output, cotangent in zip(outputs, cotangents, strict=True)
            if output.requires_grad and cotangent is not None
        ]
        if pairs:
            roots, seeds = zip(*pairs, strict=True)
            torch.autograd.backward(roots, seeds, retain_graph=True)
        return [tensor.grad for tensor in inputs]


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """The tensors of nested lists, tuples and dictionaries, in the order in which they cross the border."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)
