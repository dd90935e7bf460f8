"""The line at which a check could not go on, and the expression that it compared, are shown."""

import linecache

import torch

from course.checks import LocalLink, assert_close, examine


def found(claim, **things):
    return examine(claim, LocalLink(things), written=things.get)


def total(values):  # as a given cell's function that a check calls
    return torch.cat(values, dim=0).sum()


def test_where_the_check_could_not_go_on_its_line_is_named_also_inside_a_given_function():
    def totals(f):
        """The total."""
        assert_close(total([f(1), f(2)]), torch.tensor(3.0))

    said = found(totals, f=lambda x: torch.tensor(float(x))).message
    assert said.startswith("the check could not go on with what `f` returned")
    assert said.endswith(", at `return torch.cat(values, dim=0).sum()`")


def test_an_error_inside_another_cell_is_placed_at_the_students_line():
    scope = {}
    for name, source in (
        ("given", "def given(x):\n    return [][x]\n"),
        ("own", "def own(x):\n\n    return given(x) + 1\n"),
    ):
        exec(compile(source, f"<{name}>", "exec"), scope)
        linecache.cache[f"<{name}>"] = (
            len(source),
            None,
            source.splitlines(True),
            f"<{name}>",
        )
    said = found(lambda own: own(3), own=scope["own"]).message
    assert said == (
        "`own` raised IndexError: list index out of range, at line 3: `return given(x) + 1`, inside `given`: "
        "`return [][x]`"
    )


def label(claim, **things):
    return found(claim, **things).message


def test_a_value_that_the_check_computed_is_labelled_and_an_answer_is_not():
    def derived(f):
        """The sum is three."""
        answer = f(1.0)
        total = answer.sum()
        assert_close(total, torch.tensor(3.0))

    def answered(f):
        """It is three."""
        answer = f(1.0)
        assert_close(answer, torch.full((2,), 3.0))

    def worded(f):
        """The sum is three."""
        assert_close(f(1.0).sum(), torch.tensor(3.0), what="the sum")

    ones = lambda x: torch.ones(2)  # noqa: E731
    assert label(derived, f=ones) == "`answer.sum()`: 2 where 3 is expected"
    assert label(answered, f=ones) == "every value is 1 where 3 is expected"
    assert label(worded, f=ones) == "the sum: 2 where 3 is expected"


def test_a_value_computed_over_several_lines_or_in_a_loop_is_labelled_or_nothing_is():
    def several(f):
        """The sum is three."""
        for x in (1.0, 2.0):
            answer = f(x)
            assert_close(
                [answer, x],
                [3.0, x],
            )

    assert label(several, f=lambda x: x + 1).startswith("`[answer, x]`: 1 of 2 entries differ")
    unclear = label(lambda f: (assert_close(f(1) + 1, 3), assert_close(f(2) + 1, 4)), f=lambda x: 1.5)
    assert unclear == "2.5 where 3 is expected"


def test_a_tensor_whose_rows_pass_for_the_parts_of_a_tuple_is_told_as_one():
    def both_words(f):
        """The words and their number."""
        words, _ = f(torch.ones(2, 3))
        assert_close(words, torch.ones(2, 3))

    finding = found(both_words, f=lambda x: x)
    assert finding.message == "`f` returned a tensor of shape (2, 3), where a tuple of 2 is expected"
    assert finding.is_plain
    assert found(both_words, f=lambda x: (x, 2)).result == "passed"
    assert "tuple" not in found(both_words, f=lambda x: (2 * x, 2)).message


def test_a_row_that_the_check_itself_picks_is_no_part_of_a_tuple():
    def each_row(f):
        """The rows."""
        first, second = f(torch.ones(2, 3)).unbind(0)
        assert_close(first + second, torch.ones(3))
        assert_close(first, torch.zeros(3))

    assert "tuple" not in found(each_row, f=lambda x: x).message
