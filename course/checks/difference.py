"""In which way two values differ, in one sentence that states only what is there to see."""

from course.checks.closeness import is_array, is_number, kind_of, same, tensor_of


def describe_difference(received: object, expected: object) -> str:
    """How `received` differs from `expected`, or "" where they are the same."""
    return form_difference(received, expected) or _value_difference(received, expected)


def form_difference(received: object, expected: object) -> str:
    """What is wrong with the type, length, keys or shape of `received`; "" where they are as expected."""
    if received is None and expected is not None:
        return "nothing came back (None); is there a return?"
    if is_number(expected):
        return "" if is_number(received) else f"{type(received).__name__} where a number is expected"
    if is_array(expected):
        return _array_form(received, expected)
    if type(received) is not type(expected):
        return f"{type(received).__name__} where {type(expected).__name__} is expected"
    if isinstance(expected, dict) and received.keys() != expected.keys():
        return "the keys differ"
    if isinstance(expected, list | tuple) and len(received) != len(expected):
        return f"{len(received)} entries where {len(expected)} are expected"
    return ""


def _array_form(received: object, expected: object) -> str:
    if not is_array(received):
        return f"{type(received).__name__} where a tensor is expected"
    if received.shape != expected.shape:
        return f"shape {tuple(received.shape)} where {tuple(expected.shape)} is expected"
    if kind_of(received) != kind_of(expected):
        return f"{kind_of(received)} numbers where {kind_of(expected)} numbers are expected"
    return ""


def _value_difference(received: object, expected: object) -> str:
    if same(received, expected):
        return ""
    if is_array(expected):
        where = (tensor_of(received) != tensor_of(expected)).nonzero()[0].tolist()
        return f"first differs at {where}"
    return "the values differ"
