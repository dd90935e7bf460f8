"""Functions and classes of a student who does everything that a protocol can stumble over."""

import sys
import warnings
from collections import Counter, OrderedDict
from typing import NamedTuple

import numpy as np
import torch
from torch import nn


def parts(x):
    if isinstance(x, dict):
        x = x.values()
    if isinstance(x, (dict.values.__class__, type({}.values()), list, tuple)):
        for entry in x:
            yield from parts(entry)
    else:
        yield x


def same_again(x):
    return x


def received(x):
    """What a function can see of its arguments beyond their numbers."""
    seen = []
    for entry in parts(x):
        if isinstance(entry, torch.Tensor):
            kind = (str(entry.dtype), tuple(entry.shape), entry.is_contiguous())
            seen.append((*kind, entry.requires_grad, entry.is_leaf, torch.is_grad_enabled()))
        elif isinstance(entry, np.ndarray):
            seen.append((str(entry.dtype), entry.shape, entry.flags.c_contiguous, entry.flags.writeable))
        else:
            seen.append(type(entry).__name__)
    return seen


def nested(x):
    return {"list": [x, (x, {"deep": [x]})], (1, "a"): {2, frozenset({3})}, 2: None}


def subclasses(x):
    class Pair(NamedTuple):
        first: object
        second: object

    class Text(str):
        def __str__(self):
            return "another"

    class Whole(int):
        def __int__(self):
            return 7

    class Entries(list):
        def __iter__(self):
            return iter([1, 2, 3])

    class Table(dict):
        def values(self):
            return [0]

        def __iter__(self):
            return iter(["other"])

    return [Pair(x, 1), Counter("aab"), OrderedDict(a=x), Text("a"), Whole(3), Entries([x]), Table(a=x)]


def odd_values(x):
    return [
        *(np.float32(0.5), np.int64(3), np.bool_(True), np.array(["a", "b"]), np.array([1, None, x], object)),
        *(np.arange(3, dtype=">i4"), np.arange(6.0).reshape(2, 3).T, np.longdouble(1)),
        *(range(5), range(9, 0, -2), slice(1, None, 2), slice("a", [x]), Ellipsis, NotImplemented),
        *(1j, b"bytes", bytearray(b"bytes"), memoryview(b"x"), "\ud800", float("nan"), -(2**200)),
        *(torch.float32, torch.Size([2, 3]), torch.device("cpu"), torch.Generator(), object(), type, len),
    ]


