"""How two strings, lists or sets differ."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence

from course.checks.brief import brief
from course.checks.closeness import same
from course.language import joined, say, say_count

LEAST_ORDERED = 5  # distinct entries that are needed to recognise a shift
MOST_ENTRIES = 6  # of a set that are listed
AROUND = 12  # characters of a text shown on each side of the first difference


def identical(a: object, b: object) -> bool:
    """Whether two values are equal and agree in what is a list and what a tuple."""
    return same(a, b) and _form(a) == _form(b)


def _form(value: object) -> object:
    return (type(value), [_form(entry) for entry in value]) if isinstance(value, list | tuple) else None


def text_difference(received: str | bytes, expected: str | bytes) -> str:
    """How two texts differ: in case, in white space, in length, or from which character on."""
    if isinstance(received, str) and received.lower() == expected.lower():
        return say("only upper and lower case differ")
    if received.split() == expected.split():
        return joined(
            ": ", [say("only white space differs"), where_is_expected(repr(received), repr(expected))]
        )
    if relation := _ends(received, expected, _characters) or _order(received, expected):
        return relation
    if max(len(received), len(expected)) <= 2 * AROUND:
        return where_is_expected(repr(received), repr(expected))
    place = next((i for i, (a, b) in enumerate(zip(received, expected, strict=False)) if a != b), None)
    place = min(len(received), len(expected)) if place is None else place
    shown = [repr(text[max(0, place - AROUND) : place + AROUND]) for text in (received, expected)]
    differ = say("the texts differ from character {place} onwards", place=place)
    return joined(": ", [differ, where_is_expected(*shown)])


def where_is_expected(received: object, expected: object) -> str:
    """`3 where 4 is expected`, of values in brief or of kinds of values."""
    return say("{received} where {expected} is expected", received=received, expected=expected)


def list_difference(received: Sequence, expected: Sequence) -> str:
    """How two whole lists are related: one entry too many, shifted, reversed, reordered; else ""."""
    return _ends(received, expected, _list_entries) or _order(received, expected)


def length_difference(received: Sequence, expected: Sequence) -> str:
    """Both lengths, and the missing or superfluous entry if all others agree, else the first difference."""
    lengths = say_count(
        "{entries} where {count} is expected",
        "{entries} where {count} are expected",
        len(expected),
        entries=say_count("{count} entry", "{count} entries", len(received)),
    )
    if relation := _ends(received, expected, _list_entries):
        return joined(": ", [lengths, relation])
    pairs = zip(received, expected, strict=False)
    first = next((i for i, (a, b) in enumerate(pairs) if not identical(a, b)), None)
    if first is None:
        return lengths
    shown = where_is_expected(brief(received[first]), brief(expected[first]))
    return say(
        "{lengths}; the first difference, at {place}: {shown}", lengths=lengths, place=first, shown=shown
    )


def set_difference(received: set | frozenset, expected: set | frozenset) -> str:
    """The missing entries and the superfluous ones."""
    differing = missing_and_extra(expected - received, received - expected)
    return say("entries {missing_and_extra}", missing_and_extra=differing)


def missing_and_extra(missing: Collection[object], extra: Collection[object]) -> str:
    """`missing: 'a', 'b'; not expected: 'c'`."""
    parts = (
        say("missing: {entries}", entries=_several(missing)) if missing else "",
        say("not expected: {entries}", entries=_several(extra)) if extra else "",
    )
    return joined("; ", parts)


def _several(entries: Collection[object]) -> str:
    n_shown = len(entries) if len(entries) <= MOST_ENTRIES else MOST_ENTRIES - 2  # never "and 1 more"
    shown = joined(", ", [brief(entry) for entry in sorted(entries, key=repr)[:n_shown]])
    more = len(entries) - n_shown
    return say("{entries} and {count} more", entries=shown, count=more) if more else shown


def _list_entries(entry: str) -> tuple[str, str, str, str]:
    """That the last or the first entry is missing or superfluous."""
    return (
        say("the last entry, {entry}, is missing", entry=entry),
        say("the first entry, {entry}, is missing", entry=entry),
        say("the last entry, {entry}, is superfluous", entry=entry),
        say("the first entry, {entry}, is superfluous", entry=entry),
    )


def _characters(entry: str) -> tuple[str, str, str, str]:
    return (
        say("the last character, {character}, is missing", character=entry),
        say("the first character, {character}, is missing", character=entry),
        say("the last character, {character}, is superfluous", character=entry),
        say("the first character, {character}, is superfluous", character=entry),
    )


def _ends(received: Sequence, expected: Sequence, sentences: Callable[[str], tuple[str, ...]]) -> str:
    excess = len(received) - len(expected)
    if abs(excess) != 1:
        return ""
    longer, shorter = (received, expected) if excess > 0 else (expected, received)
    for place, rest, entry in ((0, longer[:-1], longer[-1]), (1, longer[1:], longer[0])):
        if identical(rest, shorter):
            return sentences(brief(entry))[place + 2 * (excess > 0)]
    return ""


def _order(received: Sequence, expected: Sequence) -> str:
    if len(received) != len(expected):
        return ""
    if identical(received[::-1], expected):
        return say("it is in reverse order")
    if len(_bag(expected)) >= LEAST_ORDERED:
        if identical(received[1:], expected[:-1]):
            return say("shifted by one: each entry is expected one place earlier")
        if identical(received[:-1], expected[1:]):
            return say("shifted by one: each entry is expected one place later")
    if _bag(received) == _bag(expected):
        return say("the same entries in a different order")
    return ""


def _bag(entries: Sequence) -> Counter:
    """How often each entry occurs; entries that cannot be hashed are counted by their repr."""
    try:
        return Counter(entries)
    except TypeError:
        return Counter(map(repr, entries))
