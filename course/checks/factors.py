"""Named constants: the factors and powers by which wrong answers about language models are often off."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from course.checks.brief import apart
from course.checks.closeness import is_array
from course.language import say

PRECISION = 2e-5  # relative; wide enough for answers in float32
LEAST_SIZE = 5  # smaller factors have too many causes
LARGEST_DENOMINATOR = 100  # of a simple fraction; a ratio of two such fractions may be chance

UNITS = {
    math.log(2): ("ln 2", say("nats where bits are expected")),
    1 / math.log(2): ("1/ln 2", say("bits where nats are expected")),
    1 / math.log(10): ("1/ln 10", say("a logarithm to base 10 where a natural one is expected")),
    math.log(10): ("ln 10", say("a natural logarithm where one to base 10 is expected")),
    math.log10(2): ("log₁₀ 2", say("a logarithm to base 10 where bits are expected")),
    1 / math.log10(2): ("1/log₁₀ 2", say("bits where a logarithm to base 10 is expected")),
}
POWERS = {
    math.log(2): say("the expected one raised to the power ln 2, as when 2 is raised to nats"),
    1 / math.log(2): say("the expected one raised to the power 1/ln 2, as when e is raised to bits"),
    -1.0: say("the reciprocal of the expected one"),
    0.5: say("the square root of the expected one"),
    2.0: say("the square of the expected one"),
}


def nearly(a: float, b: float) -> bool:
    """Whether two numbers are equal up to rounding, relative to their magnitude."""
    return math.isclose(a, b, rel_tol=PRECISION)


def is_simple(number: float) -> bool:
    """Whether a number is a simple fraction, as the answers to small examples often are."""
    return abs(number - Fraction(number).limit_denominator(LARGEST_DENOMINATOR)) < 1e-9


def sizes_of(arguments: Sequence[object]) -> dict[int, str]:
    """The sizes found in the arguments of a call, and what they measure: {7: "the length of argument 1"}."""
    sizes: dict[int, str] = {}
    for position, argument in enumerate(arguments, 1):
        several = say("argument {position}", position=position)
        name = several if len(arguments) > 1 else say("the argument")
        for size, meaning in _sizes(argument, name):
            sizes.setdefault(size, meaning)
    return sizes


def _sizes(argument: object, name: str) -> list[tuple[int, str]]:
    if is_array(argument):
        axes = [
            (size, say("the size of axis {axis} of {name}", axis=axis, name=name))
            for axis, size in enumerate(argument.shape)
        ]
        return [*axes, (math.prod(argument.shape), say("the number of values in {name}", name=name))]
    if isinstance(argument, str | bytes | list | tuple | dict | set | frozenset):
        return [(len(argument), say("the length of {name}", name=name)), *_inner_lengths(argument, name)]
    return []


def _inner_lengths(argument: object, name: str) -> list[tuple[int, str]]:
    if not isinstance(argument, list | tuple) or not all(
        isinstance(entry, list | tuple) for entry in argument
    ):
        return []
    return [(sum(map(len, argument)), say("the number of entries in all lists of {name}", name=name))]


def named_factor(factor: float, sizes: Mapping[int, str]) -> str:
    """ "ln 2 times the expected one: nats where bits are expected", if the factor has a name; else ""."""
    if nearly(factor, -1.0):
        return say("the negative of the expected one")
    named = _unit_factor(abs(factor)) or _size_factor(abs(factor), sizes) or _simple_factor(abs(factor))
    return say("minus {relation}", relation=named) if named and factor < 0 else named


def _unit_factor(factor: float) -> str:
    fitting = (unit for value, unit in UNITS.items() if nearly(factor, value))
    name, meaning = next(fitting, ("", ""))
    return say("{factor} times the expected one: {meaning}", factor=name, meaning=meaning) if name else ""


def _size_factor(factor: float, sizes: Mapping[int, str]) -> str:
    for size, name in sizes.items():
        if size < LEAST_SIZE:
            continue
        found: dict[str, object] = {"size": size, "name": name}
        if nearly(factor, size):
            return say(
                "{size} times the expected one, and {size} is {name}: a sum instead of a mean?", **found
            )
        if nearly(factor, 1 / size):
            return say(
                "1/{size} of the expected one, and {size} is {name}: divided by it once too often?", **found
            )
        if name.startswith(("the length", "the number")) or math.isqrt(size) ** 2 == size:
            continue  # nobody divides by the root of a length; the root of a square is just a whole number
        if nearly(factor, math.sqrt(size)):
            return say("√{size} times the expected one, and {size} is {name}", **found)
        if nearly(factor, 1 / math.sqrt(size)):
            return say("1/√{size} of the expected one, and {size} is {name}", **found)
    return ""


def _simple_factor(factor: float) -> str:
    if nearly(factor, 2.0):
        return say("twice the expected one")
    return say("half of the expected one") if nearly(factor, 0.5) else ""


def factor_text(factor: float, sizes: Mapping[int, str]) -> str:
    """The factor in words, with its name if it has one."""
    shown = apart(factor, math.copysign(1.0, factor))[0]
    return named_factor(factor, sizes) or say("{factor} times the expected one", factor=shown)


def named_power(power: float) -> str:
    """What the expected value becomes when raised to this power, if the power has a name; else ""."""
    return next((meaning for value, meaning in POWERS.items() if nearly(power, value)), "")
