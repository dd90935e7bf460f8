"""The record of a check: every call it made on the student's objects, and its outcome."""

from dataclasses import dataclass, field
from typing import Literal, get_args

import torch

# A value, an error of the student's code, a stub, or no answer at all.
Kind = Literal["value", "error", "not_written", "unreachable"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Thing:
    """One of the student's functions or classes, by its exercise's name, used as an argument."""

    name: str


@dataclass(frozen=True)
class Object:
    """A returned value that is not plain data: it stays on the student's side and has a number here."""

    index: int
    kind: str = field(default="object", compare=False)  # its class's name, for messages only


@dataclass(frozen=True)
class Answer:
    """The tensors returned by event number `event`, as the target of a `backward` event."""

    event: int


@dataclass(frozen=True)
class Outcome:
    """The outcome of one call: a value or an error, and the arguments afterwards if the call changed them."""

    kind: Kind
    value: object = None
    error: str = ""  # the exception's class name, which the student may have chosen
    message: str = ""
    changed: tuple | None = None  # (args, kwargs) after the call

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"an outcome is one of {', '.join(KINDS)}, not {self.kind!r}")


@dataclass(frozen=True)
class Event:
    """One call: its target, method, arguments and outcome."""

    target: "str | Object | Answer"
    method: str  # "" is a plain call
    args: tuple
    kwargs: dict
    outcome: Outcome
    by_chance: bool = False  # whether random first weights decide it, so that it is no evidence of a mistake

    @property
    def is_coarse(self) -> bool:
        """Whether a number of half precision went in: one mistake written in two ways differs by rounding."""
        given = (*self.args, *self.kwargs.values())
        return any(getattr(one, "dtype", None) in (torch.float16, torch.bfloat16) for one in given)


@dataclass
class Trace:
    """All events of one check, in order; `objects` holds the link's handles of the objects seen so far."""

    check: str
    events: list[Event] = field(default_factory=list)
    objects: list[Object] = field(default_factory=list, repr=False, compare=False)
    _numbers: dict[Object, int] = field(default_factory=dict, repr=False, compare=False)

    def number_of(self, handle: Object) -> Object:
        """The trace's own number for a link's handle: objects are counted in order of appearance."""
        number = self._numbers.setdefault(handle, len(self.objects))
        if number == len(self.objects):
            self.objects.append(handle)
        return Object(number, handle.kind)
