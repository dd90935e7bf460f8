"""Whatever comes back is compared and described: it agrees, or there is a Mismatch with words for it."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from values import tensors, values

from course.checks import Mismatch, assert_close, assert_depends, assert_dtype, assert_equal, same
from course.checks.brief import brief, brief_pair, kind_name
from course.checks.check import values as values_of
from course.checks.seal import bears, seal
from course.checks.trace import Outcome
from course.language import Said

LONGEST = 3_000  # characters of what is said of two values; a student reads it
EXPECTED = [
    *(0, 3, -1.5, 2j, True, None, "text", b"bytes", [], [1, 2, 3], (1.0, 2.0), {"a": 1}, {(1, 2): [3]}),
    *({1, 2}, frozenset({"a"}), range(3), [[1.0, 2.0], [3.0]], {"a": torch.ones(2)}, [torch.ones(2, 3)]),
    *(torch.ones(()), torch.ones(2, 3), torch.arange(6).reshape(2, 3), torch.tensor([True]), torch.zeros(0)),
]
expected = st.sampled_from(EXPECTED) | tensors() | values
alike = values.map(lambda value: (value, value)) | st.tuples(values, st.integers(0, 20)).map(
    lambda pair: (pair[0], EXPECTED[pair[1] % len(EXPECTED)])
)
pairs = st.tuples(values | expected, expected) | alike
ASSERTIONS = {
    "close": assert_close,
    "equal": assert_equal,
    "depends": assert_depends,
    "dtype": lambda received, expected: assert_dtype(received, torch.float32),
}


@given(pairs, st.sampled_from([*ASSERTIONS]), st.lists(values, max_size=2))
def test_an_assertion_holds_or_is_a_mismatch(pair, name, arguments):
    said = [*words(ASSERTIONS[name], pair, arguments)]
    assert all(0 < len(text) < LONGEST for text in said)


def words(assertion, pair, arguments):
    """What a student is told where an assertion does not hold."""
    try:
        assertion(*pair)
    except Mismatch as mismatch:
        yield mismatch.explained(arguments)
        yield from filter(None, values_of(mismatch))


@given(values, values)
def test_two_values_are_compared_and_shown_in_few_words(one, other):
    same(one, other)
    for text in (brief(one), kind_name(one), *brief_pair(one, other)):
        assert type(text) in (str, Said)
        assert len(text) < LONGEST


@given(values)
def test_a_value_bears_its_own_seal(value):
    outcome = Outcome("value", value)
    assert bears(outcome, seal(outcome))
