"""How two strings, lists or sets differ."""

from collections import Counter
from collections.abc import Collection, Sequence

from course.checks.brief import brief
from course.checks.closeness import same

LEAST_ORDERED = 5  # distinct entries that are needed to recognise a shift
AROUND = 12  # characters of a text shown on each side of the first difference


def identical(a: object, b: object) -> bool:
    """Whether two values are equal and agree in what is a list and what a tuple."""
    return same(a, b) and _form(a) == _form(b)


def _form(value: object) -> object:
    return (type(value), [_form(entry) for entry in value]) if isinstance(value, list | tuple) else None


def text_difference(received: str | bytes, expected: str | bytes) -> str:
    """How two texts differ: in case, in white space, in length, or from which character on."""
    if isinstance(received, str) and received.lower() == expected.lower():
        return "only upper and lower case differ"
    if received.split() == expected.split():
        return f"only white space differs: {received!r} where {expected!r} is expected"
    if relation := _ends(received, expected, "character") or _order(received, expected):
        return relation
    if max(len(received), len(expected)) <= 2 * AROUND:
        return f"{received!r} where {expected!r} is expected"
    place = next((i for i, (a, b) in enumerate(zip(received, expected, strict=False)) if a != b), None)
    place = min(len(received), len(expected)) if place is None else place
    shown = [text[max(0, place - AROUND) : place + AROUND] for text in (received, expected)]
    return f"the texts differ from character {place} onwards: {shown[0]!r} where {shown[1]!r} is expected"


def list_difference(received: Sequence, expected: Sequence) -> str:
    """How two whole lists are related: one entry too many, shifted, reversed, reordered; else ""."""
    return _ends(received, expected, "entry") or _order(received, expected)


def length_difference(received: Sequence, expected: Sequence) -> str:
    """Both lengths, and the missing or superfluous entry if all others agree, else the first difference."""
    lengths = (
        f"{_entries(len(received))} where {len(expected)} {'is' if len(expected) == 1 else 'are'} expected"
    )
    if relation := _ends(received, expected, "entry"):
        return f"{lengths}: {relation}"
    pairs = zip(received, expected, strict=False)
    first = next((i for i, (a, b) in enumerate(pairs) if not identical(a, b)), None)
    if first is None:
        return lengths
    shown = f"{brief(received[first])} where {brief(expected[first])} is expected"
    return f"{lengths}; the first difference, at {first}: {shown}"


def set_difference(received: set | frozenset, expected: set | frozenset) -> str:
    """The missing entries and the superfluous ones."""
    return f"entries {missing_and_extra(expected - received, received - expected)}"


def missing_and_extra(missing: Collection[object], extra: Collection[object]) -> str:
    """`missing: 'a', 'b'; not expected: 'c'`."""
    parts = [
        (name, sorted(entries, key=repr)) for name, entries in (("missing", missing), ("not expected", extra))
    ]
    return "; ".join(f"{name}: {_several(entries)}" for name, entries in parts if entries)


def _several(entries: list) -> str:
    more = f" and {len(entries) - 3} more" if len(entries) > 3 else ""
    return ", ".join(brief(entry) for entry in entries[:3]) + more


def _entries(count: int) -> str:
    return f"{count} {'entry' if count == 1 else 'entries'}"


def _ends(received: Sequence, expected: Sequence, unit: str) -> str:
    excess = len(received) - len(expected)
    if abs(excess) != 1:
        return ""
    longer, shorter = (received, expected) if excess > 0 else (expected, received)
    state = "superfluous" if excess > 0 else "missing"
    for place, rest, entry in (("last", longer[:-1], longer[-1]), ("first", longer[1:], longer[0])):
        if identical(rest, shorter):
            return f"the {place} {unit}, {brief(entry)}, is {state}"
    return ""


def _order(received: Sequence, expected: Sequence) -> str:
    if len(received) != len(expected):
        return ""
    if identical(received[::-1], expected):
        return "it is in reverse order"
    if len(_bag(expected)) >= LEAST_ORDERED:
        if identical(received[1:], expected[:-1]):
            return "shifted by one: each entry is expected one place earlier"
        if identical(received[:-1], expected[1:]):
            return "shifted by one: each entry is expected one place later"
    if _bag(received) == _bag(expected):
        return "the same entries in a different order"
    return ""


def _bag(entries: Sequence) -> Counter:
    """How often each entry occurs; entries that cannot be hashed are counted by their repr."""
    try:
        return Counter(entries)
    except TypeError:
        return Counter(map(repr, entries))