def odd_tensors(x):
    class Agreeing(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return True

    return [
        *(torch.eye(3).to_sparse(), torch.ones(3).expand(2, 3), torch.arange(6).reshape(2, 3).T),
        *(torch.empty(2, 3, device="meta"), torch.tensor([1 + 2j]).conj(), torch.empty(0, 4)),
        torch.quantize_per_tensor(torch.ones(2), 0.5, 0, torch.quint8),
        torch.zeros(2).as_subclass(Agreeing),
        *(nn.Parameter(torch.ones(2)), torch.ones(2).bfloat16(), torch.ones(2).half(), torch.tensor(True)),
        torch.ones(2, dtype=torch.uint16),
    ]


def change(x):
    """Change everything in place that lets itself be changed."""
    if isinstance(x, torch.Tensor):
        x.mul_(0) if x.dtype == torch.bool else x.add_(1)
    elif isinstance(x, np.ndarray):
        x[...] = 1
    elif isinstance(x, list):
        for entry in x:
            change(entry)
        x.append(1)
    elif isinstance(x, dict):
        for entry in x.values():
            change(entry)
        x["new"] = "entry"
    elif isinstance(x, tuple):
        for entry in x:
            change(entry)


def change_a_little(x):
    for entry in parts(x):
        if isinstance(entry, torch.Tensor) and entry.is_floating_point():
            entry.mul_(1 + 1e-12)


def change_beside(x, generator):
    drawn = torch.rand(2, generator=generator)
    change(x)
    return drawn


def change_into_an_object(x):
    if isinstance(x, list):
        x.append(Plain(1))
        x.append(same_again)
    return x


def change_without_end(x):
    if isinstance(x, list):
        x.append(x)


def draw(x):
    return torch.rand(2), float(np.random.rand()), __import__("random").random()


def give_the_generator(x, generator):
    return generator


def loud(x):
    print("printed", x)
    print("printed", file=sys.stderr)
    warnings.warn("warned", stacklevel=1)
    return x


def without_gradients(x):
    torch.set_grad_enabled(False)
    return [entry * 2 for entry in parts(x) if isinstance(entry, torch.Tensor)]


def doubled(x):
    return [entry * 2 for entry in parts(x) if isinstance(entry, torch.Tensor)]


def double_in_place(x):
    for entry in parts(x):
        if isinstance(entry, torch.Tensor) and entry.is_floating_point():
            entry *= 2
    return x


def own_gradient(x):
    """A gradient that the function itself asks autograd for."""
    found = []
    for entry in parts(x):
        if isinstance(entry, torch.Tensor) and entry.is_floating_point():
            with torch.enable_grad():
                (entry if entry.requires_grad else entry.requires_grad_()).square().sum().backward()
            found.append(entry.grad)
    return found


def detached(x):
    return [entry.detach() * 3 for entry in parts(x) if isinstance(entry, torch.Tensor)]


class OddBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise Died("on the way back")


def failing_backward(x):
    return [OddBackward.apply(e) for e in parts(x) if isinstance(e, torch.Tensor) and e.is_floating_point()]


def functions(x):
    return [same_again, Plain, functions, torch.relu, lambda: x]


def call(function, x):
    return function(x)


def the_same_function(function, x):
    return [function, call, the_same_function]


def too_deep(x):
    for _ in range(200):
        x = [x]
    return x


def deep(x, levels):
    for _ in range(levels):
        x = [x]
    return x


def endless(x):
    entries = []
    entries.append(entries)
    return entries


def long_range(x):
    return {"entries": range(2**62)}


def long_backward_range(x):
    return range(10**9, -(2**70), -1)


def huge_empty(x):
    return torch.empty(2**39, 0)


def huge_empty_array(x):
    return np.empty((2**39, 0))


def many_objects(x):
    return [object() for _ in range(10_001)]


class Died(Exception):
    pass


class Unreachable(Exception):
    pass


class NotWritten(Exception):
    pass


class Named(type):
    __name__ = property(lambda cls: 3 / 0)
    __mro__ = property(lambda cls: 3 / 0)


class OddlyNamed(Exception, metaclass=Named):
    pass


class Speechless(Exception):
    def __str__(self):
        raise ValueError


class Endless(Exception):
    def __str__(self):
        return "x" * 100_000


ERRORS = (
    *(ValueError("wrong"), StopIteration(3), SystemExit(0), GeneratorExit(), NotImplementedError("here")),
    *(Died("a"), Unreachable("b"), NotWritten("c"), OddlyNamed("d"), Speechless(), Endless(), KeyError("k")),
    *(SyntaxError("s"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "r"), ExceptionGroup("g", [ValueError()])),
    *(MemoryError(), RecursionError("r"), AssertionError(), Exception("\ud800")),
)


def fail(x, number):
    raise ERRORS[number]


def yielding(x):
    yield x


def nothing(x):
    """Returns nothing."""


def in_numpy(x):
    return np.ones(2)


def makes_an_object(x):
    return Plain(x)


def through_a_given(x):
    return given(x)  # noqa: F821


def recurse(x):
    return recurse(x)


def stub(x):
    raise NotImplementedError


def calls_a_stub(x):
    return Plain(x).method_stub()


class Plain:
    def __init__(self, x):
        self.x = x
        self._x = [x]
        self.__wrapped__ = same_again
        self.gradients = 5
        self.count = 0

    def method_stub(self):
        raise NotImplementedError

    def itself(self):
        return self

    def parts(self):
        return [self, Plain(1), self]

    def parameters(self):
        yield torch.ones(2)
        yield self.x

    def named_parameters(self):
        yield "x", torch.ones(3)

    def buffers(self):
        return iter([1, 2])

    def named_buffers(self):
        return {"a": 1}

    def __len__(self):
        self.count += 1
        return self.count

    def __getitem__(self, key):
        return [self.x, key][key] if isinstance(key, int) else key

    def __contains__(self, entry):
        return "yes"

    def __iter__(self):
        yield self.x
        yield self
        raise Died("in the middle")

    def __eq__(self, other):
        return True

    __hash__ = None


class Lying:
    """Says that it is a list."""

    __class__ = list

    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        return name if name.startswith("any") else super().__getattribute__(name)

    def __len__(self):
        raise KeyError("no length")

    def __iter__(self):
        return 3


class Line(nn.Module):
    def __init__(self, x):
        super().__init__()
        self.weight = nn.Parameter(torch.arange(3.0, dtype=torch.float64))
        self.unused = nn.Parameter(torch.ones(1))
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        return [(entry.double().sum() * self.weight) for entry in parts(x) if isinstance(entry, torch.Tensor)]


class Awkward(Line):
    """A module whose own attributes have the names of the protocol."""

    def __init__(self, x):
        super().__init__(x)
        self.gradients = nn.Parameter(torch.ones(2))
        self._x = x
        self.__wrapped__ = x

    def parameters(self, recurse=True):
        return {"not": "an iterator"}

    def buffers(self, recurse=True):
        raise StopIteration("none")


CLASSES = (Plain, Lying, Line, Awkward)
